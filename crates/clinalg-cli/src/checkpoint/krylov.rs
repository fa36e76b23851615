//! Memories of Krylov methods, real or complex, in checkpoints.

use clinalg::Scalar;
use clinalg::solve::KrylovMemory;

use super::Loaded;
use crate::data::Values;
use crate::exit::Failure;

/// Real numbers themselves; real and imaginary parts of complex ones, one after the other.
pub(crate) fn parts<T: Scalar>(values: &[T]) -> Vec<T::Real> {
    values.iter().flat_map(|v| [v.re(), v.im()].into_iter().take(T::COMPONENTS)).collect()
}

/// The arrays of a memory; the iterate and the vectors have these names.
pub(crate) fn arrays<'n, T: Scalar>(memory: &KrylovMemory<T>, [x, vectors]: [&'n str; 2]) -> [(&'n str, Values); 4] {
    [
        (x, Values::of(&parts(&memory.x))),
        (vectors, Values::of(&parts(&memory.vectors))),
        ("numbers", Values::of(&memory.numbers)),
        ("history", Values::of(&memory.history)),
    ]
}

impl Loaded {
    /// The values whose [`parts`] are the array `name`.
    pub(crate) fn scalars<T: Scalar>(&self, name: &str) -> Result<Vec<T>, Failure> {
        let im = |v: &[T::Real]| v.get(1).copied().unwrap_or_else(|| <T::Real as Scalar>::from_f64(0.0));
        let parts = self.array::<T::Real>(name)?;
        Ok(parts.chunks_exact(T::COMPONENTS).map(|v| T::from_parts(v[0], im(v))).collect())
    }

    /// The memory of [`arrays`].
    pub(crate) fn krylov<T: Scalar>(&self, [x, vectors]: [&str; 2]) -> Result<KrylovMemory<T>, Failure> {
        Ok(KrylovMemory {
            x: self.scalars(x)?,
            vectors: self.scalars(vectors)?,
            numbers: self.array("numbers")?,
            history: self.array("history")?,
        })
    }
}
