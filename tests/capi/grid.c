/* The Poisson problem on boxes from C99 against manufactured solutions, by the orders of their errors; refusals. */

#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 40 * 40 };

static const double pi = 3.14159265358979323846;

static clinalg_poisson_options options_of(size_t dim, size_t nx, size_t ny, size_t nz)
{
    clinalg_poisson_options options;
    OK(clinalg_poisson_options_default(&options, sizeof options));
    options.dim = dim;
    options.points[0] = nx;
    options.points[1] = ny;
    options.points[2] = nz;
    return options;
}

/* The largest difference. */
static double distance(const double *a, const double *b, size_t count)
{
    double most = 0;
    size_t k;
    for (k = 0; k < count; ++k) {
        if (!(fabs(a[k] - b[k]) <= most)) most = fabs(a[k] - b[k]);
    }
    return most;
}

static void solve(clinalg_handle solver, const double *f, double *u, size_t count)
{
    clinalg_poisson_report report;
    double history[3] = {NAN, NAN, NAN};
    OK(clinalg_poisson_solve(solver, f, u, count, NULL, NULL, &report, history, 3));
    CHECK(report.stop == CLINALG_STOP_CONVERGED && report.relative_residual <= 1e-10 && report.cycles < 30);
    CHECK(report.levels > 1 && report.history == report.cycles + 1 && report.convergence_factor < 0.15);
    CHECK(fabs(history[0] - 1) < 1e-12 && history[1] < history[0] && history[2] < history[1]);
}

/* -u_xx - 2 u_yy + 3 u = 2 u for u = sin(x + 0.3) exp(y) on 2 by 1, with every condition but the periodic one. */
static double conditions(size_t n)
{
    static double f[MOST], u[MOST], exact[MOST], low[MOST], high[MOST];
    clinalg_poisson_options options = options_of(2, n, n, 0);
    clinalg_handle solver = 0;
    size_t i, j;
    options.lengths[0] = 2;
    options.sides[0][0] = CLINALG_CONDITION_ROBIN;
    options.alpha[0][0] = 1.5;
    options.sides[0][1] = CLINALG_CONDITION_NEUMANN;
    options.diffusion[1] = 2;
    options.shift = 3;
    OK(clinalg_poisson_create(&options, &solver));
    for (j = 0; j < n; ++j) {
        const double y = (double)j / (double)(n - 1);
        for (i = 0; i < n; ++i) {
            exact[j * n + i] = sin(2 * (double)i / (double)(n - 1) + 0.3) * exp(y);
            f[j * n + i] = 2 * exact[j * n + i];
            u[j * n + i] = 0;
        }
        low[j] = (1.5 * sin(0.3) - cos(0.3)) * exp(y);
        high[j] = cos(2.3) * exp(y);
    }
    OK(clinalg_poisson_set_side(solver, 0, 0, low, n));
    OK(clinalg_poisson_set_side(solver, 0, 1, high, n));
    OK(clinalg_poisson_set_side(solver, 1, 0, exact, n));
    OK(clinalg_poisson_set_side(solver, 1, 1, exact + (n - 1) * n, n));
    solve(solver, f, u, n * n);
    OK(clinalg_object_release(solver));
    return distance(u, exact, n * n);
}

/* -Laplace u = 3 u for u = sin(2 x) exp(y) by compact stencils. */
static double fourth_order(size_t n)
{
    static double f[MOST], u[MOST], exact[MOST], low[MOST], high[MOST];
    clinalg_poisson_options options = options_of(2, n, n, 0);
    clinalg_handle solver = 0;
    size_t i, j;
    options.order = 4;
    OK(clinalg_poisson_create(&options, &solver));
    for (j = 0; j < n; ++j) {
        for (i = 0; i < n; ++i) {
            exact[j * n + i] = sin(2 * (double)i / (double)(n - 1)) * exp((double)j / (double)(n - 1));
            f[j * n + i] = 3 * exact[j * n + i];
            u[j * n + i] = 0;
        }
        low[j] = exact[j * n];
        high[j] = exact[j * n + n - 1];
    }
    OK(clinalg_poisson_set_side(solver, 0, 0, low, n));
    OK(clinalg_poisson_set_side(solver, 0, 1, high, n));
    OK(clinalg_poisson_set_side(solver, 1, 0, exact, n));
    OK(clinalg_poisson_set_side(solver, 1, 1, exact + (n - 1) * n, n));
    solve(solver, f, u, n * n);
    OK(clinalg_object_release(solver));
    return distance(u, exact, n * n);
}

