/* A solve of the Poisson problem from options to the solution. */

#ifndef POISSON_H
#define POISSON_H

#include <clinalg.h>

/* The default options on the unit square (2) or cube (3) with `side` points per side. */
static clinalg_status poisson_options(size_t dim, size_t side, clinalg_poisson_options *options)
{
    size_t axis;
    const clinalg_status status = clinalg_poisson_options_default(options, sizeof *options);
    if (status != CLINALG_STATUS_OK) return status;
    options->dim = dim;
    for (axis = 0; axis < dim; ++axis) options->points[axis] = side;
    return status;
}

static clinalg_status solve_poisson(const clinalg_poisson_options *options, clinalg_handle f, clinalg_handle *u,
                                    clinalg_poisson_report *report)
{
    clinalg_handle solver = 0;
    clinalg_status status = clinalg_poisson_create(options, &solver);
    if (status != CLINALG_STATUS_OK) return status;
    status = clinalg_poisson_solve_vector(solver, f, u, NULL, NULL, report, NULL, 0);
    clinalg_object_release(solver);
    return status;
}

#endif
