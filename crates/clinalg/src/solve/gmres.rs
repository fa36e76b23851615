//! Generalised minimal residuals.

use num_traits::Float;

use super::basis::{MAX_BATCH, shrink};
use super::best::Best;
use super::driver::Method;
use super::gmres_state::{Cycle, Small};
use super::krylov_vector::{BasisProducts, KrylovVector, all_like, like};
use super::memory::MethodState;
use super::run::{Run, Workspace};
use super::{GmresParams, Preconditioner, Stop, Stopping};
use crate::{Context, Error, Real, Result, Scalar, Vector};

/// Restarted GMRES for any square nonsingular A, with an optional preconditioner applied from the
/// left (Saad and Schultz 1986; Saad, Iterative Methods for Sparse Linear Systems, 2003, algorithms
/// 6.9, 6.11 and 9.4): classical Gram-Schmidt twice, after which the basis is orthogonal to working precision (Giraud,
/// Langou, Rozloznik and van den Eshof 2005), and Givens rotations.
///
/// Owns `restart + 3` vectors of `n` values. Iteration j of a cycle takes a product; the vectors of the basis are taken eight at a time, in
/// about `j / 2 + 9` launches. Coefficients are read back for batches of 1 to 32 iterations: at most half of those that the
/// convergence so far predicts, and at most twice the previous batch. While convergence is far off and `restart` is at most 32, a cycle takes two
/// reads, with a preconditioner three. `progress` is called for the whole batch after each read; products beyond the iteration at which the solve
/// stops are wasted. On a team the coefficients are read in every iteration, which takes three reductions, and no product
/// is wasted.
///
/// With a preconditioner the method minimises |M^-1 (b - A x)|. The history then is this norm,
/// scaled at each restart to agree with |b - A x|; the tolerance holds for the true residual in any
/// case. The true residual may grow where M is far from A: if the solve does not converge, the one with the smallest true residual among the initial
/// guess and the iterates at the ends of cycles is returned. [`Stop::Stagnated`] is reported for a cycle without progress, since further
/// cycles would repeat it.
#[derive(Debug)]
pub struct Gmres<T: Scalar, V: KrylovVector<Scalar = T> = Vector<T>> {
    params: GmresParams,
    basis: Vec<V>,
    w: V,
    best: Best<V>,
    norms: V::Dots,
    products: V::Basis,
    small: Small<T::Wide>,
    cycle: Cycle,
    /// The preconditioned residual at the beginning of the last cycle, and the number of iterations between the last
    /// reads.
    last: f64,
    together: usize,
}

impl<T: Scalar> Gmres<T> {
    /// A solver for systems of `n` equations that restarts after [`GmresParams::restart`](struct@GmresParams) iterations;
    /// more than `n` are never needed.
    ///
    /// # Errors
    /// [`Error::Value`] for `restart` 0; [`Error::Allocation`]; [`Error::NoFp64`].
    pub fn new(context: &Context, n: usize, params: GmresParams) -> Result<Gmres<T>> {
        Gmres::with(Vector::uninit(context, n)?, params)
    }
}

impl<T: Scalar, V: KrylovVector<Scalar = T>> Gmres<T, V> {
    /// A solver for systems whose vectors are like this one.
    ///
    /// # Errors
    /// As [`Gmres::new`].
    pub fn like(vector: &V, params: GmresParams) -> Result<Gmres<T, V>> {
        let [w] = like(vector)?;
        Gmres::with(w, params)
    }

    fn with(w: V, params: GmresParams) -> Result<Gmres<T, V>> {
        if params.restart == 0 {
            return Err(Error::value("restart", "at least 1", 0));
        }
        let restart = params.restart.min(w.size().max(1));
        let (basis, products) = (all_like(&w, restart + 1)?, w.basis(restart, MAX_BATCH.min(restart))?);
        let ([best], norms, small) = (like(&w)?, w.dots()?, Small::new(restart));
        let (best, cycle, last) = (Best::of_true(best), Cycle::default(), f64::INFINITY);
        Ok(Gmres { params, basis, w, best, norms, products, small, cycle, last, together: 1 })
    }

    /// Iterations between restarts.
    pub fn restart(&self) -> usize {
        self.small.restart()
    }

    /// Begins a cycle with the first basis vector M^-1 r / |M^-1 r|; returns why it cannot begin.
    fn begin(&mut self, run: &Run<'_, T, V>, m: Option<&mut (dyn Preconditioner<T, V> + '_)>) -> Result<Option<Stop>> {
        let Gmres { w, basis, small, cycle, last, .. } = self;
        let unit = run.rescale(w)?;
        let length = match m {
            Some(m) => {
                m.apply(w, &mut basis[0])?;
                basis[0].norm()?
            }
            None => {
                basis[0].set_copy(w)?;
                run.norm() / unit
            }
        };
        *cycle = Cycle { unit, length, ..Cycle::default() };
        if !length.is_finite() {
            return Ok(Some(Stop::NotFinite));
        }
        if length == 0.0 {
            return Ok(Some(Stop::Breakdown));
        }
        if unit * length >= *last * (1.0 - 10.0 * T::Real::epsilon().into_f64()) {
            return Ok(Some(Stop::Stagnated));
        }
        *last = unit * length;
        shrink(&mut basis[0], length)?;
        small.begin(length);
        cycle.has_basis = true;
        Ok(None)
    }
}

