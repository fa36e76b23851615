//! Conjugate gradients for several right-hand sides.

use std::fmt;
use std::mem::swap;
use std::ops::ControlFlow;

use nalgebra::ComplexField;

use super::best::Start;
use super::block::{BlockScalar, Columns, Products, Small, orthonormalising};
use super::checked::{CheckedOperator, CheckedPreconditioner, check_own};
use super::monitor::{ConvergenceMonitor, Outcome};
use super::{CgParams, Operator, Preconditioner, Progress, Report, Stop, Stopping};
use crate::ops::reduce::largest;
use crate::ops::{self, scatter_signs};
use crate::{Context, Dense, Error, Real, Result, Vector, counted, number};

/// Block conjugate gradients for a symmetric (Hermitian) positive definite A and several right-hand sides, which share their search directions:
/// O'Leary, Linear Algebra Appl. 29 (1980), in the form of Dubrulle, Electron. Trans. Numer. Anal. 12 (2001), with an orthonormal basis of the
/// residuals, orthonormal in the inner product of the preconditioner where there is one.
///
/// An iteration minimises the error of every column over the directions of all, so that fewer iterations are needed than by [`Cg`](super::Cg) for each
/// column; its product with A takes all columns at once. Residuals that have become linearly dependent to working precision are dropped from the basis:
/// from then on an iteration has fewer directions. If this loses accuracy, the true residuals show it, and the solve restarts from them.
///
/// Each iteration reads two or three small matrices back. Owns seven blocks of the size of X, six without preconditioner, one more where the initial guess is
/// not zero, and four vectors. The preconditioner must be the same linear map in every iteration, not a K-cycle.
///
/// If the solve does not converge, each column of X is its iterate with the smallest residual ([`BlockReport::iterates`]), except where the callback stops it.
///
/// ```
/// use clinalg::solve::{BlockCg, CgParams};
/// use clinalg::{Context, Csr, Dense};
///
/// let (context, n) = (Context::global()?, 100_usize);
/// let entry = |i: usize, j: usize| (i, j, if i == j { 2.5 } else { -1.0 });
/// let entries: Vec<_> =
///     (0..n).flat_map(|i| [i.checked_sub(1), Some(i), (i + 1 < n).then_some(i + 1)].into_iter().flatten().map(move |j| entry(i, j))).collect();
/// let a = Csr::from_triplets(&context, n, n, &entries)?;
/// let b: Vec<f64> = (0..3 * n).map(|k| (k * k % 17) as f64).collect();
/// let b = Dense::from_column_major(&context, n, 3, &b)?;
/// let mut x = Dense::zeros(&context, n, 3)?;
/// let report = BlockCg::new(&context, n, 3, CgParams::default())?.solve(&a, None, &b, &mut x)?;
/// assert!(report.stop.is_success() && report.relative_residuals.iter().all(|&r| r <= 1e-10));
/// # Ok::<(), clinalg::Error>(())
/// ```
pub struct BlockCg<T: BlockScalar> {
    params: CgParams,
    work: Work<T>,
    best: BestColumns<T>,
    start: Start<Vector<T>>,
}

impl<T: BlockScalar> fmt::Debug for BlockCg<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, cols) = (self.work.q.rows(), self.work.q.cols());
        f.debug_struct("BlockCg").field("params", &self.params).field("rows", &rows).field("cols", &cols).finish()
    }
}

/// The outcome of a solve with several right-hand sides.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct BlockReport {
    /// Why the iteration ended.
    pub stop: Stop,
    /// Iterations done.
    pub iterations: usize,
    /// |b - A x| / |b| of each column in the Euclidean norm, computed from the returned X; 0 where b = 0, whose solution x = 0 is returned.
    pub relative_residuals: Vec<f64>,
    /// The number of the iterate returned in each column of X: `iterations` or, if the solve did not converge, that of an earlier one with a smaller residual; 0
    /// is the initial guess.
    pub iterates: Vec<usize>,
    /// The largest residual at the start and after each iteration, `iterations + 1` numbers: those of the recurrence, the last one the true one.
    pub history: Vec<f64>,
    /// The smallest number of search directions of an iteration: less than the number of columns if residuals became linearly dependent.
    pub least_directions: usize,
}

