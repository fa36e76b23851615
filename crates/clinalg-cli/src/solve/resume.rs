//! Solves that were ended, in a checkpoint.

use std::path::Path;

use clinalg::solve::{KrylovMemory, Report, Stop};
use clinalg::{CsrParts, Scalar};
use serde_json::json;

use super::Args;
use super::method::{Method, PrecondOptions};
use crate::checkpoint::krylov::{self, parts};
use crate::checkpoint::{self, Fingerprint, Loaded};
use crate::data::Values;
use crate::exit::Failure;
use crate::files;

/// What there is of the solves for one right-hand side after the other.
#[derive(Debug, Clone)]
pub(super) struct Begun<T> {
    /// That of the next iteration.
    pub(super) method: Method,
    /// The method that gave up.
    pub(super) gave_up: Option<Method>,
    /// Of the right-hand sides that are done, with their solutions column by column.
    pub(super) reports: Vec<Report>,
    pub(super) x: Vec<T>,
    /// Of the method that gave up at the next right-hand side, and its x.
    pub(super) before: Option<Report>,
    pub(super) start: Vec<T>,
    /// Of the solve for the next right-hand side; empty at its beginning.
    pub(super) memory: KrylovMemory<T>,
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

impl<T: Scalar> Begun<T> {
    pub(super) fn new(method: Method) -> Begun<T> {
        let (reports, x, start) = (Vec::new(), Vec::new(), Vec::new());
        Begun { method, gave_up: None, reports, x, before: None, start, memory: KrylovMemory::default() }
    }

    /// That of a checkpoint.
    pub(super) fn of(loaded: &Loaded) -> Result<Begun<T>, Failure> {
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
        Ok(Begun {
            method: loaded.part("method")?,
            gave_up: loaded.part("gave_up")?,
            reports,
            x: loaded.scalars("x")?,
            before: loaded.part::<Option<End>>("before")?.map(|end| ended(end, &before)),
            start: loaded.scalars("start")?,
            memory: loaded.krylov(VECTORS)?,
        })
    }

    /// Whether there is nothing to continue from.
    pub(super) fn is_empty(&self) -> bool {
        self.reports.is_empty() && self.before.is_none() && self.memory.is_empty()
    }

    /// Writes a checkpoint.
    pub(super) fn save(&self, path: &Path, fingerprint: Fingerprint) -> Result<(), Failure> {
        let end = |report: &Report| -> End { (report.stop, report.history.len(), report.iterate) };
        let stops: Vec<_> = self.reports.iter().map(end).collect();
        let before = self.before.as_ref();
        let histories: Vec<f64> = self.reports.iter().flat_map(|report| report.history.iter().copied()).collect();
        let state =
            json!({ "method": self.method, "gave_up": self.gave_up, "stops": stops, "before": before.map(end) });
        let before = before.map_or(&[][..], |report| &report.history);
        let [x, start] = [("x", &self.x), ("start", &self.start)].map(|(name, v)| (name, Values::of(&parts(v))));
        let [histories, before] =
            [("histories", &histories[..]), ("before", before)].map(|(name, v)| (name, Values::of(v)));
        let [iterate, vectors, numbers, history] = krylov::arrays(&self.memory, VECTORS);
        let arrays = [x, start, iterate, vectors, histories, before, numbers, history];
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
    let print = print.choice("--precond", Some(args.precond)).option("--restart", args.restart);
    let PrecondOptions { drop, fill, omega, .. } = args.precond_options();
    let print = print.choice("--order", args.order).option("--drop", drop).option("--fill", fill);
    let print = print.option("--sweeps", args.sweeps).choice("--reorder", Some(args.reorder));
    let print = print.option("--block", args.block).option("--single", args.single);
    let print = print.choice("--smoother", args.smoother).option("--steps", args.steps).choice("--cycle", args.cycle);
    let print = print.option("--theta", args.theta).option("--coarse-size", args.coarse_size);
    let print = print.option("--aggressive", args.aggressive).option("--omega", omega);
    let print = print.option("--idr-dimension", args.sizes().idr);
    let print = of_file(print, "--coordinates", args.coordinates.as_deref())?;
    of_file(print, "--nullspace", args.nullspace.as_deref())
}
