// Products of blocks of vectors, matrices of n rows and few columns, each column after the other.
//
// Traffic, f64, with blocks of p and q columns in the cache's reach: gram 8 (p + q) B, combine 8 (p + 2 q) B per row.
//@ build
//@ build CPU=1
//@ build SCALAR_COMPLEX=1
//@ build SCALAR_COMPLEX=1 CPU=1
#include "common.clh"
#include "scalar.clh"

// Columns of each block whose products one item, or one group, sums at a time.
#define TILE 4

// Complex numbers are loaded one by one.
#if defined(CPU) && !defined(SCALAR_COMPLEX)
#define ROWS REAL8
#define LOAD_ROWS(x, r) vload8(0, (x) + (r))
#define STORE_ROWS(v, y, r) vstore8(v, 0, (y) + (r))
#define SUM_ROWS(v) sum_lanes(v)
#define WIDTH 8
#else
#define ROWS SCALAR
#define LOAD_ROWS(x, r) ((x)[r])
#define STORE_ROWS(v, y, r) ((y)[r] = (v))
#define SUM_ROWS(v) (v)
#define WIDTH 1
#endif

#ifdef CPU
// Rows of a block that are worked on together.
#define BLOCK 256
#define ITEMS 1
#else
#define ITEMS LOCAL
#endif

// conj(a) b and a b, of wide values for real scalars.
#ifdef SCALAR_COMPLEX
#define MULTIPLY_CONJ(a, b) scalar_mul_conj(a, b)
#define MULTIPLY(a, b) scalar_mul(a, b)
#else
#define MULTIPLY_CONJ(a, b) ((a) * (b))
#define MULTIPLY(a, b) ((a) * (b))
#endif

// partial[k p q + j p + i] = sum of conj(x[r, i]) y[r, j] over the rows r of part k of `parts`: X' Y in parts.
// A group for each part and each tile of columns; parts change fastest.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
gram(ulong n, uint p, uint q, uint parts, __global const SCALAR *x, __global const SCALAR *y, __global SCALAR *partial)
{
    const uint part = (uint)get_group_id(0) % parts;
    const uint tile = (uint)get_group_id(0) / parts;
    const uint tiles = (p + TILE - 1) / TILE;
    const uint i0 = tile % tiles * TILE;
    const uint j0 = tile / tiles * TILE;
    const uint lane = (uint)get_local_id(0);
    const size_t end = part_start(n, part + 1, parts);
    // Columns past the last are those before, whose sums nobody stores.
    __global const SCALAR *xs[TILE];
    __global const SCALAR *ys[TILE];
#pragma unroll
    for (uint k = 0; k < TILE; ++k) {
        xs[k] = x + min(i0 + k, p - 1) * n;
        ys[k] = y + min(j0 + k, q - 1) * n;
    }
    ROWS sums[TILE][TILE];
#pragma unroll
    for (uint i = 0; i < TILE; ++i) {
#pragma unroll
        for (uint j = 0; j < TILE; ++j) {
            sums[i][j] = (ROWS)ZERO;
        }
    }
    size_t r = part_start(n, part, parts) + lane * WIDTH;
    for (; r + WIDTH <= end; r += ITEMS * WIDTH) {
        ROWS left[TILE];
#pragma unroll
        for (uint i = 0; i < TILE; ++i) {
            left[i] = LOAD_ROWS(xs[i], r);
        }
#pragma unroll
        for (uint j = 0; j < TILE; ++j) {
            const ROWS right = LOAD_ROWS(ys[j], r);
#pragma unroll
            for (uint i = 0; i < TILE; ++i) {
                sums[i][j] += MULTIPLY_CONJ(left[i], right);
            }
        }
    }
#ifndef CPU
    __local SCALAR shared[LOCAL];
#endif
#pragma unroll
    for (uint i = 0; i < TILE; ++i) {
#pragma unroll
        for (uint j = 0; j < TILE; ++j) {
            SCALAR sum = SUM_ROWS(sums[i][j]);
#ifdef CPU
            for (size_t rest = r; rest < end; ++rest) {
                sum += MULTIPLY_CONJ(xs[i][rest], ys[j][rest]);
            }
#else
            shared[lane] = sum;
            for (uint half_size = LOCAL / 2; half_size > 0; half_size /= 2) {
                barrier(CLK_LOCAL_MEM_FENCE);
                if (lane < half_size) {
                    shared[lane] += shared[lane + half_size];
                }
            }
            sum = shared[0];
            barrier(CLK_LOCAL_MEM_FENCE);
#endif
            if (lane == 0 && i0 + i < p && j0 + j < q) {
                partial[((size_t)part * q + j0 + j) * p + i0 + i] = sum;
            }
        }
    }
}

