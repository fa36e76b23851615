// Space-time boundary elements for the heat equation: the blocks of the four operators, and their products.
//
// The build defines
//   KIND        0 V, 1 K, 2 Ks, 3 D
//   POINTS      points of the triangle rule
//   DEGREE      degree in b of the sum over quadrature points, a multiple of 4, at least 4
//   STEPS_ITEM  time steps that an item of the product has, and
//   ROWS_ITEM   rows; both only for GPUs
//   PROCESSOR   only for CPUs: eight columns at a time
//   TESTS       only for the published algorithms: test and
//   TRIALS      trial triangles of a work-group, the latter a power of two
//
// An entry of block d, d >= 2, is
//   sum_n c_n sum_q w_q exp2(-b_n rho_q)
// with the points n of a time rule, the points q of the tensor rule and rho = scale |x - y|^2, b_n in (0, 1]. With
// rho_q = rho_0 + u_q the inner sum is exp2(-b rho_0) times a power series in b whose coefficients are the moments
// sum_q w_q u_q^k: they are formed once for all blocks. The host bounds what the series leaves out. Where it would need too many
// terms, the points are summed one by one, the sum over n from a table.
//
// Work, floating-point instructions: fill_blocks about 2 p + 15 per pair of points (3 p for D) with p <= DEGREE powers, then 16 + p per
// entry and time point; fill_blocks_pointwise 15 + 2 TERMS (20 + 4 TERMS for D) per pair of points and block; the product one per entry and time step behind it. Traffic: 8 B (f64) per entry written and read.
//@ crate clinalg-bem
//@ build KIND=0 DEGREE=24
//@ build KIND=1 DEGREE=24
//@ build KIND=2 DEGREE=24
//@ build KIND=3 DEGREE=24
//@ build KIND=0 TESTS=1 TRIALS=256
//@ build KIND=1 TESTS=8 TRIALS=16
//@ build KIND=2 TESTS=8 TRIALS=16
//@ build KIND=3 TESTS=8 TRIALS=8
//@ build PROCESSOR=1 KIND=0
//@ build PROCESSOR=1 KIND=3 DEGREE=8
//@ build DEGREE=4 STEPS_ITEM=1 ROWS_ITEM=2 POINTS=7
#include "common.clh"

#ifndef KIND
#define KIND 0
#endif
#ifndef POINTS
#define POINTS 6
#endif
#ifndef DEGREE
#define DEGREE 16
#endif
#ifndef STEPS_ITEM
#define STEPS_ITEM 8
#endif
#ifndef ROWS_ITEM
#define ROWS_ITEM 2
#endif

#define KIND_V 0
#define KIND_K 1
#define KIND_KS 2
#define KIND_D 3
#define HAS_NORMAL (KIND == KIND_K ? 1 : KIND == KIND_KS)

#define LN2 ((REAL)0.69314718055994530942)
#define PI ((REAL)3.14159265358979323846)
#define TWO_OVER_ROOT_PI ((REAL)1.12837916709551257390)

// Marks an empty place in a list of corners.
#define NONE 0xffffffffu
// How many zeros stand before the first time step of x.
#define BEFORE 16

// One column at a time, or eight.
#ifdef PROCESSOR
#define LANES 8
#define AT_ONCE 1
#define NAMED(name) name##_cpu
#define REALN REAL8
#define INTN INT8
#define STOREN(v, p) vstore8(v, 0, p)
#define FILL_KERNEL __kernel void
#if REAL_BITS == 64
#define AS_INTN as_long8
#define AS_REALN as_double8
#else
#define AS_INTN as_int8
#define AS_REALN as_float8
#endif
#else
#define LANES 1
// Sums that an item has at once, because each waits for its last addition.
#define AT_ONCE 2
#define NAMED(name) name##_gpu
#define REALN REAL
#define STOREN(v, p) (*(p) = (v))
// Without it a compiler has to leave registers for the largest work-group there is.
#define FILL_KERNEL __kernel __attribute__((reqd_work_group_size(64, 2, 1))) void
#if REAL_BITS == 64
#define INTN long
#define AS_INTN as_long
#define AS_REALN as_double
#else
#define INTN int
#define AS_INTN as_int
#define AS_REALN as_float
#endif
#endif

// 2^t for t <= 0 to 3e-16 in double, to rounding in single precision: the polynomials interpolate 2^f in the Chebyshev points
// of (-1/2, 1/2). Below the smallest normal number it stays near that.
inline REALN exp2_negative(REALN t)
{
#if REAL_BITS == 64
    const REALN magic = (REALN)(6755399441055744.0);
    t = fmax(t, (REALN)(-1000.0));
#else
    const REALN magic = (REALN)(12582912.0f);
    t = fmax(t, (REALN)(-120.0f));
#endif
    // The low bits of the sum hold the whole number next to t.
    const REALN sum = t + magic;
    const REALN f = t - (sum - magic);
#if REAL_BITS == 64
    REALN p = (REALN)(7.0725825725482288e-09);
    p = p * f + (REALN)(1.0208690372639245e-07);
    p = p * f + (REALN)(1.3215442609276775e-06);
    p = p * f + (REALN)(1.5252657259779019e-05);
    p = p * f + (REALN)(1.5403530441684431e-04);
    p = p * f + (REALN)(1.3333558230165855e-03);
    p = p * f + (REALN)(9.6181291076069490e-03);
    p = p * f + (REALN)(5.5504108664447709e-02);
    p = p * f + (REALN)(2.4022650695910097e-01);
    p = p * f + (REALN)(6.9314718055994995e-01);
    p = p * f + (REALN)(1.0);
    return AS_REALN(AS_INTN(p) + (AS_INTN(sum) << (INTN)(52)));
#else
    REALN p = (REALN)(1.5461444698564738e-04f);
    p = p * f + (REALN)(1.3400428177615747e-03f);
    p = p * f + (REALN)(9.6180566785246564e-03f);
    p = p * f + (REALN)(5.5503272266703027e-02f);
    p = p * f + (REALN)(2.4022650922288757e-01f);
    p = p * f + (REALN)(6.9314720670283259e-01f);
    p = p * f + (REALN)(1.0f);
    return AS_REALN(AS_INTN(p) + (AS_INTN(sum) << (INTN)(23)));
#endif
}

// Triangles, each quantity an array of `count` values of its own.
typedef struct {
    // Coordinate d of rule point q at (3 q + d) count.
    __global const REAL *points;
    // Area, normal (3), surface curls of the three hats (3 each).
    __global const REAL *shapes;
    // Weight and values of the three hats, for each rule point.
    __global const REAL *rule;
    // Times the number of arrays it is below 2^32.
    uint count;
} triangles_t;

#define AREA(t) ((t).shapes)
#define NORMAL(t, d) ((t).shapes + (1 + (d)) * (t).count)
#define CURL(t, c, d) ((t).shapes + (4 + 3 * (c) + (d)) * (t).count)
#define POINT(t, q, d) ((t).points + (3 * (q) + (d)) * (t).count)
#define WEIGHT(t, q) ((t).rule[4 * (q)])
#define HAT(t, q, c) ((t).rule[4 * (q) + 1 + (c)])

// Rows or columns: which corners of triangles belong to each, `slots` lists of `stride`, and the centres, 3 arrays of
// `stride`. A corner is triangle * 4 + corner.
typedef struct {
    __global const uint *corners;
    __global const REAL *centres;
    uint stride;
    uint slots;
} entities_t;

