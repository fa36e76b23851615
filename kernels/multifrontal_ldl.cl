// Factors L D L' of the fronts of symmetric matrices, where L' is the conjugate transpose or with TRANSPOSED the transpose of L, and D has blocks of
// one or two rows (Bunch and Kaufman 1977); fronts.clh has the layout of fronts, multifrontal.cl their assembly.
//
// L has ones on its diagonal, which are stored. Each step of the elimination has STEP numbers of D: element (k, k), element (k + 1, k), which is 0
// unless step k is the first of a pair, and the same elements of the inverse of D. Rows and columns first + k and pivot_of[first + k] were exchanged.
// `columns` has two numbers per step: two columns that are candidates. `progress` has two numbers per front: the panel of its last launch.
//
// Pivots below `tiny`, or in the last front, whose rows have no others to grow, below `zero`, are replaced by one of the modulus `tiny`; those of the last
// front count as zeros. `info` has the number of other pivots that were replaced, of zeros, and of negative eigenvalues of D.
//
// Traffic: factor_fronts reads and writes its front once per pivot from cache; a panel is read once per pivot from cache, what remains once per panel.
//
// A barrier stands between a loop with barriers and loops within loops that follow: PoCL 3.1 runs these beyond their ends otherwise.
//@ build
//@ build CPU=1
//@ build SCALAR_COMPLEX=1
//@ build SCALAR_COMPLEX=1 CPU=1
//@ build SCALAR_COMPLEX=1 TRANSPOSED=1
//@ build SCALAR_COMPLEX=1 CPU=1 TRANSPOSED=1
#define SYMMETRIC
#include "common.clh"
#include "scalar.clh"
#include "elimination.clh"
#include "fronts.clh"
#ifndef CPU
#include "tiles.clh"
#endif

#define STEP 4
// Where the numbers of the inverse of D begin.
#define INVERSE 2
// (1 + sqrt(17)) / 8, with which two pivots of one row let elements grow no more than a pivot of two rows.
#define ALPHA ((REAL)0.6403882032022076)
// The most pivots of a front that factor_fronts eliminates.
#define MOST_PIVOTS 96
// What items share while they eliminate, and on GPUs also need for that.
#ifdef CPU
#define SHARED
#define OF_GROUP
#else
#define SHARED __local
#define OF_GROUP , sizes, rows
#endif

// Element k of a row of L D, or from INVERSE on of L inv(D), where the row of L has elements from `begin` to `end`.
inline SCALAR times_blocks(__global const SCALAR *row, size_t stride, __global const SCALAR *blocks, size_t k, size_t begin, size_t end)
{
    SCALAR sum = scalar_mul(row[k * stride], blocks[STEP * k]);
    if (k > begin) {
        sum = scalar_mad(row[(k - 1) * stride], scalar_mirror(blocks[STEP * (k - 1) + 1]), sum);
    }
    if (k + 1 < end) {
        sum = scalar_mad(row[(k + 1) * stride], blocks[STEP * k + 1], sum);
    }
    return sum;
}

// An element of the diagonal, which is real in Hermitian matrices.
inline SCALAR of_diagonal(SCALAR a)
{
#ifdef TRANSPOSED
    return a;
#else
    return scalar_from_real(scalar_re(a));
#endif
}

// Subtracts the product of the columns of `left` with `row` from elements of a column. An item has every ITEMS-th element from `begin` on.
inline void subtract_columns(__global const SCALAR *left, size_t order, size_t count, SHARED const SCALAR *row, size_t begin, size_t end,
                             __global SCALAR *column)
{
#ifdef CPU
    for (size_t q = 0; q < count; ++q) {
        subtract_multiple(end - begin, row[q], left + q * order + begin, column + begin);
    }
#else
    for (size_t i = begin + ITEM; i < end; i += ITEMS) {
        SCALAR sum = column[i];
        for (size_t q = 0; q < count; ++q) {
            sum = scalar_mad(-left[q * order + i], row[q], sum);
        }
        column[i] = sum;
    }
#endif
}

