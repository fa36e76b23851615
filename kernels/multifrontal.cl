// Multifrontal factorisation of sparse matrices, and systems with the factors (Duff and Reid 1983).
//
// A front has `pivots` rows and columns that are eliminated in it, from number `first` on, and `rest` others, listed in `row_of`. The factors are
// columns of pivots + rest numbers, with L below the diagonal and, with LU, U on and above it; the rows of U in the other columns follow, by
// columns of `pivots`. The rest by rest numbers that remain are its contribution to the parent; `map` has the places of its rows there.
// With SYMMETRIC the factor is Cholesky's L, and of contributions only the triangle on and below the diagonal is computed.
//
// On GPUs the triangles of the pivots are inverted after the factorisation, so that solves are products (Alvarado and Schreiber 1993).
//
// Traffic: scatter 24 B per entry; assemble 3 numbers per number of a child's contribution and per own one; factor reads and writes its
// front once per pivot from cache; solves read the factors once for each RIGHT right-hand sides, or on CPUs for each one.
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
//@ build RIGHT=8
//@ build RIGHT=8 SYMMETRIC=1
//@ build SCALAR_COMPLEX=1 RIGHT=8
//@ build SCALAR_COMPLEX=1 RIGHT=8 SYMMETRIC=1
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
#define IS_SYMMETRIC true
#else
#define IS_SYMMETRIC false
#endif

// Entries of a front that a task of the assembly has, about.
#define TASK_ENTRIES 4096
#define FIELDS 8
// Rows and columns of a tile of the pivots on GPUs.
#define TILE 32

// Numbers of a front that loops with barriers run to.
#define PIVOTS_OF(position) fronts[FIELDS * (position) + 1]
#define REST_OF(position) fronts[FIELDS * (position) + 2]
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

#ifndef CPU
// Factors of larger fronts, those of a level together, by panels of TILE pivots from number `from` of each front on: the panel's tile on the
// diagonal or its rows of pivots, what is below and on the right of it, then what remains but the contribution; last the contributions. Fronts of
// `list` with the most pivots come first.
//
// Rows and columns of the products' blocks, their steps, and the rows and columns that an item has of one, SIDE apart.
#define BLOCK 64
#define DEPTH 16
#define SIDE 16
#define OWN (BLOCK / SIDE)
// Items of a work-group that has the rows of pivots of a panel.
#define PANEL_ITEMS 256

// Inverts a tile's triangle L, and with LU its U, of `size` rows at `a`. Each of 2 TILE items has a column; others do nothing.
inline void invert_tile(size_t item, size_t size, size_t order, __local const SCALAR *tile, __global SCALAR *a)
{
    const size_t j = item % TILE;
    const bool upper = item >= TILE;
    __global SCALAR *x = a + j * order;
    if (j < size && item < (IS_SYMMETRIC ? TILE : 2 * TILE)) {
        const size_t steps = upper ? j + 1 : size - j;
        const SCALAR first = upper || IS_SYMMETRIC ? scalar_div(SCALAR_ONE, tile[j * (TILE + 1)]) : SCALAR_ONE;
        for (size_t step = 1; step < steps; ++step) {
            const size_t i = upper ? j - step : j + step;
            SCALAR sum = scalar_mul(-tile[j * TILE + i], first);
            for (size_t before = 1; before < step; ++before) {
                const size_t k = upper ? j - before : j + before;
                sum = scalar_mad(-tile[k * TILE + i], x[k], sum);
            }
            x[i] = upper || IS_SYMMETRIC ? scalar_div(sum, tile[i * (TILE + 1)]) : sum;
        }
        if (upper || IS_SYMMETRIC) {
            x[j] = first;
        }
    }
}

// Columns that an item has in its row of a tile, and the first of them.
#define OF_TILE (TILE * TILE / ITEMS)
#define FIRST_OF_TILE (ITEM / TILE * OF_TILE)

