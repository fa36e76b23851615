#!/usr/bin/env python3
"""Whole commands, from the start of the program to its end, of one or more builds in turns.

    cargo build --release -p clinalg-cli
    python3 benches/commands.py [--turns K] [--out FILE.jsonl] PROGRAM [PROGRAM ...]

Needs numpy and scipy. Each command runs once before the turns that count, so that kernels come from the cache. Lines of --out have the wall time and
the phases; the table on stdout has the medians. The matrices are read from uncompressed files in the page cache, which `numpy.load` and
`scipy.sparse.load_npz` read as well.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

# Points per side and dimensions of the matrices of the Laplacian.
MATRICES = {"7-point-200": (200, 3), "5-point-2000": (2000, 2)}
COMMANDS = [
    *(["solve", f"{name}.npz"] for name in MATRICES),
    ["poisson", "--n", "8193"],
    ["poisson", "--n", "16385"],
    ["poisson", "--dim", "3", "--n", "513"],
    ["wave", "--n", "4097", "--steps", "100"],
    ["wave", "--n", "16385", "--steps", "100"],
]


def laplacian(n, dimensions):
    line = sp.diags([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], [-1, 0, 1])
    a = line
    for _ in range(dimensions - 1):
        a = sp.kron(a, sp.identity(n)) + sp.kron(sp.identity(a.shape[0]), line)
    a = sp.csr_matrix(a)
    a.indices, a.indptr = a.indices.astype(np.int32), a.indptr.astype(np.int32)
    return a


def run(program, command, folder):
    start = time.time()
    done = subprocess.run([program, *command, "--json"], cwd=folder, capture_output=True, text=True)
    wall = time.time() - start
    if done.returncode != 0:
        raise SystemExit(f"{program} {' '.join(command)}: {done.stderr}")
    report = json.loads(done.stdout)
    kept = {key: report[key] for key in ["relative_residual", "iterations", "error_max", "phases"] if key in report}
    return {"program": program, "args": command, "wall": wall, **kept}


def peer(name, folder):
    start = time.time()
    with np.load(folder / f"{name}.npz") as file:
        _ = file["data"], file["indices"], file["indptr"]
    middle = time.time()
    sp.load_npz(folder / f"{name}.npz")
    return {"program": "peer", "file": name, "numpy": middle - start, "scipy": time.time() - middle}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="+", metavar="PROGRAM")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    programs = [str(Path(program).resolve()) for program in args.programs]
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for name, (n, dimensions) in MATRICES.items():
            sp.save_npz(folder / f"{name}.npz", laplacian(n, dimensions), compressed=False)
        for command in COMMANDS:
            seen = {program: [] for program in programs}
            for turn in range(args.turns + 1):
                for program in programs:
                    line = run(program, command, folder)
                    lines.append({**line, "turn": turn})
                    if turn > 0:
                        seen[program].append(line)
            for program, runs in seen.items():
                names = [phase["phase"] for phase in runs[0]["phases"]]
                medians = [statistics.median(line["phases"][k]["seconds"] for line in runs) for k in range(len(names))]
                wall = statistics.median(line["wall"] for line in runs)
                phases = ", ".join(f"{name} {seconds:.3f}" for name, seconds in zip(names, medians))
                print(f"{' '.join(command):32} {program}: {wall:.2f} s ({phases})", flush=True)
        for name in MATRICES:
            peers = [peer(name, folder) for _ in range(args.turns)]
            lines += peers
            numpy, scipy = (statistics.median(line[key] for line in peers) for key in ["numpy", "scipy"])
            print(f"{name}.npz: numpy.load {numpy:.2f} s, scipy.sparse.load_npz {scipy:.2f} s")
    if args.out:
        args.out.write_text("".join(json.dumps(line) + "\n" for line in lines))


if __name__ == "__main__":
    main()
