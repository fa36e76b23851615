// Sparse matrices most of whose rows have their entries at the same distances from the diagonal, as those of stencils on
// grids have. The distances of the most frequent kind of row are the pattern: columns i + delta[j], with
// the values coefficient[j] where these are constant as well. mask[i] tells which entries of the pattern row i has, and
// holds OTHER where the row has others too: such a row is read from the compressed rows. It holds DIFFERS where a value is
// not that of the pattern; with constant coefficients such a row is read from the compressed rows as well. full[b] is 1
// where all rows of block b have the whole pattern: there no mask is read either.
//
// Traffic per row, f64: 16 B for x and y, and 8 B per entry of the pattern unless the coefficients are constant. To find the
// pattern: 4 B for the offset, 4 B for the mask, 12 B per entry.
//@ build POINTS=5
//@ build POINTS=5 LINES=8 ROWS=4
//@ build POINTS=9 LINES=8 ROWS=4
//@ build POINTS=27
//@ build CPU=1 POINTS=27 BLOCK=8 AHEAD=512
//@ variant Dots DOTS=1
//@ build Dots POINTS=5
//@ build Dots POINTS=27
//@ build Dots CPU=1 POINTS=27 BLOCK=8 AHEAD=512
#include "common.clh"
#include "dots.clh"
#include "memory.clh"

#define OTHER 0x80000000u
// The columns are those of the pattern, the values are not.
#define DIFFERS 0x40000000u

// Rows of a block; 8 on CPUs.
#ifndef BLOCK
#define BLOCK 64
#endif

// Lines of a tile.
#ifndef LINES
#define LINES 4
#endif

// Rows of an item of `mv_dia`, a work-group's size apart.
#ifndef ROWS
#define ROWS 1
#endif

#if REAL_BITS == 64
#define BITS(v) as_ulong(v)
#else
#define BITS(v) as_uint(v)
#endif

// Width and distances of the columns, at most `widest`, of the rows listed, one after the other, and likewise their values.
__kernel void gather_rows(ulong count, uint widest, __global const uint *list, __global const uint *offset,
                          __global const uint *column, __global const REAL *value, __global uint *distances,
                          __global REAL *coefficient)
{
    const size_t k = get_global_id(0);
    if (k < count) {
        const uint i = list[k];
        const uint first = offset[i];
        const uint own = offset[i + 1] - first;
        distances[k * (1 + widest)] = own;
        const uint taken = min(own, widest);
        for (uint j = 0; j < taken; ++j) {
            distances[k * (1 + widest) + 1 + j] = column[first + j] - i;
            coefficient[k * widest + j] = value[first + j];
        }
    }
}

// The mask of row i for a pattern of `width` entries.
inline uint mask_of_row(size_t i, uint width, __global const uint *offset, __global const uint *column,
                        __global const REAL *value, __global const uint *delta, __global const REAL *coefficient)
{
    const uint begin = offset[i];
    const uint own = offset[i + 1] - begin;
    __global const uint *c = column + begin;
    __global const REAL *v = value + begin;
    if (own == width) {
        // As most rows: comparisons that do not wait for each other.
        uint apart = 0;
        uint differ = 0;
        for (uint k = 0; k < width; ++k) {
            apart |= (c[k] - (uint)i) ^ delta[k];
            differ |= BITS(v[k]) != BITS(coefficient[k]);
        }
        if (apart == 0) {
            return ((1u << width) - 1) | (differ ? DIFFERS : 0);
        }
    }
    uint j = 0;
    uint mask = 0;
    for (uint k = 0; k < own && !(mask & OTHER); ++k) {
        const uint distance = c[k] - (uint)i;
        while (j < width && delta[j] != distance) {
            ++j;
        }
        if (j == width) {
            mask = OTHER;
        } else {
            mask |= (1u << j) | (BITS(v[k]) == BITS(coefficient[j]) ? 0 : DIFFERS);
            ++j;
        }
    }
    return mask;
}

// Of one row: whether it has entries outside of the pattern, other values, or not all of the pattern; ten bits each, so that
// such numbers of up to 1023 rows can be summed.
#define COUNT_DIFFERS (1u << 10)
#define COUNT_PART (1u << 20)
#define OTHERS_OF(count) ((count) & 1023)
#define DIFFERING_OF(count) ((count) >> 10 & 1023)

