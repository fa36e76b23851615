// Products y = alpha A x + beta y with a band matrix of kl sub- and ku superdiagonals, stored by
// diagonals: band[d * rows + i] is A(i, i - kl + d), zero outside the matrix. beta = 0 never reads y.
//
// Traffic per row, f64: 8 B per diagonal, 16 B for x and y.

inline REAL row_product(ulong rows, ulong cols, ulong kl, ulong width, __global const REAL *band,
                        __global const REAL *x, size_t i)
{
    // Only diagonals whose column i - kl + d lies in 0..cols. Signed: from unsigned numbers compilers form
    // saturating subtractions, which Oclgrind 21.10 does not know.
    const long shift = (long)i - (long)kl;
    const long first = max(0L, -shift);
    const long last = min((long)width, (long)cols - shift);
    REAL sum = ZERO;
    for (long d = first; d < last; ++d) {
        sum += band[(size_t)d * rows + i] * x[d + shift];
    }
    return sum;
}

// Rows of an item, a work-group's size apart.
#ifndef ROWS
#define ROWS 1
#endif

// With DIAGONALS, for as many diagonals.
__kernel void mv_band_gpu(ulong rows, ulong cols, ulong kl, ulong width, REAL alpha, __global const REAL *band,
                          __global const REAL *x, REAL beta, __global REAL *y)
{
    size_t i = get_group_id(0) * ROWS * get_local_size(0) + get_local_id(0);
#pragma unroll
    for (uint r = 0; r < ROWS; ++r, i += get_local_size(0)) {
        if (i < rows) {
            REAL sum = ZERO;
#ifdef DIAGONALS
            if (i >= kl && i + DIAGONALS <= cols + kl) {
                __global const REAL *from = x + (i - kl);
#pragma unroll
                for (uint d = 0; d < DIAGONALS; ++d) {
                    sum += band[d * rows + i] * from[d];
                }
            } else
#endif
            {
                sum = row_product(rows, cols, kl, width, band, x, i);
            }
            y[i] = combine_product(alpha, sum, beta, y + i);
        }
    }
}

// A chunk of rows per item; eight rows at a time where all their columns are inside.
__kernel void mv_band_cpu(ulong rows, ulong cols, ulong kl, ulong width, REAL alpha, __global const REAL *band,
                          __global const REAL *x, REAL beta, __global REAL *y)
{
    const size_t end = part_start(rows, get_global_id(0) + 1, get_global_size(0));
    size_t i = part_start(rows, get_global_id(0), get_global_size(0));
    while (i < end) {
        if (i >= kl && i + 8 <= end && i + 8 + width <= cols + kl + 1) {
            REAL8 sum = (REAL8)ZERO;
            for (size_t d = 0; d < width; ++d) {
                sum += vload8(0, band + d * rows + i) * vload8(0, x + i + d - kl);
            }
            if (beta == ZERO) {
                vstore8(alpha * sum, 0, y + i);
            } else {
                vstore8(alpha * sum + beta * vload8(0, y + i), 0, y + i);
            }
            i += 8;
        } else {
            y[i] = combine_product(alpha, row_product(rows, cols, kl, width, band, x, i), beta, y + i);
            ++i;
        }
    }
}

// Zeroes what stands for no entry of the matrix: item (i, d) looks at row i of diagonal d.
__kernel void clear_padding_band(ulong rows, ulong cols, ulong kl, __global REAL *band)
{
    const size_t i = get_global_id(0);
    const size_t d = get_global_id(1);
    if (i < rows && (i + d < kl || i + d - kl >= cols)) {
        band[d * rows + i] = ZERO;
    }
}
