// The classes of clinalg.hpp against closed forms: arrays, sparse algebra, solvers, grids, waves, teams.

#include "check.h"

#include <clinalg.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <type_traits>

namespace {

using namespace clinalg;
typedef std::complex<double> Complex;
typedef std::vector<double> Values;
const double PI = 3.14159265358979323846;

template <class F> clinalg_status thrown(F call)
{
    try {
        call();
    } catch (const Error &error) {
        CHECK(!error.id().empty() && error.what()[0] != 0);
        return error.status();
    }
    return CLINALG_STATUS_OK;
}

template <class F> bool refused(F call)
{
    try {
        call();
    } catch (const std::invalid_argument &) {
        return true;
    }
    return false;
}

// -u'' at n inner points, without the factor 1/h^2; its eigenvalues are 4 sin^2(k pi / (2 n + 2)).
Csr second_difference(std::size_t n)
{
    std::vector<std::size_t> offsets(1, 0), columns;
    Values values;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = i == 0 ? 0 : i - 1; j < std::min(n, i + 2); ++j) {
            columns.push_back(j);
            values.push_back(i == j ? 2 : -1);
        }
        offsets.push_back(columns.size());
    }
    return csr(n, n, offsets, columns, values);
}

void devices_and_memory()
{
    const std::vector<Device> found = devices();
    CHECK(!found.empty() && !found[0].name.empty() && found[0].compute_units > 0 && found[0].index == 0);
    CHECK(version().find('.') != std::string::npos);
    select_device("0");
    CHECK(thrown([] { select_device("no such device"); }) == CLINALG_STATUS_DEVICE_NOT_FOUND);
    const uint64_t before = memory().live_bytes;
    {
        // More than an array that stays in the memory of the host.
        const Dense a = zeros<double>(256, 256);
        finish();
        CHECK(memory().live_bytes >= before + 256 * 256 * sizeof(double));
    }
    CHECK(memory().live_bytes == before);
}

void vectors()
{
    const double raw[] = {3, -4};
    Vector x = vector(raw, 2), y = vector<double>({1, 2});
    CHECK(x.rows() == 2 && x.size() == 2 && x.precision() == CLINALG_PRECISION_F64 && !x.is_complex());
    CHECK((x + y).gather<double>() == Values({4, -2}) && (x - y).gather<double>() == Values({2, -6}));
    CHECK((2 * x).gather<double>() == Values({6, -8}) && (x * 0.5).gather<double>() == Values({1.5, -2}));
    CHECK((-x).gather<double>() == Values({-3, 4}) && multiply(x, y).gather<double>() == Values({3, -8}));
    CHECK(norm(x) == 5 && norm1(x) == 7 && norm_inf(x) == 4 && sum<double>(x) == -1 && dot<double>(x, y) == -5);
    CHECK(dot(x, y) == Complex(-5) && sum(x) == Complex(-1));
    y += x;
    y -= 2 * x;
    y *= 3;
    CHECK(y.gather<double>() == Values({-6, 18}));
    axpby(2, x, 1, y, y);
    CHECK(y.gather<double>() == Values({0, 10}));
    Vector z;
    minus_scaled(x, y, 0.5, z);
    CHECK(z.gather<double>() == Values({3, -9}));
    multiply(x, z, z);
    copy(z, y);
    CHECK(y.gather<double>() == Values({9, 36}) && copy(y).gather<double>() == Values({9, 36}));
    CHECK(abs(x).gather<double>() == Values({3, 4}) && slice(x, 1, 1).gather<double>() == Values({-4}));
    y.write(1, Values({7}));
    y.write_slice(0, slice(x, 1, 1));
    double last = 0;
    y.read(1, &last, 1);
    CHECK(last == 7 && gather<double>(y) == Values({-4, 7}));
    y.fill(1);
    CHECK(sum<double>(y) == 2 && convert<float>(y).gather<float>() == std::vector<float>({1, 1}));
    const Dense row = transpose(x);
    CHECK(row.rows() == 1 && row.cols() == 2 && row.gather<double>() == Values({3, -4}));

    CHECK((x / 2).gather<double>() == Values({1.5, -2}) && vector({0.5, -1.0}).gather<double>() == Values({0.5, -1}));
    Vector half(3), ones(2, 1, CLINALG_PRECISION_F32);
    half.fill(3);
    half /= 4;
    CHECK(half.gather<double>() == Values(3, 0.75) && ones.gather<float>() == std::vector<float>({1, 1}) && Vector(0).size() == 0);
    // A dense matrix of one column takes the place of a vector.
    const Vector column(dense(2, 1, Values({3, -4})));
    CHECK(column.rows() == 2 && (dense(1, 2, Values({1, 1})) * column).gather<double>() == Values({-1}));
    CHECK(thrown([] { Vector wrong(dense(1, 2, Values({1, 2}))); }) == CLINALG_STATUS_HANDLE_KIND);
    // Kinds were numbers in the message.
    try {
        Vector wrong(dense(1, 2, Values({1, 2})));
    } catch (const clinalg::Error &error) {
        CHECK(std::string(error.what()).find("is a dense matrix, a vector is expected") != std::string::npos);
    }

    const Complex i(0, 1);
    const Vector c = vector<Complex>({1.0 + i, -2.0 * i});
    CHECK(c.is_complex() && conj(c).gather<Complex>()[0] == 1.0 - i);
    CHECK(real(c).gather<double>() == Values({1, 0}) && imag(c).gather<double>() == Values({1, -2}));
    CHECK(join_parts(real(c), imag(c)).gather<Complex>() == c.gather<Complex>() && dotu(c, c) == 2.0 * i - 4.0);
    CHECK((i * c).gather<Complex>()[1] == Complex(2) && conj_transpose(c).gather<Complex>()[1] == 2.0 * i);
    CHECK(thrown([&] { (void)(x + c); }) == CLINALG_STATUS_VALUE);
}

