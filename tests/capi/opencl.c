/* A program that calls OpenCL itself: its context, its queue and its memory in clinalg, and those of clinalg in its own kernels. */

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000 };

static const char *const program_text =
    "__kernel void square(__global const double *x, __global double *y)\n"
    "{\n"
    "    const size_t i = get_global_id(0);\n"
    "    y[i] = x[i] * x[i];\n"
    "}\n";

typedef struct {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_kernel square;
} setting;

#define SAYS(word) CHECK(strstr(clinalg_last_error_message(), word) != NULL)

/* The number of references to an object of OpenCL. */
static cl_uint references(cl_mem mem)
{
    cl_uint count = 0;
    CHECK(clGetMemObjectInfo(mem, CL_MEM_REFERENCE_COUNT, sizeof count, &count, NULL) == CL_SUCCESS);
    return count;
}

static cl_uint context_references(cl_context context)
{
    cl_uint count = 0;
    CHECK(clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof count, &count, NULL) == CL_SUCCESS);
    return count;
}

static cl_mem buffer(const setting *own, cl_mem_flags flags, const double *values, size_t count)
{
    cl_int code = CL_SUCCESS;
    cl_mem mem;
    if (values) flags |= CL_MEM_COPY_HOST_PTR;
    mem = clCreateBuffer(own->context, flags, count * sizeof *values, (void *)values, &code);
    CHECK(code == CL_SUCCESS && mem != NULL);
    return mem;
}

/* y = x squared in this queue; enqueued only. */
static void square(const setting *own, cl_command_queue queue, cl_mem x, cl_mem y, cl_uint waits, const cl_event *wait)
{
    const size_t n = N;
    CHECK(clSetKernelArg(own->square, 0, sizeof x, &x) == CL_SUCCESS);
    CHECK(clSetKernelArg(own->square, 1, sizeof y, &y) == CL_SUCCESS);
    CHECK(clEnqueueNDRangeKernel(queue, own->square, 1, NULL, &n, NULL, waits, wait, NULL) == CL_SUCCESS);
}

