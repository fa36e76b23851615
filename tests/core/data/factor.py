#!/usr/bin/env python3
"""Makes factor.json, the numbers of SciPy that tests/core/factor.rs compares with.

Complex numbers are pairs of real and imaginary part; matrices are lists of columns. The entries of the matrices are exact in single precision.
"""

import json
import pathlib

import numpy as np
import scipy.linalg


def columns(matrix):
    matrix = np.asarray(matrix, complex)
    matrix = matrix.reshape(len(matrix), -1) if matrix.ndim else matrix.reshape(1, 1)
    return [[[v.real, v.imag] for v in column] for column in matrix.T]


def case(is_complex):
    random = np.random.default_rng(12)

    def draw(rows, cols):
        parts = random.integers(-512, 512, (2, rows, cols)) / 256
        return parts[0] + 1j * parts[1] if is_complex else parts[0]

    n = 12
    a = draw(n, n) + 4 * np.diag((-1.0) ** np.arange(n))
    b = draw(n, 2)
    factor = draw(n, n)
    positive = factor @ factor.conj().T + 64 * np.eye(n)
    tall, tall_b = draw(20, 7), draw(20, 2)
    lu, pivots = scipy.linalg.lu_factor(a)
    inverse = scipy.linalg.inv(a)
    return {
        "a": columns(a),
        "b": columns(b),
        "lu": columns(lu),
        "pivots": pivots.tolist(),
        "x": columns(scipy.linalg.solve(a, b)),
        "inverse": columns(inverse),
        "determinant": columns(scipy.linalg.det(a)),
        "reciprocal_condition": 1 / (np.linalg.norm(a, 1) * np.linalg.norm(inverse, 1)),
        "positive": columns(positive),
        "cholesky": columns(scipy.linalg.cholesky(positive, lower=True)),
        "tall": columns(tall),
        "tall_b": columns(tall_b),
        "r": columns(scipy.linalg.qr(tall, mode="economic")[1]),
        "least_squares": columns(scipy.linalg.lstsq(tall, tall_b)[0]),
    }


data = {"real": case(False), "complex": case(True)}
pathlib.Path(__file__).with_name("factor.json").write_text(json.dumps(data) + "\n", encoding="utf-8")
