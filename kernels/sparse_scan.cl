// Counts to offsets: offset[i] = count[0] + ... + count[i - 1]. Integers only; built in single precision.
//
// Traffic: 12 B per count. GPUs: a tile of TILE counts per work-group; CPUs: a part per item.
//@ build
//@ build CPU=1
#include "sparse.clh"

#ifdef CPU
// part[p] = the sum of part p of the counts.
__kernel void sum_counts(ulong n, __global const uint *count, __global ulong *part)
{
    ulong sum = 0;
    FOR_EACH(i, n)
    {
        sum += count[i];
    }
    part[get_global_id(0)] = sum;
}

// part[p] = the sum of the parts before, in place; part[parts] = that of all.
__kernel void scan_sums(ulong parts, __global ulong *part)
{
    ulong sum = 0;
    for (size_t p = 0; p < parts; ++p) {
        const ulong own = part[p];
        part[p] = sum;
        sum += own;
    }
    part[parts] = sum;
}

__kernel void scan_counts(ulong n, __global const ulong *part, __global const uint *count, __global uint *offset)
{
    ulong sum = part[get_global_id(0)];
    FOR_EACH(i, n)
    {
        offset[i] = (uint)sum;
        sum += count[i];
    }
    if (get_global_id(0) + 1 == get_global_size(0)) {
        offset[n] = (uint)sum;
    }
}
#else
// Consecutive counts of an item, and of a work-group.
#define EACH 8
#define TILE (EACH * LOCAL)

// shared[lane] = the sum of shared[0] ... shared[lane] (Hillis and Steele 1986).
#define SCAN_LANES(shared, lane)                                                                         \
    for (uint width = 1; width < LOCAL; width *= 2) {                                                    \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                    \
        const ulong before = lane >= width ? shared[lane - width] : 0;                                   \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                    \
        shared[lane] += before;                                                                          \
    }                                                                                                    \
    barrier(CLK_LOCAL_MEM_FENCE);

__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
sum_counts(ulong n, __global const uint *count, __global ulong *part)
{
    __local ulong shared[LOCAL];
    const uint lane = (uint)get_local_id(0);
    ulong sum = 0;
    for (uint k = 0; k < EACH; ++k) {
        const size_t i = get_group_id(0) * TILE + k * LOCAL + lane;
        sum += i < n ? count[i] : 0;
    }
    shared[lane] = sum;
    SCAN_LANES(shared, lane);
    if (lane == LOCAL - 1) {
        part[get_group_id(0)] = shared[lane];
    }
}

// One work-group.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void scan_sums(ulong parts, __global ulong *part)
{
    __local ulong shared[LOCAL];
    const uint lane = (uint)get_local_id(0);
    ulong all = 0;
    for (ulong first = 0; first < parts; first += LOCAL) {
        const ulong own = first + lane < parts ? part[first + lane] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        shared[lane] = own;
        SCAN_LANES(shared, lane);
        if (first + lane < parts) {
            part[first + lane] = all + shared[lane] - own;
        }
        all += shared[LOCAL - 1];
    }
    if (lane == 0) {
        part[parts] = all;
    }
}

__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
scan_counts(ulong n, __global const ulong *part, __global const uint *count, __global uint *offset)
{
    __local ulong shared[LOCAL];
    const uint lane = (uint)get_local_id(0);
    const size_t start = get_group_id(0) * TILE + lane * EACH;
    uint own[EACH];
    ulong sum = 0;
    for (uint k = 0; k < EACH; ++k) {
        own[k] = start + k < n ? count[start + k] : 0;
        sum += own[k];
    }
    shared[lane] = sum;
    SCAN_LANES(shared, lane);
    ulong at = part[get_group_id(0)] + shared[lane] - sum;
    for (uint k = 0; k < EACH; ++k) {
        if (start + k < n) {
            offset[start + k] = (uint)at;
            at += own[k];
            if (start + k + 1 == n) {
                offset[n] = (uint)at;
            }
        }
    }
}
#endif
