// Systems with multifrontal factors, by substitution on CPUs and by products with the inverses of the pivots' triangles on GPUs, and their backward
// errors; fronts.clh has the layout of fronts.
//
// With ADJOINT the systems are those with the adjoint of LU factors. With SYMMETRIC the factors are Cholesky's, or with INDEFINITE L D L', which
// multifrontal_ldl.cl describes.
//
// Traffic: the factors once for each RIGHT right-hand sides, or on CPUs for each one.
//@ build
//@ build SYMMETRIC=1
//@ build SYMMETRIC=1 INDEFINITE=1
//@ build ADJOINT=1
//@ build CPU=1
//@ build CPU=1 SYMMETRIC=1
//@ build CPU=1 SYMMETRIC=1 INDEFINITE=1
//@ build CPU=1 ADJOINT=1
//@ build RIGHT=8
//@ build RIGHT=8 SYMMETRIC=1
//@ build RIGHT=8 SYMMETRIC=1 INDEFINITE=1
//@ build RIGHT=8 ADJOINT=1
//@ build SCALAR_COMPLEX=1
//@ build SCALAR_COMPLEX=1 SYMMETRIC=1
//@ build SCALAR_COMPLEX=1 SYMMETRIC=1 INDEFINITE=1
//@ build SCALAR_COMPLEX=1 SYMMETRIC=1 INDEFINITE=1 TRANSPOSED=1
//@ build SCALAR_COMPLEX=1 ADJOINT=1
//@ build SCALAR_COMPLEX=1 CPU=1
//@ build SCALAR_COMPLEX=1 CPU=1 SYMMETRIC=1
//@ build SCALAR_COMPLEX=1 CPU=1 SYMMETRIC=1 INDEFINITE=1
//@ build SCALAR_COMPLEX=1 CPU=1 SYMMETRIC=1 INDEFINITE=1 TRANSPOSED=1
//@ build SCALAR_COMPLEX=1 CPU=1 ADJOINT=1
//@ build SCALAR_COMPLEX=1 RIGHT=8
//@ build SCALAR_COMPLEX=1 RIGHT=8 SYMMETRIC=1
//@ build SCALAR_COMPLEX=1 RIGHT=8 SYMMETRIC=1 INDEFINITE=1
//@ build SCALAR_COMPLEX=1 RIGHT=8 SYMMETRIC=1 INDEFINITE=1 TRANSPOSED=1
//@ build SCALAR_COMPLEX=1 RIGHT=8 ADJOINT=1
#include "common.clh"
#include "scalar.clh"
#include "elimination.clh"
#include "fronts.clh"

// Right-hand sides of a work-group.
#ifndef RIGHT
#define RIGHT 1
#endif

// Element i of right-hand side r among `columns` in the order of elimination: of columns of `length` numbers on CPUs, and of rows on GPUs, where
// neighbouring items have neighbouring right-hand sides.
#ifdef CPU
#define AT(i, r, length, columns) ((r) * (length) + (i))
#else
#define AT(i, r, length, columns) ((i) * (columns) + (r))
#endif

// Where the rows of pivots were exchanged, and where they are put back in the second step.
#if !defined(SYMMETRIC) || defined(INDEFINITE)
#define HAS_EXCHANGES
#endif
#if defined(ADJOINT) || defined(INDEFINITE)
#define PUTS_BACK
#endif

// Where the second step of a solve is with the adjoint of columns of L.
#if defined(SYMMETRIC) || defined(ADJOINT)
#define BY_COLUMNS
#define IS_BY_COLUMNS true
#else
#define IS_BY_COLUMNS false
#endif

// y = the scaled columns of b in the order of elimination, and back, where `conjugates` is not 0 their conjugates.
__kernel void permute(ulong n, ulong count, uint conjugates, __global const uint *place, __global const REAL *scale,
                      __global const SCALAR *b, __global SCALAR *y)
{
    for (size_t e = get_global_id(0); e < n * count; e += get_global_size(0)) {
        const size_t r = e / n, i = e - r * n;
        y[AT(place[i], r, n, count)] = scalar_scale(scale[i], conjugates ? scalar_conj(b[e]) : b[e]);
    }
}

