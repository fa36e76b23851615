// Steps of the cycle of algebraic multigrid on vectors.
//
// Traffic, f64: first_step 32 B, next_step 56 B (40 B where keep is 0), conversions 12 B per unknown.
//@ build
//@ build CPU=1
#include "sparse.clh"

// d = scale inverse b, x = d: a step from x = 0.
__kernel void first_step(ulong n, REAL scale, __global const REAL *inverse, __global const REAL *b, __global REAL *d,
                         __global REAL *x)
{
    FOR_EACH(i, n)
    {
        const REAL step = scale * inverse[i] * b[i];
        d[i] = step;
        x[i] = step;
    }
}

// d = keep d + scale inverse (b - ax), x += d; keep = 0 never reads d.
__kernel void next_step(ulong n, REAL keep, REAL scale, __global const REAL *inverse, __global const REAL *b,
                        __global const REAL *ax, __global REAL *d, __global REAL *x)
{
    FOR_EACH(i, n)
    {
        const REAL before = keep == ZERO ? ZERO : keep * d[i];
        const REAL step = before + scale * inverse[i] * (b[i] - ax[i]);
        d[i] = step;
        x[i] += step;
    }
}

__kernel void narrow_values(ulong n, __global const REAL *from, __global float *to)
{
    FOR_EACH(i, n)
    {
        to[i] = (float)from[i];
    }
}

__kernel void widen_values(ulong n, __global const float *from, __global REAL *to)
{
    FOR_EACH(i, n)
    {
        to[i] = (REAL)from[i];
    }
}
