// Vector operations. Each element is read and written by one work-item only, so the output may be
// one of the inputs.
//
// Traffic per element, f64: axpby, add and multiply 24 B; scale, copy 16 B; update 24 B.
// *_gpu: ITEMS times WIDTH elements per item. *_cpu: a chunk per item, eight elements at a time.

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

// out = a x + b y; y = a x + b y with b = 0 is `scale`, which does not read y.
__kernel void axpby_gpu(ulong n, REAL a, __global const REAL *x, REAL b, __global const REAL *y, __global REAL *out)
{
    FOR_WIDE(i, n)
    {
        STOREW(a * LOADW(x, i) + b * LOADW(y, i), out, i);
    }
    FOR_REST(i, n)
    {
        out[i] = a * x[i] + b * y[i];
    }
}

// out = x y, element by element.
__kernel void multiply_gpu(ulong n, __global const REAL *x, __global const REAL *y, __global REAL *out)
{
    FOR_WIDE(i, n)
    {
        STOREW(LOADW(x, i) * LOADW(y, i), out, i);
    }
    FOR_REST(i, n)
    {
        out[i] = x[i] * y[i];
    }
}

// out = a x.
__kernel void scale_gpu(ulong n, REAL a, __global const REAL *x, __global REAL *out)
{
    FOR_WIDE(i, n)
    {
        STOREW(a * LOADW(x, i), out, i);
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
__kernel void scatter_signs_gpu(ulong n, __global const REAL *x, __global REAL *out)
{
    for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) {
        out[i] = sign_of(i) * x[i];
    }
}

__kernel void scatter_signs_cpu(ulong n, __global const REAL *x, __global REAL *out)
{
    const size_t end = part_start(n, get_global_id(0) + 1, get_global_size(0));
    for (size_t i = part_start(n, get_global_id(0), get_global_size(0)); i < end; ++i) {
        out[i] = sign_of(i) * x[i];
    }
}

__kernel void axpby_cpu(ulong n, REAL a, __global const REAL *x, REAL b, __global const REAL *y, __global REAL *out)
{
    const size_t begin = part_start(n, get_global_id(0), get_global_size(0));
    const size_t end = part_start(n, get_global_id(0) + 1, get_global_size(0));
    size_t i = begin;
    for (; i + 8 <= end; i += 8) {
        STORE8(a * vload8(0, x + i) + b * vload8(0, y + i), out + i);
    }
    for (; i < end; ++i) {
        out[i] = a * x[i] + b * y[i];
    }
}

__kernel void multiply_cpu(ulong n, __global const REAL *x, __global const REAL *y, __global REAL *out)
{
    const size_t begin = part_start(n, get_global_id(0), get_global_size(0));
    const size_t end = part_start(n, get_global_id(0) + 1, get_global_size(0));
    size_t i = begin;
    for (; i + 8 <= end; i += 8) {
        STORE8(vload8(0, x + i) * vload8(0, y + i), out + i);
    }
    for (; i < end; ++i) {
        out[i] = x[i] * y[i];
    }
}

__kernel void scale_cpu(ulong n, REAL a, __global const REAL *x, __global REAL *out)
{
    const size_t begin = part_start(n, get_global_id(0), get_global_size(0));
    const size_t end = part_start(n, get_global_id(0) + 1, get_global_size(0));
    size_t i = begin;
    for (; i + 8 <= end; i += 8) {
        STORE8(a * vload8(0, x + i), out + i);
    }
    for (; i < end; ++i) {
        out[i] = a * x[i];
    }
}

// Fills memory with a value of one word, or of two that take turns.
__kernel void fill_words(ulong n, uint even, uint odd, __global uint *out)
{
    const size_t i = get_global_id(0);
    if (i < n) {
        out[i] = i % 2 == 0 ? even : odd;
    }
}
