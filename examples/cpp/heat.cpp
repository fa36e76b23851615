// The heat equation outside a tetrahedron by boundary elements: solves V q = b on the surface with operator preconditioning and by one
// pass through time.

#include <clinalg.hpp>

#include <cstdio>

int main() try {
    const std::vector<double> nodes = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    const std::vector<std::uint32_t> triangles = {0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2};
    clinalg::HeatOptions options;
    options.steps = 8;
    const clinalg::HeatOperator v(options, CLINALG_HEAT_KIND_V, nodes, triangles);
    const clinalg::Vector b = v * clinalg::vector(std::vector<double>(v.cols(), 1.0));

    const clinalg::Operator m = v.operator_preconditioner(), inverse = v.forward_inverse();
    clinalg::Vector q;
    const clinalg::Report report = clinalg::solve(v, b, q, clinalg::SolverOptions(CLINALG_METHOD_GMRES, m));
    std::printf("%zu iterations, difference %.1e\n", report.iterations, norm_inf(q - inverse * b));
    return report.converged() ? 0 : 1;
} catch (const clinalg::Error &error) {
    std::fprintf(stderr, "%s: %s\n", error.id().c_str(), error.what());
    return 2;
}