void ownership()
{
    static_assert(!std::is_copy_constructible<Vector>::value && !std::is_copy_assignable<Csr>::value, "moves only");
    static_assert(std::is_nothrow_move_constructible<Vector>::value, "moves do not throw");
    Vector x = vector<double>({1}), empty;
    const clinalg_handle handle = x.get();
    Vector y = std::move(x);
    CHECK(y.get() == handle && !x && y && !empty);
    CHECK(thrown([&] { empty.rows(); }) != CLINALG_STATUS_OK);
    // An object of another kind is refused and stays with its owner.
    Object object = std::move(y);
    CHECK(thrown([&] { Dense wrong(std::move(object)); }) == CLINALG_STATUS_HANDLE_KIND);
    CHECK(object.get() == handle);
    Vector back(std::move(object));
    CHECK(back.get() == handle && !object);
    OK(clinalg_object_release(back.detach()));
    CHECK(!back);
}

void matrices()
{
    const Dense a = dense<double>(2, 3, {1, 2, 3, 4, 5, 6});
    const Vector x = vector<double>({1, 0, -1});
    CHECK((a * x).gather<double>() == Values({-4, -4}));
    Vector y = vector<double>({1, 1}), t;
    mv(2, a, x, 10, y);
    CHECK(y.gather<double>() == Values({2, 2}));
    mv(1, a, y, 0, t, CLINALG_TRANSPOSE_YES);
    CHECK(t.gather<double>() == Values({6, 14, 22}));
    CHECK(transpose(a).gather<double>() == Values({1, 3, 5, 2, 4, 6}) && conj_transpose(a).rows() == 3);
    CHECK((a * transpose(a)).gather<double>() == Values({35, 44, 44, 56}));
    Dense product;
    mm(2, a, dense<double>(3, 1, {1, 1, 1}), 0, product);
    CHECK(product.gather<double>() == Values({18, 24}) && (a + a).gather<double>()[5] == 12);
    CHECK(solve_dense(dense<double>(2, 2, {2, 1, 1, 3}), vector<double>({3, 4})).gather<double>() == Values({1, 1}));
    clinalg_sparse_solve_report solved;
    CHECK(solve_sparse(csr<double>(2, 2, {0, 1, 3}, {1, 0, 1}, {2, 1, 3}), vector<double>({2, 4}), &solved).gather<double>() == Values({1, 1}));
    CHECK(solved.is_cholesky == 0 && solved.backward_error < 1e-15);
    // [0 2; 1 3], then [0 4; 1 3].
    Factorisation kept(csr<double>(2, 2, {0, 1, 3}, {1, 0, 1}, {2, 1, 3}));
    CHECK(kept.solve(vector<double>({1, 5}), CLINALG_TRANSPOSE_YES).gather<double>() == Values({1, 1}));
    CHECK(kept.determinant().real() == -2 && kept.report().backward_error < 1e-15 && kept.reciprocal_condition() > 0.05);
    kept.refactor(csr<double>(2, 2, {0, 1, 3}, {1, 0, 1}, {4, 1, 3}));
    CHECK(kept.solve(vector<double>({4, 4})).gather<double>() == Values({1, 1}) && kept.determinant().real() == -4);
    CHECK(refused([] { (void)dense<double>(2, 2, {1, 2, 3}); }) && refused([] { (void)csr<double>(1, 1, {0}, {}, {}); }));

    Dense gram;
    mm(1, a, CLINALG_TRANSPOSE_NO, a, CLINALG_TRANSPOSE_YES, 0, gram);
    CHECK(gram.gather<double>() == Values({35, 44, 44, 56}));

    const Dense square = dense<double>(2, 2, {2, 1, 1, 3});
    const Factorisation lu(square), cholesky(square, CLINALG_FACTORISATION_CHOLESKY);
    const Vector right = vector<double>({3, 4});
    CHECK(lu.solve(right).gather<double>() == Values({1, 1}));
    CHECK(cholesky.solve(dense<double>(2, 1, {3, 4}), CLINALG_TRANSPOSE_YES).rows() == 2);
    Vector place = vector<double>({3, 4});
    lu.solve(place, place, CLINALG_TRANSPOSE_YES);
    CHECK(place.gather<double>() == Values({1, 1}));
    CHECK(lu.determinant() == determinant(square) && std::abs(lu.determinant() - 5.0) < 1e-14 && lu.reciprocal_condition() > 0.2);
    CHECK(norm_inf(lu.inverse() - inverse(square)) < 1e-15 && norm(lu.inverse() * right - vector<double>({1, 1})) < 1e-15);
    const Factorisation::Factors factors = lu.factors();
    CHECK(norm(factors.first * factors.second - square) < 1e-15 && factors.rows == std::vector<std::size_t>({0, 1}));
    CHECK(!cholesky.factors().second && cholesky.factors().rows == std::vector<std::size_t>({0, 1}));
    CHECK(solve_triangular(CLINALG_TRIANGLE_LOWER, square, right).gather<double>()[0] == 1.5);
    CHECK(solve_triangular(CLINALG_TRIANGLE_UPPER, square, right, CLINALG_TRANSPOSE_YES, true).gather<double>() == Values({3, 1}));

    const Band b = band<double>(3, 3, 1, 0, {1, 2, 0, 0, 3, 4, 0, 0, 5});
    const CompressedColumns<double> columns = b.gather_sparse<double>();
    CHECK(columns.offsets == std::vector<std::size_t>({0, 2, 4, 5}) && columns.values == Values({1, 2, 3, 4, 5}));
    CHECK((b * x).gather<double>() == Values({1, 2, -5}) && diagonal(b).gather<double>() == Values({1, 3, 5}));
}

