#!/usr/bin/env python3
"""clinalg on an NVIDIA GPU side by side with cuBLAS, cuSPARSE and the copy bandwidth, in one process.

    cargo build --release -p clinalg-capi -p clinalg-cli
    python3 benches/compare_gpu.py              # measures, prints the tables, writes benches/results/
    python3 benches/compare_gpu.py --quick      # small and short, to try; writes nothing
    python3 benches/compare_gpu.py --show FILE  # prints the tables of an earlier run

Needs Python with NumPy and CuPy, and CUDA's cuBLAS and cuSPARSE. clinalg is called through its C library, the peers through
theirs, on the same random data; answers are compared. A sample is the wall time of a batch of calls and one wait for the
device, over their number; a time is the median of the samples. Parts take turns: limit, clinalg, peers, limit.
cuSPARSE runs each of its algorithms for compressed rows with and without its preprocess call, and once in an order that its
documentation does not promise: ALG2 without preprocess on a matrix descriptor that was preprocessed for ALG1.
"""

import argparse
import ctypes
import datetime
import glob
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
F64 = 1  # CLINALG_F64
ROWS, BLOCKS = 1, 2  # clinalg_format
CSR_ALGORITHMS = {"default": 0, "alg1": 2, "alg2": 3}  # cusparseSpMVAlg_t
MANY_ALGORITHMS = {"default": 0, "alg1": 4, "alg2": 6, "alg3": 12}  # cusparseSpMMAlg_t
# What the documentation of cuSPARSE does not promise to work.
UNDOCUMENTED = "alg2 after preprocess for alg1"
BATCH_SECONDS = 0.01


# --- the libraries ---------------------------------------------------------------------------------------------------------


class Clinalg:
    """The C library, through ctypes."""

    def __init__(self, path, device):
        self.lib = ctypes.CDLL(str(path))
        for name in ("clinalg_last_error_message", "clinalg_version"):
            getattr(self.lib, name).restype = ctypes.c_char_p
        self("clinalg_device_select", device.encode())
        self.version = self.lib.clinalg_version().decode()

    def __call__(self, name, *arguments):
        if getattr(self.lib, name)(*arguments) != 0:
            raise RuntimeError(f"{name}: {self.lib.clinalg_last_error_message().decode()}")

    def made(self, name, *arguments):
        handle = ctypes.c_uint64()
        self(name, *arguments, ctypes.byref(handle))
        return handle

    def vector(self, values):
        return self.made("clinalg_vector_create", F64, host(values), size(values.size))

    def dense(self, values):
        """`values` holds the matrix by columns: values[j, i] is row i, column j."""
        cols, rows = values.shape
        return self.made("clinalg_dense_create", F64, size(rows), size(cols), host(values))

    def csr(self, matrix):
        import numpy as np

        offsets, columns = matrix.offsets.astype(np.uint64), matrix.columns.astype(np.uint64)
        start = time.perf_counter()
        handle = self.made("clinalg_sparse_from_csr", F64, size(matrix.rows), size(matrix.cols), host(offsets), host(columns), host(matrix.values))
        return handle, time.perf_counter() - start

    def mv(self, a, x, y):
        one, zero = ctypes.c_double(1.0), ctypes.c_double(0.0)
        return lambda: self("clinalg_matrix_mv", one, a, x, zero, ctypes.byref(y))

    def mv_transposed(self, a, x, y):
        one, zero = ctypes.c_double(1.0), ctypes.c_double(0.0)
        return lambda: self("clinalg_matrix_mv_transposed", one, a, x, zero, ctypes.byref(y))

    def mm(self, a, x, y):
        one, zero = ctypes.c_double(1.0), ctypes.c_double(0.0)
        return lambda: self("clinalg_matrix_mm", one, a, x, zero, ctypes.byref(y))

    def explain(self, handle):
        text = ctypes.create_string_buffer(4096)
        self("clinalg_object_explain", handle, text, size(4096), None)
        return text.value.decode()

    def by_entries(self, handle):
        """Forces a format that reads the entries' values and columns from compressed rows: in blocks, or row by row."""
        try:
            self("clinalg_sparse_set_format", handle, BLOCKS)
        except RuntimeError:
            self("clinalg_sparse_set_format", handle, ROWS)

    def number(self, name, *handles):
        out = ctypes.c_double()
        return lambda: (self(name, *handles, ctypes.byref(out)), out.value)[1]

    def read(self, handle, count):
        import numpy as np

        values = np.empty(count)
        self("clinalg_array_read", handle, F64, size(0), size(count), host(values))
        return values

    def finish(self):
        self("clinalg_device_finish")

    def release(self, *handles):
        for handle in handles:
            self("clinalg_object_release", handle)


