"""How far the choice of a variant for ODE methods is from the fastest, by `clinalg ode --compare`.

    python3 benches/compare_variants.py target/release/clinalg out.jsonl [--small]

One JSON object a line, as the program writes it. A table follows on stdout: time of the model's choice and of the trial's
over that of the fastest candidate, with the candidates' variants. `--small` takes sizes for a processor.
"""

import json
import subprocess
import sys

# Problem, points along an axis (large, small), method, steps at once.
CASES = [
    ("heat2d", 8192, 1449, "rk4", 1),
    ("heat2d", 8192, 1449, "dopri54", 1),
    ("heat2d", 8192, 1449, "euler", 4),
    ("bruss2d-mix", 5793, 1025, "rk4", 1),
    ("bruss2d-mix", 5793, 1025, "dopri54", 1),
    ("heat3d", 401, 129, "rk4", 1),
    ("wave1d", 1 << 26, 1 << 21, "rk4", 1),
    ("medakzo", 1 << 25, 1 << 20, "bs32", 1),
    ("inverter-chain", 1 << 26, 1 << 21, "rk4", 1),
    ("lotka-volterra", 1 << 25, 1 << 20, "dopri54", 1),
]


def main():
    program, path = sys.argv[1:3]
    small = "--small" in sys.argv
    with open(path, "w") as out:
        print(f"{'problem':16} {'method':8} {'copy GB/s':>9} {'model':>6} {'trial':>6}  model's, trial's, fastest")
        for problem, large, little, method, steps in CASES:
            n = little if small else large
            line = f"ode --problem {problem} --n {n} --method {method} --steps-at-once {steps} --compare --json"
            if steps > 1:
                line += " --h 1"
            done = subprocess.run([program, *line.split()], capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"{problem:16} {method:8} {done.stderr.strip()}")
                continue
            found = json.loads(done.stdout)
            out.write(json.dumps(found) + "\n")
            out.flush()
            names = [found["candidates"][found[key]]["variant"] for key in ("by_model", "by_trial", "fastest")]
            ratios = found["model_over_fastest"], found["trial_over_fastest"]
            numbers = f"{found['copy_bandwidth']:9.1f} {ratios[0]:6.3f} {ratios[1]:6.3f}"
            print(f"{problem:16} {method:8} {numbers}  {', '.join(names)}", flush=True)


main()
