// Systems of equations: Krylov methods, preconditioners, multigrid. Part of clinalg.hpp.
#pragma once

#include "array.hpp"
#include "factorisation.hpp"
#include "team.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

namespace clinalg {

// Called with the number of each iteration, 0 for the start, and its relative residual; gives whether to go on. It may read A and b;
// to use x or the solver is an error. An exception that it throws ends the solve and is thrown again there.
typedef std::function<bool(std::size_t, double)> Progress;

typedef detail::Defaults<clinalg_preconditioner_options, clinalg_preconditioner_options_default> PreconditionerOptions;
typedef detail::Defaults<clinalg_amg_options, clinalg_amg_options_default> AmgOptions;

// The outcome of a solve. A solve that does not converge does not throw: check converged().
struct Report {
    clinalg_stop stop;
    // Iterations or cycles done.
    std::size_t iterations;
    // |b - A x| / |b|, computed from the returned x.
    double relative_residual;
    // The relative residuals, that of the start first; the first 65 536 of them.
    std::vector<double> history;
    // The number of the iterate returned in x: the last one or, if the solve did not converge, an earlier one with a smaller residual.
    std::size_t iterate;
    bool converged() const { return stop == CLINALG_STOP_CONVERGED; }
};

namespace detail {

// Room for the residuals of this many iterations.
inline std::vector<double> history(std::size_t iterations) {
    return std::vector<double>(std::min<std::size_t>(iterations, 65535) + 1);
}

inline int32_t tell(std::size_t iteration, double residual, void *progress) {
    try {
        return (*static_cast<const Progress *>(progress))(iteration, residual) ? 0 : 1;
    } catch (...) {
        thrown() = std::current_exception();
        return 1;
    }
}

// The structure of C with the progress of C++.
template <class C, class O> C with_progress(const O &options) {
    C plain = options;
    if (options.progress) {
        plain.progress = tell;
        plain.progress_data = const_cast<Progress *>(&options.progress);
    }
    return plain;
}

// As check(); a solve that a function of the caller has ended is not a failed call.
inline void check_solve(clinalg_status status) {
    rethrow(thrown());
    check(status);
}

inline Report report(const clinalg_report &done, std::vector<double> history) {
    history.resize(std::min(done.history, history.size()));
    return Report{done.stop, done.iterations, done.relative_residual, std::move(history), done.iterate};
}

}  // namespace detail

// Method, preconditioner and stopping criteria.
struct SolverOptions : public detail::Defaults<clinalg_solver_options, clinalg_solver_options_default> {
    SolverOptions() {}
    explicit SolverOptions(clinalg_method chosen, clinalg_preconditioner by_name = CLINALG_PRECONDITIONER_NONE) {
        method = chosen;
        preconditioner = by_name;
    }
    // What a text names, "cg,amg,tol=1e-8": see clinalg_solver_options_parse.
    explicit SolverOptions(const std::string &text) { check(clinalg_solver_options_parse(text.c_str(), this)); }
    SolverOptions(clinalg_method chosen, const Object &approximate_inverse) : inverse(approximate_inverse) { method = chosen; }
    // Hides the C structure's member of the same name; set this one.
    Progress progress;
    // A matrix or operator whose product approximates the inverse of A, or of A^H A for least squares. The options, and copies of them, keep
    // it alive: options.inverse = amg. Hides the C structure's member.
    Shared inverse;
    // The structure of C, valid as long as these options.
    clinalg_solver_options plain() const {
        clinalg_solver_options plain = detail::with_progress<clinalg_solver_options>(*this);
        plain.inverse = inverse.get();
        return plain;
    }
};

// Solves A x = b for a matrix, an operator or a matrix on a team; with CLINALG_METHOD_LSQR or CLINALG_METHOD_LSMR for a rectangular matrix in the
// least-squares sense. On entry x holds the initial guess (empty: zero), on return the result: if the solve does not converge, the iterate with the
// smallest residual found.
CLINALG_NODISCARD inline Report solve(const Object &a, const Vector &b, Vector &x, const SolverOptions &options = SolverOptions()) {
    std::vector<double> history = detail::history(options.max_iterations);
    const clinalg_solver_options plain = options.plain();
    clinalg_report done;
    detail::check_solve(clinalg_system_solve(&plain, a.get(), b.get(), x.out(), &done, history.data(), history.size()));
    return detail::report(done, std::move(history));
}

// The same for the columns of b together, by block conjugate gradients; residuals are the largest of a column.
CLINALG_NODISCARD inline Report solve(const Object &a, const Dense &b, Dense &x, const SolverOptions &options = SolverOptions()) {
    std::vector<double> history = detail::history(options.max_iterations);
    const clinalg_solver_options plain = options.plain();
    clinalg_report done;
    detail::check_solve(clinalg_system_solve(&plain, a.get(), b.get(), x.out(), &done, history.data(), history.size()));
    return detail::report(done, std::move(history));
}

// The stopping criteria of solve_automatic(), and what is not left to the choice.
struct SystemOptions : public detail::Defaults<clinalg_system_options, clinalg_system_options_default> {
    SystemOptions() {}
    explicit SystemOptions(const std::string &text) : solver(text) {}
    // A method, a preconditioner and limits by name, "cg,amg,tol=1e-8"; empty for none. Hides the C structure's member.
    std::string solver;
    // Hides the C structure's member of the same name; set this one.
    Progress progress;
};

// How solve_automatic() solved a system.
struct SystemReport {
    // One for each column of b, without the residual histories; fewer where the progress ended the solve.
    std::vector<Report> columns;
    // The method that the last column ended with, the preconditioner (empty for none), and why they were chosen.
    std::string method, preconditioner, reason;
    // Whether all columns met the tolerance.
    bool converged() const {
        return std::all_of(columns.begin(), columns.end(), [](const Report &column) { return column.converged(); });
    }
};

namespace detail {

template <class A> SystemReport solve_automatic(const Csr &a, const A &b, std::size_t count, A &x, const SystemOptions &options) {
    clinalg_system_options plain = with_progress<clinalg_system_options>(options);
    plain.solver = or_null(options.solver);
    std::vector<clinalg_report> columns(count);
    clinalg_system_report done;
    check_solve(clinalg_system_solve_automatic(&plain, a.get(), b.get(), x.out(), columns.data(), count, &done));
    SystemReport report;
    for (std::size_t k = 0; k < done.columns; ++k) {
        report.columns.push_back(detail::report(columns[k], std::vector<double>()));
    }
    report.method = done.method;
    report.preconditioner = done.preconditioner;
    report.reason = done.reason;
    return report;
}

}  // namespace detail

// Solves A x = b for a sparse matrix by the method and the preconditioner that suit it; if A is not square, in the least-squares sense.
// x becomes a new object.
CLINALG_NODISCARD inline SystemReport solve_automatic(const Csr &a, const Vector &b, Vector &x, const SystemOptions &options = SystemOptions()) {
    return detail::solve_automatic(a, b, 1, x, options);
}

// The same for the columns of b, one after the other.
CLINALG_NODISCARD inline SystemReport solve_automatic(const Csr &a, const Dense &b, Dense &x, const SystemOptions &options = SystemOptions()) {
    return detail::solve_automatic(a, b, b.cols(), x, options);
}

namespace detail {

// A vector that the library owns.
struct Lent {
    explicit Lent(clinalg_handle of) : handle(of), vector(Object(of)) {}
    Lent(const Lent &) = delete;
    Lent &operator=(const Lent &) = delete;
    ~Lent() {
        if (vector.get() == handle) (void)vector.detach();
    }
    clinalg_handle handle;
    Vector vector;
};

template <class F> int32_t apply(clinalg_handle x, clinalg_handle y, void *data) {
    try {
        const Lent from(x);
        Lent to(y);
        (*static_cast<F *>(data))(from.vector, to.vector);
        require(to.vector.get() == y, "clinalg::make_operator: the product replaced y; write into it instead");
        return 0;
    } catch (...) {
        failure().thrown = std::current_exception();
        return ++failure().code;
    }
}

template <class F> void drop(void *data) { delete static_cast<F *>(data); }

}  // namespace detail

// An operator of values of the type T whose product a function computes: product(x, y) writes A x into the vector y, which it must not
// replace; it may read what the running call reads, and to use the operator itself is an error. It also serves as a preconditioner. An exception that it throws ends the
// solve and is thrown again there.
template <class T, class F> CLINALG_NODISCARD Operator make_operator(std::size_t rows, std::size_t cols, F product) {
    // The library owns the copy from here on, also where the call fails.
    return detail::made<Operator>(clinalg_operator_create, static_cast<std::uint32_t>(Precision<T>::code), rows, cols,
                                  &detail::apply<F>, static_cast<void *>(new F(std::move(product))), &detail::drop<F>);
}

// A preconditioner of a sparse matrix, reusable for many solves: M * r applies its inverse.
class Preconditioner : public Operator {
public:
    Preconditioner() {}
    explicit Preconditioner(Object &&object) : Operator(std::move(object)) {}
    explicit Preconditioner(const Csr &a, const PreconditionerOptions &options = PreconditionerOptions()) {
        check(clinalg_preconditioner_create(&options, a.get(), out()));
    }
    // What it is, its entries and levels.
    CLINALG_NODISCARD clinalg_preconditioner_report report() const {
        return detail::given<clinalg_preconditioner_report>(clinalg_preconditioner_info, get());
    }
    // Of sparse triangular matrices, which it solves with one after the other.
    CLINALG_NODISCARD static Preconditioner triangular(const Csr &factor) {
        Preconditioner made;
        check(clinalg_preconditioner_create_triangular(factor.get(), 0, made.out()));
        return made;
    }
    CLINALG_NODISCARD static Preconditioner triangular(const Csr &first, const Csr &second) {
        Preconditioner made;
        check(clinalg_preconditioner_create_triangular(first.get(), second.get(), made.out()));
        return made;
    }
};

// The factors L, with ones on its diagonal, and U of ILU(0): L * U is A where A has entries.
CLINALG_NODISCARD inline std::pair<Csr, Csr> incomplete_lu(const Csr &a) {
    std::pair<Csr, Csr> made;
    check(clinalg_sparse_incomplete_lu(a.get(), made.first.out(), made.second.out()));
    return made;
}

// The factor L of IC(0) of a Hermitian positive definite matrix: L * L^H is A + shift diag(A) where A has entries.
CLINALG_NODISCARD inline Csr incomplete_cholesky(const Csr &a, double shift = 0) {
    Csr made;
    check(clinalg_sparse_incomplete_cholesky(a.get(), shift, made.out()));
    return made;
}

// Algebraic multigrid of a sparse matrix, real or complex: a cycle is a preconditioner.
class Amg : public Preconditioner {
public:
    Amg() {}
    explicit Amg(Object &&object) : Preconditioner(std::move(object)) {}
    explicit Amg(const Csr &a, const AmgOptions &options = AmgOptions()) {
        check(clinalg_amg_create(&options, a.get(), 0, out()));
    }
    // With near-null vectors of the matrix: a vector or the columns of a dense matrix.
    Amg(const Csr &a, const Array &near_null, const AmgOptions &options = AmgOptions()) {
        check(clinalg_amg_create(&options, a.get(), near_null.get(), out()));
    }
    // For elasticity: the coordinates of the nodes, dim values each, whose displacements are the unknowns in the same order.
    Amg(const Csr &a, const std::vector<double> &coordinates, std::size_t dim, const AmgOptions &options = AmgOptions()) {
        check(clinalg_amg_create_with_coordinates(&options, a.get(), coordinates.data(), dim ? coordinates.size() / dim : 0, dim, out()));
    }
    // Updates the hierarchy for new values at the positions of the matrix; requires options.reusable.
    void refill(const Csr &a) { check(clinalg_amg_refill(get(), a.get())); }
    CLINALG_NODISCARD clinalg_amg_report hierarchy() const {
        clinalg_amg_report report;
        check(clinalg_amg_info(get(), &report, nullptr, 0));
        return report;
    }
    // The levels, the finest first.
    CLINALG_NODISCARD std::vector<clinalg_amg_level> levels() const {
        clinalg_amg_report report;
        std::vector<clinalg_amg_level> levels(hierarchy().levels);
        check(clinalg_amg_info(get(), &report, levels.data(), levels.size()));
        return levels;
    }
    // About the factor by which a single cycle reduces the error.
    CLINALG_NODISCARD double convergence_factor(const Csr &a) const {
        return detail::given<double>(clinalg_amg_convergence_factor, get(), a.get());
    }
};

// Algebraic multigrid for a matrix on a team, for the options of solves with it. `a` is the matrix on one device from which that on the team was made.
class TeamAmg : public Object {
public:
    TeamAmg() {}
    explicit TeamAmg(Object &&object) : Object(std::move(object), CLINALG_KIND_TEAM_AMG) {}
    TeamAmg(const TeamMatrix &matrix, const Csr &a, const AmgOptions &options = AmgOptions()) {
        check(clinalg_team_amg_create(&options, matrix.get(), a.get(), out()));
    }
    CLINALG_NODISCARD clinalg_amg_report hierarchy() const {
        clinalg_amg_report report;
        check(clinalg_amg_info(get(), &report, nullptr, 0));
        return report;
    }
};

// Shape and parts of a preconditioner for a saddle point, the rows of its blocks.
struct SaddleOptions : public detail::Defaults<clinalg_saddle_options, clinalg_saddle_options_default> {
    // The rows of the second block, ascending; empty where `first_count` says the rows of A, or the blocks are to be found. Hides the C
    // structure's member of the same name; set this one.
    std::vector<std::size_t> second_rows;
    // The diagonal of the mass matrix of the second block in place of the Schur complement; empty for none. Hides the C structure's member.
    std::vector<double> mass;
};

// A block preconditioner for the matrix [A B'; B -C] of a saddle point; with CLINALG_METHOD_MINRES in its diagonal shape.
class Saddle : public Preconditioner {
public:
    Saddle() {}
    explicit Saddle(Object &&object) : Preconditioner(std::move(object)) {}
    explicit Saddle(const Csr &a, const SaddleOptions &options = SaddleOptions()) {
        clinalg_saddle_options plain = options;
        plain.second_rows = options.second_rows.empty() ? nullptr : options.second_rows.data();
        plain.second_count = options.second_rows.size();
        plain.mass = options.mass.empty() ? nullptr : options.mass.data();
        plain.mass_count = options.mass.size();
        check(clinalg_saddle_create(&plain, a.get(), out()));
    }
    // What it is made of.
    CLINALG_NODISCARD clinalg_saddle_report report() const { return detail::given<clinalg_saddle_report>(clinalg_saddle_info, get()); }
};

// A Krylov method with its memory and a preconditioner for one matrix, made once for many right-hand sides. It keeps the matrix and an approximate
// inverse of the options alive after their objects have been destroyed.
class Solver : public Object {
public:
    Solver() : max_iterations_(0) {}
    explicit Solver(Object &&object) : Object(std::move(object), CLINALG_KIND_SOLVER), max_iterations_(SIZE_MAX) {}
    // For a dense, sparse or band matrix or an operator. `options.progress` is not used: solve() takes one.
    explicit Solver(const Object &a, const SolverOptions &options = SolverOptions()) : max_iterations_(options.max_iterations) {
        clinalg_solver_options plain = options.plain();
        plain.progress = nullptr;
        check(clinalg_solver_create(&plain, a.get(), out()));
    }
    // Number of equations.
    std::size_t size() const { return info().rows; }
    // Solves A x = b. x holds the initial guess on entry (empty: zero) and the result on return, as with clinalg::solve. If x already exists, solves after the first allocate no memory on the device.
    // Both are vectors or dense matrices of one column.
    template <class A>
    CLINALG_NODISCARD typename detail::ArrayOnly<A, Report>::type solve(const A &b, A &x, const Progress &progress = Progress()) {
        std::vector<double> history = detail::history(max_iterations_);
        clinalg_report done;
        detail::check_solve(clinalg_solver_solve(get(), b.get(), x.out(), progress ? detail::tell : nullptr,
                                                 const_cast<Progress *>(&progress), &done, history.data(), history.size()));
        return detail::report(done, std::move(history));
    }
    // Recomputes the preconditioner for the current values of the matrix.
    void refill() { check(clinalg_solver_refill(get(), 0)); }
    // Replaces the matrix by another one of the same size and value type.
    void refill(const Object &a) { check(clinalg_solver_refill(get(), a.get())); }
    // The stopping criteria of the next solves.
    void set_limits(double tolerance, std::size_t max_iterations) {
        check(clinalg_solver_set_limits(get(), tolerance, max_iterations));
        max_iterations_ = max_iterations;
    }

private:
    // For the length of the history.
    std::size_t max_iterations_;
};

// Which eigenpairs, how many, and when the iteration ends.
struct EigenOptions : public detail::Defaults<clinalg_eigen_options, clinalg_eigen_options_default> {
    EigenOptions() {}
    explicit EigenOptions(std::size_t pairs, clinalg_spectrum_end end = CLINALG_SPECTRUM_END_SMALLEST) {
        count = pairs;
        which = end;
    }
    // Hides the C structure's member of the same name; set this one.
    Progress progress;
    // An approximate inverse of A and the matrix B, which the options keep alive. They hide the C structure's members.
    Shared inverse, mass;
    // The structure of C, valid as long as these options.
    clinalg_eigen_options plain() const {
        clinalg_eigen_options plain = detail::with_progress<clinalg_eigen_options>(*this);
        plain.inverse = inverse.get();
        plain.mass = mass.get();
        return plain;
    }
};

// Eigenpairs, and how they were found. Pairs that do not converge do not throw; check converged().
struct Eigenpairs {
    // Ascending for the smallest eigenvalues, descending for the largest.
    std::vector<double> values;
    // A column each, x^H B x = 1.
    Dense vectors;
    // |A x - lambda B x| / (|lambda| |B x|) of each.
    std::vector<double> residuals;
    clinalg_stop stop;
    std::size_t iterations;
    bool converged() const { return stop == CLINALG_STOP_CONVERGED; }
};

// A few eigenpairs of A x = lambda x, or of A x = lambda B x, for real symmetric or complex Hermitian matrices or operators.
CLINALG_NODISCARD inline Eigenpairs eigenpairs(const Object &a, const EigenOptions &options = EigenOptions()) {
    const clinalg_eigen_options plain = options.plain();
    Eigenpairs pairs;
    pairs.values.resize(options.count);
    pairs.residuals.resize(options.count);
    clinalg_eigen_report done;
    detail::check_solve(clinalg_matrix_eigenpairs(&plain, a.get(), pairs.vectors.out(), pairs.values.data(), pairs.residuals.data(), &done));
    pairs.stop = done.stop;
    pairs.iterations = done.iterations;
    return pairs;
}

// Components of multigrid on grids of n x n points, as vectors or dense matrices.

// `sweeps` sweeps of Jacobi, weighted with omega, from u for -Laplace_h u = f, into `out`, which may be u.
template <class A> void jacobi(const A &u, const A &f, std::size_t sweeps, double omega, A &out) {
    check(clinalg_multigrid_jacobi(u.get(), f.get(), out.out(), sweeps, omega));
}
// `sweeps` sweeps of red-black Gauss-Seidel.
template <class A> void red_black(const A &u, const A &f, std::size_t sweeps, A &out) {
    check(clinalg_multigrid_red_black(u.get(), f.get(), out.out(), sweeps));
}
// out = f + Laplace_h u, 0 on the boundary.
template <class A> void defect(const A &u, const A &f, A &out) { check(clinalg_multigrid_defect(u.get(), f.get(), out.out())); }
// Bilinear interpolation of n x n points to 2n - 1 by 2n - 1.
template <class A> void interpolate(const A &coarse, A &out) { check(clinalg_multigrid_interpolate(coarse.get(), out.out())); }
// Full weighting of 2n - 1 by 2n - 1 points to n x n.
template <class A> void restrict_grid(const A &fine, A &out) { check(clinalg_multigrid_restrict(fine.get(), out.out())); }

}  // namespace clinalg
