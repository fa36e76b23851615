//! Frequencies that are done, in a checkpoint.

use std::path::Path;

use clinalg::solve::KrylovMemory;
use clinalg_bem::elastodynamics::ComplexScalar;
use serde_json::json;

use super::report::{self, Response};
use super::{Args, Input};
use crate::checkpoint::{self, Fingerprint, Loaded, krylov};
use crate::exit::Failure;

/// The frequencies of a run that are done.
pub(super) struct Sweep<S: ComplexScalar> {
    /// Of the frequencies that are done.
    pub(super) responses: Vec<Response>,
    /// Their lines of `--out`.
    pub(super) table: String,
    /// Of GMRES at the next frequency; empty at its beginning.
    pub(super) memory: KrylovMemory<S>,
}

/// The arrays of the iterate and of the basis.
const VECTORS: [&str; 2] = ["x", "basis"];

impl<S: ComplexScalar> Sweep<S> {
    /// That of a checkpoint, or none done.
    pub(super) fn new(loaded: Option<&Loaded>) -> Result<Sweep<S>, Failure> {
        Ok(match loaded {
            Some(loaded) => Sweep {
                responses: loaded.part("responses")?,
                table: loaded.part("table")?,
                memory: loaded.krylov(VECTORS)?,
            },
            None => Sweep { responses: Vec::new(), table: report::table_header(), memory: KrylovMemory::default() },
        })
    }

    /// Writes a checkpoint of the first `done` frequencies.
    pub(super) fn save(&self, path: &Path, fingerprint: Fingerprint, done: usize, table: &str) -> Result<(), Failure> {
        let krylov = krylov::scalars(&self.memory);
        let state = json!({ "responses": self.responses[..done], "table": table, "krylov": krylov });
        checkpoint::save(path, fingerprint, state, &krylov::arrays(&self.memory, VECTORS))
    }
}

/// What decides the results.
pub(super) fn fingerprint<S: ComplexScalar>(args: &Args, input: &Input) -> Fingerprint {
    let Input { mesh, domain, frequencies, points, .. } = input;
    let surface = (mesh.nodes(), mesh.elements(), mesh.boundary());
    let options = Fingerprint::default().described("--mesh", &surface).values("--points", Some(points.as_flattened()));
    let options = options.option("--frequencies", frequencies).option("--domain", domain);
    let options = options.option("--shear", args.shear).option("--poisson", args.poisson);
    let options = options.option("--density", args.density).option("--damping", args.damping);
    let options = options.option("--problem", args.problem).option("--boundary", &args.boundary);
    let options = options.option("--source", args.source).option("--force", args.force).option("--rule", args.rule);
    let options = options.option("--method", args.method).option("--algorithm", args.algorithm);
    options.option("--otf", args.otf).option("--precision", S::PRECISION)
}
