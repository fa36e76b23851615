// Incomplete factorisations and triangular systems with sparse factors, by levels: a row of a level depends on rows of earlier levels only.
//
// Traffic, f64: a triangular system takes 12 B per entry and a gathered read of x, and 36 B per row; a factorisation reads the rows on which each row
// depends.
//
// GPUs: an item per row of a level, or a work-group for a run of small levels (`_levels`). CPUs: a part of the rows per item, one item
// for a run of small levels. Each row is computed by one item in the order of its entries.
//@ build
//@ build CPU=1
//@ build SCALAR_COMPLEX=1
//@ build SCALAR_COMPLEX=1 CPU=1
#include "common.clh"
#include "scalar.clh"

#ifdef CPU
#define FOR_EACH(k, first, end)                                                                          \
    const size_t end_ = (first) + part_start((end) - (first), get_global_id(0) + 1, get_global_size(0)); \
    for (size_t k = (first) + part_start((end) - (first), get_global_id(0), get_global_size(0)); k < end_; ++k)
#else
#define FOR_EACH(k, first, end) for (size_t k = (first) + get_global_id(0); k < (end); k += get_global_size(0))
#endif

// x[row[k]] = (b[source[k]] - sum of the k-th row's entries times x) times the inverse of its diagonal entry, unless that is 1.
inline void solve_row(size_t k, __global const uint *source, __global const uint *row, __global const uint *offset,
                      __global const uint *column, __global const SCALAR *value, uint unit,
                      __global const SCALAR *inverse, __global const SCALAR *b, __global SCALAR *x)
{
    SCALAR sum = b[source[k]];
    const size_t end = offset[k + 1];
    for (size_t e = offset[k]; e < end; ++e) {
        sum -= scalar_mul(value[e], x[column[e]]);
    }
    x[row[k]] = unit ? sum : scalar_mul(inverse[k], sum);
}

// The rows from `first` to `end`, which do not depend on each other (or, with one item, on later ones).
__kernel void solve_rows(ulong first, ulong end, __global const uint *source, __global const uint *row,
                         __global const uint *offset, __global const uint *column, __global const SCALAR *value,
                         uint unit, __global const SCALAR *inverse, __global const SCALAR *b, __global SCALAR *x)
{
    FOR_EACH(k, first, end)
    {
        solve_row(k, source, row, offset, column, value, unit, inverse, b, x);
    }
}

#ifndef CPU
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
solve_levels(uint from, uint to, __global const uint *level, __global const uint *source, __global const uint *row,
             __global const uint *offset, __global const uint *column, __global const SCALAR *value, uint unit,
             __global const SCALAR *inverse, __global const SCALAR *b, __global SCALAR *x)
{
    for (uint at = from; at < to; ++at) {
        barrier(CLK_GLOBAL_MEM_FENCE);
        const size_t until = level[at + 1];
        for (size_t k = level[at] + get_local_id(0); k < until; k += LOCAL) {
            solve_row(k, source, row, offset, column, value, unit, inverse, b, x);
        }
    }
}
#endif

// Row i of an incomplete LU factorisation on the matrix's own pattern (Saad 2003, algorithm 10.4): L, whose diagonal is 1, and U take
// the positions of the entries. Earlier rows are read from `former`. `failed` becomes the first row whose pivot is below `unsound` times the
// row's largest entry.
inline void factor_lu_row(size_t i, REAL unsound, __global const uint *offset, __global const uint *column,
                          __global const uint *diagonal, __global const SCALAR *former, __global SCALAR *value,
                          __global uint *failed)
{
    const size_t begin = offset[i], end = offset[i + 1], middle = diagonal[i];
    REAL largest = ZERO;
    for (size_t p = begin; p < end; ++p) {
        largest = fmax(largest, scalar_abs(value[p]));
    }
    for (size_t p = begin; p < middle; ++p) {
        const size_t k = column[p], of_k = diagonal[k], end_of_k = offset[k + 1];
        const SCALAR factor = scalar_div(value[p], former[of_k]);
        value[p] = factor;
        size_t q = p + 1;
        for (size_t e = of_k + 1; e < end_of_k && q < end; ++e) {
            const uint j = column[e];
            while (q < end && column[q] < j) {
                ++q;
            }
            if (q < end && column[q] == j) {
                value[q] -= scalar_mul(factor, former[e]);
            }
        }
    }
    const REAL pivot = scalar_abs(value[middle]);
    if (!(pivot > unsound * largest && isfinite(pivot))) {
        atomic_min(failed, (uint)i);
    }
}

