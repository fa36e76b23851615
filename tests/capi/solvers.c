/* Krylov solvers made once, and preconditioners for saddle points, on systems whose solutions are known. */

#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More rows than algebraic multigrid solves directly. */
enum { SIDE = 30, N = SIDE * SIDE, MOST = 5 * N };

#define SAYS(word) CHECK(strstr(clinalg_last_error_message(), word) != NULL)

/* A sparse matrix on the host. */
typedef struct {
    size_t rows, offsets[N + 1], columns[MOST];
    double values[MOST];
} matrix;

/* Five-point differences with the shift s + growth * i in row i. */
static void five_points(matrix *a, double s, double growth)
{
    size_t i, entries = 0;
    a->rows = N;
    a->offsets[0] = 0;
    for (i = 0; i < N; ++i) {
        const size_t x = i % SIDE, y = i / SIDE;
        if (y > 0) a->columns[entries] = i - SIDE, a->values[entries++] = -1;
        if (x > 0) a->columns[entries] = i - 1, a->values[entries++] = -1;
        a->columns[entries] = i, a->values[entries++] = 4 + s + growth * (double)i;
        if (x + 1 < SIDE) a->columns[entries] = i + 1, a->values[entries++] = -1;
        if (y + 1 < SIDE) a->columns[entries] = i + SIDE, a->values[entries++] = -1;
        a->offsets[i + 1] = entries;
    }
}

/* b = A x on the host. */
static void product(const matrix *a, const double *x, double *b)
{
    size_t i, k;
    for (i = 0; i < a->rows; ++i) {
        b[i] = 0;
        for (k = a->offsets[i]; k < a->offsets[i + 1]; ++k) b[i] += a->values[k] * x[a->columns[k]];
    }
}

static clinalg_handle upload(const matrix *a)
{
    clinalg_handle made = 0;
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, a->rows, a->rows, a->offsets, a->columns, a->values, &made));
    return made;
}

static clinalg_handle vector(const double *values, size_t count)
{
    clinalg_handle made = 0;
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, values, count, &made));
    return made;
}

/* The largest difference of a vector from numbers of the host. */
static double distance(clinalg_handle x, const double *wanted, size_t count)
{
    static double found[N];
    double most = 0;
    size_t i;
    OK(clinalg_array_read(x, CLINALG_PRECISION_F64, 0, count, found));
    for (i = 0; i < count; ++i) {
        if (!(fabs(found[i] - wanted[i]) <= most)) most = fabs(found[i] - wanted[i]);
    }
    return most;
}

static clinalg_solver_options options_of(uint32_t method, uint32_t preconditioner)
{
    clinalg_solver_options options;
    OK(clinalg_solver_options_default(&options, sizeof options));
    options.method = method;
    options.preconditioner = preconditioner;
    return options;
}

typedef struct {
    clinalg_memory_report before;
    size_t calls, grown, stop_after;
} watch;

/* Counts the iterations in which more memory is in use than before the solve. */
static int32_t look(size_t iteration, double residual, void *data)
{
    watch *seen = data;
    clinalg_memory_report now;
    OK(clinalg_device_memory(&now));
    CHECK(residual >= 0);
    seen->grown += now.live_bytes != seen->before.live_bytes || now.live_buffers != seen->before.live_buffers;
    ++seen->calls;
    return seen->stop_after != 0 && iteration >= seen->stop_after;
}

/* Several right-hand sides by one solver; after the first nothing is allocated on the device. */
static void many_solves(uint32_t method, uint32_t preconditioner)
{
    static matrix a;
    static double wanted[N], right[N];
    const clinalg_solver_options options = options_of(method, preconditioner);
    clinalg_handle handle, solver = 0, b = 0, x = 0;
    clinalg_object_info info;
    clinalg_report report;
    double history[2];
    size_t i, k;
    five_points(&a, 0.05, 0);
    handle = upload(&a);
    OK(clinalg_solver_create(&options, handle, &solver));
    OK(clinalg_object_get_info(solver, &info));
    CHECK(info.kind == CLINALG_KIND_SOLVER && info.rows == N && info.precision == CLINALG_PRECISION_F64);
    /* The solver keeps the matrix. */
    OK(clinalg_object_release(handle));
    b = vector(right, N);
    x = vector(right, N);
    for (k = 1; k <= 4; ++k) {
        watch seen = {{0, 0, 0}, 0, 0, 0};
        for (i = 0; i < N; ++i) wanted[i] = sin((double)(k * i)) + (double)k;
        product(&a, wanted, right);
        OK(clinalg_array_write(b, CLINALG_PRECISION_F64, 0, N, right));
        OK(clinalg_array_fill(x, 0));
        OK(clinalg_device_memory(&seen.before));
        OK(clinalg_solver_solve(solver, b, &x, look, &seen, &report, history, 2));
        CHECK(report.stop == CLINALG_STOP_CONVERGED && report.iterations > 1 && report.relative_residual <= 1e-10);
        CHECK(seen.calls >= report.iterations && fabs(history[0] - 1) < 1e-12);
        /* The first one prepares the products of the matrix. */
        CHECK(k == 1 || seen.grown == 0);
        CHECK(distance(x, wanted, N) < 1e-7);
    }
    /* From the solution there is nothing to do; into a new vector from zero. */
    OK(clinalg_solver_solve(solver, b, &x, NULL, NULL, &report, NULL, 0));
    CHECK(report.iterations == 0 && report.stop == CLINALG_STOP_CONVERGED);
    OK(clinalg_object_release(x));
    x = 0;
    OK(clinalg_solver_solve(solver, b, &x, NULL, NULL, NULL, NULL, 0));
    CHECK(x != 0 && distance(x, wanted, N) < 1e-7);
    OK(clinalg_object_release(solver));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(x));
}

