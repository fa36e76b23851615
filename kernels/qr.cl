// QR factorisation by Householder reflections: panels of at most PANEL columns, and the triangles of compact WY products
// (Schreiber and Van Loan, SIAM J. Sci. Stat. Comput. 10, 1989), by LAPACK's conventions: H = 1 - tau v v' with v = 1 in its own row.
//
//@ build
//@ build CPU=1
//@ build COOPERATIVE=1000 CAPABILITY=80
//@ build SCALAR_COMPLEX=1
//@ build SCALAR_COMPLEX=1 CPU=1
//@ build SCALAR_COMPLEX=1 COOPERATIVE=1000 CAPABILITY=80
#include "common.clh"
#include "scalar.clh"
#include "cooperative.clh"

// Columns of a panel, and reflections of a block, at most.
#ifdef CPU
#define PANEL 32
#else
#define PANEL 16
#endif
#define BLOCK 128
// Items of a work-group of a panel: SEGMENTS of a column have ITEM_ROWS rows each. The work-group has PANEL_ROWS rows at a time.
#define PANEL_ITEMS 256
#define SEGMENTS (PANEL_ITEMS / PANEL)
#define ITEM_ROWS 16
#define PANEL_ROWS (SEGMENTS * ITEM_ROWS)
// Sums of a column in local memory, with a gap that spreads columns over the banks.
#define LD_SUMS (SEGMENTS + 1)

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
// The row of the i-th element of an item: neighbouring items have neighbouring rows.
#define ITEM_ROW(i) (from + (i) * SEGMENTS + segment)

