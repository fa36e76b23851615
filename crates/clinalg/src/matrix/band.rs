//! Band matrices.

use once_cell::sync::OnceCell;

use super::host::{BandParts, CsrParts};
use super::launch::BandProducts;
use super::{Dense, Values, Vector, check_context, sealed};
use crate::runtime::kernels::band;
use crate::runtime::{Out, Range};
use crate::{Buffer, Context, Error, Result, Scalar, ViewMut};

/// A `rows` x `cols` matrix with `kl` sub- and `ku` superdiagonals (LAPACK's terms).
///
/// `kl = 0` is the upper band matrix. Stored by diagonals: the `d`-th array of `rows` values holds
/// `A(i, i - kl + d)`, zero where that lies outside the matrix.
#[derive(Debug)]
pub struct Band<T: Scalar> {
    rows: usize,
    cols: usize,
    kl: usize,
    ku: usize,
    values: Buffer<T>,
    products: OnceCell<Box<BandProducts<T>>>,
}

impl<T: Scalar> Band<T> {
    /// A matrix from its host form.
    ///
    /// # Errors
    /// Those of [`BandParts::check`]; [`Error::Allocation`]; [`Error::NoFp64`] for `f64` on a device
    /// without it.
    pub fn from_parts(context: &Context, parts: &BandParts<T>) -> Result<Band<T>> {
        context.require::<T>()?;
        parts.check()?;
        let values = Buffer::from_slice(context, &parts.data)?;
        let &BandParts { rows, cols, kl, ku, .. } = parts;
        Ok(Band { rows, cols, kl, ku, values, products: OnceCell::new() })
    }

    /// A matrix from its full form, column by column.
    ///
    /// # Errors
    /// [`Error::Value`] that names the first nonzero entry outside the band, and those of
    /// [`Band::from_parts`].
    pub fn from_column_major(
        context: &Context,
        (rows, cols): (usize, usize),
        (kl, ku): (usize, usize),
        values: &[T],
    ) -> Result<Band<T>> {
        Band::from_parts(context, &BandParts::from_dense(rows, cols, kl, ku, values)?)
    }

    /// A matrix from its sparse form.
    ///
    /// # Errors
    /// As [`Band::from_column_major`].
    pub fn from_csr(context: &Context, a: &CsrParts<T>, kl: usize, ku: usize) -> Result<Band<T>> {
        Band::from_parts(context, &BandParts::from_csr(a, kl, ku)?)
    }

    /// A matrix from its diagonals, the lowest (`-kl`) first. Diagonal `d` lists the entries
    /// `A(i, i - kl + d)` that lie inside the matrix, from the top down.
    ///
    /// # Errors
    /// [`Error::Length`] for a diagonal of the wrong length or a wrong number of them.
    pub fn from_diagonals(
        context: &Context,
        (rows, cols): (usize, usize),
        (kl, ku): (usize, usize),
        diagonals: &[Vec<T>],
    ) -> Result<Band<T>> {
        crate::error::check_length("diagonals", kl.saturating_add(ku).saturating_add(1), diagonals.len())?;
        let mut parts = BandParts::zeros(rows, cols, kl, ku)?;
        for (d, diagonal) in diagonals.iter().enumerate() {
            let first = kl.saturating_sub(d);
            let last = rows.min(cols.saturating_add(kl).saturating_sub(d)).max(first);
            crate::error::check_length("diagonals", last - first, diagonal.len())?;
            if first == last {
                continue;
            }
            parts.data[d * rows + first..d * rows + last].copy_from_slice(diagonal);
        }
        Band::from_parts(context, &parts)
    }

    /// A matrix from a dense one on the same device.
    ///
    /// # Errors
    /// As [`Band::from_column_major`].
    pub fn from_dense(dense: &Dense<T>, kl: usize, ku: usize) -> Result<Band<T>> {
        let values = dense.to_column_major()?;
        Band::from_column_major(dense.context(), (dense.rows(), dense.cols()), (kl, ku), &values)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Number of subdiagonals.
    pub fn kl(&self) -> usize {
        self.kl
    }

    /// Number of superdiagonals.
    pub fn ku(&self) -> usize {
        self.ku
    }

    /// The context the matrix lives in.
    pub fn context(&self) -> &Context {
        self.values.context()
    }

    /// The matrix in its host form.
    ///
    /// # Errors
    /// Those of the transfer.
    pub fn to_parts(&self) -> Result<BandParts<T>> {
        Ok(BandParts { rows: self.rows, cols: self.cols, kl: self.kl, ku: self.ku, data: self.values.to_vec()? })
    }

    /// The diagonal, `min(rows, cols)` values.
    ///
    /// # Errors
    /// [`Error::Allocation`].
    pub fn diagonal(&self) -> Result<Vector<T>> {
        let mut diagonal = Vector::uninit(self.context(), self.rows.min(self.cols))?;
        let first = self.kl * self.rows;
        let range = first..first + diagonal.len();
        diagonal.buffer_mut().copy_range(0, &self.values, range)?;
        Ok(diagonal)
    }

    /// How its products are launched, computed before the first.
    pub(crate) fn products(&self) -> &BandProducts<T> {
        self.products.get_or_init(|| Box::new(BandProducts::new(self.context(), self.rows, self.kl + 1 + self.ku)))
    }

    /// Lets the next product look its launch parameters up once more.
    pub(crate) fn forget_products(&mut self) {
        self.products.take();
    }

    fn shape_words(&self) -> String {
        format!("{} x {} with {} sub- and {} superdiagonals", self.rows, self.cols, self.kl, self.ku)
    }
}

impl<T: Scalar> sealed::Sealed for Band<T> {}

impl<T: Scalar> Values<T> for Band<T> {
    fn values(&self) -> &Buffer<T> {
        &self.values
    }

    fn values_mut(&mut self) -> ViewMut<'_, T> {
        (&mut self.values).into()
    }

    fn restore(&self) -> Result<()> {
        let context = self.context();
        // A whole number of rows of items per diagonal, so that an item needs no division.
        let range = Range::d2([self.rows, self.kl + 1 + self.ku], [context.local(), 1]);
        let values = Out::shared(&self.values);
        band::Program::<T>::new().clear_padding_band(context, range, self.rows, self.cols, self.kl, values)
    }

    fn check_same(&self, other: &Self, argument: &'static str) -> Result<()> {
        check_context(argument, self.context(), other.context())?;
        if (self.rows, self.cols, self.kl, self.ku) == (other.rows, other.cols, other.kl, other.ku) {
            return Ok(());
        }
        Err(Error::Shape { argument, expected: self.shape_words(), got: other.shape_words() })
    }

    unsafe fn like_uninit(&self) -> Result<Self> {
        let values = Buffer::uninit(self.context(), self.values.len())?;
        let &Band { rows, cols, kl, ku, .. } = self;
        Ok(Band { rows, cols, kl, ku, values, products: OnceCell::new() })
    }
}
