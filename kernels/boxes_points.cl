// Between the points of a box of nx by ny by nz and its unknowns, mx by my by mz of them from place `offset` on; x runs
// fastest. `masses` has the widths of the cells around the unknowns along x, then y, then z; of two dimensions there is
// one plane, whose width is 1. `values` has the values of all sides one after the other.
//
// Traffic per unknown, f64, where neighbours and widths come from cache:
//   integrate             16 B          integrate_averaged    16 B
//   subtract_masses       16 B          take_unknowns         16 B          put_unknowns          16 B
// Per point of a side:
//   add_side              24 B          hold_side             16 B          take_side             16 B
//
// GPUs: a point per item. CPUs: a run of rows per item.
//@ build
//@ build CPU=1
#include "common.clh"
#include "grid.clh"

#ifdef CPU
#define EACH_ROW(q, rows) for (size_t q = PART_BEGIN((size_t)(rows)), end = PART_END((size_t)(rows)); q < end; ++q)
#define EACH_COLUMN(i, count) for (size_t i = 0; i < (count); ++i)
#else
#define EACH_ROW(q, rows) for (size_t q = get_global_id(1); q < (rows); q += get_global_size(1))
#define EACH_COLUMN(i, count) for (size_t i = get_global_id(0); i < (count); i += get_global_size(0))
#endif

// Where row q of the unknowns lies among the points, and what the cells of the row have in common.
#define ROW_OF_POINTS(q, my, nx, ny, offset) ((offset) + ((q) / (my) * (ny) + (q) % (my)) * (nx))
#define MASS_OF_ROW(q, mx, my, masses) ((masses)[(mx) + (q) % (my)] * (masses)[(mx) + (my) + (q) / (my)])

// b = f integrated over the cells.
__kernel void integrate(ulong mx, ulong my, ulong mz, ulong nx, ulong ny, ulong offset, __global const REAL *masses,
                        __global const REAL *f, __global REAL *b)
{
    EACH_ROW(q, my * mz)
    {
        __global const REAL *row = f + ROW_OF_POINTS(q, my, nx, ny, offset);
        const REAL mass = MASS_OF_ROW(q, mx, my, masses);
        EACH_COLUMN(i, mx)
        {
            b[q * mx + i] = mass * masses[i] * row[i];
        }
    }
}

// The second difference at place i of n along a direction; only periodic directions have unknowns at their ends.
#define DIFFERENCE(f, at, i, n, stride)                                                                                \
    ((f)[(i) == 0 ? (at) + ((n)-1) * (stride) : (at) - (stride)] - (f)[at] - (f)[at] +                                 \
     (f)[(i) + 1 == (n) ? (at) - ((n)-1) * (stride) : (at) + (stride)])

// The same of f plus `twelfth` times its second differences. A direction of one point has none.
__kernel void integrate_averaged(ulong mx, ulong my, ulong mz, ulong nx, ulong ny, ulong nz, ulong offset, REAL twelfth,
                                 __global const REAL *masses, __global const REAL *f, __global REAL *b)
{
    EACH_ROW(q, my * mz)
    {
        const size_t start = ROW_OF_POINTS(q, my, nx, ny, offset), plane = (size_t)nx * ny;
        const size_t j = start / nx % ny, k = start / plane, first = start % nx;
        const REAL mass = MASS_OF_ROW(q, mx, my, masses);
        EACH_COLUMN(i, mx)
        {
            const size_t at = start + i;
            REAL value = f[at] + twelfth * DIFFERENCE(f, at, first + i, nx, 1);
            value += twelfth * DIFFERENCE(f, at, j, ny, nx);
            value += twelfth * DIFFERENCE(f, at, k, nz, plane);
            b[q * mx + i] = mass * masses[i] * value;
        }
    }
}

// A side of `width` by `height` unknowns, which lie `stride` and `pitch` apart from place `first` of b on, adds `load`
// times its values integrated over the ends of the cells: along a row those from place `from` on, rows `step` apart. The
// widths of the cells are the masses from places `across` and `along` on.
__kernel void add_side(ulong width, ulong height, ulong first, ulong stride, ulong pitch, REAL load, ulong from,
                       ulong step, ulong across, ulong along, __global const REAL *masses, __global const REAL *values,
                       __global REAL *b)
{
    EACH_ROW(q, height)
    {
        EACH_COLUMN(i, width)
        {
            const REAL area = load * masses[across + i] * masses[along + q];
            b[first + q * pitch + i * stride] += area * values[from + q * step + i];
        }
    }
}

// b -= share times the sizes of the cells.
__kernel void subtract_masses(ulong mx, ulong my, ulong mz, REAL share, __global const REAL *masses, __global REAL *b)
{
    EACH_ROW(q, my * mz)
    {
        const REAL mass = MASS_OF_ROW(q, mx, my, masses);
        EACH_COLUMN(i, mx)
        {
            b[q * mx + i] -= share * (mass * masses[i]);
        }
    }
}

// x = u at the unknowns.
__kernel void take_unknowns(ulong mx, ulong my, ulong mz, ulong nx, ulong ny, ulong offset, __global const REAL *u,
                            __global REAL *x)
{
    EACH_ROW(q, my * mz)
    {
        __global const REAL *row = u + ROW_OF_POINTS(q, my, nx, ny, offset);
        EACH_COLUMN(i, mx)
        {
            x[q * mx + i] = row[i];
        }
    }
}

// u = x - mean at the unknowns.
__kernel void put_unknowns(ulong mx, ulong my, ulong mz, ulong nx, ulong ny, ulong offset, REAL mean,
                           __global const REAL *x, __global REAL *u)
{
    EACH_ROW(q, my * mz)
    {
        __global REAL *row = u + ROW_OF_POINTS(q, my, nx, ny, offset);
        EACH_COLUMN(i, mx)
        {
            row[i] = x[q * mx + i] - mean;
        }
    }
}

// u = the values from place `from` on, rows `step` apart, at the points of a side of `width` by `height`, which lie
// `stride` and `pitch` apart from place `first` on.
__kernel void hold_side(ulong width, ulong height, ulong first, ulong stride, ulong pitch, ulong from, ulong step,
                        __global const REAL *values, __global REAL *u)
{
    EACH_ROW(q, height)
    {
        EACH_COLUMN(i, width)
        {
            u[first + q * pitch + i * stride] = values[from + q * step + i];
        }
    }
}

// The values from place `from` on = u at these points.
__kernel void take_side(ulong width, ulong height, ulong first, ulong stride, ulong pitch, ulong from,
                        __global const REAL *u, __global REAL *values)
{
    EACH_ROW(q, height)
    {
        EACH_COLUMN(i, width)
        {
            values[from + q * width + i] = u[first + q * pitch + i * stride];
        }
    }
}
