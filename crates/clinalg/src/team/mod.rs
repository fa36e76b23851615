//! Several devices that work on one problem, in one process or in several.
//!
//! A [`Team`] is an ordered set of contexts; the position of a context is its *rank*. No buffer is shared between devices: each
//! rank owns a part of every vector, matrix or grid, by a [`Partition`], and values that another rank needs are sent through pinned
//! host memory in an [`Exchange`]. Sums over a team are taken per rank and then in the order of the ranks, so that the same team
//! gives the same bits.
//!
//! | what | bits of one device |
//! |---|---|
//! | [`Poisson`], in 2-D and 3-D | the solution after each cycle; residual norms to 1e-12, as they are summed per rank |
//! | [`Wave`] | displacement and velocity; the energy to rounding |
//! | [`Csr`] | no: to rounding, as a device may store its rows in another format and add them up in another order |
//! | the methods of [`solve`](crate::solve), except least squares, block CG and Gauss-Seidel | no: to rounding, as dot products are summed per rank |
//! | [`Amg`] | no: the hierarchy has the bits of one device, a cycle is that of one device to rounding |
//!
//! [`ClusterModel`] predicts the time on another number of devices.
//!
//! Across processes ranks communicate through a [`Network`]; in one process there is nothing to set up:
//!
//! ```
//! use clinalg::team::Team;
//! use clinalg::{Context, ContextOptions, Device};
//!
//! // Two contexts on one device; `Team::select("0,1", ..)` takes two devices.
//! let context = || Context::new(&Device::default_device()?, &ContextOptions::default());
//! let team = Team::of_contexts(vec![context()?, context()?])?;
//! assert_eq!(team.ranks(), 2);
//! # Ok::<(), clinalg::Error>(())
//! ```

mod amg;
mod background;
mod balance;
mod csr;
mod cycles;
mod exchange;
mod gather;
mod layers;
mod model;
mod network;
mod partition;
mod phases;
mod poisson;
mod strips;
mod vector;
mod wave;

pub use amg::Amg;
pub use csr::Csr;
pub use exchange::{Exchange, Message};
pub use model::{ClusterModel, Link, Work};
pub use network::{Network, Received, Sent};
pub use partition::Partition;
pub use phases::{Phase, PhaseTime};
pub use poisson::Poisson;
pub use strips::Fill;
pub use vector::{Layout, Vector};
pub use wave::Wave;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::ops::reduce::larger;
use crate::runtime::{KernelFamily, devices};
use crate::{Context, ContextOptions, Device, Error, Result};
use network::InProcess;

/// Contexts that work on one problem, in the order of their ranks; cheap to clone.
#[derive(Clone)]
pub struct Team {
    inner: Arc<Inner>,
}

struct Inner {
    /// Those of this process.
    contexts: Vec<Context>,
    /// The rank of the first of them.
    first: usize,
    network: Box<dyn Network>,
    /// Whether a rank, of whatever process, runs the kernels for GPUs.
    gpu: bool,
}

impl fmt::Debug for Team {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.contexts().iter().map(|context| &context.device().name).collect();
        f.debug_struct("Team")
            .field("ranks", &self.ranks())
            .field("local", &self.local())
            .field("devices", &names)
            .finish()
    }
}

/// How sums or maxima over all ranks are formed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    /// The sum, in the order of the ranks.
    Sum,
    /// The largest value; NaN if one is NaN.
    Max,
}

impl Team {
    /// A team of one context per device, in this process.
    ///
    /// # Errors
    /// [`Error::Value`] for no device or one that is named twice (two contexts on one device are passed to
    /// [`Team::of_contexts`]); those of [`Context::new`].
    pub fn new(devices: &[Device], options: &ContextOptions) -> Result<Team> {
        for (rank, device) in devices.iter().enumerate() {
            let index = device.info().index;
            if devices[..rank].iter().any(|other| other.info().index == index) {
                return Err(Error::value("devices", "each device once", format!("device {index} twice")));
            }
        }
        Team::of_contexts(devices.iter().map(|device| Context::new(device, options)).collect::<Result<_>>()?)
    }

    /// A team of the devices that `list` names: `all`, or indices or parts of names, separated by commas, as
    /// for [`Device::select`].
    ///
    /// ```
    /// use clinalg::ContextOptions;
    /// use clinalg::team::Team;
    ///
    /// let team = Team::select("0", &ContextOptions::default())?;
    /// assert_eq!(team.ranks(), 1);
    /// assert!(Team::select("0,0", &ContextOptions::default()).is_err());
    /// # Ok::<(), clinalg::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::DeviceNotFound`]; those of [`Team::new`].
    pub fn select(list: &str, options: &ContextOptions) -> Result<Team> {
        let devices = match list.trim() {
            "all" => devices()?,
            list => list.split(',').map(Device::select).collect::<Result<_>>()?,
        };
        Team::new(&devices, options)
    }

    /// A team of these contexts, in this process. Several of them may be on one device, which then does the work of all.
    ///
    /// # Errors
    /// [`Error::Value`] for no context or one that is passed twice.
    pub fn of_contexts(contexts: Vec<Context>) -> Result<Team> {
        let network = InProcess { ranks: contexts.len() };
        Team::with_network(contexts, Box::new(network))
    }

