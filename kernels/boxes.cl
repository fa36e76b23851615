// -div(D grad u) + c u on boxes of nx by ny by nz unknowns, of any sizes and spacings: point (i, j, k) is u[(k ny + j) nx + i]. The operator
// is a sum of tensor products, Kx (x) My (x) Mz + Mx (x) Ky (x) Mz + Mx (x) My (x) Kz, whose factors are small arrays in `lines`: for each direction
// of n unknowns the n + 1 couplings to the point before, the last one to the point after the last; n values that the diagonal of K has
// more; the n values of M. Couplings of ends that are not periodic are 0. Built with DIM = 2 there is one plane.
//
// Traffic per point, f64, where every neighbour comes from cache:
//   relax, one colour      24 B          residual               24 B
//   apply_box              16 B          (24 B where beta is not 0)
//   sum_square_residual    16 B          add_interpolated       17 B (3-D), 18 B (2-D) where all directions are coarsened
//
// GPUs: a point per item. CPUs: a run of rows per item, vectors along the row.
//@ build DIM=2
//@ build DIM=3
//@ build DIM=2 CPU=1
//@ build DIM=3 CPU=1
#include "common.clh"
#include "grid.clh"
#include "reduce.clh"
#include "boxes.clh"

#ifdef CPU
#define EACH_ROW(q, from, to)                                                                                          \
    for (size_t q = (from) + PART_BEGIN((size_t)(to) - (from)); q < (from) + PART_END((size_t)(to) - (from)); ++q)
#define EACH_COLUMN(i, from, to, step) for (size_t i = (from); i < (to); i += (step))
#else
#define EACH_ROW(q, from, to) for (size_t q = get_global_id(1) + (from); q < (to); q += get_global_size(1))
#define EACH_COLUMN(i, from, to, step)                                                                                 \
    for (size_t i = get_global_id(0) * (step) + (from); i < (to); i += get_global_size(0) * (step))
#endif

#ifdef CPU
// Does VECTOR for eight points from `i` on, none of which is the first or last of a row, and POINT for the others.
#define SCAN(i, from, to, nx, POINT, VECTOR)                                                                           \
    for (size_t i = (from), last_vector = min((size_t)(to), (size_t)(nx)-1); i < (to);) {                              \
        if (i > 0 && i + 8 <= last_vector) {                                                                           \
            VECTOR                                                                                                     \
            i += 8;                                                                                                    \
        } else {                                                                                                       \
            POINT                                                                                                      \
            ++i;                                                                                                       \
        }                                                                                                              \
    }
#else
#define SCAN(i, from, to, nx, POINT, VECTOR)                                                                           \
    EACH_COLUMN(i, from, to, 1)                                                                                        \
    {                                                                                                                  \
        POINT                                                                                                          \
    }
#endif

