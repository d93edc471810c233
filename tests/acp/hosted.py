#!/usr/bin/python3 -SE
"""An agent of ACP for the tests. Its prompt says what it does: `say WORDS`, `pid`, `cwd`, `show`, `tools`,
`permit`, `form`, `one`, `page`, `slow`, `stubborn`, `die`, `read PATH`, `write PATH TEXT`, `run COMMAND…`. What it hears and says goes to
the file HOSTED_LOG, if that is set."""
import json
import os
import sys

LOG = os.environ.get("HOSTED_LOG")
SESSIONS = {}
ASKED = 0


def log(mark, text):
    if LOG:
        with open(LOG, "a", encoding="utf-8") as out:
            out.write(mark + text + "\n")


def send(message):
    text = json.dumps({"jsonrpc": "2.0", **message})
    log("> ", text)
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def hear():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    log("< ", line.rstrip("\n"))
    return json.loads(line)


def update(session, what, /, **members):
    send({"method": "session/update",
          "params": {"sessionId": session, "update": {"sessionUpdate": what, **members}}})


def say(session, text):
    update(session, "agent_message_chunk", content={"type": "text", "text": text})


def ask(method, **params):
    """A request of ours, and its answer; a cancel meanwhile is {'cancelled': True}."""
    global ASKED
    ASKED += 1
    mine = f"q{ASKED}"
    send({"id": mine, "method": method, "params": params})
    cancelled = False
    while True:
        message = hear()
        if message.get("method") == "session/cancel":
            cancelled = True
        elif message.get("id") == mine and "method" not in message:
            return {"cancelled": cancelled, **message}


def show(session):
    update(session, "agent_thought_chunk", content={"type": "text", "text": "hm"})
    update(session, "plan", entries=[{"content": "look", "priority": "high", "status": "pending"}])
    update(session, "tool_call", toolCallId="c1", title="Read it", kind="read", status="pending",
           rawInput={"path": "x"})
    update(session, "tool_call_update", toolCallId="c1", status="completed", rawOutput={"n": 1})
    update(session, "usage_update", used=10, size=100)
    say(session, "shown")


def tools(session):
    """What an agent may say of its tools and its plan, and what none should."""
    update(session, "tool_call", toolCallId="t", title="Change", kind="edit", status="in_progress", locations=[
        {"path": "/a", "line": 3}, {"path": "relative"}, {"path": "/b", "line": -1, "own": 1}, 7], content=[
        {"type": "content", "content": {"type": "text", "text": "words", "own": 1}},
        {"type": "diff", "path": "/a", "oldText": "x", "newText": "y"}, {"type": "diff", "path": 7},
        {"type": "terminal", "terminalId": "none"}, "odd"])
    update(session, "tool_call_update", toolCallId="t", title="Changed", status="completed", kind="made_up")
    update(session, "tool_call_update", toolCallId="u", status="odd", rawOutput=[1], locations={}, content=None)
    update(session, "plan", entries=[{"content": "one", "priority": "odd", "status": "failed"}, {"content": 7}, "odd",
                                     {"content": "two", "priority": "high", "status": "completed", "own": 1}])


def permit(session):
    options = [{"optionId": "once-1", "name": "Once", "kind": "allow_once"},
               {"optionId": "ever-1", "name": "Ever", "kind": "allow_always"},
               {"optionId": "no-1", "name": "No", "kind": "reject_once"}]
    answer = ask("session/request_permission", sessionId=session, options=options,
                 toolCall={"toolCallId": "c2", "title": "Change it", "kind": "edit", "rawInput": {"a": 1}})
    outcome = answer["result"]["outcome"]
    say(session, outcome.get("optionId", outcome["outcome"]))
    return "cancelled" if answer["cancelled"] else "end_turn"


FORM = {"type": "object", "required": ["strategy"], "properties": {
    "strategy": {"type": "string", "title": "Strategy", "oneOf": [
        {"const": "c", "title": "conservative"}, {"const": "a", "title": "aggressive"}]},
    "count": {"type": "integer", "minimum": 1, "maximum": 5, "default": 3},
    "tags": {"type": "array", "items": {"type": "string", "enum": ["x", "y", "z"]}},
    "why": {"type": "string", "minLength": 2},
    "sure": {"type": "boolean", "default": True}}}
FORMS = {
    "form": {"mode": "form", "message": "How shall I go on?", "requestedSchema": FORM},
    "one": {"mode": "form", "message": "Where?", "requestedSchema": {
        "type": "object", "required": ["place"], "properties": {"place": {"type": "string", "minLength": 1}}}},
    "page": {"mode": "url", "message": "Sign in.", "elicitationId": "e1", "url": "https://example.org/in?x=1"},
    "secret": {"mode": "form", "message": "More.", "requestedSchema": {
        "type": "object", "properties": {"password": {"type": "string"}}}},
    "odd": {"mode": "_own", "message": "More."},
}


def elicit(session, name):
    answer = ask("elicitation/create", sessionId=session, **FORMS[name])
    say(session, words_of(answer))
    return "cancelled" if answer["cancelled"] else "end_turn"


def slow(session):
    say(session, "waiting")
    while hear().get("method") != "session/cancel":
        pass
    return "cancelled"


def stubborn(session):
    say(session, "waiting")
    while True:
        hear()


def words_of(answer):
    return answer["error"]["message"] if "error" in answer else json.dumps(answer["result"], sort_keys=True)


def run(session, words):
    made = ask("terminal/create", sessionId=session, command=words[0], args=words[1:])
    if "error" in made:
        say(session, made["error"]["message"])
        return
    terminal = {"sessionId": session, "terminalId": made["result"]["terminalId"]}
    say(session, words_of(ask("terminal/wait_for_exit", **terminal)))
    say(session, words_of(ask("terminal/output", **terminal)))
    say(session, words_of(ask("terminal/release", **terminal)))


