#!/usr/bin/env python3
"""Stands between a client and perch: tape.py COMMAND…, with every line in both directions on the
tape that tests/wire/schema.py reads. Ends with what it has started."""
import contextlib
import os
import subprocess
import sys
import threading

TAPE = open(sys.argv[1], "a", encoding="utf-8")
LOCK = threading.Lock()
server = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def copy(source, sink, sign):
    for line in source:
        with LOCK:
            TAPE.write(f"mcp {server.pid} {sign} {line.decode()}")
            TAPE.flush()
        try:
            sink.write(line)
            sink.flush()
        except OSError:
            return
    with contextlib.suppress(OSError):
        sink.close()


threading.Thread(
    target=copy, args=(sys.stdin.buffer, server.stdin, "<"), daemon=True).start()
copy(server.stdout, sys.stdout.buffer, ">")
os._exit(server.wait())
