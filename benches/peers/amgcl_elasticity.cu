/* AMGCL's smoothed aggregation as a preconditioner of conjugate gradients for the elasticity problem of benches/amg.py, on a CUDA device:
 *
 *     nvcc -O3 -std=c++17 -arch=sm_90 -Xcompiler -fopenmp -DAMGCL_NO_BOOST -I path/to/amgcl benches/peers/amgcl_elasticity.cu \
 *         -lcusparse -lgomp -o amgcl_elasticity
 *
 * or on the CPU, with AMGCL's builtin backend:
 *
 *     g++ -O3 -march=native -std=c++17 -fopenmp -DAMGCL_NO_BOOST -I path/to/amgcl -x c++ benches/peers/amgcl_elasticity.cu \
 *         -o amgcl_elasticity
 *
 *     ./amgcl_elasticity PREFIX [RUNS [SETTING ...]]
 *
 * The example `amg` writes PREFIX.offsets, PREFIX.columns and PREFIX.values with --dump. Relative residual 1e-8, random right-hand side; RUNS (3)
 * set-ups and solves with each setting, or with those whose names contain one of SETTING. Prints one JSON object per line; the best run after the
 * first counts. `residual` is that of the recurrence of conjugate gradients, at which AMGCL stops, and `true_residual` that of the solution.
 * AMGCL sets the hierarchy up on the host, which is why OpenMP matters; the set-up includes the copy to the device.
 */

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <amgcl/adapter/crs_tuple.hpp>
#include <amgcl/amg.hpp>
#include <amgcl/coarsening/rigid_body_modes.hpp>
#include <amgcl/coarsening/smoothed_aggregation.hpp>
#include <amgcl/relaxation/chebyshev.hpp>
#include <amgcl/relaxation/damped_jacobi.hpp>
#include <amgcl/relaxation/spai0.hpp>
#include <amgcl/solver/cg.hpp>

#ifdef __CUDACC__
#include <amgcl/backend/cuda.hpp>
#include <amgcl/relaxation/cusparse_ilu0.hpp>
template <class Real> using Backend = amgcl::backend::cuda<Real>;
static const char *const PEER = "AMGCL CUDA";
static void wait() {
    if (const cudaError_t error = cudaDeviceSynchronize()) throw std::runtime_error(cudaGetErrorString(error));
}
#else
#include <amgcl/backend/builtin.hpp>
#include <amgcl/relaxation/ilu0.hpp>
template <class Real> using Backend = amgcl::backend::builtin<Real>;
static const char *const PEER = "AMGCL CPU";
static void wait() {}
#endif

using Double = Backend<double>;
using Single = Backend<float>;
using Host = amgcl::backend::builtin<double>;

