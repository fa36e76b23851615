// The problem -Laplace u + shift u = f on n by n by n points, boundary included: point (i, j, k) is
// u[(k n + j) n + i], h = 1 / (n - 1), shift >= 0 (0 for the Poisson problem). Boundary values of u are
// never changed by a smoother, those of f are never read. Relaxations take weight = 1 / (6 + shift h^2).
//
// Traffic per fine point, f64, where every neighbour comes from cache:
//   sweep_gpu            24 B: both colours; 25 B with the correction before them, 16 B from u = 0
//   jacobi               24 B          red_black, one colour      24 B
//   restrict              9 B          restrict_defect            17 B
//   interpolate_add      17 B          interpolate_cubic           9 B
//   sweep_cpu            24 B: both colours, a plane behind each other
// A V(2,1) cycle on a GPU moves 90 B on its level, 102 B on all levels together; full multigrid with one
// such cycle a level and a norm on the finest 155 B.
//
// *_gpu: a point or a column of points per item; sweep_gpu is all that is built with START. *_cpu, built with PROCESSOR: a slab of planes or a run
// of rows per item.
// Products and sums are rounded one by one and in the order of the formulas, so that the partition
// does not change a bit.
#pragma OPENCL FP_CONTRACT OFF

#if REAL_BITS == 64
#define REAL4 double4
#else
#define REAL4 float4
#endif

#define QUARTER ((REAL)0.25f)
#define HALF ((REAL)0.5f)
#define TWO ((REAL)2.0f)
#define FOUR ((REAL)4.0f)
#define SIX ((REAL)6.0f)
#define SIXTEENTH ((REAL)0.0625f)

// ---------------------------------------------------------------------------------------------
// Formulas

#define SUM6(below, south, west, east, north, above) ((below) + (south) + (west) + (east) + (north) + (above))
#define RELAXED(weight, h2, f, sum) ((weight) * ((h2) * (f) + (sum)))
#define DEFECT(inverse_h2, shift, f, sum, centre)                                                        \
    (((f) - (shift) * (centre)) + (inverse_h2) * ((sum)-SIX * (centre)))
// Full weighting in a plane, and of three planes.
#define WEIGHTED(centre, sum, corners) (SIXTEENTH * (FOUR * (centre) + TWO * (sum) + (corners)))
#define WEIGHTED3(below, centre, above) (QUARTER * ((below) + TWO * (centre) + (above)))
// Sums of neighbours in the plane of the point at `p`, rows of `n` points.
#define SIDES(p, n) (*((p) - (n)) + *((p)-1) + (p)[1] + (p)[n])
#define CORNERS(p, n) (*((p) - (n)-1) + *((p) - (n) + 1) + (p)[(n)-1] + (p)[(n) + 1])

// The neighbours of the point at `p`.
inline REAL sum_around(size_t n, __global const REAL *p)
{
    return SUM6(*(p - n * n), *(p - n), *(p - 1), p[1], p[n], p[n * n]);
}

// Value of the bilinear interpolant of a coarse plane (m a side) at fine point (i, j). The same formula
// for all points: where two of its values are one, half their sum is exact.
inline REAL bilinear(size_t m, __global const REAL *plane, size_t i, size_t j)
{
    __global const REAL *c = plane + (j / 2) * m + i / 2;
    const size_t east = i % 2, north = j % 2 * m;
    return HALF * (HALF * (c[0] + c[east]) + HALF * (c[north] + c[north + east]));
}

// First coarse point and weights of the cubic through the four coarse points nearest to the middle
// of interval `k`; a parabola through all three where there are no four, the fourth weight 0.
inline size_t cubic_first(size_t m, size_t k)
{
    return m == 3 ? 0 : clamp(k, (size_t)1, m - 3) - 1;
}

inline REAL4 cubic_weights(size_t m, size_t k)
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

// Value of the bicubic interpolant of a coarse plane at fine point (i, j), first across the rows.
inline REAL bicubic(size_t m, __global const REAL *plane, size_t i, size_t j)
{
    const size_t row = j % 2 == 0 ? j / 2 : cubic_first(m, j / 2), last = m - 1;
    const size_t column = i % 2 == 0 ? i / 2 : cubic_first(m, i / 2);
    const REAL4 across = cubic_weights(m, j / 2), along = cubic_weights(m, i / 2);
    __global const REAL *c = plane + row * m;
    const size_t up1 = m, up2 = 2 * m, up3 = (min(row + 3, last) - row) * m;
#define COLUMN(p) (j % 2 == 0 ? c[p] : CUBIC(across, c[p], c[(p) + up1], c[(p) + up2], c[(p) + up3]))
    const REAL first = COLUMN(column);
    if (i % 2 == 0) {
        return first;
    }
    return CUBIC(along, first, COLUMN(column + 1), COLUMN(column + 2), COLUMN(min(column + 3, last)));
#undef COLUMN
}

