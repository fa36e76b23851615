// Products y = alpha A x + beta y with a sparse matrix in compressed rows, one block of entries per work-group: the entries
// are read in order, whatever rows they belong to, their products go through local memory, and then the items
// sum the rows, several items per row where a block has few. A block has at most ENTRIES entries. The order of every sum is fixed at
// upload.
//
// A block waits for memory once for each step in which one address depends on another: for its start, for its entries, and for the elements of x that they
// gather. The starts of the rows are read together with the entries, not after the products.
//
// Without CUT, a block has whole rows. With CUT, block g has the entries from begin[g] to begin[g + 1], and a row may span
// several blocks: the block in which it begins writes it, the others leave their sums for a second kernel. Rows of very
// different lengths occur in such a block: those of more than RUN entries are first summed in runs of RUN entries, an item per run.
//
// With SHORT, columns are 16-bit distances from the lowest one of the block. With PAGES = 16, the four highest of the 16 bits select
// one of 16 pages of 4096 columns, and blocks that touch more pages read the columns of the compressed rows.
//
// Traffic, f64: 12 B per entry (10 B with SHORT), 4 B per row for the offsets, 16 B per row for x and y (24 B where
// beta is not 0), if every element of x comes from memory once.
//@ build PER=4 ONCE=1 GAPS=1
//@ build PER=4 CUT=1 ONCE=1
//@ build PER=2 CUT=1 ONCE=1
//@ build PER=10 ONCE=1
//@ variant Short SHORT=1
//@ build Short PER=5
//@ build Short PER=7 PAGES=16
//@ build Short PER=7 PAGES=16 CUT=1
//@ variant Dots DOTS=1
//@ build Dots PER=4 ONCE=1 GAPS=1
//@ build Dots PER=7 CUT=1 ONCE=1
//@ build Dots PER=2 CUT=1
//@ variant ShortDots SHORT=1 DOTS=1
//@ build ShortDots PER=5
//@ build ShortDots PER=7 PAGES=16
//@ build ShortDots PER=7 PAGES=16 CUT=1
//@ variant Multi MULTI=1
//@ build Multi PER=4 CUT=1 ONCE=1
#include "common.clh"
#include "dots.clh"
#include "once.clh"

// Columns of a page, and the mark of a block that touches too many.
#define PAGE 4096
#define WIDE UINT_MAX

#define ENTRIES (PER * LOCAL)

// The position of product k. With GAPS or CUT, a slot is left free after every 16: rows of an even length, or runs of a longer one,
// would cause bank conflicts in local memory.
#if defined(GAPS) || defined(CUT)
#define PLACE(k) ((k) + ((k) >> 4))
#else
#define PLACE(k) (k)
#endif

// Size of the local memory, which holds first the products, then the sums of items that share a row, or two dot products. Its space is taken
// from the L1 cache that serves the gathers from x.
#define PRODUCTS (PLACE(ENTRIES) > 2 * LOCAL ? PLACE(ENTRIES) : 2 * LOCAL)

// The arguments of a kernel for 16-bit columns; the lowest column of a block, or the mark, whose load depends on nothing else; the arguments of the products
// of a block, for the block and its first entry.
#ifdef SHORT
#define SHORT_ARGUMENTS __global const uint *base, __global const ushort *narrow,
#ifdef PAGES
#define READ_LOWEST(block) const uint lowest = base[(size_t)PAGES * (block)]
#define NEAR_ARGUMENTS uint lowest, __global const uint *base, __global const ushort *narrow,
#define SHORT_PART(block, first) lowest, base + (size_t)PAGES * (block), narrow + (first),
#define NEAR_COLUMN(c) (base[(c) / PAGE] + (c) % PAGE)
#else
#define READ_LOWEST(block) const uint lowest = base[block]
#define NEAR_ARGUMENTS uint lowest, __global const ushort *narrow,
#define SHORT_PART(block, first) lowest, narrow + (first),
#define NEAR_COLUMN(c) (lowest + (c))
#endif
#else
#define SHORT_ARGUMENTS
#define READ_LOWEST(block)
#define NEAR_ARGUMENTS
#define SHORT_PART(block, first)
#endif

