// AMGCL on a CUDA device: conjugate gradients with smoothed aggregation and SPAI-0 for the 5-point Poisson problem.
//
//     nvcc -O3 -std=c++17 -DAMGCL_NO_BOOST -I path/to/amgcl benches/peers/amgcl_poisson.cu -lcusparse -o amgcl_poisson
//     ./amgcl_poisson 1025 4097      # points per side, boundary included; one JSON object a line
//
// Random right-hand side, relative residual 1e-10. Seconds of the solve are of `runs` solves from zero after one that is not
// counted. The set-up runs on the host.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <tuple>
#include <vector>

#include <amgcl/adapter/crs_tuple.hpp>
#include <amgcl/amg.hpp>
#include <amgcl/backend/cuda.hpp>
#include <amgcl/coarsening/smoothed_aggregation.hpp>
#include <amgcl/make_solver.hpp>
#include <amgcl/relaxation/spai0.hpp>
#include <amgcl/solver/cg.hpp>

using Backend = amgcl::backend::cuda<double>;
using Preconditioner = amgcl::amg<Backend, amgcl::coarsening::smoothed_aggregation, amgcl::relaxation::spai0>;
using Solver = amgcl::make_solver<Preconditioner, amgcl::solver::cg<Backend>>;

static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static void poisson(int points, int runs) {
    const int side = points - 2;
    const long rows = static_cast<long>(side) * side;
    const double scale = static_cast<double>(points - 1) * (points - 1);
    std::vector<int> offsets{0}, columns;
    std::vector<double> values;
    for (int j = 0; j < side; ++j) {
        for (int i = 0; i < side; ++i) {
            const int row = j * side + i;
            auto entry = [&](bool inside, int column, double value) {
                if (inside) {
                    columns.push_back(column);
                    values.push_back(value);
                }
            };
            entry(j > 0, row - side, -scale);
            entry(i > 0, row - 1, -scale);
            entry(true, row, 4 * scale);
            entry(i + 1 < side, row + 1, -scale);
            entry(j + 1 < side, row + side, -scale);
            offsets.push_back(static_cast<int>(columns.size()));
        }
    }
    std::mt19937_64 engine(1);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<double> right(rows);
    for (double &value : right) value = uniform(engine);

    Backend::params backend;
    cusparseCreate(&backend.cusparse_handle);
    Solver::params parameters;
    parameters.solver.tol = 1e-10;
    parameters.solver.maxiter = 500;
    double start = now();
    Solver solve(std::tie(rows, offsets, columns, values), parameters, backend);
    cudaDeviceSynchronize();
    const double setup = now() - start;

    thrust::device_vector<double> f(right), x(rows);
    size_t iterations = 0;
    double residual = 0;
    std::printf("{\"n\": %d, \"unknowns\": %ld, \"seconds_setup\": %.6g, \"seconds\": [", points, rows, setup);
    for (int run = -1; run < runs; ++run) {
        thrust::fill(x.begin(), x.end(), 0.0);
        cudaDeviceSynchronize();
        start = now();
        std::tie(iterations, residual) = solve(f, x);
        cudaDeviceSynchronize();
        if (run >= 0) std::printf("%s%.6g", run ? ", " : "", now() - start);
    }
    std::printf("], \"iterations\": %zu, \"relative_residual\": %.3g}\n", iterations, residual);
    std::fflush(stdout);
    cusparseDestroy(backend.cusparse_handle);
}

int main(int count, char **arguments) {
    for (int k = 1; k < count; ++k) poisson(std::atoi(arguments[k]), 7);
}
