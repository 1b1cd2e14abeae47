#!/usr/bin/env bash
# check_demo.sh TARRY NATS_SERVER: runs `tarry demo` into a pipe, with and without dead letters at once, and looks at what it says, how it ends and what it
# leaves behind; then how it ends when it is told to, when nobody reads, when there is no broker, and when nats-server does not start.
set -euo pipefail
tarry=$(realpath "$1")
nats=$(realpath "$2")
[ -x "$nats" ] || { echo "check_demo: no nats-server at $nats: run scripts/test, which fetches it" >&2; exit 1; }
scratch=$(mktemp -d)
failed=0
export TMPDIR=$scratch
# another tarry's settings in the environment must not reach the demo's
export TARRY_INSTANCE=another TARRY_HTTP_LISTEN=192.0.2.1:1 TARRY_CONFIG=/nonexistent

running=()
# called by the trap
# shellcheck disable=SC2317
finish() {
    local pid
    for pid in "${running[@]}"; do
        kill "$pid" 2>/dev/null || true
    done
    wait
    rm -rf "$scratch"
}
trap finish EXIT

fail() {
    printf 'check_demo: %s\n' "$1" >&2
    for file in "$scratch/$2".out "$scratch/$2".err; do
        [ ! -s "$file" ] || sed "s|^|${file##*/}: |" "$file" >&2
    done
    failed=1
}

# start NAME ARGS...: in the background, its code in NAME.code.
start() {
    local name=$1
    shift
    (
        code=0
        timeout 100 "$tarry" demo "$@" >"$scratch/$name.out" 2>"$scratch/$name.err" || code=$?
        echo "$code" >"$scratch/$name.code"
    ) &
    running+=($!)
}

# await NAME TEXT: until TEXT stands in the output.
await() {
    local tries=0
    until grep -qs "$2" "$scratch/$1.out"; do
        if [ "$tries" -ge 300 ] || [ -e "$scratch/$1.code" ]; then
            fail "$1 never said '$2'" "$1"
            return 0
        fi
        tries=$((tries + 1))
        sleep 0.1
    done
}

count() {
    grep -c "$2" "$scratch/$1.out" || true
}

expect_code() {
    local code
    code=$(cat "$scratch/$1.code")
    [ "$code" = "$2" ] || fail "$1 ended with $code instead of $2" "$1"
}

# expect_ended NAME WHAT ARGUMENT: the process that the demo named as its WHAT has ended.
expect_ended() {
    local pid
    pid=$(sed -n "s/^$2 .* process \([0-9]*\),.*/\1/p" "$scratch/$1.out")
    [ -n "$pid" ] || fail "$1 names no process of its $2" "$1"
    ! grep -qsz "^$3\$" "/proc/$pid/cmdline" || fail "$1 left process $pid" "$1"
}

# expect_good NAME GOOD: each good record left once, none early.
expect_good() {
    expect_code "$1" 0
    [ "$(count "$1" '^left ')" = "$2" ] || fail "$1: not $2 lines of records that left" "$1"
    [ "$(grep '^left ' "$scratch/$1.out" | awk '{print $2}' | sort -u | wc -l)" = "$2" ] || fail "$1: keys repeat" "$1"
    grep -q '^lateness: min [0-9]* ms, median [0-9]* ms, max [0-9]* ms' "$scratch/$1.out" || fail "$1: no lateness" "$1"
    ! grep -q "$(printf '\033')" "$scratch/$1.out" || fail "$1: escape sequences in a pipe" "$1"
    ! grep -q 'more than once' "$scratch/$1.out" || fail "$1: delivered twice" "$1"
    expect_ended "$1" scheduler serve
}

