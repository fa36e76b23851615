#!/usr/bin/env python3
"""Which method and preconditioner of `clinalg solve` solves which of 40 kinds of matrices, or which matrices of a folder.

    python3 benches/robustness.py --program target/release/clinalg --out benches/results/robustness.md [--size 40] [--only NAME]
    python3 benches/robustness.py --matrices DIR

Needs NumPy and SciPy; nothing is fetched. b is A times a random x for the matrices that the script generates, and random for those of a folder.
A combination solves a system if the program reports convergence to 1e-8 within 2000 iterations (without options: within its own limits) and
30 s. *residual* is |b - A x| / |b| of the first column by SciPy, for a matrix that is not square |A' r| / (|A| |r|), with `!` where the program reports
another one; *direct* is that of SciPy's sparse LU with a step of refinement (not square: dense least squares); *SciPy* is GMRES(30) with `spilu` at its
defaults (not square: LSMR). A number is that of iterations; `-` stands for a combination that the program refuses for this matrix, `x` for one that
did not converge, and `t` for one that took too long.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import scipy.io
import scipy.sparse as sp
import scipy.sparse.linalg as la

rng = np.random.default_rng(7)


def line(n, low=-1.0, own=2.0, high=-1.0):
    return sp.diags([low, own, high], [-1, 0, 1], shape=(n, n))


def square(n, x=None, y=None):
    x, y = line(n) if x is None else x, line(n) if y is None else y
    return sp.kron(sp.eye(n), x) + sp.kron(y, sp.eye(n))


def cube(n):
    return sp.kron(sp.eye(n), square(n)) + sp.kron(line(n), sp.eye(n * n))


def cells(n, k):
    """-div(k grad u) by finite volumes with harmonic means, Dirichlet."""
    p = np.arange(n * n).reshape(n, n)
    rows, cols, values = [], [], []
    diagonal = np.zeros(n * n)
    for a, b in [(np.s_[:, :-1], np.s_[:, 1:]), (np.s_[:-1], np.s_[1:])]:
        t = 2 / (1 / k[a] + 1 / k[b])
        i, j, t = p[a].ravel(), p[b].ravel(), t.ravel()
        rows += [i, j]
        cols += [j, i]
        values += [-t, -t]
        np.add.at(diagonal, i, t)
        np.add.at(diagonal, j, t)
    for edge in [p[0], p[-1], p[:, 0], p[:, -1]]:
        diagonal[edge] += 2 * k.ravel()[edge]
    off = sp.coo_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(cols))), shape=(n * n, n * n))
    return off + sp.diags(diagonal)


def convection(n, peclet, upwind=False, turning=False):
    """-Laplace u + v . grad u times h^2; `peclet` is that of a cell, |v| h."""
    h = (np.arange(n) + 0.5) / n
    x, y = np.meshgrid(h, h)
    vx, vy = (4 * x * (x - 1) * (1 - 2 * y), -4 * y * (y - 1) * (1 - 2 * x)) if turning else (0.8 + 0 * x, 0.6 + 0 * x)
    a = square(n).tolil().tocsr()
    for v, d in [(vx, sp.kron(sp.eye(n), sp.diags([-1.0, 1.0], [0, 1], shape=(n, n)))), (vy, sp.kron(sp.diags([-1.0, 1.0], [0, 1], shape=(n, n)), sp.eye(n)))]:
        v = peclet * v.ravel()
        forward, backward = d, -d.T
        if upwind:
            a = a + sp.diags(np.maximum(v, 0)) @ backward + sp.diags(np.minimum(v, 0)) @ forward
        else:
            a = a + sp.diags(v / 2) @ (forward + backward)
    return a


def rotated(n, epsilon, angle):
    c, s = np.cos(angle), np.sin(angle)
    xx, yy, xy = c * c + epsilon * s * s, s * s + epsilon * c * c, (1 - epsilon) * c * s
    d = sp.diags([-0.5, 0.5], [-1, 1], shape=(n, n))
    return xx * sp.kron(sp.eye(n), line(n)) + yy * sp.kron(line(n), sp.eye(n)) - 2 * xy * sp.kron(d, d)


def circuit(n, spread, sources):
    """Modified nodal analysis of a grid of conductances with voltage sources."""
    k = 10 ** rng.uniform(-spread / 2, spread / 2, (n, n))
    g = cells(n, k)
    nodes = rng.choice(n * n, 2 * sources, replace=False).reshape(sources, 2)
    e = sp.coo_matrix((np.tile([1.0, -1.0], sources), (nodes.ravel(), np.repeat(np.arange(sources), 2))), shape=(n * n, sources))
    return sp.bmat([[g, e], [e.T, None]])


def transistors(n):
    """A circuit with controlled sources: unsymmetric, rows in random order."""
    a = circuit(n, 6, n).tocsr()
    m = n * n
    extra = sp.coo_matrix((10 ** rng.uniform(-3, 1, m), (rng.integers(0, m, m), rng.integers(0, m, m))), shape=a.shape)
    return (a + extra)[rng.permutation(a.shape[0])]


def stokes(n, nu=1.0, wind=0.0):
    """Marker and cell: velocities on faces, pressures in cells, the last one fixed by a small entry."""
    d = sp.diags([-1.0, 1.0], [-1, 0], shape=(n, n - 1))
    full, part = line(n, own=2.0), line(n - 1)
    turn = wind * sp.diags([-0.5, 0.5], [-1, 1], shape=(n, n))
    u = nu * (sp.kron(sp.eye(n), part) + sp.kron(full, sp.eye(n - 1))) + sp.kron(turn, sp.eye(n - 1))
    v = nu * (sp.kron(sp.eye(n - 1), full) + sp.kron(part, sp.eye(n))) + sp.kron(sp.eye(n - 1), turn)
    b = sp.hstack([sp.kron(sp.eye(n), d), sp.kron(d, sp.eye(n))]).tocsr()
    fix = sp.coo_matrix(([-1.0], ([n * n - 1], [n * n - 1])), shape=(n * n, n * n))
    return sp.bmat([[sp.block_diag([u, v]), b.T], [b, fix]])


def mixed(n):
    """Mixed finite elements of lowest order for -div grad on squares."""
    d = sp.diags([-1.0, 1.0], [-1, 0], shape=(n, n - 1))
    mass = sp.diags([1 / 6, 2 / 3, 1 / 6], [-1, 0, 1], shape=(n - 1, n - 1))
    m = sp.block_diag([sp.kron(sp.eye(n), mass), sp.kron(mass, sp.eye(n))])
    b = sp.hstack([sp.kron(sp.eye(n), d), sp.kron(d, sp.eye(n))])
    return sp.bmat([[m, b.T], [b, -1e-3 * sp.eye(n * n)]])


def quadratic_program(n, regular=0.0):
    m = n * n
    h = square(n) + 0.1 * sp.eye(m)
    c = sp.random(m // 4, m, 4 / m, random_state=rng, data_rvs=rng.standard_normal) + sp.eye(m // 4, m)
    return sp.bmat([[h, c.T], [c, -regular * sp.eye(m // 4) if regular else None]])


def elasticity(n, poisson, clamped=True):
    """Plane strain on squares, bilinear elements."""
    lam, mu = poisson / (1 + poisson) / (1 - 2 * poisson), 0.5 / (1 + poisson)
    e = np.array([[lam + 2 * mu, lam, 0], [lam, lam + 2 * mu, 0], [0, 0, mu]])
    ke = np.zeros((8, 8))
    corner = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    for p in corner / np.sqrt(3):
        grad = np.array([[c[0] * (1 + c[1] * p[1]) / 4, c[1] * (1 + c[0] * p[0]) / 4] for c in corner]) * 2
        b = np.zeros((3, 8))
        b[0, ::2], b[1, 1::2], b[2, ::2], b[2, 1::2] = grad[:, 0], grad[:, 1], grad[:, 1], grad[:, 0]
        ke += b.T @ e @ b / 4
    i, j = np.meshgrid(np.arange(n - 1), np.arange(n - 1))
    first = (j * n + i).ravel()
    nodes = np.stack([first, first + 1, first + n + 1, first + n], 1)
    dofs = np.stack([2 * nodes, 2 * nodes + 1], 2).reshape(-1, 8)
    rows, cols = np.repeat(dofs, 8, 1).ravel(), np.tile(dofs, (1, 8)).ravel()
    a = sp.coo_matrix((np.tile(ke.ravel(), len(dofs)), (rows, cols))).tocsr()
    keep = np.flatnonzero(np.arange(2 * n * n) // 2 % n > 0)
    return a[keep][:, keep] if clamped else a + 1e-4 * sp.eye(2 * n * n)


def laplacian(rows, cols, weights, m, shift):
    w = sp.coo_matrix((weights, (rows, cols)), shape=(m, m)).tocsr()
    w = w + w.T
    return sp.diags(np.asarray(w.sum(1)).ravel() + shift) - w


def geometric(m):
    from scipy.spatial import cKDTree
    pairs = cKDTree(rng.random((m, 2))).query_pairs(2 / np.sqrt(m), output_type="ndarray")
    return laplacian(pairs[:, 0], pairs[:, 1], rng.uniform(0.1, 1, len(pairs)), m, 1e-4)


def power_law(m):
    to = np.array([rng.integers(0, max(1, int(i * rng.random()))) for i in range(1, m)])
    more = (rng.random(2 * m) ** 3 * m).astype(int)
    rows = np.concatenate([np.arange(1, m), rng.integers(0, m, 2 * m)])
    cols = np.concatenate([to, more])
    keep = rows != cols
    return laplacian(rows[keep], cols[keep], np.ones(keep.sum()), m, 1e-4)


def page_rank(m, damping):
    a = sp.random(m, m, 5 / m, random_state=rng).tocsr()
    a.data[:] = 1
    out = np.asarray(a.sum(0)).ravel()
    return sp.eye(m) - damping * a @ sp.diags(1 / np.maximum(out, 1))


def helmholtz(n, per_wavelength, absorbing=False):
    kh = 2 * np.pi / per_wavelength
    a = square(n) - kh * kh * sp.eye(n * n)
    if not absorbing:
        return a
    edge = np.zeros((n, n))
    edge[[0, -1]] += kh
    edge[:, [0, -1]] += kh
    g = sp.diags(edge.ravel())
    return sp.bmat([[a, g], [-g, a]])


def diffusion_drift(n, field):
    """Scharfetter-Gummel fluxes along a field, exponentially fitted."""
    b = lambda z: np.where(abs(z) < 1e-8, 1 - z / 2, z / np.expm1(np.where(z == 0, 1e-9, z)))
    z = field * np.sin(np.pi * np.arange(n + 1) / n)
    x = sp.diags([-b(-z[1:-1]), b(z[1:]) * 0 + b(z[:-1]) + b(-z[1:]), -b(z[1:-1])], [-1, 0, 1])
    return square(n, x=x)


def make(n):
    m = n * n
    k = lambda spread: 10 ** (spread * (((np.add.outer(np.arange(n) // 5, np.arange(n) // 5)) % 2) - 0.5))
    shuffle = rng.permutation(m)
    bent = sp.diags(10 ** rng.uniform(-4, 4, m))
    return {
        "Poisson 2-D": square(n),
        "Poisson 3-D": cube(max(6, round(m ** (1 / 3)))),
        "Poisson 2-D, shuffled": square(n).tocsr()[shuffle][:, shuffle],
        "Poisson 2-D, rows and columns scaled": bent @ square(n) @ bent,
        "biharmonic": square(n) @ square(n),
        "heat, a large time step": sp.eye(m) + 100 * square(n),
        "anisotropic 1 : 1e-2": square(n, y=1e-2 * line(n)),
        "anisotropic 1 : 1e-4": square(n, y=1e-4 * line(n)),
        "anisotropic 1 : 1e-3, turned by 30 degrees": rotated(n, 1e-3, np.pi / 6),
        "jumps 1e3": cells(n, k(3)),
        "jumps 1e6": cells(n, k(6)),
        "random coefficients 1e8": cells(n, 10 ** rng.uniform(-4, 4, (n, n))),
        "convection, cell Peclet 1": convection(n, 1),
        "convection, cell Peclet 10, central": convection(n, 10),
        "convection, cell Peclet 10, upwind": convection(n, 10, True),
        "convection, cell Peclet 1e4, upwind": convection(n, 1e4, True),
        "convection that turns, Peclet 20": convection(n, 20, True, True),
        "convection that turns, central": convection(n, 5, False, True),
        "drift and diffusion": diffusion_drift(n, 5.0),
        "circuit": circuit(n, 2, n),
        "circuit, conductances 1e8": circuit(n, 8, n),
        "circuit with controlled sources, rows shuffled": transistors(n),
        "saddle point: Stokes": stokes(n),
        "saddle point: Oseen": stokes(n, 0.05, 1.0),
        "saddle point: mixed elements": mixed(n),
        "saddle point: quadratic program": quadratic_program(n),
        "saddle point: regularised program": quadratic_program(n, 1e-4),
        "elasticity, Poisson's ratio 0.3": elasticity(n, 0.3),
        "elasticity, Poisson's ratio 0.499": elasticity(n, 0.499),
        "elasticity, almost free": elasticity(n, 0.3, False),
        "graph: random geometric": geometric(m),
        "graph: power law": power_law(m),
        "graph: PageRank 0.85": page_rank(m, 0.85),
        "graph: PageRank 0.999": page_rank(m, 0.999),
        "Helmholtz, 100 points per wavelength": helmholtz(n, 100),
        "Helmholtz, 20 points per wavelength": helmholtz(n, 20),
        "Helmholtz, 8 points per wavelength": helmholtz(n, 8),
        "Helmholtz absorbing, 20 points": helmholtz(n, 20, True),
        "Helmholtz absorbing, 8 points": helmholtz(n, 8, True),
        "random, no diagonal": sp.random(m, m, 4 / m, random_state=rng, data_rvs=rng.standard_normal) + 5 * sp.eye(m).tocsr()[shuffle],
    }


COMBINATIONS = [
    ("(none given)", ""),
    ("gmres", "--method gmres"),
    ("idrs + jacobi", "--method idrs --precond jacobi"),
    ("cg + ssor", "--method cg --precond ssor"),
    ("cg + ic", "--method cg --precond ic"),
    ("minres", "--method minres"),
    ("bicgstab + ilu", "--method bicgstab --precond ilu"),
    ("idrs + ilu", "--method idrs --precond ilu"),
    ("gmres + ilu", "--method gmres --precond ilu"),
    ("gmres + ilut", "--method gmres --precond ilut"),
    ("idrs + ilut, rcm", "--method idrs --precond ilut --order rcm"),
]


def run(program, matrix, rhs, options, more=()):
    """The entry of the table, the program's report, and why it did not converge."""
    limit = ["--max-iterations", "2000"] if options else []
    words = [program, "solve", matrix, "--rhs", rhs, "--tol", "1e-8", *limit, "--json", *options.split(), *more]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=30)
    except subprocess.TimeoutExpired:
        return "t", None, "more than 30 s"
    if done.returncode not in (0, 1) or not done.stdout.strip():
        return "-", None, (done.stderr.strip().splitlines() or [""])[-1].replace(str(pathlib.Path(matrix).parent) + "/", "")
    report = json.loads(done.stdout)
    return str(report["iterations"]) if report["converged"] else "x", report, report["singularity"] or report["stop"]


