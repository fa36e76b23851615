//! How the processes of a team talk to each other.

use std::ops::Range;

use crate::Result;

/// What a layer for messages between processes, such as MPI, has to provide. Everything else of a team is the same in one process
/// and in several.
///
/// All processes of a team make the same calls in the same order.
pub trait Network: Send + Sync {
    /// Number of ranks in all processes.
    fn ranks(&self) -> usize;

    /// The ranks of this process.
    fn local(&self) -> Range<usize>;

    /// Sends and receives, and returns when all values have arrived and the memory of all that was sent may be used again.
    /// Messages between the same two ranks come in one order on both sides.
    ///
    /// # Errors
    /// What the layer reports, such as another process that has ended.
    fn exchange(&self, sent: &[Sent<'_>], received: &mut [Received<'_>]) -> Result<()>;

    /// The numbers of all ranks in the order of the ranks, where `mine` are those of the ranks of this process; as many for each
    /// rank.
    ///
    /// # Errors
    /// As [`Network::exchange`].
    fn all_gather(&self, mine: &[f64]) -> Result<Vec<f64>>;
}

/// A message to a rank of another process.
#[derive(Debug)]
pub struct Sent<'a> {
    /// The rank that sends.
    pub from: usize,
    /// The rank that receives.
    pub to: usize,
    /// What is sent.
    pub bytes: &'a [u8],
}

/// A message from a rank of another process.
#[derive(Debug)]
pub struct Received<'a> {
    /// The rank that sends.
    pub from: usize,
    /// The rank that receives.
    pub to: usize,
    /// Where the message goes.
    pub bytes: &'a mut [u8],
}

/// All ranks are in this process.
pub(super) struct InProcess {
    pub(super) ranks: usize,
}

impl Network for InProcess {
    fn ranks(&self) -> usize {
        self.ranks
    }

    fn local(&self) -> Range<usize> {
        0..self.ranks
    }

    fn exchange(&self, _sent: &[Sent<'_>], _received: &mut [Received<'_>]) -> Result<()> {
        Ok(())
    }

    fn all_gather(&self, mine: &[f64]) -> Result<Vec<f64>> {
        Ok(mine.to_vec())
    }
}
