/* What the options of solvers and preconditioners choose, and what they refuse. */

#include "check.h"
#include "poisson.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { SIDE = 24, N = SIDE * SIDE };

#define SAYS(word) CHECK(strstr(clinalg_last_error_message(), word) != NULL)
#define SAYS_NOT(word) CHECK(strstr(clinalg_last_error_message(), word) == NULL)

/* Five-point differences with a wind from the left: unsymmetric unless `wind` is 0. */
static clinalg_handle stencil(double wind)
{
    static size_t offsets[N + 1], indices[5 * N];
    static double values[5 * N];
    size_t i, entries = 0;
    clinalg_handle a = 0;
    for (i = 0; i < N; ++i) {
        if (i >= SIDE) indices[entries] = i - SIDE, values[entries++] = -1;
        if (i % SIDE > 0) indices[entries] = i - 1, values[entries++] = -1 - wind;
        indices[entries] = i, values[entries++] = 4 + wind;
        if (i % SIDE < SIDE - 1) indices[entries] = i + 1, values[entries++] = -1;
        if (i + SIDE < N) indices[entries] = i + SIDE, values[entries++] = -1;
        offsets[i + 1] = entries;
    }
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, N, N, offsets, indices, values, &a));
    return a;
}

static clinalg_handle waves(void)
{
    double values[N];
    clinalg_handle x = 0;
    size_t i;
    for (i = 0; i < N; ++i) values[i] = sin(1.7 * (double)i) + 0.3;
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, values, N, &x));
    return x;
}

/* |a - b|_inf */
static double distance(clinalg_handle a, clinalg_handle b)
{
    clinalg_handle difference = 0;
    double norm = NAN;
    OK(clinalg_array_subtract_scaled(a, b, 1, &difference));
    OK(clinalg_array_norm_inf(difference, &norm));
    OK(clinalg_object_release(difference));
    return norm;
}

/* |b - A x| / |b| */
static double residual(clinalg_handle a, clinalg_handle x, clinalg_handle b)
{
    clinalg_handle r = 0;
    double norm = NAN, size = NAN;
    OK(clinalg_array_copy(b, &r));
    OK(clinalg_matrix_mv(-1, a, x, 1, &r));
    OK(clinalg_array_norm2(r, &norm));
    OK(clinalg_array_norm2(b, &size));
    OK(clinalg_object_release(r));
    return norm / size;
}

static clinalg_solver_options options_of(uint32_t method, uint32_t preconditioner)
{
    clinalg_solver_options options;
    OK(clinalg_solver_options_default(&options, sizeof options));
    options.method = method;
    options.preconditioner = preconditioner;
    return options;
}

