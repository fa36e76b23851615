// -div(K grad u) + c u on boxes of nx by ny by nz unknowns as differences to the neighbours: (A u)_p is the sum of c_pq (u_p - u_q) over the
// neighbours q of point p, and mass[p] u_p. Point (i, j, k) is u[(k ny + j) nx + i]. `c` has the couplings to half of the neighbours, those of
// one offset after those of another: number o of the list below at point p is c[o nx ny nz + p]; the other half are those of the neighbours.
// Offsets go on at the opposite side, where couplings are 0 unless the direction is periodic. Built with FULL = 0 there are neighbours along
// the directions only, with FULL = 1 along the diagonals too. Built with DIM = 2 there is one plane.
//
// Traffic per point, f64, where every neighbour comes from cache: 8 B for each offset and the mass, and 24 B (relax, residual) or 16 B (apply).
//
// GPUs: a point per item. CPUs: a run of rows per item.
//@ build DIM=2 FULL=0
//@ build DIM=2 FULL=1
//@ build DIM=3 FULL=0
//@ build DIM=3 FULL=1
//@ build DIM=2 FULL=0 CPU=1
//@ build DIM=2 FULL=1 CPU=1
//@ build DIM=3 FULL=0 CPU=1
//@ build DIM=3 FULL=1 CPU=1
#include "common.clh"
#include "grid.clh"
#include "boxes_stencil.clh"

// DO(number, dx, dy, dz) for the offsets in the order of `c`.
#if DIM == 3
#define ALONG(DO) DO(0, 1, 0, 0) DO(1, 0, 1, 0) DO(2, 0, 0, 1)
#define DIAGONAL(DO)                                                                                                   \
    DO(3, 1, 1, 0)                                                                                                     \
    DO(4, -1, 1, 0)                                                                                                    \
    DO(5, 1, 0, 1)                                                                                                     \
    DO(6, -1, 0, 1)                                                                                                    \
    DO(7, 0, 1, 1)                                                                                                     \
    DO(8, 0, -1, 1)                                                                                                    \
    DO(9, 1, 1, 1)                                                                                                     \
    DO(10, -1, 1, 1)                                                                                                   \
    DO(11, 1, -1, 1)                                                                                                   \
    DO(12, -1, -1, 1)
#else
#define ALONG(DO) DO(0, 1, 0, 0) DO(1, 0, 1, 0)
#define DIAGONAL(DO) DO(2, 1, 1, 0) DO(3, -1, 1, 0)
#endif
#if FULL
#define OFFSETS(DO) ALONG(DO) DIAGONAL(DO)
#else
#define OFFSETS(DO) ALONG(DO)
#endif

// The neighbours of point or row i of n: at the sides of a direction that does not wrap, the point itself, which no other item writes.
#define WITHIN_BEFORE(i, n, wraps) ((i) > 0 ? (i)-1 : (wraps) ? (n)-1 : 0)
#define WITHIN_AFTER(i, n, wraps) ((i) + 1 < (n) ? (i) + 1 : (wraps) ? 0 : (i))

// Where the nine rows around a row begin; in two dimensions the three of its plane.
typedef struct {
    size_t at[9];
} rows_type;

// `wraps` has a bit for each direction that goes on at the opposite side.
inline rows_type rows_at(size_t nx, size_t ny, size_t nz, uint wraps, size_t j, size_t k)
{
    rows_type rows;
    const size_t below = WITHIN_BEFORE(k, nz, wraps & 4), above = WITHIN_AFTER(k, nz, wraps & 4);
    const size_t south = WITHIN_BEFORE(j, ny, wraps & 2), north = WITHIN_AFTER(j, ny, wraps & 2);
    rows.at[0] = (below * ny + south) * nx;
    rows.at[1] = (below * ny + j) * nx;
    rows.at[2] = (below * ny + north) * nx;
    rows.at[3] = (k * ny + south) * nx;
    rows.at[4] = (k * ny + j) * nx;
    rows.at[5] = (k * ny + north) * nx;
    rows.at[6] = (above * ny + south) * nx;
    rows.at[7] = (above * ny + j) * nx;
    rows.at[8] = (above * ny + north) * nx;
    return rows;
}

// Couplings are those of rows that wrap, whatever the direction.
#define COUPLING_ROWS rows_at(nx, ny, nz, 7, j, k)

#define PLACE(rows, west, east, dx, dy, dz)                                                                            \
    ((rows)->at[4 + 3 * (dz) + (dy)] + ((dx) < 0 ? (west) : (dx) > 0 ? (east) : i))