/* -div(k D grad u) = f for u = sin(x + 2 y) with D = [1 0.5; 0.5 2] and k = exp(x) in the cells, on graded intervals. */
static double full_tensor(size_t n)
{
    static double f[MOST], u[MOST], exact[MOST], k[MOST], side[4][MOST], x[MOST];
    clinalg_poisson_options options = options_of(2, n, n, 0);
    clinalg_handle solver = 0;
    size_t i, j;
    for (i = 0; i < n; ++i) {
        const double t = (double)i / (double)(n - 1);
        x[i] = t + 0.1 * sin(pi * t);
    }
    for (j = 0; j < n; ++j) {
        const double y = (double)j / (double)(n - 1);
        for (i = 0; i < n; ++i) {
            exact[j * n + i] = sin(x[i] + 2 * y);
            /* The flux is k (2, 4.5) cos(x + 2 y). */
            f[j * n + i] = exp(x[i]) * (11 * sin(x[i] + 2 * y) - 2 * cos(x[i] + 2 * y));
            u[j * n + i] = 0;
            if (i + 1 < n && j + 1 < n) k[j * (n - 1) + i] = exp((x[i] + x[i + 1]) / 2);
        }
        side[0][j] = exact[j * n];
        side[1][j] = exact[j * n + n - 1];
    }
    options.coordinates[0] = x;
    options.diffusion[1] = 2;
    options.mixed_derivatives[0] = 0.5;
    options.coefficient = k;
    options.coefficient_count = (n - 1) * (n - 1);
    options.coefficient_at = CLINALG_COEFFICIENT_AT_CELLS;
    OK(clinalg_poisson_create(&options, &solver));
    memset(x, 0, sizeof x); /* The solver has its own copies. */
    memset(k, 0, sizeof k);
    OK(clinalg_poisson_set_side(solver, 0, 0, side[0], n));
    OK(clinalg_poisson_set_side(solver, 0, 1, side[1], n));
    OK(clinalg_poisson_set_side(solver, 1, 0, exact, n));
    OK(clinalg_poisson_set_side(solver, 1, 1, exact + (n - 1) * n, n));
    solve(solver, f, u, n * n);
    OK(clinalg_object_release(solver));
    return distance(u, exact, n * n);
}

/* -Laplace u = f for u = cos(pi x) cos(2 pi z), insulated and periodic, in cells: u is determined up to a constant. */
static double cells(size_t n)
{
    static double f[MOST], u[MOST], exact[MOST];
    clinalg_poisson_options options = options_of(3, n, 3, 2 * n);
    clinalg_poisson_report report;
    clinalg_handle solver = 0;
    size_t i, j, k, axis;
    for (axis = 0; axis < 2; ++axis) {
        options.sides[axis][0] = options.sides[axis][1] = CLINALG_CONDITION_NEUMANN;
    }
    options.sides[2][0] = options.sides[2][1] = CLINALG_CONDITION_PERIODIC;
    options.centring = CLINALG_CENTRING_CELL;
    options.cycle = CLINALG_CYCLE_FULL;
    OK(clinalg_poisson_create(&options, &solver));
    for (k = 0; k < 2 * n; ++k) {
        for (j = 0; j < 3; ++j) {
            for (i = 0; i < n; ++i) {
                const size_t at = (k * 3 + j) * n + i;
                exact[at] = cos(pi * ((double)i + 0.5) / (double)n) * cos(pi * ((double)k + 0.5) / (double)n);
                f[at] = 5 * pi * pi * exact[at];
                u[at] = 0;
            }
        }
    }
    OK(clinalg_poisson_solve(solver, f, u, 6 * n * n, NULL, NULL, &report, NULL, 0));
    CHECK(report.stop == CLINALG_STOP_CONVERGED && report.imbalance < 1e-12);
    /* Sources alone do not balance. */
    for (i = 0; i < 6 * n * n; ++i) f[i] = 1;
    FAILS(clinalg_poisson_solve(solver, f, u, 6 * n * n, NULL, NULL, &report, NULL, 0), CLINALG_STATUS_VALUE);
    OK(clinalg_object_release(solver));
    return distance(u, exact, 6 * n * n);
}