def host(array):
    return ctypes.c_void_p(array.ctypes.data)


def size(count):
    return ctypes.c_size_t(count)


def cuda_library(name):
    """The library that CuPy uses: loaded already, or in one of Python's packages, or in CUDA's own folder."""
    folders = [p for p in sys.path if p] + ["/usr/local/cuda/lib64", "/usr/local/cuda/targets/x86_64-linux/lib"]
    found = [f for p in folders for f in glob.glob(f"{p}/nvidia/**/{name}.so.*", recursive=True) + glob.glob(f"{p}/{name}.so.*")]
    for candidate in [f"{name}.so.13", f"{name}.so.12", *found]:
        try:
            return ctypes.CDLL(candidate)
        except OSError:
            continue
    sys.exit(f"{name} was not found")


def checked(status, name):
    if status != 0:
        raise RuntimeError(f"{name}: status {status}")


class Cublas:
    def __init__(self):
        self.lib = cuda_library("libcublas")
        self.handle = ctypes.c_void_p()
        checked(self.lib.cublasCreate_v2(ctypes.byref(self.handle)), "cublasCreate")
        number = ctypes.c_int()
        checked(self.lib.cublasGetVersion_v2(self.handle, ctypes.byref(number)), "cublasGetVersion")
        self.version = number.value

    def call(self, name, *arguments):
        function = getattr(self.lib, name)
        return lambda: checked(function(self.handle, *arguments), name)

    def axpy(self, alpha, x, y):
        return self.call("cublasDaxpy_v2", x.size, ctypes.byref(ctypes.c_double(alpha)), device(x), 1, device(y), 1)

    def copy(self, x, y):
        return self.call("cublasDcopy_v2", x.size, device(x), 1, device(y), 1)

    def reduction(self, name, *vectors):
        out = ctypes.c_double()
        arguments = [a for v in vectors for a in (device(v), 1)]
        run = self.call(name, vectors[0].size, *arguments, ctypes.byref(out))
        return lambda: (run(), out.value)[1]

    def gemv(self, transposed, a, x, y):
        cols, rows = a.shape
        one, zero = ctypes.c_double(1.0), ctypes.c_double(0.0)
        return self.call("cublasDgemv_v2", int(transposed), rows, cols, ctypes.byref(one), device(a), rows, device(x), 1, ctypes.byref(zero), device(y), 1)


    def gemm(self, a, x, y):
        """Arrays hold matrices by columns: a[j, i] is row i, column j."""
        cols, rows = a.shape
        one, zero = ctypes.c_double(1.0), ctypes.c_double(0.0)
        return self.call("cublasDgemm_v2", 0, 0, rows, x.shape[0], cols, ctypes.byref(one), device(a), rows, device(x), cols, ctypes.byref(zero), device(y), rows)


def device(array):
    return ctypes.c_void_p(array.data.ptr)


