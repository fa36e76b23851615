//! Rows of a product of sparse matrices that are too long for one table, on GPUs.

use super::product::{BUCKET_PLACES, LOCAL_BYTES, LONG_BYTES, MOST_ITEMS, SEGMENT_SIZE, Sizes};
use super::scan;
use crate::matrix::{EntriesRef, Structure};
use crate::ops::items;
use crate::runtime::kernels::sparse_product_listed;
use crate::runtime::kernels::sparse_product_segments::Program;
use crate::runtime::{Out, Range};
use crate::{Buffer, Context, Result, Scalar};

/// The rows, cut into segments of consecutive columns. Each segment has a table of its own in local memory, with `SEGMENT_SIZE` slots.
#[derive(Debug)]
pub(super) struct LongRows {
    /// Work-items that traverse a row of B together.
    slice: usize,
    batches: Vec<Batch>,
}

/// Rows whose numbers of entries in ranges of columns are in memory at a time.
#[derive(Debug)]
struct Batch {
    list: Buffer<u32>,
    listed: usize,
    /// The pieces of A's rows, for rows that are long in A as well; none if one work-group traverses a row.
    pieces: Vec<Piece>,
    segments: Option<Segments>,
}

/// A part of a row of A.
#[derive(Debug)]
struct Piece {
    /// The place of the row in the list.
    row: usize,
    /// The entries.
    start: usize,
    end: usize,
}

/// The segments of the rows of a batch, in the order of the rows.
#[derive(Debug)]
struct Segments {
    count: usize,
    /// The first range of columns.
    start: Buffer<u32>,
    /// `SEGMENT_FIELDS` values each.
    about: Buffer<u32>,
    listed: Option<Listed>,
}

/// How products are listed by segments.
#[derive(Debug)]
struct Listed {
    /// The pieces, with the segments of their rows, and work-groups per piece.
    pieces: Buffer<u32>,
    windows: u32,
    /// Of each segment, the place of the first of its counters, one per piece of its row, and the end.
    counter: Buffer<u32>,
    /// Products before each counter's, and all products.
    place: Buffer<u32>,
    products: usize,
}

/// Rows with more ranges of columns are hashed into global memory instead. At most `RANGES_AT_A_TIME` ranges are in use at a time.
pub(super) const MOST_RANGES: usize = 1 << 15;
const RANGES_AT_A_TIME: usize = 1 << 26;
/// Columns of a range, which a table holds whole.
pub(super) const RANGE_WIDTH: usize = SEGMENT_SIZE / 2;
/// Longer rows of A are cut into at most `MOST_PIECES` pieces of at least `PIECE` entries.
const ONE_GROUP: usize = 4096;
const PIECE: usize = 1024;
const MOST_PIECES: usize = 256;
/// Entries of such rows, and bytes of their columns' bits, in a batch, unless it has a single row.
const PIECED_ENTRIES: usize = 1 << 20;
const MARK_BYTES: usize = 64 << 20;
/// Products are listed if all segments together would otherwise read this many times as many entries of A.
const LOOKS_PER_PRODUCT: u64 = 8;
/// Products of a piece that are listed by a work-group.
const PIECE_PRODUCTS: u32 = 1 << 14;
/// As in `sparse_product_segments.clh`, which also has `SEGMENT_SIZE` and its buckets.
const PIECE_FIELDS: usize = 8;
const SEGMENT_FIELDS: usize = 4;
const WINDOW: usize = 2048;

