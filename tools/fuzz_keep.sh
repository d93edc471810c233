#!/bin/sh
# Brings what fuzzing has found on this machine into the tree: of the inputs of a target, those in the
# tree and those found here, the few that reach together what all of them reach; and how many
# executions it took.
#
#     tools/fuzz_keep.sh [TARGET…]
#
# PERCH_FUZZ_CORPUS    where they were found
# PERCH_FUZZ_KEPT      where they are kept (fuzz/kept)
set -eu

tools=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
top=${tools%/*}
build=${PERCH_RELEASE:-$top/build}-asan
# shellcheck source=tests/lib.sh
. "$top/tests/lib.sh"
# shellcheck source=fuzz/inputs.sh
. "$top/fuzz/inputs.sh"
corpus=${PERCH_FUZZ_CORPUS:-$build/corpus}
longest=4096 # bytes of an input; of a longer one its beginning is kept
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# choose TARGET: into work/TARGET, what reaches more than what was written by hand.
choose() {
    mkdir "$work/$1"
    unpack_kept "$1" "$work/old/$1"
    seeds=$top/fuzz/corpus/$1
    mkdir -p "$work/seeds/$1" "$corpus/$1"
    [ ! -d "$seeds" ] || cp "$seeds"/* "$work/$1"
    find "$work/$1" -type f >"$work/by-hand"
    "$build/fuzz/fuzz-$1" -set_cover_merge=1 -max_len=$longest -timeout=25 -rss_limit_mb=2048 -artifact_prefix="$work/" \
        "$work/$1" "$work/old/$1" "$corpus/$1" >"$work/log" 2>&1 || {
        tail -n 20 "$work/log"
        exit 1
    }
    tr '\n' '\0' <"$work/by-hand" | xargs -0 -r rm
}

# What was counted here is counted there from now on.
keep_count() {
    made=$(executions_of "$1" "$corpus/executions")
    add_executions "$kept/executions" "$1" "$made"
    add_executions "$corpus/executions" "$1" "-$made"
}

mkdir -p "$corpus" "$kept" "$work/old"
# shellcheck disable=SC2046 # names without blanks
[ $# -gt 0 ] || set -- $(programs "$build" fuzz/fuzz-)
printf '%-16s %12s %7s %7s\n' target executions inputs bytes
for target; do
    choose "$target"
    pack_kept "$target" "$work/$target"
    keep_count "$target"
    printf '%-16s %12s %7s %7s\n' "$target" "$(executions_of "$target" "$kept/executions")" \
        "$(find "$work/$target" -type f | wc -l)" "$(wc -c <"$kept/$target.tar.xz")"
done
printf '%-16s %12s %7s %7s\n' together "$(executions_of '' "$kept/executions")" '' \
    "$(cat "$kept"/*.tar.xz | wc -c)"
