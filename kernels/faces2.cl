// The problem -div(a grad u) + shift u = f on n by n points, boundary included: point (i, j) is
// u[j n + i], h = 1 / (n - 1). The coefficient between (i, j) and (i + 1, j) is x[j n + i], that between
// (i, j) and (i, j + 1) is y[j n + i]. Boundary values of u are never changed by a smoother, those of f
// are never read.
//
// Traffic per point, f64, where every neighbour comes from cache: 40 B, for red_black per colour.
//
// A point per item, or, built with PROCESSOR, a run of rows.
// Products and sums are rounded one by one and in the order of the formulas.
#pragma OPENCL FP_CONTRACT OFF

#ifdef PROCESSOR
#define EACH_ROW(j, from, to)                                                                            \
    for (size_t j = max((size_t)(to) * get_global_id(0) / get_global_size(0), (size_t)(from));            \
         j < (size_t)(to) * (get_global_id(0) + 1) / get_global_size(0); ++j)
#define EACH_COLUMN(i, from, to, step) for (size_t i = (from); i < (to); i += (step))
#else
#define EACH_ROW(j, from, to) for (size_t j = get_global_id(1) + (from); j < (to); j += get_global_size(1))
#define EACH_COLUMN(i, from, to, step)                                                                   \
    for (size_t i = get_global_id(0) * (step) + (from); i < (to); i += get_global_size(0) * (step))
#endif

// Sum of the coefficients around the point at `p`.
inline REAL total(size_t n, __global const REAL *x, __global const REAL *y, size_t p)
{
    return y[p - n] + x[p - 1] + x[p] + y[p];
}

// The value that solves the equation of the point at `p`; the shift is given times h^2.
inline REAL relaxed(size_t n, REAL h2, REAL shift_h2, __global const REAL *x, __global const REAL *y,
                    __global const REAL *f, __global const REAL *u, size_t p)
{
    const REAL south = y[p - n], west = x[p - 1], east = x[p], north = y[p];
    const REAL sum = south * u[p - n] + west * u[p - 1] + east * u[p + 1] + north * u[p + n];
    return (h2 * f[p] + sum) / (total(n, x, y, p) + shift_h2);
}

// out = one weighted Jacobi sweep over u; u on the boundary.
__kernel void jacobi(ulong n, REAL h2, REAL shift_h2, REAL omega, __global const REAL *x, __global const REAL *y,
                     __global const REAL *f, __global const REAL *u, __global REAL *out)
{
    EACH_ROW(j, 0, n)
    {
        EACH_COLUMN(i, 0, n, 1)
        {
            const size_t p = j * n + i;
            REAL value = u[p];
            if (i > 0 && i < n - 1 && j > 0 && j < n - 1) {
                value += omega * (relaxed(n, h2, shift_h2, x, y, f, u, p) - value);
            }
            out[p] = value;
        }
    }
}

// Half a Gauss-Seidel sweep: the interior points with (i + j) % 2 == colour.
__kernel void red_black(ulong n, uint colour, REAL h2, REAL shift_h2, __global const REAL *x,
                        __global const REAL *y, __global const REAL *f, __global REAL *u)
{
    EACH_ROW(j, 1, n - 1)
    {
        EACH_COLUMN(i, 1 + ((j + 1 + colour) & 1), n - 1, 2)
        {
            u[j * n + i] = relaxed(n, h2, shift_h2, x, y, f, u, j * n + i);
        }
    }
}

// d = f + div_h(a grad_h u) - shift u inside, 0 on the boundary. Fluxes are taken of differences, so that a
// constant has none.
__kernel void defect(ulong n, REAL inverse_h2, REAL shift, __global const REAL *x, __global const REAL *y,
                     __global const REAL *f, __global const REAL *u, __global REAL *d)
{
    EACH_ROW(j, 0, n)
    {
        EACH_COLUMN(i, 0, n, 1)
        {
            const size_t p = j * n + i;
            REAL value = ZERO;
            if (i > 0 && i < n - 1 && j > 0 && j < n - 1) {
                const REAL centre = u[p];
                const REAL sum = y[p - n] * (u[p - n] - centre) + x[p - 1] * (u[p - 1] - centre) +
                                 x[p] * (u[p + 1] - centre) + y[p] * (u[p + n] - centre);
                value = (f[p] - shift * centre) + inverse_h2 * sum;
            }
            d[p] = value;
        }
    }
}

