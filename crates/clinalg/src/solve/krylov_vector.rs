//! What Krylov methods need of vectors besides the operations of a vector space.

use std::fmt;

use super::basis::{MAX_BATCH, Projection};
use super::bicgstab_device::DeviceBiCgStab;
use super::bicgstab_host::HostBiCgStab;
use super::bicgstab_steps::BiCgStabSteps;
use super::cg_device::DeviceCg;
use super::cg_steps::CgSteps;
use crate::ops::SpaceVector;
use crate::{Result, Scalar, Vector};

/// A vector that Krylov methods work with: one of one device or of a team.
pub trait KrylovVector: SpaceVector + 'static {
    /// Products with the vectors of a basis.
    type Basis: BasisProducts<Self::Scalar, Self>;

    /// Memory for products with a basis of at most `most` vectors like this one, and for the coefficients of at most
    /// `at_once` orthogonalisations that have not been read yet.
    ///
    /// # Errors
    /// As [`SpaceVector::dots`].
    fn basis(&self, most: usize, at_once: usize) -> Result<Self::Basis>;

    /// The steps of conjugate gradients for vectors like this one.
    ///
    /// # Errors
    /// As [`SpaceVector::dots`].
    fn cg_steps(&self) -> Result<Box<dyn CgSteps<Self::Scalar, Self>>>;

    /// The steps of BiCGStab for vectors like this one.
    ///
    /// # Errors
    /// As [`SpaceVector::dots`].
    fn bicgstab_steps(&self) -> Result<Box<dyn BiCgStabSteps<Self::Scalar, Self>>>;
}

/// Called with the number of an orthogonalisation, the sums of its coefficients, and the norm of the vector before and
/// after.
pub type EachColumn<'e, W> = &'e mut dyn FnMut(usize, &[W], f64, f64);

/// Products of a vector with several others.
pub trait BasisProducts<T: Scalar, V>: fmt::Debug + Send + Sync {
    /// The most orthogonalisations that are worth enqueuing before their coefficients are read.
    fn at_once(&self) -> usize;

    /// w -= V V'w twice for orthonormal columns `v` of V; returns the norm of the new w.
    ///
    /// # Errors
    /// What a device reports.
    fn orthogonalise(&mut self, v: &[V], w: &mut V) -> Result<f64>;

    /// Discards coefficients that were never read, such as those of a solve that ended with an error.
    fn begin(&mut self);

    /// w -= V V'w twice for orthonormal columns `v` of V, then w /= |w|. The coefficients are those of
    /// [`BasisProducts::read`].
    ///
    /// # Errors
    /// What a device reports.
    fn extend(&mut self, v: &[V], w: &mut V) -> Result<()>;

    /// Gives the orthogonalisations since the last read, in order, to `each`.
    ///
    /// # Errors
    /// What a device reports.
    fn read(&mut self, each: EachColumn<'_, T::Wide>) -> Result<()>;

    /// The dot products of the vectors `v` (conjugated) with w.
    ///
    /// # Errors
    /// What a device reports.
    fn dots(&mut self, v: &[V], w: &V, products: &mut [T::Wide]) -> Result<()>;

    /// x += V y, the sum of `y[j]` times `v[j]`.
    ///
    /// # Errors
    /// Those of the enqueue.
    fn combine(&mut self, v: &[V], y: &[T::Wide], x: &mut V) -> Result<()>;
}

impl<T: Scalar> KrylovVector for Vector<T> {
    type Basis = Projection<T>;

    fn basis(&self, most: usize, at_once: usize) -> Result<Projection<T>> {
        Projection::new(self.context(), self.len(), most, at_once)
    }

    fn cg_steps(&self) -> Result<Box<dyn CgSteps<T, Vector<T>>>> {
        Ok(Box::new(DeviceCg::new(self.context())?))
    }

    fn bicgstab_steps(&self) -> Result<Box<dyn BiCgStabSteps<T, Vector<T>>>> {
        match T::IS_COMPLEX {
            true => Ok(Box::new(HostBiCgStab::new(self)?)),
            false => Ok(Box::new(DeviceBiCgStab::new(self.context())?)),
        }
    }
}

impl<T: Scalar> BasisProducts<T, Vector<T>> for Projection<T> {
    fn at_once(&self) -> usize {
        MAX_BATCH
    }

    fn orthogonalise(&mut self, v: &[Vector<T>], w: &mut Vector<T>) -> Result<f64> {
        Projection::orthogonalise(self, &refs(v), w)
    }

    fn begin(&mut self) {
        Projection::begin(self);
    }

    fn extend(&mut self, v: &[Vector<T>], w: &mut Vector<T>) -> Result<()> {
        Projection::extend(self, &refs(v), w)
    }

    fn read(&mut self, each: EachColumn<'_, T::Wide>) -> Result<()> {
        Projection::read(self, each)
    }

    fn dots(&mut self, v: &[Vector<T>], w: &Vector<T>, products: &mut [T::Wide]) -> Result<()> {
        self.dot(&refs(v), w, products)
    }

    fn combine(&mut self, v: &[Vector<T>], y: &[T::Wide], x: &mut Vector<T>) -> Result<()> {
        Projection::combine(self, &refs(v), y, x)
    }
}

fn refs<V>(v: &[V]) -> Vec<&V> {
    v.iter().collect()
}

/// So many vectors like this one, which a solver writes before it reads them.
pub(super) fn like<V: SpaceVector, const N: usize>(vector: &V) -> Result<[V; N]> {
    let vectors = all_like(vector, N)?;
    Ok(vectors.try_into().expect("as many were created"))
}

/// The same, where the number is known at run time.
pub(super) fn all_like<V: SpaceVector>(vector: &V, count: usize) -> Result<Vec<V>> {
    // SAFETY: every method writes its vectors before it reads them.
    (0..count).map(|_| unsafe { vector.uninit_like() }).collect()
}
