/* Sparse matrices from coordinates and 32-bit indices, new values, files; operators and progress by functions of the program. */

#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if CLINALG_VERSION < CLINALG_MAKE_VERSION(0, 1, 0) || CLINALG_VERSION >= CLINALG_MAKE_VERSION(1000, 0, 0)
#error "the version of the header"
#endif

enum { N = 20 };

static void read_rows(clinalg_handle a, double *values, size_t rows, size_t cols)
{
    /* A e_j by columns. */
    size_t j;
    for (j = 0; j < cols; ++j) {
        double unit[N] = {0};
        clinalg_handle e = 0, y = 0;
        unit[j] = 1;
        OK(clinalg_vector_create(CLINALG_PRECISION_F64, unit, cols, &e));
        OK(clinalg_matrix_mv(1, a, e, 0, &y));
        OK(clinalg_array_read(y, CLINALG_PRECISION_F64, 0, rows, values + j * rows));
        OK(clinalg_object_release(e));
        OK(clinalg_object_release(y));
    }
}

static void coordinates(void)
{
    /* [1 0 5; 0 5 0], the 5 in the middle as 2 + 3. */
    const size_t wide_rows[] = {1, 0, 1, 0}, wide_cols[] = {1, 2, 1, 0};
    const int32_t rows[] = {1, 0, 1, 0}, cols[] = {1, 2, 1, 0}, bad[] = {1, -1, 1, 0}, far[] = {1, 2, 1, 0};
    const double values[] = {2, 5, 3, 1}, expected[] = {1, 0, 0, 5, 5, 0};
    double found[6];
    clinalg_handle a = 0, b = 0, c = 0;
    OK(clinalg_sparse_from_coo(CLINALG_PRECISION_F64, 2, 3, 4, wide_rows, wide_cols, values, &a));
    read_rows(a, found, 2, 3);
    CHECK(memcmp(found, expected, sizeof found) == 0);
    OK(clinalg_sparse_from_coo_i32(CLINALG_PRECISION_F64, 2, 3, 4, rows, cols, values, &b));
    read_rows(b, found, 2, 3);
    CHECK(memcmp(found, expected, sizeof found) == 0);
    FAILS(clinalg_sparse_from_coo_i32(CLINALG_PRECISION_F64, 2, 3, 4, bad, cols, values, &c), CLINALG_STATUS_INDEX);
    CHECK(strstr(clinalg_last_error_message(), "negative") != NULL && c == 0);
    FAILS(clinalg_sparse_from_coo_i32(CLINALG_PRECISION_F64, 2, 3, 4, far, cols, values, &c), CLINALG_STATUS_INDEX);
    FAILS(clinalg_sparse_from_coo(CLINALG_PRECISION_F64, 2, 2, 4, wide_rows, wide_cols, values, &c), CLINALG_STATUS_INDEX);
    FAILS(clinalg_sparse_from_coo(CLINALG_PRECISION_F64, 2, 3, 4, NULL, wide_cols, values, &c), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_sparse_from_coo(CLINALG_PRECISION_F64, 2, 3, 4, wide_rows, wide_cols, values, NULL), CLINALG_STATUS_NULL_POINTER);
    OK(clinalg_sparse_from_coo(CLINALG_PRECISION_F64, 2, 3, 0, NULL, NULL, NULL, &c));
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(c));
}

