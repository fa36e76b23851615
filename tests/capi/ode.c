/* Differential equations from C99: formulas, test problems, OpenCL C, and what goes wrong. */

#include "check.h"

#include <math.h>
#include <string.h>

#define SAYS(words) CHECK(strstr(clinalg_last_error_message(), words) != NULL)

/* A pendulum without friction against its exact solution, in both precisions. */
static void formulas(void)
{
    const double times[4] = {0, 0.5, 1, 2}, y0[2] = {0, 1};
    double y[8];
    size_t fields = 0, points = 0, distance = 0;
    clinalg_handle swing = 0;
    clinalg_ode_options options;
    clinalg_ode_report report;

    OK(clinalg_ode_options_default(&options, sizeof options));
    OK(clinalg_ode_create("parameter k = 4\nx' = v\nv' = -k*x", NULL, 0, 0, &swing));
    OK(clinalg_ode_shape(swing, &fields, &points, &distance));
    CHECK(fields == 2 && points == 1 && distance == 1);
    OK(clinalg_ode_set_parameter(swing, "k", 1.0));
    OK(clinalg_ode_solve(swing, NULL, NULL, &options, times, 4, y0, 2, y, &report));
    for (int k = 0; k < 4; ++k) {
        CHECK(fabs(y[2 * k] - sin(times[k])) < 1e-5 && fabs(y[2 * k + 1] - cos(times[k])) < 1e-5);
    }
    CHECK(report.t == 2 && report.accepted > 3 && report.rhs_evaluations >= 6 * report.accepted);
    options.precision = CLINALG_PRECISION_F32;
    options.fixed_step = 0.01;
    OK(clinalg_ode_solve(swing, "rk4", "basic", &options, times, 4, y0, 2, y, NULL));
    CHECK(fabs(y[6] - sin(2.0)) < 1e-5);

    FAILS(clinalg_ode_solve(swing, "rk5", NULL, &options, times, 4, y0, 2, y, NULL), CLINALG_STATUS_VALUE);
    FAILS(clinalg_ode_solve(swing, NULL, "fast", &options, times, 4, y0, 2, y, NULL), CLINALG_STATUS_VALUE);
    FAILS(clinalg_ode_solve(swing, NULL, NULL, &options, times, 1, y0, 2, y, NULL), CLINALG_STATUS_VALUE);
    FAILS(clinalg_ode_solve(swing, NULL, NULL, &options, times, 4, y0, 1, y, NULL), CLINALG_STATUS_VALUE);
    FAILS(clinalg_ode_solve(swing, NULL, NULL, NULL, times, 4, y0, 2, y, NULL), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_ode_solve(swing, NULL, NULL, &options, NULL, 4, y0, 2, y, NULL), CLINALG_STATUS_NULL_POINTER);
    {
        const double back[3] = {1, 0, 1}, nothing[2] = {0, 0}, nan[2] = {0, NAN};
        FAILS(clinalg_ode_solve(swing, NULL, NULL, &options, back, 3, y0, 2, y, NULL), CLINALG_STATUS_VALUE);
        SAYS("each before it");
        FAILS(clinalg_ode_solve(swing, NULL, NULL, &options, nothing, 2, y0, 2, y, NULL), CLINALG_STATUS_VALUE);
        OK(clinalg_ode_solve(swing, NULL, NULL, &options, back, 2, y0, 2, y, NULL));
        CHECK(fabs(y[2] + sin(1.0)) < 1e-5 && fabs(y[3] - cos(1.0)) < 1e-5);
        FAILS(clinalg_ode_solve(swing, NULL, NULL, &options, times, 4, nan, 2, y, NULL), CLINALG_STATUS_VALUE);
        SAYS("y0[1]");
    }
    OK(clinalg_ode_options_default(&options, sizeof options));
    options.relative = options.absolute = 0;
    FAILS(clinalg_ode_solve(swing, NULL, NULL, &options, times, 4, y0, 2, y, NULL), CLINALG_STATUS_VALUE);
    OK(clinalg_ode_options_default(&options, sizeof options));
    options.step_limit = 2;
    FAILS(clinalg_ode_solve(swing, NULL, NULL, &options, times, 4, y0, 2, y, NULL), CLINALG_STATUS_ODE_STEP_LIMIT);
    {
        /* A solution that slides along a switch. */
        const double long_time[2] = {0, 1000};
        clinalg_handle sliding = 0;
        OK(clinalg_ode_options_default(&options, sizeof options));
        OK(clinalg_ode_create("y' = if(y < 0.5, 1, -1)", NULL, 0, 0, &sliding));
        FAILS(clinalg_ode_solve(sliding, "verner65", NULL, &options, long_time, 2, y0, 1, y, NULL), CLINALG_STATUS_ODE_STEP_LIMIT);
        SAYS("`y` jumps back and forth");
        SAYS("t is only 0.5");
        OK(clinalg_object_release(sliding));
    }
    options.norm = 7;
    FAILS(clinalg_ode_solve(swing, NULL, NULL, &options, times, 4, y0, 2, y, NULL), CLINALG_STATUS_VALUE);
    {
        /* What a program with a structure of another size, or without defaults, passes. */
        const size_t sizes[] = {0, sizeof options - 8, sizeof options + 8, (size_t)-1};
        size_t k;
        for (k = 0; k < 4; ++k) {
            FAILS(clinalg_ode_options_default(&options, sizes[k]), CLINALG_STATUS_VALUE);
            SAYS("struct_size");
            OK(clinalg_ode_options_default(&options, sizeof options));
            CHECK(options.struct_size == sizeof options && options.relative == 1e-6 && options.absolute == 1e-9);
            options.struct_size = sizes[k];
            FAILS(clinalg_ode_solve(swing, NULL, NULL, &options, times, 4, y0, 2, y, NULL), CLINALG_STATUS_VALUE);
            SAYS("struct_size");
        }
        FAILS(clinalg_ode_options_default(NULL, sizeof options), CLINALG_STATUS_NULL_POINTER);
        OK(clinalg_ode_options_default(&options, sizeof options));
    }

    OK(clinalg_object_release(swing));
    FAILS(clinalg_ode_shape(swing + 1000, &fields, &points, &distance), CLINALG_STATUS_HANDLE_FOREIGN);
    FAILS(clinalg_ode_shape(7, &fields, &points, &distance), CLINALG_STATUS_HANDLE_FOREIGN);
    FAILS(clinalg_object_release(swing), CLINALG_STATUS_HANDLE_STALE);

    FAILS(clinalg_ode_create("u' = 1 + q", NULL, 0, 0, &swing), CLINALG_STATUS_ODE_FORMULA);
    SAYS("column 5");
    FAILS(clinalg_ode_create("grid 4\nu' = u[5]", NULL, 0, 0, &swing), CLINALG_STATUS_VALUE);
    SAYS("offset");
    FAILS(clinalg_ode_create("grow 4", NULL, 0, 0, &swing), CLINALG_STATUS_VALUE);
    SAYS("line 1");
    FAILS(clinalg_ode_create(NULL, NULL, 0, 0, &swing), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_ode_create("u' = 1", NULL, 0, 0, NULL), CLINALG_STATUS_NULL_POINTER);
}

