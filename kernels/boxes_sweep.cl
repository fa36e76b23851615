// All that one visit of a cycle does on a level of a box, in one pass over memory, for CPUs; notation of boxes.cl. A
// unit is a row in 2-D, a plane in 3-D.
//
// An item owns a band of units, and a wavefront passes down the band: when unit r is read, stage 1 relaxes one colour of unit r - 1,
// stage 2 the other colour of unit r - 2, and so on; after the last stage come the residual and its restriction. A
// stage reads what the stage before left of the units beside, so that in `phase` 0 the band becomes shorter by a unit
// per stage at either end. What is left out, two triangles between two bands, is done in `phase` 1, an item per seam.
// No item reads what another one writes in the same launch, and the bits do not depend on the number of bands.
//
// In two dimensions the wavefront advances along the rows in blocks of columns, so that all active rows stay in the L1
// cache: from the neighbouring rows a stage needs only the columns it relaxes, and the previous stage finished its own
// row when the wavefront was one row back.
//
// `ranges` says along a row where couplings are all equal and where every second unknown is left out, see `Sweep` in
// multigrid/boxes/sweep.rs.
//
// Traffic per point, f64: 26 B in 2-D for all sweeps with the correction before them or the restriction of the residual
// after them (in 3-D 16 B more for the residual); coarse levels are smaller by 2 to 4.
//@ build DIM=2 CPU=1
//@ build DIM=2 CPU=1 ROWS_AHEAD=2
//@ build DIM=3 CPU=1
#include "common.clh"
#include "grid.clh"
#include "scan.clh"
#include "boxes.clh"
#include "boxes_sweep_relax.clh"
#include "boxes_sweep_transfer.clh"

// What is done to a unit before its stages, and after them.
#define GIVEN 0
#define FROM_ZERO 1
#define CORRECTED 2
#define NOTHING 0
#define RESTRICTED 1
#define SUMMED 2

// What the operations of a visit work with, as the arguments of the kernel. A unit has `rows` rows, a coarse one
// `coarse_rows`; rows are processed in `blocks` blocks of columns. `residuals` are in three dimensions those of all
// units.
typedef struct {
    size_t nx, ny, nz, mx, my, rows, coarse_rows, blocks, stride;
    uint phase, after, stages, colour;
    REAL omega;
    __global const uint *ranges, *to;
    __global const REAL *pattern, *lines, *row_couplings, *transposed, *f;
    __global REAL *u, *other, *residuals, *across;
} visit_type;

// Columns of a row that are processed together in two dimensions, a multiple of 8: those of all active rows fit the L1
// cache.
#define COLUMN_BLOCK 256

// Columns of a row that an operation processes in its turn. Blocks end where the row's vectors do, up to 8 columns
// before their nominal end and not at the same column in each row; with 8 columns more `delay` than the operation
// before, none reads what that one has not done.
inline size_t block_begin(const visit_type *visit, const row_type *row, size_t block, size_t delay)
{
    return block == 0 ? 0 : align_column(visit->u + row->at, (long)(block * COLUMN_BLOCK) - 8 * (long)delay);
}

inline size_t block_end(const visit_type *visit, const row_type *row, size_t block, size_t delay)
{
    return block == visit->blocks - 1 ? visit->nx : block_begin(visit, row, block + 1, delay);
}

// Stage s on a block of columns of unit r.
inline void relax_unit(const visit_type *visit, size_t block, size_t r, size_t s)
{
    for (size_t q = 0; q < visit->rows; ++q) {
        const size_t j = DIM == 3 ? q : r, k = DIM == 3 ? r : 0;
        const row_type row = row_at(visit->nx, visit->ny, visit->nz, visit->lines, j, k);
        relax_row(visit->nx, block_begin(visit, &row, block, s - 1), block_end(visit, &row, block, s - 1),
                  (uint)(j + k + s + 1 + visit->colour) & 1, visit->omega, visit->lines, visit->row_couplings,
                  visit->ranges, j, &row, visit->f, visit->u);
    }
}

