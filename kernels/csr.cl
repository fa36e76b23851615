// Products y = alpha A x + beta y with a sparse matrix in compressed rows; beta = 0 never reads y.
//
// Traffic, f64: 12 B per entry, 4 B per row for the offsets, 16 B per row for x and y (24 B where
// beta is not 0), if every element of x comes from memory once.
//@ build
//@ build ROWS=4
//@ build LANES=2
//@ build LANES=8
//@ build LANES=32
//@ build CPU=1
//@ build CPU=1 AHEAD=512
//@ build CPU=1 AHEAD=512 GATHER_AHEAD=128
//@ build SCALAR_COMPLEX=1
//@ build SCALAR_COMPLEX=1 LANES=8 CONJUGATE=1
//@ build CPU=1 SCALAR_COMPLEX=1 CONJUGATE=1
//@ variant Dots DOTS=1
//@ build Dots LANES=1
//@ build Dots LANES=8
//@ build Dots LANES=32
//@ build Dots CPU=1 AHEAD=512
#include "common.clh"
#include "dots.clh"
#include "memory.clh"

// Real or complex; with CONJUGATE the product with conj(A).
#ifdef CONJUGATE
#define entry_mul(a, x) scalar_mul_conj(a, x)
#else
#define entry_mul(a, x) scalar_mul(a, x)
#endif

#ifndef CPU
#ifndef LANES
// Rows of an item, a work-group's size apart.
#ifndef ROWS
#define ROWS 1
#endif

// Short rows, each summed by one item.
__kernel void mv_csr(ulong rows, SCALAR alpha, __global const uint *offset, __global const uint *column,
                     __global const SCALAR *value, __global const SCALAR *x, SCALAR beta, __global SCALAR *y)
{
    size_t i = get_group_id(0) * ROWS * get_local_size(0) + get_local_id(0);
#pragma unroll
    for (uint r = 0; r < ROWS; ++r, i += get_local_size(0)) {
        if (i < rows) {
            SCALAR sum = SCALAR_ZERO;
            const uint end = offset[i + 1];
            for (uint k = offset[i]; k < end; ++k) {
                sum += entry_mul(value[k], x[column[k]]);
            }
            y[i] = combine_product(alpha, sum, beta, y + i);
        }
    }
}
#else
// What one of LANES items that share a row adds to it.
inline SCALAR lane_of_row(size_t i, uint lane, __global const uint *offset, __global const uint *column,
                        __global const SCALAR *value, __global const SCALAR *x)
{
    SCALAR sum = SCALAR_ZERO;
    const uint end = offset[i + 1];
    // 64 bit: lanes past the end of the last row must not wrap around.
    for (ulong k = (ulong)offset[i] + lane; k < end; k += LANES) {
        sum += entry_mul(value[k], x[column[k]]);
    }
    return sum;
}

