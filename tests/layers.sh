#!/bin/sh
# Includes point downwards only. A file may include its own layer and those
# above its line in the table here; layers that share a line do not know each
# other.
set -eu

tests=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
# shellcheck source=tests/lib.sh
. "$tests/lib.sh"

# Below src/, the lowest first.
order='
base
data
wire
guard
proc
sandbox
registry
trace
upstream
frontend.h
validate.h
validate.c
agent tool fledge
plugins replay
service
queue stdio
mcp
acp serve page worker remote
conformance
term events
cli
'

# The other side of the pipe is built from these alone.
sdk='base data'

# Those who offer what perch hosts to others translate, and host nothing: they see the service by its
# public headers.
frontends='mcp acp serve page queue worker'
frontends_see='base data wire queue stdio mcp'

# Commands that start what perch hosts: they do it by the public headers, as every other program
# would. Of the folders that host they see what is plain data.
hosting='^src/cli/(agent/(agent_(ask|chat|commands|run|serve|tell|words)|chat)|tool/tool_(call|commands|serve)|sandbox/sandbox_r|run/|mcp/|serve/)[a-z_]*[.][ch]$'
hosts='agent fledge plugins replay sandbox service tool trace'
plain='tool/binding.h tool/result.h tool/tool_request.h fledge/call_request.h agent/dialect.h agent/profile.h'

# What a public header may ask of the C library.
public='
limits.h poll.h signal.h stdarg.h stdbool.h stddef.h stdint.h stdio.h
string.h sys/types.h time.h
'

