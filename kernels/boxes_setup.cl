// Set-up of multigrid on boxes with operators given by couplings, in the notation of boxes_stencil.cl: the finest operator from a coefficient or a
// tensor, what the values of the sides add to its right-hand side, and the Galerkin operators P' A P, one direction after the other.
//
// `used` is how many of the offsets below have couplings: those along the directions, or all. Tables have seven numbers for each unknown of each
// direction, x first, then y, then z; a third direction that is not there has one unknown between one cell and none.
//   places     cell before, cell after; what is before and after (0 nothing, 1 a point where u is given, 2 an unknown); points before, own, after
//   factors    half the lengths of both cells (0 without a cell); D over these lengths, on cell-centred grids half the length over D;
//              width of the cell around the unknown; alpha of the side before and after (0 within the box, negative: Dirichlet, of cells)
// `entries` are those off the diagonal of D that are constant, or factors of those in `field`: xy, xz, yz. `field` has what varies, by `kind`:
//   0 nothing      1 a coefficient per point      2 one per cell
//   3 a tensor per cell: its entries xx, yy, zz and, where not all are 0, xy, xz, yz, one after the other (xx, yy, xy in two dimensions)
//   4 the coupling of each offset, the same at all points
// It is that of lx by ly by lz points or cells.
//
// Traffic, f64, where neighbours come from cache: couple_* and finest_cells 8 B per value of `field` and 8 B per coupling and mass;
// add_side_cells 24 B per cell at the side; parts_along 8 B per coupling and part; coarsen_* 8 B per fine coupling, mass and part and per coarse coupling and mass;
// write_diagonal 8 B per coupling and mass and 8 B.
//
// GPUs: a point per item. CPUs: a run of rows per item.
//@ build DIM=2
//@ build DIM=3
//@ build DIM=2 CPU=1
//@ build DIM=3 CPU=1
//@ one_program
#include "common.clh"
#include "grid.clh"
#include "boxes_stencil.clh"

// Half of the offsets, and for (dx + 1) + 3 (dy + 1) + 9 (dz + 1) one more than the number of an offset, negative for the opposite of one.
#if DIM == 3
#define OFFSETS 13
__constant char STEPS[3 * OFFSETS] = {1, 0, 0, 0, 1, 0,  0, 0, 1, 1, 1, 0,  -1, 1, 0, 1,  0, 1, -1, 0,
                                      1, 0, 1, 1, 0, -1, 1, 1, 1, 1, -1, 1, 1,  1, -1, 1, -1, -1, 1};
__constant char NUMBERS[27] = {-10, -8, -11, -6, -3, -7, -12, -9, -13, -4, -2, -5, -1, 0, 1, 5, 2, 4, 13, 9, 12, 7, 3, 6, 11, 8, 10};
#else
#define OFFSETS 4
__constant char STEPS[3 * OFFSETS] = {1, 0, 0, 0, 1, 0, 1, 1, 0, -1, 1, 0};
__constant char NUMBERS[27] = {0, 0, 0, 0, 0, 0, 0, 0, 0, -3, -2, -4, -1, 0, 1, 4, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0};
#endif

// Positions and steps by direction.
typedef struct {
    int x, y, z;
} place_type;

inline place_type place(size_t x, size_t y, size_t z)
{
    const place_type at = {(int)x, (int)y, (int)z};
    return at;
}

inline place_type steps_of(uint offset)
{
    const place_type steps = {STEPS[3 * offset], STEPS[3 * offset + 1], STEPS[3 * offset + 2]};
    return steps;
}

inline place_type opposite(place_type steps)
{
    const place_type other = {-steps.x, -steps.y, -steps.z};
    return other;
}

inline int along(place_type at, uint axis)
{
    return axis == 0 ? at.x : axis == 1 ? at.y : at.z;
}

inline place_type with_along(place_type at, uint axis, int value)
{
    const place_type other = {axis == 0 ? value : at.x, axis == 1 ? value : at.y, axis == 2 ? value : at.z};
    return other;
}

inline int step_within(int i, int step, int n)
{
    return step == 0 ? i : step > 0 ? AFTER(i, n) : BEFORE(i, n);
}

