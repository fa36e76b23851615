// Space-time boundary elements for the heat equation: the four published algorithms for the blocks from 2 on. Each
// product computes W at s = h, 2 h, ... of every pair of triangles by the closed form, takes second differences as they
// come, and multiplies at once. A work-group has TESTS test triangles, an item of it one pair at a time; x and y have
// the time steps of a work-group's triangles to themselves. Only the rule's points are held in local memory, so that
// nothing is private but the 1, 3 or 9 numbers of a pair.
//
// In single precision, where second differences would lose all digits, entries come from the time rules instead, the
// same that fill_blocks (bem_heat_moments.cl) takes, summed in every pair of points.
//
// Work: about 110 floating-point instructions per evaluation (pair of points, block), 2 per entry and time step behind
// it; in single precision 20 per evaluation and point of the time rule.
//
// The build defines, besides what bem_heat.clh asks for,
//   TESTS       test triangles of a work-group, and
//   TRIALS      trial triangles, a power of two
//@ crate clinalg-bem
//@ build KIND=0 TESTS=1 TRIALS=256
//@ build KIND=1 TESTS=8 TRIALS=16
//@ build KIND=2 TESTS=8 TRIALS=16
//@ build KIND=3 TESTS=8 TRIALS=8
#include "bem_heat.clh"
#include "bem_heat_antiderivatives.clh"

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

// What W and blocks depend on but for the mesh: the length of a time step; points and nodes of time rules as
// fill_blocks has them.
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

// An item's place: its test and trial triangle in the group, the group's first test triangle, its own one, and where
// that one's sums are. Groups past the last triangle have a place of their own.
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

// What the numbers of block n - 1 are sums of, in one point: in double precision antiderivatives at s = n step, whose
// second differences the blocks are; in single precision the time rule of the block, for D one sum for each part.
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

// Algorithms 1 (TESTS = 1) and 3: an item multiplies its own numbers with x one time step after the other; a tree adds
// them up. `x` has `cols` values a step; slot a of test triangle i at step k of the result is at (TEST_SLOTS i + a)
// steps + k.
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

// Algorithms 2 (TESTS = 1) and 4: the numbers of a group go to local memory, then an item has time steps TRIALS apart
// of one test triangle and loops over the trial triangles. `x` by time step for each column as spread_steps makes it.
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
