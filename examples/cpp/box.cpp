// -0.0025 Laplace u + u = 0 on the unit cube with u = 1 at x = 0, u = 0 at x = 1 and insulated on the other sides: a boundary
// layer of width 0.05, u = sinh((1 - x) / 0.05) / sinh(1 / 0.05). The intervals along x grow with the distance from it.

#include <clinalg.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

static clinalg_stop layer(std::size_t n) {
    const double width = 0.05;
    clinalg::PoissonOptions options({n, 5, 4});
    for (std::size_t i = 0; i < n; ++i) options.coordinates[0].push_back(std::pow(double(i) / (n - 1), 2));
    for (int axis = 1; axis < 3; ++axis)
        options.sides[axis][0] = options.sides[axis][1] = CLINALG_CONDITION_NEUMANN;
    std::fill_n(options.diffusion, 3, width * width);
    options.shift = 1;
    clinalg::Poisson poisson(options);
    poisson.set_side(0, false, std::vector<double>(5 * 4, 1.0));

    const std::vector<double> f(n * 5 * 4);
    std::vector<double> u;
    const clinalg::PoissonReport report = poisson.solve(f, u);

    double error = 0;
    for (std::size_t k = 0; k < u.size(); ++k)
        error = std::max(error, std::fabs(u[k] - std::sinh((1 - options.coordinates[0][k % n]) / width) / std::sinh(1 / width)));
    std::printf("%zu points along x: %zu cycles, largest error %.3e\n", n, report.iterations, error);
    return report.stop;
}

int main() try {
    return layer(41) == CLINALG_STOP_CONVERGED && layer(81) == CLINALG_STOP_CONVERGED ? 0 : 1;
} catch (const clinalg::Error &error) {
    std::fprintf(stderr, "%s: %s\n", error.id().c_str(), error.what());
    return 2;
}
