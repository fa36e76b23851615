// Inspection of a sparse matrix in compressed rows: facts about its rows, comparison with its conjugate transpose, columns without
// entries, dense blocks, connected components. Columns increase within a row.
//
// Traffic, f64: inspect_rows 12 B per entry and 4 B per row. inspect_mirrored 8 B per entry for its columns and those in which it looks
// up the mirror images, and 8 B per entry with an entry on the other side of the diagonal; a look-up reads the offsets of a row and log2 of its
// length columns, from a cache where the matrix is banded. mark_columns 12 B per entry. count_blocks 8 B per entry. join_components 12 B
// per entry and two atomic reads for each entry off the diagonal.
//
// Sums in single precision are compensated, so that rows of any length are summed to a few units of roundoff, as by the host in double
// precision; the tests against 64 units of roundoff need no more. What exceeds the largest number in single precision is infinite.
//@ build
//@ build CPU=1
//@ one_program
//@ build SCALAR_COMPLEX=1
//@ build CPU=1 SCALAR_COMPLEX=1
//@ rounded
#include "reduce.clh"
#include "sparse.clh"

#define NONE 0xffffffffu

// Counts that inspect_rows adds to found[]; found[FIRST_NOT_FINITE] is the minimum of the positions of such entries.
#define ZERO_DIAGONAL 0
#define NEGATIVE_DIAGONAL 1
#define POSITIVE_DIAGONAL 2
#define OFF_DIAGONAL 3
#define NONPOSITIVE 4
#define ZERO_ROWS 5
#define ZERO_SUM_ROWS 6
#define LONG_ROWS 7
#define ROW_COUNTS 8
#define FIRST_NOT_FINITE 8
// Those of inspect_mirrored: entries above and below the diagonal, those above with an entry at the mirrored position, pairs that differ and
// pairs that differ by more than rounding.
#define UPPER 9
#define LOWER 10
#define MATCHED 11
#define DIFFERENT 12
#define FAR 13
#define MIRROR_COUNTS 5
// Numbers that each work-group of inspect_rows leaves: extreme moduli of diagonal entries, the largest ratio, the largest sum.
#define PARTIALS 4

#if REAL_BITS == 32
// The units of roundoff that count as rounding, inverted: 64 units of a sum, and of a difference, for which a unit is half as much.
#define SUM_TOLERANCE (64 * FLT_EPSILON)
#define DIFFERENCES ((REAL)262144)
#define SMALLEST FLT_MIN
#define LARGEST FLT_MAX
// 2^100
#define SCALE ((REAL)0x1p100f)
// A sum and its rounding errors (Knuth's TwoSum).
#define SUM REAL2
inline SUM sum_both(SUM a, SUM b)
{
    const REAL sum = a.x + b.x;
    const REAL part = sum - a.x;
    return (SUM)(sum, (a.y + b.y) + ((a.x - (sum - part)) + (b.x - part)));
}
#define sum_with(sum, value) sum_both(sum, (SUM)(value, ZERO))
// The errors of a sum that is not finite are NaN.
#define sum_value(sum) (isfinite((sum).x) ? (sum).x + (sum).y : (sum).x)
#else
#define SUM_TOLERANCE (64 * DBL_EPSILON)
#define DIFFERENCES ((REAL)140737488355328.0)
#define SMALLEST DBL_MIN
#define LARGEST DBL_MAX
// 2^800
#define SCALE ((REAL)0x1p800)
#define SUM REAL
#define sum_both(a, b) ((a) + (b))
#define sum_with(sum, value) ((sum) + (value))
#define sum_value(sum) (sum)
#endif

#ifdef SCALAR_COMPLEX
#define is_finite(a) (isfinite((a).x) && isfinite((a).y))
#define is_equal(a, b) ((a).x == (b).x && (a).y == (b).y)
#define largest_part(a) fmax(fabs((a).x), fabs((a).y))
#else
#define is_finite(a) isfinite(a)
#define is_equal(a, b) ((a) == (b))
#define largest_part(a) fabs(a)
#endif

// The position of the first entry from `from` to `end` whose column is at least j; `end` if there is none.
inline uint lower_bound(uint from, uint end, ulong j, __global const uint *column)
{
    while (from < end) {
        const uint middle = from + (end - from) / 2;
        if (column[middle] < j) {
            from = middle + 1;
        } else {
            end = middle;
        }
    }
    return from;
}

