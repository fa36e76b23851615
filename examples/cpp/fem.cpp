// Linear finite elements for -Laplace u = 1 on the unit disc, u = 0 on its boundary: u = (1 - x^2 - y^2) / 4. Triangles of any shape are
// assembled element by element; the system is solved for several right-hand sides with one set-up of algebraic multigrid.
//
//   fem [rings]      60 rings of nodes by default

#include <clinalg.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>

// Node 0 in the centre and 6 r nodes on ring r; those of the last ring are on the boundary.
struct Mesh {
    std::vector<std::array<double, 2>> nodes;
    std::vector<std::array<std::size_t, 3>> triangles;
    std::size_t inner;
};

static Mesh disc(std::size_t rings) {
    const double turn = 2 * std::acos(-1.0);
    Mesh mesh;
    mesh.nodes.push_back({{0, 0}});
    for (std::size_t r = 1; r <= rings; ++r) {
        mesh.inner = mesh.nodes.size();
        for (std::size_t k = 0; k < 6 * r; ++k) {
            const double radius = double(r) / rings, angle = turn * k / (6 * r);
            mesh.nodes.push_back({{radius * std::cos(angle), radius * std::sin(angle)}});
        }
        // Each of six sectors has r edges on this ring and r - 1 on the one inside.
        const std::size_t below = r == 1 ? 0 : 1 + 3 * (r - 1) * (r - 2), here = 1 + 3 * r * (r - 1);
        const std::size_t around = std::max<std::size_t>(1, 6 * (r - 1));
        for (std::size_t sector = 0; sector < 6; ++sector)
            for (std::size_t k = 0; k < r; ++k) {
                const std::size_t a = here + sector * r + k, b = here + (sector * r + k + 1) % (6 * r);
                const std::size_t c = below + (sector * (r - 1) + k) % around;
                mesh.triangles.push_back({{a, b, c}});
                if (k + 1 < r) mesh.triangles.push_back({{b, below + (sector * (r - 1) + k + 1) % around, c}});
            }
    }
    return mesh;
}

int main(int argc, char **argv) try {
    const Mesh mesh = disc(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 60);
    const std::size_t n = mesh.inner;
    std::vector<std::map<std::size_t, double>> rows(n);
    std::vector<double> load(n);
    for (const std::array<std::size_t, 3> &triangle : mesh.triangles) {
        const std::array<double, 2> p = mesh.nodes[triangle[0]], q = mesh.nodes[triangle[1]], r = mesh.nodes[triangle[2]];
        // Gradients of the hat functions, times twice the area.
        const double gx[] = {q[1] - r[1], r[1] - p[1], p[1] - q[1]}, gy[] = {r[0] - q[0], p[0] - r[0], q[0] - p[0]};
        const double area = (gx[0] * gy[1] - gx[1] * gy[0]) / 2;
        for (int i = 0; i < 3; ++i) {
            if (triangle[i] >= n) continue;
            load[triangle[i]] += std::fabs(area) / 3;
            for (int j = 0; j < 3; ++j)
                if (triangle[j] < n) rows[triangle[i]][triangle[j]] += (gx[i] * gx[j] + gy[i] * gy[j]) / (4 * std::fabs(area));
        }
    }
    std::vector<std::size_t> offsets(1, 0), columns;
    std::vector<double> values;
    for (const std::map<std::size_t, double> &row : rows) {
        for (const std::pair<const std::size_t, double> &entry : row) {
            columns.push_back(entry.first);
            values.push_back(entry.second);
        }
        offsets.push_back(columns.size());
    }

    const clinalg::Csr a = clinalg::csr(n, n, offsets, columns, values);
    const clinalg::Amg amg(a);
    const clinalg::SolverOptions options(CLINALG_METHOD_CG, amg);
    bool converged = true;
    for (const double source : {1.0, 2.0, 5.0}) {
        clinalg::Vector u;
        const clinalg::Report report = clinalg::solve(a, source * clinalg::vector(load), u, options);
        const std::vector<double> found = u.gather<double>();
        double error = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const double x = mesh.nodes[i][0], y = mesh.nodes[i][1];
            error = std::max(error, std::fabs(found[i] - source * (1 - x * x - y * y) / 4));
        }
        std::printf("%zu unknowns, source %g: %zu iterations, largest error %.3e\n", n, source, report.iterations, error);
        converged = converged && report.converged();
    }
    return converged ? 0 : 1;
} catch (const clinalg::Error &error) {
    std::fprintf(stderr, "%s: %s\n", error.id().c_str(), error.what());
    return 2;
}
