#!/usr/bin/env python3
"""Figures of ODE methods for benches/notes/2026-11-22-ode.md from the raw files of the example `variants`; needs Python only.

    python3 benches/plot_ode.py        # writes benches/notes/ode-*.svg

Two figures a device: how many times as fast as the basic kernels each variant is, and steps a second over the words that the
model counts, under the line that the copy bandwidth of the run draws. Of several sizes of tiles the fastest is drawn.
"""

import json
import math
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILES = {
    "h200": "2026-11-21-h200-ode.json",
    "cpu": "2026-11-21-cpu-amd-epyc-2-ode.jsonl",
}
# Smaller runs are there for the times of single kernels.
LEAST = 4_000_000
VARIANTS = ["basic", "fused", "overlapped", "trapezoidal", "hexagonal", "grid"]
COLOURS = dict(zip(VARIANTS, ["#8c8c8c", "#4477aa", "#ee6677", "#ccbb44", "#aa3377", "#228833"]))
METHODS = {
    "euler": "Euler",
    "rk4": "RK4",
    "bs32": "BS 3(2)",
    "dopri54": "DOPRI5(4)",
    "verner65": "Verner 6(5)",
    "pirk-radau-iia-7": "PIRK Radau IIA(7)",
    "peer4": "peer 4",
}


def read(path):
    """The fastest line of each variant for each problem and method: {(problem, columns, method): {variant: line}}."""
    text = path.read_text()
    lines = json.loads(text) if path.suffix == ".json" else [json.loads(line) for line in text.splitlines()]
    best, run = {}, None
    for line in lines:
        if "device" in line:
            run = line
        elif "method" in line and run["components"] >= LEAST:
            key = (run["problem"], run["columns"], line["method"])
            row = dict(line, device=run["device"], copy=run["copy_gbytes_per_second"], components=run["components"])
            row["distance"] = run["access_distance"]
            known = best.setdefault(key, {})
            if row["variant"] not in known or row["seconds"] < known[row["variant"]]["seconds"]:
                known[row["variant"]] = row
    return {key: rows for key, rows in best.items() if {"basic", "fused"} <= set(rows)}


class Svg:
    def __init__(self, width, height, title):
        self.width, self.height, self.parts = width, height, []
        self.parts.append(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'font-family="sans-serif" font-size="12"><title>{title}</title>'
            f'<rect width="{width}" height="{height}" fill="white"/>'
        )
        self.text(12, 20, title, size=14)

    def text(self, x, y, words, anchor="start", size=12, colour="#222", turn=0):
        turned = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn else ""
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}"{turned}>{words}</text>'
        )

    def line(self, x1, y1, x2, y2, colour="#ccc", width=1.0, dash=""):
        self.parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width}"'
            + (f' stroke-dasharray="{dash}"/>' if dash else "/>")
        )

    def bar(self, x, y, width, height, colour):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>')

    def dot(self, x, y, colour):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{colour}" stroke="white"/>')

    def legend(self, variants, x, y):
        for variant in variants:
            self.bar(x, y - 9, 10, 10, COLOURS[variant])
            self.text(x + 14, y, variant)
            x += 24 + 7 * len(variant)

    def write(self, path):
        path.write_text("\n".join(self.parts + ["</svg>"]) + "\n")
        print(path.relative_to(ROOT))


def label(key, rows):
    problem, _, method = key
    distance = rows["fused"]["distance"]
    where = f"distance {distance}" if problem == "bruss2d" else f"{math.isqrt(rows['fused']['components'])}²"
    return METHODS.get(method, method), f"{problem}, {where}"


