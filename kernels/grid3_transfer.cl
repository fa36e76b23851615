// Transfers between 3-D grids, with the notation of grid3.clh.
//
// Traffic per fine point, f64, where every neighbour comes from cache:
//   restrict_grid         9 B          interpolate_add           17 B
//   interpolate_cubic     9 B
//
// GPUs: a point per item, or a column of points of `planes` coarse ones. CPUs, which have no use for `planes`: a run of rows.
//@ build
//@ build CPU=1
#include "common.clh"
#include "grid3.clh"
#include "cubic.clh"

// Boundary of `height` planes of `to` (m points per side), from plane `skip` on = boundary of `from` at every `stride`-th point.
// Items share out the points (a, b) of a face.
__kernel void copy_boundary(ulong m, ulong height, ulong skip, uint stride, __global const REAL *from, __global REAL *to)
{
    const size_t s = stride, last = m - 1, n = s * last + 1;
    for (size_t b = get_global_id(1); b < m; b += get_global_size(1)) {
        for (size_t a = get_global_id(0); a < m; a += get_global_size(0)) {
            for (size_t end = 0; end < height; end += height - 1) {
                to[((skip + end) * m + b) * m + a] = from[(s * end * n + s * b) * n + s * a];
            }
            for (size_t end = 0; b < height && end < m; end += last) {
                to[((skip + b) * m + end) * m + a] = from[(s * b * n + s * end) * n + s * a];
                to[((skip + b) * m + a) * m + end] = from[(s * b * n + s * a) * n + s * end];
            }
        }
    }
}

// `height` planes of coarse (m points per side), from plane `skip` on = full weighting of fine, inside.
#ifdef CPU
__kernel void restrict_grid(ulong m, ulong height, ulong skip, uint planes, __global const REAL *fine,
                            __global REAL *coarse)
{
    (void)planes;
    const size_t n = 2 * m - 1, inside = m - 2, rows = inside * (height - 2);
    for (size_t q = PART_BEGIN(rows); q < PART_END(rows); ++q) {
        const size_t j = q % inside + 1, k = q / inside + 1;
        __global const REAL *p = fine + (2 * k * n + 2 * j) * n, *b = p - n * n, *a = p + n * n;
        __global REAL *out = coarse + ((skip + k) * m + j) * m;
        for (size_t i = 1; i <= inside; ++i) {
            const size_t c = 2 * i;
            out[i] = WEIGHTED3(weighted_rows(b + c - n, b + c, b + c + n), weighted_rows(p + c - n, p + c, p + c + n),
                               weighted_rows(a + c - n, a + c, a + c + n));
        }
    }
}
#else
__kernel void restrict_grid(ulong m, ulong height, ulong skip, uint planes, __global const REAL *fine,
                            __global REAL *coarse)
{
    const uint inside = (uint)m - 2, i = (uint)get_global_id(0) + 1, row = (uint)get_global_id(1);
    const uint j = row % inside + 1, begin = row / inside * planes + 1, end = min(begin + planes, (uint)height - 1);
    if (i <= inside && begin < end) {
        const size_t n = 2 * m - 1;
        __global const REAL *p = fine + ((size_t)(2 * begin - 1) * n + 2 * j) * n + 2 * i;
        REAL below = WEIGHTED(*p, SIDES(p, n), CORNERS(p, n));
        for (uint k = begin; k < end; ++k) {
            p += n * n;
            const REAL centre = WEIGHTED(*p, SIDES(p, n), CORNERS(p, n));
            p += n * n;
            const REAL above = WEIGHTED(*p, SIDES(p, n), CORNERS(p, n));
            coarse[((skip + k) * m + j) * m + i] = WEIGHTED3(below, centre, above);
            below = above;
        }
    }
}
#endif

// Value of the bilinear interpolant of a coarse plane (m points per side) at fine point (i, j). The same formula
// for all points: where two of its values are one, half their sum is exact.
inline REAL bilinear(size_t m, __global const REAL *plane, size_t i, size_t j)
{
    __global const REAL *c = plane + (j / 2) * m + i / 2;
    const size_t east = i % 2, north = j % 2 * m;
    return HALF * (HALF * (c[0] + c[east]) + HALF * (c[north] + c[north + east]));
}

