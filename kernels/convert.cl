// Compressed columns to compressed rows (which is also the transpose of compressed rows), and exclusive prefix sums of counts: in one file, as
// each further program takes time to load.
//
// Count the entries of each row, sum the counts to offsets, scatter the position of each entry into
// its row, sort the positions within the row, gather. Positions increase with the column, so the sort
// makes the result independent of the order of the scatter.
//@ build
//@ build CPU=1
//@ one_program
//@ build CPU=1 ENTRIES_AHEAD=16
//@ build SCALAR_COMPLEX=1
//@ build CPU=1 SCALAR_COMPLEX=1
//@ variant Wide WIDE=1
//@ build Wide CPU=1
//@ build Wide CPU=1 ENTRIES_AHEAD=16
//@ build Wide CPU=1 SCALAR_COMPLEX=1
#include "sparse.clh"

// Rows as the host gives them, or as they are stored.
#ifdef WIDE
typedef ulong INDEX;
#else
typedef uint INDEX;
#endif

// Sums of the parts before each part, in place; one item.
__kernel void scan_parts(ulong parts, __global uint *part)
{
    uint sum = 0;
    for (size_t p = 0; p < parts; ++p) {
        const uint own = part[p];
        part[p] = sum;
        sum += own;
    }
}

#ifndef CPU
// order[k] = column of entry k, for the columns' entries.
__kernel void expand_columns(ulong cols, __global const uint *offset, __global uint *column_of)
{
    const size_t j = get_global_id(0);
    if (j < cols) {
        const uint end = offset[j + 1];
        for (uint k = offset[j]; k < end; ++k) {
            column_of[k] = (uint)j;
        }
    }
}

// The host's rows in 32 bits; wrong = 1 where one is not below `rows` or does not follow the one before in its column.
__kernel void narrow_rows(ulong entries, ulong rows, __global const uint *column_of, __global const ulong *given,
                          __global uint *row, __global uint *wrong)
{
    const size_t k = get_global_id(0);
    if (k < entries) {
        const ulong own = given[k];
        row[k] = (uint)own;
        if (own >= rows || (k > 0 && column_of[k - 1] == column_of[k] && given[k - 1] >= own)) {
            atomic_or(wrong, 1u);
        }
    }
}

__kernel void count_rows(ulong entries, __global const uint *row, __global uint *count)
{
    const size_t k = get_global_id(0);
    if (k < entries) {
        atomic_inc(count + row[k]);
    }
}

// Sum of each part's counts.
__kernel void sum_parts(ulong n, __global const uint *count, __global uint *part)
{
    const size_t end = part_start(n, get_global_id(0) + 1, get_global_size(0));
    uint sum = 0;
    for (size_t i = part_start(n, get_global_id(0), get_global_size(0)); i < end; ++i) {
        sum += count[i];
    }
    part[get_global_id(0)] = sum;
}

// offset = sums of the counts before each row; cursor is a copy for `scatter_entries`. The counts may
// be those of cursor's own buffer.
__kernel void scan_rows(ulong n, __global const uint *part, __global uint *cursor, __global uint *offset)
{
    const size_t end = part_start(n, get_global_id(0) + 1, get_global_size(0));
    uint sum = part[get_global_id(0)];
    for (size_t i = part_start(n, get_global_id(0), get_global_size(0)); i < end; ++i) {
        const uint own = cursor[i];
        offset[i] = sum;
        cursor[i] = sum;
        sum += own;
    }
    if (end == n) {
        offset[n] = sum;
    }
}

__kernel void scatter_entries(ulong entries, __global const uint *row, __global uint *cursor, __global uint *order)
{
    const size_t k = get_global_id(0);
    if (k < entries) {
        order[atomic_inc(cursor + row[k])] = (uint)k;
    }
}

inline void sift_down(__global uint *heap, uint root, uint size)
{
    // 64 bit: the child of an entry past 2^31 must not wrap around.
    ulong parent = root;
    for (ulong child = 2 * parent + 1; child < size; child = 2 * parent + 1) {
        if (child + 1 < size && heap[child + 1] > heap[child]) {
            ++child;
        }
        const uint a = heap[parent];
        const uint b = heap[child];
        heap[parent] = max(a, b);
        heap[child] = min(a, b);
        parent = child;
    }
}