/* Kernels of the program and operations of clinalg in turn, in one queue and without waiting in between. */
static void one_queue(const setting *own)
{
    double start[N], found[N];
    clinalg_handle x = 0, y = 0;
    clinalg_object_info info;
    clinalg_memory_report memory;
    cl_mem mx, my;
    size_t i;
    for (i = 0; i < N; ++i) start[i] = 1 + (double)i / N;
    mx = buffer(own, CL_MEM_READ_WRITE, start, N);
    my = buffer(own, CL_MEM_READ_WRITE, NULL, N);
    OK(clinalg_vector_import(CLINALG_PRECISION_F64, mx, N, &x));
    OK(clinalg_vector_import(CLINALG_PRECISION_F64, my, N, &y));
    CHECK(references(mx) == 2 && references(my) == 2);
    OK(clinalg_object_get_info(x, &info));
    CHECK(info.kind == CLINALG_KIND_VECTOR && info.rows == N && info.precision == CLINALG_PRECISION_F64);
    /* The memory is the caller's. */
    OK(clinalg_device_memory(&memory));
    CHECK(memory.live_bytes == 0 && memory.live_buffers == 2);

    for (i = 0; i < 3; ++i) {
        square(own, own->queue, mx, my, 0, NULL);
        OK(clinalg_array_axpby(0.25, x, 0.5, y, &x));
    }
    CHECK(clEnqueueReadBuffer(own->queue, mx, CL_TRUE, 0, sizeof found, found, 0, NULL, NULL) == CL_SUCCESS);
    for (i = 0; i < N; ++i) {
        double want = start[i];
        int k;
        for (k = 0; k < 3; ++k) want = 0.25 * want + 0.5 * (want * want);
        CHECK(fabs(found[i] - want) <= 1e-14 * want);
    }
    /* No second object on the same memory, nor on a part of it. */
    {
        const cl_buffer_region region = {0, 128};
        cl_int code;
        cl_mem part = clCreateSubBuffer(mx, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
        clinalg_handle twice = 0;
        CHECK(code == CL_SUCCESS);
        FAILS(clinalg_vector_import(CLINALG_PRECISION_F64, mx, N, &twice), CLINALG_STATUS_VALUE);
        SAYS("release that object first");
        FAILS(clinalg_vector_import(CLINALG_PRECISION_F64, part, 16, &twice), CLINALG_STATUS_VALUE);
        OK(clinalg_object_release(x));
        OK(clinalg_vector_import(CLINALG_PRECISION_F64, part, 16, &x));
        OK(clinalg_array_fill(x, 7));
        OK(clinalg_object_release(x));
        CHECK(clReleaseMemObject(part) == CL_SUCCESS);
        OK(clinalg_vector_import(CLINALG_PRECISION_F64, mx, N, &x));
        OK(clinalg_array_read(x, CLINALG_PRECISION_F64, 15, 2, found));
        CHECK(found[0] == 7 && found[1] != 7);
    }
    OK(clinalg_object_release(x));
    OK(clinalg_object_release(y));
    OK(clinalg_device_finish());
    CHECK(references(mx) == 1 && references(my) == 1);
    CHECK(clReleaseMemObject(mx) == CL_SUCCESS && clReleaseMemObject(my) == CL_SUCCESS);
}

/* A system whose right-hand side and solution are the program's: 2 x_i - x_(i-1) - x_(i+1) = h^2 has x_i = t (1 - t) / 2. */
static void solve(const setting *own)
{
    static size_t offsets[N + 1], columns[3 * N];
    static double values[3 * N], right[N], zero[N], found[N];
    const double h = 1.0 / (N + 1);
    clinalg_handle a = 0, b = 0, x = 0;
    clinalg_solver_options options;
    clinalg_report report;
    cl_mem mb, mx;
    size_t i, entries = 0;
    for (i = 0; i < N; ++i) {
        if (i > 0) columns[entries] = i - 1, values[entries++] = -1;
        columns[entries] = i, values[entries++] = 2;
        if (i + 1 < N) columns[entries] = i + 1, values[entries++] = -1;
        offsets[i + 1] = entries;
        right[i] = h * h;
    }
    mb = buffer(own, CL_MEM_READ_WRITE, right, N);
    mx = buffer(own, CL_MEM_READ_WRITE, zero, N);
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, N, N, offsets, columns, values, &a));
    OK(clinalg_vector_import(CLINALG_PRECISION_F64, mb, N, &b));
    OK(clinalg_dense_import(CLINALG_PRECISION_F64, mx, N, 1, &x));
    OK(clinalg_solver_options_default(&options, sizeof options));
    options.preconditioner = CLINALG_PRECONDITIONER_IC;
    OK(clinalg_system_solve(&options, a, b, &x, &report, NULL, 0));
    CHECK(report.stop == CLINALG_STOP_CONVERGED);
    CHECK(clEnqueueReadBuffer(own->queue, mx, CL_TRUE, 0, sizeof found, found, 0, NULL, NULL) == CL_SUCCESS);
    for (i = 0; i < N; ++i) {
        const double t = (double)(i + 1) * h;
        CHECK(fabs(found[i] - t * (1 - t) / 2) < 1e-9);
    }
    OK(clinalg_object_release(a));
    OK(clinalg_object_release(b));
    OK(clinalg_object_release(x));
    CHECK(clReleaseMemObject(mb) == CL_SUCCESS && clReleaseMemObject(mx) == CL_SUCCESS);
}

