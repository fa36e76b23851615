//! The search for launch parameters.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::{Trial, Tunable, named, operations};
use crate::tune::{CLASSES, Choice, Entry};
use crate::{Context, Precision, Result, Vector, ops};

/// What is searched.
#[derive(Clone)]
pub struct Options {
    /// The operations; those of the other kernel family than the context's are left out.
    pub ops: Vec<&'static Tunable>,
    /// The precisions; double is left out on a device without it.
    pub precisions: Vec<Precision>,
    /// Fewer sizes and samples.
    pub quick: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { ops: operations().collect(), precisions: vec![Precision::F32, Precision::F64], quick: false }
    }
}

/// One choice in one size class.
#[derive(Debug, Clone, Serialize)]
pub struct Candidate {
    /// The parameters, in the operation's order.
    pub choice: Choice,
    /// Median seconds of a call, with its part of a wait for the device.
    pub seconds: f64,
}

/// What was found for one operation, precision and size.
#[derive(Debug, Clone, Serialize)]
pub struct Tuned {
    /// The operation's name.
    pub operation: &'static str,
    /// The precision.
    pub precision: Precision,
    /// Elements in the trial.
    pub elements: usize,
    /// The size classes that the outcome stands for, first and last.
    pub sizes: [usize; 2],
    /// Bytes that must move.
    pub bytes: u64,
    /// The device's default.
    pub default: Candidate,
    /// The fastest; the default where nothing is faster by more than the noise.
    pub best: Candidate,
    /// All that were timed, in the order of the trial.
    pub candidates: Vec<Candidate>,
}

/// A candidate that gave a wrong result or could not run.
#[derive(Debug, Clone, Serialize)]
pub struct Discarded {
    /// The operation's name.
    pub operation: &'static str,
    /// The precision.
    pub precision: Precision,
    /// The parameters, in the operation's order.
    pub choice: Choice,
    /// What was wrong.
    pub why: String,
}

/// The outcome of a search.
#[derive(Debug, Clone, Serialize)]
pub struct Found {
    /// 10^9 bytes per second of a copy on the device in this run.
    pub copy_bandwidth: f64,
    /// Per operation, precision and size.
    pub tuned: Vec<Tuned>,
    /// Candidates that were left out because they are wrong.
    pub discarded: Vec<Discarded>,
}

impl Found {
    /// The outcome as entries of a [`Table`](crate::tune::Table).
    pub fn entries(&self) -> Vec<Entry> {
        let entry = |t: &Tuned| {
            let tunable = named(t.operation).expect("results name operations");
            Entry::new(tunable.operation, t.precision, t.sizes, &t.best.choice)
        };
        self.tuned.iter().map(entry).collect()
    }
}

/// Where a search is.
#[derive(Debug, Clone)]
pub struct Step<'a> {
    /// Candidates tried, of `all`.
    pub done: usize,
    /// Trials in all, as far as known.
    pub all: usize,
    /// What is tried.
    pub what: &'a str,
}

/// Sizes at which a candidate must agree with the reference: none whole in any parameter, below and above a group.
const CHECKED: [usize; 5] = [1, 7, 255, 4099, 100_003];
/// Binary logarithms of the sizes timed.
const TIMED: [usize; 6] = [10, 14, 18, 21, 24, 27];
const TIMED_QUICK: [usize; 2] = [14, 22];
/// A choice takes the place of the default only if it needs less than this part of its time.
const GAIN: f64 = 0.98;
/// The fastest candidates of the first round, timed again beside the default.
const FINALISTS: usize = 5;
/// The shortest sample of the last round, and of the first, which only finds the candidates for it.
const SAMPLE: Duration = Duration::from_millis(2);
const GLANCE: Duration = Duration::from_micros(400);

