#!/bin/sh
# Every shell script is clean under shellcheck, the bats files too.
set -eu

tests=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
# shellcheck source=tests/lib.sh
. "$tests/lib.sh"

cd "${tests%/*}"
for script in $(scripts .); do
    check "${script#./}" shellcheck -x "$script"
done
finish
