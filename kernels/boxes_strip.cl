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
// `reals` and `numbers` say what the rows and columns of a level are, see `Tables` in multigrid/boxes/tables.rs; there are PAD rows more on either
// side, which continue a periodic direction and have no couplings otherwise. Coarse rows and columns are numbered on past the ends of a periodic
// direction: a fine row takes part in its base row and in the next one, and the base grows by at most one from row to row. The entries that a step
// needs are staged in local memory, and u and f are prefetched two steps ahead, because a load takes longer than a step.
//
//   ITEMS     items of a work-group
//   STAGES    half-sweeps
//   START     what u is before the first stage: GIVEN, FROM_ZERO, or CORRECTED by the interpolant of `correction`
//   FLIP      1 where the first half-sweep is black
//   SUMMED    after how many stages the squares of the residual are summed, after all of them also those of u; NEVER
//   RESTRICT  1 where the residual after the last stage is restricted
//@ build STAGES=2 START=0 FLIP=0 SUMMED=255 RESTRICT=0 ITEMS=32
//@ build STAGES=4 START=0 FLIP=0 SUMMED=255 RESTRICT=1 ITEMS=32
//@ build STAGES=4 START=1 FLIP=0 SUMMED=255 RESTRICT=1 ITEMS=32
//@ build STAGES=2 START=2 FLIP=1 SUMMED=255 RESTRICT=0 ITEMS=32
//@ build STAGES=2 START=2 FLIP=0 SUMMED=2 RESTRICT=0 ITEMS=32
//@ build STAGES=6 START=2 FLIP=0 SUMMED=2 RESTRICT=1 ITEMS=32
#include "common.clh"
#include "strip_sums.clh"

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
// Values per row that work-items exchange: those relaxed, and two of a coarse row, which lie beside each other.
#define SLOTS (STAGES + 1 + 2 * RESTRICT)
// Rows held in registers: the newest, one per stage, and one or two below them.
#define ROWS (STAGES + 2 + (RESTRICT || SIZED))

// Numbers of a row in the tables, and for how many rows local memory has them, a power of two.
#define RECORD 8
#define RING 16
// Rows between the newest one and the last one in the ring, and the one whose numbers are loaded.
#define IN_RING 3
#define LOADED 5

typedef struct {
    int nx, mx;
    // The places of both columns in a row.
    int at_a, at_b;
    bool inside_a, inside_b, stored_a, stored_b;
    // Rows of the band.
    int low, high;
    REAL omega;
    __global const REAL *f, *u, *correction, *reals;
    __global const int *places;
    __global REAL *out, *coarse;
    // In local memory, to save registers. Of rows: their numbers. Of both columns of the item: couplings to the left and to the right, what the
    // diagonal has more, and the mass; parts of two coarse columns and the places of these; parts of the residuals around for the coarse columns that they
    // own, and those. By row and column: f, and omega over the diagonal; for the newest row's kind the weights of the neighbours in a relaxed value.
    __local REAL *row_reals;
    __local int *row_places;
    __local REAL4 *columns, *gathered;
    __local REAL2 *coarse_parts;
    __local int *coarse_places;
    __local REAL *sources, *weights, *parts;
} Strip;

// What a row has: its mass, couplings to the south and to the north, and what the diagonal has more; parts of the base row and of the next one.
#define ROW_FACTORS(q, row) (*(__local const REAL4 *)((q)->row_reals + RECORD * ((row) & (RING - 1))))
#define ROW_PARTS(q, row) (*(__local const REAL2 *)((q)->row_reals + RECORD * ((row) & (RING - 1)) + 4))
// Its place; its base row; its kind, which rows with the same factors share; where the coarse row after the next one is; the coarse row that is complete when
// it arrives, -1 for none, and the row whose band writes that.
#define ROW_NUMBER(q, row, which) (q)->row_places[RECORD * ((row) & (RING - 1)) + (which)]
#define ROW_PLACE(q, row) ROW_NUMBER(q, row, 0)
#define BASE(q, row) ROW_NUMBER(q, row, 1)
#define ROW_KIND(q, row) ROW_NUMBER(q, row, 2)
#define NEXT_PLACE(q, row) ROW_NUMBER(q, row, 3)
#define COMPLETED(q, row) ROW_NUMBER(q, row, 4)
#define OWNER(q, row) ROW_NUMBER(q, row, 5)