# expect_letters NAME GOOD: both wrong ones were refused; three records failed, were redelivered, parked and replayed; both have a reason, and the verbs' own
# words stand there.
expect_letters() {
    local invoice
    expect_good "$1" "$2"
    [ "$(count "$1" '^refused ')" = 2 ] || fail "$1: not 2 records refused" "$1"
    grep -q '^refused .*bad_time: .*tarry-delay' "$scratch/$1.out" || fail "$1: no reason for the bad delay" "$1"
    grep -q '^refused .*bad_envelope: ' "$scratch/$1.out" || fail "$1: no reason for the broken envelope" "$1"
    grep -q "^$2 of $2 left, 0 early; 2 of 2 wrong ones refused\$" "$scratch/$1.out" || fail "$1: no such summary" "$1"
    for invoice in invoice-001 invoice-002 invoice-003; do
        grep -q " s  $invoice  failed (unknown_target): redelivery in 1.0 s\$" "$scratch/$1.out" || fail "$1: $invoice did not fail" "$1"
        grep -q " s  $invoice  failed again: redelivery in 2.0 s\$" "$scratch/$1.out" || fail "$1: no second redelivery of $invoice" "$1"
        grep -q " s  $invoice  failed again, no redelivery left: parked" "$scratch/$1.out" || fail "$1: $invoice is not parked" "$1"
        [ "$(count "$1" "^arrived  $invoice  tarry-replays: 1, __dlq.errors.message: .*nknown topic")" = 1 ] || fail "$1: $invoice did not arrive once" "$1"
    done
    [ "$(count "$1" '^\$ tarry dlq ')" = 2 ] || fail "$1: not two verbs" "$1"
    [ "$(count "$1" '^  .*unknown_target')" -ge 3 ] || fail "$1: the list of letters does not show why" "$1"
    grep -q '^3 of 3 failed, were redelivered 2 times each, parked, and arrived once after the replay$' "$scratch/$1.out" || fail "$1: no conclusion" "$1"
    grep -q '^still parked: the 2 that were refused' "$scratch/$1.out" || fail "$1: the refused ones are not there" "$1"
    expect_ended "$1" letters nats-server
}

# expect_no_letters NAME GOOD: without a nats-server it says so in one line, and shows the rest.
expect_no_letters() {
    expect_good "$1" "$2"
    [ "$(count "$1" 'dead letters')" = 1 ] || fail "$1: not one line about dead letters" "$1"
    grep -q '^letters    not shown: .*--nats-server PATH' "$scratch/$1.out" || fail "$1: does not say how to see dead letters" "$1"
    grep -q "^$2 of $2 left, 0 early\$" "$scratch/$1.out" || fail "$1: no such summary" "$1"
}

start first --nats-server "$nats"
start second --count 7
"$tarry" demo --count=5 --nats-server="$nats" >"$scratch/told.out" 2>"$scratch/told.err" &
told=$!
running+=("$told")
start nobody --kafka 127.0.0.1:1
start broken --nats-server "$(type -P false)"
start kept --count 1 --keep --nats-server "$nats"
await told '^ready'
kill -TERM "$told"
code=0
wait "$told" || code=$?
echo "$code" >"$scratch/told.code"
wait
running=()

expect_letters first 36
expect_no_letters second 7
expect_code told 1
[ "$(cat "$scratch/told.err")" = 'tarry demo: interrupted' ] || fail 'told: says something else than that it was interrupted' told
expect_ended told scheduler serve
expect_ended told letters nats-server
expect_code nobody 1
grep -q '^tarry demo: .*no broker answered' "$scratch/nobody.err" || fail 'nobody: does not say that no broker answered' nobody
expect_code broken 1
grep -q '^tarry demo: nats-server ended with exit code 1$' "$scratch/broken.err" || fail 'broken: does not say that nats-server ended' broken
expect_letters kept 1
kept=$(sed -n 's/^kept: \([^ ]*\) .*/\1/p' "$scratch/kept.out")
if [ -f "$kept/tarry.yaml" ] && [ -s "$kept/tarry.log" ] && env -i "$tarry" config check "$kept/tarry.yaml" >/dev/null 2>&1 </dev/null; then
    rm -rf "$kept"
fi

# Nobody reads: it ends early, with a failure.
code=0
{ timeout 60 "$tarry" demo --count 3 2>"$scratch/closed.err" || echo $? >"$scratch/closed.code"; } | head -n 1 >"$scratch/closed.out"
expect_code closed 1

for wrong in '--count 0' '--count x' '--count' '--kafka=' '--nats-server' '--nats-server /nonexistent' '--nothing'; do
    code=0
    # each is two words or one
    # shellcheck disable=SC2086
    "$tarry" demo $wrong >/dev/null 2>&1 || code=$?
    [ "$code" = 2 ] || fail "demo $wrong: exit $code instead of 2" none
done

left=$(find "$scratch" -maxdepth 1 -name 'tarry-demo.*')
[ -z "$left" ] || fail "folders are left: $left" none
exit "$failed"
