//! Conjugate gradients.

use super::run::{Run, check_system};
use super::scalars::{self, Limits, MOST_AT_ONCE, Ring};
use super::{Operator, Params, Preconditioner, Report, Stop};
use crate::ops::{self, DotParts};
use crate::runtime::{Arg, Kernel, Range, Shape, files};
use crate::tune::{self, Choice, Needs, Op, Operation, Trial, both_precisions};
use crate::{Context, DeviceInfo, Precision, Real, Result, Vector};

/// Conjugate gradients for symmetric positive definite A, with an optional symmetric positive
/// definite preconditioner (Hestenes and Stiefel 1952; Saad, Iterative Methods for Sparse Linear
/// Systems, 2003, algorithms 6.18 and 9.1).
///
/// Owns four vectors of `n` values. One iteration takes a product with a dot product
/// ([`Operator::apply_dot`](crate::ops::Operator::apply_dot)) and two launches on vectors; with a preconditioner its own
/// work and one launch more. The scalars stay on the device: the host enqueues 1 to 32 iterations, the more the farther
/// the end is, reads what they found out and judges each. Iterations past the end are enqueued but change nothing, so
/// that x, the number of iterations and the history are those of an iteration at a time.
///
/// The residual may rise for long while the error falls, so the stagnation window is at least `n`.
///
/// A direction p with p'Ap <= 0 ends it with [`Stop::Indefinite`]; one with p'Ap below the machine
/// precision times the largest Rayleigh quotient met, with [`Stop::Breakdown`]: A is singular to
/// working precision. The same holds for the preconditioner, with the square of the precision.
///
/// ```no_run
/// use clinalg::solve::{Cg, Params};
/// use clinalg::{Context, Csr, Vector};
///
/// let context = Context::global()?;
/// let a = Csr::from_triplets(&context, 2, 2, &[(0, 0, 4.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 3.0)])?;
/// let b = Vector::from_slice(&context, &[1.0, 2.0])?;
/// let mut x = Vector::zeros(&context, 2)?;
/// let report = Cg::new(&context, 2)?.solve(&a, None, &b, &mut x, &Params::default())?;
/// println!("{report}: {:?}", x.to_vec()?);
/// # Ok::<(), clinalg::Error>(())
/// ```
#[derive(Debug)]
pub struct Cg<T: Real> {
    r: Vector<T>,
    z: Vector<T>,
    p: Vector<T>,
    q: Vector<T>,
    norms: DotParts<T>,
    scalars: Scalars<T>,
}

impl<T: Real> Cg<T> {
    /// A solver for systems of `n` equations.
    ///
    /// # Errors
    /// [`Error::Allocation`](crate::Error::Allocation), [`Error::NoFp64`](crate::Error::NoFp64).
    pub fn new(context: &Context, n: usize) -> Result<Cg<T>> {
        let vector = || Vector::uninit(context, n);
        let (norms, scalars) = (DotParts::new(context)?, Scalars::new(context)?);
        Ok(Cg { r: vector()?, z: vector()?, p: vector()?, q: vector()?, norms, scalars })
    }

    /// Solves A x = b from the start x, with the preconditioner `m`.
    ///
    /// # Errors
    /// Before any work, [`Error::Shape`](crate::Error::Shape),
    /// [`Error::Length`](crate::Error::Length) or [`Error::Context`](crate::Error::Context) that
    /// names `a`, `m`, `b` or `x`, and [`Error::Value`](crate::Error::Value) for a parameter; later,
    /// what the device reports. An iteration that does not converge is no error: see
    /// [`Report::stop`].
    pub fn solve(
        &mut self,
        a: &dyn Operator<T>,
        m: Option<&mut dyn Preconditioner<T>>,
        b: &Vector<T>,
        x: &mut Vector<T>,
        params: &Params,
    ) -> Result<Report> {
        self.solve_with(a, m, b, x, params, &mut |_, _| ())
    }

