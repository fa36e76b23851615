// C = alpha op(A) op(B) + beta C of dense column-major matrices and parts of them; beta = 0 never reads C.
//
// The build defines
//   OPS     a + 3 b for op(A) and op(B); 0: the matrix, 1: its transpose, 2: its conjugate transpose
//   TILE    1000 times the rows and once the columns of C of a work-group
//   BK      columns of op(A) and rows of op(B) in local memory at a time
//   ITEM    likewise of an item                                      (gemm)
//   WARP    likewise of a warp of 32 items                           (gemm)
//   STAGES  tiles of op(A) and op(B) in local memory                 (gemm)
//   PAIRS   every column of A, B and C begins at 16 bytes            (gemm)
//   PARTS   several work-groups share the depth of a tile of C   (gemm)
//   PACKED  only for CPUs: rows and columns of C of an item
// With `lower`, only the elements on and below the diagonal of C are computed. With PARTS, a work-group takes at most `span` columns of op(A):
// further work-groups take the next ones and leave their sums behind C, for sum_parts.
//
//@ build TILE=128064 BK=8 ITEM=8004
//@ build TILE=64064 BK=8 ITEM=4004 OPS=1 PARTS=1
//@ build TILE=64064 BK=4 ITEM=4004 OPS=4
//@ build TILE=64032 BK=16 WARP=32016 STAGES=2 TENSOR=0
//@ build TILE=128128 BK=8 WARP=32064 STAGES=3 PAIRS=1 TENSOR=90
//@ build TILE=128128 BK=8 WARP=32064 STAGES=3 TENSOR=90 OPS=4
//@ build TILE=64064 BK=16 WARP=32016 STAGES=3 TENSOR=90
//@ build TILE=64064 BK=16 WARP=32016 STAGES=3 TENSOR=90 OPS=1 PARTS=1
//@ build CPU=1 PACKED=64
//@ build CPU=1 PACKED=64 OPS=4
//@ build CPU=1 PACKED=64 SCALAR_COMPLEX=1
//@ build TILE=64064 BK=4 ITEM=4004 OPS=8 SCALAR_COMPLEX=1
//@ build TILE=64064 BK=8 WARP=32016 STAGES=3 SCALAR_COMPLEX=1 TENSOR=90
//@ build TILE=32032 BK=8 WARP=16016 STAGES=3 SCALAR_COMPLEX=1 TENSOR=90 OPS=8 PARTS=1
//@ build TILE=32032 BK=8 WARP=16016 STAGES=2 SCALAR_COMPLEX=1 TENSOR=0
//
// 2 m n k operations (8 m n k in complex numbers). A work-group reads (TM + TN) k elements for TM TN k products.
#include "common.clh"
#include "scalar.clh"
#include "tensor.clh"

#ifndef OPS
#define OPS 0
#endif
#define OPA (OPS % 3)
#define OPB (OPS / 3)
#ifdef TILE
#define TM (TILE / 1000)
#define TN (TILE % 1000)
#endif

#if defined(TILE) || defined(PACKED)
// Work-groups that run at the same time share rows of A and columns of B in the cache: a band of so many columns of tiles.
#define BAND 8

#define BAND_OF(group, tiles_m) ((group) / (BAND * (tiles_m)))
#define IN_BAND(group, tiles_m) ((group) % (BAND * (tiles_m)))
#define BAND_WIDTH(group, tiles_m, tiles_n) min((size_t)BAND, (tiles_n) - BAND_OF(group, tiles_m) * BAND)
#define TILE_ROW(group, tiles_m, tiles_n) (IN_BAND(group, tiles_m) / BAND_WIDTH(group, tiles_m, tiles_n))
#define TILE_COLUMN(group, tiles_m, tiles_n)                                                                           \
    (BAND_OF(group, tiles_m) * BAND + IN_BAND(group, tiles_m) % BAND_WIDTH(group, tiles_m, tiles_n))
#endif

#ifdef TILE
#define COPIES_A ((TM * BK + ITEMS - 1) / ITEMS)
#define COPIES_B ((TN * BK + ITEMS - 1) / ITEMS)

