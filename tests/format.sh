#!/bin/sh
# Every C file is as .clang-format wants it. `./dev fmt` makes it so.
set -eu

tests=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
# shellcheck source=tests/lib.sh
. "$tests/lib.sh"

is_formatted() (
    cd "${tests%/*}"
    c_files . | xargs clang-format --dry-run -Werror
)

check "every C file is formatted (./dev fmt)" is_formatted
finish
