// Multifrontal factorisation of sparse matrices (Duff and Reid 1983); fronts.clh has the layout of fronts.
//
// Traffic: scatter 24 B per entry; assemble 3 numbers per number of a child's contribution and per own one; factor reads and writes its
// front once per pivot from cache.
//
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
#include "fronts.clh"
#ifndef CPU
#include "tiles.clh"
#endif

// Entries of a front that a task of the assembly has, about.
#define TASK_ENTRIES 4096

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
// Items of a work-group that has the rows of pivots of a panel.
#define PANEL_ITEMS 256

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
__kernel BLOCK_GROUP void subtract_products(ulong first_front, ulong from, uint last, ulong most, uint across, __global const uint *list,
                                            __global const ulong *fronts, __global SCALAR *factors, __global SCALAR *contributions)
{
    __local SCALAR left[DEPTH * BLOCK], right[DEPTH * BLOCK];
    const size_t position = list[first_front + get_group_id(1)], pivots = PIVOTS_OF(position);
    const size_t rest = REST_OF(position), order = pivots + rest;
    const front_type front = front_at(fronts, position);
    const size_t block_row = TASK / across, block_col = TASK % across;
    // The columns, and the pivots that are subtracted.
    const size_t begin = last ? pivots : from + TILE, end = last ? order : IS_SYMMETRIC ? pivots : order;
    const size_t k_begin = last ? 0 : from, k_end = last ? pivots : from + TILE;
    const size_t first_row = begin + block_row * BLOCK, first_col = begin + block_col * BLOCK;
    const bool is_light = !last || rest * rest * pivots < most;
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
        add_block(left, right, x, y, sums);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t e = 0; e < OWN * OWN; ++e) {
        const size_t row = first_row + x + e % OWN * SIDE, col = first_col + y + e / OWN * SIDE;
        if ((!IS_SYMMETRIC || row >= col) && has_block && row < order && col < end) {
            if (last) {
                contribution[(col - pivots) * rest + row - pivots] -= sums[e];
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

// The pivots of Cholesky factors, or of U, by their steps; where triangles were inverted, their reciprocals.
__kernel void gather_pivots(ulong count, __global const ulong *fronts, __global const SCALAR *factors, __global SCALAR *pivot)
{
    for (size_t position = get_global_id(0); position < count; position += get_global_size(0)) {
        const front_type front = front_at(fronts, position);
        for (size_t k = 0; k < front.pivots; ++k) {
            pivot[front.first + k] = factors[front.factors + k * (front.order + 1)];
        }
    }
}
