// Products with a dense column-major matrix; beta = 0 never reads y.
//
// Traffic, f64: 8 B per entry; x and y are small beside it.

// Loads under way per item.
#ifndef AT_ONCE
#define AT_ONCE 8
#endif

#ifdef TILE
// y = alpha A x + beta y. A work-group has TILE rows; LOCAL / TILE items share a row's columns. Where the rows alone make
// too few groups, the columns are cut into `parts` of `chunk`, each with its groups, whose sums go to `partial`.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mv_dense_gpu(ulong rows, ulong cols, ulong parts, ulong chunk, REAL alpha, __global const REAL *a,
             __global const REAL *x, REAL beta, __global REAL *partial, __global REAL *y)
{
    __local REAL shared[LOCAL];
    const uint item = (uint)get_local_id(0);
    const uint lane = item / TILE;
    const size_t i = get_group_id(0) * TILE + item % TILE;
    const size_t part = get_global_id(1);
    const size_t end = min((size_t)cols, (part + 1) * chunk);
    REAL sum = ZERO;
    if (i < rows) {
        __global const REAL *own = a + i;
        size_t j = part * chunk + lane;
        for (; j + (AT_ONCE - 1) * (LOCAL / TILE) < end; j += AT_ONCE * (LOCAL / TILE)) {
            REAL v[AT_ONCE];
#pragma unroll
            for (uint u = 0; u < AT_ONCE; ++u) {
                v[u] = own[(j + u * (LOCAL / TILE)) * rows];
            }
#pragma unroll
            for (uint u = 0; u < AT_ONCE; ++u) {
                sum += v[u] * x[j + u * (LOCAL / TILE)];
            }
        }
        for (; j < end; j += LOCAL / TILE) {
            sum += own[j * rows] * x[j];
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
        if (parts == 1) {
            y[i] = combine_product(alpha, shared[item], beta, y + i);
        } else {
            partial[part * rows + i] = shared[item];
        }
    }
}
#endif

// y = alpha (sum of the parts) + beta y.
__kernel void join_parts_gpu(ulong rows, ulong parts, REAL alpha, __global const REAL *partial, REAL beta,
                             __global REAL *y)
{
    const size_t i = get_global_id(0);
    if (i < rows) {
        REAL sum = ZERO;
        for (size_t part = 0; part < parts; ++part) {
            sum += partial[part * rows + i];
        }
        y[i] = combine_product(alpha, sum, beta, y + i);
    }
}

// Two values at once where every column begins at a multiple of two.
#ifdef PAIRS
typedef REAL2 VALUES;
#define VALUES_SUM(v) ((v).x + (v).y)
#define WIDE 2
#else
typedef REAL VALUES;
#define VALUES_SUM(v) (v)
#define WIDE 1
#endif

// y = alpha A' x + beta y: a work-group per column.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mv_dense_transposed_gpu(ulong rows, ulong cols, REAL alpha, __global const REAL *a, __global const REAL *x, REAL beta,
                        __global REAL *y)
{
    __local REAL shared[LOCAL];
    const uint item = (uint)get_local_id(0);
    const size_t column = get_group_id(0);
    const size_t count = rows / WIDE;
    __global const VALUES *own = (__global const VALUES *)(a + column * rows);
    __global const VALUES *from = (__global const VALUES *)x;
    VALUES sum = (VALUES)ZERO;
    size_t i = item;
    for (; i + (AT_ONCE - 1) * LOCAL < count; i += AT_ONCE * LOCAL) {
        VALUES v[AT_ONCE];
#pragma unroll
        for (uint u = 0; u < AT_ONCE; ++u) {
            v[u] = own[i + u * LOCAL];
        }
#pragma unroll
        for (uint u = 0; u < AT_ONCE; ++u) {
            sum += v[u] * from[i + u * LOCAL];
        }
    }
    for (; i < count; i += LOCAL) {
        sum += own[i] * from[i];
    }
    shared[item] = VALUES_SUM(sum);
    for (uint width = LOCAL / 2; width > 0; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < width) {
            shared[item] += shared[item + width];
        }
    }
    if (item == 0 && column < cols) {
        y[column] = combine_product(alpha, shared[0], beta, y + column);
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
        y[j] = combine_product(alpha, s0, beta, y + j);
        y[j + 1] = combine_product(alpha, s1, beta, y + j + 1);
        y[j + 2] = combine_product(alpha, s2, beta, y + j + 2);
        y[j + 3] = combine_product(alpha, s3, beta, y + j + 3);
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
        y[j] = combine_product(alpha, sum, beta, y + j);
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