// The row (or column) of a tile in local memory and the column (or row) of op(A) (or op(B)) of the q-th copy of an item: neighbouring items
// read neighbouring elements.
#if OPA == 0
#define ROW_A(q) ((item + (q) * ITEMS) % TM)
#define DEPTH_A(q) ((item + (q) * ITEMS) / TM)
#define PLACE_A(i, l) ((l) * lda + (i))
#else
#define ROW_A(q) ((item + (q) * ITEMS) / BK)
#define DEPTH_A(q) ((item + (q) * ITEMS) % BK)
#define PLACE_A(i, l) ((i) * lda + (l))
#endif
#if OPB == 0
#define COLUMN_B(q) ((item + (q) * ITEMS) / BK)
#define DEPTH_B(q) ((item + (q) * ITEMS) % BK)
#define PLACE_B(l, j) ((j) * ldb + (l))
#else
#define COLUMN_B(q) ((item + (q) * ITEMS) % TN)
#define DEPTH_B(q) ((item + (q) * ITEMS) / TN)
#define PLACE_B(l, j) ((l) * ldb + (j))
#endif

// The part of the depth that a work-group has; without PARTS, no register is spent on it.
#ifdef PARTS
#define PART (get_group_id(0) / (tiles_m * tiles_n))
#define SPAN min((size_t)span, k - part * span)
#define MOVE_TO_PART                                                                                                   \
    a += part * span * (OPA == 0 ? lda : 1);                                                                           \
    b += part * span * (OPB == 0 ? 1 : ldb);                                                                           \
    c += part * n * ldc;
#else
#define PART 0
#define SPAN k
#define MOVE_TO_PART (void)span;
#endif

// C = alpha times the sum of `parts` matrices of m x n, plus beta C; an element per item.
__kernel void sum_parts(ulong m, ulong n, uint parts, uint lower, SCALAR alpha, __global const SCALAR *of_parts, SCALAR beta,
                        __global SCALAR *c_of, ulong c_offset, ulong ldc)
{
    const size_t element = get_global_id(0), row = element % m, column = element / m;
    if (column < n && (!lower || row >= column)) {
        SCALAR sum = SCALAR_ZERO;
        for (uint part = 0; part < parts; ++part) {
            sum += of_parts[part * m * n + element];
        }
        __global SCALAR *at = c_of + c_offset + column * ldc + row;
        const SCALAR product = scalar_mul(alpha, sum);
        *at = scalar_is_zero(beta) ? product : scalar_mad(beta, *at, product);
    }
}
#endif

#if defined(TILE) && defined(ITEM)
#define RM (ITEM / 1000)
#define RN (ITEM % 1000)

// Elements of 16 bytes.
#if REAL_BITS == 32 && !defined(SCALAR_COMPLEX)
#define CHUNK 4
#define SPLIT_CHUNK(to, from)                                                                                          \
    const float4 loaded = *(__local const float4 *)(from);                                                             \
    (to)[0] = loaded.s0;                                                                                               \
    (to)[1] = loaded.s1;                                                                                               \
    (to)[2] = loaded.s2;                                                                                               \
    (to)[3] = loaded.s3
#elif REAL_BITS == 64 && defined(SCALAR_COMPLEX)
#define CHUNK 1
#define SPLIT_CHUNK(to, from) (to)[0] = *(from)
#elif defined(SCALAR_COMPLEX)
#define CHUNK 2
#define SPLIT_CHUNK(to, from)                                                                                          \
    const float4 loaded = *(__local const float4 *)(from);                                                             \
    (to)[0] = loaded.lo;                                                                                               \
    (to)[1] = loaded.hi
#else
#define CHUNK 2
#define SPLIT_CHUNK(to, from)                                                                                          \
    const double2 loaded = *(__local const double2 *)(from);                                                           \
    (to)[0] = loaded.s0;                                                                                               \
    (to)[1] = loaded.s1
#endif

#define ITEMS_M (TM / RM)
#define ITEMS_N (TN / RN)
#define ITEMS (ITEMS_M * ITEMS_N)
// Neighbouring rows of op(A) lie side by side in local memory, with a gap that spreads transposed copies over the banks.
#define LD_A (TM + CHUNK)
#define LD_B (TN + CHUNK)

#define LOAD_TILES(from)                                                                                               \
    _Pragma("unroll") for (uint q = 0; q < COPIES_A; ++q) {                                                            \
        const size_t i = above + ROW_A(q), l = (from) + DEPTH_A(q);                                                    \
        next_a[q] = i < m && l < depth ? a[PLACE_A(i, l)] : SCALAR_ZERO;                                               \
    }                                                                                                                  \
    _Pragma("unroll") for (uint q = 0; q < COPIES_B; ++q) {                                                            \
        const size_t j = left + COLUMN_B(q), l = (from) + DEPTH_B(q);                                                  \
        next_b[q] = j < n && l < depth ? b[PLACE_B(l, j)] : SCALAR_ZERO;                                               \
    }

