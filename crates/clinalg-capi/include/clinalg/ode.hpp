// Ordinary differential equations and waveform relaxation. Part of clinalg.hpp.
#pragma once

#include "array.hpp"

#include <algorithm>

namespace clinalg {

// Tolerances and steps, and the names of the method ("dopri54" where it is empty) and of the division into kernels ("auto").
struct OdeOptions : public detail::Defaults<clinalg_ode_options, clinalg_ode_options_default> {
    std::string method, variant;
};

// An event of a step: its number, from 0 on, and its time.
struct OdeEvent {
    std::size_t number;
    double time;
};

// The step that an integration took last; valid only during the call of the function that receives it.
class OdeStep {
public:
    explicit OdeStep(clinalg_ode_step *step) : step_(step) {}
    clinalg_ode_step *get() const { return step_; }
    double begin() const { return info().first; }
    double end() const { return info().second; }
    // Steps and evaluations up to the end of this step.
    clinalg_ode_report report() const {
        clinalg_ode_report report;
        check(clinalg_ode_step_info(step_, nullptr, nullptr, &report));
        return report;
    }
    // The solution of `components` values at a time from begin() to end().
    std::vector<double> at(double t, std::size_t components) const {
        std::vector<double> y(components);
        check(clinalg_ode_step_at(step_, t, y.data(), components));
        return y;
    }
    // The events inside the step in the order of their times.
    std::vector<OdeEvent> events() const {
        std::size_t count = 0;
        check(clinalg_ode_step_events(step_, 0, nullptr, nullptr, &count));
        std::vector<std::size_t> numbers(count);
        std::vector<double> times(count);
        check(clinalg_ode_step_events(step_, count, numbers.data(), times.data(), &count));
        std::vector<OdeEvent> found;
        for (std::size_t k = 0; k < count; ++k) found.push_back(OdeEvent{numbers[k], times[k]});
        return found;
    }

private:
    std::pair<double, double> info() const {
        std::pair<double, double> span;
        check(clinalg_ode_step_info(step_, &span.first, &span.second, nullptr));
        return span;
    }
    clinalg_ode_step *step_;
};

namespace detail {

template <class See> int32_t watch(clinalg_ode_step *step, void *see) {
    try {
        return (*static_cast<See *>(see))(OdeStep(step)) ? 0 : 1;
    } catch (...) {
        thrown() = std::current_exception();
        return 1;
    }
}

}  // namespace detail

// Integrates from t0 to t_end as clinalg_ode_solve_with and returns the solution at the end. `see(OdeStep)` is called after every step and
// returns whether to continue; an exception that it throws ends the integration and is rethrown here.
template <class See>
std::vector<double> ode_run(const Object &ode, const clinalg_ode_options &options, double t0, double t_end, View<double> y0, See see,
                            const char *method = nullptr, const char *variant = nullptr, clinalg_ode_report *report = nullptr) {
    std::vector<double> y(y0.size());
    const clinalg_status status = clinalg_ode_solve_with(ode.get(), method, variant, &options, t0, t_end, y0.data(), y0.size(),
                                                         detail::watch<See>, &see, y.data(), report);
    detail::rethrow(detail::thrown());
    check(status);
    return y;
}

// Steps, windows and blocks of a waveform relaxation, and the names of the method ("euler" where it is empty) and of the variant
// ("component").
struct WaveformOptions : public detail::Defaults<clinalg_waveform_options, clinalg_waveform_options_default> {
    // These replace the C function's arguments `method` and `variant`.
    std::string method;
    std::string variant;
};

// A system of differential equations. Components are all points of the first field, then those of the next.
class Ode : public Object {
public:
    // Fields and points, whose product is the number of components, and how far apart in memory a formula reads.
    struct Shape {
        std::size_t fields, points, access_distance;
        std::size_t components() const { return fields * points; }
    };
    // Initial values of a test problem and its usual interval of time.
    struct Initial {
        std::vector<double> y0;
        double t0, t_end;
    };

    Ode() {}
    explicit Ode(Object &&object) : Object(std::move(object), CLINALG_KIND_ODE) {}
    // A system from its description, one statement per line, such as "u' = -u"; `data` has the numbers for its `data_count` lines
    // `data name`, one for each point, one line after the other.
    explicit Ode(const std::string &description, View<double> data = View<double>(), std::size_t data_count = 0) {
        check(clinalg_ode_create(description.c_str(), data.data(), data.size(), data_count, out()));
    }
    // A test problem, one of those that `clinalg ode --list` prints, of n points along each axis.
    CLINALG_NODISCARD static Ode problem(const std::string &name, std::size_t n) {
        return detail::made<Ode>(clinalg_ode_create_problem, name.c_str(), n);
    }
    // Derivatives in OpenCL C, which are executed as they are: see clinalg_ode_create_snippet.
    CLINALG_NODISCARD static Ode snippet(std::size_t components, const std::string &body, std::size_t distance,
                                         const std::string &functions = std::string()) {
        return detail::made<Ode>(clinalg_ode_create_snippet, components, body.c_str(), detail::or_null(functions), distance);
    }

