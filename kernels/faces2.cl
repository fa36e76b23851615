// The problem -div(a grad u) + shift u = f on n by n points, boundary included: point (i, j) is
// u[j n + i], h = 1 / (n - 1). The coefficient between (i, j) and (i + 1, j) is x[j n + i], that between
// (i, j) and (i, j + 1) is y[j n + i]. Built with NINE for the coarser grids, that between (i, j) and
// (i + 1, j + 1) is rising[j n + i], that between (i + 1, j) and (i, j + 1) is falling[j n + i], and the
// shift of a point is multiplied by mass[j n + i]. Boundary values of u are never changed by a smoother,
// those of f are never read.
//
// Traffic per point, f64, where every neighbour comes from cache: 40 B, with NINE 64 B; for red_black per
// launch, which with NINE is of a quarter of the points, and there are four in a sweep. Transfers: 34 B.
//
// GPUs: a point per item. CPUs: a run of rows per item.
//@ build
//@ build CPU=1
//@ variant Nine NINE=1
//@ build Nine
//@ build Nine CPU=1
#include "common.clh"
#include "grid.clh"

#ifdef CPU
#define EACH_ROW(j, from, to)                                                                            \
    for (size_t j = max(PART_BEGIN((size_t)(to)), (size_t)(from)); j < PART_END((size_t)(to)); ++j)
#define EACH_COLUMN(i, from, to, step) for (size_t i = (from); i < (to); i += (step))
#else
#define EACH_ROW(j, from, to) for (size_t j = get_global_id(1) + (from); j < (to); j += get_global_size(1))
#define EACH_COLUMN(i, from, to, step)                                                                   \
    for (size_t i = get_global_id(0) * (step) + (from); i < (to); i += get_global_size(0) * (step))
#endif

#ifdef NINE
#define FACES                                                                                            \
    __global const REAL *x, __global const REAL *y, __global const REAL *rising, __global const REAL *falling
#define GIVEN x, y, rising, falling
#define MASS __global const REAL *mass,
#define SHIFTED(shift, p) ((shift) * mass[p])
#define CLASS uint odd,
#else
#define FACES __global const REAL *x, __global const REAL *y
#define GIVEN x, y
#define MASS
#define SHIFTED(shift, p) (shift)
#define CLASS
#endif

// Sum of the coefficients around the point at `p`.
inline REAL total(size_t n, FACES, size_t p)
{
    REAL sum = y[p - n] + x[p - 1] + x[p] + y[p];
#ifdef NINE
    sum = sum + rising[p - n - 1] + falling[p - n] + falling[p - 1] + rising[p];
#endif
    return sum;
}

// The value that solves the equation of the point at `p`, whose shift is given times h^2.
inline REAL relaxed(size_t n, REAL h2, REAL shift_h2, FACES, __global const REAL *f, __global const REAL *u, size_t p)
{
    const REAL south = y[p - n], west = x[p - 1], east = x[p], north = y[p];
    REAL sum = south * u[p - n] + west * u[p - 1] + east * u[p + 1] + north * u[p + n];
#ifdef NINE
    sum = sum + rising[p - n - 1] * u[p - n - 1] + falling[p - n] * u[p - n + 1] + falling[p - 1] * u[p + n - 1] +
          rising[p] * u[p + n + 1];
#endif
    return (h2 * f[p] + sum) / (total(n, GIVEN, p) + shift_h2);
}

// out = one weighted Jacobi sweep over u; u on the boundary.
__kernel void jacobi(ulong n, REAL h2, REAL shift_h2, REAL omega, FACES, MASS __global const REAL *f,
                     __global const REAL *u, __global REAL *out)
{
    EACH_ROW(j, 0, n)
    {
        EACH_COLUMN(i, 0, n, 1)
        {
            const size_t p = j * n + i;
            REAL value = u[p];
            if (i > 0 && i < n - 1 && j > 0 && j < n - 1) {
                value += omega * (relaxed(n, h2, SHIFTED(shift_h2, p), GIVEN, f, u, p) - value);
            }
            out[p] = value;
        }
    }
}

// Part of a Gauss-Seidel sweep: the interior points with (i + j) % 2 == colour, with NINE those of them with
// i % 2 == odd.
__kernel void red_black(ulong n, uint colour, CLASS REAL h2, REAL shift_h2, FACES, MASS __global const REAL *f,
                        __global REAL *u)
{
#ifdef NINE
    EACH_ROW(row, 0, (n - 1) / 2)
    {
        const size_t j = 2 * row + 1 + (1 ^ odd ^ colour);
        // Of even rows there is one less.
        EACH_COLUMN(i, 2 - odd, j < n - 1 ? n - 1 : 0, 2)
        {
            const size_t p = j * n + i;
            u[p] = relaxed(n, h2, SHIFTED(shift_h2, p), GIVEN, f, u, p);
        }
    }
#else
    EACH_ROW(j, 1, n - 1)
    {
        EACH_COLUMN(i, 1 + ((j + 1 + colour) & 1), n - 1, 2)
        {
            const size_t p = j * n + i;
            u[p] = relaxed(n, h2, SHIFTED(shift_h2, p), GIVEN, f, u, p);
        }
    }
#endif
}

