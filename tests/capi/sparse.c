/* Sparse matrices made of sparse matrices, against loops over full ones. */

#include "check.h"

#include <math.h>

enum { M = 5, K = 6, N = 4 };

/* Some of the entries of a full matrix by rows, whole numbers. */
static double entry(size_t i, size_t j, size_t seed)
{
    const size_t number = (i * 7 + j * 5 + seed * 3 + i * j) % 11;
    return number < 5 ? (double)number - 2 : 0;
}

static clinalg_handle matrix(size_t rows, size_t cols, size_t seed)
{
    size_t offsets[8] = {0}, indices[64], entries = 0, i, j;
    double values[64];
    clinalg_handle a = 0;
    for (i = 0; i < rows; ++i) {
        for (j = 0; j < cols; ++j) {
            if (entry(i, j, seed) != 0) indices[entries] = j, values[entries++] = entry(i, j, seed);
        }
        offsets[i + 1] = entries;
    }
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, rows, cols, offsets, indices, values, &a));
    return a;
}

/* Compares all values of a sparse matrix with full ones by rows, and releases it. */
static void compare(clinalg_handle a, size_t rows, size_t cols, const double *want)
{
    size_t offsets[9], indices[64], entries = 64, i, j, e;
    double values[64], full[64] = {0};
    clinalg_object_info info;
    OK(clinalg_object_get_info(a, &info));
    CHECK(info.kind == CLINALG_KIND_CSR && info.rows == rows && info.cols == cols);
    OK(clinalg_sparse_read(a, CLINALG_PRECISION_F64, offsets, indices, values, &entries));
    for (j = 0; j < cols; ++j) {
        for (e = offsets[j]; e < offsets[j + 1]; ++e) full[indices[e] * cols + j] = values[e];
    }
    for (i = 0; i < rows * cols; ++i) CHECK(full[i] == want[i]);
    OK(clinalg_object_release(a));
}

int main(void)
{
    const clinalg_handle a = matrix(M, K, 1), b = matrix(K, N, 2), c = matrix(M, K, 3);
    const clinalg_complex two = {2, 0}, minus = {-1, 0}, one = {1, 0}, imaginary = {0, 1};
    const size_t rows[] = {4, 0, 0}, cols[] = {3, 5};
    double want[64];
    clinalg_handle made = 0, column = 0;
    clinalg_object_info info;
    clinalg_memory_report memory;
    size_t i, j, k, nonzeros = 0, entries = 99;

    OK(clinalg_sparse_multiply(a, b, &made));
    for (i = 0; i < M; ++i) {
        for (j = 0; j < N; ++j) {
            want[i * N + j] = 0;
            for (k = 0; k < K; ++k) want[i * N + j] += entry(i, k, 1) * entry(k, j, 2);
        }
    }
    compare(made, M, N, want);

    OK(clinalg_sparse_add(two, a, minus, c, &made));
    for (i = 0; i < M; ++i) {
        for (j = 0; j < K; ++j) want[i * K + j] = 2 * entry(i, j, 1) - entry(i, j, 3);
    }
    compare(made, M, K, want);

    OK(clinalg_sparse_range(a, 1, 3, 2, 4, &made));
    for (i = 0; i < 3; ++i) {
        for (j = 0; j < 4; ++j) want[i * 4 + j] = entry(i + 1, j + 2, 1);
    }
    compare(made, 3, 4, want);
    OK(clinalg_sparse_select(a, rows, 3, cols, 2, &made));
    for (i = 0; i < 3; ++i) {
        for (j = 0; j < 2; ++j) want[i * 2 + j] = entry(rows[i], cols[j], 1);
    }
    compare(made, 3, 2, want);
    OK(clinalg_sparse_select(a, NULL, 0, cols, 2, &made));
    for (i = 0; i < M; ++i) {
        for (j = 0; j < 2; ++j) want[i * 2 + j] = entry(i, cols[j], 1);
    }
    compare(made, M, 2, want);

    OK(clinalg_sparse_band(a, -INFINITY, 1, &made));
    for (i = 0; i < M; ++i) {
        for (j = 0; j < K; ++j) want[i * K + j] = j <= i + 1 ? entry(i, j, 1) : 0;
    }
    compare(made, M, K, want);

    OK(clinalg_matrix_transpose(a, &made));
    for (i = 0; i < M; ++i) {
        for (j = 0; j < K; ++j) want[j * M + i] = entry(i, j, 1);
    }
    compare(made, K, M, want);

    /* Column by column. */
    OK(clinalg_sparse_nonzeros(a, &column));
    for (j = 0; j < K; ++j) {
        for (i = 0; i < M; ++i) {
            if (entry(i, j, 1) != 0) want[nonzeros++] = entry(i, j, 1);
        }
    }
    OK(clinalg_object_get_info(column, &info));
    CHECK(info.kind == CLINALG_KIND_VECTOR && info.rows == nonzeros);
    {
        double got[64];
        OK(clinalg_array_read(column, CLINALG_PRECISION_F64, 0, nonzeros, got));
        for (i = 0; i < nonzeros; ++i) CHECK(got[i] == want[i]);
    }
    OK(clinalg_object_release(column));

    /* A - A has its positions until they are dropped. */
    OK(clinalg_sparse_add(one, a, minus, a, &made));
    OK(clinalg_object_get_info(made, &info));
    CHECK(info.entries == nonzeros);
    OK(clinalg_sparse_drop_zeros(made, &entries));
    OK(clinalg_object_get_info(made, &info));
    CHECK(entries == 0 && info.entries == 0 && info.rows == M && info.cols == K);
    OK(clinalg_object_release(made));

    made = 0;
    FAILS(clinalg_sparse_multiply(a, c, &made), CLINALG_STATUS_SHAPE);
    FAILS(clinalg_sparse_add(one, a, one, b, &made), CLINALG_STATUS_SHAPE);
    FAILS(clinalg_sparse_add(imaginary, a, one, c, &made), CLINALG_STATUS_VALUE);
    FAILS(clinalg_sparse_range(a, 3, 3, 0, 1, &made), CLINALG_STATUS_VALUE);
    FAILS(clinalg_sparse_range(a, (size_t)-1, 2, 0, 1, &made), CLINALG_STATUS_VALUE);
    FAILS(clinalg_sparse_select(a, rows, 3, cols, 2, NULL), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_sparse_band(a, 0.5, 1, &made), CLINALG_STATUS_VALUE);
    FAILS(clinalg_sparse_drop_zeros(0, NULL), CLINALG_STATUS_HANDLE_FOREIGN);
    CHECK(made == 0);
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(c));
    OK(clinalg_device_memory(&memory));
    CHECK(memory.live_bytes == 0);
    OK(clinalg_shutdown());
    if (failures == 0) {
        puts("passed");
    }
    return failures != 0;
}
