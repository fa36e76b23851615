//! Eigenvalues on handles.

use clinalg::eigen::{EigenParams, Eigenpairs, Lobpcg};
use clinalg::precond::{SaddleShape, check_finite, is_hermitian};
use clinalg::solve::{Operator, Progress, Stop};
use clinalg::{CsrParts, Dense, Error, Precision, Real as _, Result, Scalar, Vector, number, ops};

use crate::calls::solve::{INVERSE, Preconditioning, with_preconditioner};
use crate::kind::Kind;
use crate::object::{Matrix, Object, Stored, typed};
use crate::registry::{Operand, Registry};

/// Eigenvalues, and how they were found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct EigenReport {
    /// The eigenvalues in the order of [`Which`](clinalg::eigen::Which).
    pub values: Vec<f64>,
    /// |A x - lambda B x| / (|lambda| |B x|) of each pair.
    pub residuals: Vec<f64>,
    /// Iterations done.
    pub iterations: usize,
    /// Why the iteration ended.
    pub stop: Stop,
}

/// How far x^H (A y) and (A x)^H y differ for two vectors, relative to the norms of their factors: all that products can show.
pub(super) fn asymmetry_of_products<T: Scalar>(a: &dyn Operator<T>) -> Result<f64> {
    let (context, n) = (a.context(), a.rows());
    // Without a pattern (splitmix64): waves would be nearly orthogonal to what a stencil makes of other waves.
    let part = |k: u64| {
        let z = (k + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        T::Real::nearest(((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0)
    };
    let values = |first: u64| -> Vec<T> {
        (0..n as u64).map(|k| T::from_parts(part(4 * k + first), part(4 * k + first + 1))).collect()
    };
    let (x, y) = (Vector::from_slice(context, &values(0))?, Vector::from_slice(context, &values(2))?);
    let (mut of_x, mut of_y) = (Vector::zeros(context, a.rows())?, Vector::zeros(context, a.rows())?);
    a.apply(T::one(), &x, T::zero(), &mut of_x)?;
    a.apply(T::one(), &y, T::zero(), &mut of_y)?;
    let difference = (ops::dot(&x, &of_y)? - ops::dot(&of_x, &y)?).modulus().into_f64();
    let norm = |v: &Vector<T>| ops::norm2(v).map(|norm| norm.into_f64());
    let scale = norm(&of_x)? * norm(&y)? + norm(&x)? * norm(&of_y)?;
    let imaginary = ops::dot(&x, &of_x)?.im().into_f64().abs();
    let over = |part: f64, scale: f64| if part == 0.0 { 0.0 } else { part / scale };
    let (first, second) = (over(difference, scale), over(imaginary, norm(&x)? * norm(&of_x)?));
    // Not `f64::max`, which drops a NaN.
    Ok(if first.is_nan() || first >= second { first } else { second })
}

/// How large rounding may make [`asymmetry_of_products`] for a symmetric matrix.
fn rounding_of_products<T: Scalar>() -> f64 {
    if T::PRECISION == Precision::F32 { 3e-5 } else { 1e-10 }
}

/// Whether a square dense matrix equals its conjugate transpose up to rounding: 64 units roundoff of the norms of both rows, as the entries of
/// products such as Q D Q^H have rounding errors of that size.
///
/// # Errors
/// [`Error::Unsuitable`] that names the first entry that is not finite.
fn dense_is_hermitian<T: Scalar>(a: &Dense<T>) -> Result<bool> {
    let (n, values) = (a.rows(), a.to_column_major()?);
    if let Some(k) = values.iter().position(|value| !value.has_finite_parts()) {
        let (row, column, value) = (k % n + 1, k / n + 1, values[k]);
        let reason =
            format!("the entry in row {row} and column {column} (counted from 1) is {value}, expected a finite number");
        return Err(Error::unsuitable("a", reason));
    }
    let mut norms = vec![0.0_f64; n];
    for column in values.chunks_exact(n.max(1)) {
        norms.iter_mut().zip(column).for_each(|(norm, value)| *norm += value.widen().norm_sqr());
    }
    norms.iter_mut().for_each(|norm| *norm = norm.sqrt());
    let unit = 32.0 * if T::PRECISION == Precision::F32 { f64::from(f32::EPSILON) } else { f64::EPSILON };
    Ok((0..n).all(|j| {
        (0..=j).all(|i| {
            let difference = (values[i + j * n].widen() - values[j + i * n].widen().conj()).modulus();
            difference <= unit * norms[i].max(norms[j])
        })
    }))
}

/// An error that names `argument` where a square matrix is not symmetric or Hermitian: LOBPCG would give wrong eigenvalues of it. The products of an
/// operator may have relative errors up to `tolerance`, the relative residual of the eigenpairs.
fn check_hermitian<T: Scalar>(a: &Matrix<'_, T>, argument: &'static str, tolerance: f64) -> Result<()> {
    let (rows, cols) = a.shape();
    let entries_are_hermitian = |parts: CsrParts<T>| {
        check_finite(&parts, &[]).map_err(|error| error.renamed("a", argument))?;
        is_hermitian(&parts)
    };
    let is_hermitian = match a {
        // The sizes are the concern of the solver.
        _ if rows != cols => true,
        Matrix::Stored(Stored::Csr(a)) => entries_are_hermitian(a.to_parts()?)?,
        Matrix::Stored(Stored::Band(a)) => entries_are_hermitian(a.to_parts()?.to_csr()?)?,
        Matrix::Stored(Stored::Dense(a)) => dense_is_hermitian(a).map_err(|error| error.renamed("a", argument))?,
        Matrix::Stored(Stored::Vector(_)) => asymmetry_of_products(a.operator()?)? <= rounding_of_products::<T>(),
        Matrix::Applied(_) => {
            let asymmetry = asymmetry_of_products(a.operator()?)?;
            let most = rounding_of_products::<T>().max(tolerance);
            if asymmetry.is_nan() {
                return Err(Error::unsuitable(argument, "the products of the operator contain a NaN or an infinity"));
            }
            if asymmetry <= most {
                return Ok(());
            }
            let kind = if T::IS_COMPLEX { "complex Hermitian" } else { "real symmetric" };
            let reason = format!(
                "the operator is not {kind}: its products differ from those of its transpose by {} of their size, beyond \
                 {}; if only inexact products make it appear so, compute them more accurately or raise the tolerance",
                number(asymmetry, 2),
                number(most, 2)
            );
            return Err(Error::unsuitable(argument, reason));
        }
    };
    if is_hermitian {
        return Ok(());
    }
    let kind = if T::IS_COMPLEX { "Hermitian" } else { "symmetric" };
    let reason = format!(
        "the matrix is not {kind}; if only rounding makes it differ from its transpose, use (A + A')/2 in its place"
    );
    Err(Error::unsuitable(argument, reason))
}

impl Registry {
    /// A few eigenpairs of A x = lambda x, or of A x = lambda B x with `mass` for B, by [`Lobpcg`]. A is a real symmetric or complex Hermitian matrix or
    /// operator, B a positive definite one of the same type. Gives the handle of the eigenvectors, a dense matrix of one column each. Not to converge is not an error: see
    /// [`EigenReport::stop`].
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle); [`Error::Value`] for an A or B that is not symmetric or Hermitian: stored
    /// matrices are tested entry by entry, operators by products with two vectors, up to the tolerance of the eigenpairs; [`Error::Precision`](clinalg::Error::Precision), [`Error::Shape`](clinalg::Error::Shape), [`Error::Context`](clinalg::Error::Context); those of the
    /// preconditioner and of [`Lobpcg::run`].
    pub fn eigenpairs(
        &self,
        a: u64,
        mass: Option<u64>,
        preconditioning: Preconditioning,
        params: &EigenParams,
        progress: Progress<'_>,
    ) -> Result<(u64, EigenReport)> {
        let mut operands = vec![Operand::new("a", a, Kind::MATRIX)];
        operands.extend(mass.map(|mass| Operand::new("mass", mass, Kind::MATRIX)));
        if let Preconditioning::Inverse(inverse) = preconditioning {
            operands.push(Operand::new(INVERSE, inverse, Kind::MATRIX));
        }
        let (object, report) = self.call(&operands, None, |inputs, _| {
            typed!(inputs[0], T => {
                let a = inputs[0].matrix::<T>("a")?;
                let b = match mass {
                    Some(_) => Some(inputs[1].matrix::<T>("mass")?),
                    None => None,
                };
                let inverse = inputs.get(1 + usize::from(mass.is_some())).copied();
                let operator = a.operator()?;
                let tolerance = params.tolerance_of::<T>();
                check_hermitian(&a, "a", tolerance)?;
                if let Some(b) = &b {
                    check_hermitian(b, "mass", tolerance)?;
                }
                let place = (operator.context(), operator.rows());
                with_preconditioner((preconditioning, SaddleShape::Diagonal), &a, inverse, place, |m| {
                    let mut method = Lobpcg::new(operator).params(params.clone()).progress(progress);
                    if let Some(b) = &b {
                        method = method.mass(b.operator()?);
                    }
                    if let Some(m) = m {
                        method = method.preconditioner(m);
                    }
                    let pairs = method.run().map_err(|error| error.renamed("b", "mass").renamed("m", INVERSE))?;
                    let Eigenpairs { values, vectors, residuals, iterations, stop, .. } = pairs;
                    Ok((Object::from(vectors), EigenReport { values, residuals, iterations, stop }))
                })
            })
        })?;
        Ok((self.insert(object), report))
    }
}

#[cfg(test)]
mod tests {
    use clinalg::{Context, Csr};

    use super::*;
    use crate::object::Applied;

    /// -u'' on 50 points, whose entries above the diagonal are off by `error`.
    fn chain(context: &Context, error: f64) -> Csr<f64> {
        let entries = |i: usize| [(i, i, 2.0), (i, i.wrapping_sub(1), -1.0), (i, i + 1, -1.0 - error)];
        let entries: Vec<_> = (0..50).flat_map(entries).filter(|entry| entry.1 < 50).collect();
        Csr::from_parts(context, &CsrParts::from_triplets(50, 50, &entries).unwrap()).unwrap()
    }

    #[test]
    fn products_of_operators_may_be_as_inexact_as_the_pairs() {
        let Some(context) = clinalg_testing::found(Context::global()) else { return };
        let check = |error: f64, tolerance: f64| {
            let applied = Applied::new(Box::new(chain(&context, error)));
            check_hermitian(&Matrix::Applied(&applied), "a", tolerance)
        };
        assert!(check(1e-8, 1e-8).is_ok() && check(0.0, 1e-12).is_ok());
        let message = check(1e-3, 1e-8).unwrap_err().to_string();
        assert!(message.contains("raise the tolerance") && !message.contains("A'"), "{message}");
        // Entries are known exactly.
        let stored = Stored::Csr(chain(&context, 1e-8));
        let message = check_hermitian(&Matrix::Stored(&stored), "a", 1e-8).unwrap_err().to_string();
        assert!(message.contains("(A + A')/2"), "{message}");
    }
}
