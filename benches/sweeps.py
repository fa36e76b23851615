#!/usr/bin/env python3
"""Runs of the program over sizes, tolerances or levels, for the figures of docs/performance.md.

    python3 benches/sweeps.py poisson --device NVIDIA --amgcl PROGRAM   # multigrid over the number of unknowns
    python3 benches/sweeps.py ode --device NVIDIA                       # error and time of ODE methods over tolerances
    python3 benches/sweeps.py heat --device NVIDIA                      # heat equation by boundary elements over levels
    python3 benches/sweeps.py poisson --largest 257                     # small, to try

Needs Python with NumPy. Each writes one raw file to benches/results/ (`--out`). Every run is a process of its own; a first one
that is not counted fills the kernel cache. PROGRAM is benches/peers/amgcl_poisson.cu, built as its first lines say.
"""

import argparse
import datetime
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
METHODS = ["bs32", "dopri54", "verner65", "dopri87"]


def clinalg(options, *arguments):
    command = [str(options.program), "--device", options.device, *map(str, arguments), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def poisson(options):
    """Samples of V-cycles to 1e-10 and of one pass of full multigrid from `clinalg bench`; AMGCL where it is there."""
    sizes = [n for n in (129, 257, 513, 1025, 2049, 4097, 8193, 16385) if n <= options.largest]
    runs = []
    for n in sizes:
        report = clinalg(options, "bench", "--n", n, "--only", "poisson_solve,poisson_fmg", "--samples", options.runs)
        times = {result["operation"]: result["samples"] for result in report["results"]}
        runs.append({"n": n, "unknowns": (n - 2) ** 2, "copy_bandwidth": report["copy_bandwidth"], "seconds": times})
        print(f"{n}: {1e3 * min(times['poisson_solve']):.3f} ms", file=sys.stderr)
    amgcl = []
    if options.amgcl:
        done = subprocess.run([options.amgcl, *(str(n) for n in sizes if n <= 4097)], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{options.amgcl}: {done.stderr.strip()}")
        amgcl = [json.loads(line) for line in done.stdout.splitlines()]
    return report["device"], {"runs": runs, "amgcl": amgcl}


def ode(options):
    """2^20 predator-prey pairs, which accuracy bounds and not stability; errors are largest differences from DOPRI8(7) with 1e-12."""
    import numpy as np

    n = min(options.largest**2, 1 << 20)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "y.mtx"

        def solve(method, rtol, *more):
            return clinalg(options, "ode", "--problem", "lotka-volterra", "--n", n, "--method", method, "--rtol", rtol,
                           "--atol", rtol * 1e-2, "--reference", "none", *more)

        def solution(method, rtol):
            solve(method, rtol, "--out", path)
            return np.loadtxt(path, comments="%", skiprows=3)

        reference = solution("dopri87", 1e-12)
        runs = []
        for method in METHODS:
            for exponent in range(3, 11):
                if method == "bs32" and exponent > 7:
                    continue
                error = float(abs(solution(method, 10.0**-exponent) - reference).max())
                seconds = []
                for _ in range(3):
                    report = solve(method, 10.0**-exponent)
                    seconds.append(report["seconds"])
                runs.append({"method": method, "rtol": 10.0**-exponent, "seconds": seconds, "error": error, "steps": report["steps"],
                             "rejected": report["rejected"], "variant": report["variant"], "rhs_evaluations": report["rhs_evaluations"]})
                print(f"{method} {exponent}: {1e3 * min(seconds):.2f} ms, error {error:.1e}", file=sys.stderr)
    return report["device"], {"problem": "lotka-volterra", "n": n, "components": report["components"], "runs": runs}


def heat(options):
    """Complete Dirichlet solves by forward elimination: 24 * 4^k triangles and 4^k time steps for k = 1, 2, ..."""
    runs = []
    for refine in range(1, options.levels + 1):
        steps = 4**refine
        arguments = ("heat-bem", "--mesh", "cube24", "--refine", refine, "--steps", steps, "--problem", "dirichlet", "--method", "forward")
        clinalg(options, *arguments)
        samples = [clinalg(options, *arguments) for _ in range(3 if refine < 4 else 1)]
        runs.append({"refine": refine, "elements": samples[0]["elements"], "steps": samples[0]["steps"], "error": samples[0]["error_l2"],
                     "seconds": [s["seconds_assemble"] + s["seconds_solve"] for s in samples],
                     "seconds_solve": [s["seconds_solve"] for s in samples], "stored_bytes": samples[0]["stored_bytes"]})
        print(f"{runs[-1]['elements']} triangles, {steps} steps: {min(runs[-1]['seconds']):.3f} s", file=sys.stderr)
    return samples[0]["device"], {"runs": runs}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sweep", choices=["poisson", "ode", "heat"])
    parser.add_argument("--program", default=ROOT / "target/release/clinalg", help="the program clinalg")
    parser.add_argument("--device", default="0", help="the OpenCL device, by index or part of its name [default: 0]")
    parser.add_argument("--amgcl", help="AMGCL's program, to run on the same sizes")
    parser.add_argument("--largest", type=int, default=16385, help="most points per side")
    parser.add_argument("--levels", type=int, default=4, help="refinements of the heat equation's mesh [default: 4]")
    parser.add_argument("--runs", type=int, default=21, help="samples of a solve")
    parser.add_argument("--out", type=pathlib.Path, help="the raw file [default: benches/results/DATE-DEVICE-SWEEP.json]")
    options = parser.parse_args()
    device, results = {"poisson": poisson, "ode": ode, "heat": heat}[options.sweep](options)
    document = {"date": datetime.date.today().isoformat(), "device": device, **results}
    name = device["name"].split()[-1].lower()
    path = options.out or ROOT / f"benches/results/{document['date']}-{name}-sweep-{options.sweep}.json"
    path.write_text(json.dumps(document, indent=1) + "\n")
    print(f"raw file: {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