// Steps `first` to `last` - 1 of a panel: step s applies the reflection of column s - 1, from the sums that all work-groups left, and leaves
// the sums for column s: its products with all columns below row s (`partial`, one of two places), and row s (`head`). So a column
// takes one launch; with COOPERATIVE, work-groups that all run at the same time wait for each other instead, and keep their rows in
// registers. A work-group has `rows_each` rows, a multiple of PANEL_ROWS; with COOPERATIVE that number. The products with the
// vectors of earlier columns give the triangle T of the panel.
__kernel __attribute__((reqd_work_group_size(PANEL_ITEMS, 1, 1))) void
qr_columns(uint m, uint width, uint first, uint last, uint groups, uint rows_each, __global SCALAR *a_of, ulong a_offset,
           ulong lda, __global volatile SCALAR *partial, __global volatile SCALAR *head, __global SCALAR *tau, ulong tau_offset,
           __global SCALAR *t_of, ulong t_offset, ulong ldt, __global volatile uint *signals, uint signalled,
           __global uint *late)
{
    __local SCALAR vector[PANEL_ROWS], next_vector[PANEL_ROWS];
    __local SCALAR sums[PANEL * LD_SUMS], factor[PANEL], row_of[PANEL], total[PANEL];
    const uint item = (uint)get_local_id(0);
    const uint group = (uint)get_group_id(0);
    const uint column = item / SEGMENTS, segment = item % SEGMENTS;
    const bool inside = column < width;
    __global SCALAR *own = a_of + a_offset + column * lda;
    __global SCALAR *t = t_of + t_offset;
    SCALAR kept[ITEM_ROWS];
#ifdef COOPERATIVE
    const uint from = group * PANEL_ROWS;
#pragma unroll
    for (uint i = 0; i < ITEM_ROWS; ++i) {
        kept[i] = inside && ITEM_ROW(i) < m ? own[ITEM_ROW(i)] : SCALAR_ZERO;
    }
#endif
    for (uint step = first; step < last; ++step) {
        const bool reflects = step > 0;
        const uint c = reflects ? step - 1 : 0;
        const uint next = step % 2, now = 1 - next;
        SCALAR sum = SCALAR_ZERO;
        for (uint q = segment; reflects && q < groups; q += SEGMENTS) {
            sum += partial[(now * PANEL + column) * groups + q];
        }
        sums[column * LD_SUMS + segment] = sum;
        if (item < PANEL) {
            row_of[item] = reflects ? head[now * PANEL + item] : SCALAR_ZERO;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < PANEL) {
            SCALAR all = SCALAR_ZERO;
            for (uint q = 0; q < SEGMENTS; ++q) {
                all += sums[item * LD_SUMS + q];
            }
            total[item] = all;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const Reflection h = reflection(row_of[c], scalar_re(total[c]));
        if (item < PANEL) {
            // The product of v with the column: for those behind it the factor of v, for earlier ones an element of V'V.
            const SCALAR product = row_of[item] + scalar_mul_conj(h.scale, total[item]);
            factor[item] = item > c ? scalar_mul_conj(h.tau, product) : product;
        }
        sum = SCALAR_ZERO;
#ifndef COOPERATIVE
        for (uint from = group * rows_each; from < (group + 1) * rows_each; from += PANEL_ROWS) {
#pragma unroll
            for (uint i = 0; i < ITEM_ROWS; ++i) {
                kept[i] = inside && ITEM_ROW(i) < m ? own[ITEM_ROW(i)] : SCALAR_ZERO;
            }
#endif
            if (column == c) {
#pragma unroll
                for (uint i = 0; i < ITEM_ROWS; ++i) {
                    vector[i * SEGMENTS + segment] = kept[i];
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
            for (uint i = 0; i < ITEM_ROWS; ++i) {
                const SCALAR v =
                    ITEM_ROW(i) == c ? SCALAR_ONE : scalar_mul(h.scale, vector[i * SEGMENTS + segment]);
                if (reflects && ITEM_ROW(i) >= c && column > c) {
                    kept[i] = scalar_mad(-v, factor[column], kept[i]);
                }
                if (reflects && ITEM_ROW(i) >= c && column == c) {
                    kept[i] = ITEM_ROW(i) == c ? scalar_from_real(h.beta) : v;
                }
                if (column == step) {
                    next_vector[i * SEGMENTS + segment] = kept[i];
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
            for (uint i = 0; i < ITEM_ROWS; ++i) {
                if (ITEM_ROW(i) > step && step < width) {
                    sum += scalar_mul_conj(next_vector[i * SEGMENTS + segment], kept[i]);
                }
                if (ITEM_ROW(i) == step && step < width) {
                    head[next * PANEL + column] = kept[i];
                }
            }
#ifndef COOPERATIVE
#pragma unroll
            for (uint i = 0; i < ITEM_ROWS; ++i) {
                if (reflects && inside && column >= c && ITEM_ROW(i) >= c && ITEM_ROW(i) < m) {
                    own[ITEM_ROW(i)] = kept[i];
                }
            }
        }
#endif
        sums[column * LD_SUMS + segment] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < PANEL) {
            SCALAR all = SCALAR_ZERO;
            for (uint q = 0; q < SEGMENTS; ++q) {
                all += sums[item * LD_SUMS + q];
            }
            partial[(next * PANEL + item) * groups + group] = all;
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (item == 0) {
            SET_SIGNAL(signals + group, signalled + (step - first + 1));
        }
        // Column c of T, an item per row: 1 - V T V' = (1 - V_c T_c V_c') H_c.
        if (reflects && group == 0 && item < c) {
            SCALAR value = SCALAR_ZERO;
            for (uint l = item; l < c; ++l) {
                value = scalar_mad(t[l * ldt + item], scalar_conj(factor[l]), value);
            }
            t[c * ldt + item] = -scalar_mul(h.tau, value);
        }
        if (reflects && group == 0 && item == c) {
            t[c * ldt + c] = h.tau;
            tau[tau_offset + c] = h.tau;
        }
        for (uint q = item; step + 1 < last && q < groups; q += PANEL_ITEMS) {
            AWAIT_SIGNAL(signals + q, signalled + (step - first + 1), late)
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
#ifdef COOPERATIVE
    (void)rows_each;
#pragma unroll
    for (uint i = 0; i < ITEM_ROWS; ++i) {
        if (inside && ITEM_ROW(i) < m) {
            own[ITEM_ROW(i)] = kept[i];
        }
    }
#endif
}
#else
// A panel by one item, with its triangle T.
__kernel void qr_panel(uint m, uint width, __global SCALAR *a_of, ulong a_offset, ulong lda, __global SCALAR *tau,
                       ulong tau_offset, __global SCALAR *t_of, ulong t_offset, ulong ldt)
{
    __global SCALAR *t = t_of + t_offset;
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
        // Column c of T: 1 - V T V' = (1 - V_c T_c V_c') H_c.
        for (uint j = 0; j < c; ++j) {
            __global const SCALAR *v = a_of + a_offset + j * lda;
            SCALAR sum = scalar_conj(v[c]);
            for (uint i = c + 1; i < m; ++i) {
                sum += scalar_mul_conj(v[i], x[i]);
            }
            t[c * ldt + j] = SCALAR_ZERO;
            for (uint i = 0; i <= j; ++i) {
                t[c * ldt + i] -= scalar_mul(h.tau, scalar_mul(t[j * ldt + i], sum));
            }
        }
        t[c * ldt + c] = h.tau;
    }
}
#endif

// Joins neighbouring triangles of at most `side` columns, p and q, of a block of `count` reflections, from the products V'V:
// T(p, q) = -T(p, p) (V_p'V_q) T(q, q). A work-group takes JOINED columns of q.
#ifdef CPU
#define JOINED 1
#define JOIN_ROWS 1
#else
#define JOINED 4
#define JOIN_ROWS 64
#endif
__kernel __attribute__((reqd_work_group_size(JOINED * JOIN_ROWS, 1, 1))) void
join_triangles(uint count, uint side, __global const SCALAR *products, __global SCALAR *t_of, ulong t_offset, ulong ldt)
{
    __local SCALAR half_way[JOINED * BLOCK / 2];
    const uint item = (uint)get_local_id(0), group = (uint)get_group_id(0);
    const uint groups = (side + JOINED - 1) / JOINED;
    const uint above = item % JOIN_ROWS, own = item / JOIN_ROWS;
    const uint p = group / groups * 2 * side, q = p + side;
    const uint j = q + group % groups * JOINED + own;
    const bool inside = j < min(q + side, count);
    __global SCALAR *t = t_of + t_offset;
    for (uint i = above; inside && i < side; i += JOIN_ROWS) {
        SCALAR sum = SCALAR_ZERO;
        for (uint l = q; l <= j; ++l) {
            sum = scalar_mad(products[l * count + p + i], t[j * ldt + l], sum);
        }
        half_way[own * (BLOCK / 2) + i] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = above; inside && i < side; i += JOIN_ROWS) {
        SCALAR sum = SCALAR_ZERO;
        for (uint l = i; l < side; ++l) {
            sum = scalar_mad(t[(p + l) * ldt + p + i], half_way[own * (BLOCK / 2) + l], sum);
        }
        t[j * ldt + p + i] = -sum;
    }
}
