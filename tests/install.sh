#!/bin/sh
# Installs into an empty root and uses what is there as a stranger would: the
# headers, the shared and the static library, pkg-config, from C and from C++.
set -eu

tests=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
top=${tests%/*}
build=${PERCH_BUILD:-$top/build}
# shellcheck source=tests/lib.sh
. "$tests/lib.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
strict='-Wall -Wextra -Wpedantic -Werror'

installs() {
    meson install -C "$build" --no-rebuild --quiet --destdir "$root"
}

# has PATTERN: something is installed under this name (a pattern for find).
has() {
    [ -n "$(find "$root" -path "*/$1")" ]
}

# The directory that holds the one installed file of this name.
directory_of() {
    dirname "$(find "$root" -name "$1" -print -quit)"
}

# Every header of the tree is installed, and nothing else is.
headers_are_complete() {
    (cd "$top" && find include/perch sdk/perch -name '*.h' 2>/dev/null | sed 's|.*/||' | sort) \
        >"$work/in-tree"
    find "$includes/perch" -name '*.h' | sed 's|.*/||' | sort >"$work/installed"
    diff "$work/in-tree" "$work/installed"
}

# compiles_alone HEADER LANGUAGE STANDARD
compiles_alone() {
    echo "#include <perch/$1>" >"$work/alone.source"
    # shellcheck disable=SC2086 # several options
    gcc -x "$2" -std="$3" $strict -I "$includes" -fsyntax-only "$work/alone.source"
}

# perch.pc as it will be found once the root is /. Only `prefix` is overridden,
# so that what perch.pc requires is still found where the system has it.
pkg_config() {
    PKG_CONFIG_PATH=$(directory_of perch.pc) \
        pkg-config --define-variable=prefix="$prefix" "$@" perch
}

version_is_right() {
    [ "$(pkg_config --modversion)" = "$(sed -n "s/^  version: '\(.*\)',$/\1/p" "$top/meson.build")" ]
}

cat >"$work/program.c" <<'END'
#include <perch/base.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
	perch_err err = { 0 };
	err.code = PERCH_ESYNTAX;
	printf("%s: %s\n", perch_version(), perch_strerror(err.code));
	return strcmp(perch_strerror(err.code), "syntax error") == 0 ? 0 : 1;
}
END
sed 's/= { 0 }/= {}/' "$work/program.c" >"$work/program.cc"

# runs COMPILER SOURCE LIBRARY: compiled as perch.pc says, and run.
runs() {
    flags=$(pkg_config --cflags)
    case $3 in
    shared) flags="$flags $(pkg_config --libs)" ;;
    static) flags="$flags $(pkg_config --static --libs | sed 's/-lperch\>/-l:libperch.a/')" ;;
    esac
    # eval, because pkg-config quotes for the shell
    eval "$1 $strict -O2 -o '$work/program' '$work/$2' $flags" &&
        LD_LIBRARY_PATH=$libraries "$work/program" &&
        is_linked "$3"
}

is_linked() {
    way=static
    if readelf -d "$work/program" | grep -q 'NEEDED.*\[libperch\.so\.0\]'; then
        way=shared
    fi
    echo "linked the $way way"
    [ "$way" = "$1" ]
}

exports_are_ours() {
    ! exports "$libraries/libperch.so" | grep -v '^perch_'
}

exports_are_listed() {
    exports "$libraries/libperch.so" >"$work/symbols"
    diff -u "$tests/symbols.txt" "$work/symbols" && return
    echo "an intended change? ./dev symbols writes tests/symbols.txt"
    return 1
}

check "meson install" installs
check "libperch.so.0" has libperch.so.0
check "libperch.so" has libperch.so
check "libperch.a" has libperch.a
check "perch.pc" has pkgconfig/perch.pc
check "perch/base.h" has include/perch/base.h

libraries=$(directory_of libperch.so)
includes=$(dirname "$(directory_of base.h)")
prefix=${includes%/include}

check "the headers of the tree, and no others" headers_are_complete
for header in "$includes"/perch/*.h; do
    name=$(basename "$header")
    check "$name alone, as C17" compiles_alone "$name" c c17
    check "$name alone, as C++17" compiles_alone "$name" c++ c++17
done
check "perch.pc has the project's version" version_is_right
for library in shared static; do
    check "a C program, $library" runs 'gcc -std=c17' program.c "$library"
    check "a C++ program, $library" runs 'g++ -std=c++17' program.cc "$library"
done
check "every exported name begins with perch_" exports_are_ours
check "the exported names are those in tests/symbols.txt" exports_are_listed

if programs "$build" '' | grep -qx perch; then
    check "the perch command" has bin/perch
    check "perch --version" env LD_LIBRARY_PATH="$libraries" "$prefix/bin/perch" --version
    check "the cases of the conformance kit" has share/perch/conformance/fledge/04-lines.toml
fi
if programs "$build" '' | grep -qx perch-guard; then
    check "perch-guard" has libexec/perch/perch-guard
fi
finish