class Cusparse:
    INDEX_32, BASE_ZERO, REAL_64, COLUMN_ORDER = 2, 0, 1, 1

    def __init__(self):
        self.lib = cuda_library("libcusparse")
        self.handle = ctypes.c_void_p()
        checked(self.lib.cusparseCreate(ctypes.byref(self.handle)), "cusparseCreate")
        number = ctypes.c_int()
        checked(self.lib.cusparseGetVersion(self.handle, ctypes.byref(number)), "cusparseGetVersion")
        self.version = number.value
        self.one, self.zero = ctypes.c_double(1.0), ctypes.c_double(0.0)

    def vector(self, x):
        description = ctypes.c_void_p()
        checked(self.lib.cusparseCreateDnVec(ctypes.byref(description), ctypes.c_int64(x.size), device(x), self.REAL_64), "cusparseCreateDnVec")
        return description

    def products(self, matrix, x, y):
        """{name: function} for every algorithm, plain and after its preprocess call."""
        import cupy

        a = [cupy.asarray(v) for v in (matrix.offsets.astype("int32"), matrix.columns.astype("int32"), matrix.values)]
        uses = {name: (None, algorithm) for name, algorithm in CSR_ALGORITHMS.items()}
        uses |= {f"{name} preprocessed": (algorithm, algorithm) for name, algorithm in CSR_ALGORITHMS.items()}
        uses[UNDOCUMENTED] = (CSR_ALGORITHMS["alg1"], CSR_ALGORITHMS["alg2"])

        def product(preprocessed, algorithm):
            description = ctypes.c_void_p()
            checked(self.lib.cusparseCreateCsr(ctypes.byref(description), ctypes.c_int64(matrix.rows), ctypes.c_int64(matrix.cols),
                                               ctypes.c_int64(matrix.values.size), *map(device, a), self.INDEX_32, self.INDEX_32,
                                               self.BASE_ZERO, self.REAL_64), "cusparseCreateCsr")
            u, v = self.vector(x), self.vector(y)

            def call(name, algorithm, *more):
                arguments = [self.handle, 0, ctypes.byref(self.one), description, u, ctypes.byref(self.zero), v, self.REAL_64, algorithm]
                checked(getattr(self.lib, name)(*arguments, *more), name)

            def memory(algorithm):
                length = ctypes.c_size_t()
                call("cusparseSpMV_bufferSize", algorithm, ctypes.byref(length))
                return cupy.empty(max(length.value, 8), "u1")

            # The descriptor refers to the memory of its preprocess call for as long as it lives.
            kept = [a]
            if preprocessed is not None:
                kept.append(memory(preprocessed))
                call("cusparseSpMV_preprocess", preprocessed, device(kept[-1]))
            work = kept[-1] if preprocessed == algorithm else memory(algorithm)
            return lambda kept=kept: call("cusparseSpMV", algorithm, device(work))

        return {f"cusparse {name}": product(*use) for name, use in uses.items()}

    def many_products(self, matrix, x, y):
        """{name: function} for every algorithm after its preprocess call; x[q] and y[q] are columns."""
        import cupy

        a = [cupy.asarray(v) for v in (matrix.offsets.astype("int32"), matrix.columns.astype("int32"), matrix.values)]
        description, products = ctypes.c_void_p(), {}
        checked(self.lib.cusparseCreateCsr(ctypes.byref(description), ctypes.c_int64(matrix.rows), ctypes.c_int64(matrix.cols), ctypes.c_int64(matrix.values.size),
                                           *map(device, a), self.INDEX_32, self.INDEX_32, self.BASE_ZERO, self.REAL_64), "cusparseCreateCsr")

        def columns(v):
            made = ctypes.c_void_p()
            checked(self.lib.cusparseCreateDnMat(ctypes.byref(made), ctypes.c_int64(v.shape[1]), ctypes.c_int64(v.shape[0]), ctypes.c_int64(v.shape[1]),
                                                 device(v), self.REAL_64, self.COLUMN_ORDER), "cusparseCreateDnMat")
            return made

        for name, algorithm in MANY_ALGORITHMS.items():
            arguments = [self.handle, 0, 0, ctypes.byref(self.one), description, columns(x), ctypes.byref(self.zero), columns(y), self.REAL_64, algorithm]
            length = ctypes.c_size_t()
            checked(self.lib.cusparseSpMM_bufferSize(*arguments, ctypes.byref(length)), "cusparseSpMM_bufferSize")
            work = cupy.empty(max(length.value, 8), "u1")
            checked(self.lib.cusparseSpMM_preprocess(*arguments, device(work)), "cusparseSpMM_preprocess")

            def run(arguments=arguments, work=work, keep=a):
                checked(self.lib.cusparseSpMM(*arguments, device(work)), "cusparseSpMM")

            products[f"cusparse {name}"] = run
        return products


# --- matrices --------------------------------------------------------------------------------------------------------------


class Matrix:
    """A matrix in compressed rows on the host, square unless told otherwise."""

    def __init__(self, offsets, columns, values, cols=None):
        self.rows, self.offsets, self.columns, self.values = offsets.size - 1, offsets, columns, values
        self.cols = self.rows if cols is None else cols

    def bytes(self):
        return 12 * self.values.size + 12 * self.rows + 8 * self.cols