// fine, of `height` planes, += trilinear interpolant of coarse from plane `skip` on, inside.
#ifdef CPU
__kernel void interpolate_add(ulong n, ulong height, ulong skip, __global const REAL *coarse, __global REAL *fine)
{
    const size_t m = (n + 1) / 2, inside = n - 2, rows = inside * (height - 2);
    for (size_t q = PART_BEGIN(rows); q < PART_END(rows); ++q) {
        const size_t j = q % inside + 1, k = q / inside + 1;
        __global const REAL *plane = coarse + (skip + k / 2) * m * m;
        __global REAL *row = fine + (k * n + j) * n;
        for (size_t i = 1; i <= inside; ++i) {
            REAL value = bilinear(m, plane, i, j);
            if (k % 2 != 0) {
                value = HALF * (value + bilinear(m, plane + m * m, i, j));
            }
            row[i] += value;
        }
    }
}
#else
// A point per item: (i, row) with row = j + k (n - 2) counted over the interior points.
__kernel void interpolate_add(ulong n, ulong height, ulong skip, __global const REAL *coarse, __global REAL *fine)
{
    const uint inside = (uint)n - 2, i = (uint)get_global_id(0) + 1, row = (uint)get_global_id(1);
    const uint j = row % inside + 1, k = row / inside + 1;
    if (i <= inside && k <= (uint)height - 2) {
        const size_t m = (n + 1) / 2;
        __global const REAL *plane = coarse + (skip + k / 2) * m * m;
        REAL value = bilinear(m, plane, i, j);
        if (k % 2 != 0) {
            value = HALF * (value + bilinear(m, plane + m * m, i, j));
        }
        fine[((size_t)k * n + j) * n + i] += value;
    }
}
#endif

// Value of the bicubic interpolant of a coarse plane at fine point (i, j), first across the rows.
inline REAL bicubic(size_t m, __global const REAL *plane, size_t i, size_t j)
{
    const size_t row = j % 2 == 0 ? j / 2 : cubic_first(m, j / 2), last = m - 1;
    const size_t column = i % 2 == 0 ? i / 2 : cubic_first(m, i / 2);
    const REAL4 across = cubic_weights(m, j / 2), along = cubic_weights(m, i / 2);
    __global const REAL *c = plane + row * m;
    const size_t up1 = m, up2 = 2 * m, up3 = (min(row + 3, last) - row) * m;
#define COLUMN(p) (j % 2 == 0 ? c[p] : CUBIC(across, c[p], c[(p) + up1], c[(p) + up2], c[(p) + up3]))
    const REAL first = COLUMN(column);
    if (i % 2 == 0) {
        return first;
    }
    return CUBIC(along, first, COLUMN(column + 1), COLUMN(column + 2), COLUMN(min(column + 3, last)));
#undef COLUMN
}

// fine, of `height` planes, = tricubic interpolant of coarse from plane `skip` on, inside; the boundary stays.
#ifdef CPU
__kernel void interpolate_cubic(ulong n, ulong height, ulong skip, uint planes, __global const REAL *coarse,
                                __global REAL *fine)
{
    (void)planes;
    const size_t m = (n + 1) / 2, inside = n - 2, plane = m * m, high = (height + 1) / 2, rows = inside * (height - 2);
    coarse += skip * plane;
    for (size_t q = PART_BEGIN(rows); q < PART_END(rows); ++q) {
        const size_t j = q % inside + 1, k = q / inside + 1, first = cubic_first(high, k / 2);
        const REAL4 w = cubic_weights(high, k / 2);
        __global const REAL *c = coarse + (k % 2 == 0 ? k / 2 : first) * plane;
        const size_t up3 = (min(first + 3, high - 1) - first) * plane;
        __global REAL *row = fine + (k * n + j) * n;
        for (size_t i = 1; i <= inside; ++i) {
            const REAL value = bicubic(m, c, i, j);
            row[i] = k % 2 == 0 ? value
                                : CUBIC(w, value, bicubic(m, c + plane, i, j), bicubic(m, c + 2 * plane, i, j),
                                        bicubic(m, c + up3, i, j));
        }
    }
}
#else
// An item has a column of the fine points of `planes` coarse intervals; four bicubic values go with it.
__kernel void interpolate_cubic(ulong n, ulong height, ulong skip, uint planes, __global const REAL *coarse,
                                __global REAL *fine)
{
    const size_t inside = n - 2, m = (n + 1) / 2, high = (height + 1) / 2, row = get_global_id(1);
    const size_t i = get_global_id(0) + 1, j = row % inside + 1;
    const size_t begin = row / inside * planes, end = min(begin + planes, high - 1);
    if (i <= inside && begin < end) {
        const size_t plane = m * m;
        coarse += skip * plane;
        __global REAL *out = fine + (2 * begin * n + j) * n + i;
        size_t base = cubic_first(high, begin);
        REAL4 v = (REAL4)(bicubic(m, coarse + base * plane, i, j), bicubic(m, coarse + (base + 1) * plane, i, j),
                          bicubic(m, coarse + (base + 2) * plane, i, j),
                          bicubic(m, coarse + min(base + 3, high - 1) * plane, i, j));
        for (size_t k = begin; k < end; ++k) {
            if (cubic_first(high, k) > base) {
                ++base;
                v = (REAL4)(v.s123, bicubic(m, coarse + (base + 3) * plane, i, j));
            }
            if (k > 0) {
                *out = k == base ? v.s0 : k == base + 1 ? v.s1 : v.s2;
            }
            const REAL4 w = cubic_weights(high, k);
            out[n * n] = CUBIC(w, v.s0, v.s1, v.s2, v.s3);
            out += 2 * n * n;
        }
    }
}
#endif
