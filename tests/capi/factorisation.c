/* Factors of dense matrices that are made once, triangles, inverses, determinants and products with transposes, against numbers by hand and against
 * the products of the solutions. */

#include "check.h"

#include <math.h>
#include <string.h>

enum { N = 70, COLUMNS = 3 };

static const uint32_t AS_IT_IS = CLINALG_TRANSPOSE_NO, TRANSPOSED = CLINALG_TRANSPOSE_YES,
                      CONJUGATED = CLINALG_TRANSPOSE_CONJUGATE;
static const clinalg_complex ONE = {1, 0}, NOTHING = {0, 0};

/* Values without a pattern, between -1 and 1. */
static double value(size_t k)
{
    return sin(12.9898 * (double)(k + 1) + 0.37 * (double)(k % 17));
}

static clinalg_handle dense(size_t rows, size_t cols, double diagonal)
{
    static double values[N * N];
    clinalg_handle made = 0;
    size_t i, j;
    for (j = 0; j < cols; ++j) {
        for (i = 0; i < rows; ++i) values[j * rows + i] = value(j * rows + i) + (i == j ? diagonal : 0);
    }
    OK(clinalg_dense_create(CLINALG_PRECISION_F64, rows, cols, values, &made));
    return made;
}

static double norm_of_difference(clinalg_handle a, clinalg_handle b)
{
    clinalg_handle difference = 0;
    double norm = NAN;
    OK(clinalg_array_subtract(a, b, &difference));
    OK(clinalg_array_norm_inf(difference, &norm));
    OK(clinalg_object_release(difference));
    return norm;
}

/* |op(A) X - B| for the solution by `factors`, into a new object and in the place of b. */
static double residual(clinalg_handle a, clinalg_handle factors, uint32_t op, clinalg_handle b)
{
    clinalg_handle x = 0, product = 0, place = 0;
    double norm;
    OK(clinalg_factorisation_solve(factors, op, b, &x));
    OK(clinalg_array_copy(b, &place));
    OK(clinalg_factorisation_solve(factors, op, place, &place));
    CHECK(norm_of_difference(x, place) == 0);
    OK(clinalg_matrix_multiply(op, AS_IT_IS, ONE, a, x, NOTHING, &product));
    norm = norm_of_difference(product, b);
    OK(clinalg_object_release(x));
    OK(clinalg_object_release(place));
    OK(clinalg_object_release(product));
    return norm;
}