/* Iterations of a solver for a right-hand side, checked against the solution. */
static size_t iterations(clinalg_handle solver, const matrix *a)
{
    static double wanted[N], right[N];
    clinalg_handle b, x = 0;
    clinalg_report report;
    size_t i;
    for (i = 0; i < N; ++i) wanted[i] = 1 + (double)(i % 7);
    product(a, wanted, right);
    b = vector(right, N);
    OK(clinalg_solver_solve(solver, b, &x, NULL, NULL, &report, NULL, 0));
    CHECK(report.stop == CLINALG_STOP_CONVERGED && distance(x, wanted, N) < 1e-6);
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(x));
    return report.iterations;
}

/* New values at the old positions: at once in the products, in the preconditioner after a refill. */
static void refills(uint32_t preconditioner)
{
    static matrix smooth, growing;
    const clinalg_solver_options options = options_of(CLINALG_METHOD_CG, preconditioner);
    clinalg_handle a, other, solver = 0, fresh = 0;
    size_t before, old, after, new_one;
    five_points(&smooth, 0, 0);
    five_points(&growing, 0.001, 25);
    a = upload(&smooth);
    OK(clinalg_solver_create(&options, a, &solver));
    before = iterations(solver, &smooth);
    OK(clinalg_sparse_write(a, CLINALG_PRECISION_F64, growing.values, growing.offsets[N]));
    old = iterations(solver, &growing);
    OK(clinalg_solver_refill(solver, 0));
    after = iterations(solver, &growing);
    OK(clinalg_solver_create(&options, a, &fresh));
    new_one = iterations(fresh, &growing);
    CHECK(before > 1 && after < old && after <= new_one + 2);
    /* Another matrix in the place of the first one, whose handle may go. */
    other = upload(&smooth);
    OK(clinalg_solver_refill(solver, other));
    OK(clinalg_object_release(other));
    CHECK(iterations(solver, &smooth) <= before + 2);
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(fresh));
    OK(clinalg_object_release(solver));
}

static int32_t halve(clinalg_handle x, clinalg_handle y, void *data)
{
    ++*(size_t *)data;
    return clinalg_array_scale(x, 0.5, &y) != CLINALG_STATUS_OK;
}

/* An approximate inverse and an operator of the caller, the limits, and an end by the caller. */
static void given_parts(void)
{
    static matrix a;
    clinalg_solver_options options = options_of(CLINALG_METHOD_CG, CLINALG_PRECONDITIONER_NONE);
    clinalg_amg_options amg;
    clinalg_handle handle, inverse = 0, halves = 0, solver = 0, b, x = 0;
    clinalg_report report;
    watch seen = {{0, 0, 0}, 0, 0, 3};
    double ones[N];
    size_t i, products = 0;
    for (i = 0; i < N; ++i) ones[i] = 1;
    five_points(&a, 0, 0);
    handle = upload(&a);
    OK(clinalg_amg_options_default(&amg, sizeof amg));
    amg.reusable = 1;
    OK(clinalg_amg_create(&amg, handle, 0, &inverse));
    options.inverse = inverse;
    OK(clinalg_solver_create(&options, handle, &solver));
    CHECK(iterations(solver, &a) < 20);
    FAILS(clinalg_solver_refill(solver, 0), CLINALG_STATUS_VALUE);
    SAYS("clinalg_amg_refill");
    OK(clinalg_solver_refill(solver, handle));
    OK(clinalg_object_release(inverse));
    OK(clinalg_object_release(handle));
    CHECK(iterations(solver, &a) < 20);
    OK(clinalg_device_memory(&seen.before));
    b = vector(ones, N);
    OK(clinalg_solver_set_limits(solver, 1e-14, 4));
    OK(clinalg_solver_solve(solver, b, &x, NULL, NULL, &report, NULL, 0));
    CHECK(report.stop == CLINALG_STOP_ITERATION_LIMIT && report.iterations == 4);
    OK(clinalg_solver_set_limits(solver, 1e-2, 100));
    OK(clinalg_array_fill(x, 0));
    OK(clinalg_solver_solve(solver, b, &x, NULL, NULL, &report, NULL, 0));
    CHECK(report.stop == CLINALG_STOP_CONVERGED && report.iterations < 8 && report.relative_residual > 1e-9);
    OK(clinalg_object_release(solver));

    OK(clinalg_operator_create(CLINALG_PRECISION_F64, N, N, halve, &products, NULL, &halves));
    options = options_of(CLINALG_METHOD_GMRES, CLINALG_PRECONDITIONER_NONE);
    OK(clinalg_solver_create(&options, halves, &solver));
    OK(clinalg_object_release(halves));
    OK(clinalg_array_fill(x, 0));
    OK(clinalg_solver_solve(solver, b, &x, NULL, NULL, &report, NULL, 0));
    for (i = 0; i < N; ++i) ones[i] = 2;
    CHECK(products > 0 && distance(x, ones, N) < 1e-9);
    OK(clinalg_object_release(solver));

    handle = upload(&a);
    options = options_of(CLINALG_METHOD_GMRES, CLINALG_PRECONDITIONER_NONE);
    OK(clinalg_solver_create(&options, handle, &solver));
    OK(clinalg_array_fill(x, 0));
    OK(clinalg_solver_solve(solver, b, &x, look, &seen, &report, NULL, 0));
    CHECK(report.stop == CLINALG_STOP_CANCELLED && report.iterations == 3);
    OK(clinalg_object_release(handle));
    OK(clinalg_object_release(solver));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(x));
}

