// Sums, parts and scalings of matrices in compressed rows. An item takes whole rows; columns stay sorted.
//
// Traffic, f64: 12 B per entry read and 12 B per entry written, 4 B per entry read once more to count.
//@ build
//@ build CPU=1
//@ build SCALAR_COMPLEX=1
//@ build CPU=1 SCALAR_COMPLEX=1
#include "sparse.clh"

#define NONE 0xffffffffu

// count[i] = columns of row i in A or B.
__kernel void count_sum(ulong rows, __global const uint *a_offset, __global const uint *a_column,
                        __global const uint *b_offset, __global const uint *b_column, __global uint *count)
{
    FOR_EACH(i, rows)
    {
        uint k = a_offset[i], l = b_offset[i], found = 0;
        const uint a_end = a_offset[i + 1], b_end = b_offset[i + 1];
        while (k < a_end || l < b_end) {
            const uint a = k < a_end ? a_column[k] : NONE;
            const uint b = l < b_end ? b_column[l] : NONE;
            k += a <= b;
            l += b <= a;
            ++found;
        }
        count[i] = found;
    }
}

// alpha A + beta B.
__kernel void fill_sum(ulong rows, SCALAR alpha, __global const uint *a_offset, __global const uint *a_column,
                       __global const SCALAR *a_value, SCALAR beta, __global const uint *b_offset,
                       __global const uint *b_column, __global const SCALAR *b_value, __global const uint *offset,
                       __global uint *column, __global SCALAR *value)
{
    FOR_EACH(i, rows)
    {
        uint k = a_offset[i], l = b_offset[i], at = offset[i];
        const uint a_end = a_offset[i + 1], b_end = b_offset[i + 1];
        while (k < a_end || l < b_end) {
            const uint a = k < a_end ? a_column[k] : NONE;
            const uint b = l < b_end ? b_column[l] : NONE;
            SCALAR sum = SCALAR_ZERO;
            if (a <= b) {
                sum = scalar_mul(alpha, a_value[k]);
                ++k;
            }
            if (b <= a) {
                sum += scalar_mul(beta, b_value[l]);
                ++l;
            }
            column[at] = min(a, b);
            value[at] = sum;
            ++at;
        }
    }
}

// Row r of the part is row source[r] of A, or r where is_listed = 0; its column c is the column of A that target[] maps to it, or c itself; the map
// is increasing; entries with target NONE and those outside of low <= c - r <= high are left out.
#define KEEPS(c, r) ((c) != NONE && (long)(c) - (long)(r) >= low && (long)(c) - (long)(r) <= high)

__kernel void count_part(ulong rows, ulong lowest, ulong highest, uint is_listed, __global const uint *source,
                         uint is_mapped, __global const uint *target, __global const uint *offset,
                         __global const uint *column, __global uint *count)
{
    const long low = (long)lowest, high = (long)highest;
    FOR_EACH(r, rows)
    {
        const uint i = is_listed ? source[r] : (uint)r;
        uint found = 0;
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            const uint c = is_mapped ? target[column[k]] : column[k];
            found += KEEPS(c, r);
        }
        count[r] = found;
    }
}

__kernel void fill_part(ulong rows, ulong lowest, ulong highest, uint is_listed, __global const uint *source,
                        uint is_mapped, __global const uint *target, __global const uint *offset,
                        __global const uint *column, __global const SCALAR *value, __global const uint *part_offset,
                        __global uint *part_column, __global SCALAR *part_value)
{
    const long low = (long)lowest, high = (long)highest;
    FOR_EACH(r, rows)
    {
        const uint i = is_listed ? source[r] : (uint)r;
        uint next = part_offset[r];
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            const uint c = is_mapped ? target[column[k]] : column[k];
            if (KEEPS(c, r)) {
                part_column[next] = c;
                part_value[next] = value[k];
                ++next;
            }
        }
    }
}

// count[i] = entries of row i that are not zero.
__kernel void count_nonzeros(ulong rows, __global const uint *offset, __global const SCALAR *value,
                             __global uint *count)
{
    FOR_EACH(i, rows)
    {
        uint found = 0;
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            found += !scalar_is_zero(value[k]);
        }
        count[i] = found;
    }
}

// The entries of A that are not zero.
__kernel void fill_nonzeros(ulong rows, __global const uint *offset, __global const uint *column,
                            __global const SCALAR *value, __global const uint *part_offset,
                            __global uint *part_column, __global SCALAR *part_value)
{
    FOR_EACH(i, rows)
    {
        uint next = part_offset[i];
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            if (!scalar_is_zero(value[k])) {
                part_column[next] = column[k];
                part_value[next] = value[k];
                ++next;
            }
        }
    }
}

// value = left[i] value right[j]; a factor that is not given is 1.
__kernel void scale_entries(ulong rows, uint has_left, __global const SCALAR *left, uint has_right,
                            __global const SCALAR *right, __global const uint *offset, __global const uint *column,
                            __global SCALAR *value)
{
    FOR_EACH(i, rows)
    {
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            const SCALAR scaled = has_left ? scalar_mul(left[i], value[k]) : value[k];
            value[k] = has_right ? scalar_mul(scaled, right[column[k]]) : scaled;
        }
    }
}