def from_offsets(shape, stencil, value):
    """Rows of a grid coupled to the neighbours in `stencil` (offsets along each axis) that exist."""
    import cupy as cp

    rows = 1
    for n in shape:
        rows *= n
    at = cp.arange(rows, dtype=cp.int32)
    axes = []
    for n in reversed(shape):
        axes.append(at % n)
        at = at // n
    axes.reverse()
    strides = [1]
    for n in reversed(shape[1:]):
        strides.insert(0, strides[0] * n)
    present, moves = [], []
    for offset in stencil:
        inside = cp.ones(rows, bool)
        for axis, n, move in zip(axes, shape, offset):
            inside &= (axis + move >= 0) & (axis + move < n)
        present.append(inside)
        moves.append(sum(m * s for m, s in zip(offset, strides)))
    counts = sum(p.astype(cp.int32) for p in present)
    offsets = cp.zeros(rows + 1, cp.int64)
    cp.cumsum(counts, out=offsets[1:])
    columns = cp.empty(int(offsets[-1]), cp.int32)
    values = cp.empty(columns.size)
    place = offsets[:-1].copy()
    row = cp.arange(rows, dtype=cp.int32)
    for offset, inside, move in zip(stencil, present, moves):
        where = place[inside]
        columns[where] = row[inside] + cp.int32(move)
        values[where] = value(offset, int(where.size))
        place[inside] += 1
    return Matrix(*(cp.asnumpy(a) for a in (offsets, columns, values)))


def from_lengths(lengths, seed):
    """A matrix with rows of these lengths, columns drawn over the whole width without repetition."""
    import cupy as cp

    rows = lengths.size
    random = cp.random.RandomState(seed)
    offsets = cp.zeros(rows + 1, cp.int64)
    cp.cumsum(lengths, out=offsets[1:])
    entries = int(offsets[-1])
    row = cp.searchsorted(offsets[1:], cp.arange(entries), side="right")
    within = cp.arange(entries) - offsets[row]
    width = rows // lengths[row]
    columns = within * width + (random.random_sample(entries) * width).astype(cp.int64)
    return Matrix(cp.asnumpy(offsets), cp.asnumpy(columns.astype(cp.int32)), cp.asnumpy(random.random_sample(entries)))


def five_points(n, constant):
    import cupy as cp

    stencil = [(-1, 0), (0, -1), (0, 0), (0, 1), (1, 0)]
    return from_offsets((n, n), stencil, lambda offset, count: (4.0 if offset == (0, 0) else -1.0) if constant else cp.random.random(count))


def matrices(options):
    """{name: (maker, structured)}; values are random unless the name says constant."""
    import cupy as cp

    quick = options.quick
    cube = [(i, j, k) for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1)]
    band = [(d,) for d in range(-8, 9)]
    rows = 1 << 14 if quick else 4_000_000
    sides = (33, 65, 129) if quick else (1025, 4097, 8193)
    deep = 20 if quick else 160

    def power_law():
        uniform = cp.random.RandomState(3).random_sample(rows)
        return from_lengths(cp.minimum(2 * (1 - uniform) ** (-1 / 1.3), 204_000 if not quick else 900).astype(cp.int64), 5)

    made = {f"5-point {n}^2": (lambda n=n: five_points(n, False)) for n in sides}
    made[f"27-point {deep}^3"] = lambda: from_offsets((deep,) * 3, cube, lambda _, count: cp.random.random(count))
    made[f"random {rows} rows x 16"] = lambda: from_lengths(cp.full(rows, 16), 7)
    made[f"power law {rows} rows"] = power_law
    made[f"17 diagonals {rows} rows"] = lambda: from_offsets((rows,), band, lambda _, count: cp.random.random(count))
    made[f"5-point constant {sides[-1]}^2"] = lambda: five_points(sides[-1], True)
    made[f"27-point constant {deep}^3"] = lambda: from_offsets((deep,) * 3, cube, lambda offset, _: 26.0 if offset == (0, 0, 0) else -1.0)
    return {name: make for name, make in made.items() if any(part in name for part in options.matrices)}


# --- measuring -------------------------------------------------------------------------------------------------------------