#define KEEP_TILES(stage)                                                                                              \
    _Pragma("unroll") for (uint q = 0; q < COPIES_A; ++q) {                                                            \
        if (COPIES_A * ITEMS == TM * BK || item + q * ITEMS < TM * BK) {                                               \
            tile_a[((stage) * BK + DEPTH_A(q)) * LD_A + ROW_A(q)] = OPA == 2 ? scalar_conj(next_a[q]) : next_a[q];       \
        }                                                                                                              \
    }                                                                                                                  \
    _Pragma("unroll") for (uint q = 0; q < COPIES_B; ++q) {                                                            \
        if (COPIES_B * ITEMS == TN * BK || item + q * ITEMS < TN * BK) {                                               \
            tile_b[((stage) * BK + DEPTH_B(q)) * LD_B + COLUMN_B(q)] = OPB == 2 ? scalar_conj(next_b[q]) : next_b[q];    \
        }                                                                                                              \
    }

// A tile of C per work-group, RM x RN elements per item; the next tiles of A and B are read while the present ones are multiplied.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
gemm(ulong m, ulong n, ulong k, ulong span, SCALAR alpha, __global const SCALAR *a_of, ulong a_offset, ulong lda,
     __global const SCALAR *b_of, ulong b_offset, ulong ldb, SCALAR beta, __global SCALAR *c_of, ulong c_offset,
     ulong ldc, uint lower)
{
    __local SCALAR tile_a[2 * BK * LD_A] __attribute__((aligned(16)));
    __local SCALAR tile_b[2 * BK * LD_B] __attribute__((aligned(16)));
    __global const SCALAR *a = a_of + a_offset, *b = b_of + b_offset;
    __global SCALAR *c = c_of + c_offset;
    const uint item = (uint)get_local_id(0);
    const uint item_m = item % ITEMS_M, item_n = item / ITEMS_M;
    const size_t tiles_m = (m + TM - 1) / TM, tiles_n = (n + TN - 1) / TN;
    const size_t part = PART;
    const size_t group = get_group_id(0) - part * tiles_m * tiles_n;
    const size_t above = TM * TILE_ROW(group, tiles_m, tiles_n);
    const size_t left = TN * TILE_COLUMN(group, tiles_m, tiles_n);
    // A tile above the diagonal has nothing to do.
    const bool wanted = !lower || above + TM > left;
    const size_t depth = wanted ? SPAN : 0;
    MOVE_TO_PART
    SCALAR next_a[COPIES_A], next_b[COPIES_B];
    SCALAR sum[RM][RN];
#pragma unroll
    for (uint i = 0; i < RM; ++i) {
#pragma unroll
        for (uint j = 0; j < RN; ++j) {
            sum[i][j] = SCALAR_ZERO;
        }
    }
    LOAD_TILES((size_t)0);
    KEEP_TILES(0);
    for (size_t from = 0; from < depth; from += BK) {
        const uint stage = (uint)(from / BK) % 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        LOAD_TILES(from + BK);
#pragma unroll
        for (uint l = 0; l < BK; ++l) {
            SCALAR of_a[RM], of_b[RN];
#pragma unroll
            for (uint h = 0; h < RM / CHUNK; ++h) {
                SPLIT_CHUNK(of_a + h * CHUNK, tile_a + (stage * BK + l) * LD_A + (h * ITEMS_M + item_m) * CHUNK);
            }
#pragma unroll
            for (uint h = 0; h < RN / CHUNK; ++h) {
                SPLIT_CHUNK(of_b + h * CHUNK, tile_b + (stage * BK + l) * LD_B + (h * ITEMS_N + item_n) * CHUNK);
            }
#pragma unroll
            for (uint i = 0; i < RM; ++i) {
#pragma unroll
                for (uint j = 0; j < RN; ++j) {
                    sum[i][j] = scalar_mad(of_a[i], of_b[j], sum[i][j]);
                }
            }
        }
        KEEP_TILES(1 - stage);
    }
#pragma unroll
    for (uint j = 0; j < RN; ++j) {
        const size_t column = left + (j / CHUNK * ITEMS_N + item_n) * CHUNK + j % CHUNK;
#pragma unroll
        for (uint i = 0; i < RM; ++i) {
            const size_t row = above + (i / CHUNK * ITEMS_M + item_m) * CHUNK + i % CHUNK;
            if (row < m && column < n && (!lower || row >= column)) {
                __global SCALAR *at = c + column * ldc + row;
                const SCALAR product = scalar_mul(alpha, sum[i][j]);
                *at = scalar_is_zero(beta) ? product : scalar_mad(beta, *at, product);
            }
        }
    }
}
#endif

