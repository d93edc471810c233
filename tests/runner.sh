#!/bin/sh
# The runner itself: what it counts, and that nothing bad slips through it.
set -eu

tests=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
# shellcheck source=tests/lib.sh
. "$tests/lib.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PERCH_BUILD="$work/build" PERCH_TEST_TIMEOUT=20
unset CI PERCH_TEST_AGAIN
export long=1000.$$ # seconds, and a word that no other process has in its arguments

# suite: reads the script of a made-up suite from standard input.
suite() {
    {
        echo '#!/bin/sh'
        cat
    } >"$work/suite"
    chmod +x "$work/suite"
}

# ends_with LINE STATUS [SUITE…]: the runner says so about the suite, or about these,
# and ends so.
ends_with() {
    last=$1 expected=$2 status=0
    shift 2
    [ $# -gt 0 ] || set -- "$work/suite"
    said=$("$tests/run" "$@" 2>&1) || status=$?
    printf '%s\nstatus %s\n' "$said" "$status"
    [ "$(printf '%s\n' "$said" | tail -n 1)" = "$last" ] && [ "$status" -eq "$expected" ]
}

# says TEXT: somewhere in what the runner prints about the suite.
says() {
    said=$("$tests/run" "$work/suite" 2>&1) || true
    printf '%s\n' "$said"
    printf '%s\n' "$said" | grep -qF -e "$1"
}

suite <<'END'
echo "ok 1 - one"
echo "ok 2 - two"
echo "1..2"
END
check "all passed" ends_with "2 passed, 0 failed" 0

suite <<'END'
echo "1..3"
echo "said before"
echo "not ok 1 - one"
echo "# said after"
echo "ok 2 - two"
echo "a passing test said"
echo "ok 3 - three"
echo "said to stderr" >&2
exit 1
END
check "one failed" ends_with "2 passed, 1 failed" 1
check "the failed test is named" says "not ok 1 - one"
check "its output before is shown" says "said before"
check "its output after is shown" says "said after"
check "its errors are shown" says "said to stderr"

suite <<'END'
echo "1..1"
echo "not ok 1 - one"
END
check "failed, with a status that denies it" ends_with "0 passed, 1 failed" 1

suite <<'END'
echo "1..2"
echo "ok 1 - one"
echo "ok 2 - two"
kill -SEGV $$
END
check "a crash behind the last result" ends_with "2 passed, 1 failed" 1

suite <<'END'
echo "ok 1 - one"
END
check "no plan" ends_with "1 passed, 1 failed" 1

suite <<'END'
echo "1..3"
echo "ok 1 - one"
END
check "fewer results than planned" ends_with "1 passed, 1 failed" 1

suite <<'END'
echo "1..1"
echo "ok 1 - one"
echo "ok 2 - two"
END
check "more results than planned" ends_with "2 passed, 1 failed" 1

suite <<'END'
echo "1..0"
END
check "nothing ran" ends_with "0 passed, 1 failed" 1

suite <<'END'
echo "Bail out! the roof is on fire"
END
check "gave up" ends_with "0 passed, 1 failed" 1

suite <<'END'
exec /nonexistent/program
END
check "cannot be run" ends_with "0 passed, 1 failed" 1

suite <<'END'
echo "1..3"
echo "ok 1 - one # skip no network"
echo "# skipped: no data"
echo "ok 2 - two"
echo "ok 3 - three"
END
check "skipped tests are counted apart" ends_with "1 passed, 0 failed, 2 skipped" 0
export CI=true
check "skipped tests fail with CI=true" ends_with "1 passed, 2 failed" 1

suite <<'END'
echo "1..2"
echo "# skipped: no data"
echo "not ok 1 - one"
echo "ok 2 - two"
exit 1
END
check "what the harness failed for CI=true is counted once" ends_with "1 passed, 1 failed" 1
unset CI

suite <<'END'
echo "1..0 # skip not on this machine"
END
check "a whole suite skipped" ends_with "0 passed, 0 failed, 1 skipped" 0

suite <<END
echo "1..1"
echo "ok 1 - one"
sleep $long &
END
left_behind_is_named() {
    ends_with "1 passed, 1 failed" 1 &&
        printf '%s\n' "$said" | grep -q "left behind: [0-9]* sleep $long"
}
check "a process left behind" left_behind_is_named

suite <<END
echo "1..1"
echo "ok 1 - one"
env -i setsid sleep $long &
END
check "a process left behind that hides" ends_with "1 passed, 1 failed" 1

suite <<END
echo "1..1"
sleep $long
END
PERCH_TEST_TIMEOUT=1
check "a suite without end" says "no end after 1 s"
PERCH_TEST_TIMEOUT=20

none_is_left() {
    alive=$(cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n') # before grep has it, too
    ! printf '%s\n' "$alive" | grep -xF "$long"
}
check "what was left behind is gone" none_is_left

suite <<'END'
echo "1..1"
for name in HOME TMPDIR XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME XDG_RUNTIME_DIR PWD; do
    eval "value=\$$name"
    case $value in
    */perch-test.*) ;;
    *) echo "# $name is $value" && bad=1 ;;
    esac
done
[ "$LC_ALL" = C.UTF-8 ] || bad=1
[ -z "${bad:-}" ] && echo "ok 1 - private"
END
check "a private environment" ends_with "1 passed, 0 failed" 0

suite <<'END'
echo "1..1"
mkdir "$TMPDIR/locked" && touch "$TMPDIR/locked/file" && chmod 0 "$TMPDIR/locked"
pwd >"$PERCH_BUILD/where"
echo "ok 1 - one"
END
nothing_stays() {
    ends_with "1 passed, 0 failed" 0 && [ ! -e "$(dirname "$(cat "$work/build/where")")" ]
}
check "no file is left behind" nothing_stays

