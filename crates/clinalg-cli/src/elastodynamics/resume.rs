//! Frequencies that are done, in a checkpoint.

use std::path::Path;

use clinalg::solve::KrylovMemory;
use clinalg_bem::ElementMesh;
use clinalg_bem::elastodynamics::ComplexScalar;
use serde_json::json;

use super::Args;
use super::report::{self, Response};
use crate::checkpoint::{self, Fingerprint, Loaded, krylov};
use crate::exit::Failure;

/// What there is of a run.
pub(super) struct Begun<S: ComplexScalar> {
    /// Of the frequencies that are done.
    pub(super) responses: Vec<Response>,
    /// Their lines of `--out`.
    pub(super) table: String,
    /// Of GMRES at the next frequency; empty at its beginning.
    pub(super) memory: KrylovMemory<S>,
}

/// The arrays of the iterate and of the basis.
const VECTORS: [&str; 2] = ["x", "basis"];

impl<S: ComplexScalar> Begun<S> {
    pub(super) fn new() -> Begun<S> {
        Begun { responses: Vec::new(), table: report::table_header(), memory: KrylovMemory::default() }
    }

    /// That of a checkpoint.
    pub(super) fn of(loaded: &Loaded) -> Result<Begun<S>, Failure> {
        let memory = loaded.krylov(VECTORS)?;
        Ok(Begun { responses: loaded.part("responses")?, table: loaded.part("table")?, memory })
    }

    /// Writes a checkpoint of the first `done` frequencies.
    pub(super) fn save(&self, path: &Path, fingerprint: Fingerprint, done: usize, table: &str) -> Result<(), Failure> {
        let krylov = krylov::scalars(&self.memory);
        let state = json!({ "responses": self.responses[..done], "table": table, "krylov": krylov });
        checkpoint::save(path, fingerprint, state, &krylov::arrays(&self.memory, VECTORS))
    }
}

/// What decides the results.
pub(super) fn fingerprint<S: ComplexScalar>(args: &Args, mesh: &ElementMesh, points: &[[f64; 3]]) -> Fingerprint {
    let surface = (mesh.nodes(), mesh.elements(), mesh.boundary());
    let options = Fingerprint::default().described("--mesh", &surface).values("--points", Some(points.as_flattened()));
    let options = options.option("--frequencies", args.all_frequencies()).option("--domain", args.domain());
    let options = options.option("--shear", args.shear).option("--poisson", args.poisson);
    let options = options.option("--density", args.density).option("--damping", args.damping);
    let options = options.option("--problem", args.problem).option("--boundary", &args.boundary);
    let options = options.option("--source", args.source).option("--force", args.force).option("--rule", args.rule);
    let options = options.option("--method", args.method).option("--algorithm", args.algorithm);
    options.option("--otf", args.otf).option("--precision", S::PRECISION)
}