// f plus what the boundary values of u contribute to the equation of interior point (i, j, k).
inline REAL source_at(size_t n, REAL inverse_h2, __global const REAL *u, __global const REAL *f, size_t i, size_t j,
                      size_t k)
{
    const size_t at = (k * n + j) * n + i, plane = n * n, last = n - 2;
    const REAL below = k == 1 ? u[at - plane] : ZERO, above = k == last ? u[at + plane] : ZERO;
    const REAL south = j == 1 ? u[at - n] : ZERO, north = j == last ? u[at + n] : ZERO;
    const REAL west = i == 1 ? u[at - 1] : ZERO, east = i == last ? u[at + 1] : ZERO;
    return f[at] + inverse_h2 * SUM6(below, south, west, east, north, above);
}

inline REAL defect_at(size_t n, REAL inverse_h2, REAL shift, __global const REAL *u, __global const REAL *f)
{
    return DEFECT(inverse_h2, shift, *f, sum_around(n, u), *u);
}

#ifndef START
// Boundary of `to` (m a side) = boundary of `from`, 2 m - 1 a side, at every second point. Items share
// out the points (a, b) of a face.
__kernel void inject_boundary(ulong m, __global const REAL *from, __global REAL *to)
{
    const size_t n = 2 * m - 1, last = m - 1;
    for (size_t b = get_global_id(1); b < m; b += get_global_size(1)) {
        for (size_t a = get_global_id(0); a < m; a += get_global_size(0)) {
            for (size_t end = 0; end < m; end += last) {
                to[(end * m + b) * m + a] = from[(2 * end * n + 2 * b) * n + 2 * a];
                to[(b * m + end) * m + a] = from[(2 * b * n + 2 * end) * n + 2 * a];
                to[(b * m + a) * m + end] = from[(2 * b * n + 2 * a) * n + 2 * end];
            }
        }
    }
}

// The equation of the one interior point of 3 by 3 by 3; `zero` clears the boundary of u. The first item.
__kernel void solve_coarsest(uint zero, REAL weight, REAL h2, __global const REAL *f, __global REAL *u)
{
    if (get_global_id(0) == 0 && get_global_id(1) == 0) {
        for (size_t p = 0; zero && p < 27; ++p) {
            u[p] = ZERO;
        }
        u[13] = RELAXED(weight, h2, f[13], sum_around(3, u + 13));
    }
}
#endif

#ifndef PROCESSOR
#ifndef START
// ---------------------------------------------------------------------------------------------
// A point per item: (i, row) with row = j + k n counted over the points or over the interior points

// out = one weighted Jacobi sweep over u; u on the boundary.
__kernel void jacobi_gpu(ulong n, REAL weight, REAL h2, REAL omega, __global const REAL *u, __global const REAL *f,
                         __global REAL *out)
{
    const uint side = (uint)n, i = (uint)get_global_id(0), row = (uint)get_global_id(1);
    const uint j = row % side, k = row / side;
    if (i < side && k < side) {
        const size_t p = (size_t)row * n + i;
        REAL value = u[p];
        if (i > 0 && i < side - 1 && j > 0 && j < side - 1 && k > 0 && k < side - 1) {
            value += omega * (RELAXED(weight, h2, f[p], sum_around(n, u + p)) - value);
        }
        out[p] = value;
    }
}

// fine += trilinear interpolant of coarse, inside.
__kernel void interpolate_add_gpu(ulong n, __global const REAL *coarse, __global REAL *fine)
{
    const uint inside = (uint)n - 2, i = (uint)get_global_id(0) + 1, row = (uint)get_global_id(1);
    const uint j = row % inside + 1, k = row / inside + 1;
    if (i <= inside && k <= inside) {
        const size_t m = (n + 1) / 2;
        __global const REAL *plane = coarse + k / 2 * m * m;
        REAL value = bilinear(m, plane, i, j);
        if (k % 2 != 0) {
            value = HALF * (value + bilinear(m, plane + m * m, i, j));
        }
        fine[((size_t)k * n + j) * n + i] += value;
    }
}

// coarse (m a side) = full weighting of fine, inside. An item per column of `planes` coarse points.
__kernel void restrict_gpu(ulong m, uint planes, __global const REAL *fine, __global REAL *coarse)
{
    const uint inside = (uint)m - 2, i = (uint)get_global_id(0) + 1, row = (uint)get_global_id(1);
    const uint j = row % inside + 1, begin = row / inside * planes + 1, end = min(begin + planes, inside + 1);
    if (i <= inside && begin < end) {
        const size_t n = 2 * m - 1;
        __global const REAL *p = fine + ((size_t)(2 * begin - 1) * n + 2 * j) * n + 2 * i;
        REAL below = WEIGHTED(*p, SIDES(p, n), CORNERS(p, n));
        for (uint k = begin; k < end; ++k) {
            p += n * n;
            const REAL centre = WEIGHTED(*p, SIDES(p, n), CORNERS(p, n));
            p += n * n;
            const REAL above = WEIGHTED(*p, SIDES(p, n), CORNERS(p, n));
            coarse[((size_t)k * m + j) * m + i] = WEIGHTED3(below, centre, above);
            below = above;
        }
    }
}

