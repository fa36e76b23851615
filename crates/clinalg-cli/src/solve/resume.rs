//! Solves that were ended, in a checkpoint.

use std::path::Path;

use clinalg::automatic::Suspended;
use clinalg::solve::{Report, Stop};
use clinalg::{CsrParts, Scalar};
use serde_json::json;

use super::Args;
use crate::checkpoint::krylov::{self, parts};
use crate::checkpoint::{self, Fingerprint, Loaded};
use crate::data::Values;
use crate::exit::Failure;
use crate::files;

/// The solves for one right-hand side after the other, as far as they have got.
#[derive(Debug, Clone)]
pub(super) struct Solved<T> {
    /// The reports of the right-hand sides that are done, with their solutions column by column.
    pub(super) reports: Vec<Report>,
    pub(super) x: Vec<T>,
    /// Where the solve for the next one is.
    pub(super) state: Suspended<T>,
}

/// How a solve ended: its stop, the length of its history and the number of its iterate.
type End = (Stop, usize, usize);

fn ended((stop, _, iterate): End, history: &[f64]) -> Report {
    let mut report = Report::new(stop, history.to_vec());
    report.iterate = iterate;
    report
}

/// The arrays of the iterate and of the vectors of the iteration.
const VECTORS: [&str; 2] = ["iterate", "vectors"];

impl<T: Scalar> Solved<T> {
    /// Nothing yet.
    pub(super) fn new() -> Solved<T> {
        Solved { reports: Vec::new(), x: Vec::new(), state: Suspended::default() }
    }

    /// That of a checkpoint.
    pub(super) fn of(loaded: &Loaded) -> Result<Solved<T>, Failure> {
        let histories: Vec<f64> = loaded.array("histories")?;
        let stops: Vec<End> = loaded.part("stops")?;
        let mut rest = &histories[..];
        let mut reports = Vec::new();
        for end in stops {
            let (history, others) = rest.split_at(end.1.min(rest.len()));
            reports.push(ended(end, history));
            rest = others;
        }
        let before: Vec<f64> = loaded.array("before")?;
        let state = Suspended {
            stage: loaded.part("stage")?,
            before: loaded.part::<Option<End>>("before")?.map(|end| ended(end, &before)),
            start: loaded.scalars("start")?,
            memory: loaded.krylov(VECTORS)?,
        };
        Ok(Solved { reports, x: loaded.scalars("x")?, state })
    }

    /// Whether there is nothing to continue from.
    pub(super) fn is_empty(&self) -> bool {
        self.reports.is_empty() && self.state.is_empty()
    }

    /// Writes a checkpoint.
    pub(super) fn save(&self, path: &Path, fingerprint: Fingerprint) -> Result<(), Failure> {
        let end = |report: &Report| -> End { (report.stop, report.history.len(), report.iterate) };
        let stops: Vec<_> = self.reports.iter().map(end).collect();
        let Suspended { stage, before, start, memory } = &self.state;
        let before = before.as_ref();
        let histories: Vec<f64> = self.reports.iter().flat_map(|report| report.history.iter().copied()).collect();
        let (before_end, krylov) = (before.map(end), krylov::scalars(memory));
        let state = json!({ "stage": stage, "stops": stops, "before": before_end, "krylov": krylov });
        let before = before.map_or(&[][..], |report| &report.history);
        let [x, start] = [("x", &self.x), ("start", start)].map(|(name, v)| (name, Values::of(&parts(v))));
        let [histories, before] =
            [("histories", &histories[..]), ("before", before)].map(|(name, v)| (name, Values::of(v)));
        let [iterate, vectors, history] = krylov::arrays(memory, VECTORS);
        let arrays = [x, start, iterate, vectors, histories, before, history];
        checkpoint::save(path, fingerprint, state, &arrays)
    }
}

/// What decides the results.
pub(super) fn fingerprint<T: Scalar>(
    args: &Args,
    a: &CsrParts<T>,
    b: &[T],
    starts: Option<&[T]>,
) -> Result<Fingerprint, Failure> {
    let of_file = |print: Fingerprint, name: &str, path: Option<&Path>| -> Result<Fingerprint, Failure> {
        let Some(path) = path else { return Ok(print.values::<f64>(name, None)) };
        Ok(print.values(name, Some(&files::read_columns::<f64>(path)?.values)))
    };
    let print = Fingerprint::default().option("--precision", T::PRECISION).choice("--method", args.method);
    let print = print.option("the size of the matrix", [a.rows, a.cols]);
    let print = print.indices("the pattern of the matrix", a.offsets.iter().chain(&a.indices).copied());
    let print = print.values("the matrix", Some(&parts(&a.values)));
    let print = print.values("--rhs", Some(&parts(b))).values("--x0", starts.map(parts).as_deref());
    let print = print.choice("--precond", Some(args.precond)).option("--restart", args.restart());
    let print = print.choice("--order", args.order);
    let print = print.option("--drop", args.given_drop).option("--fill", args.given_fill);
    let print = print.option("--sweeps", args.sweeps).choice("--reorder", Some(args.reorder));
    let print = print.option("--block", args.block).option("--single", args.single);
    let print = print.choice("--smoother", args.smoother).option("--steps", args.steps).choice("--cycle", args.cycle);
    let print = print.option("--theta", args.theta).option("--coarse-size", args.coarse_size);
    let print = print.option("--aggressive", args.aggressive).option("--omega", args.omega);
    let print = print.option("--idr-dimension", args.idr_dimension);
    let print = of_file(print, "--coordinates", args.coordinates.as_deref())?;
    of_file(print, "--nullspace", args.nullspace.as_deref())
}
