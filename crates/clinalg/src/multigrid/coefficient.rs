//! A coefficient that varies: how it is given, and the components for it as kernels.

use super::conjugate::Space;
use super::cycle::{Components, Hierarchy, Sweeps};
use super::equation::Equation;
use super::launch::{self, h2, inverse_h2};
use super::params::Smoother;
use super::poisson2::{self, Poisson2Cpu, Poisson2Gpu, copy_boundary};
use crate::error::check_length;
use crate::multigrid::cycle::Order;
use crate::multigrid::faces::{Faces, Interpolation};
use crate::runtime::kernels::faces2;
use crate::runtime::{KernelFamily, Out, Range};
use crate::{Buffer, Context, Error, Real, Result, Vector, ops};

/// A coefficient k of `-div(k D grad u)`, positive everywhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Coefficient<'a, T> {
    /// At the points, in the order of u. Between two points the harmonic mean is taken, so that k may jump there.
    Points(&'a [T]),
    /// In the cells between the points, x fastest. Along a line of the grid the mean of the cells around
    /// is taken, so that k may jump at the lines.
    Cells(&'a [T]),
}

impl<T: Real> Coefficient<'_, T> {
    /// The coefficients between the points of a grid of `n` by `n` points, n checked.
    pub(crate) fn faces(self, n: usize) -> Result<Faces<T>> {
        let (values, len) = match self {
            Coefficient::Points(values) => (values, n * n),
            Coefficient::Cells(values) => (values, (n - 1) * (n - 1)),
        };
        check_length("coefficient", len, values.len())?;
        if let Some(bad) = values.iter().find(|a| !(**a > T::zero() && a.is_finite())) {
            return Err(Error::value("coefficient", "positive, finite numbers", bad));
        }
        Ok(match self {
            Coefficient::Points(values) => Faces::from_points(n, values),
            Coefficient::Cells(values) => Faces::from_cells(n, values),
        })
    }
}

/// The coefficients between a point and its neighbours.
enum Neighbours<T: Real> {
    /// Along and across the rows, on the finest level.
    Four([Vector<T>; 2]),
    /// Along both diagonals as well, and what the shift is multiplied by.
    Eight([Vector<T>; 5]),
}

/// One level on the device.
struct Level<T: Real> {
    n: usize,
    neighbours: Neighbours<T>,
    /// The weights of the interpolation to this level; none on the coarsest.
    weights: Option<Vector<T>>,
    /// Defects, and what a Jacobi sweep writes.
    work: Vector<T>,
}

impl<T: Real> Level<T> {
    fn new(context: &Context, faces: &Faces<T>, interpolation: Option<&Interpolation<T>>) -> Result<Level<T>> {
        let n = faces.side();
        let Faces { x, y, rising, falling, mass, .. } = faces;
        let upload = |values: &Vec<T>| Vector::from_slice(context, values);
        let neighbours = if rising.is_empty() {
            Neighbours::Four([upload(x)?, upload(y)?])
        } else {
            Neighbours::Eight([upload(x)?, upload(y)?, upload(rising)?, upload(falling)?, upload(mass)?])
        };
        let weights = interpolation.map(|along| upload(&along.weights)).transpose()?;
        Ok(Level { n, neighbours, weights, work: Vector::zeros(context, n * n)? })
    }

    fn weights(&self) -> &Buffer<T> {
        self.weights.as_ref().expect("the coarsest level has no coarser one").buffer()
    }
}

/// The components for a constant coefficient.
type Constant<T> = Box<dyn Components<Grid = Vector<T>, Hierarchy = poisson2::Levels<T>> + Send>;

/// Kernels for a coefficient that varies.
pub(crate) struct Varying<T: Real> {
    context: Context,
    levels: Vec<Level<T>>,
    shift: T,
    smoother: Smoother,
    omega: T,
    /// For the start values of full multigrid, in which the coefficient has no part.
    constant: Constant<T>,
}

