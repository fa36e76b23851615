//! The one error type of the library, with identifiers that every language binding passes on.

use std::path::PathBuf;

/// The result of every fallible operation of the library.
pub type Result<T> = std::result::Result<T, Error>;

/// What is wrong with a handle that was passed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandleFault {
    /// It was valid once and has been released.
    Stale,
    /// This process never issued it.
    Foreign,
    /// It refers to an object of a kind that the call does not accept.
    Kind,
}

/// Everything that can go wrong, each with an [`id`](Error::id) for programs and a message for people.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No OpenCL loader library could be opened.
    #[error(
        "no OpenCL loader found ({reason}); install one and a driver: on Debian or Ubuntu `apt-get install ocl-icd-libopencl1 pocl-opencl-icd`"
    )]
    NoLoader {
        /// The dynamic linker's message.
        reason: String,
    },
    /// The loader knows no platform.
    #[error(
        "the OpenCL loader lists no platform: no driver is installed or OCL_ICD_VENDORS names a folder without `.icd` files; on Debian or Ubuntu `apt-get install pocl-opencl-icd` installs a driver for the CPU"
    )]
    NoPlatform,
    /// There are platforms, none of which has a device.
    #[error(
        "no OpenCL device: the platforms {platforms:?} list none; check that the driver's kernel module is loaded, that you may open its device file, and for PoCL that POCL_CACHE_DIR is writable"
    )]
    NoDevice {
        /// Names of the platforms found.
        platforms: Vec<String>,
    },
    /// No device matches the selector.
    #[error("no device matches `{wanted}`; there are: {}", available.join("; "))]
    DeviceNotFound {
        /// The selector as given.
        wanted: String,
        /// Index and name of each device found.
        available: Vec<String>,
    },
    /// Double precision on a device that does not support it.
    #[error("device `{device}` has no double precision (cl_khr_fp64); use single precision or another device")]
    NoFp64 {
        /// The device's name.
        device: String,
    },
    /// The driver's compiler rejected a kernel.
    #[error("device `{device}` could not build kernel file `{program}`; the compiler said:\n{log}")]
    Build {
        /// The device's name.
        device: String,
        /// The kernel file's name.
        program: String,
        /// The driver's build log.
        log: String,
    },
    /// An allocation that the device cannot hold.
    #[error("{}", allocation_words(*bytes, device, limit))]
    Allocation {
        /// Requested bytes; 0 if the driver reports the failure of a call without a size.
        bytes: u64,
        /// The device's name.
        device: String,
        /// Which limit was exceeded, with its value.
        limit: String,
    },
    /// Any other failure of an OpenCL call.
    #[error("OpenCL call {call} failed on device `{device}` with {name} ({code})")]
    OpenCl {
        /// The entry point.
        call: &'static str,
        /// The device's name.
        device: String,
        /// The status code.
        code: i32,
        /// The status code's name in the specification.
        name: String,
    },
    /// The device stopped working; everything on it is lost.
    #[error(
        "device `{device}` is lost ({name} from {call}); objects on it cannot be used any more: release them and create a new context"
    )]
    DeviceLost {
        /// The entry point.
        call: &'static str,
        /// The device's name.
        device: String,
        /// The status code's name in the specification.
        name: String,
    },
    /// The process was forked after OpenCL was in use.
    #[error(
        "this process was forked from one that had used OpenCL, whose drivers do not work in the child; fork before the first call of clinalg, or start the child as a new program (exec, `spawn` in Python)"
    )]
    Forked,
    /// An array of the wrong length.
    #[error("argument `{argument}` has length {got}, expected {expected}")]
    Length {
        /// The argument's name.
        argument: &'static str,
        /// The expected length.
        expected: usize,
        /// The actual length.
        got: usize,
    },
    /// An object of the wrong shape.
    #[error("argument `{argument}` is {got}, expected {expected}")]
    Shape {
        /// The argument's name.
        argument: &'static str,
        /// The expected shape.
        expected: String,
        /// The given shape.
        got: String,
    },
    /// A value outside its range.
    #[error("argument `{argument}` is {got}, expected {expected}")]
    Value {
        /// The argument's name.
        argument: &'static str,
        /// The expected range.
        expected: String,
        /// The value given.
        got: String,
    },
    /// An argument whose values do not suit the call.
    #[error("argument `{argument}`: {reason}")]
    Unsuitable {
        /// The argument's name.
        argument: &'static str,
        /// What is wrong with it, and what to do.
        reason: String,
    },
    /// Single and double precision mixed in one call.
    #[error(
        "argument `{argument}` is {got}, expected {expected}: all arguments of a call must have the same precision"
    )]
    Precision {
        /// The argument's name.
        argument: &'static str,
        /// The expected precision.
        expected: crate::Precision,
        /// The actual precision.
        got: crate::Precision,
    },
    /// An index outside the object, or an index array out of order.
    #[error("argument `{argument}`: entry {position} is {index}, expected {expected}")]
    Index {
        /// The argument's name.
        argument: &'static str,
        /// Where in the array (0-based).
        position: usize,
        /// The index found there.
        index: u64,
        /// The expected value.
        expected: String,
    },
    /// Objects of different contexts in one call.
    #[error("argument `{argument}` belongs to a different context or device from the other arguments")]
    Context {
        /// The argument's name.
        argument: &'static str,
    },
    /// A handle that refers to no usable object.
    #[error("argument `{argument}`: {}", handle_words(*fault, *handle, expected))]
    Handle {
        /// The argument's name.
        argument: &'static str,
        /// What is wrong with it.
        fault: HandleFault,
        /// The handle as given.
        handle: u64,
        /// The kind of object that the call accepts.
        expected: String,
    },
    /// A system with a singular matrix.
    #[error("the matrix is singular: pivot {} (counted from 1) is zero; solve by QR for the minimum-norm least-squares solution, or regularise the matrix", pivot + 1)]
    Singular {
        /// The first column, counted from 0, whose pivot is zero.
        pivot: usize,
    },
    /// A Cholesky factorisation of a matrix that is not positive definite.
    #[error("the matrix is not positive definite: its leading minor of order {minor} is not positive; use LU")]
    NotPositiveDefinite {
        /// The order of the first leading minor that is not positive.
        minor: usize,
    },
    /// Ctrl-C of the user, or a progress callback, stopped a call that has no result before its end.
    #[error("stopped by Ctrl-C or the progress callback: {reached}")]
    Cancelled {
        /// How far it got.
        reached: String,
    },
    /// What failed on one device of a team; it has the identifier of its cause.
    #[error("rank {rank} of the team, device `{device}`: {source}")]
    Rank {
        /// The rank, counted from 0.
        rank: usize,
        /// Its device's name.
        device: String,
        /// What failed there.
        source: Box<Error>,
    },
    /// What failed in another process of a team, or that the process is lost; inside [`Error::Rank`].
    #[error("{message}")]
    Process {
        /// The identifier of the error there, `clinalg:team:lost` for a process that is lost.
        id: &'static str,
        /// The message there.
        message: String,
    },
    /// A file that does not follow its format.
    #[error("{}:{line}: {reason}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// 1-based line.
        line: usize,
        /// What is wrong there.
        reason: String,
    },
    /// A file that could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
}

