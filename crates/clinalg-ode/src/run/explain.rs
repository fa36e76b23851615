//! Explanation and timing of a stepper.

use std::time::Instant;

use clinalg::{Context, Real, Vector, number, ops};

use crate::Result;
use crate::codegen::kernels::Schedule;
use crate::run::device::{DeviceStepper, RUNS, Tried, WARM};
use crate::run::stepper::Tolerance;

/// What a step takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timing {
    /// Median seconds measured.
    pub seconds: f64,
    /// Seconds by the model: those of the launches, and the words moved at the rate of `copy`.
    pub expected: f64,
    /// Bytes read and written in a second by copies in as much memory as a step has, which may be that of a cache, without what
    /// their launches take.
    pub copy: f64,
    /// Seconds of a launch and of waiting for it.
    pub launch: f64,
}

/// Copies that are enqueued together where one takes hardly longer than its launch.
const TOGETHER: usize = 16;
/// Components of vectors whose copy takes long enough.
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

/// Median seconds of `count` copies of so many components.
fn copying<T: Real>(context: &Context, len: usize, count: usize) -> Result<f64> {
    let from = Vector::<T>::zeros(context, len)?;
    let mut to = Vector::<T>::zeros(context, len)?;
    median(context, || Ok((0..count).try_for_each(|_| ops::copy(&from, &mut to))?))
}

/// What a step costs beside its words.
#[derive(Debug, Clone, Copy)]
struct Rates {
    /// Seconds of a launch and of waiting for it.
    launch: f64,
    /// Seconds of a launch behind others.
    next: f64,
    /// Bytes that copies of `len` components move in a second beyond their launches.
    copy: f64,
}

impl Rates {
    fn new<T: Real>(context: &Context, len: usize) -> Result<Rates> {
        let launch = copying::<T>(context, 1, 1)?;
        let next = (copying::<T>(context, 1, TOGETHER)? - launch).max(0.0) / (TOGETHER - 1) as f64;
        let count = (LARGE / len).clamp(1, TOGETHER);
        let seconds = copying::<T>(context, len, count)?;
        let bytes = (2 * len * count * size_of::<T>()) as f64;
        let launches = launch + next * (count - 1) as f64;
        Ok(Rates { launch, next, copy: bytes / (seconds - launches).max(0.1 * seconds) })
    }
}

impl<T: Real> DeviceStepper<T> {
    /// Measures what a step takes, and launches and copies for the model. Steps of size 0 are computed for that and not taken.
    ///
    /// # Errors
    /// Those of the device; as much memory as the stepper has is needed once more.
    pub fn measure(&mut self) -> Result<Timing> {
        let n = self.system.components();
        let (what, steps) = match &self.many {
            Some(many) => (Tried::Many, many.plan.graph().steps()),
            None => (Tried::One, 1),
        };
        let context = self.context.clone();
        let times = vec![0.0; steps];
        let together = median(&context, || self.launch(what, &times, 0.0, &Tolerance::UNUSED))?;
        // Two vectors of half its memory, if there is room for them.
        let free = context.device().global_mem.saturating_sub(context.memory().live_bytes) / 4;
        let most = context.device().max_alloc.min(free) as usize / size_of::<T>();
        let Rates { launch, next, copy } =
            Rates::new::<T>(&context, (n * self.buffers.len() / 2).clamp(n, most.max(n)))?;
        let moved = self.price * (n * size_of::<T>()) as f64;
        let launches = self.many.as_ref().unwrap_or(&self.one).launches.len();
        let expected = (launch + next * (launches - 1) as f64) / steps as f64 + moved / copy;
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
                "one step: {} ms expected ({} ms per launch, words at {} GB/s, the rate of copies of the same size), \
                 {} ms measured\n",
                number(t.expected * 1e3, 3),
                number(t.launch * 1e3, 3),
                number(t.copy * 1e-9, 3),
                number(t.seconds * 1e3, 3)
            )
        });
        format!(
            "{reason}{}{many}{timing}on {} ({:?} kernels), {} components: {} bytes moved per step, {} bytes of memory\n",
            self.one.explain(),
            self.context.device().name,
            self.context.family(),
            self.system.components(),
            self.bytes_per_step(),
            self.buffers.len() as u64 * self.system.components() as u64 * size_of::<T>() as u64
        )
    }
}
