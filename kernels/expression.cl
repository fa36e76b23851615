// Expressions element by element: one kernel that follows a short list of operations, so that no expression is compiled.
//
// An operation is 32 bits: what it does, the place of the result, the places of the operands, a byte each. Places hold intermediate
// results, a block of elements per item with CPU, else one element per item. The numbers of the operations are those of ops/expression.rs.
//
// Traffic per element: one read of each input, one write; the blocks stay in the cache or in local memory.
//
// FUNCTIONS adds those functions whose code is long.
//@ rounded
//@ build
//@ build FUNCTIONS=1
//@ build SCALAR_COMPLEX=1
//@ build SCALAR_COMPLEX=1 FUNCTIONS=1
//@ build CPU=1
//@ build CPU=1 FUNCTIONS=1
//@ build SCALAR_COMPLEX=1 CPU=1
//@ build SCALAR_COMPLEX=1 CPU=1 FUNCTIONS=1
#include "common.clh"
#include "scalar.clh"

#define PLACES 6

#ifdef CPU
#ifdef SCALAR_COMPLEX
#define WIDTH 1
#define LANES SCALAR
#else
// Elements that one vector instruction takes.
#define WIDTH 8
#define LANES REAL8
#endif
// Vectors of a block.
#define COUNT (256 / WIDTH)
#define EACH_LANE for (size_t k = 0; k < used; ++k)
#define PLACE(p) place[p][k]
#else
#define LANES SCALAR
#define EACH_LANE
#define PLACE(p) place[(p) * LOCAL + get_local_id(0)]
#endif

#define ONE_CASE(number, expression)                                                                     \
    case number:                                                                                         \
        EACH_LANE                                                                                        \
        {                                                                                                \
            const LANES a = PLACE(first);                                                                \
            PLACE(to) = (expression);                                                                    \
        }                                                                                                \
        break;

#define TWO_CASE(number, expression)                                                                     \
    case number:                                                                                         \
        EACH_LANE                                                                                        \
        {                                                                                                \
            const LANES a = PLACE(first), b = PLACE(second);                                             \
            PLACE(to) = (expression);                                                                    \
        }                                                                                                \
        break;

#define HALF ((REAL)0.5f)

#ifdef SCALAR_COMPLEX
#ifdef FUNCTIONS
static inline SCALAR exponential(SCALAR a)
{
    const REAL size = exp(a.x);
    return a.y == ZERO ? (SCALAR)(size, a.y) : (SCALAR)(size * cos(a.y), size * sin(a.y));
}
// The principal square root, from the larger of its parts (Kahan 1987). Numbers near the least one are scaled by 2^60, and magnitudes are halved.
static inline SCALAR square_root(SCALAR a)
{
    const REAL size = fmax(fabs(a.x), fabs(a.y));
    if (isinf(a.y)) return (SCALAR)(fabs(a.y), a.y);
    if (isinf(a.x)) {
        const REAL other = isnan(a.y) ? a.y : copysign(ZERO, a.y);
        return a.x > ZERO ? (SCALAR)(a.x, other) : (SCALAR)(fabs(other), copysign(-a.x, a.y));
    }
    if (a.x == ZERO && a.y == ZERO) return (SCALAR)(ZERO, a.y);
    const bool is_tiny = size < (REAL)1e-30f;
    const SCALAR b = is_tiny ? a * (REAL)0x1p60f : a;
    const REAL larger = sqrt(hypot(HALF * b.x, HALF * b.y) + HALF * fabs(b.x));
    const SCALAR parts = (SCALAR)(larger, HALF * fabs(b.y) / larger) * (is_tiny ? (REAL)0x1p-30f : ONE);
    return b.x >= ZERO ? (SCALAR)(parts.x, copysign(parts.y, a.y)) : (SCALAR)(parts.y, copysign(parts.x, a.y));
}
// The principal logarithm; log1p keeps the real part accurate near magnitude 1.
static inline SCALAR logarithm(SCALAR a)
{
    const REAL large = fmax(fabs(a.x), fabs(a.y)), small = fmin(fabs(a.x), fabs(a.y));
    const REAL size = hypot(HALF * a.x, HALF * a.y);
    const bool is_near = size > (REAL)0.25f && size < ONE;
    const REAL re = is_near ? HALF * log1p((large - ONE) * (large + ONE) + small * small) : log(size) + (REAL)M_LN2;
    return (SCALAR)(re, atan2(a.y, a.x));
}
static inline SCALAR sine(SCALAR a)
{
    return a.y == ZERO ? (SCALAR)(sin(a.x), cos(a.x) * a.y) : (SCALAR)(sin(a.x) * cosh(a.y), cos(a.x) * sinh(a.y));
}
static inline SCALAR cosine(SCALAR a)
{
    return a.y == ZERO ? (SCALAR)(cos(a.x), -sin(a.x) * a.y) : (SCALAR)(cos(a.x) * cosh(a.y), -sin(a.x) * sinh(a.y));
}
#endif