inline uint count_of_mask(uint mask, uint whole)
{
    const uint part = (mask & ~DIFFERS) == whole ? 0 : COUNT_PART;
    return (mask & OTHER ? 1 : 0) + (mask & DIFFERS ? COUNT_DIFFERS : 0) + part;
}

#define STORE_FULL(b, count)                                           \
    full[b] = (count) < COUNT_PART;                                    \
    full_constant[b] = DIFFERING_OF(count) == 0 && (count) < COUNT_PART;

// The masks of all rows and the blocks that are full, for any values and for constant ones; totals[0] gets the number of rows
// that have entries outside of the pattern, totals[1] of those with other values.
#ifndef CPU
// A work-group has whole blocks; with fewer items than a block has rows, one block in turns.
#define TURNS (LOCAL < BLOCK ? BLOCK / LOCAL : 1)
#define ITEMS_OF_BLOCK (LOCAL < BLOCK ? LOCAL : BLOCK)
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mark_rows(ulong rows, uint width, __global const uint *offset, __global const uint *column,
          __global const REAL *value, __global const uint *delta, __global const REAL *coefficient,
          __global uint *mask, __global uchar *full, __global uchar *full_constant, __global uint *totals)
{
    __local uint shared[LOCAL];
    const uint item = (uint)get_local_id(0);
    const uint whole = (1u << width) - 1;
    const size_t first = get_group_id(0) * (LOCAL * TURNS);
    uint count = 0;
    for (uint turn = 0; turn < TURNS; ++turn) {
        const size_t i = first + turn * LOCAL + item;
        if (i < rows) {
            const uint own = mask_of_row(i, width, offset, column, value, delta, coefficient);
            mask[i] = own;
            count += count_of_mask(own, whole);
        }
    }
    shared[item] = count;
    for (uint half_size = ITEMS_OF_BLOCK / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item % ITEMS_OF_BLOCK < half_size) {
            shared[item] += shared[item + half_size];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item % ITEMS_OF_BLOCK == 0 && first + item < rows) {
        const size_t b = (first + item) / BLOCK;
        STORE_FULL(b, shared[item])
    }
    if (item == 0) {
        uint others = 0, differing = 0;
        for (uint k = 0; k < LOCAL; k += ITEMS_OF_BLOCK) {
            others += OTHERS_OF(shared[k]);
            differing += DIFFERING_OF(shared[k]);
        }
        if (others > 0) {
            atomic_add(totals, others);
        }
        if (differing > 0) {
            atomic_add(totals + 1, differing);
        }
    }
}

// The tiles of mv_stencil, of `length` neighbours each, `across` of them beside each other: a work-group per tile.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
find_full_tiles(ulong rows, ulong line, ulong length, ulong lines, ulong across, uint whole,
                __global const uint *mask, __global uchar *tile)
{
    __local uint shared[LOCAL];
    const uint item = (uint)get_local_id(0);
    const size_t t = get_group_id(0);
    const size_t place = t % across * length;
    uint all = place + length <= line;
    for (size_t q = 0; q < lines; ++q) {
        const size_t first = (t / across * lines + q) * line + place;
        all = all && first + length <= rows;
        for (size_t k = item; all && k < length; k += LOCAL) {
            all = mask[first + k] == whole;
        }
    }
    shared[item] = all;
    for (uint half_size = LOCAL / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_size) {
            shared[item] &= shared[item + half_size];
        }
    }
    if (item == 0) {
        tile[t] = (uchar)shared[0];
    }
}
#else
// A chunk of blocks per item. The masks of blocks that are full with constant values are never read there, and
// not written: their memory is not even touched.
__kernel void mark_rows(ulong rows, uint width, __global const uint *offset, __global const uint *column,
                        __global const REAL *value, __global const uint *delta, __global const REAL *coefficient,
                        __global uint *mask, __global uchar *full, __global uchar *full_constant,
                        __global uint *totals)
{
    const uint whole = (1u << width) - 1;
    const size_t blocks = (rows + BLOCK - 1) / BLOCK;
    const size_t last = part_start(blocks, get_global_id(0) + 1, get_global_size(0));
    uint others = 0, differing = 0;
    for (size_t b = part_start(blocks, get_global_id(0), get_global_size(0)); b < last; ++b) {
        const size_t end = min((ulong)(b + 1) * BLOCK, rows);
        uint own[BLOCK];
        uint count = 0;
        for (size_t i = b * BLOCK; i < end; ++i) {
            own[i % BLOCK] = mask_of_row(i, width, offset, column, value, delta, coefficient);
            count += count_of_mask(own[i % BLOCK], whole);
        }
        STORE_FULL(b, count)
        if (count > 0) {
            for (size_t i = b * BLOCK; i < end; ++i) {
                mask[i] = own[i % BLOCK];
            }
        }
        others += OTHERS_OF(count);
        differing += DIFFERING_OF(count);
    }
    atomic_add(totals, others);
    atomic_add(totals + 1, differing);
}
#endif

