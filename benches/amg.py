#!/usr/bin/env python3
"""Algebraic multigrid as a preconditioner of conjugate gradients to a relative residual of 1e-8: set-up, solve, iterations.

    cargo build --release -p clinalg --example amg
    python3 benches/amg.py [--size small|large] [--single] [--profile] [--pyamg] [--hypre PROGRAM] [--amgcl PROGRAM] [--out FILE.jsonl]
                            [--points N] [--turns K] [PROBLEM ...]

With --size large the problems have the sizes of the specification (up to 8e6 unknowns; the matrix takes up to 4 GB of host memory). With
--pyamg, PyAMG's smoothed aggregation with SciPy's conjugate gradients solves the same matrices on the CPU; it needs numpy, scipy and
pyamg in the Python that runs this. With --hypre, BoomerAMG with conjugate gradients solves them on the GPU, with the best
of its usual settings. With --amgcl, AMGCL's smoothed aggregation with conjugate gradients solves the elasticity problem, with the best of
several settings. --points sets the points per side of all problems, and all solvers take --turns turns. The raw lines go to --out. clinalg's run 0
builds the kernels, or loads them from the driver's cache; the table shows it and the better of runs 1 and 2, with the CPU time of all cores where it
is known. Below it are the times of the phases of the set-up, summed over all levels, from run 3, which waits for the device after each phase. With --profile, the most expensive kernels of the set-up and the solve follow, from a run that times every kernel.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time

# Points per side, small and large.
PROBLEMS = {
    "points7": (60, 200),
    "points27": (45, 160),
    "tetrahedra": (50, 200),
    "jumping": (500, 2047),
    "anisotropic": (500, 2047),
    "elasticity": (16, 64),
    "rotated": (500, 2047),
    "plates": (60, 200),
    "lognormal": (500, 2047),
}


def peer(prefix, problem, n):
    import numpy
    import pyamg
    import scipy.sparse
    import scipy.sparse.linalg

    offsets = numpy.fromfile(f"{prefix}.offsets", dtype=numpy.int64).astype(numpy.int32)
    columns = numpy.fromfile(f"{prefix}.columns", dtype=numpy.int64).astype(numpy.int32)
    values = numpy.fromfile(f"{prefix}.values")
    a = scipy.sparse.csr_matrix((values, columns, offsets))
    near = None
    if problem == "elasticity":
        a = a.tobsr(blocksize=(3, 3))
        p = numpy.arange((n - 1) * n * n)
        x, y, z = p // n // n + 1.0, p // n % n * 1.0, p % n * 1.0
        near = numpy.zeros((3 * p.size, 6))
        for d in range(3):
            near[d::3, d] = 1
        near[0::3, 3], near[1::3, 3] = -y, x
        near[1::3, 4], near[2::3, 4] = -z, y
        near[0::3, 5], near[2::3, 5] = z, -x
    b = numpy.random.default_rng(1).uniform(-1, 1, a.shape[0])
    # Loads what is loaded at the first use.
    pyamg.smoothed_aggregation_solver(pyamg.gallery.poisson((40, 40), format="csr")).aspreconditioner() @ numpy.ones(1600)
    start, cpu = time.perf_counter(), time.process_time()
    hierarchy = pyamg.smoothed_aggregation_solver(a, B=near)
    set_up, cpu_set_up = time.perf_counter() - start, time.process_time() - cpu
    steps = []
    start, cpu = time.perf_counter(), time.process_time()
    x, _ = scipy.sparse.linalg.cg(a, b, rtol=1e-8, maxiter=500, M=hierarchy.aspreconditioner(), callback=steps.append)
    solve, cpu_solve = time.perf_counter() - start, time.process_time() - cpu
    residual = numpy.linalg.norm(b - a @ x) / numpy.linalg.norm(b)
    return {"problem": problem, "rows": a.shape[0], "peer": f"PyAMG {pyamg.__version__}", "set_up": set_up, "solve": solve,
            "cpu_set_up": cpu_set_up, "cpu_solve": cpu_solve, "iterations": len(steps), "residual": residual,
            "operator_complexity": hierarchy.operator_complexity()}


def other(program, prefix, problem):
    """The best run of a peer's program over all its settings, and all runs."""
    done = subprocess.run([program, prefix], capture_output=True, text=True)
    if done.returncode != 0 or done.stderr:
        print(f"{problem}: {done.stderr.strip() or f'{program} ended with {done.returncode}'}", file=sys.stderr)
    runs = [{"problem": problem, **json.loads(line)} for line in done.stdout.splitlines() if line.startswith("{")]
    # The residual of a recurrence, at which solvers stop, may differ from the true one.
    good = [run for run in runs if run["run"] > 0 and run["residual"] <= 1e-8 and run.get("true_residual", 0) <= 2e-8]
    return min(good, key=lambda run: run["set_up"] + run["solve"], default=None), runs


