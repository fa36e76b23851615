//! Operations with their data on the device, and their times.

use std::time::{Duration, Instant};

use clinalg::multigrid::{self, Cycle, Grid, Poisson, PoissonParams};
use clinalg::runtime::KernelTiming;
use clinalg::solve::{Cg, CgParams, Operator, Solver, Stop};
use clinalg::wave::{Wave, WaveParams};
use clinalg::{Band, BandParts, Context, Csr, CsrParts, Dense, Error, Precision, Real, Vector, ops};
use clinalg_bem::Mesh;
use clinalg_bem::heat::{Form, HeatParams, HeatSpace, Kind, OperatorOptions};

use super::dense;
use super::document::KernelTime;
use super::operation::{Limit, Operation, Work};
use crate::data::random_numbers;
use crate::exit::Failure;

/// One operation with its data on the device.
pub(super) struct Case<T: Real> {
    pub(super) bytes: u64,
    pub(super) size: usize,
    pub(super) limit: Limit,
    /// Points times steps of a call, for steps on grids.
    pub(super) updates: Option<usize>,
    /// What it computes, for operations bound by that.
    pub(super) work: Option<Work>,
    /// Operations that one call makes.
    pub(super) parts: usize,
    /// Whether a single call is a sample, and at most three are taken.
    pub(super) long: bool,
    /// Whether the wait for the device is left out of the time.
    pub(super) host: bool,
    pub(super) call: Box<dyn FnMut() -> clinalg::Result<()>>,
    pub(super) data: std::marker::PhantomData<T>,
}

pub(super) struct Timed {
    pub(super) calls: usize,
    pub(super) samples: Vec<f64>,
    pub(super) kernels: Vec<KernelTime>,
}

/// The shortest sample.
const SAMPLE: Duration = Duration::from_millis(2);
/// Sweeps of Jacobi in a pass.
const SWEEPS: usize = 5;
/// V-cycles from one start.
const CYCLES: usize = 4;
/// Most iterations of conjugate gradients from one start.
const ITERATIONS: usize = 100;
/// Most points per side for heat operators: 256 time steps, 6144 triangles.
const MOST_HEAT: usize = 257;
/// Launches in a row of which the host's part is timed; drivers take so many without waiting.
const LAUNCHES: usize = 200;

/// Uniform in [-1, 1).
pub(super) fn random<T: Real>(len: usize, seed: u64) -> Vec<T> {
    let mut values = vec![T::zero(); len];
    random_numbers(seed).fill_host(&mut values);
    values
}

/// To the tolerance by default of the precision.
fn poisson_params<T: Real>() -> PoissonParams {
    let tolerance = if T::PRECISION == Precision::F32 { 1e-5 } else { 1e-10 };
    PoissonParams { tolerance, ..PoissonParams::default() }
}

/// Leapfrog at the Courant number 0.7.
fn wave_params(n: usize) -> WaveParams {
    let params = WaveParams::square(n);
    WaveParams { dt: params.dt_of(0.7), ..params }
}

