// QR factorisation by Householder reflections: panels of at most PANEL columns, and the triangles of compact WY products
// (Schreiber and Van Loan, SIAM J. Sci. Stat. Comput. 10, 1989), by LAPACK's conventions: H = 1 - tau v v' with v = 1 in its own row.
//
//@ build
//@ build CPU=1
//@ build SCALAR_COMPLEX=1
//@ build SCALAR_COMPLEX=1 CPU=1
#include "common.clh"
#include "scalar.clh"

// Columns of a panel, at most.
#define PANEL 16
// Items of a work-group of a panel, each with a row, and sums that they share for each column.
#define PANEL_ITEMS 64
#define SHARES (PANEL_ITEMS / PANEL)

// What the reflection of a column with the element `head` and the square sum `rest` of those below is.
typedef struct {
    REAL beta;
    SCALAR tau, scale;
} Reflection;

inline Reflection reflection(SCALAR head, REAL rest)
{
    Reflection h;
    const REAL imaginary = scalar_im(head);
    const bool none = (rest == ZERO) & (imaginary == ZERO);
    const REAL size = sqrt(scalar_abs2(head) + rest);
    h.beta = none ? scalar_re(head) : -copysign(size, scalar_re(head));
    h.tau = none ? SCALAR_ZERO : scalar_scale(ONE / h.beta, scalar_from_real(h.beta) - head);
    h.scale = none ? SCALAR_ZERO : scalar_div(SCALAR_ONE, head - scalar_from_real(h.beta));
    return h;
}

#ifndef CPU
// Step `step` of a panel: the reflection of column step - 1, from the sums that all work-groups left, and the sums for column `step`. Each
// work-group has PANEL_ITEMS rows; `partial` has two places for products of a column with those behind it, `head` for its row.
__kernel __attribute__((reqd_work_group_size(PANEL_ITEMS, 1, 1))) void
qr_column(uint m, uint width, uint step, uint groups, __global SCALAR *a_of, ulong a_offset, ulong lda,
          __global SCALAR *partial, __global SCALAR *head, __global SCALAR *tau, ulong tau_offset)
{
    __local SCALAR products[PANEL * PANEL_ITEMS];
    __local SCALAR sums[PANEL * SHARES], factor[PANEL], row_of[PANEL];
    const uint item = (uint)get_local_id(0), group = (uint)get_group_id(0);
    const uint row = group * PANEL_ITEMS + item;
    const uint next = step % 2, now = 1 - next;
    const uint column = item % PANEL, share = item / PANEL;
    __global SCALAR *own = a_of + a_offset + row;
    const bool reflects = step > 0;
    const uint c = reflects ? step - 1 : 0;
    SCALAR sum = SCALAR_ZERO;
    for (uint q = share; reflects && q < groups && column < width; q += SHARES) {
        sum += partial[(now * groups + q) * PANEL + column];
    }
    sums[share * PANEL + column] = sum;
    if (item < PANEL) {
        row_of[item] = reflects && item < width ? head[now * PANEL + item] : SCALAR_ZERO;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < PANEL) {
        SCALAR all = SCALAR_ZERO;
        for (uint q = 0; q < SHARES; ++q) {
            all += sums[q * PANEL + item];
        }
        sums[item] = all;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const Reflection h = reflection(row_of[c], scalar_re(sums[c]));
    if (item < PANEL) {
        factor[item] = scalar_mul_conj(h.tau, row_of[item] + scalar_mul_conj(h.scale, sums[item]));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (reflects && row < m && row >= c) {
        const SCALAR v = row == c ? SCALAR_ONE : scalar_mul(h.scale, own[c * lda]);
        own[c * lda] = row == c ? scalar_from_real(h.beta) : v;
        for (uint j = c + 1; j < width; ++j) {
            own[j * lda] = scalar_mad(-v, factor[j], own[j * lda]);
        }
    }
    if (reflects && group == 0 && item == 0) {
        tau[tau_offset + c] = h.tau;
    }
    const bool below = step < width && row < m && row > step;
    const SCALAR left = below ? scalar_conj(own[step * lda]) : SCALAR_ZERO;
    for (uint j = 0; j < PANEL; ++j) {
        products[j * PANEL_ITEMS + item] =
            below && j >= step && j < width ? scalar_mul(left, own[j * lda]) : SCALAR_ZERO;
    }
    if (step < width && row == step) {
        for (uint j = 0; j < width; ++j) {
            head[next * PANEL + j] = own[j * lda];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    SCALAR part = SCALAR_ZERO;
    for (uint i = 0; i < PANEL; ++i) {
        part += products[column * PANEL_ITEMS + share * PANEL + (i + column) % PANEL];
    }
    sums[share * PANEL + column] = part;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < PANEL) {
        SCALAR all = SCALAR_ZERO;
        for (uint q = 0; q < SHARES; ++q) {
            all += sums[q * PANEL + item];
        }
        partial[(next * groups + group) * PANEL + item] = all;
    }
}
#else
// A panel by one item.
__kernel void qr_panel(uint m, uint width, __global SCALAR *a_of, ulong a_offset, ulong lda, __global SCALAR *tau,
                       ulong tau_offset)
{
    for (uint c = 0; c < width; ++c) {
        __global SCALAR *x = a_of + a_offset + c * lda;
        REAL rest = ZERO;
        for (uint i = c + 1; i < m; ++i) {
            rest += scalar_abs2(x[i]);
        }
        const Reflection h = reflection(x[c], rest);
        tau[tau_offset + c] = h.tau;
        x[c] = scalar_from_real(h.beta);
        for (uint i = c + 1; i < m; ++i) {
            x[i] = scalar_mul(h.scale, x[i]);
        }
        for (uint j = c + 1; j < width; ++j) {
            __global SCALAR *y = a_of + a_offset + j * lda;
            SCALAR sum = y[c];
            for (uint i = c + 1; i < m; ++i) {
                sum += scalar_mul_conj(x[i], y[i]);
            }
            const SCALAR factor = scalar_mul_conj(h.tau, sum);
            y[c] -= factor;
            for (uint i = c + 1; i < m; ++i) {
                y[i] = scalar_mad(-x[i], factor, y[i]);
            }
        }
    }
}
#endif

// The upper triangle T with H_1 ... H_n = 1 - V T V', from the products V'V; an item per row.
__kernel void qr_triangle(uint n, __global const SCALAR *products, __global const SCALAR *tau, ulong tau_offset,
                          __global SCALAR *t)
{
    const uint i = (uint)get_global_id(0);
    if (i < n) {
        for (uint j = 0; j < n; ++j) {
            SCALAR value = SCALAR_ZERO;
            for (uint l = i; l < j; ++l) {
                value = scalar_mad(t[l * n + i], products[j * n + l], value);
            }
            const SCALAR factor = tau[tau_offset + j];
            t[j * n + i] = j < i ? SCALAR_ZERO : j == i ? factor : -scalar_mul(factor, value);
        }
    }
}
