#!/usr/bin/env bash
# Checks, then measures everything on one device, for machines that have no cargo:
#
#   tests/gpu.sh target/release/clinalg NVIDIA OUT_FOLDER
#
# The program is built elsewhere. The raw results go to OUT_FOLDER as JSON; the last lines are a summary.
set -euo pipefail
clinalg=$1 device=$2 out=$3
mkdir -p "$out"

"$clinalg" --device "$device" doctor --json > "$out/doctor.json"
"$clinalg" --device "$device" bench --n 8193 --samples 30 --json > "$out/operations.json"
{
    echo '['
    separator=''
    for backend in kernels matrix; do
        for n in 1025 4097 8193; do
            # The first run fills the kernel cache; the second is kept.
            "$clinalg" --device "$device" poisson --n "$n" --rhs random --backend "$backend" --json > /dev/null
            echo "$separator"
            "$clinalg" --device "$device" poisson --n "$n" --rhs random --backend "$backend" --json
            separator=','
        done
    done
    echo ']'
} > "$out/poisson.json"
"$clinalg" --device "$device" doctor | tail -n 1
"$clinalg" --device "$device" bench --n 8193 --samples 20
