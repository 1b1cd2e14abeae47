#!/usr/bin/env bash
# check_rules.sh PROMTOOL RULES-FOLDER: the alert rules are valid and fire when their tests say; and the tests bite: with every `for` longer or gone, or every
# bound higher or lower, each alert that it concerns is found to be wrong.
set -euo pipefail
promtool=$1
folder=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    printf 'check_rules: %s\n' "$*" >&2
    exit 1
}

[ -x "$promtool" ] || fail "$promtool is missing; scripts/test fetches it"
"$promtool" check config "$folder/prometheus.yml"
"$promtool" test rules "$folder/tarry.test.yml"

mapfile -t alerts < <(sed -n 's/^ *- alert: //p' "$folder/tarry.rules.yml")
[ ${#alerts[@]} -ge 15 ] || fail "only ${#alerts[@]} alerts found"
for alert in "${alerts[@]}"; do
    grep -q "^  - name: $alert\$\|^  - name: $alert " "$folder/tarry.test.yml" || fail "$alert has no test"
done

# broken SED: the output of the tests of rules that sed has changed; they have to fail.
broken() {
    sed "$1" "$folder/tarry.rules.yml" >"$scratch/tarry.rules.yml"
    cp "$folder/tarry.test.yml" "$scratch"
    if "$promtool" test rules "$scratch/tarry.test.yml" >"$scratch/out" 2>&1; then
        fail "the tests pass with rules changed by $1"
    fi
}

# seen WHAT ALERT...: the tests of these alerts have failed.
seen() {
    local what=$1 alert
    shift
    for alert in "$@"; do
        grep -q "${alert}[^A-Za-z]" "$scratch/out" || fail "$alert may $what, and its test does not see it"
    done
}

delayed=()
for alert in "${alerts[@]}"; do
    if sed -n "/- alert: $alert\$/,/- alert:/p" "$folder/tarry.rules.yml" | sed '1!{/- alert:/,$d}' | grep -q '^ *for:'; then
        delayed+=("$alert")
    fi
done
broken 's/^\( *for: \)\([0-9]*\)\([mh]\)$/\16\2\3/'
seen "come late" "${delayed[@]}"
broken '/^ *for: /d'
seen "come early" "${delayed[@]}"
bounded=(TarryLate TarryOverdue TarryOverdueGrowing TarryDeliveryFailures TarryLettersGrowing TarryStoreNearlyFull TarryIntakeLag TarryRetentionHeadroomLow
    TarryClockUnsynchronised)
broken 's/> 5$/> 500/; s/> 300 /> 900 /; s/> 1000 /> 3000 /; s/> 0.01$/> 0.03/; s/> 100 /> 300 /; s/> 0.8$/> 0.95/; s/> 10000$/> 90000/; s/< 0.25 /< 0.1 /; s/> 0.5$/> 0.9/'
seen "ask for too much" "${bounded[@]}"
broken 's/> 300 /> 30 /; s/> 0.01$/> 0.003/; s/> 1000 /> 10 /; s/> 10000$/> 1000/; s/< 0.25 /< 0.9 /; s/> 0.5$/> 0.3/; s/> 100 /> 10 /; s/> 0.8$/> 0.1/'
seen "ask for too little" TarryOverdue TarryOverdueGrowing TarryDeliveryFailures TarryIntakeLag TarryRetentionHeadroomLow TarryClockUnsynchronised TarryLettersGrowing TarryStoreNearlyFull
echo "${#alerts[@]} alerts: valid, on time, and their tests bite"
