// Red-black relaxations on boxes of two dimensions by strips, for GPUs: all relaxations of a visit of a level in one pass over memory, with the
// correction before them and the residual, summed or restricted, after them. Operator and notation are those of boxes.cl; a work-group goes up
// a strip of columns as grid2_strip.clh says.
//
// Traffic per fine point, f64, beside the halos:
//   sweeps                       24 B
//   sweeps from zero, restricted 18 B
//   corrected sweeps             26 B
//   corrected, restricted        28 B: the last half of one cycle and the first half of the next
//
// Couplings of columns stay in registers, those of rows come from the cache. `reals` and `numbers` say what the rows and columns of a level are, see
// `Strips` in multigrid/boxes/strips.rs; rows have PAD more on either side, which continue a periodic direction and have no couplings otherwise.
// Coarse rows and columns are numbered on past the ends of a periodic direction: a fine row takes part in its base row and in the next one, and
// the base grows by at most one from row to row.
//
//   ITEMS     items of a work-group
//   AHEAD     rows between a load and its use
//   STAGES    half-sweeps
//   START     what u is before the first stage: GIVEN, FROM_ZERO, or CORRECTED by the interpolant of `correction`
//   FLIP      1 where the first half-sweep is black
//   SUMMED    after how many stages the squares of the residual are summed, after all of them also those of u; NEVER
//   RESTRICT  1 where the residual after the last stage is restricted
//@ build STAGES=2 START=0 FLIP=0 SUMMED=255 RESTRICT=0 ITEMS=128 AHEAD=2
//@ build STAGES=4 START=0 FLIP=0 SUMMED=255 RESTRICT=1 ITEMS=64 AHEAD=2
//@ build STAGES=4 START=1 FLIP=0 SUMMED=255 RESTRICT=1 ITEMS=64 AHEAD=2
//@ build STAGES=2 START=2 FLIP=1 SUMMED=255 RESTRICT=0 ITEMS=128 AHEAD=2
//@ build STAGES=2 START=2 FLIP=0 SUMMED=2 RESTRICT=0 ITEMS=64 AHEAD=2
//@ build STAGES=6 START=2 FLIP=0 SUMMED=2 RESTRICT=1 ITEMS=64 AHEAD=2
#include "common.clh"

#define ALWAYS_INLINE inline __attribute__((always_inline))

#define GIVEN 0
#define FROM_ZERO 1
#define CORRECTED 2
#define NEVER 255

// Rows beside those of the grid in the tables.
#define PAD 32

// Whether squares of the residual and of u are summed after the last stage.
#define SIZED (SUMMED == STAGES)
// Rows of halo below a band. On either side of a strip restriction needs two columns more.
#define HALO (STAGES + 2 * (RESTRICT || SIZED))
#define SIDE (HALO + 2 * RESTRICT)
// Rows above a band that arrive after it: three for the residuals of the last coarse row, one until that is complete, one until it is written.
#define BEYOND (RESTRICT ? STAGES + 5 : HALO)
// Values that items show each other in a row: those relaxed, and two of a coarse row, which lie beside each other.
#define SLOTS (STAGES + 1 + 2 * RESTRICT)
// Rows at hand: those ahead, the newest, one per stage, and one or two below them.
#define ROWS (AHEAD + STAGES + 2 + (RESTRICT || SIZED))
#define ROW(k) ((k) + AHEAD)

typedef struct {
    int nx, ny, mx, my, padded;
    // The left column of the item, and the places of both in a row.
    int left, at_a, at_b;
    bool inside_a, inside_b, stored_a, stored_b;
    // Rows of the band.
    int low, high;
    // Couplings of both to the left, to the right, what the diagonal has more, and the mass; in local memory, since registers are short.
    __local const REAL4 *columns;
    // Rows of f of both columns, and of the weights.
    __local REAL *sources, *weights;
    REAL omega;
    __global const REAL *f, *u, *correction;
    __global REAL *out, *coarse;
    __global const REAL4 *reals;
    __global const int *places;
} Strip;