#define PLAIN_CASES                                                                                      \
    ONE_CASE(29, -a)                                                                                     \
    ONE_CASE(35, scalar_conj(a))                                                                         \
    TWO_CASE(64, a + b)                                                                                  \
    TWO_CASE(65, a - b)                                                                                  \
    TWO_CASE(66, scalar_mul(a, b))                                                                       \
    TWO_CASE(67, scalar_div(a, b))                                                                       \
    TWO_CASE(73, a * b.x)                                                                                \
    TWO_CASE(74, a / b.x)
#define FUNCTION_CASES                                                                                   \
    ONE_CASE(16, exponential(a))                                                                         \
    ONE_CASE(17, logarithm(a))                                                                           \
    ONE_CASE(18, square_root(a))                                                                         \
    ONE_CASE(19, sine(a))                                                                                \
    ONE_CASE(20, cosine(a))
#else
#ifdef FUNCTIONS
#if REAL_BITS == 64
#define EPSILON DBL_EPSILON
#else
#define EPSILON FLT_EPSILON
#endif
// A branch spills fewer scalar registers than a choice on gfx906.
#ifdef CPU
#define REPLACE(value, condition, other) value = (condition) ? (other) : value
#else
#define REPLACE(value, condition, other)                                                                 \
    if (condition) {                                                                                     \
        value = other;                                                                                   \
    }
#endif

#ifdef CPU
// PoCL 3.1 takes the wrong sign of the exponent in lanes of a vector of doubles beside infinities and NaN.
static inline LANES POWER(LANES a, LANES b)
{
    return (LANES)(pow(a.s0, b.s0), pow(a.s1, b.s1), pow(a.s2, b.s2), pow(a.s3, b.s3), pow(a.s4, b.s4), pow(a.s5, b.s5),
                   pow(a.s6, b.s6), pow(a.s7, b.s7));
}
#else
#define POWER pow
#endif

// x - y floor(x / y), with the sign of y, x for y = 0; with towards_zero x - y trunc(x / y), with the sign of x, NaN for y = 0. Where y is no
// integer, a quotient within rounding of one counts as one. These are the roundings of Octave.
static inline LANES modulo(LANES x, LANES y, bool towards_zero)
{
#pragma OPENCL FP_CONTRACT OFF
    const LANES quotient = x / y, nearest = floor(quotient + HALF);
    const LANES product = y * (towards_zero ? trunc(quotient) : floor(quotient));
    LANES rest = x - product;
    REPLACE(rest, floor(y + HALF) != y && fabs((quotient - nearest) / nearest) < (LANES)EPSILON, (LANES)ZERO);
    REPLACE(rest, x != y, copysign(rest, towards_zero ? x : y));
    REPLACE(rest, y == (LANES)ZERO, towards_zero ? (LANES)NAN : x);
    return rest;
}
#endif

