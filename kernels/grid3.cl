// 3-D grids, with the notation of grid3.clh: weighted Jacobi, the solution on the coarsest grid, norms. Jacobi moves 24 B per
// point, f64, where every neighbour comes from cache, the norms 16 B.
//
// GPUs: a point or a column of points per item. CPUs: a run of rows per item.
//@ build
//@ build CPU=1
#include "common.clh"
#include "grid3.clh"
#include "reduce.clh"

// f plus what the boundary values of u contribute to the equation of interior point (i, j, k).
inline REAL source_at(size_t n, size_t height, REAL inverse_h2, __global const REAL *u, __global const REAL *f, size_t i,
                      size_t j, size_t k)
{
    const size_t at = (k * n + j) * n + i, plane = n * n, last = n - 2;
    const REAL below = k == 1 ? u[at - plane] : ZERO, above = k == height - 2 ? u[at + plane] : ZERO;
    const REAL south = j == 1 ? u[at - n] : ZERO, north = j == last ? u[at + n] : ZERO;
    const REAL west = i == 1 ? u[at - 1] : ZERO, east = i == last ? u[at + 1] : ZERO;
    return f[at] + inverse_h2 * SUM6(below, south, west, east, north, above);
}

// out = one weighted Jacobi sweep over u; u on the boundary.
#ifdef CPU
__kernel void jacobi(ulong n, ulong height, REAL weight, REAL h2, REAL omega, __global const REAL *u,
                     __global const REAL *f, __global REAL *out)
{
    for (size_t q = PART_BEGIN(n * height); q < PART_END(n * height); ++q) {
        const size_t j = q % n, k = q / n;
        const bool inside = j > 0 && j < n - 1 && k > 0 && k < height - 1;
        __global const REAL *row = u + q * n, *source = f + q * n;
        __global REAL *to = out + q * n;
        to[0] = row[0];
        to[n - 1] = row[n - 1];
        for (size_t i = 1; i < n - 1; ++i) {
            to[i] = row[i];
        }
        for (size_t i = 1; inside && i < n - 1; ++i) {
            to[i] = row[i] + omega * (RELAXED(weight, h2, source[i], sum_around(n, row + i)) - row[i]);
        }
    }
}
#else
// A point per item: (i, row) with row = j + k n.
__kernel void jacobi(ulong n, ulong height, REAL weight, REAL h2, REAL omega, __global const REAL *u,
                     __global const REAL *f, __global REAL *out)
{
    const uint planes = (uint)height, side = (uint)n, i = (uint)get_global_id(0), row = (uint)get_global_id(1);
    const uint j = row % side, k = row / side;
    if (i < side && k < planes) {
        const size_t p = (size_t)row * n + i;
        REAL value = u[p];
        if (i > 0 && i < side - 1 && j > 0 && j < side - 1 && k > 0 && k < planes - 1) {
            value += omega * (RELAXED(weight, h2, f[p], sum_around(n, u + p)) - value);
        }
        out[p] = value;
    }
}
#endif

// The equation of the one interior point of 3 by 3 by 3; `zero` clears the boundary of u. The first item.
__kernel void solve_coarsest(uint zero, REAL weight, REAL h2, __global const REAL *f, __global REAL *u)
{
    if (get_global_id(0) == 0 && get_global_id(1) == 0) {
        for (size_t p = 0; zero && p < 27; ++p) {
            u[p] = ZERO;
        }
        u[13] = RELAXED(weight, h2, f[13], sum_around(3, u + 13));
    }
}

// partial[part] = sum over the interior points of planes `low` to `high` - 1 of the squares of scale times a term: the defect,
// or source_at, which is the defect with u taken as 0 inside.
#ifdef CPU
__kernel void sum_square_defect(ulong n, ulong height, ulong low, ulong high, REAL inverse_h2, REAL shift, REAL scale,
                                __global const REAL *u, __global const REAL *f, __global REAL *partial)
{
    (void)height;
    const size_t inside = n - 2, rows = (high - low) * inside;
    REAL total = ZERO;
    for (size_t q = PART_BEGIN(rows); q < PART_END(rows); ++q) {
        const size_t at = ((q / inside + low) * n + q % inside + 1) * n;
        REAL row_total = ZERO;
        for (size_t i = 1; i <= inside; ++i) {
            const REAL term = scale * defect_at(n, inverse_h2, shift, u + at + i, f + at + i);
            row_total += term * term;
        }
        total += row_total;
    }
    partial[get_global_id(0)] = total;
}

