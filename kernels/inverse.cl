// The inverse of a symmetric positive definite matrix, in place, by sweeps over blocks of BLOCK columns: Gauss-Jordan
// elimination that keeps the matrix symmetric. With D the diagonal block of the columns p and S = D^-1, a sweep makes
//   A_ij - A_ip S A_pj outside, A_ip S and S A_pj in the columns and rows p, -S in the block;
// after the last block the matrix is -A^-1. Its side is a multiple of TILE; what is added to reach it is an identity.
//
// Work, f64, a sweep of n rows: 2 BLOCK n^2 flops; traffic 16 n^2 B.
//@ build
//@ build CPU=1
//@ one_program
#include "common.clh"

#define BLOCK 32
#define TILE 64
#define ITEMS 16
#define EACH (TILE / ITEMS)
#define DEPTH 16
// Rows and columns of a tile of the update on CPUs.
#define ROWS_CPU 16
#define COLUMNS_CPU 4

// The n x n matrix `source` in a square of `side`.
__kernel void pad_square(ulong n, ulong side, __global const REAL *source, __global REAL *target)
{
    const size_t i = get_global_id(0);
    const size_t j = get_global_id(1);
    if (i < side && j < side) {
        target[i + j * side] = i < n && j < n ? source[i + j * n] : i == j ? ONE : ZERO;
    }
}

// The other way, with the sign of the sweeps taken back.
__kernel void take_square(ulong n, ulong side, __global const REAL *source, __global REAL *target)
{
    const size_t i = get_global_id(0);
    const size_t j = get_global_id(1);
    if (i < n && j < n) {
        target[i + j * n] = -source[i + j * side];
    }
}

