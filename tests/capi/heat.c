/* Operators of the heat equation from C99 and C++11: products, published norms, solvers, refusals. */

#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The cube (-1, 1)^3 of 24 triangles, each split in four. Rules where triangles touch start at the node named first: the
   order of nodes is that of the published norms. */
enum { NODES = 50, TRIANGLES = 96, STEPS = 4 };
static double points[NODES][3];
static uint32_t corners[TRIANGLES][3];

static uint32_t node(size_t *count, const double *at)
{
    size_t k;
    for (k = 0; k < *count; ++k)
        if (points[k][0] == at[0] && points[k][1] == at[1] && points[k][2] == at[2]) return (uint32_t)k;
    memcpy(points[*count], at, sizeof points[0]);
    return (uint32_t)(*count)++;
}

static void make_cube(void)
{
    static const int around[5][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}, {-1, -1}};
    size_t nodes = 0, triangles = 0;
    int axis, side, edge, c;
    for (axis = 0; axis < 3; ++axis)
        for (side = -1; side <= 1; side += 2)
            for (edge = 0; edge < 4; ++edge) {
                /* The face's centre and two of its corners, then the middles of the edges opposite them. */
                double p[6][3] = {{0}};
                uint32_t n[6];
                for (c = 0; c < 2; ++c) {
                    p[1 + c][axis] = side;
                    p[1 + c][(axis + 1) % 3] = side * around[edge + c][0];
                    p[1 + c][(axis + 2) % 3] = around[edge + c][1];
                }
                p[0][axis] = side;
                for (c = 0; c < 9; ++c) p[3 + c / 3][c % 3] = (p[(c / 3 + 1) % 3][c % 3] + p[(c / 3 + 2) % 3][c % 3]) / 2;
                for (c = 0; c < 6; ++c) n[c] = node(&nodes, p[c]);
                for (c = 0; c < 4; ++c) {
                    static const int part[4][3] = {{0, 5, 4}, {5, 1, 3}, {3, 2, 4}, {5, 3, 4}};
                    const uint32_t triangle[3] = {n[part[c][0]], n[part[c][1]], n[part[c][2]]};
                    memcpy(corners[triangles++], triangle, sizeof triangle);
                }
            }
    CHECK(nodes == NODES && triangles == TRIANGLES);
}

/* Norms of the blocks of an operator, from its products with unit vectors of the first time step. */
static void check_norms(uint32_t kind, const double *norms, double tolerance)
{
    clinalg_heat_options options;
    clinalg_object_info info;
    clinalg_handle a = 0, x = 0, y = 0;
    static double values[TRIANGLES * STEPS];
    double squares[STEPS] = {0};
    const double one = 1, zero = 0;
    size_t j, k, rows, cols;
    OK(clinalg_heat_options_default(&options, sizeof options));
    options.alpha = 0.5;
    options.steps = STEPS;
    OK(clinalg_heat_operator_create(&options, kind, points[0], NODES, corners[0], TRIANGLES, &a));
    OK(clinalg_object_get_info(a, &info));
    rows = info.rows / STEPS, cols = info.cols / STEPS;
    memset(values, 0, sizeof values);
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, values, info.cols, &x));
    for (j = 0; j < cols; ++j) {
        OK(clinalg_array_write(x, CLINALG_PRECISION_F64, j, 1, &one));
        OK(clinalg_matrix_mv(1.0, a, x, 0.0, &y));
        OK(clinalg_array_write(x, CLINALG_PRECISION_F64, j, 1, &zero));
        OK(clinalg_array_read(y, CLINALG_PRECISION_F64, 0, info.rows, values));
        for (k = 0; k < info.rows; ++k) squares[k / rows] += values[k] * values[k];
    }
    for (k = 0; k < STEPS; ++k) CHECK(fabs(sqrt(squares[k]) / norms[k] - 1) < tolerance);
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(x));
    OK(clinalg_object_release(y));
}

/* The largest |A x - b| over the largest |b|. */
static double misfit(clinalg_handle a, clinalg_handle x, clinalg_handle b)
{
    clinalg_handle r = 0;
    double difference = 0, whole = 0;
    OK(clinalg_matrix_mv(1.0, a, x, 0.0, &r));
    OK(clinalg_array_subtract(r, b, &r));
    OK(clinalg_array_norm_inf(r, &difference));
    OK(clinalg_array_norm_inf(b, &whole));
    OK(clinalg_object_release(r));
    return difference / whole;
}

