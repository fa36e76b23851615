// Bicubic interpolation between 2-D grids, with the notation of grid2.clh, for full multigrid.
//
// Traffic per fine point, f64: 10 B. GPUs: a run of coarse intervals of a column per item. CPUs, which the variant Bands is for: a
// band of rows per item.
//@ build
//@ variant Bands CPU=1
//@ build Bands
#include "common.clh"
#include "grid.clh"
#include "cubic.clh"

// fine, of `height` rows, = bicubic interpolant of coarse from row `skip` on, inside; the boundary stays.
#ifdef CPU
// Row `j` of the bicubic interpolant, inside; `work` holds m values.
inline void interpolate_cubic_row(ulong n, ulong height, size_t j, __global const REAL *coarse, __global REAL *work,
                                  __global REAL *fine)
{
    const size_t m = (n + 1) / 2, last = m - 1, rows = (height + 1) / 2;
    __global const REAL *line = coarse + (j / 2) * m;
    if (j % 2 != 0) {
        const REAL4 w = cubic_weights(rows, j / 2);
        const size_t row = cubic_first(rows, j / 2);
        __global const REAL *a = coarse + row * m, *b = a + m, *c = b + m, *d = coarse + min(row + 3, rows - 1) * m;
        size_t i = 0;
        for (; i + 8 <= m; i += 8) {
            vstore8(CUBIC(w, vload8(0, a + i), vload8(0, b + i), vload8(0, c + i), vload8(0, d + i)), 0, work + i);
        }
        for (; i < m; ++i) {
            work[i] = CUBIC(w, a[i], b[i], c[i], d[i]);
        }
        line = work;
    }
    const REAL4 middle = cubic_weights(m, 1);
    size_t k = 1;
    for (; k + 10 <= m; k += 8) {
        const REAL8 v = vload8(0, line + k);
        REAL16 value;
        value.even = v;
        value.odd = CUBIC(middle, vload8(0, line + k - 1), v, vload8(0, line + k + 1), vload8(0, line + k + 2));
        vstore16(value, 0, fine + 2 * k);
    }
    // What the vectors left: point 1, and the last ones.
    for (size_t i = 1; i < n - 1; i = (i == 1) ? 2 * k : i + 1) {
        const size_t first = cubic_first(m, i / 2);
        fine[i] = i % 2 == 0 ? line[i / 2]
                             : CUBIC(cubic_weights(m, i / 2), line[first], line[first + 1], line[first + 2],
                                     line[min(first + 3, last)]);
    }
}

// `work` holds (n + 1) / 2 values per item.
__kernel void interpolate_cubic(ulong n, ulong height, ulong skip, __global const REAL *coarse, __global REAL *fine,
                                __global REAL *work)
{
    coarse += skip * ((n + 1) / 2);
    for (size_t j = max(PART_BEGIN(height), (size_t)1); j < min(PART_END(height), (size_t)(height - 1)); ++j) {
        interpolate_cubic_row(n, height, j, coarse, work + get_global_id(0) * ((n + 1) / 2), fine + j * n);
    }
}
#else
// An item has a coarse column and goes up `rows` of its intervals with four coarse rows at hand; a group has LOCAL columns,
// of which the outer two on either side belong to the groups beside it as well.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
interpolate_cubic(ulong n, ulong height, ulong skip, uint rows, __global const REAL *coarse, __global REAL *fine)
{
    // Of the lower fine row of an interval, which is a coarse one, and of the upper one; two intervals in turn.
    __local REAL lower[2][LOCAL], upper[2][LOCAL];
    const int item = (int)get_local_id(0), left = (int)get_group_id(0) * (LOCAL - 4) - 2;
    const int m = (int)(n + 1) / 2, last = m - 1, high = (int)(height + 1) / 2, top = high - 1;
    const int begin = (int)(get_group_id(1) * rows), end = min(begin + (int)rows, top);
    __global const REAL *c = coarse + skip * (ulong)m + clamp(left + item, 0, last);
    int base = (int)cubic_first((size_t)high, (size_t)begin);
    REAL a = c[(size_t)base * (size_t)m], b = c[(size_t)(base + 1) * (size_t)m];
    REAL d = c[(size_t)(base + 2) * (size_t)m], e = c[(size_t)min(base + 3, top) * (size_t)m];
    // The row that comes next.
    REAL ahead = c[(size_t)min(base + 4, top) * (size_t)m];
    for (int k = begin; k < end; ++k) {
        if ((int)cubic_first((size_t)high, (size_t)k) > base) {
            ++base;
            a = b, b = d, d = e, e = ahead;
            ahead = c[(size_t)min(base + 4, top) * (size_t)m];
        }
        const REAL4 across = cubic_weights((size_t)high, (size_t)k);
        __local REAL *below = lower[k & 1], *above = upper[k & 1];
        below[item] = k == base ? a : k == base + 1 ? b : d;
        above[item] = CUBIC(across, a, b, d, e);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int part = item; part < 2 * (LOCAL - 4); part += LOCAL) {
            const int i = 2 * (left + 2) + part;
            if (i > 0 && i < 2 * last) {
                const bool between = i % 2 != 0;
                const int first = between ? (int)cubic_first((size_t)m, (size_t)(i / 2)) : i / 2;
                const int at = first - left, to3 = min(first + 3, last) - left;
                const REAL4 along = cubic_weights((size_t)m, (size_t)(i / 2));
                if (k > 0) {
                    fine[2 * (size_t)k * n + (size_t)i] =
                        between ? CUBIC(along, below[at], below[at + 1], below[at + 2], below[to3]) : below[at];
                }
                fine[(2 * (size_t)k + 1) * n + (size_t)i] =
                    between ? CUBIC(along, above[at], above[at + 1], above[at + 2], above[to3]) : above[at];
            }
        }
    }
}
#endif