// Adds the product of two tiles, stored by columns, to the item's elements of another.
inline void add_product(__local const SCALAR *left, __local const SCALAR *right, SCALAR *sums)
{
#pragma unroll 4
    for (size_t k = 0; k < TILE; ++k) {
        const SCALAR value = left[k * TILE + ITEM % TILE];
        for (size_t c = 0; c < OF_TILE; ++c) {
            sums[c] = scalar_mad(value, right[(FIRST_OF_TILE + c) * TILE + k], sums[c]);
        }
    }
}

#ifdef SYMMETRIC
// Takes the place of the tile: the inverse of its Cholesky factor.
__kernel GROUP void factor_tiles(ulong first_front, ulong from, __global const uint *list, __global const ulong *fronts, ulong n, REAL tiny,
                                 __global SCALAR *factors, __global volatile uint *info)
{
    // Two steps' columns of the factor and rows of the inverse, not yet divided by the pivot's root.
    __local SCALAR column[2 * TILE], row[2 * TILE];
    const front_type front = front_at(fronts, list[first_front + TASK]);
    const size_t size = min((size_t)TILE, front.pivots - from), i = ITEM % TILE;
    __global SCALAR *a = factors + front.factors + from * (front.order + 1);
    SCALAR tile[OF_TILE], inverse[OF_TILE];
    for (size_t c = 0; c < OF_TILE; ++c) {
        const size_t j = FIRST_OF_TILE + c;
        inverse[c] = i == j ? SCALAR_ONE : SCALAR_ZERO;
        tile[c] = max(i, j) < size ? a[j * front.order + i] : inverse[c];
    }
    for (size_t k = 0; k < TILE; ++k) {
        __local SCALAR *of_column = column + k % 2 * TILE, *of_row = row + k % 2 * TILE;
        for (size_t c = 0; c < OF_TILE; ++c) {
            if (FIRST_OF_TILE + c == k) {
                of_column[i] = tile[c];
            }
            if (i == k) {
                of_row[FIRST_OF_TILE + c] = inverse[c];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const REAL pivot = scalar_re(of_column[k]), root = ONE / sqrt(pivot);
        if (ITEM == 0 && !(pivot > tiny)) {
            atomic_max(info, (uint)(n - front.first - from - k));
        }
        const SCALAR below = scalar_scale(-root, of_column[i]);
        for (size_t c = 0; c < OF_TILE; ++c) {
            const SCALAR right = scalar_scale(root, of_row[FIRST_OF_TILE + c]);
            tile[c] = scalar_mad(below, scalar_conj(scalar_scale(root, of_column[FIRST_OF_TILE + c])), tile[c]);
            inverse[c] = i < k ? inverse[c] : i == k ? right : scalar_mad(below, right, inverse[c]);
        }
    }
    for (size_t c = 0; c < OF_TILE; ++c) {
        const size_t j = FIRST_OF_TILE + c;
        if (i >= j && i < size) {
            a[j * front.order + i] = inverse[c];
        }
    }
}
#else
// LU factors of the rows of the pivots in a panel, with the largest of them as pivots; the inverses of the factors of its tile take their place.
__kernel __attribute__((reqd_work_group_size(PANEL_ITEMS, 1, 1)))
void factor_panels(ulong first_front, ulong from, __global const uint *list, __global const ulong *fronts, REAL tiny, REAL zero,
                   __global SCALAR *factors, __global uint *pivot_of, __global volatile uint *info)
{
    __local REAL sizes[PANEL_ITEMS];
    __local uint rows[PANEL_ITEMS];
    __local SCALAR pivot_row[TILE], tile[TILE * TILE];
    const front_type front = front_at(fronts, list[first_front + TASK]);
    const size_t pivots = front.pivots, order = front.order, size = min((size_t)TILE, pivots - from), item = get_local_id(0);
    __global SCALAR *a = factors + front.factors + from * order;
    const REAL least = front.rest == 0 ? zero : tiny;
    for (size_t c = 0; c < TILE; ++c) {
        const size_t k = from + c;
        __global SCALAR *column = a + c * order;
        REAL most = (REAL)-1;
        uint found = UINT_MAX;
        for (size_t i = c < size ? k + item : pivots; i < pivots; i += PANEL_ITEMS) {
            const REAL size_of = pivot_size(column[i]);
            if (size_of > most) {
                most = size_of;
                found = (uint)i;
            }
        }
        sizes[item] = most;
        rows[item] = found;
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        for (uint step = PANEL_ITEMS / 2; step > 0; step /= 2) {
            if (item < step) {
                const REAL other = sizes[item + step];
                const uint row = rows[item + step];
                if (other > sizes[item] || (other == sizes[item] && row < rows[item])) {
                    sizes[item] = other;
                    rows[item] = row;
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        const size_t pivot = rows[0];
        // The exchange in the panel, and the row of the pivot.
        if (c < size && item < size) {
            const SCALAR value = a[item * order + pivot], replaced = sound_pivot(value, least, tiny);
            const bool is_pivot = item == c;
            if (pivot != k) {
                a[item * order + pivot] = a[item * order + k];
            }
            a[item * order + k] = is_pivot ? replaced : value;
            pivot_row[item] = is_pivot ? replaced : value;
            if (is_pivot) {
                pivot_of[front.first + k] = (uint)(front.first + pivot);
                if (is_tiny(value, least)) {
                    atomic_inc(info);
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        for (size_t i = c < size ? k + 1 + item : pivots; i < pivots; i += PANEL_ITEMS) {
            const SCALAR below = scalar_div(column[i], pivot_row[c]);
            column[i] = below;
            for (size_t j = c + 1; j < size; ++j) {
                a[j * order + i] = scalar_mad(-below, pivot_row[j], a[j * order + i]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (size_t e = item; e < TILE * TILE; e += PANEL_ITEMS) {
        const size_t i = e % TILE, k = e / TILE;
        tile[e] = max(i, k) < size ? a[k * order + from + i] : SCALAR_ZERO;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    invert_tile(item, size, order, tile, a + from);
}

// The exchanges of a panel in the other columns of a front; an item has a column.
__kernel GROUP void exchange_rows(ulong first_front, ulong from, __global const uint *list, __global const ulong *fronts,
                                  __global const uint *pivot_of, __global SCALAR *factors)
{
    const front_type front = front_at(fronts, list[first_front + get_group_id(1)]);
    const size_t pivots = front.pivots, end = min(pivots, from + TILE), j = ITEMS * TASK + ITEM;
    if (j < front.order && (j < from || j >= end)) {
        __global SCALAR *column = factors + front.factors + (j < pivots ? j * front.order : front.order * pivots + (j - pivots) * pivots);
        for (size_t k = from; k < end; ++k) {
            const size_t other = pivot_of[front.first + k] - front.first;
            const SCALAR moved = column[k];
            column[k] = column[other];
            column[other] = moved;
        }
    }
}

// Tiles on the right of the one on the diagonal: inv(L) A.
__kernel GROUP void solve_tiles(ulong first_front, ulong from, __global const uint *list, __global const ulong *fronts, __global SCALAR *factors)
{
    __local SCALAR tile[TILE * TILE], inverse[TILE * TILE];
    const front_type front = front_at(fronts, list[first_front + get_group_id(1)]);
    const size_t pivots = front.pivots, order = front.order, size = min((size_t)TILE, pivots - from), begin = from + size + TILE * TASK;
    __global SCALAR *a = factors + front.factors, *u = a + order * pivots;
    for (size_t e = ITEM; e < TILE * TILE; e += ITEMS) {
        const size_t i = e % TILE, j = e / TILE, col = begin + j;
        const SCALAR one = i == j ? SCALAR_ONE : SCALAR_ZERO;
        tile[e] = i < size && col < order ? (col < pivots ? a[col * order + from + i] : u[(col - pivots) * pivots + from + i]) : SCALAR_ZERO;
        inverse[e] = i > j && i < size ? a[(from + j) * order + from + i] : one;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const size_t i = ITEM % TILE;
    SCALAR sums[OF_TILE];
    for (size_t c = 0; c < OF_TILE; ++c) {
        sums[c] = SCALAR_ZERO;
    }
    add_product(inverse, tile, sums);
    for (size_t c = 0; c < OF_TILE; ++c) {
        const size_t col = begin + FIRST_OF_TILE + c;
        if (i < size && col < order) {
            if (col < pivots) {
                a[col * order + from + i] = sums[c];
            } else {
                u[(col - pivots) * pivots + from + i] = sums[c];
            }
        }
    }
}
#endif

// Tiles below the one on the diagonal, or of LU factors below the rows of the pivots: A inv(L') or A inv(U).
__kernel GROUP void scale_tiles(ulong first_front, ulong from, __global const uint *list, __global const ulong *fronts, __global SCALAR *factors)
{
    __local SCALAR tile[TILE * TILE], inverse[TILE * TILE];
    const front_type front = front_at(fronts, list[first_front + get_group_id(1)]);
    const size_t size = min((size_t)TILE, front.pivots - from), begin = (IS_SYMMETRIC ? size : front.pivots - from) + TILE * TASK;
    const size_t rows = from + begin < front.order ? min((size_t)TILE, front.order - from - begin) : 0;
    __global SCALAR *a = factors + front.factors + from * (front.order + 1), *own = a + begin;
    for (size_t e = ITEM; e < TILE * TILE; e += ITEMS) {
        const size_t i = e % TILE, j = e / TILE;
        tile[e] = i < rows && j < size ? own[j * front.order + i] : SCALAR_ZERO;
        inverse[e] = SCALAR_ZERO;
        if (i <= j && j < size) {
            inverse[e] = IS_SYMMETRIC ? scalar_conj(a[i * front.order + j]) : a[j * front.order + i];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const size_t i = ITEM % TILE;
    SCALAR sums[OF_TILE];
    for (size_t c = 0; c < OF_TILE; ++c) {
        sums[c] = SCALAR_ZERO;
    }
    add_product(tile, inverse, sums);
    for (size_t c = 0; c < OF_TILE; ++c) {
        const size_t col = FIRST_OF_TILE + c;
        if (i < rows && col < size) {
            own[col * front.order + i] = sums[c];
        }
    }
}

// Subtracts L L' or L U of a panel from what is on its right and below it but the contribution, or with `last` that of all pivots from the
// contribution, of fronts for which that takes less than `most` operations. A work-group has a block, of which there are `across` in a row of
// them; those without elements do nothing.
__kernel __attribute__((reqd_work_group_size(SIDE * SIDE, 1, 1)))
void subtract_products(ulong first_front, ulong from, uint last, ulong most, uint across, __global const uint *list, __global const ulong *fronts,
                       __global SCALAR *factors, __global SCALAR *contributions)
{
    __local SCALAR left[DEPTH * BLOCK], right[DEPTH * BLOCK];
    const size_t position = list[first_front + get_group_id(1)], pivots = PIVOTS_OF(position);
    const front_type front = front_at(fronts, position);
    const size_t order = front.order, block_row = TASK / across, block_col = TASK % across;
    // The columns, and the pivots that are subtracted.
    const size_t begin = last ? pivots : from + TILE, end = last ? order : IS_SYMMETRIC ? pivots : order;
    const size_t k_begin = last ? 0 : from, k_end = last ? pivots : from + TILE;
    const size_t first_row = begin + block_row * BLOCK, first_col = begin + block_col * BLOCK;
    const bool is_light = !last || front.rest * front.rest * pivots < most;
    const bool is_needed = is_light && (IS_SYMMETRIC ? block_row >= block_col : last || min(first_row, first_col) < pivots);
    const size_t has_block = is_needed && first_row < order && first_col < end ? 1 : 0;
    const size_t steps = has_block * ((k_end - k_begin + DEPTH - 1) / DEPTH);
    __global SCALAR *a = factors + front.factors, *u = a + order * pivots, *contribution = contributions + front.contribution;
    const size_t x = get_local_id(0) % SIDE, y = get_local_id(0) / SIDE;
    SCALAR sums[OWN * OWN];
    for (size_t e = 0; e < OWN * OWN; ++e) {
        sums[e] = SCALAR_ZERO;
    }
    for (size_t step = 0; step < steps; ++step) {
        for (size_t e = get_local_id(0); e < DEPTH * BLOCK; e += SIDE * SIDE) {
            const size_t k = k_begin + step * DEPTH + e / BLOCK, row = first_row + e % BLOCK, col = first_col + e % BLOCK;
            left[e] = k < k_end && row < order ? a[k * order + row] : SCALAR_ZERO;
            right[e] = SCALAR_ZERO;
            if (k < k_end && col < end) {
#ifdef SYMMETRIC
                right[e] = scalar_conj(a[k * order + col]);
#else
                right[e] = col < pivots ? a[col * order + k] : u[(col - pivots) * pivots + k];
#endif
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (size_t k = 0; k < DEPTH; ++k) {
            SCALAR rows[OWN], cols[OWN];
            for (size_t e = 0; e < OWN; ++e) {
                rows[e] = left[k * BLOCK + x + e * SIDE];
                cols[e] = right[k * BLOCK + y + e * SIDE];
            }
            for (size_t e = 0; e < OWN * OWN; ++e) {
                sums[e] = scalar_mad(rows[e % OWN], cols[e / OWN], sums[e]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t e = 0; e < OWN * OWN; ++e) {
        const size_t row = first_row + x + e % OWN * SIDE, col = first_col + y + e / OWN * SIDE;
        if ((!IS_SYMMETRIC || row >= col) && has_block && row < order && col < end) {
            if (last) {
                contribution[(col - pivots) * front.rest + row - pivots] -= sums[e];
            } else if (col < pivots) {
                a[col * order + row] -= sums[e];
            } else if (row < pivots) {
                u[(col - pivots) * pivots + row] -= sums[e];
            }
        }
    }
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

// y = the scaled columns of b in the order of elimination, and back.
__kernel void permute(ulong n, ulong count, __global const uint *place, __global const REAL *scale,
                      __global const SCALAR *b, __global SCALAR *y)
{
    for (size_t e = get_global_id(0); e < n * count; e += get_global_size(0)) {
        const size_t r = e / n, i = e - r * n;
        y[AT(place[i], r, n, count)] = scalar_scale(scale[i], b[e]);
    }
}

__kernel void permute_back(ulong n, ulong count, __global const uint *place, __global const REAL *scale,
                           __global const SCALAR *y, __global SCALAR *x)
{
    for (size_t e = get_global_id(0); e < n * count; e += get_global_size(0)) {
        const size_t r = e / n, i = e - r * n;
        const SCALAR value = y[AT(place[i], r, n, count)];
        x[e] = scalar_scale(scale[i], value);
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

// Solves with the triangles L of fronts, and adds -L of the other rows times the solution to `sums`.
__kernel void forward(ulong first_front, ulong n, ulong width, ulong begin, __global const ulong *fronts,
                      __global const SCALAR *factors, __global const uint *pivot_of, __global SCALAR *y, __global SCALAR *sums)
{
    const front_type front = front_at(fronts, first_front + TASK);
    const size_t r = get_global_id(1);
    __global const SCALAR *a = factors + front.factors;
    __global SCALAR *x = y + r * n + front.first, *own = sums + r * width + front.rows - begin;
#ifdef SYMMETRIC
    (void)pivot_of;
#else
    for (size_t k = 0; k < front.pivots; ++k) {
        const size_t other = pivot_of[front.first + k] - front.first;
        const SCALAR moved = x[k];
        x[k] = x[other];
        x[other] = moved;
    }
#endif
    for (size_t k = 0; k < front.pivots; ++k) {
        __global const SCALAR *column = a + k * front.order;
#ifdef SYMMETRIC
        x[k] = scalar_div(x[k], column[k]);
#endif
        subtract_multiple(front.pivots - k - 1, x[k], column + k + 1, x + k + 1);
        subtract_multiple(front.rest, x[k], column + front.pivots, own);
    }
}

// Solves with the triangles U, or the adjoint of L, of fronts, where the solutions at the other rows are known.
__kernel void backward(ulong first_front, ulong n, ulong width, ulong begin, __global const ulong *fronts,
                       __global const SCALAR *factors, __global SCALAR *y, __global const SCALAR *known)
{
    const front_type front = front_at(fronts, first_front + TASK);
    const size_t r = get_global_id(1);
    __global const SCALAR *a = factors + front.factors;
    __global SCALAR *x = y + r * n + front.first;
    __global const SCALAR *others = known + r * width + front.rows - begin;
#ifdef SYMMETRIC
    for (size_t k = 0; k < front.pivots; ++k) {
        __global const SCALAR *column = a + k * front.order + front.pivots;
        SCALAR sum = x[k];
        for (size_t i = 0; i < front.rest; ++i) {
            sum = scalar_mad(-scalar_conj(column[i]), others[i], sum);
        }
        x[k] = sum;
    }
#else
    for (size_t j = 0; j < front.rest; ++j) {
        subtract_multiple(front.pivots, others[j], a + front.order * front.pivots + j * front.pivots, x);
    }
#endif
    for (size_t back = 0; back < front.pivots; ++back) {
        const size_t k = front.pivots - 1 - back;
        const SCALAR value = scalar_div(x[k], a[k * front.order + k]);
        x[k] = value;
        for (size_t i = 0; i < k; ++i) {
#ifdef SYMMETRIC
            x[i] = scalar_mad(-value, scalar_conj(a[i * front.order + k]), x[i]);
#else
            x[i] = scalar_mad(-value, a[k * front.order + i], x[i]);
#endif
        }
    }
}
#else
// Items that share a row of a tile.
#define SHARES (ITEMS / TILE)
// Columns of a task of products with adjoints, and items that share one.
#define COLUMNS 8
#define LANES (ITEMS / COLUMNS)

// Element (i, k) of the triangle at `a`, with ones on its diagonal where it is `unit`.
inline SCALAR of_triangle(__global const SCALAR *a, size_t order, size_t i, size_t k, bool upper, bool unit)
{
    if (i == k) {
        return unit ? SCALAR_ONE : a[k * order + i];
    }
    return (upper ? i < k : i > k) ? a[k * order + i] : SCALAR_ZERO;
}

// Inverts the tiles on the diagonals of L, and with LU of U, in place.
__kernel __attribute__((reqd_work_group_size(2 * TILE, 1, 1)))
void invert_tiles(__global const uint *task, __global const ulong *fronts, __global SCALAR *factors)
{
    __local SCALAR tile[TILE * TILE];
    const front_type front = front_at(fronts, task[2 * TASK]);
    const size_t begin = task[2 * TASK + 1], size = min((size_t)TILE, front.pivots - begin);
    __global SCALAR *a = factors + front.factors + begin * (front.order + 1);
    for (size_t e = get_local_id(0); e < TILE * TILE; e += 2 * TILE) {
        const size_t i = e % TILE, k = e / TILE;
        tile[e] = max(i, k) < size ? a[k * front.order + i] : SCALAR_ZERO;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    invert_tile(get_local_id(0), size, front.order, tile, a);
}

// The inverse of L = [A 0; B C] has -inv(C) B inv(A) in the place of B, that of U = [A B; 0 C] has -inv(A) B inv(C). The inverses of the
// squares of `half` rows on the diagonal are known. One launch computes the product on the right of B to `scratch`, a second one the other.
// The work-groups of a front of `list` have a tile each, and those beyond its last have none.
__kernel GROUP void join_tiles(uint half_rows, uint upper, uint second, __global const uint *list, __global const ulong *scratch_of,
                               __global const ulong *fronts, __global SCALAR *factors, __global SCALAR *scratch)
{
    __local SCALAR left[TILE * TILE], right[TILE * TILE];
    const size_t place = get_group_id(1), position = list[place], pivots = PIVOTS_OF(position), order = pivots + REST_OF(position);
    __global SCALAR *a = factors + front_at(fronts, position).factors;
    const bool unit = !IS_SYMMETRIC && !upper;
    // B has `rows` rows from `top` on and `cols` columns from `begin` on.
    const size_t side = half_rows / TILE, pair = get_group_id(0) / (side * side), tile = get_group_id(0) % (side * side);
    const size_t middle = (2 * pair + 1) * half_rows, far = middle < pivots ? min((size_t)half_rows, pivots - middle) : 0;
    const size_t top = upper ? middle - half_rows : middle, begin = upper ? middle : middle - half_rows;
    const size_t rows = upper ? half_rows : far, cols = upper ? far : half_rows;
    const size_t first_row = tile % side * TILE, first_col = tile / side * TILE;
    const size_t has_tile = far > 0 && first_row < rows && first_col < cols ? 1 : 0;
    __global SCALAR *between = scratch + scratch_of[place] + pair * half_rows * half_rows;
    // Where the triangle has elements in these rows or columns.
    const size_t inner = second ? rows : cols, first = second ? first_row : first_col;
    const bool to_end = (upper != 0) == (second != 0);
    const size_t from = to_end ? first : 0, until = to_end ? inner : min(inner, first + TILE);
    const size_t steps = has_tile * ((until - from + TILE - 1) / TILE);
    SCALAR sums[OF_TILE];
    for (size_t c = 0; c < OF_TILE; ++c) {
        sums[c] = SCALAR_ZERO;
    }
    for (size_t step = 0; step < steps; ++step) {
        for (size_t e = ITEM; e < TILE * TILE; e += ITEMS) {
            // Element (x, inner y) of the left matrix, element (inner x, y) of the right one.
            const size_t x = e % TILE, y = e / TILE, row = first_row + x, col = first_col + y;
            const size_t of_left = from + step * TILE + y, of_right = from + step * TILE + x;
            SCALAR to_left = SCALAR_ZERO, to_right = SCALAR_ZERO;
            if (row < rows && of_left < inner) {
                to_left = second ? of_triangle(a + top * (order + 1), order, row, of_left, upper, unit)
                                 : a[(begin + of_left) * order + top + row];
            }
            if (col < cols && of_right < inner) {
                to_right = second ? between[col * rows + of_right]
                                  : of_triangle(a + begin * (order + 1), order, of_right, col, upper, unit);
            }
            left[e] = to_left;
            right[e] = to_right;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        add_product(left, right, sums);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t c = 0; c < OF_TILE; ++c) {
        const size_t row = first_row + ITEM % TILE, col = first_col + FIRST_OF_TILE + c;
        if (has_tile && row < rows && col < cols) {
            if (second) {
                a[(begin + col) * order + top + row] = -sums[c];
            } else {
                between[col * rows + row] = sums[c];
            }
        }
    }
}

#ifndef SYMMETRIC
// The row that the exchanges of its front bring to each pivot.
__kernel void order_pivots(ulong count, __global const ulong *fronts, __global const uint *pivot_of, __global uint *row_of_pivot)
{
    for (size_t position = get_global_id(0); position < count; position += get_global_size(0)) {
        const front_type front = front_at(fronts, position);
        __global uint *row = row_of_pivot + front.first;
        for (size_t k = 0; k < front.pivots; ++k) {
            row[k] = (uint)(front.first + k);
        }
        for (size_t k = 0; k < front.pivots; ++k) {
            const size_t other = pivot_of[front.first + k] - front.first;
            const uint moved = row[k];
            row[k] = row[other];
            row[other] = moved;
        }
    }
}
#endif

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
        const SCALAR value = adjoint ? scalar_conj(a[k * stride]) : a[k * stride];
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

// z = inv(L) P y for a tile of the pivots of a front.
__kernel GROUP void forward_pivots(ulong first_task, ulong columns, __global const uint *task, __global const ulong *fronts,
                                   __global const SCALAR *factors, __global const uint *row_of_pivot,
                                   __global const SCALAR *y, __global SCALAR *z)
{
    __local SCALAR shares[RIGHT * ITEMS];
    const task_type at = task_at(task, first_task + TASK, fronts, columns);
    const size_t i = ROW_OF(at), first = at.front.first;
    __global const SCALAR *a = factors + at.front.factors + i;
#ifdef SYMMETRIC
    (void)row_of_pivot;
    share_products(&at, SHARE, SHARES, i < at.front.pivots ? i + 1 : 0, a, at.front.order, false, 0, first, y, shares);
#else
    __global const uint *rows = row_of_pivot + first;
    share_products(&at, SHARE, SHARES, i < at.front.pivots ? i : 0, a, at.front.order, false, rows, 0, y, shares);
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < at.front.pivots) {
        FOR_RIGHT (r, at, SHARE, SHARES) {
            const size_t column = at.right + r;
#ifdef SYMMETRIC
            z[(first + i) * columns + column] = SUM_OF_ROW(r);
#else
            z[(first + i) * columns + column] = y[rows[i] * columns + column] + SUM_OF_ROW(r);
#endif
        }
    }
}

// Adds -L z for a tile of the other rows of a front to `sums`.
__kernel GROUP void forward_rest(ulong first_task, ulong columns, ulong begin, __global const uint *task,
                                 __global const ulong *fronts, __global const SCALAR *factors, __global const SCALAR *z,
                                 __global SCALAR *sums)
{
    __local SCALAR shares[RIGHT * ITEMS];
    const task_type at = task_at(task, first_task + TASK, fronts, columns);
    const size_t i = ROW_OF(at), pivots = at.front.pivots;
    __global const SCALAR *a = factors + at.front.factors + pivots + i;
    share_products(&at, SHARE, SHARES, i < at.front.rest ? pivots : 0, a, at.front.order, false, 0, at.front.first, z, shares);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < at.front.rest) {
        FOR_RIGHT (r, at, SHARE, SHARES) {
            sums[(at.front.rows - begin + i) * columns + at.right + r] -= SUM_OF_ROW(r);
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
#ifdef SYMMETRIC
    const size_t lane = ITEM % LANES, k = at.begin + ITEM / LANES;
    share_products(&at, lane, LANES, k < pivots ? rest : 0, a + k * order + pivots, 1, true, others, 0, z, shares);
#else
    const size_t k = ROW_OF(at);
    share_products(&at, SHARE, SHARES, k < pivots ? rest : 0, a + order * pivots + k, pivots, false, others, 0, z, shares);
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    if (k < pivots) {
#ifdef SYMMETRIC
        FOR_RIGHT (r, at, lane, LANES) {
            const size_t place = (at.front.first + k) * columns + at.right + r;
            y[place] = z[place] - sum_of(shares + r * ITEMS + ITEM - lane, LANES, 1);
        }
#else
        FOR_RIGHT (r, at, SHARE, SHARES) {
            const size_t place = (at.front.first + k) * columns + at.right + r;
            y[place] = z[place] - SUM_OF_ROW(r);
        }
#endif
    }
}

// z = inv(U) y, or inv(L') y, for some of the pivots of a front.
__kernel GROUP void backward_pivots(ulong first_task, ulong columns, __global const uint *task, __global const ulong *fronts,
                                    __global const SCALAR *factors, __global const SCALAR *y, __global SCALAR *z)
{
    __local SCALAR shares[RIGHT * ITEMS];
    const task_type at = task_at(task, first_task + TASK, fronts, columns);
    const size_t pivots = at.front.pivots, order = at.front.order;
#ifdef SYMMETRIC
    const size_t lane = ITEM % LANES, k = at.begin + ITEM / LANES;
    const size_t stride = 1, share = lane, of_shares = LANES;
#else
    const size_t k = ROW_OF(at);
    const size_t stride = order, share = SHARE, of_shares = SHARES;
#endif
    // From the diagonal on.
    __global const SCALAR *a = factors + at.front.factors + k * (order + 1);
    share_products(&at, share, of_shares, max(pivots, k) - k, a, stride, IS_SYMMETRIC, 0, at.front.first + k, y, shares);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (k < pivots) {
        FOR_RIGHT (r, at, share, of_shares) {
#ifdef SYMMETRIC
            const SCALAR sum = sum_of(shares + r * ITEMS + ITEM - lane, LANES, 1);
#else
            const SCALAR sum = SUM_OF_ROW(r);
#endif
            z[(at.front.first + k) * columns + at.right + r] = sum;
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
