//! What a solve that was ended leaves, in a checkpoint.

use std::path::Path;

use clinalg::Real;
use clinalg::solve::KrylovMemory;
use clinalg_bem::heat::ForwardMemory;

use super::boundary::BoundaryData;
use super::{Args, Input, Method};
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

/// What decides the results.
pub(super) fn fingerprint<T: Real>(args: &Args, input: &Input, method: Method, data: &BoundaryData) -> Fingerprint {
    let Input { mesh, problem, .. } = input;
    let options = Fingerprint::default().described("--mesh", &(mesh.nodes(), mesh.triangles()));
    let options = options.option("--steps", args.steps).option("--end-time", args.end_time);
    let options = options.option("--alpha", args.alpha).option("--problem", problem);
    let options = options.values("--boundary", Some(&data.homogeneous));
    let options = options.option("--method", method).option("--preconditioner", args.preconditioner);
    let options = options.option("--restart", args.restart()).option("--precision", T::PRECISION);
    options.option("--apply", args.apply).option("--algorithm", args.algorithm)
}
