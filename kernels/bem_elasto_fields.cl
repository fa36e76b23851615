// Products of the matrices of bem_elasto.cl without storing them: H u - G t, and the derivatives of displacements by the place of the point.
//
// A group of LOCAL collocation points (CPU: an item of eight) goes through one of `parts` equal parts of the elements; parts are added in order. An
// evaluation takes about 200 operations, with derivatives about 500.
//
//   SCALAR_COMPLEX  always
//   QUANTITIES      complex numbers for each point: 3 for H u - G t, 9 for derivatives
//@ crate clinalg-bem
//@ variant Gradients QUANTITIES=9
//@ build SCALAR_COMPLEX=1
//@ build SCALAR_COMPLEX=1 CPU=1
//@ build Gradients SCALAR_COMPLEX=1
//@ build Gradients SCALAR_COMPLEX=1 CPU=1
#include "common.clh"
#include "scalar.clh"
#include "bem_elasto.clh"

#ifndef QUANTITIES
#define QUANTITIES 3
#endif

// What a product multiplies each element's columns with, 12 numbers: the displacement, over 4 pi, and the traction, over 4 pi mu, from one
// number per column. Where a displacement is known, x has it if `given`, else the traction over `scale`; where a traction is, x has
// it if `given`, else the displacement. An item for each of `count` columns.
__kernel void spread_columns(ulong count, uint given, REAL scale, __global const uint *displacement_known, __global const REAL *waves,
                             __global const SCALAR *x, __global SCALAR *fields)
{
    const size_t at = get_global_id(0);
    if (at < count) {
        const bool displacement = (displacement_known[at] != 0) == (given != 0);
        const SCALAR value = x[at];
        const SCALAR traction = scalar_mul((SCALAR)(waves[6], waves[7]), given != 0 ? value : scale * value);
        const size_t slot = at / 3 * 6 + at % 3;
        fields[slot] = displacement ? waves[8] * value : SCALAR_ZERO;
        fields[slot + 3] = displacement ? SCALAR_ZERO : traction;
    }
}

