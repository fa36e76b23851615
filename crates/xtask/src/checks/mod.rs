//! The checks of `cargo xtask ci`.

pub(crate) mod amd;
pub(crate) mod bare;
pub(crate) mod barriers;
pub(crate) mod capi;
pub(crate) mod cargo;
pub(crate) mod debian;
pub(crate) mod dist;
pub(crate) mod drivers;
pub(crate) mod kernels;
pub(crate) mod layers;
pub(crate) mod licences;
pub(crate) mod mpi;
pub(crate) mod nvidia;
pub(crate) mod oclgrind;
pub(crate) mod package;
pub(crate) mod passed;
pub(crate) mod words;
