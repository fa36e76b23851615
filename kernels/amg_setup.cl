// Set-up of algebraic multigrid by smoothed aggregation (Vanek, Mandel and Brezina 1996): strong connections, maximal independent sets of
// distance two, aggregates, the tentative prolongator and its smoothing. Also the kernels that decide between this and classical coarsening, as every
// additional program takes time to load. A is in compressed rows with sorted columns. An item takes whole rows, nodes or aggregates.
//
// Traffic, f64: 12 B per entry of A for kernels that read values, 4 B (and 8 B of states from cache) for kernels that look at neighbours.
//@ build
//@ build CPU=1
//@ one_program
#include "sparse.clh"
#include "amg.clh"

// No aggregate.
#define NONE 0xffffffffu
// Not a strong entry. NONE and WEAK are larger than every aggregate number.
#define WEAK 0xfffffffeu

// Maximal independent set of distance two (Bell, Dalton and Olson 2012). The kind of the node is followed by a pseudo-random number and the node's
// index, so that no two states are equal.
#define STATE(what, i) ((ulong)(what) << 62 | (ulong)(scramble(i) >> 2) << 32 | (i))

// peak[i] = the largest modulus in row i among the entries whose sign is not that of a_ii; 0 if there are none.
__kernel void fill_opposite_peaks(ulong rows, __global const uint *offset, __global const uint *column,
                                  __global const REAL *value, __global REAL *peak)
{
    FOR_EACH(i, rows)
    {
        const REAL own = diagonal_of((uint)i, offset, column, value);
        REAL most = ZERO;
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            most = value[k] * own < ZERO ? fmax(most, fabs(value[k])) : most;
        }
        peak[i] = most;
    }
}

// count[i] = the number of entries of row i that are at least `strong` times its peak and less than `weak` times that of their column;
// same_sign[i] = the number of off-diagonal entries that have its sign and are at least `weak` times the peak of the row.
__kernel void count_one_sided(ulong rows, REAL strong, REAL weak, __global const REAL *peak, __global const uint *offset,
                              __global const uint *column, __global const REAL *value, __global uint *count,
                              __global uint *same_sign)
{
    FOR_EACH(i, rows)
    {
        const REAL own = diagonal_of((uint)i, offset, column, value);
        uint found = 0, same = 0;
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            const REAL size = fabs(value[k]);
            found += column[k] != i && size >= strong * peak[i] && size < weak * peak[column[k]];
            same += column[k] != i && value[k] * own > ZERO && size >= weak * peak[i];
        }
        count[i] = found;
        same_sign[i] = same;
    }
}

// differs[s] = 1 if an entry of row s * every and its mirror image, which may be missing, differ by more than `tolerance` times the larger modulus.
__kernel void compare_with_columns(ulong sampled, uint every, REAL tolerance, __global const uint *offset,
                                   __global const uint *column, __global const REAL *value, __global uint *differs)
{
    FOR_EACH(s, sampled)
    {
        const uint i = (uint)(s * every);
        uint any = 0;
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            const uint j = column[k];
            uint low = offset[j], high = offset[j + 1];
            while (low < high) {
                const uint middle = low + (high - low) / 2;
                const bool below = column[middle] < i;
                low = below ? middle + 1 : low;
                high = below ? high : middle;
            }
            const REAL mirror = low < offset[j + 1] && column[low] == i ? value[low] : ZERO;
            any |= fabs(value[k] - mirror) > tolerance * fmax(fabs(value[k]), fabs(mirror));
        }
        differs[s] = any;
    }
}

// inverse[i] of a smoother: 0: 1 / a_ii; 1: 1 over the sum of |a_ij|, with the sign of a_ii (Baker, Falgout, Kolev and Yang 2011);
// 2: a_ii over the sum of a_ij^2 (Broeker and Grote 2002). wrong[0] becomes the first row where it is zero or not finite.
__kernel void fill_inverse(ulong rows, uint kind, __global const uint *offset, __global const uint *column,
                           __global const REAL *value, __global REAL *inverse, __global uint *wrong)
{
    FOR_EACH(i, rows)
    {
        REAL own = ZERO, moduli = ZERO, squares = ZERO;
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            own = column[k] == i ? value[k] : own;
            moduli += fabs(value[k]);
            squares += value[k] * value[k];
        }
        const REAL result = kind == 0 ? ONE / own : kind == 1 ? copysign(ONE / moduli, own) : own / squares;
        inverse[i] = result;
        if (own == ZERO || result == ZERO || !isfinite(result)) {
            atomic_min(wrong, (uint)i);
        }
    }
}