/* IC and FSAI read one triangle only. */
static void hermitian_only(void)
{
    const size_t offsets[] = {0, 2, 5, 7}, indices[] = {0, 1, 0, 1, 2, 1, 2};
    const double given[] = {4, -1, -3, 4, -1, -2, 4}, broken[] = {4, NAN, NAN, 4, -1, -1, 4}, right[] = {1, 2, 3};
    const clinalg_complex hermitian[] = {{4, 0}, {0, -1}, {0, 1}, {4, 0}, {0, -1}, {0, 1}, {4, 0}};
    const clinalg_complex twin[] = {{4, 0}, {0, -1}, {0, -1}, {4, 0}, {0, -1}, {0, -1}, {4, 0}};
    const uint32_t kinds[] = {CLINALG_PRECONDITIONER_IC, CLINALG_PRECONDITIONER_FSAI};
    clinalg_handle unsymmetric = 0, nan = 0, h = 0, t = 0, b = 0, a = stencil(0), wind = stencil(0.5), rhs = waves();
    size_t k;
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, 3, 3, offsets, indices, given, &unsymmetric));
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, 3, 3, offsets, indices, broken, &nan));
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_COMPLEX_F64, 3, 3, offsets, indices, hermitian, &h));
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_COMPLEX_F64, 3, 3, offsets, indices, twin, &t));
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, right, 3, &b));
    for (k = 0; k < 2; ++k) {
        clinalg_preconditioner_options options;
        clinalg_solver_options solver = options_of(CLINALG_METHOD_CG, kinds[k]);
        clinalg_handle m = 0, made = 0, x = 0;
        clinalg_report report;
        OK(clinalg_preconditioner_options_default(&options, sizeof options));
        options.kind = kinds[k];
        FAILS(clinalg_preconditioner_create(&options, unsymmetric, &m), CLINALG_STATUS_VALUE);
        SAYS("not symmetric");
        SAYS("ilu");
        FAILS(clinalg_preconditioner_create(&options, t, &m), CLINALG_STATUS_VALUE);
        SAYS("not Hermitian");
        FAILS(clinalg_preconditioner_create(&options, nan, &m), CLINALG_STATUS_VALUE);
        SAYS("row 1 and column 2");
        CHECK(m == 0);
        OK(clinalg_preconditioner_create(&options, h, &m));
        OK(clinalg_object_release(m));
        FAILS(clinalg_system_solve(&solver, unsymmetric, b, &x, NULL, NULL, 0), CLINALG_STATUS_VALUE);
        SAYS("not symmetric");
        FAILS(clinalg_solver_create(&solver, unsymmetric, &made), CLINALG_STATUS_VALUE);
        CHECK(made == 0 && x == 0);
        /* A refill that fails leaves the solver as it was. */
        OK(clinalg_solver_create(&solver, a, &made));
        FAILS(clinalg_solver_refill(made, wind), CLINALG_STATUS_VALUE);
        SAYS("not symmetric");
        OK(clinalg_solver_solve(made, rhs, &x, NULL, NULL, &report, NULL, 0));
        CHECK(report.stop == CLINALG_STOP_CONVERGED && residual(a, x, rhs) < 1e-9);
        OK(clinalg_object_release(made));
        OK(clinalg_object_release(x));
    }
    OK(clinalg_object_release(unsymmetric));
    OK(clinalg_object_release(nan));
    OK(clinalg_object_release(h));
    OK(clinalg_object_release(t));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(wind));
    OK(clinalg_object_release(rhs));
}