#if defined(TILE) && defined(WARP) && REAL_BITS == 64
#define WM (WARP / 1000)
#define WN (WARP % 1000)

#define WARPS_M (TM / WM)
#define WARPS_N (TN / WN)
#define ITEMS (32 * WARPS_M * WARPS_N)
#define TILES_M (WM / 16)
#define TILES_N (WN / 8)
// Eight columns of op(A) at a time.
#define SLABS (BK / 8)

#if TENSOR >= 80
#define BUNDLE bundle_copies()
#define AWAIT(count) AWAIT_COPIES(count)
#else
#define BUNDLE
#define AWAIT(count)
#endif

// d += a b of 16 x 8 and 8 x 8: a.s01 are rows g and g + 8 of the first depth of the item, a.s23 of its second; b
// likewise.
#if TENSOR >= 80
#define MMA_SPACE
#define MULTIPLY_TILE(d, a, b) mma_16x8x8(&(d), a, b)
inline void mma_16x8x8(double4 *d, double4 a, double2 b)
{
#if TENSOR >= 90
    double d0 = d->s0, d1 = d->s1, d2 = d->s2, d3 = d->s3;
    __asm__ volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+d"(d0), "+d"(d1), "+d"(d2), "+d"(d3)
                     : "d"(a.s0), "d"(a.s1), "d"(a.s2), "d"(a.s3), "d"(b.s0), "d"(b.s1));
    *d = (double4)(d0, d1, d2, d3);
#else
    mma_16x8x4(d, a.lo, b.s0);
    mma_16x8x4(d, a.hi, b.s1);
#endif
}
#else
// Through local memory.
#define MMA_SPACE                                                                                                      \
    __local double4 mma_a[ITEMS];                                                                                      \
    __local double2 mma_b[ITEMS];
#define MULTIPLY_TILE(d, a, b)                                                                                         \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                                      \
    mma_a[item] = (a);                                                                                                 \
    mma_b[item] = (b);                                                                                                 \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                                      \
    multiply_shared(&(d), mma_a + 32 * warp, mma_b + 32 * warp, lane)
inline void multiply_shared(double4 *d, __local const double4 *a, __local const double2 *b, uint lane)
{
    const uint row = lane / 4 * 4, column = lane % 4 * 8;
    for (uint k = 0; k < 4; ++k) {
        const double4 of_a = a[row + k];
        const double2 even = b[column + k], odd = b[column + 4 + k];
        const double2 first = (double2)(even.s0, odd.s0), second = (double2)(even.s1, odd.s1);
        *d += (double4)(of_a.s0 * first + of_a.s2 * second, of_a.s1 * first + of_a.s3 * second);
    }
}
#endif

#ifdef SCALAR_COMPLEX
#include "gemm_complex.clh"
#else
// Where two neighbours of a tile in local memory are, in pairs. A matrix whose columns run along the tile keeps them, each shifted by
// some pairs; one whose columns run along the depth has eight of its elements beside each other. Eight items that load together always meet all banks.
#define ALONG(width, depth, pair) ((depth) * (width / 2) + ((pair) ^ ((depth) & 6)))
#define ACROSS(width, depth_pair, at) (((depth_pair) / 4 * (width) + (at)) * 4 + (depth_pair) % 4)

