#!/usr/bin/env python3
"""The figures of docs/performance.md and docs/theory/waveform.md from the raw files in benches/results/; needs Matplotlib (`pip install matplotlib`).

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
matplotlib.rcParams.update({"svg.hashsalt": "clinalg", "svg.fonttype": "none", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
import matplotlib.pyplot as plt  # noqa: E402
import matplotlib.ticker  # noqa: E402

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
    axes.annotate("copy", (len(names) - 0.45, copy), va="bottom", ha="left", fontsize=8)
    axes.set(ylim=(0, 7.6), ylabel="TB/s of 12 bytes per entry, 20 per row")
    axes.set_xticks(range(len(names)), [caption(name) for name in names], fontsize=7)
    labels = ["cuSPARSE, best documented use", "cuSPARSE, best known use", "clinalg, CSR arrays only", "clinalg, structure found"]
    axes.legend([plt.Rectangle((0, 0), 1, 1, color=c) for c in (PEER, OTHER, OURS, FOUND)], labels, fontsize=7, frameon=False, ncols=2, loc="upper left")
    save(figure, "performance-products")


def caption(name):
    """The name of a matrix in lines that fit below its bars."""
    sizes = {"4000000": "4 · 10⁶", "^2": "²", "^3": "³", "-point constant ": "-point,\nconstant,\n", "-point ": "-point\n"}
    breaks = {"random ": "random\n", "power law ": "power law\n", " diagonals ": " diagonals\n", " rows x ": " rows\n× ", " per": "\nper"}
    for old, new in {**sizes, **breaks}.items():
        name = name.replace(old, new)
    return name


def roofline():
    """clinalg bench --n 8193 --json; clinalg bench --n 129 --only heat_v,heat_k,heat_ks,heat_d --json"""
    bench, heat = newest("*-h200-bench.json"), newest("*-h200-bench-heat.json")
    figure, axes = plt.subplots(figsize=(7, 4))
    copy, fma = bench["copy_bandwidth"] * 1e9, heat["fma_rate"]
    intensity = [0.02, fma / copy, 1000]
    axes.loglog(intensity, [min(copy * i, fma) / 1e12 for i in intensity], color="black", lw=1)
    axes.annotate(f"copy {copy / 1e12:.2f} TB/s", (0.11, copy * 0.16 / 1e12), ha="right", fontsize=8)
    axes.annotate(f"multiply-adds {fma / 1e12:.0f} TFLOP/s", (60, 1.1 * fma / 1e12), fontsize=8)
    for result in bench["results"]:
        flops = FLOPS.get(result["operation"])
        if flops is None:
            continue
        total = flops * result["size"] if result["points_per_second"] is None else flops * result["n"] ** 2
        x, y = total / result["bytes"], total / result["seconds"] / 1e12
        axes.plot(x, y, "o", color=OURS, ms=4)
        below = {"dot": -11, "jacobi_fused": -9}.get(result["operation"], -4)
        axes.annotate(result["operation"], (x, y), fontsize=7, xytext=(6, below), textcoords="offset points")
    for result in heat["results"]:
        x, y = result["flops"] / result["bytes"], result["flops"] / result["seconds"] / 1e12
        axes.plot(min(x, 900), y, "s", color=OTHER, ms=4)
        below = -8 if result["operation"] == "heat_k" else 0
        axes.annotate(result["operation"], (min(x, 900), y), fontsize=7, xytext=(6, below), textcoords="offset points")
    axes.set(xlabel="operations per byte that must move", ylabel="TFLOP/s")
    save(figure, "performance-roofline")


def poisson():
    """python3 benches/sweeps.py poisson --device NVIDIA --amgcl PROGRAM"""
    document = newest("*-h200-sweep-poisson.json")
    figure, axes = plt.subplots(figsize=(6.5, 3.6))
    for operation, label, colour in (("poisson_solve", "clinalg, V-cycles to 10⁻¹⁰", OURS), ("poisson_fmg", "clinalg, one pass of full multigrid", FOUND)):
        points = [(run["unknowns"], *whiskers([1e3 * s for s in run["seconds"][operation]])) for run in document["runs"]]
        curve(axes, points, label, colour)
    if document["amgcl"]:
        points = [(run["unknowns"], *whiskers([1e3 * s for s in run["seconds"]])) for run in document["amgcl"]]
        curve(axes, points, "AMGCL, algebraic multigrid and CG to 10⁻¹⁰,\nsolve phase (any sparse matrix)", OTHER)
    axes.set(xscale="log", yscale="log", xlabel="unknowns", ylabel="time, ms")
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
    axes.set(xscale="log", yscale="log", xlabel="largest error of a component", ylabel="time, ms")
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
    axes.set(xscale="log", yscale="log", xlabel="unknowns (triangles times time steps)", ylabel="time, s")
    axes.legend(fontsize=8, frameon=False)
    save(figure, "performance-heat")


def waveform():
    """python3 benches/waveform.py all | devices | network"""
    done = newest("*-h200-waveform.json")["experiments"]
    good = {name: [r for r in reports if "error" not in r] for name, reports in done.items()}
    variants(good["variants"])
    windows(good["windows"])
    against(good["methods"])
    blocks(good["blocks"])
    for name, draw in (("devices", devices), ("network", network)):
        if sorted(RESULTS.glob(f"*-h200-waveform-{name}.json")):
            draw([r for r in newest(f"*-h200-waveform-{name}.json")["experiments"][name] if "error" not in r])


# Of variants that take the same memory: their curves are all seen.
DASHES = {"point": (0, (4, 8)), "block": (8, (4, 8))}
COLOURS = [OURS, OTHER, "#228833", "#ccbb44", FOUND, "#aa3377"]


def plain(axis, values):
    """Ticks of a logarithmic axis without powers: 1, 2, 5 a decade, over more than two decades each power of ten."""
    positions = (1,) if max(values) > 100 * min(values) else (1, 2, 5)
    axis.set_major_locator(matplotlib.ticker.LogLocator(subs=positions))
    axis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(matplotlib.ticker.NullFormatter())


def lines(axes, points, xlabel, ylabel):
    """Plots one curve per key of the (key, x, y) triples."""
    names = list(dict.fromkeys(key for key, _, _ in points))
    for name, colour in zip(names, COLOURS):
        own = sorted((x, y) for key, x, y in points if key == name)
        axes.plot(*zip(*own), label=name, color=colour, marker="o", ms=3, lw=1.5, ls=DASHES.get(name, "-"))
    axes.set(xscale="log", yscale="log", xlabel=xlabel, ylabel=ylabel)
    plain(axes.xaxis, [x for _, x, _ in points])
    plain(axes.yaxis, [y for _, _, y in points])


def legend(figure, axes, columns):
    """One of all axes, above them."""
    figure.tight_layout()
    figure.legend(*axes.get_legend_handles_labels(), loc="lower center", bbox_to_anchor=(0.5, 1), ncol=columns, fontsize=8, frameon=False)


def iterations(report):
    return sum(report["iterations"]) / len(report["iterations"])


def variants(reports):
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
    lines(left, [(r["variant"], r["n"], 1e3 * r["seconds"]) for r in reports], "points per axis", "time, ms")
    euler = {r["n"]: 1e3 * r["method_seconds"] for r in reports}
    left.plot(*zip(*sorted(euler.items())), label="Euler's method", color="black", lw=1, ls="--")
    lines(right, [(r["variant"], r["n"], r["memory_bytes"] / 2**20) for r in reports], "points per axis", "memory, MiB")
    legend(figure, left, 4)
    save(figure, "waveform-variants")


def windows(reports):
    own = [r for r in reports if r["steps"] == 5000 and len(set(r["window_steps"])) == 1]
    guess = lambda r: "initial guess: " + r["arguments"][r["arguments"].index("--guess") + 1] if "--guess" in r["arguments"] else None
    own = [r for r in own if guess(r)]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
    lines(left, [(guess(r), r["windows"], 1e3 * r["seconds"]) for r in own], "windows", "time, ms")
    left.axhline(1e3 * min(r["method_seconds"] for r in own), label="Euler's method", color="black", lw=1, ls="--")
    lines(right, [(guess(r), r["windows"], iterations(r)) for r in own], "windows", "iterations of a window")
    legend(figure, left, 3)
    save(figure, "waveform-windows")


def against(reports):
    figure, axes = plt.subplots(figsize=(6.5, 3.6))
    lines(axes, [(f"{r['variant']}, {r['method']}", r["n"], r["seconds"] / r["method_seconds"]) for r in reports], "points per axis",
          "time over that of the method itself")
    axes.axhline(1, color="black", lw=1, ls="--")
    legend(figure, axes, 3)
    save(figure, "waveform-methods")


def blocks(reports):
    figure, axes = plt.subplots(figsize=(6.5, 3.6))
    points = lambda r: r["block"][0] * r["block"][1] if r["block"] else 1
    row = lambda r: r["block"] and r["block"][0] != r["block"][1]
    name = lambda r: f"{r['n']} points per axis, {r['steps']} steps"
    lines(axes, [(name(r), points(r), iterations(r)) for r in reports if not row(r)], "points of a block", "iterations")
    colours = {curve.get_label(): curve.get_color() for curve in axes.get_lines()}
    for r in filter(row, reports):
        axes.plot(points(r), iterations(r), color=colours[name(r)], marker="_", ms=12, mew=2, ls="none")
    axes.plot([], [], label="square blocks", color="black", marker="o", ms=3, ls="none")
    axes.plot([], [], label="a block is a row", color="black", marker="_", ms=12, mew=2, ls="none")
    axes.set_yscale("linear")
    axes.set_ylim(0, None)
    legend(figure, axes, 2)
    save(figure, "waveform-blocks")


def devices(reports):
    figure, axes = plt.subplots(figsize=(6.5, 3.2))
    several = [(r, run) for r in reports for run in r["runs"] if run["devices"] > 1]
    name = lambda r, run: r["variant"] + (f", {run['sharing']}" if r["variant"] != "device" else "")
    names, sizes = (list(dict.fromkeys(values)) for values in ([name(*pair) for pair in several], [r["n"] for r, _ in several]))
    width = 0.8 / len(names)
    for place, (label, colour) in enumerate(zip(names, COLOURS)):
        own = [(sizes.index(r["n"]) + width * (place - (len(names) - 1) / 2), 100 * run["speedup"] / run["devices"])
               for r, run in several if name(r, run) == label]
        axes.bar_label(axes.bar(*zip(*own), width, label=label, color=colour), fmt="%.0f", fontsize=8)
    axes.set_xticks(range(len(sizes)), [f"n = {n}" for n in sizes])
    axes.set(ylim=(0, 105), ylabel="efficiency of an iteration, %")
    legend(figure, axes, 4)
    save(figure, "waveform-devices")


def network(reports):
    columns = 3
    rows = -(-len(reports) // columns)
    figure, grid = plt.subplots(rows, columns, figsize=(9, 2.8 * rows), sharex=True, sharey=True, squeeze=False)
    for axes in grid.flat[len(reports):]:
        axes.set_visible(False)
    for axes, r in zip(grid.flat, reports):
        runs = [run for run in r["runs"] if run["nodes"] > 1]
        for key, label, style in (("step_exchange", "every step", ":"), ("best_step_exchange", "the best number of steps", "-")):
            for latency, colour in zip(dict.fromkeys(run["latency"] for run in runs), COLOURS):
                own = [(run["nodes"], run[key] / run["window_exchange"]) for run in runs if run["latency"] == latency]
                axes.plot(*zip(*own), label=f"{1e6 * latency:.0f} µs, {label}", color=colour, lw=1.2, ls=style)
        axes.axhline(1, color="black", lw=1, ls="--")
        axes.set(xscale="log", yscale="log", xlabel="nodes")
        axes.set_title(f"n = {r['n']}, {r['method']}, {r['iterations']} iterations", fontsize=9)
        axes.tick_params(labelbottom=True)
        plain(axes.xaxis, [run["nodes"] for run in runs])
        plain(axes.yaxis, [0.1, 1])
    for axes in grid[:, 0]:
        axes.set_ylabel("step over window exchange")
    legend(figure, grid[0][0], 2)
    save(figure, "waveform-network")


FIGURES = {figure.__name__: figure for figure in (products, roofline, poisson, ode, heat, waveform)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=f"{', '.join(FIGURES)} [default: all]")
    for name in parser.parse_args().figures or FIGURES:
        if name not in FIGURES:
            parser.error(f"no figure is called `{name}`; there are {', '.join(FIGURES)}")
        FIGURES[name]()


if __name__ == "__main__":
    main()