fn allocation_words(bytes: u64, device: &str, limit: &str) -> String {
    let what = match bytes {
        0 => format!("device `{device}` ran out of memory or another resource"),
        _ => format!("cannot allocate {bytes} bytes on device `{device}`"),
    };
    format!("{what}: {limit}; use a smaller problem, release objects or choose another device")
}

fn handle_words(fault: HandleFault, handle: u64, expected: &str) -> String {
    match fault {
        HandleFault::Stale => format!("handle {handle:#018x} was released; expected a live {expected}"),
        HandleFault::Foreign => {
            format!("handle {handle:#018x} was never issued by this process; expected a {expected}")
        }
        HandleFault::Kind => {
            format!("handle {handle:#018x} refers to an object of another kind; expected a {expected}")
        }
    }
}

macro_rules! identifiers {
    ($($pattern:pat => $id:literal,)*) => {
        impl Error {
            /// Every identifier that [`id`](Error::id) can return.
            pub const IDS: &'static [&'static str] = &[$($id),*];

            /// The identifier `clinalg:<topic>:<what>`, the same in Rust, C, MATLAB and the program.
            pub fn id(&self) -> &'static str {
                match self {
                    $($pattern => $id,)*
                    Error::Rank { source, .. } => source.id(),
                    Error::Process { id, .. } => id,
                }
            }
        }
    };
}
identifiers! {
    Error::NoLoader { .. } => "clinalg:device:noLoader",
    Error::NoPlatform => "clinalg:device:noPlatform",
    Error::NoDevice { .. } => "clinalg:device:noDevice",
    Error::DeviceNotFound { .. } => "clinalg:device:notFound",
    Error::NoFp64 { .. } => "clinalg:device:noFp64",
    Error::Build { .. } => "clinalg:device:build",
    Error::Allocation { .. } => "clinalg:device:memory",
    Error::OpenCl { .. } => "clinalg:device:opencl",
    Error::DeviceLost { .. } => "clinalg:device:lost",
    Error::Forked => "clinalg:device:forked",
    Error::Length { .. } => "clinalg:argument:length",
    Error::Shape { .. } => "clinalg:argument:shape",
    Error::Value { .. } | Error::Unsuitable { .. } => "clinalg:argument:value",
    Error::Precision { .. } => "clinalg:argument:precision",
    Error::Index { .. } => "clinalg:argument:index",
    Error::Context { .. } => "clinalg:argument:context",
    Error::Handle { fault: HandleFault::Stale, .. } => "clinalg:handle:stale",
    Error::Handle { fault: HandleFault::Foreign, .. } => "clinalg:handle:foreign",
    Error::Handle { fault: HandleFault::Kind, .. } => "clinalg:handle:kind",
    Error::Singular { .. } => "clinalg:matrix:singular",
    Error::NotPositiveDefinite { .. } => "clinalg:matrix:notPositiveDefinite",
    Error::Cancelled { .. } => "clinalg:solve:cancelled",
    Error::Process { id: "clinalg:team:lost", .. } => "clinalg:team:lost",
    Error::Format { .. } => "clinalg:file:format",
    Error::Io { .. } => "clinalg:file:io",
}

