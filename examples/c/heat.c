/* V w = b on a tetrahedron over 8 time steps: by forward elimination, and by GMRES with operator preconditioning. */

#include <clinalg.h>

#include <stdio.h>

int main(void)
{
    const double nodes[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    const uint32_t triangles[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    double ones[32], difference, size;
    clinalg_heat_options options;
    clinalg_solver_options solver;
    clinalg_report report;
    clinalg_handle v, forward, preconditioner, b, direct = 0, iterated = 0, rest = 0;

    for (int k = 0; k < 32; ++k) ones[k] = 1;
    if (clinalg_heat_options_default(&options, sizeof options) || clinalg_solver_options_default(&solver, sizeof solver)) goto failed;
    options.steps = 8;
    solver.method = CLINALG_METHOD_GMRES;
    if (clinalg_heat_operator_create(&options, CLINALG_HEAT_KIND_V, nodes, 4, triangles, 4, &v) ||
        clinalg_vector_create(CLINALG_PRECISION_F64, ones, 32, &b) ||
        clinalg_heat_forward_create(v, &forward) ||
        clinalg_matrix_mv(1.0, forward, b, 0.0, &direct) ||
        clinalg_heat_operator_preconditioner_create(v, CLINALG_STORAGE_AUTO, &preconditioner))
        goto failed;
    solver.inverse = preconditioner;
    if (clinalg_system_solve(&solver, v, b, &iterated, &report, NULL, 0) ||
        clinalg_array_subtract(direct, iterated, &rest) ||
        clinalg_array_norm2(rest, &difference) ||
        clinalg_array_norm2(direct, &size))
        goto failed;
    printf("%zu iterations, %.0e from the direct solution\n", report.iterations, difference / size);
    const clinalg_handle all[] = {v, forward, preconditioner, b, direct, iterated, rest};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k) clinalg_object_release(all[k]);
    return 0;

failed:
    fprintf(stderr, "%s: %s\n", clinalg_last_error_id(), clinalg_last_error_message());
    return 1;
}
