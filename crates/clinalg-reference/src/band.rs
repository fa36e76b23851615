//! Products with a band matrix stored by diagonals.
use num_traits::Num;

use crate::combine;

/// A matrix of `rows` by `cols` with `kl` diagonals below and `ku` above the main one, the lowest first:
/// `data[d * rows + i]` holds `A(i, i - kl + d)` for `d` in `0..kl + ku + 1`. What lies outside the matrix is not read.
#[derive(Debug, Clone, Copy)]
pub struct Band<'a, T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Number of subdiagonals.
    pub kl: usize,
    /// Number of superdiagonals.
    pub ku: usize,
    /// The diagonals, `(kl + ku + 1) * rows` values.
    pub data: &'a [T],
}

impl<T: Num + Copy> Band<'_, T> {
    /// `y = alpha A x + beta y` with `x` of length `cols` and `y` of length `rows`; terms are added from the lowest
    /// diagonal up. `beta = 0` never reads `y`, so NaN in it does not survive.
    ///
    /// # Panics
    /// When a length does not fit the shape.
    pub fn mv(&self, alpha: T, x: &[T], beta: T, y: &mut [T]) {
        assert_eq!(x.len(), self.cols, "x is not cols long");
        assert_eq!(y.len(), self.rows, "y is not rows long");
        for (i, y) in y.iter_mut().enumerate() {
            let mut product = T::zero();
            for d in 0..=self.kl + self.ku {
                let column = (i + d).checked_sub(self.kl).filter(|&j| j < self.cols);
                if let Some(j) = column {
                    product = product + self.data[d * self.rows + i] * x[j];
                }
            }
            *y = combine(alpha, product, beta, *y);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn product_by_hand() {
        // [1 2 0; 3 4 5; 0 6 7]; what lies outside is NaN.
        let data = [f64::NAN, 3.0, 6.0, 1.0, 4.0, 7.0, 2.0, 5.0, f64::NAN];
        let a = Band { rows: 3, cols: 3, kl: 1, ku: 1, data: &data };
        let mut y = [1.0, 1.0, f64::NAN];
        a.mv(2.0, &[1.0, 10.0, 100.0], 0.0, &mut y);
        assert_eq!(y, [42.0, 1086.0, 1520.0]);
    }

    #[test]
    fn more_columns_than_rows_and_none() {
        // [1 2 0; 0 3 4]
        let a = Band { rows: 2, cols: 3, kl: 0, ku: 1, data: &[1.0, 3.0, 2.0, 4.0] };
        let mut y = [1.0, 1.0];
        a.mv(1.0, &[1.0, 10.0, 100.0], -1.0, &mut y);
        assert_eq!(y, [20.0, 429.0]);
        let a = Band { rows: 2, cols: 0, kl: 1, ku: 1, data: &[0.0; 6] };
        a.mv(1.0, &[], 2.0, &mut y);
        assert_eq!(y, [40.0, 858.0]);
    }
}
