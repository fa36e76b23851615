// Operations on vectors of any scalar that need complex arithmetic or tell real from imaginary parts. What has real
// coefficients runs as the kernel for reals (vector.cl, reduce.cl) on twice as many numbers instead.
//
// Traffic per element, complex f64: axpby and multiply 48 B; scale and conj 32 B; parts 24 B; reductions 16 B, dot products 32 B.
// With CPU, an item takes a contiguous part of the elements; else neighbouring items take neighbours.
//@ build
//@ build SCALAR_COMPLEX=1
//@ build CPU=1
//@ build SCALAR_COMPLEX=1 CPU=1
#include "common.clh"
#include "reduce.clh"
#include "scalar.clh"

#ifdef CPU
#define FOR_ELEMENTS(i, n)                                                                               \
    const size_t end_of_part = part_start(n, get_global_id(0) + 1, get_global_size(0));                  \
    for (size_t i = part_start(n, get_global_id(0), get_global_size(0)); i < end_of_part; ++i)
#else
#define FOR_ELEMENTS(i, n) for (size_t i = get_global_id(0); i < n; i += get_global_size(0))
#endif

// out = a x + b y.
__kernel void axpby_scalars(ulong n, SCALAR a, __global const SCALAR *x, SCALAR b, __global const SCALAR *y,
                            __global SCALAR *out)
{
    FOR_ELEMENTS(i, n)
    {
        out[i] = scalar_mul(a, x[i]) + scalar_mul(b, y[i]);
    }
}

// out = a x.
__kernel void scale_scalars(ulong n, SCALAR a, __global const SCALAR *x, __global SCALAR *out)
{
    FOR_ELEMENTS(i, n)
    {
        out[i] = scalar_mul(a, x[i]);
    }
}

// out = x y, element by element.
__kernel void multiply_scalars(ulong n, __global const SCALAR *x, __global const SCALAR *y, __global SCALAR *out)
{
    FOR_ELEMENTS(i, n)
    {
        out[i] = scalar_mul(x[i], y[i]);
    }
}

// out = conj(x).
__kernel void conj_scalars(ulong n, __global const SCALAR *x, __global SCALAR *out)
{
    FOR_ELEMENTS(i, n)
    {
        out[i] = scalar_conj(x[i]);
    }
}

__kernel void real_parts(ulong n, __global const SCALAR *x, __global REAL *out)
{
    FOR_ELEMENTS(i, n)
    {
        out[i] = scalar_re(x[i]);
    }
}

__kernel void imaginary_parts(ulong n, __global const SCALAR *x, __global REAL *out)
{
    FOR_ELEMENTS(i, n)
    {
        out[i] = scalar_im(x[i]);
    }
}

// out = |x|, without overflow of the squares.
__kernel void moduli(ulong n, __global const SCALAR *x, __global REAL *out)
{
    FOR_ELEMENTS(i, n)
    {
        out[i] = scalar_abs(x[i]);
    }
}

#ifdef SCALAR_COMPLEX
// out = re + i im.
__kernel void join_parts(ulong n, __global const REAL *re, __global const REAL *im, __global SCALAR *out)
{
    FOR_ELEMENTS(i, n)
    {
        out[i] = (SCALAR)(re[i], im[i]);
    }
}

// Reductions to one partial result per work-group or, with CPU, per item: all real parts before all imaginary parts. The host
// joins them in their order, so the same device gives the same bits each time.
#define JOIN_SUM(a, b) ((a) + (b))
// The larger of two magnitudes keeps a NaN.
#define JOIN_MAX(a, b) (((b).x > (a).x || (b).x != (b).x) ? (b) : (a))
#define TERM_SUM(x, y) (x)
#define TERM_ABS(x, y) ((SCALAR)(scalar_abs(x), ZERO))
#define TERM_DOT(x, y) scalar_mul_conj(x, y)
#define TERM_DOTU(x, y) scalar_mul(x, y)

#ifdef CPU
// Elements that one item sums before it adds to its total: the rounding error grows with the number of additions in a row.
#define BLOCK 512

