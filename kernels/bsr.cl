// Products y = alpha A x + beta y with a sparse matrix of dense ROWS x ROWS blocks (BSR) on a GPU; beta = 0 never reads y. Values
// are those of the compressed rows: ROWS rows have the same columns, which come in runs of ROWS, so that one column serves
// for a block.
//
// Traffic, f64: 8 + 4 / ROWS^2 B per entry, 8 B per ROWS rows for the offsets, 16 B per row for x and y (24 B where beta is not
// 0), if every element of x comes from memory once.
//@ build ROWS=2 LANES=8
//@ build ROWS=3 LANES=16
//@ build ROWS=6 LANES=32
#include "common.clh"
#include "scalar.clh"

// LANES neighbouring items per block row, a power of two and at least ROWS.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mv_bsr(ulong blocks, REAL alpha, __global const uint *offset, __global const uint *block, __global const REAL *value,
       __global const REAL *x, REAL beta, __global REAL *y)
{
    __local REAL sums[ROWS * LOCAL];
    const uint item = (uint)get_local_id(0);
    const uint lane = item % LANES;
    const size_t i = get_global_id(0) / LANES;
    REAL own[ROWS];
#pragma unroll
    for (uint a = 0; a < ROWS; ++a) {
        own[a] = ZERO;
    }
    if (i < blocks) {
        const uint first = offset[ROWS * i];
        const uint width = offset[ROWS * i + 1] - first;
        __global const uint *column = block + first / (ROWS * ROWS);
        __global const REAL *row = value + first;
#pragma unroll 4
        for (uint j = lane; j < width; j += LANES) {
            const REAL from = x[(size_t)column[j / ROWS] * ROWS + j % ROWS];
#pragma unroll
            for (uint a = 0; a < ROWS; ++a) {
                own[a] += row[(size_t)a * width + j] * from;
            }
        }
    }
#pragma unroll
    for (uint a = 0; a < ROWS; ++a) {
        sums[a * LOCAL + item] = own[a];
    }
    for (uint width = LANES / 2; width > 0; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < width) {
            for (uint a = 0; a < ROWS; ++a) {
                sums[a * LOCAL + item] += sums[a * LOCAL + item + width];
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < blocks && lane < ROWS) {
        const size_t r = ROWS * i + lane;
        y[r] = combine_product(alpha, sums[lane * LOCAL + item - lane], beta, y + r);
    }
}

// Columns of the blocks of rows that have equally many entries, a multiple of ROWS; LANES items per block row. Sets `different`
// where rows are not of blocks.
__kernel void block_columns(ulong blocks, __global const uint *offset, __global const uint *column, __global uint *block,
                            __global uint *different)
{
    const size_t i = get_global_id(0) / LANES;
    if (i < blocks) {
        const uint first = offset[ROWS * i];
        const uint width = offset[ROWS * i + 1] - first;
        bool same = true;
        for (uint j = (uint)get_local_id(0) % LANES; j < width; j += LANES) {
            const uint c = column[first + j];
            for (uint a = 1; a < ROWS; ++a) {
                same &= column[(size_t)first + (size_t)a * width + j] == c;
            }
            same &= c % ROWS == j % ROWS;
            if (j % ROWS == 0) {
                block[first / (ROWS * ROWS) + j / ROWS] = c / ROWS;
            } else {
                same &= column[first + j - 1] + 1 == c;
            }
        }
        if (!same) {
            atomic_or(different, 1u);
        }
    }
}