/* Waveform relaxation ends at Euler's solution. */
/* Ends a relaxation after so many iterations. */
static int32_t counted(size_t iteration, double difference, void *data)
{
    CHECK(difference >= 0);
    return iteration >= *(size_t *)data;
}

static void waveform(void)
{
    double y0[54], y[54], euler[54];
    const double times[2] = {0, 0.125};
    size_t iterations[4] = {0, 0, 0, 0};
    clinalg_handle heat = 0;
    clinalg_ode_options steps;
    clinalg_waveform_options options;
    clinalg_waveform_report report;

    for (int k = 0; k < 54; ++k) {
        y0[k] = k % 7;
    }
    OK(clinalg_ode_create("grid 9 6\nu' = u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u", NULL, 0, 0, &heat));
    OK(clinalg_ode_options_default(&steps, sizeof steps));
    steps.fixed_step = 0.015625;
    {
        double both[108];
        OK(clinalg_ode_solve(heat, "euler", "fused", &steps, times, 2, y0, 54, both, NULL));
        memcpy(euler, both + 54, sizeof euler);
    }
    OK(clinalg_waveform_options_default(&options, sizeof options));
    options.h = 0.015625;
    options.steps = 8;
    options.windows = 2;
    OK(clinalg_waveform_solve(heat, NULL, &options, 0, y0, 54, y, &report, iterations, 4));
    CHECK(memcmp(y, euler, sizeof y) == 0);
    CHECK(report.windows == 2 && report.iterations == iterations[0] + iterations[1] && report.difference == 0);
    CHECK(iterations[0] <= 5 && iterations[2] == 0 && report.memory_bytes == 2 * 5 * 54 * 8);
    options.block[0] = 4;
    options.block[1] = 3;
    options.guess = CLINALG_GUESS_LINEAR;
    OK(clinalg_waveform_solve(heat, "block-boundary", &options, 0, y0, 54, y, NULL, NULL, 0));
    CHECK(memcmp(y, euler, sizeof y) == 0);

    /* The progress ends it in the second window: the solution is that at the end of the first one. */
    {
        double half[54], t = 0;
        size_t last;
        clinalg_waveform_options first = options;
        first.steps = 4;
        first.windows = 1;
        OK(clinalg_waveform_solve(heat, "block-boundary", &first, 0, y0, 54, half, &report, iterations, 4));
        last = iterations[0] + 1;
        first = options;
        first.progress = counted;
        first.progress_data = &last;
        first.reached = &t;
        OK(clinalg_waveform_solve(heat, "block-boundary", &first, 0, y0, 54, y, &report, NULL, 0));
        CHECK(t == 0.0625 && report.windows == 1 && report.iterations == last);
        CHECK(memcmp(y, half, sizeof y) == 0);
    }

    /* Another method than Euler's: its own solution too. */
    {
        double both[108];
        OK(clinalg_ode_solve(heat, "heun2", "fused", &steps, times, 2, y0, 54, both, NULL));
        options.method = "heun2";
        OK(clinalg_waveform_solve(heat, NULL, &options, 0, y0, 54, y, &report, NULL, 0));
        CHECK(memcmp(y, both + 54, sizeof y) == 0);
        CHECK(report.memory_bytes == 2 * 9 * 54 * 8);
        options.method = "ab2";
        FAILS(clinalg_waveform_solve(heat, NULL, &options, 0, y0, 54, y, NULL, NULL, 0), CLINALG_STATUS_VALUE);
        SAYS("Runge-Kutta");
        options.method = NULL;
    }
    options.h = 10;
    FAILS(clinalg_waveform_solve(heat, NULL, &options, 0, y0, 54, y, NULL, NULL, 0), CLINALG_STATUS_ODE_UNSTABLE);
    SAYS("stability limit");
    options.h = 0.015625;

    FAILS(clinalg_waveform_solve(heat, "nope", &options, 0, y0, 54, y, NULL, NULL, 0), CLINALG_STATUS_VALUE);
    SAYS("block-boundary");
    FAILS(clinalg_waveform_solve(heat, NULL, &options, 0, y0, 53, y, NULL, NULL, 0), CLINALG_STATUS_VALUE);
    FAILS(clinalg_waveform_solve(heat, NULL, NULL, 0, y0, 54, y, NULL, NULL, 0), CLINALG_STATUS_NULL_POINTER);
    options.guess = 9;
    FAILS(clinalg_waveform_solve(heat, NULL, &options, 0, y0, 54, y, NULL, NULL, 0), CLINALG_STATUS_VALUE);
    options.guess = CLINALG_GUESS_CONSTANT;
    options.windows = 3;
    FAILS(clinalg_waveform_solve(heat, NULL, &options, 0, y0, 54, y, NULL, NULL, 0), CLINALG_STATUS_VALUE);
    SAYS("divisor");

    /* A block larger than the grid, a tolerance below 0, more memory than the device has. */
    options.windows = 2;
    options.block[0] = 10;
    FAILS(clinalg_waveform_solve(heat, "block", &options, 0, y0, 54, y, NULL, NULL, 0), CLINALG_STATUS_VALUE);
    SAYS("9 points along axis 0");
    options.block[0] = 4;
    options.eps = -1;
    FAILS(clinalg_waveform_solve(heat, NULL, &options, 0, y0, 54, y, NULL, NULL, 0), CLINALG_STATUS_VALUE);
    options.eps = 0;
    options.steps = (size_t)1 << 40;
    FAILS(clinalg_waveform_solve(heat, NULL, &options, 0, y0, 54, y, NULL, NULL, 0), CLINALG_STATUS_ODE_MEMORY);
    SAYS("waveform relaxation, component: ");
    OK(clinalg_object_release(heat));

    /* A value that is not finite: window, iteration and component, all but the iteration from 0. */
    options.steps = 32;
    options.windows = 4;
    options.h = 0.5;
    for (int k = 0; k < 12; ++k) {
        y0[k] = k == 7;
    }
    OK(clinalg_ode_create("grid 12\nu' = u*u + min(u[1], 0)", NULL, 0, 0, &heat));
    FAILS(clinalg_waveform_solve(heat, NULL, &options, 0, y0, 12, y, NULL, NULL, 0), CLINALG_STATUS_ODE_WAVEFORM);
    SAYS("window 2, iteration");
    SAYS("component 8 (counted from 1)");
    OK(clinalg_object_release(heat));

    /* OpenCL C: Euler's steps of y' = -y, and a right-hand side that reads further than it declares. */
    options.steps = 4;
    options.windows = 1;
    options.block[0] = 5;
    options.block[1] = 1;
    OK(clinalg_ode_create_snippet(12, "return Y(I > 0 ? I - 1 : I) - Y(I);", NULL, 1, &heat));
    OK(clinalg_waveform_solve(heat, "block-boundary", &options, 0, y0, 12, y, NULL, NULL, 0));
    CHECK(y[7] == 0.0625 && y[8] == 4 * 0.0625 && y[11] == 0.0625 && y[6] == 0);
    OK(clinalg_object_release(heat));
    OK(clinalg_ode_create_snippet(12, "return Y((I + 5) % N) - Y(I);", NULL, 1, &heat));
    FAILS(clinalg_waveform_solve(heat, NULL, &options, 0, y0, 12, y, NULL, NULL, 0), CLINALG_STATUS_ODE_ACCESS);
    SAYS("no further than 1");
    OK(clinalg_object_release(heat));
}

