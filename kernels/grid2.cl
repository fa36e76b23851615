// The problem -Laplace u + shift u = f on n by n points, boundary included: point (i, j) is
// u[j n + i], h = 1 / (n - 1), shift >= 0 (0 for the Poisson problem). Boundary values of u are never
// changed by a smoother, those of f are never read. Relaxations take weight = 1 / (4 + shift h^2), which
// is 1/4 where shift = 0; defects take the shift apart from the differences, whose h^-2 would swallow it.
//
// Traffic per fine point, f64, where every neighbour comes from cache:
//   jacobi               24 B          red_black, one colour      24 B (16 read, 8 written)
//   defect               24 B          sum_square_defect          16 B
//   restrict             10 B          restrict_defect            18 B
//   interpolate          10 B          interpolate_add            18 B
//   apply_poisson        16 B          (24 B where beta is not 0)
//   sweep_cpu            26 B: all sweeps of a visit with the correction before them or the
//                        restriction or norm of the defect after them
// A V(2,1) cycle of the fused kernels moves 52 B on its level, 70 B on all levels together.
//
// *_gpu: a point per item, two-dimensional range. *_cpu, built with PROCESSOR: a band of rows per item,
// vectors along the row.
// Products and sums are rounded one by one and in the order of the formulas, so that the partition
// into bands, vectors and passes does not change a bit.
#pragma OPENCL FP_CONTRACT OFF

#if REAL_BITS == 64
#define REAL4 double4
#define REAL16 double16
#else
#define REAL4 float4
#define REAL16 float16
#endif

#define QUARTER ((REAL)0.25f)
#define HALF ((REAL)0.5f)
#define TWO ((REAL)2.0f)
#define FOUR ((REAL)4.0f)
#define SIXTEENTH ((REAL)0.0625f)

// ---------------------------------------------------------------------------------------------
// Formulas, for numbers and for vectors

#define NEIGHBOURS(south, west, east, north) ((south) + (west) + (east) + (north))
#define RELAXED(weight, h2, f, sum) ((weight) * ((h2) * (f) + (sum)))
#define DEFECT(inverse_h2, shift, f, sum, centre)                                                        \
    (((f) - (shift) * (centre)) + (inverse_h2) * ((sum)-FOUR * (centre)))
#define WEIGHTED(centre, sum, corners) (SIXTEENTH * (FOUR * (centre) + TWO * (sum) + (corners)))

// Value of the bilinear interpolant of `coarse` (m a side) at fine point (i, j).
inline REAL bilinear(ulong m, __global const REAL *coarse, size_t i, size_t j)
{
    __global const REAL *c = coarse + (j / 2) * m + i / 2;
    if (j % 2 == 0) {
        return i % 2 == 0 ? c[0] : HALF * (c[0] + c[1]);
    }
    return i % 2 == 0 ? HALF * (c[0] + c[m]) : QUARTER * (c[0] + c[1] + c[m] + c[m + 1]);
}

// First coarse point and weights of the cubic through the four coarse points nearest to the middle
// of interval `k`; a parabola through all three where there are no four, the fourth weight 0.
inline size_t cubic_first(ulong m, size_t k)
{
    return m == 3 ? 0 : clamp(k, (size_t)1, (size_t)(m - 3)) - 1;
}

inline REAL4 cubic_weights(ulong m, size_t k)
{
    if (m == 3) {
        return k == 0 ? (REAL4)((REAL)0.375f, (REAL)0.75f, (REAL)-0.125f, ZERO)
                      : (REAL4)((REAL)-0.125f, (REAL)0.75f, (REAL)0.375f, ZERO);
    }
    if (k == 0) {
        return (REAL4)((REAL)0.3125f, (REAL)0.9375f, (REAL)-0.3125f, (REAL)0.0625f);
    }
    if (k == m - 2) {
        return (REAL4)((REAL)0.0625f, (REAL)-0.3125f, (REAL)0.9375f, (REAL)0.3125f);
    }
    return (REAL4)((REAL)-0.0625f, (REAL)0.5625f, (REAL)0.5625f, (REAL)-0.0625f);
}

#define CUBIC(w, a, b, c, d) ((w).s0 * (a) + (w).s1 * (b) + (w).s2 * (c) + (w).s3 * (d))

// f plus what the boundary values of u contribute to the equation of interior point (i, j).
inline REAL source_at(ulong n, REAL inverse_h2, __global const REAL *u, __global const REAL *f, size_t i, size_t j)
{
    const size_t k = j * n + i;
    const REAL south = j == 1 ? u[k - n] : ZERO, north = j == n - 2 ? u[k + n] : ZERO;
    const REAL west = i == 1 ? u[k - 1] : ZERO, east = i == n - 2 ? u[k + 1] : ZERO;
    return f[k] + inverse_h2 * NEIGHBOURS(south, west, east, north);
}

// The boundary points one after the other: point `k` of 4 (m - 1), as a column and a row.
inline void boundary_point(ulong m, size_t k, size_t *i, size_t *j)
{
    const size_t side = m - 1;
    const size_t along = k % side;
    switch (k / side) {
    case 0: *i = along, *j = 0; break;
    case 1: *i = side, *j = along; break;
    case 2: *i = side - along, *j = side; break;
    default: *i = 0, *j = side - along; break;
    }
}

// Boundary of `to` (m a side) = boundary of `from` at every `stride`-th point; one item per point.
__kernel void copy_boundary(ulong m, ulong stride, __global const REAL *from, __global REAL *to)
{
    const size_t k = get_global_id(0);
    if (k < 4 * (m - 1)) {
        size_t i, j;
        boundary_point(m, k, &i, &j);
        to[j * m + i] = from[j * stride * ((m - 1) * stride + 1) + i * stride];
    }
}

#ifndef PROCESSOR
// ---------------------------------------------------------------------------------------------
// A point per item

