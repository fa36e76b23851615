/* Preconditioners of sparse matrices and algebraic multigrid against closed forms. */

#include "check.h"

#include <math.h>
#include <string.h>

enum { N = 40, SIDE = 24 };

/* The matrix with `middle` on the diagonal and `side` beside it. */
static clinalg_handle tridiagonal(size_t n, double middle, double side)
{
    size_t offsets[N + 1] = {0}, indices[3 * N], i, entries = 0;
    double values[3 * N];
    clinalg_handle a = 0;
    for (i = 0; i < n; ++i) {
        if (i > 0) indices[entries] = i - 1, values[entries++] = side;
        indices[entries] = i, values[entries++] = middle;
        if (i + 1 < n) indices[entries] = i + 1, values[entries++] = side;
        offsets[i + 1] = entries;
    }
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, n, n, offsets, indices, values, &a));
    return a;
}

/* The 5-point stencil on SIDE x SIDE points, times `scale`. */
static clinalg_handle poisson(double scale)
{
    static size_t offsets[SIDE * SIDE + 1], indices[5 * SIDE * SIDE];
    static double values[5 * SIDE * SIDE];
    size_t i, j, entries = 0;
    clinalg_handle a = 0;
    for (i = 0; i < SIDE; ++i) {
        for (j = 0; j < SIDE; ++j) {
            const size_t k = i * SIDE + j;
            if (i > 0) indices[entries] = k - SIDE, values[entries++] = -scale;
            if (j > 0) indices[entries] = k - 1, values[entries++] = -scale;
            indices[entries] = k, values[entries++] = 4 * scale;
            if (j + 1 < SIDE) indices[entries] = k + 1, values[entries++] = -scale;
            if (i + 1 < SIDE) indices[entries] = k + SIDE, values[entries++] = -scale;
            offsets[k + 1] = entries;
        }
    }
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, SIDE * SIDE, SIDE * SIDE, offsets, indices, values, &a));
    return a;
}

static clinalg_handle ramp(size_t n)
{
    double values[SIDE * SIDE];
    clinalg_handle x = 0;
    size_t i;
    for (i = 0; i < n; ++i) values[i] = 1 + (double)(i % 7);
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, values, n, &x));
    return x;
}

/* |a - factor b|_inf */
static double distance(clinalg_handle a, clinalg_handle b, double factor)
{
    clinalg_handle difference = 0;
    double norm = NAN;
    OK(clinalg_array_subtract_scaled(a, b, factor, &difference));
    OK(clinalg_array_norm_inf(difference, &norm));
    OK(clinalg_object_release(difference));
    return norm;
}

static clinalg_handle made(uint32_t kind, clinalg_handle a)
{
    clinalg_preconditioner_options options;
    clinalg_handle m = 0;
    OK(clinalg_preconditioner_options_default(&options, sizeof options));
    options.kind = kind;
    options.ordering = CLINALG_ORDERING_DEFAULT;
    OK(clinalg_preconditioner_create(&options, a, &m));
    return m;
}

/* A tridiagonal matrix has no fill, so that its incomplete factors are its factors. */
static void factors(void)
{
    const uint32_t kinds[] = {CLINALG_PRECONDITIONER_ILU, CLINALG_PRECONDITIONER_ILUT, CLINALG_PRECONDITIONER_IC};
    const clinalg_handle a = tridiagonal(N, 3, -1), x = ramp(N);
    clinalg_handle b = 0, y = 0;
    size_t k;
    OK(clinalg_matrix_mv(1, a, x, 0, &b));
    for (k = 0; k < 3; ++k) {
        clinalg_handle m = made(kinds[k], a), sum = 0;
        clinalg_preconditioner_report report;
        clinalg_object_info info;
        OK(clinalg_matrix_mv(1, m, b, 0, &y));
        CHECK(distance(y, x, 1) < 1e-3);
        CHECK(kinds[k] == CLINALG_PRECONDITIONER_ILUT || distance(y, x, 1) < 1e-12);
        /* With factors. */
        OK(clinalg_array_copy(x, &sum));
        OK(clinalg_matrix_mv(2, m, b, 1, &sum));
        CHECK(distance(sum, x, 3) < 1e-3);
        OK(clinalg_preconditioner_info(m, &report));
        CHECK(report.kind == kinds[k] && report.rows == N && report.lower_levels == N && !report.is_matched);
        CHECK(kinds[k] != CLINALG_PRECONDITIONER_ILU || report.entries == 3 * N - 2);
        CHECK(kinds[k] != CLINALG_PRECONDITIONER_IC || (report.entries == 2 * N - 1 && report.shift == 0));
        OK(clinalg_object_get_info(m, &info));
        CHECK(info.kind == CLINALG_KIND_OPERATOR && info.rows == N && info.cols == N);
        OK(clinalg_object_release(m));
        OK(clinalg_object_release(sum));
    }
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(x));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(y));
}

