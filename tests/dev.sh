#!/bin/sh
# ./dev and its packages: what it does on a machine that lacks some, seen
# through a dpkg, an apt-get and a sudo of our own.
set -eu

tests=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
top=${tests%/*}
# shellcheck source=tests/lib.sh
. "$tests/lib.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
calls=$work/calls

# stub NAME: a command of this name whose script is read from standard input.
stub() {
    {
        echo '#!/bin/sh'
        cat
    } >"$work/bin/$1"
    chmod +x "$work/bin/$1"
}

# machine USER [WITHOUT…]: as this user, on which dpkg has everything but these.
machine() {
    rm -rf "${work:?}/bin"
    mkdir "$work/bin"
    : >"$calls"
    echo "echo $1" | stub id
    shift
    stub dpkg-query <<END
for word; do
    case "$*" in *"\$word"*) continue ;; esac
    echo "installed \$word"
done
END
    echo "echo apt-get \"\$@\" >>'$calls'" | stub apt-get
    echo 'exit 1' | stub sudo
}

dev_fmt() {
    PATH="$work/bin:$PATH" "$top/dev" fmt --check
}

says() {
    printf '%s\n' "$said" | grep -qF -e "$1"
}

complete_machine_is_left_alone() {
    machine 1000
    dev_fmt && cat "$calls" && [ ! -s "$calls" ]
}
check "nothing missing: neither root nor network" complete_machine_is_left_alone

root_installs() {
    machine 0 clang-format
    dev_fmt || return 1
    cat "$calls"
    printf '%s\n' "apt-get -q update" \
        "apt-get -q -y -o DPkg::Lock::Timeout=300 install --no-install-recommends clang-format" |
        diff - "$calls"
}
check "missing, as root: update and install" root_installs

sudo_installs() {
    machine 1000 clang-format
    echo "echo sudo >>'$calls'; shift; exec \"\$@\"" | stub sudo
    dev_fmt || return 1
    cat "$calls"
    [ "$(grep -c sudo "$calls")" -eq 3 ] && grep -q 'install .* clang-format' "$calls"
}
check "missing, with sudo: the same through sudo" sudo_installs

tool_from_elsewhere_will_do() {
    machine 1000 clang-format
    said=$(dev_fmt 2>&1) || return 1
    [ ! -s "$calls" ] && says "note: there, but not from these packages: clang-format"
}
check "missing, but its command is there: goes on" tool_from_elsewhere_will_do

# A PATH with what ./dev itself needs and nothing else.
bare_machine() {
    for command in sh awk dirname readlink sed grep cat printf; do
        ln -s "$(command -v "$command")" "$work/bin/$command" 2>/dev/null || true
    done
}

user_is_told() {
    machine 1000 clang-format
    bare_machine
    said=$(PATH="$work/bin" "$top/dev" fmt --check 2>&1) && return 1
    printf '%s\n' "$said"
    [ ! -s "$calls" ] && says "as root: apt-get install --no-install-recommends clang-format"
}
check "missing, no root, no sudo: the command to run" user_is_told

other_system_is_told() {
    machine 0
    bare_machine
    rm "$work/bin/apt-get" "$work/bin/dpkg-query"
    said=$(PATH="$work/bin" "$top/dev" fmt --check 2>&1) && return 1
    printf '%s\n' "$said"
    says "these packages are missing and cannot be installed from here: clang-format"
}
check "no apt and no command: what is needed" other_system_is_told

other_system_with_tools_works() {
    machine 0
    bare_machine
    rm "$work/bin/apt-get" "$work/bin/dpkg-query"
    for command in clang-format find sort xargs; do
        ln -s "$(command -v "$command")" "$work/bin/$command"
    done
    PATH="$work/bin" "$top/dev" fmt --check
}
check "no apt, but the command: goes on" other_system_with_tools_works

# A tree of our own, since ./dev deb clears its build-deb: git says what is in it, and
# then that it could not.
lost_list_is_noticed() {
    machine 1000
    mkdir -p "$work/tree/tests"
    cp "$top/dev" "$work/tree"
    cp "$tests/lib.sh" "$work/tree/tests"
    printf '%s\n' "printf 'dev\\0'" 'exit 1' | stub git
    echo "echo built >>'$calls'; touch ../perch.deb" | stub dpkg-buildpackage
    said=$(PATH="$work/bin:$PATH" "$work/tree/dev" deb 2>&1) && return 1
    printf '%s\n' "$said"
    [ ! -s "$calls" ] && says "Debian packages failed"
}
check "no list of the files: no package" lost_list_is_noticed

unknown_verb_is_refused() {
    status=0
    said=$("$top/dev" no-such-verb 2>&1) || status=$?
    [ "$status" -eq 64 ] && says "error: ./dev has no verb 'no-such-verb'" &&
        says "usage: ./dev VERB"
}
check "an unknown verb: that there is none, usage, status 64" unknown_verb_is_refused

usage_fits() {
    "$top/dev" no-such-verb 2>&1 | LC_ALL=C.UTF-8 python3 -c '
import sys
lines = sys.stdin.read().splitlines()
print(len(lines), max(map(len, lines)))
sys.exit(len(lines) > 23 or max(map(len, lines)) > 80)'
}
check "an error and the usage fit a screen of 80 columns and 24 lines" usage_fits

# tree_with_ninja: a tree whose ./dev thinks it is set up; ninja's script is standard input.
tree_with_ninja() {
    machine 1000
    mkdir -p "$work/built/tests" "$work/built/build"
    cp "$top/dev" "$work/built"
    cp "$tests/lib.sh" "$work/built/tests"
    printf '%s gcc --werror' "$work/built" >"$work/built/build/dev-stamp"
    printf %s '' >"$work/built/build/dev-switches"
    stub ninja
}

# on_terminal COMMAND: what it draws.
on_terminal() {
    PATH="$work/bin:$PATH" TERM=xterm script -qec "$1" /dev/null </dev/null
}

progress_is_shown() {
    echo 'echo "[7/761] Compiling"' | tree_with_ninja
    said=$(on_terminal "$work/built/dev build") || return 1
    printf '%s\n' "$said" | cat -v
    says "[7/761] Compiling" || return 1
    printf '%s\n' "$said" | sed 's/\r$//; s/.*\r//' | grep -qE 'build {24}[0-9.]+ s$'
}
check "on a terminal: how far a step is" progress_is_shown

pipe_is_quiet() {
    echo 'echo "[7/761] Compiling"' | tree_with_ninja
    said=$(PATH="$work/bin:$PATH" TERM=xterm "$work/built/dev" build 2>&1) || return 1
    printf '%s\n' "$said" | grep -qxE 'build {24}[0-9.]+ s'
}
check "in a pipe: one line for a step" pipe_is_quiet

failure_is_told() {
    { echo 'case $* in *build.ninja) exit ;; esac'; echo 'echo broken; exit 1'; } | tree_with_ninja
    if said=$(on_terminal "$work/built/dev build"); then return 1; fi
    printf '%s\n' "$said" | cat -v
    says "failed after" && says "error: build failed" || return 1
    said=$(printf '%s\n' "$said" | tr -d '\r' | grep -x broken) && says broken
}
check "on a terminal: a step that fails says all" failure_is_told

# The benchmarks are built in the directory of the tests, with all that those want.
benches_are_built_with_tests() {
    tree_with_ninja </dev/null
    machine 0 libuv1-dev libcjson-dev
    said=$(PATH="$work/bin:$PATH" "$work/built/dev" bench none 2>&1) || true
    printf '%s\n' "$said"
    cat "$calls"
    grep -q 'install .*libuv1-dev' "$calls" && grep -q 'install .*libcjson-dev' "$calls"
}
check "bench: what the tests want is installed too" benches_are_built_with_tests

# fuzzer NAME EXECUTIONS [STATUS]: one that says that it made so many. All inputs are worth to be kept by it.
fuzzer() {
    mkdir -p "$work/budget-asan/fuzz"
    cat >"$work/budget-asan/fuzz/fuzz-$1" <<END
#!/bin/sh
case "\$*" in
-set_cover_merge=1*)
    while [ "\${1#-}" != "\$1" ]; do shift; done
    into=\$1
    shift
    find "\$@" -type f -exec cp -n {} "\$into" ';'
    exit ;;
*-merge=1*) exit ;;
*-runs=*) echo "$1 \$*" >>"$calls" ;;
esac
for word; do [ ! -d "\$word" ] || ls "\$word"; done >>"$calls"
printf '#$2\tDONE   cov: 12 ft: 34 corp: 5/6b\n'
echo 'stat::number_of_executed_units: $2'
exit ${3:-0}
END
    chmod +x "$work/budget-asan/fuzz/fuzz-$1"
}

fuzz_for() {
    PERCH_RELEASE=$work/budget PERCH_FUZZ_CORPUS=$work/inputs PERCH_FUZZ_LANES=${lanes:-1} \
        PERCH_FUZZ_KEPT=$work/kept "$top/tools/${tool:-fuzz_budget}.sh" "$@" 2>&1
}

budget_is_spent() {
    rm -rf "$work/inputs"
    : >"$calls"
    fuzzer quick 900
    fuzzer slow 10
    said=$(fuzz_for 2e3 quick slow) || return 1
    printf '%s\n' "$said"
    printf '%s\n' "$said" | grep -qE '^together +2730 +2730$' || return 1
    # It had two rounds, which made 20 of the 100 that are the least.
    cat "$calls"
    grep -qF 'slow -runs=80' "$calls" && ! grep -q '^quick' "$calls"
}
check "fuzz --budget: rounds until all have made so many; the slow one gets its least" budget_is_spent

budget_is_kept() {
    said=$(fuzz_for 1000 quick) || return 1
    printf '%s\n' "$said"
    printf '%s\n' "$said" | grep -qE '^quick +1800 +4500 +12 +34 ' && cat "$work/inputs/executions" &&
        grep -qx 'slow 30' "$work/inputs/executions"
}
check "fuzz --budget: the count goes on where it was" budget_is_kept

# Two at once are enough; the third has its least afterwards.
budget_is_shared() {
    rm -rf "$work/inputs"
    for name in one two three; do fuzzer "$name" 600; done
    said=$(lanes=2 fuzz_for 1000 one two three) || return 1
    printf '%s\n' "$said"
    printf '%s\n' "$said" | grep -qE '^two +600 +600 +12 +34 ' &&
        printf '%s\n' "$said" | grep -qE '^together +1800 +1800$'
}
check "fuzz --budget: several targets at once, all of them counted" budget_is_shared

# What it finds, and who has counted what.
found_is_kept() {
    rm -rf "$work/inputs" "$work/kept"
    mkdir -p "$work/inputs/one" "$work/kept"
    echo one 1000 >"$work/kept/executions"
    said=$(fuzz_for 500 one) || return 1
    printf '%s\n' "$said" | grep -qE '^one +600 +1600 ' || return 1
    for name in first second; do echo "$name" >"$work/inputs/one/$name"; done
    said=$(tool=fuzz_keep fuzz_for one) || return 1
    printf '%s\n' "$said"
    grep -qx 'one 1600' "$work/kept/executions" && grep -qx 'one 0' "$work/inputs/executions" &&
        tar -tf "$work/kept/one.tar.xz" | tr '\n' ' ' | grep -x 'first second ' || return 1
    cp "$work/kept/one.tar.xz" "$work/archive"
    touch -d yesterday "$work/inputs/one/first"
    said=$(umask 077 && tool=fuzz_keep fuzz_for one) && cmp "$work/archive" "$work/kept/one.tar.xz"
}
check "fuzz --keep: inputs in an archive that is the same each time, and the count" found_is_kept

kept_is_begun_with() {
    rm -rf "$work/inputs"
    : >"$calls"
    said=$(fuzz_for 500 one) || return 1
    printf '%s\n' "$said"
    printf '%s\n' "$said" | grep -qE '^one +600 +2200 ' && grep -x first "$calls"
}
check "fuzz --budget: it goes on from what is kept" kept_is_begun_with

finding_is_told() {
    fuzzer bad 5 77
    if said=$(fuzz_for 1e4 bad); then return 1; fi
    says "fuzz-bad found something" && grep -qx 'bad 5' "$work/inputs/executions"
}
check "fuzz --budget: a finding ends it, what was made counts" finding_is_told

budget_is_a_number() {
    status=0
    said=$(fuzz_for lots quick) || status=$?
    [ "$status" -eq 64 ] && says "how many executions?"
}
check "fuzz --budget: no number, status 64" budget_is_a_number

# covered LINES: of a hundred in base/str.c, as an llvm-cov says it that shows two files.
covered() {
    mkdir -p "$work/bin" "$work/cover"
    echo base/str.c >"$work/engines"
    stub llvm-cov <<END
case \$1 in
export) echo '{"files":[{"filename":"/b/../src/base/str.c","summary":{"lines":{"count":100,"covered":$1,"percent":0}}}]}' ;;
show)
    printf '/b/../src/base/strange.c:\n    7|      0|\tnot asked for\n\n'
    printf '/b/../src/base/str.c:\n    3|     12|\treached\n    4|      0|\tnever reached\n    5|       |\n'
    ;;
esac
END
    PATH="$work/bin:$PATH" COVER_AGAIN=yes COVER_BUILD="$work/cover" COVER_ENGINES="$work/engines" \
        "$top/tools/cover.sh" src/base/str.c 2>&1
}

cover_shows_lines() {
    said=$(covered 90) || return 1
    printf '%s\n' "$said"
    printf '%s\n' "$said" | tail -n 2 >"$work/last"
    printf 'src/base/str.c\n    4|      0|\tnever reached\n' | cmp - "$work/last"
}
check "cover: the lines of a file that nobody reaches, and of no other" cover_shows_lines

cover_wants_ninety() {
    if said=$(covered 89); then return 1; fi
    says 'base/str.c  below 90'
}
check "cover: a file below 90 of 100 fails" cover_wants_ninety

machines_are_named() {
    if said=$("$tests/machines/machines.sh" amiga 2>&1); then return 1; fi
    says "there is no machine amiga: linux-6.1 linux-6.12 aarch64"
}
check "machines: one that is not there, and which are" machines_are_named

# machine_said NAME: to the table, what a machine says on standard input.
machine_said() (
    # shellcheck disable=SC2030 # as much as it is meant to
    out=$work/machines place=$work/machines/$1
    # shellcheck source=tests/machines/table.sh
    . "$tests/machines/table.sh"
    mkdir -p "$place"
    progress "$1"
    results <"$place/console" >"$place/results"
)

# machines_told NAME…: the table.
machines_told() (
    out=$work/machines
    # shellcheck source=tests/machines/table.sh
    . "$tests/machines/table.sh"
    all_told "$@"
)

machines_are_told() {
    said=$(machine_said whole <<'END'
[    1.0] a kernel's word
root: layers limits seccomp
root: ok     unit/room      1.0 s  3 passed, 0 failed
root: 3 passed, 0 failed
tester: layers limits
tester: ok     unit/room      1.0 s  2 passed, 0 failed, 1 skipped
tester: 2 passed, 0 failed, 1 skipped
END
)
    says 'whole: tester: ok     unit/room' || return 1
    if printf '%s' "$said" | grep 'kernel'; then return 1; fi
    said=$(machines_told whole) || return 1
    says 'whole         root          3      0       0  limits seccomp' &&
        says 'whole         tester        2      0       1  limits' && says '5 passed, 0 failed'
}
check "machines: each suite as it ends, and a table of who ran what" machines_are_told

machines_that_failed_are_told() {
    machine_said broken <<'END' >"$work/progress"
root: ok     unit/room      1.0 s  3 passed, 0 failed
root: FAILED unit/guard     1.0 s  1 passed, 2 failed
END
    mkdir -p "$work/machines/missing"
    echo 'there is no such kernel' >"$work/machines/missing/why"
    : >"$work/machines/missing/results"
    if said=$(machines_told whole broken missing); then return 1; fi
    says '4      2       0   (it came to no end)' && says 'failed as root: unit/guard' &&
        says 'missing       cannot be had: there is no such kernel' && says '9 passed, 4 failed'
}
check "machines: what failed, came to no end or cannot be had" machines_that_failed_are_told

works_from_anywhere() {
    cd / && "$top/dev" fmt --check
}
check "from another directory" works_from_anywhere

finish
