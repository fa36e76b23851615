/* Elastodynamics from C99: a cavity under pressure, fields in the material, refusals. */

#include "check.h"

#include <string.h>

#include <math.h>
#include <stdio.h>

/* The cube (-1, 1)^3, each face a square: a cavity in an unbounded material. */
static const double nodes[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1}, {-1, -1, 1}, {1, -1, 1}, {1, 1, 1}, {-1, 1, 1}};
static const uint32_t elements[6][4] = {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}};
enum { M = 6, UNKNOWNS = 3 * M };

/* Ends GMRES in its second iteration, LU at once. */
static int32_t tell(size_t iteration, double residual, void *way)
{
    CHECK(residual >= 0);
    return iteration >= (*(int *)way ? 2u : 0u);
}

/* Counts the calls, and asks for the end in one of them. */
struct once { size_t calls, last; };

static int32_t end_once(size_t iteration, double residual, void *data)
{
    struct once *once = data;
    (void)iteration;
    (void)residual;
    return ++once->calls == once->last;
}

static clinalg_handle make(uint32_t precision, double poisson, size_t boundary, clinalg_status *status)
{
    clinalg_elastodynamics_options options;
    clinalg_handle problem = 0;
    CHECK(!clinalg_elastodynamics_options_default(&options, sizeof options));
    CHECK(options.rule == 8 && options.domain == CLINALG_DOMAIN_INTERIOR);
    options.poisson = poisson;
    options.domain = CLINALG_DOMAIN_EXTERIOR;
    options.precision = precision;
    *status = clinalg_elastodynamics_create(&options, &nodes[0][0], 8, &elements[0][0], 6, boundary, &problem);
    return problem;
}

static double difference(const double *a, const double *b, size_t count)
{
    double most = 0;
    size_t k;
    for (k = 0; k < count; ++k)
        if (fabs(a[k] - b[k]) > most) most = fabs(a[k] - b[k]);
    return most;
}

