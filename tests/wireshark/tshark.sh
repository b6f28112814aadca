#!/usr/bin/env bash
# tshark on a capture, with Rondo's dissector and nobody's own preferences:
#   tests/wireshark/tshark.sh FILE.pcap -V
set -euo pipefail

if ! command -v tshark >/dev/null 2>&1; then
    echo "tshark is missing: run scripts/setup.sh" >&2
    exit 2
fi
if [ $# -lt 1 ]; then
    echo "usage: $0 FILE.pcap [tshark's options]" >&2
    exit 2
fi

file=$1
shift
config=$(mktemp -d)
trap 'rm -rf "$config"' EXIT
# Zero means "not computed" on IPv6 too (RFC 6935).
WIRESHARK_CONFIG_DIR=$config tshark -r "$file" -X "lua_script:$(dirname "$0")/rondo.lua" \
    -o ip.check_checksum:TRUE -o udp.ignore_ipv6_zero_checksum:TRUE "$@"
