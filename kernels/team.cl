// Values by a list of positions, for what a rank of a team sends and for rows that lie apart. 20 B per value, f64, and a gathered or
// scattered access.
//
// GPUs: an item per value. CPUs: a part of the list per item.
//@ build
//@ build CPU=1
#include "common.clh"

#ifdef CPU
#define FOR_EACH(k, n)                                                                                   \
    const size_t end_ = part_start(n, get_global_id(0) + 1, get_global_size(0));                         \
    for (size_t k = part_start(n, get_global_id(0), get_global_size(0)); k < end_; ++k)
#else
#define FOR_EACH(k, n) for (size_t k = get_global_id(0); k < (n); k += get_global_size(0))
#endif

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
