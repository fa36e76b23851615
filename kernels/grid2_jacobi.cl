// Sweeps of weighted Jacobi by strips, for GPUs, as grid2_strip.clh says. Traffic per point, f64, beside the halos: 24 B.
//
//   JACOBI    how many sweeps
//@ build JACOBI=2 ITEMS=64 AHEAD=2
//@ build JACOBI=5 ITEMS=64 AHEAD=2
//@ build JACOBI=2 ITEMS=64 AHEAD=2 PART=1
#include "common.clh"
#include "grid2_strip.clh"

#define HALO (JACOBI + JACOBI % 2)

// Rows of h^2 f, and of u those ahead; of what each stage reads, the row it relaxes and the one below.
typedef struct {
    REAL ua[AHEAD + 1], ub[AHEAD + 1], fa[AHEAD + JACOBI + 1], fb[AHEAD + JACOBI + 1];
    REAL centre_a[JACOBI], centre_b[JACOBI], south_a[JACOBI], south_b[JACOBI];
} Wave;

ALWAYS_INLINE void load(Wave *w, const Place *q, int row, int k, __global const REAL *f, __global const REAL *u)
{
    const size_t base = (size_t)row * (size_t)q->n;
    w->ua[k] = u[base + q->at_a], w->ub[k] = u[base + q->at_b];
    w->fa[k] = f[base + q->at_a], w->fb[k] = f[base + q->at_b];
}

// The step in which row `j` arrives; `edge` where the group meets the boundary, `now` the parity of `j`.
ALWAYS_INLINE void advance(Wave *w, const Place *q, const bool edge, const int now, int j, REAL weight, REAL h2, REAL omega,
                           __global const REAL *f, __global const REAL *u, __global REAL *out,
                           __local REAL (*slots)[JACOBI][2][ITEMS + 2])
{
    const int t = (int)get_local_id(0) + 1, height = q->height, before = 1 - now;
#pragma unroll
    for (int k = AHEAD; k > 0; --k) {
        w->ua[k] = w->ua[k - 1], w->ub[k] = w->ub[k - 1];
    }
#pragma unroll
    for (int k = AHEAD + JACOBI; k > 0; --k) {
        w->fa[k] = w->fa[k - 1], w->fb[k] = w->fb[k - 1];
    }
    load(w, q, edge ? clamp(j + AHEAD, 0, height - 1) : j + AHEAD, 0, f, u);
    w->fa[AHEAD] *= h2, w->fb[AHEAD] *= h2;
    REAL north_a = w->ua[AHEAD], north_b = w->ub[AHEAD];
#pragma unroll
    for (int s = 0; s < JACOBI; ++s) {
        const int r = j - 1 - s;
        const bool row_inside = !edge || (r > 0 && r < height - 1);
        slots[now][s][0][t] = north_a;
        slots[now][s][1][t] = north_b;
        const REAL west = slots[before][s][1][t - 1], east = slots[before][s][0][t + 1];
        const REAL a = w->centre_a[s], b = w->centre_b[s];
        const REAL to_a = RELAXED(weight, w->fa[AHEAD + s + 1], NEIGHBOURS(w->south_a[s], west, b, north_a)) - a;
        const REAL to_b = RELAXED(weight, w->fb[AHEAD + s + 1], NEIGHBOURS(w->south_b[s], a, east, north_b)) - b;
        w->south_a[s] = a, w->south_b[s] = b;
        w->centre_a[s] = north_a, w->centre_b[s] = north_b;
        north_a = !edge || (row_inside && q->inside_a) ? a + omega * to_a : a;
        north_b = !edge || (row_inside && q->inside_b) ? b + omega * to_b : b;
    }
    const int done = j - JACOBI;
    if (done >= q->low && done < q->high) {
        const size_t base = (size_t)done * (size_t)q->n;
        if (q->stored_a) {
            out[base + q->at_a] = north_a;
        }
        if (q->stored_b) {
            out[base + q->at_b] = north_b;
        }
    }
}

// out = JACOBI sweeps of weighted Jacobi over u; u on the boundary. `rows` is even.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
jacobi_strip(ulong points, ulong part_height, uint rows, REAL weight, REAL h2, REAL omega, __global const REAL *f, __global const REAL *u,
             __global REAL *out)
{
    __local REAL slots[2][JACOBI][2][ITEMS + 2];
    const int n = (int)points, height = HEIGHT(points, part_height);
    const int low = (int)get_group_id(1) * (int)rows, high = min(low + (int)rows, height);
    const int column = (int)get_group_id(0) * 2 * (ITEMS - HALO) - HALO, first = low - HALO, last = high - 1 + JACOBI;
    const bool edge = column <= 0 || column + 2 * ITEMS >= n || first <= 0 || last + 2 + AHEAD >= height;
    const int last_inner = edge ? first - 1 : last, last_edge = edge ? last : first - 1;
    const int item = (int)get_local_id(0);
    const Place q = place_of(n, height, (int)rows, HALO);
    Wave w;
    for (int k = 0; k <= AHEAD; ++k) {
        w.ua[k] = w.ub[k] = ZERO;
    }
    for (int k = 0; k <= AHEAD + JACOBI; ++k) {
        w.fa[k] = w.fb[k] = ZERO;
    }
    for (int s = 0; s < JACOBI; ++s) {
        w.centre_a[s] = w.centre_b[s] = w.south_a[s] = w.south_b[s] = ZERO;
    }
    if (item < 4 * JACOBI) {
        slots[item & 1][item / 4][item / 2 % 2][0] = slots[item & 1][item / 4][item / 2 % 2][ITEMS + 1] = ZERO;
    }
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
        load(&w, &q, clamp(first + k, 0, height - 1), AHEAD - 1 - k, f, u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = first; j <= last_inner; j += 2) {
        advance(&w, &q, false, 0, j, weight, h2, omega, f, u, out, slots);
        barrier(CLK_LOCAL_MEM_FENCE);
        advance(&w, &q, false, 1, j + 1, weight, h2, omega, f, u, out, slots);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int j = first; j <= last_edge; j += 2) {
        advance(&w, &q, true, 0, j, weight, h2, omega, f, u, out, slots);
        barrier(CLK_LOCAL_MEM_FENCE);
        advance(&w, &q, true, 1, j + 1, weight, h2, omega, f, u, out, slots);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
