/* The Poisson problem on all devices of the machine together. */

#include <clinalg.h>

#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 257 };

static int failed(const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", what, clinalg_last_error_id(), clinalg_last_error_message());
    return 1;
}

int main(void)
{
    size_t count = 0, k, *devices;
    clinalg_handle team = 0, f = 0, u = 0;
    clinalg_poisson_options options;
    clinalg_poisson_report report;
    double largest;

    if (clinalg_device_count(&count) || count == 0) return failed("devices");
    devices = calloc(count, sizeof *devices);
    if (!devices) return 1;
    for (k = 0; k < count; ++k) devices[k] = k;
    if (clinalg_team_create(devices, count, &team)) return failed("team");
    free(devices);

    if (clinalg_array_zeros(CLINALG_PRECISION_F64, SIDE, SIDE, &f)) return failed("right-hand side");
    if (clinalg_array_fill(f, 1)) return failed("right-hand side");
    if (clinalg_poisson_options_default(&options, sizeof options)) return failed("options");
    options.points[0] = options.points[1] = SIDE;
    if (clinalg_team_solve_poisson(&options, team, f, &u, NULL, NULL, &report, NULL, 0)) return failed("solve");
    if (clinalg_array_norm_inf(u, &largest)) return failed("norm");
    printf("%zu devices, %zu cycles, largest %.6f\n", count, report.cycles, largest);

    clinalg_object_release(u);
    clinalg_object_release(f);
    clinalg_object_release(team);
    return 0;
}