static void refusals(void)
{
    static matrix a;
    static double values[N];
    clinalg_solver_options options = options_of(CLINALG_METHOD_CG, CLINALG_PRECONDITIONER_NONE);
    clinalg_handle handle, solver = 0, none = 0, b, x, narrow = 0, wide = 0, small, amg_solver = 0, dense = 0;
    five_points(&a, 0, 0);
    handle = upload(&a);
    b = vector(values, N);
    x = vector(values, N);
    small = vector(values, N - 1);
    FAILS(clinalg_solver_create(NULL, handle, &none), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_solver_create(&options, handle, NULL), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_solver_create(&options, 7, &none), CLINALG_STATUS_HANDLE_FOREIGN);
    FAILS(clinalg_solver_create(&options, b, &none), CLINALG_STATUS_HANDLE_KIND);
    options.method = 17;
    FAILS(clinalg_solver_create(&options, handle, &none), CLINALG_STATUS_VALUE);
    SAYS("method");
    options.method = CLINALG_METHOD_CG;
    options.tolerance = -1;
    FAILS(clinalg_solver_create(&options, handle, &none), CLINALG_STATUS_VALUE);
    options.tolerance = 1e-10;
    options.progress = look;
    FAILS(clinalg_solver_create(&options, handle, &none), CLINALG_STATUS_VALUE);
    SAYS("clinalg_solver_solve");
    options.progress = NULL;
    options.struct_size += 8;
    FAILS(clinalg_solver_create(&options, handle, &none), CLINALG_STATUS_VALUE);
    options.struct_size -= 8;
    OK(clinalg_dense_create(CLINALG_PRECISION_F64, 2, 1, values, &wide));
    FAILS(clinalg_solver_create(&options, wide, &none), CLINALG_STATUS_SHAPE);
    options.inverse = wide;
    FAILS(clinalg_solver_create(&options, handle, &none), CLINALG_STATUS_SHAPE);
    options.inverse = 0;
    options.preconditioner = CLINALG_PRECONDITIONER_ILU;
    OK(clinalg_dense_create(CLINALG_PRECISION_F64, 1, 1, (double[]){3}, &dense));
    FAILS(clinalg_solver_create(&options, dense, &none), CLINALG_STATUS_SHAPE);
    SAYS("sparse");
    CHECK(none == 0);

    options.preconditioner = CLINALG_PRECONDITIONER_NONE;
    OK(clinalg_solver_create(&options, handle, &solver));
    FAILS(clinalg_solver_solve(solver, b, NULL, NULL, NULL, NULL, NULL, 0), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_solver_solve(handle, b, &x, NULL, NULL, NULL, NULL, 0), CLINALG_STATUS_HANDLE_KIND);
    FAILS(clinalg_solver_solve(solver, small, &x, NULL, NULL, NULL, NULL, 0), CLINALG_STATUS_LENGTH);
    FAILS(clinalg_solver_solve(solver, b, &small, NULL, NULL, NULL, NULL, 0), CLINALG_STATUS_LENGTH);
    FAILS(clinalg_solver_solve(solver, b, &b, NULL, NULL, NULL, NULL, 0), CLINALG_STATUS_VALUE);
    OK(clinalg_vector_create(CLINALG_PRECISION_F32, values, N, &narrow));
    FAILS(clinalg_solver_solve(solver, narrow, &x, NULL, NULL, NULL, NULL, 0), CLINALG_STATUS_PRECISION);
    FAILS(clinalg_solver_set_limits(solver, -1, 5), CLINALG_STATUS_VALUE);
    FAILS(clinalg_solver_refill(solver, dense), CLINALG_STATUS_SHAPE);
    FAILS(clinalg_solver_refill(b, 0), CLINALG_STATUS_HANDLE_KIND);
    /* A 1 x 1 matrix that is its own right-hand side may not be the solution. */
    OK(clinalg_solver_create(&options, dense, &amg_solver));
    none = dense;
    FAILS(clinalg_solver_solve(amg_solver, dense, &none, NULL, NULL, NULL, NULL, 0), CLINALG_STATUS_VALUE);
    none = 0;
    OK(clinalg_solver_solve(amg_solver, dense, &none, NULL, NULL, NULL, NULL, 0));
    CHECK(distance(none, (double[]){1}, 1) < 1e-9);
    OK(clinalg_object_release(none));
    none = solver;
    OK(clinalg_object_release(solver));
    FAILS(clinalg_solver_solve(none, b, &x, NULL, NULL, NULL, NULL, 0), CLINALG_STATUS_HANDLE_STALE);
    OK(clinalg_object_release(amg_solver));
    OK(clinalg_object_release(handle));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(x));
    OK(clinalg_object_release(narrow));
    OK(clinalg_object_release(wide));
    OK(clinalg_object_release(small));
    OK(clinalg_object_release(dense));
}

enum { TALL = 60, WIDE = 25 };

/* A tall sparse matrix: the unit matrix, below it second differences of the unknowns, column j times 1 + j modulo 3. */
static clinalg_handle tall(double (*full)[WIDE])
{
    size_t offsets[TALL + 1] = {0}, columns[3 * TALL], i, j, entries = 0;
    double values[3 * TALL];
    clinalg_handle made = 0;
    for (i = 0; i < TALL; ++i) {
        for (j = 0; j < WIDE; ++j) {
            const size_t at = i % WIDE;
            const double plain = i < WIDE ? i == j : at == j ? 2 : at + 1 == j || j + 1 == at ? -1 : 0;
            full[i][j] = plain * (double)(1 + j % 3);
            if (plain != 0) columns[entries] = j, values[entries++] = full[i][j];
        }
        offsets[i + 1] = entries;
    }
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, TALL, WIDE, offsets, columns, values, &made));
    return made;
}

