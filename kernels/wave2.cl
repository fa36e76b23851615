// The wave equation u_tt = c^2 Laplace u on n by n points, boundary included: point (i, j) of a grid is
// g[j pitch + i], pitch >= n a multiple of 16 where the grid is the wave's own. Values on the boundary
// never change; what lies between n and pitch is neither read into a result nor written.
//
// A leapfrog step takes u, the values now, and p, those one step before, to
//   a u + (r2 (south + west + east + north) - p)      r2 = (c dt / h)^2, a = 2 - 4 r2.
// Traffic per point and step, f64, where every neighbour comes from cache:
//   leap_gpu, leap_cpu of one step          24 B (16 read, 8 written), in place of p
//   leap_fused_gpu, leap_cpu of s steps   32/s B (16 read, 16 written once for all of them)
// and 7 floating-point operations. energy_wave reads 16 B a point.
//
// *_gpu: an item per column or point. *_cpu: a band of rows per item, vectors along the row.
// Products and sums are rounded one by one and in the order of the formula, so that the partition into
// groups, bands, vectors and passes does not change a bit.
#pragma OPENCL FP_CONTRACT OFF

#define FOUR ((REAL)4.0f)
#define HALF ((REAL)0.5f)

#define NEIGHBOURS(south, west, east, north) ((south) + (west) + (east) + (north))
#define LEAP(a, r2, sum, now, before) ((a) * (now) + ((r2) * (sum) - (before)))
#define SQUARE(x) ((x) * (x))

// First row of part `k` of n rows in `parts` parts.
#define ROW_BEGIN(n, k, parts) ((n) * (k) / (parts))

// out = g, with another pitch; the rows are dealt to the groups in turn. Where `edges` is 0, the boundary of
// out is 0.
__kernel void copy_grid(ulong n, uint edges, ulong pitch, __global const REAL *g, ulong out_pitch, __global REAL *out)
{
    for (size_t j = get_group_id(0); j < n; j += get_num_groups(0)) {
        const bool zero_row = edges == 0 && (j == 0 || j == n - 1);
        __global const REAL *row = g + j * pitch;
        __global REAL *to = out + j * out_pitch;
        for (size_t i = get_local_id(0); i < n; i += get_local_size(0)) {
            to[i] = zero_row || (edges == 0 && (i == 0 || i == n - 1)) ? ZERO : row[i];
        }
    }
}

// out = Laplace_h u inside, 0 on the boundary; the rows are dealt to the groups in turn.
__kernel void laplacian_grid(ulong n, ulong pitch, REAL inverse_h2, __global const REAL *u, __global REAL *out)
{
    for (size_t j = get_group_id(0); j < n; j += get_num_groups(0)) {
        const bool edge = j == 0 || j == n - 1;
        __global const REAL *row = u + j * pitch;
        __global REAL *to = out + j * pitch;
        for (size_t i = get_local_id(0); i < n; i += get_local_size(0)) {
            REAL value = ZERO;
            if (!edge && i > 0 && i < n - 1) {
                const REAL sum = NEIGHBOURS(*(row + i - pitch), *(row + i - 1), row[i + 1], row[i + pitch]);
                value = inverse_h2 * (sum - FOUR * row[i]);
            }
            to[i] = value;
        }
    }
}

#ifndef PROCESSOR
// ---------------------------------------------------------------------------------------------
// A column or a point per item

// p = one step on from u and p; LEAP_ROWS rows of a column per item.
#define LEAP_ROWS 4

