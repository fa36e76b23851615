// Set-up of classical algebraic multigrid: strong influences, a splitting into coarse and fine nodes by a parallel maximal independent set
// (PMIS; De Sterck, Yang and Heys 2006), and extended+i interpolation (De Sterck, Falgout, Nolting and Yang 2008). A is in compressed
// rows with sorted columns. An item takes whole rows.
//
// Traffic, f64: 12 B per entry of A for strengths, 4 B for kernels that look at neighbours; interpolation reads the rows of the fine neighbours of each
// fine row, mostly from cache.
//@ build
//@ build CPU=1
#include "sparse.clh"
#include "amg.clh"

// The node with more influences is chosen first, among those with equally many the one with the larger pseudo-random number.
#define STATE(what, influences, i)                                                                                     \
    ((ulong)(what) << 62 | (ulong)min(influences, 4095u) << 50 | (ulong)(scramble(i) >> 14) << 32 | (i))

// Fine rows with more candidates than this are interpolated from their coarse neighbours alone.
#define MOST_CANDIDATES 512u

// Below this fraction of a_ii, the diagonal with the weak entries lumped into it is considered rounding error.
#if REAL_BITS == 64
#define ROUNDING 1e-12
#else
#define ROUNDING 1e-4f
#endif

// linked[k] = column[k] if node i depends strongly on it, -a_ij >= theta peak_i (for a_ii > 0), and i otherwise. influences[j] += the number of nodes
// that depend on j.
__kernel void link_influences(ulong rows, REAL theta, __global const REAL *peak, __global const uint *offset,
                              __global const uint *column, __global const REAL *value, __global uint *linked,
                              __global uint *influences)
{
    FOR_EACH(i, rows)
    {
        const REAL own = diagonal_of((uint)i, offset, column, value);
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            const bool strong = value[k] * own < ZERO && fabs(value[k]) >= theta * peak[i];
            linked[k] = strong ? column[k] : (uint)i;
            if (strong) {
                atomic_inc(influences + column[k]);
            }
        }
    }
}

// Nodes on which no node depends are fine from the start.
__kernel void start_states(ulong rows, __global const uint *influences, __global ulong *state, __global uint *beaten)
{
    FOR_EACH(i, rows)
    {
        state[i] = STATE(influences[i] > 0 ? UNDECIDED : OUT, influences[i], (uint)i);
        beaten[i] = 0;
    }
}

// beaten[i] = 1 for an undecided node that is connected to an undecided one of a larger state, in either direction.
__kernel void compare_states(ulong rows, __global const uint *offset, __global const uint *linked,
                             __global const ulong *state, __global uint *beaten)
{
    FOR_EACH(i, rows)
    {
        const ulong own = state[i];
        bool is_beaten = false;
        for (uint k = offset[i]; WHAT(own) == UNDECIDED && k < offset[i + 1]; ++k) {
            const ulong other = state[linked[k]];
            if (WHAT(other) == UNDECIDED && own > other) {
                atomic_or(beaten + linked[k], 1u);
            }
            is_beaten |= WHAT(other) == UNDECIDED && own < other;
        }
        if (is_beaten) {
            atomic_or(beaten + i, 1u);
        }
    }
}

// Undecided nodes that are not beaten become coarse, and those that depend on one of these become fine. beaten_next is cleared. undecided[round] = 1
// where a node stays undecided.
__kernel void settle_states(ulong rows, uint round, __global const uint *offset, __global const uint *linked,
                            __global const uint *beaten, __global const ulong *state, __global ulong *state_next,
                            __global uint *beaten_next, __global uint *undecided)
{
    FOR_EACH(i, rows)
    {
        ulong own = state[i];
        if (WHAT(own) == UNDECIDED) {
            uint what = beaten[i] ? UNDECIDED : ROOT;
            for (uint k = offset[i]; what == UNDECIDED && k < offset[i + 1]; ++k) {
                const uint j = linked[k];
                what = j != i && WHAT(state[j]) == UNDECIDED && !beaten[j] ? OUT : what;
            }
            own = (own & 0x3fffffffffffffffUL) | (ulong)what << 62;
            if (what == UNDECIDED) {
                atomic_or(undecided + round, 1u);
            }
        }
        state_next[i] = own;
        beaten_next[i] = 0;
    }
}

// is_coarse[i] = 1 for coarse nodes.
__kernel void flag_coarse(ulong rows, __global const ulong *state, __global uint *is_coarse)
{
    FOR_EACH(i, rows)
    {
        is_coarse[i] = WHAT(state[i]) == ROOT;
    }
}

// count[i] = the number of coarse nodes on which node i depends.
__kernel void count_coarse(ulong rows, __global const uint *offset, __global const uint *linked,
                           __global const uint *is_coarse, __global uint *count)
{
    FOR_EACH(i, rows)
    {
        uint found = 0;
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            found += linked[k] != i && is_coarse[linked[k]];
        }
        count[i] = found;
    }
}

// room[i] = a bound on the number of coarse nodes from which node i is interpolated: those on which it depends, and those on which the fine nodes depend
// that it depends on.
__kernel void count_candidates(ulong rows, __global const uint *offset, __global const uint *linked,
                               __global const uint *is_coarse, __global const uint *coarse, __global uint *room)
{
    FOR_EACH(i, rows)
    {
        uint found = coarse[i];
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            const uint j = linked[k];
            found += j == i || is_coarse[j] ? 0 : min(coarse[j], MOST_CANDIDATES + 1);
        }
        room[i] = is_coarse[i] ? 1 : found > MOST_CANDIDATES ? coarse[i] : found;
    }
}

