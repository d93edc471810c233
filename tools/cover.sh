#!/bin/sh
# Which lines of the engines are reached: by the inputs of each fuzz target, and by all of them and the
# unit tests together. tests/engines.txt says which files are engines; one below 90 of 100 lines fails.
# The inputs are those of the tree, so that it is the same everywhere.
#
#     tools/cover.sh [FILE…]      the lines of these that nobody reaches, after the table
#
# COVER_SUITES        these instead of all of unit
# COVER_AGAIN=yes      the profile of the last run: nothing is run again
# COVER_BUILD          the build (build-cover)
# COVER_ENGINES        the list of engines (tests/engines.txt)
set -eu

tools=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
top=${tools%/*}
build=${COVER_BUILD:-$top/build-cover}
profiles=$build/profiles
least=90
# shellcheck source=tests/lib.sh
. "$top/tests/lib.sh"
# shellcheck source=fuzz/inputs.sh
. "$top/fuzz/inputs.sh"

# Every process writes; those of one program add to a few files.
LLVM_PROFILE_FILE=$profiles/%4m.profraw
export LLVM_PROFILE_FILE

# A test that fails here is a failure of `./dev test unit`, not of this.
run_units() {
    suites=${COVER_SUITES:-unit}
    # shellcheck disable=SC2086 # several suites
    PERCH_BUILD=$build PERCH_TEST_LANES=$(($(nproc) + 1)) "$top/tests/run" $suites >"$build/units.log" 2>&1 || true
    tail -n 1 "$build/units.log"
}

# inputs_of TARGET: where they are.
inputs_of() {
    [ ! -d "$top/fuzz/corpus/$1" ] || echo "$top/fuzz/corpus/$1"
    echo "$build/inputs/$1"
}

# Each input once, nothing new. What a target reaches stays apart.
run_inputs() {
    rm -rf "$build/inputs"
    for target in $(programs "$build" fuzz/fuzz-); do
        unpack_kept "$target" "$build/inputs/$target"
        # shellcheck disable=SC2046 # the tree has no blanks
        LLVM_PROFILE_FILE=$profiles/$target.profraw "$build/fuzz/fuzz-$target" -runs=0 $(inputs_of "$target") \
            >"$build/inputs.log" 2>&1 || {
            tail -n 20 "$build/inputs.log"
            exit 1
        }
    done
}

# cov PROFILE COMMAND [ARGUMENT…]: of programs that hold all of the library and of the companions.
cov() {
    profile=$1
    command=$2
    shift 2
    llvm-cov "$command" "$build/src/libperch.so.0.1.0" -object "$build/perch-serve" -object "$build/perch-worker" \
        -object "$build/perch-conformance" -object "$build/perch-remote" -object "$build/perch-acp" \
        -instr-profile "$profile" "$@" 2>/dev/null
}

# unreached FILE: its lines that nobody reaches. Their places are those that the compiler was told, relative to the
# build: llvm-cov takes no other spelling of them for a filter, so all are shown and one is kept.
unreached() {
    cov "$build/all.profdata" show -show-line-counts-or-regions=false | awk -v name="/src/${1#src/}:" '
        /^\/.*:$/ { is_it = length($0) >= length(name) && substr($0, length($0) - length(name) + 1) == name; found = found || is_it; next }
        is_it && /^ *[0-9]+\| +0\|/ { print }
        END { exit !found }'
}

engines() (
    cd "$top/src"
    sed '/^#/d' "${COVER_ENGINES:-$top/tests/engines.txt}" | while read -r pattern; do
        # shellcheck disable=SC2086 # a pattern
        ls -d $pattern
    done | sort -u
)

# table PROFILE: a line for each file: lines, lines not reached, file.
table() {
    cov "$1" export -summary-only | tr '{' '\n' | awk '
        /"filename":/ { match($0, /"filename":"[^"]*"/); file = substr($0, RSTART + 12, RLENGTH - 13) }
        /"count":/ { if (waits) { split($0, part, /[:,]/); total[file] = part[2]; reached[file] = part[4]; waits = 0 } }
        /"lines":$/ { waits = 1 }
        END { for (file in total) print total[file], total[file] - reached[file], file }' |
        sed 's|[^ ]*/src/||'
}

# by_target: what each reaches of the engines, and of those alone that it enters at all.
by_target() {
    printf '%-16s %7s %7s %7s %6s\n' target inputs engines lines reached
    for target in $(programs "$build" fuzz/fuzz-); do
        llvm-profdata merge -sparse "$profiles/$target.profraw" -o "$build/target.profdata"
        # shellcheck disable=SC2046 # the tree has no blanks
        inputs=$(find $(inputs_of "$target") -type f | wc -l)
        table "$build/target.profdata" | awk -v target="$target" -v inputs="$inputs" '
            NR == FNR { is_engine[$1] = 1; next }
            is_engine[$3] && $2 < $1 { engines++; lines += $1; reached += $1 - $2 }
            END { printf "%-16s %7d %7d %7d %6.1f\n", target, inputs, engines, reached, lines ? 100 * reached / lines : 0 }
            ' "$build/engines.txt" -
    done
}

engines >"$build/engines.txt"
if [ -z "${COVER_AGAIN:-}" ]; then
    rm -rf "$profiles"
    mkdir "$profiles"
    run_units
    run_inputs
    find "$profiles" -name '*.profraw' >"$build/profiles.txt"
    llvm-profdata merge -sparse -f "$build/profiles.txt" -o "$build/all.profdata"
    by_target >"$build/targets.txt"
fi
[ ! -e "$build/targets.txt" ] || cat "$build/targets.txt"
table "$build/all.profdata" >"$build/table.txt"
awk -v least=$least '
    NR == FNR { lines[$3] = $1; missed[$3] = $2; next }
    !($1 in lines) { printf "%7s %7s %6s  %s\n", "-", "-", "-", $1; bad++; next }
    {
        percent = lines[$1] ? 100 * (lines[$1] - missed[$1]) / lines[$1] : 100
        low = percent < least
        bad += low; all += lines[$1]; all_missed += missed[$1]
        printf "%7d %7d %6.1f  %s%s\n", lines[$1], missed[$1], percent, $1, low ? "  below " least : ""
    }
    END {
        printf "%7d %7d %6.1f  together; %d below %d\n", all, all_missed, 100 * (all - all_missed) / all, bad, least
        exit bad > 0
    }' "$build/table.txt" "$build/engines.txt" || low=yes
for file; do
    echo "$file"
    unreached "$file" || {
        echo "error: no program of the build has $file" >&2
        exit 1
    }
done
[ -z "${low:-}" ]
