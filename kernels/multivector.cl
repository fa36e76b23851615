// Products with several right-hand sides at once: Y = alpha A X + beta Y, X and Y by columns. An item has a row of A and
// COLUMNS columns of X, so that the matrix is read once for as many; beta = 0 never reads Y.
//
// Traffic, f64: that of the matrix once per COLUMNS columns, 16 B per row and column for X and Y.
//@ build LANES=1
//@ build LANES=1 COLUMNS=8
//@ build CPU=1 LANES=1
//@ build LANES=2 UNROLL=4
//@ build LANES=4 UNROLL=2
//@ build LANES=32 UNROLL=2
//@ build PANEL=64 PER=1
//@ build PANEL=64 PER=2 COLUMNS=8
//@ build TENSOR=0 PANEL=64 ACROSS=2 PER=1 COLUMNS=8
//@ build TENSOR=80 PANEL=64 ACROSS=2 PER=2 COLUMNS=8
//@ build TENSOR=90 PANEL=64 ACROSS=2 PER=2 COLUMNS=8
//@ build TENSOR=90 PANEL=64 ACROSS=2 PER=2 COLUMNS=16
//@ build TENSOR=90 PANEL=64 ACROSS=4 PER=1 COLUMNS=16
//@ build DIAGONALS=17
//@ build POINTS=27
//@ build POINTS=5 CONSTANT=1
//@ build SCALAR_COMPLEX=1 LANES=2 UNROLL=4
#include "common.clh"
#include "scalar.clh"
#include "tensor.clh"

#ifndef COLUMNS
#define COLUMNS 4
#endif

// Where the columns from `first` on begin; the last one stands for those past the end.
#define COLUMN_STARTS(at, length)                                      \
    size_t at[COLUMNS];                                                \
    for (uint q = 0; q < COLUMNS; ++q) {                               \
        at[q] = min(first + q, (size_t)columns - 1) * (length);        \
    }

#define STORE_SUMS(sum, i)                                             \
    for (uint q = 0; q < COLUMNS; ++q) {                               \
        if (first + q < columns) {                                     \
            __global SCALAR *out = y + (first + q) * rows + (i);         \
            *out = combine_product(alpha, sum[q], beta, out);                  \
        }                                                              \
    }

// Entries that an item has under way.
#ifndef UNROLL
#define UNROLL 1
#endif

#ifdef LANES

// UNROLL entries of an item of a row, from k on, all under way before the first is used.
inline void load_entries(ulong k, __global const uint *column, __global const SCALAR *value, uint *j, SCALAR *v)
{
#pragma unroll
    for (uint u = 0; u < UNROLL; ++u) {
        j[u] = column[k + u * LANES];
        v[u] = value[k + u * LANES];
    }
}

// Compressed rows; LANES neighbouring items per row.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mm_csr(ulong rows, ulong cols, ulong columns, SCALAR alpha, __global const uint *offset, __global const uint *column,
       __global const SCALAR *value, __global const SCALAR *x, SCALAR beta, __global SCALAR *y)
{
    const uint item = (uint)get_local_id(0);
    const uint lane = item % LANES;
    const size_t i = get_global_id(0) / LANES;
    const size_t first = get_global_id(1) * COLUMNS;
    COLUMN_STARTS(at, cols)
    SCALAR sum[COLUMNS] = {SCALAR_ZERO};
    if (i < rows) {
        const uint end = offset[i + 1];
        // 64 bit: lanes past the end of the last row must not wrap around.
        ulong k = (ulong)offset[i] + lane;
        for (; k + (UNROLL - 1) * LANES < end; k += UNROLL * LANES) {
            SCALAR v[UNROLL];
            uint j[UNROLL];
            load_entries(k, column, value, j, v);
#pragma unroll
            for (uint u = 0; u < UNROLL; ++u) {
#pragma unroll
                for (uint q = 0; q < COLUMNS; ++q) {
                    sum[q] += scalar_mul(v[u], x[at[q] + j[u]]);
                }
            }
        }
        for (; k < end; k += LANES) {
            const SCALAR v = value[k];
            const size_t j = column[k];
#pragma unroll
            for (uint q = 0; q < COLUMNS; ++q) {
                sum[q] += scalar_mul(v, x[at[q] + j]);
            }
        }
    }
#if LANES > 1
    __local SCALAR shared[COLUMNS * LOCAL];
    for (uint q = 0; q < COLUMNS; ++q) {
        shared[q * LOCAL + item] = sum[q];
    }
    for (uint width = LANES / 2; width > 0; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < width) {
            for (uint q = 0; q < COLUMNS; ++q) {
                shared[q * LOCAL + item] += shared[q * LOCAL + item + width];
            }
        }
    }
    for (uint q = 0; q < COLUMNS; ++q) {
        sum[q] = shared[q * LOCAL + item];
    }