// The columns that an item has.
#ifdef PROCESSOR
typedef struct {
    uint lane[8];
} corners_t;

inline corners_t corners_of(entities_t e, uint slot, size_t j)
{
    corners_t corners;
    for (uint k = 0; k < 8; ++k) {
        corners.lane[k] = e.corners[slot * e.stride + j + k];
    }
    return corners;
}

inline bool any_corner(corners_t c)
{
    uint all = NONE;
    for (uint k = 0; k < 8; ++k) {
        all &= c.lane[k];
    }
    return all != NONE;
}

inline REALN of_triangle(__global const REAL *values, corners_t c)
{
    REAL lanes[8];
    for (uint k = 0; k < 8; ++k) {
        lanes[k] = values[c.lane[k] == NONE ? 0u : c.lane[k] / 4];
    }
    return vload8(0, lanes);
}

inline REALN there(corners_t c)
{
    REAL lanes[8];
    for (uint k = 0; k < 8; ++k) {
        lanes[k] = c.lane[k] == NONE ? ZERO : ONE;
    }
    return vload8(0, lanes);
}

inline REALN curl_of(triangles_t t, uint d, corners_t c)
{
    REAL lanes[8];
    for (uint k = 0; k < 8; ++k) {
        lanes[k] = c.lane[k] == NONE ? ZERO : CURL(t, c.lane[k] % 4, d)[c.lane[k] / 4];
    }
    return vload8(0, lanes);
}

inline REALN hat_of(triangles_t t, uint q, corners_t c)
{
    REAL lanes[8];
    for (uint k = 0; k < 8; ++k) {
        lanes[k] = c.lane[k] == NONE ? ZERO : HAT(t, q, c.lane[k] % 4);
    }
    return vload8(0, lanes);
}
#else
typedef uint corners_t;
#define corners_of(e, slot, j) ((e).corners[(slot) * (e).stride + (j)])
#define any_corner(c) ((c) != NONE)
#define of_triangle(values, c) ((values)[(c) / 4])
#define there(c) ONE
#define curl_of(t, d, c) (CURL(t, (c) % 4, d)[(c) / 4])
#define hat_of(t, q, c) HAT(t, q, (c) % 4)
#endif

#ifdef PROCESSOR
#define CENTRE(e, d, j) vload8(0, (e).centres + (d) * (e).stride + (j))
#else
#define CENTRE(e, d, j) ((e).centres[(d) * (e).stride + (j)])
#endif

// What all points of a test and trial triangles have in common.
typedef struct {
    // Areas and factors of the only part (of the second one of D).
    REALN factor;
    // Those of the first part of D.
    REALN curls;
    // What x - y is multiplied with, for K and Ks.
    REALN normal[3];
} pair_t;

inline pair_t pair_of(triangles_t t, uint row, corners_t columns, REAL alpha)
{
    pair_t pair;
    const size_t i = row / 4;
    const REALN area = AREA(t)[i] * of_triangle(AREA(t), columns) * there(columns);
    pair.factor = area;
    pair.curls = (REALN)(ZERO);
    pair.normal[0] = pair.normal[1] = pair.normal[2] = (REALN)(ZERO);
    if (KIND == KIND_K) {
        for (uint d = 0; d < 3; ++d) {
            pair.normal[d] = of_triangle(NORMAL(t, d), columns);
        }
    }
    if (KIND == KIND_KS) {
        for (uint d = 0; d < 3; ++d) {
            pair.normal[d] = (REALN)(-NORMAL(t, d)[i]);
        }
    }
    if (KIND == KIND_D) {
        REALN normals = (REALN)(ZERO);
#pragma unroll 1
        for (uint d = 0; d < 3; ++d) {
            normals += NORMAL(t, d)[i] * of_triangle(NORMAL(t, d), columns);
            pair.curls += CURL(t, row % 4, d)[i] * curl_of(t, d, columns);
        }
        pair.curls *= alpha * alpha * area;
        pair.factor *= alpha * normals;
    }
    return pair;
}

// The hats of test and trial corner in their rule points.
#if KIND == KIND_KS || KIND == KIND_D
#define TEST_HAT(t, p, row) HAT(t, p, (row) % 4)
#else
#define TEST_HAT(t, p, row) ONE
#endif
#if KIND == KIND_K || KIND == KIND_D
#define TRIAL_HAT(t, q, c) hat_of(t, q, c)
#else
#define TRIAL_HAT(t, q, c) ((REALN)(ONE))
#endif

// The arguments that describe triangles, rows and columns.
#define GEOMETRY_ARGUMENTS                                                                                             \
    __global const REAL *points, __global const REAL *shapes, __global const REAL *rule, ulong count,                  \
        __global const uint *row_corners, __global const REAL *row_centres, ulong row_stride, uint row_slots,          \
        __global const uint *col_corners, __global const REAL *col_centres, ulong col_stride, uint col_slots
#define GEOMETRY                                                                                                       \
    const triangles_t t = {points, shapes, rule, (uint)count};                                                              \
    const entities_t rows = {row_corners, row_centres, (uint)row_stride, row_slots};                                         \
    const entities_t cols = {col_corners, col_centres, (uint)col_stride, col_slots}

// Where blocks go: row i of the first row `first_row`, block d - base of `kept` blocks, `stride` columns.
#define BLOCK_ARGUMENTS uint first_row, uint panel_rows, uint base, uint kept, __global REAL *values
#define ENTRY(i, d, j) (values + ((size_t)(i) * kept + ((d) - base)) * cols.stride + (j))

#ifndef TESTS
// How many powers of u entries or pairs need whose centres are `apart` apart, `least` on: table[k] for k widths to k + 1.
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

// Adds the moments sum_q w_q u_q^k of a pair up to k = degree, `at_once` points at once; `seconds` are those of the second part
// of D.
inline __attribute__((always_inline)) void add_moments(triangles_t t, uint row, corners_t columns, REAL alpha, REAL scale, REALN rho_0, uint degree,
                        uint at_once, REALN *moments, REALN *seconds)
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

// Makes moments the coefficients of b^k in sum_q w_q exp2(-b u_q) = sum_k b^k (-ln 2)^k / k! moments[k]. The second part of D,
// 4 alpha beta (beta |x - y|^2 - 3/2) with beta = ln 2 scale b and |x - y|^2 = (rho_0 + u) / scale, raises b by one and two;
// `part` is 4 alpha ln 2 scale. factors[k] = (-ln 2)^k / k!, factors[25 + k] = (k + 1/2) factors[k - 1] come from memory: as
// constants they would not fit the registers.
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

// Entries of block d and, where `both`, of block d + 1, which has no more points than d and needs no higher degree. The sum over
// moments is a polynomial in b of the degree `degree` at most.
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

// The smallest of the columns.
inline REAL least(REALN v)
{
#ifdef PROCESSOR
    return fmin(fmin(fmin(v.s0, v.s1), fmin(v.s2, v.s3)), fmin(fmin(v.s4, v.s5), fmin(v.s6, v.s7)));
#else
    return v;
#endif
}

// Blocks first to first + blocks - 1 through moments of whole entries, for `panel_rows` rows. For block d the points of its
// time rule are ranges[2 (d - 2)] to ranges[2 (d - 2) + 2] - 1, its degree ranges[2 (d - 2) + 1]; nodes (b, c).
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