// The position of j among n ascending numbers: that of the first that is not smaller.
inline uint place_of(uint j, uint n, __global const uint *list)
{
    uint low = 0, high = n;
    while (low < high) {
        const uint middle = (low + high) / 2;
        const bool below = list[middle] < j;
        low = below ? middle + 1 : low;
        high = below ? high : middle;
    }
    return low;
}

// Inserts j unless it is already there; returns the new length.
inline uint insert_ascending(uint j, uint n, __global uint *list)
{
    const uint place = place_of(j, n, list);
    if (place < n && list[place] == j) {
        return n;
    }
    for (uint k = n; k > place; --k) {
        list[k] = list[k - 1];
    }
    list[place] = j;
    return n + 1;
}

// The interpolation of row i from start[i] of `node` and `weight`, ascending, count[i] entries: with is_new the `most` entries of largest modulus,
// without it those at the coarse nodes of row i of `kept`. They are scaled so that their sum is that of all weights.
//
// For a fine node i with the coarse nodes C of its candidates and its strong fine neighbours F (De Sterck, Falgout, Nolting and Yang 2008, section 4.2):
//   w_ij = -(a_ij + sum over k in F of a_ik a_kj / b_ik) / d,  b_ik = sum over l in C and i of a_kl,
//   d = a_ii + sum of weak a_in + sum over k in F of a_ik a_ki / b_ik,
// where row k counts only entries whose sign is not that of a_kk. An entry a_ik whose b_ik is 0 goes to d.
__kernel void fill_weights(ulong rows, uint is_new, uint most, __global const uint *offset, __global const uint *column,
                           __global const REAL *value, __global const uint *linked, __global const uint *is_coarse,
                           __global const uint *number, __global const uint *start, __global const uint *kept_offset,
                           __global const uint *kept, __global uint *count, __global uint *node, __global REAL *weight)
{
    FOR_EACH(i, rows)
    {
        __global uint *list = node + start[i];
        __global REAL *w = weight + start[i];
        const uint room = start[i + 1] - start[i];
        if (is_coarse[i]) {
            list[0] = number[i];
            w[0] = ONE;
            count[i] = 1;
            continue;
        }
        // The coarse neighbours alone, where there are too many candidates.
        uint n = 0;
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            const uint j = linked[k];
            if (j != i && is_coarse[j]) {
                n = insert_ascending(j, n, list);
            }
        }
        const bool is_extended = room > n;
        for (uint k = offset[i]; is_extended && k < offset[i + 1]; ++k) {
            const uint j = linked[k];
            for (uint l = offset[j]; j != i && !is_coarse[j] && l < offset[j + 1]; ++l) {
                if (linked[l] != j && is_coarse[linked[l]]) {
                    n = insert_ascending(linked[l], n, list);
                }
            }
        }
        for (uint c = 0; c < n; ++c) {
            w[c] = ZERO;
        }
        REAL own = ZERO, lumped = ZERO;
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            const uint j = column[k];
            const REAL a = value[k];
            const uint place = place_of(j, n, list);
            if (j == i) {
                own = a;
            } else if (place < n && list[place] == j) {
                w[place] += a;
            } else if (linked[k] == i || is_coarse[j]) {
                lumped += a;
            } else {
                const REAL diagonal = diagonal_of(j, offset, column, value);
                REAL sum = ZERO;
                for (uint l = offset[j]; l < offset[j + 1]; ++l) {
                    const uint at = place_of(column[l], n, list);
                    const bool counts = column[l] == i || (at < n && list[at] == column[l]);
                    sum += counts && value[l] * diagonal < ZERO ? value[l] : ZERO;
                }
                if (sum == ZERO) {
                    lumped += a;
                    continue;
                }
                for (uint l = offset[j]; l < offset[j + 1]; ++l) {
                    const REAL share = value[l] * diagonal < ZERO ? a * (value[l] / sum) : ZERO;
                    const uint at = place_of(column[l], n, list);
                    if (column[l] == i) {
                        lumped += share;
                    } else if (at < n && list[at] == column[l]) {
                        w[at] += share;
                    }
                }
            }
        }
        const REAL whole = own + lumped;
        const REAL d = whole * own > ROUNDING * own * own ? whole : own;
        REAL before = ZERO;
        for (uint c = 0; c < n; ++c) {
            w[c] = -w[c] / d;
            before += w[c];
            list[c] = number[list[c]];
        }
        uint left = 0;
        for (uint c = 0, k = is_new ? 0 : kept_offset[i]; !is_new && k < kept_offset[i + 1]; ++k) {
            for (; list[c] != kept[k]; ++c) {
            }
            list[left] = list[c];
            w[left++] = w[c];
        }
        for (left = is_new ? n : left; is_new && left > most; --left) {
            uint least = 0;
            for (uint c = 1; c < left; ++c) {
                least = fabs(w[c]) <= fabs(w[least]) ? c : least;
            }
            for (uint c = least; c + 1 < left; ++c) {
                list[c] = list[c + 1];
                w[c] = w[c + 1];
            }
        }
        REAL after = ZERO;
        for (uint c = 0; c < left; ++c) {
            after += w[c];
        }
        const REAL scale = before * after > ZERO ? before / after : ONE;
        for (uint c = 0; c < left; ++c) {
            w[c] *= scale;
        }
        count[i] = left;
    }
}

// Compacts the rows that fill_weights has written, removing the gaps.
__kernel void close_gaps(ulong rows, __global const uint *start, __global const uint *node, __global const REAL *weight,
                         __global const uint *offset, __global uint *column, __global REAL *value)
{
    FOR_EACH(i, rows)
    {
        const uint from = start[i] - offset[i];
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            column[k] = node[from + k];
            value[k] = weight[from + k];
        }
    }
}
