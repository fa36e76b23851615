// Red-black Gauss-Seidel by strips, for GPUs, as grid2_strip.clh says, with the correction before it and the defect and its
// restriction after it.
//
// Traffic per fine point, f64, beside the halos:
//   sweeps                       24 B
//   sweeps from zero, restricted 18 B
//   corrected sweeps             26 B
//   corrected, restricted        28 B: the last half of one cycle and the first half of the next
//
//   STAGES    half-sweeps
//   START     what u is before the first stage: GIVEN, FROM_ZERO, or CORRECTED by the interpolant of `correction`
//   FLIP      1 where the first half-sweep is black
//   SUMMED    after how many stages the squares of the defect are summed, after all of them also those of u; NEVER
//   RESTRICT  1 where the defect after the last stage is restricted
//   SHIFTED   1 where there is a shift
//@ build STAGES=2 START=0 FLIP=0 SUMMED=255 RESTRICT=0 ITEMS=128 AHEAD=2 SHIFTED=0
//@ build STAGES=4 START=0 FLIP=0 SUMMED=255 RESTRICT=1 ITEMS=64 AHEAD=2 SHIFTED=0
//@ build STAGES=4 START=1 FLIP=0 SUMMED=255 RESTRICT=1 ITEMS=64 AHEAD=2 SHIFTED=0
//@ build STAGES=2 START=2 FLIP=1 SUMMED=255 RESTRICT=0 ITEMS=128 AHEAD=2 SHIFTED=0
//@ build STAGES=2 START=2 FLIP=0 SUMMED=2 RESTRICT=0 ITEMS=64 AHEAD=2 SHIFTED=0
//@ build STAGES=6 START=2 FLIP=0 SUMMED=2 RESTRICT=1 ITEMS=64 AHEAD=2 SHIFTED=0
//@ build STAGES=6 START=2 FLIP=0 SUMMED=2 RESTRICT=1 ITEMS=64 AHEAD=2 SHIFTED=1
//@ build STAGES=4 START=0 FLIP=0 SUMMED=255 RESTRICT=1 ITEMS=64 AHEAD=2 SHIFTED=0 PART=1
//@ build STAGES=2 START=2 FLIP=0 SUMMED=255 RESTRICT=0 ITEMS=64 AHEAD=2 SHIFTED=0 PART=1
//@ build STAGES=6 START=2 FLIP=0 SUMMED=2 RESTRICT=1 ITEMS=64 AHEAD=2 SHIFTED=0 PART=1
#include "common.clh"
#include "grid2_strip.clh"
#include "strip_sums.clh"

#define GIVEN 0
#define FROM_ZERO 1
#define CORRECTED 2
#define NEVER 255

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
    // Rows of the band that are included in the sums of squares.
    int sum_low, sum_high;
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
    const int t = (int)get_local_id(0) + 1, n = q->n, height = q->height, before = 1 - now;
    // Strips and bands begin with even columns and rows: in each step all stages relax the same column.
    const bool to_left = ((now + FLIP) & 1) != 0;
#pragma unroll
    for (int k = ROWS - 1; k > 0; --k) {
        w->ua[k] = w->ua[k - 1];
        w->ub[k] = w->ub[k - 1];
        w->fa[k] = w->fa[k - 1];
        w->fb[k] = w->fb[k - 1];
    }
    load(w, q, g, edge ? clamp(j + AHEAD, 0, height - 1) : j + AHEAD, -AHEAD);
    w->fa[ROW(0)] *= g->h2;
    w->fb[ROW(0)] *= g->h2;
    if (START == FROM_ZERO) {
        w->ua[ROW(0)] = w->ub[ROW(0)] = ZERO;
    }
    if (START == CORRECTED) {
        const bool row_inside = !edge || (j > 0 && j < height - 1);
        const REAL ea = now == 0 ? w->below_c : HALF * (w->below_c + w->above_c);
        const REAL eb = now == 0 ? HALF * (w->below_c + w->below_d)
                                 : QUARTER * (w->below_c + w->below_d + w->above_c + w->above_d);
        w->ua[ROW(0)] = !edge || (row_inside && q->inside_a) ? w->ua[ROW(0)] + ea : w->ua[ROW(0)];
        w->ub[ROW(0)] = !edge || (row_inside && q->inside_b) ? w->ub[ROW(0)] + eb : w->ub[ROW(0)];
        if (now == 1) {
            load_coarse(w, q, g, edge ? clamp((j + 5) / 2, 0, (height - 1) / 2) : (j + 5) / 2);
        }
    }
    slots[now][0][t] = to_left ? w->ua[ROW(0)] : w->ub[ROW(0)];
    REAL side = ZERO;
