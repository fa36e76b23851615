// Leapfrog steps of the wave equation in two dimensions, with the notation of wave2.clh. A step takes u, the values now, and p,
// those one step before, to
//   a u + (r2 (south + west + east + north) - p)      r2 = (c dt / h)^2, a = 2 - 4 r2.
// Traffic per point and step, f64, where every neighbour comes from cache:
//   one step                24 B (16 read, 8 written), in place of p
//   s steps in one pass   32/s B (16 read, 16 written once for all of them)
// and 7 floating-point operations.
//
// A grid has `height` rows of n points, n of them unless it is a part of a larger one; passes of several steps on GPUs are built with
// PART for that. The first and the last row keep their values.
//
// GPUs: an item per column or point; STEPS of leap_fused, in groups of GROUP items. CPUs, which the variant Bands is for: a band of
// rows per item, vectors along the row.
//@ build
//@ build STEPS=2
//@ build STEPS=4
//@ build STEPS=8 GROUP=128
//@ build STEPS=2 PART=1
//@ variant Bands CPU=1
//@ build Bands
#include "common.clh"
#include "wave2.clh"

#define LEAP(a, r2, sum, now, before) ((a) * (now) + ((r2) * (sum) - (before)))

#ifdef CPU
// One row of a step, `row` and its neighbours now, `out` from the values before to those after. Rows begin at
// multiples of a vector; their neighbours along the row come from registers.
inline void leap_row(size_t n, REAL a, REAL r2, __global const REAL *south, __global const REAL *row,
                     __global const REAL *north, __global REAL *out)
{
    const REAL edge = out[0];
    REAL before = row[0];
    REAL8 centre = vload8(0, row);
    size_t i = 0;
    for (; i + 8 < n; i += 8) {
        const REAL8 after = i + 16 <= n ? vload8(0, row + i + 8) : (REAL8)row[i + 8];
        const REAL8 sum = NEIGHBOURS(vload8(0, south + i), WEST(before, centre), EAST(centre, after.s0),
                                     vload8(0, north + i));
        vstore8(LEAP(a, r2, sum, centre, vload8(0, out + i)), 0, out + i);
        before = centre.s7;
        centre = after;
    }
    out[0] = edge;
    for (i = max(i, (size_t)1); i < n - 1; ++i) {
        out[i] = LEAP(a, r2, NEIGHBOURS(south[i], row[i - 1], row[i + 1], north[i]), row[i], out[i]);
    }
}

// copies = for each band and each of u and p the `steps` rows below it, then the `steps` rows above it.
__kernel void save_rows(ulong n, ulong height, ulong pitch, uint steps, __global const REAL *u, __global const REAL *p,
                        __global REAL *copies)
{
    const size_t item = get_global_id(0), items = get_global_size(0);
    const long first = (long)ROW_BEGIN(height, item, items), end = (long)ROW_BEGIN(height, item + 1, items);
    const long depth = (long)steps;
    __global REAL *own = copies + item * 4 * steps * pitch;
    for (uint part = 0; part < 4; ++part) {
        __global const REAL *from = part % 2 == 0 ? u : p;
        for (long k = 0; k < depth; ++k) {
            const long j = part < 2 ? first - depth + k : end + k;
            if (j >= 0 && j < (long)height) {
                __global const REAL *row = from + (size_t)j * pitch;
                __global REAL *to = own + (part * steps + (size_t)k) * pitch;
                for (size_t i = 0; i < n; ++i) {
                    to[i] = row[i];
                }
            }
        }
    }
}