// The products of `entries` entries, from the first of `value` and `column` on.
inline void multiply_entries(uint entries, NEAR_ARGUMENTS __global const uint *column, __global const REAL *value,
                             __global const REAL *x, __local REAL *product)
{
    const uint item = (uint)get_local_id(0);
    if (entries > 0) {
        // All loads are in flight before the first product.
        REAL own[PER];
        uint at[PER];
#ifdef SHORT
#ifdef PAGES
        const bool near = lowest != WIDE;
#else
        const bool near = true;
#endif
        if (near) {
#pragma unroll
            for (uint j = 0; j < PER; ++j) {
                const uint k = min(item + j * LOCAL, entries - 1);
                at[j] = narrow[k];
                own[j] = value[k];
            }
#pragma unroll
            for (uint j = 0; j < PER; ++j) {
                at[j] = NEAR_COLUMN(at[j]);
            }
        } else
#endif
        {
#pragma unroll
            for (uint j = 0; j < PER; ++j) {
                const uint k = min(item + j * LOCAL, entries - 1);
                at[j] = read_column(column + k);
                own[j] = read_value(value + k);
            }
        }
#pragma unroll
        for (uint j = 0; j < PER; ++j) {
            own[j] *= x[at[j]];
        }
#pragma unroll
        for (uint j = 0; j < PER; ++j) {
            product[PLACE(item + j * LOCAL)] = own[j];
        }
    }
}

// How many items share each of this many rows, a power of two.
inline uint lanes_of(uint rows)
{
    return rows >= LOCAL ? 1 : 1u << (31 - clz(LOCAL / max(rows, 1u)));
}

// What one of `lanes` items adds to the sum of the products from `k` to `last`.
inline REAL lane_sum(uint k, uint last, uint lane, uint lanes, __local const REAL *product)
{
    REAL sum = ZERO;
    for (k += lane; k < last; k += lanes) {
        sum += product[PLACE(k)];
    }
    return sum;
}

// Items that share rows leave their sums where the products were.
#define LEAVE_SUM(lanes, sum)                                                                                          \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                                      \
    if (lanes > 1) {                                                                                                   \
        sums[item] = sum;                                                                                              \
    }

// One step of the tree reduction over the neighbouring items that share a row: `width` of them add the sum of another one to theirs, if the item is `there`.
// For loops that halve `lanes`.
#define JOIN_HALVES(there)                                                                                             \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                                      \
    if ((item & (lanes - 1)) < width && (there)) {                                                                     \
        sums[item] += sums[item + width];                                                                              \
    }

#ifndef CUT

// The beginning and end of row r of the `rows` rows of a block, which begin with `row`.
inline uint2 ends_of(uint r, uint rows, size_t row, __global const uint *offset)
{
    return (uint2)(offset[row + min(r, rows)], offset[row + min(r + 1, rows)]);
}

