//! Methods and preconditioners that do not go together.

use std::fmt;

use super::{Method, PreconditionerKind};
use crate::Error;
use crate::matrix::Inspection;

/// Why a method, a preconditioner and a matrix do not go together. Its text names what is needed and what to use instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Conflict {
    /// The method needs a square matrix.
    NotSquare(Method),
    /// A least-squares method needs a positive definite preconditioner of A^H A, which this one is not.
    NormalEquations(Method, PreconditionerKind),
    /// The method needs a positive definite preconditioner, which this one is not.
    Indefinite(Method, PreconditionerKind),
    /// Conjugate gradients need a positive definite matrix, which a saddle point is not.
    SaddlePoint(Method),
    /// Richardson iteration does not converge with the blocks of a saddle point.
    SaddleIteration,
    /// The method needs a Hermitian matrix.
    MethodNotHermitian(Method),
    /// The preconditioner needs a Hermitian matrix.
    NotHermitian(PreconditionerKind),
}

impl Conflict {
    /// The first reason against a method with a preconditioner for this matrix.
    pub(super) fn of(method: Method, kind: PreconditionerKind, matrix: &Inspection) -> Option<Conflict> {
        use PreconditionerKind::{Cholesky, Fsai, Ilu, Ilut, Lu, Saddle};
        let is_unsymmetric = matches!(kind, Ilu | Ilut);
        if method.is_least_squares() {
            let conflicts = is_unsymmetric || kind == Saddle;
            return conflicts.then_some(Conflict::NormalEquations(method, kind));
        }
        let reasons = [
            (matrix.rows != matrix.cols, Conflict::NotSquare(method)),
            (
                matches!(method, Method::Cg | Method::BlockCg | Method::Minres) && is_unsymmetric
                    || method == Method::Minres && kind == Lu,
                Conflict::Indefinite(method, kind),
            ),
            (kind == Saddle && method.is_conjugate_gradients(), Conflict::SaddlePoint(method)),
            (kind == Saddle && method == Method::Richardson, Conflict::SaddleIteration),
            (method == Method::Minres && !matrix.hermitian, Conflict::MethodNotHermitian(method)),
            (matches!(kind, Cholesky | Fsai) && !matrix.hermitian, Conflict::NotHermitian(kind)),
        ];
        reasons.into_iter().find_map(|(applies, conflict)| applies.then_some(conflict))
    }

    /// The error that names the argument at fault.
    pub(super) fn error(self) -> Error {
        let argument = match self {
            Conflict::NotSquare(_) | Conflict::MethodNotHermitian(_) | Conflict::SaddlePoint(_) => "method",
            _ => "preconditioner",
        };
        Error::unsuitable(argument, self.to_string())
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Conflict::NotSquare(method) => {
                write!(f, "{} needs a square matrix; use LSMR or LSQR for least squares", method.title())
            }
            Conflict::NormalEquations(method, kind) => write!(
                f,
                "{} needs a positive definite preconditioner of A'A, which {} is not; use Jacobi, IC(0), SSOR, FSAI or algebraic multigrid",
                method.title(),
                kind.name()
            ),
            Conflict::Indefinite(method, kind) => write!(
                f,
                "{} needs a Hermitian positive definite preconditioner, which {} is not; use IC(0), FSAI, SSOR or Jacobi, or GMRES",
                method.title(),
                kind.name()
            ),
            Conflict::SaddlePoint(method) => write!(
                f,
                "{} needs a positive definite matrix, which a saddle point is not; use MINRES or GMRES",
                method.title()
            ),
            Conflict::SaddleIteration => f.write_str(
                "Richardson iteration does not converge with the blocks of a saddle point; use MINRES or GMRES",
            ),
            Conflict::MethodNotHermitian(method) => {
                write!(f, "{} needs a Hermitian matrix; use GMRES, IDR(s) or BiCGStab", method.title())
            }
            Conflict::NotHermitian(kind) => {
                write!(f, "{} needs a Hermitian matrix; use ILU(0) or ILUT", kind.name())
            }
        }
    }
}
