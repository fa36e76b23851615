#!/usr/bin/env python3
"""clinalg on a processor side by side with SciPy, MKL, NumPy, Octave and PyAMG, and with the memory bandwidth, in one run.

    cargo build --release
    python3 benches/compare_cpu.py --setup      # once: Python peers into target/peers, from PyPI
    python3 benches/compare_cpu.py              # measures, prints the tables, writes benches/results/
    python3 benches/compare_cpu.py --quick      # small and short, to try; writes nothing
    python3 benches/compare_cpu.py --show FILE  # prints the tables of an earlier run

How: the parts take turns (limits, clinalg, peers; then backwards) for several rounds, because the speed of a virtual machine's
memory changes within a minute. A time is the median over all samples of all rounds; a ratio or fraction is the median over
the rounds of the quotient of the medians within one round. A part during which other programs took more than 5 % of the
processors is measured again. Data are random; the peers' answers are compared with each other and clinalg's with theirs.
"""

import argparse
import ctypes
import datetime
import json
import os
import pathlib
import platform
import re
import shutil
import statistics
import subprocess
import sys
import time
import types

from compare_gpu import ROWS, Clinalg

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = ROOT / "target" / "peers"
PYTHON = PEERS / "bin" / "python"
CLINALG = ROOT / "target" / "release" / "clinalg"
LIBRARY = ROOT / "target" / "release" / "libclinalg_capi.so"
PACKAGES = ["numpy==2.4.6", "scipy==1.17.1", "pyamg==5.4.1", "mkl==2026.2.0"]
THREADS = os.cpu_count() or 1

PRODUCTS = ["mv_csr_poisson5"]
VECTORS = ["copy", "axpby", "update", "scale", "multiply", "sum", "dot", "norm1", "norm2", "norm_inf"]
OTHERS = ["mv_band", "mv_dense", "mv_dense_transposed", "jacobi", "red_black", "defect", "restrict", "interpolate"]
READS = {"sum", "dot", "norm1", "norm2", "norm_inf", "mv_csr_poisson5", "mv_band", "mv_dense", "mv_dense_transposed"}
# What is asked for: the peer or limit, and the ratio to reach.
PEER_TARGETS = {"scipy": 2.0, "octave": 6.0, "mkl": 1.0}
LIMIT_TARGET = 0.85
SOLVE_TARGETS = {"cg": 5.0, "pyamg": 20.0}
FOREIGN_LOAD = 0.05


# --- the machine -----------------------------------------------------------------------------------------------------------


def last_level_cache():
    """Bytes of the largest cache of processor 0."""
    sizes = [0]
    for index in pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        text = index.read_text().strip()
        sizes.append(int(text[:-1]) * {"K": 2**10, "M": 2**20, "G": 2**30}[text[-1]])
    return max(sizes) or 32 * 2**20


def machine():
    info = {"processors": THREADS, "last_level_cache_bytes": last_level_cache(), "kernel": platform.release()}
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            info["cpu"] = line.split(":", 1)[1].strip()
            break
    return info


