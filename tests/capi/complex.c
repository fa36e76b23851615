/* Complex numbers from C99: the layout is that of double complex and float complex. */

#include "check.h"
#include "poisson.h"

#include <complex.h>
#include <math.h>
#include <string.h>

enum { N = 6 };

static clinalg_complex number(double complex z)
{
    const clinalg_complex value = {creal(z), cimag(z)};
    return value;
}

static double complex plain(clinalg_complex z)
{
    return z.re + z.im * I;
}

static int near(double complex a, double complex b)
{
    return cabs(a - b) < 1e-13 * (1 + cabs(b));
}

static void vectors(void)
{
    const double complex x[3] = {1 + 2 * I, -3 * I, 0.5}, y[3] = {2 - I, 1 + I, -4};
    const float complex f[2] = {1.5F - 2 * I, 3 * I};
    double complex read[3];
    float complex single[2];
    double parts[3], norm;
    clinalg_complex result;
    clinalg_object_info info;
    clinalg_handle a = 0, b = 0, out = 0, re = 0, im = 0, joined = 0, g = 0, wide = 0, row = 0;

    CHECK(sizeof(clinalg_complex) == sizeof(double complex));
    OK(clinalg_vector_create(CLINALG_PRECISION_COMPLEX_F64, x, 3, &a));
    OK(clinalg_vector_create(CLINALG_PRECISION_COMPLEX_F64, y, 3, &b));
    OK(clinalg_object_get_info(a, &info));
    CHECK(info.kind == CLINALG_KIND_VECTOR && info.precision == CLINALG_PRECISION_COMPLEX_F64 && info.entries == 3);
    OK(clinalg_array_dot_complex(a, b, &result));
    CHECK(near(plain(result), conj(x[0]) * y[0] + conj(x[1]) * y[1] + conj(x[2]) * y[2]));
    OK(clinalg_array_dotu_complex(a, b, &result));
    CHECK(near(plain(result), x[0] * y[0] + x[1] * y[1] + x[2] * y[2]));
    OK(clinalg_array_sum_complex(a, &result));
    CHECK(near(plain(result), x[0] + x[1] + x[2]));
    OK(clinalg_array_norm2(a, &norm));
    CHECK(fabs(norm - sqrt(5 + 9 + 0.25)) < 1e-14);
    OK(clinalg_array_axpby_complex(number(2 * I), a, number(1 - I), b, &out));
    OK(clinalg_array_read(out, CLINALG_PRECISION_COMPLEX_F64, 0, 3, read));
    CHECK(near(read[0], 2 * I * x[0] + (1 - I) * y[0]) && near(read[2], 2 * I * x[2] + (1 - I) * y[2]));
    OK(clinalg_array_scale_complex(a, number(I), &out));
    OK(clinalg_array_conj(out, &out));
    OK(clinalg_array_read(out, CLINALG_PRECISION_COMPLEX_F64, 1, 1, read));
    CHECK(read[0] == 3); /* conj(i (-3 i)) */
    OK(clinalg_array_add(a, b, &out));
    OK(clinalg_array_multiply(a, b, &out));
    OK(clinalg_array_read(out, CLINALG_PRECISION_COMPLEX_F64, 0, 1, read));
    CHECK(near(read[0], x[0] * y[0]));
    OK(clinalg_array_fill_complex(out, number(2 - 3 * I)));
    OK(clinalg_array_sum_complex(out, &result));
    CHECK(plain(result) == 6 - 9 * I);

    OK(clinalg_array_real_part(a, &re));
    OK(clinalg_array_imaginary_part(a, &im));
    OK(clinalg_array_read(im, CLINALG_PRECISION_F64, 0, 3, parts));
    CHECK(parts[0] == 2 && parts[1] == -3 && parts[2] == 0);
    OK(clinalg_array_join_parts(re, im, &joined));
    OK(clinalg_array_read(joined, CLINALG_PRECISION_COMPLEX_F64, 0, 3, read));
    CHECK(memcmp(read, x, 2 * sizeof *x) == 0);
    OK(clinalg_object_release(re));
    OK(clinalg_array_abs(a, &re));
    OK(clinalg_array_read(re, CLINALG_PRECISION_F64, 0, 3, parts));
    CHECK(fabs(parts[0] - sqrt(5)) < 1e-15 && parts[1] == 3);
    OK(clinalg_matrix_conj_transpose(a, &row));
    OK(clinalg_object_get_info(row, &info));
    CHECK(info.rows == 1 && info.cols == 3);

    OK(clinalg_vector_create(CLINALG_PRECISION_COMPLEX_F32, f, 2, &g));
    OK(clinalg_array_read(g, CLINALG_PRECISION_COMPLEX_F32, 0, 2, single));
    CHECK(memcmp(single, f, sizeof f) == 0);
    OK(clinalg_array_convert(g, CLINALG_PRECISION_COMPLEX_F64, &wide));
    OK(clinalg_array_read(wide, CLINALG_PRECISION_COMPLEX_F64, 0, 2, read));
    CHECK(read[0] == 1.5 - 2 * I && read[1] == 3 * I);

    /* Real and complex objects do not mix, and errors say what to use. */
    FAILS(clinalg_array_add(a, im, &out), CLINALG_STATUS_VALUE);
    CHECK(strstr(clinalg_last_error_message(), "complex") != NULL);
    FAILS(clinalg_array_add(a, g, &out), CLINALG_STATUS_PRECISION);
    FAILS(clinalg_array_read(a, CLINALG_PRECISION_F64, 0, 3, parts), CLINALG_STATUS_VALUE);
    FAILS(clinalg_array_dot(a, b, &norm), CLINALG_STATUS_VALUE);
    CHECK(strstr(clinalg_last_error_message(), "dot_complex") != NULL);
    FAILS(clinalg_array_sum(a, &norm), CLINALG_STATUS_VALUE);
    CHECK(strstr(clinalg_last_error_message(), "sum_complex") != NULL);
    FAILS(clinalg_array_convert(a, CLINALG_PRECISION_F64, &joined), CLINALG_STATUS_VALUE);
    FAILS(clinalg_array_scale_complex(im, number(I), &im), CLINALG_STATUS_VALUE);
    FAILS(clinalg_vector_create(4, x, 3, &out), CLINALG_STATUS_VALUE);
    FAILS(clinalg_array_dot_complex(a, b, NULL), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_matrix_mv_complex(3, number(1), a, b, number(0), &out), CLINALG_STATUS_VALUE);

    OK(clinalg_object_release(a));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(out));
    OK(clinalg_object_release(re));
    OK(clinalg_object_release(im));
    OK(clinalg_object_release(joined));
    OK(clinalg_object_release(g));
    OK(clinalg_object_release(wide));
    OK(clinalg_object_release(row));
}