static void approximate_inverses(void)
{
    const double right[] = {1, 2};
    const clinalg_handle a = tridiagonal(2, 2, -1), t = tridiagonal(3, 2, -1);
    clinalg_handle b = 0, c = 0, m, y = 0, z = 0;
    double got[3];
    clinalg_preconditioner_options options;
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, right, 2, &b));
    /* a has the inverse [2 1; 1 2] / 3, whose factor has the pattern of the lower triangle. */
    m = made(CLINALG_PRECONDITIONER_FSAI, a);
    OK(clinalg_matrix_mv(1, m, b, 0, &y));
    OK(clinalg_array_read(y, CLINALG_PRECISION_F64, 0, 2, got));
    CHECK(fabs(got[0] - 4.0 / 3) < 1e-14 && fabs(got[1] - 5.0 / 3) < 1e-14);
    OK(clinalg_object_release(m));
    /* (D + L) D^-1 (D + U) = [2 -1; -1 2.5] */
    OK(clinalg_preconditioner_options_default(&options, sizeof options));
    options.kind = CLINALG_PRECONDITIONER_SSOR;
    options.ordering = CLINALG_ORDERING_NATURAL;
    OK(clinalg_preconditioner_create(&options, a, &m));
    OK(clinalg_matrix_mv(1, m, b, 0, &y));
    OK(clinalg_array_read(y, CLINALG_PRECISION_F64, 0, 2, got));
    CHECK(fabs(got[0] - 4.5 / 4) < 1e-14 && fabs(got[1] - 5.0 / 4) < 1e-14);
    OK(clinalg_object_release(m));
    /* a_ii over the sum of the squares of row i. */
    c = ramp(3);
    m = made(CLINALG_PRECONDITIONER_SPAI0, t);
    OK(clinalg_matrix_mv(1, m, c, 0, &z));
    OK(clinalg_array_read(z, CLINALG_PRECISION_F64, 0, 3, got));
    CHECK(fabs(got[0] - 0.4) < 1e-14 && fabs(got[1] - 2.0 / 3) < 1e-14 && fabs(got[2] - 1.2) < 1e-14);
    OK(clinalg_object_release(m));
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(t));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(c));
    OK(clinalg_object_release(y));
    OK(clinalg_object_release(z));
}

static void multigrid(void)
{
    const size_t n = SIDE * SIDE;
    const clinalg_handle a = poisson(1), twice = poisson(2), b = ramp(n);
    clinalg_amg_options options;
    clinalg_amg_report report;
    clinalg_amg_level levels[2];
    clinalg_preconditioner_report about;
    clinalg_handle m = 0, y = 0, z = 0;
    double factor = NAN;
    OK(clinalg_amg_options_default(&options, sizeof options));
    CHECK(options.smoother == CLINALG_AMG_SMOOTHER_CHEBYSHEV && options.cycle == CLINALG_AMG_CYCLE_V);
    CHECK(options.coarsening == CLINALG_AMG_COARSENING_AUTO && options.theta < 0);
    options.coarse_size = 100;
    options.reusable = 1;
    OK(clinalg_amg_create(&options, a, 0, &m));
    OK(clinalg_amg_info(m, &report, levels, 2));
    CHECK(report.levels >= 2 && report.direct && report.null_vectors == 0 && report.bytes > 0);
    CHECK(report.operator_complexity > 1 && report.operator_complexity < 2 && report.grid_complexity < 2);
    CHECK(levels[0].rows == n && levels[0].entries == 5 * n - 4 * SIDE && levels[0].prolongator_entries >= n);
    CHECK(levels[1].rows < n / 3);
    OK(clinalg_preconditioner_info(m, &about));
    CHECK(about.kind == CLINALG_PRECONDITIONER_AMG && about.rows == n && about.entries >= levels[0].entries + levels[1].entries);
    OK(clinalg_amg_convergence_factor(m, a, &factor));
    CHECK(factor > 0 && factor < 0.5);
    /* A cycle for 2 A is half of that for A. */
    OK(clinalg_matrix_mv(1, m, b, 0, &y));
    OK(clinalg_amg_refill(m, twice));
    OK(clinalg_matrix_mv(1, m, b, 0, &z));
    CHECK(distance(y, z, 2) < 1e-10);
    OK(clinalg_object_release(y));
    OK(clinalg_object_release(z));
    OK(clinalg_object_release(m));
    /* Not to be filled again, and no hierarchy. */
    options.reusable = 0;
    OK(clinalg_amg_create(&options, a, b, &m));
    FAILS(clinalg_amg_refill(m, twice), CLINALG_STATUS_VALUE);
    OK(clinalg_object_release(m));
    /* Sweeps of Gauss-Seidel, and a finest level that is coarsened aggressively. */
    options.smoother = CLINALG_AMG_SMOOTHER_GAUSS_SEIDEL;
    options.smoother_steps = 1;
    options.coarsening = CLINALG_AMG_COARSENING_CLASSICAL;
    CHECK(options.aggressive == 0);
    OK(clinalg_amg_create(&options, a, 0, &m));
    OK(clinalg_amg_info(m, &report, NULL, 0));
    factor = report.operator_complexity;
    OK(clinalg_object_release(m));
    options.aggressive = 1;
    OK(clinalg_amg_create(&options, a, 0, &m));
    OK(clinalg_amg_info(m, &report, NULL, 0));
    CHECK(report.operator_complexity < factor);
    OK(clinalg_amg_convergence_factor(m, a, &factor));
    CHECK(factor > 0 && factor < 0.8);
    OK(clinalg_object_release(m));
    options.coarsening = CLINALG_AMG_COARSENING_AUTO;
    FAILS(clinalg_amg_create(&options, a, 0, &m), CLINALG_STATUS_VALUE);
    CHECK(strstr(clinalg_last_error_message(), "aggressive") != NULL);
    m = made(CLINALG_PRECONDITIONER_SPAI0, a);
    FAILS(clinalg_amg_refill(m, twice), CLINALG_STATUS_SHAPE);
    FAILS(clinalg_amg_info(m, &report, NULL, 0), CLINALG_STATUS_SHAPE);
    OK(clinalg_object_release(m));
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(twice));
    OK(clinalg_object_release(b));
}