/* LSQR and LSMR with preconditioners of A' A, by name and as an inverse. */
static void normal_equations(void)
{
    const uint32_t kinds[] = {CLINALG_PRECONDITIONER_JACOBI, CLINALG_PRECONDITIONER_IC,   CLINALG_PRECONDITIONER_SSOR,
                              CLINALG_PRECONDITIONER_SPAI0,  CLINALG_PRECONDITIONER_FSAI, CLINALG_PRECONDITIONER_AMG};
    const uint32_t refused[] = {CLINALG_PRECONDITIONER_ILU, CLINALG_PRECONDITIONER_ILUT};
    const clinalg_handle a = stencil(0.5), wanted = waves();
    clinalg_handle b = 0, x = 0, transposed = 0, normal = 0, m = 0, c = 0, cb = 0, cx = 0, none = 0;
    clinalg_preconditioner_options made;
    clinalg_amg_options amg;
    clinalg_report report;
    uint32_t method;
    size_t k, of_ic = 0;
    OK(clinalg_matrix_mv(1, a, wanted, 0, &b));
    OK(clinalg_array_copy(b, &x));
    OK(clinalg_array_convert(a, CLINALG_PRECISION_COMPLEX_F64, &c));
    OK(clinalg_array_convert(b, CLINALG_PRECISION_COMPLEX_F64, &cb));
    for (method = CLINALG_METHOD_LSQR; method <= CLINALG_METHOD_LSMR; ++method) {
        clinalg_solver_options options = options_of(method, CLINALG_PRECONDITIONER_NONE);
        size_t plain;
        OK(clinalg_array_fill(x, 0));
        OK(clinalg_system_solve(&options, a, b, &x, &report, NULL, 0));
        plain = report.iterations;
        for (k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
            options.preconditioner = kinds[k];
            OK(clinalg_array_fill(x, 0));
            OK(clinalg_system_solve(&options, a, b, &x, &report, NULL, 0));
            CHECK(report.stop == CLINALG_STOP_CONVERGED && report.iterate == report.iterations && distance(x, wanted) < 1e-6);
            CHECK(k < 1 || kinds[k] == CLINALG_PRECONDITIONER_SPAI0 || report.iterations < plain);
            if (kinds[k] == CLINALG_PRECONDITIONER_IC) of_ic = report.iterations;
        }
        options.preconditioner = CLINALG_PRECONDITIONER_FSAI;
        OK(clinalg_system_solve(&options, c, cb, &cx, &report, NULL, 0));
        CHECK(report.stop == CLINALG_STOP_CONVERGED && report.iterations < plain);
        OK(clinalg_object_release(cx));
        cx = 0;
        for (k = 0; k < 2; ++k) {
            options.preconditioner = refused[k];
            FAILS(clinalg_system_solve(&options, a, b, &none, NULL, NULL, 0), CLINALG_STATUS_VALUE);
            SAYS("`preconditioner`");
            SAYS("A' A");
        }
    }
    /* The same factors as an object. */
    {
        clinalg_solver_options options = options_of(CLINALG_METHOD_LSMR, CLINALG_PRECONDITIONER_NONE);
        OK(clinalg_matrix_transpose(a, &transposed));
        OK(clinalg_sparse_multiply(transposed, a, &normal));
        OK(clinalg_preconditioner_options_default(&made, sizeof made));
        made.kind = CLINALG_PRECONDITIONER_IC;
        OK(clinalg_preconditioner_create(&made, normal, &m));
        options.inverse = m;
        OK(clinalg_array_fill(x, 0));
        OK(clinalg_system_solve(&options, a, b, &x, &report, NULL, 0));
        CHECK(report.stop == CLINALG_STOP_CONVERGED && report.iterations == of_ic && distance(x, wanted) < 1e-6);
        OK(clinalg_object_release(m));
        /* In single precision, which shows in its products. */
        OK(clinalg_amg_options_default(&amg, sizeof amg));
        amg.single = 1;
        amg.coarse_size = 50;
        OK(clinalg_amg_create(&amg, normal, 0, &m));
        options.inverse = m;
        OK(clinalg_array_fill(x, 0));
        OK(clinalg_system_solve(&options, a, b, &x, &report, NULL, 0));
        CHECK(report.stop == CLINALG_STOP_CONVERGED && distance(x, wanted) < 1e-6);
        OK(clinalg_object_release(m));
        amg.cycle = CLINALG_AMG_CYCLE_K;
        OK(clinalg_amg_create(&amg, normal, 0, &m));
        options.inverse = m;
        FAILS(clinalg_system_solve(&options, a, b, &none, NULL, NULL, 0), CLINALG_STATUS_VALUE);
        SAYS("K-cycle");
        OK(clinalg_object_release(m));
        /* Factors of A are not symmetric. */
        made.kind = CLINALG_PRECONDITIONER_ILU;
        OK(clinalg_preconditioner_create(&made, a, &m));
        options.inverse = m;
        FAILS(clinalg_system_solve(&options, a, b, &none, NULL, NULL, 0), CLINALG_STATUS_VALUE);
        SAYS("`inverse`");
        SAYS("A' A");
        options.inverse = b;
        FAILS(clinalg_system_solve(&options, a, b, &none, NULL, NULL, 0), CLINALG_STATUS_HANDLE_KIND);
        SAYS("`inverse`");
        CHECK(none == 0);
    }
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(wanted));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(x));
    OK(clinalg_object_release(transposed));
    OK(clinalg_object_release(normal));
    OK(clinalg_object_release(m));
    OK(clinalg_object_release(c));
    OK(clinalg_object_release(cb));
}

