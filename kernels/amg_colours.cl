// Colours of the rows of a matrix for Gauss-Seidel sweeps: the greedy colouring in the order of pseudo-random numbers, applied to many rows at
// once (Jones and Plassmann 1993). A is in compressed rows. Colours count from 1; 0 stands for none. An item takes whole rows.
//
// Traffic of a round: 8 B per row, and for rows without a colour 4 B per entry and the colours of their neighbours, from cache.
//@ build
//@ build CPU=1
#include "sparse.clh"
#include "amg.clh"

// The priority of a row; no two rows have the same.
#define PRIORITY(i) ((ulong)scramble(i) << 32 | (i))

// A row without a colour gets the lowest one that no neighbour has, once all neighbours of higher priority have theirs. left[round] = 1 if a
// row has none after that.
__kernel void colour_rows(ulong rows, uint round, __global const uint *offset, __global const uint *column,
                          __global const uint *colour, __global uint *next, __global uint *left)
{
    FOR_EACH(i, rows)
    {
        uint own = colour[i];
        bool waits = false;
        for (uint k = offset[i]; own == 0 && !waits && k < offset[i + 1]; ++k) {
            const uint j = column[k];
            waits = j != i && colour[j] == 0 && PRIORITY(j) > PRIORITY((uint)i);
        }
        // One word, a bit mask of colours, at a time.
        for (uint base = 1; own == 0 && !waits; base += 64) {
            ulong taken = 0;
            for (uint k = offset[i]; k < offset[i + 1]; ++k) {
                const uint other = colour[column[k]];
                taken |= other >= base && other - base < 64 ? 1UL << (other - base) : 0UL;
            }
            const ulong lowest = ~taken & (taken + 1);
            own = lowest == 0 ? 0 : base + (uint)popcount(lowest - 1);
        }
        next[i] = own;
        if (own == 0) {
            atomic_or(left + round, 1u);
        }
    }
}

// found[0] = 1 where an entry couples two rows of one colour, found[1] = the largest colour.
__kernel void check_colours(ulong rows, __global const uint *offset, __global const uint *column,
                            __global const uint *colour, __global uint *found)
{
    uint most = 0, clash = 0;
    FOR_EACH(i, rows)
    {
        most = max(most, colour[i]);
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            clash |= column[k] != i && colour[column[k]] == colour[i];
        }
    }
    if (clash) {
        atomic_or(found, 1u);
    }
    atomic_max(found + 1, most);
}

// flag[i] = 1 for the rows of this colour.
__kernel void flag_colour(ulong rows, uint which, __global const uint *colour, __global uint *flag)
{
    FOR_EACH(i, rows)
    {
        flag[i] = colour[i] == which;
    }
}

// The rows of this colour in their order, from position `first` on.
__kernel void list_colour(ulong rows, uint which, uint first, __global const uint *colour, __global const uint *number,
                          __global uint *row)
{
    FOR_EACH(i, rows)
    {
        if (colour[i] == which) {
            row[first + number[i]] = (uint)i;
        }
    }
}
