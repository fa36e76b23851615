// Products with a dense column-major matrix; beta = 0 never reads y.
//
// Traffic, f64: 8 B per entry; x and y are small beside it.
//@ build
//@ build TILE=32
//@ build TILE=64 PAIRS=1
//@ build TILE=32 AT_ONCE=16
//@ build TILE=128 PAIRS=1 AT_ONCE=16
//@ build CPU=1
//@ build CPU=1 AHEAD=512
//@ build SCALAR_COMPLEX=1 TILE=32
//@ build SCALAR_COMPLEX=1 CONJUGATE=1
//@ build CPU=1 SCALAR_COMPLEX=1 CONJUGATE=1
//@ variant Dots DOTS=1
//@ build Dots TILE=32
//@ build Dots CPU=1 AHEAD=512
#include "common.clh"
#include "dots.clh"
#include "memory.clh"

// Of the products with the transpose: with CONJUGATE the conjugate transpose.
#ifdef CONJUGATE
#define entry_mul(a, x) scalar_mul_conj(a, x)
#else
#define entry_mul(a, x) scalar_mul(a, x)
#endif

#ifndef CPU
// Loads under way per item.
#ifndef AT_ONCE
#define AT_ONCE 8
#endif

#ifdef TILE
// y = alpha A x + beta y. A work-group has TILE rows; LOCAL / TILE items share a row's columns. Where the rows alone make
// too few groups, the columns are cut into `parts` of `chunk`, each with its groups, whose sums go to `cut`. The dot products
// are there where nothing is cut, else `join_parts` makes them.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mv_dense(ulong rows, ulong cols, ulong parts, ulong chunk, SCALAR alpha, __global const SCALAR *a,
         __global const SCALAR *x, SCALAR beta, __global SCALAR *cut, __global SCALAR *y DOTS_ARGUMENTS)
{
#ifdef DOTS
    __local SCALAR shared[2 * LOCAL];
    REAL2 dots = (REAL2)ZERO;
#else
    __local SCALAR shared[LOCAL];
#endif
    const uint item = (uint)get_local_id(0);
    const uint lane = item / TILE;
    const size_t i = get_group_id(0) * TILE + item % TILE;
    const size_t part = get_global_id(1);
    const size_t end = min((size_t)cols, (part + 1) * chunk);
    SCALAR sum = SCALAR_ZERO;
    if (i < rows) {
        __global const SCALAR *own = a + i;
        size_t j = part * chunk + lane;
        for (; j + (AT_ONCE - 1) * (LOCAL / TILE) < end; j += AT_ONCE * (LOCAL / TILE)) {
            SCALAR v[AT_ONCE];
#pragma unroll
            for (uint q = 0; q < AT_ONCE; ++q) {
                v[q] = own[(j + q * (LOCAL / TILE)) * rows];
            }
#pragma unroll
            for (uint q = 0; q < AT_ONCE; ++q) {
                sum += scalar_mul(v[q], x[j + q * (LOCAL / TILE)]);
            }
        }
        for (; j < end; j += LOCAL / TILE) {
            sum += scalar_mul(own[j * rows], x[j]);
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
#ifdef DOTS
            dots = finish_row(i, alpha, shared[item], beta, y, u, w);
#else
            y[i] = combine_product(alpha, shared[item], beta, y + i);
#endif
        } else {
            cut[part * rows + i] = shared[item];
        }
    }
#ifdef DOTS
    barrier(CLK_LOCAL_MEM_FENCE);
    LEAVE_GROUP_DOTS(shared, item, get_group_id(1) * get_num_groups(0) + get_group_id(0),
                     get_num_groups(0) * get_num_groups(1));
#endif
}
#endif

inline SCALAR row_of_parts(size_t i, ulong rows, ulong parts, __global const SCALAR *cut)
{
    SCALAR sum = SCALAR_ZERO;
    for (size_t part = 0; part < parts; ++part) {
        sum += cut[part * rows + i];
    }
    return sum;
}

#ifndef DOTS
// y = alpha (sum of the parts) + beta y.
__kernel void join_parts(ulong rows, ulong parts, SCALAR alpha, __global const SCALAR *cut, SCALAR beta,
                         __global SCALAR *y)
{
    const size_t i = get_global_id(0);
    if (i < rows) {
        y[i] = combine_product(alpha, row_of_parts(i, rows, parts, cut), beta, y + i);
    }
}
#else
// The same with dot products.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
join_parts(ulong rows, ulong parts, REAL alpha, __global const REAL *cut, REAL beta,
           __global REAL *y DOTS_ARGUMENTS)
{
    __local REAL shared[2 * LOCAL];
    const uint lane = (uint)get_local_id(0);
    const size_t i = get_global_id(0);
    REAL2 dots = (REAL2)ZERO;
    if (i < rows) {
        dots = finish_row(i, alpha, row_of_parts(i, rows, parts, cut), beta, y, u, w);
    }
    LEAVE_GROUP_DOTS(shared, lane, get_group_id(0), get_num_groups(0));
}
#endif

