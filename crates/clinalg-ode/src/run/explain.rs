//! Explanation and timing of a stepper.

use std::time::Instant;

use clinalg::{Real, Vector, ops};

use crate::Result;
use crate::codegen::kernels::Schedule;
use crate::run::device::{DeviceStepper, RUNS, Tried, WARM};
use crate::run::stepper::Tolerance;

/// What a step takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timing {
    /// Median seconds measured.
    pub seconds: f64,
    /// Seconds by the model, at the rate of `copy`.
    pub expected: f64,
    /// Bytes read and written in a second by a copy of a vector.
    pub copy: f64,
}

impl<T: Real> DeviceStepper<T> {
    /// Measures what a step takes and a copy of a vector beside it. Steps of size 0 are computed for that and not taken.
    ///
    /// # Errors
    /// Those of the device; memory for two more vectors is needed.
    pub fn measure(&mut self) -> Result<Timing> {
        let n = self.system.components();
        let (what, steps) = match &self.many {
            Some(many) => (Tried::Many, many.plan.graph().steps()),
            None => (Tried::One, 1),
        };
        let from = Vector::<T>::zeros(&self.context, n)?;
        let mut to = Vector::<T>::zeros(&self.context, n)?;
        let context = self.context.clone();
        let times = vec![0.0; steps];
        let (mut step, mut copied) = (Vec::new(), Vec::new());
        for run in 0..WARM + RUNS {
            let start = Instant::now();
            self.launch(what, &times, 0.0, &Tolerance::UNUSED)?;
            context.finish()?;
            let between = Instant::now();
            ops::copy(&from, &mut to)?;
            context.finish()?;
            if run >= WARM {
                step.push((between - start).as_secs_f64() / steps as f64);
                copied.push(between.elapsed().as_secs_f64());
            }
        }
        let median = |times: &mut Vec<f64>| {
            times.sort_by(f64::total_cmp);
            times[RUNS / 2].max(f64::MIN_POSITIVE)
        };
        let bytes = (n * size_of::<T>()) as f64;
        let copy = 2.0 * bytes / median(&mut copied);
        let timing = Timing { seconds: median(&mut step), expected: self.price * bytes / copy, copy };
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
                "a step: {:.4} ms expected at the {:.1} GB/s of a copy, {:.4} ms measured\n",
                t.expected * 1e3,
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
