/* Teams of devices against one device. With one device only, teams of one. */

#include "check.h"
#include "poisson.h"

#include <math.h>
#include <string.h>

enum { SIDE = 33, ROWS = 60 };

static clinalg_handle grid(void)
{
    double values[SIDE * SIDE];
    clinalg_handle made = 0;
    size_t k;
    for (k = 0; k < SIDE * SIDE; ++k) values[k] = sin((double)(k * k % 97));
    OK(clinalg_dense_create(CLINALG_PRECISION_F64, SIDE, SIDE, values, &made));
    return made;
}

static double distance(clinalg_handle a, clinalg_handle b)
{
    clinalg_handle difference = 0;
    double norm = NAN;
    OK(clinalg_array_subtract(a, b, &difference));
    OK(clinalg_array_norm_inf(difference, &norm));
    OK(clinalg_object_release(difference));
    return norm;
}

static clinalg_handle tridiagonal(void)
{
    size_t offsets[ROWS + 1] = {0}, indices[3 * ROWS], i, entries = 0;
    double values[3 * ROWS];
    clinalg_handle a = 0;
    for (i = 0; i < ROWS; ++i) {
        if (i > 0) indices[entries] = i - 1, values[entries++] = -1;
        indices[entries] = i, values[entries++] = 3 + (double)(i % 5);
        if (i + 1 < ROWS) indices[entries] = i + 1, values[entries++] = -1;
        offsets[i + 1] = entries;
    }
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, ROWS, ROWS, offsets, indices, values, &a));
    return a;
}

static void poisson(clinalg_handle team)
{
    const clinalg_handle f = grid();
    clinalg_poisson_options options;
    clinalg_poisson_report one, both;
    clinalg_handle u = 0, v = 0;
    OK(poisson_options(2, SIDE, &options));
    OK(solve_poisson(&options, f, &u, &one));
    OK(clinalg_team_solve_poisson(&options, team, f, &v, NULL, NULL, &both, NULL, 0));
    CHECK(both.stop == CLINALG_STOP_CONVERGED && both.cycles == one.cycles);
    CHECK(distance(u, v) == 0);
    OK(clinalg_object_release(f));
    OK(clinalg_object_release(u));
    OK(clinalg_object_release(v));
}

static void wave(clinalg_handle team)
{
    const clinalg_handle start = grid();
    clinalg_wave_options params;
    clinalg_wave_report report;
    clinalg_handle one = 0, both = 0, u = 0, v = 0;
    OK(clinalg_wave_options_default(&params, sizeof params));
    params.points[0] = params.points[1] = SIDE;
    params.dt = 0.01;
    OK(clinalg_wave_create(&params, &one));
    OK(clinalg_team_wave_create(&params, team, &both));
    OK(clinalg_wave_start(one, start, 0, NULL));
    OK(clinalg_wave_start(both, start, 0, NULL));
    OK(clinalg_wave_step(one, 21, NULL));
    OK(clinalg_wave_step(both, 21, &report));
    CHECK(report.steps == 21 && fabs(report.time - 0.21) < 1e-15);
    OK(clinalg_wave_displacement(one, &u));
    OK(clinalg_wave_displacement(both, &v));
    CHECK(distance(u, v) == 0);
    params.scheme = CLINALG_SCHEME_IMPLICIT;
    OK(clinalg_object_release(both));
    FAILS(clinalg_team_wave_create(&params, team, &both), CLINALG_STATUS_VALUE);
    OK(clinalg_object_release(one));
    OK(clinalg_object_release(start));
    OK(clinalg_object_release(u));
    OK(clinalg_object_release(v));
}