// As fill_blocks through moments of each pair of triangles, whose points are nearer to their centres. `limits` are scale, alpha,
// part, the largest distance of two points from the centres of their triangles together, the b rho behind which pairs are left out,
// the width of the table of degrees, the rho behind which no block has a pair, and the factors: in memory, because scalar registers
// are few.
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

// A function of rho, in units in which the steepest of its terms falls by half, by polynomials of TERMS terms in cells of width 1: term k of cell c at k cells + c. The last cell, for all
// rho behind it, holds zeros.
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

// As fill_blocks, summed point by point: the time rules' sums come from tables, for D one for each part. `cuts` has two numbers for each block:
// what rho is multiplied with for its table, and the rho behind which entries become 0. `reach` is the largest distance of a point from
// the centres of row and column together.
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

#endif

#ifndef PROCESSOR
// Closed forms of the antiderivatives in time; see the plain Rust ones for the formulas.

// 2 / sqrt(pi) (-1)^n / n! times -1 / (4 n^2 - 1), 2 / (4 (n + 1)^2 - 1), 1 / (2 n + 1): for z < 1/2 the next term is below 1e-17.
#define SERIES_TERMS 11
__constant REAL start_series[3 * SERIES_TERMS] = {
#if REAL_BITS == 64
    1.12837916709551256e+00, 7.52252778063674965e-01, 1.12837916709551256e+00,
    3.76126389031837483e-01, -1.50450555612735015e-01, -3.76126389031837483e-01,
    -3.76126389031837538e-02, 3.22394047741575013e-02, 1.12837916709551261e-01,
    5.37323412902625079e-03, -5.97026014336250049e-03, -2.68661706451312522e-02,
    -7.46282517920312562e-04, 9.49814113716761590e-04, 5.22397762544218793e-03,
    9.49814113716761482e-05, -1.31512723437705436e-04, -8.54832702345085333e-04,
    -1.09593936198087863e-05, 1.60737773090528853e-05, 1.20553329817896650e-04,
    1.14812695064663469e-06, -1.75595886569485307e-06, -1.49256503584062520e-05,
    -1.09747429105928317e-07, 1.73285414377781564e-07, 1.64621143658892485e-06,
    9.62696746543230948e-09, -1.55865187535570690e-08, -1.63658446912349245e-07,
    -7.79325937677853431e-10, 1.28758198398949721e-09, 1.48071928158792159e-08,
#else
    1.128379167e+00f, 7.522527781e-01f, 1.128379167e+00f,
    3.761263890e-01f, -1.504505556e-01f, -3.761263890e-01f,
    -3.761263890e-02f, 3.223940477e-02f, 1.128379167e-01f,
    5.373234129e-03f, -5.970260143e-03f, -2.686617065e-02f,
    -7.462825179e-04f, 9.498141137e-04f, 5.223977625e-03f,
    9.498141137e-05f, -1.315127234e-04f, -8.548327023e-04f,
    -1.095939362e-05f, 1.607377731e-05f, 1.205533298e-04f,
    1.148126951e-06f, -1.755958866e-06f, -1.492565036e-05f,
    -1.097474291e-07f, 1.732854144e-07f, 1.646211437e-06f,
    9.626967465e-09f, -1.558651875e-08f, -1.636584469e-07f,
    -7.793259377e-10f, 1.287581984e-09f, 1.480719282e-08f,
#endif
};

// exp(z^2) erfc(z) / t as a polynomial in 2 t - 1, t = 2 / (2 + z): through 200 Chebyshev points, relative error 2e-15 with 25
// terms, 3e-7 in single precision with 13. A table, because the constants of the library's erfc do not fit the registers.
#if REAL_BITS == 64
#define ERFC_TERMS 25
__constant REAL erfc_series[ERFC_TERMS] = {
    5.10791352621011496e-01, 3.43580342206900535e-01, 1.39736046278023496e-01, 1.82211157536371800e-02,
    -1.07553309443724938e-02, -3.23959253595618646e-03, 1.54530602006985873e-03, 4.18648032920749820e-04,
    -3.31536643415688572e-04, -1.71856111775525734e-05, 7.22346593192923993e-05, -1.70753049826544180e-05,
    -1.08450797006298666e-05, 8.06377523986157084e-06, -5.71677628613542723e-07, -1.82947031134972360e-06,
    1.01955563877709212e-06, 9.45514329941941713e-09, -3.13136260956525822e-07, 1.54156005010008818e-07,
    2.62993853539228435e-08, -5.32617559656500867e-08, 1.05798244476318354e-08, 6.91739842295646687e-09,
    -2.64495611190795885e-09,
};
#else
#define ERFC_TERMS 13
__constant REAL erfc_series[ERFC_TERMS] = {
    5.107913528e-01f, 3.435803330e-01f, 1.397360327e-01f, 1.822138425e-02f,
    -1.075511615e-02f, -3.241854895e-03f, 1.544047683e-03f, 4.270201509e-04f,
    -3.281001483e-04f, -3.295153943e-05f, 6.768780721e-05f, -1.327395462e-06f,
    -8.508870014e-06f,
};
#endif

inline REAL scaled_erfc(REAL z)
{
    const REAL t = (REAL)2.0 / ((REAL)2.0 + z);
    const REAL x = (REAL)2.0 * t - ONE;
    REAL sum = erfc_series[ERFC_TERMS - 1];
#pragma unroll 1
    for (uint k = ERFC_TERMS - 1; k > 0; --k) {
        sum = sum * x + erfc_series[k - 1];
    }
    return t * sum;
}

// In one point at s > 0: `second`, B, and `first`, which is A or, for K and Ks, what alpha dB/dn is without the product of x - y
// with the normal; with `apart` both without their parts that are linear in s, which the differences of blocks 0 and 1 cancel.
inline void antiderivatives(REAL alpha, REAL r, REAL s, bool apart, REAL *first, REAL *second)
{
    const REAL root = sqrt(alpha * s);
    const REAL z = (REAL)0.5 * r / root;
    REAL bracket = ZERO;
    REAL slope = ZERO;
    REAL quotient = ZERO;
    if (z < (REAL)0.5 && !apart) {
        const REAL square = z * z;
#pragma unroll 1
        for (uint n = SERIES_TERMS; n > 0; --n) {
            bracket = bracket * square + start_series[3 * n - 3];
            slope = slope * square + start_series[3 * n - 2];
            quotient = quotient * square + start_series[3 * n - 1];
        }
    } else {
        const REAL exponential = exp2_negative(-z * z / LN2);
        // erf - 1, or erf.
        const REAL e = (apart ? ZERO : ONE) - exponential * scaled_erfc(z);
        const REAL g = (REAL)0.5 * TWO_OVER_ROOT_PI * exponential;
        bracket = (z + (REAL)0.5 / z) * e + g;
        slope = ((ONE - (REAL)0.5 / (z * z)) * e + g / z) / z;
        quotient = e / z;
    }
    *second = root / ((REAL)4.0 * PI * alpha * alpha) * bracket;
    *first = (HAS_NORMAL ? -(REAL)0.5 * slope : quotient) / ((REAL)8.0 * PI * alpha * root);
}