/* The largest entry of A' (b - A x): 0 for a least-squares solution. */
static double normal_residual(double (*full)[WIDE], const double *b, clinalg_handle x)
{
    double found[WIDE], most = 0;
    size_t i, j;
    OK(clinalg_array_read(x, CLINALG_PRECISION_F64, 0, WIDE, found));
    for (j = 0; j < WIDE; ++j) {
        double sum = 0;
        for (i = 0; i < TALL; ++i) {
            double r = b[i];
            size_t k;
            for (k = 0; k < WIDE; ++k) r -= full[i][k] * found[k];
            sum += full[i][j] * r;
        }
        if (!(fabs(sum) <= most)) most = fabs(sum);
    }
    return most;
}

/* Rectangular systems by LSQR and LSMR, whose solutions fulfil the normal equations. */
static void least_squares(void)
{
    static double full[TALL][WIDE];
    static const uint32_t methods[2] = {CLINALG_METHOD_LSQR, CLINALG_METHOD_LSMR};
    double right[2 * TALL], history[3], solution[2 * WIDE], minimal[2];
    const size_t offsets[2] = {0, 2}, columns[2] = {0, 1};
    const double line[2] = {3, 4}, five = 5;
    clinalg_handle a = tall(full), b, x = 0, both = 0, square, row = 0, one, dense = 0, none = 0;
    clinalg_solver_options options;
    clinalg_object_info info;
    clinalg_report report;
    size_t i, m, plain;
    for (i = 0; i < 2 * TALL; ++i) right[i] = cos((double)(i + 1));
    b = vector(right, TALL);
    for (m = 0; m < 2; ++m) {
        options = options_of(methods[m], CLINALG_PRECONDITIONER_NONE);
        options.tolerance = 1e-13;
        OK(clinalg_system_solve(&options, a, b, &x, &report, history, 3));
        plain = report.iterations;
        OK(clinalg_object_get_info(x, &info));
        CHECK(info.kind == CLINALG_KIND_VECTOR && info.rows == WIDE && report.stop == CLINALG_STOP_CONVERGED);
        CHECK(report.relative_residual > 0.1 && report.relative_residual < 1 && fabs(history[0] - 1) < 1e-12);
        CHECK(normal_residual(full, right, x) < 1e-9);
        /* Columns of equal length need fewer iterations. */
        options.preconditioner = CLINALG_PRECONDITIONER_JACOBI;
        OK(clinalg_array_fill(x, 0));
        OK(clinalg_system_solve(&options, a, b, &x, &report, NULL, 0));
        CHECK(report.stop == CLINALG_STOP_CONVERGED && report.iterations < plain && normal_residual(full, right, x) < 1e-9);
        OK(clinalg_object_release(x));
        x = 0;
    }
    /* Two columns. */
    OK(clinalg_dense_create(CLINALG_PRECISION_F64, TALL, 2, right, &both));
    OK(clinalg_system_solve(&options, a, both, &x, &report, NULL, 0));
    OK(clinalg_object_get_info(x, &info));
    CHECK(info.kind == CLINALG_KIND_DENSE && info.rows == WIDE && info.cols == 2);
    OK(clinalg_array_read(x, CLINALG_PRECISION_F64, 0, 2 * WIDE, solution));
    OK(clinalg_object_release(x));
    x = vector(solution + WIDE, WIDE);
    CHECK(normal_residual(full, right + TALL, x) < 1e-9);
    /* Of the points of a line, 3 x + 4 y = 5, the nearest to 0, (3, 4) / 5. */
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, 1, 2, offsets, columns, line, &row));
    one = vector(&five, 1);
    options.preconditioner = CLINALG_PRECONDITIONER_NONE;
    OK(clinalg_system_solve(&options, row, one, &none, &report, NULL, 0));
    OK(clinalg_array_read(none, CLINALG_PRECISION_F64, 0, 2, minimal));
    CHECK(fabs(minimal[0] - 0.6) < 1e-12 && fabs(minimal[1] - 0.8) < 1e-12 && report.relative_residual < 1e-12);
    OK(clinalg_object_release(none));
    none = 0;

    options.preconditioner = CLINALG_PRECONDITIONER_ILU;
    FAILS(clinalg_system_solve(&options, a, b, &none, NULL, NULL, 0), CLINALG_STATUS_VALUE);
    SAYS("A' A");
    options.preconditioner = CLINALG_PRECONDITIONER_JACOBI;
    OK(clinalg_dense_create(CLINALG_PRECISION_F64, 1, 2, line, &dense));
    FAILS(clinalg_system_solve(&options, dense, one, &none, NULL, NULL, 0), CLINALG_STATUS_SHAPE);
    SAYS("sparse");
    options.preconditioner = CLINALG_PRECONDITIONER_NONE;
    FAILS(clinalg_system_solve(&options, a, one, &none, NULL, NULL, 0), CLINALG_STATUS_SHAPE);
    SAYS("60 x 1");
    FAILS(clinalg_system_solve(&options, a, b, &b, NULL, NULL, 0), CLINALG_STATUS_VALUE);
    FAILS(clinalg_system_solve(&options, a, b, &one, NULL, NULL, 0), CLINALG_STATUS_SHAPE);
    FAILS(clinalg_solver_create(&options, a, &none), CLINALG_STATUS_VALUE);
    SAYS("clinalg_system_solve");
    OK(clinalg_operator_create(CLINALG_PRECISION_F64, TALL, TALL, halve, &m, NULL, &square));
    FAILS(clinalg_system_solve(&options, square, b, &none, NULL, NULL, 0), CLINALG_STATUS_SHAPE);
    SAYS("transpose");
    CHECK(none == 0);
    OK(clinalg_object_release(square));
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(x));
    OK(clinalg_object_release(both));
    OK(clinalg_object_release(row));
    OK(clinalg_object_release(one));
    OK(clinalg_object_release(dense));
}

