// Matrices of elastodynamic boundary elements in the frequency domain, one complex 3 x 3 block for each collocation point i and element j:
//
//   G_ij = int U(x_i, y) dS_y,  H_ij = int T(x_i, y) dS_y  over element j,  U = (psi I - chi g g') / (4 pi mu),
//   T = [A ((g.n) I + n g') + B (g.n) g g' + C g n'] / (4 pi),  r = |y - x_i|,  g = (y - x_i) / r,  rows: direction of the load
//   A = psi' - chi / r,  B = 4 chi / r - 2 chi',  C = (1 / beta^2 - 2) (psi' - chi' - 2 chi / r) - 2 chi / r
//
// (Dominguez, Boundary Elements in Dynamics, 1993). psi and chi less their static parts come from tables; bem_elasto.clh says how these and the
// elements are stored.
//
// An evaluation of (U, T) takes 2 (TERMS - 1) operations for each of four functions and about 130 others, reads 4 TERMS numbers of the table
// (neighbouring items mostly the same ones) and 8 numbers of the point, the same for all items of a group; a block writes 36 numbers.
//
//   SCALAR_COMPLEX  always
//@ crate clinalg-bem
//@ build SCALAR_COMPLEX=1
//@ build SCALAR_COMPLEX=1 CPU=1
#include "common.clh"
#include "scalar.clh"
#include "bem_elasto.clh"

// Items of a group of assemble_pairwise, a power of two.
#define PAIRWISE 64

// Sums of a block without their common factors: U has xx, yy, zz, xy, xz, yz; T is row by row.
typedef struct {
    V u_re[6], u_im[6], t_re[9], t_im[9];
} Sums;

// Adds w U and w T of one point.
inline __attribute__((always_inline)) void add_point(Sums *sums, V dx, V dy, V dz, REAL nx, REAL ny, REAL nz, REAL w, V other,
                                                     __global const REAL *waves, __global const REAL *table)
{
    const REAL n[3] = {nx, ny, nz};
    Seen seen;
    see(&seen, dx, dy, dz, n, other, false, waves, table);
    const Factors f = seen.f;
    const V g[3] = {seen.g[0], seen.g[1], seen.g[2]}, gn = seen.gn;
    const V bn_re = f.b[0] * gn, bn_im = f.b[1] * gn, an_re = f.a[0] * gn, an_im = f.a[1] * gn;
#pragma unroll
    for (int l = 0; l < 3; ++l) {
        const V left_re = f.a[0] * n[l] + bn_re * g[l], left_im = f.a[1] * n[l] + bn_im * g[l];
        const V right_re = f.c[0] * g[l], right_im = f.c[1] * g[l];
#pragma unroll
        for (int k = 0; k < 3; ++k) {
            sums->t_re[3 * l + k] += left_re * g[k] + right_re * n[k];
            sums->t_im[3 * l + k] += left_im * g[k] + right_im * n[k];
        }
        sums->t_re[4 * l] += an_re;
        sums->t_im[4 * l] += an_im;
        const V u_re = w * f.chi[0] * g[l], u_im = w * f.chi[1] * g[l];
        sums->u_re[l] += w * f.psi[0] - u_re * g[l];
        sums->u_im[l] += w * f.psi[1] - u_im * g[l];
#pragma unroll
        for (int k = l + 1; k < 3; ++k) {
            sums->u_re[2 + l + k] -= u_re * g[k];
            sums->u_im[2 + l + k] -= u_im * g[k];
        }
    }
}

// Adds the T of statics of one point, times 4 pi (Kelvin); `other` is 0 where the static part is not wanted, else 1.
inline __attribute__((always_inline)) void add_static(V *t, V dx, V dy, V dz, REAL nx, REAL ny, REAL nz, V other, REAL beta2)
{
    const V r2 = dx * dx + dy * dy + dz * dz;
    const V inv = rsqrt(r2);
    const V scale = other * inv * inv;
    const V g[3] = {dx * inv, dy * inv, dz * inv};
    const REAL n[3] = {nx, ny, nz};
    const V gn = g[0] * nx + g[1] * ny + g[2] * nz;
    const V across = beta2 * scale, along = 3 * (ONE - beta2) * gn * scale;
#pragma unroll
    for (int l = 0; l < 3; ++l) {
#pragma unroll
        for (int k = 0; k < 3; ++k) {
            t[3 * l + k] += across * (g[l] * n[k] - n[l] * g[k]) - along * g[l] * g[k];
        }
        t[4 * l] -= across * gn;
    }
}