void sparse_algebra()
{
    const Csr a = second_difference(4);
    CHECK(a.kind() == CLINALG_KIND_CSR && !a.explain().empty() && diagonal(a).gather<double>() == Values(4, 2));
    // Lower bidiagonal times its transpose: L L' + e_n e_n' is the second difference with rows of L = (1, -1).
    const Csr l = csc<double>(2, 2, {0, 2, 3}, {0, 1, 1}, {1, -1, 1});
    CHECK((l * transpose(l)).gather_sparse<double>().values == Values({1, -1, -1, 2}));
    Csr zero = a - a;
    CHECK(zero.size() == 10 && zero.drop_zeros() == 0);
    Csr shifted = a + a.diagonals(0, 0);
    CHECK(diagonal(shifted).gather<double>() == Values(4, 4) && add(1, a, 2, a).nonzeros().gather<double>()[0] == 6);
    shifted -= a;
    shifted += a;
    CHECK(diagonal(shifted).gather<double>() == Values(4, 4));
    CHECK(a.block(1, 2, 0, 2).gather_sparse<double>().values == Values({-1, 2, -1}));
    CHECK(a.select({0, 3}, {3, 0}).gather_sparse<double>().indices == std::vector<std::size_t>({1, 0}));
    CHECK(a.select_rows({1}).rows() == 1 && a.select_cols({1, 1}).cols() == 2 && a.select_rows({}).rows() == 0);
    Csr rows = copy(a);
    rows.set_format(CLINALG_FORMAT_CSR);
    const Vector ones = vector(Values(4, 1));
    CHECK((rows * ones).gather<double>() == Values({1, 0, 0, 1}) && (a * dense(4, 1, Values(4, 1))).gather<double>()[3] == 1);
}