// u += omega (f - A u) / diagonal at the points of a colour, those with (i + j + k) % 2 == colour, in a part of the box: x0 <= i < x1,
// y0 <= j < y1, z0 <= k < z1. No two points of the colour in that part may be neighbours.
__kernel void relax(ulong nx, ulong ny, ulong nz, ulong x0, ulong x1, ulong y0, ulong y1, ulong z0, ulong z1, uint colour,
                    REAL omega, __global const REAL *lines, __global const REAL *f, __global REAL *u)
{
    const size_t height = y1 - y0, rows = height * (z1 - z0);
#ifdef CPU
    // Rows next to those of other items are read there meanwhile: only points of the colour may be written.
    const size_t begin = PART_BEGIN(rows), end = PART_END(rows);
    const INT8 even_lanes = (INT8)(-1, 0, -1, 0, -1, 0, -1, 0);
#endif
    EACH_ROW(q, 0, rows)
    {
        const size_t j = y0 + q % height, k = z0 + q / height;
        const row_type row = row_at(nx, ny, nz, lines, j, k);
        const size_t first = x0 + ((x0 + j + k + colour) & 1);
#ifdef CPU
#if DIM == 3
        const bool own = q >= begin + height && q + height < end && j > y0 && j + 1 < y1 && k > z0 && k + 1 < z1;
#else
        const bool own = q > begin && q + 1 < end && j > y0 && j + 1 < y1;
#endif
        if (own) {
            const INT8 chosen = ((x0 + j + k + colour) & 1) ? ~even_lanes : even_lanes;
            const INT8 other = ~chosen;
            SCAN(i, x0, x1, nx,
                 {
                     if (((i + j + k + colour) & 1) == 0) {
                         const REAL defect = f[row.at + i] - product_at(nx, lines, &row, u, i);
                         u[row.at + i] += omega * defect / diagonal_at(nx, lines, &row, i);
                     }
                 },
                 {
                     const REAL8 centre = vload8(0, u + row.at + i);
                     const REAL8 defect = vload8(0, f + row.at + i) - products_at(nx, lines, &row, u, i);
                     const REAL8 value = centre + omega * defect / diagonals_at(nx, lines, &row, i);
                     vstore8(select(centre, value, ((i - x0) & 1) ? other : chosen), 0, u + row.at + i);
                 })
            continue;
        }
#endif
        EACH_COLUMN(i, first, x1, 2)
        {
            const REAL defect = f[row.at + i] - product_at(nx, lines, &row, u, i);
            u[row.at + i] += omega * defect / diagonal_at(nx, lines, &row, i);
        }
    }
}

// d = f - A u.
__kernel void residual(ulong nx, ulong ny, ulong nz, __global const REAL *lines, __global const REAL *f, __global const REAL *u,
                       __global REAL *d)
{
    EACH_ROW(q, 0, ny * nz)
    {
        const row_type row = row_at(nx, ny, nz, lines, q % ny, q / ny);
        SCAN(i, 0, nx, nx, { d[row.at + i] = f[row.at + i] - product_at(nx, lines, &row, u, i); },
             { vstore8(vload8(0, f + row.at + i) - products_at(nx, lines, &row, u, i), 0, d + row.at + i); })
    }
}

// y = alpha A x + beta y; beta = 0 never reads y.
__kernel void apply_box(ulong nx, ulong ny, ulong nz, __global const REAL *lines, REAL alpha, __global const REAL *x, REAL beta,
                        __global REAL *y)
{
    EACH_ROW(q, 0, ny * nz)
    {
        const row_type row = row_at(nx, ny, nz, lines, q % ny, q / ny);
        SCAN(i, 0, nx, nx,
             {
                 const REAL value = alpha * product_at(nx, lines, &row, x, i);
                 y[row.at + i] = beta == ZERO ? value : value + beta * y[row.at + i];
             },
             {
                 const REAL8 value = alpha * products_at(nx, lines, &row, x, i);
                 vstore8(beta == ZERO ? value : value + beta * vload8(0, y + row.at + i), 0, y + row.at + i);
             })
    }
}

// partial[part] = sum of the squares of scale (f - A u).
#ifdef CPU
__kernel void sum_square_residual(ulong nx, ulong ny, ulong nz, REAL scale, __global const REAL *lines, __global const REAL *f,
                                  __global const REAL *u, __global REAL *partial)
{
    REAL total = ZERO;
    EACH_ROW(q, 0, ny * nz)
    {
        const row_type row = row_at(nx, ny, nz, lines, q % ny, q / ny);
        REAL8 squares = (REAL8)ZERO;
        REAL ends = ZERO;
        SCAN(i, 0, nx, nx,
             {
                 const REAL d = scale * (f[row.at + i] - product_at(nx, lines, &row, u, i));
                 ends += d * d;
             },
             {
                 const REAL8 d = scale * (vload8(0, f + row.at + i) - products_at(nx, lines, &row, u, i));
                 squares += d * d;
             })
        total += ends + sum_lanes(squares);
    }
    partial[get_global_id(0)] = total;
}
#else
// Rows are dealt to the groups in turn.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
sum_square_residual(ulong nx, ulong ny, ulong nz, REAL scale, __global const REAL *lines, __global const REAL *f,
                    __global const REAL *u, __global REAL *partial)
{
    __local REAL shared[LOCAL];
    const uint lane = (uint)get_local_id(0);
    REAL total = ZERO;
    for (size_t q = get_group_id(0); q < ny * nz; q += get_num_groups(0)) {
        const row_type row = row_at(nx, ny, nz, lines, q % ny, q / ny);
        for (size_t i = lane; i < nx; i += LOCAL) {
            const REAL d = scale * (f[row.at + i] - product_at(nx, lines, &row, u, i));
            total += d * d;
        }
    }
    shared[lane] = total;
    SUM_TREES(shared, 1, lane);
    if (lane == 0) {
        partial[get_group_id(0)] = shared[0];
    }
}
#endif