impl LongRows {
    /// The rows listed, of a product with B, which has as many columns as `MOST_RANGES` ranges at most.
    pub(super) fn new<T: Scalar>(
        a: &Structure,
        cols: usize,
        list: &Buffer<u32>,
        listed: usize,
        slice: usize,
    ) -> Result<LongRows> {
        let context = list.context();
        let (mut start, mut end) = (Buffer::<u32>::uninit(context, listed)?, Buffer::<u32>::uninit(context, listed)?);
        Program::<T>::new().row_ends(context, items(context, listed), listed, list, &a.offset, &mut start, &mut end)?;
        let (rows, start, end) = (list.to_vec()?, start.to_vec()?, end.to_vec()?);
        let rows = (0..listed).map(|r| (rows[r], start[r] as usize, end[r] as usize));
        let (long, short): (Vec<_>, Vec<_>) = rows.partition(|(_, start, end)| end - start > ONE_GROUP);
        let ranges = cols.div_ceil(RANGE_WIDTH);
        let most = RANGES_AT_A_TIME / (ranges + 1);
        let mut batches = Vec::new();
        for rows in short.chunks(most) {
            batches.push(Batch::new(context, rows, Vec::new())?);
        }
        let most = most.min(8 * MARK_BYTES / (ranges * RANGE_WIDTH)).max(1);
        let mut rest = &long[..];
        while !rest.is_empty() {
            let mut entries = 0;
            let fits = |(_, start, end): &&(u32, usize, usize)| {
                entries += end - start;
                entries <= PIECED_ENTRIES
            };
            let count = rest.iter().take(most).take_while(fits).count().max(1);
            batches.push(Batch::of_pieces(context, &rest[..count])?);
            rest = &rest[count..];
        }
        Ok(LongRows { slice, batches })
    }

    /// Counts the entries of the rows.
    pub(super) fn count<T: Scalar>(&self, a: &Structure, b: &Structure, count: &mut Buffer<u32>) -> Result<()> {
        for batch in &self.batches {
            batch.entries_before::<T>(a, b, self.slice, count)?;
        }
        Ok(())
    }

    /// Cuts the rows into segments.
    pub(super) fn cut<T: Scalar>(&mut self, a: &Structure, b: &Structure) -> Result<()> {
        let mut count = Buffer::<u32>::uninit(a.offset.context(), a.rows)?;
        for batch in &mut self.batches {
            batch.cut::<T>(a, b, self.slice, &mut count)?;
        }
        Ok(())
    }

    /// Fills the rows of C, whose columns and values are `column` and `values`.
    pub(super) fn fill<T: Scalar>(
        &self,
        a: EntriesRef<'_, T>,
        b: EntriesRef<'_, T>,
        offset: &Buffer<u32>,
        column: Out<'_, u32>,
        values: Out<'_, T>,
    ) -> Result<()> {
        for segments in self.batches.iter().filter_map(|batch| batch.segments.as_ref()) {
            segments.fill(a, b, offset, column, values)?;
        }
        Ok(())
    }
}

impl Batch {
    /// The rows, each with its start and end in A.
    fn new(context: &Context, rows: &[(u32, usize, usize)], pieces: Vec<Piece>) -> Result<Batch> {
        let list: Vec<u32> = rows.iter().map(|row| row.0).collect();
        Ok(Batch { list: Buffer::from_slice(context, &list)?, listed: rows.len(), pieces, segments: None })
    }

    /// The same, with A's rows cut into pieces.
    fn of_pieces(context: &Context, rows: &[(u32, usize, usize)]) -> Result<Batch> {
        let mut pieces = Vec::new();
        for (row, &(_, start, end)) in rows.iter().enumerate() {
            let length = (end - start).div_ceil(MOST_PIECES).max(PIECE);
            let starts = (start..end).step_by(length);
            pieces.extend(starts.map(|start| Piece { row, start, end: end.min(start + length) }));
        }
        Batch::new(context, rows, pieces)
    }

    /// The pieces for the kernels.
    fn fields(&self, context: &Context) -> Result<Buffer<u32>> {
        let fields = self.pieces.iter().flat_map(|&Piece { row, start, end }| -> [u32; PIECE_FIELDS] {
            [row as u32, start as u32, end as u32, 0, 0, 0, 0, 0]
        });
        Buffer::from_slice(context, &fields.collect::<Vec<_>>())
    }