    void set_parameter(const std::string &name, double value) { check(clinalg_ode_set_parameter(get(), name.c_str(), value)); }
    // Adds an event where `formula` at a grid point passes zero; a terminal one ends the integration.
    void add_event(const std::string &formula, std::size_t point = 0, clinalg_ode_direction direction = CLINALG_ODE_DIRECTION_ANY,
                   bool terminal = false) {
        check(clinalg_ode_add_event(get(), formula.c_str(), point, direction, terminal ? 1 : 0));
    }
    // Absolute tolerances of the components, in place of that of the options; an empty list restores that one.
    void set_tolerances(View<double> absolute) { check(clinalg_ode_set_tolerances(get(), absolute.data(), absolute.size())); }
    CLINALG_NODISCARD Shape shape() const {
        Shape shape;
        check(clinalg_ode_shape(get(), &shape.fields, &shape.points, &shape.access_distance));
        return shape;
    }
    CLINALG_NODISCARD Initial initial() const {
        Initial initial;
        initial.y0.resize(shape().components());
        check(clinalg_ode_initial(get(), initial.y0.data(), initial.y0.size(), &initial.t0, &initial.t_end));
        return initial;
    }

    // The solution at each of the times, which begin with that of y0, one time after the other. NaN follows where a terminal event
    // ends the integration.
    CLINALG_NODISCARD std::vector<double> solve(View<double> times, View<double> y0, const OdeOptions &options = OdeOptions(),
                                                clinalg_ode_report *report = nullptr) const {
        std::vector<double> y(times.size() * y0.size());
        check(clinalg_ode_solve(get(), detail::or_null(options.method), detail::or_null(options.variant), &options, times.data(),
                                times.size(), y0.data(), y0.size(), y.data(), report));
        return y;
    }
    // From y0 at t0 to y at t_end, vectors or dense matrices of one column on the device of one precision, in which the steps are computed.
    clinalg_ode_report solve(double t0, double t_end, const Array &y0, Array &y, const OdeOptions &options = OdeOptions()) const {
        clinalg_ode_report report;
        check(clinalg_ode_solve_vector(get(), detail::or_null(options.method), detail::or_null(options.variant), &options, t0,
                                       t_end, y0.get(), y.get(), &report));
        return report;
    }
    // As ode_run: calls `see(OdeStep)` after every step.
    template <class See>
    std::vector<double> run(double t0, double t_end, View<double> y0, See see, const OdeOptions &options = OdeOptions(),
                            clinalg_ode_report *report = nullptr) const {
        return ode_run(*this, options, t0, t_end, y0, see, detail::or_null(options.method), detail::or_null(options.variant), report);
    }
    // Integrates by waveform relaxation and returns the solution after the last step; `iterations`, if not null, gets those of each
    // window.
    CLINALG_NODISCARD std::vector<double> waveform(double t0, View<double> y0, const WaveformOptions &options,
                                                   clinalg_waveform_report *report = nullptr,
                                                   std::vector<std::size_t> *iterations = nullptr) const {
        clinalg_waveform_options plain = options;
        plain.method = detail::or_null(options.method);
        clinalg_waveform_report done;
        std::vector<double> y(y0.size());
        std::vector<std::size_t> counts(options.steps);
        check(clinalg_waveform_solve(get(), detail::or_null(options.variant), &plain, t0, y0.data(), y0.size(), y.data(), &done,
                                     counts.data(), counts.size()));
        if (iterations != nullptr) {
            counts.resize(std::min(done.windows, counts.size()));
            *iterations = std::move(counts);
        }
        if (report != nullptr) *report = done;
        return y;
    }
};

// The kernels and the memory of a method for one system, for several integrations. Later changes of the system do not reach it.
class OdeStepper : public Object {
public:
    OdeStepper() {}
    explicit OdeStepper(Object &&object) : Object(std::move(object), CLINALG_KIND_ODE_STEPPER) {}
    explicit OdeStepper(const Ode &ode, const OdeOptions &options = OdeOptions()) {
        check(clinalg_ode_stepper_create(ode.get(), detail::or_null(options.method), detail::or_null(options.variant), &options,
                                         out()));
    }
    // From y0 at t0 to y at t_end, vectors or dense matrices of one column on the device in the precision of the options.
    clinalg_ode_report solve(double t0, double t_end, const Array &y0, Array &y) const {
        return detail::given<clinalg_ode_report>(clinalg_ode_stepper_solve, get(), t0, t_end, y0.get(), y.get());
    }
};

}  // namespace clinalg