/* Numbers for each point, and all points acting on each: decay towards the weighted mean. */
static void data(void)
{
    const double weights[6] = {0.5, 0.25, 0.25, 3, 2, 1}, y0[3] = {1, 2, 5}, times[2] = {0, 1.5};
    double y[6], mean = 0.5 * 1 + 0.25 * 2 + 0.25 * 5;
    clinalg_handle flock = 0;
    clinalg_ode_options options;

    OK(clinalg_ode_options_default(&options, sizeof options));
    options.relative = 1e-9;
    OK(clinalg_ode_create("grid 3\ndata w\ndata r\nu' = r*sum(w'*(u' - u))", weights, 6, 2, &flock));
    OK(clinalg_ode_solve(flock, NULL, NULL, &options, times, 2, y0, 3, y, NULL));
    CHECK(y[0] == 1 && y[1] == 2 && y[2] == 5);
    /* The mean moves unless all rates are equal; with rates of 1 the solution is known. */
    OK(clinalg_object_release(flock));
    {
        const double equal[6] = {0.5, 0.25, 0.25, 1, 1, 1};
        OK(clinalg_ode_create("grid 3\ndata w\ndata r\nu' = r*sum(w'*(u' - u))", equal, 6, 2, &flock));
    }
    OK(clinalg_ode_solve(flock, NULL, NULL, &options, times, 2, y0, 3, y, NULL));
    for (int k = 0; k < 3; ++k) {
        CHECK(fabs(y[3 + k] - (mean + (y0[k] - mean) * exp(-1.5))) < 1e-7);
    }
    OK(clinalg_object_release(flock));
    FAILS(clinalg_ode_create("grid 3\ndata w\nu' = w", weights, 5, 2, &flock), CLINALG_STATUS_VALUE);
    FAILS(clinalg_ode_create("grid 3\ndata w\nu' = w", weights, 2, 1, &flock), CLINALG_STATUS_VALUE);
}

