# shellcheck shell=bash
# Sourced by scripts/up and scripts/down: where their processes live.

up_folder=$TARRY_ROOT/build/up

# Ports are chosen once and kept, so that what people typed still works after a restart.
up_choose_ports() {
    mkdir -p "$up_folder"
    if [ ! -f "$up_folder/ports" ]; then
        printf '%s %s %s\n' "$(kafka_free_port)" "$(kafka_free_port)" "$(kafka_free_port)" >"$up_folder/ports"
    fi
    # shellcheck disable=SC2034 # scripts/up uses all of them
    read -r up_kafka_port up_controller_port up_http <"$up_folder/ports"
    up_kafka=127.0.0.1:$up_kafka_port
}

# up_is_ours PIDFILE ARGUMENT: the process of that number runs and has the argument: a number alone may belong to somebody else by now.
up_is_ours() {
    [ -f "$1" ] && tr '\0' '\n' <"/proc/$(cat "$1")/cmdline" 2>/dev/null | grep -qxF "$2"
}

up_write_config() {
    cat >"$up_folder/tarry.yaml" <<EOT
instance: tarry-0
group: tarry
kafka: {bootstrap.servers: "$up_kafka"}
store: {path: "$up_folder/store", max_size: 1GiB}
sources:
  - topic: delayed-event
    dialects: [tarry]
    envelope: true
    routes: {PAYMENT_TIMEOUT: payments}
    default_target: events
http: {listen: "127.0.0.1:$up_http"}
EOT
}

# up_answers PATH: tarry's HTTP port answers 200.
up_answers() {
    local line
    { exec 3<>"/dev/tcp/127.0.0.1/$up_http"; } 2>/dev/null || return 1
    printf 'GET %s HTTP/1.0\r\n\r\n' "$1" >&3
    read -r line <&3 || line=
    exec 3>&-
    [[ $line == *' 200 '* ]]
}

up_stop_tarry() {
    local pid tries=0
    if up_is_ours "$up_folder/tarry.pid" "$up_folder/tarry.yaml"; then
        pid=$(cat "$up_folder/tarry.pid")
        kill "$pid"
        while kill -0 "$pid" 2>/dev/null && [ "$tries" -lt 100 ]; do
            sleep 0.1
            tries=$((tries + 1))
        done
        kill -9 "$pid" 2>/dev/null || true
    fi
    rm -f "$up_folder/tarry.pid"
}
