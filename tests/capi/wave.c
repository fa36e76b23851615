/* Waves on squares and boxes from C99 against the standing waves of the scheme itself, which it computes exactly. */

#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 9 * 8 * 7 };

#define SAYS(word) CHECK(strstr(clinalg_last_error_message(), word) != NULL)

static const double pi = 3.14159265358979323846;

static clinalg_wave_options options_of(size_t dim, size_t nx, size_t ny, size_t nz)
{
    clinalg_wave_options options;
    OK(clinalg_wave_options_default(&options, sizeof options));
    options.dim = dim;
    options.points[0] = nx;
    options.points[1] = ny;
    options.points[2] = nz;
    return options;
}

/* One direction of a standing wave: its values and (2 sin(k h / 2) / h)^2, the eigenvalue of second differences. */
static double mode(uint32_t side, size_t n, double length, size_t waves, double *values)
{
    const int periodic = side == CLINALG_WAVE_SIDE_PERIODIC;
    const double h = length / (double)(periodic ? n : n - 1), k = (periodic ? 2 : 1) * pi * (double)waves / length;
    size_t i;
    for (i = 0; i < n; ++i) {
        const double x = (double)i * h;
        values[i] = side == CLINALG_WAVE_SIDE_FIXED ? sin(k * x) : cos(k * x);
    }
    return pow(2 * sin(k * h / 2) / h, 2);
}

static double distance(clinalg_handle x, const double *wanted, double factor, size_t count)
{
    double found[MOST], most = 0;
    size_t i;
    OK(clinalg_array_read(x, CLINALG_PRECISION_F64, 0, count, found));
    for (i = 0; i < count; ++i) {
        if (!(fabs(found[i] - factor * wanted[i]) <= most)) most = fabs(found[i] - factor * wanted[i]);
    }
    return most;
}

/* u = cos(omega t) X(x) Y(y) Z(z) with (2 sin(omega dt / 2) / dt)^2 = c^2 times the sum of the eigenvalues. */
static void standing(clinalg_wave_options options, const uint32_t *sides, const size_t *waves)
{
    static const size_t steps = 37;
    double parts[3][16] = {{0}}, values[MOST], speed[MOST], sum = 0, limit = 0, omega, kinetic, potential, first;
    clinalg_handle wave = 0, again = 0, u = 0, v = 0, start = 0;
    clinalg_object_info info;
    clinalg_wave_report report;
    size_t axis, i, j, k, count = 1;
    for (axis = 0; axis < 3; ++axis) {
        if (axis >= options.dim) {
            parts[axis][0] = 1;
            options.points[axis] = 1;
            continue;
        }
        options.sides[axis][0] = options.sides[axis][1] = sides[axis];
        sum += mode(sides[axis], options.points[axis], options.lengths[axis], waves[axis], parts[axis]);
        count *= options.points[axis];
    }
    for (k = 0; k < options.points[2]; ++k)
        for (j = 0; j < options.points[1]; ++j)
            for (i = 0; i < options.points[0]; ++i)
                values[(k * options.points[1] + j) * options.points[0] + i] = parts[0][i] * parts[1][j] * parts[2][k];
    for (i = 0; i < count; ++i) speed[i] = options.c;

    OK(clinalg_wave_limit(&options, &limit));
    {
        double inverse = 0;
        for (axis = 0; axis < options.dim; ++axis) {
            const int periodic = sides[axis] == CLINALG_WAVE_SIDE_PERIODIC;
            inverse += pow((double)(options.points[axis] - (periodic ? 0 : 1)) / options.lengths[axis], 2);
        }
        CHECK(fabs(limit * options.c * sqrt(inverse) - 1) < 1e-13);
    }
    options.dt = 0.9 * limit;
    omega = 2 * asin(options.c * options.dt * sqrt(sum) / 2) / options.dt;
    OK(clinalg_wave_create(&options, &wave));
    OK(clinalg_object_get_info(wave, &info));
    CHECK(info.kind == CLINALG_KIND_WAVE && info.precision == CLINALG_PRECISION_F64);
    CHECK(info.rows == options.points[0] && info.rows * info.cols == count);
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, values, count, &start));
    OK(clinalg_wave_start(wave, start, 0, NULL));
    OK(clinalg_wave_step(wave, 1, NULL));
    OK(clinalg_wave_energy(wave, &kinetic, &potential));
    first = kinetic + potential;
    CHECK(kinetic > 0 && potential > 0);
    OK(clinalg_wave_step(wave, steps - 1, &report));
    CHECK(report.steps == steps - 1 && report.stop == CLINALG_STOP_CONVERGED);
    CHECK(fabs(report.time - (double)steps * options.dt) < 1e-12);
    OK(clinalg_wave_displacement(wave, &u));
    CHECK(distance(u, values, cos(omega * report.time), count) < 1e-12);
    OK(clinalg_wave_velocity(wave, &v));
    CHECK(distance(v, values, -sin(omega * report.time) * sin(omega * options.dt) / options.dt, count) < 1e-10);
    OK(clinalg_wave_energy(wave, &kinetic, NULL));
    OK(clinalg_wave_energy(wave, NULL, &potential));
    CHECK(fabs(kinetic + potential - first) < 1e-12 * first);

    /* A wave with the speed at each point goes on from displacement and velocity. */
    options.speed = speed;
    options.speed_count = count;
    options.c = NAN;
    OK(clinalg_wave_create(&options, &again));
    OK(clinalg_wave_start(again, u, v, NULL));
    OK(clinalg_wave_step(again, 5, NULL));
    OK(clinalg_wave_displacement(again, &u));
    CHECK(distance(u, values, cos(omega * (report.time + 5 * options.dt)), count) < 1e-11);
    OK(clinalg_object_release(wave));
    OK(clinalg_object_release(again));
    OK(clinalg_object_release(start));
    OK(clinalg_object_release(u));
    OK(clinalg_object_release(v));
}