    /// The part of a team that is in this process; the other ranks are reached through `network`. All processes make the call.
    ///
    /// # Errors
    /// [`Error::Value`] for no context or one that is passed twice, and where the network has another number of ranks here; those of
    /// the network.
    pub fn with_network(contexts: Vec<Context>, network: Box<dyn Network>) -> Result<Team> {
        if contexts.is_empty() {
            return Err(Error::value("contexts", "at least one", 0));
        }
        if (1..contexts.len()).any(|k| contexts[..k].iter().any(|other| other.same(&contexts[k]))) {
            return Err(Error::unsuitable("contexts", "a context appears twice"));
        }
        let local = network.local();
        if local.len() != contexts.len() || local.end > network.ranks() {
            let expected = format!("{} contexts, as the network has ranks here", local.len());
            return Err(Error::value("contexts", expected, contexts.len()));
        }
        let is_gpu = |context: &Context| f64::from(u8::from(context.family() == KernelFamily::Gpu));
        let families: Vec<f64> = contexts.iter().map(is_gpu).collect();
        let gpu = network.all_gather(&families)?.contains(&1.0);
        Ok(Team { inner: Arc::new(Inner { contexts, first: local.start, network, gpu }) })
    }

    /// The contexts of this process, in the order of their ranks.
    pub fn contexts(&self) -> &[Context] {
        &self.inner.contexts
    }

    /// Number of ranks, those of other processes included.
    pub fn ranks(&self) -> usize {
        self.inner.network.ranks()
    }

    /// The ranks of this process.
    pub fn local(&self) -> Range<usize> {
        let first = self.inner.first;
        first..first + self.inner.contexts.len()
    }

    /// Whether a rank, of this process or another one, runs the kernels for GPUs.
    pub fn has_gpu(&self) -> bool {
        self.inner.gpu
    }

    /// Whether both are the same team.
    pub fn same(&self, other: &Team) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// Waits until all devices of this process have executed all enqueued work.
    ///
    /// # Errors
    /// What a device reports, as [`Error::Rank`].
    pub fn finish(&self) -> Result<()> {
        self.each(|_, context| context.finish()).map(drop)
    }

    /// Adds up, or takes the largest of, the values of all ranks: `parts` has the values of each rank of this process, as many
    /// on every rank. All processes get the same result.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is a part for each local rank and all are as long; those of the network.
    pub fn all_reduce(&self, reduction: Reduction, parts: &[Vec<f64>]) -> Result<Vec<f64>> {
        crate::error::check_length("parts", self.contexts().len(), parts.len())?;
        let count = parts[0].len();
        for part in parts {
            crate::error::check_length("parts", count, part.len())?;
        }
        let all = self.gathered(parts)?;
        let join = |sum: f64, value: f64| match reduction {
            Reduction::Sum => sum + value,
            Reduction::Max => larger(sum, value),
        };
        let column = |k: usize| all.iter().skip(k).step_by(count).copied();
        Ok((0..count).map(|k| column(k).reduce(join).unwrap_or(0.0)).collect())
    }

    /// The values of all ranks, as many of each, one rank after the other.
    fn gathered(&self, parts: &[Vec<f64>]) -> Result<Vec<f64>> {
        let all = self.inner.network.all_gather(&parts.concat())?;
        crate::error::check_length("parts", self.ranks() * parts[0].len(), all.len())?;
        Ok(all)
    }

    /// Starts all enqueued work of the devices of this process.
    fn flush(&self) -> Result<()> {
        self.each(|_, context| context.queue().flush()).map(drop)
    }

    /// [`Team::all_reduce`] of one sum.
    pub(crate) fn sum(&self, parts: Vec<f64>) -> Result<f64> {
        let parts: Vec<_> = parts.into_iter().map(|part| vec![part]).collect();
        Ok(self.all_reduce(Reduction::Sum, &parts)?[0])
    }

    /// The Euclidean norm of all ranks' values from the norm of each rank's.
    pub(crate) fn norm(&self, parts: Vec<f64>) -> Result<f64> {
        let each: Vec<_> = parts.iter().map(|&part| vec![part]).collect();
        Ok(joined_norm(&self.gathered(&each)?))
    }

    /// What `work` gives for each rank of this process, counted from 0 there; an error names the rank.
    ///
    /// # Errors
    /// Those of `work`, as [`Error::Rank`].
    pub fn each<R>(&self, mut work: impl FnMut(usize, &Context) -> Result<R>) -> Result<Vec<R>> {
        let ranks = self.contexts().iter().enumerate();
        ranks.map(|(k, context)| work(k, context).map_err(|error| self.at(k, error))).collect()
    }

    /// `error` of the rank `k` of this process, counted from 0 there, as [`Error::Rank`].
    ///
    /// # Panics
    /// For a rank that does not exist.
    pub fn at(&self, k: usize, error: Error) -> Error {
        if matches!(error, Error::Rank { .. }) {
            return error;
        }
        let device = self.contexts()[k].device().name.clone();
        Error::Rank { rank: self.inner.first + k, device, source: Box::new(error) }
    }

    pub(crate) fn network(&self) -> &dyn Network {
        &*self.inner.network
    }
}

/// The Euclidean norm of a vector whose parts have these norms.
fn joined_norm(norms: &[f64]) -> f64 {
    let largest = norms.iter().copied().fold(0.0, |most, norm| if norm > most || norm.is_nan() { norm } else { most });
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    // Scaled, so that no square leaves the range.
    largest * norms.iter().map(|norm| (norm / largest).powi(2)).sum::<f64>().sqrt()
}