enum { NODES = 8, FREE = (NODES - 1) * NODES * NODES };

/* Elasticity of a cube of NODES^3 nodes, those with x = 0 held, with trilinear elements, Young's modulus 1 and Poisson's ratio 0.3, by 2 x 2 x 2
   Gauss points; and the coordinates of the other nodes. */
static clinalg_handle elasticity(double *coordinates)
{
    static size_t rows[343 * 576], columns[343 * 576];
    static double values[343 * 576];
    const double lambda = 0.3 / (1.3 * 0.4), mu = 1 / 2.6;
    double k[24][24] = {{0}};
    size_t entries = 0, point, cell, i, j, e;
    clinalg_handle a = 0;
    for (point = 0; point < 8; ++point) {
        double gradient[8][3];
        for (i = 0; i < 8; ++i) {
            for (j = 0; j < 3; ++j) {
                gradient[i][j] = 1;
                for (e = 0; e < 3; ++e) {
                    const double x = 0.5 + (point >> e & 1 ? 0.5 : -0.5) / sqrt(3);
                    const int up = i >> e & 1;
                    gradient[i][j] *= e == j ? (up ? 1 : -1) : up ? x : 1 - x;
                }
            }
        }
        for (i = 0; i < 24; ++i) {
            for (j = 0; j < 24; ++j) {
                const double *g = gradient[i / 3], *h = gradient[j / 3];
                const double same = i % 3 == j % 3 ? g[0] * h[0] + g[1] * h[1] + g[2] * h[2] : 0;
                k[i][j] += (lambda * g[i % 3] * h[j % 3] + mu * (g[j % 3] * h[i % 3] + same)) / 8;
            }
        }
    }
    for (cell = 0; cell < (NODES - 1) * (NODES - 1) * (NODES - 1); ++cell) {
        size_t node[8];
        for (i = 0; i < 8; ++i) {
            const size_t x = cell / ((NODES - 1) * (NODES - 1)) + (i & 1);
            const size_t y = cell / (NODES - 1) % (NODES - 1) + (i >> 1 & 1), z = cell % (NODES - 1) + (i >> 2);
            node[i] = ((x - 1) * NODES + y) * NODES + z;
            if (x > 0) {
                coordinates[3 * node[i]] = (double)x;
                coordinates[3 * node[i] + 1] = (double)y;
                coordinates[3 * node[i] + 2] = (double)z;
            }
        }
        for (i = 0; i < 24; ++i) {
            for (j = 0; j < 24; ++j) {
                if (node[i / 3] < FREE && node[j / 3] < FREE) {
                    rows[entries] = 3 * node[i / 3] + i % 3;
                    columns[entries] = 3 * node[j / 3] + j % 3;
                    values[entries++] = k[i][j];
                }
            }
        }
    }
    OK(clinalg_sparse_from_coo(CLINALG_PRECISION_F64, 3 * FREE, 3 * FREE, entries, rows, columns, values, &a));
    return a;
}