/* Cycles of algebraic multigrid as a solver. */
static void richardson(void)
{
    const clinalg_handle a = stencil(0), b = waves();
    clinalg_solver_options options = options_of(CLINALG_METHOD_RICHARDSON, CLINALG_PRECONDITIONER_AMG);
    clinalg_handle x = 0, y = 0, m = 0, solver = 0, c = 0, d = 0, none = 0;
    clinalg_amg_options amg;
    clinalg_report report;
    double factor = NAN;
    size_t by_name;
    OK(clinalg_system_solve(&options, a, b, &x, &report, NULL, 0));
    CHECK(report.stop == CLINALG_STOP_CONVERGED && report.iterate == report.iterations && residual(a, x, b) <= 1.01e-10);
    by_name = report.iterations;
    OK(clinalg_amg_options_default(&amg, sizeof amg));
    OK(clinalg_amg_create(&amg, a, 0, &m));
    OK(clinalg_amg_convergence_factor(m, a, &factor));
    CHECK((double)report.iterations < 3 + 1.5 * log(1e-10) / log(factor));
    options.preconditioner = CLINALG_PRECONDITIONER_NONE;
    options.inverse = m;
    OK(clinalg_solver_create(&options, a, &solver));
    OK(clinalg_solver_solve(solver, b, &y, NULL, NULL, &report, NULL, 0));
    CHECK(report.stop == CLINALG_STOP_CONVERGED && report.iterations == by_name && distance(x, y) < 1e-12);
    /* x += b - A x diverges. */
    options.inverse = 0;
    options.max_iterations = 50;
    OK(clinalg_array_fill(x, 0));
    OK(clinalg_system_solve(&options, a, b, &x, &report, NULL, 0));
    CHECK(report.stop != CLINALG_STOP_CONVERGED);
    OK(clinalg_array_convert(a, CLINALG_PRECISION_COMPLEX_F64, &c));
    OK(clinalg_array_convert(b, CLINALG_PRECISION_COMPLEX_F64, &d));
    FAILS(clinalg_system_solve(&options, c, d, &none, NULL, NULL, 0), CLINALG_STATUS_VALUE);
    SAYS("Richardson");
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(x));
    OK(clinalg_object_release(y));
    OK(clinalg_object_release(m));
    OK(clinalg_object_release(solver));
    OK(clinalg_object_release(c));
    OK(clinalg_object_release(d));
}

/* The number of the iterate that a solve returns where it does not converge. */
static void iterates(void)
{
    const uint32_t methods[] = {CLINALG_METHOD_BICGSTAB, CLINALG_METHOD_IDR, CLINALG_METHOD_CG, CLINALG_METHOD_FLEXIBLE_CG};
    const clinalg_handle a = stencil(8), b = waves();
    size_t k, limit, earlier = 0;
    for (k = 0; k < sizeof methods / sizeof *methods; ++k) {
        clinalg_solver_options options = options_of(methods[k], CLINALG_PRECONDITIONER_NONE);
        for (limit = 1; limit <= 12; ++limit) {
            clinalg_handle x = 0;
            clinalg_report report;
            double history[16], found;
            size_t i;
            options.max_iterations = limit;
            OK(clinalg_system_solve(&options, a, b, &x, &report, history, 16));
            CHECK(report.iterate <= report.iterations && report.history == report.iterations + 1);
            found = residual(a, x, b);
            CHECK(fabs(found - report.relative_residual) <= 1e-8);
            CHECK(found <= history[0] * (1 + 1e-8));
            /* The others compare the iterates of some iterations only. */
            for (i = 0; i < report.iterations && methods[k] == CLINALG_METHOD_IDR; ++i) CHECK(found <= history[i] * (1 + 1e-8));
            if (report.iterate < report.iterations) {
                CHECK(fabs(history[report.iterate] - found) <= 1e-8);
                ++earlier;
            }
            OK(clinalg_object_release(x));
        }
    }
    CHECK(earlier > 0);
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(b));
}

