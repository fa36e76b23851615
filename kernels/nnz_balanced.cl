// Products y = alpha A x + beta y with a sparse matrix in compressed rows, a block of entries per work-group: the entries
// are read one after the other whatever rows they belong to, their products go through local memory, and then the items
// sum the rows. A block has at most ENTRIES entries. The order of every sum is fixed at upload.
//
// Without CUT, a block has whole rows. With CUT, block g has exactly the entries from g * ENTRIES on, and a row may go on
// over several blocks: the block in which it begins writes it, the others leave their sums for a second kernel.
//
// With SHORT, the columns of blocks of whole rows are 16-bit distances from the lowest one of the block.
//
// Traffic, f64: 12 B per entry (10 B with SHORT), 4 B per row for the offsets, 16 B per row for x and y (24 B where
// beta is not 0), if every element of x comes from memory once.
//@ build PER=4 ONCE=1 GAPS=1
//@ build PER=7 CUT=1 ONCE=1
//@ build PER=10 ONCE=1
//@ variant Short SHORT=1
//@ build Short PER=5
//@ variant Dots DOTS=1
//@ build Dots PER=4 ONCE=1 GAPS=1
//@ build Dots PER=7 CUT=1 ONCE=1
//@ variant ShortDots SHORT=1 DOTS=1
//@ build ShortDots PER=5
#include "common.clh"
#include "dots.clh"

#ifdef PER

#define ENTRIES (PER * LOCAL)

// Where product k stands. With GAPS, a place is left free after every 16: rows of an even length would meet in the same
// banks of the local memory.
#ifdef GAPS
#define PLACE(k) ((k) + ((k) >> 4))
#else
#define PLACE(k) (k)
#endif

#ifdef SHORT
typedef ushort COLUMN;
#else
typedef uint COLUMN;
#endif

// With ONCE, what is read once does not push x out of the first cache, where the compiler lets one say so.
#if defined(ONCE) && defined(__NV_CL_C_VERSION)
inline uint read_column(__global const uint *p)
{
    uint v;
    asm("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(v) : "l"(p));
    return v;
}
inline REAL read_value(__global const REAL *p)
{
    REAL v;
#if REAL_BITS == 64
    asm("ld.global.nc.L1::no_allocate.f64 %0, [%1];" : "=d"(v) : "l"(p));
#else
    asm("ld.global.nc.L1::no_allocate.f32 %0, [%1];" : "=f"(v) : "l"(p));
#endif
    return v;
}
#else
#define read_column(p) (*(p))
#define read_value(p) (*(p))
#endif

// The products of `entries` entries, from the first of `value` and `column` on.
inline void multiply_entries(uint entries, __global const COLUMN *column, __global const REAL *value,
                             __global const REAL *x, __local REAL *product)
{
    const uint item = (uint)get_local_id(0);
    if (entries > 0) {
        // All loads under way before the first product.
        REAL own[PER];
        uint at[PER];
#pragma unroll
        for (uint j = 0; j < PER; ++j) {
            const uint k = min(item + j * LOCAL, entries - 1);
            at[j] = read_column(column + k);
            own[j] = read_value(value + k);
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

#ifndef CUT

#ifndef DOTS
// Group g has the rows start[g] to start[g + 1], an item per row.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mv_nnz_balanced(__global const uint *start,
#ifdef SHORT
          __global const uint *base,
#endif
          REAL alpha, __global const uint *offset, __global const COLUMN *column, __global const REAL *value,
          __global const REAL *x, REAL beta, __global REAL *y)
{
    __local REAL product[PLACE(ENTRIES)];
    const size_t group = get_group_id(0);
    const uint row = start[group];
    const uint end = start[group + 1];
    const uint first = offset[row];
#ifdef SHORT
    __global const REAL *from = x + base[group];
#else
    __global const REAL *from = x;
#endif
    multiply_entries(offset[end] - first, column + first, value + first, from, product);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint r = row + (uint)get_local_id(0); r < end; r += LOCAL) {
        const uint last = offset[r + 1] - first;
        REAL sum = ZERO;
        for (uint k = offset[r] - first; k < last; ++k) {
            sum += product[PLACE(k)];
        }
        y[r] = combine_product(alpha, sum, beta, y + r);
    }
}
#else
// With dot products, `turns` blocks of `blocks` a work-group.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mv_nnz_balanced(uint blocks, uint turns, __global const uint *start,
#ifdef SHORT
          __global const uint *base,
#endif
          REAL alpha, __global const uint *offset, __global const COLUMN *column, __global const REAL *value,
          __global const REAL *x, REAL beta, __global REAL *y DOTS_ARGUMENTS)
{
    __local REAL product[PLACE(ENTRIES)];
    __local REAL sums[2 * LOCAL];
    const uint item = (uint)get_local_id(0);
    REAL2 dots = (REAL2)ZERO;
    for (uint turn = 0; turn < turns; ++turn) {
        // Past the last block there are no rows.
        const uint block = min((uint)get_group_id(0) * turns + turn, blocks);
        const uint row = start[block];
        const uint end = start[min(block + 1, blocks)];
        const uint first = offset[row];
#ifdef SHORT
        __global const REAL *from = x + base[min(block, blocks - 1)];
#else
        __global const REAL *from = x;
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
        multiply_entries(offset[end] - first, column + first, value + first, from, product);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint r = row + item; r < end; r += LOCAL) {
            const uint last = offset[r + 1] - first;
            REAL sum = ZERO;
            for (uint k = offset[r] - first; k < last; ++k) {
                sum += product[PLACE(k)];
            }
            dots += finish_row(r, alpha, sum, beta, y, u, w);
        }
    }
    LEAVE_GROUP_DOTS(sums, item, get_group_id(0), get_num_groups(0));
}
#endif
#else

