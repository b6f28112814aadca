#!/usr/bin/env bash
# Replaces the timing diagram of every block page by one from a run of the present Verilog.
set -euo pipefail
cd "$(dirname "$0")/.."
for block in selector picker tracker reorder sender receiver delivery segmenter builder ledger scheduler parser registers; do
    page=docs/blocks/$block.md
    json=$(target/release/rondo wavedrom --block "$block")
    awk -v json="$json" '
        /^```wavedrom/ { print; print json; skip = 1; next }
        /^```/ && skip { skip = 0 }
        !skip { print }' "$page" >"$page.new"
    mv "$page.new" "$page"
done
