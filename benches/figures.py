#!/usr/bin/env python3
"""The figures of docs/performance.md from the raw files in benches/results/; needs Matplotlib (`pip install matplotlib`).

    python3 benches/figures.py                # all, each from the newest raw file of its kind
    python3 benches/figures.py products ode   # some

Bars and points are medians, whiskers go from the least to the largest sample. Each figure names the command that measures it.
"""

import argparse
import json
import pathlib
import statistics
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "clinalg", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
import matplotlib.pyplot as plt  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS, IMAGES = ROOT / "benches/results", ROOT / "docs/images"
OURS, FOUND, PEER, OTHER = "#4477aa", "#66ccee", "#bbbbbb", "#ee6677"
UNDOCUMENTED = "alg2 after preprocess for alg1"
# Multiplications and additions per value or grid point.
FLOPS = {"axpby": 3, "dot": 2, "mv_band": 10, "red_black": 6, "jacobi_fused": 40, "wave_leapfrog": 8, "wave_fused": 64}


def newest(pattern):
    files = sorted(RESULTS.glob(pattern))
    if not files:
        sys.exit(f"no raw file {pattern} in {RESULTS}")
    return json.loads(files[-1].read_text())


def whiskers(samples):
    middle = statistics.median(samples)
    return middle, [[middle - min(samples)], [max(samples) - middle]]


def save(figure, name):
    IMAGES.mkdir(exist_ok=True)
    figure.savefig(IMAGES / f"{name}.svg", metadata={"Date": None}, bbox_inches="tight")
    print(IMAGES / f"{name}.svg")


def products():
    """python3 benches/compare_gpu.py --parts sparse"""
    document = newest("*-h200-products.json")
    rows = {r["operation"].removeprefix("mv_csr "): r for r in document["results"] if r["operation"].startswith("mv_csr ")}
    names = [name for name in rows if "compressed rows only" not in name]
    figure, axes = plt.subplots(figsize=(8, 3.4))
    for k, name in enumerate(names):
        found, arrays = rows[name], rows[f"{name}, compressed rows only"]
        peers = {peer: s for peer, s in found["samples"].items() if peer != "clinalg"}
        documented = min((s for peer, s in peers.items() if UNDOCUMENTED not in peer), key=statistics.median)
        best = min(peers.values(), key=statistics.median)
        bars = [documented, best, arrays["samples"]["clinalg"], found["samples"]["clinalg"]]
        for j, (samples, colour) in enumerate(zip(bars, [PEER, OTHER, OURS, FOUND])):
            rate, error = whiskers([found["bytes"] / s / 1e12 for s in samples])
            axes.bar(k + 0.2 * (j - 1.5), min(rate, 7), 0.19, color=colour, yerr=error if rate < 7 else None, error_kw={"lw": 0.7})
            if rate > 7:
                axes.annotate(f"{rate:.1f}", (k + 0.2 * (j - 1.5), 7), ha="center", va="bottom", fontsize=7)
    copy = max(document["copy_bandwidth"]) / 1e12
    axes.axhline(copy, color="black", lw=0.8, ls="--")
    axes.annotate("copy", (len(names) - 0.5, copy), va="bottom", ha="right", fontsize=8)
    axes.set(ylim=(0, 7.6), ylabel="TB/s of 12 bytes per entry, 20 per row")
    axes.set_xticks(range(len(names)), [name.replace(" rows", "\nrows").replace("-point ", "-point\n") for name in names], fontsize=7)
    labels = ["cuSPARSE, best documented use", "cuSPARSE, best known use", "clinalg, CSR arrays only", "clinalg, structure found"]
    axes.legend([plt.Rectangle((0, 0), 1, 1, color=c) for c in (PEER, OTHER, OURS, FOUND)], labels, fontsize=7, frameon=False, ncols=2, loc="upper left")
    save(figure, "performance-products")


