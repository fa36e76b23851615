//! The operations on handles.

mod array;
mod automatic;
mod best;
mod complex;
mod convert;
mod dense;
mod direct;
mod eigen;
#[cfg(feature = "heat")]
mod elastodynamics;
mod elementwise;
mod expression;
mod factorisation;
mod factors;
mod format;
#[cfg(feature = "heat")]
mod heat;
mod interop;
mod least_squares;
mod multigrid;
#[cfg(feature = "ode")]
mod ode;
mod operator;
mod part;
mod poisson;
mod preconditioner;
mod product;
mod reduce;
mod saddle;
mod small;
mod solve;
mod solver;
mod sparse;
mod team;
mod transfer;
mod wave;

pub use array::{Part, Positions};
pub use automatic::Automatic;
pub use dense::{DenseSolution, Factorisation, LuFactors};
pub use direct::SparseSolution;
pub use eigen::EigenReport;
#[cfg(feature = "heat")]
pub use elastodynamics::{ElastodynamicsFields, ElastodynamicsMethod, ElastodynamicsSurface, complex_numbers};
pub use expression::Term;
#[cfg(feature = "heat")]
pub use heat::{
    forward_handle, interior_values, operator_handle, operator_preconditioner_handle, project_handle, project_samples,
    right_side_handle, sample_points,
};
pub use operator::Product;
pub use part::{AssignedValue, PartValue, Subscript};
pub use poisson::PoissonField;
pub use preconditioner::{PreconditionerInfo, PreconditionerKind, PreconditionerParams};
pub use small::{SmallProduct, VectorNumber};
pub use solve::{Method, Preconditioning};
pub use wave::WaveState;
