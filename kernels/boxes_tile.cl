// Red-black Gauss-Seidel on boxes of three dimensions and the restriction of the residual, for GPUs, by tiles of columns: a work-group walks up
// the planes as in grid3_sweep.cl. Operator and notation are those of boxes.cl.
//
// Traffic per fine point, f64, where every neighbour comes from cache:
//   sweep_tile      24 B: both colours; 25 B with the correction before them, 16 B from u = 0
//   restrict_tile   17 B
//
// Couplings of columns stay in registers. `reals` and `numbers` say what the planes, columns and rows of a level are, see `Tables` in
// multigrid/boxes/tables.rs; planes have PAD more on either side, as the rows in boxes_strip.cl. What a step needs of a plane is loaded a step before.
//
//   START  what a sweep starts from; restrict_tile is built without it
//@ build
//@ build START=0
//@ build START=1
//@ build START=2
#include "common.clh"

// The tile is COLUMNS by HEIGHT columns, ROWS neighbouring ones per item. The neighbours in a plane come from local memory or the item's own
// rows, those above and below from its registers. Points on the rim belong to neighbouring tiles; this group recomputes them with
// the same bits.
#define COLUMNS 32
#define ROWS (LOCAL >= 256 ? 2 : 512 / LOCAL)
#define HEIGHT (ROWS * (LOCAL / COLUMNS))
#define RIM 2
#ifdef START
#define FAR_RIM 2
#else
#define FAR_RIM 3
#endif
#define PAD 32

// What a plane has, RECORD numbers of either kind, of which local memory has those of RING planes, a power of two, up to IN_RING after the newest one:
// its mass, couplings below and above, and what the diagonal has more; parts of the base plane and of the next one.
#define RECORD 8
#define RING 8
#define IN_RING 2
#define FACTORS(k) (*(__local const REAL4 *)(plane_reals + RECORD * ((k) & (RING - 1))))
#define PARTS(k) (*(__local const REAL2 *)(plane_reals + RECORD * ((k) & (RING - 1)) + 4))
// Its place; the base plane; its kind, which planes with the same factors share; where the coarse plane after the next one is; the coarse plane that is
// complete when it arrives, -1 for none, and the plane whose group writes that.
#define NUMBER(k, which) plane_places[RECORD * ((k) & (RING - 1)) + (which)]
#define PLACE(k) (size_t)NUMBER(k, 0)
#define BASE(k) NUMBER(k, 1)
#define KIND(k) NUMBER(k, 2)
#define NEXT_PLACE(k) NUMBER(k, 3)
#define COMPLETED(k) NUMBER(k, 4)
#define OWNER(k) NUMBER(k, 5)

// The ring before step `start`, after a barrier; the numbers that come next are on their way in the first items. Bases may be negative.
#define START_RING(start)                                                                                              \
    __local REAL plane_reals[RING * RECORD] __attribute__((aligned(32)));                                              \
    __local int plane_places[RING * RECORD];                                                                           \
    __global const int *places = (__global const int *)numbers;                                                        \
    const int lane = (int)(get_local_id(1) * COLUMNS + get_local_id(0));                                               \
    REAL next_real = ZERO;                                                                                             \
    int next_place = 0;                                                                                                \
    for (int v = lane; v < RING * RECORD; v += LOCAL) {                                                                \
        const int plane_of = (start) + IN_RING - RING + v / RECORD, to = RECORD * (plane_of & (RING - 1)) + v % RECORD; \
        plane_reals[to] = reals[RECORD * (plane_of + PAD) + v % RECORD];                                               \
        plane_places[to] = places[RECORD * (plane_of + PAD) + v % RECORD];                                             \
    }                                                                                                                  \
    LOAD_NUMBERS((start) + IN_RING)

#define LOAD_NUMBERS(k)                                                                                                \
    if (lane < RECORD) {                                                                                               \
        next_real = reals[RECORD * ((k) + PAD) + lane];                                                                \
        next_place = places[RECORD * ((k) + PAD) + lane];                                                              \
    }