// Sweeps the diagonal block that begins at `first` and leaves S in `block`. The first pivot that is not positive makes
// `fault` one more than its row.
#ifdef CPU
// By one item.
__kernel void sweep_block(ulong side, ulong first, __global REAL *a, __global REAL *block, __global uint *fault)
{
    REAL d[BLOCK][BLOCK];
    for (uint j = 0; j < BLOCK; ++j) {
        for (uint i = 0; i < BLOCK; ++i) {
            d[j][i] = a[first + i + (first + j) * side];
        }
    }
    for (uint k = 0; k < BLOCK; ++k) {
        const REAL pivot = d[k][k];
        const REAL inverse = ONE / pivot;
        if (!(pivot > ZERO) && *fault == 0) {
            *fault = (uint)(first + k + 1);
        }
        for (uint j = 0; j < BLOCK; ++j) {
            const REAL factor = d[j][k] * inverse;
            for (uint i = 0; i < BLOCK; ++i) {
                d[j][i] = i == k || j == k ? d[j][i] : d[j][i] - d[k][i] * factor;
            }
        }
        for (uint i = 0; i < BLOCK; ++i) {
            d[k][i] *= inverse;
            d[i][k] *= inverse;
        }
        d[k][k] = -inverse;
    }
    for (uint j = 0; j < BLOCK; ++j) {
        for (uint i = 0; i < BLOCK; ++i) {
            a[first + i + (first + j) * side] = d[j][i];
            block[i + j * BLOCK] = -d[j][i];
        }
    }
}
#else
__kernel __attribute__((reqd_work_group_size(ITEMS * ITEMS, 1, 1))) void
sweep_block(ulong side, ulong first, __global REAL *a, __global REAL *block, __global uint *fault)
{
    __local REAL d[BLOCK * (BLOCK + 1)];
    const uint item = (uint)get_local_id(0);
    const uint i = item % BLOCK;
    const uint top = item / BLOCK;
    for (uint j = top; j < BLOCK; j += ITEMS * ITEMS / BLOCK) {
        d[j * (BLOCK + 1) + i] = a[first + i + (first + j) * side];
    }
    for (uint k = 0; k < BLOCK; ++k) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const REAL pivot = d[k * (BLOCK + 1) + k];
        const REAL inverse = ONE / pivot;
        const REAL own = d[k * (BLOCK + 1) + i];
        REAL next[BLOCK * BLOCK / (ITEMS * ITEMS)];
#pragma unroll
        for (uint u = 0; u < BLOCK * BLOCK / (ITEMS * ITEMS); ++u) {
            const uint j = top + u * (ITEMS * ITEMS / BLOCK);
            const REAL other = d[j * (BLOCK + 1) + k];
            const REAL outside = d[j * (BLOCK + 1) + i] - own * inverse * other;
            next[u] = i == k ? (j == k ? -inverse : other * inverse) : j == k ? own * inverse : outside;
        }
        if (item == 0 && !(pivot > ZERO) && *fault == 0) {
            *fault = (uint)(first + k + 1);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (uint u = 0; u < BLOCK * BLOCK / (ITEMS * ITEMS); ++u) {
            d[(top + u * (ITEMS * ITEMS / BLOCK)) * (BLOCK + 1) + i] = next[u];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = top; j < BLOCK; j += ITEMS * ITEMS / BLOCK) {
        a[first + i + (first + j) * side] = d[j * (BLOCK + 1) + i];
        block[i + j * BLOCK] = -d[j * (BLOCK + 1) + i];
    }
}
#endif

// Sweeps columns and rows p, the BLOCK ones from `first` on: an item has a row i. `before` gets A_ip as it was, `after` A_ip S,
// both zero in the rows p, where the update has nothing to do.
__kernel void sweep_columns(ulong side, ulong first, __global REAL *a, __global const REAL *block, __global REAL *before,
                            __global REAL *after)
{
    const size_t i = get_global_id(0);
    if (i >= side) {
        return;
    }
    const bool inside = i >= first && i < first + BLOCK;
    REAL own[BLOCK];
#pragma unroll
    for (uint c = 0; c < BLOCK; ++c) {
        own[c] = inside ? ZERO : a[i + (first + c) * side];
        before[i + c * side] = own[c];
    }
#pragma unroll 1
    for (uint b = 0; b < BLOCK; ++b) {
        REAL sum = ZERO;
#pragma unroll
        for (uint c = 0; c < BLOCK; ++c) {
            sum += own[c] * block[c + b * BLOCK];
        }
        after[i + b * side] = sum;
        if (!inside) {
            a[i + (first + b) * side] = sum;
            a[first + b + i * side] = sum;
        }
    }
}

// A_ij - A_ip S A_pj outside the columns and rows p.
#ifdef CPU
// An item has ROWS_CPU rows.
__kernel void sweep_rest(ulong side, __global REAL *a, __global const REAL *before,
                             __global const REAL *after)
{
    const size_t row = get_global_id(0) * ROWS_CPU;
    if (row >= side) {
        return;
    }
    REAL8 own[2 * BLOCK];
    for (uint b = 0; b < BLOCK; ++b) {
        own[2 * b] = vload8(0, after + row + b * side);
        own[2 * b + 1] = vload8(1, after + row + b * side);
    }
    for (size_t j = 0; j < side; j += COLUMNS_CPU) {
        REAL8 low[COLUMNS_CPU], high[COLUMNS_CPU];
#pragma unroll
        for (uint c = 0; c < COLUMNS_CPU; ++c) {
            low[c] = high[c] = (REAL8)ZERO;
        }
        for (uint b = 0; b < BLOCK; ++b) {
#pragma unroll
            for (uint c = 0; c < COLUMNS_CPU; ++c) {
                const REAL factor = before[j + c + b * side];
                low[c] += own[2 * b] * factor;
                high[c] += own[2 * b + 1] * factor;
            }
        }
#pragma unroll
        for (uint c = 0; c < COLUMNS_CPU; ++c) {
            __global REAL *to = a + row + (j + c) * side;
            vstore8(vload8(0, to) - low[c], 0, to);
            vstore8(vload8(1, to) - high[c], 1, to);
        }
    }
}
#else
__kernel __attribute__((reqd_work_group_size(ITEMS, ITEMS, 1))) void
sweep_rest(ulong side, __global REAL *a, __global const REAL *before, __global const REAL *after)
{
    __local REAL left[DEPTH][TILE];
    __local REAL right[DEPTH][TILE];
    const uint x = (uint)get_local_id(0);
    const uint y = (uint)get_local_id(1);
    const uint item = y * ITEMS + x;
    const size_t row = get_group_id(0) * TILE;
    const size_t column = get_group_id(1) * TILE;
    REAL sums[EACH][EACH];
#pragma unroll
    for (uint c = 0; c < EACH; ++c) {
#pragma unroll
        for (uint r = 0; r < EACH; ++r) {
            sums[c][r] = ZERO;
        }
    }
    for (uint from = 0; from < BLOCK; from += DEPTH) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = item; k < DEPTH * TILE; k += ITEMS * ITEMS) {
            left[k / TILE][k % TILE] = after[row + k % TILE + (from + k / TILE) * side];
            right[k / TILE][k % TILE] = before[column + k % TILE + (from + k / TILE) * side];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 4
        for (uint b = 0; b < DEPTH; ++b) {
            REAL l[EACH], r[EACH];
#pragma unroll
            for (uint k = 0; k < EACH; ++k) {
                l[k] = left[b][x + k * ITEMS];
                r[k] = right[b][y + k * ITEMS];
            }
#pragma unroll
            for (uint c = 0; c < EACH; ++c) {
#pragma unroll
                for (uint k = 0; k < EACH; ++k) {
                    sums[c][k] += l[k] * r[c];
                }
            }
        }
    }
#pragma unroll
    for (uint c = 0; c < EACH; ++c) {
#pragma unroll
        for (uint k = 0; k < EACH; ++k) {
            a[row + x + k * ITEMS + (column + y + c * ITEMS) * side] -= sums[c][k];
        }
    }
}
#endif
