"""Writes complex matrices as MatrixMarket files by scipy.io.mmwrite, and their values by numpy: column by column, in texts of the real and
the imaginary part, as a reader of JSON may round numbers twice.

Written with SciPy 1.17 and NumPy 2.4: python3 market.py
"""

import json
import pathlib

import numpy as np
import scipy
import scipy.io
import scipy.sparse

folder = pathlib.Path(__file__).with_name("market")
rng = np.random.default_rng(5)


def parts(shape):
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


full = parts((3, 2))
square = parts((4, 4))
hermitian = square + square.conj().T
np.fill_diagonal(hermitian, hermitian.diagonal().real)
skew = square - square.T
mask = np.array([[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 0, 1], [0, 1, 1, 1]])
matrices = {
    "array_general": full,
    "array_symmetric": square + square.T,
    "array_skew": skew,
    "array_hermitian": hermitian,
    "coordinate_general": scipy.sparse.coo_array(square * np.triu(mask)),
    "coordinate_symmetric": scipy.sparse.coo_array((square + square.T) * mask),
    "coordinate_skew": scipy.sparse.coo_array(skew * mask),
    "coordinate_hermitian": scipy.sparse.coo_array(hermitian * mask),
    "coordinate_single": scipy.sparse.coo_array((square * mask).astype(np.complex64)),
}
values = {"scipy": scipy.__version__, "numpy": np.__version__}
for name, a in matrices.items():
    symmetry = {"skew": "skew-symmetric", "single": "general"}.get(name.split("_")[1], name.split("_")[1])
    scipy.io.mmwrite(folder / f"{name}.mtx", a, symmetry=symmetry)
    dense = np.asarray(a.todense() if scipy.sparse.issparse(a) else a)
    column_major = dense.astype(np.complex128).ravel(order="F")
    values[name] = {"shape": dense.shape, "values": [f"{float(v.real)!r} {float(v.imag)!r}" for v in column_major]}
(folder / "values.json").write_text(json.dumps(values, indent=1) + "\n")