#if OPA == 0
#define COPY_A_PLACE(c) const uint outer = (c) % (TM / 2), inner = (c) / (TM / 2), at = ALONG(TM, inner, outer)
#define COPY_A_FROM ((from + inner) * lda + above + 2 * outer)
#define COPY_A_LEFT (from + inner < depth && above + 2 * outer < m ? m - above - 2 * outer : 0)
// Rows g and g + 8 of a product of small matrices.
#define TENSOR_ROW(g, h) (2 * (g) + (h))
#else
#define COPY_A_PLACE(c) const uint outer = (c) / (BK / 2), inner = (c) % (BK / 2), at = ACROSS(TM, inner, outer)
#define COPY_A_FROM ((above + outer) * lda + from + 2 * inner)
#define COPY_A_LEFT (above + outer < m && from + 2 * inner < depth ? depth - from - 2 * inner : 0)
#define TENSOR_ROW(g, h) ((g) + 8 * (h))
#endif
#if OPB == 0
#define COPY_B_PLACE(c) const uint outer = (c) / (BK / 2), inner = (c) % (BK / 2), at = ACROSS(TN, inner, outer)
#define COPY_B_FROM ((left + outer) * ldb + from + 2 * inner)
#define COPY_B_LEFT (left + outer < n && from + 2 * inner < depth ? depth - from - 2 * inner : 0)
#define TENSOR_COLUMN(q, c) (8 * (q) + (c))
#else
#define COPY_B_PLACE(c) const uint outer = (c) % (TN / 2), inner = (c) / (TN / 2), at = ALONG(TN, inner, outer)
#define COPY_B_FROM ((from + inner) * ldb + left + 2 * outer)
#define COPY_B_LEFT (from + inner < depth && left + 2 * outer < n ? n - left - 2 * outer : 0)
#define TENSOR_COLUMN(q, c) ((q) / 2 * 16 + 2 * (c) + (q) % 2)
#endif

// Copies a pair of which `there` elements exist; zeros stand for the others.
#if TENSOR >= 80
#ifdef PAIRS
#define COPY_PAIR(to, of, offset, there) copy_ahead(to, (of) + ((there) > 0 ? (offset) : 0), (uint)min((size_t)(there), (size_t)2) * 8)
#else
#define COPY_PAIR(to, of, offset, there)                                                                               \
    copy_one_ahead((__local double *)(to), (of) + ((there) > 0 ? (offset) : 0), (there) > 0 ? 8 : 0);                  \
    copy_one_ahead((__local double *)(to) + 1, (of) + ((there) > 1 ? (offset) + 1 : 0), (there) > 1 ? 8 : 0)
// As copy_ahead, 8 bytes.
inline void copy_one_ahead(__local double *to, __global const double *from, uint bytes)
{
    __asm__ volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;"
                     :
                     : "r"((uint)(ulong)to), "l"((ulong)from), "r"(bytes)
                     : "memory");
}
#endif
#else
#define COPY_PAIR(to, of, offset, there)                                                                               \
    *(to) = (double2)((there) > 0 ? (of)[offset] : 0.0, (there) > 1 ? (of)[(offset) + 1] : 0.0)
#endif

// Starts the copies of the tiles whose first column of op(A) is `at`, or of nothing past the end.
#define COPY_TILES(start, stage)                                                                                       \
    {                                                                                                                  \
        const size_t from = (start);                                                                                   \
        _Pragma("unroll") for (uint q = 0; q < TM * BK / 2 / ITEMS; ++q) {                                             \
            COPY_A_PLACE(item + q * ITEMS);                                                                            \
            COPY_PAIR(tile_a + (stage) * (TM * BK / 2) + at, a, COPY_A_FROM, COPY_A_LEFT);                             \
        }                                                                                                              \
        _Pragma("unroll") for (uint q = 0; q < TN * BK / 2 / ITEMS; ++q) {                                             \
            COPY_B_PLACE(item + q * ITEMS);                                                                            \
            COPY_PAIR(tile_b + (stage) * (TN * BK / 2) + at, b, COPY_B_FROM, COPY_B_LEFT);                             \
        }                                                                                                              \
        BUNDLE;                                                                                                        \
    }

