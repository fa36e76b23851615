// The steady temperatures of a plate that is heated at one of several points: -Laplace u = f on the unit square, u = 0 on its boundary, by
// five-point differences. All right-hand sides are solved for in one call, and in a call each.
//
//   columns [intervals] [sources]      128 intervals per side and 8 sources by default

#include <clinalg.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv) try {
    const std::size_t side = (argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 128) - 1, sources = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 8;
    const std::size_t n = side * side;
    std::vector<std::size_t> rows, columns;
    std::vector<double> values;
    const auto add = [&](std::size_t row, std::size_t column, double value) {
        rows.push_back(row);
        columns.push_back(column);
        values.push_back(value);
    };
    for (std::size_t p = 0; p < n; ++p) {
        add(p, p, 4);
        if (p % side > 0) add(p, p - 1, -1);
        if (p % side + 1 < side) add(p, p + 1, -1);
        if (p >= side) add(p, p - side, -1);
        if (p + side < n) add(p, p + side, -1);
    }
    const clinalg::Csr a = clinalg::coo(n, n, rows, columns, values);

    // Column k is heated at one point of a diagonal.
    std::vector<double> heat(n * sources);
    for (std::size_t k = 0; k < sources; ++k) heat[k * n + (k + 1) * side / (sources + 1) * (side + 1)] = 1;
    clinalg::SolverOptions options(CLINALG_METHOD_CG, CLINALG_PRECONDITIONER_IC);
    options.tolerance = 1e-8;
    options.max_iterations = 2000;
    clinalg::Dense together;
    const clinalg::Report report = clinalg::solve(a, clinalg::dense(n, sources, heat), together, options);
    std::printf("%zu unknowns, %zu right-hand sides in one call: %zu iterations of the one with the largest residual\n", n, sources, report.iterations);

    const std::vector<double> u = together.gather<double>();
    std::size_t iterations = 0;
    double difference = 0;
    for (std::size_t k = 0; k < sources; ++k) {
        clinalg::Vector x;
        const std::vector<double> b(heat.begin() + k * n, heat.begin() + (k + 1) * n);
        iterations += clinalg::solve(a, clinalg::vector(b), x, options).iterations;
        difference = std::max(difference, norm_inf(x - clinalg::vector(std::vector<double>(u.begin() + k * n, u.begin() + (k + 1) * n))));
    }
    std::printf("in a call each: %zu iterations in all, largest difference %.1e\n", iterations, difference);
    return report.converged() ? 0 : 1;
} catch (const clinalg::Error &error) {
    std::fprintf(stderr, "%s: %s\n", error.id().c_str(), error.what());
    return 2;
}
