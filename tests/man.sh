#!/bin/sh
# The manual says what there is, and nothing else: its options are those of the help
# (which tests/cli/help.bats holds against the command), its keys those that the
# readers know, its functions those of the headers; and its examples work.
set -eu

tests=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
top=${tests%/*}
PERCH_BUILD=${PERCH_RELEASE:-$top/build}
# shellcheck source=tests/lib.sh
. "$tests/lib.sh"
# shellcheck source=tests/cli/help.sh
. "$tests/cli/help.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pages=$PERCH_BUILD/man
mkdir "$work/bin"
ln -s "$perch" "$work/bin/perch"

# same FILE FILE: the same lines; says which only one of them has.
same() {
    sort -u "$1" >"$work/first"
    sort -u "$2" >"$work/second"
    diff "$work/first" "$work/second" |
        sed -n "s|^<|only in ${1##*/}:|p; s|^>|only in ${2##*/}:|p" >"$work/differences"
    cat "$work/differences"
    [ ! -s "$work/differences" ]
}

# are_among FILE FILE: every line of the first is in the second; says which is not.
are_among() {
    sort -u "$1" | grep -vxF -f "$2" >"$work/others" || true
    cat "$work/others"
    [ ! -s "$work/others" ]
}

# --- every page -------------------------------------------------------------

has_no_warning() {
    mandoc -T lint -W warning "$1" >"$work/lint" || true
    cat "$work/lint"
    [ ! -s "$work/lint" ]
}

has_version() {
    grep -qx ".Os perch $("$perch" --version | cut -d ' ' -f 2)" "$1" &&
        grep -qE '^\.Dd [A-Z][a-z]+ [0-9]+, [0-9]{4}$' "$1"
}

# References among our own pages lead somewhere.
references_exist() {
    sed -n 's/^\.Xr \([a-z]*perch[a-z.-]*\) \([1-9]\).*/\1.\2/p' "$1" >"$work/mentioned"
    (cd "$pages" && ls) >"$work/pages"
    are_among "$work/mentioned" "$work/pages"
}

# perch(1) leads to all others.
is_referred_to() {
    [ "$1" = perch.1 ] || grep -q "^\.Xr ${1%.*} ${1##*.}" "$pages/perch.1"
}

# --- commands and options ---------------------------------------------------

# defined_options: of a page or a part of it, those that begin an item of a list.
defined_options() {
    grep '^\.It Fl' | grep -oE 'Fl -?[a-zA-Z][a-z-]*' | sed 's/^Fl /-/' | sort -u
}

# part PAGE HEADING: what stands below it.
part() {
    awk -v heading=".Ss $2" '/^\.S[sh] / { inside = $0 == heading; next } inside' "$pages/$1"
}

# headings PAGE: those that are commands, "perch plugins allow, perch plugins revoke".
headings() {
    sed -n 's/^\.Ss \(perch .*\)/\1/p' "$pages/$1"
}

# commands_of HEADING: one a line, without the perch.
commands_of() {
    echo "$1" | sed 's/^perch //; s/, perch /\n/g'
}

exists() {
    grep -qxF "$1" "$work/command-lines"
}

# agrees_with_help COMMANDS: stdin, a part of a page, defines exactly their options.
agrees_with_help() {
    defined_options >"$work/manual"
    commands_of "$1" >"$work/commands"
    while read -r words; do
        # shellcheck disable=SC2086 # words of a command
        help_options $words
    done <"$work/commands" >"$work/help"
    are_among "$work/commands" "$work/command-lines" && same "$work/manual" "$work/help"
}

part_agrees() {
    part "$1" "$2" | agrees_with_help "$2"
}

page_agrees() {
    agrees_with_help "$2" <"$pages/$1"
}

common_options_agree() {
    part perch.1 'Options of every command' | defined_options >"$work/manual"
    help_options options >"$work/help"
    same "$work/manual" "$work/help"
}

# A page of its own, or a part of the page of its command, or of perch(1).
is_explained() {
    [ -f "$pages/perch-$1.1" ] && return
    page=perch-${1%% *}.1
    [ -f "$pages/$page" ] || page=perch.1
    headings "$page" | tr , '\n' | sed 's/^ *perch //' | grep -qxF "$1"
}

# Whatever looks like an option anywhere is one, but for those of other programs.
names_no_other_option() {
    mandoc -T ascii -O width=1000 "$pages/$1" | sed 's/.\x08//g' | options_in |
        grep -vxE -e '-[cn]' >"$work/mentioned" || true
    are_among "$work/mentioned" "$work/every-option"
}

# The commands that perch(1) lists.
listed_commands() {
    awk '/^\.S[sh] /{ if (seen) exit } /^The commands are:/ { seen = 1 } seen' "$pages/perch.1" |
        sed -n 's/^\.It Cm //p'
}