void solvers()
{
    const std::size_t n = 50;
    const Csr a = second_difference(n);
    const Vector b = vector(Values(n, 1));
    // u_i = i (n + 1 - i) / 2.
    const auto error = [&](const Vector &x) {
        const Values u = x.gather<double>();
        double most = 0;
        for (std::size_t i = 0; i < n; ++i) most = std::max(most, std::fabs(u[i] - (i + 1.0) * (n - i) / 2));
        return most;
    };
    Vector x;
    const Report plain = solve(a, b, x);
    CHECK(plain.converged() && plain.history.size() == plain.iterations + 1 && error(x) < 1e-7 && plain.history[0] == 1);
    PreconditionerOptions of;
    of.kind = CLINALG_PRECONDITIONER_IC;
    const Preconditioner m(a, of);
    // The factors of a tridiagonal matrix have no fill-in: they are exact.
    CHECK(m.report().kind == CLINALG_PRECONDITIONER_IC && m.rows() == n && error(m * b) < 1e-9);
    Vector y;
    const Report with = solve(a, b, y, SolverOptions(CLINALG_METHOD_CG, m));
    CHECK(with.converged() && with.iterations <= 2 && error(y) < 1e-7);
    SolverOptions short_one(CLINALG_METHOD_GMRES, CLINALG_PRECONDITIONER_JACOBI);
    short_one.max_iterations = 3;
    Vector z;
    CHECK(solve(a, b, z, short_one).stop == CLINALG_STOP_ITERATION_LIMIT);
    Values columns(2 * n, 1);
    std::fill(columns.begin() + n, columns.end(), -2.0);
    Dense both;
    const Report together = solve(a, dense(n, 2, columns), both);
    const Values found = both.gather<double>();
    CHECK(together.converged() && both.rows() == n && both.cols() == 2 && error(vector(Values(found.begin(), found.begin() + n))) < 1e-7);
    for (std::size_t i = 0; i < n; ++i) CHECK(std::fabs(found[n + i] + 2 * found[i]) < 1e-7);
    // The solution is the initial guess of the next solve.
    CHECK(solve(a, dense(n, 2, columns), both, SolverOptions(CLINALG_METHOD_CG, m)).iterations == 0);

    AmgOptions options;
    options.reusable = 1;
    options.coarse_size = 10;
    Amg amg(a, options);
    Vector w;
    CHECK(solve(a, b, w, SolverOptions(CLINALG_METHOD_CG, amg)).converged() && error(w) < 1e-7);
    CHECK(amg.levels().size() == amg.hierarchy().levels && amg.levels()[0].rows == n && amg.convergence_factor(a) < 0.9);
    const Csr twice = 2 * a;
    amg.refill(twice);
    Vector v;
    CHECK(solve(twice, 2 * b, v, SolverOptions(CLINALG_METHOD_CG, amg)).converged() && error(v) < 1e-7);
    CHECK(Amg(a, vector(Values(n, 1)), options).hierarchy().levels == amg.hierarchy().levels);
    // Displacements of 25 nodes on a line.
    Values line(n);
    for (std::size_t i = 0; i < n; i += 2) line[i] = static_cast<double>(i);
    CHECK(Amg(a, line, 2, options).hierarchy().levels >= 2);
    options.coarsening = CLINALG_AMG_COARSENING_CLASSICAL;
    CHECK(Amg(a, options).hierarchy().coarsening == CLINALG_AMG_COARSENING_CLASSICAL);
    // The options keep what they were given, and so do copies of them.
    SolverOptions owning;
    {
        SolverOptions first;
        const Amg cycle(a, options);
        first.inverse = cycle;
        owning = first;
    }
    Vector kept;
    CHECK(solve(a, b, kept, owning).converged() && error(kept) < 1e-7);
    CHECK(solve(a, b, kept, SolverOptions(CLINALG_METHOD_CG, Amg(a, options))).converged() && error(kept) < 1e-7);
    owning.inverse = Shared();
    CHECK(solve(a, b, kept, owning).iterations == 0 && thrown([] { Shared wrong(clinalg_handle(7)); }) == CLINALG_STATUS_HANDLE_FOREIGN);
    Dense column, right = dense(n, 1, Values(n, 1));
    CHECK(Solver(a, SolverOptions(CLINALG_METHOD_CG, m)).solve(right, column).converged() && error(Vector(std::move(column))) < 1e-7);

    EigenOptions smallest(3);
    smallest.inverse = amg;
    const Eigenpairs pairs = eigenpairs(a, smallest);
    CHECK(pairs.converged() && pairs.values.size() == 3 && pairs.values[0] < pairs.values[2] && pairs.residuals[2] <= 1e-8);
    CHECK(pairs.vectors.rows() == n && pairs.vectors.cols() == 3);
    EigenOptions largest(1, CLINALG_SPECTRUM_END_LARGEST);
    largest.progress = [](std::size_t, double) { return false; };
    CHECK(eigenpairs(a, largest).stop == CLINALG_STOP_CANCELLED);

    const Team team({0});
    CHECK(team.devices() == std::vector<std::size_t>({0}));
    Vector shared;
    const TeamMatrix on_team(team, a);
    CHECK(solve(on_team, b, shared).converged() && error(shared) < 1e-7);
    AmgOptions of_team;
    of_team.coarse_size = 10;
    const TeamAmg cycle(on_team, a, of_team);
    Vector again;
    const Report preconditioned = solve(on_team, b, again, SolverOptions(CLINALG_METHOD_CG, cycle));
    CHECK(preconditioned.converged() && preconditioned.iterations < 20 && error(again) < 1e-7 && cycle.hierarchy().levels >= 2);
}

