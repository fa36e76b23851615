//! Block forward elimination.

use std::collections::BTreeMap;
use std::sync::Arc;

use clinalg::solve::{Operator, Report, Stop, inverse_definite};
use clinalg::{Dense, Error, Real, Result, Vector, ops};

use super::HeatOperator;

/// Passes over the time steps at most: the first solves, the others correct its rounding errors.
const PASSES: usize = 4;

/// A direct solver for V or D, whose blocks form a lower triangular Toeplitz matrix in time with a symmetric positive definite
/// diagonal block: that block is inverted once, then one pass goes through the time steps.
///
/// The pass halves the time interval again and again (Hairer, Lubich and Schlichte 1985): once the first half is solved, one product
/// over the interval takes its share out of the second half. So all blocks are read, or on the fly computed, log2(steps) times
/// instead of once for every step.
#[derive(Debug)]
pub struct Forward<T: Real> {
    matrix: Arc<HeatOperator<T>>,
    inverse: Dense<T>,
    /// Right-hand side and solution of one time step.
    step: [Vector<T>; 2],
    /// Right-hand side, and solution of its first part followed by zeros, of intervals of so many steps.
    halves: BTreeMap<usize, [Vector<T>; 2]>,
    /// What a pass begins with and ends as, over all steps.
    work: Vector<T>,
    residual: Vector<T>,
}

/// How an interval of `steps` steps is divided.
fn half(steps: usize) -> usize {
    steps.next_power_of_two() / 2
}

impl<T: Real> Forward<T> {
    /// Inverts the diagonal block of V or D.
    ///
    /// # Errors
    /// [`Error::Shape`] for another operator; those of [`inverse_definite`]; [`Error::Allocation`].
    pub fn new(matrix: &Arc<HeatOperator<T>>) -> Result<Forward<T>> {
        let (rows, _, steps) = matrix.block_shape();
        if !matrix.kind().is_symmetric() {
            let (expected, got) = ("the operator V or D".into(), format!("{:?}", matrix.kind()));
            return Err(Error::Shape { argument: "matrix", expected, got });
        }
        let context = matrix.context();
        let mut halves = BTreeMap::new();
        let mut open = vec![steps];
        while let Some(steps) = open.pop() {
            if steps > 1 && !halves.contains_key(&steps) {
                let pair = [Vector::zeros(context, rows * steps)?, Vector::zeros(context, rows * steps)?];
                halves.insert(steps, pair);
                open.extend([half(steps), steps - half(steps)]);
            }
        }
        Ok(Forward {
            matrix: matrix.clone(),
            inverse: inverse_definite(&matrix.block(0)?)?,
            step: [Vector::zeros(context, rows)?, Vector::zeros(context, rows)?],
            halves,
            work: Vector::zeros(context, rows * steps)?,
            residual: Vector::zeros(context, rows * steps)?,
        })
    }

    /// Solves A x = b to the relative residual `tolerance`: one pass over the time steps, and further ones on the residual where
    /// rounding asks for them. The report counts passes. `progress` gets the number of steps solved in a pass.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::Context`] that names `b`; those of the products.
    pub fn solve(
        &mut self,
        b: &Vector<T>,
        tolerance: f64,
        progress: &mut dyn FnMut(usize),
    ) -> Result<(Vector<T>, Report)> {
        let mut x = Vector::zeros(self.matrix.context(), self.matrix.rows())?;
        let report = self.solve_into(b, &mut x, tolerance, progress)?;
        Ok((x, report))
    }

    /// As [`Forward::solve`], with x in memory that is there. The former content of `x` is not used.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::Context`] that names `b` or `x`; those of the products.
    pub fn solve_into(
        &mut self,
        b: &Vector<T>,
        x: &mut Vector<T>,
        tolerance: f64,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Report> {
        let (n, steps) = (self.matrix.rows(), self.matrix.block_shape().2);
        for (argument, vector) in [("b", b), ("x", &*x)] {
            if !self.matrix.context().same(vector.context()) {
                return Err(Error::Context { argument });
            }
            if vector.len() != n {
                return Err(Error::Length { argument, expected: n, got: vector.len() });
            }
        }
        x.fill(T::zero())?;
        ops::copy(b, &mut self.residual)?;
        let whole = ops::norm2(b)?.into_f64();
        let mut history = vec![if whole == 0.0 { 0.0 } else { 1.0 }];
        let mut stop = if whole == 0.0 { Some(Stop::Converged) } else { None };
        while stop.is_none() {
            self.work.copy_from(&self.residual)?;
            self.interval(0, steps, progress)?;
            ops::update(T::one(), &self.work, T::one(), x)?;
            ops::copy(b, &mut self.residual)?;
            self.matrix.apply(-T::one(), x, T::one(), &mut self.residual)?;
            let before = history.last().copied().unwrap_or(1.0);
            let relative = ops::norm2(&self.residual)?.into_f64() / whole;
            history.push(relative);
            stop = if !relative.is_finite() {
                Some(Stop::NotFinite)
            } else if relative <= tolerance {
                Some(Stop::Converged)
            } else if history.len() > PASSES || relative > 0.5 * before {
                Some(Stop::RoundingFloor)
            } else {
                None
            };
        }
        Ok(Report::new(stop.unwrap_or(Stop::Converged), history))
    }

    /// Makes the right-hand side in `work` the solution, in the steps from `first` to `first + steps - 1`; the share of earlier
    /// steps is taken out already.
    fn interval(&mut self, first: usize, steps: usize, progress: &mut dyn FnMut(usize)) -> Result<()> {
        let rows = self.matrix.block_shape().0;
        let span = |from: usize, to: usize| (first + from) * rows..(first + to) * rows;
        if steps == 1 {
            let [b, x] = &mut self.step;
            b.buffer_mut().copy_range(0, self.work.buffer(), span(0, 1))?;
            ops::mv(T::one(), &self.inverse, b, T::zero(), x)?;
            self.work.buffer_mut().copy_range(first * rows, x.buffer(), 0..rows)?;
            progress(first + 1);
            return Ok(());
        }
        let part = half(steps);
        self.interval(first, part, progress)?;
        let [b, x] = self.halves.get_mut(&steps).expect("made for every length that occurs");
        x.buffer_mut().copy_range(0, self.work.buffer(), span(0, part))?;
        b.buffer_mut().copy_range(part * rows, self.work.buffer(), span(part, steps))?;
        // The first part of b is not used.
        self.matrix.apply_first(steps, -T::one(), x, T::one(), b)?;
        self.work.buffer_mut().copy_range((first + part) * rows, b.buffer(), part * rows..steps * rows)?;
        self.interval(first + part, steps - part, progress)
    }
}
