// Products of sparse matrices on GPUs: rows that are too long for one table. Their entries are counted in ranges of
// `width` columns, a multiple of 32; consecutive ranges that a table holds together are a segment. Where A's row is
// long as well, it is cut into pieces for several work-groups.
//
// Traffic: as sparse_product.cl.
//@ build
//@ build SCALAR_COMPLEX=1
//@ one_program
#include "sparse.clh"
#include "sparse_product.clh"
#include "sparse_product_table.clh"
#include "sparse_product_segments.clh"

// The entries of A's rows that are listed: those of row list[r] from start[r] to end[r].
__kernel void row_ends(ulong listed, __global const uint *list, __global const uint *a_offset, __global uint *start,
                       __global uint *end)
{
    FOR_EACH(r, listed)
    {
        start[r] = a_offset[list[r]];
        end[r] = a_offset[list[r] + 1];
    }
}

// Rows of B with more entries than this for each work-item that traverses them are left to the whole work-group.
#define ENTRIES_EACH 32

// Sets bit c - low of `bits`, if it is among the `count` bits.
inline void mark_column(uint c, ulong low, ulong count, __local uint *bits)
{
    const ulong at = c - low;
    if (at < count) {
        atomic_or(bits + (at >> 5), 1u << (at & 31));
    }
}

