// clinalg for C++11: objects that release themselves, errors as exceptions. Header only.
#pragma once

#include "clinalg.h"

#include <stdexcept>
#include <string>
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

// Owns one device object; moves, does not copy.
class Object {
public:
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
    // For calls that write a handle: an empty object gets a new one, another is written into.
    clinalg_handle *out() { return &handle_; }
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

}  // namespace clinalg
