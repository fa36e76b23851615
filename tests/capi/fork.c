/* A child that is forked after OpenCL was in use gets an error from every call, does not hang whatever other threads held, and leaves the
   parent alone. */

#define _POSIX_C_SOURCE 200809L

#include "check.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static clinalg_handle x;
static volatile int done;

/* Uses x, and makes and releases objects, so that each lock is held at some fork. */
static void *work(void *data)
{
    const double values[] = {1, 2, 3};
    while (!done) {
        clinalg_handle y = 0;
        OK(clinalg_vector_create(CLINALG_PRECISION_F64, values, 3, &y));
        OK(clinalg_array_fill(x, 2));
        OK(clinalg_object_release(y));
    }
    return data;
}

int main(void)
{
    const double values[] = {1, 2, 3};
    double sum = 0;
    clinalg_handle y = 0;
    pthread_t threads[2];
    int status = 0, round;
    pid_t child;

    OK(clinalg_vector_create(CLINALG_PRECISION_F64, values, 3, &x));
    OK(clinalg_array_sum(x, &sum));
    pthread_create(&threads[0], NULL, work, NULL);
    pthread_create(&threads[1], NULL, work, NULL);
    for (round = 0; round < 100; ++round) {
        child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            alarm(20); /* a child that hangs is killed */
            FAILS(clinalg_vector_create(CLINALG_PRECISION_F64, values, 3, &y), CLINALG_STATUS_FORKED);
            FAILS(clinalg_array_sum(x, &sum), CLINALG_STATUS_FORKED);
            FAILS(clinalg_array_scale(x, 2, &y), CLINALG_STATUS_FORKED);
            FAILS(clinalg_array_read(x, CLINALG_PRECISION_F64, 0, 3, &sum), CLINALG_STATUS_FORKED);
            FAILS(clinalg_device_finish(), CLINALG_STATUS_FORKED);
            FAILS(clinalg_shutdown(), CLINALG_STATUS_FORKED);
            OK(clinalg_object_release(x));
            _exit(failures);
        }
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    done = 1;
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    /* The parent goes on. */
    OK(clinalg_array_sum(x, &sum));
    CHECK(sum == 6);
    OK(clinalg_object_release(x));
    OK(clinalg_shutdown());
    if (failures == 0) {
        puts("passed");
    }
    return failures != 0;
}
