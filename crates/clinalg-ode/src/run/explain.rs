//! Explanation and timing of a stepper.

use std::time::Instant;

use clinalg::{Context, Real, Vector, ops};

use crate::Result;
use crate::codegen::kernels::Schedule;
use crate::run::device::{DeviceStepper, RUNS, Tried, WARM};
use crate::run::stepper::Tolerance;

/// What a step takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timing {
    /// Median seconds measured.
    pub seconds: f64,
    /// Seconds by the model: those of a launch, and the words moved at the rate of `copy`.
    pub expected: f64,
    /// Bytes read and written in a second by a copy, without what its launch takes.
    pub copy: f64,
    /// Seconds of a launch and of waiting for it.
    pub launch: f64,
}

/// Components of the vectors whose copy gives the rate where a copy of the solution takes hardly longer than its launch.
const LARGE: usize = 1 << 22;

/// Median seconds of what `run` enqueues.
fn median(context: &Context, mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut times = Vec::new();
    for k in 0..WARM + RUNS {
        let start = Instant::now();
        run()?;
        context.finish()?;
        if k >= WARM {
            times.push(start.elapsed().as_secs_f64());
        }
    }
    times.sort_by(f64::total_cmp);
    Ok(times[RUNS / 2].max(f64::MIN_POSITIVE))
}

/// Median seconds of a copy of so many components.
fn copying<T: Real>(context: &Context, len: usize) -> Result<f64> {
    let from = Vector::<T>::zeros(context, len)?;
    let mut to = Vector::<T>::zeros(context, len)?;
    median(context, || Ok(ops::copy(&from, &mut to)?))
}

/// Seconds of a launch, and bytes that a copy moves in a second beyond it.
fn rates<T: Real>(context: &Context, n: usize) -> Result<(f64, f64)> {
    let launch = copying::<T>(context, 1)?;
    let (len, seconds) = match copying::<T>(context, n)? {
        seconds if seconds > 4.0 * launch => (n, seconds),
        _ => {
            let len = LARGE.min(context.device().max_alloc as usize / size_of::<T>()).max(n);
            (len, copying::<T>(context, len)?)
        }
    };
    let bytes = (2 * len * size_of::<T>()) as f64;
    Ok((launch, bytes / (seconds - launch).max(0.1 * seconds)))
}

impl<T: Real> DeviceStepper<T> {
    /// Measures what a step takes, and a launch and a copy for the model. Steps of size 0 are computed for that and not taken.
    ///
    /// # Errors
    /// Those of the device; memory for two more vectors, of four million components where the system has fewer, is needed.
    pub fn measure(&mut self) -> Result<Timing> {
        let n = self.system.components();
        let (what, steps) = match &self.many {
            Some(many) => (Tried::Many, many.plan.graph().steps()),
            None => (Tried::One, 1),
        };
        let context = self.context.clone();
        let times = vec![0.0; steps];
        let together = median(&context, || self.launch(what, &times, 0.0, &Tolerance::UNUSED))?;
        let (launch, copy) = rates::<T>(&context, n)?;
        let moved = self.price * (n * size_of::<T>()) as f64;
        let expected = launch / steps as f64 + moved / copy;
        let timing = Timing { seconds: together / steps as f64, expected, copy, launch };
        self.timing = Some(timing);
        Ok(timing)
    }

    /// Variant, device, kernels with what they read and write, words moved and memory taken; what a step takes by the model
    /// and by the clock after [`DeviceStepper::measure`].
    pub fn explain(&self) -> String {
        let reason = self.reason.as_ref().map_or(String::new(), |r| format!("chosen: {r}\n"));
        let many = self.many.as_ref().map_or(String::new(), Schedule::explain);
        let timing = self.timing.map_or(String::new(), |t| {
            format!(
                "a step: {:.4} ms expected ({:.4} ms for a launch, the rest at the {:.1} GB/s of a copy), {:.4} ms measured\n",
                t.expected * 1e3,
                t.launch * 1e3,
                t.copy * 1e-9,
                t.seconds * 1e3
            )
        });
        format!(
            "{reason}{}{many}{timing}on {} ({:?} kernels), {} components: {} bytes moved a step, {} bytes of memory\n",
            self.one.explain(),
            self.context.device().name,
            self.context.family(),
            self.system.components(),
            self.bytes_per_step(),
            self.buffers.len() as u64 * self.system.components() as u64 * size_of::<T>() as u64
        )
    }
}
