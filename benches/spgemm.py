#!/usr/bin/env python3
"""Products C = A A of sparse matrices on the device compared with cuSPARSE's SpGEMM, in one process, in double precision.

    cargo build --release -p clinalg-capi
    python3 benches/spgemm.py                                # on an NVIDIA GPU; needs NumPy, CuPy and cuSPARSE
    python3 benches/spgemm.py --size small --device 0        # on any device, without CuPy: no peer, SciPy checks
    python3 benches/spgemm.py --show FILE.jsonl ...          # the table of earlier runs

The matrices are made by the generators of benches/products.py from fixed seeds. Every run makes a new C with its pattern, which is released
afterwards, on both sides; a time is the median of batches of calls. cuSPARSE runs each of its algorithms (of ALG3 with chunks of several
sizes), cusparseSpGEMMreuse from the beginning, and CuPy's `cupyx.cusparse.spgemm`, which takes the default algorithm; its memory, work
space included, comes from CuPy's pool, so that no call waits for an allocation by the driver. "values only" is the last step of
cusparseSpGEMMreuse, for a pattern of C that is known; it does not count in the ratio. What a side cannot do, for lack of memory or of
32-bit indices, is in `failed` with its message. Every result is compared with the first one of cuSPARSE, or with SciPy's: entries, pattern
and values, up to --compare entries; beyond that, and for the first, C x with A (A x) for a random vector x, and the number of entries.
Values may differ by rounding relative to the largest of C. Flops are two per product of entries; bytes are 12 per entry and 4 per row, of
A and C once each. One JSON line per matrix goes to --out.
"""

import argparse
import ctypes
import gc
import json
import math
import os
import pathlib
import sys
import time

import numpy

import compare_gpu
import products
from compare_gpu import F64, Cusparse, host
from products import CROSS, CUBE, TETRAHEDRA, grid, lengths_of, on_host, power_law, rmat, rows_of, to_device, xp

# cusparseSpGEMMAlg_t, and the fraction of the products that a chunk of ALG3 takes.
ALGORITHMS = {"alg1": (3, None), "alg2": (4, None), "alg3, chunks of 0.2": (5, 0.2), "alg3, chunks of 0.05": (5, 0.05)}
VALUES_ONLY = "values only"
TOLERANCE = 1e-11
PIECE = 1 << 26  # entries at a time where the rest of the memory may be in use


def matrices(large):
    def of(small, big):
        return big if large else small

    million = of(4_000, 1_000_000)
    # Those that may exceed the memory come last.
    return {
        "5-point": lambda: grid((of(65, 2049),) * 2, CROSS, 1),
        "27-point": lambda: grid((of(16, 128),) * 3, CUBE, 2),
        "tetrahedra, shuffled": lambda: grid((of(16, 100),) * 3, TETRAHEDRA, 5, 1 << 40),
        "elasticity, 3 x 3": lambda: grid((of(7, 40),) * 3, CUBE, 6, size=3),
        "random, 8 per row": lambda: lengths_of(xp.full(million, 8), million, 8),
        "power law": lambda: lengths_of(power_law(million, of(900, 204_000), 9), million, 10),
        "rows of 4 to 40, local": lambda: lengths_of(products.between(million, 4, 40, 57), million, 58, of(900, 9000)),
        f"R-MAT, scale {of(9, 16)}": lambda: rmat(of(9, 16), 16, 11),
        f"R-MAT, scale {of(10, 18)}": lambda: rmat(of(10, 18), 16, 11),
        f"R-MAT, scale {of(11, 20)}": lambda: rmat(of(11, 20), 16, 11),
    }


# --- matrices on the host or the GPU of the peer ---------------------------------------------------------------------------