// The largest element of a column but that of `row`, among an item's; with its row.
inline REAL largest_of(__global const SCALAR *column, size_t begin, size_t end, size_t row, uint *found)
{
    REAL most = (REAL)-1;
    for (size_t i = begin + ITEM; i < end; i += ITEMS) {
        const REAL size = i == row ? (REAL)-1 : pivot_size(column[i]);
        if (size > most) {
            most = size;
            *found = (uint)i;
        }
    }
    return most;
}

#ifndef CPU
// The first of the largest of the items.
inline void share_largest(__local REAL *sizes, __local uint *rows, REAL most, uint found)
{
    sizes[ITEM] = most;
    rows[ITEM] = found;
    WAIT;
#pragma unroll 1
    for (uint step = ITEMS / 2; step > 0; step /= 2) {
        if (ITEM < step) {
            const REAL other = sizes[ITEM + step];
            const uint row = rows[ITEM + step];
            if (other > sizes[ITEM] || (other == sizes[ITEM] && row < rows[ITEM])) {
                sizes[ITEM] = other;
                rows[ITEM] = row;
            }
        }
        WAIT;
    }
}
#endif

// The pivots of a panel: its first, the next one, and where it ends unless those of the front end before.
typedef struct {
    uint from, next, end;
} panel_type;

inline panel_type panel_from(uint from, uint size)
{
    panel_type panel;
    panel.from = from;
    panel.next = from;
    panel.end = from + size;
    return panel;
}

