//! The solve of a system on one device or several.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use clinalg::automatic::{
    Automatic, AutomaticParams, Decision, Event, FactorFacts, NEAR, OneDevice, Plan, PreconditionerKind, Space,
};
use clinalg::ops::SpaceVector;
use clinalg::precond::{NullVectors, Split};
use clinalg::solve::{Report, Stop, Stopping};
use clinalg::{Csr, CsrParts, Dense, Scalar};

use super::Args;
use super::hierarchy::{self, NearNull};
use super::method::{Method, Precond, Reorder, conflict};
use super::null::{about_coordinates, with_lsmr, with_sentence};
use super::number::Number;
use super::report::Column;
use super::resume::{self, Solved};
use crate::checkpoint::Checkpoints;
use crate::executor::Executor;
use crate::exit::{Failure, usage};
use crate::interrupt;
use crate::messages::tell;
use crate::output::Output;
use crate::progress::Progress;
use crate::text::{bytes, number};

/// What is to be solved.
pub(super) struct Job<'j, T> {
    pub(super) args: &'j Args,
    pub(super) executor: &'j Executor,
    pub(super) parts: &'j CsrParts<T>,
    /// The right-hand sides, column by column.
    pub(super) b: &'j mut Vec<T>,
    /// The initial guesses; `None` for 0.
    pub(super) starts: Option<&'j [T]>,
    /// Whether the right-hand sides come from a file.
    pub(super) from_file: bool,
    pub(super) stopping: Stopping,
    pub(super) checkpoints: &'j Checkpoints,
    pub(super) progress: &'j Progress,
    /// The beginning of the set-up.
    pub(super) begin: Instant,
}

/// What was solved, and how.
pub(super) struct Outcome<T> {
    pub(super) symmetric: bool,
    /// Whether -A x = -b was solved, as no entry of the diagonal is positive.
    pub(super) is_negated: bool,
    pub(super) null_vectors: usize,
    pub(super) null_part_removed: bool,
    pub(super) method: Method,
    pub(super) failed_method: Option<Method>,
    pub(super) precond: Precond,
    pub(super) precond_description: String,
    /// Of A, not of -A.
    pub(super) facts: FactorFacts,
    pub(super) explanation: Option<String>,
    pub(super) storage: String,
    pub(super) columns: Vec<Column>,
    /// The report of the column with the largest residual.
    pub(super) report: Report,
    /// The solutions, column by column.
    pub(super) x: Vec<T>,
    /// The checkpoint that was written where the solve was ended from outside.
    pub(super) checkpoint: Option<String>,
    pub(super) singularity: Option<String>,
    pub(super) setup: Duration,
    pub(super) solved: Duration,
}

impl<T: Number> Job<'_, T> {
    /// Solves on one device or several.
    pub(super) fn solve(self, out: &mut Output) -> Result<Outcome<T>, Failure> {
        if let Executor::Team(team) = self.executor {
            return T::on_team(team, self, out);
        }
        let parts = self.parts;
        let a = Csr::from_parts(&self.executor.contexts()[0], parts)?;
        let space = OneDevice::with_parts(&a, parts);
        match self.args.method {
            Some(Method::BlockCg) => solve_block(space, self, out),
            _ => solve_columns(space, self, out),
        }
    }
}

impl Args {
    /// What the options prescribe.
    fn automatic(&self, stopping: &Stopping, near_null: Option<&NearNull>) -> AutomaticParams {
        let mut params = AutomaticParams::default().stopping(stopping.clone());
        params.takes_over_at_limit = self.max_iterations.is_none();
        params.method = self.method.map(Into::into);
        params.preconditioner = self.precond.kind();
        params.multigrid_reason = self.amg_options().map(|option| format!("{option} was given"));
        params.restart = self.restart();
        params.idr_dimensions = self.idr_dimension.unwrap_or(params.idr_dimensions);
        let own = &mut params.preconditioner_params;
        own.ordering = self.order.map(Into::into);
        own.sweeps = self.sweeps.unwrap_or(own.sweeps);
        own.drop = self.given_drop.unwrap_or(own.drop);
        own.fill = self.given_fill.unwrap_or(own.fill);
        own.omega = self.omega.unwrap_or(own.omega);
        own.amg = hierarchy::params(self);
        if let Some(unknowns) = near_null.and_then(|near| near.unknowns).filter(|_| self.block.is_none()) {
            own.amg = own.amg.clone().block(unknowns);
        }
        own.near_null = near_null.map(|near| near.vectors.clone());
        own.finds_unknowns_per_node = self.node_options().is_none();
        own.reports_levels = self.report;
        own.reports_inertia = self.inertia;
        own.reports_determinant = self.determinant;
        params
    }