#endif
    if (lane == 0 && i < rows) {
        STORE_SUMS(sum, i)
    }
}

#endif

#ifndef SCALAR_COMPLEX
// Right-hand sides that stand side by side.
#define SIDE_BY_SIDE 4

// Puts the columns of X from `first` on side by side, so that a gathered line of memory has those of a row; the last column stands for
// those past the end.
__kernel void interleave_columns(ulong rows, ulong first, ulong columns, __global const REAL *x, __global REAL *to)
{
    const size_t i = get_global_id(0);
    if (i < rows) {
        REAL own[SIDE_BY_SIDE];
#pragma unroll
        for (uint q = 0; q < SIDE_BY_SIDE; ++q) {
            own[q] = x[min(first + q, columns - 1) * rows + i];
        }
        ((__global REAL4 *)to)[i] = (REAL4)(own[0], own[1], own[2], own[3]);
    }
}

#if defined(LANES) && !defined(CPU)
// Compressed rows with the columns of X side by side; LANES neighbouring items per row, each of which writes some columns of Y, of
// which `first` is the first.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mm_csr_interleaved(ulong rows, ulong first, ulong columns, REAL alpha, __global const uint *offset,
                   __global const uint *column, __global const REAL *value, __global const REAL *x, REAL beta,
                   __global REAL *y)
{
    __local REAL shared[SIDE_BY_SIDE * LOCAL] __attribute__((aligned(32)));
    __local REAL4 *sums = (__local REAL4 *)shared;
    const uint item = (uint)get_local_id(0);
    const uint lane = item % LANES;
    const size_t i = get_global_id(0) / LANES;
    __global const REAL4 *from = (__global const REAL4 *)x;
    REAL4 sum = (REAL4)ZERO;
    if (i < rows) {
        const uint end = offset[i + 1];
        // 64 bit: lanes past the end of the last row must not wrap around.
        ulong k = (ulong)offset[i] + lane;
        for (; k + (UNROLL - 1) * LANES < end; k += UNROLL * LANES) {
            REAL v[UNROLL];
            uint j[UNROLL];
            load_entries(k, column, value, j, v);
#pragma unroll
            for (uint u = 0; u < UNROLL; ++u) {
                sum += v[u] * from[j[u]];
            }
        }
        for (; k < end; k += LANES) {
            sum += value[k] * from[column[k]];
        }
    }
    sums[item] = sum;
    for (uint width = LANES / 2; width > 0; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < width) {
            sums[item] += sums[item + width];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint q = lane; q < SIDE_BY_SIDE && first + q < columns && i < rows; q += LANES) {
        __global REAL *out = y + (first + q) * rows + i;
        *out = combine_product(alpha, shared[SIDE_BY_SIDE * (item - lane) + q], beta, out);
    }
}
#endif
#endif

#ifndef PANEL
// Dense, by columns, a row per item: on a CPU, and on a GPU for complex numbers.
__kernel void mm_dense(ulong rows, ulong cols, ulong columns, SCALAR alpha, __global const SCALAR *a,
                       __global const SCALAR *x, SCALAR beta, __global SCALAR *y)
{
    const size_t i = get_global_id(0);
    const size_t first = get_global_id(1) * COLUMNS;
    COLUMN_STARTS(at, cols)
    if (i < rows) {
        SCALAR sum[COLUMNS] = {SCALAR_ZERO};
        for (size_t j = 0; j < cols; ++j) {
            const SCALAR v = a[j * rows + i];
            for (uint q = 0; q < COLUMNS; ++q) {
                sum[q] += scalar_mul(v, x[at[q] + j]);
            }
        }
        STORE_SUMS(sum, i)
    }
}
#elif !defined(TENSOR)
// Rows of an item, so many apart.
#define TILE 32
// Columns of A of an item in a panel.
#define DEPTH (PANEL * TILE / LOCAL)