static int32_t cancel(size_t iteration, double residual, void *data)
{
    *(double *)data = residual;
    return iteration == 2;
}

/* Vectors, dense matrices, single precision, the operator and the preconditioner give the solution for arrays of the host. */
static void on_the_device(void)
{
    enum { NX = 20, NY = 15, POINTS = NX * NY };
    double f[POINTS], u[POINTS], v[POINTS], side[NX], last = NAN;
    float f32[POINTS], u32[POINTS];
    clinalg_poisson_options options = options_of(2, NX, NY, 0);
    clinalg_solver_options krylov;
    clinalg_poisson_report report;
    clinalg_report solved;
    clinalg_object_info info;
    clinalg_handle solver = 0, single = 0, source = 0, start = 0, a = 0, m = 0, b = 0, x = 0;
    size_t k;
    for (k = 0; k < POINTS; ++k) f[k] = 1 + (double)(k % 7), f32[k] = (float)f[k], u[k] = 0;
    for (k = 0; k < NX; ++k) side[k] = (double)k;
    options.sides[0][1] = CLINALG_CONDITION_NEUMANN;
    OK(clinalg_poisson_create(&options, &solver));
    OK(clinalg_object_get_info(solver, &info));
    CHECK(info.kind == CLINALG_KIND_POISSON && info.precision == CLINALG_PRECISION_F64 && info.rows == POINTS);
    OK(clinalg_poisson_set_side(solver, 1, 1, side, NX));
    solve(solver, f, u, POINTS);

    OK(clinalg_vector_create(CLINALG_PRECISION_F64, f, POINTS, &source));
    OK(clinalg_poisson_solve_vector(solver, source, &start, NULL, NULL, &report, NULL, 0));
    OK(clinalg_array_read(start, CLINALG_PRECISION_F64, 0, POINTS, v));
    CHECK(distance(u, v, POINTS) == 0);
    /* From the solution there is nothing left to do. */
    OK(clinalg_poisson_solve_vector(solver, source, &start, NULL, NULL, &report, NULL, 0));
    CHECK(report.cycles == 0 && isnan(report.imbalance) && isnan(report.convergence_factor));
    OK(clinalg_object_release(start));
    start = 0;
    OK(clinalg_poisson_solve_vector(solver, source, &start, cancel, &last, &report, NULL, 0));
    CHECK(report.stop == CLINALG_STOP_CANCELLED && report.cycles == 2 && last < 0.1 && last > 1e-10);
    /* Data that are not finite leave u as it was. */
    OK(clinalg_array_read(start, CLINALG_PRECISION_F64, 0, POINTS, u));
    for (k = 0; k < POINTS; ++k) v[k] = NAN;
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, v, POINTS, &x));
    OK(clinalg_poisson_solve_vector(solver, x, &start, NULL, NULL, &report, NULL, 0));
    OK(clinalg_array_read(start, CLINALG_PRECISION_F64, 0, POINTS, v));
    CHECK(report.stop == CLINALG_STOP_NOT_FINITE && distance(u, v, POINTS) == 0);
    OK(clinalg_object_release(x));
    x = 0;
    OK(clinalg_poisson_solve_vector(solver, source, &start, NULL, NULL, &report, NULL, 0));
    OK(clinalg_array_read(start, CLINALG_PRECISION_F64, 0, POINTS, u));

    /* Conjugate gradients with the operator and a cycle, which outlive the solver. */
    OK(clinalg_poisson_operator_create(solver, &a));
    OK(clinalg_poisson_preconditioner_create(solver, &m));
    OK(clinalg_poisson_right_side(solver, source, &b));
    OK(clinalg_object_get_info(b, &info));
    CHECK(info.rows == (NX - 1) * (NY - 2));
    OK(clinalg_solver_options_default(&krylov, sizeof krylov));
    krylov.inverse = m;
    OK(clinalg_system_solve(&krylov, a, b, &x, &solved, NULL, 0));
    CHECK(solved.stop == CLINALG_STOP_CONVERGED && solved.iterations < 12);
    OK(clinalg_poisson_points(solver, x, &start));
    OK(clinalg_array_read(start, CLINALG_PRECISION_F64, 0, POINTS, v));
    CHECK(distance(u, v, POINTS) < 1e-8 && v[(NY - 1) * NX + 7] == 7);
    OK(clinalg_object_release(solver));
    OK(clinalg_object_release(x));
    x = 0;
    OK(clinalg_system_solve(&krylov, a, b, &x, &solved, NULL, 0));
    CHECK(solved.stop == CLINALG_STOP_CONVERGED);

    options.precision = CLINALG_PRECISION_F32;
    options.tolerance = 1e-5;
    OK(clinalg_poisson_create(&options, &single));
    OK(clinalg_poisson_set_side(single, 1, 1, side, NX));
    FAILS(clinalg_poisson_solve_vector(single, source, &start, NULL, NULL, NULL, NULL, 0), CLINALG_STATUS_PRECISION);
    OK(clinalg_object_release(source));
    OK(clinalg_object_release(start));
    start = 0;
    OK(clinalg_dense_create(CLINALG_PRECISION_F32, NX, NY, f32, &source));
    OK(clinalg_poisson_solve_vector(single, source, &start, NULL, NULL, &report, NULL, 0));
    CHECK(report.stop == CLINALG_STOP_CONVERGED);
    OK(clinalg_object_get_info(start, &info));
    CHECK(info.kind == CLINALG_KIND_DENSE && info.rows == NX && info.cols == NY);
    OK(clinalg_array_read(start, CLINALG_PRECISION_F32, 0, POINTS, u32));
    for (k = 0; k < POINTS; ++k) v[k] = u32[k];
    CHECK(distance(u, v, POINTS) < 2e-4);
    memset(v, 0, sizeof v);
    OK(clinalg_poisson_solve(single, f, v, POINTS, NULL, NULL, NULL, NULL, 0));
    CHECK(distance(u, v, POINTS) < 2e-4);
    /* Without values, a side has those of u. */
    OK(clinalg_poisson_set_side(single, 1, 1, NULL, 0));
    OK(clinalg_poisson_solve(single, f, v, POINTS, NULL, NULL, NULL, NULL, 0));
    CHECK(distance(u, v, POINTS) < 2e-4 && v[(NY - 1) * NX + 7] != 0);
    memset(v, 0, sizeof v);
    OK(clinalg_poisson_solve(single, f, v, POINTS, NULL, NULL, NULL, NULL, 0));
    CHECK(v[(NY - 1) * NX + 7] == 0);
    OK(clinalg_object_release(single));
    OK(clinalg_object_release(source));
    OK(clinalg_object_release(start));
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(m));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(x));
}