// A tile of C per work-group on tensor cores. The tiles of A and B are copied past the registers, STAGES - 1 ahead. An item loads two
// neighbours at once: which rows, columns and depths a product of small matrices means is free as long as all agree.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
gemm(ulong m, ulong n, ulong k, ulong span, SCALAR alpha, __global const SCALAR *a_of, ulong a_offset, ulong lda,
     __global const SCALAR *b_of, ulong b_offset, ulong ldb, SCALAR beta, __global SCALAR *c_of, ulong c_offset,
     ulong ldc, uint lower)
{
    MMA_SPACE
    __local double2 tile_a[STAGES * TM * BK / 2], tile_b[STAGES * TN * BK / 2];
    __global const double *a = a_of + a_offset, *b = b_of + b_offset;
    __global double *c = c_of + c_offset;
    const uint item = (uint)get_local_id(0);
    const uint lane = item % 32, warp = item / 32;
    const uint warp_m = warp % WARPS_M * WM, warp_n = warp / WARPS_M * WN;
    const uint g = lane / 4, t = lane % 4;
    const size_t tiles_m = (m + TM - 1) / TM, tiles_n = (n + TN - 1) / TN;
    const size_t part = PART;
    const size_t group = get_group_id(0) - part * tiles_m * tiles_n;
    const size_t above = TM * TILE_ROW(group, tiles_m, tiles_n);
    const size_t left = TN * TILE_COLUMN(group, tiles_m, tiles_n);
    // A tile above the diagonal has nothing to do.
    const bool wanted = !lower || above + TM > left;
    const size_t depth = wanted ? SPAN : 0;
    MOVE_TO_PART
    double4 sum[TILES_M][TILES_N];
#pragma unroll
    for (uint ahead = 0; ahead < STAGES - 1; ++ahead) {
        COPY_TILES((size_t)BK * ahead, ahead);
    }
    // Sums begin with beta C / alpha where that division is exact: all of its elements are then under way at once.
    const bool begins = depth > 0 && beta != 0.0 && fabs(alpha) == 1.0;
    const double factor = begins ? alpha * beta : 0.0;
#pragma unroll
    for (uint i = 0; i < TILES_M; ++i) {
#pragma unroll
        for (uint j = 0; j < TILES_N; ++j) {
            const size_t row = above + warp_m + 16 * i + TENSOR_ROW(g, 0), other = row + TENSOR_ROW(0, 1);
            const size_t column = left + warp_n + TENSOR_COLUMN(j, 2 * t), next = column + TENSOR_COLUMN(0, 1);
            __global const double *at = c + column * ldc + row;
            sum[i][j] = (double4)0.0;
            if (begins && column < n) {
#if OPA == 0 && defined(PAIRS)
                if (other < m) {
                    sum[i][j].s02 = factor * *(__global const double2 *)at;
                } else
#endif
                {
                    sum[i][j].s0 = row < m ? factor * at[0] : 0.0;
                    sum[i][j].s2 = other < m ? factor * at[TENSOR_ROW(0, 1)] : 0.0;
                }
            }
            at += TENSOR_COLUMN(0, 1) * ldc;
            if (begins && next < n) {
#if OPA == 0 && defined(PAIRS)
                if (other < m) {
                    sum[i][j].s13 = factor * *(__global const double2 *)at;
                } else
#endif
                {
                    sum[i][j].s1 = row < m ? factor * at[0] : 0.0;
                    sum[i][j].s3 = other < m ? factor * at[TENSOR_ROW(0, 1)] : 0.0;
                }
            }
        }
    }
    const double kept = begins ? 0.0 : beta;
    uint stage = 0, empty = STAGES - 1;
    for (size_t step = 0; step < depth; step += BK) {
        AWAIT(STAGES - 2);
        barrier(CLK_LOCAL_MEM_FENCE);
        COPY_TILES(step + (STAGES - 1) * BK, empty);
        __local const double2 *of_a = tile_a + stage * (TM * BK / 2), *of_b = tile_b + stage * (TN * BK / 2);
#pragma unroll
        for (uint slab = 0; slab < SLABS; ++slab) {
            double4 va[TILES_M];
            double2 vb[TILES_N];
#pragma unroll
            for (uint i = 0; i < TILES_M; ++i) {
#if OPA == 0
                const uint pair = (warp_m + 16 * i) / 2 + g;
                va[i].lo = of_a[ALONG(TM, 8 * slab + 2 * t, pair)];
                va[i].hi = of_a[ALONG(TM, 8 * slab + 2 * t + 1, pair)];
#else
                const double2 upper = of_a[ACROSS(TM, 4 * slab + t, warp_m + 16 * i + g)];
                const double2 lower_half = of_a[ACROSS(TM, 4 * slab + t, warp_m + 16 * i + g + 8)];
                va[i] = (double4)(upper.s0, lower_half.s0, upper.s1, lower_half.s1);
#endif
            }
#pragma unroll
            for (uint j = 0; j < TILES_N; ++j) {
#if OPB == 0
                vb[j] = of_b[ACROSS(TN, 4 * slab + t, warp_n + 8 * j + g)];
#else
                if (j % 2 == 0) {
                    const double2 first = of_b[ALONG(TN, 8 * slab + 2 * t, (warp_n + 8 * j) / 2 + g)];
                    const double2 second = of_b[ALONG(TN, 8 * slab + 2 * t + 1, (warp_n + 8 * j) / 2 + g)];
                    vb[j] = (double2)(first.s0, second.s0);
                    vb[j + 1] = (double2)(first.s1, second.s1);
                }
#endif
            }
#pragma unroll
            for (uint i = 0; i < TILES_M; ++i) {
#pragma unroll
                for (uint j = 0; j < TILES_N; ++j) {
                    MULTIPLY_TILE(sum[i][j], va[i], vb[j]);
                }
            }
        }
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        empty = empty + 1 == STAGES ? 0 : empty + 1;
    }
    AWAIT(0);
#pragma unroll
    for (uint j = 0; j < TILES_N; ++j) {
#pragma unroll
        for (uint h = 0; h < 2; ++h) {
            const size_t column = left + warp_n + TENSOR_COLUMN(j, 2 * t + h);
#pragma unroll
            for (uint i = 0; i < TILES_M; ++i) {
                const double2 pair = alpha * (h == 0 ? sum[i][j].s02 : sum[i][j].s13);
                const size_t row = above + warp_m + 16 * i + TENSOR_ROW(g, 0);
                __global double *at = c + column * ldc + row;
#if OPA == 0 && defined(PAIRS)
                if (row + 1 < m && column < n && (!lower || row >= column)) {
                    __global double2 *both = (__global double2 *)at;
                    *both = kept == 0.0 ? pair : pair + kept * *both;
                    continue;
                }
#endif
                if (row < m && column < n && (!lower || row >= column)) {
                    *at = kept == 0.0 ? pair.s0 : pair.s0 + kept * *at;
                }
                const size_t other = row + TENSOR_ROW(0, 1);
                at += TENSOR_ROW(0, 1);
                if (other < m && column < n && (!lower || other >= column)) {
                    *at = kept == 0.0 ? pair.s1 : pair.s1 + kept * *at;
                }
            }
        }
    }
}
#endif
#endif