#pragma unroll
    for (int s = 0; s < STAGES + SIZED; ++s) {
        const int k = s + 1, r = j - k;
        const bool inside = !edge || (r > 0 && r < height - 1 && (to_left ? q->inside_a : q->inside_b));
        const bool summed_row = r >= g->sum_low && r < g->sum_high;
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
            w->total += inside && summed_row && (to_left ? q->stored_a : q->stored_b) ? d * d : ZERO;
        }
        if (SIZED && s == STAGES) {
            const REAL a = w->ua[ROW(k)], b = w->ub[ROW(k)];
            w->size += q->stored_a && summed_row ? a * a : ZERO;
            w->size += q->stored_b && summed_row ? b * b : ZERO;
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
            const bool inside = !edge || (q->inside_a && r - 1 > 0 && r - 1 < height - 1);
            const REAL sum = w->sum_below + w->defect_a, corners = w->corners + west + w->defect_b;
            g->coarse[(size_t)(r / 2) * (((size_t)n + 1) / 2) + g->at_c] = inside ? WEIGHTED(w->centre, sum, corners) : ZERO;
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

// u and out are different grids, except for FROM_ZERO; `rows` is even. With PART, the first row coincides with row `skip` of `correction` and
// `coarse`, and rows `own_low` to `own_high` - 1 are summed. Each group writes two values to `partial` from `place` on: the sums of the squares of
// the defect and of u.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
relax_strip(ulong points, ulong part_height, ulong skip, uint own_low, uint own_high, uint rows, REAL h2, REAL inverse_h2, REAL weight, REAL scaled_shift,
            __global const REAL *f, __global const REAL *u, __global REAL *out, __global const REAL *correction, __global REAL *coarse, ulong place,
            __global REAL *partial)
{
    __local REAL memory[2 * SLOTS * (ITEMS + 2)];
    __local REAL(*slots)[SLOTS][ITEMS + 2] = (__local REAL(*)[SLOTS][ITEMS + 2]) memory;
    const int n = (int)points, height = HEIGHT(points, part_height), m = (n + 1) / 2;
    const int low = (int)get_group_id(1) * (int)rows, high = min(low + (int)rows, height);
    const int column = (int)get_group_id(0) * 2 * (ITEMS - HALO) - HALO;
    const int first = low - HALO, last = high - 1 + HALO + AFTER;
    const bool edge = column <= 0 || column + 2 * ITEMS >= n || first <= 0 || last + AHEAD + 7 >= height;
    const int last_inner = edge ? first - 1 : last, last_edge = edge ? last : first - 1;
    const int item = (int)get_local_id(0);
    const Place q = place_of(n, height, (int)rows, HALO);
    Grids g;
    g.f = f, g.u = u, g.correction = correction, g.out = out, g.coarse = coarse, g.h2 = h2, g.inverse_h2 = inverse_h2;
    g.weight = weight, g.scaled_shift = scaled_shift;
#ifdef PART
    g.correction += skip * (ulong)m, g.coarse += skip * (ulong)m;
    g.sum_low = max(low, (int)own_low), g.sum_high = min(high, (int)own_high);
#else
    (void)skip, (void)own_low, (void)own_high;
    g.sum_low = low, g.sum_high = high;
#endif
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
        load(&w, &q, &g, clamp(first + k, 0, height - 1), -k - 1);
    }
    if (START == CORRECTED) {
        for (int k = 0; k < 3; ++k) {
            load_coarse(&w, &q, &g, clamp(first / 2 + k, 0, (height - 1) / 2));
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
    STORE_STRIP_SUMS(memory, item, w.total, w.size, partial, place);
#else
    (void)place;
    (void)partial;
#endif
}