    /// As [`Cg::solve`]; `progress` gets the number of each iteration, 0 for the start, and its
    /// relative residual.
    ///
    /// # Errors
    /// As [`Cg::solve`].
    pub fn solve_with(
        &mut self,
        a: &dyn Operator<T>,
        mut m: Option<&mut dyn Preconditioner<T>>,
        b: &Vector<T>,
        x: &mut Vector<T>,
        params: &Params,
        progress: &mut dyn FnMut(usize, f64),
    ) -> Result<Report> {
        check_system(self.r.context(), self.r.len(), a, m.as_deref(), b, x)?;
        let (mut run, mut end) = Run::start(a, b, x, &mut self.r, &mut self.norms, params, progress)?;
        // The error falls in every step, but its residual may rise until the last of n steps.
        run.be_patient(self.r.len());
        let mut largest = 0.0;
        loop {
            if let Some(stop) = end {
                return Ok(run.report(stop));
            }
            let seen = self.cycle(&mut run, a, m.as_deref_mut(), x, &mut largest)?;
            end = run.confirm(seen, x, &mut self.r, &mut self.p, &mut self.q, &mut self.norms)?;
        }
    }

    /// Iterates from r = b - A x until there is a reason to stop. `largest` is the largest Rayleigh
    /// quotient of M^-1 A so far.
    fn cycle<'m>(
        &mut self,
        run: &mut Run<'_, T>,
        a: &dyn Operator<T>,
        mut m: Option<&mut (dyn Preconditioner<T> + 'm)>,
        x: &mut Vector<T>,
        largest: &mut f64,
    ) -> Result<Stop> {
        let Cg { r, z, p, q, scalars, .. } = self;
        let eps = T::epsilon().wide();
        let unit = run.rescale(r)?;
        let squares = (run.norm() / unit).powi(2);
        let rho = match &mut m {
            Some(m) => {
                m.apply(r, z)?;
                ops::copy(z, p)?;
                scalars.rhos.set(r, z)?;
                scalars.rhos.value()?
            }
            None => {
                ops::copy(r, p)?;
                squares
            }
        };
        if !rho.is_finite() {
            return Ok(Stop::NotFinite);
        }
        // p'Mp by its recurrence, as r is orthogonal to the former p.
        scalars.start(Row { rho, squares, square: rho, largest: *largest, ..Row::default() })?;
        let limits = Limits::<T>::new(unit, run.squares_to_reach(unit), run.squares_to_diverge(unit));
        // The largest Rayleigh quotient of M^-1.
        let mut steepest = 0.0;
        let mut block = 1;
        loop {
            block = run.block(block, MOST_AT_ONCE);
            for _ in 0..block {
                a.apply_dot(p, q, &mut scalars.dots)?;
                scalars.residual(&limits, q, r)?;
                if let Some(m) = &mut m {
                    m.apply(r, z)?;
                    scalars.rhos.set(r, z)?;
                }
                scalars.direction(&limits, m.is_some(), if m.is_some() { z } else { r }, x, p)?;
            }
            for (row, next) in scalars.read(block)? {
                let Row { rho, squares, square, curvature, .. } = row;
                if !rho.is_finite() {
                    return Ok(Stop::NotFinite);
                }
                let singular = eps * eps * steepest;
                if rho / squares <= singular {
                    return Ok(semidefinite(rho / squares, singular));
                }
                steepest = f64::max(steepest, rho / squares);
                if !curvature.is_finite() {
                    return Ok(Stop::NotFinite);
                }
                let quotient = curvature / square;
                let singular = eps * *largest;
                if quotient <= singular {
                    return Ok(semidefinite(quotient, singular));
                }
                *largest = largest.max(quotient);
                if row.made == 0.0 {
                    // The device's margin: a hair above what counts as singular here, or a step of length 0.
                    return Ok(Stop::Breakdown);
                }
                let norm = unit * next.squares.sqrt();
                if let Some(stop) = run.record(norm, norm) {
                    return Ok(stop);
                }
                if next.stop != 0.0 {
                    // The device's margin above the tolerance; the true residual decides.
                    return Ok(Stop::Converged);
                }
            }
        }
    }
}

/// What a Rayleigh quotient of at most `singular`, the least that counts as positive, says.
fn semidefinite(quotient: f64, singular: f64) -> Stop {
    if singular > 0.0 && quotient >= -singular { Stop::Breakdown } else { Stop::Indefinite }
}

/// Numbers of a row.
const NUMBERS: usize = 8;

/// What an iteration starts from and finds out; `krylov.cl` says what the numbers are.
#[derive(Debug, Clone, Copy, Default)]
struct Row {
    rho: f64,
    squares: f64,
    square: f64,
    largest: f64,
    steepest: f64,
    stop: f64,
    curvature: f64,
    made: f64,
}

impl Row {
    fn of(n: [f64; NUMBERS]) -> Row {
        let [rho, squares, square, largest, steepest, stop, curvature, made] = n;
        Row { rho, squares, square, largest, steepest, stop, curvature, made }
    }

