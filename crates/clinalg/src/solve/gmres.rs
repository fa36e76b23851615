//! Generalised minimal residuals.

use num_traits::Float;

use super::basis::{MAX_BATCH, Projection, shrink};
use super::best::Best;
use super::checked::{CheckedOperator, CheckedPreconditioner, check_own};
use super::memory::begun;
use super::run::{Run, check_system};
use super::solver::{own_parts, resumable, without_memory};
use super::{GmresParams, KrylovMemory, Operator, Preconditioner, Progress, Report, Solver, Stop};
use crate::ops::{self, DotParts};
use crate::{Context, Error, Real, Result, Scalar, Vector};

/// A diagonal entry of R below this many times the machine precision, relative to the largest one,
/// counts as zero.
const DEPENDENT: f64 = 16.0;

/// Restarted GMRES for any square nonsingular A, with an optional preconditioner applied from the
/// left (Saad and Schultz 1986; Saad, Iterative Methods for Sparse Linear Systems, 2003, algorithms
/// 6.9, 6.11 and 9.4): classical Gram-Schmidt twice, after which the basis is orthogonal to working precision (Giraud,
/// Langou, Rozloznik and van den Eshof 2005), and Givens rotations.
///
/// Owns `restart + 3` vectors of `n` values. Iteration j of a cycle takes a product; the vectors of the basis are taken eight at a time, in
/// about `j / 2 + 9` launches. Coefficients are read back for batches of 1 to 32 iterations: at most half of those that the
/// convergence so far predicts, and at most twice the previous batch. While convergence is far off and `restart` is at most 32, a cycle takes two
/// reads, with a preconditioner three. `progress` is called for the whole batch after each read; products beyond the iteration at which the solve
/// stops are wasted.
///
/// With a preconditioner the method minimises |M^-1 (b - A x)|. The history then is this norm,
/// scaled at each restart to agree with |b - A x|; the tolerance holds for the true residual in any
/// case. The true residual may grow where M is far from A: if the solve does not converge, the one with the smallest true residual among the initial
/// guess and the iterates at the ends of cycles is returned. [`Stop::Stagnated`] is reported for a cycle without progress, since further
/// cycles would repeat it.
#[derive(Debug)]
pub struct Gmres<T: Scalar> {
    params: GmresParams,
    basis: Vec<Vector<T>>,
    w: Vector<T>,
    best: Best<Vector<T>>,
    norms: DotParts<T>,
    projection: Projection<T>,
    small: Small<T::Wide>,
}

/// The least-squares problem of one cycle, on the host, in double precision.
#[derive(Debug)]
pub(super) struct Small<W> {
    /// Column j of R, `j + 1` entries (the current column has one more).
    pub(super) columns: Vec<Vec<W>>,
    /// c and s of each rotation [conj(c) conj(s); -s c].
    pub(super) rotations: Vec<(W, W)>,
    /// The rotated right-hand side.
    pub(super) g: Vec<W>,
    y: Vec<W>,
}

/// The state of a cycle.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cycle {
    /// Number of basis vectors that the solution is a combination of.
    pub(super) used: usize,
    /// The preconditioned residual at its beginning is `unit * length` times the first vector.
    pub(super) unit: f64,
    pub(super) length: f64,
    /// Why it ended.
    pub(super) seen: Option<Stop>,
}

impl<W: Scalar<Real = f64>> Small<W> {
    fn new(restart: usize) -> Small<W> {
        Small {
            columns: (0..restart).map(|j| vec![W::zero(); j + 2]).collect(),
            rotations: vec![(W::one(), W::zero()); restart],
            g: vec![W::zero(); restart + 1],
            y: vec![W::zero(); restart],
        }
    }

    /// Rotates column j into R, whose diagonal is real. Returns the norm of the new residual, or `None` where the column
    /// depends on the former ones to working precision `eps` and must be dropped.
    fn rotate(&mut self, j: usize, eps: f64) -> Option<f64> {
        let (former, rest) = self.columns.split_at_mut(j);
        let column = &mut rest[0];
        for (i, &(c, s)) in self.rotations[..j].iter().enumerate() {
            (column[i], column[i + 1]) =
                (c.conj() * column[i] + s.conj() * column[i + 1], c * column[i + 1] - s * column[i]);
        }
        let length = column[j].modulus().hypot(column[j + 1].modulus());
        let largest = former.iter().enumerate().map(|(i, c)| c[i].re()).fold(0.0, f64::max);
        if length <= DEPENDENT * eps * largest || length == 0.0 {
            return None;
        }
        let (c, s) = (column[j] / W::from_real(length), column[j + 1] / W::from_real(length));
        self.rotations[j] = (c, s);
        column[j] = W::from_real(length);
        (self.g[j], self.g[j + 1]) = (c.conj() * self.g[j], -s * self.g[j]);
        Some(self.g[j + 1].modulus())
    }

