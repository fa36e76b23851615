//! Symmetric successive over-relaxation.

use serde::{Deserialize, Serialize};

use super::schedule::{Part, Pattern};
use super::triangle::{Entries, Numbering, Triangle};
use super::{Ordering, check_finite, check_square, inverse_of, permuted};
use crate::solve::Preconditioner;
use crate::{Context, Csr, CsrParts, Error, Result, Scalar, Vector};

/// Parameters of [`Ssor`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SsorParams {
    /// Relaxation factor, above 0 and below 2. Default 1: symmetric Gauss-Seidel.
    pub omega: f64,
    /// The order of the sweeps. Default: by colours.
    pub ordering: Ordering,
}

impl Default for SsorParams {
    fn default() -> SsorParams {
        SsorParams { omega: 1.0, ordering: Ordering::Multicolour }
    }
}

impl SsorParams {
    /// With this relaxation factor.
    pub fn omega(mut self, omega: f64) -> SsorParams {
        self.omega = omega;
        self
    }

    /// In this order.
    pub fn ordering(mut self, ordering: Ordering) -> SsorParams {
        self.ordering = ordering;
        self
    }
}

/// M = w / (2 - w) (D / w + L) D^-1 (D / w + U) with the diagonal D and the triangles L and U of the matrix (Saad 2003, section 10.2): a
/// forward and a backward sweep of (over-relaxed) Gauss-Seidel. Symmetric positive definite where the matrix is.
///
/// Needs no factorisation; by colours, a sweep takes as many launches as there are colours.
#[derive(Debug)]
pub struct Ssor<T: Scalar> {
    lower: Triangle<T>,
    upper: Triangle<T>,
    work: Vector<T>,
}

impl<T: Scalar> Ssor<T> {
    /// For a square matrix.
    ///
    /// # Errors
    /// [`Error::Shape`]; [`Error::Value`] for `omega` out of range; [`Error::Unsuitable`] that names a row without a diagonal entry or an entry
    /// that is not finite; [`Error::Allocation`].
    pub fn new(a: &Csr<T>, params: &SsorParams) -> Result<Ssor<T>> {
        Ssor::from_parts(a.context(), &a.to_parts()?, params)
    }

    /// As [`Ssor::new`] for a matrix in the host's memory.
    ///
    /// # Errors
    /// As [`Ssor::new`].
    pub fn from_parts(context: &Context, a: &CsrParts<T>, params: &SsorParams) -> Result<Ssor<T>> {
        check_square(a)?;
        check_finite(a)?;
        context.require::<T>()?;
        let omega = params.omega;
        if !(omega > 0.0 && omega < 2.0) {
            return Err(Error::value("omega", "a number above 0 and below 2", omega));
        }
        let order = params.ordering.of(a)?;
        let a = permuted(a, &order, &inverse_of(&order))?;
        let diagonal = a.diagonal();
        if let Some(k) = diagonal.iter().position(|d| *d == T::zero()) {
            let row = order[k] + 1;
            let reason = format!(
                "row {row} (counted from 1) has a zero on its diagonal; use an incomplete LU factorisation, which permutes rows"
            );
            return Err(Error::unsuitable("a", reason));
        }
        // z = (D / w + U)^-1 S (D / w + L)^-1 r with S = (2 - w) / w D, by which the rows of the second triangle are divided.
        let forward: Vec<T> = diagonal.iter().map(|&d| d * T::from_f64(1.0 / omega)).collect();
        let scale: Vec<T> = diagonal.iter().map(|&d| d * T::from_f64((2.0 - omega) / omega)).collect();
        let backward = vec![T::from_f64(1.0 / (2.0 - omega)); diagonal.len()];
        let scaled: Vec<T> = a.triplets().map(|(i, _, value)| value / scale[i]).collect();
        let of = |part, numbering, entries| -> Result<Triangle<T>> {
            Triangle::of(context, part, &Pattern::part(part, &a.offsets, &a.indices)?, numbering, entries)
        };
        let (source, target) = (Some(&order[..]), Some(&order[..]));
        let lower = of(Part::Lower, Numbering { source, target: None }, Entries::Host(&a.values, Some(&forward)))?;
        let upper = of(Part::Upper, Numbering { source: None, target }, Entries::Host(&scaled, Some(&backward)))?;
        Ok(Ssor { lower, upper, work: Vector::uninit(context, diagonal.len())? })
    }

    /// Levels of a sweep: colours, where the order is by colours.
    pub fn levels(&self) -> usize {
        self.lower.levels()
    }
}

impl<T: Scalar> Preconditioner<T> for Ssor<T> {
    fn size(&self) -> usize {
        self.work.len()
    }

    fn context(&self) -> &Context {
        self.work.context()
    }

    fn apply(&mut self, r: &Vector<T>, z: &mut Vector<T>) -> Result<()> {
        super::check_apply(&self.work, r, z)?;
        self.lower.solve(r, &mut self.work)?;
        self.upper.solve(&self.work, z)
    }
}
