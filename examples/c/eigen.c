/* The squares of the lowest frequencies of a square membrane: the smallest eigenvalues of -Laplace with u = 0 on the boundary, pi^2 (k^2 + l^2) for the unit
 * square, by five-point differences and algebraic multigrid as the preconditioner. */

#include <clinalg.h>

#include <stdio.h>

enum { SIDE = 60, ROWS = SIDE * SIDE, COUNT = 4 };

static size_t offsets[ROWS + 1], columns[5 * ROWS];
static double values[5 * ROWS];

static int failed(const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", what, clinalg_last_error_id(), clinalg_last_error_message());
    return 1;
}

int main(void)
{
    const double scale = (SIDE + 1.0) * (SIDE + 1.0);
    double found[COUNT], residuals[COUNT];
    clinalg_handle a, vectors = 0;
    clinalg_eigen_options options;
    clinalg_eigen_report report;
    size_t row, k, entries = 0;

    for (row = 0; row < ROWS; ++row) {
        if (row >= SIDE) columns[entries] = row - SIDE, values[entries++] = -scale;
        if (row % SIDE > 0) columns[entries] = row - 1, values[entries++] = -scale;
        columns[entries] = row, values[entries++] = 4 * scale;
        if (row % SIDE + 1 < SIDE) columns[entries] = row + 1, values[entries++] = -scale;
        if (row + SIDE < ROWS) columns[entries] = row + SIDE, values[entries++] = -scale;
        offsets[row + 1] = entries;
    }
    if (clinalg_sparse_from_csr(CLINALG_PRECISION_F64, ROWS, ROWS, offsets, columns, values, &a)) return failed("matrix");
    if (clinalg_eigen_options_default(&options, sizeof options)) return failed("options");
    options.count = COUNT;
    options.preconditioner = CLINALG_PRECONDITIONER_AMG;
    if (clinalg_matrix_eigenpairs(&options, a, &vectors, found, residuals, &report)) return failed("eigenvalues");
    for (k = 0; k < COUNT; ++k) printf("%.6f, residual %.1e\n", found[k], residuals[k]);

    clinalg_object_release(vectors);
    clinalg_object_release(a);
    return report.stop == CLINALG_STOP_CONVERGED ? 0 : 1;
}
