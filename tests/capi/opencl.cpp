// The C++ layer for programs with OpenCL objects of their own: memory is shared both ways, and errors are exceptions.

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <clinalg.hpp>

#include <cmath>
#include <cstdio>

static int failures = 0;

static void expect(bool condition, const char *what) {
    if (condition) return;
    std::fprintf(stderr, "failed: %s\n", what);
    ++failures;
}

int main() try {
    cl_platform_id platform;
    cl_device_id device;
    cl_int code = CL_SUCCESS;
    if (clGetPlatformIDs(1, &platform, nullptr) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr)) return 2;
    const cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
    clinalg::select_opencl(context, device, nullptr);
    const clinalg::OpenCl own = clinalg::opencl();
    expect(own.context == context && own.device == device && own.queue != nullptr, "the library works in the program's context");
    const cl_command_queue queue = static_cast<cl_command_queue>(own.queue);

    const double values[] = {3, 4, 12, 84};
    const cl_mem mem = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof values, const_cast<double *>(values), &code);
    {
        clinalg::Vector x = clinalg::import_vector<double>(mem, 4);
        expect(norm(x) == 85, "the norm of imported memory");
        x *= 2;
        double found[4];
        clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof found, found, 0, nullptr, nullptr);
        expect(found[0] == 6 && found[3] == 168, "the program sees what the library writes");
        try {
            const clinalg::Dense twice = clinalg::import_dense<double>(mem, 2, 2);
            expect(false, "memory of a live object is refused");
        } catch (const clinalg::Error &error) {
            expect(error.status() == CLINALG_STATUS_VALUE, "with the status of a value");
        }
    }
    {
        const clinalg::Dense a = clinalg::import_dense<double>(mem, 2, 2);
        // [6 24; 8 168], by columns.
        const std::vector<double> product = (a * clinalg::vector(std::vector<double>{1, 1})).gather<double>();
        expect(product[0] == 30 && product[1] == 176, "imported memory as a matrix");
    }
    const clinalg::Memory lent = clinalg::export_memory(clinalg::vector(std::vector<float>{1, 2, 3}));
    float found[3];
    expect(lent.queue == own.queue, "exported memory is in the same queue");
    clEnqueueReadBuffer(queue, static_cast<cl_mem>(lent.mem), CL_TRUE, 0, sizeof found, found, 0, nullptr, nullptr);
    expect(found[0] == 1 && found[2] == 3, "exported memory outlives its object");
    clReleaseMemObject(static_cast<cl_mem>(lent.mem));
    clReleaseCommandQueue(static_cast<cl_command_queue>(lent.queue));
    clReleaseMemObject(mem);
    clReleaseCommandQueue(queue);
    clReleaseContext(static_cast<cl_context>(own.context));
    clinalg::shutdown();
    cl_uint count = 0;
    clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof count, &count, nullptr);
    expect(count >= 1, "the program's context is alive");
    clReleaseContext(context);
    if (failures == 0) std::puts("passed");
    return failures != 0;
} catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
}
