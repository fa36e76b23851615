// The wave equation in two dimensions, with the notation of wave2.clh: copies, the Laplacian, the energy, which reads 16 B per
// point.
//
// GPUs: rows are dealt to work-groups in turn. CPUs: a band of rows per item.
//@ build
//@ build CPU=1
#include "common.clh"
#include "wave2.clh"
#include "reduce.clh"

// out = g, `height` rows, with another pitch; the rows are dealt to the groups in turn. Where `edges` is 0, the boundary of
// out is 0.
__kernel void copy_grid(ulong n, ulong height, uint edges, ulong pitch, __global const REAL *g, ulong out_pitch,
                        __global REAL *out)
{
    for (size_t j = get_group_id(0); j < height; j += get_num_groups(0)) {
        const bool zero_row = edges == 0 && (j == 0 || j == height - 1);
        __global const REAL *row = g + j * pitch;
        __global REAL *to = out + j * out_pitch;
        for (size_t i = get_local_id(0); i < n; i += get_local_size(0)) {
            to[i] = zero_row || (edges == 0 && (i == 0 || i == n - 1)) ? ZERO : row[i];
        }
    }
}

// out = Laplace_h u inside, 0 on the boundary; the rows are dealt to the groups in turn.
__kernel void laplacian_grid(ulong n, ulong height, ulong pitch, REAL inverse_h2, __global const REAL *u,
                             __global REAL *out)
{
    for (size_t j = get_group_id(0); j < height; j += get_num_groups(0)) {
        const bool edge = j == 0 || j == height - 1;
        __global const REAL *row = u + j * pitch;
        __global REAL *to = out + j * pitch;
        for (size_t i = get_local_id(0); i < n; i += get_local_size(0)) {
            REAL value = ZERO;
            if (!edge && i > 0 && i < n - 1) {
                const REAL sum = NEIGHBOURS(*(row + i - pitch), *(row + i - 1), row[i + 1], row[i + pitch]);
                value = inverse_h2 * (sum - FOUR * row[i]);
            }
            to[i] = value;
        }
    }
}

// The sums of the energy over rows `low` to `high` - 1 of `height` and the pairs that begin there; `high` is at most height - 1: of each part, partial[2 part] of (u - p)^2 over the interior and partial[2 part + 1] over pairs of
// neighbours of du dp, or with `mean` of the square of their mean.
#ifdef CPU
// Sum over `count` pairs of points `stride` apart, from one row of u and of p on.
inline REAL sum_pairs(size_t count, size_t stride, uint mean, __global const REAL *u, __global const REAL *p)
{
    REAL8 many = (REAL8)ZERO;
    REAL total = ZERO;
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const REAL8 du = vload8(0, u + i + stride) - vload8(0, u + i);
        const REAL8 dp = vload8(0, p + i + stride) - vload8(0, p + i);
        many += mean ? SQUARE(HALF * (du + dp)) : du * dp;
    }
    for (; i < count; ++i) {
        const REAL du = u[i + stride] - u[i], dp = p[i + stride] - p[i];
        total += mean ? SQUARE(HALF * (du + dp)) : du * dp;
    }
    return total + sum_lanes(many);
}

__kernel void energy_wave(ulong n, ulong height, ulong low, ulong high, ulong pitch, uint mean, __global const REAL *u,
                          __global const REAL *p, __global REAL *partial)
{
    const size_t item = get_global_id(0), items = get_global_size(0);
    REAL squares = ZERO, pairs = ZERO;
    const size_t begin = max(ROW_BEGIN(height, item, items), (size_t)low);
    for (size_t j = begin; j < min(ROW_BEGIN(height, item + 1, items), (size_t)high); ++j) {
        __global const REAL *row_u = u + j * pitch, *row_p = p + j * pitch;
        pairs += sum_pairs(n - 2, pitch, mean, row_u + 1, row_p + 1);
        if (j > 0) {
            pairs += sum_pairs(n - 1, 1, mean, row_u, row_p);
            REAL8 many = (REAL8)ZERO;
            size_t i = 1;
            for (; i + 8 < n; i += 8) {
                many += SQUARE(vload8(0, row_u + i) - vload8(0, row_p + i));
            }
            for (; i < n - 1; ++i) {
                squares += SQUARE(row_u[i] - row_p[i]);
            }
            squares += sum_lanes(many);
        }
    }
    partial[2 * item] = squares;
    partial[2 * item + 1] = pairs;
}
#else
// Rows are dealt to the groups in turn.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
energy_wave(ulong n, ulong height, ulong low, ulong high, ulong pitch, uint mean, __global const REAL *u,
            __global const REAL *p, __global REAL *partial)
{
    __local REAL shared[2 * LOCAL];
    const uint lane = (uint)get_local_id(0);
    REAL squares = ZERO, pairs = ZERO;
    (void)height;
    for (size_t j = get_group_id(0) + low; j < high; j += get_num_groups(0)) {
        for (size_t i = lane; i < n - 1; i += LOCAL) {
            const size_t k = j * pitch + i;
            const REAL now = u[k], then = p[k];
            if (j > 0) {
                const REAL du = u[k + 1] - now, dp = p[k + 1] - then;
                pairs += mean ? SQUARE(HALF * (du + dp)) : du * dp;
            }
            if (i > 0) {
                const REAL du = u[k + pitch] - now, dp = p[k + pitch] - then;
                pairs += mean ? SQUARE(HALF * (du + dp)) : du * dp;
            }
            if (i > 0 && j > 0) {
                squares += SQUARE(now - then);
            }
        }
    }
    shared[lane] = squares;
    shared[LOCAL + lane] = pairs;
    SUM_TREES(shared, 2, lane);
    if (lane == 0) {
        partial[2 * get_group_id(0)] = shared[0];
        partial[2 * get_group_id(0) + 1] = shared[LOCAL];
    }
}
#endif