// Eliminates the next pivot, or pair of pivots, of a panel in the rows of the pivots. The last column is left where it begins
// a pair. The columns on the right of the panel change only by exchanges.
inline void eliminate(panel_type *panel, const front_type *at, REAL tiny, REAL zero, __global SCALAR *a, __global SCALAR *blocks,
                      __global SCALAR *columns, __global uint *pivot_of, __global volatile uint *info, SHARED SCALAR *row, SHARED SCALAR *other_row
#ifndef CPU
                      ,
                      __local REAL *sizes, __local uint *rows
#endif
)
{
    const uint origin = (uint)at->first, pivots = (uint)at->pivots, from = panel->from, k = panel->next;
    const size_t order = at->order;
    const uint item = (uint)ITEM;
    const REAL least = at->rest == 0 ? zero : tiny;
    __global SCALAR *first = columns, *second = columns + pivots, *left = a + (size_t)from * order;
    const bool is_active = k < min(pivots, panel->end);
    const uint begin = is_active ? k : pivots, before = is_active ? k - from : 0;
    for (uint q = item; q < before; q += ITEMS) {
        row[q] = scalar_mirror(times_blocks(a + k, order, blocks, from + q, from, k));
    }
    WAIT;
    for (uint i = begin + item; i < pivots; i += ITEMS) {
        first[i] = a[(size_t)k * order + i];
    }
    subtract_columns(left, order, before, row, begin, pivots, first);
    uint found = UINT_MAX;
    REAL most = largest_of(first, begin, pivots, k, &found);
#ifndef CPU
    share_largest(sizes, rows, most, found);
    most = sizes[0];
    found = rows[0];
#endif
    most = fmax(most, ZERO);
    const REAL own = is_active ? pivot_size(of_diagonal(first[k])) : ZERO;
    const bool is_weak = is_active && fmax(own, most) >= least && own < ALPHA * most;
    const uint r = is_weak ? found : k, begin_other = is_weak ? k : pivots, before_other = is_weak ? before : 0;
    for (uint q = item; q < before_other; q += ITEMS) {
        other_row[q] = scalar_mirror(times_blocks(a + r, order, blocks, from + q, from, k));
    }
    WAIT;
    for (uint i = begin_other + item; i < pivots; i += ITEMS) {
        second[i] = i < r ? scalar_mirror(a[(size_t)i * order + r]) : a[(size_t)r * order + i];
    }
    subtract_columns(left, order, before_other, other_row, begin_other, pivots, second);
    REAL most_other = largest_of(second, begin_other, pivots, r, &found);
#ifndef CPU
    share_largest(sizes, rows, most_other, found);
    most_other = sizes[0];
#endif
    const bool is_own = !is_weak || own >= ALPHA * most * (most / most_other);
    const bool is_pair = !is_own && pivot_size(of_diagonal(second[r])) < ALPHA * most_other;
    const bool is_full = is_pair && k + 1 == panel->end, is_taken = is_active && !is_full;
    const uint target = is_pair ? k + 1 : k, chosen = is_own ? k : r;
    const bool moves = is_taken && chosen != target;
    WAIT;
    for (uint q = moves ? item : before; q < before; q += ITEMS) {
        exchange(left + (size_t)q * order, target, chosen);
    }
    // What the row and column `target` had goes to `chosen`; the candidates have what was there.
    for (uint i = moves ? target + item : pivots; i < pivots; i += ITEMS) {
        const SCALAR value = a[(size_t)target * order + i];
        if (i == target) {
            a[(size_t)chosen * order + chosen] = value;
        } else if (i < chosen) {
            a[(size_t)i * order + chosen] = scalar_mirror(value);
        } else if (i > chosen) {
            a[(size_t)chosen * order + i] = value;
        }
    }
    if (moves && ITEM == 0) {
        exchange(second, target, chosen);
        if (is_pair) {
            exchange(first, target, chosen);
        }
    }
    WAIT;
    if (is_taken && is_pair) {
        const SCALAR between = first[k + 1], mirrored = scalar_mirror(between);
        const SCALAR d = of_diagonal(first[k]), of_next = of_diagonal(second[k + 1]);
        const SCALAR u = scalar_div(of_next, between), v = scalar_div(d, mirrored), less = scalar_mul(u, v) - SCALAR_ONE;
        const SCALAR scale = scalar_div(scalar_div(SCALAR_ONE, mirrored), less), scale_next = scalar_div(scalar_div(SCALAR_ONE, between), less);
        for (uint i = k + 2 + item; i < pivots; i += ITEMS) {
            a[(size_t)k * order + i] = scalar_mul(scale, scalar_mul(u, first[i]) - second[i]);
            a[((size_t)k + 1) * order + i] = scalar_mul(scale_next, scalar_mul(v, second[i]) - first[i]);
        }
        if (ITEM == 0) {
            a[(size_t)k * order + k] = a[((size_t)k + 1) * order + k + 1] = SCALAR_ONE;
            a[(size_t)k * order + k + 1] = SCALAR_ZERO;
            __global SCALAR *block = blocks + STEP * (size_t)k;
            block[0] = d;
            block[1] = between;
            block[INVERSE] = of_diagonal(scalar_mul(u, scale));
            block[INVERSE + 1] = -scale;
            block[STEP] = of_next;
            block[STEP + 1] = SCALAR_ZERO;
            block[STEP + INVERSE] = of_diagonal(scalar_mul(v, scale_next));
            block[STEP + INVERSE + 1] = SCALAR_ZERO;
            pivot_of[origin + k] = origin + k;
            pivot_of[origin + k + 1] = origin + chosen;
            atomic_inc(info + 2);
        }
    }
    if (is_taken && !is_pair) {
        __global const SCALAR *column = is_own ? first : second;
        const SCALAR value = of_diagonal(column[k]), divisor = sound_pivot(value, least, tiny), inverse = scalar_div(SCALAR_ONE, divisor);
        for (uint i = k + 1 + item; i < pivots; i += ITEMS) {
            a[(size_t)k * order + i] = scalar_mul(inverse, column[i]);
        }
        if (ITEM == 0) {
            const bool is_replaced = is_tiny(value, least), is_zero = is_replaced && at->rest == 0;
            a[(size_t)k * order + k] = SCALAR_ONE;
            __global SCALAR *block = blocks + STEP * (size_t)k;
            block[0] = is_zero ? SCALAR_ZERO : divisor;
            block[1] = SCALAR_ZERO;
            block[INVERSE] = inverse;
            block[INVERSE + 1] = SCALAR_ZERO;
            pivot_of[origin + k] = origin + chosen;
            if (is_replaced) {
                atomic_inc(is_zero ? info + 1 : info);
            }
            if (!is_zero && scalar_re(divisor) < ZERO) {
                atomic_inc(info + 2);
            }
        }
    }
    panel->end = is_full ? k : panel->end;
    panel->next += !is_taken ? 0 : is_pair ? 2 : 1;
    WAIT;
}

