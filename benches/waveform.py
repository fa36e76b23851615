#!/usr/bin/env python3
"""The experiments of the thesis on waveform relaxation (Bayreuth 2016), each as one command; needs Python only.

    python3 benches/waveform.py blocks               # iterations over the size of blocks
    python3 benches/waveform.py variants             # time and memory of every variant over N, one window of 100 steps, 8 iterations
    python3 benches/waveform.py windows              # the same in 10 windows
    python3 benches/waveform.py lengths              # a long run in windows of several lengths
    python3 benches/waveform.py euler                # time against Euler's method over N, to Euler's local error
    python3 benches/waveform.py devices --devices 0,1  # blocks on several devices, general and limited exchange, over N
    python3 benches/waveform.py blocks --largest 100 # small, to try

BRUSS2D throughout, h = 1e-4. Prints a table, writes the reports to benches/results/ with --out NAME. What does not fit the device
says in the table how many bytes it needs.
"""

import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS = ["n", "variant", "block", "windows", "iterations", "seconds", "euler", "over Euler", "MiB"]


def run(options, n, steps, *arguments):
    """The report, or the message where memory or local memory do not suffice."""
    command = [str(options.program), "waveform", "--problem", "bruss2d", "--n", str(n), "--h", "1e-4"]
    command += ["--steps", str(steps), "--precision", options.precision, "--json", *map(str, arguments)]
    if options.devices:
        command += ["--devices", options.devices]
    elif options.device:
        command += ["--device", options.device]
    done = subprocess.run(command, capture_output=True, text=True)
    report = json.loads(done.stdout) if done.stdout else {"error": {"id": "none", "message": done.stderr.strip()}}
    if "error" in report and report["error"]["id"] not in ("clinalg:ode:memory", "clinalg:ode:variant"):
        sys.exit(f"{' '.join(command)}: {report['error']['message']}")
    return {"arguments": command[1:], **report}


def sizes(options, *all_sizes):
    return [n for n in all_sizes if n <= options.largest] or [options.largest]


def blocks(options):
    """Section 1 of the facts: couplings as strong as at N = 1000 need Jacobi's bound, blocks half of it."""
    for n, steps, eps in [(1000, 25, 0), (500, 100, 1e-3), (100, 100, 1e-3)]:
        if n > options.largest:
            continue
        yield run(options, n, steps, "--eps", eps)
        for side in (8, 16, 32, 64):
            yield run(options, n, steps, "--eps", eps, "--variant", "block-boundary", "--block", f"{side}x{side}")
        yield run(options, n, steps, "--eps", eps, "--variant", "block-boundary", "--block", f"{min(256, n)}x1")


def variants(options, windows=1):
    for n in sizes(options, 10, 20, 50, 100, 500, 1000, 2000, 3000):
        for variant in ("copy-all", "copy-access-distance", "component", "point", "block", "block-boundary"):
            block = ["--block", f"{min(32, n)}x{min(32, n)}"] if variant.startswith("block") else []
            yield run(options, n, 100, "--iterations", 8, "--windows", windows, "--variant", variant, *block)


def lengths(options):
    for windows in (50, 250, 1000, 10000, 25000):
        yield run(options, min(options.largest, 100), 50000, "--windows", windows, "--eps", 1e-8)


def euler(options):
    for n in sizes(options, 10, 20, 40, 80, 160, 320):
        for variant in ("component", "point", "block-boundary"):
            # The local error of a step is of the order of h^2.
            yield run(options, n, 5000, "--windows", 1000, "--eps", 1e-8, "--variant", variant)


def devices(options):
    for n in sizes(options, 512, 1024, 2048, 4096, 8192, 16384):
        for sharing in ("general", "limited"):
            yield run(options, n, 100, "--iterations", 8, "--windows", 10, "--variant", "block-boundary", "--sharing", sharing)


EXPERIMENTS = {
    "blocks": blocks,
    "variants": variants,
    "windows": lambda options: variants(options, 10),
    "lengths": lengths,
    "euler": euler,
    "devices": devices,
}


def row(report):
    if "error" in report:
        arguments = report["arguments"]
        n = arguments[arguments.index("--n") + 1]
        return [n, arguments[arguments.index("--variant") + 1], report["error"]["message"]]
    block = "x".join(map(str, report["block"])) if report["block"] else ""
    counts = report["iterations"]
    mean = sum(counts) / len(counts)
    over = report["seconds"] / report["euler_seconds"]
    times = [f"{report['seconds']:.4g}", f"{report['euler_seconds']:.4g}", f"{over:.2f}"]
    memory = f"{report['memory_bytes'] / 2**20:.2f}"
    return [str(report["n"]), report["variant"], block, str(len(counts)), f"{mean:g}", *times, memory]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", choices=EXPERIMENTS)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "target/release/clinalg")
    parser.add_argument("--device", help="one device, as for clinalg")
    parser.add_argument("--devices", help="several devices, as for clinalg; for the experiment devices")
    parser.add_argument("--precision", default="f32", choices=["f32", "f64"], help="default f32, as in the thesis")
    parser.add_argument("--largest", type=int, default=3000, metavar="N", help="largest grid, default 3000")
    parser.add_argument("--out", help="name of the raw file below benches/results")
    options = parser.parse_args()
    if (options.experiment == "devices") != bool(options.devices):
        parser.error("--devices belongs to the experiment devices")
    reports = []
    print(" | ".join(COLUMNS))
    for report in EXPERIMENTS[options.experiment](options):
        reports.append(report)
        print(" | ".join(row(report)), flush=True)
    if options.out:
        text = json.dumps({"experiment": options.experiment, "runs": reports}, indent=1)
        (ROOT / "benches/results" / options.out).write_text(text + "\n")


if __name__ == "__main__":
    main()
