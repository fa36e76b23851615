#!/usr/bin/env python3
"""clinalg's ODE integration on a GPU beside torchdiffeq, diffrax and a plain PyTorch loop: same problem, same tolerance.

    cargo build --release -p clinalg-cli
    python3 benches/compare_ode.py                      # measures, prints the tables, writes benches/results/
    python3 benches/compare_ode.py --quick --device cpu # small and short, to try; writes nothing
    python3 benches/compare_ode.py --show FILE          # prints the tables of an earlier run

Needs Python with PyTorch; torchdiffeq and diffrax take part where they can be imported. Problems are those of `clinalg ode`, by
Dormand and Prince's 5(4) in double precision with rtol = 1e-6, atol = 1e-9 and the root-mean-square norm. The *plain loop* is
the same method written with PyTorch's tensors, with the controller of torchdiffeq; its right-hand side is also compiled by
torch.compile where that works, and the faster of both counts. Each side is timed twice, the median of the runs after one for
warming up, kernels built:

    device      from initial values in the device's memory until the solution is there: `seconds` of clinalg's JSON document
    transfers   from initial values in the host's memory until the solution is there, in memory that is new each time:
                seconds_upload + seconds + seconds_download

The copy bandwidth is measured before and after. Small problems are compared with a solution by the plain loop with tolerances of 1e-10.
"""

import argparse
import datetime
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RTOL, ATOL = 1e-6, 1e-9

# Name, points along an axis, end, and whether errors are looked at. Ends of large ones are some tens of steps away.
CASES = [
    ("bruss2d-mix", 128, 1.0, True),
    ("bruss2d-mix", 1024, 2e-2, True),
    ("bruss2d-mix", 5793, 3e-4, False),
    ("heat2d", 128, 5e-3, True),
    ("heat2d", 1024, 1e-4, True),
    ("heat2d", 8192, 2.5e-7, False),
]
# One run from this many points along an axis on: most of the time is that of setting up.
LARGE = 4096
QUICK = [("bruss2d-mix", 16, 0.2, True), ("heat2d", 16, 0.05, True)]


# --- the problems in PyTorch ------------------------------------------------------------------------------------------------


def problem(torch, name, n, device):
    """f(t, y), y at t = 0 and whether fields are interleaved; y is of the shape fields x n x n, x along the last axis."""
    line = torch.arange(n, dtype=torch.float64, device=device) / (n - 1)
    x, y = line.expand(n, n), line[:, None].expand(n, n)
    scale = float((n - 1) ** 2)

    def laplace(u):
        # A missing neighbour is the one on the other side.
        p = torch.nn.functional.pad(u[None], (1, 1, 1, 1), mode="reflect")[0]
        return p[:, :-2, 1:-1] + p[:, 2:, 1:-1] + p[:, 1:-1, :-2] + p[:, 1:-1, 2:] - 4.0 * u

    if name == "heat2d":
        return (lambda t, w: scale * laplace(w)), (0.5 + x)[None].contiguous()

    def f(t, w):
        u, v = w[0], w[1]
        square = u * u * v
        react = torch.stack([1.0 + square - 4.4 * u, 3.4 * u - square])
        return react + 2e-3 * scale * laplace(w)

    return f, torch.stack([0.5 + x, 1.0 + 5.0 * y])


# --- the plain loop ---------------------------------------------------------------------------------------------------------

