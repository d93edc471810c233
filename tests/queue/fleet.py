"""Several hosts for tests: a redis-server of their own with AOF, gateways and workers."""
import atexit
import ctypes
import json
import os
import signal
import socket
import subprocess
import sys

from gateway import (CONFIG, PATIENCE, PERCH, STATE, WORK, Gateway, agent, config, lines_of, run, touch, until,
                     write)

SHARD = "{perch:0}"
CLONE_NEWNET = 0x40000000


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Redis:
    def __init__(self, *words, more=(), env=None, place=None):
        self.more, self.env = more, {**os.environ, **(env or {})}  # addresses; variables
        self.words = words  # everysec may lose what it has answered, if the disk is slow
        self.dir = f"{WORK}/redis"
        if place:
            os.symlink(place, self.dir)
        os.makedirs(self.dir, exist_ok=True)
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}"
        self.secret = self.secret_of(words)
        atexit.register(self.end)
        self.start()

    @staticmethod
    def secret_of(words):
        return ["-a", words[words.index("--requirepass") + 1], "--no-auth-warning"] if "--requirepass" in words else []

    def start(self, *words):
        self.begin(*words)
        until(self.is_there, "redis-server answers")

    def begin(self, *words):
        self.log = open(f"{self.dir}/log", "ab")
        self.process = subprocess.Popen(
            ["redis-server", "--bind", "127.0.0.1", *self.more, "--port", str(self.port), "--dir", self.dir,
             "--appendonly", "yes", "--appendfsync", "always", "--save", "", "--unixsocket",
             f"{self.dir}/socket", *self.words, *words], stdout=self.log, stderr=self.log, env=self.env)

    def is_there(self):
        if self.process.poll() is not None:
            with open(f"{self.dir}/log", encoding="utf-8") as log:
                raise SystemExit("redis-server has ended: " + log.read())
        found = subprocess.run(["redis-cli", "-p", str(self.port), "PING"], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, check=False).stdout
        return b"PONG" in found or b"NOAUTH" in found

    def ask(self, *words):
        found = subprocess.run(["redis-cli", "-p", str(self.port), *self.secret, *words],
                               stdout=subprocess.PIPE, check=True).stdout.decode()
        return found.rstrip("\n")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Worker:
    def __init__(self, url, *words, before=(), **more):
        self.log_path = f"{WORK}/worker.log"
        self.log = open(self.log_path, "ab")
        self.process = subprocess.Popen([*before, PERCH, "worker", "--queue", url, *words],
                                        stderr=self.log, **more)
        atexit.register(self.end)

    @property
    def pid(self):
        return self.process.pid

    def stop(self):
        self.process.terminate()
        assert self.process.wait(PATIENCE) == 0, self.process.returncode

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait()


class Network:
    """A network namespace with one way to this one, that can be cut: what is sent is lost. Root's. This one is the test's own,
    so that no link of it comes and goes where others are: a browser drops what it loads at each."""
    is_apart = False

    @classmethod
    def step_apart(cls):
        if cls.is_apart:
            return
        if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) < 0:
            raise OSError(ctypes.get_errno(), "a network namespace")
        cls.is_apart = True
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)

    def __init__(self):
        self.step_apart()
        number = os.getpid() % 16384
        self.name, self.link = f"perch-{os.getpid()}", f"pc{os.getpid()}"
        net = f"10.213.{number >> 6}.{(number & 63) * 4}"
        base = net.rsplit(".", 1)[0] + "."
        self.here, self.there = (base + str(int(net.rsplit(".", 1)[1]) + i) for i in (1, 2))
        self.before = ["ip", "netns", "exec", self.name]
        atexit.register(self.end)
        for words in (f"netns add {self.name}", f"link add {self.link} type veth peer name way netns {self.name}",
                      f"addr add {self.here}/30 dev {self.link}", f"link set {self.link} up",
                      f"-n {self.name} addr add {self.there}/30 dev way", f"-n {self.name} link set way up",
                      f"-n {self.name} link set lo up"):
            subprocess.run(["ip", *words.split()], check=True, stderr=subprocess.PIPE)

    def set(self, state):
        subprocess.run(["ip", "link", "set", self.link, state], check=True)

    def end(self):
        subprocess.run(["ip", "netns", "del", self.name], check=False, stderr=subprocess.DEVNULL)


def expose(more=""):
    config('[expose.http]\nagents = ["*"]\ntools = ["*"]\nplugins = ["*"]\n'
           '[expose.worker]\nagents = ["*"]\ntools = ["*"]\nplugins = ["*"]\n' + more)


def fleet(count=1, *words):
    """Redis, a gateway that is ready, and workers."""
    redis = Redis()
    return redis, *join(redis, count, *words)


def join(redis, count, *words, shards=1):
    """A gateway that is ready, and workers, on a Redis that is there."""
    more = ("--shards", str(shards)) if shards > 1 else ()
    gate = Gateway("--queue", redis.url, *more)
    until(lambda: gate.get("/readyz").status == 200, "the queue is there")
    return gate, [Worker(redis.url, *more, *words) for _ in range(count)]


def queue(redis, *words):
    """perch queue …, its JSON."""
    found = subprocess.run([PERCH, "queue", *words, "--json", "--queue", redis.url],
                           stdout=subprocess.PIPE, check=True).stdout
    return json.loads(found)


def log_of(worker):
    with open(worker.log_path, encoding="utf-8") as file:
        return file.read()
