//! What was chosen and replaced, and why.

use crate::number;
use std::fmt;

use super::{Method, PreconditionerKind};

/// A step of the choice of method and preconditioner. Its text is a line of an explanation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Decision {
    /// All entries on the diagonal of a Hermitian matrix are negative, so -A x = -b is solved.
    Negated,
    /// The first preconditioner, with the reason found in the matrix.
    Chosen {
        /// What was chosen.
        kind: PreconditionerKind,
        /// The reason.
        reason: String,
    },
    /// ILU(0) is unstable.
    Unstable {
        /// By how much it enlarges the vector of ones, relative to A: [`instability`](crate::precond::instability).
        gain: f64,
    },
    /// A preconditioner could not be set up.
    Replaced {
        /// That preconditioner.
        failed: PreconditionerKind,
        /// What stands in for it.
        by: PreconditionerKind,
        /// Why it failed.
        error: String,
    },
    /// A hierarchy could not be set up with the number of unknowns per node that was found, and is set up with one.
    OneUnknownPerNode {
        /// The number that was found.
        unknowns: usize,
        /// Why it failed.
        error: String,
    },
    /// Another method takes over from one that failed.
    TakenOver {
        /// The method that failed.
        failed: Method,
        /// The method that continues from its best iterate.
        method: Method,
        /// Its preconditioner.
        kind: PreconditionerKind,
        /// Whether it is the preconditioner of the first method.
        is_same: bool,
        /// Why another preconditioner could not be set up.
        error: Option<String>,
    },
    /// A sentence about unknowns that appear in no equation, or null vectors.
    Singular(String),
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Decision::Negated => f.write_str("all entries on the diagonal are negative: -A x = -b is solved"),
            Decision::Chosen { kind, reason } => write!(f, "{}: {reason}", kind.title()),
            Decision::Unstable { gain } => {
                let by = PreconditionerKind::Ilut.title();
                write!(
                    f,
                    "{by}: ILU(0) enlarges the vector of ones by {} relative to A, so it is unstable",
                    number(*gain, 1)
                )
            }
            Decision::Replaced { failed, by: PreconditionerKind::Ilut, error }
                if failed == &PreconditionerKind::Ilut =>
            {
                write!(f, "ILUT with zero pivots replaced: otherwise it cannot be computed ({error})")
            }
            Decision::Replaced { failed, by, error } => {
                write!(f, "{}: {} cannot be computed ({error})", by.title(), failed.name())
            }
            Decision::OneUnknownPerNode { unknowns, error } => {
                write!(f, "one unknown per node: the hierarchy for {unknowns} could not be set up ({error})")
            }
            Decision::TakenOver { method, kind, error: Some(error), .. } => {
                let others = PreconditionerKind::Ilut.name();
                write!(
                    f,
                    "{} with {}, as neither a complete factorisation nor {others} could be set up ({error})",
                    method.title(),
                    kind.title()
                )
            }
            Decision::TakenOver { method, is_same: true, .. } => {
                write!(
                    f,
                    "{}, which needs neither symmetry nor definiteness, with the same preconditioner",
                    method.title()
                )
            }
            Decision::TakenOver { method, kind, .. } => {
                let reason = match (method, kind) {
                    (Method::Minres, _) => "the residual never rises and the matrix need not be definite",
                    (_, PreconditionerKind::Lu) => "exact up to rounding and replaced pivots",
                    _ => "more accurate factors",
                };
                write!(f, "{} with {}: {reason}", method.title(), kind.title())
            }
            Decision::Singular(sentence) => f.write_str(sentence),
        }
    }
}

/// What an observer of an [`Automatic`](super::Automatic) solve is called with.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Event<'e> {
    /// Algebraic multigrid is about to be set up.
    Multigrid {
        /// The device memory that it takes, about, in bytes.
        needed: u64,
        /// The device memory that this process has not allocated, in bytes.
        free: u64,
    },
    /// A preconditioner or a method was replaced.
    Decision(&'e Decision),
    /// After each iteration, with their number over all methods so far, 0 for the start, and the relative residual.
    Iteration(usize, f64),
}