static void squares(void)
{
    const clinalg_handle a = dense(N, N, 12), negative = dense(N, N, -4), b = dense(N, COLUMNS, 0);
    clinalg_handle lu = 0, cholesky = 0, symmetric = 0, inverse = 0, product = 0, first = 0, second = 0, column = 0, x = 0;
    clinalg_complex determinant = {0, 0}, other = {0, 0};
    clinalg_object_info info;
    static double values[N];
    static double l[N * N], u[N * N], full[N * N];
    size_t rows[N], i, j, k;
    double condition = 0, from_inverse = 0, off = 0;

    OK(clinalg_factorisation_create(CLINALG_FACTORISATION_LU, a, &lu));
    OK(clinalg_object_get_info(lu, &info));
    CHECK(info.kind == CLINALG_KIND_FACTORISATION && info.rows == N && info.cols == N && info.precision == CLINALG_PRECISION_F64);
    CHECK(residual(a, lu, AS_IT_IS, b) < 1e-12);
    CHECK(residual(a, lu, TRANSPOSED, b) < 1e-12);
    CHECK(residual(a, lu, CONJUGATED, b) < 1e-12);

    /* L U are the rows of A in this order. */
    OK(clinalg_factorisation_factors(lu, &first, &second, rows, N));
    OK(clinalg_array_read(first, CLINALG_PRECISION_F64, 0, N * N, l));
    OK(clinalg_array_read(second, CLINALG_PRECISION_F64, 0, N * N, u));
    OK(clinalg_array_read(a, CLINALG_PRECISION_F64, 0, N * N, full));
    for (i = 0; i < N; ++i) {
        for (j = 0; j < N; ++j) {
            double sum = 0;
            for (k = 0; k < N; ++k) sum += l[k * N + i] * u[j * N + k];
            off = fmax(off, fabs(sum - full[j * N + rows[i]]));
        }
    }
    CHECK(off < 1e-13);
    FAILS(clinalg_factorisation_factors(lu, &first, &second, rows, N - 1), CLINALG_STATUS_LENGTH);
    OK(clinalg_object_release(first));
    OK(clinalg_object_release(second));

    /* A vector as right-hand side. */
    for (i = 0; i < N; ++i) values[i] = value(7 * i);
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, values, N, &column));
    OK(clinalg_factorisation_solve(lu, AS_IT_IS, column, &x));
    OK(clinalg_object_get_info(x, &info));
    CHECK(info.kind == CLINALG_KIND_VECTOR && info.rows == N);
    OK(clinalg_matrix_mv(1, a, x, 0, &product));
    CHECK(norm_of_difference(product, column) < 1e-12);
    FAILS(clinalg_factorisation_solve(lu, AS_IT_IS, b, &x), CLINALG_STATUS_SHAPE);
    OK(clinalg_object_release(product));

    /* Inverse, determinant and condition number from the factors and at once. */
    OK(clinalg_factorisation_inverse(lu, &inverse));
    product = 0;
    OK(clinalg_matrix_mv(1, inverse, column, 0, &product));
    CHECK(norm_of_difference(product, x) < 1e-12);
    OK(clinalg_object_release(inverse));
    OK(clinalg_dense_inverse(a, &inverse, &from_inverse));
    OK(clinalg_factorisation_condition(lu, &condition));
    CHECK(condition == from_inverse && condition > 1e-5 && condition < 1);
    OK(clinalg_factorisation_determinant(lu, &determinant));
    OK(clinalg_dense_determinant(a, &other));
    CHECK(determinant.re == other.re && determinant.im == 0 && determinant.re != 0);

    /* A' A is positive definite; its determinant is the square. */
    OK(clinalg_matrix_multiply(TRANSPOSED, AS_IT_IS, ONE, a, a, NOTHING, &symmetric));
    OK(clinalg_factorisation_create(CLINALG_FACTORISATION_CHOLESKY, symmetric, &cholesky));
    CHECK(residual(symmetric, cholesky, AS_IT_IS, b) < 1e-9 && residual(symmetric, cholesky, TRANSPOSED, b) < 1e-9);
    OK(clinalg_factorisation_determinant(cholesky, &other));
    CHECK(fabs(other.re / (determinant.re * determinant.re) - 1) < 1e-10);
    OK(clinalg_factorisation_factors(cholesky, &first, &second, NULL, 0));
    CHECK(second == 0);
    OK(clinalg_object_release(product));
    product = 0;
    OK(clinalg_matrix_multiply(AS_IT_IS, TRANSPOSED, ONE, first, first, NOTHING, &product));
    CHECK(norm_of_difference(product, symmetric) < 1e-11);
    FAILS(clinalg_factorisation_condition(cholesky, &condition), CLINALG_STATUS_VALUE);
    FAILS(clinalg_factorisation_create(CLINALG_FACTORISATION_CHOLESKY, negative, &second), CLINALG_STATUS_NOT_POSITIVE_DEFINITE);

    OK(clinalg_object_release(first));
    OK(clinalg_object_release(negative));
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(lu));
    OK(clinalg_object_release(cholesky));
    OK(clinalg_object_release(symmetric));
    OK(clinalg_object_release(inverse));
    OK(clinalg_object_release(product));
    OK(clinalg_object_release(column));
    OK(clinalg_object_release(x));
}

