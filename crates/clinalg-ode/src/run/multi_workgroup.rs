//! What work-groups that wait for each other have in common.

use clinalg::Context;
use clinalg::runtime::{Buffer, DeviceKind};

use crate::Result;

/// What work-groups that wait for each other have in common.
pub(super) struct Common {
    /// How many have arrived, over all launches; whether any gave up; the flags.
    pub(super) sync: Buffer<u32>,
    pub(super) arrived: u32,
    pub(super) launches: u32,
    /// How often a group polls a flag before it gives up, and how often in a meeting.
    pub(super) patience: u32,
    pub(super) meeting: u32,
}

impl Common {
    pub(super) fn new(context: &Context, flags: usize) -> Result<Common> {
        // Seconds, where microseconds are needed; of a meeting a part of one. CPUs poll their own cache.
        let (patience, meeting) = match context.device().kind {
            DeviceKind::Cpu => (1 << 31, 1 << 28),
            _ => (1 << 22, 1 << 16),
        };
        Ok(Common { sync: Buffer::zeroed(context, 2 + flags)?, arrived: 0, launches: 0, patience, meeting })
    }

    /// Whether no group has waited in vain.
    pub(super) fn met(&self) -> Result<bool> {
        let mut failed = [0];
        self.sync.read_range(1, &mut failed)?;
        Ok(failed == [0])
    }
}