// In step k: stores the numbers of plane k + IN_RING, and loads the next ones.
#define ADVANCE_RING(k)                                                                                                \
    if (lane < RECORD) {                                                                                               \
        plane_reals[RECORD * (((k) + IN_RING) & (RING - 1)) + lane] = next_real;                                       \
        plane_places[RECORD * (((k) + IN_RING) & (RING - 1)) + lane] = next_place;                                     \
    }                                                                                                                  \
    LOAD_NUMBERS((k) + IN_RING + 1)

// A column: couplings to its neighbours in the plane, what the diagonal has more without the mass of the plane, and the mass.
typedef struct {
    REAL west, east, south, north, diagonal, more, mass;
} column_type;

// Columns of an item: whether they are points of the grid; whether their equations are worked on here; whether they are the group's own.
typedef struct {
    bool there[ROWS], inner[ROWS], own[ROWS];
    size_t at[ROWS];
    column_type column[ROWS];
} columns;

// The index of point `i` of `n`, which may lie past the ends of a periodic direction.
inline int place_of(int i, int n, uint periodic)
{
    return periodic != 0 ? (i % n + n) % n : clamp(i, 0, n - 1);
}

inline columns columns_at(int nx, int ny, uint periodic, int x, int y, int lx, int ly, __global const REAL4 *along_x,
                          __global const REAL4 *along_y)
{
    columns c;
    const int px = place_of(x, nx, periodic & 1);
    const bool x_there = (periodic & 1) != 0 || x == px;
    for (int r = 0; r < ROWS; ++r) {
        const int row = y + r, lrow = ly + r, py = place_of(row, ny, periodic & 2);
        c.there[r] = x_there && ((periodic & 2) != 0 || row == py);
        c.inner[r] = c.there[r] && lx > 0 && lx < COLUMNS - 1 && lrow > 0 && lrow < HEIGHT - 1;
        c.own[r] = x == px && row == py && lx >= RIM && lx < COLUMNS - FAR_RIM && lrow >= RIM && lrow < HEIGHT - FAR_RIM;
        c.at[r] = (size_t)py * (size_t)nx + (size_t)px;
        const REAL4 fx = along_x[px], fy = along_y[py];
        c.column[r].west = fy.w * fx.x;
        c.column[r].east = fy.w * fx.y;
        c.column[r].south = fx.w * fy.x;
        c.column[r].north = fx.w * fy.y;
        c.column[r].more = fy.w * fx.z + fx.w * fy.z;
        c.column[r].diagonal = fy.w * (fx.x + fx.y + fx.z) + fx.w * (fy.x + fy.y + fy.z);
        c.column[r].mass = fx.w * fy.w;
    }
    return c;
}

// The neighbours of an item's r-th column in a plane; `level` is the plane in local memory.
#define IN_WEST(level) (level)[ly + r][lx - 1]
#define IN_EAST(level) (level)[ly + r][lx + 1]
#define IN_SOUTH(row, level) (r > 0 ? (row)[max(r - 1, 0)] : (level)[ly - 1][lx])
#define IN_NORTH(row, level) (r < ROWS - 1 ? (row)[min(r + 1, ROWS - 1)] : (level)[ly + ROWS][lx])

#ifndef START
// f - A u, of differences, so that a constant has no fluxes. A plane has its mass, the couplings below and above, and what the diagonal has more.
inline REAL residual_at(REAL4 plane, const column_type *c, REAL f, REAL u, REAL west, REAL east, REAL south, REAL north,
                        REAL below, REAL above)
{
    const REAL in_plane = c->west * (u - west) + c->east * (u - east) + c->south * (u - south) + c->north * (u - north) + c->more * u;
    const REAL across = plane.y * (u - below) + plane.z * (u - above) + plane.w * u;
    return f - (plane.x * in_plane + c->mass * across);
}

