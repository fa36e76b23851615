// Uniform random numbers as functions of their positions, and fingerprints of vectors: the same on every device.
//
// Traffic per element, f64: fill_uniform and fingerprint 8 B.
//@ build
//@ build CPU=1
#include "common.clh"
#include "for_each.clh"

// Output `i`, counted from 0, of SplitMix64 with this seed (Steele, Lea and Flood, 2014).
inline ulong splitmix(ulong seed, ulong i)
{
    ulong z = seed + (i + 1) * 0x9e3779b97f4a7c15UL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9UL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebUL;
    return z ^ (z >> 31);
}

#if REAL_BITS == 64
#define UNIT(z) ((REAL)((z) >> 11) * 0x1p-53)
#define BITS(value) as_ulong(value)
#else
#define UNIT(z) ((REAL)(uint)((z) >> 40) * 0x1p-24f)
#define BITS(value) (ulong)as_uint(value)
#endif

// out[i] = low + width times number i in [0, 1). The product is exact, as width is a power of two.
__kernel void fill_uniform(ulong n, ulong seed, REAL low, REAL width, __global REAL *out)
{
    FOR_EACH(i, n)
    {
        out[i] = low + width * UNIT(splitmix(seed, i));
    }
}

// Each work-item sums the hashes of its elements modulo 2^64, so the total does not depend on their order. All NaNs hash alike.
__kernel void fingerprint(ulong n, __global const REAL *x, __global ulong *partial)
{
    ulong sum = 0;
    FOR_EACH(i, n)
    {
        const REAL value = x[i];
        sum += splitmix(isnan(value) ? ~0UL : BITS(value), i);
    }
    partial[get_global_id(0)] = sum;
}