// Where the other rows of a front, from `begin` to `end` among all, have L in a panel: A inv(L') inv(D), after the exchanges of the panel.
inline void scale_rows(const front_type *at, size_t from, size_t until, size_t begin, size_t end, __global const uint *pivot_of,
                       __global const SCALAR *blocks, __global SCALAR *a)
{
    const size_t order = at->order;
#ifdef CPU
    for (size_t k = from; k < until; ++k) {
        const size_t other = pivot_of[at->first + k] - at->first;
        for (size_t i = other == k ? end : begin; i < end; ++i) {
            exchange(a + i, k * order, other * order);
        }
    }
    for (size_t k = from; k < until; ++k) {
        for (size_t q = from; q < k; ++q) {
            subtract_multiple(end - begin, scalar_mirror(a[q * order + k]), a + q * order + begin, a + k * order + begin);
        }
    }
    for (size_t k = from; k < until; ++k) {
        const SCALAR own = blocks[STEP * k + INVERSE], below = blocks[STEP * k + INVERSE + 1];
        const bool is_pair = !scalar_is_zero(below);
        const SCALAR above = scalar_mirror(below), next = is_pair ? blocks[STEP * (k + 1) + INVERSE] : SCALAR_ONE;
        __global SCALAR *column = a + k * order, *other = is_pair ? column + order : column;
        for (size_t i = begin; i < end; ++i) {
            const SCALAR first = column[i], second = other[i];
            column[i] = scalar_mul(own, first);
            if (is_pair) {
                column[i] = scalar_mad(below, second, column[i]);
                other[i] = scalar_mad(above, first, scalar_mul(next, second));
            }
        }
        k += is_pair ? 1 : 0;
    }
#else
    for (size_t i = begin + ITEM; i < end; i += ITEMS) {
        for (size_t k = from; k < until; ++k) {
            const size_t other = pivot_of[at->first + k] - at->first;
            exchange(a + i, k * order, other * order);
        }
        for (size_t k = from; k < until; ++k) {
            SCALAR sum = a[k * order + i];
            for (size_t q = from; q < k; ++q) {
                sum = scalar_mad(-a[q * order + i], scalar_mirror(a[q * order + k]), sum);
            }
            a[k * order + i] = sum;
        }
        SCALAR before = SCALAR_ZERO;
        for (size_t k = from; k < until; ++k) {
            const SCALAR value = a[k * order + i], next = k + 1 < until ? a[(k + 1) * order + i] : SCALAR_ZERO;
            SCALAR sum = scalar_mad(next, blocks[STEP * k + INVERSE + 1], scalar_mul(value, blocks[STEP * k + INVERSE]));
            if (k > from) {
                sum = scalar_mad(before, scalar_mirror(blocks[STEP * (k - 1) + INVERSE + 1]), sum);
            }
            a[k * order + i] = sum;
            before = value;
        }
    }
#endif
}