# --- keys -------------------------------------------------------------------

# keys_agree PAGE: its keys, tables among them, are those on stdin.
keys_agree() {
    sort -u >"$work/source"
    [ "$(wc -l <"$work/source")" -gt 15 ] || { echo "the source has no keys any more" && return 1; }
    sed -n 's/^\.It Ic //p; s/^\.Ss \[*\([a-z.]*\)\]\]*$/\1/p' "$pages/$1" |
        sed 's/.*\.//' >"$work/manual"
    same "$work/manual" "$work/source"
}

manifest_keys_agree() {
    {
        grep -ohE '(table|root), "[a-z_]+"|\{ "[a-z_]+", &' "$top/src/registry/manifest.c" |
            cut -d '"' -f 2
        sed -n 's/.*{ \(MEMBER\|HOOK\)(\([a-z_]*\)).*/\2/p' "$top/src/registry/capabilities.c" \
            "$top/src/registry/manifest.c"
    } | keys_agree perch-plugin.toml.5
}

binding_keys_agree() {
    grep -ohE '\{ "[a-z0-9_]+", [a-z_]+, (0|offsetof)' "$top"/src/tool/binding*.c |
        cut -d '"' -f 2 | keys_agree perch-binding.5
}

# The codes of a tool's result: the source's table, perch-tool(1) and docs/tool-commands.md.
tool_codes_agree() {
    sed -n 's/.*{ "\([a-z_]*\)", \([0-9]*\), "\(.*\)" },$/\2 \1: \3/p' \
        "$top/src/tool/tool_codes.c" >"$work/source"
    [ "$(wc -l <"$work/source")" -gt 10 ] || { echo "the source has no codes any more" && return 1; }
    sed -n '/^\.It [0-9]*$/{N;s/^\.It \([0-9]*\)\n\([a-z_]*: .*\)/\1 \2/p}' \
        "$pages/perch-tool.1" >"$work/manual"
    same "$work/manual" "$work/source" || return 1
    sed -n 's/^| \([0-9]*\) | \([a-z_]*\) | \(.*\) |$/\1 \2: \3/p' \
        "$top/docs/tool-commands.md" >"$work/page"
    same "$work/page" "$work/source"
}

profile_keys_agree() {
    grep -ohE '\{ "[a-z_]+", KIND_|entry->name, "[a-z_]+"' "$top"/src/agent/profile_*.c |
        cut -d '"' -f 2 | keys_agree perch-profile.5
}

# --- functions --------------------------------------------------------------

# header_prototypes FILE: "int perch_child_pid(const perch_child *child)", one a line.
header_prototypes() {
    # Without comments and directives; perch_x_init is the C++ way to write PERCH_X_INIT.
    gcc -w -fpreprocessed -dD -E -P "$1" | grep -v '^ *#' | tr '\n' ' ' |
        grep -oE '(PERCH_([A-Z]+_)?API|static inline) [^({;]*\([^()]*\)' |
        sed -E 's/^(PERCH_([A-Z]+_)?API|static inline) //; /_init\(void\)$/d' | tidy_prototypes
}

