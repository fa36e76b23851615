// For programs that have their own OpenCL objects. Part of clinalg.hpp, which needs no OpenCL header: cl_context, cl_device_id,
// cl_command_queue and cl_mem convert to void * implicitly, and back by a static_cast.
#pragma once

#include "array.hpp"

namespace clinalg {

// Makes a context, one of its devices and an in-order queue of both (null for one of the library's own) those that new objects live on. The
// library retains context and queue while it needs them.
inline void select_opencl(void *context, void *device, void *queue) { check(clinalg_opencl_select(context, device, queue)); }

// A cl_context, a cl_device_id and a cl_command_queue.
struct OpenCl {
    void *context, *device, *queue;
};

// What new objects live on. The caller releases context and queue by clReleaseContext and clReleaseCommandQueue; cl::Context and
// cl::CommandQueue of OpenCL's C++ bindings take them over.
CLINALG_NODISCARD inline OpenCl opencl() {
    OpenCl objects;
    check(clinalg_opencl_export(&objects.context, &objects.device, &objects.queue));
    return objects;
}

// A vector of `size` values of the type T in the memory of a cl_mem, which the library retains while the vector lives.
template <class T> CLINALG_NODISCARD Vector import_vector(void *mem, std::size_t size) {
    return detail::made<Vector>(clinalg_vector_import, static_cast<std::uint32_t>(Precision<T>::code), mem, size);
}
// A dense matrix, column by column, in the memory of a cl_mem.
template <class T> CLINALG_NODISCARD Dense import_dense(void *mem, std::size_t rows, std::size_t cols) {
    return detail::made<Dense>(clinalg_dense_import, static_cast<std::uint32_t>(Precision<T>::code), mem, rows, cols);
}

// A cl_mem and the cl_command_queue in which the library uses it.
struct Memory {
    void *mem, *queue;
};

// The memory of a vector or dense matrix. The caller releases both by clReleaseMemObject and clReleaseCommandQueue, even after the object has been destroyed.
CLINALG_NODISCARD inline Memory export_memory(const Array &object) {
    Memory memory;
    check(clinalg_object_export(object.get(), &memory.mem, &memory.queue));
    return memory;
}

}  // namespace clinalg