// d = the defect with u = 0 inside.
__kernel void source(ulong n, REAL inverse_h2, __global const REAL *x, __global const REAL *y,
                     __global const REAL *f, __global const REAL *u, __global REAL *d)
{
    EACH_ROW(j, 0, n)
    {
        EACH_COLUMN(i, 0, n, 1)
        {
            const size_t p = j * n + i;
            REAL value = ZERO;
            if (i > 0 && i < n - 1 && j > 0 && j < n - 1) {
                const REAL south = j == 1 ? y[p - n] * u[p - n] : ZERO, west = i == 1 ? x[p - 1] * u[p - 1] : ZERO;
                const REAL east = i == n - 2 ? x[p] * u[p + 1] : ZERO, north = j == n - 2 ? y[p] * u[p + n] : ZERO;
                value = f[p] + inverse_h2 * (south + west + east + north);
            }
            d[p] = value;
        }
    }
}

// Interpolants of coarse values (m a side) at a point on a row between two of them, and on a column.
inline REAL between_row(size_t n, size_t m, __global const REAL *x, __global const REAL *coarse, size_t i, size_t j)
{
    const size_t p = j * n + i;
    __global const REAL *c = coarse + j / 2 * m + i / 2;
    return (x[p - 1] * c[0] + x[p] * c[1]) / (x[p - 1] + x[p]);
}

inline REAL between_column(size_t n, size_t m, __global const REAL *y, __global const REAL *coarse, size_t i,
                           size_t j)
{
    const size_t p = j * n + i;
    __global const REAL *c = coarse + j / 2 * m + i / 2;
    return (y[p - n] * c[0] + y[p] * c[m]) / (y[p - n] + y[p]);
}

// fine += interpolant of coarse that follows the coefficient, inside: one flux goes through a point between
// two coarse ones, none stays in the middle of four.
__kernel void interpolate_add(ulong n, __global const REAL *x, __global const REAL *y, __global const REAL *coarse,
                              __global REAL *fine)
{
    const size_t m = (n + 1) / 2;
    EACH_ROW(j, 1, n - 1)
    {
        EACH_COLUMN(i, 1, n - 1, 1)
        {
            const size_t p = j * n + i;
            REAL value = coarse[j / 2 * m + i / 2];
            if (i % 2 != 0 && j % 2 != 0) {
                const REAL sum = y[p - n] * between_row(n, m, x, coarse, i, j - 1) +
                                 x[p - 1] * between_column(n, m, y, coarse, i - 1, j) +
                                 x[p] * between_column(n, m, y, coarse, i + 1, j) +
                                 y[p] * between_row(n, m, x, coarse, i, j + 1);
                value = sum / total(n, x, y, p);
            } else if (i % 2 != 0) {
                value = between_row(n, m, x, coarse, i, j);
            } else if (j % 2 != 0) {
                value = between_column(n, m, y, coarse, i, j);
            }
            fine[p] += value;
        }
    }
}

// Values of `d` at points on a row between coarse ones, and on a column, with what the middles of four on
// either side leave them.
inline REAL gathered_row(size_t n, __global const REAL *x, __global const REAL *y, __global const REAL *d, size_t p)
{
    return d[p] + y[p - n] * d[p - n] / total(n, x, y, p - n) + y[p] * d[p + n] / total(n, x, y, p + n);
}

inline REAL gathered_column(size_t n, __global const REAL *x, __global const REAL *y, __global const REAL *d,
                            size_t p)
{
    return d[p] + x[p - 1] * d[p - 1] / total(n, x, y, p - 1) + x[p] * d[p + 1] / total(n, x, y, p + 1);
}

// coarse (m a side) = a quarter of the transpose of that interpolation of d inside, 0 on the boundary.
__kernel void restrict_along(ulong m, __global const REAL *x, __global const REAL *y, __global const REAL *d,
                             __global REAL *coarse)
{
    const size_t n = 2 * m - 1;
    EACH_ROW(j, 0, m)
    {
        EACH_COLUMN(i, 0, m, 1)
        {
            REAL value = ZERO;
            if (i > 0 && i < m - 1 && j > 0 && j < m - 1) {
                const size_t p = 2 * j * n + 2 * i;
                const REAL south = y[p - n] * gathered_column(n, x, y, d, p - n) / (y[p - 2 * n] + y[p - n]);
                const REAL west = x[p - 1] * gathered_row(n, x, y, d, p - 1) / (x[p - 2] + x[p - 1]);
                const REAL east = x[p] * gathered_row(n, x, y, d, p + 1) / (x[p] + x[p + 1]);
                const REAL north = y[p] * gathered_column(n, x, y, d, p + n) / (y[p] + y[p + n]);
                value = (REAL)0.25f * (d[p] + south + west + east + north);
            }
            coarse[j * m + i] = value;
        }
    }
}
