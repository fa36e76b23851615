// Products y = alpha A x + beta y with a sparse matrix in SELL-C-sigma (Kreutzer, Hager, Wellein, Fehske and Bishop 2014) on a GPU;
// beta = 0 never reads y. The rows of a window of WINDOW rows, a work-group, are sorted by their length, the longest first; chunks of CHUNK of them
// hold the first entries of their rows, then the second ones and so on. An item has a row. No item reads padding, so that no zero is
// ever multiplied with what is not finite.
//
// With SHORT, columns are 16-bit distances from the lowest one of the window, with PAGES = 16 places in 16 pages of 4096 columns.
//
// Traffic, f64: 12 B per entry (10 B with SHORT) and padding, 12 B per row for the order and the offsets, 16 B per row for x and y
// (24 B where beta is not 0), if every element of x comes from memory once.
//@ build
//@ variant Short SHORT=1
//@ build Short
//@ build Short PAGES=16
#include "common.clh"
#include "scalar.clh"

#define CHUNK 32
#define WINDOW 128

#define PAGE 4096
#define WIDE UINT_MAX

#ifdef SHORT
#define SHORT_ARGUMENTS __global const uint *base, __global const ushort *narrow,
#ifdef PAGES
#define NEAR_COLUMN(c) (own[(c) / PAGE] + (c) % PAGE)
#else
#define NEAR_COLUMN(c) (own[0] + (c))
#endif
#else
#define SHORT_ARGUMENTS
#endif

// The sum of `count` entries from place `k` on, CHUNK places apart, four of them under way at once.
#define SUM_ROW(column_at)                                                                                             \
    for (; count >= 4; count -= 4, k += 4 * CHUNK) {                                                                   \
        const uint at0 = column_at(k), at1 = column_at(k + CHUNK), at2 = column_at(k + 2 * CHUNK),                     \
                   at3 = column_at(k + 3 * CHUNK);                                                                     \
        const REAL v0 = value[k], v1 = value[k + CHUNK], v2 = value[k + 2 * CHUNK], v3 = value[k + 3 * CHUNK];         \
        sum += v0 * x[at0];                                                                                            \
        sum += v1 * x[at1];                                                                                            \
        sum += v2 * x[at2];                                                                                            \
        sum += v3 * x[at3];                                                                                            \
    }                                                                                                                  \
    for (; count > 0; --count, k += CHUNK) {                                                                           \
        sum += value[k] * x[column_at(k)];                                                                             \
    }

#define FAR_AT(k) column[k]
#define NEAR_AT(k) NEAR_COLUMN(narrow[k])

__kernel __attribute__((reqd_work_group_size(WINDOW, 1, 1))) void
mv_sell_sorted(ulong rows, __global const uint *start, __global const uint *order, SHORT_ARGUMENTS REAL alpha,
               __global const uint *offset, __global const uint *column, __global const REAL *value,
               __global const REAL *x, REAL beta, __global REAL *y)
{
    const size_t i = get_global_id(0);
    if (i < rows) {
        const size_t row = order[i];
        uint count = offset[row + 1] - offset[row];
        size_t k = (size_t)start[i / CHUNK] * CHUNK + i % CHUNK;
        REAL sum = ZERO;
#ifdef SHORT
#ifdef PAGES
        __global const uint *own = base + (size_t)PAGES * get_group_id(0);
        const bool near = own[0] != WIDE;
#else
        __global const uint *own = base + get_group_id(0);
        const bool near = true;
#endif
        if (near) {
            SUM_ROW(NEAR_AT)
        } else
#endif
        {
            SUM_ROW(FAR_AT)
        }
        y[row] = combine_product(alpha, sum, beta, y + row);
    }
}

#define FILL_SORTED(name, type)                                                                                        \
    __kernel void name(ulong rows, __global const uint *start, __global const uint *order,                             \
                       __global const uint *offset, __global const type *entry, __global type *placed)                 \
    {                                                                                                                  \
        const size_t i = get_global_id(0);                                                                             \
        if (i < rows) {                                                                                                \
            const size_t end = offset[order[i] + 1];                                                                   \
            size_t to = (size_t)start[i / CHUNK] * CHUNK + i % CHUNK;                                                  \
            for (size_t k = offset[order[i]]; k < end; ++k, to += CHUNK) {                                             \
                placed[to] = entry[k];                                                                                 \
            }                                                                                                          \
        }                                                                                                              \
    }

FILL_SORTED(place_columns, uint)
FILL_SORTED(place_narrow, ushort)
FILL_SORTED(place_values, REAL)
