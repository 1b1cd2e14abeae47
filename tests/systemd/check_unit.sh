#!/usr/bin/env bash
# check_unit.sh TARRY: the unit file, as systemd reads it, and how much it exposes; without a systemd that runs. And that the checks bite.
set -euo pipefail
tarry=$(realpath "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
unit=$root/deploy/systemd/tarry.service
threshold=20 # exposure times ten: 2.0 of 10
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    printf 'check_unit: %s\n' "$*" >&2
    exit 1
}

command -v systemd-analyze >/dev/null || fail "systemd-analyze is not installed; scripts/test installs it"

# A copy that names the built program, which has to be there for verify; further sed expressions change it.
copy() {
    local folder=$scratch/$1 expression
    shift
    mkdir -p "$folder"
    sed "s|^ExecStart=/usr/local/bin/tarry |ExecStart=$tarry |" "$unit" >"$folder/tarry.service"
    for expression in "$@"; do
        sed -i "$expression" "$folder/tarry.service"
    done
    printf '%s\n' "$folder/tarry.service"
}

# systemd-analyze verify warns of unknown keys and values, and ends well all the same: so it has to be silent.
verified() {
    local words
    if ! words=$(systemd-analyze verify --man=no "$1" 2>&1) || [ -n "$words" ]; then
        printf '%s\n' "$words"
        return 1
    fi
}

exposed_less() {
    systemd-analyze security --offline=true --threshold="$threshold" --no-pager "$1" >"$scratch/exposure" 2>&1
}

verified "$(copy good)" || fail "the unit is not in order"
verified "$(copy credentials 's/^#LoadCredential=/LoadCredential=/')" || fail "its lines of credentials are not in order"
! verified "$(copy unknown 's/^Restart=on-failure/Restrat=on-failure/')" >/dev/null || fail "a key with a slip is accepted"
! verified "$(copy absent 's|^ExecStart=.*|ExecStart=/nonexistent/tarry|')" >/dev/null || fail "a program that is not there is accepted"

exposed_less "$(copy good)" || { cat "$scratch/exposure"; fail "the unit exposes more than $threshold"; }
! exposed_less "$(copy open '/^Protect/d; /^SystemCall/d; /^Restrict[A-Z]/d; /^Capability/d')" || fail "a unit without protection passes"

# What tarry is built for, and nothing that it cannot do. Type=notify-reload needs systemd 253.
for line in 'Type=notify' 'NotifyAccess=main' 'WatchdogSec=30s' 'RestartPreventExitStatus=78' 'StateDirectory=tarry' \
    "ExecReload=/bin/kill -HUP \$MAINPID" 'MemoryDenyWriteExecute=yes' 'NoNewPrivileges=yes'; do
    grep -qxF "$line" "$unit" || fail "the unit has no line $line"
done
grep -q '^u tarry ' "$root/deploy/systemd/tarry.sysusers" || fail "no user tarry in tarry.sysusers"

# The example of credentials names keys that the program knows.
mkdir "$scratch/secrets"
for name in http-token nats-password kafka-password; do
    grep -q "^#LoadCredential=$name:" "$unit" || fail "no example for $name"
    printf 'a-secret-of-more-than-16\n' >"$scratch/secrets/$name"
    chmod 600 "$scratch/secrets/$name"
done
cat >"$scratch/tarry.yaml" <<'YAML'
instance: unit
kafka: {bootstrap.servers: "localhost:9092", sasl.password_file: "credential:kafka-password"}
nats: {user: tarry, password_file: "credential:nats-password"}
http: {token_file: "credential:http-token"}
sources: [{topic: delayed-event, default_target: events}]
YAML
CREDENTIALS_DIRECTORY=$scratch/secrets "$tarry" config check -c "$scratch/tarry.yaml" >/dev/null || fail "credentials are not found"
code=0
env -u CREDENTIALS_DIRECTORY "$tarry" config check -c "$scratch/tarry.yaml" 2>"$scratch/errors" >/dev/null || code=$?
[ "$code" -eq 78 ] || fail "without CREDENTIALS_DIRECTORY the code is $code, not 78"
grep -q 'CREDENTIALS_DIRECTORY is not set' "$scratch/errors" || fail "nothing is said of CREDENTIALS_DIRECTORY"
