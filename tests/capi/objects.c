/* The C interface from C99: results, errors, released and forged handles. */

#include "check.h"
#include "poisson.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void operations(void)
{
    const double x[3] = {1, 2, 3}, y[3] = {4, -5, 6}, full[6] = {1, 0, 2, 0, 3, 4};
    const size_t offsets[3] = {0, 2, 3}, columns[3] = {0, 1, 2};
    const double entries[3] = {1, 2, 4};
    double result[3], number;
    clinalg_handle a = 0, b = 0, sum = 0, dense = 0, sparse = 0, product = 0;
    clinalg_object_info info;

    OK(clinalg_vector_create(CLINALG_PRECISION_F64, x, 3, &a));
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, y, 3, &b));
    OK(clinalg_array_add(a, b, &sum));
    OK(clinalg_array_read(sum, CLINALG_PRECISION_F64, 0, 3, result));
    CHECK(result[0] == 5 && result[1] == -3 && result[2] == 9);
    OK(clinalg_array_subtract_scaled(a, b, 2.0, &a)); /* into an input */
    OK(clinalg_array_read(a, CLINALG_PRECISION_F64, 0, 3, result));
    CHECK(result[0] == -7 && result[1] == 12 && result[2] == -9);
    OK(clinalg_array_write(a, CLINALG_PRECISION_F64, 0, 3, x));
    OK(clinalg_array_dot(a, b, &number));
    CHECK(number == 12);
    OK(clinalg_array_norm_inf(b, &number));
    CHECK(number == 6);
    OK(clinalg_array_norm2(a, &number));
    CHECK(fabs(number - sqrt(14.0)) < 1e-15);

    /* [1 2 3; 0 0 4] by columns, times (1, 2, 3)'. */
    OK(clinalg_dense_create(CLINALG_PRECISION_F64, 2, 3, full, &dense));
    OK(clinalg_matrix_mv(1.0, dense, a, 0.0, &product));
    OK(clinalg_array_read(product, CLINALG_PRECISION_F64, 0, 2, result));
    CHECK(result[0] == 1 * 1 + 2 * 2 + 3 * 3 && result[1] == 4 * 3);
    /* [1 2 0; 0 0 4] by rows. */
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, 2, 3, offsets, columns, entries, &sparse));
    OK(clinalg_matrix_mv(2.0, sparse, a, 1.0, &product));
    OK(clinalg_array_read(product, CLINALG_PRECISION_F64, 0, 2, result));
    CHECK(result[0] == 2 * 5 + 14 && result[1] == 2 * 12 + 12);
    OK(clinalg_object_get_info(sparse, &info));
    CHECK(info.kind == CLINALG_KIND_CSR && info.rows == 2 && info.cols == 3 && info.entries == 3);

    /* Errors name what is wrong and leave everything as it was. */
    FAILS(clinalg_matrix_mv(1.0, dense, product, 0.0, &sum), CLINALG_STATUS_LENGTH);
    CHECK(strcmp(clinalg_last_error_id(), "clinalg:argument:length") == 0);
    FAILS(clinalg_array_add(a, product, &sum), CLINALG_STATUS_LENGTH);
    FAILS(clinalg_array_read(a, CLINALG_PRECISION_F32, 0, 3, result), CLINALG_STATUS_PRECISION);
    FAILS(clinalg_array_read(a, CLINALG_PRECISION_F64, 1, 3, result), CLINALG_STATUS_VALUE);
    FAILS(clinalg_vector_create(7, x, 3, &sum), CLINALG_STATUS_VALUE);
    FAILS(clinalg_vector_create(CLINALG_PRECISION_F64, NULL, 3, &sum), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_vector_create(CLINALG_PRECISION_F64, x, 3, NULL), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_array_dot(a, b, NULL), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_array_dot(a, 0, &number), CLINALG_STATUS_HANDLE_FOREIGN);
    FAILS(clinalg_matrix_mv(1.0, a, b, 0.0, &product), CLINALG_STATUS_HANDLE_KIND);
    FAILS(clinalg_device_select("no such device"), CLINALG_STATUS_DEVICE_NOT_FOUND);
    FAILS(clinalg_matrix_market_read("/no/such/file", CLINALG_PRECISION_F64, &sum), CLINALG_STATUS_FILE_IO);

    OK(clinalg_object_release(a));
    FAILS(clinalg_object_release(a), CLINALG_STATUS_HANDLE_STALE);
    FAILS(clinalg_array_add(a, b, &sum), CLINALG_STATUS_HANDLE_STALE);
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(sum));
    OK(clinalg_object_release(dense));
    OK(clinalg_object_release(sparse));
    OK(clinalg_object_release(product));
}