    fn numbers(self) -> [f64; NUMBERS] {
        let Row { rho, squares, square, largest, steepest, stop, curvature, made } = self;
        [rho, squares, square, largest, steepest, stop, curvature, made]
    }
}

/// The scalars of conjugate gradients on the device.
#[derive(Debug)]
struct Scalars<T: Real> {
    ring: Ring<T, NUMBERS>,
    /// p'Ap, r'r and r'z in parts.
    dots: DotParts<T>,
    squares: DotParts<T>,
    rhos: DotParts<T>,
}

impl<T: Real> Scalars<T> {
    fn new(context: &Context) -> Result<Scalars<T>> {
        let parts = || DotParts::new(context);
        Ok(Scalars { ring: Ring::new(context)?, dots: parts()?, squares: parts()?, rhos: parts()? })
    }

    fn start(&mut self, first: Row) -> Result<()> {
        self.ring.start(first.numbers())
    }

    /// The last `count` iterations enqueued, each with its successor's row.
    fn read(&self, count: usize) -> Result<impl Iterator<Item = (Row, Row)> + use<T>> {
        Ok(self.ring.read(count)?.map(|(row, next)| (Row::of(row), Row::of(next))))
    }

    /// r -= step q.
    fn residual(&mut self, limits: &Limits<T>, q: &Vector<T>, r: &mut Vector<T>) -> Result<()> {
        let (context, n) = (q.context(), q.len());
        let (kernel, count, range) = scalars::update::<T>(context, ["cg_residual_gpu", "cg_residual_cpu"], n);
        let [dots, dot_parts] = self.dots.args();
        let [rows, at] = self.ring.row();
        let args = [
            Arg::size(n),
            dots,
            dot_parts,
            rows,
            at,
            limits.unsound.arg().0,
            q.buffer().arg(),
            r.buffer().arg(),
            self.squares.parts(count),
        ];
        context.run(&kernel, range, &args)
    }

    /// x += unit step p, p = z + beta p, and on to the next iteration. r'z is that of `rhos` where z is not r.
    fn direction(
        &mut self,
        limits: &Limits<T>,
        preconditioned: bool,
        z: &Vector<T>,
        x: &mut Vector<T>,
        p: &mut Vector<T>,
    ) -> Result<()> {
        let (context, n) = (z.context(), z.len());
        let (kernel, range) = match context.shape() {
            Shape::Gpu => {
                let [local, width, _, groups, ..] = context.choice(Op::Cg, T::PRECISION, n);
                let most = context.units() * groups as usize;
                let groups = n.div_ceil((ITEMS * local * width) as usize).min(most.max(1));
                (
                    scalars::gpu::<T>("cg_direction_gpu", local, width),
                    Range::d1(groups * local as usize, local as usize),
                )
            }
            Shape::Cpu => {
                let kernel = Kernel::new(&files::KRYLOV, "cg_direction_cpu", T::PRECISION);
                (kernel, Range::d1(context.chunks().min(n), 1))
            }
        };
        let [squares, square_parts] = self.squares.args();
        let [rhos, rho_parts] = if preconditioned { self.rhos.args() } else { self.squares.args() };
        let [rows, at] = self.ring.row();
        let args = [
            Arg::size(n),
            squares,
            square_parts,
            rhos,
            rho_parts,
            rows,
            at,
            self.ring.advance(),
            limits.unsound.arg().0,
            limits.low.arg().0,
            limits.high.arg().0,
            limits.unit.arg().0,
            z.buffer().arg(),
            x.buffer().arg(),
            p.buffer().arg(),
        ];
        context.run(&kernel, range, &args)
    }
}

/// Reads that an item of `cg_direction_gpu` has under way; `ITEMS` in `krylov.cl`.
const ITEMS: u32 = 4;

/// The most sums that one of the launches makes at once, each with a place per item.
const SUMS: usize = 3;

/// The parameters of the launches on vectors of conjugate gradients and BiCGStab, on a GPU; tried on the former.
pub(crate) static TUNING: Operation = Operation {
    name: "cg",
    about: "the vector updates of conjugate gradients and BiCGStab",
    shape: Shape::Gpu,
    parameters: &[
        ("local", "items of a work-group, a power of two"),
        ("width", "elements that an item reads at once: 1, 2 or 4"),
        ("groups", "work-groups per compute unit of the update of r"),
        ("spread", "work-groups per compute unit of the update of x and p"),
    ],
    per_item: |&[_, width, ..]| width * ITEMS,
    needs,
    // NVIDIA H200: 99 and 97 % of the copy bandwidth.
    default: |device, precision, _| {
        let local = tune::local_size(device, 256, SUMS * precision.bytes());
        [local, 16 / precision.bytes() as u32, 4, 64, 0, 0]
    },
    candidates,
    largest: 27,
    check: both_precisions!(check),
    trial: both_precisions!(trial),
};

