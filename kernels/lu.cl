// LU factorisation with partial pivoting: panels of at most PANEL columns, and exchanges of rows.
//
// The pivot is the element of largest |re| + |im|, the first of several, as LAPACK chooses it. Those of a modulus below `tiny` are replaced by
// one of the modulus `instead`, and counted in info[2].
//
//@ build
//@ build CPU=1
//@ build PANEL=32
//@ build PANEL=32 COOPERATIVE=1000 CAPABILITY=80
//@ build SCALAR_COMPLEX=1 COOPERATIVE=1000 CAPABILITY=80
//@ build SCALAR_COMPLEX=1
//@ build SCALAR_COMPLEX=1 CPU=1
#include "common.clh"
#include "scalar.clh"
#include "elimination.clh"
#include "cooperative.clh"

#ifndef PANEL
#define PANEL 16
#endif
// Items of a work-group of a panel, each with a row, and candidates for the pivot that an item compares.
#define PANEL_ITEMS 256
#define COMPARED 16
// Most exchanges of rows that are joined to one permutation.
#define EXCHANGES 512
#define MOVERS 256

#ifndef CPU
// A candidate for the pivot: its size, its row, and who has it.
typedef struct {
    REAL size;
    uint row, owner;
} Candidate;

// The larger of two, of equal ones that of the smaller row.
inline Candidate larger(Candidate a, Candidate b)
{
    const bool taken = (b.size > a.size) | ((b.size == a.size) & (b.row < a.row));
    a.size = taken ? b.size : a.size;
    a.row = taken ? b.row : a.row;
    a.owner = taken ? b.owner : a.owner;
    return a;
}

#if CAPABILITY >= 80
// Nonnegative sizes have the order of their bit patterns. Key 0 stands for no candidate (size below 0).
#if REAL_BITS == 64
#define KEY ulong
#define AS_KEY(size) as_ulong(size)
#define AS_SIZE(key) as_double(key)
#else
#define KEY uint
#define AS_KEY(size) as_uint(size)
#define AS_SIZE(key) as_float(key)
#endif

// The largest candidate of a warp, of equal ones that of the smallest row.
inline Candidate largest(Candidate own)
{
    const KEY key = own.size < ZERO ? 0 : AS_KEY(own.size) + 1;
#if REAL_BITS == 64
    const uint upper = largest_of_warp((uint)(key >> 32));
    const uint lower = largest_of_warp((uint)(key >> 32) == upper ? (uint)key : 0);
    const KEY most = (KEY)upper << 32 | lower;
#else
    const KEY most = largest_of_warp(key);
#endif
    Candidate found;
    found.size = most == 0 ? (REAL)-1 : AS_SIZE(most - 1);
    found.row = smallest_of_warp(key == most ? own.row : UINT_MAX);
    found.owner = smallest_of_warp(key == most && own.row == found.row ? own.owner : UINT_MAX);
    return found;
}

// The first warp waits for the candidates of all work-groups; the others have none.
#define COMPARING 32
#define CHOOSE_PIVOT(pivot, own) const Candidate pivot = largest(own)
// The largest of the items' candidates, known to all of them.
#define CANDIDATE_SPACE                                                                                                \
    __local REAL best_sizes[PANEL_ITEMS / 32];                                                                         \
    __local uint best_rows[PANEL_ITEMS / 32], best_owners[PANEL_ITEMS / 32];
#define CHOOSE_LARGEST(chosen, own)                                                                                    \
    const Candidate of_warp = largest(own);                                                                            \
    if (item % 32 == 0) {                                                                                              \
        best_sizes[item / 32] = of_warp.size;                                                                          \
        best_rows[item / 32] = of_warp.row;                                                                            \
        best_owners[item / 32] = of_warp.owner;                                                                        \
    }                                                                                                                  \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                                      \
    const uint of_item = item % (PANEL_ITEMS / 32);                                                                    \
    const Candidate best = {best_sizes[of_item], best_rows[of_item], best_owners[of_item]};                            \
    const Candidate chosen = largest(best)
#else
// The largest of COMPARED candidates, `stride` apart.
inline Candidate largest(__local const REAL *sizes, __local const uint *rows, __local const uint *owners, uint stride)
{
    Candidate found = {sizes[0], rows[0], owners[0]};
    for (uint q = 1; q < COMPARED; ++q) {
        const Candidate other = {sizes[q * stride], rows[q * stride], owners[q * stride]};
        found = larger(found, other);
    }
    return found;
}

#define COMPARING PANEL_ITEMS
#define CHOOSE_PIVOT(pivot, own) CHOOSE_LARGEST(pivot, own)
#define CANDIDATE_SPACE                                                                                                \
    __local REAL sizes[PANEL_ITEMS], best_sizes[COMPARED];                                                             \
    __local uint rows[PANEL_ITEMS], owners[PANEL_ITEMS], best_rows[COMPARED], best_owners[COMPARED];
#define CHOOSE_LARGEST(chosen, own)                                                                                    \
    sizes[item] = (own).size;                                                                                          \
    rows[item] = (own).row;                                                                                            \
    owners[item] = (own).owner;                                                                                        \
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);                                                               \
    if (item < COMPARED) {                                                                                             \
        const Candidate best = largest(sizes + item, rows + item, owners + item, COMPARED);                            \
        best_sizes[item] = best.size;                                                                                  \
        best_rows[item] = best.row;                                                                                    \
        best_owners[item] = best.owner;                                                                                \
    }                                                                                                                  \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                                      \
    const Candidate chosen = largest(best_sizes, best_rows, best_owners, 1)
#endif

