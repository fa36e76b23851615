// Products y = alpha A x + beta y with a band matrix of kl sub- and ku superdiagonals, stored by
// diagonals: band[d * rows + i] is A(i, i - kl + d), zero outside the matrix. beta = 0 never reads y.
//
// Traffic per row, f64: 8 B per diagonal, 16 B for x and y.
//@ build
//@ build DIAGONALS=17
//@ build DIAGONALS=17 ROWS=4
//@ build CPU=1
//@ build SCALAR_COMPLEX=1
//@ build SCALAR_COMPLEX=1 DIAGONALS=17 CONJUGATE=1
//@ build CPU=1 SCALAR_COMPLEX=1
//@ variant Dots DOTS=1
//@ build Dots
//@ build Dots DIAGONALS=17
//@ build Dots CPU=1
#include "common.clh"
#include "dots.clh"

inline SCALAR row_product(ulong rows, ulong cols, ulong kl, ulong width, __global const SCALAR *band,
                        __global const SCALAR *x, size_t i)
{
    // Only diagonals whose column i - kl + d lies in 0..cols. Signed: from unsigned numbers compilers form
    // saturating subtractions, which Oclgrind 21.10 does not know.
    const long shift = (long)i - (long)kl;
    const long first = max(0L, -shift);
    const long last = min((long)width, (long)cols - shift);
    SCALAR sum = SCALAR_ZERO;
    for (long d = first; d < last; ++d) {
        sum += scalar_mul(band[(size_t)d * rows + i], x[d + shift]);
    }
    return sum;
}

#ifndef CPU
// Rows of an item, a work-group's size apart.
#ifndef ROWS
#define ROWS 1
#endif

// The same on a GPU; with DIAGONALS, for as many diagonals.
inline SCALAR unrolled_row_product(ulong rows, ulong cols, ulong kl, ulong width, __global const SCALAR *band,
                                 __global const SCALAR *x, size_t i)
{
#ifdef DIAGONALS
    if (i >= kl && i + DIAGONALS <= cols + kl) {
        __global const SCALAR *from = x + (i - kl);
        SCALAR sum = SCALAR_ZERO;
#pragma unroll
        for (uint d = 0; d < DIAGONALS; ++d) {
            sum += scalar_mul(band[d * rows + i], from[d]);
        }
        return sum;
    }
#endif
    return row_product(rows, cols, kl, width, band, x, i);
}

#ifndef DOTS
__kernel void mv_band(ulong rows, ulong cols, ulong kl, ulong width, SCALAR alpha, __global const SCALAR *band,
                      __global const SCALAR *x, SCALAR beta, __global SCALAR *y)
{
    size_t i = get_group_id(0) * ROWS * get_local_size(0) + get_local_id(0);
#pragma unroll
    for (uint r = 0; r < ROWS; ++r, i += get_local_size(0)) {
        if (i < rows) {
            const SCALAR sum = unrolled_row_product(rows, cols, kl, width, band, x, i);
            y[i] = combine_product(alpha, sum, beta, y + i);
        }
    }
}
#else
// With dot products, `turns` times LOCAL rows a work-group.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mv_band(ulong rows, uint turns, ulong cols, ulong kl, ulong width, REAL alpha, __global const REAL *band,
        __global const REAL *x, REAL beta, __global REAL *y DOTS_ARGUMENTS)
{
    __local REAL shared[2 * LOCAL];
    const uint lane = (uint)get_local_id(0);
    size_t i = get_group_id(0) * (size_t)turns * LOCAL + lane;
    REAL2 dots = (REAL2)ZERO;
    for (uint turn = 0; turn < turns; ++turn, i += LOCAL) {
        if (i < rows) {
            const REAL product = unrolled_row_product(rows, cols, kl, width, band, x, i);
            dots += finish_row(i, alpha, product, beta, y, u, w);
        }
    }
    LEAVE_GROUP_DOTS(shared, lane, get_group_id(0), get_num_groups(0));
}
#endif
#else
// A chunk of rows per item; eight rows at a time where all their columns are inside.
__kernel void mv_band(ulong rows, ulong cols, ulong kl, ulong width, SCALAR alpha, __global const SCALAR *band,
                      __global const SCALAR *x, SCALAR beta, __global SCALAR *y DOTS_ARGUMENTS)
{
    const size_t end = part_start(rows, get_global_id(0) + 1, get_global_size(0));
    size_t i = part_start(rows, get_global_id(0), get_global_size(0));
    START_DOTS(i);
    while (i < end) {
#ifndef SCALAR_COMPLEX
        if (i >= kl && i + 8 <= end && i + 8 + width <= cols + kl + 1) {
            REAL8 sum = (REAL8)ZERO;
            for (size_t d = 0; d < width; ++d) {
                sum += vload8(0, band + d * rows + i) * vload8(0, x + i + d - kl);
            }
            if (beta == ZERO) {
                vstore8(alpha * sum, 0, y + i);
            } else {
                vstore8(alpha * sum + beta * vload8(0, ADDEND + i), 0, y + i);
            }
            i += 8;
        } else
#endif
        {
            y[i] = combine_product(alpha, row_product(rows, cols, kl, width, band, x, i), beta, ADDEND + i);
            ++i;
        }
        COUNT_DOTS(i);
    }
    LEAVE_DOTS(end);
}
#endif

// Zeroes what stands for no entry of the matrix: item (i, d) looks at row i of diagonal d.
__kernel void clear_padding_band(ulong rows, ulong cols, ulong kl, __global SCALAR *band)
{
    const size_t i = get_global_id(0);
    const size_t d = get_global_id(1);
    if (i < rows && (i + d < kl || i + d - kl >= cols)) {
        band[d * rows + i] = SCALAR_ZERO;
    }
}

// y = alpha A'x + beta y, with CONJUGATE alpha A^H x + beta y: the column of an item along the diagonals.
__kernel void mv_band_transposed(ulong rows, ulong cols, ulong kl, ulong width, SCALAR alpha,
                                 __global const SCALAR *band, __global const SCALAR *x, SCALAR beta,
                                 __global SCALAR *y)
{
    const size_t j = get_global_id(0);
    if (j < cols) {
        // Diagonal d has column j in row j + kl - d.
        const long base = (long)j + (long)kl;
        const long first = max(0L, base - (long)rows + 1);
        const long last = min((long)width, base + 1);
        SCALAR sum = SCALAR_ZERO;
        for (long d = first; d < last; ++d) {
            const size_t i = (size_t)(base - d);
#ifdef CONJUGATE
            sum += scalar_mul_conj(band[(size_t)d * rows + i], x[i]);
#else
            sum += scalar_mul(band[(size_t)d * rows + i], x[i]);
#endif
        }
        y[j] = combine_product(alpha, sum, beta, y + j);
    }
}
