"""Writes tests/data/formats: one matrix of 12 x 12 as SciPy and Octave write it. python3 tests/data/make_formats.py (needs SciPy; Octave for the last)."""
import gzip, pathlib, subprocess
import numpy as np
import scipy.io
import scipy.sparse as sp

folder = pathlib.Path(__file__).parent / "formats"
n = 12
i = np.arange(n)
a = sp.coo_matrix((np.concatenate([np.full(n, 4.0), np.full(n - 1, -1.5), np.full(n - 3, 0.25)]),
                   (np.concatenate([i, i[1:], i[:-3]]), np.concatenate([i, i[:-1], i[3:]]))), shape=(n, n))
x = np.column_stack([1 + i / 8, np.cos(i)])
b = a @ x
sp.save_npz(folder / "csr.npz", a.tocsr())
sp.save_npz(folder / "csc.npz", a.tocsc(), compressed=False)
sp.save_npz(folder / "coo.npz", a)
np.save(folder / "b.npy", b)
np.save(folder / "x.npy", np.asfortranarray(x.astype(np.float32)))
scipy.io.savemat(folder / "plain.mat", {"A": a.tocsc(), "b": b}, do_compression=False)
scipy.io.savemat(folder / "packed.mat", {"Problem": {"name": "chain", "A": a.tocsc()}, "b": b}, do_compression=True)
scipy.io.savemat(folder / "text.mat", {"A": "chain", "b": b}, do_compression=False)
text = "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n" % (n, n, a.nnz)
text += "".join("%d %d %s\n" % (r + 1, c + 1, ("%.17e" % v).replace("e", "D")) for r, c, v in zip(a.row, a.col, a.data))
(folder / "a.mtx.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
c = sp.coo_matrix((a.data * np.exp(0.7j * (1 + a.row - 2 * a.col)), (a.row, a.col)), shape=(n, n))
z = np.exp(1j * x)
sp.save_npz(folder / "complex.npz", c.tocsr())
np.save(folder / "complex_b.npy", c @ z)
np.save(folder / "complex_x.npy", np.asfortranarray(z.astype(np.complex64)))
scipy.io.savemat(folder / "complex.mat", {"A": c.tocsc(), "b": c @ z}, do_compression=False)
subprocess.run(["octave-cli", "--eval", f"load {folder}/complex.mat; save -v7 {folder}/complex_octave.mat A b"], check=True)
subprocess.run(["octave-cli", "--eval", f"load {folder}/plain.mat; save -v7 {folder}/octave.mat A b"], check=True)
