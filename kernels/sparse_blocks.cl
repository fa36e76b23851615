// How the entries of a sparse matrix are cut into blocks at upload, on a GPU: of whole rows, of about equally many entries, in
// windows of rows sorted by their length; and the columns of blocks in 16 bits. Integers only; built in single precision.
//
// Traffic: 4 B per row for what looks at offsets, 4 B per entry for what looks at columns.
//@ build
//@ build LOCAL=128
#include "common.clh"

// Columns of a page, the pages of a block, and the mark of a block that touches more.
#define PAGE 4096
#define PAGES 16
#define WIDE UINT_MAX

// Entries of the longest row, found[0], of the fullest block of `width` rows, found[1], and of all rows that have more than `most`,
// found[2]; all are 0 before.
__kernel void measure_rows(ulong rows, ulong width, uint most, __global const uint *offset, __global uint *found)
{
    __local uint longest, fullest, inside;
    const bool first = get_local_id(0) == 0;
    if (first) {
        longest = fullest = inside = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint row = 0, block = 0, above = 0;
    for (size_t i = get_global_id(0); i < rows; i += get_global_size(0)) {
        const uint own = offset[i + 1] - offset[i];
        row = max(row, own);
        above += own > most ? own : 0;
        if (i % width == 0) {
            block = max(block, offset[min(i + width, (size_t)rows)] - offset[i]);
        }
    }
    atomic_max(&longest, row);
    atomic_max(&fullest, block);
    atomic_add(&inside, above);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (first) {
        atomic_max(found, longest);
        atomic_max(found + 1, fullest);
        atomic_add(found + 2, inside);
    }
}

// The first rows and entries of `blocks` blocks of `width` rows, and their ends.
__kernel void start_blocks(ulong blocks, ulong rows, ulong width, __global const uint *offset, __global uint *start,
                           __global uint *begin)
{
    const size_t b = get_global_id(0);
    if (b <= blocks) {
        const size_t row = min(b * width, (size_t)rows);
        start[b] = (uint)row;
        begin[b] = offset[row];
    }
}

// The weight of all that precedes a row: entries, and rows, which weigh less.
inline ulong weight_before(size_t row, __global const uint *offset)
{
    return (ulong)offset[row] + row / 4;
}

// Cuts a matrix into `blocks` blocks of about `weight` each: block b has the rows from start[b] on and the entries from begin[b]
// on, at most weight + slack. It begins with a row, if one begins within `slack` after the position where it would be cut, and cut[b] is UINT_MAX;
// otherwise it begins inside row cut[b]. No row of at most `slack` entries is cut.
__kernel void cut_blocks(ulong blocks, ulong rows, ulong weight, ulong slack, __global const uint *offset,
                         __global uint *start, __global uint *begin, __global uint *cut)
{
    const size_t b = get_global_id(0);
    if (b > blocks) {
        return;
    }
    const ulong from = b * weight;
    size_t row = b < blocks ? 0 : rows, end = rows;
    while (row < end) {
        const size_t middle = row + (end - row) / 2;
        if (weight_before(middle, offset) < from) {
            row = middle + 1;
        } else {
            end = middle;
        }
    }
    const ulong there = weight_before(row, offset);
    const bool inside = b < blocks && there > from + slack;
    start[b] = (uint)row;
    begin[b] = inside ? (uint)(offset[row] - (there - from - slack)) : offset[row];
    cut[b] = inside ? (uint)(row - 1) : UINT_MAX;
}

// Sorts the rows of every window of LOCAL rows by their length, the longest first, a work-group per window, of which only every
// `step`-th is processed, as if there were no others: order[i] is the position in the window of the row that item i has. Chunks of `chunk` items are as long as
// their first row: width[c]. Adds to total[0] their number of slots in units of `chunk`, to total[1] the number of entries.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
sort_windows(ulong rows, ulong step, uint chunk, __global const uint *offset, __global uchar *order, __global uint *width,
             __global uint *total)
{
    __local uint length[LOCAL];
    __local uint places, entries;
    const uint item = (uint)get_local_id(0);
    const size_t first = get_group_id(0) * step * LOCAL, to = get_group_id(0) * LOCAL;
    const size_t row = first + item;
    const uint own = row < rows ? offset[row + 1] - offset[row] : 0;
    if (item == 0) {
        places = entries = 0;
    }
    length[item] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&entries, own);
    if (row < rows) {
        const uint count = (uint)min((size_t)LOCAL, (size_t)rows - first);
        uint rank = 0;
        for (uint j = 0; j < count; ++j) {
            rank += length[j] > own || (length[j] == own && j < item) ? 1 : 0;
        }
        order[to + rank] = (uchar)item;
        if (rank % chunk == 0) {
            width[(to + rank) / chunk] = own;
            atomic_add(&places, own);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        atomic_add(total, places);
        atomic_add(total + 1, entries);
    }
}

// Slots of the table in which a work-group records the pages of its block.
#define TABLE 64

// For every `step`-th block, as if there were no others, one work-group each: its lowest column, and the pages that it touches, as up to 16
// first columns in increasing order; the first of the 16 is the mark if there are more. total[0] becomes the largest distance between two
// columns of a block; total[1] and total[2] increase by the blocks that touch more pages and their entries, total[3] by all entries.
__kernel void measure_blocks(ulong step, __global const uint *begin, __global const uint *column, __global uint *base,
                             __global uint *page, __global uint *total)
{
    __local uint table[TABLE];
    __local uint lowest, highest, count;
    const size_t b = get_group_id(0);
    const uint lane = (uint)get_local_id(0), items = (uint)get_local_size(0);
    const size_t first = begin[b * step], end = begin[b * step + 1];
    for (uint k = lane; k < TABLE; k += items) {
        table[k] = UINT_MAX;
    }
    if (lane == 0) {
        lowest = UINT_MAX;
        highest = count = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint low = UINT_MAX, high = 0, last = UINT_MAX;
    for (size_t k = first + lane; k < end; k += items) {
        const uint at = column[k], own = at / PAGE;
        low = min(low, at);
        high = max(high, at);
        if (own != last) {
            last = own;
            bool found = atomic_add(&count, 0u) > PAGES;
            for (uint probe = 0; probe < TABLE && !found; ++probe) {
                const uint other = atomic_cmpxchg(&table[(own + probe) % TABLE], UINT_MAX, own);
                found = other == UINT_MAX || other == own;
                if (other == UINT_MAX) {
                    atomic_inc(&count);
                }
            }
        }
    }
    atomic_min(&lowest, low);
    atomic_max(&highest, high);
    barrier(CLK_LOCAL_MEM_FENCE);
    const bool wide = count > PAGES;
    if (lane == 0) {
        lowest = min(lowest, highest);
        base[b] = lowest;
        atomic_max(total, highest - lowest);
        if (wide) {
            page[PAGES * b] = WIDE;
            atomic_inc(total + 1);
            atomic_add(total + 2, (uint)(end - first));
        }
        atomic_add(total + 3, (uint)(end - first));
    }
    for (uint k = lane; k < TABLE && !wide; k += items) {
        const uint own = table[k];
        uint rank = 0;
        for (uint j = 0; j < TABLE; ++j) {
            rank += table[j] < own ? 1 : 0;
        }
        if (own != UINT_MAX) {
            page[PAGES * b + rank] = own * PAGE;
        }
        // Slots without a page.
        if (k >= count && k < PAGES) {
            page[PAGES * b + k] = 0;
        }
    }
}

// Distances of the columns from the lowest of their block, a work-group per block.
__kernel void narrow_columns(__global const uint *begin, __global const uint *base, __global const uint *column,
                             __global ushort *narrow)
{
    const size_t b = get_group_id(0);
    const uint lowest = base[b];
    const size_t end = begin[b + 1];
    for (size_t k = begin[b] + get_local_id(0); k < end; k += get_local_size(0)) {
        narrow[k] = (ushort)(column[k] - lowest);
    }
}

// The columns by pages, a work-group per block; 0 where there are too many.
__kernel void page_columns(__global const uint *begin, __global const uint *page, __global const uint *column,
                           __global ushort *narrow)
{
    const size_t b = get_group_id(0);
    __global const uint *own = page + PAGES * b;
    const bool near = own[0] != WIDE;
    const size_t end = begin[b + 1];
    for (size_t k = begin[b] + get_local_id(0); k < end; k += get_local_size(0)) {
        const uint first = column[k] / PAGE * PAGE;
        uint place = 0;
        for (uint p = 1; p < PAGES; ++p) {
            place = own[p] == first && first > 0 ? p : place;
        }
        narrow[k] = near ? (ushort)(place * PAGE + column[k] % PAGE) : 0;
    }
}
