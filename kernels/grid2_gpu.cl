// Fused smoothing for GPUs: all relaxations of a visit, with the correction before them and the defect and its
// restriction after them, in one pass over memory; and all coarse levels in one launch. Notation and bits are those of
// grid2.cl; the grids of defects have 2^k + 1 points a side, where scaling by h^2 rounds nothing.
//
// A work-group owns a strip of columns and goes up a band of rows. An item has two neighbouring columns, the left one
// even, and keeps of each the rows in work in registers: a wave of half-sweeps (or sweeps of Jacobi), stage s on row
// j - 1 - s when row j arrives. Of its neighbours in the row an item needs only what they relaxed one row ago: that goes
// through local memory, one barrier per row. What happens at the edge of a strip or band spoils one column or row more
// per stage, so groups begin with a halo that they relax again; u is read from one grid and written to another.
//
// Traffic per fine point, f64, beside the halos:
//   sweeps                       24 B
//   sweeps from zero, restricted 18 B
//   corrected sweeps             26 B
//   corrected, restricted        28 B: the last half of one cycle and the first half of the next
//
// A build holds one kernel.
//   ITEMS     items of a work-group
//   AHEAD     rows between a load and its use
//   JACOBI    sweeps of jacobi_strip_gpu
//   TOP       highest level that cycle_group_gpu keeps in local memory
//   STAGES    half-sweeps of relax_strip_gpu, which also takes
//   START     what u is before the first stage: GIVEN, FROM_ZERO, or CORRECTED by the interpolant of `correction`
//   FLIP      1 where the first half-sweep is black
//   SUMMED    after how many stages the squares of the defect are summed, after all of them also those of u; NEVER
//   RESTRICT  1 where the defect after the last stage is restricted
//   SHIFTED   1 where there is a shift
#pragma OPENCL FP_CONTRACT OFF

#define GIVEN 0
#define FROM_ZERO 1
#define CORRECTED 2
#define NEVER 255

#define QUARTER ((REAL)0.25f)
#define HALF ((REAL)0.5f)
#define TWO ((REAL)2.0f)
#define FOUR ((REAL)4.0f)
#define SIXTEENTH ((REAL)0.0625f)

// `scaled` is h^2 f, `scaled_shift` h^2 times the shift.
#define NEIGHBOURS(south, west, east, north) ((south) + (west) + (east) + (north))
#define RELAXED(weight, scaled, sum) ((weight) * ((scaled) + (sum)))
#define DEFECT(inverse_h2, scaled, sum, centre) ((inverse_h2) * ((scaled) + ((sum)-FOUR * (centre))))
#define SHIFTED_DEFECT(inverse_h2, scaled_shift, scaled, sum, centre)                                    \
    DEFECT(inverse_h2, (scaled) - (scaled_shift) * (centre), sum, centre)
#define WEIGHTED(centre, sum, corners) (SIXTEENTH * (FOUR * (centre) + TWO * (sum) + (corners)))

#define ALWAYS_INLINE inline __attribute__((always_inline))

#if !defined(TOP)
// Where an item works: its columns and whether it stores them, the rows of its band.
typedef struct {
    int n, low, high, left;
    bool stored_a, stored_b, inside_a, inside_b;
    size_t at_a, at_b;
} Place;

// Bands have `rows` rows, strips `halo` columns on either side that they do not store.
ALWAYS_INLINE Place place_of(int n, int rows, int halo)
{
    const int item = (int)get_local_id(0), left = (int)get_group_id(0) * 2 * (ITEMS - halo) - halo + 2 * item;
    const int low = (int)get_group_id(1) * rows;
    const bool owned = 2 * item >= halo && 2 * item < 2 * ITEMS - halo;
    Place q;
    q.n = n, q.left = left, q.low = low, q.high = min(low + rows, n);
    q.stored_a = owned && left < n, q.stored_b = owned && left + 1 < n;
    q.inside_a = left > 0 && left < n - 1, q.inside_b = left + 1 > 0 && left + 1 < n - 1;
    // Loads stay in the grid; what they bring from elsewhere is never used.
    q.at_a = (size_t)clamp(left, 0, n - 1), q.at_b = (size_t)clamp(left + 1, 0, n - 1);
    return q;
}
#endif

#if defined(JACOBI)
#define HALO (JACOBI + JACOBI % 2)

// Rows of h^2 f, and of u those ahead; of what each stage reads, the row it relaxes and the one below.
typedef struct {
    REAL ua[AHEAD + 1], ub[AHEAD + 1], fa[AHEAD + JACOBI + 1], fb[AHEAD + JACOBI + 1];
    REAL centre_a[JACOBI], centre_b[JACOBI], south_a[JACOBI], south_b[JACOBI];
} Wave;

