//! Separable functions on grids: right-hand sides and exact solutions that never pass through the host.

use super::launch;
use crate::error::check_length;
use crate::ops::reduce::largest;
use crate::runtime::kernels::separable;
use crate::runtime::{KernelFamily, Out, Range, View};
use crate::{Context, Error, Real, Result, Vector};

/// The values of a product of a function of each coordinate at the points of a grid in one to three dimensions, x
/// fastest: `(scale x[i]) (y[j] z[k])`, with 1 for a coordinate that the grid does not have.
///
/// The products are formed in double precision in this order, so that their bits are those of the same expression on the
/// host; a value of type `f32` is rounded once. So the device has to support double precision whatever the type of the
/// grid.
///
/// ```
/// use clinalg::{Context, multigrid::Separable};
///
/// let context = Context::global()?;
/// # if !context.device().fp64 { return Ok(()); }
/// let f = Separable::new(2.0, &[&[1.0, 2.0, 3.0], &[1.0, 10.0]])?;
/// let values = f.vector::<f64>(&context)?;
/// assert_eq!(values.to_vec()?, [2.0, 4.0, 6.0, 20.0, 40.0, 60.0]);
/// assert_eq!(f.error_max(&values)?, 0.0);
/// # Ok::<(), clinalg::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Separable {
    scale: f64,
    /// The values along each direction.
    factors: [Vec<f64>; 3],
}

impl Separable {
    /// `factors` has the values of each factor at the points along its direction, the fastest first.
    ///
    /// # Errors
    /// [`Error::Value`] unless there are one to three factors.
    pub fn new(scale: f64, factors: &[&[f64]]) -> Result<Separable> {
        if !(1..=3).contains(&factors.len()) {
            return Err(Error::value("factors", "1 to 3, one for each dimension", factors.len()));
        }
        let along = |axis: usize| factors.get(axis).copied().unwrap_or(&[1.0]).to_vec();
        Ok(Separable { scale, factors: [0, 1, 2].map(along) })
    }

    /// Points in each direction.
    pub(crate) fn points(&self) -> [usize; 3] {
        self.factors.each_ref().map(Vec::len)
    }

    /// The same function at these of the points along `axis`.
    pub(crate) fn part(&self, axis: usize, range: std::ops::Range<usize>) -> Separable {
        let mut part = self.clone();
        part.factors[axis] = self.factors[axis][range].to_vec();
        part
    }

    /// A vector with the values at all points.
    ///
    /// # Errors
    /// As [`Separable::fill`].
    pub fn vector<T: Real>(&self, context: &Context) -> Result<Vector<T>> {
        let mut values = Vector::uninit(context, self.points().iter().product())?;
        self.fill(&mut values)?;
        Ok(values)
    }

    /// Writes the values at all points to `out`.
    ///
    /// # Errors
    /// [`Error::Length`] unless `out` has a value for each point; [`Error::NoFp64`]; [`Error::Allocation`].
    pub fn fill<T: Real>(&self, out: &mut Vector<T>) -> Result<()> {
        let ([nx, ny, nz], context) = (self.points(), out.context());
        check_length("out", nx * ny * nz, out.len())?;
        let factors = Vector::from_slice(context, &self.factors.concat())?;
        let range = match context.family() {
            KernelFamily::Gpu => Range::d1(ny * nz * context.local(), context.local()),
            KernelFamily::Cpu => Range::d1(context.chunks().min(ny * nz), 1),
        };
        let out = Out::shared(out.buffer());
        separable::Program::<T>::new().fill_separable(context, range, nx, ny, nz, self.scale, factors.buffer(), out)
    }

    /// The largest difference of a value of `u` from the function, in double precision; NaN if a value is NaN, 0 without
    /// points.
    ///
    /// # Errors
    /// [`Error::Length`] unless `u` has a value for each point; [`Error::NoFp64`]; [`Error::Allocation`].
    pub fn error_max<'a, T: Real>(&self, u: impl Into<View<'a, T>>) -> Result<f64> {
        let (u, [nx, ny, nz]) = (u.into(), self.points());
        check_length("u", nx * ny * nz, u.len())?;
        if u.is_empty() {
            return Ok(0.0);
        }
        let context = u.context();
        let factors = Vector::from_slice(context, &self.factors.concat())?;
        let (count, range) = launch::shares(context, ny * nz, 1);
        let ((u, offset), factors) = (u.place(), factors.buffer());
        let program = separable::Program::<T>::new();
        let partials = context.partials(count, |partial| {
            program.max_separable_error(context, range, nx, ny, nz, self.scale, factors, offset, u, partial)
        })?;
        Ok(largest(&partials))
    }
}