static double now() {
    wait();
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class T> static std::vector<T> read(const std::string &name) {
    std::ifstream file(name, std::ios::binary | std::ios::ate);
    if (!file) throw std::runtime_error("cannot read " + name);
    std::vector<T> data(static_cast<size_t>(file.tellg()) / sizeof(T));
    file.seekg(0);
    file.read(reinterpret_cast<char *>(data.data()), static_cast<std::streamsize>(data.size() * sizeof(T)));
    if (!file) throw std::runtime_error("cannot read " + name);
    return data;
}

struct Problem {
    ptrdiff_t rows;
    std::vector<ptrdiff_t> offsets, columns;
    std::vector<double> values, right, modes;
    int count; // of modes

    explicit Problem(const std::string &prefix)
        : offsets(read<ptrdiff_t>(prefix + ".offsets")), columns(read<ptrdiff_t>(prefix + ".columns")), values(read<double>(prefix + ".values")) {
        rows = static_cast<ptrdiff_t>(offsets.size()) - 1;
        if (rows < 1 || columns.size() != values.size() || offsets.back() != static_cast<ptrdiff_t>(values.size())) {
            throw std::runtime_error("a file has another length");
        }
        std::mt19937_64 engine(1);
        std::uniform_real_distribution<double> uniform(-1, 1);
        right.resize(rows);
        for (double &value : right) value = uniform(engine);
        // n^3 nodes, of which those with x = 0 are held and have no unknowns.
        const auto n = static_cast<ptrdiff_t>(std::lround(std::cbrt(rows / 3.0) + 1.0 / 3));
        if (3 * (n - 1) * n * n != rows) throw std::runtime_error("these are not the unknowns of the elasticity problem");
        std::vector<double> coordinates;
        for (ptrdiff_t p = 0; p < (n - 1) * n * n; ++p) {
            for (const ptrdiff_t c : {p / n / n + 1, p / n % n, p % n}) coordinates.push_back(static_cast<double>(c));
        }
        count = amgcl::coarsening::rigid_body_modes(3, coordinates, modes);
    }

    auto matrix() const { return std::tie(rows, offsets, columns, values); }
};

struct Setting {
    const char *name;
    bool modes;
    unsigned block;    // unknowns of a node
    bool radius;       // whether the smoothing of the interpolation uses an estimate of the spectral radius
    unsigned coarsest; // rows that the host solves directly in every iteration; 0: AMGCL's default
};

// Smoothed aggregation whose nodes have as many unknowns on the coarser levels as there are rigid modes: AMGCL's own keeps the block size of the
// finest level, which splits those nodes.
template <class Backend> struct by_nodes : amgcl::coarsening::smoothed_aggregation<Backend> {
    using Base = amgcl::coarsening::smoothed_aggregation<Backend>;
    using Base::Base;

    template <class Matrix> auto transfer_operators(const Matrix &a) {
        auto operators = Base::transfer_operators(a);
        if (this->prm.aggr.block_size > 1 && this->prm.nullspace.cols > 0) this->prm.aggr.block_size = this->prm.nullspace.cols;
        return operators;
    }
};

// The hierarchy in double precision.
template <template <class> class Relaxation, template <class> class Coarsening = amgcl::coarsening::smoothed_aggregation> struct Same {
    using Amg = amgcl::amg<Double, Coarsening, Relaxation>;
    Amg amg;

    Same(const Problem &problem, const typename Amg::params &parameters, const Double::params &device) : amg(problem.matrix(), parameters, device) {}

    const Double::matrix &matrix() const { return amg.system_matrix(); }

    template <class Right, class X> void apply(const Right &right, X &x) const { amg.apply(right, x); }
};

// The hierarchy in single precision. AMGCL's CUDA backend has no products of single by double precision, so vectors are converted.
template <template <class> class Relaxation, template <class> class Coarsening = amgcl::coarsening::smoothed_aggregation> struct Mixed {
    using Amg = amgcl::amg<Single, Coarsening, Relaxation>;
    std::shared_ptr<Double::matrix> wide;
    Amg amg;
    std::shared_ptr<Single::vector> f, u;

    Mixed(const Problem &problem, const typename Amg::params &parameters, const Double::params &device)
        : wide(Double::copy_matrix(std::make_shared<Host::matrix>(problem.matrix()), device)), amg(problem.matrix(), parameters, narrow(device)),
          f(Single::create_vector(problem.rows, narrow(device))), u(Single::create_vector(problem.rows, narrow(device))) {}

    const Double::matrix &matrix() const { return *wide; }

    template <class Right, class X> void apply(const Right &right, X &x) const {
        amgcl::backend::copy(right, *f);
        amg.apply(*f, *u);
        amgcl::backend::copy(*u, x);
    }

    static Single::params narrow(const Double::params &device) {
#ifdef __CUDACC__
        return Single::params(device.cusparse_handle);
#else
        return device;
#endif
    }
};

struct Bench {
    const Problem &problem;
    int runs;
    std::vector<std::string> names; // parts of the names of the settings that are wanted; none for all
    Double::params device{};

    bool wanted(const Setting &setting) const {
        bool any = names.empty();
        for (const std::string &name : names) any |= std::string(setting.name).find(name) != std::string::npos;
        return any;
    }

    template <class Preconditioner, class Tune> void run(const Setting &setting, Tune tune) const {
        for (int k = 0; wanted(setting) && k < runs; ++k) {
            try {
                once<Preconditioner>(setting, k, tune);
            } catch (const std::exception &error) {
                std::fprintf(stderr, "amgcl_elasticity: %s: %s\n", setting.name, error.what());
                return;
            }
        }
    }

    template <class Preconditioner, class Tune> void once(const Setting &setting, int k, Tune tune) const {
        double start = now();
        typename Preconditioner::Amg::params parameters;
        parameters.coarsening.aggr.eps_strong = 0; // as in AMGCL's tutorial on elasticity
        parameters.coarsening.aggr.block_size = setting.block;
        if (setting.radius) {
            parameters.coarsening.estimate_spectral_radius = true;
            parameters.coarsening.power_iters = 20;
        }
        if (setting.modes) {
            parameters.coarsening.nullspace.cols = problem.count;
            parameters.coarsening.nullspace.B = problem.modes;
        }
        if (setting.coarsest) parameters.coarse_enough = setting.coarsest;
        tune(parameters.relax);
        const Preconditioner preconditioner(problem, parameters, device);
        amgcl::solver::cg<Double>::params limits;
        limits.tol = 1e-8;
        limits.maxiter = 500;
        const amgcl::solver::cg<Double> solver(problem.rows, limits, device);
        const double set_up = now() - start;

        const auto f = Double::copy_vector(std::make_shared<Host::vector>(problem.right), device);
        const auto x = Double::create_vector(problem.rows, device), r = Double::create_vector(problem.rows, device);
        amgcl::backend::clear(*x);
        start = now();
        size_t iterations = 0;
        double residual = 0;
        std::tie(iterations, residual) = solver(preconditioner.matrix(), preconditioner, *f, *x);
        const double solve = now() - start;
        amgcl::backend::residual(*f, preconditioner.matrix(), *x, *r);
        const double rest = std::sqrt(amgcl::backend::inner_product(*r, *r) / amgcl::backend::inner_product(*f, *f));
        // JSON has no NaN.
        const double whole = std::isfinite(residual) ? residual : 1e300, real = std::isfinite(rest) ? rest : 1e300;
        std::printf("{\"peer\": \"%s\", \"setting\": \"%s\", \"run\": %d, \"rows\": %td, \"set_up\": %.6f, \"solve\": %.6f, "
                    "\"iterations\": %zu, \"residual\": %.3e, \"true_residual\": %.3e}\n",
                    PEER, setting.name, k, problem.rows, set_up, solve, iterations, whole, real);
        std::fflush(stdout);
    }
};

int main(int argc, char **argv) try {
    if (argc < 2) throw std::runtime_error("usage: amgcl_elasticity PREFIX [RUNS [SETTING ...]]");
    const Problem problem(argv[1]);
    Bench bench{problem, argc > 2 ? std::atoi(argv[2]) : 3, std::vector<std::string>(argv + std::min(argc, 3), argv + argc), {}};
#ifdef __CUDACC__
    if (cusparseCreate(&bench.device.cusparse_handle) != CUSPARSE_STATUS_SUCCESS) throw std::runtime_error("no cuSPARSE");
#endif
    using namespace amgcl::relaxation;
    const auto plain = [](auto &) {};
    // The largest eigenvalue of D^-1 A is about 3.1 here, so that Jacobi's method with AMGCL's damping of 0.72 diverges, as SPAI-0 does.
    const auto damped = [](auto &relaxation) { relaxation.damping = 0.5f; };
    const auto degree = [](unsigned count) {
        return [count](auto &relaxation) {
            relaxation.degree = count;
            relaxation.scale = true;
            relaxation.power_iters = 20;
            relaxation.higher = 1.1f;
            relaxation.lower = 0.2f;
        };
    };
    // AMGCL's direct solver of the coarsest level runs on the host: smaller than by default (3000 rows), except in one setting.
    const unsigned few = 600;
    bench.run<Same<chebyshev, by_nodes>>({"Chebyshev 2, rigid modes, by nodes", true, 3, false, few}, degree(2));
    bench.run<Same<chebyshev, by_nodes>>({"Chebyshev 3, rigid modes, by nodes", true, 3, false, few}, degree(3));
    bench.run<Same<chebyshev, by_nodes>>({"Chebyshev 2, rigid modes, by nodes, spectral radius", true, 3, true, few}, degree(2));
    bench.run<Same<chebyshev, by_nodes>>({"Chebyshev 2, rigid modes, by nodes, coarsest 3000", true, 3, false, 0}, degree(2));
    bench.run<Mixed<chebyshev, by_nodes>>({"Chebyshev 2, rigid modes, by nodes, single", true, 3, false, few}, degree(2));
    bench.run<Same<chebyshev>>({"Chebyshev 2, rigid modes, blocks of 3", true, 3, false, few}, degree(2));
    bench.run<Same<chebyshev>>({"Chebyshev 2, rigid modes", true, 1, false, few}, degree(2));
    bench.run<Same<chebyshev>>({"Chebyshev 2, blocks of 3", false, 3, false, few}, degree(2));
    bench.run<Same<damped_jacobi, by_nodes>>({"Jacobi 0.5, rigid modes, by nodes", true, 3, false, few}, damped);
    bench.run<Mixed<damped_jacobi, by_nodes>>({"Jacobi 0.5, rigid modes, by nodes, single", true, 3, false, few}, damped);
    bench.run<Same<damped_jacobi>>({"Jacobi 0.5, blocks of 3", false, 3, false, few}, damped);
    bench.run<Same<ilu0, by_nodes>>({"ILU(0), rigid modes, by nodes", true, 3, false, few}, plain);
    bench.run<Same<spai0>>({"SPAI-0, rigid modes", true, 1, false, few}, plain); // of AMGCL's tutorial
#ifdef __CUDACC__
    cusparseDestroy(bench.device.cusparse_handle);
#endif
    return 0;
} catch (const std::exception &error) {
    std::fprintf(stderr, "amgcl_elasticity: %s\n", error.what());
    return 1;
}