class Sparse:
    """A matrix in compressed rows in arrays of `xp`."""

    def __init__(self, offsets, columns, values, cols):
        self.offsets, self.columns, self.values = offsets, columns, values
        self.rows, self.cols = int(offsets.size) - 1, cols

    @staticmethod
    def product(key, values, rows, x):
        """C x for what `sorted` returns."""
        return xp.bincount(key % rows, weights=values * x[key // rows], minlength=rows)

    def sorted(self):
        """The key of every entry and the values, sorted by column, then by row."""
        row = rows_of(self.offsets.astype(xp.int64))
        key = self.columns.astype(xp.int64) * self.rows + row
        del row
        order = xp.argsort(key)
        return key[order], self.values[order]

    def times(self, x):
        ends, out = self.offsets.astype(xp.int64)[1:], xp.zeros(self.rows)
        for first in range(0, int(self.values.size), PIECE):
            part = slice(first, min(first + PIECE, int(self.values.size)))
            row = xp.searchsorted(ends, xp.arange(part.start, part.stop), side="right")
            out += xp.bincount(row, weights=self.values[part] * x[self.columns[part]], minlength=self.rows)
        return out


class ObjectInfo(ctypes.Structure):
    """clinalg_object_info"""

    _fields_ = [("kind", ctypes.c_int), ("precision", ctypes.c_int)] + [(name, ctypes.c_size_t) for name in ("rows", "cols", "entries", "kl", "ku")]


def reason(error):
    """One line of the message."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


# --- cuSPARSE --------------------------------------------------------------------------------------------------------------


class Spgemm(Cusparse):
    """{name: function that returns a new C} by cuSPARSE's algorithms."""

    STATUS = {2: "allocation failed", 7: "internal error", 10: "not supported", 11: "insufficient resources"}

    def __init__(self):
        super().__init__()
        # Without argument types ctypes would pass numbers as 32-bit integers and doubles.
        status, pointer, number, real = ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_float
        long, operands = ctypes.c_int64, [pointer, number, number, pointer, pointer, pointer, pointer, pointer, number, number, pointer]
        plain = [pointer, number, number, pointer, pointer, pointer, number, pointer]
        types = {
            "cusparseCreateCsr": [pointer, long, long, long, pointer, pointer, pointer, number, number, number, number],
            "cusparseDestroySpMat": [pointer],
            "cusparseSpMatGetSize": [pointer, pointer, pointer, pointer],
            "cusparseCsrSetPointers": [pointer, pointer, pointer, pointer],
            "cusparseSpGEMM_createDescr": [pointer],
            "cusparseSpGEMM_destroyDescr": [pointer],
            "cusparseSpGEMM_workEstimation": [*operands, pointer, pointer],
            "cusparseSpGEMM_estimateMemory": [*operands, real, pointer, pointer, pointer],
            "cusparseSpGEMM_compute": [*operands, pointer, pointer],
            "cusparseSpGEMM_copy": operands,
            "cusparseSpGEMMreuse_workEstimation": [*plain, pointer, pointer],
            "cusparseSpGEMMreuse_nnz": [*plain, *[pointer] * 6],
            "cusparseSpGEMMreuse_copy": [*plain, pointer, pointer],
            "cusparseSpGEMMreuse_compute": operands,
        }
        for name, arguments in types.items():
            function = getattr(self.lib, name, None)
            if function is not None:
                function.restype, function.argtypes = status, arguments

    def __call__(self, name, *arguments):
        status = getattr(self.lib, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name}: {self.STATUS.get(status, f'status {status}')}")

    def csr(self, rows, cols, entries, offsets, columns, values):
        made = ctypes.c_void_p()
        pointers = [None if array is None else array.data.ptr for array in (offsets, columns, values)]
        self("cusparseCreateCsr", ctypes.byref(made), rows, cols, entries, *pointers, self.INDEX_32, self.INDEX_32, self.BASE_ZERO, self.REAL_64)
        return made

    def entries(self, c):
        out = [ctypes.c_int64() for _ in range(3)]
        self("cusparseSpMatGetSize", c, *map(ctypes.byref, out))
        return out[2].value

    @staticmethod
    def memory(length):
        return xp.empty(max(length.value, 8), "u1")

    def arrays(self, c, offsets, new=xp.empty):
        count = self.entries(c)
        columns, values = xp.empty(count, xp.int32), new(count)
        self("cusparseCsrSetPointers", c, offsets.data.ptr, columns.data.ptr, values.data.ptr)
        return columns, values

    def work(self, step, *more):
        """Asks `step` for the size of its work space and runs it with that."""
        length = ctypes.c_size_t(0)
        step(*more, ctypes.byref(length), None)
        work = self.memory(length)
        step(*more, ctypes.byref(length), work.data.ptr)
        return work

    def by(self, a, algorithm, chunk):
        """A function that makes A A by one of cusparseSpGEMM's algorithms."""
        given = self.csr(a.rows, a.cols, int(a.values.size), a.offsets, a.columns, a.values)

        def run():
            offsets = xp.empty(a.rows + 1, xp.int32)
            c, plan = self.csr(a.rows, a.cols, 0, offsets, None, None), ctypes.c_void_p()
            self("cusparseSpGEMM_createDescr", ctypes.byref(plan))

            def step(name):
                head = [self.handle, 0, 0, ctypes.byref(self.one), given, given, ctypes.byref(self.zero), c, self.REAL_64, algorithm, plan]
                return lambda *more: self(f"cusparseSpGEMM_{name}", *head, *more)

            try:
                first = self.work(step("workEstimation"))
                if algorithm == ALGORITHMS["alg1"][0]:
                    second = self.work(step("compute"))
                else:
                    estimate, length, needed = step("estimateMemory"), ctypes.c_size_t(0), ctypes.c_size_t(0)
                    fraction = 1.0 if chunk is None else chunk
                    estimate(fraction, ctypes.byref(length), None, None)
                    third = self.memory(length)
                    estimate(fraction, ctypes.byref(length), third.data.ptr, ctypes.byref(needed))
                    del third
                    second = self.memory(needed)
                    step("compute")(ctypes.byref(needed), second.data.ptr)
                columns, values = self.arrays(c, offsets)
                step("copy")()
                del first, second
                return Sparse(offsets, columns, values, a.cols)
            finally:
                self("cusparseSpGEMM_destroyDescr", plan)
                self("cusparseDestroySpMat", c)

        return run

    def reuse(self, a, keep=None):
        """A function that makes A A by cusparseSpGEMMreuse; with `keep`, a list, one that fills the values of the same C again."""
        given = self.csr(a.rows, a.cols, int(a.values.size), a.offsets, a.columns, a.values)

        def run():
            offsets = xp.empty(a.rows + 1, xp.int32)
            c, plan = self.csr(a.rows, a.cols, 0, offsets, None, None), ctypes.c_void_p()
            self("cusparseSpGEMM_createDescr", ctypes.byref(plan))
            head = [self.handle, 0, 0, given, given, c, 0, plan]
            try:
                first = self.work(lambda *more: self("cusparseSpGEMMreuse_workEstimation", *head, *more))
                lengths = [ctypes.c_size_t(0) for _ in range(3)]
                self("cusparseSpGEMMreuse_nnz", *head, *[each for length in lengths for each in (ctypes.byref(length), None)])
                work = [self.memory(length) for length in lengths]
                self("cusparseSpGEMMreuse_nnz", *head, *[each for length, w in zip(lengths, work) for each in (ctypes.byref(length), w.data.ptr)])
                del first
                work[0] = None
                columns, values = self.arrays(c, offsets, xp.zeros)  # as in NVIDIA's example
                work.append(self.work(lambda *more: self("cusparseSpGEMMreuse_copy", *head, *more)))
                work[1] = None

                def fill():
                    self("cusparseSpGEMMreuse_compute", self.handle, 0, 0, ctypes.byref(self.one), given, given, ctypes.byref(self.zero), c,
                         self.REAL_64, 0, plan)
                    return made

                made = Sparse(offsets, columns, values, a.cols)
                made.kept = work
                fill()
            except BaseException:
                self("cusparseSpGEMM_destroyDescr", plan)
                self("cusparseDestroySpMat", c)
                raise
            if keep is not None:
                keep.extend([fill, plan, c])
                return made
            # The descriptor refers to the work space until it is destroyed.
            self("cusparseSpGEMM_destroyDescr", plan)
            self("cusparseDestroySpMat", c)
            made.kept = None
            return made

        return run

    def forget(self, keep):
        _, plan, c = keep
        self("cusparseSpGEMM_destroyDescr", plan)
        self("cusparseDestroySpMat", c)

    def all(self, a):
        found = {f"cusparse {name}": self.by(a, *use) for name, use in ALGORITHMS.items()}
        found["cusparse reuse"] = self.reuse(a)
        return found


def by_cupy(a):
    made = []

    def run():
        import cupyx.cusparse
        import cupyx.scipy.sparse

        if not made:
            made.append(cupyx.scipy.sparse.csr_matrix((a.values, a.columns, a.offsets), shape=(a.rows, a.cols)))
        c = cupyx.cusparse.spgemm(made[0], made[0])
        return Sparse(c.indptr, c.indices, c.data, a.cols)

    return run


# --- measuring -------------------------------------------------------------------------------------------------------------


class Bench(products.Bench):
    def __init__(self, options):
        super().__init__(options)
        self.samples, self.limit = 5, options.compare
        if self.peer:
            self.peer = Spgemm()
            xp.cuda.set_allocator(xp.get_default_memory_pool().malloc)

    def tidy(self):
        """Gives the pool's memory back: clinalg wants it too."""
        gc.collect()
        if self.peer:
            try:
                self.wait()
                xp.get_default_memory_pool().free_all_blocks()
            except RuntimeError:  # of a kernel that failed, which its caller has recorded
                pass

    def entries(self, handle):
        info = ObjectInfo()
        self.clinalg("clinalg_object_get_info", handle, ctypes.byref(info))
        return info.entries

    def download(self, handle, cols):
        """C in compressed columns, as (key, values) of `Sparse.sorted`."""
        count = ctypes.c_size_t(self.entries(handle))
        offsets, index, values = numpy.empty(cols + 1, numpy.uint64), numpy.empty(count.value, numpy.uint64), numpy.empty(count.value)
        self.clinalg("clinalg_sparse_read", handle, F64, host(offsets), host(index), host(values), ctypes.byref(count))
        key = to_device(index.view(numpy.int64))
        key += rows_of(to_device(offsets.view(numpy.int64))) * cols
        return on_host(key), values

    def times(self, c, x):
        u, v = self.clinalg.vector(x), self.clinalg.vector(numpy.full(x.size, math.nan))
        try:
            self.clinalg.mv(c, u, v)()
            return self.clinalg.read(v, x.size)
        finally:
            self.clinalg.release(u, v)

    def ours(self, line, matrix, x):
        """Times clinalg; returns what is to be compared: (key, values) or C x."""
        handle = None
        try:
            handle, _ = self.clinalg.csr(matrix)

            def run():
                self.clinalg.release(self.clinalg.made("clinalg_sparse_multiply", handle, handle))

            start = time.perf_counter()
            made = self.clinalg.made("clinalg_sparse_multiply", handle, handle)
            self.clinalg.finish()
            line["first_seconds"] = time.perf_counter() - start
            line["explanation"] = self.clinalg.explain(made)
            answer = None
            try:
                line["entries_of"]["clinalg"] = count = self.entries(made)
                answer = self.download(made, matrix.cols) if count <= self.limit else self.times(made, x)
            except (RuntimeError, MemoryError) as error:
                line["compared"]["clinalg"] = reason(error)
            finally:
                self.clinalg.release(made)
            line["seconds"]["clinalg"] = self.seconds(run, self.clinalg.finish)
            return answer
        except RuntimeError as error:
            line["failed"]["clinalg"] = reason(error)
        finally:
            if handle is not None:
                self.clinalg.release(handle)
        return None

    def compare(self, line, key, answer, wanted):
        """Both are (key, values); a difference of the patterns is an infinite error."""
        (where, values), wanted = map(to_device, answer), tuple(map(to_device, wanted))
        same = where.size == wanted[0].size and bool((where == wanted[0]).all())
        scale = float(abs(wanted[1]).max()) if wanted[1].size else 1.0
        line["errors"][key] = float(abs(values - wanted[1]).max()) / scale if same and values.size else 0.0 if same else math.inf
        line["compared"][key] = "entries, pattern, values"

    def probe(self, line, key, product, twice, entries):
        """The same through products with a vector and the number of entries, if that is known from another result."""
        error = float(abs(to_device(product) - twice).max() / abs(twice).max())
        line["errors"][key] = error if entries is None or line["entries_of"][key] == entries else math.inf
        line["compared"][key] = "C x with A (A x)" + ("" if entries is None else ", number of entries")

    def one(self, name, matrix):
        lengths = numpy.diff(matrix.offsets)
        count = int(lengths[matrix.columns].sum())
        line = {"matrix": name, "rows": matrix.rows, "entries": int(matrix.values.size), "products": count, "first_seconds": None,
                "seconds": {}, "entries_of": {}, "errors": {}, "compared": {}, "failed": {}}
        x = numpy.random.RandomState(1).random_sample(matrix.cols) - 0.5
        mine = self.ours(line, matrix, x)
        a = Sparse(to_device(matrix.offsets.astype(numpy.int32)), to_device(matrix.columns), to_device(matrix.values), matrix.cols)
        reference, twice, entries = None, None, None

        def check(key, c):
            """Compares an answer: a `Sparse`, (key, values), or C x of one that is too large."""
            nonlocal reference, twice, entries
            if isinstance(c, Sparse):
                line["entries_of"][key] = int(c.values.size)
            if line["entries_of"][key] <= self.limit:
                answer = c.sorted() if isinstance(c, Sparse) else c
                if reference is not None:
                    return self.compare(line, key, answer, reference)
                c = Sparse.product(*map(to_device, answer), matrix.rows, to_device(x))
            if twice is None:
                twice = a.times(a.times(to_device(x)))
            self.probe(line, key, c.times(to_device(x)) if isinstance(c, Sparse) else c, twice, entries)
            if right(line, key):
                # The first that is right by a product is the reference of the others. It is kept on the host: the peer wants the memory.
                entries = line["entries_of"][key]
                reference = tuple(map(on_host, answer)) if entries <= self.limit else None
            return None

        def measure(key, run, made=None):
            try:
                if made is None:
                    made = run()
                self.wait()
                try:
                    check(key, made)
                except Exception as error:  # no memory for it beside C
                    line["compared"][key] = reason(error)
                del made
                line["seconds"][key] = self.seconds(run, self.wait)
            except Exception as error:  # no memory, a status of cuSPARSE, or a number of entries beyond 32 bits
                line["seconds"].pop(key, None)
                line["failed"][key] = reason(error)
            self.tidy()

        if self.peer:
            for key, run in (self.peer.all(a) | {"cupy spgemm": by_cupy(a)}).items():
                measure(key, run)
            if "cusparse reuse" in line["seconds"]:
                keep = []
                try:
                    made = self.peer.reuse(a, keep)()
                    measure(f"cusparse reuse, {VALUES_ONLY}", keep[0], made)
                    del made
                except Exception as error:
                    line["failed"][f"cusparse reuse, {VALUES_ONLY}"] = reason(error)
                if keep:
                    self.peer.forget(keep)
                del keep
                self.tidy()
        else:
            self.by_scipy(line, a, check)
        if mine is not None:
            try:
                check("clinalg", mine)
            except Exception as error:  # no memory for it
                line["compared"]["clinalg"] = reason(error)
        known = [line["entries_of"][key] for key in line["seconds"] if key in line["entries_of"]]
        line["entries_c"] = known[0] if known else None
        line["bytes"] = None if not known else 12 * (line["entries"] + known[0]) + 8 * (matrix.rows + 1)
        return line

    @staticmethod
    def by_scipy(line, a, check):
        try:
            import scipy.sparse
        except ImportError:
            return
        matrix = scipy.sparse.csr_array((a.values, a.columns, a.offsets), shape=(a.rows, a.cols))
        start = time.perf_counter()
        c = matrix @ matrix
        line["seconds"]["scipy"] = time.perf_counter() - start
        check("scipy", Sparse(c.indptr, c.indices, c.data, a.cols))


# --- tables ----------------------------------------------------------------------------------------------------------------


def right(line, key):
    """Whether an answer was compared and is right up to rounding."""
    return line["errors"].get(key, math.inf) < TOLERANCE


def peers(line):
    """The times of the peer's right answers."""
    return {key: s for key, s in line["seconds"].items() if key != "clinalg" and VALUES_ONLY not in key and key != "scipy" and right(line, key)}


def ratio(line):
    """The time of the peer's best algorithm over ours."""
    best = min(peers(line).values(), default=math.nan)
    return best / line["seconds"].get("clinalg", math.nan)


def show(line, bandwidth):
    ours, found = line["seconds"].get("clinalg", math.nan), peers(line)
    best = min(found, key=found.get, default=None)
    rate = 2e-9 * line["products"] / ours
    moved = (line["bytes"] or math.nan) / ours
    share = f"{100 * moved / bandwidth:5.1f}%" if bandwidth else "     -"
    print(f"{line['matrix']:<24} {line['entries']:>9} {line['products']:>12} {line['entries_c'] or '-':>11} {1e3 * ours:9.3f} {rate:8.2f} "
          f"{1e-9 * moved:7.1f} {share} {1e3 * found[best] if best else math.nan:9.3f} {ratio(line):6.2f}  {best or ''}", flush=True)
    others = ", ".join(f"{key.removeprefix('cusparse ')} {1e3 * s:.3f}" for key, s in line["seconds"].items() if key not in ("clinalg", best))
    if others:
        print(f"    ms: {others}")
    for key, message in line["failed"].items():
        print(f"    {key} failed: {message}")
    for key in line["seconds"]:
        if key not in line["errors"]:
            print(f"    {key} NOT COMPARED: {line['compared'].get(key)}")
        elif not right(line, key):
            print(f"    {key} WRONG: {line['errors'][key]:.1e}, {line['compared'][key]}")
    sys.stdout.flush()


def summary(lines):
    ratios = {line["matrix"]: ratio(line) for line in lines}
    ratios = {name: r for name, r in ratios.items() if not math.isnan(r)}
    if ratios:
        worst = min(ratios, key=ratios.get)
        mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
        print(f"worst {ratios[worst]:.2f} ({worst}), geometric mean {mean:.2f} of {len(ratios)} matrices")
    return any(not right(line, "clinalg") for line in lines if "clinalg" in line["seconds"])


def heading():
    print(f"{'C = A A':<24} {'entries A':>9} {'products':>12} {'entries C':>11} {'ours ms':>9} {'GFLOP/s':>8} {'GB/s':>7} {'copy':>6} {'peer ms':>9} "
          f"{'ratio':>6}  best of the peer")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("matrices", nargs="*", metavar="MATRIX", help="only those whose names contain one of these")
    parser.add_argument("--library", default=compare_gpu.ROOT / "target/release/libclinalg.so", help="the C library")
    parser.add_argument("--device", default="NVIDIA", help="the OpenCL device, by index or part of its name")
    parser.add_argument("--size", choices=["small", "large"], default="large")
    parser.add_argument("--compare", type=int, default=100_000_000, metavar="ENTRIES", help="of C, up to which pattern and values are compared")
    parser.add_argument("--out", metavar="FILE.jsonl", help="where the raw lines go, behind what is there")
    parser.add_argument("--show", nargs="+", type=pathlib.Path, metavar="FILE.jsonl", help="print the table of earlier runs")
    options = parser.parse_args()
    if options.show:
        every = [json.loads(line) for path in options.show for line in path.read_text().splitlines()]
        bandwidth, lines = None, [line for line in every if "matrix" in line]
        heading()
        for line in every:
            if "matrix" in line:
                show(line, bandwidth)
            else:
                bandwidth = line.get("copy_bandwidth", bandwidth)
        return summary(lines)
    os.environ.setdefault("CLINALG_DEVICE", options.device)
    bench, lines, bandwidth = Bench(options), [], None
    raw = open(options.out, "a", encoding="utf-8") if options.out else None

    def record(line):
        if raw:
            raw.write(json.dumps(line) + "\n")
            raw.flush()

    def facts():
        about = {"device": options.device, "clinalg": bench.clinalg.version}
        if bench.peer:
            name = xp.cuda.runtime.getDeviceProperties(0)["name"].decode()
            about |= {"device": name, "cusparse": bench.peer.version, "cupy": xp.__version__, "copy_bandwidth": bench.copy_bandwidth()}
            bench.tidy()
            print(f"{name}, cuSPARSE {about['cusparse']}, CuPy {about['cupy']}, copy {about['copy_bandwidth'] / 1e9:.0f} GB/s", flush=True)
        record(about)
        return about.get("copy_bandwidth")

    bandwidth = facts()
    heading()
    for name, make in matrices(options.size == "large").items():
        if options.matrices and not any(part in name for part in options.matrices):
            continue
        try:
            matrix = make()
        except RuntimeError as error:
            # After a kernel of the peer has failed, nothing more runs in its context.
            print(f"{name} and all that follow: not made, {reason(error)}")
            record({"stopped": name, "reason": reason(error)})
            return summary(lines)
        bench.tidy()
        line = bench.one(name, matrix)
        lines.append(line)
        show(line, bandwidth)
        record(line)
        del matrix
        bench.tidy()
    facts()
    return summary(lines)


if __name__ == "__main__":
    sys.exit(main())
