//! A call in three phases: the host's getters read the arguments, the library computes, the host's
//! constructors make the results.
//!
//! The host's functions may leave by an exception that Rust must not catch, and a panic must not
//! reach the host. So [`guarded`] runs all computing and no host call.

use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::args::{Args, Array};
use crate::emit::{Answer, emit, print};
use crate::fault::{Fault, guarded, id, quiet_panics};
use crate::function::Function;
use crate::host::{Host, MxArray};
use crate::session;
use crate::table;

/// Whether the library is locked in the host and its exit hook set.
static HOOKED: AtomicBool = AtomicBool::new(false);

/// Locks the library in the host and sets the exit hook, on the first call and again after
/// [`unhook`]: the host drops both for an unlocked function that is cleared.
fn hook(host: &Host) {
    if !HOOKED.swap(true, Ordering::Relaxed) {
        quiet_panics();
        // SAFETY: called by the host's thread during a call; the hook stays valid, as the library
        // is never unloaded.
        unsafe {
            (host.lock)();
            (host.at_exit)(at_exit);
        }
    }
}

/// Lets the host clear the library.
fn unhook(host: &Host) {
    if HOOKED.swap(false, Ordering::Relaxed) {
        // SAFETY: called by the host's thread during a call.
        unsafe { (host.unlock)() };
    }
}

/// Releases everything; the host calls it at its end or when the library is cleared.
///
/// # Safety
/// None: it touches no memory of the host.
unsafe extern "C" fn at_exit() {
    HOOKED.store(false, Ordering::Relaxed);
    let released = guarded(|| {
        session::close();
        Ok(())
    });
    drop(released);
}

/// One call of the gateway: `inputs` are the function's name or number and its arguments.
///
/// # Safety
/// The pointers are those that the host passes to `mexFunction`.
pub(crate) unsafe fn call(
    host: &'static Host,
    nlhs: i32,
    plhs: *mut *mut MxArray,
    nrhs: i32,
    prhs: *const *const MxArray,
) -> Result<(), Fault> {
    hook(host);
    let inputs = match usize::try_from(nrhs) {
        // SAFETY: the host passes `nrhs` arrays that live during the call.
        Ok(count @ 1..) => unsafe { slice::from_raw_parts(prhs, count) },
        _ => &[],
    };
    // SAFETY: as above.
    let mut arrays = inputs.iter().map(|&raw| unsafe { Array::new(host, raw) });
    let count = inputs.len().saturating_sub(1);
    let outputs = usize::try_from(nlhs).unwrap_or(0);
    let function = select(arrays.next())?;
    let named = |fault: Fault| function.explain(fault);

    function.check_count(count, outputs).map_err(named)?;
    let args = Args::read(function.inputs, function.required, outputs, arrays).map_err(named)?;
    let answer = guarded(|| (function.run)(&args)).map_err(named)?;
    drop(args);
    if function.unlocks {
        unhook(host);
    }
    match answer {
        Answer::Nothing => {}
        Answer::Print(words) => print(host, words),
        Answer::One(out) => {
            let array = emit(host, out).map_err(named)?;
            // SAFETY: the host has room for one output, even where none is taken.
            unsafe { plhs.write(array) };
        }
        Answer::Several(outs) => {
            for (index, out) in outs.into_iter().take(outputs.max(1)).enumerate() {
                let array = emit(host, out).map_err(named)?;
                // SAFETY: the host has room for `nlhs` outputs, at least one.
                unsafe { plhs.add(index).write(array) };
            }
        }
    }
    Ok(())
}

/// The function that the first argument names.
fn select(first: Option<Array<'_>>) -> Result<&'static Function, Fault> {
    let Some(first) = first else {
        return Err(Fault::new(
            id::FUNCTION,
            "the gateway is called by the Mex functions and takes the name of one first",
        ));
    };
    let mut buffer = [0; 64];
    if let Some(name) = first.name(&mut buffer) {
        return table::by_name(name)
            .ok_or_else(|| Fault::new(id::FUNCTION, format_args!("there is no function `{name}`")));
    }
    match first.any_number() {
        Some(number) => table::by_number(number)
            .ok_or_else(|| Fault::new(id::FUNCTION, format_args!("there is no function number {number}"))),
        None => Err(Fault::new(id::FUNCTION, "the first argument is the name or the number of a function")),
    }
}
