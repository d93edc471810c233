#!/bin/sh
# Every code block of README.md and of docs/ is run, and what these pages name exists:
# links, files, commands, options, tests, messages. DOCS_PAGES="docs/fledge.md …" takes
# some pages alone. How a block is to be written: docs/contributing.md.
set -eu

tests=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
top=${tests%/*}
build=${PERCH_RELEASE:-$top/build}
# shellcheck source=tests/lib.sh
. "$tests/lib.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# C blocks are compiled against what would be installed, found by pkg-config.
install_tree "$build" "$work/root"
base=$(find "$work/root" -path '*/include/perch/base.h' -print -quit)
prefix=${base%/include/perch/base.h}
mkdir "$prefix/pkgconfig"
find "$prefix" -name 'perch*.pc' | while read -r file; do
    sed "s|^prefix=.*|prefix=$prefix|" "$file" >"$prefix/pkgconfig/${file##*/}"
done
DOCS_LIBRARIES=$(dirname "$(find "$prefix" -name libperch.so -print -quit)")
export DOCS_LIBRARIES

python3 -B "$tests/docs/suite.py" "$top" "$build/perch" "$prefix" "$work"
