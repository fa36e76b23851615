// Reductions to one partial result per work-group of a GPU or per work-item of a CPU; the host joins
// the partials in their order, so the same device gives the same bits each time.
//
// Traffic per element, f64: 8 B, dot and dot_pair 16 B.
//@ build WIDTH=1 UNROLL=1
//@ build WIDTH=2 UNROLL=2
//@ build WIDTH=4 UNROLL=4
//@ build CPU=1
#include "common.clh"
#include "reduce.clh"
#include "wide.clh"

// Joins of two values and of two vectors.
#define JOIN_SUM(a, b) ((a) + (b))
#define JOIN_MAX(a, b) LARGER(a, b)
#define JOIN_WIDE_SUM(a, b) ((a) + (b))
#define JOIN_WIDE_MAX(a, b) LARGER_LANES(a, b)

// What is joined, from elements x and y and the scale s.
#define TERM_SUM(x, y, s) (x)
#define TERM_ABS(x, y, s) fabs(x)
#define TERM_DOT(x, y, s) ((x) * (y))
#define TERM_SQUARE(x, y, s) ((x) * (s) * ((x) * (s)))

// Elements that one item sums before it adds to its total: the rounding error grows with the
// number of additions in a row, so long sums are cut into blocks.
#define BLOCK 4096

#ifndef CPU
#ifndef UNROLL
#define UNROLL 1
#endif

#if WIDTH == 1
#define JOIN_LANES(JOIN, v) (v)
#undef JOIN_WIDE_MAX
#define JOIN_WIDE_MAX(a, b) JOIN_MAX(a, b)
#elif WIDTH == 2
#define JOIN_LANES(JOIN, v) JOIN((v).s0, (v).s1)
#else
#define JOIN_LANES(JOIN, v) JOIN(JOIN((v).s0, (v).s1), JOIN((v).s2, (v).s3))
#endif

// Each item has UNROLL accumulators of WIDTH lanes, so that as many loads are under way.
#define REDUCE(name, TERM, JOIN, JOIN_WIDE)                                                              \
    __kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void name(                               \
        ulong n, REAL s, __global const REAL *x, __global const REAL *y, __global REAL *partial)         \
    {                                                                                                    \
        __local REAL shared[LOCAL];                                                                      \
        (void)s, (void)y;                                                                                \
        const uint lane = (uint)get_local_id(0);                                                         \
        const size_t wide = n / WIDTH;                                                                   \
        const size_t step = get_global_size(0);                                                          \
        REALW values[UNROLL];                                                                            \
        for (uint k = 0; k < UNROLL; ++k) {                                                              \
            values[k] = (REALW)ZERO;                                                                     \
        }                                                                                                \
        size_t i = get_global_id(0);                                                                     \
        for (; i + (UNROLL - 1) * step < wide; i += UNROLL * step) {                                     \
            for (uint k = 0; k < UNROLL; ++k) {                                                          \
                const REALW term = TERM(LOADW(x, i + k * step), LOADW(y, i + k * step), s);              \
                values[k] = JOIN_WIDE(values[k], term);                                                  \
            }                                                                                            \
        }                                                                                                \
        for (; i < wide; i += step) {                                                                    \
            const REALW term = TERM(LOADW(x, i), LOADW(y, i), s);                                        \
            values[0] = JOIN_WIDE(values[0], term);                                                      \
        }                                                                                                \
        for (uint k = 1; k < UNROLL; ++k) {                                                              \
            values[0] = JOIN_WIDE(values[0], values[k]);                                                 \
        }                                                                                                \
        REAL value = JOIN_LANES(JOIN, values[0]);                                                        \
        /* Fewer than WIDTH elements. */                                                                 \
        for (i = wide * WIDTH + get_global_id(0); i < n; i += step) {                                    \
            const REAL term = TERM(x[i], y[i], s);                                                       \
            value = JOIN(value, term);                                                                   \
        }                                                                                                \
        shared[lane] = value;                                                                            \
        for (uint half_size = LOCAL / 2; half_size > 0; half_size /= 2) {                                \
            barrier(CLK_LOCAL_MEM_FENCE);                                                                \
            if (lane < half_size) {                                                                      \
                shared[lane] = JOIN(shared[lane], shared[lane + half_size]);                             \
            }                                                                                            \
        }                                                                                                \
        if (lane == 0) {                                                                                 \
            partial[get_group_id(0)] = shared[0];                                                        \
        }                                                                                                \
    }
