#!/bin/sh
# Runs the fuzz targets for a moment each, from the inputs of the tree (fuzz/corpus/NAME and
# fuzz/kept/NAME.tar.xz) and with the words in fuzz/NAME.dict where there are any.
#
#     tests/fuzz.sh [TARGET…]
#
# PERCH_FUZZ_SECONDS   for each target (1, or 20,000 inputs if that is less)
# PERCH_FUZZ_CORPUS    where what was found interesting is kept (nowhere)
set -eu

tests=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
top=${tests%/*}
build=${PERCH_RELEASE:-$top/build}-asan
seconds=${PERCH_FUZZ_SECONDS:-1}
inputs=${PERCH_FUZZ_SECONDS:+-1} # as many as there are in that time
lanes=$(nproc)
kept_most=2000000 # bytes
# shellcheck source=tests/lib.sh
. "$tests/lib.sh"
# shellcheck source=fuzz/inputs.sh
. "$top/fuzz/inputs.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
corpus=${PERCH_FUZZ_CORPUS:-$work/corpus}
findings=$build/findings

# One target to its end: the log and, when all is well, a file called good.
fuzz() {
    name=$1
    mkdir -p "$corpus/$name" "$findings" "$work/$name"
    unpack_kept "$name" "$work/kept/$name"
    set -- -runs="${inputs:-20000}" -max_total_time="$seconds" -timeout=25 -rss_limit_mb=2048 \
        -artifact_prefix="$findings/$name-" "$corpus/$name" "$work/kept/$name"
    [ ! -d "$top/fuzz/corpus/$name" ] || set -- "$@" "$top/fuzz/corpus/$name"
    [ ! -f "$top/fuzz/$name.dict" ] || set -- "$@" -dict="$top/fuzz/$name.dict"
    if "$build/fuzz/fuzz-$name" "$@" >"$work/$name/log" 2>&1; then
        : >"$work/$name/good"
    fi
}

went_well() {
    tail -n 60 "$work/$1/log"
    [ -e "$work/$1/good" ]
}

# lane NUMBER TARGET…: every so-manyth of them.
lane() {
    at=$1
    shift
    for target; do
        at=$((at - 1))
        [ "$at" -ge 0 ] || { fuzz "$target"; at=$((lanes - 1)); }
    done
}

# As many at a time as there are processors.
fuzz_all() {
    for number in $(seq "$lanes"); do
        lane "$((number - 1))" "$@" &
    done
    wait
}

# A target that was written but not listed would never run.
all_are_listed() (
    cd "$top/fuzz"
    grep -l LLVMFuzzerTestOneInput ./*.c | sed 's|^\./||; s|\.c$||' | sort >"$work/written"
    programs "$build" fuzz/fuzz- | sort | diff "$work/written" -
)

# Inputs of a target that is gone would stay for ever; what is kept is small, and does not make a run long.
kept_inputs_are_used() {
    kept_targets >"$work/kept-targets"
    programs "$build" fuzz/fuzz- | sort | comm -13 - "$work/kept-targets" | grep . && return 1
    [ "$(cat "$kept"/*.tar.xz | wc -c)" -le $kept_most ]
}

targets=${*:-$(programs "$build" fuzz/fuzz-)}
check "every fuzz/*.c is listed in fuzz/meson.build" all_are_listed
check "every fuzz/kept/*.tar.xz belongs to a target, all together are small" kept_inputs_are_used
# shellcheck disable=SC2086 # names without blanks
fuzz_all $targets
for target in $targets; do
    check "fuzz $target" went_well "$target"
done
finish