/* Systems that are solved by what suits the matrix. */
static void automatic(void)
{
    static matrix a;
    static double full[TALL][WIDE], wanted[2 * N], right[2 * N];
    clinalg_system_options options;
    clinalg_system_report done;
    clinalg_report reports[2];
    clinalg_object_info info;
    clinalg_handle handle, b, x = 0, both = 0, rectangular, wrong;
    watch seen = {{0, 0, 0}, 0, 0, 2};
    clinalg_memory_report after;
    size_t i;
    OK(clinalg_system_options_default(&options, sizeof options));
    CHECK(options.tolerance == 0 && options.max_iterations == 10000);
    five_points(&a, 0, 0);
    handle = upload(&a);
    for (i = 0; i < 2 * N; ++i) wanted[i] = sin((double)i) + 1;
    product(&a, wanted, right);
    product(&a, wanted + N, right + N);
    b = vector(right, N);
    OK(clinalg_system_solve_automatic(&options, handle, b, &x, reports, 1, &done));
    OK(clinalg_object_get_info(x, &info));
    CHECK(info.kind == CLINALG_KIND_VECTOR && distance(x, wanted, N) < 1e-7);
    CHECK(done.columns == 1 && done.converged == 1 && reports[0].stop == CLINALG_STOP_CONVERGED);
    CHECK(reports[0].iterations > 1 && reports[0].iterations < 200 && reports[0].relative_residual <= 1e-10);
    CHECK(strcmp(done.method, "conjugate gradients") == 0 && done.preconditioner[0] == 0);
    CHECK(strstr(done.reason, "900 equations") != NULL);
    OK(clinalg_object_release(x));
    x = 0;
    OK(clinalg_dense_create(CLINALG_PRECISION_F64, N, 2, right, &both));
    OK(clinalg_system_solve_automatic(&options, handle, both, &x, NULL, 0, NULL));
    OK(clinalg_object_get_info(x, &info));
    CHECK(info.kind == CLINALG_KIND_DENSE && info.cols == 2 && distance(x, wanted, N) < 1e-7);
    OK(clinalg_object_release(x));
    x = 0;
    /* An iteration is not enough, and the caller ends the first column. */
    options.max_iterations = 1;
    OK(clinalg_system_solve_automatic(&options, handle, both, &x, reports, 2, &done));
    CHECK(done.columns == 2 && done.converged == 0 && reports[1].stop == CLINALG_STOP_ITERATION_LIMIT);
    OK(clinalg_object_release(x));
    x = 0;
    options.max_iterations = 1000;
    options.progress = look;
    options.progress_data = &seen;
    OK(clinalg_device_memory(&seen.before));
    OK(clinalg_system_solve_automatic(&options, handle, both, &x, reports, 2, &done));
    CHECK(done.columns == 1 && reports[0].stop == CLINALG_STOP_CANCELLED && reports[0].iterations < 5);
    OK(clinalg_object_release(x));
    OK(clinalg_object_release(b));
    x = 0;
    options.progress = NULL;

    rectangular = tall(full);
    b = vector(right, TALL);
    OK(clinalg_system_solve_automatic(&options, rectangular, b, &x, reports, 1, &done));
    OK(clinalg_object_get_info(x, &info));
    CHECK(info.rows == WIDE && strcmp(done.method, "LSMR") == 0 && done.preconditioner[0] == 0 && done.converged == 1);
    CHECK(normal_residual(full, right, x) < 1e-6);
    OK(clinalg_object_release(x));
    x = 0;

    /* A method and a preconditioner by name, also one that has no code. */
    OK(clinalg_system_options_default(&options, sizeof options));
    options.solver = "minres,sa,tol=1e-4";
    OK(clinalg_system_solve_automatic(&options, handle, both, &x, reports, 2, &done));
    CHECK(strcmp(done.method, "MINRES") == 0 && strcmp(done.preconditioner, "smoothed aggregation multigrid") == 0);
    CHECK(done.converged == 2 && reports[1].relative_residual <= 1e-4 && reports[1].relative_residual > 1e-10);
    OK(clinalg_object_release(x));
    x = 0;
    options.max_iterations = 1;
    options.solver = "cg,none,max-iterations=50";
    OK(clinalg_system_solve_automatic(&options, handle, both, &x, reports, 2, &done));
    CHECK(reports[0].iterations == 1 && done.converged == 0);
    OK(clinalg_object_release(x));
    x = 0;
    options.solver = "lsqr,ilu";
    FAILS(clinalg_system_solve_automatic(&options, handle, both, &x, NULL, 0, NULL), CLINALG_STATUS_VALUE);
    CHECK(strstr(clinalg_last_error_message(), "LSQR needs a positive definite preconditioner") != NULL);
    options.solver = "block-cg";
    FAILS(clinalg_system_solve_automatic(&options, handle, both, &x, NULL, 0, NULL), CLINALG_STATUS_VALUE);
    options.solver = "gmers";
    FAILS(clinalg_system_solve_automatic(&options, handle, both, &x, NULL, 0, NULL), CLINALG_STATUS_VALUE);
    CHECK(strstr(clinalg_last_error_message(), "bicgstab, idrs, gmres") != NULL && x == 0);
    options.solver = NULL;
    options.max_iterations = 1000;

    FAILS(clinalg_system_solve_automatic(NULL, handle, both, &x, NULL, 0, NULL), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_system_solve_automatic(&options, handle, both, NULL, NULL, 0, NULL), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_system_solve_automatic(&options, both, both, &x, NULL, 0, NULL), CLINALG_STATUS_HANDLE_KIND);
    FAILS(clinalg_system_solve_automatic(&options, handle, b, &x, NULL, 0, NULL), CLINALG_STATUS_SHAPE);
    options.tolerance = -1;
    FAILS(clinalg_system_solve_automatic(&options, handle, both, &x, NULL, 0, NULL), CLINALG_STATUS_VALUE);
    options.struct_size = 4;
    FAILS(clinalg_system_solve_automatic(&options, handle, both, &x, NULL, 0, NULL), CLINALG_STATUS_VALUE);
    /* Found before x is made, which nobody could release. */
    OK(clinalg_system_options_default(&options, sizeof options));
    OK(clinalg_device_memory(&seen.before));
    FAILS(clinalg_system_solve_automatic(&options, handle, both, &x, (void *)((char *)reports + 1), 1, &done), CLINALG_STATUS_VALUE);
    FAILS(clinalg_system_solve_automatic(&options, handle, both, &x, NULL, 0, (void *)((char *)&done + 1)), CLINALG_STATUS_VALUE);
    OK(clinalg_device_memory(&after));
    CHECK(after.live_buffers == seen.before.live_buffers && after.live_bytes == seen.before.live_bytes);
    /* A NaN ends in an error that names it. */
    right[3] = NAN;
    wrong = vector(right, N);
    FAILS(clinalg_system_solve_automatic(&options, handle, wrong, &x, NULL, 0, NULL), CLINALG_STATUS_VALUE);
    CHECK(strstr(clinalg_last_error_message(), "row 4") != NULL);
    OK(clinalg_object_release(wrong));
    CHECK(x == 0);
    OK(clinalg_object_release(rectangular));
    OK(clinalg_object_release(handle));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(both));
}