static int32_t stop(size_t made, double time, void *data)
{
    CHECK(made > 0 && time > 0);
    ++*(size_t *)data;
    return 1;
}

/* A pulse leaves through absorbing sides; a program ends the steps. */
static void absorbed(void)
{
    enum { NX = 41, NY = 9 };
    double values[NX * NY], kinetic, potential, before;
    clinalg_wave_options options = options_of(2, NX, NY, 0);
    clinalg_handle wave = 0, u = 0;
    clinalg_wave_report report;
    size_t k, calls = 0;
    for (k = 0; k < NX * NY; ++k) {
        const double x = (double)(k % NX) / (NX - 1) * 2;
        values[k] = exp(-40 * (x - 1) * (x - 1));
    }
    options.lengths[0] = 2;
    options.sides[0][0] = options.sides[0][1] = CLINALG_WAVE_SIDE_ABSORBING;
    options.sides[1][0] = options.sides[1][1] = CLINALG_WAVE_SIDE_FREE;
    OK(clinalg_wave_limit(&options, &options.dt));
    options.precision = CLINALG_PRECISION_F32;
    OK(clinalg_wave_create(&options, &wave));
    OK(clinalg_dense_create(CLINALG_PRECISION_F64, NX, NY, values, &u));
    FAILS(clinalg_wave_start(wave, u, 0, NULL), CLINALG_STATUS_PRECISION);
    {
        clinalg_handle narrow = 0;
        OK(clinalg_array_convert(u, CLINALG_PRECISION_F32, &narrow));
        OK(clinalg_wave_start(wave, narrow, 0, NULL));
        OK(clinalg_object_release(narrow));
    }
    OK(clinalg_wave_energy(wave, &kinetic, &potential));
    before = kinetic + potential;
    OK(clinalg_wave_step(wave, 120, NULL));
    OK(clinalg_wave_energy(wave, &kinetic, &potential));
    CHECK(before > 0 && kinetic + potential < 1e-3 * before);
    OK(clinalg_wave_step_with(wave, 100000000, stop, &calls, &report));
    CHECK(calls == 1 && report.steps < 100000000 && report.stop == CLINALG_STOP_CANCELLED);
    OK(clinalg_object_release(wave));

    /* Damping layers. */
    {
        double left[2], first = 0;
        for (k = 0; k < NX * NY; ++k) {
            const double x = (double)(k % NX) / (NX - 1) * 2, y = (double)(k / NX) / (NY - 1);
            values[k] = exp(-20 * (x - 1) * (x - 1) - 20 * (y - 0.5) * (y - 0.5));
        }
        options.sides[1][0] = options.sides[1][1] = CLINALG_WAVE_SIDE_ABSORBING;
        options.precision = CLINALG_PRECISION_F64;
        OK(clinalg_array_write(u, CLINALG_PRECISION_F64, 0, NX * NY, values));
        for (k = 0; k < 2; ++k) {
            options.sponge = k == 0 ? 0 : 0.5;
            OK(clinalg_wave_create(&options, &wave));
            OK(clinalg_wave_start(wave, u, 0, NULL));
            OK(clinalg_wave_energy(wave, &kinetic, &potential));
            first = kinetic + potential;
            OK(clinalg_wave_step(wave, 30, NULL));
            OK(clinalg_wave_energy(wave, &kinetic, &potential));
            left[k] = kinetic + potential;
            OK(clinalg_object_release(wave));
        }
        CHECK(left[0] < first && left[1] < 0.95 * left[0]);
    }
    OK(clinalg_object_release(u));
}