def kill(session, words):
    made = ask("terminal/create", sessionId=session, command=words[0], args=words[1:])
    terminal = {"sessionId": session, "terminalId": made["result"]["terminalId"]}
    ask("terminal/kill", **terminal)
    say(session, words_of(ask("terminal/wait_for_exit", **terminal)))


def prompt(session, text):
    terminal = None
    word, _, rest = text.partition(" ")
    words = rest.split(" ")
    if word == "say":
        say(session, rest)
    elif word == "pid":
        say(session, str(os.getpid()))
    elif word == "cwd":
        say(session, os.getcwd() + " " + SESSIONS[session]["cwd"])
    elif word == "servers":
        say(session, json.dumps(SESSIONS[session]["mcpServers"], sort_keys=True))
    elif word == "directories":
        say(session, json.dumps(SESSIONS[session].get("additionalDirectories")))
    elif word == "stop":
        return rest
    elif word == "locked":
        return None
    elif word == "env":
        say(session, " ".join(sorted(n for n in os.environ if n.startswith("AGENT_") or n in words)))
    elif word == "show":
        show(session)
    elif word == "tools":
        tools(session)
    elif word == "permit":
        return permit(session)
    elif word in FORMS:
        return elicit(session, word)
    elif word == "slow":
        return slow(session)
    elif word == "stubborn":
        stubborn(session)
    elif word == "die":
        say(session, "dying ")
        os._exit(int(rest or 3))
    elif word == "read":
        say(session, words_of(ask("fs/read_text_file", sessionId=session, path=words[0],
                                  **({"line": int(words[1]), "limit": int(words[2])} if words[2:] else {}))))
    elif word == "write":
        say(session, words_of(ask("fs/write_text_file", sessionId=session, path=words[0],
                                  content=" ".join(words[1:]))))
    elif word == "run":
        run(session, words)
    elif word == "kill":
        kill(session, words)
    elif word == "raw":  # METHOD PARAMS…: as they are
        say(session, words_of(ask(words[0], **{"sessionId": session, **json.loads(" ".join(words[1:]))})))
    elif word == "race":  # a file that becomes a link to a hidden one, again and again
        seen = set()
        for i in range(int(words[2])):
            os.path.lexists(words[0]) and os.unlink(words[0])
            os.symlink(words[1], words[0]) if i % 2 else open(words[0], "w").write("mine")
            answer = ask("fs/read_text_file", sessionId=session, path=words[0])
            seen.add(answer.get("result", {}).get("content", "refused"))
        say(session, " ".join(sorted(seen)))
    elif word == "steps":  # [[METHOD, PARAMS]…]; "T" is the last terminal
        for method, params in json.loads(rest):
            if params.get("terminalId") == "T":
                params["terminalId"] = terminal
            answer = ask(method, sessionId=session, **params)
            terminal = answer.get("result", {}).get("terminalId", "none") if method == "terminal/create" else terminal
            say(session, words_of(answer) + "\n")
    elif word == "withdraw":  # reads of what never ends, each taken back
        seen = []
        for i in range(int(words[1])):
            send({"id": f"w{i}", "method": "fs/read_text_file", "params": {"sessionId": session, "path": words[0]}})
            send({"method": "$/cancel_request", "params": {"requestId": f"w{i}"}})
            while (answer := hear()).get("id") != f"w{i}":
                pass
            seen.append(answer["error"]["code"])
        say(session, f"{len(seen)} {sorted(set(seen))}")
    elif word == "hasty":  # writes a file, and does not wait until it is written
        send({"id": "hasty", "method": "fs/write_text_file", "params": {
            "sessionId": session, "path": words[0], "content": words[1] * int(words[2])}})
    elif word == "leave":
        ask("terminal/create", sessionId=session, command=words[0], args=words[1:])
        say(session, "left")
    elif word == "offered":
        say(session, json.dumps(OFFERED, sort_keys=True))
    else:
        say(session, "you said " + text)
    return "end_turn"


OFFERED = {}


def main():
    while True:
        message = hear()
        method, number, params = message.get("method"), message.get("id"), message.get("params", {})
        if method == "initialize":
            OFFERED.update(params["clientCapabilities"])
            able = {"loadSession": "forgetful" not in sys.argv,
                    "mcpCapabilities": {"http": "remote" in sys.argv},
                    "promptCapabilities": {"image": True}, "sessionCapabilities": {
                        "close": {}, **({"additionalDirectories": {}} if "remote" in sys.argv else {})}}
            send({"id": number, "result": {"protocolVersion": 1, "agentCapabilities": able}})
        elif method == "session/new":
            name = f"s-{os.getpid()}-{len(SESSIONS)}"
            SESSIONS[name] = params
            send({"id": number, "result": {"sessionId": name}})
        elif method == "session/load":
            if params["sessionId"].startswith("lost"):
                send({"id": number, "error": {"code": -32002, "message": "it is lost"}})
                continue
            SESSIONS[params["sessionId"]] = params
            say(params["sessionId"], "this is replayed")
            send({"id": number, "result": None})
        elif method == "session/prompt":
            text = " ".join(b.get("text") or f"[{b['type']}]" for b in params["prompt"])
            reason = prompt(params["sessionId"], text)
            send({"id": number, **({"result": {"stopReason": reason}} if reason else
                                   {"error": {"code": -32000, "message": "Authentication required"}})})
        elif method == "session/close":
            send({"id": number, "result": {}})


main()
