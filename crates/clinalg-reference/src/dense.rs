//! Products with a dense matrix held column by column (MATLAB's and LAPACK's order): `a[j * rows + i]` is `A(i, j)`.
use num_traits::Num;

use crate::combine;

/// `y = alpha A x + beta y` with `A` of `rows` by `cols`, `x` of length `cols` and `y` of length `rows`.
///
/// `beta = 0` never reads `y`, so NaN in it does not survive.
///
/// # Panics
/// When a length does not fit the shape.
pub fn mv<T: Num + Copy>(alpha: T, a: &[T], rows: usize, cols: usize, x: &[T], beta: T, y: &mut [T]) {
    assert_eq!(a.len(), rows * cols, "a is not rows * cols long");
    assert_eq!(x.len(), cols, "x is not cols long");
    assert_eq!(y.len(), rows, "y is not rows long");
    for (i, y) in y.iter_mut().enumerate() {
        let product = x.iter().enumerate().map(|(j, &x)| a[j * rows + i] * x).fold(T::zero(), |s, t| s + t);
        *y = combine(alpha, product, beta, *y);
    }
}

/// `y = alpha A' x + beta y` with `A` of `rows` by `cols`, `x` of length `rows` and `y` of length `cols`.
///
/// `beta = 0` never reads `y`, so NaN in it does not survive.
///
/// # Panics
/// When a length does not fit the shape.
pub fn mv_transposed<T: Num + Copy>(alpha: T, a: &[T], rows: usize, cols: usize, x: &[T], beta: T, y: &mut [T]) {
    assert_eq!(a.len(), rows * cols, "a is not rows * cols long");
    assert_eq!(x.len(), rows, "x is not rows long");
    assert_eq!(y.len(), cols, "y is not cols long");
    for (j, y) in y.iter_mut().enumerate() {
        let column = &a[j * rows..(j + 1) * rows];
        let product = column.iter().zip(x).map(|(&a, &x)| a * x).fold(T::zero(), |s, t| s + t);
        *y = combine(alpha, product, beta, *y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // [1 2 3; 4 5 6]
    const A: [f64; 6] = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0];

    #[test]
    fn product_by_hand() {
        let mut y = [10.0, 20.0];
        mv(2.0, &A, 2, 3, &[1.0, 0.0, -1.0], 0.5, &mut y);
        assert_eq!(y, [1.0, 6.0]);
    }

    #[test]
    fn transposed_product_by_hand() {
        let mut y = [1.0, 1.0, 1.0];
        mv_transposed(1.0, &A, 2, 3, &[1.0, -1.0], 2.0, &mut y);
        assert_eq!(y, [-1.0, -1.0, -1.0]);
    }

    #[test]
    fn zero_beta_does_not_read_y() {
        let mut y = [f64::NAN; 2];
        mv(1.0, &A, 2, 3, &[1.0; 3], 0.0, &mut y);
        assert_eq!(y, [6.0, 15.0]);
        let mut y = [f64::NAN; 3];
        mv_transposed(1.0, &A, 2, 3, &[1.0; 2], 0.0, &mut y);
        assert_eq!(y, [5.0, 7.0, 9.0]);
    }

    #[test]
    fn empty_shapes() {
        let mut y = [3.0, 4.0];
        mv(1.0, &[], 2, 0, &[], 2.0, &mut y);
        assert_eq!(y, [6.0, 8.0]);
        mv(1.0, &[], 2, 0, &[], 0.0, &mut y);
        assert_eq!(y, [0.0, 0.0]);
        mv::<f64>(1.0, &[], 0, 2, &[1.0, 1.0], 1.0, &mut []);
        mv_transposed(1.0, &[], 0, 2, &[], 1.0, &mut y);
        assert_eq!(y, [0.0, 0.0]);
    }
}
