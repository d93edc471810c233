# shellcheck shell=bash
# Plugins for the tests, made from a few lines, and perch with a life of its
# own. To be loaded by the bats files of this directory and of tests/term.

load ../harness/wait

fledge_open() {
    perch="$PERCH_BUILD/perch"
    here="$PERCH_SOURCE/tests/fledge"
    # The interpreter itself: what stands on PATH may be a script that looks for it.
    python=$(python3 -c 'import sys; print(sys.executable)')
    export XDG_CONFIG_HOME="$BATS_TEST_TMPDIR/config"
    cfg="$XDG_CONFIG_HOME/fledge"
    # What a plugin was sent, and the sign that it has come to its point.
    export WORK="$BATS_TEST_TMPDIR/work"
    export SEEN="$WORK/seen" READY="$WORK/ready"
    export TEST_MARK="perch-test-$BATS_TEST_TMPDIR"
    export PYTHONPATH="$WORK/python" PYTHONDONTWRITEBYTECODE=1
    unset FLEDGE_NON_INTERACTIVE FLEDGE_PLUGIN_DIR
    mkdir -p "$cfg/plugins/bin" "$XDG_CONFIG_HOME/perch" "$WORK/project" "$WORK/python"
    cp "$here/plug.py" "$here/user.py" "$WORK/python"
    echo "schema = 1" >"$XDG_CONFIG_HOME/perch/grants.toml"
    cd "$WORK/project" || return 1
}

# grant NAME: the plugin may write where the test looks for what it left; its
# sandbox is the default one otherwise.
grant() {
    printf '[plugin.%s]\nwrite = ["%s"]\n' "$1" "$WORK" >>"$XDG_CONFIG_HOME/perch/grants.toml"
}

# Nothing that was started for this test is left.
fledge_close() {
    wait_until nothing_left && return
    for pid in $(left); do
        tr '\0' ' ' <"/proc/$pid/cmdline"
        kill -KILL "$pid"
    done
    return 1
}

# The processes of this test, known by their environment.
left() {
    env -u TEST_MARK grep -lszxF "TEST_MARK=$TEST_MARK" /proc/[0-9]*/environ | cut -d / -f 3
}

nothing_left() {
    [ -z "$(left)" ]
}

# plugin [-c CAPABILITIES] [-p PROTOCOL] [-m MANIFEST-LINES] COMMAND < SCRIPT
# Installs the plugin fledge-COMMAND, granted CAPABILITIES (exec,store,metadata).
# PROTOCOL none makes a legacy plugin; MANIFEST-LINES go into [plugin].
plugin() {
    local capabilities='' protocol=fledge-v1 lines='' OPTIND=1 option
    while getopts c:p:m: option; do
        case $option in
        c) capabilities=$OPTARG ;;
        p) protocol=$OPTARG ;;
        m) lines=$OPTARG ;;
        *) return 64 ;;
        esac
    done
    shift $((OPTIND - 1))
    local directory="$cfg/plugins/fledge-$1"
    mkdir -p "$directory/bin"
    cat >"$directory/bin/fledge-$1"
    chmod +x "$directory/bin/fledge-$1"
    ln -sf "../fledge-$1/bin/fledge-$1" "$cfg/plugins/bin/fledge-$1"
    manifest "$1" "$protocol" "$lines" "$capabilities"
    register "fledge-$1" "$1" "$capabilities"
    grep -qxF "[plugin.fledge-$1]" "$XDG_CONFIG_HOME/perch/grants.toml" || grant "fledge-$1"
}

# manifest COMMAND PROTOCOL LINES WISHES
manifest() {
    {
        printf '[plugin]\nname = "fledge-%s"\nversion = "0.1.0"\n' "$1"
        [ "$2" = none ] || printf 'protocol = "%s"\n' "$2"
        printf '%s\n[[commands]]\nname = "%s"\nbinary = "bin/fledge-%s"\n' "$3" "$1" "$1"
        printf '[capabilities]\n'
        flags "$4"
    } >"$cfg/plugins/fledge-$1/plugin.toml"
}