#define PLAIN_CASES                                                                                      \
    ONE_CASE(18, sqrt(a))                                                                                \
    ONE_CASE(24, floor(a))                                                                               \
    ONE_CASE(25, ceil(a))                                                                                \
    ONE_CASE(26, round(a))                                                                               \
    ONE_CASE(27, trunc(a))                                                                               \
    ONE_CASE(28, a != a ? a : sign(a) + ZERO)                                                            \
    ONE_CASE(29, -a)                                                                                     \
    ONE_CASE(30, fabs(a))                                                                                \
    TWO_CASE(64, a + b)                                                                                  \
    TWO_CASE(65, a - b)                                                                                  \
    TWO_CASE(66, a * b)                                                                                  \
    TWO_CASE(67, a / b)                                                                                  \
    TWO_CASE(68, a >= b || b != b ? a : b)                                                               \
    TWO_CASE(69, a <= b || b != b ? a : b)
#define FUNCTION_CASES                                                                                   \
    ONE_CASE(16, exp(a))                                                                                 \
    ONE_CASE(17, log(a))                                                                                 \
    ONE_CASE(19, sin(a))                                                                                 \
    ONE_CASE(20, cos(a))                                                                                 \
    ONE_CASE(21, tan(a))                                                                                 \
    ONE_CASE(22, atan(a))                                                                                \
    ONE_CASE(23, tanh(a))                                                                                \
    ONE_CASE(31, expm1(a))                                                                               \
    ONE_CASE(32, sinh(a))                                                                                \
    ONE_CASE(33, cosh(a))                                                                                \
    ONE_CASE(34, asinh(a))                                                                               \
    TWO_CASE(70, atan2(a, b))                                                                            \
    TWO_CASE(71, hypot(a, b))                                                                            \
    TWO_CASE(72, POWER(a, b))                                                                            \
    case 75:                                                                                             \
    TWO_CASE(76, modulo(a, b, operation == 76))
#endif

#ifndef FUNCTIONS
#undef FUNCTION_CASES
#define FUNCTION_CASES
#endif

// The blocks of an item of a CPU, the elements of an item of a GPU.
#ifdef CPU
#define FOR_EACH_BLOCK(e, n)                                                                             \
    for (size_t e = part_start(n, get_global_id(0), get_global_size(0)); e < end_of_part; e += COUNT * WIDTH)
#else
#define FOR_EACH_BLOCK(e, n) for (size_t e = get_global_id(0); e < (n); e += get_global_size(0))
#endif

