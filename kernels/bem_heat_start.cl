// Space-time boundary elements for the heat equation: blocks 0 and 1, by closed forms and, at s = 0, by Sauter-Schwab
// rules where triangles touch.
//@ crate clinalg-bem
//@ build KIND=0
//@ build KIND=1
//@ build KIND=2
//@ build KIND=3
//@ build CPU=1 KIND=0
//@ build CPU=1 KIND=1
//@ build CPU=1 KIND=2
//@ build CPU=1 KIND=3
//@ build POINTS=7
//@ one_program
#include "bem_heat.clh"
#include "bem_heat_antiderivatives.clh"
#include "bem_heat_entries.clh"

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

// Blocks 0 and 1 without the parts at s = 0 of triangles that touch; `step` is the length of a time step, nodes[3 t
// ...] are the corners of triangle t.
#ifdef CPU
// Columns that a trial triangle belongs to.
#if KIND == KIND_K || KIND == KIND_D
#define TRIALS 3
#else
#define TRIALS 1
#endif

// An item has a row: what is evaluated in a point serves the columns of all corners of the trial triangle.
__kernel void fill_start(GEOMETRY_ARGUMENTS, __global const uint *nodes, REAL alpha, REAL step, uint first, uint blocks,
                         BLOCK_ARGUMENTS)
{
    GEOMETRY;
    const uint i = (uint)get_global_id(1);
    if (get_global_id(0) > 0 || i >= panel_rows) {
        return;
    }
    for (size_t j = 0; j < cols.stride; ++j) {
        *ENTRY(i, first, j) = ZERO;
        if (blocks > 1) {
            *ENTRY(i, first + 1, j) = ZERO;
        }
    }
    for (uint a = 0; a < rows.slots; ++a) {
        const uint row = rows.corners[a * rows.stride + first_row + i];
        if (row == NONE) {
            continue;
        }
        for (uint k = 0; k < t.count; ++k) {
            bool touch = false;
            for (uint n = 0; n < 9; ++n) {
                touch = touch || nodes[3 * (row / 4) + n / 3] == nodes[3 * k + n % 3];
            }
            pair_t pair[TRIALS];
            REAL block_0[TRIALS], block_1[TRIALS];
            for (uint c = 0; c < TRIALS; ++c) {
                pair[c] = pair_of(t, row, 4 * k + c, alpha);
                block_0[c] = block_1[c] = ZERO;
            }
#pragma unroll 1
            for (uint q = 0; q < POINTS; ++q) {
#pragma unroll 1
                for (uint p = 0; p < POINTS; ++p) {
                    const REAL x0 = POINT(t, p, 0)[row / 4] - POINT(t, q, 0)[k];
                    const REAL x1 = POINT(t, p, 1)[row / 4] - POINT(t, q, 1)[k];
                    const REAL x2 = POINT(t, p, 2)[row / 4] - POINT(t, q, 2)[k];
                    const REAL square = x0 * x0 + x1 * x1 + x2 * x2;
                    const REAL r = sqrt(square);
                    const REAL d = x0 * pair[0].normal[0] + x1 * pair[0].normal[1] + x2 * pair[0].normal[2];
                    const REAL weight = WEIGHT(t, p) * WEIGHT(t, q);
#pragma unroll 1
                    for (uint m = 1; m <= 2; ++m) {
                        // exp(-r^2 / (4 alpha s)) is below 1e-18.
                        if (!touch && square > (REAL)(4 * 42) * alpha * (REAL)m * step) {
                            continue;
                        }
                        REAL one, two;
                        antiderivatives(alpha, r, (REAL)m * step, !touch, &one, &two);
                        for (uint c = 0; c < TRIALS; ++c) {
                            const REAL w = weight * TEST_HAT(t, p, row) * TRIAL_HAT(t, q, 4 * k + c) * pair[c].factor;
                            const REAL w_m = KIND == KIND_V   ? w * two
                                             : KIND == KIND_D ? weight * pair[c].curls * two + w * one
                                                              : w * d * one;
                            block_0[c] -= m == 1 ? w_m : ZERO;
                            block_1[c] += m == 1 ? (REAL)2.0 * w_m : -w_m;
                        }
                    }
                }
            }
            for (uint c = 0; c < TRIALS; ++c) {
                const size_t j = TRIALS == 3 ? nodes[3 * k + c] : k;
                *ENTRY(i, first, j) += block_0[c];
                if (blocks > 1) {
                    *ENTRY(i, first + 1, j) += block_1[c];
                }
            }
        }
    }
}
#else
// W at s > 0 in one point. `w` is the weight of the only or second part, `v` that of the first part of D, `d` the
// product of x - y with the normal.
inline REAL antiderivative(REAL alpha, REAL r, REAL s, REAL d, REAL w, REAL v, bool apart)
{
    REAL first, second;
    antiderivatives(alpha, r, s, apart, &first, &second);
    return KIND == KIND_V ? w * second : KIND == KIND_D ? v * second + w * first : w * d * first;
}

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
                    const REAL w =
                        WEIGHT(t, p) * WEIGHT(t, q) * TEST_HAT(t, p, row) * TRIAL_HAT(t, q, column) * pair.factor;
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

// Z and W at s = 0 of triangles that touch: an item a pair. `pairs`: test triangle, trial triangle, code: bits 0 to 1
// the contact, 2 whether the rule's first triangle is the trial one, 3 to 8 and 9 to 14 the corners of the rule's
// triangles in its order, 15 whether the rule counts half. `corners`: coordinate d of corner c of triangle t at 9 t + 3
// c + d. `rules`: x1, x2, y1, y2, weight; the points of contact c are offsets[c] to offsets[c + 1] - 1. Results: slot k
// of pair m at (2 k + part) pair_count + m.
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

// Adds the sums of touching triangles to blocks 0 and 1: an item an entry. `entries`: row, column; its contributions
// are sources[offsets[m]] to sources[offsets[m + 1] - 1], each 2 slot pair_count + pair.
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