// Block (i, j) of both matrices, of 3 `rows` rows, from the sums of one lane.
inline void store_block(const REAL *u_re, const REAL *u_im, const REAL *t_re, const REAL *t_im, size_t i, size_t j, ulong rows,
                        __global const REAL *waves, __global SCALAR *h, __global SCALAR *g)
{
    const SCALAR factor = (SCALAR)(waves[6], waves[7]);
#pragma unroll
    for (uint k = 0; k < 3; ++k) {
#pragma unroll
        for (uint l = 0; l < 3; ++l) {
            const size_t at = (3 * j + k) * 3 * rows + 3 * i + l;
            const uint e = l == k ? l : l + k + 2;
            h[at] = waves[8] * (SCALAR)(t_re[3 * l + k], t_im[3 * l + k]);
            g[at] = scalar_mul(factor, (SCALAR)(u_re[e], u_im[e]));
        }
    }
}

// H and G of `rows` collocation points and `cols` elements, each of `points` points. The block of a collocation point and its own element is its
// dynamic part and `statics`, 15 rows of `stride`: 4 pi times H, row by row, 4 pi mu times G as in Sums. A group has LOCAL points (CPU: 8) and `tile`
// elements. `columns`: 18 numbers per item; unused on CPUs.
__kernel GROUP void
assemble(ulong rows, ulong cols, ulong stride, ulong shift, uint tile, uint points, uint count0, uint count1, uint count2,
         REAL near2, REAL far2, __global const REAL *centres, __global const REAL *spheres, __global const REAL *quadrature,
         __global const REAL *statics, __global const REAL *waves, __global const REAL *table, __global SCALAR *h,
         __global SCALAR *g, __local SCALAR *columns)
{
    const size_t i = get_global_id(0) * LANES;
    const size_t at = min(i, (size_t)stride - LANES);
    const V x = LOAD(centres + at), y = LOAD(centres + stride + at), z = LOAD(centres + 2 * stride + at);
    for (uint e = 0; e < tile; ++e) {
        const size_t wanted = get_group_id(1) * tile + e;
        const size_t j = min(wanted, (size_t)cols - 1);
        __global const REAL *sphere = spheres + 4 * j;
        __global const REAL8 *data = (__global const REAL8 *)quadrature + j * points;
        uint begin, end;
        choose_rule(&begin, &end, count0, count1, count2, near2, far2,
                    least_distance2(sphere[0] - x, sphere[1] - y, sphere[2] - z), sphere[3]);
        // Items past the last row only help to store.
        end = i < rows ? end : begin;
        const V own = is_own(i + shift, j);
        Sums sums;
#pragma unroll
        for (uint c = 0; c < 9; ++c) {
            sums.t_re[c] = sums.t_im[c] = (V)ZERO;
        }
#pragma unroll
        for (uint c = 0; c < 6; ++c) {
            sums.u_re[c] = sums.u_im[c] = (V)ZERO;
        }
        if (j >= i + shift && j < i + shift + LANES) {
#pragma unroll
            for (uint c = 0; c < 9; ++c) {
                sums.t_re[c] = own * LOAD(statics + c * stride + at);
            }
#pragma unroll
            for (uint c = 0; c < 6; ++c) {
                sums.u_re[c] = own * LOAD(statics + (9 + c) * stride + at);
            }
        }
        for (uint q = begin; q < end; ++q) {
            const REAL8 p = data[q];
            add_point(&sums, p.s0 - x, p.s1 - y, p.s2 - z, p.s3, p.s4, p.s5, p.s6, ONE - own, waves, table);
        }
#ifdef CPU
        (void)columns;
        REAL u_re[6 * LANES], u_im[6 * LANES], t_re[9 * LANES], t_im[9 * LANES];
        for (uint c = 0; c < 9; ++c) {
            vstore8(sums.t_re[c], c, t_re);
            vstore8(sums.t_im[c], c, t_im);
        }
        for (uint c = 0; c < 6; ++c) {
            vstore8(sums.u_re[c], c, u_re);
            vstore8(sums.u_im[c], c, u_im);
        }
        for (uint lane = 0; lane < LANES; ++lane) {
            if (i + lane < rows && wanted < cols) {
                REAL lane_u_re[6], lane_u_im[6], lane_t_re[9], lane_t_im[9];
                for (uint c = 0; c < 9; ++c) {
                    lane_t_re[c] = t_re[c * LANES + lane];
                    lane_t_im[c] = t_im[c * LANES + lane];
                }
                for (uint c = 0; c < 6; ++c) {
                    lane_u_re[c] = u_re[c * LANES + lane];
                    lane_u_im[c] = u_im[c * LANES + lane];
                }
                store_block(lane_u_re, lane_u_im, lane_t_re, lane_t_im, i + lane, j, rows, waves, h, g);
            }
        }
#else
        // Three columns of each matrix: the group's parts go through local memory, so that items store side by side.
        const size_t start = get_group_id(0) * LOCAL;
        const size_t count = wanted < cols ? 3 * min((size_t)LOCAL, (size_t)rows - start) : 0;
        const SCALAR factor = (SCALAR)(waves[6], waves[7]);
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (uint k = 0; k < 3; ++k) {
#pragma unroll
            for (uint l = 0; l < 3; ++l) {
                const uint u = l == k ? l : l + k + 2, slot = 3 * (k * LOCAL + (uint)get_local_id(0)) + l;
                columns[slot] = waves[8] * (SCALAR)(sums.t_re[3 * l + k], sums.t_im[3 * l + k]);
                columns[9 * LOCAL + slot] = scalar_mul(factor, (SCALAR)(sums.u_re[u], sums.u_im[u]));
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (uint k = 0; k < 3; ++k) {
            const size_t column = (3 * j + k) * 3 * rows + 3 * start;
#pragma unroll
            for (uint l = 0; l < 3; ++l) {
                const uint p = l * LOCAL + (uint)get_local_id(0);
                if (p < count) {
                    h[column + p] = columns[3 * k * LOCAL + p];
                    g[column + p] = columns[(9 + 3 * k) * LOCAL + p];
                }
            }
        }
#endif
    }
}

// partial = 4 pi times the sums of the static H_ij over the elements j != i of each of `parts` equal parts of all `cols`, 9 rows of `stride` for each part.
__kernel GROUP void
sum_static(ulong cols, ulong parts, ulong stride, ulong shift, uint points, uint count0, uint count1, uint count2, REAL near2, REAL far2, REAL beta2,
           __global const REAL *centres, __global const REAL *spheres, __global const REAL *quadrature, __global REAL *partial)
{
    const size_t i = get_global_id(0) * LANES;
    const size_t at = min(i, (size_t)stride - LANES);
    const size_t part = get_group_id(1);
    const V x = LOAD(centres + at), y = LOAD(centres + stride + at), z = LOAD(centres + 2 * stride + at);
    V t[9];
#pragma unroll
    for (uint c = 0; c < 9; ++c) {
        t[c] = (V)ZERO;
    }
    for (size_t j = part * cols / parts; j < (part + 1) * cols / parts; ++j) {
        __global const REAL *sphere = spheres + 4 * j;
        __global const REAL8 *data = (__global const REAL8 *)quadrature + j * points;
        uint begin, end;
        choose_rule(&begin, &end, count0, count1, count2, near2, far2,
                    least_distance2(sphere[0] - x, sphere[1] - y, sphere[2] - z), sphere[3]);
        const V other = ONE - is_own(i + shift, j);
        for (uint q = begin; q < end; ++q) {
            const REAL8 p = data[q];
            add_static(t, p.s0 - x, p.s1 - y, p.s2 - z, p.s3, p.s4, p.s5, other, beta2);
        }
    }
    if (i < stride) {
#pragma unroll
        for (uint c = 0; c < 9; ++c) {
            PUT(t[c], partial + (part * 9 + c) * stride + i);
        }
    }
}

// Where the displacement of a column is known, the column of H goes to the right-hand side and that of G, times `scale`, to the left:
// h becomes the matrix of the unknowns, g that of the known values. An item per entry.
__kernel void exchange_columns(ulong rows, ulong cols, REAL scale, __global const uint *displacement_known, __global SCALAR *h,
                               __global SCALAR *g)
{
    const size_t i = get_global_id(0), j = get_global_id(1);
    if (i < rows && j < cols && displacement_known[j] != 0) {
        const size_t at = j * rows + i;
        const SCALAR kept = h[at];
        h[at] = -scale * g[at];
        g[at] = -kept;
    }
}

// As `assemble` for the elements' own centres and one rule: a work-group for each pair, an item for each point, sums joined in local memory (Belinassi et al.).
__kernel __attribute__((reqd_work_group_size(PAIRWISE, 1, 1))) void
assemble_pairwise(ulong rows, ulong stride, ulong shift, uint points, __global const REAL *centres, __global const REAL *quadrature,
                  __global const REAL *statics, __global const REAL *waves, __global const REAL *table, __global SCALAR *h,
                  __global SCALAR *g)
{
    __local REAL joined[30 * PAIRWISE];
    const uint item = (uint)get_local_id(0);
    const size_t i = get_group_id(0), j = get_group_id(1);
    __global const REAL8 *data = (__global const REAL8 *)quadrature + j * points;
    const REAL own = i + shift == j ? ONE : ZERO;
    REAL sums[30];
#pragma unroll
    for (uint c = 0; c < 30; ++c) {
        sums[c] = item == 0 && c < 15 ? own * statics[c * stride + i] : ZERO;
    }
    const REAL x = centres[i], y = centres[stride + i], z = centres[2 * stride + i];
    for (uint q = item; q < points; q += PAIRWISE) {
        const REAL8 p = data[q];
        Sums one;
#pragma unroll
        for (uint c = 0; c < 9; ++c) {
            one.t_re[c] = one.t_im[c] = (V)ZERO;
            one.u_re[c % 6] = one.u_im[c % 6] = (V)ZERO;
        }
        add_point(&one, (V)(p.s0 - x), (V)(p.s1 - y), (V)(p.s2 - z), p.s3, p.s4, p.s5, p.s6, (V)(ONE - own), waves, table);
#pragma unroll
        for (uint c = 0; c < 15; ++c) {
            const V re = c < 9 ? one.t_re[c] : one.u_re[c - 9], im = c < 9 ? one.t_im[c] : one.u_im[c - 9];
#ifdef CPU
            sums[c] += re.s0;
            sums[15 + c] += im.s0;
#else
            sums[c] += re;
            sums[15 + c] += im;
#endif
        }
    }
#pragma unroll
    for (uint c = 0; c < 30; ++c) {
        joined[c * PAIRWISE + item] = sums[c];
    }
    for (uint half_size = PAIRWISE / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = item; k < 30 * half_size; k += PAIRWISE) {
            const uint at = k / half_size * PAIRWISE + k % half_size;
            joined[at] += joined[at + half_size];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        REAL t_re[9], t_im[9], u_re[6], u_im[6];
        for (uint c = 0; c < 9; ++c) {
            t_re[c] = joined[c * PAIRWISE];
            t_im[c] = joined[(15 + c) * PAIRWISE];
        }
        for (uint c = 0; c < 6; ++c) {
            u_re[c] = joined[(9 + c) * PAIRWISE];
            u_im[c] = joined[(24 + c) * PAIRWISE];
        }
        store_block(u_re, u_im, t_re, t_im, i, j, rows, waves, h, g);
    }
}
