// All that one visit of a cycle does on a level of a box, in one pass over memory, for CPUs; notation of boxes.cl. A unit is a row in 2-D,
// a plane in 3-D.
//
// An item owns a band of units, down which runs a wave: when unit r is read, stage 1 relaxes one colour of unit r - 1, stage 2 the other
// colour of unit r - 2, and so on; after the last stage come the residual and its restriction. A stage reads what the stage before left
// of the units beside, so that in `phase` 0 the band becomes shorter by a unit per stage at either end. What is left out, two triangles
// between two bands, is done in `phase` 1, an item per seam. No item reads what another one writes in the same launch, and the bits do not
// depend on the number of bands.
//
// In two dimensions the wavefront advances along the rows in stretches, so that all active rows stay in the L1 cache: from the neighbouring
// rows a stage needs only the columns it relaxes, and the previous stage finished its own row when the wavefront was one row back.
//
// Along a row, columns whose couplings are all equal need a few numbers per row; transfers work on pairs where every second
// unknown is left out. `ranges` says where, see `Sweep` in multigrid/boxes/sweep.rs.
//
// Traffic per point, f64: 26 B in 2-D for all sweeps with the correction before them or the restriction of the residual after them (in 3-D
// 16 B more for the residual); coarse levels are smaller by 2 to 4.
//@ build DIM=2 CPU=1
//@ build DIM=2 CPU=1 ROWS_AHEAD=2
//@ build DIM=3 CPU=1
#include "common.clh"
#include "grid.clh"
#include "scan.clh"
#include "boxes.clh"

// What is done to a unit before its stages, and after them.
#define GIVEN 0
#define FROM_ZERO 1
#define CORRECTED 2
#define NOTHING 0
#define RESTRICTED 1
#define SUMMED 2

// Places in `ranges`.
#define EVEN_BEGIN ranges[0]
#define EVEN_END ranges[1]
#define PAIRS_FINE ranges[2]
#define PAIRS ranges[3]
#define PAIRS_COARSE ranges[4]
#define JOINED_BEGIN ranges[5]
#define JOINED_END ranges[6]
#define JOINED_FINE ranges[7]
#define COUNT_X ranges[8]
#define COUNT_Y ranges[9]
#define COUNT_Z ranges[10]

// The couplings of columns where they are all equal, and what A has more on the diagonal.
typedef struct {
    REAL along, south, north, below, above, more;
} even_type;

// The same couplings and 1, all multiplied by omega over the diagonal.
typedef struct {
    REAL weight, along, south, north, below, above;
} relaxed_type;

#if DIM == 3
inline even_type even_at(size_t nx, __global const REAL *lines, const row_type *row, uint column)
{
    const REAL m = lines[2 * nx + 1 + column];
    even_type even;
    even.along = row->mass * lines[column];
    even.south = m * row->from_south;
    even.north = m * row->from_north;
    even.below = m * row->from_below;
    even.above = m * row->from_above;
    even.more = row->mass * lines[nx + 1 + column] + m * row->more;
    return even;
}

inline relaxed_type relaxed_at(even_type even, REAL omega)
{
    const REAL sides = (even.along + even.along) + even.south + even.north + even.below + even.above;
    relaxed_type relaxed;
    relaxed.weight = omega / (sides + even.more);
    relaxed.along = even.along * relaxed.weight;
    relaxed.south = even.south * relaxed.weight;
    relaxed.north = even.north * relaxed.weight;
    relaxed.below = even.below * relaxed.weight;
    relaxed.above = even.above * relaxed.weight;
    return relaxed;
}
#else
// Both for row j, of which `row_couplings` has eight numbers.
inline relaxed_type relaxed_of(__global const REAL *row_couplings, size_t j)
{
    __global const REAL *numbers = row_couplings + 8 * j;
    const relaxed_type relaxed = {numbers[0], numbers[1], numbers[2], numbers[3], ZERO, ZERO};
    return relaxed;
}

inline even_type even_of(__global const REAL *row_couplings, size_t j)
{
    __global const REAL *numbers = row_couplings + 8 * j;
    const even_type even = {numbers[4], numbers[5], numbers[6], ZERO, ZERO, numbers[7]};
    return even;
}
#endif

#if DIM == 3
#define COUPLED(even, west, east, s, n, b, a)                                                                          \
    ((even).along * ((west) + (east)) + (even).south * (s) + (even).north * (n) + (even).below * (b) + (even).above * (a))