#else
// Four independent accumulators of eight lanes hide the latency of the addition.
#define REDUCE(name, TERM, JOIN, JOIN_WIDE)                                                              \
    __kernel void name(ulong n, REAL s, __global const REAL *x, __global const REAL *y,                  \
                       __global REAL *partial)                                                           \
    {                                                                                                    \
        (void)s, (void)y;                                                                                \
        const size_t begin = part_start(n, get_global_id(0), get_global_size(0));                        \
        const size_t end = part_start(n, get_global_id(0) + 1, get_global_size(0));                      \
        REAL total = ZERO;                                                                               \
        size_t i = begin;                                                                                \
        for (size_t block = begin; block < end; block += BLOCK) {                                        \
            const size_t stop = min(block + BLOCK, end);                                                 \
            REAL8 v0 = (REAL8)ZERO, v1 = v0, v2 = v0, v3 = v0;                                           \
            for (i = block; i + 32 <= stop; i += 32) {                                                   \
                const REAL8 t0 = TERM(vload8(0, x + i), vload8(0, y + i), s);                            \
                const REAL8 t1 = TERM(vload8(1, x + i), vload8(1, y + i), s);                            \
                const REAL8 t2 = TERM(vload8(2, x + i), vload8(2, y + i), s);                            \
                const REAL8 t3 = TERM(vload8(3, x + i), vload8(3, y + i), s);                            \
                v0 = JOIN_WIDE(v0, t0);                                                                  \
                v1 = JOIN_WIDE(v1, t1);                                                                  \
                v2 = JOIN_WIDE(v2, t2);                                                                  \
                v3 = JOIN_WIDE(v3, t3);                                                                  \
            }                                                                                            \
            v0 = JOIN_WIDE(v0, v1);                                                                      \
            v2 = JOIN_WIDE(v2, v3);                                                                      \
            v0 = JOIN_WIDE(v0, v2);                                                                      \
            REAL value = JOIN(JOIN(JOIN(v0.s0, v0.s1), JOIN(v0.s2, v0.s3)),                              \
                              JOIN(JOIN(v0.s4, v0.s5), JOIN(v0.s6, v0.s7)));                             \
            for (; i < stop; ++i) {                                                                      \
                const REAL term = TERM(x[i], y[i], s);                                                   \
                value = JOIN(value, term);                                                               \
            }                                                                                            \
            total = JOIN(total, value);                                                                  \
        }                                                                                                \
        partial[get_global_id(0)] = total;                                                               \
    }
#endif

REDUCE(sum, TERM_SUM, JOIN_SUM, JOIN_WIDE_SUM)
REDUCE(sum_abs, TERM_ABS, JOIN_SUM, JOIN_WIDE_SUM)
REDUCE(sum_square, TERM_SQUARE, JOIN_SUM, JOIN_WIDE_SUM)
REDUCE(max_abs, TERM_ABS, JOIN_MAX, JOIN_WIDE_MAX)
REDUCE(dot_product, TERM_DOT, JOIN_SUM, JOIN_WIDE_SUM)

// The dot products of x with y and with x; the second one's partial results follow the first's.
#ifndef CPU
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
dot_pair(ulong n, __global const REAL *x, __global const REAL *y, __global REAL *partial)
{
    __local REAL shared[2 * LOCAL];
    const uint lane = (uint)get_local_id(0);
    REAL mixed = ZERO;
    REAL square = ZERO;
    for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) {
        const REAL value = x[i];
        mixed += value * y[i];
        square += value * value;
    }
    shared[lane] = mixed;
    shared[LOCAL + lane] = square;
    SUM_TREES(shared, 2, lane);
    if (lane == 0) {
        partial[get_group_id(0)] = shared[0];
        partial[get_num_groups(0) + get_group_id(0)] = shared[LOCAL];
    }
}
#else
__kernel void dot_pair(ulong n, __global const REAL *x, __global const REAL *y, __global REAL *partial)
{
    const size_t end = part_start(n, get_global_id(0) + 1, get_global_size(0));
    REAL mixed = ZERO;
    REAL square = ZERO;
    for (size_t block = part_start(n, get_global_id(0), get_global_size(0)); block < end; block += BLOCK) {
        const size_t stop = min(block + BLOCK, end);
        REAL8 mixed8 = (REAL8)ZERO, square8 = mixed8;
        size_t i = block;
        for (; i + 8 <= stop; i += 8) {
            const REAL8 value = vload8(0, x + i);
            mixed8 += value * vload8(0, y + i);
            square8 += value * value;
        }
        REAL mixed_rest = sum_lanes(mixed8);
        REAL square_rest = sum_lanes(square8);
        for (; i < stop; ++i) {
            mixed_rest += x[i] * y[i];
            square_rest += x[i] * x[i];
        }
        mixed += mixed_rest;
        square += square_rest;
    }
    partial[get_global_id(0)] = mixed;
    partial[get_global_size(0) + get_global_id(0)] = square;
}
#endif