// `steps` steps in one pass, in place: step m + 1 overwrites step m - 1, so that (u, p) hold the last two steps,
// p the last one where their number is odd. When row `j` of a band goes to step 1, row j - 1 goes to step 2, and so
// on. The rows of other bands that a band works on again are its own copies; one step needs none.
__kernel void leap(ulong n, ulong height, ulong pitch, uint steps, REAL a, REAL r2, __global REAL *u, __global REAL *p,
                   __global REAL *copies)
{
    const size_t item = get_global_id(0), items = get_global_size(0);
    const long first = (long)ROW_BEGIN(height, item, items), end = (long)ROW_BEGIN(height, item + 1, items);
    const long depth = (long)steps, last = (long)height - 1;
    __global REAL *own = copies + item * 4 * steps * pitch;
#define PLACE(part, j) ((j) < first ? (part)*depth + (j) - first + depth : ((part) + 2) * depth + (j) - end)
#define ROW(part, j)                                                                                     \
    (depth == 1 || ((j) >= first && (j) < end) ? ((part) == 0 ? u : p) + (j) * (long)pitch               \
                                               : own + PLACE(part, j) * (long)pitch)
    for (long j = first - depth + 1; j < end + depth - 1; ++j) {
        for (long m = 0; m < depth; ++m) {
            const long i = j - m, reach = depth - 1 - m, now = m % 2;
            if (i >= max(first - reach, 1L) && i < min(end + reach, last)) {
                leap_row(n, a, r2, ROW(now, i - 1), ROW(now, i), ROW(now, i + 1), ROW(1 - now, i));
            }
        }
    }
#undef ROW
#undef PLACE
}
#else
// p = one step on from u and p; LEAP_ROWS rows of a column per item.
#define LEAP_ROWS 4

__kernel void leap(ulong n, ulong height, ulong pitch, REAL a, REAL r2, __global const REAL *u, __global REAL *p)
{
    const size_t i = get_global_id(0), first = get_global_id(1) * LEAP_ROWS + 1;
    if (i > 0 && i < n - 1 && first < height - 1) {
        size_t k = first * pitch + i;
        if (first + LEAP_ROWS < height) {
            // All that is read is asked for before the first of it is waited for.
            REAL column[LEAP_ROWS + 2], west[LEAP_ROWS], east[LEAP_ROWS], before[LEAP_ROWS];
#pragma unroll
            for (size_t q = 0; q < LEAP_ROWS; ++q) {
                before[q] = p[k + q * pitch];
                west[q] = u[k + q * pitch - 1];
                east[q] = u[k + q * pitch + 1];
            }
#pragma unroll
            for (size_t q = 0; q < LEAP_ROWS + 2; ++q) {
                column[q] = u[k + q * pitch - pitch];
            }
#pragma unroll
            for (size_t q = 0; q < LEAP_ROWS; ++q) {
                const REAL sum = NEIGHBOURS(column[q], west[q], east[q], column[q + 2]);
                p[k + q * pitch] = LEAP(a, r2, sum, column[q + 1], before[q]);
            }
        } else {
            for (size_t j = first; j < height - 1; ++j, k += pitch) {
                p[k] = LEAP(a, r2, NEIGHBOURS(u[k - pitch], u[k - 1], u[k + 1], u[k + pitch]), u[k], p[k]);
            }
        }
    }
}

#ifdef STEPS
// STEPS steps in one pass: (out_u, out_p) = (u, p) that many steps later.
//
// A group owns GROUP * COLUMNS columns of a band of rows and walks up them, an item its COLUMNS columns. When row
// `j` of u comes in, row j - 1 goes to step 1, row j - 2 to step 2, and so on; each stage keeps its last two rows
// in registers and hands neighbours over in local memory, once per row. STEPS columns on either side and STEPS rows
// at either end of the band are worked on by the neighbours as well and not written.
#ifndef GROUP
#define GROUP LOCAL
#endif
#ifndef COLUMNS
#define COLUMNS 1
#endif
// Rows per turn of the loop: after two, local memory is back on the side where it started.
#define TURN 2

#ifdef PART
#define ROWS (int)height
#define LAST_ROW ((int)height - 1)
#else
#define ROWS (int)n
#define LAST_ROW last
#endif