// out = the last result of `count` operations in c0 to c11, two in each, the first in the low half. Element (i, j) of input number l,
// of arrays of `rows` rows, is x_l[i down_l + j right_l]: a step of 0 repeats a row, a column or a number, steps of 1 and `rows` are
// those of an array that is not repeated. k0 to k5 are numbers.
__kernel void evaluate(ulong n, ulong rows, ulong count, ulong c0, ulong c1, ulong c2, ulong c3, ulong c4, ulong c5,
                       ulong c6, ulong c7, ulong c8, ulong c9, ulong c10, ulong c11, SCALAR k0, SCALAR k1, SCALAR k2,
                       SCALAR k3, SCALAR k4, SCALAR k5, ulong down_0, ulong right_0, ulong down_1, ulong right_1,
                       ulong down_2, ulong right_2, ulong down_3, ulong right_3, ulong down_4, ulong right_4,
                       ulong down_5, ulong right_5, __global const SCALAR *x0, __global const SCALAR *x1,
                       __global const SCALAR *x2, __global const SCALAR *x3, __global const SCALAR *x4,
                       __global const SCALAR *x5, __global SCALAR *out)
{
#ifdef CPU
    const ulong code[12] = {c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11};
    const SCALAR number[6] = {k0, k1, k2, k3, k4, k5};
    __global const SCALAR *const input[6] = {x0, x1, x2, x3, x4, x5};
    const ulong down[6] = {down_0, down_1, down_2, down_3, down_4, down_5};
    const ulong right[6] = {right_0, right_1, right_2, right_3, right_4, right_5};
    const ulong limits[3] = {n, rows, count};
    __global SCALAR *const result[1] = {out};
    LANES place[PLACES][COUNT];
    const size_t end_of_part = part_start(n, get_global_id(0) + 1, get_global_size(0));
#else
    // A list of arguments that is indexed would be in registers, all of it at once, or in private memory. The scalar registers of
    // some GPUs do not suffice for what the functions take besides; volatile makes it read where it is used.
    volatile __local ulong code[12], down[6], right[6], limits[3];
    __local SCALAR number[6], place[PLACES * LOCAL];
    __global const SCALAR *__local input[6];
    __global SCALAR *__local result[1];
    if (get_local_id(0) == 0) {
        code[0] = c0, code[1] = c1, code[2] = c2, code[3] = c3, code[4] = c4, code[5] = c5;
        code[6] = c6, code[7] = c7, code[8] = c8, code[9] = c9, code[10] = c10, code[11] = c11;
        down[0] = down_0, down[1] = down_1, down[2] = down_2, down[3] = down_3, down[4] = down_4, down[5] = down_5;
        right[0] = right_0, right[1] = right_1, right[2] = right_2;
        right[3] = right_3, right[4] = right_4, right[5] = right_5;
        number[0] = k0, number[1] = k1, number[2] = k2, number[3] = k3, number[4] = k4, number[5] = k5;
        input[0] = x0, input[1] = x1, input[2] = x2, input[3] = x3, input[4] = x4, input[5] = x5;
        limits[0] = n, limits[1] = rows, limits[2] = count, result[0] = out;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
#define SIZE limits[0]
#define HEIGHT limits[1]
#define STEPS limits[2]
    uint to = 0;
    FOR_EACH_BLOCK(e, SIZE)
    {
#ifdef CPU
        const size_t elements = min((size_t)(COUNT * WIDTH), end_of_part - e);
        const size_t used = (elements + WIDTH - 1) / WIDTH;
#endif
        for (uint s = 0; s < STEPS; ++s) {
            const uint step = (uint)(code[s / 2] >> (s % 2 * 32));
            const uint operation = step & 255, first = step >> 16 & 255, second = step >> 24;
            to = step >> 8 & 255;
            switch (operation) {
            case 0: {
                __global const SCALAR *x = input[first];
#ifdef CPU
                const size_t i = e % HEIGHT, j = e / HEIGHT;
                SCALAR *block = (SCALAR *)place[to];
                if (down[first] == 1 && right[first] == HEIGHT) {
                    // Whole vectors first; what is behind the last element of the block is not used.
                    const size_t whole = elements / WIDTH;
                    for (size_t k = 0; k < whole; ++k) {
#ifdef SCALAR_COMPLEX
                        place[to][k] = x[e + k];
#else
                        place[to][k] = vload8(k, x + e);
#endif
                    }
                    for (size_t k = whole * WIDTH; k < elements; ++k) block[k] = x[e + k];
                } else {
                    for (size_t k = 0, row = i, col = j; k < elements; ++k) {
                        block[k] = x[row * down[first] + col * right[first]];
                        if (++row == HEIGHT) row = 0, ++col;
                    }
                }
                for (size_t k = elements; k < used * WIDTH; ++k) block[k] = SCALAR_ZERO;
#else
            // A division takes longer than all the rest.
            size_t at = e;
            if (down[first] != 1 || right[first] != HEIGHT) at = e % HEIGHT * down[first] + e / HEIGHT * right[first];
            PLACE(to) = x[at];
#endif
                break;
            }
            case 1:
                EACH_LANE
                {
                    PLACE(to) = (LANES)(number[first]);
                }
                break;
                PLAIN_CASES
                FUNCTION_CASES
            }
        }
#ifdef CPU
        const SCALAR *block = (const SCALAR *)place[to];
#ifdef SCALAR_COMPLEX
        for (size_t k = 0; k < elements; ++k) result[0][e + k] = block[k];
#else
        for (size_t k = 0; k < elements / WIDTH; ++k) vstore8(place[to][k], k, result[0] + e);
        for (size_t k = elements / WIDTH * WIDTH; k < elements; ++k) result[0][e + k] = block[k];
#endif
#else
        result[0][e] = PLACE(to);
#endif
    }
}