__kernel void sum_square_source(ulong n, ulong height, ulong low, ulong high, REAL inverse_h2, REAL shift, REAL scale,
                                __global const REAL *u, __global const REAL *f, __global REAL *partial)
{
    (void)shift; // u is taken as 0 inside
    const size_t inside = n - 2, rows = (high - low) * inside;
    REAL total = ZERO;
    for (size_t q = PART_BEGIN(rows); q < PART_END(rows); ++q) {
        REAL row_total = ZERO;
        for (size_t i = 1; i <= inside; ++i) {
            const REAL term = scale * source_at(n, height, inverse_h2, u, f, i, q % inside + 1, q / inside + low);
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
        const uint lane = (uint)get_local_id(0), inside = (uint)n - 2, rows = (uint)(high - low) * inside; \
        REAL total = ZERO;                                                                               \
        for (uint row = (uint)get_group_id(0); row < rows; row += (uint)get_num_groups(0)) {             \
            const size_t j = row % inside + 1, k = row / inside + low;                                   \
            for (size_t i = lane + 1; i <= inside; i += LOCAL) {                                         \
                const REAL term = scale * TERM(n, height, inverse_h2, shift, u, f, i, j, k);             \
                total += term * term;                                                                    \
            }                                                                                            \
        }                                                                                                \
        shared[lane] = total;                                                                            \
        SUM_TREES(shared, 1, lane);                                                                      \
        if (lane == 0) {                                                                                 \
            partial[get_group_id(0)] = shared[0];                                                        \
        }                                                                                                \
    }

#define POINT(n, i, j, k) (((k) * (n) + (j)) * (n) + (i))
#define DEFECT_TERM(n, height, inverse_h2, shift, u, f, i, j, k)                                         \
    ((void)(height), defect_at(n, inverse_h2, shift, (u) + POINT(n, i, j, k), (f) + POINT(n, i, j, k)))
// u is taken as 0 inside, so that the shift has no part.
#define SOURCE_TERM(n, height, inverse_h2, shift, u, f, i, j, k)                                         \
    ((void)(shift), source_at(n, height, inverse_h2, u, f, i, j, k))

SUM_SQUARE(sum_square_defect, DEFECT_TERM)
SUM_SQUARE(sum_square_source, SOURCE_TERM)

// Points along a row and planes of a block that a group sums at a time.
#define SUMMED_WIDTH 32
#define SUMMED_PLANES 64

// partial[3 group ...] = sums of the squares of u, at every point, of the defect and of the source, inside. Blocks of
// LOCAL columns are dealt to the groups in turn; an item goes up a column with the values below and at hand, so that only
// neighbours in its plane are read again, from the nearest cache.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void sum_squares_start(
    ulong n, ulong height, ulong low, ulong high, REAL inverse_h2, REAL shift, __global const REAL *u, __global const REAL *f,
    __global REAL *partial)
{
    __local REAL shared[3 * LOCAL];
    const uint lane = (uint)get_local_id(0);
    const int side = (int)n, last = side - 1, lines = max(LOCAL / SUMMED_WIDTH, 1), width = LOCAL / lines;
    const int top = (int)height - 1, count = (int)(high - low);
    const int across = (side + width - 1) / width, along = (side + lines - 1) / lines;
    const int blocks = across * along * ((count + SUMMED_PLANES - 1) / SUMMED_PLANES);
    const size_t plane = n * n;
    REAL values = ZERO, defects = ZERO, sources = ZERO;
    for (int block = (int)get_group_id(0); block < blocks; block += (int)get_num_groups(0)) {
        const int i = block % across * width + (int)lane % width, j = block / across % along * lines + (int)lane / width;
        const int begin = (int)low + block / (across * along) * SUMMED_PLANES, end = min(begin + SUMMED_PLANES, (int)high);
        const bool there = i < side && j < side, within = there && i > 0 && i < last && j > 0 && j < last;
        const size_t at = there ? (size_t)j * n + (size_t)i : 0;
        // Neighbours of a point on the boundary are not used; they are read where there is something.
        const size_t south_at = within ? at - n : at, north_at = within ? at + n : at;
        const size_t west_at = within ? at - 1 : at, east_at = within ? at + 1 : at;
        __global const REAL *floor = u + (size_t)begin * plane;
        REAL below = begin > 0 ? *(floor + at - plane) : ZERO, centre = floor[at];
#pragma unroll 4
        for (int k = begin; k < end; ++k) {
            const REAL above = k < top ? floor[plane + at] : ZERO, value = f[(size_t)k * plane + at];
            const REAL south = floor[south_at], west = floor[west_at], east = floor[east_at], north = floor[north_at];
            const REAL source =
                value + inverse_h2 * SUM6(k == 1 ? below : ZERO, j == 1 ? south : ZERO, i == 1 ? west : ZERO,
                                          i == last - 1 ? east : ZERO, j == last - 1 ? north : ZERO,
                                          k == top - 1 ? above : ZERO);
            const REAL defect = DEFECT(inverse_h2, shift, value, SUM6(below, south, west, east, north, above), centre);
            const bool inside = within && k > 0 && k < top;
            values += there ? centre * centre : ZERO;
            defects += inside ? defect * defect : ZERO;
            sources += inside ? source * source : ZERO;
            below = centre, centre = above;
            floor += plane;
        }
    }
    shared[lane] = values;
    shared[LOCAL + lane] = defects;
    shared[2 * LOCAL + lane] = sources;
    SUM_TREES(shared, 3, lane);
    for (int term = 0; lane == 0 && term < 3; ++term) {
        partial[3 * get_group_id(0) + (size_t)term] = shared[term * LOCAL];
    }
}
#endif
