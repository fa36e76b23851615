//! Checkpoints.

use std::path::Path;

use clinalg::Real;
use clinalg::multigrid::PoissonMemory;

use super::boundary::{Boundary, BoundaryData};
use super::problem::Problem;
use super::solver::Medium;
use super::{Args, side_names};
use crate::checkpoint::{self, Fingerprint, Loaded};
use crate::data::Values;
use crate::exit::{Failure, usage};

/// What decides the iterates.
pub(super) fn fingerprint<T: Real>(
    args: &Args,
    problem: &Problem,
    (medium, boundary): (&Medium<T>, &Boundary<T>),
    f: &[T],
) -> Result<Fingerprint, Failure> {
    let Problem { grid, size, params, .. } = problem;
    let options = Fingerprint::default().option("--shift", args.shift).option("--precision", args.precision);
    let options = options.option("--cycle", args.cycle).option("--pre", args.pre).option("--post", args.post);
    let options = options.option("--smoother", params.smoother).option("--omega", params.omega);
    let options = options.option("--points", grid.points()).option("--size", size).option("--cells", args.cells);
    let options = options.option("--sides", side_names(problem)).option("--order", args.order);
    let options = options.option("--diffusion", params.diffusion).option("--mixed", params.mixed_derivatives);
    let options = match boundary {
        Boundary::Points(_) => options.values("--boundary", Some(&problem.start(boundary)?)),
        _ => options.option("--boundary", problem.boundary.as_ref().map(BoundaryData::text)),
    };
    let options = options.values("--f", Some(f));
    Ok(match medium {
        Medium::Constant => options.values::<T>("--coefficient", None),
        Medium::Coefficient(faces) => options.values("--coefficient", Some(faces.values())),
        Medium::Tensor(tensor) => {
            let names = ["--dxx", "--dyy", "--dzz", "--dxy", "--dxz", "--dyz"];
            let entries = tensor.each().zip(names);
            entries.fold(options, |options, (values, name)| options.values(name, Some(values)))
        }
    })
}

/// The solution of a checkpoint, and what the solver keeps beside it.
pub(super) fn restored<T: Real>(loaded: &Loaded, points: usize) -> Result<(Vec<T>, PoissonMemory<T>), Failure> {
    let u = loaded.array("u")?;
    if u.len() != points {
        return usage!("--resume: the checkpoint has {} points, the grid has {points}; they must agree", u.len());
    }
    let product = &loaded.state["product"];
    let direction =
        if product.is_null() { None } else { Some((loaded.array("direction")?, loaded.number("product")?)) };
    let unknowns = loaded.state["unknowns"].as_bool() == Some(true);
    let unknowns = unknowns.then(|| loaded.array("unknowns")).transpose()?;
    Ok((u, PoissonMemory { history: loaded.array("history")?, direction, unknowns }))
}

/// Writes a checkpoint of the state after a cycle: the solution, and what the solver keeps beside it.
pub(super) fn save<T: Real>(
    path: &Path,
    fingerprint: Fingerprint,
    u: &[T],
    memory: PoissonMemory<T>,
) -> Result<(), Failure> {
    let PoissonMemory { history, direction, unknowns } = memory;
    let state = serde_json::json!({
        "product": direction.as_ref().map(|(_, product)| *product),
        "unknowns": unknowns.is_some(),
    });
    let mut arrays = vec![("u", Values::of(u)), ("history", Values::F64(history))];
    arrays.extend(direction.map(|(p, _)| ("direction", Values::of(&p))));
    arrays.extend(unknowns.map(|unknowns| ("unknowns", Values::of(&unknowns))));
    checkpoint::save(path, fingerprint, state, &arrays)
}