// Two accumulators hide a part of the latency of the addition.
#define REDUCE(name, TERM, JOIN)                                                                         \
    __kernel void name(ulong n, __global const SCALAR *x, __global const SCALAR *y,                      \
                       __global REAL *partial)                                                           \
    {                                                                                                    \
        (void)y;                                                                                         \
        const size_t begin = part_start(n, get_global_id(0), get_global_size(0));                        \
        const size_t end = part_start(n, get_global_id(0) + 1, get_global_size(0));                      \
        SCALAR total = SCALAR_ZERO;                                                                      \
        for (size_t block = begin; block < end; block += BLOCK) {                                        \
            const size_t stop = min(block + BLOCK, end);                                                 \
            SCALAR even = SCALAR_ZERO, odd = SCALAR_ZERO;                                                \
            size_t i = block;                                                                            \
            for (; i + 2 <= stop; i += 2) {                                                              \
                const SCALAR first = TERM(x[i], y[i]), second = TERM(x[i + 1], y[i + 1]);                \
                even = JOIN(even, first);                                                                \
                odd = JOIN(odd, second);                                                                 \
            }                                                                                            \
            if (i < stop) {                                                                              \
                const SCALAR last = TERM(x[i], y[i]);                                                    \
                even = JOIN(even, last);                                                                 \
            }                                                                                            \
            even = JOIN(even, odd);                                                                      \
            total = JOIN(total, even);                                                                   \
        }                                                                                                \
        partial[get_global_id(0)] = total.x;                                                             \
        partial[get_global_size(0) + get_global_id(0)] = total.y;                                        \
    }

// The dot products of x with y and with x: the real parts of the first, the second, the imaginary parts of the first.
__kernel void dot_pair_scalars(ulong n, __global const SCALAR *x, __global const SCALAR *y, __global REAL *partial)
{
    const size_t items = get_global_size(0);
    const size_t item = get_global_id(0);
    const size_t end = part_start(n, item + 1, items);
    SCALAR mixed = SCALAR_ZERO;
    REAL square = ZERO;
    for (size_t block = part_start(n, item, items); block < end; block += BLOCK) {
        const size_t stop = min(block + BLOCK, end);
        SCALAR own = SCALAR_ZERO;
        REAL own_square = ZERO;
        for (size_t i = block; i < stop; ++i) {
            own += scalar_mul_conj(x[i], y[i]);
            own_square += scalar_abs2(x[i]);
        }
        mixed += own;
        square += own_square;
    }
    partial[item] = mixed.x;
    partial[items + item] = square;
    partial[2 * items + item] = mixed.y;
}
#else
#define REDUCE(name, TERM, JOIN)                                                                         \
    __kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void name(                               \
        ulong n, __global const SCALAR *x, __global const SCALAR *y, __global REAL *partial)             \
    {                                                                                                    \
        __local SCALAR shared[LOCAL];                                                                    \
        (void)y;                                                                                         \
        const uint lane = (uint)get_local_id(0);                                                         \
        SCALAR value = SCALAR_ZERO;                                                                      \
        for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) {                              \
            const SCALAR term = TERM(x[i], y[i]);                                                        \
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
            partial[get_group_id(0)] = shared[0].x;                                                      \
            partial[get_num_groups(0) + get_group_id(0)] = shared[0].y;                                  \
        }                                                                                                \
    }

// The dot products of x with y and with x: the real parts of the first, the second, the imaginary parts of the first.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
dot_pair_scalars(ulong n, __global const SCALAR *x, __global const SCALAR *y, __global REAL *partial)
{
    __local REAL shared[3 * LOCAL];
    const uint lane = (uint)get_local_id(0);
    SCALAR mixed = SCALAR_ZERO;
    REAL square = ZERO;
    for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) {
        const SCALAR value = x[i];
        mixed += scalar_mul_conj(value, y[i]);
        square += scalar_abs2(value);
    }
    shared[lane] = mixed.x;
    shared[LOCAL + lane] = square;
    shared[2 * LOCAL + lane] = mixed.y;
    SUM_TREES(shared, 3, lane);
    if (lane == 0) {
        const size_t groups = get_num_groups(0);
        partial[get_group_id(0)] = shared[0];
        partial[groups + get_group_id(0)] = shared[LOCAL];
        partial[2 * groups + get_group_id(0)] = shared[2 * LOCAL];
    }
}
#endif

REDUCE(sum_scalars, TERM_SUM, JOIN_SUM)
REDUCE(sum_moduli, TERM_ABS, JOIN_SUM)
REDUCE(max_modulus, TERM_ABS, JOIN_MAX)
REDUCE(dot_scalars, TERM_DOT, JOIN_SUM)
REDUCE(dotu_scalars, TERM_DOTU, JOIN_SUM)
#endif