static void compressed(void)
{
    const int32_t offsets[] = {0, 2, 3}, indices[] = {0, 2, 1}, by_columns[] = {0, 1, 2, 3}, rows[] = {0, 1, 0}, bad[] = {0, -2, 3};
    const double values[] = {1, 5, 4}, columns[] = {1, 4, 5}, others[] = {-1, 7, 0.5}, expected[] = {1, 0, 0, 4, 5, 0};
    const double replaced[] = {-1, 0, 0, 0.5, 7, 0};
    double found[6];
    clinalg_handle a = 0, b = 0, c = 0;
    OK(clinalg_sparse_from_csr_i32(CLINALG_PRECISION_F64, 2, 3, offsets, indices, values, &a));
    read_rows(a, found, 2, 3);
    CHECK(memcmp(found, expected, sizeof found) == 0);
    OK(clinalg_sparse_from_csc_i32(CLINALG_PRECISION_F64, 2, 3, by_columns, rows, columns, &b));
    read_rows(b, found, 2, 3);
    CHECK(memcmp(found, expected, sizeof found) == 0);
    FAILS(clinalg_sparse_from_csr_i32(CLINALG_PRECISION_F64, 2, 3, bad, indices, values, &c), CLINALG_STATUS_INDEX);

    OK(clinalg_sparse_write(a, CLINALG_PRECISION_F64, others, 3));
    read_rows(a, found, 2, 3);
    CHECK(memcmp(found, replaced, sizeof found) == 0);
    FAILS(clinalg_sparse_write(a, CLINALG_PRECISION_F64, others, 2), CLINALG_STATUS_LENGTH);
    FAILS(clinalg_sparse_write(a, CLINALG_PRECISION_F32, others, 3), CLINALG_STATUS_PRECISION);

    OK(clinalg_matrix_market_write(a, "input.mtx"));
    OK(clinalg_matrix_market_read("input.mtx", CLINALG_PRECISION_F64, &c));
    read_rows(c, found, 2, 3);
    CHECK(memcmp(found, replaced, sizeof found) == 0);
    remove("input.mtx");
    FAILS(clinalg_matrix_market_write(a, "no/such/folder/a.mtx"), CLINALG_STATUS_FILE_IO);
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(c));
}

/* Values in the order of the coordinates, those of one position summed; what does not know an order says so. */
static void new_values_in_the_order_of_coordinates(void)
{
    const int32_t rows[] = {1, 0, 1, 0}, cols[] = {1, 2, 1, 0};
    const size_t offsets[] = {0, 2, 3}, indices[] = {0, 2, 1};
    const double values[] = {2, 5, 3, 1}, others[] = {0.1, 7, 0.2, -0.0}, expected[] = {-0.0, 0, 0, 0.1 + 0.2, 7, 0};
    const double zeros[] = {0, 7, 0, 1};
    const float single[] = {2, 5, 3, 1};
    double found[6];
    clinalg_handle a = 0, b = 0, c = 0;
    OK(clinalg_sparse_from_coo_i32(CLINALG_PRECISION_F64, 2, 3, 4, rows, cols, values, &a));
    OK(clinalg_array_copy(a, &b));
    OK(clinalg_sparse_write_coo(a, CLINALG_PRECISION_F64, others, 4));
    read_rows(a, found, 2, 3);
    CHECK(memcmp(found + 1, expected + 1, 5 * sizeof *found) == 0 && found[0] == 0);
    /* The values of the upload give its bits again, also in a copy. */
    OK(clinalg_sparse_write_coo(b, CLINALG_PRECISION_F64, others, 4));
    OK(clinalg_sparse_write_coo(b, CLINALG_PRECISION_F64, values, 4));
    read_rows(b, found, 2, 3);
    CHECK(found[0] == 1 && found[3] == 5 && found[4] == 5);

    FAILS(clinalg_sparse_write_coo(a, CLINALG_PRECISION_F64, values, 3), CLINALG_STATUS_LENGTH);
    FAILS(clinalg_sparse_write_coo(a, CLINALG_PRECISION_F32, single, 4), CLINALG_STATUS_PRECISION);
    FAILS(clinalg_sparse_write_coo(a, CLINALG_PRECISION_F64, NULL, 4), CLINALG_STATUS_NULL_POINTER);
    read_rows(a, found, 2, 3);
    CHECK(memcmp(found + 1, expected + 1, 5 * sizeof *found) == 0);
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, 2, 3, offsets, indices, values, &c));
    FAILS(clinalg_sparse_write_coo(c, CLINALG_PRECISION_F64, values, 3), CLINALG_STATUS_VALUE);
    CHECK(strstr(clinalg_last_error_message(), "triplets") != NULL);
    /* Without its zeros the matrix has other positions. */
    OK(clinalg_sparse_write_coo(a, CLINALG_PRECISION_F64, zeros, 4));
    OK(clinalg_sparse_drop_zeros(a, NULL));
    FAILS(clinalg_sparse_write_coo(a, CLINALG_PRECISION_F64, values, 4), CLINALG_STATUS_VALUE);
    OK(clinalg_object_release(a));
    FAILS(clinalg_sparse_write_coo(a, CLINALG_PRECISION_F64, values, 4), CLINALG_STATUS_HANDLE_STALE);
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(c));
}

