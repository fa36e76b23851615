// One iteration of conjugate gradients in three launches (four with a preconditioner, besides its own), the scalars in
// the memory of the device: a product that leaves p'Ap in parts, `cg_residual`, `cg_direction`.
//
// Traffic per row, f64: cg_residual 24 B, cg_direction 40 B, with a preconditioner too.
//@ build
//@ build WIDTH=2
//@ build WIDTH=4
//@ build CPU=1
//@ one_program
#include "common.clh"
#include "reduce.clh"
#include "wide.clh"
#include "krylov.clh"

// r'z with z = M^-1 r, and r'r.
#define RHO 0
#define SQUARES 1
// p'Mp, by its recurrence.
#define SQUARE 2
// The largest Rayleigh quotients of M^-1 A and of M^-1 so far.
#define LARGEST 3
#define STEEPEST 4
// Not zero: r is small or large enough to stop before this iteration.
#define STOP 5
// p'Ap.
#define CURVATURE 6
// Whether the iteration was made.
#define MADE 7
#define NUMBERS 8

// The step length of an iteration, zero if the iteration must not be made: after a stop, or if a quotient is not positive
// to working precision. `unsound` is slightly larger than that precision, so that the kernel stops wherever the host
// will.
inline REAL step_length(__global const REAL *row, REAL curvature, REAL unsound)
{
    const REAL rho = row[RHO];
    const REAL steepness = rho / row[SQUARES];
    const REAL quotient = curvature / row[SQUARE];
    const bool sound = row[STOP] == ZERO && isfinite(rho) && steepness > unsound * unsound * row[STEEPEST]
        && isfinite(curvature) && quotient > unsound * row[LARGEST];
    return sound ? rho / curvature : ZERO;
}

// The row of the next iteration.
inline void next_row(__global REAL *row, __global REAL *next, REAL step, REAL squares, REAL rho, REAL low, REAL high)
{
    const bool made = step != ZERO;
    const REAL beta = rho / row[RHO];
    row[MADE] = made ? ONE : ZERO;
    next[RHO] = made ? rho : row[RHO];
    next[SQUARES] = made ? squares : row[SQUARES];
    next[SQUARE] = made ? rho + beta * beta * row[SQUARE] : row[SQUARE];
    next[LARGEST] = fmax(row[LARGEST], row[CURVATURE] / row[SQUARE]);
    next[STEEPEST] = fmax(row[STEEPEST], row[RHO] / row[SQUARES]);
    next[STOP] = made && squares > low && squares < high ? ZERO : ONE;
}

#ifndef CPU
// Reads that an item has under way.
#define ITEMS 4

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
    shared[lane] = step_residual(get_global_id(0), get_global_size(0), step == ZERO ? 0 : n, step, q, r);
    SUM_TREES(shared, 1, lane);
    if (lane == 0) {
        partial[get_group_id(0)] = shared[0];
    }
}

// x += unit step p, p = z + rho'/rho p. `squares` holds the new r'r in `count` parts, `rhos` the new r'z in
// `rho_count`.
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
        const REAL alpha_scaled = unit * step;
        const size_t wide = n / WIDTH;
        size_t i = get_group_id(0) * (size_t)(ITEMS * LOCAL) + lane;
        const size_t skip = (get_num_groups(0) - 1) * (size_t)(ITEMS * LOCAL);
        for (; i < wide; i += skip) {
            for (uint item = 0; item < ITEMS; ++item, i += LOCAL) {
                if (i < wide) {
                    const REALW direction = LOADW(p, i);
                    STOREW(LOADW(x, i) + alpha_scaled * direction, x, i);
                    STOREW(LOADW(z, i) + beta * direction, p, i);
                }
            }
        }
        for (i = wide * WIDTH + get_global_id(0); i < n; i += get_global_size(0)) {
            x[i] += alpha_scaled * p[i];
            p[i] = z[i] + beta * p[i];
        }
    }
}
#else
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
    const REAL alpha_scaled = unit * step;
    const size_t end = step == ZERO ? 0 : part_start(n, get_global_id(0) + 1, get_global_size(0));
    size_t i = part_start(n, get_global_id(0), get_global_size(0));
    for (; i + 8 <= end; i += 8) {
        const REAL8 direction = vload8(0, p + i);
        vstore8(vload8(0, x + i) + alpha_scaled * direction, 0, x + i);
        vstore8(vload8(0, z + i) + beta * direction, 0, p + i);
    }
    for (; i < end; ++i) {
        x[i] += alpha_scaled * p[i];
        p[i] = z[i] + beta * p[i];
    }
}
#endif
