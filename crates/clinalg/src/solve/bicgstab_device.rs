//! BiCGStab with the scalars on the device.

use super::best::Best;
use super::bicgstab_steps::{BiCgStabSteps, Row, Scalars};
use super::scalars::{self, Limits, MOST_AT_ONCE, Ring};
use crate::ops::{self, DotParts};
use crate::runtime::kernels::bicgstab;
use crate::runtime::{In, Out, Range};
use crate::{Context, Real, Result, Scalar, Vector};

/// Number of values per row; they are listed in `bicgstab.cl`.
const NUMBERS: usize = 11;

fn row_of(n: [f64; NUMBERS]) -> Row {
    let [rho, squares, largest, stop, sigma, square, length, half, mixed, other, made] = n;
    Row { rho, squares, largest, stop, sigma, square, length, half, mixed, other, made }
}

fn numbers(row: Row) -> [f64; NUMBERS] {
    let Row { rho, squares, largest, stop, sigma, square, length, half, mixed, other, made } = row;
    [rho, squares, largest, stop, sigma, square, length, half, mixed, other, made]
}

/// The scalars of BiCGStab on the device.
#[derive(Debug)]
pub(super) struct DeviceBiCgStab<T: Scalar> {
    ring: Ring<T::Real, NUMBERS>,
    /// The length of the shadow residual.
    shadow: T::Real,
    /// Of a product A M^-1 p or A M^-1 r: with the shadow or r, and with itself.
    dots: DotParts<T>,
    /// p'p; r'r after the half step; the shadow's product with r and r'r after the iteration.
    lengths: DotParts<T>,
    halves: DotParts<T>,
    ends: DotParts<T>,
}

/// As [`scalars::update`], with the compiled program.
fn update<T: Real>(context: &Context, n: usize) -> (bicgstab::Program<T>, usize, Range) {
    let ([local, width], parts, range) = scalars::update::<T>(context, n);
    (bicgstab::Program::new().local(local).width_unless(width, 1), parts, range)
}

impl<T: Scalar> DeviceBiCgStab<T> {
    pub(super) fn new(context: &Context) -> Result<DeviceBiCgStab<T>> {
        let parts = || DotParts::new(context);
        let (ring, shadow) = (Ring::new(context)?, T::Real::from_f64(0.0));
        Ok(DeviceBiCgStab { ring, shadow, dots: parts()?, lengths: parts()?, halves: parts()?, ends: parts()? })
    }
}

impl<T: Scalar> BiCgStabSteps<T, Vector<T>> for DeviceBiCgStab<T> {
    fn at_once(&self) -> usize {
        MOST_AT_ONCE
    }

    fn begin(&mut self, r: &Vector<T>, scattered: Option<&Vector<T>>, p: &mut Vector<T>, length: f64) -> Result<Row> {
        let squares = length * length;
        let rho = match scattered {
            Some(shadow) => {
                self.lengths.set(shadow, r)?;
                self.lengths.value()?.re()
            }
            None => squares,
        };
        ops::copy(r, p)?;
        self.lengths.set(p, p)?;
        Ok(Row { rho, squares, ..Row::default() })
    }

    fn start(&mut self, first: Row, shadow: f64) -> Result<()> {
        self.shadow = T::Real::from_f64(shadow);
        self.ring.start(numbers(first))
    }

    fn dots(&mut self) -> &mut DotParts<T> {
        &mut self.dots
    }

    fn half(&mut self, limits: &Limits<T::Real>, (_, v): (&Vector<T>, &Vector<T>), r: &mut Vector<T>) -> Result<()> {
        let (context, n) = (v.context(), v.len());
        let (program, parts, range) = update::<T::Real>(context, n);
        let (count, dots) = self.dots.joined();
        let (length_count, lengths) = self.lengths.joined();
        let (rows, at) = (self.ring.rows(), self.ring.at());
        let (unsound, shadow) = (limits.unsound, self.shadow);
        let (v, r) = (In::parts(v.buffer()), Out::parts(r.buffer()));
        let partial = self.halves.parts(parts);
        program.bicgstab_half(
            context,
            range,
            n,
            count,
            dots,
            length_count,
            lengths,
            rows,
            at,
            unsound,
            shadow,
            v,
            r,
            partial,
        )
    }

    fn whole(
        &mut self,
        limits: &Limits<T::Real>,
        (y, z): (&Vector<T>, Option<&Vector<T>>),
        (t, shadow): (&Vector<T>, &Vector<T>),
        (x, _): (&mut Vector<T>, usize),
        r: &mut Vector<T>,
        _: &mut Best<Vector<T>>,
    ) -> Result<()> {
        let (context, n) = (t.context(), t.len());
        let (program, parts, range) = update::<T::Real>(context, n);
        let (half_count, halves) = self.halves.joined();
        let (count, dots) = self.dots.joined();
        let (rows, at) = (self.ring.rows(), self.ring.at());
        let Limits { unsound, low, unit, .. } = *limits;
        let [y, z, t, shadows] = [y, z.unwrap_or(r), t, shadow].map(|vector| In::parts(vector.buffer()));
        let [x, r] = [&*x, &*r].map(|vector| Out::parts(vector.buffer()));
        let (shadow, partial) = (self.shadow, self.ends.pairs(parts));
        program.bicgstab_whole(
            context, range, n, half_count, halves, count, dots, rows, at, unsound, shadow, low, unit, y, z, t, shadows,
            x, r, partial,
        )
    }

    fn direction(&mut self, limits: &Limits<T::Real>, r: &Vector<T>, v: &Vector<T>, p: &mut Vector<T>) -> Result<()> {
        let (context, n) = (r.context(), r.len());
        let (program, parts, range) = update::<T::Real>(context, n);
        let (count, dots) = self.ends.joined();
        let (at, next) = (self.ring.at(), self.ring.advance());
        let rows = self.ring.rows();
        let (Limits { unsound, low, high, .. }, shadow) = (*limits, self.shadow);
        let (r, v, p) = (In::parts(r.buffer()), In::parts(v.buffer()), Out::parts(p.buffer()));
        let partial = self.lengths.parts(parts);
        program.bicgstab_direction(
            context, range, n, count, dots, rows, at, next, unsound, shadow, low, high, r, v, p, partial,
        )
    }

    fn read(&self, count: usize) -> Result<Vec<(Row, Row)>> {
        Ok(self.ring.read(count)?.map(|(row, next)| (row_of(row), row_of(next))).collect())
    }

    fn scalars(&self) -> Result<Scalars> {
        Ok(Scalars::Device { lengths: self.lengths.numbers()? })
    }

    fn restore(&mut self, scalars: &Scalars) -> Result<bool> {
        let Scalars::Device { lengths } = scalars else { return Ok(false) };
        self.lengths.restore(lengths)?;
        Ok(true)
    }
}