/* Constants without an array of the host; owners of an object. */
static void constants(void)
{
    double sum = 0;
    size_t needed = 0;
    float single[3];
    clinalg_object_info info;
    clinalg_handle v = 0, empty = 0;
    OK(clinalg_vector_constant(CLINALG_PRECISION_F32, 3, 0.5, &v));
    OK(clinalg_array_read(v, CLINALG_PRECISION_F32, 0, 3, single));
    CHECK(single[0] == 0.5f && single[1] == 0.5f && single[2] == 0.5f);
    OK(clinalg_object_release(v));
    OK(clinalg_vector_constant(CLINALG_PRECISION_COMPLEX_F64, 1000, 2, &v));
    OK(clinalg_object_get_info(v, &info));
    CHECK(info.kind == CLINALG_KIND_VECTOR && info.rows == 1000 && info.precision == CLINALG_PRECISION_COMPLEX_F64);
    OK(clinalg_array_norm1(v, &sum));
    CHECK(sum == 2000);
    OK(clinalg_object_release(v));
    OK(clinalg_vector_constant(CLINALG_PRECISION_F64, 4, NAN, &v));
    OK(clinalg_array_sum(v, &sum));
    CHECK(isnan(sum));
    OK(clinalg_vector_constant(CLINALG_PRECISION_F64, 0, 1, &empty));
    OK(clinalg_object_release(empty));
    FAILS(clinalg_vector_constant(9, 4, 1, &empty), CLINALG_STATUS_VALUE);
    CHECK(strstr(clinalg_last_error_message(), "CLINALG_PRECISION_COMPLEX_F64 (3)") != NULL);
    FAILS(clinalg_device_text(0, 99, NULL, 0, &needed), CLINALG_STATUS_VALUE);
    CHECK(strstr(clinalg_last_error_message(), "CLINALG_TEXT_VENDOR (1)") != NULL);
    FAILS(clinalg_vector_constant(CLINALG_PRECISION_F64, 4, 1, NULL), CLINALG_STATUS_NULL_POINTER);
    CHECK(clinalg_vector_constant(CLINALG_PRECISION_F64, SIZE_MAX / 8, 1, &empty) != CLINALG_STATUS_OK);

    OK(clinalg_object_retain(v));
    OK(clinalg_object_release(v));
    OK(clinalg_array_sum(v, &sum));
    OK(clinalg_object_release(v));
    FAILS(clinalg_array_sum(v, &sum), CLINALG_STATUS_HANDLE_STALE);
    FAILS(clinalg_object_retain(v), CLINALG_STATUS_HANDLE_STALE);
    FAILS(clinalg_object_release(v), CLINALG_STATUS_HANDLE_STALE);
    FAILS(clinalg_object_retain(0), CLINALG_STATUS_HANDLE_FOREIGN);
}