// Dense, by columns, a panel of PANEL columns of A after the other: LOCAL / TILE items share a row, an item has PER of them.
// The part of X that belongs to a panel is in local memory, the numbers of a column of A side by side; PANEL <= LOCAL.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mm_dense(ulong rows, ulong cols, ulong columns, SCALAR alpha, __global const SCALAR *a, __global const SCALAR *x, SCALAR beta,
         __global SCALAR *y)
{
    // First the panel's part of X, read in pairs, which is at most as long; at the end sums.
    __local REAL shared[COLUMNS * LOCAL] __attribute__((aligned(16)));
    const uint item = (uint)get_local_id(0);
    const uint lane = item / TILE;
    const size_t own = get_group_id(0) * (TILE * PER) + item % TILE;
    const size_t first = get_global_id(1) * COLUMNS;
    COLUMN_STARTS(at, cols)
    size_t row[PER];
    REAL sum[PER][COLUMNS];
#pragma unroll
    for (uint t = 0; t < PER; ++t) {
        row[t] = min(own + t * TILE, (size_t)rows - 1);
#pragma unroll
        for (uint q = 0; q < COLUMNS; ++q) {
            sum[t][q] = ZERO;
        }
    }
    for (size_t from = 0; from < cols; from += PANEL) {
        const uint most = (uint)min((size_t)PANEL, (size_t)cols - from) - 1;
        // All loads under way before the first product; past the end they meet zeros, of a row that is all there.
        REAL v[DEPTH][PER];
#pragma unroll
        for (uint u = 0; u < DEPTH; ++u) {
            const uint j = u * (LOCAL / TILE) + lane;
#pragma unroll
            for (uint t = 0; t < PER; ++t) {
                v[u][t] = j <= most ? a[(from + j) * rows + row[t]] : ZERO;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = item; k < COLUMNS * PANEL; k += LOCAL) {
            const uint j = k % PANEL;
            shared[j * COLUMNS + k / PANEL] = j <= most ? x[at[k / PANEL] + from + j] : ZERO;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (uint u = 0; u < DEPTH; ++u) {
            __local const REAL2 *pair = (__local const REAL2 *)(shared + (u * (LOCAL / TILE) + lane) * COLUMNS);
#pragma unroll
            for (uint q = 0; q < COLUMNS / 2; ++q) {
                const REAL2 w = pair[q];
#pragma unroll
                for (uint t = 0; t < PER; ++t) {
                    sum[t][2 * q] += v[u][t] * w.s0;
                    sum[t][2 * q + 1] += v[u][t] * w.s1;
                }
            }
        }
    }
#pragma unroll
    for (uint t = 0; t < PER; ++t) {
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (uint q = 0; q < COLUMNS; ++q) {
            shared[q * LOCAL + item] = sum[t][q];
        }
        for (uint width = LOCAL / 2; width >= TILE; width /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            if (item < width) {
                for (uint q = 0; q < COLUMNS; ++q) {
                    shared[q * LOCAL + item] += shared[q * LOCAL + item + width];
                }
            }
        }
#pragma unroll
        for (uint q = 0; q < COLUMNS; ++q) {
            sum[t][q] = shared[q * LOCAL + item];
        }
        const size_t i = own + t * TILE;
        if (lane == 0 && i < rows) {
            STORE_SUMS(sum[t], i)
        }
    }
}
#elif REAL_BITS == 64
// The product of small matrices of tensor.clh, 16 x 4 and 4 x 8, where every item of a work-group comes.
#if TENSOR >= 80
#define MMA_SPACE
#define MULTIPLY_TILE(d, a, b) mma_16x8x4(&(d), a, b)
#else
// By local memory.
#define MMA_SPACE __local double mma_a[2 * LOCAL], mma_b[LOCAL];
#define MULTIPLY_TILE(d, a, b)                                                                                         \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                                      \
    mma_a[64 * warp + lane] = (a).s0;                                                                                  \
    mma_a[64 * warp + 32 + lane] = (a).s1;                                                                             \
    mma_b[32 * warp + lane] = (b);                                                                                     \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                                      \
    multiply_shared(&(d), mma_a + 64 * warp, mma_b + 32 * warp, lane)
inline void multiply_shared(double4 *d, __local const double *a, __local const double *b, uint lane)
{
    const uint row = lane / 4 * 4, column = lane % 4 * 8;
    for (uint k = 0; k < 4; ++k) {
        const double2 of_b = (double2)(b[column + k], b[column + 4 + k]);
        *d += (double4)(a[row + k] * of_b, a[32 + row + k] * of_b);
    }
}
#endif

// Warps that share their rows, each with other columns of A, and rows of a work-group.
#define SHARING (LOCAL / 32 / ACROSS)
#define GROUP_ROWS (16 * PER * ACROSS)
// Columns of A that all of these take in a step, 16 each, and steps that a warp has under way.
#define STEP (16 * SHARING)
#define STEPS (PANEL / STEP)

// Dense, by columns, on tensor cores; rows and columns of A even. ACROSS warps of a work-group lie side by side, each with
// PER tiles of 16 rows; the others share these rows. A goes from memory to the items that multiply it, once per COLUMNS
// right-hand sides, each a multiple of 8; X is small, and in the caches. The rows of a tile are taken in an order in which an
// item has two neighbours, the columns of a step in one in which it has four of X.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mm_dense(ulong rows, ulong cols, ulong columns, SCALAR alpha, __global const SCALAR *a, __global const SCALAR *x, SCALAR beta,
         __global SCALAR *y)
{
    MMA_SPACE
    __local double shared[GROUP_ROWS * COLUMNS] __attribute__((aligned(16)));
    const uint item = (uint)get_local_id(0);
    const uint lane = item % 32, warp = item / 32;
    const uint part = warp / ACROSS, left = warp % ACROSS * (16 * PER);
    const size_t above = get_group_id(0) * GROUP_ROWS;
    const size_t first = get_global_id(1) * COLUMNS;
    // The item's four columns of a step; the last column of X stands for those past the end.
    const size_t j = 16 * part + lane % 4 * 4;
    __global const double *own[PER], *of_x[COLUMNS / 8];
    double4 sum[PER][COLUMNS / 8];
#pragma unroll
    for (uint r = 0; r < PER; ++r) {
        own[r] = a + j * rows + min(above + left + 16 * r + lane / 4 * 2, (size_t)rows - 2);
    }
#pragma unroll
    for (uint q = 0; q < COLUMNS / 8; ++q) {
        of_x[q] = x + j + min(first + 8 * q + lane / 4, (size_t)columns - 1) * cols;
#pragma unroll
        for (uint r = 0; r < PER; ++r) {
            sum[r][q] = (double4)0.0;
        }
    }
    const size_t whole = cols / PANEL * PANEL;
    for (size_t from = 0; from < whole; from += PANEL) {
        double2 v[STEPS][4][PER];
        double w[STEPS][COLUMNS / 8][4];
#pragma unroll
        for (uint e = 0; e < STEPS; ++e) {
#pragma unroll
            for (uint s = 0; s < 4; ++s) {
#pragma unroll
                for (uint r = 0; r < PER; ++r) {
                    v[e][s][r] = *(__global const double2 *)(own[r] + (from + STEP * e + s) * rows);
                }
            }
#pragma unroll
            for (uint q = 0; q < COLUMNS / 8; ++q) {
                const double2 upper = *(__global const double2 *)(of_x[q] + from + STEP * e);
                const double2 lower = *(__global const double2 *)(of_x[q] + from + STEP * e + 2);
                w[e][q][0] = upper.s0;
                w[e][q][1] = upper.s1;
                w[e][q][2] = lower.s0;
                w[e][q][3] = lower.s1;
            }
        }
#pragma unroll
        for (uint e = 0; e < STEPS; ++e) {
#pragma unroll
            for (uint s = 0; s < 4; ++s) {
#pragma unroll
                for (uint r = 0; r < PER; ++r) {
#pragma unroll
                    for (uint q = 0; q < COLUMNS / 8; ++q) {
                        MULTIPLY_TILE(sum[r][q], v[e][s][r], w[e][q][s]);
                    }
                }
            }
        }
    }
    // What is left, with zeros past the end.
    for (size_t from = whole; from < cols; from += PANEL) {
        double2 v[STEPS][4][PER];
        double w[STEPS][COLUMNS / 8][4];
#pragma unroll
        for (uint e = 0; e < STEPS; ++e) {
#pragma unroll
            for (uint s = 0; s < 4; ++s) {
                const bool there = from + STEP * e + j + s < cols;
#pragma unroll
                for (uint r = 0; r < PER; ++r) {
                    v[e][s][r] = there ? *(__global const double2 *)(own[r] + (from + STEP * e + s) * rows) : (double2)0.0;
                }
#pragma unroll
                for (uint q = 0; q < COLUMNS / 8; ++q) {
                    w[e][q][s] = there ? of_x[q][from + STEP * e + s] : 0.0;
                }
            }
        }
#pragma unroll
        for (uint e = 0; e < STEPS; ++e) {
#pragma unroll
            for (uint s = 0; s < 4; ++s) {
#pragma unroll
                for (uint r = 0; r < PER; ++r) {
#pragma unroll
                    for (uint q = 0; q < COLUMNS / 8; ++q) {
                        MULTIPLY_TILE(sum[r][q], v[e][s][r], w[e][q][s]);
                    }
                }
            }
        }
    }
    // The warps that share rows add their sums one after the other.
    for (uint turn = 0; turn < SHARING; ++turn) {
        if (part == turn) {
#pragma unroll
            for (uint r = 0; r < PER; ++r) {
#pragma unroll
                for (uint q = 0; q < COLUMNS / 8; ++q) {
                    __local double2 *at = (__local double2 *)(shared + (8 * q + lane % 4 * 2) * GROUP_ROWS + left + 16 * r + lane / 4 * 2);
                    const double2 even = (double2)(sum[r][q].s0, sum[r][q].s2);
                    const double2 odd = (double2)(sum[r][q].s1, sum[r][q].s3);
                    at[0] = turn > 0 ? at[0] + even : even;
                    at[GROUP_ROWS / 2] = turn > 0 ? at[GROUP_ROWS / 2] + odd : odd;
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint k = item; k < GROUP_ROWS * COLUMNS; k += LOCAL) {
        const size_t i = above + k % GROUP_ROWS, q = first + k / GROUP_ROWS;
        if (i < rows && q < columns) {
            y[q * rows + i] = combine_product(alpha, shared[k], beta, y + q * rows + i);
        }
    }
}
#endif

#ifdef POINTS

// As in stencil.cl: rows that are read from the compressed rows.
#ifdef CONSTANT
#define OTHER 0xC0000000u
#else
#define OTHER 0x80000000u
#endif
#define BLOCK 64

// Matrices with a pattern of rows, as in stencil.cl, on a GPU: with the values by diagonals, or with CONSTANT the coefficients.
__kernel void mm_dia(ulong rows, ulong cols, ulong columns, __global const uchar *full,
                         __global const uint *mask, __constant int *delta, __global const REAL *diagonal, REAL alpha,
                         __global const uint *offset, __global const uint *column, __global const REAL *value,
                         __global const REAL *x, REAL beta, __global REAL *y)
{
    const size_t i = get_global_id(0);
    const size_t first = get_global_id(1) * COLUMNS;
    COLUMN_STARTS(at, cols)
    if (i < rows) {
        REAL sum[COLUMNS] = {ZERO};
        const uint present = full[i / BLOCK] ? (1u << POINTS) - 1 : mask[i];
        if (present & OTHER) {
            for (uint k = offset[i]; k < offset[i + 1]; ++k) {
                for (uint q = 0; q < COLUMNS; ++q) {
                    sum[q] += value[k] * x[at[q] + column[k]];
                }
            }
        } else {
#ifdef CONSTANT
            __global const REAL *own = diagonal;
#define STEP 1
#else
            __global const REAL *own = diagonal + i / BLOCK * BLOCK * POINTS + i % BLOCK;
#define STEP BLOCK
#endif
#pragma unroll
            for (uint j = 0; j < POINTS; ++j) {
                if (present >> j & 1) {
                    const REAL v = own[j * STEP];
#pragma unroll
                    for (uint q = 0; q < COLUMNS; ++q) {
                        sum[q] += v * (x + at[q] + i)[delta[j]];
                    }
                }
            }
        }
        STORE_SUMS(sum, i)
    }
}

#endif

// Band, by diagonals as in band.cl.
__kernel void mm_band(ulong rows, ulong cols, ulong columns, ulong kl, ulong width, SCALAR alpha,
                      __global const SCALAR *band, __global const SCALAR *x, SCALAR beta, __global SCALAR *y)
{
    const size_t i = get_global_id(0);
    const size_t first = get_global_id(1) * COLUMNS;
    COLUMN_STARTS(at, cols)
    if (i < rows) {
        // Only diagonals whose column i - kl + d lies in 0..cols; signed as in band.cl.
        const long shift = (long)i - (long)kl;
        SCALAR sum[COLUMNS] = {SCALAR_ZERO};
#ifdef DIAGONALS
        if (shift >= 0 && shift + DIAGONALS <= (long)cols) {
#pragma unroll
            for (uint d = 0; d < DIAGONALS; ++d) {
                const SCALAR v = band[(size_t)d * rows + i];
#pragma unroll
                for (uint q = 0; q < COLUMNS; ++q) {
                    sum[q] += scalar_mul(v, x[at[q] + (size_t)shift + d]);
                }
            }
            STORE_SUMS(sum, i)
            return;
        }
#endif
        const long last = min((long)width, (long)cols - shift);
        for (long d = max(0L, -shift); d < last; ++d) {
            const SCALAR v = band[(size_t)d * rows + i];
            for (uint q = 0; q < COLUMNS; ++q) {
                sum[q] += scalar_mul(v, x[at[q] + (size_t)(d + shift)]);
            }
        }
        STORE_SUMS(sum, i)
    }
}
