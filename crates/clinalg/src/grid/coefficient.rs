//! A coefficient that varies: how it is given, and the components for it as kernels.

use super::components::{Components, Sweeps};
use super::conjugate::Space;
use super::equation::Equation;
use super::launch::{self, PROCESSOR};
use super::params::Smoother;
use super::processor::Processor;
use super::wide::Wide;
use crate::error::check_length;
use crate::reference::faces2::{Faces, Interpolation};
use crate::reference::grid2::Order;
use crate::runtime::{Arg, Kernel, Range, Shape, files};
use crate::{Context, Error, Real, Result, Vector, ops};

/// The coefficient a of `-div(a grad u)` on the unit square, positive everywhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Coefficient<'a, T> {
    /// At the n by n points, row by row as u. Between two points the harmonic mean is taken, so that a may jump there.
    Points(&'a [T]),
    /// In the n - 1 by n - 1 cells between the points, row by row. Along a line of the grid the mean of the cells on
    /// either side is taken, so that a may jump at the lines.
    Cells(&'a [T]),
}

impl<T: Real> Coefficient<'_, T> {
    /// The coefficients between the points of a grid of `n` by `n` points, n checked.
    pub(super) fn faces(self, n: usize) -> Result<Faces<T>> {
        let (values, len) = match self {
            Coefficient::Points(values) => (values, n * n),
            Coefficient::Cells(values) => (values, (n - 1) * (n - 1)),
        };
        check_length("a", len, values.len())?;
        if let Some(bad) = values.iter().find(|a| !(**a > T::zero() && a.is_finite())) {
            return Err(Error::value("a", "positive, finite numbers", bad));
        }
        Ok(match self {
            Coefficient::Points(values) => Faces::from_points(n, values),
            Coefficient::Cells(values) => Faces::from_cells(n, values),
        })
    }
}

/// One level on the device.
struct Level<T: Real> {
    n: usize,
    /// Coefficients along and across the rows and along both diagonals, and what the shift is multiplied by; of the
    /// finest level the first two only.
    faces: Vec<Vector<T>>,
    /// Those of the interpolation to this level; none on the coarsest.
    weights: Option<Vector<T>>,
    /// Defects, and what a Jacobi sweep writes.
    work: Vector<T>,
}

impl<T: Real> Level<T> {
    fn new(context: &Context, faces: &Faces<T>, interpolation: Option<&Interpolation<T>>) -> Result<Level<T>> {
        let n = faces.side();
        let Faces { x, y, rising, falling, mass, .. } = faces;
        let arrays = [x, y, rising, falling, mass].into_iter().filter(|values| !values.is_empty());
        let upload = |values: &Vec<T>| Vector::from_slice(context, values);
        Ok(Level {
            n,
            faces: arrays.map(upload).collect::<Result<_>>()?,
            weights: interpolation.map(|along| upload(&along.weights)).transpose()?,
            work: Vector::zeros(context, n * n)?,
        })
    }

    /// Whether a point has eight neighbours.
    fn nine(&self) -> bool {
        self.faces.len() > 2
    }

    /// `before`, then the coefficients, where the kernel has a shift what that is multiplied by, then `after`.
    fn args(&self, before: &[Arg], shifted: bool, after: &[Arg]) -> Vec<Arg> {
        let (faces, mass) = self.faces.split_at(self.faces.len().min(4));
        let arrays = faces.iter().chain(mass.iter().filter(|_| shifted));
        before.iter().copied().chain(arrays.map(|array| array.buffer().arg())).chain(after.iter().copied()).collect()
    }

    fn weights(&self) -> Arg {
        self.weights.as_ref().expect("the coarsest level has no coarser one").buffer().arg()
    }
}

/// Kernels for a coefficient that varies.
pub(super) struct Varying<T: Real> {
    context: Context,
    levels: Vec<Level<T>>,
    shift: T,
    smoother: Smoother,
    omega: T,
    /// For the start values of full multigrid, in which the coefficient has no part.
    constant: Box<dyn Components<Grid = Vector<T>> + Send>,
}

impl<T: Real> Varying<T> {
    pub(super) fn new(context: &Context, equation: Equation<T>, smoother: Smoother, omega: f64) -> Result<Varying<T>> {
        let sides = &equation.sides;
        let constant: Box<dyn Components<Grid = Vector<T>> + Send> = match context.shape() {
            Shape::Gpu => Box::new(Wide::new(context, sides, 0.0, Smoother::RedBlack, 1.0)?),
            Shape::Cpu => Box::new(Processor::new(context, sides, 0.0, Smoother::RedBlack, 1.0, 0)?),
        };
        let along = equation.interpolations.iter().map(Some).chain([None]);
        let levels = equation.faces.iter().zip(along).map(|(faces, along)| Level::new(context, faces, along));
        let levels = levels.collect::<Result<_>>()?;
        let (shift, omega) = (T::of(equation.shift), T::of(omega));
        Ok(Varying { context: context.clone(), levels, shift, smoother, omega, constant })
    }

    fn enqueue(&self, level: usize, name: &'static str, [width, height]: [usize; 2], args: &[Arg]) -> Result<()> {
        let kernel = Kernel::new(&files::FACES2, name, T::PRECISION);
        let kernel = if self.levels[level].nine() { kernel.with(&[("NINE", 1)]) } else { kernel };
        match self.context.shape() {
            Shape::Gpu => self.context.run(&kernel, launch::points(&self.context, width, height), args),
            Shape::Cpu => {
                let parts = self.context.chunks().min(height);
                self.context.run(&kernel.with(PROCESSOR), Range::d1(parts, 1), args)
            }
        }
    }