/* The dimension of IDR, and factors by sweeps. */
static void idr_and_sweeps(void)
{
    const clinalg_handle a = stencil(0.5), symmetric = stencil(0), b = waves();
    clinalg_solver_options options = options_of(CLINALG_METHOD_IDR, CLINALG_PRECONDITIONER_NONE);
    clinalg_preconditioner_options made;
    clinalg_handle x = 0, y = 0, z = 0, by_levels = 0, by_sweeps = 0, none = 0;
    clinalg_report one, eight;
    OK(clinalg_array_copy(b, &x));
    CHECK(options.idr_dimension == 4);
    options.idr_dimension = 1;
    OK(clinalg_array_fill(x, 0));
    OK(clinalg_system_solve(&options, a, b, &x, &one, NULL, 0));
    options.idr_dimension = 8;
    OK(clinalg_array_fill(x, 0));
    OK(clinalg_system_solve(&options, a, b, &x, &eight, NULL, 0));
    CHECK(one.stop == CLINALG_STOP_CONVERGED && eight.stop == CLINALG_STOP_CONVERGED && eight.iterations < one.iterations);
    options.idr_dimension = 0;
    FAILS(clinalg_system_solve(&options, a, b, &none, NULL, NULL, 0), CLINALG_STATUS_VALUE);
    SAYS("`idr_dimension`");
    FAILS(clinalg_solver_create(&options, a, &none), CLINALG_STATUS_VALUE);
    SAYS("`idr_dimension`");

    OK(clinalg_preconditioner_options_default(&made, sizeof made));
    CHECK(made.sweeps == 0);
    made.kind = CLINALG_PRECONDITIONER_IC;
    OK(clinalg_preconditioner_create(&made, symmetric, &by_levels));
    made.sweeps = 1;
    OK(clinalg_preconditioner_create(&made, symmetric, &by_sweeps));
    OK(clinalg_matrix_mv(1, by_levels, b, 0, &y));
    OK(clinalg_matrix_mv(1, by_sweeps, b, 0, &z));
    CHECK(distance(y, z) > 1e-6);
    OK(clinalg_object_release(by_sweeps));
    /* As many sweeps as there are levels compute the same factors. */
    made.sweeps = 2 * SIDE;
    OK(clinalg_preconditioner_create(&made, symmetric, &by_sweeps));
    OK(clinalg_matrix_mv(1, by_sweeps, b, 0, &z));
    CHECK(distance(y, z) < 1e-12);
    made.kind = CLINALG_PRECONDITIONER_ILUT;
    FAILS(clinalg_preconditioner_create(&made, symmetric, &none), CLINALG_STATUS_VALUE);
    SAYS("`sweeps`");
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(symmetric));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(x));
    OK(clinalg_object_release(y));
    OK(clinalg_object_release(z));
    OK(clinalg_object_release(by_levels));
    OK(clinalg_object_release(by_sweeps));
}