// out = one weighted Jacobi sweep over u; u on the boundary.
__kernel void jacobi_gpu(ulong n, REAL weight, REAL h2, REAL omega, __global const REAL *u, __global const REAL *f,
                         __global REAL *out)
{
    const size_t i = get_global_id(0), j = get_global_id(1);
    if (i < n && j < n) {
        const size_t k = j * n + i;
        REAL value = u[k];
        if (i > 0 && i < n - 1 && j > 0 && j < n - 1) {
            const REAL sum = NEIGHBOURS(u[k - n], u[k - 1], u[k + 1], u[k + n]);
            value += omega * (RELAXED(weight, h2, f[k], sum) - value);
        }
        out[k] = value;
    }
}

// Half a Gauss-Seidel sweep: the interior points with (i + j) % 2 == colour. Half as many items as
// points in the first dimension.
__kernel void red_black_gpu(ulong n, REAL weight, REAL h2, uint colour, __global const REAL *f, __global REAL *u)
{
    const size_t j = get_global_id(1) + 1;
    const size_t i = 2 * get_global_id(0) + 1 + ((j + 1 + colour) & 1);
    if (i < n - 1 && j < n - 1) {
        const size_t k = j * n + i;
        u[k] = RELAXED(weight, h2, f[k], NEIGHBOURS(u[k - n], u[k - 1], u[k + 1], u[k + n]));
    }
}

// d = f + Laplace_h u inside, 0 on the boundary.
__kernel void defect_gpu(ulong n, REAL inverse_h2, REAL shift, __global const REAL *u, __global const REAL *f, __global REAL *d)
{
    const size_t i = get_global_id(0), j = get_global_id(1);
    if (i < n && j < n) {
        const size_t k = j * n + i;
        REAL value = ZERO;
        if (i > 0 && i < n - 1 && j > 0 && j < n - 1) {
            value = DEFECT(inverse_h2, shift, f[k], NEIGHBOURS(u[k - n], u[k - 1], u[k + 1], u[k + n]), u[k]);
        }
        d[k] = value;
    }
}

// coarse (m a side, an item per point) = full weighting of fine inside, 0 on the boundary.
__kernel void restrict_gpu(ulong m, __global const REAL *fine, __global REAL *coarse)
{
    const size_t i = get_global_id(0), j = get_global_id(1);
    if (i < m && j < m) {
        REAL value = ZERO;
        if (i > 0 && i < m - 1 && j > 0 && j < m - 1) {
            const size_t n = 2 * m - 1;
            __global const REAL *d = fine + 2 * j * n + 2 * i;
            const REAL corners = *(d - n - 1) + *(d - n + 1) + d[n - 1] + d[n + 1];
            value = WEIGHTED(d[0], NEIGHBOURS(*(d - n), *(d - 1), d[1], d[n]), corners);
        }
        coarse[j * m + i] = value;
    }
}

inline REAL defect_at(ulong n, REAL inverse_h2, REAL shift, __global const REAL *u, __global const REAL *f)
{
    return DEFECT(inverse_h2, shift, *f, NEIGHBOURS(*(u - n), *(u - 1), u[1], u[n]), *u);
}

// coarse = full weighting of f + Laplace_h u without storing the defect; 0 on the boundary.
__kernel void restrict_defect_gpu(ulong m, REAL inverse_h2, REAL shift, __global const REAL *u, __global const REAL *f,
                                  __global REAL *coarse)
{
    const size_t i = get_global_id(0), j = get_global_id(1);
    if (i < m && j < m) {
        REAL value = ZERO;
        if (i > 0 && i < m - 1 && j > 0 && j < m - 1) {
            const size_t n = 2 * m - 1, k = 2 * j * n + 2 * i;
#define AT(offset) defect_at(n, inverse_h2, shift, u + (k offset), f + (k offset))
            const REAL sum = NEIGHBOURS(AT(-n), AT(-1), AT(+1), AT(+n));
            const REAL corners = AT(-n - 1) + AT(-n + 1) + AT(+n - 1) + AT(+n + 1);
            value = WEIGHTED(AT(), sum, corners);
#undef AT
        }
        coarse[j * m + i] = value;
    }
}

// Rows of an item: enough that it reads each coarse value about once, and few enough for many items.
#define INTERPOLATED_ROWS 4

// fine (n a side, an item per column and INTERPOLATED_ROWS rows) = bilinear interpolant of coarse, everywhere.
__kernel void interpolate_gpu(ulong n, __global const REAL *coarse, __global REAL *fine)
{
    const size_t i = get_global_id(0), first = get_global_id(1) * INTERPOLATED_ROWS;
    if (i < n && first < n) {
        const size_t m = (n + 1) / 2;
        const bool between = i % 2 != 0;
        __global const REAL *west = coarse + first / 2 * m + i / 2, *east = west + (between ? 1 : 0);
        REAL a = *west, b = *east;
        for (size_t j = first; j < min(first + INTERPOLATED_ROWS, (size_t)n); j += 2) {
            fine[j * n + i] = between ? HALF * (a + b) : a;
            if (j + 1 < n) {
                west += m;
                east += m;
                const REAL c = *west, d = *east;
                fine[(j + 1) * n + i] = between ? QUARTER * (a + b + c + d) : HALF * (a + c);
                a = c;
                b = d;
            }
        }
    }
}

// fine += bilinear interpolant of coarse, inside.
__kernel void interpolate_add_gpu(ulong n, __global const REAL *coarse, __global REAL *fine)
{
    const size_t i = get_global_id(0) + 1, j = get_global_id(1) + 1;
    if (i < n - 1 && j < n - 1) {
        fine[j * n + i] += bilinear((n + 1) / 2, coarse, i, j);
    }
}