impl BlockReport {
    /// The report of the column with the largest residual.
    pub fn worst(&self) -> Report {
        let mut report = Report::new(self.stop, self.history.clone());
        report.iterate = worst_of(&self.relative_residuals).map_or(report.iterations, |k| self.iterates[k]);
        report
    }
}

impl fmt::Display for BlockReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let largest = self.history.last().copied().unwrap_or(f64::NAN);
        let iterations = counted(self.iterations, "iteration");
        write!(f, "{} after {iterations}, largest relative residual {}", self.stop, number(largest, 3))
    }
}

/// The blocks of a solve.
struct Work<T: BlockScalar> {
    /// The basis of the residuals, and the memory for the next one.
    q: Dense<T>,
    spare: Dense<T>,
    /// M^-1 Q, once there was a preconditioner.
    z: Option<Dense<T>>,
    /// The directions, and the memory for the next ones.
    s: Dense<T>,
    next: Dense<T>,
    /// A S.
    t: Dense<T>,
    products: Products<T>,
    from: Vector<T>,
    to: Vector<T>,
}

/// The best iterate of each column, as [`Best`](super::best::Best) keeps that of a vector. Norms are relative residuals.
struct BestColumns<T: BlockScalar> {
    x: Dense<T>,
    norm: Vec<f64>,
    at: Vec<usize>,
    last: Vec<f64>,
}

impl<T: BlockScalar> BestColumns<T> {
    fn start(&mut self, x: &Dense<T>, relative: &[f64]) -> Result<()> {
        (self.norm, self.last) = (relative.to_vec(), relative.to_vec());
        self.at = vec![0; relative.len()];
        self.x.as_vector_mut().copy_from(x.as_vector())
    }

    /// Before these columns of x, iterate number `at`, are replaced by those with the residuals `next`.
    fn before(&mut self, x: &Dense<T>, at: usize, columns: &[usize], next: &[f64]) -> Result<()> {
        for (&k, &next) in columns.iter().zip(next) {
            let rises = next.is_nan() || next > self.last[k];
            if rises && self.last[k] < self.norm[k] {
                self.keep(x, k, self.last[k], at)?;
            }
            self.last[k] = next;
        }
        Ok(())
    }

    fn keep(&mut self, x: &Dense<T>, column: usize, norm: f64, at: usize) -> Result<()> {
        (self.norm[column], self.at[column]) = (norm, at);
        copy_column(x.as_vector(), &mut self.x, column)
    }
}

/// Copies a column of a block given as a vector.
fn copy_column<T: BlockScalar>(from: &Vector<T>, to: &mut Dense<T>, column: usize) -> Result<()> {
    let n = to.rows();
    let range = column * n..(column + 1) * n;
    to.as_vector_mut().slice_mut(range.clone())?.copy_from(from.slice(range)?)
}

/// The columns that are iterated on.
struct Active {
    columns: Vec<usize>,
    /// |b - A x| of each at the last restart, by which residuals are divided so that squares stay in range.
    scale: Vec<f64>,
}

impl<T: BlockScalar> BlockCg<T> {
    /// Maximum number of right-hand sides: the small matrices on the host grow with the square of their number.
    pub const MOST_COLUMNS: usize = 256;

    /// A solver for systems of `n` equations with `columns` right-hand sides.
    ///
    /// # Errors
    /// [`Error::Value`] for no column or more than [`Self::MOST_COLUMNS`]; [`Error::Allocation`]; [`Error::NoFp64`].
    pub fn new(context: &Context, n: usize, columns: usize, params: CgParams) -> Result<BlockCg<T>> {
        if !(1..=Self::MOST_COLUMNS).contains(&columns) {
            return Err(Error::value("columns", format!("1 to {}", Self::MOST_COLUMNS), columns));
        }
        let block = || Dense::zeros(context, n, columns);
        let work = Work {
            q: block()?,
            spare: block()?,
            z: None,
            s: block()?,
            next: block()?,
            t: block()?,
            products: Products::new(context, n, columns)?,
            from: Vector::zeros(context, n)?,
            to: Vector::zeros(context, n)?,
        };
        let best = BestColumns { x: block()?, norm: Vec::new(), at: Vec::new(), last: Vec::new() };
        Ok(BlockCg { params, work, best, start: Start::new() })
    }