/* Memory of clinalg in a kernel of the program, in another queue that waits for it; it outlives the handle. */
static void exported(const setting *own)
{
    double start[N], found[N];
    clinalg_handle x = 0, m = 0, operator_handle = 0;
    void *mem = NULL, *queue = NULL;
    cl_command_queue other;
    cl_event written;
    cl_mem result = buffer(own, CL_MEM_READ_WRITE, NULL, N);
    cl_int code;
    size_t i;
    for (i = 0; i < N; ++i) start[i] = (double)i;
    other = clCreateCommandQueue(own->context, own->device, 0, &code);
    CHECK(code == CL_SUCCESS);
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, start, N, &x));
    OK(clinalg_array_scale(x, 0.5, &x));
    OK(clinalg_object_export(x, &mem, &queue));
    CHECK(mem != NULL && queue == own->queue);
    CHECK(clEnqueueMarkerWithWaitList((cl_command_queue)queue, 0, NULL, &written) == CL_SUCCESS);
    CHECK(clFlush((cl_command_queue)queue) == CL_SUCCESS);
    square(own, other, (cl_mem)mem, result, 1, &written);
    OK(clinalg_object_release(x));
    CHECK(clEnqueueReadBuffer(other, result, CL_TRUE, 0, sizeof found, found, 0, NULL, NULL) == CL_SUCCESS);
    for (i = 0; i < N; ++i) CHECK(found[i] == 0.25 * (double)i * (double)i);
    CHECK(references((cl_mem)mem) == 1);
    CHECK(clReleaseEvent(written) == CL_SUCCESS && clReleaseMemObject((cl_mem)mem) == CL_SUCCESS);
    CHECK(clReleaseCommandQueue((cl_command_queue)queue) == CL_SUCCESS);
    CHECK(clReleaseCommandQueue(other) == CL_SUCCESS && clReleaseMemObject(result) == CL_SUCCESS);

    OK(clinalg_dense_create(CLINALG_PRECISION_F32, 2, 2, (float[]){1, 2, 3, 4}, &m));
    OK(clinalg_object_export(m, &mem, NULL));
    CHECK(clReleaseMemObject((cl_mem)mem) == CL_SUCCESS);
    FAILS(clinalg_object_export(m, NULL, &queue), CLINALG_STATUS_NULL_POINTER);
    FAILS(clinalg_object_export(x, &mem, &queue), CLINALG_STATUS_HANDLE_STALE);
    FAILS(clinalg_object_export(7, &mem, &queue), CLINALG_STATUS_HANDLE_FOREIGN);
    OK(clinalg_sparse_from_csr(CLINALG_PRECISION_F64, 1, 1, (size_t[]){0, 1}, (size_t[]){0}, (double[]){1}, &operator_handle));
    FAILS(clinalg_object_export(operator_handle, &mem, &queue), CLINALG_STATUS_HANDLE_KIND);
    OK(clinalg_object_release(operator_handle));
    OK(clinalg_object_release(m));
}

