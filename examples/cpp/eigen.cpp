// The squares of the lowest frequencies of an L-shaped membrane, three unit squares: the smallest eigenvalues of -Laplace with u = 0 on the boundary, by five-point
// differences. The third one is 2 pi^2 for the sine product of the squares; the first, 9.6397, has no closed form (Fox, Henrici and Moler 1967).
//
//   eigen [intervals]      64 intervals per unit by default

#include <clinalg.hpp>

#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv) try {
    const std::size_t per_unit = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 64, side = 2 * per_unit + 1;
    const double scale = double(per_unit) * double(per_unit);
    // The points inside have numbers, the upper right square is missing.
    const std::size_t outside = side * side;
    std::vector<std::size_t> number(side * side, outside);
    std::size_t count = 0;
    for (std::size_t j = 1; j + 1 < side; ++j)
        for (std::size_t i = 1; i + 1 < side; ++i)
            if (i < per_unit || j < per_unit) number[j * side + i] = count++;
    std::vector<std::size_t> rows, columns;
    std::vector<double> values;
    const auto add = [&](std::size_t row, std::size_t column, double value) {
        if (column == outside) return;
        rows.push_back(row);
        columns.push_back(column);
        values.push_back(value);
    };
    for (std::size_t p = 0; p < side * side; ++p) {
        if (number[p] == outside) continue;
        add(number[p], number[p], 4 * scale);
        for (const std::size_t q : {p - side, p - 1, p + 1, p + side}) add(number[p], number[q], -scale);
    }
    const clinalg::Csr a = clinalg::coo(count, count, rows, columns, values);

    clinalg::EigenOptions options(3);
    options.preconditioner = CLINALG_PRECONDITIONER_AMG;
    const clinalg::Eigenpairs pairs = clinalg::eigenpairs(a, options);
    for (const double value : pairs.values) std::printf("%.6f\n", value);
    return pairs.converged() ? 0 : 1;
} catch (const clinalg::Error &error) {
    std::fprintf(stderr, "%s: %s\n", error.id().c_str(), error.what());
    return 2;
}
