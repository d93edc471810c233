# shellcheck shell=bash
# For bats: sets of programs of others.

# shellcheck source=tests/foreign/foreign.sh
. "$PERCH_SOURCE/tests/foreign/foreign.sh"

# need_foreign SET…: the test is skipped where one is not there.
need_foreign() {
    local set
    for set; do
        [ "$set" != node ] || ! foreign_node_is_new || continue
        [ -d "$(foreign_path "$set")" ] || skip "$set is not installed: tests/foreign/install $set"
    done
}

# foreign_python SET WORD…: Python with the modules of a set. What it has compiled stays beside them:
# that is more than half of the time of such a client.
foreign_python() {
    local site
    site=$(foreign_path "$1")
    shift
    # shellcheck disable=SC2154 # set by who loads this
    PYTHONDONTWRITEBYTECODE='' PYTHONPATH="$site" timeout 240 "$python" "$@"
}
