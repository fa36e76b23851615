//! The operators, and the solve of the system.

use std::time::{Duration, Instant};

use clinalg::solve::{GmresParams, Operator, Report};
use clinalg::{Precision, Real, Vector};
use clinalg_bem::heat::{
    Algorithm, BoundaryProblem, Form, HeatOperator, HeatSpace, OperatorOptions, OperatorPreconditioner, Problem,
};

use super::boundary::BoundaryData;
use super::inside::{self, Inside};
use super::memory::Memory;
use super::predicted::{self, Predicted};
use super::{Apply, Args, Input, Method, PreconditionerArg};
use crate::executor::Executor;
use crate::exit::{Failure, usage};
use crate::global::Global;
use crate::interrupt;
use crate::output::Output;
use crate::progress::Progress;
use crate::text::{bytes, seconds};

/// Tables of algorithm 5 that are made unasked; with larger ones, of 100 000 time steps or more, algorithm 2 is taken.
const MOST_TABLE_BYTES: u64 = 2 << 30;

/// Products whose median is seconds_per_apply; fewer where they take longer than this.
const TIMED: usize = 5;
const TIMED_SECONDS: f64 = 2.0;

/// Iterations of GMRES between restarts where none are asked for.
const RESTART: usize = 200;

/// The system, whose operators are assembled.
pub(super) struct Solver<'a, T: Real> {
    args: &'a Args,
    input: &'a Input,
    executor: &'a Executor,
    pub(super) method: Method,
    pub(super) progress: Progress,
    pub(super) tolerance: f64,
    pub(super) space: HeatSpace<T>,
    /// Algorithm of products on the fly.
    pub(super) algorithm: u8,
    options: OperatorOptions,
    system: BoundaryProblem<T>,
    preconditioner: Option<OperatorPreconditioner<T>>,
    pub(super) predicted: Option<Predicted>,
    /// Time of the assembly.
    pub(super) assembly: Duration,
}

/// A solution.
pub(super) struct Solved<T: Real> {
    pub(super) x: Vector<T>,
    pub(super) report: Report,
    pub(super) time: Duration,
    pub(super) peak_bytes: u64,
}

impl Args {
    /// Iterations of GMRES between restarts.
    pub(super) fn restart(&self) -> usize {
        self.restart.unwrap_or(RESTART)
    }

    fn space<T: Real>(&self, input: &Input, executor: &Executor, global: &Global) -> Result<HeatSpace<T>, Failure> {
        let Input { mesh, params, .. } = input;
        Ok(match executor {
            Executor::Team(team) if global.balance => HeatSpace::<T>::balanced(team, mesh, params)?,
            Executor::Team(team) => HeatSpace::on_team(team, mesh, params, &vec![1.0; team.ranks()])?,
            _ => HeatSpace::new(&executor.contexts()[0], mesh, params)?,
        })
    }

    /// The algorithm and how blocks are computed, unless tables do not fit.
    fn operator_options(&self, may_change: bool) -> (u8, OperatorOptions) {
        let algorithm = self.algorithm.unwrap_or(5);
        let options = OperatorOptions {
            form: match self.apply {
                Apply::Assembled => Form::Assembled,
                Apply::Otf => Form::Otf,
                Apply::Auto => Form::Auto,
            },
            algorithm: Algorithm::ALL[usize::from(algorithm) - 1],
            most_table_bytes: may_change.then_some(MOST_TABLE_BYTES),
            ..OperatorOptions::default()
        };
        (algorithm, options)
    }
}

impl<'a, T: Real> Solver<'a, T> {
    /// Assembles the matrix, and the operator of the right-hand side.
    pub(super) fn assemble(
        args: &'a Args,
        input: &'a Input,
        executor: &'a Executor,
        global: &Global,
        out: &mut Output,
    ) -> Result<(Solver<'a, T>, HeatOperator<T>), Failure> {
        let (problem, steps) = (input.problem, args.steps);
        let rows = problem.kinds().0.rows(&input.mesh);
        let method = args.method.choose::<T>(args.has_gmres_options(), &executor.contexts()[0], rows, steps);
        let tolerance = args.tol.unwrap_or(if T::PRECISION == Precision::F32 { 1e-5 } else { 1e-8 });
        let progress = match method {
            Method::Gmres => Progress::new(out, "iteration", tolerance),
            Method::Forward => Progress::of_steps(out, steps as u64),
        };
        progress.stage("assembling");
        out.phase("assembly");
        let mut start = Instant::now();
        let space = args.space::<T>(input, executor, global)?;
        let may_change =
            args.algorithm.is_none() && !matches!(args.apply, Apply::Assembled) && executor.contexts().len() == 1;
        let (mut algorithm, mut options) = args.operator_options(may_change);
        progress.stage("predicting the time");
        let predicting = Instant::now();
        let predicted = match predicted::predict(&space, problem, &options, method) {
            // Tables that are too large.
            Err(Failure::Library(clinalg::Error::Allocation { .. })) => None,
            predicted => predicted?,
        };
        start += predicting.elapsed();
        let about = predicted.map_or(String::new(), |predicted| format!(", about {}", seconds(predicted.assemble)));
        progress.stage(format!("assembling{about}"));
        // The operator of the right-hand side makes one product, which needs no stored blocks.
        let make = |options: &OperatorOptions| {
            let system = BoundaryProblem::new(&space, problem, options)?;
            Ok((system, space.operator(problem.kinds().1, &OperatorOptions { form: Form::Otf, ..*options })?))
        };
        let (system, right) = match make(&options) {
            Err(clinalg::Error::Allocation { .. }) if may_change => {
                algorithm = 2;
                options = OperatorOptions { algorithm: Algorithm::ALL[1], most_table_bytes: None, ..options };
                make(&options)?
            }
            result => result?,
        };
        executor.finish()?;
        let assembly = start.elapsed();
        if args.report && !system.matrix().is_assembled() {
            return usage!(
                "--report needs stored blocks, which take {}: make the mesh or the number of steps smaller",
                bytes(system.matrix().stored_bytes())
            );
        }
        let preconditioner = None;
        let solver = Solver {
            args,
            input,
            executor,
            method,
            progress,
            tolerance,
            space,
            algorithm,
            options,
            system,
            preconditioner,
            predicted,
            assembly,
        };
        Ok((solver, right))
    }

