/* n bodies that attract each other, single precision: the share of a device's rate of multiply-adds that clinalg reaches.
 *
 *     cargo xtask install --prefix PREFIX
 *     cc -O2 -std=c99 -o nbody benches/nbody.c -I PREFIX/include -L PREFIX/lib -Wl,-rpath,PREFIX/lib -lclinalg -lOpenCL -lm
 *     ./nbody DEVICE [BODIES ...]     # DEVICE by its number in `clinalg devices`; default: 16384 32768 65536 131072
 *
 * An Euler step evaluates the right-hand side once. The time of a step
 * is the difference of integrations with few and with many steps over their number, so that set-up and transfers drop
 * out; the median of several. Work: 20 flops for a pair of bodies (3 differences, 6 for the distance with the softening,
 * its inverse root counted as 2, 2 for the cube, 1 for the mass, 6 for three sums), n^2 pairs. The limit is the rate of
 * multiply-adds in registers, measured before and after: 8 chains of four numbers per item, 2 flops each. The answer is
 * checked against the same step in double precision. Prints one JSON object.
 */
#define CL_TARGET_OPENCL_VERSION 120
#define _POSIX_C_SOURCE 199309L
#include <CL/cl.h>
#include <clinalg.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MUST(call)                                                                                                 \
    do {                                                                                                           \
        if ((call) != CLINALG_STATUS_OK) {                                                                         \
            fprintf(stderr, "%s: %s\n", #call, clinalg_last_error_message());                                      \
            exit(1);                                                                                               \
        }                                                                                                          \
    } while (0)
#define CL(call)                                                                                                   \
    do {                                                                                                           \
        cl_int code = (call);                                                                                      \
        if (code != CL_SUCCESS) {                                                                                  \
            fprintf(stderr, "%s: %d\n", #call, code);                                                              \
            exit(1);                                                                                               \
        }                                                                                                          \
    } while (0)

enum { SAMPLES = 5, CHAINS = 8, ROUNDS = 4096, FLOPS = 20 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *samples) {
    qsort(samples, SAMPLES, sizeof *samples, by_size);
    return samples[SAMPLES / 2];
}

/* The device with this name, which is how clinalg tells it. */
static cl_device_id device_named(const char *name) {
    cl_platform_id platforms[16];
    cl_uint platform_count = 0;
    CL(clGetPlatformIDs(16, platforms, &platform_count));
    for (cl_uint p = 0; p < platform_count && p < 16; ++p) {
        cl_device_id devices[64];
        cl_uint count = 0;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 64, devices, &count) != CL_SUCCESS) continue;
        for (cl_uint d = 0; d < count && d < 64; ++d) {
            char got[256] = "";
            CL(clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof got, got, NULL));
            if (strstr(got, name) != NULL) return devices[d];
        }
    }
    fprintf(stderr, "no device %s\n", name);
    exit(1);
}

static const char *source =
    "__kernel void fma_rate(float a, float b, __global float *out) {\n"
    "    float4 v[CHAINS];\n"
    "    for (int k = 0; k < CHAINS; ++k) v[k] = (float4)(get_global_id(0) + k);\n"
    "    for (int i = 0; i < ROUNDS; ++i)\n"
    "        for (int k = 0; k < CHAINS; ++k) v[k] = fma(v[k], (float4)(a), (float4)(b));\n"
    "    float4 sum = v[0];\n"
    "    for (int k = 1; k < CHAINS; ++k) sum += v[k];\n"
    "    out[get_global_id(0)] = sum.x + sum.y + sum.z + sum.w;\n"
    "}\n";

/* Flops a second of multiply-adds in registers. */
static double fma_rate(cl_device_id device) {
    char options[64];
    cl_uint units = 0;
    cl_int code;
    snprintf(options, sizeof options, "-DCHAINS=%d -DROUNDS=%d", CHAINS, ROUNDS);
    CL(clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL));
    const size_t items = (size_t)units * 2048;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    CL(code);
    cl_command_queue queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &code);
    CL(code);
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &code);
    CL(code);
    CL(clBuildProgram(program, 1, &device, options, NULL, NULL));
    cl_kernel kernel = clCreateKernel(program, "fma_rate", &code);
    CL(code);
    cl_mem out = clCreateBuffer(context, CL_MEM_WRITE_ONLY, items * sizeof(float), NULL, &code);
    CL(code);
    const float a = 0.999f, b = 0.001f;
    CL(clSetKernelArg(kernel, 0, sizeof a, &a));
    CL(clSetKernelArg(kernel, 1, sizeof b, &b));
    CL(clSetKernelArg(kernel, 2, sizeof out, &out));
    double best = 0;
    for (int k = 0; k <= SAMPLES; ++k) {
        cl_event event;
        cl_ulong begin, end;
        CL(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, &event));
        CL(clWaitForEvents(1, &event));
        CL(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL));
        CL(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
        clReleaseEvent(event);
        best = fmax(best, 2.0 * 4 * CHAINS * ROUNDS * (double)items / (1e-9 * (double)(end - begin)));
    }
    clReleaseMemObject(out);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return best;
}