// fine (nx by ny by nz) += interpolant of coarse (mx by my). Point i of a direction has weights[2 i] of coarse point from[2 i] and
// weights[2 i + 1] of coarse point from[2 i + 1]; the directions follow each other.
__kernel void add_interpolated(ulong nx, ulong ny, ulong nz, ulong mx, ulong my, __global const uint *from,
                               __global const REAL *weights, __global const REAL *coarse, __global REAL *fine)
{
    EACH_ROW(q, 0, ny * nz)
    {
        const size_t j = nx + q % ny;
        const size_t south = from[2 * j] * mx, north = from[2 * j + 1] * mx;
        const REAL ws = weights[2 * j], wn = weights[2 * j + 1];
#if DIM == 3
        const size_t k = nx + ny + q / ny;
        const size_t below = from[2 * k] * mx * my, above = from[2 * k + 1] * mx * my;
        const REAL wb = weights[2 * k], wa = weights[2 * k + 1];
#define INTERPOLATED(c)                                                                                                \
    (wb * (ws * coarse[below + south + (c)] + wn * coarse[below + north + (c)]) +                                      \
     wa * (ws * coarse[above + south + (c)] + wn * coarse[above + north + (c)]))
#else
        (void)my;
#define INTERPOLATED(c) (ws * coarse[south + (c)] + wn * coarse[north + (c)])
#endif
        EACH_COLUMN(i, 0, nx, 1)
        {
            const REAL value = weights[2 * i] * INTERPOLATED(from[2 * i]) + weights[2 * i + 1] * INTERPOLATED(from[2 * i + 1]);
            fine[q * nx + i] += value;
        }
    }
}

// coarse (mx by my by mz) = transpose of that interpolation of fine (nx by ny). Coarse point i of a direction has weights[4 i + l] of
// fine point to[4 i + l], l = 0 to 3; the directions follow each other, and each uses the first `count` of its four.
__kernel void restrict_box(ulong mx, ulong my, ulong mz, ulong nx, ulong ny, uint count_x, uint count_y, uint count_z,
                           __global const uint *to, __global const REAL *weights, __global const REAL *fine, __global REAL *coarse)
{
    EACH_ROW(q, 0, my * mz)
    {
        const size_t j = 4 * (mx + q % my), k = 4 * (mx + my + q / my);
        EACH_COLUMN(i, 0, mx, 1)
        {
            REAL value = ZERO;
            for (uint c = 0; c < (DIM == 3 ? count_z : 1u); ++c) {
                const size_t plane = DIM == 3 ? to[k + c] * nx * ny : 0;
                const REAL wc = DIM == 3 ? weights[k + c] : ONE;
                for (uint b = 0; b < count_y; ++b) {
                    const size_t row = plane + to[j + b] * nx;
                    REAL sum = ZERO;
                    for (uint a = 0; a < count_x; ++a) {
                        sum += weights[4 * i + a] * fine[row + to[4 * i + a]];
                    }
                    value += wc * weights[j + b] * sum;
                }
            }
            coarse[q * mx + i] = value;
        }
    }
}