__kernel void factor_lu_rows(ulong first, ulong end, __global const uint *row, REAL unsound, __global const uint *offset,
                             __global const uint *column, __global const uint *diagonal, __global SCALAR *value,
                             __global uint *failed)
{
    FOR_EACH(k, first, end)
    {
        factor_lu_row(row[k], unsound, offset, column, diagonal, value, value, failed);
    }
}

#ifndef CPU
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
factor_lu_levels(uint from, uint to, __global const uint *level, __global const uint *row, REAL unsound,
                 __global const uint *offset, __global const uint *column, __global const uint *diagonal,
                 __global SCALAR *value, __global uint *failed)
{
    for (uint at = from; at < to; ++at) {
        barrier(CLK_GLOBAL_MEM_FENCE);
        const size_t until = level[at + 1];
        for (size_t k = level[at] + get_local_id(0); k < until; k += LOCAL) {
            factor_lu_row(row[k], unsound, offset, column, diagonal, value, value, failed);
        }
    }
}
#endif

// Row i of an incomplete Cholesky factorisation L L^H on the pattern of the lower triangle, whose rows end with the diagonal entry.
// Earlier rows are read from `former`. `failed` becomes the first row whose pivot is not above `unsound` times the diagonal entry of the
// matrix.
inline void factor_cholesky_row(size_t i, REAL unsound, __global const uint *offset, __global const uint *column,
                                __global const SCALAR *former, __global SCALAR *value, __global uint *failed)
{
    const size_t begin = offset[i], middle = offset[i + 1] - 1;
    REAL squares = ZERO;
    for (size_t p = begin; p < middle; ++p) {
        const size_t k = column[p], of_k = offset[k + 1] - 1;
        SCALAR sum = value[p];
        size_t u = begin, v = offset[k];
        while (u < p && v < of_k) {
            const uint own = column[u], other = column[v];
            if (own == other) {
                sum -= scalar_mul(value[u], scalar_conj(former[v]));
            }
            u += own <= other ? 1u : 0u;
            v += other <= own ? 1u : 0u;
        }
        sum = scalar_div(sum, former[of_k]);
        value[p] = sum;
        squares += scalar_abs2(sum);
    }
    const REAL given = scalar_re(value[middle]), pivot = given - squares;
    value[middle] = scalar_from_real(sqrt(pivot));
    if (!(pivot > unsound * given && pivot > ZERO && isfinite(pivot))) {
        atomic_min(failed, (uint)i);
    }
}

__kernel void factor_cholesky_rows(ulong first, ulong end, __global const uint *row, REAL unsound,
                                   __global const uint *offset, __global const uint *column, __global SCALAR *value,
                                   __global uint *failed)
{
    FOR_EACH(k, first, end)
    {
        factor_cholesky_row(row[k], unsound, offset, column, value, value, failed);
    }
}

#ifndef CPU
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
factor_cholesky_levels(uint from, uint to, __global const uint *level, __global const uint *row, REAL unsound,
                       __global const uint *offset, __global const uint *column, __global SCALAR *value,
                       __global uint *failed)
{
    for (uint at = from; at < to; ++at) {
        barrier(CLK_GLOBAL_MEM_FENCE);
        const size_t until = level[at + 1];
        for (size_t k = level[at] + get_local_id(0); k < until; k += LOCAL) {
            factor_cholesky_row(row[k], unsound, offset, column, value, value, failed);
        }
    }
}
#endif

// A sweep of the fixed-point iteration for an incomplete LU factorisation (Chow and Patel 2015), by rows: each is eliminated anew, with the
// earlier rows as the previous sweep left them in `former`. After as many sweeps as there are levels these are the factors themselves.
// `failed` also becomes the first row with an entry that is not finite.
__kernel void sweep_lu_rows(ulong n, REAL unsound, __global const uint *offset, __global const uint *column,
                            __global const uint *diagonal, __global const SCALAR *matrix, __global const SCALAR *former,
                            __global SCALAR *value, __global uint *failed)
{
    FOR_EACH(i, 0, n)
    {
        const size_t end = offset[i + 1];
        for (size_t p = offset[i]; p < end; ++p) {
            value[p] = matrix[p];
        }
        factor_lu_row(i, unsound, offset, column, diagonal, former, value, failed);
        for (size_t p = offset[i]; p < end; ++p) {
            if (!isfinite(scalar_abs(value[p]))) {
                atomic_min(failed, (uint)i);
            }
        }
    }
}

