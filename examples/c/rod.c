/* A rod that cools: u_t = u_xx on a grid with u = 0 at both ends, from sin(pi x), so that u = exp(-pi^2 t) sin(pi x). The solution stays on
 * the device; one stepper integrates from time to time. */

#include <clinalg.h>

#include <math.h>
#include <stdio.h>

enum { POINTS = 99 };

static int failed(const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", what, clinalg_last_error_id(), clinalg_last_error_message());
    return 1;
}

int main(void)
{
    const double pi = acos(-1.0), h = 1.0 / (POINTS + 1);
    double start[POINTS], middle, t;
    clinalg_handle rod, stepper, u[2];
    clinalg_ode_options options;
    clinalg_ode_report report;
    size_t i, now = 0, steps = 0;

    for (i = 0; i < POINTS; ++i) start[i] = sin(pi * (double)(i + 1) * h);
    if (clinalg_ode_create("grid 99\nboundary value 0\nparameter k = 1\nu' = k*(u[-1] - 2*u + u[1])", NULL, 0, 0, &rod)) return failed("system");
    if (clinalg_ode_set_parameter(rod, "k", 1 / (h * h))) return failed("parameter");
    if (clinalg_ode_options_default(&options, sizeof options)) return failed("options");
    if (clinalg_ode_stepper_create(rod, "dopri54", NULL, &options, &stepper)) return failed("stepper");
    clinalg_object_release(rod); /* the stepper has what it needs */
    for (i = 0; i < 2; ++i) {
        if (clinalg_vector_create(CLINALG_PRECISION_F64, start, POINTS, &u[i])) return failed("vector");
    }

    for (t = 0; t < 0.09; t += 0.02) {
        if (clinalg_ode_stepper_solve(stepper, t, t + 0.02, u[now], u[1 - now], &report)) return failed("integration");
        now = 1 - now;
        steps += report.accepted;
        if (clinalg_array_read(u[now], CLINALG_PRECISION_F64, POINTS / 2, 1, &middle)) return failed("read");
        printf("t = %.2f: %.6f in the middle\n", t + 0.02, middle);
    }
    printf("%zu steps\n", steps);

    clinalg_object_release(stepper);
    clinalg_object_release(u[0]);
    clinalg_object_release(u[1]);
    return 0;
}