// The point at an offset of a box of `counts`, going on at the opposite side.
inline place_type neighbour(place_type at, place_type steps, place_type counts)
{
    const place_type to = {step_within(at.x, steps.x, counts.x), step_within(at.y, steps.y, counts.y),
                           step_within(at.z, steps.z, counts.z)};
    return to;
}

inline size_t index_of(place_type at, place_type counts)
{
    return ((size_t)at.z * counts.y + at.y) * counts.x + at.x;
}

// The interpolation weights of the first of two coarse points where direction `axis` becomes coarser: those for which the equation of a fine point
// holds for errors that change along the direction only. Fine point i has the coarse points from[2 i] and from[2 i + 1], a single one twice;
// weights[i] is taken where the couplings on one side are not positive.
__kernel void parts_along(uint nx, uint ny, uint nz, uint axis, uint used, ulong first, __global const uint *from,
                          __global const REAL *weights, __global const REAL *c, __global REAL *parts)
{
    const place_type counts = place(nx, ny, nz);
    const size_t points = (size_t)nx * ny * nz;
    EACH_ROW(q, (size_t)ny * nz)
    {
        EACH_COLUMN(i, 0, nx, 1)
        {
            const place_type at = place(i, q % ny, q / ny);
            const size_t line = first + along(at, axis), p = q * nx + i;
            REAL part = ONE;
            if (from[2 * line] != from[2 * line + 1]) {
                REAL before = ZERO, after = ZERO;
                for (uint o = 0; o < used; ++o) {
                    const place_type steps = steps_of(o);
                    const int step = along(steps, axis);
                    const REAL there = c[o * points + p];
                    const REAL back = c[o * points + index_of(neighbour(at, opposite(steps), counts), counts)];
                    after += step > 0 ? there : step < 0 ? back : ZERO;
                    before += step > 0 ? back : step < 0 ? there : ZERO;
                }
                part = before > ZERO && after > ZERO ? before / (before + after) : weights[line];
            }
            parts[p] = part;
        }
    }
}

// The operator P' A P on a box of nx by ny by nz with `m` points along `axis`. A fine point p between two coarse ones has parts[p] of the first
// and the rest of the second. Coarse point i takes fine point to[3 i + l] / 2 for l = 0 to 2, as its second where the lowest bit is set; UINT_MAX
// stands for none. The differences of a pair of fine points are differences of at most four coarse ones: of those along `axis`, here, with the
// masses, and of those in different lines.
__kernel void coarsen_along(uint nx, uint ny, uint nz, uint m, uint axis, uint used, ulong first_fine, ulong first_coarse,
                            __global const uint *from, __global const uint *to, __global const REAL *parts,
                            __global const REAL *c, __global const REAL *mass, __global REAL *coarse, __global REAL *coarse_mass)
{
    const place_type counts = place(nx, ny, nz), wide = with_along(counts, axis, (int)m);
    const size_t points = (size_t)nx * ny * nz;
    const int n = along(counts, axis);
    from += 2 * first_fine;
    to += 3 * first_coarse;
    EACH_ROW(row, (size_t)wide.y * wide.z)
    {
        EACH_COLUMN(column, 0, wide.x, 1)
        {
            const place_type at = place(column, row % wide.y, row / wide.y);
            __global const uint *takes = to + 3 * along(at, axis);
            REAL sum = ZERO, value = ZERO;
#pragma unroll 1
            for (uint l = 0; l < 3 && takes[l] != UINT_MAX; ++l) {
                const int f = (int)(takes[l] / 2), next = AFTER(f, n);
                const place_type here = with_along(at, axis, f);
                const size_t p = index_of(here, counts), after = index_of(with_along(at, axis, next), counts);
                const REAL part = takes[l] & 1 ? ONE - parts[p] : parts[p];
                const REAL own = c[axis * points + p];
                sum += part * mass[p];
                if (from[2 * f] == from[2 * f + 1]) {
                    // The pair of this point and the next, or the two pairs on both sides of the point that lies between them.
                    const REAL rest = from[2 * next] == from[2 * next + 1] ? ONE : ONE - parts[after];
                    value += own * rest * rest;
                } else if (!(takes[l] & 1)) {
                    // A point between both: its pair with the second, and the points of other lines that it is coupled with.
                    REAL others = ZERO;
#pragma unroll 1
                    for (uint o = 0; o < used; ++o) {
                        const size_t back = index_of(neighbour(here, opposite(steps_of(o)), counts), counts);
                        others += o == axis ? ZERO : c[o * points + p] + c[o * points + back];
                    }
                    value += part * (own * part - (ONE - part) * others);
                }
            }
            const size_t coarse_points = (size_t)wide.x * wide.y * wide.z, p = index_of(at, wide);
            coarse_mass[p] = sum;
            coarse[axis * coarse_points + p] = m == 1 ? ZERO : value;
        }
    }
}

