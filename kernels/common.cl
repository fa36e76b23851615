// Stands before every kernel file. The build defines
//   REAL       float or double
//   REAL_BITS  32 or 64
//   STREAM     only for long outputs on processors: store past the caches
//   AHEAD      only for processors whose compiler takes the hint: how many elements ahead to fetch memory
//   WIDTH      1, 2 or 4: neighbouring elements that an item of a GPU reads at once; 1 where it is missing
//   LOCAL      items of a work-group in kernels that share local memory; a power of two
// Files are compiled once per precision; OpenCL C 1.2 is the floor.

#if REAL_BITS == 64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define REAL2 double2
#define REAL8 double8
#define INT8 long8
#else
#define REAL2 float2
#define REAL8 float8
#define INT8 int8
#endif

// WIDTH elements as one, and the i-th such of a buffer, whose start is aligned to them.
#ifndef WIDTH
#define WIDTH 1
#endif
#if WIDTH == 1
#define REALW REAL
#elif WIDTH == 2 && REAL_BITS == 64
#define REALW double2
#elif WIDTH == 2
#define REALW float2
#elif REAL_BITS == 64
#define REALW double4
#else
#define REALW float4
#endif
#define LOADW(p, i) (((__global const REALW *)(p))[i])
#define STOREW(v, p, i) (((__global REALW *)(p))[i] = (v))

#define ZERO ((REAL)0)
#define ONE ((REAL)1)

// Starts to fetch what a stream will read AHEAD elements later; processors come late with that when a loop reads
// many streams. Nothing is read, so the place may lie past the end.
#ifdef AHEAD
#define FETCH_AHEAD(p) __builtin_prefetch((const __global void *)((p) + AHEAD), 0, 0)
#else
#define FETCH_AHEAD(p)
#endif

// Stores eight elements at `p`, which is aligned to them. Past the caches, the line is not read before it is written,
// which saves a third of a copy's traffic; worth it only where the output does not fit the caches anyway.
#define STORE8(v, p) vstore8(v, 0, p)
#if defined(STREAM) && defined(__has_builtin)
#if __has_builtin(__builtin_nontemporal_store)
#undef STORE8
#define STORE8(v, p) __builtin_nontemporal_store((REAL8)(v), (__global REAL8 *)(p))
#endif
#endif

// Start of part `k` of `n` elements cut into `parts` parts whose starts are multiples of 8.
inline size_t part_start(size_t n, size_t k, size_t parts)
{
    const size_t blocks = (n + 7) / 8;
    const size_t start = 8 * (blocks / parts * k + min(k, blocks % parts));
    return min(start, n);
}

// alpha sum + beta *y; beta = 0 never reads y.
inline REAL combine_product(REAL alpha, REAL sum, REAL beta, __global const REAL *y)
{
    return beta == ZERO ? alpha * sum : alpha * sum + beta * *y;
}
