/* Sizes and texts that no call can take: each is an error with its status, and the next call works. */

#include "check.h"
#include "poisson.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 2, SIZE_MAX / 2 + 1, SIZE_MAX / 8 + 1, (size_t)1 << 32,
                               ((size_t)1 << 32) + 1, ((size_t)1 << 61) + 1};
enum { SIZES = sizeof sizes / sizeof *sizes };
static double values[64];

/* An error that is none of the library's own. */
#define REFUSED(call)                                                                                                    \
    do {                                                                                                                 \
        const clinalg_status status_ = (call);                                                                           \
        CHECK(status_ != CLINALG_STATUS_OK && status_ != CLINALG_STATUS_INTERNAL);                                       \
        CHECK(strlen(clinalg_last_error_message()) > 0);                                                                 \
    } while (0)

/* Either works or is refused; what was made is released. */
#define NOT_INTERNAL(call)                                                                                               \
    do {                                                                                                                 \
        const clinalg_status status_ = (call);                                                                           \
        CHECK(status_ != CLINALG_STATUS_INTERNAL);                                                                       \
        CHECK(status_ != CLINALG_STATUS_OK || clinalg_object_release(made) == CLINALG_STATUS_OK);                               \
    } while (0)

static void arrays(void)
{
    size_t offsets[] = {0, 0}, index = 0, k, l, entries = 1;
    clinalg_handle made = 0, x = 0;

    OK(clinalg_vector_create(CLINALG_PRECISION_F64, values, 4, &x));
    for (k = 0; k < SIZES; ++k) {
        const size_t big = sizes[k];
        double read[2];
        FAILS(clinalg_vector_create(CLINALG_PRECISION_F64, values, big > SIZE_MAX / 8 ? big : SIZE_MAX, &made), CLINALG_STATUS_VALUE);
        for (l = 0; l < SIZES; ++l) {
            /* 2^32 x 2^32 is 0 where the product wraps. */
            if (big > SIZE_MAX / 16 / sizes[l]) {
                REFUSED(clinalg_dense_create(CLINALG_PRECISION_F64, big, sizes[l], values, &made));
                REFUSED(clinalg_band_create(CLINALG_PRECISION_F64, big, sizes[l], 0, 0, values, &made));
            }
        }
        REFUSED(clinalg_band_create(CLINALG_PRECISION_F64, 2, 2, big, big, values, &made));
        offsets[1] = big;
        if (big > SIZE_MAX / 16) {
            REFUSED(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, 1, 1, offsets, &index, values, &made));
            REFUSED(clinalg_sparse_from_csc(CLINALG_PRECISION_F64, 1, 1, offsets, &index, values, &made));
            REFUSED(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, big, 1, offsets, &index, values, &made));
        }
        REFUSED(clinalg_array_read(x, CLINALG_PRECISION_F64, big, 2, read));
        REFUSED(clinalg_array_write(x, CLINALG_PRECISION_F64, big, 2, values));
        REFUSED(clinalg_vector_slice(x, big, 2, &made));
        REFUSED(clinalg_vector_slice(x, 2, big, &made));
        REFUSED(clinalg_vector_write_slice(x, big, x));
    }
    REFUSED(clinalg_sparse_read(x, CLINALG_PRECISION_F64, offsets, &index, values, &entries));
    CHECK(made == 0);
    OK(clinalg_object_release(x));
}

static void solvers(void)
{
    clinalg_solver_options solver;
    clinalg_poisson_options poisson;
    clinalg_wave_options wave;
    clinalg_heat_options heat;
    clinalg_handle a = 0, b = 0, x = 0, made = 0;
    const double nodes[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    const uint32_t triangles[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    const double eye[] = {1, 0, 0, 1};
    size_t k;

    OK(clinalg_dense_create(CLINALG_PRECISION_F64, 2, 2, eye, &a));
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, eye, 2, &b));
    for (k = 0; k < SIZES; ++k) {
        OK(clinalg_solver_options_default(&solver, sizeof solver));
        solver.method = CLINALG_METHOD_GMRES;
        solver.restart = sizes[k];
        /* A restart beyond the number of equations is that number. */
        OK(clinalg_system_solve(&solver, a, b, &x, NULL, NULL, 0));
        OK(poisson_options(2, 9, &poisson));
        poisson.dim = sizes[k];
        REFUSED(clinalg_poisson_create(&poisson, &made));
        OK(poisson_options(2, sizes[k], &poisson));
        REFUSED(clinalg_poisson_create(&poisson, &made));
        OK(clinalg_wave_options_default(&wave, sizeof wave));
        wave.dt = 1e-30;
        wave.points[0] = sizes[k];
        if (k % 2 != 0) wave.points[1] = sizes[k];
        REFUSED(clinalg_wave_create(&wave, &made));
        OK(clinalg_heat_options_default(&heat, sizeof heat));
        heat.steps = sizes[k];
        REFUSED(clinalg_heat_operator_create(&heat, CLINALG_HEAT_KIND_V, nodes, 4, triangles, 4, &made));
        heat.steps = 1;
        heat.order = sizes[k];
        REFUSED(clinalg_heat_operator_create(&heat, CLINALG_HEAT_KIND_V, nodes, 4, triangles, 4, &made));
        if (sizes[k] > SIZE_MAX / 32) {
            heat.order = 4;
            REFUSED(clinalg_heat_operator_create(&heat, CLINALG_HEAT_KIND_V, nodes, sizes[k], triangles, 4, &made));
            REFUSED(clinalg_heat_operator_create(&heat, CLINALG_HEAT_KIND_V, nodes, 4, triangles, sizes[k], &made));
        }
    }
    /* Most iterations have no storage of their own. */
    OK(clinalg_solver_options_default(&solver, sizeof solver));
    solver.max_iterations = SIZE_MAX;
    OK(clinalg_system_solve(&solver, a, b, &x, NULL, NULL, 0));
    CHECK(made == 0);
    OK(clinalg_object_release(x));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(a));
}