def speedups(name, data):
    groups = [(key, rows, [v for v in VARIANTS[1:] if v in rows]) for key, rows in data.items()]
    bar, gap, left, bottom, top = 16, 26, 46, 84, 46
    width = left + sum(bar * len(v) + gap for _, _, v in groups) + 90
    height = 400
    highest = max(rows["basic"]["seconds"] / rows[v]["seconds"] for _, rows, all in groups for v in all)
    scale = (height - bottom - top) / highest
    device = next(iter(data.values()))["fused"]["device"]
    svg = Svg(width, height, f"Times as fast as basic kernels, f64, {device}")
    svg.legend([v for v in VARIANTS[1:] if any(v in all for _, _, all in groups)], left, 38)
    for tick in range(0, int(highest) + 1, 1 if highest < 6 else 2):
        y = height - bottom - tick * scale
        svg.line(left, y, width - 10, y)
        svg.text(left - 6, y + 4, str(tick), "end")
    x = left + gap / 2
    for key, rows, all in groups:
        for k, variant in enumerate(all):
            ratio = rows["basic"]["seconds"] / rows[variant]["seconds"]
            svg.bar(x + k * bar, height - bottom - ratio * scale, bar - 2, ratio * scale, COLOURS[variant])
            svg.text(x + (k + 0.45) * bar, height - bottom - ratio * scale - 3, f"{ratio:.1f}", "middle", 9)
            if variant == "fused":
                # The ratio of the words that the model counts.
                y = height - bottom - rows["basic"]["words"] / rows["fused"]["words"] * scale
                svg.line(x - 2, y, x + bar, y, "#000", 1.5)
        method, where = label(key, rows)
        middle = x + len(all) * bar / 2
        svg.text(middle - 4, height - bottom + 14, method, "start", 10, turn=28)
        svg.text(middle - 12, height - bottom + 22, where, "start", 9, "#666", turn=28)
        x += bar * len(all) + gap
    svg.text(12, height - 4, "black lines: the word model for fused over basic", size=10, colour="#666")
    svg.write(ROOT / f"benches/notes/ode-speedup-{name}.svg")


def roofline(name, data):
    points = [(key, v, row) for key, rows in data.items() for v, row in rows.items()]
    width, height, left, right, bottom, top = 720, 420, 64, 20, 46, 50
    words = [row["words"] for _, _, row in points]
    rates = [row["component_steps_per_second"] for _, _, row in points]
    copy = max(row["copy"] for _, _, row in points) * 1e9
    ends = (min(words) / 1.3, max(words) * 1.3)
    low, high = min(rates) / 1.5, max(max(rates) * 1.5, copy / 8 / ends[0])
    x = lambda w: left + (width - left - right) * math.log(w / ends[0]) / math.log(ends[1] / ends[0])
    y = lambda r: height - bottom - (height - bottom - top) * math.log(r / low) / math.log(high / low)
    svg = Svg(width, height, f"Steps a second and words moved, f64, {points[0][2]['device']}")
    svg.legend([v for v in VARIANTS if any(v == w for _, w, _ in points)], left, 38)
    for tick in [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256]:
        if ends[0] <= tick <= ends[1]:
            svg.line(x(tick), top, x(tick), height - bottom)
            svg.text(x(tick), height - bottom + 16, f"{tick:g}", "middle")
    for power in range(6, 13):
        for factor in (1, 2, 5):
            rate = factor * 10.0**power
            if low <= rate <= high:
                svg.line(left, y(rate), width - right, y(rate))
                svg.text(left - 6, y(rate) + 4, f"{rate / 1e9:g}", "end")
    svg.line(x(ends[0]), y(copy / 8 / ends[0]), x(ends[1]), y(copy / 8 / ends[1]), "#000", 1.5)
    middle = math.sqrt(ends[0] * ends[1])
    svg.text(x(middle) + 8, y(copy / 8 / middle) - 6, f"copy, {copy / 1e9:.0f} GB/s", size=11)
    for _, variant, row in points:
        svg.dot(x(row["words"]), y(row["component_steps_per_second"]), COLOURS[variant])
    svg.text((left + width - right) / 2, height - 10, "words that the model counts for a component and step", "middle")
    svg.text(16, height / 2, "10⁹ components stepped a second", "middle", turn=-90)
    svg.write(ROOT / f"benches/notes/ode-roofline-{name}.svg")


def main():
    for name, file in FILES.items():
        data = read(ROOT / "benches/results" / file)
        speedups(name, data)
        roofline(name, data)


if __name__ == "__main__":
    main()
