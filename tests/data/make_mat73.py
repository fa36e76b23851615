"""Writes the MATLAB 7.3 files of tests/data/formats, with the matrix and the solutions of make_formats.py, laid out as MATLAB's `save -v7.3` does. python3 tests/data/make_mat73.py (needs h5py and SciPy)."""
import pathlib
import h5py
import numpy as np
import scipy.io
import scipy.sparse
from h5py import h5a, h5s, h5t

folder = pathlib.Path(__file__).parent / "formats"
SPARSE_NAMES = {"bool": "logical", "float64": "double", "complex128": "double"}
FULL_NAMES = {"bool": "logical", "float64": "double", "complex128": "double", "float32": "single", "complex64": "single"}


def text(target, name, value):
    """An attribute as MATLAB writes it: of fixed length, said to end with a null for which there is no room."""
    kind = h5t.C_S1.copy()
    kind.set_size(len(value))
    kind.set_strpad(h5t.STR_NULLTERM)
    attribute = h5a.create(target.id, name.encode(), kind, h5s.create(h5s.SCALAR))
    attribute.write(np.array(value.encode(), f"S{len(value)}"), kind)


def stored(values):
    """Complex numbers are compounds, logical ones bytes."""
    values = np.asarray(values)
    if values.dtype == bool:
        return values.astype(np.uint8)
    if np.iscomplexobj(values):
        part = values.real.dtype
        out = np.empty(values.shape, [("real", part), ("imag", part)])
        out["real"], out["imag"] = values.real, values.imag
        return out
    return values


def put(group, name, values, **layout):
    """A full matrix: its columns are the rows of the dataset."""
    values = np.asarray(values)
    if values.size == 0:
        target = group.create_dataset(name, data=np.array(values.shape, np.uint64))
        target.attrs.create("MATLAB_empty", 1, dtype=np.uint8)
    else:
        target = group.create_dataset(name, data=stored(values).T, **layout)
    text(target, "MATLAB_class", FULL_NAMES.get(values.dtype.name, values.dtype.name))
    if values.dtype == bool:
        target.attrs.create("MATLAB_int_decode", 1, dtype=np.int32)


def put_sparse(group, name, a, **layout):
    a = a.tocsc()
    a.sort_indices()
    target = group.create_group(name)
    text(target, "MATLAB_class", SPARSE_NAMES[a.dtype.name])
    target.attrs.create("MATLAB_sparse", a.shape[0], dtype=np.uint64)
    if a.dtype == bool:
        target.attrs.create("MATLAB_int_decode", 1, dtype=np.int32)
    if a.nnz:
        target.create_dataset("data", data=stored(a.data), **layout)
        target.create_dataset("ir", data=a.indices.astype(np.uint64), **layout)
    target.create_dataset("jc", data=a.indptr.astype(np.uint64), **layout)


def put_text(group, name, value):
    target = group.create_dataset(name, data=np.frombuffer(value.encode("utf-16-le"), np.uint16).reshape(-1, 1))
    text(target, "MATLAB_class", "char")
    target.attrs.create("MATLAB_int_decode", 2, dtype=np.int32)


def put_references(file, target, name, values):
    """The elements of a cell array, and of a field of an array of structures, are references."""
    refs = file.require_group("#refs#")
    links = []
    for value in values:
        own = chr(ord("a") + len(refs))
        put(refs, own, value)
        links.append(refs[own].ref)
    return target.create_dataset(name, data=np.array(links, h5py.ref_dtype).reshape(-1, 1), dtype=h5py.ref_dtype)


def create(name):
    file = h5py.File(folder / name, "w", userblock_size=512, libver=("earliest", "v108"))
    return file


def finish(file):
    path = file.filename
    file.close()
    block = b"MATLAB 7.3 MAT-file, Platform: GLNXA64, Created on: Mon Jan  5 12:00:00 2026 HDF5 schema 1.00 ."
    block = block.ljust(116) + bytes(8) + b"\x00\x02IM"
    with open(path, "r+b") as out:
        out.write(block.ljust(512, b"\0"))


packed = {"compression": "gzip", "compression_opts": 3, "chunks": True}
a = scipy.io.loadmat(folder / "plain.mat")
a, b = a["A"], a["b"]
x = np.load(folder / "x.npy")
c = scipy.io.loadmat(folder / "complex.mat")
c, d = c["A"], c["b"]

file = create("v73.mat")
put_text(file, "title", "chain")
put_sparse(file, "A", a, **packed)
put(file, "b", b, compression="gzip", compression_opts=3, chunks=(1, 5))
put(file, "x", x.astype(np.float32))
put_references(file, file, "list", [np.eye(2), np.ones((1, 3))])
text(file["list"], "MATLAB_class", "cell")
finish(file)

file = create("v73_complex.mat")
put_sparse(file, "A", c, **packed)
put(file, "b", d, compression="gzip", compression_opts=3, chunks=(2, 7))
put(file, "x0", np.load(folder / "complex_x.npy"))
finish(file)

# As the files of the SuiteSparse collection, beside an array of structures.
file = create("v73_struct.mat")
problem = file.create_group("Problem")
text(problem, "MATLAB_class", "struct")
put_text(problem, "name", "chain")
put_sparse(problem, "A", a)
put(file, "rhs", b)
several = file.create_group("several")
text(several, "MATLAB_class", "struct")
put_references(file, several, "A", [np.eye(2), np.eye(3)])
finish(file)

# Full, in chunks of which those at the ends are cut.
file = create("v73_full.mat")
put(file, "A", a.toarray().astype(np.float32), compression="gzip", compression_opts=3, chunks=(5, 7))
put(file, "B", b)
finish(file)

# Without a matrix that could be meant.
file = create("v73_several.mat")
put(file, "u", np.array([[1, 2], [3, 4]], np.int8))
put(file, "v", np.zeros((0, 3)))
put(file, "box", np.zeros((2, 2, 2)))
put(file, "mask", np.eye(3, dtype=bool))
put_text(file, "name", "chain")
finish(file)

file = create("v73_empty.mat")
put_sparse(file, "Z", scipy.sparse.csc_matrix((12, 5)))
put(file, "b", np.zeros((12, 1), np.int16))
finish(file)

# Logical and integer numbers.
file = create("v73_whole.mat")
put_sparse(file, "A", a.multiply(a > 3).astype(bool))
put(file, "b", np.arange(-3, 9, dtype=np.int16).reshape(-1, 1))
put(file, "x0", (np.arange(12) % 2 == 0).reshape(-1, 1))
finish(file)

# Nothing but what is no matrix.
file = create("v73_text.mat")
put_text(file, "A", "chain")
finish(file)

# Not by MATLAB.
with h5py.File(folder / "v73_plain.mat", "w") as file:
    file["A"] = a.toarray()