impl Error {
    /// What failed, on whatever device of a team.
    pub fn cause(&self) -> &Error {
        match self {
            Error::Rank { source, .. } => source.cause(),
            other => other,
        }
    }

    /// An error of another process: its message and identifier there; an identifier that is none of [`Error::IDS`] counts as
    /// that of a lost process.
    pub fn process(id: &str, message: impl Into<String>) -> Error {
        let known = Error::IDS.iter().find(|known| **known == id);
        Error::Process { id: known.copied().unwrap_or("clinalg:team:lost"), message: message.into() }
    }

    /// A [`Value`](Error::Value) error: `argument` is `got`, but `expected` was expected.
    pub fn value(argument: &'static str, expected: impl Into<String>, got: impl ToString) -> Error {
        Error::Value { argument, expected: expected.into(), got: got.to_string() }
    }

    /// An [`Unsuitable`](Error::Unsuitable) error: what is wrong with `argument`, and what to do.
    pub fn unsuitable(argument: &'static str, reason: impl Into<String>) -> Error {
        Error::Unsuitable { argument, reason: reason.into() }
    }

    /// The error with the argument `from`, if it is of that one, called `to`, the name that the caller knows.
    pub fn renamed(mut self, from: &str, to: &'static str) -> Error {
        match &mut self {
            Error::Length { argument, .. }
            | Error::Shape { argument, .. }
            | Error::Value { argument, .. }
            | Error::Unsuitable { argument, .. }
            | Error::Precision { argument, .. }
            | Error::Index { argument, .. }
            | Error::Context { argument }
            | Error::Handle { argument, .. }
                if *argument == from =>
            {
                *argument = to;
            }
            _ => {}
        }
        self
    }
}

/// An error unless `got == expected`.
pub(crate) fn check_length(argument: &'static str, expected: usize, got: usize) -> Result<()> {
    if got == expected { Ok(()) } else { Err(Error::Length { argument, expected, got }) }
}