typedef struct {
    // Rows of u.
    REAL ua[ROWS], ub[ROWS];
    // Prefetched for rows of both parities: u and f of both columns, and numbers of a row, of which the item brings one of each kind.
    REAL next_ua[2], next_ub[2], next_fa[2], next_fb[2], next_real[2];
    int next_place[2];
    // The kind of the newest row, and how many rows before it are of that kind.
    int kind, same;
    // The correction on the base row of the newest row and on the next one, and what its columns take parts of for the row to come.
    REAL low_a, low_b, high_a, high_b, next[4];
    // The neighbour's value that the last stage read, one row ago.
    REAL kept;
    // Residuals weighted for two coarse rows, the first of which is the base row of the newest of them; the coarse row that was completed a row ago.
    REAL first_a, first_b, second_a, second_b;
    int complete;
    // Sums of squares.
    REAL total, size;
} Wave;

ALWAYS_INLINE REAL weight_at(REAL omega, REAL4 column, REAL4 row)
{
    const REAL diagonal = row.x * (column.x + column.y + column.z) + column.w * (row.y + row.z + row.w);
    return diagonal > ZERO ? omega / diagonal : ZERO;
}

// Weights of the right-hand side and of the neighbours in a relaxed value.
typedef struct {
    REAL source, west, east, south, north;
} Parts;

ALWAYS_INLINE Parts parts_of(REAL weight, REAL4 column, REAL4 row)
{
    const REAL along = weight * row.x, across = weight * column.w;
    Parts parts;
    parts.source = weight;
    parts.west = along * column.x, parts.east = along * column.y;
    parts.south = across * row.y, parts.north = across * row.z;
    return parts;
}

// The same for the newest kind of row.
#define PARTS(q, which, k) (q)->parts[(2 * (k) + (which)) * ITEMS]

// f of the item's columns in a row that has arrived, and omega over the diagonal there; KEPT rows are kept, a power of two.
#define KEPT (STAGES <= 2 ? 4 : 8)
#define WEIGHT(q, row, which) (q)->weights[(2 * ((row) & (KEPT - 1)) + (which)) * ITEMS]
#define SOURCE(q, row, which) (q)->sources[(2 * ((row) & (KEPT - 1)) + (which)) * ITEMS]

ALWAYS_INLINE void load(Wave *w, const Strip *q, const int now, int row)
{
    const size_t base = (size_t)ROW_PLACE(q, row) * (size_t)q->nx;
    w->next_fa[now] = q->inside_a ? q->f[base + q->at_a] : ZERO;
    w->next_fb[now] = q->inside_b ? q->f[base + q->at_b] : ZERO;
    if (START != FROM_ZERO) {
        w->next_ua[now] = q->inside_a ? q->u[base + q->at_a] : ZERO;
        w->next_ub[now] = q->inside_b ? q->u[base + q->at_b] : ZERO;
    }
}

// The numbers of a row, by the first items.
ALWAYS_INLINE void load_numbers(Wave *w, const Strip *q, const int now, int row)
{
    const int item = (int)get_local_id(0);
    if (item < RECORD) {
        w->next_real[now] = q->reals[RECORD * (row + PAD) + item];
        w->next_place[now] = q->places[RECORD * (row + PAD) + item];
    }
}

// The coarse row at place `row`.
ALWAYS_INLINE void load_coarse(Wave *w, const Strip *q, int row)
{
    __global const REAL *c = q->correction + (size_t)row * (size_t)q->mx;
    w->next[0] = c[q->coarse_places[0]], w->next[1] = c[q->coarse_places[1]];
    w->next[2] = c[q->coarse_places[2]], w->next[3] = c[q->coarse_places[3]];
}

// The coarse row that was loaded last becomes the upper one.
ALWAYS_INLINE void step_up(Wave *w, const Strip *q)
{
    const REAL2 parts_a = q->coarse_parts[0], parts_b = q->coarse_parts[1];
    w->low_a = w->high_a, w->low_b = w->high_b;
    w->high_a = parts_a.x * w->next[0] + parts_a.y * w->next[1];
    w->high_b = parts_b.x * w->next[2] + parts_b.y * w->next[3];
}

// f - A u, of differences, so that a constant has no fluxes.
#define RESIDUAL(row, column, f, c, south, west, east, north)                                                          \
    ((f) - ((row).x * ((column).x * ((c) - (west)) + (column).y * ((c) - (east)) + (column).z * (c)) +                 \
            (column).w * ((row).y * ((c) - (south)) + (row).z * ((c) - (north)) + (row).w * (c))))

