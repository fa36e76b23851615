//! Row offsets that the host may not have read yet.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

use crate::{Buffer, Result};

/// The row offsets of a matrix on the device, which are read on demand: those of a matrix that was computed there are
/// seldom needed as a whole.
#[derive(Debug)]
pub(crate) struct Offsets<'a> {
    device: &'a Buffer<u32>,
    host: OnceCell<Cow<'a, [u32]>>,
}

impl<'a> Offsets<'a> {
    pub(crate) fn on_device(device: &'a Buffer<u32>) -> Offsets<'a> {
        Offsets { device, host: OnceCell::new() }
    }

    /// `host` holds the same values.
    pub(crate) fn known(device: &'a Buffer<u32>, host: &'a [u32]) -> Offsets<'a> {
        Offsets { device, host: OnceCell::from(Cow::Borrowed(host)) }
    }

    pub(crate) fn all(&self) -> Result<&[u32]> {
        match self.host.get() {
            Some(host) => Ok(host),
            None => {
                let read = self.device.to_vec()?;
                Ok(self.host.get_or_init(|| Cow::Owned(read)))
            }
        }
    }

    /// Where these rows begin, and where the last one ends.
    pub(crate) fn of_rows(&self, rows: Range<usize>) -> Result<Vec<u32>> {
        if let Some(host) = self.host.get() {
            return Ok(host[rows.start..=rows.end].to_vec());
        }
        let mut part = vec![0; rows.len() + 1];
        self.device.read_range(rows.start, &mut part)?;
        Ok(part)
    }
}