// Clears the bits and the count of long rows of `mark_columns`. Ends with a barrier.
inline void clear_marks(__local uint *bits, uint words, __local uint *row)
{
    const uint item = (uint)get_local_id(0), items = (uint)get_local_size(0);
    for (uint w = item; w < words; w += items) {
        bits[w] = 0;
    }
    if (item == 0) {
        row[0] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

// Marks the columns of the products of a tile of entries of A, from `start` to `end`, at most one per item. `slice`
// work-items traverse a row of B. Long rows are left to the whole work-group: row[0], 0 before and after, counts them,
// and row[1] and following list them. Ends with a barrier.
inline void mark_columns(ulong start, ulong end, uint slice, __global const uint *a_column,
                         __global const uint *b_offset, __global const uint *b_column, __local uint *row, ulong low,
                         ulong count, __local uint *bits)
{
    const uint item = (uint)get_local_id(0), items = (uint)get_local_size(0);
    for (ulong k = start + item / slice; k < end; k += items / slice) {
        const uint j = a_column[k], last = b_offset[j + 1];
        const bool is_long = last - b_offset[j] > ENTRIES_EACH * slice;
        if (is_long && item % slice == 0) {
            row[1 + atomic_inc(row)] = j;
        }
        for (ulong l = is_long ? last : (ulong)b_offset[j] + item % slice; l < last; l += slice) {
            mark_column(b_column[l], low, count, bits);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint rows = row[0];
    for (uint r = 1; r <= rows; ++r) {
        const uint last = b_offset[row[r] + 1];
        for (ulong l = (ulong)b_offset[row[r]] + item; l < last; l += items) {
            mark_column(b_column[l], low, count, bits);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        row[0] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

// part[r * (ranges + 1) + q + 1] = entries of row list[r] of C in range q; one bit per column. A work-group has a row
// and `several` ranges; there are `groups` work-groups per row.
__kernel void count_ranges(uint groups, uint slice, uint several, uint ranges, uint width,
                           __global const uint *list, __global const uint *a_offset, __global const uint *a_column,
                           __global const uint *b_offset, __global const uint *b_column, __local uint *bits,
                           __global uint *part)
{
    __local uint long_row[257];
    const uint items = (uint)get_local_size(0);
    const uint item = (uint)get_local_id(0);
    const size_t r = get_group_id(0) / groups;
    const uint i = list[r], first = (uint)(get_group_id(0) % groups) * several;
    const uint count = min(several, ranges - first), words = width / 32, end = a_offset[i + 1];
    clear_marks(bits, count * words, long_row);
    for (ulong tile = a_offset[i]; tile < end; tile += items) {
        mark_columns(tile, min(tile + items, (ulong)end), slice, a_column, b_offset, b_column, long_row,
                     (ulong)first * width, (ulong)count * width, bits);
    }
    for (uint q = item; q < count; q += items) {
        uint entries = 0;
        for (uint w = 0; w < words; ++w) {
            entries += popcount(bits[q * words + w]);
        }
        part[r * (ranges + 1) + first + q + 1] = entries;
    }
}

// Adds the columns of pieces of rows to the bits in `mark`, which has ranges * width of them per row. A work-group has
// a piece and `several` ranges; there are `groups` work-groups per piece.
__kernel void mark_ranges(uint groups, uint slice, uint several, uint ranges, uint width, __global const uint *pieces,
                          __global const uint *a_column, __global const uint *b_offset, __global const uint *b_column,
                          __local uint *bits, __global uint *mark)
{
    __local uint long_row[257];
    const uint items = (uint)get_local_size(0);
    const uint item = (uint)get_local_id(0);
    const size_t piece = get_group_id(0) / groups * PIECE_FIELDS;
    const uint first = (uint)(get_group_id(0) % groups) * several, end = pieces[piece + PIECE_END];
    const uint count = min(several, ranges - first), words = width / 32;
    clear_marks(bits, count * words, long_row);
    for (ulong tile = pieces[piece + PIECE_START]; tile < end; tile += items) {
        mark_columns(tile, min(tile + items, (ulong)end), slice, a_column, b_offset, b_column, long_row,
                     (ulong)first * width, (ulong)count * width, bits);
    }
    __global uint *own = mark + ((size_t)pieces[piece + PIECE_ROW] * ranges + first) * words;
    for (uint w = item; w < count * words; w += items) {
        if (bits[w]) {
            atomic_or(own + w, bits[w]);
        }
    }
}

// part[r * (ranges + 1) + q + 1] = bits in range q of row r.
__kernel void count_marks(uint listed, uint ranges, uint width, __global const uint *mark, __global uint *part)
{
    const uint words = width / 32;
    const size_t at = get_global_id(0), r = at / ranges, q = at % ranges;
    if (r < listed) {
        uint entries = 0;
        for (uint w = 0; w < words; ++w) {
            entries += popcount(mark[at * words + w]);
        }
        part[r * (ranges + 1) + q + 1] = entries;
    }
}

// Number of entries of a row of the list before each of its ranges, from the numbers in them; count[i] = entries of row
// i, if it is listed. A work-group per row; `total` has an element for each item.
__kernel void scan_ranges(uint ranges, __global const uint *list, __local uint *total, __global uint *part,
                          __global uint *count)
{
    const uint item = (uint)get_local_id(0), items = (uint)get_local_size(0);
    const size_t r = get_group_id(0);
    __global uint *own = part + r * (ranges + 1);
    const uint each = (ranges + items - 1) / items, from = min(item * each, ranges), until = min(from + each, ranges);
    uint sum = 0;
    for (uint q = from; q < until; ++q) {
        sum += own[q + 1];
    }
    total[item] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint before = 0;
    for (uint k = 0; k < item; ++k) {
        before += total[k];
    }
    for (uint q = from; q < until; ++q) {
        before += own[q + 1];
        own[q + 1] = before;
    }
    if (item == items - 1) {
        own[0] = 0;
        count[list[r]] = before;
    }
}

// The end of the segment that begins with range `first` of a row: as many ranges as have at most `most` entries
// together, one at least. Found by steps that double, then halve.
inline uint segment_end(__global const uint *part, uint first, uint ranges, uint most)
{
    uint end = first + 1, step = 1;
    while (end + step <= ranges && part[end + step] - part[first] <= most) {
        end += step;
        step *= 2;
    }
    while (step > 1) {
        step /= 2;
        if (end + step <= ranges && part[end + step] - part[first] <= most) {
            end += step;
        }
    }
    return end;
}

// count[r] = segments that are not empty of row r of those that `part` belongs to.
__kernel void count_segments(uint listed, uint ranges, uint most, __global const uint *part, __global uint *count)
{
    const size_t r = get_global_id(0);
    if (r < listed) {
        __global const uint *own = part + r * (ranges + 1);
        uint found = 0;
        for (uint first = 0; first < ranges;) {
            const uint end = segment_end(own, first, ranges, most);
            found += own[end] > own[first];
            first = end;
        }
        count[r] = found;
    }
}

// The segments counted, from place[r]: the first range of each, and the rest.
__kernel void list_segments(uint listed, uint ranges, uint most, __global const uint *list,
                            __global const uint *part, __global const uint *place, __global uint *start,
                            __global uint *segment)
{
    const size_t r = get_global_id(0);
    if (r < listed) {
        __global const uint *own = part + r * (ranges + 1);
        uint at = place[r];
        for (uint first = 0; first < ranges;) {
            const uint until = segment_end(own, first, ranges, most);
            if (own[until] > own[first]) {
                start[at] = first;
                segment[at * SEGMENT_FIELDS + SEGMENT_ROW] = list[r];
                segment[at * SEGMENT_FIELDS + SEGMENT_END] = until;
                segment[at * SEGMENT_FIELDS + SEGMENT_BEFORE] = own[first];
                segment[at * SEGMENT_FIELDS + SEGMENT_INSIDE] = own[until] - own[first];
                ++at;
            }
            first = until;
        }
    }
}

// The first of the ascending columns from `from` to `end` that is at least `low`.
inline uint first_column(__global const uint *column, uint from, uint end, ulong low)
{
    while (from < end) {
        const uint middle = from + (end - from) / 2;
        if (column[middle] < low) {
            from = middle + 1;
        } else {
            end = middle;
        }
    }
    return from;
}

// A segment per work-group, of a row that begins at `offset`. `begin`, `ahead`, `factor`, `slot` and `term` have an
// element for each item; their number is a power of two. Batches of products are gathered in parallel, whatever the
// lengths of the rows of B.
__kernel void fill_segments(uint width, __global const uint *first_range,
                            __global const uint *segments, __global const uint *a_offset,
                            __global const uint *a_column, __global const SCALAR *a_value,
                            __global const uint *b_offset, __global const uint *b_column,
                            __global const SCALAR *b_value, __local uint *key, __local SCALAR *sum,
                            __local uint *bucket, __local ushort *order, __local uint *begin, __local uint *ahead,
                            __local uint *slot, __local SCALAR *term, __local SCALAR *factor, __local uint *taken,
                            __global const uint *offset, __global uint *column, __global SCALAR *value)
{
    __local uint lowest, highest, total[256], waiting[8];
    const uint item = (uint)get_local_id(0);
    const uint items = (uint)get_local_size(0);
    const size_t segment = get_group_id(0);
    const size_t about = segment * SEGMENT_FIELDS;
    const ulong low = (ulong)first_range[segment] * width, high = (ulong)segments[about + SEGMENT_END] * width;
    const uint i = segments[about + SEGMENT_ROW], start = a_offset[i], end = a_offset[i + 1];
    clear_table(key, sum, taken);
    for (ulong tile = start; tile < end; tile += items) {
        const ulong k = tile + item;
        const uint j = k < end ? a_column[k] : 0;
        const uint row_end = k < end ? b_offset[j + 1] : 0;
        const uint from = k < end ? first_column(b_column, b_offset[j], row_end, low) : 0;
        begin[item] = from;
        ahead[item] = first_column(b_column, from, row_end, high) - from;
        factor[item] = k < end ? a_value[k] : SCALAR_ZERO;
        sum_up(ahead);
        const uint products = shared_value(ahead + items - 1);
        // How many entries of A each batch spans; 0 if there are more than a few.
        for (uint b = item; b < min(SEGMENT_BUCKETS, (products + items - 1) / items); b += items) {
            const uint last = first_above(ahead, items, min((b + 1) * items, products) - 1);
            const uint spanned = last - first_above(ahead, items, b * items) + 1;
            bucket[b] = spanned <= FEW_ENTRIES ? spanned : 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint batch = 0; batch < products; batch += items) {
            const uint p = batch + item;
            const bool active = p < products;
            const uint spanned = batch / items < SEGMENT_BUCKETS ? shared_value(bucket + batch / items) : 0;
            const uint steps = spanned ? spanned : 3;
            const uint own = first_above(ahead, items, min(p, products - 1));
            const uint entry = own - first_above(ahead, items, batch);
            uint at = 0;
            SCALAR product = SCALAR_ZERO;
            if (active) {
                const uint l = begin[own] + p - (own > 0 ? ahead[own - 1] : 0);
                bool is_new;
                at = place_column(key, SEGMENT_SIZE, SEGMENT_SIZE, b_column[l], &is_new);
                product = scalar_mul(factor[own], b_value[l]);
            }
            for (uint step = 0; step < steps; ++step) {
                add_products(step, spanned, entry, active, at, product, sum, term, slot, taken, waiting);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    const size_t to = (size_t)offset[i] + segments[about + SEGMENT_BEFORE];
    write_sorted(key, sum, SEGMENT_SIZE, bucket, SEGMENT_BUCKETS, order, item, items, &lowest, &highest, total,
                 column + to, value + to, segments[about + SEGMENT_INSIDE]);
}
