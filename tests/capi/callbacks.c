/* Functions that run in a call and call the library: what the call reads may be read, the rest is an error at once; nothing waits for ever. */

#define _POSIX_C_SOURCE 200809L

#include "check.h"

#include <math.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { N = 40 };

#define SAYS(word) CHECK(strstr(clinalg_last_error_message(), word) != NULL)

static clinalg_handle a, b, x, solver, other;
static int calls;

/* The matrix [-1 4 -1]. */
static clinalg_handle matrix(void)
{
    size_t offsets[N + 1], indices[3 * N], n = 0, i;
    double values[3 * N];
    clinalg_handle handle = 0;
    for (i = 0; i < N; ++i) {
        offsets[i] = n;
        if (i > 0) { indices[n] = i - 1; values[n++] = -1; }
        indices[n] = i; values[n++] = 4;
        if (i + 1 < N) { indices[n] = i + 1; values[n++] = -1; }
    }
    offsets[N] = n;
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, N, N, offsets, indices, values, &handle));
    return handle;
}

static clinalg_handle vector(double value)
{
    double values[N];
    clinalg_handle handle = 0;
    size_t i;
    for (i = 0; i < N; ++i) values[i] = value;
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, values, N, &handle));
    return handle;
}

/* b and A can be read, x has a size, and x and the solver are in use. */
static int32_t touch(size_t iteration, double residual, void *data)
{
    clinalg_object_info info;
    clinalg_handle product = 0, none = 0;
    double norm = 0;
    (void)iteration, (void)residual, (void)data;
    ++calls;
    OK(clinalg_object_get_info(x, &info));
    CHECK(info.rows == N);
    OK(clinalg_array_norm2(b, &norm));
    CHECK(fabs(norm - sqrt((double)N)) < 1e-12);
    OK(clinalg_matrix_mv(1, a, b, 0, &product));
    OK(clinalg_array_sum(product, &norm));
    CHECK(norm == 2.0 * N + 2);
    OK(clinalg_object_release(product));
    FAILS(clinalg_array_norm2(x, &norm), CLINALG_STATUS_VALUE);
    SAYS("the call that runs this callback writes it");
    FAILS(clinalg_array_fill(b, 0), CLINALG_STATUS_VALUE);
    SAYS("the call that runs this callback reads it");
    FAILS(clinalg_array_fill(x, 0), CLINALG_STATUS_VALUE);
    OK(clinalg_array_fill(other, 1));
    if (solver != 0) {
        FAILS(clinalg_solver_set_limits(solver, 1e-3, 3), CLINALG_STATUS_VALUE);
        SAYS("solver");
        FAILS(clinalg_solver_refill(solver, 0), CLINALG_STATUS_VALUE);
        FAILS(clinalg_solver_solve(solver, b, &none, NULL, NULL, NULL, NULL, 0), CLINALG_STATUS_VALUE);
        CHECK(none == 0);
    }
    return 0;
}

/* 3 times the vector, which first tries to solve with the operator itself. */
static int32_t triple(clinalg_handle from, clinalg_handle to, void *data)
{
    const clinalg_handle self = *(clinalg_handle *)data;
    clinalg_handle none = 0, product = 0;
    clinalg_solver_options options;
    ++calls;
    OK(clinalg_solver_options_default(&options, sizeof options));
    options.method = CLINALG_METHOD_GMRES;
    FAILS(clinalg_system_solve(&options, self, b, &none, NULL, NULL, 0), CLINALG_STATUS_VALUE);
    SAYS("operator");
    FAILS(clinalg_matrix_mv(1, self, b, 0, &product), CLINALG_STATUS_VALUE);
    CHECK(none == 0 && product == 0);
    /* Another solve works. */
    options.method = CLINALG_METHOD_CG;
    OK(clinalg_system_solve(&options, a, b, &none, NULL, NULL, 0));
    OK(clinalg_object_release(none));
    return clinalg_array_scale(from, 3, &to) == CLINALG_STATUS_OK ? 0 : 1;
}

/* A quarter of the vector; reads A while another thread waits to write it. */
static int32_t quarter(clinalg_handle from, clinalg_handle to, void *data)
{
    const struct timespec short_time = {0, 50000000};
    clinalg_handle product = 0;
    (void)data;
    if (calls++ == 0) nanosleep(&short_time, NULL);
    OK(clinalg_matrix_mv(1, a, from, 0, &product));
    OK(clinalg_object_release(product));
    return clinalg_array_scale(from, 0.25, &to) == CLINALG_STATUS_OK ? 0 : 1;
}

