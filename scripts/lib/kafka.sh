#!/bin/sh
# A real Apache Kafka on loopback, for tests, bench and scripts/up. Source it for the functions, or run it:
#   scripts/lib/kafka.sh fetch                         the jars, once, into build/deps/kafka/libs (needs mvn and the network)
#   scripts/lib/kafka.sh start DIR PORT CONTROLLER_PORT [LISTEN_HOST]
#   scripts/lib/kafka.sh topic BOOTSTRAP TOPIC PARTITIONS
#   scripts/lib/kafka.sh stop DIR
# A script that sources it sets TARRY_ROOT to the top of the source tree first.
# Nothing here ends a process it did not start: DIR/pid names the only one.

kafka_root=${TARRY_ROOT:-$(CDPATH='' cd -- "$(dirname -- "$0")/../.." 2>/dev/null && pwd)}

# Where the jars are.
kafka_libs()
{
    printf '%s\n' "${KAFKA_LIBS:-$kafka_root/build/deps/kafka/libs}"
}

# Fetches the jars unless they are there. They appear all at once (renamed into place), so an interrupted fetch leaves nothing half done.
kafka_fetch()
{
    libs=$(kafka_libs)
    [ -d "$libs" ] && return 0
    command -v mvn >/dev/null || { echo "kafka.sh: mvn is missing: install the packages maven and default-jre-headless" >&2; return 1; }
    mkdir -p "$(dirname "$libs")"
    part=$libs.part.$$
    echo "fetching Apache Kafka's jars into $libs" >&2
    if ! mvn -q -B -f "$kafka_root/scripts/kafka/pom.xml" dependency:copy-dependencies -DoutputDirectory="$part" \
        -DincludeScope=runtime >&2; then
        rm -rf "$part"
        echo "kafka.sh: fetching failed" >&2
        return 1
    fi
    # somebody else may have been faster: then theirs is as good
    mv -T "$part" "$libs" 2>/dev/null || rm -rf "$part"
    [ -d "$libs" ]
}

# A loopback port nobody listens on, below the ephemeral range (a client that reconnects to a stopped broker's ephemeral port may be
# given that very port and connect to itself).
kafka_free_port()
{
    while :; do
        port=$(awk -v seed="$(od -An -N2 -tu2 /dev/urandom)" 'BEGIN { srand(seed); print 12000 + int(rand() * 20000) }')
        kafka_answers "$port" || { printf '%s\n' "$port"; return 0; }
    done
}

kafka_answers()
{
    timeout 1 bash -c ": </dev/tcp/127.0.0.1/$1" 2>/dev/null
}

kafka_properties()
{
    cat <<END
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$3
listeners=PLAINTEXT://$4:$2,CONTROLLER://127.0.0.1:$3
advertised.listeners=PLAINTEXT://$4:$2
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs=$1/data
auto.create.topics.enable=false
num.partitions=1
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
END
}

kafka_log_configuration()
{
    cat <<END
appender.file.type=File
appender.file.name=file
appender.file.fileName=$1/broker.log
appender.file.layout.type=PatternLayout
appender.file.layout.pattern=%d %p %m (%c)%n
rootLogger.level=info
rootLogger.appenderRef.file.ref=file
END
}

# kafka_start DIR PORT CONTROLLER_PORT [LISTEN_HOST]: formats DIR when it is new, starts, waits until the port answers. KAFKA_HEAP: default "-Xms512m -Xmx1g".
kafka_start()
{
    dir=$1
    class_path="$(kafka_libs)/*"
    mkdir -p "$dir"
    kafka_properties "$dir" "$2" "$3" "${4:-127.0.0.1}" >"$dir/server.properties"
    kafka_log_configuration "$dir" >"$dir/log4j2.properties"
    if [ ! -d "$dir/data" ]; then
        if ! id=$(java -cp "$class_path" kafka.tools.StorageTool random-uuid 2>/dev/null) ||
            ! java -cp "$class_path" kafka.tools.StorageTool format -t "$id" -c "$dir/server.properties" >"$dir/format.out" 2>&1; then
            echo "kafka.sh: formatting $dir failed: see $dir/format.out" >&2
            return 1
        fi
    fi
    # the heap is two words on purpose
    # shellcheck disable=SC2086
    java ${KAFKA_HEAP:--Xms512m -Xmx1g} "-Dlog4j2.configurationFile=$dir/log4j2.properties" -cp "$class_path" kafka.Kafka \
        "$dir/server.properties" >"$dir/broker.out" 2>&1 </dev/null &
    echo $! >"$dir/pid"
    kafka_wait "$dir" "$2"
}

# Waits until the port answers, as long as the process lives, 90 s at most.
kafka_wait()
{
    tries=0
    while [ "$tries" -lt 450 ] && kill -0 "$(cat "$1/pid")" 2>/dev/null; do
        kafka_answers "$2" && return 0
        sleep 0.2
        tries=$((tries + 1))
    done
    echo "kafka.sh: Kafka did not start: see $1/broker.out and $1/broker.log" >&2
    return 1
}

# kafka_stop DIR: SIGTERM to the one we started, and after 20 s SIGKILL.
kafka_stop()
{
    [ -f "$1/pid" ] || return 0
    pid=$(cat "$1/pid")
    # the number may have been given to somebody else since: only a process that names our file is ours
    if tr '\0' '\n' 2>/dev/null <"/proc/$pid/cmdline" | grep -qxF "$1/server.properties"; then
        kill "$pid" 2>/dev/null
        tries=0
        while kill -0 "$pid" 2>/dev/null; do
            [ "$tries" -eq 100 ] && kill -9 "$pid"
            sleep 0.2
            tries=$((tries + 1))
        done
    fi
    rm -f "$1/pid"
}

# kafka_topic BOOTSTRAP TOPIC PARTITIONS: makes the topic unless it is there.
kafka_topic()
{
    java -cp "$(kafka_libs)/*" org.apache.kafka.tools.TopicCommand --bootstrap-server "$1" --create --if-not-exists --topic "$2" \
        --partitions "$3" --replication-factor 1 >/dev/null
}

case ${0##*/} in
kafka.sh)
    verb=$1
    [ $# -gt 0 ] && shift
    case $verb in
    fetch | libs | start | stop | topic) kafka_"$verb" "$@" ;;
    *)
        echo "usage: kafka.sh fetch | libs | start DIR PORT CONTROLLER_PORT [HOST] | topic BOOTSTRAP TOPIC PARTITIONS | stop DIR" >&2
        exit 2
        ;;
    esac
    ;;
esac
