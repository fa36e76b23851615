// C = A B for matrices in compressed rows (Gustavson 1978): the sizes of the rows of C first, then the rows, with sorted columns. The
// products of a row are added in the order of the entries of A's row, whatever the kernel, so that repeated calls give the same bits.
//
// GPUs: rows listed by size; `lanes` items share a row, whose columns are hashed into a table in local memory (Nagasaka, Matsuoka, Azad
// and Buluc, ICPP 2018). Lanes traverse a row of B together, so that no two meet the same column, and wait for each other before the next.
// Rows that are too long for one table are cut into segments of consecutive columns, each with a table of its own; where that would take too long, as
// there are very many columns, they are hashed into global memory (LONG_ROWS). Short rows are merged from the rows of B. CPUs: a part of the rows per
// item, with the position of each column in a table of `cols`.
//
// Traffic: per product (an entry of A with one of a row of B) 12 B in f64, where rows of B that are read again come from cache; 12 B per
// entry of A and C.
//@ build
//@ build CPU=1
//@ build SCALAR_COMPLEX=1
//@ build CPU=1 SCALAR_COMPLEX=1
//@ build CPU=1 ENTRIES_AHEAD=4
//@ build CPU=1 ENTRIES_AHEAD=4 SCALAR_COMPLEX=1
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