def busy_seconds():
    """Processor seconds spent on this machine since it started, idle time left out; and those that its host took away."""
    fields = [int(v) for v in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    tick = os.sysconf("SC_CLK_TCK")
    return (sum(fields[:8]) - fields[3] - fields[4] - fields[7]) / tick, fields[7] / tick


def own_seconds():
    return sum(os.times()[:4])


class Watch:
    """Measures what other programs took of the processors while a part ran."""

    def __init__(self, log, insist=True):
        self.log, self.insist = log, insist

    def measure(self, name, part, tries=20):
        for _ in range(tries):
            if self.insist:
                self.wait_for_quiet()
            busy, stolen, own, start = *busy_seconds(), own_seconds(), time.monotonic()
            result = part()
            elapsed = time.monotonic() - start
            foreign = (busy_seconds()[0] - busy - (own_seconds() - own)) / (elapsed * THREADS)
            entry = {"part": name, "seconds": round(elapsed, 3), "foreign_load": round(foreign, 4),
                     "stolen": round((busy_seconds()[1] - stolen) / (elapsed * THREADS), 4), "kept": foreign <= FOREIGN_LOAD}
            self.log.append(entry)
            if entry["kept"] or not self.insist:
                return result
            print(f"  {name}: other programs took {foreign:.0%} of the processors, measuring again", file=sys.stderr, flush=True)
        sys.exit(f"{name}: the machine does not become quiet; nothing was written")

    @staticmethod
    def wait_for_quiet(patience=3600.0):
        end = time.monotonic() + patience
        while time.monotonic() < end:
            busy, own = busy_seconds()[0], own_seconds()
            time.sleep(0.5)
            if (busy_seconds()[0] - busy - (own_seconds() - own)) / (0.5 * THREADS) <= FOREIGN_LOAD:
                return


# --- the parts: each returns {name: [seconds, ...]} and keeps what else is worth writing down ---------------------------------


def limits(elements, samples):
    """Bandwidth kinds of bandwidth.c: {kind: {"bytes", "samples"}}."""
    out = subprocess.run([PEERS / "bandwidth", str(elements), str(samples)], check=True, capture_output=True, text=True,
                         env={**os.environ, "OMP_NUM_THREADS": str(THREADS)})
    return json.loads(out.stdout)["kinds"]


def clinalg(*arguments):
    out = subprocess.run([CLINALG, *map(str, arguments), "--json"], capture_output=True, text=True)
    if out.returncode != 0:
        sys.exit(f"clinalg {' '.join(map(str, arguments))}: {out.stderr.strip()}")
    return json.loads(out.stdout)


def clinalg_bench(operations, n, samples):
    """{operation: result object of `clinalg bench`}, in double precision; those that the program does not have are left out."""
    report = clinalg("bench", "--only", ",".join(operations), "--n", n, "--samples", samples)
    return {r["operation"]: r for r in report["results"] if r["precision"] == "f64" and r["operation"] in operations}, report


def timed(function, samples):
    function()
    seconds = []
    for _ in range(samples):
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return seconds


class Python:
    """SciPy, NumPy and MKL on the same matrix and vectors, in this process."""

    def __init__(self, n, length):
        import numpy as np
        import scipy
        import scipy.sparse as sp
        from scipy.sparse import _sparsetools

        self.np, self.n, self.length = np, n, length
        self.a = poisson_matrix(n)
        size = n * n
        rng = np.random.default_rng(2049)
        self.x = rng.random(size) - 0.5
        self.v, self.w, self.out = rng.random(length) - 0.5, rng.random(length) - 0.5, np.zeros(length)
        self.y = {name: np.zeros(size) for name in ("scipy", "scipy_preallocated", "mkl", "mkl_optimised")}
        a = self.a

        def product():
            self.y["scipy"] = a @ self.x

        def preallocated():
            y = self.y["scipy_preallocated"]
            y.fill(0.0)
            _sparsetools.csr_matvec(size, size, a.indptr, a.indices, a.data, self.x, y)

        self.mkl = Mkl()
        plain, optimised = self.mkl.matrix(a), self.mkl.matrix(a)
        start = time.perf_counter()
        self.mkl.optimise(optimised)
        self.optimise_seconds = time.perf_counter() - start
        self.products = {
            "scipy": product,
            "scipy_preallocated": preallocated,
            "mkl": lambda: self.mkl.multiply(plain, self.x, self.y["mkl"]),
            "mkl_optimised": lambda: self.mkl.multiply(optimised, self.x, self.y["mkl_optimised"]),
        }
        v, w, out, mkl = self.v, self.w, self.out, self.mkl
        self.vectors = {
            "copy": {"mkl": lambda: mkl.copy(v, out), "numpy": lambda: np.copyto(out, v)},
            "update": {"mkl": lambda: mkl.axpby(2.0, v, 0.5, out)},
            "scale": {"numpy": lambda: np.multiply(v, 2.0, out=out)},
            "multiply": {"numpy": lambda: np.multiply(v, w, out=out)},
            "sum": {"numpy": lambda: v.sum()},
            "dot": {"mkl": lambda: mkl.dot(v, w), "numpy": lambda: v @ w},
            "norm1": {"mkl": lambda: mkl.asum(v)},
            "norm2": {"mkl": lambda: mkl.nrm2(v), "numpy": lambda: np.linalg.norm(v)},
            "norm_inf": {"numpy": lambda: max(v.max(), -v.min())},
        }
        self.versions = {"numpy": np.__version__, "scipy": scipy.__version__, "mkl": self.mkl.version(), "python": platform.python_version()}

    def measure(self, samples):
        result = {"mv_csr_poisson5": {name: timed(f, samples) for name, f in self.products.items()}}
        for operation, peers in self.vectors.items():
            result[operation] = {name: timed(f, samples) for name, f in peers.items()}
        return result

    def check(self):
        """Largest difference of the products from SciPy's, relative to its largest value."""
        reference = self.y["scipy"]
        top = self.np.abs(reference).max()
        return {name: float(self.np.abs(y - reference).max() / top) for name, y in self.y.items()}


def poisson_matrix(n):
    """5-point matrix of n x n points, Dirichlet boundary outside them, times h^2, with 32-bit indices."""
    import numpy as np
    import scipy.sparse as sp

    e = np.ones(n)
    t = sp.diags_array([-e[1:], 2 * e, -e[1:]], offsets=[-1, 0, 1])
    a = sp.csr_matrix(sp.kron(sp.identity(n), t) + sp.kron(t, sp.identity(n)))
    a.sort_indices()
    assert a.indices.dtype == np.int32
    return a


class Mkl:
    """The few functions of Intel MKL (32-bit indices) that are compared, through ctypes."""

    class Description(ctypes.Structure):
        _fields_ = [("type", ctypes.c_int), ("mode", ctypes.c_int), ("diagonal", ctypes.c_int)]

    GENERAL, NO_TRANSPOSE = 20, 10

    def __init__(self):
        os.environ.update({"MKL_NUM_THREADS": str(THREADS), "KMP_BLOCKTIME": "0"})
        # The runtime library loads the others by name from its own folder.
        self.lib = ctypes.CDLL(str(next((PEERS / "lib").glob("libmkl_rt.so*"))))
        self.general = self.Description(self.GENERAL, 0, 0)
        for name in ("cblas_ddot", "cblas_dasum", "cblas_dnrm2"):
            getattr(self.lib, name).restype = ctypes.c_double

    def version(self):
        text = ctypes.create_string_buffer(256)
        self.lib.mkl_get_version_string(text, 256)
        return text.value.decode().strip()

    @staticmethod
    def at(array, skip=0):
        return ctypes.c_void_p(array.ctypes.data + skip)

    def call(self, name, *arguments):
        status = getattr(self.lib, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name}: status {status}")

    def matrix(self, a):
        handle = ctypes.c_void_p()
        self.call("mkl_sparse_d_create_csr", ctypes.byref(handle), 0, *a.shape, self.at(a.indptr), self.at(a.indptr, 4), self.at(a.indices), self.at(a.data))
        return handle

    def optimise(self, handle):
        self.call("mkl_sparse_set_mv_hint", handle, self.NO_TRANSPOSE, self.general, 1000)
        self.call("mkl_sparse_optimize", handle)

    def release(self, handle):
        self.call("mkl_sparse_destroy", handle)

    def multiply(self, handle, x, y):
        self.call("mkl_sparse_d_mv", self.NO_TRANSPOSE, ctypes.c_double(1.0), handle, self.general, self.at(x), ctypes.c_double(0.0), self.at(y))

    def copy(self, x, y):
        self.lib.cblas_dcopy(x.size, self.at(x), 1, self.at(y), 1)

    def axpby(self, alpha, x, beta, y):
        self.lib.cblas_daxpby(x.size, ctypes.c_double(alpha), self.at(x), 1, ctypes.c_double(beta), self.at(y), 1)

    def dot(self, x, y):
        return self.lib.cblas_ddot(x.size, self.at(x), 1, self.at(y), 1)

    def asum(self, x):
        return self.lib.cblas_dasum(x.size, self.at(x), 1)

    def nrm2(self, x):
        return self.lib.cblas_dnrm2(x.size, self.at(x), 1)


def cube_matrix(n, rng):
    """27-point pattern on n^3 points with random values."""
    import numpy as np
    import scipy.sparse as sp

    e = np.ones(n)
    t = sp.diags_array([e[1:], e, e[1:]], offsets=[-1, 0, 1])
    return randomised(sp.csr_matrix(sp.kron(sp.kron(t, t), t)), rng)


def band_matrix(n, width, rng):
    """`width` diagonals around the main one with random values."""
    import numpy as np
    import scipy.sparse as sp

    offsets = range(-(width // 2), width // 2 + 1)
    return randomised(sp.csr_matrix(sp.diags_array([np.ones(n - abs(d)) for d in offsets], offsets=list(offsets))), rng)


def randomised(a, rng):
    a.sort_indices()
    a.data = rng.random(a.nnz) - 0.5
    return a


def random_matrix(lengths, rng):
    """Rows with so many entries each, in random columns; several in one place are one."""
    import numpy as np
    import scipy.sparse as sp

    n = lengths.size
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    columns = rng.integers(0, n, offsets[-1]).astype(np.int32)
    a = sp.csr_matrix((np.ones(offsets[-1]), columns, offsets.astype(np.int32)), shape=(n, n))
    a.sum_duplicates()
    return randomised(a, rng)


def sparse_matrices(quick):
    """{name: function that makes the matrix}."""
    import numpy as np

    rng = np.random.default_rng(96)
    side, deep, rows = (129, 20, 20_000) if quick else (2049, 96, 2_000_000)

    def power_law():
        return random_matrix(np.minimum(2 * (1 - rng.random(rows)) ** (-1 / 1.3), rows // 20).astype(np.int64), rng)

    return {
        f"5-point {side}^2, random values": lambda: randomised(poisson_matrix(side), rng),
        f"27-point {deep}^3, random values": lambda: cube_matrix(deep, rng),
        f"27-point {deep}^3, constant": lambda: cube_constant(deep, rng),
        f"17 diagonals, {rows} rows": lambda: band_matrix(rows, 17, rng),
        f"random, {rows} rows x 16": lambda: random_matrix(np.full(rows, 16), rng),
        f"random, {rows} rows x 4 to 28": lambda: random_matrix(rng.integers(4, 29, rows), rng),
        f"power law, {rows} rows": power_law,
    }


def cube_constant(n, rng):
    a = cube_matrix(n, rng)
    a.data[:] = -1.0
    a.setdiag(26.0)
    return a


def sparse(mkl, rounds, samples, quick, watch):
    """Products with other matrices in this process: MKL after its optimise call, and clinalg's C library with the format that
    it finds and with compressed rows alone. The three take turns within each round."""
    import numpy as np

    library = Clinalg(LIBRARY, os.environ.get("CLINALG_DEVICE", "0"))
    found = []
    for name, make in sparse_matrices(quick).items():
        a = make()
        x = np.random.default_rng(5).random(a.shape[1]) - 0.5
        y = np.zeros(a.shape[0])
        optimised = mkl.matrix(a)
        start = time.perf_counter()
        mkl.optimise(optimised)
        optimise_seconds = time.perf_counter() - start
        matrix = types.SimpleNamespace(rows=a.shape[0], offsets=a.indptr, columns=a.indices, values=a.data)
        as_found, upload_seconds = library.csr(matrix)
        rows, _ = library.csr(matrix)
        library("clinalg_sparse_set_format", rows, ROWS)
        u, v = library.vector(x), library.vector(y)

        def ours(handle):
            run = library.mv(handle, u, v)
            return lambda: (run(), library.finish())

        products = {"clinalg": ours(as_found), "clinalg_rows": ours(rows), "mkl_optimised": lambda: mkl.multiply(optimised, x, y)}
        reference, errors = a @ x, {}
        for peer, product in products.items():
            product()
            result = y if peer == "mkl_optimised" else library.read(v, y.size)
            errors[peer] = float(np.abs(result - reference).max() / np.abs(reference).max())
        turns = []
        for index in range(rounds):
            order = list(products.items())[:: 1 if index % 2 == 0 else -1]
            turns.append(watch.measure(f"product, {name}", lambda: {peer: timed(product, samples) for peer, product in order}))
        found.append({"matrix": name, "rows": a.shape[0], "entries": int(a.nnz), "bytes": 12 * int(a.nnz) + 20 * a.shape[0],
                      "explanation": library.explain(as_found), "upload_seconds": upload_seconds, "optimise_seconds": optimise_seconds,
                      "errors": errors, "rounds": turns})
        library.release(as_found, rows, u, v)
        mkl.release(optimised)
        print(f"product: {name}", file=sys.stderr, flush=True)
    return found


def octave(n, length, samples, x, result):
    environment = {**os.environ, "CLINALG_N": str(n), "CLINALG_LENGTH": str(length), "CLINALG_SAMPLES": str(samples), "CLINALG_X": str(x),
                   "CLINALG_Y": str(result), "OMP_NUM_THREADS": str(THREADS)}
    out = subprocess.run(["octave-cli", "-qf", "--no-history", str(ROOT / "benches" / "compare_octave.m")], check=True, capture_output=True, text=True, env=environment)
    return json.loads(out.stdout)


class Amg:
    """PyAMG's classical (Ruge-Stueben) multigrid on the interior unknowns of the n x n grid; the set-up is not timed."""

    def __init__(self, n):
        import numpy as np
        import pyamg

        self.np, self.a = np, poisson_matrix(n - 2)
        start = time.perf_counter()
        self.solver = pyamg.ruge_stuben_solver(self.a)
        self.setup_seconds = time.perf_counter() - start
        self.rng = np.random.default_rng(1)
        self.levels, self.version = len(self.solver.levels), pyamg.__version__

    def solve(self, accel):
        b = self.rng.random(self.a.shape[0]) - 0.5
        residuals = []
        start = time.perf_counter()
        x = self.solver.solve(b, tol=1e-10, accel=accel, maxiter=200, residuals=residuals)
        seconds = time.perf_counter() - start
        residual = self.np.linalg.norm(b - self.a @ x) / self.np.linalg.norm(b)
        return {"seconds": seconds, "iterations": len(residuals) - 1, "relative_residual": float(residual)}


def write_poisson(path, n):
    """The matrix of the n x n interior unknowns as a symmetric MatrixMarket file, for `clinalg solve`."""
    rows = n * n
    with open(path, "w") as out:
        out.write(f"%%MatrixMarket matrix coordinate real symmetric\n{rows} {rows} {3 * rows - 2 * n}\n")
        for j in range(n):
            lines = []
            for i in range(n):
                k = j * n + i + 1
                lines.append(f"{k} {k} 4\n")
                if i + 1 < n:
                    lines.append(f"{k + 1} {k} -1\n")
                if j + 1 < n:
                    lines.append(f"{k + n} {k} -1\n")
            out.write("".join(lines))


def check_clinalg(folder):
    """clinalg's solution of a random system against SciPy's direct solver: relative difference in the 2-norm."""
    import numpy as np
    import scipy.io
    from scipy.sparse.linalg import spsolve

    n = 65
    matrix, rhs, solution = folder / "check.mtx", folder / "check_b.mtx", folder / "check_x.mtx"
    write_poisson(matrix, n)
    b = np.random.default_rng(7).random(n * n) - 0.5
    scipy.io.mmwrite(rhs, b.reshape(-1, 1), precision=17)
    clinalg("solve", matrix, "--rhs", rhs, "--method", "cg", "--tol", "1e-12", "--out", solution)
    x = scipy.io.mmread(solution).ravel()
    reference = spsolve(poisson_matrix(n).tocsc(), b)
    return float(np.linalg.norm(x - reference) / np.linalg.norm(reference))


# --- the run ----------------------------------------------------------------------------------------------------------------


def setup():
    subprocess.run([sys.executable, "-m", "venv", str(PEERS)], check=True)
    subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    print(f"Python peers in {PEERS.relative_to(ROOT)}: {', '.join(PACKAGES)}")
    if not shutil.which("octave-cli"):
        print("octave-cli is not installed; `apt-get install octave` adds it to the comparison")


def build_bandwidth():
    source = ROOT / "benches" / "bandwidth.c"
    subprocess.run(["cc", "-O3", "-march=native", "-fopenmp", "-o", PEERS / "bandwidth", source], check=True)


def run(options):
    n = 257 if options.quick else options.n
    side = 1025 if options.quick else 4097
    length = side * side
    rounds, samples = (2, 3) if options.quick else (options.rounds, options.samples)
    cache = last_level_cache()
    if not options.quick and 8 * length < 4 * cache:
        sys.exit(f"vectors of {8 * length} bytes do not exceed four times the last-level cache of {cache} bytes")
    build_bandwidth()
    log, data = [], {"rounds": []}
    watch = Watch(log, insist=not options.quick)
    python = Python(n, length)
    x_file, y_file = PEERS / "x.bin", PEERS / "y.bin"
    python.x.tofile(x_file)
    has_octave = shutil.which("octave-cli") is not None
    report = {}

    def measure_clinalg():
        results, report["products"] = clinalg_bench(PRODUCTS + OTHERS, n, samples)
        more, report["vectors"] = clinalg_bench(VECTORS, side, samples)
        return results | more

    for index in range(rounds):
        this = {}
        parts = [
            ("limits", lambda: limits(length, samples)),
            ("clinalg", measure_clinalg),
            ("python", lambda: python.measure(samples)),
        ]
        if has_octave:
            parts.append(("octave", lambda: octave(n, length, max(3, samples), x_file, y_file)))
        parts.append(("limits_after", lambda: limits(length, samples)))
        for name, part in parts if index % 2 == 0 else parts[::-1]:
            this[name] = watch.measure(name, part)
        data["rounds"].append(this)
        print(f"round {index + 1} of {rounds}", file=sys.stderr, flush=True)

    checks = {"product, difference from SciPy": python.check()}
    if has_octave:
        import numpy as np

        y, reference = np.fromfile(y_file), python.y["scipy"]
        checks["product, difference from SciPy"]["octave"] = float(np.abs(y - reference).max() / np.abs(reference).max())
        python.versions["octave"] = data["rounds"][0]["octave"]["version"]
    checks["clinalg solve, difference from a direct solver"] = check_clinalg(PEERS)
    optimise_seconds = python.optimise_seconds
    versions = python.versions
    data["sparse"] = sparse(python.mkl, rounds, samples, options.quick, watch)
    del python

    data["solves"] = solves(options, n, watch, versions)
    now = datetime.datetime.now(datetime.timezone.utc)
    version = subprocess.run([CLINALG, "--version"], capture_output=True, text=True).stdout.strip()
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True).stdout.strip()
    return {
        "date": now.isoformat(timespec="seconds"),
        "command": "benches/compare_cpu.py " + " ".join(sys.argv[1:]),
        "clinalg": version,
        "commit": commit,
        "machine": machine(),
        "device": report["vectors"]["device"],
        "versions": versions,
        "n": n,
        "vector_length": length,
        "samples_per_round": samples,
        "mkl_optimise_seconds": optimise_seconds,
        "checks": checks,
        "parts": log,
        **data,
    }


def solves(options, n, watch, versions):
    """Poisson on n x n points with a random right-hand side to 1e-10: clinalg's multigrid and conjugate gradients, PyAMG."""
    if options.no_solves:
        return {}
    turns = 1 if options.quick else 5
    amg = Amg(n)
    versions["pyamg"] = amg.version
    matrix = PEERS / f"poisson{n - 2}.mtx"
    if not (matrix.exists() or options.only_solves):
        write_poisson(matrix, n - 2)
    found = {"multigrid": [], "pyamg": [], "pyamg_cg": [], "cg": [], "pyamg_setup_seconds": amg.setup_seconds, "pyamg_levels": amg.levels}
    for turn in range(turns):
        found["multigrid"].append(watch.measure("multigrid", lambda: clinalg("poisson", "--n", n, "--rhs", "random", "--tol", "1e-10")))
        found["pyamg"].append(watch.measure("pyamg", lambda: amg.solve(None)))
        found["multigrid"].append(watch.measure("multigrid", lambda: clinalg("poisson", "--n", n, "--rhs", "random", "--tol", "1e-10")))
        found["pyamg_cg"].append(watch.measure("pyamg_cg", lambda: amg.solve("cg")))
        if turn < 1 and not options.only_solves:
            found["cg"].append(watch.measure("cg", lambda: clinalg("solve", matrix, "--rhs", "random", "--method", "cg", "--tol", "1e-10")))
        print(f"solve {turn + 1} of {turns}", file=sys.stderr, flush=True)
    for report in found["cg"] + found["multigrid"]:
        report.pop("residual_history", None)
    return found


# --- the tables --------------------------------------------------------------------------------------------------------------


def median(values):
    return statistics.median(values)


def best_limit(this, operation):
    """The run's bandwidth (GB/s) that an operation is held against: the faster of the two copies, or of the two reads."""
    kinds = ("read", "read2") if operation in READS else ("copy", "copy_streaming")
    speeds = []
    for kind in kinds:
        both = this["limits"][kind]["samples"] + this["limits_after"][kind]["samples"]
        speeds.append(this["limits"][kind]["bytes"] / median(both) / 1e9)
    return max(speeds)


def peer_samples(this, operation):
    found = dict(this["python"].get(operation, {}))
    if operation in this.get("octave", {}).get("seconds", {}):
        found["octave"] = this["octave"]["seconds"][operation]
    return found


def show_sparse(found):
    if found:
        print(f"\n| product | MB | format found, ms | compressed rows alone, ms | MKL optimised, ms | times faster than MKL | rows alone | target | reached |\n|---|---|---|---|---|---|---|---|---|")
    for entry in found:
        times = {peer: median([s for turn in entry["rounds"] for s in turn[peer]]) * 1e3 for peer in ("clinalg", "clinalg_rows", "mkl_optimised")}
        ratios = {peer: median([median(turn["mkl_optimised"]) / median(turn[peer]) for turn in entry["rounds"]]) for peer in ("clinalg", "clinalg_rows")}
        print(f"| {entry['matrix']} ({entry['explanation'].split(':')[0]}) | {entry['bytes'] / 1e6:.0f} | {times['clinalg']:.2f} | {times['clinalg_rows']:.2f} | {times['mkl_optimised']:.2f} | "
              f"{ratios['clinalg']:.2f} | {ratios['clinalg_rows']:.2f} | mkl 1x | {'yes' if ratios['clinalg'] >= 1 else 'NO'} |")
        worst = max(entry["errors"].values())
        if worst > 1e-12:
            print(f"WRONG: {entry['matrix']} differs from SciPy by {worst:.1e}")


def show(result):
    rounds, device = result["rounds"], result["device"]
    processor = result["machine"]
    print(f"{result['date']}, {result['clinalg']} ({result['commit']}): {device['name']}, {device['platform_version']}; {processor.get('cpu')}, "
          f"{processor['processors']} processors, last-level cache {processor['last_level_cache_bytes'] / 2**20:.0f} MiB")
    print("; ".join(f"{k} {v}" for k, v in result["versions"].items()))
    print(f"{len(rounds)} rounds of {result['samples_per_round']} samples; vectors of {result['vector_length']} values\n")

    print("| limit (two threads, C) | GB/s, median | rounds from - to |\n|---|---|---|".replace("two", str(processor["processors"])))
    for kind in rounds[0]["limits"]:
        speeds = [this[part][kind]["bytes"] / median(this[part][kind]["samples"]) / 1e9 for this in rounds for part in ("limits", "limits_after")]
        print(f"| {kind} | {median(speeds):.1f} | {min(speeds):.1f} - {max(speeds):.1f} |")

    print("\n| operation | bytes | time, ms | GB/s | limit | fraction of limit | peers: how many times faster clinalg is | target | reached |\n|---|---|---|---|---|---|---|---|---|")
    for operation in PRODUCTS + VECTORS + OTHERS:
        if any(operation not in this["clinalg"] for this in rounds):
            continue
        entries = [this["clinalg"][operation] for this in rounds]
        own = [median(e["samples"]) for e in entries]
        time_all = median([s for e in entries for s in e["samples"]])
        size = entries[0]["bytes"]
        fraction = median([size / t / 1e9 / best_limit(this, operation) for t, this in zip(own, rounds)])
        ratios = {peer: median([median(peer_samples(this, operation)[peer]) / t for t, this in zip(own, rounds)]) for peer in peer_samples(rounds[0], operation)}
        if operation in PRODUCTS:
            target = ", ".join(f"{peer} {ratio:g}x" for peer, ratio in PEER_TARGETS.items())
            reached = all(ratios.get(peer, float("inf")) >= ratio for peer, ratio in PEER_TARGETS.items())
        elif operation in VECTORS:
            target, reached = f"{LIMIT_TARGET:.0%} of limit", fraction >= LIMIT_TARGET
        else:
            target, reached = "", None
        peers = ", ".join(f"{peer} {ratio:.2f}" for peer, ratio in ratios.items())
        print(f"| {operation} | {size / 1e6:.1f} MB | {time_all * 1e3:.2f} | {size / time_all / 1e9:.1f} | {'read' if operation in READS else 'copy'} | {fraction:.2f} | "
              f"{peers} | {target} | {'' if reached is None else 'yes' if reached else 'NO'} |")
    print(f"\nMKL's optimise call took {result['mkl_optimise_seconds']:.2f} s.")
    for what, value in result["checks"].items():
        text = ", ".join(f"{k} {v:.1e}" for k, v in value.items()) if isinstance(value, dict) else f"{value:.1e}"
        print(f"Check: {what}: {text}.")

    show_sparse(result.get("sparse", []))
    if result["solves"]:
        show_solves(result["solves"])


def show_solves(found):
    own = [r["seconds_solve"] for r in found["multigrid"]]
    print("\n| Poisson, random right-hand side, to 1e-10 | seconds, median (runs) | cycles or iterations | relative residual | times slower than clinalg | target | reached |\n|---|---|---|---|---|---|---|")
    rows = [("clinalg multigrid", own, [r["cycles"] for r in found["multigrid"]], found["multigrid"], None),
            ("clinalg conjugate gradients", [r["seconds_solve"] for r in found["cg"]], [r["iterations"] for r in found["cg"]], found["cg"], "cg"),
            ("PyAMG classical, solve phase", [r["seconds"] for r in found["pyamg"]], [r["iterations"] for r in found["pyamg"]], found["pyamg"], "pyamg"),
            ("PyAMG classical with CG, solve phase", [r["seconds"] for r in found["pyamg_cg"]], [r["iterations"] for r in found["pyamg_cg"]], found["pyamg_cg"], "pyamg")]
    for name, seconds, counts, runs, key in rows:
        if not seconds:
            continue
        ratio = median(seconds) / median(own)
        target = f"{SOLVE_TARGETS[key]:g}x" if key else ""
        worst = max(r["relative_residual"] for r in runs)
        print(f"| {name} | {median(seconds):.3f} ({len(seconds)}) | {median(counts):g} | {worst:.1e} | {ratio:.1f} | {target} | {('yes' if ratio >= SOLVE_TARGETS[key] else 'NO') if key else ''} |")
    print(f"\nPyAMG's set-up ({found['pyamg_levels']} levels) took {found['pyamg_setup_seconds']:.1f} s and is not counted.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--setup", action="store_true", help="install the Python peers into target/peers")
    parser.add_argument("--quick", action="store_true", help="small sizes and few samples, quiet machine or not; writes nothing")
    parser.add_argument("--only-sparse", action="store_true", help="only the products with MKL's beside them; prints, writes nothing")
    parser.add_argument("--only-solves", action="store_true", help="only multigrid with PyAMG's beside it; prints, writes nothing")
    parser.add_argument("--no-solves", action="store_true", help="leave out the Poisson solves")
    parser.add_argument("--n", type=int, default=2049, help="points a side of the grid, 2^k + 1")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--samples", type=int, default=3, help="samples of each operation in a round")
    parser.add_argument("--machine", help="machine's name in the file name; made of the processor's name by default")
    parser.add_argument("--show", metavar="FILE", help="print the tables of an earlier run")
    options = parser.parse_args()
    if options.show:
        return show(json.loads(pathlib.Path(options.show).read_text()))
    if options.setup:
        return setup()
    if not PYTHON.exists():
        sys.exit("the peers are not installed; run this once with --setup")
    if pathlib.Path(sys.prefix) != PEERS:
        os.execv(PYTHON, [str(PYTHON), *sys.argv])
    for built in (CLINALG, LIBRARY):
        if not built.exists():
            sys.exit(f"{built.relative_to(ROOT)} is missing; run `cargo build --release` first")
    if not (options.quick or options.only_solves) and options.rounds * options.samples < 20:
        sys.exit("fewer than 20 samples")
    if options.only_sparse:
        watch = Watch([], insist=False)
        rounds, samples = (2, 3) if options.quick else (options.rounds, options.samples)
        return show_sparse(sparse(Mkl(), rounds, samples, options.quick, watch))
    if options.only_solves:
        return show_solves(solves(options, 257 if options.quick else options.n, Watch([], insist=False), {}))
    result = run(options)
    if not options.quick:
        name = options.machine or re.sub(r"[^a-z0-9]+", "-", f"{result['machine'].get('cpu', 'cpu')}-{THREADS}".lower())
        target = ROOT / "benches" / "results" / f"{result['date'][:10]}-cpu-{name}.json"
        target.parent.mkdir(exist_ok=True)
        target.write_text(json.dumps(result, indent=1) + "\n")
        print(f"wrote {target.relative_to(ROOT)}", file=sys.stderr)
    show(result)


if __name__ == "__main__":
    main()
