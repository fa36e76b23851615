//! What a solve leaves for another one to continue.

use serde::{Deserialize, Serialize};

use super::best::BestState;
use super::monitor::MonitorState;
use super::{Stop, bicgstab_state, cg, flexible, gmres_state, idr_state, least_squares, minres_state};
use crate::Scalar;

/// What a solve that was ended leaves besides the solution, for [`Resumable::solve_from`](super::Resumable::solve_from): the vectors of the
/// iteration take as much memory as on the device. Empty for a solve from the beginning.
#[derive(Debug, Clone, PartialEq)]
pub struct KrylovMemory<T> {
    /// The iterate; for GMRES the one at the beginning of the cycle.
    pub x: Vec<T>,
    /// The vectors of the iteration, one after the other; for GMRES the basis.
    pub vectors: Vec<T>,
    /// The scalars of the solve; `None` for a solve from the beginning.
    pub state: Option<KrylovState>,
    /// The relative residuals, the last one by the recurrence.
    pub history: Vec<f64>,
}

// Not derived: `T` need not implement `Default`.
impl<T> Default for KrylovMemory<T> {
    fn default() -> Self {
        KrylovMemory { x: Vec::new(), vectors: Vec::new(), state: None, history: Vec::new() }
    }
}

impl<T> KrylovMemory<T> {
    /// Whether a solve with it begins anew.
    pub fn is_empty(&self) -> bool {
        self.state.is_none()
    }
}

/// The scalars and the control data of a solve that was ended. Some are infinite: the format in which it is stored must
/// keep every bit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KrylovState(pub(super) Box<State>);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum State {
    System(SystemState),
    LeastSquares(least_squares::SavedState),
}

/// Of a method for A x = b.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SystemState {
    pub(super) monitor: MonitorState,
    pub(super) best: BestState,
    /// Why the cycle ended, if not from outside.
    pub(super) seen: Option<Stop>,
    pub(super) method: MethodState,
}

/// Of the recurrence of a method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum MethodState {
    /// Conjugate gradients.
    Cg(cg::State),
    /// Flexible conjugate gradients.
    FlexibleCg(flexible::State),
    /// MINRES.
    Minres(minres_state::State),
    /// BiCGStab.
    BiCgStab(bicgstab_state::SavedState),
    /// IDR(s).
    Idr(idr_state::SavedState),
    /// GMRES.
    Gmres(gmres_state::SavedState),
}

/// A real or complex number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Coefficient {
    re: f64,
    im: f64,
}

impl Coefficient {
    pub(super) fn of<W: Scalar<Real = f64>>(value: W) -> Coefficient {
        Coefficient { re: value.re(), im: value.im() }
    }

    pub(super) fn value<W: Scalar<Real = f64>>(self) -> W {
        W::from_parts(self.re, self.im)
    }
}

/// The numbers of a memory.
pub(super) fn coefficients<W: Scalar<Real = f64>>(values: &[W]) -> Vec<Coefficient> {
    values.iter().map(|&value| Coefficient::of(value)).collect()
}
