#!/bin/sh
# Every shell script is clean under shellcheck, the bats files too, and these check one thing
# a line: where `a && b` stands, the failure of a is none for bats.
set -eu

tests=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
# shellcheck source=tests/lib.sh
. "$tests/lib.sh"

each_check_counts() {
    checks='fails_with|denied|says|has|lacks|expect'
    ! grep -rnE --include='*.bats' --include='*.bash' \
        -e '^ +\[ .*\] && ' -e "^ +($checks) .* && ($checks|\[) " tests | grep -vF ' || '
}

cd "${tests%/*}"
check "bats files: no check in front of &&" each_check_counts
for script in $(scripts .); do
    check "${script#./}" shellcheck -x "$script"
done
finish
