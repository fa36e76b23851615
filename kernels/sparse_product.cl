// C = A B for matrices in compressed rows (Gustavson 1978): the sizes of the rows of C first, then the rows, with sorted columns. The
// products of a row are added in the order of the entries of A's row, whatever the device, so that the same call gives the same bits.
//
// GPUs: rows listed by size; `lanes` items share a row, whose columns are hashed into a table in local memory (Nagasaka, Matsuoka, Azad
// and Buluc, ICPP 2018). Lanes traverse a row of B together, so that no two meet the same column, and wait for each other before the next.
// Rows that are too long for such tables are computed in ranges of columns, each with a dense accumulator in local memory; with too many
// columns for that, they are hashed into global memory (LONG_ROWS). CPUs: a part of the rows per item, with the place of each column in a table of `cols`.
//
// Traffic: per product (an entry of A with one of a row of B) 12 B in f64, of which rows of B that are met again come from cache; 12 B per
// entry of A and C.
//@ build
//@ build CPU=1
//@ build SCALAR_COMPLEX=1
//@ build CPU=1 SCALAR_COMPLEX=1
//@ variant Long LONG_ROWS=1
//@ build Long
//@ build Long SCALAR_COMPLEX=1
#include "sparse.clh"

#ifdef CPU
inline void sift_down_entry(__global uint *column, __global SCALAR *value, uint root, uint size)
{
    ulong parent = root;
    for (ulong child = 2 * parent + 1; child < size; child = 2 * parent + 1) {
        if (child + 1 < size && column[child + 1] > column[child]) {
            ++child;
        }
        if (column[parent] >= column[child]) {
            return;
        }
        const uint c = column[parent];
        column[parent] = column[child];
        column[child] = c;
        const SCALAR v = value[parent];
        value[parent] = value[child];
        value[child] = v;
        parent = child;
    }
}

// Ascending columns: insertion for short rows, a heap for others.
inline void sort_entries(__global uint *column, __global SCALAR *value, uint size)
{
    if (size <= 48) {
        for (uint k = 1; k < size; ++k) {
            const uint own = column[k];
            const SCALAR own_value = value[k];
            uint at = k;
            for (; at > 0 && column[at - 1] > own; --at) {
                column[at] = column[at - 1];
                value[at] = value[at - 1];
            }
            column[at] = own;
            value[at] = own_value;
        }
        return;
    }
    for (uint root = size / 2; root > 0; --root) {
        sift_down_entry(column, value, root - 1, size);
    }
    for (uint last = size - 1; last > 0; --last) {
        const uint c = column[0];
        column[0] = column[last];
        column[last] = c;
        const SCALAR v = value[0];
        value[0] = value[last];
        value[last] = v;
        sift_down_entry(column, value, 0, last);
    }
}

// count[i] = entries of row i of C. place: `cols` zeros per item.
__kernel void count_product(ulong rows, ulong cols, __global const uint *a_offset, __global const uint *a_column,
                            __global const uint *b_offset, __global const uint *b_column, __global uint *place,
                            __global uint *count)
{
    __global uint *own = place + get_global_id(0) * cols;
    FOR_EACH(i, rows)
    {
        uint found = 0;
        for (uint k = a_offset[i]; k < a_offset[i + 1]; ++k) {
            const uint end = b_offset[a_column[k] + 1];
            for (uint l = b_offset[a_column[k]]; l < end; ++l) {
                const uint c = b_column[l];
                if (own[c] != (uint)i + 1) {
                    own[c] = (uint)i + 1;
                    ++found;
                }
            }
        }
        count[i] = found;
    }
}

