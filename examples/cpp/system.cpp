// Solves A x = b for a matrix from a MatrixMarket file and b = A (1, ..., 1)'.
//
//   system A.mtx

#include <clinalg.hpp>

#include <cstdio>

int main(int argc, char **argv) try {
    if (argc != 2) {
        std::fprintf(stderr, "usage: system A.mtx\n");
        return 2;
    }
    const clinalg::Csr a(clinalg::read_matrix_market<double>(argv[1]));
    const clinalg::Vector ones = clinalg::vector(std::vector<double>(a.cols(), 1.0)), b = a * ones;
    clinalg::Vector x;
    const clinalg::Report report =
        clinalg::solve(a, b, x, clinalg::SolverOptions(CLINALG_METHOD_CG, CLINALG_PRECONDITIONER_JACOBI));

    std::printf("%zu x %zu, %zu entries: %zu iterations, relative residual %.2e, largest error %.2e\n", a.rows(), a.cols(),
                a.size(), report.iterations, report.relative_residual, norm_inf(x - ones));
    return report.converged() || report.stop == CLINALG_STOP_ROUNDING_FLOOR ? 0 : 1;
} catch (const clinalg::Error &error) {
    std::fprintf(stderr, "%s: %s\n", error.id().c_str(), error.what());
    return 2;
}