/* The residual of least squares is orthogonal to the columns. */
static void least_squares(void)
{
    const clinalg_handle a = dense(N, 20, 3), b = dense(N, COLUMNS, 0);
    clinalg_handle qr = 0, x = 0, q = 0, r = 0, product = 0;
    clinalg_complex determinant;
    clinalg_object_info info;
    double norm = 1;
    const clinalg_complex minus = {-1, 0};
    OK(clinalg_factorisation_create(CLINALG_FACTORISATION_QR, a, &qr));
    OK(clinalg_factorisation_solve(qr, AS_IT_IS, b, &x));
    OK(clinalg_object_get_info(x, &info));
    CHECK(info.rows == 20 && info.cols == COLUMNS);
    OK(clinalg_array_copy(b, &product));
    OK(clinalg_matrix_multiply(AS_IT_IS, AS_IT_IS, minus, a, x, ONE, &product)); /* b - A x */
    OK(clinalg_matrix_multiply(TRANSPOSED, AS_IT_IS, ONE, a, product, NOTHING, &q));
    OK(clinalg_array_norm_inf(q, &norm));
    CHECK(norm < 1e-12);
    OK(clinalg_object_release(q));
    OK(clinalg_object_release(product));
    OK(clinalg_factorisation_factors(qr, &q, &r, NULL, 0));
    product = 0;
    OK(clinalg_matrix_multiply(AS_IT_IS, AS_IT_IS, ONE, q, r, NOTHING, &product));
    CHECK(norm_of_difference(product, a) < 1e-13);
    FAILS(clinalg_factorisation_solve(qr, TRANSPOSED, b, &x), CLINALG_STATUS_VALUE);
    FAILS(clinalg_factorisation_determinant(qr, &determinant), CLINALG_STATUS_VALUE);
    FAILS(clinalg_factorisation_inverse(qr, &product), CLINALG_STATUS_VALUE);
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(qr));
    OK(clinalg_object_release(x));
    OK(clinalg_object_release(q));
    OK(clinalg_object_release(r));
    OK(clinalg_object_release(product));
}

/* [2 9; 1 4]: its lower triangle is [2 0; 1 4], its upper one [2 9; 0 4]. */
static void triangles(void)
{
    const double entries[4] = {2, 1, 9, 4}, right[2] = {4, 10};
    double x[2];
    clinalg_handle a = 0, b = 0, solution = 0;
    OK(clinalg_dense_create(CLINALG_PRECISION_F64, 2, 2, entries, &a));
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, right, 2, &b));
    OK(clinalg_dense_solve_triangular(CLINALG_TRIANGLE_LOWER, AS_IT_IS, 0, a, b, &solution));
    OK(clinalg_array_read(solution, CLINALG_PRECISION_F64, 0, 2, x));
    CHECK(x[0] == 2 && x[1] == 2);
    OK(clinalg_dense_solve_triangular(CLINALG_TRIANGLE_LOWER, TRANSPOSED, 0, a, b, &solution));
    OK(clinalg_array_read(solution, CLINALG_PRECISION_F64, 0, 2, x));
    CHECK(x[0] == 0.75 && x[1] == 2.5);
    OK(clinalg_dense_solve_triangular(CLINALG_TRIANGLE_UPPER, AS_IT_IS, 1, a, b, &solution));
    OK(clinalg_array_read(solution, CLINALG_PRECISION_F64, 0, 2, x));
    CHECK(x[0] == -86 && x[1] == 10);
    /* In the place of b. */
    OK(clinalg_dense_solve_triangular(CLINALG_TRIANGLE_LOWER, AS_IT_IS, 1, a, b, &b));
    OK(clinalg_array_read(b, CLINALG_PRECISION_F64, 0, 2, x));
    CHECK(x[0] == 4 && x[1] == 6);
    FAILS(clinalg_dense_solve_triangular(2, AS_IT_IS, 0, a, b, &solution), CLINALG_STATUS_VALUE);
    FAILS(clinalg_dense_solve_triangular(CLINALG_TRIANGLE_LOWER, 3, 0, a, b, &solution), CLINALG_STATUS_VALUE);
    FAILS(clinalg_dense_solve_triangular(CLINALG_TRIANGLE_LOWER, AS_IT_IS, 0, a, b, &a), CLINALG_STATUS_VALUE);
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(solution));
}