/* The kinds of coarsening, the cycles, and rigid motions from coordinates. */
static void kinds_of_multigrid(void)
{
    static double coordinates[3 * FREE], ones[3 * FREE];
    const clinalg_handle a = elasticity(coordinates), scalar = poisson(1);
    clinalg_handle b = 0, x = 0, m = 0;
    clinalg_amg_options options;
    clinalg_amg_report report;
    clinalg_solver_options solver;
    clinalg_report done;
    size_t i, motions;
    for (i = 0; i < 3 * FREE; ++i) ones[i] = 1;
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, ones, 3 * FREE, &b));
    OK(clinalg_amg_options_default(&options, sizeof options));
    OK(clinalg_solver_options_default(&solver, sizeof solver));
    solver.tolerance = 1e-8;
    options.coarse_size = 100;
    OK(clinalg_amg_create_with_coordinates(&options, a, coordinates, FREE, 3, &m));
    solver.inverse = m;
    OK(clinalg_system_solve(&solver, a, b, &x, &done, NULL, 0));
    CHECK(done.stop == CLINALG_STOP_CONVERGED && done.iterations <= 30);
    OK(clinalg_amg_info(m, &report, NULL, 0));
    CHECK(report.coarsening == CLINALG_AMG_COARSENING_AGGREGATION && report.levels >= 2);
    OK(clinalg_object_release(m));
    OK(clinalg_object_release(x));
    options.block = 3;
    OK(clinalg_amg_create(&options, a, 0, &m));
    solver.inverse = m;
    x = 0;
    motions = done.iterations;
    OK(clinalg_system_solve(&solver, a, b, &x, &done, NULL, 0));
    CHECK(done.iterations > motions);
    OK(clinalg_object_release(m));
    OK(clinalg_object_release(x));
    m = 0;
    FAILS(clinalg_amg_create_with_coordinates(&options, a, coordinates, FREE - 1, 3, &m), CLINALG_STATUS_LENGTH);
    FAILS(clinalg_amg_create_with_coordinates(&options, a, coordinates, FREE, 4, &m), CLINALG_STATUS_VALUE);
    FAILS(clinalg_amg_create_with_coordinates(&options, a, NULL, FREE, 3, &m), CLINALG_STATUS_NULL_POINTER);
    options.coarsening = CLINALG_AMG_COARSENING_CLASSICAL;
    FAILS(clinalg_amg_create(&options, a, 0, &m), CLINALG_STATUS_VALUE);
    options.block = 1;
    options.cycle = CLINALG_AMG_CYCLE_K;
    OK(clinalg_amg_create(&options, scalar, 0, &m));
    OK(clinalg_amg_info(m, &report, NULL, 0));
    CHECK(report.coarsening == CLINALG_AMG_COARSENING_CLASSICAL && report.levels >= 2);
    OK(clinalg_object_release(m));
    options.cycle = 3;
    FAILS(clinalg_amg_create(&options, scalar, 0, &m), CLINALG_STATUS_VALUE);
    OK(clinalg_object_release(scalar));
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(b));
}

/* Each preconditioner by name and by handle: the same iterations, and fewer than without. */
static void solves(void)
{
    const clinalg_handle a = poisson(1), b = ramp(SIDE * SIDE);
    clinalg_solver_options options;
    clinalg_report report;
    clinalg_handle x = 0;
    size_t plain;
    uint32_t kind;
    OK(clinalg_solver_options_default(&options, sizeof options));
    options.tolerance = 1e-8;
    OK(clinalg_system_solve(&options, a, b, &x, &report, NULL, 0));
    CHECK(report.stop == CLINALG_STOP_CONVERGED);
    plain = report.iterations;
    for (kind = CLINALG_PRECONDITIONER_ILU; kind <= CLINALG_PRECONDITIONER_AMG; ++kind) {
        size_t iterations;
        clinalg_handle m = 0;
        options.preconditioner = kind;
        OK(clinalg_array_fill(x, 0));
        OK(clinalg_system_solve(&options, a, b, &x, &report, NULL, 0));
        CHECK(report.stop == CLINALG_STOP_CONVERGED && report.relative_residual <= 1e-8);
        iterations = report.iterations;
        CHECK(kind == CLINALG_PRECONDITIONER_SPAI0 || iterations < plain);
        if (kind == CLINALG_PRECONDITIONER_AMG) {
            clinalg_amg_options amg;
            OK(clinalg_amg_options_default(&amg, sizeof amg));
            OK(clinalg_amg_create(&amg, a, 0, &m));
        } else {
            m = made(kind, a);
        }
        options.preconditioner = CLINALG_PRECONDITIONER_NONE;
        options.inverse = m;
        OK(clinalg_array_fill(x, 0));
        OK(clinalg_system_solve(&options, a, b, &x, &report, NULL, 0));
        CHECK(report.stop == CLINALG_STOP_CONVERGED && report.iterations == iterations);
        options.inverse = 0;
        OK(clinalg_object_release(m));
    }
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(x));
}

