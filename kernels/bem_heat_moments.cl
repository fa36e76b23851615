// Space-time boundary elements for the heat equation: entries of the blocks from 2 on through moments.
//
// The build defines, besides what bem_heat.clh asks for,
//   DEGREE      degree in b of the sum over quadrature points, a multiple of 4, at least 4
//
// An entry of block d, d >= 2, is
//   sum_n c_n sum_q w_q exp2(-b_n rho_q)
// with the points n of a time rule, the points q of the tensor rule and rho = scale |x - y|^2, b_n in (0, 1]. With
// rho_q = rho_0 + u_q the inner sum is exp2(-b rho_0) times a power series in b whose coefficients are the moments
// sum_q w_q u_q^k: they are formed once for all blocks. The host bounds what the series leaves out; blocks for which it
// would need too many terms are those of bem_heat_pointwise.cl.
//
// Work, floating-point instructions: about 2 p + 15 per pair of points (3 p for D) with p <= DEGREE powers, then 16 + p
// per entry and time point. Traffic: 8 B (f64) per entry written.
//@ crate clinalg-bem
//@ build KIND=0 DEGREE=24
//@ build KIND=1 DEGREE=24
//@ build KIND=2 DEGREE=24
//@ build KIND=3 DEGREE=24
//@ build DEGREE=4 POINTS=7
//@ build PROCESSOR=1 KIND=0
//@ build PROCESSOR=1 KIND=3 DEGREE=8
#include "bem_heat.clh"
#include "bem_heat_entries.clh"

#ifndef DEGREE
#define DEGREE 16
#endif

// Sums that an item has at once, because each waits for its last addition.
#ifdef PROCESSOR
#define AT_ONCE 1
#else
#define AT_ONCE 2
#endif

// How many powers of u entries or pairs need whose centres are `apart` apart, `least` on: table[k] for k widths to k +
// 1.
typedef struct {
    __global const uint *table;
    REAL width;
} degrees_t;

// Places of the table; the last one is for all distances behind it.
#define DISTANCES 64

inline uint degree_of(degrees_t degrees, REALN square)
{
#ifdef PROCESSOR
    REAL lanes[8];
    vstore8(sqrt(square), 0, lanes);
    uint most = 0;
    for (uint k = 0; k < 8; ++k) {
        most = max(most, degrees.table[(uint)fmin(lanes[k] / degrees.width, (REAL)(DISTANCES - 1))]);
    }
    return most;
#else
    return degrees.table[(uint)fmin(sqrt(square) / degrees.width, (REAL)(DISTANCES - 1))];
#endif
}

// Adds the moments sum_q w_q u_q^k of a pair up to k = degree, `at_once` points at once; `seconds` are those of the
// second part of D.
inline __attribute__((always_inline)) void add_moments(triangles_t t, uint row, corners_t columns, REAL alpha,
                                                       REAL scale, REALN rho_0, uint degree, uint at_once,
                                                       REALN *moments, REALN *seconds)
{
    const pair_t pair = pair_of(t, row, columns, alpha);
#pragma unroll 1
    for (uint q = 0; q < POINTS; ++q) {
        const REALN y0 = of_triangle(POINT(t, q, 0), columns);
        const REALN y1 = of_triangle(POINT(t, q, 1), columns);
        const REALN y2 = of_triangle(POINT(t, q, 2), columns);
        const REALN trial = WEIGHT(t, q) * TRIAL_HAT(t, q, columns) * pair.factor;
        const REALN curls = WEIGHT(t, q) * pair.curls;
#pragma unroll 1
        for (uint p = 0; p < POINTS; p += at_once) {
            REALN u[AT_ONCE], v[AT_ONCE], w[AT_ONCE], power[AT_ONCE];
#pragma unroll
            for (uint z = 0; z < at_once; ++z) {
                const uint at = min(p + z, (uint)POINTS - 1);
                const REALN x0 = POINT(t, at, 0)[row / 4] - y0;
                const REALN x1 = POINT(t, at, 1)[row / 4] - y1;
                const REALN x2 = POINT(t, at, 2)[row / 4] - y2;
                // A rule of an odd number of points ends with a point of no weight.
                const REAL weight = p + z < POINTS ? WEIGHT(t, at) : ZERO;
                u[z] = (x0 * x0 + x1 * x1 + x2 * x2) * scale - rho_0;
                w[z] = weight * TEST_HAT(t, at, row) * trial;
                if (HAS_NORMAL) {
                    w[z] *= x0 * pair.normal[0] + x1 * pair.normal[1] + x2 * pair.normal[2];
                }
                // D has the powers for themselves, the others times the weight.
                v[z] = weight * curls;
                power[z] = KIND == KIND_D ? (REALN)(ONE) : w[z];
                moments[0] += KIND == KIND_D ? v[z] : w[z];
                seconds[0] += KIND == KIND_D ? w[z] : (REALN)(ZERO);
            }
#pragma unroll
            for (uint k = 1; k <= DEGREE; k += 4) {
                if (degree >= k) {
#pragma unroll
                    for (uint l = k; l < k + 4; ++l) {
#pragma unroll
                        for (uint z = 0; z < at_once; ++z) {
                            power[z] *= u[z];
                            moments[l] += KIND == KIND_D ? v[z] * power[z] : power[z];
                            if (KIND == KIND_D) {
                                seconds[l] += w[z] * power[z];
                            }
                        }
                    }
                }
            }
        }
    }
}

