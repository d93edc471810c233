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
