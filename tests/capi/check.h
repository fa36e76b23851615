/* Checks of the C tests: failures are counted and told. */

#ifndef CHECK_H
#define CHECK_H

#include <clinalg.h>
#include <stdio.h>

static int failures = 0;

#define CHECK(condition)                                                            \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: %s (last error: %s)\n", __FILE__, __LINE__,     \
                    #condition, clinalg_last_error_message());                      \
            ++failures;                                                             \
        }                                                                           \
    } while (0)

#define OK(call) CHECK((call) == CLINALG_STATUS_OK)
#define FAILS(call, status) CHECK((call) == (status))

#endif
