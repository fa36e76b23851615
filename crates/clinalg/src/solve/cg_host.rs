//! Conjugate gradients with the scalars on the host.

use num_traits::Float;

use super::best::Best;
use super::cg_steps::{CgSteps, Row};
use super::scalars::Limits;
use crate::ops::{SpaceDots, SpaceVector};
use crate::{Real, Result, Scalar};

/// The steps as updates and dot products of any space.
#[derive(Debug)]
pub(crate) struct HostCg<T: Scalar, V: SpaceVector<Scalar = T>> {
    /// p'Ap; r'z and r'r.
    curvature: V::Dots,
    rhos: V::Dots,
    row: Row,
    next: Row,
}

impl<T: Scalar, V: SpaceVector<Scalar = T>> HostCg<T, V> {
    pub(crate) fn new(like: &V) -> Result<HostCg<T, V>> {
        Ok(HostCg { curvature: like.dots()?, rhos: like.dots()?, row: Row::default(), next: Row::default() })
    }

    /// The step length, zero where it must not be made.
    fn step(&self) -> f64 {
        let Row { rho, squares, square, largest, steepest, curvature, .. } = self.row;
        let eps = T::Real::epsilon().into_f64();
        let is_sound = rho.is_finite()
            && rho / squares > eps * eps * steepest
            && curvature.is_finite()
            && curvature / square > eps * largest;
        if is_sound { rho / curvature } else { 0.0 }
    }
}

impl<T: Scalar, V: SpaceVector<Scalar = T>> CgSteps<T, V> for HostCg<T, V> {
    fn at_once(&self) -> usize {
        1
    }

    fn rho(&mut self, r: &V, z: &V) -> Result<f64> {
        self.rhos.set_dot(r, z)?;
        Ok(self.rhos.first()?.re())
    }

    fn start(&mut self, first: Row) -> Result<()> {
        self.next = first;
        Ok(())
    }

    fn curvature(&mut self) -> &mut V::Dots {
        &mut self.curvature
    }

    fn residual(&mut self, _: &Limits<T::Real>, q: &V, r: &mut V) -> Result<()> {
        self.row = Row { curvature: self.curvature.first()?.re(), ..self.next };
        match self.step() {
            0.0 => Ok(()),
            step => r.axpby(T::from_f64(-step), q, T::one()),
        }
    }

    fn direction(
        &mut self,
        limits: &Limits<T::Real>,
        (r, z): (&V, Option<&V>),
        (x, at): (&mut V, usize),
        p: &mut V,
        best: &mut Best<V>,
    ) -> Result<()> {
        let (step, row, unit) = (self.step(), self.row, limits.unit.into_f64());
        if step == 0.0 {
            return Ok(());
        }
        self.rhos.set_dots(r, z.unwrap_or(r))?;
        let (rho, squares) = self.rhos.both()?;
        let rho = rho.re();
        best.before(x, at, unit * squares.sqrt())?;
        x.axpby(T::from_f64(unit * step), p, T::one())?;
        let beta = rho / row.rho;
        p.axpby(T::one(), z.unwrap_or(r), T::from_f64(beta))?;
        self.row.made = 1.0;
        self.next = Row {
            rho,
            squares,
            square: rho + beta * beta * row.square,
            largest: row.largest.max(row.curvature / row.square),
            steepest: row.steepest.max(row.rho / row.squares),
            ..Row::default()
        };
        Ok(())
    }

    fn read(&self, _: usize) -> Result<Vec<(Row, Row)>> {
        Ok(vec![(self.row, self.next)])
    }
}
