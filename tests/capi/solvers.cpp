// Solvers made once, saddle points and waves in C++.

#include <clinalg.hpp>

#include <cmath>
#include <cstdio>
#include <stdexcept>

static int failures = 0;

static void expect(bool condition, const char *what) {
    if (condition) return;
    std::fprintf(stderr, "failed: %s\n", what);
    ++failures;
}

// Second differences with s on the diagonal.
static clinalg::Csr differences(std::size_t n, double s) {
    std::vector<std::size_t> offsets{0}, columns;
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i) {
        if (i > 0) columns.push_back(i - 1), values.push_back(-1);
        columns.push_back(i), values.push_back(s);
        if (i + 1 < n) columns.push_back(i + 1), values.push_back(-1);
        offsets.push_back(columns.size());
    }
    return clinalg::csr(n, n, offsets, columns, values);
}

static void solvers() {
    const std::size_t n = 50;
    clinalg::Csr a = differences(n, 2);
    clinalg::Solver solver(a, clinalg::SolverOptions(CLINALG_METHOD_CG, CLINALG_PRECONDITIONER_IC));
    expect(solver.size() == n, "the number of equations");
    const clinalg::Vector ones = clinalg::vector(std::vector<double>(n, 1.0));
    clinalg::Vector x;
    // -u'' = 1: u_i = (i + 1) (n - i) / 2.
    expect(solver.solve(ones, x).converged(), "it converges");
    const std::vector<double> found = x.gather<double>();
    double error = 0;
    for (std::size_t i = 0; i < n; ++i) error = std::max(error, std::fabs(found[i] - 0.5 * double(i + 1) * double(n - i)));
    expect(error < 1e-7, "the solution");
    const clinalg::Vector y = a * x;
    expect(norm_inf(y - ones) < 1e-8, "A x = b");

    // Row by row; the matrix is symmetric, so the order by columns is the same.
    std::vector<double> values = a.nonzeros().gather<double>();
    for (double &value : values) value *= 3;
    a.write_values(values);
    solver.refill();
    x.fill(0);
    expect(solver.solve(ones, x).converged() && std::fabs(x.gather<double>()[0] - double(n) / 6) < 1e-7, "new values");
    solver.refill(differences(n, 2));
    x.fill(0);
    expect(solver.solve(ones, x).converged() && std::fabs(x.gather<double>()[0] - double(n) / 2) < 1e-7, "another matrix");

    clinalg::SolverOptions cycles(CLINALG_METHOD_RICHARDSON, CLINALG_PRECONDITIONER_AMG);
    clinalg::Vector z;
    const clinalg::Report direct = clinalg::solve(differences(n, 2), ones, z, cycles);
    expect(direct.converged() && direct.iterate == direct.iterations && std::fabs(z.gather<double>()[0] - double(n) / 2) < 1e-7, "cycles as a solver");

    solver.set_limits(1e-10, 1);
    clinalg::Solver plain(a);
    plain.set_limits(1e-10, 2);
    x.fill(0);
    const clinalg::Report report = plain.solve(ones, x);
    expect(report.stop == CLINALG_STOP_ITERATION_LIMIT && report.history.size() == 3, "the limit of iterations");
    expect(report.iterate <= 2 && report.history[report.iterate] <= report.history[0], "the best iterate");
    try {
        (void)plain.solve(ones, x, [](std::size_t, double) -> bool { throw std::runtime_error("enough"); });
        expect(false, "an exception of the callback arrives");
    } catch (const std::runtime_error &error) {
        expect(error.what() == std::string("enough"), "it is the callback's");
    }
    clinalg::Solver moved = std::move(plain);
    try {
        (void)plain.solve(ones, x);
        expect(false, "an empty solver is an error");
    } catch (const clinalg::Error &error) {
        expect(error.status() == CLINALG_STATUS_HANDLE_FOREIGN, "of its handle");
    }
}

