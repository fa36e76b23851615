// All coarse levels of a cycle in one launch, for GPUs, with the formulas of grid2_scaled.clh.
//
//   ITEMS     items of the work-group
//   TOP       highest level that it keeps in local memory
//@ build TOP=5 ITEMS=256
#include "common.clh"
#include "grid2_scaled.clh"

// Level k has 2^k + 1 points per side; solutions, right-hand sides times h^2 and defects of levels 1 to TOP lie in local
// memory, each level after the ones below it; of defects only one level, without its boundary. The level above TOP stays
// where it is, in the caches.

// Where level `k` begins.
#define LEVEL_START(k) ((((1 << 2 * (k)) - 4) / 3) + 2 * ((1 << (k)) - 2) + (k)-1)

// What a step of the list does, in its lowest byte; then come the level and the colour, a byte each.
#define CLEAR 0
#define RELAX_ZERO 1
#define RELAX 2
#define MEASURE 3
#define COARSEN 4
#define CORRECT 5
#define CYCLE2 6

// The interior points (i, j) of level `k`, each at `at`, over the items.
#define EACH_INNER                                                                                       \
    for (int q = item; q < wide * wide; q += ITEMS)                                                      \
        for (int j = q >> k, i = q & (wide - 1), at = j * n + i, once = i > 0 && j > 0; once != 0; once = 0)

#define RELAX_POINTS(v, scaled)                                                                          \
    for (int q = item; q < wide * wide / 2; q += ITEMS) {                                                \
        const int j = q >> (k - 1), i = 2 * (q & (wide / 2 - 1)) + ((j + colour) & 1), at = j * n + i;   \
        if (i > 0 && j > 0) {                                                                            \
            (v)[at] = RELAXED(weight, scaled, NEIGHBOURS((v)[at - n], (v)[at - 1], (v)[at + 1], (v)[at + n])); \
        }                                                                                                \
    }

#define MEASURE_POINTS(v, scaled, d)                                                                     \
    EACH_INNER                                                                                           \
    {                                                                                                    \
        const REAL sum = NEIGHBOURS((v)[at - n], (v)[at - 1], (v)[at + 1], (v)[at + n]);                 \
        (d)[(j - 1) * inner + i - 1] = SHIFTED_DEFECT((REAL)(1 << 2 * k), level_shift, scaled, sum, (v)[at]); \
    }

// To level `k`, from the one above.
#define COARSEN_POINTS(d)                                                                                \
    EACH_INNER                                                                                           \
    {                                                                                                    \
        const int fine = 2 * wide - 1, to = (2 * j - 1) * fine + 2 * i - 1;                              \
        const REAL sum = NEIGHBOURS((d)[to - fine], (d)[to - 1], (d)[to + 1], (d)[to + fine]);           \
        const REAL corners = (d)[to - fine - 1] + (d)[to - fine + 1] + (d)[to + fine - 1] + (d)[to + fine + 1]; \
        scaled[at] = level_h2 * WEIGHTED((d)[to], sum, corners);                                         \
    }

// Level `k`, from the one below.
#define CORRECT_POINTS(v)                                                                                \
    EACH_INNER                                                                                           \
    {                                                                                                    \
        const int m = wide / 2 + 1;                                                                      \
        __local const REAL *c = grids + LEVEL_START(k - 1) + j / 2 * m + i / 2;                          \
        REAL value;                                                                                      \
        if (j % 2 == 0) {                                                                                \
            value = i % 2 == 0 ? c[0] : HALF * (c[0] + c[1]);                                            \
        } else {                                                                                         \
            value = i % 2 == 0 ? HALF * (c[0] + c[m]) : QUARTER * (c[0] + c[1] + c[m] + c[m + 1]);       \
        }                                                                                                \
        (v)[at] += value;                                                                                \
    }

// A whole cycle on the 3 by 3 interior points of level 2 and the one of level 1, with a zero boundary, by one item: as many
// steps would wait for each other longer than it takes. `sweeps` holds those before and after the correction and the
// colours that they begin with, a byte each.
#define AT2(i, j) ((i) < 0 || (i) > 2 || (j) < 0 || (j) > 2 ? ZERO : v[clamp(j, 0, 2) * 3 + clamp(i, 0, 2)])
#define SUM2(i, j) NEIGHBOURS(AT2(i, (j)-1), AT2((i)-1, j), AT2((i) + 1, j), AT2(i, (j) + 1))

ALWAYS_INLINE void relax2(REAL *v, const REAL *scaled, REAL weight, uint count, uint colour)
{
    for (uint stage = 0; stage < 2 * count; ++stage, colour ^= 1) {
        if (colour == 0) {
#pragma unroll
            for (int k = 0; k < 9; k += 2) {
                v[k] = RELAXED(weight, scaled[k], SUM2(k % 3, k / 3));
            }
        } else {
#pragma unroll
            for (int k = 1; k < 9; k += 2) {
                v[k] = RELAXED(weight, scaled[k], SUM2(k % 3, k / 3));
            }
        }
    }
}

