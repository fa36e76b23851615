//! Waveform relaxation: Jacobi iteration over functions of time.
//!
//! The components of y' = f(t, y) are divided into blocks. Over a window of time steps each block is integrated by an explicit Runge-Kutta
//! method with the values of other blocks taken from the previous iterate, a waveform for each component; then the blocks exchange
//! their waveforms and the window is integrated again. Waveforms have the stages of each step: with m right-hand sides per step the
//! first w of them equal those of the method itself to the last bit after w iterations, so that a window of s steps ends after at
//! most m s + 1 iterations, s + 1 with Euler's method. Where a device is a block, halos hold whole steps and s + 1 are enough for any method.
//!
//! An iteration moves at least as many words as the method itself. Waveform relaxation pays off only where launches or messages cost more than
//! the computation: small grids on one device, several devices, clusters.

mod boundary;
mod control;
mod device;
mod devices;
mod difference;
mod fields;
mod kernel;
mod model;
mod options;
mod partition;
mod prediction;
mod reference;
mod stability;
mod stages;
mod team;
mod whole;

pub use control::{Control, See, WaveformState};
pub use device::{explain, relax, relax_windows, relax_with};
pub use devices::relax_by_devices;
pub use fields::relax_fields;
pub use model::WaveformModel;
pub use options::{Copies, Guess, Relaxation, Report, Stop, Storage, VARIANTS, WaveformOptions};
pub use partition::Partition;
pub use prediction::Prediction;
pub use reference::relax_sequentially;
pub use team::{Sharing, relax_on_team, relax_on_team_with};
