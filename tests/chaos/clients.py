"""Clients that stay, and say more when they have been answered: one of MCP, whose calls are made in rooms that others
have left, and an editor."""
import concurrent.futures
import json
import os
import sqlite3
import time

from files_plugin import write
from kinds import FAULTS, WARNINGS, Kind, Tools, shown
from place import Late


def line(**members):
    return (json.dumps({"jsonrpc": "2.0", **members}) + "\n").encode()


def messages(said):
    """Those that are whole."""
    return [json.loads(one) for one in said.splitlines() if one.startswith(b"{") and one.endswith(b"}")]


class Client(Kind):
    """The fault strikes while it talks."""

    def __init__(self, player):
        super().__init__(player)
        self.striker = concurrent.futures.ThreadPoolExecutor(1)

    def talk(self, our_in, our_out):
        """Until it has its last answer, or perch is gone."""
        raise NotImplementedError

    def hold(self, our_in, our_out):
        self.heard = b""
        try:
            self.talk(our_in, our_out)
        except Late as late:
            raise Late(f"{late}; {shown(self.heard)}") from None
        return self.heard

    def listen(self, our_out):
        """What came next, if there is more."""
        piece = os.read(our_out, 65536)
        self.heard += piece
        return piece

    def strike(self, fault, host):
        self.player.strike(fault, host)

    def hear(self, our_in, our_out, fault, host):
        strike = self.striker.submit(self.strike, fault, host)
        said = b""
        if fault == "no reader":
            strike.result()
        else:
            said = self.hold(our_in, our_out)
        os.close(our_in)
        if fault != "no reader":
            said += self.read_on(our_out)
        strike.result()
        return said


class Mcp(Client, Tools):
    """A few calls at a time, and as many again and again in the rooms that these have left: from the second time on a
    doorkeeper bears them."""
    faults = (*FAULTS, "kill doorkeeper")
    listed = "t_count_count_echo"
    rounds = 3

    def words(self, number):
        self.text, self.at_a_time = "x" * (number % 50), 8 if number % 4 == 0 else 2
        first = line(id="first", method="initialize", params={
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}})
        return ["mcp"], (first + line(method="notifications/initialized") + line(id="list", method="tools/list") +
                         self.calls(0))

    def calls(self, first):
        return b"".join(line(id=f"call {first + i}", method="tools/call", params={
            "name": self.listed, "arguments": {"text": self.text}}) for i in range(self.at_a_time))

    def talk(self, our_in, our_out):
        for number in range(self.rounds):
            answers = (number + 1) * self.at_a_time
            while self.heard.count(b'"id":"call') < answers and self.listen(our_out):
                pass
            if number + 1 < self.rounds and self.heard.count(b'"id":"call') == answers:
                self.give(our_in, self.calls(answers))

    def judge(self, number, fault, status, said):
        calls = [one for one in messages(said) if "call" in str(one.get("id"))]
        ill = [one for one in calls if "result" not in one or one["result"].get("isError")]
        well = len(calls) - len(ill)
        recorded = sum(one["verdict"] == "ok" for one in self.records())
        is_warned = any(words in said for words in WARNINGS)
        wrong = None
        unborn = said.count(b"code: launch_failed") if fault == "kill doorkeeper" else 0
        self.player.counts["kill doorkeeper, unborn"] += unborn
        # A doorkeeper is of use, and never needed. With the child that it bears in that moment it may have died, too.
        if fault in ("none", "kill doorkeeper") and (status != 0 or well + unborn != self.at_a_time * self.rounds or unborn > 1):
            wrong = f"{well} calls of {self.at_a_time * self.rounds} ended well"
        elif not is_warned and recorded < well:
            wrong = f"{well} calls ended well, {recorded} are recorded"
        assert not wrong, f"{wrong}; fault: {fault}, exit {status}, {ill}, {shown(said)}"


class Acp(Client):
    """An editor with two sessions, and two prompts in each; where the one before it ended well, it opens one of its
    sessions, too, and is told what was said there."""
    ended = 0
    left = None  # a session of a life without a fault, and what it was asked
    sessions, prompts = 2, 2

    def prepare(self):
        self.bot = f"{self.place}/bot.yaml"
        write(f"{self.place}/bot.sh", "#!/bin/sh\necho \"heard $AGENT_MESSAGE\"\n", 0o755)
        write(self.bot, f"command: {self.place}/bot.sh\nsandbox: false\n")

    def strike(self, fault, host):
        """A prompt behind one whose end is not recorded waits until there is room again."""
        self.player.strike(fault, host)
        if fault == "full disk":
            time.sleep(self.player.random.random() * 0.1)
            self.player.disk.empty()

    def words(self, number):
        self.number, self.opened, self.loads = number, [], self.left
        said = line(id="first", method="initialize", params={"protocolVersion": 1})
        for i in range(self.sessions):
            said += line(id=f"new {i}", method="session/new", params={"cwd": self.place, "mcpServers": []})
        if self.loads:
            said += line(id="load", method="session/load", params={
                "sessionId": self.loads[0], "cwd": self.place, "mcpServers": []})
        return ["acp", "--agent", self.bot], said

    def prompt(self, i):
        return f"{self.number} {i}"

    def ask(self, our_in, one):
        """Both prompts of a session that was opened: the second waits for the first."""
        session = one.get("result", {}).get("sessionId")
        if not session:
            return
        self.opened.append(session)
        self.give(our_in, b"".join(line(id=f"prompt {session} {i}", method="session/prompt", params={
            "sessionId": session, "prompt": [{"type": "text", "text": self.prompt(i)}]}) for i in range(self.prompts)))

    def talk(self, our_in, our_out):
        read, answers = 0, 0
        wanted = 1 + self.sessions * (1 + self.prompts) + bool(self.loads)
        while answers < wanted and self.listen(our_out):
            whole = self.heard.rfind(b"\n") + 1
            for one in messages(self.heard[read:whole]):
                answers += "id" in one and "method" not in one
                if str(one.get("id")).startswith("new "):
                    self.ask(our_in, one)
                    answers += 0 if "result" in one else self.prompts
            read = whole

    def judge(self, number, fault, status, said):
        answers = {one["id"]: one for one in messages(said) if "id" in one and "method" not in one}
        well = sum(name.startswith("prompt") and one.get("result", {}).get("stopReason") == "end_turn"
                   for name, one in answers.items())
        wrong = None
        if fault == "none" and (status != 0 or well != self.sessions * self.prompts):
            wrong = f"{well} prompts ended well"
        elif fault == "none" and self.loads and not self.is_loaded(answers, said):
            wrong = f"session {self.loads} is not there"
        assert not wrong, f"{wrong}; fault: {fault}, exit {status}, {shown(said)}"
        self.left = (self.opened[0], self.prompt(0)) if fault == "none" else None
        if number % 10 == 0:
            self.finish()

    def is_loaded(self, answers, said):
        session, prompt = self.loads
        replayed = [one["params"]["update"] for one in messages(said)
                    if one.get("method") == "session/update" and one["params"]["sessionId"] == session]
        text = json.dumps(replayed)
        return "result" in answers["load"] and f'"{prompt}"' in text and f'"heard {prompt}' in text

    def finish(self):
        for name in ("sessions.db", "transcripts.db"):
            path = f"{self.state}/perch/{name}"
            if os.path.exists(path):
                database = sqlite3.connect(path)
                assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",), name
                database.close()