// fine = bicubic interpolant of coarse, inside; the boundary stays. An item has a coarse column and goes up `rows` of its
// intervals with four coarse rows at hand; a group has LOCAL columns, of which the outer two on either side belong to
// the groups beside it as well.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
interpolate_cubic_gpu(ulong n, uint rows, __global const REAL *coarse, __global REAL *fine)
{
    // Of the lower fine row of an interval, which is a coarse one, and of the upper one; two intervals in turn.
    __local REAL lower[2][LOCAL], upper[2][LOCAL];
    const int item = (int)get_local_id(0), left = (int)get_group_id(0) * (LOCAL - 4) - 2;
    const int m = (int)(n + 1) / 2, last = m - 1;
    const int begin = (int)(get_group_id(1) * rows), end = min(begin + (int)rows, last);
    __global const REAL *c = coarse + clamp(left + item, 0, last);
    int base = (int)cubic_first((ulong)m, (size_t)begin);
    REAL a = c[(size_t)base * (size_t)m], b = c[(size_t)(base + 1) * (size_t)m];
    REAL d = c[(size_t)(base + 2) * (size_t)m], e = c[(size_t)min(base + 3, last) * (size_t)m];
    // The row that comes next.
    REAL ahead = c[(size_t)min(base + 4, last) * (size_t)m];
    for (int k = begin; k < end; ++k) {
        if ((int)cubic_first((ulong)m, (size_t)k) > base) {
            ++base;
            a = b, b = d, d = e, e = ahead;
            ahead = c[(size_t)min(base + 4, last) * (size_t)m];
        }
        const REAL4 across = cubic_weights((ulong)m, (size_t)k);
        __local REAL *below = lower[k & 1], *above = upper[k & 1];
        below[item] = k == base ? a : k == base + 1 ? b : d;
        above[item] = CUBIC(across, a, b, d, e);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int part = item; part < 2 * (LOCAL - 4); part += LOCAL) {
            const int i = 2 * (left + 2) + part;
            if (i > 0 && i < 2 * last) {
                const bool between = i % 2 != 0;
                const int first = between ? (int)cubic_first((ulong)m, (size_t)(i / 2)) : i / 2;
                const int at = first - left, to3 = min(first + 3, last) - left;
                const REAL4 along = cubic_weights((ulong)m, (size_t)(i / 2));
                if (k > 0) {
                    fine[2 * (size_t)k * n + (size_t)i] =
                        between ? CUBIC(along, below[at], below[at + 1], below[at + 2], below[to3]) : below[at];
                }
                fine[(2 * (size_t)k + 1) * n + (size_t)i] =
                    between ? CUBIC(along, above[at], above[at + 1], above[at + 2], above[to3]) : above[at];
            }
        }
    }
}

// y = alpha A x + beta y with A = -Laplace_h + shift between interior points and the identity on the
// boundary, not coupled: symmetric and positive definite. beta = 0 never reads y.
__kernel void apply_poisson_gpu(ulong n, REAL inverse_h2, REAL shift, REAL alpha, __global const REAL *x, REAL beta,
                                __global REAL *y)
{
    const size_t i = get_global_id(0), j = get_global_id(1);
    if (i < n && j < n) {
        const size_t k = j * n + i;
        REAL value = x[k];
        if (i > 0 && i < n - 1 && j > 0 && j < n - 1) {
            const REAL south = j > 1 ? x[k - n] : ZERO, north = j < n - 2 ? x[k + n] : ZERO;
            const REAL west = i > 1 ? x[k - 1] : ZERO, east = i < n - 2 ? x[k + 1] : ZERO;
            value = inverse_h2 * (FOUR * value - NEIGHBOURS(south, west, east, north)) + shift * value;
        }
        y[k] = beta == ZERO ? alpha * value : alpha * value + beta * y[k];
    }
}

// b = source_at inside, u on the boundary.
__kernel void source_gpu(ulong n, REAL inverse_h2, __global const REAL *u, __global const REAL *f, __global REAL *b)
{
    const size_t i = get_global_id(0), j = get_global_id(1);
    if (i < n && j < n) {
        const bool inside = i > 0 && i < n - 1 && j > 0 && j < n - 1;
        b[j * n + i] = inside ? source_at(n, inverse_h2, u, f, i, j) : u[j * n + i];
    }
}

// partial[group] = sum over the interior of the squares of scale times TERM; rows are dealt to the
// groups in turn.
#define SUM_SQUARE_GPU(name, TERM)                                                                       \
    __kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void name(                               \
        ulong n, REAL inverse_h2, REAL shift, REAL scale, __global const REAL *u, __global const REAL *f, \
        __global REAL *partial)                                                                          \
    {                                                                                                    \
        __local REAL shared[LOCAL];                                                                      \
        const uint lane = (uint)get_local_id(0);                                                         \
        REAL total = ZERO;                                                                               \
        for (size_t j = get_group_id(0) + 1; j < n - 1; j += get_num_groups(0)) {                        \
            for (size_t i = lane + 1; i < n - 1; i += LOCAL) {                                           \
                const REAL term = scale * TERM(n, inverse_h2, shift, u, f, i, j);                        \
                total += term * term;                                                                    \
            }                                                                                            \
        }                                                                                                \
        shared[lane] = total;                                                                            \
        for (uint half_size = LOCAL / 2; half_size > 0; half_size /= 2) {                                \
            barrier(CLK_LOCAL_MEM_FENCE);                                                                \
            if (lane < half_size) {                                                                      \
                shared[lane] += shared[lane + half_size];                                                \
            }                                                                                            \
        }                                                                                                \
        if (lane == 0) {                                                                                 \
            partial[get_group_id(0)] = shared[0];                                                        \
        }                                                                                                \
    }

#define DEFECT_TERM(n, inverse_h2, shift, u, f, i, j)                                                    \
    defect_at(n, inverse_h2, shift, (u) + (j) * (n) + (i), (f) + (j) * (n) + (i))
// u is taken as 0 inside, so that the shift has no part.
#define SOURCE_TERM(n, inverse_h2, shift, u, f, i, j) ((void)(shift), source_at(n, inverse_h2, u, f, i, j))

SUM_SQUARE_GPU(sum_square_defect_gpu, DEFECT_TERM)
SUM_SQUARE_GPU(sum_square_source_gpu, SOURCE_TERM)

// Rows that an item goes up with the values below and at hand.
#define SUMMED_ROWS 8

