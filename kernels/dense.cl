// Products with a dense column-major matrix; beta = 0 never reads y.
//
// Traffic, f64: 8 B per entry; x and y are small beside it.

inline REAL combine(REAL alpha, REAL sum, REAL beta, __global const REAL *y)
{
    return beta == ZERO ? alpha * sum : alpha * sum + beta * *y;
}

// Rows of the matrix that one work-group takes; LOCAL / TILE items share a row's columns.
#define TILE 32

// y = alpha A x + beta y.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mv_dense_gpu(ulong rows, ulong cols, REAL alpha, __global const REAL *a, __global const REAL *x, REAL beta,
             __global REAL *y)
{
    __local REAL shared[LOCAL];
    const uint item = (uint)get_local_id(0);
    const size_t i = get_group_id(0) * TILE + item % TILE;
    REAL sum = ZERO;
    if (i < rows) {
        for (size_t j = item / TILE; j < cols; j += LOCAL / TILE) {
            sum += a[j * rows + i] * x[j];
        }
    }
    shared[item] = sum;
    for (uint width = LOCAL / 2; width >= TILE; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < width) {
            shared[item] += shared[item + width];
        }
    }
    if (item < TILE && i < rows) {
        y[i] = combine(alpha, shared[item], beta, y + i);
    }
}

// y = alpha A' x + beta y: a work-group per column.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mv_dense_transposed_gpu(ulong rows, ulong cols, REAL alpha, __global const REAL *a, __global const REAL *x, REAL beta,
                        __global REAL *y)
{
    __local REAL shared[LOCAL];
    const uint item = (uint)get_local_id(0);
    const size_t j = get_group_id(0);
    REAL sum = ZERO;
    for (size_t i = item; i < rows; i += LOCAL) {
        sum += a[j * rows + i] * x[i];
    }
    shared[item] = sum;
    for (uint width = LOCAL / 2; width > 0; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < width) {
            shared[item] += shared[item + width];
        }
    }
    if (item == 0 && j < cols) {
        y[j] = combine(alpha, shared[0], beta, y + j);
    }
}

// A chunk of rows per item, four columns at a time, the sums kept in y, which stays in the cache.
__kernel void mv_dense_cpu(ulong rows, ulong cols, REAL alpha, __global const REAL *a, __global const REAL *x,
                           REAL beta, __global REAL *y)
{
    const size_t begin = part_start(rows, get_global_id(0), get_global_size(0));
    const size_t end = part_start(rows, get_global_id(0) + 1, get_global_size(0));
    for (size_t i = begin; i < end; ++i) {
        y[i] = beta == ZERO ? ZERO : beta * y[i];
    }
    size_t j = 0;
    for (; j + 4 <= cols; j += 4) {
        __global const REAL *a0 = a + j * rows;
        __global const REAL *a1 = a0 + rows;
        __global const REAL *a2 = a1 + rows;
        __global const REAL *a3 = a2 + rows;
        const REAL x0 = alpha * x[j];
        const REAL x1 = alpha * x[j + 1];
        const REAL x2 = alpha * x[j + 2];
        const REAL x3 = alpha * x[j + 3];
        size_t i = begin;
        for (; i + 8 <= end; i += 8) {
            vstore8(vload8(0, y + i) + x0 * vload8(0, a0 + i) + x1 * vload8(0, a1 + i) + x2 * vload8(0, a2 + i) +
                        x3 * vload8(0, a3 + i),
                    0, y + i);
        }
        for (; i < end; ++i) {
            y[i] += x0 * a0[i] + x1 * a1[i] + x2 * a2[i] + x3 * a3[i];
        }
    }
    for (; j < cols; ++j) {
        const REAL xj = alpha * x[j];
        for (size_t i = begin; i < end; ++i) {
            y[i] += xj * a[j * rows + i];
        }
    }
}

// A chunk of columns per item.
__kernel void mv_dense_transposed_cpu(ulong rows, ulong cols, REAL alpha, __global const REAL *a,
                                      __global const REAL *x, REAL beta, __global REAL *y)
{
    const size_t begin = part_start(cols, get_global_id(0), get_global_size(0));
    const size_t end = part_start(cols, get_global_id(0) + 1, get_global_size(0));
    for (size_t j = begin; j < end; ++j) {
        __global const REAL *aj = a + j * rows;
        REAL8 v0 = (REAL8)ZERO, v1 = v0, v2 = v0, v3 = v0;
        size_t i = 0;
        for (; i + 32 <= rows; i += 32) {
            v0 += vload8(0, aj + i) * vload8(0, x + i);
            v1 += vload8(1, aj + i) * vload8(1, x + i);
            v2 += vload8(2, aj + i) * vload8(2, x + i);
            v3 += vload8(3, aj + i) * vload8(3, x + i);
        }
        v0 = (v0 + v1) + (v2 + v3);
        REAL sum = ((v0.s0 + v0.s1) + (v0.s2 + v0.s3)) + ((v0.s4 + v0.s5) + (v0.s6 + v0.s7));
        for (; i < rows; ++i) {
            sum += aj[i] * x[i];
        }
        y[j] = combine(alpha, sum, beta, y + j);
    }
}

// The diagonal of the leading square part of `n` rows.
__kernel void diagonal_dense(ulong n, ulong rows, __global const REAL *a, __global REAL *diagonal)
{
    const size_t i = get_global_id(0);
    if (i < n) {
        diagonal[i] = a[i * rows + i];
    }
}
