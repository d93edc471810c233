#!/usr/bin/env bats
# Servers that misbehave, under perch mcp list and call: each mode of server.py has a verdict, takes
# bounded memory, and leaves nobody.

# shellcheck disable=SC2154 # what tool_open sets
load ../tool/tools
load mcp

setup() {
    tool_open
    ulimit -S -v 400000 # what a server says must not fill perch's memory
}

teardown() { tool_close; }

@test "those that say what cannot be understood" {
    judge <<'END'
refuses list 125 it refuses initialize: not today
version list 125 it speaks version 1999-01-01, which perch does not know
version-number list 125 it does not say which version it speaks
version-none list 125 it does not say which version it speaks
ids-foreign list 125 it answers what it was not asked
ids-text list 125 it answers what it was not asked
ids-none list 125 it writes what is no message
result-null list 125 no object
result-list list 125 no object
result-and-error list 125 it writes what is no message
no-jsonrpc list 125 it writes what is no message
error-bare list 125 code 0
error-text list 125 code 0
tools-text list 0 a server 1
tools-nameless list 0 tools (3)
modern-type list 125 of an unknown type
END
}

@test "those that talk without end" {
    judge <<'END'
endless list 125 its list has no end
growing list 125 its list has no end
flood list 125 the server does not answer
endless-line list 125 it writes a line of more than
long call 125 the server wrote a line that was too long
modern-rounds list 125 without end
stderr list 0 third
progress call 0 {}
asks-on list 0 third
END
}

@test "those that are odd, and all the same understood" {
    judge <<'END'
legacy list 0 third
modern list 0 third
banner list 0 third
noise list 0 third
crlf list 0 third
batch list 0 third
twice list 0 third
asks list 0 third
pings list 0 third
deep list 0 third
utf8 list 0 third
zero list 0 third
modern-asks list 125 was not granted
END
}
