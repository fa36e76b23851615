// Products y = alpha A x + beta y with a sparse matrix in compressed rows; beta = 0 never reads y.
//
// Traffic, f64: 12 B per entry, 4 B per row for the offsets, 16 B per row for x and y (24 B where
// beta is not 0), if every element of x comes from memory once.

inline REAL combine(REAL alpha, REAL sum, REAL beta, __global const REAL *y)
{
    return beta == ZERO ? alpha * sum : alpha * sum + beta * *y;
}

// A row per item: short rows.
__kernel void mv_csr_row_gpu(ulong rows, REAL alpha, __global const uint *offset, __global const uint *column,
                             __global const REAL *value, __global const REAL *x, REAL beta, __global REAL *y)
{
    const size_t i = get_global_id(0);
    if (i < rows) {
        REAL sum = ZERO;
        const uint end = offset[i + 1];
        for (uint k = offset[i]; k < end; ++k) {
            sum += value[k] * x[column[k]];
        }
        y[i] = combine(alpha, sum, beta, y + i);
    }
}

#ifdef LANES
// LANES neighbouring items per row, a power of two: long rows.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mv_csr_lanes_gpu(ulong rows, REAL alpha, __global const uint *offset, __global const uint *column,
                 __global const REAL *value, __global const REAL *x, REAL beta, __global REAL *y)
{
    __local REAL shared[LOCAL];
    const uint item = (uint)get_local_id(0);
    const uint lane = item % LANES;
    const size_t i = get_global_id(0) / LANES;
    REAL sum = ZERO;
    if (i < rows) {
        const uint end = offset[i + 1];
        // 64 bit: lanes past the end of the last row must not wrap around.
        for (ulong k = (ulong)offset[i] + lane; k < end; k += LANES) {
            sum += value[k] * x[column[k]];
        }
    }
    shared[item] = sum;
    for (uint width = LANES / 2; width > 0; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < width) {
            shared[item] += shared[item + width];
        }
    }
    if (lane == 0 && i < rows) {
        y[i] = combine(alpha, shared[item], beta, y + i);
    }
}
#endif

// The rows from start[p] to start[p + 1] per item p; the parts hold about equally many entries.
__kernel void mv_csr_cpu(__global const uint *start, REAL alpha, __global const uint *offset,
                         __global const uint *column, __global const REAL *value, __global const REAL *x, REAL beta,
                         __global REAL *y)
{
    const uint last = start[get_global_id(0) + 1];
    uint k = offset[start[get_global_id(0)]];
    for (uint i = start[get_global_id(0)]; i < last; ++i) {
        const uint end = offset[i + 1];
        REAL sum = ZERO;
        for (; k < end; ++k) {
            sum += value[k] * x[column[k]];
        }
        y[i] = combine(alpha, sum, beta, y + i);
    }
}

// The diagonal; zero where no entry is stored. Columns are sorted within a row.
__kernel void diagonal_csr(ulong rows, __global const uint *offset, __global const uint *column,
                           __global const REAL *value, __global REAL *diagonal)
{
    const size_t i = get_global_id(0);
    if (i < rows) {
        REAL found = ZERO;
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
__kernel void sweep_csr_gpu(ulong first, ulong count, __global const uint *row, __global const uint *offset,
                            __global const uint *column, __global const REAL *value, __global const REAL *b,
                            __global REAL *x)
{
    if (get_global_id(0) < count) {
        const uint i = row[first + get_global_id(0)];
        x[i] = gauss_seidel_row(offset, column, value, b, x, i);
    }
}

__kernel void sweep_csr_cpu(ulong first, ulong count, __global const uint *row, __global const uint *offset,
                            __global const uint *column, __global const REAL *value, __global const REAL *b,
                            __global REAL *x)
{
    const size_t end = part_start(count, get_global_id(0) + 1, get_global_size(0));
    for (size_t k = part_start(count, get_global_id(0), get_global_size(0)); k < end; ++k) {
        const uint i = row[first + k];
        x[i] = gauss_seidel_row(offset, column, value, b, x, i);
    }
}
