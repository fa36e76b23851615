// The classes of clinalg.hpp for differential equations and boundary elements against closed forms and against each other. With C++20
// arrays are passed as std::span.

#include "check.h"

#include <clinalg.hpp>

#include <cmath>

namespace {

using namespace clinalg;
typedef std::complex<double> Complex;
typedef std::vector<double> Values;

void equations()
{
    Ode decay("parameter k = 1\nu' = -k*u");
    decay.set_parameter("k", 2);
    const Ode::Shape shape = decay.shape();
    CHECK(shape.fields == 1 && shape.points == 1 && shape.components() == 1);
    OdeOptions options;
    options.relative = 1e-9;
    options.method = "dopri54";
    clinalg_ode_report report;
    const Values y = decay.solve({0, 0.5, 1}, {1.0}, options, &report);
    CHECK(y.size() == 3 && y[0] == 1 && std::fabs(y[1] - std::exp(-1.0)) < 1e-8 && std::fabs(y[2] - std::exp(-2.0)) < 1e-8);
    CHECK(report.t == 1 && report.accepted > 0);
    Vector from = vector<double>({1}), to = vector<double>({0});
    CHECK(decay.solve(0, 1, from, to, options).t == 1 && std::fabs(to.gather<double>()[0] - std::exp(-2.0)) < 1e-8);

    // u = 1/2 at log(2) / 2.
    decay.add_event("u - 0.5", 0, CLINALG_ODE_DIRECTION_FALLING, true);
    decay.set_tolerances({1e-10});
    double time = 0;
    std::size_t accepted = 0;
    const Values end = decay.run(0, 3, {1.0}, [&](OdeStep step) {
        for (const OdeEvent &event : step.events()) time = event.number == 0 ? event.time : -1;
        accepted = step.report().accepted;
        return true;
    }, options);
    CHECK(std::fabs(time - std::log(2.0) / 2) < 1e-8 && std::fabs(end[0] - 0.5) < 1e-8 && accepted > 0);

    const Ode body = Ode::snippet(2, "return I == 0 ? Y(1) : -Y(0);", 1);
    CHECK(std::fabs(body.solve({0, 1}, {0, 1})[2] - std::sin(1.0)) < 1e-5);
    const Ode helped = Ode::snippet(1, "return twice(Y(0));", 0, "static double twice(double x) { return 2 * x; }");
    CHECK(std::fabs(helped.solve({0, 1}, {1.0})[1] - std::exp(2.0)) < 1e-4);

    const Ode heat = Ode::problem("heat2d", 8);
    const Ode::Initial initial = heat.initial();
    CHECK(initial.y0.size() == heat.shape().components() && initial.t_end > initial.t0);
    WaveformOptions waveform;
    waveform.steps = 10;
    waveform.windows = 2;
    waveform.method = "rk4";
    waveform.variant = "point";
    clinalg_waveform_report done;
    std::vector<std::size_t> iterations;
    const Values relaxed = heat.waveform(0, initial.y0, waveform, &done, &iterations);
    OdeOptions fixed;
    fixed.method = "rk4";
    fixed.fixed_step = waveform.h;
    const Values stepped = heat.solve({0, 10 * waveform.h}, initial.y0, fixed);
    double most = 0;
    for (std::size_t k = 0; k < relaxed.size(); ++k) most = std::max(most, std::fabs(relaxed[k] - stepped[relaxed.size() + k]));
    CHECK(most < 1e-12 && done.windows == 2 && iterations.size() == 2 && iterations[0] + iterations[1] == done.iterations);
}

void steppers()
{
    Ode decay("grid 40\nparameter k = 1\nu' = -k*u");
    for (const char *method : {"dopri54", "ab4"}) {
        OdeOptions options;
        options.method = method;
        if (options.method == "ab4") options.fixed_step = 1.0 / 256;
        const OdeStepper stepper(decay, options);
        // As in single calls to the last bit, whatever came before.
        for (const double size : {1.0, 3.0, 1.0}) {
            const Vector y0 = vector(Values(40, size));
            Vector once = vector(Values(40)), often = vector(Values(40));
            const clinalg_ode_report single = decay.solve(0, 1, y0, once, options), report = stepper.solve(0, 1, y0, often);
            CHECK(often.gather<double>() == once.gather<double>() && report.accepted == single.accepted && report.t == 1);
            CHECK(std::fabs(often.gather<double>()[39] - size * std::exp(-1.0)) < 1e-5);
        }
    }
    const OdeStepper stepper(decay);
    CHECK(stepper.info().kind == CLINALG_KIND_ODE_STEPPER && stepper.info().rows == 40 && stepper.info().cols == 1);
    decay.set_parameter("k", 5);
    decay = Ode();
    Vector y = vector(Values(40));
    stepper.solve(0, 1, vector(Values(40, 1)), y);
    CHECK(std::fabs(y.gather<double>()[0] - std::exp(-1.0)) < 1e-5);
    Vector single = vector(std::vector<float>(40));
    const clinalg_status status = clinalg_ode_stepper_solve(stepper.get(), 0, 1, single.get(), y.get(), nullptr);
    FAILS(status, CLINALG_STATUS_PRECISION);
    FAILS(clinalg_ode_stepper_solve(y.get(), 0, 1, y.get(), y.get(), nullptr), CLINALG_STATUS_HANDLE_KIND);
    FAILS(clinalg_ode_stepper_create(stepper.get(), nullptr, nullptr, nullptr, nullptr), CLINALG_STATUS_NULL_POINTER);
}

void heat_operators()
{
    const double nodes[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    const std::uint32_t triangles[] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2};
    HeatOptions options;
    options.steps = 4;
    const HeatOperator v(options, CLINALG_HEAT_KIND_V, nodes, triangles);
    CHECK(v.rows() == 16 && v.cols() == 16);
    const Vector x = vector(Values(16, 1)), b = v * x;
    CHECK(norm(v.forward_inverse() * b - x) < 1e-10);
    const Operator m = v.operator_preconditioner(CLINALG_STORAGE_ASSEMBLED);
    Vector y;
    CHECK(solve(v, b, y, SolverOptions(CLINALG_METHOD_GMRES, m)).converged() && norm(y - x) < 1e-7);
}

void elastodynamics()
{
    // A cubic cavity under pressure.
    const double nodes[] = {-1, -1, -1, 1, -1, -1, 1, 1, -1, -1, 1, -1, -1, -1, 1, 1, -1, 1, 1, 1, 1, -1, 1, 1};
    const std::uint32_t elements[] = {0, 3, 2, 1, 4, 5, 6, 7, 0, 1, 5, 4, 1, 2, 6, 5, 2, 3, 7, 6, 3, 0, 4, 7};
    ElastodynamicsOptions options;
    options.domain = CLINALG_DOMAIN_EXTERIOR;
    const Elastodynamics problem(options, nodes, elements, 6);
    CHECK(problem.unknowns() == 18);
    const Elastodynamics::Surface surface = problem.surface();
    CHECK(surface.centres[5] == 1 && surface.normals[5] == -1);
    std::vector<Complex> given(surface.normals.begin(), surface.normals.end());
    const std::vector<std::uint32_t> known(18, CLINALG_KNOWN_TRACTION);
    const Elastodynamics::Solution solution = problem.solve(1, known, given);
    CHECK(solution.tractions == given);
    // H u = G t.
    const std::pair<Dense, Dense> matrices = problem.assemble(1);
    CHECK(norm(matrices.first * vector(solution.displacements) - matrices.second * vector(solution.tractions)) < 1e-10);
    // The same on the axes of x and z.
    const double points[] = {0, 0, 3, 3, 0, 0};
    try {
        (void)problem.solve(1, known, given, CLINALG_ELASTODYNAMICS_METHOD_LU, [](std::size_t, double) { return false; });
        CHECK(false);
    } catch (const Error &error) {
        CHECK(error.status() == CLINALG_STATUS_CANCELLED);
    }
    const Elastodynamics::Fields fields = problem.evaluate(1, solution.displacements, solution.tractions, points);
    CHECK(fields.displacements.size() == 6 && fields.stresses.size() == 18);
    CHECK(std::abs(fields.displacements[2] - fields.displacements[3]) < 1e-10 && std::abs(fields.displacements[2]) > 0.01);
    CHECK(problem.evaluate(1, solution.displacements, solution.tractions, points, false).stresses.empty());
    try {
        (void)problem.solve(1, known, View<Complex>(given.data(), 5));
        CHECK(!"five values for 18 unknowns");
    } catch (const std::invalid_argument &) {
    }
}

#ifdef __cpp_lib_span
void spans()
{
    const Values values = {1, 2, 3, 4};
    const std::vector<std::size_t> offsets = {0, 1, 2}, columns = {1, 0};
    const std::span<const double> all(values);
    Vector x = vector(all.first(2));
    CHECK((csr(2, 2, std::span(offsets), std::span(columns), all.first(2)) * x).gather<double>() == Values({2, 2}));
    CHECK((dense(2, 2, all) * x).gather<double>() == Values({7, 10}));
    x.write(0, all.subspan(2));
    Values back(2);
    x.read(0, std::span(back));
    CHECK(back == Values({3, 4}));
}
#else
void spans() {}
#endif

}  // namespace

int main()
{
    equations();
    steppers();
    heat_operators();
    elastodynamics();
    spans();
    shutdown();
    if (failures == 0) puts("passed");
    return failures != 0;
}