    /// The stopping criteria of the next solve, for changes.
    pub fn stopping_mut(&mut self) -> &mut Stopping {
        &mut self.params.stopping
    }

    /// [`BlockCg::solve_with`] without a progress callback.
    ///
    /// # Errors
    /// As [`BlockCg::solve_with`].
    pub fn solve(
        &mut self,
        a: &dyn Operator<T>,
        m: Option<&mut dyn Preconditioner<T>>,
        b: &Dense<T>,
        x: &mut Dense<T>,
    ) -> Result<BlockReport> {
        self.solve_with(a, m, b, x, &mut |_, _| ControlFlow::Continue(()))
    }

    /// Solves A X = B from the start X, with the symmetric positive definite preconditioner `m`, and calls `progress` with the number of each
    /// iteration and the largest relative residual. The tolerance holds for every column.
    ///
    /// # Errors
    /// Before any work, [`Error::Shape`] or [`Error::Context`] that names `a`, `m`, `b` or `x`, and [`Error::Value`] for a parameter; later, what the
    /// device reports. An iteration that does not converge is not an error: see [`BlockReport::stop`].
    pub fn solve_with(
        &mut self,
        a: &dyn Operator<T>,
        m: Option<&mut dyn Preconditioner<T>>,
        b: &Dense<T>,
        x: &mut Dense<T>,
        progress: Progress<'_>,
    ) -> Result<BlockReport> {
        let BlockCg { work, best, start, .. } = self;
        work.check(a, m.as_deref(), b, x)?;
        self.params.stopping.check()?;
        let n = b.rows();
        let a = &CheckedOperator::new(a, n);
        let mut m = m.map(|m| CheckedPreconditioner::new(m, n));
        let mut m = m.as_mut().map(|m| m as &mut dyn Preconditioner<T>);
        if m.is_some() && work.z.is_none() {
            work.z = Some(Dense::zeros(work.from.context(), n, b.cols())?);
        }
        let of_b = (0..b.cols()).map(|k| work.norm_of(b, k)).collect::<Result<Vec<_>>>()?;
        for k in (0..b.cols()).filter(|&k| of_b[k] == 0.0) {
            work.from.fill(T::zero())?;
            x.as_vector_mut().write_slice(k * n, &work.from)?;
        }
        let stopping = self.params.stopping.clone();
        let tolerance = stopping.tolerance_of::<T>();
        // Relative residuals are those of a right-hand side of norm 1.
        let mut monitor = ConvergenceMonitor::new::<T::Real>(1.0, stopping, tolerance, progress);
        monitor.set_min_window(n);
        let mut least = b.cols();
        let mut relative = work.residuals(a, b, x, &of_b)?;
        let stop = monitor.enter(largest(relative.iter().copied()));
        let mut end = monitor.begin(stop);
        let first = relative.clone();
        start.keep(x.as_vector())?;
        best.start(x, &relative)?;
        let stop = loop {
            if let Some(stop) = end {
                break stop;
            }
            let columns: Vec<usize> = (0..b.cols()).filter(|&k| relative[k] > tolerance).collect();
            let scale = columns.iter().map(|&k| relative[k] * of_b[k]).collect();
            let active = Active { columns, scale };
            let seen = work.cycle(&mut monitor, a, m.as_deref_mut(), x, (&active, best), &of_b, &mut least)?;
            relative = work.residuals(a, b, x, &of_b)?;
            end = match monitor.enter(largest(relative.iter().copied())) {
                Some(stop) => Some(stop),
                None => match monitor.outcome(seen) {
                    Outcome::End(stop) => Some(stop),
                    Outcome::Restart => None,
                    Outcome::AtRounding => {
                        let worst = worst_of(&relative).unwrap_or(0);
                        Some(monitor.end_at(seen, work.rounding(a, x, worst, &of_b)?))
                    }
                },
            };
            if end.is_none() {
                work.look(a, (b, x), best, (&relative, monitor.iterations()), &of_b)?;
            }
        };
        let mut iterates = vec![monitor.iterations(); b.cols()];
        let mut stop = stop;
        if !matches!(stop, Stop::Converged | Stop::Cancelled) && monitor.iterations() > 0 {
            let lengths = match stop {
                Stop::RoundingFloor => (0..b.cols()).map(|k| work.norm_of(x, k)).collect::<Result<Vec<_>>>()?,
                _ => Vec::new(),
            };
            let last = monitor.iterations();
            let own = match (0..b.cols()).any(|k| is_less(best.norm[k], relative[k])) {
                true => work.residuals(a, b, &best.x, &of_b)?,
                false => vec![f64::NAN; b.cols()],
            };
            for k in 0..b.cols() {
                if is_less(own[k], relative[k]) {
                    copy_column(best.x.as_vector(), x, k)?;
                    (relative[k], iterates[k]) = (own[k], best.at[k]);
                }
                if is_less(first[k], relative[k]) {
                    match start.vector() {
                        Some(start) => copy_column(start, x, k)?,
                        None => x.as_vector_mut().slice_mut(k * n..(k + 1) * n)?.fill(T::zero())?,
                    }
                    (relative[k], iterates[k]) = (first[k], 0);
                }
            }
            monitor.enter(largest(relative.iter().copied()));
            let worst = worst_of(&relative).unwrap_or(0);
            if stop == Stop::RoundingFloor && iterates[worst] < last {
                let rounding = work.rounding(a, x, worst, &of_b)?;
                stop = monitor.end_after(lengths[worst], work.norm_of(x, worst)?, rounding);
            }
        }
        let report = monitor.report(stop);
        Ok(BlockReport {
            stop,
            iterations: report.iterations,
            relative_residuals: relative,
            iterates,
            history: report.history,
            least_directions: least,
        })
    }
}

