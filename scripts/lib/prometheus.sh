#!/usr/bin/env bash
# Prometheus and promtool for the tests of alert rules and dashboard. Source it for prometheus_fetch, or run it:
#   scripts/lib/prometheus.sh fetch     build/deps/prometheus/{prometheus,promtool}, once (Debian's package: the network)
# A script that sources it sets TARRY_ROOT to the top of the source tree first. Nothing is installed, as Debian's package brings a service; none is started.

prometheus_root=${TARRY_ROOT:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
prometheus_programs=(prometheus promtool)

prometheus_is() {
    local program
    for program in "${prometheus_programs[@]}"; do
        "$1/$program" --version >/dev/null 2>&1 || return 1
    done
}

# apt drops its rights for a download: into a folder of its own, which it may write into.
prometheus_unpack() {
    chmod 755 "$1" && (cd "$1" && apt-get -qq -o APT::Sandbox::User=root download prometheus) && dpkg-deb -x "$1"/prometheus_*.deb "$1/out"
}

# The folder appears all at once (renamed into place), so an interrupted fetch leaves nothing half done.
prometheus_fetch() {
    local folder=$prometheus_root/build/deps/prometheus work part log program
    prometheus_is "$folder" && return
    work=$(mktemp -d)
    log=$work/log
    part=$folder.part.$$
    echo "fetching Prometheus into build/deps/prometheus" >&2
    mkdir -p "$part" "$work/pack"
    if ! prometheus_unpack "$work/pack" >"$log" 2>&1 </dev/null; then
        cat "$log" >&2
        rm -rf "$work" "$part"
        echo "prometheus.sh: fetching Prometheus failed; the words of apt-get are above" >&2
        return 1
    fi
    for program in "${prometheus_programs[@]}"; do
        install -m 755 "$work/pack/out/usr/bin/$program" "$part/$program"
    done
    rm -rf "$work"
    # somebody else may have been faster: then theirs is as good
    prometheus_is "$folder" || { rm -rf "$folder" && mv -T "$part" "$folder" 2>/dev/null; } || true
    rm -rf "$part"
    prometheus_is "$folder"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    case ${1:-} in
        fetch) prometheus_fetch ;;
        *) echo "usage: prometheus.sh fetch" >&2; exit 2 ;;
    esac
fi