    /// For each row, the number of its entries before each range of columns, and of all its entries; count[i] = entries of row i, if it is listed.
    fn entries_before<T: Scalar>(
        &self,
        a: &Structure,
        b: &Structure,
        slice: usize,
        count: &mut Buffer<u32>,
    ) -> Result<Buffer<u32>> {
        let context = a.offset.context();
        let program = Program::<T>::new();
        let ranges = b.cols.div_ceil(RANGE_WIDTH);
        let words = RANGE_WIDTH / 32;
        let several = (LOCAL_BYTES / size_of::<u32>() / words).clamp(1, ranges);
        let groups = ranges.div_ceil(several);
        let local = context.local().min(256);
        let (ao, ac, bo, bc) = (&a.offset, &a.column, &b.offset, &b.column);
        let [of_row, slice, several_32, ranges_32, width] =
            [groups, slice, several, ranges, RANGE_WIDTH].map(|n| n as u32);
        let mut part = Buffer::<u32>::uninit(context, self.listed * (ranges + 1))?;
        if self.pieces.is_empty() {
            let range = Range::d1(self.listed * groups * local, local);
            let (list, bits) = (&self.list, several * words);
            program.count_ranges(
                context, range, of_row, slice, several_32, ranges_32, width, list, ao, ac, bo, bc, bits, &mut part,
            )?;
        } else {
            let range = Range::d1(self.pieces.len() * groups * local, local);
            let (pieces, bits) = (self.fields(context)?, several * words);
            let mut mark = Buffer::<u32>::zeroed(context, self.listed * ranges * words)?;
            program.mark_ranges(
                context, range, of_row, slice, several_32, ranges_32, width, &pieces, ac, bo, bc, bits, &mut mark,
            )?;
            let each = items(context, self.listed * ranges);
            program.count_marks(context, each, self.listed as u32, ranges_32, width, &mark, &mut part)?;
        }
        let local = context.local().min(MOST_ITEMS);
        let range = Range::d1(self.listed * local, local);
        program.scan_ranges(context, range, ranges_32, &self.list, local, &mut part, count)?;
        Ok(part)
    }

    fn cut<T: Scalar>(&mut self, a: &Structure, b: &Structure, slice: usize, count: &mut Buffer<u32>) -> Result<()> {
        let context = a.offset.context();
        let program = Program::<T>::new();
        let part = &self.entries_before::<T>(a, b, slice, count)?;
        let most = Sizes::to_fill::<T>().most(SEGMENT_SIZE) as u32;
        let ranges = b.cols.div_ceil(RANGE_WIDTH) as u32;
        let (each, listed) = (items(context, self.listed), self.listed as u32);
        let mut found = Buffer::uninit(context, self.listed)?;
        program.count_segments(context, each, listed, ranges, most, part, &mut found)?;
        let (place, count) = scan::<T>(context, &found)?;
        let [mut start, mut about] =
            [Buffer::<u32>::uninit(context, count)?, Buffer::uninit(context, count * SEGMENT_FIELDS)?];
        program.list_segments(context, each, listed, ranges, most, &self.list, part, &place, &mut start, &mut about)?;
        let listed = if self.pieces.is_empty() { None } else { self.list::<T>(a, b, &place, &start)? };
        self.segments = Some(Segments { count, start, about, listed });
        Ok(())
    }

