//! Integration: steppers in plain Rust and on devices, adaptive steps, dense output, events.

mod access_check;
mod advance;
mod chattering;
pub(crate) mod choice;
mod dense_output;
pub mod device;
mod events;
mod explain;
mod function;
pub mod integrate;
mod integrator;
pub mod ivp;
mod multi_workgroup;
mod options;
pub(crate) mod power_method;
pub mod reference;
mod resume;
mod stabilised;
mod start;
pub(crate) mod stepper;
pub mod survey;
pub(crate) mod whole;

pub use access_check::check_access;
pub use explain::Timing;
pub use function::Places;
