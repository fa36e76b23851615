#!/usr/bin/env python3
"""Convection-diffusion systems, which are not symmetric: iterations and times of `clinalg solve` with several methods and preconditioners.

    python3 benches/convection.py [--program target/release/clinalg] [--half tuned|held-back] [--only TEXT] [--points2 500] [--points3 60]
                                  [--hypre PROGRAM] [--turns 1] [--out FILE.jsonl] [--options TEXT ...]
    python3 benches/convection.py --write NAME FILE.npz [--points2 1400]

-div(k grad u) + div(v u) on the unit square (5 points) and cube (7 points) by finite volumes with Dirichlet conditions,
upwind or central differences, scaled by h^2. The cell Peclet number is the largest |v| h / k for k = 1; central
differences are used only below 2, where they are stable. The velocity is along x, diagonal, or recirculating. With
*varying* diffusion, k is a smooth random field between 0.03 and 30. The systems are split like the squares of a
chessboard: the parameters of the library were chosen on one half (tuned); the other half (held-back) was used only for
measurements. b is random. Each --options adds a column with these options of `clinalg solve`; the default is one
column without options.
An entry is iterations, set-up + solve in seconds; `x` did not reach 1e-8. With --hypre, the program built from benches/peers/hypre_convection.c
solves the same systems. Needs NumPy and SciPy.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

import numpy as np
import scipy.sparse as sp


def roll(x, y):
    """The component along x of a roll in the plane of x and y; that along y is -roll(y, x)."""
    return 4 * x * (x - 1) * (1 - 2 * y)


VELOCITIES = {
    2: {
        "along x": lambda x, y: (1 + 0 * x, 0 * x),
        "diagonal": lambda x, y: (0.8 + 0 * x, 0.6 + 0 * x),
        "recirculating": lambda x, y: (roll(x, y), -roll(y, x)),
    },
    3: {
        "along x": lambda x, y, z: (1 + 0 * x, 0 * x, 0 * x),
        "diagonal": lambda x, y, z: (0.7 + 0 * x, 0.5 + 0 * x, 0.5 + 0 * x),
        "recirculating": lambda x, y, z: (roll(x, y) / 2, (roll(y, z) - roll(y, x)) / 2, -roll(z, y) / 2),
    },
}


def varying(dimensions, n):
    """A smooth random field from 0.03 to 30."""
    field = np.random.default_rng(3).standard_normal((n,) * dimensions)
    waves = np.meshgrid(*[np.fft.fftfreq(n) * n] * dimensions, indexing="ij")
    field = np.fft.ifftn(np.fft.fftn(field) / (1 + sum(w * w for w in waves) / 36) ** 1.5).real
    return 10 ** (3 * (field - field.min()) / (field.max() - field.min()) - 1.5)


def system(dimensions, n, velocity, scheme, peclet, varies):
    """The matrix; unknowns are in the middle of n cells per side, numbered with x fastest."""
    shape = (n,) * dimensions
    middle = (np.arange(n) + 0.5) / n
    face = np.arange(n + 1) / n
    number = np.arange(n**dimensions).reshape(shape)
    diffusion = varying(dimensions, n) if varies else np.ones(shape)
    diagonal = np.zeros(shape)
    rows, cols, values = [], [], []
    for d in range(dimensions):
        # x is the last axis.
        axis = dimensions - 1 - d
        at = [middle] * dimensions
        at[axis] = face
        flow = peclet * VELOCITIES[dimensions][velocity](*np.meshgrid(*at, indexing="ij")[::-1])[d]
        part = lambda a, s: a[(slice(None),) * axis + (s,)]
        low, high = slice(None, -1), slice(1, None)
        k = 2 / (1 / part(diffusion, low) + 1 / part(diffusion, high))
        inner = part(flow, slice(1, -1))
        # Flux through a face: out of the cell before it, with its own value and that of the cell after it.
        own = np.maximum(inner, 0) if scheme == "upwind" else inner / 2
        other = np.minimum(inner, 0) if scheme == "upwind" else inner / 2
        i, j = part(number, low).ravel(), part(number, high).ravel()
        np.add.at(diagonal.ravel(), i, (k + own).ravel())
        np.add.at(diagonal.ravel(), j, (k - other).ravel())
        rows += [i, j]
        cols += [j, i]
        values += [(other - k).ravel(), (-own - k).ravel()]
        for s, side in [(slice(0, 1), -1), (slice(-1, None), 1)]:
            # The value on the boundary is 0: only outflow leaves the cell.
            out = side * part(flow, s)
            out = np.maximum(out, 0) if scheme == "upwind" else 0 * out
            np.add.at(diagonal.ravel(), part(number, s).ravel(), (2 * part(diffusion, s) + out).ravel())
    off = sp.coo_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(cols))), shape=(number.size,) * 2)
    return sp.csr_matrix(off + sp.diags(diagonal.ravel()))


def systems():
    """Name, half and arguments of each system."""
    for d, dimensions in enumerate((2, 3)):
        for v, velocity in enumerate(VELOCITIES[dimensions]):
            cases = [("upwind", p, False) for p in (0.1, 1, 10, 100)]
            cases += [("central", p, False) for p in (0.1, 1)]
            cases += [("upwind", p, True) for p in (1, 10)]
            for c, (scheme, peclet, varies) in enumerate(cases):
                name = f"{dimensions}-D {velocity}, {scheme}, Peclet {peclet:g}{', varying' if varies else ''}"
                half = "held-back" if (d + v + c) % 2 else "tuned"
                yield name, half, (dimensions, velocity, scheme, peclet, varies)


def matrix(arguments, case):
    dimensions, velocity, scheme, peclet, varies = case
    n = arguments.points2 if dimensions == 2 else arguments.points3
    return system(dimensions, n, velocity, scheme, peclet, varies)


def run(program, folder, options):
    command = [program, "solve", f"{folder}/a.npz", "--rhs", f"{folder}/b.npy", "--tol", "1e-8", "--json", *options.split()]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        return {"error": "more than 300 s"}
    if not done.stdout.strip():
        return {"error": (done.stderr.strip().splitlines() or [""])[-1]}
    report = json.loads(done.stdout)
    keys = ("method", "failed_method", "precond", "explanation", "precond_description", "converged", "stop", "iterations",
            "relative_residual", "seconds_setup", "seconds_solve")
    return {key: report[key] for key in keys}


def peer(program, prefix, a, b):
    """The runs of hypre's settings, on two processor cores."""
    b.tofile(f"{prefix}.rhs")
    a.indptr.astype(np.int64).tofile(f"{prefix}.offsets")
    a.indices.astype(np.int64).tofile(f"{prefix}.columns")
    a.data.tofile(f"{prefix}.values")
    command = ["mpirun", "--allow-run-as-root", "-n", "2", program, prefix]
    done = subprocess.run(command, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def entry(run):
    if "error" in run:
        return "-"
    mark = "" if run["converged"] else "x "
    return f"{mark}{run['iterations']}, {run['seconds_setup']:.2f} + {run['seconds_solve']:.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/clinalg")
    parser.add_argument("--half", choices=["tuned", "held-back"])
    parser.add_argument("--only", default="", help="part of the name of a system")
    parser.add_argument("--points2", type=int, default=500, help="cells per side of squares")
    parser.add_argument("--points3", type=int, default=60, help="cells per side of cubes")
    parser.add_argument("--options", action="append", help="options of `clinalg solve`; may be repeated")
    parser.add_argument("--hypre", metavar="PROGRAM")
    parser.add_argument("--turns", type=int, default=1, help="runs, of which the fastest counts")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--write", nargs=2, metavar=("NAME", "FILE.npz"), help="write this system only")
    arguments = parser.parse_args()
    if arguments.write:
        cases = {name: case for name, _, case in systems()}
        if arguments.write[0] not in cases:
            parser.error("no such system; there are " + "; ".join(cases))
        sp.save_npz(arguments.write[1], matrix(arguments, cases[arguments.write[0]]), compressed=False)
        return
    columns = arguments.options or [""]
    print("| system | half | rows | " + " | ".join(o or "(no options)" for o in columns) + " |" + (" hypre |" if arguments.hypre else ""))
    print("|---" * (len(columns) + 3 + bool(arguments.hypre)) + "|")
    for name, half, case in systems():
        if arguments.only not in name or arguments.half not in (None, half):
            continue
        a = matrix(arguments, case)
        with tempfile.TemporaryDirectory() as folder:
            b = np.random.default_rng(1).uniform(-1, 1, a.shape[0])
            np.save(f"{folder}/b.npy", b)
            sp.save_npz(f"{folder}/a.npz", a, compressed=False)
            found = []
            for options in columns:
                runs = [run(arguments.program, folder, options) for _ in range(arguments.turns)]
                best = min(runs, key=lambda r: r.get("seconds_setup", 1e9) + r.get("seconds_solve", 1e9))
                found.append({"system": name, "half": half, "rows": a.shape[0], "options": options, **best})
            if arguments.hypre:
                runs = peer(arguments.hypre, f"{folder}/a", a, b)
                good = [r for r in runs if r["converged"]] or runs
                best = min(good, key=lambda r: r["seconds_setup"] + r["seconds_solve"], default={"error": "hypre failed"})
                found.append({"system": name, "half": half, "rows": a.shape[0], **best})
        print(f"| {name} | {half} | {a.shape[0]} | " + " | ".join(map(entry, found)) + " |", flush=True)
        if arguments.out:
            with open(arguments.out, "a", encoding="utf-8") as out:
                out.writelines(json.dumps(one) + "\n" for one in found)


if __name__ == "__main__":
    main()