// peak[i] = the largest off-diagonal modulus of row i. any_long[0] = 1 if some row has more than `longest` entries.
__kernel void fill_peaks(ulong rows, uint longest, __global const uint *offset, __global const uint *column,
                         __global const REAL *value, __global REAL *peak, __global uint *any_long)
{
    FOR_EACH(i, rows)
    {
        REAL most = ZERO;
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            most = column[k] == i ? most : fmax(most, fabs(value[k]));
        }
        peak[i] = most;
        if (offset[i + 1] - offset[i] > longest) {
            atomic_or(any_long, 1u);
        }
    }
}

// linked[k] = column[k] if nodes i and column[k] are strongly connected, a_ij^2 > theta2 peak_i peak_j, and i otherwise. Also sets the initial
// states; nodes without strong connections are OUT.
__kernel void link_strong(ulong rows, REAL theta2, __global const REAL *peak, __global const uint *offset,
                          __global const uint *column, __global const REAL *value, __global uint *linked,
                          __global ulong *state)
{
    FOR_EACH(i, rows)
    {
        const REAL bound = theta2 * peak[i];
        uint any = 0;
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            const uint j = column[k];
            const bool strong = j != i && value[k] * value[k] > bound * peak[j];
            linked[k] = strong ? j : (uint)i;
            any |= strong;
        }
        state[i] = STATE(any ? UNDECIDED : OUT, (uint)i);
    }
}

// The initial states for a set of nodes two strong dependencies apart; nodes that depend on no other node and on which no other node depends are OUT.
__kernel void start_distant(ulong rows, __global const uint *offset, __global const uint *linked,
                            __global const uint *influences, __global ulong *state)
{
    FOR_EACH(i, rows)
    {
        uint any = influences[i] > 0;
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            any |= linked[k] != i;
        }
        state[i] = STATE(any ? UNDECIDED : OUT, (uint)i);
    }
}

// map[k] = the aggregate of column[k] if entry k is on the diagonal or strong for its row, a_ij^2 > theta2 peak_i^2, and WEAK otherwise. With is_new
// = 0, the map is an input and only the rest is computed.
// diagonal[i] = a_ii with the weak entries lumped into it, so that the product with the near-null vector (the first of `vectors` in each row of
// `near`) is preserved; a_ii if the lumped value is below a tenth of a_ii. bound[i] = the sum of the moduli of the strong entries divided by that of
// diagonal[i]; the largest of these bounds the eigenvalues.
__kernel void map_aggregates(ulong rows, uint is_new, REAL theta2, __global const REAL *peak, ulong vectors,
                             __global const REAL *near, __global const uint *aggregate, __global const uint *offset,
                             __global const uint *column, __global const REAL *value, __global uint *map,
                             __global REAL *diagonal, __global REAL *bound)
{
    FOR_EACH(i, rows)
    {
        const REAL least = is_new ? theta2 * peak[i] * peak[i] : ZERO;
        const REAL here = near[i * vectors];
        REAL own = ZERO, weak = ZERO, moduli = ZERO;
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            const uint j = column[k];
            const bool strong = is_new ? j == i || value[k] * value[k] > least : map[k] != WEAK;
            if (is_new) {
                map[k] = strong ? aggregate[j] : WEAK;
            }
            if (j == i) {
                own = value[k];
            } else if (strong) {
                moduli += fabs(value[k]);
            } else {
                weak += here == ZERO ? value[k] : value[k] * (near[j * vectors] / here);
            }
        }
        const REAL lumped = own + weak;
        const REAL kept = lumped * own > (REAL)0.1 * own * own ? lumped : own;
        diagonal[i] = kept;
        bound[i] = ONE + moduli / fabs(kept);
    }
}

