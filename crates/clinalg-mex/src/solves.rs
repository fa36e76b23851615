//! Solves whose products with A, or with the inverse of a preconditioner, the host computes.
//!
//! Each runs in a thread of its own, which waits for a product until the host gives it in its next call. So the host's functions that compute products
//! run between two calls, in the host's own thread, and may call this library themselves.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

use clinalg::solve::{Report, Stopping};
use clinalg::{Context, Error, HandleFault};
use clinalg_handles::{Caller, Kind, Method, Operand, Preconditioning, Registry};

use crate::fault::{Fault, guarded, id};
use crate::typed::typed;

/// Highest byte of a handle, which neither objects, sessions nor integrations have.
const MARK: u64 = 0x3d << 56;

/// A product that a solve waits for.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    what: What,
    /// The vector that is multiplied, and the one that takes the product.
    x: u64,
    y: u64,
}

/// What a vector is multiplied with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// The matrix.
    Matrix,
    /// The inverse of the preconditioner.
    Preconditioner,
}

/// The method, A, which is `None` for a function of the host, and b.
type System = (Method, Option<u64>, u64);

/// x, the report and the number of its iterate.
type Solved = (u64, Report, usize);

struct Solve {
    method: Method,
    /// `None` for a function of the host.
    a: Option<u64>,
    b: u64,
    /// Tells the thread that the product is there; dropped, it ends the solve.
    go: Sender<()>,
    wanted: Receiver<Wanted>,
    current: Option<Wanted>,
    stops: Arc<AtomicBool>,
    thread: JoinHandle<Result<Solved, Fault>>,
}

#[derive(Default)]
struct Solves {
    begun: u64,
    live: HashMap<u64, Solve>,
}

static SOLVES: Mutex<Option<Solves>> = Mutex::new(None);

fn solves() -> MutexGuard<'static, Option<Solves>> {
    // No critical section below panics half-way.
    SOLVES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is to be solved; without a matrix or with `applied`, products are the host's.
pub(crate) struct Task {
    pub(crate) method: Method,
    pub(crate) a: Option<u64>,
    pub(crate) b: u64,
    pub(crate) x: Option<u64>,
    pub(crate) preconditioning: Preconditioning,
    /// Whether the host applies the preconditioner.
    pub(crate) applied: bool,
    pub(crate) stopping: Stopping,
}

/// An operator whose product the host computes: it waits for `go` after each request.
fn operator(
    what: What,
    context: &Context,
    b: u64,
    requests: &Sender<Wanted>,
    go: &Arc<Mutex<Receiver<()>>>,
) -> Result<u64, Fault> {
    let registry = Registry::global();
    let full = [Operand::new("b", b, Kind::FULL)];
    let (scalar, n) = registry.call(&full, None, |inputs, _| {
        let info = inputs[0].info();
        // The columns of a matrix are solved for one after the other.
        let several = info.rows > 1 && info.cols > 1;
        Ok((inputs[0].scalar(), if several { info.rows } else { info.entries }))
    })?;
    let (requests, go) = (requests.clone(), go.clone());
    let product = move |x, y| {
        let go = go.lock().unwrap_or_else(PoisonError::into_inner);
        match requests.send(Wanted { what, x, y }).is_ok() && go.recv().is_ok() {
            true => Ok(()),
            false => Err(Error::Cancelled { reached: "while it waited for a product of the caller's function".into() }),
        }
    };
    Ok(
        typed!(scalar, T => registry.operator_of::<T>(context, (n, n), clinalg_handles::Kind::Dense, Box::new(product))?),
    )
}