// Sorts each row of at most `longest` entries in ascending order: insertion sort for short rows, heapsort for others. A single item would take
// seconds for a row of a million entries, so longer rows are skipped; any_long[0] = 1 if there are any.
__kernel void sort_rows(ulong rows, uint longest, __global const uint *offset, __global uint *order,
                        __global uint *any_long)
{
    const size_t i = get_global_id(0);
    if (i < rows && offset[i + 1] - offset[i] > longest) {
        atomic_or(any_long, 1u);
    }
    if (i < rows && offset[i + 1] - offset[i] <= longest) {
        __global uint *entry = order + offset[i];
        const uint size = offset[i + 1] - offset[i];
        if (size <= 32) {
            for (uint k = 1; k < size; ++k) {
                const uint own = entry[k];
                uint diagonal = k;
                for (; diagonal > 0 && entry[diagonal - 1] > own; --diagonal) {
                    entry[diagonal] = entry[diagonal - 1];
                }
                entry[diagonal] = own;
            }
        } else {
            for (uint root = size / 2; root > 0; --root) {
                sift_down(entry, root - 1, size);
            }
            for (uint last = size - 1; last > 0; --last) {
                const uint largest = entry[0];
                entry[0] = entry[last];
                entry[last] = largest;
                sift_down(entry, 0, last);
            }
        }
    }
}

// Maximum number of entries of a row that `rank_rows` sorts.
#define RANKED 512

// As sort_rows, with a work-group per row, for longer mean row lengths: the rank of an entry is the number of smaller ones. `longest` is at most
// RANKED.
__kernel void rank_rows(uint longest, __global const uint *offset, __global uint *order, __global uint *any_long)
{
    __local uint entry[RANKED];
    const size_t i = get_group_id(0);
    const uint start = offset[i];
    const uint all = offset[i + 1] - start;
    const uint lane = (uint)get_local_id(0);
    const uint items = (uint)get_local_size(0);
    const uint size = all <= longest ? all : 0;
    if (lane == 0 && all > longest) {
        atomic_or(any_long, 1u);
    }
    for (uint k = lane; k < size; k += items) {
        entry[k] = order[start + k];
    }
    // Entries of the row are overwritten below by other work-items than those that have read them.
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (uint k = lane; k < size; k += items) {
        uint rank = 0;
        for (uint l = 0; l < size; ++l) {
            rank += entry[l] < entry[k];
        }
        order[start + rank] = entry[k];
    }
}

inline void sort_pair(__global uint *entry, ulong size, ulong a, ulong b)
{
    if (a < b && b < size) {
        const uint first = entry[a];
        const uint second = entry[b];
        entry[a] = min(first, second);
        entry[b] = max(first, second);
    }
}