// Ascending columns, by a heap.
inline void sort_entries(__global uint *column, __global SCALAR *value, uint size)
{
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

// With ENTRIES_AHEAD, the row of B for the entry of A that many positions ahead is prefetched, since these rows may lie far apart.
#ifdef ENTRIES_AHEAD
#define FETCH(p) __builtin_prefetch((const __global void *)(p), 0, 3)
#define SOON(k) b_offset[a_column[min((k) + ENTRIES_AHEAD, entries - 1)]]
#define FETCH_COLUMNS(k) FETCH(b_column + SOON(k))
#define FETCH_ROW(k)                                                                                     \
    const uint soon = SOON(k);                                                                           \
    FETCH(b_column + soon);                                                                              \
    FETCH(b_value + soon);                                                                               \
    FETCH(b_value + soon + 7)
#else
#define FETCH_COLUMNS(k)
#define FETCH_ROW(k)
#endif

// count[i] = entries of row i of C. place: `cols` zeros per item.
__kernel void count_product(ulong rows, ulong cols, __global const uint *a_offset, __global const uint *a_column,
                            __global const uint *b_offset, __global const uint *b_column, __global uint *place,
                            __global uint *count)
{
    __global uint *own = place + get_global_id(0) * cols;
#ifdef ENTRIES_AHEAD
    const uint entries = a_offset[rows];
#endif
    FOR_EACH(i, rows)
    {
        uint found = 0;
        for (uint k = a_offset[i]; k < a_offset[i + 1]; ++k) {
            FETCH_COLUMNS(k);
            const uint end = b_offset[a_column[k] + 1];
            for (uint l = b_offset[a_column[k]]; l < end; ++l) {
                const uint c = b_column[l];
                // Without a branch, which could not be predicted.
                found += own[c] != (uint)i + 1;
                own[c] = (uint)i + 1;
            }
        }
        count[i] = found;
    }
}

// own[c]: one more than the position of column c, which lies in this row if it is above `start`.
__kernel void fill_product(ulong rows, ulong cols, __global const uint *a_offset, __global const uint *a_column,
                           __global const SCALAR *a_value, __global const uint *b_offset, __global const uint *b_column,
                           __global const SCALAR *b_value, __global uint *place, __global const uint *offset,
                           __global uint *column, __global SCALAR *value)
{
    __global uint *own = place + get_global_id(0) * cols;
#ifdef ENTRIES_AHEAD
    const uint entries = a_offset[rows];
#endif
    FOR_EACH(i, rows)
    {
        const uint start = offset[i];
        const uint size = offset[i + 1] - start;
        uint next = start;
        if (size <= FEW) {
            uint key[FEW], rank[FEW];
            SCALAR sum[FEW];
            for (uint k = a_offset[i]; k < a_offset[i + 1]; ++k) {
                FETCH_ROW(k);
                const SCALAR a = a_value[k];
                const uint end = b_offset[a_column[k] + 1];
                for (uint l = b_offset[a_column[k]]; l < end; ++l) {
                    const uint c = b_column[l];
                    const SCALAR product = scalar_mul(a, b_value[l]);
                    const bool is_new = own[c] <= start;
                    const uint at = is_new ? next : own[c] - 1;
                    const SCALAR before = sum[at - start];
                    const SCALAR more = before + product;
                    own[c] = at + 1;
                    key[at - start] = c;
                    sum[at - start] = is_new ? product : more;
                    next += is_new;
                }
            }
            rank_columns(size, key, rank);
            for (uint k = 0; k < size; ++k) {
                column[start + rank[k]] = key[k];
                value[start + rank[k]] = sum[k];
            }
            continue;
        }
        for (uint k = a_offset[i]; k < a_offset[i + 1]; ++k) {
            const SCALAR a = a_value[k];
            const uint end = b_offset[a_column[k] + 1];
            for (uint l = b_offset[a_column[k]]; l < end; ++l) {
                const uint c = b_column[l];
                const SCALAR product = scalar_mul(a, b_value[l]);
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
        sort_entries(column + start, value + start, size);
    }
}
#else
#define NONE 0xffffffffu

// Reads a value that is the same for all items of the work-group, between two barriers.
inline uint shared_value(__local const uint *place)
{
    return *place;
}

// The count of a row whose table is too small.
#define FULL 0xffffffffu
#define SAMPLE_UNIT 256
// Rows of B that a work-item merges.
#define LISTS 8

#ifdef LONG_ROWS
#define TABLE __global
#define FENCE (CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
// Distance between the tables of consecutive rows.
#define STRIDE(size) (size)
// The slot of an entry in a table.
#define PLACE uint
#else
#define TABLE __local
#define FENCE CLK_LOCAL_MEM_FENCE
// Odd, so that the tables of the rows start in different banks.
#define STRIDE(size) ((size) + 1)
#define PLACE ushort
#endif

// Most columns are already in the table; a plain read finds them, and slots occupied by others, more cheaply than an atomic operation. It may run
// concurrently with the operation that stores the column, which NVIDIA's GPUs allow: a key is never read in part, and never changes once it is stored.
#ifdef __NV_CL_C_VERSION
#define PEEK(place) (*(place))
#else
#define PEEK(place) NONE
#endif

// Columns that differ only in this many lowest bits occupy adjacent slots of a table.
#define BLOCK_BITS 4

// The slot of `column` in a table of `size` slots, a power of two; *is_new is set if it was not there before. Returns `size` if all of the first `probes`
// slots are occupied by other columns. Double hashing (Knuth, The Art of Computer Programming 3, 6.4) of the upper bits of the column: the upper bits of
// a product depend on all bits of a factor, so that columns a power of two apart do not collide. Neighbouring columns keep their distances:
// work-items that traverse a run of columns access different banks and mostly need the same number of probes. With scattered columns the numbers would differ, and
// the slowest work-item would set the time. (NVIDIA H100, elasticity: 15.4 ms with 4 bits, 23.0 with 2, 21.7 with 0.)
inline uint place_column(volatile TABLE uint *key, uint size, uint probes, uint column, bool *is_new)
{
    const uint shift = clz(size) + 1, block = column >> BLOCK_BITS, stride = block * 2246822519u >> shift | 1;
    uint at = (column + (block * 2654435769u >> shift)) & (size - 1);
    for (uint probe = 0; probe < probes; ++probe) {
        uint found = PEEK(key + at);
        if (found == NONE) {
            found = atomic_cmpxchg(key + at, NONE, column);
        }
        *is_new = found == NONE;
        if (found == NONE || found == column) {
            return at;
        }
        at = (at + stride) & (size - 1);
    }
    return size;
}

#ifndef LONG_ROWS
// Longer rows of A are traversed by a work-group.
#define SHORT_ROW 256

// The sum over the items of a work-group, saturated, for item 0. `part` has an element for each item. Contains a barrier.
inline uint group_sum(uint own, __local uint *part)
{
    const uint item = (uint)get_local_id(0), items = (uint)get_local_size(0);
    part[item] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        for (uint k = 1; k < items; ++k) {
            own = add_sat(own, part[k]);
        }
    }
    return own;
}

// bound[i] = number of products for row i of C, at most `cols`, an upper bound of its entries. `row` has an element for each item and one more for the
// number of longer rows, `part` one for each item.
__kernel void bound_product(ulong rows, uint cols, __global const uint *a_offset, __global const uint *a_column,
                            __global const uint *b_offset, __local uint *row, __local uint *part, __global uint *bound)
{
    const uint item = (uint)get_local_id(0);
    const uint items = (uint)get_local_size(0);
    const size_t i = get_global_id(0);
    const uint start = i < rows ? a_offset[i] : 0, length = i < rows ? a_offset[i + 1] - start : 0;
    if (item == 0) {
        row[items] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint products = 0;
    if (length > SHORT_ROW) {
        row[atomic_inc(row + items)] = (uint)i;
    } else {
        for (uint k = start; k < start + length; ++k) {
            products = add_sat(products, b_offset[a_column[k] + 1] - b_offset[a_column[k]]);
        }
    }
    if (i < rows && length <= SHORT_ROW) {
        bound[i] = min(products, cols);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint count = shared_value(row + items);
    for (uint r = 0; r < count; ++r) {
        const uint end = a_offset[row[r] + 1];
        products = 0;
        for (ulong k = (ulong)a_offset[row[r]] + item; k < end; k += items) {
            products = add_sat(products, b_offset[a_column[k] + 1] - b_offset[a_column[k]]);
        }
        products = group_sum(products, part);
        if (item == 0) {
            bound[row[r]] = min(products, cols);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

// For evenly spaced rows, one per work-group: ratio[g] = entries of the row of C per SAMPLE_UNIT of its products, rounded up; 0 if it has no products or
// more than `most`. `size` > `most` is a power of two.
__kernel void sample_product(ulong rows, uint size, uint most, __global const uint *a_offset,
                             __global const uint *a_column, __global const uint *b_offset,
                             __global const uint *b_column, __global const uint *bound, __local uint *key,
                             __global uint *ratio)
{
    __local uint found;
    const uint item = (uint)get_local_id(0), items = (uint)get_local_size(0);
    const size_t i = get_group_id(0) * rows / get_num_groups(0);
    const uint products = bound[i];
    // Nothing is counted for a row that is too long.
    const uint start = a_offset[i], end = products <= most ? a_offset[i + 1] : start;
    if (item == 0) {
        found = 0;
    }
    for (uint k = item; k < size; k += items) {
        key[k] = NONE;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint fresh = 0;
    for (uint k = start; k < end; ++k) {
        const uint last = b_offset[a_column[k] + 1];
        for (ulong l = (ulong)b_offset[a_column[k]] + item; l < last; l += items) {
            bool is_new;
            place_column(key, size, size, b_column[l], &is_new);
            fresh += is_new;
        }
    }
    if (fresh) {
        atomic_add(&found, fresh);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        const bool is_counted = end > start && products > 0;
        ratio[get_group_id(0)] = is_counted ? (found * SAMPLE_UNIT + products - 1) / products : 0;
    }
}

// guess[i] = a likely bound of the entries of row i of C: `ratio` per SAMPLE_UNIT of bound[i], but not below `least` unless bound[i] is.
__kernel void guess_product(ulong rows, uint ratio, uint least, __global const uint *bound, __global uint *guess)
{
    FOR_EACH(i, rows)
    {
        const uint likely = (uint)(((ulong)bound[i] * ratio + SAMPLE_UNIT - 1) / SAMPLE_UNIT);
        guess[i] = min(bound[i], max(likely, least));
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

// flag[i] = 1 for rows of C with at most `most` entries whose row of A has at most LISTS; rest[i] = 0 for them, count[i] for others.
__kernel void flag_merged(ulong rows, uint most, __global const uint *a_offset, __global const uint *count,
                          __global uint *flag, __global uint *rest)
{
    FOR_EACH(i, rows)
    {
        const bool is_merged = a_offset[i + 1] - a_offset[i] <= LISTS && count[i] <= most;
        flag[i] = is_merged && count[i] > 0;
        rest[i] = is_merged ? 0 : count[i];
    }
}

// The listed rows of C, each merged by a work-item from at most LISTS rows of B, whose columns ascend.
__kernel void merge_product(uint listed, __global const uint *list, __global const uint *a_offset,
                            __global const uint *a_column, __global const SCALAR *a_value,
                            __global const uint *b_offset, __global const uint *b_column,
                            __global const SCALAR *b_value, __global const uint *offset, __global uint *column,
                            __global SCALAR *value)
{
    if (get_global_id(0) >= listed) {
        return;
    }
    const uint i = list[get_global_id(0)], start = a_offset[i], length = a_offset[i + 1] - start;
    uint head[LISTS], at[LISTS], end[LISTS];
    SCALAR factor[LISTS];
#pragma unroll
    for (uint s = 0; s < LISTS; ++s) {
        const uint j = s < length ? a_column[start + s] : 0;
        at[s] = s < length ? b_offset[j] : 0;
        end[s] = s < length ? b_offset[j + 1] : 0;
        factor[s] = s < length ? a_value[start + s] : SCALAR_ZERO;
        head[s] = at[s] < end[s] ? b_column[at[s]] : NONE;
    }
    for (size_t to = offset[i];; ++to) {
        uint first = NONE;
#pragma unroll
        for (uint s = 0; s < LISTS; ++s) {
            first = min(first, head[s]);
        }
        if (first == NONE) {
            break;
        }
        SCALAR sum = SCALAR_ZERO;
#pragma unroll
        for (uint s = 0; s < LISTS; ++s) {
            if (head[s] == first) {
                sum += scalar_mul(factor[s], b_value[at[s]]);
                ++at[s];
                head[s] = at[s] < end[s] ? b_column[at[s]] : NONE;
            }
        }
        column[to] = first;
        value[to] = sum;
    }
}
#endif

// count[i] = entries of row i of C, for the rows listed; FULL if a column finds no slot within `probes` probes of its table. A work-group handles as
// many rows at a time as `lanes` items per row allow, with a table of `size` for each; `slice` of them traverse a row of B.
__kernel void count_product(uint listed, uint lanes, uint slice, uint size, uint probes, __global const uint *list,
                            __global const uint *a_offset, __global const uint *a_column,
                            __global const uint *b_offset, __global const uint *b_column, TABLE uint *key,
                            __global uint *count)
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
        for (ulong k = active ? (ulong)a_offset[i] + lane / slice : 0; fits && k < end; k += lanes / slice) {
            const uint last = b_offset[a_column[k] + 1];
            for (ulong l = (ulong)b_offset[a_column[k]] + lane % slice; fits && l < last; l += slice) {
                bool is_new;
                fits = place_column(base + own * (size_t)STRIDE(size), size, probes, b_column[l], &is_new) < size;
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

// Writes the `entries` columns and values of a table in ascending order, sorted by distribution into buckets of consecutive columns (Knuth 3, 5.2.1);
// within a bucket, smaller columns are counted. `lanes` work-items share the table, and `total` has an element for each; all work-items of the group
// call it.
inline void write_sorted(TABLE uint *key, TABLE SCALAR *sum, uint size, TABLE uint *bucket, uint buckets,
                         TABLE PLACE *order, uint lane, uint lanes, __local uint *lowest, __local uint *highest,
                         __local uint *total, __global uint *column, __global SCALAR *value, uint entries)
{
    for (uint b = lane; b < buckets; b += lanes) {
        bucket[b] = 0;
    }
    if (lane == 0) {
        *lowest = NONE;
        *highest = 0;
    }
    barrier(FENCE);
    uint low = NONE, high = 0;
    for (uint k = lane; k < size; k += lanes) {
        if (key[k] != NONE) {
            low = min(low, key[k]);
            high = max(high, key[k]);
        }
    }
    if (low <= high) {
        atomic_min(lowest, low);
        atomic_max(highest, high);
    }
    barrier(FENCE);
    low = *lowest;
    high = *highest;
    const uint bits = 32 - clz(high - min(low, high)), kept = 31 - clz(buckets);
    // Not a ternary: Oclgrind 21.10 lacks llvm.usub.sat (faults.rs).
    const uint shift = max(bits, kept) - kept;
    for (uint k = lane; k < size; k += lanes) {
        if (key[k] != NONE) {
            atomic_inc(bucket + ((key[k] - low) >> shift));
        }
    }
    barrier(FENCE);
    const uint each = max(buckets / lanes, 1u), from = min(lane * each, buckets), until = min(from + each, buckets);
    uint count = 0;
    for (uint b = from; b < until; ++b) {
        count += bucket[b];
    }
    total[lane] = count;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint ahead = 0;
    for (uint k = 0; k < lane; ++k) {
        ahead += total[k];
    }
    for (uint b = from; b < until; ++b) {
        count = bucket[b];
        bucket[b] = ahead;
        ahead += count;
    }
    barrier(FENCE);
    for (uint k = lane; k < size; k += lanes) {
        if (key[k] != NONE) {
            order[atomic_inc(bucket + ((key[k] - low) >> shift))] = (PLACE)k;
        }
    }
    barrier(FENCE);
    // A counter is now where the next bucket begins.
    for (uint p = lane; p < entries; p += lanes) {
        const uint k = order[p], c = key[k], b = (c - low) >> shift, end = bucket[b];
        const uint start = b > 0 ? bucket[b - 1] : 0;
        uint rank = start;
        for (uint m = start; m < end; ++m) {
            rank += key[order[m]] < c;
        }
        column[rank] = c;
        value[rank] = sum[k];
    }
    barrier(FENCE);
}

// The rows listed, which begin at `offset`. `size` >= 4 is more than the entries of each. `bucket` has `buckets` counters per row, a power of two,
// and `order` has `most` elements, the maximum number of entries.
__kernel void fill_product(uint listed, uint lanes, uint size, uint buckets, uint most, __global const uint *list,
                           __global const uint *a_offset, __global const uint *a_column,
                           __global const SCALAR *a_value, __global const uint *b_offset,
                           __global const uint *b_column, __global const SCALAR *b_value, TABLE uint *key,
                           TABLE SCALAR *sum, TABLE uint *bucket, TABLE PLACE *order, __global const uint *offset,
                           __global uint *column, __global SCALAR *value)
{
    __local uint lowest[256], highest[256], total[256];
    const uint items = (uint)get_local_size(0);
    const uint group_rows = items / lanes;
    const uint item = (uint)get_local_id(0);
    const uint lane = item % lanes;
    const uint own = item / lanes;
#ifdef LONG_ROWS
    const size_t tables = get_group_id(0) * (size_t)group_rows;
#else
    const size_t tables = 0;
#endif
    TABLE uint *keys = key + tables * STRIDE(size);
    TABLE SCALAR *sums = sum + tables * STRIDE(size);
    TABLE uint *own_keys = keys + own * (size_t)STRIDE(size);
    TABLE SCALAR *own_sums = sums + own * (size_t)STRIDE(size);
    TABLE uint *own_bucket = bucket + (tables + own) * STRIDE(buckets);
    TABLE PLACE *own_order = order + (tables + own) * most;
    for (uint first = (uint)get_group_id(0) * group_rows; first < listed; first += (uint)get_num_groups(0) * group_rows) {
        for (uint k = item; k < group_rows * STRIDE(size); k += items) {
            keys[k] = NONE;
            sums[k] = SCALAR_ZERO;
        }
        const bool active = first + own < listed;
        const uint i = active ? list[first + own] : 0;
        const uint start = active ? a_offset[i] : 0;
        const uint length = active ? a_offset[i + 1] - start : 0;
        const uint steps = longest_row(list + first, min(group_rows, listed - first), a_offset);
        // The next row of B is looked up while the items still work on one.
        uint next = 0, next_end = 0;
        SCALAR next_factor = SCALAR_ZERO;
        if (length > 0) {
            next = b_offset[a_column[start]];
            next_end = b_offset[a_column[start] + 1];
            next_factor = a_value[start];
        }
        barrier(FENCE);
        for (uint step = 0; step < steps; ++step) {
            const uint begin = next, end = next_end;
            const SCALAR factor = next_factor;
            next_end = 0;
            if (step + 1 < length) {
                const uint j = a_column[start + step + 1];
                next = b_offset[j];
                next_end = b_offset[j + 1];
                next_factor = a_value[start + step + 1];
            }
            for (ulong l = (ulong)begin + lane; l < end; l += lanes) {
                bool is_new;
                const uint at = place_column(own_keys, size, size, b_column[l], &is_new);
                own_sums[at] += scalar_mul(factor, b_value[l]);
            }
            barrier(FENCE);
        }
        const size_t to = active ? offset[i] : 0;
        const uint entries = active ? offset[i + 1] - (uint)to : 0;
        write_sorted(own_keys, own_sums, size, own_bucket, buckets, own_order, lane, lanes, lowest + own, highest + own,
                     total + own * lanes, column + to, value + to, entries);
    }
}
#ifndef LONG_ROWS
// Rows of C that are too long for one table. Their entries are counted in ranges of `width` columns, a multiple of 32; consecutive ranges that a table
// holds together are a segment. Where A's row is long as well, it is cut into pieces for several work-groups.

// A piece of a row of A: the row's place in the list and its entries from PIECE_START to PIECE_END. Where products are listed, also those of its products,
// from PIECE_FIRST to PIECE_LAST, that belong to it, the first segment of the row of C and how many there are, and the number of pieces of the row before.
#define PIECE_ROW 0
#define PIECE_START 1
#define PIECE_END 2
#define PIECE_FIRST 3
#define PIECE_LAST 4
#define PIECE_SEGMENT 5
#define PIECE_SEGMENTS 6
#define PIECE_NUMBER 7
#define PIECE_FIELDS 8
// Segments of a row whose products a work-group lists.
#define WINDOW 2048
// Slots of the table of a segment, and buckets by which its entries are sorted. Constants, since arguments take registers.
#define SEGMENT_SIZE 1024u
#define SEGMENT_BUCKETS 256u

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

// Marks the columns of the products of a tile of entries of A, from `start` to `end`, at most one per item. `slice` work-items traverse a row of B. Long
// rows are left to the whole work-group: row[0], 0 before and after, counts them, and row[1] and following list them. Ends with a barrier.
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

// part[r * (ranges + 1) + q + 1] = entries of row list[r] of C in range q; one bit per column. A work-group has a row and `several`
// ranges; there are `groups` work-groups per row.
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

// Adds the columns of pieces of rows to the bits in `mark`, which has ranges * width of them per row. A work-group has a piece and `several` ranges;
// there are `groups` work-groups per piece.
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

// Number of entries of a row of the list before each of its ranges, from the numbers in them; count[i] = entries of row i, if it is listed. A work-group
// per row; `total` has an element for each item.
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

// The end of the segment that begins with range `first` of a row: as many ranges as have at most `most` entries together, one at least. Found by steps
// that double, then halve.
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

// What is stored of a segment besides its first range: the row of C, the range after the last, the number of entries of the row before it and in it.
#define SEGMENT_ROW 0
#define SEGMENT_END 1
#define SEGMENT_BEFORE 2
#define SEGMENT_INSIDE 3
#define SEGMENT_FIELDS 4

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

// The first of `items` sums, a power of two, that is above `p`; the last one is.
inline uint first_above(__local const uint *sums, uint items, uint p)
{
    uint at = 0;
    for (uint step = items / 2; step > 0; step /= 2) {
        at += sums[at + step - 1] <= p ? step : 0;
    }
    return at;
}

// Inclusive sums, in place (Hillis and Steele 1986). Ends with a barrier.
inline void sum_up(__local uint *sums)
{
    const uint items = (uint)get_local_size(0);
    const uint item = (uint)get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint distance = 1; distance < items; distance *= 2) {
        const uint other = item >= distance ? sums[item - distance] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[item] += other;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

// Empties the table of a segment. Does not end with a barrier.
inline void clear_table(__local uint *key, __local SCALAR *sum, __local uint *taken)
{
    const uint item = (uint)get_local_id(0), items = (uint)get_local_size(0);
    for (uint k = item; k < SEGMENT_SIZE; k += items) {
        key[k] = NONE;
        sum[k] = SCALAR_ZERO;
    }
    for (uint w = item; w < SEGMENT_SIZE / 16; w += items) {
        taken[w] = 0;
    }
}

// A batch of products that spans at most this many entries of A is added entry by entry.
#define FEW_ENTRIES 48

// One step of adding a product of each active item to the sum in slot `at` of the table; products for the same slot are added in the order of the items.
// If `spanned` is not 0, the products belong to that many entries of A, the item's own to number `entry`: there is a step for each entry, whose products
// have different slots. If `spanned` is 0, there are three steps, which find the products that share slots. For these,
// `term` and `slot` have an element for each item and `waiting` a bit; `taken` has two bits for each slot of the table, all 0 before the first step and
// after the last. Ends with a barrier.
inline void add_products(uint step, uint spanned, uint entry, bool active, uint at, SCALAR product, __local SCALAR *sum,
                         __local SCALAR *term, __local uint *slot, __local uint *taken, __local uint *waiting)
{
    const uint item = (uint)get_local_id(0), items = (uint)get_local_size(0);
    __local uint *shared = taken + SEGMENT_SIZE / 32;
    // The bits of neighbouring slots, which most items access at the same time, are in different words.
    const uint word = at % (SEGMENT_SIZE / 32), bit = 1u << at / (SEGMENT_SIZE / 32), own_bit = 1u << (item & 31);
    if (spanned) {
        if (active && entry == step) {
            sum[at] += product;
        }
    } else if (step == 0) {
        slot[item] = at;
        term[item] = product;
        if (active && (atomic_or(taken + word, bit) & bit)) {
            atomic_or(shared + word, bit);
        }
        if (item < (items + 31) / 32) {
            waiting[item] = 0;
        }
    } else if (step == 1) {
        if (active && (shared[word] & bit)) {
            atomic_or(waiting + (item >> 5), own_bit);
        } else if (active) {
            sum[at] += product;
        }
    } else {
        bool is_first = (waiting[item >> 5] & own_bit) != 0;
        SCALAR total = SCALAR_ZERO;
        for (uint w = 0; w < (items + 31) / 32 && is_first; ++w) {
            for (uint rest = waiting[w]; rest && is_first; rest &= rest - 1) {
                const uint other = 32 * w + 31 - clz(rest & (0 - rest));
                if (slot[other] == at) {
                    is_first = other >= item;
                    total = other == item ? sum[at] : total;
                    total += term[other];
                }
            }
        }
        if (is_first) {
            sum[at] = total;
        }
        for (uint w = item; w < SEGMENT_SIZE / 16; w += items) {
            taken[w] = 0;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

// A segment per work-group, of a row that begins at `offset`. `begin`, `ahead`, `factor`, `slot` and `term` have
// an element for each item; their number is a power of two. Batches of products are gathered in parallel, whatever the lengths of the rows of B.
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
    write_sorted(key, sum, SEGMENT_SIZE, bucket, SEGMENT_BUCKETS, order, item, items, &lowest, &highest, total, column + to, value + to,
                 segments[about + SEGMENT_INSIDE]);
}

// Where it would take too long to look for the products of each segment among those of a long row of A, they are listed by segments first, in
// the order of the entries of A.

// sum[p] = products of piece p, or the largest number if there are more. A work-group per piece; `part` has an element for each item.
__kernel void sum_products(__global const uint *pieces, __global const uint *a_column, __global const uint *b_offset,
                           __local uint *part, __global uint *sum)
{
    const uint item = (uint)get_local_id(0), items = (uint)get_local_size(0);
    __global const uint *piece = pieces + get_group_id(0) * PIECE_FIELDS;
    uint products = 0;
    for (ulong k = (ulong)piece[PIECE_START] + item; k < piece[PIECE_END]; k += items) {
        products = add_sat(products, b_offset[a_column[k] + 1] - b_offset[a_column[k]]);
    }
    products = group_sum(products, part);
    if (item == 0) {
        sum[get_group_id(0)] = products;
    }
}

// The last of `count` segments, from first_range[0] on, that begins at or before `range`.
inline uint segment_of(__global const uint *first_range, uint count, uint range)
{
    uint at = 0, end = count;
    while (end - at > 1) {
        const uint middle = at + (end - at) / 2;
        if (first_range[middle] <= range) {
            at = middle;
        } else {
            end = middle;
        }
    }
    return at;
}

// The rows of B for a tile of entries of A: begin[item] is where the row for the item's entry begins, and ahead[item] the number of products of the tile up
// to its end. Begins without a barrier and ends with one.
inline void tile_of_rows(ulong k, uint end, __global const uint *a_column, __global const uint *b_offset,
                         __local uint *begin, __local uint *ahead)
{
    const uint item = (uint)get_local_id(0);
    const uint j = k < end ? a_column[k] : 0;
    begin[item] = k < end ? b_offset[j] : 0;
    ahead[item] = k < end ? b_offset[j + 1] - b_offset[j] : 0;
    sum_up(ahead);
}

// count[counter[s] + n] = products in segment s of the row's piece number n. A work-group has a piece and WINDOW segments; there are `windows`
// work-groups per piece. `begin` and `ahead` have an element for each item; their number is a power of two.
__kernel void count_listed(uint windows, uint width, __global const uint *pieces, __global const uint *first_range,
                           __global const uint *counter, __global const uint *a_column, __global const uint *b_offset,
                           __global const uint *b_column, __local uint *begin, __local uint *ahead,
                           __global uint *count)
{
    __local uint found[WINDOW];
    const uint items = (uint)get_local_size(0);
    const uint item = (uint)get_local_id(0);
    const size_t piece = get_group_id(0) / windows * PIECE_FIELDS;
    const uint window = (uint)(get_group_id(0) % windows) * WINDOW, segments = pieces[piece + PIECE_SEGMENTS];
    const uint here = min(segments - min(window, segments), (uint)WINDOW), end = pieces[piece + PIECE_END];
    __global const uint *ranges = first_range + pieces[piece + PIECE_SEGMENT];
    for (uint s = item; s < here; s += items) {
        found[s] = 0;
    }
    const uint first = pieces[piece + PIECE_FIRST], last = pieces[piece + PIECE_LAST];
    uint before = 0;
    for (ulong tile = pieces[piece + PIECE_START]; tile < end; tile += items) {
        tile_of_rows(tile + item, end, a_column, b_offset, begin, ahead);
        const uint products = shared_value(ahead + items - 1);
        for (uint p = max(first, before) - before + item; p < min(products, last - min(last, before)); p += items) {
            const uint own = first_above(ahead, items, p), l = begin[own] + p - (own > 0 ? ahead[own - 1] : 0);
            const uint s = segment_of(ranges, segments, b_column[l] / width) - window;
            if (s < here) {
                atomic_inc(found + s);
            }
        }
        before += products;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint s = item; s < here; s += items) {
        count[counter[pieces[piece + PIECE_SEGMENT] + window + s] + pieces[piece + PIECE_NUMBER]] = found[s];
    }
}

// The products counted, of which those of a segment and a piece begin at place[counter[s] + n]. `begin`, `ahead` and `slot` have an element for each
// item; their number is a power of two.
__kernel void list_products(uint windows, uint width, __global const uint *pieces, __global const uint *first_range,
                            __global const uint *counter, __global const uint *place, __global const uint *a_column,
                            __global const SCALAR *a_value, __global const uint *b_offset,
                            __global const uint *b_column, __global const SCALAR *b_value, __local uint *begin,
                            __local uint *ahead, __local uint *slot, __global uint *list_column,
                            __global SCALAR *list_value)
{
    __local uint cursor[WINDOW], done;
    const uint items = (uint)get_local_size(0);
    const uint item = (uint)get_local_id(0);
    const size_t piece = get_group_id(0) / windows * PIECE_FIELDS;
    const uint window = (uint)(get_group_id(0) % windows) * WINDOW, segments = pieces[piece + PIECE_SEGMENTS];
    const uint here = min(segments - min(window, segments), (uint)WINDOW), end = pieces[piece + PIECE_END];
    __global const uint *ranges = first_range + pieces[piece + PIECE_SEGMENT];
    for (uint s = item; s < here; s += items) {
        cursor[s] = place[counter[pieces[piece + PIECE_SEGMENT] + window + s] + pieces[piece + PIECE_NUMBER]];
    }
    const uint first = pieces[piece + PIECE_FIRST], last = pieces[piece + PIECE_LAST];
    if (item == 0) {
        done = 0;
    }
    for (ulong tile = pieces[piece + PIECE_START]; tile < end; tile += items) {
        tile_of_rows(tile + item, end, a_column, b_offset, begin, ahead);
        const uint before = shared_value(&done), products = shared_value(ahead + items - 1);
        const uint until = min(products, last - min(last, before));
        for (uint batch = max(first, before) - before; batch < until; batch += items) {
            const uint p = batch + item;
            uint s = NONE, c = 0;
            SCALAR product = SCALAR_ZERO;
            if (p < until) {
                const uint own = first_above(ahead, items, p), l = begin[own] + p - (own > 0 ? ahead[own - 1] : 0);
                c = b_column[l];
                product = scalar_mul(a_value[tile + own], b_value[l]);
                s = segment_of(ranges, segments, c / width) - window;
                s = s < here ? s : NONE;
            }
            slot[item] = s;
            barrier(CLK_LOCAL_MEM_FENCE);
            uint rank = 0;
            bool is_last = true;
            for (uint other = 0; other < items; ++other) {
                const bool is_same = slot[other] == s;
                rank += is_same && other < item;
                is_last = is_last && !(is_same && other > item);
            }
            const uint to = s != NONE ? cursor[s] + rank : 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            if (s != NONE) {
                list_column[to] = c;
                list_value[to] = product;
                if (is_last) {
                    cursor[s] = to + 1;
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item == 0) {
            done = before + products;
        }
    }
}

// As fill_segments, from the products listed: those of a segment are from place[counter[s]] to place[counter[s + 1]].
__kernel void fill_listed(__global const uint *segments, __global const uint *counter, __global const uint *place,
                          __global const uint *list_column, __global const SCALAR *list_value, __local uint *key,
                          __local SCALAR *sum, __local uint *bucket, __local ushort *order, __local uint *slot,
                          __local SCALAR *term, __local uint *taken, __global const uint *offset,
                          __global uint *column, __global SCALAR *value)
{
    __local uint lowest, highest, total[256], waiting[8];
    const uint items = (uint)get_local_size(0);
    const uint item = (uint)get_local_id(0);
    const size_t segment = get_group_id(0), about = segment * SEGMENT_FIELDS;
    const uint end = place[counter[segment + 1]];
    clear_table(key, sum, taken);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong batch = place[counter[segment]]; batch < end; batch += items) {
        const ulong p = batch + item;
        const bool active = p < end;
        uint at = 0;
        SCALAR product = SCALAR_ZERO;
        if (active) {
            bool is_new;
            at = place_column(key, SEGMENT_SIZE, SEGMENT_SIZE, list_column[p], &is_new);
            product = list_value[p];
        }
        for (uint step = 0; step < 3; ++step) {
            add_products(step, 0, 0, active, at, product, sum, term, slot, taken, waiting);
        }
    }
    const size_t to = (size_t)offset[segments[about + SEGMENT_ROW]] + segments[about + SEGMENT_BEFORE];
    write_sorted(key, sum, SEGMENT_SIZE, bucket, SEGMENT_BUCKETS, order, item, items, &lowest, &highest, total, column + to, value + to,
                 segments[about + SEGMENT_INSIDE]);
}
#endif
#endif
