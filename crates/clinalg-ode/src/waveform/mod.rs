//! Waveform relaxation: Jacobi iteration over functions of time.
//!
//! The components of y' = f(t, y) are cut into blocks. Over a window of time steps each block is integrated by explicit Euler steps
//! with the values of other blocks taken from the previous iterate, a waveform for each component; then the blocks exchange
//! their waveforms and the window is integrated again. After w iterations the first w steps equal those of Euler's method to
//! the last bit, so that a window of s steps ends after at most s + 1 iterations.
//!
//! An iteration moves as many words as Euler's method. Waveform relaxation pays only where launches or messages cost more than
//! arithmetic: small grids on one device, several devices, clusters.

mod boundary;
mod device;
mod fields;
mod kernel;
mod options;
mod partition;
mod reference;
mod team;

pub use device::{explain, relax, relax_windows};
pub use fields::relax_fields;
pub use options::{Copies, Guess, Relaxation, Report, Stop, Storage, VARIANTS, WaveformOptions};
pub use partition::Partition;
pub use reference::relax_sequentially;
pub use team::{Sharing, relax_on_team};
