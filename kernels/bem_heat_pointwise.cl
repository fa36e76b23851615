// Space-time boundary elements for the heat equation: entries of the blocks from 2 on point by point, where moments
// (bem_heat_moments.cl) would need too many terms.
//
// Work: 15 + 2 TERMS floating-point instructions (20 + 4 TERMS for D) per pair of points and block. Traffic: 8 B (f64)
// per entry written.
//@ crate clinalg-bem
//@ build KIND=0
//@ build KIND=1
//@ build KIND=2
//@ build KIND=3
//@ build POINTS=7
//@ build PROCESSOR=1 KIND=0
//@ build PROCESSOR=1 KIND=3
#include "bem_heat.clh"
#include "bem_heat_entries.clh"

// A function of rho, in units in which the steepest of its terms falls by half, by polynomials of TERMS terms in cells
// of width 1: term k of cell c at k cells + c. The last cell, for all rho behind it, holds zeros.
#if REAL_BITS == 64
#define TERMS 10
#else
#define TERMS 6
#endif

inline REAL lane_in_table(__global const REAL *table, uint cells, REAL rho)
{
    const uint cell = (uint)fmin(rho, (REAL)(cells - 1));
    const REAL x = (REAL)2.0 * (rho - (REAL)cell) - ONE;
    __global const REAL *from = table + cell;
    REAL sum = from[(TERMS - 1) * cells];
#pragma unroll
    for (int k = TERMS - 2; k >= 0; --k) {
        sum = sum * x + from[k * cells];
    }
    return sum;
}

#ifdef PROCESSOR
inline REALN in_table(__global const REAL *table, uint cells, REALN rho)
{
    REAL lanes[8];
    vstore8(rho, 0, lanes);
    for (uint k = 0; k < 8; ++k) {
        lanes[k] = lane_in_table(table, cells, lanes[k]);
    }
    return vload8(0, lanes);
}
#else
#define in_table(table, cells, rho) lane_in_table(table, cells, rho)
#endif

// As fill_blocks, summed point by point: the time rules' sums come from tables, for D one for each part. `cuts` has two
// numbers for each block: what rho is multiplied with for its table, and the rho behind which entries become 0. `reach`
// is the largest distance of a point from the centres of row and column together.
FILL_KERNEL NAMED(fill_blocks_pointwise)(GEOMETRY_ARGUMENTS, REAL scale, REAL alpha, __global const REAL *tables,
                                         uint cells, __global const REAL *cuts, REAL reach, uint first, uint blocks,
                                         BLOCK_ARGUMENTS)
{
    GEOMETRY;
    const size_t j = get_global_id(0) * LANES;
    const uint i = (uint)get_global_id(1);
    if (j >= cols.stride || i >= panel_rows) {
        return;
    }
    REALN between = (REALN)(ZERO);
    for (uint d = 0; d < 3; ++d) {
        const REALN along = rows.centres[d * rows.stride + first_row + i] - CENTRE(cols, d, j);
        between += along * along;
    }
    const REALN apart = fmax(sqrt(between) - reach, (REALN)(ZERO));
    const REAL nearest = scale * least(apart * apart);
    for (uint d = 0; d < blocks; ++d) {
        REALN entry = (REALN)(ZERO);
        __global const REAL *table = tables + (size_t)d * (KIND == KIND_D ? 2 : 1) * TERMS * cells;
        const REAL steepest = cuts[2 * d];
        if (nearest <= cuts[2 * d + 1]) {
            for (uint a = 0; a < rows.slots; ++a) {
                const uint row = rows.corners[a * rows.stride + first_row + i];
                for (uint b = 0; b < cols.slots; ++b) {
                    const corners_t columns = corners_of(cols, b, j);
                    if (row == NONE || !any_corner(columns)) {
                        continue;
                    }
                    const pair_t pair = pair_of(t, row, columns, alpha);
#pragma unroll 1
                    for (uint q = 0; q < POINTS; ++q) {
                        const REALN y0 = of_triangle(POINT(t, q, 0), columns);
                        const REALN y1 = of_triangle(POINT(t, q, 1), columns);
                        const REALN y2 = of_triangle(POINT(t, q, 2), columns);
                        const REALN trial = WEIGHT(t, q) * TRIAL_HAT(t, q, columns) * pair.factor;
                        const REALN curls = WEIGHT(t, q) * pair.curls;
#pragma unroll 1
                        for (uint p = 0; p < POINTS; ++p) {
                            const REALN x0 = POINT(t, p, 0)[row / 4] - y0;
                            const REALN x1 = POINT(t, p, 1)[row / 4] - y1;
                            const REALN x2 = POINT(t, p, 2)[row / 4] - y2;
                            const REALN rho = (x0 * x0 + x1 * x1 + x2 * x2) * scale * steepest;
                            REALN w = WEIGHT(t, p) * TEST_HAT(t, p, row) * trial;
                            if (HAS_NORMAL) {
                                w *= x0 * pair.normal[0] + x1 * pair.normal[1] + x2 * pair.normal[2];
                            }
                            if (KIND == KIND_D) {
                                entry += WEIGHT(t, p) * curls * in_table(table, cells, rho) +
                                    w * in_table(table + TERMS * cells, cells, rho);
                            } else {
                                entry += w * in_table(table, cells, rho);
                            }
                        }
                    }
                }
            }
        }
        STOREN(entry, ENTRY(i, first + d, j));
    }
}
