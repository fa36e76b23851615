//! Dense blocks in a sparse matrix (BSR) on a GPU.

use super::csr::Structure;
use super::launch::Prepared;
use super::offsets::Offsets;
use crate::runtime::Range;
use crate::runtime::kernels::bsr;
use crate::{Buffer, Real, Result};

/// Block sizes that are tried, the largest first.
const SIZES: [usize; 5] = [6, 5, 4, 3, 2];

/// Minimum number of entries per row for which blocks are searched.
const WIDTH: usize = 8;

/// Number of block rows that are inspected first, and the number of entries from which a row is too long for that.
const PROBED: usize = 16;
const MOST_PROBED: usize = 1 << 16;

/// Mean number of entries per row from which 16 items share a block row; below, 8 do.
const WIDE_ROWS: usize = 48;

/// A block row this many times longer than the mean would leave its items working alone.
const SKEW: usize = 16;

/// A matrix of dense blocks, whose values are those of the compressed rows.
#[derive(Debug)]
pub(crate) struct Bsr {
    /// Rows and columns of a block.
    pub(crate) size: usize,
    /// Its column in units of the size.
    pub(crate) block: Buffer<u32>,
    lanes: usize,
}

impl Bsr {
    /// The largest blocks of which the matrix consists.
    pub(super) fn find(s: &Structure, offsets: &Offsets<'_>) -> Result<Option<Bsr>> {
        let mean = s.nnz / s.rows.max(1);
        if mean < WIDTH {
            return Ok(None);
        }
        let lanes = if mean < WIDE_ROWS { 8 } else { 16 };
        let context = s.offset.context();
        for size in SIZES {
            if !divides(s, size) {
                continue;
            }
            let first = s.rows / 2 / size * size;
            let probed = first..(first + PROBED * size).min(s.rows);
            // Most matrices are ruled out by the lengths of a few rows, and most of those with rows of equal length by the columns.
            let few = offsets.of_rows(probed)?;
            let most = SKEW * mean;
            let are_blocks = has_block_rows(&few, size, most)
                && has_block_columns(s, &few, size)?
                && has_block_rows(offsets.all()?, size, most);
            if !are_blocks {
                continue;
            }
            let mut block = Buffer::<u32>::uninit(context, s.nnz / (size * size))?;
            let mut different = Buffer::from_slice(context, &[0_u32])?;
            let program = bsr::Program::<f32>::new().rows(size as u64).lanes(lanes as u64);
            let range = Range::d1(s.rows / size * lanes, context.local());
            program.block_columns(context, range, s.rows / size, &s.offset, &s.column, &mut block, &mut different)?;
            if different.to_vec()? == [0] {
                return Ok(Some(Bsr { size, block, lanes }));
            }
        }
        Ok(None)
    }

    pub(super) fn product<R: Real>(&self, s: &Structure) -> Prepared<bsr::Program<R>> {
        let program = bsr::Program::new().rows(self.size as u64).lanes(self.lanes as u64);
        Prepared { program, range: Range::d1(s.rows / self.size * self.lanes, s.offset.context().local()) }
    }

    pub(super) fn words(&self) -> String {
        let size = self.size;
        format!("all entries lie in dense {size} x {size} blocks (BSR): one column index per {} entries", size * size)
    }
}

/// Whether rows, columns and entries can be those of blocks.
fn divides(s: &Structure, size: usize) -> bool {
    s.rows.is_multiple_of(size) && s.cols.is_multiple_of(size) && s.nnz.is_multiple_of(size * size)
}

/// Whether groups of `size` of the rows with these offsets have equally many entries, a multiple of `size` and at most `most`.
fn has_block_rows(offsets: &[u32], size: usize, most: usize) -> bool {
    let length = |row: usize| (offsets[row + 1] - offsets[row]) as usize;
    (0..offsets.len() - 1).step_by(size).all(|first| {
        let width = length(first);
        width.is_multiple_of(size) && width <= most && (first + 1..first + size).all(|row| length(row) == width)
    })
}

/// Whether rows with these offsets, for which [`has_block_rows`] holds, have their columns in blocks, or have too many entries to be checked here.
fn has_block_columns(s: &Structure, offsets: &[u32], size: usize) -> Result<bool> {
    let rows = offsets.len() - 1;
    let (from, to) = (offsets[0] as usize, offsets[rows] as usize);
    if to - from > MOST_PROBED {
        return Ok(true);
    }
    let mut columns = vec![0; to - from];
    s.column.read_range(from, &mut columns)?;
    let row = |row: usize| &columns[offsets[row] as usize - from..offsets[row + 1] as usize - from];
    let aligned = |block: &[u32]| {
        block[0].is_multiple_of(size as u32)
            && block.iter().zip(block[0]..).all(|(column, expected)| *column == expected)
    };
    Ok((0..rows).step_by(size).all(|first| {
        row(first).chunks(size).all(aligned) && (first + 1..first + size).all(|other| row(other) == row(first))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::devices;
    use crate::{Context, ContextOptions, Csr, KernelFamily};

    /// Blocks on and next to the diagonal, `size` rows and columns each.
    fn blocks(size: usize, count: usize) -> Vec<(usize, usize, f32)> {
        let near = |i: usize| i.saturating_sub(2)..(i + 3).min(count);
        let places = (0..count).flat_map(|i| near(i).map(move |j| (i * size, j * size)));
        let square = (0..size * size).map(move |k| (k / size, k % size));
        places.flat_map(|(i, j)| square.clone().map(move |(a, b)| (i + a, j + b, 1.0))).collect()
    }

    #[test]
    fn blocks_are_found_where_all_entries_lie_in_them() {
        let Some(devices) = clinalg_testing::found(devices()) else { return };
        let options = ContextOptions { family: Some(KernelFamily::Gpu), ..ContextOptions::default() };
        let context = Context::new(&devices[0], &options).unwrap();
        let size_of = |rows: usize, entries: &[(usize, usize, f32)]| {
            let a = Csr::from_triplets(&context, rows, rows, entries).unwrap();
            let offsets = Offsets::on_device(&a.structure().offset);
            Bsr::find(a.structure(), &offsets).unwrap().map(|bsr| bsr.size)
        };
        for (size, found) in [(2, 2), (3, 3), (4, 4), (7, 0)] {
            let found = (found > 0).then_some(found);
            assert_eq!(size_of(size * 60, &blocks(size, 60)), found, "blocks of {size}");
        }
        let mut moved = blocks(3, 60);
        // One row has another column than those of its block.
        let last = moved.iter().position(|&(i, j, _)| (i, j) == (91, 95)).unwrap();
        moved[last].1 = 120;
        assert_eq!(size_of(180, &moved), None);
    }
}
