//! The diagonal of the matrix as a preconditioner.

use crate::ops::SpaceVector;
use crate::solve::{Preconditioner, invert_diagonal, inverted};
use crate::{Csr, Precision, Result, Scalar, Vector};

/// M = diag(A) (Saad 2003, section 10.2).
///
/// ```
/// use clinalg::precond::Jacobi;
/// use clinalg::solve::{Cg, CgParams, Solver};
/// use clinalg::{Context, Csr, Vector};
///
/// let context = Context::global()?;
/// let a = Csr::from_triplets(&context, 2, 2, &[(0, 0, 400.0), (1, 1, 1.0)])?;
/// let b = Vector::from_slice(&context, &[400.0, 3.0])?;
/// let mut x = Vector::zeros(&context, 2)?;
/// let mut m = Jacobi::new(&a.diagonal()?)?;
/// let report = Cg::new(&context, 2, CgParams::default())?.solve(&a, Some(&mut m), &b, &mut x)?;
/// assert!(report.stop.is_success());
/// # Ok::<(), clinalg::Error>(())
/// ```
#[derive(Debug)]
pub struct Jacobi<T: Scalar, V: SpaceVector<Scalar = T> = Vector<T>> {
    inverse: V,
    /// For the normal equations, the Frobenius norm of the matrix with its columns scaled.
    norm: Option<f64>,
}

impl<T: Scalar> Jacobi<T> {
    /// From the diagonal of a square matrix: [`Csr::diagonal`](crate::Csr::diagonal),
    /// [`Band::diagonal`](crate::Band::diagonal), [`Dense::diagonal`](crate::Dense::diagonal) or any
    /// other operator's.
    ///
    /// # Errors
    /// [`Error::Unsuitable`](crate::Error::Unsuitable) that names the first row (counted from 1) whose entry is zero, not finite or too
    /// small to be inverted; [`Error::Allocation`](crate::Error::Allocation).
    pub fn new(diagonal: &Vector<T>) -> Result<Jacobi<T>> {
        Jacobi::like(diagonal, &diagonal.to_vec()?)
    }

    /// M = diag(A^H A), for least squares with any A: it scales the columns of A to a norm of 1. The norm of a column of zeros is taken as 1. If a squared
    /// norm or its inverse is out of the range of this precision, M is multiplied by the power of 4 nearest to 1 that brings all of them into range;
    /// the norms are then still equal, and no iterate changes.
    ///
    /// # Errors
    /// [`Error::Unsuitable`](crate::Error::Unsuitable) that names the first column (counted from 1) whose norm is not finite, or so much larger or smaller than
    /// another one that no common factor suffices; [`Error::Allocation`](crate::Error::Allocation).
    pub fn of_normal_equations(a: &Csr<T>) -> Result<Jacobi<T>> {
        let parts = a.to_parts()?;
        let mut largest = vec![0.0_f64; parts.cols];
        parts.triplets().for_each(|(_, j, value)| largest[j] = largest[j].max(value.widen().modulus()));
        let (least, most) = largest
            .iter()
            .filter(|&&size| size > 0.0)
            .fold((f64::INFINITY, 0.0_f64), |of, &size| (of.0.min(size), of.1.max(size)));
        let factor = f64::exp2(-exponent::<T>(least, most * (parts.rows as f64).sqrt()));
        let mut squares = vec![0.0; parts.cols];
        parts.triplets().for_each(|(_, j, value)| {
            let value = value.widen();
            squares[j] += (value * T::Wide::from_f64(factor)).norm_sqr();
        });
        let columns = squares.into_iter().zip(&largest);
        let mut values: Vec<T> = columns
            .map(|(square, &size)| T::from_f64(if size == 0.0 && square == 0.0 { 1.0 } else { square }))
            .collect();
        invert_diagonal(&mut values)?;
        let norm = (largest.iter().filter(|&&size| size > 0.0).count() as f64).sqrt() / factor;
        Ok(Jacobi { inverse: Vector::from_slice(a.context(), &values)?, norm: Some(norm) })
    }
}

impl<T: Scalar, V: SpaceVector<Scalar = T>> Jacobi<T, V> {
    /// For vectors like this one, from the diagonal of a matrix, given for all rows.
    ///
    /// # Errors
    /// As [`Jacobi::new`]; [`Error::Length`](crate::Error::Length) that names `diagonal`.
    pub fn like(vector: &V, diagonal: &[T]) -> Result<Jacobi<T, V>> {
        Ok(Jacobi { inverse: inverted(vector, diagonal)?, norm: None })
    }
}