impl<T: Real> Case<T> {
    pub(super) fn new(context: &Context, n: usize, operation: Operation) -> Result<Case<T>, Failure> {
        let points = n * n;
        let (two, half, weight) = (T::from_f64(2.0), T::from_f64(0.5), T::from_f64(0.8));
        match operation {
            Operation::Copy => Case::map(context, points, |[x], out| ops::copy(x, out)),
            Operation::Axpby => Case::map(context, points, move |[x, y], out| ops::axpby(two, x, half, y, out)),
            Operation::Update => {
                let (x, mut y) = (vector(context, points, 1)?, vector(context, points, 2)?);
                Ok(Case::moving(3 * points, points, Limit::Copy, move || ops::update(half, &x, half, &mut y)))
            }
            Operation::Scale => Case::map(context, points, move |[x], out| ops::scale(two, x, out)),
            Operation::Multiply => Case::map(context, points, |[x, y], out| ops::multiply(x, y, out)),
            Operation::Sum => Case::reduction(context, points, |[x]| ops::sum(x)),
            Operation::Norm1 => Case::reduction(context, points, |[x]| ops::norm1(x)),
            Operation::Norm2 => Case::reduction(context, points, |[x]| ops::norm2(x)),
            Operation::NormInf => Case::reduction(context, points, |[x]| ops::norm_inf(x)),
            Operation::Dot => Case::reduction(context, points, |[x, y]| ops::dot(x, y)),
            Operation::MvCsrPoisson5 => {
                let a = Csr::from_parts(context, &poisson5::<T>(n))?;
                let bytes = csr_bytes::<T>(points, a.nnz());
                Ok(Case { bytes, ..Case::product(context, a, points)? })
            }
            Operation::MvBand => Case::band(context, points),
            Operation::MvDense | Operation::MvDenseTransposed => {
                let a = Dense::from_column_major(context, n, n, &random::<T>(points, 3))?;
                let (x, mut y) = (vector(context, n, 1)?, vector(context, n, 2)?);
                let transposed = operation == Operation::MvDenseTransposed;
                Ok(Case::moving(points + 2 * n, points, Limit::Read, move || match transposed {
                    false => ops::mv(T::one(), &a, &x, T::zero(), &mut y),
                    true => ops::mv_transposed(T::one(), &a, &x, T::zero(), &mut y),
                }))
            }
            Operation::Jacobi | Operation::JacobiFused => {
                let sweeps = if operation == Operation::Jacobi { 1 } else { SWEEPS };
                let sweep = move |[u, f]: [&_; 2], out: &mut _| multigrid::jacobi(u, f, out, sweeps, weight);
                Ok(Case { updates: Some(sweeps * points), ..Case::map(context, points, sweep)? })
            }
            Operation::RedBlack => {
                let sweep = |[u, f]: [&_; 2], out: &mut _| multigrid::red_black(u, f, out, 1);
                Ok(Case { updates: Some(points), ..Case::map(context, points, sweep)? })
            }
            Operation::Defect => Case::map(context, points, |[u, f], out| multigrid::defect(u, f, out)),
            Operation::Restrict => {
                let (fine, mut out) = (vector::<T>(context, points, 1)?, vector(context, coarse(n), 2)?);
                let call = move || multigrid::restrict(&fine, &mut out);
                Ok(Case::moving(points + coarse(n), points, Limit::Copy, call))
            }
            Operation::Interpolate => {
                let (small, mut out) = (vector::<T>(context, coarse(n), 1)?, vector(context, points, 2)?);
                let call = move || multigrid::interpolate(&small, &mut out);
                Ok(Case::moving(points + coarse(n), points, Limit::Copy, call))
            }
            Operation::PoissonVcycle => Case::cycles(context, n),
            Operation::PoissonSolve | Operation::PoissonSolveW => {
                let cycle = if operation == Operation::PoissonSolve { Cycle::V } else { Cycle::W };
                Case::poisson(context, &Grid::square(n), PoissonParams { cycle, ..poisson_params::<T>() })
            }
            Operation::PoissonFmg | Operation::Poisson3Fmg => {
                let grid = Grid::new(&vec![n; operation.dimensions()]);
                let params = PoissonParams { cycle: Cycle::Full, max_cycles: 1, ..poisson_params::<T>() };
                Case::poisson(context, &grid, params)
            }
            Operation::WaveLeapfrog => Case::wave(context, n, 1),
            Operation::WaveFused => Case::wave(context, n, 8),
            Operation::CgIteration => Case::cg_iteration(context, n),
            Operation::Enqueue => {
                let scale = Case::map(context, 1024, move |[x], out| ops::scale(two, x, out))?;
                Ok(Case { bytes: 0, host: true, ..scale })
            }
            Operation::CgPoisson => Case::cg(context, n),
            Operation::Gemm | Operation::Lu | Operation::Cholesky | Operation::Qr | Operation::TriangularSolve => {
                dense::case(context, n, operation)
            }
            Operation::HeatV => Case::heat(context, n, Kind::V),
            Operation::HeatK => Case::heat(context, n, Kind::K),
            Operation::HeatKs => Case::heat(context, n, Kind::Ks),
            Operation::HeatD => Case::heat(context, n, Kind::D),
        }
    }

