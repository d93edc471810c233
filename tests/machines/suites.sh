#!/bin/sh
# Suites as somebody, on the machine that this is: first what its sandbox has, the layers and what
# nothing enforces, where perch itself can be run. Each line stands behind the name of who it is.
#
#     tests/machines/suites.sh WHO BUILD SUITE…   `tester` is a normal user, whom root can be
set -u

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
who=$1 build=$2
shift 2

# The logs of the build are in the hands of who runs it.
as() {
    if [ "$who" != tester ] || [ "$(id -u)" -ne 0 ]; then
        "$@"
    else
        mkdir -p "$build/test-logs"
        chown -R 1000:1000 "$build/test-logs"
        setpriv --reuid 1000 --regid 1000 --clear-groups \
            env HOME="$(getent passwd 1000 | cut -d : -f 6)" "$@"
    fi
}

layers() {
    as "$build/perch" sandbox check --json 2>/dev/null | jq -r '
        def lacks: [.properties[] | select(.asked and .layer == null) | .name];
        "layers " + (.policies[0].layers | join(" ")),
        (.policies[] | select(lacks != []) | "nothing enforces for \(.policy): \(lacks | join(" "))"),
        (.policies[0].no_namespaces // empty | "no namespaces: \(.)")'
}

{
    layers
    PERCH_BUILD=$build as "$here/../run" "$@"
} 2>&1 | sed -u "s/^/$who: /"