impl<T: Scalar, V: KrylovVector<Scalar = T>> Method for Gmres<T, V> {
    type Scalar = T;
    type Vector = V;

    fn stopping(&self) -> &Stopping {
        &self.params.stopping
    }

    fn stopping_mut(&mut self) -> &mut Stopping {
        &mut self.params.stopping
    }

    fn vectors(&self) -> Vec<&V> {
        [&self.w, self.best.vector()].into_iter().chain(&self.basis).collect()
    }

    fn workspace(&mut self) -> Workspace<'_, V> {
        let Gmres { w, basis, best, norms, .. } = self;
        let (p, q) = basis.split_at_mut(1);
        Workspace { r: w, p: &mut p[0], q: &mut q[0], best, norms }
    }

    fn reset(&mut self, _: bool) {
        (self.cycle, self.last, self.together) = (Cycle::default(), f64::INFINITY, 1);
    }

    /// `None` where the cycle ended only because it reached its full length.
    fn cycle(
        &mut self,
        run: &mut Run<'_, T, V>,
        mut m: Option<&mut (dyn Preconditioner<T, V> + '_)>,
        _: &mut V,
        continues: bool,
    ) -> Result<Option<Stop>> {
        if !continues && let Some(stop) = self.begin(run, m.as_deref_mut())? {
            return Ok(Some(stop));
        }
        let Gmres { basis, w, products, small, cycle, together, .. } = self;
        let (a, eps, true_norm) = (run.a, T::Real::epsilon().into_f64(), run.norm());
        while cycle.used < small.restart() {
            let first = cycle.used;
            *together = run.planned(*together, products.at_once());
            let count = (*together).min(small.restart() - first).min(run.room().max(1));
            products.begin();
            for j in first..first + count {
                let (done, next) = basis.split_at_mut(j + 1);
                match &mut m {
                    Some(m) => {
                        a.apply(T::one(), &done[j], T::zero(), w)?;
                        m.apply(w, &mut next[0])?;
                    }
                    None => a.apply(T::one(), &done[j], T::zero(), &mut next[0])?,
                }
                products.extend(done, &mut next[0])?;
            }
            let mut norms = [(f64::NAN, f64::NAN); MAX_BATCH];
            products.read(&mut |k, read, before, after| {
                small.set_column(first + k, read);
                norms[k] = (before, after);
            })?;
            for &(before, after) in &norms[..count] {
                let Some(estimate) = cycle.advance(small, (before, after), eps) else {
                    return Ok(Some(Stop::NotFinite));
                };
                cycle.norm = true_norm * (estimate / cycle.length);
                let seen = run.record(cycle.norm, cycle.unit * estimate);
                let seen = seen.or(run.cancelled().then_some(Stop::Cancelled));
                let seen = seen.or(cycle.is_exhausted.then_some(Stop::Breakdown));
                if seen.is_some() {
                    return Ok(seen);
                }
            }
        }
        Ok(None)
    }

    fn update_solution(&mut self, x: &mut V) -> Result<()> {
        let Gmres { basis, w, products, small, cycle, .. } = self;
        if !cycle.has_basis {
            return Ok(());
        }
        let unit = T::Wide::from_real(cycle.unit);
        let y: Vec<_> = small.solve(cycle.used).iter().map(|&y| unit * y).collect();
        // x is rounded once, not with each part of the sum.
        w.set_all(T::zero())?;
        products.combine(&basis[..cycle.used], &y, w)?;
        x.axpby(T::one(), w, T::one())
    }

    fn end_cycle(&mut self, run: &mut Run<'_, T, V>, seen: Option<Stop>, x: &mut V) -> Result<Option<Stop>> {
        let mut work = self.workspace();
        match run.confirm(seen, x, &mut work)? {
            None => work.best.look(x, run.norm(), run.iterations()).map(|()| None),
            end => run.settle(end, x, &mut work),
        }
    }

    fn state(&self) -> Result<MethodState> {
        Ok(MethodState::Gmres(self.small.saved(self.cycle)))
    }

    fn restore(&mut self, state: MethodState) -> Result<bool> {
        let MethodState::Gmres(saved) = state else { return Ok(false) };
        let cycle = self.small.restore(&saved);
        self.cycle = cycle.unwrap_or_default();
        self.last = self.cycle.unit * self.cycle.length;
        Ok(cycle.is_some())
    }

    fn kept_vectors(&mut self) -> Vec<&mut V> {
        self.basis.iter_mut().take(self.cycle.used + 1).collect()
    }

    fn recurrence_norm(&self) -> f64 {
        self.cycle.norm
    }

    fn pending_end(&self, _: &Run<'_, T, V>) -> Option<Stop> {
        self.cycle.is_exhausted.then_some(Stop::Breakdown)
    }
}
