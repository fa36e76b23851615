// Solves A x = b for a matrix from a MatrixMarket file and b = A (1, ..., 1)'.
//
//   system A.mtx

#include <clinalg.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

int main(int argc, char **argv) try {
    if (argc != 2) {
        std::fprintf(stderr, "usage: system A.mtx\n");
        return 2;
    }
    const clinalg::Object a = clinalg::read_matrix_market<double>(argv[1]);
    const clinalg_object_info info = a.info();
    const clinalg::Object ones = clinalg::vector(std::vector<double>(info.cols, 1.0));
    clinalg::Object b, x;
    clinalg::check(clinalg_mv(1.0, a.get(), ones.get(), 0.0, b.out()));

    clinalg_solve_params params;
    clinalg::check(clinalg_solve_params_default(&params));
    params.preconditioner = CLINALG_PRECONDITIONER_JACOBI;
    clinalg_report report;
    clinalg::check(clinalg_solve(&params, a.get(), b.get(), x.out(), &report, nullptr, 0));

    double error = 0;
    for (double value : clinalg::gather<double>(x)) error = std::max(error, std::fabs(value - 1));
    std::printf("%zu x %zu, %zu entries: %zu iterations, relative residual %.2e, largest error %.2e\n", info.rows,
                info.cols, info.entries, report.iterations, report.relative_residual, error);
    return report.stop == CLINALG_STOP_CONVERGED || report.stop == CLINALG_STOP_ROUNDING_FLOOR ? 0 : 1;
} catch (const clinalg::Error &error) {
    std::fprintf(stderr, "%s: %s\n", error.id().c_str(), error.what());
    return 2;
}