#define PRODUCT(even, c, west, east, s, n, b, a)                                                                       \
    ((even).along * (((c) - (west)) + ((c) - (east))) + (even).south * ((c) - (s)) + (even).north * ((c) - (n)) +      \
     (even).below * ((c) - (b)) + (even).above * ((c) - (a)) + (even).more * (c))
#else
#define COUPLED(even, west, east, s, n, b, a) ((even).along * ((west) + (east)) + (even).south * (s) + (even).north * (n))
#define PRODUCT(even, c, west, east, s, n, b, a)                                                                       \
    ((even).along * (((c) - (west)) + ((c) - (east))) + (even).south * ((c) - (s)) + (even).north * ((c) - (n)) +      \
     (even).more * (c))
#endif

// Does EIGHT for eight points of `row` from `i` on, of which `lanes` are to be written and the others are done before or after; columns
// begin to end, none of them the first or last. POINT for single points where there are fewer. Short rows have no points to spare for
// single steps at both ends.
#define VECTORS(nx, begin, end, row, POINT, EIGHT)                                                                     \
    if ((end) < (begin) + 8) {                                                                                         \
        for (size_t i = (begin); i < (end); ++i) {                                                                     \
            POINT                                                                                                      \
        }                                                                                                              \
    } else {                                                                                                           \
        const INT8 lane = (INT8)(0, 1, 2, 3, 4, 5, 6, 7);                                                              \
        const size_t aligned = align_column(row, (long)(begin) + 7);                                                   \
        if (aligned > (begin)) {                                                                                       \
            const size_t i = (begin);                                                                                  \
            const INT8 lanes = lane < (INT8)(aligned - i);                                                             \
            const REAL8 west = vload8(0, (row) + i - 1), centre = vload8(0, (row) + i), east = vload8(0, (row) + i + 1); \
            EIGHT                                                                                                      \
        }                                                                                                              \
        size_t next = aligned;                                                                                         \
        if (next + 8 <= (end) && next + 16 <= (nx)) {                                                                  \
            const INT8 lanes = (INT8)(-1);                                                                             \
            REAL8 before = (REAL8)((row)[next - 1]), centre = vload8(0, (row) + next);                                 \
            for (; next + 8 <= (end) && next + 16 <= (nx); next += 8) {                                                \
                const size_t i = next;                                                                                 \
                const REAL8 after = vload8(0, (row) + i + 8);                                                          \
                const REAL8 west = WEST(before.s7, centre), east = EAST(centre, after.s0);                             \
                EIGHT                                                                                                  \
                before = centre;                                                                                       \
                centre = after;                                                                                        \
            }                                                                                                          \
        }                                                                                                              \
        while (next < (end)) {                                                                                         \
            const size_t i = min(next, (end)-8);                                                                       \
            const INT8 lanes = lane >= (INT8)(next - i);                                                               \
            const REAL8 west = vload8(0, (row) + i - 1), centre = vload8(0, (row) + i), east = vload8(0, (row) + i + 1); \
            EIGHT                                                                                                      \
            next = i + 8;                                                                                              \
        }                                                                                                              \
    }

// u += omega (f - A u) / diagonal at the points of columns `begin` to `end` with (i + odd) % 2 == 0.
inline void relax_any(size_t nx, size_t begin, size_t end, uint odd, REAL omega, __global const REAL *lines,
                      const row_type *row, __global const REAL *f, __global REAL *u)
{
    const INT8 even_lanes = (INT8)(-1, 0, -1, 0, -1, 0, -1, 0);
    __global REAL *at = u + row->at;
    __global const REAL *source = f + row->at;
    SCAN(nx, begin, end, at,
         {
             if (((i + odd) & 1) == 0) {
                 at[i] += omega * (source[i] - product_at(nx, lines, row, u, i)) / diagonal_at(nx, lines, row, i);
             }
         },
         {
             (void)west;
             (void)east;
             const REAL8 defect = vload8(0, source + i) - products_at(nx, lines, row, u, i);
             const REAL8 value = centre + omega * defect / diagonals_at(nx, lines, row, i);
             vstore8(select(centre, value, ((i + odd) & 1) ? ~even_lanes : even_lanes), 0, at + i);
         })
}