// Factors of fronts that a work-group eliminates each.
__kernel GROUP void factor_fronts(uint first_front, __global const uint *list, __global const ulong *fronts, REAL tiny, REAL zero,
                                  __global SCALAR *factors_of, __global SCALAR *contributions, __global SCALAR *blocks_of,
                                  __global SCALAR *columns_of, __global uint *pivot_of, __global volatile uint *info)
{
    const uint position = list[first_front + TASK], pivots = (uint)PIVOTS_OF(position);
    panel_type panel = panel_from(0, pivots);
#ifdef CPU
    SCALAR row[MOST_PIVOTS], other_row[MOST_PIVOTS];
#else
    // Fronts have an order of at most 64, and rest times pivots is at most 32 squared.
    __local SCALAR row[MOST_PIVOTS], other_row[MOST_PIVOTS], scaled[TILE * TILE];
    __local REAL sizes[ITEMS];
    __local uint rows[ITEMS];
#endif
    for (uint step = 0; step < pivots; ++step) {
        const front_type at = front_at(fronts, position);
        eliminate(&panel, &at, tiny, zero, factors_of + at.factors, blocks_of + STEP * at.first, columns_of + 2 * at.first, pivot_of,
                  info, row, other_row OF_GROUP);
    }
    WAIT;
    const front_type front = front_at(fronts, position);
    const size_t order = front.order, rest = front.rest;
    __global SCALAR *a = factors_of + front.factors, *contribution = contributions + front.contribution;
    __global const SCALAR *blocks = blocks_of + STEP * front.first;
    scale_rows(&front, 0, pivots, pivots, order, pivot_of, blocks, a);
    WAIT;
#ifdef CPU
    for (size_t j = 0; j < rest; ++j) {
        for (size_t k = 0; k < pivots; ++k) {
            const SCALAR factor = scalar_mirror(times_blocks(a + pivots + j, order, blocks, k, 0, pivots));
            subtract_multiple(rest - j, factor, a + k * order + pivots + j, contribution + j * rest + j);
        }
    }
#else
    for (size_t e = ITEM; e < rest * pivots; e += ITEMS) {
        const size_t k = e / rest, j = e - k * rest;
        scaled[e] = scalar_mirror(times_blocks(a + pivots + j, order, blocks, k, 0, pivots));
    }
    WAIT;
    for (size_t e = ITEM; e < rest * rest; e += ITEMS) {
        const size_t j = e / rest, i = e - j * rest;
        if (i >= j) {
            SCALAR sum = contribution[e];
            for (size_t k = 0; k < pivots; ++k) {
                sum = scalar_mad(-a[k * order + pivots + i], scaled[k * rest + j], sum);
            }
            contribution[e] = sum;
        }
    }
#endif
}

// Factors of larger fronts by panels of up to TILE pivots, the fronts of `list` from `first_front` on together.
//
// The rows of the pivots in the next panel of each front. On GPUs `inverses` gets the inverse of the panel's triangle on the diagonal.
__kernel GROUP void factor_panels(ulong first_front, __global const uint *list, __global const ulong *fronts, REAL tiny, REAL zero,
                                  __global SCALAR *factors, __global SCALAR *blocks_of, __global SCALAR *columns_of,
                                  __global uint *pivot_of, __global uint *progress, __global SCALAR *inverses, __global volatile uint *info)
{
    const size_t position = list[first_front + TASK];
    const uint from = progress[2 * position + 1];
    panel_type panel = panel_from(from, TILE);
#ifdef CPU
    (void)inverses;
    SCALAR row[TILE], other_row[TILE];
#else
    __local SCALAR row[TILE], other_row[TILE], tile[TILE * TILE];
    __local REAL sizes[ITEMS];
    __local uint rows[ITEMS];
#endif
    for (size_t step = 0; step < TILE; ++step) {
        const front_type at = front_at(fronts, position);
        eliminate(&panel, &at, tiny, zero, factors + at.factors, blocks_of + STEP * at.first, columns_of + 2 * at.first, pivot_of, info, row,
                  other_row OF_GROUP);
    }
    const uint until = panel.next;
#ifndef CPU
    WAIT;
    const front_type front = front_at(fronts, position);
    __global const SCALAR *a = factors + front.factors;
    for (size_t e = ITEM; e < TILE * TILE; e += ITEMS) {
        const size_t i = e % TILE, k = e / TILE;
        tile[e] = from + max(i, k) < until ? a[(from + k) * front.order + from + i] : SCALAR_ZERO;
    }
    WAIT;
    invert_tile(ITEM, until - from, TILE, tile, inverses + TILE * TILE * TASK);
#endif
    if (ITEM == 0) {
        progress[2 * position] = from;
        progress[2 * position + 1] = until;
    }
}

