// Aggressive coarsening of algebraic multigrid: interpolation in passes (Stueben 2001, section 7.2.2; Yang 2010). Coarse nodes form pass
// 1; nodes that depend strongly on one of pass p form pass p + 1. A is in compressed rows with sorted columns. An item takes whole rows.
//
// Traffic, f64: 4 B per entry for passes, 16 B for weights.
//@ build
//@ build CPU=1
#include "sparse.clh"

// Below this fraction of a_ii, the diagonal with the entries of its sign lumped into it is considered rounding error.
#if REAL_BITS == 64
#define ROUNDING 1e-12
#else
#define ROUNDING 1e-4f
#endif

// next[i] = pass, where node i has no pass yet and depends on a node that has one.
__kernel void reach_nodes(ulong rows, uint pass, __global const uint *offset, __global const uint *linked,
                          __global const uint *before, __global uint *next)
{
    FOR_EACH(i, rows)
    {
        uint own = before[i];
        for (uint k = offset[i]; own == 0 && k < offset[i + 1]; ++k) {
            own = linked[k] != i && before[linked[k]] != 0 ? pass : 0;
        }
        next[i] = own;
    }
}

// Whether node i of this pass is interpolated from node j = linked[k].
#define IS_SOURCE(i, j) ((j) != (i) && of[j] != 0 && of[j] < pass)

// count[i] = the number of nodes of earlier passes from which node i is interpolated; 1, itself, if it belongs to an earlier pass.
__kernel void count_sources(ulong rows, uint pass, __global const uint *offset, __global const uint *linked,
                            __global const uint *of, __global uint *count)
{
    FOR_EACH(i, rows)
    {
        uint found = of[i] != 0 && of[i] < pass;
        for (uint k = offset[i]; of[i] == pass && k < offset[i + 1]; ++k) {
            found += IS_SOURCE(i, linked[k]);
        }
        count[i] = found;
    }
}

// The nodes from which node i is interpolated: their numbers, and the weights of direct interpolation, -(n / s) a_ij / d with the sum n of the
// entries of row i whose sign is not that of a_ii, the sum s of those at these nodes, and d = a_ii + the other entries off the diagonal.
__kernel void fill_sources(ulong rows, uint pass, __global const uint *offset, __global const uint *column,
                           __global const REAL *value, __global const uint *linked, __global const uint *of,
                           __global const uint *number, __global const uint *start, __global uint *source,
                           __global REAL *weight)
{
    FOR_EACH(i, rows)
    {
        uint to = start[i];
        if (of[i] != pass) {
            if (to < start[i + 1]) {
                source[to] = number[i];
                weight[to] = ONE;
            }
            continue;
        }
        REAL own = ZERO;
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            own = column[k] == i ? value[k] : own;
        }
        REAL all = ZERO, taken = ZERO, rest = ZERO;
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            const REAL a = value[k];
            all += a * own < ZERO ? a : ZERO;
            rest += column[k] != i && a * own >= ZERO ? a : ZERO;
            taken += IS_SOURCE(i, linked[k]) ? a : ZERO;
        }
        const REAL whole = own + rest;
        const REAL d = whole * own > (REAL)ROUNDING * own * own ? whole : own;
        // Other values at the same positions may leave nothing at the sources.
        const REAL share = all * taken > ZERO ? all / taken : ONE;
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            if (IS_SOURCE(i, linked[k])) {
                source[to] = number[linked[k]];
                weight[to++] = -share * (value[k] / d);
            }
        }
    }
}

// number[i] = i.
__kernel void count_up(ulong n, __global uint *number)
{
    FOR_EACH(i, n)
    {
        number[i] = (uint)i;
    }
}

// count[i] = the entries of row i, at most `most`.
__kernel void count_kept(ulong rows, uint most, __global const uint *offset, __global uint *count)
{
    FOR_EACH(i, rows)
    {
        count[i] = min(offset[i + 1] - offset[i], most);
    }
}

// The entries of row i at its places in `kept_offset`: with is_new those of largest modulus, without it those in the columns that are there. They are
// scaled so that their sum is that of all.
__kernel void keep_largest(ulong rows, uint is_new, __global const uint *offset, __global const uint *column,
                           __global const REAL *value, __global const uint *kept_offset, __global uint *kept_column,
                           __global REAL *kept_value)
{
    FOR_EACH(i, rows)
    {
        const uint most = kept_offset[i + 1] - kept_offset[i];
        uint to = kept_offset[i];
        REAL before = ZERO, after = ZERO;
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            uint larger = 0;
            for (uint l = offset[i]; is_new && l < offset[i + 1]; ++l) {
                larger += fabs(value[l]) > fabs(value[k]) || (fabs(value[l]) == fabs(value[k]) && l < k);
            }
            before += value[k];
            if (to < kept_offset[i + 1] && (is_new ? larger < most : kept_column[to] == column[k])) {
                kept_column[to] = column[k];
                kept_value[to++] = value[k];
                after += value[k];
            }
        }
        const REAL scale = before * after > ZERO ? before / after : ONE;
        for (uint k = kept_offset[i]; k < kept_offset[i + 1]; ++k) {
            kept_value[k] *= scale;
        }
    }
}