/* Numbers that are whole: [1 2 3; 4 5 6] full and sparse, with B = [1 0; -1 2]. */
static void products(void)
{
    const double entries[6] = {1, 4, 2, 5, 3, 6}, two[4] = {1, -1, 0, 2}, band[4] = {2, 0, 0, 3};
    const size_t offsets[3] = {0, 3, 6}, columns[6] = {0, 1, 2, 0, 1, 2};
    const double by_rows[6] = {1, 2, 3, 4, 5, 6};
    /* A' B, A' B' and 2 A' B + A' B. */
    const double want[6] = {-3, -3, -3, 8, 10, 12}, turned[6] = {1, 2, 3, 7, 8, 9};
    const clinalg_complex twice = {2, 0}, imaginary = {0, 1};
    double found[6];
    clinalg_handle a[2] = {0, 0}, b = 0, c, diagonal = 0;
    size_t form, k;
    OK(clinalg_dense_create(CLINALG_PRECISION_F64, 2, 3, entries, &a[0]));
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, 2, 3, offsets, columns, by_rows, &a[1]));
    OK(clinalg_dense_create(CLINALG_PRECISION_F64, 2, 2, two, &b));
    for (form = 0; form < 2; ++form) {
        c = 0;
        OK(clinalg_matrix_multiply(TRANSPOSED, AS_IT_IS, ONE, a[form], b, NOTHING, &c));
        OK(clinalg_array_read(c, CLINALG_PRECISION_F64, 0, 6, found));
        for (k = 0; k < 6; ++k) CHECK(found[k] == want[k]);
        OK(clinalg_matrix_multiply(CONJUGATED, AS_IT_IS, twice, a[form], b, ONE, &c));
        OK(clinalg_array_read(c, CLINALG_PRECISION_F64, 0, 6, found));
        for (k = 0; k < 6; ++k) CHECK(found[k] == 3 * want[k]);
        OK(clinalg_matrix_multiply(TRANSPOSED, TRANSPOSED, ONE, a[form], b, NOTHING, &c));
        OK(clinalg_array_read(c, CLINALG_PRECISION_F64, 0, 6, found));
        for (k = 0; k < 6; ++k) CHECK(found[k] == turned[k]);
        FAILS(clinalg_matrix_multiply(AS_IT_IS, AS_IT_IS, ONE, a[form], b, NOTHING, &c), CLINALG_STATUS_SHAPE);
        FAILS(clinalg_matrix_multiply(TRANSPOSED, AS_IT_IS, ONE, a[form], b, NOTHING, &b), CLINALG_STATUS_VALUE);
        FAILS(clinalg_matrix_multiply(TRANSPOSED, AS_IT_IS, imaginary, a[form], b, NOTHING, &c), CLINALG_STATUS_VALUE);
        FAILS(clinalg_matrix_multiply(3, AS_IT_IS, ONE, a[form], b, NOTHING, &c), CLINALG_STATUS_VALUE);
        FAILS(clinalg_matrix_multiply(AS_IT_IS, 3, ONE, a[form], b, NOTHING, &c), CLINALG_STATUS_VALUE);
        OK(clinalg_object_release(c));
    }
    OK(clinalg_band_create(CLINALG_PRECISION_F64, 2, 2, 0, 0, band, &diagonal));
    c = 0;
    OK(clinalg_matrix_multiply(AS_IT_IS, TRANSPOSED, ONE, diagonal, b, NOTHING, &c)); /* [2 -2; 0 6] */
    OK(clinalg_array_read(c, CLINALG_PRECISION_F64, 0, 4, found));
    CHECK(found[0] == 2 && found[1] == 0 && found[2] == -2 && found[3] == 6);
    FAILS(clinalg_matrix_multiply(TRANSPOSED, AS_IT_IS, ONE, diagonal, b, NOTHING, &c), CLINALG_STATUS_SHAPE);
    OK(clinalg_object_release(c));
    OK(clinalg_object_release(diagonal));
    OK(clinalg_object_release(a[0]));
    OK(clinalg_object_release(a[1]));
    OK(clinalg_object_release(b));
}