suite <<'END'
echo "1..1"
sh -c 'kill -INT $$; exit 0'
[ $? -eq 130 ] && echo "ok 1 - interrupted"
END
check "signals are not ignored" ends_with "1 passed, 0 failed" 0

# --- several at a time --------------------------------------------------------

export PERCH_TEST_LANES=2

# another NAME: the suite that was made last, kept under this name.
another() {
    mkdir -p "$(dirname "$work/$1")"
    mv "$work/suite" "$work/$1"
}

suite <<'END'
echo "1..1"
echo "not ok 1 - one"
exit 1
END
another failing
suite <<'END'
echo "1..1"
echo "ok 1 - one"
END
another passing
check "two lanes: a failing suite fails the run" \
    ends_with "1 passed, 1 failed" 1 "$work/passing" "$work/failing"

# The lane is the parent of the `timeout` that is the suite's.
suite <<'END'
echo "1..1"
echo "ok 1 - one"
while [ ! -e "$PERCH_BUILD/test-logs/passing.log" ]; do sleep 0.1; done # or it is alone
read -r _ _ _ lane _ <"/proc/$PPID/stat"
kill -KILL "$lane"
sleep "$long"
END
another killing
killed_lane_is_told() {
    rm -f "$PERCH_BUILD/test-logs/passing.log"
    ends_with "1 passed, 1 failed" 1 "$work/killing" "$work/passing" || return 1
    printf '%s\n' "$said" | grep -q '^FAILED killing  *has no result' && none_is_left
}
check "two lanes: one that was killed fails the run" killed_lane_is_told

everyone_killed_is_told() {
    PERCH_TEST_LANES=1 ends_with "1 passed, 2 failed" 1 \
        "$work/passing" "$work/killing" "$work/failing" &&
        printf '%s\n' "$said" | grep -q '^FAILED failing  *has no result'
}
check "a suite that nobody was left to run fails the run" everyone_killed_is_told

for name in one two; do
    suite <<END
echo "1..1"
echo "not ok 1 - $name"
exit 1
END
    another "$name/same"
done
same_name_is_another_suite() {
    ends_with "0 passed, 2 failed" 1 "$work/one/same" "$work/two/same" || return 1
    for name in one two; do
        grep -qx "not ok 1 - $name" "$PERCH_BUILD"/test-logs/same*.log || return 1
    done
    [ "$(printf '%s\n' "$said" | grep 'all of it' | sort -u | wc -l)" -eq 2 ]
}
check "two lanes: two suites of one name both run, each with its log" same_name_is_another_suite

for name in first second; do
    suite <<END
echo "1..1"
pwd >"\$PERCH_BUILD/$name"
exec sleep $long
END
    another "$name"
done
is_left_alone() {
    for name in first second; do
        [ ! -e "$(dirname "$(cat "$work/build/$name")")" ] || return 1
    done
    none_is_left
}
interrupted_run_waits() {
    "$tests/run" "$work/first" "$work/second" &
    tries=200
    while [ ! -s "$work/build/first" ] || [ ! -s "$work/build/second" ]; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || { kill $! && return 1; }
        sleep 0.1
    done
    kill $!
    status=0
    wait $! || status=$?
    [ "$status" -eq 143 ] && is_left_alone
}
check "two lanes: told to end, it leaves nothing behind" interrupted_run_waits

# --- once more, alone ---------------------------------------------------------

suite <<'END'
echo "1..1"
if mkdir "$PERCH_BUILD/was-here"; then
    echo "not ok 1 - in a hurry"
    exit 1
fi
echo "ok 1 - in a hurry"
END
another racing
racing_is_told() {
    rm -rf "$PERCH_BUILD/was-here"
    PERCH_TEST_AGAIN=1 ends_with "2 passed, 0 failed" 0 "$work/racing" "$work/passing" || return 1
    printf '%s\n' "$said" | grep -q 'not ok 1 - in a hurry' &&
        printf '%s\n' "$said" | grep -qx 'once more, alone: racing ' &&
        [ "$(printf '%s\n' "$said" | grep -c '^ok ')" -eq 2 ]
}
failing_again_fails() {
    PERCH_TEST_AGAIN=1 ends_with "1 passed, 1 failed" 1 "$work/failing" "$work/passing" &&
        [ "$(printf '%s\n' "$said" | grep -c '^FAILED failing')" -eq 2 ]
}
several_are_no_accident() {
    rm -rf "$PERCH_BUILD/was-here"
    PERCH_TEST_AGAIN=1 ends_with "0 passed, 2 failed" 1 "$work/racing" "$work/failing"
}
check "a suite that passes the second time, alone, is told of" racing_is_told
check "a suite that fails the second time has failed" failing_again_fails
check "more failures than are run again fail the run at once" several_are_no_accident
unset PERCH_TEST_LANES

unknown_suite_is_refused() {
    status=0
    "$tests/run" no-such-suite || status=$?
    [ "$status" -eq 64 ]
}
check "an unknown suite is refused" unknown_suite_is_refused

long_ones_are_asked_for() {
    "$tests/run" --list >"$work/every-time"
    "$tests/run" --list all >"$work/all"
    grep -qx layers "$work/every-time" && grep -qx layers "$work/all" &&
        grep -qx deb "$work/all" && ! grep -qx deb "$work/every-time" &&
        [ "$("$tests/run" --list deb)" = deb ]
}
check "what takes too long for every run is in \`all\`, and under its name" long_ones_are_asked_for

unbuilt_tests_fail() {
    said=$("$tests/run" unit) && return 1
    [ "$(printf '%s\n' "$said" | tail -n 1)" = "0 passed, 1 failed" ]
}
check "unit tests that were not built fail" unbuilt_tests_fail

finish