    pub(super) fn of(bytes: u64, size: usize, limit: Limit, call: Box<dyn FnMut() -> clinalg::Result<()>>) -> Case<T> {
        Case {
            bytes,
            size,
            limit,
            updates: None,
            work: None,
            parts: 1,
            long: false,
            host: false,
            call,
            data: std::marker::PhantomData,
        }
    }

    /// A call that moves so many values.
    fn moving(
        values: usize,
        size: usize,
        limit: Limit,
        call: impl FnMut() -> clinalg::Result<()> + 'static,
    ) -> Case<T> {
        Case::of((values * size_of::<T>()) as u64, size, limit, Box::new(call))
    }

    /// Reads `N` vectors and writes one.
    fn map<const N: usize>(
        context: &Context,
        points: usize,
        call: impl Fn([&Vector<T>; N], &mut Vector<T>) -> clinalg::Result<()> + 'static,
    ) -> Result<Case<T>, Failure> {
        let inputs = vectors::<T, N>(context, points)?;
        let mut out = vector(context, points, N as u64 + 1)?;
        Ok(Case::moving((N + 1) * points, points, Limit::Copy, move || call(inputs.each_ref(), &mut out)))
    }

    /// Reads `N` vectors.
    fn reduction<const N: usize>(
        context: &Context,
        points: usize,
        call: impl Fn([&Vector<T>; N]) -> clinalg::Result<T> + 'static,
    ) -> Result<Case<T>, Failure> {
        let inputs = vectors::<T, N>(context, points)?;
        Ok(Case::moving(N * points, points, Limit::Read, move || call(inputs.each_ref()).map(drop)))
    }

    /// A product with a matrix of as many rows and columns, which is not counted.
    fn product(context: &Context, a: impl Operator<T> + 'static, rows: usize) -> Result<Case<T>, Failure> {
        let (x, mut y) = (vector(context, rows, 1)?, vector(context, rows, 2)?);
        Ok(Case::moving(2 * rows, rows, Limit::Read, move || ops::mv(T::one(), &a, &x, T::zero(), &mut y)))
    }

    /// A product with a matrix of five diagonals.
    fn band(context: &Context, points: usize) -> Result<Case<T>, Failure> {
        let mut parts = BandParts::zeros(points, points, 2, 2)?;
        parts.data = random(parts.data.len(), 3);
        // Outside the matrix the diagonals hold zeros.
        for (d, i) in [(0, 0), (0, 1), (1, 0), (3, points - 1), (4, points - 1), (4, points - 2)] {
            parts.data[d * points + i] = T::zero();
        }
        let product = Case::product(context, Band::from_parts(context, &parts)?, points)?;
        Ok(Case { bytes: (7 * points * size_of::<T>()) as u64, ..product })
    }

    /// V-cycles from zero.
    fn cycles(context: &Context, n: usize) -> Result<Case<T>, Failure> {
        let points = n * n;
        let params = PoissonParams { tolerance: 0.0, max_cycles: CYCLES, ..PoissonParams::default() };
        let mut poisson = Poisson::<T>::new(context, &Grid::square(n), &params)?;
        let (f, mut u) = (vector(context, points, 1)?, Vector::zeros(context, points)?);
        let call = move || {
            u.fill(T::zero())?;
            poisson.solve_device(&f, &mut u).map(drop)
        };
        Ok(Case { parts: CYCLES, ..Case::moving(18 * points, points, Limit::Copy, call) })
    }

    /// Steps of the wave equation: one step reads two grids and writes one, a pass of several reads and writes two.
    fn wave(context: &Context, n: usize, steps: usize) -> Result<Case<T>, Failure> {
        let points = n * n;
        let mut wave = Wave::<T>::new(context, &wave_params(n))?;
        wave.start_device(&vector(context, points, 1)?, None)?;
        let values = if steps == 1 { 3 } else { 4 };
        let case = Case::moving(values * points, points, Limit::Copy, move || wave.step(steps).map(drop));
        Ok(Case { updates: Some(steps * points), ..case })
    }

