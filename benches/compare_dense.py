#!/usr/bin/env python3
"""Dense products and factorisations beside cuBLAS and cuSOLVER, in one run.

    cargo build --release -p clinalg --example dense
    python3 benches/compare_dense.py --out benches/results/DATE-h200-dense.json

Peers come through CuPy where it is installed, else through PyTorch; without either only this library is timed. Every number is the median
of the samples, with the smallest and the largest; each sample waits for the device. `--quick` takes fewer sizes. Other tiles and panels:
`clinalg tune --op gemm,lu --dry-run`.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time

def ours(program, operation, n, precision, samples, kernels=False):
    command = [program, operation, str(n), precision, str(samples)] + (["--kernels"] if kernels else [])
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"operation": operation, "n": n, "precision": precision, "failed": done.stderr.strip()[-400:]}
    return json.loads(done.stdout)


class Cupy:
    """cuBLAS and cuSOLVER by CuPy."""

    name = "cupy"

    def __init__(self):
        import cupy
        import cupyx.scipy.linalg

        self.cp, self.linalg = cupy, cupyx.scipy.linalg

    def synchronise(self):
        self.cp.cuda.Device().synchronize()

    def make(self, operation, n, precision):
        cp = self.cp
        kind = {"f32": cp.float32, "f64": cp.float64, "c32": cp.complex64, "c64": cp.complex128}[precision]
        draw = lambda: cp.asfortranarray((cp.random.random((n, n)) * 2 - 1).astype(kind))  # noqa: E731
        a = draw()
        if operation == "gemm":
            b, c = draw(), cp.empty((n, n), kind, order="F")
            return lambda: cp.matmul(a, b, out=c)
        if operation in ("update", "project"):
            from cupy import cublas

            narrow, c = cp.asfortranarray(a[:, :64]), draw()
            if operation == "project":
                few = cp.empty((64, n), kind, order="F")
                return lambda: cublas.gemm("H", "N", narrow, c, few, 1.0, 0.0)
            wide = cp.asfortranarray(a[:64])
            return lambda: cublas.gemm("N", "N", narrow, wide, c, -1.0, 1.0)
        if operation == "lu":
            return lambda: self.linalg.lu_factor(a, overwrite_a=False, check_finite=False)
        if operation == "qr":
            return lambda: cp.linalg.qr(a, mode="raw")
        if operation == "cholesky":
            a = a + a.T.conj() + 2 * n * cp.eye(n, dtype=kind)
            return lambda: cp.linalg.cholesky(a)
        b = draw()
        a = a + 2 * n * cp.eye(n, dtype=kind)
        return lambda: self.linalg.solve_triangular(a, b, lower=True, check_finite=False)


class Torch:
    """cuBLAS and cuSOLVER by PyTorch."""

    name = "torch"

    def __init__(self):
        import torch

        if not torch.cuda.is_available():
            raise ImportError("PyTorch without CUDA")
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cuda.preferred_linalg_library("cusolver")
        self.torch = torch

    def synchronise(self):
        self.torch.cuda.synchronize()

    def make(self, operation, n, precision):
        t = self.torch
        kind = {"f32": t.float32, "f64": t.float64, "c32": t.complex64, "c64": t.complex128}[precision]
        # Column-major, as LAPACK has it.
        draw = lambda: t.randn((n, n), dtype=kind, device="cuda").T.contiguous().T  # noqa: E731
        a = draw()
        if operation == "gemm":
            b, c = draw(), t.empty((n, n), dtype=kind, device="cuda").T
            return lambda: t.matmul(a, b, out=c)
        if operation in ("update", "project"):
            narrow = a[:, :64].T.contiguous().T
            if operation == "project":
                return lambda: t.matmul(narrow.mH, a)
            wide, c = a[:64].T.contiguous().T, draw()
            return lambda: t.addmm(c, narrow, wide, alpha=-1)
        if operation == "lu":
            return lambda: t.linalg.lu_factor(a)
        if operation == "qr":
            return lambda: t.geqrf(a)
        if operation == "cholesky":
            a = a + a.mH + 2 * n * t.eye(n, dtype=kind, device="cuda")
            return lambda: t.linalg.cholesky(a)
        b = draw()
        a = a.tril() + 2 * n * t.eye(n, dtype=kind, device="cuda")
        return lambda: t.linalg.solve_triangular(a, b, upper=False)


def peer():
    for library in (Cupy, Torch):
        try:
            return library()
        except Exception as error:  # noqa: BLE001: whatever is wrong with it, another one or none serves
            print(f"{library.__name__}: {error}", file=sys.stderr)
    return None


def theirs(library, operation, n, precision, samples):
    run = library.make(operation, n, precision)
    seconds = []
    for sample in range(samples + 2):
        library.synchronise()
        start = time.perf_counter()
        run()
        library.synchronise()
        if sample >= 2:
            seconds.append(time.perf_counter() - start)
    return {"operation": operation, "n": n, "precision": precision, "library": library.name, "seconds": seconds}


def words(seconds):
    return f"{statistics.median(seconds) * 1e3:9.3f} ms ({min(seconds) * 1e3:.3f} to {max(seconds) * 1e3:.3f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/examples/dense")
    parser.add_argument("--samples", type=int, default=7)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--complex", action="store_true", help="complex LU of 4800 as well")
    parser.add_argument("--operations", default="gemm,lu,cholesky,qr,trsm")
    parser.add_argument("--sizes", help="rows and columns, separated by commas [default: 1024,4096,8192, with --quick 8192]")
    parser.add_argument("--out")
    options = parser.parse_args()
    library = peer()
    rows = []

    def compare(operation, n, precision, kernels=False):
        own = ours(options.program, operation, n, precision, options.samples, kernels=kernels)
        row = {"ours": own, "peer": None}
        if library is not None:
            try:
                row["peer"] = theirs(library, operation, n, precision, options.samples)
            except Exception as error:  # noqa: BLE001: a peer that fails is reported, the run goes on
                row["peer"] = {"failed": str(error)}
        rows.append(row)
        line = f"{operation:9} {n:6} {precision}: "
        if "failed" in own:
            print(line + "failed: " + own["failed"], flush=True)
            return
        median = statistics.median(own["seconds"])
        line += f"{words(own['seconds'])}, {own['flops'] / median * 1e-12:6.2f} Tflop/s, error {own['error']:.1e}"
        if row["peer"] and "seconds" in row["peer"]:
            other = statistics.median(row["peer"]["seconds"])
            line += f" | {library.name} {words(row['peer']['seconds'])}, {other / median * 100:5.1f} % of its speed"
        elif row["peer"]:
            line += f" | {library.name} failed: {row['peer']['failed'][:120]}"
        print(line, flush=True)
        for kernel in sorted(own["kernels"], key=lambda k: -k["seconds"])[:10]:
            print(f"    {kernel['kernel']:22} {kernel['launches']:6} launches {kernel['seconds'] * 1e3:9.3f} ms", flush=True)

    sizes = [8192] if options.quick else [1024, 4096, 8192]
    if options.sizes:
        sizes = [int(size) for size in options.sizes.split(",")]
    for operation in options.operations.split(","):
        for n in sizes:
            for precision in ("f64", "f32"):
                compare(operation, n, precision, kernels=n == max(sizes) and precision == "f64")
    if options.complex:
        for precision in ("c32", "c64"):
            compare("gemm", 4800, precision)
            compare("lu", 4800, precision, kernels=True)
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump({"peer": library and library.name, "rows": rows}, file, indent=1)


main()