#define FETCH(row_u, row_p)                                                                              \
    {                                                                                                    \
        __global const REAL *from_u = u + (size_t)clamp(row_u, 0, LAST_ROW) * pitch;                     \
        __global const REAL *from_p = p + (size_t)clamp(row_p, 0, LAST_ROW) * pitch;                     \
        for (int c = 0; c < COLUMNS; ++c) {                                                              \
            next[c] = from_u[place[c]];                                                                  \
            next_before[c] = from_p[place[c]];                                                           \
        }                                                                                                \
    }

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
leap_fused(uint n, uint height, ulong pitch, uint band, REAL a, REAL r2, __global const REAL *u, __global const REAL *p,
           __global REAL *out_u, __global REAL *out_p)
{
    // The leftmost and the rightmost column of each item, for two rows: one is read while the next is written.
    __local REAL lefts[2][STEPS][GROUP];
#if COLUMNS == 1
#define RIGHTS lefts
#else
    __local REAL rights[2][STEPS][GROUP];
#define RIGHTS rights
#endif
    const int lane = (int)get_local_id(0), last = (int)n - 1;
    const int lane_west = max(lane - 1, 0), lane_east = min(lane + 1, GROUP - 1);
    const int within = lane * COLUMNS, width = GROUP * COLUMNS - 2 * STEPS;
    const int column = (int)get_group_id(0) * width - STEPS + within;
    const int begin = (int)get_group_id(1) * (int)band, end = min(begin + (int)band, ROWS);
    const int stop = end + STEPS;
#ifndef PART
    (void)height;
#endif
    int place[COLUMNS];
    bool inside[COLUMNS], own[COLUMNS];
    REAL south[STEPS][COLUMNS], centre[STEPS][COLUMNS], next[COLUMNS], next_before[COLUMNS];
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c) {
        place[c] = clamp(column + c, 0, last);
        inside[c] = column + c > 0 && column + c < last;
        own[c] = within + c >= STEPS && within + c < STEPS + width && column + c <= last;
#pragma unroll
        for (int m = 0; m < STEPS; ++m) {
            south[m][c] = ZERO;
            centre[m][c] = ZERO;
        }
    }
    const int start = max(begin - STEPS, 0);
    FETCH(start, start - 1)
    int side = 0;
    for (int turn = start; turn < stop; turn += TURN) {
        // The other compilers, PoCL's among them, warn that they unroll no loop with a barrier.
#if defined(__NV_CL_C_VERSION) || defined(__NVPTX__) || defined(__AMDGCN__)
#pragma unroll
#endif
        for (int j = turn; j < turn + TURN; ++j) {
#pragma unroll
            for (int m = 0; m < STEPS; ++m) {
                lefts[side][m][lane] = centre[m][0];
#if COLUMNS > 1
                rights[side][m][lane] = centre[m][COLUMNS - 1];
#endif
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            REAL north[COLUMNS], before[COLUMNS];
#pragma unroll
            for (int c = 0; c < COLUMNS; ++c) {
                north[c] = next[c];
                before[c] = next_before[c];
            }
            FETCH(j + 1, j)
#pragma unroll
            for (int m = 0; m < STEPS; ++m) {
                // `centre` is row j - 1 - m after m steps.
                const bool moves = j - 1 - m > 0 && j - 1 - m < LAST_ROW;
                const REAL west = RIGHTS[side][m][lane_west], east = lefts[side][m][lane_east];
                REAL later[COLUMNS];
#pragma unroll
                for (int c = 0; c < COLUMNS; ++c) {
                    const REAL sum = NEIGHBOURS(south[m][c], c == 0 ? west : centre[m][c - 1],
                                                c == COLUMNS - 1 ? east : centre[m][c + 1], north[c]);
                    const REAL value = LEAP(a, r2, sum, centre[m][c], before[c]);
                    later[c] = moves && inside[c] ? value : centre[m][c];
                }
#pragma unroll
                for (int c = 0; c < COLUMNS; ++c) {
                    before[c] = south[m][c];
                    south[m][c] = centre[m][c];
                    centre[m][c] = north[c];
                    north[c] = later[c];
                }
            }
            if (j - STEPS >= begin && j - STEPS < end) {
                const size_t at = (size_t)(j - STEPS) * pitch;
#pragma unroll
                for (int c = 0; c < COLUMNS; ++c) {
                    if (own[c]) {
                        out_u[at + place[c]] = north[c];
                        out_p[at + place[c]] = south[STEPS - 1][c];
                    }
                }
            }
            side ^= 1;
        }
    }
}
#endif
#endif
