//! What is solved: dimension, sizes, shift and coefficient on every level.

use super::coefficient::Coefficient;
use crate::matrix::host::zeros;
use crate::multigrid::faces::{Faces, Interpolation};
use crate::{Error, Real, Result};

/// `-div(a grad u) + shift u = f` on the levels of a grid; a = 1 unless `faces` are given.
#[derive(Debug, Clone)]
pub(crate) struct Equation<T> {
    /// Points per side of each level, the finest first.
    pub(crate) sides: Vec<usize>,
    /// 2 or 3.
    pub(crate) dim: u32,
    pub(crate) shift: f64,
    /// The coefficient on each level of a two-dimensional grid; empty where a = 1.
    pub(crate) faces: Vec<Faces<T>>,
    /// The interpolation to each of these levels but the coarsest.
    pub(crate) interpolations: Vec<Interpolation<T>>,
}

impl<T: Real> Equation<T> {
    /// With a = 1.
    ///
    /// # Errors
    /// [`Error::Value`] for a dimension other than 2 and 3 and for sides other than 2^k + 1.
    pub(crate) fn new(n: usize, dim: usize, shift: f64) -> Result<Equation<T>> {
        if !(2..=3).contains(&dim) {
            return Err(Error::value("dim", "2 or 3", dim));
        }
        Ok(Equation {
            sides: super::sides(n, dim as u32)?,
            dim: dim as u32,
            shift,
            faces: Vec::new(),
            interpolations: Vec::new(),
        })
    }

    /// With this coefficient, or with a = 1.
    ///
    /// # Errors
    /// As [`Equation::new`]; [`Error::Length`] or [`Error::Value`] that names `coefficient` when it does not fit the grid or is not
    /// positive and finite everywhere; [`Error::Value`] for a coefficient on a cube.
    pub(crate) fn given(n: usize, dim: usize, shift: f64, a: Option<Coefficient<'_, T>>) -> Result<Equation<T>> {
        let equation = Equation::new(n, dim, shift)?;
        let Some(a) = a else { return Ok(equation) };
        if dim != 2 {
            return Err(Error::value("dim", "2 with a variable coefficient", dim));
        }
        Ok(equation.with_faces(a.faces(n)?))
    }

    /// With the coefficient `faces` on the finest level, and the Galerkin operators of the coarser ones.
    pub(crate) fn with_faces(mut self, faces: Faces<T>) -> Equation<T> {
        let mut faces = vec![faces];
        let mut interpolations = Vec::new();
        while let Some(finer) = faces.last().filter(|finer| finer.side() > 3) {
            let interpolation = Interpolation::new(finer);
            let coarser = finer.coarser(&interpolation);
            interpolations.push(interpolation);
            faces.push(coarser);
        }
        (self.faces, self.interpolations) = (faces, interpolations);
        self
    }

    /// Bound of the sum of the moduli of a row of the matrix: 4 dim / h^2 + shift where a = 1.
    pub(crate) fn row_sum(&self) -> f64 {
        let intervals = (self.sides[0] - 1) as f64;
        let most = |faces: &Faces<T>| faces.x.iter().chain(&faces.y).fold(0.0, |most: f64, a| most.max(a.into_f64()));
        let largest = self.faces.first().map_or(1.0, most);
        4.0 * f64::from(self.dim) * largest * intervals * intervals + self.shift
    }

    /// A grid of zeros for `level` on the host.
    pub(crate) fn grid(&self, level: usize) -> Result<Vec<T>> {
        zeros("n", self.sides[level].checked_pow(self.dim))
    }

    /// Positions of the neighbours of interior point `p` on `level` with the negative entries of the matrix, in ascending
    /// order of the positions, all times h^2.
    pub(crate) fn neighbours(&self, level: usize, p: usize) -> Vec<(usize, f64)> {
        let n = self.sides[level];
        match (self.faces.get(level), self.dim) {
            (Some(faces), _) => {
                let mut around: Vec<_> = faces.around(p).map(|(q, face)| (q, face.into_f64())).collect();
                around.sort_by_key(|(q, _)| *q);
                around
            }
            (None, 2) => [p - n, p - 1, p + 1, p + n].map(|q| (q, 1.0)).to_vec(),
            (None, _) => [p - n * n, p - n, p - 1, p + 1, p + n, p + n * n].map(|q| (q, 1.0)).to_vec(),
        }
    }

    /// The shift at interior point `p` on `level`.
    pub(crate) fn shift_at(&self, level: usize, p: usize) -> f64 {
        self.shift * self.faces.get(level).map_or(1.0, |faces| faces.mass(p).into_f64())
    }
}