    /// A solution from zero; its bytes are those of the cycles that a first one takes: 18 values per point, 28 for the pass of
    /// full multigrid.
    fn poisson(context: &Context, grid: &Grid, params: PoissonParams) -> Result<Case<T>, Failure> {
        let points = grid.len();
        let mut poisson = Poisson::<T>::new(context, grid, &params)?;
        let f = Vector::from_slice(context, &random::<T>(points, 1))?;
        let mut u = Vector::zeros(context, points)?;
        let mut call = move || {
            u.fill(T::zero())?;
            poisson.solve_device(&f, &mut u)
        };
        let report = call()?;
        let values = match params.cycle {
            Cycle::Full => 28,
            _ if report.stop.is_success() => 18 * report.cycles,
            _ => return Err(Failure::NotConverged(format!("poisson_solve: {}", report.stop))),
        };
        let bytes = (values * points * size_of::<T>()) as u64;
        Ok(Case::of(bytes, points, Limit::Copy, Box::new(move || call().map(drop))))
    }

    /// Conjugate gradients; its bytes are those of the iterations that a first solve takes: a product and nine passes over
    /// vectors each.
    fn cg(context: &Context, n: usize) -> Result<Case<T>, Failure> {
        let size = (n - 2).pow(2);
        let a = Csr::from_parts(context, &poisson5::<T>(n - 2))?;
        let b = Vector::from_slice(context, &random::<T>(size, 1))?;
        let mut x = Vector::zeros(context, size)?;
        let mut cg = Cg::new(context, size, CgParams::default())?;
        let bytes = csr_bytes::<T>(size, a.nnz()) + (9 * size * size_of::<T>()) as u64;
        let mut call = move || {
            x.fill(T::zero())?;
            cg.solve(&a, None, &b, &mut x)
        };
        let report = call()?;
        if !matches!(report.stop, Stop::Converged | Stop::RoundingFloor) {
            return Err(Failure::NotConverged(format!("cg_poisson: {report}")));
        }
        let case = Case::of(bytes * report.iterations as u64, size, Limit::Copy, Box::new(move || call().map(drop)));
        Ok(Case { long: true, ..case })
    }

    /// A product with a heat operator on the cube, on the fly.
    fn heat(context: &Context, n: usize, kind: Kind) -> Result<Case<T>, Failure> {
        if n > MOST_HEAT {
            let (expected, got) = (format!("at most {MOST_HEAT} for heat operators"), n.to_string());
            return Err(Error::Value { argument: "n", expected, got }.into());
        }
        let level = (n - 1).ilog2() as usize;
        let cube = if level.is_multiple_of(2) { Mesh::cube24() } else { Mesh::cube12() };
        let mesh = cube.refined_times(level.div_ceil(2))?;
        let space = HeatSpace::<T>::new(context, &mesh, &HeatParams::new(0.5, 1.0, n - 1))?;
        let a = space.operator(kind, &OperatorOptions { form: Form::Otf, ..OperatorOptions::default() })?;
        let (rows, cols, steps) = a.block_shape();
        let bytes = (2 * rows * cols * steps * size_of::<T>()) as u64;
        let work = Some(Work { flops: a.flops()?, evaluations: Some(a.evaluations()) });
        let x = Vector::from_slice(context, &random::<T>(a.cols(), 1))?;
        let mut y = Vector::zeros(context, a.rows())?;
        let call = Box::new(move || a.apply(T::one(), &x, T::zero(), &mut y));
        Ok(Case { work, ..Case::of(bytes, mesh.triangles().len(), Limit::Fma, call) })
    }

    /// Its bytes are those of a product and eight passes over vectors.
    fn cg_iteration(context: &Context, n: usize) -> Result<Case<T>, Failure> {
        let size = (n - 2).pow(2);
        let a = Csr::from_parts(context, &poisson5::<T>(n - 2))?;
        let b = Vector::from_slice(context, &random::<T>(size, 1))?;
        let mut x = Vector::zeros(context, size)?;
        let params = CgParams::default().tolerance(f64::MIN_POSITIVE).max_iterations(ITERATIONS);
        let mut cg = Cg::new(context, size, params)?;
        let bytes = csr_bytes::<T>(size, a.nnz()) + (8 * size * size_of::<T>()) as u64;
        let mut call = move || {
            x.fill(T::zero())?;
            cg.solve(&a, None, &b, &mut x)
        };
        // On few unknowns it ends sooner.
        let parts = call()?.iterations.max(1);
        let case = Case::of(bytes, size, Limit::Copy, Box::new(move || call().map(drop)));
        Ok(Case { parts, ..case })
    }

