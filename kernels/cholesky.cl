// Cholesky factorisation A = L L' of a Hermitian positive definite block, by its lower triangle.
//@ build
//@ build CPU=1
//@ build SCALAR_COMPLEX=1
//@ build SCALAR_COMPLEX=1 CPU=1
#include "common.clh"
#include "scalar.clh"

// Most rows of a block.
#define BLOCK 32
#define BLOCK_ITEMS 256

// `info` gets the number of the first leading minor whose pivot is not above `tiny`.
#ifndef CPU
// In local memory, by columns.
__kernel __attribute__((reqd_work_group_size(BLOCK_ITEMS, 1, 1))) void
cholesky_block(uint n, __global SCALAR *a_of, ulong a_offset, ulong lda, uint above, REAL tiny, __global uint *info)
{
    __local SCALAR block[BLOCK * (BLOCK + 1)];
    __global SCALAR *a = a_of + a_offset;
    const uint item = (uint)get_local_id(0);
    for (uint e = item; e < BLOCK * BLOCK; e += BLOCK_ITEMS) {
        const uint i = e % BLOCK, j = e / BLOCK;
        block[j * (BLOCK + 1) + i] = i < n && j <= i ? a[j * lda + i] : SCALAR_ZERO;
    }
    for (uint k = 0; k < n; ++k) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const REAL pivot = scalar_re(block[k * (BLOCK + 1) + k]);
        const REAL root = sqrt(pivot);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item == 0) {
            if (!(pivot > tiny) && info[0] == 0) {
                info[0] = above + k + 1;
            }
            block[k * (BLOCK + 1) + k] = scalar_from_real(root);
        }
        if (item > k && item < n) {
            block[k * (BLOCK + 1) + item] = scalar_scale(ONE / root, block[k * (BLOCK + 1) + item]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint e = item; e < BLOCK * BLOCK; e += BLOCK_ITEMS) {
            const uint i = e % BLOCK, j = e / BLOCK;
            if (j > k && i >= j && i < n) {
                block[j * (BLOCK + 1) + i] =
                    scalar_mad(-block[k * (BLOCK + 1) + i], scalar_conj(block[k * (BLOCK + 1) + j]), block[j * (BLOCK + 1) + i]);
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint e = item; e < BLOCK * BLOCK; e += BLOCK_ITEMS) {
        const uint i = e % BLOCK, j = e / BLOCK;
        if (i < n && j <= i) {
            a[j * lda + i] = block[j * (BLOCK + 1) + i];
        }
    }
}
#else
// By one item.
__kernel void cholesky_block(uint n, __global SCALAR *a_of, ulong a_offset, ulong lda, uint above,
                             REAL tiny, __global uint *info)
{
    __global SCALAR *a = a_of + a_offset;
    for (uint k = 0; k < n; ++k) {
        const REAL pivot = scalar_re(a[k * lda + k]);
        if (!(pivot > tiny) && info[0] == 0) {
            info[0] = above + k + 1;
        }
        const REAL root = sqrt(pivot);
        a[k * lda + k] = scalar_from_real(root);
        for (uint i = k + 1; i < n; ++i) {
            a[k * lda + i] = scalar_scale(ONE / root, a[k * lda + i]);
        }
        for (uint j = k + 1; j < n; ++j) {
            const SCALAR factor = scalar_conj(a[k * lda + j]);
            for (uint i = j; i < n; ++i) {
                a[j * lda + i] = scalar_mad(-a[k * lda + i], factor, a[j * lda + i]);
            }
        }
    }
}
#endif