static void systems(clinalg_handle team)
{
    const uint32_t methods[] = {CLINALG_METHOD_CG, CLINALG_METHOD_BICGSTAB, CLINALG_METHOD_GMRES};
    const clinalg_handle a = tridiagonal();
    const float single[ROWS] = {0};
    clinalg_solver_options options;
    clinalg_object_info info;
    clinalg_report report;
    clinalg_amg_options of_amg;
    clinalg_amg_report hierarchy;
    clinalg_handle shared = 0, b = 0, x = 0, y = 0, low = 0, amg = 0;
    double ones[ROWS];
    size_t k;
    for (k = 0; k < ROWS; ++k) ones[k] = 1;
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, ones, ROWS, &x));
    OK(clinalg_matrix_mv(1, a, x, 0, &b));
    OK(clinalg_team_matrix_create(team, a, &shared));
    OK(clinalg_object_get_info(shared, &info));
    CHECK(info.kind == CLINALG_KIND_TEAM_MATRIX && info.rows == ROWS && info.entries == 3 * ROWS - 2);
    OK(clinalg_amg_options_default(&of_amg, sizeof of_amg));
    of_amg.coarse_size = 10;
    of_amg.cycle = CLINALG_AMG_CYCLE_K;
    FAILS(clinalg_team_amg_create(&of_amg, shared, a, &amg), CLINALG_STATUS_VALUE);
    of_amg.cycle = CLINALG_AMG_CYCLE_V;
    FAILS(clinalg_team_amg_create(&of_amg, a, a, &amg), CLINALG_STATUS_HANDLE_KIND);
    OK(clinalg_team_amg_create(&of_amg, shared, a, &amg));
    OK(clinalg_object_get_info(amg, &info));
    CHECK(info.kind == CLINALG_KIND_TEAM_AMG && info.rows == ROWS);
    OK(clinalg_amg_info(amg, &hierarchy, NULL, 0));
    CHECK(hierarchy.levels >= 2 && hierarchy.operator_complexity > 1);
    FAILS(clinalg_matrix_mv(1, amg, x, 0, &y), CLINALG_STATUS_HANDLE_KIND);
    OK(clinalg_solver_options_default(&options, sizeof options));
    options.inverse = amg;
    /* The preconditioner of a team is none for the matrix on one device. */
    FAILS(clinalg_system_solve(&options, a, b, &y, NULL, NULL, 0), CLINALG_STATUS_HANDLE_KIND);
    OK(clinalg_object_release(a));
    for (k = 0; k < 3; ++k) {
        options.method = methods[k];
        y = 0;
        OK(clinalg_system_solve(&options, shared, b, &y, &report, NULL, 0));
        CHECK(report.stop == CLINALG_STOP_CONVERGED && report.iterations < 12 && distance(x, y) < 1e-8);
        OK(clinalg_object_release(y));
    }
    options.inverse = x;
    y = 0;
    FAILS(clinalg_system_solve(&options, shared, b, &y, NULL, NULL, 0), CLINALG_STATUS_HANDLE_KIND);
    options.inverse = 0;
    OK(clinalg_object_release(amg));
    for (k = 0; k < 6; ++k) {
        options.method = methods[k % 3];
        options.preconditioner = k < 3 ? CLINALG_PRECONDITIONER_NONE : CLINALG_PRECONDITIONER_JACOBI;
        y = 0;
        OK(clinalg_system_solve(&options, shared, b, &y, &report, NULL, 0));
        CHECK(report.stop == CLINALG_STOP_CONVERGED && distance(x, y) < 1e-8);
        OK(clinalg_object_release(y));
    }
    y = 0;
    options.preconditioner = CLINALG_PRECONDITIONER_AMG;
    FAILS(clinalg_system_solve(&options, shared, b, &y, &report, NULL, 0), CLINALG_STATUS_VALUE);
    CHECK(strstr(clinalg_last_error_message(), "made for it on the team") != NULL);
    options.preconditioner = CLINALG_PRECONDITIONER_NONE;
    OK(clinalg_vector_create(CLINALG_PRECISION_F32, single, ROWS, &low));
    FAILS(clinalg_system_solve(&options, shared, low, &y, &report, NULL, 0), CLINALG_STATUS_PRECISION);
    FAILS(clinalg_matrix_mv(1, shared, x, 0, &y), CLINALG_STATUS_HANDLE_KIND);
    CHECK(y == 0);
    OK(clinalg_object_release(shared));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(x));
    OK(clinalg_object_release(low));
}

int main(void)
{
    const size_t twice[] = {0, 0}, pair[] = {0, 1}, offsets[] = {0, 1}, column[] = {0};
    const double entry[] = {2};
    size_t count = 0, ranks = 0, found[2] = {9, 9}, beyond;
    clinalg_handle team = 0, small = 0, none = 0;
    clinalg_memory_report memory;
    OK(clinalg_device_count(&count));
    beyond = count;
    OK(clinalg_team_create(pair, count < 2 ? 1 : 2, &team));
    OK(clinalg_team_info(team, &ranks, found, 2));
    CHECK(ranks == (count < 2 ? 1 : 2) && found[0] == 0 && (count < 2 || found[1] == 1));
    poisson(team);
    wave(team);
    systems(team);

    FAILS(clinalg_team_create(twice, 2, &none), CLINALG_STATUS_VALUE);
    CHECK(strstr(clinalg_last_error_message(), "twice") != NULL);
    FAILS(clinalg_team_create(&beyond, 1, &none), CLINALG_STATUS_VALUE);
    FAILS(clinalg_team_create(pair, 0, &none), CLINALG_STATUS_VALUE);
    FAILS(clinalg_team_create(NULL, 1, &none), CLINALG_STATUS_NULL_POINTER);
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, 1, 1, offsets, column, entry, &small));
    if (ranks == 2) {
        FAILS(clinalg_team_matrix_create(team, small, &none), CLINALG_STATUS_VALUE);
        CHECK(strstr(clinalg_last_error_message(), "each has a row") != NULL);
    }
    FAILS(clinalg_team_matrix_create(small, small, &none), CLINALG_STATUS_HANDLE_KIND);
    CHECK(none == 0);
    OK(clinalg_object_release(small));
    OK(clinalg_object_release(team));
    FAILS(clinalg_team_info(team, &ranks, NULL, 0), CLINALG_STATUS_HANDLE_STALE);
    OK(clinalg_device_memory(&memory));
    CHECK(memory.live_bytes == 0);
    OK(clinalg_shutdown());
    if (failures == 0) {
        printf("passed on %u\n", (unsigned)(count < 2 ? 1 : 2));
    }
    return failures != 0;
}