// The smoothed prolongator P = (I - omega D^-1 A_s) T, for the strong entries A_s of A and one near-null vector. Row i has one entry per aggregate in
// its part of the map. count[i] = the number of entries of row i. norm[g] = the norm of the near-null vector on aggregate g.
#ifdef CPU
// place: `cols` zeros per item.
__kernel void count_prolongator(ulong rows, ulong cols, __global const uint *offset, __global const uint *map,
                                __global uint *place, __global uint *count)
{
    __global uint *own = place + get_global_id(0) * cols;
    FOR_EACH(i, rows)
    {
        uint found = 0;
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            const uint g = map[k];
            if (g < WEAK) {
                found += own[g] != (uint)i + 1;
                own[g] = (uint)i + 1;
            }
        }
        count[i] = found;
    }
}

// Rows of A have at most FEW entries. own[g]: one more than the position of aggregate g, which lies in this row if it is above `start`.
__kernel void fill_prolongator(ulong rows, ulong cols, REAL omega, __global const REAL *near,
                               __global const REAL *norm, __global const REAL *diagonal,
                               __global const uint *offset, __global const uint *column, __global const REAL *value,
                               __global const uint *map, __global uint *place, __global const uint *p_offset,
                               __global uint *p_column, __global REAL *p_value)
{
    __global uint *own = place + get_global_id(0) * cols;
    FOR_EACH(i, rows)
    {
        const REAL weight = -omega / diagonal[i];
        const uint start = p_offset[i];
        uint key[FEW], rank[FEW];
        REAL sum[FEW];
        uint next = start;
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            const uint g = map[k];
            if (g < WEAK) {
                const uint j = column[k];
                const REAL term = (j == i ? ONE - omega : weight * value[k]) * near[j];
                const bool is_new = own[g] <= start;
                const uint at = is_new ? next : own[g] - 1;
                const REAL more = sum[at - start] + term;
                own[g] = at + 1;
                key[at - start] = g;
                sum[at - start] = is_new ? term : more;
                next += is_new;
            }
        }
        rank_columns(next - start, key, rank);
        for (uint k = 0; k < next - start; ++k) {
            const REAL size = norm[key[k]];
            p_column[start + rank[k]] = key[k];
            p_value[start + rank[k]] = size > ZERO ? sum[k] / size : ZERO;
        }
    }
}
#else
// The aggregates are found in ascending order, with one pass over the row's columns for each.
__kernel void count_prolongator(ulong rows, __global const uint *offset, __global const uint *map, __global uint *count)
{
    FOR_EACH(i, rows)
    {
        uint found = 0, least = 0;
        for (uint next = 0; next != WEAK; least = next + 1) {
            next = WEAK;
            for (uint k = offset[i]; k < offset[i + 1]; ++k) {
                next = map[k] >= least ? min(next, map[k]) : next;
            }
            found += next != WEAK;
        }
        count[i] = found;
    }
}

__kernel void fill_prolongator(ulong rows, REAL omega, __global const REAL *near, __global const REAL *norm,
                               __global const REAL *diagonal, __global const uint *offset,
                               __global const uint *column, __global const REAL *value, __global const uint *map,
                               __global const uint *p_offset, __global uint *p_column, __global REAL *p_value)
{
    FOR_EACH(i, rows)
    {
        const REAL weight = -omega / diagonal[i];
        uint least = 0;
        for (uint to = p_offset[i]; to < p_offset[i + 1]; ++to) {
            uint next = WEAK;
            REAL sum = ZERO;
            for (uint k = offset[i]; k < offset[i + 1]; ++k) {
                const uint own = map[k];
                if (own >= least && own <= next && own < WEAK) {
                    const uint j = column[k];
                    const REAL term = (j == i ? ONE - omega : weight * value[k]) * near[j];
                    sum = own == next ? sum + term : term;
                    next = own;
                }
            }
            p_column[to] = next;
            p_value[to] = norm[next] > ZERO ? sum / norm[next] : ZERO;
            least = next + 1;
        }
    }
}
#endif

// count[i] = strong entries of row i.
__kernel void count_mapped(ulong rows, __global const uint *offset, __global const uint *map, __global uint *count)
{
    FOR_EACH(i, rows)
    {
        uint found = 0;
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            found += map[k] != WEAK;
        }
        count[i] = found;
    }
}

