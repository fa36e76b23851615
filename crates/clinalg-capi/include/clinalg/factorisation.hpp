// Factorisations of dense and sparse matrices, triangular systems, inverses and determinants. Part of clinalg.hpp.
#pragma once

#include "array.hpp"

namespace clinalg {

// X with A X = b for a dense A, real or complex; QR minimises |A X - b|.
template <class B>
CLINALG_NODISCARD B solve_dense(const Object &a, const B &b, clinalg_factorisation factorisation = CLINALG_FACTORISATION_LU) {
    return detail::made<B>(clinalg_dense_solve, static_cast<std::uint32_t>(factorisation), a.get(), b.get());
}

// X with A X = b for a square sparse A by a complete factorisation, Cholesky, L D L' or LU, with iterative refinement; `report` may be null. With
// `is_limited` a factorisation that takes longer than seconds is an error.
template <class B>
CLINALG_NODISCARD B solve_sparse(const Object &a, const B &b, clinalg_sparse_solve_report *report = nullptr, bool is_limited = false) {
    B x;
    check(clinalg_sparse_solve(a.get(), b.get(), is_limited ? 1 : 0, x.out(), report));
    return x;
}

// The factors of a dense or square sparse matrix, made once for many right-hand sides; later changes of the matrix do not reach them.
class Factorisation : public Object {
public:
    // L and U, L of Cholesky, or Q and R.
    struct Factors {
        // L or Q.
        Dense first;
        // U or R; empty for Cholesky.
        Dense second;
        // Row k of L U is row rows[k] of A; 0, 1, ... for the others.
        std::vector<std::size_t> rows;
    };

    Factorisation() {}
    explicit Factorisation(Object &&object) : Object(std::move(object), CLINALG_KIND_FACTORISATION) {}
    explicit Factorisation(const Dense &a, clinalg_factorisation factorisation = CLINALG_FACTORISATION_LU) {
        check(clinalg_factorisation_create(static_cast<std::uint32_t>(factorisation), a.get(), out()));
    }
    explicit Factorisation(const Csr &a, clinalg_factorisation factorisation = CLINALG_FACTORISATION_AUTO) {
        check(clinalg_factorisation_create(static_cast<std::uint32_t>(factorisation), a.get(), out()));
    }
    // New values for the factors of a sparse matrix, with entries at the same positions.
    void refactor(const Csr &a) { check(clinalg_factorisation_refactor(get(), a.get())); }
    // Of a sparse matrix: what the factors are, and how well the last system was solved by them.
    CLINALG_NODISCARD clinalg_sparse_solve_report report() const {
        return detail::given<clinalg_sparse_solve_report>(clinalg_factorisation_get_report, get());
    }
    // X with op(A) X = b for a vector or the columns of a dense matrix; QR minimises |A X - b|.
    template <class B> CLINALG_NODISCARD B solve(const B &b, clinalg_transpose op = CLINALG_TRANSPOSE_NO) const {
        B x;
        solve(b, x, op);
        return x;
    }
    // The same into x, which may be b and is made where it is empty.
    template <class B> void solve(const B &b, B &x, clinalg_transpose op = CLINALG_TRANSPOSE_NO) const {
        check(clinalg_factorisation_solve(get(), static_cast<std::uint32_t>(op), b.get(), x.out()));
    }
    // Of a dense matrix.
    CLINALG_NODISCARD Factors factors() const {
        Factors made;
        made.rows.resize(info().rows);
        for (std::size_t row = 0; row < made.rows.size(); ++row) made.rows[row] = row;
        check(clinalg_factorisation_factors(get(), made.first.out(), made.second.out(), made.rows.data(), made.rows.size()));
        return made;
    }
    // Of LU, Cholesky and L D L'; infinite or zero where it leaves the range of the numbers.
    CLINALG_NODISCARD std::complex<double> determinant() const {
        const clinalg_complex result = detail::given<clinalg_complex>(clinalg_factorisation_determinant, get());
        return {result.re, result.im};
    }
    // Of LU and Cholesky of a dense matrix. To solve with it is slower and less accurate than solve().
    CLINALG_NODISCARD Dense inverse() const { return detail::made<Dense>(clinalg_factorisation_inverse, get()); }
    // An estimate of the reciprocal condition number in the 1-norm, of LU and of a sparse matrix; 0 for a singular matrix.
    CLINALG_NODISCARD double reciprocal_condition() const { return detail::given<double>(clinalg_factorisation_condition, get()); }
};

// X with op(A) X = b by substitution for a triangle of a dense matrix, whose other numbers are not read; with `unit` its diagonal is all ones.
template <class B>
CLINALG_NODISCARD B solve_triangular(clinalg_triangle triangle, const Dense &a, const B &b,
                                     clinalg_transpose op = CLINALG_TRANSPOSE_NO, bool unit = false) {
    B x;
    check(clinalg_dense_solve_triangular(static_cast<std::uint32_t>(triangle), static_cast<std::uint32_t>(op), unit ? 1 : 0, a.get(),
                                         b.get(), x.out()));
    return x;
}

// The inverse of a square matrix.
CLINALG_NODISCARD inline Dense inverse(const Dense &a) {
    Dense made;
    check(clinalg_dense_inverse(a.get(), made.out(), nullptr));
    return made;
}
// The determinant of a square matrix; infinite or zero where it leaves the range of the numbers.
CLINALG_NODISCARD inline std::complex<double> determinant(const Dense &a) {
    const clinalg_complex result = detail::given<clinalg_complex>(clinalg_dense_determinant, a.get());
    return {result.re, result.im};
}

}  // namespace clinalg
