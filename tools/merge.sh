#!/bin/sh
# merge.sh ARCHIVE OUT COMPILER…: makes one object of all that are in an archive,
# takes the hidden names out of its symbol table, and puts it into a new archive:
# what is not in a public header cannot collide with a name of whoever links it.
set -eu

archive=$1
out=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$@" -r -nostdlib -o "$work/merged.o" -Wl,--whole-archive "$archive" -Wl,--no-whole-archive
objcopy --localize-hidden "$work/merged.o"
rm -f "$out"
ar rcsD "$out" "$work/merged.o"