/// Whether a residual is smaller than another one; NaN counts as the largest.
fn is_less(one: f64, other: f64) -> bool {
    one < other || one.is_finite() && !other.is_finite()
}

/// The column with the largest relative residual.
fn worst_of(relative: &[f64]) -> Option<usize> {
    (0..relative.len()).max_by(|&i, &j| relative[i].abs().total_cmp(&relative[j].abs()))
}

impl<T: BlockScalar> Work<T> {
    fn check(&self, a: &dyn Operator<T>, m: Option<&dyn Preconditioner<T>>, b: &Dense<T>, x: &Dense<T>) -> Result<()> {
        let (n, columns, context) = (self.q.rows(), self.q.cols(), self.from.context());
        let contexts = [("a", Some(a.context())), ("m", m.map(|m| m.context()))];
        let of_blocks = [("b", Some(b.as_vector().context())), ("x", Some(x.as_vector().context()))];
        for (argument, other) in contexts.into_iter().chain(of_blocks) {
            if other.is_some_and(|other| !context.same(other)) {
                return Err(Error::Context { argument });
            }
        }
        let of_m = m.map_or((n, n), |m| (m.size(), m.size()));
        let shapes = [
            ("a", (n, n), (a.rows(), a.cols())),
            ("m", (n, n), of_m),
            ("b", (n, columns), (b.rows(), b.cols())),
            ("x", (n, columns), (x.rows(), x.cols())),
        ];
        for (argument, wanted, (rows, cols)) in shapes {
            if wanted != (rows, cols) {
                let expected = format!("{} x {}", wanted.0, wanted.1);
                return Err(Error::Shape { argument, expected, got: format!("{rows} x {cols}") });
            }
        }
        check_own([&self.from, &self.to].into_iter().chain(self.products.columns()))
    }

    /// The norm of a column.
    fn norm_of(&mut self, of: &Dense<T>, column: usize) -> Result<f64> {
        let n = of.rows();
        self.from.buffer_mut().copy_from(of.as_vector().slice(column * n..(column + 1) * n)?)?;
        Ok(ops::norm2(&self.from)?.into_f64())
    }

