// 2-D grids, with the notation of grid2.clh: smoothers, the defect, the matrix as an operator, norms.
//
// Traffic per point, f64, where every neighbour comes from cache:
//   jacobi               24 B          red_black, one colour      24 B (16 read, 8 written)
//   defect               24 B          sum_square_defect          16 B
//
// GPUs: a point per item, two-dimensional range. CPUs: a band of rows per item, vectors along the row.
//@ build
//@ build CPU=1
#include "common.clh"
#include "grid2.clh"
#include "reduce.clh"
#ifdef CPU
#include "grid2_rows.clh"
#endif

// f plus what the boundary values of u contribute to the equation of interior point (i, j) of `height` rows.
inline REAL source_at(ulong n, ulong height, REAL inverse_h2, __global const REAL *u, __global const REAL *f, size_t i, size_t j)
{
    const size_t k = j * n + i;
    const REAL south = j == 1 ? u[k - n] : ZERO, north = j == height - 2 ? u[k + n] : ZERO;
    const REAL west = i == 1 ? u[k - 1] : ZERO, east = i == n - 2 ? u[k + 1] : ZERO;
    return f[k] + inverse_h2 * NEIGHBOURS(south, west, east, north);
}

// out = one weighted Jacobi sweep over u; u on the boundary.
#ifdef CPU
__kernel void jacobi(ulong n, REAL weight, REAL h2, REAL omega, __global const REAL *u, __global const REAL *f,
                     __global REAL *out)
{
    for (size_t j = PART_BEGIN(n); j < PART_END(n); ++j) {
        __global const REAL *row = u + j * n;
        if (j == 0 || j == n - 1) {
            copy_row(0, n, row, out + j * n);
        } else {
            out[j * n] = row[0];
            out[j * n + n - 1] = row[n - 1];
            jacobi_row(n, 1, n - 1, weight, h2, omega, row - n, row, row + n, f + j * n, out + j * n);
        }
    }
}
#else
__kernel void jacobi(ulong n, REAL weight, REAL h2, REAL omega, __global const REAL *u, __global const REAL *f,
                     __global REAL *out)
{
    const size_t i = get_global_id(0), j = get_global_id(1);
    if (i < n && j < n) {
        const size_t k = j * n + i;
        REAL value = u[k];
        if (i > 0 && i < n - 1 && j > 0 && j < n - 1) {
            const REAL sum = NEIGHBOURS(u[k - n], u[k - 1], u[k + 1], u[k + n]);
            value += omega * (RELAXED(weight, h2, f[k], sum) - value);
        }
        out[k] = value;
    }
}
#endif

// Half a Gauss-Seidel sweep: the interior points with (i + j) % 2 == colour. Half as many items as
// points in the first dimension.
#ifdef CPU
// The first and the last row of a band are read by other items meanwhile: only the points of the
// colour may be written there.
__kernel void red_black(ulong n, REAL weight, REAL h2, uint colour, __global const REAL *f, __global REAL *u)
{
    const size_t begin = max(PART_BEGIN(n), (size_t)1), end = min(PART_END(n), (size_t)(n - 1));
    for (size_t j = begin; j < end; ++j) {
        __global REAL *row = u + j * n;
        const uint odd = (uint)(j + colour) & 1;
        if (j == begin || j == end - 1) {
            relax_points(1, n - 1, odd, weight, h2, row - n, row, row + n, f + j * n);
        } else {
            relax_row(n, 1, n - 1, odd, weight, h2, row - n, row, row + n, f + j * n);
        }
    }
}
#else
__kernel void red_black(ulong n, REAL weight, REAL h2, uint colour, __global const REAL *f, __global REAL *u)
{
    const size_t j = get_global_id(1) + 1;
    const size_t i = 2 * get_global_id(0) + 1 + ((j + 1 + colour) & 1);
    if (i < n - 1 && j < n - 1) {
        const size_t k = j * n + i;
        u[k] = RELAXED(weight, h2, f[k], NEIGHBOURS(u[k - n], u[k - 1], u[k + 1], u[k + n]));
    }
}
#endif

