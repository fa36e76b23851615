/* A program with kernels of its own: it squares a vector that clinalg scales, in one queue and without waiting in between. Link it with
 * the OpenCL loader. */

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <clinalg.h>

#include <stdio.h>

enum { N = 4 };

static const char *const text =
    "__kernel void square(__global float *x)\n"
    "{\n"
    "    const size_t i = get_global_id(0);\n"
    "    x[i] *= x[i];\n"
    "}\n";

static int failed(const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", what, clinalg_last_error_id(), clinalg_last_error_message());
    return 1;
}

int main(void)
{
    float values[N] = {1, 2, 3, 4};
    const size_t n = N;
    cl_platform_id platform;
    cl_device_id device;
    cl_int code;
    clinalg_handle x;

    if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) return 1;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
    cl_program program = clCreateProgramWithSource(context, 1, (const char **)&text, NULL, &code);
    if (code || clBuildProgram(program, 1, &device, "", NULL, NULL)) return 1;
    cl_kernel square = clCreateKernel(program, "square", &code);
    cl_mem mem = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof values, values, &code);
    if (code || clSetKernelArg(square, 0, sizeof mem, &mem)) return 1;

    /* From here on new objects live in this context, and what clinalg does is enqueued in this queue. */
    if (clinalg_opencl_select(context, device, queue)) return failed("context");
    if (clinalg_vector_import(CLINALG_PRECISION_F32, mem, N, &x)) return failed("import");
    if (clinalg_array_scale(x, 0.5, &x)) return failed("scaling");
    if (clEnqueueNDRangeKernel(queue, square, 1, NULL, &n, NULL, 0, NULL, NULL)) return 1;
    if (clinalg_array_scale(x, 4, &x)) return failed("scaling");
    if (clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL)) return 1;
    printf("%g %g %g %g\n", values[0], values[1], values[2], values[3]);

    clinalg_object_release(x);
    clinalg_shutdown();
    clReleaseMemObject(mem);
    clReleaseKernel(square);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return 0;
}