    /// Leaves B - A X in the basis; the norm of each column, over that of b.
    fn residuals(&mut self, a: &dyn Operator<T>, b: &Dense<T>, x: &Dense<T>, of_b: &[f64]) -> Result<Vec<f64>> {
        let all = Columns { of: x, cols: x.cols() };
        self.products.apply(a, all, &mut self.t)?;
        self.products.copy(Columns { of: b, cols: b.cols() }, &mut self.q)?;
        ops::update(-T::one(), &self.t, T::one(), &mut self.q)?;
        let mut relative = Vec::with_capacity(b.cols());
        for (k, &of_b) in of_b.iter().enumerate() {
            let n = b.rows();
            self.from.buffer_mut().copy_from(self.q.as_vector().slice(k * n..(k + 1) * n)?)?;
            let norm = ops::norm2(&self.from)?.into_f64();
            relative.push(if norm == 0.0 { 0.0 } else { norm / of_b });
        }
        Ok(relative)
    }

    /// After the true residuals of X, whose norms are given with the number of the iterate, were left in the basis: keeps the columns of X unless those kept
    /// have smaller true residuals.
    fn look(
        &mut self,
        a: &dyn Operator<T>,
        (b, x): (&Dense<T>, &Dense<T>),
        best: &mut BestColumns<T>,
        (relative, at): (&[f64], usize),
        of_b: &[f64],
    ) -> Result<()> {
        best.last = relative.to_vec();
        if (0..b.cols()).any(|k| best.norm[k] < relative[k]) {
            best.norm = self.residuals(a, b, &best.x, of_b)?;
            self.residuals(a, b, x, of_b)?;
        }
        (0..b.cols())
            .filter(|&k| !is_less(best.norm[k], relative[k]))
            .collect::<Vec<_>>()
            .into_iter()
            .try_for_each(|k| best.keep(x, k, relative[k], at))
    }

    /// The rounding error of a residual, eps (|A s| + |b|) / |b| where s is the column with scattered signs.
    fn rounding(&mut self, a: &dyn Operator<T>, x: &Dense<T>, column: usize, of_b: &[f64]) -> Result<f64> {
        let n = x.rows();
        self.from.buffer_mut().copy_from(x.as_vector().slice(column * n..(column + 1) * n)?)?;
        scatter_signs(&self.from, &mut self.to)?;
        a.apply(T::one(), &self.to, T::zero(), &mut self.from)?;
        let product = ops::norm2(&self.from)?.into_f64();
        Ok(<T::Real as num_traits::Float>::epsilon().into_f64() * (product / of_b[column] + 1.0))
    }

