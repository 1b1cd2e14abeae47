#!/usr/bin/env bash
# check_rules.sh PROMTOOL RULES-FOLDER: the alert rules are valid and fire when their tests say; and the tests bite: with every `for` one step longer each
# alert that has one is found to be late.
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

broken 's/^\( *for: \)\([0-9]*\)\([mh]\)$/\16\2\3/'
for alert in "${alerts[@]}"; do
    if sed -n "/- alert: $alert\$/,/- alert:/p" "$folder/tarry.rules.yml" | sed '1!{/- alert:/,$d}' | grep -q '^ *for:'; then
        grep -q "$alert" "$scratch/out" || fail "$alert may come late, and its test does not see it"
    fi
done
broken '/^ *for: /d'
for alert in "${alerts[@]}"; do
    if sed -n "/- alert: $alert\$/,/- alert:/p" "$folder/tarry.rules.yml" | sed '1!{/- alert:/,$d}' | grep -q '^ *for:'; then
        grep -q "$alert" "$scratch/out" || fail "$alert may come early, and its test does not see it"
    fi
done
echo "${#alerts[@]} alerts: valid, on time, and their tests bite"