// The coupling of the point at p with the one at q, `steps` from it.
inline REAL coupling_between(__global const REAL *c, size_t points, uint used, size_t p, size_t q, place_type steps)
{
    const int number = NUMBERS[steps.x + 1 + 3 * (steps.y + 1) + 9 * (steps.z + 1)];
    const uint o = (uint)abs(number) - 1;
    return o < used ? c[o * points + (number > 0 ? p : q)] : ZERO;
}

// The couplings of that operator at offset `o`, which leads to another line.
__kernel void coarsen_across(uint nx, uint ny, uint nz, uint m, uint axis, uint used, uint o, ulong first_fine,
                             ulong first_coarse, __global const uint *from, __global const uint *to,
                             __global const REAL *parts, __global const REAL *c, __global REAL *coarse)
{
    const place_type counts = place(nx, ny, nz), wide = with_along(counts, axis, (int)m);
    const place_type steps = steps_of(o);
    const int n = along(counts, axis), wanted = along(steps, axis);
    from += 2 * first_fine;
    to += 3 * first_coarse;
    EACH_ROW(row, (size_t)wide.y * wide.z)
    {
        EACH_COLUMN(column, 0, wide.x, 1)
        {
            const place_type at = place(column, row % wide.y, row / wide.y);
            __global const uint *takes = to + 3 * along(at, axis);
            REAL value = ZERO;
#pragma unroll 1
            for (uint l = 0; l < 3 && takes[l] != UINT_MAX; ++l) {
                const int f = (int)(takes[l] / 2), second = takes[l] & 1;
                const place_type here = with_along(at, axis, f);
                const size_t p = index_of(here, counts);
                REAL sum = ZERO;
#pragma unroll 1
                for (int step = -1; step <= 1; ++step) {
                    const int g = step_within(f, step, n);
                    const place_type way = with_along(steps, axis, step);
                    const size_t q = index_of(neighbour(here, way, counts), counts);
                    // Positions go on beyond the ends of a periodic direction; a single coarse point has all of them.
                    const int turns = step > 0 && g <= f ? (int)m : step < 0 && g >= f ? -(int)m : 0;
                    const int distance = wanted - ((int)from[2 * g] + turns - (int)from[2 * f] - second);
                    const REAL theirs = distance == 0 ? parts[q] : distance == 1 ? ONE - parts[q] : ZERO;
                    sum += coupling_between(c, (size_t)nx * ny * nz, used, p, q, way) * (m == 1 ? ONE : theirs);
                }
                value += sum * (second ? ONE - parts[p] : parts[p]);
            }
            const size_t coarse_points = (size_t)wide.x * wide.y * wide.z;
            coarse[o * coarse_points + index_of(at, wide)] = m == 1 && wanted != 0 ? ZERO : value;
        }
    }
}

// The diagonal of the matrix.
__kernel void write_diagonal(uint nx, uint ny, uint nz, uint used, __global const REAL *c, __global const REAL *mass,
                             __global REAL *diagonal)
{
    const place_type counts = place(nx, ny, nz);
    const size_t points = (size_t)nx * ny * nz;
    EACH_ROW(q, (size_t)ny * nz)
    {
        EACH_COLUMN(i, 0, nx, 1)
        {
            const place_type at = place(i, q % ny, q / ny);
            const size_t p = q * nx + i;
            REAL sum = mass[p];
            for (uint o = 0; o < used; ++o) {
                sum += c[o * points + p] + c[o * points + index_of(neighbour(at, opposite(steps_of(o)), counts), counts)];
            }
            diagonal[p] = sum;
        }
    }
}