/* What an upload finds, in words; other formats by force; the arrays stay as they are. */
static void formats(void)
{
    enum { SIDE = 64, ROWS = SIDE * SIDE, ENTRIES = 5 * ROWS - 4 * SIDE };
    static size_t offsets[ROWS + 1], columns[ENTRIES], got_offsets[ROWS + 1], got_rows[ENTRIES];
    static double entries[ENTRIES], got_entries[ENTRIES], x[ROWS], want[ROWS], result[ROWS];
    static const clinalg_format all[3] = {CLINALG_FORMAT_CSR, CLINALG_FORMAT_DIA, CLINALG_FORMAT_STENCIL};
    static const char *const words[3] = {"csr", "dia", "stencil"};
    clinalg_handle a = 0, v = 0, y = 0, other = 0;
    char text[1024], whole[1024];
    size_t needed = 0, count = 0, i, k;

    /* The 5-point stencil with 4 and -1, symmetric: compressed columns are compressed rows. */
    for (i = 0; i < ROWS; ++i) {
        const size_t column = i % SIDE, row = i / SIDE;
        const size_t at[5] = {i - SIDE, i - 1, i, i + 1, i + SIDE};
        const int there[5] = {row > 0, column > 0, 1, column + 1 < SIDE, row + 1 < SIDE};
        offsets[i] = count;
        x[i] = (double)(i % 7) - 3;
        for (k = 0; k < 5; ++k) {
            if (there[k]) {
                columns[count] = at[k];
                entries[count++] = k == 2 ? 4 : -1;
            }
        }
    }
    offsets[ROWS] = count;
    CHECK(count == ENTRIES);
    for (i = 0; i < ROWS; ++i) {
        want[i] = 0;
        for (k = offsets[i]; k < offsets[i + 1]; ++k) {
            want[i] += entries[k] * (double)(columns[k] % 7) - 3 * entries[k];
        }
    }
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, ROWS, ROWS, offsets, columns, entries, &a));
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, x, ROWS, &v));
    OK(clinalg_object_explain(a, text, sizeof text, &needed));
    CHECK(needed == strlen(text) + 1 && strncmp(text, "stencil", 7) == 0 && strstr(text, "analysis took") != NULL);
    /* Cut where there is no room. */
    OK(clinalg_object_explain(a, whole, 8, &needed));
    CHECK(strcmp(whole, "stencil") == 0 && needed == strlen(text) + 1);
    OK(clinalg_object_explain(a, NULL, 0, &needed));
    OK(clinalg_object_explain(v, text, sizeof text, NULL));
    CHECK(strstr(text, " x 1 vector") != NULL);
    for (k = 0; k < 3; ++k) {
        size_t held = ENTRIES;
        OK(clinalg_sparse_set_format(a, all[k]));
        OK(clinalg_object_explain(a, text, sizeof text, NULL));
        CHECK(strncmp(text, words[k], strlen(words[k])) == 0);
        OK(clinalg_matrix_mv(1.0, a, v, 0.0, &y));
        OK(clinalg_array_read(y, CLINALG_PRECISION_F64, 0, ROWS, result));
        CHECK(memcmp(result, want, sizeof want) == 0);
        OK(clinalg_sparse_read(a, CLINALG_PRECISION_F64, got_offsets, got_rows, got_entries, &held));
        CHECK(held == ENTRIES && memcmp(got_offsets, offsets, sizeof offsets) == 0);
        CHECK(memcmp(got_rows, columns, sizeof columns) == 0 && memcmp(got_entries, entries, sizeof entries) == 0);
    }
    OK(clinalg_sparse_set_format(a, CLINALG_FORMAT_BEST));
    OK(clinalg_object_explain(a, text, sizeof text, NULL));
    CHECK(strncmp(text, "stencil", 7) == 0);
    /* Coefficients that differ are no stencil: an error, and everything as it was. */
    for (i = 0; i < ENTRIES; ++i) {
        entries[i] = (double)(i % 11);
    }
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, ROWS, ROWS, offsets, columns, entries, &other));
    OK(clinalg_object_explain(other, whole, sizeof whole, NULL));
    FAILS(clinalg_sparse_set_format(other, CLINALG_FORMAT_STENCIL), CLINALG_STATUS_VALUE);
    OK(clinalg_object_explain(other, text, sizeof text, NULL));
    CHECK(strcmp(text, whole) == 0);
    FAILS(clinalg_sparse_set_format(other, 99), CLINALG_STATUS_VALUE);
    FAILS(clinalg_sparse_set_format(v, CLINALG_FORMAT_CSR), CLINALG_STATUS_HANDLE_KIND);
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(v));
    OK(clinalg_object_release(y));
    OK(clinalg_object_release(other));
}

