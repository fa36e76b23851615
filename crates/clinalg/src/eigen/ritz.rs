//! The small dense problems of the Rayleigh-Ritz method, on the host.

use nalgebra::ComplexField;

use crate::solve::block::{Small, symmetric};

/// The Ritz values wanted, the coefficients of their vectors and those of the directions of the next step.
pub(super) struct Ritz<W> {
    pub(super) values: Vec<f64>,
    /// The coefficients of the vectors in the first columns, those of the directions in the others.
    pub(super) coefficients: Small<W>,
    /// The largest modulus of a Ritz value.
    pub(super) spread: f64,
}

/// Rayleigh-Ritz in an orthonormal basis with `projected` = S' A S, for `wanted` values from one end of the spectrum.
///
/// The directions are the components of the new vectors outside the first `wanted` columns of the basis, made orthonormal to the new
/// vectors: Duersch, Shao, Yang and Gu, A robust and efficient implementation of LOBPCG, SIAM J. Sci. Comput. 40, 2018.
pub(super) fn ritz<W: ComplexField<RealField = f64>>(projected: &Small<W>, wanted: usize, largest: bool) -> Ritz<W> {
    let n = projected.nrows();
    let (values, vectors) = symmetric(projected);
    let chosen: Vec<usize> = if largest { (0..n).rev().take(wanted).collect() } else { (0..wanted).collect() };
    let mut columns: Vec<_> = chosen.iter().map(|&j| vectors.column(j).into_owned()).collect();
    for &j in &chosen {
        let mut direction = vectors.column(j).into_owned();
        direction.rows_mut(0, wanted).fill(W::zero());
        let before = direction.norm();
        // Twice is enough (Kahan and Parlett).
        for _ in 0..2 {
            for column in &columns {
                direction.axpy(-column.dotc(&direction), column, W::one());
            }
        }
        let after = direction.norm();
        if after > 1e-10 * before {
            columns.push(direction.unscale(after));
        }
    }
    Ritz {
        values: chosen.iter().map(|&j| values[j]).collect(),
        coefficients: Small::from_columns(&columns),
        spread: values.iter().fold(0.0, |most: f64, value| most.max(value.abs())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::block::orthonormalising;

    #[test]
    fn bases_become_orthonormal_and_lose_dependent_columns() {
        // The third column is the sum of the others, the fourth is zero.
        let w = Small::<f64>::from_row_slice(3, 4, &[1.0, 0.0, 1.0, 0.0, 2.0, 1.0, 3.0, 0.0, 0.0, 4.0, 4.0, 0.0]);
        let z = orthonormalising(&(w.transpose() * &w), f64::EPSILON, 0.0);
        assert_eq!(z.ncols(), 2);
        let q = &w * z;
        assert!((q.transpose() * &q - Small::<f64>::identity(2, 2)).norm() < 1e-13);
    }

    #[test]
    fn vectors_and_directions_are_orthonormal() {
        let a = Small::from_fn(5, 5, |i, j| {
            if i == j {
                2.0
            } else if i.abs_diff(j) == 1 {
                -1.0
            } else {
                0.0
            }
        });
        // 2 - 2 cos(k pi / 6).
        let exact = |k: f64| 2.0 - 2.0 * (k * std::f64::consts::PI / 6.0).cos();
        for (largest, k) in [(false, [1.0, 2.0]), (true, [5.0, 4.0])] {
            let Ritz { values, coefficients: c, spread } = ritz(&a, 2, largest);
            assert!((values[0] - exact(k[0])).abs() < 1e-14 && (values[1] - exact(k[1])).abs() < 1e-14);
            assert!((spread - exact(5.0)).abs() < 1e-14 && c.ncols() == 4);
            assert!((c.transpose() * &c - Small::identity(4, 4)).norm() < 1e-14);
        }
    }

    #[test]
    fn hermitian_problems_have_real_values_and_orthonormal_vectors() {
        type C = num_complex::Complex<f64>;
        // -i above the diagonal and i below: that of the second test turned by a unitary diagonal.
        let a = Small::from_fn(5, 5, |i, j| match i.abs_diff(j) {
            0 => C::new(2.0, 0.0),
            1 => C::new(0.0, if i < j { -1.0 } else { 1.0 }),
            _ => C::new(0.0, 0.0),
        });
        let exact = |k: f64| 2.0 - 2.0 * (k * std::f64::consts::PI / 6.0).cos();
        let Ritz { values, coefficients: c, .. } = ritz(&a, 2, false);
        assert!((values[0] - exact(1.0)).abs() < 1e-14 && (values[1] - exact(2.0)).abs() < 1e-14);
        assert!((c.adjoint() * &c - Small::<C>::identity(c.ncols(), c.ncols())).norm() < 1e-14);
        let x = c.columns(0, 2);
        assert!(
            (&a * x
                - x * Small::from_diagonal(&nalgebra::DVector::from_iterator(2, values.iter().map(|&v| C::from(v)))))
            .norm()
                < 1e-13
        );
        let z = orthonormalising(&a, f64::EPSILON, 0.0);
        assert!((z.adjoint() * &a * &z - Small::<C>::identity(5, 5)).norm() < 1e-13);
    }
}