#if QUANTITIES == 3
#define ADD add_product
// Adds H u - G t of one point.
inline __attribute__((always_inline)) void add_product(V *sum_re, V *sum_im, V dx, V dy, V dz, REAL nx, REAL ny, REAL nz, REAL w, V other,
                                                       const REAL *u_re, const REAL *u_im, const REAL *t_re, const REAL *t_im,
                                                       __global const REAL *waves, __global const REAL *table)
{
    const REAL n[3] = {nx, ny, nz};
    Seen seen;
    see(&seen, dx, dy, dz, n, other, false, waves, table);
    const Factors f = seen.f;
    const V g[3] = {seen.g[0], seen.g[1], seen.g[2]}, gn = seen.gn;
    const V gu_re = g[0] * u_re[0] + g[1] * u_re[1] + g[2] * u_re[2], gu_im = g[0] * u_im[0] + g[1] * u_im[1] + g[2] * u_im[2];
    const V gt_re = w * (g[0] * t_re[0] + g[1] * t_re[1] + g[2] * t_re[2]);
    const V gt_im = w * (g[0] * t_im[0] + g[1] * t_im[1] + g[2] * t_im[2]);
    const REAL nu_re = nx * u_re[0] + ny * u_re[1] + nz * u_re[2], nu_im = nx * u_im[0] + ny * u_im[1] + nz * u_im[2];
    const V an_re = f.a[0] * gn, an_im = f.a[1] * gn, bn_re = f.b[0] * gn, bn_im = f.b[1] * gn;
    const V across_re = f.a[0] * gu_re - f.a[1] * gu_im, across_im = f.a[0] * gu_im + f.a[1] * gu_re;
    const V along_re = bn_re * gu_re - bn_im * gu_im + f.c[0] * nu_re - f.c[1] * nu_im + f.chi[0] * gt_re - f.chi[1] * gt_im;
    const V along_im = bn_re * gu_im + bn_im * gu_re + f.c[0] * nu_im + f.c[1] * nu_re + f.chi[0] * gt_im + f.chi[1] * gt_re;
    const V psi_re = w * f.psi[0], psi_im = w * f.psi[1];
#pragma unroll
    for (int l = 0; l < 3; ++l) {
        sum_re[l] += an_re * u_re[l] - an_im * u_im[l] + n[l] * across_re + g[l] * along_re - (psi_re * t_re[l] - psi_im * t_im[l]);
        sum_im[l] += an_re * u_im[l] + an_im * u_re[l] + n[l] * across_im + g[l] * along_im - (psi_re * t_im[l] + psi_im * t_re[l]);
    }
}
#else
#define ADD add_gradient
// Adds the derivatives by xi of G t - H u of one point, those of component l by coordinate m at 3 l + m.
inline __attribute__((always_inline)) void add_gradient(V *sum_re, V *sum_im, V dx, V dy, V dz, REAL nx, REAL ny, REAL nz, REAL w, V other,
                                                        const REAL *u_re, const REAL *u_im, const REAL *t_re, const REAL *t_im,
                                                        __global const REAL *waves, __global const REAL *table)
{
    const REAL beta2 = waves[4], dilation = waves[5];
    const REAL n[3] = {nx, ny, nz};
    Seen seen;
    see(&seen, dx, dy, dz, n, other, true, waves, table);
    const Radial radial = seen.radial;
    const Factors f = seen.f;
    const V g[3] = {seen.g[0], seen.g[1], seen.g[2]}, gn = seen.gn, inv = seen.inv;
    // Derivatives by r; the static parts of A, B and C are inverse squares.
    V dpsi[2], dchi[2], da[2], db[2], dc[2];
#pragma unroll
    for (uint part = 0; part < 2; ++part) {
        const V slope = (radial.dchi[part] - radial.chi[part] * inv) * inv;
        dpsi[part] = radial.dpsi[part];
        dchi[part] = radial.dchi[part];
        da[part] = radial.ddpsi[part] - slope;
        db[part] = 4 * slope - 2 * radial.ddchi[part];
        dc[part] = dilation * (radial.ddpsi[part] - radial.ddchi[part] - 2 * slope) - 2 * slope;
    }
    const V inv2 = inv * inv, inv3 = inv2 * inv;
    dpsi[0] -= (ONE + beta2) / 2 * inv2;
    dchi[0] -= (beta2 - ONE) / 2 * inv2;
    da[0] += 2 * beta2 * inv3;
    db[0] += 6 * (ONE - beta2) * inv3;
    dc[0] -= 2 * beta2 * inv3;
    const V gu[2] = {g[0] * u_re[0] + g[1] * u_re[1] + g[2] * u_re[2], g[0] * u_im[0] + g[1] * u_im[1] + g[2] * u_im[2]};
    const V gt[2] = {w * (g[0] * t_re[0] + g[1] * t_re[1] + g[2] * t_re[2]), w * (g[0] * t_im[0] + g[1] * t_im[1] + g[2] * t_im[2])};
    const REAL nu[2] = {nx * u_re[0] + ny * u_re[1] + nz * u_re[2], nx * u_im[0] + ny * u_im[1] + nz * u_im[2]};
#define PRODUCT_RE(p, q) ((p)[0] * (q)[0] - (p)[1] * (q)[1])
#define PRODUCT_IM(p, q) ((p)[0] * (q)[1] + (p)[1] * (q)[0])
    // d r = -g_m and d g_k = -(delta_km - g_k g_m) / r.
    const V b_gu[2] = {PRODUCT_RE(f.b, gu), PRODUCT_IM(f.b, gu)};
    const V c_nu[2] = {PRODUCT_RE(f.c, nu), PRODUCT_IM(f.c, nu)}, chi_gt[2] = {PRODUCT_RE(f.chi, gt), PRODUCT_IM(f.chi, gt)};
    const V da_gu[2] = {PRODUCT_RE(da, gu), PRODUCT_IM(da, gu)}, db_gu[2] = {PRODUCT_RE(db, gu), PRODUCT_IM(db, gu)};
    const V dc_nu[2] = {PRODUCT_RE(dc, nu), PRODUCT_IM(dc, nu)}, dchi_gt[2] = {PRODUCT_RE(dchi, gt), PRODUCT_IM(dchi, gt)};
#pragma unroll
    for (int l = 0; l < 3; ++l) {
        const REAL u[2] = {u_re[l], u_im[l]}, t[2] = {w * t_re[l], w * t_im[l]};
        const V a_u[2] = {PRODUCT_RE(f.a, u), PRODUCT_IM(f.a, u)}, da_u[2] = {PRODUCT_RE(da, u), PRODUCT_IM(da, u)};
        const V dpsi_t[2] = {PRODUCT_RE(dpsi, t), PRODUCT_IM(dpsi, t)};
#pragma unroll
        for (int m = 0; m < 3; ++m) {
            const V turn = ((l == m ? ONE : ZERO) - g[l] * g[m]) * inv, tilt = (n[m] - gn * g[m]) * inv;
            const REAL um[2] = {u_re[m], u_im[m]}, tm[2] = {w * t_re[m], w * t_im[m]};
            V grown[2];
#pragma unroll
            for (uint part = 0; part < 2; ++part) {
                // Of T u.
                grown[part] = -g[m] * (gn * da_u[part] + n[l] * da_gu[part] + gn * g[l] * db_gu[part] + g[l] * dc_nu[part]) -
                              tilt * a_u[part] - (tilt * g[l] + gn * turn) * b_gu[part] - turn * c_nu[part];
                // Of U t, with the sign of the other side.
                grown[part] -= -g[m] * dpsi_t[part] + g[m] * g[l] * dchi_gt[part] + turn * chi_gt[part];
            }
            // d (g.u) = -(u_m - (g.u) g_m) / r.
            const V du[2] = {(um[0] - gu[0] * g[m]) * inv, (um[1] - gu[1] * g[m]) * inv};
            const V dt[2] = {(tm[0] - gt[0] * g[m]) * inv, (tm[1] - gt[1] * g[m]) * inv};
            const V both[2] = {n[l] * f.a[0] + gn * g[l] * f.b[0], n[l] * f.a[1] + gn * g[l] * f.b[1]};
            sum_re[3 * l + m] -= grown[0] - PRODUCT_RE(both, du) - g[l] * PRODUCT_RE(f.chi, dt);
            sum_im[3 * l + m] -= grown[1] - PRODUCT_IM(both, du) - g[l] * PRODUCT_IM(f.chi, dt);
        }
    }
}
#endif