// Ascending order within the rows listed, a work-group per row: bitonic sort (Batcher, AFIPS 32 (1968) 307-314) whose
// merges begin with mirrored pairs, so that every exchange is ascending and the length may be any.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
sort_long_rows(__global const uint *list, __global const uint *offset, __global uint *order)
{
    const uint row = list[get_group_id(0)];
    __global uint *entry = order + offset[row];
    const ulong size = offset[row + 1] - offset[row];
    for (ulong width = 2; width < 2 * size; width *= 2) {
        for (ulong i = get_local_id(0); i < size; i += LOCAL) {
            sort_pair(entry, size, i, i ^ (width - 1));
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
        for (ulong stride = width / 4; stride > 0; stride /= 2) {
            for (ulong i = get_local_id(0); i < size; i += LOCAL) {
                sort_pair(entry, size, i, i ^ stride);
            }
            barrier(CLK_GLOBAL_MEM_FENCE);
        }
    }
}

__kernel void gather_entries(ulong entries, __global const uint *order, __global const uint *column_of,
                             __global const SCALAR *value, __global uint *column, __global SCALAR *gathered)
{
    const size_t k = get_global_id(0);
    if (k < entries) {
        column[k] = column_of[order[k]];
        gathered[k] = value[order[k]];
    }
}
#else
// On CPUs: a part of the columns per item, each with counts of its own. Entries are placed in the order of the
// columns, so the rows come out sorted without atomics.

// Entries of each row in the columns from split[p] to split[p + 1], for item p; the counts are 0 before. wrong as in
// narrow_rows; the counts are not complete then.
__kernel void count_parts(ulong rows, __global const uint *split, __global const uint *offset,
                          __global const INDEX *row, __global uint *count, __global uint *wrong)
{
    __global uint *own = count + get_global_id(0) * rows;
    const uint last = split[get_global_id(0) + 1];
    uint k = offset[split[get_global_id(0)]];
    for (uint j = split[get_global_id(0)]; j < last; ++j) {
        const uint end = offset[j + 1];
        INDEX least = 0;
        for (; k < end; ++k) {
            const INDEX i = row[k];
            if (i < least || i >= rows) {
                atomic_or(wrong, 1u);
                return;
            }
            ++own[i];
            least = i + 1;
        }
    }
}

// As sum_parts, over the counts of `copies` parts of the columns.
__kernel void sum_copies(ulong n, ulong copies, __global const uint *count, __global uint *part)
{
    const size_t start = part_start(n, get_global_id(0), get_global_size(0));
    const size_t end = part_start(n, get_global_id(0) + 1, get_global_size(0));
    uint sum = 0;
    for (size_t c = 0; c < copies; ++c) {
        for (size_t i = start; i < end; ++i) {
            sum += count[c * n + i];
        }
    }
    part[get_global_id(0)] = sum;
}

// As scan_rows; each count becomes the position of the first entry of its row and part of the columns.
__kernel void scan_copies(ulong n, ulong copies, __global const uint *part, __global uint *count,
                          __global uint *offset)
{
    const size_t end = part_start(n, get_global_id(0) + 1, get_global_size(0));
    uint sum = part[get_global_id(0)];
    for (size_t i = part_start(n, get_global_id(0), get_global_size(0)); i < end; ++i) {
        offset[i] = sum;
        for (size_t c = 0; c < copies; ++c) {
            const uint own = count[c * n + i];
            count[c * n + i] = sum;
            sum += own;
        }
    }
    if (end == n) {
        offset[n] = sum;
    }
}

// With ENTRIES_AHEAD, the target of the entry that many positions ahead is prefetched: rows of a random pattern lie far apart.
__kernel void place_entries(ulong rows, __global const uint *split, __global const uint *offset,
                            __global const INDEX *row, __global const SCALAR *value, __global uint *place,
                            __global uint *column, __global SCALAR *placed)
{
    __global uint *own = place + get_global_id(0) * rows;
    const uint last = split[get_global_id(0) + 1];
    uint k = offset[split[get_global_id(0)]];
#ifdef ENTRIES_AHEAD
    const uint entries = offset[last];
#endif
    for (uint j = split[get_global_id(0)]; j < last; ++j) {
        const uint end = offset[j + 1];
        for (; k < end; ++k) {
#ifdef ENTRIES_AHEAD
            if (k + ENTRIES_AHEAD < entries) {
                const uint soon = own[row[k + ENTRIES_AHEAD]];
                __builtin_prefetch((const __global void *)(column + soon), 1, 3);
                __builtin_prefetch((const __global void *)(placed + soon), 1, 3);
            }
#endif
            const uint at = own[row[k]]++;
            column[at] = j;
            placed[at] = value[k];
        }
    }
}

// Whether row i has the columns of the previous row, shifted by one.
inline bool continues_run(size_t i, __global const uint *offset, __global const uint *column)
{
    const uint size = offset[i + 1] - offset[i];
    const uint start = i == 0 ? 0 : offset[i - 1];
    bool same = i != 0 && offset[i] - start == size;
    for (uint k = 0; same && k < size; ++k) {
        same = column[start + k] + 1 == column[offset[i] + k];
    }
    return same;
}

// How many runs begin in each part of the rows.
__kernel void count_runs(ulong rows, __global const uint *offset, __global const uint *column, __global uint *count)
{
    const size_t end = part_start(rows, get_global_id(0) + 1, get_global_size(0));
    uint own = 0;
    for (size_t i = part_start(rows, get_global_id(0), get_global_size(0)); i < end; ++i) {
        own += !continues_run(i, offset, column);
    }
    count[get_global_id(0)] = own;
}

// The rows in which they begin, those of a part from start[place[part]] on.
__kernel void list_runs(ulong rows, __global const uint *offset, __global const uint *column,
                        __global const uint *place, __global uint *start)
{
    const size_t end = part_start(rows, get_global_id(0) + 1, get_global_size(0));
    uint next = place[get_global_id(0)];
    for (size_t i = part_start(rows, get_global_id(0), get_global_size(0)); i < end; ++i) {
        if (!continues_run(i, offset, column)) {
            start[next++] = (uint)i;
        }
    }
}
#endif

// Exclusive prefix sums: offset[i] = count[0] + ... + count[i - 1]. Sums of parts have 64 bits, so that an overflow is noticed.
//
// Traffic: 12 B per count. GPUs: a tile of TILE counts per work-group; CPUs: a part per item.
#ifdef CPU
// part[p] = the sum of part p of the counts.
__kernel void sum_counts(ulong n, __global const uint *count, __global ulong *part)
{
    ulong sum = 0;
    FOR_EACH(i, n)
    {
        sum += count[i];
    }
    part[get_global_id(0)] = sum;
}

// part[p] = the sum of the parts before, in place; part[parts] = that of all.
__kernel void scan_sums(ulong parts, __global ulong *part)
{
    ulong sum = 0;
    for (size_t p = 0; p < parts; ++p) {
        const ulong own = part[p];
        part[p] = sum;
        sum += own;
    }
    part[parts] = sum;
}

__kernel void scan_counts(ulong n, __global const ulong *part, __global const uint *count, __global uint *offset)
{
    ulong sum = part[get_global_id(0)];
    FOR_EACH(i, n)
    {
        offset[i] = (uint)sum;
        sum += count[i];
    }
    if (get_global_id(0) + 1 == get_global_size(0)) {
        offset[n] = (uint)sum;
    }
}
#else
// Consecutive counts of an item, and of a work-group.
#define EACH 8
#define TILE (EACH * LOCAL)

// shared[lane] = the sum of shared[0] ... shared[lane] (Hillis and Steele 1986).
#define SCAN_LANES(shared, lane)                                                                         \
    for (uint width = 1; width < LOCAL; width *= 2) {                                                    \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                    \
        const ulong before = lane >= width ? shared[lane - width] : 0;                                   \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                    \
        shared[lane] += before;                                                                          \
    }                                                                                                    \
    barrier(CLK_LOCAL_MEM_FENCE);

__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
sum_counts(ulong n, __global const uint *count, __global ulong *part)
{
    __local ulong shared[LOCAL];
    const uint lane = (uint)get_local_id(0);
    ulong sum = 0;
    for (uint k = 0; k < EACH; ++k) {
        const size_t i = get_group_id(0) * TILE + k * LOCAL + lane;
        sum += i < n ? count[i] : 0;
    }
    shared[lane] = sum;
    SCAN_LANES(shared, lane);
    if (lane == LOCAL - 1) {
        part[get_group_id(0)] = shared[lane];
    }
}

// One work-group.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void scan_sums(ulong parts, __global ulong *part)
{
    __local ulong shared[LOCAL];
    const uint lane = (uint)get_local_id(0);
    ulong all = 0;
    for (ulong first = 0; first < parts; first += LOCAL) {
        const ulong own = first + lane < parts ? part[first + lane] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        shared[lane] = own;
        SCAN_LANES(shared, lane);
        if (first + lane < parts) {
            part[first + lane] = all + shared[lane] - own;
        }
        all += shared[LOCAL - 1];
    }
    if (lane == 0) {
        part[parts] = all;
    }
}

__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
scan_counts(ulong n, __global const ulong *part, __global const uint *count, __global uint *offset)
{
    __local ulong shared[LOCAL];
    const uint lane = (uint)get_local_id(0);
    const size_t start = get_group_id(0) * TILE + lane * EACH;
    uint own[EACH];
    ulong sum = 0;
    for (uint k = 0; k < EACH; ++k) {
        own[k] = start + k < n ? count[start + k] : 0;
        sum += own[k];
    }
    shared[lane] = sum;
    SCAN_LANES(shared, lane);
    ulong at = part[get_group_id(0)] + shared[lane] - sum;
    for (uint k = 0; k < EACH; ++k) {
        if (start + k < n) {
            offset[start + k] = (uint)at;
            at += own[k];
            if (start + k + 1 == n) {
                offset[n] = (uint)at;
            }
        }
    }
}
#endif