/* Messages name the argument or the member that is wrong. */
static void messages(void)
{
    const clinalg_handle a = stencil(0), b = waves();
    const size_t offsets[] = {0, 1, 2, 3}, indices[] = {0, 1, 2};
    const double ones[] = {1, 1, 1}, diagonal[] = {1, NAN, 2}, full[] = {1, 0, 0, INFINITY};
    clinalg_solver_options options = options_of(99, CLINALG_PRECONDITIONER_NONE);
    clinalg_eigen_options eigen;
    clinalg_amg_options amg;
    clinalg_system_options automatic;
    clinalg_poisson_options poisson;
    clinalg_handle small = 0, nan = 0, dense = 0, none = 0, solver = 0, grid = 0;
    double values[400];
    double tolerance;
    FAILS(clinalg_system_solve(&options, a, b, &none, NULL, NULL, 0), CLINALG_STATUS_VALUE);
    SAYS("CLINALG_METHOD_LSQR (6), CLINALG_METHOD_LSMR (7) or CLINALG_METHOD_RICHARDSON (8)");
    options = options_of(CLINALG_METHOD_CG, CLINALG_PRECONDITIONER_NONE);
    FAILS(clinalg_system_solve(&options, a, 0, &none, NULL, NULL, 0), CLINALG_STATUS_HANDLE_FOREIGN);
    SAYS("`b`");
    FAILS(clinalg_system_solve(&options, a, a, &none, NULL, NULL, 0), CLINALG_STATUS_HANDLE_KIND);
    SAYS("`b`");

    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, 3, 3, offsets, indices, diagonal, &nan));
    OK(clinalg_dense_create(CLINALG_PRECISION_F64, 2, 2, full, &dense));
    options.inverse = nan;
    FAILS(clinalg_system_solve(&options, a, b, &none, NULL, NULL, 0), CLINALG_STATUS_SHAPE);
    SAYS("`inverse`");
    FAILS(clinalg_solver_create(&options, a, &none), CLINALG_STATUS_SHAPE);
    SAYS("`inverse`");
    options.inverse = 0;

    OK(clinalg_amg_options_default(&amg, sizeof amg));
    amg.struct_size = 8;
    FAILS(clinalg_amg_create(&amg, a, 0, &none), CLINALG_STATUS_VALUE);
    SAYS("struct_size");
    SAYS_NOT(" or ");

    OK(clinalg_eigen_options_default(&eigen, sizeof eigen));
    eigen.count = 1;
    FAILS(clinalg_matrix_eigenpairs(&eigen, nan, &none, values, NULL, NULL), CLINALG_STATUS_VALUE);
    SAYS("row 2 and column 2");
    SAYS("NaN");
    FAILS(clinalg_matrix_eigenpairs(&eigen, dense, &none, values, NULL, NULL), CLINALG_STATUS_VALUE);
    SAYS("row 2 and column 2");
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, 3, 3, offsets, indices, ones, &small));
    eigen.mass = nan;
    FAILS(clinalg_matrix_eigenpairs(&eigen, small, &none, values, NULL, NULL), CLINALG_STATUS_VALUE);
    SAYS("`mass`");
    eigen.mass = 0;
    eigen.inverse = small;
    FAILS(clinalg_matrix_eigenpairs(&eigen, a, &none, values, NULL, NULL), CLINALG_STATUS_SHAPE);
    SAYS("`inverse`");
    eigen.inverse = 0;
    {
        /* One equation, and as many pairs as rows. */
        const double one[1] = {-2.5};
        clinalg_handle single = 0;
        OK(clinalg_dense_create(CLINALG_PRECISION_F64, 1, 1, one, &single));
        OK(clinalg_matrix_eigenpairs(&eigen, single, &none, values, NULL, NULL));
        CHECK(values[0] == -2.5);
        OK(clinalg_object_release(none));
        OK(clinalg_object_release(single));
        none = 0;
        eigen.count = 3;
        OK(clinalg_matrix_eigenpairs(&eigen, small, &none, values, NULL, NULL));
        CHECK(fabs(values[0] - 1) < 1e-14 && fabs(values[2] - 1) < 1e-14);
        OK(clinalg_object_release(none));
        none = 0;
        eigen.count = 4;
        FAILS(clinalg_matrix_eigenpairs(&eigen, small, &none, values, NULL, NULL), CLINALG_STATUS_VALUE);
        SAYS("3 rows");
    }
    eigen.count = 400;
    FAILS(clinalg_matrix_eigenpairs(&eigen, a, &none, values, NULL, NULL), CLINALG_STATUS_VALUE);
    SAYS("400, expected at most 171");
    SAYS_NOT("guard");

    /* x = 0 has a relative residual of 1. */
    OK(clinalg_solver_create(&options, a, &solver));
    OK(clinalg_array_zeros(CLINALG_PRECISION_F64, 9, 9, &grid));
    OK(clinalg_system_options_default(&automatic, sizeof automatic));
    OK(poisson_options(2, 9, &poisson));
    eigen.count = 1;
    for (tolerance = 1; tolerance <= 2; ++tolerance) {
        options.tolerance = automatic.tolerance = poisson.tolerance = eigen.tolerance = tolerance;
        FAILS(clinalg_system_solve(&options, a, b, &none, NULL, NULL, 0), CLINALG_STATUS_VALUE);
        SAYS("`tolerance`");
        FAILS(clinalg_solver_create(&options, a, &none), CLINALG_STATUS_VALUE);
        FAILS(clinalg_solver_set_limits(solver, tolerance, 10), CLINALG_STATUS_VALUE);
        FAILS(clinalg_system_solve_automatic(&automatic, a, b, &none, NULL, 0, NULL), CLINALG_STATUS_VALUE);
        FAILS(solve_poisson(&poisson, grid, &none, NULL), CLINALG_STATUS_VALUE);
        FAILS(clinalg_matrix_eigenpairs(&eigen, a, &none, values, NULL, NULL), CLINALG_STATUS_VALUE);
        SAYS("`tolerance`");
    }
    CHECK(none == 0);
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(nan));
    OK(clinalg_object_release(small));
    OK(clinalg_object_release(dense));
    OK(clinalg_object_release(solver));
    OK(clinalg_object_release(grid));
}

int main(void)
{
    hermitian_only();
    normal_equations();
    richardson();
    iterates();
    idr_and_sweeps();
    messages();
    OK(clinalg_shutdown());
    if (failures == 0) puts("passed");
    return failures != 0;
}
