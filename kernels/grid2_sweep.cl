// All sweeps of one visit to a level in one pass over memory, for CPUs, with the notation of grid2.clh; a band of rows per item.
//
// Each item owns the rows low to high - 1 of u. It works on `depth` more rows on either side, in
// copies of its own, because what happens there decides its own rows; the items repeat each
// other's work there and get the same bits. Down the rows runs a wave: when row j is read, stage 0
// relaxes row j - 1, stage 1 row j - 2 and so on, while these rows are in the cache. A stage is one
// colour of red-black or one sweep of Jacobi. Along the rows the wave advances by blocks of columns, so that
// all rows at hand stay in the nearest cache: a stage needs of the rows above and below only the
// columns it relaxes, and its own row was finished by the stage before when the wave was a row back.
//
// Copies of an item: `depth` rows below low, `depth` rows from high on, 2 rows per Jacobi sweep (old
// values of the row before), 4 rows of defects; `stride` values in all.
//
// Traffic per fine point, f64: 26 B for all sweeps of a visit with the correction before them or the restriction or norm of
// the defect after them. A V(2,1) cycle moves 52 B on its level, 70 B on all levels together.
//@ build CPU=1
//@ build CPU=1 ROWS_AHEAD=2
#include "common.clh"
#include "grid2.clh"
#include "grid2_rows.clh"
#include "grid2_transfer.clh"

// First row of part `p` of `height` rows; even, so that the coarse row of every even fine row belongs to one item.
inline long band_start(ulong height, size_t p, size_t parts)
{
    return p == parts ? (long)height : (long)(2 * ((height + 1) / 2 * p / parts));
}

// Row `j` as an item sees it.
inline __global REAL *band_row(long n, long low, long high, long depth, __global REAL *u, __global REAL *copy, long j)
{
    if (j < low) {
        return copy + (j - low + depth) * n;
    }
    return j < high ? u + j * n : copy + (j - high + depth) * n;
}

// Copies the rows around each band while they are still old. Item p is band p.
__kernel void save_halo(ulong n, ulong height, uint depth, ulong stride, __global REAL *u, __global REAL *copies)
{
    const size_t p = get_global_id(0), parts = get_global_size(0);
    const long low = band_start(height, p, parts), high = band_start(height, p + 1, parts);
    __global REAL *copy = copies + p * stride;
    for (long j = max(low - (long)depth, 0L); j < low; ++j) {
        copy_row(0, n, u + j * (long)n, band_row((long)n, low, high, depth, u, copy, j));
    }
    for (long j = high; j < min(high + (long)depth, (long)height); ++j) {
        copy_row(0, n, u + j * (long)n, band_row((long)n, low, high, depth, u, copy, j));
    }
}

// Columns that are worked on together, even: with the rows of a V(2,1) cycle they fit 32 KiB.
#define COLUMN_BLOCK 128

// Starts to fetch a column block that the wave will reach ROWS_AHEAD rows later: it reads more streams than
// the hardware tells apart.
#ifdef ROWS_AHEAD
inline void fetch_column_block(size_t length, __global const REAL *row)
{
    for (size_t i = 0; i < length; i += 64 / sizeof(REAL)) {
        __builtin_prefetch((const __global void *)(row + i), 0, 2);
    }
}
#endif

// What is done to a row before its stages, and after them.
#define GIVEN 0
#define FROM_ZERO 1
#define CORRECTED 2
#define NOTHING 0
#define RESTRICTED 1
#define SUMMED 2