// partial = the sums over each of `parts` equal parts of all `cols`, without the static parts of own elements; real parts, then imaginary ones,
// each a row of `stride` for each quantity. `fields` is what spread_columns makes.
__kernel GROUP void
sum_fields(ulong cols, ulong parts, ulong stride, ulong shift, uint points, uint count0, uint count1, uint count2, REAL near2, REAL far2,
           __global const REAL *centres, __global const REAL *spheres, __global const REAL *quadrature, __global const REAL *waves,
           __global const REAL *table, __global const SCALAR *fields, __global REAL *partial)
{
    const size_t i = get_global_id(0) * LANES;
    const size_t at = min(i, (size_t)stride - LANES);
    const size_t part = get_group_id(1);
    const V x = LOAD(centres + at), y = LOAD(centres + stride + at), z = LOAD(centres + 2 * stride + at);
    V sum_re[QUANTITIES], sum_im[QUANTITIES];
#pragma unroll
    for (uint c = 0; c < QUANTITIES; ++c) {
        sum_re[c] = sum_im[c] = (V)ZERO;
    }
    for (size_t j = part * cols / parts; j < (part + 1) * cols / parts; ++j) {
        __global const REAL *sphere = spheres + 4 * j;
        __global const REAL8 *data = (__global const REAL8 *)quadrature + j * points;
        REAL u_re[3], u_im[3], t_re[3], t_im[3];
#pragma unroll
        for (uint k = 0; k < 3; ++k) {
            const SCALAR u = fields[6 * j + k], t = fields[6 * j + 3 + k];
            u_re[k] = u.x;
            u_im[k] = u.y;
            t_re[k] = t.x;
            t_im[k] = t.y;
        }
        uint begin, end;
        choose_rule(&begin, &end, count0, count1, count2, near2, far2,
                    least_distance2(sphere[0] - x, sphere[1] - y, sphere[2] - z), sphere[3]);
        const V other = ONE - is_own(i + shift, j);
        for (uint q = begin; q < end; ++q) {
            const REAL8 p = data[q];
            ADD(sum_re, sum_im, p.s0 - x, p.s1 - y, p.s2 - z, p.s3, p.s4, p.s5, p.s6, other, u_re, u_im, t_re, t_im, waves, table);
        }
    }
    if (i < stride) {
#pragma unroll
        for (uint c = 0; c < QUANTITIES; ++c) {
            PUT(sum_re[c], partial + (part * 2 * QUANTITIES + c) * stride + i);
            PUT(sum_im[c], partial + (part * 2 * QUANTITIES + QUANTITIES + c) * stride + i);
        }
    }
}

// y = alpha (the sum of `parts` + the static parts of own elements, where `shift` is below `cols`) + beta y; beta = 0 never reads y. An item for
// each of `rows` points.
__kernel void join_parts(ulong rows, ulong cols, ulong parts, ulong stride, ulong shift, SCALAR alpha, SCALAR beta, __global const REAL *partial, __global const REAL *statics, __global const SCALAR *fields,
                         __global SCALAR *y)
{
    const size_t i = get_global_id(0);
    if (i < rows) {
        SCALAR sums[QUANTITIES];
        for (uint c = 0; c < QUANTITIES; ++c) {
            sums[c] = SCALAR_ZERO;
            for (size_t part = 0; part < parts; ++part) {
                sums[c] += (SCALAR)(partial[(part * 2 * QUANTITIES + c) * stride + i],
                                    partial[(part * 2 * QUANTITIES + QUANTITIES + c) * stride + i]);
            }
        }
        if (QUANTITIES == 3 && i + shift < cols) {
            __global const SCALAR *own = fields + 6 * (i + shift);
            for (uint l = 0; l < 3; ++l) {
                for (uint k = 0; k < 3; ++k) {
                    const uint u = l == k ? l : l + k + 2;
                    sums[l] += statics[(3 * l + k) * stride + i] * own[k] - statics[(9 + u) * stride + i] * own[3 + k];
                }
            }
        }
        for (uint c = 0; c < QUANTITIES; ++c) {
            y[QUANTITIES * i + c] = combine_product(alpha, sums[c], beta, y + QUANTITIES * i + c);
        }
    }
}