/// Tries the candidates of each operation on the device of `context`; leaves the context's own parameters as they were.
/// Nobody else may use the context meanwhile.
///
/// A candidate is first compared with the sequential reference at awkward sizes and discarded if it differs. Then each
/// is timed at several sizes, and the fastest once more beside the default.
///
/// # Errors
/// Those of the device, unless they come from a candidate.
pub fn search(context: &Context, options: &Options, report: &mut dyn FnMut(&Step<'_>)) -> Result<Found> {
    let fp64 = context.device().fp64;
    let ops = options.ops.iter().copied().filter(|op| op.operation.family == context.family());
    let precisions = options.precisions.iter().copied().filter(|&p| fp64 || p == Precision::F32);
    let pairs: Vec<_> = ops.flat_map(|op| precisions.clone().map(move |p| (op, p))).collect();
    let mut search = Search {
        context,
        quick: options.quick,
        found: Found {
            copy_bandwidth: copy_bandwidth(context, options.quick)?,
            tuned: Vec::new(),
            discarded: Vec::new(),
        },
        done: 0,
        all: pairs.iter().map(|&(op, p)| steps(context, op, p, options.quick)).sum(),
        report,
    };
    for (op, precision) in pairs {
        let kept = context.choices().copy(op.operation, precision);
        let outcome = search.operation(op, precision);
        context.choices().restore(op.operation, precision, &kept);
        outcome?;
    }
    Ok(search.found)
}

struct Search<'a> {
    context: &'a Context,
    quick: bool,
    found: Found,
    done: usize,
    all: usize,
    report: &'a mut dyn FnMut(&Step<'_>),
}

/// Sizes to time, as binary logarithms: those whose trial leaves most of the memory free.
fn sizes(context: &Context, largest: usize, quick: bool) -> Vec<usize> {
    let most = (context.device().max_alloc / 16).max(1 << 14).min(context.device().global_mem / 128);
    let all = if quick { TIMED_QUICK.as_slice() } else { TIMED.as_slice() };
    // A processor shows its memory bandwidth long before that.
    let most = if context.device().kind == crate::runtime::DeviceKind::Cpu { most.min(1 << 24) } else { most };
    // The last one as large as the operation has them.
    let mut sizes: Vec<usize> = all.iter().map(|&log| log.min(largest)).filter(|&log| 1_u64 << log <= most).collect();
    sizes.dedup();
    sizes
}

fn fitting(context: &Context, op: &Tunable, precision: Precision) -> Vec<Choice> {
    let device = context.device();
    let all = (op.candidates)(device, precision);
    all.into_iter().filter(|choice| op.operation.fits(device, precision, choice)).collect()
}

/// Steps that a search takes for one operation and precision.
fn steps(context: &Context, op: &Tunable, precision: Precision, quick: bool) -> usize {
    fitting(context, op, precision).len() * (1 + sizes(context, op.largest, quick).len())
}