impl<T: Real> Varying<T> {
    pub(crate) fn new(context: &Context, equation: Equation<T>, smoother: Smoother, omega: f64) -> Result<Varying<T>> {
        let sides = &equation.sides;
        let constant: Constant<T> = match context.family() {
            KernelFamily::Gpu => Box::new(Poisson2Gpu::new(context, sides, 0.0, Smoother::RedBlack, 1.0)?),
            KernelFamily::Cpu => Box::new(Poisson2Cpu::new(context, sides, 0.0, Smoother::RedBlack, 1.0, 0)?),
        };
        let along = equation.interpolations.iter().map(Some).chain([None]);
        let levels = equation.faces.iter().zip(along).map(|(faces, along)| Level::new(context, faces, along));
        let levels = levels.collect::<Result<_>>()?;
        let (shift, omega) = (T::from_f64(equation.shift), T::from_f64(omega));
        Ok(Varying { context: context.clone(), levels, shift, smoother, omega, constant })
    }

    /// The items for `width` by `height` points.
    fn items(&self, [width, height]: [usize; 2]) -> Range {
        launch::items(&self.context, [width, height], height)
    }

    /// As [`faces::half_sweep`](super::faces::half_sweep).
    fn half_sweep(&self, level: usize, colour: u32, order: Order, u: &mut Vector<T>, f: &Vector<T>) -> Result<()> {
        let (context, Level { n, neighbours, .. }) = (&self.context, &self.levels[level]);
        let (n, h2, shift) = (*n, h2::<T>(*n), self.shift * h2(*n));
        let (f, u) = (f.buffer(), Out::shared(u.buffer()));
        match neighbours {
            Neighbours::Four(faces) => {
                let ([x, y], range) = (faces.each_ref().map(Vector::buffer), self.items([(n - 1) / 2, n - 2]));
                faces2::Program::new().red_black(context, range, n, colour, h2, shift, x, y, f, u)
            }
            Neighbours::Eight(faces) => {
                let (program, range) = (faces2::Nine::new(), self.items([(n - 1) / 2; 2]));
                let [x, y, rising, falling, mass] = faces.each_ref().map(Vector::buffer);
                let first = colour ^ u32::from(order == Order::BlackFirst);
                [first, 1 - first].into_iter().try_for_each(|odd| {
                    program.red_black(context, range, n, colour, odd, h2, shift, x, y, rising, falling, mass, f, u)
                })
            }
        }
    }

    /// `out` = a Jacobi sweep over `u`.
    fn jacobi(&self, level: usize, u: &Vector<T>, f: &Vector<T>, out: &Vector<T>) -> Result<()> {
        let (context, Level { n, neighbours, .. }) = (&self.context, &self.levels[level]);
        let (n, h2, shift, omega) = (*n, h2::<T>(*n), self.shift * h2(*n), self.omega);
        let (range, u, f, out) = (self.items([n, n]), u.buffer(), f.buffer(), Out::shared(out.buffer()));
        match neighbours {
            Neighbours::Four(faces) => {
                let [x, y] = faces.each_ref().map(Vector::buffer);
                faces2::Program::new().jacobi(context, range, n, h2, shift, omega, x, y, f, u, out)
            }
            Neighbours::Eight(faces) => {
                let [x, y, rising, falling, mass] = faces.each_ref().map(Vector::buffer);
                let program = faces2::Nine::new();
                program.jacobi(context, range, n, h2, shift, omega, x, y, rising, falling, mass, f, u, out)
            }
        }
    }

    fn restrict(&self, level: usize, fine: &Vector<T>, coarse: &mut Vector<T>) -> Result<()> {
        let (m, weights) = (self.levels[level + 1].n, self.levels[level].weights());
        let (range, coarse) = (self.items([m, m]), Out::shared(coarse.buffer()));
        faces2::Program::<T>::new().restrict_along(&self.context, range, m, weights, fine.buffer(), coarse)
    }

