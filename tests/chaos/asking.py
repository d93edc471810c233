"""Terminals that a question, or the line of a chat, has made raw: whoever dies then, the modes come back."""
import fcntl
import os
import select
import termios

from files_plugin import write
from kinds import BUILD, CALLS, PERCH, STRIKES, Kind
from place import await_all, within_patience

LFLAG = 3
AGAIN = 0.3  # seconds; what is typed too early may be thrown away
ASKER = """#!/bin/sh
IFS= read -r init
echo '{"type":"select","id":"1","message":"Which?","options":["a","b"]}'
IFS= read -r line
"""
MANIFEST = """[plugin]
name = "fledge-asker"
version = "1.0.0"
protocol = "fledge-v1"
[[commands]]
name = "asker"
binary = "bin/fledge-asker"
"""


class Questions(Kind):
    faults = ("none", *STRIKES, *CALLS, "kill when raw")

    def prepare(self):
        write(f"{self.place}/asker/plugin.toml", MANIFEST)
        write(f"{self.place}/asker/bin/fledge-asker", ASKER, 0o755)
        self.perch("plugins", "install", f"{self.place}/asker", "--copy", "--yes", "--trust")
        write(f"{self.place}/bot.yaml", f"command: {BUILD}/tests/agent\nsandbox: false\n")
        self.sit_down()

    def sit_down(self):
        """As a shell does: the terminal is that of our session, and outlives what we start on it."""
        os.setsid()
        self.ours, self.terminal = os.openpty()
        fcntl.ioctl(self.terminal, termios.TIOCSCTTY, 0)
        self.modes = termios.tcgetattr(self.terminal)

    def words(self, number):
        return ["run", "asker"] if number % 2 else ["agent", "chat", f"{self.place}/bot.yaml"]

    def is_raw(self):
        return not termios.tcgetattr(self.terminal)[LFLAG] & termios.ICANON

    def watch(self, host, fault, keys):
        """Reads the screen until the host has ended: whether it was seen raw. Then the fault strikes, and somebody
        answers."""
        was_raw = is_struck = False
        end = os.pidfd_open(host)
        while True:
            ready, _, _ = select.select([self.ours, end], [], [], AGAIN)  # what could not be drawn wakes nobody
            if self.ours in ready:
                os.read(self.ours, 65536)
            was_raw |= self.is_raw()
            if was_raw and not is_struck:
                self.player.strike(fault, host, 0.002)
                is_struck = True
            if end in ready:
                break
            if is_struck and self.is_raw():
                os.write(self.ours, keys)
        os.close(end)
        return was_raw

    def job(self, number, fault):
        within_patience()
        terminal = [(os.POSIX_SPAWN_DUP2, self.terminal, fd) for fd in range(3)]
        host = self.player.spawn([PERCH, *self.words(number)], fault, terminal)
        was_raw = self.watch(host, fault, b"\r" if number % 2 else b"\x04")
        status = await_all(host)
        termios.tcflush(self.terminal, termios.TCIFLUSH)
        modes = termios.tcgetattr(self.terminal)
        assert modes == self.modes, f"the terminal stays raw; fault: {fault}, exit {status}, {self.modes} before, now {modes}"
        assert fault != "none" or (was_raw and status == 0), f"it failed without a fault, exit {status}"
        return 1, "raw" if was_raw or fault == "kill when raw" else "not raw"