#ifndef TESTS
// W at s > 0 in one point. `w` is the weight of the only or second part, `v` that of the first part of D, `d` the product of
// x - y with the normal.
inline REAL antiderivative(REAL alpha, REAL r, REAL s, REAL d, REAL w, REAL v, bool apart)
{
    REAL first, second;
    antiderivatives(alpha, r, s, apart, &first, &second);
    return KIND == KIND_V ? w * second : KIND == KIND_D ? v * second + w * first : w * d * first;
}

// Z and W at s = 0 in one point.
inline void at_start(REAL alpha, REAL r, REAL d, REAL w, REAL v, REAL *z, REAL *w_0)
{
    const REAL inverse = ONE / ((REAL)4.0 * PI * alpha * r);
    const REAL grown = r / ((REAL)8.0 * PI * alpha * alpha);
    if (KIND == KIND_V) {
        *z = w * inverse;
        *w_0 = w * grown;
    } else if (KIND == KIND_D) {
        *z = v * inverse;
        *w_0 = v * grown + w * inverse;
    } else {
        *z = w * d * alpha * inverse / (r * r);
        *w_0 = (REAL)-0.5 * w * d * inverse;
    }
}

// Blocks 0 and 1 without the parts at s = 0 of triangles that touch; `step` is the length of a time step, nodes[3 t ...] are
// the corners of triangle t.
__kernel void fill_start(GEOMETRY_ARGUMENTS, __global const uint *nodes, REAL alpha, REAL step, uint first, uint blocks,
                         BLOCK_ARGUMENTS)
{
    GEOMETRY;
    const size_t j = get_global_id(0);
    const uint i = (uint)get_global_id(1);
    if (j >= cols.stride || i >= panel_rows) {
        return;
    }
    REAL block_0 = ZERO;
    REAL block_1 = ZERO;
    for (uint a = 0; a < rows.slots; ++a) {
        const uint row = rows.corners[a * rows.stride + first_row + i];
        for (uint b = 0; b < cols.slots; ++b) {
            const uint column = cols.corners[b * cols.stride + j];
            if (row == NONE || column == NONE) {
                continue;
            }
            const pair_t pair = pair_of(t, row, column, alpha);
            bool touch = false;
            for (uint k = 0; k < 9; ++k) {
                touch = touch || nodes[3 * (row / 4) + k / 3] == nodes[3 * (column / 4) + k % 3];
            }
#pragma unroll 1
            for (uint q = 0; q < POINTS; ++q) {
#pragma unroll 1
                for (uint p = 0; p < POINTS; ++p) {
                    const REAL x0 = POINT(t, p, 0)[row / 4] - POINT(t, q, 0)[column / 4];
                    const REAL x1 = POINT(t, p, 1)[row / 4] - POINT(t, q, 1)[column / 4];
                    const REAL x2 = POINT(t, p, 2)[row / 4] - POINT(t, q, 2)[column / 4];
                    const REAL r = sqrt(x0 * x0 + x1 * x1 + x2 * x2);
                    const REAL d = x0 * pair.normal[0] + x1 * pair.normal[1] + x2 * pair.normal[2];
                    const REAL v = WEIGHT(t, p) * WEIGHT(t, q) * pair.curls;
                    const REAL w = WEIGHT(t, p) * WEIGHT(t, q) * TEST_HAT(t, p, row) * TRIAL_HAT(t, q, column) * pair.factor;
                    // A loop, so that the code of erfc is there once.
#pragma unroll 1
                    for (uint m = 1; m <= 2; ++m) {
                        const REAL w_m = antiderivative(alpha, r, (REAL)m * step, d, w, v, !touch);
                        block_0 -= m == 1 ? w_m : ZERO;
                        block_1 += m == 1 ? (REAL)2.0 * w_m : -w_m;
                    }
                }
            }
        }
    }
    *ENTRY(i, first, j) = block_0;
    if (blocks > 1) {
        *ENTRY(i, first + 1, j) = block_1;
    }
}

#endif

// Numbers that a pair of triangles gives.
#if KIND == KIND_V
#define SLOTS 1
#elif KIND == KIND_D
#define SLOTS 9
#else
#define SLOTS 3
#endif

#ifndef TESTS
// Z and W at s = 0 of triangles that touch: an item a pair. `pairs`: test triangle, trial triangle, code: bits 0 to 1 the
// contact, 2 whether the rule's first triangle is the trial one, 3 to 8 and 9 to 14 the corners of the rule's triangles in its
// order, 15 whether the rule counts half. `corners`: coordinate d of corner c of triangle t at 9 t + 3 c + d. `rules`: x1, x2, y1, y2, weight; the points of
// contact c are offsets[c] to offsets[c + 1] - 1. Results: slot k of pair m at (2 k + part) pair_count + m.
__kernel void sum_singular(__global const REAL *shapes, ulong count, __global const REAL *corners,
                           __global const uint *pairs, ulong pair_count, __global const REAL *rules,
                           __global const uint *offsets, REAL alpha, __global REAL *sums)
{
    const triangles_t t = {shapes, shapes, shapes, (uint)count};
    const size_t m = get_global_id(0);
    if (m >= pair_count) {
        return;
    }
    const size_t i = pairs[3 * m];
    const size_t j = pairs[3 * m + 1];
    const uint code = pairs[3 * m + 2];
    const bool exchanged = (code >> 2 & 1) != 0;
    const size_t first = exchanged ? j : i;
    const size_t second = exchanged ? i : j;
    // Edges from the first corner, which both triangles have: differences of points far from the origin lose digits.
    REAL a[2][3], b[2][3];
    for (uint k = 0; k < 2; ++k) {
        const size_t to_a = 9 * first + 3 * (code >> (5 + 2 * k) & 3);
        const size_t to_b = 9 * second + 3 * (code >> (11 + 2 * k) & 3);
        for (uint d = 0; d < 3; ++d) {
            a[k][d] = corners[to_a + d] - corners[9 * first + 3 * (code >> 3 & 3) + d];
            b[k][d] = corners[to_b + d] - corners[9 * second + 3 * (code >> 9 & 3) + d];
        }
    }
    const uint turn_a = code >> 3 & 63;
    const uint turn_b = code >> 9 & 63;
    REAL normal[3];
    REAL normals = ZERO;
    for (uint d = 0; d < 3; ++d) {
        normals += NORMAL(t, d)[i] * NORMAL(t, d)[j];
        normal[d] = KIND == KIND_KS ? -NORMAL(t, d)[i] : NORMAL(t, d)[j];
    }
    const REAL area = AREA(t)[i] * AREA(t)[j] * ((code >> 15 & 1) != 0 ? (REAL)0.5 : ONE);
    REAL z_sum[SLOTS], w_sum[SLOTS];
    // The first part of D without the curls, which are the same in all points.
    REAL z_curl = ZERO;
    REAL w_curl = ZERO;
#pragma unroll
    for (uint k = 0; k < SLOTS; ++k) {
        z_sum[k] = ZERO;
        w_sum[k] = ZERO;
    }
    // Whose hats the slots of K and Ks are.
    const bool from_a = (KIND == KIND_KS) != exchanged;
    const uint contact = code & 3;
    for (uint q = offsets[contact]; q < offsets[contact + 1]; ++q) {
        const REAL x1 = rules[5 * q], x2 = rules[5 * q + 1], y1 = rules[5 * q + 2], y2 = rules[5 * q + 3];
        const REAL weight = rules[5 * q + 4] * area;
        REAL d = ZERO;
        REAL square = ZERO;
        for (uint k = 0; k < 3; ++k) {
            const REAL along = x1 * a[0][k] + x2 * a[1][k] - y1 * b[0][k] - y2 * b[1][k];
            const REAL between = exchanged ? -along : along;
            d += between * normal[k];
            square += between * between;
        }
        const REAL r = sqrt(square);
        REAL z, w;
        if (KIND == KIND_D) {
            at_start(alpha, r, d, ZERO, weight, &z, &w);
            z_curl += z;
            w_curl += w;
        }
        at_start(alpha, r, d, KIND == KIND_D ? weight * alpha * normals : weight, ZERO, &z, &w);
        // Hats in the triangles' own order of corners.
        const REAL x0 = ONE - x1 - x2;
        const REAL y0 = ONE - y1 - y2;
        REAL hat_a[3], hat_b[3];
#pragma unroll
        for (uint c = 0; c < 3; ++c) {
            hat_a[c] = (turn_a & 3) == c ? x0 : (turn_a >> 2 & 3) == c ? x1 : x2;
            hat_b[c] = (turn_b & 3) == c ? y0 : (turn_b >> 2 & 3) == c ? y1 : y2;
        }
#pragma unroll
        for (uint k = 0; k < SLOTS; ++k) {
            REAL hats = ONE;
            if (KIND == KIND_D) {
                hats = exchanged ? hat_b[k / 3] * hat_a[k % 3] : hat_a[k / 3] * hat_b[k % 3];
            } else if (KIND != KIND_V) {
                hats = from_a ? hat_a[k % 3] : hat_b[k % 3];
            }
            z_sum[k] += z * hats;
            w_sum[k] += w * hats;
        }
    }
#pragma unroll
    for (uint k = 0; k < SLOTS; ++k) {
        REAL curls = ZERO;
        if (KIND == KIND_D) {
            for (uint d = 0; d < 3; ++d) {
                curls += CURL(t, k / 3, d)[i] * CURL(t, k % 3, d)[j];
            }
        }
        sums[2 * k * pair_count + m] = z_sum[k] + alpha * alpha * curls * z_curl;
        sums[(2 * k + 1) * pair_count + m] = w_sum[k] + alpha * alpha * curls * w_curl;
    }
}