#ifdef POINTS

// A row of the compressed rows.
inline REAL row_of_entries(size_t i, __global const uint *offset, __global const uint *column,
                           __global const REAL *value, __global const REAL *x)
{
    REAL sum = ZERO;
    const uint end = offset[i + 1];
    for (uint k = offset[i]; k < end; ++k) {
        sum += value[k] * x[column[k]];
    }
    return sum;
}

// A row of constant coefficients.
inline REAL row_of_stencil(size_t i, uint present, __constant int *delta, __constant REAL *coefficient,
                           __global const uint *offset, __global const uint *column, __global const REAL *value,
                           __global const REAL *x)
{
    __global const REAL *from = x + i;
    REAL sum = ZERO;
    if (present & (OTHER | DIFFERS)) {
        sum = row_of_entries(i, offset, column, value, x);
    } else {
#pragma unroll
        for (uint j = 0; j < POINTS; ++j) {
            if (present >> j & 1) {
                sum += coefficient[j] * from[delta[j]];
            }
        }
    }
    return sum;
}

// The same with all entries of the pattern.
inline REAL row_of_whole_stencil(__constant int *delta, __constant REAL *coefficient, __global const REAL *from)
{
    REAL sum = ZERO;
#pragma unroll
    for (uint j = 0; j < POINTS; ++j) {
        sum += coefficient[j] * from[delta[j]];
    }
    return sum;
}

#ifndef CPU
// Values by entries of the pattern: entry j of row i at diagonal[(i / BLOCK * POINTS + j) * BLOCK + i % BLOCK].
__kernel void fill_dia(ulong rows, __global const uint *mask, __global const uint *offset,
                         __global const REAL *value, __global REAL *diagonal)
{
    const size_t i = get_global_id(0);
    if (i < rows) {
        __global REAL *own = diagonal + i / BLOCK * BLOCK * POINTS + i % BLOCK;
        const uint present = mask[i] & OTHER ? 0 : mask[i];
        uint k = offset[i];
        for (uint j = 0; j < POINTS; ++j) {
            own[j * BLOCK] = present >> j & 1 ? value[k++] : ZERO;
        }
    }
}

// Row i with the values by diagonals.
inline REAL row_of_dia(size_t i, __global const uchar *full, __global const uint *mask, __constant int *delta,
                         __global const REAL *diagonal, __global const uint *offset, __global const uint *column,
                         __global const REAL *value, __global const REAL *x)
{
    __global const REAL *own = diagonal + i / BLOCK * BLOCK * POINTS + i % BLOCK;
    __global const REAL *from = x + i;
    REAL sum = ZERO;
    if (full[i / BLOCK]) {
#pragma unroll
        for (uint j = 0; j < POINTS; ++j) {
            sum += own[j * BLOCK] * from[delta[j]];
        }
    } else {
        const uint present = mask[i];
        if (present & OTHER) {
            sum = row_of_entries(i, offset, column, value, x);
        } else {
#pragma unroll
            for (uint j = 0; j < POINTS; ++j) {
                if (present >> j & 1) {
                    sum += own[j * BLOCK] * from[delta[j]];
                }
            }
        }
    }
    return sum;
}

// Whether tile (across, along) is whole: tile[] is 1 there. Those across inner.s0 to inner.s1 and along inner.s2 to inner.s3
// all are, and nothing has to be read.
inline bool whole_tile(size_t across, size_t along, uint4 inner, __global const uchar *tile)
{
    const bool inside = across >= inner.s0 && across < inner.s1 && along >= inner.s2 && along < inner.s3;
    return inside || tile[along * get_num_groups(0) + across];
}

