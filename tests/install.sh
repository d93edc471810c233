#!/bin/sh
# Installs into an empty root and uses what is there as a stranger would: the
# headers, the shared and the static library, pkg-config, from C and from C++.
set -eu

tests=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
top=${tests%/*}
build=${PERCH_RELEASE:-$top/build}
# shellcheck source=tests/lib.sh
. "$tests/lib.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
strict='-Wall -Wextra -Wpedantic -Werror'

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
    (cd "$top" && find include/perch sdk/perch -name '*.h' | sed 's|.*/||' | sort) \
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

# Those that weaken a sandbox or kill an installation are for builds that are tested.
knows_no_switches() { # but for the pages that speak of them
    ! grep -r -a -l --exclude='*.md' -e PERCH_TEST_KILL_AT -e PERCH_LANDLOCK_ABI_MAX -e PERCH_SANDBOX_NO_ROOM "$root"
}

# The page is in the program that shows it, and in no library.
page_is_where_it_is_shown() {
    grep -q -a stream_worker.js "$(find "$root" -name perch-serve -print -quit)" &&
        ! grep -l -a stream_worker.js "$(directory_of libperch.so)"/libperch.*
}

version_is_right() {
    [ "$(pkg_config --modversion)" = "$(project_version "$top")" ]
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

# A C++ program that starts what there is to start: every structure, every …_INIT.
cat >"$work/everything.cc" <<'END'
#include <perch/perch.h>
#include <cstdio>
#include <cstring>

static void on_line(perch_child *, void *data, perch_stream, const perch_line *line)
{
	*static_cast<bool *>(data) = std::strcmp(line->data, "hello") == 0;
}

int main()
{
	perch_err err = {};
	perch_host_options options = PERCH_HOST_OPTIONS_INIT;
	options.guard = PERCH_GUARD_OFF;
	perch_host *host;
	if (perch_host_new(&options, &host, &err) < 0)
		return std::puts(err.text), 1;

	bool is_right = false;
	const char *const argv[] = { "echo", "hello", nullptr };
	perch_child_events events = {};
	events.size = sizeof(events);
	events.line = on_line;
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = argv;
	spec.stdout_mode = PERCH_OUTPUT_LINES;
	spec.events = &events;
	spec.data = &is_right;
	perch_child *child;
	if (perch_child_start(host, &spec, &child, &err) < 0)
		return std::puts(err.text), 1;
	while (perch_host_children(host))
		perch_host_wait(host, -1);
	perch_child_free(child);

	perch_tool_spec tool = PERCH_TOOL_SPEC_INIT;
	perch_tool_request request = PERCH_TOOL_REQUEST_INIT;
	perch_agent_turn_options turn = PERCH_AGENT_TURN_OPTIONS_INIT;
	perch_fledge_options run = PERCH_FLEDGE_OPTIONS_INIT;
	perch_json_options json = PERCH_JSON_OPTIONS_INIT;
	perch_tool_binding *binding;
	perch_agent_turn *no_turn;
	perch_fledge_run *no_run;
	perch_json *document;
	is_right = is_right && request.size == sizeof(request) && perch_tool_binding_new(&tool, &binding, &err) < 0 &&
		perch_agent_turn_start(host, &turn, &no_turn, &err) < 0 &&
		perch_fledge_run_start(host, &run, &no_run, &err) < 0 &&
		perch_json_new(&json, &document) == 0;
	perch_json_free(document);
	perch_host_free(host);
	return is_right ? 0 : 1;
}
END

# Names that are also used inside of both libraries, and both libraries.
cat >"$work/names.c" <<'END'
#include <perch/perch.h>
#include <perch/plugin.h>
#include <string.h>

int buf_append(void);
int arena_dup(void);
int yaml_parser_parse(void);
int pcre2_match_8(void);

int buf_append(void) { return 1; }
int arena_dup(void) { return 1; }
int yaml_parser_parse(void) { return 1; }
int pcre2_match_8(void) { return 1; }

int main(void)
{
	perch_json *json;
	if (perch_json_new(NULL, &json) < 0)
		return 1;
	perch_json_free(json);
	return strcmp(perch_plugin_status_name(PERCH_PLUGIN_DENIED), "denied");
}
END

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

# What a static library shows to whoever links it.
static_exports() {
    nm -g --defined-only "$1" | awk 'NF == 3 { print $3 }' | LC_ALL=C sort
}

static_exports_are_the_same() {
    static_exports "$libraries/libperch.a" >"$work/symbols"
    sed 's/@.*//' "$tests/symbols.txt" | diff -u - "$work/symbols"
}

# clone_builds SOURCE PACKAGE LIBRARIES: without installing, as docs/sdk.md says.
clone_builds() {
    flags=$(PKG_CONFIG_PATH=$build/meson-uninstalled pkg-config --cflags --libs "$2") &&
        eval "gcc -std=c17 $strict -o '$work/program' '$1' $flags" &&
        LD_LIBRARY_PATH=$3 "$work/program" --bundle
}

# Also where an interrupted one has left something.
merges_in_place() {
    mkdir -p "$work/merge/lib.a.work/old"
    TMPDIR=$work/nowhere "$top/tools/merge.sh" "$build/sdk/libperch-sdk-parts.a" \
        "$work/merge/lib.a" '' gcc && [ "$(ls "$work/merge")" = lib.a ]
}

names_do_not_collide() {
    # shellcheck disable=SC2086 # several options
    gcc -std=c17 $strict -O2 -I "$includes" -o "$work/names" "$work/names.c" \
        "$libraries/libperch.a" "$libraries/libperch-sdk.a" && "$work/names"
}

# All that the library keeps outside of its objects: whose turn it is to give birth
# into a room (a mutex), the number in the name of the next cgroup (an atomic), and what
# makes a fork of the program wait for a checkpoint of the sessions.
globals_are_listed() {
    objdump -t "$build/src/libperch-parts.a" |
        awk '$3 == "O" && $4 ~ /^(\.t?data|\.t?bss|\*COM\*)(\.|$)/ && $4 !~ /^\.data\.rel\.ro/ {
            sub(/\.[0-9]+$/, "", $6); print $6 }' | sort >"$work/globals"
    printf 'checkpoint_lock\ncheckpoint_once\nnumber\nturn\n' | diff -u - "$work/globals"
}

companion_works() {
    LD_LIBRARY_PATH=$libraries "$prefix/bin/perch" conformance --plugin "$top/examples/agents/echo.yaml" --case AP-4
}

exports_are_listed() {
    exports "$libraries/libperch.so" >"$work/symbols"
    diff -u "$tests/symbols.txt" "$work/symbols" && return
    echo "an intended change? ./dev symbols writes tests/symbols.txt"
    return 1
}

check "meson install" install_tree "$build" "$root"
check "libperch.so.0" has libperch.so.0
check "libperch.so" has libperch.so
check "libperch.a" has libperch.a
check "perch.pc" has pkgconfig/perch.pc
check "perch/base.h" has include/perch/base.h
check "perch(1)" has share/man/man1/perch.1
check "the documentation" has share/doc/perch/README.md
check "its pictures" has share/doc/perch/pictures/chat.svg
check "completions" has share/bash-completion/completions/perch.bash

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
    check "everything from C++, $library" runs 'g++ -std=c++17' everything.cc "$library"
done
check "every exported name begins with perch_" exports_are_ours
check "the exported names are those in tests/symbols.txt" exports_are_listed
check "libperch.a shows the same names" static_exports_are_the_same
check "no name inside collides with a program's own" names_do_not_collide
check "no global state but what is listed" globals_are_listed

check "nothing in it obeys the switches of tests" knows_no_switches
check "the page is in perch-serve, not in the library" page_is_where_it_is_shown

check "the perch command" has bin/perch
check "perch --version" env LD_LIBRARY_PATH="$libraries" "$prefix/bin/perch" --version
check "the cases of the conformance kit" has share/perch/conformance/fledge/04-lines.toml
check "the examples" has share/perch/examples/tour/greeter/plugin.toml
check "perch-guard" has libexec/perch/perch-guard
check "a companion, found from there, with its cases" companion_works
check "the SDK from a clone" clone_builds "$top/examples/sdk/words.c" perch-sdk ''
check "libperch from a clone" clone_builds "$work/program.c" perch "$build/src"
check "libraries are merged in their own directory, and nothing stays there" merges_in_place
finish