// Adds the sums of touching triangles to blocks 0 and 1: an item an entry. `entries`: row, column; its contributions are
// sources[offsets[m]] to sources[offsets[m + 1] - 1], each 2 slot pair_count + pair.
__kernel void add_singular(__global const uint *entries, __global const ulong *sources, __global const uint *offsets,
                           ulong entry_count, ulong pair_count, __global const REAL *sums, REAL step, ulong stride,
                           ulong blocks, ulong base, ulong kept, __global REAL *values)
{
    const size_t m = get_global_id(0);
    if (m >= entry_count) {
        return;
    }
    REAL z = ZERO;
    REAL w = ZERO;
    for (uint k = offsets[m]; k < offsets[m + 1]; ++k) {
        z += sums[sources[k]];
        w += sums[sources[k] + pair_count];
    }
    __global REAL *entry = values + (entries[2 * m] * kept - base) * stride + entries[2 * m + 1];
    entry[0] += step * z + w;
    if (blocks > 1) {
        entry[stride] -= w;
    }
}
#endif

#ifdef TESTS
// The four published algorithms for the blocks from 2 on: each product computes W at s = h, 2 h, ... of every pair of triangles
// by the closed form, takes second differences as they come, and multiplies at once. A work-group has TESTS test
// triangles, an item of it one pair at a time; x and y have the time steps of a work-group's triangles to themselves. Only the
// rule's points are held in local memory, so that nothing is private but the 1, 3 or 9 numbers of a pair.
//
// In single precision, where second differences would lose all digits, entries come from the time rules instead, the same that
// fill_blocks takes, summed in every pair of points.
//
// Work: about 110 floating-point instructions per evaluation (pair of points, block), 2 per entry and time step behind it; in
// single precision 20 per evaluation and point of the time rule.
#define GROUP_ITEMS (TESTS * TRIALS)
#define TEST_SLOTS (KIND == KIND_KS || KIND == KIND_D ? 3 : 1)
#define TRIAL_SLOTS (KIND == KIND_K || KIND == KIND_D ? 3 : 1)

// A pair's numbers in the last block and, for second differences, W at the last s and how much it grew there.
typedef struct {
    REAL entry[SLOTS];
#if REAL_BITS == 64
    REAL level[SLOTS];
    REAL growth[SLOTS];
#endif
} numbers_t;

// What W and blocks depend on but for the mesh: the length of a time step; points and nodes of time rules as fill_blocks has them.
typedef struct {
    REAL alpha;
    REAL step;
#if REAL_BITS == 32
    __global const uint *ranges;
    __global const REAL *nodes;
    REAL scale;
#endif
} timing_t;

#if REAL_BITS == 64
#define TIMING_ARGUMENTS REAL alpha, REAL step
#define TIMING {alpha, step}
#else
#define TIMING_ARGUMENTS                                                                                               \
    REAL alpha, REAL step, __global const uint *ranges, __global const REAL *time_nodes, REAL scale
#define TIMING {alpha, step, ranges, time_nodes, scale}
#endif

// Shapes and rule in the items' own registers: compilers do not know the zero, and scalar registers are few.
#define TRIANGLES {points, shapes + (get_local_id(0) >> 31), rule + (get_local_id(0) >> 31), (uint)count}

// An item's place: its test and trial triangle in the group, the group's first test triangle, its own one, and where that
// one's sums are. Groups past the last triangle have a place of their own.
typedef struct {
    uint item;
    uint test;
    uint trial;
    size_t start;
    size_t i;
    __global REAL *own;
} place_t;

// The item's place; the group's sums become 0.
inline place_t place_of(uint count, uint steps, __global REAL *sums)
{
    place_t at;
    at.item = (uint)get_local_id(0);
    at.test = at.item / TRIALS;
    at.trial = at.item % TRIALS;
    at.start = get_group_id(0) * TESTS;
    at.i = min((size_t)(at.start + at.test), (size_t)(count - 1));
    at.own = sums + TEST_SLOTS * (at.start + at.test) * (size_t)steps;
    for (uint k = at.trial; k < TEST_SLOTS * steps; k += TRIALS) {
        at.own[k] = ZERO;
    }
    return at;
}

inline void start_numbers(numbers_t *numbers)
{
#pragma unroll
    for (uint k = 0; k < SLOTS; ++k) {
        numbers->entry[k] = ZERO;
#if REAL_BITS == 64
        numbers->level[k] = numbers->growth[k] = ZERO;
#endif
    }
}

