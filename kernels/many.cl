// Products with several right-hand sides at once: Y = alpha A X + beta Y, X and Y by columns. An item has a row of A and
// COLUMNS columns of X, so that the matrix is read once for as many; beta = 0 never reads Y.
//
// Traffic, f64: that of the matrix once per COLUMNS columns, 16 B per row and column for X and Y.

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
            __global REAL *out = y + (first + q) * rows + (i);         \
            *out = combine_product(alpha, sum[q], beta, out);                  \
        }                                                              \
    }

// Entries that an item has under way.
#ifndef UNROLL
#define UNROLL 1
#endif

#ifdef LANES

// Compressed rows; LANES neighbouring items per row.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mm_csr(ulong rows, ulong cols, ulong columns, REAL alpha, __global const uint *offset, __global const uint *column,
       __global const REAL *value, __global const REAL *x, REAL beta, __global REAL *y)
{
    const uint item = (uint)get_local_id(0);
    const uint lane = item % LANES;
    const size_t i = get_global_id(0) / LANES;
    const size_t first = get_global_id(1) * COLUMNS;
    COLUMN_STARTS(at, cols)
    REAL sum[COLUMNS] = {ZERO};
    if (i < rows) {
        const uint end = offset[i + 1];
        // 64 bit: lanes past the end of the last row must not wrap around.
        ulong k = (ulong)offset[i] + lane;
        for (; k + (UNROLL - 1) * LANES < end; k += UNROLL * LANES) {
            REAL v[UNROLL];
            uint j[UNROLL];
#pragma unroll
            for (uint u = 0; u < UNROLL; ++u) {
                j[u] = column[k + u * LANES];
                v[u] = value[k + u * LANES];
            }
#pragma unroll
            for (uint u = 0; u < UNROLL; ++u) {
#pragma unroll
                for (uint q = 0; q < COLUMNS; ++q) {
                    sum[q] += v[u] * x[at[q] + j[u]];
                }
            }
        }
        for (; k < end; k += LANES) {
            const REAL v = value[k];
            const size_t j = column[k];
#pragma unroll
            for (uint q = 0; q < COLUMNS; ++q) {
                sum[q] += v * x[at[q] + j];
            }
        }
    }
#if LANES > 1
    __local REAL shared[COLUMNS * LOCAL];
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

// Dense, by columns, a row per item.
__kernel void mm_dense_cpu(ulong rows, ulong cols, ulong columns, REAL alpha, __global const REAL *a,
                           __global const REAL *x, REAL beta, __global REAL *y)
{
    const size_t i = get_global_id(0);
    const size_t first = get_global_id(1) * COLUMNS;
    COLUMN_STARTS(at, cols)
    if (i < rows) {
        REAL sum[COLUMNS] = {ZERO};
        for (size_t j = 0; j < cols; ++j) {
            const REAL v = a[j * rows + i];
            for (uint q = 0; q < COLUMNS; ++q) {
                sum[q] += v * x[at[q] + j];
            }
        }
        STORE_SUMS(sum, i)
    }
}

#ifdef PANEL

// Rows of an item, so many apart.
#define TILE 32
// Columns of A of an item in a panel.
#define DEPTH (PANEL * TILE / LOCAL)

// Dense, by columns, a panel of PANEL columns of A after the other: LOCAL / TILE items share a row, an item has PER of them.
// The part of X that belongs to a panel is in local memory, the numbers of a column of A side by side; PANEL <= LOCAL.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mm_dense_gpu(ulong rows, ulong cols, ulong columns, REAL alpha, __global const REAL *a, __global const REAL *x, REAL beta,
             __global REAL *y)
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

#endif

#ifdef POINTS

// As in stencil.cl: rows that are read from the compressed rows.
#ifdef CONSTANT
#define OTHER 0xC0000000u
#else
#define OTHER 0x80000000u
#endif
#define BLOCK 64

// Matrices with a pattern of rows, as in stencil.cl, on a GPU: with the values in slots, or with CONSTANT the coefficients.
__kernel void mm_pattern_gpu(ulong rows, ulong cols, ulong columns, __global const uchar *full,
                             __global const uint *mask, __constant int *delta, __global const REAL *slot, REAL alpha,
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
            __global const REAL *own = slot;
#define STEP 1
#else
            __global const REAL *own = slot + i / BLOCK * BLOCK * POINTS + i % BLOCK;
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
__kernel void mm_band(ulong rows, ulong cols, ulong columns, ulong kl, ulong width, REAL alpha,
                      __global const REAL *band, __global const REAL *x, REAL beta, __global REAL *y)
{
    const size_t i = get_global_id(0);
    const size_t first = get_global_id(1) * COLUMNS;
    COLUMN_STARTS(at, cols)
    if (i < rows) {
        // Only diagonals whose column i - kl + d lies in 0..cols; signed as in band.cl.
        const long shift = (long)i - (long)kl;
        REAL sum[COLUMNS] = {ZERO};
#ifdef DIAGONALS
        if (shift >= 0 && shift + DIAGONALS <= (long)cols) {
#pragma unroll
            for (uint d = 0; d < DIAGONALS; ++d) {
                const REAL v = band[(size_t)d * rows + i];
#pragma unroll
                for (uint q = 0; q < COLUMNS; ++q) {
                    sum[q] += v * x[at[q] + (size_t)shift + d];
                }
            }
            STORE_SUMS(sum, i)
            return;
        }
#endif
        const long last = min((long)width, (long)cols - shift);
        for (long d = max(0L, -shift); d < last; ++d) {
            const REAL v = band[(size_t)d * rows + i];
            for (uint q = 0; q < COLUMNS; ++q) {
                sum[q] += v * x[at[q] + (size_t)(d + shift)];
            }
        }
        STORE_SUMS(sum, i)
    }
}
