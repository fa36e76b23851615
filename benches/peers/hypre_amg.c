/* hypre's BoomerAMG as a preconditioner of conjugate gradients on a GPU, for benches/amg.py.
 *
 *     cmake -S hypre/src -B hypre-build -DHYPRE_ENABLE_CUDA=ON -DHYPRE_ENABLE_MPI=OFF -DHYPRE_ENABLE_DEVICE_MALLOC_ASYNC=ON \
 *           -DHYPRE_ENABLE_UMPIRE=OFF -DBUILD_SHARED_LIBS=ON -DCMAKE_INSTALL_PREFIX=$PWD/installed \
 *           -DCMAKE_CUDA_ARCHITECTURES=90 -DCMAKE_BUILD_TYPE=Release
 *     cmake --build hypre-build -j --target install
 *     gcc -O2 -I installed/include -I $CUDA/include benches/peers/hypre_amg.c -o hypre_amg -L installed/lib -L $CUDA/lib64 \
 *         -lHYPRE -lcusparse -lcurand -lcublas -lcusolver -lcudart -lm -lstdc++
 *     ./hypre_amg PREFIX
 *
 * The example `amg` writes PREFIX.offsets, PREFIX.columns and PREFIX.values with --dump. Relative residual 1e-8, random right-hand side; the
 * usual settings for GPUs, three runs each. Prints one JSON object per line; the best run after the first counts.
 */
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "HYPRE.h"
#include "HYPRE_IJ_mv.h"
#include "HYPRE_krylov.h"
#include "HYPRE_parcsr_ls.h"

#ifndef MPI_COMM_WORLD
#define MPI_COMM_WORLD 0
#endif

static void check(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "hypre_amg: %s\n", what);
        exit(1);
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

static void *on_device(const void *data, size_t size)
{
    void *device = NULL;
    check(cudaMalloc(&device, size) == cudaSuccess, "no memory on the device");
    check(cudaMemcpy(device, data, size, cudaMemcpyHostToDevice) == cudaSuccess, "no copy to the device");
    return device;
}