ALWAYS_INLINE void load(Wave *w, const Place *q, int row, int k, __global const REAL *f, __global const REAL *u)
{
    const size_t base = (size_t)row * (size_t)q->n;
    w->ua[k] = u[base + q->at_a], w->ub[k] = u[base + q->at_b];
    w->fa[k] = f[base + q->at_a], w->fb[k] = f[base + q->at_b];
}

// The step in which row `j` arrives; `edge` where the group meets the boundary, `now` the parity of `j`.
ALWAYS_INLINE void advance(Wave *w, const Place *q, const bool edge, const int now, int j, REAL weight, REAL h2, REAL omega,
                           __global const REAL *f, __global const REAL *u, __global REAL *out,
                           __local REAL (*slots)[JACOBI][2][ITEMS + 2])
{
    const int t = (int)get_local_id(0) + 1, n = q->n, before = 1 - now;
#pragma unroll
    for (int k = AHEAD; k > 0; --k) {
        w->ua[k] = w->ua[k - 1], w->ub[k] = w->ub[k - 1];
    }
#pragma unroll
    for (int k = AHEAD + JACOBI; k > 0; --k) {
        w->fa[k] = w->fa[k - 1], w->fb[k] = w->fb[k - 1];
    }
    load(w, q, edge ? clamp(j + AHEAD, 0, n - 1) : j + AHEAD, 0, f, u);
    w->fa[AHEAD] *= h2, w->fb[AHEAD] *= h2;
    REAL north_a = w->ua[AHEAD], north_b = w->ub[AHEAD];
#pragma unroll
    for (int s = 0; s < JACOBI; ++s) {
        const int r = j - 1 - s;
        const bool row_inside = !edge || (r > 0 && r < n - 1);
        slots[now][s][0][t] = north_a;
        slots[now][s][1][t] = north_b;
        const REAL west = slots[before][s][1][t - 1], east = slots[before][s][0][t + 1];
        const REAL a = w->centre_a[s], b = w->centre_b[s];
        const REAL to_a = RELAXED(weight, w->fa[AHEAD + s + 1], NEIGHBOURS(w->south_a[s], west, b, north_a)) - a;
        const REAL to_b = RELAXED(weight, w->fb[AHEAD + s + 1], NEIGHBOURS(w->south_b[s], a, east, north_b)) - b;
        w->south_a[s] = a, w->south_b[s] = b;
        w->centre_a[s] = north_a, w->centre_b[s] = north_b;
        north_a = !edge || (row_inside && q->inside_a) ? a + omega * to_a : a;
        north_b = !edge || (row_inside && q->inside_b) ? b + omega * to_b : b;
    }
    const int done = j - JACOBI;
    if (done >= q->low && done < q->high) {
        const size_t base = (size_t)done * (size_t)n;
        if (q->stored_a) {
            out[base + q->at_a] = north_a;
        }
        if (q->stored_b) {
            out[base + q->at_b] = north_b;
        }
    }
}