#ifndef DOTS
// y = alpha A x + beta y with the values by diagonals.
__kernel void mv_dia(ulong rows, __global const uchar *full, __global const uint *mask,
                       __constant int *delta, __global const REAL *diagonal, REAL alpha,
                       __global const uint *offset, __global const uint *column, __global const REAL *value,
                       __global const REAL *x, REAL beta, __global REAL *y)
{
    size_t i = get_group_id(0) * ROWS * get_local_size(0) + get_local_id(0);
#pragma unroll
    for (uint r = 0; r < ROWS; ++r, i += get_local_size(0)) {
        if (i < rows) {
            const REAL sum = row_of_dia(i, full, mask, delta, diagonal, offset, column, value, x);
            y[i] = combine_product(alpha, sum, beta, y + i);
        }
    }
}

// A tile of LOCAL neighbours in each of LINES lines from row `first` of this item on, at `place` of its lines; `whole`
// where all rows of the tile are there and have the whole pattern. Gives the part of x'y for alpha = 1 and beta = 0.
inline REAL multiply_tile(size_t first, size_t place, bool whole, ulong rows, ulong line, __global const uchar *full,
                          __global const uint *mask, __constant int *delta, __constant REAL *coefficient, REAL alpha,
                          __global const uint *offset, __global const uint *column, __global const REAL *value,
                          __global const REAL *x, REAL beta, __global REAL *y)
{
    REAL dot = ZERO;
#if POINTS <= 9
    if (whole) {
        REAL sum[LINES];
#pragma unroll
        for (uint q = 0; q < LINES; ++q) {
            sum[q] = row_of_whole_stencil(delta, coefficient, x + first + q * line);
        }
#pragma unroll
        for (uint q = 0; q < LINES; ++q) {
            __global REAL *out = y + first + q * line;
            *out = combine_product(alpha, sum[q], beta, out);
            dot += sum[q] * x[first + q * line];
        }
        return dot;
    }
#endif
    // Many points keep enough loads under way row by row.
    if (place < line) {
#pragma unroll 1
        for (uint q = 0; q < LINES; ++q) {
            const size_t i = first + q * line;
            if (i < rows) {
                const uint present = whole || full[i / BLOCK] ? (1u << POINTS) - 1 : mask[i];
                const REAL sum = row_of_stencil(i, present, delta, coefficient, offset, column, value, x);
                y[i] = combine_product(alpha, sum, beta, y + i);
                dot += sum * x[i];
            }
        }
    }
    return dot;
}

// y = alpha A x + beta y with constant coefficients. The rows are looked at as lines of `line`; a work-group has a tile of
// LOCAL neighbours in each of LINES lines, so that with lines that are those of the grid most of x comes from the
// caches near by.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mv_stencil(ulong rows, ulong line, uint left, uint right, uint low, uint high, __global const uchar *tile,
           __global const uchar *full, __global const uint *mask, __constant int *delta,
           __constant REAL *coefficient, REAL alpha, __global const uint *offset, __global const uint *column,
           __global const REAL *value, __global const REAL *x, REAL beta, __global REAL *y)
{
    const size_t place = get_global_id(0);
    const size_t along = get_group_id(1);
    const bool whole = whole_tile(get_group_id(0), along, (uint4)(left, right, low, high), tile);
    multiply_tile(along * LINES * line + place, place, whole, rows, line, full, mask, delta, coefficient, alpha,
                  offset, column, value, x, beta, y);
}

