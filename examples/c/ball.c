/* A ball thrown up: its highest point, its path in steps of a tenth, and when it falls to the ground. */

#include <clinalg.h>

#include <stdio.h>

static int32_t see(clinalg_ode_step *step, void *data)
{
    double begin, end, y[2], times[2], *next = data;
    size_t events[2], count;

    if (clinalg_ode_step_info(step, &begin, &end, NULL)) return 1;
    for (; *next <= end; *next += 0.1) {
        if (clinalg_ode_step_at(step, *next, y, 2)) return 1;
        printf("%.1f s  %.3f m\n", *next, y[0]);
    }
    if (clinalg_ode_step_events(step, 2, events, times, &count)) return 1;
    for (size_t k = 0; k < count; ++k) printf("%s at %.6f s\n", events[k] == 0 ? "highest" : "down", times[k]);
    return 0;
}

int main(void)
{
    const double start[] = {1, 8};
    double end[2], next = 0;
    clinalg_handle ball;
    clinalg_ode_options options;
    clinalg_ode_report report;

    if (clinalg_ode_create("height' = speed\nspeed' = -9.81\nevent = speed\nevent falling terminal = height",
                           NULL, 0, 0, &ball) ||
        clinalg_ode_options_default(&options, sizeof options) ||
        clinalg_ode_solve_with(ball, "dopri54", NULL, &options, 0, 100, start, 2, see, &next, end, &report)) {
        fprintf(stderr, "%s: %s\n", clinalg_last_error_id(), clinalg_last_error_message());
        return 1;
    }
    printf("%zu steps, speed %.6f m/s\n", report.accepted, end[1]);
    clinalg_object_release(ball);
    return 0;
}
