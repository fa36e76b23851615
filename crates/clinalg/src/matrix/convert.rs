//! Compressed columns to compressed rows on the device, which is also the transpose.

use super::csr::{Entries, Structure, balanced};
use super::spread::{ENTRIES_AHEAD, LONG_ROW, ROW_ITEMS, SHORT_ROW};
use crate::runtime::kernels::convert;
use crate::runtime::{In, KernelFamily, Range};
use crate::{Buffer, Context, Result, Scalar};

/// The row of each entry.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rows<'a> {
    Narrow(In<'a, u32>),
    /// As the host gives them.
    Wide(In<'a, u64>),
}

/// Compressed columns on the device.
pub(super) struct Columns<'a, T: Scalar> {
    pub(super) context: &'a Context,
    pub(super) rows: usize,
    pub(super) cols: usize,
    pub(super) offset: &'a Buffer<u32>,
    pub(super) nnz: usize,
    pub(super) row: Rows<'a>,
    pub(super) value: In<'a, T>,
}

/// The kernels of `convert.cl`. On CPUs all are built with the hint that one of them uses, as one program is built faster than two.
pub(crate) fn conversion<T: Scalar>(context: &Context) -> convert::Program<T> {
    let program = convert::Program::new();
    let fetches = context.family() == KernelFamily::Cpu && context.prefetches();
    if fetches { program.entries_ahead(ENTRIES_AHEAD) } else { program }
}

impl<T: Scalar> Columns<'_, T> {
    /// Converts the matrix to compressed rows. `None` if the row indices of a column are not strictly increasing or one is out of range.
    pub(super) fn to_rows(&self) -> Result<Option<Entries<T>>> {
        match self.context.family() {
            KernelFamily::Cpu => self.to_rows_cpu(),
            KernelFamily::Gpu => self.to_rows_gpu(),
        }
    }

    fn to_rows_gpu(&self) -> Result<Option<Entries<T>>> {
        let &Columns { context, rows, cols, nnz, offset: given, .. } = self;
        let local = context.local();
        let program = conversion::<T>(context);
        let each = |items: usize| Range::d1(items, local);
        let mut column_of = Buffer::<u32>::uninit(context, nnz)?;
        program.expand_columns(context, each(cols), cols, given, &mut column_of)?;
        let mut narrow;
        let row = match self.row {
            Rows::Narrow(row) => row,
            Rows::Wide(row) => {
                narrow = Buffer::<u32>::uninit(context, nnz)?;
                let mut wrong = Buffer::<u32>::zeroed(context, 1)?;
                program.narrow_rows(context, each(nnz), nnz, rows, &column_of, row, &mut narrow, &mut wrong)?;
                if wrong.to_vec()? != [0] {
                    return Ok(None);
                }
                (&narrow).into()
            }
        };
        let mut cursor = Buffer::<u32>::zeroed(context, rows)?;
        program.count_rows(context, each(nnz), nnz, row, &mut cursor)?;
        let parts = rows.div_ceil(1024).clamp(1, 4096);
        let mut part = Buffer::<u32>::uninit(context, parts)?;
        program.sum_parts(context, Range::d1(parts, 1), rows, &cursor, &mut part)?;
        program.scan_parts(context, Range::d1(1, 1), parts, &mut part)?;
        let mut offset = Buffer::<u32>::zeroed(context, rows + 1)?;
        program.scan_rows(context, Range::d1(parts, 1), rows, &part, &mut cursor, &mut offset)?;
        let mut order = Buffer::<u32>::uninit(context, nnz)?;
        program.scatter_entries(context, each(nnz), nnz, row, &mut cursor, &mut order)?;
        let mut any_long = Buffer::<u32>::zeroed(context, 1)?;
        if nnz / rows.max(1) > SHORT_ROW {
            let range = Range::d1(rows * ROW_ITEMS, ROW_ITEMS);
            program.rank_rows(context, range, LONG_ROW, &offset, &mut order, &mut any_long)?;
        } else {
            program.sort_rows(context, each(rows), rows, LONG_ROW, &offset, &mut order, &mut any_long)?;
        }
        if any_long.to_vec()? != [0] {
            let offsets = offset.to_vec()?;
            let is_long = |&i: &usize| offsets[i + 1] - offsets[i] > LONG_ROW;
            let long: Vec<u32> = (0..rows).filter(is_long).map(|i| i as u32).collect();
            let list = Buffer::from_slice(context, &long)?;
            program.sort_long_rows(context, each(long.len() * local), &list, &offset, &mut order)?;
        }
        let mut column = Buffer::<u32>::uninit(context, nnz)?;
        let mut values = Buffer::<T>::uninit(context, nnz)?;
        let value = self.value;
        program.gather_entries(context, each(nnz), nnz, &order, &column_of, value, &mut column, &mut values)?;
        let structure = Structure { rows, cols, nnz, offset, column };
        Ok(Some(Entries { structure, values }))
    }

    /// Each item converts a part of the columns.
    fn to_rows_cpu(&self) -> Result<Option<Entries<T>>> {
        let &Columns { context, rows, cols, nnz, offset: given, .. } = self;
        let program = conversion::<T>(context);
        let wide = convert::Wide::from(program);
        // Each part has counts for all rows; together they take no more memory than the columns do.
        let units = (context.device().compute_units as usize).max(1);
        let copies = units.min(nnz / rows.max(1)).clamp(1, 64);
        let split = &Buffer::from_slice(context, &balanced(&given.to_vec()?, copies))?;
        let mut place = Buffer::<u32>::zeroed(context, copies * rows)?;
        let mut wrong = Buffer::<u32>::zeroed(context, 1)?;
        let range = Range::d1(copies, 1);
        match self.row {
            Rows::Narrow(row) => {
                program.count_parts(context, range, rows, split, given, row, &mut place, &mut wrong)?;
            }
            Rows::Wide(row) => wide.count_parts(context, range, rows, split, given, row, &mut place, &mut wrong)?,
        }
        if wrong.to_vec()? != [0] {
            return Ok(None);
        }
        let chunks = context.chunks().min(rows.div_ceil(1024)).max(1);
        let in_chunks = Range::d1(chunks, 1);
        let mut part = Buffer::<u32>::uninit(context, chunks)?;
        let mut offset = Buffer::<u32>::zeroed(context, rows + 1)?;
        program.sum_copies(context, in_chunks, rows, copies, &place, &mut part)?;
        program.scan_parts(context, Range::d1(1, 1), chunks, &mut part)?;
        program.scan_copies(context, in_chunks, rows, copies, &part, &mut place, &mut offset)?;
        let mut column = Buffer::<u32>::uninit(context, nnz)?;
        let mut values = Buffer::<T>::uninit(context, nnz)?;
        let (value, place, to, out) = (self.value, &mut place, &mut column, &mut values);
        match self.row {
            Rows::Narrow(row) => {
                program.place_entries(context, range, rows, split, given, row, value, place, to, out)?
            }
            Rows::Wide(row) => wide.place_entries(context, range, rows, split, given, row, value, place, to, out)?,
        }
        let structure = Structure { rows, cols, nnz, offset, column };
        Ok(Some(Entries { structure, values }))
    }
}