// What the tables have: by row its mass, couplings to the south and to the north, and what the diagonal has more; its kind, the same for rows with the same of
// these; its place; its base row and the parts of that and of the next one; by coarse row the row whose band writes it; by column the parts of two coarse columns, and where these are; the coarse column
// that it owns and the parts of that in the four columns around.
#define ROW_FACTORS(q, row) (q)->reals[(row) + PAD]
#define ROW_PLACE(q, row) (q)->places[(row) + PAD]
#define BASE(q, row) (q)->places[(q)->padded + (row) + PAD]
#define ROW_PARTS(q, row) ((__global const REAL2 *)((q)->reals + (q)->padded + 2 * (q)->nx))[(row) + PAD]
#define ROW_KIND(q, row) (q)->places[2 * (q)->padded + (row) + PAD]
#define OWNER(q, coarse_row) (q)->places[3 * (q)->padded + 3 * (q)->nx + (coarse_row)]
#define COLUMN_FACTORS(q, at) (q)->reals[(q)->padded + (at)]
#define COLUMN_PARTS(q, at) ((__global const REAL2 *)((q)->reals + (q)->padded + 2 * (q)->nx))[(q)->padded + (at)]
#define COARSE_COLUMN(q, at, which) (q)->places[3 * (q)->padded + 2 * (at) + (which)]
#define OWNED(q, at) (q)->places[3 * (q)->padded + 2 * (q)->nx + (at)]
#define GATHERED(q, at, k) ((__global const REAL *)((q)->reals + (q)->padded + (q)->nx))[4 * (at) + (k)]

typedef struct {
    // Rows of u, and those of f that have not arrived.
    REAL ua[ROWS], ub[ROWS], fa[AHEAD + 1], fb[AHEAD + 1];
    // The two weights omega over the diagonal of the newest row, and its kind.
    REAL weight_a, weight_b;
    int kind;
    // The correction on the base row of the newest row and on the next one, and what its columns take parts of for the row to come.
    REAL low_a, low_b, high_a, high_b, next[4];
    int base;
    // The neighbour's value that the last stage read, one row ago.
    REAL kept;
    // Residuals weighted for two coarse rows, the first of which has the number `sum_base`; the coarse row that was completed a row ago.
    REAL first_a, first_b, second_a, second_b;
    int sum_base, complete;
    // Sums of squares.
    REAL total, size;
} Wave;

ALWAYS_INLINE REAL weight_at(REAL omega, REAL4 column, REAL4 row)
{
    const REAL diagonal = row.x * (column.x + column.y + column.z) + column.w * (row.y + row.z + row.w);
    return diagonal > ZERO ? omega / diagonal : ZERO;
}

// f of the item's columns in a row that has arrived, and omega over the diagonal there; KEPT rows are kept, a power of two.
#define KEPT (STAGES <= 2 ? 4 : 8)
#define WEIGHT(q, row, which) (q)->weights[(2 * ((row) & (KEPT - 1)) + (which)) * ITEMS]
#define SOURCE(q, row, which) (q)->sources[(2 * ((row) & (KEPT - 1)) + (which)) * ITEMS]

ALWAYS_INLINE void load(Wave *w, const Strip *q, int row, int k)
{
    const size_t base = (size_t)ROW_PLACE(q, row) * (size_t)q->nx;
    w->fa[ROW(k)] = q->inside_a ? q->f[base + q->at_a] : ZERO;
    w->fb[ROW(k)] = q->inside_b ? q->f[base + q->at_b] : ZERO;
    if (START != FROM_ZERO) {
        w->ua[ROW(k)] = q->inside_a ? q->u[base + q->at_a] : ZERO;
        w->ub[ROW(k)] = q->inside_b ? q->u[base + q->at_b] : ZERO;
    }
}

// Coarse row `row`, whatever period it lies in.
ALWAYS_INLINE void load_coarse(Wave *w, const Strip *q, int row)
{
    const int place = row % q->my < 0 ? row % q->my + q->my : row % q->my;
    __global const REAL *c = q->correction + (size_t)place * (size_t)q->mx;
    w->next[0] = c[COARSE_COLUMN(q, q->at_a, 0)], w->next[1] = c[COARSE_COLUMN(q, q->at_a, 1)];
    w->next[2] = c[COARSE_COLUMN(q, q->at_b, 0)], w->next[3] = c[COARSE_COLUMN(q, q->at_b, 1)];
}