enum { FIRST = 40, SECOND = 4, BOTH = FIRST + SECOND };

/* [A B'; B 0] with second differences A and the sums of every ten values B; `last` puts B's rows first. */
static void saddle_point(matrix *k, int swapped)
{
    const size_t first = swapped ? SECOND : 0, second = swapped ? 0 : FIRST;
    size_t row, entries = 0;
    k->rows = BOTH;
    k->offsets[0] = 0;
    for (row = 0; row < BOTH; ++row) {
        const int is_second = row >= second && row < second + SECOND;
        size_t j;
        for (j = 0; j < BOTH; ++j) {
            const int to_second = j >= second && j < second + SECOND;
            double value = 0;
            if (!is_second && !to_second) value = j == row ? 2.5 : j + 1 == row || row + 1 == j ? -1 : 0;
            if (is_second != to_second) {
                const size_t of_first = (is_second ? j : row) - first, of_second = (is_second ? row : j) - second;
                value = of_first / (FIRST / SECOND) == of_second ? 1 : 0;
            }
            if (value != 0) k->columns[entries] = j, k->values[entries++] = value;
        }
        k->offsets[row + 1] = entries;
    }
}

static size_t solve_saddle(clinalg_handle handle, const matrix *k, clinalg_handle inverse, uint32_t method)
{
    static double wanted[BOTH], right[BOTH];
    clinalg_solver_options options = options_of(method, CLINALG_PRECONDITIONER_NONE);
    clinalg_handle b, x = 0;
    clinalg_report report;
    size_t i;
    for (i = 0; i < BOTH; ++i) wanted[i] = cos((double)i) + 0.5;
    product(k, wanted, right);
    b = vector(right, BOTH);
    options.inverse = inverse;
    OK(clinalg_system_solve(&options, handle, b, &x, &report, NULL, 0));
    CHECK(report.stop == CLINALG_STOP_CONVERGED && distance(x, wanted, BOTH) < 1e-7);
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(x));
    return report.iterations;
}

static void saddle_points(void)
{
    static matrix k, swapped, definite;
    const size_t rows[SECOND] = {0, 1, 2, 3}, bad_rows[2] = {3, 1};
    const double mass[SECOND] = {4, 4, 4, 4};
    clinalg_saddle_options options;
    clinalg_saddle_report report;
    clinalg_handle handle, other, plain, m = 0, none = 0;
    size_t without;
    saddle_point(&k, 0);
    saddle_point(&swapped, 1);
    five_points(&definite, 1, 0);
    handle = upload(&k);
    other = upload(&swapped);
    plain = upload(&definite);
    without = solve_saddle(handle, &k, 0, CLINALG_METHOD_MINRES);

    /* The blocks are found. */
    OK(clinalg_saddle_options_default(&options, sizeof options));
    OK(clinalg_saddle_create(&options, handle, &m));
    OK(clinalg_saddle_info(m, &report));
    CHECK(report.first_rows == FIRST && report.second_rows == SECOND && report.null_constant == 0);
    CHECK(report.shape == CLINALG_SADDLE_SHAPE_DIAGONAL && report.first == CLINALG_PRECONDITIONER_AMG);
    CHECK(solve_saddle(handle, &k, m, CLINALG_METHOD_MINRES) < without);
    OK(clinalg_object_release(m));

    /* Said by the number of rows, by their names, with a mass matrix, in the other shape. */
    options.first_count = FIRST;
    options.first = CLINALG_PRECONDITIONER_IC;
    options.schur = CLINALG_SCHUR_PRODUCT;
    options.second = CLINALG_PRECONDITIONER_JACOBI;
    OK(clinalg_saddle_create(&options, handle, &m));
    OK(clinalg_saddle_info(m, &report));
    CHECK(report.first == CLINALG_PRECONDITIONER_IC && report.schur == CLINALG_SCHUR_PRODUCT);
    CHECK(report.second == CLINALG_PRECONDITIONER_JACOBI);
    CHECK(solve_saddle(handle, &k, m, CLINALG_METHOD_MINRES) < without);
    OK(clinalg_object_release(m));
    options.first_count = 0;
    options.second_rows = rows;
    options.second_count = SECOND;
    options.mass = mass;
    options.mass_count = SECOND;
    options.shape = CLINALG_SADDLE_SHAPE_TRIANGULAR;
    OK(clinalg_saddle_create(&options, other, &m));
    OK(clinalg_saddle_info(m, &report));
    CHECK(report.schur == CLINALG_SCHUR_MASS && report.second == CLINALG_PRECONDITIONER_NONE);
    CHECK(report.shape == CLINALG_SADDLE_SHAPE_TRIANGULAR);
    CHECK(solve_saddle(other, &swapped, m, CLINALG_METHOD_GMRES) < without);
    OK(clinalg_object_release(m));

    options.mass_count = 3;
    FAILS(clinalg_saddle_create(&options, other, &none), CLINALG_STATUS_LENGTH);
    options.mass_count = SECOND;
    options.first_count = FIRST;
    FAILS(clinalg_saddle_create(&options, other, &none), CLINALG_STATUS_VALUE);
    SAYS("only one of the two");
    options.first_count = 0;
    options.second_rows = bad_rows;
    options.second_count = 2;
    FAILS(clinalg_saddle_create(&options, other, &none), CLINALG_STATUS_VALUE);
    SAYS("ascending");
    OK(clinalg_saddle_options_default(&options, sizeof options));
    FAILS(clinalg_saddle_create(&options, plain, &none), CLINALG_STATUS_VALUE);
    SAYS("saddle point");
    options.first = CLINALG_PRECONDITIONER_SSOR;
    FAILS(clinalg_saddle_create(&options, handle, &none), CLINALG_STATUS_VALUE);
    SAYS("first");
    options.first = CLINALG_PRECONDITIONER_NONE;
    options.schur = CLINALG_SCHUR_MASS;
    FAILS(clinalg_saddle_create(&options, handle, &none), CLINALG_STATUS_VALUE);
    options.struct_size = 0;
    FAILS(clinalg_saddle_create(&options, handle, &none), CLINALG_STATUS_VALUE);
    FAILS(clinalg_saddle_create(NULL, handle, &none), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_saddle_info(handle, &report), CLINALG_STATUS_HANDLE_KIND);
    CHECK(none == 0);
    OK(clinalg_object_release(handle));
    OK(clinalg_object_release(other));
    OK(clinalg_object_release(plain));
}

