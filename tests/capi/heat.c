/* Operators of the heat equation from C99: products, a solve, refusals. */

#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    /* The first triangle is the first one of the cube of 24 triangles, refined once, whose entries are known. */
    const double nodes[12] = {1, -1, -1, 1, 0, -1, 1, -0.5, -0.5, 0, -0.5, -0.7};
    const uint32_t triangles[12] = {0, 1, 2, 1, 0, 3, 2, 1, 3, 0, 2, 3};
    const uint32_t open[9] = {0, 1, 2, 1, 0, 3, 2, 1, 3};
    const double first[16] = {1};
    double y[16];
    clinalg_heat_params params;
    clinalg_solve_params solver;
    clinalg_report report;
    clinalg_object_info info;
    clinalg_memory_report before, after;
    clinalg_handle v = 0, d = 0, x = 0, b = 0, w = 0;

    OK(clinalg_memory(&before));
    OK(clinalg_heat_params_default(&params));
    params.alpha = 0.5;
    params.steps = 4;
    OK(clinalg_heat_operator_create(&params, CLINALG_HEAT_KIND_V, CLINALG_PRECISION_F64, nodes, 4, triangles, 4, &v));
    OK(clinalg_info(v, &info));
    CHECK(info.kind == CLINALG_KIND_OPERATOR && info.rows == 16 && info.cols == 16);
    OK(clinalg_vector(CLINALG_PRECISION_F64, first, 16, &x));
    OK(clinalg_mv(1.0, v, x, 0.0, &b));
    OK(clinalg_read(b, CLINALG_PRECISION_F64, 0, 16, y));
    CHECK(fabs(y[0] / 8.522019593658992e-3 - 1) < 1e-9 && fabs(y[4] / 2.455648861659851e-3 - 1) < 1e-9);

    OK(clinalg_solve_params_default(&solver));
    solver.method = CLINALG_METHOD_GMRES;
    solver.restart = 16;
    OK(clinalg_solve(&solver, v, b, &w, &report, NULL, 0));
    CHECK(report.stop == CLINALG_STOP_CONVERGED);
    OK(clinalg_read(w, CLINALG_PRECISION_F64, 0, 16, y));
    CHECK(fabs(y[0] - 1) < 1e-6 && fabs(y[4]) < 1e-6 && fabs(y[15]) < 1e-6);

    params.storage = CLINALG_STORAGE_ON_THE_FLY;
    OK(clinalg_heat_operator_create(&params, CLINALG_HEAT_KIND_D, CLINALG_PRECISION_F64, nodes, 4, triangles, 4, &d));
    OK(clinalg_mv(1.0, d, x, 0.0, &b));
    solver.preconditioner = CLINALG_PRECONDITIONER_JACOBI;
    FAILS(clinalg_solve(&solver, d, b, &w, &report, NULL, 0), CLINALG_STATUS_VALUE);
    FAILS(clinalg_mv_transposed(1.0, v, x, 0.0, &b), CLINALG_STATUS_HANDLE_KIND);
    FAILS(clinalg_plus(v, v, &b), CLINALG_STATUS_HANDLE_KIND);

    OK(clinalg_release(d));
    d = 0;
    FAILS(clinalg_heat_operator_create(&params, 4, CLINALG_PRECISION_F64, nodes, 4, triangles, 4, &d), CLINALG_STATUS_VALUE);
    FAILS(clinalg_heat_operator_create(&params, CLINALG_HEAT_KIND_V, CLINALG_PRECISION_F64, nodes, 4, open, 3, &d),
          CLINALG_STATUS_VALUE);
    CHECK(strstr(clinalg_last_error_message(), "edge") != NULL);
    FAILS(clinalg_heat_operator_create(&params, CLINALG_HEAT_KIND_V, CLINALG_PRECISION_F64, nodes, 3, triangles, 4, &d),
          CLINALG_STATUS_INDEX);
    params.alpha = 0;
    FAILS(clinalg_heat_operator_create(&params, CLINALG_HEAT_KIND_V, CLINALG_PRECISION_F64, nodes, 4, triangles, 4, &d),
          CLINALG_STATUS_VALUE);
    FAILS(clinalg_heat_operator_create(NULL, CLINALG_HEAT_KIND_V, CLINALG_PRECISION_F64, nodes, 4, triangles, 4, &d),
          CLINALG_STATUS_NULL_POINTER);
    CHECK(d == 0);

    OK(clinalg_release(v));
    FAILS(clinalg_mv(1.0, v, x, 0.0, &b), CLINALG_STATUS_HANDLE_STALE);
    OK(clinalg_release(x));
    OK(clinalg_release(b));
    OK(clinalg_release(w));
    OK(clinalg_memory(&after));
    CHECK(after.live_bytes == before.live_bytes && after.live_buffers == before.live_buffers);
    printf("%s\n", failures == 0 ? "passed" : "FAILED");
    return failures == 0 ? 0 : 1;
}
