// Errors, objects that release themselves, the caller's arrays, devices. Part of clinalg.hpp.
#pragma once

#include "../clinalg.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#if __cplusplus >= 202002L || (defined(_MSVC_LANG) && _MSVC_LANG >= 202002L)
#include <version>
#endif
#ifdef __cpp_lib_span
#include <span>
#endif

#if __cplusplus >= 201703L || (defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)
#define CLINALG_NODISCARD [[nodiscard]]
#else
#define CLINALG_NODISCARD
#endif

namespace clinalg {

// A failed call: what() has the message, id() the identifier clinalg:<topic>:<what>.
class Error : public std::runtime_error {
public:
    // The last failure on this thread.
    explicit Error(clinalg_status status)
        : std::runtime_error(clinalg_last_error_message()), status_(status), id_(clinalg_last_error_id()) {}
    Error(clinalg_status status, const std::string &id, const std::string &message)
        : std::runtime_error(message), status_(status), id_(id) {}
    clinalg_status status() const { return status_; }
    const std::string &id() const { return id_; }

private:
    clinalg_status status_;
    std::string id_;
};

namespace detail {

// The exception that a progress function has thrown inside of the call that runs on this thread: it must not pass through the
// library, which is told to end.
inline std::exception_ptr &thrown() {
    static thread_local std::exception_ptr thrown;
    return thrown;
}

inline void rethrow(std::exception_ptr &thrown) {
    if (thrown) {
        std::exception_ptr kept;
        std::swap(kept, thrown);
        std::rethrow_exception(kept);
    }
}

// The last exception that the function of an operator has thrown on this thread, and the number that the library got in its place. A call
// of C may have left it.
struct Failure {
    std::exception_ptr thrown;
    int32_t code;
    Failure() : code(1577058304) {}
};

inline Failure &failure() {
    static thread_local Failure failure;
    return failure;
}

}  // namespace detail

// Throws the exception of a callback that ended the call, else an Error unless the call succeeded.
inline void check(clinalg_status status) {
    if (status == CLINALG_STATUS_OK) return;
    const Error error(status);
    detail::Failure &failure = detail::failure();
    if (std::string(error.what()).find(std::to_string(failure.code)) != std::string::npos) detail::rethrow(failure.thrown);
    throw error;
}

template <class T> struct Precision;
template <> struct Precision<float> { static const clinalg_precision code = CLINALG_PRECISION_F32; };
template <> struct Precision<double> { static const clinalg_precision code = CLINALG_PRECISION_F64; };
template <> struct Precision<std::complex<float>> { static const clinalg_precision code = CLINALG_PRECISION_COMPLEX_F32; };
template <> struct Precision<std::complex<double>> { static const clinalg_precision code = CLINALG_PRECISION_COMPLEX_F64; };

// A number as the calls for complex numbers take it.
inline clinalg_complex number(std::complex<double> z) {
    const clinalg_complex value = {z.real(), z.imag()};
    return value;
}

// Values of the caller, which a call reads: made of a pointer and a length, an array, a std::vector, a list in braces or a std::span.
// It is valid as long as they are.
template <class T> class View {
public:
    View() : data_(nullptr), size_(0) {}
    View(const T *data, std::size_t size) : data_(data), size_(size) {}
    template <std::size_t N> View(const T (&values)[N]) : data_(values), size_(N) {}
    View(const std::vector<T> &values) : data_(values.data()), size_(values.size()) {}
    View(std::initializer_list<T> values) : data_(nullptr), size_(values.size()) { if (size_ != 0) data_ = &*values.begin(); }
#ifdef __cpp_lib_span
    View(std::span<const T> values) : data_(values.data()), size_(values.size()) {}
    View(std::span<T> values) : data_(values.data()), size_(values.size()) {}
#endif
    const T *data() const { return data_; }
    std::size_t size() const { return size_; }
    const T *begin() const { return data_; }
    const T *end() const { return data_ + size_; }

private:
    const T *data_;
    std::size_t size_;
};

// Owns one object of any kind; movable, not copyable. Derived classes say which kind.
class Object {
public:
    // What a call that writes a handle takes. Where the call replaced a live object, the former one is released at the end of
    // the full expression: use out() in the argument list of the call itself.
    class Out {
    public:
        explicit Out(Object &object) : object_(&object), before_(object.handle_) {}
        Out(Out &&other) noexcept : object_(other.object_), before_(other.before_) { other.object_ = nullptr; }
        Out(const Out &) = delete;
        Out &operator=(const Out &) = delete;
        ~Out() {
            if (object_ != nullptr && before_ != 0 && object_->handle_ != before_) clinalg_object_release(before_);
        }
        operator clinalg_handle *() { return &object_->handle_; }

