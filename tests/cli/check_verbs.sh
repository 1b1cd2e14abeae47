#!/usr/bin/env bash
# check_verbs.sh TARRY [--update]: runs each case of tests/cli/cases with the binary and compares what it says with what stands there.
# A case is a folder: args (one a line), perhaps env (NAME=value, one a line) and files; expected: out, err, code.
# --update writes what it says now as expected: read the difference before you keep it.
set -euo pipefail
tarry=$(realpath "$1")
update=${2:-}
cases=$(cd "$(dirname "$0")/cases" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
count=0

# Versions of libraries differ from machine to machine.
normalise() {
    sed -E 's/(^tarry|librdkafka|LMDB) [0-9]+\.[0-9]+\.[0-9]+/\1 VERSION/' "$1"
}

run_case() {
    local case=$1 code=0 part
    local -a args=() environment=()
    mapfile -t args <"$case/args"
    [ ! -f "$case/env" ] || mapfile -t environment <"$case/env"
    rm -rf "$scratch/work"
    mkdir "$scratch/work"
    cp "$case"/*.yaml "$scratch/work/" 2>/dev/null || true
    chmod 600 "$scratch"/work/* 2>/dev/null || true
    (cd "$scratch/work" && env -i "${environment[@]}" "$tarry" "${args[@]}") >"$scratch/raw.out" 2>"$scratch/raw.err" </dev/null ||
        code=$?
    normalise "$scratch/raw.out" >"$scratch/out"
    normalise "$scratch/raw.err" >"$scratch/err"
    printf '%s\n' "$code" >"$scratch/code"
    for part in out err code; do
        if [ "$update" = --update ]; then
            cp "$scratch/$part" "$case/$part"
        elif ! diff -u "$case/$part" "$scratch/$part" --label "expected $part" --label "$part now"; then
            printf 'case %s: %s differs\n' "${case##*/}" "$part" >&2
            failed=1
        fi
    done
}

for case in "$cases"/*/; do
    run_case "${case%/}"
    count=$((count + 1))
done

# A full disk is not success.
code=0
"$tarry" config schema >/dev/full 2>/dev/null || code=$?
if [ "$code" != 1 ]; then
    printf 'config schema on a full disk: exit %s instead of 1\n' "$code" >&2
    failed=1
fi

# 10 MB of anything is answered at once.
head -c 10000000 /dev/zero | tr '\0' a >"$scratch/big.yaml"
code=0
timeout 5 "$tarry" config check -c "$scratch/big.yaml" 2>"$scratch/err" || code=$?
if [ "$code" != 78 ] || ! grep -q 'larger than 1048576 bytes' "$scratch/err"; then
    printf 'config check of 10 MB: exit %s\n' "$code" >&2
    failed=1
fi

[ "$count" -ge 15 ] || { printf 'only %s cases found\n' "$count" >&2; exit 1; }
exit "$failed"
