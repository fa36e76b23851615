// One iteration of BiCGStab in five launches (seven with a preconditioner, besides its own), the scalars in the memory
// of the device: a product with two dot products, `bicgstab_half`, another such product, `bicgstab_whole`,
// `bicgstab_direction`.
//
// Traffic per row, f64: 24 B, 64 B and 32 B; with a preconditioner 24 B, 72 B and 32 B.
//@ build
//@ build WIDTH=2
//@ build WIDTH=4
//@ build CPU=1
#include "common.clh"
#include "reduce.clh"
#include "wide.clh"
#include "krylov.clh"

// The scalars of an iteration of BiCGStab, before and after it: the shadow residual's product with r, r'r, the largest |A
// M^-1 p|^2 / |p|^2 so far, whether to stop before the iteration; for v = A M^-1 p the shadow's product with v, v'v and
// p'p; r'r after the half step; for t = A M^-1 r the products t'r and t't; how far the iteration went.
#define BI_RHO 0
#define BI_SQUARES 1
#define BI_LARGEST 2
#define BI_STOP 3
#define BI_SIGMA 4
#define BI_SQUARE 5
#define BI_LENGTH 6
#define BI_HALF 7
#define BI_MIXED 8
#define BI_OTHER 9
// 0, 1 for the half step alone, 2.
#define BI_MADE 10
#define BI_NUMBERS 11

// The step along M^-1 p, zero where it must not be made: after a stop, and where a coefficient vanishes to working
// precision. `shadow` is the length of the shadow residual.
inline REAL half_step(__global const REAL *row, REAL sigma, REAL square, REAL length, REAL unsound, REAL shadow)
{
    const REAL rho = row[BI_RHO];
    const bool sound = row[BI_STOP] == ZERO && isfinite(rho) && isfinite(square) && isfinite(sigma)
        && square / length > unsound * unsound * row[BI_LARGEST] && fabs(sigma) > unsound * shadow * sqrt(square);
    return sound ? rho / sigma : ZERO;
}

// The step along M^-1 r, zero where the half step has met the tolerance or the coefficient vanishes.
inline REAL whole_step(REAL alpha, REAL halved, REAL mixed, REAL square, REAL unsound, REAL low)
{
    const bool sound = alpha != ZERO && halved > low && isfinite(halved) && isfinite(square) && isfinite(mixed)
        && fabs(mixed) > unsound * sqrt(square) * sqrt(halved);
    return sound ? mixed / square : ZERO;
}

// Both steps of an iteration that has found out everything.
inline REAL2 both_steps(__global const REAL *row, REAL unsound, REAL shadow, REAL low)
{
    const REAL alpha = half_step(row, row[BI_SIGMA], row[BI_SQUARE], row[BI_LENGTH], unsound, shadow);
    return (REAL2)(alpha, whole_step(alpha, row[BI_HALF], row[BI_MIXED], row[BI_OTHER], unsound, low));
}

// The row of the next iteration.
inline void next_bicgstab_row(__global REAL *row, __global REAL *next, REAL2 steps, REAL squares, REAL rho,
                              REAL unsound, REAL shadow, REAL low, REAL high)
{
    const bool made = steps.s1 != ZERO;
    row[BI_MADE] = made ? (REAL)2 : steps.s0 != ZERO ? ONE : ZERO;
    next[BI_RHO] = rho;
    next[BI_SQUARES] = squares;
    next[BI_LARGEST] = fmax(row[BI_LARGEST], row[BI_SQUARE] / row[BI_LENGTH]);
    const bool goes_on = made && squares > low && squares < high && fabs(rho) > unsound * shadow * sqrt(squares);
    next[BI_STOP] = goes_on ? ZERO : ONE;
}

#ifndef CPU
// r -= alpha v, and r'r of the new r in a part per work-group. `dots` holds the shadow's product with v, then v'v, in
// `count` parts each, `lengths` p'p in `length_count`.
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
    shared[lane] = step_residual(get_global_id(0), get_global_size(0), alpha == ZERO ? 0 : n, alpha, v, r);
    SUM_TREES(shared, 1, lane);
    if (lane == 0) {
        partial[get_group_id(0)] = shared[0];
    }
}

// x += unit (alpha y + omega z), r -= omega t; the shadow's product with the new r and r'r in a part of each per
// work-group. `halves` holds r'r in `half_count` parts, `dots` t'r and t't in `count` each; z may be r.
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
    const REAL alpha_scaled = unit * alpha, omega_scaled = unit * omega;
    // What a step that is not made would read may not be finite.
    if (omega == ZERO) {
        z = y;
        t = y;
    }
    REALW rhos = (REALW)ZERO, squares = rhos;
    const size_t end = alpha == ZERO ? 0 : n;
    const size_t wide = end / WIDTH;
    for (size_t i = get_global_id(0); i < wide; i += get_global_size(0)) {
        const REALW step = alpha_scaled * LOADW(y, i) + omega_scaled * LOADW(z, i);
        const REALW value = LOADW(r, i) - omega * LOADW(t, i);
        STOREW(LOADW(x, i) + step, x, i);
        STOREW(value, r, i);
        rhos += value * LOADW(shadows, i);
        squares += value * value;
    }
    REAL rho = SUM_LANES(rhos), sum = SUM_LANES(squares);
    for (size_t i = wide * WIDTH + get_global_id(0); i < end; i += get_global_size(0)) {
        const REAL value = r[i] - omega * t[i];
        x[i] += alpha_scaled * y[i] + omega_scaled * z[i];
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

// p = r + beta (p - omega v), and p'p of the new p in a part per work-group. `dots` holds the shadow's product with r,
// then r'r, in `count` parts each.
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
#else
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
    const REAL alpha_scaled = unit * alpha, omega_scaled = unit * omega;
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
            const REAL8 step = alpha_scaled * vload8(0, y + i) + omega_scaled * vload8(0, z + i);
            const REAL8 value = vload8(0, r + i) - omega * vload8(0, t + i);
            vstore8(vload8(0, x + i) + step, 0, x + i);
            vstore8(value, 0, r + i);
            rhos += value * vload8(0, shadows + i);
            squares += value * value;
        }
        REAL rho_rest = sum_lanes(rhos), rest = sum_lanes(squares);
        for (; i < stop; ++i) {
            const REAL value = r[i] - omega * t[i];
            x[i] += alpha_scaled * y[i] + omega_scaled * z[i];
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
#endif