/// The exponent of 2 nearest to 0 that takes norms between `least` and `most`, divided by it, into the range in which squares and their inverses
/// are normal numbers; the middle if there is none.
fn exponent<T: Scalar>(least: f64, most: f64) -> f64 {
    let range = match T::PRECISION {
        Precision::F32 => 63.0,
        Precision::F64 => 511.0,
    };
    let (lowest, highest) = (most.log2().ceil() - range, least.log2().floor() + range);
    if lowest > highest {
        return ((lowest + highest) / 2.0).round().clamp(-1000.0, 1000.0);
    }
    0.0_f64.max(lowest).min(highest).clamp(-1000.0, 1000.0)
}

impl<T: Scalar, V: SpaceVector<Scalar = T>> Preconditioner<T, V> for Jacobi<T, V> {
    fn size(&self) -> usize {
        self.inverse.size()
    }

    fn context(&self) -> &V::Space {
        self.inverse.space()
    }

    fn apply(&mut self, r: &V, z: &mut V) -> Result<()> {
        for (argument, vector) in [("r", r), ("z", &*z)] {
            vector.check(self.inverse.space(), self.inverse.size(), argument)?;
        }
        z.set_products(r, &self.inverse)
    }

    fn preconditioned_frobenius_norm(&self) -> Option<f64> {
        self.norm
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::{LeastSquares, LeastSquaresParams, Stop};
    use crate::{Context, CsrParts};

    #[test]
    fn the_exponent_is_the_nearest_to_zero_that_suffices() {
        assert_eq!(exponent::<f32>(1e-10, 1e10), 0.0);
        assert_eq!(exponent::<f32>(f64::INFINITY, 0.0), 0.0);
        assert_eq!(exponent::<f32>(f64::exp2(83.0), f64::exp2(83.0)), 20.0);
        assert_eq!(exponent::<f32>(f64::exp2(-83.0), f64::exp2(-80.0)), -20.0);
        assert_eq!(exponent::<f64>(f64::exp2(-83.0), f64::exp2(83.0)), 0.0);
        assert_eq!(exponent::<f32>(f64::exp2(-100.0), f64::exp2(90.0)), -5.0);
    }

    /// Columns whose squared norms, or the inverses of these, are out of the range of the precision.
    #[test]
    fn columns_of_any_size_are_scaled() {
        let Some(context) = clinalg_testing::found(Context::global()) else { return };
        for size in [1e25_f32, 1.0, 1e-25] {
            let entries = [(0, 0, size), (1, 0, 2.0 * size), (1, 1, 3.0 * size), (2, 1, size), (2, 2, 4.0 * size)];
            let a = Csr::from_parts(&context, &CsrParts::from_triplets(4, 4, &entries).unwrap()).unwrap();
            let mut m = Jacobi::of_normal_equations(&a).unwrap();
            let inverse = m.inverse.to_vec().unwrap();
            for (k, square) in [5.0_f32, 10.0, 16.0].into_iter().enumerate() {
                let ratio = inverse[0] / inverse[k] * 5.0;
                assert!((ratio / square - 1.0).abs() < 1e-6, "{size:e}: {ratio} for {square}");
            }
            assert_eq!(inverse[3], 1.0);
            let b = Vector::from_slice(&context, &[size, 5.0 * size, 5.0 * size, 0.0]).unwrap();
            let mut x = Vector::zeros(&context, 4).unwrap();
            let mut solver = LeastSquares::new(&context, 4, 4, LeastSquaresParams::default()).unwrap();
            let found = solver.solve(&a, Some(&mut m), &b, &mut x).unwrap();
            let x = x.to_vec().unwrap();
            assert_eq!(found.report.stop, Stop::Converged, "{size:e}: {}", found.report);
            assert!(x.iter().zip([1.0, 1.0, 1.0, 0.0]).all(|(x, one)| (x - one).abs() < 1e-4), "{size:e}: {x:?}");
        }
        let apart = CsrParts::from_triplets(2, 2, &[(0, 0, 1e30_f32), (1, 1, 1e-30)]).unwrap();
        assert!(Jacobi::of_normal_equations(&Csr::from_parts(&context, &apart).unwrap()).is_err());
    }
}