def residual(a, b, x):
    """|b - A x| / |b|, for least squares |A' r| / (|A| |r|)."""
    r = b - a @ x
    if a.shape[0] == a.shape[1] or np.linalg.norm(r) <= 1e-8 * np.linalg.norm(b):
        return np.linalg.norm(r) / np.linalg.norm(b)
    return np.linalg.norm(a.conj().T @ r) / (sp.linalg.norm(a) * np.linalg.norm(r))


def checked(a, b, report, file):
    """The residual of the x written, and whether it is the one that the program reports."""
    x = np.load(file).reshape(-1)
    r = np.linalg.norm(b - a @ x) / np.linalg.norm(b)
    # What two orders of summation may differ by.
    rounding = 1e-14 * np.linalg.norm(abs(a) @ abs(x)) / np.linalg.norm(b)
    told = report["relative_residual"]
    wrong = report["null_part_removed"] is False and not abs(r - told) <= 0.01 * r + rounding
    return f"{residual(a, b, x):.0e}{' !' if wrong else ''}"


def direct(a, b):
    if a.shape[0] != a.shape[1]:
        return f"{residual(a, b, np.linalg.lstsq(a.toarray(), b)[0]):.0e}" if a.shape[0] * a.shape[1] <= 2e7 else ""
    try:
        lu = la.splu(sp.csc_matrix(a))
    except RuntimeError:
        return "singular"
    x = lu.solve(b)
    x = x + lu.solve(b - a @ x)
    return f"{residual(a, b, x):.0e}"


