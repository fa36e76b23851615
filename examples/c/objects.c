/* Vectors, dense, sparse and band matrices: how each is made, a part of a vector, the diagonal and the transpose of a matrix. */

#include <clinalg.h>

#include <stdio.h>

static int failed(const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", what, clinalg_last_error_id(), clinalg_last_error_message());
    return 1;
}

int main(void)
{
    const double numbers[4] = {1, 2, 3, 4};
    const double by_columns[6] = {1, 4, 2, 5, 3, 6}; /* [1 2 3; 4 5 6] */
    const size_t offsets[5] = {0, 2, 5, 6, 8}, columns[8] = {0, 1, 0, 1, 2, 2, 1, 3};
    const double values[8] = {4, -1, -1, 4, -1, 5, -1, 4};
    const double full[16] = {2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2};
    double got[4];
    clinalg_handle x, zero, tail, dense, sparse, diagonal, transposed, band;

    if (clinalg_vector_create(CLINALG_PRECISION_F64, numbers, 4, &x)) return failed("vector");
    if (clinalg_vector_constant(CLINALG_PRECISION_F64, 4, 0.0, &zero)) return failed("zeros");
    if (clinalg_vector_slice(x, 2, 2, &tail)) return failed("part"); /* a new vector: 3, 4 */
    if (clinalg_vector_write_slice(x, 0, tail)) return failed("writing a part"); /* now 3, 4, 3, 4 */
    if (clinalg_array_read(x, CLINALG_PRECISION_F64, 0, 4, got)) return failed("read");
    printf("%g %g %g %g\n", got[0], got[1], got[2], got[3]);

    if (clinalg_dense_create(CLINALG_PRECISION_F64, 2, 3, by_columns, &dense)) return failed("dense matrix");
    if (clinalg_sparse_from_csr(CLINALG_PRECISION_F64, 4, 4, offsets, columns, values, &sparse)) return failed("sparse matrix");
    if (clinalg_matrix_diagonal(sparse, &diagonal)) return failed("diagonal");
    if (clinalg_matrix_transpose(sparse, &transposed)) return failed("transpose");
    if (clinalg_array_read(diagonal, CLINALG_PRECISION_F64, 0, 4, got)) return failed("read");
    printf("%g %g %g %g\n", got[0], got[1], got[2], got[3]);
    /* The diagonals from 1 below to 1 above the main one, from the full matrix. */
    if (clinalg_band_create(CLINALG_PRECISION_F64, 4, 4, 1, 1, full, &band)) return failed("band matrix");

    clinalg_shutdown(); /* releases all objects */
    return 0;
}