/// Begins a solve; gives its handle.
///
/// # Errors
/// Those of new objects; where the system gives no further thread.
pub(crate) fn begin(context: &Context, task: Task) -> Result<u64, Fault> {
    let registry = Registry::global();
    let mut given: Vec<Operand> = task.a.map(|a| Operand::new("a", a, Kind::SYSTEM)).into_iter().collect();
    given.extend(task.x.map(|x| Operand::new("x", x, Kind::FULL)));
    if let Preconditioning::Inverse(m) = task.preconditioning {
        given.push(Operand::new("preconditioner", m, Kind::MATRIX));
    }
    registry.call(&given, None, |_, _| Ok(()))?;
    let ((requests, wanted), (go, waits)) = (channel(), channel());
    let waits = Arc::new(Mutex::new(waits));
    let mut operators = Vec::new();
    let a = match task.a {
        Some(a) => a,
        None => {
            operators.push(operator(What::Matrix, context, task.b, &requests, &waits)?);
            operators[0]
        }
    };
    let mut preconditioning = task.preconditioning;
    if task.applied {
        let inverse = operator(What::Preconditioner, context, task.b, &requests, &waits)?;
        operators.push(inverse);
        preconditioning = Preconditioning::Inverse(inverse);
    }
    // Only the operators send requests: their channel ends with the solve.
    drop(requests);
    let stops = Arc::new(AtomicBool::new(false));
    let stop = stops.clone();
    let (method, b) = (task.method, task.b);
    // The host's functions run in the solve, which waits for them.
    let caller = Caller::current();
    let solve = move || {
        let mut progress = |_: usize, _: f64| match stop.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let system = (a, b, task.x);
        let solved =
            guarded(|| Ok(registry.solve_to_best(method, preconditioning, system, &task.stopping, &mut progress)?));
        for operator in operators {
            // Stale where all objects are released.
            let _ = registry.release(operator, Kind::OPERATOR);
        }
        solved
    };
    let thread = Builder::new().spawn(move || caller.adopt(solve)).map_err(|error| {
        Fault::new(
            id::THREAD,
            format_args!("a thread for the solve cannot be started: {error}; end other solves first"),
        )
    })?;
    let mut solves = solves();
    let solves = solves.get_or_insert_default();
    solves.begun += 1;
    let handle = MARK | solves.begun;
    solves.live.insert(handle, Solve { method, a: task.a, b, go, wanted, current: None, stops, thread });
    Ok(handle)
}

fn take(handle: u64) -> Result<Solve, Error> {
    let mut solves = solves();
    let solves = solves.get_or_insert_default();
    solves.live.remove(&handle).ok_or_else(|| {
        let begun = (MARK + 1..=MARK + solves.begun).contains(&handle);
        let fault = match Registry::global().info(handle) {
            _ if begun => HandleFault::Stale,
            Ok(_) => HandleFault::Kind,
            Err(Error::Handle { fault, .. }) => fault,
            Err(_) => HandleFault::Foreign,
        };
        Error::Handle { argument: "run", fault, handle, expected: "handle of MexSolveBegin".into() }
    })
}

/// Gives the product that the solve waits for, if it does, and says which one it needs next, with a copy of the vector; nothing at the end. `stop` ends
/// the solve after its iteration.
///
/// # Errors
/// [`Error::Handle`]; those of a copy from `product` to the vector that takes it.
pub(crate) fn next(handle: u64, product: Option<u64>, stop: bool) -> Result<Option<(What, u64)>, Fault> {
    let mut solve = take(handle)?;
    let registry = Registry::global();
    let given = match (solve.current, product) {
        (Some(Wanted { y, .. }), Some(product)) => registry.copy(product, Some(y)).map(|_| ()),
        (Some(_), None) => Err(Error::value("y", "the product that was requested", "nothing")),
        (None, _) => Ok(()),
    };
    let answer = given.and_then(|()| {
        solve.stops.fetch_or(stop, Ordering::Relaxed);
        if solve.current.take().is_some() {
            // An error shows in what is received.
            let _ = solve.go.send(());
        }
        solve.current = solve.wanted.recv().ok();
        solve.current.map(|Wanted { what, x, .. }| Ok((what, registry.copy(x, None)?))).transpose()
    });
    solves().get_or_insert_default().live.insert(handle, solve);
    Ok(answer?)
}

/// Ends a solve; gives its method, A and b, and what it found.
///
/// # Errors
/// [`Error::Handle`]; those of the solve; [`Error::Cancelled`] where it still waits for a product.
pub(crate) fn end(handle: u64) -> Result<(System, Solved), Fault> {
    let Solve { method, a, b, go, wanted, thread, .. } = take(handle)?;
    drop((go, wanted));
    let solved = thread.join().unwrap_or_else(|_| Err(Fault::new(id::INTERNAL, "internal error, please report it")))?;
    Ok(((method, a, b), solved))
}

/// Ends all solves.
pub(crate) fn end_all() {
    let live = std::mem::take(&mut solves().get_or_insert_default().live);
    for Solve { go, wanted, thread, .. } in live.into_values() {
        drop((go, wanted));
        drop(thread.join());
    }
}
