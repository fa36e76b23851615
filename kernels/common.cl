// Stands before every kernel file. The build defines
//   REAL       float or double
//   REAL_BITS  32 or 64
//   LOCAL      items of a work-group in kernels that share local memory; a power of two
// Files are compiled once per precision; OpenCL C 1.2 is the floor.

#if REAL_BITS == 64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define REAL8 double8
#define INT8 long8
#else
#define REAL8 float8
#define INT8 int8
#endif

#define ZERO ((REAL)0)
#define ONE ((REAL)1)

// Start of part `k` of `n` elements cut into `parts` parts whose starts are multiples of 8.
inline size_t part_start(size_t n, size_t k, size_t parts)
{
    const size_t blocks = (n + 7) / 8;
    const size_t start = 8 * (blocks / parts * k + min(k, blocks % parts));
    return min(start, n);
}
