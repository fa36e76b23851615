#!/usr/bin/env python3
"""Whole commands, from the start of the program to its end, of one or more builds in turns.

    cargo build --release -p clinalg-cli
    python3 benches/commands.py [--cold] [--turns K] [--out FILE.jsonl] PROGRAM [PROGRAM ...]

Needs numpy and scipy. Each command runs once before the turns that count, so that kernels come from the cache. With --cold the commands run with
their defaults instead: first with empty caches of the library and the driver, then with the caches that this run filled. Lines of --out have the wall time and the phases; the table on stdout has the medians. The matrices are read from uncompressed files in the page cache, which `numpy.load` and
`scipy.sparse.load_npz` read as well.
"""

import argparse
import json
import os
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
# The defaults, and a solve of 10^6 unknowns.
COLD = [
    ["solve", "7-point-100.npz"],
    ["poisson"],
    ["poisson", "--dim", "3"],
    ["wave"],
    ["heat-bem"],
    ["elastodynamics"],
    ["ode", "--problem", "heat2d"],
    ["waveform"],
]


def laplacian(n, dimensions):
    line = sp.diags([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], [-1, 0, 1])
    a = line
    for _ in range(dimensions - 1):
        a = sp.kron(a, sp.identity(n)) + sp.kron(sp.identity(a.shape[0]), line)
    a = sp.csr_matrix(a)
    a.indices, a.indptr = a.indices.astype(np.int32), a.indptr.astype(np.int32)
    return a


def cache_environment(folder):
    """The environment of a run that keeps all its caches in `folder`."""
    places = {"XDG_CACHE_HOME": "user", "CLINALG_TUNE_DIR": "tuning", "CUDA_CACHE_PATH": "cuda", "POCL_CACHE_DIR": "pocl"}
    for place in places.values():
        Path(folder, place).mkdir(mode=0o700)
    return {**os.environ, **{name: str(Path(folder, place)) for name, place in places.items()}}


def run(program, command, folder, environment=None):
    start = time.time()
    done = subprocess.run([program, *command, "--json"], cwd=folder, env=environment, capture_output=True, text=True)
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


def cold(programs, turns, folder):
    """The defaults with empty and with filled caches."""
    sp.save_npz(folder / "7-point-100.npz", laplacian(100, 3), compressed=False)
    lines = []
    for command in COLD:
        seen = {program: [] for program in programs}
        for turn in range(turns):
            for program in programs:
                with tempfile.TemporaryDirectory() as place:
                    environment = cache_environment(place)
                    pair = [run(program, command, folder, environment) for _ in range(2)]
                lines += [{**line, "turn": turn, "caches": name} for line, name in zip(pair, ["empty", "filled"])]
                seen[program].append([line["wall"] for line in pair])
        for program, walls in seen.items():
            empty, filled = (statistics.median(column) for column in zip(*walls))
            print(f"{' '.join(command):32} {program}: empty caches {empty:.2f} s, filled {filled:.2f} s", flush=True)
    return lines


def warm(programs, turns, folder):
    """Large problems with kernels from the cache."""
    lines = []
    for name, (n, dimensions) in MATRICES.items():
        sp.save_npz(folder / f"{name}.npz", laplacian(n, dimensions), compressed=False)
    for command in COMMANDS:
        seen = {program: [] for program in programs}
        for turn in range(turns + 1):
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
        peers = [peer(name, folder) for _ in range(turns)]
        lines += peers
        numpy, scipy = (statistics.median(line[key] for line in peers) for key in ["numpy", "scipy"])
        print(f"{name}.npz: numpy.load {numpy:.2f} s, scipy.sparse.load_npz {scipy:.2f} s")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="+", metavar="PROGRAM")
    parser.add_argument("--cold", action="store_true", help="run the commands with their defaults, with empty and with filled caches")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    programs = [str(Path(program).resolve()) for program in args.programs]
    with tempfile.TemporaryDirectory() as folder:
        lines = (cold if args.cold else warm)(programs, args.turns, Path(folder))
    if args.out:
        args.out.write_text("".join(json.dumps(line) + "\n" for line in lines))


if __name__ == "__main__":
    main()