static void problems(void)
{
    double y[2 * 2 * 18], y0[2 * 18], times[2], before = 0, after = 0;
    size_t fields, points;
    clinalg_handle pairs = 0;
    clinalg_ode_options options;

    OK(clinalg_ode_options_default(&options, sizeof options));
    OK(clinalg_ode_create_problem("lotka-volterra", 18, &pairs));
    OK(clinalg_ode_shape(pairs, &fields, &points, NULL));
    CHECK(fields == 2 && points == 18);
    OK(clinalg_ode_initial(pairs, y0, 36, &times[0], &times[1]));
    CHECK(y0[0] == 1 && y0[17] == 3 && y0[18] == 1 && y0[35] == 2);
    OK(clinalg_ode_solve(pairs, "verner65", NULL, &options, times, 2, y0, 36, y, NULL));
    for (int k = 0; k < 18; ++k) {
        before += y0[k] - 3 * log(y0[k]) + y0[18 + k] - 1.5 * log(y0[18 + k]);
        after += y[36 + k] - 3 * log(y[36 + k]) + y[54 + k] - 1.5 * log(y[54 + k]);
    }
    CHECK(fabs(after - before) < 1e-3);
    FAILS(clinalg_ode_initial(pairs, y0, 35, NULL, NULL), CLINALG_STATUS_LENGTH);
    OK(clinalg_object_release(pairs));
    FAILS(clinalg_ode_create_problem("lotka", 18, &pairs), CLINALG_STATUS_VALUE);
    SAYS("lotka-volterra");
}