static void errors(void)
{
    const double dense[] = {1, 0, 0, 1}, one[] = {1, 1, 1, 1};
    const size_t offsets[] = {0, 2, 4}, indices[] = {0, 1, 0, 1};
    clinalg_preconditioner_options options;
    clinalg_solver_options solver;
    clinalg_amg_options amg;
    clinalg_handle full = 0, singular = 0, rhs = 0, m = 0, x = 0;
    OK(clinalg_dense_create(CLINALG_PRECISION_F64, 2, 2, dense, &full));
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, 2, 2, offsets, indices, one, &singular));
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, dense, 2, &rhs));
    OK(clinalg_preconditioner_options_default(&options, sizeof options));
    OK(clinalg_amg_options_default(&amg, sizeof amg));
    FAILS(clinalg_preconditioner_create(&options, full, &m), CLINALG_STATUS_HANDLE_KIND);
    FAILS(clinalg_preconditioner_create(&options, singular, NULL), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_preconditioner_create(NULL, singular, &m), CLINALG_STATUS_NULL_POINTER);
    options.matching = CLINALG_MATCHING_NEVER;
    FAILS(clinalg_preconditioner_create(&options, singular, &m), CLINALG_STATUS_VALUE);
    CHECK(strstr(clinalg_last_error_message(), "row 2") != NULL);
    options.kind = CLINALG_PRECONDITIONER_AMG;
    FAILS(clinalg_preconditioner_create(&options, singular, &m), CLINALG_STATUS_VALUE);
    options.kind = CLINALG_PRECONDITIONER_ILUT;
    options.fill = 0.5;
    FAILS(clinalg_preconditioner_create(&options, singular, &m), CLINALG_STATUS_VALUE);
    options.struct_size = sizeof options + 8;
    FAILS(clinalg_preconditioner_create(&options, singular, &m), CLINALG_STATUS_VALUE);
    amg.theta = 1;
    FAILS(clinalg_amg_create(&amg, singular, 0, &m), CLINALG_STATUS_VALUE);
    CHECK(m == 0);
    FAILS(clinalg_preconditioner_info(full, NULL), CLINALG_STATUS_HANDLE_KIND);
    OK(clinalg_solver_options_default(&solver, sizeof solver));
    solver.preconditioner = CLINALG_PRECONDITIONER_ILU;
    FAILS(clinalg_system_solve(&solver, full, rhs, &x, NULL, NULL, 0), CLINALG_STATUS_SHAPE);
    OK(clinalg_object_release(full));
    OK(clinalg_object_release(singular));
    OK(clinalg_object_release(rhs));
}

static int32_t end_at_once(size_t iteration, double residual, void *data)
{
    (void)residual;
    *(size_t *)data = iteration;
    return 1;
}

static int32_t shift(clinalg_handle x, clinalg_handle y, void *data)
{
    /* y = x plus `amount` times x moved on by one place. */
    const double amount = *(const double *)data;
    double values[SIDE * SIDE], moved[SIDE * SIDE];
    size_t k;
    if (clinalg_array_read(x, CLINALG_PRECISION_F64, 0, SIDE * SIDE, values) != CLINALG_STATUS_OK) return 1;
    for (k = 0; k < SIDE * SIDE; ++k) moved[k] = (double)(k + 1) * values[k] + (k > 0 ? amount * values[k - 1] : 0);
    return clinalg_array_write(y, CLINALG_PRECISION_F64, 0, SIDE * SIDE, moved) != CLINALG_STATUS_OK;
}