static void *write_a(void *data)
{
    const struct timespec short_time = {0, 20000000};
    nanosleep(&short_time, NULL);
    OK(clinalg_array_scale(a, 2, &a));
    return data;
}

/* Two threads, each of which writes in its function what the other's call reads. */
static pthread_barrier_t both;
static int refused;
typedef struct { clinalg_handle own, others; } pair;

static int32_t cross(clinalg_handle from, clinalg_handle to, void *data)
{
    const pair *pair_of = data;
    clinalg_status status;
    pthread_barrier_wait(&both);
    status = clinalg_array_fill(pair_of->others, 1);
    if (status != CLINALG_STATUS_OK) {
        CHECK(status == CLINALG_STATUS_VALUE);
        SAYS("another thread");
        __sync_fetch_and_add(&refused, 1);
        return 1;
    }
    return clinalg_array_scale(from, 1, &to) == CLINALG_STATUS_OK ? 0 : 1;
}

static void *crossing(void *data)
{
    pair *pair_of = data;
    clinalg_handle identity = 0, out = 0;
    OK(clinalg_operator_create(CLINALG_PRECISION_F64, N, N, cross, pair_of, NULL, &identity));
    (void)!clinalg_matrix_mv(1, identity, pair_of->own, 0, &out);
    OK(clinalg_object_release(identity));
    return NULL;
}

/* Cancelled while it solves: the call ends first. */
static int ended;

static void *cancelled(void *data)
{
    clinalg_solver_options options;
    clinalg_handle out = 0;
    (void)data;
    OK(clinalg_solver_options_default(&options, sizeof options));
    pthread_cancel(pthread_self());
    OK(clinalg_system_solve(&options, a, b, &out, NULL, NULL, 0));
    OK(clinalg_object_release(out));
    ended = 1;
    pthread_testcancel();
    ended = 2;
    return NULL;
}

int main(void)
{
    clinalg_solver_options options;
    clinalg_handle inverse = 0, threefold = 0;
    pthread_t thread, second;
    void *end = NULL;
    pair one, two;
    double sum = 0;

    alarm(100); /* what hangs is killed */
    a = matrix();
    b = vector(1);
    x = vector(0);
    other = vector(0);
    OK(clinalg_solver_options_default(&options, sizeof options));
    options.progress = touch;
    OK(clinalg_system_solve(&options, a, b, &x, NULL, NULL, 0));
    CHECK(calls > 3);
    options.progress = NULL;
    OK(clinalg_solver_create(&options, a, &solver));
    calls = 0;
    OK(clinalg_array_fill(x, 0));
    OK(clinalg_solver_solve(solver, b, &x, touch, NULL, NULL, NULL, 0));
    CHECK(calls > 3);
    OK(clinalg_solver_set_limits(solver, 1e-3, 3));

    calls = 0;
    OK(clinalg_operator_create(CLINALG_PRECISION_F64, N, N, triple, &threefold, NULL, &threefold));
    options.method = CLINALG_METHOD_GMRES;
    OK(clinalg_array_fill(x, 0));
    OK(clinalg_system_solve(&options, threefold, b, &x, NULL, NULL, 0));
    OK(clinalg_array_sum(x, &sum));
    CHECK(calls > 0 && fabs(sum - N / 3.0) < 1e-8);

    calls = 0;
    OK(clinalg_operator_create(CLINALG_PRECISION_F64, N, N, quarter, NULL, NULL, &inverse));
    options.method = CLINALG_METHOD_CG;
    options.inverse = inverse;
    OK(clinalg_array_fill(x, 0));
    pthread_create(&thread, NULL, write_a, NULL);
    OK(clinalg_system_solve(&options, a, b, &x, NULL, NULL, 0));
    CHECK(calls > 1);
    pthread_join(thread, NULL);

    pthread_barrier_init(&both, NULL, 2);
    one.own = two.others = vector(1);
    two.own = one.others = vector(1);
    pthread_create(&thread, NULL, crossing, &one);
    pthread_create(&second, NULL, crossing, &two);
    pthread_join(thread, NULL);
    pthread_join(second, NULL);
    CHECK(refused >= 1);

    pthread_create(&thread, NULL, cancelled, NULL);
    pthread_join(thread, &end);
    CHECK(ended == 1 && end == PTHREAD_CANCELED);
    OK(clinalg_array_sum(b, &sum));
    CHECK(sum == N);
    OK(clinalg_shutdown());
    if (failures == 0) {
        puts("passed");
    }
    return failures != 0;
}