static void snippets(void)
{
    double y0[40], y[80];
    const double times[2] = {0, 1};
    clinalg_handle chain = 0;
    clinalg_ode_options options;

    OK(clinalg_ode_options_default(&options, sizeof options));
    for (int k = 0; k < 40; ++k) {
        y0[k] = k + 1;
    }
    OK(clinalg_ode_create_snippet(40, "return -twice(Y(I));", "REAL twice(const REAL v) { return 2 * v; }", 0, &chain));
    OK(clinalg_ode_solve(chain, NULL, NULL, &options, times, 2, y0, 40, y, NULL));
    CHECK(fabs(y[40 + 39] - 40 * exp(-2.0)) < 1e-4);
    FAILS(clinalg_ode_initial(chain, y0, 40, NULL, NULL), CLINALG_STATUS_VALUE);
    OK(clinalg_object_release(chain));
    OK(clinalg_ode_create_snippet(40, "return Y((I + 2) % N);", NULL, 2, &chain));
    FAILS(clinalg_ode_solve(chain, NULL, NULL, &options, times, 2, y0, 40, y, NULL), CLINALG_STATUS_ODE_ACCESS);
    SAYS("38 away");
    OK(clinalg_object_release(chain));
}

/* What a run saw. */
typedef struct {
    size_t steps, events;
    double times[4], worst;
    int stop_after;
} seen;

static int32_t see(clinalg_ode_step *step, void *data)
{
    seen *s = data;
    double begin, end, y[2], times[2];
    size_t count = 0, events[2];
    clinalg_ode_report report;
    OK(clinalg_ode_step_info(step, &begin, &end, &report));
    CHECK(begin != end && report.t == end && report.accepted == ++s->steps);
    for (int k = 0; k <= 10; ++k) {
        const double t = k == 10 ? end : begin + k * (end - begin) / 10;
        OK(clinalg_ode_step_at(step, t, y, 2));
        s->worst = fmax(s->worst, fmax(fabs(y[0] - sin(t)), fabs(y[1] - cos(t))));
    }
    FAILS(clinalg_ode_step_at(step, end + 2 * (end - begin), y, 2), CLINALG_STATUS_VALUE);
    FAILS(clinalg_ode_step_at(step, end, y, 3), CLINALG_STATUS_LENGTH);
    FAILS(clinalg_ode_step_at(NULL, end, y, 2), CLINALG_STATUS_NULL_POINTER);
    OK(clinalg_ode_step_events(step, 2, events, times, &count));
    for (size_t k = 0; k < count; ++k) {
        CHECK(events[k] == s->events % 2 && times[k] >= fmin(begin, end) && times[k] <= fmax(begin, end));
        OK(clinalg_ode_step_at(step, times[k], y, 2));
        CHECK(fabs(y[events[k] == 0 ? 1 : 0]) < 1e-7);
        s->times[s->events++] = times[k];
    }
    return s->stop_after != 0 && s->steps >= (size_t)s->stop_after;
}

