#!/usr/bin/env python3
"""Products with 16 unstructured and structured sparse matrices beside cuSPARSE, and with others, most of which were not seen when the
rules were chosen, in one process, in double precision.

    cargo build --release -p clinalg-capi
    python3 benches/products.py                                # on an NVIDIA GPU; needs NumPy, CuPy and cuSPARSE
    python3 benches/products.py --size small --device 0        # on any device, without CuPy: no peer
    python3 benches/products.py --show FILE.jsonl ...          # the table of earlier runs

The matrices are made here from fixed seeds. Each is multiplied in the format that its upload chooses and in every other one that it
allows, and by each algorithm of cuSPARSE: with a fresh descriptor, after the preprocess call, and in an order that the documentation
does not promise (preprocessed for CSR_ALG1, multiplied by CSR_ALG2). Bytes are 12 per entry, 12 per row and 8 per column whatever
the format stores. A time is the median of batches of calls; every answer is compared with a product by NumPy or CuPy. `search` is the
time of the analysis at upload in products. One JSON line per matrix goes to --out; the last lines of the output are the worst ratio
and the geometric mean over the 16 matrices and over the others. With several columns, bytes are those of the matrix once and of X and Y.
"""

import argparse
import json
import math
import os
import pathlib
import re
import statistics
import sys
import time

import numpy

import compare_gpu
from compare_gpu import UNDOCUMENTED, Clinalg, Cusparse, Matrix, timed

try:
    import cupy as xp
except ImportError:
    xp = numpy

FORMATS = {"csr": 1, "balanced": 2, "dia": 3, "bsr": 5, "sell": 6}  # clinalg_format
FORCED = ("csr", "balanced", "bsr", "sell")
WINDOW = 512  # of numberings that are shuffled locally
# Multiplied with four columns as well.
SEVERAL = ("27-point", "random, 16 per row", "elasticity, 3 x 3", "power law", "triangles, shuffled in windows", "R-MAT", "rows of 80", "wide",
           "Poisson lengths, local", "R-MAT, 6 per row")


def on_host(array):
    return array.get() if hasattr(array, "get") else array


def to_device(array):
    return xp.asarray(array)


# --- the matrices ----------------------------------------------------------------------------------------------------------


def rows_of(offsets):
    """The row of every entry."""
    return xp.searchsorted(offsets[1:], xp.arange(int(offsets[-1])), side="right")


def compressed(rows, cols, row, column, seed):
    """Entries with random values at these places in any order; places named twice count once."""
    key = xp.unique(row.astype(xp.int64) * cols + column)
    row = key // cols
    column = (key - row * cols).astype(xp.int32)
    offsets = xp.zeros(rows + 1, xp.int64)
    offsets[1:] = xp.cumsum(xp.bincount(row, minlength=rows))
    values = xp.random.RandomState(seed).random_sample(int(column.size)) - 0.5
    return Matrix(*(on_host(a) for a in (offsets, column, values)), cols=cols)


def neighbours(shape, steps):
    """Row and column of every pair of points of a grid that lie one of `steps` apart."""
    points = math.prod(shape)
    point, rows, columns = xp.arange(points, dtype=xp.int32), [], []
    for step in steps:
        inside, rest, stride, move = xp.ones(points, bool), point, 1, 0
        for length, by in zip(reversed(shape), reversed(step)):
            at = rest % length + by
            inside &= (at >= 0) & (at < length)
            rest, move, stride = rest // length, move + by * stride, stride * length
        rows.append(point[inside])
        columns.append(point[inside] + xp.int32(move))
    return xp.concatenate(rows), xp.concatenate(columns)


def grid(shape, steps, seed, window=None, size=1):
    """Neighbours on a grid, numbered at random within windows of the natural order, with dense blocks for entries."""
    points = math.prod(shape)
    row, column = neighbours(shape, steps)
    if window is not None:
        key = xp.random.RandomState(seed).random_sample(points) + xp.arange(points) // window
        place = xp.empty(points, xp.int32)
        place[xp.argsort(key)] = xp.arange(points, dtype=xp.int32)
        row, column = place[row], place[column]
    if size > 1:
        inner = xp.arange(size, dtype=xp.int32)
        row = (row[:, None, None] * size + inner[None, :, None] + 0 * inner[None, None, :]).ravel()
        column = (column[:, None, None] * size + inner[None, None, :] + 0 * inner[None, :, None]).ravel()
    return compressed(points * size, points * size, row, column, seed + 1)