// The same where all couplings are equal.
inline void relax_even(size_t nx, size_t begin, size_t end, uint odd, REAL keep, relaxed_type relaxed, const row_type *row,
                       __global const REAL *f, __global REAL *u)
{
    const INT8 even_lanes = (INT8)(-1, 0, -1, 0, -1, 0, -1, 0);
    __global REAL *at = u + row->at;
    __global const REAL *source = f + row->at, *south = u + row->south, *north = u + row->north, *below = u + row->below,
                        *above = u + row->above;
    (void)below, (void)above;
    const REAL weight = relaxed.weight;
    VECTORS(nx, begin, end, at,
         {
             if (((i + odd) & 1) == 0) {
                 const REAL sum = COUPLED(relaxed, at[i - 1], at[i + 1], south[i], north[i], below[i], above[i]);
                 at[i] = keep * at[i] + (weight * source[i] + sum);
             }
         },
         {
             const REAL8 sum = COUPLED(relaxed, west, east, vload8(0, south + i), vload8(0, north + i),
                                       vload8(0, below + i), vload8(0, above + i));
             const REAL8 value = keep * centre + (weight * vload8(0, source + i) + sum);
             const INT8 chosen = ((i + odd) & 1) ? ~even_lanes : even_lanes;
             vstore8(select(centre, value, chosen & lanes), 0, at + i);
         })
}

// d = f - A u at columns `begin` to `end`.
inline void residual_any(size_t nx, size_t begin, size_t end, __global const REAL *lines, const row_type *row,
                         __global const REAL *f, __global const REAL *u, __global REAL *d)
{
    __global const REAL *at = u + row->at, *source = f + row->at;
    SCAN(nx, begin, end, at, { d[i] = source[i] - product_at(nx, lines, row, u, i); },
         {
             (void)west;
             (void)east;
             vstore8(vload8(0, source + i) - products_at(nx, lines, row, u, i), 0, d + i);
         })
}

// The same where all couplings are equal.
inline void residual_even(size_t nx, size_t begin, size_t end, even_type even, const row_type *row, __global const REAL *f,
                          __global const REAL *u, __global REAL *d)
{
    __global const REAL *at = u + row->at, *source = f + row->at, *south = u + row->south, *north = u + row->north,
                        *below = u + row->below, *above = u + row->above;
    (void)below, (void)above;
    VECTORS(nx, begin, end, at,
         { d[i] = source[i] - PRODUCT(even, at[i], at[i - 1], at[i + 1], south[i], north[i], below[i], above[i]); },
         {
             (void)lanes;
             const REAL8 product = PRODUCT(even, centre, west, east, vload8(0, south + i), vload8(0, north + i),
                                           vload8(0, below + i), vload8(0, above + i));
             vstore8(vload8(0, source + i) - product, 0, d + i);
         })
}

// Relaxes the points of columns `from` to `to` of a row with (i + odd) % 2 == 0.
inline void relax_row(size_t nx, size_t from, size_t to, uint odd, REAL omega, __global const REAL *lines,
                      __global const REAL *row_couplings, __global const uint *ranges, size_t j, const row_type *row,
                      __global const REAL *f, __global REAL *u)
{
    const size_t begin = max((size_t)EVEN_BEGIN, from), end = min((size_t)EVEN_END, to);
    if (from < EVEN_BEGIN) {
        relax_any(nx, from, min((size_t)EVEN_BEGIN, to), odd, omega, lines, row, f, u);
    }
    if (begin < end) {
#if DIM == 3
        (void)row_couplings, (void)j;
        const relaxed_type relaxed = relaxed_at(even_at(nx, lines, row, EVEN_BEGIN), omega);
#else
        const relaxed_type relaxed = relaxed_of(row_couplings, j);
#endif
        relax_even(nx, begin, end, odd, ONE - omega, relaxed, row, f, u);
    }
    if (to > EVEN_END) {
        relax_any(nx, max((size_t)EVEN_END, from), to, odd, omega, lines, row, f, u);
    }
}