// Three sums of squares per group, in `partial` one after the other: of u, everywhere; of the defect and of source_at,
// inside. Bands of rows are dealt to the groups in turn. 16 B per point.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
sum_squares_start_gpu(ulong n, REAL inverse_h2, REAL shift, __global const REAL *u, __global const REAL *f,
                      __global REAL *partial)
{
    __local REAL shared[3 * LOCAL];
    const uint lane = (uint)get_local_id(0);
    const int side = (int)n, last = side - 1;
    REAL size = ZERO, source = ZERO, total = ZERO;
    for (int low = (int)get_group_id(0) * SUMMED_ROWS; low < side; low += (int)get_num_groups(0) * SUMMED_ROWS) {
        for (int i = (int)lane; i < side; i += LOCAL) {
            __global const REAL *column = u + i, *sources = f + i;
            const bool within = i > 0 && i < last;
            REAL south = column[(size_t)max(low - 1, 0) * n], centre = column[(size_t)low * n];
#pragma unroll 4
            for (int r = 0; r < SUMMED_ROWS; ++r) {
                const int j = min(low + r, last);
                const size_t at = (size_t)j * n;
                const bool there = low + r < side, inside = there && within && j > 0 && j < last;
                const REAL north = column[(size_t)min(j + 1, last) * n], value = sources[at];
                const REAL west = within ? *(column + at - 1) : ZERO, east = within ? column[at + 1] : ZERO;
                const REAL b = value + inverse_h2 * NEIGHBOURS(j == 1 ? south : ZERO, i == 1 ? west : ZERO,
                                                               i == last - 1 ? east : ZERO, j == last - 1 ? north : ZERO);
                const REAL d = DEFECT(inverse_h2, shift, value, NEIGHBOURS(south, west, east, north), centre);
                size += there ? centre * centre : ZERO;
                source += inside ? b * b : ZERO;
                total += inside ? d * d : ZERO;
                south = centre, centre = north;
            }
        }
    }
    shared[lane] = size;
    shared[LOCAL + lane] = total;
    shared[2 * LOCAL + lane] = source;
    for (uint half_size = LOCAL / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < half_size) {
            shared[lane] += shared[lane + half_size];
            shared[LOCAL + lane] += shared[LOCAL + lane + half_size];
            shared[2 * LOCAL + lane] += shared[2 * LOCAL + lane + half_size];
        }
    }
    if (lane == 0) {
        for (uint k = 0; k < 3; ++k) {
            partial[3 * get_group_id(0) + k] = shared[k * LOCAL];
        }
    }
}

#else
// ---------------------------------------------------------------------------------------------
// Parts of a row, for processors: points `begin` to `end` of rows of n points given by pointers.
//
// Eight points at a time from addresses on that are multiples of the vector's size: a vector that
// crosses a cache line costs two accesses. Neighbours along the row come from registers, which also
// spares waiting for the store of the vector before.

#define WEST(before, centre) ((REAL8)(before, (centre).s0123, (centre).s456))
#define EAST(centre, after) ((REAL8)((centre).s1234, (centre).s567, after))

// Largest column up to `column`, at least 1, from which a vector of `row` is aligned.
inline size_t align_column(__global const REAL *row, long column)
{
    const long past = (long)((size_t)(row + column) / sizeof(REAL) % 8);
    return (size_t)max(column - past, 1L);
}

// Does POINT for single points `i`, VECTOR for eight points from `i` on with `west`, `centre` and
// `east` of `row`.
#define SCAN(n, begin, end, row, POINT, VECTOR)                                                          \
    {                                                                                                    \
        size_t i = begin;                                                                                \
        for (const size_t stop = min(align_column(row, (long)begin + 7), end); i < stop; ++i) {          \
            POINT                                                                                        \
        }                                                                                                \
        if (i + 8 <= end && i + 16 <= n) {                                                               \
            REAL8 before = (REAL8)row[i - 1], centre = vload8(0, row + i);                               \
            for (; i + 8 <= end && i + 16 <= n; i += 8) {                                                \
                const REAL8 after = vload8(0, row + i + 8);                                              \
                const REAL8 west = WEST(before.s7, centre), east = EAST(centre, after.s0);               \
                VECTOR                                                                                   \
                before = centre;                                                                         \
                centre = after;                                                                          \
            }                                                                                            \
        }                                                                                                \
        for (; i < end; ++i) {                                                                           \
            POINT                                                                                        \
        }                                                                                                \
    }

inline REAL sum8(REAL8 v)
{
    return ((v.s0 + v.s1) + (v.s2 + v.s3)) + ((v.s4 + v.s5) + (v.s6 + v.s7));
}

// Jacobi from `row` to `out`, another one.
inline void jacobi_row(size_t n, size_t begin, size_t end, REAL weight, REAL h2, REAL omega, __global const REAL *south,
                       __global const REAL *row, __global const REAL *north, __global const REAL *f,
                       __global REAL *out)
{
    SCAN(n, begin, end, row,
         {
             const REAL sum = NEIGHBOURS(south[i], row[i - 1], row[i + 1], north[i]);
             out[i] = row[i] + omega * (RELAXED(weight, h2, f[i], sum) - row[i]);
         },
         {
             const REAL8 sum = NEIGHBOURS(vload8(0, south + i), west, east, vload8(0, north + i));
             vstore8(centre + omega * (RELAXED(weight, h2, vload8(0, f + i), sum) - centre), 0, out + i);
         })
}

// Gauss-Seidel for the points of the row with i % 2 == odd.
inline void relax_points(size_t begin, size_t end, uint odd, REAL weight, REAL h2, __global const REAL *south, __global REAL *row,
                         __global const REAL *north, __global const REAL *f)
{
    for (size_t i = begin + ((begin + odd) & 1); i < end; i += 2) {
        row[i] = RELAXED(weight, h2, f[i], NEIGHBOURS(south[i], row[i - 1], row[i + 1], north[i]));
    }
}

