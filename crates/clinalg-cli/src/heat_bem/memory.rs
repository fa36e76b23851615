//! What a solve that was ended leaves, in a checkpoint.

use std::path::Path;

use clinalg::Real;
use clinalg::solve::KrylovMemory;
use clinalg_bem::heat::ForwardMemory;

use super::Method;
use crate::checkpoint::{self, Fingerprint, Loaded, krylov};
use crate::data::Values;
use crate::exit::Failure;

/// The arrays of the iterate and of the basis of GMRES.
const VECTORS: [&str; 2] = ["x", "basis"];

/// Empty where there is nothing to continue from.
pub(super) enum Memory<T> {
    Gmres(KrylovMemory<T>),
    Forward(ForwardMemory<T>),
}

impl<T: Real> Memory<T> {
    /// That of a checkpoint, or an empty one.
    pub(super) fn of(method: Method, loaded: Option<&Loaded>) -> Result<Memory<T>, Failure> {
        Ok(match (method, loaded) {
            (Method::Gmres, None) => Memory::Gmres(KrylovMemory::default()),
            (Method::Gmres, Some(loaded)) => Memory::Gmres(loaded.krylov(VECTORS)?),
            (Method::Forward, None) => Memory::Forward(ForwardMemory::default()),
            (Method::Forward, Some(loaded)) => Memory::Forward(ForwardMemory {
                x: loaded.array("x")?,
                work: loaded.array("work")?,
                steps: loaded.part("steps")?,
                history: loaded.array("history")?,
            }),
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Memory::Gmres(memory) => memory.is_empty(),
            Memory::Forward(memory) => memory.is_empty(),
        }
    }

    /// Writes a checkpoint.
    pub(super) fn save(&self, path: &Path, fingerprint: Fingerprint) -> Result<(), Failure> {
        match self {
            Memory::Gmres(memory) => {
                let state = serde_json::json!({ "krylov": krylov::scalars(memory) });
                checkpoint::save(path, fingerprint, state, &krylov::arrays(memory, VECTORS))
            }
            Memory::Forward(memory) => {
                let (x, work) = (("x", Values::of(&memory.x)), ("work", Values::of(&memory.work)));
                let state = serde_json::json!({ "steps": memory.steps });
                checkpoint::save(path, fingerprint, state, &[x, work, ("history", Values::of(&memory.history))])
            }
        }
    }
}