// (A u) at point i of a row, and the diagonal of A; `stored` are COUPLING_ROWS.
inline REAL product_at(size_t nx, size_t points, uint wraps, __global const REAL *c, __global const REAL *mass,
                       const rows_type *rows, const rows_type *stored, __global const REAL *u, size_t i)
{
    const size_t west = WITHIN_BEFORE(i, nx, wraps & 1), east = WITHIN_AFTER(i, nx, wraps & 1);
    const size_t back = BEFORE(i, nx), on = AFTER(i, nx), p = rows->at[4] + i;
    const REAL centre = u[p];
    REAL sum = mass[p] * centre;
#define FLUX(o, dx, dy, dz)                                                                                            \
    {                                                                                                                  \
        const size_t after = PLACE(rows, west, east, dx, dy, dz), before = PLACE(rows, west, east, -(dx), -(dy), -(dz)); \
        sum += c[(o)*points + p] * (centre - u[after]) +                                                               \
               c[(o)*points + PLACE(stored, back, on, -(dx), -(dy), -(dz))] * (centre - u[before]);                    \
    }
    OFFSETS(FLUX)
    (void)on;
    return sum;
}

inline REAL diagonal_at(size_t nx, size_t points, __global const REAL *c, __global const REAL *mass, const rows_type *stored, size_t i)
{
    const size_t back = BEFORE(i, nx), on = AFTER(i, nx), p = stored->at[4] + i;
    REAL sum = mass[p];
#define COUPLING(o, dx, dy, dz) sum += c[(o)*points + p] + c[(o)*points + PLACE(stored, back, on, -(dx), -(dy), -(dz))];
    OFFSETS(COUPLING)
    (void)on;
    return sum;
}

// u += (f - A u) / diagonal at the points of a colour in a part of the box: x0 <= i < x1, y0 <= j < y1, z0 <= k < z1. FULL = 0: the points
// with (i + j + k) % 2 == colour. FULL = 1: those with i % 2, j % 2 and k % 2 the bits of the colour. No two points of the colour in that part
// may be neighbours.
__kernel void relax(ulong nx, ulong ny, ulong nz, uint wraps, ulong x0, ulong x1, ulong y0, ulong y1, ulong z0, ulong z1, uint colour,
                    __global const REAL *c, __global const REAL *mass, __global const REAL *f, __global REAL *u)
{
    const size_t points = nx * ny * nz;
#if FULL
    const size_t first_y = y0 + ((y0 + (colour >> 1)) & 1), first_z = DIM == 3 ? z0 + ((z0 + (colour >> 2)) & 1) : z0;
    const size_t height = first_y < y1 ? (y1 - first_y + 1) / 2 : 0, depth = first_z < z1 ? (z1 - first_z + 1) / 2 : 0;
#else
    const size_t height = y1 - y0, depth = z1 - z0;
#endif
    EACH_ROW(q, height * depth)
    {
#if FULL
        const size_t j = first_y + 2 * (q % height), k = first_z + 2 * (q / height), first = x0 + ((x0 + colour) & 1);
#else
        const size_t j = y0 + q % height, k = z0 + q / height, first = x0 + ((x0 + j + k + colour) & 1);
#endif
        const rows_type rows = rows_at(nx, ny, nz, wraps, j, k), stored = COUPLING_ROWS;
        EACH_COLUMN(i, first, x1, 2)
        {
            const size_t p = rows.at[4] + i;
            const REAL defect = f[p] - product_at(nx, points, wraps, c, mass, &rows, &stored, u, i);
            u[p] += defect / diagonal_at(nx, points, c, mass, &stored, i);
        }
    }
}

// d = f - A u.
__kernel void residual(ulong nx, ulong ny, ulong nz, uint wraps, __global const REAL *c, __global const REAL *mass, __global const REAL *f,
                       __global const REAL *u, __global REAL *d)
{
    EACH_ROW(q, ny * nz)
    {
        const size_t j = q % ny, k = q / ny;
        const rows_type rows = rows_at(nx, ny, nz, wraps, j, k), stored = COUPLING_ROWS;
        EACH_COLUMN(i, 0, nx, 1)
        {
            const size_t p = rows.at[4] + i;
            d[p] = f[p] - product_at(nx, nx * ny * nz, wraps, c, mass, &rows, &stored, u, i);
        }
    }
}

// y = alpha A x + beta y; beta = 0 never reads y.
__kernel void apply_stencil(ulong nx, ulong ny, ulong nz, uint wraps, __global const REAL *c, __global const REAL *mass, REAL alpha,
                            __global const REAL *x, REAL beta, __global REAL *y)
{
    EACH_ROW(q, ny * nz)
    {
        const size_t j = q % ny, k = q / ny;
        const rows_type rows = rows_at(nx, ny, nz, wraps, j, k), stored = COUPLING_ROWS;
        EACH_COLUMN(i, 0, nx, 1)
        {
            const size_t p = rows.at[4] + i;
            const REAL value = alpha * product_at(nx, nx * ny * nz, wraps, c, mass, &rows, &stored, x, i);
            y[p] = beta == ZERO ? value : value + beta * y[p];
        }
    }
}