/* Seconds of an integration by `steps` Euler steps; y is the solution at its end. */
static double integrate(clinalg_handle bodies, const clinalg_ode_options *options, const double *y0, size_t components,
                        int steps, double *y) {
    const double times[2] = {0, steps * options->fixed_step};
    const double start = now();
    MUST(clinalg_ode_solve(bodies, "euler", NULL, options, times, 2, y0, components, y, NULL));
    return now() - start;
}

int main(int argc, char **argv) {
    const char *defaults[] = {"16384", "32768", "65536", "131072"};
    char name[256];
    if (argc < 2) {
        fprintf(stderr, "usage: %s DEVICE [BODIES ...]\n", argv[0]);
        return 2;
    }
    const char *const *sizes = argc > 2 ? (const char *const *)argv + 2 : defaults;
    const int count = argc > 2 ? argc - 2 : 4;
    MUST(clinalg_device_select(argv[1]));
    MUST(clinalg_device_text(strtoul(argv[1], NULL, 10), CLINALG_TEXT_NAME, name, sizeof name, NULL));
    cl_device_id device = device_named(name);
    const double before = fma_rate(device);
    printf("{\"device\": \"%s\", \"flops_a_pair\": %d, \"fma_flops_before\": %.6e, \"rows\": [", name, FLOPS, before);
    for (int k = 0; k < count; ++k) {
        const size_t n = strtoul(sizes[k], NULL, 10), components = 6 * n;
        /* About a second of many steps at 60 % of the rate. */
        const double guess = (double)FLOPS * n * n / (0.6 * before);
        const int few = 2, many = few + (int)fmin(1000, fmax(3, 0.2 / guess));
        double *y0 = malloc(components * sizeof *y0), *y = malloc(2 * components * sizeof *y);
        double *wide = malloc(2 * components * sizeof *wide), samples[SAMPLES], largest = 0, off = 0;
        clinalg_handle bodies = 0;
        clinalg_ode_options options;
        if (y0 == NULL || y == NULL || wide == NULL) return 1;
        MUST(clinalg_ode_create_problem("nbody", n, &bodies));
        MUST(clinalg_ode_initial(bodies, y0, components, NULL, NULL));
        MUST(clinalg_ode_options_default(&options, sizeof options));
        options.fixed_step = 0.0009765625;
        integrate(bodies, &options, y0, components, 1, wide);
        options.precision = CLINALG_PRECISION_F32;
        integrate(bodies, &options, y0, components, 1, y);
        for (size_t i = components + 3 * n; i < 2 * components; ++i) {
            largest = fmax(largest, fabs(wide[i] - y0[i - components]));
            off = fmax(off, fabs(wide[i] - y[i]));
        }
        for (int s = 0; s < SAMPLES; ++s) {
            const double first = integrate(bodies, &options, y0, components, few, y);
            samples[s] = (integrate(bodies, &options, y0, components, many, y) - first) / (many - few);
        }
        const double seconds = median(samples);
        const double rate = (double)FLOPS * n * n / seconds;
        printf("%s\n {\"n\": %zu, \"steps\": %d, \"seconds_a_step\": %.6e, \"flops\": %.6e, \"share\": %.4f, "
               "\"largest_change_of_a_velocity\": %.3e, \"difference_to_f64\": %.3e}",
               k == 0 ? "" : ",", n, many - few, seconds, rate, rate / before, largest, off);
        fflush(stdout);
        MUST(clinalg_object_release(bodies));
        free(y0);
        free(y);
        free(wide);
    }
    printf("],\n \"fma_flops_after\": %.6e}\n", fma_rate(device));
    clinalg_shutdown();
    return 0;
}