# register NAME COMMAND CAPABILITIES
register() {
    printf '[[plugins]]\nname = "%s"\nsource = "test"\nversion = "0.1.0"\n' "$1"
    printf 'installed = "2026-01-01"\ncommands = ["%s"]\n[plugins.capabilities]\n' "$2"
    flags "$3"
} >>"$cfg/plugins.toml"

flags() {
    local name
    for name in exec store metadata; do
        [[ ",$1," == *",$name,"* ]] && echo "$name = true" || echo "$name = false"
    done
}

# py [OPTIONS] COMMAND < PYTHON: as plugin; the script has read init already and
# has the words of plug.py.
py() {
    { printf '#!%s\nfrom plug import *\n' "$python" && cat; } | plugin "$@"
}

# keep COMMAND…: its exit code in $status, stdout in $output, stderr in $errors.
keep() {
    status=0
    "$@" >"$WORK/out" 2>"$WORK/err" || status=$?
    output=$(tr -d '\0' <"$WORK/out")
    errors=$(cat "$WORK/err")
}

# perch_alone ARGUMENT…: perch with nobody there.
perch_alone() { keep "$perch" "$@" </dev/null; }

# call [OPTION…] COMMAND…: a plugin, with nobody there.
call() { perch_alone run "$@"; }

# start ARGUMENT…: perch in the background, as a shell with jobs would start it.
start() {
    env --default-signal=INT,QUIT "$perch" "$@" </dev/null >"$WORK/out" 2>"$WORK/err" 3>&- &
    host=$!
}

# serve_open FILE ARGUMENT…: perch in the background. It reads what is written to
# descriptor 7, and what it says is in FILE.
serve_open() {
    mkfifo "$WORK/in"
    env --default-signal=INT,QUIT "$perch" "${@:2}" <"$WORK/in" >"$1" 2>"$WORK/err" 3>&- &
    host=$!
    exec 7>"$WORK/in"
}

# The plugin has come to its point.
wait_ready() {
    wait_until test -s "$READY"
}

# Leaves the exit code of what `start` started in $status.
finish() {
    status=0
    wait "$host" || status=$?
    output=$(cat "$WORK/out")
    errors=$(cat "$WORK/err")
}

# outer PID: what a process of this test is called outside, that calls itself PID
# in its own PID namespace.
outer() {
    local pid
    for pid in $(left); do
        [ "$(awk '/^NSpid:/ { print $NF }' "/proc/$pid/status" 2>/dev/null)" != "$1" ] ||
            echo "$pid"
    done
}

# gone PID, as it calls itself. A zombie that nobody has buried yet is gone too.
gone() {
    local pid
    for pid in $(outer "$1"); do
        ! grep -qs '^State:.[^ZX]' "/proc/$pid/status" || return 1
    done
}

# expect TEXT: of $output; shows both when they differ.
expect() {
    [ "$output" = "$1" ] || {
        printf 'expected:\n%s\nbut was:\n%s\n' "$1" "$output"
        printf 'stderr:\n%s\n' "${errors:-}"
        return 1
    }
}

# expect_status NUMBER
expect_status() {
    [ "$status" -eq "$1" ] || {
        printf 'status %s, not %s\nstdout:\n%s\nstderr:\n%s\n' \
            "$status" "$1" "${output:0:2000}" "${errors:0:2000}"
        return 1
    }
}

# has TEXT PART: PART is in TEXT.
has() {
    [[ "$1" == *"$2"* ]] || {
        printf 'expected to find:\n%s\nin:\n%s\n' "$2" "${1:0:4000}"
        return 1
    }
}

lacks() {
    [[ "$1" != *"$2"* ]] || {
        printf 'expected not to find:\n%s\nin:\n%s\n' "$2" "${1:0:4000}"
        return 1
    }
}

# seen LINE…: what the plugin was sent after init, line by line.
seen() {
    diff <(printf '%s\n' "$@") <(tail -n +2 "$SEEN")
}
