"""Residual histories of SciPy's solvers, which tests/histories.rs compares ours with.

Needs NumPy and SciPy (made with 1.17.1):

    python3 tests/core/data/krylov_histories.py > tests/core/data/krylov_histories.json

A x = b from x = 0 on a grid of n points squared, neighbours numbered along the rows. Relative residuals |b - A x| / |b| in the
Euclidean norm, from the start on: for cg and bicgstab of the iterates, for gmres (restart 20) of its recurrence.

BiCGStab amplifies rounding errors. `fewest` and `most` are its numbers of iterations over the same system with the unknowns in 200 random orders, which
changes nothing but rounding.
"""

import json

import numpy as np
import scipy
from scipy.sparse import csr_array
from scipy.sparse.linalg import bicgstab, cg, gmres

TOLERANCE = 1e-8


def coefficient(i, j):
    return 1.0 + (i * 7 + j * 3) % 11


def matrix(n, kind, wind):
    entries = []
    for i in range(n * n):
        x, y = i % n, i // n
        diagonal = 0.0
        for dx, dy, blow in [(-1, 0, -wind), (1, 0, wind), (0, -1, -wind / 2), (0, 1, wind / 2)]:
            inside = 0 <= x + dx < n and 0 <= y + dy < n
            j = i + dx + n * dy
            a = coefficient(min(i, j), max(i, j)) if kind == "variable" and inside else 1.0
            diagonal += a
            if inside:
                entries.append((i, j, -a + blow))
        entries.append((i, i, diagonal))
    rows, columns, values = zip(*entries)
    return csr_array((values, (rows, columns)), shape=(n * n, n * n))


def right_hand_side(n):
    i = np.arange(n * n)
    return (i * 37 + i * i % 101) % 64 - 31.0


def history(solver, a, b):
    norm = np.linalg.norm(b)
    seen = [1.0]
    if solver == "gmres":
        # One call of the callback an iteration, with the norm relative to |b|.
        options = {"restart": 20, "callback": lambda r: seen.append(float(r)), "callback_type": "pr_norm"}
        _, info = gmres(a, b, rtol=TOLERANCE, atol=0.0, maxiter=1000, **options)
    else:
        run = {"cg": cg, "bicgstab": bicgstab}[solver]
        record = lambda x: seen.append(float(np.linalg.norm(b - a @ x) / norm))
        _, info = run(a, b, rtol=TOLERANCE, atol=0.0, maxiter=10000, callback=record)
    assert info == 0, (solver, info)
    return seen


def range_of_orders(a, b):
    random, counts = np.random.default_rng(1), []
    for _ in range(200):
        order = random.permutation(b.size)
        counts.append(len(history("bicgstab", a[order][:, order], b[order])) - 1)
    return {"fewest": min(counts), "most": max(counts)}


def main():
    cases = []
    for kind, n, wind, solvers in [
        ("constant", 40, 0.0, ["cg", "bicgstab", "gmres"]),
        ("variable", 33, 0.0, ["cg", "bicgstab", "gmres"]),
        ("constant", 30, 0.3, ["bicgstab", "gmres"]),
        ("constant", 41, 0.9, ["bicgstab", "gmres"]),
        ("variable", 25, 0.6, ["bicgstab", "gmres"]),
    ]:
        a, b = matrix(n, kind, wind), right_hand_side(n)
        for solver in solvers:
            seen = history(solver, a, b)
            case = {"kind": kind, "n": n, "wind": wind, "solver": solver, "iterations": len(seen) - 1}
            case |= range_of_orders(a, b) if solver == "bicgstab" else {}
            cases.append(case | {"start": seen[:13]})
    print(json.dumps({"scipy": scipy.__version__, "tolerance": TOLERANCE, "cases": cases}, indent=1))


if __name__ == "__main__":
    main()
