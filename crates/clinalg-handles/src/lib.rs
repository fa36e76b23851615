//! Device objects behind plain 64-bit numbers, for language bindings that cannot hold a Rust object.
//!
//! | bits of a handle | content |
//! |---|---|
//! | 63 to 56 | [`Kind`], in the highest bit the precision (1: double), in the next one whether values are complex |
//! | 55 to 32 | generation: which use of the slot this is |
//! | 31 to 0 | slot: position in the table |
//!
//! Each slot's generations begin at a random number, so that the handles of another process or registry are foreign
//! here. A slot whose generations are used up takes no object again: a released handle stays stale forever.
//!
//! The operations here are those of [`clinalg::ops`] and the solvers on handles. A call waits until no other call writes what it
//! reads, nor uses what it writes, and holds nothing while it waits; calls on different objects run side by side. A function of the user that
//! runs in a call may call this library: what the call reads it may read, the rest is an error at once.
//!
//! ```
//! use clinalg::Context;
//! use clinalg_handles::{Kind, Registry};
//!
//! let registry = Registry::global();
//! let context = Context::global()?;
//! let x = registry.upload_vector(&context, &[3.0_f64, 4.0])?;
//! let y = registry.times_constant(x, 2.0, None)?;
//! assert_eq!(registry.norm2(y)?, 10.0);
//! registry.release(x, Kind::ALL)?;
//! registry.release(y, Kind::ALL)?;
//! # Ok::<(), clinalg::Error>(())
//! ```

mod calls;
mod kind;
mod object;
mod registry;

pub use calls::{
    AssignedValue, Automatic, DenseSolution, EigenReport, Factorisation, LuFactors, Method, Part, PartValue,
    PoissonField, Positions, PreconditionerInfo, PreconditionerKind, PreconditionerParams, Preconditioning, Product,
    SmallProduct, SparseSolution, Subscript, Term, VectorNumber, WaveState,
};
#[cfg(feature = "heat")]
pub use calls::{
    ElastodynamicsFields, ElastodynamicsMethod, ElastodynamicsSurface, complex_numbers, forward_handle,
    interior_values, operator_handle, operator_preconditioner_handle, project_handle, project_samples,
    right_side_handle, sample_points,
};
pub use kind::{Info, Kind, ScalarType};
#[cfg(feature = "ode")]
pub use object::Ode;
pub use object::{Caller, Content, Download, Host, Object, Stored};
pub use registry::{Operand, Registry};