    pub(super) fn matrix(&self) -> &HeatOperator<T> {
        self.system.matrix()
    }

    /// The right-hand side; sets the preconditioner up.
    pub(super) fn right_side(&mut self, right: HeatOperator<T>, data: &BoundaryData) -> Result<Vector<T>, Failure> {
        self.progress.stage("right-hand side");
        let start = Instant::now();
        let b = self.system.right_side(&right, &data.homogeneous)?;
        drop(right);
        if self.args.preconditioner == PreconditionerArg::Operator {
            self.preconditioner = Some(self.system.operator_preconditioner(&self.options)?);
        }
        self.executor.finish()?;
        self.assembly += start.elapsed();
        Ok(b)
    }

    /// Solves from where the memory stands, and leaves there where it is ended.
    pub(super) fn solve(&self, b: &Vector<T>, memory: &mut Memory<T>) -> Result<Solved<T>, Failure> {
        let params = GmresParams::default().tolerance(self.tolerance).restart(self.args.restart());
        let params = match self.args.max_iterations {
            Some(count) => params.max_iterations(count),
            None => params,
        };
        let mut forward = match self.method {
            Method::Gmres => None,
            Method::Forward => {
                self.progress.stage("inverting the diagonal block");
                Some(self.system.forward()?)
            }
        };
        self.executor.finish()?;
        // Nothing is solved before.
        interrupt::watch(self.args.checkpoint.is_some() || self.args.out.is_some());
        let start = Instant::now();
        let mut step = |step, residual| {
            self.progress.step(step as u64, residual);
            interrupt::go_on()
        };
        let (x, report) = match (memory, &mut forward) {
            (Memory::Forward(memory), Some(forward)) => {
                forward.solve_from(memory, b, self.tolerance, &mut |done| step(done, 1.0))?
            }
            (Memory::Gmres(memory), _) => {
                self.system.gmres_from(memory, self.preconditioner.as_ref(), b, params, &mut step)?
            }
            (Memory::Forward(_), None) => unreachable!("made for this method"),
        };
        self.executor.finish()?;
        Ok(Solved { x, report, time: start.elapsed(), peak_bytes: self.executor.peak_bytes() })
    }

    /// The median time of a product; `None` after Ctrl-C.
    pub(super) fn time_product(&self, x: &Vector<T>) -> Result<Option<f64>, Failure> {
        if interrupt::interrupted() {
            return Ok(None);
        }
        self.progress.stage("timing products");
        let matrix = self.matrix();
        let mut y = Vector::zeros(matrix.context(), matrix.rows())?;
        let mut times = Vec::with_capacity(TIMED);
        for _ in 0..TIMED {
            let start = Instant::now();
            matrix.apply(T::one(), x, T::zero(), &mut y)?;
            matrix.context().finish()?;
            times.push(start.elapsed().as_secs_f64());
            if times.iter().sum::<f64>() > TIMED_SECONDS {
                break;
            }
        }
        times.sort_by(f64::total_cmp);
        Ok(Some(times[times.len() / 2]))
    }

    /// The temperatures at `--points`, if they are given.
    pub(super) fn inside(&self, data: &BoundaryData, found: &[f64]) -> Result<Option<Vec<Inside>>, Failure> {
        self.progress.stage("points inside");
        let Input { mesh, params, problem, boundary, points, .. } = self.input;
        let values = match problem {
            Problem::Dirichlet => (found, &data.homogeneous[..]),
            Problem::Neumann => (&data.homogeneous[..], found),
        };
        points.as_ref().map(|points| inside::evaluate(points, mesh, params, values, boundary)).transpose()
    }
}