int main(void)
{
    static const uint32_t precisions[2] = {CLINALG_PRECISION_F64, CLINALG_PRECISION_F32};
    static double u[2][2][2 * UNKNOWNS], t[2 * UNKNOWNS], field[12], stress[36], lone[6];
    const double points[2][3] = {{0, 0, 3}, {3, 0, 0}};
    uint32_t known[UNKNOWNS];
    double centres[UNKNOWNS], normals[UNKNOWNS], given[4 * UNKNOWNS], uneven[4 * UNKNOWNS], both[4 * UNKNOWNS], tractions[4 * UNKNOWNS];
    clinalg_status status;
    clinalg_handle problem, h, g;
    clinalg_object_info info;
    int p, way;
    size_t k, calls;
    struct once once;
    for (k = 0; k < UNKNOWNS; ++k) known[k] = CLINALG_KNOWN_TRACTION;
    for (p = 0; p < 2; ++p) {
        problem = make(precisions[p], 0.25, M, &status);
        CHECK(!status && problem);
        CHECK(!clinalg_object_get_info(problem, &info) && info.kind == CLINALG_KIND_ELASTODYNAMICS && info.rows == UNKNOWNS);
        CHECK(!clinalg_elastodynamics_surface(problem, centres, normals));
        /* The second face is z = 1; the material's normal points into the cavity. */
        CHECK(centres[5] == 1 && normals[5] == -1);
        for (k = 0; k < UNKNOWNS; ++k) {
            given[2 * k] = -normals[k];
            given[2 * k + 1] = 0;
            given[2 * UNKNOWNS + 2 * k] = 0;
            given[2 * UNKNOWNS + 2 * k + 1] = -2 * normals[k];
        }
        /* Without symmetry GMRES takes several iterations. */
        for (k = 0; k < 4 * UNKNOWNS; ++k) uneven[k] = 1 + (double)(7 * k % 11);
        for (way = 0; way < 2; ++way) {
            CHECK(!clinalg_elastodynamics_solve(problem, 1, way ? CLINALG_ELASTODYNAMICS_METHOD_ON_THE_FLY : CLINALG_ELASTODYNAMICS_METHOD_LU,
                                                known, given, 1, u[p][way], t));
            CHECK(difference(t, given, 2 * UNKNOWNS) == 0);
        }
        CHECK(difference(u[p][0], u[p][1], 2 * UNKNOWNS) < (p ? 1e-4 : 1e-7));
        /* Ended after the assembly, and in the second iteration. */
        for (way = 0; way < 2; ++way) {
            CHECK(clinalg_elastodynamics_solve_with(problem, 1,
                                                    way ? CLINALG_ELASTODYNAMICS_METHOD_ON_THE_FLY : CLINALG_ELASTODYNAMICS_METHOD_LU,
                                                    known, uneven, 1, tell, &way, both, tractions) == CLINALG_STATUS_CANCELLED);
            CHECK(strstr(clinalg_last_error_message(), way ? "after 2 iterations" : "before the factorisation") != NULL);
        }
        /* Ended by any iteration of the first of two sets, also by the one in which it converges. */
        once.calls = once.last = 0;
        CHECK(!clinalg_elastodynamics_solve_with(problem, 1, CLINALG_ELASTODYNAMICS_METHOD_ON_THE_FLY, known, uneven, 1, end_once, &once, both, tractions));
        calls = once.calls;
        CHECK(calls >= 4);
        for (k = 1; k <= calls; ++k) {
            once.calls = 0;
            once.last = k;
            CHECK(clinalg_elastodynamics_solve_with(problem, 1, CLINALG_ELASTODYNAMICS_METHOD_ON_THE_FLY, known, uneven, 2, end_once, &once, both,
                                                    tractions) == CLINALG_STATUS_CANCELLED);
            CHECK(once.calls == k && strstr(clinalg_last_error_message(), "set 1 of 2") != NULL);
        }
        /* The second set is 2 i times the first. */
        CHECK(!clinalg_elastodynamics_solve(problem, 1, CLINALG_ELASTODYNAMICS_METHOD_LU, known, given, 2, both, tractions));
        for (k = 0; k < UNKNOWNS; ++k) {
            CHECK(fabs(both[2 * UNKNOWNS + 2 * k] + 2 * both[2 * k + 1]) < 1e-5);
            CHECK(fabs(both[2 * UNKNOWNS + 2 * k + 1] - 2 * both[2 * k]) < 1e-5);
        }
        /* By symmetry the same away from the wall along z and x. */
        CHECK(!clinalg_elastodynamics_evaluate(problem, 1, u[p][0], t, &points[0][0], 2, field, stress));
        CHECK(fabs(field[4] - field[6]) < 1e-5 && fabs(field[4]) + fabs(field[5]) > 0.01 && fabs(field[0]) < 1e-6);
        CHECK(fabs(stress[16] - stress[18]) < 1e-5 && fabs(stress[16]) + fabs(stress[17]) > 0.01);
        CHECK(!clinalg_elastodynamics_evaluate(problem, 1, u[p][0], t, &points[0][0], 1, lone, NULL));
        CHECK(difference(lone, field, 6) < 1e-6);
        CHECK(!clinalg_elastodynamics_assemble(problem, 1, &h, &g));
        CHECK(!clinalg_object_get_info(h, &info) && info.kind == CLINALG_KIND_DENSE && info.rows == UNKNOWNS && info.cols == UNKNOWNS);
        CHECK(info.precision == (p ? CLINALG_PRECISION_COMPLEX_F32 : CLINALG_PRECISION_COMPLEX_F64));
        CHECK(!clinalg_object_release(h) && !clinalg_object_release(g));
        CHECK(clinalg_elastodynamics_solve(problem, 1, 7, known, given, 1, u[p][0], t));
        CHECK(clinalg_elastodynamics_solve(problem, -1, 0, known, given, 1, u[p][0], t));
        known[4] = 9;
        CHECK(clinalg_elastodynamics_solve(problem, 1, 0, known, given, 1, u[p][0], t));
        known[4] = CLINALG_KNOWN_TRACTION;
        CHECK(clinalg_elastodynamics_evaluate(problem, 1, u[p][0], t, centres, 1, field, NULL));
        CHECK(clinalg_elastodynamics_assemble(problem, 1, &h, NULL));
        CHECK(!clinalg_object_release(problem));
        CHECK(clinalg_elastodynamics_assemble(problem, 1, &h, &g));
    }
    CHECK(difference(u[0][0], u[1][0], 2 * UNKNOWNS) < 1e-4);
    make(CLINALG_PRECISION_F64, 0.5, M, &status);
    CHECK(status);
    make(CLINALG_PRECISION_F64, 0.3, M + 1, &status);
    CHECK(status);
    make(CLINALG_PRECISION_COMPLEX_F64, 0.3, M, &status);
    CHECK(status);
    CHECK(clinalg_elastodynamics_options_default(NULL, sizeof(clinalg_elastodynamics_options)));
    if (failures == 0) puts("passed");
    return failures != 0;
}
