/* Former names of functions: deprecated, and the same functions as before. */

#define CLINALG_ALLOW_DEPRECATED
#include "check.h"

#include <math.h>

int main(void)
{
    const size_t offsets[] = {0, 2, 5, 7}, columns[] = {0, 1, 0, 1, 2, 1, 2};
    const double entries[] = {4, -1, -1, 4, -1, -1, 4}, right[] = {2, 4, 10};
    double solution[3], norm = 0, sum = 0;
    clinalg_handle a = 0, b = 0, c = 0, x = 0, part = 0;
    clinalg_solver_options options;
    clinalg_object_info info;
    clinalg_memory_report memory;
    clinalg_report report;

    OK(clinalg_csr(CLINALG_PRECISION_F64, 3, 3, offsets, columns, entries, &a));
    OK(clinalg_vector(CLINALG_PRECISION_F64, right, 3, &b));
    OK(clinalg_solver_options_default(&options, sizeof options));
    OK(clinalg_solve_system(&options, a, b, &x, &report, NULL, 0));
    OK(clinalg_read(x, CLINALG_PRECISION_F64, 0, 3, solution));
    CHECK(fabs(solution[0] - 1) < 1e-12 && fabs(solution[1] - 2) < 1e-12 && fabs(solution[2] - 3) < 1e-12);

    /* r = b - A x, in place. */
    OK(clinalg_copy(b, &c));
    OK(clinalg_mv(-1, a, x, 1, &c));
    OK(clinalg_norm_inf(c, &norm));
    CHECK(norm < 1e-12);
    OK(clinalg_axpby(2, b, 1, x, &c));
    OK(clinalg_sum(c, &sum));
    CHECK(fabs(sum - 38) < 1e-11);
    OK(clinalg_slice(b, 1, 2, &part));
    OK(clinalg_info(part, &info));
    CHECK(info.kind == CLINALG_KIND_VECTOR && info.rows == 2);
    OK(clinalg_memory(&memory));
    CHECK(memory.live_bytes > 0);

    FAILS(clinalg_vector(99, right, 3, &b), CLINALG_STATUS_VALUE);
    FAILS(clinalg_plus(a, b, &c), CLINALG_STATUS_SHAPE);
    OK(clinalg_release(part));
    FAILS(clinalg_release(part), CLINALG_STATUS_HANDLE_STALE);
    FAILS(clinalg_object_release(part), CLINALG_STATUS_HANDLE_STALE);
    OK(clinalg_release(a));
    OK(clinalg_release(b));
    OK(clinalg_release(c));
    OK(clinalg_release(x));
    if (failures) return 1;
    printf("passed\n");
    return 0;
}