def lengths_of(lengths, cols, seed, reach=None):
    """Rows of these lengths whose columns are drawn over the whole width, or over `reach` columns around the diagonal."""
    rows, random = int(lengths.size), xp.random.RandomState(seed)
    offsets = xp.zeros(rows + 1, xp.int64)
    offsets[1:] = xp.cumsum(lengths)
    row = rows_of(offsets)
    within = xp.arange(row.size) - offsets[row]
    width = (reach or cols) / xp.maximum(lengths[row], 1)
    column = ((within + random.random_sample(int(row.size))) * width).astype(xp.int64)
    if reach is not None:
        column += xp.clip(row * (cols / rows) - reach // 2, 0, cols - reach).astype(xp.int64)
    return compressed(rows, cols, row, xp.minimum(column, cols - 1), seed + 1)


def power_law(rows, longest, seed, exponent=1.3):
    uniform = xp.random.RandomState(seed).random_sample(rows)
    return xp.minimum(2 * (1 - uniform) ** (-1 / exponent), longest).astype(xp.int64)


def poisson(rows, mean, seed):
    """Row lengths of a mesh of irregular triangles or of a random graph."""
    return 1 + xp.random.RandomState(seed).poisson(mean - 1, rows).astype(xp.int64)


def between(rows, low, high, seed):
    return xp.random.RandomState(seed).randint(low, high + 1, rows).astype(xp.int64)


def rmat(scale, per_row, seed):
    random, count = xp.random.RandomState(seed), per_row << scale
    row, column = xp.zeros(count, xp.int64), xp.zeros(count, xp.int64)
    for _ in range(scale):
        draw = random.random_sample(count)
        down, right = draw >= 0.76, ((draw >= 0.57) & (draw < 0.76)) | (draw >= 0.95)
        row, column = 2 * row + down, 2 * column + right
    return compressed(1 << scale, 1 << scale, row, column, seed + 1)


def arrow(rows):
    at, zero = xp.arange(rows), xp.zeros(rows, xp.int64)
    return compressed(rows, rows, xp.concatenate([at, at, zero]), xp.concatenate([at, zero, at]), 41)


def dense_rows(rows, per_row, dense):
    """Short local rows and a few that are full."""
    short = lengths_of(xp.full(rows, per_row), rows, 43, 4000)
    full = xp.arange(dense) * (rows // dense) + 17
    row = xp.concatenate([rows_of(to_device(short.offsets)), xp.repeat(full, rows)])
    column = xp.concatenate([to_device(short.columns), xp.tile(xp.arange(rows), dense)])
    return compressed(rows, rows, row, column, 44)


CUBE = [(i, j, k) for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1)]
SQUARE = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)]
CROSS = [(-1, 0), (0, -1), (0, 0), (0, 1), (1, 0)]
# The vertices that share a tetrahedron (Kuhn 1960) or a triangle.
TETRAHEDRA = [s for s in CUBE if min(s) >= 0 or max(s) <= 0]
TRIANGLES = [s for s in SQUARE if min(s) >= 0 or max(s) <= 0]