impl Search<'_> {
    fn operation(&mut self, op: &Tunable, precision: Precision) -> Result<()> {
        let operation = op.operation;
        let what = format!("{} {precision:?}", operation.name).to_lowercase();
        let sound = self.sound(op, precision, &what)?;
        let sizes = sizes(self.context, op.largest, self.quick);
        for (k, &log) in sizes.iter().enumerate() {
            let first = if k == 0 { 0 } else { (sizes[k - 1] + log) / 2 + 1 };
            let last = sizes.get(k + 1).map_or(CLASSES - 1, |next| (log + next) / 2);
            let mut trial = (op.trial)(self.context, precision, 1 << log)?;
            let mut candidates = Vec::with_capacity(sound.len());
            for choice in &sound {
                self.step(&format!("{what}, 2^{log} elements"));
                let seconds = self.time(op, precision, choice, &mut trial, (3, GLANCE))?;
                candidates.push(Candidate { choice: *choice, seconds });
            }
            let default = operation.default(self.context.device(), precision, log);
            let (default, best) = self.finals(op, precision, default, &candidates, &mut trial)?;
            self.found.tuned.push(Tuned {
                operation: operation.name,
                precision,
                elements: 1 << log,
                sizes: [first, last],
                bytes: trial.bytes,
                default,
                best,
                candidates,
            });
        }
        Ok(())
    }

    /// The candidates that agree with the reference.
    fn sound(&mut self, op: &Tunable, precision: Precision, what: &str) -> Result<Vec<Choice>> {
        let checked = if self.quick { &CHECKED[1..4] } else { &CHECKED[..] };
        let mut sound = Vec::new();
        for choice in fitting(self.context, op, precision) {
            self.step(&format!("{what}, right?"));
            self.context.choices().set(op.operation, precision, 0..CLASSES, &choice);
            let wrong = checked.iter().find_map(|&n| match (op.check)(self.context, precision, n) {
                Ok(difference) => difference.map(|difference| format!("{n} elements: {difference}")),
                Err(error) => Some(error.to_string()),
            });
            match wrong {
                None => sound.push(choice),
                Some(why) => {
                    self.found.discarded.push(Discarded { operation: op.operation.name, precision, choice, why });
                }
            }
        }
        Ok(sound)
    }

    /// The default and the fastest candidate, timed once more in turns.
    fn finals(
        &mut self,
        op: &Tunable,
        precision: Precision,
        default: Choice,
        candidates: &[Candidate],
        trial: &mut Trial,
    ) -> Result<(Candidate, Candidate)> {
        let mut order: Vec<&Candidate> = candidates.iter().filter(|c| c.choice != default).collect();
        order.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let mut finalists = vec![default];
        finalists.extend(order.iter().take(FINALISTS).map(|c| c.choice));
        let rounds = if self.quick { 1 } else { 3 };
        let mut times = vec![Vec::new(); finalists.len()];
        for _ in 0..rounds {
            for (choice, times) in finalists.iter().zip(&mut times) {
                times.push(self.time(op, precision, choice, trial, (7, SAMPLE))?);
            }
        }
        let mut all =
            finalists.into_iter().zip(times).map(|(choice, mut t)| Candidate { choice, seconds: median(&mut t) });
        let default = all.next().expect("the default is the first");
        let best = all.min_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let best = best.filter(|best| best.seconds < GAIN * default.seconds).unwrap_or_else(|| default.clone());
        Ok((default, best))
    }

    /// Median seconds of a call with `choice`.
    fn time(
        &self,
        op: &Tunable,
        precision: Precision,
        choice: &Choice,
        trial: &mut Trial,
        samples: (usize, Duration),
    ) -> Result<f64> {
        self.context.choices().set(op.operation, precision, 0..CLASSES, choice);
        time(self.context, samples, &mut trial.run)
    }

    fn step(&mut self, what: &str) {
        self.done += 1;
        (self.report)(&Step { done: self.done, all: self.all, what });
    }
}