    /// `d` = the defect.
    fn defect(&self, level: usize, u: &Vector<T>, f: &Vector<T>, d: &Vector<T>) -> Result<()> {
        let (context, Level { n, neighbours, .. }) = (&self.context, &self.levels[level]);
        let (n, inverse_h2, shift) = (*n, inverse_h2::<T>(*n), self.shift);
        let (range, u, f, d) = (self.items([n, n]), u.buffer(), f.buffer(), Out::shared(d.buffer()));
        match neighbours {
            Neighbours::Four(faces) => {
                let [x, y] = faces.each_ref().map(Vector::buffer);
                faces2::Program::new().defect(context, range, n, inverse_h2, shift, x, y, f, u, d)
            }
            Neighbours::Eight(faces) => {
                let [x, y, rising, falling, mass] = faces.each_ref().map(Vector::buffer);
                let program = faces2::Nine::new();
                program.defect(context, range, n, inverse_h2, shift, x, y, rising, falling, mass, f, u, d)
            }
        }
    }

    /// `d` = the defect with `u` = 0 inside.
    fn source(&self, level: usize, u: &Vector<T>, f: &Vector<T>, d: &Vector<T>) -> Result<()> {
        let (context, Level { n, neighbours, .. }) = (&self.context, &self.levels[level]);
        let (n, inverse_h2) = (*n, inverse_h2::<T>(*n));
        let (range, u, f, d) = (self.items([n, n]), u.buffer(), f.buffer(), Out::shared(d.buffer()));
        match neighbours {
            Neighbours::Four(faces) => {
                let [x, y] = faces.each_ref().map(Vector::buffer);
                faces2::Program::<T>::new().source(context, range, n, inverse_h2, x, y, f, u, d)
            }
            Neighbours::Eight(faces) => {
                let [x, y, rising, falling, _] = faces.each_ref().map(Vector::buffer);
                faces2::Nine::<T>::new().source(context, range, n, inverse_h2, x, y, rising, falling, f, u, d)
            }
        }
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

impl<T: Real> Hierarchy for Varying<T> {
    type Grid = Vector<T>;

    fn zeros(&self, level: usize) -> Result<Vector<T>> {
        Vector::zeros(&self.context, self.levels[level].n * self.levels[level].n)
    }

    fn clear(&self, u: &mut Vector<T>) -> Result<()> {
        u.fill(T::zero())
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
        self.source(level, u, f, &self.levels[level].work)?;
        self.norm(&self.levels[level].work)
    }

    fn norm(&self, u: &Vector<T>) -> Result<f64> {
        Ok(ops::norm2(u)?.into_f64())
    }

    fn coarsen(
        &mut self,
        level: usize,
        u: &Vector<T>,
        f: &Vector<T>,
        coarse_u: &mut Vector<T>,
        coarse_f: &mut Vector<T>,
    ) -> Result<()> {
        copy_boundary(self.levels[level + 1].n, 2, u, coarse_u)?;
        self.restrict(level, f, coarse_f)
    }
}

impl<T: Real> Components for Varying<T> {
    type Grid = Vector<T>;
    type Hierarchy = Self;

    fn hierarchy(&self) -> &Self {
        self
    }

    fn hierarchy_mut(&mut self) -> &mut Self {
        self
    }

    fn smooth(&mut self, level: usize, u: &mut Vector<T>, f: &Vector<T>, sweeps: Sweeps) -> Result<()> {
        for _ in 0..sweeps.count {
            match self.smoother {
                Smoother::RedBlack => {
                    let order = sweeps.order;
                    order.colours().iter().try_for_each(|&colour| self.half_sweep(level, colour, order, u, f))?
                }
                Smoother::Jacobi => {
                    self.jacobi(level, u, f, &self.levels[level].work)?;
                    std::mem::swap(u, &mut self.levels[level].work);
                }
            }
        }
        Ok(())
    }

    fn restrict_defect(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>, coarse: &mut Vector<T>) -> Result<()> {
        self.defect(level, u, f, &self.levels[level].work)?;
        self.restrict(level, &self.levels[level].work, coarse)
    }

    fn interpolate_add(&mut self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        let this = &self.levels[level];
        let (range, u) = (self.items([this.n - 2; 2]), Out::shared(u.buffer()));
        let program = faces2::Program::<T>::new();
        program.interpolate_add(&self.context, range, this.n, this.weights(), coarse.buffer(), u)
    }

    fn refine(&mut self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        self.constant.refine(level, coarse, u)
    }
}