static void products(void)
{
    /* [1+i 2; 0 -i; 3 1] by columns, and its entries by rows. */
    const double complex full[6] = {1 + I, 0, 3, 2, -I, 1};
    const double complex x[2] = {2 - I, 1 + 3 * I}, y[3] = {I, 2, 1 - I};
    const size_t offsets[4] = {0, 2, 3, 5}, columns[5] = {0, 1, 1, 0, 1};
    const double complex entries[5] = {1 + I, 2, -I, 3, 1};
    double complex read[3];
    size_t starts[3], rows[5], count = 5;
    double complex values[5];
    clinalg_handle a[3] = {0, 0, 0}, hx = 0, hy = 0, column = 0;
    int k;

    OK(clinalg_dense_create(CLINALG_PRECISION_COMPLEX_F64, 3, 2, full, &a[0]));
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_COMPLEX_F64, 3, 2, offsets, columns, entries, &a[1]));
    OK(clinalg_band_create(CLINALG_PRECISION_COMPLEX_F64, 3, 2, 2, 1, full, &a[2]));
    OK(clinalg_vector_create(CLINALG_PRECISION_COMPLEX_F64, x, 2, &hx));
    OK(clinalg_vector_create(CLINALG_PRECISION_COMPLEX_F64, y, 3, &hy));
    for (k = 0; k < 3; ++k) {
        clinalg_handle out = 0;
        OK(clinalg_matrix_mv(1.0, a[k], hx, 0.0, &out));
        OK(clinalg_array_read(out, CLINALG_PRECISION_COMPLEX_F64, 0, 3, read));
        CHECK(near(read[0], (1 + I) * x[0] + 2 * x[1]) && near(read[1], -I * x[1]) && near(read[2], 3 * x[0] + x[1]));
        OK(clinalg_matrix_mv_complex(CLINALG_TRANSPOSE_NO, number(I), a[k], hx, number(2), &out));
        OK(clinalg_array_read(out, CLINALG_PRECISION_COMPLEX_F64, 1, 1, read));
        CHECK(near(read[0], (I + 2) * -I * x[1]));
        OK(clinalg_object_release(out));
        if (k < 2) {
            out = 0;
            OK(clinalg_matrix_mv_complex(CLINALG_TRANSPOSE_CONJUGATE, number(1), a[k], hy, number(0), &out));
            OK(clinalg_array_read(out, CLINALG_PRECISION_COMPLEX_F64, 0, 2, read));
            CHECK(near(read[0], (1 - I) * y[0] + 3 * y[2]) && near(read[1], 2 * y[0] + I * y[1] + y[2]));
            OK(clinalg_matrix_mv_transposed(1.0, a[k], hy, 0.0, &out));
            OK(clinalg_array_read(out, CLINALG_PRECISION_COMPLEX_F64, 0, 2, read));
            CHECK(near(read[0], (1 + I) * y[0] + 3 * y[2]) && near(read[1], 2 * y[0] - I * y[1] + y[2]));
            OK(clinalg_object_release(out));
        }
    }
    OK(clinalg_dense_create(CLINALG_PRECISION_COMPLEX_F64, 2, 1, x, &column));
    {
        clinalg_handle out = 0;
        OK(clinalg_matrix_mm_complex(number(-I), a[1], column, number(0), &out));
        OK(clinalg_array_read(out, CLINALG_PRECISION_COMPLEX_F64, 2, 1, read));
        CHECK(near(read[0], -I * (3 * x[0] + x[1])));
        OK(clinalg_object_release(out));
    }
    OK(clinalg_sparse_read(a[1], CLINALG_PRECISION_COMPLEX_F64, starts, rows, values, &count));
    CHECK(count == 5 && starts[1] == 2 && rows[1] == 2 && values[0] == 1 + I && values[3] == -I);
    FAILS(clinalg_sparse_read(a[1], CLINALG_PRECISION_F64, starts, rows, values, &count), CLINALG_STATUS_VALUE);
    for (k = 0; k < 3; ++k) {
        OK(clinalg_object_release(a[k]));
    }
    OK(clinalg_object_release(hx));
    OK(clinalg_object_release(hy));
    OK(clinalg_object_release(column));
}