# upward_includes TREE: one line for each include that points where it may not.
upward_includes() (
    cd "$1"
    find src include sdk -name '*.[ch]' 2>/dev/null | sort |
        awk -v order="$order" -v sdk="$sdk" -v public="$public" \
            -v frontends="$frontends" -v frontends_see="$frontends_see" \
            -v hosting="$hosting" -v hosts="$hosts" -v plain="$plain" '
        BEGIN {
            lines = split(order, line, "\n")
            for (i = 1; i <= lines; i++) {
                count = split(line[i], name, " ")
                for (j = 1; j <= count; j++)
                    rank[name[j]] = i
            }
            set_of(sdk, in_sdk)
            set_of(public, in_public)
            set_of(frontends, in_frontends)
            set_of(hosts, in_hosts)
            set_of(plain, in_plain)
            set_of(frontends_see, in_frontends_see)
        }
        function set_of(text, set, count, name, i) {
            count = split(text, name, " ")
            for (i = 1; i <= count; i++)
                set[name[i]] = 1
        }
        function first_part(path) { sub("/.*", "", path); return path }
        function wrong(file, number, text) { print file ":" number ": " text }

        # The layer a file belongs to: src/LAYER/…, src/frontend.h, sdk, include.
        function layer_of(file) {
            if (file !~ /^src\//)
                return first_part(file)
            sub("^src/", "", file)
            return first_part(file)
        }
        function is_beside(file, path) {
            sub("[^/]*$", "", file)
            return (file path) in exists
        }
        function may_include(layer, target) {
            if (layer == "sdk")
                return target in in_sdk
            if (layer in in_frontends)
                return target == layer || target in in_frontends_see
            return target == layer || rank[target] < rank[layer]
        }
        function judge(file, number, path, angled, layer, target) {
            layer = layer_of(file)
            target = first_part(path)
            if (path ~ /(^|\/)\.\.(\/|$)/ || target == "src" || target == "include")
                return wrong(file, number, "write the path from src/ or include/: " path)
            if (target == "perch")
                return
            if (layer == "include" || file ~ /^sdk\/perch\//) {
                if (!(path in in_public))
                    wrong(file, number, "a public header must not include " path)
                return
            }
            if (path == "version.h" || (!angled && is_beside(file, path)))
                return
            if (!(target in rank)) {
                if (!angled)
                    wrong(file, number, "belongs to no layer: " path)
                return
            }
            if (!may_include(layer, target))
                wrong(file, number, layer " must not include " path)
            if (file ~ hosting && target in in_hosts && !(path in in_plain))
                wrong(file, number, "a command hosts by include/perch, not by " path)
            if (file ~ /^src\/cli\/ui\// && path ~ /^cli\/[^\/]*\// && path !~ /^cli\/ui\//)
                wrong(file, number, "what commands share must not include a command: " path)
        }
        { files[++total] = $0; exists[$0] = 1 }
        END {
            for (i = 1; i <= total; i++) {
                file = files[i]
                layer = layer_of(file)
                if (layer != "sdk" && layer != "include" && !(layer in rank))
                    wrong(file, 1, "has no place in the order of layers")
                for (number = 1; (getline text <file) > 0; number++) {
                    if (text !~ /^[ \t]*#[ \t]*include/)
                        continue
                    sub(/^[ \t]*#[ \t]*include(_next)?[ \t]*/, "", text)
                    if (text !~ /^[<"]/)
                        wrong(file, number, "only a plain path can be checked: " text)
                    else
                        judge(file, number, path_in(text), text ~ /^</)
                }
                close(file)
            }
        }
        function path_in(text) { sub(/^./, "", text); sub(/[>"].*$/, "", text); return text }
    '
)

has_no_upward_include() {
    found=$(upward_includes "$1") || return 1
    printf '%s\n' "$found"
    [ -z "$found" ]
}

# plant FILE LINE: a tree of one lawful file and this one.
plant() {
    rm -rf "$tree"
    mkdir -p "$tree/src/base" "$tree/src/data" "$tree/$(dirname "$1")"
    : >"$tree/src/base/buf.h"
    echo '#include "base/buf.h"' >"$tree/src/data/json.h"
    printf '/* planted */\n%s\n' "$2" >"$tree/$1"
}

# The include in line 2 of the planted file is the one thing found.
is_found() {
    plant "$1" "$2"
    found=$(upward_includes "$tree")
    printf '%s\n' "$found"
    case $found in
    *"
"*) false ;;
    "$1:2: "*) true ;;
    *) false ;;
    esac
}

is_allowed() {
    plant "$1" "$2"
    has_no_upward_include "$tree"
}

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

check "no include in the tree points upwards" has_no_upward_include "${tests%/*}"

check "found: upwards" is_found src/base/a.c '#include "data/json.h"'
check "found: upwards past several layers" is_found src/data/a.c '#include "cli/main.h"'
check "found: upwards in angle brackets" is_found src/base/a.c '#include <proc/child.h>'
check "found: upwards with blanks" is_found src/base/a.c '  #  include	"data/json.h"'
check "found: up and down again" is_found src/base/a.c '#include "../data/json.h"'
check "found: from the top of the tree" is_found src/base/a.c '#include "src/data/json.h"'
check "found: a sibling" is_found src/tool/a.c '#include "agent/host.h"'
check "found: the frontend from below" is_found src/trace/a.c '#include "frontend.h"'
check "found: a header of no layer" is_found src/cli/a.c '#include "elsewhere/a.h"'
check "found: through a macro" is_found src/cli/a.c '#include HEADER'
check "found: the sdk reaching for a host" is_found sdk/a.c '#include "proc/child.h"'
check "found: a frontend that hosts" is_found src/mcp/a.c '#include "proc/host.h"'
check "found: a frontend inside the service" is_found src/serve/a.c '#include "service/service_parts.h"'
check "found: a frontend and its neighbour" is_found src/page/a.c '#include "serve/serve.h"'
check "found: the service and a frontend" is_found src/service/a.c '#include "queue/queue.h"'
check "found: a command that hosts by itself" is_found src/cli/agent/agent_run.c '#include "agent/turn.h"'
check "found: a command that runs a plugin by itself" is_found src/cli/run/run_session.c '#include "fledge/fledge_run.h"'
check "found: a command that prepares a plugin by itself" is_found src/cli/run/run_session.c '#include "plugins/plugin_target.h"'
check "found: a command that calls by itself" is_found src/cli/tool/tool_serve_calls.c '#include "tool/call.h"'
check "found: a command inside the service" is_found src/cli/agent/chat.h '#include "service/service_parts.h"'
check "found: a command that confines by itself" is_found src/cli/sandbox/sandbox_run.c '#include "sandbox/sandbox.h"'
check "found: a part of all commands that knows one" is_found src/cli/ui/a.c '#include "cli/tool/tool_commands.h"'
check "found: a public header and a layer" is_found include/perch/a.h '#include "base/buf.h"'
check "found: a public header and a library" is_found include/perch/a.h '#include <yaml.h>'

check "allowed: downwards" is_allowed src/proc/a.c '#include "base/buf.h"'
check "allowed: its own layer" is_allowed src/data/a.c '#include "data/json.h"'
check "allowed: beside it" is_allowed src/data/a.c '#include "json.h"'
check "allowed: the frontend from above" is_allowed src/tool/a.c '#include "frontend.h"'
check "allowed: a public header" is_allowed src/base/a.c '#include "perch/base.h"'
check "allowed: the system" is_allowed src/base/a.c '#include <sys/epoll.h>'
check "allowed: the sdk and the formats" is_allowed sdk/a.c '#include "data/json.h"'
check "allowed: a frontend and the service" is_allowed src/worker/a.c '#include "perch/service.h"'
check "allowed: a frontend and protocols" is_allowed src/acp/a.c '#include "wire/jsonrpc.h"'
check "allowed: a frontend and formats" is_allowed src/queue/a.c '#include "data/json.h"'
check "allowed: a frontend of its own" is_allowed src/serve/a.c '#include "serve/token.h"'
check "allowed: a command and a binding" is_allowed src/cli/tool/tool_call.c '#include "tool/binding.h"'
check "found: what commands share hosts" is_found src/cli/agent/agent_commands.h '#include "agent/agent_launch.h"'
check "allowed: a command that looks at profiles" is_allowed src/cli/agent/agent_check.c '#include "agent/agent_launch.h"'
check "allowed: a part of all commands and the others" is_allowed src/cli/ui/a.c '#include "cli/ui/page.h"'
check "allowed: public headers and libc" is_allowed include/perch/a.h '#include <stdint.h>'

unknown_layer_is_found() {
    plant src/elsewhere/a.c '/* nothing */'
    upward_includes "$tree" | grep -q '^src/elsewhere/a.c:1: has no place'
}
check "found: a directory of no layer" unknown_layer_is_found

finish