void callbacks()
{
    const std::size_t n = 30;
    const Csr a = second_difference(n);
    const Vector b = vector(Values(n, 1));
    // The first product makes the copy of b on the device.
    CHECK(norm(a * b) > 0);
    // The product with A by a function, which owns a matrix; it goes with the operator.
    const uint64_t before = memory().live_bytes;
    {
        std::shared_ptr<Csr> kept = std::make_shared<Csr>(2 * a);
        const Operator twice = make_operator<double>(n, n, [kept](const Vector &x, Vector &y) { mv(1, *kept, x, 0, y); });
        kept.reset();
        CHECK(norm(twice * b - 2 * (a * b)) < 1e-13);
        Vector x;
        std::size_t calls = 0;
        SolverOptions options;
        options.progress = [&](std::size_t iteration, double residual) {
            CHECK(iteration == calls && residual >= 0);
            ++calls;
            return true;
        };
        const Report report = solve(twice, b, x, options);
        CHECK(report.converged() && calls == report.iterations + 1 && norm(2 * (a * x) - b) < 1e-8);
        options.progress = [](std::size_t iteration, double) { return iteration < 2; };
        options.method = CLINALG_METHOD_GMRES;
        Vector y;
        CHECK(solve(twice, b, y, options).stop == CLINALG_STOP_CANCELLED);
    }
    CHECK(memory().live_bytes == before);
    // Exceptions arrive where the call was.
    std::string caught;
    const Operator fails = make_operator<double>(n, n, [](const Vector &, Vector &) { throw std::range_error("no product"); });
    try {
        (void)(fails * b);
    } catch (const std::range_error &error) {
        caught = error.what();
    }
    CHECK(caught == "no product");
    SolverOptions options;
    options.progress = [](std::size_t, double) -> bool { throw std::range_error("no progress"); };
    Vector x;
    try {
        (void)solve(a, b, x, options);
    } catch (const std::range_error &error) {
        caught = error.what();
    }
    CHECK(caught == "no progress");
    // The next failure is its own.
    CHECK(thrown([&] { (void)(a * vector(Values(1, 1))); }) == CLINALG_STATUS_LENGTH);
    const Operator replaces = make_operator<double>(n, n, [](const Vector &x, Vector &y) { y = copy(x); });
    CHECK(refused([&] { (void)(replaces * b); }) && sum<double>(b) == n);
}

