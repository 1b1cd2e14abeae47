# shellcheck shell=bash
# Sourced. build_preset PRESET [CMAKE ARGUMENT...]: configures and builds build/PRESET; its words are shown when it fails.

build_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

build_preset() {
    local preset=$1 target=${BUILD_TARGET:-all} log
    shift
    log=$build_root/build/$preset.log
    mkdir -p "$build_root/build"
    printf 'building %s (build/%s)\n' "$target" "$preset"
    if ! (cd "$build_root" && cmake --preset "$preset" "$@" && cmake --build --preset "$preset" --target "$target") \
        >"$log" 2>&1 </dev/null; then
        tail -n 60 "$log" >&2
        printf 'the build of preset %s failed; all of it is in build/%s.log\n' "$preset" "$preset" >&2
        return 1
    fi
}
