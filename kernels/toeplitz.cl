// Products of lower triangular Toeplitz blocks, y_n = sum over d <= n of A_d x_(n - d), by the instructions with which NVIDIA's GPUs
// multiply small matrices of doubles.
//
// The build defines
//   TENSOR  as in tensor.clh
//   TILES   tiles of 8 time steps that a work-group has, a power of two
//   LATER   only where there are more time steps than those
//   TILED   only where blocks are stored as tiles of 16 rows and 8 columns: those of one place from block to block, then the next columns
//
// With d = 8 e + r, tile s of y gets A_d times the 8 steps of x from 8 (s - e) - r on. A warp has 16 rows and at one time 16 columns
// of blocks and one r. Each entry goes once from global memory into the registers of the item that multiplies with it, by way of local
// memory, AHEAD blocks ahead, in rows of 64 bytes or tiles of 1 KiB, and meets TILES - e tiles of x in local memory.
//
// For n steps of one work-group: n (n + 8) / 2 multiply-adds for the entries of a row and column in the n blocks, which are 8 n bytes; 128 steps take
// 128 bytes of local memory a clock and unit at most half of the time, where a unit has 128 multiply-adds a clock.
//@ crate clinalg-bem
//@ build TENSOR=90 TILES=1
//@ build TENSOR=90 TILES=4
//@ build TENSOR=90 TILES=16
//@ build TENSOR=90 TILES=16 TILED=1
//@ build TENSOR=90 TILES=16 TILED=1 LATER=1
//@ build TENSOR=90 TILES=16 LATER=1
//@ build TENSOR=80 TILES=16
//@ build TENSOR=80 TILES=16 LATER=1
#include "common.clh"
#include "tensor.clh"

#define STEPS (8 * TILES)
#define ROWS 16
#define COLUMNS 16
// Places for blocks of a warp, one of which is in use.
#define SLOTS 3
#define AHEAD (SLOTS - 1)
// Entries of a place, in pairs.
#define PLACE (ROWS * COLUMNS / 2)
// As in bem_heat.clh: how many zeros stand before the first time step of x.
#define BEFORE 16
// Steps of x before the tiles' own that a block in reach meets; and warps of a work-group, as local memory allows.
#ifdef LATER
#define REACH STEPS
#define WARPS 2
#else
#define REACH 8
#define WARPS 4
#endif
#define GROUP (32 * WARPS)
#define WINDOW (REACH + STEPS)
// Every second column begins at another bank.
#define WINDOW_JUMP (WINDOW + 2)

// Where the entries of an item are: those of the first of its two rows in the first blocks, and in the others as if they began with
// block 0; how far it is to the second row. What is there of them.
typedef struct {
    __global const double *early, *late;
    size_t early_at, late_at, early_jump, late_jump;
    size_t width, block, columns;
    uint earlies, limit, finish;
    uint low_bytes, high_bytes;
    __local double2 *queue;
} Source;

// The next block to fetch: where its entries are, its columns and r as one number, the block with e = 0 and r = 0, its place.
typedef struct {
    size_t at;
    uint unit, diagonal, slot;
} Next;

// Fetches the next block, the e-th of its columns and r. Those that are not there, or not before diagonal `behind`, are zero.
inline void fetch_block(const Source *source, Next *next, uint begin, uint behind, uint e)
{
    const uint r = next->unit % 8;
    const uint d = next->diagonal + 8 * e + r;
    const uint chunk = next->unit / 8 * 2;
    next->at = e == 0 ? source->late_at + d * source->block + chunk * source->columns : next->at + 8 * source->block;
    __global const double *from = source->late + next->at;
    size_t jump = source->late_jump;
    size_t other = source->columns;
    if (e == 0 && d < source->earlies) {
        from = source->early + (source->early_at + d * source->width + chunk * 8);
        jump = source->early_jump;
        other = 8;
    }
    const bool wanted = d < source->limit && next->unit < source->finish && next->diagonal < behind;
    // The last columns may be eight.
    const bool both = wanted && chunk * 8 + 8 < source->width;
    __local double2 *to = source->queue + next->slot * PLACE;
    copy_ahead(to, from, wanted ? source->low_bytes : 0);
    copy_ahead(to + 32, from + jump, wanted ? source->high_bytes : 0);
    copy_ahead(to + 64, from + other, both ? source->low_bytes : 0);
    copy_ahead(to + 96, from + jump + other, both ? source->high_bytes : 0);
    bundle_copies();
    next->slot = next->slot == AHEAD ? 0 : next->slot + 1;
    if (e == TILES - 1) {
        next->unit += 1;
        if (next->unit == source->finish) {
            next->unit = begin;
            next->diagonal += STEPS;
        }
    }
}

// sum += a b for 16 rows, 16 columns of a and 8 steps.
inline void multiply_tiles(double4 *sum, const double2 *a, const double *b)
{
#if TENSOR >= 90
    mma_16x8x16(sum, a, b);
#else
#pragma unroll
    for (uint k = 0; k < 4; ++k) {
        mma_16x8x4(sum, a[k], b[k]);
    }
#endif
}