// Items that share a row in `join_balanced`.
#define LANES 8

#ifndef DOTS
// Group g has the rows that begin in it, start[g] to start[g + 1], and before them, in partial[g], the rest of an earlier
// one. As many items share a row as there are, a power of two.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mv_cut_balanced(uint total, __global const uint *start, REAL alpha,
              __global const uint *offset, __global const uint *column, __global const REAL *value,
              __global const REAL *x, REAL beta, __global REAL *partial, __global REAL *y)
{
    __local REAL product[PLACE(ENTRIES)];
    __local REAL sums[LOCAL];
    const uint item = (uint)get_local_id(0);
    const size_t group = get_group_id(0);
    const uint row = start[group];
    // The rest of the earlier row is counted as row 0.
    const uint rows = start[group + 1] - row + 1;
    const uint first = (uint)group * ENTRIES;
    const uint entries = min(total - first, (uint)ENTRIES);
    multiply_entries(entries, column + first, value + first, x, product);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint lanes = rows >= LOCAL ? 1 : 1u << (31 - clz(LOCAL / rows));
    const uint lane = item & (lanes - 1);
    for (uint r = item / lanes; r < rows; r += LOCAL / lanes) {
        const uint last = min(offset[row + r] - first, entries);
        REAL sum = ZERO;
        for (uint k = (r > 0 ? offset[row + r - 1] - first : 0) + lane; k < last; k += lanes) {
            sum += product[PLACE(k)];
        }
        if (lanes > 1) {
            sums[item] = sum;
        } else if (r == 0) {
            partial[group] = sum;
        } else {
            y[row + r - 1] = combine_product(alpha, sum, beta, y + row + r - 1);
        }
    }
    for (uint width = lanes / 2; width > 0; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < width && item / lanes < rows) {
            sums[item] += sums[item + width];
        }
    }
    if (lanes > 1 && lane == 0) {
        const uint r = item / lanes;
        if (r == 0) {
            partial[group] = sums[item];
        } else if (r < rows) {
            y[row + r - 1] = combine_product(alpha, sums[item], beta, y + row + r - 1);
        }
    }
}