static void refusals(const setting *own)
{
    void *context = NULL, *device = NULL, *queue = NULL;
    cl_context other;
    cl_command_queue theirs, unordered;
    cl_mem mem, one_way;
    cl_int code;
    clinalg_handle made = 0;
    clinalg_handle x = 0, y = 0, z = 0;

    FAILS(clinalg_opencl_select(NULL, own->device, own->queue), CLINALG_STATUS_VALUE);
    SAYS("context");
    FAILS(clinalg_opencl_select(own->context, NULL, own->queue), CLINALG_STATUS_VALUE);
    FAILS(clinalg_opencl_select(own->context, own->context, own->queue), CLINALG_STATUS_VALUE);
    SAYS("sub-devices");
    unordered = clCreateCommandQueue(own->context, own->device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
    if (code == CL_SUCCESS) {
        FAILS(clinalg_opencl_select(own->context, own->device, unordered), CLINALG_STATUS_VALUE);
        SAYS("in-order");
        CHECK(clReleaseCommandQueue(unordered) == CL_SUCCESS);
    }
    other = clCreateContext(NULL, 1, &own->device, NULL, NULL, &code);
    CHECK(code == CL_SUCCESS);
    theirs = clCreateCommandQueue(other, own->device, 0, &code);
    CHECK(code == CL_SUCCESS);
    FAILS(clinalg_opencl_select(own->context, own->device, theirs), CLINALG_STATUS_CONTEXT);

    mem = clCreateBuffer(other, CL_MEM_READ_WRITE, 80, NULL, &code);
    CHECK(code == CL_SUCCESS);
    FAILS(clinalg_vector_import(CLINALG_PRECISION_F64, mem, 10, &made), CLINALG_STATUS_CONTEXT);
    FAILS(clinalg_vector_import(CLINALG_PRECISION_F64, NULL, 10, &made), CLINALG_STATUS_VALUE);
    SAYS("mem");
    FAILS(clinalg_vector_import(9, mem, 10, &made), CLINALG_STATUS_VALUE);
    FAILS(clinalg_vector_import(CLINALG_PRECISION_F64, mem, 10, NULL), CLINALG_STATUS_NULL_POINTER);
    CHECK(clReleaseMemObject(mem) == CL_SUCCESS);
    one_way = buffer(own, CL_MEM_READ_ONLY, NULL, 10);
    FAILS(clinalg_vector_import(CLINALG_PRECISION_F64, one_way, 10, &made), CLINALG_STATUS_VALUE);
    SAYS("CL_MEM_READ_WRITE");
    CHECK(references(one_way) == 1 && clReleaseMemObject(one_way) == CL_SUCCESS);
    mem = buffer(own, CL_MEM_READ_WRITE, NULL, 10);
    FAILS(clinalg_vector_import(CLINALG_PRECISION_F64, mem, 11, &made), CLINALG_STATUS_LENGTH);
    FAILS(clinalg_vector_import(CLINALG_PRECISION_COMPLEX_F64, mem, 6, &made), CLINALG_STATUS_LENGTH);
    FAILS(clinalg_dense_import(CLINALG_PRECISION_F64, mem, 3, 4, &made), CLINALG_STATUS_LENGTH);
    FAILS(clinalg_dense_import(CLINALG_PRECISION_F64, mem, (size_t)-1, 2, &made), CLINALG_STATUS_VALUE);
    CHECK(made == 0);
    OK(clinalg_dense_import(CLINALG_PRECISION_F32, mem, 5, 4, &made));
    OK(clinalg_object_release(made));
    CHECK(clReleaseMemObject(mem) == CL_SUCCESS);

    /* Objects of two contexts do not meet. */
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, (double[]){1, 2}, 2, &x));
    OK(clinalg_opencl_select(other, own->device, NULL));
    OK(clinalg_opencl_export(&context, &device, &queue));
    CHECK(context == other && device == own->device && queue != theirs && queue != own->queue);
    CHECK(clReleaseContext((cl_context)context) == CL_SUCCESS);
    CHECK(clReleaseCommandQueue((cl_command_queue)queue) == CL_SUCCESS);
    OK(clinalg_vector_create(CLINALG_PRECISION_F64, (double[]){1, 2}, 2, &y));
    FAILS(clinalg_array_add(x, y, &z), CLINALG_STATUS_CONTEXT);
    OK(clinalg_opencl_export(NULL, NULL, NULL));
    OK(clinalg_object_release(x));
    OK(clinalg_object_release(y));
    OK(clinalg_opencl_select(own->context, own->device, own->queue));
    CHECK(clReleaseCommandQueue(theirs) == CL_SUCCESS && clReleaseContext(other) == CL_SUCCESS);
}

int main(void)
{
    setting own;
    cl_platform_id platform;
    cl_program program;
    cl_uint count = 0, before;
    cl_int code;
    if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &own.device, NULL)) return 2;
    own.context = clCreateContext(NULL, 1, &own.device, NULL, NULL, &code);
    own.queue = clCreateCommandQueue(own.context, own.device, 0, &code);
    program = clCreateProgramWithSource(own.context, 1, (const char **)&program_text, NULL, &code);
    if (code || clBuildProgram(program, 0, NULL, "", NULL, NULL)) return 2;
    own.square = clCreateKernel(program, "square", &code);

    before = context_references(own.context);
    OK(clinalg_opencl_select(own.context, own.device, own.queue));
    CHECK(context_references(own.context) > before);
    one_queue(&own);
    solve(&own);
    exported(&own);
    refusals(&own);
    OK(clinalg_shutdown());

    /* The library has let go of everything. */
    CHECK(context_references(own.context) == before);
    CHECK(clReleaseKernel(own.square) == CL_SUCCESS && clReleaseProgram(program) == CL_SUCCESS);
    CHECK(clGetCommandQueueInfo(own.queue, CL_QUEUE_REFERENCE_COUNT, sizeof count, &count, NULL) == CL_SUCCESS && count == 1);
    CHECK(clReleaseCommandQueue(own.queue) == CL_SUCCESS && clReleaseContext(own.context) == CL_SUCCESS);
    if (failures == 0) puts("passed");
    return failures != 0;
}