static void solvers(void)
{
    /* [4 -1 0; -1 4 -1; 0 -1 4] x = (2, 4, 10)' has x = (1, 2, 3)'. */
    const size_t offsets[4] = {0, 2, 5, 7}, columns[7] = {0, 1, 0, 1, 2, 1, 2};
    const double entries[7] = {4, -1, -1, 4, -1, -1, 4}, right[3] = {2, 4, 10};
    double x[3], history[16];
    clinalg_handle a = 0, b = 0, solution = 0, f = 0, u = 0, c = 0, v = 0;
    clinalg_solver_options options;
    clinalg_poisson_options grid;
    clinalg_report report;
    clinalg_poisson_report solved;
    double source[25], cube[27], middle;
    uint32_t method;

    OK(clinalg_sparse_from_csc(CLINALG_PRECISION_F64, 3, 3, offsets, columns, entries, &a));
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, right, 3, &b));
    OK(clinalg_solver_options_default(&options, sizeof options));
    for (method = CLINALG_METHOD_CG; method <= CLINALG_METHOD_GMRES; ++method) {
        options.method = method;
        solution = 0;
        OK(clinalg_system_solve(&options, a, b, &solution, &report, history, 16));
        CHECK(report.stop == CLINALG_STOP_CONVERGED && report.history == report.iterations + 1);
        OK(clinalg_array_read(solution, CLINALG_PRECISION_F64, 0, 3, x));
        CHECK(fabs(x[0] - 1) < 1e-9 && fabs(x[1] - 2) < 1e-9 && fabs(x[2] - 3) < 1e-9);
        OK(clinalg_object_release(solution));
    }
    options.method = 99;
    solution = 0;
    FAILS(clinalg_system_solve(&options, a, b, &solution, &report, NULL, 0), CLINALG_STATUS_VALUE);
    CHECK(solution == 0);

    /* -Laplace u = 1 at N = 3: the one unknown is h^2 / 4 = 1 / 16. */
    for (middle = 0; middle < 9; ++middle) source[(int)middle] = 1;
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, source, 9, &f));
    OK(poisson_options(2, 3, &grid));
    OK(solve_poisson(&grid, f, &u, &solved));
    OK(clinalg_array_read(u, CLINALG_PRECISION_F64, 4, 1, &middle));
    CHECK(fabs(middle - 1.0 / 16) < 1e-15);
    FAILS(solve_poisson(&grid, b, &u, &solved), CLINALG_STATUS_LENGTH);
    /* With a shift of 16, (4 / h^2 + 16) u = 1; on the cube 6 / h^2 u = 1. */
    grid.shift = 16;
    OK(solve_poisson(&grid, f, &u, &solved));
    OK(clinalg_array_read(u, CLINALG_PRECISION_F64, 4, 1, &middle));
    CHECK(fabs(middle - 1.0 / 32) < 1e-15);
    grid.shift = 0;
    grid.dim = 3;
    FAILS(solve_poisson(&grid, f, &u, &solved), CLINALG_STATUS_VALUE);
    grid.points[2] = 3;
    FAILS(solve_poisson(&grid, f, &u, &solved), CLINALG_STATUS_LENGTH);
    for (middle = 0; middle < 27; ++middle) cube[(int)middle] = 1;
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, cube, 27, &c));
    OK(solve_poisson(&grid, c, &v, &solved));
    OK(clinalg_array_read(v, CLINALG_PRECISION_F64, 13, 1, &middle));
    CHECK(fabs(middle - 1.0 / 24) < 1e-15);
    OK(clinalg_object_release(c));
    OK(clinalg_object_release(v));

    OK(clinalg_object_release(a));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(f));
    OK(clinalg_object_release(u));
}