// Adds what the groups left: row cut[r] goes on in the groups from[r] to to[r].
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
join_balanced(ulong rows, __global const uint *cut, __global const uint *from, __global const uint *to,
            __global const REAL *partial, REAL alpha, __global REAL *y)
{
    __local REAL sums[LOCAL];
    const uint item = (uint)get_local_id(0);
    const uint lane = item % LANES;
    const size_t r = get_global_id(0) / LANES;
    REAL sum = ZERO;
    if (r < rows) {
        const ulong end = to[r];
        for (ulong group = (ulong)from[r] + lane; group < end; group += LANES) {
            sum += partial[group];
        }
    }
    sums[item] = sum;
    for (uint width = LANES / 2; width > 0; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < width) {
            sums[item] += sums[item + width];
        }
    }
    if (lane == 0 && r < rows) {
        y[cut[r]] += alpha * sums[item];
    }
}
#else
// Row r of a block, of which 0 is the rest of an earlier one and `row` the next; `end` is the first entry behind the block.
// Gives what the row adds to the dot products, if it ends here.
inline REAL2 leave_row(uint r, bool there, size_t block, size_t row, uint end, REAL alpha, REAL sum, REAL beta,
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

// With dot products, `turns` blocks of `blocks` a work-group. They are those of rows that end in the block
// in which they begin; the parts of `join_balanced` stand behind these, `parts` in all.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mv_cut_balanced(uint total, uint blocks, uint turns, uint parts, __global const uint *start, REAL alpha,
              __global const uint *offset, __global const uint *column, __global const REAL *value,
              __global const REAL *x, REAL beta, __global REAL *rest, __global REAL *y DOTS_ARGUMENTS)
{
    __local REAL product[PLACE(ENTRIES)];
    __local REAL sums[2 * LOCAL];
    const uint item = (uint)get_local_id(0);
    REAL2 dots = (REAL2)ZERO;
    for (uint turn = 0; turn < turns; ++turn) {
        // Past the last block there are no entries, and only the rest of an earlier row, which nobody takes.
        const uint block = min((uint)get_group_id(0) * turns + turn, blocks);
        const uint row = start[block];
        const uint rows = start[min(block + 1, blocks)] - row + 1;
        const uint first = block < blocks ? block * ENTRIES : total;
        const uint entries = min(total - first, (uint)ENTRIES);
        barrier(CLK_LOCAL_MEM_FENCE);
        multiply_entries(entries, column + first, value + first, x, product);
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint lanes = rows >= LOCAL ? 1 : 1u << (31 - clz(LOCAL / rows));
        const uint lane = item & (lanes - 1);
        for (uint r = item / lanes; r < rows; r += LOCAL / lanes) {
            const uint last = min(offset[row + r] - first, entries);
            REAL sum = ZERO;
            for (uint k = (r > 0 ? offset[row + r - 1] - first : 0) + lane; k < last; k += lanes) {
                sum += product[PLACE(k)];
            }
            sums[item] = sum;
            if (lanes == 1) {
                dots += leave_row(r, block < blocks, block, row, first + entries, alpha, sum, beta, offset, rest, y, u, w);
            }
        }
        for (uint width = lanes / 2; width > 0; width /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            if (lane < width && item / lanes < rows) {
                sums[item] += sums[item + width];
            }
        }
        if (lanes > 1 && lane == 0 && item / lanes < rows) {
            dots += leave_row(item / lanes, block < blocks, block, row, first + entries, alpha, sums[item], beta, offset,
                              rest, y, u, w);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    LEAVE_GROUP_DOTS(sums, item, get_group_id(0), parts);
}

// With dot products, `turns` times LOCAL / LANES rows a work-group; the parts of their dot products go behind the `before` of
// `mv_cut_balanced`, `parts` in all.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
join_balanced(ulong rows, uint turns, uint before, uint parts, __global const uint *cut,
            __global const uint *from, __global const uint *to, __global const REAL *rest, REAL alpha,
            __global REAL *y, __global const REAL *w, __global REAL *partial)
{
    __local REAL sums[2 * LOCAL];
    const uint item = (uint)get_local_id(0);
    const uint lane = item % LANES;
    REAL2 dots = (REAL2)ZERO;
    for (uint turn = 0; turn < turns; ++turn) {
        const size_t r = (get_group_id(0) * (size_t)turns + turn) * (LOCAL / LANES) + item / LANES;
        REAL sum = ZERO;
        if (r < rows) {
            const ulong end = to[r];
            for (ulong group = (ulong)from[r] + lane; group < end; group += LANES) {
                sum += rest[group];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[item] = sum;
        for (uint width = LANES / 2; width > 0; width /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            if (lane < width) {
                sums[item] += sums[item + width];
            }
        }
        if (lane == 0 && r < rows) {
            const size_t i = cut[r];
            dots += finish_row(i, alpha, sums[item], ONE, y, y, w);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    LEAVE_GROUP_DOTS(sums, item, before + get_group_id(0), parts);
}

#endif

#endif

#endif

// Lowest column of each block of whole rows, and in reach[b] the distance of the highest; the columns of a row increase.
__kernel void measure_blocks(ulong blocks, __global const uint *start, __global const uint *offset,
                             __global const uint *column, __global uint *base, __global uint *reach)
{
    const size_t b = get_global_id(0);
    if (b < blocks) {
        uint lowest = UINT_MAX, highest = 0;
        const uint end = start[b + 1];
        for (uint i = start[b]; i < end; ++i) {
            if (offset[i] < offset[i + 1]) {
                lowest = min(lowest, column[offset[i]]);
                highest = max(highest, column[offset[i + 1] - 1]);
            }
        }
        lowest = min(lowest, highest);
        base[b] = lowest;
        reach[b] = highest - lowest;
    }
}

// Distances of the columns from the lowest of their block, a work-group per block.
__kernel void narrow_columns(__global const uint *start, __global const uint *base, __global const uint *offset,
                             __global const uint *column, __global ushort *narrow)
{
    const size_t b = get_group_id(0);
    const uint lowest = base[b];
    const size_t end = offset[start[b + 1]];
    for (size_t k = offset[start[b]] + get_local_id(0); k < end; k += get_local_size(0)) {
        narrow[k] = (ushort)(column[k] - lowest);
    }
}