// d = f + div_h(a grad_h u) - shift u inside, 0 on the boundary. Fluxes are taken of differences, so that a
// constant has none.
__kernel void defect(ulong n, REAL inverse_h2, REAL shift, FACES, MASS __global const REAL *f, __global const REAL *u,
                     __global REAL *d)
{
    EACH_ROW(j, 0, n)
    {
        EACH_COLUMN(i, 0, n, 1)
        {
            const size_t p = j * n + i;
            REAL value = ZERO;
            if (i > 0 && i < n - 1 && j > 0 && j < n - 1) {
                const REAL centre = u[p];
                REAL sum = y[p - n] * (u[p - n] - centre) + x[p - 1] * (u[p - 1] - centre) +
                           x[p] * (u[p + 1] - centre) + y[p] * (u[p + n] - centre);
#ifdef NINE
                sum = sum + rising[p - n - 1] * (u[p - n - 1] - centre) + falling[p - n] * (u[p - n + 1] - centre) +
                      falling[p - 1] * (u[p + n - 1] - centre) + rising[p] * (u[p + n + 1] - centre);
#endif
                value = (f[p] - SHIFTED(shift, p) * centre) + inverse_h2 * sum;
            }
            d[p] = value;
        }
    }
}

// u at (i, j) on the boundary, 0 inside.
inline REAL on_boundary(size_t n, __global const REAL *u, size_t i, size_t j)
{
    return i == 0 || i == n - 1 || j == 0 || j == n - 1 ? u[j * n + i] : ZERO;
}

// d = the defect with u = 0 inside.
__kernel void source(ulong n, REAL inverse_h2, FACES, __global const REAL *f, __global const REAL *u, __global REAL *d)
{
    EACH_ROW(j, 0, n)
    {
        EACH_COLUMN(i, 0, n, 1)
        {
            const size_t p = j * n + i;
            REAL value = ZERO;
            if (i > 0 && i < n - 1 && j > 0 && j < n - 1) {
                REAL sum = y[p - n] * on_boundary(n, u, i, j - 1) + x[p - 1] * on_boundary(n, u, i - 1, j) +
                           x[p] * on_boundary(n, u, i + 1, j) + y[p] * on_boundary(n, u, i, j + 1);
#ifdef NINE
                sum = sum + rising[p - n - 1] * on_boundary(n, u, i - 1, j - 1) +
                      falling[p - n] * on_boundary(n, u, i + 1, j - 1) +
                      falling[p - 1] * on_boundary(n, u, i - 1, j + 1) + rising[p] * on_boundary(n, u, i + 1, j + 1);
#endif
                value = f[p] + inverse_h2 * sum;
            }
            d[p] = value;
        }
    }
}

// The weights of a coarse point (m points per side) for the fine points around it: to its southwest, south, southeast,
// west, east, northwest, north and northeast, one array of all points after the other.
#define WEIGHT(k, c) weights[(k) * (m * m) + (c)]

// fine (n points per side) += interpolant of coarse, inside.
__kernel void interpolate_add(ulong n, __global const REAL *weights, __global const REAL *coarse, __global REAL *fine)
{
    const size_t m = (n + 1) / 2;
    EACH_ROW(j, 1, n - 1)
    {
        EACH_COLUMN(i, 1, n - 1, 1)
        {
            const size_t c = j / 2 * m + i / 2;
            REAL value = coarse[c];
            if (i % 2 != 0 && j % 2 != 0) {
                value = WEIGHT(7, c) * value + WEIGHT(5, c + 1) * coarse[c + 1] + WEIGHT(2, c + m) * coarse[c + m] +
                        WEIGHT(0, c + m + 1) * coarse[c + m + 1];
            } else if (i % 2 != 0) {
                value = WEIGHT(4, c) * value + WEIGHT(3, c + 1) * coarse[c + 1];
            } else if (j % 2 != 0) {
                value = WEIGHT(6, c) * value + WEIGHT(1, c + m) * coarse[c + m];
            }
            fine[j * n + i] += value;
        }
    }
}

// coarse (m points per side) = a quarter of the transpose of that interpolation of d inside, 0 on the boundary.
__kernel void restrict_along(ulong m, __global const REAL *weights, __global const REAL *d, __global REAL *coarse)
{
    const size_t n = 2 * m - 1;
    EACH_ROW(j, 0, m)
    {
        EACH_COLUMN(i, 0, m, 1)
        {
            const size_t c = j * m + i;
            REAL value = ZERO;
            if (i > 0 && i < m - 1 && j > 0 && j < m - 1) {
                const size_t p = 2 * j * n + 2 * i;
                const REAL around = WEIGHT(0, c) * d[p - n - 1] + WEIGHT(1, c) * d[p - n] + WEIGHT(2, c) * d[p - n + 1] +
                                    WEIGHT(3, c) * d[p - 1] + WEIGHT(4, c) * d[p + 1] + WEIGHT(5, c) * d[p + n - 1] +
                                    WEIGHT(6, c) * d[p + n] + WEIGHT(7, c) * d[p + n + 1];
                value = QUARTER * (d[p] + around);
            }
            coarse[c] = value;
        }
    }
}
