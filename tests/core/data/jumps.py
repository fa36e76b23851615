"""Solutions of -div(a grad u) + shift u = f with jumping coefficients, by a direct method of SciPy.

    python3 -m venv venv && venv/bin/pip install numpy scipy && venv/bin/python jumps.py

writes jumps.txt beside this file: for each problem a line with its name, then a line with the solution at every eighth point
of either direction. The matrix is put together cell by cell: a cell gives half of its coefficient to each of its four
sides. Three steps of refinement with residuals in extended precision; the last correction is printed.
"""

import pathlib

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

N = 65


def fields(x, y, k):
    """Chess board of k by k fields; whole numbers, as y may lie on a line between two."""
    return (np.floor(k * x) + np.floor(k * y)).astype(int) % 2 == 1


PROBLEMS = {
    # name: (jump, shift, where the coefficient is large)
    "board": (1e3, 0.0, lambda x, y: fields(x, y, 4)),
    "shifted-board": (1e6, 40.0, lambda x, y: fields(x, y, 7)),
    "disc": (1e6, 0.0, lambda x, y: (x - 0.52) ** 2 + (y - 0.47) ** 2 < 0.09),
    "stripes": (1e3, 0.0, lambda x, y: np.floor(9 * (x + 0.7 * y)).astype(int) % 2 == 1),
}


def solution(jump, shift, large):
    h = 1.0 / (N - 1)
    rows, cols, vals = [], [], []
    for j in range(N - 1):
        for i in range(N - 1):
            a = jump if large((i + 0.5) * h, (j + 0.5) * h) else 1.0
            corner = [j * N + i, j * N + i + 1, (j + 1) * N + i + 1, (j + 1) * N + i]
            for p, q in zip(corner, corner[1:] + corner[:1]):
                rows += [p, q, p, q]
                cols += [p, q, q, p]
                vals += [a / 2, a / 2, -a / 2, -a / 2]
    stiffness = sp.csr_matrix((vals, (rows, cols)), shape=(N * N, N * N)) / h**2
    y, x = np.divmod(np.arange(N * N), N) * np.array(h)
    inside = (x > 0) & (x < 1) & (y > 0) & (y < 1)
    f = np.sin(3 * x + 1) * np.exp(y) + 5 * x * y
    u = np.where(inside, 0.0, x * x - y + 0.3 * x * y)
    matrix = (stiffness + shift * sp.identity(N * N, format="csr"))[inside]
    factors = splu(matrix[:, inside].tocsc())
    u = u.astype(np.longdouble)
    coo = matrix.tocoo()
    for _ in range(4):
        residual = f[inside].astype(np.longdouble)
        np.subtract.at(residual, coo.row, coo.data.astype(np.longdouble) * u[coo.col])
        correction = factors.solve(residual.astype(float))
        u[inside] += correction
    return u.astype(float).reshape(N, N), np.abs(correction).max()


lines = []
for name, problem in PROBLEMS.items():
    u, correction = solution(*problem)
    print(name, correction)
    lines += [name, " ".join(f"{v:.17g}" for v in u[::8, ::8].ravel())]
pathlib.Path(__file__).with_name("jumps.txt").write_text("\n".join(lines) + "\n")