// What the numbers of block n - 1 are sums of, in one point: in double precision antiderivatives at s = n step, whose second
// differences the blocks are; in single precision the time rule of the block, for D one sum for each part.
inline void in_time(timing_t timing, uint n, REAL square, REAL *first, REAL *second)
{
#if REAL_BITS == 64
    antiderivatives(timing.alpha, sqrt(square), (REAL)n * timing.step, false, first, second);
#else
    const REAL rho = timing.scale * square;
    REAL plain = ZERO;
    REAL moved = ZERO;
    // Blocks 0 and 1 are there already.
    const uint end = n < 3 ? 0 : timing.ranges[2 * (n - 3) + 2];
    for (uint k = n < 3 ? 0 : timing.ranges[2 * (n - 3)]; k < end; ++k) {
        const REAL b = timing.nodes[2 * k];
        const REAL term = timing.nodes[2 * k + 1] * exp2_negative(-b * rho);
        plain += term;
        if (KIND == KIND_D) {
            // 4 alpha beta (beta |x - y|^2 - 3/2) with beta = ln 2 scale b
            moved += term * b * (LN2 * b * rho - (REAL)1.5);
        }
    }
    *second = plain;
    *first = KIND == KIND_D ? (REAL)4.0 * timing.alpha * LN2 * timing.scale * moved : plain;
#endif
}

// Where triangle k's points lie: `places` for `stride` triangles.
inline void fetch_points(triangles_t t, size_t first, uint stride, __local REAL *places)
{
    for (uint k = (uint)get_local_id(0); k < 3 * POINTS * stride; k += GROUP_ITEMS) {
        const size_t at = min((size_t)(first + k % stride), (size_t)(t.count - 1));
        places[k] = t.points[k / stride * t.count + at];
    }
}

// Moves the numbers of the item's test triangle and trial triangle j on to block n - 1.
inline void advance(triangles_t t, place_t at, size_t j, const __local REAL *test_points,
                    const __local REAL *trial_points, timing_t timing, uint n, numbers_t *numbers)
{
    const size_t i = at.i;
    const uint test = at.test;
    const REAL alpha = timing.alpha;
#if TESTS == 1
    // Nobody shares a trial triangle's points.
    (void)trial_points;
#endif
    REAL values[SLOTS];
#pragma unroll
    for (uint k = 0; k < SLOTS; ++k) {
        values[k] = ZERO;
    }
    REAL curl_sum = ZERO;
    REAL normal[3] = {ZERO, ZERO, ZERO};
    if (HAS_NORMAL) {
        for (uint d = 0; d < 3; ++d) {
            normal[d] = KIND == KIND_KS ? -NORMAL(t, d)[i] : NORMAL(t, d)[j];
        }
    }
#pragma unroll 1
    for (uint q = 0; q < POINTS; ++q) {
        REAL y[3];
#pragma unroll
        for (uint d = 0; d < 3; ++d) {
#if TESTS > 1
            y[d] = trial_points[(3 * q + d) * TRIALS + at.trial];
#else
            y[d] = POINT(t, q, d)[j];
#endif
        }
#pragma unroll 1
        for (uint p = 0; p < POINTS; ++p) {
            const REAL x0 = test_points[3 * p * TESTS + test] - y[0];
            const REAL x1 = test_points[(3 * p + 1) * TESTS + test] - y[1];
            const REAL x2 = test_points[(3 * p + 2) * TESTS + test] - y[2];
            REAL first, second;
            in_time(timing, n, x0 * x0 + x1 * x1 + x2 * x2, &first, &second);
            const REAL weight = WEIGHT(t, p) * WEIGHT(t, q);
            if (KIND == KIND_V) {
                values[0] += weight * second;
            } else if (KIND == KIND_D) {
                curl_sum += weight * second;
#pragma unroll
                for (uint k = 0; k < SLOTS; ++k) {
                    values[k] += weight * first * HAT(t, p, k / 3) * HAT(t, q, k % 3);
                }
            } else {
                const REAL value = weight * first * (x0 * normal[0] + x1 * normal[1] + x2 * normal[2]);
#pragma unroll
                for (uint k = 0; k < SLOTS; ++k) {
                    values[k] += value * (KIND == KIND_KS ? HAT(t, p, k) : HAT(t, q, k));
                }
            }
        }
    }
    const REAL area = AREA(t)[i] * AREA(t)[j];
    REAL normals = ZERO;
    if (KIND == KIND_D) {
#pragma unroll 1
        for (uint d = 0; d < 3; ++d) {
            normals += NORMAL(t, d)[i] * NORMAL(t, d)[j];
        }
    }
#pragma unroll
    for (uint k = 0; k < SLOTS; ++k) {
        REAL value = area * values[k];
        if (KIND == KIND_D) {
            REAL curls = ZERO;
#pragma unroll 1
            for (uint d = 0; d < 3; ++d) {
                curls += CURL(t, k / 3, d)[i] * CURL(t, k % 3, d)[j];
            }
            value = alpha * (normals * value + alpha * curls * area * curl_sum);
        }
#if REAL_BITS == 64
        const REAL growth = value - numbers->level[k];
        numbers->entry[k] = numbers->growth[k] - growth;
        numbers->growth[k] = growth;
        numbers->level[k] = value;
#else
        numbers->entry[k] = value;
#endif
    }
}

// Sums of `terms` over the trial triangles of each test triangle, in place: to the first of them.
inline void sum_trials(__local REAL *terms, uint trial)
{
    for (uint half_way = TRIALS / 2; half_way > 0; half_way /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (trial < half_way) {
            for (uint a = 0; a < TEST_SLOTS; ++a) {
                const uint at = a * GROUP_ITEMS + (uint)get_local_id(0);
                terms[at] += terms[at + half_way];
            }
        }
    }
}