// Makes moments the coefficients of b^k in sum_q w_q exp2(-b u_q) = sum_k b^k (-ln 2)^k / k! moments[k]. The second
// part of D, 4 alpha beta (beta |x - y|^2 - 3/2) with beta = ln 2 scale b and |x - y|^2 = (rho_0 + u) / scale, raises b
// by one and two; `part` is 4 alpha ln 2 scale. factors[k] = (-ln 2)^k / k!, factors[25 + k] = (k + 1/2) factors[k - 1]
// come from memory: as constants they would not fit the registers.
inline void series_of_moments(REALN rho_0, REAL part, __global const REAL *factors, REALN *moments,
                              const REALN *seconds)
{
    // Zero, which compilers do not know: scalar registers could not hold all of them.
    __global const REAL *each = factors + (get_global_id(0) >> 31);
#pragma unroll
    for (uint k = 0; k <= DEGREE; ++k) {
        moments[k] *= each[k];
        // ln 2 factors[k - 2] = -(k - 1) factors[k - 1]
        if (KIND == KIND_D && k >= 1) {
            moments[k] -= part * each[25 + k] * seconds[k - 1];
        }
        if (KIND == KIND_D && k >= 2) {
            moments[k] += part * LN2 * rho_0 * each[k - 2] * seconds[k - 2];
        }
    }
}

// Entries of block d and, where `both`, of block d + 1, which has no more points than d and needs no higher degree. The
// sum over moments is a polynomial in b of the degree `degree` at most.
inline void add_nodes(__global const uint *ranges, __global const REAL *nodes, uint d, bool both, const REALN *series,
                      REALN rho_0, uint degree, REALN *entries)
{
    const uint begin = ranges[2 * (d - 2)];
    const uint middle = ranges[2 * (d - 2) + 2];
    const uint end = both ? ranges[2 * (d - 2) + 4] : middle;
    const uint most = min(degree, ranges[2 * (d - 2) + 1]);
#pragma unroll
    for (uint z = 0; z < AT_ONCE; ++z) {
        entries[z] = (REALN)(ZERO);
    }
#pragma unroll 1
    for (uint n = begin; n < middle; ++n) {
        REAL b[AT_ONCE], c[AT_ONCE];
        REALN sum[AT_ONCE];
#pragma unroll
        for (uint z = 0; z < AT_ONCE; ++z) {
            const uint at = z == 0 ? n : n + (middle - begin);
            const bool there = z == 0 || at < end;
            b[z] = there ? nodes[2 * at] : ZERO;
            c[z] = there ? nodes[2 * at + 1] : ZERO;
            sum[z] = (REALN)(ZERO);
        }
#pragma unroll
        for (int k = DEGREE; k > 0; k -= 4) {
            if (most > (uint)(k - 4)) {
#pragma unroll
                for (int l = k; l > k - 4; --l) {
#pragma unroll
                    for (uint z = 0; z < AT_ONCE; ++z) {
                        sum[z] = sum[z] * b[z] + series[l];
                    }
                }
            }
        }
#pragma unroll
        for (uint z = 0; z < AT_ONCE; ++z) {
            entries[z] += c[z] * exp2_negative(-b[z] * rho_0) * (sum[z] * b[z] + series[0]);
        }
    }
}

