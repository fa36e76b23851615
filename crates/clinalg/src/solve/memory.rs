//! What a solve leaves for another one to continue.

use super::best::Start;
use super::judge::JUDGED;
use super::run::Run;
use super::{Operator, Progress, Report, Stop, Stopping};
use crate::ops::DotParts;
use crate::{Error, Result, Scalar, Vector};

/// What a solve that was ended leaves besides the solution, for [`Resumable::solve_from`](super::Resumable::solve_from): the vectors of the
/// iteration take as much memory as on the device. Empty for a solve from the beginning.
#[derive(Debug, Clone, PartialEq)]
pub struct KrylovMemory<T> {
    /// The iterate; for GMRES the one at the beginning of the cycle.
    pub x: Vec<T>,
    /// The vectors of the iteration, one after the other; for GMRES the basis.
    pub vectors: Vec<T>,
    /// Scalars and control data of the solve, for [`Resumable::solve_from`](super::Resumable::solve_from) alone.
    pub numbers: Vec<f64>,
    /// The relative residuals, the last one by the recurrence.
    pub history: Vec<f64>,
}

// Not derived: `T` need not implement `Default`.
impl<T> Default for KrylovMemory<T> {
    fn default() -> Self {
        KrylovMemory { x: Vec::new(), vectors: Vec::new(), numbers: Vec::new(), history: Vec::new() }
    }
}

impl<T> KrylovMemory<T> {
    /// Whether a solve with it begins anew.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }
}

/// The number of values before those of the method: its kind, and those of the judge.
const FIRST: usize = 1 + JUDGED;

/// Tells the methods apart in a memory.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Cg = 1,
    FlexibleCg,
    Minres,
    BiCgStab,
    ComplexBiCgStab,
    Idr,
    Lsqr,
    Lsmr,
}

/// Takes the state of a solve out of a memory and puts it there.
pub(super) struct Kept<'k, T: Scalar> {
    kind: Kind,
    memory: Option<&'k mut KrylovMemory<T>>,
    before: Option<KrylovMemory<T>>,
    left: KrylovMemory<T>,
}

impl<'k, T: Scalar> Kept<'k, T> {
    /// With what is in `memory`, which is emptied.
    pub(super) fn new(kind: Kind, mut memory: Option<&'k mut KrylovMemory<T>>) -> Kept<'k, T> {
        let before = begun(&mut memory);
        Kept { kind, memory, before, left: KrylovMemory::default() }
    }

    /// As [`Run::start`]; nothing is computed where the solve continues.
    pub(super) fn start<'a>(
        &self,
        (a, b, x, r): (&'a dyn Operator<T>, &'a Vector<T>, &mut Vector<T>, &mut Vector<T>),
        norms: &mut DotParts<T>,
        stopping: Stopping,
        progress: Progress<'a>,
    ) -> Result<(Run<'a, T>, Option<Stop>)> {
        match self.before {
            Some(_) => Ok((Run::new(a, b, stopping, progress)?, None)),
            None => Run::start(a, b, x, r, norms, stopping, progress),
        }
    }