/* Waves, heat operators and elastodynamics: the precision of the options, and structures of another size or none. */
static void structures(void)
{
    static const double corners[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const uint32_t triangles[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    static const uint32_t faces[4][4] = {{0, 2, 1, 1}, {0, 1, 3, 3}, {0, 3, 2, 2}, {1, 2, 3, 3}};
    clinalg_wave_options wave;
    clinalg_heat_options heat;
    struct {
        clinalg_elastodynamics_options known;
        double newer;
    } elasto = {{0}, 0};
    clinalg_handle made[3] = {0};
    clinalg_object_info info;
    size_t k;

    OK(clinalg_wave_options_default(&wave, sizeof wave));
    CHECK(wave.struct_size == sizeof wave && wave.dim == 2 && wave.steps_per_pass == 8);
    CHECK(wave.points[0] == 1025 && wave.points[1] == 1025);
    wave.points[0] = wave.points[1] = 5;
    wave.precision = CLINALG_PRECISION_F32;
    OK(clinalg_wave_create(&wave, &made[0]));

    OK(clinalg_heat_options_default(&heat, sizeof heat));
    CHECK(heat.steps == 1 && heat.order == 4 && heat.storage == CLINALG_STORAGE_AUTO);
    heat.precision = CLINALG_PRECISION_F32;
    OK(clinalg_heat_operator_create(&heat, CLINALG_HEAT_KIND_V, &corners[0][0], 4, &triangles[0][0], 4, &made[1]));

    OK(clinalg_elastodynamics_options_default(&elasto.known, sizeof elasto.known));
    CHECK(elasto.known.poisson == 0.3 && elasto.known.rule == 8 && elasto.newer == 0);
    elasto.known.rule = 2;
    elasto.known.precision = CLINALG_PRECISION_F32;
    OK(clinalg_elastodynamics_create(&elasto.known, &corners[0][0], 4, &faces[0][0], 4, 4, &made[2]));
    for (k = 0; k < 3; ++k) {
        OK(clinalg_object_get_info(made[k], &info));
        CHECK(info.precision == CLINALG_PRECISION_F32);
        OK(clinalg_object_release(made[k]));
    }

    for (k = 0; k < sizeof elasto.known; ++k)
        FAILS(clinalg_elastodynamics_options_default(&elasto.known, k), CLINALG_STATUS_VALUE);
    elasto.known.struct_size = sizeof elasto;
    FAILS(clinalg_elastodynamics_create(&elasto.known, &corners[0][0], 4, &faces[0][0], 4, 4, &made[2]), CLINALG_STATUS_VALUE);
    CHECK(strstr(clinalg_last_error_message(), "newer version") != NULL);
    wave.struct_size = heat.struct_size = 0;
    FAILS(clinalg_wave_create(&wave, &made[0]), CLINALG_STATUS_VALUE);
    FAILS(clinalg_heat_operator_create(&heat, CLINALG_HEAT_KIND_V, &corners[0][0], 4, &triangles[0][0], 4, &made[1]), CLINALG_STATUS_VALUE);
    FAILS(clinalg_wave_options_default(NULL, sizeof wave), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_wave_create(NULL, &made[0]), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_wave_create(&wave, NULL), CLINALG_STATUS_VALUE);
}

/* Option structures: a size that no version has is refused. */
static void options(void)
{
    static const double eye[] = {2, 0, 0, 4}, right[] = {2, 4};
    struct {
        clinalg_solver_options known;
        double newer;
    } solver = {{0}, 0};
    clinalg_poisson_options poisson;
    clinalg_handle a = 0, b = 0, x = 0, grid = 0, u = 0;
    clinalg_poisson_report solved;
    clinalg_report report;
    double read[2];
    size_t k;

    OK(clinalg_dense_create(CLINALG_PRECISION_F64, 2, 2, eye, &a));
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, right, 2, &b));
    OK(clinalg_solver_options_default(&solver.known, sizeof solver.known));
    CHECK(solver.known.struct_size == sizeof solver.known && solver.known.restart == 30 && solver.newer == 0);
    OK(clinalg_system_solve(&solver.known, a, b, &x, &report, NULL, 0));
    CHECK(report.stop == CLINALG_STOP_CONVERGED);
    OK(clinalg_array_read(x, CLINALG_PRECISION_F64, 0, 2, read));
    CHECK(read[0] > 0.999999 && read[0] < 1.000001 && read[1] > 0.999999 && read[1] < 1.000001);
    solver.known.inverse = a; /* not much of an inverse, but a matrix */
    OK(clinalg_system_solve(&solver.known, a, b, &x, &report, NULL, 0));
    solver.known.preconditioner = CLINALG_PRECONDITIONER_JACOBI;
    FAILS(clinalg_system_solve(&solver.known, a, b, &x, NULL, NULL, 0), CLINALG_STATUS_VALUE);
    solver.known.inverse = 0;
    OK(clinalg_system_solve(&solver.known, a, b, &x, &report, NULL, 0));
    for (k = 0; k < SIZES; ++k) {
        FAILS(clinalg_solver_options_default(&solver.known, sizes[k]), CLINALG_STATUS_VALUE);
        solver.known.struct_size = sizes[k];
        FAILS(clinalg_system_solve(&solver.known, a, b, &x, NULL, NULL, 0), CLINALG_STATUS_VALUE);
    }
    FAILS(clinalg_solver_options_default(&solver.known, sizeof solver), CLINALG_STATUS_VALUE);
    solver.known.struct_size = sizeof solver;
    FAILS(clinalg_system_solve(&solver.known, a, b, &x, NULL, NULL, 0), CLINALG_STATUS_VALUE);
    CHECK(strstr(clinalg_last_error_message(), "newer version") != NULL);
    for (k = 0; k < sizeof solver.known; ++k) FAILS(clinalg_solver_options_default(&solver.known, k), CLINALG_STATUS_VALUE);
    FAILS(clinalg_solver_options_default(NULL, sizeof solver.known), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_system_solve(NULL, a, b, &x, NULL, NULL, 0), CLINALG_STATUS_NULL_POINTER);

    OK(clinalg_array_zeros(CLINALG_PRECISION_F64, 9, 9, &grid));
    OK(clinalg_array_fill(grid, 1));
    OK(poisson_options(2, 9, &poisson));
    OK(solve_poisson(&poisson, grid, &u, &solved));
    CHECK(solved.stop == CLINALG_STOP_CONVERGED && solved.relative_residual <= poisson.tolerance);
    poisson.struct_size = 0;
    FAILS(solve_poisson(&poisson, grid, &u, NULL), CLINALG_STATUS_VALUE);
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(x));
    OK(clinalg_object_release(grid));
    OK(clinalg_object_release(u));
}

