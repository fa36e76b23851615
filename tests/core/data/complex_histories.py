"""Residual histories and solutions of SciPy's solvers for complex systems, which tests/histories.rs compares ours with.

Needs NumPy and SciPy (made with 1.17.1):

    python3 tests/core/data/complex_histories.py > tests/core/data/complex_histories.json

A x = b from x = 0 on a grid of n points squared, neighbours numbered along the rows: the 5-point Laplacian, plus `shift` on the
diagonal, with the weight of a neighbour to the right turned by the angle `phase` and that to the left turned back, as in a magnetic
field. A is Hermitian where the shift is real. Relative residuals |b - A x| / |b| in the Euclidean norm, from the start on: for cg and
bicgstab of the iterates, for gmres (restart 20) of its recurrence. The solution is that of a direct method.
"""

import json

import numpy as np
import scipy
from scipy.sparse import csc_array
from scipy.sparse.linalg import bicgstab, cg, gmres, spsolve

TOLERANCE = 1e-8


def matrix(n, shift, phase):
    entries = []
    for i in range(n * n):
        x, y = i % n, i // n
        for dx, dy, weight in [(-1, 0, np.exp(-1j * phase)), (1, 0, np.exp(1j * phase)), (0, -1, 1), (0, 1, 1)]:
            if 0 <= x + dx < n and 0 <= y + dy < n:
                entries.append((i, i + dx + n * dy, -weight))
        entries.append((i, i, 4 + shift))
    rows, columns, values = zip(*entries)
    return csc_array((values, (rows, columns)), shape=(n * n, n * n))


def right_hand_side(n):
    i = np.arange(n * n)
    return (i * 37 + i * i % 101) % 64 - 31.0 + 1j * ((i * 29 + i * i % 83) % 64 - 31.0)


def history(solver, a, b):
    norm = np.linalg.norm(b)
    seen = [1.0]
    if solver == "gmres":
        options = {"restart": 20, "callback": lambda r: seen.append(float(r)), "callback_type": "pr_norm"}
        _, info = gmres(a, b, rtol=TOLERANCE, atol=0.0, maxiter=1000, **options)
    else:
        record = lambda x: seen.append(float(np.linalg.norm(b - a @ x) / norm))
        run = {"cg": cg, "bicgstab": bicgstab}[solver]
        _, info = run(a, b, rtol=TOLERANCE, atol=0.0, maxiter=10000, callback=record)
    assert info == 0, (solver, info)
    return seen


def main():
    cases = []
    for n, shift, phase, solvers in [
        (30, 0.0, 0.7, ["cg", "bicgstab", "gmres"]),
        (25, 0.1 + 0.0j, 2.0, ["cg", "gmres"]),
        (30, -0.5 + 0.6j, 0.0, ["bicgstab", "gmres"]),
        (24, 0.3j, 0.4, ["bicgstab", "gmres"]),
    ]:
        a, b = matrix(n, shift, phase), right_hand_side(n)
        x = spsolve(a, b)
        for solver in solvers:
            seen = history(solver, a, b)
            case = {"n": n, "shift": [shift.real, shift.imag], "phase": phase, "solver": solver}
            case |= {"iterations": len(seen) - 1, "start": seen[:13]}
            cases.append(case | {"solution": [[z.real, z.imag] for z in x[:8]]})
    print(json.dumps({"scipy": scipy.__version__, "tolerance": TOLERANCE, "cases": cases}, indent=1))


if __name__ == "__main__":
    main()
