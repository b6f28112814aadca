#!/usr/bin/env bash
# Long runs: a million clocks of every block in every shape, then 1,024 flows, then synthesis of the
# largest and smallest shape. Usage: scripts/soak.sh [SEED]
set -euo pipefail
cd "$(dirname "$0")/.."
seed=${1:-1}
rondo=target/release/rondo

for paths in 2 4 8 16; do
    for window in 128 256 512; do
        printf '== %s paths, window %s\n' "$paths" "$window"
        $rondo cosim --all --cycles 1000000 --seed "$seed" --paths "$paths" --window "$window"
    done
done
printf '== 1024 flows\n'
$rondo cosim --all --cycles 1000000 --seed "$seed" --flows 1024

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for shape in '2 128' '16 512'; do
    read -r paths window <<<"$shape"
    $rondo gen --paths "$paths" --window "$window" -o "$work/rtl" >/dev/null
    (cd "$work/rtl" && yosys -q -p "read_verilog $(tr '\n' ' ' <rondo.f); \
        synth_xilinx -family xcup -top rondo_datapath; tee -o ../stat.txt stat" >/dev/null)
    if grep -Eq 'LDCE|LDPE|dlatch|RAM32|RAM64|RAM128|RAM256' "$work/stat.txt"; then
        echo "latch or LUT memory in $paths paths, window $window"
        exit 1
    fi
    printf 'yosys %s paths, window %s: no latch, block RAM only\n' "$paths" "$window"
    rm -rf "$work/rtl"
done
