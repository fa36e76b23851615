// Space-time boundary elements for the heat equation: products with the blocks.
//
// The build defines
//   STEPS_ITEM  time steps that an item of the product has, and
//   ROWS_ITEM   rows; both only for GPUs
//   PROCESSOR   only for CPUs
//
// Work: one floating-point instruction per entry and later time step. Traffic: 8 B (f64) per entry read.
//@ crate clinalg-bem
//@ build
//@ build STEPS_ITEM=1 ROWS_ITEM=2
//@ build PROCESSOR=1
#include "bem_heat.clh"

// Block d of the `kept` ones of `rows` rows into the rows from `first` on of a matrix by columns: entry (i, j) at j
// all_rows + i.
__kernel void take_block(ulong all_rows, ulong first, ulong rows, ulong cols, ulong stride, ulong d, ulong kept,
                         __global const REAL *values, __global REAL *block)
{
    const size_t i = get_global_id(0);
    const size_t j = get_global_id(1);
    if (i < rows && j < cols) {
        block[j * all_rows + first + i] = values[(i * kept + d) * stride + j];
    }
}

// x by time step for each column: x_(t - BEFORE) of column j at j stride + t, 0 outside the time interval.
__kernel void NAMED(spread_steps)(ulong n, ulong steps, ulong stride, __global const REAL *x, __global REAL *spread)
{
    const size_t t = get_global_id(0);
    const size_t j = get_global_id(1);
    if (t < stride) {
        spread[j * stride + t] = j < n && t >= BEFORE && t - BEFORE < steps ? x[(t - BEFORE) * n + j] : ZERO;
    }
}

#ifndef PROCESSOR
#ifndef STEPS_ITEM
#define STEPS_ITEM 8
#endif
#ifndef ROWS_ITEM
#define ROWS_ITEM 2
#endif

// partial = or, where `more`, += the product of blocks base to base + kept - 1 of `rows` rows: a work-group has ROWS
// rows, STEPS time steps and the columns of one of `splits` parts. It fetches the next tile while it multiplies with
// one.
#define ROW_ITEMS 16
#define ROWS (ROW_ITEMS * ROWS_ITEM)
#define COLUMNS 8
#define DELTAS 8
#define GROUP 256
#define STEPS (STEPS_ITEM * GROUP / ROW_ITEMS)
#define WINDOW (STEPS + DELTAS)
// Entries and values of x that an item fetches, and rows from one of its entries to the next.
#define ENTRIES_EACH (DELTAS * COLUMNS * ROWS / GROUP)
#define VALUES_EACH ((COLUMNS * WINDOW + GROUP - 1) / GROUP)
#define ROW_JUMP (GROUP / (DELTAS * COLUMNS))

// Entries from block d and column 0 of the item's places on: `from` is its first place there, of `rows` rows behind it.
inline void fetch_entries(__global const REAL *from, size_t jump, size_t rows, bool inside, REAL *entries)
{
#pragma unroll
    for (uint m = 0; m < ENTRIES_EACH; ++m) {
        entries[m] = inside && m * ROW_JUMP < rows ? from[m * jump] : ZERO;
    }
}

