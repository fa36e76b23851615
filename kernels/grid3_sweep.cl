// Red-black Gauss-Seidel on 3-D grids and the restriction of the defect, with the notation of grid3.clh.
//
// Traffic per fine point, f64, where every neighbour comes from cache:
//   sweep                24 B: both colours; on GPUs 25 B with the correction before them, 16 B from u = 0
//   restrict_defect      17 B
//
// GPUs: a tile of columns per work-group, which walks up the planes; START chooses what a sweep starts from, and restrict_defect
// is built without it. CPUs, which the variant Slabs is for: a slab of planes per item.
//@ build
//@ build START=0
//@ build START=1
//@ build START=2
//@ variant Slabs CPU=1
//@ build Slabs
#include "common.clh"
#include "grid3.clh"

#ifdef CPU
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
__kernel void sweep(ulong n, ulong height, uint edges, uint colour, REAL weight, REAL h2, __global const REAL *f,
                    __global REAL *u)
{
    const size_t begin = PART_BEGIN(height - 2) + 1, end = PART_END(height - 2) + 1;
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

// `height` planes of coarse, from plane `skip` on = full weighting of f + Laplace_h u - shift u, inside. An item has a slab of
// them and `stride` values of `work`: 3 rows of defects, 3 planes of weighted ones.
__kernel void restrict_defect(ulong m, ulong height, ulong skip, ulong stride, REAL inverse_h2, REAL shift,
                              __global const REAL *u, __global const REAL *f, __global REAL *coarse, __global REAL *work)
{
    const size_t n = 2 * m - 1;
    const size_t begin = PART_BEGIN(height - 2) + 1, end = PART_END(height - 2) + 1;
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
                coarse[((skip + p / 2) * m + j) * m + i] = WEIGHTED3(below[i], centre[i], above[i]);
            }
        }
    }
}
#else
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
// coarse, from plane `skip` on = full weighting of f + Laplace_h u - shift u, inside. When plane k of u is read, the defect is
// taken on plane k - 1 and plane k - 2 of defects weighted.
__kernel __attribute__((reqd_work_group_size(COLUMNS, LOCAL / COLUMNS, 1))) void restrict_defect(
    ulong points, ulong height, ulong skip, uint tiles, uint planes, REAL inverse_h2, REAL shift, __global const REAL *f,
    __global const REAL *u, __global REAL *coarse)
{
    __local REAL levels[2][HEIGHT][COLUMNS];
    __local REAL defects[2][HEIGHT][COLUMNS];
    const int n = (int)points, top = (int)height;
    const int lx = (int)get_local_id(0), ly = (int)get_local_id(1) * ROWS;
    const int x = (int)get_group_id(0) * TILE_X - RIM + lx;
    const int y = (int)(get_group_id(1) % tiles) * TILE_Y - RIM + ly;
    const int begin = (int)(get_group_id(1) / tiles * planes), end = min(begin + (int)planes, top);
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
            next[r] = mine.there[r] && k + 1 < top ? u[(size_t)(k + 1) * plane + mine.at[r]] : ZERO;
            fa[r] = mine.inner[r] && k < top ? f[(size_t)k * plane + mine.at[r]] : ZERO;
        }
        for (int r = 0; r < ROWS; ++r) {
            levels[k & 1][ly + r][lx] = a[r];
        }
        if (k > max(first, 1) && k < top) {
            __local REAL(*level)[COLUMNS] = levels[(k - 1) & 1];
            for (int r = 0; r < ROWS; ++r) {
                defects[k & 1][ly + r][lx] =
                    mine.inner[r] ? DEFECT(inverse_h2, shift, fb[r], SUM(c, b, a, level), b[r]) : ZERO;
            }
        }
        if (k > max(first, 1) + 1 && k < top + 1) {
            __local const REAL *d = &defects[(k - 1) & 1][j][i];
            const REAL weighted = WEIGHTED(*d, SIDES(d, COLUMNS), CORNERS(d, COLUMNS));
            if (k % 2 != 0) {
                if (chosen && k - 3 >= begin) {
                    coarse[((skip + (size_t)(k / 2 - 1)) * (size_t)m + (size_t)coarse_y) * (size_t)m + (size_t)coarse_x] =
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
// trilinear interpolant of `coarse` from plane `skip` on. The boundary of out is that of the start.
//
// When plane k is read, the first colour is relaxed on plane k - 1 and the second on plane k - 2. A colour
// reads only the other one, so that one barrier a plane is enough.
__kernel __attribute__((reqd_work_group_size(COLUMNS, LOCAL / COLUMNS, 1))) void sweep(
    ulong points, ulong height, ulong skip, uint tiles, uint planes, uint colour, REAL weight, REAL h2, __global const REAL *f,
    __global const REAL *u, __global const REAL *coarse, __global REAL *out)
{
    __local REAL levels[3][HEIGHT][COLUMNS];
    const int n = (int)points, top = (int)height;
    const int lx = (int)get_local_id(0), ly = (int)get_local_id(1) * ROWS;
    const int x = (int)get_group_id(0) * TILE_X - RIM + lx;
    const int y = (int)(get_group_id(1) % tiles) * TILE_Y - RIM + ly;
    const int begin = (int)(get_group_id(1) / tiles * planes), end = min(begin + (int)planes, top);
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
        arriving[v] = coarse[(skip + (size_t)min((k), top / 2)) * (size_t)m * (size_t)m + at[v]];        \
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
    (void)coarse, (void)skip;
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
            next[r] = START != FROM_ZERO && mine.there[r] && k + 1 < top ? u[(size_t)(k + 1) * plane + mine.at[r]] : ZERO;
            fa[r] = mine.inner[r] && k < top ? f[(size_t)k * plane + mine.at[r]] : ZERO;
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
        if (k > max(first, 1) && k < top) {
            __local REAL(*level)[COLUMNS] = levels[(k - 1) % 3];
            for (int r = 0; r < ROWS; ++r) {
                if (mine.inner[r] && ((parity + r) & 1) == 0) {
                    b[r] = RELAXED(weight, h2, fb[r], SUM(c, b, a, level));
                    level[ly + r][lx] = b[r];
                }
            }
        }
        if (k > max(first, 1) + 1 && k < top + 1) {
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
#endif
