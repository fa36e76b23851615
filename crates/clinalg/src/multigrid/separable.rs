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
/// The products are formed in double precision in this order, so that devices and the host get the same bits; a value of
/// type `f32` is rounded once, and a zero has no sign. So the device has to support double precision whatever the type of
/// the grid.
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

    /// An error unless the function is on so many points in each direction.
    pub(crate) fn check_points(&self, argument: &'static str, points: [usize; 3]) -> Result<()> {
        if self.points() == points {
            return Ok(());
        }
        let words = |points: [usize; 3]| format!("{} by {} by {} points", points[0], points[1], points[2]);
        Err(Error::Shape { argument, expected: words(points), got: words(self.points()) })
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
        self.check_length("out", out.len())?;
        let factors = Vector::from_slice(context, &self.factors.concat())?;
        let range = match context.family() {
            KernelFamily::Gpu => Range::d1(ny * nz * context.local(), context.local()),
            KernelFamily::Cpu => Range::d1(context.chunks().min(ny * nz), 1),
        };
        let out = Out::shared(out.buffer());
        separable::Program::<T>::new().fill_separable(context, range, nx, ny, nz, self.scale, factors.buffer(), out)
    }

    /// Writes the values at consecutive points, whole rows along the last direction that has several points, to `out`.
    ///
    /// # Errors
    /// [`Error::Value`] for points that are no whole rows of the grid; those of [`Separable::fill`].
    pub fn fill_range<T: Real>(&self, points: std::ops::Range<usize>, out: &mut Vector<T>) -> Result<()> {
        let n = self.points();
        let axis = n.iter().rposition(|&n| n != 1).unwrap_or(0);
        let width = n[..axis].iter().product::<usize>().max(1);
        let rows = points.start / width..points.end / width;
        if rows.start * width != points.start || rows.end * width != points.end || rows.end > n[axis] {
            let expected = format!("some of {} rows of {width} points", n[axis]);
            return Err(Error::value("points", expected, format!("{points:?}")));
        }
        self.part(axis, rows).fill(out)
    }

    /// [`Separable::fill`] of an array of the host.
    ///
    /// # Errors
    /// [`Error::Length`] unless `out` has a value for each point.
    pub fn fill_host<T: Real>(&self, out: &mut [T]) -> Result<()> {
        self.check_length("out", out.len())?;
        let [x, ..] = &self.factors;
        for (row, across) in out.chunks_mut(x.len().max(1)).zip(self.across()) {
            for (value, x) in row.iter_mut().zip(x) {
                *value = T::from_f64(self.scale * x * across + 0.0);
            }
        }
        Ok(())
    }

    /// [`Separable::error_max`] of an array of the host.
    ///
    /// # Errors
    /// [`Error::Length`] unless `u` has a value for each point.
    pub fn error_max_host<T: Real>(&self, u: &[T]) -> Result<f64> {
        self.check_length("u", u.len())?;
        let [x, ..] = &self.factors;
        let rows = u.chunks(x.len().max(1)).zip(self.across());
        Ok(largest(rows.flat_map(|(row, across)| {
            row.iter().zip(x).map(move |(value, x)| (value.into_f64() - self.scale * x * across).abs())
        })))
    }

    /// The factor of each row of points along the first direction.
    fn across(&self) -> impl Iterator<Item = f64> {
        let [_, y, z] = &self.factors;
        z.iter().flat_map(move |z| y.iter().map(move |y| y * z))
    }

    fn check_length(&self, argument: &'static str, len: usize) -> Result<()> {
        check_length(argument, self.points().iter().product(), len)
    }

    /// The largest difference of a value of `u` from the function, in double precision; NaN if a value is NaN, 0 without
    /// points.
    ///
    /// # Errors
    /// [`Error::Length`] unless `u` has a value for each point; [`Error::NoFp64`]; [`Error::Allocation`].
    pub fn error_max<'a, T: Real>(&self, u: impl Into<View<'a, T>>) -> Result<f64> {
        let (u, [nx, ny, nz]) = (u.into(), self.points());
        self.check_length("u", u.len())?;
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
        Ok(largest(partials))
    }
}