/* A start of zero and right-hand sides for known solutions of a matrix with 81 entries in a row, solved together. */
static void columns_share_directions(void)
{
    enum { ROWS = 200, WIDE = 40, COLUMNS = 4 };
    static size_t offsets[ROWS + 1], columns[ROWS * (2 * WIDE + 1)];
    static double values[ROWS * (2 * WIDE + 1)], wanted[COLUMNS * ROWS], right[COLUMNS * ROWS], found[COLUMNS * ROWS];
    clinalg_solver_options options = options_of(CLINALG_METHOD_CG, CLINALG_PRECONDITIONER_NONE);
    clinalg_handle a = 0, b = 0, x = 0, one, y = 0;
    clinalg_report together, alone;
    double most = 0;
    size_t i, j, k, entries = 0;
    for (i = 0; i < ROWS; ++i) {
        for (j = i < WIDE ? 0 : i - WIDE; j < ROWS && j <= i + WIDE; ++j) {
            const double distance = (double)i - (double)j;
            columns[entries] = j;
            values[entries++] = 1.0 / (1.0 + distance * distance);
        }
        offsets[i + 1] = entries;
    }
    for (k = 0; k < COLUMNS; ++k) {
        for (i = 0; i < ROWS; ++i) wanted[k * ROWS + i] = sin((double)((3 * k + 1) * i)) + (double)k;
        for (i = 0; i < ROWS; ++i) {
            for (j = offsets[i]; j < offsets[i + 1]; ++j) right[k * ROWS + i] += values[j] * wanted[k * ROWS + columns[j]];
        }
    }
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, ROWS, ROWS, offsets, columns, values, &a));
    OK(clinalg_dense_create(CLINALG_PRECISION_F64, ROWS, COLUMNS, right, &b));
    OK(clinalg_system_solve(&options, a, b, &x, &together, NULL, 0));
    CHECK(together.stop == CLINALG_STOP_CONVERGED && together.relative_residual <= 1e-10);
    OK(clinalg_array_read(x, CLINALG_PRECISION_F64, 0, COLUMNS * ROWS, found));
    for (i = 0; i < COLUMNS * ROWS; ++i) {
        if (!(fabs(found[i] - wanted[i]) <= most)) most = fabs(found[i] - wanted[i]);
    }
    CHECK(most < 1e-7);
    one = vector(right, ROWS);
    OK(clinalg_system_solve(&options, a, one, &y, &alone, NULL, 0));
    CHECK(together.iterations < alone.iterations);
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(x));
    OK(clinalg_object_release(one));
    OK(clinalg_object_release(y));
}

