#!/usr/bin/env python3
"""Several devices of one host against one: multigrid for the Poisson problem in two and three dimensions, and the wave equation.

    cargo build --release -p clinalg --example team
    python3 benches/team.py --devices 0,1 [--size small|large] [--only poisson2,wave] [--out FILE.jsonl]
    POCL_DEVICES="pthread pthread" python3 benches/team.py --devices 0,1           # two devices on one processor

Efficiency is T1 / (p Tp), from medians of seven runs of solves that begin and end on the devices. The column `gathered` has the points per
side up to which levels are solved on the first device; without a number the library has chosen.
"""

import argparse
import json
import subprocess
import sys

# Points per side, sizes of the gathered levels.
CASES = {
    "small": [("poisson2", 257, [33, 65, 129]), ("poisson3", 33, []), ("wave", 257, [])],
    "large": [
        ("poisson2", 8193, [257, 513, 1025, 2049, 4097]), ("poisson2", 16385, [257, 513, 1025, 2049, 4097]),
        ("poisson3", 257, [33, 65, 129]), ("poisson3", 513, [33, 65, 129, 257]), ("wave", 8193, []), ("wave", 16385, []),
    ],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--devices", default="0,1", help="indices, as `clinalg devices` lists them [default: 0,1]")
    parser.add_argument("--size", choices=list(CASES), default="small")
    parser.add_argument("--only", help="problems, separated by commas: poisson2, poisson3, wave")
    parser.add_argument("--program", default="target/release/examples/team")
    parser.add_argument("--out", help="the raw lines are appended to this file")
    options = parser.parse_args()
    known = {name for name, _, _ in CASES[options.size]}
    chosen = set(options.only.split(",")) if options.only else known
    if chosen - known:
        parser.error(f"no such problem: {', '.join(sorted(chosen - known))}; there are {', '.join(sorted(known))}")
    failed = False
    print(f"{'problem':<9} {'n':>6} {'devices':>7} {'gathered':>8} {'cycles':>6} {'ms':>10} {'efficiency':>10}  fastest - slowest")
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
        for line in lines:
            efficiency = lines[0]["seconds"] / (line["devices"] * line["seconds"])
            print(f"{name:<9} {n:>6} {line['devices']:>7} {line['gathered'] or '':>8} {line['cycles']:>6} {1e3 * line['seconds']:>10.3f} "
                  f"{efficiency:>10.0%}  {1e3 * line['fastest']:.3f} - {1e3 * line['slowest']:.3f}", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