static void automatic_solves() {
    // More rows than are solved without a preconditioner; x = (1, ..., 1)'.
    const std::size_t n = 1200;
    const clinalg::Csr a = differences(n, 2.5);
    const clinalg::Vector b = a * clinalg::vector(std::vector<double>(n, 1.0));
    clinalg::Vector x;
    clinalg::SystemReport report = clinalg::solve_automatic(a, b, x);
    expect(report.converged() && report.columns.size() == 1 && report.columns[0].relative_residual <= 1e-10, "it converges");
    expect(report.method == "conjugate gradients" && !report.preconditioner.empty() && !report.reason.empty(), "what was taken");
    for (double value : x.gather<double>()) expect(std::fabs(value - 1) < 1e-8, "the solution");
    std::vector<double> values = b.gather<double>();
    values.resize(2 * n, 0.0);
    clinalg::Dense columns;
    clinalg::SystemOptions options;
    options.tolerance = 1e-6;
    report = clinalg::solve_automatic(a, clinalg::dense(n, 2, values), columns, options);
    expect(report.columns.size() == 2 && report.converged() && report.columns[1].iterations == 0 && columns.cols() == 2, "two columns");
    options.progress = [](std::size_t, double) -> bool { throw std::runtime_error("enough"); };
    try {
        (void)clinalg::solve_automatic(a, b, x, options);
        expect(false, "an exception of the callback arrives");
    } catch (const std::runtime_error &error) {
        expect(error.what() == std::string("enough"), "it is the callback's");
    }

    report = clinalg::solve_automatic(a, b, x, clinalg::SystemOptions("gmres,jacobi,tol=1e-6"));
    expect(report.method == "GMRES" && report.preconditioner == "Jacobi" && report.converged(), "a method by name");
    const clinalg::SolverOptions named("cg,ic,tol=1e-6");
    expect(named.method == CLINALG_METHOD_CG && named.preconditioner == CLINALG_PRECONDITIONER_IC && named.tolerance == 1e-6, "options by name");
    try {
        const clinalg::SolverOptions unknown("cq");
        expect(false, "an unknown name");
    } catch (const clinalg::Error &error) {
        expect(std::string(error.what()).find("cg, fcg") != std::string::npos, "lists the known ones");
    }

    // A line through (0, 1), (1, 2), (2, 4) by least squares.
    const clinalg::Csr line = clinalg::csr(3, 2, {0, 1, 3, 5}, {0, 0, 1, 0, 1}, std::vector<double>{1, 1, 1, 1, 2});
    const clinalg::Vector points = clinalg::vector(std::vector<double>{1, 2, 4});
    clinalg::Vector y;
    report = clinalg::solve_automatic(line, points, y);
    const std::vector<double> automatic = y.gather<double>();
    expect(report.method == "LSMR" && report.preconditioner.empty() && report.converged(), "least squares");
    clinalg::Vector z;
    const clinalg::SolverOptions lsqr(CLINALG_METHOD_LSQR, CLINALG_PRECONDITIONER_JACOBI);
    expect(clinalg::solve(line, points, z, lsqr).converged(), "LSQR");
    const std::vector<double> found = z.gather<double>();
    for (const std::vector<double> &of : {automatic, found}) {
        expect(of.size() == 2 && std::fabs(of[0] - 5.0 / 6) < 1e-9 && std::fabs(of[1] - 1.5) < 1e-9, "the line");
    }
}

static void saddle_points() {
    // Minimise |x|^2 / 2 with x_1 + x_2 = 2: x = (1, 1, 0), multiplier -1.
    const clinalg::Csr k = clinalg::csr(4, 4, {0, 2, 4, 5, 7}, {0, 3, 1, 3, 2, 0, 1}, std::vector<double>{1, 1, 1, 1, 1, 1, 1});
    clinalg::SaddleOptions options;
    options.second_rows = {3};
    options.mass = {2.0};
    const clinalg::Saddle m(k, options);
    expect(m.report().first_rows == 3 && m.report().schur == CLINALG_SCHUR_MASS, "the blocks");
    clinalg::Vector x;
    const clinalg::Report report =
        clinalg::solve(k, clinalg::vector(std::vector<double>{0, 0, 0, 2}), x, clinalg::SolverOptions(CLINALG_METHOD_MINRES, m));
    const std::vector<double> found = x.gather<double>();
    expect(report.converged() && report.iterations <= 4, "MINRES converges");
    expect(std::fabs(found[0] - 1) < 1e-9 && std::fabs(found[2]) < 1e-9 && std::fabs(found[3] + 1) < 1e-9, "the minimum");
}

