// Classical Gram-Schmidt, several vectors of the basis at once, with the coefficients in the memory of the device.
//
// Traffic per row and vector, f64: dot_basis 9 B, subtract_basis 10 B, normalise_vector 16 B.
//@ build
//@ build WIDTH=2
//@ build WIDTH=4
//@ build CPU=1
//@ one_program
#include "common.clh"
#include "reduce.clh"
#include "wide.clh"
#include "krylov.clh"
#include "gram_schmidt.clh"

// 0 for the square of a norm that is zero or NaN: what follows an exhausted space is zero, and not looked at.
inline REAL inverse_root(REAL square)
{
    return square > ZERO ? ONE / sqrt(square) : ZERO;
}

#ifndef CPU
// The dot products of w with `count` of the vectors, a part per work-group; those of vector q follow `first + q` times
// as many as there are groups.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
dot_basis(ulong n, uint first, uint count, BASIS(REAL), __global const REAL *w, __global REAL *partial)
{
    __local REAL shared[LOCAL];
    const uint lane = (uint)get_local_id(0);
    __global const REAL *basis[VECTORS] = BASIS_ARRAY;
    REALW sums[VECTORS];
#pragma unroll
    for (uint q = 0; q < VECTORS; ++q) {
        sums[q] = (REALW)ZERO;
    }
    const size_t wide = n / WIDTH;
    for (size_t i = get_global_id(0); i < wide; i += get_global_size(0)) {
        const REALW own = LOADW(w, i);
#pragma unroll
        for (uint q = 0; q < VECTORS; ++q) {
            if (q < count) {
                sums[q] += own * LOADW(basis[q], i);
            }
        }
    }
    const size_t rest = wide * WIDTH + get_global_id(0);
    for (uint q = 0; q < count; ++q) {
        barrier(CLK_LOCAL_MEM_FENCE);
        // Constant places alone keep the sums in registers.
        REAL own = ZERO;
#pragma unroll
        for (uint k = 0; k < VECTORS; ++k) {
            if (k == q) {
                own = SUM_LANES(sums[k]) + (rest < n ? w[rest] * basis[k][rest] : ZERO);
            }
        }
        shared[lane] = own;
        SUM_TREES(shared, 1, lane);
        if (lane == 0) {
            partial[(first + q) * get_num_groups(0) + get_group_id(0)] = shared[0];
        }
    }
}

// Joins `parts` parts of as many sums as there are work-groups, from `to` on.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
join_dots(uint parts, __global const REAL *partial, uint to, __global REAL *number)
{
    __local REAL shared[LOCAL];
    const uint lane = (uint)get_local_id(0);
    shared[lane] = lane_sum(partial + get_group_id(0) * (size_t)parts, parts, lane);
    SUM_TREES(shared, 1, lane);
    if (lane == 0) {
        number[to + get_group_id(0)] = shared[0];
    }
}

// w divided by the root of number[at].
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
normalise_vector(ulong n, __global const REAL *number, uint at, __global REAL *w)
{
    const REAL factor = inverse_root(number[at]);
    const size_t wide = n / WIDTH;
    for (size_t i = get_global_id(0); i < wide; i += get_global_size(0)) {
        STOREW(factor * LOADW(w, i), w, i);
    }
    const size_t i = wide * WIDTH + get_global_id(0);
    if (i < n) {
        w[i] *= factor;
    }
}

