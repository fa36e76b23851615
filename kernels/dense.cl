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
            FETCH_AHEAD(a0 + i);
            FETCH_AHEAD(a1 + i);
            FETCH_AHEAD(a2 + i);
            FETCH_AHEAD(a3 + i);
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

inline REAL sum8(REAL8 v)
{
    return ((v.s0 + v.s1) + (v.s2 + v.s3)) + ((v.s4 + v.s5) + (v.s6 + v.s7));
}

// A chunk of columns per item, four at a time, so that x is read from the cache once for all four.
__kernel void mv_dense_transposed_cpu(ulong rows, ulong cols, REAL alpha, __global const REAL *a,
                                      __global const REAL *x, REAL beta, __global REAL *y)
{
    const size_t begin = part_start(cols, get_global_id(0), get_global_size(0));
    const size_t end = part_start(cols, get_global_id(0) + 1, get_global_size(0));
    size_t j = begin;
    for (; j + 4 <= end; j += 4) {
        __global const REAL *a0 = a + j * rows;
        __global const REAL *a1 = a0 + rows;
        __global const REAL *a2 = a1 + rows;
        __global const REAL *a3 = a2 + rows;
        REAL8 v0 = (REAL8)ZERO, v1 = v0, v2 = v0, v3 = v0;
        size_t i = 0;
        for (; i + 8 <= rows; i += 8) {
            const REAL8 xi = vload8(0, x + i);
            v0 += vload8(0, a0 + i) * xi;
            v1 += vload8(0, a1 + i) * xi;
            v2 += vload8(0, a2 + i) * xi;
            v3 += vload8(0, a3 + i) * xi;
        }
        REAL s0 = sum8(v0), s1 = sum8(v1), s2 = sum8(v2), s3 = sum8(v3);
        for (; i < rows; ++i) {
            s0 += a0[i] * x[i];
            s1 += a1[i] * x[i];
            s2 += a2[i] * x[i];
            s3 += a3[i] * x[i];
        }
        y[j] = combine(alpha, s0, beta, y + j);
        y[j + 1] = combine(alpha, s1, beta, y + j + 1);
        y[j + 2] = combine(alpha, s2, beta, y + j + 2);
        y[j + 3] = combine(alpha, s3, beta, y + j + 3);
    }
    for (; j < end; ++j) {
        __global const REAL *aj = a + j * rows;
        REAL8 v = (REAL8)ZERO;
        size_t i = 0;
        for (; i + 8 <= rows; i += 8) {
            v += vload8(0, aj + i) * vload8(0, x + i);
        }
        REAL sum = sum8(v);
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