// d = f + Laplace_h u inside, 0 on the boundary.
#ifdef CPU
__kernel void defect(ulong n, REAL inverse_h2, REAL shift, __global const REAL *u, __global const REAL *f, __global REAL *d)
{
    for (size_t j = PART_BEGIN(n); j < PART_END(n); ++j) {
        __global const REAL *row = u + j * n;
        if (j == 0 || j == n - 1) {
            fill_row(0, n, ZERO, d + j * n);
        } else {
            d[j * n] = d[j * n + n - 1] = ZERO;
            defect_row(n, 1, n - 1, inverse_h2, shift, row - n, row, row + n, f + j * n, d + j * n);
        }
    }
}
#else
__kernel void defect(ulong n, REAL inverse_h2, REAL shift, __global const REAL *u, __global const REAL *f, __global REAL *d)
{
    const size_t i = get_global_id(0), j = get_global_id(1);
    if (i < n && j < n) {
        const size_t k = j * n + i;
        REAL value = ZERO;
        if (i > 0 && i < n - 1 && j > 0 && j < n - 1) {
            value = DEFECT(inverse_h2, shift, f[k], NEIGHBOURS(u[k - n], u[k - 1], u[k + 1], u[k + n]), u[k]);
        }
        d[k] = value;
    }
}
#endif

// partial[part] = sum over the interior of rows `low` to `high` - 1, of `height` rows, of the squares of scale times a term: the
// defect, or source_at, which is the defect with u taken as 0 inside. `low` is at least 1, `high` at most height - 1.
#ifdef CPU
__kernel void sum_square_defect(ulong n, ulong height, ulong low, ulong high, REAL inverse_h2, REAL shift, REAL scale, __global const REAL *u,
                                __global const REAL *f, __global REAL *partial)
{
    REAL total = ZERO;
    for (size_t j = max(PART_BEGIN(height), (size_t)low); j < min(PART_END(height), (size_t)high); ++j) {
        __global const REAL *row = u + j * n;
        total += sum_square_defect_row(n, 1, n - 1, inverse_h2, shift, scale, row - n, row, row + n, f + j * n);
    }
    partial[get_global_id(0)] = total;
}

__kernel void sum_square_source(ulong n, ulong height, ulong low, ulong high, REAL inverse_h2, REAL shift, REAL scale, __global const REAL *u,
                                __global const REAL *f, __global REAL *partial)
{
    (void)shift; // u is taken as 0 inside
    REAL total = ZERO;
    for (size_t j = max(PART_BEGIN(height), (size_t)low); j < min(PART_END(height), (size_t)high); ++j) {
        REAL8 squares = (REAL8)ZERO;
        size_t i = 1;
        if (j > 1 && j < height - 2) {
            // Only the ends of the row have neighbours on the boundary.
            const REAL end = scale * source_at(n, height, inverse_h2, u, f, 1, j);
            total += end * end;
            for (i = 2; i + 8 <= n - 2; i += 8) {
                const REAL8 term = scale * vload8(0, f + j * n + i);
                squares += term * term;
            }
        }
        REAL row_total = sum_lanes(squares);
        for (; i < n - 1; ++i) {
            const REAL term = scale * source_at(n, height, inverse_h2, u, f, i, j);
            row_total += term * term;
        }
        total += row_total;
    }
    partial[get_global_id(0)] = total;
}
#else
// Rows are dealt to the groups in turn.
#define SUM_SQUARE(name, TERM)                                                                           \
    __kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void name(                               \
        ulong n, ulong height, ulong low, ulong high, REAL inverse_h2, REAL shift, REAL scale,           \
        __global const REAL *u, __global const REAL *f, __global REAL *partial)                          \
    {                                                                                                    \
        __local REAL shared[LOCAL];                                                                      \
        const uint lane = (uint)get_local_id(0);                                                         \
        REAL total = ZERO;                                                                               \
        for (size_t j = get_group_id(0) + low; j < high; j += get_num_groups(0)) {                       \
            for (size_t i = lane + 1; i < n - 1; i += LOCAL) {                                           \
                const REAL term = scale * TERM(n, height, inverse_h2, shift, u, f, i, j);                \
                total += term * term;                                                                    \
            }                                                                                            \
        }                                                                                                \
        shared[lane] = total;                                                                            \
        SUM_TREES(shared, 1, lane);                                                                      \
        if (lane == 0) {                                                                                 \
            partial[get_group_id(0)] = shared[0];                                                        \
        }                                                                                                \
    }