/* Forward elimination and preconditioned GMRES against each other and the equation. */
static void check_solvers(uint32_t kind)
{
    clinalg_heat_options options;
    clinalg_solver_options solver;
    clinalg_report plain, report;
    clinalg_object_info info;
    clinalg_handle a = 0, forward = 0, preconditioner = 0, b = 0, x = 0, y = 0;
    static double values[TRIANGLES * STEPS];
    double history[3];
    size_t k;
    for (k = 0; k < TRIANGLES * STEPS; ++k) values[k] = (double)(k * 31 % 17) - 8;
    OK(clinalg_heat_options_default(&options, sizeof options));
    options.alpha = 0.5;
    options.steps = STEPS;
    OK(clinalg_heat_operator_create(&options, kind, points[0], NODES, corners[0], TRIANGLES, &a));
    OK(clinalg_object_get_info(a, &info));
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, values, info.rows, &b));
    OK(clinalg_heat_forward_create(a, &forward));
    OK(clinalg_heat_operator_preconditioner_create(a, CLINALG_STORAGE_ASSEMBLED, &preconditioner));
    OK(clinalg_matrix_mv(1.0, forward, b, 0.0, &x));
    CHECK(misfit(a, x, b) < 1e-10);
    OK(clinalg_solver_options_default(&solver, sizeof solver));
    solver.method = CLINALG_METHOD_GMRES;
    solver.restart = info.rows;
    OK(clinalg_system_solve(&solver, a, b, &y, &plain, NULL, 0));
    CHECK(plain.stop == CLINALG_STOP_CONVERGED);
    OK(clinalg_object_release(y));
    y = 0;
    solver.inverse = preconditioner;
    OK(clinalg_system_solve(&solver, a, b, &y, &report, history, 3));
    CHECK(report.stop == CLINALG_STOP_CONVERGED && report.iterations < plain.iterations && history[0] == 1);
    CHECK(misfit(a, y, b) < 1e-9);
    solver.inverse = forward;
    OK(clinalg_system_solve(&solver, a, b, &y, &report, NULL, 0));
    CHECK(report.iterations <= 2);

    solver.preconditioner = CLINALG_PRECONDITIONER_JACOBI;
    FAILS(clinalg_system_solve(&solver, a, b, &y, &report, NULL, 0), CLINALG_STATUS_VALUE);
    solver.preconditioner = CLINALG_PRECONDITIONER_NONE;
    solver.inverse = b;
    FAILS(clinalg_system_solve(&solver, a, b, &y, &report, NULL, 0), CLINALG_STATUS_HANDLE_KIND);
    solver.inverse = 1;
    FAILS(clinalg_system_solve(&solver, a, b, &y, &report, NULL, 0), CLINALG_STATUS_HANDLE_FOREIGN);
    FAILS(clinalg_system_solve(NULL, a, b, &y, &report, NULL, 0), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_heat_forward_create(b, &y), CLINALG_STATUS_HANDLE_KIND);
    FAILS(clinalg_heat_forward_create(forward, &y), CLINALG_STATUS_SHAPE);
    FAILS(clinalg_heat_forward_create(a, NULL), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_heat_operator_preconditioner_create(a, 9, &y), CLINALG_STATUS_VALUE);
    FAILS(clinalg_heat_operator_preconditioner_create(preconditioner, CLINALG_STORAGE_AUTO, &y), CLINALG_STATUS_SHAPE);
    FAILS(clinalg_heat_operator_preconditioner_create(a, CLINALG_STORAGE_AUTO, NULL), CLINALG_STATUS_NULL_POINTER);

    /* Both keep the operator. */
    OK(clinalg_object_release(a));
    OK(clinalg_matrix_mv(-1.0, forward, b, 1.0, &x));
    OK(clinalg_array_norm_inf(x, values));
    CHECK(values[0] == 0);
    OK(clinalg_matrix_mv(1.0, preconditioner, b, 0.0, &x));
    OK(clinalg_object_release(forward));
    OK(clinalg_object_release(preconditioner));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(x));
    OK(clinalg_object_release(y));
}

