#!/usr/bin/env python3
"""Times the program on one device and on several: no row may be slower with more devices.

    cargo build --release -p clinalg-cli
    python3 benches/several.py --devices 0,1 [--turns K] [--only NAMES] [--out FILE.jsonl] PROGRAM [PROGRAM ...]

Needs NumPy and SciPy. Every row runs on the first device, on the first two, and so on: one warm-up run each, then
--turns rounds in which the device counts alternate, so that all of them see the same state of the machine. The time is
that of the solve in the program's report; `around` is the rest of the wall time of the command. Efficiency is
T1 / (p Tp), from medians. The exit status is not 0 if a row takes more than 3 % longer than on one device.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import scipy.sparse as sp

sys.path.insert(0, str(Path(__file__).parent))
from commands import laplacian

ROWS = {
    "poisson-2049": ["poisson", "--n", "2049", "--rhs", "random"],
    "poisson-8193": ["poisson", "--n", "8193", "--rhs", "random"],
    "poisson-16385": ["poisson", "--n", "16385", "--rhs", "random"],
    "poisson-32769": ["poisson", "--n", "32769", "--rhs", "sine"],
    "poisson-129-cube": ["poisson", "--dim", "3", "--n", "129", "--rhs", "random"],
    "poisson-513-cube": ["poisson", "--dim", "3", "--n", "513", "--rhs", "random"],
    "poisson-1025-cube": ["poisson", "--dim", "3", "--n", "1025", "--tol", "1e-9"],
    "wave-4097": ["wave", "--n", "4097", "--steps", "235"],
    "wave-16385": ["wave", "--n", "16385", "--steps", "235"],
    "heat-2048": ["ode", "--problem", "heat2d", "--n", "2048", "--method", "rk4", "--h", "1e-8", "--t-end", "2e-6"],
    "heat-8192": ["ode", "--problem", "heat2d", "--n", "8192", "--method", "rk4", "--h", "1e-9", "--t-end", "2e-7"],
    "bruss-8192": ["ode", "--problem", "bruss2d-mix", "--n", "8192", "--method", "rk4", "--h", "1e-8", "--t-end", "1e-6"],
    "amg-100-cube": ["solve", "7-point-100.npz", "--solver", "cg,amg"],
    "amg-200-cube": ["solve", "7-point-200.npz", "--solver", "cg,amg"],
    "cg-100-cube": ["solve", "7-point-100.npz", "--solver", "cg"],
    "cg-200-cube": ["solve", "7-point-200.npz", "--solver", "cg"],
    "heat-bem": ["heat-bem"],
    "elastodynamics": ["elastodynamics", "--mesh", "cubed-sphere:16"],
}
MATRICES = [100, 200]


def solve_seconds(report):
    """The seconds of the solve: its phase, or the key of the reports that have no phases for it."""
    phases = {phase["phase"]: phase["seconds"] for phase in report.get("phases", [])}
    for name in ("solve", "steps", "integration"):
        if name in phases:
            return phases[name]
    for key in ("seconds_solve", "seconds"):
        if key in report:
            return report[key]
    raise SystemExit(f"no seconds of the solve in {sorted(report)}")


def run(program, arguments, devices, folder):
    start = time.time()
    done = subprocess.run([program, *arguments, "--devices", ",".join(devices), "--json"], cwd=folder, capture_output=True, text=True)
    wall = time.time() - start
    if done.returncode != 0:
        return {"error": done.stderr.strip()}
    report = json.loads(done.stdout)
    kept = {key: report[key] for key in ["cycles", "iterations", "steps", "phases", "team"] if key in report}
    return {"seconds": solve_seconds(report), "wall": wall, **kept}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="+", metavar="PROGRAM")
    parser.add_argument("--devices", default="0,1", help="indices, as `clinalg devices` lists them [default: 0,1]")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--only", help="rows or beginnings of their names, separated by commas")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    devices = args.devices.split(",")
    chosen = {name: row for name, row in ROWS.items() if not args.only or name.startswith(tuple(args.only.split(",")))}
    programs = [str(Path(program).resolve()) for program in args.programs]
    lines, slower = [], []
    with tempfile.TemporaryDirectory() as folder:
        for n in MATRICES:
            if any(f"7-point-{n}.npz" in row for row in chosen.values()):
                sp.save_npz(Path(folder, f"7-point-{n}.npz"), laplacian(n, 3), compressed=False)
        print(f"{'row':<18} {'devices':>7} {'ms':>9} {'efficiency':>10} {'around, s':>9}  program")
        for name, row in chosen.items():
            counts = range(1, len(devices) + 1)
            seen = {(program, count): [] for program in programs for count in counts}
            for turn in range(args.turns + 1):
                for (program, count), runs in seen.items():
                    line = run(program, row, devices[:count], folder)
                    lines.append({"row": name, "args": row, "devices": count, "program": program, "turn": turn, **line})
                    if turn > 0:
                        runs.append(line)
            for program in programs:
                one = None
                for count in counts:
                    runs = seen[program, count]
                    errors = [line["error"] for line in runs if "error" in line]
                    if errors:
                        print(f"{name:<18} {count:>7} {errors[0]}  {program}", flush=True)
                        continue
                    seconds = statistics.median(line["seconds"] for line in runs)
                    around = statistics.median(line["wall"] - line["seconds"] for line in runs)
                    one = one or seconds
                    print(f"{name:<18} {count:>7} {1e3 * seconds:>9.2f} {one / count / seconds:>10.0%} {around:>9.2f}  {program}", flush=True)
                    if seconds > 1.03 * one:
                        slower.append(f"{name} on {count}")
    if args.out:
        args.out.write_text("".join(json.dumps(line) + "\n" for line in lines))
    if slower:
        raise SystemExit("slower than on one device: " + ", ".join(slower))


if __name__ == "__main__":
    main()
