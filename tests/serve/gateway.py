"""A gateway for tests: `perch serve` on a free port, agents of a few lines, requests as bytes or by
http.client. A test is a function `test_…` of a file that imports this; `run(globals())` runs the one
that the command line names."""
import atexit
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

PERCH = os.environ["PERCH"]
WORK = os.environ["WORK"]
CONFIG = os.environ["XDG_CONFIG_HOME"] + "/perch"
STATE = os.environ["XDG_STATE_HOME"] + "/perch"
PATIENCE = 60


def until(condition, what="something"):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise SystemExit(f"never happened: {what}")


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def config(text):
    write(f"{CONFIG}/config.toml", text)


def agent(name, script, more=""):
    """An agent that is a shell script; $WORK is the test's directory."""
    write(f"{WORK}/{name}.sh", "#!/bin/sh\nWORK='" + WORK + "'\n" + script, 0o755)
    write(f"{CONFIG}/agents/{name}.yaml",
          f"command: {WORK}/{name}.sh\nsandbox: false\n{more}")


def agents():
    config('[expose.http]\nagents = ["*"]\n')
    agent("echo", 'echo \'AGENT_PARTIAL:"partly "\'\n'
                  'printf \'said %s from %s in %s\\n\' "$AGENT_MESSAGE" "$AGENT_FROM_USER" '
                  '"$AGENT_SESSION_NAME"\n')
    agent("fail", 'echo x >>"$WORK/runs"\necho "it is broken" >&2\nexit 3\n')
    agent("slow", 'echo x >>"$WORK/started"\necho \'AGENT_PARTIAL:"begun"\'\n'
                  'while [ ! -e "$WORK/go" ]; do sleep 0.05; done\necho done\n')


def token(name, *words):
    return subprocess.run([PERCH, "token", "create", name, *words], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout.decode().strip()


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    def is_error(self, status, code):
        assert self.status == status, (self.status, self.body)
        assert self.json["error"]["code"] == code, self.body
        return self


class Stream:
    """Events of a text/event-stream, as they come."""

    def __init__(self, response, connection):
        self.response, self.connection = response, connection

    def __iter__(self):
        number, lines = None, []
        while True:
            line = self.response.readline().decode()
            if not line:
                return
            line = line.rstrip("\n")
            if line.startswith("id: "):
                number = int(line[4:]) if line[4:].isdigit() else line[4:]
            elif line.startswith("data: "):
                lines.append(line[6:])
            elif not line and lines:
                text = "\n".join(lines)
                lines = []
                if text:
                    yield number, (json.loads(text) if text != "[DONE]" else text)

    def close(self):
        self.response.close()
        self.connection.close()


class Gateway:
    def __init__(self, *words, token_name="me", **more):
        self.words, self.more = words, more
        self.token = token(token_name, "--role", "admin") if token_name else None
        self.start()

    def start(self, *words, **more):
        self.log = open(f"{WORK}/serve.log", "ab")
        at = self.log.tell()
        self.process = subprocess.Popen(
            [PERCH, "serve", "--listen", "127.0.0.1:0", *self.words, *words],
            stderr=self.log, **{**self.more, **more})
        atexit.register(self.end)
        self.port = int(until(lambda: self.find_port(at), "perch serve listens"))

    def find_port(self, at):
        with open(f"{WORK}/serve.log", "rb") as log:
            log.seek(at)
            text = log.read().decode()
        if self.process.poll() is not None:
            raise SystemExit("perch serve has ended: " + text)
        found = re.search(r"serves at http://[^ \"]*:(\d+)", text)
        return found and found.group(1)

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def ask(self, method, path, body=None, token="", headers=None, connection=None):
        used = connection or self.connect()
        sent = dict(headers or {})
        if token is not None:
            sent.setdefault("Authorization", "Bearer " + (token or self.token))
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        used.request(method, path, body, sent)
        response = used.getresponse()
        answer = Answer(response.status, response.headers, response.read())
        if not connection:
            used.close()
        return answer

    def get(self, path, **more):
        return self.ask("GET", path, **more)

    def post(self, path, body, **more):
        return self.ask("POST", path, body, **more)

    def stream(self, method, path, body=None, token="", headers=None):
        connection = self.connect()
        sent = {"Accept": "text/event-stream",
                "Authorization": "Bearer " + (token or self.token), **(headers or {})}
        connection.request(method, path, json.dumps(body) if body is not None else None, sent)
        response = connection.getresponse()
        assert response.status == 200, (response.status, response.read())
        return Stream(response, connection)

    def raw(self, data, half_close=False):
        """What comes back for these bytes, up to the end of the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            connection.sendall(data)
            if half_close:
                connection.shutdown(socket.SHUT_WR)
            found = b""
            while True:
                try:
                    piece = connection.recv(65536)
                except ConnectionResetError:
                    return found
                if not piece:
                    return found
                found += piece

    def turn(self, **members):
        answer = self.post("/api/turns", {"agent": "echo", "message": "hi", **members})
        assert answer.status == 202, (answer.status, answer.body)
        return answer.json["id"]

    def job(self, number, **more):
        return self.get(f"/api/jobs/{number}", **more).json

    def ended(self, number):
        def over():
            job = self.job(number)
            return job["state"] not in ("waiting", "running") and job
        return until(over, f"{number} ends")

    def question(self, number, before=0):
        """The open question of a job that is not this one."""
        def asked():
            job = self.job(number)
            assert job["state"] in ("waiting", "running"), job
            return [ask for ask in job["questions"] if ask["ask"] > before]
        return until(asked, f"{number} asks")[0]

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        if self.process.poll() is None:
            self.kill()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(PATIENCE)
        self.log.close()
        assert status >= 0, f"perch serve died of signal {-status}"
        return status


class TerminalGateway(Gateway):
    """One that is started on a terminal, without tokens: it shows one of its own, and a link."""

    def __init__(self):
        super().__init__(token_name=None)

    def start(self):
        self.log, theirs = os.openpty()
        self.process = subprocess.Popen([PERCH, "serve", "--listen", "127.0.0.1:0"], stderr=theirs)
        atexit.register(self.end)
        os.close(theirs)
        text = b""
        while b"#once=" not in text or not text.endswith(b"\n"):
            text += os.read(self.log, 4096)
        found = re.search(r"http://127.0.0.1:(\d+)/#once=(\S+)", text.decode())
        self.port, self.once = int(found.group(1)), found.group(2)
        self.token = re.search(r"^ +(perch_\S+)", text.decode(), re.M).group(1)
        self.own = {"Origin": f"http://localhost:{self.port}", "Host": f"localhost:{self.port}"}

    def sign_in(self, **by):
        """The fields of a browser that is signed in by a token, or by the link: once."""
        answer = self.post("/api/login", by, token=None, headers=self.own)
        assert answer.status == 200, answer.body
        return {**self.own, "Cookie": answer.headers["Set-Cookie"].split(";")[0]}

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(PATIENCE)
        os.close(self.log)
        return status


def lines_of(name):
    try:
        with open(f"{WORK}/{name}", encoding="utf-8") as file:
            return len(file.readlines())
    except FileNotFoundError:
        return 0


def touch(name):
    open(f"{WORK}/{name}", "w", encoding="utf-8").close()


def run(names):
    names["test_" + sys.argv[1]]()