// x of columns j on at times start - d - DELTAS + 1 on.
inline void fetch_values(__global const REAL *x, size_t x_stride, size_t j, size_t start, size_t d, REAL *values)
{
#pragma unroll
    for (uint m = 0; m < VALUES_EACH; ++m) {
        const uint k = (uint)get_local_id(0) + m * GROUP;
        const size_t at = start + k % WINDOW + (BEFORE - DELTAS + 1);
        values[m] = k < COLUMNS * WINDOW && at >= d ? x[(j + k / WINDOW) * x_stride + (at - d)] : ZERO;
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
apply_blocks_gpu(ulong rows, ulong stride, ulong base, ulong kept, __global const REAL *values, ulong x_stride,
                 __global const REAL *x, ulong splits, ulong first_row, ulong all_rows, ulong partial_stride, uint more,
                 __global REAL *partial)
{
    __local REAL tile[DELTAS * COLUMNS * (ROWS + 1)];
    __local REAL window[COLUMNS * WINDOW];
    const uint item = (uint)get_local_id(0);
    const size_t first = get_group_id(0) * ROWS;
    const size_t split = get_group_id(1) % splits;
    const size_t start = get_group_id(1) / splits * STEPS;
    const uint row = item % ROW_ITEMS;
    const uint step = item / ROW_ITEMS * STEPS_ITEM;
    const size_t parts = stride / COLUMNS;
    const size_t begin = parts * split / splits * COLUMNS;
    const size_t end = parts * (split + 1) / splits * COLUMNS;
    // Later blocks meet no step of this group.
    const size_t last = min(base + kept, start + STEPS);
    REAL sums[ROWS_ITEM][STEPS_ITEM];
#pragma unroll
    for (uint r = 0; r < ROWS_ITEM; ++r) {
#pragma unroll
        for (uint k = 0; k < STEPS_ITEM; ++k) {
            sums[r][k] = ZERO;
        }
    }
    // The item's places in a tile: this column, block and row, and the rows ROW_JUMP apart behind it.
    const uint own_column = item % COLUMNS;
    const uint own_delta = item / COLUMNS % DELTAS;
    const size_t own_row = first + item / (COLUMNS * DELTAS);
    const size_t rows_behind = own_row < rows ? rows - own_row : 0;
    __global const REAL *from = values + (min(own_row, (size_t)(rows - 1)) * kept + own_delta) * stride + own_column;
    const size_t jump = ROW_JUMP * kept * stride;
    const size_t tiles = (last - base + DELTAS - 1) / DELTAS;
    const size_t turns = (end - begin) / COLUMNS * tiles;
    REAL entries[ENTRIES_EACH], near_values[VALUES_EACH];
    size_t j = begin;
    size_t d = base;
    if (turns > 0) {
        fetch_entries(from + j, jump, rows_behind, d + own_delta < last, entries);
        fetch_values(x, x_stride, j, start, d, near_values);
    }
    for (size_t turn = 0; turn < turns; ++turn) {
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (uint m = 0; m < ENTRIES_EACH; ++m) {
            const uint at = item / (COLUMNS * DELTAS) + m * ROW_JUMP;
            tile[(own_delta * COLUMNS + own_column) * (ROWS + 1) + at] = entries[m];
        }
#pragma unroll
        for (uint m = 0; m < VALUES_EACH; ++m) {
            if (item + m * GROUP < COLUMNS * WINDOW) {
                window[item + m * GROUP] = near_values[m];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const bool meets = start + step + STEPS_ITEM > d;
        d += DELTAS;
        if (d >= last) {
            d = base;
            j += COLUMNS;
        }
        if (j < end) {
            fetch_entries(from + (d - base) * stride + j, jump, rows_behind, d + own_delta < last, entries);
            fetch_values(x, x_stride, j, start, d, near_values);
        }
        if (meets) {
            for (uint column = 0; column < COLUMNS; ++column) {
                REAL near[STEPS_ITEM + DELTAS - 1];
#pragma unroll
                for (uint k = 0; k < STEPS_ITEM + DELTAS - 1; ++k) {
                    near[k] = window[column * WINDOW + step + k];
                }
#pragma unroll
                for (uint delta = 0; delta < DELTAS; ++delta) {
#pragma unroll
                    for (uint r = 0; r < ROWS_ITEM; ++r) {
                        const REAL entry = tile[(delta * COLUMNS + column) * (ROWS + 1) + row + r * ROW_ITEMS];
#pragma unroll
                        for (uint k = 0; k < STEPS_ITEM; ++k) {
                            sums[r][k] += entry * near[k + DELTAS - 1 - delta];
                        }
                    }
                }
            }
        }
    }
#pragma unroll
    for (uint r = 0; r < ROWS_ITEM; ++r) {
        const size_t at = first + row + r * ROW_ITEMS;
        if (at < rows) {
            __global REAL *to = partial + (split * all_rows + first_row + at) * partial_stride + start + step;
#pragma unroll
            for (uint k = 0; k < STEPS_ITEM; ++k) {
                to[k] = more ? to[k] + sums[r][k] : sums[r][k];
            }
        }
    }
}
#else
// partial as apply_blocks_gpu with one part, for the steps from `from_step` on, where x is 0 unless that is 0: a chunk
// of rows per item, 16 steps at a time.
__kernel void apply_blocks_cpu(ulong rows, ulong stride, ulong base, ulong kept, ulong from_step, ulong steps,
                               __global const REAL *values, ulong x_stride, __global const REAL *x, ulong first_row,
                               ulong partial_stride, uint more, __global REAL *partial)
{
    const size_t begin = rows * get_global_id(0) / get_global_size(0);
    const size_t end = rows * (get_global_id(0) + 1) / get_global_size(0);
    for (size_t i = begin; i < end; i += 2) {
        const size_t other = min(i + 1, end - 1);
        for (size_t start = from_step / 16 * 16; start < steps; start += 16) {
            // Earlier blocks meet only steps of x that are 0, later ones no step of these.
            const size_t first = from_step > 0 && start >= from_step ? max((size_t)base, start + 1 - from_step) : base;
            const size_t last = min(base + kept, start + 16);
            REAL8 low_0 = (REAL8)ZERO, high_0 = low_0, low_1 = low_0, high_1 = low_0;
            for (size_t d = first; d < last; ++d) {
                __global const REAL *entry_0 = values + (i * kept + (d - base)) * stride;
                __global const REAL *entry_1 = values + (other * kept + (d - base)) * stride;
                __global const REAL *from = x + (start + BEFORE - d);
                for (size_t j = 0; j < stride; ++j) {
                    const REAL8 low = vload8(0, from + j * x_stride);
                    const REAL8 high = vload8(1, from + j * x_stride);
                    low_0 += entry_0[j] * low;
                    high_0 += entry_0[j] * high;
                    low_1 += entry_1[j] * low;
                    high_1 += entry_1[j] * high;
                }
            }
            __global REAL *to = partial + (first_row + i) * partial_stride + start;
            const REAL8 nothing = (REAL8)ZERO;
            vstore8((more ? vload8(0, to) : nothing) + low_0, 0, to);
            vstore8((more ? vload8(1, to) : nothing) + high_0, 1, to);
            if (other > i) {
                to += partial_stride;
                vstore8((more ? vload8(0, to) : nothing) + low_1, 0, to);
                vstore8((more ? vload8(1, to) : nothing) + high_1, 1, to);
            }
        }
    }
}
#endif

// y = alpha times the sum of the parts + beta y in the steps from `first` on; beta = 0 never reads y.
__kernel void NAMED(join_parts)(ulong rows, ulong first, ulong steps, ulong parts, ulong stride,
                              __global const REAL *partial, REAL alpha, REAL beta, __global REAL *y)
{
    const size_t i = get_global_id(0);
    const size_t t = first + get_global_id(1);
    if (i < rows && t < steps) {
        REAL sum = ZERO;
        for (size_t k = 0; k < parts; ++k) {
            sum += partial[(k * rows + i) * stride + t];
        }
        y[t * rows + i] = beta == ZERO ? alpha * sum : alpha * sum + beta * y[t * rows + i];
    }
}