__kernel void fill_product(ulong rows, ulong cols, __global const uint *a_offset, __global const uint *a_column,
                           __global const SCALAR *a_value, __global const uint *b_offset, __global const uint *b_column,
                           __global const SCALAR *b_value, __global uint *place, __global const uint *offset,
                           __global uint *column, __global SCALAR *value)
{
    __global uint *own = place + get_global_id(0) * cols;
    FOR_EACH(i, rows)
    {
        const uint start = offset[i];
        uint next = start;
        for (uint k = a_offset[i]; k < a_offset[i + 1]; ++k) {
            const SCALAR a = a_value[k];
            const uint end = b_offset[a_column[k] + 1];
            for (uint l = b_offset[a_column[k]]; l < end; ++l) {
                const uint c = b_column[l];
                const SCALAR product = scalar_mul(a, b_value[l]);
                // One more than the place, which lies in this row if it is above `start`.
                const uint at = own[c];
                if (at > start) {
                    value[at - 1] += product;
                } else {
                    column[next] = c;
                    value[next] = product;
                    own[c] = ++next;
                }
            }
        }
        sort_entries(column + start, value + start, next - start);
    }
}
#else
#define NONE 0xffffffffu
// The count of a row whose table is too small.
#define FULL 0xffffffffu

#ifdef LONG_ROWS
#define TABLE __global
#define FENCE (CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
// Distance between the tables of consecutive rows.
#define STRIDE(size) (size)
#else
#define TABLE __local
#define FENCE CLK_LOCAL_MEM_FENCE
// Odd, so that the tables of the rows start in different banks.
#define STRIDE(size) ((size) + 1)
#endif

// The place of `column` in a table of `size`, a power of two; *is_new is set if it was not there before. Returns `size` if the table is full of other
// columns.
inline uint place_column(volatile TABLE uint *key, uint size, uint column, bool *is_new)
{
    uint at = column * 2654435761u & (size - 1);
    for (uint probes = 0; probes < size; ++probes) {
        const uint found = atomic_cmpxchg(key + at, NONE, column);
        *is_new = found == NONE;
        if (found == NONE || found == column) {
            return at;
        }
        at = (at + 1) & (size - 1);
    }
    return size;
}

#ifndef LONG_ROWS
// bound[i] = number of products for row i of C, at most `cols`, an upper bound of its entries. guess[i] = a likely upper bound: the products divided
// by `share`, but not below `least` unless bound[i] is smaller.
__kernel void bound_product(ulong rows, uint cols, uint share, uint least, __global const uint *a_offset,
                            __global const uint *a_column, __global const uint *b_offset, __global uint *bound,
                            __global uint *guess)
{
    FOR_EACH(i, rows)
    {
        ulong products = 0;
        for (uint k = a_offset[i]; k < a_offset[i + 1]; ++k) {
            products += b_offset[a_column[k] + 1] - b_offset[a_column[k]];
        }
        const uint most = (uint)min(products, (ulong)cols);
        bound[i] = most;
        guess[i] = min(most, max(most / share, least));
    }
}

// bound[i] is kept for rows whose table was full and set to 0 for others; any[0] = 1 if there are such rows.
__kernel void keep_full(ulong rows, __global const uint *count, __global uint *bound, __global uint *any)
{
    FOR_EACH(i, rows)
    {
        if (count[i] == FULL) {
            atomic_or(any, 1u);
        } else {
            bound[i] = 0;
        }
    }
}