void input()
{
    const std::vector<std::int32_t> rows = {1, 0, 1}, cols = {1, 0, 1}, offsets = {0, 1, 2}, indices = {0, 1};
    const std::vector<std::size_t> wide = {1, 0, 1};
    const Values values = {2, 1, 3};
    Csr a = coo(2, 2, rows, cols, values);
    CHECK(a.gather_sparse<double>().values == Values({1, 5}) && coo(2, 2, wide, wide, values).size() == 2);
    CHECK(csr(2, 2, offsets, indices, Values({1, 5})).size() == 2 && csc(2, 2, offsets, indices, Values({1, 5})).size() == 2);
    CHECK(refused([&] { (void)csr(2, 2, offsets, indices, Values({1})); }) && refused([&] { (void)coo(2, 2, rows, cols, Values()); }));
    CHECK(thrown([&] { (void)coo(2, 2, std::vector<std::int32_t>({-1}), std::vector<std::int32_t>({0}), Values({1})); }) == CLINALG_STATUS_INDEX);
    // Indices of 64 bits with a sign.
    typedef std::vector<std::int64_t> Signed;
    const Signed far_rows = {1, 0, 1}, far_offsets = {0, 1, 2}, far_indices = {0, 1};
    const Csr b = coo(2, 2, far_rows, far_rows, values);
    CHECK(b.gather_sparse<double>().values == Values({1, 5}));
    CHECK(csr(2, 2, far_offsets, far_indices, Values({1, 5})).gather_sparse<double>().values == Values({1, 5}));
    CHECK(csc(2, 2, far_offsets.data(), far_indices.data(), values.data()).gather_sparse<double>().values == Values({2, 1}));
    CHECK(refused([&] { (void)coo(2, 2, Signed({-1}), Signed({0}), Values({1})); }));
    CHECK(refused([&] { (void)csr(2, 2, Signed({0, 1, -2}), far_indices, Values({1, 5})); }));
    CHECK(refused([&] { (void)csr(2, 2, far_offsets, far_indices, Values({1})); }));
    CHECK(thrown([&] { (void)coo(2, 2, Signed({2}), Signed({0}), Values({1})); }) == CLINALG_STATUS_INDEX);

    a.write_coo(Values({7, 8, 9}));
    const CompressedRows<double> rows_of_a = a.gather_rows<double>(0, 2), last = a.gather_rows<double>(1, 1);
    CHECK(rows_of_a.values == Values({8, 16}) && rows_of_a.offsets == std::vector<std::size_t>({0, 1, 2}));
    CHECK(last.rows == 1 && last.cols == 2 && last.values == Values({16}) && last.indices == std::vector<std::size_t>({1}));
    const Csr uneven = csr(2, 3, {0, 0, 3}, {0, 1, 2}, Values({1, 2, 3}));
    CHECK(uneven.gather_rows<double>(0, 1).values.empty() && uneven.gather_rows<double>(1, 1).values == Values({1, 2, 3}));
    CHECK(thrown([&] { (void)a.gather_rows<double>(1, 2); }) == CLINALG_STATUS_VALUE);
    CHECK(thrown([&] { a.write_coo(Values({7, 8})); }) == CLINALG_STATUS_LENGTH);
    a.write_values(Values({4, 6}));
    write_matrix_market(a, "wrapper.mtx");
    CHECK(diagonal(read_matrix_market<double>("wrapper.mtx")).gather<double>() == Values({4, 6}));
    std::remove("wrapper.mtx");
}

