/* Components of multigrid, and new objects from others, against closed forms. */

#include "check.h"
#include "poisson.h"

#include <math.h>
#include <string.h>

enum { COARSE = 5, FINE = 9 };

static clinalg_handle grid(size_t n, double (*f)(double, double))
{
    double values[FINE * FINE];
    clinalg_handle made = 0;
    size_t i, j;
    for (j = 0; j < n; ++j) {
        for (i = 0; i < n; ++i) {
            values[j * n + i] = f((double)i / (double)(n - 1), (double)j / (double)(n - 1));
        }
    }
    OK(clinalg_dense_create(CLINALG_PRECISION_F64, n, n, values, &made));
    return made;
}

static double bilinear(double x, double y) { return 1 + 2 * x - 3 * y + x * y; }
static double parabola(double x, double y) { return x * x + 2 * y * y; }
static double source(double x, double y) { return (void)x, (void)y, -6; }
static double zero(double x, double y) { return (void)x, (void)y, 0; }

/* The largest magnitude of a - b. */
static double distance(clinalg_handle a, clinalg_handle b)
{
    clinalg_handle difference = 0;
    double norm = NAN;
    OK(clinalg_array_subtract(a, b, &difference));
    OK(clinalg_array_norm_inf(difference, &norm));
    OK(clinalg_object_release(difference));
    return norm;
}

static void components(void)
{
    const clinalg_handle u = grid(FINE, parabola), f = grid(FINE, source), nothing = grid(FINE, zero);
    const clinalg_handle coarse = grid(COARSE, bilinear), fine = grid(FINE, bilinear);
    clinalg_handle d = 0, v = 0, w = 0;
    double norm = NAN;

    /* Bilinear functions are interpolated exactly, and weighted exactly inside. */
    OK(clinalg_multigrid_interpolate(coarse, &d));
    CHECK(distance(d, fine) < 1e-14);
    OK(clinalg_multigrid_restrict(fine, &v));
    {
        double got[COARSE * COARSE], want[COARSE * COARSE];
        OK(clinalg_array_read(v, CLINALG_PRECISION_F64, 0, COARSE * COARSE, got));
        OK(clinalg_array_read(coarse, CLINALG_PRECISION_F64, 0, COARSE * COARSE, want));
        CHECK(fabs(got[2 * COARSE + 2] - want[2 * COARSE + 2]) < 1e-14 && fabs(got[COARSE + 3] - want[COARSE + 3]) < 1e-14);
    }
    /* The stencil is exact for parabolas: no defect, and sweeps change nothing. */
    OK(clinalg_multigrid_defect(u, f, &d));
    OK(clinalg_array_norm_inf(d, &norm));
    CHECK(norm < 1e-11);
    OK(clinalg_array_copy(u, &w));
    OK(clinalg_multigrid_jacobi(w, f, &w, 3, 0.8));
    CHECK(distance(w, u) < 1e-13);
    OK(clinalg_multigrid_red_black(w, f, &w, 2));
    CHECK(distance(w, u) < 1e-13);
    /* Sweeps from another start come nearer. */
    OK(clinalg_array_copy(nothing, &w));
    OK(clinalg_multigrid_red_black(nothing, nothing, &w, 1));
    CHECK(distance(w, nothing) == 0);
    OK(clinalg_multigrid_red_black(nothing, f, &w, 1));
    OK(clinalg_array_norm_inf(w, &norm));
    CHECK(norm > 0);
    FAILS(clinalg_multigrid_jacobi(u, coarse, &w, 1, 0.8), CLINALG_STATUS_LENGTH);
    FAILS(clinalg_multigrid_restrict(u, NULL), CLINALG_STATUS_NULL_POINTER);
}

