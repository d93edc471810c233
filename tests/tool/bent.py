#!/usr/bin/env python3
"""Servers that misbehave (bent.c): each mode has its verdict.

usage: bent.py call PERCH BINDING LIFETIME: bound, and called in one `perch tool serve`, side by side. BINDING
           is that of a good one, from which the others are made
       bent.py add PERCH BINDINGS WORD…: those that cannot be bound; the words are all of `perch tool add` up to
           the command's own
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys

CALLS_AT_ONCE, ADDS_AT_ONCE = 16, 4
MEMORY_KIB = 192 * 1024  # for CALLS_AT_ONCE lines of 8 MiB, and what is made of them
LONG, SHORT, FLOOD = 300, 1, 0.2  # seconds: those whose verdict is a timeout need not wait for long, nor flood

TIMEOUT = "timeout", ""
CRASHED = "crashed", "the server has ended with code 7"
CLOSED = "crashed", "the server has closed its pipes"
TOO_LONG = "malformed_response", "the server wrote a line that was too long"
REVIEW = "capability_not_allowed", "perch tool review"
OK = "ok", ""

# What comes of it at whatever stage it happens.
ANYWHERE = {
    "hangs": TIMEOUT, "deaf": TIMEOUT, "stops": TIMEOUT, "flood": TIMEOUT, "flood-notes": TIMEOUT,
    "flood-requests": TIMEOUT,
    "another-id": TIMEOUT, "text-id": TIMEOUT, "no-id": TIMEOUT, "no-version": TIMEOUT, "both": TIMEOUT,
    "dies": CRASHED, "leaves": ("crashed", "with code 0"), "half": ("crashed", "with code 0"),
    "killed": ("crashed", "by signal 9"), "faults": ("crashed", "by signal 11"),
    "closes": CLOSED, "closes-all": CLOSED,
    "endless-line": TOO_LONG, "long-line": TOO_LONG,
    "null": ("malformed_response", "no object"), "list": ("malformed_response", "no object"),
    "banner": OK, "utf8": OK, "zeros": OK, "crlf": OK, "deep": OK, "stderr": OK, "stranger": OK, "asks": OK,
    "asks-often": OK, "cancels": OK, "changes": OK, "progress": OK, "daemon": OK, "daemons": OK,
    "stopped-child": OK, "twice": OK, "well": OK,
}



def at_first(act):
    """The same before it has said hello: it never became a server."""
    code, words = ANYWHERE[act]
    if act in ("null", "list"):
        return "handshake_failed", "it does not say which version it speaks"
    if code == "timeout":
        return "handshake_failed", "it does not answer initialize"
    return ("ok" if code == "ok" else "handshake_failed"), words


HELLO = {
    **{act: at_first(act) for act in ANYWHERE},
    "refuses": ("handshake_failed", "it refuses initialize: not"),
    "refuses-bare": ("handshake_failed", "it refuses initialize"),
    "refuses-words": ("handshake_failed", "it refuses initialize"),
    "nothing": ("handshake_failed", "it does not say which version it speaks"),
    "old": ("handshake_failed", "it speaks version 1999-01-01, which perch does not know"),
    "number": ("handshake_failed", "it does not say which version it speaks"),
    "dies-behind": CRASHED, "deaf-behind": TIMEOUT, "flood-behind": TIMEOUT,
}
LIST = {
    **ANYWHERE,
    "refuses": ("handshake_failed", "it refuses to list its tools: not"),
    "refuses-bare": ("handshake_failed", "it refuses to list its tools"),
    "refuses-words": ("handshake_failed", "it refuses to list its tools"),
    "nothing": ("tool_not_exposed", "does not offer the tool any more"),
    "text": ("tool_not_exposed", "does not offer the tool any more"),
    "nameless": ("tool_not_exposed", "does not offer the tool any more"),
    "another": ("tool_not_exposed", "does not offer the tool any more"),
    "same-cursor": ("malformed_response", "its list has no end"),
    "growing": ("malformed_response", "its list has no end"),
    "large": ("handshake_failed", "its list of tools is too long"),
    "many": ("handshake_failed", "its list of tools is too long"),
    "poisoned": REVIEW, "doubles": ("tool_not_exposed", "does not offer the tool any more"),
    "changed": REVIEW, "hidden": REVIEW, "schema": REVIEW, "twins": REVIEW,
    "more": OK, "pages": OK,
    "dies-behind": CRASHED, "deaf-behind": TIMEOUT, "flood-behind": TIMEOUT,
}
CALL = {
    **ANYWHERE,
    "refuses": ("execution_error", "not"), "refuses-bare": ("execution_error", ""),
    "refuses-words": ("execution_error", ""),
    "nothing": ("malformed_response", "has no content"), "words": ("malformed_response", "has no content"),
    "deep-result": TIMEOUT,
    "error": ("execution_error", "rude"), "much": OK,
    "dies-behind": OK, "deaf-behind": OK, "flood-behind": OK,
}
MODERN = {
    "asks-on": ("malformed_response", "without end"),
    "asks-ungranted": ("malformed_response", "something that it was not granted"),
    "new-type": ("malformed_response", "of an unknown type"),
    "hangs": TIMEOUT, "dies": CRASHED, "well": OK,
}
START = {act: at_first(act) for act in (
    "hangs", "deaf", "stops", "flood", "dies", "leaves", "killed", "closes", "closes-all", "endless-line",
    "banner", "utf8", "zeros", "stderr", "stranger", "daemon", "daemons", "stopped-child")}
MODES = {
    **{("start", act): verdict for act, verdict in START.items()},
    **{("hello", act): verdict for act, verdict in HELLO.items()},
    **{("list", act): verdict for act, verdict in LIST.items()},
    **{("call", act): verdict for act, verdict in CALL.items()},
    **{("call", act, "modern"): verdict for act, verdict in MODERN.items()},
    **{("list", act, "modern"): verdict for act, verdict in MODERN.items()},
}


LATE = {TIMEOUT, at_first("hangs")}  # the verdicts that take their time
EXITS = {"handshake_failed": 3, "crashed": 5, "malformed_response": 6}


def bind(mode, binding, good, lifetime):
    """The binding of the good server, with other words for its command, and its times."""
    name = "-".join(mode)
    words = json.dumps(list(mode))
    is_first, is_late = mode[0] in ("start", "hello"), MODES[mode] in LATE
    short = FLOOD if mode[1].startswith("flood") else SHORT
    handshake, invocation = (short if is_late and is_first else LONG), (short if is_late and not is_first else LONG)
    text = re.sub(r"(?m)^name = \"good\"$", f'name = "{name}"', good, count=1)
    text = re.sub(r"(?m)^args = .*$", lambda _: f"args = {words}", text, count=1)
    text = re.sub(r"(?m)^era = .*$", f'era = "{"modern" if "modern" in mode else "legacy"}"', text, count=1)
    text = text.replace("[mcp]\n", f'[timeouts]\nhandshake = {handshake}\ninvocation = {invocation}\n[mcp]\n'
                        f'lifetime = "{lifetime}"\n', 1)
    with open(os.path.join(os.path.dirname(binding), name + ".toml"), "w", encoding="utf-8") as file:
        file.write(text)
    return name


def most_memory(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def fault_of(mode, code, said):
    wanted, words = MODES[mode]
    if re.fullmatch(wanted, code) and words in said:
        return None
    return f"{' '.join(mode)}: wanted {wanted} {words!r}, not {code} {said[:600]}"


def call(perch, binding, lifetime):
    with open(binding, encoding="utf-8") as file:
        good = file.read()
    # A process that serves many calls differs from one for each in what comes of a call.
    chosen = [mode for mode in MODES if lifetime == "call" or mode[0] == "call"]
    modes = {bind(mode, binding, good, lifetime): mode for mode in chosen}
    host = subprocess.Popen([perch, "tool", "serve", "--jobs", str(CALLS_AT_ONCE)], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True)
    for name in modes:
        host.stdin.write(json.dumps({"id": name, "name": name, "tool": "echo", "input": {}}) + "\n")
    host.stdin.flush()
    faults, memory = [], 0
    while modes:
        result = json.loads(host.stdout.readline())
        faults.append(fault_of(modes.pop(result["id"]), result["code"], json.dumps(result)))
        memory = max(memory, most_memory(host.pid))
    host.stdin.close()
    if host.wait() != 0:
        faults.append(f"perch ended with {host.returncode}")
    if memory > MEMORY_KIB:
        faults.append(f"perch had {memory} KiB")
    print(f"{len(chosen)} modes, {memory} KiB")
    return faults


def add_one(perch, bindings, words, mode):
    name = "-".join(mode)
    done = subprocess.run([perch, "tool", "add", "--mcp", name, *words, *mode], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, errors="replace", check=False)
    code = next((code for code, number in EXITS.items() if number == done.returncode), str(done.returncode))
    if os.path.exists(os.path.join(bindings, name + ".toml")):
        return f"{name}: is bound"
    return fault_of(mode, code, done.stdout + done.stderr)


def add(perch, bindings, *words):
    modes = [mode for mode, verdict in MODES.items() if verdict[0] in EXITS
             and verdict not in LATE and mode[0] != "call" and mode[1] != "dies-behind"]
    print(f"{len(modes)} modes")
    with concurrent.futures.ThreadPoolExecutor(ADDS_AT_ONCE) as pool:
        return list(pool.map(lambda mode: add_one(perch, bindings, words, mode), modes))


def main():
    faults = {"call": call, "add": add}[sys.argv[1]](*sys.argv[2:])
    faults = [fault for fault in faults if fault]
    print(*faults, sep="\n")
    sys.exit(1 if faults else 0)


main()
