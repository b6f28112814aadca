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
    RIGHT=$right WRONG=$wrong perl -0pi -e '
        BEGIN { $found = 0 }
        $found += s/\Q$ENV{RIGHT}\E/$ENV{WRONG}/g;
        END { exit($found ? 0 : 1) }' "$copy/src/$file" || {
        echo "$file does not contain: $right"
        exit 1
    }
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