// The same, but writes the points between back as they are.
inline void relax_row(size_t n, size_t begin, size_t end, uint odd, REAL weight, REAL h2, __global const REAL *south,
                      __global REAL *row, __global const REAL *north, __global const REAL *f)
{
    const INT8 even_lanes = (INT8)(-1, 0, -1, 0, -1, 0, -1, 0);
    const size_t aligned = align_column(row, (long)begin + 7);
    const INT8 chosen = ((aligned + odd) & 1) ? ~even_lanes : even_lanes;
    SCAN(n, begin, end, row,
         {
             if (((i + odd) & 1) == 0) {
                 row[i] = RELAXED(weight, h2, f[i], NEIGHBOURS(south[i], row[i - 1], row[i + 1], north[i]));
             }
         },
         {
             const REAL8 sum = NEIGHBOURS(vload8(0, south + i), west, east, vload8(0, north + i));
             vstore8(select(centre, RELAXED(weight, h2, vload8(0, f + i), sum), chosen), 0, row + i);
         })
}

// d = f + Laplace_h u.
inline void defect_row(size_t n, size_t begin, size_t end, REAL inverse_h2, REAL shift, __global const REAL *south,
                       __global const REAL *row, __global const REAL *north, __global const REAL *f,
                       __global REAL *d)
{
    SCAN(n, begin, end, row,
         {
             const REAL sum = NEIGHBOURS(south[i], row[i - 1], row[i + 1], north[i]);
             d[i] = DEFECT(inverse_h2, shift, f[i], sum, row[i]);
         },
         {
             const REAL8 sum = NEIGHBOURS(vload8(0, south + i), west, east, vload8(0, north + i));
             vstore8(DEFECT(inverse_h2, shift, vload8(0, f + i), sum, centre), 0, d + i);
         })
}

// Sum of the squares of scale (f + Laplace_h u).
inline REAL sum_square_defect_row(size_t n, size_t begin, size_t end, REAL inverse_h2, REAL shift, REAL scale,
                                  __global const REAL *south, __global const REAL *row, __global const REAL *north,
                                  __global const REAL *f)
{
    REAL8 squares = (REAL8)ZERO;
    REAL total = ZERO;
    SCAN(n, begin, end, row,
         {
             const REAL sum = NEIGHBOURS(south[i], row[i - 1], row[i + 1], north[i]);
             const REAL d = scale * DEFECT(inverse_h2, shift, f[i], sum, row[i]);
             total += d * d;
         },
         {
             const REAL8 sum = NEIGHBOURS(vload8(0, south + i), west, east, vload8(0, north + i));
             const REAL8 d = scale * DEFECT(inverse_h2, shift, vload8(0, f + i), sum, centre);
             squares += d * d;
         })
    return total + sum8(squares);
}

// Full weighting of three fine rows to coarse points `begin` to `end`.
inline void restrict_row(size_t begin, size_t end, __global const REAL *south, __global const REAL *centre,
                         __global const REAL *north, __global REAL *coarse)
{
    size_t c = begin;
    for (; c + 8 <= end; c += 8) {
        const REAL16 s = vload16(0, south + 2 * c), m = vload16(0, centre + 2 * c), t = vload16(0, north + 2 * c);
        const REAL8 sw = WEST(south[2 * c - 1], s.odd), w = WEST(centre[2 * c - 1], m.odd),
                    nw = WEST(north[2 * c - 1], t.odd);
        const REAL8 corners = sw + s.odd + nw + t.odd;
        vstore8(WEIGHTED(m.even, NEIGHBOURS(s.even, w, m.odd, t.even), corners), 0, coarse + c);
    }
    for (; c < end; ++c) {
        const size_t k = 2 * c;
        const REAL corners = south[k - 1] + south[k + 1] + north[k - 1] + north[k + 1];
        const REAL sum = NEIGHBOURS(south[k], centre[k - 1], centre[k + 1], north[k]);
        coarse[c] = WEIGHTED(centre[k], sum, corners);
    }
}

// Points `begin` to `end` of row `j` of the bilinear interpolant: fine += it where `add` is set, else
// fine = it.
inline void interpolate_row(ulong n, size_t j, size_t begin, size_t end, bool add, __global const REAL *coarse,
                            __global REAL *fine)
{
    const size_t m = (n + 1) / 2;
    __global const REAL *c = coarse + (j / 2) * m;
    size_t i = begin;
    if (i % 2 != 0) {
        fine[i] = (add ? fine[i] : ZERO) + bilinear(m, coarse, i, j);
        ++i;
    }
    for (; i + 16 <= end; i += 16) {
        const size_t k = i / 2;
        const REAL8 a = vload8(0, c + k), b = vload8(0, c + k + 1);
        REAL16 value;
        if (j % 2 == 0) {
            value.even = a;
            value.odd = HALF * (a + b);
        } else {
            const REAL8 p = vload8(0, c + m + k), q = vload8(0, c + m + k + 1);
            value.even = HALF * (a + p);
            value.odd = QUARTER * (a + b + p + q);
        }
        vstore16(add ? vload16(0, fine + i) + value : value, 0, fine + i);
    }
    for (; i < end; ++i) {
        fine[i] = (add ? fine[i] : ZERO) + bilinear(m, coarse, i, j);
    }
}

