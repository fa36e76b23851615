// The product y = A x of conjugate gradients on GPUs with a sparse matrix in compressed rows, and x'y in the same pass.
//
// Traffic: as mv_csr (csr.cl).
//@ build
//@ build ROWS=8
#include "common.clh"
#include "reduce.clh"

// Rows that an item of a product has under way.
#ifndef ROWS
#define ROWS 4
#endif

// y = A x with a row per item, and x'y in a part per work-group, which has `row_tiles` tiles of ROWS * LOCAL rows.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mv_csr_row_dot(ulong rows, uint row_tiles, __global const uint *offset, __global const uint *column,
               __global const REAL *value, __global const REAL *x, __global REAL *y, __global REAL *partial)
{
    __local REAL shared[LOCAL];
    const uint lane = (uint)get_local_id(0);
    size_t i = get_group_id(0) * (size_t)row_tiles * (ROWS * LOCAL) + lane;
    REAL dot = ZERO;
    for (uint tile = 0; tile < row_tiles; ++tile) {
        for (uint row = 0; row < ROWS; ++row, i += LOCAL) {
            if (i < rows) {
                REAL sum = ZERO;
                const uint end = offset[i + 1];
                for (uint k = offset[i]; k < end; ++k) {
                    sum += value[k] * x[column[k]];
                }
                y[i] = sum;
                dot += sum * x[i];
            }
        }
    }
    shared[lane] = dot;
    SUM_TREES(shared, 1, lane);
    if (lane == 0) {
        partial[get_group_id(0)] = shared[0];
    }
}
