#!/usr/bin/env python3
"""The experiments of the thesis on waveform relaxation (Bayreuth 2016), each as one command.

    python3 benches/waveform.py variants     # time and memory of every variant over N, one window
    python3 benches/waveform.py windows      # the same in windows, and a long run in windows of several lengths
    python3 benches/waveform.py methods      # time against the method itself over N: Euler to its local error, Runge-Kutta
    python3 benches/waveform.py blocks       # iterations over the size of blocks
    python3 benches/waveform.py memory       # bytes of every variant at 10 steps, N = 10 and 1000
    python3 benches/waveform.py devices --devices 0,1   # exchange once an iteration or once a step, over N
    python3 benches/waveform.py all --size large --limit 140 --out waveform.json
    python3 benches/waveform.py draw waveform.json      # pictures beside the file, with matplotlib

BRUSS2D throughout. h = 1e-4, smaller where Euler's method would be unstable. --size small is for trying on a CPU. Needs Python only; `draw` needs
matplotlib. Each report is kept as soon as it is there: a run that is cut short leaves what it measured. --limit ends the measurements after so many
seconds, fairly among the experiments. What does not fit the device says in the table how many bytes it needs.
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
    arguments = ["--problem", "bruss2d", "--n", n, "--h", f"{step(n):.6e}", "--steps", steps, "--method", method, *more]
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
    for n in {SMALL: (40,), LARGE: (512, 1024, 2048, 4096, 8192)}[size]:
        for sharing in ("general", "limited"):
            more = ["--sharing", sharing, *block("block-boundary", n)]
            yield call(n, {SMALL: 20, LARGE: 100}[size], "--iterations", 8, "--windows", 10, *more)
        for method in ("euler", "rk4"):
            more = ["--variant", "device"]
            yield call(n, {SMALL: 20, LARGE: 100}[size], "--iterations", 8, "--windows", 10, *more, method=method)


EXPERIMENTS = {
    "memory": memory,
    "blocks": blocks,
    "methods": methods,
    "variants": variants,
    "windows": windows,
    "devices": devices,
}


def run(options, arguments, seconds):
    """The report; of what does not fit, fails or takes too long the message."""
    command = [str(options.program), "waveform", *arguments, "--precision", options.precision, "--json"]
    if options.devices:
        command += ["--devices", options.devices]
    elif options.device:
        command += ["--device", options.device]
    start = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=max(seconds, 1))
        report = json.loads(done.stdout) if done.stdout else {"error": {"id": "none", "message": done.stderr.strip()}}
    except subprocess.TimeoutExpired:
        report = {"error": {"id": "timeout", "message": f"more than {seconds:.0f} s"}}
    # Histories of thousands of windows are of no use.
    report.pop("error_history", None)
    report.pop("explain", None)
    return {"arguments": command[1:], "wall_seconds": time.monotonic() - start, **report}


def row(report):
    arguments = report["arguments"]
    value = lambda name, usual: arguments[arguments.index(name) + 1] if name in arguments else usual
    if "error" in report:
        return [value("--n", "?"), value("--variant", "component"), value("--block", ""), value("--method", "euler"), report["error"]["message"]]
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
            reports[name].append(run(options, arguments, min(rest, 60)))
            print(" | ".join(row(reports[name][-1])), flush=True)
            if options.out:
                text = json.dumps({"size": options.size, "precision": options.precision, "experiments": reports}, indent=1)
                options.out.write_text(text + "\n")


def draw(path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plot

    done = json.loads(path.read_text())["experiments"]
    good = lambda name: [report for report in done.get(name, []) if "error" not in report]

    def curves(name, title, x_name, y_name, key, point):
        """A curve for each `key` of the reports."""
        lines = {}
        for report in good(name):
            x, y = point(report)
            lines.setdefault(key(report), []).append((x, y))
        if not lines:
            return
        figure, axes = plot.subplots(figsize=(8, 6))
        for label, points in lines.items():
            axes.loglog(*zip(*sorted(points)), marker="o", label=label)
        axes.set(title=title, xlabel=x_name, ylabel=y_name)
        axes.grid(True, which="both", alpha=0.3)
        axes.legend()
        target = path.with_name(f"{path.stem}-{name}.svg")
        figure.savefig(target)
        print(target)

    name_of = lambda report: f"{report['variant']}, {report['method']}"
    mean = lambda report: sum(report["iterations"]) / len(report["iterations"])
    curves("variants", "one window, 8 iterations", "points per axis", "seconds", name_of, lambda r: (r["n"], r["seconds"]))
    curves("methods", "over the time of the method itself", "points per axis", "ratio of times", name_of,
           lambda r: (r["n"], r["seconds"] / r["method_seconds"]))
    curves("blocks", "iterations over the size of blocks", "points of a block", "iterations", lambda r: f"N = {r['n']}, {r['steps']} steps",
           lambda r: (r["block"][0] * r["block"][1] if r["block"] else 1, mean(r)))
    curves("memory", "10 steps", "points per axis", "bytes", name_of, lambda r: (r["n"], r["memory_bytes"]))
    curves("windows", "windows", "points per axis", "seconds", name_of, lambda r: (r["n"], r["seconds"]))
    curves("devices", "several devices", "points per axis", "seconds", name_of, lambda r: (r["n"], r["seconds"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", choices=[*EXPERIMENTS, "all", "draw"])
    parser.add_argument("file", nargs="?", type=pathlib.Path, help="the raw file to draw")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "target/release/clinalg")
    parser.add_argument("--device", help="one device, as for clinalg")
    parser.add_argument("--devices", help="several devices, as for clinalg; for the experiment devices")
    parser.add_argument("--precision", default="f32", choices=["f32", "f64"], help="default f32, as in the thesis")
    parser.add_argument("--size", default=LARGE, choices=[SMALL, LARGE], help="of the grids; default large")
    parser.add_argument("--limit", type=float, default=3600, metavar="SECONDS", help="for all measurements together")
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE", help="raw reports, as JSON")
    options = parser.parse_args()
    if options.experiment == "draw":
        if options.file is None:
            parser.error("draw needs a raw file")
        draw(options.file)
        return
    if (options.experiment == "devices") != bool(options.devices):
        parser.error("--devices belongs to the experiment devices")
    names = [name for name in EXPERIMENTS if name != "devices"] if options.experiment == "all" else [options.experiment]
    measure(options, names)


if __name__ == "__main__":
    main()