    pub(super) fn measure(&mut self, context: &Context, samples: usize) -> Result<Timed, Failure> {
        let mut sample = |calls: usize| -> Result<Duration, Failure> {
            let start = Instant::now();
            for _ in 0..calls {
                (self.call)()?;
            }
            let enqueued = start.elapsed();
            context.finish()?;
            Ok(if self.host { enqueued } else { start.elapsed() })
        };
        let mut calls = if self.host { LAUNCHES } else { 1 };
        if self.host {
            sample(calls)?;
        } else if !self.long {
            // The first call builds the kernels.
            sample(1)?;
            while sample(calls)? < SAMPLE {
                calls *= 2;
            }
        }
        context.reset_timings();
        let samples = if self.long { samples.min(3) } else { samples };
        let times = (0..samples).map(|_| sample(calls)).collect::<Result<Vec<_>, Failure>>()?;
        let all = (samples * calls * self.parts) as f64;
        let per_call = |t: KernelTiming| KernelTime {
            kernel: t.kernel,
            launches_per_call: t.launches as f64 / all,
            seconds_per_call: t.seconds / all,
        };
        Ok(Timed {
            calls,
            samples: times.iter().map(|t| t.as_secs_f64() / (calls * self.parts) as f64).collect(),
            kernels: context.timings()?.into_iter().map(per_call).collect(),
        })
    }
}

/// Random values on the device.
fn vector<T: Real>(context: &Context, len: usize, seed: u64) -> clinalg::Result<Vector<T>> {
    Vector::from_slice(context, &random::<T>(len, seed))
}

/// The first `N` of them.
fn vectors<T: Real, const N: usize>(context: &Context, len: usize) -> clinalg::Result<[Vector<T>; N]> {
    let all: Vec<Vector<T>> = (1..=N as u64).map(|seed| vector(context, len, seed)).collect::<clinalg::Result<_>>()?;
    Ok(all.try_into().unwrap_or_else(|_| unreachable!("there are N")))
}

/// Points of the next coarser grid.
fn coarse(n: usize) -> usize {
    n.div_ceil(2).pow(2)
}

/// Values and columns once, offsets once, x read once, y written once.
fn csr_bytes<T: Real>(rows: usize, nnz: usize) -> u64 {
    ((size_of::<T>() + 4) * nnz + 4 * (rows + 1) + 2 * size_of::<T>() * rows) as u64
}

/// The 5-point matrix of m x m unknowns, scaled by h^2.
pub(super) fn poisson5<T: Real>(m: usize) -> CsrParts<T> {
    let (four, minus) = (T::from_f64(4.0), T::from_f64(-1.0));
    let mut a = CsrParts { rows: m * m, cols: m * m, offsets: vec![0], indices: Vec::new(), values: Vec::new() };
    a.indices.reserve(5 * m * m);
    a.values.reserve(5 * m * m);
    for j in 0..m {
        for i in 0..m {
            let k = j * m + i;
            let entries = [
                (j > 0).then(|| (k - m, minus)),
                (i > 0).then(|| (k - 1, minus)),
                Some((k, four)),
                (i + 1 < m).then_some((k + 1, minus)),
                (j + 1 < m).then_some((k + m, minus)),
            ];
            for (column, value) in entries.into_iter().flatten() {
                a.indices.push(column);
                a.values.push(value);
            }
            a.offsets.push(a.indices.len());
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_matrix_is_the_5_point_stencil() {
        let a = poisson5::<f64>(3);
        let mut b = CsrParts::from_triplets(9, 9, &clinalg_reference::grid2::poisson5_interior::<f64>(5)).unwrap();
        // That one is scaled by 1 / h^2 = 16.
        b.values.iter_mut().for_each(|v| *v /= 16.0);
        assert_eq!(a, b);
    }
}