__kernel void permute_back(ulong n, ulong count, uint conjugates, __global const uint *place, __global const REAL *scale,
                           __global const SCALAR *y, __global SCALAR *x)
{
    for (size_t e = get_global_id(0); e < n * count; e += get_global_size(0)) {
        const size_t r = e / n, i = e - r * n;
        const SCALAR value = y[AT(place[i], r, n, count)];
        x[e] = scalar_scale(scale[i], conjugates ? scalar_conj(value) : value);
    }
}

// Adds what the children leave for the rows of the fronts of a level: to y for pivots, to `sums` for others, of which each right-hand side has
// `width`; the lists of rows of the level and of the children begin at `begin` and `children_begin`.
// A work-group has RIGHT right-hand sides, or on CPUs one.
__kernel GROUP void gather_forward(ulong first_front, ulong n, ulong width, ulong columns, ulong begin, ulong children_begin,
                                   __global const ulong *fronts, __global const uint *map,
                                   __global const SCALAR *of_children, __global SCALAR *y, __global SCALAR *sums)
{
#ifdef CPU
    (void)columns;
    const size_t each = 1, first = get_global_id(1);
#else
    (void)n;
    (void)width;
    const size_t first = RIGHT * get_group_id(1), each = min((size_t)RIGHT, columns - first);
#endif
    const size_t position = first_front + TASK, children_count = CHILDREN_OF(position);
    const front_type front = front_at(fronts, position);
    const size_t own = front.rows - begin;
    for (size_t e = ITEM; e < front.rest * each; e += ITEMS) {
        sums[AT(own + e / each, first + e % each, width, columns)] = SCALAR_ZERO;
    }
    WAIT;
    for (size_t c = 0; c < children_count; ++c) {
        const front_type child = front_at(fronts, front.children + c);
        const size_t theirs = child.rows - children_begin;
        for (size_t e = ITEM; e < child.rest * each; e += ITEMS) {
            const size_t k = e / each, r = first + e % each, i = map[child.rows + k];
            const SCALAR value = of_children[AT(theirs + k, r, width, columns)];
            if (i < front.pivots) {
                y[AT(front.first + i, r, n, columns)] += value;
            } else {
                sums[AT(own + i - front.pivots, r, width, columns)] += value;
            }
        }
        WAIT;
    }
}

#ifdef INDEFINITE
// The numbers of a step in `blocks` and where those of the inverse of D begin.
#define STEP 4
#define INVERSE 2

// x = inv(D) x in the order of the steps. An item has a block of a right-hand side.
__kernel void solve_blocks(ulong n, ulong columns, __global const SCALAR *blocks, __global SCALAR *x)
{
    for (size_t e = get_global_id(0); e < n * columns; e += get_global_size(0)) {
        const size_t r = e / n, k = e - r * n;
        __global const SCALAR *block = blocks + STEP * k;
        const bool is_second = k > 0 && !scalar_is_zero(blocks[STEP * (k - (k > 0)) + 1]), is_pair = k + 1 < n && !scalar_is_zero(block[1]);
        if (!is_second) {
            const SCALAR first = x[AT(k, r, n, columns)];
            SCALAR solution = scalar_mul(block[INVERSE], first);
            if (is_pair) {
                const SCALAR second = x[AT(k + 1, r, n, columns)], below = block[INVERSE + 1];
                solution = scalar_mad(scalar_mirror(below), second, solution);
                x[AT(k + 1, r, n, columns)] = scalar_mad(below, first, scalar_mul(block[STEP + INVERSE], second));
            }
            x[AT(k, r, n, columns)] = solution;
        }
    }
}
#endif

