#!/usr/bin/env bats
# Servers that hang, die or close, under perch mcp list and call: each mode of server.py has a verdict, takes
# bounded memory, and leaves nobody.

# shellcheck disable=SC2154 # what tool_open sets
load ../tool/tools
load mcp

setup() {
    tool_open
    ulimit -S -v 400000 # what a server says must not fill perch's memory
}

teardown() { tool_close; }

@test "those that hang, die or close" {
    judge <<'END'
silent list 125 the server does not answer
stubborn list 125 the server does not answer
hangs-list list 125 the server does not answer
hangs-call call 125 the server does not answer
dies list 125 the server has ended with code 3
dies-list list 125 the server has ended with code 5
dies-call call 125 the server has ended with code 6
killed-call call 125 the server was ended by signal 9
closes list 125 the server has closed its pipes
closes-call call 125 the server has closed its pipes
closes-stdin list 125 the server
daemon list 125 the server has ended with code 0
stays list 0 third
END
}

