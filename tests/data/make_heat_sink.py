#!/usr/bin/env python3
"""Writes heat_sink.mtx, heat_sink_b.mtx and heat_sink_x.mtx (see README.md beside this file).

Steady heat conduction in the cross-section of a finned aluminium heat sink with a copper core, -div(k grad u) = 0 with u
the temperature above the surrounding air: heat flows in under the core (k du/dn = q), the rest of the surface gives it off
to the air (k du/dn = -h u). Linear finite elements on the unstructured triangle mesh that Gmsh makes of the outline.

Element matrix (Zienkiewicz and Taylor, The Finite Element Method, vol. 1): K_ij = k (b_i b_j + c_i c_j) / (4 area) with
b_i = y_j - y_k, c_i = x_k - x_j; boundary edge of length l: h l / 6 [2 1; 1 2], load q l / 2 [1; 1].

    python3 -m venv V && V/bin/pip install numpy scipy gmsh && V/bin/python tests/data/make_heat_sink.py
"""

import pathlib

import gmsh
import numpy as np
import scipy
import scipy.sparse as sp
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import spsolve

ALUMINIUM, COPPER = 205.0, 390.0  # W/(m K)
AIR = 40.0  # W/(m^2 K), forced air
FLUX = 2.0e5  # W/m^2 under the core
GRID = 1e-6  # entries are rounded to multiples of this, so that the files are short and exact
HERE = pathlib.Path(__file__).parent


def mesh():
    """Nodes (n, 2) in metres, triangles (m, 3), triangles' conductivities (m,), outline edges (e, 2), heated or not (e,)."""
    gmsh.initialize()
    gmsh.option.setNumber("General.Terminal", 0)
    gmsh.option.setNumber("General.NumThreads", 1)
    gmsh.option.setNumber("Mesh.MeshSizeExtendFromBoundary", 0)
    occ = gmsh.model.occ
    base = occ.addRectangle(0.0, 0.0, 0, 0.080, 0.008)
    fins = [(2, occ.addRectangle(0.001 + 0.0064 * k, 0.007, 0, 0.002, 0.033, -1, 0.0006)) for k in range(13)]
    body, _ = occ.fuse([(2, base)], fins)
    screws = [(2, occ.addDisk(x, 0.004, 0, 0.0015, 0.0015)) for x in (0.012, 0.068)]
    body, _ = occ.cut(body, screws)
    core = (2, occ.addRectangle(0.030, 0.0, 0, 0.020, 0.005))
    occ.fragment(body, [core])
    occ.synchronize()
    # Finer towards the core's edges, where the flux jumps.
    field = gmsh.model.mesh.field
    near = field.add("Distance")
    field.setNumbers(near, "PointsList", [p[1] for p in gmsh.model.getEntitiesInBoundingBox(0.0299, -1e-4, -1, 0.0501, 0.0051, 1, 0)])
    size = field.add("Threshold")
    for key, value in dict(InField=near, SizeMin=0.00005, SizeMax=0.0004, DistMin=0.0, DistMax=0.012).items():
        field.setNumber(size, key, value)
    field.setAsBackgroundMesh(size)
    gmsh.model.mesh.generate(2)
    tags, coordinates, _ = gmsh.model.mesh.getNodes()
    place = {int(t): i for i, t in enumerate(tags)}
    points = coordinates.reshape(-1, 3)[:, :2]
    triangles, k = [], []
    for _, surface in gmsh.model.getEntities(2):
        x, y, _ = gmsh.model.occ.getCenterOfMass(2, surface)
        mine = np.concatenate([t for t in gmsh.model.mesh.getElements(2, surface)[2]]).reshape(-1, 3)
        triangles.append(mine)
        core_here = abs(gmsh.model.occ.getMass(2, surface) - 0.020 * 0.005) < 1e-9
        k.append(np.full(len(mine), COPPER if core_here else ALUMINIUM))
    triangles = np.vectorize(place.get)(np.concatenate(triangles))
    gmsh_version = gmsh.__version__
    gmsh.finalize()
    edges = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    edges, count = np.unique(edges, axis=0, return_counts=True)
    edges = edges[count == 1]
    middle = points[edges].mean(axis=1)
    heated = (middle[:, 1] < 1e-9) & (middle[:, 0] > 0.030) & (middle[:, 0] < 0.050)
    used = np.unique(triangles)
    assert len(used) == len(points)
    return points, triangles, np.concatenate(k), edges, heated, gmsh_version