def matrices(large):
    def of(small, big):
        return big if large else small

    million = of(4_000, 1_000_000)
    return {
        "5-point": lambda: grid((of(65, 4097),) * 2, CROSS, 1),
        "27-point": lambda: grid((of(16, 150),) * 3, CUBE, 2),
        "triangles, shuffled in windows": lambda: grid((of(65, 2049),) * 2, TRIANGLES, 3, WINDOW),
        "tetrahedra, shuffled in windows": lambda: grid((of(16, 160),) * 3, TETRAHEDRA, 4, WINDOW),
        "tetrahedra, shuffled": lambda: grid((of(16, 110),) * 3, TETRAHEDRA, 5, 1 << 40),
        "elasticity, 3 x 3": lambda: grid((of(7, 60),) * 3, CUBE, 6, size=3),
        "shell, 6 x 6": lambda: grid((of(12, 380),) * 2, SQUARE, 7, size=6),
        "random, 16 per row": lambda: lengths_of(xp.full(4 * million, 16), 4 * million, 8),
        "power law": lambda: lengths_of(power_law(4 * million, of(900, 204_000), 9), 4 * million, 10),
        "R-MAT": lambda: rmat(of(12, 20), 16, 11),
        "rows of 80": lambda: lengths_of(xp.full(million // 2, 80), million // 2, 12, of(300, 6000)),
        "arrow": lambda: arrow(4 * million),
        "dense rows": lambda: dense_rows(2 * million, 7, 8),
        "empty rows": lambda: lengths_of(xp.where(xp.arange(8 * million) % 10 == 3, 8, 0), 8 * million, 14, of(2000, 40_000)),
        "tall": lambda: lengths_of(xp.full(8 * million, 4), of(500, 20_000), 16),
        "wide": lambda: lengths_of(xp.full(of(20, 10_000), of(100, 3000)), 8 * million, 18),
    }


def held_out(large):
    """Matrices most of which were not seen when the rules were chosen."""

    def of(small, big):
        return big if large else small

    million = of(4_000, 1_000_000)
    return {
        "triangles, shuffled in windows of 4096": lambda: grid((of(65, 1500),) * 2, TRIANGLES, 53, 4096),
        "tetrahedra 180^3, windows of 2048": lambda: grid((of(16, 180),) * 3, TETRAHEDRA, 54, 2048),
        "Poisson lengths, local": lambda: lengths_of(poisson(3 * million, 7, 55), 3 * million, 56, of(900, 30_000)),
        "rows of 4 to 40, local": lambda: lengths_of(between(million, 4, 40, 57), million, 58, of(900, 9000)),
        "rows of 300, local": lambda: lengths_of(xp.full(million // 8, 300), million // 8, 59, of(400, 20_000)),
        "power law, local": lambda: lengths_of(power_law(3 * million, of(400, 30_000), 60, 1.6), 3 * million, 61, of(900, 40_000)),
        "power law, steeper": lambda: lengths_of(power_law(3 * million, of(900, 90_000), 62, 1.8), 3 * million, 63),
        "R-MAT, 6 per row": lambda: rmat(of(12, 21), 6, 64),
        "random, 5 to 9 per row": lambda: lengths_of(between(3 * million, 5, 9, 65), 3 * million, 66),
        "8 to 16 per row, local": lambda: lengths_of(between(2 * million, 8, 16, 68), 2 * million, 69, of(900, 9000)),
        "27 per row, near": lambda: lengths_of(xp.full(million, 27), million, 70, 500),
        "12 per row, 60 000 columns": lambda: lengths_of(xp.full(2 * million, 12), 2 * million, 71, of(2000, 60_000)),
        "rows of 150, local": lambda: lengths_of(between(million // 10, 140, 160, 72), million // 10, 73, of(400, 12_000)),
        "1 to 100 per row, local": lambda: lengths_of(between(million // 2, 1, 100, 111), million // 2, 112, of(900, 9000)),
        "0 to 40 per row, local": lambda: lengths_of(between(million, 0, 40, 113), million, 114, of(900, 20_000)),
        "0 to 10 per row, local": lambda: lengths_of(between(3 * million, 0, 10, 121), 3 * million, 122, of(900, 30_000)),
        "Poisson lengths": lambda: lengths_of(poisson(3 * million, 7, 115), 3 * million, 116),
        "short Poisson lengths, local": lambda: lengths_of(poisson(4 * million, 3, 117), 4 * million, 118, of(900, 9000)),
        "tetrahedra 140^3, shuffled": lambda: grid((of(16, 140),) * 3, TETRAHEDRA, 105, 1 << 40),
        # Added after the rules of 26 November 2026.
        "triangles, shuffled": lambda: grid((of(65, 1500),) * 2, TRIANGLES, 131, 1 << 40),
        "9-point, shuffled in windows of 1024": lambda: grid((of(65, 2000),) * 2, SQUARE, 132, 1024),
        "2 to 60 per row, local": lambda: lengths_of(between(million // 2, 2, 60, 133), million // 2, 134, of(900, 15_000)),
        "random, 32 per row": lambda: lengths_of(xp.full(million, 32), million, 135),
        "R-MAT, 32 per row": lambda: rmat(of(12, 19), 32, 136),
        "half of the rows empty": lambda: lengths_of(xp.where(xp.arange(4 * million) % 2 == 1, 9, 0), 4 * million, 67, of(2000, 50_000)),
    }


# --- measuring -------------------------------------------------------------------------------------------------------------


class Bench:
    def __init__(self, options):
        self.samples = 9
        self.clinalg = Clinalg(options.library, options.device)
        self.peer = None
        if xp.__name__ == "cupy":
            xp.cuda.set_allocator(None)  # plain allocations, given back at once: clinalg wants the memory too
            self.peer = Cusparse()

    def wait(self):
        if self.peer:
            xp.cuda.runtime.deviceSynchronize()

    def seconds(self, run, wait):
        return statistics.median(timed(run, wait, self.samples))

    def copy_bandwidth(self):
        if not self.peer:
            return None
        x = xp.random.random(1 << 27)
        y = xp.empty_like(x)
        move = xp.cuda.runtime.memcpyAsync
        return 2 * x.nbytes / self.seconds(lambda: move(y.data.ptr, x.data.ptr, x.nbytes, 3, 0), self.wait)  # 3: device to device

    @staticmethod
    def product(matrix, x):
        """A x for each of the vectors in the rows of x."""
        columns, values = to_device(matrix.columns), to_device(matrix.values)
        row = rows_of(to_device(matrix.offsets))
        return [on_host(xp.bincount(row, weights=values * to_device(v)[columns], minlength=matrix.rows)) for v in x]

    def one(self, name, matrix):
        x = numpy.random.RandomState(1).random_sample(matrix.cols) - 0.5
        want = self.product(matrix, [x])[0]
        scale = abs(want).max()
        start = time.perf_counter()
        handle, _ = self.clinalg.csr(matrix)
        self.clinalg.finish()
        line = {"matrix": name, "rows": matrix.rows, "cols": matrix.cols, "entries": int(matrix.values.size), "bytes": matrix.bytes(),
                "upload_seconds": time.perf_counter() - start, "explanation": self.clinalg.explain(handle), "seconds": {}, "errors": {}}
        u, v = self.clinalg.vector(x), self.clinalg.vector(want * float("nan"))
        run = self.clinalg.mv(handle, u, v)

        def measure(key):
            run()
            line["errors"][key] = float(abs(self.clinalg.read(v, matrix.rows) - want).max() / scale)
            line["seconds"][key] = self.seconds(run, self.clinalg.finish)

        measure("clinalg")
        for form in FORCED:
            try:
                self.clinalg("clinalg_sparse_set_format", handle, FORMATS[form])
            except RuntimeError:
                continue
            line[f"explanation {form}"] = self.clinalg.explain(handle)
            measure(f"clinalg {form}")
        self.clinalg.release(handle, u, v)
        if self.peer:
            dx, dy = to_device(x), xp.empty(matrix.rows)
            for key, call in self.peer.products(matrix, dx, dy).items():
                dy.fill(float("nan"))
                call()
                self.wait()
                line["errors"][key] = float(abs(on_host(dy) - want).max() / scale)
                line["seconds"][key] = self.seconds(call, self.wait)
        return line

    def several(self, name, matrix, count):
        x = numpy.random.RandomState(2).random_sample((count, matrix.cols)) - 0.5
        want = numpy.array(self.product(matrix, x))
        handle, _ = self.clinalg.csr(matrix)
        u, v = self.clinalg.dense(x), self.clinalg.dense(want * float("nan"))
        run = self.clinalg.mm(handle, u, v)
        run()
        error = abs(self.clinalg.read(v, want.size) - want.ravel()).max() / abs(want).max()
        line = {"matrix": f"{name}; {count} columns", "columns": count, "rows": matrix.rows, "cols": matrix.cols, "entries": int(matrix.values.size),
                "bytes": matrix.bytes() + 8 * (count - 1) * (matrix.rows + matrix.cols), "explanation": self.clinalg.explain(handle),
                "seconds": {"clinalg": self.seconds(run, self.clinalg.finish)}, "errors": {"clinalg": float(error)}}
        self.clinalg.release(handle, u, v)
        if self.peer:
            dx, dy = to_device(x), xp.empty((count, matrix.rows))
            for key, call in self.peer.many_products(matrix, dx, dy).items():
                call()
                self.wait()
                line["errors"][key] = float(abs(on_host(dy) - want).max() / abs(want).max())
                line["seconds"][key] = self.seconds(call, self.wait)
        return line


def peers(line, undocumented):
    return {key: s for key, s in line["seconds"].items() if key.startswith("cusparse") and (UNDOCUMENTED in key) == undocumented
            and line["errors"][key] < 1e-9}


def ratio(line, ours="clinalg"):
    """The time of cuSPARSE's best use over ours."""
    best = min([*peers(line, False).values(), *peers(line, True).values()], default=math.nan)
    return best / line["seconds"][ours]


def show(line):
    def rate(seconds):
        return f"{line['bytes'] / seconds / 1e9:6.0f}"

    formats = {key.removeprefix("clinalg "): s for key, s in line["seconds"].items() if key.startswith("clinalg ")}
    forms = " ".join(f"{key} {rate(s).strip()}" for key, s in formats.items())
    fresh, order = (min(peers(line, which).values(), default=math.nan) for which in (False, True))
    milliseconds = re.search(r"analysis took ([0-9.]+) ms", line["explanation"])
    search = float(milliseconds[1]) / 1e3 / line["seconds"]["clinalg"] if milliseconds else math.nan
    chosen = line["explanation"].split(":")[0]
    wrong = [key for key, error in line["errors"].items() if not error < 1e-9]
    print(f"{line['matrix']:<32} {line['entries']:>10} {chosen:<9} {rate(line['seconds']['clinalg'])} {rate(fresh)} {rate(order)} {ratio(line):5.2f} "
          f"{search:6.1f}  {forms}{'  WRONG: ' + ', '.join(wrong) if wrong else ''}", flush=True)


def summary(lines):
    kinds = {"one column": (False, False), "several": (False, True), "held out": (True, False), "held out, several": (True, True)}
    for title, kind in kinds.items():
        chosen = [line for line in lines if (line.get("held_out", False), "columns" in line) == kind]
        ratios = {line["matrix"]: ratio(line) for line in chosen}
        ratios = {name: r for name, r in ratios.items() if not math.isnan(r)}
        if not ratios:
            continue
        worst = min(ratios, key=ratios.get)
        mean = math.exp(statistics.fmean(map(math.log, ratios.values())))
        print(f"{title}: worst {ratios[worst]:.2f} ({worst}), geometric mean {mean:.2f} of {len(ratios)} matrices")
        best = [max(ratio(line, key) for key in line["seconds"] if key.startswith("clinalg")) for line in chosen if line["matrix"] in ratios]
        print(f"  by the best format of each: worst {min(best):.2f}, geometric mean {math.exp(statistics.fmean(map(math.log, best))):.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("matrices", nargs="*", metavar="MATRIX", help="only those whose names contain one of these")
    parser.add_argument("--library", default=compare_gpu.ROOT / "target/release/libclinalg.so", help="the C library")
    parser.add_argument("--device", default="NVIDIA", help="the OpenCL device, by index or part of its name")
    parser.add_argument("--size", choices=["small", "large"], default="large")
    parser.add_argument("--out", metavar="FILE.jsonl", help="where the raw lines go, behind what is there")
    parser.add_argument("--show", nargs="+", type=pathlib.Path, metavar="FILE.jsonl", help="print the table of earlier runs")
    options = parser.parse_args()
    print(f"{'GB/s (12 nnz + 12 rows + 8 cols)':<32} {'entries':>10} {'format':<9} {'ours':>6} {'cuSP.':>6} {'order':>6} {'ratio':>5} {'search':>6}  formats")
    if options.show:
        lines = [json.loads(line) for path in options.show for line in path.read_text().splitlines()]
        lines = [line for line in lines if "matrix" in line]
        for line in lines:
            show(line)
        return summary(lines)
    os.environ.setdefault("CLINALG_DEVICE", options.device)
    bench, lines = Bench(options), []
    raw = open(options.out, "a", encoding="utf-8") if options.out else None

    def record(line):
        lines.append(line)
        show(line)
        if raw:
            raw.write(json.dumps(line) + "\n")
            raw.flush()

    def facts():
        if bench.peer:
            name = xp.cuda.runtime.getDeviceProperties(0)["name"].decode()
            about = {"device": name, "cusparse": bench.peer.version, "clinalg": bench.clinalg.version, "copy_bandwidth": bench.copy_bandwidth()}
            print(f"{name}, cuSPARSE {about['cusparse']}, copy {about['copy_bandwidth'] / 1e9:.0f} GB/s", flush=True)
            if raw:
                raw.write(json.dumps(about) + "\n")

    facts()
    large = options.size == "large"
    for held, makers in (False, matrices(large)), (True, held_out(large)):
        for name, make in makers.items():
            if options.matrices and not any(part in name for part in options.matrices):
                continue
            matrix, kind = make(), {"held_out": held}
            record(bench.one(name, matrix) | kind)
            if name in SEVERAL:
                record(bench.several(name, matrix, 4) | kind)
            del matrix
    facts()
    summary(lines)


if __name__ == "__main__":
    sys.exit(main())