// Row `j` of the bicubic interpolant, inside; `work` holds m values.
inline void interpolate_cubic_row(ulong n, size_t j, __global const REAL *coarse, __global REAL *work,
                                  __global REAL *fine)
{
    const size_t m = (n + 1) / 2, last = m - 1;
    __global const REAL *line = coarse + (j / 2) * m;
    if (j % 2 != 0) {
        const REAL4 w = cubic_weights(m, j / 2);
        const size_t row = cubic_first(m, j / 2);
        __global const REAL *a = coarse + row * m, *b = a + m, *c = b + m, *d = coarse + min(row + 3, last) * m;
        size_t i = 0;
        for (; i + 8 <= m; i += 8) {
            vstore8(CUBIC(w, vload8(0, a + i), vload8(0, b + i), vload8(0, c + i), vload8(0, d + i)), 0, work + i);
        }
        for (; i < m; ++i) {
            work[i] = CUBIC(w, a[i], b[i], c[i], d[i]);
        }
        line = work;
    }
    const REAL4 middle = cubic_weights(m, 1);
    size_t k = 1;
    for (; k + 10 <= m; k += 8) {
        const REAL8 v = vload8(0, line + k);
        REAL16 value;
        value.even = v;
        value.odd = CUBIC(middle, vload8(0, line + k - 1), v, vload8(0, line + k + 1), vload8(0, line + k + 2));
        vstore16(value, 0, fine + 2 * k);
    }
    // What the vectors left: point 1, and the last ones.
    for (size_t i = 1; i < n - 1; i = (i == 1) ? 2 * k : i + 1) {
        const size_t first = cubic_first(m, i / 2);
        fine[i] = i % 2 == 0 ? line[i / 2]
                             : CUBIC(cubic_weights(m, i / 2), line[first], line[first + 1], line[first + 2],
                                     line[min(first + 3, last)]);
    }
}

inline void fill_row(size_t begin, size_t end, REAL value, __global REAL *row)
{
    size_t i = begin;
    for (; i + 8 <= end; i += 8) {
        vstore8((REAL8)value, 0, row + i);
    }
    for (; i < end; ++i) {
        row[i] = value;
    }
}

inline void copy_row(size_t begin, size_t end, __global const REAL *from, __global REAL *to)
{
    size_t i = begin;
    for (; i + 8 <= end; i += 8) {
        vstore8(vload8(0, from + i), 0, to + i);
    }
    for (; i < end; ++i) {
        to[i] = from[i];
    }
}

// ---------------------------------------------------------------------------------------------
// A band of rows per item, one operation

#define ROW_BEGIN(n) ((n) * get_global_id(0) / get_global_size(0))
#define ROW_END(n) ((n) * (get_global_id(0) + 1) / get_global_size(0))

__kernel void jacobi_cpu(ulong n, REAL weight, REAL h2, REAL omega, __global const REAL *u, __global const REAL *f,
                         __global REAL *out)
{
    for (size_t j = ROW_BEGIN(n); j < ROW_END(n); ++j) {
        __global const REAL *row = u + j * n;
        if (j == 0 || j == n - 1) {
            copy_row(0, n, row, out + j * n);
        } else {
            out[j * n] = row[0];
            out[j * n + n - 1] = row[n - 1];
            jacobi_row(n, 1, n - 1, weight, h2, omega, row - n, row, row + n, f + j * n, out + j * n);
        }
    }
}

// The first and the last row of a band are read by other items meanwhile: only the points of the
// colour may be written there.
__kernel void red_black_cpu(ulong n, REAL weight, REAL h2, uint colour, __global const REAL *f, __global REAL *u)
{
    const size_t begin = max(ROW_BEGIN(n), (size_t)1), end = min(ROW_END(n), (size_t)(n - 1));
    for (size_t j = begin; j < end; ++j) {
        __global REAL *row = u + j * n;
        const uint odd = (uint)(j + colour) & 1;
        if (j == begin || j == end - 1) {
            relax_points(1, n - 1, odd, weight, h2, row - n, row, row + n, f + j * n);
        } else {
            relax_row(n, 1, n - 1, odd, weight, h2, row - n, row, row + n, f + j * n);
        }
    }
}

__kernel void defect_cpu(ulong n, REAL inverse_h2, REAL shift, __global const REAL *u, __global const REAL *f, __global REAL *d)
{
    for (size_t j = ROW_BEGIN(n); j < ROW_END(n); ++j) {
        __global const REAL *row = u + j * n;
        if (j == 0 || j == n - 1) {
            fill_row(0, n, ZERO, d + j * n);
        } else {
            d[j * n] = d[j * n + n - 1] = ZERO;
            defect_row(n, 1, n - 1, inverse_h2, shift, row - n, row, row + n, f + j * n, d + j * n);
        }
    }
}

__kernel void restrict_cpu(ulong m, __global const REAL *fine, __global REAL *coarse)
{
    const size_t n = 2 * m - 1;
    for (size_t j = ROW_BEGIN(m); j < ROW_END(m); ++j) {
        __global const REAL *row = fine + 2 * j * n;
        if (j == 0 || j == m - 1) {
            fill_row(0, m, ZERO, coarse + j * m);
        } else {
            coarse[j * m] = coarse[j * m + m - 1] = ZERO;
            restrict_row(1, m - 1, row - n, row, row + n, coarse + j * m);
        }
    }
}

__kernel void interpolate_cpu(ulong n, __global const REAL *coarse, __global REAL *fine)
{
    for (size_t j = ROW_BEGIN(n); j < ROW_END(n); ++j) {
        interpolate_row(n, j, 0, n, false, coarse, fine + j * n);
    }
}

__kernel void interpolate_add_cpu(ulong n, __global const REAL *coarse, __global REAL *fine)
{
    for (size_t j = max(ROW_BEGIN(n), (size_t)1); j < min(ROW_END(n), (size_t)(n - 1)); ++j) {
        interpolate_row(n, j, 1, n - 1, true, coarse, fine + j * n);
    }
}

// `work` holds (n + 1) / 2 values per item.
__kernel void interpolate_cubic_cpu(ulong n, __global const REAL *coarse, __global REAL *fine, __global REAL *work)
{
    for (size_t j = max(ROW_BEGIN(n), (size_t)1); j < min(ROW_END(n), (size_t)(n - 1)); ++j) {
        interpolate_cubic_row(n, j, coarse, work + get_global_id(0) * ((n + 1) / 2), fine + j * n);
    }
}