// The residuals of a block of columns of unit r, in two dimensions in row `slot` of `residuals`; gives `total` with
// their squares if these are summed.
inline REAL residual_unit(const visit_type *visit, size_t block, size_t r, size_t slot, REAL total)
{
    for (size_t q = 0; q < visit->rows; ++q) {
        const size_t j = DIM == 3 ? q : r, k = DIM == 3 ? r : 0;
        const row_type row = row_at(visit->nx, visit->ny, visit->nz, visit->lines, j, k);
        const size_t begin = block_begin(visit, &row, block, visit->stages);
        const size_t end = block_end(visit, &row, block, visit->stages);
#if DIM == 3
        (void)slot;
        __global REAL *d = visit->after == SUMMED ? visit->across : visit->residuals + row.at;
#else
        __global REAL *d = visit->residuals + slot * visit->stride;
#endif
        residual_row(visit->nx, begin, end, visit->lines, visit->row_couplings, visit->ranges, j, &row, visit->f,
                     visit->u, d);
        total += visit->after == SUMMED ? sum_squares_of(end - begin, d + begin) : ZERO;
    }
    return total;
}

// The restriction of the residuals to coarse unit c.
inline void restrict_to_unit(const visit_type *visit, size_t c)
{
    for (size_t q = 0; q < visit->coarse_rows; ++q) {
        const size_t j = DIM == 3 ? q : c, k = DIM == 3 ? c : 0;
        restrict_to_row(visit->nx, visit->ny, visit->mx, visit->my, j, k, visit->ranges, visit->pattern, visit->to,
                        visit->transposed, visit->phase == 0, visit->stride, visit->residuals, visit->across,
                        visit->other + (k * visit->my + j) * visit->mx);
    }
}

// Whether coarse unit c takes fine unit `place` of its four, and which one that is.
inline bool takes(const visit_type *visit, size_t c, uint place)
{
    return visit->transposed[4 * ((DIM == 3 ? visit->mx + visit->my : visit->mx) + c) + place] != ZERO;
}

inline size_t taken(const visit_type *visit, size_t c, uint place)
{
    return visit->to[4 * ((DIM == 3 ? visit->mx + visit->my : visit->mx) + c) + place];
}

// Levels with fewer unknowns stay in the L2 cache and need no prefetches.
#define LARGE (1 << 17)

// Prefetches a column block of a row; `cache` 3 is the L1 cache, 2 the L2 cache. A macro, since `cache` must be a
// literal.
#define FETCH(row, cache)                                                                                              \
    for (size_t i = 0; i < COLUMN_BLOCK; i += 64 / sizeof(REAL)) {                                                     \
        __builtin_prefetch((const __global void *)((row) + i), 0, cache);                                              \
    }