// `start` GIVEN or FROM_ZERO: u as it is, or 0 whatever it is, which needs no saved halo; CORRECTED
// adds the interpolant of `other`, a coarse grid. `after` RESTRICTED: `other` = full weighting of the
// defect, inside. SUMMED: partial[band] = sum of the squares of the defect. `omega` 0 stands for
// red-black, with `colour` first. The grid has `height` rows of `points` points, and its first one is row `skip` of `other`.
__kernel void sweep(ulong points, ulong height, ulong skip, uint start, uint after, uint stages, uint colour, uint depth, ulong stride,
                    REAL weight, REAL h2, REAL inverse_h2, REAL shift, REAL omega, __global const REAL *f, __global REAL *u,
                    __global REAL *other, __global REAL *copies, __global REAL *partial)
{
    const size_t p = get_global_id(0), parts = get_global_size(0);
    const long n = (long)points, rows = (long)height, m = (n + 1) / 2, lag = stages;
    const long low = band_start(height, p, parts), high = band_start(height, p + 1, parts);
    other += skip * (ulong)m;
    __global REAL *copy = copies + p * stride;
    __global REAL *save = copy + 2 * depth * points;
    __global REAL *defect = save + (omega == ZERO ? 0 : 2 * stages) * points;
    // Rows at hand; a stage reaches one row less on either side than the one before, but for the
    // sides of the square.
    const long first = max(low - (long)depth, 0L), last = min(high + (long)depth, rows) - 1;
    REAL total = ZERO;
#define ROW(j) band_row(n, low, high, depth, u, copy, j)
// Columns of the row at `row` that an operation does in its turn. Blocks end where the row's vectors
// do, up to 8 columns before their nominal end and not at the same column in each row; with 8 columns
// of `delay` more than the operation before, none reads what that one has not done.
#define FROM(row, delay) (block == 0 ? 1 : align_column(row, (long)(block * COLUMN_BLOCK) - 8 * (delay)))
#define TO(row, delay)                                                                                   \
    (block == blocks - 1 ? points - 1 : align_column(row, (long)((block + 1) * COLUMN_BLOCK) - 8 * (delay)))
    const size_t blocks = (points - 1 + COLUMN_BLOCK - 1) / COLUMN_BLOCK;
    for (long j = first; j <= last + lag + 1; ++j) {
        for (size_t block = 0; block < blocks; ++block) {
            const bool leftmost = block == 0, rightmost = block == blocks - 1;
#ifdef ROWS_AHEAD
            if (j + ROWS_AHEAD < rows) {
                const size_t at = (size_t)(j + ROWS_AHEAD) * points + block * COLUMN_BLOCK;
                fetch_column_block(COLUMN_BLOCK, u + at);
                fetch_column_block(COLUMN_BLOCK, f + at);
            }
#endif
            if (j <= last && start != GIVEN) {
                const size_t begin = block * COLUMN_BLOCK, end = rightmost ? points : begin + COLUMN_BLOCK;
                if (start == FROM_ZERO) {
                    fill_row(begin, end, ZERO, ROW(j));
                } else if (j > 0 && j < rows - 1) {
                    interpolate_row(points, (size_t)j, max(begin, (size_t)1), min(end, (size_t)points - 1), true,
                                    other, ROW(j));
                }
            }
            for (long s = 0; s < lag; ++s) {
                const long r = j - 1 - s;
                const long lowest = first == 0 ? 1 : first + 1 + s, highest = last == rows - 1 ? rows - 2 : last - 1 - s;
                if (r < lowest || r > highest) {
                    continue;
                }
                __global REAL *south = ROW(r - 1), *row = ROW(r), *north = ROW(r + 1);
                if (omega == ZERO) {
                    const uint odd = (uint)(r + s + colour) & 1;
                    relax_row(points, FROM(row, s), TO(row, s), odd, weight, h2, south, row, north, f + r * n);
                } else {
                    __global REAL *old_south = save + (2 * s + ((r - 1) & 1)) * n, *old = save + (2 * s + (r & 1)) * n;
                    const size_t begin = leftmost ? 0 : FROM(row, 2 * s), end = rightmost ? points : TO(row, 2 * s);
                    if (r == lowest) {
                        copy_row(begin, end, south, old_south);
                    }
                    copy_row(begin, end, row, old);
                    jacobi_row(points, FROM(row, 2 * s + 1), TO(row, 2 * s + 1), weight, h2, omega, old_south, old, north,
                               f + r * n, row);
                }
            }
            // The row whose neighbours are all done.
            const long r = j - 1 - lag, delay = omega == ZERO ? lag : 2 * lag;
            if (after == RESTRICTED && r >= max(low - 1, 1L) && r <= min(high - 1, rows - 2)) {
                const size_t begin = FROM(ROW(r), delay), end = TO(ROW(r), delay);
                defect_row(points, begin, end, inverse_h2, shift, ROW(r - 1), ROW(r), ROW(r + 1), f + r * n,
                           defect + (r & 3) * n);
                if ((r & 1) != 0 && r > max(low, 1L)) {
                    restrict_row(max(begin / 2, (size_t)1), rightmost ? (size_t)m - 1 : max(end / 2, (size_t)1),
                                 defect + ((r - 2) & 3) * n, defect + ((r - 1) & 3) * n, defect + (r & 3) * n,
                                 other + r / 2 * m);
                }
            }
            if (after == SUMMED && r >= max(low, 1L) && r <= min(high - 1, rows - 2)) {
                total += sum_square_defect_row(points, FROM(ROW(r), delay), TO(ROW(r), delay), inverse_h2, shift, ONE,
                                               ROW(r - 1), ROW(r), ROW(r + 1), f + r * n);
            }
        }
    }
#undef FROM
#undef TO
#undef ROW
    if (after == SUMMED) {
        partial[p] = total;
    }
}
