// Values by a list of positions, for what a rank of a team sends and for rows that lie apart. 20 B per value, f64, and a gathered or
// scattered access.
//
// GPUs: an item per value. CPUs: a part of the list per item.
//@ build
//@ build CPU=1
#include "common.clh"
#include "for_each.clh"

// out[k] = x[list[k]].
__kernel void pick_values(ulong n, __global const uint *list, __global const REAL *x, __global REAL *out)
{
    FOR_EACH(k, n)
    {
        out[k] = x[list[k]];
    }
}

// y[list[k]] = x[k]; no position occurs twice.
__kernel void place_values(ulong n, __global const uint *list, __global const REAL *x, __global REAL *y)
{
    FOR_EACH(k, n)
    {
        y[list[k]] = x[k];
    }
}
