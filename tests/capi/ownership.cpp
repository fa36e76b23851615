// Exceptions of callbacks belong to the call that they ended, memory to the object that was assigned, a preconditioner to its options.

#include "check.h"

#include <clinalg.hpp>

#include <cmath>
#include <string>

namespace {

clinalg::Csr laplacian(std::size_t n) {
    std::vector<std::size_t> offsets(1), columns;
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i) {
        if (i > 0) columns.push_back(i - 1), values.push_back(-1);
        columns.push_back(i), values.push_back(2);
        if (i + 1 < n) columns.push_back(i + 1), values.push_back(-1);
        offsets.push_back(columns.size());
    }
    return clinalg::csr<double>(n, n, offsets, columns, values);
}

}  // namespace

int main() {
    {
        const clinalg::Csr a = laplacian(50);
        const clinalg::Vector b = clinalg::vector(std::vector<double>(50, 1.0));
        const clinalg::Operator failing = clinalg::make_operator<double>(
            50, 50, [](const clinalg::Vector &, clinalg::Vector &) { throw std::runtime_error("of the operator"); });

        // A call of C whose status nobody looks at leaves the exception.
        clinalg_handle none = 0;
        CHECK(clinalg_matrix_mv(1, failing.get(), b.get(), 0, &none) != CLINALG_STATUS_OK);
        clinalg::Vector x;
        CHECK(clinalg::solve(a, b, x, clinalg::SolverOptions(CLINALG_METHOD_CG)).converged());
        // Another failure is that failure.
        try {
            (void)(a * clinalg::vector(std::vector<double>(3, 1.0)));
            CHECK(false);
        } catch (const clinalg::Error &error) {
            CHECK(error.status() == CLINALG_STATUS_LENGTH || error.status() == CLINALG_STATUS_SHAPE);
        }
        // The exception of the call itself arrives, from an operator and from a progress function.
        for (const bool by_operator : {true, false}) {
            clinalg::SolverOptions options(CLINALG_METHOD_GMRES);
            if (!by_operator)
                options.progress = [](std::size_t, double) -> bool { throw std::runtime_error("of the progress"); };
            std::string what;
            try {
                clinalg::Vector y;
                if (by_operator) (void)clinalg::solve(failing, b, y, options);
                else (void)clinalg::solve(a, b, y, options);
            } catch (const std::runtime_error &error) {
                what = error.what();
            }
            CHECK(what == (by_operator ? "of the operator" : "of the progress"));
        }

        // What a vector held is released when another is moved to it.
        clinalg::finish();
        clinalg::Vector from = clinalg::vector(std::vector<double>(1000, 1.0));
        clinalg::Vector to = clinalg::vector(std::vector<double>(100000, 1.0));
        const std::uint64_t before = clinalg::memory().live_bytes;
        to = std::move(from);
        CHECK(clinalg::memory().live_bytes + 100000 * sizeof(double) <= before);
        CHECK(to.info().rows == 1000 && !from);
        clinalg::Vector &same = to;
        to = std::move(same);
        CHECK(to.info().rows == 1000);

        // Options keep a preconditioner that nobody else owns, and so do their copies.
        clinalg::SolverOptions copy;
        {
            const clinalg::SolverOptions options(CLINALG_METHOD_CG, clinalg::Amg(a));
            copy = options;
        }
        clinalg::Vector z;
        CHECK(clinalg::solve(a, b, z, copy).converged());
    }
    if (failures == 0) puts("passed");
    return failures != 0;
}