// Transfers go by one direction after the other, x first. Fine point i of a direction has part w of coarse point from[2 i] and 1 - w of
// coarse point from[2 i + 1], with w of its own for each line: along x on the fine grid, along y where x is coarse, along z where x and y are.
// Directions follow each other in `from` and `to`; those without their bit in `coarsened` stay as they are.
#define ALONG_X (coarsened & 1)
#define ALONG_Y (coarsened & 2)
#define ALONG_Z (DIM == 3 && (coarsened & 4))

// fine (nx by ny by nz) += interpolant of coarse (mx by my by mz).
__kernel void add_interpolated(ulong nx, ulong ny, ulong nz, ulong mx, ulong my, uint coarsened, __global const uint *from,
                               __global const REAL *wx, __global const REAL *wy, __global const REAL *wz,
                               __global const REAL *coarse, __global REAL *fine)
{
    EACH_ROW(q, ny * nz)
    {
        const size_t j = q % ny, k = q / ny;
        EACH_COLUMN(i, 0, nx, 1)
        {
            REAL value = ZERO;
            for (uint a = 0; a < (ALONG_X ? 2u : 1u); ++a) {
                const size_t ci = ALONG_X ? from[2 * i + a] : i;
                const REAL x = ALONG_X ? wx[q * nx + i] : ONE;
                for (uint b = 0; b < (ALONG_Y ? 2u : 1u); ++b) {
                    const size_t cj = ALONG_Y ? from[2 * (nx + j) + b] : j;
                    const REAL y = ALONG_Y ? wy[q * mx + ci] : ONE;
                    for (uint l = 0; l < (ALONG_Z ? 2u : 1u); ++l) {
                        const size_t ck = ALONG_Z ? from[2 * (nx + ny + k) + l] : k;
                        const REAL z = ALONG_Z ? wz[(k * my + cj) * mx + ci] : ONE;
                        const REAL weight = (a ? ONE - x : x) * (b ? ONE - y : y) * (l ? ONE - z : z);
                        value += weight * coarse[(ck * my + cj) * mx + ci];
                    }
                }
            }
            fine[q * nx + i] += value;
        }
    }
}

// coarse = transpose of that interpolation of fine. Coarse point i of a direction takes fine point to[3 i + l] / 2 for l = 0 to 2, with the part
// w or 1 - w by the lowest bit; UINT_MAX stands for none.
__kernel void restrict_stencil(ulong mx, ulong my, ulong mz, ulong nx, ulong ny, uint coarsened, __global const uint *to,
                               __global const REAL *wx, __global const REAL *wy, __global const REAL *wz,
                               __global const REAL *fine, __global REAL *coarse)
{
    EACH_ROW(q, my * mz)
    {
        const size_t cj = q % my, ck = q / my;
        EACH_COLUMN(ci, 0, mx, 1)
        {
            REAL value = ZERO;
            for (uint l = 0; l < (ALONG_Z ? 3u : 1u); ++l) {
                const uint tz = ALONG_Z ? to[3 * (mx + my + ck) + l] : 0;
                if (tz == UINT_MAX) {
                    break;
                }
                const size_t k = ALONG_Z ? tz / 2 : ck;
                const REAL z = ALONG_Z ? wz[(k * my + cj) * mx + ci] : ONE;
                for (uint b = 0; b < (ALONG_Y ? 3u : 1u); ++b) {
                    const uint ty = ALONG_Y ? to[3 * (mx + cj) + b] : 0;
                    if (ty == UINT_MAX) {
                        break;
                    }
                    const size_t j = ALONG_Y ? ty / 2 : cj, row = k * ny + j;
                    const REAL y = ALONG_Y ? wy[row * mx + ci] : ONE;
                    for (uint a = 0; a < (ALONG_X ? 3u : 1u); ++a) {
                        const uint tx = ALONG_X ? to[3 * ci + a] : 0;
                        if (tx == UINT_MAX) {
                            break;
                        }
                        const size_t i = ALONG_X ? tx / 2 : ci;
                        const REAL x = ALONG_X ? wx[row * nx + i] : ONE;
                        const REAL weight = ((tx & 1) ? ONE - x : x) * ((ty & 1) ? ONE - y : y) * ((tz & 1) ? ONE - z : z);
                        value += weight * fine[row * nx + i];
                    }
                }
            }
            coarse[q * mx + ci] = value;
        }
    }
}
