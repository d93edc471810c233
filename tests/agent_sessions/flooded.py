"""perch agent serve with lines that want an answer, as many as it takes while nobody reads it:
it must stop taking them, and then answer each.

    flooded.py PERCH ARGUMENT…"""
import json
import os
import subprocess
import sys
import threading
import time

LINE = b'{"cancel":"nobody"}\n'
FAR_TOO_MUCH = 64 << 20

perch = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
to_perch = perch.stdin.fileno()


def fill():
    """As much as it takes: until it has taken nothing for a while."""
    sent, taken_at = 0, time.monotonic()
    while time.monotonic() < taken_at + 0.5:
        try:
            sent += os.write(to_perch, LINE * 200)
            taken_at = time.monotonic()
        except BlockingIOError:
            time.sleep(0.01)
        if sent > FAR_TOO_MUCH:
            perch.kill()
            sys.exit("it takes lines without end, and nobody reads its answers")
    return sent


os.set_blocking(to_perch, False)
sent = fill()
os.set_blocking(to_perch, True)
missing = -sent % len(LINE)


def finish():
    perch.stdin.write(LINE[len(LINE) - missing:] if missing else b"")
    perch.stdin.close()


threading.Thread(target=finish).start()
answers = [json.loads(line) for line in perch.stdout.read().splitlines()]
lines = (sent + missing) // len(LINE)
if perch.wait() != 0 or len(answers) != lines:
    sys.exit(f"{lines} lines, {len(answers)} answers, ended with {perch.returncode}")
