#!/usr/bin/env python3
"""Compares several devices of one host with one: multigrid for the Poisson problem in two and three dimensions, phase by phase.

    cargo build --release -p clinalg --example team
    python3 benches/team.py --devices 0,1 [--size small|large|largest] [--only poisson2] [--phases] [--out FILE.jsonl]
    python3 benches/team.py --devices 0 --size large --phases                      # one device: the overhead of a team
    python3 benches/team.py --devices 0,0 --size large                             # two contexts on one device
    POCL_DEVICES="pthread pthread" python3 benches/team.py --devices 0,1           # two devices on one CPU

Efficiency is T1 / (p Tp), from medians of seven runs of solves that begin and end on the devices; T1 is the time of the single-device solver
(`one`); a team of one device is timed as well. The column `gathered` gives the points per side up to which levels are solved on the first
device; if it is empty, the library chose. `--phases` shows, for each team, the time per cycle of each phase on each level, from a solve in which
phases do not overlap. `clinalg bench --devices` measures exchanges and the other solvers.
"""

import argparse
import json
import subprocess
import sys

# Points per side, sizes of the gathered levels.
CASES = {
    "small": [("poisson2", 257, [33, 65, 129]), ("poisson3", 33, [])],
    "large": [
        ("poisson2", 8193, [257, 513, 1025]), ("poisson2", 16385, [257, 513, 1025]),
        ("poisson3", 257, [33, 65]), ("poisson3", 513, [33, 65, 129]),
    ],
    "largest": [("poisson2", 32769, []), ("poisson3", 1025, [])],
}


def show_phases(lines, cycles):
    """Prints the time of each phase per cycle, level by level."""
    phases = sorted({line["phase"] for line in lines})
    levels = sorted({line["level"] for line in lines})
    times = {(line["phase"], line["level"]): 1e6 * line["seconds"] / max(cycles, 1) for line in lines}
    print(f"    {'us per cycle':<12} " + " ".join(f"{'level ' + str(level):>9}" for level in levels) + f" {'all':>9}")
    for phase in phases:
        row = [times.get((phase, level), 0.0) for level in levels]
        print(f"    {phase:<12} " + " ".join(f"{time:>9.1f}" for time in row) + f" {sum(row):>9.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--devices", default="0,1", help="indices, as `clinalg devices` lists them [default: 0,1]")
    parser.add_argument("--size", choices=list(CASES), default="small")
    parser.add_argument("--only", help="problems, separated by commas: poisson2, poisson3")
    parser.add_argument("--phases", action="store_true", help="show the time of each phase as well")
    parser.add_argument("--program", default="target/release/examples/team")
    parser.add_argument("--out", help="the raw lines are appended to this file")
    options = parser.parse_args()
    known = {name for name, _, _ in CASES[options.size]}
    chosen = set(options.only.split(",")) if options.only else known
    if chosen - known:
        parser.error(f"no such problem: {', '.join(sorted(chosen - known))}; there are {', '.join(sorted(known))}")
    failed = False
    print(f"{'problem':<9} {'n':>8} {'solver':>6} {'devices':>7} {'gathered':>8} {'cycles':>6} {'ms':>10} {'efficiency':>10}  fastest - slowest")
    for name, n, sides in CASES[options.size]:
        if name not in chosen:
            continue
        done = subprocess.run([options.program, name, str(n), options.devices, *map(str, sides)], capture_output=True, text=True)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        if done.returncode != 0:
            failed = True
            print(f"{name} {n}: {done.stderr.strip()}", file=sys.stderr)
        if options.out:
            with open(options.out, "a", encoding="utf-8") as raw:
                raw.writelines(json.dumps(line) + "\n" for line in lines)
        whole = [line for line in lines if "phase" not in line]
        for line in whole:
            efficiency = f"{whole[0]['seconds'] / (line['devices'] * line['seconds']):.0%}"
            print(f"{name:<9} {line['n']:>8} {line['solver']:>6} {line['devices']:>7} {line['gathered'] or '':>8} {line['cycles']:>6} "
                  f"{1e3 * line['seconds']:>10.3f} {efficiency:>10}  {1e3 * line['fastest']:.3f} - {1e3 * line['slowest']:.3f}", flush=True)
            same = [other for other in lines if "phase" in other and all(other[key] == line[key] for key in ("devices", "gathered"))]
            if options.phases and line["solver"] == "team" and same:
                show_phases(same, line["cycles"])
    sys.exit(failed)


if __name__ == "__main__":
    main()
