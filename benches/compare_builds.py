#!/usr/bin/env python3
"""Two builds of clinalg in turns on the same device: is the second as fast as the first?

    python3 benches/compare_builds.py BEFORE AFTER                  # two programs `clinalg`, all cases
    python3 benches/compare_builds.py BEFORE AFTER --quick          # small sizes, to try the script
    python3 benches/compare_builds.py --show FILE                   # prints the table of an earlier run

Needs Python only. Each round runs `clinalg bench` of both programs on every case, every other round in the opposite order. A
round's ratio is the time before over the time after, from the medians of its samples; the table has the median of the ratios
and their range. Above 1 the second build is faster. Operations that only one of the programs has are named and left out.
"""

import argparse
import datetime
import json
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
VECTORS = "copy,axpby,scale,multiply,sum,dot,norm1,norm2,norm_inf"
PRODUCTS = "mv_csr_poisson5,mv_band,mv_dense,mv_dense_transposed"
GRIDS = "jacobi,jacobi_fused,red_black,defect,restrict,interpolate,poisson_vcycle,poisson_solve,poisson_fmg"
REST = "cg_iteration,wave_leapfrog,wave_fused,enqueue"
# (points per side, precision, operations)
CASES = {
    "gpu": [
        (8193, "f64", VECTORS), (4097, "f64", PRODUCTS), (4097, "f64", GRIDS), (4097, "f64", REST), (1025, "f64", GRIDS),
        (4097, "f32", f"{PRODUCTS},red_black"), (257, "f64", "poisson3_fmg"), (129, "f64", "heat_v,heat_k,heat_ks,heat_d"),
    ],
    "cpu": [
        (2049, "f64", VECTORS), (2049, "f64", PRODUCTS), (2049, "f64", GRIDS), (2049, "f64", REST),
        (1025, "f32", f"{PRODUCTS},red_black"), (33, "f64", "heat_v,heat_d"),
    ],
    "quick": [(129, "f64", f"{VECTORS},{PRODUCTS}"), (129, "f64", "jacobi,red_black,poisson_solve,enqueue")],
}


def bench(program, case, options):
    """{(operation, n, precision): seconds} of one run, and the copy bandwidth."""
    n, precision, operations = case
    command = [program, "--device", options.device, "bench", "--json", "--n", str(n), "--precision", precision]
    command += ["--samples", str(options.samples), "--only", operations]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
    document = json.loads(done.stdout)
    return {(r["operation"], n, precision): r["samples"] for r in document["results"]}, document


def supported(program, operations):
    """The operations of a comma-separated list that the program knows, from its help."""
    text = subprocess.run([program, "bench", "--help"], capture_output=True, text=True).stdout
    return [name for name in operations.split(",") if name in text]


def table(document):
    lines = [f"device {document['device']}, {document['rounds']} rounds of {document['samples']} samples", ""]
    lines.append(f"{'operation':<22} {'n':>6} {'':>4} {'before, ms':>11} {'after, ms':>11} {'ratio':>7}  range")
    for row in document["results"]:
        ratios = [statistics.median(b) / statistics.median(a) for b, a in zip(row["before"], row["after"])]
        before, after = (1e3 * statistics.median(statistics.median(s) for s in row[k]) for k in ("before", "after"))
        spread = f"{min(ratios):.3f} - {max(ratios):.3f}"
        lines.append(f"{row['operation']:<22} {row['n']:>6} {row['precision']:>4} {before:>11.4f} {after:>11.4f} "
                     f"{statistics.median(ratios):>7.3f}  {spread}")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="the programs before and after")
    parser.add_argument("--device", default="0", help="index or part of the name [default: 0]")
    parser.add_argument("--cases", choices=["gpu", "cpu"], default="cpu", help="sizes for a GPU or a CPU [default: cpu]")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--samples", type=int, default=11, help="samples per operation and round")
    parser.add_argument("--quick", action="store_true", help="small sizes, two rounds; writes nothing")
    parser.add_argument("--out", type=pathlib.Path, help="the raw file [default: benches/results/DATE-CASES-builds.json]")
    parser.add_argument("--show", type=pathlib.Path, help="print the table of a raw file and end")
    options = parser.parse_args()
    if options.show:
        print(table(json.loads(options.show.read_text())))
        return
    if len(options.programs) != 2:
        parser.error("two programs are expected: before and after")
    if options.quick:
        options.rounds = 2
    cases, left_out = [], []
    for n, precision, operations in CASES["quick" if options.quick else options.cases]:
        both = [name for name in supported(options.programs[0], operations) if name in supported(options.programs[1], operations)]
        left_out += [name for name in operations.split(",") if name not in both]
        cases.append((n, precision, ",".join(both)))
    for name in left_out:
        print(f"{name}: not in both programs", file=sys.stderr)
    rows, device = {}, None
    for turn in range(options.rounds):
        for case in cases:
            for which in (0, 1) if turn % 2 == 0 else (1, 0):
                samples, report = bench(options.programs[which], case, options)
                device = report["device"]
                for key, values in samples.items():
                    rows.setdefault(key, ([], []))[which].append(values)
        print(f"round {turn + 1} of {options.rounds}", file=sys.stderr)
    document = {
        "date": datetime.date.today().isoformat(), "device": device, "rounds": options.rounds, "samples": options.samples,
        "results": [{"operation": o, "n": n, "precision": p, "before": b, "after": a} for (o, n, p), (b, a) in rows.items()],
    }
    print(table(document))
    if not options.quick:
        path = options.out or ROOT / "benches/results" / f"{document['date']}-{options.cases}-builds.json"
        path.write_text(json.dumps(document) + "\n")
        print(f"raw file: {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
