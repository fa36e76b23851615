// Separable functions on grids of nx by ny by nz points, x fastest: the value at point (i, j, k) is
// (scale x[i]) (y[j] z[k]), formed in double in this order whatever REAL is, so that every device and the host get the
// same bits. `factors` has x, then y, then z.
//
// Traffic per point, f64: fill_separable and max_separable_error 8 B; the factors come from cache.
//
// GPUs: rows are dealt to work-groups in turn. CPUs: a run of rows per item.
//@ build
//@ build CPU=1
//@ doubles
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#include "common.clh"
#include "grid.clh"
#include "grid_rows.clh"
#include "reduce.clh"

// out = the function, rounded to REAL; a zero has no sign.
__kernel void fill_separable(ulong nx, ulong ny, ulong nz, double scale, __global const double *factors,
                             __global REAL *out)
{
    __global const double *y = factors + nx, *z = y + ny;
    EACH_ROW(row, ny * nz)
    {
        const double across = y[row % ny] * z[row / ny];
        for (size_t i = FIRST; i < nx; i += STEP) {
            out[row * nx + i] = (REAL)(scale * factors[i] * across + 0.0);
        }
    }
}

// partial[part] = the largest difference of u, whose values begin at `offset`, from the function; NaN if one is NaN.
#ifdef CPU
__kernel void max_separable_error(ulong nx, ulong ny, ulong nz, double scale, __global const double *factors,
                                  ulong offset, __global const REAL *u, __global double *partial)
{
    __global const double *y = factors + nx, *z = y + ny;
    double8 largest8 = (double8)0.0;
    double largest = 0.0;
    EACH_ROW(row, ny * nz)
    {
        __global const REAL *values = u + offset + row * nx;
        const double across = y[row % ny] * z[row / ny];
        size_t i = 0;
        for (; i + 8 <= nx; i += 8) {
            const double8 exact = scale * vload8(0, factors + i) * across;
            const double8 error8 = fabs(convert_double8(vload8(0, values + i)) - exact);
            largest8 = LARGER_LANES(largest8, error8);
        }
        for (; i < nx; ++i) {
            const double error = fabs((double)values[i] - scale * factors[i] * across);
            largest = LARGER(largest, error);
        }
    }
    const double4 half_lanes = LARGER_LANES(largest8.lo, largest8.hi);
    const double2 pair = LARGER_LANES(half_lanes.lo, half_lanes.hi);
    const double of_lanes = LARGER(pair.x, pair.y);
    partial[get_global_id(0)] = LARGER(largest, of_lanes);
}
#else
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
max_separable_error(ulong nx, ulong ny, ulong nz, double scale, __global const double *factors, ulong offset,
                    __global const REAL *u, __global double *partial)
{
    __local double shared[LOCAL];
    __global const double *y = factors + nx, *z = y + ny;
    const uint lane = (uint)get_local_id(0);
    double largest = 0.0;
    EACH_ROW(row, ny * nz)
    {
        const double across = y[row % ny] * z[row / ny];
        for (size_t i = FIRST; i < nx; i += STEP) {
            const double error = fabs((double)u[offset + row * nx + i] - scale * factors[i] * across);
            largest = LARGER(largest, error);
        }
    }
    shared[lane] = largest;
    for (uint half_size = LOCAL / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < half_size) {
            shared[lane] = LARGER(shared[lane], shared[lane + half_size]);
        }
    }
    if (lane == 0) {
        partial[get_group_id(0)] = shared[0];
    }
}
#endif