static void rows_of_a_matrix(void)
{
    /* [1 0 5; 0 0 0; 0 4 0; 6 0 7], and the band matrix [1 0 0; 2 3 0; 0 4 5]. */
    const size_t offsets[] = {0, 2, 2, 3, 5}, indices[] = {0, 2, 1, 0, 2};
    const double values[] = {1, 5, 4, 6, 7}, band[] = {1, 2, 0, 0, 3, 4, 0, 0, 5};
    size_t begin[5], column[5], entries = 5;
    double value[5];
    clinalg_handle a = 0, b = 0;
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, 4, 3, offsets, indices, values, &a));
    OK(clinalg_sparse_read_rows(a, CLINALG_PRECISION_F64, 0, 4, begin, column, value, &entries));
    CHECK(entries == 5 && memcmp(begin, offsets, sizeof offsets) == 0 && memcmp(column, indices, sizeof indices) == 0);
    CHECK(memcmp(value, values, sizeof values) == 0);
    OK(clinalg_sparse_read_rows(a, CLINALG_PRECISION_F64, 1, 3, begin, column, value, &entries));
    CHECK(entries == 3 && begin[0] == 0 && begin[1] == 0 && begin[2] == 1 && begin[3] == 3);
    CHECK(column[0] == 1 && column[1] == 0 && column[2] == 2 && value[0] == 4 && value[1] == 6 && value[2] == 7);
    OK(clinalg_sparse_read_rows(a, CLINALG_PRECISION_F64, 4, 0, begin, NULL, NULL, &entries));
    CHECK(entries == 0 && begin[0] == 0);

    entries = 2;
    FAILS(clinalg_sparse_read_rows(a, CLINALG_PRECISION_F64, 1, 3, begin, column, value, &entries), CLINALG_STATUS_LENGTH);
    CHECK(entries == 3);
    FAILS(clinalg_sparse_read_rows(a, CLINALG_PRECISION_F64, 3, 2, begin, column, value, &entries), CLINALG_STATUS_VALUE);
    CHECK(strstr(clinalg_last_error_message(), "0..4") != NULL);
    FAILS(clinalg_sparse_read_rows(a, CLINALG_PRECISION_F64, 2, SIZE_MAX, begin, column, value, &entries), CLINALG_STATUS_VALUE);
    FAILS(clinalg_sparse_read_rows(a, CLINALG_PRECISION_F32, 1, 3, begin, column, value, &entries), CLINALG_STATUS_PRECISION);
    FAILS(clinalg_sparse_read_rows(a, CLINALG_PRECISION_F64, 1, 3, NULL, column, value, &entries), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_sparse_read_rows(a, CLINALG_PRECISION_F64, 1, 3, begin, column, value, NULL), CLINALG_STATUS_NULL_POINTER);
    OK(clinalg_band_create(CLINALG_PRECISION_F64, 3, 3, 1, 1, band, &b));
    entries = 5;
    OK(clinalg_sparse_read_rows(b, CLINALG_PRECISION_F64, 1, 2, begin, column, value, &entries));
    CHECK(entries == 4 && begin[1] == 2 && begin[2] == 4 && column[0] == 0 && column[3] == 2);
    CHECK(value[0] == 2 && value[1] == 3 && value[2] == 4 && value[3] == 5);
    OK(clinalg_object_release(b));
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, values, 5, &b));
    FAILS(clinalg_sparse_read_rows(b, CLINALG_PRECISION_F64, 0, 1, begin, column, value, &entries), CLINALG_STATUS_HANDLE_KIND);
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(b));
    FAILS(clinalg_sparse_read_rows(a, CLINALG_PRECISION_F64, 0, 1, begin, column, value, &entries), CLINALG_STATUS_HANDLE_STALE);
}

