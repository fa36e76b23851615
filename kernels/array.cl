// Arrays of rows and columns: parts of them, reductions along a dimension.
//
// Traffic per element of the output: take and put one read and one write (of lists, 16 B of positions more); reduce_along reads each element
// once. The operation is a number that is the same for all items, so that one compilation serves all operations.
//
// With CPU, an item takes a contiguous part of the elements; else neighbouring items take neighbours.
//@ build
//@ build SCALAR_COMPLEX=1
//@ build CPU=1
//@ build SCALAR_COMPLEX=1 CPU=1
#include "common.clh"
#include "scalar.clh"

// Element e of n, which is element (i, j) of an array of `rows` rows.
#ifdef CPU
#define FOR_ENTRIES(n, rows)                                                                             \
    const size_t end_of_part = part_start(n, get_global_id(0) + 1, get_global_size(0));                  \
    size_t e = part_start(n, get_global_id(0), get_global_size(0));                                      \
    for (size_t j = e / rows, i = e % rows; e < end_of_part; ++e, ++i == rows ? (i = 0, ++j) : 0)
#else
#define FOR_ENTRIES(n, rows)                                                                             \
    for (size_t e = get_global_id(0), j = e / rows, i = e % rows; e < n;                                 \
         e += get_global_size(0), j = e / rows, i = e % rows)
#endif

// out(i, j) = x[first + i row_step + j col_step]; steps backwards are complements of two.
__kernel void take_strided(ulong n, ulong rows, ulong first, ulong row_step, ulong col_step,
                           __global const SCALAR *x, __global SCALAR *out)
{
    FOR_ENTRIES(n, rows)
    {
        out[e] = x[first + i * row_step + j * col_step];
    }
}

// out(i, j) = x[row_at[i] + col_at[j]].
__kernel void take_listed(ulong n, ulong rows, __global const ulong *row_at, __global const ulong *col_at,
                          __global const SCALAR *x, __global SCALAR *out)
{
    FOR_ENTRIES(n, rows)
    {
        out[e] = x[row_at[i] + col_at[j]];
    }
}

// out[first + i row_step + j col_step] = x[i x_row + j x_col].
__kernel void put_strided(ulong n, ulong rows, ulong first, ulong row_step, ulong col_step,
                          __global const SCALAR *x, ulong x_row, ulong x_col, __global SCALAR *out)
{
    FOR_ENTRIES(n, rows)
    {
        out[first + i * row_step + j * col_step] = x[i * x_row + j * x_col];
    }
}

// out[row_at[i] + col_at[j]] = x[i x_row + j x_col]; no position occurs twice.
__kernel void put_listed(ulong n, ulong rows, __global const ulong *row_at, __global const ulong *col_at,
                         __global const SCALAR *x, ulong x_row, ulong x_col, __global SCALAR *out)
{
    FOR_ENTRIES(n, rows)
    {
        out[row_at[i] + col_at[j]] = x[i * x_row + j * x_col];
    }
}

#define ALONG_CASE(number, start, join)                                                                  \
    case number: {                                                                                       \
        SCALAR total = start;                                                                            \
        for (size_t l = begin; l < end; l += step) {                                                     \
            const SCALAR a = from[l * inner];                                                            \
            total = (join);                                                                              \
        }                                                                                                \
        out[k] = total;                                                                                  \
        break;                                                                                           \
    }

// x is inner x n x outer; out(i, p, o) joins the elements (i, l, o) of part p of l, of `parts`: neighbours with CPU, else every `parts`-th.
// Each item has one element of out.
__kernel void reduce_along(ulong op, ulong inner, ulong n, ulong parts, ulong results, __global const SCALAR *x,
                           __global SCALAR *out)
{
    for (size_t k = get_global_id(0); k < results; k += get_global_size(0)) {
        const size_t i = k % inner, p = k / inner % parts, o = k / inner / parts;
        __global const SCALAR *from = x + i + inner * n * o;
#ifdef CPU
        const size_t begin = part_start(n, p, parts), end = part_start(n, p + 1, parts), step = 1;
#else
        const size_t begin = p, end = n, step = parts;
#endif
        switch (op) {
            ALONG_CASE(0, SCALAR_ZERO, total + a)
            ALONG_CASE(1, SCALAR_ONE, scalar_mul(total, a))
#ifndef SCALAR_COMPLEX
            ALONG_CASE(2, (REAL)NAN, fmax(total, a))
            ALONG_CASE(3, (REAL)NAN, fmin(total, a))
#endif
        }
    }
}
