//! Products with a sparse matrix in compressed rows.
use num_traits::Num;

use crate::combine;

/// A sparse matrix of `rows` by `cols`: row `i` holds `values[offsets[i]..offsets[i + 1]]` in the columns of the same range
/// of `indices`. Columns may be in any order, and the same one may occur several times.
#[derive(Debug, Clone, Copy)]
pub struct Csr<'a, T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Where each row starts, and at the end the number of entries: `rows + 1` values.
    pub offsets: &'a [usize],
    /// The column of each entry.
    pub indices: &'a [usize],
    /// The value of each entry.
    pub values: &'a [T],
}

impl<T: Num + Copy> Csr<'_, T> {
    /// `y = alpha A x + beta y` with `x` of length `cols` and `y` of length `rows`; terms are added in the order of the
    /// entries. `beta = 0` never reads `y`, so NaN in it does not survive.
    ///
    /// # Panics
    /// When a length does not fit the shape.
    pub fn mv(&self, alpha: T, x: &[T], beta: T, y: &mut [T]) {
        assert_eq!(x.len(), self.cols, "x is not cols long");
        assert_eq!(y.len(), self.rows, "y is not rows long");
        for (i, y) in y.iter_mut().enumerate() {
            let mut product = T::zero();
            for k in self.offsets[i]..self.offsets[i + 1] {
                product = product + self.values[k] * x[self.indices[k]];
            }
            *y = combine(alpha, product, beta, *y);
        }
    }

    /// `y = alpha A' x + beta y` with `x` of length `rows` and `y` of length `cols`. `beta = 0` never reads `y`, so NaN in
    /// it does not survive.
    ///
    /// # Panics
    /// When a length does not fit the shape.
    pub fn mv_transposed(&self, alpha: T, x: &[T], beta: T, y: &mut [T]) {
        assert_eq!(x.len(), self.rows, "x is not rows long");
        assert_eq!(y.len(), self.cols, "y is not cols long");
        let mut product = vec![T::zero(); self.cols];
        for (i, &x) in x.iter().enumerate() {
            for k in self.offsets[i]..self.offsets[i + 1] {
                let j = self.indices[k];
                product[j] = product[j] + self.values[k] * x;
            }
        }
        for (y, product) in y.iter_mut().zip(product) {
            *y = combine(alpha, product, beta, *y);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// [1 0 2; 0 3 0]
    const A: Csr<'_, f64> =
        Csr { rows: 2, cols: 3, offsets: &[0, 2, 3], indices: &[0, 2, 1], values: &[1.0, 2.0, 3.0] };

    #[test]
    fn products_by_hand() {
        let mut y = [1.0, -1.0];
        A.mv(2.0, &[1.0, 10.0, 100.0], 3.0, &mut y);
        assert_eq!(y, [405.0, 57.0]);
        let mut y = [1.0, 1.0, 1.0];
        A.mv_transposed(2.0, &[1.0, 10.0], -1.0, &mut y);
        assert_eq!(y, [1.0, 59.0, 3.0]);
    }

    #[test]
    fn zero_beta_does_not_read_y() {
        let mut y = [f64::NAN; 2];
        A.mv(1.0, &[1.0; 3], 0.0, &mut y);
        assert_eq!(y, [3.0, 3.0]);
        let mut y = [f64::NAN; 3];
        A.mv_transposed(1.0, &[1.0; 2], 0.0, &mut y);
        assert_eq!(y, [1.0, 3.0, 2.0]);
    }

    #[test]
    fn columns_in_any_order_are_summed() {
        let a = Csr { rows: 1, cols: 2, offsets: &[0, 3], indices: &[1, 0, 1], values: &[1.0, 2.0, 4.0] };
        let mut y = [0.0];
        a.mv(1.0, &[10.0, 1.0], 0.0, &mut y);
        assert_eq!(y, [25.0]);
    }

    #[test]
    fn empty_rows_give_beta_y() {
        let a = Csr { rows: 2, cols: 0, offsets: &[0, 0, 0], indices: &[], values: &[] };
        let mut y = [2.0, 4.0];
        a.mv(1.0, &[], 0.5, &mut y);
        assert_eq!(y, [1.0, 2.0]);
        a.mv_transposed(1.0, &[1.0, 1.0], 0.5, &mut []);
    }
}
