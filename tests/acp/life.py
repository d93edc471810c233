#!/usr/bin/env python3
"""perch acp and an editor of our own: how it ends, and lines that no editor writes. life.py SCENE"""
import json
import os
import signal
import subprocess
import sys
import time

PERCH, AGENT, MARK = (os.environ[name] for name in ("PERCH", "AGENT", "MARK"))
COMMAND = [PERCH, "acp", "--agent", AGENT]


class Editor:
    def __init__(self, command=None, **more):
        self.process = subprocess.Popen(
            command or COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **more)
        self.count = 0

    def write(self, text):
        self.process.stdin.write(text if isinstance(text, bytes) else text.encode())
        self.process.stdin.flush()

    def send(self, method, **params):
        self.count += 1
        self.write(json.dumps({"jsonrpc": "2.0", "id": self.count, "method": method,
                               "params": params}) + "\n")
        return self.count

    def read(self):
        return json.loads(self.process.stdout.readline())

    def call(self, method, **params):
        number = self.send(method, **params)
        while (message := self.read()).get("id") != number or "method" in message:
            pass
        return message

    def open(self):
        self.call("initialize", protocolVersion=1)
        made = self.call("session/new", cwd=os.getcwd(), mcpServers=[])
        self.session = made["result"]["sessionId"]

    def prompt(self, text):
        return self.send("session/prompt", sessionId=self.session,
                         prompt=[{"type": "text", "text": text}])

    def busy(self):
        self.open()
        self.prompt("wait")
        while not os.path.exists(MARK):
            time.sleep(0.01)


def gone(process):
    assert process.wait(timeout=60) == 0, process.returncode


def scene_signal():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        editor = Editor()
        editor.busy()
        editor.process.send_signal(number)
        gone(editor.process)
        os.unlink(MARK)


def scene_reader():
    editor = Editor()
    editor.busy()
    editor.process.stdout.close()
    gone(editor.process)


def scene_parent():
    """Its parent dies while this process holds its stdin and its stdout."""
    to_perch, from_perch = os.pipe(), os.pipe()
    parent = subprocess.Popen(
        [sys.executable, "-c", "import subprocess, sys, time\n"
         "subprocess.Popen(sys.argv[1:]); time.sleep(600)", *COMMAND],
        stdin=to_perch[0], stdout=from_perch[1])
    os.close(to_perch[0])
    os.close(from_perch[1])
    editor = Editor.__new__(Editor)
    editor.count = 0
    editor.process = type("Pipes", (), {"stdin": os.fdopen(to_perch[1], "wb"),
                                        "stdout": os.fdopen(from_perch[0], "rb")})
    editor.busy()
    parent.kill()
    parent.wait()
    while editor.process.stdout.readline():
        pass


def scene_nonsense():
    editor = Editor()
    for line, code in ((b"{", -32700), (b"\xff\xfe", -32700), (b"[]", -32600), (b"[1]", -32600),
                       (b"7", -32600), (b'{"jsonrpc":"2.0","id":1,"method":"x"}', -32601),
                       (b'{"jsonrpc":"2.0","id":1,"method":"session/new"}', -32600),
                       (b"x" * (33 << 20), -32600)):
        editor.write(line + b"\n\n")
        assert editor.read()["error"]["code"] == code, line[:40]
    editor.open()
    assert editor.call("session/new", cwd=7)["error"]["code"] == -32602
    editor.write('{"jsonrpc":"2.0","id":99,"result":{}}\n')
    number = editor.prompt("hello")
    messages = [editor.read(), editor.read()]
    assert messages[1]["id"] == number and messages[1]["result"]["stopReason"] == "end_turn"
    editor.process.stdin.close()
    gone(editor.process)


def scene_trace():
    """What is recorded is in the file, without the secrets of MCP servers; stdout has messages alone."""
    file = MARK + ".trace"
    servers = [{"name": "m", "command": "/bin/m", "args": [], "env": [{"name": "KEY", "value": "hidden"}]}]
    for agent in (AGENT, os.environ["HOSTED"]):
        editor = Editor([PERCH, "--trace", file, "acp", "--agent", agent])
        editor.call("initialize", protocolVersion=1)
        made = editor.call("session/new", cwd=os.getcwd(), mcpServers=servers)
        editor.session = made["result"]["sessionId"]
        number = editor.prompt("hello")
        while editor.read().get("id") != number:
            pass
        editor.process.stdin.close()
        gone(editor.process)
        shown = subprocess.run([PERCH, "trace", "show", file], stdout=subprocess.PIPE, text=True, check=True).stdout
        assert "hello" in shown and "KEY" in shown, shown
        with open(file, encoding="utf-8") as trace:
            assert "hidden" not in trace.read()


def scene_hurry():
    """A session that is loaded, resumed and closed in one breath, again and again."""
    editor = Editor()
    editor.open()
    editor.prompt("hello")
    while "method" in editor.read():
        pass
    editor.call("session/close", sessionId=editor.session)
    for _ in range(20):
        place = {"sessionId": editor.session, "cwd": "/", "mcpServers": []}
        owed = {editor.send("session/load", **place), editor.send("session/load", **place),
                editor.send("session/resume", **place),
                editor.send("session/close", sessionId=editor.session),
                editor.send("session/load", **place),
                editor.send("session/close", sessionId=editor.session)}
        while owed:
            message = editor.read()
            owed.discard(message.get("id"))
    editor.call("session/load", sessionId=editor.session, cwd="/", mcpServers=[])
    assert editor.call("session/prompt", sessionId=editor.session, prompt=[
        {"type": "text", "text": "x"}])["result"]["stopReason"] == "end_turn"
    editor.process.stdin.close()
    gone(editor.process)


def scene_crowd():
    """Prompts for many sessions, whose answers are read late: all are answered, in order."""
    editor = Editor()
    editor.call("initialize", protocolVersion=1)
    sessions = [editor.call("session/new", cwd="/", mcpServers=[])["result"]["sessionId"]
                for _ in range(20)]
    owed = {}
    for turn in range(3):
        for session in sessions:
            text = f"{turn} " + "x" * 20000
            owed[editor.send("session/prompt", sessionId=session,
                             prompt=[{"type": "text", "text": text}])] = (session, turn)
    time.sleep(1)
    ended = []
    while owed:
        message = editor.read()
        if "method" not in message:
            assert message["result"]["stopReason"] == "end_turn"
            ended.append(owed.pop(message["id"]))
    for session in sessions:
        assert [turn for name, turn in ended if name == session] == [0, 1, 2]
    editor.process.stdin.close()
    gone(editor.process)


globals()["scene_" + sys.argv[1]]()