    /// Iterates from the residuals in the basis until a stopping criterion is met.
    #[expect(clippy::too_many_arguments)]
    fn cycle(
        &mut self,
        monitor: &mut ConvergenceMonitor<'_>,
        a: &dyn Operator<T>,
        mut m: Option<&mut (dyn Preconditioner<T> + '_)>,
        x: &mut Dense<T>,
        (active, best): (&Active, &mut BestColumns<T>),
        of_b: &[f64],
        least: &mut usize,
    ) -> Result<Stop> {
        let eps = <T::Real as num_traits::Float>::epsilon().into_f64();
        let Work { q, spare, z, s, next, t, products, .. } = self;
        let (all, count) = (q.cols(), active.columns.len());
        let number = <T::Small as ComplexField>::from_real;
        let zero = number(0.0);
        let mut chosen = Small::from_element(all, count, zero);
        for (k, (&column, &scale)) in active.columns.iter().zip(&active.scale).enumerate() {
            chosen[(column, k)] = number(1.0 / scale);
        }
        products.combine(1.0, Columns { of: q, cols: all }, &chosen, 0.0, spare)?;
        swap(q, spare);
        let mut cols = count;
        // The residuals are the basis times these coefficients.
        let mut c = Small::from_element(count, count, zero);
        c.fill_with_identity();
        let mut fresh = true;
        // The step from the previous iterate.
        let mut to_x = None;
        loop {
            // An orthonormal basis of the residuals, and the next directions.
            let preconditioned = match (&mut m, &mut *z) {
                (Some(m), Some(z)) => {
                    products.precondition(&mut **m, Columns { of: q, cols }, z)?;
                    &*z
                }
                _ => &*q,
            };
            let own = Columns { of: q, cols };
            let [gram, squares] = match m {
                Some(_) if !fresh => products.grams([(own, Columns { of: preconditioned, cols }), (own, own)])?,
                _ => {
                    let gram = products.gram(own, Columns { of: preconditioned, cols })?;
                    [gram.clone(), gram]
                }
            };
            if let Some(to_x) = to_x.take() {
                let next = residuals_of(&squares, &c, active, of_b);
                best.before(x, monitor.iterations(), &active.columns, &next)?;
                products.combine_by(1.0, Columns { of: s, cols }, to_x, 1.0, x)?;
                let worst = largest(next.iter().copied());
                let seen = monitor.record(worst, worst);
                if let Some(seen) = seen.or(monitor.cancelled().then_some(Stop::Cancelled)) {
                    return Ok(seen);
                }
            }
            if gram.iter().any(|value| !(*value).modulus().is_finite()) {
                return Ok(Stop::NotFinite);
            }
            if (0..cols).any(|k| gram[(k, k)].real() < 0.0) {
                return Ok(Stop::Indefinite);
            }
            let basis = orthonormalising(&gram, eps, 0.0);
            let kept = basis.ncols();
            if kept == 0 {
                return Ok(Stop::Breakdown);
            }
            *least = (*least).min(kept);
            let w = basis.adjoint() * &gram;
            let [to_basis, to_directions] = products.upload([&basis, &w.adjoint()])?;
            products.combine_by(1.0, Columns { of: preconditioned, cols }, to_basis, 0.0, next)?;
            if !fresh {
                products.combine_by(1.0, Columns { of: s, cols }, to_directions, 1.0, next)?;
            }
            swap(s, next);
            products.combine_by(1.0, Columns { of: q, cols }, to_basis, 0.0, spare)?;
            swap(q, spare);
            c = w * c;
            (cols, fresh) = (kept, false);

            // The step. Columns after the directions belong to earlier ones; a product with all columns at once costs less than one for each.
            let width = if 2 * cols >= all { all } else { cols };
            products.apply(a, Columns { of: s, cols: width }, t)?;
            let curvature = products.gram(Columns { of: s, cols }, Columns { of: t, cols })?;
            let curvature = (&curvature + curvature.adjoint()) * number(0.5);
            if curvature.iter().any(|value| !value.modulus().is_finite()) {
                return Ok(Stop::NotFinite);
            }
            // Of complex matrices, the factor of an indefinite one has an imaginary diagonal.
            let definite = |l: &Small<T::Small>| (0..cols).all(|k| l[(k, k)].real() > 0.0);
            let factor = curvature.cholesky().filter(|factor| definite(factor.l_dirty()));
            let Some(factor) = factor else { return Ok(Stop::Indefinite) };
            let step = factor.solve(&c);
            let mut along = Small::from_element(cols, all, zero);
            for (k, (&column, &scale)) in active.columns.iter().zip(&active.scale).enumerate() {
                for i in 0..cols {
                    along[(i, column)] = step[(i, k)] * number(scale);
                }
            }
            let [by, to_residuals] = products.upload([&along, &factor.inverse()])?;
            to_x = Some(by);
            products.combine_by(-1.0, Columns { of: t, cols }, to_residuals, 1.0, q)?;
        }
    }
}

/// The relative residuals of the columns; the residuals are the basis, whose Gram matrix is given, times `c`.
fn residuals_of<W: ComplexField<RealField = f64>>(
    squares: &Small<W>,
    c: &Small<W>,
    active: &Active,
    of_b: &[f64],
) -> Vec<f64> {
    let product = squares * c;
    (0..c.ncols())
        .map(|k| {
            let square = c.column(k).dotc(&product.column(k)).real();
            let norm = if square > 0.0 { square.sqrt() } else { square.abs() };
            norm * active.scale[k] / of_b[active.columns[k]]
        })
        .collect()
}
