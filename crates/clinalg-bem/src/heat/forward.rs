//! Block forward elimination.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
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
/// over the interval takes its share out of the second half, which is a multiplication with several steps at a time. So all blocks are
/// read, or on the fly computed, log2(steps) times instead of once for every step. A pass multiplies each pair of a block and a step
/// once, as one product over all steps does: with blocks of n x m entries n m steps^2 floating-point operations, with kernels for GPUs twice as many.
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

/// What a direct solve that was stopped leaves, for [`Forward::solve_from`]. Empty for a solve from the beginning.
#[derive(Debug, Clone, PartialEq)]
pub struct ForwardMemory<T> {
    /// x of the passes before.
    pub x: Vec<T>,
    /// The solution of this pass in the steps that are solved, the right-hand side in the others.
    pub work: Vec<T>,
    /// Steps that are solved.
    pub steps: usize,
    /// The relative residuals of the passes before.
    pub history: Vec<f64>,
}

// By hand: values need no default.
impl<T> Default for ForwardMemory<T> {
    fn default() -> Self {
        ForwardMemory { x: Vec::new(), work: Vec::new(), steps: 0, history: Vec::new() }
    }
}

impl<T> ForwardMemory<T> {
    /// Whether a solve with it begins anew.
    pub fn is_empty(&self) -> bool {
        self.history.is_empty()
    }
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
        self.check("b", b)?;
        self.check("x", x)?;
        self.passes(None, b, x, tolerance, &mut |step| {
            progress(step);
            ControlFlow::Continue(())
        })
    }

    /// As [`Forward::solve`]. Where `progress` stops it, [`Stop::Cancelled`] is reported, x is the solution in the steps that are solved and that of
    /// the pass before in the others, and `memory` has what another solve of the same system needs to continue to the same bits; one
    /// that finds something there continues with it. It is empty after other ends.
    ///
    /// # Errors
    /// Those of [`Forward::solve`]; [`Error::Length`] for a memory of another system.
    pub fn solve_from(
        &mut self,
        memory: &mut ForwardMemory<T>,
        b: &Vector<T>,
        tolerance: f64,
        progress: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<(Vector<T>, Report)> {
        let (n, context) = (self.matrix.rows(), self.matrix.context().clone());
        self.check("b", b)?;
        let mut x = Vector::zeros(&context, n)?;
        let report = self.passes(Some(memory), b, &mut x, tolerance, progress)?;
        Ok((x, report))
    }

    fn check(&self, argument: &'static str, vector: &Vector<T>) -> Result<()> {
        if !self.matrix.context().same(vector.context()) {
            return Err(Error::Context { argument });
        }
        match (self.matrix.rows(), vector.len()) {
            (expected, got) if expected != got => Err(Error::Length { argument, expected, got }),
            _ => Ok(()),
        }
    }

    fn passes(
        &mut self,
        mut memory: Option<&mut ForwardMemory<T>>,
        b: &Vector<T>,
        x: &mut Vector<T>,
        tolerance: f64,
        progress: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Report> {
        let steps = self.matrix.block_shape().2;
        let before = memory.as_mut().map(|memory| std::mem::take(&mut **memory)).filter(|memory| !memory.is_empty());
        let whole = ops::norm2(b)?.into_f64();
        let mut done = 0;
        let mut history = vec![if whole == 0.0 { 0.0 } else { 1.0 }];
        if let Some(before) = before {
            x.write(&before.x)?;
            self.work.write(&before.work)?;
            (done, history) = (before.steps, before.history);
        } else {
            x.fill(T::zero())?;
            self.work.copy_from(b)?;
        }
        let mut stop = if whole == 0.0 { Some(Stop::Converged) } else { None };
        while stop.is_none() {
            let mut reached = done;
            let mut step = |step| {
                reached = step;
                progress(step)
            };
            if self.interval(0, steps, done, &mut step)?.is_break() {
                self.leave(memory, x, reached, &history)?;
                stop = Some(Stop::Cancelled);
                break;
            }
            done = 0;
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
                self.work.copy_from(&self.residual)?;
                None
            };
        }
        Ok(Report::new(stop.unwrap_or(Stop::Converged), history))
    }

    /// Adds what is solved in this pass to x, and keeps in `memory` what the next solve continues with.
    fn leave(
        &mut self,
        memory: Option<&mut ForwardMemory<T>>,
        x: &mut Vector<T>,
        steps: usize,
        history: &[f64],
    ) -> Result<()> {
        let mut work = self.work.to_vec()?;
        if let Some(memory) = memory {
            *memory = ForwardMemory { x: x.to_vec()?, work: work.clone(), steps, history: history.to_vec() };
        }
        work[steps * self.matrix.block_shape().0..].fill(T::zero());
        self.work.write(&work)?;
        ops::update(T::one(), &self.work, T::one(), x)
    }

    /// Makes the right-hand side in `work` the solution, in the steps from `first` to `first + steps - 1`; the share of earlier
    /// steps is taken out already. Steps below `done` are solved, and their shares are taken out of the later ones as far as a step above
    /// `done` was to come next.
    fn interval(
        &mut self,
        first: usize,
        steps: usize,
        done: usize,
        progress: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        if first + steps <= done {
            return Ok(ControlFlow::Continue(()));
        }
        let rows = self.matrix.block_shape().0;
        let span = |from: usize, to: usize| (first + from) * rows..(first + to) * rows;
        if steps == 1 {
            let [b, x] = &mut self.step;
            b.buffer_mut().copy_range(0, self.work.buffer(), span(0, 1))?;
            ops::mv(T::one(), &self.inverse, b, T::zero(), x)?;
            self.work.buffer_mut().copy_range(first * rows, x.buffer(), 0..rows)?;
            return Ok(progress(first + 1));
        }
        let part = half(steps);
        if self.interval(first, part, done, progress)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        // The second half has begun where a step of it is solved.
        if done <= first + part {
            let [b, x] = self.halves.get_mut(&steps).expect("made for every length that occurs");
            x.buffer_mut().copy_range(0, self.work.buffer(), span(0, part))?;
            b.buffer_mut().copy_range(part * rows, self.work.buffer(), span(part, steps))?;
            // The first part of b is not used.
            self.matrix.apply_later(part, steps, -T::one(), x, T::one(), b)?;
            self.work.buffer_mut().copy_range((first + part) * rows, b.buffer(), part * rows..steps * rows)?;
        }
        self.interval(first + part, steps - part, done, progress)
    }
}
