#!/usr/bin/env python3
"""Times elastodynamic boundary elements and compares them with each other: assembly by tiles, by the published algorithm and with
adaptive rules, products on the fly, LU, solution, a sweep over the frequency, several devices, plain Rust loops.

    cargo build --release -p clinalg-bem --example elastodynamics_speed
    python3 benches/elastodynamics.py --only geometry,assembly,adaptive     # under a minute on an H200
    python3 benches/elastodynamics.py [--small] [--samples 11] [--only assembly,published] [--out FILE]

The program's lines go to FILE as they are. --small takes a few elements of each, to see that it runs. CLINALG_DEVICE names the device;
for several processors of PoCL set POCL_DEVICES, as in POCL_DEVICES="pthread pthread".
"""

import argparse
import json
import subprocess
import sys


def ratio(lines, name, other, precision, rows):
    """How many times as long as the line `name` the line `other` takes."""
    def of(wanted):
        return next((l["seconds"] for l in lines
                     if l.get("name") == wanted and l["precision"] == precision and l["rows"] == rows), None)
    mine, theirs = of(name), of(other)
    return theirs / mine if mine and theirs else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/examples/elastodynamics_speed")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--samples", type=int)
    parser.add_argument("--only", help="plain, geometry, assembly, published, adaptive, on_the_fly, devices, system")
    parser.add_argument("--out")
    arguments = parser.parse_args()
    command = [arguments.program]
    if arguments.small:
        command.append("--small")
    for option, value in (("--samples", arguments.samples), ("--only", arguments.only)):
        if value is not None:
            command += [option, str(value)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if arguments.out:
        with open(arguments.out, "w") as file:
            file.write(done.stdout)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        sys.exit(f"{command[0]} ended with {done.returncode}")
    print(lines[0].get("device"), lines[0].get("driver"), lines[0].get("kernel_family"))
    print(f"{'name':<18} {'precision':<9} {'rows':>6} {'cols':>6} {'dev':>3} {'seconds':>10} {'eval/s':>9} {'of fma':>6}  note")
    for line in lines:
        if "name" not in line:
            continue
        rate = line.get("evaluations_per_second")
        part = line.get("fraction_of_fma_rate")
        print(f"{line['name']:<18} {line['precision']:<9} {line['rows']:>6} {line['cols']:>6} {line['devices']:>3} "
              f"{line['seconds']:>10.5f} {'' if rate is None else f'{rate:.2e}':>9} {'' if part is None else f'{part:.0%}':>6}  "
              f"{line.get('note', '')}")
    print()
    plain = next((l for l in lines if l.get("name") == "plain_all_threads"), None)
    for line in (l for l in lines if l.get("name") == "assembly"):
        words = [f"{line['precision']}, {line['rows']} x {line['cols']}: assembly"]
        for other in ("published", "adaptive"):
            times = ratio(lines, "assembly", other, line["precision"], line["rows"])
            if times:
                words.append(f"{other} takes {times:.2f} times as long")
        times = ratio(lines, "adaptive_again", "assembly_again", line["precision"], line["rows"])
        if times:
            words.append(f"without new memory adaptive rules are {times:.2f} times as fast")
        if plain:
            words.append(f"{line['evaluations_per_second'] / plain['evaluations_per_second']:.1f} times the rate of plain Rust loops")
        print("; ".join(words))
    for precision in ("f32", "f64"):
        shared = [l for l in lines if l.get("name") == "devices" and l["precision"] == precision and l["devices"] > 1]
        for line in shared:
            alone = next(l for l in lines if l.get("name") == "devices" and l["devices"] == 1
                         and (l["precision"], l["rows"]) == (precision, line["rows"]))
            part = alone["seconds"] / line["seconds"] / line["devices"]
            print(f"{precision}, {line['rows']} x {line['cols']}: {line['devices']} devices at {part:.0%} of their rate alone")


if __name__ == "__main__":
    main()