/* A Hermitian positive definite matrix: 4 on the diagonal, -1 + i/2 above, -1 - i/2 below. */
static double complex entry(size_t i, size_t j)
{
    return i == j ? 4 : i + 1 == j ? -1 + 0.5 * I : j + 1 == i ? -1 - 0.5 * I : 0;
}

static void systems(void)
{
    static const uint32_t methods[] = {CLINALG_METHOD_CG, CLINALG_METHOD_BICGSTAB, CLINALG_METHOD_GMRES};
    static const uint32_t factorisations[] = {CLINALG_FACTORISATION_LU, CLINALG_FACTORISATION_CHOLESKY,
                                              CLINALG_FACTORISATION_QR};
    double complex full[N * N], values[3 * N], solution[N], right[N], read[N];
    size_t offsets[N + 1] = {0}, columns[3 * N], count = 0, i, j;
    clinalg_handle dense = 0, sparse = 0, b = 0, real = 0;
    clinalg_solver_options options;
    clinalg_report report;

    for (i = 0; i < N; ++i) {
        solution[i] = (double)i - 2 + (1 - 0.25 * (double)i) * I;
    }
    for (i = 0; i < N; ++i) {
        right[i] = 0;
        for (j = 0; j < N; ++j) {
            full[j * N + i] = entry(i, j);
            right[i] += entry(i, j) * solution[j];
            if (entry(i, j) != 0) {
                columns[count] = j;
                values[count++] = entry(i, j);
            }
        }
        offsets[i + 1] = count;
    }
    OK(clinalg_dense_create(CLINALG_PRECISION_COMPLEX_F64, N, N, full, &dense));
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_COMPLEX_F64, N, N, offsets, columns, values, &sparse));
    OK(clinalg_vector_create(CLINALG_PRECISION_COMPLEX_F64, right, N, &b));
    OK(clinalg_solver_options_default(&options, sizeof options));
    for (i = 0; i < 3; ++i) {
        clinalg_handle x = 0;
        options.method = methods[i];
        OK(clinalg_system_solve(&options, sparse, b, &x, &report, NULL, 0));
        CHECK(report.stop == CLINALG_STOP_CONVERGED && report.relative_residual <= 1e-10);
        OK(clinalg_array_read(x, CLINALG_PRECISION_COMPLEX_F64, 0, N, read));
        for (j = 0; j < N; ++j) {
            CHECK(cabs(read[j] - solution[j]) < 1e-8);
        }
        OK(clinalg_object_release(x));
        x = 0;
        OK(clinalg_dense_solve(factorisations[i], dense, b, &x));
        OK(clinalg_array_read(x, CLINALG_PRECISION_COMPLEX_F64, 0, N, read));
        for (j = 0; j < N; ++j) {
            CHECK(near(read[j], solution[j]));
        }
        OK(clinalg_object_release(x));
    }
    {
        clinalg_handle x = 0;
        clinalg_sparse_solve_report direct;
        OK(clinalg_sparse_solve(sparse, b, 1, &x, &direct));
        CHECK(direct.backward_error < 1e-15 && direct.entries >= (size_t)count && direct.replaced_pivots == 0);
        OK(clinalg_array_read(x, CLINALG_PRECISION_COMPLEX_F64, 0, N, read));
        for (j = 0; j < N; ++j) {
            CHECK(near(read[j], solution[j]));
        }
        OK(clinalg_object_release(x));
        FAILS(clinalg_sparse_solve(dense, b, 0, &x, NULL), CLINALG_STATUS_HANDLE_KIND);
        FAILS(clinalg_sparse_solve(sparse, b, 0, NULL, NULL), CLINALG_STATUS_NULL_POINTER);
    }
    OK(clinalg_array_zeros(CLINALG_PRECISION_F64, N, N, &real));
    {
        clinalg_handle x = 0;
        clinalg_poisson_options poisson;
        clinalg_wave_options wave;
        FAILS(clinalg_dense_solve(CLINALG_FACTORISATION_LU, real, b, &x), CLINALG_STATUS_VALUE);
        FAILS(clinalg_dense_solve(4, dense, b, &x), CLINALG_STATUS_VALUE);
        FAILS(clinalg_dense_solve(CLINALG_FACTORISATION_LU, sparse, b, &x), CLINALG_STATUS_HANDLE_KIND);
        FAILS(clinalg_dense_solve(CLINALG_FACTORISATION_LU, dense, b, NULL), CLINALG_STATUS_NULL_POINTER);
        OK(poisson_options(2, N, &poisson));
        FAILS(solve_poisson(&poisson, b, &x, NULL), CLINALG_STATUS_VALUE);
        poisson.precision = CLINALG_PRECISION_COMPLEX_F64;
        FAILS(clinalg_poisson_create(&poisson, &x), CLINALG_STATUS_VALUE);
        OK(clinalg_wave_options_default(&wave, sizeof wave));
        wave.precision = CLINALG_PRECISION_COMPLEX_F64;
        FAILS(clinalg_wave_create(&wave, &x), CLINALG_STATUS_VALUE);
        CHECK(strstr(clinalg_last_error_message(), "CLINALG_PRECISION_F64") != NULL);
        FAILS(clinalg_multigrid_jacobi(b, b, &x, 1, 0.8), CLINALG_STATUS_VALUE);
        CHECK(x == 0);
    }
    OK(clinalg_object_release(real));
    OK(clinalg_object_release(dense));
    OK(clinalg_object_release(sparse));
    OK(clinalg_object_release(b));
}