/* A = [4 i; -i 3] is Hermitian with determinant 11; A^T x = b and A^H x = b have different solutions for B = [1 i; 0 2]. */
static void complex_numbers(void)
{
    const double hermitian[8] = {4, 0, 0, -1, 0, 1, 3, 0}, other[8] = {1, 0, 0, 0, 0, 1, 2, 0}, right[4] = {1, 0, 0, 1};
    const size_t offsets[3] = {0, 2, 3}, columns[3] = {0, 1, 1};
    const double by_rows[6] = {1, 0, 0, 1, 2, 0};
    double x[4];
    clinalg_handle a = 0, b = 0, c = 0, sparse = 0, factors = 0, solution = 0;
    clinalg_complex determinant = {0, 0};
    OK(clinalg_dense_create(CLINALG_PRECISION_COMPLEX_F64, 2, 2, hermitian, &a));
    OK(clinalg_dense_create(CLINALG_PRECISION_COMPLEX_F64, 2, 2, other, &c));
    OK(clinalg_dense_create(CLINALG_PRECISION_COMPLEX_F64, 2, 1, right, &b));
    OK(clinalg_factorisation_create(CLINALG_FACTORISATION_CHOLESKY, a, &factors));
    OK(clinalg_factorisation_determinant(factors, &determinant));
    CHECK(fabs(determinant.re - 11) < 1e-13 && determinant.im == 0);
    OK(clinalg_factorisation_solve(factors, CONJUGATED, b, &solution));
    OK(clinalg_array_read(solution, CLINALG_PRECISION_COMPLEX_F64, 0, 2, x));
    /* [3 -i; i 4] (1, i)' / 11. */
    CHECK(fabs(x[0] - 4.0 / 11) < 1e-15 && fabs(x[1]) < 1e-15 && fabs(x[2]) < 1e-15 && fabs(x[3] - 5.0 / 11) < 1e-15);
    FAILS(clinalg_factorisation_solve(factors, TRANSPOSED, b, &solution), CLINALG_STATUS_VALUE);
    OK(clinalg_object_release(factors));

    OK(clinalg_factorisation_create(CLINALG_FACTORISATION_LU, c, &factors));
    OK(clinalg_factorisation_solve(factors, TRANSPOSED, b, &solution)); /* [1 0; i 2] x = (1, i)' */
    OK(clinalg_array_read(solution, CLINALG_PRECISION_COMPLEX_F64, 0, 2, x));
    CHECK(x[0] == 1 && x[1] == 0 && x[2] == 0 && x[3] == 0);
    OK(clinalg_factorisation_solve(factors, CONJUGATED, b, &solution)); /* [1 0; -i 2] x = (1, i)' */
    OK(clinalg_array_read(solution, CLINALG_PRECISION_COMPLEX_F64, 0, 2, x));
    CHECK(x[0] == 1 && x[1] == 0 && x[2] == 0 && x[3] == 1);

    /* The sparse matrix is the same: C^H (1, i)' = (1, -i + 2 i)'. */
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_COMPLEX_F64, 2, 2, offsets, columns, by_rows, &sparse));
    OK(clinalg_matrix_multiply(CONJUGATED, AS_IT_IS, ONE, sparse, b, NOTHING, &solution));
    OK(clinalg_array_read(solution, CLINALG_PRECISION_COMPLEX_F64, 0, 2, x));
    CHECK(x[0] == 1 && x[1] == 0 && x[2] == 0 && x[3] == 1);
    /* b^H C^H = (1, -i) [1 0; -i 2] = (0, -2 i). */
    OK(clinalg_object_release(solution));
    solution = 0;
    OK(clinalg_matrix_multiply(CONJUGATED, CONJUGATED, ONE, b, c, NOTHING, &solution));
    OK(clinalg_array_read(solution, CLINALG_PRECISION_COMPLEX_F64, 0, 2, x));
    CHECK(x[0] == 0 && x[1] == 0 && x[2] == 0 && x[3] == -2);
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(c));
    OK(clinalg_object_release(sparse));
    OK(clinalg_object_release(factors));
    OK(clinalg_object_release(solution));
}

