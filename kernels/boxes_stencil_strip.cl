// The operators of boxes_stencil.cl in two dimensions by strips, for GPUs: all relaxations of a visit to a level in
// one pass over memory. A work-group goes up a strip of columns, an item per pair of
// columns. In the step in which row t arrives, stage s relaxes the points of its colour in row t - 2 s - 2: both rows
// beside it have been through the stages before, and no row that the stage reads is written in that step. Rows of u
// are kept in local memory. What else a stage reads is loaded a step ahead, once from memory and later from cache.
//
// Traffic per point, f64, beside the halos: 8 B for each offset and the mass, and 24 B (given u) or 16 B (from zero).
//
//   FULL      1 where there are neighbours along the diagonals too: four colours instead of two
//   SWEEPS    sweeps of a visit
//   REVERSED  1 for the colours in the opposite order
//   START     what u is before: GIVEN or FROM_ZERO
//   ITEMS     items of a work-group
//@ build FULL=0 SWEEPS=2 REVERSED=0 START=1 ITEMS=128
//@ build FULL=0 SWEEPS=2 REVERSED=1 START=0 ITEMS=128
//@ build FULL=1 SWEEPS=2 REVERSED=0 START=1 ITEMS=64
//@ build FULL=1 SWEEPS=2 REVERSED=1 START=0 ITEMS=64
//@ build FULL=1 SWEEPS=1 REVERSED=0 START=0 ITEMS=64
#include "common.clh"
#include "grid.clh"

#define FROM_ZERO 1

#define COLOURS (FULL ? 4 : 2)
#define STAGES (COLOURS * SWEEPS)
// Stages that relax points in the same step.
#define ACTIVE (FULL ? STAGES / 2 : STAGES)
// Columns of halo on either side of a strip, and rows on either side of a band: even, so that colours are those of
// the box.
#define HALO STAGES
// Rows between the newest one and the one whose stages are done.
#define DONE (2 * STAGES)
// Rows in local memory.
#define ROWS (2 * STAGES + 2)
#define WIDTH (2 * ITEMS)

// The values of row r in columns of parity `odd`, that of item -1 first.
#define PLACE_OF_ROW(r) ((int)((uint)((r) + 64 * ROWS) % ROWS) * 2 * (ITEMS + 2))
#define VALUES(r, odd) (held + PLACE_OF_ROW(r) + (odd) * (ITEMS + 2) + 1)

// The place of row or column i of n, which wraps around.
#define WRAPPED(i, n) ((i) < 0 ? (i) % (n) + ((i) % (n) < 0 ? (n) : 0) : (i) < (n) ? (i) : (i) % (n))

// The colour of a stage: FULL = 0 that of points whose indices have an even or odd sum; FULL = 1 a bit for each
// direction.
#define POSITION(s) (REVERSED ? COLOURS - 1 - (s) % COLOURS : (s) % COLOURS)
#define COLOUR(s) (FULL ? (POSITION(s) == 0 ? 0 : POSITION(s) == 1 ? 3 : POSITION(s) == 2 ? 1 : 2) : POSITION(s))

// What a stage reads of a point beside u: couplings to the east and west, north and south, and along the diagonals;
// the mass and f.
typedef struct {
    REAL east, west, north, south;
#if FULL
    REAL north_east, south_west, north_west, south_east;
#endif
    REAL mass, f;
} Point;

// At column `at` of the row that begins at `row`, between columns `back` and `on`, above the row that begins at
// `below`.
inline Point point_at(__global const REAL *c, __global const REAL *mass, __global const REAL *f, size_t points,
                      size_t row, size_t below, int at, int back, int on)
{
    Point p;
    p.east = c[row + at], p.west = c[row + back];
    p.north = c[points + row + at], p.south = c[points + below + at];
#if FULL
    p.north_east = c[2 * points + row + at], p.south_west = c[2 * points + below + back];
    p.north_west = c[3 * points + row + at], p.south_east = c[3 * points + below + on];
#else
    (void)on;
#endif
    p.mass = mass[row + at], p.f = f[row + at];
    return p;
}

// (A u) at the point of item `item` in columns of parity `odd`, of the rows below, of the point and above.
inline REAL product_of(const Point *p, __local const REAL *below, __local const REAL *row, __local const REAL *above,
                       int item, int odd)
{
    // Columns of a parity lie beside each other; the neighbours to the west and east have the other one.
    const int own = odd * (ITEMS + 2) + item, west = (1 - odd) * (ITEMS + 2) + item - 1 + odd, east = west + 1;
    const REAL centre = row[own];
    REAL sum = p->mass * centre;
    sum += p->east * (centre - row[east]) + p->west * (centre - row[west]);
    sum += p->north * (centre - above[own]) + p->south * (centre - below[own]);
#if FULL
    sum += p->north_east * (centre - above[east]) + p->south_west * (centre - below[west]);
    sum += p->north_west * (centre - above[west]) + p->south_east * (centre - below[east]);
#endif
    return sum;
}

inline REAL diagonal_of(const Point *p)
{
    REAL sum = p->mass;
    sum += p->east + p->west;
    sum += p->north + p->south;
#if FULL
    sum += p->north_east + p->south_west;
    sum += p->north_west + p->south_east;
#endif
    return sum;
}