def assemble(points, triangles, k, edges, heated):
    """Stiffness with convection (n, n) and load (n,), rounded to GRID; off-diagonals first, then the diagonal of their sum."""
    x, y = points[triangles, 0], points[triangles, 1]
    b = np.stack([y[:, 1] - y[:, 2], y[:, 2] - y[:, 0], y[:, 0] - y[:, 1]], axis=1)
    c = np.stack([x[:, 2] - x[:, 1], x[:, 0] - x[:, 2], x[:, 1] - x[:, 0]], axis=1)
    area = 0.5 * np.abs(c[:, 2] * b[:, 1] - c[:, 1] * b[:, 2])
    local = (b[:, :, None] * b[:, None, :] + c[:, :, None] * c[:, None, :]) * (k / (4 * area))[:, None, None]
    n = len(points)
    rows = np.repeat(triangles, 3, axis=1).ravel()
    cols = np.tile(triangles, (1, 3)).ravel()
    stiffness = sp.coo_matrix((local.ravel(), (rows, cols)), shape=(n, n)).tocsr()
    lower = sp.tril(stiffness, -1).tocoo()
    i, j, v = lower.row, lower.col, np.round(lower.data / GRID).astype(np.int64)
    e0, e1 = edges.T
    length = np.linalg.norm(points[e0] - points[e1], axis=1)
    cool = np.round(np.where(heated, 0.0, AIR * length / 6) / GRID).astype(np.int64)
    lo = sp.coo_matrix((np.concatenate([v, cool]), (np.concatenate([i, np.maximum(e0, e1)]), np.concatenate([j, np.minimum(e0, e1)]))), shape=(n, n)).tocsr()
    diagonal = np.zeros(n, np.int64)
    np.add.at(diagonal, i, -v)
    np.add.at(diagonal, j, -v)
    np.add.at(diagonal, e0, 2 * cool)
    np.add.at(diagonal, e1, 2 * cool)
    load = np.zeros(n, np.int64)
    warm = np.round(np.where(heated, FLUX * length / 2, 0.0) / GRID).astype(np.int64)
    np.add.at(load, e0, warm)
    np.add.at(load, e1, warm)
    lo.eliminate_zeros()
    return lo, diagonal, load


def number(value):
    """An integer multiple of GRID as the shortest decimal."""
    sign, value = ("-" if value < 0 else ""), abs(int(value))
    whole, rest = divmod(value, 10**6)
    return f"{sign}{whole}.{rest:06d}".rstrip("0").rstrip(".")


def main():
    points, triangles, k, edges, heated, gmsh_version = mesh()
    pattern = sp.coo_matrix((np.ones(triangles.size * 3), (np.repeat(triangles, 3, axis=1).ravel(), np.tile(triangles, (1, 3)).ravel())))
    order = reverse_cuthill_mckee(pattern.tocsr(), symmetric_mode=True)
    new = np.empty_like(order)
    new[order] = np.arange(len(order))
    points, triangles, edges = points[order], new[triangles], new[edges]
    lower, diagonal, load = assemble(points, triangles, k, edges, heated)
    n = len(points)
    coo = lower.tocoo()
    entries = sorted(list(zip(coo.col, coo.row, coo.data)) + [(r, r, diagonal[r]) for r in range(n)])
    with open(HERE / "heat_sink.mtx", "w") as out:
        out.write("%%MatrixMarket matrix coordinate real symmetric\n")
        out.write("% heat conduction in a finned heat sink, linear finite elements; made by make_heat_sink.py\n")
        out.write(f"{n} {n} {len(entries)}\n")
        out.writelines(f"{i + 1} {j + 1} {number(v)}\n" for j, i, v in entries)
    with open(HERE / "heat_sink_b.mtx", "w") as out:
        out.write(f"%%MatrixMarket matrix array real general\n% heat that flows in, W per metre of depth\n{n} 1\n")
        out.writelines(f"{number(v)}\n" for v in load)

    # What was written, read again, and a direct solve of exactly that, with one step of iterative refinement.
    a, b = scipy.io.mmread(HERE / "heat_sink.mtx").tocsc(), scipy.io.mmread(HERE / "heat_sink_b.mtx").ravel()
    u = spsolve(a, b)
    u += spsolve(a, b - a @ u)
    residual = np.linalg.norm(b - a @ u) / np.linalg.norm(b)
    with open(HERE / "heat_sink_x.mtx", "w") as out:
        out.write("%%MatrixMarket matrix array real general\n")
        out.write(f"% temperature above the air, K; scipy.sparse.linalg.spsolve, relative residual {residual:.1e}\n{n} 1\n")
        out.writelines(f"{v:.11g}\n" for v in u)
    heat_in, heat_out = b.sum(), np.asarray(a.sum(axis=1)).ravel() @ u
    print(f"Gmsh {gmsh_version}, SciPy {scipy.__version__}: {n} rows, {a.nnz} non-zeros; residual {residual:.1e}; "
          f"u from {u.min():.4f} to {u.max():.4f} K, norm {np.linalg.norm(u):.12e}; heat in {heat_in:.6f}, out {heat_out:.6f} W/m")


if __name__ == "__main__":
    main()
