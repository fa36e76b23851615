#!/usr/bin/env python3
"""Times the first calls of a process with empty kernel caches, and once more with filled ones.

    cargo build --release -p clinalg --example cold_start -p clinalg-ode --example cold_step
    python3 benches/cold_start.py [--target target/release/examples] [--runs 5]

Prints the median of the runs in seconds: wall time of the call, and processor time of the process, which on a busy machine
says more.
"""

import argparse
import os
import resource
import statistics
import subprocess
import tempfile

CASES = [("cold_start", "poisson"), ("cold_start", "product"), ("cold_step", "rigid"), ("cold_step", "grid")]


def timed(program, case, caches):
    environment = dict(os.environ, XDG_CACHE_HOME=f"{caches}/user", POCL_CACHE_DIR=f"{caches}/pocl")
    environment.pop("CLINALG_CACHE_DIR", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([program, case], env=environment, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return float(done.stdout), after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="target/release/examples")
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    print(f"{'case':<24} {'cold s':>8} {'cpu s':>8} {'warm s':>8}")
    for program, case in CASES:
        path = os.path.join(arguments.target, program)
        if not os.path.exists(path):
            print(f"{program} {case}: {path} is not built")
            continue
        cold, processor, warm = [], [], []
        for _ in range(arguments.runs):
            with tempfile.TemporaryDirectory() as caches:
                os.mkdir(f"{caches}/user", 0o700)
                os.mkdir(f"{caches}/pocl", 0o700)
                seconds, used = timed(path, case, caches)
                cold.append(seconds)
                processor.append(used)
                warm.append(timed(path, case, caches)[0])
        values = [statistics.median(times) for times in (cold, processor, warm)]
        print(f"{program + ' ' + case:<24} " + " ".join(f"{v:8.3f}" for v in values))


if __name__ == "__main__":
    main()
