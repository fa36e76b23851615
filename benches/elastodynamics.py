#!/usr/bin/env python3
"""Times and compares the parts of the elastodynamic boundary element method: assembly by tiles, by the published algorithm, with adaptive rules
and with the columns of enclosing elements, products on the fly, GMRES, LU, solves, a frequency sweep, several devices, and plain Rust
loops. Also compares both precisions with a known field.

    cargo build --release -p clinalg-bem --example elastodynamics_speed
    python3 benches/elastodynamics.py --out FILE                                  # everything; some minutes on an H200
    python3 benches/elastodynamics.py --only geometry,assembly,adaptive           # under a minute on an H200
    python3 benches/elastodynamics.py --only devices --devices 0,1 --out FILE     # two GPUs: parallel efficiency
    python3 benches/elastodynamics.py --only versus --samples 9                   # a CPU against plain Rust loops on all threads
    python3 benches/elastodynamics.py --small                                     # a smoke test with a few elements

Each assembly is timed in three ways: in new memory with its release, as for a user who drops the matrices; in new memory without the release ("kept"); and in the
memory of the previous assembly ("again"), as in a frequency sweep. The program's output is written to FILE unchanged. CLINALG_DEVICE selects the device;
`--devices` selects those that share the rows. `versus` alternates between plain loops and the device and takes the best time of each, so that other load
on the machine matters little.
"""

import argparse
import json
import subprocess
import sys

NAMES = "plain, versus, geometry, assembly, published, adaptive, rectangular, on_the_fly, gmres, devices, system, accuracy"
# Targets in seconds.
SECONDS = {("assembly", "f32", 1600): 0.010, ("assembly", "f64", 1600): 0.025, ("assembly", "f32", 6400): 0.2, ("assembly", "f64", 6400): 0.5,
           ("lu", "f32", 1600): 0.25, ("lu", "f64", 1600): 0.5}


def find(lines, name, precision, rows, devices=1):
    """The seconds of the matching line, or None."""
    wanted = (name, precision, rows, devices)
    return next((l["seconds"] for l in lines if (l["name"], l["precision"], l["rows"], l["devices"]) == wanted), None)


def table(lines):
    print(f"{'name':<26} {'precision':<9} {'rows':>6} {'cols':>6} {'dev':>3} {'seconds':>10} {'eval/s':>9} {'of fma':>6} {'iter':>4}  note")
    for line in lines:
        rate, part = line.get("evaluations_per_second"), line.get("fraction_of_fma_rate")
        print(f"{line['name']:<26} {line['precision']:<9} {line['rows']:>6} {line['cols']:>6} {line['devices']:>3} "
              f"{line['seconds']:>10.5f} {'' if rate is None else f'{rate:.2e}':>9} {'' if part is None else f'{part:.0%}':>6} "
              f"{line.get('iterations', ''):>4}  {line.get('note', '')}")


def ratios(lines):
    """Prints the ratios between related lines."""
    plain = next((l for l in lines if l["name"] == "plain_all_threads"), None)
    for line in lines:
        precision, rows, label = line["precision"], line["rows"], f"{line['precision']}, {line['rows']} x {line['cols']}"
        limit = SECONDS.get((line["name"], precision, rows))
        if limit:
            print(f"{label}: {line['name']} {1e3 * line['seconds']:.2f} ms, wanted at most {1e3 * limit:.0f} ms")
        if line["name"] == "adaptive":
            for end, words in (("", "in new memory, its release included"), ("_kept", "in new memory"), ("_again", "in the same memory")):
                fixed, own = (find(lines, name + end, precision, rows) for name in ("assembly", "adaptive"))
                if fixed and own:
                    print(f"{label}: adaptive rules are {fixed / own:.2f} times as fast as 8 x 8 {words}")
        if line["name"] == "assembly":
            published = find(lines, "published", precision, rows)
            if published:
                print(f"{label}: the published algorithm takes {published / line['seconds']:.2f} times as long")
            if plain:
                print(f"{label}: {line['evaluations_per_second'] / plain['evaluations_per_second']:.1f} times the rate of plain Rust loops")
        if line["name"] in ("devices", "devices_again") and line["devices"] > 1:
            alone = find(lines, line["name"], precision, rows)
            share = alone / line["seconds"] / line["devices"]
            words = "in new memory" if line["name"] == "devices" else "in the same memory"
            print(f"{label}: {line['devices']} devices {words}: efficiency {share:.1%}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/examples/elastodynamics_speed")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--samples", type=int, help="11, with --small 2")
    parser.add_argument("--only", help=NAMES)
    parser.add_argument("--devices", help="devices that share rows: indices with commas between, or all")
    parser.add_argument("--out")
    arguments = parser.parse_args()
    unknown = set((arguments.only or "").split(",")) - set(NAMES.split(", ")) - {""}
    if unknown:
        parser.error(f"--only: no {', '.join(sorted(unknown))} among {NAMES}")
    command = [arguments.program] + ["--small"] * arguments.small
    for option, value in (("--samples", arguments.samples), ("--only", arguments.only), ("--devices", arguments.devices)):
        if value is not None:
            command += [option, str(value)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if arguments.out:
        with open(arguments.out, "w") as file:
            file.write(done.stdout)
    documents = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not documents:
        sys.exit(f"{command[0]} ended with {done.returncode}")
    lines = [d for d in documents if "name" in d]
    print(documents[0].get("device"), documents[0].get("driver"), documents[0].get("kernel_family"))
    table(lines)
    print()
    ratios(lines)
    for d in documents:
        if "accuracy" in d:
            print(f"{d['accuracy']}, {d['elements']} elements: residual {d['residual_identity']:.3e}, error of t {d['error_t_f64']:.3e}, "
                  f"f32 {d['error_t_f32']:.3e}; f32 differs from f64 by {d['f32_from_f64']:.1e}")


if __name__ == "__main__":
    main()