#ifdef PACKED

// Rows and columns of C in registers, as vectors of rows.
#if REAL_BITS == 64
#define MR 8
#define VALUES REAL8
#else
#define MR 16
#define VALUES float16
#endif
#ifdef SCALAR_COMPLEX
#define NR 4
#define PARTS 2
#else
#define NR 8
#define PARTS 1
#endif
// Panels of rows and columns of C of an item.
#define PANELS_M (PACKED / MR)
#define PANELS_N (PACKED / NR)

// op(A) in panels of MR rows, a column of MR elements after the other, real parts before imaginary ones; zeros fill the last panel.
// A panel per item.
__kernel void pack_a(ulong m, ulong k, __global const SCALAR *a_of, ulong a_offset, ulong lda, __global REAL *packed)
{
    const size_t above = get_global_id(0) * MR;
    __global const SCALAR *a = a_of + a_offset;
    __global REAL *to = packed + above * k * PARTS;
    const size_t rows = above < m ? min((size_t)MR, m - above) : 0;
    if (rows > 0) {
        for (size_t l = 0; l < k; ++l) {
            for (size_t i = 0; i < rows; ++i) {
#if OPA == 0
                const SCALAR value = a[l * lda + above + i];
#else
                const SCALAR value = OPA == 2 ? scalar_conj(a[(above + i) * lda + l]) : a[(above + i) * lda + l];
#endif
#ifdef SCALAR_COMPLEX
                to[(2 * l + 0) * MR + i] = value.s0;
                to[(2 * l + 1) * MR + i] = value.s1;
#else
                to[l * MR + i] = value;
#endif
            }
            for (size_t i = rows; i < MR; ++i) {
                for (size_t part = 0; part < PARTS; ++part) {
                    to[(PARTS * l + part) * MR + i] = ZERO;
                }
            }
        }
    }
}

// op(B) in panels of NR columns, a row of NR elements after the other.
__kernel void pack_b(ulong k, ulong n, __global const SCALAR *b_of, ulong b_offset, ulong ldb,
                     __global SCALAR *packed)
{
    const size_t left = get_global_id(0) * NR;
    __global const SCALAR *b = b_of + b_offset;
    __global SCALAR *to = packed + left * k;
    const size_t columns = left < n ? min((size_t)NR, n - left) : 0;
    if (columns > 0) {
        for (size_t l = 0; l < k; ++l) {
            for (size_t j = 0; j < columns; ++j) {
#if OPB == 0
                to[l * NR + j] = b[(left + j) * ldb + l];
#else
                to[l * NR + j] = OPB == 2 ? scalar_conj(b[l * ldb + left + j]) : b[l * ldb + left + j];
#endif
            }
            for (size_t j = columns; j < NR; ++j) {
                to[l * NR + j] = SCALAR_ZERO;
            }
        }
    }
}