__kernel void apply_poisson_cpu(ulong n, REAL inverse_h2, REAL shift, REAL alpha, __global const REAL *x, REAL beta,
                                __global REAL *y)
{
    for (size_t j = ROW_BEGIN(n); j < ROW_END(n); ++j) {
        __global const REAL *row = x + j * n;
        __global REAL *out = y + j * n;
        const bool inside = j > 0 && j < n - 1, south = j > 1, north = j < n - 2;
        for (size_t i = 0; i < n; ++i) {
            REAL value = row[i];
            if (inside && i > 0 && i < n - 1) {
                // Vectors where all neighbours are inside as well.
                if (i > 1 && i + 8 <= n - 2) {
                    const REAL8 centre = vload8(0, row + i);
                    const REAL8 sum = NEIGHBOURS(south ? vload8(0, row - n + i) : (REAL8)ZERO, vload8(0, row + i - 1),
                                                 vload8(0, row + i + 1), north ? vload8(0, row + n + i) : (REAL8)ZERO);
                    const REAL8 result = alpha * (inverse_h2 * (FOUR * centre - sum) + shift * centre);
                    vstore8(beta == ZERO ? result : result + beta * vload8(0, out + i), 0, out + i);
                    i += 7;
                    continue;
                }
                const REAL sum = NEIGHBOURS(south ? *(row - n + i) : ZERO, i > 1 ? row[i - 1] : ZERO,
                                            i < n - 2 ? row[i + 1] : ZERO, north ? row[n + i] : ZERO);
                value = inverse_h2 * (FOUR * value - sum) + shift * value;
            }
            out[i] = beta == ZERO ? alpha * value : alpha * value + beta * out[i];
        }
    }
}

__kernel void source_cpu(ulong n, REAL inverse_h2, __global const REAL *u, __global const REAL *f, __global REAL *b)
{
    for (size_t j = ROW_BEGIN(n); j < ROW_END(n); ++j) {
        for (size_t i = 0; i < n; ++i) {
            const bool inside = i > 0 && i < n - 1 && j > 0 && j < n - 1;
            b[j * n + i] = inside ? source_at(n, inverse_h2, u, f, i, j) : u[j * n + i];
        }
    }
}

__kernel void sum_square_defect_cpu(ulong n, REAL inverse_h2, REAL shift, REAL scale, __global const REAL *u,
                                    __global const REAL *f, __global REAL *partial)
{
    REAL total = ZERO;
    for (size_t j = max(ROW_BEGIN(n), (size_t)1); j < min(ROW_END(n), (size_t)(n - 1)); ++j) {
        __global const REAL *row = u + j * n;
        total += sum_square_defect_row(n, 1, n - 1, inverse_h2, shift, scale, row - n, row, row + n, f + j * n);
    }
    partial[get_global_id(0)] = total;
}

__kernel void sum_square_source_cpu(ulong n, REAL inverse_h2, REAL shift, REAL scale, __global const REAL *u,
                                    __global const REAL *f, __global REAL *partial)
{
    (void)shift; // u is taken as 0 inside
    REAL total = ZERO;
    for (size_t j = max(ROW_BEGIN(n), (size_t)1); j < min(ROW_END(n), (size_t)(n - 1)); ++j) {
        REAL8 squares = (REAL8)ZERO;
        size_t i = 1;
        if (j > 1 && j < n - 2) {
            // Only the ends of the row have neighbours on the boundary.
            const REAL end = scale * source_at(n, inverse_h2, u, f, 1, j);
            total += end * end;
            for (i = 2; i + 8 <= n - 2; i += 8) {
                const REAL8 term = scale * vload8(0, f + j * n + i);
                squares += term * term;
            }
        }
        REAL row_total = sum8(squares);
        for (; i < n - 1; ++i) {
            const REAL term = scale * source_at(n, inverse_h2, u, f, i, j);
            row_total += term * term;
        }
        total += row_total;
    }
    partial[get_global_id(0)] = total;
}

// ---------------------------------------------------------------------------------------------
// A band of rows per item, all sweeps of one visit in one pass over memory
//
// Each item owns the rows low to high - 1 of u. It works on `depth` more rows on either side, in
// copies of its own, because what happens there decides its own rows; the items repeat each
// other's work there and get the same bits. Down the rows runs a wave: when row j is read, stage 0
// relaxes row j - 1, stage 1 row j - 2 and so on, while these rows are in the cache. A stage is one
// colour of red-black or one sweep of Jacobi. Along the rows the wave advances by stretches, so that
// all rows at hand stay in the nearest cache: a stage needs of the rows above and below only the
// columns it relaxes, and its own row was finished by the stage before when the wave was a row back.
//
// Copies of an item: `depth` rows below low, `depth` rows from high on, 2 rows per Jacobi sweep (old
// values of the row before), 4 rows of defects; `stride` values in all.

// First row of part `p`; even, so that the coarse row of every even fine row belongs to one item.
inline long band_start(ulong n, size_t p, size_t parts)
{
    return p == parts ? (long)n : (long)(2 * ((n + 1) / 2 * p / parts));
}

// Row `j` as an item sees it.
inline __global REAL *band_row(long n, long low, long high, long depth, __global REAL *u, __global REAL *copy, long j)
{
    if (j < low) {
        return copy + (j - low + depth) * n;
    }
    return j < high ? u + j * n : copy + (j - high + depth) * n;
}

// Copies the rows around each band while they are still old. Item p is band p.
__kernel void save_halo_cpu(ulong n, uint depth, ulong stride, __global REAL *u, __global REAL *copies)
{
    const size_t p = get_global_id(0), parts = get_global_size(0);
    const long low = band_start(n, p, parts), high = band_start(n, p + 1, parts);
    __global REAL *copy = copies + p * stride;
    for (long j = max(low - (long)depth, 0L); j < low; ++j) {
        copy_row(0, n, u + j * (long)n, band_row((long)n, low, high, depth, u, copy, j));
    }
    for (long j = high; j < min(high + (long)depth, (long)n); ++j) {
        copy_row(0, n, u + j * (long)n, band_row((long)n, low, high, depth, u, copy, j));
    }
}

// Columns that are worked on together, even: with the rows of a V(2,1) cycle they fit 32 KiB.
#define STRETCH 128