def parts(runs):
    """The times of the set-up phases and of the kernels, in milliseconds."""
    phases = {}
    for _, name, milliseconds in runs[3]["phases"]:
        phases[name] = phases.get(name, 0) + milliseconds
    lines = ["parts: " + ", ".join(f"{name} {time:.1f}" for name, time in phases.items())]
    for kind in ("setup_kernels", "solve_kernels") if len(runs) > 4 and "setup_kernels" in runs[4] else ():
        every = runs[4][kind]
        most = ", ".join(f"{name} {time:.2f} ({count})" for name, count, time in every[:12])
        lines.append(f"{kind}: {sum(kernel[2] for kernel in every):.1f} ms in all; {most}")
    return "".join(f"    {line}\n" for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="*", metavar="PROBLEM", help=", ".join(PROBLEMS))
    parser.add_argument("--size", choices=["small", "large"], default="small")
    parser.add_argument("--points", type=int, help="points per side")
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--single", action="store_true", help="the hierarchy in single precision")
    parser.add_argument("--profile", action="store_true", help="the times of kernels")
    parser.add_argument("--pyamg", action="store_true")
    parser.add_argument("--hypre", metavar="PROGRAM", help="the built benches/peers/hypre_amg.c")
    parser.add_argument("--amgcl", metavar="PROGRAM", help="the built benches/peers/amgcl_elasticity.cu; for elasticity")
    parser.add_argument("--program", default="target/release/examples/amg")
    parser.add_argument("--out")
    arguments = parser.parse_args()
    unknown = set(arguments.problems) - set(PROBLEMS)
    if unknown:
        parser.error(f"no such problem: {', '.join(sorted(unknown))}; there are {', '.join(PROBLEMS)}")
    raw = open(arguments.out, "a", encoding="utf-8") if arguments.out else None
    print(f"{'problem':<12} {'rows':>9} {'solver':<14} {'set-up s':>9} {'solve s':>9} {'sum s':>8} {'CPU s':>7} {'its':>4} {'residual':>9}")
    for problem in [name for name in arguments.problems or PROBLEMS for _ in range(arguments.turns)]:
        n = arguments.points or PROBLEMS[problem][arguments.size == "large"]
        peers = [program for program in (arguments.hypre, arguments.amgcl if problem == "elasticity" else None) if program]
        with tempfile.TemporaryDirectory() as folder:
            command = [arguments.program, problem, str(n)]
            command += ["--single"] if arguments.single else []
            command += ["--profile"] if arguments.profile else []
            command += ["--dump", f"{folder}/a"] if arguments.pyamg or peers else []
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                print(f"{problem}: {done.stderr.strip()}", file=sys.stderr)
                continue
            runs = [json.loads(line) for line in done.stdout.splitlines()]
            best = min(runs[1:3], key=lambda run: run["set_up"] + run["solve"])
            rows = [("first run", runs[0]), ("clinalg", best)]
            if arguments.pyamg:
                rows.append(("PyAMG", peer(f"{folder}/a", problem, n)))
                runs.append(rows[-1][1])
            for program in peers:
                best, lines = other(program, f"{folder}/a", problem)
                runs += lines
                if best:
                    rows.append((best["peer"], best))
            if raw:
                raw.writelines(json.dumps(run) + "\n" for run in runs)
                raw.flush()
            for name, run in rows:
                cpu = run.get("cpu_set_up")
                cpu = f"{cpu + run['cpu_solve']:.2f}" if cpu is not None else ""
                print(f"{problem:<12} {run['rows']:>9} {name:<14} {run['set_up']:>9.3f} {run['solve']:>9.3f} "
                      f"{run['set_up'] + run['solve']:>8.3f} {cpu:>7} {run['iterations']:>4} {run['residual']:>9.1e}", flush=True)
            print(parts(runs), end="", flush=True)


if __name__ == "__main__":
    main()
