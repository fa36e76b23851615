//! Products with blocks by instructions that multiply small matrices, on GPUs that have them.

use clinalg::runtime::{DeviceInfo, Kernel, Range};
use clinalg::{Precision, Real};

use crate::kernels::toeplitz::FILE as TOEPLITZ;

/// Time steps of a tile, rows of a warp, columns of a chunk and warps of a compute unit, as in the kernel.
const TILE: usize = 8;
pub(super) const ROWS: usize = 16;
const COLUMNS: usize = 16;
const WARPS_PER_UNIT: usize = 8;
/// Items of a warp.
const WARP: usize = 32;
/// Most tiles that a work-group has.
const MOST_TILES: usize = 16;
/// Most parts in which the columns are cut; each has partial sums of its own.
const MOST_SPLITS: usize = 64;

/// How a device with such instructions multiplies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Toeplitz {
    capability: u32,
    units: usize,
}

impl Toeplitz {
    /// `None` for devices and precisions without such instructions.
    pub(super) fn new<T: Real>(info: &DeviceInfo) -> Option<Toeplitz> {
        let fits = T::PRECISION == Precision::F64 && info.tensor_f64 > 0;
        fits.then_some(Toeplitz { capability: info.tensor_f64, units: info.compute_units as usize })
    }

    /// Tiles of a work-group for `steps` time steps, and its warps: fewer where it needs more of x at a time.
    fn tiles(steps: usize) -> (usize, usize) {
        let all = steps.div_ceil(TILE).next_power_of_two();
        (all.min(MOST_TILES), if all > MOST_TILES { 2 } else { 4 })
    }

    /// Parts in which the columns of `rows` rows with `stride` entries are best cut: the fewest with which the device's last turn is
    /// as full as with any other number.
    pub(super) fn splits(self, rows: usize, stride: usize, steps: usize) -> usize {
        let (tiles, warps) = Toeplitz::tiles(steps);
        let groups = rows.div_ceil(ROWS * warps) * steps.div_ceil(tiles * TILE);
        let at_once = (self.units * WARPS_PER_UNIT / warps).max(1);
        let parts = stride.div_ceil(COLUMNS) * TILE;
        // A work-group starts and ends in about the time of a part.
        let turns = |splits: usize| (groups * splits).div_ceil(at_once) * (parts.div_ceil(splits) + 1);
        (1..=parts.clamp(1, MOST_SPLITS)).min_by_key(|&splits| turns(splits)).unwrap_or(1)
    }

    /// The kernel for `rows` rows, `steps` time steps and `splits` parts, from tiles where the blocks are `tiled`, and its range.
    pub(super) fn product(self, rows: usize, steps: usize, splits: usize, tiled: bool) -> (Kernel, Range) {
        let (tiles, warps) = Toeplitz::tiles(steps);
        let behind = steps.div_ceil(tiles * TILE);
        let mut kernel = self.kernel("apply_toeplitz_gpu", tiles);
        if behind > 1 {
            kernel = kernel.with(&[("LATER", 1)]);
        }
        if tiled {
            kernel = kernel.with(&[("TILED", 1)]);
        }
        let local = WARP * warps;
        (kernel, Range::d2([rows.div_ceil(ROWS * warps) * local, splits * behind], [local, 1]))
    }

    /// The kernel that makes tiles of blocks by rows, and its range.
    pub(super) fn tile_blocks(self, rows: usize, stride: usize) -> (Kernel, Range) {
        (self.kernel("tile_blocks_gpu", MOST_TILES), Range::d2([stride / 2, rows], [16, 16]))
    }

    /// The kernel that takes a block from tiles.
    pub(super) fn take_block(self) -> Kernel {
        self.kernel("take_tiled_block_gpu", MOST_TILES)
    }

    fn kernel(self, name: &'static str, tiles: usize) -> Kernel {
        let defines = [("TENSOR", self.capability.into()), ("TILES", tiles as u64)];
        Kernel::new(&TOEPLITZ, name, Precision::F64).with(&defines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_cut_so_that_no_turn_of_the_device_is_idle() {
        let device = Toeplitz { capability: 90, units: 132 };
        // 48 groups of rows: 11 parts are two full turns of 264.
        assert_eq!(device.splits(3072, 3072, 128), 11);
        // 25 groups: 21 parts leave 3 of 528 places.
        assert_eq!(device.splits(1538, 1544, 128), 21);
        // Never more parts than there are columns and remainders.
        assert_eq!(device.splits(1, 8, 2), 8);
        assert_eq!(Toeplitz { capability: 80, units: 1 }.splits(3072, 3072, 128), 1);
    }

    #[test]
    fn work_groups_have_the_steps_there_are() {
        let tiles = [1, 8, 9, 16, 17, 64, 65, 128, 129, 500].map(Toeplitz::tiles);
        let expected = [(1, 4), (1, 4), (2, 4), (2, 4), (4, 4), (8, 4), (16, 4), (16, 4), (16, 2), (16, 2)];
        assert_eq!(tiles, expected);
    }
}
