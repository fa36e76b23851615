// Multifrontal factorisation of sparse matrices, and systems with the factors (Duff and Reid 1983).
//
// A front has `pivots` rows and columns that are eliminated in it, from number `first` on, and `rest` others, listed in `row_of`. The factors are
// columns of pivots + rest numbers, with L below the diagonal and, with LU, U on and above it; the rows of U in the other columns follow, by
// columns of `pivots`. The rest by rest numbers that remain are its contribution to the parent; `map` has the places of its rows there.
// With SYMMETRIC the factor is Cholesky's L, and of contributions only the triangle on and below the diagonal is computed.
//
// Traffic: scatter 24 B per entry; assemble 3 numbers per number of a child's contribution and one per own one; factor reads and writes its
// front once per pivot from cache; forward and backward read the factors once per right-hand side.
//
// GPUs: a work-group per task or front. CPUs: an item.
// A barrier stands between a loop with barriers and loops within loops that follow: PoCL 3.1 runs these beyond their ends otherwise.
//@ build
//@ build SYMMETRIC=1
//@ build CPU=1
//@ build CPU=1 SYMMETRIC=1
//@ build SCALAR_COMPLEX=1
//@ build SCALAR_COMPLEX=1 SYMMETRIC=1
//@ build SCALAR_COMPLEX=1 CPU=1
//@ build SCALAR_COMPLEX=1 CPU=1 SYMMETRIC=1
#include "common.clh"
#include "scalar.clh"
#include "elimination.clh"

#define TASK get_group_id(0)
#ifdef CPU
#define GROUP
#define ITEM 0
#define ITEMS 1
#define WAIT (void)0
#else
// Items of a work-group.
#define ITEMS 128
#define GROUP __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
#define ITEM get_local_id(0)
#define WAIT barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#endif
#ifdef SYMMETRIC
#define IS_SYMMETRIC 1
#else
#define IS_SYMMETRIC 0
#endif

// Entries of a front that a task of the assembly has, about.
#define TASK_ENTRIES 4096
#define FIELDS 8

// Numbers of a front that loops with barriers run to.
#define PIVOTS_OF(position) fronts[FIELDS * (position) + 1]
#define CHILDREN_OF(position) fronts[FIELDS * (position) + 7]

typedef struct {
    size_t first, pivots, rest, order, factors, contribution, rows, children, count;
} front_type;

inline front_type front_at(__global const ulong *fronts, size_t position)
{
    __global const ulong *fields = fronts + FIELDS * position;
    front_type front;
    front.first = fields[0];
    front.pivots = fields[1];
    front.rest = fields[2];
    front.order = front.pivots + front.rest;
    front.factors = fields[3];
    front.contribution = fields[4];
    front.rows = fields[5];
    front.children = fields[6];
    front.count = fields[7];
    return front;
}

// Row i of the matrix of n rows: its entries, times the scales of their rows and columns, go to their places among the factors.
__kernel void scatter(ulong n, __global const uint *offset, __global const uint *column, __global const SCALAR *value,
                      __global const ulong *target, __global const REAL *row_scale,
                      __global const REAL *column_scale, __global SCALAR *factors)
{
    for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) {
        const size_t end = offset[i + 1];
        for (size_t e = offset[i]; e < end; ++e) {
            if (target[e] != ULONG_MAX) {
                factors[target[e]] = scalar_scale(column_scale[column[e]], scalar_scale(row_scale[i], value[e]));
            }
        }
    }
}

