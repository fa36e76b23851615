//! Uploads, downloads and copies of ranges.

use std::ops::Range;
use std::path::Path;

use clinalg::io::matrix_market;
use clinalg::matrix::Values;
use clinalg::{Band, Context, Csr, Result, Scalar, Vector};
use clinalg::{BandParts, CsrParts};

use crate::kind::{Info, Kind};
use crate::object::resident::LIMIT;
use crate::object::{Download, Host, Object, Stored, typed};
use crate::registry::{Operand, Registry};

/// Row, column and value, in words, of the first number of columns of `rows` that is not finite.
fn first_of<T: Scalar>(values: &[T], rows: usize) -> Option<(usize, usize, String)> {
    let k = values.iter().position(|value| !value.has_finite_parts())?;
    Some((k % rows.max(1), k / rows.max(1), values[k].to_string()))
}

impl Registry {
    /// Row and column, counted from 0, and value of the first entry of a vector or matrix that is not finite; of an operator or a matrix on a team
    /// nothing is known.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle); those of the device.
    pub fn first_not_finite(&self, handle: u64) -> Result<Option<(usize, usize, String)>> {
        match self.info(handle)?.kind {
            Kind::Vector | Kind::Dense | Kind::Csr | Kind::Band => {}
            _ => return Ok(None),
        }
        let operand = Operand::new("object", handle, Kind::VALUES);
        self.call(&[operand], None, |inputs, _| {
            typed!(inputs[0], T => {
                let entry = |a: CsrParts<T>| {
                    let found = a.triplets().find(|(_, _, value)| !value.has_finite_parts());
                    found.map(|(i, j, value)| (i, j, value.to_string()))
                };
                Ok(match inputs[0].stored::<T>("object")? {
                    Stored::Vector(x) => first_of(&x.to_vec()?, x.len()),
                    Stored::Dense(a) => first_of(&a.to_column_major()?, a.rows()),
                    Stored::Csr(a) => entry(a.to_parts()?),
                    Stored::Band(a) => entry(a.to_parts()?.to_csr()?),
                })
            })
        })
    }

    /// A vector of the device. A small one stays on the host until a call needs it there, as do small dense matrices.
    ///
    /// # Errors
    /// Those of [`Vector::from_slice`].
    pub fn upload_vector<T: Scalar>(&self, context: &Context, values: &[T]) -> Result<u64> {
        Ok(self.insert(Object::full(context, Kind::Vector, (values.len(), 1), values)?))
    }

    /// A vector of `len` times `value`.
    ///
    /// # Errors
    /// Those of [`Vector::filled`].
    pub fn upload_constant<T: Scalar>(&self, context: &Context, len: usize, value: T) -> Result<u64> {
        Ok(self.insert(match len <= LIMIT {
            true => Object::full(context, Kind::Vector, (len, 1), vec![value; len])?,
            false => Vector::filled(context, len, value)?.into(),
        }))
    }

    /// A dense matrix of the device, column by column.
    ///
    /// # Errors
    /// Those of [`clinalg::Dense::from_column_major`].
    pub fn upload_dense<T: Scalar>(&self, context: &Context, rows: usize, cols: usize, values: &[T]) -> Result<u64> {
        Ok(self.insert(Object::full(context, Kind::Dense, (rows, cols), values)?))
    }

    /// Uploads a sparse matrix in compressed rows.
    ///
    /// # Errors
    /// Those of [`Csr::from_csr`].
    pub fn upload_csr<T: Scalar>(
        &self,
        context: &Context,
        (rows, cols): (usize, usize),
        offsets: &[usize],
        indices: &[usize],
        values: &[T],
    ) -> Result<u64> {
        Ok(self.insert(Csr::from_csr(context, rows, cols, offsets, indices, values)?))
    }

    /// Uploads a sparse matrix in compressed columns (MATLAB's form).
    ///
    /// # Errors
    /// Those of [`Csr::from_csc`].
    pub fn upload_csc<T: Scalar>(
        &self,
        context: &Context,
        (rows, cols): (usize, usize),
        offsets: &[usize],
        indices: &[usize],
        values: &[T],
    ) -> Result<u64> {
        Ok(self.insert(Csr::from_csc(context, rows, cols, offsets, indices, values)?))
    }

    /// Uploads a sparse matrix from triplets, whose order it remembers.
    ///
    /// # Errors
    /// Those of [`Csr::from_triplets`].
    pub fn upload_triplets<T: Scalar>(
        &self,
        context: &Context,
        (rows, cols): (usize, usize),
        triplets: &[(usize, usize, T)],
    ) -> Result<u64> {
        Ok(self.insert(Csr::from_triplets(context, rows, cols, triplets)?))
    }

    /// Uploads a band matrix of `kl` sub- and `ku` superdiagonals from its full form, column by column.
    ///
    /// # Errors
    /// Those of [`Band::from_column_major`].
    pub fn upload_band<T: Scalar>(
        &self,
        context: &Context,
        shape: (usize, usize),
        (kl, ku): (usize, usize),
        values: &[T],
    ) -> Result<u64> {
        Ok(self.insert(Band::from_column_major(context, shape, (kl, ku), values)?))
    }

    /// Uploads a band matrix of `kl` sub- and `ku` superdiagonals from compressed columns.
    ///
    /// # Errors
    /// Those of [`Csr::from_csc`] and [`Band::from_csr`].
    pub fn upload_band_csc<T: Scalar>(
        &self,
        context: &Context,
        (rows, cols): (usize, usize),
        (kl, ku): (usize, usize),
        offsets: &[usize],
        indices: &[usize],
        values: &[T],
    ) -> Result<u64> {
        let parts = CsrParts::from_csc(rows, cols, offsets, indices, values)?;
        Ok(self.insert(Band::from_csr(context, &parts, kl, ku)?))
    }