// d = f - A u at columns `from` to `to` of a row.
inline void residual_row(size_t nx, size_t from, size_t to, __global const REAL *lines, __global const REAL *row_couplings,
                         __global const uint *ranges, size_t j, const row_type *row, __global const REAL *f,
                         __global const REAL *u, __global REAL *d)
{
    const size_t begin = max((size_t)EVEN_BEGIN, from), end = min((size_t)EVEN_END, to);
    if (from < EVEN_BEGIN) {
        residual_any(nx, from, min((size_t)EVEN_BEGIN, to), lines, row, f, u, d);
    }
    if (begin < end) {
#if DIM == 3
        (void)row_couplings, (void)j;
        residual_even(nx, begin, end, even_at(nx, lines, row, EVEN_BEGIN), row, f, u, d);
#else
        residual_even(nx, begin, end, even_of(row_couplings, j), row, f, u, d);
#endif
    }
    if (to > EVEN_END) {
        residual_any(nx, max((size_t)EVEN_END, from), to, lines, row, f, u, d);
    }
}

// The sum of the squares of n numbers.
inline REAL sum_squares_of(size_t n, __global const REAL *d)
{
    REAL8 squares = (REAL8)ZERO;
    REAL rest = ZERO;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const REAL8 eight = vload8(0, d + i);
        squares += eight * eight;
    }
    for (; i < n; ++i) {
        rest += d[i] * d[i];
    }
    return sum_lanes(squares) + rest;
}

// out = the sum of w_c row_c of n numbers, or that is added to it.
inline void combine(size_t n, bool add, REAL4 w, __global const REAL *a, __global const REAL *b, __global const REAL *c,
                    __global const REAL *d, __global REAL *out)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const REAL8 value = w.s0 * vload8(0, a + i) + w.s1 * vload8(0, b + i) + w.s2 * vload8(0, c + i) + w.s3 * vload8(0, d + i);
        vstore8(add ? vload8(0, out + i) + value : value, 0, out + i);
    }
    for (; i < n; ++i) {
        const REAL value = w.s0 * a[i] + w.s1 * b[i] + w.s2 * c[i] + w.s3 * d[i];
        out[i] = add ? out[i] + value : value;
    }
}

// The interpolant of `coarse` across the rows at row (j, k): a row of `coarse`, or in `across`, which holds a coarse row.
inline __global const REAL *interpolated_row(size_t nx, size_t ny, size_t mx, size_t my, size_t j, size_t k,
                                             __global const uint *from, __global const REAL *weights,
                                             __global const REAL *coarse, __global REAL *across)
{
    const size_t y = nx + j;
    __global const REAL *south = coarse + from[2 * y] * mx, *north = coarse + from[2 * y + 1] * mx;
#if DIM == 3
    const size_t z = nx + ny + k, below = from[2 * z] * mx * my, above = from[2 * z + 1] * mx * my;
    const REAL4 w = (REAL4)(weights[2 * z] * weights[2 * y], weights[2 * z] * weights[2 * y + 1],
                            weights[2 * z + 1] * weights[2 * y], weights[2 * z + 1] * weights[2 * y + 1]);
    combine(mx, false, w, south + below, north + below, south + above, north + above, across);
#else
    (void)ny, (void)my, (void)k;
    if (weights[2 * y] == ONE && weights[2 * y + 1] == ZERO) {
        return south;
    }
    combine(mx, false, (REAL4)(weights[2 * y], weights[2 * y + 1], ZERO, ZERO), south, north, south, north, across);
#endif
    return across;
}

// The first column at or after `column` from which a row is corrected in whole vectors.
inline size_t correction_start(__global const uint *ranges, size_t column)
{
    return column <= PAIRS_FINE ? column : PAIRS_FINE + (column - PAIRS_FINE + 15) / 16 * 16;
}

// Columns `first` to `last` of a row += the interpolant along the row of `coarse`.
inline void correct_row(size_t nx, size_t mx, size_t first, size_t last, __global const uint *ranges,
                        __global const REAL *pattern, __global const uint *from, __global const REAL *weights,
                        __global const REAL *coarse, __global REAL *row)
{
    if (nx == mx) {
        combine(last - first, true, (REAL4)(ONE, ZERO, ZERO, ZERO), coarse + first, coarse + first, coarse + first,
                coarse + first, row + first);
        return;
    }
    const size_t begin = PAIRS_FINE, end = min((size_t)(begin + 2 * PAIRS), last);
    __global const REAL *pairs = coarse + PAIRS_COARSE;
    for (size_t i = first; i < min(begin, last); ++i) {
        row[i] += weights[2 * i] * coarse[from[2 * i]] + weights[2 * i + 1] * coarse[from[2 * i + 1]];
    }
    size_t done = max(begin, first);
    for (; done + 16 <= end; done += 16) {
        const REAL8 a = vload8(0, pairs + (done - begin) / 2), b = vload8(0, pairs + (done - begin) / 2 + 1);
        REAL16 value;
        value.even = pattern[0] * a + pattern[1] * b;
        value.odd = pattern[2] * a + pattern[3] * b;
        vstore16(vload16(0, row + done) + value, 0, row + done);
    }
    for (size_t i = done; i < last; ++i) {
        row[i] += weights[2 * i] * coarse[from[2 * i]] + weights[2 * i + 1] * coarse[from[2 * i + 1]];
    }
}