ALWAYS_INLINE void cycle2(__local REAL *grid, __local const REAL *source, bool zero, uint sweeps, const REAL *weights,
                          const REAL *shifts)
{
    REAL v[9], scaled[9], d[9];
#pragma unroll
    for (int k = 0; k < 9; ++k) {
        const int at = (k / 3 + 1) * 5 + k % 3 + 1;
        v[k] = zero ? ZERO : grid[at];
        scaled[k] = source[at];
    }
    relax2(v, scaled, weights[1], sweeps & 255, sweeps >> 16 & 255);
#pragma unroll
    for (int k = 0; k < 9; ++k) {
        d[k] = SHIFTED_DEFECT((REAL)16.0f, shifts[1], scaled[k], SUM2(k % 3, k / 3), v[k]);
    }
    const REAL coarse = QUARTER * WEIGHTED(d[4], NEIGHBOURS(d[1], d[3], d[5], d[7]), d[0] + d[2] + d[6] + d[8]);
    const REAL c = RELAXED(weights[0], coarse, ZERO);
#pragma unroll
    for (int k = 0; k < 9; ++k) {
        v[k] += k == 4 ? c : k % 2 != 0 ? HALF * c : QUARTER * c;
    }
    relax2(v, scaled, weights[1], sweeps >> 8 & 255, sweeps >> 24);
#pragma unroll
    for (int k = 0; k < 9; ++k) {
        grid[(k / 3 + 1) * 5 + k % 3 + 1] = v[k];
    }
}

// Works on u of level `top`, `given` or not, through the `count` steps of the list. `weights` holds 1 / (4 + shift h^2) and
// shift h^2 of each level from 1 on. `above` takes the defects of the level above TOP, without its boundary.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
cycle_group(uint top, uint given, uint count, __global const uint *list, uint sweeps, __global const REAL *weights,
            __global const REAL *f, __global REAL *u, __global REAL *above)
{
    __local REAL grids[LEVEL_START(TOP + 1)], sources[LEVEL_START(TOP + 1)];
    __local REAL defects[((1 << TOP) - 1) * ((1 << TOP) - 1)];
    __local REAL level_weights[TOP + 1], level_shifts[TOP + 1];
    const int item = (int)get_local_id(0), whole = (1 << top) + 1;
    const REAL top_h2 = ONE / (REAL)(1 << 2 * top);
    const int held = top <= TOP ? whole * whole : 0, below = LEVEL_START(min((int)top, TOP + 1));
    // Boundaries of the levels below stay 0.
    for (int k = item; k < below; k += ITEMS) {
        grids[k] = ZERO;
    }
    for (int k = item; k < held; k += ITEMS) {
        grids[below + k] = given != 0 ? u[k] : ZERO;
        sources[below + k] = top_h2 * f[k];
    }
    if (item <= TOP) {
        level_weights[item] = weights[2 * item];
        level_shifts[item] = weights[2 * item + 1];
    }
    const REAL weights2[2] = {weights[0], weights[2]}, shifts2[2] = {weights[1], weights[3]};
    uint next = list[0];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (uint step = 0; step < count; ++step) {
        const uint what = next & 255;
        const int k = (int)(next >> 8 & 255), colour = (int)(next >> 16);
        next = list[min(step + 1, count - 1)];
        const int wide = 1 << k, n = wide + 1, inner = wide - 1;
        const REAL level_shift = level_shifts[k - 1], weight = level_weights[k - 1];
        __local REAL *v = grids + LEVEL_START(k), *scaled = sources + LEVEL_START(k);
        if (k > TOP) {
            if (what == RELAX) {
                RELAX_POINTS(u, top_h2 * f[at])
            } else if (what == MEASURE) {
                MEASURE_POINTS(u, top_h2 * f[at], above)
            } else if (what == CORRECT) {
                CORRECT_POINTS(u)
            } else {
                for (int q = item; q < n * n; q += ITEMS) {
                    const int j = q / n, i = q - j * n;
                    const bool relaxed =
                        what == RELAX_ZERO && i > 0 && j > 0 && i < wide && j < wide && ((i + j + colour) & 1) == 0;
                    u[q] = relaxed ? RELAXED(weight, top_h2 * f[q], ZERO) : ZERO;
                }
            }
        } else if (what == RELAX) {
            RELAX_POINTS(v, scaled[at])
        } else if (what == MEASURE) {
            MEASURE_POINTS(v, scaled[at], defects)
        } else if (what == COARSEN) {
            const REAL level_h2 = ONE / (REAL)(1 << 2 * k);
            if (k == TOP) {
                COARSEN_POINTS(above)
            } else {
                COARSEN_POINTS(defects)
            }
        } else if (what == CORRECT) {
            CORRECT_POINTS(v)
        } else if (what == CYCLE2) {
            if (item == 0) {
                cycle2(v, scaled, colour != 0, sweeps, weights2, shifts2);
            }
        } else {
            EACH_INNER
            {
                const bool relaxed = what == RELAX_ZERO && ((i + j + colour) & 1) == 0;
                v[at] = relaxed ? RELAXED(weight, scaled[at], ZERO) : ZERO;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
    for (int k = item; k < held; k += ITEMS) {
        u[k] = grids[below + k];
    }
}
