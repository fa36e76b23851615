// Vector operations. Each element is read and written by one work-item only, so the output may be
// one of the inputs.
//
// Traffic per element, f64: axpby, add and multiply 24 B; scale, copy 16 B; update 24 B.
// GPU: ITEMS times WIDTH elements per item. CPU: a chunk per item, eight elements at a time.
//@ build
//@ build WIDTH=2 ITEMS=4
//@ build WIDTH=4 ITEMS=2
//@ build CPU=1
//@ build CPU=1 STREAM=1
#include "common.clh"
#include "for_each.clh"
#include "memory.clh"
#include "wide.clh"

#ifdef CPU
// The item's chunk by eights, then what is left of it.
#define FOR_WIDE(i, n)                                                                                   \
    size_t i = part_start(n, get_global_id(0), get_global_size(0));                                      \
    const size_t end_ = part_start(n, get_global_id(0) + 1, get_global_size(0));                         \
    for (; i + 8 <= end_; i += 8)
#define FOR_REST(i, n) for (; i < end_; ++i)
#define LOAD_WIDE(p, i) vload8(0, (p) + (i))
#define STORE_WIDE(v, p, i) STORE8(v, (p) + (i))
#else
#ifndef ITEMS
#define ITEMS 1
#endif
// Whole groups of WIDTH elements: ITEMS of them per item, LOCAL apart, so that neighbours read neighbours.
#define FOR_WIDE(i, n)                                                                                   \
    for (size_t i = get_group_id(0) * (size_t)(get_local_size(0) * ITEMS) + get_local_id(0), k_ = 0;     \
         k_ < ITEMS && i < (n) / WIDTH; ++k_, i += get_local_size(0))
// The elements left, fewer than WIDTH.
#define FOR_REST(i, n)                                                                                   \
    for (size_t i = (n) - (n) % WIDTH + get_global_id(0); i < (n); i += get_global_size(0))
#define LOAD_WIDE(p, i) LOADW(p, i)
#define STORE_WIDE(v, p, i) STOREW(v, p, i)
#endif

// out = a x + b y; y = a x + b y with b = 0 is `scale`, which does not read y.
__kernel void axpby(ulong n, REAL a, __global const REAL *x, REAL b, __global const REAL *y, __global REAL *out)
{
    FOR_WIDE(i, n)
    {
        STORE_WIDE(a * LOAD_WIDE(x, i) + b * LOAD_WIDE(y, i), out, i);
    }
    FOR_REST(i, n)
    {
        out[i] = a * x[i] + b * y[i];
    }
}

// out = x y, element by element.
__kernel void multiply(ulong n, __global const REAL *x, __global const REAL *y, __global REAL *out)
{
    FOR_WIDE(i, n)
    {
        STORE_WIDE(LOAD_WIDE(x, i) * LOAD_WIDE(y, i), out, i);
    }
    FOR_REST(i, n)
    {
        out[i] = x[i] * y[i];
    }
}

// out = a x.
__kernel void scale(ulong n, REAL a, __global const REAL *x, __global REAL *out)
{
    FOR_WIDE(i, n)
    {
        STORE_WIDE(a * LOAD_WIDE(x, i), out, i);
    }
    FOR_REST(i, n)
    {
        out[i] = a * x[i];
    }
}

// 1 or -1 without a pattern in i: the final mix of MurmurHash3.
inline REAL sign_of(size_t i)
{
    uint h = (uint)i;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    return ((h ^ (h >> 16)) & 1u) != 0 ? ONE : -ONE;
}

// out = x with scattered signs.
__kernel void scatter_signs(ulong n, __global const REAL *x, __global REAL *out)
{
    FOR_EACH(i, n)
    {
        out[i] = sign_of(i) * x[i];
    }
}

// Fills memory with four words in turn: a value of one, two or four words.
__kernel void fill_words(ulong n, uint w0, uint w1, uint w2, uint w3, __global uint *out)
{
    const size_t i = get_global_id(0);
    if (i < n) {
        out[i] = i % 2 == 0 ? (i % 4 == 0 ? w0 : w2) : (i % 4 == 1 ? w1 : w3);
    }
}