def scipy_solves(a, b):
    if a.shape[0] != a.shape[1]:
        x, _, count = la.lsmr(a, b, atol=1e-8, btol=1e-8, maxiter=10000)[:3]
        return str(count) if residual(a, b, x) <= 2e-8 else "x"
    a = sp.csc_matrix(a)
    count = 0

    def step(_):
        nonlocal count
        count += 1

    try:
        m = la.spilu(a)
        x, _ = la.gmres(a, b, rtol=1e-8, restart=30, maxiter=67, M=la.LinearOperator(a.shape, m.solve, dtype=a.dtype), callback=step, callback_type="pr_norm")
    except (RuntimeError, ValueError):
        return "x"
    return str(count) if residual(a, b, x) <= 2e-8 else "x"


def generated(size, folder):
    """Names, matrices, files and right-hand sides."""
    for name, a in make(size).items():
        a = sp.csr_matrix(a)
        a.sum_duplicates()
        file = f"{folder}/a.npz"
        sp.save_npz(file, a)
        yield name, a, file, a @ rng.standard_normal(a.shape[0])


def of_folder(path):
    """The same of the files .mtx in a folder, the smallest first."""
    found = []
    for file in path.glob("*.mtx"):
        a = sp.csr_matrix(scipy.io.mmread(file))
        found.append((a.shape[0], file, a.astype(complex if a.dtype.kind == "c" else float)))
    for rows, file, a in sorted(found, key=lambda entry: entry[:2]):
        rng = np.random.default_rng(7)
        a.sum_duplicates()
        b = rng.uniform(-1, 1, rows)
        yield file.stem, a, str(file), b + 1j * rng.uniform(-1, 1, rows) if a.dtype.kind == "c" else b


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default="target/release/clinalg", help="the program [default: %(default)s]")
    parser.add_argument("--out", type=pathlib.Path, help="write the table there, else print it")
    parser.add_argument("--size", type=int, default=40, help="points per side of the matrices that are generated [default: %(default)s]")
    parser.add_argument("--matrices", type=pathlib.Path, metavar="DIR", help="use the files .mtx (MatrixMarket, real or complex, square or not) of this folder in place of the matrices that are generated")
    parser.add_argument("--only", help="part of the name of a kind of matrix or of a file")
    parser.add_argument("--default-only", action="store_true", help="leave out the methods and preconditioners that are named explicitly")
    args = parser.parse_args()
    if args.matrices and not any(args.matrices.glob("*.mtx")):
        parser.error(f"--matrices {args.matrices}: there is no file .mtx in it")
    np.seterr(all="ignore")
    combinations = COMBINATIONS[:1] if args.default_only else COMBINATIONS
    names = [name for name, _ in combinations] + ["SciPy"]
    rows, solved, unsolved = [], dict.fromkeys(names, 0), []
    by_any = 0
    with tempfile.TemporaryDirectory() as folder:
        rhs, out = f"{folder}/b.npy", f"{folder}/x.npy"
        for name, a, matrix, b in of_folder(args.matrices) if args.matrices else generated(args.size, folder):
            if args.only and args.only not in name:
                continue
            np.save(rhs, b)
            (first, report, why), *others = [
                run(args.program, matrix, rhs, options, [] if options else ["--out", out]) for _, options in combinations
            ]
            found = [first, *(outcome for outcome, _, _ in others), scipy_solves(a, b)]
            for column, outcome in zip(names, found):
                solved[column] += outcome.isdigit()
            by_any += any(outcome.isdigit() for outcome in found)
            if not first.isdigit():
                unsolved.append(f"- {name}: {why}")
            size = str(a.shape[0]) if a.shape[0] == a.shape[1] else f"{a.shape[0]} x {a.shape[1]}"
            words = [name, size, str(a.nnz), *found, checked(a, b, report, out) if report else "", direct(a, b)]
            rows.append("| " + " | ".join(words) + " |")
            print(rows[-1], file=sys.stderr, flush=True)
    head = ["| matrix | size | entries | " + " | ".join([*names, "residual", "direct"]) + " |", "|---|" + "---|" * (len(names) + 4)]
    foot = [f"| solved of {len(rows)} | | | " + " | ".join(str(solved[name]) for name in names) + " | | |"]
    what = ["", "Not solved without options:", "", *unsolved] if unsolved else []
    text = "\n".join(["# Robustness", "", *__doc__.strip().split("\n")[5:], "", *head, *rows, *foot, "", f"Solved by any combination or SciPy: {by_any} of {len(rows)}.", *what, ""])
    args.out.write_text(text) if args.out else print(text)


if __name__ == "__main__":
    main()