fn needs(&[local, width, groups, spread, ..]: &Choice, precision: Precision) -> Option<Needs> {
    let sound = local.is_power_of_two() && [1, 2, 4].contains(&width) && groups > 0 && spread > 0;
    sound.then_some(Needs {
        group: local as usize,
        local_bytes: SUMS * local as usize * precision.bytes(),
        tensor: false,
    })
}

fn candidates(_: &DeviceInfo, _: Precision) -> Vec<Choice> {
    let mut all = Vec::new();
    for local in [64, 128, 256, 512, 1024] {
        for width in [1, 2, 4] {
            for groups in [512, 1024, 2048].map(|items| items / local).into_iter().filter(|&groups| groups > 0) {
                all.extend([8, 32, 128].map(|spread| [local, width, groups, spread, 0, 0]));
            }
        }
    }
    all
}

/// Vectors of one iteration, and its scalars.
struct Iteration<T: Real> {
    scalars: Scalars<T>,
    limits: Limits<T>,
    x: Vector<T>,
    r: Vector<T>,
    p: Vector<T>,
    q: Vector<T>,
}

impl<T: Real> Iteration<T> {
    /// With rho = 2, p'Ap = 1 and the unit 1 the step is 2.
    fn new(context: &Context, [x, r, p, q]: [Vector<T>; 4]) -> Result<Iteration<T>> {
        let mut scalars = Scalars::new(context)?;
        let one = Vector::filled(context, 1, T::one())?;
        scalars.dots.set(&one, &one)?;
        let limits = Limits::<T>::new(1.0, -1.0, T::max_value().wide() / 2.0);
        Ok(Iteration { scalars, limits, x, r, p, q })
    }

    fn make(&mut self) -> Result<()> {
        self.scalars.residual(&self.limits, &self.q, &mut self.r)?;
        self.scalars.direction(&self.limits, false, &self.r, &mut self.x, &mut self.p)
    }

    fn start(&mut self) -> Result<()> {
        self.scalars.start(Row { rho: 2.0, squares: 2.0, square: 2.0, ..Row::default() })
    }
}

fn check<T: Real>(context: &Context, n: usize) -> Result<Option<String>> {
    let [mut x, mut r, mut p, q] = [1, 2, 3, 4].map(|seed| tune::whole_numbers::<T>(n, seed));
    let on_device = |v: &[T]| Vector::from_slice(context, v);
    let mut iteration = Iteration::new(context, [on_device(&x)?, on_device(&r)?, on_device(&p)?, on_device(&q)?])?;
    iteration.start()?;
    iteration.make()?;
    let two = T::of(2.0);
    r.iter_mut().zip(&q).for_each(|(r, &q)| *r -= two * q);
    // Whole numbers, exact in any order.
    let squares: f64 = r.iter().map(|r| r.wide() * r.wide()).sum();
    let beta = T::of(squares / 2.0);
    x.iter_mut().zip(&p).for_each(|(x, &p)| *x += two * p);
    p.iter_mut().zip(&r).for_each(|(p, &r)| *p = r + beta * *p);
    let got = [iteration.x.to_vec()?, iteration.r.to_vec()?, iteration.p.to_vec()?];
    let parts = got.iter().zip([&x, &r, &p]).find_map(|(got, want)| tune::first_difference(got, want));
    let (row, next) = iteration.scalars.read(1)?.next().expect("one iteration was made");
    let scalars = [row.curvature, row.made, next.squares, next.rho];
    Ok(parts.or_else(|| tune::first_difference(&scalars, &[1.0, 1.0, squares, squares])))
}

fn trial<T: Real>(context: &Context, n: usize) -> Result<Trial> {
    let zeros = || Vector::<T>::zeros(context, n);
    let mut iteration = Iteration::new(context, [zeros()?, zeros()?, zeros()?, zeros()?])?;
    iteration.start()?;
    // Of zeros, every iteration is the same and is made.
    let run = move || {
        iteration.scalars.ring.repeat();
        iteration.make()
    };
    Ok(Trial { bytes: (8 * n * size_of::<T>()) as u64, run: Box::new(run) })
}
