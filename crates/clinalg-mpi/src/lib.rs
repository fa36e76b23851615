//! Teams of clinalg over MPI: each process has one device and is one rank.
//!
//! Everything here needs the cargo feature `mpi`, which is off by default, and to build it an MPI library (Open MPI or MPICH) with
//! its compiler wrapper `mpicc`, and libclang: on Debian and Ubuntu `cargo xtask setup --mpi` installs them.
//!
//! The program `clinalg-mpi` has the commands of `clinalg`:
//!
//! ```console
//! $ cargo install --path crates/clinalg-mpi --features mpi
//! $ mpirun -n 4 clinalg-mpi poisson --n 8193
//! ```
//!
#![cfg_attr(feature = "mpi", doc = "In Rust, [`Mpi`] is the network of a [`Team`](clinalg::team::Team):")]
#![cfg_attr(
    feature = "mpi",
    doc = "
```no_run
use clinalg::team::Team;
use clinalg::{Context, ContextOptions, Device};
use clinalg_mpi::Mpi;

let mpi = Mpi::start()?;
let context = Context::new(&Device::default_device()?, &ContextOptions::default())?;
let network = mpi.connect(&context.device().name)?;
let team = Team::with_network(vec![context], Box::new(network))?;
println!(\"rank {} of {}\", team.local().start, team.ranks());
mpi.end(None)?;
# Ok::<(), clinalg::Error>(())
```"
)]

#[cfg(feature = "mpi")]
mod identity;
#[cfg(feature = "mpi")]
mod network;
#[cfg(feature = "mpi")]
mod peer;
#[cfg(feature = "mpi")]
mod raw;

#[cfg(feature = "mpi")]
pub use network::Mpi;
#[cfg(feature = "mpi")]
pub use peer::signalled;