// fine = tricubic interpolant of coarse, inside; the boundary stays. An item per column of the fine
// points of `planes` coarse intervals; four bicubic values go with it.
__kernel void interpolate_cubic_gpu(ulong n, uint planes, __global const REAL *coarse, __global REAL *fine)
{
    const size_t inside = n - 2, m = (n + 1) / 2, row = get_global_id(1);
    const size_t i = get_global_id(0) + 1, j = row % inside + 1;
    const size_t begin = row / inside * planes, end = min(begin + planes, m - 1);
    if (i <= inside && begin < end) {
        const size_t plane = m * m;
        __global REAL *out = fine + (2 * begin * n + j) * n + i;
        size_t base = cubic_first(m, begin);
        REAL4 v = (REAL4)(bicubic(m, coarse + base * plane, i, j), bicubic(m, coarse + (base + 1) * plane, i, j),
                          bicubic(m, coarse + (base + 2) * plane, i, j),
                          bicubic(m, coarse + min(base + 3, m - 1) * plane, i, j));
        for (size_t k = begin; k < end; ++k) {
            if (cubic_first(m, k) > base) {
                ++base;
                v = (REAL4)(v.s123, bicubic(m, coarse + (base + 3) * plane, i, j));
            }
            if (k > 0) {
                *out = k == base ? v.s0 : k == base + 1 ? v.s1 : v.s2;
            }
            const REAL4 w = cubic_weights(m, k);
            out[n * n] = CUBIC(w, v.s0, v.s1, v.s2, v.s3);
            out += 2 * n * n;
        }
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
        const uint lane = (uint)get_local_id(0), inside = (uint)n - 2;                                   \
        REAL total = ZERO;                                                                               \
        for (uint row = (uint)get_group_id(0); row < inside * inside; row += (uint)get_num_groups(0)) {  \
            const size_t j = row % inside + 1, k = row / inside + 1;                                     \
            for (size_t i = lane + 1; i <= inside; i += LOCAL) {                                         \
                const REAL term = scale * TERM(n, inverse_h2, shift, u, f, i, j, k);                     \
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

// Points along a row and planes of a block that a group sums at a time.
#define SUMMED_WIDTH 32
#define SUMMED_PLANES 64

// partial[3 group ...] = sums of the squares of u, at every point, of the defect and of the source, inside. Blocks of
// LOCAL columns are dealt to the groups in turn; an item goes up a column with the values below and at hand, so that only
// neighbours in its plane are read again, from the nearest cache.
__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void sum_squares_gpu(
    ulong n, REAL inverse_h2, REAL shift, __global const REAL *u, __global const REAL *f, __global REAL *partial)
{
    __local REAL shared[3][LOCAL];
    const uint lane = (uint)get_local_id(0);
    const int side = (int)n, last = side - 1, height = max(LOCAL / SUMMED_WIDTH, 1), width = LOCAL / height;
    const int across = (side + width - 1) / width, along = (side + height - 1) / height;
    const int blocks = across * along * ((side + SUMMED_PLANES - 1) / SUMMED_PLANES);
    const size_t plane = n * n;
    REAL values = ZERO, defects = ZERO, sources = ZERO;
    for (int block = (int)get_group_id(0); block < blocks; block += (int)get_num_groups(0)) {
        const int i = block % across * width + (int)lane % width, j = block / across % along * height + (int)lane / width;
        const int begin = block / (across * along) * SUMMED_PLANES, end = min(begin + SUMMED_PLANES, side);
        const bool there = i < side && j < side, within = there && i > 0 && i < last && j > 0 && j < last;
        const size_t at = there ? (size_t)j * n + (size_t)i : 0;
        // Neighbours of a point on the boundary are not used; they are read where there is something.
        const size_t south_at = within ? at - n : at, north_at = within ? at + n : at;
        const size_t west_at = within ? at - 1 : at, east_at = within ? at + 1 : at;
        __global const REAL *floor = u + (size_t)begin * plane;
        REAL below = begin > 0 ? *(floor + at - plane) : ZERO, centre = floor[at];
#pragma unroll 4
        for (int k = begin; k < end; ++k) {
            const REAL above = k < last ? floor[plane + at] : ZERO, value = f[(size_t)k * plane + at];
            const REAL south = floor[south_at], west = floor[west_at], east = floor[east_at], north = floor[north_at];
            const REAL source =
                value + inverse_h2 * SUM6(k == 1 ? below : ZERO, j == 1 ? south : ZERO, i == 1 ? west : ZERO,
                                          i == last - 1 ? east : ZERO, j == last - 1 ? north : ZERO,
                                          k == last - 1 ? above : ZERO);
            const REAL defect = DEFECT(inverse_h2, shift, value, SUM6(below, south, west, east, north, above), centre);
            const bool inside = within && k > 0 && k < last;
            values += there ? centre * centre : ZERO;
            defects += inside ? defect * defect : ZERO;
            sources += inside ? source * source : ZERO;
            below = centre, centre = above;
            floor += plane;
        }
    }
    shared[0][lane] = values;
    shared[1][lane] = defects;
    shared[2][lane] = sources;
    for (uint half_size = LOCAL / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int term = 0; lane < half_size && term < 3; ++term) {
            shared[term][lane] += shared[term][lane + half_size];
        }
    }
    for (int term = 0; lane == 0 && term < 3; ++term) {
        partial[3 * get_group_id(0) + (size_t)term] = shared[term][0];
    }
}

#define POINT(n, i, j, k) (((k) * (n) + (j)) * (n) + (i))
#define DEFECT_TERM(n, inverse_h2, shift, u, f, i, j, k)                                                 \
    defect_at(n, inverse_h2, shift, (u) + POINT(n, i, j, k), (f) + POINT(n, i, j, k))
// u is taken as 0 inside, so that the shift has no part.
#define SOURCE_TERM(n, inverse_h2, shift, u, f, i, j, k) ((void)(shift), source_at(n, inverse_h2, u, f, i, j, k))

SUM_SQUARE_GPU(sum_square_defect_gpu, DEFECT_TERM)
SUM_SQUARE_GPU(sum_square_source_gpu, SOURCE_TERM)
#endif

// ---------------------------------------------------------------------------------------------
// A tile of columns per work-group, which walks up the planes
//
// The tile is COLUMNS by HEIGHT columns, ROWS neighbouring ones per item. Neighbours in a plane come from
// local memory or the item's own rows, those above and below from its registers. What lies on the rim of
// the tile, RIM columns wide, belongs to the tiles beside it; this group reads it and works on it with the
// same bits as they.

#define COLUMNS 32
#define ROWS (LOCAL >= 256 ? 2 : 512 / LOCAL)
#define HEIGHT (ROWS * (LOCAL / COLUMNS))
#define RIM 2
#define TILE_X (COLUMNS - 2 * RIM)
#define TILE_Y (HEIGHT - 2 * RIM)

// Columns of an item: whether they are points of the grid; whether their equations are worked on here;
// whether they are the group's own.
typedef struct {
    bool there[ROWS], inner[ROWS], own[ROWS];
    size_t at[ROWS];
} columns;

inline columns columns_at(int n, int x, int y, int lx, int ly)
{
    columns c;
    for (int r = 0; r < ROWS; ++r) {
        const int row = y + r, lrow = ly + r;
        c.there[r] = x >= 0 && x < n && row >= 0 && row < n;
        c.inner[r] = x > 0 && x < n - 1 && row > 0 && row < n - 1 && lx > 0 && lx < COLUMNS - 1 && lrow > 0 &&
                     lrow < HEIGHT - 1;
        c.own[r] = c.there[r] && lx >= RIM && lx < COLUMNS - RIM && lrow >= RIM && lrow < HEIGHT - RIM;
        c.at[r] = c.there[r] ? (size_t)row * (size_t)n + (size_t)x : 0;
    }
    return c;
}

// The sum of the neighbours of an item's r-th column; `level` is the plane in local memory.
#define SUM(below, row, above, level)                                                                    \
    SUM6((below)[r], r > 0 ? (row)[max(r - 1, 0)] : level[ly - 1][lx], level[ly + r][lx - 1],            \
         level[ly + r][lx + 1], r < ROWS - 1 ? (row)[min(r + 1, ROWS - 1)] : level[ly + ROWS][lx], (above)[r])

#ifndef START
// coarse = full weighting of f + Laplace_h u - shift u, inside. When plane k of u is read, the defect is
// taken on plane k - 1 and plane k - 2 of defects weighted.
__kernel __attribute__((reqd_work_group_size(COLUMNS, LOCAL / COLUMNS, 1))) void restrict_defect_gpu(
    ulong points, uint tiles, uint planes, REAL inverse_h2, REAL shift, __global const REAL *f,
    __global const REAL *u, __global REAL *coarse)
{
    __local REAL levels[2][HEIGHT][COLUMNS];
    __local REAL defects[2][HEIGHT][COLUMNS];
    const int n = (int)points;
    const int lx = (int)get_local_id(0), ly = (int)get_local_id(1) * ROWS;
    const int x = (int)get_group_id(0) * TILE_X - RIM + lx;
    const int y = (int)(get_group_id(1) % tiles) * TILE_Y - RIM + ly;
    const int begin = (int)(get_group_id(1) / tiles * planes), end = min(begin + (int)planes, n);
    const columns mine = columns_at(n, x, y, lx, ly);
    const size_t plane = (size_t)points * (size_t)points;
    REAL next[ROWS], a[ROWS], b[ROWS], c[ROWS], fa[ROWS], fb[ROWS];
    const int first = max(begin - RIM, 0), m = (n + 1) / 2;
    // The item's coarse column in the tile; there are fewer of them than items.
    const int item = (int)get_local_id(1) * COLUMNS + (int)get_local_id(0);
    const int i = RIM + 2 * (item % (TILE_X / 2)), j = RIM + 2 * min(item / (TILE_X / 2), TILE_Y / 2 - 1);
    const int coarse_x = (x - lx + i) / 2, coarse_y = (y - ly + j) / 2;
    const bool chosen = item < TILE_X / 2 * (TILE_Y / 2) && coarse_x > 0 && coarse_x < m - 1 && coarse_y > 0 &&
                        coarse_y < m - 1;
    REAL below = ZERO, centre = ZERO;
    for (int r = 0; r < ROWS; ++r) {
        a[r] = b[r] = c[r] = fa[r] = fb[r] = ZERO;
        next[r] = mine.there[r] ? u[(size_t)first * plane + mine.at[r]] : ZERO;
    }
    for (int k = first; k < end + RIM; ++k) {
        for (int r = 0; r < ROWS; ++r) {
            c[r] = b[r];
            b[r] = a[r];
            a[r] = next[r];
            fb[r] = fa[r];
            next[r] = mine.there[r] && k + 1 < n ? u[(size_t)(k + 1) * plane + mine.at[r]] : ZERO;
            fa[r] = mine.inner[r] && k < n ? f[(size_t)k * plane + mine.at[r]] : ZERO;
        }
        for (int r = 0; r < ROWS; ++r) {
            levels[k & 1][ly + r][lx] = a[r];
        }
        if (k > max(first, 1) && k < n) {
            __local REAL(*level)[COLUMNS] = levels[(k - 1) & 1];
            for (int r = 0; r < ROWS; ++r) {
                defects[k & 1][ly + r][lx] =
                    mine.inner[r] ? DEFECT(inverse_h2, shift, fb[r], SUM(c, b, a, level), b[r]) : ZERO;
            }
        }
        if (k > max(first, 1) + 1 && k < n + 1) {
            __local const REAL *d = &defects[(k - 1) & 1][j][i];
            const REAL weighted = WEIGHTED(*d, SIDES(d, COLUMNS), CORNERS(d, COLUMNS));
            if (k % 2 != 0) {
                if (chosen && k - 3 >= begin) {
                    coarse[((size_t)(k / 2 - 1) * (size_t)m + (size_t)coarse_y) * (size_t)m + (size_t)coarse_x] =
                        WEIGHTED3(below, centre, weighted);
                }
                below = weighted;
            } else {
                centre = weighted;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
#else
// What a sweep starts from.
#define GIVEN 0
#define FROM_ZERO 1
#define CORRECTED 2

// Coarse values under a tile, and how many an item brings.
#define COARSE_WIDTH (COLUMNS / 2 + 1)
#define COARSE_HEIGHT (HEIGHT / 2 + 1)
#define COARSE_VALUES ((COARSE_WIDTH * COARSE_HEIGHT + LOCAL - 1) / LOCAL)

// out = a red-black sweep, `colour` first, from u GIVEN; from 0, FROM_ZERO; from u CORRECTED by the
// trilinear interpolant of `coarse`. The boundary of out is that of the start.
//
// When plane k is read, the first colour is relaxed on plane k - 1 and the second on plane k - 2. A colour
// reads only the other one, so that one barrier a plane is enough.
__kernel __attribute__((reqd_work_group_size(COLUMNS, LOCAL / COLUMNS, 1))) void sweep_gpu(
    ulong points, uint tiles, uint planes, uint colour, REAL weight, REAL h2, __global const REAL *f,
    __global const REAL *u, __global const REAL *coarse, __global REAL *out)
{
    __local REAL levels[3][HEIGHT][COLUMNS];
    const int n = (int)points;
    const int lx = (int)get_local_id(0), ly = (int)get_local_id(1) * ROWS;
    const int x = (int)get_group_id(0) * TILE_X - RIM + lx;
    const int y = (int)(get_group_id(1) % tiles) * TILE_Y - RIM + ly;
    const int begin = (int)(get_group_id(1) / tiles * planes), end = min(begin + (int)planes, n);
    const columns mine = columns_at(n, x, y, lx, ly);
    const size_t plane = (size_t)points * (size_t)points;
    REAL next[ROWS], a[ROWS], b[ROWS], c[ROWS], d[ROWS], fa[ROWS], fb[ROWS], fc[ROWS];
    const int first = max(begin - RIM, 0);
#if START == CORRECTED
    // What the tile needs of a coarse plane, the one that comes next, and the bilinear interpolants of the planes below
    // and above or of the one at hand. Tiles and parts begin with even columns, rows and planes.
    __local REAL tile[COARSE_HEIGHT * COARSE_WIDTH];
    const int m = (n + 1) / 2, item = (int)get_local_id(1) * COLUMNS + (int)get_local_id(0);
    REAL arriving[COARSE_VALUES], low[ROWS], high[ROWS];
    size_t at[COARSE_VALUES];
    for (int v = 0; v < COARSE_VALUES; ++v) {
        const int place = min(item + v * LOCAL, COARSE_HEIGHT * COARSE_WIDTH - 1);
        const int coarse_x = (x - lx) / 2 + place % COARSE_WIDTH, coarse_y = (y - ly) / 2 + place / COARSE_WIDTH;
        at[v] = (size_t)clamp(coarse_y, 0, m - 1) * (size_t)m + (size_t)clamp(coarse_x, 0, m - 1);
    }
#define ARRIVE(k)                                                                                        \
    for (int v = 0; v < COARSE_VALUES; ++v) {                                                            \
        arriving[v] = coarse[(size_t)min((k), m - 1) * (size_t)m * (size_t)m + at[v]];                   \
    }
#define KEEP                                                                                             \
    for (int v = 0; v < COARSE_VALUES; ++v) {                                                            \
        if (item + v * LOCAL < COARSE_HEIGHT * COARSE_WIDTH) {                                           \
            tile[item + v * LOCAL] = arriving[v];                                                        \
        }                                                                                                \
    }
#define INTERPOLATE                                                                                      \
    for (int r = 0; r < ROWS; ++r) {                                                                     \
        __local const REAL *p = tile + (ly + r) / 2 * COARSE_WIDTH + lx / 2;                             \
        const int east = lx % 2, north = (ly + r) % 2 * COARSE_WIDTH;                                    \
        high[r] = HALF * (HALF * (p[0] + p[east]) + HALF * (p[north] + p[north + east]));                \
    }
    ARRIVE(first / 2);
    KEEP;
    ARRIVE(first / 2 + 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    INTERPOLATE;
    barrier(CLK_LOCAL_MEM_FENCE);
    KEEP;
    ARRIVE(first / 2 + 2);
    barrier(CLK_LOCAL_MEM_FENCE);
#else
    (void)coarse;
#endif
    for (int r = 0; r < ROWS; ++r) {
        a[r] = b[r] = c[r] = d[r] = fa[r] = fb[r] = fc[r] = ZERO;
        next[r] = START != FROM_ZERO && mine.there[r] ? u[(size_t)first * plane + mine.at[r]] : ZERO;
    }
    for (int k = first; k < end + RIM; ++k) {
        for (int r = 0; r < ROWS; ++r) {
            d[r] = c[r];
            c[r] = b[r];
            b[r] = a[r];
            a[r] = next[r];
            fc[r] = fb[r];
            fb[r] = fa[r];
            next[r] = START != FROM_ZERO && mine.there[r] && k + 1 < n ? u[(size_t)(k + 1) * plane + mine.at[r]] : ZERO;
            fa[r] = mine.inner[r] && k < n ? f[(size_t)k * plane + mine.at[r]] : ZERO;
        }
#if START == CORRECTED
        // The coarse solution is 0 on the boundary.
        if (k % 2 == 0) {
            for (int r = 0; r < ROWS; ++r) {
                a[r] += high[r];
                low[r] = high[r];
            }
            INTERPOLATE;
        } else {
            for (int r = 0; r < ROWS; ++r) {
                a[r] += HALF * (low[r] + high[r]);
            }
            KEEP;
            ARRIVE(k / 2 + 3);
        }
#endif
        for (int r = 0; r < ROWS; ++r) {
            levels[k % 3][ly + r][lx] = a[r];
        }
        const uint parity = (uint)(x + y + k - 1) + colour;
        if (k > max(first, 1) && k < n) {
            __local REAL(*level)[COLUMNS] = levels[(k - 1) % 3];
            for (int r = 0; r < ROWS; ++r) {
                if (mine.inner[r] && ((parity + r) & 1) == 0) {
                    b[r] = RELAXED(weight, h2, fb[r], SUM(c, b, a, level));
                    level[ly + r][lx] = b[r];
                }
            }
        }
        if (k > max(first, 1) + 1 && k < n + 1) {
            __local REAL(*level)[COLUMNS] = levels[(k - 2) % 3];
            for (int r = 0; r < ROWS; ++r) {
                if (mine.inner[r] && ((parity + r) & 1) == 0) {
                    c[r] = RELAXED(weight, h2, fc[r], SUM(d, c, b, level));
                }
            }
        }
        for (int r = 0; r < ROWS; ++r) {
            if (mine.own[r] && k - RIM >= begin) {
                out[(size_t)(k - RIM) * plane + mine.at[r]] = c[r];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
#endif

#else
// ---------------------------------------------------------------------------------------------
// Processors: rows one after the other, in slabs of planes or runs of rows

// Of `count` things, those of this item.
#define PART_BEGIN(count) ((count) * get_global_id(0) / get_global_size(0))
#define PART_END(count) ((count) * (get_global_id(0) + 1) / get_global_size(0))

// Gauss-Seidel for the interior points of plane `k` with (i + j + k) % 2 == colour.
inline void relax_plane(size_t n, size_t k, uint colour, REAL weight, REAL h2, __global const REAL *f,
                        __global REAL *u)
{
    const size_t plane = n * n;
    for (size_t j = 1; j < n - 1; ++j) {
        __global REAL *row = u + k * plane + j * n;
        __global const REAL *source = f + k * plane + j * n;
        const size_t first = 1 + ((1 + j + k + colour) & 1);
        for (size_t i = first; i < n - 1; i += 2) {
            row[i] = RELAXED(weight, h2, source[i],
                             SUM6(*(row + i - plane), *(row + i - n), row[i - 1], row[i + 1], row[i + n],
                                  row[i + plane]));
        }
    }
}

// A red-black sweep in two launches, `colour` first. The first one relaxes the first colour, and the
// second one a plane behind it, but for the outer planes of each slab, whose neighbours are another
// item's; `edges` set, the second launch relaxes those.
__kernel void sweep_cpu(ulong n, uint edges, uint colour, REAL weight, REAL h2, __global const REAL *f,
                        __global REAL *u)
{
    const size_t begin = PART_BEGIN(n - 2) + 1, end = PART_END(n - 2) + 1;
    for (size_t k = begin; !edges && k < end; ++k) {
        relax_plane(n, k, colour, weight, h2, f, u);
        if (k >= begin + 2) {
            relax_plane(n, k - 1, 1 - colour, weight, h2, f, u);
        }
    }
    if (edges && begin < end) {
        relax_plane(n, begin, 1 - colour, weight, h2, f, u);
        if (end - begin > 1) {
            relax_plane(n, end - 1, 1 - colour, weight, h2, f, u);
        }
    }
}

__kernel void jacobi_cpu(ulong n, REAL weight, REAL h2, REAL omega, __global const REAL *u, __global const REAL *f,
                         __global REAL *out)
{
    const size_t plane = n * n;
    for (size_t q = PART_BEGIN(plane); q < PART_END(plane); ++q) {
        const size_t j = q % n, k = q / n;
        const bool inside = j > 0 && j < n - 1 && k > 0 && k < n - 1;
        __global const REAL *row = u + q * n, *source = f + q * n;
        __global REAL *to = out + q * n;
        to[0] = row[0];
        to[n - 1] = row[n - 1];
        for (size_t i = 1; i < n - 1; ++i) {
            to[i] = row[i];
        }
        for (size_t i = 1; inside && i < n - 1; ++i) {
            to[i] = row[i] + omega * (RELAXED(weight, h2, source[i], sum_around(n, row + i)) - row[i]);
        }
    }
}

// Full weighting in its plane of the point of coarse row at `d`, the middle one of three rows.
inline REAL weighted_rows(__global const REAL *south, __global const REAL *d, __global const REAL *north)
{
    const REAL sum = *south + *(d - 1) + d[1] + *north;
    const REAL corners = *(south - 1) + south[1] + *(north - 1) + north[1];
    return WEIGHTED(*d, sum, corners);
}

// coarse = full weighting of fine, inside.
__kernel void restrict_cpu(ulong m, __global const REAL *fine, __global REAL *coarse)
{
    const size_t n = 2 * m - 1, inside = m - 2;
    for (size_t q = PART_BEGIN(inside * inside); q < PART_END(inside * inside); ++q) {
        const size_t j = q % inside + 1, k = q / inside + 1;
        __global const REAL *p = fine + (2 * k * n + 2 * j) * n, *b = p - n * n, *a = p + n * n;
        __global REAL *out = coarse + (k * m + j) * m;
        for (size_t i = 1; i <= inside; ++i) {
            const size_t c = 2 * i;
            out[i] = WEIGHTED3(weighted_rows(b + c - n, b + c, b + c + n), weighted_rows(p + c - n, p + c, p + c + n),
                               weighted_rows(a + c - n, a + c, a + c + n));
        }
    }
}

// coarse = full weighting of f + Laplace_h u - shift u, inside. An item has a slab of coarse planes and
// `stride` values of `work`: 3 rows of defects, 3 planes of weighted ones.
__kernel void restrict_defect_cpu(ulong m, ulong stride, REAL inverse_h2, REAL shift, __global const REAL *u,
                                  __global const REAL *f, __global REAL *coarse, __global REAL *work)
{
    const size_t n = 2 * m - 1;
    const size_t begin = PART_BEGIN(m - 2) + 1, end = PART_END(m - 2) + 1;
    __global REAL *rows = work + get_global_id(0) * stride, *planes = rows + 3 * n;
    for (size_t p = 2 * begin - 1; begin < end && p < 2 * end; ++p) {
        for (size_t j = 1; j < n - 1; ++j) {
            __global REAL *d = rows + j % 3 * n;
            const size_t at = (p * n + j) * n;
            d[0] = d[n - 1] = ZERO;
            for (size_t i = 1; i < n - 1; ++i) {
                d[i] = defect_at(n, inverse_h2, shift, u + at + i, f + at + i);
            }
            if (j % 2 != 0 && j > 1) {
                __global const REAL *south = rows + (j - 2) % 3 * n, *centre = rows + (j - 1) % 3 * n;
                __global REAL *to = planes + (p % 3 * m + j / 2) * m;
                for (size_t i = 1; i < m - 1; ++i) {
                    to[i] = weighted_rows(south + 2 * i, centre + 2 * i, d + 2 * i);
                }
            }
        }
        for (size_t j = 1; p % 2 != 0 && p > 2 * begin && j < m - 1; ++j) {
            __global const REAL *below = planes + ((p - 2) % 3 * m + j) * m, *centre = planes + ((p - 1) % 3 * m + j) * m,
                                *above = planes + (p % 3 * m + j) * m;
            for (size_t i = 1; i < m - 1; ++i) {
                coarse[(p / 2 * m + j) * m + i] = WEIGHTED3(below[i], centre[i], above[i]);
            }
        }
    }
}

__kernel void interpolate_add_cpu(ulong n, __global const REAL *coarse, __global REAL *fine)
{
    const size_t m = (n + 1) / 2, inside = n - 2;
    for (size_t q = PART_BEGIN(inside * inside); q < PART_END(inside * inside); ++q) {
        const size_t j = q % inside + 1, k = q / inside + 1;
        __global const REAL *plane = coarse + k / 2 * m * m;
        __global REAL *row = fine + (k * n + j) * n;
        for (size_t i = 1; i <= inside; ++i) {
            REAL value = bilinear(m, plane, i, j);
            if (k % 2 != 0) {
                value = HALF * (value + bilinear(m, plane + m * m, i, j));
            }
            row[i] += value;
        }
    }
}

__kernel void interpolate_cubic_cpu(ulong n, __global const REAL *coarse, __global REAL *fine)
{
    const size_t m = (n + 1) / 2, inside = n - 2, plane = m * m;
    for (size_t q = PART_BEGIN(inside * inside); q < PART_END(inside * inside); ++q) {
        const size_t j = q % inside + 1, k = q / inside + 1, first = cubic_first(m, k / 2);
        const REAL4 w = cubic_weights(m, k / 2);
        __global const REAL *c = coarse + (k % 2 == 0 ? k / 2 : first) * plane;
        const size_t up3 = (min(first + 3, m - 1) - first) * plane;
        __global REAL *row = fine + (k * n + j) * n;
        for (size_t i = 1; i <= inside; ++i) {
            const REAL value = bicubic(m, c, i, j);
            row[i] = k % 2 == 0 ? value
                                : CUBIC(w, value, bicubic(m, c + plane, i, j), bicubic(m, c + 2 * plane, i, j),
                                        bicubic(m, c + up3, i, j));
        }
    }
}

__kernel void sum_square_defect_cpu(ulong n, REAL inverse_h2, REAL shift, REAL scale, __global const REAL *u,
                                    __global const REAL *f, __global REAL *partial)
{
    const size_t inside = n - 2;
    REAL total = ZERO;
    for (size_t q = PART_BEGIN(inside * inside); q < PART_END(inside * inside); ++q) {
        const size_t at = ((q / inside + 1) * n + q % inside + 1) * n;
        REAL row_total = ZERO;
        for (size_t i = 1; i <= inside; ++i) {
            const REAL term = scale * defect_at(n, inverse_h2, shift, u + at + i, f + at + i);
            row_total += term * term;
        }
        total += row_total;
    }
    partial[get_global_id(0)] = total;
}

__kernel void sum_square_source_cpu(ulong n, REAL inverse_h2, REAL shift, REAL scale, __global const REAL *u,
                                    __global const REAL *f, __global REAL *partial)
{
    (void)shift; // u is taken as 0 inside
    const size_t inside = n - 2;
    REAL total = ZERO;
    for (size_t q = PART_BEGIN(inside * inside); q < PART_END(inside * inside); ++q) {
        REAL row_total = ZERO;
        for (size_t i = 1; i <= inside; ++i) {
            const REAL term = scale * source_at(n, inverse_h2, u, f, i, q % inside + 1, q / inside + 1);
            row_total += term * term;
        }
        total += row_total;
    }
    partial[get_global_id(0)] = total;
}
#endif
