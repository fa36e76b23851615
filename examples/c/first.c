/* Solves [4 -1 0; -1 4 -1; 0 -1 4] x = (2, 4, 10)' on the device; x = (1, 2, 3)'. */

#include <clinalg.h>

#include <stdio.h>

static int failed(const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", what, clinalg_last_error_id(), clinalg_last_error_message());
    return 1;
}

int main(void)
{
    const size_t offsets[] = {0, 2, 5, 7}, columns[] = {0, 1, 0, 1, 2, 1, 2};
    const double entries[] = {4, -1, -1, 4, -1, -1, 4}, right[] = {2, 4, 10};
    double solution[3];
    clinalg_handle a, b, x = 0;
    clinalg_solver_options options;
    clinalg_report report;

    if (clinalg_sparse_from_csr(CLINALG_PRECISION_F64, 3, 3, offsets, columns, entries, &a)) return failed("matrix");
    if (clinalg_vector_create(CLINALG_PRECISION_F64, right, 3, &b)) return failed("right-hand side");
    if (clinalg_solver_options_default(&options, sizeof options)) return failed("options");
    if (clinalg_system_solve(&options, a, b, &x, &report, NULL, 0)) return failed("solve");
    if (clinalg_array_read(x, CLINALG_PRECISION_F64, 0, 3, solution)) return failed("read");
    printf("x = %.12g %.12g %.12g after %zu iterations\n", solution[0], solution[1], solution[2], report.iterations);

    clinalg_object_release(a);
    clinalg_object_release(b);
    clinalg_object_release(x);
    return report.stop == CLINALG_STOP_CONVERGED ? 0 : 1;
}
