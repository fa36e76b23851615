// Solves -Laplace u = 2 pi^2 sin(pi x) sin(pi y) on the unit square by multigrid and compares with
// u = sin(pi x) sin(pi y).
//
//   poisson [N]      N = 2^k + 1 points per side, 513 by default

#include <clinalg.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv) try {
    const std::size_t n = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 513;
    const double pi = std::acos(-1.0), h = 1.0 / (n - 1);
    std::vector<double> exact(n * n), f(n * n);
    for (std::size_t j = 0; j < n; ++j)
        for (std::size_t i = 0; i < n; ++i) {
            exact[j * n + i] = std::sin(pi * i * h) * std::sin(pi * j * h);
            f[j * n + i] = 2 * pi * pi * exact[j * n + i];
        }

    clinalg::Object right = clinalg::vector(f), u;
    clinalg_poisson_params params;
    clinalg::check(clinalg_poisson_params_default(&params));
    params.tolerance = 1e-9;
    clinalg_report report;
    clinalg::check(clinalg_poisson(&params, right.get(), u.out(), &report, nullptr, 0));

    const std::vector<double> solution = clinalg::gather<double>(u);
    double error = 0;
    for (std::size_t k = 0; k < n * n; ++k) error = std::max(error, std::fabs(solution[k] - exact[k]));
    std::printf("N = %zu: %zu cycles, relative residual %.2e, largest error %.3e\n", n, report.iterations,
                report.relative_residual, error);
    return report.stop == CLINALG_STOP_CONVERGED ? 0 : 1;
} catch (const clinalg::Error &error) {
    std::fprintf(stderr, "%s: %s\n", error.id().c_str(), error.what());
    return 2;
}
