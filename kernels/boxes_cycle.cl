// All coarse levels of a cycle on a box in one launch of one work-group, for GPUs; notation of boxes.cl.
//
// `levels` has for each level, the finest of them first, LEVEL_NUMBERS numbers: its unknowns by direction, where its factors begin in `lines`,
// its interpolation in `from` and `weights` and the transpose in `to` and `parts`, and its u and f in `values`; by direction the largest number of
// fine points that contribute to one coarse point in the restriction from it. u and f of the first level are arguments. `steps` has STEP_NUMBERS numbers for each step: what is done, the level,
// and for a relaxation the colour and the part of the box, as x0, x1, y0, y1, z0, z1.
//
//   ITEMS  items of the work-group
//@ build DIM=2 ITEMS=256
//@ build DIM=3 ITEMS=256
#include "common.clh"
#include "grid.clh"
#include "boxes.clh"

#define LEVEL_NUMBERS 12
#define STEP_NUMBERS 9

#define CLEAR 0
#define RELAX 1
#define RESIDUAL 2
#define RESTRICT 3
#define CORRECT 4
#define SOLVE 5

typedef struct {
    uint nx, ny, nz;
    __global const REAL *lines, *weights, *parts;
    __global const uint *from, *to;
    uint reach_x, reach_y, reach_z;
    __global REAL *u, *right;
    __global const REAL *f;
} level_type;

inline level_type level_of(__global const uint *levels, uint level, __global const REAL *lines, __global const uint *from,
                           __global const REAL *weights, __global const uint *to, __global const REAL *parts,
                           __global REAL *values)
{
    __global const uint *numbers = levels + LEVEL_NUMBERS * level;
    level_type l;
    l.nx = numbers[0], l.ny = numbers[1], l.nz = numbers[2];
    l.lines = lines + numbers[3];
    l.from = from + numbers[4], l.weights = weights + numbers[4];
    l.to = to + numbers[5], l.parts = parts + numbers[5];
    l.u = values + numbers[6], l.f = l.right = values + numbers[7];
    l.reach_x = numbers[8], l.reach_y = numbers[9], l.reach_z = numbers[10];
    return l;
}

// The items share `rows` of `width` columns.
#define EACH_POINT(i, q, width, rows)                                                                                  \
    for (uint point = (uint)get_local_id(0), i = point % (width), q = point / (width); q < (rows);                     \
         point += ITEMS, i = point % (width), q = point / (width))

// u += the interpolant of `coarse`, of which the first two directions have mx and my points.
inline void correct(const level_type *l, uint mx, uint my, __global const REAL *coarse)
{
    EACH_POINT(i, q, l->nx, l->ny * l->nz)
    {
        const uint j = l->nx + q % l->ny, k = l->nx + l->ny + q / l->ny;
        REAL value = ZERO;
        for (uint c = 0; c < (DIM == 3 ? 2u : 1u); ++c) {
            const uint plane = DIM == 3 ? l->from[2 * k + c] * my : 0;
            const REAL wc = DIM == 3 ? l->weights[2 * k + c] : ONE;
            for (uint b = 0; b < 2; ++b) {
                const uint row = (plane + l->from[2 * j + b]) * mx;
                const REAL sum = l->weights[2 * i] * coarse[row + l->from[2 * i]] +
                                 l->weights[2 * i + 1] * coarse[row + l->from[2 * i + 1]];
                value += wc * l->weights[2 * j + b] * sum;
            }
        }
        l->u[q * l->nx + i] += value;
    }
}

// The right-hand side of level `c`, the next one, from the residuals d of level `l`.
inline void restrict_to(const level_type *c, const level_type *l, __global const REAL *d)
{
    EACH_POINT(i, q, c->nx, c->ny * c->nz)
    {
        const uint j = 4 * (c->nx + q % c->ny), k = 4 * (c->nx + c->ny + q / c->ny);
        REAL value = ZERO;
        for (uint z = 0; z < (DIM == 3 ? l->reach_z : 1u); ++z) {
            const uint plane = DIM == 3 ? l->to[k + z] * l->ny : 0;
            const REAL wz = DIM == 3 ? l->parts[k + z] : ONE;
            for (uint y = 0; y < l->reach_y; ++y) {
                const uint row = (plane + l->to[j + y]) * l->nx;
                REAL sum = ZERO;
                for (uint x = 0; x < l->reach_x; ++x) {
                    sum += l->parts[4 * i + x] * d[row + l->to[4 * i + x]];
                }
                value += wz * l->parts[j + y] * sum;
            }
        }
        c->right[q * c->nx + i] = value;
    }
}

// `count` steps on u, the solution of the first of these levels, with its right-hand side f. `inverse`, n by n, is that of the matrix of the
// coarsest level; `residuals` has room for those of the first level.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
cycle_boxes(uint count, uint n, __global const uint *steps, __global const uint *levels, __global const REAL *omegas,
            __global const REAL *lines, __global const uint *from, __global const REAL *weights, __global const uint *to,
            __global const REAL *parts, __global const REAL *inverse, __global const REAL *f, __global REAL *u,
            __global REAL *values, __global REAL *residuals)
{
    const uint item = (uint)get_local_id(0);
    for (uint step = 0; step < count; ++step) {
        __global const uint *numbers = steps + STEP_NUMBERS * step;
        const uint what = numbers[0], level = numbers[1];
        level_type l = level_of(levels, level, lines, from, weights, to, parts, values);
        if (level == steps[1]) {
            l.u = u, l.f = f;
        }
        const uint points = l.nx * l.ny * l.nz;
        if (what == RELAX) {
            const uint colour = numbers[2], x0 = numbers[3], y0 = numbers[5], z0 = numbers[7];
            const uint width = (numbers[4] - x0 + 1) / 2, height = numbers[6] - y0;
            const REAL omega = omegas[level];
            EACH_POINT(column, q, width, height * (numbers[8] - z0))
            {
                const uint j = y0 + q % height, k = z0 + q / height, i = x0 + ((x0 + j + k + colour) & 1) + 2 * column;
                if (i < numbers[4]) {
                    const row_type row = row_at(l.nx, l.ny, l.nz, l.lines, j, k);
                    const REAL defect = l.f[row.at + i] - product_at(l.nx, l.lines, &row, l.u, i);
                    l.u[row.at + i] += omega * defect / diagonal_at(l.nx, l.lines, &row, i);
                }
            }
        } else if (what == RESIDUAL) {
            EACH_POINT(i, q, l.nx, l.ny * l.nz)
            {
                const row_type row = row_at(l.nx, l.ny, l.nz, l.lines, q % l.ny, q / l.ny);
                residuals[row.at + i] = l.f[row.at + i] - product_at(l.nx, l.lines, &row, l.u, i);
            }
        } else if (what == RESTRICT || what == CORRECT) {
            const level_type coarser = level_of(levels, level + 1, lines, from, weights, to, parts, values);
            if (what == RESTRICT) {
                restrict_to(&coarser, &l, residuals);
            } else {
                correct(&l, coarser.nx, coarser.ny, coarser.u);
            }
        } else if (what == SOLVE) {
            for (uint i = item; i < n; i += ITEMS) {
                REAL sum = ZERO;
                for (uint j = 0; j < n; ++j) {
                    sum += inverse[(size_t)j * n + i] * l.f[j];
                }
                l.u[i] = sum;
            }
        } else {
            for (uint p = item; p < points; p += ITEMS) {
                l.u[p] = ZERO;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
}
