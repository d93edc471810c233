# shellcheck shell=bash
# What the tests of this directory share, on top of those of tests/fledge.

load ../fledge/plugins

author_open() {
    fledge_open
    export TMPDIR="$BATS_TEST_TMPDIR/tmp"
    mkdir "$TMPDIR" "$BATS_TEST_TMPDIR/authors"
    # Plugins under test may not write where these are.
    unset SEEN READY PYTHONPATH
    cd "$BATS_TEST_TMPDIR/authors" || return 1
}

# Nothing is left: no process, no file.
author_close() {
    fledge_close && [ -z "$(find "$TMPDIR" -name 'perch-case-*')" ]
}

# plugins WORD…: perch plugins with nobody there.
plugins() { perch_alone plugins "$@"; }

# The same for programs: python lines about `d`, what was answered.
answer_has() {
    python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
assert d["schema_version"] == 1
exec(sys.argv[2])' "$WORK/out" "$1" || {
        head -c 3000 "$WORK/out"
        return 1
    }
}

# subject [CAPABILITY…] < PYTHON: a plugin in ./subject; the script has the words
# of plug.py.
subject() {
    mkdir -p subject/bin subject/lib
    cp "$here/plug.py" subject/lib
    {
        printf '#!%s\nimport os, sys\n' "$python"
        echo 'sys.path.insert(0, os.path.dirname(os.path.realpath(sys.argv[0])) + "/../lib")'
        echo 'from plug import *'
        cat
    } >subject/bin/subject
    chmod +x subject/bin/subject
    {
        printf '[plugin]\nname = "subject"\nversion = "1.0.0"\ndescription = "d"\n'
        printf 'protocol = "fledge-v1"\n[[commands]]\nname = "subject"\n'
        printf 'binary = "bin/subject"\ndescription = "d"\n[capabilities]\n'
        [ $# -eq 0 ] || printf '%s = true\n' "$@"
    } >subject/plugin.toml
}

# cases < TOML: of the subject.
cases() {
    cat >subject/perch-test.toml
}