// f - A u, of differences, so that a constant has no fluxes.
#define RESIDUAL(row, column, f, c, south, west, east, north)                                                          \
    ((f) - ((row).x * ((column).x * ((c) - (west)) + (column).y * ((c) - (east)) + (column).z * (c)) +                 \
            (column).w * ((row).y * ((c) - (south)) + (row).z * ((c) - (north)) + (row).w * (c))))

// The step in which row `j` arrives, whose parity is `now`.
ALWAYS_INLINE void advance(Wave *w, const Strip *q, const int now, int j, __local REAL (*slots)[SLOTS][ITEMS + 2])
{
    const int t = (int)get_local_id(0) + 1, before = 1 - now;
    // Strips and bands begin with even columns and rows: in each step all stages relax the same column.
    const bool to_left = ((now + FLIP) & 1) != 0;
#pragma unroll
    for (int k = ROWS - 1; k > 0; --k) {
        w->ua[k] = w->ua[k - 1];
        w->ub[k] = w->ub[k - 1];
    }
#pragma unroll
    for (int k = AHEAD; k > 0; --k) {
        w->fa[k] = w->fa[k - 1];
        w->fb[k] = w->fb[k - 1];
    }
    load(w, q, j + AHEAD, -AHEAD);
    SOURCE(q, j, 0) = w->fa[AHEAD];
    SOURCE(q, j, 1) = w->fb[AHEAD];
    const int kind = ROW_KIND(q, j);
    if (kind != w->kind) {
        const REAL4 row = ROW_FACTORS(q, j);
        w->kind = kind;
        w->weight_a = weight_at(q->omega, q->columns[0], row);
        w->weight_b = weight_at(q->omega, q->columns[1], row);
    }
    WEIGHT(q, j, 0) = w->weight_a;
    WEIGHT(q, j, 1) = w->weight_b;
    if (START == FROM_ZERO) {
        w->ua[ROW(0)] = w->ub[ROW(0)] = ZERO;
    }
    if (START == CORRECTED) {
        const int base = BASE(q, j);
        const REAL2 parts = ROW_PARTS(q, j), parts_a = COLUMN_PARTS(q, q->at_a), parts_b = COLUMN_PARTS(q, q->at_b);
        w->low_a = base > w->base ? w->high_a : w->low_a, w->low_b = base > w->base ? w->high_b : w->low_b;
        w->high_a = parts_a.x * w->next[0] + parts_a.y * w->next[1];
        w->high_b = parts_b.x * w->next[2] + parts_b.y * w->next[3];
        w->base = base;
        w->ua[ROW(0)] += q->inside_a ? parts.x * w->low_a + parts.y * w->high_a : ZERO;
        w->ub[ROW(0)] += q->inside_b ? parts.x * w->low_b + parts.y * w->high_b : ZERO;
        load_coarse(w, q, BASE(q, j + 1) + 1);
    }
    slots[now][0][t] = to_left ? w->ua[ROW(0)] : w->ub[ROW(0)];
    const REAL4 column = q->columns[to_left ? 0 : 1];
    REAL side = ZERO;
#pragma unroll
    for (int s = 0; s < STAGES + SIZED; ++s) {
        const int k = s + 1, r = j - k;
        const bool summed_row = r >= q->low && r < q->high;
        const REAL old = to_left ? w->ua[ROW(k)] : w->ub[ROW(k)], source = SOURCE(q, r, to_left ? 0 : 1);
        side = slots[before][s][to_left ? t - 1 : t + 1];
        const REAL west = to_left ? side : w->ua[ROW(k)], east = to_left ? w->ub[ROW(k)] : side;
        const REAL south = to_left ? w->ua[ROW(k + 1)] : w->ub[ROW(k + 1)];
        const REAL north = to_left ? w->ua[ROW(k - 1)] : w->ub[ROW(k - 1)];
        const REAL4 row = ROW_FACTORS(q, r);
        REAL value = old;
        if (s < STAGES) {
            const REAL sum = row.x * (column.x * west + column.y * east) + column.w * (row.y * south + row.z * north);
            value = (ONE - q->omega) * old + WEIGHT(q, r, to_left ? 0 : 1) * (source + sum);
            if (to_left) {
                w->ua[ROW(k)] = value;
            } else {
                w->ub[ROW(k)] = value;
            }
            slots[now][s + 1][t] = value;
        }
        if (SUMMED == s || SUMMED == s + 1) {
            const REAL centre = SUMMED == s ? old : value;
            const REAL d = RESIDUAL(row, column, source, centre, south, west, east, north);
            w->total += summed_row && (to_left ? q->stored_a : q->stored_b) ? d * d : ZERO;
        }
        if (SIZED && s == STAGES) {
            const REAL a = w->ua[ROW(k)], b = w->ub[ROW(k)];
            w->size += q->stored_a && summed_row ? a * a : ZERO;
            w->size += q->stored_b && summed_row ? b * b : ZERO;
        }
    }
    const int done = j - STAGES;
    if (done >= q->low && done < q->high) {
        const size_t base = (size_t)done * (size_t)q->nx;
        if (q->stored_a) {
            q->out[base + q->at_a] = w->ua[ROW(STAGES)];
        }
        if (q->stored_b) {
            q->out[base + q->at_b] = w->ub[ROW(STAGES)];
        }
    }
#if RESTRICT
    if (w->complete >= 0) {
        __local const REAL *full = slots[before][STAGES + 1];
        // A loop as it stands, since registers are short.
#pragma unroll 1
        for (int which = 0; which < 2; ++which) {
            const int at = which == 0 ? q->at_a : q->at_b;
            const int owned = (which == 0 ? q->stored_a : q->stored_b) ? OWNED(q, at) : -1;
            if (owned >= 0) {
                REAL sum = ZERO;
#pragma unroll 1
                for (int d = 0; d < 4; ++d) {
                    sum += GATHERED(q, at, d) * full[2 * t + which - 1 + d];
                }
                q->coarse[(size_t)w->complete * (size_t)q->mx + (size_t)owned] = sum;
            }
        }
    }
    // The row whose neighbours are done.
    const int r = j - 1 - STAGES, k = STAGES + 1, base = BASE(q, r);
    const REAL2 parts = ROW_PARTS(q, r);
    const REAL4 row = ROW_FACTORS(q, r);
    const REAL other = slots[before][STAGES][to_left ? t - 1 : t + 1];
    const REAL west = to_left ? other : w->kept, east = to_left ? w->kept : other;
    const REAL4 column_a = q->columns[0], column_b = q->columns[1];
    const REAL a = RESIDUAL(row, column_a, SOURCE(q, r, 0), w->ua[ROW(k)], w->ua[ROW(k + 1)], west, w->ub[ROW(k)], w->ua[ROW(k - 1)]);
    const REAL b = RESIDUAL(row, column_b, SOURCE(q, r, 1), w->ub[ROW(k)], w->ub[ROW(k + 1)], w->ua[ROW(k)], east, w->ub[ROW(k - 1)]);
    w->kept = side;
    // Without a branch, for which registers are short.
    const bool goes_on = base > w->sum_base;
    const int full = w->sum_base, owner = OWNER(q, clamp(full, 0, q->my - 1));
    slots[now][STAGES + 1][2 * t] = w->first_a;
    slots[now][STAGES + 1][2 * t + 1] = w->first_b;
    w->complete = goes_on && full >= 0 && full < q->my && owner >= q->low && owner < q->high ? full : -1;
    w->first_a = goes_on ? w->second_a : w->first_a, w->second_a = goes_on ? ZERO : w->second_a;
    w->first_b = goes_on ? w->second_b : w->first_b, w->second_b = goes_on ? ZERO : w->second_b;
    w->sum_base = base;
    w->first_a += parts.x * a, w->second_a += parts.y * a;
    w->first_b += parts.x * b, w->second_b += parts.y * b;
#endif
}