static void errors(void)
{
    const double singular[4] = {1, 2, 2, 4}, single[4] = {0, 0, 0, 0};
    clinalg_handle a = 0, b = 0, low = 0, factors = 0, x = 0;
    clinalg_complex determinant = {9, 9};
    double condition = 9;
    OK(clinalg_dense_create(CLINALG_PRECISION_F64, 2, 2, singular, &a));
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, singular, 2, &b));
    OK(clinalg_vector_create(CLINALG_PRECISION_F32, single, 2, &low));
    OK(clinalg_factorisation_create(CLINALG_FACTORISATION_LU, a, &factors));
    FAILS(clinalg_factorisation_solve(factors, AS_IT_IS, b, &x), CLINALG_STATUS_SINGULAR);
    FAILS(clinalg_factorisation_inverse(factors, &x), CLINALG_STATUS_SINGULAR);
    FAILS(clinalg_factorisation_solve(factors, AS_IT_IS, low, &x), CLINALG_STATUS_PRECISION);
    FAILS(clinalg_factorisation_solve(factors, AS_IT_IS, b, NULL), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_factorisation_solve(a, AS_IT_IS, b, &x), CLINALG_STATUS_HANDLE_KIND);
    CHECK(strstr(clinalg_last_error_message(), "factorisation of a matrix") != NULL);
    OK(clinalg_factorisation_determinant(factors, &determinant));
    CHECK(determinant.re == 0 && determinant.im == 0);
    OK(clinalg_factorisation_condition(factors, &condition));
    CHECK(condition == 0);
    FAILS(clinalg_factorisation_create(9, a, &x), CLINALG_STATUS_VALUE);
    FAILS(clinalg_factorisation_create(CLINALG_FACTORISATION_LU, b, &x), CLINALG_STATUS_HANDLE_KIND);
    FAILS(clinalg_factorisation_factors(factors, NULL, &x, NULL, 0), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_matrix_mv(1, factors, b, 0, &x), CLINALG_STATUS_HANDLE_KIND);
    CHECK(x == 0);
    OK(clinalg_object_release(factors));
    FAILS(clinalg_factorisation_solve(factors, AS_IT_IS, b, &x), CLINALG_STATUS_HANDLE_STALE);
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(low));
}

