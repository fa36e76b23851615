//! Band matrices stored by diagonals, on the host.
use super::csr::check_dense;
use super::{CsrParts, zeros};
use crate::error::check_length;
use crate::{Error, Result, Scalar};

/// A matrix of `rows` by `cols` with `kl` diagonals below and `ku` above the main one (LAPACK's terms).
///
/// Stored diagonal by diagonal, the lowest first: `data[d * rows + i]` holds `A(i, i - kl + d)` for `d` in
/// `0..kl + ku + 1`, and zero where that column lies outside the matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct BandParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Number of subdiagonals.
    pub kl: usize,
    /// Number of superdiagonals.
    pub ku: usize,
    /// The diagonals, `(kl + ku + 1) * rows` values.
    pub data: Vec<T>,
}

impl<T: Scalar> BandParts<T> {
    /// A band of zeros.
    ///
    /// # Errors
    /// [`Error::Value`] when the band does not fit memory.
    pub fn zeros(rows: usize, cols: usize, kl: usize, ku: usize) -> Result<Self> {
        Ok(BandParts { rows, cols, kl, ku, data: zeros("band", stored(rows, kl, ku))? })
    }

    /// From a dense matrix held column by column.
    ///
    /// # Errors
    /// [`Error::Length`] unless `a` has `rows * cols` values; [`Error::Value`] naming the entry when a nonzero (NaN
    /// counts as one) lies outside the band, or when the band does not fit memory.
    pub fn from_dense(rows: usize, cols: usize, kl: usize, ku: usize, a: &[T]) -> Result<Self> {
        check_dense(rows, cols, a)?;
        let mut out = Self::zeros(rows, cols, kl, ku)?;
        for j in 0..cols {
            for i in 0..rows {
                out.place(i, j, a[j * rows + i])?;
            }
        }
        Ok(out)
    }

    /// From a sparse matrix; duplicates are summed.
    ///
    /// # Errors
    /// As [`CsrParts::check`]; [`Error::Value`] naming the entry when a nonzero (NaN counts as one) lies outside the
    /// band, or when the band does not fit memory.
    pub fn from_csr(a: &CsrParts<T>, kl: usize, ku: usize) -> Result<Self> {
        a.check()?;
        let mut out = Self::zeros(a.rows, a.cols, kl, ku)?;
        a.triplets().try_for_each(|(i, j, value)| out.place(i, j, value))?;
        Ok(out)
    }

    /// Checks the length of the storage and that it is zero where it stands for no entry of the matrix.
    ///
    /// # Errors
    /// [`Error::Length`] and [`Error::Value`].
    pub fn check(&self) -> Result<()> {
        let len = stored(self.rows, self.kl, self.ku);
        check_length("data", len.unwrap_or(usize::MAX), self.data.len())?;
        for (k, value) in self.data.iter().enumerate() {
            let (d, i) = (k / self.rows, k % self.rows);
            let inside = i + d >= self.kl && i + d - self.kl < self.cols;
            if !inside && *value != T::zero() {
                let got = format!("{value} at position {} (diagonal {}, row {}, counted from 1)", k + 1, d + 1, i + 1);
                return Err(Error::value("data", "zero where the diagonal has left the matrix", got));
            }
        }
        Ok(())
    }

    /// `A(i, j)`, zero outside the band.
    ///
    /// # Panics
    /// When the entry lies outside the matrix.
    pub fn get(&self, i: usize, j: usize) -> T {
        assert!(i < self.rows && j < self.cols, "entry ({i}, {j}) outside {} x {}", self.rows, self.cols);
        self.position(i, j).map_or(T::zero(), |k| self.data[k])
    }

    /// The nonzeros as a canonical sparse matrix (NaN counts as nonzero).
    ///
    /// # Errors
    /// [`Error::Value`] when it does not fit memory.
    pub fn to_csr(&self) -> Result<CsrParts<T>> {
        let entries: Vec<_> = (0..self.rows)
            .flat_map(|i| self.columns(i).map(move |j| (i, j, self.get(i, j))))
            .filter(|entry| entry.2 != T::zero())
            .collect();
        CsrParts::from_triplets(self.rows, self.cols, &entries)
    }

    /// The matrix column by column.
    ///
    /// # Errors
    /// [`Error::Value`] when it does not fit memory.
    pub fn to_dense(&self) -> Result<Vec<T>> {
        self.to_csr()?.to_dense()
    }

    /// The columns of row `i` that lie in the band and in the matrix.
    fn columns(&self, i: usize) -> std::ops::Range<usize> {
        i.saturating_sub(self.kl)..i.saturating_add(self.ku).saturating_add(1).min(self.cols)
    }

    fn position(&self, i: usize, j: usize) -> Option<usize> {
        let inside = if j < i { i - j <= self.kl } else { j - i <= self.ku };
        inside.then(|| (j + self.kl - i) * self.rows + i)
    }

