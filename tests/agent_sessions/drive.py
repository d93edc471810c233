"""Drives `perch agent serve` with many sessions at once and judges every event.

    drive.py PERCH PROFILE SESSIONS TURNS MAX_TURNS SEED

Each turn is told what to do: answer, fail, die, hang until the time is up, or hang
until it is cancelled (some are cancelled before they began). Each agent says the
number of its turn as its session id and answers with the id it was given. So from
the events alone it is seen that turns of a session ran one at a time and in
order, that no id was lost, and that each turn ended exactly once.
"""
import json, os, random, subprocess, sys, threading

perch, profile, sessions, turns, at_once, seed = sys.argv[1:3] + [int(word) for word in sys.argv[3:7]]
random.seed(seed)
WAYS = ["ok"] * 12 + ["fail", "die", "hang", "cancel", "early"]
TIMEOUT_MS = 2000  # of the profile
EXPECTED = {"ok": (0,), "fail": (3,), "die": (137,), "hang": (124,), "cancel": (130,), "early": (130,)}

child = subprocess.Popen(
    [perch, "agent", "serve", "--profile", profile, "--max-turns", str(at_once), "--queue", str(sessions * turns)],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
lock = threading.Lock()


def send(message):
    with lock:
        child.stdin.write(json.dumps(message) + "\n")
        child.stdin.flush()


class Turn:
    def __init__(self, session, number):
        self.session, self.number, self.way = session, number, random.choice(WAYS)
        self.id = f"{session}/{number}"
        self.events, self.given = [], None


plan = [[Turn(session, number) for number in range(1, turns + 1)] for session in range(sessions)]
by_id = {turn.id: turn for session in plan for turn in session}
order = [turn for session in plan for turn in session]
# Sessions are mixed, the turns of each stay in order.
random.shuffle(order)
order.sort(key=lambda turn: turn.number)
cancelled, problems = set(), []


def cancel(turn):
    cancelled.add(turn.id)
    send({"cancel": turn.id})


def talk():
    for turn in order:
        send({"id": turn.id, "message": f"{turn.number} {turn.way}", "session_name": str(turn.session)})
        if turn.way == "early":
            cancel(turn)


def memory():
    with open(f"/proc/{child.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


talker = threading.Thread(target=talk)
talker.start()
running, most_running, ended, samples = set(), 0, 0, []
current = {}  # session -> the turn that has started and not ended
last_id = {}
last_started = {}
while ended < len(by_id):
    line = child.stdout.readline()
    if not line:
        problems.append(f"it ended with {len(by_id) - ended} turns under way")
        break
    event = json.loads(line)
    turn = by_id.get(event.get("id"))
    if turn is None:
        problems.append(f"unasked: {line}")
        continue
    kind = event["event"]
    if kind == "warning" and turn.way == "early":
        continue  # it had ended before it could be cancelled
    if "end" in turn.events:
        problems.append(f"{turn.id}: {kind} behind its end")
    turn.events.append(kind)
    if kind == "start":
        if turn.session in current:
            problems.append(f"{turn.id} began while {current[turn.session]} ran")
        if turn.number <= last_started.get(turn.session, 0):
            problems.append(f"{turn.id} began out of order")
        if event["session_id"] != last_id.get(turn.session, ""):
            problems.append(f"{turn.id} was given {event['session_id']}, not {last_id.get(turn.session)}")
        current[turn.session] = turn.id
        last_started[turn.session] = turn.number
        running.add(turn.id)
        most_running = max(most_running, len(running))
        if turn.way == "cancel":
            cancel(turn)
    elif kind == "session":
        last_id[turn.session] = event["session_id"]
        if event["session_id"] != str(turn.number):
            problems.append(f"{turn.id} said {event['session_id']}")
    elif kind == "end":
        ended += 1
        running.discard(turn.id)
        if current.get(turn.session) == turn.id:
            del current[turn.session]
        # One that was to be cancelled early may have been quicker.
        expected = EXPECTED[turn.way] + ((0,) if turn.way == "early" else ())
        # A machine under load may be slow: whoever took all of his time is excused.
        if event["timed_out"] and event["duration_ms"] >= TIMEOUT_MS:
            expected += (124,)
        if event["exit_code"] not in expected:
            problems.append(f"{turn.id} ended with {event['exit_code']}: {line}")
        if ended % max(1, len(by_id) // 20) == 0:
            samples.append(memory())
talker.join()
child.stdin.close()
rest = child.stdout.read()
if rest:
    problems.append(f"behind the end: {rest[:200]}")
if child.wait() != 0:
    problems.append(f"serve ended with {child.returncode}")
for turn in by_id.values():
    if turn.events.count("end") != 1:
        problems.append(f"{turn.id}: {turn.events.count('end')} ends")
if most_running > at_once:
    problems.append(f"{most_running} ran at once")
# Once all turns are in, nothing may grow.
if samples[-1] > samples[len(samples) // 2] + 2048 and "asan" not in perch:
    problems.append(f"memory grew: {samples} KiB")
print(f"# {ended} turns, {most_running} at once, memory {samples[len(samples) // 2]} to {samples[-1]} KiB",
      file=sys.stderr)
for problem in problems[:20]:
    print(problem)
sys.exit(1 if problems else 0)