/* Three right-hand sides in a call, by every method. */
static void columns_in_one_call(void)
{
    static const clinalg_method methods[] = {CLINALG_METHOD_CG, CLINALG_METHOD_BICGSTAB, CLINALG_METHOD_GMRES, CLINALG_METHOD_MINRES, CLINALG_METHOD_IDR};
    static matrix a;
    static double wanted[3 * N], right[3 * N], found[3 * N];
    clinalg_solver_options options = options_of(CLINALG_METHOD_CG, CLINALG_PRECONDITIONER_NONE);
    clinalg_handle handle, b = 0, one, x = 0, y = 0;
    clinalg_report together, alone;
    double most;
    size_t i, k, method;
    five_points(&a, 0.05, 0);
    handle = upload(&a);
    for (k = 0; k < 3; ++k) {
        for (i = 0; i < N; ++i) wanted[k * N + i] = sin((double)((3 * k + 1) * i)) + (double)k;
        product(&a, wanted + k * N, right + k * N);
    }
    OK(clinalg_dense_create(CLINALG_PRECISION_F64, N, 3, right, &b));
    one = vector(right, N);
    for (method = 0; method < sizeof methods / sizeof *methods; ++method) {
        options.method = methods[method];
        OK(clinalg_system_solve(&options, handle, b, &x, &together, NULL, 0));
        CHECK(together.stop == CLINALG_STOP_CONVERGED && together.relative_residual <= 1e-10);
        OK(clinalg_array_read(x, CLINALG_PRECISION_F64, 0, 3 * N, found));
        for (most = 0, i = 0; i < 3 * N; ++i) {
            if (!(fabs(found[i] - wanted[i]) <= most)) most = fabs(found[i] - wanted[i]);
        }
        CHECK(most < 1e-7);
        /* The first column is solved for as by itself. */
        OK(clinalg_system_solve(&options, handle, one, &y, &alone, NULL, 0));
        OK(clinalg_array_read(y, CLINALG_PRECISION_F64, 0, N, wanted));
        for (i = 0; i < N; ++i) CHECK(wanted[i] == found[i]);
        /* A start of another shape. */
        CHECK(clinalg_system_solve(&options, handle, b, &y, NULL, NULL, 0) == CLINALG_STATUS_SHAPE);
        SAYS("`x`");
        OK(clinalg_object_release(x));
        OK(clinalg_object_release(y));
        x = y = 0;
        for (i = 0; i < N; ++i) wanted[i] = sin((double)i);
    }
    OK(clinalg_object_release(handle));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(one));
}

/* What a text names is set, the rest stays; a fault changes nothing. */
static void options_from_a_text(void)
{
    clinalg_solver_options options, before;
    OK(clinalg_solver_options_default(&options, sizeof options));
    options.restart = 7;
    OK(clinalg_solver_options_parse("cg,amg,tol=1e-8", &options));
    CHECK(options.method == CLINALG_METHOD_CG && options.preconditioner == CLINALG_PRECONDITIONER_AMG);
    CHECK(options.tolerance == 1e-8 && options.restart == 7 && options.max_iterations == 10000);
    OK(clinalg_solver_options_parse(" IDRS , none, idr-dimension = 2, max-iterations=9,restart=5", &options));
    CHECK(options.method == CLINALG_METHOD_IDR && options.preconditioner == CLINALG_PRECONDITIONER_NONE);
    CHECK(options.idr_dimension == 2 && options.max_iterations == 9 && options.restart == 5 && options.tolerance == 1e-8);
    before = options;
    FAILS(clinalg_solver_options_parse("fcg,ilv", &options), CLINALG_STATUS_VALUE);
    CHECK(strstr(clinalg_last_error_message(), "`text`") != NULL && strstr(clinalg_last_error_message(), "ilu, ilut, lu, ic") != NULL);
    /* The list offered `sa`, which was then refused. */
    CHECK(strstr(clinalg_last_error_message(), "jacobi, amg, spai0") != NULL && strstr(clinalg_last_error_message(), "saddle") == NULL);
    FAILS(clinalg_solver_options_parse("gmres,sa", &options), CLINALG_STATUS_VALUE);
    CHECK(strstr(clinalg_last_error_message(), "`sa`") != NULL && strstr(clinalg_last_error_message(), "clinalg_system_options.solver") != NULL);
    FAILS(clinalg_solver_options_parse("fcg,tol=nan", &options), CLINALG_STATUS_VALUE);
    FAILS(clinalg_solver_options_parse("fcg,restart=0", &options), CLINALG_STATUS_VALUE);
    FAILS(clinalg_solver_options_parse("fcg,cg", &options), CLINALG_STATUS_VALUE);
    FAILS(clinalg_solver_options_parse("fcg,saddle", &options), CLINALG_STATUS_VALUE);
    CHECK(strstr(clinalg_last_error_message(), "`inverse`") != NULL && strstr(clinalg_last_error_message(), "`saddle`") != NULL);
    FAILS(clinalg_solver_options_parse("ilut,block-cg", &options), CLINALG_STATUS_VALUE);
    FAILS(clinalg_solver_options_parse("", &options), CLINALG_STATUS_VALUE);
    FAILS(clinalg_solver_options_parse("\xff", &options), CLINALG_STATUS_VALUE);
    FAILS(clinalg_solver_options_parse(NULL, &options), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_solver_options_parse("cg", NULL), CLINALG_STATUS_NULL_POINTER);
    CHECK(memcmp(&options, &before, sizeof options) == 0);
    options.struct_size = 4;
    FAILS(clinalg_solver_options_parse("cg", &options), CLINALG_STATUS_VALUE);
}

int main(void)
{
    options_from_a_text();
    many_solves(CLINALG_METHOD_CG, CLINALG_PRECONDITIONER_IC);
    many_solves(CLINALG_METHOD_BICGSTAB, CLINALG_PRECONDITIONER_ILU);
    many_solves(CLINALG_METHOD_GMRES, CLINALG_PRECONDITIONER_JACOBI);
    many_solves(CLINALG_METHOD_MINRES, CLINALG_PRECONDITIONER_NONE);
    many_solves(CLINALG_METHOD_IDR, CLINALG_PRECONDITIONER_SPAI0);
    many_solves(CLINALG_METHOD_FLEXIBLE_CG, CLINALG_PRECONDITIONER_AMG);
    refills(CLINALG_PRECONDITIONER_JACOBI);
    refills(CLINALG_PRECONDITIONER_AMG);
    refills(CLINALG_PRECONDITIONER_IC);
    columns_in_one_call();
    columns_share_directions();
    least_squares();
    automatic();
    given_parts();
    refusals();
    saddle_points();
    OK(clinalg_shutdown());
    if (failures == 0) puts("passed");
    return failures != 0;
}