# page_prototypes: the same of a page or a part of it, where they begin items of a list.
page_prototypes() {
    awk '
        function words(line) { gsub(/"/, "", line); return line }
        /^\.It Xo$/ { item = 1 }
        /^\.Xc$/ { item = 0 }
        !item { next }
        /^\.Ft / { type = words(substr($0, 5)) }
        /^\.Fn / {
            rest = substr($0, 5)
            name = rest; sub(/ .*/, "", name); sub(/^[^ ]* /, "", rest)
            gsub(/" "/, ", ", rest); gsub(/" /, ", ", rest); gsub(/ "/, ", ", rest)
            print type " " name "(" words(rest) ")"
        }
        /^\.Fo / { name = substr($0, 5); arguments = "" }
        /^\.Fa / { arguments = arguments (arguments == "" ? "" : ", ") words(substr($0, 5)) }
        /^\.Fc$/ { print type " " name "(" arguments ")" }
    ' | tidy_prototypes
}

tidy_prototypes() {
    sed -E 's/[ \t]+/ /g; s/\* (perch_|const)/*\1/g; s/ *, */, /g; s/\( /(/; s/ \)/)/'
}

# functions_agree HEADER: stdin has its functions, with their types, and no others.
functions_agree() {
    page_prototypes >"$work/manual"
    header_prototypes "$1" >"$work/header"
    [ -s "$work/header" ] || { echo "the header has no functions any more" && return 1; }
    same "$work/manual" "$work/header"
}

library_part_agrees() {
    part libperch.3 "perch/$1" | functions_agree "$top/include/perch/$1"
}

page_has_functions() {
    functions_agree "$top/sdk/perch/$2" <"$pages/$1"
}

# A function that is mentioned in passing is one of the page's own.
mentions_exist() {
    page_prototypes <"$pages/$1" | sed 's/(.*//; s/.*[ *]//' | sort -u >"$work/own"
    sed -n 's/^\.F[no] \(perch_[a-z0-9_]*\)\( .*\)*$/\1/p' "$pages/$1" >"$work/mentioned"
    are_among "$work/mentioned" "$work/own"
}

# --- examples ---------------------------------------------------------------

# examples PAGE: the literal blocks of its examples.
examples() {
    awk '/^\.Sh / { inside = $2 == "EXAMPLES" } !inside { next }
        /^\.Bd -literal/ { block = 1; next } /^\.Ed/ { block = 0 } block' "$pages/$1" |
        sed 's/\\e/\\/g; s/\\&//g'
}

compiles() {
    examples "$1" >"$work/example.c"
    gcc -std=c17 -Wall -Wextra -Wpedantic -Werror -I "$top/include" -I "$top/sdk" \
        -o "$work/example" "$work/example.c" "$2"
}

library_example_runs() {
    [ "$(LD_LIBRARY_PATH=$PERCH_BUILD/src PERCH_GUARD=$PERCH_BUILD/perch-guard \
        "$work/example")" = hello ]
}

# What a shell is asked for, with the lines that continue it.
shell_lines() {
    examples "$1" | sed -n 's/^\$ //p; s/^  */&/p'
}

commands_work() {
    shell_lines "$1" >"$work/example.sh"
    rm -rf "$work/there"
    mkdir "$work/there"
    (cd "$work/there" && PATH="$work/bin:$PATH" sh -euxc '. ../example.sh' </dev/null)
}

# The examples of files are taken by those who read them.
manifest_is_valid() {
    mkdir -p "$work/plugin/bin"
    examples perch-plugin.toml.5 >"$work/plugin/plugin.toml"
    printf '#!/bin/sh\n' >"$work/plugin/bin/fledge-deploy"
    chmod +x "$work/plugin/bin/fledge-deploy"
    "$perch" plugins validate --strict "$work/plugin"
}

binding_is_valid() {
    examples perch-binding.5 >"$work/binding.toml"
    "$perch" tool show --binding "$work/binding.toml"
}

profile_is_valid() {
    examples perch-profile.5 >"$work/profile.yaml"
    mkdir -p "$work/notes"
    : >"$work/my_agent.py" # that its command runs
    "$perch" agent check "$work/profile.yaml"
}

# --- the protocols ----------------------------------------------------------

# block PAGE NUMBER: one of its examples alone.
block() {
    examples_apart "$1" | awk -v wanted="$2" '/^\f/ { number++; next } number == wanted' |
        sed 's/\\e/\\/g; s/\\&//g'
}

examples_apart() {
    awk '/^\.Sh / { inside = $2 == "EXAMPLES" } !inside { next }
        /^\.Bd -literal/ { print "\f"; block = 1; next } /^\.Ed/ { block = 0 } block' "$pages/$1"
}

# program PAGE NUMBER FILE: one of its examples as a program.
program() {
    mkdir -p "${3%/*}"
    block "$1" "$2" >"$3"
    [ -s "$3" ] && chmod +x "$3"
}

plugin_example_runs() {
    directory=$work/hello-$1
    program fledge-v1.7 "$1" "$directory/hello"
    printf 'plugin = { name = "hello-page", version = "1", protocol = "fledge-v1" }\n' >"$directory/plugin.toml"
    printf 'commands = [{ name = "hello-page", binary = "hello" }]\n' >>"$directory/plugin.toml"
    "$perch" plugins install "$directory" --yes --force >"$work/said" 2>&1 || { cat "$work/said" && return 1; }
    [ "$("$perch" run --answer 'Your name:=Ada' hello-page)" = 'Hello, Ada!' ]
}

tool_example_runs() {
    program rterm-tool.7 "$1" "$work/tool-$1/upper"
    block rterm-plugin.json.5 1 >"$work/tool-$1/rterm-plugin.json"
    "$perch" tool remove upper >/dev/null 2>&1 || true
    "$perch" tool add "$work/tool-$1" --yes >"$work/said" 2>&1 || { cat "$work/said" && return 1; }
    [ "$("$perch" tool call upper upper.case --input '{"text":"hi"}')" = '"HI"' ]
}

# agent_example_runs NUMBER DIALECT
agent_example_runs() {
    program agentproc.7 "$1" "$work/agent-$1/agent"
    printf 'command: "{{PROFILE_DIR}}/agent"\nprotocol: "%s"\n' "$2" >"$work/agent-$1/agent.yaml"
    "$perch" agent run -p "$work/agent-$1/agent.yaml" --prompt one >/dev/null &&
        [ "$("$perch" agent run -p "$work/agent-$1/agent.yaml" --prompt two | tail -n 1)" = 'You said: two (turn 2)' ]
}

# page_types PAGE: what stands behind "type": in its messages.
page_types() {
    grep -ohE '^ *\{"type":"[a-z_]+"' "$pages/$1" | cut -d '"' -f 4
}

# Every message that the host understands or sends is on the page, and no other.
plugin_messages_agree() {
    { sed -n 's/^\t{ { "\([a-z_]*\)", [0-9]* }, \(true\|false\), .*/\1/p' "$top/src/fledge/fledge_message.c" &&
        printf '%s\n' init response cancel; } >"$work/source"
    [ "$(wc -l <"$work/source")" -gt 10 ] || { echo "the source has no messages any more" && return 1; }
    page_types fledge-v1.7 >"$work/page"
    same "$work/page" "$work/source"
}

bundle_members_agree() {
    grep -ohE '(object|process|root), "[a-z_]+", (&|PERCH)|\{ "[a-z_]+", &bundle' "$top/src/tool/bundle.c" |
        cut -d '"' -f 2 | keys_agree rterm-plugin.json.5
}

# --- all of it --------------------------------------------------------------

command_lines >"$work/command-lines"
{ cat "$work/command-lines" && echo options; } | while read -r words; do
    # shellcheck disable=SC2086 # words of a command
    help_options $words
done | sort -u >"$work/every-option"

for page in "$top"/man/*.[1-9]; do
    name=${page##*/}
    check "$name is built" [ -f "$pages/$name" ]
    check "$name: mandoc has nothing to say" has_no_warning "$pages/$name"
    check "$name has the version and a date" has_version "$pages/$name"
    check "$name refers to pages that exist" references_exist "$pages/$name"
    check "perch(1) refers to $name" is_referred_to "$name"
done

listed_commands >"$work/listed"
grep -v ' ' "$work/command-lines" >"$work/commands"
check "perch(1) lists the commands, and no others" same "$work/commands" "$work/listed"
check "perch(1): options of every command" common_options_agree
leaf_lines >"$work/leaves"
while read -r words; do
    check "perch $words is in the manual" is_explained "$words"
done <"$work/leaves"
for page in "$pages"/perch*.1; do
    name=${page##*/}
    word=$(echo "$name" | sed -n 's/^perch-\(.*\)\.1$/\1/p')
    [ -z "$word" ] || check "$name is about a command" exists "$word"
    if grep -qxF "$word" "$work/leaves"; then
        check "$name: options" page_agrees "$name" "perch $word"
    fi
    headings "$name" >"$work/headings"
    while read -r heading; do
        check "$name: $heading: options" part_agrees "$name" "$heading"
    done <"$work/headings"
    check "$name names no option that does not exist" names_no_other_option "$name"
    check "$name: the examples work" commands_work "$name"
done

check "perch-plugin.toml(5): keys" manifest_keys_agree
check "perch-binding(5): keys" binding_keys_agree
check "perch-tool(1), docs/tool-commands.md: codes" tool_codes_agree
check "perch-profile(5): keys" profile_keys_agree
check "rterm-plugin.json(5): members" bundle_members_agree
check "fledge-v1(7): messages" plugin_messages_agree
check "fledge-v1(7): the example in sh" plugin_example_runs 1
check "fledge-v1(7): the example in Python" plugin_example_runs 2
check "rterm-tool(7), rterm-plugin.json(5): the example in sh" tool_example_runs 1
check "rterm-tool(7), rterm-plugin.json(5): the example in Python" tool_example_runs 2
check "agentproc(7): the example in sh" agent_example_runs 1 0.1
check "agentproc(7): the example in Python" agent_example_runs 2 0.4
check "perch-plugin.toml(5): the example" manifest_is_valid
check "perch-binding(5): the example" binding_is_valid
check "perch-profile(5): the example" profile_is_valid

{ (cd "$top/include" && ls perch/*.h) && sed -n 's/^\.Ss \(perch\/.*\)/\1/p' "$pages/libperch.3"; } |
    sort -u | sed 's|^perch/||; /^perch.h$/d' >"$work/headers"
while read -r name; do
    check "libperch(3): $name: functions" library_part_agrees "$name"
done <"$work/headers"
for kit in plugin toolkit agentkit; do
    check "perch-$kit(3): functions" page_has_functions "perch-$kit.3" "$kit.h"
    check "perch-$kit(3): the example" compiles "perch-$kit.3" "$PERCH_BUILD/sdk/libperch-sdk.a"
done
for page in "$pages"/*.3; do
    check "${page##*/} mentions functions that exist" mentions_exist "${page##*/}"
done
check "libperch(3): the example" compiles libperch.3 "$PERCH_BUILD/src/libperch.so"
check "libperch(3): the example runs" library_example_runs
finish