// The first of `count` increasing places that is not below `least`.
inline size_t first_place(__global const uint *places, size_t count, size_t least)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (places[middle] < least) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Adds the contributions of the children to some columns of a front. `task` has the front and the first of the columns.
__kernel GROUP void assemble(uint first_task, __global const uint *task, __global const ulong *fronts,
                             __global const uint *map, __global const SCALAR *children, __global SCALAR *factors_of,
                             __global SCALAR *contributions)
{
    __global const uint *own = task + 2 * (first_task + TASK);
    const size_t position = task[2 * (first_task + TASK)], children_count = CHILDREN_OF(position);
    const front_type front = front_at(fronts, position);
    const size_t begin = own[1], end = min(front.order, begin + max((size_t)1, TASK_ENTRIES / front.order));
    __global SCALAR *factors = factors_of + front.factors, *contribution = contributions + front.contribution;
    __global SCALAR *rows = factors + front.order * front.pivots;
    const size_t first_rest = max(begin, front.pivots) - front.pivots, end_rest = max(end, front.pivots) - front.pivots;
    for (size_t e = first_rest * front.rest + ITEM; e < end_rest * front.rest; e += ITEMS) {
        contribution[e] = SCALAR_ZERO;
    }
    WAIT;
    for (size_t c = 0; c < children_count; ++c) {
        const front_type child = front_at(fronts, front.children + c);
        __global const uint *places = map + child.rows;
        __global const SCALAR *values = children + child.contribution;
        const size_t low = first_place(places, child.rest, begin), high = first_place(places, child.rest, end);
        for (size_t e = low * child.rest + ITEM; e < high * child.rest; e += ITEMS) {
            const size_t column = e / child.rest, row = e - column * child.rest;
            if (!IS_SYMMETRIC || row >= column) {
                const size_t i = places[row], j = places[column];
                if (j < front.pivots) {
                    factors[j * front.order + i] += values[e];
                } else if (i < front.pivots) {
                    rows[(j - front.pivots) * front.pivots + i] += values[e];
                } else {
                    contribution[(j - front.pivots) * front.rest + i - front.pivots] += values[e];
                }
            }
        }
        WAIT;
    }
}

