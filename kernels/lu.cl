// LU factorisation with partial pivoting: panels of at most PANEL columns, and exchanges of rows.
//
// The pivot is the element of largest |re| + |im|, the first of several, as LAPACK chooses it. Those of a modulus below `tiny` are replaced by
// one of the modulus `instead`, and counted in info[2].
//
//@ build
//@ build CPU=1
//@ build PANEL=32 COOPERATIVE=1000
//@ build SCALAR_COMPLEX=1
//@ build SCALAR_COMPLEX=1 CPU=1
#include "common.clh"
#include "scalar.clh"
#include "elimination.clh"
#include "cooperative.clh"

#ifndef PANEL
#define PANEL 16
#endif
// Items of a work-group of a panel, each with a row, and candidates that an item compares.
#define PANEL_ITEMS 96
#define COMPARED 8
// Elements of a row that are under way at once.
#define BATCH 8
// Most exchanges of rows that are joined to one permutation.
#define EXCHANGES 512
#define MOVERS 256

// The larger of two candidates takes the first one's place, of equal ones that of the smaller row.
#define TAKE_LARGER(size, row, other_size, other_row)                                                                  \
    if ((other_size) > (size) || ((other_size) == (size) && (other_row) < (row))) {                                    \
        (size) = (other_size);                                                                                         \
        (row) = (other_row);                                                                                           \
    }

// The largest of the candidates of a work-group, known to all its items.
#define CHOOSE_LARGEST(most, at)                                                                                       \
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);                                                               \
    if (item < PANEL_ITEMS / COMPARED) {                                                                               \
        REAL largest = sizes[item * COMPARED];                                                                         \
        uint place = rows[item * COMPARED];                                                                            \
        for (uint q = 1; q < COMPARED; ++q) {                                                                          \
            TAKE_LARGER(largest, place, sizes[item * COMPARED + q], rows[item * COMPARED + q])                         \
        }                                                                                                              \
        best_sizes[item] = largest;                                                                                    \
        best_rows[item] = place;                                                                                       \
    }                                                                                                                  \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                                      \
    most = best_sizes[0];                                                                                              \
    at = best_rows[0];                                                                                                 \
    for (uint q = 1; q < PANEL_ITEMS / COMPARED; ++q) {                                                                \
        TAKE_LARGER(most, at, best_sizes[q], best_rows[q])                                                             \
    }

#ifndef CPU
// The elements of a row of the work-group: in local memory where one launch does all columns.
#ifdef COOPERATIVE
#define OF_ROW(row, j) tile[(j) * PANEL_ITEMS + (row) - group * PANEL_ITEMS]
#else
#define OF_ROW(row, j) a[(j) * lda + (row)]
#endif

