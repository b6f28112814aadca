#!/usr/bin/env bash
# Compiles fpga/registers/rondo.rdl with PeakRDL to IP-XACT and HTML, in out/registers, and demands that
# the IP-XACT file that is checked in is the same. With --write it replaces that file.
# PeakRDL, pinned in scripts/peakrdl.txt, is installed once, into out/peakrdl.
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1:-} in
'' | --write) ;;
*)
    echo "usage: scripts/registers.sh [--write]" >&2
    exit 2
    ;;
esac

rdl=fpga/registers/rondo.rdl
kept=fpga/registers/rondo.xml
tools=out/peakrdl
made=out/registers

if ! cmp -s scripts/peakrdl.txt "$tools/installed.txt"; then
    rm -rf "$tools"
    mkdir -p "$tools"
    python3 -m venv "$tools/venv"
    "$tools/venv/bin/pip" install --quiet --disable-pip-version-check -r scripts/peakrdl.txt
    cp scripts/peakrdl.txt "$tools/installed.txt"
fi

version=$(sed -n 's/^\/\/ Registers of the Rondo NIC, version \([0-9.]*\)\..*/\1/p' "$rdl")
rm -rf "$made"
mkdir -p "$made"
"$tools/venv/bin/peakrdl" ip-xact "$rdl" -o "$made/rondo.xml" \
    --vendor rondo --library nic --name registers --version "$version"
"$tools/venv/bin/peakrdl" html "$rdl" -o "$made/html"

if [ "${1:-}" = --write ]; then
    cp "$made/rondo.xml" "$kept"
elif ! cmp "$made/rondo.xml" "$kept"; then
    echo "$kept is not what $rdl gives: write it again with scripts/registers.sh --write" >&2
    exit 1
fi
echo "registers: $made/html/index.html, $made/rondo.xml"