// The row of an unknown in the tables, where the directions follow each other. PLACE and FACTOR read column `which` of that row.
inline size_t row_of(place_type counts, uint axis, place_type at)
{
    return (size_t)(axis > 0 ? counts.x : 0) + (axis > 1 ? counts.y : 0) + along(at, axis);
}

#define PLACE(axis, which) places[7 * row_of(counts, axis, at) + (which)]
#define FACTOR(axis, which) factors[7 * row_of(counts, axis, at) + (which)]

// The value of side `end` of direction `axis` at a point, given the places of the first values of all sides.
inline REAL side_value(place_type points, uint axis, uint end, place_type to, __global const uint *first, __global const REAL *values)
{
    return values[first[2 * axis + end] + index_of(with_along(to, axis, 0), with_along(points, axis, 1))];
}

// What the cells and sides around an unknown add to its mass.
inline REAL own_mass(place_type counts, __global const REAL *factors, REAL shift, place_type at)
{
    const REAL x = FACTOR(0, 4), y = FACTOR(1, 4), z = FACTOR(2, 4);
    return shift * x * y * z + (FACTOR(0, 5) + FACTOR(0, 6)) * y * z + (FACTOR(1, 5) + FACTOR(1, 6)) * x * z +
           (FACTOR(2, 5) + FACTOR(2, 6)) * x * y;
}

// Vertex-centred grids: bilinear or trilinear elements with the quadrature points at the corners of the cells, so that a diagonal D couples neighbours
// along the directions only. Each of the next three kernels has two modes. `sides` = 0: it writes couplings between unknowns to c and adds those
// with Dirichlet points to the masses in `sums`. `sides` = 1: it leaves c and adds the couplings with Dirichlet points times the values there to the
// right-hand side in `sums`. Where two sides meet, the values of the later direction hold.

// Couplings along the directions, for kinds 0 to 3; `sums` begin with the cells' own masses.
__kernel void couple_along(uint nx, uint ny, uint nz, uint lx, uint ly, uint lz, uint px, uint py, uint kind, uint sides,
                           REAL shift, __global const uint *places, __global const REAL *factors, __global const REAL *field,
                           __global const uint *first, __global const REAL *values, __global REAL *c, __global REAL *sums)
{
    const place_type counts = place(nx, ny, nz), lattice = place(lx, ly, lz);
    EACH_ROW(q, (size_t)ny * nz)
    {
        EACH_COLUMN(i, 0, nx, 1)
        {
            const place_type at = place(i, q % ny, q / ny);
            REAL sum = sides ? sums[q * nx + i] : own_mass(counts, factors, shift, at);
#pragma unroll 1
            for (uint way = 0; way < 2 * DIM; ++way) {
                const uint d = way / 2, after = way & 1, e = d == 0 ? 1 : 0, g = d == 2 ? 1 : 2;
                const uint there = PLACE(d, 2 + after);
                REAL value = ZERO;
                if (there == 1 || (there == 2 && after && !sides)) {
                    const place_type own = place(PLACE(0, 5), PLACE(1, 5), PLACE(2, 5));
                    const place_type to = with_along(own, d, PLACE(d, 4 + 2 * after));
                    if (kind == 1) {
                        // Between two points the harmonic mean.
                        const REAL k = field[index_of(own, lattice)], l = field[index_of(to, lattice)];
                        value = TWO * k * l / (k + l) * (FACTOR(e, 0) + FACTOR(e, 1)) * (FACTOR(g, 0) + FACTOR(g, 1));
                    } else {
#pragma unroll 1
                        for (uint side = 0; side < 4; ++side) {
                            place_type cell = with_along(at, d, PLACE(d, after));
                            cell = with_along(with_along(cell, e, PLACE(e, side & 1)), g, PLACE(g, side >> 1));
                            const size_t number = (kind == 3 ? d * (size_t)lx * ly * lz : 0) + index_of(cell, lattice);
                            value += FACTOR(e, side & 1) * FACTOR(g, side >> 1) * (kind == 0 ? ONE : field[number]);
                        }
                    }
                    value *= FACTOR(d, 2 + after);
                    if (there == 1) {
                        sum += sides ? value * side_value(place(px, py, 1), d, after, to, first, values) : value;
                    }
                }
                if (after && !sides) {
                    c[d * (size_t)nx * ny * nz + q * nx + i] = there == 2 ? value : ZERO;
                }
            }
            sums[q * nx + i] = sum;
        }
    }
}