/* Algebraic multigrid for A = D L D^H, where L is the matrix of the 5-point Laplacian on SIDE by SIDE points and D is diagonal with smooth phases, so
   that A is Hermitian positive definite with entries that are not real. */
static void multigrid(void)
{
    enum { SIDE = 48, SIZE = SIDE * SIDE };
    static size_t offsets[SIZE + 1], columns[5 * SIZE];
    static double complex values[5 * SIZE], phase[SIZE], solution[SIZE], right[SIZE], read[SIZE];
    static const int dx[5] = {-1, 0, 0, 0, 1}, dy[5] = {0, -1, 0, 1, 0};
    size_t count = 0, plain = 0, level;
    int i, j, k;
    clinalg_handle a = 0, b = 0, near_null = 0, m = 0, twice = 0, single = 0;
    clinalg_solver_options options;
    clinalg_amg_options amg;
    clinalg_amg_report hierarchy;
    clinalg_amg_level levels[4];
    clinalg_preconditioner_report info;
    clinalg_report report;
    double factor;

    for (k = 0; k < SIZE; ++k) {
        const double angle = 0.01 * (k / SIDE) + 0.02 * sin(0.1 * (k % SIDE));
        phase[k] = cos(angle) + I * sin(angle);
        solution[k] = (double)(7 * k % 11) - 5 + ((double)(3 * k % 13) - 6) * I;
    }
    for (i = 0; i < SIDE; ++i) {
        for (j = 0; j < SIDE; ++j) {
            const int own = i * SIDE + j;
            right[own] = 0;
            for (k = 0; k < 5; ++k) {
                const int row = i + dx[k], column = j + dy[k], other = row * SIDE + column;
                if (row < 0 || column < 0 || row >= SIDE || column >= SIDE) continue;
                columns[count] = (size_t)other;
                values[count] = other == own ? 4 : -phase[own] * conj(phase[other]);
                right[own] += values[count++] * solution[other];
            }
            offsets[own + 1] = count;
        }
    }
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_COMPLEX_F64, SIZE, SIZE, offsets, columns, values, &a));
    OK(clinalg_vector_create(CLINALG_PRECISION_COMPLEX_F64, right, SIZE, &b));
    OK(clinalg_vector_create(CLINALG_PRECISION_COMPLEX_F64, phase, SIZE, &near_null));

    /* By object, with the null vector of D L D^H without its boundary; levels, what is known of it, new values. */
    OK(clinalg_amg_options_default(&amg, sizeof amg));
    amg.reusable = 1;
    OK(clinalg_amg_create(&amg, a, near_null, &m));
    OK(clinalg_amg_info(m, &hierarchy, levels, 4));
    CHECK(hierarchy.levels >= 2 && hierarchy.coarsening == CLINALG_AMG_COARSENING_AGGREGATION);
    CHECK(levels[0].rows == SIZE && levels[0].entries == count && levels[1].rows < SIZE / 4);
    OK(clinalg_preconditioner_info(m, &info));
    CHECK(info.kind == CLINALG_PRECONDITIONER_AMG && info.rows == SIZE && info.entries > count);
    OK(clinalg_amg_convergence_factor(m, a, &factor));
    CHECK(factor > 0 && factor < 0.5);
    OK(clinalg_sparse_add(number(1), a, number(1), a, &twice));
    OK(clinalg_amg_refill(m, twice));
    OK(clinalg_amg_convergence_factor(m, twice, &factor));
    CHECK(factor > 0 && factor < 0.5);
    OK(clinalg_amg_refill(m, a));

    for (i = 0; i < 6; ++i) {
        clinalg_handle x = 0;
        OK(clinalg_solver_options_default(&options, sizeof options));
        options.max_iterations = 500;
        switch (i) {
        case 0: break;
        case 1: options.preconditioner = CLINALG_PRECONDITIONER_AMG; break;
        case 2: options.inverse = m; break;
        case 3: OK(clinalg_solver_options_parse("cg,amg,tol=1e-10", &options)); break;
        case 4: OK(clinalg_solver_options_parse("bicgstab,amg,tol=1e-10", &options)); break;
        default: OK(clinalg_solver_options_parse("gmres,amg,tol=1e-10", &options)); break;
        }
        OK(clinalg_system_solve(&options, a, b, &x, &report, NULL, 0));
        CHECK(report.stop == CLINALG_STOP_CONVERGED && report.relative_residual <= 1e-10);
        OK(clinalg_array_read(x, CLINALG_PRECISION_COMPLEX_F64, 0, SIZE, read));
        /* The condition number is about 1000. */
        for (k = 0; k < SIZE; ++k) CHECK(cabs(read[k] - solution[k]) < 1e-5);
        if (i == 0) plain = report.iterations;
        CHECK(i == 0 || 5 * report.iterations < plain);
        OK(clinalg_object_release(x));
    }
    {
        clinalg_handle solver = 0, x = 0;
        OK(clinalg_solver_options_default(&options, sizeof options));
        options.preconditioner = CLINALG_PRECONDITIONER_AMG;
        OK(clinalg_solver_create(&options, a, &solver));
        OK(clinalg_solver_solve(solver, b, &x, NULL, NULL, &report, NULL, 0));
        CHECK(report.stop == CLINALG_STOP_CONVERGED && 5 * report.iterations < plain);
        OK(clinalg_object_release(x));
        OK(clinalg_object_release(solver));
    }
    OK(clinalg_object_release(m));

    /* What complex matrices do not have. */
    m = 0;
    OK(clinalg_amg_options_default(&amg, sizeof amg));
    amg.coarsening = CLINALG_AMG_COARSENING_CLASSICAL;
    FAILS(clinalg_amg_create(&amg, a, 0, &m), CLINALG_STATUS_VALUE);
    CHECK(strstr(clinalg_last_error_message(), "auto or aggregation for a complex matrix") != NULL);
    OK(clinalg_amg_options_default(&amg, sizeof amg));
    amg.smoother = CLINALG_AMG_SMOOTHER_GAUSS_SEIDEL;
    FAILS(clinalg_amg_create(&amg, a, 0, &m), CLINALG_STATUS_VALUE);
    CHECK(strstr(clinalg_last_error_message(), "spai0 for a complex matrix") != NULL);
    OK(clinalg_amg_options_default(&amg, sizeof amg));
    OK(clinalg_array_convert(near_null, CLINALG_PRECISION_COMPLEX_F32, &single));
    FAILS(clinalg_amg_create(&amg, a, single, &m), CLINALG_STATUS_PRECISION);
    CHECK(m == 0);
    for (level = 0; level < 5; ++level) {
        const clinalg_handle objects[5] = {a, b, near_null, twice, single};
        OK(clinalg_object_release(objects[level]));
    }
}

static void files(void)
{
    static const char name[] = "complex.mtx";
    double complex read[4];
    clinalg_handle a = 0;
    FILE *file = fopen(name, "w");
    CHECK(file != NULL);
    fputs("%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 -3\n4 0\n", file);
    fclose(file);
    OK(clinalg_matrix_market_read(name, CLINALG_PRECISION_COMPLEX_F64, &a));
    OK(clinalg_array_read(a, CLINALG_PRECISION_COMPLEX_F64, 0, 4, read));
    CHECK(read[1] == 2 - 3 * I && read[2] == 2 + 3 * I && read[3] == 4);
    OK(clinalg_object_release(a));
    FAILS(clinalg_matrix_market_read(name, CLINALG_PRECISION_F64, &a), CLINALG_STATUS_VALUE);
    remove(name);
}

int main(void)
{
    vectors();
    products();
    systems();
    multigrid();
    files();
    clinalg_shutdown();
    if (failures == 0) {
        puts("passed");
    }
    return failures != 0;
}