// partial = the product of `rows` rows from `first_row` of `all_rows` on: blocks below `base` in `start`, which has all rows, the `kept` others in
// `later`; only blocks below `last` count. A work-group has ROWS rows for each warp, STEPS time steps and one of
// `splits` parts of the columns and r. x as spread_steps leaves it.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
apply_toeplitz_gpu(ulong rows, ulong stride, uint base, uint last, __global const double *start, ulong kept,
                   __global const double *later, ulong x_stride, __global const double *x, ulong splits,
                   ulong first_row, ulong all_rows, ulong partial_stride, __global double *partial)
{
    __local double2 queue[WARPS * SLOTS * PLACE];
    __local double window[COLUMNS * WINDOW_JUMP];
    const uint item = (uint)get_local_id(0);
    const uint lane = item % 32;
    const uint g = lane / 4;
    const uint t = lane % 4;
    // The item's first row, of two.
    const size_t row = (get_group_id(0) * WARPS + item / 32) * ROWS + g;
    const size_t split = get_group_id(1) % splits;
#ifdef LATER
    const uint first_step = (uint)(get_group_id(1) / splits) * STEPS;
#else
    const uint first_step = 0;
#endif
    const ulong units = (stride + COLUMNS - 1) / COLUMNS * 8;
    const uint begin = (uint)(units * split / splits);
    const uint end = (uint)(units * (split + 1) / splits);
    const uint behind = first_step + STEPS;
    Source source;
    source.early = start;
    source.late = later;
    source.width = stride;
    source.early_at = (first_row + row) * base * stride + 2 * t;
    source.early_jump = 8 * base * stride;
#ifdef TILED
    source.block = ROWS * 8;
    source.columns = kept * (ROWS * 8);
    source.late_at = row / ROWS * (stride / 8) * source.columns + row % ROWS * 8 + 2 * t - base * source.block;
    source.late_jump = 64;
#else
    source.block = stride;
    source.columns = 8;
    source.late_at = (row * kept - base) * stride + 2 * t;
    source.late_jump = 8 * kept * stride;
#endif
    source.earlies = base;
    source.limit = last;
    source.finish = end;
    source.low_bytes = row < rows ? 16 : 0;
    source.high_bytes = row + 8 < rows ? 16 : 0;
    source.queue = queue + (item - lane) * (SLOTS * PLACE / 32) + lane;
    Next next = {0, begin, 0, 0};
    double4 sums[TILES];
#pragma unroll
    for (uint s = 0; s < TILES; ++s) {
        sums[s] = (double4)(0.0);
    }
#pragma unroll
    for (uint k = 0; k < AHEAD; ++k) {
        fetch_block(&source, &next, begin, behind, k % TILES);
    }
    uint slot = 0;
    for (uint first = 0; first < behind; first += STEPS) {
        for (uint chunk = begin / 8; chunk * 8 < end; ++chunk) {
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint k = item; k < COLUMNS * WINDOW; k += GROUP) {
                const uint column = k / WINDOW;
                const size_t j = (size_t)chunk * COLUMNS + column;
                const uint at = first_step - first + BEFORE + k % WINDOW;
                window[column * WINDOW_JUMP + k % WINDOW] = j < stride && at >= REACH ? x[j * x_stride + (at - REACH)] : 0.0;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            const uint stop = min(end, chunk * 8 + 8);
            for (uint unit = max(begin, chunk * 8); unit < stop; ++unit) {
                const __local double *near = window + 2 * t * WINDOW_JUMP + REACH + g - unit % 8;
#pragma unroll
                for (uint e = 0; e < TILES; ++e) {
                    AWAIT_COPIES(AHEAD - 1);
                    const __local double2 *place = source.queue + slot * PLACE;
                    const double2 a[4] = {(double2)(place[0].s0, place[32].s0), (double2)(place[0].s1, place[32].s1),
                                          (double2)(place[64].s0, place[96].s0), (double2)(place[64].s1, place[96].s1)};
                    slot = slot == AHEAD ? 0 : slot + 1;
                    fetch_block(&source, &next, begin, behind, (e + AHEAD) % TILES);
#pragma unroll
                    for (uint s = 0; s < TILES; ++s) {
                        if (s >= e || first < first_step) {
                            const __local double *from = near + (int)(8 * s) - (int)(8 * e);
                            const double b[4] = {from[0], from[WINDOW_JUMP], from[8 * WINDOW_JUMP], from[9 * WINDOW_JUMP]};
                            multiply_tiles(&sums[s], a, b);
                        }
                    }
                }
            }
        }
    }
    AWAIT_COPIES(0);
    __global double *to = partial + (split * all_rows + first_row + row) * partial_stride + first_step + 2 * t;
#pragma unroll
    for (uint s = 0; s < TILES; ++s) {
        if (row < rows) {
            *(__global double2 *)(to + 8 * s) = sums[s].lo;
        }
        if (row + 8 < rows) {
            *(__global double2 *)(to + 8 * partial_stride + 8 * s) = sums[s].hi;
        }
    }
}

// Blocks of `rows` rows by rows, the first of which is row `first` of all, a multiple of 16, into tiles.
__kernel void tile_blocks_gpu(ulong rows, ulong stride, ulong kept, __global const double *values, ulong first, __global double *tiles)
{
    const size_t k = get_global_id(0);
    const size_t i = get_global_id(1);
    if (i < rows && 2 * k < stride) {
        const size_t row = first + i;
        __global const double *from = values + i * kept * stride + 2 * k;
        __global double *to =
            tiles + (row / ROWS * (stride / 8) + k / 4) * kept * (ROWS * 8) + row % ROWS * 8 + k % 4 * 2;
        for (size_t d = 0; d < kept; ++d) {
            *(__global double2 *)(to + d * (ROWS * 8)) = *(__global const double2 *)(from + d * stride);
        }
    }
}

// As take_block, from tiles.
__kernel void take_tiled_block_gpu(ulong all_rows, ulong first, ulong rows, ulong cols, ulong stride, ulong d, ulong kept,
                                   __global const double *tiles, __global double *block)
{
    const size_t i = get_global_id(0);
    const size_t j = get_global_id(1);
    if (i < rows && j < cols) {
        const size_t tile = (i / ROWS * (stride / 8) + j / 8) * kept + d;
        block[j * all_rows + first + i] = tiles[tile * (ROWS * 8) + i % ROWS * 8 + j % 8];
    }
}