// The position of entry (i, j); NONE where it is not stored.
inline uint find_entry(size_t i, uint j, __global const uint *offset, __global const uint *column)
{
    const uint end = offset[i + 1];
    const uint k = lower_bound(offset[i], end, j, column);
    return k < end && column[k] == j ? k : NONE;
}

// Facts about some rows.
typedef struct {
    uint count[ROW_COUNTS];
    uint first;
    REAL smallest, largest, dominance, norm;
} FACTS;

inline void start_facts(FACTS *facts)
{
#pragma unroll
    for (uint c = 0; c < ROW_COUNTS; ++c) {
        facts->count[c] = 0;
    }
    facts->first = NONE;
    facts->smallest = (REAL)INFINITY;
    facts->largest = facts->dominance = facts->norm = ZERO;
}

// Entry k, of a row i, with its value.
inline void add_entry(FACTS *facts, bool is_diagonal, uint k, SCALAR value)
{
    facts->count[OFF_DIAGONAL] += !is_diagonal;
    facts->count[NONPOSITIVE] += !is_diagonal && scalar_re(value) <= ZERO;
    facts->first = is_finite(value) ? facts->first : min(facts->first, k);
}

// A row with its diagonal entry, the sum of its entries and that of the moduli off the diagonal. Returns whether it adds up to 0.
inline bool add_row(FACTS *facts, SCALAR own, SCALAR sum, REAL off)
{
    const REAL size = scalar_abs(own);
    const bool is_zero = scalar_is_zero(own);
    facts->count[ZERO_DIAGONAL] += is_zero;
    facts->count[NEGATIVE_DIAGONAL] += scalar_re(own) < ZERO;
    facts->count[POSITIVE_DIAGONAL] += scalar_re(own) > ZERO;
    facts->count[ZERO_ROWS] += is_zero && off == ZERO;
    facts->norm = LARGER(facts->norm, size + off);
    if (!is_zero) {
        // As the host, these pass over NaN.
        facts->smallest = fmin(facts->smallest, size);
        facts->largest = fmax(facts->largest, size);
        facts->dominance = fmax(facts->dominance, off / size);
    }
    const bool is_null = scalar_abs(sum) <= SUM_TOLERANCE * (size + off);
    facts->count[ZERO_SUM_ROWS] += is_null;
    return is_null;
}

// The sum of a row from those of its parts.
#ifdef SCALAR_COMPLEX
#define WHOLE_SUM(re, im) ((SCALAR)(sum_value(re), sum_value(im)))
#else
#define WHOLE_SUM(re, im) sum_value(re)
#endif

#ifdef CPU
// The first row of part p of the rows, which are cut into parts with about equally many entries plus rows.
inline size_t first_row(size_t p, size_t parts, size_t rows, __global const uint *offset)
{
    const ulong all = (ulong)offset[rows] + rows;
    const ulong target = all / parts * p + min((ulong)p, all % parts);
    size_t row = 0, end = rows;
    while (row < end) {
        const size_t middle = row + (end - row) / 2;
        if (offset[middle] + middle < target) {
            row = middle + 1;
        } else {
            end = middle;
        }
    }
    return row;
}