/* `change` is refused with a message that has the word. */
#define REFUSED(change, word)                                                       \
    do {                                                                            \
        clinalg_wave_options options = good;                                   \
        clinalg_handle none = 0;                                                    \
        change;                                                                     \
        CHECK(clinalg_wave_create(&options, &none) != CLINALG_STATUS_OK);      \
        SAYS(word);                                                                 \
        CHECK(none == 0);                                                           \
    } while (0)

static void refusals(void)
{
    const double speeds[2] = {1, 1};
    clinalg_wave_options good = options_of(2, 5, 6, 0);
    clinalg_handle wave = 0, small = 0, none = 0;
    double limit;
    good.dt = 0.1;
    REFUSED(options.struct_size = 0, "struct_size");
    REFUSED(options.struct_size += 8, "struct_size");
    REFUSED(options.dim = 1, "dim");
    REFUSED(options.points[1] = 2, "points");
    REFUSED(options.lengths[0] = 0, "lengths");
    REFUSED(options.sides[1][1] = 9, "sides");
    REFUSED(options.sides[1][1] = CLINALG_WAVE_SIDE_PERIODIC, "periodic");
    REFUSED(options.dt = 0, "dt");
    REFUSED(options.sponge = 0.5, "sponge");
    REFUSED(options.dt = 1, "stability limit");
    REFUSED(options.c = 0, "`c`");
    REFUSED(options.scheme = CLINALG_SCHEME_IMPLICIT, "fixed sides");
    REFUSED(options.scheme = 7, "scheme");
    REFUSED(options.backend = CLINALG_BACKEND_MATRIX, "fixed sides");
    REFUSED((options.speed = speeds, options.speed_count = 2), "speed_count");
    REFUSED((options.speed = speeds, options.speed_count = 1), "speed_count");
    REFUSED((options.points[0] = (size_t)-1, options.speed = speeds, options.speed_count = 2), "speed_count");
    REFUSED(options.precision = CLINALG_PRECISION_COMPLEX_F64, "precision");
    FAILS(clinalg_wave_create(NULL, &none), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_wave_create(&good, NULL), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_wave_limit(&good, NULL), CLINALG_STATUS_NULL_POINTER);
    good.c = -1;
    FAILS(clinalg_wave_limit(&good, &limit), CLINALG_STATUS_VALUE);
    good.c = 1;
    OK(clinalg_wave_create(&good, &wave));
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, speeds, 2, &small));
    FAILS(clinalg_wave_start(wave, small, 0, NULL), CLINALG_STATUS_LENGTH);
    FAILS(clinalg_wave_start(small, small, 0, NULL), CLINALG_STATUS_HANDLE_KIND);
    FAILS(clinalg_wave_displacement(wave, &small), CLINALG_STATUS_LENGTH);
    FAILS(clinalg_wave_velocity(wave, &small), CLINALG_STATUS_LENGTH);
    FAILS(clinalg_wave_velocity(wave, NULL), CLINALG_STATUS_NULL_POINTER);
    OK(clinalg_object_release(small));
    OK(clinalg_object_release(wave));
    FAILS(clinalg_wave_step(wave, 1, NULL), CLINALG_STATUS_HANDLE_STALE);
    FAILS(clinalg_wave_energy(5, &limit, &limit), CLINALG_STATUS_HANDLE_FOREIGN);
}

