// Transfers between 2-D grids, with the notation of grid2.clh.
//
// Traffic per fine point, f64: restrict_grid 10 B, restrict_defect 18 B, interpolate 10 B, interpolate_add 18 B.
//
// GPUs: a point per item, two-dimensional range. CPUs: a band of rows per item, vectors along the row.
//@ build
//@ build CPU=1
#include "common.clh"
#include "grid2.clh"
#ifdef CPU
#include "grid2_rows.clh"
#include "grid2_transfer.clh"
#endif

// The boundary points of `height` rows of m points one after the other: point `k` of 2 (m + height - 2), as a column and a row.
inline void boundary_point(ulong m, ulong height, size_t k, size_t *i, size_t *j)
{
    const size_t right = m - 1, top = height - 1;
    if (k < 2 * right) {
        *i = k % right + k / right;
        *j = k < right ? 0 : top;
    } else {
        *i = k - 2 * right < top ? right : 0;
        *j = (k - 2 * right) % top + (k - 2 * right < top ? 0 : 1);
    }
}

// Boundary of `height` rows of `to` (m points each), from row `skip` on = boundary of `from` at every `stride`-th point; one item
// per point.
__kernel void copy_boundary(ulong m, ulong height, ulong skip, ulong stride, __global const REAL *from, __global REAL *to)
{
    const size_t k = get_global_id(0);
    if (k < 2 * (m + height - 2)) {
        size_t i, j;
        boundary_point(m, height, k, &i, &j);
        to[(skip + j) * m + i] = from[j * stride * ((m - 1) * stride + 1) + i * stride];
    }
}

// `height` rows of coarse (m points each), from row `skip` on = full weighting of fine inside, 0 on the boundary.
#ifdef CPU
__kernel void restrict_grid(ulong m, ulong height, ulong skip, __global const REAL *fine, __global REAL *coarse)
{
    const size_t n = 2 * m - 1;
    coarse += skip * m;
    for (size_t j = PART_BEGIN(height); j < PART_END(height); ++j) {
        __global const REAL *row = fine + 2 * j * n;
        if (j == 0 || j == height - 1) {
            fill_row(0, m, ZERO, coarse + j * m);
        } else {
            coarse[j * m] = coarse[j * m + m - 1] = ZERO;
            restrict_row(1, m - 1, row - n, row, row + n, coarse + j * m);
        }
    }
}
#else
__kernel void restrict_grid(ulong m, ulong height, ulong skip, __global const REAL *fine, __global REAL *coarse)
{
    const size_t i = get_global_id(0), j = get_global_id(1);
    if (i < m && j < height) {
        REAL value = ZERO;
        if (i > 0 && i < m - 1 && j > 0 && j < height - 1) {
            const size_t n = 2 * m - 1;
            __global const REAL *d = fine + 2 * j * n + 2 * i;
            const REAL corners = *(d - n - 1) + *(d - n + 1) + d[n - 1] + d[n + 1];
            value = WEIGHTED(d[0], NEIGHBOURS(*(d - n), *(d - 1), d[1], d[n]), corners);
        }
        coarse[(skip + j) * m + i] = value;
    }
}
#endif

#ifndef CPU
// `height` rows of coarse, from row `skip` on = full weighting of f + Laplace_h u without storing the defect; 0 on the boundary.
__kernel void restrict_defect(ulong m, ulong height, ulong skip, REAL inverse_h2, REAL shift, __global const REAL *u,
                              __global const REAL *f, __global REAL *coarse)
{
    const size_t i = get_global_id(0), j = get_global_id(1);
    if (i < m && j < height) {
        REAL value = ZERO;
        if (i > 0 && i < m - 1 && j > 0 && j < height - 1) {
            const size_t n = 2 * m - 1, k = 2 * j * n + 2 * i;
#define AT(offset) defect_at(n, inverse_h2, shift, u + (k offset), f + (k offset))
            const REAL sum = NEIGHBOURS(AT(-n), AT(-1), AT(+1), AT(+n));
            const REAL corners = AT(-n - 1) + AT(-n + 1) + AT(+n - 1) + AT(+n + 1);
            value = WEIGHTED(AT(), sum, corners);
#undef AT
        }
        coarse[(skip + j) * m + i] = value;
    }
}
#endif

// fine (n points per side) = bilinear interpolant of coarse, everywhere.
#ifdef CPU
__kernel void interpolate(ulong n, __global const REAL *coarse, __global REAL *fine)
{
    for (size_t j = PART_BEGIN(n); j < PART_END(n); ++j) {
        interpolate_row(n, j, 0, n, false, coarse, fine + j * n);
    }
}
#else
// Rows of an item: enough that it reads each coarse value about once, and few enough for many items.
#define INTERPOLATED_ROWS 4

__kernel void interpolate(ulong n, __global const REAL *coarse, __global REAL *fine)
{
    const size_t i = get_global_id(0), first = get_global_id(1) * INTERPOLATED_ROWS;
    if (i < n && first < n) {
        const size_t m = (n + 1) / 2;
        const bool between = i % 2 != 0;
        __global const REAL *west = coarse + first / 2 * m + i / 2, *east = west + (between ? 1 : 0);
        REAL a = *west, b = *east;
        for (size_t j = first; j < min(first + INTERPOLATED_ROWS, (size_t)n); j += 2) {
            fine[j * n + i] = between ? HALF * (a + b) : a;
            if (j + 1 < n) {
                west += m;
                east += m;
                const REAL c = *west, d = *east;
                fine[(j + 1) * n + i] = between ? QUARTER * (a + b + c + d) : HALF * (a + c);
                a = c;
                b = d;
            }
        }
    }
}
#endif

// fine, of `height` rows, += bilinear interpolant of coarse from row `skip` on, inside.
#ifdef CPU
__kernel void interpolate_add(ulong n, ulong height, ulong skip, __global const REAL *coarse, __global REAL *fine)
{
    coarse += skip * ((n + 1) / 2);
    for (size_t j = max(PART_BEGIN(height), (size_t)1); j < min(PART_END(height), (size_t)(height - 1)); ++j) {
        interpolate_row(n, j, 1, n - 1, true, coarse, fine + j * n);
    }
}
#else
__kernel void interpolate_add(ulong n, ulong height, ulong skip, __global const REAL *coarse, __global REAL *fine)
{
    const size_t i = get_global_id(0) + 1, j = get_global_id(1) + 1, m = (n + 1) / 2;
    if (i < n - 1 && j < height - 1) {
        fine[j * n + i] += bilinear(m, coarse + skip * m, i, j);
    }
}
#endif
