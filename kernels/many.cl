// Products with several right-hand sides at once: Y = alpha A X + beta Y, X and Y by columns. An item has a row of A and
// COLUMNS columns of X, so that the matrix is read once for as many; beta = 0 never reads Y.
//
// Traffic, f64: that of the matrix once per COLUMNS columns, 16 B per row and column for X and Y.

#define COLUMNS 4

inline REAL combine(REAL alpha, REAL sum, REAL beta, __global const REAL *y)
{
    return beta == ZERO ? alpha * sum : alpha * sum + beta * *y;
}

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
            *out = combine(alpha, sum[q], beta, out);                  \
        }                                                              \
    }

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
        for (ulong k = (ulong)offset[i] + lane; k < end; k += LANES) {
            const REAL v = value[k];
            const size_t j = column[k];
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

// Dense, by columns; LANES items share a row, LOCAL / LANES neighbouring items have a row each.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mm_dense(ulong rows, ulong cols, ulong columns, REAL alpha, __global const REAL *a, __global const REAL *x, REAL beta,
         __global REAL *y)
{
    const uint item = (uint)get_local_id(0);
    const uint lane = item / (LOCAL / LANES);
    const size_t i = get_group_id(0) * (LOCAL / LANES) + item % (LOCAL / LANES);
    const size_t first = get_global_id(1) * COLUMNS;
    COLUMN_STARTS(at, cols)
    REAL sum[COLUMNS] = {ZERO};
    if (i < rows) {
        for (size_t j = lane; j < cols; j += LANES) {
            const REAL v = a[j * rows + i];
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
    for (uint width = LOCAL / 2; width >= LOCAL / LANES; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < width) {
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
        const long last = min((long)width, (long)cols - shift);
        REAL sum[COLUMNS] = {ZERO};
        for (long d = max(0L, -shift); d < last; ++d) {
            const REAL v = band[(size_t)d * rows + i];
            for (uint q = 0; q < COLUMNS; ++q) {
                sum[q] += v * x[at[q] + (size_t)(d + shift)];
            }
        }
        STORE_SUMS(sum, i)
    }
}