// `start` GIVEN or FROM_ZERO: u as it is, or 0 whatever it is; CORRECTED: plus the interpolant of `other`, the grid of
// the coarser level. Then `stages` half-sweeps, `colour` first. `after` RESTRICTED: `other` = the restriction of the
// residuals, which in three dimensions go to `work`. SUMMED: partial = the sums of their squares. Item p of phase 0 has
// the p-th of `parts` bands; item p of phase 1 has the seam above it. `cyclic`: there is one above the last band too.
// `across` has five rows of `stride` numbers per item, one in three dimensions.
__kernel void sweep(ulong nx, ulong ny, ulong nz, ulong mx, ulong my, ulong mz, uint phase, uint parts, uint cyclic,
                    uint start, uint after, uint stages, uint colour, REAL omega, ulong stride,
                    __global const uint *ranges, __global const REAL *pattern, __global const REAL *lines,
                    __global const REAL *row_couplings, __global const uint *from, __global const REAL *weights,
                    __global const uint *to, __global const REAL *transposed, __global const REAL *f,
                    __global REAL *u, __global REAL *other, __global REAL *work, __global REAL *across,
                    __global REAL *partial)
{
    const size_t p = get_global_id(0), units = DIM == 3 ? nz : ny, coarse_units = DIM == 3 ? mz : my;
    const uint count = DIM == 3 ? COUNT_Z : COUNT_Y;
    const size_t low = units * p / parts, high = units * (p + 1) / parts;
    REAL total = ZERO;
#if DIM == 3
    const size_t blocks = 1;
    across += p * stride;
    __global REAL *residuals = work;
#else
    (void)work;
    const size_t blocks = phase == 0 ? (nx + COLUMN_BLOCK - 1) / COLUMN_BLOCK : 1;
    across += 5 * p * stride;
    __global REAL *residuals = across + stride;
#endif
    const size_t rows = DIM == 3 ? ny : 1, coarse_rows = DIM == 3 ? my : 1;
    const visit_type visit = {
        nx, ny, nz, mx, my, rows, coarse_rows, blocks, stride, phase, after, stages, colour, omega, ranges, to, pattern,
        lines, row_couplings, transposed, f, u, other, residuals, across,
    };
    if (phase == 0) {
        const size_t below = p > 0 || cyclic ? 1 : 0, above = p + 1 < parts || cyclic ? 1 : 0;
        // The first coarse unit all of whose fine ones are this band's.
        const size_t first = low + below * (stages + 1), end = high - above * (stages + 1);
        size_t next = 0;
        for (bool found = false; after == RESTRICTED && !found && next < coarse_units; next += found ? 0 : 1) {
            found = true;
            for (uint place = 0; place < count; ++place) {
                found = found && (!takes(&visit, next, place) || taken(&visit, next, place) >= first);
            }
        }
        for (size_t wave = low; wave < high + stages + 1; ++wave) {
            __global const REAL *line = other;
            for (size_t block = 0; block < blocks; ++block) {
#ifdef ROWS_AHEAD
                if (nx * ny > LARGE && wave > 0 && wave + ROWS_AHEAD < ny) {
                    const size_t at = wave * nx + block * COLUMN_BLOCK;
                    FETCH(u + at + ROWS_AHEAD * nx, 2)
                    FETCH(f + at + ROWS_AHEAD * nx, 2)
                    // What the first operations on the next column block read.
                    FETCH(u + at + COLUMN_BLOCK, 3)
                    FETCH(f + at + COLUMN_BLOCK - nx, 3)
                }
#endif
                if (wave < high && start != GIVEN) {
                    const size_t first_column = block == 0 ? 0 : correction_start(ranges, block * COLUMN_BLOCK);
                    const size_t last_column =
                        block == blocks - 1 ? nx
                                            : min((size_t)nx, correction_start(ranges, (block + 1) * COLUMN_BLOCK));
                    for (size_t q = 0; q < rows; ++q) {
                        const size_t j = DIM == 3 ? q : wave, k = DIM == 3 ? wave : 0;
                        __global REAL *row = u + (k * ny + j) * nx;
                        if (start == FROM_ZERO) {
                            for (size_t i = first_column; i < last_column; ++i) {
                                row[i] = ZERO;
                            }
                        } else {
                            if (block == 0) {
                                line = interpolated_row(nx, ny, mx, my, j, k, from, weights, other, across);
                            }
                            correct_row(nx, mx, first_column, last_column, ranges, pattern, from, weights, line, row);
                        }
                    }
                }
                for (size_t s = 1; s <= stages; ++s) {
                    if (wave >= low + s + below * s && wave < high + s - above * s) {
                        relax_unit(&visit, block, wave - s, s);
                    }
                }
                if (after != NOTHING && wave >= first + stages + 1 && wave < end + stages + 1) {
                    const size_t r = wave - stages - 1;
                    total = residual_unit(&visit, block, r, r % 4, total);
                }
            }
            for (bool ready = after == RESTRICTED && wave >= first + stages + 1 && wave < end + stages + 1;
                 ready && next < coarse_units;) {
                for (uint place = 0; place < count; ++place) {
                    ready = ready && (!takes(&visit, next, place) || taken(&visit, next, place) + stages + 1 <= wave);
                }
                if (ready) {
                    restrict_to_unit(&visit, next);
                    ++next;
                }
            }
        }
    } else {
        for (size_t s = 1; s <= stages; ++s) {
            for (size_t r = high - s; r < high + s; ++r) {
                relax_unit(&visit, 0, r % units, s);
            }
        }
        const size_t lowest = high - stages - 1, zone = 2 * (stages + 1);
        // In two dimensions each coarse row gets those it takes below.
        const bool whole_zone = DIM == 3 ? after != NOTHING : after == SUMMED;
        for (size_t r = lowest; whole_zone && r < lowest + zone; ++r) {
            total = residual_unit(&visit, 0, r % units, 0, total);
        }
        for (size_t c = 0; after == RESTRICTED && c < coarse_units; ++c) {
            bool here = false;
            for (uint place = 0; place < count; ++place) {
                here = here || (takes(&visit, c, place) && (taken(&visit, c, place) + units - lowest) % units < zone);
            }
            if (here) {
#if DIM == 2
                for (uint place = 0; place < count; ++place) {
                    if (takes(&visit, c, place)) {
                        total = residual_unit(&visit, 0, taken(&visit, c, place), place, total);
                    }
                }
#endif
                restrict_to_unit(&visit, c);
            }
        }
    }
    if (after == SUMMED) {
        partial[phase * parts + p] = total;
    }
}