    /// Solves R y = g for the first `count` unknowns.
    fn solve(&mut self, count: usize) {
        for i in (0..count).rev() {
            let rest: W = (i + 1..count).map(|j| self.columns[j][i] * self.y[j]).sum();
            self.y[i] = (self.g[i] - rest) / self.columns[i][i];
        }
    }
}

impl<T: Scalar> Gmres<T> {
    /// A solver for systems of `n` equations that restarts after [`GmresParams::restart`](struct@GmresParams) iterations;
    /// more than `n` are never needed.
    ///
    /// # Errors
    /// [`Error::Value`] for `restart` 0; [`Error::Allocation`]; [`Error::NoFp64`].
    pub fn new(context: &Context, n: usize, params: GmresParams) -> Result<Gmres<T>> {
        let restart = params.restart;
        if restart == 0 {
            return Err(Error::value("restart", "at least 1", restart));
        }
        let restart = restart.min(n.max(1));
        let basis = (0..=restart).map(|_| Vector::uninit(context, n)).collect::<Result<_>>()?;
        let projection = Projection::new(context, n, restart, MAX_BATCH.min(restart))?;
        let (w, best) = (Vector::uninit(context, n)?, Best::new(Vector::uninit(context, n)?));
        let norms = DotParts::new(context)?;
        Ok(Gmres { params, basis, w, best, norms, projection, small: Small::new(restart) })
    }

    /// Iterations between restarts.
    pub fn restart(&self) -> usize {
        self.small.y.len()
    }

    fn solve_kept(
        &mut self,
        mut memory: Option<&mut KrylovMemory<T>>,
        a: &dyn Operator<T>,
        m: Option<&mut dyn Preconditioner<T>>,
        b: &Vector<T>,
        x: &mut Vector<T>,
        progress: Progress<'_>,
    ) -> Result<Report> {
        let n = self.w.len();
        check_own([&self.w, self.best.vector()].into_iter().chain(&self.basis))?;
        check_system(self.w.context(), n, a, m.as_deref(), b, x)?;
        let a = &CheckedOperator::new(a, n);
        let mut m = m.map(|m| CheckedPreconditioner::new(m, n));
        let mut m = m.as_mut().map(|m| m as &mut dyn Preconditioner<T>);
        let before = begun(&mut memory);
        let mut left = memory.is_some().then(KrylovMemory::default);
        let stopping = self.params.stopping.clone();
        let (mut run, mut end, mut last, mut resumed) = match before {
            None => {
                let (run, end) = Run::start(a, b, x, &mut self.w, &mut self.norms, stopping, progress)?;
                self.best.start_true(x, run.norm())?;
                (run, end, f64::INFINITY, None)
            }
            Some(before) => {
                let mut run = Run::new(a, b, stopping, progress)?;
                let cycle = before.restore(&mut run, x, &mut self.best, &mut self.basis, &mut self.small)?;
                let last = cycle.unit * cycle.length;
                (run, None, last, Some(cycle))
            }
        };
        let mut together = 1;
        let report = loop {
            if let Some(stop) = end {
                break run.report(stop);
            }
            let cycle = match resumed.take() {
                Some(cycle) => Some(cycle),
                None => {
                    // r is in w; the first basis vector is M^-1 r / |M^-1 r|.
                    let unit = run.rescale(&mut self.w)?;
                    match &mut m {
                        Some(m) => m.apply(&self.w, &mut self.basis[0])?,
                        None => ops::copy(&self.w, &mut self.basis[0])?,
                    }
                    let length = match &m {
                        Some(_) => ops::norm2(&self.basis[0])?.into_f64(),
                        None => run.norm() / unit,
                    };
                    let advanced = unit * length < last * (1.0 - 10.0 * T::Real::epsilon().into_f64());
                    if length.is_finite() && length != 0.0 && advanced {
                        last = unit * length;
                        shrink(&mut self.basis[0], length)?;
                        self.small.g[0] = T::Wide::from_real(length);
                    }
                    let seen = if !length.is_finite() {
                        Some(Stop::NotFinite)
                    } else if length == 0.0 {
                        Some(Stop::Breakdown)
                    } else if !advanced {
                        Some(Stop::Stagnated)
                    } else {
                        None
                    };
                    match seen {
                        Some(seen) => {
                            let (p, q) = self.basis.split_at_mut(1);
                            end = run.confirm(seen, x, &mut self.w, &mut p[0], &mut q[0], &mut self.norms)?;
                            None
                        }
                        None => Some(Cycle { used: 0, unit, length, seen: None }),
                    }
                }
            };
            if let Some(cycle) = cycle {
                match self.cycle(&mut run, a, m.as_deref_mut(), x, (cycle, &mut together), left.as_mut())? {
                    Some(seen) => {
                        let (p, q) = self.basis.split_at_mut(1);
                        end = run.confirm(seen, x, &mut self.w, &mut p[0], &mut q[0], &mut self.norms)?;
                    }
                    None => end = run.check(x, &mut self.w, &mut self.norms)?,
                }
            }
            match end {
                None => self.best.look(x, run.norm(), run.iterations())?,
                Some(_) => {
                    let (p, q) = self.basis.split_at_mut(1);
                    let vectors = [&mut self.w, &mut p[0], &mut q[0]];
                    end = run.settle(end, &mut self.best, x, vectors, &mut self.norms)?;
                }
            }
        };
        if let (Some(memory), Some(left), Stop::Cancelled | Stop::IterationLimit) = (memory, left, report.stop) {
            *memory = left;
        }
        Ok(report)
    }

