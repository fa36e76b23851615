// Defect correction in two precisions for -Laplace u + shift u = f on n by n (DIMENSIONS 2) or n by n by n points, boundary
// included, h = 1 / (n - 1): the solution and its defect in REAL, the correction in float. Products and sums are rounded
// one by one, in the order of grid2.clh and grid3.clh.
//
// Traffic per point, f64, where every neighbour comes from cache: narrow_defect 20 B, add_correction 20 B.
//
// GPUs: rows are dealt to work-groups in turn. CPUs: a run of rows per item.
//@ build DIMENSIONS=2
//@ build DIMENSIONS=3
//@ build DIMENSIONS=2 CPU=1
//@ build DIMENSIONS=3 CPU=1
#include "common.clh"
#include "grid.clh"
#include "grid_rows.clh"
#include "reduce.clh"

#if DIMENSIONS == 3
#define SUM(below, south, west, east, north, above) ((below) + (south) + (west) + (east) + (north) + (above))
#define CENTRE_WEIGHT SIX
#else
#define SUM(below, south, west, east, north, above)                                                      \
    ((void)(below), (void)(above), NEIGHBOURS(south, west, east, north))
#define CENTRE_WEIGHT FOUR
#endif
#define DEFECT(f, sum, centre) (((f) - shift * (centre)) + inverse_h2 * ((sum) - CENTRE_WEIGHT * (centre)))

// Row `row` of n points: whether it lies inside.
inline bool row_inside(size_t n, size_t row)
{
    const size_t j = row % n;
    const bool inside = j > 0 && j < n - 1;
#if DIMENSIONS == 3
    const size_t k = row / n;
    return inside && k > 0 && k < n - 1;
#else
    return inside;
#endif
}

// f plus what the boundary values of u contribute to the equation of point i of an interior row.
inline REAL source_at(size_t n, size_t row, size_t i, REAL inverse_h2, __global const REAL *u, __global const REAL *f)
{
    const size_t j = row % n, k = row / n, last = n - 2, at = row * n + i;
    const REAL below = DIMENSIONS == 3 && k == 1 ? u[at - n * n] : ZERO;
    const REAL above = DIMENSIONS == 3 && k == last ? u[at + n * n] : ZERO;
    const REAL south = j == 1 ? u[at - n] : ZERO, north = j == last ? u[at + n] : ZERO;
    const REAL west = i == 1 ? u[at - 1] : ZERO, east = i == last ? u[at + 1] : ZERO;
    return f[at] + inverse_h2 * SUM(below, south, west, east, north, above);
}

// r = scale times the defect inside, 0 on the boundary. partial[3 part ...] = sums of the squares of u, everywhere, and of
// scale times the defect, inside; with `start` also of scale times the defect with u = 0 inside.
__kernel void narrow_defect(ulong n, REAL inverse_h2, REAL shift, REAL scale, uint start, __global const REAL *u,
                            __global const REAL *f, __global float *r, __global REAL *partial)
{
    const size_t plane = DIMENSIONS == 3 ? n * n : 0;
    REAL values = ZERO, defects = ZERO, sources = ZERO;
    EACH_ROW(row, DIMENSIONS == 3 ? n * n : n)
    {
        __global const REAL *at = u + row * n, *given = f + row * n;
        __global float *to = r + row * n;
        const bool inside = row_inside(n, row);
        size_t i = FIRST;
#ifdef CPU
        // Eight points at a time; the first one of a row is on the boundary.
        REAL8 values8 = (REAL8)ZERO, defects8 = (REAL8)ZERO;
        values += at[0] * at[0];
        to[0] = 0.0f;
        for (i = 1; inside && i + 8 < n; i += 8) {
            __global const REAL *p = at + i;
            const REAL8 centre = vload8(0, p);
            const REAL8 sum = SUM(vload8(0, p - plane), vload8(0, p - n), vload8(0, p - 1), vload8(0, p + 1),
                                  vload8(0, p + n), vload8(0, p + plane));
            const REAL8 d = scale * DEFECT(vload8(0, given + i), sum, centre);
            values8 += centre * centre;
            defects8 += d * d;
            vstore8(convert_float8(d), 0, to + i);
        }
        values += values8.s0 + values8.s1 + values8.s2 + values8.s3 + values8.s4 + values8.s5 + values8.s6 + values8.s7;
        defects += defects8.s0 + defects8.s1 + defects8.s2 + defects8.s3 + defects8.s4 + defects8.s5 + defects8.s6 +
                   defects8.s7;
#endif
        for (; i < n; i += STEP) {
            __global const REAL *p = at + i;
            REAL d = ZERO;
            if (inside && i > 0 && i < n - 1) {
                d = scale * DEFECT(given[i], SUM(*(p - plane), *(p - n), *(p - 1), p[1], p[n], p[plane]), *p);
            }
            values += *p * *p;
            defects += d * d;
            to[i] = (float)d;
        }
        for (i = FIRST; start != 0 && inside && i < n - 1; i += STEP) {
            const REAL source = i > 0 ? scale * source_at(n, row, i, inverse_h2, u, f) : ZERO;
            sources += source * source;
        }
    }
#ifdef CPU
    partial[3 * get_global_id(0)] = values;
    partial[3 * get_global_id(0) + 1] = defects;
    partial[3 * get_global_id(0) + 2] = sources;
#else
    __local REAL shared[3 * LOCAL];
    const uint lane = (uint)get_local_id(0);
    shared[lane] = values;
    shared[LOCAL + lane] = defects;
    shared[2 * LOCAL + lane] = sources;
    SUM_TREES(shared, 3, lane);
    for (int term = 0; lane == 0 && term < 3; ++term) {
        partial[3 * get_group_id(0) + (size_t)term] = shared[term * LOCAL];
    }
#endif
}

// u += factor e, everywhere; e is 0 on the boundary.
__kernel void add_correction(ulong n, REAL factor, __global const float *e, __global REAL *u)
{
    EACH_ROW(row, DIMENSIONS == 3 ? n * n : n)
    {
        for (size_t i = FIRST; i < n; i += STEP) {
            u[row * n + i] += factor * (REAL)e[row * n + i];
        }
    }
}
