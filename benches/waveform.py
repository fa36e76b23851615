#!/usr/bin/env python3
"""The experiments of the thesis on waveform relaxation (Bayreuth 2016), each as one command.

    python3 benches/waveform.py variants     # time and memory of every variant over N, one window
    python3 benches/waveform.py windows      # the same in windows, and a long run in windows of several lengths
    python3 benches/waveform.py methods      # time against the method itself over N: Euler to its local error, Runge-Kutta
    python3 benches/waveform.py blocks       # iterations over the size of blocks
    python3 benches/waveform.py memory       # bytes of every variant at 10 steps, N = 10 and 1000
    python3 benches/waveform.py devices --devices 0,1   # one device against several: N = 4096, 8192, 16384, limited access distance, with
                                             # and without the blocks at the edges first
    python3 benches/waveform.py mpi --devices 0,1 --mpi-program target/release/clinalg-mpi   # ranks against one process
    python3 benches/waveform.py all --size large --limit 140 --out waveform.json
    python3 benches/waveform.py network     # a cluster of up to 1024 nodes by a model, checked against ranks in threads

The problem is always BRUSS2D. h = 1e-4, or smaller where Euler's method would be unstable. --size small is for a trial on a CPU. `python3 benches/figures.py
waveform` draws the figures of the documentation from the raw files in benches/results. Each report is written as soon as it is available, so an
interrupted run keeps what it has measured. --limit ends the measurements after that
many seconds, divided fairly among the experiments. For cases that do not fit on the device, the table says how many bytes they need.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS = ["n", "variant", "block", "method", "windows", "iterations", "seconds", "method itself", "ratio", "MiB"]
VARIANTS = ("copy-all", "copy-access-distance", "component", "point", "block", "block-boundary")
SMALL, LARGE = "small", "large"


def step(n, method="euler"):
    """1e-4, or 0.8 of the stability limit of Euler's method: 2 / (8 * 0.002 (n - 1)^2)."""
    return min(1e-4, 0.8 * 2 / (8 * 0.002 * max(n - 1, 1) ** 2))


def call(n, steps, *more, method="euler"):
    arguments = ["--problem", "bruss2d-mix", "--n", n, "--h", f"{step(n):.6e}", "--steps", steps, "--method", method, *more]
    return list(map(str, arguments))


def block(variant, n, side=32):
    return ["--variant", variant, *(["--block", f"{min(side, n)}x{min(side, n)}"] if variant.startswith("block") else [])]


def variants(size, windows=1, names=VARIANTS):
    sizes = {SMALL: (10, 40), LARGE: (10, 50, 1000, 3000)}[size]
    steps = {SMALL: 20, LARGE: 100}[size]
    for n in sizes:
        for variant in names:
            # The square of the components: more is refused, or takes minutes.
            if variant != "copy-all" or n <= 50 or n == 1000:
                yield call(n, steps, "--iterations", 8, "--windows", windows, *block(variant, n))


def windows(size):
    yield from variants(size, {SMALL: 5, LARGE: 10}[size], ("component", "block-boundary"))
    n, steps = {SMALL: (20, 200), LARGE: (100, 5000)}[size]
    for count in {SMALL: (5, 50), LARGE: (10, 50, 250, 1000)}[size]:
        for guess in ("previous", "linear"):
            yield call(n, steps, "--windows", count, "--eps", "1e-8", "--guess", guess)
    yield call(n, steps, "--windows", {SMALL: 5, LARGE: 10}[size], "--eps", "1e-8", "--adaptive", 6)