/// Median seconds of a call: some samples of as many calls as take so long, with a wait at their end.
fn time(context: &Context, (samples, length): (usize, Duration), call: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
    let mut sample = |calls: usize| -> Result<Duration> {
        let start = Instant::now();
        for _ in 0..calls {
            call()?;
        }
        context.finish()?;
        Ok(start.elapsed())
    };
    // The first call builds the kernel.
    sample(1)?;
    let mut calls = 1;
    loop {
        let taken = sample(calls)?;
        if taken >= length / 2 || calls >= 1 << 16 {
            break;
        }
        // Towards one sample, in few steps.
        let factor = length.as_secs_f64() / taken.as_secs_f64().max(1e-9);
        calls = (calls as f64 * factor.clamp(2.0, 16.0)) as usize;
    }
    let times = (0..samples).map(|_| Ok(sample(calls)?.as_secs_f64() / calls as f64));
    Ok(median(&mut times.collect::<Result<Vec<_>>>()?))
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// 10^9 bytes per second of a copy far larger than the caches.
fn copy_bandwidth(context: &Context, quick: bool) -> Result<f64> {
    let log = sizes(context, usize::MAX, quick).last().copied().unwrap_or(14);
    let n = 2_usize << log;
    let x = Vector::<f32>::filled(context, n, 1.0)?;
    let mut y = Vector::<f32>::zeros(context, n)?;
    let seconds = time(context, (15, SAMPLE), &mut || ops::copy(&x, &mut y))?;
    Ok((2 * n * size_of::<f32>()) as f64 / seconds * 1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::reduce::REDUCE;
    use crate::runtime::devices;
    use crate::tune::{Needs, Operation, Parameters};
    use crate::{ContextOptions, KernelFamily};

    /// An operation that is fast and wrong with one parameter, cannot run with another, and is right with the others.
    static FAKE: Operation = Operation::new(
        "elementwise",
        "",
        Parameters {
            family: KernelFamily::Gpu,
            names: &[("local", ""), ("width", ""), ("items", "")],
            needs: |_, _| Some(Needs { group: 1, local_bytes: 0, tensor: false }),
            default: |_, _, _| [64, 1, 1, 0, 0, 0],
        },
    );

    static TRIED: Tunable = Tunable {
        operation: &FAKE,
        per_item: |_| 1,
        candidates: |_, _| [64, 1, 2, 3, 32].map(|local| [local, 1, 1, 0, 0, 0]).into(),
        largest: 27,
        check: |context, precision, n| match context.choice(&FAKE, precision, n)[0] {
            1 => Ok(Some("value 0 is 1, expected 2".into())),
            2 if n > 1000 => Ok(Some("value 1000 is 1, expected 2".into())),
            3 => Err(crate::Error::value("work-group size", "at most 2", 3)),
            _ => Ok(None),
        },
        trial: |context, precision, n| {
            let context = context.clone();
            let run = move || {
                let [local, ..] = context.choice(&FAKE, precision, n);
                // Far apart even where a busy machine wakes a thread some milliseconds late.
                std::thread::sleep(Duration::from_micros(250 * u64::from(local)));
                Ok(())
            };
            Ok(Trial { bytes: 8, run: Box::new(run) })
        },
    };

    #[test]
    fn wrong_candidates_are_discarded_and_the_fastest_right_one_is_found() {
        let Some(devices) = clinalg_testing::found(devices()) else { return };
        let options = ContextOptions { family: Some(KernelFamily::Gpu), ..ContextOptions::default() };
        let context = Context::new(&devices[0], &options).unwrap();
        let mut steps = 0;
        let mut search = Search {
            context: &context,
            quick: true,
            found: Found { copy_bandwidth: 1.0, tuned: Vec::new(), discarded: Vec::new() },
            done: 0,
            all: 0,
            report: &mut |_| steps += 1,
        };
        search.operation(&TRIED, Precision::F32).unwrap();
        let found = search.found;
        let discarded: Vec<(u32, &str)> = found.discarded.iter().map(|d| (d.choice[0], d.why.as_str())).collect();
        assert_eq!(discarded.len(), 3, "{discarded:?}");
        assert_eq!(discarded[0], (1, "7 elements: value 0 is 1, expected 2"));
        assert_eq!(discarded[1], (2, "4099 elements: value 1000 is 1, expected 2"));
        assert!(discarded[2].0 == 3 && discarded[2].1.contains("work-group size"), "{discarded:?}");
        for tuned in &found.tuned {
            assert_eq!((tuned.default.choice[0], tuned.best.choice[0]), (64, 32), "{tuned:?}");
            assert_eq!(tuned.candidates.len(), 2);
        }
        // The entries cover every size once.
        let mut next = 0;
        for entry in found.entries() {
            assert_eq!(entry.sizes[0], next);
            next = entry.sizes[1] + 1;
        }
        assert_eq!(next, CLASSES);
        assert_eq!(steps, 5 + 2 * found.tuned.len());
    }

    #[test]
    fn a_search_leaves_the_context_as_it_was() {
        let Some(devices) = clinalg_testing::found(devices()) else { return };
        let options = ContextOptions { family: Some(KernelFamily::Gpu), ..ContextOptions::default() };
        let context = Context::new(&devices[0], &options).unwrap();
        let all = |context: &Context| context.choices().copy(&REDUCE, Precision::F32);
        let before = all(&context);
        // No candidate of the other family is tried on this context.
        let options = Options { ops: Vec::new(), ..Options::default() };
        let found = search(&context, &options, &mut |_| ()).unwrap();
        assert!(found.copy_bandwidth > 0.0 && found.tuned.is_empty());
        assert_eq!(all(&context), before);
    }
}
