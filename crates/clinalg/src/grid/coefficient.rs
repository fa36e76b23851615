//! A coefficient that varies: how it is given, and the components for it as kernels.

use super::components::{Components, Sweeps};
use super::equation::Equation;
use super::launch::{self, PROCESSOR};
use super::params::Smoother;
use super::processor::Processor;
use super::wide::Wide;
use crate::error::check_length;
use crate::reference::faces2::Faces;
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
    /// Coefficients along and across the rows.
    x: Vector<T>,
    y: Vector<T>,
    /// Defects, and what a Jacobi sweep writes.
    work: Vector<T>,
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
        let level = |faces: &Faces<T>| {
            let n = faces.side();
            let [x, y] = [&faces.x, &faces.y].map(|values| Vector::from_slice(context, values));
            Ok(Level { n, x: x?, y: y?, work: Vector::zeros(context, n * n)? })
        };
        let levels = equation.faces.iter().map(level).collect::<Result<_>>()?;
        let (shift, omega) = (T::of(equation.shift), T::of(omega));
        Ok(Varying { context: context.clone(), levels, shift, smoother, omega, constant })
    }

    fn enqueue(&self, name: &'static str, [width, height]: [usize; 2], args: &[Arg]) -> Result<()> {
        let kernel = Kernel::new(&files::FACES2, name, T::PRECISION);
        match self.context.shape() {
            Shape::Gpu => self.context.run(&kernel, launch::points(&self.context, width, height), args),
            Shape::Cpu => {
                let parts = self.context.chunks().min(height);
                self.context.run(&kernel.with(PROCESSOR), Range::d1(parts, 1), args)
            }
        }
    }

    fn half_sweep(&self, level: usize, colour: u32, u: &mut Vector<T>, f: &Vector<T>) -> Result<()> {
        let Level { n, x, y, .. } = &self.levels[level];
        let h2 = launch::h2::<T>(*n);
        let args = [
            Arg::size(*n),
            Arg::U32(colour),
            h2.arg().0,
            (self.shift * h2).arg().0,
            x.buffer().arg(),
            y.buffer().arg(),
            f.buffer().arg(),
            u.buffer().arg(),
        ];
        self.enqueue("red_black", [(n - 1) / 2, n - 2], &args)
    }

    fn smooth(&mut self, level: usize, u: &mut Vector<T>, f: &Vector<T>, sweeps: Sweeps) -> Result<()> {
        for _ in 0..sweeps.count {
            match self.smoother {
                Smoother::RedBlack => {
                    sweeps.order.colours().iter().try_for_each(|&c| self.half_sweep(level, c, u, f))?
                }
                Smoother::Jacobi => {
                    let Level { n, x, y, work } = &self.levels[level];
                    let h2 = launch::h2::<T>(*n);
                    let args = [
                        Arg::size(*n),
                        h2.arg().0,
                        (self.shift * h2).arg().0,
                        self.omega.arg().0,
                        x.buffer().arg(),
                        y.buffer().arg(),
                        f.buffer().arg(),
                        u.buffer().arg(),
                        work.buffer().arg(),
                    ];
                    self.enqueue("jacobi", [*n, *n], &args)?;
                    std::mem::swap(u, &mut self.levels[level].work);
                }
            }
        }
        Ok(())
    }

    fn restrict(&self, level: usize, fine: &Vector<T>, coarse: &mut Vector<T>) -> Result<()> {
        let (Level { x, y, .. }, m) = (&self.levels[level], self.levels[level + 1].n);
        let args = [Arg::size(m), x.buffer().arg(), y.buffer().arg(), fine.buffer().arg(), coarse.buffer().arg()];
        self.enqueue("restrict_along", [m, m], &args)
    }

    /// `work` = the defect.
    fn defect(&self, level: usize, u: &Vector<T>, f: &Vector<T>) -> Result<()> {
        let Level { n, x, y, work } = &self.levels[level];
        let args = [
            Arg::size(*n),
            launch::inverse_h2::<T>(*n).arg().0,
            self.shift.arg().0,
            x.buffer().arg(),
            y.buffer().arg(),
            f.buffer().arg(),
            u.buffer().arg(),
            work.buffer().arg(),
        ];
        self.enqueue("defect", [*n, *n], &args)
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
        self.defect(level, u, f)?;
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
        let Level { n, x, y, .. } = &self.levels[level];
        let args = [Arg::size(*n), x.buffer().arg(), y.buffer().arg(), coarse.buffer().arg(), u.buffer().arg()];
        self.enqueue("interpolate_add", [n - 2, n - 2], &args)?;
        self.smooth(level, u, f, sweeps)
    }

    fn solve_coarsest(&mut self, u: &mut Vector<T>, f: &Vector<T>, zero: bool) -> Result<()> {
        if zero {
            u.fill(T::zero())?;
        }
        self.half_sweep(self.levels.len() - 1, 0, u, f)
    }

    fn defect_norm(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
        self.defect(level, u, f)?;
        self.norm(&self.levels[level].work)
    }

    fn source_norm(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
        let Level { n, x, y, work } = &self.levels[level];
        let args = [
            Arg::size(*n),
            launch::inverse_h2::<T>(*n).arg().0,
            x.buffer().arg(),
            y.buffer().arg(),
            f.buffer().arg(),
            u.buffer().arg(),
            work.buffer().arg(),
        ];
        self.enqueue("source", [*n, *n], &args)?;
        self.norm(work)
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