// sums[at + i] = sum over the parts k of partial[k count + i].
__kernel void gram_sum(ulong count, uint parts, __global const SCALAR *partial, ulong at, __global SCALAR *sums)
{
    for (size_t i = get_global_id(0); i < count; i += get_global_size(0)) {
        SCALAR sum = SCALAR_ZERO;
        for (uint k = 0; k < parts; ++k) {
            sum += partial[k * count + i];
        }
        sums[at + i] = sum;
    }
}

// The rows from r on of the columns from j on, at most four, of Y = alpha X C + beta Y; beta = 0 never reads Y. c0 to c3 are columns of C.
#define COMBINE(TYPE, LOAD, STORE)                                                                                      \
    {                                                                                                                   \
        TYPE s0 = (TYPE)ZERO, s1 = (TYPE)ZERO, s2 = (TYPE)ZERO, s3 = (TYPE)ZERO;                                        \
        __global const SCALAR *from = x + r;                                                                            \
        for (uint i = 0; i < p; ++i, from += n) {                                                                       \
            const TYPE value = LOAD(from, 0);                                                                           \
            s0 += MULTIPLY(value, c0[i]);                                                                               \
            s1 += MULTIPLY(value, c1[i]);                                                                               \
            s2 += MULTIPLY(value, c2[i]);                                                                               \
            s3 += MULTIPLY(value, c3[i]);                                                                               \
        }                                                                                                               \
        __global SCALAR *to = y + j * n + r;                                                                            \
        STORE(beta == ZERO ? alpha * s0 : alpha * s0 + beta * LOAD(to, 0), to, 0);                                      \
        if (j + 1 < q) {                                                                                                \
            STORE(beta == ZERO ? alpha * s1 : alpha * s1 + beta * LOAD(to + n, 0), to + n, 0);                          \
        }                                                                                                               \
        if (j + 2 < q) {                                                                                                \
            STORE(beta == ZERO ? alpha * s2 : alpha * s2 + beta * LOAD(to + 2 * n, 0), to + 2 * n, 0);                  \
        }                                                                                                               \
        if (j + 3 < q) {                                                                                                \
            STORE(beta == ZERO ? alpha * s3 : alpha * s3 + beta * LOAD(to + 3 * n, 0), to + 3 * n, 0);                  \
        }                                                                                                               \
    }
// Columns past the last are the last one, whose sums nobody stores.
#define COLUMNS_OF_C                                                                                                    \
    __global const SCALAR *c0 = c + (size_t)j * p, *c1 = c + (size_t)min(j + 1, q - 1) * p;                             \
    __global const SCALAR *c2 = c + (size_t)min(j + 2, q - 1) * p, *c3 = c + (size_t)min(j + 3, q - 1) * p;

#define LOAD_ONE(x, r) ((x)[r])
#define STORE_ONE(v, y, r) ((y)[r] = (v))

// Y = alpha X C + beta Y for X of p columns, C of p rows and q columns, which begins at c[at]; beta = 0 never reads Y.
__kernel void combine(ulong n, uint p, uint q, REAL alpha, __global const SCALAR *x, ulong at, __global const SCALAR *c,
                      REAL beta, __global SCALAR *y)
{
    c += at;
#ifdef CPU
    const size_t end = part_start(n, get_global_id(0) + 1, get_global_size(0));
    const size_t start = part_start(n, get_global_id(0), get_global_size(0));
    // Rows whose part of X stays in the nearest cache for all columns of Y.
    for (size_t first = start; first < end; first += BLOCK) {
        const size_t last = min(first + BLOCK, end);
        for (uint j = 0; j < q; j += TILE) {
            COLUMNS_OF_C
            size_t r = first;
            for (; r + WIDTH <= last; r += WIDTH) {
                COMBINE(ROWS, LOAD_ROWS, STORE_ROWS)
            }
            for (; r < last; ++r) {
                COMBINE(SCALAR, LOAD_ONE, STORE_ONE)
            }
        }
    }
#else
    for (size_t r = get_global_id(0); r < n; r += get_global_size(0)) {
        for (uint j = 0; j < q; j += TILE) {
            COLUMNS_OF_C
            COMBINE(SCALAR, LOAD_ONE, STORE_ONE)
        }
    }
#endif
}
