// The wave equation on boxes of two or three dimensions. Part of clinalg.hpp.
#pragma once

#include "array.hpp"
#include "solver.hpp"
#include "team.hpp"

namespace clinalg {

// The grid, its sides, the speed, the time step and the scheme of a wave.
struct WaveOptions : public detail::Defaults<clinalg_wave_options, clinalg_wave_options_default> {
    WaveOptions() {}
    // The unit square with `n` points per side.
    explicit WaveOptions(std::size_t n) { points[0] = points[1] = n; }
    // `numbers[i]` points in direction i, two or three directions.
    explicit WaveOptions(View<std::size_t> numbers) {
        detail::require(numbers.size() == 2 || numbers.size() == 3,
                        "clinalg::WaveOptions: wrong length, expected the points of two or three directions");
        dim = numbers.size();
        std::copy(numbers.begin(), numbers.end(), points);
    }
    // A speed for each point, empty for `c` everywhere. Hides the C structure's member of the same name; set this one.
    std::vector<double> speed;

    // The structure of C; it refers to `speed`.
    clinalg_wave_options plain() const {
        clinalg_wave_options options = *this;
        options.speed = speed.empty() ? nullptr : speed.data();
        options.speed_count = speed.size();
        return options;
    }
    // The largest stable time step of the explicit scheme; `dt` is not read.
    CLINALG_NODISCARD double limit() const {
        const clinalg_wave_options options = plain();
        return detail::given<double>(clinalg_wave_limit, &options);
    }
};

// A wave, u_tt = c^2 Laplace u. At rest with u = 0 until start(). Grids have a value for each point, x fastest.
class Wave : public Object {
public:
    Wave() {}
    explicit Wave(Object &&object) : Object(std::move(object), CLINALG_KIND_WAVE) {}
    explicit Wave(const WaveOptions &options) {
        const clinalg_wave_options plain = options.plain();
        check(clinalg_wave_create(&plain, out()));
    }
    // On strips of a square, one for each device of a team, for the explicit scheme.
    Wave(const WaveOptions &options, const Team &team) {
        const clinalg_wave_options plain = options.plain();
        check(clinalg_team_wave_create(&plain, team.get(), out()));
    }
    // Number of points.
    std::size_t size() const { return info().rows * info().cols; }

    // Sets the displacement at time 0 and the velocity to 0.
    clinalg_wave_report start(const Array &u) {
        return detail::given<clinalg_wave_report>(clinalg_wave_start, get(), u.get(), clinalg_handle(0));
    }
    // Sets displacement and velocity at time 0.
    clinalg_wave_report start(const Array &u, const Array &v) {
        return detail::given<clinalg_wave_report>(clinalg_wave_start, get(), u.get(), v.get());
    }
    // Makes `steps` steps. The implicit scheme stops where an equation is not solved: look at `stop` of the report.
    clinalg_wave_report step(std::size_t steps) { return detail::given<clinalg_wave_report>(clinalg_wave_step, get(), steps); }

    // The same, calling `progress` about ten times a second with the number of steps made and the time reached. If it returns false, the call
    // ends and `stop` is CLINALG_STOP_CANCELLED.
    clinalg_wave_report step(std::size_t steps, const Progress &progress) {
        clinalg_wave_report done;
        const clinalg_status status = clinalg_wave_step_with(get(), steps, progress ? detail::tell : nullptr,
                                                             const_cast<Progress *>(&progress), &done);
        detail::check_solve(status);
        return done;
    }

    // A row for each point along x, and a column for each combination of the others.
    CLINALG_NODISCARD Dense displacement() const { return detail::made<Dense>(clinalg_wave_displacement, get()); }
    CLINALG_NODISCARD Dense velocity() const { return detail::made<Dense>(clinalg_wave_velocity, get()); }
    // Into a live grid; an empty one is made.
    void displacement(Dense &u) const { check(clinalg_wave_displacement(get(), u.out())); }
    void velocity(Dense &v) const { check(clinalg_wave_velocity(get(), v.out())); }
    // Into a live vector.
    void displacement(Vector &u) const { check(clinalg_wave_displacement(get(), live(u).out())); }
    void velocity(Vector &v) const { check(clinalg_wave_velocity(get(), live(v).out())); }

    // The discrete energy; its sum is what the schemes keep without absorbing sides.
    struct Energy {
        double kinetic, potential;
        double total() const { return kinetic + potential; }
    };
    CLINALG_NODISCARD Energy energy() const {
        Energy energy;
        check(clinalg_wave_energy(get(), &energy.kinetic, &energy.potential));
        return energy;
    }

private:
    static Vector &live(Vector &values) {
        detail::require(bool(values), "clinalg::Wave: the vector is empty, expected one with a value for each point");
        return values;
    }
};

}  // namespace clinalg
