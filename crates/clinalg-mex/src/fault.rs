//! What goes wrong in a call, on its way to the host's error function.

use std::fmt;

/// An error as the host sees it: an identifier `clinalg:<topic>:<what>` and words.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) id: &'static str,
    pub(crate) text: String,
}

/// The identifiers of errors that only this door has.
pub(crate) mod id {
    pub(crate) const COUNT: &str = "clinalg:argument:count";
    pub(crate) const CLASS: &str = "clinalg:argument:class";
    pub(crate) const COMPLEX: &str = "clinalg:argument:complex";
    pub(crate) const SHAPE: &str = "clinalg:argument:shape";
    pub(crate) const VALUE: &str = "clinalg:argument:value";
    pub(crate) const FUNCTION: &str = "clinalg:call:function";
    pub(crate) const HOST: &str = "clinalg:host:missing";
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
