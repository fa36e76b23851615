//! Integrations that continue from call to call.
//!
//! Each is computed by a thread of its own, which waits after every step until the next one is requested. So the host's
//! functions that see the steps run between two calls, in the host's own thread, and may call this library themselves.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

use clinalg::{Context, Error, HandleFault};
use clinalg_handles::Registry;
use clinalg_ode::System;
use clinalg_ode::ivp::{Settings, Solution, watch};

use crate::fault::{Fault, guarded, id};

/// Highest byte of a handle, which neither objects nor sessions have.
const MARK: u64 = 0x3e << 56;

/// Times, and the components at each.
type Points = (Vec<f64>, Vec<f64>);

struct Run {
    /// Lets the thread continue; dropped, it makes it end.
    go: SyncSender<()>,
    points: Receiver<Points>,
    /// Points of the first step, until they are requested: the thread computes during calls only.
    first: Option<Points>,
    /// Whether the thread waits after a step.
    waits: bool,
    thread: JoinHandle<Result<Solution, Fault>>,
    columns: usize,
}

#[derive(Default)]
struct Runs {
    begun: u64,
    live: HashMap<u64, Run>,
}

static RUNS: Mutex<Option<Runs>> = Mutex::new(None);

fn runs() -> MutexGuard<'static, Option<Runs>> {
    // No critical section below panics half-way.
    RUNS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is to be solved.
pub(crate) struct Task {
    pub(crate) context: Context,
    pub(crate) system: System,
    pub(crate) times: Vec<f64>,
    pub(crate) y0: Vec<f64>,
    pub(crate) settings: Settings,
}

/// Begins to solve; gives a handle.
///
/// # Errors
/// Where the system gives no further thread.
pub(crate) fn begin(task: Task) -> Result<u64, Fault> {
    let (go, wait) = sync_channel(0);
    let (give, points) = sync_channel::<Points>(0);
    let columns = task.y0.len();
    let solve = move || {
        let Task { context, system, times, y0, settings } = task;
        let mut seen = |t: &[f64], y: &[f64]| give.send((t.to_vec(), y.to_vec())).is_ok() && wait.recv().is_ok();
        guarded(|| Ok(watch(&context, &system, &times, &y0, &settings, &mut seen)?))
    };
    let thread = Builder::new().spawn(solve).map_err(|error| {
        Fault::new(
            id::THREAD,
            format_args!("a thread for the integration cannot be started: {error}; end other integrations first"),
        )
    })?;
    let first = points.recv().ok();
    let run = Run { go, points, waits: first.is_some(), first, thread, columns };
    let mut runs = runs();
    let runs = runs.get_or_insert_default();
    runs.begun += 1;
    let handle = MARK | runs.begun;
    runs.live.insert(handle, run);
    Ok(handle)
}

/// Takes the run of a handle out.
fn take(handle: u64) -> Result<Run, Error> {
    let mut runs = runs();
    let runs = runs.get_or_insert_default();
    runs.live.remove(&handle).ok_or_else(|| {
        let begun = (MARK + 1..=MARK + runs.begun).contains(&handle);
        let fault = match Registry::global().info(handle) {
            _ if begun => HandleFault::Stale,
            Ok(_) => HandleFault::Kind,
            Err(Error::Handle { fault, .. }) => fault,
            Err(_) => HandleFault::Foreign,
        };
        Error::Handle { argument: "run", fault, handle, expected: "handle of MexOdeBegin".into() }
    })
}

/// What the next step with points adds; nothing at the end.
///
/// # Errors
/// [`Error::Handle`].
pub(crate) fn next(handle: u64) -> Result<Points, Error> {
    let mut run = take(handle)?;
    let points = match run.first.take() {
        None if run.waits && run.go.send(()).is_ok() => run.points.recv().ok(),
        first => first,
    };
    run.waits = points.is_some();
    runs().get_or_insert_default().live.insert(handle, run);
    Ok(points.unwrap_or_default())
}

/// Ends the integration where it is; gives the solution and the number of its components.
///
/// # Errors
/// [`Error::Handle`]; those of the integration.
pub(crate) fn end(handle: u64) -> Result<(Solution, usize), Fault> {
    let Run { go, points, thread, columns, .. } = take(handle)?;
    drop((go, points));
    let solution =
        thread.join().unwrap_or_else(|_| Err(Fault::new(id::INTERNAL, "internal error, please report it")))?;
    Ok((solution, columns))
}

/// Ends all integrations.
pub(crate) fn end_all() {
    let live = std::mem::take(&mut runs().get_or_insert_default().live);
    for Run { go, points, thread, .. } in live.into_values() {
        drop((go, points));
        drop(thread.join());
    }
}
