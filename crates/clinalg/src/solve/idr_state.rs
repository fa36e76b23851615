//! The scalars of IDR(s), and its shadow vectors.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use super::basis::shrink;
use super::krylov_vector::{BasisProducts, KrylovVector, all_like};
use super::memory::{Coefficient, coefficients};
use crate::{Result, Scalar};

/// After the last iteration.
#[derive(Debug)]
pub(super) struct State<W> {
    /// The scale of the residual.
    pub(super) unit: f64,
    /// The residual of the recurrence.
    pub(super) norm: f64,
    /// Number of steps in the current subspace.
    pub(super) done: usize,
    /// The dot products of the shadow vectors (rows) with the columns of G: lower triangular.
    pub(super) matrix: Vec<Vec<W>>,
    /// The dot products of the shadow vectors with the residual.
    pub(super) f: Vec<W>,
    pub(super) omega: W,
}

/// What a memory holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedState {
    unit: f64,
    norm: f64,
    done: usize,
    matrix: Vec<Vec<Coefficient>>,
    f: Vec<Coefficient>,
    omega: Coefficient,
}

impl<W: Scalar<Real = f64>> State<W> {
    /// The initial state, with `s` shadow vectors.
    pub(super) fn new(s: usize) -> State<W> {
        let matrix = (0..s).map(|i| (0..s).map(|j| if i == j { W::one() } else { W::zero() }).collect()).collect();
        State { unit: 1.0, norm: 0.0, done: 0, matrix, f: vec![W::zero(); s], omega: W::one() }
    }

    /// For a memory.
    pub(super) fn saved(&self) -> SavedState {
        SavedState {
            unit: self.unit,
            norm: self.norm,
            done: self.done,
            matrix: self.matrix.iter().map(|row| coefficients(row)).collect(),
            f: coefficients(&self.f),
            omega: Coefficient::of(self.omega),
        }
    }

    /// The state that was saved, if it is for `s` shadow vectors.
    pub(super) fn restored(saved: SavedState, s: usize) -> Option<State<W>> {
        let SavedState { unit, norm, done, matrix, f, omega } = saved;
        let fits = done <= s && matrix.len() == s && f.len() == s && matrix.iter().all(|row| row.len() == s);
        let values = |row: Vec<Coefficient>| row.into_iter().map(Coefficient::value).collect();
        let matrix = matrix.into_iter().map(values).collect();
        fits.then(|| State { unit, norm, done, matrix, f: values(f), omega: omega.value() })
    }
}

/// The same numbers with the other sign.
pub(super) fn negative<W: Scalar>(values: &[W]) -> Vec<W> {
    values.iter().map(|&value| -value).collect()
}

/// Orthonormal random vectors, the same for every solver of this size.
pub(super) fn random_basis<T: Scalar, V: KrylovVector<Scalar = T>>(
    like: &V,
    s: usize,
    basis: &mut V::Basis,
) -> Result<Vec<V>> {
    let mut random = StdRng::seed_from_u64(0);
    let mut part = || T::Real::from_f64(random.random_range(-1.0..1.0));
    let mut vectors = Vec::with_capacity(s);
    for mut p in all_like(like, s)? {
        p.set_from_host(&(0..like.size()).map(|_| T::from_parts(part(), part())).collect::<Vec<T>>())?;
        let length = basis.orthogonalise(&vectors, &mut p)?;
        if length > 0.0 {
            shrink(&mut p, length)?;
        }
        vectors.push(p);
    }
    Ok(vectors)
}