#ifdef CPU
// The solutions at the other rows of a level.
__kernel void gather_backward(ulong begin, ulong count, ulong columns, ulong n, ulong width, __global const uint *row_of,
                              __global const SCALAR *y, __global SCALAR *known)
{
    for (size_t e = get_global_id(0); e < count * columns; e += get_global_size(0)) {
        const size_t r = e / count, i = e - r * count;
        known[r * width + i] = y[r * n + row_of[begin + i]];
    }
}

// Solves with the triangles L of fronts, or the adjoint of U, and adds minus the product of its other rows with the solution to `sums`.
__kernel void forward(ulong first_front, ulong n, ulong width, ulong begin, __global const ulong *fronts,
                      __global const SCALAR *factors, __global const uint *pivot_of, __global SCALAR *y, __global SCALAR *sums)
{
    const front_type front = front_at(fronts, first_front + TASK);
    const size_t r = get_global_id(1);
    __global const SCALAR *a = factors + front.factors;
    __global SCALAR *x = y + r * n + front.first, *own = sums + r * width + front.rows - begin;
#ifdef ADJOINT
    (void)pivot_of;
    for (size_t k = 0; k < front.pivots; ++k) {
        __global const SCALAR *column = a + k * front.order;
        x[k] = scalar_div(subtract_dot(k, column, x, x[k]), scalar_conj(column[k]));
    }
    for (size_t j = 0; j < front.rest; ++j) {
        own[j] = subtract_dot(front.pivots, a + (front.order + j) * front.pivots, x, own[j]);
    }
#else
#ifdef HAS_EXCHANGES
    for (size_t k = 0; k < front.pivots; ++k) {
        exchange(x, k, pivot_of[front.first + k] - front.first);
    }
#else
    (void)pivot_of;
#endif
    for (size_t k = 0; k < front.pivots; ++k) {
        __global const SCALAR *column = a + k * front.order;
#ifndef HAS_EXCHANGES
        x[k] = scalar_div(x[k], column[k]);
#endif
        subtract_multiple(front.pivots - k - 1, x[k], column + k + 1, x + k + 1);
        subtract_multiple(front.rest, x[k], column + front.pivots, own);
    }
#endif
}

// Solves with the triangles U, or the adjoint of L, of fronts, where the solutions at the other rows are known.
__kernel void backward(ulong first_front, ulong n, ulong width, ulong begin, __global const ulong *fronts,
                       __global const SCALAR *factors, __global const uint *pivot_of, __global SCALAR *y, __global const SCALAR *known)
{
    const front_type front = front_at(fronts, first_front + TASK);
    const size_t r = get_global_id(1), pivots = front.pivots;
    __global const SCALAR *a = factors + front.factors;
    __global SCALAR *x = y + r * n + front.first;
    __global const SCALAR *others = known + r * width + front.rows - begin;
#ifdef BY_COLUMNS
    for (size_t k = 0; k < pivots; ++k) {
        x[k] = subtract_dot(front.rest, a + k * front.order + pivots, others, x[k]);
    }
#else
    for (size_t j = 0; j < front.rest; ++j) {
        subtract_multiple(pivots, others[j], a + (front.order + j) * pivots, x);
    }
#endif
    for (size_t back = 0; back < pivots; ++back) {
        const size_t k = pivots - 1 - back;
        __global const SCALAR *column = a + k * front.order;
#ifdef BY_COLUMNS
        x[k] = subtract_dot(back, column + k + 1, x + k + 1, x[k]);
#endif
#ifndef PUTS_BACK
        x[k] = scalar_div(x[k], column[k]);
#endif
#ifndef BY_COLUMNS
        subtract_multiple(k, x[k], column, x);
#endif
    }
#ifdef PUTS_BACK
    for (size_t back = 0; back < pivots; ++back) {
        const size_t k = pivots - 1 - back;
        exchange(x, k, pivot_of[front.first + k] - front.first);
    }
#else
    (void)pivot_of;
#endif
}
#else
// Items that share a row of a tile.
#define SHARES (ITEMS / TILE)
// Columns of a task of products with adjoints, and items that share one.
#define COLUMNS 8
#define LANES (ITEMS / COLUMNS)