/* Zeros of cosine and sine in turn, the solution between steps, an end by the program and by an event. */
static void runs(void)
{
    const double y0[2] = {0, 1}, times[4] = {0, 1, 5, 6}, pi = acos(-1.0);
    const double late[2] = {sin(1.0), cos(1.0)};
    double y[8];
    clinalg_handle swing = 0;
    clinalg_ode_options options;
    clinalg_ode_report report;
    seen s = {0};

    OK(clinalg_ode_options_default(&options, sizeof options));
    options.relative = 1e-9;
    OK(clinalg_ode_create("x' = v\nv' = -x\nevent = v", NULL, 0, 0, &swing));
    OK(clinalg_ode_add_event(swing, "x", 0, CLINALG_ODE_DIRECTION_ANY, 0));
    OK(clinalg_ode_solve_with(swing, NULL, NULL, &options, 0, 6.5, y0, 2, see, &s, y, &report));
    CHECK(s.steps == report.accepted && s.worst < 1e-7 && s.events == 4 && report.t == 6.5);
    for (int k = 0; k < 4; ++k) {
        CHECK(fabs(s.times[k] - (k + 1) * pi / 2) < 1e-8);
    }
    CHECK(fabs(y[0] - sin(6.5)) < 1e-7);
    memset(&s, 0, sizeof s);
    s.stop_after = 3;
    OK(clinalg_ode_solve_with(swing, NULL, NULL, &options, 0, 6.5, y0, 2, see, &s, y, &report));
    CHECK(s.steps == 3 && report.accepted == 3 && report.t < 6.5 && fabs(y[0] - sin(report.t)) < 1e-7);
    FAILS(clinalg_ode_solve_with(swing, NULL, NULL, &options, 0, 1, y0, 2, NULL, NULL, y, NULL), CLINALG_STATUS_NULL_POINTER);
    memset(&s, 0, sizeof s);
    OK(clinalg_ode_solve_with(swing, NULL, NULL, &options, 1, 0.5, late, 2, see, &s, y, &report));
    CHECK(s.steps == report.accepted && s.worst < 1e-7 && report.t == 0.5 && fabs(y[0] - sin(0.5)) < 1e-7);
    FAILS(clinalg_ode_add_event(swing, "x + q", 0, 0, 0), CLINALG_STATUS_ODE_FORMULA);
    FAILS(clinalg_ode_add_event(swing, "x", 1, 0, 0), CLINALG_STATUS_VALUE);
    FAILS(clinalg_ode_add_event(swing, "x", 0, 3, 0), CLINALG_STATUS_VALUE);
    FAILS(clinalg_ode_add_event(swing + 1000, "x", 0, 0, 0), CLINALG_STATUS_HANDLE_FOREIGN);

    /* A terminal event among times that are asked for. */
    OK(clinalg_ode_add_event(swing, "x + 0.5", 0, CLINALG_ODE_DIRECTION_FALLING, 1));
    OK(clinalg_ode_solve(swing, NULL, NULL, &options, times, 4, y0, 2, y, &report));
    CHECK(fabs(report.t - 7 * pi / 6) < 1e-8 && fabs(y[2] - sin(1.0)) < 1e-7);
    CHECK(fabs(y[4] + 0.5) < 1e-8 && isnan(y[6]) && isnan(y[7]));

    /* A tolerance for each component: the one that is not asked for much decides little. */
    {
        const double loose[2] = {1e-3, 1e-3}, mixed[2] = {1e-10, 1e3};
        size_t few;
        options.relative = 0;
        OK(clinalg_ode_set_tolerances(swing, loose, 2));
        OK(clinalg_ode_solve(swing, NULL, NULL, &options, times, 2, y0, 2, y, &report));
        few = report.accepted;
        OK(clinalg_ode_set_tolerances(swing, mixed, 2));
        OK(clinalg_ode_solve(swing, NULL, NULL, &options, times, 2, y0, 2, y, &report));
        CHECK(report.accepted > few && fabs(y[2] - sin(1.0)) < 1e-8);
        FAILS(clinalg_ode_set_tolerances(swing, mixed, 1), CLINALG_STATUS_LENGTH);
        OK(clinalg_ode_set_tolerances(swing, NULL, 0));
    }
    OK(clinalg_object_release(swing));
}