// Blocks first to first + blocks - 1 through moments of whole entries, for `panel_rows` rows. For block d the points of
// its time rule are ranges[2 (d - 2)] to ranges[2 (d - 2) + 2] - 1, its degree ranges[2 (d - 2) + 1]; nodes (b, c).
FILL_KERNEL NAMED(fill_blocks)(GEOMETRY_ARGUMENTS, REAL scale, REAL alpha, REAL part, __global const uint *ranges,
                               __global const REAL *nodes, __global const REAL *factors,
                               __global const uint *degree_table, REAL width, uint first, uint blocks, BLOCK_ARGUMENTS)
{
    GEOMETRY;
    const size_t j = get_global_id(0) * LANES;
    const uint i = (uint)get_global_id(1);
    if (j >= cols.stride || i >= panel_rows) {
        return;
    }
    REALN moments[DEGREE + 1], seconds[DEGREE + 1];
#pragma unroll
    for (uint k = 0; k <= DEGREE; ++k) {
        moments[k] = seconds[k] = (REALN)(ZERO);
    }
    REALN rho_0 = (REALN)(ZERO);
    for (uint d = 0; d < 3; ++d) {
        const REALN between = rows.centres[d * rows.stride + first_row + i] - CENTRE(cols, d, j);
        rho_0 += between * between;
    }
    const degrees_t degrees = {degree_table, width};
    const uint degree = degree_of(degrees, rho_0);
    rho_0 *= scale;
    for (uint a = 0; a < rows.slots; ++a) {
        const uint row = rows.corners[a * rows.stride + first_row + i];
        for (uint b = 0; b < cols.slots; ++b) {
            const corners_t columns = corners_of(cols, b, j);
            if (row != NONE && any_corner(columns)) {
                add_moments(t, row, columns, alpha, scale, rho_0, degree, AT_ONCE, moments, seconds);
            }
        }
    }
    series_of_moments(rho_0, part, factors, moments, seconds);
    __global REAL *entries = ENTRY(i, first, j);
#pragma unroll 1
    for (uint d = 0; d < blocks; d += AT_ONCE) {
        REALN entry[AT_ONCE];
        add_nodes(ranges, nodes, first + d, d + 1 < blocks, moments, rho_0, degree, entry);
#pragma unroll
        for (uint z = 0; z < AT_ONCE; ++z) {
            if (d + z < blocks) {
                STOREN(entry[z], entries + (size_t)(d + z) * cols.stride);
            }
        }
    }
}

// As fill_blocks through moments of each pair of triangles, whose points are nearer to their centres. `limits` are
// scale, alpha, part, the largest distance of two points from the centres of their triangles together, the b rho behind
// which pairs are left out, the width of the table of degrees, the rho behind which no block has a pair, and the
// factors: in memory, because scalar registers are few.
FILL_KERNEL NAMED(fill_blocks_paired)(GEOMETRY_ARGUMENTS, __global const REAL *limits, __global const uint *ranges,
                                      __global const REAL *nodes, __global const uint *degree_table,
                                      __global const REAL *centres, uint centre_stride, uint first, uint blocks,
                                      BLOCK_ARGUMENTS)
{
    GEOMETRY;
    const size_t j = get_global_id(0) * LANES;
    const uint i = (uint)get_global_id(1);
    if (j >= cols.stride || i >= panel_rows) {
        return;
    }
    __global REAL *entries = ENTRY(i, first, j);
    for (uint d = 0; d < blocks; ++d) {
        STOREN((REALN)(ZERO), entries + (size_t)d * cols.stride);
    }
    __global const uint *row_of = rows.corners + (first_row + i);
    // One loop, and what is read in the items' own registers, because scalar ones are few.
    const size_t zero = get_global_id(0) >> 31;
    __global const REAL *each = nodes + zero;
    __global const REAL *limit = limits + zero;
    const uint pairs = rows.slots * cols.slots;
    for (uint m = 0; m < pairs; ++m) {
        const uint row = row_of[m / cols.slots * rows.stride];
        const corners_t columns = corners_of(cols, m % cols.slots, j);
        if (row == NONE || !any_corner(columns)) {
            continue;
        }
        REALN between = (REALN)(ZERO);
#pragma unroll 1
        for (uint d = 0; d < 3; ++d) {
            __global const REAL *centre = centres + d * centre_stride;
            const REALN along = centre[row / 4] - of_triangle(centre, columns);
            between += along * along;
        }
        const REALN apart = fmax(sqrt(between) - limit[3], (REALN)(ZERO));
        const REAL nearest = limit[0] * least(apart * apart);
        if (nearest > limit[6]) {
            continue;
        }
        REALN moments[DEGREE + 1], seconds[DEGREE + 1];
#pragma unroll
        for (uint k = 0; k <= DEGREE; ++k) {
            moments[k] = seconds[k] = (REALN)(ZERO);
        }
        const REALN rho_0 = limit[0] * between;
        const degrees_t degrees = {degree_table, limit[5]};
        const uint degree = degree_of(degrees, between);
        add_moments(t, row, columns, limit[1], limit[0], rho_0, degree, 1, moments, seconds);
        series_of_moments(rho_0, limit[2], limit + 7, moments, seconds);
#pragma unroll 1
        for (uint d = 0; d < blocks; d += AT_ONCE) {
            // Points of a time rule come by falling b, and so do blocks.
            const uint end = ranges[2 * (min(first + d + AT_ONCE, first + blocks) - 2)];
            if (nearest * each[2 * (end - 1)] <= limit[4]) {
                REALN entry[AT_ONCE];
                add_nodes(ranges, each, first + d, d + 1 < blocks, moments, rho_0, degree, entry);
#pragma unroll
                for (uint z = 0; z < AT_ONCE; ++z) {
                    if (d + z < blocks) {
                        __global REAL *to = entries + (size_t)(d + z) * cols.stride;
#ifdef PROCESSOR
                        STOREN(vload8(0, to) + entry[z], to);
#else
                        *to += entry[z];
#endif
                    }
                }
            }
        }
    }
}
