// Triangular systems with several right-hand sides, and small operations on parts of dense matrices.
//
// A triangle is given as a lower one that is solved from its first row on: element (i, j) is number i ti + j tj of `t`, element i of
// right-hand side r is number i bi + r br of `b`. Upper triangles, transposes and systems from the right are the same with other
// strides, which may be negative.
//@ build
//@ build CPU=1
//@ build SCALAR_COMPLEX=1
//@ build SCALAR_COMPLEX=1 CPU=1
#include "common.clh"
#include "scalar.clh"

// Rows of a triangle that are solved at once: as many as the registers of an item hold.
#if defined(SCALAR_COMPLEX) && REAL_BITS == 64
#define ROWS 16
#else
#define ROWS 32
#endif

// The triangle, unit beyond `size`; its diagonal is not read where it is unit.
#define TRIANGLE_ELEMENT(i, j)                                                                                         \
    ((i) < size && (j) < (i) ? (conjugate ? scalar_conj(t[(long)(i) * ti + (long)(j) * tj]) : t[(long)(i) * ti + (long)(j) * tj]) \
     : (i) == (j) && (i) < size && !unit                                                                               \
         ? (conjugate ? scalar_conj(t[(long)(i) * ti + (long)(j) * tj]) : t[(long)(i) * ti + (long)(j) * tj])          \
     : (i) == (j) ? SCALAR_ONE                                                                                         \
                  : SCALAR_ZERO)

// Steps may be negative, in two's complement.
#define STEPS const long ti = (long)t_row, tj = (long)t_column, bi = (long)b_row, br = (long)b_column;

#ifndef CPU
// Items of a work-group, each with a right-hand side.
#define SOLVERS 64

// Keeps a compiler from loading the whole triangle before the first row: AMD's then spills. NVIDIA's does not do so.
#if defined(__NV_CL_C_VERSION) || defined(__NVPTX__)
#define AFTER_ROW
#else
#define AFTER_ROW mem_fence(CLK_LOCAL_MEM_FENCE);
#endif

