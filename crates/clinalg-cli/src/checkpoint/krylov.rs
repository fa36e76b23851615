//! Memories of Krylov methods, real or complex, in checkpoints.

use clinalg::Scalar;
use clinalg::solve::{KrylovMemory, KrylovState};

use super::Loaded;
use crate::data::Values;
use crate::exit::Failure;

/// Real numbers themselves; real and imaginary parts of complex ones, one after the other.
pub(crate) fn parts<T: Scalar>(values: &[T]) -> Vec<T::Real> {
    values.iter().flat_map(|v| [v.re(), v.im()].into_iter().take(T::COMPONENTS)).collect()
}

/// The arrays of a memory; the iterate and the vectors have these names.
pub(crate) fn arrays<'n, T: Scalar>(memory: &KrylovMemory<T>, [x, vectors]: [&'n str; 2]) -> [(&'n str, Values); 3] {
    [
        (x, Values::of(&parts(&memory.x))),
        (vectors, Values::of(&parts(&memory.vectors))),
        ("history", Values::of(&memory.history)),
    ]
}

/// The scalars of a memory, as hexadecimal digits of CBOR: JSON has no infinities.
pub(crate) fn scalars<T>(memory: &KrylovMemory<T>) -> Option<String> {
    let state = memory.state.as_ref()?;
    let mut bytes = Vec::new();
    ciborium::into_writer(state, &mut bytes).expect("memory takes everything that can be serialised");
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The inverse of [`scalars`]; `None` for other text.
fn state_of(digits: &str) -> Option<KrylovState> {
    let byte = |k: usize| u8::from_str_radix(digits.get(k..k + 2)?, 16).ok();
    let bytes = (0..digits.len()).step_by(2).map(byte).collect::<Option<Vec<u8>>>()?;
    ciborium::from_reader(&bytes[..]).ok()
}

impl Loaded {
    /// The values whose [`parts`] are the array `name`.
    pub(crate) fn scalars<T: Scalar>(&self, name: &str) -> Result<Vec<T>, Failure> {
        let im = |v: &[T::Real]| v.get(1).copied().unwrap_or_else(|| <T::Real as Scalar>::from_f64(0.0));
        let parts = self.array::<T::Real>(name)?;
        Ok(parts.chunks_exact(T::COMPONENTS).map(|v| T::from_parts(v[0], im(v))).collect())
    }

    /// The memory of [`arrays`] and [`scalars`], which are the part `krylov` of the state.
    pub(crate) fn krylov<T: Scalar>(&self, [x, vectors]: [&str; 2]) -> Result<KrylovMemory<T>, Failure> {
        let unread = || Failure::file(&self.path, "`krylov` of the checkpoint cannot be read");
        let digits = self.part::<Option<String>>("krylov")?;
        let state = digits.map(|digits| state_of(&digits).ok_or_else(unread)).transpose()?;
        let (x, vectors) = (self.scalars(x)?, self.scalars(vectors)?);
        Ok(KrylovMemory { x, vectors, state, history: self.array("history")? })
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use clinalg::solve::{BiCgStab, BiCgStabParams, Resumable};
    use clinalg::{Context, Csr, Vector};

    use super::*;

    #[test]
    fn infinities_come_back_from_text() {
        let Some(context) = clinalg_testing::found(Context::global()) else { return };
        let entries = [(0, 0, 2.0), (0, 1, 1.0), (1, 1, 3.0), (2, 0, 1.0), (2, 2, 5.0)];
        let a = Csr::from_triplets(&context, 3, 3, &entries).unwrap();
        let (b, mut x) = (Vector::filled(&context, 3, 1.0).unwrap(), Vector::zeros(&context, 3).unwrap());
        let mut solver = BiCgStab::new(&context, 3, BiCgStabParams::default().max_iterations(1)).unwrap();
        let mut memory = KrylovMemory::default();
        let mut go_on = |_, _| ControlFlow::Continue(());
        solver.solve_from(&mut memory, &a, None, &b, &mut x, &mut go_on).unwrap();
        let text = scalars(&memory).expect("the solve was ended");
        assert!(format!("{:?}", memory.state).contains("inf"));
        assert_eq!(state_of(&text), memory.state);
        assert_eq!((state_of("a1f"), state_of("zz"), state_of("ff")), (None, None, None));
    }
}
