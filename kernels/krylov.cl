// One iteration of conjugate gradients in three launches (four with a preconditioner, besides its own), the scalars in
// the memory of the device: a product that leaves p'Ap in parts, `cg_residual`, `cg_direction`. Every work-group
// of a GPU or item of a CPU joins the parts that the launch before left, all in the same order, so that no launch is spent on that
// and the bits are the same each time.
//
// Traffic per row, f64: mv_csr_row_dot as mv_csr_row; cg_residual 24 B, cg_direction 40 B, with a preconditioner too.
//
// One of BiCGStab in five launches (seven with a preconditioner, besides its own) in the same way: a product with two dot
// products, `bicgstab_half`, another such product, `bicgstab_whole`, `bicgstab_direction`. Traffic per row, f64: 24 B, 64 B and
// 32 B; with a preconditioner 24 B, 72 B and 32 B.
//
// GMRES: classical Gram-Schmidt, several vectors of the basis at once, with the coefficients in the memory of the device.
// Traffic per row and vector, f64: dot_basis 9 B, subtract_basis 10 B, normalise_vector 16 B.
//
// What an iteration starts from and finds out stands in a row of numbers of its own; a launch writes only places that
// no work-group of the same launch reads.
//@ build
//@ build WIDTH=2 ROWS=8
//@ build WIDTH=4
//@ build CPU=1
#include "common.clh"
#include "krylov.clh"
#include "reduce.clh"
#include "wide.clh"

// Vectors of a basis that a launch takes at once.
#define VECTORS 8
#define BASIS                                                                                                          \
    __global const REAL *v0, __global const REAL *v1, __global const REAL *v2, __global const REAL *v3,                \
        __global const REAL *v4, __global const REAL *v5, __global const REAL *v6, __global const REAL *v7
#define BASIS_ARRAY {v0, v1, v2, v3, v4, v5, v6, v7}

// 0 for the square of a norm that is zero or NaN: what follows an exhausted space is zero, and not looked at.
inline REAL inverse_root(REAL square)
{
    return square > ZERO ? ONE / sqrt(square) : ZERO;
}

#ifndef CPU
#if WIDTH == 1
#define SUM_LANES(v) (v)
#elif WIDTH == 2
#define SUM_LANES(v) ((v).s0 + (v).s1)
#else
#define SUM_LANES(v) (((v).s0 + (v).s1) + ((v).s2 + (v).s3))
#endif

// Reads that an item has under way.
#define ITEMS 4

// The sum of parts[k] over k = lane, lane + LOCAL, ...
inline REAL lane_sum(__global const REAL *parts, uint count, uint lane)
{
    REAL sum = ZERO;
    for (uint k = lane; k < count; k += LOCAL) {
        sum += parts[k];
    }
    return sum;
}

// Rows that an item of a product has under way.
#ifndef ROWS
#define ROWS 4
#endif

