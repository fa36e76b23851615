// Products y = alpha A x + beta y with a sparse matrix for CPUs; beta = 0 never reads y. A second copy of the entries
// is kept in chunks of eight neighbouring rows (SELL-8: Kreutzer, Hager, Wellein, Fehske and Bishop 2014), up to the length of the
// shortest of the eight: chunk c holds, from 8 start[c] on, the first entries of its rows, then their second ones and so on. The entries that longer
// rows have beyond this are read from the compressed rows, so that no padding zero is ever multiplied with
// an infinity or a NaN.
//
// Traffic, f64: 12 B per entry, 8 B per 8 rows for the starts, 16 B per row for x and y (24 B where beta is not 0), if every
// element of x comes from memory once.
//@ build CPU=1
//@ build CPU=1 AHEAD=512
//@ variant Dots DOTS=1
//@ build Dots CPU=1
#include "common.clh"
#include "dots.clh"
#include "memory.clh"

#define ROWS 8

// The chunks of item p; split[p] is about the first row of its part.
inline size_t first_chunk(__global const uint *split, size_t p, ulong rows)
{
    return p == get_global_size(0) ? (size_t)(rows + ROWS - 1) / ROWS : split[p] / ROWS;
}

#define FILL_SELL(name, type)                                                                                        \
    __kernel void name(ulong rows, __global const uint *split, __global const uint *start,                             \
                       __global const uint *offset, __global const type *entry, __global type *placed)                 \
    {                                                                                                                  \
        const size_t last = first_chunk(split, get_global_id(0) + 1, rows);                                            \
        for (size_t c = first_chunk(split, get_global_id(0), rows); c < last; ++c) {                                   \
            const uint width = start[c + 1] - start[c];                                                                \
            for (uint r = 0; r < (width > 0 ? ROWS : 0); ++r) {                                                        \
                const size_t from = offset[c * ROWS + r];                                                              \
                for (uint j = 0; j < width; ++j) {                                                                     \
                    placed[((size_t)start[c] + j) * ROWS + r] = entry[from + j];                                       \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

FILL_SELL(fill_columns, uint)
FILL_SELL(fill_values, REAL)

__kernel void mv_sell(ulong rows, __global const uint *split, __global const uint *start,
                        __global const uint *placed_column, __global const REAL *placed_value, REAL alpha,
                        __global const uint *offset, __global const uint *column, __global const REAL *value,
                        __global const REAL *x, REAL beta, __global REAL *y DOTS_ARGUMENTS)
{
    const size_t last = first_chunk(split, get_global_id(0) + 1, rows);
    START_DOTS(min((ulong)first_chunk(split, get_global_id(0), rows) * ROWS, rows));
    for (size_t c = first_chunk(split, get_global_id(0), rows); c < last; ++c) {
        const size_t row = c * ROWS;
        const size_t until = (size_t)start[c + 1] * ROWS;
        REAL8 sum = (REAL8)ZERO;
        for (size_t k = (size_t)start[c] * ROWS; k < until; k += ROWS) {
            FETCH_AHEAD(placed_value + k);
            FETCH_AHEAD(placed_column + k);
            const uint8 at = vload8(0, placed_column + k);
            const REAL8 from =
                (REAL8)(x[at.s0], x[at.s1], x[at.s2], x[at.s3], x[at.s4], x[at.s5], x[at.s6], x[at.s7]);
            sum += vload8(0, placed_value + k) * from;
        }
        const uint width = start[c + 1] - start[c];
        const size_t end = min((ulong)row + ROWS, rows);
        if (row + ROWS <= rows && offset[end] - offset[row] == ROWS * width) {
            vstore8(beta == ZERO ? alpha * sum : alpha * sum + beta * vload8(0, ADDEND + row), 0, y + row);
        } else {
            REAL own[ROWS];
            vstore8(sum, 0, own);
            for (size_t i = row; i < end; ++i) {
                REAL rest = own[i - row];
                for (size_t k = (size_t)offset[i] + width; k < offset[i + 1]; ++k) {
                    rest += value[k] * x[column[k]];
                }
                y[i] = combine_product(alpha, rest, beta, ADDEND + i);
            }
        }
        COUNT_DOTS(end);
    }
    LEAVE_DOTS(min((ulong)last * ROWS, rows));
}