/* A stencil keeps neither columns nor values: new ones must not be lost. */
static void new_values_of_a_stencil(void)
{
    int32_t rows[3 * N], cols[3 * N];
    double values[3 * N], ones[N], sums[N];
    size_t i, entries = 0;
    clinalg_handle a = 0, x = 0, y = 0;
    for (i = 0; i < N; ++i) {
        size_t j;
        ones[i] = 1;
        for (j = i == 0 ? 0 : i - 1; j <= i + 1 && j < N; ++j) {
            rows[entries] = (int32_t)i, cols[entries] = (int32_t)j;
            values[entries++] = i == j ? 2 : -1;
        }
    }
    OK(clinalg_sparse_from_coo_i32(CLINALG_PRECISION_F64, N, N, entries, rows, cols, values, &a));
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, ones, N, &x));
    OK(clinalg_matrix_mv(1, a, x, 0, &y));
    for (i = 0; i < entries; ++i) values[i] = (double)(i + 1);
    OK(clinalg_sparse_write(a, CLINALG_PRECISION_F64, values, entries));
    OK(clinalg_matrix_mv(1, a, x, 0, &y));
    OK(clinalg_array_read(y, CLINALG_PRECISION_F64, 0, N, sums));
    /* Rows of the numbers 1, 2; 3, 4, 5; 6, 7, 8; ... */
    CHECK(sums[0] == 3 && sums[1] == 12 && sums[2] == 21 && sums[N - 1] == 2.0 * (double)entries - 1);
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(x));
    OK(clinalg_object_release(y));
}

typedef struct {
    int products, freed, last, fail;
    double residual;
} state;

/* y = D x with D = diag(1, 2, ..., N), on the host. */
static int32_t diagonal(clinalg_handle x, clinalg_handle y, void *data)
{
    state *seen = data;
    double values[N];
    size_t i;
    if (clinalg_array_read(x, CLINALG_PRECISION_F64, 0, N, values)) return 1;
    for (i = 0; i < N; ++i) values[i] *= (double)(i + 1);
    ++seen->products;
    return clinalg_array_write(y, CLINALG_PRECISION_F64, 0, N, values) ? 2 : seen->fail;
}

static int32_t inverse(clinalg_handle x, clinalg_handle y, void *data)
{
    double values[N];
    size_t i;
    (void)data;
    if (clinalg_array_read(x, CLINALG_PRECISION_F64, 0, N, values)) return 1;
    for (i = 0; i < N; ++i) values[i] /= (double)(i + 1);
    return clinalg_array_write(y, CLINALG_PRECISION_F64, 0, N, values) ? 2 : 0;
}

static void freed(void *data)
{
    ++((state *)data)->freed;
}

static int32_t told(size_t iteration, double residual, void *data)
{
    state *seen = data;
    seen->last = (int)iteration;
    seen->residual = residual;
    return iteration >= 3;
}