// coarse = transposed interpolation of f - A u. When plane k of u is read, the residual is taken on plane k - 1; weighted along z it is put into
// local memory when all parts of a coarse plane are there, and weighted in the plane in the next step.
__kernel __attribute__((reqd_work_group_size(COLUMNS, LOCAL / COLUMNS, 1))) void
restrict_tile(ulong nx, ulong ny, ulong nz, ulong mx, ulong my, ulong mz, uint periodic, uint tiles, uint planes,
              __global const REAL *reals, __global const uint *numbers, __global const REAL *f, __global const REAL *u,
              __global REAL *coarse)
{
    __local REAL levels[2][HEIGHT][COLUMNS];
    __local REAL weighted[2][HEIGHT][COLUMNS];
    const int lx = (int)get_local_id(0), ly = (int)get_local_id(1) * ROWS, padded = (int)nz + 2 * PAD;
    const int x = (int)get_group_id(0) * (COLUMNS - RIM - FAR_RIM) - RIM + lx;
    const int y = (int)(get_group_id(1) % tiles) * (HEIGHT - RIM - FAR_RIM) - RIM + ly;
    const int begin = (int)(get_group_id(1) / tiles * planes), end = min(begin + (int)planes, (int)nz);
    const int start = begin - RIM;
    START_RING(start);
    barrier(CLK_LOCAL_MEM_FENCE);
    __global const int *owned_x = places + RECORD * padded + 2 * nx + 2 * ny;
    __global const int *owned_y = owned_x + nx;
    __global const REAL4 *along_x = (__global const REAL4 *)(reals + RECORD * padded), *along_y = along_x + nx;
    __global const REAL4 *gather_x = along_y + ny, *gather_y = gather_x + nx;
    const columns mine = columns_at((int)nx, (int)ny, periodic, x, y, lx, ly, along_x, along_y);
    const size_t plane = (size_t)nx * (size_t)ny;
    REAL next[ROWS], a[ROWS], b[ROWS], c[ROWS], fa[ROWS], fb[ROWS], first[ROWS], second[ROWS];
    int owned[ROWS];
    int complete = -1;
    (void)mz;
    for (int r = 0; r < ROWS; ++r) {
        a[r] = b[r] = c[r] = fa[r] = fb[r] = first[r] = second[r] = ZERO;
        next[r] = mine.there[r] ? u[PLACE(start) * plane + mine.at[r]] : ZERO;
        owned[r] = -1;
        if (mine.own[r] && owned_x[x] >= 0 && owned_y[y + r] >= 0) {
            owned[r] = owned_y[y + r] * (int)mx + owned_x[x];
        }
    }
    // Three planes after the last one its coarse plane is complete, and written two steps later.
    for (int k = start; k < end + 5; ++k) {
        const size_t at = PLACE(k) * plane, above = PLACE(k + 1) * plane;
        ADVANCE_RING(k);
        for (int r = 0; r < ROWS; ++r) {
            c[r] = b[r];
            b[r] = a[r];
            a[r] = next[r];
            fb[r] = fa[r];
            next[r] = mine.there[r] ? u[above + mine.at[r]] : ZERO;
            fa[r] = mine.inner[r] ? f[at + mine.at[r]] : ZERO;
            levels[k & 1][ly + r][lx] = a[r];
        }
        if (complete >= 0) {
            __local REAL(*full)[COLUMNS] = weighted[(k - 1) & 1];
            for (int r = 0; r < ROWS; ++r) {
                if (owned[r] >= 0) {
                    const REAL4 px = gather_x[x], py = gather_y[y + r];
                    REAL sums[4];
                    for (int d = 0; d < 4; ++d) {
                        __local const REAL *row = &full[ly + r + d - 1][lx];
                        sums[d] = px.x * *(row - 1) + px.y * row[0] + px.z * row[1] + px.w * row[2];
                    }
                    coarse[(size_t)complete * (size_t)mx * (size_t)my + (size_t)owned[r]] =
                        py.x * sums[0] + py.y * sums[1] + py.z * sums[2] + py.w * sums[3];
                }
            }
            complete = -1;
        }
        if (BASE(k - 1) > BASE(k - 2)) {
            for (int r = 0; r < ROWS; ++r) {
                weighted[k & 1][ly + r][lx] = first[r];
                first[r] = second[r];
                second[r] = ZERO;
            }
            complete = OWNER(k - 1) >= begin && OWNER(k - 1) < end ? COMPLETED(k - 1) : -1;
        }
        __local REAL(*level)[COLUMNS] = levels[(k - 1) & 1];
        const REAL4 factors = FACTORS(k - 1);
        const REAL2 parts = PARTS(k - 1);
        for (int r = 0; r < ROWS; ++r) {
            if (mine.inner[r] && k > start) {
                const REAL d = residual_at(factors, &mine.column[r], fb[r], b[r], IN_WEST(level), IN_EAST(level),
                                           IN_SOUTH(b, level), IN_NORTH(b, level), c[r], a[r]);
                first[r] += parts.x * d;
                second[r] += parts.y * d;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
#else
#define GIVEN 0
#define FROM_ZERO 1
#define CORRECTED 2

// u relaxed at the r-th column of an item.
#define RELAXED(plane, c, weight, f, u, u_west, u_east, u_south, u_north, u_below, u_above)                            \
    ((ONE - omega) * (u) +                                                                                             \
     (weight) * ((f) + ((plane).x * ((c).west * (u_west) + (c).east * (u_east) + (c).south * (u_south) + (c).north * (u_north)) + \
                        (c).mass * ((plane).y * (u_below) + (plane).z * (u_above)))))

// out = a red-black sweep, `colour` first, from u GIVEN; from 0, FROM_ZERO; from u CORRECTED by the interpolant of `coarse`.
//
// When plane k is read, the first colour is relaxed on plane k - 1 and the second on plane k - 2. A colour reads only the other one, so that one
// barrier a plane is enough.
__kernel __attribute__((reqd_work_group_size(COLUMNS, LOCAL / COLUMNS, 1))) void
sweep_tile(ulong nx, ulong ny, ulong nz, ulong mx, ulong my, ulong mz, uint periodic, uint tiles, uint planes, uint colour,
           REAL omega, __global const REAL *reals, __global const uint *numbers, __global const REAL *f, __global const REAL *u,
           __global const REAL *coarse, __global REAL *out)
{
    __local REAL levels[3][HEIGHT][COLUMNS];
    const int lx = (int)get_local_id(0), ly = (int)get_local_id(1) * ROWS, padded = (int)nz + 2 * PAD;
    const int x = (int)get_group_id(0) * (COLUMNS - 2 * RIM) - RIM + lx;
    const int y = (int)(get_group_id(1) % tiles) * (HEIGHT - 2 * RIM) - RIM + ly;
    const int begin = (int)(get_group_id(1) / tiles * planes), end = min(begin + (int)planes, (int)nz);
    const int start = begin - RIM;
    START_RING(start);
    barrier(CLK_LOCAL_MEM_FENCE);
    __global const REAL4 *along_x = (__global const REAL4 *)(reals + RECORD * padded), *along_y = along_x + nx;
    const columns mine = columns_at((int)nx, (int)ny, periodic, x, y, lx, ly, along_x, along_y);
    const size_t plane = (size_t)nx * (size_t)ny;
    REAL next[ROWS], a[ROWS], b[ROWS], c[ROWS], d[ROWS], fa[ROWS], fb[ROWS], fc[ROWS], weight_b[ROWS], weight_c[ROWS];
    int known = -1;
#if START == CORRECTED
    // The parts of four coarse values that a column takes and where they are; those of the coarse plane that comes next, and the interpolants on the
    // base plane and on the one above.
    __global const REAL2 *parts_x = (__global const REAL2 *)(along_y + 2 * ny + nx), *parts_y = parts_x + nx;
    __global const int *pairs_x = places + RECORD * padded, *pairs_y = pairs_x + 2 * nx;
    const int px = place_of(x, (int)nx, periodic & 1);
    const int west_x = pairs_x[2 * px], east_x = pairs_x[2 * px + 1];
    const REAL2 part_x = parts_x[px];
    REAL2 part_y[ROWS];
    REAL arriving[ROWS][4], low[ROWS], high[ROWS];
    int rows[ROWS][2];
    for (int r = 0; r < ROWS; ++r) {
        const int py = place_of(y + r, (int)ny, periodic & 2);
        part_y[r] = mine.there[r] ? parts_y[py] : (REAL2)ZERO;
        rows[r][0] = pairs_y[2 * py] * (int)mx, rows[r][1] = pairs_y[2 * py + 1] * (int)mx;
    }
#define ARRIVE(number)                                                                                                 \
    {                                                                                                                  \
        __global const REAL *from = coarse + (size_t)(number) * (size_t)mx * (size_t)my;                               \
        for (int r = 0; r < ROWS; ++r) {                                                                               \
            for (int e = 0; e < 2; ++e) {                                                                              \
                arriving[r][2 * e] = from[rows[r][e] + west_x];                                                        \
                arriving[r][2 * e + 1] = from[rows[r][e] + east_x];                                                    \
            }                                                                                                          \
        }                                                                                                              \
    }
#define STEP_UP                                                                                                        \
    for (int r = 0; r < ROWS; ++r) {                                                                                   \
        low[r] = high[r];                                                                                              \
        high[r] = part_y[r].x * (part_x.x * arriving[r][0] + part_x.y * arriving[r][1]) +                              \
                  part_y[r].y * (part_x.x * arriving[r][2] + part_x.y * arriving[r][3]);                               \
    }
    const int base = BASE(start - 1);
    for (int r = 0; r < ROWS; ++r) {
        high[r] = arriving[r][0] = arriving[r][1] = arriving[r][2] = arriving[r][3] = ZERO;
    }
    for (int ahead = 0; ahead < 3; ++ahead) {
        STEP_UP;
        ARRIVE(place_of(base + ahead, (int)mz, periodic & 4));
    }
#else
    (void)coarse, (void)mx, (void)my, (void)mz;
#endif
    for (int r = 0; r < ROWS; ++r) {
        a[r] = b[r] = c[r] = d[r] = fa[r] = fb[r] = fc[r] = weight_b[r] = weight_c[r] = ZERO;
        next[r] = START != FROM_ZERO && mine.there[r] ? u[PLACE(start) * plane + mine.at[r]] : ZERO;
    }
    for (int k = start; k < end + RIM; ++k) {
        const size_t at = PLACE(k) * plane, above = PLACE(k + 1) * plane;
        ADVANCE_RING(k);
        for (int r = 0; r < ROWS; ++r) {
            d[r] = c[r];
            c[r] = b[r];
            b[r] = a[r];
            a[r] = next[r];
            fc[r] = fb[r];
            fb[r] = fa[r];
            next[r] = START != FROM_ZERO && mine.there[r] ? u[above + mine.at[r]] : ZERO;
            fa[r] = mine.inner[r] ? f[at + mine.at[r]] : ZERO;
        }
#if START == CORRECTED
        if (BASE(k) > BASE(k - 1)) {
            STEP_UP;
            ARRIVE(NEXT_PLACE(k));
        }
        const REAL2 parts = PARTS(k);
        for (int r = 0; r < ROWS; ++r) {
            a[r] += parts.x * low[r] + parts.y * high[r];
        }
#endif
        for (int r = 0; r < ROWS; ++r) {
            levels[(k + 3) % 3][ly + r][lx] = a[r];
        }
        const uint parity = (uint)(x + y + k - 1) + colour;
        {
            __local REAL(*level)[COLUMNS] = levels[(k + 5) % 3];
            for (int r = 0; r < ROWS; ++r) {
                weight_c[r] = weight_b[r];
            }
            const REAL4 factors = FACTORS(k - 1);
            if (KIND(k - 1) != known) {
                known = KIND(k - 1);
                for (int r = 0; r < ROWS; ++r) {
                    const REAL across = factors.y + factors.z + factors.w;
                    const REAL diagonal = factors.x * mine.column[r].diagonal + mine.column[r].mass * across;
                    weight_b[r] = diagonal > ZERO ? omega / diagonal : ZERO;
                }
            }
            for (int r = 0; r < ROWS; ++r) {
                if (mine.inner[r] && k > start && ((parity + r) & 1) == 0) {
                    b[r] = RELAXED(factors, mine.column[r], weight_b[r], fb[r], b[r], IN_WEST(level), IN_EAST(level),
                                   IN_SOUTH(b, level), IN_NORTH(b, level), c[r], a[r]);
                    level[ly + r][lx] = b[r];
                }
            }
        }
        {
            __local REAL(*level)[COLUMNS] = levels[(k + 4) % 3];
            const REAL4 factors = FACTORS(k - 2);
            for (int r = 0; r < ROWS; ++r) {
                if (mine.inner[r] && k > start + 1 && ((parity + r) & 1) == 0) {
                    c[r] = RELAXED(factors, mine.column[r], weight_c[r], fc[r], c[r], IN_WEST(level), IN_EAST(level),
                                   IN_SOUTH(c, level), IN_NORTH(c, level), d[r], b[r]);
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