/* A sparse system by a complete factorisation, for a vector and for several columns, and what has none. */
static void sparse_systems(void)
{
    /* [0 2 0; 1 3 0; 0 1 4] and its lower triangle times its transpose. */
    const uint64_t offsets[] = {0, 1, 3, 5}, columns[] = {1, 0, 1, 1, 2};
    const double values[] = {2, 1, 3, 1, 4}, right[] = {2, 4, 5, 4, 8, 10};
    const double laplacian[] = {2, -1, -1, 2, -1, -1, 2}, singular[] = {1, -1, -1, 2, -1, -1, 1};
    /* Its determinant is -1 and its trace 1: one eigenvalue is negative. */
    const double indefinite[] = {0, 1, 1, 0, 1, 1, 1};
    const uint64_t rows[] = {0, 2, 5, 7}, of_rows[] = {0, 1, 0, 1, 2, 1, 2};
    const double sums[] = {1, 0, 1};
    clinalg_sparse_solve_report report;
    clinalg_complex determinant = {0, 0};
    double condition = 0;
    clinalg_handle factors = 0, twice = 0;
    clinalg_preconditioner_options options;
    clinalg_preconditioner_report info;
    clinalg_handle a = 0, b = 0, several = 0, x = 0, m = 0;
    double read[6];
    size_t i;
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, 3, 3, offsets, columns, values, &a));
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, right, 3, &b));
    OK(clinalg_dense_create(CLINALG_PRECISION_F64, 3, 2, right, &several));
    OK(clinalg_sparse_solve(a, b, 0, &x, &report));
    OK(clinalg_array_read(x, CLINALG_PRECISION_F64, 0, 3, read));
    for (i = 0; i < 3; ++i) CHECK(read[i] == 1);
    CHECK(report.is_cholesky == 0 && report.is_matched != 0 && report.backward_error < 1e-15 && report.operations >= 0);
    OK(clinalg_object_release(x));
    OK(clinalg_sparse_solve(a, several, 0, &x, NULL));
    OK(clinalg_array_read(x, CLINALG_PRECISION_F64, 0, 6, read));
    for (i = 0; i < 6; ++i) CHECK(read[i] == (i < 3 ? 1 : 2));
    OK(clinalg_object_release(x));
    /* Factors that are kept, with the transpose, and with new values. */
    OK(clinalg_factorisation_create(CLINALG_FACTORISATION_AUTO, a, &factors));
    OK(clinalg_factorisation_get_report(factors, &report));
    CHECK(report.is_cholesky == 0 && report.is_matched != 0 && isnan(report.backward_error));
    CHECK(residual(a, factors, AS_IT_IS, several) < 1e-14 && residual(a, factors, TRANSPOSED, several) < 1e-14);
    OK(clinalg_factorisation_get_report(factors, &report));
    CHECK(report.backward_error < 1e-15);
    OK(clinalg_factorisation_determinant(factors, &determinant));
    OK(clinalg_factorisation_condition(factors, &condition));
    CHECK(fabs(determinant.re + 8) < 1e-13 && determinant.im == 0 && condition > 0.01 && condition <= 1);
    OK(clinalg_array_scale(a, 2, &twice));
    OK(clinalg_factorisation_refactor(factors, twice));
    CHECK(residual(twice, factors, AS_IT_IS, several) < 1e-14);
    FAILS(clinalg_factorisation_refactor(factors, several), CLINALG_STATUS_HANDLE_KIND);
    FAILS(clinalg_factorisation_inverse(factors, &x), CLINALG_STATUS_VALUE);
    FAILS(clinalg_factorisation_factors(factors, &x, &m, NULL, 0), CLINALG_STATUS_VALUE);
    FAILS(clinalg_factorisation_create(CLINALG_FACTORISATION_QR, a, &x), CLINALG_STATUS_VALUE);
    OK(clinalg_object_release(twice));
    OK(clinalg_object_release(factors));
    /* A product with their inverse. */
    OK(clinalg_preconditioner_options_default(&options, sizeof options));
    options.kind = CLINALG_PRECONDITIONER_LU;
    OK(clinalg_preconditioner_create(&options, a, &m));
    OK(clinalg_preconditioner_info(m, &info));
    CHECK(info.kind == CLINALG_PRECONDITIONER_LU && info.rows == 3 && info.is_matched != 0);
    x = 0;
    OK(clinalg_matrix_mv(1, m, b, 0, &x));
    OK(clinalg_array_read(x, CLINALG_PRECISION_F64, 0, 3, read));
    for (i = 0; i < 3; ++i) CHECK(fabs(read[i] - 1) < 1e-15);
    OK(clinalg_object_release(x));
    OK(clinalg_object_release(m));
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(b));
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, 3, 3, rows, of_rows, laplacian, &a));
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, sums, 3, &b));
    OK(clinalg_sparse_solve(a, b, 1, &x, &report));
    CHECK(report.is_cholesky != 0 && report.backward_error < 1e-15 && report.has_inertia != 0 && report.positive_eigenvalues == 3);
    OK(clinalg_object_release(x));
    OK(clinalg_object_release(a));
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, 3, 3, rows, of_rows, indefinite, &a));
    OK(clinalg_factorisation_create(CLINALG_FACTORISATION_LDL, a, &factors));
    CHECK(residual(a, factors, AS_IT_IS, several) < 1e-14 && residual(a, factors, TRANSPOSED, several) < 1e-14);
    OK(clinalg_factorisation_get_report(factors, &report));
    CHECK(report.is_ldl != 0 && report.is_cholesky == 0 && report.backward_error < 1e-15 && report.has_inertia != 0);
    CHECK(report.positive_eigenvalues == 2 && report.negative_eigenvalues == 1 && report.zero_eigenvalues == 0);
    OK(clinalg_factorisation_determinant(factors, &determinant));
    CHECK(fabs(determinant.re + 1) < 1e-14);
    OK(clinalg_object_release(factors));
    OK(clinalg_factorisation_create(CLINALG_FACTORISATION_LU, a, &factors));
    OK(clinalg_factorisation_get_report(factors, &report));
    CHECK(report.is_ldl == 0 && report.has_inertia == 0 && report.positive_eigenvalues == 0);
    OK(clinalg_object_release(factors));
    FAILS(clinalg_factorisation_create(CLINALG_FACTORISATION_LDL, several, &x), CLINALG_STATUS_VALUE);
    OK(clinalg_object_release(a));
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, 3, 3, rows, of_rows, singular, &a));
    FAILS(clinalg_sparse_solve(a, b, 0, &x, NULL), CLINALG_STATUS_VALUE);
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(several));
}

int main(void)
{
    clinalg_memory_report memory;
    squares();
    least_squares();
    triangles();
    products();
    complex_numbers();
    sparse_systems();
    errors();
    OK(clinalg_device_finish());
    OK(clinalg_device_memory(&memory));
    CHECK(memory.live_bytes == 0);
    OK(clinalg_shutdown());
    if (failures == 0) puts("passed");
    return failures != 0;
}
