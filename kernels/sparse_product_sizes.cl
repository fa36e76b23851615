// Products of sparse matrices on GPUs: bounds and estimates of the sizes of the rows, and the rows listed by size.
//@ one_program
#include "sparse.clh"
#include "sparse_product.clh"
#include "sparse_product_table.clh"

#define SAMPLE_UNIT 256

// Longer rows of A are traversed by a work-group.
#define SHORT_ROW 256

// bound[i] = number of products for row i of C, at most `cols`, an upper bound of its entries. `row` has an element for
// each item and one more for the number of longer rows, `part` one for each item.
__kernel void bound_product(ulong rows, uint cols, __global const uint *a_offset, __global const uint *a_column,
                            __global const uint *b_offset, __local uint *row, __local uint *part, __global uint *bound)
{
    const uint item = (uint)get_local_id(0);
    const uint items = (uint)get_local_size(0);
    const size_t i = get_global_id(0);
    const uint start = i < rows ? a_offset[i] : 0, length = i < rows ? a_offset[i + 1] - start : 0;
    if (item == 0) {
        row[items] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint products = 0;
    if (length > SHORT_ROW) {
        row[atomic_inc(row + items)] = (uint)i;
    } else {
        for (uint k = start; k < start + length; ++k) {
            products = add_sat(products, b_offset[a_column[k] + 1] - b_offset[a_column[k]]);
        }
    }
    if (i < rows && length <= SHORT_ROW) {
        bound[i] = min(products, cols);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint count = shared_value(row + items);
    for (uint r = 0; r < count; ++r) {
        const uint end = a_offset[row[r] + 1];
        products = 0;
        for (ulong k = (ulong)a_offset[row[r]] + item; k < end; k += items) {
            products = add_sat(products, b_offset[a_column[k] + 1] - b_offset[a_column[k]]);
        }
        products = group_sum(products, part);
        if (item == 0) {
            bound[row[r]] = min(products, cols);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

// For evenly spaced rows, one per work-group: ratio[g] = entries of the row of C per SAMPLE_UNIT of its products,
// rounded up; 0 if it has no products or more than `most`. `size` > `most` is a power of two.
__kernel void sample_product(ulong rows, uint size, uint most, __global const uint *a_offset,
                             __global const uint *a_column, __global const uint *b_offset,
                             __global const uint *b_column, __global const uint *bound, __local uint *key,
                             __global uint *ratio)
{
    __local uint found;
    const uint item = (uint)get_local_id(0), items = (uint)get_local_size(0);
    const size_t i = get_group_id(0) * rows / get_num_groups(0);
    const uint products = bound[i];
    // Nothing is counted for a row that is too long.
    const uint start = a_offset[i], end = products <= most ? a_offset[i + 1] : start;
    if (item == 0) {
        found = 0;
    }
    for (uint k = item; k < size; k += items) {
        key[k] = NONE;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint fresh = 0;
    for (uint k = start; k < end; ++k) {
        const uint last = b_offset[a_column[k] + 1];
        for (ulong l = (ulong)b_offset[a_column[k]] + item; l < last; l += items) {
            bool is_new;
            place_column(key, size, size, b_column[l], &is_new);
            fresh += is_new;
        }
    }
    if (fresh) {
        atomic_add(&found, fresh);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        const bool is_counted = end > start && products > 0;
        ratio[get_group_id(0)] = is_counted ? (found * SAMPLE_UNIT + products - 1) / products : 0;
    }
}

// guess[i] = a likely bound of the entries of row i of C: `ratio` per SAMPLE_UNIT of bound[i], but not below `least`
// unless bound[i] is.
__kernel void guess_product(ulong rows, uint ratio, uint least, __global const uint *bound, __global uint *guess)
{
    FOR_EACH(i, rows)
    {
        const uint likely = (uint)(((ulong)bound[i] * ratio + SAMPLE_UNIT - 1) / SAMPLE_UNIT);
        guess[i] = min(bound[i], max(likely, least));
    }
}

// bound[i] is kept for rows whose table was full and set to 0 for others; any[0] = 1 if there are such rows.
__kernel void keep_full(ulong rows, __global const uint *count, __global uint *bound, __global uint *any)
{
    FOR_EACH(i, rows)
    {
        if (count[i] == FULL) {
            atomic_or(any, 1u);
        } else {
            bound[i] = 0;
        }
    }
}

// Bit k of classes[0] is set if some row is in class k, that is, high[k - 1] < bound[i] <= high[k]; bit 31 is set if
// some bound[i] is 0. The last class has no upper bound.
__kernel void mark_classes(ulong rows, uint last, __global const uint *high, __global const uint *bound,
                           __global uint *classes)
{
    __local uint found;
    if (get_local_id(0) == 0) {
        found = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const size_t i = get_global_id(0);
    if (i < rows) {
        uint k = 0;
        while (k < last && bound[i] > high[k]) {
            ++k;
        }
        atomic_or(&found, 1u << (bound[i] == 0 ? 31 : k));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0 && found) {
        atomic_or(classes, found);
    }
}

// list[i] = i.
__kernel void list_rows(ulong rows, __global uint *list)
{
    FOR_EACH(i, rows)
    {
        list[i] = (uint)i;
    }
}

// flag[i] = 1 where low < bound[i] <= high, else 0.
__kernel void flag_sizes(ulong rows, uint low, uint high, __global const uint *bound, __global uint *flag)
{
    FOR_EACH(i, rows)
    {
        flag[i] = low < bound[i] && bound[i] <= high;
    }
}

// The rows that are flagged, in ascending order.
__kernel void list_flagged(ulong rows, __global const uint *flag, __global const uint *offset, __global uint *list)
{
    FOR_EACH(i, rows)
    {
        if (flag[i]) {
            list[offset[i]] = (uint)i;
        }
    }
}
