//! The memory of GMRES.

use super::best::Best;
use super::gmres::{Cycle, Small};
use super::judge::JUDGED;
use super::run::Run;
use super::{KrylovMemory, Stop};
use crate::{Error, Result, Scalar, Vector};

/// The number of values before those of the least-squares problem: [`Cycle`], whether the basis broke down, the norm of the recurrence, those of the best
/// iterate, and those of the judge.
const FIRST: usize = 8 + JUDGED;

/// The number of values of the least-squares problem of `used` columns: g, rotations, columns of R, each entry with two parts.
fn size(used: usize) -> usize {
    2 * ((used + 1) + 2 * used + used * (used + 1) / 2)
}

impl<T: Scalar> KrylovMemory<T> {
    pub(super) fn of(
        run: &Run<'_, T>,
        x: &Vector<T>,
        best: &Best<Vector<T>>,
        basis: &[Vector<T>],
        small: &Small<T::Wide>,
        (cycle, broken, norm): (Cycle, bool, f64),
    ) -> Result<KrylovMemory<T>> {
        let used = cycle.used;
        let mut numbers = vec![used as f64, cycle.unit, cycle.length, f64::from(u8::from(broken)), norm];
        numbers.extend(best.numbers());
        numbers.extend(run.numbers());
        let rotations = small.rotations[..used].iter().flat_map(|&(c, s)| [c, s]);
        let columns = small.columns[..used].iter().enumerate().flat_map(|(j, column)| column[..=j].iter().copied());
        let all = small.g[..=used].iter().copied().chain(rotations).chain(columns);
        numbers.extend(all.flat_map(|value| [value.re(), value.im()]));
        let mut vectors = Vec::with_capacity((basis.len() + 1) * x.len());
        for vector in std::iter::once(best.vector()).chain(basis) {
            vectors.extend(vector.to_vec()?);
        }
        Ok(KrylovMemory { x: x.to_vec()?, vectors, numbers, history: run.history().to_vec() })
    }

    /// Restores everything, and returns the state of the cycle.
    ///
    /// # Errors
    /// [`Error::Value`] that names `memory` where it is that of another solver.
    pub(super) fn restore(
        &self,
        run: &mut Run<'_, T>,
        x: &mut Vector<T>,
        best: &mut Best<Vector<T>>,
        basis: &mut [Vector<T>],
        small: &mut Small<T::Wide>,
    ) -> Result<Cycle> {
        let n = x.len();
        let used = self.numbers.first().map_or(0, |&used| used as usize);
        let fits = self.numbers.len() == FIRST + size(used) && used < basis.len() && self.history.len() > 1;
        if !fits || self.x.len() != n || self.vectors.len() != (used + 2) * n {
            let expected =
                format!("that of a solve of {n} equations with at most {} iterations per cycle", basis.len() - 1);
            let got =
                format!("{} values, {} of the basis, {} numbers", self.x.len(), self.vectors.len(), self.numbers.len());
            return Err(Error::value("memory", expected, got));
        }
        let [_, unit, length, broken, norm] = std::array::from_fn(|k| self.numbers[k]);
        best.restore(std::array::from_fn(|k| self.numbers[5 + k]));
        run.restore(std::array::from_fn(|k| self.numbers[8 + k]), &self.history);
        x.write(&self.x)?;
        let vectors = std::iter::once(best.vector_mut()).chain(basis);
        for (vector, values) in vectors.zip(self.vectors.chunks_exact(n.max(1))) {
            vector.write(values)?;
        }
        let mut values = self.numbers[FIRST..].chunks_exact(2).map(|parts| T::Wide::from_parts(parts[0], parts[1]));
        let mut next = || values.next().expect("as many as were counted");
        small.g[..=used].iter_mut().for_each(|g| *g = next());
        small.rotations[..used].iter_mut().for_each(|rotation| *rotation = (next(), next()));
        for (j, column) in small.columns[..used].iter_mut().enumerate() {
            column[..=j].iter_mut().for_each(|entry| *entry = next());
        }
        let seen = run.end_of(norm).or((broken != 0.0).then_some(Stop::Breakdown));
        Ok(Cycle { used, unit, length, seen })
    }
}
