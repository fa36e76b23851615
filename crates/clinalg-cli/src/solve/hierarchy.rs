//! Algebraic multigrid for `clinalg solve`.

use std::path::Path;

use clinalg::amg::{Amg, AmgParams, Coarsening, rigid_motions};
use clinalg::{Csr, Error, Real};

use super::Args;
use super::method::Made;
use crate::exit::Failure;
use crate::files;

/// The hierarchy that the options ask for.
pub(super) fn hierarchy<T: Real>(a: &Csr<T>, coarsening: Coarsening, args: &Args) -> Result<Made<T>, Failure> {
    let rows = a.rows();
    let mut params = AmgParams::default().coarsening(coarsening).single(args.single);
    let near = match (&args.coordinates, &args.nullspace) {
        (Some(path), _) => {
            let (motions, dim) = motions(path, rows)?;
            params = params.block(dim);
            Some(motions)
        }
        (None, Some(path)) => Some(files::read_columns::<T>(path)?.values),
        (None, None) => None,
    };
    if let Some(block) = args.block {
        params = params.block(block);
    }
    let mut m = match &near {
        Some(vectors) => Amg::with_near_null(a, vectors, vectors.len().div_ceil(rows.max(1)), &params)?,
        None => Amg::new(a, &params)?,
    };
    let words = match args.report {
        true => {
            m.convergence_factor(a)?;
            format!("\n{}", m.report())
        }
        false => {
            let report = m.report();
            let (kind, levels) = (report.coarsening(), report.levels.len());
            format!("{kind}, {levels} levels, operator complexity {:.2}", report.operator_complexity)
        }
    };
    Ok(Some((Box::new(m), words)))
}

/// The rigid motions of nodes with the coordinates of a file, a row per node, and the unknowns per node.
fn motions<T: Real>(path: &Path, rows: usize) -> Result<(Vec<T>, usize), Failure> {
    let given = files::read_columns::<f64>(path)?;
    if !(2..=3).contains(&given.cols) || given.rows * given.cols != rows {
        let expected = format!("2 or 3 columns, and as many values as A has rows ({rows})");
        let got = format!("{} x {} ({})", given.rows, given.cols, path.display());
        return Err(Error::Shape { argument: "coordinates", expected, got }.into());
    }
    let by_node: Vec<f64> = (0..rows).map(|k| given.values[k % given.cols * given.rows + k / given.cols]).collect();
    let motions = rigid_motions(&by_node, given.cols)?;
    Ok((motions.into_iter().map(T::from_f64).collect(), given.cols))
}