// Starts to fetch a stretch that the wave will reach ROWS_AHEAD rows later: it reads more streams than
// the hardware tells apart.
#ifdef ROWS_AHEAD
inline void fetch_stretch(size_t length, __global const REAL *row)
{
    for (size_t i = 0; i < length; i += 64 / sizeof(REAL)) {
        __builtin_prefetch((const __global void *)(row + i), 0, 2);
    }
}
#endif

// What is done to a row before its stages, and after them.
#define GIVEN 0
#define FROM_ZERO 1
#define CORRECTED 2
#define NOTHING 0
#define RESTRICTED 1
#define SUMMED 2

// `start` GIVEN or FROM_ZERO: u as it is, or 0 whatever it is, which needs no saved halo; CORRECTED
// adds the interpolant of `other`, a coarse grid. `after` RESTRICTED: `other` = full weighting of the
// defect, inside. SUMMED: partial[band] = sum of the squares of the defect. `omega` 0 stands for
// red-black, with `colour` first.
__kernel void sweep_cpu(ulong points, uint start, uint after, uint stages, uint colour, uint depth, ulong stride,
                        REAL weight, REAL h2, REAL inverse_h2, REAL shift, REAL omega, __global const REAL *f, __global REAL *u,
                        __global REAL *other, __global REAL *copies, __global REAL *partial)
{
    const size_t p = get_global_id(0), parts = get_global_size(0);
    const long n = (long)points, m = (n + 1) / 2, lag = stages;
    const long low = band_start(points, p, parts), high = band_start(points, p + 1, parts);
    __global REAL *copy = copies + p * stride;
    __global REAL *save = copy + 2 * depth * points;
    __global REAL *defect = save + (omega == ZERO ? 0 : 2 * stages) * points;
    // Rows at hand; a stage reaches one row less on either side than the one before, but for the
    // sides of the square.
    const long first = max(low - (long)depth, 0L), last = min(high + (long)depth, n) - 1;
    REAL total = ZERO;
#define ROW(j) band_row(n, low, high, depth, u, copy, j)
// Columns of the row at `row` that an operation does in its turn. Stretches end where the row's vectors
// do, up to 8 columns before their nominal end and not at the same column in each row; with 8 columns
// of `delay` more than the operation before, none reads what that one has not done.
#define FROM(row, delay) (stretch == 0 ? 1 : align_column(row, (long)(stretch * STRETCH) - 8 * (delay)))
#define TO(row, delay)                                                                                   \
    (stretch == stretches - 1 ? points - 1 : align_column(row, (long)((stretch + 1) * STRETCH) - 8 * (delay)))
    const size_t stretches = (points - 1 + STRETCH - 1) / STRETCH;
    for (long j = first; j <= last + lag + 1; ++j) {
        for (size_t stretch = 0; stretch < stretches; ++stretch) {
            const bool leftmost = stretch == 0, rightmost = stretch == stretches - 1;
#ifdef ROWS_AHEAD
            if (j + ROWS_AHEAD < n) {
                const size_t at = (size_t)(j + ROWS_AHEAD) * points + stretch * STRETCH;
                fetch_stretch(STRETCH, u + at);
                fetch_stretch(STRETCH, f + at);
            }
#endif
            if (j <= last && start != GIVEN) {
                const size_t begin = stretch * STRETCH, end = rightmost ? points : begin + STRETCH;
                if (start == FROM_ZERO) {
                    fill_row(begin, end, ZERO, ROW(j));
                } else if (j > 0 && j < n - 1) {
                    interpolate_row(points, (size_t)j, max(begin, (size_t)1), min(end, (size_t)points - 1), true,
                                    other, ROW(j));
                }
            }
            for (long s = 0; s < lag; ++s) {
                const long r = j - 1 - s;
                const long lowest = first == 0 ? 1 : first + 1 + s, highest = last == n - 1 ? n - 2 : last - 1 - s;
                if (r < lowest || r > highest) {
                    continue;
                }
                __global REAL *south = ROW(r - 1), *row = ROW(r), *north = ROW(r + 1);
                if (omega == ZERO) {
                    const uint odd = (uint)(r + s + colour) & 1;
                    relax_row(points, FROM(row, s), TO(row, s), odd, weight, h2, south, row, north, f + r * n);
                } else {
                    __global REAL *old_south = save + (2 * s + ((r - 1) & 1)) * n, *old = save + (2 * s + (r & 1)) * n;
                    const size_t begin = leftmost ? 0 : FROM(row, 2 * s), end = rightmost ? points : TO(row, 2 * s);
                    if (r == lowest) {
                        copy_row(begin, end, south, old_south);
                    }
                    copy_row(begin, end, row, old);
                    jacobi_row(points, FROM(row, 2 * s + 1), TO(row, 2 * s + 1), weight, h2, omega, old_south, old, north,
                               f + r * n, row);
                }
            }
            // The row whose neighbours are all done.
            const long r = j - 1 - lag, delay = omega == ZERO ? lag : 2 * lag;
            if (after == RESTRICTED && r >= max(low - 1, 1L) && r <= min(high - 1, n - 2)) {
                const size_t begin = FROM(ROW(r), delay), end = TO(ROW(r), delay);
                defect_row(points, begin, end, inverse_h2, shift, ROW(r - 1), ROW(r), ROW(r + 1), f + r * n,
                           defect + (r & 3) * n);
                if ((r & 1) != 0 && r > max(low, 1L)) {
                    restrict_row(max(begin / 2, (size_t)1), rightmost ? (size_t)m - 1 : max(end / 2, (size_t)1),
                                 defect + ((r - 2) & 3) * n, defect + ((r - 1) & 3) * n, defect + (r & 3) * n,
                                 other + r / 2 * m);
                }
            }
            if (after == SUMMED && r >= max(low, 1L) && r <= min(high - 1, n - 2)) {
                total += sum_square_defect_row(points, FROM(ROW(r), delay), TO(ROW(r), delay), inverse_h2, shift, ONE,
                                               ROW(r - 1), ROW(r), ROW(r + 1), f + r * n);
            }
        }
    }
#undef FROM
#undef TO
#undef ROW
    if (after == SUMMED) {
        partial[p] = total;
    }
}
#endif