// Columns `first` - 1 to `last` - 1 of a panel. Each work-group has PANEL_ITEMS rows. For column c, every work-group finds the pivot among the
// candidates that all left for it (`sizes_of`, `rows_of`; the candidates' rows of the panel in `kept`, behind them row c), makes the
// exchange and the elimination in its own rows, and leaves its candidate for column c + 1 at the other of two places. Column -1 only
// leaves candidates. So a column takes one launch; with COOPERATIVE, work-groups that all run at the same time wait for each other instead.
// Reads and writes m (width - c) elements for column c.
__kernel __attribute__((reqd_work_group_size(PANEL_ITEMS, 1, 1))) void
lu_columns(uint m, uint width, uint first, uint last, uint groups, __global SCALAR *a_of, ulong a_offset, ulong lda,
           __global volatile REAL *sizes_of, __global volatile uint *rows_of, __global volatile SCALAR *kept,
           __global uint *pivots, ulong pivots_offset, uint above, REAL tiny, REAL instead, __global volatile uint *info,
           __global volatile uint *sync, uint arrived)
{
    __local REAL sizes[PANEL_ITEMS], best_sizes[PANEL_ITEMS / COMPARED];
    __local uint rows[PANEL_ITEMS], best_rows[PANEL_ITEMS / COMPARED];
    __local SCALAR pivot_row[PANEL], moved_row[PANEL];
    const uint item = (uint)get_local_id(0), group = (uint)get_group_id(0);
    const uint row = group * PANEL_ITEMS + item;
    __global SCALAR *a = a_of + a_offset;
#ifdef COOPERATIVE
    __local SCALAR tile[PANEL * PANEL_ITEMS];
    for (uint from = 0; row < m && from < width; from += BATCH) {
        SCALAR value[BATCH];
#pragma unroll
        for (uint q = 0; q < BATCH; ++q) {
            value[q] = a[min(from + q, width - 1) * lda + row];
        }
#pragma unroll
        for (uint q = 0; q < BATCH; ++q) {
            OF_ROW(row, min(from + q, width - 1)) = value[q];
        }
    }
#endif
    for (uint step = first; step < last; ++step) {
        const bool eliminates = step > 0;
        // The column that is eliminated, and the places of its candidates and of the next ones.
        const uint c = eliminates ? step - 1 : 0;
        const uint next = step % 2, now = 1 - next;
        REAL most = (REAL)-1;
        uint at = UINT_MAX;
        for (uint q = item; eliminates && q < groups; q += PANEL_ITEMS) {
            const REAL size = sizes_of[now * groups + q];
            const uint place = rows_of[now * groups + q];
            TAKE_LARGER(most, at, size, place)
        }
        sizes[item] = most;
        rows[item] = at;
        uint pivot;
        CHOOSE_LARGEST(most, pivot);
        if (eliminates && item < width) {
            const SCALAR found = kept[(now * (groups + 1) + pivot / PANEL_ITEMS) * PANEL + item];
            pivot_row[item] = item == c ? sound_pivot(found, tiny, instead) : found;
            if (item == c && group == 0 && is_tiny(found, tiny)) {
                ++info[2];
            }
            moved_row[item] = kept[(now * (groups + 1) + groups) * PANEL + item];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (eliminates && item < width && pivot / PANEL_ITEMS == group) {
            OF_ROW(pivot, item) = moved_row[item];
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (eliminates && item < width && c / PANEL_ITEMS == group) {
            OF_ROW(c, item) = pivot_row[item];
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        REAL size = (REAL)-1;
        if (eliminates && row < m && row > c && !scalar_is_zero(pivot_row[c])) {
            const SCALAR factor = scalar_div(OF_ROW(row, c), pivot_row[c]);
            OF_ROW(row, c) = factor;
            for (uint from = step; from < width; from += BATCH) {
                SCALAR value[BATCH];
#pragma unroll
                for (uint q = 0; q < BATCH; ++q) {
                    const uint j = min(from + q, width - 1);
                    value[q] = scalar_mad(-factor, pivot_row[j], OF_ROW(row, j));
                }
#pragma unroll
                for (uint q = 0; q < BATCH; ++q) {
                    if (from + q < width) {
                        OF_ROW(row, from + q) = value[q];
                    }
                }
            }
        }
        if (step < width && row < m && row >= step) {
            size = pivot_size(OF_ROW(row, step));
        }
        if (eliminates && group == 0 && item == 0) {
            pivots[pivots_offset + c] = above + pivot;
            if (scalar_is_zero(pivot_row[c]) && info[0] == 0) {
                info[0] = above + c + 1;
            }
        }
        sizes[item] = size;
        rows[item] = row;
        uint chosen;
        CHOOSE_LARGEST(most, chosen);
        if (item == 0) {
            sizes_of[next * groups + group] = most;
            rows_of[next * groups + group] = chosen;
        }
        if (item < width && most >= ZERO) {
            kept[(next * (groups + 1) + group) * PANEL + item] = OF_ROW(chosen, item);
        }
        if (item < width && step < width && step / PANEL_ITEMS == group) {
            kept[(next * (groups + 1) + groups) * PANEL + item] = OF_ROW(step, item);
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (item == 0) {
            ARRIVE(sync)
            AWAIT_ALL(sync, arrived + (step - first + 1) * groups, info + 1)
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
#ifdef COOPERATIVE
    for (uint j = 0; row < m && j < width; ++j) {
        a[j * lda + row] = OF_ROW(row, j);
    }
#endif
}

// Joins `count` exchanges, of rows first + k and the k-th pivot, in order or backwards, to moves: the row that gets another one's elements, and that one.
__kernel __attribute__((reqd_work_group_size(MOVERS, 1, 1))) void
join_exchanges(uint count, uint first, __global const uint *pivots, ulong pivots_offset, uint backward,
               __global uint *moves)
{
    __local uint target[EXCHANGES], place[EXCHANGES], content[2 * EXCHANGES];
    const uint item = (uint)get_local_id(0);
    for (uint k = item; k < count; k += MOVERS) {
        target[k] = pivots[pivots_offset + k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    // Each row below the others is known by the first exchange that names it.
    for (uint k = item; k < count; k += MOVERS) {
        uint same = 0;
        while (target[same] != target[k]) {
            ++same;
        }
        place[k] = target[k] < first + count ? target[k] - first : count + same;
        content[k] = first + k;
        content[count + k] = target[k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; item == 0 && k < count; ++k) {
        const uint own = backward ? count - 1 - k : k;
        const uint moved = content[own];
        content[own] = content[place[own]];
        content[place[own]] = moved;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = item; k < 2 * count; k += MOVERS) {
        moves[2 * k] = k < count ? first + k : target[k - count];
        moves[2 * k + 1] = content[k];
    }
}

// Moves the rows of `per` columns per work-group; per entries <= 2 EXCHANGES. From column `gap` on, `gap_width` columns are left out.
__kernel __attribute__((reqd_work_group_size(MOVERS, 1, 1))) void
move_rows(uint entries, __global const uint *moves, uint per, ulong cols, ulong gap, ulong gap_width,
          __global SCALAR *a_of, ulong a_offset, ulong lda)
{
    __local SCALAR moved[2 * EXCHANGES];
    const uint item = (uint)get_local_id(0);
    const size_t left = get_group_id(0) * per;
    __global SCALAR *a = a_of + a_offset;
    for (uint e = item; e < entries * per; e += MOVERS) {
        const uint2 move = vload2(e % entries, moves);
        const size_t column = left + e / entries, j = column < gap ? column : column + gap_width;
        if (column < cols && move.x != move.y) {
            moved[e] = a[j * lda + move.y];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint e = item; e < entries * per; e += MOVERS) {
        const uint2 move = vload2(e % entries, moves);
        const size_t column = left + e / entries, j = column < gap ? column : column + gap_width;
        if (column < cols && move.x != move.y) {
            a[j * lda + move.x] = moved[e];
        }
    }
}
#else
// A panel by one item.
__kernel void lu_panel(uint m, uint width, __global SCALAR *a_of, ulong a_offset, ulong lda, __global uint *pivots,
                       ulong pivots_offset, uint above, REAL tiny, REAL instead, __global uint *info)
{
    __global SCALAR *a = a_of + a_offset;
    for (uint c = 0; c < width; ++c) {
        __global SCALAR *column = a + c * lda;
        REAL most = (REAL)-1;
        uint pivot = c;
        for (uint i = c; i < m; ++i) {
            const REAL size = pivot_size(column[i]);
            if (size > most) {
                most = size;
                pivot = i;
            }
        }
        pivots[pivots_offset + c] = above + pivot;
        for (uint j = 0; pivot != c && j < width; ++j) {
            const SCALAR moved = a[j * lda + c];
            a[j * lda + c] = a[j * lda + pivot];
            a[j * lda + pivot] = moved;
        }
        const SCALAR divisor = sound_pivot(column[c], tiny, instead);
        info[2] += is_tiny(column[c], tiny);
        column[c] = divisor;
        if (scalar_is_zero(divisor)) {
            info[0] = info[0] == 0 ? above + c + 1 : info[0];
        } else {
            for (uint i = c + 1; i < m; ++i) {
                column[i] = scalar_div(column[i], divisor);
            }
            for (uint j = c + 1; j < width; ++j) {
                subtract_multiple(m - c - 1, a[j * lda + c], column + c + 1, a + j * lda + c + 1);
            }
        }
    }
}

// The exchanges of rows in `per` columns per item.
__kernel void exchange_rows(uint count, uint first, __global const uint *pivots, ulong pivots_offset, uint backward,
                            uint per, ulong cols, ulong gap, ulong gap_width, __global SCALAR *a_of, ulong a_offset,
                            ulong lda)
{
    const size_t left = get_global_id(0) * per;
    for (size_t j = left; j < min(left + per, (size_t)cols); ++j) {
        __global SCALAR *column = a_of + a_offset + (j < gap ? j : j + gap_width) * lda;
        for (uint k = 0; k < count; ++k) {
            const uint own = backward ? count - 1 - k : k;
            const uint other = pivots[pivots_offset + own];
            const SCALAR moved = column[first + own];
            column[first + own] = column[other];
            column[other] = moved;
        }
    }
}
#endif