/* One function makes squares and boxes. Lengths that differ by rounding take the kernels for boxes, and the solution stays that
 * of the square, which sequential code has, too. */
static void square_as_box(void)
{
    enum { N = 17 };
    double values[N * N], now[3][N * N], most = 0, energies[2], kinetic, potential;
    size_t k, p;
    for (p = 0; p < N * N; ++p) values[p] = sin((double)p) * (double)(p % 7);
    for (k = 0; k < 3; ++k) {
        clinalg_wave_options options = options_of(2, N, N, 0);
        clinalg_handle wave = 0, u = 0, after = 0;
        clinalg_object_info info;
        options.dt = 0.02;
        if (k == 1) options.lengths[1] = 1 + 1e-15;
        if (k == 2) options.backend = CLINALG_BACKEND_REFERENCE;
        OK(clinalg_wave_create(&options, &wave));
        OK(clinalg_object_get_info(wave, &info));
        CHECK(info.kind == CLINALG_KIND_WAVE && info.rows == N && info.cols == N);
        OK(clinalg_vector_create(CLINALG_PRECISION_F64, values, N * N, &u));
        OK(clinalg_wave_start(wave, u, 0, NULL));
        OK(clinalg_wave_step(wave, 30, NULL));
        OK(clinalg_wave_energy(wave, &kinetic, &potential));
        if (k < 2) energies[k] = kinetic + potential;
        OK(clinalg_wave_displacement(wave, &after));
        OK(clinalg_array_read(after, CLINALG_PRECISION_F64, 0, N * N, now[k]));
        OK(clinalg_object_release(after));
        OK(clinalg_object_release(u));
        OK(clinalg_object_release(wave));
    }
    for (p = 0; p < N * N; ++p)
        for (k = 1; k < 3; ++k)
            if (!(fabs(now[k][p] - now[0][p]) <= most)) most = fabs(now[k][p] - now[0][p]);
    CHECK(most < 1e-11 && memcmp(now[0], now[1], sizeof now[0]) != 0);
    CHECK(fabs(energies[1] / energies[0] - 1) < 1e-11);
}

int main(void)
{
    square_as_box();
    {
        const uint32_t sides[] = {CLINALG_WAVE_SIDE_FIXED, CLINALG_WAVE_SIDE_FREE};
        const size_t waves[] = {2, 1};
        clinalg_wave_options options = options_of(2, 14, 9, 0);
        options.lengths[0] = 2.5;
        options.c = 3;
        standing(options, sides, waves);
    }
    {
        const uint32_t sides[] = {CLINALG_WAVE_SIDE_PERIODIC, CLINALG_WAVE_SIDE_FIXED, CLINALG_WAVE_SIDE_FREE};
        const size_t waves[] = {1, 3, 2};
        clinalg_wave_options options = options_of(3, 9, 8, 7);
        options.lengths[1] = 0.5;
        standing(options, sides, waves);
    }
    absorbed();
    refusals();
    OK(clinalg_shutdown());
    if (failures == 0) puts("passed");
    return failures != 0;
}
