// Classical Gram-Schmidt for complex vectors, several vectors of the basis at once, with the coefficients in the memory
// of the device: what dot_basis, join_dots and subtract_basis of gram_schmidt.cl are for reals.
//
// Traffic per row and vector, complex f64: dot_basis_scalars 18 B, subtract_basis_scalars 20 B.
//@ build SCALAR_COMPLEX=1
//@ build SCALAR_COMPLEX=1 CPU=1
#include "common.clh"
#include "reduce.clh"
#include "scalar.clh"
#include "gram_schmidt.clh"

#ifdef CPU
// The products of the conjugate of each of `count` vectors with w, a part per item; those of vector q follow `first +
// q` times as many as there are items.
__kernel void dot_basis_scalars(ulong n, uint first, uint count, BASIS(SCALAR), __global const SCALAR *w,
                                __global SCALAR *partial)
{
    __global const SCALAR *basis[VECTORS] = BASIS_ARRAY;
    const size_t begin = part_start(n, get_global_id(0), get_global_size(0));
    const size_t end = part_start(n, get_global_id(0) + 1, get_global_size(0));
    SCALAR total[VECTORS] = {SCALAR_ZERO};
    // A block of w stays in the first cache while the vectors pass by.
    for (size_t block = begin; block < end; block += 512) {
        const size_t stop = min(block + 512, end);
        for (uint q = 0; q < count; ++q) {
            __global const SCALAR *v = basis[q];
            SCALAR sum = SCALAR_ZERO;
            for (size_t i = block; i < stop; ++i) {
                sum += scalar_mul_conj(v[i], w[i]);
            }
            total[q] += sum;
        }
    }
    for (uint q = 0; q < count; ++q) {
        partial[(first + q) * get_global_size(0) + get_global_id(0)] = total[q];
    }
}

// Joins `parts` parts of as many sums as there are items, from `to` on.
__kernel void join_dots_scalars(uint parts, __global const SCALAR *partial, uint to, __global SCALAR *number)
{
    __global const SCALAR *own = partial + get_global_id(0) * parts;
    SCALAR sum = SCALAR_ZERO;
    for (uint k = 0; k < parts; ++k) {
        sum += own[k];
    }
    number[to + get_global_id(0)] = sum;
}

// w -= sum of number[from + q] times vector q over `count` of the vectors, and the square of the new w in a part per
// item.
__kernel void subtract_basis_scalars(ulong n, uint from, uint count, BASIS(SCALAR), __global const SCALAR *number,
                                     __global SCALAR *w, __global SCALAR *partial)
{
    __global const SCALAR *basis[VECTORS] = BASIS_ARRAY;
    const size_t begin = part_start(n, get_global_id(0), get_global_size(0));
    const size_t end = part_start(n, get_global_id(0) + 1, get_global_size(0));
    REAL total = ZERO;
    for (size_t block = begin; block < end; block += 512) {
        const size_t stop = min(block + 512, end);
        for (uint q = 0; q < count; ++q) {
            __global const SCALAR *v = basis[q];
            const SCALAR factor = number[from + q];
            for (size_t i = block; i < stop; ++i) {
                w[i] -= scalar_mul(factor, v[i]);
            }
        }
        REAL sum = ZERO;
        for (size_t i = block; i < stop; ++i) {
            sum += scalar_abs2(w[i]);
        }
        total += sum;
    }
    partial[get_global_id(0)] = scalar_from_real(total);
}
#else
// The sum over the work-group goes to shared[0], by a tree whose order is always the same.
#define SUM_SCALARS(shared, lane)                                                                                      \
    for (uint half_size = LOCAL / 2; half_size > 0; half_size /= 2) {                                                  \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                  \
        if (lane < half_size) {                                                                                        \
            shared[lane] += shared[lane + half_size];                                                                  \
        }                                                                                                              \
    }

// The products of the conjugate of each of `count` vectors with w, a part per work-group; those of vector q follow
// `first + q` times as many as there are groups.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
dot_basis_scalars(ulong n, uint first, uint count, BASIS(SCALAR), __global const SCALAR *w, __global SCALAR *partial)
{
    __local SCALAR shared[LOCAL];
    const uint lane = (uint)get_local_id(0);
    __global const SCALAR *basis[VECTORS] = BASIS_ARRAY;
    SCALAR sums[VECTORS];
#pragma unroll
    for (uint q = 0; q < VECTORS; ++q) {
        sums[q] = SCALAR_ZERO;
    }
    for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) {
        const SCALAR own = w[i];
#pragma unroll
        for (uint q = 0; q < VECTORS; ++q) {
            if (q < count) {
                sums[q] += scalar_mul_conj(basis[q][i], own);
            }
        }
    }
    for (uint q = 0; q < count; ++q) {
        barrier(CLK_LOCAL_MEM_FENCE);
        // Constant places alone keep the sums in registers.
        SCALAR own = SCALAR_ZERO;
#pragma unroll
        for (uint k = 0; k < VECTORS; ++k) {
            if (k == q) {
                own = sums[k];
            }
        }
        shared[lane] = own;
        SUM_SCALARS(shared, lane);
        if (lane == 0) {
            partial[(first + q) * get_num_groups(0) + get_group_id(0)] = shared[0];
        }
    }
}

// Joins `parts` parts of as many sums as there are work-groups, from `to` on.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
join_dots_scalars(uint parts, __global const SCALAR *partial, uint to, __global SCALAR *number)
{
    __local SCALAR shared[LOCAL];
    const uint lane = (uint)get_local_id(0);
    __global const SCALAR *own = partial + get_group_id(0) * (size_t)parts;
    SCALAR sum = SCALAR_ZERO;
    for (uint k = lane; k < parts; k += LOCAL) {
        sum += own[k];
    }
    shared[lane] = sum;
    SUM_SCALARS(shared, lane);
    if (lane == 0) {
        number[to + get_group_id(0)] = shared[0];
    }
}

// w -= sum of number[from + q] times vector q over `count` of the vectors, and the square of the new w in a part per
// work-group.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
subtract_basis_scalars(ulong n, uint from, uint count, BASIS(SCALAR), __global const SCALAR *number, __global SCALAR *w,
                       __global SCALAR *partial)
{
    __local SCALAR shared[LOCAL];
    const uint lane = (uint)get_local_id(0);
    __global const SCALAR *basis[VECTORS] = BASIS_ARRAY;
    __local SCALAR factor[VECTORS];
    if (lane < count) {
        factor[lane] = number[from + lane];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    REAL square = ZERO;
    for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) {
        SCALAR own = w[i];
#pragma unroll
        for (uint q = 0; q < VECTORS; ++q) {
            if (q < count) {
                own -= scalar_mul(factor[q], basis[q][i]);
            }
        }
        w[i] = own;
        square += scalar_abs2(own);
    }
    shared[lane] = scalar_from_real(square);
    SUM_SCALARS(shared, lane);
    if (lane == 0) {
        partial[get_group_id(0)] = shared[0];
    }
}
#endif