// MR x NR elements of C.
inline void multiply_panels(ulong k, __global const REAL *a, __global const SCALAR *b, SCALAR alpha, SCALAR beta,
                            __global SCALAR *c, ulong ldc, size_t rows, size_t columns, bool lower, long diagonal)
{
    VALUES sum[NR];
#ifdef SCALAR_COMPLEX
    VALUES imaginary[NR];
#endif
#pragma unroll
    for (uint j = 0; j < NR; ++j) {
        sum[j] = (VALUES)ZERO;
#ifdef SCALAR_COMPLEX
        imaginary[j] = (VALUES)ZERO;
#endif
    }
    for (size_t l = 0; l < k; ++l) {
        const VALUES of_a = *(__global const VALUES *)(a + PARTS * l * MR);
#ifdef SCALAR_COMPLEX
        const VALUES of_ai = *(__global const VALUES *)(a + (2 * l + 1) * MR);
#endif
#pragma unroll
        for (uint j = 0; j < NR; ++j) {
            const SCALAR of_b = b[l * NR + j];
#ifdef SCALAR_COMPLEX
            sum[j] += of_a * of_b.s0;
            sum[j] -= of_ai * of_b.s1;
            imaginary[j] += of_a * of_b.s1;
            imaginary[j] += of_ai * of_b.s0;
#else
            sum[j] += of_a * of_b;
#endif
        }
    }
#ifndef SCALAR_COMPLEX
    const bool whole = rows == MR && columns == NR && !lower;
    if (whole) {
#pragma unroll
        for (uint j = 0; j < NR; ++j) {
            __global REAL *at = c + j * ldc;
#if REAL_BITS == 64
            vstore8(beta == ZERO ? alpha * sum[j] : alpha * sum[j] + beta * vload8(0, at), 0, at);
#else
            vstore16(beta == ZERO ? alpha * sum[j] : alpha * sum[j] + beta * vload16(0, at), 0, at);
#endif
        }
        return;
    }
#endif
    REAL real_parts[MR * NR];
#ifdef SCALAR_COMPLEX
    REAL imaginary_parts[MR * NR];
#endif
#pragma unroll
    for (uint j = 0; j < NR; ++j) {
#if REAL_BITS == 64
        vstore8(sum[j], j, real_parts);
#else
        vstore16(sum[j], j, real_parts);
#endif
#ifdef SCALAR_COMPLEX
#if REAL_BITS == 64
        vstore8(imaginary[j], j, imaginary_parts);
#else
        vstore16(imaginary[j], j, imaginary_parts);
#endif
#endif
    }
    for (size_t j = 0; j < columns; ++j) {
        for (size_t i = 0; i < rows; ++i) {
            if (!lower || (long)i + diagonal >= (long)j) {
                __global SCALAR *at = c + j * ldc + i;
#ifdef SCALAR_COMPLEX
                const SCALAR product = scalar_mul(alpha, (SCALAR)(real_parts[j * MR + i], imaginary_parts[j * MR + i]));
#else
                const SCALAR product = alpha * real_parts[j * MR + i];
#endif
                *at = scalar_is_zero(beta) ? product : scalar_mad(beta, *at, product);
            }
        }
    }
}

// PACKED x PACKED elements of C per item, from packed A and B.
__kernel void gemm(ulong m, ulong n, ulong k, SCALAR alpha, __global const REAL *a, __global const SCALAR *b,
                   SCALAR beta, __global SCALAR *c_of, ulong c_offset, ulong ldc, uint lower)
{
    const size_t tiles_m = (m + PACKED - 1) / PACKED, tiles_n = (n + PACKED - 1) / PACKED;
    const size_t tile_m = TILE_ROW(get_global_id(0), tiles_m, tiles_n);
    const size_t tile_n = TILE_COLUMN(get_global_id(0), tiles_m, tiles_n);
    __global SCALAR *c = c_of + c_offset;
    for (size_t jp = 0; jp < PANELS_N; ++jp) {
        const size_t left = tile_n * PACKED + jp * NR;
        for (size_t ip = 0; ip < PANELS_M; ++ip) {
            const size_t above = tile_m * PACKED + ip * MR;
            if (above < m && left < n && (!lower || above + MR > left)) {
                multiply_panels(k, a + above * k * PARTS, b + left * k, alpha, beta, c + left * ldc + above, ldc,
                                min((size_t)MR, m - above), min((size_t)NR, n - left), lower && above < left + NR,
                                (long)above - (long)left);
            }
        }
    }
}
#endif