// S = I - omega D^-1 A_s.
__kernel void fill_mapped(ulong rows, REAL omega, __global const REAL *diagonal, __global const uint *offset,
                          __global const uint *column, __global const REAL *value, __global const uint *map,
                          __global const uint *s_offset, __global uint *s_column, __global REAL *s_value)
{
    FOR_EACH(i, rows)
    {
        const REAL weight = -omega / diagonal[i];
        uint to = s_offset[i];
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            if (map[k] != WEAK) {
                s_column[to] = column[k];
                s_value[to++] = column[k] == i ? ONE - omega : weight * value[k];
            }
        }
    }
}

// S = I - omega D^-1 A, in place.
__kernel void fill_smoothing(ulong rows, REAL omega, __global const uint *offset, __global const uint *column,
                             __global REAL *value)
{
    FOR_EACH(i, rows)
    {
        REAL own = ONE;
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            own = column[k] == i ? value[k] : own;
        }
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            value[k] = (column[k] == i ? ONE : ZERO) - omega * value[k] / own;
        }
    }
}

// x[i] in (-1, 1), always the same.
__kernel void fill_noise(ulong n, __global REAL *x)
{
    FOR_EACH(i, n)
    {
        x[i] = ((REAL)(scramble((uint)i) >> 8) + (REAL)0.5) / (REAL)8388608 - ONE;
    }
}

// most[i] = the largest state of node i and its neighbours. On CPUs `most` is undecided before the first round; where it is decided, either the node and
// its neighbours are decided too or one of them is a root, and it does not change.
__kernel void spread_states(ulong rows, __global const uint *offset, __global const uint *column,
                            __global const ulong *state, __global ulong *most)
{
    FOR_EACH(i, rows)
    {
#ifdef CPU
        if (WHAT(most[i]) != UNDECIDED) {
            continue;
        }
#endif
        ulong largest = state[i];
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            largest = max(largest, state[column[k]]);
        }
        most[i] = largest;
    }
}

// undecided[round] = 1 if a node remains undecided.
__kernel void decide_states(ulong rows, uint round, __global const uint *offset, __global const uint *column,
                            __global const ulong *most, __global ulong *state, __global uint *undecided)
{
    FOR_EACH(i, rows)
    {
        const ulong own = state[i];
        if (WHAT(own) == UNDECIDED) {
            ulong largest = most[i];
            for (uint k = offset[i]; k < offset[i + 1]; ++k) {
                largest = max(largest, most[column[k]]);
            }
            if (largest == own) {
                state[i] = STATE(ROOT, (uint)i);
            } else if (WHAT(largest) == ROOT) {
                state[i] = STATE(OUT, (uint)i);
            } else {
                atomic_or(undecided + round, 1u);
            }
        }
    }
}

__kernel void flag_roots(ulong rows, __global const ulong *state, __global uint *flag)
{
    FOR_EACH(i, rows)
    {
        flag[i] = WHAT(state[i]) == ROOT;
    }
}

// The aggregate of each root and its neighbours; NONE for others.
__kernel void join_roots(ulong rows, __global const uint *offset, __global const uint *column,
                         __global const ulong *state, __global const uint *number, __global uint *aggregate)
{
    FOR_EACH(i, rows)
    {
        uint root = WHAT(state[i]) == ROOT ? (uint)i : NONE;
        for (uint k = offset[i]; root == NONE && k < offset[i + 1]; ++k) {
            root = WHAT(state[column[k]]) == ROOT ? column[k] : NONE;
        }
        aggregate[i] = root == NONE ? NONE : number[root];
    }
}

// Nodes of no aggregate join that of the neighbour with the largest entry.
__kernel void join_neighbours(ulong rows, __global const uint *offset, __global const uint *column,
                              __global const REAL *value, __global const uint *aggregate, __global uint *joined)
{
    FOR_EACH(i, rows)
    {
        uint own = aggregate[i];
        REAL largest = ZERO;
        for (uint k = offset[i]; aggregate[i] == NONE && k < offset[i + 1]; ++k) {
            const uint other = aggregate[column[k]];
            if (other != NONE && fabs(value[k]) > largest) {
                largest = fabs(value[k]);
                own = other;
            }
        }
        joined[i] = own;
    }
}

