//! What iterative methods share.

mod precondition;
mod report;

pub use precondition::Preconditioner;
pub use report::Stop;
