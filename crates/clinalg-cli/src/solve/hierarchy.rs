//! Algebraic multigrid for `clinalg solve`.

use std::path::Path;
use std::sync::Arc;

use clinalg::Error;
use clinalg::amg::{AmgParams, Coarsening, Smoother, rigid_motions};

use super::Args;
use super::method::SmootherArg;
use crate::exit::Failure;
use crate::files::{self, Columns};

/// Near-null vectors of --coordinates or --nullspace.
#[derive(Debug, Clone)]
pub(super) struct NearNull {
    /// One after the other.
    pub(super) vectors: Arc<Vec<f64>>,
    /// Unknowns per node, where the vectors are rigid motions.
    pub(super) unknowns: Option<usize>,
}

impl NearNull {
    /// Those that the options name, for a matrix with `cols` columns.
    pub(super) fn read(args: &Args, cols: usize) -> Result<Option<NearNull>, Failure> {
        let (vectors, unknowns) = match (&args.coordinates, &args.nullspace) {
            (Some(path), _) => {
                let (motions, dim) = motions(path, cols)?;
                (motions, Some(dim))
            }
            (None, Some(path)) => (near_null(path, cols)?, None),
            (None, None) => return Ok(None),
        };
        Ok(Some(NearNull { vectors: Arc::new(vectors), unknowns }))
    }
}

impl Args {
    /// The argument that has the near-null vectors.
    pub(super) fn near_null_argument(&self) -> &'static str {
        if self.coordinates.is_some() { "coordinates" } else { "nullspace" }
    }
}

/// What the options say of the hierarchy.
pub(super) fn params(args: &Args) -> AmgParams {
    // Only classical coarsening can be aggressive.
    let coarsening = if args.aggressive { Coarsening::Classical } else { Coarsening::Auto };
    let mut params = AmgParams::default().coarsening(coarsening).single(args.single).aggressive(args.aggressive);
    let default = Smoother::default();
    params = match (args.smoother, args.steps) {
        (None, None) => params,
        (None, Some(steps)) => params.smoother(SmootherArg::Chebyshev.with(steps)),
        (Some(smoother), steps) => params.smoother(smoother.with(steps.unwrap_or(default.steps()))),
    };
    if let Some(cycle) = args.cycle {
        params = params.cycle(cycle.into());
    }
    if let Some(theta) = args.theta {
        params = params.theta(theta);
    }
    if let Some(rows) = args.coarse_size {
        params = params.coarse_size(rows);
    }
    args.block.map_or(params.clone(), |block| params.block(block))
}

/// Near-null vectors, a column each.
fn near_null(path: &Path, rows: usize) -> Result<Vec<f64>, Failure> {
    let given = files::read_columns::<f64>(path)?;
    if given.rows != rows || !(1..=64).contains(&given.cols) {
        let expected = format!("{rows} rows, one for each unknown of A, and 1 to 64 columns, one for each vector");
        let got = format!("{} x {} ({})", given.rows, given.cols, path.display());
        return Err(Error::Shape { argument: "nullspace", expected, got }.into());
    }
    check_finite("nullspace", path, &given)?;
    if let Some(k) = given.values.chunks(rows.max(1)).position(|vector| vector.iter().all(|&v| v == 0.0)) {
        let reason = format!("column {} (counted from 1) of {} has only zeros", k + 1, path.display());
        return Err(Error::unsuitable("nullspace", reason).into());
    }
    Ok(given.values)
}

/// An error that names the first value of a file that is not finite.
fn check_finite(argument: &'static str, path: &Path, given: &Columns<f64>) -> Result<(), Failure> {
    let Some(k) = given.values.iter().position(|value| !value.is_finite()) else { return Ok(()) };
    let (row, column) = (k % given.rows + 1, k / given.rows + 1);
    let got = format!("{} in row {row} and column {column} (counted from 1) of {}", given.values[k], path.display());
    Err(Error::value(argument, "finite numbers", got).into())
}

/// The rigid motions of nodes with the coordinates of a file, a row per node, and the unknowns per node.
fn motions(path: &Path, rows: usize) -> Result<(Vec<f64>, usize), Failure> {
    let given = files::read_columns::<f64>(path)?;
    if !(2..=3).contains(&given.cols) || given.rows * given.cols != rows {
        let expected = format!("2 or 3 columns, and as many values as A has rows ({rows})");
        let got = format!("{} x {} ({})", given.rows, given.cols, path.display());
        return Err(Error::Shape { argument: "coordinates", expected, got }.into());
    }
    check_finite("coordinates", path, &given)?;
    let by_node: Vec<f64> = (0..rows).map(|k| given.values[k % given.cols * given.rows + k / given.cols]).collect();
    let motions = rigid_motions(&by_node, given.cols)?;
    if motions.chunks(rows.max(1)).any(|motion| motion.iter().all(|&v| v == 0.0)) {
        let place =
            if given.cols == 2 { "at the same point" } else { "on a line parallel to an axis, or at the same point" };
        let reason = format!("all nodes of {} are {place}, so that one rotation moves none of them", path.display());
        return Err(Error::unsuitable("coordinates", reason).into());
    }
    Ok((motions, given.cols))
}
