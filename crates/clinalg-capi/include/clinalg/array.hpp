// Vectors and matrices, their transfers and arithmetic. Part of clinalg.hpp.
#pragma once

#include "object.hpp"

#include <algorithm>
#include <type_traits>

namespace clinalg {

// A vector or matrix: an object with values.
class Array : public Object {
public:
    Array() {}
    // Rows; of a vector its length.
    std::size_t rows() const { return info().rows; }
    std::size_t cols() const { return info().cols; }
    // Stored values; 0 for a band matrix.
    std::size_t size() const { return info().entries; }
    clinalg_precision precision() const { return info().precision; }
    bool is_complex() const {
        const clinalg_precision code = precision();
        return code == CLINALG_PRECISION_COMPLEX_F32 || code == CLINALG_PRECISION_COMPLEX_F64;
    }
    // Sets every stored value.
    void fill(std::complex<double> value) { check(clinalg_array_fill_complex(get(), number(value))); }

    // Copies `count` values from `offset` on of a vector or dense matrix to the host; T is the type of the values.
    template <class T> void read(std::size_t offset, T *values, std::size_t count) const {
        check(clinalg_array_read(get(), Precision<T>::code, offset, count, values));
    }
    // Replaces values of a vector or dense matrix from `offset` on.
    template <class T> void write(std::size_t offset, const T *values, std::size_t count) {
        check(clinalg_array_write(get(), Precision<T>::code, offset, count, values));
    }
    template <class T> void write(std::size_t offset, const std::vector<T> &values) {
        write(offset, values.data(), values.size());
    }
#ifdef __cpp_lib_span
    template <class T> void read(std::size_t offset, std::span<T> values) const { read(offset, values.data(), values.size()); }
    template <class T> void write(std::size_t offset, std::span<T> values) { write(offset, values.data(), values.size()); }
#endif
    // Replaces the values from `offset` on by those of a vector, on the device.
    void write_slice(std::size_t offset, const Array &source) { check(clinalg_vector_write_slice(get(), offset, source.get())); }
    // All values of a vector or dense matrix, column by column.
    template <class T> CLINALG_NODISCARD std::vector<T> gather() const {
        std::vector<T> values(size());
        read(0, values.data(), values.size());
        return values;
    }

protected:
    Array(Object &&object, clinalg_kind kind) : Object(std::move(object), kind) {}
};

namespace detail {

// The kind that a vector takes over: a dense matrix of one column stands for one.
inline clinalg_kind vector_kind(const Object &object) {
    const clinalg_object_info found = object.info();
    return found.kind == CLINALG_KIND_DENSE && found.cols == 1 ? CLINALG_KIND_DENSE : CLINALG_KIND_VECTOR;
}

}  // namespace detail

// A contiguous vector, or a dense matrix of one column that takes the place of one.
class Vector : public Array {
public:
    Vector() {}
    explicit Vector(Object &&object) : Array(std::move(object), detail::vector_kind(object)) {}
    // `size` times `value`.
    explicit Vector(std::size_t size, double value = 0, clinalg_precision precision = CLINALG_PRECISION_F64) {
        check(clinalg_vector_constant(static_cast<std::uint32_t>(precision), size, value, out()));
    }
};

// A matrix by compressed columns on the host.
template <class T> struct CompressedColumns {
    std::size_t rows, cols;
    std::vector<std::size_t> offsets, indices;
    std::vector<T> values;
};

// Rows of a matrix on the host, compressed.
template <class T> struct CompressedRows {
    std::size_t rows, cols;
    std::vector<std::size_t> offsets, indices;
    std::vector<T> values;
};

// A dense, sparse or band matrix; Dense, Csr and Band say which.
class Matrix : public Array {
public:
    Matrix() {}
    clinalg_kind kind() const { return info().kind; }
    // How the products run and why.
    CLINALG_NODISCARD std::string explain() const {
        const clinalg_handle handle = get();
        return detail::text([handle](char *buffer, std::size_t capacity, std::size_t *needed) {
            return clinalg_object_explain(handle, buffer, capacity, needed);
        });
    }
    // A sparse or band matrix by compressed columns; T is the type of its values.
    template <class T> CLINALG_NODISCARD CompressedColumns<T> gather_sparse() const {
        const clinalg_object_info found = info();
        CompressedColumns<T> matrix{found.rows, found.cols, std::vector<std::size_t>(found.cols + 1), {}, {}};
        gather_entries(matrix, found.entries, [&](std::size_t *entries) {
            return clinalg_sparse_read(get(), Precision<T>::code, matrix.offsets.data(), matrix.indices.data(), matrix.values.data(), entries);
        });
        return matrix;
    }
    // `count` rows of a sparse or band matrix from `first` on, compressed.
    template <class T> CLINALG_NODISCARD CompressedRows<T> gather_rows(std::size_t first, std::size_t count) const {
        const clinalg_object_info found = info();
        // Rows that the matrix does not have are an error of the call.
        const std::size_t most = std::min(count, found.rows);
        CompressedRows<T> matrix{count, found.cols, std::vector<std::size_t>(most + 1), {}, {}};
        gather_entries(matrix, found.entries / std::max<std::size_t>(found.rows, 1) * most, [&](std::size_t *entries) {
            return clinalg_sparse_read_rows(get(), Precision<T>::code, first, count, matrix.offsets.data(), matrix.indices.data(),
                                            matrix.values.data(), entries);
        });
        return matrix;
    }

protected:
    Matrix(Object &&object, clinalg_kind kind) : Array(std::move(object), kind) {}

private:
    // Reads into `matrix`, first with room for `entries`; read(&entries) tells how many there are.
    template <class M, class F> static void gather_entries(M &matrix, std::size_t entries, F read) {
        for (;;) {
            const std::size_t room = entries;
            matrix.indices.resize(room);
            matrix.values.resize(room);
            const clinalg_status status = read(&entries);
            if (status == CLINALG_STATUS_LENGTH && entries > room) continue;
            check(status);
            matrix.indices.resize(entries);
            matrix.values.resize(entries);
            return;
        }
    }
};

// A dense matrix by columns.
class Dense : public Matrix {
public:
    Dense() {}
    explicit Dense(Object &&object) : Matrix(std::move(object), CLINALG_KIND_DENSE) {}
};

// A sparse matrix by compressed rows.
class Csr : public Matrix {
public:
    Csr() {}
    explicit Csr(Object &&object) : Matrix(std::move(object), CLINALG_KIND_CSR) {}
    // Chooses how the products run.
    void set_format(clinalg_format format) { check(clinalg_sparse_set_format(get(), format)); }
    // Replaces the values and keeps their positions: row by row with ascending columns.
    template <class T> void write_values(const T *values, std::size_t count) {
        check(clinalg_sparse_write(get(), Precision<T>::code, values, count));
    }
    template <class T> void write_values(const std::vector<T> &values) { write_values(values.data(), values.size()); }
#ifdef __cpp_lib_span
    template <class T> void write_values(std::span<T> values) { write_values<std::remove_const_t<T>>(values.data(), values.size()); }
#endif
    // The same for a matrix from coordinates, in their order; values at the same position are summed.
    template <class T> void write_coo(const T *values, std::size_t count) {
        check(clinalg_sparse_write_coo(get(), Precision<T>::code, values, count));
    }
    template <class T> void write_coo(const std::vector<T> &values) { write_coo(values.data(), values.size()); }
#ifdef __cpp_lib_span
    template <class T> void write_coo(std::span<T> values) { write_coo<std::remove_const_t<T>>(values.data(), values.size()); }
#endif
    // Removes stored zeros and returns the number of entries left.
    std::size_t drop_zeros() { return detail::given<std::size_t>(clinalg_sparse_drop_zeros, get()); }
    // The block of `row_count` rows and `col_count` columns from (first_row, first_col) on.
    CLINALG_NODISCARD Csr block(std::size_t first_row, std::size_t row_count, std::size_t first_col, std::size_t col_count) const {
        return detail::made<Csr>(clinalg_sparse_range, get(), first_row, row_count, first_col, col_count);
    }
    // The rows and columns with these indices, in this order.
    CLINALG_NODISCARD Csr select(View<std::size_t> row_numbers, View<std::size_t> col_numbers) const {
        static const std::size_t none = 0;
        // Null would take all of them.
        const std::size_t *chosen_rows = row_numbers.size() == 0 ? &none : row_numbers.data();
        const std::size_t *chosen_cols = col_numbers.size() == 0 ? &none : col_numbers.data();
        return detail::made<Csr>(clinalg_sparse_select, get(), chosen_rows, row_numbers.size(), chosen_cols, col_numbers.size());
    }
    CLINALG_NODISCARD Csr select_rows(View<std::size_t> numbers) const {
        static const std::size_t none = 0;
        const std::size_t *chosen = numbers.size() == 0 ? &none : numbers.data();
        return detail::made<Csr>(clinalg_sparse_select, get(), chosen, numbers.size(),
                                 static_cast<const std::size_t *>(nullptr), std::size_t(0));
    }
    CLINALG_NODISCARD Csr select_cols(View<std::size_t> numbers) const {
        static const std::size_t none = 0;
        const std::size_t *chosen = numbers.size() == 0 ? &none : numbers.data();
        return detail::made<Csr>(clinalg_sparse_select, get(), static_cast<const std::size_t *>(nullptr), std::size_t(0),
                                 chosen, numbers.size());
    }
    // The entries with low <= column - row <= high; infinities are allowed.
    CLINALG_NODISCARD Csr diagonals(double low, double high) const {
        return detail::made<Csr>(clinalg_sparse_band, get(), low, high);
    }
    // The entries that are not zero, column by column.
    CLINALG_NODISCARD Vector nonzeros() const { return detail::made<Vector>(clinalg_sparse_nonzeros, get()); }
};

// A band matrix.
class Band : public Matrix {
public:
    Band() {}
    explicit Band(Object &&object) : Matrix(std::move(object), CLINALG_KIND_BAND) {}
};

// An operator, which products and solvers accept in place of a matrix; its entries cannot be read.
class Operator : public Object {
public:
    Operator() {}
    explicit Operator(Object &&object) : Object(std::move(object), CLINALG_KIND_OPERATOR) {}
    std::size_t rows() const { return info().rows; }
    std::size_t cols() const { return info().cols; }
};

namespace detail {

// Csr for signed indices of 32 or 64 bits. A template, so that lists in braces are indices of the other type.
template <class I> struct SignedOnly
    : std::enable_if<std::is_integral<I>::value && std::is_signed<I>::value && (sizeof(I) == 4 || sizeof(I) == 8), Csr> {};

// Signed indices as the library counts.
template <class I> std::vector<std::size_t> counted(const I *values, std::size_t count) {
    std::vector<std::size_t> wide(count);
    for (std::size_t k = 0; k < count; ++k) {
        if (values[k] < 0)
            throw std::invalid_argument("clinalg: the offset or index " + std::to_string(values[k]) + " at position " +
                                        std::to_string(k) + " (counted from 0) is negative; they count from 0");
        wide[k] = static_cast<std::size_t>(values[k]);
    }
    return wide;
}

template <class I> void require_compressed(std::size_t count, const std::vector<I> &offsets, std::size_t indices, std::size_t values) {
    // A negative offset is an error of the call.
    require(offsets.size() != 0 && offsets.size() - 1 == count &&
                (offsets.back() < 0 || (static_cast<std::size_t>(offsets.back()) <= indices &&
                                        static_cast<std::size_t>(offsets.back()) <= values)),
            "clinalg: an offset for each row or column and one more, and as many indices and values as the last says");
}

// Compressed storage of `count` rows or columns: `narrow` is the call for indices of 32 bits, `wide` the other.
template <class Narrow, class Wide, class T>
Csr compressed(Narrow narrow, Wide, std::size_t rows, std::size_t cols, std::size_t, const std::int32_t *offsets,
               const std::int32_t *indices, const T *values) {
    return made<Csr>(narrow, static_cast<std::uint32_t>(Precision<T>::code), rows, cols, offsets, indices, values);
}
template <class Narrow, class Wide, class I, class T>
Csr compressed(Narrow, Wide wide, std::size_t rows, std::size_t cols, std::size_t count, const I *offsets, const I *indices,
               const T *values) {
    const std::vector<std::size_t> begin = counted(offsets, count + 1), index = counted(indices, begin.back());
    return made<Csr>(wide, static_cast<std::uint32_t>(Precision<T>::code), rows, cols, begin.data(), index.data(), values);
}

}  // namespace detail

// Uploads.

template <class T> CLINALG_NODISCARD Vector vector(const T *values, std::size_t size) {
    return detail::made<Vector>(clinalg_vector_create, static_cast<std::uint32_t>(Precision<T>::code), values, size);
}
template <class T> CLINALG_NODISCARD Vector vector(const std::vector<T> &values) { return vector(values.data(), values.size()); }
template <class T> CLINALG_NODISCARD Vector vector(std::initializer_list<T> values) { return vector(values.begin(), values.size()); }

// A dense matrix, column by column.
template <class T> CLINALG_NODISCARD Dense dense(std::size_t rows, std::size_t cols, const T *values) {
    return detail::made<Dense>(clinalg_dense_create, static_cast<std::uint32_t>(Precision<T>::code), rows, cols, values);
}
template <class T> CLINALG_NODISCARD Dense dense(std::size_t rows, std::size_t cols, const std::vector<T> &values) {
    detail::require(cols == 0 ? values.empty() : values.size() / cols == rows && values.size() % cols == 0,
                    "clinalg::dense: wrong length, expected rows times cols values");
    return dense(rows, cols, values.data());
}

// A dense matrix of zeros.
template <class T> CLINALG_NODISCARD Dense zeros(std::size_t rows, std::size_t cols) {
    return detail::made<Dense>(clinalg_array_zeros, static_cast<std::uint32_t>(Precision<T>::code), rows, cols);
}

// A band matrix of `kl` sub- and `ku` superdiagonals from its full form, column by column.
template <class T> CLINALG_NODISCARD Band band(std::size_t rows, std::size_t cols, std::size_t kl, std::size_t ku, const T *values) {
    return detail::made<Band>(clinalg_band_create, static_cast<std::uint32_t>(Precision<T>::code), rows, cols, kl, ku, values);
}
template <class T>
CLINALG_NODISCARD Band band(std::size_t rows, std::size_t cols, std::size_t kl, std::size_t ku, const std::vector<T> &values) {
    detail::require(cols == 0 ? values.empty() : values.size() / cols == rows && values.size() % cols == 0,
                    "clinalg::band: wrong length, expected rows times cols values");
    return band(rows, cols, kl, ku, values.data());
}

// A sparse matrix from compressed rows: rows + 1 offsets, column indices from 0 on, values. Unsorted entries are sorted, duplicates
// summed.
template <class T>
CLINALG_NODISCARD Csr csr(std::size_t rows, std::size_t cols, View<std::size_t> offsets, View<std::size_t> indices,
                          const T *values, std::size_t size) {
    detail::require(offsets.size() != 0 && offsets.size() - 1 == rows && offsets.data()[rows] <= indices.size() &&
                        offsets.data()[rows] <= size,
                    "clinalg::csr: wrong length, expected rows + 1 offsets, and as many indices and values as the last offset says");
    return detail::made<Csr>(clinalg_sparse_from_csr, static_cast<std::uint32_t>(Precision<T>::code), rows, cols, offsets.data(),
                             indices.data(), values);
}
template <class T>
CLINALG_NODISCARD Csr csr(std::size_t rows, std::size_t cols, View<std::size_t> offsets, View<std::size_t> indices,
                          const std::vector<T> &values) {
    return csr(rows, cols, offsets, indices, values.data(), values.size());
}

// A sparse matrix from compressed columns: cols + 1 offsets, row indices from 0 on, values.
template <class T>
CLINALG_NODISCARD Csr csc(std::size_t rows, std::size_t cols, View<std::size_t> offsets, View<std::size_t> indices,
                          const T *values, std::size_t size) {
    detail::require(offsets.size() != 0 && offsets.size() - 1 == cols && offsets.data()[cols] <= indices.size() &&
                        offsets.data()[cols] <= size,
                    "clinalg::csc: wrong length, expected cols + 1 offsets, and as many indices and values as the last offset says");
    return detail::made<Csr>(clinalg_sparse_from_csc, static_cast<std::uint32_t>(Precision<T>::code), rows, cols, offsets.data(),
                             indices.data(), values);
}
template <class T>
CLINALG_NODISCARD Csr csc(std::size_t rows, std::size_t cols, View<std::size_t> offsets, View<std::size_t> indices,
                          const std::vector<T> &values) {
    return csc(rows, cols, offsets, indices, values.data(), values.size());
}

// The same with signed offsets and indices of 32 or 64 bits; the pointers name as many values as the last offset says.
template <class T, class I>
CLINALG_NODISCARD typename detail::SignedOnly<I>::type csr(std::size_t rows, std::size_t cols, const I *offsets, const I *indices,
                                                         const T *values) {
    return detail::compressed(clinalg_sparse_from_csr_i32, clinalg_sparse_from_csr, rows, cols, rows, offsets, indices, values);
}
template <class T, class I>
CLINALG_NODISCARD typename detail::SignedOnly<I>::type csr(std::size_t rows, std::size_t cols, const std::vector<I> &offsets,
                                                         const std::vector<I> &indices, const std::vector<T> &values) {
    detail::require_compressed(rows, offsets, indices.size(), values.size());
    return csr(rows, cols, offsets.data(), indices.data(), values.data());
}
template <class T, class I>
CLINALG_NODISCARD typename detail::SignedOnly<I>::type csc(std::size_t rows, std::size_t cols, const I *offsets, const I *indices,
                                                         const T *values) {
    return detail::compressed(clinalg_sparse_from_csc_i32, clinalg_sparse_from_csc, rows, cols, cols, offsets, indices, values);
}
template <class T, class I>
CLINALG_NODISCARD typename detail::SignedOnly<I>::type csc(std::size_t rows, std::size_t cols, const std::vector<I> &offsets,
                                                         const std::vector<I> &indices, const std::vector<T> &values) {
    detail::require_compressed(cols, offsets, indices.size(), values.size());
    return csc(rows, cols, offsets.data(), indices.data(), values.data());
}

// A sparse matrix from coordinates in any order, from 0 on; values at the same position are summed.
template <class T>
CLINALG_NODISCARD Csr coo(std::size_t rows, std::size_t cols, std::size_t entries, const std::size_t *row_indices,
                          const std::size_t *col_indices, const T *values) {
    return detail::made<Csr>(clinalg_sparse_from_coo, static_cast<std::uint32_t>(Precision<T>::code), rows, cols, entries, row_indices,
                             col_indices, values);
}
template <class T>
CLINALG_NODISCARD Csr coo(std::size_t rows, std::size_t cols, std::size_t entries, const std::int32_t *row_indices,
                          const std::int32_t *col_indices, const T *values) {
    return detail::made<Csr>(clinalg_sparse_from_coo_i32, static_cast<std::uint32_t>(Precision<T>::code), rows, cols, entries, row_indices,
                             col_indices, values);
}
template <class T, class I>
CLINALG_NODISCARD typename detail::SignedOnly<I>::type coo(std::size_t rows, std::size_t cols, std::size_t entries, const I *row_indices,
                                                         const I *col_indices, const T *values) {
    return coo(rows, cols, entries, detail::counted(row_indices, entries).data(), detail::counted(col_indices, entries).data(), values);
}
template <class T, class I>
CLINALG_NODISCARD Csr coo(std::size_t rows, std::size_t cols, const std::vector<I> &row_indices, const std::vector<I> &col_indices,
                          const std::vector<T> &values) {
    detail::require(row_indices.size() == values.size() && col_indices.size() == values.size(),
                    "clinalg::coo: wrong length, expected as many row and column indices as values");
    return coo(rows, cols, values.size(), row_indices.data(), col_indices.data(), values.data());
}

#ifdef __cpp_lib_span
template <class T> CLINALG_NODISCARD Vector vector(std::span<T> values) { return vector(values.data(), values.size()); }
template <class T> CLINALG_NODISCARD Dense dense(std::size_t rows, std::size_t cols, std::span<T> values) {
    detail::require(cols == 0 ? values.empty() : values.size() / cols == rows && values.size() % cols == 0,
                    "clinalg::dense: wrong length, expected rows times cols values");
    return dense(rows, cols, values.data());
}
template <class T>
CLINALG_NODISCARD Csr csr(std::size_t rows, std::size_t cols, View<std::size_t> offsets, View<std::size_t> indices,
                          std::span<T> values) {
    return csr(rows, cols, offsets, indices, values.data(), values.size());
}
#endif

// The matrix of a MatrixMarket file: sparse for coordinate files, dense for array files; Csr(read_matrix_market<double>(path)) takes
// the former only.
template <class T> CLINALG_NODISCARD Matrix read_matrix_market(const std::string &path) {
    return detail::made<Matrix>(clinalg_matrix_market_read, path.c_str(), static_cast<std::uint32_t>(Precision<T>::code));
}

// Writes a coordinate file of a sparse or band matrix, an array file of a vector or dense matrix.
inline void write_matrix_market(const Array &a, const std::string &path) {
    check(clinalg_matrix_market_write(a.get(), path.c_str()));
}

// The values of a vector or dense matrix, column by column.
template <class T> CLINALG_NODISCARD std::vector<T> gather(const Object &object) {
    std::vector<T> values(object.info().entries);
    check(clinalg_array_read(object.get(), Precision<T>::code, 0, values.size(), values.data()));
    return values;
}

// Arithmetic. A function without an output makes a new object; one with `out` writes into it, or creates a new one if it is empty.

namespace detail {

// R for vectors and matrices A.
template <class A, class R = A> struct ArrayOnly : std::enable_if<std::is_base_of<Array, A>::value, R> {};

template <class A> struct Transposed { typedef A type; };
template <> struct Transposed<Vector> { typedef Dense type; };

}  // namespace detail

template <class A> CLINALG_NODISCARD typename detail::ArrayOnly<A>::type copy(const A &a) {
    return detail::made<A>(clinalg_array_copy, a.get());
}
template <class A> typename detail::ArrayOnly<A, void>::type copy(const A &a, A &out) { check(clinalg_array_copy(a.get(), out.out())); }

// A copy with values of the type T, rounded to nearest.
template <class T, class A> CLINALG_NODISCARD typename detail::ArrayOnly<A>::type convert(const A &a) {
    return detail::made<A>(clinalg_array_convert, a.get(), static_cast<std::uint32_t>(Precision<T>::code));
}

// `count` values from `offset` on of a vector or dense matrix as a new vector.
CLINALG_NODISCARD inline Vector slice(const Array &a, std::size_t offset, std::size_t count) {
    return detail::made<Vector>(clinalg_vector_slice, a.get(), offset, count);
}

template <class A> CLINALG_NODISCARD typename detail::ArrayOnly<A>::type operator+(const A &a, const A &b) {
    return detail::made<A>(clinalg_array_add, a.get(), b.get());
}
template <class A> CLINALG_NODISCARD typename detail::ArrayOnly<A>::type operator-(const A &a, const A &b) {
    return detail::made<A>(clinalg_array_subtract, a.get(), b.get());
}
template <class A> CLINALG_NODISCARD typename detail::ArrayOnly<A>::type operator*(std::complex<double> c, const A &a) {
    return detail::made<A>(clinalg_array_scale_complex, a.get(), number(c));
}
template <class A> CLINALG_NODISCARD typename detail::ArrayOnly<A>::type operator*(const A &a, std::complex<double> c) { return c * a; }
// a times 1 / c.
template <class A> CLINALG_NODISCARD typename detail::ArrayOnly<A>::type operator/(const A &a, std::complex<double> c) { return 1.0 / c * a; }
template <class A> CLINALG_NODISCARD typename detail::ArrayOnly<A>::type operator-(const A &a) { return -1.0 * a; }
template <class A> typename detail::ArrayOnly<A, A &>::type operator+=(A &a, const A &b) {
    check(clinalg_array_add(a.get(), b.get(), a.out()));
    return a;
}
template <class A> typename detail::ArrayOnly<A, A &>::type operator-=(A &a, const A &b) {
    check(clinalg_array_subtract(a.get(), b.get(), a.out()));
    return a;
}
template <class A> typename detail::ArrayOnly<A, A &>::type operator*=(A &a, std::complex<double> c) {
    check(clinalg_array_scale_complex(a.get(), number(c), a.out()));
    return a;
}

template <class A> typename detail::ArrayOnly<A, A &>::type operator/=(A &a, std::complex<double> c) { return a *= 1.0 / c; }

// out = alpha x + beta y; out may be x or y.
template <class A>
typename detail::ArrayOnly<A, void>::type axpby(std::complex<double> alpha, const A &x, std::complex<double> beta, const A &y, A &out) {
    check(clinalg_array_axpby_complex(number(alpha), x.get(), number(beta), y.get(), out.out()));
}
// a - c b for real c; out may be a or b.
template <class A> typename detail::ArrayOnly<A, void>::type minus_scaled(const A &a, const A &b, double c, A &out) {
    check(clinalg_array_subtract_scaled(a.get(), b.get(), c, out.out()));
}
// The product element by element.
template <class A> CLINALG_NODISCARD typename detail::ArrayOnly<A>::type multiply(const A &a, const A &b) {
    return detail::made<A>(clinalg_array_multiply, a.get(), b.get());
}
template <class A> typename detail::ArrayOnly<A, void>::type multiply(const A &a, const A &b, A &out) {
    check(clinalg_array_multiply(a.get(), b.get(), out.out()));
}

template <class A> CLINALG_NODISCARD typename detail::ArrayOnly<A>::type conj(const A &a) {
    return detail::made<A>(clinalg_array_conj, a.get());
}
template <class A> CLINALG_NODISCARD typename detail::ArrayOnly<A>::type real(const A &a) {
    return detail::made<A>(clinalg_array_real_part, a.get());
}
template <class A> CLINALG_NODISCARD typename detail::ArrayOnly<A>::type imag(const A &a) {
    return detail::made<A>(clinalg_array_imaginary_part, a.get());
}
template <class A> CLINALG_NODISCARD typename detail::ArrayOnly<A>::type abs(const A &a) {
    return detail::made<A>(clinalg_array_abs, a.get());
}
// re + i im.
template <class A> CLINALG_NODISCARD typename detail::ArrayOnly<A>::type join_parts(const A &re, const A &im) {
    return detail::made<A>(clinalg_array_join_parts, re.get(), im.get());
}

// The transpose; of a vector a matrix of one row.
template <class A> CLINALG_NODISCARD typename detail::ArrayOnly<A, typename detail::Transposed<A>::type>::type transpose(const A &a) {
    return detail::made<typename detail::Transposed<A>::type>(clinalg_matrix_transpose, a.get());
}
template <class A>
CLINALG_NODISCARD typename detail::ArrayOnly<A, typename detail::Transposed<A>::type>::type conj_transpose(const A &a) {
    return detail::made<typename detail::Transposed<A>::type>(clinalg_matrix_conj_transpose, a.get());
}
// The diagonal of a square matrix.
CLINALG_NODISCARD inline Vector diagonal(const Matrix &a) { return detail::made<Vector>(clinalg_matrix_diagonal, a.get()); }

// The dot product sum conj(a) b; dot<double> for real objects.
template <class T = std::complex<double>> CLINALG_NODISCARD T dot(const Object &a, const Object &b) {
    const clinalg_complex result = detail::given<clinalg_complex>(clinalg_array_dot_complex, a.get(), b.get());
    return {result.re, result.im};
}
template <> inline double dot<double>(const Object &a, const Object &b) {
    return detail::given<double>(clinalg_array_dot, a.get(), b.get());
}
// The dot product sum a b without conjugation.
CLINALG_NODISCARD inline std::complex<double> dotu(const Array &a, const Array &b) {
    const clinalg_complex result = detail::given<clinalg_complex>(clinalg_array_dotu_complex, a.get(), b.get());
    return {result.re, result.im};
}
// The sum of the stored values; sum<double> for real objects.
template <class T = std::complex<double>> CLINALG_NODISCARD T sum(const Array &a) {
    const clinalg_complex result = detail::given<clinalg_complex>(clinalg_array_sum_complex, a.get());
    return {result.re, result.im};
}
template <> inline double sum<double>(const Array &a) { return detail::given<double>(clinalg_array_sum, a.get()); }
// The Euclidean norm of the stored values.
CLINALG_NODISCARD inline double norm(const Array &a) { return detail::given<double>(clinalg_array_norm2, a.get()); }
// The sum of their magnitudes.
CLINALG_NODISCARD inline double norm1(const Array &a) { return detail::given<double>(clinalg_array_norm1, a.get()); }
// The largest of their magnitudes.
CLINALG_NODISCARD inline double norm_inf(const Array &a) { return detail::given<double>(clinalg_array_norm_inf, a.get()); }

// y = alpha op(A) x + beta y for a matrix or operator A; an empty y is created and beta treated as 0.
inline void mv(std::complex<double> alpha, const Object &a, const Vector &x, std::complex<double> beta, Vector &y,
               clinalg_transpose op = CLINALG_TRANSPOSE_NO) {
    check(clinalg_matrix_mv_complex(op, number(alpha), a.get(), x.get(), number(beta), y.out()));
}
// Y = alpha A X + beta Y, several right-hand sides at once.
inline void mm(std::complex<double> alpha, const Object &a, const Dense &x, std::complex<double> beta, Dense &y) {
    check(clinalg_matrix_mm_complex(number(alpha), a.get(), x.get(), number(beta), y.out()));
}
// C = alpha op(A) op(B) + beta C for a dense, sparse or band A. The transpose of a sparse A, and that of B beside a sparse or band A, is made in each call.
inline void mm(std::complex<double> alpha, const Matrix &a, clinalg_transpose op_a, const Dense &b, clinalg_transpose op_b,
               std::complex<double> beta, Dense &c) {
    check(clinalg_matrix_multiply(op_a, op_b, number(alpha), a.get(), b.get(), number(beta), c.out()));
}
CLINALG_NODISCARD inline Vector operator*(const Matrix &a, const Vector &x) {
    Vector y;
    mv(1, a, x, 0, y);
    return y;
}
CLINALG_NODISCARD inline Vector operator*(const Operator &a, const Vector &x) {
    Vector y;
    mv(1, a, x, 0, y);
    return y;
}
CLINALG_NODISCARD inline Dense operator*(const Matrix &a, const Dense &x) {
    Dense y;
    mm(1, a, x, 0, y);
    return y;
}

// Sparse matrices with any sparsity patterns. Entries that cancel stay as zeros: see Csr::drop_zeros.

CLINALG_NODISCARD inline Csr operator*(const Csr &a, const Csr &b) {
    return detail::made<Csr>(clinalg_sparse_multiply, a.get(), b.get());
}
// alpha A + beta B.
CLINALG_NODISCARD inline Csr add(std::complex<double> alpha, const Csr &a, std::complex<double> beta, const Csr &b) {
    return detail::made<Csr>(clinalg_sparse_add, number(alpha), a.get(), number(beta), b.get());
}
CLINALG_NODISCARD inline Csr operator+(const Csr &a, const Csr &b) { return add(1, a, 1, b); }
CLINALG_NODISCARD inline Csr operator-(const Csr &a, const Csr &b) { return add(1, a, -1, b); }
inline Csr &operator+=(Csr &a, const Csr &b) { return a = a + b; }
inline Csr &operator-=(Csr &a, const Csr &b) { return a = a - b; }

}  // namespace clinalg