// The step in which row `j` arrives, whose parity is `now`; `even` where it and all rows in flight have the same factors.
ALWAYS_INLINE void advance(Wave *w, const Strip *q, const bool even, const int now, int j, __local REAL (*slots)[SLOTS][ITEMS + 2])
{
    const int t = (int)get_local_id(0) + 1, before = 1 - now;
    // Strips and bands begin with even columns and rows: in each step all stages relax the same column.
    const bool to_left = ((now + FLIP) & 1) != 0;
#pragma unroll
    for (int k = ROWS - 1; k > 0; --k) {
        w->ua[k] = w->ua[k - 1];
        w->ub[k] = w->ub[k - 1];
    }
    w->ua[0] = START == FROM_ZERO ? ZERO : w->next_ua[now];
    w->ub[0] = START == FROM_ZERO ? ZERO : w->next_ub[now];
    SOURCE(q, j, 0) = w->next_fa[now];
    SOURCE(q, j, 1) = w->next_fb[now];
    load(w, q, now, j + 2);
    if (get_local_id(0) < RECORD) {
        q->row_reals[RECORD * ((j + IN_RING) & (RING - 1)) + get_local_id(0)] = w->next_real[now];
        q->row_places[RECORD * ((j + IN_RING) & (RING - 1)) + get_local_id(0)] = w->next_place[now];
    }
    load_numbers(w, q, now, j + LOADED);
    w->same++;
    if (!even && ROW_KIND(q, j) != w->kind) {
        const REAL4 row = ROW_FACTORS(q, j);
        w->kind = ROW_KIND(q, j), w->same = 0;
#pragma unroll
        for (int which = 0; which < 2; ++which) {
            const Parts parts = parts_of(weight_at(q->omega, q->columns[which], row), q->columns[which], row);
            PARTS(q, which, 0) = parts.source, PARTS(q, which, 1) = parts.west, PARTS(q, which, 2) = parts.east;
            PARTS(q, which, 3) = parts.south, PARTS(q, which, 4) = parts.north;
        }
    }
    WEIGHT(q, j, 0) = PARTS(q, 0, 0);
    WEIGHT(q, j, 1) = PARTS(q, 1, 0);
    if (START == CORRECTED) {
        if (BASE(q, j) > BASE(q, j - 1)) {
            step_up(w, q);
            load_coarse(w, q, NEXT_PLACE(q, j));
        }
        const REAL2 shares = ROW_PARTS(q, j);
        w->ua[0] += shares.x * w->low_a + shares.y * w->high_a;
        w->ub[0] += shares.x * w->low_b + shares.y * w->high_b;
    }
    slots[now][0][t] = to_left ? w->ua[0] : w->ub[0];
    const int which = to_left ? 0 : 1;
    Parts parts;
    if (even) {
        parts.source = PARTS(q, which, 0), parts.west = PARTS(q, which, 1), parts.east = PARTS(q, which, 2);
        parts.south = PARTS(q, which, 3), parts.north = PARTS(q, which, 4);
    }
    REAL side = ZERO;
#pragma unroll
    for (int s = 0; s < STAGES + SIZED; ++s) {
        const int k = s + 1, r = j - k;
        const bool summed_row = r >= q->low && r < q->high;
        const REAL old = to_left ? w->ua[k] : w->ub[k], source = SOURCE(q, r, which);
        side = slots[before][s][to_left ? t - 1 : t + 1];
        const REAL west = to_left ? side : w->ua[k], east = to_left ? w->ub[k] : side;
        const REAL south = to_left ? w->ua[k + 1] : w->ub[k + 1];
        const REAL north = to_left ? w->ua[k - 1] : w->ub[k - 1];
        REAL value = old;
        if (s < STAGES) {
            if (!even) {
                parts = parts_of(WEIGHT(q, r, which), q->columns[which], ROW_FACTORS(q, r));
            }
            // Only the value to the north is computed in this same step; added last it leaves a short chain of dependent operations.
            const REAL others = parts.west * west + parts.east * east + parts.south * south;
            const REAL known = (ONE - q->omega) * old + (parts.source * source + others);
            value = known + parts.north * north;
            if (to_left) {
                w->ua[k] = value;
            } else {
                w->ub[k] = value;
            }
            slots[now][s + 1][t] = value;
        }
        if (SUMMED == s || SUMMED == s + 1) {
            const REAL centre = SUMMED == s ? old : value;
            const REAL4 row = ROW_FACTORS(q, r), column = q->columns[which];
            const REAL d = RESIDUAL(row, column, source, centre, south, west, east, north);
            w->total += summed_row && (to_left ? q->stored_a : q->stored_b) ? d * d : ZERO;
        }
        if (SIZED && s == STAGES) {
            const REAL a = w->ua[k], b = w->ub[k];
            w->size += q->stored_a && summed_row ? a * a : ZERO;
            w->size += q->stored_b && summed_row ? b * b : ZERO;
        }
    }
    const int done = j - STAGES;
    if (done >= q->low && done < q->high) {
        const size_t base = (size_t)done * (size_t)q->nx;
        if (q->stored_a) {
            q->out[base + q->at_a] = w->ua[STAGES];
        }
        if (q->stored_b) {
            q->out[base + q->at_b] = w->ub[STAGES];
        }
    }
#if RESTRICT
    if (w->complete >= 0) {
        __local const REAL *full = slots[before][STAGES + 1] + 2 * t;
        __global REAL *coarse = q->coarse + (size_t)w->complete * (size_t)q->mx;
        const int owned_a = q->coarse_places[4], owned_b = q->coarse_places[5];
        const REAL4 of_a = q->gathered[0], of_b = q->gathered[1];
        if (owned_a >= 0) {
            coarse[owned_a] = of_a.x * *(full - 1) + of_a.y * full[0] + of_a.z * full[1] + of_a.w * full[2];
        }
        if (owned_b >= 0) {
            coarse[owned_b] = of_b.x * full[0] + of_b.y * full[1] + of_b.z * full[2] + of_b.w * full[3];
        }
        w->complete = -1;
    }
    // The row whose neighbours are done.
    const int r = j - 1 - STAGES, k = STAGES + 1;
    const REAL2 shares = ROW_PARTS(q, r);
    const REAL4 row = ROW_FACTORS(q, r);
    const REAL other = slots[before][STAGES][to_left ? t - 1 : t + 1];
    const REAL west = to_left ? other : w->kept, east = to_left ? w->kept : other;
    const REAL4 column_a = q->columns[0], column_b = q->columns[1];
    const REAL a = RESIDUAL(row, column_a, SOURCE(q, r, 0), w->ua[k], w->ua[k + 1], west, w->ub[k], w->ua[k - 1]);
    const REAL b = RESIDUAL(row, column_b, SOURCE(q, r, 1), w->ub[k], w->ub[k + 1], w->ua[k], east, w->ub[k - 1]);
    w->kept = side;
    if (BASE(q, r) > BASE(q, r - 1)) {
        slots[now][STAGES + 1][2 * t] = w->first_a;
        slots[now][STAGES + 1][2 * t + 1] = w->first_b;
        w->complete = OWNER(q, r) >= q->low && OWNER(q, r) < q->high ? COMPLETED(q, r) : -1;
        w->first_a = w->second_a, w->first_b = w->second_b;
        w->second_a = w->second_b = ZERO;
    }
    w->first_a += shares.x * a, w->second_a += shares.y * a;
    w->first_b += shares.x * b, w->second_b += shares.y * b;
#endif
}

