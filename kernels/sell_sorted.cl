// Products y = alpha A x + beta y with a sparse matrix in SELL-C-sigma (Kreutzer, Hager, Wellein, Fehske and Bishop 2014) on a GPU;
// beta = 0 never reads y. The rows of a window of WINDOW rows are sorted by their length, the longest first; chunks of CHUNK of them
// hold the first entries of their rows, then the second ones and so on. There is one item per row. No item reads padding, so that no padding zero is
// ever multiplied with an infinity or a NaN.
//
// A work-group processes several windows: a compute unit then works on few, long ranges of rows at a time, and rows find in its L1
// cache what neighbouring rows have gathered.
//
// With SHORT, columns are 16-bit distances from the lowest one of the window, with PAGES = 16 positions within 16 pages of 4096 columns.
//
// Traffic, f64: 12 B per entry (10 B with SHORT) and padding, 5 B per row for the order and the offsets, 16 B per row for x and y
// (24 B where beta is not 0), if every element of x comes from memory once.
//@ build LOCAL=256 ONCE=1
//@ build LOCAL=128 ONCE=1
//@ variant Short SHORT=1
//@ build Short LOCAL=256
//@ build Short LOCAL=256 PAGES=16
//@ variant Dots DOTS=1
//@ build Dots LOCAL=256 ONCE=1
//@ variant ShortDots SHORT=1 DOTS=1
//@ build ShortDots LOCAL=256
//@ build ShortDots LOCAL=256 PAGES=16
#include "common.clh"
#include "dots.clh"
#include "once.clh"

#define CHUNK 32
#define WINDOW 128

#define PAGE 4096
#define WIDE UINT_MAX

// The arguments of a kernel for 16-bit columns, and the part of them for a window.
#ifdef SHORT
#define SHORT_ARGUMENTS __global const uint *base, __global const ushort *narrow,
#ifdef PAGES
#define SHORT_PART(window) base + (size_t)PAGES * (window), narrow,
#define NEAR_COLUMN(c) (base[(c) / PAGE] + (c) % PAGE)
#else
#define SHORT_PART(window) base + (window), narrow,
#define NEAR_COLUMN(c) (base[0] + (c))
#endif
#else
#define SHORT_ARGUMENTS
#define SHORT_PART(window)
#endif

// The sum of `count` entries from position `k` on, CHUNK positions apart, four of them in flight at once.
#define SUM_ROW(column_at)                                                                                             \
    for (; count >= 4; count -= 4, k += 4 * CHUNK) {                                                                   \
        const uint at0 = column_at(k), at1 = column_at(k + CHUNK), at2 = column_at(k + 2 * CHUNK),                     \
                   at3 = column_at(k + 3 * CHUNK);                                                                     \
        const REAL v0 = read_value(value + k), v1 = read_value(value + k + CHUNK),                                     \
                   v2 = read_value(value + k + 2 * CHUNK), v3 = read_value(value + k + 3 * CHUNK);                     \
        sum += v0 * x[at0];                                                                                            \
        sum += v1 * x[at1];                                                                                            \
        sum += v2 * x[at2];                                                                                            \
        sum += v3 * x[at3];                                                                                            \
    }                                                                                                                  \
    for (; count > 0; --count, k += CHUNK) {                                                                           \
        sum += read_value(value + k) * x[column_at(k)];                                                                             \
    }

#define FAR_AT(k) read_column(column + (k))
#define NEAR_AT(k) NEAR_COLUMN(narrow[k])

// The sum of a row of `count` entries from position k on.
inline REAL row_sum(uint count, size_t k, SHORT_ARGUMENTS __global const uint *column, __global const REAL *value,
                    __global const REAL *x)
{
    REAL sum = ZERO;
#ifdef SHORT
#ifdef PAGES
    const bool near = base[0] != WIDE;
#else
    const bool near = true;
#endif
    if (near) {
        SUM_ROW(NEAR_AT)
    } else
#endif
    {
        SUM_ROW(FAR_AT)
    }
    return sum;
}

