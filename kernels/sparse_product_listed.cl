// Products of sparse matrices on GPUs: where it would take too long to look for the products of each segment of a long
// row among those of a long row of A, they are listed by segments first, in the order of the entries of A.
//
// Traffic: as sparse_product.cl, and 24 B in f64 for each product listed, which is written and read once more.
//@ build
//@ build SCALAR_COMPLEX=1
#include "sparse.clh"
#include "sparse_product.clh"
#include "sparse_product_table.clh"
#include "sparse_product_segments.clh"

// sum[p] = products of piece p, or the largest number if there are more. A work-group per piece; `part` has an element
// for each item.
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

// The rows of B for a tile of entries of A: begin[item] is where the row for the item's entry begins, and ahead[item]
// the number of products of the tile up to its end. Begins without a barrier and ends with one.
inline void tile_of_rows(ulong k, uint end, __global const uint *a_column, __global const uint *b_offset,
                         __local uint *begin, __local uint *ahead)
{
    const uint item = (uint)get_local_id(0);
    const uint j = k < end ? a_column[k] : 0;
    begin[item] = k < end ? b_offset[j] : 0;
    ahead[item] = k < end ? b_offset[j + 1] - b_offset[j] : 0;
    sum_up(ahead);
}

// count[counter[s] + n] = products in segment s of the row's piece number n. A work-group has a piece and WINDOW
// segments; there are `windows` work-groups per piece. `begin` and `ahead` have an element for each item; their number
// is a power of two.
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

// The products counted, of which those of a segment and a piece begin at place[counter[s] + n]. `begin`, `ahead` and
// `slot` have an element for each item; their number is a power of two.
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
    write_sorted(key, sum, SEGMENT_SIZE, bucket, SEGMENT_BUCKETS, order, item, items, &lowest, &highest, total,
                 column + to, value + to, segments[about + SEGMENT_INSIDE]);
}
