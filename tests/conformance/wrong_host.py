"""Hosts that are just good enough for some cases of the conformance kit, but for one
thing that they do wrong: wrong_host.py PROTOCOL WRONG WORD…"""

import json
import os
import re
import signal
import subprocess
import sys

WRONG = sys.argv[2]


def compact(value, **options):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, **options)


def start(argv, env):
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env,
                            start_new_session=WRONG != "session")


def finish(process):
    """Its exit code as a shell has it; nothing of it stays."""
    code = process.wait()
    if WRONG != "leftover":
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return 128 - code if code < 0 else code


# ---- fledge ----------------------------------------------------------------------


def fledge_init(directory, args):
    init = {"type": "init", "protocol": "fledge-v1", "command": "conform",
            "args": [] if WRONG == "args" else args,
            "project": {"name": os.path.basename(os.getcwd()), "root": os.getcwd(),
                        "language": "generic", "git": None},
            "plugin": {"name": "conform", "version": "1.2.3", "dir": directory},
            "fledge": {"version": "1.8.0"},
            "capabilities": {"exec": False, "store": False, "metadata": False}}
    if WRONG == "order":
        return compact(init, sort_keys=True)
    if WRONG == "escapes":
        return json.dumps(init, separators=(",", ":"))
    return compact(init)


def fledge_answer(message):
    kind = message["type"]
    if kind == "confirm":
        return not message.get("default") if WRONG == "default" else bool(message.get("default"))
    if kind == "prompt":
        return "" if WRONG == "default" else message["default"]
    if kind == "exec":
        code = 0 if WRONG == "capability" else 126
        return {"code": code, "stderr": "exec capability not granted", "stdout": ""}
    return None


def fledge_line(line, send):
    try:
        message = json.loads(line)
    except ValueError:
        if WRONG == "nonsense":
            sys.exit(1)
        return
    kind = message.get("type") if isinstance(message, dict) else None
    if kind == "output":
        sys.stdout.write(message["text"])
    elif kind == "log":
        print(message["message"], file=sys.stdout if WRONG == "stdout" else sys.stderr)
    elif kind and "id" in message and kind != "response":
        identity = re.search(r'"id":("[^"]*"|[^,}]*)', line).group(1)
        if WRONG == "id":
            identity = compact(message["id"])
        value = compact(fledge_answer(message))
        blank = " " if WRONG == "blanks" else ""
        answer = '{"type":%s"response","id":%s,"value":%s}' % (blank, identity, value)
        for _ in range(2 if WRONG == "twice" else 1):
            send(answer)


def fledge(command, *args):
    top = os.environ["XDG_CONFIG_HOME"] + "/fledge/plugins"
    env = {k: v for k, v in os.environ.items()
           if WRONG == "secrets" or not re.search("TOKEN|PASSWORD|_URL", k)}
    env["FLEDGE_NON_INTERACTIVE"] = "1"
    if WRONG != "directory":
        env["FLEDGE_PLUGIN_DIR"] = top + "/conform"
    argv = ["%s/bin/fledge-%s" % (top, command)] + (list(args) if WRONG == "argv" else [])
    process = start(argv, env)

    def send(line):
        try:
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            pass

    send(fledge_init(top + "/conform", list(args)))
    while WRONG != "deaf":
        line = process.stdout.readline()
        if not line or line == b'{"type":"output","text":"bye\\n"}\n':
            if line:
                sys.stdout.write("bye\n")
            break
        fledge_line(line.decode("utf-8", "replace"), send)
    sys.stdout.flush()
    code = finish(process)
    if code:
        print("error: Plugin 'conform' exited with code %d" % code, file=sys.stderr)
    sys.exit(0 if WRONG == "exit" else 1 if WRONG == "signal" and code > 128 else code)


# ---- tool ------------------------------------------------------------------------


def tool_verdict(process, tool, given):
    def send(value):
        text = value if isinstance(value, str) else compact(value)
        process.stdin.write(text.encode() + b"\n")
        process.stdin.flush()

    def receive():
        return json.loads(process.stdout.readline())

    send(json.dumps({"type": "handshake", "protocol_version": "rterm.plugin.v1"},
                    separators=None if WRONG == "blanks" else (",", ":")))
    manifest = receive()["manifest"]
    if manifest["protocol_version"].strip() != "rterm.plugin.v1" and WRONG != "version":
        return {"ok": False, "code": "protocol_version_mismatch"}
    if manifest["plugin_id"] != "conform.tool" and WRONG != "name":
        return {"ok": False, "code": "handshake_failed"}
    if tool not in manifest["exposed_tools"] and WRONG != "tool":
        return {"ok": False, "code": "tool_not_exposed"}
    identity = "req-1" if WRONG == "id" else "plugin_req_0123456789abcdef"
    context = "" if WRONG == "context" else '"context":{},'
    text = compact(json.loads(given)) if WRONG == "numbers" else given
    send('{"type":"request","request_id":"%s","tool_name":"%s",%s"input":%s}' %
         (identity, tool, context, text))
    response = receive()
    if response["request_id"] != identity and WRONG != "answer":
        return {"ok": False, "code": "malformed_response"}
    if response["status"] == "error":
        return {"ok": False, "code": "execution_error", "error": response["error"]}
    return {"ok": True, "output": response["output"]}


def tool(program, name, given):
    process = start([program], dict(os.environ, LANG="C.UTF-8"))
    verdict = tool_verdict(process, name, given)
    process.kill() if WRONG == "kill" else process.stdin.close()
    code = finish(process)
    if verdict["ok"] and code and WRONG != "exit":
        verdict = {"ok": False, "code": "crashed", "responded": True, "output": verdict["output"]}
    print(compact(verdict))
    sys.exit(0 if verdict["ok"] else 1)


# ---- agent -----------------------------------------------------------------------


def event(kind, **fields):
    print(compact({"event": kind, **fields}), flush=True)


def agent(profile, message):
    program = json.loads(re.search("command: (.*)", open(profile).read()).group(1))
    env = dict(os.environ, AGENT_MESSAGE=message, AGENT_SESSION_ID="", AGENT_FROM_USER="",
               AGENT_STREAMING="1", AGENT_PROTOCOL_VERSION="0.1")
    if WRONG != "name":
        env["AGENT_SESSION_NAME"] = "default"
    process = start([program], env)
    process.stdin.close()
    body, session, error = [], "", None
    for line in process.stdout.read().decode("utf-8", "replace").splitlines():
        text = line.strip() if WRONG == "prefix" else line
        if text.startswith("AGENT_SESSION:"):
            session = text[14:].strip()
        elif text.startswith("AGENT_PARTIAL:"):
            if WRONG != "partial" and not error:
                event("partial", text=json.loads(text[14:]))
        elif text.startswith("AGENT_ERROR:") and WRONG != "error":
            error = error or json.loads(text[12:])
        else:
            body.append(line)
    code = finish(process)
    if error:
        event("error", message=error)
    elif code == 0 or WRONG == "body":
        event("reply", text="\n".join(body).strip() if WRONG == "strip" else "\n".join(body))
    else:
        event("error", message="it failed")
    code = 1 if error else 0 if WRONG == "exit" else code
    event("end", success=code == 0, exit_code=code, session_id=session)
    sys.exit(code)


{"fledge": fledge, "tool": tool, "agent": agent}[sys.argv[1]](*sys.argv[3:])
