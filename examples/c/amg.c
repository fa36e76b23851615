/* Diffusion on a square of 300 by 300 points with algebraic multigrid, for two right-hand sides. */

#include <clinalg.h>

#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 300, ROWS = SIDE * SIDE };

static int failed(const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", what, clinalg_last_error_id(), clinalg_last_error_message());
    return 1;
}

/* The five-point matrix by compressed rows. */
static void five_points(size_t *offsets, size_t *columns, double *values)
{
    size_t row, entries = 0;
    for (row = 0; row < ROWS; ++row) {
        const size_t i = row / SIDE, j = row % SIDE;
        if (i > 0) columns[entries] = row - SIDE, values[entries++] = -1;
        if (j > 0) columns[entries] = row - 1, values[entries++] = -1;
        columns[entries] = row, values[entries++] = 4;
        if (j + 1 < SIDE) columns[entries] = row + 1, values[entries++] = -1;
        if (i + 1 < SIDE) columns[entries] = row + SIDE, values[entries++] = -1;
        offsets[row + 1] = entries;
    }
}

int main(void)
{
    size_t *offsets = calloc(ROWS + 1, sizeof *offsets), *columns = calloc(5 * ROWS, sizeof *columns);
    double *values = calloc(5 * ROWS, sizeof *values), scale;
    clinalg_amg_options amg;
    clinalg_solver_options options;
    clinalg_report report;
    clinalg_handle a = 0, m = 0, b = 0;

    if (!offsets || !columns || !values) return 1;
    five_points(offsets, columns, values);
    if (clinalg_sparse_from_csr(CLINALG_PRECISION_F64, ROWS, ROWS, offsets, columns, values, &a)) return failed("matrix");

    if (clinalg_amg_options_default(&amg, sizeof amg)) return failed("options");
    if (clinalg_amg_create(&amg, a, 0, &m)) return failed("hierarchy"); /* 0: constants are the near-null vectors */
    if (clinalg_solver_options_default(&options, sizeof options)) return failed("options");
    options.inverse = m; /* made once, used for every solve */

    if (clinalg_array_zeros(CLINALG_PRECISION_F64, ROWS, 1, &b)) return failed("right-hand side");
    for (scale = 1; scale <= 2; ++scale) {
        clinalg_handle x = 0;
        double largest;
        if (clinalg_array_fill(b, scale)) return failed("right-hand side");
        if (clinalg_system_solve(&options, a, b, &x, &report, NULL, 0)) return failed("solve");
        if (clinalg_array_norm_inf(x, &largest)) return failed("norm");
        printf("%zu iterations, largest %.4e\n", report.iterations, largest);
        clinalg_object_release(x);
    }

    clinalg_object_release(b);
    clinalg_object_release(m);
    clinalg_object_release(a);
    free(values);
    free(columns);
    free(offsets);
    return 0;
}
