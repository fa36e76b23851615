// Van der Pol's oscillator beside numbers of SciPy: solve_ivp, DOP853, rtol = 1e-13, atol = 1e-14.

#include "check.h"

#include <cmath>
#include <vector>

namespace {

struct Zero {
    std::size_t event;
    double t;
};

// Times at which the solution is wanted, and what it was there.
struct Seen {
    std::vector<Zero> zeros;
    std::vector<double> times, values;
    std::size_t next;
};

int32_t see(clinalg_ode_step *step, void *data)
{
    Seen &seen = *static_cast<Seen *>(data);
    double begin = 0, end = 0, y[2];
    OK(clinalg_ode_step_info(step, &begin, &end, nullptr));
    for (; seen.next < seen.times.size() && seen.times[seen.next] <= end; ++seen.next) {
        OK(clinalg_ode_step_at(step, seen.times[seen.next], y, 2));
        seen.values.insert(seen.values.end(), y, y + 2);
    }
    std::size_t count = 0;
    OK(clinalg_ode_step_events(step, 0, nullptr, nullptr, &count));
    std::vector<std::size_t> events(count);
    std::vector<double> times(count);
    OK(clinalg_ode_step_events(step, count, events.data(), times.data(), &count));
    for (std::size_t k = 0; k < count; ++k) {
        seen.zeros.push_back(Zero{events[k], times[k]});
    }
    return 0;
}

} // namespace

int main()
{
    const double start[] = {2, 0}, expected[] = {-1.949023103064836, -0.720830386428252, 1.8206104655016475,
                                                     -0.4510216208724686, -1.4071260570105777, 0.6703315187559624};
    const Zero zeros[] = {{0, 2.5072244144314983}, {1, 5.406696363122866}, {1, 6.796547822655861}, {0, 9.603538682042638}};
    double end[2];
    clinalg_handle oscillator = 0;
    clinalg_ode_options options;
    clinalg_ode_report report;
    Seen seen = {{}, {3.3, 7.7, 12}, {}, 0};

    OK(clinalg_ode_options_default(&options, sizeof options));
    options.relative = 1e-10;
    options.absolute = 1e-11;
    OK(clinalg_ode_create("parameter mu = 1.5\nx' = v\nv' = mu*(1 - x^2)*v - x\nevent falling = x", nullptr, 0, 0, &oscillator));
    OK(clinalg_ode_add_event(oscillator, "v - 1", 0, CLINALG_ODE_DIRECTION_ANY, 0));
    OK(clinalg_ode_solve_with(oscillator, nullptr, nullptr, &options, 0, 12, start, 2, see, &seen, end, &report));
    CHECK(seen.zeros.size() == 4 && seen.values.size() == 6);
    for (std::size_t k = 0; k < seen.zeros.size() && k < 4; ++k) {
        CHECK(seen.zeros[k].event == zeros[k].event && std::fabs(seen.zeros[k].t - zeros[k].t) < 1e-7);
    }
    for (std::size_t k = 0; k < seen.values.size() && k < 6; ++k) {
        CHECK(std::fabs(seen.values[k] - expected[k]) < 1e-7);
    }
    CHECK(report.t == 12 && end[0] == seen.values[4] && end[1] == seen.values[5]);
    OK(clinalg_object_release(oscillator));
    clinalg_shutdown();
    if (failures == 0) {
        puts("passed");
    }
    return failures != 0;
}