// count[r] = entries of row r of the tentative prolongator: `vectors` where its node, of `block` rows, has an aggregate.
__kernel void count_tentative(ulong rows, uint block, uint vectors, __global const uint *aggregate,
                              __global uint *count)
{
    FOR_EACH(r, rows)
    {
        count[r] = aggregate[r / block] == NONE ? 0 : vectors;
    }
}

__kernel void fill_tentative(ulong rows, uint block, uint vectors, __global const uint *aggregate,
                             __global const uint *offset, __global uint *column)
{
    FOR_EACH(r, rows)
    {
        const uint start = offset[r];
        for (uint k = start; k < offset[r + 1]; ++k) {
            column[k] = aggregate[r / block] * vectors + k - start;
        }
    }
}

#define AT(k, v) value[offset[list[(k) / block] * block + (k) % block] + (v)]

// Writes the near-null vectors (rows of `vectors` values), made orthonormal in each aggregate by Gram-Schmidt twice, to the tentative prolongator, and their
// coefficients in that basis to `coarse`. A vector that depends linearly on those before it, to a relative 1e-6, is zero there.
__kernel void orthonormalise(ulong aggregates, uint block, uint vectors, __global const uint *list_offset,
                             __global const uint *nodes, __global const REAL *near, __global const uint *offset,
                             __global REAL *value, __global REAL *coarse)
{
    FOR_EACH(g, aggregates)
    {
        __global const uint *list = nodes + list_offset[g];
        const uint size = (list_offset[g + 1] - list_offset[g]) * block;
        __global REAL *r = coarse + g * vectors * vectors;
        for (uint v = 0; v < vectors; ++v) {
            REAL before = ZERO;
            for (uint k = 0; k < size; ++k) {
                const REAL x = near[(list[k / block] * (size_t)block + k % block) * vectors + v];
                AT(k, v) = x;
                before += x * x;
            }
            for (uint u = 0; u < vectors; ++u) {
                r[u * vectors + v] = ZERO;
            }
            for (uint u = 0; u < 2 * v; ++u) {
                REAL dot = ZERO;
                for (uint k = 0; k < size; ++k) {
                    dot += AT(k, u % v) * AT(k, v);
                }
                for (uint k = 0; k < size; ++k) {
                    AT(k, v) -= dot * AT(k, u % v);
                }
                r[u % v * vectors + v] += dot;
            }
            REAL after = ZERO;
            for (uint k = 0; k < size; ++k) {
                after += AT(k, v) * AT(k, v);
            }
            const bool independent = after > (REAL)1e-12 * before;
            const REAL norm = sqrt(after);
            for (uint k = 0; k < size; ++k) {
                AT(k, v) = independent ? AT(k, v) / norm : ZERO;
            }
            r[v * vectors + v] = independent ? norm : ZERO;
        }
    }
}

// Rows of vectors that are zero in their aggregate get 1 on the diagonal.
__kernel void mend_diagonal(ulong rows, __global const uint *offset, __global const uint *column,
                            __global REAL *value)
{
    FOR_EACH(i, rows)
    {
        for (uint k = offset[i]; k < offset[i + 1]; ++k) {
            if (column[k] == i && value[k] == ZERO) {
                value[k] = ONE;
            }
        }
    }
}

// The squares of the entries: the entries of a matrix of nodes are square roots of sums of them.
__kernel void square_values(ulong n, __global const REAL *value, __global REAL *square)
{
    FOR_EACH(i, n)
    {
        square[i] = value[i] * value[i];
    }
}

// Square roots, in place.
__kernel void root_values(ulong n, __global REAL *value)
{
    FOR_EACH(i, n)
    {
        value[i] = sqrt(value[i]);
    }
}

// The rows of each node: row v has the columns block v ... block v + block - 1, with the value 1.
__kernel void fill_blocks(ulong rows, uint block, __global uint *offset, __global uint *column, __global REAL *value)
{
    FOR_EACH(r, rows)
    {
        if (r % block == 0) {
            offset[r / block] = (uint)r;
        }
        if (r + 1 == rows) {
            offset[rows / block] = (uint)rows;
        }
        column[r] = (uint)r;
        value[r] = ONE;
    }
}