    private:
        Object *object_;
        clinalg_handle before_;
    };

    Object() : handle_(0) {}
    explicit Object(clinalg_handle handle) : handle_(handle) {}
    Object(Object &&other) noexcept : handle_(other.handle_) { other.handle_ = 0; }
    Object &operator=(Object &&other) noexcept {
        // What this one held is released here, not with `other`.
        Object moved(std::move(other));
        std::swap(handle_, moved.handle_);
        return *this;
    }
    Object(const Object &) = delete;
    Object &operator=(const Object &) = delete;
    ~Object() { if (handle_ != 0) clinalg_object_release(handle_); }

    clinalg_handle get() const { return handle_; }
    // Whether there is an object.
    explicit operator bool() const { return handle_ != 0; }
    // For calls that write a handle: an operation writes into a live object and makes a new one for an empty object; a call that
    // always makes a new object replaces a live one, which is released.
    Out out() { return Out(*this); }
    // Gives the handle to the caller, who must release it.
    CLINALG_NODISCARD clinalg_handle detach() {
        const clinalg_handle handle = handle_;
        handle_ = 0;
        return handle;
    }
    CLINALG_NODISCARD clinalg_object_info info() const {
        clinalg_object_info info;
        check(clinalg_object_get_info(handle_, &info));
        return info;
    }

protected:
    // Takes over an object of this kind; another one is an error and stays with its owner.
    Object(Object &&other, clinalg_kind kind) : handle_(0) {
        if (other.info().kind != kind)
            throw Error(CLINALG_STATUS_HANDLE_KIND, "clinalg:handle:kind",
                        std::string("the object is ") + name_of(other.info().kind) + ", " + name_of(kind) + " is expected");
        std::swap(handle_, other.handle_);
    }

private:
    static const char *name_of(clinalg_kind kind) {
        switch (kind) {
        case CLINALG_KIND_VECTOR: return "a vector";
        case CLINALG_KIND_DENSE: return "a dense matrix";
        case CLINALG_KIND_CSR: return "a sparse matrix";
        case CLINALG_KIND_BAND: return "a band matrix";
        case CLINALG_KIND_WAVE: return "a wave";
        case CLINALG_KIND_OPERATOR: return "an operator";
        case CLINALG_KIND_ODE: return "a system of differential equations";
        case CLINALG_KIND_ELASTODYNAMICS: return "a problem of elastodynamics";
        case CLINALG_KIND_TEAM: return "a team of devices";
        case CLINALG_KIND_TEAM_MATRIX: return "a matrix on a team";
        case CLINALG_KIND_ODE_STEPPER: return "a stepper of differential equations";
        case CLINALG_KIND_POISSON: return "a Poisson solver";
        case CLINALG_KIND_SOLVER: return "a Krylov solver";
        case CLINALG_KIND_FACTORISATION: return "a factorisation of a matrix";
        case CLINALG_KIND_TEAM_AMG: return "algebraic multigrid on a team";
        default: return "an object of a kind unknown to this header";
        }
    }
    clinalg_handle handle_;
};

// One of several owners of an object: it lives until each of them, and the object that the first was made of, is gone.
class Shared {
public:
    Shared() {}
    Shared(const Object &object) : Shared(object.get()) {}
    Shared(clinalg_handle handle) {
        if (handle == 0) return;
        check(clinalg_object_retain(handle));
        object_ = Object(handle);
    }
    Shared(const Shared &other) : Shared(other.get()) {}
    Shared(Shared &&other) noexcept : object_(std::move(other.object_)) {}
    Shared &operator=(Shared other) noexcept {
        object_ = std::move(other.object_);
        return *this;
    }
    // 0 for none.
    clinalg_handle get() const { return object_.get(); }

private:
    Object object_;
};

namespace detail {

// The object that a call makes, whose last argument is where it writes the handle.
template <class R, class F, class... A> R made(F call, A... arguments) {
    R object;
    check(call(arguments..., object.out()));
    return object;
}

// The number that a call gives by its last argument.
template <class R, class F, class... A> R given(F call, A... arguments) {
    R result = R();
    check(call(arguments..., &result));
    return result;
}

// The text of a call, read(buffer, capacity, needed).
template <class F> std::string text(F read) {
    std::size_t needed = 0;
    check(read(nullptr, 0, &needed));
    std::vector<char> buffer(needed);
    check(read(buffer.data(), buffer.size(), &needed));
    return std::string(buffer.data());
}

inline void require(bool condition, const char *message) {
    if (!condition) throw std::invalid_argument(message);
}

// A text, null where it is empty.
inline const char *or_null(const std::string &text) { return text.empty() ? nullptr : text.c_str(); }

// Options with their defaults. `C` is the structure, `fill` its function of defaults.
template <class C, clinalg_status (*fill)(C *, std::size_t)> struct Defaults : public C {
    Defaults() : C() { check(fill(this, sizeof(C))); }
};

}  // namespace detail

// The version of the loaded library.
inline std::string version() { return clinalg_version(); }

// An OpenCL device.
struct Device {
    std::size_t index;
    std::string name, vendor, platform, driver, version;
    bool fp64;
    std::uint64_t compute_units, global_memory, max_allocation, local_memory;
};

// Every device, in the order of their indices.
CLINALG_NODISCARD inline std::vector<Device> devices() {
    std::vector<Device> found(detail::given<std::size_t>(clinalg_device_count));
    for (std::size_t index = 0; index < found.size(); ++index) {
        const auto text = [index](clinalg_text what) {
            return detail::text([=](char *buffer, std::size_t capacity, std::size_t *needed) {
                return clinalg_device_text(index, what, buffer, capacity, needed);
            });
        };
        const auto number = [index](clinalg_number what) {
            return detail::given<std::uint64_t>(clinalg_device_number, index, static_cast<std::uint32_t>(what));
        };
        Device &device = found[index];
        device.index = index;
        device.name = text(CLINALG_TEXT_NAME);
        device.vendor = text(CLINALG_TEXT_VENDOR);
        device.platform = text(CLINALG_TEXT_PLATFORM);
        device.driver = text(CLINALG_TEXT_DRIVER);
        device.version = text(CLINALG_TEXT_VERSION);
        device.fp64 = number(CLINALG_NUMBER_FP64) != 0;
        device.compute_units = number(CLINALG_NUMBER_COMPUTE_UNITS);
        device.global_memory = number(CLINALG_NUMBER_GLOBAL_MEM);
        device.max_allocation = number(CLINALG_NUMBER_MAX_ALLOC);
        device.local_memory = number(CLINALG_NUMBER_LOCAL_MEM);
    }
    return found;
}

// Selects the device of this index or name for new objects.
inline void select_device(const std::string &selector) { check(clinalg_device_select(selector.c_str())); }

// Waits until the device has executed all enqueued work.
inline void finish() { check(clinalg_device_finish()); }

// Device memory held by the objects of the current device.
CLINALG_NODISCARD inline clinalg_memory_report memory() { return detail::given<clinalg_memory_report>(clinalg_device_memory); }

// Releases every object and the device. Objects that are still owned become stale, which does no harm.
inline void shutdown() { check(clinalg_shutdown()); }

}  // namespace clinalg