    fn place(&mut self, i: usize, j: usize, value: T) -> Result<()> {
        match self.position(i, j) {
            Some(k) => self.data[k] += value,
            None if value == T::zero() => {}
            None => {
                let expected = format!("zero outside the band of {} sub- and {} superdiagonals", self.kl, self.ku);
                let got = format!("{value} in row {}, column {} (counted from 1)", i + 1, j + 1);
                return Err(Error::value("matrix", expected, got));
            }
        }
        Ok(())
    }
}

/// Number of stored values, if it can be counted.
fn stored(rows: usize, kl: usize, ku: usize) -> Option<usize> {
    kl.checked_add(ku)?.checked_add(1)?.checked_mul(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // [1 2 0; 3 4 5; 0 6 7], column by column
    const A: [f64; 9] = [1.0, 3.0, 0.0, 2.0, 4.0, 6.0, 0.0, 5.0, 7.0];

    #[test]
    fn storage_by_hand() {
        let a = BandParts::from_dense(3, 3, 1, 1, &A).unwrap();
        assert_eq!(a.data, [0.0, 3.0, 6.0, 1.0, 4.0, 7.0, 2.0, 5.0, 0.0]);
        a.check().unwrap();
        assert_eq!(a.to_dense().unwrap(), A);
        assert_eq!((a.get(2, 1), a.get(0, 2)), (6.0, 0.0));
    }

    #[test]
    fn upper_diagonals_only() {
        let a = BandParts::from_dense(2, 3, 0, 1, &[1.0, 0.0, 2.0, 3.0, 0.0, 4.0]).unwrap();
        assert_eq!(a.data, [1.0, 3.0, 2.0, 4.0]);
    }

    #[test]
    fn entries_outside_the_band_are_named() {
        let text = BandParts::from_dense(3, 3, 0, 1, &A).unwrap_err().to_string();
        assert_eq!(
            text,
            "argument `matrix` is 3 in row 2, column 1 (counted from 1), expected zero outside the band of 0 sub- and 1 superdiagonals"
        );
        let sparse = CsrParts::from_dense(3, 3, &A).unwrap();
        let text = BandParts::from_csr(&sparse, 1, 0).unwrap_err().to_string();
        assert!(text.contains("2 in row 1, column 2"), "{text}");
        let nan = [1.0, f64::NAN, 0.0, 1.0];
        assert_eq!(BandParts::from_dense(2, 2, 0, 0, &nan).unwrap_err().id(), "clinalg:argument:value");
    }

    #[test]
    fn stored_zeros_outside_the_band_do_no_harm() {
        let a = CsrParts::from_triplets(2, 2, &[(0, 0, 1.0), (1, 0, 0.0), (1, 1, 2.0)]).unwrap();
        assert_eq!(BandParts::from_csr(&a, 0, 0).unwrap().data, [1.0, 2.0]);
    }

    #[test]
    fn faults_of_the_storage() {
        let mut a = BandParts::from_dense(3, 3, 1, 1, &A).unwrap();
        a.data[0] = 9.0;
        assert!(a.check().unwrap_err().to_string().contains("(diagonal 1, row 1, counted from 1)"));
        a.data.pop();
        assert_eq!(a.check().unwrap_err().id(), "clinalg:argument:length");
        assert_eq!(BandParts::<f64>::zeros(2, 2, usize::MAX, 1).unwrap_err().id(), "clinalg:argument:value");
        assert_eq!(BandParts::<f64>::zeros(2, 2, usize::MAX / 64, 1).unwrap_err().id(), "clinalg:argument:value");
    }

    #[test]
    fn empty_and_over_wide_bands() {
        let a = BandParts::<f32>::from_dense(0, 3, 1, 1, &[]).unwrap();
        a.check().unwrap();
        let a = BandParts::<f32>::from_dense(2, 0, 1, 1, &[]).unwrap();
        a.check().unwrap();
        let a = BandParts::from_dense(1, 1, 3, 2, &[5.0]).unwrap();
        a.check().unwrap();
        assert_eq!(a.to_dense().unwrap(), [5.0]);
    }

    proptest! {
        #[test]
        fn band_is_the_same_matrix(rows in 1usize..9, cols in 1usize..9, kl in 0usize..10, ku in 0usize..10, seed in 0i64..1000) {
            let number = |i: usize, j: usize| ((i as i64 * 31 + j as i64 * 17 + seed) % 7 - 3) as f64;
            let mut full = vec![0.0; rows * cols];
            for i in 0..rows {
                for j in 0..cols {
                    if i <= j + kl && j <= i + ku {
                        full[j * rows + i] = number(i, j);
                    }
                }
            }
            let a = BandParts::from_dense(rows, cols, kl, ku, &full).unwrap();
            a.check().unwrap();
            prop_assert_eq!(&a.to_dense().unwrap(), &full);
            prop_assert_eq!(&BandParts::from_csr(&a.to_csr().unwrap(), kl, ku).unwrap(), &a);
        }
    }
}