// The exchanges of a panel in the columns before it, and on GPUs those of its columns in the other rows. An item has a column or a row.
__kernel GROUP void exchange_rows(ulong first_front, __global const uint *list, __global const ulong *fronts, __global const uint *pivot_of,
                                  __global const uint *progress, __global SCALAR *factors)
{
    const size_t position = list[first_front + get_group_id(1)];
    const front_type front = front_at(fronts, position);
    const size_t from = progress[2 * position], until = progress[2 * position + 1], j = ITEMS * TASK + ITEM;
    __global SCALAR *a = factors + front.factors;
    if (j < from) {
        for (size_t k = from; k < until; ++k) {
            exchange(a + j * front.order, k, pivot_of[front.first + k] - front.first);
        }
    }
#ifndef CPU
    else if (j < from + front.rest) {
        for (size_t k = from; k < until; ++k) {
            exchange(a + front.pivots + j - from, k * front.order, (pivot_of[front.first + k] - front.first) * front.order);
        }
    }
#endif
}

// L of a panel in TILE of the other rows of a front.
__kernel GROUP void scale_tiles(ulong first_front, __global const uint *list, __global const ulong *fronts, __global const uint *pivot_of,
                                __global const uint *progress, __global const SCALAR *inverses, __global const SCALAR *blocks_of,
                                __global SCALAR *factors)
{
    const size_t position = list[first_front + get_group_id(1)];
    const front_type front = front_at(fronts, position);
    const size_t from = progress[2 * position], until = progress[2 * position + 1], begin = front.pivots + TILE * TASK;
    __global SCALAR *a = factors + front.factors;
    __global const SCALAR *blocks = blocks_of + STEP * front.first;
#ifdef CPU
    (void)inverses;
    if (begin < front.order) {
        scale_rows(&front, from, until, begin, min(begin + TILE, front.order), pivot_of, blocks, a);
    }
#else
    (void)pivot_of;
    __local SCALAR tile[TILE * TILE], inverse[TILE * TILE];
    const size_t size = until - from, rows = begin < front.order ? min((size_t)TILE, front.order - begin) : 0;
    __global SCALAR *own = a + from * front.order + begin;
    __global const SCALAR *of_tile = inverses + TILE * TILE * get_group_id(1);
    for (size_t e = ITEM; e < TILE * TILE; e += ITEMS) {
        const size_t i = e % TILE, j = e / TILE;
        tile[e] = i < rows && j < size ? own[j * front.order + i] : SCALAR_ZERO;
        // inv(L') inv(D).
        SCALAR sum = SCALAR_ZERO;
        if (j < size) {
            __global const SCALAR *block = blocks + STEP * (from + j) + INVERSE;
            if (i <= j) {
                sum = scalar_mul(scalar_mirror(of_tile[i * TILE + j]), block[0]);
            }
            if (j > 0 && i < j) {
                sum = scalar_mad(scalar_mirror(of_tile[i * TILE + j - 1]), scalar_mirror(block[1 - STEP]), sum);
            }
            if (j + 1 < size && i <= j + 1) {
                sum = scalar_mad(scalar_mirror(of_tile[i * TILE + j + 1]), block[1], sum);
            }
        }
        inverse[e] = sum;
    }
    WAIT;
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
#endif
}