A = [
    [1 / 5],
    [3 / 40, 9 / 40],
    [44 / 45, -56 / 15, 32 / 9],
    [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
    [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
    [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
]
C = [1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1]
E = [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]


def plain(torch, f, y, t_end, rtol, atol):
    """The solution at t_end, steps taken and thrown away, evaluations of f. The last slope of a step is the first of the next."""
    rms = lambda e: float(torch.sqrt(torch.mean(e * e)))
    t, k1 = 0.0, f(0.0, y)
    scale = atol + rtol * y.abs()
    d0, d1 = rms(y / scale), rms(k1 / scale)
    h0 = 1e-6 if min(d0, d1) < 1e-5 else 0.01 * d0 / d1
    d2 = rms((f(h0, y + h0 * k1) - k1) / scale) / h0
    h1 = max(1e-6, 1e-3 * h0) if max(d1, d2) <= 1e-15 else (0.01 / max(d1, d2)) ** 0.2
    h = min(100.0 * h0, h1)
    taken = rejected = 0
    evaluations = 2
    while t < t_end:
        last = t + h >= t_end
        step = t_end - t if last else h
        k = [k1]
        for row, c in zip(A, C):
            z = y
            for a, slope in zip(row, k):
                if a:
                    z = torch.add(z, slope, alpha=step * a)
            k.append(f(t + c * step, z))
        evaluations += 6
        e = sum((step * w) * slope for w, slope in zip(E, k) if w)
        error = rms(e / (atol + rtol * torch.maximum(y.abs(), z.abs())))
        factor = 10.0 if error == 0.0 else min(10.0, max(0.2, 0.9 * error**-0.2))
        if error <= 1.0:
            t, y, k1 = (t_end if last else t + step), z, k[-1]
            taken += 1
            h = step * factor if not last else h
        else:
            rejected += 1
            h = step * min(1.0, factor)
    return y, taken, rejected, evaluations


# --- the sides --------------------------------------------------------------------------------------------------------------


def wait(torch, device):
    if device != "cpu":
        torch.cuda.synchronize()


def timed(torch, device, run, runs):
    run()
    times = []
    for _ in range(runs):
        wait(torch, device)
        start = time.perf_counter()
        result = run()
        wait(torch, device)
        times.append(time.perf_counter() - start)
    return statistics.median(times), times, result


def copy_bandwidth(torch, device, count):
    a = torch.zeros(count, dtype=torch.float64, device=device)
    b = torch.empty_like(a)
    median, _, _ = timed(torch, device, lambda: [b.copy_(a) for _ in range(10)], 7)
    return 10 * 16 * count / median


def peers(torch, name, n, t_end, device, runs, check, compiling):
    f, y0 = problem(torch, name, n, device)
    host = y0.cpu()
    rows = {}
    functions = {"plain loop": f}
    try:
        if not compiling:
            raise RuntimeError("not asked for")
        compiled = torch.compile(f, dynamic=False)
        if (compiled(0.0, y0) - f(0.0, y0)).abs().max() <= 1e-9 * f(0.0, y0).abs().max():
            functions["plain loop, compiled"] = compiled
    except Exception as why:
        print(f"  without torch.compile: {type(why).__name__} {str(why)[:60]}")
    for key, function in functions.items():
        def run(y0=y0):
            return plain(torch, function, y0, t_end, RTOL, ATOL)

        def around():
            y, *counts = run(host.to(device))
            return y.cpu(), *counts

        seconds, times, _ = timed(torch, device, run, runs)
        whole, whole_times, (y, taken, rejected, evaluations) = timed(torch, device, around, runs)
        rows[key] = dict(seconds=seconds, samples=times, seconds_with_transfers=whole, samples_with_transfers=whole_times)
        rows[key].update(steps=taken, rejected=rejected, evaluations=evaluations, y=y)
    try:
        from torchdiffeq import odeint
    except ImportError as why:
        print(f"  torchdiffeq: {why}")
    else:
        fastest = min(functions, key=lambda key: rows[key]["seconds"])
        count = [0]

        def counted(t, y):
            count[0] += 1
            return functions[fastest](0.0, y)

        times = torch.tensor([0.0, t_end], dtype=torch.float64, device=device)

        def run(y0=y0):
            count[0] = 0
            return odeint(counted, y0, times, rtol=RTOL, atol=ATOL, method="dopri5")[-1]

        seconds, samples, _ = timed(torch, device, run, runs)
        whole, whole_samples, y = timed(torch, device, lambda: run(host.to(device)).cpu(), runs)
        rows["torchdiffeq"] = dict(seconds=seconds, samples=samples, evaluations=count[0], y=y)
        rows["torchdiffeq"].update(seconds_with_transfers=whole, samples_with_transfers=whole_samples)
    try:
        rows["diffrax"] = diffrax_row(name, n, t_end, runs, device)
    except ImportError as why:
        print(f"  diffrax: {why}")
    tight = plain(torch, f, y0, t_end, 1e-10, 1e-11)[0] if check else None
    for row in rows.values():
        y = row.pop("y")
        if check:
            row["error"] = float((torch.as_tensor(y) - tight.cpu()).abs().max())
    return rows, tight


def diffrax_row(name, n, t_end, runs, device):
    import diffrax
    import jax
    import jax.numpy as jnp
    import numpy as np

    if device != "cpu" and jax.default_backend() != "gpu":
        raise ImportError(f"JAX computes on {jax.default_backend()} here")
    jax.config.update("jax_enable_x64", True)
    line = jnp.arange(n) / (n - 1)
    x, y = jnp.broadcast_to(line, (n, n)), jnp.broadcast_to(line[:, None], (n, n))
    scale = float((n - 1) ** 2)

    def laplace(u):
        p = jnp.pad(u, ((0, 0), (1, 1), (1, 1)), mode="reflect")
        return p[:, :-2, 1:-1] + p[:, 2:, 1:-1] + p[:, 1:-1, :-2] + p[:, 1:-1, 2:] - 4.0 * u

    def f(t, w, _):
        if name == "heat2d":
            return scale * laplace(w)
        u, v = w[0], w[1]
        square = u * u * v
        return jnp.stack([1.0 + square - 4.4 * u, 3.4 * u - square]) + 2e-3 * scale * laplace(w)

    y0 = (0.5 + x)[None] if name == "heat2d" else jnp.stack([0.5 + x, 1.0 + 5.0 * y])
    control = diffrax.PIDController(rtol=RTOL, atol=ATOL)

    @jax.jit
    def solve(y0):
        s = diffrax.diffeqsolve(
            diffrax.ODETerm(f), diffrax.Dopri5(), 0.0, t_end, None, y0, stepsize_controller=control, max_steps=10**6
        )
        return s.ys[-1], s.stats["num_accepted_steps"], s.stats["num_rejected_steps"]

    host = np.array(y0)
    solve(y0)[0].block_until_ready()
    samples, whole = [], []
    for _ in range(runs):
        start = time.perf_counter()
        solve(y0)[0].block_until_ready()
        samples.append(time.perf_counter() - start)
        start = time.perf_counter()
        y, taken, rejected = solve(jax.device_put(host))
        y = np.array(y)
        whole.append(time.perf_counter() - start)
    row = dict(seconds=statistics.median(samples), samples=samples, steps=int(taken), rejected=int(rejected), y=y)
    return row | dict(seconds_with_transfers=statistics.median(whole), samples_with_transfers=whole)


def clinalg(torch, program, name, n, t_end, variant, runs, tight, selector):
    """The document of the run with the median time."""
    documents = []
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "y.mtx"
        for k in range(runs):
            line = [str(program.resolve()), "ode", "--problem", name, "--n", str(n), "--t-end", repr(t_end), "--variant", variant]
            line += ["--rtol", repr(RTOL), "--atol", repr(ATOL), "--reference", "none", "--json"]
            line += ["--device", selector] if selector else []
            line += ["--out", str(out)] if tight is not None and k == 0 else []
            done = subprocess.run(line, capture_output=True, text=True)
            if done.returncode != 0:
                print(f"  clinalg {variant}: {done.stderr.strip()}")
                return None
            documents.append(json.loads(done.stdout))
        documents.sort(key=lambda d: d["seconds"])
        row = documents[len(documents) // 2]
        row["samples"] = [d["seconds"] for d in documents]
        row["samples_with_transfers"] = [d["seconds_upload"] + d["seconds"] + d["seconds_download"] for d in documents]
        row["seconds_with_transfers"] = statistics.median(row["samples_with_transfers"])
        if tight is not None:
            lines = out.read_text().splitlines()[2:]
            y = torch.tensor([float(v) for v in lines], dtype=torch.float64)
            fields = tight.shape[0]
            y = y.reshape(n, n, fields).permute(2, 0, 1)
            row["error"] = float((y - tight.cpu()).abs().max())
    return row


# --- the tables -------------------------------------------------------------------------------------------------------------


def show(results):
    print(f"\n{results['device']}, PyTorch {results['torch']}; dopri54, f64, rtol {RTOL:g}, atol {ATOL:g}")
    print(f"copy {results['copy_before'] / 1e9:.0f} GB/s before, {results['copy_after'] / 1e9:.0f} GB/s after\n")
    print("| problem | components | side | steps (rejected) | evaluations | device, ms | transfers, ms | error | of copy | clinalg is faster by, device | transfers |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    copy = 0.5 * (results["copy_before"] + results["copy_after"])
    for case in results["cases"]:
        ours = [row for row in case["clinalg"].values() if row]
        for row in [*ours, *case["peers"].values()]:
            # In files of before both were told apart a time has the solution's way to the host in it.
            if "seconds_with_transfers" not in row:
                row["seconds_with_transfers"] = row.pop("seconds")
        kinds = ["seconds", "seconds_with_transfers"]
        best = {kind: min((row[kind] for row in ours if kind in row), default=float("nan")) for kind in kinds}
        rows = [(f"clinalg {row['variant']}", row, row["rhs_evaluations"]) for row in ours]
        rows += [(key, row, row.get("evaluations", "")) for key, row in case["peers"].items()]
        for key, row, evaluations in rows:
            steps = f"{row['steps']} ({row['rejected']})" if "steps" in row else ""
            error = f"{row['error']:.1e}" if "error" in row else ""
            share = ""
            if row.get("words_per_component_step") and "seconds" in row:
                tried = row["steps"] + row["rejected"]
                bytes_moved = 8.0 * row["words_per_component_step"] * row["components"] * tried
                share = f"{bytes_moved / row['seconds'] / copy:.0%}"
            taken = [f"{row[kind] * 1e3:.2f}" if kind in row else "" for kind in kinds]
            faster = ["" if key.startswith("clinalg") or kind not in row else f"{row[kind] / best[kind]:.1f}" for kind in kinds]
            print(
                f"| {case['problem']} {case['n']}^2 | {case['components']} | {key} | {steps} | {evaluations} "
                f"| {taken[0]} | {taken[1]} | {error} | {share} | {faster[0]} | {faster[1]} |"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clinalg", type=pathlib.Path, default=ROOT / "target/release/clinalg", help="the program")
    parser.add_argument("--select", help="clinalg's --device, where it is not the default one")
    parser.add_argument("--device", default="cuda", help="PyTorch's device")
    parser.add_argument("--variants", default="auto,fused,basic", help="clinalg's variants, by commas")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", help="cases by commas, such as heat2d:1024")
    parser.add_argument("--no-compile", action="store_true", help="leave torch.compile out, which takes long")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=pathlib.Path, help="the raw file")
    parser.add_argument("--show", type=pathlib.Path)
    args = parser.parse_args()
    if args.show:
        return show(json.loads(args.show.read_text()))
    import torch

    begun = time.perf_counter()
    torch.set_grad_enabled(False)
    cuda = args.device != "cpu"
    count = 1 << (27 if cuda else 22)
    results = {
        "device": torch.cuda.get_device_name() if cuda else "processor",
        "torch": torch.__version__,
        "date": datetime.date.today().isoformat(),
        "command": sys.argv,
        "copy_before": copy_bandwidth(torch, args.device, count),
        "cases": [],
    }
    cases = {f"{case[0]}:{case[1]}": case for case in (QUICK if args.quick else CASES)}
    for name, n, t_end, check in [cases[key] for key in (args.only.split(",") if args.only else cases)]:
        print(f"{name} {n}^2 to t = {t_end}, {time.perf_counter() - begun:.0f} s", flush=True)
        runs = args.runs if n < LARGE else 1
        rows, tight = peers(torch, name, n, t_end, args.device, runs, check, not args.no_compile)
        if cuda:
            torch.cuda.empty_cache()
        variants = args.variants.split(",")
        ours = {
            v: clinalg(torch, args.clinalg, name, n, t_end, v, runs, tight, args.select) for v in variants
        }
        components = (1 if name == "heat2d" else 2) * n * n
        case = dict(problem=name, n=n, t_end=t_end, components=components, peers=rows, clinalg=ours)
        results["cases"].append(case)
        results["copy_after"] = copy_bandwidth(torch, args.device, count)
        for side, row in [*ours.items(), *rows.items()]:
            print(f"  {side}: {row['seconds'] * 1e3:.3f} ms" if row else f"  {side}: none", flush=True)
        if args.out:
            args.out.write_text(json.dumps(results, indent=1))
    show(results)
    if not args.quick:
        name = results["device"].split()[-1].lower()
        out = args.out or ROOT / "benches/results" / f"{results['date']}-{name}-ode-peers.json"
        out.write_text(json.dumps(results, indent=1))
        print(f"\nraw file: {out}")


if __name__ == "__main__":
    main()