// At most ROWS rows: rows^2 operations a right-hand side, whose elements stay in registers.
__kernel __attribute__((reqd_work_group_size(SOLVERS, 1, 1))) void
solve_triangle(uint size, ulong count, __global const SCALAR *t_of, ulong t_offset, ulong t_row, ulong t_column, uint unit,
               uint conjugate, __global SCALAR *b_of, ulong b_offset, ulong b_row, ulong b_column)
{
    STEPS
    __local SCALAR triangle[ROWS * ROWS];
    __global const SCALAR *t = t_of + t_offset;
    const uint item = (uint)get_local_id(0);
    const size_t r = get_global_id(0);
    for (uint e = item; e < ROWS * ROWS; e += SOLVERS) {
        const uint i = e / ROWS, j = e % ROWS;
        triangle[e] = TRIANGLE_ELEMENT(i, j);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (r < count) {
        __global SCALAR *b = b_of + b_offset + (long)r * br;
        SCALAR x[ROWS];
#pragma unroll
        for (uint i = 0; i < ROWS; ++i) {
            x[i] = i < size ? b[(long)i * bi] : SCALAR_ZERO;
        }
#pragma unroll
        for (uint i = 0; i < ROWS; ++i) {
            x[i] = unit ? x[i] : scalar_div(x[i], triangle[i * ROWS + i]);
#pragma unroll
            for (uint j = i + 1; j < ROWS; ++j) {
                x[j] = scalar_mad(-triangle[j * ROWS + i], x[i], x[j]);
            }
            AFTER_ROW
        }
#pragma unroll
        for (uint i = 0; i < ROWS; ++i) {
            if (i < size) {
                b[(long)i * bi] = x[i];
            }
        }
    }
}
#else
// The same by LANES right-hand sides an item.
#define LANES 8
__kernel void solve_triangle(uint size, ulong count, __global const SCALAR *t_of, ulong t_offset, ulong t_row,
                             ulong t_column, uint unit, uint conjugate, __global SCALAR *b_of, ulong b_offset,
                             ulong b_row, ulong b_column)
{
    STEPS
    __global const SCALAR *t = t_of + t_offset;
    const size_t first = get_global_id(0) * LANES;
    __global SCALAR *b = b_of + b_offset + (long)first * br;
    const uint lanes = first < count ? (uint)min((size_t)LANES, count - first) : 0;
    REAL8 x[ROWS];
#ifdef SCALAR_COMPLEX
    REAL8 imaginary[ROWS];
#endif
    for (uint i = 0; lanes > 0 && i < size; ++i) {
        REAL value[LANES];
#ifdef SCALAR_COMPLEX
        REAL other[LANES];
#endif
        for (uint r = 0; r < LANES; ++r) {
            const SCALAR element = r < lanes ? b[(long)i * bi + (long)r * br] : SCALAR_ZERO;
            value[r] = scalar_re(element);
#ifdef SCALAR_COMPLEX
            other[r] = scalar_im(element);
#endif
        }
        x[i] = vload8(0, value);
#ifdef SCALAR_COMPLEX
        imaginary[i] = vload8(0, other);
#endif
        for (uint j = 0; j < i; ++j) {
            const SCALAR factor = TRIANGLE_ELEMENT(i, j);
#ifdef SCALAR_COMPLEX
            x[i] -= factor.s0 * x[j];
            x[i] += factor.s1 * imaginary[j];
            imaginary[i] -= factor.s0 * imaginary[j];
            imaginary[i] -= factor.s1 * x[j];
#else
            x[i] -= factor * x[j];
#endif
        }
        if (!unit) {
#ifdef SCALAR_COMPLEX
            vstore8(x[i], 0, value);
            vstore8(imaginary[i], 0, other);
            const SCALAR divisor = TRIANGLE_ELEMENT(i, i);
            for (uint r = 0; r < LANES; ++r) {
                const SCALAR quotient = scalar_div((SCALAR)(value[r], other[r]), divisor);
                value[r] = quotient.s0;
                other[r] = quotient.s1;
            }
            x[i] = vload8(0, value);
            imaginary[i] = vload8(0, other);
#else
            x[i] /= TRIANGLE_ELEMENT(i, i);
#endif
        }
        vstore8(x[i], 0, value);
#ifdef SCALAR_COMPLEX
        vstore8(imaginary[i], 0, other);
#endif
        for (uint r = 0; r < lanes; ++r) {
#ifdef SCALAR_COMPLEX
            b[(long)i * bi + (long)r * br] = (SCALAR)(value[r], other[r]);
#else
            b[(long)i * bi + (long)r * br] = value[r];
#endif
        }
    }
}
#endif

// B = the elements of A on and on one side of its diagonal, others zero; everything where `side` is 0, what lies on and below the
// diagonal for 1, on and above for 2. With `unit` the diagonal is 1.
__kernel void copy_part(ulong rows, ulong cols, uint side, uint unit, __global const SCALAR *a_of, ulong a_offset,
                        ulong lda, __global SCALAR *b_of, ulong b_offset, ulong ldb)
{
    const size_t i = get_global_id(0), j = get_global_id(1);
    if (i < rows && j < cols) {
        const bool there = side == 0 || i == j || (side == 1 ? i > j : i < j);
        const SCALAR value = there ? a_of[a_offset + j * lda + i] : SCALAR_ZERO;
        b_of[b_offset + j * ldb + i] = unit && i == j ? SCALAR_ONE : value;
    }
}

// A = the identity.
__kernel void set_identity(ulong rows, ulong cols, __global SCALAR *a_of, ulong a_offset, ulong lda)
{
    const size_t i = get_global_id(0), j = get_global_id(1);
    if (i < rows && j < cols) {
        a_of[a_offset + j * lda + i] = i == j ? SCALAR_ONE : SCALAR_ZERO;
    }
}

// The sum of the moduli of each column, by one item.
__kernel void sum_columns(ulong rows, ulong cols, __global const SCALAR *a, __global REAL *sums)
{
    const size_t j = get_global_id(0);
    if (j < cols) {
        REAL sum = ZERO;
        for (size_t i = 0; i < rows; ++i) {
            sum += scalar_abs(a[j * rows + i]);
        }
        sums[j] = sum;
    }
}

// The largest modulus of each column, by one item; NaN where there is one.
__kernel void largest_of_columns(ulong rows, ulong cols, __global const SCALAR *a, __global REAL *largest)
{
    const size_t j = get_global_id(0);
    if (j < cols) {
        REAL most = ZERO;
        for (size_t i = 0; i < rows; ++i) {
            const REAL modulus = scalar_abs(a[j * rows + i]);
            most = modulus > most || isnan(modulus) ? modulus : most;
        }
        largest[j] = most;
    }
}

// The elements of each column on and above the diagonal, or all, times its factor.
__kernel void scale_columns(ulong rows, ulong cols, uint upper, __global const REAL *factor, __global SCALAR *a)
{
    const size_t i = get_global_id(0), j = get_global_id(1);
    if (i < rows && j < cols && (!upper || i <= j)) {
        a[j * rows + i] = scalar_scale(factor[j], a[j * rows + i]);
    }
}