    /// As [`faces2::half_sweep`](crate::reference::faces2::half_sweep).
    fn half_sweep(&self, level: usize, colour: u32, order: Order, u: &mut Vector<T>, f: &Vector<T>) -> Result<()> {
        let this = &self.levels[level];
        let (n, h2) = (this.n, launch::h2::<T>(this.n));
        let first = colour ^ u32::from(order == Order::BlackFirst);
        let classes = if this.nine() { &[first, 1 - first][..] } else { &[0] };
        classes.iter().try_for_each(|&odd| {
            let mut before = vec![Arg::size(n), Arg::U32(colour)];
            before.extend(this.nine().then_some(Arg::U32(odd)));
            before.extend([h2.arg().0, (self.shift * h2).arg().0]);
            let range = if this.nine() { [(n - 1) / 2; 2] } else { [(n - 1) / 2, n - 2] };
            self.enqueue(level, "red_black", range, &this.args(&before, true, &[f.buffer().arg(), u.buffer().arg()]))
        })
    }

    fn smooth(&mut self, level: usize, u: &mut Vector<T>, f: &Vector<T>, sweeps: Sweeps) -> Result<()> {
        for _ in 0..sweeps.count {
            match self.smoother {
                Smoother::RedBlack => {
                    let order = sweeps.order;
                    order.colours().iter().try_for_each(|&colour| self.half_sweep(level, colour, order, u, f))?
                }
                Smoother::Jacobi => {
                    let this = &self.levels[level];
                    let (n, h2) = (this.n, launch::h2::<T>(this.n));
                    let before = [Arg::size(n), h2.arg().0, (self.shift * h2).arg().0, self.omega.arg().0];
                    let after = [f.buffer().arg(), u.buffer().arg(), this.work.buffer().arg()];
                    self.enqueue(level, "jacobi", [n, n], &this.args(&before, true, &after))?;
                    std::mem::swap(u, &mut self.levels[level].work);
                }
            }
        }
        Ok(())
    }

    fn restrict(&self, level: usize, fine: &Vector<T>, coarse: &mut Vector<T>) -> Result<()> {
        let m = self.levels[level + 1].n;
        let args = [Arg::size(m), self.levels[level].weights(), fine.buffer().arg(), coarse.buffer().arg()];
        self.enqueue(level, "restrict_along", [m, m], &args)
    }

    /// `d` = the defect.
    fn defect(&self, level: usize, u: &Vector<T>, f: &Vector<T>, d: &Vector<T>) -> Result<()> {
        let this = &self.levels[level];
        let before = [Arg::size(this.n), launch::inverse_h2::<T>(this.n).arg().0, self.shift.arg().0];
        let after = [f.buffer().arg(), u.buffer().arg(), d.buffer().arg()];
        self.enqueue(level, "defect", [this.n, this.n], &this.args(&before, true, &after))
    }
}

impl<T: Real> Space<T> for Varying<T> {
    fn defect_to(&mut self, u: &Vector<T>, f: &Vector<T>, d: &mut Vector<T>) -> Result<()> {
        self.defect(0, u, f, d)
    }

    fn dot(&self, a: &Vector<T>, b: &Vector<T>) -> Result<T> {
        ops::dot(a, b)
    }

    fn update(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        ops::update(alpha, x, beta, y)
    }
}

impl<T: Real> Components for Varying<T> {
    type Grid = Vector<T>;

    fn zeros(&self, level: usize) -> Result<Vector<T>> {
        self.constant.zeros(level)
    }

    fn descend(
        &mut self,
        level: usize,
        u: &mut Vector<T>,
        f: &Vector<T>,
        zero: bool,
        sweeps: Sweeps,
        coarse: &mut Vector<T>,
    ) -> Result<()> {
        if zero {
            u.fill(T::zero())?;
        }
        self.smooth(level, u, f, sweeps)?;
        self.defect(level, u, f, &self.levels[level].work)?;
        self.restrict(level, &self.levels[level].work, coarse)
    }

    fn ascend(
        &mut self,
        level: usize,
        coarse: &Vector<T>,
        u: &mut Vector<T>,
        f: &Vector<T>,
        sweeps: Sweeps,
    ) -> Result<()> {
        let this = &self.levels[level];
        let args = [Arg::size(this.n), this.weights(), coarse.buffer().arg(), u.buffer().arg()];
        self.enqueue(level, "interpolate_add", [this.n - 2; 2], &args)?;
        self.smooth(level, u, f, sweeps)
    }

    fn solve_coarsest(&mut self, u: &mut Vector<T>, f: &Vector<T>, zero: bool) -> Result<()> {
        if zero {
            u.fill(T::zero())?;
        }
        self.half_sweep(self.levels.len() - 1, 0, Order::RedFirst, u, f)
    }

    fn defect_norm(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
        self.defect(level, u, f, &self.levels[level].work)?;
        self.norm(&self.levels[level].work)
    }

    fn source_norm(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
        let this = &self.levels[level];
        let before = [Arg::size(this.n), launch::inverse_h2::<T>(this.n).arg().0];
        let after = [f.buffer().arg(), u.buffer().arg(), this.work.buffer().arg()];
        self.enqueue(level, "source", [this.n, this.n], &this.args(&before, false, &after))?;
        self.norm(&this.work)
    }

    fn norm(&self, u: &Vector<T>) -> Result<f64> {
        Ok(ops::norm2(u)?.wide())
    }

    fn coarsen(
        &mut self,
        level: usize,
        u: &Vector<T>,
        f: &Vector<T>,
        coarse_u: &mut Vector<T>,
        coarse_f: &mut Vector<T>,
    ) -> Result<()> {
        launch::copy_boundary(self.levels[level + 1].n, 2, u, coarse_u)?;
        self.restrict(level, f, coarse_f)
    }

    fn refine(&mut self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        self.constant.refine(level, coarse, u)
    }
}
