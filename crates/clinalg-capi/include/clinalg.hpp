// clinalg for C++11: objects that release themselves, errors as exceptions. Header only.
#pragma once

#include "clinalg.h"

#include <complex>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace clinalg {

// A failed call: what() has the words, id() the identifier clinalg:<topic>:<what>.
class Error : public std::runtime_error {
public:
    explicit Error(clinalg_status status)
        : std::runtime_error(clinalg_last_error_message()), status_(status), id_(clinalg_last_error_id()) {}
    clinalg_status status() const { return status_; }
    const std::string &id() const { return id_; }

private:
    clinalg_status status_;
    std::string id_;
};

inline void check(clinalg_status status) {
    if (status != CLINALG_STATUS_OK) throw Error(status);
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

// Owns one object of any kind, a system of differential equations as well; moves, does not copy.
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
            if (object_ != nullptr && before_ != 0 && object_->handle_ != before_) clinalg_release(before_);
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
        std::swap(handle_, other.handle_);
        return *this;
    }
    Object(const Object &) = delete;
    Object &operator=(const Object &) = delete;
    ~Object() { if (handle_ != 0) clinalg_release(handle_); }

    clinalg_handle get() const { return handle_; }
    // For calls that write a handle: an operation writes into a live object and makes a new one for an empty object; a call that
    // always makes a new object replaces a live one, which is released.
    Out out() { return Out(*this); }
    clinalg_object_info info() const {
        clinalg_object_info info;
        check(clinalg_info(handle_, &info));
        return info;
    }

private:
    clinalg_handle handle_;
};

template <class T> Object vector(const std::vector<T> &values) {
    Object object;
    check(clinalg_vector(Precision<T>::code, values.data(), values.size(), object.out()));
    return object;
}

// A dense matrix, column by column.
template <class T> Object dense(std::size_t rows, std::size_t cols, const std::vector<T> &values) {
    if (cols != 0 && (values.size() / cols != rows || values.size() % cols != 0))
        throw std::invalid_argument("clinalg::dense: rows times cols values");
    Object object;
    check(clinalg_dense(Precision<T>::code, rows, cols, values.data(), object.out()));
    return object;
}

// The dot product sum conj(a) b of real or complex objects.
inline std::complex<double> dot(const Object &a, const Object &b) {
    clinalg_complex result;
    check(clinalg_dot_complex(a.get(), b.get(), &result));
    return {result.re, result.im};
}

// X with A X = b for a dense A, real or complex.
inline Object solve_dense(const Object &a, const Object &b, clinalg_factorisation factorisation = CLINALG_FACTORISATION_LU) {
    Object x;
    check(clinalg_solve_dense(static_cast<uint32_t>(factorisation), a.get(), b.get(), x.out()));
    return x;
}

template <class T>
Object csr(std::size_t rows, std::size_t cols, const std::vector<std::size_t> &offsets,
           const std::vector<std::size_t> &indices, const std::vector<T> &values) {
    if (offsets.size() != rows + 1 || offsets.back() > indices.size() || offsets.back() > values.size())
        throw std::invalid_argument("clinalg::csr: rows + 1 offsets, and as many indices and values as the last says");
    Object object;
    check(clinalg_csr(Precision<T>::code, rows, cols, offsets.data(), indices.data(), values.data(), object.out()));
    return object;
}

template <class T> Object read_matrix_market(const std::string &path) {
    Object object;
    check(clinalg_read_matrix_market(path.c_str(), Precision<T>::code, object.out()));
    return object;
}

// The values of a vector or dense matrix, column by column.
template <class T> std::vector<T> gather(const Object &object) {
    std::vector<T> values(object.info().entries);
    check(clinalg_read(object.get(), Precision<T>::code, 0, values.size(), values.data()));
    return values;
}

// The step that ode_run took last; valid in the call of the function that is given it.
class OdeStep {
public:
    explicit OdeStep(clinalg_ode_step *step) : step_(step) {}
    clinalg_ode_step *get() const { return step_; }
    double begin() const { return info().first; }
    double end() const { return info().second; }
    // The solution of `components` values at a time from begin() to end().
    std::vector<double> at(double t, std::size_t components) const {
        std::vector<double> y(components);
        check(clinalg_ode_step_at(step_, t, y.data(), components));
        return y;
    }

private:
    std::pair<double, double> info() const {
        std::pair<double, double> span;
        check(clinalg_ode_step_info(step_, &span.first, &span.second, nullptr));
        return span;
    }
    clinalg_ode_step *step_;
};

namespace detail {

template <class See> struct Watch {
    See *see;
    std::exception_ptr thrown;
};

// Exceptions must not pass through the library: the one thrown is kept and the integration ended.
template <class See> int32_t watch(clinalg_ode_step *step, void *data) {
    Watch<See> &watch = *static_cast<Watch<See> *>(data);
    try {
        return (*watch.see)(OdeStep(step)) ? 1 : 0;
    } catch (...) {
        watch.thrown = std::current_exception();
        return 0;
    }
}

}  // namespace detail

// Integrates from t0 to t_end as clinalg_ode_run and gives the solution at the end. `see(OdeStep)` is called after every step and
// returns whether to go on; an exception that it throws ends the integration and is thrown again here.
template <class See>
std::vector<double> ode_run(const Object &ode, const clinalg_ode_options &options, double t0, double t_end,
                            const std::vector<double> &y0, See see, const char *method = nullptr,
                            const char *variant = nullptr, clinalg_ode_report *report = nullptr) {
    std::vector<double> y(y0.size());
    detail::Watch<See> watch = {&see, nullptr};
    const clinalg_status status = clinalg_ode_run(ode.get(), method, variant, &options, t0, t_end, y0.data(), y0.size(),
                                                  detail::watch<See>, &watch, y.data(), report);
    if (watch.thrown) std::rethrow_exception(watch.thrown);
    check(status);
    return y;
}

}  // namespace clinalg