/* Matrices that are not symmetric, as A, as the mass matrix and as an operator. */
static void unsymmetric(clinalg_handle symmetric)
{
    double amount = 1e-3, values[2];
    const double corner[4] = {2, 1, 1 + 1e-9, 2};
    const size_t offsets[3] = {0, 2, 4}, columns[4] = {0, 1, 0, 1};
    clinalg_eigen_options options;
    clinalg_handle wind = 0, dense = 0, small = 0, applied = 0, vectors = 0;
    size_t k, starts[SIDE * SIDE + 1], indices[2 * SIDE * SIDE], entries = 0;
    double numbers[2 * SIDE * SIDE];
    OK(clinalg_eigen_options_default(&options, sizeof options));
    options.count = 1;
    for (k = 0; k < SIDE * SIDE; ++k) {
        starts[k] = entries;
        indices[entries] = k, numbers[entries++] = 2;
        if (k + 1 < SIDE * SIDE) indices[entries] = k + 1, numbers[entries++] = -1;
    }
    starts[k] = entries;
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, SIDE * SIDE, SIDE * SIDE, starts, indices, numbers, &wind));
    FAILS(clinalg_matrix_eigenpairs(&options, wind, &vectors, values, NULL, NULL), CLINALG_STATUS_VALUE);
    CHECK(strstr(clinalg_last_error_message(), "not symmetric") != NULL);
    options.mass = wind;
    FAILS(clinalg_matrix_eigenpairs(&options, symmetric, &vectors, values, NULL, NULL), CLINALG_STATUS_VALUE);
    CHECK(strstr(clinalg_last_error_message(), "mass") != NULL);
    options.mass = 0;
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, 2, 2, offsets, columns, corner, &small));
    FAILS(clinalg_matrix_eigenpairs(&options, small, &vectors, values, NULL, NULL), CLINALG_STATUS_VALUE);
    OK(clinalg_dense_create(CLINALG_PRECISION_F64, 2, 2, corner, &dense));
    FAILS(clinalg_matrix_eigenpairs(&options, dense, &vectors, values, NULL, NULL), CLINALG_STATUS_VALUE);
    OK(clinalg_operator_create(CLINALG_PRECISION_F64, SIDE * SIDE, SIDE * SIDE, shift, &amount, NULL, &applied));
    FAILS(clinalg_matrix_eigenpairs(&options, applied, &vectors, values, NULL, NULL), CLINALG_STATUS_VALUE);
    CHECK(vectors == 0);
    /* Without the shift it is diagonal: 1 to SIDE^2. */
    amount = 0;
    options.which = CLINALG_SPECTRUM_END_LARGEST;
    OK(clinalg_matrix_eigenpairs(&options, applied, &vectors, values, NULL, NULL));
    CHECK(fabs(values[0] - SIDE * SIDE) < 1e-8);
    OK(clinalg_object_release(vectors));
    OK(clinalg_object_release(wind));
    OK(clinalg_object_release(dense));
    OK(clinalg_object_release(small));
    OK(clinalg_object_release(applied));
}