    /// Counts the products of each segment, which begin with the ranges `first`, if they are to be listed; those of row r are from place[r] on.
    fn list<T: Scalar>(
        &self,
        a: &Structure,
        b: &Structure,
        place: &Buffer<u32>,
        first: &Buffer<u32>,
    ) -> Result<Option<Listed>> {
        let context = a.offset.context();
        let program = sparse_product_listed::Program::<T>::new();
        let local = context.local().min(256);
        let group = |groups: usize| Range::d1(groups * local, local);
        let (pieces, place) = (self.fields(context)?, place.to_vec()?);
        let mut sums = Buffer::<u32>::uninit(context, self.pieces.len())?;
        program.sum_products(context, group(sums.len()), &pieces, &a.column, &b.offset, local, &mut sums)?;
        let sums = sums.to_vec()?;
        let products: u64 = sums.iter().copied().map(u64::from).sum();
        let segments = |row: usize| place[row + 1] - place[row];
        let looks = |piece: &Piece| u64::from(segments(piece.row)) * (piece.end - piece.start) as u64;
        let bytes = products * size_of::<(u32, T)>() as u64;
        if bytes > LONG_BYTES as u64 || LOOKS_PER_PRODUCT * products > self.pieces.iter().map(looks).sum() {
            return Ok(None);
        }
        let mut fields = Vec::new();
        let mut pieces_of = vec![0; self.listed];
        for (&Piece { row, start, end }, &products) in self.pieces.iter().zip(&sums) {
            for first in (0..products).step_by(PIECE_PRODUCTS as usize) {
                let (start, end, last) = (start as u32, end as u32, products.min(first + PIECE_PRODUCTS));
                fields.extend([row as u32, start, end, first, last, place[row], segments(row), pieces_of[row]]);
                pieces_of[row] += 1;
            }
        }
        let counters: u64 = (0..self.listed).map(|row| u64::from(segments(row)) * u64::from(pieces_of[row])).sum();
        if bytes + counters * size_of::<u32>() as u64 > LONG_BYTES as u64 {
            return Ok(None);
        }
        let mut counter = vec![0];
        for (row, pieces) in pieces_of.into_iter().enumerate() {
            let before = counter.last().copied().unwrap_or(0);
            counter.extend((1..=segments(row)).map(|s| before + s * pieces));
        }
        let (pieces, counter) = (Buffer::from_slice(context, &fields)?, Buffer::from_slice(context, &counter)?);
        let windows = (0..self.listed).map(|row| segments(row).div_ceil(WINDOW as u32)).max().unwrap_or(0).max(1);
        let mut found = Buffer::<u32>::uninit(context, counters as usize)?;
        program.count_listed(
            context,
            group(pieces.len() / PIECE_FIELDS * windows as usize),
            windows,
            RANGE_WIDTH as u32,
            &pieces,
            first,
            &counter,
            &a.column,
            &b.offset,
            &b.column,
            local,
            local,
            &mut found,
        )?;
        let (place, products) = scan::<T>(context, &found)?;
        Ok(Some(Listed { pieces, windows, counter, place, products }))
    }
}

impl Segments {
    fn fill<T: Scalar>(
        &self,
        a: EntriesRef<'_, T>,
        b: EntriesRef<'_, T>,
        offset: &Buffer<u32>,
        column: Out<'_, u32>,
        values: Out<'_, T>,
    ) -> Result<()> {
        let context = offset.context();
        let (ac, av) = (&a.structure.column, a.values);
        let (bo, bc, bv) = (&b.structure.offset, &b.structure.column, b.values);
        let (buckets, most) = (SEGMENT_SIZE / BUCKET_PLACES, Sizes::to_fill::<T>().most(SEGMENT_SIZE));
        let width = RANGE_WIDTH as u32;
        let (places, taken) = (SEGMENT_SIZE, 2 * SEGMENT_SIZE / 32);
        let lanes = context.local().min(MOST_ITEMS);
        let range = Range::d1(self.count * lanes, lanes);
        let Some(listed) = &self.listed else {
            return Program::new().fill_segments(
                context,
                range,
                width,
                &self.start,
                &self.about,
                &a.structure.offset,
                ac,
                av,
                bo,
                bc,
                bv,
                places,
                places,
                buckets,
                most,
                lanes,
                lanes,
                lanes,
                lanes,
                lanes,
                taken,
                offset,
                column,
                values,
            );
        };
        let program = sparse_product_listed::Program::new();
        let Listed { pieces, windows, counter, place, products } = listed;
        let mut list_column = Buffer::<u32>::uninit(context, *products)?;
        let mut list_value = Buffer::<T>::uninit(context, *products)?;
        let groups = pieces.len() / PIECE_FIELDS * *windows as usize;
        program.list_products(
            context,
            Range::d1(groups * lanes, lanes),
            *windows,
            width,
            pieces,
            &self.start,
            counter,
            place,
            ac,
            av,
            bo,
            bc,
            bv,
            lanes,
            lanes,
            lanes,
            &mut list_column,
            &mut list_value,
        )?;
        program.fill_listed(
            context,
            range,
            &self.about,
            counter,
            place,
            &list_column,
            &list_value,
            places,
            places,
            buckets,
            most,
            lanes,
            lanes,
            taken,
            offset,
            column,
            values,
        )
    }
}
