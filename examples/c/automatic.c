/* Convection and diffusion on a square of 100 by 100 points, solved by the method and the preconditioner that suit the matrix. The right-hand side has the
 * sums of the rows, so that x = (1, ..., 1)'. */

#include <clinalg.h>

#include <math.h>
#include <stdio.h>

enum { SIDE = 100, ROWS = SIDE * SIDE };

static size_t offsets[ROWS + 1], columns[5 * ROWS];
static double values[5 * ROWS], sums[ROWS], solution[ROWS];

static int failed(const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", what, clinalg_last_error_id(), clinalg_last_error_message());
    return 1;
}

int main(void)
{
    const double wind = 0.5;
    double error = 0;
    clinalg_handle a = 0, b = 0, x = 0;
    clinalg_system_options options;
    clinalg_system_report how;
    clinalg_report report;
    size_t row, k, entries = 0;

    for (row = 0; row < ROWS; ++row) {
        if (row >= SIDE) columns[entries] = row - SIDE, values[entries++] = -1;
        if (row % SIDE > 0) columns[entries] = row - 1, values[entries++] = -1 - wind;
        columns[entries] = row, values[entries++] = 4 + wind;
        if (row % SIDE + 1 < SIDE) columns[entries] = row + 1, values[entries++] = -1;
        if (row + SIDE < ROWS) columns[entries] = row + SIDE, values[entries++] = -1;
        offsets[row + 1] = entries;
        for (k = offsets[row]; k < entries; ++k) sums[row] += values[k];
    }
    if (clinalg_sparse_from_csr(CLINALG_PRECISION_F64, ROWS, ROWS, offsets, columns, values, &a)) return failed("matrix");
    if (clinalg_vector_create(CLINALG_PRECISION_F64, sums, ROWS, &b)) return failed("right-hand side");

    if (clinalg_system_options_default(&options, sizeof options)) return failed("options");
    options.tolerance = 1e-8;
    if (clinalg_system_solve_automatic(&options, a, b, &x, &report, 1, &how)) return failed("solve");
    if (clinalg_array_read(x, CLINALG_PRECISION_F64, 0, ROWS, solution)) return failed("read");
    for (row = 0; row < ROWS; ++row) error = fmax(error, fabs(solution[row] - 1));
    printf("%s with %s: error %.1e\n%s\n", how.method, how.preconditioner[0] ? how.preconditioner : "no preconditioner", error, how.reason);

    clinalg_object_release(x);
    clinalg_object_release(b);
    clinalg_object_release(a);
    return report.stop == CLINALG_STOP_CONVERGED ? 0 : 1;
}