/* A cubic: two of its zeros are in one step. */
static void zeros(void)
{
    const double times[2] = {-8, 4}, y0[1] = {-120};
    double y[2];
    clinalg_handle cubic = 0;
    clinalg_ode_options options;
    clinalg_ode_report report;

    OK(clinalg_ode_options_default(&options, sizeof options));
    OK(clinalg_ode_create("event rising terminal = y\ny' = 3*t^2 + 12*t - 4", NULL, 0, 0, &cubic));
    OK(clinalg_ode_solve(cubic, NULL, NULL, &options, times, 2, y0, 1, y, &report));
    CHECK(fabs(report.t + 6) < 1e-9 && fabs(y[1]) < 1e-7);
    OK(clinalg_object_release(cubic));
}

/* From a vector on the device to another. */
static void vectors(void)
{
    double y[50];
    clinalg_handle decay = 0, before = 0, after = 0;
    clinalg_ode_options options;
    clinalg_ode_report report;

    for (int k = 0; k < 50; ++k) {
        y[k] = k - 20;
    }
    OK(clinalg_ode_options_default(&options, sizeof options));
    OK(clinalg_ode_create("grid 50\nu' = -u", NULL, 0, 0, &decay));
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, y, 50, &before));
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, y, 50, &after));
    OK(clinalg_ode_solve_vector(decay, NULL, NULL, &options, 0, 1, before, after, &report));
    OK(clinalg_array_read(after, CLINALG_PRECISION_F64, 0, 50, y));
    for (int k = 0; k < 50; ++k) {
        CHECK(fabs(y[k] - (k - 20) * exp(-1.0)) < 1e-4);
    }
    CHECK(report.t == 1 && report.accepted > 2);
    /* Dense matrices of one column take the place of vectors; those of several do not. */
    {
        double column[50];
        clinalg_handle start = 0, end = 0, square = 0;
        for (int k = 0; k < 50; ++k) column[k] = k - 20;
        OK(clinalg_dense_create(CLINALG_PRECISION_F64, 50, 1, column, &start));
        OK(clinalg_array_zeros(CLINALG_PRECISION_F64, 50, 1, &end));
        OK(clinalg_array_zeros(CLINALG_PRECISION_F64, 25, 2, &square));
        OK(clinalg_ode_solve_vector(decay, NULL, NULL, &options, 0, 1, start, end, NULL));
        OK(clinalg_array_read(end, CLINALG_PRECISION_F64, 0, 50, column));
        CHECK(memcmp(column, y, sizeof y) == 0);
        FAILS(clinalg_ode_solve_vector(decay, NULL, NULL, &options, 0, 1, start, square, NULL), CLINALG_STATUS_SHAPE);
        FAILS(clinalg_ode_solve_vector(decay, NULL, NULL, &options, 0, 1, square, end, NULL), CLINALG_STATUS_SHAPE);
        OK(clinalg_object_release(start));
        OK(clinalg_object_release(end));
        OK(clinalg_object_release(square));
    }
    FAILS(clinalg_ode_solve_vector(decay, NULL, NULL, &options, 0, 1, before, before, NULL), CLINALG_STATUS_VALUE);
    FAILS(clinalg_ode_solve_vector(decay, NULL, NULL, &options, 0, 1, before, decay, NULL), CLINALG_STATUS_HANDLE_KIND);
    OK(clinalg_object_release(after));
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, y, 49, &after));
    FAILS(clinalg_ode_solve_vector(decay, NULL, NULL, &options, 0, 1, before, after, NULL), CLINALG_STATUS_LENGTH);
    OK(clinalg_object_release(after));
    OK(clinalg_vector_create(CLINALG_PRECISION_F32, (float[2]){1, 2}, 2, &after));
    FAILS(clinalg_ode_solve_vector(decay, NULL, NULL, &options, 0, 1, before, after, NULL), CLINALG_STATUS_PRECISION);
    OK(clinalg_object_release(after));
    OK(clinalg_object_release(before));
    OK(clinalg_object_release(decay));
}