// Coarse row (j, k) = the restriction of `fine`; `across` holds a fine row. In two dimensions `fine` has four rows, `stride` apart: row r
// is at r % 4 if they come in `turn`, otherwise the b-th that the coarse row needs is at b.
inline void restrict_to_row(size_t nx, size_t ny, size_t mx, size_t my, size_t j, size_t k, __global const uint *ranges,
                            __global const REAL *pattern, __global const uint *to, __global const REAL *transposed,
                            bool turn, size_t stride, __global const REAL *fine, __global REAL *across,
                            __global REAL *coarse)
{
    __global const uint *y = to + 4 * (mx + j);
    __global const REAL *wy = transposed + 4 * (mx + j);
#if DIM == 3
    __global const uint *z = to + 4 * (mx + my + k);
    __global const REAL *wz = transposed + 4 * (mx + my + k);
    const uint planes = COUNT_Z;
    (void)turn, (void)stride;
#else
    (void)ny, (void)my, (void)k;
    const uint planes = 1;
#endif
    for (uint c = 0; c < planes; ++c) {
#if DIM == 3
        const REAL wc = wz[c];
#else
        const REAL wc = ONE;
#endif
        // Places that are not used have weight 0, and the row of the first one.
        __global const REAL *rows[4];
        REAL w[4];
        for (uint b = 0; b < 4; ++b) {
            const bool used = b < COUNT_Y && wy[b] != ZERO;
            const uint place = used ? b : 0;
#if DIM == 3
            rows[b] = fine + (z[c] * ny + y[place]) * nx;
#else
            rows[b] = fine + (turn ? y[place] % 4 : place) * stride;
#endif
            w[b] = used ? wc * wy[b] : ZERO;
        }
        combine(nx, c > 0, (REAL4)(w[0], w[1], w[2], w[3]), rows[0], rows[1], rows[2], rows[3], across);
    }
    if (nx == mx) {
        combine(nx, false, (REAL4)(ONE, ZERO, ZERO, ZERO), across, across, across, across, coarse);
        return;
    }
    const size_t begin = JOINED_BEGIN, end = JOINED_END;
    size_t done = begin;
    for (size_t first = JOINED_FINE; done + 8 <= end && first + 18 <= nx; done += 8, first += 16) {
        const REAL16 a = vload16(0, across + first), b = vload16(0, across + first + 2);
        vstore8(pattern[4] * a.even + pattern[5] * a.odd + pattern[6] * b.even + pattern[7] * b.odd, 0, coarse + done);
    }
    for (size_t i = begin == 0 ? done : 0; i < mx; i = i + 1 == begin ? done : i + 1) {
        REAL sum = ZERO;
        for (uint a = 0; a < COUNT_X; ++a) {
            sum += transposed[4 * i + a] * across[to[4 * i + a]];
        }
        coarse[i] = sum;
    }
}

// Whether coarse unit c takes fine unit `place` of its four.
#define TAKES(c, place) (transposed[4 * (units_before + (c)) + (place)] != ZERO)
#define TAKEN(c, place) ((size_t)to[4 * (units_before + (c)) + (place)])

// Columns of a row that are processed together in two dimensions, a multiple of 8: those of all active rows fit the L1 cache.
#define STRETCH 256

// Levels with fewer unknowns stay in the L2 cache and need no prefetches.
#define LARGE (1 << 17)

// Prefetches a stretch of a row; `cache` 3 is the L1 cache, 2 the L2 cache.
#define FETCH(row, cache)                                                                                              \
    for (size_t i = 0; i < STRETCH; i += 64 / sizeof(REAL)) {                                                          \
        __builtin_prefetch((const __global void *)((row) + i), 0, cache);                                              \
    }

