#!/usr/bin/env bash
# Demands that Wireshark reads every packet of a capture as a valid Rondo packet:
#   tests/wireshark/check.sh FILE.pcap
set -euo pipefail

if [ $# -ne 1 ]; then
    echo "usage: $0 FILE.pcap" >&2
    exit 2
fi
here=$(dirname "$0")
"$here/tshark.sh" "$1" -T json | python3 "$here/check.py"
