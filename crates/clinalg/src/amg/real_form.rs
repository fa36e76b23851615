//! Complex matrices as real ones: of each entry a + b i the block [a -b; b a], so that vectors keep their memory.
//!
//! With both unknowns in a node, aggregates, smoothers and products treat real and imaginary parts alike: the hierarchy is the real form of a complex
//! one, and the cycle is linear over complex numbers.

use std::any::Any;
use std::ops::Deref;

use super::{AmgParams, Coarsening, Smoother};
use crate::matrix::Values;
use crate::{Csr, CsrParts, Error, Result, Scalar};

/// A real matrix, or the real form of a complex one.
pub(super) enum RealForm<'a, T: Scalar> {
    Same(&'a Csr<T::Real>),
    Own(Box<Csr<T::Real>>),
}

impl<T: Scalar> Deref for RealForm<'_, T> {
    type Target = Csr<T::Real>;

    fn deref(&self) -> &Csr<T::Real> {
        match self {
            RealForm::Same(a) => a,
            RealForm::Own(a) => a,
        }
    }
}

impl<'a, T: Scalar> RealForm<'a, T> {
    pub(super) fn of(a: &'a Csr<T>) -> Result<RealForm<'a, T>> {
        match (a as &dyn Any).downcast_ref() {
            Some(real) => Ok(RealForm::Same(real)),
            None => Ok(RealForm::Own(Box::new(Csr::from_parts(a.context(), &expanded(&a.to_parts()?)?)?))),
        }
    }

    pub(super) fn into_own(self) -> Result<Csr<T::Real>> {
        match self {
            RealForm::Same(a) => a.try_clone(),
            RealForm::Own(a) => Ok(*a),
        }
    }
}

/// An error for what complex matrices do not have.
pub(super) fn check(params: &AmgParams) -> Result<()> {
    if params.coarsening == Coarsening::Classical {
        return Err(Error::value("coarsening", "auto or aggregation for a complex matrix", "classical"));
    }
    if matches!(params.smoother, Some(Smoother::GaussSeidel(_))) {
        let expected = "chebyshev, l1-jacobi or spai0 for a complex matrix";
        return Err(Error::value("smoother", expected, "gauss-seidel"));
    }
    Ok(())
}

fn expanded<T: Scalar>(a: &CsrParts<T>) -> Result<CsrParts<T::Real>> {
    let (rows, nnz) = (2 * a.rows, 4 * a.values.len());
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::with_capacity(nnz), Vec::with_capacity(nnz));
    for i in 0..a.rows {
        let diagonal = a.row(i).find(|&(j, _)| j == i).map_or(T::zero(), |(_, value)| value).re();
        if !num_traits::Float::is_finite(diagonal) || diagonal == num_traits::Zero::zero() {
            let reason = format!(
                "row {} of {} (counted from 1) has a diagonal entry whose real part is 0 or not finite; multiply the equations by numbers that \
                 make the diagonal positive, or use an incomplete factorisation",
                i + 1,
                a.rows
            );
            return Err(Error::unsuitable("a", reason));
        }
        for is_imaginary in [false, true] {
            for (j, value) in a.row(i) {
                indices.extend([2 * j, 2 * j + 1]);
                let (re, im) = (value.re(), value.im());
                values.extend(if is_imaginary { [im, re] } else { [re, -im] });
            }
            offsets.push(indices.len());
        }
    }
    CsrParts::from_csr(rows, rows, &offsets, &indices, &values)
}