// Algorithms 1 (TESTS = 1) and 3: an item multiplies its own numbers with x one time step after the other; a tree adds them up.
// `x` has `cols` values a step; slot a of test triangle i at step k of the result is at (TEST_SLOTS i + a) steps + k.
__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
apply_by_reduction(__global const REAL *points, __global const REAL *shapes, __global const REAL *rule, ulong count,
                   __global const uint *nodes, TIMING_ARGUMENTS, uint steps, ulong cols,
                   __global const REAL *x, __global REAL *sums)
{
    __local REAL test_points[3 * POINTS * TESTS];
    __local REAL trial_points[TESTS > 1 ? 3 * POINTS * TRIALS : 1];
    __local REAL terms[TEST_SLOTS * GROUP_ITEMS];
    const triangles_t t = TRIANGLES;
    const timing_t timing = TIMING;
    const place_t at = place_of(t.count, steps, sums);
    fetch_points(t, at.start, TESTS, test_points);
    // The sums that others of the group made 0 are in global memory.
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (size_t begin = 0; begin < count; begin += TRIALS) {
        const bool inside = begin + at.trial < count;
        const size_t j = inside ? begin + at.trial : count - 1;
        numbers_t numbers;
        start_numbers(&numbers);
        if (TESTS > 1) {
            fetch_points(t, begin, TRIALS, trial_points);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        // A turn is a block d and a time step k >= d.
        const uint turns = (steps - 1) * (steps - 2) / 2;
        uint n = 0;
        uint k = steps;
        for (uint turn = 0; turn < turns; ++turn) {
            if (k == steps) {
                // Blocks 0 and 1 are there already.
                do {
                    ++n;
                    advance(t, at, j, test_points, trial_points, timing, n, &numbers);
                } while (n < 3);
                k = n - 1;
            }
            for (uint a = 0; a < TEST_SLOTS; ++a) {
                REAL sum = ZERO;
                for (uint b = 0; b < TRIAL_SLOTS; ++b) {
                    const size_t column = TRIAL_SLOTS == 3 ? nodes[3 * j + b] : j;
                    sum += numbers.entry[a * TRIAL_SLOTS + b] * x[(k - (n - 1)) * cols + column];
                }
                terms[a * GROUP_ITEMS + at.item] = inside ? sum : ZERO;
            }
            sum_trials(terms, at.trial);
            if (at.trial == 0) {
                for (uint a = 0; a < TEST_SLOTS; ++a) {
                    at.own[a * (size_t)steps + k] += terms[a * GROUP_ITEMS + at.item];
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            ++k;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

// Algorithms 2 (TESTS = 1) and 4: the numbers of a group go to local memory, then an item has time steps TRIALS apart of one test
// triangle and loops over the trial triangles. `x` by time step for each column as spread_steps makes it.
__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) void
apply_by_loop(__global const REAL *points, __global const REAL *shapes, __global const REAL *rule, ulong count,
              __global const uint *nodes, TIMING_ARGUMENTS, uint steps, ulong x_stride,
              __global const REAL *x, __global REAL *sums)
{
    __local REAL test_points[3 * POINTS * TESTS];
    __local REAL trial_points[TESTS > 1 ? 3 * POINTS * TRIALS : 1];
    __local REAL entries[SLOTS * GROUP_ITEMS];
    __local uint columns[TRIAL_SLOTS * TRIALS];
    const triangles_t t = TRIANGLES;
    const timing_t timing = TIMING;
    const place_t at = place_of(t.count, steps, sums);
    fetch_points(t, at.start, TESTS, test_points);
    // The sums that others of the group made 0 are in global memory.
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (size_t begin = 0; begin < count; begin += TRIALS) {
        const bool inside = begin + at.trial < count;
        const size_t j = inside ? begin + at.trial : count - 1;
        numbers_t numbers;
        start_numbers(&numbers);
        if (TESTS > 1) {
            fetch_points(t, begin, TRIALS, trial_points);
        }
        if (at.test == 0) {
            for (uint b = 0; b < TRIAL_SLOTS; ++b) {
                columns[b * TRIALS + at.trial] = TRIAL_SLOTS == 3 ? nodes[3 * j + b] : (uint)j;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint n = 1; n <= steps; ++n) {
            advance(t, at, j, test_points, trial_points, timing, n, &numbers);
#pragma unroll
            for (uint k = 0; k < SLOTS; ++k) {
                entries[k * GROUP_ITEMS + at.item] = inside ? numbers.entry[k] : ZERO;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            const uint d = n - 1;
            // Blocks 0 and 1 are there already; the others begin at the first of the item's steps from d on.
            for (uint k = n < 3 ? steps : d + (at.trial + TRIALS - d % TRIALS) % TRIALS; k < steps; k += TRIALS) {
                REAL total[TEST_SLOTS];
#pragma unroll
                for (uint a = 0; a < TEST_SLOTS; ++a) {
                    total[a] = ZERO;
                }
#pragma unroll 1
                for (uint other = 0; other < TRIALS; ++other) {
                    for (uint b = 0; b < TRIAL_SLOTS; ++b) {
                        const REAL value = x[columns[b * TRIALS + other] * x_stride + (BEFORE + k - d)];
#pragma unroll
                        for (uint a = 0; a < TEST_SLOTS; ++a) {
                            total[a] += entries[(a * TRIAL_SLOTS + b) * GROUP_ITEMS + at.test * TRIALS + other] * value;
                        }
                    }
                }
#pragma unroll
                for (uint a = 0; a < TEST_SLOTS; ++a) {
                    at.own[a * (size_t)steps + k] += total[a];
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
}

// Adds the sums of each row's triangles to its partial sums: an item a row and time step. `corners` as for entities_t.
__kernel void gather_sums(__global const uint *corners, ulong stride, uint slots, ulong rows, uint steps,
                          __global const REAL *sums, ulong partial_stride, __global REAL *partial)
{
    const size_t k = get_global_id(0);
    const size_t i = get_global_id(1);
    if (k < steps && i < rows) {
        REAL sum = ZERO;
        for (uint a = 0; a < slots; ++a) {
            const uint corner = corners[a * stride + i];
            if (corner != NONE) {
                sum += sums[((size_t)(corner / 4) * TEST_SLOTS + corner % 4) * steps + k];
            }
        }
        partial[i * partial_stride + k] += sum;
    }
}
#endif
#endif

#ifndef TESTS
// Block d of the `kept` ones of `rows` rows into the rows from `first` on of a matrix by columns: entry (i, j) at j all_rows + i.
__kernel void take_block(ulong all_rows, ulong first, ulong rows, ulong cols, ulong stride, ulong d, ulong kept,
                         __global const REAL *values, __global REAL *block)
{
    const size_t i = get_global_id(0);
    const size_t j = get_global_id(1);
    if (i < rows && j < cols) {
        block[j * all_rows + first + i] = values[(i * kept + d) * stride + j];
    }
}

// x by time step for each column: x_(t - BEFORE) of column j at j stride + t, 0 outside the time interval.
__kernel void NAMED(spread_steps)(ulong n, ulong steps, ulong stride, __global const REAL *x, __global REAL *spread)
{
    const size_t t = get_global_id(0);
    const size_t j = get_global_id(1);
    if (t < stride) {
        spread[j * stride + t] = j < n && t >= BEFORE && t - BEFORE < steps ? x[(t - BEFORE) * n + j] : ZERO;
    }
}

#ifndef PROCESSOR
// partial = or, where `more`, += the product of blocks base to base + kept - 1 of `rows` rows: a work-group has ROWS rows,
// STEPS time steps and the columns of one of `splits` parts. It fetches the next tile while it multiplies with one.
#define ROW_ITEMS 16
#define ROWS (ROW_ITEMS * ROWS_ITEM)
#define COLUMNS 8
#define DELTAS 8
#define GROUP 256
#define STEPS (STEPS_ITEM * GROUP / ROW_ITEMS)
#define WINDOW (STEPS + DELTAS)
// Entries and values of x that an item fetches, and rows from one of its entries to the next.
#define ENTRIES_EACH (DELTAS * COLUMNS * ROWS / GROUP)
#define VALUES_EACH ((COLUMNS * WINDOW + GROUP - 1) / GROUP)
#define ROW_JUMP (GROUP / (DELTAS * COLUMNS))

// Entries from block d and column 0 of the item's places on: `from` is its first place there, of `rows` rows behind it.
inline void fetch_entries(__global const REAL *from, size_t jump, size_t rows, bool inside, REAL *entries)
{
#pragma unroll
    for (uint m = 0; m < ENTRIES_EACH; ++m) {
        entries[m] = inside && m * ROW_JUMP < rows ? from[m * jump] : ZERO;
    }
}

// x of columns j on at times start - d - DELTAS + 1 on.
inline void fetch_values(__global const REAL *x, size_t x_stride, size_t j, size_t start, size_t d, REAL *values)
{
#pragma unroll
    for (uint m = 0; m < VALUES_EACH; ++m) {
        const uint k = (uint)get_local_id(0) + m * GROUP;
        const size_t at = start + k % WINDOW + (BEFORE - DELTAS + 1);
        values[m] = k < COLUMNS * WINDOW && at >= d ? x[(j + k / WINDOW) * x_stride + (at - d)] : ZERO;
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
apply_blocks_gpu(ulong rows, ulong stride, ulong base, ulong kept, __global const REAL *values, ulong x_stride,
                 __global const REAL *x, ulong splits, ulong first_row, ulong all_rows, ulong partial_stride, uint more,
                 __global REAL *partial)
{
    __local REAL tile[DELTAS * COLUMNS * (ROWS + 1)];
    __local REAL window[COLUMNS * WINDOW];
    const uint item = (uint)get_local_id(0);
    const size_t first = get_group_id(0) * ROWS;
    const size_t split = get_group_id(1) % splits;
    const size_t start = get_group_id(1) / splits * STEPS;
    const uint row = item % ROW_ITEMS;
    const uint step = item / ROW_ITEMS * STEPS_ITEM;
    const size_t parts = stride / COLUMNS;
    const size_t begin = parts * split / splits * COLUMNS;
    const size_t end = parts * (split + 1) / splits * COLUMNS;
    // Later blocks meet no step of this group.
    const size_t last = min(base + kept, start + STEPS);
    REAL sums[ROWS_ITEM][STEPS_ITEM];
#pragma unroll
    for (uint r = 0; r < ROWS_ITEM; ++r) {
#pragma unroll
        for (uint k = 0; k < STEPS_ITEM; ++k) {
            sums[r][k] = ZERO;
        }
    }
    // The item's places in a tile: this column, block and row, and the rows ROW_JUMP apart behind it.
    const uint own_column = item % COLUMNS;
    const uint own_delta = item / COLUMNS % DELTAS;
    const size_t own_row = first + item / (COLUMNS * DELTAS);
    const size_t rows_behind = own_row < rows ? rows - own_row : 0;
    __global const REAL *from = values + (min(own_row, (size_t)(rows - 1)) * kept + own_delta) * stride + own_column;
    const size_t jump = ROW_JUMP * kept * stride;
    const size_t tiles = (last - base + DELTAS - 1) / DELTAS;
    const size_t turns = (end - begin) / COLUMNS * tiles;
    REAL entries[ENTRIES_EACH], near_values[VALUES_EACH];
    size_t j = begin;
    size_t d = base;
    if (turns > 0) {
        fetch_entries(from + j, jump, rows_behind, d + own_delta < last, entries);
        fetch_values(x, x_stride, j, start, d, near_values);
    }
    for (size_t turn = 0; turn < turns; ++turn) {
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (uint m = 0; m < ENTRIES_EACH; ++m) {
            const uint at = item / (COLUMNS * DELTAS) + m * ROW_JUMP;
            tile[(own_delta * COLUMNS + own_column) * (ROWS + 1) + at] = entries[m];
        }
#pragma unroll
        for (uint m = 0; m < VALUES_EACH; ++m) {
            if (item + m * GROUP < COLUMNS * WINDOW) {
                window[item + m * GROUP] = near_values[m];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const bool meets = start + step + STEPS_ITEM > d;
        d += DELTAS;
        if (d >= last) {
            d = base;
            j += COLUMNS;
        }
        if (j < end) {
            fetch_entries(from + (d - base) * stride + j, jump, rows_behind, d + own_delta < last, entries);
            fetch_values(x, x_stride, j, start, d, near_values);
        }
        if (meets) {
            for (uint column = 0; column < COLUMNS; ++column) {
                REAL near[STEPS_ITEM + DELTAS - 1];
#pragma unroll
                for (uint k = 0; k < STEPS_ITEM + DELTAS - 1; ++k) {
                    near[k] = window[column * WINDOW + step + k];
                }
#pragma unroll
                for (uint delta = 0; delta < DELTAS; ++delta) {
#pragma unroll
                    for (uint r = 0; r < ROWS_ITEM; ++r) {
                        const REAL entry = tile[(delta * COLUMNS + column) * (ROWS + 1) + row + r * ROW_ITEMS];
#pragma unroll
                        for (uint k = 0; k < STEPS_ITEM; ++k) {
                            sums[r][k] += entry * near[k + DELTAS - 1 - delta];
                        }
                    }
                }
            }
        }
    }
#pragma unroll
    for (uint r = 0; r < ROWS_ITEM; ++r) {
        const size_t at = first + row + r * ROW_ITEMS;
        if (at < rows) {
            __global REAL *to = partial + (split * all_rows + first_row + at) * partial_stride + start + step;
#pragma unroll
            for (uint k = 0; k < STEPS_ITEM; ++k) {
                to[k] = more ? to[k] + sums[r][k] : sums[r][k];
            }
        }
    }
}
#else
// partial as apply_blocks_gpu with one part, for the steps from `from_step` on, where x is 0 unless that is 0: a chunk of rows per item, 16
// steps at a time.
__kernel void apply_blocks_cpu(ulong rows, ulong stride, ulong base, ulong kept, ulong from_step, ulong steps,
                               __global const REAL *values, ulong x_stride, __global const REAL *x, ulong first_row,
                               ulong partial_stride, uint more, __global REAL *partial)
{
    const size_t begin = rows * get_global_id(0) / get_global_size(0);
    const size_t end = rows * (get_global_id(0) + 1) / get_global_size(0);
    for (size_t i = begin; i < end; i += 2) {
        const size_t other = min(i + 1, end - 1);
        for (size_t start = from_step / 16 * 16; start < steps; start += 16) {
            // Earlier blocks meet only steps of x that are 0, later ones no step of these.
            const size_t first = from_step > 0 && start >= from_step ? max((size_t)base, start + 1 - from_step) : base;
            const size_t last = min(base + kept, start + 16);
            REAL8 low_0 = (REAL8)ZERO, high_0 = low_0, low_1 = low_0, high_1 = low_0;
            for (size_t d = first; d < last; ++d) {
                __global const REAL *entry_0 = values + (i * kept + (d - base)) * stride;
                __global const REAL *entry_1 = values + (other * kept + (d - base)) * stride;
                __global const REAL *from = x + (start + BEFORE - d);
                for (size_t j = 0; j < stride; ++j) {
                    const REAL8 low = vload8(0, from + j * x_stride);
                    const REAL8 high = vload8(1, from + j * x_stride);
                    low_0 += entry_0[j] * low;
                    high_0 += entry_0[j] * high;
                    low_1 += entry_1[j] * low;
                    high_1 += entry_1[j] * high;
                }
            }
            __global REAL *to = partial + (first_row + i) * partial_stride + start;
            const REAL8 nothing = (REAL8)ZERO;
            vstore8((more ? vload8(0, to) : nothing) + low_0, 0, to);
            vstore8((more ? vload8(1, to) : nothing) + high_0, 1, to);
            if (other > i) {
                to += partial_stride;
                vstore8((more ? vload8(0, to) : nothing) + low_1, 0, to);
                vstore8((more ? vload8(1, to) : nothing) + high_1, 1, to);
            }
        }
    }
}
#endif

// y = alpha times the sum of the parts + beta y in the steps from `first` on; beta = 0 never reads y.
__kernel void NAMED(join_parts)(ulong rows, ulong first, ulong steps, ulong parts, ulong stride, __global const REAL *partial, REAL alpha,
                         REAL beta, __global REAL *y)
{
    const size_t i = get_global_id(0);
    const size_t t = first + get_global_id(1);
    if (i < rows && t < steps) {
        REAL sum = ZERO;
        for (size_t k = 0; k < parts; ++k) {
            sum += partial[(k * rows + i) * stride + t];
        }
        y[t * rows + i] = beta == ZERO ? alpha * sum : alpha * sum + beta * y[t * rows + i];
    }
}
#endif
