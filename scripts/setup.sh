#!/usr/bin/env bash
# Installs what Rondo needs and this machine lacks. Idempotent, asks nothing, says what it does.
set -euo pipefail

say() { printf 'setup: %s\n' "$*" >&2; }

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null 2>&1; then
        sudo "$@"
    else
        say "cannot run '$*': neither root nor sudo. Install the packages by hand: $missing"
        exit 1
    fi
}

missing=""
need() { command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }
need verilator verilator
need g++ g++
need make make
need yosys yosys
need iverilog iverilog
need tshark tshark
need python3 python3
python3 -c 'import ensurepip, venv' 2>/dev/null || missing="$missing python3-venv"

if [ -n "$missing" ]; then
    if ! command -v apt-get >/dev/null 2>&1; then
        say "missing:$missing, and this is no Debian. Install them with your package manager."
        exit 1
    fi
    say "installing$missing"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
    # shellcheck disable=SC2086 # the list is meant to split
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >&2
else
    say "verilator, g++, make, yosys, iverilog, tshark and python3 with venv are here"
fi

if ! command -v cargo >/dev/null 2>&1; then
    say "cargo is missing. Install Rust 1.85 or later from https://rustup.rs and run this again."
    exit 1
fi

version=$(verilator --version | sed -n 's/^Verilator \([0-9]*\)\..*/\1/p')
if [ -z "$version" ] || [ "$version" -lt 5 ]; then
    say "Verilator 5 or later is needed, found: $(verilator --version | head -n 1)"
    exit 1
fi
