/* The factors of A = [4 1 0; 2 5 1; 0 1 3], made once: A x = (5, 8, 4)' and A' x = (6, 7, 4)' have the solution (1, 1, 1)', and det A = 50. */

#include <clinalg.h>

#include <stdio.h>

static int failed(const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", what, clinalg_last_error_id(), clinalg_last_error_message());
    return 1;
}

int main(void)
{
    const double entries[9] = {4, 2, 0, 1, 5, 1, 0, 1, 3}; /* by columns */
    const double right[2][3] = {{5, 8, 4}, {6, 7, 4}};
    const uint32_t forms[2] = {CLINALG_TRANSPOSE_NO, CLINALG_TRANSPOSE_YES};
    double x[3];
    clinalg_complex determinant;
    clinalg_handle a, factors, b;
    int k;

    if (clinalg_dense_create(CLINALG_PRECISION_F64, 3, 3, entries, &a)) return failed("matrix");
    if (clinalg_factorisation_create(CLINALG_FACTORISATION_LU, a, &factors)) return failed("factors");
    clinalg_object_release(a); /* the factors keep nothing of it */

    for (k = 0; k < 2; ++k) {
        if (clinalg_vector_create(CLINALG_PRECISION_F64, right[k], 3, &b)) return failed("right-hand side");
        /* The solution takes the place of b. */
        if (clinalg_factorisation_solve(factors, forms[k], b, &b)) return failed("solve");
        if (clinalg_array_read(b, CLINALG_PRECISION_F64, 0, 3, x)) return failed("read");
        printf("%.12g %.12g %.12g\n", x[0], x[1], x[2]);
        clinalg_object_release(b);
    }
    if (clinalg_factorisation_determinant(factors, &determinant)) return failed("determinant");
    printf("determinant %.12g\n", determinant.re);
    clinalg_object_release(factors);
    return 0;
}