// u and out are different grids, except for FROM_ZERO; `band` is even. Each group writes two values to `partial` from `place` on: the sums of the
// squares of the residual and of u.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
box_strip(ulong nx, ulong ny, ulong mx, ulong my, uint periodic, uint band, REAL omega, __global const REAL *reals,
          __global const uint *numbers, __global const REAL *f, __global const REAL *u, __global REAL *out,
          __global const REAL *correction, __global REAL *coarse, ulong place, __global REAL *partial)
{
    __local REAL4 columns[2 * ITEMS], gathered[2 * ITEMS * RESTRICT + 1];
    __local REAL2 coarse_parts[2 * ITEMS];
    __local REAL sources[2 * KEPT * ITEMS], weights[2 * KEPT * ITEMS], parts[10 * ITEMS];
    __local REAL memory[2 * SLOTS * (ITEMS + 2)];
    __local REAL row_reals[RING * RECORD] __attribute__((aligned(32)));
    __local int row_places[RING * RECORD], coarse_places[6 * ITEMS];
    __local REAL(*slots)[SLOTS][ITEMS + 2] = (__local REAL(*)[SLOTS][ITEMS + 2]) memory;
    const int item = (int)get_local_id(0), n = (int)nx, padded = (int)ny + 2 * PAD;
    const int low = (int)(get_group_id(1) * band), high = min(low + (int)band, (int)ny);
    const int first = low - HALO, last = high - 1 + BEYOND;
    // Bases may be negative.
    __global const int *places = (__global const int *)numbers;
    Strip q;
    q.nx = n, q.mx = (int)mx, q.omega = omega, q.low = low, q.high = high;
    q.f = f, q.u = u, q.out = out, q.correction = correction, q.coarse = coarse, q.reals = reals, q.places = places;
    const int left = (int)get_group_id(0) * 2 * (ITEMS - SIDE) - SIDE + 2 * item;
    q.inside_a = (periodic & 1) != 0 || (left >= 0 && left < n);
    q.inside_b = (periodic & 1) != 0 || (left + 1 >= 0 && left + 1 < n);
    const bool owned = 2 * item >= SIDE && 2 * item < 2 * ITEMS - SIDE;
    q.stored_a = owned && left < n, q.stored_b = owned && left + 1 < n;
    q.at_a = q.inside_a ? (left % n + n) % n : 0;
    q.at_b = q.inside_b ? ((left + 1) % n + n) % n : 0;
    q.row_reals = row_reals, q.row_places = row_places;
    q.columns = columns + 2 * item, q.gathered = gathered + 2 * item * RESTRICT, q.coarse_parts = coarse_parts + 2 * item;
    q.coarse_places = coarse_places + 6 * item;
    q.sources = sources + item, q.weights = weights + item, q.parts = parts + item;
    // By column: factors; parts of the residuals around; parts of two coarse columns, and their places; the coarse column that it owns.
    __global const REAL4 *column_factors = (__global const REAL4 *)reals + RECORD / 4 * padded, *around = column_factors + n;
    __global const REAL2 *column_parts = (__global const REAL2 *)(around + n);
    __global const int *column_places = places + RECORD * padded, *column_owned = column_places + 2 * n;
    for (int which = 0; which < 2; ++which) {
        const int at = which == 0 ? q.at_a : q.at_b;
        const bool inside = which == 0 ? q.inside_a : q.inside_b, stored = which == 0 ? q.stored_a : q.stored_b;
        q.columns[which] = inside ? column_factors[at] : (REAL4)ZERO;
        q.coarse_parts[which] = inside ? column_parts[at] : (REAL2)ZERO;
        q.coarse_places[2 * which] = column_places[2 * at], q.coarse_places[2 * which + 1] = column_places[2 * at + 1];
        q.coarse_places[4 + which] = stored ? column_owned[at] : -1;
#if RESTRICT
        q.gathered[which] = around[at];
#endif
    }
    Wave w;
    for (int k = 0; k < ROWS; ++k) {
        w.ua[k] = w.ub[k] = ZERO;
    }
    for (int k = 0; k < 2 * KEPT; ++k) {
        q.sources[k * ITEMS] = q.weights[k * ITEMS] = ZERO;
    }
    w.kept = w.total = w.size = ZERO;
    w.next[0] = w.next[1] = w.next[2] = w.next[3] = ZERO;
    w.low_a = w.low_b = w.high_a = w.high_b = w.first_a = w.first_b = w.second_a = w.second_b = ZERO;
    w.complete = w.kind = -1, w.same = 0;
    // What rows outside of the grid hold is multiplied by couplings of 0, so it must be finite.
    for (int k = item; k < 2 * SLOTS * (ITEMS + 2); k += ITEMS) {
        memory[k] = ZERO;
    }
    // The ring has the rows up to IN_RING - 1 after the first one, as many as fit.
    for (int k = item; k < RING * RECORD; k += ITEMS) {
        const int row = first + IN_RING - RING + k / RECORD, to = RECORD * (row & (RING - 1)) + k % RECORD;
        row_reals[to] = reals[RECORD * (row + PAD) + k % RECORD];
        row_places[to] = places[RECORD * (row + PAD) + k % RECORD];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int now = 0; now < 2; ++now) {
        load(&w, &q, now, first + now);
        load_numbers(&w, &q, now, first + IN_RING + now);
    }
    if (START == CORRECTED) {
        for (int k = 0; k < 3; ++k) {
            const int row = BASE(&q, first - 1) + k, rows = (int)my;
            step_up(&w, &q);
            load_coarse(&w, &q, periodic & 2 ? (row % rows + rows) % rows : clamp(row, 0, rows - 1));
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = first; j <= last; j += 2) {
        const bool even = w.same > STAGES + 2 && ROW_KIND(&q, j) == w.kind && ROW_KIND(&q, j + 1) == w.kind;
        if (even) {
            advance(&w, &q, true, 0, j, slots);
        } else {
            advance(&w, &q, false, 0, j, slots);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (even) {
            advance(&w, &q, true, 1, j + 1, slots);
        } else {
            advance(&w, &q, false, 1, j + 1, slots);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#if SUMMED != NEVER
    STORE_STRIP_SUMS(memory, item, w.total, w.size, partial, place);
#else
    (void)place;
    (void)partial;
#endif
}
