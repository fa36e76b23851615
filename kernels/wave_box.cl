// The wave equation u_tt = c^2 Laplace u on boxes of nx by ny by nz points, those on the sides included: point (i, j, k) is u[(k ny + j) nx + i].
// Leapfrog with mirrored neighbours on free sides; absorbing ones add the first-order condition of Engquist and Majda (1977),
// u_t + c du/dn = 0, by which the mirrored point loses h / (c dt) (u_next - u_before). Damping layers add sigma u_t to the left side.
//
// Traffic per point and step, f64, where every neighbour comes from cache: 32 B.
//
// GPUs: a point per item. CPUs: a run of rows per item.
//@ build
//@ build CPU=1
#include "common.clh"
#include "grid.clh"

#ifdef CPU
#define EACH_ROW(q, to) for (size_t q = PART_BEGIN((size_t)(to)); q < PART_END((size_t)(to)); ++q)
#define EACH_COLUMN(i, to) for (size_t i = 0; i < (to); ++i)
#else
#define EACH_ROW(q, to) for (size_t q = get_global_id(1); q < (to); q += get_global_size(1))
#define EACH_COLUMN(i, to) for (size_t i = get_global_id(0); i < (to); i += get_global_size(0))
#endif

// What holds on a side: two bits for each of x0, x1, y0, y1, z0, z1.
#define FIXED 0
#define ABSORBING 2
#define PERIODIC 3
#define SIDE(k) ((sides >> (2 * (k))) & 3)

// `before` = the step after u, where `before` is the one before u. courant: c dt at each point. ax to az: 1 / h^2 of each direction, bx to bz: 1 / h; both
// 0 for a direction that is not there, which has one point. damping: sigma / (2 c), the sum of a number for i, one for j and one for k, nx + ny + nz numbers.
__kernel void leap_box(ulong nx, ulong ny, ulong nz, REAL ax, REAL ay, REAL az, REAL bx, REAL by, REAL bz, uint sides,
                       __global const REAL *damping, __global const REAL *courant, __global const REAL *u, __global REAL *before)
{
    EACH_ROW(q, ny * nz)
    {
        // Products again and again, and no division in two dimensions, save scalar registers of some GPUs.
        const size_t k = nz == 1 ? 0 : q / ny, j = q - k * ny, row = q * nx;
        const bool wraps_y = SIDE(2) == PERIODIC, wraps_z = SIDE(4) == PERIODIC, flat = nz == 1;
        const size_t south = j > 0 ? row - nx : wraps_y ? row + nx * ny - nx : row + nx;
        const size_t north = j < ny - 1 ? row + nx : wraps_y ? row - (nx * ny - nx) : row - nx;
        const size_t below = flat ? row : k > 0 ? row - nx * ny : wraps_z ? row + (nz - 1) * (nx * ny) : row + nx * ny;
        const size_t above = flat ? row : k < nz - 1 ? row + nx * ny : wraps_z ? row - (nz - 1) * (nx * ny) : row - nx * ny;
        REAL row_loss = damping[nx + j] + damping[nx + ny + k];
        bool row_held = false;
        if (j == 0) {
            row_held |= SIDE(2) == FIXED;
            row_loss += SIDE(2) == ABSORBING ? by : ZERO;
        }
        if (j == ny - 1) {
            row_held |= SIDE(3) == FIXED;
            row_loss += SIDE(3) == ABSORBING ? by : ZERO;
        }
        if (!flat && k == 0) {
            row_held |= SIDE(4) == FIXED;
            row_loss += SIDE(4) == ABSORBING ? bz : ZERO;
        }
        if (!flat && k == nz - 1) {
            row_held |= SIDE(5) == FIXED;
            row_loss += SIDE(5) == ABSORBING ? bz : ZERO;
        }
        if (row_held)
            continue;
        EACH_COLUMN(i, nx)
        {
            const bool first = i == 0, last = i == nx - 1, wraps = SIDE(0) == PERIODIC;
            if ((first && SIDE(0) == FIXED) || (last && SIDE(1) == FIXED))
                continue;
            const size_t west = !first ? i - 1 : wraps ? nx - 1 : 1;
            const size_t east = !last ? i + 1 : wraps ? 0 : nx - 2;
            const REAL loss = row_loss + damping[i] + (first && SIDE(0) == ABSORBING ? bx : ZERO) + (last && SIDE(1) == ABSORBING ? bx : ZERO);
            const REAL here = u[row + i], c = courant[row + i], s = c * loss;
            const REAL around = ax * ((u[row + west] - here) + (u[row + east] - here)) +
                                ay * ((u[south + i] - here) + (u[north + i] - here)) +
                                az * ((u[below + i] - here) + (u[above + i] - here));
            before[row + i] = (TWO * here - ((REAL)1 - s) * before[row + i] + c * c * around) / ((REAL)1 + s);
        }
    }
}
