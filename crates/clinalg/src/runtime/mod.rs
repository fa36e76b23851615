//! Platforms, devices, contexts, buffers and kernels: the only module that names the OpenCL binding.
//!
//! A [`Device`] is found by [`devices`] or [`Device::select`]; a [`Context`] holds one device's
//! in-order queue and its built kernels; a [`Buffer`] is typed device memory. Most programs use
//! [`Context::global`], the one context of the process.
//!
//! ```
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
mod event;
pub mod faults;
pub mod fork;
pub(crate) mod host;
mod interop;
pub(crate) mod kernel;
pub(crate) mod kernels;
mod launch;
mod memory;
mod pool;
mod profile;
mod program;
mod programs;
mod queue;
mod raw;
mod staging;
mod status;
mod together;
pub(crate) mod trusted;
mod view;

pub use crate::element::Element;
pub use buffer::Buffer;
pub(crate) use buffer::HostValues;
pub use cache::KernelCache;
pub use context::{Context, ContextOptions, KernelFamily};
pub use device::{Device, DeviceInfo, DeviceKind, devices};
pub use event::Event;
pub use interop::OpenCl;
pub use kernel::{File, GeneratedKernel, Kernel, KernelId, KernelText, Program};
pub use launch::{Arg, In, Mem, Out, Range, argument};
pub use memory::MemoryReport;
pub(crate) use pool::Reuse;
pub use profile::KernelTiming;
pub use program::BUILDING;
pub use programs::ProgramsReport;
pub use queue::Queue;
pub use staging::{Staging, Transfer};
pub(crate) use staging::{bytes_of, bytes_of_mut};
pub use view::{View, ViewMut};
