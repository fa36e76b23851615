//! The solution at each frequency.

use std::time::Instant;

use clinalg::solve::{GmresParams, KrylovMemory, Stop};
use clinalg::{Precision, shown};
use clinalg_bem::elastodynamics::{
    Algorithm, C64, ComplexScalar, Memory, Options, Problem, Shared, SharedAssembly, Solution,
};

use super::boundary::BoundaryFields;
use super::report::{Response, append};
use super::resume::{Sweep, fingerprint};
use super::{AlgorithmArg, Args, Input, Method};
use crate::checkpoint::Checkpoints;
use crate::executor::Executor;
use crate::exit::{Failure, usage};
use crate::interrupt;
use crate::output::Output;
use crate::progress::Progress;
use crate::text::{bytes, number, precision};

/// Elements per shear wavelength below which results are doubtful.
const FEWEST_ELEMENTS: f64 = 4.0;

/// What all frequencies share.
pub(super) struct Solver<'a, S: ComplexScalar> {
    args: &'a Args,
    input: &'a Input,
    executor: &'a Executor,
    pub(super) progress: Progress,
    tolerance: f64,
    shared: Shared<S>,
    seconds_geometry: f64,
    /// That of the matrices of the previous frequency.
    memory: Vec<Memory<S>>,
}

/// The last solution, and its displacements at the points in the material.
pub(super) type LastSolution = (Solution, Vec<[C64; 3]>);