// y = A x with a row per item, `turns` times ROWS rows in turn, and x'y in a part per work-group.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
mv_csr_row_dot(ulong rows, uint turns, __global const uint *offset, __global const uint *column,
               __global const REAL *value, __global const REAL *x, __global REAL *y, __global REAL *partial)
{
    __local REAL shared[LOCAL];
    const uint lane = (uint)get_local_id(0);
    size_t i = get_group_id(0) * (size_t)turns * (ROWS * LOCAL) + lane;
    REAL dot = ZERO;
    for (uint turn = 0; turn < turns; ++turn) {
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

// r -= step q, and r'r of the new r in a part per work-group. `dots` holds p'Ap in `count` parts.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
cg_residual(ulong n, uint count, __global const REAL *dots, __global REAL *rows, uint at, REAL unsound,
            __global const REAL *q, __global REAL *r, __global REAL *partial)
{
    __local REAL shared[LOCAL];
    const uint lane = (uint)get_local_id(0);
    shared[lane] = lane_sum(dots, count, lane);
    SUM_TREES(shared, 1, lane);
    barrier(CLK_LOCAL_MEM_FENCE);
    const REAL curvature = shared[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    __global REAL *row = rows + at * NUMBERS;
    const REAL step = step_length(row, curvature, unsound);
    if (get_global_id(0) == 0) {
        row[CURVATURE] = curvature;
    }
    REALW sums = (REALW)ZERO;
    const size_t end = step == ZERO ? 0 : n;
    const size_t wide = end / WIDTH;
    for (size_t i = get_global_id(0); i < wide; i += get_global_size(0)) {
        const REALW value = LOADW(r, i) - step * LOADW(q, i);
        STOREW(value, r, i);
        sums += value * value;
    }
    REAL sum = SUM_LANES(sums);
    for (size_t i = wide * WIDTH + get_global_id(0); i < end; i += get_global_size(0)) {
        const REAL value = r[i] - step * q[i];
        r[i] = value;
        sum += value * value;
    }
    shared[lane] = sum;
    SUM_TREES(shared, 1, lane);
    if (lane == 0) {
        partial[get_group_id(0)] = shared[0];
    }
}

// x += unit step p, p = z + rho'/rho p. `squares` holds the new r'r in `count` parts, `rhos` the new r'z in `rho_count`.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
cg_direction(ulong n, uint count, __global const REAL *squares, uint rho_count, __global const REAL *rhos,
             __global REAL *rows, uint at, uint next, REAL unsound, REAL low, REAL high, REAL unit,
             __global const REAL *z, __global REAL *x, __global REAL *p)
{
    __local REAL shared[2 * LOCAL];
    const uint lane = (uint)get_local_id(0);
    shared[lane] = lane_sum(squares, count, lane);
    shared[LOCAL + lane] = lane_sum(rhos, rho_count, lane);
    SUM_TREES(shared, 2, lane);
    barrier(CLK_LOCAL_MEM_FENCE);
    __global REAL *row = rows + at * NUMBERS;
    const REAL step = step_length(row, row[CURVATURE], unsound);
    const REAL rho = shared[LOCAL];
    if (get_global_id(0) == 0) {
        next_row(row, rows + next * NUMBERS, step, shared[0], rho, low, high);
    }
    if (step != ZERO) {
        const REAL beta = rho / row[RHO];
        const REAL far = unit * step;
        const size_t wide = n / WIDTH;
        size_t i = get_group_id(0) * (size_t)(ITEMS * LOCAL) + lane;
        const size_t skip = (get_num_groups(0) - 1) * (size_t)(ITEMS * LOCAL);
        for (; i < wide; i += skip) {
            for (uint item = 0; item < ITEMS; ++item, i += LOCAL) {
                if (i < wide) {
                    const REALW direction = LOADW(p, i);
                    STOREW(LOADW(x, i) + far * direction, x, i);
                    STOREW(LOADW(z, i) + beta * direction, p, i);
                }
            }
        }
        for (i = wide * WIDTH + get_global_id(0); i < n; i += get_global_size(0)) {
            x[i] += far * p[i];
            p[i] = z[i] + beta * p[i];
        }
    }
}

// r -= alpha v, and r'r of the new r in a part per work-group. `dots` holds the shadow's product with v, then v'v, in `count`
// parts each, `lengths` p'p in `length_count`.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
bicgstab_half(ulong n, uint count, __global const REAL *dots, uint length_count, __global const REAL *lengths,
              __global REAL *rows, uint at, REAL unsound, REAL shadow, __global const REAL *v, __global REAL *r,
              __global REAL *partial)
{
    __local REAL shared[3 * LOCAL];
    const uint lane = (uint)get_local_id(0);
    shared[lane] = lane_sum(dots, count, lane);
    shared[LOCAL + lane] = lane_sum(dots + count, count, lane);
    shared[2 * LOCAL + lane] = lane_sum(lengths, length_count, lane);
    SUM_TREES(shared, 3, lane);
    barrier(CLK_LOCAL_MEM_FENCE);
    const REAL sigma = shared[0], square = shared[LOCAL], length = shared[2 * LOCAL];
    barrier(CLK_LOCAL_MEM_FENCE);
    __global REAL *row = rows + at * BI_NUMBERS;
    const REAL alpha = half_step(row, sigma, square, length, unsound, shadow);
    if (get_global_id(0) == 0) {
        row[BI_SIGMA] = sigma;
        row[BI_SQUARE] = square;
        row[BI_LENGTH] = length;
    }
    REALW sums = (REALW)ZERO;
    const size_t end = alpha == ZERO ? 0 : n;
    const size_t wide = end / WIDTH;
    for (size_t i = get_global_id(0); i < wide; i += get_global_size(0)) {
        const REALW value = LOADW(r, i) - alpha * LOADW(v, i);
        STOREW(value, r, i);
        sums += value * value;
    }
    REAL sum = SUM_LANES(sums);
    for (size_t i = wide * WIDTH + get_global_id(0); i < end; i += get_global_size(0)) {
        const REAL value = r[i] - alpha * v[i];
        r[i] = value;
        sum += value * value;
    }
    shared[lane] = sum;
    SUM_TREES(shared, 1, lane);
    if (lane == 0) {
        partial[get_group_id(0)] = shared[0];
    }
}

// x += unit (alpha y + omega z), r -= omega t; the shadow's product with the new r and r'r in a part of each per work-group.
// `halves` holds r'r in `half_count` parts, `dots` t'r and t't in `count` each; z may be r.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
bicgstab_whole(ulong n, uint half_count, __global const REAL *halves, uint count, __global const REAL *dots,
               __global REAL *rows, uint at, REAL unsound, REAL shadow, REAL low, REAL unit,
               __global const REAL *y, __global const REAL *z, __global const REAL *t,
               __global const REAL *shadows, __global REAL *x, __global REAL *r, __global REAL *partial)
{
    __local REAL shared[3 * LOCAL];
    const uint lane = (uint)get_local_id(0);
    shared[lane] = lane_sum(halves, half_count, lane);
    shared[LOCAL + lane] = lane_sum(dots, count, lane);
    shared[2 * LOCAL + lane] = lane_sum(dots + count, count, lane);
    SUM_TREES(shared, 3, lane);
    barrier(CLK_LOCAL_MEM_FENCE);
    const REAL half_squares = shared[0], mixed = shared[LOCAL], square = shared[2 * LOCAL];
    barrier(CLK_LOCAL_MEM_FENCE);
    __global REAL *row = rows + at * BI_NUMBERS;
    const REAL alpha = half_step(row, row[BI_SIGMA], row[BI_SQUARE], row[BI_LENGTH], unsound, shadow);
    const REAL omega = whole_step(alpha, half_squares, mixed, square, unsound, low);
    if (get_global_id(0) == 0) {
        row[BI_HALF] = half_squares;
        row[BI_MIXED] = mixed;
        row[BI_OTHER] = square;
    }
    const REAL far = unit * alpha, farther = unit * omega;
    // What a step that is not made would read may not be finite.
    if (omega == ZERO) {
        z = y;
        t = y;
    }
    REALW rhos = (REALW)ZERO, squares = rhos;
    const size_t end = alpha == ZERO ? 0 : n;
    const size_t wide = end / WIDTH;
    for (size_t i = get_global_id(0); i < wide; i += get_global_size(0)) {
        const REALW step = far * LOADW(y, i) + farther * LOADW(z, i);
        const REALW value = LOADW(r, i) - omega * LOADW(t, i);
        STOREW(LOADW(x, i) + step, x, i);
        STOREW(value, r, i);
        rhos += value * LOADW(shadows, i);
        squares += value * value;
    }
    REAL rho = SUM_LANES(rhos), sum = SUM_LANES(squares);
    for (size_t i = wide * WIDTH + get_global_id(0); i < end; i += get_global_size(0)) {
        const REAL value = r[i] - omega * t[i];
        x[i] += far * y[i] + farther * z[i];
        r[i] = value;
        rho += value * shadows[i];
        sum += value * value;
    }
    shared[lane] = rho;
    shared[LOCAL + lane] = sum;
    SUM_TREES(shared, 2, lane);
    if (lane == 0) {
        partial[get_group_id(0)] = shared[0];
        partial[get_num_groups(0) + get_group_id(0)] = shared[LOCAL];
    }
}

// p = r + beta (p - omega v), and p'p of the new p in a part per work-group. `dots` holds the shadow's product with r, then
// r'r, in `count` parts each.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
bicgstab_direction(ulong n, uint count, __global const REAL *dots, __global REAL *rows, uint at, uint next,
                   REAL unsound, REAL shadow, REAL low, REAL high, __global const REAL *r,
                   __global const REAL *v, __global REAL *p, __global REAL *partial)
{
    __local REAL shared[2 * LOCAL];
    const uint lane = (uint)get_local_id(0);
    shared[lane] = lane_sum(dots, count, lane);
    shared[LOCAL + lane] = lane_sum(dots + count, count, lane);
    SUM_TREES(shared, 2, lane);
    barrier(CLK_LOCAL_MEM_FENCE);
    const REAL rho = shared[0], squares = shared[LOCAL];
    barrier(CLK_LOCAL_MEM_FENCE);
    __global REAL *row = rows + at * BI_NUMBERS;
    const REAL2 steps = both_steps(row, unsound, shadow, low);
    if (get_global_id(0) == 0) {
        next_bicgstab_row(row, rows + next * BI_NUMBERS, steps, squares, rho, unsound, shadow, low, high);
    }
    const REAL omega = steps.s1;
    const REAL beta = rho / row[BI_RHO] * (steps.s0 / omega);
    REALW sums = (REALW)ZERO;
    const size_t end = omega == ZERO ? 0 : n;
    const size_t wide = end / WIDTH;
    for (size_t i = get_global_id(0); i < wide; i += get_global_size(0)) {
        const REALW value = LOADW(r, i) + beta * (LOADW(p, i) - omega * LOADW(v, i));
        STOREW(value, p, i);
        sums += value * value;
    }
    REAL sum = SUM_LANES(sums);
    for (size_t i = wide * WIDTH + get_global_id(0); i < end; i += get_global_size(0)) {
        const REAL value = r[i] + beta * (p[i] - omega * v[i]);
        p[i] = value;
        sum += value * value;
    }
    shared[lane] = sum;
    SUM_TREES(shared, 1, lane);
    if (lane == 0) {
        partial[get_group_id(0)] = shared[0];
    }
}

// The dot products of w with `count` of the vectors, a part per work-group; those of vector q follow `first + q` times as
// many as there are groups.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
dot_basis(ulong n, uint first, uint count, BASIS, __global const REAL *w, __global REAL *partial)
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
subtract_basis(ulong n, uint from, uint count, BASIS, __global const REAL *number, __global REAL *w,
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
inline REAL sum_parts(__global const REAL *parts, uint count)
{
    REAL sum = ZERO;
    for (uint k = 0; k < count; ++k) {
        sum += parts[k];
    }
    return sum;
}

// Elements that one item sums before it adds to its total.
#define BLOCK 4096

// r -= step q from `start` to `end`; gives the squares of what r becomes.
inline REAL step_residual(size_t start, size_t end, REAL step, __global const REAL *q, __global REAL *r)
{
    REAL total = ZERO;
    for (size_t block = start; block < end; block += BLOCK) {
        const size_t stop = min(block + BLOCK, end);
        REAL8 sum = (REAL8)ZERO;
        size_t i = block;
        for (; i + 8 <= stop; i += 8) {
            const REAL8 value = vload8(0, r + i) - step * vload8(0, q + i);
            vstore8(value, 0, r + i);
            sum += value * value;
        }
        REAL rest = sum_lanes(sum);
        for (; i < stop; ++i) {
            const REAL value = r[i] - step * q[i];
            r[i] = value;
            rest += value * value;
        }
        total += rest;
    }
    return total;
}

__kernel void cg_residual(ulong n, uint count, __global const REAL *dots, __global REAL *rows, uint at,
                          REAL unsound, __global const REAL *q, __global REAL *r, __global REAL *partial)
{
    __global REAL *row = rows + at * NUMBERS;
    const REAL curvature = sum_parts(dots, count);
    const REAL step = step_length(row, curvature, unsound);
    if (get_global_id(0) == 0) {
        row[CURVATURE] = curvature;
    }
    const size_t end = step == ZERO ? 0 : part_start(n, get_global_id(0) + 1, get_global_size(0));
    const size_t start = part_start(n, get_global_id(0), get_global_size(0));
    partial[get_global_id(0)] = step_residual(start, end, step, q, r);
}

__kernel void cg_direction(ulong n, uint count, __global const REAL *squares, uint rho_count,
                           __global const REAL *rhos, __global REAL *rows, uint at, uint next, REAL unsound,
                           REAL low, REAL high, REAL unit, __global const REAL *z, __global REAL *x,
                           __global REAL *p)
{
    __global REAL *row = rows + at * NUMBERS;
    const REAL rho = sum_parts(rhos, rho_count);
    const REAL step = step_length(row, row[CURVATURE], unsound);
    if (get_global_id(0) == 0) {
        next_row(row, rows + next * NUMBERS, step, sum_parts(squares, count), rho, low, high);
    }
    const REAL beta = rho / row[RHO];
    const REAL far = unit * step;
    const size_t end = step == ZERO ? 0 : part_start(n, get_global_id(0) + 1, get_global_size(0));
    size_t i = part_start(n, get_global_id(0), get_global_size(0));
    for (; i + 8 <= end; i += 8) {
        const REAL8 direction = vload8(0, p + i);
        vstore8(vload8(0, x + i) + far * direction, 0, x + i);
        vstore8(vload8(0, z + i) + beta * direction, 0, p + i);
    }
    for (; i < end; ++i) {
        x[i] += far * p[i];
        p[i] = z[i] + beta * p[i];
    }
}

__kernel void bicgstab_half(ulong n, uint count, __global const REAL *dots, uint length_count,
                            __global const REAL *lengths, __global REAL *rows, uint at, REAL unsound,
                            REAL shadow, __global const REAL *v, __global REAL *r, __global REAL *partial)
{
    __global REAL *row = rows + at * BI_NUMBERS;
    const REAL sigma = sum_parts(dots, count);
    const REAL square = sum_parts(dots + count, count);
    const REAL length = sum_parts(lengths, length_count);
    const REAL alpha = half_step(row, sigma, square, length, unsound, shadow);
    if (get_global_id(0) == 0) {
        row[BI_SIGMA] = sigma;
        row[BI_SQUARE] = square;
        row[BI_LENGTH] = length;
    }
    const size_t end = alpha == ZERO ? 0 : part_start(n, get_global_id(0) + 1, get_global_size(0));
    const size_t start = part_start(n, get_global_id(0), get_global_size(0));
    partial[get_global_id(0)] = step_residual(start, end, alpha, v, r);
}

__kernel void bicgstab_whole(ulong n, uint half_count, __global const REAL *halves, uint count,
                             __global const REAL *dots, __global REAL *rows, uint at, REAL unsound, REAL shadow,
                             REAL low, REAL unit, __global const REAL *y, __global const REAL *z,
                             __global const REAL *t, __global const REAL *shadows, __global REAL *x,
                             __global REAL *r, __global REAL *partial)
{
    __global REAL *row = rows + at * BI_NUMBERS;
    const REAL half_squares = sum_parts(halves, half_count);
    const REAL mixed = sum_parts(dots, count);
    const REAL square = sum_parts(dots + count, count);
    const REAL alpha = half_step(row, row[BI_SIGMA], row[BI_SQUARE], row[BI_LENGTH], unsound, shadow);
    const REAL omega = whole_step(alpha, half_squares, mixed, square, unsound, low);
    if (get_global_id(0) == 0) {
        row[BI_HALF] = half_squares;
        row[BI_MIXED] = mixed;
        row[BI_OTHER] = square;
    }
    const REAL far = unit * alpha, farther = unit * omega;
    // What a step that is not made would read may not be finite.
    if (omega == ZERO) {
        z = y;
        t = y;
    }
    const size_t end = alpha == ZERO ? 0 : part_start(n, get_global_id(0) + 1, get_global_size(0));
    REAL rho = ZERO, total = ZERO;
    for (size_t block = part_start(n, get_global_id(0), get_global_size(0)); block < end; block += BLOCK) {
        const size_t stop = min(block + BLOCK, end);
        REAL8 rhos = (REAL8)ZERO, squares = rhos;
        size_t i = block;
        for (; i + 8 <= stop; i += 8) {
            const REAL8 step = far * vload8(0, y + i) + farther * vload8(0, z + i);
            const REAL8 value = vload8(0, r + i) - omega * vload8(0, t + i);
            vstore8(vload8(0, x + i) + step, 0, x + i);
            vstore8(value, 0, r + i);
            rhos += value * vload8(0, shadows + i);
            squares += value * value;
        }
        REAL rho_rest = sum_lanes(rhos), rest = sum_lanes(squares);
        for (; i < stop; ++i) {
            const REAL value = r[i] - omega * t[i];
            x[i] += far * y[i] + farther * z[i];
            r[i] = value;
            rho_rest += value * shadows[i];
            rest += value * value;
        }
        rho += rho_rest;
        total += rest;
    }
    partial[get_global_id(0)] = rho;
    partial[get_global_size(0) + get_global_id(0)] = total;
}

__kernel void bicgstab_direction(ulong n, uint count, __global const REAL *dots, __global REAL *rows, uint at,
                                 uint next, REAL unsound, REAL shadow, REAL low, REAL high,
                                 __global const REAL *r, __global const REAL *v, __global REAL *p,
                                 __global REAL *partial)
{
    __global REAL *row = rows + at * BI_NUMBERS;
    const REAL rho = sum_parts(dots, count);
    const REAL2 steps = both_steps(row, unsound, shadow, low);
    if (get_global_id(0) == 0) {
        const REAL squares = sum_parts(dots + count, count);
        next_bicgstab_row(row, rows + next * BI_NUMBERS, steps, squares, rho, unsound, shadow, low, high);
    }
    const REAL omega = steps.s1;
    const REAL beta = rho / row[BI_RHO] * (steps.s0 / omega);
    const size_t end = omega == ZERO ? 0 : part_start(n, get_global_id(0) + 1, get_global_size(0));
    REAL total = ZERO;
    for (size_t block = part_start(n, get_global_id(0), get_global_size(0)); block < end; block += BLOCK) {
        const size_t stop = min(block + BLOCK, end);
        REAL8 sum = (REAL8)ZERO;
        size_t i = block;
        for (; i + 8 <= stop; i += 8) {
            const REAL8 value = vload8(0, r + i) + beta * (vload8(0, p + i) - omega * vload8(0, v + i));
            vstore8(value, 0, p + i);
            sum += value * value;
        }
        REAL rest = sum_lanes(sum);
        for (; i < stop; ++i) {
            const REAL value = r[i] + beta * (p[i] - omega * v[i]);
            p[i] = value;
            rest += value * value;
        }
        total += rest;
    }
    partial[get_global_id(0)] = total;
}

__kernel void dot_basis(ulong n, uint first, uint count, BASIS, __global const REAL *w, __global REAL *partial)
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

__kernel void subtract_basis(ulong n, uint from, uint count, BASIS, __global const REAL *number, __global REAL *w,
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