// Facts about all rows. is_null[i] = whether row i adds up to 0 up to rounding, where it is to be written.
__kernel void inspect_rows(ulong rows, __global const uint *offset, __global const uint *column,
                           __global const SCALAR *value, uint writes, __global uint *is_null, __global uint *found,
                           __global REAL *partial)
{
    const size_t part = get_global_id(0), parts = get_global_size(0);
    FACTS facts;
    start_facts(&facts);
    const size_t end_of_rows = first_row(part + 1, parts, rows, offset);
    for (size_t i = first_row(part, parts, rows, offset); i < end_of_rows; ++i) {
        SCALAR own = SCALAR_ZERO;
        SUM re = (SUM)ZERO, im = (SUM)ZERO, off = (SUM)ZERO;
        const uint end = offset[i + 1];
        for (uint k = offset[i]; k < end; ++k) {
            const SCALAR here = value[k];
            const bool is_diagonal = column[k] == i;
            add_entry(&facts, is_diagonal, k, here);
            re = sum_with(re, scalar_re(here));
            im = sum_with(im, scalar_im(here));
            own = is_diagonal ? here : own;
            off = sum_with(off, is_diagonal ? ZERO : scalar_abs(here));
        }
        const bool adds_up_to_zero = add_row(&facts, own, WHOLE_SUM(re, im), sum_value(off));
        if (writes) {
            is_null[i] = adds_up_to_zero;
        }
    }
    for (uint c = 0; c < ROW_COUNTS; ++c) {
        atomic_add(found + c, facts.count[c]);
    }
    atomic_min(found + FIRST_NOT_FINITE, facts.first);
    partial[part] = facts.smallest;
    partial[parts + part] = facts.largest;
    partial[2 * parts + part] = facts.dominance;
    partial[3 * parts + part] = facts.norm;
}
#else
// The same, `lanes` items per row, a power of two. Rows of more than `longest` entries are only listed, in any order; in a second launch, `rows`
// are those on the list (is_listed), with a work-group each.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
inspect_rows(ulong rows, uint lanes, uint longest, uint is_listed, __global const uint *offset,
             __global const uint *column, __global const SCALAR *value, uint writes, __global uint *is_null,
             __global uint *list, __global uint *found, __global REAL *partial)
{
    __local SCALAR diagonal[LOCAL];
    __local SUM shared_off[LOCAL], shared_re[LOCAL];
#ifdef SCALAR_COMPLEX
    __local SUM shared_im[LOCAL];
#endif
    __local REAL extremes[PARTIALS * LOCAL];
    __local uint count[ROW_COUNTS], first_of_group;
    const uint item = (uint)get_local_id(0);
    const uint lane = item & (lanes - 1), slot = item / lanes;
    const size_t step = (size_t)get_num_groups(0) * (LOCAL / lanes);
    FACTS facts;
    start_facts(&facts);
    for (size_t first = get_group_id(0) * (LOCAL / lanes); first < rows; first += step) {
        const size_t r = first + slot;
        const size_t i = r >= rows ? 0 : (is_listed ? list[r] : r);
        const uint start = r < rows ? offset[i] : 0;
        uint end = r < rows ? offset[i + 1] : 0;
        const bool is_long = end - start > longest;
        end = is_long ? start : end;
        if (lane == 0) {
            diagonal[slot] = SCALAR_ZERO;
            if (is_long) {
                list[atomic_inc(found + LONG_ROWS)] = (uint)i;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        SUM re = (SUM)ZERO, im = (SUM)ZERO, off = (SUM)ZERO;
        // 64 bit: the position after the last entry must not wrap around.
        for (ulong k = (ulong)start + lane; k < end; k += lanes) {
            const SCALAR here = value[k];
            const bool is_diagonal = column[k] == i;
            add_entry(&facts, is_diagonal, (uint)k, here);
            re = sum_with(re, scalar_re(here));
            im = sum_with(im, scalar_im(here));
            off = sum_with(off, is_diagonal ? ZERO : scalar_abs(here));
            if (is_diagonal) {
                diagonal[slot] = here;
            }
        }
        shared_off[item] = off;
        shared_re[item] = re;
#ifdef SCALAR_COMPLEX
        shared_im[item] = im;
#endif
        for (uint width = lanes / 2; width > 0; width /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            if (lane < width) {
                shared_off[item] = sum_both(shared_off[item], shared_off[item + width]);
                shared_re[item] = sum_both(shared_re[item], shared_re[item + width]);
#ifdef SCALAR_COMPLEX
                shared_im[item] = sum_both(shared_im[item], shared_im[item + width]);
#endif
            }
        }
        // The diagonal entry may come from another lane.
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane == 0 && r < rows && !is_long) {
            const SCALAR sum = WHOLE_SUM(shared_re[item], shared_im[item]);
            const bool adds_up_to_zero = add_row(&facts, diagonal[slot], sum, sum_value(shared_off[item]));
            if (writes) {
                is_null[i] = adds_up_to_zero;
            }
        }
    }
    if (item == 0) {
        first_of_group = NONE;
        for (uint c = 0; c < ROW_COUNTS; ++c) {
            count[c] = 0;
        }
    }
    extremes[item] = facts.smallest;
    extremes[LOCAL + item] = facts.largest;
    extremes[2 * LOCAL + item] = facts.dominance;
    extremes[3 * LOCAL + item] = facts.norm;
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (uint c = 0; c < ROW_COUNTS; ++c) {
        atomic_add(count + c, facts.count[c]);
    }
    atomic_min(&first_of_group, facts.first);
    for (uint half_size = LOCAL / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_size) {
            const uint other = item + half_size;
            extremes[item] = fmin(extremes[item], extremes[other]);
            extremes[LOCAL + item] = fmax(extremes[LOCAL + item], extremes[LOCAL + other]);
            extremes[2 * LOCAL + item] = fmax(extremes[2 * LOCAL + item], extremes[2 * LOCAL + other]);
            extremes[3 * LOCAL + item] = LARGER(extremes[3 * LOCAL + item], extremes[3 * LOCAL + other]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        for (uint c = 0; c < ROW_COUNTS; ++c) {
            atomic_add(found + c, count[c]);
        }
        for (uint c = 0; c < PARTIALS; ++c) {
            partial[c * get_num_groups(0) + get_group_id(0)] = extremes[c * LOCAL];
        }
        atomic_min(found + FIRST_NOT_FINITE, first_of_group);
    }
}
#endif

// The last row that begins at entry k or before; `row` is one that does. The distance to it doubles until it is passed.
inline size_t row_of_entry(size_t k, size_t row, size_t rows, __global const uint *offset)
{
    size_t step = 1;
    while (row + step < rows && offset[row + step] <= k) {
        row += step;
        step *= 2;
    }
    size_t end = min(row + step, rows);
    while (end - row > 1) {
        const size_t middle = row + (end - row) / 2;
        if (offset[middle] <= k) {
            row = middle;
        } else {
            end = middle;
        }
    }
    return row;
}

// Entries with their rows, whatever their lengths: a part of them for each work-group, which on CPUs is an item.
#define FOR_EACH_ENTRY(k, i, nnz, rows, offset)                                                                        \
    const size_t end_of_part = part_start(nnz, get_group_id(0) + 1, get_num_groups(0));                                \
    for (size_t i = 0, k = part_start(nnz, get_group_id(0), get_num_groups(0)) + get_local_id(0);                      \
         k < end_of_part && ((i = row_of_entry(k, i, rows, offset)), true); k += get_local_size(0))

// Adds what the items of a work-group have counted to count[].
#ifdef CPU
#define ADD_COUNTS(own, counts, count)                                                                                 \
    for (uint c = 0; c < (counts); ++c) {                                                                              \
        atomic_add((count) + c, own[c]);                                                                               \
    }
#else
#define ADD_COUNTS(own, counts, count)                                                                                 \
    __local uint count_of_group[counts];                                                                               \
    if (get_local_id(0) == 0) {                                                                                        \
        for (uint c = 0; c < (counts); ++c) {                                                                          \
            count_of_group[c] = 0;                                                                                     \
        }                                                                                                              \
    }                                                                                                                  \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                                      \
    for (uint c = 0; c < (counts); ++c) {                                                                              \
        atomic_add(count_of_group + c, own[c]);                                                                        \
    }                                                                                                                  \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                                      \
    if (get_local_id(0) == 0) {                                                                                        \
        for (uint c = 0; c < (counts); ++c) {                                                                          \
            atomic_add((count) + c, count_of_group[c]);                                                                \
        }                                                                                                              \
    }
#endif

// sqrt(a b) where the product may leave the range of numbers; SCALE is a power of 2.
inline REAL geometric_mean(REAL a, REAL b)
{
    const REAL square = a * b;
    if (square > LARGEST) {
        return sqrt((a / SCALE) * (b / SCALE)) * SCALE;
    }
    return square < SMALLEST ? sqrt((a * SCALE) * (b * SCALE)) / SCALE : sqrt(square);
}

// Whether entry (i, j), a, equals b up to 64 units of roundoff, relative to the larger of the two and to sqrt(|a_ii a_jj|). The moduli are
// scaled, exactly, so that none overflows.
inline bool is_near(size_t i, size_t j, SCALAR a, SCALAR b, __global const uint *offset, __global const uint *column,
                    __global const SCALAR *value)
{
    const uint p = find_entry(i, (uint)i, offset, column), q = find_entry(j, (uint)j, offset, column);
    const SCALAR c = p == NONE ? SCALAR_ZERO : value[p];
    const SCALAR d = q == NONE ? SCALAR_ZERO : value[q];
    const REAL most = fmax(fmax(largest_part(a), largest_part(b)), fmax(largest_part(c), largest_part(d)));
    const REAL scale = most > ONE ? (REAL)0.25 : ONE;
    const REAL larger_entry = fmax(scalar_abs(scale * a), scalar_abs(scale * b));
    const REAL mean = geometric_mean(scalar_abs(scale * c), scalar_abs(scale * d));
    // Infinite entries are near to none.
    return larger_entry <= LARGEST && DIFFERENCES * scalar_abs(scale * a - scale * b) <= fmax(larger_entry, mean);
}

// Compares the entries of a square matrix with their mirror images: those above the diagonal and on it, or with is_lower those below that have
// none; the others have been compared from above. If as many entries above the diagonal are matched as there are below it, all
// are matched. An item that has found the matrix to be neither equal nor close looks nothing up.
__kernel void inspect_mirrored(ulong rows, ulong nnz, uint is_lower, __global const uint *offset,
                               __global const uint *column, __global const SCALAR *value, __global uint *found)
{
    uint own[MIRROR_COUNTS] = {0, 0, 0, 0, 0};
    FOR_EACH_ENTRY(k, i, nnz, rows, offset)
    {
        const uint j = column[k];
        if (!is_lower) {
            own[UPPER - UPPER] += j > i;
            own[LOWER - UPPER] += j < i;
        }
        const bool is_open = own[DIFFERENT - UPPER] == 0 || own[FAR - UPPER] == 0;
        if (is_open && (is_lower ? j < i : j >= i)) {
            const uint mirror = j == i ? (uint)k : find_entry(j, (uint)i, offset, column);
            const SCALAR a = value[k];
            if (mirror == NONE) {
                own[DIFFERENT - UPPER] += 1;
                own[FAR - UPPER] += !is_near(i, j, a, SCALAR_ZERO, offset, column, value);
            } else if (!is_lower) {
                const SCALAR b = scalar_conj(value[mirror]);
                const bool is_same = is_equal(a, b);
                own[MATCHED - UPPER] += j > i;
                own[DIFFERENT - UPPER] += !is_same;
                // The difference of equal entries that are infinite is NaN.
                own[FAR - UPPER] += !(is_same && is_finite(a)) && !is_near(i, j, a, b, offset, column, value);
            }
        }
    }
    ADD_COUNTS(own, MIRROR_COUNTS, found + UPPER);
}

// marked[j] = 1 for the columns that have an entry that is not zero. All items write the same.
__kernel void mark_columns(ulong nnz, __global const uint *column, __global const SCALAR *value,
                           __global uint *marked)
{
    FOR_EACH(k, nnz)
    {
        if (!scalar_is_zero(value[k])) {
            marked[column[k]] = 1;
        }
    }
}

__kernel void count_unmarked(ulong cols, __global const uint *marked, __global uint *found)
{
    uint own[1] = {0};
    FOR_EACH(j, cols)
    {
        own[0] += marked[j] == 0;
    }
    ADD_COUNTS(own, 1, found);
}

// For `groups` groups of `size` rows, of which the first begins with row `first` and each other `distance` rows after the one before: adds their entries
// to found[at], and the blocks of `size` columns in which these lie to found[at + 1]; blocks begin with column `first` too. `lanes` items per
// group, a power of two. An entry counts as a block if it is the first of its row there and no row of the group before has one there.
__kernel void count_blocks(ulong groups, uint lanes, uint size, uint first, ulong distance, uint at,
                           __global const uint *offset, __global const uint *column, __global uint *found)
{
    uint own[2] = {0, 0};
    const size_t step = get_global_size(0) / lanes;
    for (size_t g = get_global_id(0) / lanes; g < groups; g += step) {
        const size_t row = first + g * distance;
        const uint end = offset[row + size];
        size_t i = row;
        uint next = offset[row + 1];
        // 64 bit: the position after the last entry must not wrap around.
        for (ulong k = (ulong)offset[row] + (get_global_id(0) & (lanes - 1)); k < end; k += lanes) {
            while (next <= k) {
                ++i;
                next = offset[i + 1];
            }
            // The columns of the block; before the first whole block there may be a part of one.
            const uint j = column[k];
            const ulong from = j < first ? 0 : first + (ulong)((j - first) / size) * size;
            const ulong to = j < first ? first : from + size;
            bool is_first = k == offset[i] || column[k - 1] < from;
            for (size_t r = row; r < i && is_first; ++r) {
                const uint last = offset[r + 1];
                const uint l = lower_bound(offset[r], last, from, column);
                is_first = l == last || column[l] >= to;
            }
            own[0] += 1;
            own[1] += is_first;
        }
    }
    ADD_COUNTS(own, 2, found + at);
}

// Connected components by union-find (ECL-CC: Jaiganesh and Burtscher, HPDC 2018; the sampling of neighbours: Sutton, Ben-Nun and Barak,
// IPDPS 2018). parent[i] <= i, so that a component is represented by its first row, whatever the order of the work-items. While trees are
// joined, parent[] is accessed by atomic operations only.

// parent[i] = the first neighbour before row i, if there is one among the first entries.
__kernel void start_components(ulong rows, __global const uint *offset, __global const uint *column,
                               __global const SCALAR *value, __global uint *parent)
{
    FOR_EACH(i, rows)
    {
        const uint start = offset[i];
        const uint end = start + min(offset[i + 1] - start, 8u);
        uint least = (uint)i;
        for (uint k = start; k < end && least == i; ++k) {
            least = scalar_is_zero(value[k]) ? least : min(least, column[k]);
        }
        parent[i] = least;
    }
}

// The parents of the parents; changed = 1 where one is another one.
__kernel void shorten_paths(ulong rows, __global const uint *parent, __global uint *shortened, __global uint *changed)
{
    bool any = false;
    FOR_EACH(i, rows)
    {
        const uint next = parent[i];
        const uint last = parent[next];
        shortened[i] = last;
        any |= last != next;
    }
    if (any) {
        atomic_or(changed, 1u);
    }
}

// The root of the tree of x; halves the path to it.
inline uint find_root(uint x, __global uint *parent)
{
    uint next = atomic_or(parent + x, 0u);
    uint last = atomic_or(parent + next, 0u);
    while (next != last) {
        atomic_cmpxchg(parent + x, next, last);
        x = last;
        next = atomic_or(parent + x, 0u);
        last = atomic_or(parent + next, 0u);
    }
    return last;
}

// Makes one tree of those of x and y: the larger root gets the smaller one as its parent. If it is no root any more, the search continues.
inline void join_trees(uint x, uint y, __global uint *parent)
{
    uint a = find_root(x, parent), b = find_root(y, parent);
    while (a != b) {
        const uint high = max(a, b), low = min(a, b);
        const uint other = atomic_cmpxchg(parent + high, high, low);
        a = other == high ? low : find_root(other, parent);
        b = other == high ? low : find_root(low, parent);
    }
}

// Joins each row with its last neighbour before it, which joins most rows of most matrices.
__kernel void join_neighbours(ulong rows, __global const uint *offset, __global const uint *column,
                              __global const SCALAR *value, __global uint *parent)
{
    FOR_EACH(i, rows)
    {
        const uint start = offset[i];
        const uint k = lower_bound(start, offset[i + 1], i, column);
        if (k > start && !scalar_is_zero(value[k - 1])) {
            join_trees((uint)i, column[k - 1], parent);
        }
    }
}

// Joins the rows i and j of all entries that are not zero, except those that label[] shows in one tree; label[] and parent[] are the same before.
__kernel void join_components(ulong rows, ulong nnz, __global const uint *offset, __global const uint *column,
                              __global const SCALAR *value, __global const uint *label, __global uint *parent)
{
    FOR_EACH_ENTRY(k, i, nnz, rows, offset)
    {
        const uint a = label[i], b = label[column[k]];
        if (a != b && !scalar_is_zero(value[k])) {
            join_trees(a, b, parent);
        }
    }
}

// excluded[c] = 1 for the components c that have a row that does not add up to 0. All items write the same.
__kernel void exclude_components(ulong rows, __global const uint *label, __global const uint *is_null,
                                 __global uint *excluded)
{
    FOR_EACH(i, rows)
    {
        if (is_null[i] == 0) {
            excluded[label[i]] = 1;
        }
    }
}

// member[i] = the component of row i, NONE if it is excluded; adds to found[0] the components left, to found[1] their rows.
__kernel void list_members(ulong rows, __global const uint *label, __global const uint *excluded,
                           __global uint *member, __global uint *found)
{
    uint own[2] = {0, 0};
    FOR_EACH(i, rows)
    {
        const uint root = label[i];
        const bool is_left = excluded[root] == 0;
        member[i] = is_left ? root : NONE;
        own[0] += is_left && root == i;
        own[1] += is_left;
    }
    ADD_COUNTS(own, 2, found);
}
