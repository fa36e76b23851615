//! Vectors of the spaces in which iterative methods work.

use std::fmt;

use super::{DotParts, multiply, norm2, scale_raw, scatter_signs, update};
use crate::error::check_length;
use crate::{Context, Error, Real, Result, Scalar, Vector};

/// A vector of a space in which iterative methods work: [`Vector`] on one device, [`team::Vector`](crate::team::Vector)
/// on several.
///
/// What changes a vector is enqueued; what returns a number waits for the devices.
pub trait SpaceVector: Sized + fmt::Debug + Send + Sync {
    /// The type of its values.
    type Scalar: Scalar;
    /// Where vectors live: a [`Context`], or the [`Layout`](crate::team::Layout) of a team.
    type Space: Clone + fmt::Debug;
    /// Dot products that are enqueued and read later.
    type Dots: SpaceDots<Self::Scalar, Self>;

    /// Number of values.
    fn size(&self) -> usize;

    /// Where it lives.
    fn space(&self) -> &Self::Space;

    /// Whether both are on the same device or team; partitions of a team may differ, see [`SpaceVector::check`].
    fn is_same_space(one: &Self::Space, other: &Self::Space) -> bool;

    /// An error that names `argument` unless this vector has `size` values and lives in `space`.
    ///
    /// # Errors
    /// [`Error::Context`], [`Error::Length`]; on a team [`Error::Shape`] for another partition.
    fn check(&self, space: &Self::Space, size: usize, argument: &'static str) -> Result<()>;

    /// A vector of the same size in the same space.
    ///
    /// # Safety
    /// The caller must write every value before it is read.
    ///
    /// # Errors
    /// [`Error::Allocation`], [`Error::NoFp64`].
    unsafe fn uninit_like(&self) -> Result<Self>;

    /// A copy.
    ///
    /// # Errors
    /// As [`SpaceVector::uninit_like`].
    fn duplicate(&self) -> Result<Self> {
        // SAFETY: the copy writes every value.
        let mut copy = unsafe { self.uninit_like() }?;
        copy.set_copy(self)?;
        Ok(copy)
    }

    /// Room for dot products of vectors in this space.
    ///
    /// # Errors
    /// As [`SpaceVector::uninit_like`].
    fn dots(&self) -> Result<Self::Dots>;

    /// All values. On a team of several processes only the process of rank 0 gets them all; the others get their own rows,
    /// and zeros elsewhere.
    ///
    /// # Errors
    /// What a device or the network reports.
    fn to_host(&self) -> Result<Vec<Self::Scalar>>;

    /// Replaces all values; a process needs those of its own rows.
    ///
    /// # Errors
    /// [`Error::Length`]; what a device reports.
    fn set_from_host(&mut self, values: &[Self::Scalar]) -> Result<()>;

    /// Sets every value to `value`.
    ///
    /// # Errors
    /// Those of the enqueue.
    fn set_all(&mut self, value: Self::Scalar) -> Result<()>;

    /// Copies `x`.
    ///
    /// # Errors
    /// As [`SpaceVector::check`], where the vectors do not fit.
    fn set_copy(&mut self, x: &Self) -> Result<()>;

    /// y = alpha x + beta y, where this vector is y; `beta = 0` never reads it.
    ///
    /// # Errors
    /// As [`SpaceVector::set_copy`].
    fn axpby(&mut self, alpha: Self::Scalar, x: &Self, beta: Self::Scalar) -> Result<()>;

    /// Multiplies every value by `alpha`.
    ///
    /// # Errors
    /// Those of the enqueue.
    fn scale_by(&mut self, alpha: Self::Scalar) -> Result<()>;

    /// z = x y, value by value, where this vector is z.
    ///
    /// # Errors
    /// As [`SpaceVector::set_copy`].
    fn set_products(&mut self, x: &Self, y: &Self) -> Result<()>;

    /// Copies the values of `x` with pseudo-random signs.
    ///
    /// # Errors
    /// As [`SpaceVector::set_copy`].
    fn set_scattered_signs(&mut self, x: &Self) -> Result<()>;

    /// The Euclidean norm, without overflow or underflow of the squares.
    ///
    /// # Errors
    /// What a device reports.
    fn norm(&self) -> Result<f64>;

    /// The dot product of x and y, where this vector is x, which is conjugated.
    ///
    /// # Errors
    /// As [`SpaceVector::set_copy`]; what a device reports.
    fn dot(&self, y: &Self) -> Result<Self::Scalar>;
}

/// One dot product, or two, of vectors of a space: [`DotParts`] on one device.
pub trait SpaceDots<T: Scalar, V: SpaceVector<Scalar = T>>: Sized + fmt::Debug + Send + Sync {
    /// An error unless the products are of vectors in `space`.
    ///
    /// # Errors
    /// [`Error::Context`] that names `dots`.
    fn check_space(&self, space: &V::Space) -> Result<()>;

