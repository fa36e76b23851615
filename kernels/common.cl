// Stands before every kernel file. The build defines
//   REAL       float or double
//   REAL_BITS  32 or 64
//   STREAM     only for long outputs on processors: store past the caches
//   AHEAD      only for processors whose compiler takes the hint: how many elements ahead to fetch memory
//   WIDTH      1, 2 or 4: neighbouring elements that an item of a GPU reads at once; 1 where it is missing
//   LOCAL      items of a work-group in kernels that share local memory; a power of two
//   TENSOR     only for NVIDIA's GPUs that multiply small matrices of doubles: ten times the compute capability, 80 or more;
//              0 for tests of such kernels on other devices
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

// Sum of the lanes.
inline REAL sum_lanes(REAL8 v)
{
    return ((v.s0 + v.s1) + (v.s2 + v.s3)) + ((v.s4 + v.s5) + (v.s6 + v.s7));
}

// An element of alpha A x + beta y; beta = 0 never reads y.
inline REAL combine_product(REAL alpha, REAL sum, REAL beta, __global const REAL *y)
{
    return beta == ZERO ? alpha * sum : alpha * sum + beta * *y;
}

// The sums of `count` rows of LOCAL numbers in the local memory of a work-group go to the first number of each row, by a tree
// whose order is always the same. A macro, not a function: every compiler sees the barriers in the kernel itself.
#define SUM_TREES(rows, count, lane)                                                                                   \
    for (uint half_size = LOCAL / 2; half_size > 0; half_size /= 2) {                                                  \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                  \
        if (lane < half_size) {                                                                                        \
            for (uint row_of_sums = 0; row_of_sums < (count); ++row_of_sums) {                                         \
                rows[row_of_sums * LOCAL + lane] += rows[row_of_sums * LOCAL + lane + half_size];                      \
            }                                                                                                          \
        }                                                                                                              \
    }

// With DOTS, a product takes y = alpha A x + beta u and leaves the dot products y'w and y'y as well, in a part of each per
// work-group or, on processors, per item; all parts of the first stand before those of the second.
#ifdef DOTS
#define ADDEND u
#define DOTS_ARGUMENTS , __global const REAL *u, __global const REAL *w, __global REAL *partial

// y'w and y'y over the rows from `row` to `end`.
inline REAL2 dots_of_rows(__global const REAL *y, __global const REAL *w, size_t row, size_t end)
{
    REAL8 mixed = (REAL8)ZERO, square = mixed;
    for (; row + 8 <= end; row += 8) {
        const REAL8 value = vload8(0, y + row);
        mixed += value * vload8(0, w + row);
        square += value * value;
    }
    REAL2 sum = (REAL2)(sum_lanes(mixed), sum_lanes(square));
    for (; row < end; ++row) {
        sum += y[row] * (REAL2)(w[row], y[row]);
    }
    return sum;
}

// An item of a processor takes its rows into the sums while they are in the cache, so many at a time.
#define DOTS_ROWS 1024
#define DOTS_END(row, end) min((row) + DOTS_ROWS, end)
#define START_DOTS(row)                                                                                                \
    size_t counted = row;                                                                                              \
    REAL2 dots = (REAL2)ZERO
#define COUNT_DOTS(row)                                                                                                \
    for (; counted + DOTS_ROWS <= (row); counted += DOTS_ROWS) {                                                       \
        dots += dots_of_rows(y, w, counted, counted + DOTS_ROWS);                                                      \
    }
#define LEAVE_DOTS(row)                                                                                                \
    COUNT_DOTS(row);                                                                                                   \
    dots += dots_of_rows(y, w, counted, row);                                                                          \
    partial[get_global_id(0)] = dots.s0;                                                                               \
    partial[get_global_size(0) + get_global_id(0)] = dots.s1