    /// Restores the iterate, the vectors, the initial guess and the control data; returns the numbers of [`Kept::keep`], if the solve continues.
    ///
    /// # Errors
    /// [`Error::Value`] that names `memory` where it is that of another solver.
    pub(super) fn resume<'v>(
        &mut self,
        run: &mut Run<'_, T>,
        x: &'v mut Vector<T>,
        vectors: impl IntoIterator<Item = &'v mut Vector<T>>,
        start: Option<&mut Start<Vector<T>>>,
    ) -> Result<Option<Vec<f64>>>
    where
        T: 'v,
    {
        let Some(before) = &self.before else { return Ok(None) };
        let judged = before.numbers.get(1..FIRST).and_then(|numbers| <[f64; JUDGED]>::try_from(numbers).ok());
        let Some(judged) = judged.filter(|_| before.history.len() > 1) else { return Err(self.unfit(x.len())) };
        self.load(x, vectors, start)?;
        run.restore(judged, &before.history);
        Ok(self.before.take().map(|mut before| before.numbers.split_off(FIRST)))
    }

    /// Restores the iterate and the vectors from the memory; if it holds one more vector, that is the initial guess.
    pub(super) fn load<'v>(
        &self,
        x: &'v mut Vector<T>,
        vectors: impl IntoIterator<Item = &'v mut Vector<T>>,
        start: Option<&mut Start<Vector<T>>>,
    ) -> Result<()>
    where
        T: 'v,
    {
        let Some(before) = &self.before else { return Ok(()) };
        let vectors: Vec<_> = vectors.into_iter().collect();
        let values = vectors.iter().map(|vector| vector.len()).sum::<usize>();
        let own = before.numbers.first() == Some(&f64::from(self.kind as u8));
        let more = before.vectors.len().checked_sub(values);
        let fits = more.is_some_and(|more| more == 0 || more == x.len() && start.is_some());
        if !own || before.x.len() != x.len() || !fits {
            return Err(self.unfit(x.len()));
        }
        x.write(&before.x)?;
        let mut rest = &before.vectors[..];
        for vector in vectors {
            let (values, others) = rest.split_at(vector.len());
            vector.write(values)?;
            rest = others;
        }
        if let Some(start) = start {
            let guess = (!rest.is_empty()).then(|| Vector::from_slice(x.context(), rest)).transpose()?;
            start.restore(guess);
        }
        Ok(())
    }

    /// The numbers of the method and the history, if the solve continues.
    pub(super) fn take(&mut self) -> Option<(Vec<f64>, Vec<f64>)> {
        let KrylovMemory { numbers, history, .. } = self.before.take()?;
        Some((numbers.get(FIRST..).unwrap_or_default().to_vec(), history))
    }

    fn unfit(&self, n: usize) -> Error {
        let expected = format!("that of a solve for {n} unknowns by the same method");
        let KrylovMemory { x, vectors, numbers, .. } = self.before.as_ref().expect("it was looked at");
        let got = format!("{} unknowns, {} values of vectors, {} numbers", x.len(), vectors.len(), numbers.len());
        Error::value("memory", expected, got)
    }

    /// Whether [`Kept::keep`] keeps something now: a memory is wanted, and no further iteration is allowed.
    pub(super) fn is_due(&self, run: &Run<'_, T>) -> bool {
        self.memory.is_some() && !run.may_go_on()
    }

    /// Keeps the state of the solve, if that is due.
    pub(super) fn keep<'v>(
        &mut self,
        run: &Run<'_, T>,
        x: &Vector<T>,
        vectors: impl IntoIterator<Item = &'v Vector<T>>,
        numbers: impl IntoIterator<Item = f64>,
    ) -> Result<()>
    where
        T: 'v,
    {
        match self.is_due(run) {
            true => self.store(run.numbers(), run.history(), x, vectors, numbers),
            false => Ok(()),
        }
    }

    /// Keeps the state of the solve, if a memory is wanted.
    pub(super) fn store<'v>(
        &mut self,
        judged: [f64; JUDGED],
        history: &[f64],
        x: &Vector<T>,
        vectors: impl IntoIterator<Item = &'v Vector<T>>,
        numbers: impl IntoIterator<Item = f64>,
    ) -> Result<()>
    where
        T: 'v,
    {
        if self.memory.is_none() {
            return Ok(());
        }
        let mut values = Vec::new();
        for vector in vectors {
            values.extend(vector.to_vec()?);
        }
        let numbers = [f64::from(self.kind as u8)].into_iter().chain(judged).chain(numbers).collect();
        self.left = KrylovMemory { x: x.to_vec()?, vectors: values, numbers, history: history.to_vec() };
        Ok(())
    }

    /// Hands over what was kept, if the solve was ended from outside.
    pub(super) fn end(self, report: Report) -> Report {
        if let (Some(memory), Stop::Cancelled | Stop::IterationLimit) = (self.memory, report.stop) {
            *memory = self.left;
        }
        report
    }
}

/// Takes what is in the memory of a solve, if it continues.
pub(super) fn begun<T>(memory: &mut Option<&mut KrylovMemory<T>>) -> Option<KrylovMemory<T>> {
    memory.as_mut().map(|memory| std::mem::take(&mut **memory)).filter(|memory| !memory.is_empty())
}

/// The numbers of a memory from `first` on, NaN where it has fewer.
pub(super) fn numbers_from<const N: usize>(numbers: &[f64], first: usize) -> [f64; N] {
    std::array::from_fn(|k| numbers.get(first + k).copied().unwrap_or(f64::NAN))
}

/// The ends of a cycle after which the solve may restart, as numbers.
const SEEN: [Stop; 3] = [Stop::Converged, Stop::Breakdown, Stop::Stagnated];

/// The reason for which a cycle ended, as a number; 0 where it was ended from outside.
pub(super) fn number_of(seen: Stop) -> f64 {
    SEEN.iter().position(|&stop| stop == seen).map_or(0.0, |at| at as f64 + 1.0)
}

/// The inverse of [`number_of`].
pub(super) fn seen_by(number: f64) -> Option<Stop> {
    SEEN.get((number as usize).wrapping_sub(1)).copied()
}