// Couplings along the diagonals of planes: 2 d ux uy from the differences along both diagonals, of which one rises; 0 along those of the box.
__kernel void couple_diagonals(uint nx, uint ny, uint nz, uint lx, uint ly, uint lz, uint px, uint py, uint kind, uint sides,
                               __global const uint *places, __global const REAL *factors, __global const REAL *entries,
                               __global const REAL *field, __global const uint *first, __global const REAL *values,
                               __global REAL *c, __global REAL *sums)
{
    const place_type counts = place(nx, ny, nz), lattice = place(lx, ly, lz);
    EACH_ROW(q, (size_t)ny * nz)
    {
        EACH_COLUMN(i, 0, nx, 1)
        {
            const place_type at = place(i, q % ny, q / ny);
            REAL sum = sums[q * nx + i];
#pragma unroll 1
            for (uint way = 0; way < 4 * (2 * DIM - 3); ++way) {
                const uint plane = way / 4, after_a = way & 1, after_b = way / 2 & 1;
                const uint a = plane == 2 ? 1 : 0, b = plane == 0 ? 1 : 2, e = 2 - plane;
                const uint there = min(PLACE(a, 2 + after_a), PLACE(b, 2 + after_b));
                REAL value = ZERO;
                if (there == 1 || (there == 2 && after_b && !sides)) {
#pragma unroll 1
                    for (uint side = 0; side < 2; ++side) {
                        place_type cell = with_along(at, a, PLACE(a, after_a));
                        cell = with_along(with_along(cell, b, PLACE(b, after_b)), e, PLACE(e, side));
                        const size_t number =
                            (kind == 3 ? (DIM + plane) * (size_t)lx * ly * lz : 0) + index_of(cell, lattice);
                        value += FACTOR(e, side) * (kind == 0 ? ONE : field[number]);
                    }
                    value *= (after_a == after_b ? HALF : -HALF) * entries[plane];
                    if (there == 1) {
                        const uint owner = PLACE(b, 2 + after_b) == 1 ? b : a;
                        place_type to = place(PLACE(0, 5), PLACE(1, 5), PLACE(2, 5));
                        to = with_along(with_along(to, a, PLACE(a, 4 + 2 * after_a)), b, PLACE(b, 4 + 2 * after_b));
                        const uint end = owner == b ? after_b : after_a;
                        sum += sides ? value * side_value(place(px, py, 1), owner, end, to, first, values) : value;
                    }
                }
                if (after_b && !sides) {
                    c[(DIM + 2 * plane + 1 - after_a) * (size_t)nx * ny * nz + q * nx + i] = there == 2 ? value : ZERO;
                }
            }
            sums[q * nx + i] = sum;
        }
    }
}

