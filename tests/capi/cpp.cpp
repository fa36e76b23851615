// Objects and callbacks of clinalg.hpp.

#include "check.h"

#include <clinalg.hpp>

#include <cmath>
#include <stdexcept>
#include <string>

namespace {

uint64_t live_buffers()
{
    clinalg_memory_report report;
    OK(clinalg_device_memory(&report));
    return report.live_buffers;
}

void objects_replaced_are_released()
{
    const double values[] = {1, 2};
    clinalg::Object a = clinalg::vector(std::vector<double>{3, 4});
    const uint64_t before = live_buffers();
    const clinalg_handle first = a.get();
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, values, 2, a.out()));
    CHECK(a.get() != first && live_buffers() == before);
    clinalg_object_info info;
    FAILS(clinalg_object_get_info(first, &info), CLINALG_STATUS_HANDLE_STALE);
    // An operation writes into the live object, which may be an input as well.
    const clinalg_handle second = a.get();
    OK(clinalg_array_add(a.get(), a.get(), a.out()));
    CHECK(a.get() == second && clinalg::gather<double>(a)[1] == 4);
    // A failed call leaves the object alone.
    FAILS(clinalg_vector_create(9, values, 2, a.out()), CLINALG_STATUS_VALUE);
    CHECK(a.get() == second && clinalg::gather<double>(a)[0] == 2);
}

void every_kind_is_released()
{
    clinalg_handle system, wave;
    {
        clinalg::Object object;
        OK(clinalg_ode_create("u' = -u", nullptr, 0, 0, object.out()));
        system = object.get();
        CHECK(object.info().kind == CLINALG_KIND_ODE && object.info().rows == 1 && object.info().cols == 1);
        clinalg_wave_options options;
        OK(clinalg_wave_options_default(&options, sizeof options));
        options.points[0] = options.points[1] = 9;
        options.dt = 0.01;
        clinalg::Object membrane;
        OK(clinalg_wave_create(&options, membrane.out()));
        wave = membrane.get();
    }
    FAILS(clinalg_ode_shape(system, nullptr, nullptr, nullptr), CLINALG_STATUS_HANDLE_STALE);
    FAILS(clinalg_wave_step(wave, 1, nullptr), CLINALG_STATUS_HANDLE_STALE);
    FAILS(clinalg_object_release(system), CLINALG_STATUS_HANDLE_STALE);
    // One handle space: a system is no vector, and a vector no system.
    clinalg::Object x = clinalg::vector(std::vector<double>{1});
    double sum = 0;
    FAILS(clinalg_ode_shape(x.get(), nullptr, nullptr, nullptr), CLINALG_STATUS_HANDLE_KIND);
    OK(clinalg_ode_create("u' = -u", nullptr, 0, 0, &system));
    FAILS(clinalg_array_sum(system, &sum), CLINALG_STATUS_HANDLE_KIND);
    OK(clinalg_object_release(system));
}

void complex_numbers()
{
    using Complex = std::complex<double>;
    const Complex i(0, 1);
    const clinalg::Object a = clinalg::dense<Complex>(2, 2, {4, -i, i, 3});
    const clinalg::Object b = clinalg::vector(std::vector<Complex>{1.0 + i, 2});
    const std::vector<Complex> x = clinalg::gather<Complex>(clinalg::solve_dense(a, b, CLINALG_FACTORISATION_CHOLESKY));
    CHECK(std::abs(4.0 * x[0] + i * x[1] - (1.0 + i)) < 1e-14 && std::abs(-i * x[0] + 3.0 * x[1] - 2.0) < 1e-14);
    CHECK(clinalg::dot(b, clinalg::vector(std::vector<Complex>{i, 1})) == (1.0 - i) * i + 2.0);
    clinalg::Object scaled;
    clinalg::check(clinalg_array_scale_complex(b.get(), clinalg::number(i), scaled.out()));
    CHECK(clinalg::gather<Complex>(scaled)[0] == i * (1.0 + i));
    const clinalg::Object single = clinalg::vector(std::vector<std::complex<float>>{{1, 2}});
    CHECK(clinalg::gather<std::complex<float>>(single)[0] == std::complex<float>(1, 2));
}

void exceptions_leave_a_callback()
{
    clinalg::Object decay;
    OK(clinalg_ode_create("u' = -u", nullptr, 0, 0, decay.out()));
    clinalg_ode_options options;
    OK(clinalg_ode_options_default(&options, sizeof options));
    int calls = 0;
    std::string caught;
    try {
        clinalg::ode_run(decay, options, 0, 10, {1.0}, [&](clinalg::OdeStep step) {
            if (step.end() > 2) throw std::range_error("past 2");
            ++calls;
            return true;
        });
    } catch (const std::range_error &error) {
        caught = error.what();
    }
    CHECK(caught == "past 2" && calls > 0);
    // The library goes on, without the exception.
    double middle = 0;
    const std::vector<double> end = clinalg::ode_run(decay, options, 0, 1, {1.0}, [&](clinalg::OdeStep step) {
        if (step.begin() <= 0.5 && 0.5 <= step.end()) middle = step.at(0.5, 1)[0];
        return true;
    });
    CHECK(std::fabs(end[0] - std::exp(-1.0)) < 1e-5 && std::fabs(middle - std::exp(-0.5)) < 1e-5);
}

}  // namespace

int main()
{
    objects_replaced_are_released();
    every_kind_is_released();
    complex_numbers();
    exceptions_leave_a_callback();
    OK(clinalg_shutdown());
    if (failures == 0) puts("passed");
    return failures != 0;
}