/* `count` copies of `part` between `before` and `after`. */
static char *repeated(const char *before, const char *part, size_t count, const char *after)
{
    const size_t length = strlen(part);
    char *text = malloc(strlen(before) + count * length + strlen(after) + 1);
    size_t k;
    strcpy(text, before);
    char *end = text + strlen(before);
    for (k = 0; k < count; ++k, end += length) {
        memcpy(end, part, length);
    }
    strcpy(end, after);
    return text;
}

static void descriptions(void)
{
    static const char *const refused[] = {
        "grid 18446744073709551616\nu' = u",
        "grid 18446744073709551615\nu' = u",
        "grid 9223372036854775809 2\nu' = u", /* 2^64 + 2 points */
        "grid 4294967296 4294967296\nu' = u", /* 2^64 points */
        "grid 4294967296 4294967296 4294967296\nu' = u[1,0,0]",
        "grid -1\nu' = u",
        "grid 0\nu' = u",
        "grid 1e300\nu' = u",
        "grid\nu' = u",
        "grid 4\nu' = u[9223372036854775807]",
        "grid 4\nu' = u[-9223372036854775808]",
        "grid 4\nu' = u[99999999999999999999]",
        "\xff\xfe' = 1",
        "u' = \xc3",
        "u' = 1 +",
        "",
    };
    static const struct {
        const char *before, *part, *after;
        size_t count;
    } huge[] = {{"u' = ", "(", "u", 1000000}, {"u' = ", "-", "u", 1000000}, {"u' = ", "sin(", "u", 300000},
                {"u' = u", "^u", "", 300000}, {"u' = ", "(", "", 5000000}, {"", "x", "", 4000000}};
    static const char *const problems[] = {"bruss2d-mix", "bruss2d-hairer", "bruss2d-sciml", "heat2d", "heat3d"};
    clinalg_handle made = 0;
    size_t k, l;

    for (k = 0; k < sizeof refused / sizeof *refused; ++k) {
        REFUSED(clinalg_ode_create(refused[k], NULL, 0, 0, &made));
    }
    for (k = 0; k < sizeof huge / sizeof *huge; ++k) {
        char *text = repeated(huge[k].before, huge[k].part, huge[k].count, huge[k].after);
        /* Some of these are formulas that can be read. */
        NOT_INTERNAL(clinalg_ode_create(text, NULL, 0, 0, &made));
        REFUSED(clinalg_ode_create_problem(text, 4, &made));
        REFUSED(clinalg_matrix_market_read(text, CLINALG_PRECISION_F64, &made));
        REFUSED(clinalg_device_select(text));
        free(text);
    }
    for (k = 0; k < sizeof problems / sizeof *problems; ++k) {
        for (l = 0; l < SIZES; ++l) {
            REFUSED(clinalg_ode_create_problem(problems[k], sizes[l], &made));
        }
    }
    for (k = 0; k < SIZES; ++k) {
        NOT_INTERNAL(clinalg_ode_create_snippet(sizes[k], "return -Y(I);", NULL, sizes[k], &made));
        if (sizes[k] > SIZE_MAX / 16) {
            REFUSED(clinalg_ode_create("grid 4\ndata a\nu' = a", values, sizes[k], 1, &made));
        }
        REFUSED(clinalg_ode_create("grid 4\ndata a\nu' = a", values, 4, sizes[k], &made));
    }
}

