//! What goes wrong in a call, on its way to the host's error function.

use std::cell::RefCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

/// An error as the host sees it: an identifier `clinalg:<topic>:<what>` and a message.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) id: &'static str,
    pub(crate) text: String,
}

/// The identifiers of errors that only this binding has.
pub(crate) mod id {
    pub(crate) const COUNT: &str = "clinalg:argument:count";
    pub(crate) const CLASS: &str = "clinalg:argument:class";
    pub(crate) const COMPLEX: &str = "clinalg:argument:complex";
    pub(crate) const SHAPE: &str = "clinalg:argument:shape";
    pub(crate) const VALUE: &str = "clinalg:argument:value";
    pub(crate) const FUNCTION: &str = "clinalg:call:function";
    pub(crate) const HOST: &str = "clinalg:host:missing";
    pub(crate) const THREAD: &str = "clinalg:host:thread";
    pub(crate) const INTERNAL: &str = "clinalg:internal:panic";
}

impl Fault {
    pub(crate) fn new(id: &'static str, text: impl fmt::Display) -> Fault {
        Fault { id, text: text.to_string() }
    }

    /// An error of argument number `position` (1-based) of a function.
    pub(crate) fn argument(id: &'static str, position: usize, name: &str, problem: impl fmt::Display) -> Fault {
        Fault::new(id, format_args!("argument {position} `{name}` {problem}"))
    }
}

impl From<clinalg::Error> for Fault {
    fn from(error: clinalg::Error) -> Fault {
        Fault::new(error.id(), &error)
    }
}

impl From<clinalg_ode::Error> for Fault {
    fn from(error: clinalg_ode::Error) -> Fault {
        Fault::new(error.id(), &error)
    }
}

thread_local! {
    /// Where the last panic came from and what it said.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs `compute`, which calls nothing of the host; a panic becomes a fault.
pub(crate) fn guarded<T>(compute: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(compute)).unwrap_or_else(|_| {
        let message = PANIC.with_borrow_mut(std::mem::take);
        Err(Fault::new(id::INTERNAL, format_args!("internal error, please report it: {message}")))
    })
}

/// Keeps panics off the standard error stream, which a host may have closed.
pub(crate) fn quiet_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|info| PANIC.set(info.to_string())));
    });
}
