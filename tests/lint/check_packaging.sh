#!/usr/bin/env bash
# check_packaging.sh scripts|dockerfile|compose: lints one kind of file, and proves on a broken copy that the linter bites.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    printf 'check_packaging: %s\n' "$*" >&2
    exit 1
}

need() {
    command -v "$1" >/dev/null || fail "$1 is not installed; scripts/test installs it"
}

check_scripts() {
    need shellcheck
    local file files=()
    while IFS= read -r file; do
        if [[ $file == *.sh ]] || head -n 1 "$file" | grep -q '^#!.*bash'; then
            files+=("$file")
        fi
    done < <(find .ci scripts tests -type f ! -name '*.c' ! -name '*.h' ! -name '*.py')
    [ ${#files[@]} -ge 6 ] || fail "only ${#files[@]} scripts found"
    shellcheck -x "${files[@]}"
    for file in .ci/run scripts/demo scripts/test scripts/up scripts/down; do
        [ -x "$file" ] || fail "$file is not executable"
    done
    # shellcheck disable=SC2016 # it is the text that counts
    printf '#!/usr/bin/env bash\nrm -rf $1/*\n' >"$scratch/broken"
    ! shellcheck "$scratch/broken" >/dev/null || fail "shellcheck accepts a broken script"
}

check_dockerfile() {
    local hadolint=build/deps/hadolint
    [ -x "$hadolint" ] || fail "$hadolint is missing; scripts/test fetches it"
    "$hadolint" Dockerfile
    printf 'FROM debian\nRUN cd /tmp && sudo apt-get install foo\n' >"$scratch/Dockerfile"
    ! "$hadolint" "$scratch/Dockerfile" >/dev/null || fail "hadolint accepts a broken Dockerfile"
    local words
    for words in 'USER 65532' 'STOPSIGNAL SIGTERM' 'HEALTHCHECK' 'ENTRYPOINT \["/usr/local/bin/tarry"\]'; do
        grep -q "^$words" Dockerfile || fail "Dockerfile has no line $words"
    done
    check_copied_folders
}

# What gets through .dockerignore must be enough for the image's build to configure, with the Dockerfile's own options.
check_copied_folders() {
    local context=$scratch/context path options
    mkdir "$context"
    while IFS= read -r path; do
        mkdir -p "$context/$(dirname "$path")"
        cp -r "$path" "$context/$path"
    done < <(sed -n 's/^!//p' .dockerignore)
    options=$(sed -n 's/.*cmake --preset release \(-D[^&]*\)&&.*/\1/p' Dockerfile)
    [ -n "$options" ] || fail "the Dockerfile does not configure the preset release"
    # shellcheck disable=SC2086 # several options
    (cd "$context" && cmake --preset release $options >"$scratch/configure.log" 2>&1) ||
        fail "the image's build does not configure: $(tail -n 5 "$scratch/configure.log")"
}

check_compose() {
    need docker-compose
    docker-compose config -q
    docker-compose --profile monitoring config --services | sort >"$scratch/services"
    local service path
    for service in kafka nats tarry prometheus grafana; do
        grep -qx "$service" "$scratch/services" || fail "docker-compose.yml has no service $service"
    done
    while IFS= read -r path; do
        [ -e "$path" ] || fail "docker-compose.yml mounts $path, which is not there"
    done < <(sed -n 's/^ *- \(\.\/[^:]*\):.*/\1/p; s/^ *volumes: \["\(\.\/[^:]*\):.*/\1/p' docker-compose.yml)
    printf 'services:\n  x:\n    imagee: y\n' >"$scratch/docker-compose.yml"
    ! docker-compose -f "$scratch/docker-compose.yml" config -q 2>/dev/null || fail "docker-compose accepts a broken file"
}

case ${1:-} in
    scripts) check_scripts ;;
    dockerfile) check_dockerfile ;;
    compose) check_compose ;;
    *) fail "usage: check_packaging.sh scripts|dockerfile|compose" ;;
esac
echo "$1: clean"