/* Eigenvalues of the 5-point matrix, 4 - 2 cos(i pi / 25) - 2 cos(j pi / 25), at both ends and with a mass matrix of 2 I. */
static void eigenvalues(void)
{
    static const size_t sums[4][2] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}};
    const double pi = 3.14159265358979323846;
    clinalg_eigen_options options;
    clinalg_eigen_report report;
    clinalg_handle a = poisson(1), mass = 0, vectors = 0, wrong = tridiagonal(8, 2, 0);
    double values[4], residuals[4];
    size_t k, called = 9, plain, offsets[SIDE * SIDE + 1], indices[SIDE * SIDE];
    double twos[SIDE * SIDE];
    clinalg_object_info info;
    for (k = 0; k < SIDE * SIDE; ++k) offsets[k] = indices[k] = k, twos[k] = 2;
    offsets[SIDE * SIDE] = SIDE * SIDE;
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, SIDE * SIDE, SIDE * SIDE, offsets, indices, twos, &mass));
    OK(clinalg_eigen_options_default(&options, sizeof options));
    options.count = 4;
    OK(clinalg_matrix_eigenpairs(&options, a, &vectors, values, residuals, &report));
    plain = report.iterations;
    CHECK(report.stop == CLINALG_STOP_CONVERGED && report.relative_residual <= 1e-8);
    for (k = 0; k < 4; ++k) {
        const double exact = 4 - 2 * cos((double)sums[k][0] * pi / (SIDE + 1)) - 2 * cos((double)sums[k][1] * pi / (SIDE + 1));
        CHECK(fabs(values[k] - exact) < 1e-10 && residuals[k] <= 1e-8);
    }
    OK(clinalg_object_get_info(vectors, &info));
    CHECK(info.rows == SIDE * SIDE && info.cols == 4);
    OK(clinalg_object_release(vectors));
    options.mass = mass;
    options.preconditioner = CLINALG_PRECONDITIONER_AMG;
    OK(clinalg_matrix_eigenpairs(&options, a, &vectors, values, NULL, &report));
    CHECK(report.stop == CLINALG_STOP_CONVERGED && report.iterations < plain);
    CHECK(fabs(values[0] - (2 - 2 * cos(pi / (SIDE + 1)))) < 1e-10);
    OK(clinalg_object_release(vectors));
    options.which = CLINALG_SPECTRUM_END_LARGEST;
    vectors = 0;
    FAILS(clinalg_matrix_eigenpairs(&options, a, &vectors, values, NULL, NULL), CLINALG_STATUS_VALUE);
    options.preconditioner = CLINALG_PRECONDITIONER_NONE;
    OK(clinalg_matrix_eigenpairs(&options, a, &vectors, values, NULL, NULL));
    CHECK(fabs(values[0] - (2 + 2 * cos(pi / (SIDE + 1)))) < 1e-10);
    OK(clinalg_object_release(vectors));
    vectors = 0;
    options.progress = end_at_once;
    options.progress_data = &called;
    OK(clinalg_matrix_eigenpairs(&options, a, &vectors, values, NULL, &report));
    CHECK(report.stop == CLINALG_STOP_CANCELLED && called == 0);
    OK(clinalg_object_release(vectors));
    vectors = 0;
    options.mass = wrong;
    FAILS(clinalg_matrix_eigenpairs(&options, a, &vectors, values, NULL, NULL), CLINALG_STATUS_SHAPE);
    options.progress = NULL;
    options.which = CLINALG_SPECTRUM_END_SMALLEST;
    for (k = 0; k < 2; ++k) {
        options.mass = poisson(k == 0 ? -1 : 0);
        FAILS(clinalg_matrix_eigenpairs(&options, options.mass, &vectors, values, NULL, NULL), CLINALG_STATUS_VALUE);
        CHECK(strstr(clinalg_last_error_message(), "`mass`: B is not positive definite") != NULL);
        OK(clinalg_object_release(options.mass));
    }
    options.which = CLINALG_SPECTRUM_END_LARGEST;
    options.mass = 0;
    options.count = 0;
    FAILS(clinalg_matrix_eigenpairs(&options, a, &vectors, values, NULL, NULL), CLINALG_STATUS_VALUE);
    options.count = 4;
    options.which = 2;
    FAILS(clinalg_matrix_eigenpairs(&options, a, &vectors, values, NULL, NULL), CLINALG_STATUS_VALUE);
    FAILS(clinalg_matrix_eigenpairs(&options, a, NULL, values, NULL, NULL), CLINALG_STATUS_NULL_POINTER);
    CHECK(vectors == 0);
    unsymmetric(a);
    OK(clinalg_object_release(wrong));
    OK(clinalg_object_release(mass));
    OK(clinalg_object_release(a));
}

/* The matrix of second differences turned by phases, D A D^H with D = diag(i^k), is Hermitian and has the eigenvalues 2 - 2 cos(k pi / (n + 1)). */
static void hermitian_eigenvalues(void)
{
    enum { ORDER = 40 };
    const double pi = 3.14159265358979323846;
    size_t offsets[ORDER + 1] = {0}, indices[3 * ORDER], i, k, entries = 0;
    double numbers[6 * ORDER], values[3], residuals[3], column[2 * ORDER], image[2 * ORDER], largest = 0;
    clinalg_eigen_options options;
    clinalg_eigen_report report;
    clinalg_object_info info;
    const clinalg_complex turn = {0, 1};
    clinalg_handle a = 0, vectors = 0, vector = 0, product = 0, product_of_i = 0, none = 0;
    for (i = 0; i < ORDER; ++i) {
        /* Entry (i, i - 1) is -i^i conj(i^(i - 1)) = -i, entry (i, i + 1) is i. */
        if (i > 0) indices[entries] = i - 1, numbers[2 * entries] = 0, numbers[2 * entries + 1] = -1, ++entries;
        indices[entries] = i, numbers[2 * entries] = 2, numbers[2 * entries + 1] = 0, ++entries;
        if (i + 1 < ORDER) indices[entries] = i + 1, numbers[2 * entries] = 0, numbers[2 * entries + 1] = 1, ++entries;
        offsets[i + 1] = entries;
    }
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_COMPLEX_F64, ORDER, ORDER, offsets, indices, numbers, &a));
    OK(clinalg_eigen_options_default(&options, sizeof options));
    options.count = 3;
    options.preconditioner = CLINALG_PRECONDITIONER_IC;
    OK(clinalg_matrix_eigenpairs(&options, a, &vectors, values, residuals, &report));
    CHECK(report.stop == CLINALG_STOP_CONVERGED);
    for (k = 0; k < 3; ++k) CHECK(fabs(values[k] - (2 - 2 * cos((double)(k + 1) * pi / (ORDER + 1)))) < 1e-12 && residuals[k] <= 1e-8);
    OK(clinalg_object_get_info(vectors, &info));
    CHECK(info.precision == CLINALG_PRECISION_COMPLEX_F64 && info.rows == ORDER && info.cols == 3);
    OK(clinalg_vector_slice(vectors, 0, ORDER, &vector));
    OK(clinalg_matrix_mv(1, a, vector, 0, &product));
    OK(clinalg_array_read(vector, CLINALG_PRECISION_COMPLEX_F64, 0, ORDER, column));
    OK(clinalg_array_read(product, CLINALG_PRECISION_COMPLEX_F64, 0, ORDER, image));
    for (i = 0; i < 2 * ORDER; ++i) largest = fmax(largest, fabs(image[i] - values[0] * column[i]));
    CHECK(largest < 1e-9);
    /* i A is not Hermitian. */
    OK(clinalg_array_scale_complex(a, turn, &product_of_i));
    options.preconditioner = CLINALG_PRECONDITIONER_NONE;
    FAILS(clinalg_matrix_eigenpairs(&options, product_of_i, &none, values, NULL, NULL), CLINALG_STATUS_VALUE);
    CHECK(none == 0 && strstr(clinalg_last_error_message(), "Hermitian") != NULL);
    OK(clinalg_object_release(product_of_i));
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(vectors));
    OK(clinalg_object_release(vector));
    OK(clinalg_object_release(product));
}

