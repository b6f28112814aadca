#!/usr/bin/env bash
# Plants each bug of bugs.tsv in a copy of the sources and demands that `rondo cosim` reports it
# within 100,000 clocks. Usage: tests/planted/run.sh [SEED]
set -euo pipefail
cd "$(dirname "$0")/../.."
seed=${1:-1}
root=$PWD
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
export CARGO_TARGET_DIR=$root/target/planted

passed=0
failed=0
while IFS=$'\t' read -r name block file right wrong; do
    case $name in '#'* | '') continue ;; esac
    rm -rf "${copy:?}/src"
    mkdir "$copy/src"
    tar --exclude=./target --exclude=./.git --exclude=./out -cf - . | tar -xf - -C "$copy/src"
    python3 - "$copy/src/$file" "$right" "$wrong" <<'PY'
import sys
path, right, wrong = sys.argv[1:]
text = open(path).read()
if right not in text:
    sys.exit(f"{path} does not contain: {right}")
open(path, "w").write(text.replace(right, wrong))
PY
    (cd "$copy/src" && cargo build --release --quiet --locked -p rondo 2>"$copy/build.log") || {
        cat "$copy/build.log"
        exit 1
    }
    status=0
    (cd "$copy" && "$CARGO_TARGET_DIR/release/rondo" cosim --block "$block" --cycles 100000 \
        --seed "$seed" >"$copy/out.log" 2>&1) || status=$?
    if [ $status -ne 0 ] && grep -q '^MISMATCH' "$copy/out.log"; then
        passed=$((passed + 1))
        printf 'found   %-28s %s\n' "$name" "$(grep '^MISMATCH' "$copy/out.log")"
    else
        failed=$((failed + 1))
        printf 'MISSED  %-28s exit %s\n' "$name" "$status"
        cat "$copy/out.log"
    fi
done <tests/planted/bugs.tsv

printf 'planted bugs: %d found, %d missed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