// `start` GIVEN or FROM_ZERO: u as it is, or 0 whatever it is; CORRECTED: plus the interpolant of `other`, the grid of the coarser
// level. Then `stages` half-sweeps, `colour` first. `after` RESTRICTED: `other` = the restriction of the residuals, which in three
// dimensions go to `work`. SUMMED: partial = the sums of their squares. Item p of phase 0 has the p-th of `parts` bands; item p of phase 1
// has the seam above it. `cyclic`: there is one above the last band too. `across` has five rows of `stride` numbers per item, one in
// three dimensions.
__kernel void sweep(ulong nx, ulong ny, ulong nz, ulong mx, ulong my, ulong mz, uint phase, uint parts, uint cyclic, uint start,
                    uint after, uint stages, uint colour, REAL omega, ulong stride, __global const uint *ranges,
                    __global const REAL *pattern, __global const REAL *lines, __global const REAL *row_couplings,
                    __global const uint *from, __global const REAL *weights, __global const uint *to,
                    __global const REAL *transposed, __global const REAL *f, __global REAL *u, __global REAL *other,
                    __global REAL *work, __global REAL *across, __global REAL *partial)
{
    const size_t p = get_global_id(0), units = DIM == 3 ? nz : ny, rows = DIM == 3 ? ny : 1;
    const size_t coarse_units = DIM == 3 ? mz : my, coarse_rows = DIM == 3 ? my : 1, units_before = DIM == 3 ? mx + my : mx;
    const uint count = DIM == 3 ? COUNT_Z : COUNT_Y;
    const size_t low = units * p / parts, high = units * (p + 1) / parts;
    REAL total = ZERO;
#if DIM == 3
    const size_t stretches = 1;
    across += p * stride;
    __global REAL *residuals = work;
#else
    (void)work;
    const size_t stretches = phase == 0 ? (nx + STRETCH - 1) / STRETCH : 1;
    across += 5 * p * stride;
    __global REAL *residuals = across + stride;
#endif
#define ROWS_OF(r, BODY)                                                                                               \
    for (size_t q_of_row = 0; q_of_row < rows; ++q_of_row) {                                                           \
        const size_t j = DIM == 3 ? q_of_row : (r), k = DIM == 3 ? (r) : 0;                                            \
        const row_type row = row_at(nx, ny, nz, lines, j, k);                                                          \
        BODY                                                                                                           \
    }
// Columns of a row that an operation processes in its turn. Stretches end where the row's vectors do, up to 8 columns before their nominal end and
// not at the same column in each row; with 8 columns more `delay` than the operation before, none reads what that one has not done.
#define FROM(row, delay) (stretch == 0 ? 0 : align_column(u + (row).at, (long)(stretch * STRETCH) - 8 * (long)(delay)))
#define TO(row, delay)                                                                                                 \
    (stretch == stretches - 1 ? nx : align_column(u + (row).at, (long)((stretch + 1) * STRETCH) - 8 * (long)(delay)))
#define RELAX(r, s)                                                                                                    \
    ROWS_OF(r, {                                                                                                       \
        relax_row(nx, FROM(row, (s) - 1), TO(row, (s) - 1), (uint)(j + k + (s) + 1 + colour) & 1, omega, lines,        \
                  row_couplings, ranges, j, &row, f, u);                                                               \
    })
#if DIM == 3
#define RESIDUALS_AT(slot) (after == SUMMED ? across : residuals + row.at)
#else
#define RESIDUALS_AT(slot) (residuals + (slot) * stride)
#endif
#define RESIDUAL(r, slot)                                                                                              \
    ROWS_OF(r, {                                                                                                       \
        const size_t from_column = FROM(row, stages);                                                                  \
        const size_t to_column = TO(row, stages);                                                                      \
        __global REAL *d = RESIDUALS_AT(slot);                                                                         \
        residual_row(nx, from_column, to_column, lines, row_couplings, ranges, j, &row, f, u, d);                      \
        total += after == SUMMED ? sum_squares_of(to_column - from_column, d + from_column) : ZERO;                    \
    })
#define RESTRICT(c)                                                                                                    \
    for (size_t q = 0; q < coarse_rows; ++q) {                                                                         \
        const size_t j = DIM == 3 ? q : (c), k = DIM == 3 ? (c) : 0;                                                   \
        restrict_to_row(nx, ny, mx, my, j, k, ranges, pattern, to, transposed, phase == 0, stride, residuals, across,  \
                        other + (k * my + j) * mx);                                                                    \
    }
    if (phase == 0) {
        const size_t below = p > 0 || cyclic ? 1 : 0, above = p + 1 < parts || cyclic ? 1 : 0;
        // The first coarse unit all of whose fine ones are this band's.
        const size_t first = low + below * (stages + 1), end = high - above * (stages + 1);
        size_t next = 0;
        for (bool found = false; after == RESTRICTED && !found && next < coarse_units; next += found ? 0 : 1) {
            found = true;
            for (uint place = 0; place < count; ++place) {
                found = found && (!TAKES(next, place) || TAKEN(next, place) >= first);
            }
        }
        for (size_t wave = low; wave < high + stages + 1; ++wave) {
            __global const REAL *line = other;
            for (size_t stretch = 0; stretch < stretches; ++stretch) {
#ifdef ROWS_AHEAD
                if (nx * ny > LARGE && wave > 0 && wave + ROWS_AHEAD < ny) {
                    const size_t at = wave * nx + stretch * STRETCH;
                    FETCH(u + at + ROWS_AHEAD * nx, 2)
                    FETCH(f + at + ROWS_AHEAD * nx, 2)
                    // What the first operations on the next stretch read.
                    FETCH(u + at + STRETCH, 3)
                    FETCH(f + at + STRETCH - nx, 3)
                }
#endif
                if (wave < high && start != GIVEN) {
                    const size_t first_column = stretch == 0 ? 0 : correction_start(ranges, stretch * STRETCH);
                    const size_t last_column =
                        stretch == stretches - 1 ? nx : min((size_t)nx, correction_start(ranges, (stretch + 1) * STRETCH));
                    ROWS_OF(wave, {
                        if (start == FROM_ZERO) {
                            for (size_t i = first_column; i < last_column; ++i) {
                                u[row.at + i] = ZERO;
                            }
                        } else {
                            if (stretch == 0) {
                                line = interpolated_row(nx, ny, mx, my, j, k, from, weights, other, across);
                            }
                            correct_row(nx, mx, first_column, last_column, ranges, pattern, from, weights, line, u + row.at);
                        }
                    })
                }
                for (size_t s = 1; s <= stages; ++s) {
                    if (wave >= low + s + below * s && wave < high + s - above * s) {
                        RELAX(wave - s, s)
                    }
                }
                if (after != NOTHING && wave >= first + stages + 1 && wave < end + stages + 1) {
                    RESIDUAL(wave - stages - 1, j % 4)
                }
            }
            for (bool ready = after == RESTRICTED && wave >= first + stages + 1 && wave < end + stages + 1;
                 ready && next < coarse_units;) {
                for (uint place = 0; place < count; ++place) {
                    ready = ready && (!TAKES(next, place) || TAKEN(next, place) + stages + 1 <= wave);
                }
                if (ready) {
                    RESTRICT(next)
                    ++next;
                }
            }
        }
    } else {
        const size_t stretch = 0;
        for (size_t s = 1; s <= stages; ++s) {
            for (size_t r = high - s; r < high + s; ++r) {
                RELAX(r % units, s)
            }
        }
        const size_t lowest = high - stages - 1, zone = 2 * (stages + 1);
        // In two dimensions each coarse row gets those it takes below.
        const bool whole_zone = DIM == 3 ? after != NOTHING : after == SUMMED;
        for (size_t r = lowest; whole_zone && r < lowest + zone; ++r) {
            RESIDUAL(r % units, 0)
        }
        for (size_t c = 0; after == RESTRICTED && c < coarse_units; ++c) {
            bool here = false;
            for (uint place = 0; place < count; ++place) {
                here = here || (TAKES(c, place) && (TAKEN(c, place) + units - lowest) % units < zone);
            }
            if (here) {
#if DIM == 2
                for (uint place = 0; place < count; ++place) {
                    if (TAKES(c, place)) {
                        RESIDUAL(TAKEN(c, place), place)
                    }
                }
#endif
                RESTRICT(c)
            }
        }
    }
    if (after == SUMMED) {
        partial[phase * parts + p] = total;
    }
}
