// How many multiplications with additions a device makes in a second, to compare kernels with that are bound by arithmetic.
//
// Work: 64 floating-point operations a turn, in 32 chains of which none waits for another; no traffic.
//@ crate clinalg-bem
#include "common.clh"

__kernel void multiply_add(uint turns, REAL factor, REAL term, __global REAL *out)
{
    REAL8 a = (REAL8)(ZERO, ONE, 2, 3, 4, 5, 6, 7) + (REAL)get_global_id(0);
    REAL8 b = a + ONE;
    REAL8 c = b + ONE;
    REAL8 d = c + ONE;
    for (uint turn = 0; turn < turns; ++turn) {
        a = fma(a, (REAL8)factor, (REAL8)term);
        b = fma(b, (REAL8)factor, (REAL8)term);
        c = fma(c, (REAL8)factor, (REAL8)term);
        d = fma(d, (REAL8)factor, (REAL8)term);
    }
    const REAL8 sum = a + b + (c + d);
    out[get_global_id(0)] = sum.s0 + sum.s1 + sum.s2 + sum.s3 + sum.s4 + sum.s5 + sum.s6 + sum.s7;
}
