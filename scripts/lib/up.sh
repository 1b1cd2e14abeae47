# shellcheck shell=bash
# Sourced by scripts/up and scripts/down: where their processes live.

up_folder=$TARRY_ROOT/build/up

# Ports are chosen once and kept, so that what people typed still works after a restart.
up_choose_ports() {
    mkdir -p "$up_folder"
    # shellcheck disable=SC2034 # scripts/up uses all of them
    [ ! -f "$up_folder/ports" ] || read -r up_kafka_port up_controller_port up_http up_nats_port <"$up_folder/ports"
    if [ -z "${up_nats_port:-}" ]; then
        up_kafka_port=${up_kafka_port:-$(kafka_free_port)}
        up_controller_port=${up_controller_port:-$(kafka_free_port)}
        up_http=${up_http:-$(kafka_free_port)}
        up_nats_port=$(kafka_free_port)
        printf '%s %s %s %s\n' "$up_kafka_port" "$up_controller_port" "$up_http" "$up_nats_port" >"$up_folder/ports"
    fi
    up_kafka=127.0.0.1:$up_kafka_port
}

# up_is_ours PIDFILE ARGUMENT: the process of that number runs and has the argument: a number alone may belong to somebody else by now.
up_is_ours() {
    [ -f "$1" ] && tr '\0' '\n' 2>/dev/null <"/proc/$(cat "$1")/cmdline" | grep -qxF "$2"
}

# JetStream keeps at most 2 GB of this disk: tarry.yaml asks for four streams of 256 MiB, not of the usual 10 GiB each.
up_write_nats_config() {
    mkdir -p "$up_folder/nats"
    cat >"$up_folder/nats/nats.conf" <<EOT
listen: "127.0.0.1:$up_nats_port"
log_file: "$up_folder/nats/nats.log"
jetstream: {store_dir: "$up_folder/nats/data", max_memory_store: 64MB, max_file_store: 2GB}
EOT
}

up_write_config() {
    cat >"$up_folder/tarry.yaml" <<EOT
instance: tarry-0
group: tarry
kafka: {bootstrap.servers: "$up_kafka"}
store: {path: "$up_folder/store", max_size: 1GiB}
nats: {url: "nats://127.0.0.1:$up_nats_port"}
dlq: {max_bytes: 256MiB}
sources:
  - topic: delayed-event
    dialects: [tarry]
    envelope: true
    routes: {PAYMENT_TIMEOUT: payments}
    default_target: events
targets:
  - {name: orders, match: "orders.*"}
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

# up_stop PIDFILE ARGUMENT: ends that process, if it is ours: SIGTERM, and after 10 s SIGKILL.
up_stop() {
    local pid tries=0
    if up_is_ours "$1" "$2"; then
        pid=$(cat "$1")
        kill "$pid"
        while kill -0 "$pid" 2>/dev/null && [ "$tries" -lt 100 ]; do
            sleep 0.1
            tries=$((tries + 1))
        done
        kill -9 "$pid" 2>/dev/null || true
    fi
    rm -f "$1"
}