// w -= sum of number[from + q] times vector q over `count` of the vectors, and the square of the new w in a part per
// work-group.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
subtract_basis(ulong n, uint from, uint count, BASIS(REAL), __global const REAL *number, __global REAL *w,
               __global REAL *partial)
{
    __local REAL shared[LOCAL];
    const uint lane = (uint)get_local_id(0);
    __global const REAL *basis[VECTORS] = BASIS_ARRAY;
    __local REAL factor[VECTORS];
    if (lane < count) {
        factor[lane] = number[from + lane];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    REALW squares = (REALW)ZERO;
    const size_t wide = n / WIDTH;
    for (size_t i = get_global_id(0); i < wide; i += get_global_size(0)) {
        REALW own = LOADW(w, i);
#pragma unroll
        for (uint q = 0; q < VECTORS; ++q) {
            if (q < count) {
                own -= factor[q] * LOADW(basis[q], i);
            }
        }
        STOREW(own, w, i);
        squares += own * own;
    }
    REAL square = SUM_LANES(squares);
    const size_t i = wide * WIDTH + get_global_id(0);
    if (i < n) {
        REAL own = w[i];
#pragma unroll
        for (uint q = 0; q < VECTORS; ++q) {
            if (q < count) {
                own -= factor[q] * basis[q][i];
            }
        }
        w[i] = own;
        square += own * own;
    }
    shared[lane] = square;
    SUM_TREES(shared, 1, lane);
    if (lane == 0) {
        partial[get_group_id(0)] = shared[0];
    }
}
#else
__kernel void dot_basis(ulong n, uint first, uint count, BASIS(REAL), __global const REAL *w, __global REAL *partial)
{
    __global const REAL *basis[VECTORS] = BASIS_ARRAY;
    const size_t end = part_start(n, get_global_id(0) + 1, get_global_size(0));
    REAL total[VECTORS] = {ZERO};
    // A block of w stays in the first cache while the vectors pass by.
    for (size_t block = part_start(n, get_global_id(0), get_global_size(0)); block < end; block += 1024) {
        const size_t stop = min(block + 1024, end);
        for (uint q = 0; q < count; ++q) {
            __global const REAL *v = basis[q];
            REAL8 sum = (REAL8)ZERO;
            size_t i = block;
            for (; i + 8 <= stop; i += 8) {
                sum += vload8(0, v + i) * vload8(0, w + i);
            }
            REAL rest = sum_lanes(sum);
            for (; i < stop; ++i) {
                rest += v[i] * w[i];
            }
            total[q] += rest;
        }
    }
    for (uint q = 0; q < count; ++q) {
        partial[(first + q) * get_global_size(0) + get_global_id(0)] = total[q];
    }
}

__kernel void join_dots(uint parts, __global const REAL *partial, uint to, __global REAL *number)
{
    number[to + get_global_id(0)] = sum_parts(partial + get_global_id(0) * parts, parts);
}

__kernel void normalise_vector(ulong n, __global const REAL *number, uint at, __global REAL *w)
{
    const REAL factor = inverse_root(number[at]);
    const size_t end = part_start(n, get_global_id(0) + 1, get_global_size(0));
    size_t i = part_start(n, get_global_id(0), get_global_size(0));
    for (; i + 8 <= end; i += 8) {
        vstore8(factor * vload8(0, w + i), 0, w + i);
    }
    for (; i < end; ++i) {
        w[i] *= factor;
    }
}

__kernel void subtract_basis(ulong n, uint from, uint count, BASIS(REAL), __global const REAL *number, __global REAL *w,
                             __global REAL *partial)
{
    __global const REAL *basis[VECTORS] = BASIS_ARRAY;
    const size_t end = part_start(n, get_global_id(0) + 1, get_global_size(0));
    REAL total = ZERO;
    for (size_t block = part_start(n, get_global_id(0), get_global_size(0)); block < end; block += 1024) {
        const size_t stop = min(block + 1024, end);
        for (uint q = 0; q < count; ++q) {
            __global const REAL *v = basis[q];
            const REAL factor = number[from + q];
            size_t i = block;
            for (; i + 8 <= stop; i += 8) {
                vstore8(vload8(0, w + i) - factor * vload8(0, v + i), 0, w + i);
            }
            for (; i < stop; ++i) {
                w[i] -= factor * v[i];
            }
        }
        REAL8 sum = (REAL8)ZERO;
        size_t i = block;
        for (; i + 8 <= stop; i += 8) {
            const REAL8 value = vload8(0, w + i);
            sum += value * value;
        }
        REAL rest = sum_lanes(sum);
        for (; i < stop; ++i) {
            rest += w[i] * w[i];
        }
        total += rest;
    }
    partial[get_global_id(0)] = total;
}
#endif
