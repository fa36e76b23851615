/* Torsion of a bar of cross-section 2 by 1: -Laplace u = 1, u = 0 on the boundary. A quarter of the section is enough; its sides
 * on the axes of symmetry are insulated. */

#include <clinalg.h>

#include <stdio.h>
#include <stdlib.h>

enum { NX = 101, NY = 51, POINTS = NX * NY };

static int failed(const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", what, clinalg_last_error_id(), clinalg_last_error_message());
    return 1;
}

int main(void)
{
    double *f = malloc(POINTS * sizeof *f), *u = calloc(POINTS, sizeof *u);
    clinalg_poisson_options options;
    clinalg_poisson_report report;
    clinalg_handle poisson = 0;
    size_t k;

    if (!f || !u) return 1;
    for (k = 0; k < POINTS; ++k) f[k] = 1;

    if (clinalg_poisson_options_default(&options, sizeof options)) return failed("options");
    options.points[0] = NX;
    options.points[1] = NY;
    options.lengths[0] = 1;
    options.lengths[1] = 0.5;
    options.sides[0][0] = CLINALG_CONDITION_NEUMANN; /* x = 0 */
    options.sides[1][0] = CLINALG_CONDITION_NEUMANN; /* y = 0 */
    if (clinalg_poisson_create(&options, &poisson)) return failed("solver");
    if (clinalg_poisson_solve(poisson, f, u, POINTS, NULL, NULL, &report, NULL, 0)) return failed("solve");

    printf("%zu cycles, u = %.6f in the middle\n", report.cycles, u[0]);
    clinalg_object_release(poisson);
    free(f);
    free(u);
    return report.stop == CLINALG_STOP_CONVERGED ? 0 : 1;
}
