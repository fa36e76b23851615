#!/usr/bin/env python3
"""Orders of calls of cuSPARSE's product that its documentation does not promise: is one of them fast and right?

    for case in a b c d e f g; do python3 benches/peers/cusparse_order.py $case; done

Needs CuPy. The 5-point matrix on 4097^2 points with random values; every case is a process of its own, since some end with an
illegal access. Prints bandwidth (12 bytes per entry, 20 per row) and the largest difference from CuPy's product.
"""

import ctypes
import pathlib
import statistics
import sys

import cupy
import cupyx.scipy.sparse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import compare_gpu  # noqa: E402
from compare_gpu import checked, device  # noqa: E402

ALG1, ALG2 = compare_gpu.CSR_ALGORITHMS["alg1"], compare_gpu.CSR_ALGORITHMS["alg2"]


class Product:
    def __init__(self):
        self.matrix = compare_gpu.five_points(4097, False)
        m = self.matrix
        self.x, self.y = cupy.random.random(m.rows), cupy.empty(m.rows)
        self.cusparse = compare_gpu.Cusparse()
        self.arrays = [cupy.asarray(v) for v in (m.offsets.astype("int32"), m.columns.astype("int32"), m.values)]
        self.description = ctypes.c_void_p()
        c = self.cusparse
        checked(c.lib.cusparseCreateCsr(ctypes.byref(self.description), ctypes.c_int64(m.rows), ctypes.c_int64(m.rows), ctypes.c_int64(m.values.size),
                                        *map(device, self.arrays), c.INDEX_32, c.INDEX_32, c.BASE_ZERO, c.REAL_64), "cusparseCreateCsr")
        self.u, self.v = c.vector(self.x), c.vector(self.y)

    def call(self, name, algorithm, last):
        c = self.cusparse
        arguments = [c.handle, 0, ctypes.byref(c.one), self.description, self.u, ctypes.byref(c.zero), self.v, c.REAL_64, algorithm]
        checked(getattr(c.lib, name)(*arguments, last), name)

    def memory(self, algorithm, more=0):
        length = ctypes.c_size_t()
        self.call("cusparseSpMV_bufferSize", algorithm, ctypes.byref(length))
        return cupy.zeros(max(length.value + more, 8), "u1")

    def preprocess(self, algorithm, work):
        self.call("cusparseSpMV_preprocess", algorithm, device(work))

    def multiply(self, algorithm, work):
        self.call("cusparseSpMV", algorithm, device(work))


def prepared(case):
    """The product, and the call to time."""
    p = Product()
    if case == "d":  # the memory of algorithm 1 for both, none asked for algorithm 2
        work = p.memory(ALG1)
        p.preprocess(ALG1, work)
        return p, lambda: p.multiply(ALG2, work)
    if case == "c":  # one memory, large enough for both
        work = p.memory(ALG1, p.memory(ALG2).size)
        p.preprocess(ALG1, work)
        return p, lambda: p.multiply(ALG2, work)
    first, second = p.memory(ALG1), p.memory(ALG2)
    if case == "e":  # preprocessed for algorithm 2, multiplied by algorithm 1
        p.preprocess(ALG2, second)
        return p, lambda: p.multiply(ALG1, first)
    if case == "f":  # preprocessed for both, algorithm 1 last
        p.preprocess(ALG2, second)
    p.preprocess(ALG1, first)
    if case == "b":  # a product by algorithm 1 in between
        p.multiply(ALG1, first)
    if case == "g":  # much memory that no call has seen
        second = cupy.zeros(1 << 26, "u1")
    return p, lambda: p.multiply(ALG2, second)


def main():
    case = sys.argv[1]
    p, run = prepared(case)
    seconds = statistics.median(compare_gpu.timed(run, cupy.cuda.runtime.deviceSynchronize, 15))
    m = p.matrix
    right = cupyx.scipy.sparse.csr_matrix((p.arrays[2], p.arrays[1], p.arrays[0]), shape=(m.rows, m.rows)) @ p.x
    print(case, f"{m.bytes() / seconds / 1e9:.0f} GB/s", "error", float(abs(right - p.y).max()), flush=True)


if __name__ == "__main__":
    main()