// Couplings that are the same at all points, for kind 4; `sums` begin with the cells' own masses.
__kernel void couple_equally(uint nx, uint ny, uint nz, uint px, uint py, uint sides, REAL shift, __global const uint *places,
                             __global const REAL *factors, __global const REAL *field, __global const uint *first,
                             __global const REAL *values, __global REAL *c, __global REAL *sums)
{
    const place_type counts = place(nx, ny, nz);
    EACH_ROW(q, (size_t)ny * nz)
    {
        EACH_COLUMN(i, 0, nx, 1)
        {
            const place_type at = place(i, q % ny, q / ny);
            REAL sum = sides ? sums[q * nx + i] : own_mass(counts, factors, shift, at);
#pragma unroll 1
            for (uint way = 0; way < 2 * OFFSETS; ++way) {
                const place_type forward = steps_of(way / 2), steps = way & 1 ? opposite(forward) : forward;
                place_type to = at;
                uint there = 2, side = 0;
#pragma unroll 1
                for (uint d = 0; d < 3; ++d) {
                    const int step = along(steps, d);
                    const uint kind = step == 0 ? 2 : PLACE(d, step > 0 ? 3 : 2);
                    side = kind == 1 ? 2 * d + (step > 0) : side;
                    there = min(there, kind);
                    to = with_along(to, d, PLACE(d, 5 + step));
                }
                const REAL value = field[way / 2];
                if (there == 1) {
                    sum += sides ? value * side_value(place(px, py, 1), side / 2, side & 1, to, first, values) : value;
                }
                if (!(way & 1) && !sides) {
                    c[way / 2 * (size_t)nx * ny * nz + q * nx + i] = there == 2 ? value : ZERO;
                }
            }
            sums[q * nx + i] = sum;
        }
    }
}

// The resistance of half a cell along `axis`: from its middle to its face.
inline REAL half_of(uint kind, place_type counts, __global const REAL *factors, __global const REAL *field, size_t cells,
                    place_type at, uint axis)
{
    const size_t cell = index_of(at, counts);
    const REAL k = kind == 2 ? field[cell] : kind == 3 ? field[axis * cells + cell] : ONE;
    return FACTOR(axis, 2) / k;
}

// Cell-centred grids: finite volumes, where the flux between two middles passes two resistances in series, which gives the harmonic mean.
__kernel void finest_cells(uint nx, uint ny, uint nz, uint kind, REAL shift, __global const uint *places,
                           __global const REAL *factors, __global const REAL *field, __global REAL *c, __global REAL *mass)
{
    const place_type counts = place(nx, ny, nz);
    const size_t cells = (size_t)nx * ny * nz;
    EACH_ROW(q, (size_t)ny * nz)
    {
        EACH_COLUMN(i, 0, nx, 1)
        {
            const place_type at = place(i, q % ny, q / ny);
            const size_t p = q * nx + i;
            const REAL volume = FACTOR(0, 4) * FACTOR(1, 4) * FACTOR(2, 4);
            REAL sum = shift * volume;
#pragma unroll 1
            for (uint d = 0; d < DIM; ++d) {
                const REAL area = volume / FACTOR(d, 4), own = half_of(kind, counts, factors, field, cells, at, d);
                REAL coupling = ZERO;
                if (PLACE(d, 3) == 2) {
                    const place_type to = with_along(at, d, PLACE(d, 6));
                    coupling = area / (own + half_of(kind, counts, factors, field, cells, to, d));
                }
                c[d * cells + p] = coupling;
                for (uint end = 0; end < 2; ++end) {
                    const REAL alpha = FACTOR(d, 5 + end), beta = ONE / own;
                    sum += area * (alpha < ZERO ? beta : alpha * beta / (alpha + beta));
                }
            }
            mass[p] = sum;
        }
    }
}

// b += what the cells at a Dirichlet or Robin side take from its values.
__kernel void add_side_cells(uint nx, uint ny, uint nz, uint axis, uint end, uint kind, __global const REAL *factors,
                             __global const REAL *field, __global const uint *first, __global const REAL *values,
                             __global REAL *b)
{
    const place_type counts = place(nx, ny, nz), face = with_along(counts, axis, 1);
    EACH_ROW(q, (size_t)face.y * face.z)
    {
        EACH_COLUMN(i, 0, face.x, 1)
        {
            const place_type across = place(i, q % face.y, q / face.y);
            const place_type at = with_along(across, axis, end ? along(counts, axis) - 1 : 0);
            const REAL area = FACTOR(0, 4) * FACTOR(1, 4) * FACTOR(2, 4) / FACTOR(axis, 4);
            const REAL own = half_of(kind, counts, factors, field, (size_t)nx * ny * nz, at, axis);
            const REAL alpha = FACTOR(axis, 5 + end), beta = ONE / own;
            b[index_of(at, counts)] += area * (alpha < ZERO ? beta : beta / (alpha + beta)) *
                                       side_value(counts, axis, end, across, first, values);
        }
    }
}
