"""Agents that misbehave, each a process of its own under one `perch agent serve`: what becomes of their
turns. crooked.py PERCH DIRECTORY"""
import json
import os
import subprocess
import sys

PERCH, WORK = sys.argv[1:]
HERE = os.path.dirname(os.path.abspath(__file__))
SHORT = ["timeout_secs: 2", "kill_grace_secs: 0.2"]

# Mode: exit code, words of an event, further lines of its profile.
FATAL = {
    "hello:silent": (124, "took longer", SHORT),
    "hello:ignores": (124, "took longer", SHORT),
    "hello:leaves": (1, "ended before it had answered", []),
    "hello:exits": (3, "exit status 3", []),
    "hello:killed": (137, "signal 9", []),
    "hello:orphan": (4, "exit status 4", []),
    "hello:closes": (143, "signal 15", ["kill_grace_secs: 0.2"]),
    "hello:half": (1, "ended before it had answered", []),
    "hello:refuses": (1, "refuses to be initialized", []),
    "hello:null": (1, "version 1", []),
    "hello:version": (1, "version 1", []),
    "hello:huge": (1, "too long", []),
    "hello:endless": (1, "too long", []),
    "new:silent": (124, "took longer", SHORT),
    "new:leaves": (1, "ended before it had answered", []),
    "new:exits": (3, "exit status 3", []),
    "new:killed": (137, "signal 9", []),
    "new:refuses": (1, "not today", []),
    "new:null": (1, "no id that can be used", []),
    "new:number": (1, "no id that can be used", []),
    "new:long_id": (1, "no id that can be used", []),
    "prompt:silent": (124, "took longer", SHORT),
    "prompt:ignores": (124, "took longer", SHORT),
    "prompt:quiet": (124, "said nothing", ["idle_timeout_secs: 1", "kill_grace_secs: 0.2"]),
    "prompt:leaves": (1, "ended before it had answered", []),
    "prompt:exits": (3, "exit status 3", []),
    "prompt:killed": (137, "signal 9", []),
    "prompt:orphan": (4, "exit status 4", []),
    "prompt:half": (1, "ended before it had answered", []),
    "prompt:refuses": (1, "not today", []),
    "prompt:null": (1, "without a stopReason", []),
    "prompt:number": (1, "without a stopReason", []),
    "prompt:refusal": (1, "refuses to go on", []),
    "prompt:huge": (1, "too long", []),
    "prompt:starves": (1, "more than 67108864 bytes", ["kill_grace_secs: 0.2"]),
    "prompt:unread": (124, "took longer", SHORT),
    "prompt:much": (1, "more than 67108864 bytes", ["max_reply_chars: 100", "kill_grace_secs: 0.2"]),
}
ODD = {
    "hello:garbage": "no message",
    "hello:batch": "a batch",
    "hello:deep": "no message",
    "hello:twice": "a request that nobody made",
    "hello:nobody": "a request that nobody made",
    "hello:foreign": "a session that is not open",
    "hello:request": "which it was not offered",
    "hello:stderr": None,
    "new:garbage": "no message",
    "new:twice": "a request that nobody made",
    "new:early": "a session that is not open",
    "new:no_params": None,
    "prompt:garbage": "no message",
    "prompt:batch": "a batch",
    "prompt:deep": "no message",
    "prompt:twice": None,
    "prompt:nobody": "a request that nobody made",
    "prompt:foreign": "a session that is not open",
    "prompt:request": "which it was not offered",
    "prompt:no_params": None,
    "prompt:no_options": None,
    "prompt:no_tool_id": "without its id",
    "prompt:odd_update": None,
    "prompt:no_text": None,
    "prompt:not_utf8": "no message",
    "prompt:files": None,
    "prompt:terminals": None,
    "prompt:bad_terminal": None,
    "prompt:notes": None,
    "prompt:flood": None,
    "prompt:noise": "there are more warnings",
    "prompt:tired": "limit of tokens",
    "prompt:stderr": None,
}


def profile(mode, lines):
    path = os.path.join(WORK, mode.replace(":", "_") + ".yaml")
    argument = mode.replace("quiet", "silent")
    with open(path, "w", encoding="utf-8") as out:
        out.write("\n".join([f"command: {HERE}/crooked_agent.py", f"args: ['{argument}']",
                             "protocol: acp", *lines]) + "\n")
    return path


def main():
    expected = {**FATAL, **{mode: (0, words, []) for mode, words in ODD.items()}}
    turns = [json.dumps({"id": mode, "message": "hi", "profile": profile(mode, lines)})
             for mode, (_, _, lines) in expected.items()]
    done = subprocess.run([PERCH, "agent", "serve", "--any-profile", "--max-turns", "8"],
                          input="\n".join(turns) + "\n", stdout=subprocess.PIPE, text=True, check=False)
    told = {mode: [] for mode in expected}
    for line in done.stdout.splitlines():
        event = json.loads(line)
        told[event["id"]].append(event)
    wrong = 0
    for mode, (code, words, _) in expected.items():
        events = told[mode]
        ends = [event for event in events if event["event"] == "end"]
        said = "\n".join(event.get("message", "") for event in events)
        if len(ends) != 1 or ends[0]["exit_code"] != code or (words and words not in said):
            wrong += 1
            print(f"{mode}: expected {code} and '{words}', got", [e for e in events if e["event"] != "partial"][-4:])
    print(f"{len(expected)} agents, {wrong} wrong")
    sys.exit(1 if wrong or done.returncode else 0)


main()