void grids()
{
    const std::size_t n = 33;
    const double h = 1.0 / (n - 1);
    Values values(n * n);
    for (std::size_t k = 0; k < n * n; ++k) values[k] = std::sin(PI * (k % n) * h) * std::sin(PI * (k / n) * h);
    // The discrete eigenvalue of this function, and what it makes of one weighted Jacobi sweep.
    const double eigenvalue = 8 * std::pow(std::sin(PI * h / 2) / h, 2), omega = 0.8;
    const Dense exact = dense(n, n, values), f = eigenvalue * exact;
    Dense u, v;
    PoissonOptions square({n, n});
    const PoissonReport report = Poisson(square).solve(f, u);
    CHECK(report.converged() && report.history.size() == report.iterations + 1 && norm_inf(u - exact) < 1e-9);
    CHECK(solve_poisson(Team({0}), f, v, square).converged() && norm_inf(u - v) == 0);
    Dense mixed;
    square.mixed_precision = 1;
    CHECK(Poisson(square).solve(f, mixed).converged() && norm_inf(mixed - exact) < 1e-9 && norm_inf(mixed - u) > 0);
    square.precision = CLINALG_PRECISION_F32;
    CHECK(thrown([&] { Poisson narrow(square); }) == CLINALG_STATUS_VALUE);
    Dense d, swept, relaxed, fine, coarse;
    defect(exact, f, d);
    CHECK(norm_inf(d) < 1e-10);
    const Dense zero = zeros<double>(n, n);
    jacobi(zero, f, 1, omega, swept);
    CHECK(norm_inf(swept - (omega * eigenvalue * h * h / 4) * exact) < 1e-12);
    red_black(exact, f, 2, relaxed);
    CHECK(norm_inf(relaxed - exact) < 1e-12);
    interpolate(exact, fine);
    restrict_grid(fine, coarse);
    CHECK(fine.rows() == 2 * n - 1 && coarse.rows() == n && norm_inf(coarse - exact) < 0.01);

    WaveOptions options(n);
    options.dt = h / 2;
    Wave wave(options), shared(options, Team({0}));
    CHECK(wave.step(100, [](std::size_t steps, double) { return steps < 4; }).steps == 8);
    wave.start(exact);
    shared.start(exact, zero);
    const double energy = wave.energy().total();
    CHECK(wave.step(20).steps == 20 && shared.step(20).steps == 20);
    // Leapfrog: cos(w t) with sin(w dt / 2) = dt sqrt(eigenvalue) / 2.
    const double w = 2 / options.dt * std::asin(options.dt * std::sqrt(eigenvalue) / 2);
    CHECK(norm_inf(wave.displacement() - std::cos(w * 20 * options.dt) * exact) < 1e-10);
    CHECK(norm_inf(wave.displacement() - shared.displacement()) == 0);
    CHECK(std::fabs(wave.energy().total() / energy - 1) < 1e-10 && norm(wave.velocity()) > 0);
    Dense kept;
    wave.velocity(kept);
    wave.displacement(kept);
    CHECK(norm_inf(kept - wave.displacement()) == 0);
}

