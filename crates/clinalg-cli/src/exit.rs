//! What a command ends with: exit codes and failures.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use clinalg::Error;

/// How a run has ended. What there is to report is printed.
#[derive(Debug)]
pub struct Ended {
    /// The exit code, see `clinalg --help`.
    pub code: u8,
    /// Why it failed, if it did.
    pub failure: Option<Reason>,
}

/// Why a run failed.
#[derive(Debug)]
pub struct Reason {
    /// The identifier, such as `clinalg:argument:value`.
    pub id: &'static str,
    /// The message; of what failed on one device of a team, that of the cause.
    pub message: String,
}

impl From<Exit> for Ended {
    fn from(exit: Exit) -> Ended {
        Ended { code: exit as u8, failure: None }
    }
}

/// The exit codes of the program, as `clinalg --help` lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Done; a solver met its tolerance or the floor of rounding.
    Done = 0,
    /// A solver stopped before its tolerance, or a self-test failed.
    NotReached = 1,
    /// Wrong usage, or an argument or matrix that cannot be used; clap's code too.
    Usage = 2,
    /// No OpenCL, no device, or none that matches the selector.
    NoDevice = 3,
    /// The device or its driver failed.
    Device = 4,
    /// A file could not be read or written, or its content is damaged.
    File = 5,
}

/// Why a command did not finish.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error of the library.
    Library(Error),
    /// An error of the integration of an ODE, not of the device.
    Ode(clinalg_ode::Error),
    /// A combination of options that makes no sense.
    Usage(String),
    /// A file that could not be written.
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A solver that must converge to be measured did not.
    NotConverged(String),
    /// The reader of stdout has gone away: nothing is left to say, and nothing is wrong.
    ReaderGone,
    /// Stdout cannot be written for another reason.
    Stdout(std::io::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Library(error)
    }
}

impl From<clinalg_ode::Error> for Failure {
    fn from(error: clinalg_ode::Error) -> Failure {
        match error {
            clinalg_ode::Error::Device(error) => Failure::Library(error),
            other => Failure::Ode(other),
        }
    }
}

/// An error for invalid options, with a message formatted as by [`format!`].
macro_rules! usage {
    ($($message:tt)*) => { Err($crate::exit::Failure::Usage(format!($($message)*))) };
}
pub(crate) use usage;

/// Checks combinations of options: the first message whose condition is true is the error.
///
/// # Errors
/// [`Failure::Usage`].
pub(crate) fn check_options(faults: &[(bool, &str)]) -> Result<(), Failure> {
    faults.iter().find(|(wrong, _)| *wrong).map_or(Ok(()), |(_, message)| Err(Failure::usage(*message)))
}

impl Failure {
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure::Usage(message.into())
    }

    /// One that names a file.
    pub(crate) fn file(path: &Path, reason: impl Display) -> Failure {
        Failure::File { path: path.to_owned(), reason: reason.to_string() }
    }

    pub(crate) fn exit(&self) -> Exit {
        match self {
            Failure::Usage(_) => Exit::Usage,
            Failure::File { .. } | Failure::Stdout(_) => Exit::File,
            Failure::NotConverged(_) => Exit::NotReached,
            Failure::ReaderGone => Exit::Done,
            Failure::Ode(error) => match error {
                clinalg_ode::Error::NotFinite { .. }
                | clinalg_ode::Error::Waveform { .. }
                | clinalg_ode::Error::StepTooSmall { .. }
                | clinalg_ode::Error::StepLimit { .. } => Exit::NotReached,
                clinalg_ode::Error::Memory { .. } => Exit::Device,
                _ => Exit::Usage,
            },
            Failure::Library(error) => match error.cause() {
                Error::NoLoader { .. } | Error::NoPlatform | Error::NoDevice { .. } | Error::DeviceNotFound { .. } => {
                    Exit::NoDevice
                }
                Error::Format { .. } | Error::Io { .. } => Exit::File,
                Error::NoFp64 { .. }
                | Error::Build { .. }
                | Error::Allocation { .. }
                | Error::OpenCl { .. }
                | Error::DeviceLost { .. }
                | Error::Process { .. }
                | Error::Forked => Exit::Device,
                _ => Exit::Usage,
            },
        }
    }

    /// What a run that failed so ends with.
    pub(crate) fn ended(&self) -> Ended {
        let message = match self {
            Failure::Library(error) => error.cause().to_string(),
            other => other.message(),
        };
        let failure = (!matches!(self, Failure::ReaderGone)).then(|| Reason { id: self.id(), message });
        Ended { code: self.exit() as u8, failure }
    }

    /// The identifier in the manner of [`Error::id`].
    pub(crate) fn id(&self) -> &'static str {
        match self {
            Failure::Library(error) => error.id(),
            Failure::Ode(error) => error.id(),
            Failure::Usage(_) => "clinalg:argument:usage",
            Failure::NotConverged(_) => "clinalg:solve:notConverged",
            Failure::File { .. } | Failure::Stdout(_) | Failure::ReaderGone => "clinalg:file:io",
        }
    }

    pub(crate) fn message(&self) -> String {
        match self {
            Failure::Library(error) => error.to_string(),
            Failure::Ode(error) => error.to_string(),
            Failure::Usage(message) | Failure::NotConverged(message) => message.clone(),
            Failure::File { path, reason } => format!("{}: {reason}", path.display()),
            Failure::ReaderGone => "stdout was closed by its reader".into(),
            Failure::Stdout(error) => format!("stdout: {error}"),
        }
    }
}
