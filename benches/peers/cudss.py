#!/usr/bin/env python3
"""cuDSS on the systems of benches/direct.rs, by phases: one line of JSON per system.

    python3 benches/peers/cudss.py LIBCUDSS [THREADING_LAYER] SYSTEM N [SYSTEM N]...

Needs CuPy and SciPy, and the libraries of the wheel nvidia-cudss-cu13. With the threading layer (libcudss_mtlayer_gomp.so.1)
cuDSS orders on all cores of the host. SYSTEM and N are those of benches/direct.rs.
"""

import ctypes
import json
import sys
import time

import cupy
import numpy as np
import scipy.sparse as sp

INT_32, REAL_64, COMPLEX_64 = 10, 1, 5
GENERAL, SPD = 0, 3
FULL, LOWER = 0, 1
ANALYSIS, FACTORS, FACTORS_AGAIN, SOLVE = 3, 4, 8, 0x3F0


def stencil(n, axes, lower, upper):
    line = sp.diags([np.full(n - 1, lower), np.full(n, 2.0), np.full(n - 1, upper)], [-1, 0, 1], format="csr")
    total = sp.csr_matrix((n**axes, n**axes))
    for axis in range(axes):
        total = total + sp.kron(sp.identity(n ** (axes - 1 - axis)), sp.kron(line, sp.identity(n**axis)))
    return total.tocsr()


def elasticity(n):
    def line(middle, side):
        return sp.diags([np.full(n - 1, side), np.full(n, middle), np.full(n - 1, side)], [-1, 0, 1])

    one = sp.identity(n)
    along, across = sp.kron(one, line(0.0, -1.0)), sp.kron(line(0.0, -1.0), one)
    middle = 8.0 * sp.identity(n * n)
    up = sp.diags([np.ones(n - 1)], [1], shape=(n, n))
    mixed = 0.25 * (sp.kron(up, up) + sp.kron(up.T, up.T)) - 0.25 * (sp.kron(up.T, up) + sp.kron(up, up.T))
    blocks = [[middle + 3.0 * along + across, mixed], [mixed, middle + along + 3.0 * across]]
    matrix, order = sp.bmat(blocks, format="csr"), np.arange(2 * n * n).reshape(2, -1).T.ravel()
    return matrix[order][:, order].tocsr()


def system(name, n):
    if name == "helmholtz2":
        shift = (20.0 / n) ** 2
        return (stencil(n, 2, -1.0, -1.0) - (shift - 0.1j * shift) * sp.identity(n * n)).tocsr()
    return {
        "poisson2": lambda: stencil(n, 2, -1.0, -1.0),
        "poisson3": lambda: stencil(n, 3, -1.0, -1.0),
        "flow2": lambda: stencil(n, 2, -1.4, -0.6),
        "flow3": lambda: stencil(n, 3, -1.4, -0.6),
        "elasticity2": lambda: elasticity(n),
    }[name]()


class Solver:
    def __init__(self, library, threads, a, definite):
        self.lib = ctypes.CDLL(library)
        self.handle, self.config, self.data, self.matrix = (ctypes.c_void_p() for _ in range(4))
        self.check("cudssCreate", ctypes.byref(self.handle))
        if threads:
            self.check("cudssSetThreadingLayer", self.handle, threads.encode())
        self.check("cudssConfigCreate", ctypes.byref(self.config))
        self.check("cudssDataCreate", self.handle, ctypes.byref(self.data))
        stored = (sp.tril(a, format="csr") if definite else a).sorted_indices()
        self.value_type = COMPLEX_64 if np.iscomplexobj(a.data) else REAL_64
        self.arrays = [cupy.asarray(stored.indptr.astype(np.int32)), cupy.asarray(stored.indices.astype(np.int32)), cupy.asarray(stored.data)]
        rows, entries = ctypes.c_int64(a.shape[0]), ctypes.c_int64(stored.nnz)
        offsets, columns, values = (ctypes.c_void_p(array.data.ptr) for array in self.arrays)
        kind, view = (SPD, LOWER) if definite else (GENERAL, FULL)
        self.check("cudssMatrixCreateCsr", ctypes.byref(self.matrix), rows, rows, entries, offsets, None, columns, values,
                   INT_32, INT_32, self.value_type, kind, view, 0)

    def check(self, name, *arguments):
        status = getattr(self.lib, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name}: status {status}")

    def dense(self, array):
        made, (rows, cols) = ctypes.c_void_p(), array.shape
        self.check("cudssMatrixCreateDn", ctypes.byref(made), ctypes.c_int64(rows), ctypes.c_int64(cols), ctypes.c_int64(rows),
                   ctypes.c_void_p(array.data.ptr), self.value_type, 0)
        return made

    def run(self, phase, x, b):
        cupy.cuda.Device().synchronize()
        begin = time.perf_counter()
        self.check("cudssExecute", self.handle, phase, self.config, self.data, self.matrix, x, b)
        cupy.cuda.Device().synchronize()
        return time.perf_counter() - begin


def measure(library, threads, name, n, shown):
    a = system(name, n)
    definite = name in ("poisson2", "poisson3", "elasticity2")
    solver = Solver(library, threads, a, definite)
    b = (1.0 + np.sin(np.arange(a.shape[0]))).astype(a.dtype)
    right = cupy.asfortranarray(cupy.asarray(np.repeat(b[:, None], 64, axis=1)))
    found = cupy.zeros_like(right, order="F")
    one, of_one = solver.dense(found[:, :1]), solver.dense(right[:, :1])
    many, of_many = solver.dense(found), solver.dense(right)
    seconds = {"analysis_s": solver.run(ANALYSIS, one, of_one), "factor_s": solver.run(FACTORS, one, of_one)}
    seconds["refactor_s"] = min(solver.run(FACTORS_AGAIN, one, of_one) for _ in range(3))
    seconds["solve_s"] = min(solver.run(SOLVE, one, of_one) for _ in range(5))
    x = found[:, 0].get()
    error = (abs(b - a @ x) / (abs(a) @ abs(x) + abs(b))).max()
    try:
        seconds["solve_64_s"] = min(solver.run(SOLVE, many, of_many) for _ in range(2))
    except RuntimeError as refused:
        seconds["solve_64_s"] = str(refused)
    if shown:
        line = {"system": name, "n": n, "rows": a.shape[0], "nnz": a.nnz, "solver": "cuDSS", "threads": bool(threads), **seconds}
        print(json.dumps({**line, "backward_error": float(error)}), flush=True)


def main():
    arguments = sys.argv[1:]
    library = arguments.pop(0)
    threads = arguments.pop(0) if ".so" in arguments[0] else None
    systems = list(zip(arguments[::2], map(int, arguments[1::2])))
    # What is loaded or compiled at a first call is not measured.
    for name in sorted({name for name, _ in systems}):
        measure(library, threads, name, 12 if name.endswith("3") else 120, False)
    for name, n in systems:
        measure(library, threads, name, n, True)


main()
