// The wave equation on the unit square and on boxes. Part of clinalg.hpp.
#pragma once

#include "array.hpp"
#include "solver.hpp"
#include "team.hpp"

namespace clinalg {

typedef detail::Defaults<clinalg_wave_options, clinalg_wave_options_default> WaveOptions;

// A membrane: u_tt = c^2 Laplace u on the unit square, values on the boundary fixed. At rest until start().
class Wave : public Object {
public:
    Wave() {}
    explicit Wave(Object &&object) : Object(std::move(object), CLINALG_KIND_WAVE) {}
    explicit Wave(const WaveOptions &options) { check(clinalg_wave_create(&options, out())); }
    // On strips of the grid, one for each device of a team, for the explicit scheme.
    Wave(const WaveOptions &options, const Team &team) { check(clinalg_team_wave_create(&options, team.get(), out())); }

    // Sets the displacement at time 0, n^2 values, and the velocity to 0.
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

    // Column j has the points at y = j h.
    CLINALG_NODISCARD Dense displacement() const { return detail::made<Dense>(clinalg_wave_displacement, get()); }
    CLINALG_NODISCARD Dense velocity() const { return detail::made<Dense>(clinalg_wave_velocity, get()); }
    // Into a live grid; an empty one is made.
    void displacement(Dense &u) const { check(clinalg_wave_displacement(get(), u.out())); }
    void velocity(Dense &v) const { check(clinalg_wave_velocity(get(), v.out())); }

    // The discrete energy; its sum is what the schemes keep.
    struct Energy {
        double kinetic, potential;
        double total() const { return kinetic + potential; }
    };
    CLINALG_NODISCARD Energy energy() const {
        Energy energy;
        check(clinalg_wave_energy(get(), &energy.kinetic, &energy.potential));
        return energy;
    }
};

// The box, its sides, the speed and the time step of a wave.
struct GridWaveOptions : public detail::Defaults<clinalg_grid_wave_options, clinalg_grid_wave_options_default> {
    GridWaveOptions() {}
    // A box with `numbers[i]` points in direction i, two or three directions.
    explicit GridWaveOptions(View<std::size_t> numbers) {
        detail::require(numbers.size() == 2 || numbers.size() == 3,
                        "clinalg::GridWaveOptions: wrong length, expected the points of two or three directions");
        dim = numbers.size();
        std::copy(numbers.begin(), numbers.end(), points);
    }
    // A speed for each point, empty for `c` everywhere. Hides the C structure's member of the same name; set this one.
    std::vector<double> speed;

    // The structure of C; it refers to `speed`.
    clinalg_grid_wave_options plain() const {
        clinalg_grid_wave_options options = *this;
        options.speed = speed.empty() ? nullptr : speed.data();
        options.speed_count = speed.size();
        return options;
    }
    // The largest stable time step; `dt` is not read.
    CLINALG_NODISCARD double limit() const {
        const clinalg_grid_wave_options options = plain();
        return detail::given<double>(clinalg_grid_wave_limit, &options);
    }
};

// A wave on a box, u_tt = c^2 Laplace u by leapfrog. At rest with u = 0 until start(). Vectors have a value for each point, x fastest.
class GridWave : public Object {
public:
    GridWave() {}
    explicit GridWave(Object &&object) : Object(std::move(object), CLINALG_KIND_GRID_WAVE) {}
    explicit GridWave(const GridWaveOptions &options) {
        const clinalg_grid_wave_options plain = options.plain();
        check(clinalg_grid_wave_create(&plain, out()));
    }
    // Number of points.
    std::size_t size() const { return info().rows; }
    // Sets the displacement at time 0 and the velocity to 0.
    void start(const Array &u) { check(clinalg_grid_wave_start(get(), u.get(), 0)); }
    // Sets displacement and velocity at time 0.
    void start(const Array &u, const Array &v) { check(clinalg_grid_wave_start(get(), u.get(), v.get())); }
    // Makes `steps` steps. `progress` is called about ten times a second with the number of steps made and the time reached; if it returns
    // false, the call ends and `stop` is CLINALG_STOP_CANCELLED.
    clinalg_wave_report step(std::size_t steps, const Progress &progress = Progress()) {
        clinalg_wave_report done;
        detail::check_solve(clinalg_grid_wave_step(get(), steps, progress ? detail::tell : nullptr, const_cast<Progress *>(&progress), &done));
        return done;
    }
    CLINALG_NODISCARD Vector displacement() const { return detail::made<Vector>(clinalg_grid_wave_displacement, get()); }
    CLINALG_NODISCARD Vector velocity() const { return detail::made<Vector>(clinalg_grid_wave_velocity, get()); }
    // Into a vector that exists; an empty one is made.
    void displacement(Vector &u) const { check(clinalg_grid_wave_displacement(get(), u.out())); }
    void velocity(Vector &v) const { check(clinalg_grid_wave_velocity(get(), v.out())); }
    // The discrete energy; without absorbing sides the sum stays the same.
    CLINALG_NODISCARD Wave::Energy energy() const {
        Wave::Energy energy;
        check(clinalg_grid_wave_energy(get(), &energy.kinetic, &energy.potential));
        return energy;
    }
};

}  // namespace clinalg