static void operators(void)
{
    state seen = {0}, other = {0};
    double ones[N], found[N];
    clinalg_handle a = 0, m = 0, b = 0, x = 0, y = 0, none = 0;
    clinalg_solver_options options;
    clinalg_report report;
    clinalg_memory_report before, after;
    size_t i;
    for (i = 0; i < N; ++i) ones[i] = 1;
    OK(clinalg_device_memory(&before));
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, ones, N, &b));
    OK(clinalg_operator_create(CLINALG_PRECISION_F64, N, N, diagonal, &seen, freed, &a));
    OK(clinalg_operator_create(CLINALG_PRECISION_F64, N, N, inverse, NULL, NULL, &m));
    OK(clinalg_matrix_mv(2, a, b, 0, &y));
    OK(clinalg_matrix_mv(1, a, b, -1, &y));
    OK(clinalg_array_read(y, CLINALG_PRECISION_F64, 0, N, found));
    for (i = 0; i < N; ++i) CHECK(found[i] == -(double)(i + 1));
    CHECK(seen.products == 2);

    OK(clinalg_solver_options_default(&options, sizeof options));
    CHECK(options.progress == NULL && options.progress_data == NULL);
    OK(clinalg_system_solve(&options, a, b, &x, &report, NULL, 0));
    OK(clinalg_array_read(x, CLINALG_PRECISION_F64, 0, N, found));
    CHECK(report.stop == CLINALG_STOP_CONVERGED && report.iterations > 5);
    for (i = 0; i < N; ++i) CHECK(fabs(found[i] - 1 / (double)(i + 1)) < 1e-9);
    OK(clinalg_object_release(x));
    x = 0;
    options.inverse = m;
    OK(clinalg_system_solve(&options, a, b, &x, &report, NULL, 0));
    CHECK(report.stop == CLINALG_STOP_CONVERGED && report.iterations <= 2);
    OK(clinalg_object_release(x));
    x = 0;

    options.inverse = 0;
    options.method = CLINALG_METHOD_GMRES;
    options.progress = told;
    options.progress_data = &other;
    OK(clinalg_system_solve(&options, a, b, &x, &report, NULL, 0));
    CHECK(report.stop == CLINALG_STOP_CANCELLED && other.last == 3 && report.iterations == 3 && other.residual < 1);
    options.progress = NULL;
    OK(clinalg_system_solve(&options, a, b, &x, &report, NULL, 0));
    CHECK(report.stop == CLINALG_STOP_CONVERGED);

    seen.fail = 7;
    FAILS(clinalg_matrix_mv(1, a, b, 0, &y), CLINALG_STATUS_VALUE);
    CHECK(strstr(clinalg_last_error_message(), "7") != NULL);
    FAILS(clinalg_system_solve(&options, a, b, &x, &report, NULL, 0), CLINALG_STATUS_VALUE);
    seen.fail = 0;

    OK(clinalg_object_release(x));
    OK(clinalg_object_release(y));
    OK(clinalg_object_release(m));
    CHECK(seen.freed == 0);
    OK(clinalg_object_release(a));
    CHECK(seen.freed == 1);
    FAILS(clinalg_operator_create(CLINALG_PRECISION_F64, N, N, NULL, &seen, freed, &none), CLINALG_STATUS_NULL_POINTER);
    CHECK(seen.freed == 2 && none == 0);
    OK(clinalg_object_release(b));
    OK(clinalg_device_memory(&after));
    CHECK(after.live_bytes == before.live_bytes);
}

static void cancelled_multigrid(void)
{
    enum { SIDE = 33 };
    double *values = calloc(SIDE * SIDE, sizeof *values);
    state seen = {0};
    clinalg_poisson_options options;
    clinalg_poisson_report report;
    clinalg_handle solver = 0, f = 0, u = 0;
    size_t k;
    for (k = 0; values && k < SIDE * SIDE; ++k) values[k] = 1;
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, values, SIDE * SIDE, &f));
    OK(clinalg_poisson_options_default(&options, sizeof options));
    options.points[0] = options.points[1] = SIDE;
    OK(clinalg_poisson_create(&options, &solver));
    OK(clinalg_poisson_solve_vector(solver, f, &u, told, &seen, &report, NULL, 0));
    CHECK(report.stop == CLINALG_STOP_CANCELLED && seen.last == 3 && report.cycles == 3);
    OK(clinalg_object_release(solver));
    OK(clinalg_object_release(f));
    OK(clinalg_object_release(u));
    free(values);
}

int main(void)
{
    coordinates();
    compressed();
    new_values_in_the_order_of_coordinates();
    rows_of_a_matrix();
    new_values_of_a_stencil();
    operators();
    cancelled_multigrid();
    OK(clinalg_shutdown());
    if (failures == 0) puts("passed");
    return failures != 0;
}