    /// An error for what complex systems do not support.
    fn check_complex(&self) -> Result<(), Failure> {
        let message = match (self.method, self.precond) {
            (Some(Method::Richardson), _) => {
                "--method richardson is for real systems only, but this one is complex: use --method gmres or bicgstab"
            }
            (_, Precond::Saddle) => "--precond saddle is for real matrices; use ilut",
            (_, Precond::Classical) => "--precond classical is for real matrices; use amg, which takes aggregation",
            _ => return Ok(()),
        };
        Err(Failure::usage(message))
    }
}

/// Reports what is chosen and replaced, and the iterations; ends a solve after Ctrl-C.
fn observe(args: &Args, progress: &Progress, event: Event<'_>) -> ControlFlow<()> {
    match event {
        Event::Iteration(iteration, residual) => {
            progress.step(iteration as u64, residual);
            return interrupt::go_on();
        }
        Event::Multigrid { needed, free } => {
            let needed = bytes(needed);
            let message = format!(
                "algebraic multigrid takes about {needed} of device memory while it is set up; {} are free",
                bytes(free)
            );
            match args.report {
                true => tell(&message),
                false => log::info!("{message}"),
            }
        }
        Event::Decision(decision) => report(args, progress, decision),
        _ => {}
    }
    ControlFlow::Continue(())
}

fn report(args: &Args, progress: &Progress, decision: &Decision) {
    match decision {
        Decision::Unstable { gain } => log::warn!(
            "ILU(0) is unstable for this matrix (it enlarges the vector of ones by {}, relative to A); using ILUT instead",
            number(*gain, 1)
        ),
        Decision::Replaced { by: by @ (PreconditionerKind::Jacobi | PreconditionerKind::None), error, .. } => {
            log::warn!("the chosen preconditioner could not be set up ({error}); using {} instead", by.title());
        }
        Decision::OneUnknownPerNode { unknowns, error } => log::warn!(
            "the hierarchy for {unknowns} unknowns per node could not be set up ({error}); continuing with one unknown per node (--block 1 skips this attempt)"
        ),
        Decision::TakenOver { failed, method, kind, error, .. } => {
            let (failed, next) = (failed.title(), method.title());
            progress.stage(format!("{failed} did not converge; {next} continues"));
            if let Some(error) = error {
                let precond = PreconditionerKind::Ilut.title();
                log::warn!("{precond} could not be set up for {next} ({error}); keeping {}", kind.title());
            }
            if Method::from(*method) == Method::Minres && !matches!(args.precond, Precond::Auto | Precond::None) {
                log::warn!(
                    "MINRES takes over from GMRES and runs without the preconditioner given by --precond {}",
                    args.precond.name()
                );
            }
        }
        _ => {}
    }
}

/// A system that is set up.
struct Ready<S: Space> {
    system: Automatic<S>,
    null_part_removed: bool,
    /// The first preconditioner.
    first: Precond,
    solved: Solved<S::Scalar>,
}

/// Chooses method and preconditioner, tests the right-hand sides, and sets up.
fn set_up<S: Space>(space: S, job: &mut Job<'_, S::Scalar>) -> Result<Ready<S>, Failure> {
    let args = job.args;
    if S::Scalar::IS_COMPLEX {
        args.check_complex()?;
    }
    let near_null = NearNull::read(args, job.parts.cols)?;
    let mut plan = Plan::of(space, args.automatic(&job.stopping, near_null.as_ref()))?;
    // Another numbering was tested before, with the numbers of the file.
    let sentence = plan.check_right_sides(job.b).map_err(with_lsmr)?;
    if let Some(sentence) = sentence.filter(|_| args.reorder == Reorder::None) {
        log::warn!("{sentence}");
    }
    let (method, precond) = (Method::from(plan.method()), Precond::from(plan.preconditioner()));
    if let Some(found) = plan.conflict() {
        return Err(conflict(found));
    }
    args.check_effect(method, precond)?;
    if precond == Precond::Saddle && Split::find(job.parts).is_none() {
        return usage!(
            "--precond saddle needs a saddle point [A B'; B -C]: some rows, but not all, have a diagonal entry that is zero or negative, and C is \
             diagonally dominant; use --precond ilut"
        );
    }
    if plan.method().is_conjugate_gradients() && !plan.inspection().hermitian {
        log::warn!(
            "{} is not {}, which conjugate gradients need; use bicgstab or gmres",
            args.matrix.display(),
            if S::Scalar::IS_COMPLEX { "Hermitian" } else { "symmetric" }
        );
    }
    let null = plan.null_vectors();
    let tolerance = job.stopping.tolerance_of::<S::Scalar>();
    if let Some(null) = null.filter(|null| !null.is_sure()) {
        log::warn!("A is singular along {}", null.words());
    }
    let null_part_removed = match null {
        Some(null) if job.from_file => {
            let about_body = about_body(args, job.parts, precond, null);
            null.check(job.b, tolerance).map_err(|error| with_sentence(error, about_body))?;
            false
        }
        Some(null) => null.remove(job.b, tolerance)?,
        None => false,
    };
    if let (Some(null), true) = (null, null_part_removed) {
        log::warn!(
            "removed the component of the right-hand side along {}, for which there is no solution",
            null.words()
        );
    }
    let loaded = job.checkpoints.resumed(|| resume::fingerprint(args, job.parts, job.b, job.starts))?;
    let solved = loaded.map_or_else(|| Ok(Solved::new()), Solved::of)?;
    let progress = job.progress;
    let mut observe = |event: Event<'_>| observe(args, progress, event);
    let mut system = plan.set_up(&mut observe).map_err(|error| error.renamed("vectors", args.near_null_argument()))?;
    system.start_at(solved.state.stage, &mut observe)?;
    Ok(Ready { system, null_part_removed, first: precond, solved })
}

