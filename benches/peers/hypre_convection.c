/* hypre's BoomerAMG with BiCGStab and GMRES(30) on processor cores, for benches/convection.py.
 *
 *     mpicc -O2 -I INCLUDE/hypre benches/peers/hypre_convection.c -o hypre_convection -L LIB -lHYPRE -lm
 *     mpirun -n 2 ./hypre_convection PREFIX
 *
 * Debian's packages are libhypre-dev and libopenmpi-dev. Reads PREFIX.offsets and PREFIX.columns (64-bit integers), PREFIX.values and PREFIX.rhs
 * (doubles). Relative residual 1e-8. Prints one JSON object per setting.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "HYPRE.h"
#include "HYPRE_IJ_mv.h"
#include "HYPRE_krylov.h"
#include "HYPRE_parcsr_ls.h"

static void check(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "hypre_convection: %s\n", what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void *bytes_of(const char *prefix, const char *end, size_t *size)
{
    char name[4096];
    snprintf(name, sizeof name, "%s.%s", prefix, end);
    FILE *file = fopen(name, "rb");
    check(file != NULL, name);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    void *data = malloc(*size);
    check(data != NULL && fread(data, 1, *size, file) == *size, name);
    fclose(file);
    return data;
}

struct setting {
    const char *name;
    /* Relaxation before and after the coarser level. */
    int down, up;
    double strong;
    /* 0: the transpose of the interpolation, 1: approximate ideal restriction (AIR) of distance 1. */
    int restriction;
    int gmres;
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check(argc == 2, "usage: hypre_convection PREFIX");
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    size_t size;
    long long *offsets = bytes_of(argv[1], "offsets", &size);
    const long long n = (long long)(size / sizeof *offsets) - 1;
    long long *wide = bytes_of(argv[1], "columns", &size);
    double *values = bytes_of(argv[1], "values", &size), *right = bytes_of(argv[1], "rhs", &size);
    const int first = (int)(n * rank / ranks), end = (int)(n * (rank + 1) / ranks), rows = end - first;
    const long long from = offsets[first], nnz = offsets[end] - from;
    int *columns = malloc(nnz * sizeof *columns), *counts = malloc(rows * sizeof *counts), *numbers = malloc(rows * sizeof *numbers);
    check(columns && counts && numbers, "no memory");
    for (long long k = 0; k < nnz; ++k) {
        columns[k] = (int)wide[from + k];
    }
    for (int i = 0; i < rows; ++i) {
        counts[i] = (int)(offsets[first + i + 1] - offsets[first + i]);
        numbers[i] = first + i;
    }
    HYPRE_Init();
    HYPRE_IJMatrix ij;
    HYPRE_IJMatrixCreate(MPI_COMM_WORLD, first, end - 1, first, end - 1, &ij);
    HYPRE_IJMatrixSetObjectType(ij, HYPRE_PARCSR);
    HYPRE_IJMatrixInitialize(ij);
    HYPRE_IJMatrixSetValues(ij, rows, counts, numbers, columns, values + from);
    HYPRE_IJMatrixAssemble(ij);
    HYPRE_ParCSRMatrix a;
    HYPRE_IJMatrixGetObject(ij, (void **)&a);
    HYPRE_ParVector vectors[3];
    HYPRE_IJVector ijs[3];
    for (int k = 0; k < 3; ++k) {
        HYPRE_IJVectorCreate(MPI_COMM_WORLD, first, end - 1, &ijs[k]);
        HYPRE_IJVectorSetObjectType(ijs[k], HYPRE_PARCSR);
        HYPRE_IJVectorInitialize(ijs[k]);
        HYPRE_IJVectorSetValues(ijs[k], rows, numbers, right + first);
        HYPRE_IJVectorAssemble(ijs[k]);
        HYPRE_IJVectorGetObject(ijs[k], (void **)&vectors[k]);
    }
    HYPRE_ParVector b = vectors[0], x = vectors[1], r = vectors[2];
    check(HYPRE_GetError() == 0, "hypre could not take the matrix");

    /* Relaxation 0: Jacobi, 3 and 4: Gauss-Seidel forwards and backwards, 13 and 14: the same, l1-scaled, 18: l1-Jacobi. */
    const struct setting settings[] = {
        {"Gauss-Seidel, BiCGStab", 3, 4, 0.25, 0, 0},
        {"l1-Jacobi, BiCGStab", 18, 18, 0.25, 0, 0},
        {"l1-Gauss-Seidel, threshold 0.5, GMRES(30)", 13, 14, 0.5, 0, 1},
        {"AIR, GMRES(30)", 3, 3, 0.25, 1, 1},
    };
    for (size_t s = 0; s < sizeof settings / sizeof *settings; ++s) {
        const struct setting *set = &settings[s];
        HYPRE_ClearAllErrors();
        HYPRE_ParVectorSetConstantValues(x, 0.0);
        HYPRE_Solver amg, krylov;
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        HYPRE_BoomerAMGCreate(&amg);
        HYPRE_BoomerAMGSetCoarsenType(amg, 8);
        HYPRE_BoomerAMGSetInterpType(amg, set->restriction ? 100 : 6);
        HYPRE_BoomerAMGSetPMaxElmts(amg, 4);
        if (set->restriction) {
            HYPRE_BoomerAMGSetRestriction(amg, 1);
            HYPRE_BoomerAMGSetStrongThresholdR(amg, 0.25);
        }
        HYPRE_BoomerAMGSetCycleRelaxType(amg, set->down, 1);
        HYPRE_BoomerAMGSetCycleRelaxType(amg, set->up, 2);
        HYPRE_BoomerAMGSetCycleRelaxType(amg, 9, 3);
        HYPRE_BoomerAMGSetRelaxOrder(amg, 0);
        HYPRE_BoomerAMGSetStrongThreshold(amg, set->strong);
        HYPRE_BoomerAMGSetMaxIter(amg, 1);
        HYPRE_BoomerAMGSetTol(amg, 0.0);
        HYPRE_BoomerAMGSetPrintLevel(amg, 0);
        if (set->gmres) {
            HYPRE_ParCSRGMRESCreate(MPI_COMM_WORLD, &krylov);
            HYPRE_GMRESSetKDim(krylov, 30);
            HYPRE_GMRESSetTol(krylov, 1e-8);
            HYPRE_GMRESSetMaxIter(krylov, 500);
            HYPRE_GMRESSetPrecond(krylov, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSolve, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSetup, amg);
            HYPRE_ParCSRGMRESSetup(krylov, a, b, x);
        } else {
            HYPRE_ParCSRBiCGSTABCreate(MPI_COMM_WORLD, &krylov);
            HYPRE_BiCGSTABSetTol(krylov, 1e-8);
            HYPRE_BiCGSTABSetMaxIter(krylov, 500);
            HYPRE_BiCGSTABSetPrecond(krylov, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSolve, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSetup, amg);
            HYPRE_ParCSRBiCGSTABSetup(krylov, a, b, x);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        double set_up = MPI_Wtime() - start;
        start = MPI_Wtime();
        int iterations;
        if (set->gmres) {
            HYPRE_ParCSRGMRESSolve(krylov, a, b, x);
            HYPRE_GMRESGetNumIterations(krylov, &iterations);
        } else {
            HYPRE_ParCSRBiCGSTABSolve(krylov, a, b, x);
            HYPRE_BiCGSTABGetNumIterations(krylov, &iterations);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        double solve = MPI_Wtime() - start, rr, bb;
        HYPRE_ParVectorCopy(b, r);
        HYPRE_ParCSRMatrixMatvec(-1.0, a, x, 1.0, r);
        HYPRE_ParVectorInnerProd(r, r, &rr);
        HYPRE_ParVectorInnerProd(b, b, &bb);
        const double residual = sqrt(rr / bb);
        if (rank == 0) {
            printf("{\"peer\": \"hypre %s\", \"setting\": \"%s\", \"ranks\": %d, \"seconds_setup\": %.4f, \"seconds_solve\": %.4f, "
                   "\"iterations\": %d, \"relative_residual\": %.3e, \"converged\": %s}\n",
                   HYPRE_RELEASE_VERSION, set->name, ranks, set_up, solve, iterations, isfinite(residual) ? residual : 1e99, residual <= 2e-8 ? "true" : "false");
            fflush(stdout);
        }
        if (set->gmres) {
            HYPRE_ParCSRGMRESDestroy(krylov);
        } else {
            HYPRE_ParCSRBiCGSTABDestroy(krylov);
        }
        HYPRE_BoomerAMGDestroy(amg);
    }
    HYPRE_Finalize();
    MPI_Finalize();
    return 0;
}