// What a task of a solve has: a front, the first of some of its rows or columns, and the first of RIGHT right-hand sides.
typedef struct {
    front_type front;
    size_t begin, right, columns;
} task_type;

inline task_type task_at(__global const uint *task, size_t number, __global const ulong *fronts, size_t columns)
{
    task_type at;
    at.front = front_at(fronts, task[2 * number]);
    at.begin = task[2 * number + 1];
    at.right = RIGHT * get_group_id(1);
    at.columns = columns;
    return at;
}

// An item's share of the sums over k < count of a[k * stride] times element first + k of x, or the one that `list` names, for each right-hand
// side: to `shares`, by right-hand sides.
inline void share_products(const task_type *at, size_t share, size_t of_shares, size_t count, __global const SCALAR *a, size_t stride,
                           bool adjoint, __global const uint *list, size_t first, __global const SCALAR *x, __local SCALAR *shares)
{
    SCALAR sums[RIGHT];
    for (size_t r = 0; r < RIGHT; ++r) {
        sums[r] = SCALAR_ZERO;
    }
    for (size_t k = share; k < count; k += of_shares) {
        const SCALAR value = adjoint ? scalar_mirror(a[k * stride]) : a[k * stride];
        __global const SCALAR *row = x + (list ? list[k] : first + k) * at->columns;
        for (size_t r = 0; r < RIGHT; ++r) {
            sums[r] = scalar_mad(value, row[min(at->right + r, at->columns - 1)], sums[r]);
        }
    }
    for (size_t r = 0; r < RIGHT; ++r) {
        shares[r * ITEMS + ITEM] = sums[r];
    }
}

inline SCALAR sum_of(__local const SCALAR *shares, size_t count, size_t stride)
{
    SCALAR sum = shares[0];
    for (size_t k = 1; k < count; ++k) {
        sum += shares[k * stride];
    }
    return sum;
}

// The row of an item, and which of its shares it has.
#define ROW_OF(at) ((at).begin + ITEM % TILE)
#define SHARE (ITEM / TILE)
// The right-hand sides whose sums an item adds, by rows, and where their shares begin.
#define FOR_RIGHT(r, at, share, of_shares) for (size_t r = share; r < min((size_t)RIGHT, (at).columns - (at).right); r += of_shares)
#define SUM_OF_ROW(r) sum_of(shares + (r) * ITEMS + ITEM % TILE, SHARES, TILE)
// The same of the columns of a task.
#define COLUMN_OF(at) ((at).begin + ITEM / LANES)
#define LANE (ITEM % LANES)
#define SUM_OF_COLUMN(r) sum_of(shares + (r) * ITEMS + ITEM - LANE, LANES, 1)

// z = inv(L) P y for a tile of the pivots of a front, or inv(U') y for some of its columns.
__kernel GROUP void forward_pivots(ulong first_task, ulong columns, __global const uint *task, __global const ulong *fronts,
                                   __global const SCALAR *factors, __global const uint *row_of_pivot,
                                   __global const SCALAR *y, __global SCALAR *z)
{
    __local SCALAR shares[RIGHT * ITEMS];
    const task_type at = task_at(task, first_task + TASK, fronts, columns);
    const size_t first = at.front.first, pivots = at.front.pivots, order = at.front.order;
    __global const SCALAR *a = factors + at.front.factors;
#ifdef ADJOINT
    (void)row_of_pivot;
    const size_t k = COLUMN_OF(at);
    share_products(&at, LANE, LANES, k < pivots ? k + 1 : 0, a + k * order, 1, true, 0, first, y, shares);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (k < pivots) {
        FOR_RIGHT (r, at, LANE, LANES) {
            z[(first + k) * columns + at.right + r] = SUM_OF_COLUMN(r);
        }
    }
#else
    const size_t i = ROW_OF(at);
#ifdef INDEFINITE
    share_products(&at, SHARE, SHARES, i < pivots ? i + 1 : 0, a + i, order, false, row_of_pivot + first, 0, y, shares);
#elif defined(SYMMETRIC)
    (void)row_of_pivot;
    share_products(&at, SHARE, SHARES, i < pivots ? i + 1 : 0, a + i, order, false, 0, first, y, shares);
#else
    __global const uint *rows = row_of_pivot + first;
    share_products(&at, SHARE, SHARES, i < pivots ? i : 0, a + i, order, false, rows, 0, y, shares);
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < pivots) {
        FOR_RIGHT (r, at, SHARE, SHARES) {
            const size_t column = at.right + r;
#ifdef SYMMETRIC
            z[(first + i) * columns + column] = SUM_OF_ROW(r);
#else
            z[(first + i) * columns + column] = y[rows[i] * columns + column] + SUM_OF_ROW(r);
#endif
        }
    }