def methods(size):
    sizes = {SMALL: (10, 20), LARGE: (10, 40, 160, 320)}[size]
    steps = {SMALL: 100, LARGE: 1000}[size]
    for n in sizes:
        for variant in ("component", "block-boundary"):
            # The local error of a step is of the order of h^2.
            yield call(n, steps, "--windows", steps // 5, "--eps", "1e-8", *block(variant, n))
        yield call(n, steps, "--windows", steps // 5, "--eps", "1e-8", *block("block-boundary", n, 16), method="rk4")


def blocks(size):
    """A coupling as strong as at N = 1000 needs nearly the bound of finite termination; blocks take half of it."""
    cases = {SMALL: [(100, 20, (8, 32))], LARGE: [(1000, 25, (4, 8, 16, 32, 64)), (500, 100, (32,)), (100, 100, (32,))]}[size]
    for n, steps, sides in cases:
        yield call(n, steps, "--eps", "1e-3")
        for side in sides:
            yield call(n, steps, "--eps", "1e-3", *block("block-boundary", n, side))
        yield call(n, steps, "--eps", "1e-3", "--variant", "block-boundary", "--block", f"{min(256, n)}x1")


def memory(size):
    """The table of the thesis: 10 steps; one iteration, as the bytes are known before."""
    for n in {SMALL: (10, 50), LARGE: (10, 1000)}[size]:
        for variant in VARIANTS:
            yield call(n, 10, "--iterations", 1, *block(variant, n))


def devices(size):
    """Compared per iteration, since with one block per device a single device needs fewer. Each kernel of a study is built before it is timed."""
    for n in {SMALL: (64,), LARGE: (4096, 8192, 16384)}[size]:
        steps = {SMALL: 20, LARGE: 50}[size]
        for variant in ("block-boundary", "device"):
            sharing = ["--sharing", "general"] if variant == "block-boundary" and n <= 4096 else []
            yield call(n, steps, "--iterations", 8, "--windows", steps // 10, *block(variant, n, 16 if size == SMALL else 32), *sharing, "--study", "devices")


def mpi(size):
    """Compares one process with one process per device."""
    for n in {SMALL: (64,), LARGE: (2048, 4096)}[size]:
        for variant in ("block-boundary", "device"):
            for _ in range(3):
                yield call(n, 50, "--iterations", 8, "--windows", 5, *block(variant, n, 16 if size == SMALL else 32))


def network(size):
    for n in {SMALL: (64,), LARGE: (1024, 4096)}[size]:
        for method, iterations in (("euler", 4), ("euler", 8), ("rk4", 4)):
            yield call(n, {SMALL: 20, LARGE: 100}[size], "--iterations", iterations, "--study", "network", method=method)


EXPERIMENTS = {
    "memory": memory,
    "blocks": blocks,
    "methods": methods,
    "variants": variants,
    "windows": windows,
    "devices": devices,
    "mpi": mpi,
    "network": network,
}
# Experiments on several devices, and those that `all` leaves out.
SHARED = ("devices", "mpi")
APART = (*SHARED, "network")


def run(options, arguments, seconds, start=()):
    """The report, or the error message if the case does not fit, fails or takes too long. `start` replaces the program at the start of the command."""
    command = [*(start or [str(options.program)]), "waveform", *arguments, "--precision", options.precision, "--json"]
    if options.devices:
        command += ["--devices", options.devices]
    elif options.device:
        command += ["--device", options.device]
    begin = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=max(seconds, 1))
        report = json.loads(done.stdout[done.stdout.index("{"):]) if "{" in done.stdout else {"error": {"id": "none", "message": done.stderr.strip()}}
    except subprocess.TimeoutExpired:
        report = {"error": {"id": "timeout", "message": f"more than {seconds:.0f} s"}}
    # Histories of thousands of windows are of no use.
    report.pop("error_history", None)
    report.pop("explain", None)
    return {"arguments": command[len(start or [0]):], "processes": options.devices.count(",") + 1 if start else 1,
            "wall_seconds": time.monotonic() - begin, **report}


def row(report):
    arguments = report["arguments"]
    value = lambda name, usual: arguments[arguments.index(name) + 1] if name in arguments else usual
    if "error" in report:
        return [value("--n", "?"), value("--variant", "component"), value("--block", ""), value("--method", "euler"), report["error"]["message"]]
    if report.get("study") == "network":
        at = [r for r in report["runs"] if r["latency"] == 1e-4 and r["nodes"] > 1]
        over = lambda key: max((r[key] / r["window_exchange"], r["nodes"]) for r in at)
        (every, p), (few, q) = over("step_exchange"), over("best_step_exchange")
        return [str(report["n"]), report["method"], f"{report['iterations']} iterations; at 100 us times as fast as an exchange every step, at most: "
                f"{every:.3g} on {p} nodes; every few steps: {few:.3g} on {q}"]
    if "runs" in report:
        each = [f"{r['devices']} {r['sharing']}: {1e3 * r['seconds_per_iteration']:.4g} ms, {100 * r['speedup'] / r['devices']:.1f} %" for r in report["runs"]]
        return [str(report["n"]), report["variant"], *each]
    sides = "x".join(map(str, report["block"])) if report["block"] else ""
    counts = report["iterations"]
    times = [f"{report['seconds']:.4g}", f"{report['method_seconds']:.4g}", f"{report['seconds'] / report['method_seconds']:.2f}"]
    mean, mib = sum(counts) / len(counts), report["memory_bytes"] / 2**20
    return [str(report["n"]), report["variant"], sides, report["method"], str(len(counts)), f"{mean:.4g}", *times, f"{mib:.2f}"]


def measure(options, names):
    begin, reports = time.monotonic(), {}
    for place, name in enumerate(names):
        left = options.limit - (time.monotonic() - begin)
        end = time.monotonic() + left / (len(names) - place)
        reports[name] = []
        print(f"\n{name}\n" + " | ".join(COLUMNS))
        for arguments in EXPERIMENTS[name](options.size):
            rest = end - time.monotonic()
            if rest <= 0:
                print("the time is over", flush=True)
                break
            starts = [()]
            if name == "mpi":
                ranks = options.devices.count(",") + 1
                starts.append(["mpirun", "--oversubscribe", "--allow-run-as-root", "-n", str(ranks), str(options.mpi_program)])
            for start in starts:
                reports[name].append(run(options, arguments, min(rest, options.each), start))
                print(" | ".join(row(reports[name][-1]) + ([f"{reports[name][-1]['processes']} processes"] if name == "mpi" else [])), flush=True)
            if options.out:
                text = json.dumps({"size": options.size, "precision": options.precision, "experiments": reports}, indent=1)
                options.out.write_text(text + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", choices=[*EXPERIMENTS, "all"])
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "target/release/clinalg")
    parser.add_argument("--device", help="one device, as for clinalg")
    parser.add_argument("--devices", help="several devices, as for clinalg; for devices and mpi")
    parser.add_argument("--mpi-program", type=pathlib.Path, default=ROOT / "target/release/clinalg-mpi")
    parser.add_argument("--precision", default="f32", choices=["f32", "f64"], help="default f32, as in the thesis")
    parser.add_argument("--size", default=LARGE, choices=[SMALL, LARGE], help="of the grids; default large")
    parser.add_argument("--limit", type=float, default=3600, metavar="SECONDS", help="for all measurements together")
    parser.add_argument("--each", type=float, default=60, metavar="SECONDS", help="per measurement; default 60")
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE", help="raw reports, as JSON")
    options = parser.parse_args()
    if (options.experiment in SHARED) != bool(options.devices):
        parser.error(f"--devices belongs to {' and '.join(SHARED)}")
    names = [name for name in EXPERIMENTS if name not in APART] if options.experiment == "all" else [options.experiment]
    measure(options, names)


if __name__ == "__main__":
    main()
