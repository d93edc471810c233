"""perch with a stdout that is not read for now: whether it still ends its agents, itself, and
what it has said when it is read at last.

    unread.py CASE WHERE PERCH ARGUMENT…

WHERE is a pipe, both (stdout and stderr in one pipe) or a terminal. Its agent writes without
end, and has its process id in the file `pid`."""
import json
import os
import signal
import subprocess
import sys
import time

case, where, command = sys.argv[1], sys.argv[2], sys.argv[3:]
serves = "serve" in command
ours, theirs = os.openpty() if where == "terminal" else (None, subprocess.PIPE)
perch = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=theirs,
                         stderr=subprocess.STDOUT if where != "pipe" else None)


def until(is_so, what):
    deadline = time.monotonic() + 60
    while not is_so():
        if time.monotonic() > deadline:
            perch.kill()
            sys.exit("not within a minute: " + what)
        time.sleep(0.02)


def agent():
    try:
        return int(open("pid").read())
    except (OSError, ValueError):
        return 0


def state():
    """Of the agent, as the kernel names it: S = it sleeps, Z = it is dead."""
    try:
        return open(f"/proc/{agent()}/stat").read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "Z"


def is_alive():
    return state() != "Z"


def is_stuck():
    """Twice at the same place in a write: nobody reads what the agent says."""
    before = wrote()
    time.sleep(0.1)
    return state() == "S" and before == wrote() > 5000 * 10 or not is_alive()


def wrote():
    try:
        lines = open(f"/proc/{agent()}/io").read().splitlines()
        return int(next(line for line in lines if line.startswith("wchar")).split()[1])
    except OSError:
        return 0


def expect(is_so, what):
    if not is_so:
        perch.kill()
        sys.exit("not so: " + what)


def ask(line):
    perch.stdin.write((json.dumps(line) + "\n").encode())
    perch.stdin.flush()


if serves:
    ask({"id": "1", "message": "x"})
until(agent, "an agent")
until(is_stuck, "an agent that waits")

if case == "timeout":
    until(lambda: not is_alive(), "the end of the agent")
    expect(perch.poll() is None, "perch waits for its reader")
    perch.stdin.close()
    out = perch.stdout.read()
    expect(perch.wait() == (0 if serves else 124), "the code of a timeout")
    lines = out.splitlines()
    if "--json" in command or serves:
        events = [json.loads(line) for line in lines]
        expect(events[-1]["event"] == "end" and events[-1]["timed_out"], "the end is told")
        text = "".join(e["text"] for e in events if e["event"] == "partial")
    else:
        text = out.decode().rstrip("\n")
    if where == "both":
        text, _, rest = text.partition("error: the agent took longer")
        expect(rest and "xxx" not in rest, "the error is behind all")
    # Of the last line the agent may have written but a part, of which perch warns.
    text = text.split("warning:")[0].split('"')[0]
    wanted = "".join(f"{n:07}" + "x" * 4993 for n in range(len(text) // 5000))
    expect(len(text) > 5000 * 10 and text == wanted, "nothing is lost")
elif case == "cancel":
    ask({"cancel": "1"})
    until(lambda: not is_alive(), "the end of the agent")
    # No more is kept than so much, however much is asked.
    perch.stdin.close()
    events = [json.loads(line) for line in perch.stdout.read().splitlines()]
    expect(events[-1]["event"] == "end" and events[-1]["exit_code"] == 130, "a cancelled turn")
    expect(perch.wait() == 0, "serve ends well")
elif case == "term":
    perch.send_signal(signal.SIGTERM)
    until(lambda: perch.poll() is not None, "the end of perch")
    expect(perch.returncode == 143, f"143, not {perch.returncode}")
elif case == "twice":
    perch.send_signal(signal.SIGINT)
    until(lambda: os.path.exists("asked"), "an agent that was asked to end")
    expect(perch.poll() is None, "it waits for the agent")
    perch.send_signal(signal.SIGINT)
    until(lambda: perch.poll() is not None, "the end of perch")
    expect(perch.returncode == 130, f"130, not {perch.returncode}")
until(lambda: not is_alive(), "the end of the agent")