    /// The dot product of x and y (x is conjugated), enqueued.
    ///
    /// # Errors
    /// As [`SpaceVector::set_copy`].
    fn set_dot(&mut self, x: &V, y: &V) -> Result<()>;

    /// The dot products of y with w (y is conjugated) and with itself, enqueued.
    ///
    /// # Errors
    /// As [`SpaceVector::set_copy`].
    fn set_dots(&mut self, y: &V, w: &V) -> Result<()>;

    /// The first product, or the only one.
    ///
    /// # Errors
    /// What a device reports.
    fn first(&self) -> Result<T::Wide>;

    /// Both products, of which the second one is real.
    ///
    /// # Errors
    /// What a device reports.
    fn both(&self) -> Result<(T::Wide, f64)>;

    /// Both products and the norm of x, in one reduction over a team.
    ///
    /// # Errors
    /// What a device reports.
    fn both_and_norm(&mut self, x: &V) -> Result<((T::Wide, f64), f64)>;
}

impl<T: Scalar> SpaceVector for Vector<T> {
    type Scalar = T;
    type Space = Context;
    type Dots = DotParts<T>;

    fn size(&self) -> usize {
        self.len()
    }

    fn space(&self) -> &Context {
        self.context()
    }

    fn is_same_space(one: &Context, other: &Context) -> bool {
        one.same(other)
    }

    fn check(&self, context: &Context, size: usize, argument: &'static str) -> Result<()> {
        if !context.same(self.context()) {
            return Err(Error::Context { argument });
        }
        check_length(argument, size, self.len())
    }

    unsafe fn uninit_like(&self) -> Result<Vector<T>> {
        Vector::uninit(self.context(), self.len())
    }

    fn dots(&self) -> Result<DotParts<T>> {
        DotParts::new(self.context())
    }

    fn to_host(&self) -> Result<Vec<T>> {
        self.to_vec()
    }

    fn set_from_host(&mut self, values: &[T]) -> Result<()> {
        self.write(values)
    }

    fn set_all(&mut self, value: T) -> Result<()> {
        self.fill(value)
    }

    fn set_copy(&mut self, x: &Vector<T>) -> Result<()> {
        super::copy(x, self)
    }

    fn axpby(&mut self, alpha: T, x: &Vector<T>, beta: T) -> Result<()> {
        update(alpha, x, beta, self)
    }

    fn scale_by(&mut self, alpha: T) -> Result<()> {
        scale_raw(alpha, self.buffer(), self.buffer())
    }

    fn set_products(&mut self, x: &Vector<T>, y: &Vector<T>) -> Result<()> {
        multiply(x, y, self)
    }

    fn set_scattered_signs(&mut self, x: &Vector<T>) -> Result<()> {
        scatter_signs(x, self)
    }

    fn norm(&self) -> Result<f64> {
        Ok(norm2(self)?.into_f64())
    }

    fn dot(&self, y: &Vector<T>) -> Result<T> {
        super::dot(self, y)
    }
}

impl<T: Scalar> SpaceDots<T, Vector<T>> for DotParts<T> {
    fn check_space(&self, context: &Context) -> Result<()> {
        self.check(context)
    }

    fn set_dot(&mut self, x: &Vector<T>, y: &Vector<T>) -> Result<()> {
        self.set(x, y)
    }

    fn set_dots(&mut self, y: &Vector<T>, w: &Vector<T>) -> Result<()> {
        self.set_pair(y, w)
    }

    fn first(&self) -> Result<T::Wide> {
        self.value()
    }

    fn both(&self) -> Result<(T::Wide, f64)> {
        self.values()
    }

    fn both_and_norm(&mut self, x: &Vector<T>) -> Result<((T::Wide, f64), f64)> {
        Ok((self.values()?, x.norm()?))
    }
}
