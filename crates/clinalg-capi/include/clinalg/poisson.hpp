// The Poisson problem. Part of clinalg.hpp.
#pragma once

#include "array.hpp"
#include "solver.hpp"
#include "team.hpp"

namespace clinalg {

// The box, the coefficients, the cycle and the stopping criteria.
struct PoissonOptions : public detail::Defaults<clinalg_poisson_options, clinalg_poisson_options_default> {
    PoissonOptions() {}
    // A box with `numbers[i]` points in direction i, two or three directions.
    explicit PoissonOptions(View<std::size_t> numbers) {
        detail::require(numbers.size() == 2 || numbers.size() == 3,
                        "clinalg::PoissonOptions: wrong length, expected the points of two or three directions");
        dim = numbers.size();
        std::copy(numbers.begin(), numbers.end(), points);
    }
    // Ascending coordinates of each direction, empty for equal spacing. Hides the C structure's member of the same name; set this one.
    std::vector<double> coordinates[3];
    // The coefficient k at `coefficient_at`, empty for 1. Hides the C structure's member of the same name; set this one.
    std::vector<double> coefficient;
};

// The outcome of a Poisson solve. A solve that does not converge does not throw: check `stop`.
struct PoissonReport : public Report {
    std::size_t levels;
    // Geometric mean of the factors by which the cycles reduced the residual; NaN where there was no cycle.
    double convergence_factor;
    // Estimate of the largest relative residual that rounding leaves.
    double rounding_floor;
    // Where u is determined only up to a constant: the relative imbalance of f and the fluxes, which was removed. NaN otherwise.
    double imbalance;
};

namespace detail {

// The outcome of `call`, which gets the progress, the report and the history.
template <class F> PoissonReport solved(std::size_t max_cycles, const Progress &progress, F call) {
    std::vector<double> history = detail::history(max_cycles);
    clinalg_poisson_report done;
    check_solve(call(progress ? tell : nullptr, const_cast<Progress *>(&progress), &done, history.data(), history.size()));
    history.resize(std::min(done.history, history.size()));
    PoissonReport report;
    report.stop = done.stop;
    report.iterations = done.cycles;
    report.relative_residual = done.relative_residual;
    report.history = std::move(history);
    report.levels = done.levels;
    report.convergence_factor = done.convergence_factor;
    report.rounding_floor = done.rounding_floor;
    report.imbalance = done.imbalance;
    return report;
}

}  // namespace detail

// A multigrid solver of -div(k D grad u) + c u = f on a box, reusable for many right-hand sides. Arrays have one value per
// point, x fastest. Without values of the sides, u keeps those it has on vertex-centred sides with u = g.
class Poisson : public Object {
public:
    Poisson() : max_cycles_(0) {}
    explicit Poisson(Object &&object) : Object(std::move(object), CLINALG_KIND_POISSON), max_cycles_(SIZE_MAX) {}
    explicit Poisson(const PoissonOptions &options) : max_cycles_(options.max_cycles) {
        clinalg_poisson_options plain = options;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const std::vector<double> &ends = options.coordinates[axis];
            if (ends.empty()) continue;
            const bool more = options.centring == CLINALG_CENTRING_CELL || options.sides[axis][0] == CLINALG_CONDITION_PERIODIC;
            detail::require(axis >= options.dim || ends.size() == options.points[axis] + (more ? 1 : 0),
                            "clinalg::Poisson: wrong length, expected a coordinate for each point, and one more in cells or a periodic direction");
            plain.coordinates[axis] = ends.data();
        }
        if (!options.coefficient.empty()) {
            plain.coefficient = options.coefficient.data();
            plain.coefficient_count = options.coefficient.size();
        }
        check(clinalg_poisson_create(&plain, out()));
    }

    // Number of points.
    std::size_t size() const { return info().rows; }
    // Sets the values g of the low or high side of `axis` (0, 1 or 2): one for each point of the side, the lower of the other directions
    // fastest. An empty array clears them.
    void set_side(std::size_t axis, bool high, View<double> values) {
        check(clinalg_poisson_set_side(get(), axis, high, values.size() != 0 ? values.data() : nullptr, values.size()));
    }

    // Solves for host arrays. On entry u holds the initial guess (empty: zero), on return the solution.
    CLINALG_NODISCARD PoissonReport solve(View<double> f, std::vector<double> &u, const Progress &progress = Progress()) {
        if (u.empty()) u.resize(f.size());
        detail::require(u.size() == f.size(), "clinalg::Poisson::solve: wrong length, expected as many values of u as of f");
        return solved(clinalg_poisson_solve, progress, f.data(), u.data(), f.size());
    }
    // Solves for vectors or dense matrices of the solver's precision and device, whose values stay there.
    CLINALG_NODISCARD PoissonReport solve(const Vector &f, Vector &u, const Progress &progress = Progress()) {
        return solved(clinalg_poisson_solve_vector, progress, f.get(), u.out());
    }
    CLINALG_NODISCARD PoissonReport solve(const Dense &f, Dense &u, const Progress &progress = Progress()) {
        return solved(clinalg_poisson_solve_vector, progress, f.get(), u.out());
    }

    // The symmetric matrix of the integrated equations, on vectors of the unknowns: the values at all points except those on vertex-centred
    // sides with u = g. The solver may be destroyed first.
    CLINALG_NODISCARD Operator matrix() const { return detail::made<Operator>(clinalg_poisson_operator_create, get()); }
    // A symmetric multigrid cycle, an approximate inverse of matrix().
    CLINALG_NODISCARD Operator preconditioner() const {
        return detail::made<Operator>(clinalg_poisson_preconditioner_create, get());
    }
    // The right-hand side for matrix(), from f at all points and the values of the sides.
    CLINALG_NODISCARD Vector right_side(const Vector &f) const {
        return detail::made<Vector>(clinalg_poisson_right_side, get(), f.get());
    }
    // The values at all points, from those of the unknowns and of the sides.
    CLINALG_NODISCARD Vector at_points(const Vector &x) const {
        return detail::made<Vector>(clinalg_poisson_points, get(), x.get());
    }

private:
    template <class F, class... A> PoissonReport solved(F call, const Progress &progress, A &&...arguments) const {
        return detail::solved(max_cycles_, progress, [&](clinalg_progress tell, void *data, clinalg_poisson_report *done, double *history, std::size_t capacity) {
            return call(get(), std::forward<A>(arguments)..., tell, data, done, history, capacity);
        });
    }

    // Of the options, for the length of the history.
    std::size_t max_cycles_;
};

// Solves -Laplace u + c u = f on strips of the unit square, or slabs of the unit cube, one for each device of a team; f and u are vectors or
// dense matrices. u holds the values on the boundary and the initial guess (empty: zero) on entry and the solution on return.
template <class A>
CLINALG_NODISCARD PoissonReport solve_poisson(const Team &team, const A &f, A &u, const PoissonOptions &options,
                                              const Progress &progress = Progress()) {
    return detail::solved(options.max_cycles, progress, [&](clinalg_progress tell, void *data, clinalg_poisson_report *done, double *history, std::size_t capacity) {
        return clinalg_team_solve_poisson(&options, team.get(), f.get(), u.out(), tell, data, done, history, capacity);
    });
}

}  // namespace clinalg
