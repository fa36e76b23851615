/* A child that is forked after OpenCL was in use gets an error from every call, does not hang, and leaves the parent alone. */

#define _POSIX_C_SOURCE 200809L

#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    const double values[] = {1, 2, 3};
    double sum = 0;
    clinalg_handle x = 0, y = 0;
    int status = 0;
    pid_t child;

    OK(clinalg_vector_create(CLINALG_PRECISION_F64, values, 3, &x));
    OK(clinalg_array_sum(x, &sum));
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(20); /* a child that hangs is killed */
        FAILS(clinalg_vector_create(CLINALG_PRECISION_F64, values, 3, &y), CLINALG_STATUS_FORKED);
        FAILS(clinalg_array_sum(x, &sum), CLINALG_STATUS_FORKED);
        FAILS(clinalg_array_scale(x, 2, &y), CLINALG_STATUS_FORKED);
        FAILS(clinalg_array_read(x, CLINALG_PRECISION_F64, 0, 3, &sum), CLINALG_STATUS_FORKED);
        FAILS(clinalg_device_finish(), CLINALG_STATUS_FORKED);
        OK(clinalg_object_release(x));
        _exit(failures);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
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
