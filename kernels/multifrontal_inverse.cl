// Inverses of the pivots' triangles of multifrontal factors, in their place, so that solves on GPUs are products (Alvarado and Schreiber 1993);
// fronts.clh has the layout of fronts.
//
// Traffic: a step that joins squares of `half` rows reads those of its pairs `half` / 32 times, from cache.
//@ build
//@ build SYMMETRIC=1
//@ build SCALAR_COMPLEX=1
//@ build SCALAR_COMPLEX=1 SYMMETRIC=1
#include "common.clh"
#include "scalar.clh"
#include "fronts.clh"
#include "tiles.clh"

// Element (i, k) of the triangle at `a`, with ones on its diagonal where it is `unit`.
inline SCALAR of_triangle(__global const SCALAR *a, size_t order, size_t i, size_t k, bool upper, bool unit)
{
    if (i == k) {
        return unit ? SCALAR_ONE : a[k * order + i];
    }
    return (upper ? i < k : i > k) ? a[k * order + i] : SCALAR_ZERO;
}

// Inverts the tiles on the diagonals of L, and with LU of U, in place.
__kernel __attribute__((reqd_work_group_size(2 * TILE, 1, 1)))
void invert_tiles(__global const uint *task, __global const ulong *fronts, __global SCALAR *factors)
{
    __local SCALAR tile[TILE * TILE];
    const front_type front = front_at(fronts, task[2 * TASK]);
    const size_t begin = task[2 * TASK + 1], size = min((size_t)TILE, front.pivots - begin);
    __global SCALAR *a = factors + front.factors + begin * (front.order + 1);
    for (size_t e = get_local_id(0); e < TILE * TILE; e += 2 * TILE) {
        const size_t i = e % TILE, k = e / TILE;
        tile[e] = max(i, k) < size ? a[k * front.order + i] : SCALAR_ZERO;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    invert_tile(get_local_id(0), size, front.order, tile, a);
}

// The inverse of L = [A 0; B C] has -inv(C) B inv(A) in the place of B, that of U = [A B; 0 C] has -inv(A) B inv(C). The inverses of the
// squares of `half` rows on the diagonal are known. One launch computes the product on the right of B to `scratch`, a second one the other.
// The work-groups of a front of `list` have a tile each, and those beyond its last have none.
__kernel GROUP void join_tiles(uint half_rows, uint upper, uint second, __global const uint *list, __global const ulong *scratch_of,
                               __global const ulong *fronts, __global SCALAR *factors, __global SCALAR *scratch)
{
    __local SCALAR left[TILE * TILE], right[TILE * TILE];
    const size_t place = get_group_id(1), position = list[place], pivots = PIVOTS_OF(position), order = pivots + REST_OF(position);
    __global SCALAR *a = factors + front_at(fronts, position).factors;
    const bool unit = !IS_SYMMETRIC && !upper;
    // B has `rows` rows from `top` on and `cols` columns from `begin` on.
    const size_t side = half_rows / TILE, pair = get_group_id(0) / (side * side), tile = get_group_id(0) % (side * side);
    const size_t middle = (2 * pair + 1) * half_rows, far = middle < pivots ? min((size_t)half_rows, pivots - middle) : 0;
    const size_t top = upper ? middle - half_rows : middle, begin = upper ? middle : middle - half_rows;
    const size_t rows = upper ? half_rows : far, cols = upper ? far : half_rows;
    const size_t first_row = tile % side * TILE, first_col = tile / side * TILE;
    const size_t has_tile = far > 0 && first_row < rows && first_col < cols ? 1 : 0;
    __global SCALAR *between = scratch + scratch_of[place] + pair * half_rows * half_rows;
    // Where the triangle has elements in these rows or columns.
    const size_t inner = second ? rows : cols, first = second ? first_row : first_col;
    const bool to_end = (upper != 0) == (second != 0);
    const size_t from = to_end ? first : 0, until = to_end ? inner : min(inner, first + TILE);
    const size_t steps = has_tile * ((until - from + TILE - 1) / TILE);
    SCALAR sums[OF_TILE];
    for (size_t c = 0; c < OF_TILE; ++c) {
        sums[c] = SCALAR_ZERO;
    }
    for (size_t step = 0; step < steps; ++step) {
        for (size_t e = ITEM; e < TILE * TILE; e += ITEMS) {
            // Element (x, inner y) of the left matrix, element (inner x, y) of the right one.
            const size_t x = e % TILE, y = e / TILE, row = first_row + x, col = first_col + y;
            const size_t of_left = from + step * TILE + y, of_right = from + step * TILE + x;
            SCALAR to_left = SCALAR_ZERO, to_right = SCALAR_ZERO;
            if (row < rows && of_left < inner) {
                to_left = second ? of_triangle(a + top * (order + 1), order, row, of_left, upper, unit)
                                 : a[(begin + of_left) * order + top + row];
            }
            if (col < cols && of_right < inner) {
                to_right = second ? between[col * rows + of_right]
                                  : of_triangle(a + begin * (order + 1), order, of_right, col, upper, unit);
            }
            left[e] = to_left;
            right[e] = to_right;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        add_product(left, right, sums);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t c = 0; c < OF_TILE; ++c) {
        const size_t row = first_row + ITEM % TILE, col = first_col + FIRST_OF_TILE + c;
        if (has_tile && row < rows && col < cols) {
            if (second) {
                a[(begin + col) * order + top + row] = -sums[c];
            } else {
                between[col * rows + row] = sums[c];
            }
        }
    }
}

#ifndef SYMMETRIC
// The row that the exchanges of its front bring to each pivot.
__kernel void order_pivots(ulong count, __global const ulong *fronts, __global const uint *pivot_of, __global uint *row_of_pivot)
{
    for (size_t position = get_global_id(0); position < count; position += get_global_size(0)) {
        const front_type front = front_at(fronts, position);
        __global uint *row = row_of_pivot + front.first;
        for (size_t k = 0; k < front.pivots; ++k) {
            row[k] = (uint)(front.first + k);
        }
        for (size_t k = 0; k < front.pivots; ++k) {
            const size_t other = pivot_of[front.first + k] - front.first;
            const uint moved = row[k];
            row[k] = row[other];
            row[other] = moved;
        }
    }
}
#endif