#define ROW_OF(i) ((i) / WINDOW * WINDOW + order[i])
#define PLACE_OF(i) ((size_t)start[(i) / CHUNK] * CHUNK + (i) % CHUNK)

#ifndef DOTS
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mv_sell_sorted(ulong rows, __global const uint *start, __global const uchar *order, SHORT_ARGUMENTS REAL alpha,
               __global const uint *offset, __global const uint *column, __global const REAL *value,
               __global const REAL *x, REAL beta, __global REAL *y)
{
    const size_t i = get_global_id(0);
    if (i < rows) {
        const size_t row = ROW_OF(i);
        const uint count = offset[row + 1] - offset[row];
        const REAL sum = row_sum(count, PLACE_OF(i), SHORT_PART(i / WINDOW) column, value, x);
        y[row] = combine_product(alpha, sum, beta, y + row);
    }
}
#else
// With dot products, `turns` times LOCAL rows per work-group.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mv_sell_sorted(ulong rows, uint turns, __global const uint *start, __global const uchar *order, SHORT_ARGUMENTS REAL alpha,
               __global const uint *offset, __global const uint *column, __global const REAL *value,
               __global const REAL *x, REAL beta, __global REAL *y DOTS_ARGUMENTS)
{
    __local REAL sums[2 * LOCAL];
    const uint item = (uint)get_local_id(0);
    REAL2 dots = (REAL2)ZERO;
    for (uint turn = 0; turn < turns; ++turn) {
        const size_t i = (get_group_id(0) * (size_t)turns + turn) * LOCAL + item;
        if (i < rows) {
            const size_t row = ROW_OF(i);
            const uint count = offset[row + 1] - offset[row];
            const REAL sum = row_sum(count, PLACE_OF(i), SHORT_PART(i / WINDOW) column, value, x);
            dots += finish_row(row, alpha, sum, beta, y, u, w);
        }
    }
    LEAVE_GROUP_DOTS(sums, item, get_group_id(0), get_num_groups(0));
}
#endif

#define FILL_SORTED(name, type)                                                                                        \
    __kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void name(                                             \
        ulong rows, __global const uint *start, __global const uchar *order, __global const uint *offset,              \
        __global const type *entry, __global type *placed)                                                             \
    {                                                                                                                  \
        const size_t i = get_global_id(0);                                                                             \
        if (i < rows) {                                                                                                \
            const size_t row = ROW_OF(i), end = offset[row + 1];                                                       \
            size_t to = PLACE_OF(i);                                                                                   \
            for (size_t k = offset[row]; k < end; ++k, to += CHUNK) {                                                  \
                placed[to] = entry[k];                                                                                 \
            }                                                                                                          \
        }                                                                                                              \
    }

FILL_SORTED(place_columns, uint)
FILL_SORTED(place_values, REAL)

#ifdef SHORT
// Columns in 16 bits; 0 in windows that touch too many pages.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
place_near(ulong rows, __global const uint *start, __global const uchar *order, __global const uint *offset,
           __global const uint *base, __global const uint *column, __global ushort *placed)
{
    const size_t i = get_global_id(0);
    if (i < rows) {
        const size_t row = ROW_OF(i), end = offset[row + 1];
        size_t to = PLACE_OF(i);
#ifdef PAGES
        __global const uint *own = base + PAGES * (i / WINDOW);
        const bool near = own[0] != WIDE;
        // Columns increase, and so do pages.
        uint place = 0;
        for (size_t k = offset[row]; k < end; ++k, to += CHUNK) {
            const uint at = column[k], first = at / PAGE * PAGE;
            while (near && own[place] != first) {
                ++place;
            }
            placed[to] = near ? (ushort)(place * PAGE + at % PAGE) : 0;
        }
#else
        const uint lowest = base[i / WINDOW];
        for (size_t k = offset[row]; k < end; ++k, to += CHUNK) {
            placed[to] = (ushort)(column[k] - lowest);
        }
#endif
    }
}
#endif