// The Poisson problem on boxes: a smooth solution by order 4, a parabola on intervals of two widths with a coefficient.
void boxes()
{
    // u = sin(x) exp(2 y): -Laplace u = -3 u.
    const auto error = [](std::size_t n) {
        PoissonOptions options({n, n});
        options.order = 4;
        Poisson poisson(options);
        Values f(n * n), u, exact(n * n), low(n, 0), high(n);
        for (std::size_t k = 0; k < n * n; ++k) {
            exact[k] = std::sin((k % n) / (n - 1.0)) * std::exp(2 * (k / n) / (n - 1.0));
            f[k] = -3 * exact[k];
        }
        for (std::size_t j = 0; j < n; ++j) high[j] = exact[j * n + n - 1];
        poisson.set_side(0, false, low);
        poisson.set_side(0, true, high);
        poisson.set_side(1, false, View<double>(exact.data(), n));
        poisson.set_side(1, true, View<double>(&exact[n * (n - 1)], n));
        const PoissonReport report = poisson.solve(f, u);
        CHECK(report.converged() && report.history.size() == report.iterations + 1 && report.levels > 1);
        CHECK(poisson.size() == n * n && report.convergence_factor < 0.15 && std::isnan(report.imbalance));
        double most = 0;
        for (std::size_t k = 0; k < n * n; ++k) most = std::max(most, std::fabs(u[k] - exact[k]));
        return most;
    };
    CHECK(std::fabs(error(17) / error(33) - 16) < 1);

    // -div(3 grad u) = -6 for u = x^2, insulated along y: finite volumes are exact.
    PoissonOptions options({9, 6});
    options.coordinates[0] = {0, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3};
    options.coefficient = Values(8 * 5, 3);
    options.coefficient_at = CLINALG_COEFFICIENT_AT_CELLS;
    options.sides[1][0] = options.sides[1][1] = CLINALG_CONDITION_NEUMANN;
    Poisson poisson(options);
    poisson.set_side(0, true, Values(6, 9));
    const Vector source = vector(Values(54, -6));
    Vector u, x;
    std::size_t calls = 0;
    const PoissonReport report = poisson.solve(source, u, [&](std::size_t, double) { return ++calls > 0; });
    CHECK(report.converged() && calls == report.iterations + 1);
    Values squares;
    for (std::size_t j = 0; j < 6; ++j)
        for (const double at : options.coordinates[0]) squares.push_back(at * at);
    CHECK(norm_inf(u - vector(squares)) < 1e-8);
    const Operator a = poisson.matrix(), m = poisson.preconditioner();
    const Vector b = poisson.right_side(source);
    CHECK(a.rows() == 7 * 6 && b.rows() == 7 * 6);
    CHECK(solve(a, b, x, SolverOptions(CLINALG_METHOD_CG, m)).converged() && norm_inf(poisson.at_points(x) - u) < 1e-7);
    Dense square;
    CHECK(poisson.solve(dense(9, 6, Values(54, -6)), square).converged() && square.gather<double>() == u.gather<double>());
    Values none;
    CHECK(poisson.solve(Values(54, -6), none, [](std::size_t, double) { return false; }).stop == CLINALG_STOP_CANCELLED);

    options.coordinates[0].pop_back();
    CHECK(refused([&] { Poisson wrong(options); }) && refused([] { PoissonOptions wrong({3}); }));
    CHECK(refused([&] { Values short_one(3); (void)poisson.solve(Values(54), short_one); }));
    CHECK(thrown([&] { poisson.set_side(0, false, Values(5)); }) == CLINALG_STATUS_LENGTH);
    CHECK(thrown([] { Poisson wrong{PoissonOptions()}; }) == CLINALG_STATUS_VALUE);
}

}  // namespace

int main()
{
    devices_and_memory();
    vectors();
    ownership();
    matrices();
    sparse_algebra();
    solvers();
    callbacks();
    input();
    grids();
    boxes();
    shutdown();
    if (failures == 0) puts("passed");
    return failures != 0;
}