impl<'a, S: ComplexScalar> Solver<'a, S> {
    /// Computes the Gauss points and the static parts of the integrals.
    pub(super) fn set_up(
        args: &'a Args,
        input: &'a Input,
        executor: &'a Executor,
        out: &mut Output,
    ) -> Result<Solver<'a, S>, Failure> {
        out.phase("geometry");
        let options = Options::default().rule(args.rule);
        if !args.otf {
            Shared::<S>::check_memory(executor.contexts(), &input.mesh, &options)?;
        }
        let tolerance = args.tol.unwrap_or(if S::PRECISION == Precision::F32 { 1e-5 } else { 1e-8 });
        // Of several frequencies those that are done are counted, of one the iterations.
        let progress = match input.frequencies.len() {
            1 => Progress::new(out, "iteration", tolerance),
            _ => Progress::of_part(out),
        };
        progress.stage("Gauss points and static parts");
        let start = Instant::now();
        let shared = Shared::<S>::new(executor.contexts(), &input.mesh, input.material, input.domain, &options)?;
        executor.finish()?;
        let seconds_geometry = start.elapsed().as_secs_f64();
        let solver =
            Solver { args, input, executor, progress, tolerance, shared, seconds_geometry, memory: Vec::new() };
        let (highest, per_wavelength) = (input.highest_frequency(), solver.elements_per_wavelength());
        if per_wavelength < FEWEST_ELEMENTS {
            log::warn!(
                target: "clinalg",
                "{} elements per shear wavelength {} at the frequency {}; at least 4 are needed: refine the mesh or lower the frequency",
                number(per_wavelength, 3),
                number(input.material.shear_wavelength(highest), 4),
                shown(highest)
            );
        }
        Ok(solver)
    }

    /// The problem on the first device.
    pub(super) fn problem(&self) -> &Problem<S> {
        &self.shared.parts()[0]
    }

    /// Those at the highest frequency.
    pub(super) fn elements_per_wavelength(&self) -> f64 {
        self.problem().elements_per_wavelength(self.input.highest_frequency())
    }

    /// Solves at the frequencies that are left; returns the last solution, if there is one, and the checkpoint written.
    pub(super) fn run(
        &mut self,
        sweep: &mut Sweep<S>,
        checkpoints: &Checkpoints,
        out: &mut Output,
    ) -> Result<(Option<LastSolution>, Option<String>), Failure> {
        let Input { mesh, points, frequencies, .. } = self.input;
        let (mut last, mut written) = (None, None);
        let first = sweep.responses.len();
        for (k, &frequency) in frequencies.iter().enumerate().skip(first) {
            let solved = self.solve(frequency, &mut sweep.memory, out)?;
            out.phase("output");
            // The lines of frequencies that are done.
            let done = sweep.table.len();
            if let Some((mut response, solution)) = solved {
                let fields = self.at_points(|problem| problem.evaluate(&solution, points))?;
                append(&mut sweep.table, frequency, mesh, points, &fields, &solution);
                if k == first {
                    response.seconds_assemble += self.seconds_geometry;
                }
                sweep.responses.push(response);
                last = Some((solution, fields));
            }
            let limit = sweep.responses.last().is_some_and(|r| r.stop == Some(Stop::IterationLimit));
            let unfinished = sweep.responses.len() == k || !sweep.memory.is_empty();
            let ends = interrupt::interrupted() || (limit && checkpoints.is_given());
            if k + 1 == frequencies.len() && !unfinished {
                break;
            }
            // What was found in an unfinished solve is reported, and found again.
            let table = if unfinished { &sweep.table[..done] } else { &sweep.table };
            let path = checkpoints.write(interrupt::interrupted(), |path| {
                let fingerprint = fingerprint::<S>(self.args, self.input);
                sweep.save(path, fingerprint, k + usize::from(!unfinished), table)
            })?;
            written = path.or(written);
            sweep.memory = KrylovMemory::default();
            if ends {
                break;
            }
        }
        Ok((last, written))
    }

    /// The fields at the points in the material, if any are given.
    pub(super) fn at_points<V>(
        &self,
        fields: impl FnOnce(&Problem<S>) -> clinalg::Result<Vec<V>>,
    ) -> Result<Vec<V>, Failure> {
        if self.input.points.is_empty() { Ok(Vec::new()) } else { Ok(fields(self.problem())?) }
    }

    /// Assembles and solves at one frequency; GMRES continues with what is in `krylov` and leaves it there where it is ended. `None` where
    /// Ctrl-C comes before there is a solution.
    fn solve(
        &mut self,
        frequency: f64,
        krylov: &mut KrylovMemory<S>,
        out: &mut Output,
    ) -> Result<Option<(Response, Solution)>, Failure> {
        let fields = self.input.boundary.fields(self.problem(), frequency)?;
        let start = Instant::now();
        let assembly = self.assemble(frequency, out)?;
        let seconds_assemble = start.elapsed().as_secs_f64();
        if interrupt::interrupted() {
            return Ok(None);
        }
        let residual_identity = match (&fields.known, &assembly) {
            (Some((u, t)), Some(assembly)) => Some(assembly.residual(u, t)?),
            (Some((u, t)), None) => Some(self.shared.residual(frequency, u, t)?),
            (None, _) => None,
        };
        let mut response = Response::new(frequency, seconds_assemble, residual_identity);
        let solution = match (self.args.method, assembly) {
            (Method::Lu, Some(assembly)) => self.factorise(assembly, &fields, &mut response, out)?,
            (_, assembly) => Some(self.iterate(assembly, &fields, krylov, &mut response, out)?),
        };
        let Some(solution) = solution else { return Ok(None) };
        check_finite::<S>(frequency, &solution, residual_identity)?;
        let evaluations: f64 = self.shared.parts().iter().map(Problem::evaluations).sum();
        let rate = if self.args.otf { 0.0 } else { evaluations / seconds_assemble };
        response.measure(self.problem(), &fields, &solution, rate);
        Ok(Some((response, solution)))
    }

    /// H and G, unless they are computed in every product.
    fn assemble(&mut self, frequency: f64, out: &mut Output) -> Result<Option<SharedAssembly<S>>, Failure> {
        if self.args.otf {
            self.stage(frequency, "solving");
        } else {
            let size = self.shared.parts().iter().map(Problem::matrix_bytes).sum();
            self.stage(frequency, &format!("assembling H and G, {}", bytes(size)));
        }
        out.phase("assembly");
        let algorithm = match self.args.algorithm {
            AlgorithmArg::Tiled => Algorithm::Tiled,
            AlgorithmArg::Pairwise => Algorithm::Pairwise,
        };
        let memory = std::mem::take(&mut self.memory);
        let assembly = if self.args.otf { None } else { Some(self.shared.assemble_in(algorithm, frequency, memory)?) };
        self.executor.finish()?;
        Ok(assembly)
    }

    /// Says what goes on at a frequency, and how many of them are done.
    fn stage(&self, frequency: f64, what: &str) {
        let all = &self.input.frequencies;
        if all.len() == 1 {
            return self.progress.stage(what);
        }
        let done = all.iter().position(|other| *other == frequency).unwrap_or(0);
        let text = format!("frequency {}, {} of {}: {what}", number(frequency, 5), done + 1, all.len());
        self.progress.reached(done as f64 / all.len() as f64, text);
    }

    /// Solves by LU factors; `None` where Ctrl-C comes during the factorisation.
    fn factorise(
        &mut self,
        assembly: SharedAssembly<S>,
        fields: &BoundaryFields,
        response: &mut Response,
        out: &mut Output,
    ) -> Result<Option<Solution>, Failure> {
        self.stage(response.frequency, "factorising");
        out.phase("factorisation");
        let mut start = Instant::now();
        let factors = assembly.join()?.system(self.input.boundary.conditions())?.factorise()?;
        self.executor.finish()?;
        response.seconds_factor = Some(start.elapsed().as_secs_f64());
        if interrupt::interrupted() {
            return Ok(None);
        }
        out.phase("solve");
        start = Instant::now();
        let solution = factors.solve(&fields.given)?;
        // With several devices, the factors are not stored where the blocks were assembled.
        if self.shared.parts().len() == 1 {
            self.memory.push(factors.into());
        }
        // There is something to keep.
        interrupt::watch(self.args.checkpoint.is_some() || self.args.out.is_some());
        response.seconds_solve = start.elapsed().as_secs_f64();
        Ok(Some(solution))
    }

    /// Solves by GMRES.
    fn iterate(
        &mut self,
        assembly: Option<SharedAssembly<S>>,
        fields: &BoundaryFields,
        krylov: &mut KrylovMemory<S>,
        response: &mut Response,
        out: &mut Output,
    ) -> Result<Solution, Failure> {
        out.phase("solve");
        let start = Instant::now();
        let conditions = self.input.boundary.conditions();
        let system = match assembly {
            Some(assembly) => assembly.system(conditions)?,
            None => self.shared.on_the_fly(response.frequency, conditions)?,
        };
        let params =
            GmresParams::default().tolerance(self.tolerance).restart(200).max_iterations(self.args.max_iterations);
        interrupt::watch(self.args.checkpoint.is_some() || self.args.out.is_some());
        let (solution, report) = system.gmres_from(krylov, &fields.given, params, &mut |k, residual| {
            self.progress.step(k as u64, residual);
            interrupt::go_on()
        })?;
        response.converged = report.stop.is_success();
        response.stop = Some(report.stop);
        response.iterations = Some(report.iterations);
        self.memory = system.into_memory();
        response.seconds_solve = start.elapsed().as_secs_f64();
        Ok(solution)
    }
}

/// An error for values beyond the range of numbers.
fn check_finite<S: ComplexScalar>(
    frequency: f64,
    solution: &Solution,
    residual_identity: Option<f64>,
) -> Result<(), Failure> {
    let finite = |values: &[C64]| values.iter().map(|v| v.norm_sqr()).sum::<f64>().is_finite();
    if finite(solution.displacements()) && finite(solution.tractions()) && residual_identity.is_none_or(f64::is_finite)
    {
        return Ok(());
    }
    usage!(
        "the result at the frequency {} is not finite: values overflow {}; choose other units{}",
        shown(frequency),
        precision(S::PRECISION),
        if S::PRECISION == Precision::F32 { " or --precision f64" } else { "" }
    )
}