static double now(void)
{
    struct timespec t;
    cudaDeviceSynchronize();
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct setting {
    const char *name;
    int relax, aggressive, interpolation;
    double strong;
};

int main(int argc, char **argv)
{
    check(argc == 2, "usage: hypre_amg PREFIX");
    size_t size;
    long long *offsets = bytes_of(argv[1], "offsets", &size);
    const int rows = (int)(size / sizeof *offsets - 1);
    long long *wide = bytes_of(argv[1], "columns", &size);
    const size_t nnz = size / sizeof *wide;
    double *values = bytes_of(argv[1], "values", &size);
    check(size == nnz * sizeof *values && nnz < 2000000000, "a file has another length");
    int *columns = malloc(nnz * sizeof *columns), *counts = malloc(rows * sizeof *counts), *numbers = malloc(rows * sizeof *numbers);
    double *right = malloc(rows * sizeof *right);
    check(columns && counts && numbers && right, "no memory");
    for (size_t k = 0; k < nnz; ++k) {
        columns[k] = (int)wide[k];
    }
    srand(1);
    for (int i = 0; i < rows; ++i) {
        counts[i] = (int)(offsets[i + 1] - offsets[i]);
        numbers[i] = i;
        right[i] = 2.0 * rand() / RAND_MAX - 1.0;
    }

    HYPRE_Initialize();
    HYPRE_DeviceInitialize();
    HYPRE_SetMemoryLocation(HYPRE_MEMORY_DEVICE);
    HYPRE_SetExecutionPolicy(HYPRE_EXEC_DEVICE);

    int *d_counts = on_device(counts, rows * sizeof *counts), *d_numbers = on_device(numbers, rows * sizeof *numbers);
    int *d_columns = on_device(columns, nnz * sizeof *columns);
    double *d_values = on_device(values, nnz * sizeof *values), *d_right = on_device(right, rows * sizeof *right);
    HYPRE_IJMatrix ij;
    HYPRE_IJMatrixCreate(MPI_COMM_WORLD, 0, rows - 1, 0, rows - 1, &ij);
    HYPRE_IJMatrixSetObjectType(ij, HYPRE_PARCSR);
    HYPRE_IJMatrixInitialize_v2(ij, HYPRE_MEMORY_DEVICE);
    HYPRE_IJMatrixSetValues(ij, rows, d_counts, d_numbers, d_columns, d_values);
    HYPRE_IJMatrixAssemble(ij);
    HYPRE_ParCSRMatrix a;
    HYPRE_IJMatrixGetObject(ij, (void **)&a);
    HYPRE_ParVector vectors[2];
    HYPRE_IJVector ijs[2];
    for (int k = 0; k < 2; ++k) {
        HYPRE_IJVectorCreate(MPI_COMM_WORLD, 0, rows - 1, &ijs[k]);
        HYPRE_IJVectorSetObjectType(ijs[k], HYPRE_PARCSR);
        HYPRE_IJVectorInitialize_v2(ijs[k], HYPRE_MEMORY_DEVICE);
        HYPRE_IJVectorSetValues(ijs[k], rows, d_numbers, d_right);
        HYPRE_IJVectorAssemble(ijs[k]);
        HYPRE_IJVectorGetObject(ijs[k], (void **)&vectors[k]);
    }
    check(HYPRE_GetError() == 0, "hypre could not take the matrix");

    /* Relaxation 18: l1-Jacobi, 7: Jacobi, 16: Chebyshev. Interpolation 6: extended+i, 17: extended+i by matrix products. */
    const struct setting settings[] = {
        {"l1-Jacobi", 18, 0, 6, 0.25},
        {"l1-Jacobi, one aggressive level", 18, 1, 6, 0.25},
        {"Chebyshev", 16, 0, 6, 0.25},
        {"Chebyshev, one aggressive level", 16, 1, 6, 0.25},
        {"l1-Jacobi, threshold 0.5", 18, 0, 6, 0.5},
    };
    for (size_t s = 0; s < sizeof settings / sizeof *settings; ++s) {
        for (int run = 0; run < 3; ++run) {
            const struct setting *set = &settings[s];
            HYPRE_ClearAllErrors();
            HYPRE_ParVectorSetConstantValues(vectors[1], 0.0);
            HYPRE_Solver amg, cg;
            double start = now();
            HYPRE_BoomerAMGCreate(&amg);
            HYPRE_BoomerAMGSetCoarsenType(amg, 8);
            HYPRE_BoomerAMGSetInterpType(amg, set->interpolation);
            HYPRE_BoomerAMGSetPMaxElmts(amg, 4);
            HYPRE_BoomerAMGSetRelaxType(amg, set->relax);
            HYPRE_BoomerAMGSetRelaxOrder(amg, 0);
            HYPRE_BoomerAMGSetAggNumLevels(amg, set->aggressive);
            HYPRE_BoomerAMGSetAggInterpType(amg, 7);
            HYPRE_BoomerAMGSetStrongThreshold(amg, set->strong);
            HYPRE_BoomerAMGSetKeepTranspose(amg, 1);
            HYPRE_BoomerAMGSetRAP2(amg, 0);
            HYPRE_BoomerAMGSetTol(amg, 0.0);
            HYPRE_BoomerAMGSetMaxIter(amg, 1);
            HYPRE_BoomerAMGSetPrintLevel(amg, 0);
            HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &cg);
            HYPRE_PCGSetTol(cg, 1e-8);
            HYPRE_PCGSetMaxIter(cg, 500);
            HYPRE_PCGSetTwoNorm(cg, 1);
            HYPRE_PCGSetPrecond(cg, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSolve, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSetup, amg);
            HYPRE_ParCSRPCGSetup(cg, a, vectors[0], vectors[1]);
            double middle = now();
            HYPRE_ParCSRPCGSolve(cg, a, vectors[0], vectors[1]);
            double end = now();
            HYPRE_Int iterations;
            HYPRE_Real residual;
            HYPRE_PCGGetNumIterations(cg, &iterations);
            HYPRE_PCGGetFinalRelativeResidualNorm(cg, &residual);
            printf("{\"peer\": \"hypre %s\", \"setting\": \"%s\", \"run\": %d, \"rows\": %d, \"set_up\": %.6f, \"solve\": %.6f, "
                   "\"iterations\": %d, \"residual\": %.3e, \"error\": %d}\n",
                   HYPRE_RELEASE_VERSION, set->name, run, rows, middle - start, end - middle, (int)iterations, (double)residual,
                   (int)HYPRE_GetError());
            fflush(stdout);
            HYPRE_ParCSRPCGDestroy(cg);
            HYPRE_BoomerAMGDestroy(amg);
        }
    }
    for (int k = 0; k < 2; ++k) {
        HYPRE_IJVectorDestroy(ijs[k]);
    }
    HYPRE_IJMatrixDestroy(ij);
    HYPRE_Finalize();
    return 0;
}