#ifndef DOTS
// Group g has the rows start[g] to start[g + 1], the entries begin[g] to begin[g + 1].
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mv_nnz_balanced(__global const uint *start, __global const uint *begin, SHORT_ARGUMENTS REAL alpha,
                __global const uint *offset, __global const uint *column, __global const REAL *value,
                __global const REAL *x, REAL beta, __global REAL *y)
{
    __local REAL product[PRODUCTS];
    __local REAL *sums = product;
    const uint item = (uint)get_local_id(0);
    const size_t group = get_group_id(0);
    READ_LOWEST(group);
    const uint row = start[group];
    const uint rows = start[group + 1] - row;
    const uint first = begin[group];
    const uint entries = begin[group + 1] - first;
    const uint lanes = lanes_of(rows);
    const uint lane = item & (lanes - 1);
    const uint2 ends = ends_of(item / lanes, rows, row, offset);
    multiply_entries(entries, SHORT_PART(group, first) column + first, value + first, x, product);
    barrier(CLK_LOCAL_MEM_FENCE);
    REAL sum = ZERO;
    for (uint r = item / lanes; r < rows; r += LOCAL / lanes) {
        const uint2 own = r == item / lanes ? ends : ends_of(r, rows, row, offset);
        sum = lane_sum(own.s0 - first, own.s1 - first, lane, lanes, product);
        if (lanes == 1) {
            y[row + r] = combine_product(alpha, sum, beta, y + row + r);
        }
    }
    LEAVE_SUM(lanes, sum);
    for (uint width = lanes / 2; width > 0; width /= 2) {
        JOIN_HALVES(item / lanes < rows);
    }
    if (lanes > 1 && lane == 0 && item / lanes < rows) {
        const size_t r = row + item / lanes;
        y[r] = combine_product(alpha, sums[item], beta, y + r);
    }
}
#else
// With dot products, `turns` of the `blocks` blocks per work-group.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mv_nnz_balanced(uint blocks, uint turns, __global const uint *start, __global const uint *begin, SHORT_ARGUMENTS REAL alpha,
                __global const uint *offset, __global const uint *column, __global const REAL *value,
                __global const REAL *x, REAL beta, __global REAL *y DOTS_ARGUMENTS)
{
    __local REAL product[PRODUCTS];
    __local REAL *sums = product;
    const uint item = (uint)get_local_id(0);
    REAL2 dots = (REAL2)ZERO;
    for (uint turn = 0; turn < turns; ++turn) {
        // Past the last block there are no rows.
        const uint block = min((uint)get_group_id(0) * turns + turn, blocks);
        READ_LOWEST(min(block, blocks - 1));
        const uint row = start[block];
        const uint rows = start[min(block + 1, blocks)] - row;
        const uint first = begin[block];
        const uint entries = begin[min(block + 1, blocks)] - first;
        const uint lanes = lanes_of(rows);
        const uint lane = item & (lanes - 1);
        const uint2 ends = ends_of(item / lanes, rows, row, offset);
        multiply_entries(entries, SHORT_PART(min(block, blocks - 1), first) column + first, value + first, x, product);
        barrier(CLK_LOCAL_MEM_FENCE);
        REAL sum = ZERO;
        for (uint r = item / lanes; r < rows; r += LOCAL / lanes) {
            const uint2 own = r == item / lanes ? ends : ends_of(r, rows, row, offset);
            sum = lane_sum(own.s0 - first, own.s1 - first, lane, lanes, product);
            if (lanes == 1) {
                dots += finish_row(row + r, alpha, sum, beta, y, u, w);
            }
        }
        LEAVE_SUM(lanes, sum);
        for (uint width = lanes / 2; width > 0; width /= 2) {
            JOIN_HALVES(item / lanes < rows);
        }
        if (lanes > 1 && lane == 0 && item / lanes < rows) {
            dots += finish_row(row + item / lanes, alpha, sums[item], beta, y, u, w);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    LEAVE_GROUP_DOTS(sums, item, get_group_id(0), get_num_groups(0));
}
#endif
#else

// Entries of a run.
#define RUN 16

// Maximum number of runs in a block: rows of more than RUN entries have one for every RUN, and one for the rest.
#define RUNS (ENTRIES / 8 + 1)

// How many items share each of this many rows, if these are few enough for whole warps; otherwise each item has rows of its own.
inline uint sharing(uint rows)
{
    const uint lanes = lanes_of(rows);
    return lanes >= 32 ? lanes : 1;
}

// The beginning and end of row r of the `rows` rows of a block; row 0 is the rest of an earlier one, and `row` the next. The beginning of
// row 0 is not given.
inline uint2 ends_of(uint r, uint rows, size_t row, __global const uint *offset)
{
    r = min(r, rows - 1);
    return (uint2)(offset[row + max(r, 1u) - 1], offset[row + r]);
}

// The entries of row r, whose ends are those of `ends_of`, among the `entries` of a block from `first` on.
inline uint2 entries_of(uint r, uint2 ends, uint first, uint entries)
{
    return (uint2)(r > 0 ? ends.s0 - first : 0, min(ends.s1 - first, entries));
}

// Records the runs of the item's rows, in any order: each has the sum of its own entries only. `ends` are those of the item's first row.
inline void note_runs(uint rows, uint2 ends, size_t row, uint first, uint entries, __global const uint *offset,
                      __local uint *runs, volatile __local uint *count)
{
    if (sharing(rows) > 1) {
        return;
    }
    const uint item = (uint)get_local_id(0);
    for (uint r = item; r < rows; r += LOCAL) {
        const uint2 own = entries_of(r, r == item ? ends : ends_of(r, rows, row, offset), first, entries);
        const uint length = own.s1 - own.s0;
        if (length > RUN) {
            uint at = atomic_add(count, (length + RUN - 1) / RUN);
            for (uint k = own.s0; k < own.s1; k += RUN) {
                runs[at++] = k << 8 | min(own.s1 - k, (uint)RUN);
            }
        }
    }
}

// Sums each run into its first slot.
inline void sum_runs(uint count, __local const uint *runs, __local REAL *product)
{
    for (uint q = (uint)get_local_id(0); q < count; q += LOCAL) {
        const uint from = runs[q] >> 8, last = from + (runs[q] & 255);
        REAL sum = ZERO;
        for (uint k = from; k < last; ++k) {
            sum += product[PLACE(k)];
        }
        product[PLACE(from)] = sum;
    }
}

// What an item adds to the sum of a row: its part if `lanes` share it, or the sums of the runs, or all.
inline REAL item_sum(uint2 own, uint lane, uint lanes, __local const REAL *product)
{
    const uint apart = lanes > 1 ? lanes : own.s1 - own.s0 > RUN ? RUN : 1;
    return lane_sum(own.s0, own.s1, lane, apart, product);
}

// Items that share a row in `join_balanced`, except for the first `far` rows, which have a work-group each.
#define LANES 8

// The row of an item of `join_balanced`.
inline size_t joined_row(size_t group, uint far, uint item)
{
    return group < far ? group : far + (group - far) * (LOCAL / LANES) + item / LANES;
}

// The item's part of what the groups from `group` to `end` left.
inline REAL sum_of_rest(ulong group, ulong end, uint lanes, __global const REAL *rest)
{
    REAL even = ZERO, odd = ZERO;
    for (; group + lanes < end; group += 2 * lanes) {
        even += rest[group];
        odd += rest[group + lanes];
    }
    return group < end ? even + odd + rest[group] : even + odd;
}

#ifndef DOTS
// Stores the sum of row r of a block: row 0 continues a row of the previous block and goes to `rest`; the others go to y, which begins with row 1.
inline void store_row(uint r, REAL alpha, REAL sum, REAL beta, __global REAL *rest, __global REAL *y)
{
    if (r == 0) {
        *rest = sum;
    } else {
        y[r - 1] = combine_product(alpha, sum, beta, y + r - 1);
    }
}
#endif

#ifdef MULTI
inline REAL component(REAL4 v, uint q)
{
    return q == 0 ? v.s0 : q == 1 ? v.s1 : q == 2 ? v.s2 : v.s3;
}

// With `columns` right-hand sides, at most four, which are interleaved in x: Y = alpha A X + beta Y, where the columns of Y begin at
// column `left`. Group g leaves the rest of an earlier row in partial[g], that of the next column `groups` positions later.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mm_cut_balanced(ulong height, ulong left, uint columns, __global const uint *start, __global const uint *begin, REAL alpha,
                __global const uint *offset, __global const uint *column, __global const REAL *value,
                __global const REAL *x, REAL beta, __global REAL *partial, __global REAL *y)
{
    __local REAL product[PRODUCTS];
    __local uint runs[RUNS];
    __local uint count;
    __local REAL *sums = product;
    const uint item = (uint)get_local_id(0);
    const size_t group = get_group_id(0);
    const uint row = start[group];
    const uint rows = start[group + 1] - row + 1;
    const uint first = begin[group];
    const uint entries = begin[group + 1] - first;
    const uint lanes = sharing(rows);
    const uint lane = item & (lanes - 1);
    const uint2 ends = ends_of(item / lanes, rows, row, offset);
    REAL4 own[PER];
#pragma unroll
    for (uint j = 0; j < PER; ++j) {
        own[j] = (REAL4)ZERO;
    }
    if (item == 0) {
        count = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (entries > 0) {
        REAL v[PER];
        uint at[PER];
#pragma unroll
        for (uint j = 0; j < PER; ++j) {
            const uint k = first + min(item + j * LOCAL, entries - 1);
            at[j] = read_column(column + k);
            v[j] = read_value(value + k);
        }
#pragma unroll
        for (uint j = 0; j < PER; ++j) {
            own[j] = v[j] * ((__global const REAL4 *)x)[at[j]];
        }
    }
    note_runs(rows, ends, row, first, entries, offset, runs, &count);
    for (uint q = 0; q < columns; ++q) {
        __global REAL *out = y + (left + q) * height;
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (uint j = 0; j < PER; ++j) {
            product[PLACE(item + j * LOCAL)] = component(own[j], q);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        sum_runs(count, runs, product);
        barrier(CLK_LOCAL_MEM_FENCE);
        REAL sum = ZERO;
        for (uint r = item / lanes; r < rows; r += LOCAL / lanes) {
            const uint2 place = r == item / lanes ? ends : ends_of(r, rows, row, offset);
            sum = item_sum(entries_of(r, place, first, entries), lane, lanes, product);
            if (lanes == 1) {
                store_row(r, alpha, sum, beta, partial + q * get_num_groups(0) + group, out + row);
            }
        }
        LEAVE_SUM(lanes, sum);
        for (uint width = lanes / 2; width > 0; width /= 2) {
            JOIN_HALVES(item / lanes < rows);
        }
        if (lanes > 1 && lane == 0 && item / lanes < rows) {
            store_row(item / lanes, alpha, sums[item], beta, partial + q * get_num_groups(0) + group, out + row);
        }
    }
}

// `join_balanced` for the columns of Y from `left` on, a row of work-groups each; `groups` elements of `partial` per column.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
join_columns(ulong rows, uint far, ulong groups, ulong height, ulong left, __global const uint *cut,
             __global const uint *from, __global const uint *to, __global const REAL *partial, REAL alpha,
             __global REAL *y)
{
    __local REAL sums[LOCAL];
    const uint item = (uint)get_local_id(0);
    const size_t group = get_group_id(0), q = get_group_id(1);
    const uint lanes = group < far ? LOCAL : LANES;
    const size_t r = joined_row(group, far, item);
    const bool writes = r < rows && (item & (lanes - 1)) == 0;
    __global REAL *out = y + (left + q) * height + (writes ? cut[r] : 0);
    // Read before the sum, which is waited for as long.
    const REAL begun = writes ? *out : ZERO;
    sums[item] = r < rows ? sum_of_rest((ulong)from[r] + (item & (lanes - 1)), to[r], lanes, partial + q * groups) : ZERO;
    for (uint width = lanes / 2; width > 0; width /= 2) {
        JOIN_HALVES(true);
    }
    if (writes) {
        *out = begun + alpha * sums[item];
    }
}
#elif !defined(DOTS)
// Group g has the rows that begin in it, start[g] to start[g + 1], and before them, in partial[g], the rest of an earlier
// one.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mv_cut_balanced(__global const uint *start, __global const uint *begin, SHORT_ARGUMENTS REAL alpha,
                __global const uint *offset, __global const uint *column, __global const REAL *value,
                __global const REAL *x, REAL beta, __global REAL *partial, __global REAL *y)
{
    __local REAL product[PRODUCTS];
    __local uint runs[RUNS];
    __local uint count;
    __local REAL *sums = product;
    const uint item = (uint)get_local_id(0);
    const size_t group = get_group_id(0);
    READ_LOWEST(group);
    const uint row = start[group];
    // The rest of the earlier row is counted as row 0.
    const uint rows = start[group + 1] - row + 1;
    const uint first = begin[group];
    const uint entries = begin[group + 1] - first;
    const uint lanes = sharing(rows);
    const uint lane = item & (lanes - 1);
    const uint2 ends = ends_of(item / lanes, rows, row, offset);
    if (item == 0) {
        count = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    multiply_entries(entries, SHORT_PART(group, first) column + first, value + first, x, product);
    note_runs(rows, ends, row, first, entries, offset, runs, &count);
    barrier(CLK_LOCAL_MEM_FENCE);
    sum_runs(count, runs, product);
    barrier(CLK_LOCAL_MEM_FENCE);
    REAL sum = ZERO;
    for (uint r = item / lanes; r < rows; r += LOCAL / lanes) {
        const uint2 place = r == item / lanes ? ends : ends_of(r, rows, row, offset);
        sum = item_sum(entries_of(r, place, first, entries), lane, lanes, product);
        if (lanes == 1) {
            store_row(r, alpha, sum, beta, partial + group, y + row);
        }
    }
    LEAVE_SUM(lanes, sum);
    for (uint width = lanes / 2; width > 0; width /= 2) {
        JOIN_HALVES(item / lanes < rows);
    }
    if (lanes > 1 && lane == 0 && item / lanes < rows) {
        store_row(item / lanes, alpha, sums[item], beta, partial + group, y + row);
    }
}

// Adds what the groups left: row cut[r] continues in the groups from[r] to to[r].
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
join_balanced(ulong rows, uint far, __global const uint *cut, __global const uint *from, __global const uint *to,
              __global const REAL *partial, REAL alpha, __global REAL *y)
{
    __local REAL sums[LOCAL];
    const uint item = (uint)get_local_id(0);
    const size_t group = get_group_id(0);
    const uint lanes = group < far ? LOCAL : LANES;
    const size_t r = joined_row(group, far, item);
    const bool writes = r < rows && (item & (lanes - 1)) == 0;
    __global REAL *out = y + (writes ? cut[r] : 0);
    // Read before the sum, which is waited for as long.
    const REAL begun = writes ? *out : ZERO;
    sums[item] = r < rows ? sum_of_rest((ulong)from[r] + (item & (lanes - 1)), to[r], lanes, partial) : ZERO;
    for (uint width = lanes / 2; width > 0; width /= 2) {
        JOIN_HALVES(true);
    }
    if (writes) {
        *out = begun + alpha * sums[item];
    }
}
#else
// Row r of a block, of which 0 is the rest of an earlier one and `row` the next; `end` is the first entry after the block.
// Returns what the row adds to the dot products, if it ends here.
inline REAL2 store_row(uint r, bool there, size_t block, size_t row, uint end, REAL alpha, REAL sum, REAL beta,
                       __global const uint *offset, __global REAL *rest, __global REAL *y, __global const REAL *u,
                       __global const REAL *w)
{
    if (r > 0) {
        const REAL2 own = finish_row(row + r - 1, alpha, sum, beta, y, u, w);
        return offset[row + r] <= end ? own : (REAL2)ZERO;
    }
    if (there) {
        rest[block] = sum;
    }
    return (REAL2)ZERO;
}

// With dot products, `turns` of the `blocks` blocks per work-group. The dot products are those of rows that end in the block
// in which they begin; the partial sums of `join_balanced` follow them, `parts` in all.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mv_cut_balanced(uint blocks, uint turns, uint parts, __global const uint *start, __global const uint *begin,
                SHORT_ARGUMENTS REAL alpha, __global const uint *offset, __global const uint *column,
                __global const REAL *value, __global const REAL *x, REAL beta, __global REAL *rest,
                __global REAL *y DOTS_ARGUMENTS)
{
    __local REAL product[PRODUCTS];
    __local uint runs[RUNS];
    __local uint count;
    __local REAL *sums = product;
    const uint item = (uint)get_local_id(0);
    REAL2 dots = (REAL2)ZERO;
    for (uint turn = 0; turn < turns; ++turn) {
        // Past the last block there are no entries, and only the rest of an earlier row, which is not used.
        const uint block = min((uint)get_group_id(0) * turns + turn, blocks);
        READ_LOWEST(min(block, blocks - 1));
        const uint row = start[block];
        const uint rows = start[min(block + 1, blocks)] - row + 1;
        const uint first = begin[block];
        const uint entries = begin[min(block + 1, blocks)] - first;
        const uint lanes = sharing(rows);
        const uint lane = item & (lanes - 1);
        const uint2 ends = ends_of(item / lanes, rows, row, offset);
        if (item == 0) {
            count = 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        multiply_entries(entries, SHORT_PART(min(block, blocks - 1), first) column + first, value + first, x, product);
        note_runs(rows, ends, row, first, entries, offset, runs, &count);
        barrier(CLK_LOCAL_MEM_FENCE);
        sum_runs(count, runs, product);
        barrier(CLK_LOCAL_MEM_FENCE);
        REAL sum = ZERO;
        for (uint r = item / lanes; r < rows; r += LOCAL / lanes) {
            const uint2 place = r == item / lanes ? ends : ends_of(r, rows, row, offset);
            sum = item_sum(entries_of(r, place, first, entries), lane, lanes, product);
            if (lanes == 1) {
                dots += store_row(r, block < blocks, block, row, first + entries, alpha, sum, beta, offset, rest, y, u, w);
            }
        }
        LEAVE_SUM(lanes, sum);
        for (uint width = lanes / 2; width > 0; width /= 2) {
            JOIN_HALVES(item / lanes < rows);
        }
        if (lanes > 1 && lane == 0 && item / lanes < rows) {
            dots += store_row(item / lanes, block < blocks, block, row, first + entries, alpha, sums[item], beta, offset,
                              rest, y, u, w);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    LEAVE_GROUP_DOTS(sums, item, get_group_id(0), parts);
}

// With dot products, a work-group does the work of `turns` of the `groups` work-groups; the partial sums of their dot products follow the
// `before` ones of `mv_cut_balanced`, `parts` in all.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
join_balanced(ulong rows, uint far, uint turns, uint before, uint parts, __global const uint *cut,
              __global const uint *from, __global const uint *to, __global const REAL *rest, REAL alpha,
              __global REAL *y, __global const REAL *w, __global REAL *partial)
{
    __local REAL sums[2 * LOCAL];
    const uint item = (uint)get_local_id(0);
    REAL2 dots = (REAL2)ZERO;
    for (uint turn = 0; turn < turns; ++turn) {
        const size_t group = get_group_id(0) * (size_t)turns + turn;
        const uint lanes = group < far ? LOCAL : LANES;
        const size_t r = joined_row(group, far, item);
        sums[item] = r < rows ? sum_of_rest((ulong)from[r] + (item & (lanes - 1)), to[r], lanes, rest) : ZERO;
        for (uint width = lanes / 2; width > 0; width /= 2) {
            JOIN_HALVES(true);
        }
        if ((item & (lanes - 1)) == 0 && r < rows) {
            dots += finish_row(cut[r], alpha, sums[item], ONE, y, y, w);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    LEAVE_GROUP_DOTS(sums, item, before + get_group_id(0), parts);
}

#endif

#endif