/* L, U and L of incomplete factorisations as matrices: their products are the matrix on its pattern. */
static void factors_as_matrices(void)
{
    enum { ROWS = SIDE * SIDE };
    static size_t offsets[ROWS + 1], rows[20 * ROWS];
    static double values[20 * ROWS];
    const clinalg_handle a = poisson(1);
    clinalg_handle lower = 0, upper = 0, product = 0, m = 0, r = 0, z = 0, back = 0;
    clinalg_object_info info;
    double largest = 0;
    size_t i, k, entries;
    int cholesky;
    for (cholesky = 0; cholesky < 2; ++cholesky) {
        if (cholesky) {
            OK(clinalg_sparse_incomplete_cholesky(a, 0, &lower));
            OK(clinalg_matrix_transpose(lower, &upper));
        } else {
            OK(clinalg_sparse_incomplete_lu(a, &lower, &upper));
        }
        OK(clinalg_object_get_info(lower, &info));
        CHECK(info.entries == (5 * ROWS - 4 * SIDE + ROWS) / 2);
        OK(clinalg_sparse_multiply(lower, upper, &product));
        entries = 20 * ROWS;
        OK(clinalg_sparse_read(product, CLINALG_PRECISION_F64, offsets, rows, values, &entries));
        for (i = 0, entries = 0, largest = 0; i < ROWS; ++i) {
            for (k = offsets[i]; k < offsets[i + 1]; ++k) {
                const size_t j = rows[k], apart = i > j ? i - j : j - i;
                if (apart == 0 || apart == SIDE || (apart == 1 && i / SIDE == j / SIDE)) {
                    largest = fmax(largest, fabs(values[k] - (apart == 0 ? 4 : -1)));
                    ++entries;
                }
            }
        }
        CHECK(largest < 1e-14 && entries == 5 * ROWS - 4 * SIDE);
        /* The preconditioner takes L U r back to r. */
        r = ramp(ROWS);
        OK(clinalg_matrix_mv(1, product, r, 0, &z));
        OK(clinalg_preconditioner_create_triangular(lower, upper, &m));
        OK(clinalg_matrix_mv(1, m, z, 0, &back));
        CHECK(distance(back, r, 1) < 1e-12);
        OK(clinalg_object_release(lower)); OK(clinalg_object_release(upper)); OK(clinalg_object_release(product));
        OK(clinalg_object_release(m)); OK(clinalg_object_release(r)); OK(clinalg_object_release(z)); OK(clinalg_object_release(back));
        lower = upper = product = m = r = z = back = 0;
    }
    FAILS(clinalg_sparse_incomplete_lu(a, NULL, &upper), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_sparse_incomplete_cholesky(a, -1, &lower), CLINALG_STATUS_VALUE);
    CHECK(lower == 0 && upper == 0);
    OK(clinalg_object_release(a));
}

int main(void)
{
    clinalg_memory_report memory;
    factors();
    factors_as_matrices();
    approximate_inverses();
    multigrid();
    kinds_of_multigrid();
    solves();
    eigenvalues();
    hermitian_eigenvalues();
    errors();
    OK(clinalg_device_finish());
    OK(clinalg_device_memory(&memory));
    CHECK(memory.live_bytes == 0);
    OK(clinalg_shutdown());
    if (failures == 0) {
        puts("passed");
    }
    return failures != 0;
}
