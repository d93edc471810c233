#!/usr/bin/env python3
"""64 callers of `perch tool serve` at once, for so many seconds: random crashes,
timeouts and cancels. Every call must be answered exactly once, by a verdict that
can be, and memory and descriptors must stay where they were.

usage: storm.py SECONDS PERCH BINDING
"""

import json
import os
import queue
import random
import subprocess
import sys
import threading
import time

CALLERS = 64
PATIENCE = 120
GROWTH_KIB = 2048
# Each of the four spares has a room, which holds three descriptors more from its second child on.
GROWTH_OF_ROOMS = 4 * 3

# What a call does, and how it may end. A cancel may come too late.
ACTS = {
    "echo": {"ok"},
    "slow": {"ok"},
    "chatter": {"ok"},
    "error": {"execution_error"},
    "crash": {"crashed"},
    "silent": {"crashed"},
    "hang": {"timeout"},
}


class Host:
    def __init__(self, perch, binding):
        self.process = subprocess.Popen(
            [perch, "tool", "serve", "--jobs", "48", "--binding", binding],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.lock = threading.Lock()
        self.waiting = {}
        self.faults = []
        self.answered = 0
        self.codes = {}
        threading.Thread(target=self.listen, daemon=True).start()

    def say(self, message):
        with self.lock:
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()

    def listen(self):
        for line in self.process.stdout:
            result = json.loads(line)
            mailbox = self.waiting.pop(result["id"], None)
            if mailbox is None:
                self.faults.append(f"nobody waits for this answer: {line}")
            else:
                self.answered += 1
                self.codes[result["code"]] = self.codes.get(result["code"], 0) + 1
                mailbox.put(result)

    def call(self, name, act, is_cancelled):
        mailbox = queue.Queue()
        self.waiting[name] = mailbox
        timeout = 0.2 if act == "hang" and not is_cancelled else PATIENCE
        self.say({"id": name, "name": "t.unruly", "tool": "t.x", "input": {"do": act},
                  "timeout": timeout})
        if is_cancelled:
            time.sleep(random.random() * 0.03)
            self.say({"cancel": name})
        result = mailbox.get(timeout=PATIENCE)
        allowed = ACTS[act] | ({"cancelled"} if is_cancelled else set())
        if is_cancelled and act == "hang":
            allowed = {"cancelled"}
        if result["code"] not in allowed:
            self.faults.append(f"{act}, cancelled {is_cancelled}: {result}")

    def memory(self):
        """0 under a sanitizer, which keeps what is freed."""
        with open(f"/proc/{self.process.pid}/maps", encoding="utf-8") as maps:
            if any("libasan" in line for line in maps):
                return 0
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


def caller(host, number, deadline):
    chance = random.Random(number)
    count = 0
    while time.monotonic() < deadline and not host.faults:
        count += 1
        act = chance.choices(list(ACTS), weights=[6, 4, 1, 3, 2, 2, 1])[0]
        try:
            host.call(f"{number}-{count}", act, chance.random() < 0.2)
        except queue.Empty:
            host.faults.append(f"{number}-{count} ({act}) was never answered")


def storm(host, seconds):
    deadline = time.monotonic() + seconds
    callers = [threading.Thread(target=caller, args=(host, n, deadline)) for n in range(CALLERS)]
    for thread in callers:
        thread.start()
    for thread in callers:
        thread.join()


def settled_descriptors(host):
    """Spares come and go, and rooms that wait for a next call, some with a doorkeeper, stay for five seconds: the
    fewest that are seen in a longer while."""
    fewest = host.descriptors()
    for _ in range(130):
        time.sleep(0.05)
        fewest = min(fewest, host.descriptors())
    return fewest


def main():
    seconds, perch, binding = float(sys.argv[1]), sys.argv[2], sys.argv[3]
    host = Host(perch, binding)
    storm(host, max(2.0, seconds / 5))
    before = (host.memory(), settled_descriptors(host))
    storm(host, seconds)
    after = (host.memory(), settled_descriptors(host))
    if after[0] > before[0] + GROWTH_KIB:
        host.faults.append(f"memory grew from {before[0]} to {after[0]} KiB")
    if after[1] > before[1] + GROWTH_OF_ROOMS:
        host.faults.append(f"descriptors grew from {before[1]} to {after[1]}")
    host.process.stdin.close()
    if host.process.wait(timeout=PATIENCE) != 0:
        host.faults.append(f"it ended with {host.process.returncode}")
    print(f"{host.answered} answers {host.codes}, {before[0]} to {after[0]} KiB, "
          f"{after[1]} descriptors")
    for fault in host.faults[:20]:
        print(fault)
    sys.exit(1 if host.faults or host.waiting else 0)


main()
