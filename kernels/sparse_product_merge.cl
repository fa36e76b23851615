// Products of sparse matrices on GPUs: short rows, each merged by a work-item from few rows of B.
//
// Traffic: as sparse_product.cl.
//@ build
//@ build SCALAR_COMPLEX=1
//@ one_program
#include "sparse.clh"
#include "sparse_product.clh"

// Rows of B that a work-item merges.
#define LISTS 8

// flag[i] = 1 for rows of C with at most `most` entries whose row of A has at most LISTS; rest[i] = 0 for them,
// count[i] for others.
__kernel void flag_merged(ulong rows, uint most, __global const uint *a_offset, __global const uint *count,
                          __global uint *flag, __global uint *rest)
{
    FOR_EACH(i, rows)
    {
        const bool is_merged = a_offset[i + 1] - a_offset[i] <= LISTS && count[i] <= most;
        flag[i] = is_merged && count[i] > 0;
        rest[i] = is_merged ? 0 : count[i];
    }
}

// The listed rows of C, each merged by a work-item from at most LISTS rows of B, whose columns ascend.
__kernel void merge_product(uint listed, __global const uint *list, __global const uint *a_offset,
                            __global const uint *a_column, __global const SCALAR *a_value,
                            __global const uint *b_offset, __global const uint *b_column,
                            __global const SCALAR *b_value, __global const uint *offset, __global uint *column,
                            __global SCALAR *value)
{
    if (get_global_id(0) >= listed) {
        return;
    }
    const uint i = list[get_global_id(0)], start = a_offset[i], length = a_offset[i + 1] - start;
    uint head[LISTS], at[LISTS], end[LISTS];
    SCALAR factor[LISTS];
#pragma unroll
    for (uint s = 0; s < LISTS; ++s) {
        const uint j = s < length ? a_column[start + s] : 0;
        at[s] = s < length ? b_offset[j] : 0;
        end[s] = s < length ? b_offset[j + 1] : 0;
        factor[s] = s < length ? a_value[start + s] : SCALAR_ZERO;
        head[s] = at[s] < end[s] ? b_column[at[s]] : NONE;
    }
    for (size_t to = offset[i];; ++to) {
        uint first = NONE;
#pragma unroll
        for (uint s = 0; s < LISTS; ++s) {
            first = min(first, head[s]);
        }
        if (first == NONE) {
            break;
        }
        SCALAR sum = SCALAR_ZERO;
#pragma unroll
        for (uint s = 0; s < LISTS; ++s) {
            if (head[s] == first) {
                sum += scalar_mul(factor[s], b_value[at[s]]);
                ++at[s];
                head[s] = at[s] < end[s] ? b_column[at[s]] : NONE;
            }
        }
        column[to] = first;
        value[to] = sum;
    }
}