#define DEFECT_TERM(n, height, inverse_h2, shift, u, f, i, j)                                            \
    ((void)(height), defect_at(n, inverse_h2, shift, (u) + (j) * (n) + (i), (f) + (j) * (n) + (i)))
// u is taken as 0 inside, so that the shift has no part.
#define SOURCE_TERM(n, height, inverse_h2, shift, u, f, i, j)                                            \
    ((void)(shift), source_at(n, height, inverse_h2, u, f, i, j))

SUM_SQUARE(sum_square_defect, DEFECT_TERM)
SUM_SQUARE(sum_square_source, SOURCE_TERM)

// Rows that an item goes up with the values below and at hand.
#define SUMMED_ROWS 8

// Three sums of squares per group, stored consecutively in `partial`: of u, at all points; of the defect and of source_at, at interior points. They
// cover rows `low` to `high` - 1 of `height`. Bands of rows are dealt to the groups in turn. 16 B per point.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
sum_squares_start(ulong n, ulong height, ulong low, ulong high, REAL inverse_h2, REAL shift, __global const REAL *u,
                  __global const REAL *f, __global REAL *partial)
{
    __local REAL shared[3 * LOCAL];
    const uint lane = (uint)get_local_id(0);
    const int side = (int)n, last = side - 1, top = (int)height - 1, end = (int)high;
    REAL size = ZERO, source = ZERO, total = ZERO;
    for (int band = (int)low + (int)get_group_id(0) * SUMMED_ROWS; band < end; band += (int)get_num_groups(0) * SUMMED_ROWS) {
        for (int i = (int)lane; i < side; i += LOCAL) {
            __global const REAL *column = u + i, *sources = f + i;
            const bool within = i > 0 && i < last;
            REAL south = column[(size_t)max(band - 1, 0) * n], centre = column[(size_t)band * n];
#pragma unroll 4
            for (int r = 0; r < SUMMED_ROWS; ++r) {
                const int j = min(band + r, top);
                const size_t at = (size_t)j * n;
                const bool there = band + r < end, inside = there && within && j > 0 && j < top;
                const REAL north = column[(size_t)min(j + 1, top) * n], value = sources[at];
                const REAL west = within ? *(column + at - 1) : ZERO, east = within ? column[at + 1] : ZERO;
                const REAL b = value + inverse_h2 * NEIGHBOURS(j == 1 ? south : ZERO, i == 1 ? west : ZERO,
                                                               i == last - 1 ? east : ZERO, j == top - 1 ? north : ZERO);
                const REAL d = DEFECT(inverse_h2, shift, value, NEIGHBOURS(south, west, east, north), centre);
                size += there ? centre * centre : ZERO;
                source += inside ? b * b : ZERO;
                total += inside ? d * d : ZERO;
                south = centre, centre = north;
            }
        }
    }
    shared[lane] = size;
    shared[LOCAL + lane] = total;
    shared[2 * LOCAL + lane] = source;
    SUM_TREES(shared, 3, lane);
    if (lane == 0) {
        for (uint k = 0; k < 3; ++k) {
            partial[3 * get_group_id(0) + k] = shared[k * LOCAL];
        }
    }
}
#endif