/* Corrections in single precision reach residuals far below its rounding. */
static void mixed_precision(void)
{
    const clinalg_handle f = grid(FINE, source), exact = grid(FINE, parabola);
    clinalg_poisson_options options;
    clinalg_poisson_report report;
    clinalg_handle u = grid(FINE, parabola), v = 0;
    double values[FINE * FINE];
    size_t i, j;
    /* The boundary values, with another start inside. */
    OK(clinalg_array_read(u, CLINALG_PRECISION_F64, 0, FINE * FINE, values));
    for (j = 1; j + 1 < FINE; ++j) {
        for (i = 1; i + 1 < FINE; ++i) values[j * FINE + i] = 0;
    }
    OK(clinalg_array_write(u, CLINALG_PRECISION_F64, 0, FINE * FINE, values));
    OK(clinalg_array_copy(u, &v));
    OK(poisson_options(2, FINE, &options));
    options.tolerance = 1e-12;
    options.mixed_precision = 1;
    OK(solve_poisson(&options, f, &u, &report));
    CHECK(report.stop == CLINALG_STOP_CONVERGED && report.relative_residual <= 1e-12 && distance(u, exact) < 1e-11);
    options.mixed_precision = 0;
    OK(solve_poisson(&options, f, &v, &report));
    CHECK(distance(u, v) > 0 && distance(u, v) < 1e-11);
    options.precision = CLINALG_PRECISION_F32;
    options.mixed_precision = 1;
    v = 0;
    FAILS(clinalg_poisson_create(&options, &v), CLINALG_STATUS_VALUE);
    CHECK(v == 0 && strstr(clinalg_last_error_message(), "`mixed_precision`") != NULL);
}

static void conversions(void)
{
    const double values[] = {1, 2, 3, 4, 5, 6};
    const size_t offsets[] = {0, 2, 3}, indices[] = {0, 1, 1};
    const double entries[] = {7, 8, 9};
    double got[6];
    float single[6];
    clinalg_handle a = 0, t = 0, s = 0, d = 0, z = 0, c = 0;
    clinalg_object_info info;

    OK(clinalg_dense_create(CLINALG_PRECISION_F64, 2, 3, values, &a));
    OK(clinalg_matrix_transpose(a, &t));
    OK(clinalg_array_read(t, CLINALG_PRECISION_F64, 0, 6, got));
    CHECK(got[0] == 1 && got[1] == 3 && got[2] == 5 && got[3] == 2 && got[5] == 6);
    OK(clinalg_array_convert(a, CLINALG_PRECISION_F32, &c));
    OK(clinalg_array_read(c, CLINALG_PRECISION_F32, 0, 6, single));
    CHECK(single[0] == 1 && single[5] == 6);
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, 2, 2, offsets, indices, entries, &s));
    OK(clinalg_matrix_diagonal(s, &d));
    OK(clinalg_array_read(d, CLINALG_PRECISION_F64, 0, 2, got));
    CHECK(got[0] == 7 && got[1] == 9);
    OK(clinalg_array_zeros(CLINALG_PRECISION_F32, 2, 3, &z));
    OK(clinalg_object_get_info(z, &info));
    CHECK(info.kind == CLINALG_KIND_DENSE && info.precision == CLINALG_PRECISION_F32 && info.rows == 2 && info.cols == 3);
    OK(clinalg_array_read(z, CLINALG_PRECISION_F32, 0, 6, single));
    CHECK(single[0] == 0 && single[5] == 0);
    FAILS(clinalg_matrix_diagonal(d, &z), CLINALG_STATUS_SHAPE);
    FAILS(clinalg_array_convert(a, 7, &z), CLINALG_STATUS_VALUE);
    FAILS(clinalg_array_zeros(CLINALG_PRECISION_F64, (size_t)1 << 40, (size_t)1 << 40, &z), CLINALG_STATUS_VALUE);
}

int main(void)
{
    components();
    mixed_precision();
    conversions();
    OK(clinalg_shutdown());
    if (failures == 0) {
        puts("passed");
    }
    return failures != 0;
}