/// A sentence about the option that finds all rigid motions, where A may be that of a free elastic body.
fn about_body<T: Scalar>(args: &Args, parts: &CsrParts<T>, precond: Precond, null: &NullVectors) -> Option<String> {
    let may_be_body = args.node_options().is_none() && precond != Precond::Saddle;
    if may_be_body { about_coordinates(parts, null) } else { None }
}

/// Solves for one right-hand side after the other.
pub(super) fn solve_columns<S: Space>(
    space: S,
    mut job: Job<'_, S::Scalar>,
    out: &mut Output,
) -> Result<Outcome<S::Scalar>, Failure> {
    let Ready { mut system, null_part_removed, first, mut solved } = set_up(space, &mut job)?;
    let Job { args, executor, parts, progress, .. } = job;
    let (rows, cols) = (parts.rows.max(1), parts.cols);
    let first_column = solved.reports.len();
    let mut b = system.space().vector(job.b.chunks(rows).nth(first_column).unwrap_or(&job.b[..parts.rows]))?;
    let mut x = system.space().initial_guess()?;
    system.warm_up(&b)?;
    executor.finish()?;
    let setup = job.begin.elapsed();

    out.phase("solve");
    let begin = Instant::now();
    let mut left = None;
    // Only what a checkpoint can hold is kept.
    let is_resumable = !S::IS_TEAM && args.method.is_none_or(Method::is_resumable);
    let mut observe = |event: Event<'_>| observe(args, progress, event);
    for (k, right) in job.b.chunks(rows).enumerate().skip(first_column) {
        if k > first_column {
            b.set_from_host(right)?;
        }
        match job.starts {
            Some(starts) => x.set_from_host(&starts[k * cols..(k + 1) * cols])?,
            None => x.set_all(S::Scalar::from_f64(0.0))?,
        }
        let mut state = std::mem::take(&mut solved.state);
        let report = match is_resumable {
            true => system.solve_from(&mut state, &b, &mut x, &mut observe)?,
            false => system.solve_with(&b, &mut x, &mut observe)?,
        };
        if is_resumable && matches!(report.stop, Stop::Cancelled | Stop::IterationLimit) && left.is_none() {
            left = Some(Solved { state, ..solved.clone() });
        }
        solved.reports.push(report);
        let column = x.to_host()?;
        match solved.x.is_empty() {
            true => solved.x = column,
            false => solved.x.extend(column),
        }
    }
    executor.finish()?;
    let took = begin.elapsed();
    let Solved { reports, x, .. } = solved;
    let columns = reports.iter().map(Column::from).collect();
    // NaN counts as the largest.
    let worst = |a: &Report, b: &Report| a.relative_residual.abs().total_cmp(&b.relative_residual.abs());
    let report = reports.into_iter().max_by(worst).unwrap_or_else(|| Report::new(Stop::Converged, vec![0.0]));
    let left = left.filter(|left| !left.is_empty());
    let checkpoint = left.map_or(Ok(None), |left| {
        let fingerprint = || resume::fingerprint(args, parts, job.b, job.starts);
        job.checkpoints.write(interrupt::interrupted(), |path| left.save(path, fingerprint()?))
    })?;
    let ended = Ended { columns, report, x, checkpoint, setup, solved: took };
    Ok(outcome(&job, &system, (null_part_removed, first), ended))
}