    /// The object in MATLAB's storage: full, or compressed columns for sparse and band matrices.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle) and those of the transfer.
    pub fn download(&self, handle: u64) -> Result<Download> {
        let operand = [Operand::any("handle", handle)];
        let small = self.on_host(&operand, |inputs| {
            let Info { rows, cols, .. } = inputs[0].info();
            typed!(inputs[0], T => {
                let values = inputs[0].host_values::<T>().map(<[T]>::to_vec);
                Ok(values.map(|values| Host::Full { rows, cols, values }.into()))
            })
        })?;
        if let Some(small) = small {
            return Ok(small);
        }
        self.call(&[Operand::any("handle", handle)], None, |inputs, _| {
            typed!(inputs[0], T => {
                let stored = inputs[0].stored::<T>("handle")?;
                let (rows, cols) = stored.shape();
                let sparse = |parts: CsrParts<T>| -> Result<Host<T>> {
                    let CsrParts { offsets, indices, values, .. } = parts.transpose()?;
                    Ok(Host::Sparse { rows, cols, offsets, indices, values })
                };
                let host = match stored {
                    Stored::Vector(_) | Stored::Dense(_) => {
                        Host::Full { rows, cols, values: stored.full("handle")?.to_vec()? }
                    }
                    Stored::Csr(a) => sparse(a.to_parts()?)?,
                    Stored::Band(a) => sparse(BandParts::to_csr(&a.to_parts()?)?)?,
                };
                Ok(host.into())
            })
        })
    }

    /// Writes an object to a MatrixMarket file: a coordinate file of a sparse or band matrix, an array file of a vector or dense matrix. A
    /// file that exists is replaced.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle), [`Error::Io`](clinalg::Error::Io) and those of the transfer.
    pub fn write_matrix_market(&self, handle: u64, path: &Path) -> Result<()> {
        self.call(&[Operand::any("handle", handle)], None, |inputs, _| {
            typed!(inputs[0], T => match inputs[0].stored::<T>("handle")? {
                Stored::Vector(v) => matrix_market::write_array(path, v.len(), 1, &v.to_vec()?),
                Stored::Dense(a) => matrix_market::write_array(path, a.rows(), a.cols(), &a.to_column_major()?),
                Stored::Csr(a) => matrix_market::write_coordinate(path, &a.to_parts()?),
                Stored::Band(a) => matrix_market::write_coordinate(path, &BandParts::to_csr(&a.to_parts()?)?),
            })
        })
    }

    /// Copies values of a vector or dense matrix (column by column), from `offset` on, to `target`.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle), [`Error::Precision`](clinalg::Error::Precision), [`Error::Value`](clinalg::Error::Value) when the range leaves the object.
    pub fn read<T: Scalar>(&self, handle: u64, offset: usize, target: &mut [T]) -> Result<()> {
        let small = self.on_host(&[Operand::new("handle", handle, Kind::FULL)], |inputs| {
            // What does not fit is left to the errors of the transfer.
            let values = inputs[0].host_values::<T>().and_then(|values| values.get(offset..)?.get(..target.len()));
            Ok(values.map(|values| target.copy_from_slice(values)))
        })?;
        if small.is_some() {
            return Ok(());
        }
        self.call(&[Operand::new("handle", handle, Kind::FULL)], None, |inputs, _| {
            inputs[0].stored::<T>("handle")?.full("handle")?.values().read_range(offset, target)
        })
    }

    /// Replaces values of a vector or dense matrix (column by column), from `offset` on.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle), [`Error::Precision`](clinalg::Error::Precision), [`Error::Value`](clinalg::Error::Value) when the range leaves the object.
    pub fn write<T: Scalar>(&self, handle: u64, offset: usize, values: &[T]) -> Result<()> {
        self.call(&[], Some(Operand::new("handle", handle, Kind::FULL)), |_, output| match output {
            Some(object) => {
                object.stored_mut::<T>("handle")?.full_mut("handle")?.values_mut().write_range(offset, values)
            }
            None => Ok(()),
        })
    }

    /// A new vector with the values of `range` of a vector or dense matrix (column by column).
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle); [`Error::Value`](clinalg::Error::Value) when the range leaves the object.
    pub fn slice(&self, handle: u64, range: Range<usize>) -> Result<u64> {
        let made = self.call(&[Operand::new("handle", handle, Kind::FULL)], None, |inputs, _| {
            typed!(inputs[0], T => {
                Ok(Object::from(inputs[0].stored::<T>("handle")?.full("handle")?.copy_range(range)?))
            })
        })?;
        Ok(self.insert(made))
    }

    /// Replaces the values of a vector or dense matrix (column by column) from `offset` on by all those of `source`.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle), [`Error::Precision`](clinalg::Error::Precision), [`Error::Context`](clinalg::Error::Context); [`Error::Value`](clinalg::Error::Value) when they do not fit or `source` is
    /// `target`.
    pub fn write_slice(&self, target: u64, offset: usize, source: u64) -> Result<()> {
        let output = Operand::new("target", target, Kind::FULL);
        self.call(&[Operand::new("source", source, Kind::FULL)], Some(output), |inputs, output| {
            let Some(output) = output else { return Ok(()) };
            typed!(output, T => {
                let source = inputs[0].stored::<T>("source")?.full("source")?;
                output.stored_mut::<T>("target")?.full_mut("target")?.write_slice(offset, source)
            })
        })
    }
}