__kernel void leap_gpu(ulong n, ulong pitch, REAL a, REAL r2, __global const REAL *u, __global REAL *p)
{
    const size_t i = get_global_id(0), first = get_global_id(1) * LEAP_ROWS + 1;
    if (i > 0 && i < n - 1 && first < n - 1) {
        size_t k = first * pitch + i;
        if (first + LEAP_ROWS < n) {
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
            for (size_t j = first; j < n - 1; ++j, k += pitch) {
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

#define FETCH(row_u, row_p)                                                                              \
    {                                                                                                    \
        __global const REAL *from_u = u + (size_t)clamp(row_u, 0, last) * pitch;                         \
        __global const REAL *from_p = p + (size_t)clamp(row_p, 0, last) * pitch;                         \
        for (int c = 0; c < COLUMNS; ++c) {                                                              \
            next[c] = from_u[place[c]];                                                                  \
            next_before[c] = from_p[place[c]];                                                           \
        }                                                                                                \
    }

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
leap_fused_gpu(uint n, ulong pitch, uint band, REAL a, REAL r2, __global const REAL *u, __global const REAL *p,
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
    const int begin = (int)get_group_id(1) * (int)band, end = min(begin + (int)band, (int)n);
    const int stop = end + STEPS;
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
#pragma unroll
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
                const bool moves = j - 1 - m > 0 && j - 1 - m < last;
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

// The sums of the energy: partial[2 group] of (u - p)^2 over the interior, partial[2 group + 1] over pairs of
// neighbours of du dp, or with `mean` of the square of their mean; rows are dealt to the groups in turn.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
energy_wave_gpu(ulong n, ulong pitch, uint mean, __global const REAL *u, __global const REAL *p,
                __global REAL *partial)
{
    __local REAL shared[2][LOCAL];
    const uint lane = (uint)get_local_id(0);
    REAL squares = ZERO, pairs = ZERO;
    for (size_t j = get_group_id(0); j < n - 1; j += get_num_groups(0)) {
        for (size_t i = lane; i < n - 1; i += LOCAL) {
            const size_t k = j * pitch + i;
            const REAL now = u[k], then = p[k];
            if (j > 0) {
                const REAL du = u[k + 1] - now, dp = p[k + 1] - then;
                pairs += mean ? SQUARE(HALF * (du + dp)) : du * dp;
            }
            if (i > 0) {
                const REAL du = u[k + pitch] - now, dp = p[k + pitch] - then;
                pairs += mean ? SQUARE(HALF * (du + dp)) : du * dp;
            }
            if (i > 0 && j > 0) {
                squares += SQUARE(now - then);
            }
        }
    }
    shared[0][lane] = squares;
    shared[1][lane] = pairs;
    for (uint half_size = LOCAL / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < half_size) {
            shared[0][lane] += shared[0][lane + half_size];
            shared[1][lane] += shared[1][lane + half_size];
        }
    }
    if (lane == 0) {
        partial[2 * get_group_id(0)] = shared[0][0];
        partial[2 * get_group_id(0) + 1] = shared[1][0];
    }
}

#else
// ---------------------------------------------------------------------------------------------
// A band of rows per item, for processors

#define WEST(before, centre) ((REAL8)(before, (centre).s0123, (centre).s456))
#define EAST(centre, after) ((REAL8)((centre).s1234, (centre).s567, after))

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
__kernel void save_rows_cpu(ulong n, ulong pitch, uint steps, __global const REAL *u, __global const REAL *p,
                            __global REAL *copies)
{
    const size_t item = get_global_id(0), items = get_global_size(0);
    const long first = (long)ROW_BEGIN(n, item, items), end = (long)ROW_BEGIN(n, item + 1, items);
    const long depth = (long)steps;
    __global REAL *own = copies + item * 4 * steps * pitch;
    for (uint part = 0; part < 4; ++part) {
        __global const REAL *from = part % 2 == 0 ? u : p;
        for (long k = 0; k < depth; ++k) {
            const long j = part < 2 ? first - depth + k : end + k;
            if (j >= 0 && j < (long)n) {
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
__kernel void leap_cpu(ulong n, ulong pitch, uint steps, REAL a, REAL r2, __global REAL *u, __global REAL *p,
                       __global REAL *copies)
{
    const size_t item = get_global_id(0), items = get_global_size(0);
    const long first = (long)ROW_BEGIN(n, item, items), end = (long)ROW_BEGIN(n, item + 1, items);
    const long depth = (long)steps, last = (long)n - 1;
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

inline REAL sum8(REAL8 v)
{
    return ((v.s0 + v.s1) + (v.s2 + v.s3)) + ((v.s4 + v.s5) + (v.s6 + v.s7));
}

// Sum over `count` pairs of points `stride` apart, from one row of u and of p on.
inline REAL sum_pairs(size_t count, size_t stride, uint mean, __global const REAL *u, __global const REAL *p)
{
    REAL8 many = (REAL8)ZERO;
    REAL total = ZERO;
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const REAL8 du = vload8(0, u + i + stride) - vload8(0, u + i);
        const REAL8 dp = vload8(0, p + i + stride) - vload8(0, p + i);
        many += mean ? SQUARE(HALF * (du + dp)) : du * dp;
    }
    for (; i < count; ++i) {
        const REAL du = u[i + stride] - u[i], dp = p[i + stride] - p[i];
        total += mean ? SQUARE(HALF * (du + dp)) : du * dp;
    }
    return total + sum8(many);
}

// The sums of the energy as energy_wave_gpu has them, one pair per item.
__kernel void energy_wave_cpu(ulong n, ulong pitch, uint mean, __global const REAL *u, __global const REAL *p,
                              __global REAL *partial)
{
    const size_t item = get_global_id(0), items = get_global_size(0);
    REAL squares = ZERO, pairs = ZERO;
    for (size_t j = ROW_BEGIN(n, item, items); j < min(ROW_BEGIN(n, item + 1, items), (size_t)(n - 1)); ++j) {
        __global const REAL *row_u = u + j * pitch, *row_p = p + j * pitch;
        pairs += sum_pairs(n - 2, pitch, mean, row_u + 1, row_p + 1);
        if (j > 0) {
            pairs += sum_pairs(n - 1, 1, mean, row_u, row_p);
            REAL8 many = (REAL8)ZERO;
            size_t i = 1;
            for (; i + 8 < n; i += 8) {
                many += SQUARE(vload8(0, row_u + i) - vload8(0, row_p + i));
            }
            for (; i < n - 1; ++i) {
                squares += SQUARE(row_u[i] - row_p[i]);
            }
            squares += sum8(many);
        }
    }
    partial[2 * item] = squares;
    partial[2 * item + 1] = pairs;
}
#endif