#ifdef SYMMETRIC
// Cholesky factors of fronts. `info` gets the largest of n less the step for all pivots that are not above `tiny`.
__kernel GROUP void factor_fronts(uint first_front, __global const uint *list, __global const ulong *fronts, ulong n, REAL tiny, REAL zero,
                                  __global SCALAR *factors_of, __global SCALAR *contributions,
                                  __global uint *pivot_of, __global volatile uint *info)
{
    (void)zero;
    (void)pivot_of;
    const size_t position = list[first_front + TASK], pivots = PIVOTS_OF(position);
    const front_type front = front_at(fronts, position);
    __global SCALAR *a = factors_of + front.factors, *contribution = contributions + front.contribution;
    const size_t order = front.order;
    for (size_t k = 0; k < pivots; ++k) {
        __global SCALAR *column = a + k * order;
        const REAL pivot = scalar_re(column[k]), root = sqrt(pivot), inverse = ONE / root;
        WAIT;
        if (ITEM == 0) {
            if (!(pivot > tiny)) {
                atomic_max(info, (uint)(n - front.first - k));
            }
            column[k] = scalar_from_real(root);
        }
        for (size_t i = k + 1 + ITEM; i < order; i += ITEMS) {
            column[i] = scalar_scale(inverse, column[i]);
        }
        WAIT;
#ifdef CPU
        for (size_t j = k + 1; j < pivots; ++j) {
            subtract_multiple(order - j, scalar_conj(column[j]), column + j, a + j * order + j);
        }
#else
        const size_t below = order - k - 1, right = pivots - k - 1;
        for (size_t e = ITEM; e < below * right; e += ITEMS) {
            const size_t j = k + 1 + e / below, i = k + 1 + e % below;
            if (i >= j) {
                a[j * order + i] = scalar_mad(-column[i], scalar_conj(column[j]), a[j * order + i]);
            }
        }
#endif
        WAIT;
    }
#ifdef CPU
    for (size_t j = 0; j < front.rest; ++j) {
        for (size_t k = 0; k < pivots; ++k) {
            __global const SCALAR *column = a + k * order + pivots;
            subtract_multiple(front.rest - j, scalar_conj(column[j]), column + j, contribution + j * front.rest + j);
        }
    }
#else
    WAIT;
    for (size_t e = ITEM; e < front.rest * front.rest; e += ITEMS) {
        const size_t j = e / front.rest, i = e - j * front.rest;
        if (i >= j) {
            SCALAR sum = contribution[e];
            for (size_t k = 0; k < pivots; ++k) {
                __global const SCALAR *column = a + k * order + pivots;
                sum = scalar_mad(-column[i], scalar_conj(column[j]), sum);
            }
            contribution[e] = sum;
        }
    }
#endif
}
#else
// LU factors of fronts, with the largest of the front's own rows as pivots: row first + k was exchanged with row pivot_of[first + k]. Pivots
// below `tiny`, or in the last front, whose rows have no others to grow, below `zero`, are replaced by one of the modulus `tiny` and counted in `info`.
__kernel GROUP void factor_fronts(uint first_front, __global const uint *list, __global const ulong *fronts, ulong n, REAL tiny, REAL zero,
                                  __global SCALAR *factors_of, __global SCALAR *contributions,
                                  __global uint *pivot_of, __global volatile uint *info)
{
    (void)n;
    const size_t position = list[first_front + TASK], pivots = PIVOTS_OF(position);
    const front_type front = front_at(fronts, position);
    __global SCALAR *a = factors_of + front.factors, *contribution = contributions + front.contribution;
    const size_t order = front.order;
    __global SCALAR *u = a + order * pivots;
    const REAL least = front.rest == 0 ? zero : tiny;
#ifndef CPU
    __local REAL sizes[ITEMS];
    __local uint rows[ITEMS];
#endif
    for (size_t k = 0; k < pivots; ++k) {
        __global SCALAR *column = a + k * order;
        REAL most = (REAL)-1;
        uint pivot = UINT_MAX;
        for (size_t i = k + ITEM; i < pivots; i += ITEMS) {
            const REAL size = pivot_size(column[i]);
            if (size > most) {
                most = size;
                pivot = (uint)i;
            }
        }
#ifndef CPU
        sizes[ITEM] = most;
        rows[ITEM] = pivot;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint step = ITEMS / 2; step > 0; step /= 2) {
            if (ITEM < step) {
                const REAL other = sizes[ITEM + step];
                const uint row = rows[ITEM + step];
                if (other > sizes[ITEM] || (other == sizes[ITEM] && row < rows[ITEM])) {
                    sizes[ITEM] = other;
                    rows[ITEM] = row;
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        pivot = rows[0];
#endif
        // The exchange in all columns of the front.
        for (size_t j = ITEM; pivot != k && j < order; j += ITEMS) {
            __global SCALAR *of_column = j < pivots ? a + j * order : u + (j - pivots) * pivots;
            const SCALAR moved = of_column[k];
            of_column[k] = of_column[pivot];
            of_column[pivot] = moved;
        }
        WAIT;
        const SCALAR found = column[k], divisor = sound_pivot(found, least, tiny);
        WAIT;
        if (ITEM == 0) {
            pivot_of[front.first + k] = (uint)(front.first + pivot);
            column[k] = divisor;
            if (is_tiny(found, least)) {
                atomic_inc(info);
            }
        }
        for (size_t i = k + 1 + ITEM; i < order; i += ITEMS) {
            column[i] = scalar_div(column[i], divisor);
        }
        WAIT;
#ifdef CPU
        for (size_t j = k + 1; j < pivots; ++j) {
            subtract_multiple(order - k - 1, a[j * order + k], column + k + 1, a + j * order + k + 1);
        }
        for (size_t j = 0; j < front.rest; ++j) {
            __global SCALAR *of_column = u + j * pivots;
            subtract_multiple(pivots - k - 1, of_column[k], column + k + 1, of_column + k + 1);
        }
#else
        const size_t below = order - k - 1, right = pivots - k - 1;
        for (size_t e = ITEM; e < below * right; e += ITEMS) {
            const size_t j = k + 1 + e / below, i = k + 1 + e % below;
            a[j * order + i] = scalar_mad(-column[i], a[j * order + k], a[j * order + i]);
        }
        for (size_t e = ITEM; e < right * front.rest; e += ITEMS) {
            const size_t j = e / right, i = k + 1 + e % right;
            u[j * pivots + i] = scalar_mad(-column[i], u[j * pivots + k], u[j * pivots + i]);
        }
#endif
        WAIT;
    }
#ifdef CPU
    for (size_t j = 0; j < front.rest; ++j) {
        for (size_t k = 0; k < pivots; ++k) {
            subtract_multiple(front.rest, u[j * pivots + k], a + k * order + pivots, contribution + j * front.rest);
        }
    }
#else
    WAIT;
    for (size_t e = ITEM; e < front.rest * front.rest; e += ITEMS) {
        const size_t j = e / front.rest, i = e - j * front.rest;
        SCALAR sum = contribution[e];
        for (size_t k = 0; k < pivots; ++k) {
            sum = scalar_mad(-a[k * order + pivots + i], u[j * pivots + k], sum);
        }
        contribution[e] = sum;
    }
#endif
}
#endif

// Notes for `info` what another factorisation found in a front that begins with pivot `first`: one more than its first pivot that is not positive.
__kernel void note_minor(ulong n, ulong first, __global uint *of_front, __global uint *info)
{
    if (of_front[0] > 0) {
        info[0] = max(info[0], (uint)(n - first - of_front[0] + 1));
        of_front[0] = 0;
    }
}

// The exchanges that another kernel made in a front of its own numbering.
__kernel void place_pivots(ulong first, uint count, __global const uint *local_pivots, __global uint *pivot_of)
{
    for (size_t k = get_global_id(0); k < count; k += get_global_size(0)) {
        pivot_of[first + k] = (uint)first + local_pivots[k];
    }
}

// Column r of y = the scaled column r of b in the order of elimination, and back.
__kernel void permute(ulong n, ulong count, __global const uint *place, __global const REAL *scale,
                      __global const SCALAR *b, __global SCALAR *y)
{
    for (size_t e = get_global_id(0); e < n * count; e += get_global_size(0)) {
        const size_t r = e / n, i = e - r * n;
        y[r * n + place[i]] = scalar_scale(scale[i], b[e]);
    }
}

__kernel void permute_back(ulong n, ulong count, __global const uint *place, __global const REAL *scale,
                           __global const SCALAR *y, __global SCALAR *x)
{
    for (size_t e = get_global_id(0); e < n * count; e += get_global_size(0)) {
        const size_t r = e / n, i = e - r * n;
        const SCALAR value = y[r * n + place[i]];
        x[e] = scalar_scale(scale[i], value);
    }
}

// Adds what the children leave for the rows of the fronts of a level: to y for pivots, to `sums` for others. Column r of y has n numbers, of
// `sums` and `of_children` `width` each; the lists of rows of the level and of the children begin at `begin` and `children_begin`.
__kernel GROUP void gather_forward(ulong first_front, ulong n, ulong width, ulong begin, ulong children_begin,
                                   __global const ulong *fronts, __global const uint *map,
                                   __global const SCALAR *of_children, __global SCALAR *y, __global SCALAR *sums)
{
    const size_t position = first_front + TASK, children_count = CHILDREN_OF(position);
    const front_type front = front_at(fronts, position);
    const size_t r = get_global_id(1);
    __global SCALAR *own = sums + r * width + front.rows - begin;
    for (size_t i = ITEM; i < front.rest; i += ITEMS) {
        own[i] = SCALAR_ZERO;
    }
    WAIT;
    for (size_t c = 0; c < children_count; ++c) {
        const front_type child = front_at(fronts, front.children + c);
        __global const SCALAR *theirs = of_children + r * width + child.rows - children_begin;
        for (size_t e = ITEM; e < child.rest; e += ITEMS) {
            const size_t i = map[child.rows + e];
            if (i < front.pivots) {
                y[r * n + front.first + i] += theirs[e];
            } else {
                own[i - front.pivots] += theirs[e];
            }
        }
        WAIT;
    }
}

// The solutions at the other rows of a level.
__kernel void gather_backward(ulong begin, ulong count, ulong columns, ulong n, ulong width, __global const uint *row_of,
                              __global const SCALAR *y, __global SCALAR *known)
{
    for (size_t e = get_global_id(0); e < count * columns; e += get_global_size(0)) {
        const size_t r = e / count, i = e - r * count;
        known[r * width + i] = y[r * n + row_of[begin + i]];
    }
}

// Solves with the triangles L of fronts, and adds -L of the other rows times the solution to `sums`.
__kernel GROUP void forward(ulong first_front, ulong n, ulong width, ulong begin,
                            __global const ulong *fronts, __global const SCALAR *factors, __global const uint *pivot_of,
                            __global SCALAR *y, __global SCALAR *sums)
{
    const size_t position = first_front + TASK, pivots = PIVOTS_OF(position);
    const front_type front = front_at(fronts, position);
    const size_t r = get_global_id(1), order = front.order;
    __global const SCALAR *a = factors + front.factors;
    __global SCALAR *x = y + r * n + front.first, *own = sums + r * width + front.rows - begin;
#ifdef SYMMETRIC
    (void)pivot_of;
#else
    for (size_t k = 0; ITEM == 0 && k < pivots; ++k) {
        const size_t other = pivot_of[front.first + k] - front.first;
        const SCALAR moved = x[k];
        x[k] = x[other];
        x[other] = moved;
    }
    WAIT;
#endif
    for (size_t k = 0; k < pivots; ++k) {
        __global const SCALAR *column = a + k * order;
#ifdef SYMMETRIC
        const SCALAR value = scalar_div(x[k], column[k]);
        WAIT;
        if (ITEM == 0) {
            x[k] = value;
        }
#else
        const SCALAR value = x[k];
#endif
#ifdef CPU
        subtract_multiple(pivots - k - 1, value, column + k + 1, x + k + 1);
        subtract_multiple(front.rest, value, column + pivots, own);
#else
        for (size_t i = k + 1 + ITEM; i < pivots; i += ITEMS) {
            x[i] = scalar_mad(-value, column[i], x[i]);
        }
        WAIT;
#endif
    }
#ifndef CPU
    WAIT;
    for (size_t i = ITEM; i < front.rest; i += ITEMS) {
        SCALAR sum = own[i];
        for (size_t k = 0; k < pivots; ++k) {
            sum = scalar_mad(-a[k * order + pivots + i], x[k], sum);
        }
        own[i] = sum;
    }
#endif
}

// Solves with the triangles U, or the adjoint of L, of fronts, where the solutions at the other rows are known.
__kernel GROUP void backward(ulong first_front, ulong n, ulong width, ulong begin,
                             __global const ulong *fronts, __global const SCALAR *factors, __global SCALAR *y,
                             __global const SCALAR *known)
{
    const size_t position = first_front + TASK, pivots = PIVOTS_OF(position);
    const front_type front = front_at(fronts, position);
    const size_t r = get_global_id(1), order = front.order;
    __global const SCALAR *a = factors + front.factors;
    __global SCALAR *x = y + r * n + front.first;
    __global const SCALAR *others = known + r * width + front.rows - begin;
#ifdef SYMMETRIC
    for (size_t k = ITEM; k < pivots; k += ITEMS) {
        __global const SCALAR *column = a + k * order + pivots;
        SCALAR sum = x[k];
        for (size_t i = 0; i < front.rest; ++i) {
            sum = scalar_mad(-scalar_conj(column[i]), others[i], sum);
        }
        x[k] = sum;
    }
#else
    __global const SCALAR *u = a + order * pivots;
#ifdef CPU
    for (size_t j = 0; j < front.rest; ++j) {
        subtract_multiple(pivots, others[j], u + j * pivots, x);
    }
#else
    for (size_t k = ITEM; k < pivots; k += ITEMS) {
        SCALAR sum = x[k];
        for (size_t j = 0; j < front.rest; ++j) {
            sum = scalar_mad(-u[j * pivots + k], others[j], sum);
        }
        x[k] = sum;
    }
#endif
#endif
    WAIT;
    for (size_t back = 0; back < pivots; ++back) {
        const size_t k = pivots - 1 - back;
        const SCALAR value = scalar_div(x[k], a[k * order + k]);
        WAIT;
        if (ITEM == 0) {
            x[k] = value;
        }
        for (size_t i = ITEM; i < k; i += ITEMS) {
#ifdef SYMMETRIC
            x[i] = scalar_mad(-value, scalar_conj(a[i * order + k]), x[i]);
#else
            x[i] = scalar_mad(-value, a[k * order + i], x[i]);
#endif
        }
        WAIT;
    }
}

// The residual b - A x, and the componentwise backward error of each row: |b - A x| over (|A| |x| + |b|), 0 where both are.
__kernel void backward_errors(ulong n, __global const uint *offset, __global const uint *column,
                              __global const SCALAR *value, __global const SCALAR *x, __global const SCALAR *b,
                              __global SCALAR *residual, __global REAL *error)
{
    for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) {
        SCALAR sum = b[i];
        REAL size = scalar_abs(sum);
        const size_t end = offset[i + 1];
        for (size_t e = offset[i]; e < end; ++e) {
            const SCALAR term = scalar_mul(value[e], x[column[e]]);
            sum -= term;
            size += scalar_abs(term);
        }
        residual[i] = sum;
        const REAL left = scalar_abs(sum);
        error[i] = left == ZERO ? ZERO : left / size;
    }
}