// Row i of a GPU, and what it adds to the sums.
inline REAL2 finish_row(size_t i, REAL alpha, REAL sum, REAL beta, __global REAL *y, __global const REAL *u,
                        __global const REAL *w)
{
    const REAL result = combine_product(alpha, sum, beta, u + i);
    y[i] = result;
    return result * (REAL2)(w[i], result);
}

// The items of a work-group join theirs, in two rows of LOCAL places.
#define LEAVE_GROUP_DOTS(rows, lane, group, groups)                                                                    \
    rows[lane] = dots.s0;                                                                                              \
    rows[LOCAL + lane] = dots.s1;                                                                                      \
    SUM_TREES(rows, 2, lane);                                                                                          \
    if (lane == 0) {                                                                                                   \
        partial[group] = rows[0];                                                                                      \
        partial[(groups) + (group)] = rows[LOCAL];                                                                     \
    }
#else
#define DOTS_END(row, end) (end)
#define ADDEND y
#define DOTS_ARGUMENTS
#define START_DOTS(row)
#define COUNT_DOTS(row)
#define LEAVE_DOTS(row)
#endif

#if defined(TENSOR) && TENSOR >= 80 && REAL_BITS == 64
// Products of small matrices by the 32 items of a warp together, d += a b, as the instructions `mma` of NVIDIA's PTX give them to
// items. With g = lane / 4 and t = lane % 4, a value of a belongs to row g (s1: row g + 8) and column t, its i-th to column t + 4 i;
// of b to row t, its i-th to row t + 4 i, and column g; of d to row g and columns 2 t and 2 t + 1 (s2, s3: row g + 8).
inline void mma_8x8x4(double2 *d, double a, double b)
{
    double d0 = d->s0, d1 = d->s1;
    __asm__ volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                     : "+d"(d0), "+d"(d1)
                     : "d"(a), "d"(b));
    *d = (double2)(d0, d1);
}

inline void mma_16x8x4(double4 *d, double2 a, double b)
{
#if TENSOR >= 90
    double d0 = d->s0, d1 = d->s1, d2 = d->s2, d3 = d->s3;
    __asm__ volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
                     "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                     : "+d"(d0), "+d"(d1), "+d"(d2), "+d"(d3)
                     : "d"(a.s0), "d"(a.s1), "d"(b));
    *d = (double4)(d0, d1, d2, d3);
#else
    double2 upper = d->lo, lower = d->hi;
    mma_8x8x4(&upper, a.s0, b);
    mma_8x8x4(&lower, a.s1, b);
    *d = (double4)(upper, lower);
#endif
}

#if TENSOR >= 90
inline void mma_16x8x16(double4 *d, const double2 *a, const double *b)
{
    double d0 = d->s0, d1 = d->s1, d2 = d->s2, d3 = d->s3;
    __asm__ volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
                     : "+d"(d0), "+d"(d1), "+d"(d2), "+d"(d3)
                     : "d"(a[0].s0), "d"(a[0].s1), "d"(a[1].s0), "d"(a[1].s1), "d"(a[2].s0), "d"(a[2].s1),
                       "d"(a[3].s0), "d"(a[3].s1), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
    *d = (double4)(d0, d1, d2, d3);
}
#endif

// Starts to copy 16 bytes from global to local memory past the registers; 0 `bytes` read nothing and write zeros. Both places are
// multiples of 16.
inline void copy_ahead(__local void *to, __global const void *from, uint bytes)
{
    __asm__ volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                     :
                     : "r"((uint)(ulong)to), "l"((ulong)from), "r"(bytes)
                     : "memory");
}

// Ends a bundle of the item's copies.
inline void bundle_copies(void)
{
    __asm__ volatile("cp.async.commit_group;" : : : "memory");
}

// Waits until no more than the last `count` bundles of the item's copies are on their way; a constant.
#define AWAIT_COPIES(count) __asm__ volatile("cp.async.wait_group %0;" : : "n"(count) : "memory")
#endif