// The same for an incomplete Cholesky factorisation.
__kernel void sweep_cholesky_rows(ulong n, REAL unsound, __global const uint *offset, __global const uint *column,
                                  __global const SCALAR *matrix, __global const SCALAR *former, __global SCALAR *value,
                                  __global uint *failed)
{
    FOR_EACH(i, 0, n)
    {
        const size_t end = offset[i + 1];
        for (size_t p = offset[i]; p < end; ++p) {
            value[p] = matrix[p];
        }
        factor_cholesky_row(i, unsound, offset, column, former, value, failed);
    }
}

// The positions of the diagonal entries of a matrix with sorted rows, before a factorisation. found[0] = 1 if one is missing, found[1] = 1 if one is at
// most `least` times the largest of its row, found[2] = 1 if an entry is not finite.
__kernel void find_diagonal(ulong n, REAL least, __global const uint *offset, __global const uint *column,
                            __global const SCALAR *value, __global uint *diagonal, __global uint *found)
{
    FOR_EACH(i, 0, n)
    {
        const size_t end = offset[i + 1];
        size_t at = end;
        REAL largest = ZERO;
        bool finite = true;
        for (size_t p = offset[i]; p < end; ++p) {
            const REAL modulus = scalar_abs(value[p]);
            at = column[p] == i ? p : at;
            largest = fmax(largest, modulus);
            finite = finite && isfinite(modulus);
        }
        diagonal[i] = (uint)at;
        if (at == end) {
            atomic_or(found, 1u);
        } else if (scalar_abs(value[at]) <= least * largest) {
            atomic_or(found + 1, 1u);
        }
        if (!finite) {
            atomic_or(found + 2, 1u);
        }
    }
}

// The moduli of each row before the diagonal and after it, divided by that of the diagonal entry, and 0 where this is 0.
__kernel void sum_triangles(ulong n, __global const uint *offset, __global const uint *column,
                            __global const SCALAR *value, __global REAL *lower, __global REAL *upper)
{
    FOR_EACH(i, 0, n)
    {
        REAL own = ZERO, before = ZERO, after = ZERO;
        for (size_t p = offset[i]; p < offset[i + 1]; ++p) {
            const REAL modulus = scalar_abs(value[p]);
            own = column[p] == i ? modulus : own;
            before += column[p] < i ? modulus : ZERO;
            after += column[p] > i ? modulus : ZERO;
        }
        lower[i] = own > ZERO ? before / own : ZERO;
        upper[i] = own > ZERO ? after / own : ZERO;
    }
}

// A triangle of factors that take the positions of the entries of a matrix, its rows in the order of row[]: count[k] = the off-diagonal entries of
// the k-th one.
__kernel void count_triangle(ulong n, uint upper, __global const uint *row, __global const uint *offset,
                             __global const uint *diagonal, __global uint *count)
{
    FOR_EACH(k, 0, n)
    {
        const uint i = row[k];
        count[k] = upper ? offset[i + 1] - diagonal[i] - 1 : diagonal[i] - offset[i];
    }
}

// These entries, with the columns numbered by number[] if `numbered`, and for U the inverse of the diagonal entry.
__kernel void fill_triangle(ulong n, uint upper, uint numbered, __global const uint *number, __global const uint *row,
                            __global const uint *offset, __global const uint *column, __global const uint *diagonal,
                            __global const SCALAR *value, __global const uint *start, __global uint *own_column,
                            __global SCALAR *own_value, __global SCALAR *inverse)
{
    FOR_EACH(k, 0, n)
    {
        const size_t middle = diagonal[row[k]];
        const size_t from = upper ? middle + 1 : offset[row[k]];
        const size_t first = start[k], entries = start[k + 1] - first;
        for (size_t e = 0; e < entries; ++e) {
            const uint j = column[from + e];
            own_column[first + e] = numbered ? number[j] : j;
            own_value[first + e] = value[from + e];
        }
        if (upper) {
            inverse[k] = scalar_div(SCALAR_ONE, value[middle]);
        }
    }
}

// out[k] = value[at[k]]; its conjugate with mode 1, its inverse with mode 2.
__kernel void take_factor(ulong n, uint mode, __global const uint *at, __global const SCALAR *value, __global SCALAR *out)
{
    FOR_EACH(k, 0, n)
    {
        const SCALAR entry = value[at[k]];
        out[k] = mode == 2 ? scalar_div(SCALAR_ONE, entry) : mode == 1 ? scalar_conj(entry) : entry;
    }
}