/* Ends steps after so many; the time is theirs. */
static int32_t until(size_t steps, double time, void *data)
{
    CHECK(time > 0);
    return steps >= *(size_t *)data;
}

static void waves(void)
{
    /* One interior point, h = 1/2: u'' = -16 u by the stencil, and with c dt / h = 1/2 each step is u_next = u - u_before,
     * so from rest at 2 the values are 1, -1, -2, -1, 1, 2. */
    const double start[9] = {0, 0, 0, 0, 2, 0, 0, 0, 0}, expected[7] = {2, 1, -1, -2, -1, 1, 2};
    clinalg_handle wave = 0, u = 0, now = 0, v = 0;
    clinalg_wave_options options;
    clinalg_wave_report report;
    clinalg_object_info info;
    double value, kinetic, potential, energy;
    size_t last;
    int step;

    OK(clinalg_wave_options_default(&options, sizeof options));
    options.points[0] = options.points[1] = 3;
    options.dt = 0.25;
    OK(clinalg_wave_create(&options, &wave));
    OK(clinalg_object_get_info(wave, &info));
    CHECK(info.kind == CLINALG_KIND_WAVE && info.rows == 3 && info.cols == 3 && info.entries == 0);
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, start, 9, &u));
    OK(clinalg_wave_start(wave, u, 0, &report));
    CHECK(report.steps == 0 && report.time == 0 && report.stop == CLINALG_STOP_CONVERGED);
    OK(clinalg_wave_energy(wave, &kinetic, &potential));
    energy = kinetic + potential;
    for (step = 0; step < 7; ++step) {
        OK(clinalg_wave_displacement(wave, &now));
        OK(clinalg_array_read(now, CLINALG_PRECISION_F64, 4, 1, &value));
        CHECK(value == expected[step]);
        OK(clinalg_wave_energy(wave, &kinetic, &potential));
        CHECK(kinetic + potential == energy);
        OK(clinalg_wave_step(wave, 1, &report));
        CHECK(report.steps == 1 && report.time == 0.25 * (step + 1));
    }
    /* Looks come after 8 steps, after 16 more where those were fast, and so on. */
    last = 9;
    OK(clinalg_wave_step_with(wave, 1000000, until, &last, &report));
    CHECK(report.stop == CLINALG_STOP_CANCELLED && report.steps >= 9 && report.steps <= 24);
    CHECK(report.time == 0.25 * (double)(7 + report.steps));
    OK(clinalg_wave_step_with(wave, 5, NULL, NULL, &report));
    CHECK(report.stop == CLINALG_STOP_CONVERGED && report.steps == 5);
    OK(clinalg_wave_velocity(wave, &v));
    OK(clinalg_wave_start(wave, now, v, NULL));
    FAILS(clinalg_wave_step(u, 1, NULL), CLINALG_STATUS_HANDLE_KIND);
    FAILS(clinalg_wave_start(wave, wave, 0, NULL), CLINALG_STATUS_HANDLE_KIND);
    OK(clinalg_object_release(wave));
    FAILS(clinalg_wave_step(wave, 1, NULL), CLINALG_STATUS_HANDLE_STALE);
    wave = 0;
    options.dt = 0.36;
    FAILS(clinalg_wave_create(&options, &wave), CLINALG_STATUS_VALUE);
    CHECK(wave == 0 && strstr(clinalg_last_error_message(), "stability limit") != NULL);
    OK(clinalg_object_release(u));
    OK(clinalg_object_release(now));
    OK(clinalg_object_release(v));
}

int main(void)
{
    clinalg_memory_report before, after;
    OK(clinalg_device_memory(&before));
    operations();
    constants();
    formats();
    solvers();
    waves();
    OK(clinalg_device_memory(&after));
    CHECK(after.live_bytes == before.live_bytes && after.live_buffers == before.live_buffers);
    OK(clinalg_shutdown());
    OK(clinalg_device_memory(&after));
    CHECK(after.live_bytes == 0);
    printf("%s\n", failures == 0 ? "passed" : "FAILED");
    return failures == 0 ? 0 : 1;
}
