//! BiCGStab with the scalars on the host: for teams and for complex numbers.

use num_traits::{Float, Zero};

use super::best::Best;
use super::bicgstab_steps::{BiCgStabSteps, Row, Scalars};
use super::memory::Coefficient;
use super::scalars::{Limits, after_step};
use crate::ops::{SpaceDots, SpaceVector};
use crate::{Real, Result, Scalar};

/// The steps as updates and dot products of any space.
#[derive(Debug)]
pub(crate) struct HostBiCgStab<T: Scalar, V: SpaceVector<Scalar = T>> {
    dots: V::Dots,
    /// The norm of the shadow residual.
    shadow: f64,
    /// |p|, where it is known without a dot product.
    length: Option<f64>,
    /// The shadow residual's product with r, and the steps; zero where a step must not be made.
    rho: T::Wide,
    alpha: T::Wide,
    omega: T::Wide,
    row: Row,
    next: Row,
}

impl<T: Scalar, V: SpaceVector<Scalar = T>> HostBiCgStab<T, V> {
    pub(crate) fn new(like: &V) -> Result<HostBiCgStab<T, V>> {
        let zero = T::Wide::zero();
        let (row, next) = (Row::default(), Row::default());
        Ok(HostBiCgStab {
            dots: like.dots()?,
            shadow: 0.0,
            length: None,
            rho: zero,
            alpha: zero,
            omega: zero,
            row,
            next,
        })
    }
}

/// |z|; NaN where a part is not finite.
fn size<W: Scalar<Real = f64>>(z: W) -> f64 {
    if z.has_finite_parts() { z.modulus() } else { f64::NAN }
}

impl<T: Scalar, V: SpaceVector<Scalar = T>> BiCgStabSteps<T, V> for HostBiCgStab<T, V> {
    fn at_once(&self) -> usize {
        1
    }

    fn begin(&mut self, r: &V, scattered: Option<&V>, p: &mut V, length: f64) -> Result<Row> {
        self.rho = match scattered {
            Some(shadow) => {
                self.dots.set_dot(shadow, r)?;
                self.dots.first()?
            }
            None => T::Wide::from_real(length * length),
        };
        p.set_copy(r)?;
        self.length = Some(length);
        Ok(Row { squares: length * length, ..Row::default() })
    }

    fn start(&mut self, first: Row, shadow: f64) -> Result<()> {
        (self.next, self.shadow) = (first, shadow);
        Ok(())
    }

    fn dots(&mut self) -> &mut V::Dots {
        &mut self.dots
    }

    fn half(&mut self, _: &Limits<T::Real>, (p, v): (&V, &V), r: &mut V) -> Result<()> {
        let eps = T::Real::epsilon().into_f64();
        let ((sigma, square), length) = match self.length.take() {
            Some(length) => (self.dots.both()?, length),
            None => self.dots.both_and_norm(p)?,
        };
        let sigma = sigma.conj();
        let quotient = square.sqrt() / length;
        let is_sound = sigma.has_finite_parts()
            && square.is_finite()
            && quotient > eps * self.next.largest.sqrt()
            && sigma.modulus() > eps * self.shadow * square.sqrt();
        self.row = Row { sigma: size(sigma), square, length: length * length, ..self.next };
        self.alpha = if is_sound { self.rho / sigma } else { T::Wide::zero() };
        if is_sound { r.axpby(T::narrow(-self.alpha), v, T::one()) } else { Ok(()) }
    }

    fn whole(
        &mut self,
        limits: &Limits<T::Real>,
        (along_p, along_r): (&V, Option<&V>),
        (t, shadow): (&V, &V),
        (x, at): (&mut V, usize),
        r: &mut V,
        best: &mut Best<V>,
    ) -> Result<()> {
        self.omega = T::Wide::zero();
        if self.alpha.is_zero() {
            return Ok(());
        }
        let (eps, unit) = (T::Real::epsilon().into_f64(), limits.unit.into_f64());
        let real = T::Wide::from_real;
        let ((mixed, other), half) = self.dots.both_and_norm(r)?;
        let is_finite = mixed.has_finite_parts() && other.is_finite() && half.is_finite();
        let is_sound =
            is_finite && mixed.modulus() > eps * other.sqrt() * half && !limits.threshold.is_met(unit * half);
        self.row = Row { half: half * half, mixed: size(mixed), other, made: 1.0, ..self.row };
        let omega = mixed / real(other);
        best.before(x, at, unit * if is_sound { after_step(half, mixed, other, omega) } else { half })?;
        x.axpby(T::narrow(real(unit) * self.alpha), along_p, T::one())?;
        if !is_sound {
            return Ok(());
        }
        x.axpby(T::narrow(real(unit) * omega), along_r.unwrap_or(r), T::one())?;
        r.axpby(T::narrow(-omega), t, T::one())?;
        (self.omega, self.row.made) = (omega, 2.0);
        self.dots.set_dots(r, shadow)
    }

    fn direction(&mut self, _: &Limits<T::Real>, r: &V, v: &V, p: &mut V) -> Result<()> {
        if self.omega.is_zero() {
            return Ok(());
        }
        let eps = T::Real::epsilon().into_f64();
        let (next, squares) = self.dots.both()?;
        let next = next.conj();
        let vanishes = next.modulus() <= eps * self.shadow * squares.sqrt();
        let largest = self.row.largest.max(self.row.square / self.row.length);
        self.next = Row { rho: size(next), squares, largest, stop: f64::from(u8::from(vanishes)), ..Row::default() };
        let beta = next / self.rho * (self.alpha / self.omega);
        self.rho = next;
        if vanishes {
            return Ok(());
        }
        p.axpby(T::narrow(-beta * self.omega), v, T::narrow(beta))?;
        p.axpby(T::one(), r, T::one())
    }

    fn read(&self, _: usize) -> Result<Vec<(Row, Row)>> {
        Ok(vec![(self.row, self.next)])
    }

    fn scalars(&self) -> Result<Scalars> {
        Ok(Scalars::Host { rho: Coefficient::of(self.rho) })
    }

    fn restore(&mut self, scalars: &Scalars) -> Result<bool> {
        let Scalars::Host { rho } = scalars else { return Ok(false) };
        (self.rho, self.length) = (rho.value(), None);
        Ok(true)
    }
}