#ifdef CPU
// L and L D of a panel for products, in the rows of a front from `begin` on, those of the panel as zeros; an item has one of TILE columns. L D of the
// pivots' rows.
__kernel void copy_panel(ulong first_front, ulong begin, __global const uint *list, __global const ulong *fronts, __global const uint *progress,
                         __global const SCALAR *factors, __global const SCALAR *blocks_of, __global SCALAR *left, __global SCALAR *right)
{
    const size_t position = list[first_front];
    const front_type front = front_at(fronts, position);
    const size_t from = progress[2 * position], until = progress[2 * position + 1], q = get_global_id(0), k = from + q;
    __global const SCALAR *a = factors + front.factors, *blocks = blocks_of + STEP * front.first;
    for (size_t i = begin; q < TILE && i < front.order; ++i) {
        const bool has_value = k < until && i >= until;
        left[q * (front.order - begin) + i - begin] = has_value ? a[k * front.order + i] : SCALAR_ZERO;
        if (i < front.pivots) {
            right[q * (front.pivots - begin) + i - begin] = has_value ? times_blocks(a + i, front.order, blocks, k, from, until) : SCALAR_ZERO;
        }
    }
}
#else
// Subtracts L D L' of a panel from what is on its right and below it but the contribution, or with `last` that of all pivots from the contribution, of
// fronts for which that takes less than `most` operations. A work-group has a block, of which there are `across` in a row of them; those without
// elements do nothing.
__kernel BLOCK_GROUP void subtract_products(ulong first_front, uint last, ulong most, uint across, __global const uint *list,
                                            __global const ulong *fronts, __global const uint *progress, __global const SCALAR *blocks_of,
                                            __global SCALAR *factors, __global SCALAR *contributions)
{
    __local SCALAR left[DEPTH * BLOCK], right[DEPTH * BLOCK];
    const size_t position = list[first_front + get_group_id(1)], pivots = PIVOTS_OF(position);
    const size_t rest = REST_OF(position), order = pivots + rest;
    const front_type front = front_at(fronts, position);
    const size_t block_row = TASK / across, block_col = TASK % across;
    // The columns, and the pivots that are subtracted.
    const size_t k_begin = last ? 0 : progress[2 * position], k_end = last ? pivots : progress[2 * position + 1];
    const size_t begin = k_end, end = last ? order : pivots;
    const size_t first_row = begin + block_row * BLOCK, first_col = begin + block_col * BLOCK;
    const bool is_needed = (!last || rest * rest * pivots < most) && block_row >= block_col;
    const size_t has_block = is_needed && first_row < order && first_col < end ? 1 : 0;
    const size_t steps = has_block * ((k_end - k_begin + DEPTH - 1) / DEPTH);
    __global SCALAR *a = factors + front.factors, *contribution = contributions + front.contribution;
    __global const SCALAR *blocks = blocks_of + STEP * front.first;
    const size_t x = get_local_id(0) % SIDE, y = get_local_id(0) / SIDE;
    SCALAR sums[OWN * OWN];
    for (size_t e = 0; e < OWN * OWN; ++e) {
        sums[e] = SCALAR_ZERO;
    }
    for (size_t step = 0; step < steps; ++step) {
        for (size_t e = get_local_id(0); e < DEPTH * BLOCK; e += SIDE * SIDE) {
            const size_t k = k_begin + step * DEPTH + e / BLOCK, row = first_row + e % BLOCK, col = first_col + e % BLOCK;
            left[e] = k < k_end && row < order ? a[k * order + row] : SCALAR_ZERO;
            right[e] = k < k_end && col < end ? scalar_mirror(times_blocks(a + col, order, blocks, k, k_begin, k_end)) : SCALAR_ZERO;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        add_block(left, right, x, y, sums);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t e = 0; e < OWN * OWN; ++e) {
        const size_t row = first_row + x + e % OWN * SIDE, col = first_col + y + e / OWN * SIDE;
        if (row >= col && has_block && row < order && col < end) {
            if (last) {
                contribution[(col - pivots) * rest + row - pivots] -= sums[e];
            } else {
                a[col * order + row] -= sums[e];
            }
        }
    }
}
#endif

// Columns of L D in the other rows of a front, `count` from `first` on, for a product.
__kernel void scale_columns(ulong first_front, ulong first, ulong count, __global const uint *list, __global const ulong *fronts,
                            __global const SCALAR *factors, __global const SCALAR *blocks_of, __global SCALAR *scaled)
{
    const front_type front = front_at(fronts, list[first_front]);
    __global const SCALAR *a = factors + front.factors + front.pivots, *blocks = blocks_of + STEP * front.first;
#ifdef CPU
    for (size_t k = get_global_id(0); k < count; k += get_global_size(0)) {
        for (size_t i = 0; i < front.rest; ++i) {
            scaled[k * front.rest + i] = times_blocks(a + i, front.order, blocks, first + k, 0, front.pivots);
        }
    }
#else
    for (size_t e = get_global_id(0); e < front.rest * count; e += get_global_size(0)) {
        const size_t k = e / front.rest, i = e - k * front.rest;
        scaled[e] = times_blocks(a + i, front.order, blocks, first + k, 0, front.pivots);
    }
#endif
}