/// Solves for all right-hand sides at once by block conjugate gradients.
fn solve_block<T: Number>(
    space: OneDevice<'_, T>,
    mut job: Job<'_, T>,
    out: &mut Output,
) -> Result<Outcome<T>, Failure> {
    let Ready { mut system, null_part_removed, first, .. } = set_up(space, &mut job)?;
    let Job { args, executor, parts, progress, .. } = job;
    let context = &executor.contexts()[0];
    let (rows, count) = (parts.rows, job.b.len() / parts.rows.max(1));
    let b = Dense::from_column_major(context, rows, count, job.b)?;
    system.warm_up_block(&b)?;
    let mut x = match job.starts {
        Some(starts) => Dense::from_column_major(context, parts.cols, count, starts)?,
        None => Dense::zeros(context, parts.cols, count)?,
    };
    executor.finish()?;
    let setup = job.begin.elapsed();

    out.phase("solve");
    let begin = Instant::now();
    let found = system.solve_block(&b, &mut x, &mut |event| observe(args, progress, event))?;
    executor.finish()?;
    let solved = begin.elapsed();
    let tolerance = job.stopping.tolerance_of::<T>();
    let column = |(&relative_residual, &iterate): (&f64, &usize)| {
        let stop = if relative_residual <= tolerance { Stop::Converged } else { found.stop };
        Column { stop, iterations: found.iterations, iterate, relative_residual }
    };
    let columns = found.relative_residuals.iter().zip(&found.iterates).map(column).collect();
    let (report, x) = (found.worst(), x.to_column_major()?);
    let ended = Ended { columns, report, x, checkpoint: None, setup, solved };
    Ok(outcome(&job, &system, (null_part_removed, first), ended))
}

/// The results of the solves, with their times.
struct Ended<T> {
    columns: Vec<Column>,
    report: Report,
    x: Vec<T>,
    checkpoint: Option<String>,
    setup: Duration,
    solved: Duration,
}

fn outcome<S: Space>(
    job: &Job<'_, S::Scalar>,
    system: &Automatic<S>,
    (null_part_removed, first): (bool, Precond),
    Ended { columns, report, x, checkpoint, setup, solved }: Ended<S::Scalar>,
) -> Outcome<S::Scalar> {
    let (null, precond) = (system.null_vectors(), Precond::from(system.preconditioner()));
    let singularity = match columns.len() {
        1 => diagnose(job, system, &report, &x),
        _ => None,
    };
    let singularity = singularity.map(|sentence| {
        let of_body = null.and_then(|null| about_body(job.args, job.parts, first, null));
        let of_body = of_body.map_or_else(String::new, |sentence| format!(". {sentence}"));
        format!("{sentence}; --method lsmr finds the x with the smallest residual{of_body}")
    });
    let decisions = system.decisions().iter().filter(|decision| !matches!(decision, Decision::Singular(_)));
    let lines: Vec<String> = decisions.map(ToString::to_string).collect();
    let is_negated = system.decisions().contains(&Decision::Negated);
    let mut facts = system.factor_facts();
    if is_negated {
        facts = facts.negated(job.parts.rows);
    }
    Outcome {
        symmetric: system.inspection().hermitian,
        is_negated,
        null_vectors: null.map_or(0, NullVectors::count),
        null_part_removed,
        method: system.method().into(),
        failed_method: system.failed_method().map(Into::into),
        precond,
        precond_description: system.preconditioner_description().into(),
        facts,
        explanation: (!lines.is_empty()).then(|| lines.join("\n")),
        storage: system.space().storage(),
        columns,
        report,
        x,
        checkpoint,
        singularity,
        setup,
        solved,
    }
}

/// What a failed solve shows about the matrix.
fn diagnose<S: Space>(
    job: &Job<'_, S::Scalar>,
    system: &Automatic<S>,
    report: &Report,
    x: &[S::Scalar],
) -> Option<String> {
    system.diagnose(report, job.b, x, &mut |_, _| interrupt::go_on()).unwrap_or_else(|_| {
        log::warn!("the device failed during the search for null vectors of A");
        None
    })
}

/// Whether a solve counts as a success: at the tolerance, or at the rounding floor near it or, with --tol 0, at any.
pub(super) fn is_success(stop: Stop, relative_residual: f64, tolerance: f64) -> bool {
    stop == Stop::Converged
        || (stop == Stop::RoundingFloor && (relative_residual <= NEAR * tolerance || tolerance <= f64::MIN_POSITIVE))
}