    /// One cycle from the preconditioned residual `unit * length * basis[0]`, or the rest of a resumed one; `None` where it ended only because it reached its
    /// full length. `together` is the number of iterations between the last reads. If it is ended early, leaves the [`KrylovMemory`] in `left`.
    fn cycle<'m>(
        &mut self,
        run: &mut Run<'_, T>,
        a: &dyn Operator<T>,
        mut m: Option<&mut (dyn Preconditioner<T> + 'm)>,
        x: &mut Vector<T>,
        (cycle, together): (Cycle, &mut usize),
        mut left: Option<&mut KrylovMemory<T>>,
    ) -> Result<Option<Stop>> {
        let Gmres { basis, w, best, projection, small, .. } = self;
        let true_norm = run.norm();
        let Cycle { mut used, unit, length, mut seen } = cycle;
        let eps = T::Real::epsilon().into_f64();
        while used < small.y.len() && seen.is_none() {
            let first = used;
            *together = run.planned(*together, MAX_BATCH);
            let count = (*together).min(small.y.len() - first).min(run.room().max(1));
            projection.begin();
            for j in first..first + count {
                let (done, next) = basis.split_at_mut(j + 1);
                let next = &mut next[0];
                match &mut m {
                    Some(m) => {
                        a.apply(T::one(), &done[j], T::zero(), w)?;
                        m.apply(w, next)?;
                    }
                    None => a.apply(T::one(), &done[j], T::zero(), next)?,
                }
                projection.extend(done, next)?;
            }
            let mut norms = [(f64::NAN, f64::NAN); MAX_BATCH];
            projection.read(|k, read, before, after| {
                let column = &mut small.columns[first + k];
                column.fill(T::Wide::from_real(0.0));
                column[..read.len()].copy_from_slice(read);
                norms[k] = (before, after);
            })?;
            for &(before, after) in &norms[..count] {
                let j = used;
                if !(before.is_finite() && after.is_finite()) {
                    seen = Some(Stop::NotFinite);
                    break;
                }
                // The Krylov space is exhausted: it holds the solution unless A is singular.
                let exhausted = after <= eps * before;
                small.columns[j][j + 1] = T::Wide::from_real(if exhausted { 0.0 } else { after });
                let rotated = small.rotate(j, eps);
                used += usize::from(rotated.is_some());
                let estimate = rotated.unwrap_or(small.g[j].modulus());
                let norm = true_norm * (estimate / length);
                seen = run.record(norm, unit * estimate);
                let ends = !run.may_go_on();
                let broken = exhausted || rotated.is_none();
                if let (true, Some(left)) = (ends, &mut left) {
                    let cycle = Cycle { used, unit, length, seen };
                    **left = KrylovMemory::of(run, x, best, &basis[..=used], small, (cycle, broken, norm))?;
                }
                if run.cancelled() {
                    seen = seen.or(Some(Stop::Cancelled));
                }
                if broken {
                    seen = seen.or(Some(Stop::Breakdown));
                }
                if seen.is_some() {
                    break;
                }
            }
        }
        small.solve(used);
        // x is rounded once, not with each part of the sum.
        w.fill(T::zero())?;
        projection.combine(&basis[..used], small.y[..used].iter().map(|&y| T::Wide::from_real(unit) * y), w)?;
        ops::update(T::one(), w, T::one(), x)?;
        Ok(seen)
    }
}

impl<T: Scalar> Solver<T> for Gmres<T> {
    own_parts!(w);

    without_memory!();
}

resumable!(Gmres);