#ifndef DOTS
// LANES neighbouring items per row, a power of two: long rows.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mv_csr(ulong rows, SCALAR alpha, __global const uint *offset, __global const uint *column,
       __global const SCALAR *value, __global const SCALAR *x, SCALAR beta, __global SCALAR *y)
{
    __local SCALAR shared[LOCAL];
    const uint item = (uint)get_local_id(0);
    const uint lane = item % LANES;
    const size_t i = get_global_id(0) / LANES;
    shared[item] = i < rows ? lane_of_row(i, lane, offset, column, value, x) : SCALAR_ZERO;
    for (uint width = LANES / 2; width > 0; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < width) {
            shared[item] += shared[item + width];
        }
    }
    if (lane == 0 && i < rows) {
        y[i] = combine_product(alpha, shared[item], beta, y + i);
    }
}
#else
// LANES neighbouring items per row, or one; stores partial dot products; `row_tiles` tiles of LOCAL / LANES rows per work-group.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mv_csr(ulong rows, uint row_tiles, SCALAR alpha, __global const uint *offset, __global const uint *column,
       __global const SCALAR *value, __global const SCALAR *x, SCALAR beta,
       __global SCALAR *y DOTS_ARGUMENTS)
{
    __local SCALAR shared[2 * LOCAL];
    const uint item = (uint)get_local_id(0);
    const uint lane = item % LANES;
    REAL2 dots = (REAL2)ZERO;
    for (uint tile = 0; tile < row_tiles; ++tile) {
        const size_t i = (get_group_id(0) * (size_t)row_tiles + tile) * (LOCAL / LANES) + item / LANES;
        shared[item] = i < rows ? lane_of_row(i, lane, offset, column, value, x) : SCALAR_ZERO;
        for (uint width = LANES / 2; width > 0; width /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            if (lane < width) {
                shared[item] += shared[item + width];
            }
        }
        if (lane == 0 && i < rows) {
            dots += finish_row(i, alpha, shared[item], beta, y, u, w);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    LEAVE_GROUP_DOTS(shared, item, get_group_id(0), get_num_groups(0));
}
#endif
#endif
#else
// Prefetches the element of x for entry k + GATHER_AHEAD; `last` is the last entry of all.
#ifdef GATHER_AHEAD
#define FETCH_GATHERED(k) __builtin_prefetch((const __global void *)(x + column[min((k) + GATHER_AHEAD, last)]), 0, 3)
#else
#define FETCH_GATHERED(k) ((void)last)
#endif

// The rows from start[p] to start[p + 1] per item p; the parts hold about equally many entries. Four partial sums of a row are
// accumulated at once: additions that wait for each other take longer than the memory.
__kernel void mv_csr(ulong rows, __global const uint *start, SCALAR alpha, __global const uint *offset,
                     __global const uint *column, __global const SCALAR *value, __global const SCALAR *x, SCALAR beta,
                     __global SCALAR *y DOTS_ARGUMENTS)
{
    const size_t until = start[get_global_id(0) + 1];
    size_t k = offset[start[get_global_id(0)]];
    const size_t last = max(offset[rows], 1u) - 1;
    START_DOTS(start[get_global_id(0)]);
    for (size_t i = start[get_global_id(0)]; i < until; ++i) {
        const size_t end = offset[i + 1];
        FETCH_AHEAD(value + k);
        FETCH_AHEAD(column + k);
        SCALAR a = SCALAR_ZERO, b = SCALAR_ZERO, c = SCALAR_ZERO, d = SCALAR_ZERO;
        for (; k + 4 <= end; k += 4) {
            FETCH_AHEAD(value + k);
            FETCH_AHEAD(column + k);
            FETCH_GATHERED(k);
            FETCH_GATHERED(k + 1);
            FETCH_GATHERED(k + 2);
            FETCH_GATHERED(k + 3);
            a += entry_mul(value[k], x[column[k]]);
            b += entry_mul(value[k + 1], x[column[k + 1]]);
            c += entry_mul(value[k + 2], x[column[k + 2]]);
            d += entry_mul(value[k + 3], x[column[k + 3]]);
        }
        for (; k < end; ++k) {
            FETCH_GATHERED(k);
            a += entry_mul(value[k], x[column[k]]);
        }
        y[i] = combine_product(alpha, (a + b) + (c + d), beta, ADDEND + i);
        COUNT_DOTS(i + 1);
    }
    LEAVE_DOTS(until);
}

#ifndef SCALAR_COMPLEX
// A row of a run: `width` values at v, which go with x[c[j] + moved].
inline REAL row_of_run(uint width, __global const REAL *v, __global const uint *c, __global const REAL *x, size_t moved)
{
    REAL sum = ZERO;
    for (uint j = 0; j < width; ++j) {
        sum += v[j] * x[c[j] + moved];
    }
    return sum;
}

// Rows of one width, known to the compiler where it is a literal. Gathers across rows are slower than this loop.
#define RUN_OF_ROWS(width)                                              \
    _Pragma("clang loop vectorize(disable)")                            \
    for (size_t moved = 0; moved < count; ++moved) {                    \
        FETCH_AHEAD(v);                                                 \
        const REAL sum = row_of_run(width, v, c, x, moved);             \
        v += width;                                                     \
        out[moved] = combine_product(alpha, sum, beta, addend + moved);         \
    }

// The same for a matrix whose rows come in runs, as those of stencils do: within a run, each row has the columns
// of the previous row shifted by one, so that the columns of a run's first row serve for all. Run r goes from
// run[r] to run[r + 1]; item p starts in run first[p]. Reads 8 B per entry instead of 12.
__kernel void mv_csr_runs(__global const uint *start, __global const uint *first, __global const uint *run,
                          REAL alpha, __global const uint *offset, __global const uint *column,
                          __global const REAL *value, __global const REAL *x, REAL beta,
                          __global REAL *y DOTS_ARGUMENTS)
{
    const size_t last = start[get_global_id(0) + 1];
    size_t i = start[get_global_id(0)];
    START_DOTS(i);
    for (size_t r = first[get_global_id(0)]; i < last; r += i == run[r + 1]) {
        const size_t end = DOTS_END(i, min((size_t)run[r + 1], last));
        const size_t count = end - i;
        const uint width = offset[i + 1] - offset[i];
        __global const REAL *v = value + offset[i];
        __global const uint *c = column + offset[i];
        __global REAL *out = y + i;
        __global const REAL *addend = ADDEND + i;
        switch (width) {
        case 3:
            RUN_OF_ROWS(3)
            break;
        case 5:
            RUN_OF_ROWS(5)
            break;
        case 7:
            RUN_OF_ROWS(7)
            break;
        case 9:
            RUN_OF_ROWS(9)
            break;
        default:
            RUN_OF_ROWS(width)
        }
        i = end;
        COUNT_DOTS(i);
    }
    LEAVE_DOTS(last);
}
#endif
#endif

// The diagonal; zero where no entry is stored. Columns are sorted within a row.
__kernel void diagonal_csr(ulong rows, __global const uint *offset, __global const uint *column,
                           __global const SCALAR *value, __global SCALAR *diagonal)
{
    const size_t i = get_global_id(0);
    if (i < rows) {
        SCALAR found = SCALAR_ZERO;
        const uint end = offset[i + 1];
        for (uint k = offset[i]; k < end; ++k) {
            if (column[k] == i) {
                found = value[k];
            }
        }
        diagonal[i] = found;
    }
}

inline REAL gauss_seidel_row(__global const uint *offset, __global const uint *column, __global const REAL *value,
                             __global const REAL *b, __global const REAL *x, uint i)
{
    REAL sum = b[i];
    REAL diagonal = ZERO;
    const uint end = offset[i + 1];
    for (uint k = offset[i]; k < end; ++k) {
        if (column[k] == i) {
            diagonal = value[k];
        } else {
            sum -= value[k] * x[column[k]];
        }
    }
    return sum / diagonal;
}

// One Gauss-Seidel update of `count` rows from row[first] on, none of which is coupled to another.
#ifndef CPU
__kernel void sweep_csr(ulong first, ulong count, __global const uint *row, __global const uint *offset,
                        __global const uint *column, __global const REAL *value, __global const REAL *b,
                        __global REAL *x)
{
    if (get_global_id(0) < count) {
        const uint i = row[first + get_global_id(0)];
        x[i] = gauss_seidel_row(offset, column, value, b, x, i);
    }
}
#else
__kernel void sweep_csr(ulong first, ulong count, __global const uint *row, __global const uint *offset,
                        __global const uint *column, __global const REAL *value, __global const REAL *b,
                        __global REAL *x)
{
    const size_t end = part_start(count, get_global_id(0) + 1, get_global_size(0));
    for (size_t k = part_start(count, get_global_id(0), get_global_size(0)); k < end; ++k) {
        const uint i = row[first + k];
        x[i] = gauss_seidel_row(offset, column, value, b, x, i);
    }
}
#endif