// Columns `first` - 1 to `last` - 1 of a panel. An item keeps a row in registers, the elements of columns still to be
// eliminated first. Rows stay where they are: `place` is where the exchanges bring an item's row. For column c, every
// work-group finds the pivot among the candidates that all left (`sizes_of`, `places_of`, and in `kept` their elements from
// column c on), eliminates in its own rows, and leaves its candidate for column c + 1 at the other of two places. Column -1
// only leaves candidates. So a column takes one launch, and `places` keeps the places between launches; with COOPERATIVE,
// work-groups that all run at the same time wait for each other instead. At the end `moves` has 2 `width` rows that move, as
// `move_rows` takes them. Reads and writes m (width - c) elements for column c, or m width in all where one launch does all
// columns.
__kernel __attribute__((reqd_work_group_size(PANEL_ITEMS, 1, 1))) void
lu_columns(uint m, uint width, uint first, uint last, uint groups, __global SCALAR *a_of, ulong a_offset, ulong lda,
           __global volatile REAL *sizes_of, __global volatile uint *places_of, __global volatile SCALAR *kept,
           __global uint *places, __global uint *pivots, ulong pivots_offset, uint above, REAL tiny, REAL instead,
           __global volatile uint *info, __global uint *moves, __global volatile uint *signals, uint signalled)
{
    CANDIDATE_SPACE
    __local SCALAR pivot_row[PANEL];
    __local uint pivot_place;
    const uint item = (uint)get_local_id(0), group = (uint)get_group_id(0);
    const uint row = group * PANEL_ITEMS + item;
    const bool inside = row < m;
    // Column `start` + j is in value[j] at first; each column that is eliminated goes to the end.
    const uint start = first > 0 ? first - 1 : 0;
    __global SCALAR *a = a_of + a_offset;
    uint place = !inside ? UINT_MAX : first > 0 ? places[row] : row;
    SCALAR value[PANEL];
#pragma unroll
    for (uint j = 0; j < PANEL; ++j) {
        const SCALAR loaded = a[min(start + j, width - 1) * lda + min(row, m - 1)];
        value[j] = (inside & (start + j < width)) ? loaded : SCALAR_ZERO;
    }
    for (uint step = first; step < last; ++step) {
        const bool eliminates = step > 0;
        const uint c = eliminates ? step - 1 : 0;
        const uint next = step % 2, now = 1 - next;
        Candidate own = {(REAL)-1, UINT_MAX, 0};
        const uint compared = eliminates && item < COMPARING ? groups : 0;
        for (uint q = item; q < compared; q += COMPARING) {
            if (step > first) {
                AWAIT_SIGNAL(signals + q, signalled + (step - first), info + 1)
            }
            const Candidate other = {sizes_of[now * groups + q], places_of[now * groups + q], q};
            own = larger(own, other);
        }
        CHOOSE_PIVOT(pivot, own);
        if (eliminates && item < PANEL) {
            // Behind the open columns are those that are done.
            const bool is_open = item + (c - start) < PANEL;
            const SCALAR found = is_open ? kept[(now * groups + pivot.owner) * PANEL + item] : SCALAR_ZERO;
            pivot_row[item] = item == 0 ? sound_pivot(found, tiny, instead) : found;
            if (item == 0) {
                pivot_place = pivot.row;
            }
            if (item == 0 && group == 0 && is_tiny(found, tiny)) {
                ++info[2];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (eliminates) {
            if (item == 0 && group == 0) {
                pivots[pivots_offset + c] = above + pivot_place;
                if (scalar_is_zero(pivot_row[0]) && info[0] == 0) {
                    info[0] = above + c + 1;
                }
            }
            place = place == pivot_place ? c : place == c ? pivot_place : place;
            SCALAR done = inside && place == c ? pivot_row[0] : value[0];
            if (inside && place > c && !scalar_is_zero(pivot_row[0])) {
                done = scalar_div(value[0], pivot_row[0]);
#pragma unroll
                for (uint j = 1; j < PANEL; ++j) {
                    value[j - 1] = scalar_mad(-done, pivot_row[j], value[j]);
                }
            } else {
#pragma unroll
                for (uint j = 1; j < PANEL; ++j) {
                    value[j - 1] = value[j];
                }
            }
            value[PANEL - 1] = done;
        }
        const bool open = inside && step < width && place >= step;
        const Candidate row_own = {open ? pivot_size(value[0]) : (REAL)-1, place, item};
        CHOOSE_LARGEST(offered, row_own);
        if (item == offered.owner) {
            sizes_of[next * groups + group] = offered.size;
            places_of[next * groups + group] = offered.row;
#pragma unroll
            for (uint j = 0; j < PANEL; ++j) {
                kept[(next * groups + group) * PANEL + j] = value[j];
            }
            SET_SIGNAL(signals + group, signalled + (step - first + 1));
        }
    }
    const uint turned = last - max(first, 1u);
#pragma unroll
    for (uint j = 0; j < PANEL; ++j) {
        const uint column = start + (j + turned) % PANEL;
        if (inside && column < width) {
            a[column * lda + row] = value[j];
        }
    }
    if (inside && last <= width) {
        places[row] = place;
    }
    // Entry `place` holds the move into a row below index `width`, entry `width` + row that of a row moved out of the first
    // `width`.
    if (inside && last > width && (row < width || place < width)) {
        const uint2 move = (uint2)(above + place, above + row);
        if (place < width) {
            vstore2(move, place, moves);
        }
        if (row < width) {
            vstore2(place < width ? (uint2)(0, 0) : move, width + row, moves);
        }
    }
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
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
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