// out = JACOBI sweeps of weighted Jacobi over u; u on the boundary. `rows` is even.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
jacobi_strip_gpu(ulong points, uint rows, REAL weight, REAL h2, REAL omega, __global const REAL *f, __global const REAL *u,
                 __global REAL *out)
{
    __local REAL slots[2][JACOBI][2][ITEMS + 2];
    const int n = (int)points;
    const int low = (int)get_group_id(1) * (int)rows, high = min(low + (int)rows, n);
    const int column = (int)get_group_id(0) * 2 * (ITEMS - HALO) - HALO, first = low - HALO, last = high - 1 + JACOBI;
    const bool edge = column <= 0 || column + 2 * ITEMS >= n || first <= 0 || last + 2 + AHEAD >= n;
    const int last_inner = edge ? first - 1 : last, last_edge = edge ? last : first - 1;
    const int item = (int)get_local_id(0);
    const Place q = place_of(n, (int)rows, HALO);
    Wave w;
    for (int k = 0; k <= AHEAD; ++k) {
        w.ua[k] = w.ub[k] = ZERO;
    }
    for (int k = 0; k <= AHEAD + JACOBI; ++k) {
        w.fa[k] = w.fb[k] = ZERO;
    }
    for (int s = 0; s < JACOBI; ++s) {
        w.centre_a[s] = w.centre_b[s] = w.south_a[s] = w.south_b[s] = ZERO;
    }
    if (item < 4 * JACOBI) {
        slots[item & 1][item / 4][item / 2 % 2][0] = slots[item & 1][item / 4][item / 2 % 2][ITEMS + 1] = ZERO;
    }
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
        load(&w, &q, clamp(first + k, 0, n - 1), AHEAD - 1 - k, f, u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = first; j <= last_inner; j += 2) {
        advance(&w, &q, false, 0, j, weight, h2, omega, f, u, out, slots);
        barrier(CLK_LOCAL_MEM_FENCE);
        advance(&w, &q, false, 1, j + 1, weight, h2, omega, f, u, out, slots);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int j = first; j <= last_edge; j += 2) {
        advance(&w, &q, true, 0, j, weight, h2, omega, f, u, out, slots);
        barrier(CLK_LOCAL_MEM_FENCE);
        advance(&w, &q, true, 1, j + 1, weight, h2, omega, f, u, out, slots);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

#elif defined(TOP)
// Level k has 2^k + 1 points a side; solutions, right-hand sides times h^2 and defects of levels 1 to TOP lie in local
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
cycle_group_gpu(uint top, uint given, uint count, __global const uint *list, uint sweeps, __global const REAL *weights,
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

#else
// Whether the defect of the last stage's result is wanted, and whether the squares of u are.
#define AFTER (RESTRICT || SUMMED == STAGES)
#define SIZED (SUMMED == STAGES)
// Columns and rows of halo.
#define HALO (STAGES + 2 * AFTER)
// Values that items show each other in a row: those relaxed, and a defect.
#define SLOTS (STAGES + 1 + RESTRICT)
// Rows at hand: those ahead, the newest, one per stage, and one or two below them.
#define ROWS (AHEAD + STAGES + 2 + AFTER)
#define ROW(k) ((k) + AHEAD)

typedef struct {
    // Rows of u and of h^2 f.
    REAL ua[ROWS], ub[ROWS], fa[ROWS], fb[ROWS];
    // Three coarse rows: below the newest row, above it, and the next one.
    REAL below_c, below_d, above_c, above_d, next_c, next_d;
    // The neighbour's value that the last stage read, one row ago.
    REAL kept;
    // Of the defect: the row before, and what is known of the coarse point in work.
    REAL defect_a, defect_b, south, corners, sum_below, centre;
    // Sums of squares.
    REAL total, size;
} Wave;

typedef struct {
    __global const REAL *f, *u, *correction;
    __global REAL *out, *coarse;
    size_t at_c, at_d;
    REAL h2, inverse_h2, weight, scaled_shift;
} Grids;

#if SHIFTED
#define RESIDUAL(scaled, sum, centre) SHIFTED_DEFECT(g->inverse_h2, g->scaled_shift, scaled, sum, centre)
#else
#define RESIDUAL(scaled, sum, centre) DEFECT(g->inverse_h2, scaled, sum, centre)
#endif

ALWAYS_INLINE void load(Wave *w, const Place *q, const Grids *g, int row, int k)
{
    const size_t base = (size_t)row * (size_t)q->n;
    w->fa[ROW(k)] = g->f[base + q->at_a];
    w->fb[ROW(k)] = g->f[base + q->at_b];
    if (START != FROM_ZERO) {
        w->ua[ROW(k)] = g->u[base + q->at_a];
        w->ub[ROW(k)] = g->u[base + q->at_b];
    }
}

// Row `row` of the correction.
ALWAYS_INLINE void load_coarse(Wave *w, const Place *q, const Grids *g, int row)
{
    const size_t m = ((size_t)q->n + 1) / 2;
    w->below_c = w->above_c, w->below_d = w->above_d, w->above_c = w->next_c, w->above_d = w->next_d;
    w->next_c = g->correction[(size_t)row * m + g->at_c];
    w->next_d = g->correction[(size_t)row * m + g->at_d];
}

// The step in which row `j` arrives, whose parity is `now`; `edge` where the group meets the boundary.
ALWAYS_INLINE void advance(Wave *w, const Place *q, const Grids *g, const bool edge, const int now, int j,
                           __local REAL (*slots)[SLOTS][ITEMS + 2])
{
    const int t = (int)get_local_id(0) + 1, n = q->n, before = 1 - now;
    const size_t m = ((size_t)n + 1) / 2;
    // Strips and bands begin with even columns and rows: in each step all stages relax the same column.
    const bool to_left = ((now + FLIP) & 1) != 0;
#pragma unroll
    for (int k = ROWS - 1; k > 0; --k) {
        w->ua[k] = w->ua[k - 1];
        w->ub[k] = w->ub[k - 1];
        w->fa[k] = w->fa[k - 1];
        w->fb[k] = w->fb[k - 1];
    }
    load(w, q, g, edge ? clamp(j + AHEAD, 0, n - 1) : j + AHEAD, -AHEAD);
    w->fa[ROW(0)] *= g->h2;
    w->fb[ROW(0)] *= g->h2;
    if (START == FROM_ZERO) {
        w->ua[ROW(0)] = w->ub[ROW(0)] = ZERO;
    }
    if (START == CORRECTED) {
        const bool row_inside = !edge || (j > 0 && j < n - 1);
        const REAL ea = now == 0 ? w->below_c : HALF * (w->below_c + w->above_c);
        const REAL eb = now == 0 ? HALF * (w->below_c + w->below_d)
                                 : QUARTER * (w->below_c + w->below_d + w->above_c + w->above_d);
        w->ua[ROW(0)] = !edge || (row_inside && q->inside_a) ? w->ua[ROW(0)] + ea : w->ua[ROW(0)];
        w->ub[ROW(0)] = !edge || (row_inside && q->inside_b) ? w->ub[ROW(0)] + eb : w->ub[ROW(0)];
        if (now == 1) {
            load_coarse(w, q, g, edge ? clamp((j + 5) / 2, 0, (int)m - 1) : (j + 5) / 2);
        }
    }
    slots[now][0][t] = to_left ? w->ua[ROW(0)] : w->ub[ROW(0)];
    REAL side = ZERO;
#pragma unroll
    for (int s = 0; s < STAGES + SIZED; ++s) {
        const int k = s + 1, r = j - k;
        const bool inside = !edge || (r > 0 && r < n - 1 && (to_left ? q->inside_a : q->inside_b));
        const bool own_row = r >= q->low && r < q->high;
        const REAL old = to_left ? w->ua[ROW(k)] : w->ub[ROW(k)], scaled = to_left ? w->fa[ROW(k)] : w->fb[ROW(k)];
        side = slots[before][s][to_left ? t - 1 : t + 1];
        const REAL sum = to_left ? NEIGHBOURS(w->ua[ROW(k + 1)], side, w->ub[ROW(k)], w->ua[ROW(k - 1)])
                                 : NEIGHBOURS(w->ub[ROW(k + 1)], w->ua[ROW(k)], side, w->ub[ROW(k - 1)]);
        REAL value = old;
        if (s < STAGES) {
            value = inside ? RELAXED(g->weight, scaled, sum) : old;
            if (to_left) {
                w->ua[ROW(k)] = value;
            } else {
                w->ub[ROW(k)] = value;
            }
            slots[now][s + 1][t] = value;
        }
        if (SUMMED == s || SUMMED == s + 1) {
            const REAL d = RESIDUAL(scaled, sum, SUMMED == s ? old : value);
            w->total += inside && own_row && (to_left ? q->stored_a : q->stored_b) ? d * d : ZERO;
        }
        if (SIZED && s == STAGES) {
            const REAL a = w->ua[ROW(k)], b = w->ub[ROW(k)];
            w->size += q->stored_a && own_row ? a * a : ZERO;
            w->size += q->stored_b && own_row ? b * b : ZERO;
        }
    }
    const int done = j - STAGES;
    if (done >= q->low && done < q->high) {
        const size_t base = (size_t)done * (size_t)n;
        if (q->stored_a) {
            g->out[base + q->at_a] = w->ua[ROW(STAGES)];
        }
        if (q->stored_b) {
            g->out[base + q->at_b] = w->ub[ROW(STAGES)];
        }
    }
#if RESTRICT
    // The row before first: with its defects a coarse point may be complete.
    const int r = j - 2 - STAGES, k = STAGES + 1;
    const REAL west = slots[before][STAGES + 1][t - 1];
    if (now == 0) {
        w->centre = w->defect_a;
        w->sum_below = w->south + west + w->defect_b;
    } else {
        if (r - 1 >= q->low && r - 1 < q->high && q->stored_a) {
            const bool inside = !edge || (q->inside_a && r - 1 > 0 && r - 1 < n - 1);
            const REAL sum = w->sum_below + w->defect_a, corners = w->corners + west + w->defect_b;
            g->coarse[(size_t)(r / 2) * m + g->at_c] = inside ? WEIGHTED(w->centre, sum, corners) : ZERO;
        }
        w->south = w->defect_a;
        w->corners = west + w->defect_b;
    }
    const REAL other = slots[before][STAGES][to_left ? t - 1 : t + 1];
    const REAL sum_a = NEIGHBOURS(w->ua[ROW(k + 1)], to_left ? other : w->kept, w->ub[ROW(k)], w->ua[ROW(k - 1)]);
    const REAL sum_b = NEIGHBOURS(w->ub[ROW(k + 1)], w->ua[ROW(k)], to_left ? w->kept : other, w->ub[ROW(k - 1)]);
    w->defect_a = RESIDUAL(w->fa[ROW(k)], sum_a, w->ua[ROW(k)]);
    w->defect_b = RESIDUAL(w->fb[ROW(k)], sum_b, w->ub[ROW(k)]);
    w->kept = side;
    slots[now][STAGES + 1][t] = w->defect_b;
#endif
}

// u and out are different grids, but for FROM_ZERO; `rows` is even. The sums of a group are two values of `partial`
// from `place` on: of the squares of the defect, of those of u.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
relax_strip_gpu(ulong points, uint rows, REAL h2, REAL inverse_h2, REAL weight, REAL scaled_shift,
                __global const REAL *f, __global const REAL *u, __global REAL *out, __global const REAL *correction, __global REAL *coarse, ulong place,
                __global REAL *partial)
{
    __local REAL memory[2 * SLOTS * (ITEMS + 2)];
    __local REAL(*slots)[SLOTS][ITEMS + 2] = (__local REAL(*)[SLOTS][ITEMS + 2]) memory;
    const int n = (int)points, m = (n + 1) / 2;
    const int low = (int)get_group_id(1) * (int)rows, high = min(low + (int)rows, n);
    const int column = (int)get_group_id(0) * 2 * (ITEMS - HALO) - HALO;
    const int first = low - HALO, last = high - 1 + HALO + AFTER;
    const bool edge = column <= 0 || column + 2 * ITEMS >= n || first <= 0 || last + AHEAD + 7 >= n;
    const int last_inner = edge ? first - 1 : last, last_edge = edge ? last : first - 1;
    const int item = (int)get_local_id(0);
    const Place q = place_of(n, (int)rows, HALO);
    Grids g;
    g.f = f, g.u = u, g.correction = correction, g.out = out, g.coarse = coarse, g.h2 = h2, g.inverse_h2 = inverse_h2;
    g.weight = weight, g.scaled_shift = scaled_shift;
    g.at_c = (size_t)clamp(q.left / 2, 0, m - 1), g.at_d = (size_t)clamp(q.left / 2 + 1, 0, m - 1);
    Wave w;
    for (int k = 0; k < ROWS; ++k) {
        w.ua[k] = w.ub[k] = w.fa[k] = w.fb[k] = ZERO;
    }
    w.above_c = w.above_d = w.next_c = w.next_d = w.kept = w.total = w.size = ZERO;
    w.defect_a = w.defect_b = w.south = w.corners = w.sum_below = w.centre = ZERO;
    if (item < 2 * SLOTS) {
        slots[item & 1][item / 2][0] = slots[item & 1][item / 2][ITEMS + 1] = ZERO;
    }
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
        // The rows are one place further when the loop begins.
        load(&w, &q, &g, clamp(first + k, 0, n - 1), -k - 1);
    }
    if (START == CORRECTED) {
        for (int k = 0; k < 3; ++k) {
            load_coarse(&w, &q, &g, clamp(first / 2 + k, 0, m - 1));
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = first; j <= last_inner; j += 2) {
        advance(&w, &q, &g, false, 0, j, slots);
        barrier(CLK_LOCAL_MEM_FENCE);
        advance(&w, &q, &g, false, 1, j + 1, slots);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int j = first; j <= last_edge; j += 2) {
        advance(&w, &q, &g, true, 0, j, slots);
        barrier(CLK_LOCAL_MEM_FENCE);
        advance(&w, &q, &g, true, 1, j + 1, slots);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#if SUMMED != NEVER
    // Trees over the items, in the memory of the slots.
    memory[2 * item] = w.total;
    memory[2 * item + 1] = w.size;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int width = ITEMS / 2; width > 0; width /= 2) {
        if (item < width) {
            memory[2 * item] += memory[2 * (item + width)];
            memory[2 * item + 1] += memory[2 * (item + width) + 1];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item < 2) {
        partial[place + 2 * (get_group_id(1) * get_num_groups(0) + get_group_id(0)) + (size_t)item] = memory[item];
    }
#else
    (void)place;
    (void)partial;
#endif
}
#endif
