// The heat equation u_t = a u_xx on a grid with u = 0 at both ends, from sin(pi x): u = exp(-a pi^2 t) sin(pi x). Watches every step and
// ends when the largest value has halved.

#include <clinalg.hpp>

#include <cmath>
#include <cstdio>

int main() try {
    const std::size_t n = 99;
    const double pi = std::acos(-1.0), h = 1.0 / (n + 1), a = 0.5;
    clinalg::Ode heat("grid 99\nboundary value 0\nparameter k = 1\nu' = k*(u[-1] - 2*u + u[1])");
    heat.set_parameter("k", a / (h * h));
    // u = 1/2 in the middle, at point 49.
    heat.add_event("u - 0.5", 49, CLINALG_ODE_DIRECTION_FALLING, true);

    std::vector<double> start(n);
    for (std::size_t i = 0; i < n; ++i) start[i] = std::sin(pi * (i + 1) * h);
    double half = 0;
    std::size_t steps = 0;
    heat.run(0, 1, start, [&](clinalg::OdeStep step) {
        ++steps;
        for (const clinalg::OdeEvent &event : step.events()) half = event.time;
        return true;
    });
    std::printf("halved at t = %.6f after %zu steps, %.6f without a grid\n", half, steps, std::log(2.0) / (a * pi * pi));
    return half > 0 ? 0 : 1;
} catch (const clinalg::Error &error) {
    std::fprintf(stderr, "%s: %s\n", error.id().c_str(), error.what());
    return 2;
}