// Two values at once where every column begins at a multiple of two.
#ifdef PAIRS
typedef REAL2 VALUES;
#define VALUES_ZERO ((REAL2)ZERO)
#define VALUES_SUM(v) ((v).x + (v).y)
#define WIDE 2
#else
typedef SCALAR VALUES;
#define VALUES_ZERO SCALAR_ZERO
#define VALUES_SUM(v) (v)
#define WIDE 1
#endif

// y = alpha A' x + beta y: a work-group per column.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mv_dense_transposed(ulong rows, ulong cols, SCALAR alpha, __global const SCALAR *a, __global const SCALAR *x, SCALAR beta,
                    __global SCALAR *y)
{
    __local SCALAR shared[LOCAL];
    const uint item = (uint)get_local_id(0);
    const size_t column = get_group_id(0);
    const size_t count = rows / WIDE;
    __global const VALUES *own = (__global const VALUES *)(a + column * rows);
    __global const VALUES *from = (__global const VALUES *)x;
    VALUES sum = VALUES_ZERO;
    size_t i = item;
    for (; i + (AT_ONCE - 1) * LOCAL < count; i += AT_ONCE * LOCAL) {
        VALUES v[AT_ONCE];
#pragma unroll
        for (uint u = 0; u < AT_ONCE; ++u) {
            v[u] = own[i + u * LOCAL];
        }
#pragma unroll
        for (uint u = 0; u < AT_ONCE; ++u) {
            sum += entry_mul(v[u], from[i + u * LOCAL]);
        }
    }
    for (; i < count; i += LOCAL) {
        sum += entry_mul(own[i], from[i]);
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
#else
// A chunk of rows per item, four columns at a time, the sums kept in y, which stays in the cache.
__kernel void mv_dense(ulong rows, ulong cols, SCALAR alpha, __global const SCALAR *a, __global const SCALAR *x,
                       SCALAR beta, __global SCALAR *y DOTS_ARGUMENTS)
{
    const size_t begin = part_start(rows, get_global_id(0), get_global_size(0));
    const size_t end = part_start(rows, get_global_id(0) + 1, get_global_size(0));
    for (size_t i = begin; i < end; ++i) {
        y[i] = scalar_is_zero(beta) ? SCALAR_ZERO : scalar_mul(beta, ADDEND[i]);
    }
    size_t j = 0;
#ifndef SCALAR_COMPLEX
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
#endif
    for (; j < cols; ++j) {
        const SCALAR xj = scalar_mul(alpha, x[j]);
        for (size_t i = begin; i < end; ++i) {
            y[i] += scalar_mul(xj, a[j * rows + i]);
        }
    }
    START_DOTS(begin);
    LEAVE_DOTS(end);
}

inline REAL sum8(REAL8 v)
{
    return ((v.s0 + v.s1) + (v.s2 + v.s3)) + ((v.s4 + v.s5) + (v.s6 + v.s7));
}

// A chunk of columns per item, four at a time, so that x is read from the cache once for all four.
__kernel void mv_dense_transposed(ulong rows, ulong cols, SCALAR alpha, __global const SCALAR *a,
                                  __global const SCALAR *x, SCALAR beta, __global SCALAR *y)
{
    const size_t begin = part_start(cols, get_global_id(0), get_global_size(0));
    const size_t end = part_start(cols, get_global_id(0) + 1, get_global_size(0));
    size_t j = begin;
#ifndef SCALAR_COMPLEX
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
#endif
    for (; j < end; ++j) {
        __global const SCALAR *aj = a + j * rows;
        SCALAR sum = SCALAR_ZERO;
        size_t i = 0;
#ifndef SCALAR_COMPLEX
        REAL8 v = (REAL8)ZERO;
        for (; i + 8 <= rows; i += 8) {
            v += vload8(0, aj + i) * vload8(0, x + i);
        }
        sum = sum8(v);
#endif
        for (; i < rows; ++i) {
            sum += entry_mul(aj[i], x[i]);
        }
        y[j] = combine_product(alpha, sum, beta, y + j);
    }
}
#endif

// The diagonal of the leading square part of `n` rows.
__kernel void diagonal_dense(ulong n, ulong rows, __global const SCALAR *a, __global SCALAR *diagonal)
{
    const size_t i = get_global_id(0);
    if (i < n) {
        diagonal[i] = a[i * rows + i];
    }
}
