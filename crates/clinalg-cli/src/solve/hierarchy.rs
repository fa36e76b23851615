//! Algebraic multigrid for `clinalg solve`.

use std::path::Path;
use std::sync::Arc;

use clinalg::amg::{Amg, AmgParams, AmgReport, Coarsening, rigid_motions};
use clinalg::precond::is_unsuited;
use clinalg::team::{Partition, Team};
use clinalg::{Csr, CsrParts, Error, Real};

use super::method::{Made, SmootherArg};
use super::{Args, team};
use crate::exit::Failure;
use crate::files::{self, Columns};
use crate::messages::tell;
use crate::output::bytes;

/// Near-null vectors of --coordinates or --nullspace.
#[derive(Debug, Clone)]
pub(super) struct NearNull {
    /// One after the other.
    pub(super) vectors: Arc<Vec<f64>>,
    /// Unknowns per node, where the vectors are rigid motions.
    unknowns: Option<usize>,
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
    fn near_null_argument(&self) -> &'static str {
        if self.coordinates.is_some() { "coordinates" } else { "nullspace" }
    }
}

/// What the options say of the hierarchy: its parameters, and its near-null vectors one after the other.
fn options<T: Real>(coarsening: Coarsening, args: &Args) -> (AmgParams, Option<Vec<T>>) {
    // Only classical coarsening can be aggressive.
    let coarsening = match coarsening {
        Coarsening::Auto if args.aggressive => Coarsening::Classical,
        coarsening => coarsening,
    };
    let mut params = AmgParams::default().coarsening(coarsening).single(args.single).aggressive(args.aggressive);
    let default = params.smoother;
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
    if let Some(unknowns) = args.near_null.as_ref().and_then(|near| near.unknowns) {
        params = params.block(unknowns);
    }
    let found = args.found_block.filter(|_| args.near_null.is_none());
    if let Some(block) = args.block.or(found) {
        params = params.block(block);
    }
    let near = args.near_null.as_ref().map(|near| near.vectors.iter().map(|&v| T::from_f64(v)).collect());
    (params, near)
}

/// Calls `make`; if it fails with a detected block size, retries with one unknown per node, whose coarsening may be classical. Also returns a remark
/// for the report.
fn or_by_unknowns<M>(
    params: AmgParams,
    args: &Args,
    make: impl Fn(&AmgParams) -> Result<M, Error>,
) -> Result<(M, String), Error> {
    let block = params.block;
    match make(&params) {
        Err(error) if block > 1 && args.found_block == Some(block) && is_unsuited(&error) => {
            log::warn!(
                "the hierarchy for {block} unknowns per node could not be set up ({error}); continuing with one unknown per node (--block 1 skips this attempt)"
            );
            let words = format!(", with one unknown per node, as the hierarchy with {block} could not be set up");
            Ok((make(&params.block(1))?, words))
        }
        made => Ok((made?, String::new())),
    }
}

/// A hierarchy in a line.
fn in_a_line(report: &AmgReport) -> String {
    let (kind, levels) = (report.kind(), report.levels.len());
    format!("{kind}, {levels} levels, operator complexity {:.2}", report.operator_complexity)
}

/// The hierarchy that the options ask for.
pub(super) fn hierarchy<T: Real>(a: &Csr<T>, coarsening: Coarsening, args: &Args) -> Result<Made<T>, Failure> {
    let rows = a.rows();
    let (params, near) = options::<T>(coarsening, args);
    let (device, memory) = (a.context().device(), a.context().memory());
    let needs = bytes(Amg::estimated_bytes(a, &params));
    let free = bytes(device.global_mem.saturating_sub(memory.live_bytes));
    let needs = format!("algebraic multigrid takes about {needs} of device memory while it is set up; {free} are free");
    match args.report {
        true => tell(&needs),
        false => log::info!("{needs}"),
    }
    let (mut m, by_unknowns) = or_by_unknowns(params, args, |params| match &near {
        Some(vectors) => {
            let made = Amg::with_near_null(a, vectors, vectors.len().div_ceil(rows.max(1)), params);
            made.map_err(|error| error.renamed("vectors", args.near_null_argument()))
        }
        None => Amg::new(a, params),
    })?;
    let words = match args.report {
        true => {
            m.convergence_factor(a)?;
            format!("{}\n{}", by_unknowns.trim_start_matches(", "), m.report())
        }
        false => in_a_line(m.report()) + &by_unknowns,
    };
    Ok(Some((Box::new(m), words)))
}

/// The hierarchy that the options ask for, on several devices.
pub(super) fn on_team<T: Real>(
    team: &Team,
    a: &CsrParts<T>,
    partition: &Partition,
    coarsening: Coarsening,
    args: &Args,
) -> Result<team::Made<T>, Failure> {
    let (params, near) = options::<T>(coarsening, args);
    let (m, by_unknowns) = or_by_unknowns(params, args, |params| match &near {
        Some(vectors) => {
            let near = (&vectors[..], vectors.len().div_ceil(a.rows.max(1)));
            let made = clinalg::team::Amg::with_near_null(team, a, partition, near, params);
            made.map_err(|error| error.renamed("vectors", args.near_null_argument()))
        }
        None => clinalg::team::Amg::new(team, a, partition, params),
    })?;
    let shared = match m.shared_levels() {
        0 => "all levels on rank 0".to_owned(),
        1 => "1 level on all devices".to_owned(),
        levels => format!("{levels} levels on all devices"),
    };
    let words = match (m.report(), args.report) {
        (None, _) => shared + &by_unknowns,
        (Some(report), true) => format!("{shared}{by_unknowns}\n{report}"),
        (Some(report), false) => format!("{}, {shared}{by_unknowns}", in_a_line(report)),
    };
    Ok(Some((Box::new(m), words)))
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