// y = A x likewise, with `turns` tiles one after the other along the lines' direction, of `tiles`, and x'y in a part per
// work-group.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mv_stencil_dot(ulong rows, ulong line, uint left, uint right, uint low, uint high, ulong tiles, uint turns,
               __global const uchar *tile, __global const uchar *full, __global const uint *mask,
               __constant int *delta, __constant REAL *coefficient, __global const uint *offset,
               __global const uint *column, __global const REAL *value, __global const REAL *x, __global REAL *y,
               __global REAL *partial)
{
    __local REAL shared[LOCAL];
    const uint lane = (uint)get_local_id(0);
    const size_t place = get_global_id(0);
    REAL dot = ZERO;
    for (uint turn = 0; turn < turns; ++turn) {
        const size_t along = get_group_id(1) * (size_t)turns + turn;
        if (along < tiles) {
            const bool whole = whole_tile(get_group_id(0), along, (uint4)(left, right, low, high), tile);
            dot += multiply_tile(along * LINES * line + place, place, whole, rows, line, full, mask, delta,
                                 coefficient, ONE, offset, column, value, x, ZERO, y);
        }
    }
    shared[lane] = dot;
    for (uint half_size = LOCAL / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < half_size) {
            shared[lane] += shared[lane + half_size];
        }
    }
    if (lane == 0) {
        partial[get_group_id(1) * get_num_groups(0) + get_group_id(0)] = shared[0];
    }
}
#else
// The values by diagonals, with dot products: `turns` times LOCAL rows a work-group.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mv_dia(ulong rows, uint turns, __global const uchar *full, __global const uint *mask, __constant int *delta,
         __global const REAL *diagonal, REAL alpha, __global const uint *offset, __global const uint *column,
         __global const REAL *value, __global const REAL *x, REAL beta, __global REAL *y DOTS_ARGUMENTS)
{
    __local REAL shared[2 * LOCAL];
    const uint lane = (uint)get_local_id(0);
    size_t i = get_group_id(0) * (size_t)turns * LOCAL + lane;
    REAL2 dots = (REAL2)ZERO;
    for (uint turn = 0; turn < turns; ++turn, i += LOCAL) {
        if (i < rows) {
            const REAL product = row_of_dia(i, full, mask, delta, diagonal, offset, column, value, x);
            dots += finish_row(i, alpha, product, beta, y, u, w);
        }
    }
    LEAVE_GROUP_DOTS(shared, lane, get_group_id(0), get_num_groups(0));
}

// As multiply_tile, with the item's parts of y'w and y'y.
inline REAL2 multiply_tile_dots(size_t first, size_t place, bool whole, ulong rows, ulong line, __global const uchar *full,
                           __global const uint *mask, __constant int *delta, __constant REAL *coefficient, REAL alpha,
                           __global const uint *offset, __global const uint *column, __global const REAL *value,
                           __global const REAL *x, REAL beta, __global REAL *y, __global const REAL *u,
                           __global const REAL *w)
{
    REAL2 dots = (REAL2)ZERO;
#if POINTS <= 9
    if (whole) {
        REAL sum[LINES];
#pragma unroll
        for (uint q = 0; q < LINES; ++q) {
            sum[q] = row_of_whole_stencil(delta, coefficient, x + first + q * line);
        }
#pragma unroll
        for (uint q = 0; q < LINES; ++q) {
            const size_t i = first + q * line;
            dots += finish_row(i, alpha, sum[q], beta, y, u, w);
        }
        return dots;
    }
#endif
    if (place < line) {
#pragma unroll 1
        for (uint q = 0; q < LINES; ++q) {
            const size_t i = first + q * line;
            if (i < rows) {
                const uint present = whole || full[i / BLOCK] ? (1u << POINTS) - 1 : mask[i];
                const REAL sum = row_of_stencil(i, present, delta, coefficient, offset, column, value, x);
                dots += finish_row(i, alpha, sum, beta, y, u, w);
            }
        }
    }
    return dots;
}