/* Diffusion by stabilised steps: u = exp(-lambda t) sin(pi x) on the points of a grid, in far fewer steps than a Runge-Kutta method takes. */
static void stabilised_steps(void)
{
    enum { POINTS = 99 };
    const double pi = acos(-1.0), h = 1.0 / (POINTS + 1), lambda = pow(2 / h * sin(pi * h / 2), 2), times[] = {0, 0.1};
    double start[POINTS], y[2 * POINTS], wrong = 0, at_once = 0;
    clinalg_handle heat = 0, before = 0, after = 0, stepper = 0;
    clinalg_ode_options options;
    clinalg_ode_report report, other;
    for (int k = 0; k < POINTS; ++k) start[k] = sin(pi * (k + 1) * h);
    OK(clinalg_ode_options_default(&options, sizeof options));
    options.relative = options.absolute = 1e-5;
    OK(clinalg_ode_create("grid 99\nboundary value 0\nu' = 10000*(u[-1] - 2*u + u[+1])", NULL, 0, 0, &heat));
    OK(clinalg_ode_solve(heat, "rkc", NULL, &options, times, 2, start, POINTS, y, &report));
    for (int k = 0; k < POINTS; ++k) wrong = fmax(wrong, fabs(y[POINTS + k] - exp(-lambda * 0.1) * start[k]));
    CHECK(wrong < 1e-4 && report.t == 0.1);
    OK(clinalg_ode_solve(heat, "dopri54", NULL, &options, times, 2, start, POINTS, y, &other));
    CHECK(10 * report.accepted < other.accepted && 2 * report.rhs_evaluations < other.rhs_evaluations);

    OK(clinalg_vector_create(CLINALG_PRECISION_F64, start, POINTS, &before));
    OK(clinalg_vector_constant(CLINALG_PRECISION_F64, POINTS, 0, &after));
    OK(clinalg_ode_stepper_create(heat, "rkc", NULL, &options, &stepper));
    for (int run = 0; run < 2; ++run) {
        OK(clinalg_ode_stepper_solve(stepper, 0, 0.1, before, after, &other));
        OK(clinalg_array_read(after, CLINALG_PRECISION_F64, 0, POINTS, y));
        at_once = 0;
        for (int k = 0; k < POINTS; ++k) at_once = fmax(at_once, fabs(y[k] - exp(-lambda * 0.1) * start[k]));
        CHECK(at_once < 1e-4);
    }
    FAILS(clinalg_ode_solve(heat, "rkc2", NULL, &options, times, 2, start, POINTS, y, NULL), CLINALG_STATUS_VALUE);
    SAYS("ab6, rkc");
    for (int k = 0; k < POINTS; ++k) y[k] = 1e-5;
    OK(clinalg_ode_set_tolerances(heat, y, POINTS));
    FAILS(clinalg_ode_solve(heat, "rkc", NULL, &options, times, 2, start, POINTS, y, NULL), CLINALG_STATUS_VALUE);
    SAYS("one absolute tolerance");
    start[3] = NAN;
    FAILS(clinalg_ode_solve(heat, "rkc", NULL, &options, times, 2, start, POINTS, y, NULL), CLINALG_STATUS_VALUE);
    OK(clinalg_object_release(heat));
    OK(clinalg_object_release(before));
    OK(clinalg_object_release(after));
    OK(clinalg_object_release(stepper));
}

int main(void)
{
    stabilised_steps();
    formulas();
    waveform();
    data();
    problems();
    snippets();
    runs();
    zeros();
    vectors();
    clinalg_shutdown();
    if (failures == 0) {
        puts("passed");
    }
    return failures != 0;
}