// `wraps` has a bit for each periodic direction, whose points are even in number. u and out are different grids; u is
// not read from zero. A band has `band` rows, an even number.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
relax_strip(ulong nx, ulong ny, uint wraps, uint band, __global const REAL *c, __global const REAL *mass,
            __global const REAL *f, __global const REAL *u, __global REAL *out)
{
    __local REAL held[ROWS * 2 * (ITEMS + 2)];
    const int item = (int)get_local_id(0);
    const int n = (int)nx, height = (int)ny;
    const size_t points = (size_t)nx * ny;
    const int low = (int)(get_group_id(1) * band), high = min(low + (int)band, height);
    const int left = (int)get_group_id(0) * (WIDTH - 2 * HALO) - HALO;
    const bool along = (wraps & 1) != 0, across = (wraps & 2) != 0;
    // The columns that the item relaxes, and those that it loads and stores: neighbours of those of the items beside
    // it.
    const int first = left + 2 * item;
    const int at_west = WRAPPED(first - 1, n), at_a = WRAPPED(first, n);
    const int at_b = WRAPPED(first + 1, n), at_east = WRAPPED(first + 2, n);
    const bool relaxes_a = along || (first >= 0 && first < n), relaxes_b = along || (first + 1 >= 0 && first + 1 < n);
    int at[2];
    bool loaded[2], stored[2];
#pragma unroll
    for (int k = 0; k < 2; ++k) {
        const int column = item + k * ITEMS, i = left + column;
        at[k] = WRAPPED(i, n);
        loaded[k] = along || (i >= 0 && i < n);
        stored[k] = column >= HALO && column < WIDTH - HALO && i >= 0 && i < n;
    }
    for (int k = item; k < ROWS * 2 * (ITEMS + 2); k += ITEMS) {
        held[k] = ZERO;
    }
    const int from = low - HALO, top = high - 1 + HALO, to = high - 1 + DONE;
    // Loaded a step ahead: the newest row of u, and what the stages read.
    REAL newest[2] = {ZERO, ZERO};
    Point ahead[ACTIVE];
#pragma unroll
    for (int k = 0; k < ACTIVE; ++k) {
        ahead[k] = point_at(c, mass, f, points, 0, 0, at_a, at_a, at_a);
    }
    // The first row arrives in step `from`.
    for (int t = from - 2; t <= to; t += 2) {
#pragma unroll
        for (int turn = 0; turn < 2; ++turn) {
            barrier(CLK_LOCAL_MEM_FENCE);
            const int now = t + turn;
#pragma unroll
            for (int k = 0; k < 2; ++k) {
                const int column = item + k * ITEMS;
                VALUES(now, column & 1)[column >> 1] = newest[k];
            }
#pragma unroll
            for (int s = 0; s < STAGES; ++s) {
                const int r = now - 2 * s - 2, colour = COLOUR(s);
                if (!FULL || turn == colour >> 1) {
                    const int odd = FULL ? colour & 1 : (turn + colour) & 1;
                    const bool inside = across || (r >= 0 && r < height);
                    const bool relaxed = inside && r > from && r < top && (odd ? relaxes_b : relaxes_a);
                    const Point *p = &ahead[FULL ? s / 2 : s];
                    __local REAL *value = VALUES(r, odd) + item;
                    const REAL old = *value;
                    __local const REAL *below = VALUES(r - 1, 0), *row = VALUES(r, 0), *above = VALUES(r + 1, 0);
                    const REAL defect = p->f - product_of(p, below, row, above, item, odd);
                    const REAL changed = old + defect / diagonal_of(p);
                    *value = relaxed ? changed : old;
                }
            }
            const int next = now + 1;
            const bool inside = next >= from && next <= top && (across || (next >= 0 && next < height));
            const bool given = START != FROM_ZERO && inside;
            const size_t newest_row = (size_t)WRAPPED(next, height) * nx;
#pragma unroll
            for (int k = 0; k < 2; ++k) {
                newest[k] = given && loaded[k] ? u[newest_row + at[k]] : ZERO;
            }
#pragma unroll
            for (int s = 0; s < STAGES; ++s) {
                const int r = next - 2 * s - 2, colour = COLOUR(s);
                if (!FULL || (1 - turn) == colour >> 1) {
                    const int odd = FULL ? colour & 1 : (1 - turn + colour) & 1;
                    const size_t row = (size_t)WRAPPED(r, height) * nx, below = (size_t)WRAPPED(r - 1, height) * nx;
                    const int own = odd ? at_b : at_a, back = odd ? at_a : at_west, on = odd ? at_east : at_b;
                    ahead[FULL ? s / 2 : s] = point_at(c, mass, f, points, row, below, own, back, on);
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            const int done = now - DONE;
            if (done >= low && done < high) {
                const size_t row = (size_t)done * nx;
#pragma unroll
                for (int k = 0; k < 2; ++k) {
                    const int column = item + k * ITEMS;
                    if (stored[k]) {
                        out[row + at[k]] = VALUES(done, column & 1)[column >> 1];
                    }
                }
            }
        }
    }
}
