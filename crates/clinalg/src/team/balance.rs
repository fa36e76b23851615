//! What devices get done, measured.

use std::time::Instant;

use super::{Reduction, Team};
use crate::{Context, Result};

/// Trials of which the median counts.
const TRIALS: usize = 3;

/// Weights from which on devices count as equal: what a measurement of equal devices leaves.
const EQUAL: f64 = 0.95;

impl Team {
    /// What each rank gets done in the same time, for the weights of a [`Partition`](super::Partition). `trial` runs on the
    /// ranks of this process one after the other, each time the same work: once to build its kernels, then three times, of which
    /// the median counts. The fastest rank has weight 1; where none is slower by more than 5 %, all have.
    ///
    /// ```
    /// use clinalg::team::{Partition, Team};
    /// use clinalg::{Context, ContextOptions, Device, Vector};
    ///
    /// let context = || Context::new(&Device::default_device()?, &ContextOptions::default());
    /// let team = Team::of_contexts(vec![context()?, context()?])?;
    /// let mut vectors = team.each(|_, context| Vector::filled(context, 1 << 16, 1.0_f64))?;
    /// let weights = team.measure(|rank, _| vectors[rank].fill(2.0))?;
    /// let partition = Partition::weighted(1000, &weights)?;
    /// # assert_eq!(partition.ranks(), 2);
    /// # Ok::<(), clinalg::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of `trial` and of the device, as [`Error::Rank`](crate::Error::Rank).
    pub fn measure(&self, mut trial: impl FnMut(usize, &Context) -> Result<()>) -> Result<Vec<f64>> {
        let seconds = self.each(|k, context| {
            let mut seconds = Vec::with_capacity(TRIALS + 1);
            for _ in 0..=TRIALS {
                context.finish()?;
                let start = Instant::now();
                trial(k, context)?;
                context.finish()?;
                seconds.push(start.elapsed().as_secs_f64());
            }
            seconds[1..].sort_by(f64::total_cmp);
            Ok(seconds[1 + TRIALS / 2])
        })?;
        let first = self.local().start;
        let of_all = |(k, seconds): (usize, &f64)| {
            (0..self.ranks()).map(|rank| if rank == first + k { *seconds } else { 0.0 }).collect()
        };
        let parts: Vec<Vec<f64>> = seconds.iter().enumerate().map(of_all).collect();
        Ok(weights(&self.all_reduce(Reduction::Sum, &parts)?))
    }
}

/// Weights from the seconds for the same work.
fn weights(seconds: &[f64]) -> Vec<f64> {
    // A clock that stands still is no reason to give all to one.
    let seconds: Vec<f64> = seconds.iter().map(|s| s.max(1e-9)).collect();
    let fastest = seconds.iter().copied().fold(f64::INFINITY, f64::min);
    let weights: Vec<f64> = seconds.iter().map(|s| fastest / s).collect();
    if weights.iter().all(|weight| *weight >= EQUAL) { vec![1.0; weights.len()] } else { weights }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_inverse_to_the_seconds() {
        assert_eq!(weights(&[2.0, 1.0, 8.0]), [0.5, 1.0, 0.125]);
        assert_eq!(weights(&[1.0, 1.04]), [1.0, 1.0]);
        assert_eq!(weights(&[0.0, 0.0]), [1.0, 1.0]);
    }
}
