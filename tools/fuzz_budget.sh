#!/bin/sh
# Runs the fuzz targets until they have made so many executions together: round after round, each
# for the same time, then those that had too few. It begins with the inputs of the tree; what it finds
# stays in a corpus of this machine, which is made small again at the end, and what it has made is
# counted there, in the file `executions`. tools/fuzz_keep.sh brings both into the tree.
#
#     tools/fuzz_budget.sh EXECUTIONS [TARGET…]      1000000, 1e6 or 1e8
#
# PERCH_FUZZ_CORPUS    the corpus of this machine
# PERCH_FUZZ_SECONDS   for each target in one round (30)
# PERCH_FUZZ_LANES     how many targets at once (one for each processor)
set -eu

tools=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
top=${tools%/*}
build=${PERCH_RELEASE:-$top/build}-asan
# shellcheck source=tests/lib.sh
. "$top/tests/lib.sh"
# shellcheck source=fuzz/inputs.sh
. "$top/fuzz/inputs.sh"
corpus=${PERCH_FUZZ_CORPUS:-$build/corpus}
findings=$build/findings
seconds=${PERCH_FUZZ_SECONDS:-30}
at_once=${PERCH_FUZZ_LANES:-$(nproc)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What was freed is kept for a while, so that a late look at it is seen: as much as fits into a cache.
ASAN_OPTIONS=quarantine_size_mb=16:malloc_context_size=8${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export ASAN_OPTIONS

die() {
    echo "$1"
    exit 1
}

# whole NUMBER: without its exponent.
whole() {
    echo "$1" | awk '/^[0-9]+(e[0-9]+)?$/ { printf "%.0f\n", $1 + 0; good = 1 } END { exit !good }'
}

# ever [TARGET]: how many executions it has had, on this machine and before; all of them without one.
ever() {
    executions_of "${1:-}" "$kept/executions" "$corpus/executions"
}

# fuzz TARGET OPTION…: what it says goes to its log; `found` stands beside it where it found something.
fuzz() {
    name=$1
    shift
    mkdir -p "$corpus/$name" "$findings"
    set -- "$@" -timeout=25 -rss_limit_mb=2048 -print_final_stats=1 -print_funcs=0 \
        -artifact_prefix="$findings/$name-" "$corpus/$name"
    [ ! -d "$top/fuzz/corpus/$name" ] || set -- "$@" "$top/fuzz/corpus/$name"
    [ ! -f "$top/fuzz/$name.dict" ] || set -- "$@" -dict="$top/fuzz/$name.dict"
    "$build/fuzz/fuzz-$name" "$@" >"$work/$name.log" 2>&1 || : >"$work/$name.found"
}

# count TARGET: whatever came of it, what was executed is remembered.
count() {
    executed=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$1.log")
    sed -n 's/.*DONE *cov: \([0-9]*\) ft: \([0-9]*\).*/\1 \2/p' "$work/$1.log" >"$work/$1.cov"
    add_executions "$corpus/executions" "$1" "${executed:-0}"
}

# together OPTION TARGET…: all at the same time.
together() {
    option=$1
    shift
    for target; do fuzz "$target" "$option" & done
    wait
    for target; do count "$target"; done
    for target; do
        [ ! -e "$work/$target.found" ] || {
            tail -n 40 "$work/$target.log"
            die "fuzz-$target found something: see $findings"
        }
    done
}

# round TARGET…: each for the same time, as many at once as there are processors.
round() {
    while [ $# -gt 0 ] && [ "$(made)" -lt "$budget" ]; do
        few=$(printf '%s\n' "$@" | head -n "$at_once")
        shift "$(echo "$few" | wc -l)"
        # shellcheck disable=SC2086 # names without blanks
        together "-max_total_time=$seconds" $few
    done
}

# made: in this run, by all.
made() {
    echo $(($(ever) - before))
}

# shrink TARGET: the fewest inputs that reach all that these reach.
shrink() {
    rm -rf "$work/small"
    mkdir "$work/small"
    "$build/fuzz/fuzz-$1" -merge=1 -timeout=25 -rss_limit_mb=2048 "$work/small" "$corpus/$1" >"$work/log" 2>&1 || {
        tail -n 20 "$work/log"
        exit 1
    }
    rm -rf "${corpus:?}/$1"
    mv "$work/small" "$corpus/$1"
}

usage='error: how many executions? ./dev fuzz --budget 1e6 [TARGET…]'
budget=$(whole "${1:-}") || {
    echo "$usage" >&2
    exit 64
}
shift
mkdir -p "$corpus"
before=$(ever)
# shellcheck disable=SC2046 # names without blanks
[ $# -gt 0 ] || set -- $(programs "$build" fuzz/fuzz-)
for target; do
    ever "$target" >"$work/$target.before"
    unpack_kept "$target" "$corpus/$target"
done

while [ "$(made)" -lt "$budget" ]; do
    round "$@"
    echo "$(made) of $budget executions"
done
# A slow target has a tenth of its even share at least.
least=$((budget / $# / 10))
for target; do
    missing=$((least - $(ever "$target") + $(cat "$work/$target.before")))
    [ "$missing" -le 0 ] || together -runs="$missing" "$target"
done

printf '%-16s %12s %12s %7s %9s %7s\n' target executions 'ever since' edges features inputs
for target; do
    shrink "$target"
    ever=$(ever "$target")
    read -r edges features <"$work/$target.cov" || edges='' features=''
    printf '%-16s %12s %12s %7s %9s %7s\n' "$target" "$((ever - $(cat "$work/$target.before")))" "$ever" \
        "${edges:--}" "${features:--}" "$(find "$corpus/$target" -type f | wc -l)"
done
printf '%-16s %12s %12s\n' together "$(made)" "$(ever)"
