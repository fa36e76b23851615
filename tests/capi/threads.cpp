// Many threads through the C interface at once: objects of their own, objects that all read, objects that all write, and
// objects that are released while others use them. Wrong values, statuses and lost memory are counted.
//
//   threads [THREADS [ROUNDS]]

#include <clinalg.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>

namespace {

std::atomic<unsigned long> failures(0);
std::atomic<unsigned long> stale(0);

void expect(bool holds, const char *what) {
    if (holds) return;
    if (++failures < 20) std::fprintf(stderr, "%s (last error: %s)\n", what, clinalg_last_error_message());
}

const std::size_t n = 64;

// What all threads share: a matrix and a vector to read, a vector to write, and a place where objects change.
struct Shared {
    clinalg::Object a, x, written;
    std::vector<double> product;
    std::atomic<clinalg_handle> place;
};

// [2 -1; -1 2 -1; ...]
clinalg::Object laplacian() {
    std::vector<std::size_t> offsets(1, 0), indices;
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = i == 0 ? 0 : i - 1; j <= i + 1 && j < n; ++j) {
            indices.push_back(j);
            values.push_back(i == j ? 2 : -1);
        }
        offsets.push_back(indices.size());
    }
    return clinalg::csr(n, n, offsets, indices, values);
}

// Values that say which thread wrote them, and when.
double mark(std::size_t thread, std::size_t round) { return static_cast<double>(thread * 100000 + round); }

void own(std::size_t thread, std::size_t round) {
    const std::vector<double> values(n, mark(thread, round));
    clinalg::Object x = clinalg::vector(values), sum, twice;
    clinalg::check(clinalg_array_add(x.get(), x.get(), sum.out()));
    clinalg::check(clinalg_array_scale(x.get(), 2, twice.out()));
    clinalg::check(clinalg_array_subtract(sum.get(), twice.get(), twice.out()));
    double norm = -1, total = -1;
    clinalg::check(clinalg_array_norm_inf(twice.get(), &norm));
    clinalg::check(clinalg_array_sum(x.get(), &total));
    expect(norm == 0 && total == n * values[0], "values of an own object");

    const clinalg_handle released = x.get();
    x = clinalg::Object();
    expect(clinalg_array_norm2(released, &norm) == CLINALG_STATUS_HANDLE_STALE, "released object");
    expect(std::string(clinalg_last_error_id()) == "clinalg:handle:stale", "error of this thread");
}

void read(const Shared &shared) {
    clinalg::Object product;
    clinalg::check(clinalg_matrix_mv(1, shared.a.get(), shared.x.get(), 0, product.out()));
    expect(clinalg::gather<double>(product) == shared.product, "product of shared objects");
}

// Each write is of one value; a read must not see two.
void write(const Shared &shared, std::size_t thread, std::size_t round) {
    const std::vector<double> values(n, mark(thread, round));
    clinalg::check(clinalg_array_write(shared.written.get(), CLINALG_PRECISION_F64, 0, n, values.data()));
    const std::vector<double> found = clinalg::gather<double>(shared.written);
    for (double value : found) expect(value == found[0], "a torn write");
    clinalg::check(clinalg_array_fill(shared.written.get(), mark(thread, round)));
}

// Puts a new object into the place and releases the old one, which another thread may be using.
void exchange(Shared &shared, std::size_t thread, std::size_t round) {
    clinalg_handle made = 0, other;
    const std::vector<double> values(n, mark(thread, round));
    clinalg::check(clinalg_vector_create(CLINALG_PRECISION_F64, values.data(), n, &made));
    other = shared.place.exchange(made);
    expect(clinalg_object_release(other) == CLINALG_STATUS_OK, "each object is released by one thread");

    double sum = 0, largest = 0;
    const clinalg_handle seen = shared.place;
    const clinalg_status status = clinalg_array_sum(seen, &sum);
    const clinalg_status again = clinalg_array_norm_inf(seen, &largest);
    for (clinalg_status s : {status, again}) {
        expect(s == CLINALG_STATUS_OK || s == CLINALG_STATUS_HANDLE_STALE, "use of an object that others release");
        if (s == CLINALG_STATUS_HANDLE_STALE) ++stale;
    }
    expect(again != CLINALG_STATUS_OK || status != CLINALG_STATUS_OK || sum == n * largest, "values of that object");
}

void solve(const Shared &shared) {
    clinalg_solver_options options;
    clinalg_report report;
    clinalg::Object b, x;
    clinalg::check(clinalg_solver_options_default(&options, sizeof options));
    clinalg::check(clinalg_matrix_mv(1, shared.a.get(), shared.x.get(), 0, b.out()));
    clinalg::check(clinalg_system_solve(&options, shared.a.get(), b.get(), x.out(), &report, nullptr, 0));
    clinalg::check(clinalg_array_subtract(x.get(), shared.x.get(), x.out()));
    double error = 1;
    clinalg::check(clinalg_array_norm_inf(x.get(), &error));
    expect(error < 1e-6, "solution");
}

void work(Shared &shared, std::size_t thread, std::size_t rounds) try {
    for (std::size_t round = 0; round < rounds; ++round) {
        own(thread, round);
        read(shared);
        write(shared, thread, round);
        exchange(shared, thread, round);
        if (round % 64 == thread) solve(shared);
    }
} catch (const clinalg::Error &error) {
    expect(false, error.what());
}

}  // namespace

int main(int argc, char **argv) try {
    const std::size_t threads = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 8;
    const std::size_t rounds = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 500;
    clinalg_memory_report before, after;
    clinalg::check(clinalg_device_memory(&before));
    {
        Shared shared;
        std::vector<double> x(n);
        for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<double>(i * i % 17);
        shared.a = laplacian();
        shared.x = clinalg::vector(x);
        shared.written = clinalg::vector(x);
        clinalg::check(clinalg_array_fill(shared.written.get(), 0));
        shared.product.resize(n);
        for (std::size_t i = 0; i < n; ++i)
            shared.product[i] = 2 * x[i] - (i > 0 ? x[i - 1] : 0) - (i + 1 < n ? x[i + 1] : 0);
        clinalg_handle first = 0;
        clinalg::check(clinalg_vector_create(CLINALG_PRECISION_F64, x.data(), n, &first));
        clinalg::check(clinalg_array_fill(first, 1));
        shared.place = first;

        std::vector<std::thread> running;
        for (std::size_t t = 0; t < threads; ++t) running.emplace_back(work, std::ref(shared), t, rounds);
        for (std::thread &thread : running) thread.join();
        expect(clinalg_object_release(shared.place) == CLINALG_STATUS_OK, "the last object");
    }
    clinalg::check(clinalg_device_memory(&after));
    expect(after.live_bytes == before.live_bytes && after.live_buffers == before.live_buffers, "device memory left");
    std::printf("%zu threads, %zu rounds, %lu uses of released objects, %lu failures, %lld bytes left\n", threads, rounds,
                stale.load(), failures.load(), static_cast<long long>(after.live_bytes - before.live_bytes));
    return failures == 0 ? 0 : 1;
} catch (const clinalg::Error &error) {
    std::fprintf(stderr, "%s: %s\n", error.id().c_str(), error.what());
    return 2;
}
