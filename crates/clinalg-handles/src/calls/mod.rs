//! The operations on handles.

mod array;
mod best;
mod complex;
mod convert;
mod dense;
mod eigen;
#[cfg(feature = "heat")]
mod elastodynamics;
mod elementwise;
mod expression;
mod factors;
mod format;
mod grid;
#[cfg(feature = "heat")]
mod heat;
mod multigrid;
#[cfg(feature = "ode")]
mod ode;
mod operator;
mod preconditioner;
mod product;
mod reduce;
mod small;
mod solve;
mod sparse;
mod team;
mod transfer;
mod wave;

pub use array::{Part, Positions};
pub use dense::{Factorisation, LuFactors};
pub use eigen::EigenReport;
#[cfg(feature = "heat")]
pub use elastodynamics::{ElastodynamicsFields, ElastodynamicsMethod, ElastodynamicsSurface, complex_numbers};
pub use expression::Term;
#[cfg(feature = "heat")]
pub use heat::{forward_handle, operator_handle, opposite_handle};
pub use operator::Product;
pub use preconditioner::{PreconditionerInfo, PreconditionerKind, PreconditionerParams};
pub use small::{SmallProduct, VectorNumber};
pub use solve::{Method, Preconditioning};
pub use wave::WaveState;
