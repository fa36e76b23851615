//! Vectors and matrices in device memory.
//!
//! | type | storage |
//! |---|---|
//! | [`Vector`] | contiguous |
//! | [`Dense`] | column-major |
//! | [`Csr`] | compressed sparse rows: offsets, sorted columns, values |
//! | [`Band`] | `kl + 1 + ku` diagonals of `rows` values each, padded with zeros |
//!
//! All are owned, typed by their precision and usable from any thread. What was uploaded can be
//! downloaded again. Elementwise operations of [`ops`](crate::ops) act on the value array of any of
//! them through [`Values`].

mod balanced;
mod band;
mod bsr;
mod convert;
mod csr;
mod dense;
mod dia;
mod format;
pub(crate) mod host;
mod inspection;
mod launch;
mod offsets;
mod scan;
mod sorted;
mod spread;
mod transfer;
pub(crate) mod tuning;
mod vector;

pub(crate) use balanced::{Columns, NnzBalanced};
pub use band::Band;
pub(crate) use convert::conversion;
pub use csr::Csr;
pub(crate) use csr::{Entries, EntriesRef, Structure};
pub use dense::Dense;
pub(crate) use dia::{Dia, Stencil, Tiles};
pub use format::Format;
pub(crate) use format::Product;
pub use host::{BandParts, CsrParts, Reordering};
pub use inspection::{Inspection, unknowns_per_node, zero_sum_components};
pub(crate) use launch::{DenseProducts, MultiLaunch, Prepared, csr_cpu};
pub(crate) use scan::scan;
pub(crate) use sorted::{Sorted, SortedColumns};
pub(crate) use spread::RowProduct;
pub use vector::Vector;

use crate::{Buffer, Context, Error, Result, Scalar, ViewMut};

pub(crate) mod sealed {
    /// Only this crate defines which of its objects have the same structure.
    pub trait Sealed {}
}

/// An object with an array of values that elementwise operations can act on: [`Vector`], [`Dense`], [`Csr`], [`Band`].
pub trait Values<T: Scalar>: sealed::Sealed {
    /// The value array.
    fn values(&self) -> &Buffer<T>;
    /// The value array, to be written.
    fn values_mut(&mut self) -> ViewMut<'_, T>;
    /// Restores the padding after the array was written: the padding of a band
    /// is zero. Operations call it where they may overwrite it.
    ///
    /// # Errors
    /// Those of the enqueue.
    fn restore(&self) -> Result<()> {
        Ok(())
    }
    /// An error that names `argument` unless `other` has the same structure: the same shape and,
    /// where the structure is stored, the same positions.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::Length`] or [`Error::Context`].
    fn check_same(&self, other: &Self, argument: &'static str) -> Result<()>;
    /// An object of the same structure whose values are zero.
    ///
    /// # Errors
    /// [`Error::Allocation`].
    fn like(&self) -> Result<Self>
    where
        Self: Sized,
    {
        // SAFETY: all values are written here.
        let mut like = unsafe { self.like_uninit()? };
        like.values_mut().fill(T::zero())?;
        Ok(like)
    }
    /// An object of the same structure whose values are not defined.
    ///
    /// # Safety
    /// All values are written before any is read.
    ///
    /// # Errors
    /// [`Error::Allocation`].
    unsafe fn like_uninit(&self) -> Result<Self>
    where
        Self: Sized;
    /// A copy on the device.
    ///
    /// # Errors
    /// [`Error::Allocation`].
    fn try_clone(&self) -> Result<Self>
    where
        Self: Sized,
    {
        // SAFETY: all values are written here.
        let mut copy = unsafe { self.like_uninit()? };
        copy.values_mut().copy_from(self.values())?;
        Ok(copy)
    }
    /// The context the object lives in.
    fn context(&self) -> &Context {
        self.values().context()
    }
}

fn check_context(argument: &'static str, a: &Context, b: &Context) -> Result<()> {
    if a.same(b) { Ok(()) } else { Err(Error::Context { argument }) }
}

/// Indices are stored in 32 bits.
pub(crate) fn index32(argument: &'static str, value: usize) -> Result<u32> {
    u32::try_from(value)
        .map_err(|_| Error::value(argument, "at most 4294967295 (indices are stored in 32 bits)", value))
}