def roofline():
    """clinalg bench --n 8193 --json; clinalg bench --n 129 --only heat_v,heat_k,heat_ks,heat_d --json"""
    bench, heat = newest("*-h200-bench.json"), newest("*-h200-bench-heat.json")
    figure, axes = plt.subplots(figsize=(7, 4))
    copy, fma = bench["copy_bandwidth"] * 1e9, heat["fma_rate"]
    intensity = [0.02, fma / copy, 1000]
    axes.loglog(intensity, [min(copy * i, fma) / 1e12 for i in intensity], color="black", lw=1)
    axes.annotate(f"copy {copy / 1e12:.2f} TB/s", (0.021, copy * 0.035 / 1e12), fontsize=8)
    axes.annotate(f"multiply-adds {fma / 1e12:.0f} TFLOP/s", (60, 1.1 * fma / 1e12), fontsize=8)
    for result in bench["results"]:
        flops = FLOPS.get(result["operation"])
        if flops is None:
            continue
        total = flops * result["size"] if result["points_per_second"] is None else flops * result["n"] ** 2
        x, y = total / result["bytes"], total / result["seconds"] / 1e12
        axes.plot(x, y, "o", color=OURS, ms=4)
        axes.annotate(result["operation"], (x, y), fontsize=6, xytext=(3, -6), textcoords="offset points")
    for result in heat["results"]:
        x, y = result["flops"] / result["bytes"], result["flops"] / result["seconds"] / 1e12
        axes.plot(min(x, 900), y, "s", color=OTHER, ms=4)
        axes.annotate(result["operation"], (min(x, 900), y), fontsize=6, xytext=(3, 3), textcoords="offset points")
    axes.set(xlabel="operations per byte that must move", ylabel="TFLOP/s")
    save(figure, "performance-roofline")


def poisson():
    """python3 benches/sweeps.py poisson --device NVIDIA --amgcl PROGRAM"""
    document = newest("*-h200-sweep-poisson.json")
    figure, axes = plt.subplots(figsize=(6.5, 3.6))
    for operation, label, colour in (("poisson_solve", "clinalg, V-cycles to 1e-10", OURS), ("poisson_fmg", "clinalg, one pass of full multigrid", FOUND)):
        points = [(run["unknowns"], *whiskers([1e3 * s for s in run["seconds"][operation]])) for run in document["runs"]]
        curve(axes, points, label, colour)
    if document["amgcl"]:
        points = [(run["unknowns"], *whiskers([1e3 * s for s in run["seconds"]])) for run in document["amgcl"]]
        curve(axes, points, "AMGCL, algebraic multigrid and CG to 1e-10,\nsolve phase (any sparse matrix)", OTHER)
    axes.set(xscale="log", yscale="log", xlabel="unknowns", ylabel="ms")
    axes.legend(fontsize=8, frameon=False)
    save(figure, "performance-poisson")


def curve(axes, points, label, colour):
    error = [[p[2][side][0] for p in points] for side in (0, 1)]
    axes.errorbar([p[0] for p in points], [p[1] for p in points], yerr=error, label=label, color=colour, marker="o", ms=3, lw=1.2, capsize=2)


def ode():
    """python3 benches/sweeps.py ode --device NVIDIA"""
    document = newest("*-h200-sweep-ode.json")
    figure, axes = plt.subplots(figsize=(6.5, 3.6))
    names = {"bs32": "BS 3(2)", "dopri54": "DOPRI5(4)", "verner65": "Verner 6(5)", "dopri87": "DOPRI8(7)"}
    for (method, label), colour in zip(names.items(), ["#228833", OURS, OTHER, "#aa3377"]):
        runs = [run for run in document["runs"] if run["method"] == method]
        curve(axes, [(run["error"], *whiskers([1e3 * s for s in run["seconds"]])) for run in runs], label, colour)
    axes.set(xscale="log", yscale="log", xlabel="largest error of a component", ylabel="ms")
    axes.invert_xaxis()
    axes.legend(fontsize=8, frameon=False)
    save(figure, "performance-ode")


def heat():
    """python3 benches/sweeps.py heat --device NVIDIA"""
    document = newest("*-h200-sweep-heat.json")
    figure, axes = plt.subplots(figsize=(6.5, 3.2))
    unknowns = [run["elements"] * run["steps"] for run in document["runs"]]
    for key, label, colour in (("seconds", "assembly and solve", OURS), ("seconds_solve", "solve by forward elimination", FOUND)):
        curve(axes, [(n, *whiskers(run[key])) for n, run in zip(unknowns, document["runs"])], label, colour)
    axes.set(xscale="log", yscale="log", xlabel="unknowns (triangles times time steps)", ylabel="s")
    axes.legend(fontsize=8, frameon=False)
    save(figure, "performance-heat")


FIGURES = {figure.__name__: figure for figure in (products, roofline, poisson, ode, heat)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=f"{', '.join(FIGURES)} [default: all]")
    for name in parser.parse_args().figures or FIGURES:
        if name not in FIGURES:
            parser.error(f"no figure is called `{name}`; there are {', '.join(FIGURES)}")
        FIGURES[name]()


if __name__ == "__main__":
    main()
