#include <clinalg.h>

#include <complex.h>
#include <stdio.h>

int main(void)
{
    const double complex values[4] = {4, -I, I, 3}; /* [4 i; -i 3], by columns */
    const double complex right[2] = {1 + 2 * I, -I};
    double complex solution[2];
    clinalg_handle a = 0, b = 0, x = 0;
    clinalg_complex product;

    if (clinalg_dense_create(CLINALG_PRECISION_COMPLEX_F64, 2, 2, values, &a) != CLINALG_STATUS_OK ||
        clinalg_vector_create(CLINALG_PRECISION_COMPLEX_F64, right, 2, &b) != CLINALG_STATUS_OK ||
        clinalg_dense_solve(CLINALG_FACTORISATION_LU, a, b, &x) != CLINALG_STATUS_OK ||
        clinalg_array_dot_complex(b, x, &product) != CLINALG_STATUS_OK || /* sum conj(b) x */
        clinalg_array_read(x, CLINALG_PRECISION_COMPLEX_F64, 0, 2, solution) != CLINALG_STATUS_OK) {
        fprintf(stderr, "%s\n", clinalg_last_error_message());
        return 1;
    }
    printf("x = (%.4f %+.4f i, %.4f %+.4f i), ", creal(solution[0]), cimag(solution[0]), creal(solution[1]),
           cimag(solution[1]));
    printf("b^H A^-1 b = %.4f\n", product.re);
    clinalg_object_release(x);
    clinalg_object_release(b);
    clinalg_object_release(a);
    return 0;
}