static void integrations(void)
{
    clinalg_ode_options options;
    clinalg_handle decay = 0;
    double times[] = {0, 1}, y[2] = {1, 1};
    size_t k;

    OK(clinalg_ode_options_default(&options, sizeof options));
    OK(clinalg_ode_create("u' = -u", NULL, 0, 0, &decay));
    for (k = 0; k < SIZES; ++k) {
        if (sizes[k] > SIZE_MAX / 16) {
            REFUSED(clinalg_ode_solve(decay, NULL, NULL, &options, times, sizes[k], y, 1, y, NULL));
            REFUSED(clinalg_ode_solve(decay, NULL, NULL, &options, times, 2, y, sizes[k], y, NULL));
            REFUSED(clinalg_ode_set_tolerances(decay, y, sizes[k]));
            REFUSED(clinalg_ode_initial(decay, y, sizes[k], NULL, NULL));
        }
        REFUSED(clinalg_ode_add_event(decay, "u", sizes[k], CLINALG_ODE_DIRECTION_ANY, 0));
    }
    REFUSED(clinalg_ode_set_parameter(decay, "\xff", 1));
    REFUSED(clinalg_ode_solve(decay, "\xff", NULL, &options, times, 2, y, 1, y, NULL));
    y[0] = 1;
    OK(clinalg_ode_solve(decay, NULL, NULL, &options, times, 2, &y[0], 1, y, NULL));
    CHECK(y[1] > 0.3678 && y[1] < 0.3680);
    OK(clinalg_object_release(decay));
}

/* Linux takes any bytes but zero and '/' in a file's name. */
static void paths(void)
{
    static const char name[] = "caf\xe9\xff.mtx";
    clinalg_handle a = 0;
    double sum = 0;
    FILE *file = fopen(name, "w");
    if (file == NULL && errno == EILSEQ) {
        return; /* this file system wants UTF-8 */
    }
    CHECK(file != NULL);
    fputs("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 3\n2 2 4\n", file);
    fclose(file);
    OK(clinalg_matrix_market_read(name, CLINALG_PRECISION_F64, &a));
    OK(clinalg_array_sum(a, &sum));
    CHECK(sum == 7);
    OK(clinalg_object_release(a));
    remove(name);
    FAILS(clinalg_matrix_market_read(name, CLINALG_PRECISION_F64, &a), CLINALG_STATUS_FILE_IO);
}

int main(void)
{
    arrays();
    solvers();
    options();
    structures();
    descriptions();
    integrations();
    paths();
    clinalg_shutdown();
    if (failures == 0) {
        puts("passed");
    }
    return failures != 0;
}