// Constant coefficients, with dot products: `turns` tiles one after the other along the lines' direction, of `tiles`.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mv_stencil(ulong rows, ulong line, uint left, uint right, uint low, uint high, ulong tiles, uint turns,
           __global const uchar *tile, __global const uchar *full, __global const uint *mask,
           __constant int *delta, __constant REAL *coefficient, REAL alpha, __global const uint *offset,
           __global const uint *column, __global const REAL *value, __global const REAL *x, REAL beta,
           __global REAL *y DOTS_ARGUMENTS)
{
    __local REAL shared[2 * LOCAL];
    const uint lane = (uint)get_local_id(0);
    const size_t place = get_global_id(0);
    REAL2 dots = (REAL2)ZERO;
    for (uint turn = 0; turn < turns; ++turn) {
        const size_t along = get_group_id(1) * (size_t)turns + turn;
        if (along < tiles) {
            const bool whole = whole_tile(get_group_id(0), along, (uint4)(left, right, low, high), tile);
            dots += multiply_tile_dots(along * LINES * line + place, place, whole, rows, line, full, mask, delta,
                                       coefficient, alpha, offset, column, value, x, beta, y, u, w);
        }
    }
    LEAVE_GROUP_DOTS(shared, lane, get_group_id(1) * get_num_groups(0) + get_group_id(0),
                     get_num_groups(0) * get_num_groups(1));
}
#endif
#else
// A chunk of blocks per item. In a full block all rows do the same: eight at a time.
__kernel void mv_stencil(ulong rows, __global const uchar *full, __global const uint *mask,
                         __constant int *delta, __constant REAL *coefficient, REAL alpha,
                         __global const uint *offset, __global const uint *column, __global const REAL *value,
                         __global const REAL *x, REAL beta, __global REAL *y DOTS_ARGUMENTS)
{
    const size_t blocks = (rows + BLOCK - 1) / BLOCK;
    const size_t last = part_start(blocks, get_global_id(0) + 1, get_global_size(0));
    START_DOTS(min((ulong)part_start(blocks, get_global_id(0), get_global_size(0)) * BLOCK, rows));
    for (size_t b = part_start(blocks, get_global_id(0), get_global_size(0)); b < last; ++b) {
        const size_t end = min((ulong)(b + 1) * BLOCK, rows);
        size_t i = b * BLOCK;
        if (full[b]) {
            for (; i + 8 <= end; i += 8) {
                REAL8 sum = (REAL8)ZERO;
#pragma unroll
                for (uint j = 0; j < POINTS; ++j) {
                    sum += coefficient[j] * vload8(0, x + i + delta[j]);
                }
                if (beta == ZERO) {
                    vstore8(alpha * sum, 0, y + i);
                } else {
                    vstore8(alpha * sum + beta * vload8(0, ADDEND + i), 0, y + i);
                }
            }
        }
        for (; i < end; ++i) {
            const uint present = full[b] ? (1u << POINTS) - 1 : mask[i];
            const REAL sum = row_of_stencil(i, present, delta, coefficient, offset, column, value, x);
            y[i] = combine_product(alpha, sum, beta, ADDEND + i);
        }
        COUNT_DOTS(end);
    }
    LEAVE_DOTS(min((ulong)last * BLOCK, rows));
}

// y = alpha A x + beta y with the values of the compressed rows, a chunk of blocks per item. In a full block they follow
// one another row by row, and no column is read.
__kernel void mv_dia(ulong rows, __global const uchar *full, __global const uint *mask, __constant int *delta,
                         REAL alpha, __global const uint *offset, __global const uint *column,
                         __global const REAL *value, __global const REAL *x, REAL beta,
                         __global REAL *y DOTS_ARGUMENTS)
{
    const size_t blocks = (rows + BLOCK - 1) / BLOCK;
    const size_t last = part_start(blocks, get_global_id(0) + 1, get_global_size(0));
    START_DOTS(min((ulong)part_start(blocks, get_global_id(0), get_global_size(0)) * BLOCK, rows));
    for (size_t b = part_start(blocks, get_global_id(0), get_global_size(0)); b < last; ++b) {
        const size_t end = min((ulong)(b + 1) * BLOCK, rows);
        const bool whole = full[b];
        __global const REAL *v = value + offset[b * BLOCK];
#pragma clang loop vectorize(disable)
        for (size_t i = b * BLOCK; i < end; ++i) {
            REAL sum;
            if (whole || (mask[i] & ~DIFFERS) == (1u << POINTS) - 1) {
                // Three sums: additions that wait for each other take longer than the memory.
                REAL part[3] = {ZERO};
                if (!whole) {
                    v = value + offset[i];
                }
#pragma unroll
                for (uint j = 0; j < POINTS; ++j) {
                    if (j % 8 == 0) {
                        FETCH_AHEAD(v + j);
                    }
                    part[j % 3] += v[j] * x[(long)i + delta[j]];
                }
                sum = (part[0] + part[1]) + part[2];
                v += POINTS;
            } else {
                sum = row_of_entries(i, offset, column, value, x);
            }
            y[i] = combine_product(alpha, sum, beta, ADDEND + i);
        }
        COUNT_DOTS(end);
    }
    LEAVE_DOTS(min((ulong)last * BLOCK, rows));
}
#endif
#endif