#endif
}

// Adds -L z, or -U' z, to `sums` for a tile, or with U' a few, of the other rows of a front.
__kernel GROUP void forward_rest(ulong first_task, ulong columns, ulong begin, __global const uint *task,
                                 __global const ulong *fronts, __global const SCALAR *factors, __global const SCALAR *z,
                                 __global SCALAR *sums)
{
    __local SCALAR shares[RIGHT * ITEMS];
    const task_type at = task_at(task, first_task + TASK, fronts, columns);
    const size_t first = at.front.first, pivots = at.front.pivots, rest = at.front.rest, order = at.front.order;
    __global const SCALAR *a = factors + at.front.factors;
#ifdef ADJOINT
    const size_t i = COLUMN_OF(at), share = LANE, of_shares = LANES;
    share_products(&at, share, of_shares, i < rest ? pivots : 0, a + (order + i) * pivots, 1, true, 0, first, z, shares);
#else
    const size_t i = ROW_OF(at), share = SHARE, of_shares = SHARES;
    share_products(&at, share, of_shares, i < rest ? pivots : 0, a + pivots + i, order, false, 0, first, z, shares);
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < rest) {
        FOR_RIGHT (r, at, share, of_shares) {
#ifdef ADJOINT
            const SCALAR sum = SUM_OF_COLUMN(r);
#else
            const SCALAR sum = SUM_OF_ROW(r);
#endif
            sums[(at.front.rows - begin + i) * columns + at.right + r] -= sum;
        }
    }
}

// y = z - U z, or z - L' z, at the other rows, for some of the pivots of a front.
__kernel GROUP void backward_rest(ulong first_task, ulong columns, __global const uint *task, __global const ulong *fronts,
                                  __global const uint *row_of, __global const SCALAR *factors, __global const SCALAR *z,
                                  __global SCALAR *y)
{
    __local SCALAR shares[RIGHT * ITEMS];
    const task_type at = task_at(task, first_task + TASK, fronts, columns);
    const size_t pivots = at.front.pivots, rest = at.front.rest, order = at.front.order;
    __global const SCALAR *a = factors + at.front.factors;
    __global const uint *others = row_of + at.front.rows;
#ifdef BY_COLUMNS
    const size_t k = COLUMN_OF(at), share = LANE, of_shares = LANES;
    share_products(&at, share, of_shares, k < pivots ? rest : 0, a + k * order + pivots, 1, true, others, 0, z, shares);
#else
    const size_t k = ROW_OF(at), share = SHARE, of_shares = SHARES;
    share_products(&at, share, of_shares, k < pivots ? rest : 0, a + order * pivots + k, pivots, false, others, 0, z, shares);
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    if (k < pivots) {
        FOR_RIGHT (r, at, share, of_shares) {
#ifdef BY_COLUMNS
            const SCALAR sum = SUM_OF_COLUMN(r);
#else
            const SCALAR sum = SUM_OF_ROW(r);
#endif
            const size_t place = (at.front.first + k) * columns + at.right + r;
            y[place] = z[place] - sum;
        }
    }
}