int main(void)
{
    /* Frobenius norms of the blocks, by an independent implementation whose rules on common edges differ for K and D. */
    const double norms_v[STEPS] = {9.071198064832e-2, 4.054564951552e-2, 1.823056005050e-2, 1.217438127988e-2};
    const double norms_k[STEPS] = {4.736611857116e-2, 1.844067979478e-2, 7.206705381519e-3, 4.423973529589e-3};
    const double norms_d[STEPS] = {4.578386465780e-1, 1.495207068552e-1, 1.351590058335e-2, 5.699604628794e-3};
    /* The first triangle is the first one of the cube of 24 triangles, refined once, whose entries are known. */
    const double nodes[12] = {1, -1, -1, 1, 0, -1, 1, -0.5, -0.5, 0, -0.5, -0.7};
    const uint32_t triangles[12] = {0, 1, 2, 1, 0, 3, 2, 1, 3, 0, 2, 3};
    const uint32_t open[9] = {0, 1, 2, 1, 0, 3, 2, 1, 3};
    const double first[16] = {1};
    double y[16];
    clinalg_heat_options options;
    clinalg_solver_options solver;
    clinalg_report report;
    clinalg_object_info info;
    clinalg_memory_report before, after;
    clinalg_handle v = 0, d = 0, x = 0, b = 0, w = 0;

    OK(clinalg_device_memory(&before));
    OK(clinalg_heat_options_default(&options, sizeof options));
    options.alpha = 0.5;
    options.steps = 4;
    OK(clinalg_heat_operator_create(&options, CLINALG_HEAT_KIND_V, nodes, 4, triangles, 4, &v));
    OK(clinalg_object_get_info(v, &info));
    CHECK(info.kind == CLINALG_KIND_OPERATOR && info.rows == 16 && info.cols == 16);
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, first, 16, &x));
    OK(clinalg_matrix_mv(1.0, v, x, 0.0, &b));
    OK(clinalg_array_read(b, CLINALG_PRECISION_F64, 0, 16, y));
    CHECK(fabs(y[0] / 8.522019593658992e-3 - 1) < 1e-9 && fabs(y[4] / 2.455648861659851e-3 - 1) < 1e-9);

    OK(clinalg_solver_options_default(&solver, sizeof solver));
    solver.method = CLINALG_METHOD_GMRES;
    solver.restart = 16;
    OK(clinalg_system_solve(&solver, v, b, &w, &report, NULL, 0));
    CHECK(report.stop == CLINALG_STOP_CONVERGED);
    OK(clinalg_array_read(w, CLINALG_PRECISION_F64, 0, 16, y));
    CHECK(fabs(y[0] - 1) < 1e-6 && fabs(y[4]) < 1e-6 && fabs(y[15]) < 1e-6);

    make_cube();
    check_norms(CLINALG_HEAT_KIND_V, norms_v, 1e-9);
    check_norms(CLINALG_HEAT_KIND_K, norms_k, 1e-6);
    check_norms(CLINALG_HEAT_KIND_D, norms_d, 1e-6);
    check_solvers(CLINALG_HEAT_KIND_V);
    check_solvers(CLINALG_HEAT_KIND_D);

    options.storage = CLINALG_STORAGE_ON_THE_FLY;
    OK(clinalg_heat_operator_create(&options, CLINALG_HEAT_KIND_D, nodes, 4, triangles, 4, &d));
    OK(clinalg_matrix_mv(1.0, d, x, 0.0, &b));
    solver.preconditioner = CLINALG_PRECONDITIONER_JACOBI;
    FAILS(clinalg_system_solve(&solver, d, b, &w, &report, NULL, 0), CLINALG_STATUS_VALUE);
    FAILS(clinalg_matrix_mv_transposed(1.0, v, x, 0.0, &b), CLINALG_STATUS_HANDLE_KIND);
    FAILS(clinalg_array_add(v, v, &b), CLINALG_STATUS_HANDLE_KIND);

    OK(clinalg_object_release(d));
    d = 0;
    FAILS(clinalg_heat_operator_create(&options, 4, nodes, 4, triangles, 4, &d), CLINALG_STATUS_VALUE);
    FAILS(clinalg_heat_operator_create(&options, CLINALG_HEAT_KIND_V, nodes, 4, open, 3, &d), CLINALG_STATUS_VALUE);
    CHECK(strstr(clinalg_last_error_message(), "edge") != NULL);
    FAILS(clinalg_heat_operator_create(&options, CLINALG_HEAT_KIND_V, nodes, 3, triangles, 4, &d), CLINALG_STATUS_INDEX);
    options.alpha = 0;
    FAILS(clinalg_heat_operator_create(&options, CLINALG_HEAT_KIND_V, nodes, 4, triangles, 4, &d), CLINALG_STATUS_VALUE);
    FAILS(clinalg_heat_operator_create(NULL, CLINALG_HEAT_KIND_V, nodes, 4, triangles, 4, &d), CLINALG_STATUS_NULL_POINTER);
    CHECK(d == 0);

    OK(clinalg_object_release(v));
    FAILS(clinalg_matrix_mv(1.0, v, x, 0.0, &b), CLINALG_STATUS_HANDLE_STALE);
    OK(clinalg_object_release(x));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(w));
    OK(clinalg_device_memory(&after));
    CHECK(after.live_bytes == before.live_bytes && after.live_buffers == before.live_buffers);
    printf("%s\n", failures == 0 ? "passed" : "FAILED");
    return failures == 0 ? 0 : 1;
}