static int mentions(const char *word) { return strstr(clinalg_last_error_message(), word) != NULL; }

/* Creation fails with an error that names an argument. */
#define REFUSED(change, argument)                                              \
    do {                                                                       \
        clinalg_poisson_options options = options_of(2, 9, 9, 9);         \
        clinalg_handle made = 0;                                               \
        change;                                                                \
        FAILS(clinalg_poisson_create(&options, &made), CLINALG_STATUS_VALUE); \
        CHECK(made == 0 && mentions("`" argument "`"));                        \
    } while (0)

static void refusals(void)
{
    enum { POINTS = 81 };
    const double ones[POINTS] = {1, 1, 1}, unordered[9] = {0, 1, 1, 2, 3, 4, 5, 6, 7};
    double f[POINTS], u[POINTS];
    clinalg_poisson_options options = options_of(2, 9, 9, 0);
    clinalg_poisson_report report;
    clinalg_handle solver = 0, vector = 0, none = 0;
    size_t k;

    FAILS(clinalg_poisson_options_default(&options, sizeof options - 8), CLINALG_STATUS_VALUE);
    FAILS(clinalg_poisson_options_default(&options, sizeof options + 8), CLINALG_STATUS_VALUE);
    FAILS(clinalg_poisson_options_default(NULL, sizeof options), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_poisson_create(NULL, &solver), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_poisson_create(&options, NULL), CLINALG_STATUS_NULL_POINTER);
    REFUSED(options.tolerance = 1, "tolerance");
    REFUSED(options.struct_size -= 8, "struct_size");
    REFUSED(options.struct_size += 8, "struct_size");
    REFUSED(options.struct_size = 0, "struct_size");
    REFUSED(options.dim = 1, "dim");
    REFUSED(options.dim = 4, "dim");
    REFUSED(options.points[1] = 0, "points");
    REFUSED(options.points[0] = (size_t)1 << 40, "points");
    REFUSED(options.lengths[1] = NAN, "lengths");
    REFUSED(options.lengths[0] = 0, "lengths");
    REFUSED(options.coordinates[0] = unordered, "coordinates");
    REFUSED(options.sides[1][1] = CLINALG_CONDITION_PERIODIC, "sides");
    REFUSED(options.sides[1][1] = 4, "sides");
    REFUSED((options.sides[0][0] = CLINALG_CONDITION_ROBIN, options.alpha[0][0] = NAN), "sides");
    REFUSED((options.sides[0][0] = CLINALG_CONDITION_ROBIN, options.alpha[0][0] = -1), "sides");
    REFUSED(options.centring = 2, "centring");
    REFUSED(options.precision = CLINALG_PRECISION_COMPLEX_F64, "precision");
    REFUSED(options.diffusion[0] = NAN, "diffusion");
    REFUSED(options.diffusion[1] = 0, "diffusion");
    REFUSED(options.mixed_derivatives[0] = 1, "mixed_derivatives");
    REFUSED(options.mixed_derivatives[0] = NAN, "mixed_derivatives");
    REFUSED((options.mixed_derivatives[0] = 0.5, options.centring = CLINALG_CENTRING_CELL), "mixed_derivatives");
    REFUSED(options.shift = -1, "shift");
    REFUSED(options.order = 3, "order");
    REFUSED((options.order = 4, options.sides[0][0] = CLINALG_CONDITION_NEUMANN), "order");
    REFUSED((options.coefficient = ones, options.coefficient_count = POINTS), "coefficient");
    REFUSED((options.coefficient = ones, options.coefficient_at = 2), "coefficient_at");
    REFUSED(options.cycle = 3, "cycle");
    REFUSED((options.pre = 0, options.post = 0), "pre + post");
    REFUSED(options.tolerance = NAN, "tolerance");
    REFUSED(options.max_imbalance = -1, "max_imbalance");
    options.coefficient = ones;
    options.coefficient_count = 3;
    FAILS(clinalg_poisson_create(&options, &solver), CLINALG_STATUS_LENGTH);
    CHECK(mentions("coefficient"));
    options.coefficient = NULL;

    for (k = 0; k < POINTS; ++k) f[k] = 1, u[k] = 0.25;
    OK(clinalg_poisson_create(&options, &solver));
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, f, POINTS - 1, &vector));
    FAILS(clinalg_poisson_solve(solver, f, u, POINTS - 1, NULL, NULL, NULL, NULL, 0), CLINALG_STATUS_LENGTH);
    FAILS(clinalg_poisson_solve(solver, u, u, POINTS, NULL, NULL, NULL, NULL, 0), CLINALG_STATUS_VALUE);
    CHECK(mentions("overlap") && u[40] == 0.25);
    FAILS(clinalg_poisson_solve(solver, NULL, u, POINTS, NULL, NULL, NULL, NULL, 0), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_poisson_solve(vector, f, u, POINTS, NULL, NULL, NULL, NULL, 0), CLINALG_STATUS_HANDLE_KIND);
    FAILS(clinalg_poisson_solve_vector(solver, vector, &none, NULL, NULL, NULL, NULL, 0), CLINALG_STATUS_LENGTH);
    FAILS(clinalg_poisson_solve_vector(solver, solver, &none, NULL, NULL, NULL, NULL, 0), CLINALG_STATUS_HANDLE_KIND);
    FAILS(clinalg_poisson_solve_vector(solver, vector, NULL, NULL, NULL, NULL, NULL, 0), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_poisson_set_side(solver, 2, 0, ones, 9), CLINALG_STATUS_VALUE);
    FAILS(clinalg_poisson_set_side(solver, 2, 0, NULL, 0), CLINALG_STATUS_VALUE);
    FAILS(clinalg_poisson_set_side(solver, 0, 0, ones, 8), CLINALG_STATUS_LENGTH);
    FAILS(clinalg_poisson_right_side(solver, vector, &none), CLINALG_STATUS_LENGTH);
    FAILS(clinalg_poisson_points(solver, vector, &none), CLINALG_STATUS_LENGTH);
    FAILS(clinalg_poisson_operator_create(vector, &none), CLINALG_STATUS_HANDLE_KIND);
    FAILS(clinalg_poisson_preconditioner_create(solver, NULL), CLINALG_STATUS_NULL_POINTER);
    CHECK(none == 0);
    f[40] = NAN;
    OK(clinalg_poisson_solve(solver, f, u, POINTS, NULL, NULL, &report, NULL, 0));
    CHECK(report.stop == CLINALG_STOP_NOT_FINITE && u[0] == 0.25 && u[40] == 0.25);
    OK(clinalg_object_release(solver));
    FAILS(clinalg_poisson_solve(solver, f, u, POINTS, NULL, NULL, NULL, NULL, 0), CLINALG_STATUS_HANDLE_STALE);
    OK(clinalg_object_release(vector));
}

/* Whether halving the intervals divides an error by 2^order. */
static void check_order(const char *name, double coarse, double fine, double order)
{
    const double found = log2(coarse / fine);
    CHECK(fine > 0 && fabs(found - order) < 0.1);
    if (!(fabs(found - order) < 0.1)) fprintf(stderr, "%s: %g, %g: order %g\n", name, coarse, fine, found);
}

int main(void)
{
    clinalg_memory_report before = {0}, after = {0};
    OK(clinalg_device_memory(&before));
    check_order("conditions", conditions(17), conditions(33), 2);
    check_order("order 4", fourth_order(17), fourth_order(33), 4);
    check_order("full tensor", full_tensor(17), full_tensor(33), 2);
    check_order("cells", cells(6), cells(12), 2);
    on_the_device();
    refusals();
    OK(clinalg_device_memory(&after));
    CHECK(after.live_bytes == before.live_bytes);
    OK(clinalg_shutdown());
    if (failures == 0) {
        puts("passed");
    }
    return failures != 0;
}