// z = inv(U) y, or inv(L') y, for some of the pivots of a front; with ADJOINT or INDEFINITE in the rows that its exchanges brought to them.
__kernel GROUP void backward_pivots(ulong first_task, ulong columns, __global const uint *task, __global const ulong *fronts,
                                    __global const SCALAR *factors, __global const uint *row_of_pivot,
                                    __global const SCALAR *y, __global SCALAR *z)
{
    __local SCALAR shares[RIGHT * ITEMS];
    const task_type at = task_at(task, first_task + TASK, fronts, columns);
    const size_t first = at.front.first, pivots = at.front.pivots, order = at.front.order;
#ifdef BY_COLUMNS
    const size_t k = COLUMN_OF(at), stride = 1, share = LANE, of_shares = LANES;
#else
    const size_t k = ROW_OF(at), stride = order, share = SHARE, of_shares = SHARES;
#endif
    // From the diagonal on, where that is stored.
#ifdef ADJOINT
    const size_t from = k + 1;
#else
    (void)row_of_pivot;
    const size_t from = k;
#endif
    __global const SCALAR *a = factors + at.front.factors + k * order + k + (from - k) * stride;
    share_products(&at, share, of_shares, max(pivots, from) - from, a, stride, IS_BY_COLUMNS, 0, first + from, y, shares);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (k < pivots) {
        FOR_RIGHT (r, at, share, of_shares) {
            const size_t column = at.right + r;
#ifdef ADJOINT
            z[row_of_pivot[first + k] * columns + column] = y[(first + k) * columns + column] + SUM_OF_COLUMN(r);
#elif defined(INDEFINITE)
            z[row_of_pivot[first + k] * columns + column] = SUM_OF_COLUMN(r);
#elif defined(SYMMETRIC)
            z[(first + k) * columns + column] = SUM_OF_COLUMN(r);
#else
            z[(first + k) * columns + column] = SUM_OF_ROW(r);
#endif
        }
    }
}
#endif

inline REAL larger(REAL a, REAL b)
{
    return b > a || isnan(b) ? b : a;
}

// The residuals b - A x of columns of n numbers, and the largest componentwise backward error of each work-group's rows: |b - A x| over
// (|A| |x| + |b|), 0 where both are.
__kernel GROUP void backward_errors(ulong n, __global const uint *offset, __global const uint *column,
                                    __global const SCALAR *value, __global const SCALAR *x_of, __global const SCALAR *b_of,
                                    __global SCALAR *residual, __global REAL *largest)
{
#ifndef CPU
    __local REAL errors[ITEMS];
#endif
    const size_t groups = get_num_groups(0), begin = part_start(n, TASK, groups), until = part_start(n, TASK + 1, groups);
    const size_t r = get_group_id(1);
    __global const SCALAR *x = x_of + r * n, *b = b_of + r * n;
    REAL most = ZERO;
    for (size_t i = begin + ITEM; i < until; i += ITEMS) {
        SCALAR sum = b[i];
        REAL size = scalar_abs(sum);
        const size_t end = offset[i + 1];
        for (size_t e = offset[i]; e < end; ++e) {
            const SCALAR term = scalar_mul(value[e], x[column[e]]);
            sum -= term;
            size += scalar_abs(term);
        }
        residual[r * n + i] = sum;
        const REAL left = scalar_abs(sum);
        most = larger(most, left == ZERO ? ZERO : left / size);
    }
#ifndef CPU
    errors[ITEM] = most;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = ITEMS / 2; step > 0; step /= 2) {
        if (ITEM < step) {
            errors[ITEM] = larger(errors[ITEM], errors[ITEM + step]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    most = errors[0];
#endif
    if (ITEM == 0) {
        largest[r * groups + TASK] = most;
    }
}

// Adds corrections to columns of x, times -1, 0 or 1 each.
__kernel void correct(ulong n, __global const REAL *times, __global const SCALAR *correction, __global SCALAR *x)
{
    const size_t r = get_global_id(1);
    for (size_t i = get_global_id(0); times[r] != ZERO && i < n; i += get_global_size(0)) {
        x[r * n + i] += scalar_scale(times[r], correction[r * n + i]);
    }
}
