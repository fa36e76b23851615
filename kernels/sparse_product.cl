// C = A B for matrices in compressed rows (Gustavson 1978): the sizes of the rows of C first, then the rows, with
// sorted columns. The products of a row are added in the order of the entries of A's row, whatever the kernel, so that
// repeated calls give the same bits.
//
// GPUs: rows listed by size (sparse_product_sizes.cl); `lanes` items share a row, whose columns are hashed into a table
// in local memory (Nagasaka, Matsuoka, Azad and Buluc, ICPP 2018). Lanes traverse a row of B together, so that no two
// meet the same column, and wait for each other before the next. Rows that are too long for one table are cut into
// segments of consecutive columns, each with a table of its own (sparse_product_segments.cl, sparse_product_listed.cl);
// where that would take too long, as there are very many columns, they are hashed into global memory (LONG_ROWS). Short
// rows are merged from the rows of B (sparse_product_merge.cl). CPUs: a part of the rows per item, with the position of
// each column in a table of `cols`.
//
// Traffic: per product (an entry of A with one of a row of B) 12 B in f64, where rows of B that are read again come
// from cache; 12 B per entry of A and C.
//@ build
//@ build CPU=1
//@ build SCALAR_COMPLEX=1
//@ build CPU=1 SCALAR_COMPLEX=1
//@ build CPU=1 ENTRIES_AHEAD=4
//@ build CPU=1 ENTRIES_AHEAD=4 SCALAR_COMPLEX=1
//@ variant Long LONG_ROWS=1
//@ build Long
//@ build Long SCALAR_COMPLEX=1
//@ one_program
#include "sparse.clh"
#include "sparse_product.clh"
#include "sparse_product_table.clh"

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

// With ENTRIES_AHEAD, the row of B for the entry of A that many positions ahead is prefetched, since these rows may lie
// far apart.
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
// count[i] = entries of row i of C, for the rows listed; FULL if a column finds no slot within `probes` probes of its
// table. A work-group handles as many rows at a time as `lanes` items per row allow, with a table of `size` for each;
// `slice` of them traverse a row of B.
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
    for (uint first = (uint)get_group_id(0) * group_rows; first < listed;
         first += (uint)get_num_groups(0) * group_rows) {
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

// The rows listed, which begin at `offset`. `size` >= 4 is more than the entries of each. `bucket` has `buckets`
// counters per row, a power of two, and `order` has `most` elements, the maximum number of entries.
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
    for (uint first = (uint)get_group_id(0) * group_rows; first < listed;
         first += (uint)get_num_groups(0) * group_rows) {
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
#endif