// Bit k of classes[0] is set if some row is in class k, that is, high[k - 1] < bound[i] <= high[k]; bit 31 is set if some bound[i] is 0. The last
// class has no upper bound.
__kernel void mark_classes(ulong rows, uint last, __global const uint *high, __global const uint *bound,
                           __global uint *classes)
{
    __local uint found;
    if (get_local_id(0) == 0) {
        found = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const size_t i = get_global_id(0);
    if (i < rows) {
        uint k = 0;
        while (k < last && bound[i] > high[k]) {
            ++k;
        }
        atomic_or(&found, 1u << (bound[i] == 0 ? 31 : k));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0 && found) {
        atomic_or(classes, found);
    }
}

// list[i] = i.
__kernel void list_rows(ulong rows, __global uint *list)
{
    FOR_EACH(i, rows)
    {
        list[i] = (uint)i;
    }
}

// flag[i] = 1 where low < bound[i] <= high, else 0.
__kernel void flag_sizes(ulong rows, uint low, uint high, __global const uint *bound, __global uint *flag)
{
    FOR_EACH(i, rows)
    {
        flag[i] = low < bound[i] && bound[i] <= high;
    }
}

// The rows that are flagged, in ascending order.
__kernel void list_flagged(ulong rows, __global const uint *flag, __global const uint *offset, __global uint *list)
{
    FOR_EACH(i, rows)
    {
        if (flag[i]) {
            list[offset[i]] = (uint)i;
        }
    }
}
#endif

// count[i] = entries of row i of C, for the rows listed; FULL if they do not fit in a table. A work-group handles as many rows at a time as `lanes`
// items per row allow, with a table of `size` for each.
__kernel void count_product(uint listed, uint lanes, uint size, __global const uint *list, __global const uint *a_offset,
                            __global const uint *a_column, __global const uint *b_offset,
                            __global const uint *b_column, TABLE uint *key, __global uint *count)
{
    __local uint found[256];
    __local uint full[256];
    const uint group_rows = (uint)get_local_size(0) / lanes;
    const uint item = (uint)get_local_id(0);
    const uint lane = item % lanes;
    const uint own = item / lanes;
#ifdef LONG_ROWS
    TABLE uint *base = key + get_group_id(0) * (size_t)group_rows * STRIDE(size);
#else
    TABLE uint *base = key;
#endif
    for (uint first = (uint)get_group_id(0) * group_rows; first < listed; first += (uint)get_num_groups(0) * group_rows) {
        for (uint k = item; k < group_rows * STRIDE(size); k += (uint)get_local_size(0)) {
            base[k] = NONE;
        }
        if (lane == 0) {
            found[own] = 0;
            full[own] = 0;
        }
        barrier(FENCE);
        const bool active = first + own < listed;
        const uint i = active ? list[first + own] : 0;
        const uint end = active ? a_offset[i + 1] : 0;
        uint fresh = 0;
        bool fits = true;
        for (uint k = active ? a_offset[i] : 0; fits && k < end; ++k) {
            const uint last = b_offset[a_column[k] + 1];
            for (ulong l = (ulong)b_offset[a_column[k]] + lane; l < last; l += lanes) {
                bool is_new;
                fits &= place_column(base + own * (size_t)STRIDE(size), size, b_column[l], &is_new) < size;
                fresh += is_new;
            }
        }
        if (fresh) {
            atomic_add(found + own, fresh);
        }
        if (!fits) {
            atomic_or(full + own, 1u);
        }
        barrier(FENCE);
        if (active && lane == 0) {
            count[i] = full[own] ? FULL : found[own];
        }
        barrier(FENCE);
    }
}

// Entries of the longest of the `rows` rows listed.
inline uint longest_row(__global const uint *list, uint rows, __global const uint *offset)
{
    uint longest = 0;
    for (uint k = 0; k < rows; ++k) {
        longest = max(longest, offset[list[k] + 1] - offset[list[k]]);
    }
    return longest;
}

// Moves the entries of a table to its front, in ascending order of their columns.
inline void sort_table(TABLE uint *key, TABLE SCALAR *sum, uint size)
{
    uint filled = 0;
    for (uint k = 0; k < size; ++k) {
        const uint own = key[k];
        const SCALAR value = sum[k];
        uint at = filled;
        for (; own != NONE && at > 0 && key[at - 1] > own; --at) {
            key[at] = key[at - 1];
            sum[at] = sum[at - 1];
        }
        if (own != NONE) {
            key[at] = own;
            sum[at] = value;
            ++filled;
        }
    }
}

// The rows listed, whose places are `offset`. `size` > 1 is at least the entries of each.
__kernel void fill_product(uint listed, uint lanes, uint size, __global const uint *list, __global const uint *a_offset,
                           __global const uint *a_column, __global const SCALAR *a_value,
                           __global const uint *b_offset, __global const uint *b_column,
                           __global const SCALAR *b_value, TABLE uint *key, TABLE SCALAR *sum,
                           __global const uint *offset, __global uint *column, __global SCALAR *value)
{
    const uint items = (uint)get_local_size(0);
    const uint group_rows = items / lanes;
    const uint item = (uint)get_local_id(0);
    const uint lane = item % lanes;
    const uint own = item / lanes;
#ifdef LONG_ROWS
    TABLE uint *keys = key + get_group_id(0) * (size_t)group_rows * STRIDE(size);
    TABLE SCALAR *sums = sum + get_group_id(0) * (size_t)group_rows * STRIDE(size);
#else
    TABLE uint *keys = key;
    TABLE SCALAR *sums = sum;
#endif
    TABLE uint *own_keys = keys + own * (size_t)STRIDE(size);
    TABLE SCALAR *own_sums = sums + own * (size_t)STRIDE(size);
    // With one lane per row, sort_table has already sorted the row, and the bitonic sort is skipped.
    const uint sorted = lanes == 1 ? 1 : size;
    for (uint first = (uint)get_group_id(0) * group_rows; first < listed; first += (uint)get_num_groups(0) * group_rows) {
        for (uint k = item; k < group_rows * STRIDE(size); k += items) {
            keys[k] = NONE;
            sums[k] = SCALAR_ZERO;
        }
        const bool active = first + own < listed;
        const uint i = active ? list[first + own] : 0;
        const uint start = active ? a_offset[i] : 0;
        const uint length = active ? a_offset[i + 1] - start : 0;
        barrier(FENCE);
        const uint steps = longest_row(list + first, min(group_rows, listed - first), a_offset);
        for (uint step = 0; step < steps; ++step) {
            const bool has = step < length;
            const uint k = has ? start + step : 0;
            const uint j = has ? a_column[k] : 0;
            const uint last = has ? b_offset[j + 1] : 0;
            for (ulong l = has ? (ulong)b_offset[j] + lane : 0; l < last; l += lanes) {
                bool is_new;
                const uint at = place_column(own_keys, size, b_column[l], &is_new);
                own_sums[at] += scalar_mul(a_value[k], b_value[l]);
            }
            barrier(FENCE);
        }
        if (lanes == 1) {
            sort_table(own_keys, own_sums, size);
        }
        // Bitonic sort (Batcher, AFIPS 32 (1968) 307-314) with ascending exchanges; empty places go to the end.
        for (uint width = 2; width <= sorted; width *= 2) {
            for (uint k = lane; k < size / 2; k += lanes) {
                const uint block = k / (width / 2) * width;
                const uint a = block + k % (width / 2);
                const uint b = block + width - 1 - k % (width / 2);
                const uint low = own_keys[a];
                const uint high = own_keys[b];
                if (low > high) {
                    const SCALAR moved = own_sums[a];
                    own_keys[a] = high;
                    own_keys[b] = low;
                    own_sums[a] = own_sums[b];
                    own_sums[b] = moved;
                }
            }
            barrier(FENCE);
            for (uint stride = width / 4; stride > 0; stride /= 2) {
                for (uint k = lane; k < size / 2; k += lanes) {
                    const uint a = k / stride * (2 * stride) + k % stride;
                    const uint b = a + stride;
                    const uint low = own_keys[a];
                    const uint high = own_keys[b];
                    if (low > high) {
                        const SCALAR moved = own_sums[a];
                        own_keys[a] = high;
                        own_keys[b] = low;
                        own_sums[a] = own_sums[b];
                        own_sums[b] = moved;
                    }
                }
                barrier(FENCE);
            }
        }
        const uint to = active ? offset[i] : 0;
        const uint entries = active ? offset[i + 1] - to : 0;
        for (uint k = lane; k < entries; k += lanes) {
            column[to + k] = own_keys[k];
            value[to + k] = own_sums[k];
        }
        barrier(FENCE);
    }
}
#ifndef LONG_ROWS
// Rows of C that are too long for tables, in ranges of `width` columns, a multiple of 32, each column with a slot in local memory.

// Work-items that traverse a row of B together where the order does not matter.
#define SLICE 32

// part[r * (ranges + 1) + q + 1] = entries of row list[r] of C in range q; one bit per column. A work-group has a row and `several`
// ranges; there are `groups` work-groups per row.
__kernel void count_ranges(uint groups, uint several, uint ranges, uint width, __global const uint *list,
                           __global const uint *a_offset, __global const uint *a_column, __global const uint *b_offset,
                           __global const uint *b_column, __local uint *bits, __global uint *part)
{
    const uint item = (uint)get_local_id(0), items = (uint)get_local_size(0);
    const size_t r = get_group_id(0) / groups;
    const uint i = list[r], end = a_offset[i + 1], first = (uint)(get_group_id(0) % groups) * several;
    const uint count = min(several, ranges - first), words = width / 32;
    const ulong low = (ulong)first * width, columns = (ulong)count * width;
    for (uint w = item; w < count * words; w += items) {
        bits[w] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong k = (ulong)a_offset[i] + item / SLICE; k < end; k += items / SLICE) {
        const uint last = b_offset[a_column[k] + 1];
        for (ulong l = (ulong)b_offset[a_column[k]] + item % SLICE; l < last; l += SLICE) {
            const ulong at = b_column[l] - low;
            if (b_column[l] >= low && at < columns) {
                atomic_or(bits + (at >> 5), 1u << (at & 31));
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint q = item; q < count; q += items) {
        uint entries = 0;
        for (uint w = 0; w < words; ++w) {
            entries += popcount(bits[q * words + w]);
        }
        part[r * (ranges + 1) + first + q + 1] = entries;
    }
}

// Number of entries of the listed rows before each of their ranges, from the numbers in them; count[list[r]] = entries of row list[r].
__kernel void scan_ranges(uint listed, uint ranges, __global const uint *list, __global uint *part, __global uint *count)
{
    const size_t r = get_global_id(0);
    if (r < listed) {
        __global uint *own = part + r * (ranges + 1);
        uint sum = 0;
        own[0] = 0;
        for (uint q = 1; q <= ranges; ++q) {
            sum += own[q];
            own[q] = sum;
        }
        count[list[r]] = sum;
    }
}

// The first of the ascending columns from `from` to `end` that is at least `low`.
inline uint first_column(__global const uint *column, uint from, uint end, uint low)
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

// The listed rows, which begin at `offset`; a work-group has a range of a row, with part[r * (ranges + 1) + q] entries before it. `first`,
// `last` and `factor` have a place for each item, `bits` and `before` one for each word of a range.
__kernel void fill_ranges(uint ranges, uint width, __global const uint *part, __global const uint *list,
                          __global const uint *a_offset, __global const uint *a_column,
                          __global const SCALAR *a_value, __global const uint *b_offset,
                          __global const uint *b_column, __global const SCALAR *b_value, __local SCALAR *sum,
                          __local SCALAR *factor, __local uint *bits, __local uint *before, __local uint *first,
                          __local uint *last, __global const uint *offset, __global uint *column,
                          __global SCALAR *value)
{
    const uint item = (uint)get_local_id(0);
    const uint items = (uint)get_local_size(0), words = width / 32;
    const size_t r = get_group_id(0) / ranges;
    const uint range = (uint)(get_group_id(0) % ranges), low = range * width;
    const uint ahead = part[r * (ranges + 1) + range], inside = part[r * (ranges + 1) + range + 1] - ahead;
    const uint i = list[r], start = a_offset[i];
    // Nothing to add where the range is empty.
    const uint end = start + min(inside, 1u) * (a_offset[i + 1] - start);
    for (uint c = item; c < width; c += items) {
        sum[c] = SCALAR_ZERO;
    }
    for (uint w = item; w < words; w += items) {
        bits[w] = 0;
    }
    for (ulong tile = start; tile < end; tile += items) {
        const ulong k = tile + item;
        uint from = 0, until = 0;
        if (k < end) {
            const uint row_end = b_offset[a_column[k] + 1];
            from = first_column(b_column, b_offset[a_column[k]], row_end, low);
            until = low + width > low ? first_column(b_column, from, row_end, low + width) : row_end;
        }
        first[item] = from;
        last[item] = until;
        factor[item] = k < end ? a_value[k] : SCALAR_ZERO;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint s = 0; s < min(items, (uint)(end - tile)); ++s) {
            for (ulong l = (ulong)first[s] + item; l < last[s]; l += items) {
                const uint c = b_column[l] - low;
                sum[c] += scalar_mul(factor[s], b_value[l]);
                atomic_or(bits + c / 32, 1u << (c & 31));
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint w = item; w < words; w += items) {
        uint entries = 0;
        for (uint v = 0; v < w; ++v) {
            entries += popcount(bits[v]);
        }
        before[w] = entries;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint c = item; c < width; c += items) {
        const uint word = bits[c / 32], bit = 1u << (c & 31);
        if (word & bit) {
            const size_t at = (size_t)offset[i] + ahead + before[c / 32] + popcount(word & (bit - 1));
            column[at] = low + c;
            value[at] = sum[c];
        }
    }
}
#endif
#endif