static void waves() {
    // cos(pi x) between free ends, in a channel of any width.
    const std::size_t nx = 21, ny = 4;
    clinalg::WaveOptions options({nx, ny});
    for (int axis = 0; axis < 2; ++axis) options.sides[axis][0] = options.sides[axis][1] = CLINALG_WAVE_SIDE_FREE;
    options.speed.assign(nx * ny, 2.0);
    options.dt = 0.5 * options.limit();
    clinalg::Wave wave(options);
    expect(wave.size() == nx * ny, "the number of points");
    const double pi = std::acos(-1.0), h = 1.0 / (nx - 1);
    std::vector<double> start(nx * ny);
    for (std::size_t p = 0; p < start.size(); ++p) start[p] = std::cos(pi * double(p % nx) * h);
    wave.start(clinalg::vector(start));
    const double before = wave.energy().total();
    const clinalg_wave_report report = wave.step(50);
    // The frequency of the scheme.
    const double omega = 2 / options.dt * std::asin(options.dt * 2 / h * std::sin(pi * h / 2));
    const std::vector<double> u = wave.displacement().gather<double>();
    double error = 0;
    for (std::size_t p = 0; p < u.size(); ++p) error = std::max(error, std::fabs(u[p] - std::cos(omega * report.time) * start[p]));
    expect(error < 1e-12 && std::fabs(wave.energy().total() / before - 1) < 1e-12, "a standing wave");
    clinalg::Vector v = clinalg::vector(start);
    wave.velocity(v);
    wave.displacement(v);
    wave.start(clinalg::vector(start), v);
    expect(wave.step(1000000000, [](std::size_t, double) { return false; }).stop == CLINALG_STOP_CANCELLED, "an end by the program");
    try {
        options.speed.pop_back();
        const clinalg::Wave other(options);
        expect(false, "a speed too few");
    } catch (const clinalg::Error &error) {
        expect(std::string(error.what()).find("speed_count") != std::string::npos, "is told");
    }
}

static void heat() {
    // A tetrahedron of area 3 / 2 + sqrt(3) / 2.
    if (std::FILE *file = std::fopen("solvers.off", "w")) {
        std::fputs("OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n", file);
        std::fclose(file);
    }
    const clinalg::HeatMesh mesh = clinalg::HeatMesh::read("solvers.off");
    expect(mesh.nodes.size() == 12 && mesh.triangles.size() == 12, "the surface of the file");
    clinalg::HeatOptions options;
    options.steps = 2;
    const clinalg::HeatOperator k(options, CLINALG_HEAT_KIND_K, mesh);
    const clinalg::Vector u = k.project([](const double *, const double *, double) { return 2.0; });
    expect(u.rows() == 8 && std::fabs(clinalg::sum<double>(u) - 16) < 1e-12, "constants are projected exactly");
    // M u / 2, whose entries add up to the area times the length of time.
    const clinalg::Vector half = k.right_side(u) - k * u;
    expect(std::fabs(clinalg::sum<double>(half) - (1.5 + std::sqrt(0.75))) < 1e-12, "the mass matrix");
    const clinalg::Vector w = clinalg::vector(std::vector<double>(8, 0.0));
    const std::vector<double> inside = k.interior(w, u, {0.2, 0.2, 0.2, 0.3, 0.2, 0.2}, 2), twice = k.interior(w, 2 * u, {0.2, 0.2, 0.2}, 2);
    expect(inside.size() == 4 && twice.size() == 2 && inside[0] > 0, "the temperature inside");
    expect(std::fabs(twice[0] - 2 * inside[0]) < 1e-12 && std::fabs(twice[1] - 2 * inside[2]) < 1e-12, "it is linear, and by time steps");
    try {
        (void)k.project([](const double *, const double *, double) -> double { throw std::runtime_error("no value"); });
        expect(false, "an exception of a boundary function arrives");
    } catch (const std::runtime_error &error) {
        expect(error.what() == std::string("no value"), "it is the function's");
    }
}

int main() try {
    heat();
    solvers();
    automatic_solves();
    saddle_points();
    waves();
    clinalg::shutdown();
    if (failures == 0) std::puts("passed");
    return failures != 0;
} catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
}