def timed(run, wait, samples):
    """Seconds per call, one value a sample."""
    run()
    wait()
    start = time.perf_counter()
    run()
    wait()
    calls = max(1, int(BATCH_SECONDS / (time.perf_counter() - start)))
    out = []
    for _ in range(samples):
        start = time.perf_counter()
        for _ in range(calls):
            run()
        wait()
        out.append((time.perf_counter() - start) / calls)
    return out


class Bench:
    def __init__(self, options):
        import cupy

        self.cupy = cupy
        cupy.cuda.set_allocator(None)  # plain allocations, given back at once: clinalg wants the memory too
        self.clinalg = Clinalg(options.library, options.device)
        self.cublas, self.cusparse = Cublas(), Cusparse()
        self.options, self.samples, self.results = options, 5 if options.quick else 25, []

    def wait(self):
        self.cupy.cuda.runtime.deviceSynchronize()

    def copy_bandwidth(self):
        x = self.cupy.random.random(1 << (20 if self.options.quick else 28))
        y = self.cupy.empty_like(x)
        move = self.cupy.cuda.runtime.memcpyAsync
        by_driver = lambda: move(y.data.ptr, x.data.ptr, x.nbytes, 3, 0)  # 3: device to device
        return max(2 * x.nbytes / statistics.median(timed(run, self.wait, 10)) for run in (by_driver, self.cublas.copy(x, y)))

    def record(self, operation, bytes_moved, ours, peers, error, measured=None, **more):
        """`measured` has the samples of peers that were timed already."""
        seconds = {"clinalg": timed(ours, self.clinalg.finish, self.samples)} | (measured or {})
        seconds |= {name: timed(run, self.wait, self.samples) for name, run in peers.items()}
        self.results.append({"operation": operation, "bytes": bytes_moved, "error": error, "samples": seconds, **more})
        self.print(self.results[-1])

    @staticmethod
    def print(result):
        median = {name: statistics.median(s) for name, s in result["samples"].items()}
        rates = ", ".join(f"{name} {result['bytes'] / s / 1e9:.0f}" for name, s in median.items())
        peers = {name: s for name, s in median.items() if name != "clinalg"}
        documented = min((s for name, s in peers.items() if UNDOCUMENTED not in name), default=None)
        ratio = f"; {documented / median['clinalg']:.2f} x the best peer" if peers else ""
        if any(UNDOCUMENTED in name for name in peers):
            ratio += f", {min(peers.values()) / median['clinalg']:.2f} x its best known use"
        difference = f"; difference {result['error']:.1e}" if "error" in result else ""
        print(f"{result['operation']}: GB/s {rates}{ratio}{difference}", flush=True)

    def vectors(self):
        cp, n = self.cupy, 1 << (20 if self.options.quick else 28)
        x, y = cp.random.random(n) - 0.5, cp.random.random(n) - 0.5
        a, b = self.clinalg.vector(cp.asnumpy(x)), self.clinalg.vector(cp.asnumpy(y))
        out = self.clinalg.vector(cp.asnumpy(y))
        half, one, z = ctypes.c_double(0.5), ctypes.c_double(1.0), cp.zeros(n)
        reductions = {
            "dot": ("clinalg_array_dot", (a, b), "cublasDdot_v2", (x, y)),
            "norm2": ("clinalg_array_norm2", (a,), "cublasDnrm2_v2", (x,)),
            "norm1": ("clinalg_array_norm1", (a,), "cublasDasum_v2", (x,)),
        }
        for name, (ours, handles, peer, arrays) in reductions.items():
            run, other = self.clinalg.number(ours, *handles), self.cublas.reduction(peer, *arrays)
            error = abs(run() - other()) / max(abs(other()), 1.0)
            self.record(name, 8 * n * len(arrays), run, {"cublas": other}, error)
        self.record("sum", 8 * n, self.clinalg.number("clinalg_array_sum", a), {}, abs(self.clinalg.number("clinalg_array_sum", a)() - float(x.sum())))
        run = lambda: self.clinalg("clinalg_array_axpby", half, a, one, b, ctypes.byref(out))
        self.record("axpby", 24 * n, run, {"cublas axpy": self.cublas.axpy(0.5, x, z)}, 0.0)
        self.clinalg.release(a, b, out)

    def dense(self):
        cp = self.cupy
        for n in (512,) if self.options.quick else (8192, 16384):
            a, x, y = cp.random.random((n, n)), cp.random.random(n), cp.empty(n)
            matrix, u, v = self.clinalg.dense(cp.asnumpy(a)), self.clinalg.vector(cp.asnumpy(x)), self.clinalg.vector(cp.asnumpy(x))
            for name, transposed, ours in (("mv_dense", False, self.clinalg.mv), ("mv_dense_transposed", True, self.clinalg.mv_transposed)):
                run, other = ours(matrix, u, v), self.cublas.gemv(transposed, a, x, y)
                run(), other()
                error = float(abs(cp.asnumpy(y) - self.clinalg.read(v, n)).max() / abs(y).max())
                self.record(f"{name} {n}", 8 * n * n + 16 * n, run, {"cublas": other}, error)
            self.clinalg.release(matrix, u, v)
            del a

    def sparse(self):
        cp = self.cupy
        for name, make in matrices(self.options).items():
            matrix = make()
            x, y = cp.random.random(matrix.rows) - 0.5, cp.empty(matrix.rows)
            handle, upload = self.clinalg.csr(matrix)
            u, v = self.clinalg.vector(cp.asnumpy(x)), self.clinalg.vector(cp.asnumpy(x))
            run, others = self.clinalg.mv(handle, u, v), self.cusparse.products(matrix, x, y)
            run()
            list(others.values())[-1]()
            self.wait()
            error = float(abs(cp.asnumpy(y) - self.clinalg.read(v, matrix.rows)).max() / abs(y).max())
            facts = {"rows": matrix.rows, "entries": int(matrix.values.size), "upload_seconds": upload}
            self.record(f"mv_csr {name}", matrix.bytes(), run, others, error, explanation=self.clinalg.explain(handle), **facts)
            print(f"  upload {upload:.2f} s; {self.results[-1]['explanation']}", flush=True)
            self.clinalg.by_entries(handle)
            run()
            error = float(abs(cp.asnumpy(y) - self.clinalg.read(v, matrix.rows)).max() / abs(y).max())
            peers = {name: samples for name, samples in self.results[-1]["samples"].items() if name != "clinalg"}
            self.record(f"mv_csr {name}, compressed rows only", matrix.bytes(), run, {}, error, peers, explanation=self.clinalg.explain(handle), **facts)
            self.clinalg.release(handle, u, v)
            del others, matrix

    def many(self):
        """Several right-hand sides at once; bytes are those of the matrix once and of X and Y."""
        cp = self.cupy
        n = 512 if self.options.quick else 8192
        a = cp.random.random((n, n))
        matrix = self.clinalg.dense(cp.asnumpy(a))
        for right in (4, 8, 16):
            x, y = cp.random.random((right, n)) - 0.5, cp.empty((right, n))
            u, v = self.clinalg.dense(cp.asnumpy(x)), self.clinalg.dense(cp.zeros((right, n)).get())
            run, other = self.clinalg.mm(matrix, u, v), self.cublas.gemm(a, x, y)
            self.compare(f"mm_dense {n}, {right} columns", 8 * n * n + 16 * n * right, run, {"cublas": other}, v, y)
            self.clinalg.release(u, v)
        self.clinalg.release(matrix)
        del a
        made = matrices(self.options)
        for name in [name for name in made if name.startswith(("27-point", "random", "17 diagonals")) and "constant" not in name]:
            matrix = made[name]()
            handle, _ = self.clinalg.csr(matrix)
            for right in (4, 16):
                x, y = cp.random.random((right, matrix.rows)) - 0.5, cp.empty((right, matrix.rows))
                u, v = self.clinalg.dense(cp.asnumpy(x)), self.clinalg.dense(cp.zeros((right, matrix.rows)).get())
                moved = 12 * matrix.values.size + 4 * matrix.rows + 16 * matrix.rows * right
                run, others = self.clinalg.mm(handle, u, v), self.cusparse.many_products(matrix, x, y)
                self.compare(f"mm_csr {name}, {right} columns", moved, run, others, v, y)
                self.clinalg.release(u, v)
                del others
            self.clinalg.release(handle)

    def upload(self):
        """10^8 entries to the device, beside plain copies of the three arrays with 32-bit numbers; both wait for the end."""
        cp, rows = self.cupy, 1 << 12 if self.options.quick else 6_250_000
        matrix = from_lengths(cp.full(rows, 16), 7)
        entries = int(matrix.values.size)
        arrays = [matrix.offsets.astype("int32"), matrix.columns.astype("int32"), matrix.values]
        samples = {"clinalg": [], "copies": []}
        for _ in range(3):
            handle, seconds = self.clinalg.csr(matrix)
            start = time.perf_counter()
            self.clinalg.finish()
            samples["clinalg"].append(seconds + time.perf_counter() - start)
            explanation = self.clinalg.explain(handle)
            self.clinalg.release(handle)
            start = time.perf_counter()
            copies = [cp.asarray(array) for array in arrays]
            self.wait()
            samples["copies"].append(time.perf_counter() - start)
            del copies
        moved = 12 * entries + 4 * rows
        self.results.append({"operation": f"upload {entries} entries", "bytes": moved, "samples": samples, "explanation": explanation})
        self.print(self.results[-1])
        print(f"  {explanation}", flush=True)

    def compare(self, operation, bytes_moved, ours, peers, result, reference):
        """Records the operation; `result` is the handle of ours and `reference` the array of the last peer's."""
        ours()
        list(peers.values())[-1]()
        self.wait()
        difference = abs(self.clinalg.read(result, reference.size) - self.cupy.asnumpy(reference).ravel()).max()
        self.record(operation, bytes_moved, ours, peers, float(difference / abs(reference).max()))

    def program(self):
        """Poisson by the program: its own JSON."""
        reports = []
        for n in (65,) if self.options.quick else (1025, 4097, 8193):
            for _ in range(2):  # the first fills the kernel cache
                out = subprocess.run([self.options.program, "--device", self.options.device, "poisson", "--n", str(n), "--rhs", "random", "--tol", "1e-10", "--json"],
                                     capture_output=True, text=True)
            if out.returncode != 0:
                sys.exit(f"clinalg poisson: {out.stderr}")
            reports.append(json.loads(out.stdout))
            print(f"poisson {n}^2: {1e3 * reports[-1]['seconds_solve']:.2f} ms, {reports[-1]['cycles']} cycles, residual {reports[-1]['relative_residual']:.1e}", flush=True)
        return reports

    def run(self):
        properties = self.cupy.cuda.runtime.getDeviceProperties(0)
        document = {
            "date": datetime.date.today().isoformat(), "device": properties["name"].decode(), "clinalg": self.clinalg.version, "cublas": self.cublas.version,
            "cusparse": self.cusparse.version, "cuda_driver": self.cupy.cuda.runtime.driverGetVersion(), "copy_bandwidth": [self.copy_bandwidth()],
        }
        for part in self.options.parts:
            result = getattr(self, part)()
            if result is not None:
                document[part] = result
        document["copy_bandwidth"].append(self.copy_bandwidth())
        document["results"] = self.results
        print(f"copy bandwidth {' and '.join(f'{b / 1e9:.0f}' for b in document['copy_bandwidth'])} GB/s")
        return document


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", default=ROOT / "target/release/libclinalg.so", help="the C library")
    parser.add_argument("--program", default=ROOT / "target/release/clinalg", help="the program")
    parser.add_argument("--device", default="NVIDIA", help="the OpenCL device, by index or part of its name")
    parser.add_argument("--parts", default="vectors,dense,sparse,many,upload,program", type=lambda text: text.split(","), help="what to measure")
    parser.add_argument("--matrices", default=[""], type=lambda text: text.split(","), help="only sparse matrices whose names contain one of these")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "benches/results", help="folder for the raw result")
    parser.add_argument("--quick", action="store_true", help="small and short; writes nothing")
    parser.add_argument("--show", type=pathlib.Path, help="print the tables of an earlier run")
    options = parser.parse_args()
    if options.show:
        document = json.loads(options.show.read_text())
        for result in document["results"]:
            Bench.print(result)
        return
    os.environ.setdefault("CLINALG_DEVICE", options.device)
    document = Bench(options).run()
    if not options.quick:
        options.out.mkdir(parents=True, exist_ok=True)
        path = options.out / f"{document['date']}-{document['device'].split()[-1].lower()}-peers.json"
        path.write_text(json.dumps(document, indent=1))
        print(f"raw result: {path}")


if __name__ == "__main__":
    main()
