//! Platforms, devices, contexts, buffers and kernels: the only room that names the OpenCL binding.
//!
//! A [`Device`] is found by [`devices`] or [`Device::select`]; a [`Context`] holds one device's
//! in-order queue and its built kernels; a [`Buffer`] is typed device memory. Most programs use
//! [`Context::global`], the one context of the process.
//!
//! ```no_run
//! use clinalg::{Buffer, Context};
//!
//! let context = Context::global()?;
//! println!("running on {}", context.device().name);
//! let buffer = Buffer::from_slice(&context, &[1.0_f64, 2.0, 3.0])?;
//! assert_eq!(buffer.to_vec()?, [1.0, 2.0, 3.0]);
//! # Ok::<(), clinalg::Error>(())
//! ```
//!
//! Crates with kernels of their own describe them by [`File`] and [`Kernel`] and enqueue them by
//! [`Context::launch_kernel`].

mod buffer;
mod cache;
mod context;
mod device;
pub mod faults;
pub(crate) mod kernel;
mod status;

pub(crate) use buffer::View;
pub use buffer::{Buffer, Element};
pub use context::{Context, ContextOptions, KernelTiming, MemoryReport, Shape};
pub use device::{Device, DeviceInfo, DeviceKind, devices};
pub use kernel::{Arg, File, Kernel, Mem, Range};
pub(crate) use kernel::{Launch, files};
