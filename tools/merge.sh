#!/bin/sh
# merge.sh ARCHIVE OUT LIBRARIES COMPILER…: makes one object of all that are in an
# archive and of what it needs from static LIBRARIES ("-lyaml", may be empty), and puts
# it into a new archive. Of its names only perch_… can be seen, and of these not the
# hidden ones: nothing inside can collide with a name of whoever links it.
set -eu

archive=$1
out=$2
libraries=$3
shift 3
# In the build directory, under a name that the next run takes again: whoever is
# interrupted leaves nothing elsewhere.
work=$out.work
rm -rf "$work"
mkdir "$work"
trap 'rm -rf "$work"' EXIT
# The compiler's own, which may be one for another processor.
objcopy=$("$@" -print-prog-name=objcopy)
ar=$("$@" -print-prog-name=ar)
# shellcheck disable=SC2086 # several options
"$@" -r -nostdlib -o "$work/merged.o" \
    -Wl,--whole-archive "$archive" -Wl,--no-whole-archive -Wl,-Bstatic $libraries
"$objcopy" --localize-hidden --wildcard --keep-global-symbol='perch_*' "$work/merged.o"
rm -f "$out"
"$ar" rcsD "$out" "$work/merged.o"