// u and out are different grids, except for FROM_ZERO; `band` is even. Each group writes two values to `partial` from `place` on: the sums of the
// squares of the residual and of u.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
box_strip(ulong nx, ulong ny, ulong mx, ulong my, uint periodic, uint band, REAL omega, __global const REAL *reals,
          __global const uint *numbers, __global const REAL *f, __global const REAL *u, __global REAL *out,
          __global const REAL *correction, __global REAL *coarse, ulong place, __global REAL *partial)
{
    __local REAL4 columns[2 * ITEMS];
    __local REAL sources[2 * KEPT * ITEMS], weights[2 * KEPT * ITEMS];
    __local REAL memory[2 * SLOTS * (ITEMS + 2)];
    __local REAL(*slots)[SLOTS][ITEMS + 2] = (__local REAL(*)[SLOTS][ITEMS + 2]) memory;
    const int item = (int)get_local_id(0), n = (int)nx;
    const int low = (int)(get_group_id(1) * band), high = min(low + (int)band, (int)ny);
    const int first = low - HALO, last = high - 1 + BEYOND;
    Strip q;
    q.nx = n, q.ny = (int)ny, q.mx = (int)mx, q.my = (int)my, q.padded = (int)ny + 2 * PAD;
    q.omega = omega, q.low = low, q.high = high;
    q.f = f, q.u = u, q.out = out, q.correction = correction, q.coarse = coarse;
    // Bases may be negative.
    q.reals = (__global const REAL4 *)reals, q.places = (__global const int *)numbers;
    q.left = (int)get_group_id(0) * 2 * (ITEMS - SIDE) - SIDE + 2 * item;
    q.inside_a = periodic != 0 || (q.left >= 0 && q.left < n);
    q.inside_b = periodic != 0 || (q.left + 1 >= 0 && q.left + 1 < n);
    const bool owned = 2 * item >= SIDE && 2 * item < 2 * ITEMS - SIDE;
    q.stored_a = owned && q.left < n, q.stored_b = owned && q.left + 1 < n;
    q.at_a = q.inside_a ? (q.left % n + n) % n : 0;
    q.at_b = q.inside_b ? ((q.left + 1) % n + n) % n : 0;
    columns[2 * item] = q.inside_a ? COLUMN_FACTORS(&q, q.at_a) : (REAL4)ZERO;
    columns[2 * item + 1] = q.inside_b ? COLUMN_FACTORS(&q, q.at_b) : (REAL4)ZERO;
    q.columns = columns + 2 * item, q.sources = sources + item, q.weights = weights + item;
    Wave w;
    for (int k = 0; k < ROWS; ++k) {
        w.ua[k] = w.ub[k] = ZERO;
    }
    for (int k = 0; k <= AHEAD; ++k) {
        w.fa[k] = w.fb[k] = ZERO;
    }
    for (int k = 0; k < 2 * KEPT; ++k) {
        q.sources[k * ITEMS] = q.weights[k * ITEMS] = ZERO;
    }
    w.weight_a = w.weight_b = w.kept = w.total = w.size = ZERO;
    w.low_a = w.low_b = w.high_a = w.high_b = w.first_a = w.first_b = w.second_a = w.second_b = ZERO;
    w.sum_base = BASE(&q, first - 1 - STAGES), w.complete = w.kind = -1, w.base = BASE(&q, first);
    // What rows outside of the grid hold is multiplied by couplings of 0, so it must be finite.
    for (int k = item; k < 2 * SLOTS * (ITEMS + 2); k += ITEMS) {
        memory[k] = ZERO;
    }
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
        // The rows are one place further when the loop begins.
        load(&w, &q, first + k, -k - 1);
    }
    if (START == CORRECTED) {
        const REAL2 parts_a = COLUMN_PARTS(&q, q.at_a), parts_b = COLUMN_PARTS(&q, q.at_b);
        load_coarse(&w, &q, w.base);
        w.low_a = parts_a.x * w.next[0] + parts_a.y * w.next[1];
        w.low_b = parts_b.x * w.next[2] + parts_b.y * w.next[3];
        load_coarse(&w, &q, w.base + 1);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = first; j <= last; j += 2) {
        advance(&w, &q, 0, j, slots);
        barrier(CLK_LOCAL_MEM_FENCE);
        advance(&w, &q, 1, j + 1, slots);
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
