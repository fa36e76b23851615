// Solves -Laplace u = 2 pi^2 sin(pi x) sin(pi y) on the unit square by multigrid and compares with
// u = sin(pi x) sin(pi y).
//
//   poisson [N]      N points per side, 513 by default; 2^k + 1 is fastest

#include <clinalg.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv) try {
    const std::size_t n = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 513;
    const double pi = std::acos(-1.0), h = 1.0 / (n - 1);
    std::vector<double> values(n * n);
    for (std::size_t j = 0; j < n; ++j)
        for (std::size_t i = 0; i < n; ++i) values[j * n + i] = std::sin(pi * i * h) * std::sin(pi * j * h);

    const clinalg::Dense exact = clinalg::dense(n, n, values), f = 2 * pi * pi * exact;
    clinalg::Dense u;
    clinalg::PoissonOptions options({n, n});
    options.tolerance = 1e-9;
    const clinalg::PoissonReport report = clinalg::Poisson(options).solve(f, u);

    std::printf("N = %zu: %zu cycles, relative residual %.2e, largest error %.3e\n", n, report.iterations,
                report.relative_residual, norm_inf(u - exact));
    return report.converged() ? 0 : 1;
} catch (const clinalg::Error &error) {
    std::fprintf(stderr, "%s: %s\n", error.id().c_str(), error.what());
    return 2;
}
