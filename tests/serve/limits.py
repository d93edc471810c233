"""Clients that are slow, silent or many: deadlines and limits, each lowered by its setting."""
import fcntl
import resource
import signal
import socket
import struct
import time

from gateway import PATIENCE, WORK, Gateway, agents, config, run, token, until


def limited(**settings):
    """A gateway with these settings under [serve]."""
    config("[serve]\n" + "".join(
        f"{name} = {value if isinstance(value, int) else chr(34) + value + chr(34)}\n"
        for name, value in settings.items()))
    return Gateway()


def connect(gate):
    return socket.create_connection(("127.0.0.1", gate.port), timeout=PATIENCE)


def everything(connection):
    """What comes until the connection is closed."""
    found = b""
    try:
        while piece := connection.recv(65536):
            found += piece
    except ConnectionResetError:
        pass
    return found


def trickle(connection, piece):
    """Sends it again and again, until there is an answer."""
    connection.settimeout(0.2)
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            return connection.recv(65536)
        except socket.timeout:
            try:
                connection.sendall(piece)
            except (BrokenPipeError, ConnectionResetError):
                return b""
    raise SystemExit("it is waited for without an end")


def test_head():
    """A head that never ends is not waited for, and holds nobody up; a silent client neither."""
    gate = limited(head_timeout="1s")
    with connect(gate) as slow, connect(gate) as silent:
        slow.sendall(b"GET /healthz HTTP/1.1\r\nHost: loc")
        assert gate.get("/healthz", token=None).status == 200
        assert trickle(slow, b"a").startswith(b"HTTP/1.1 408"), "slow-loris"
        assert everything(silent) == b""
    gate.stop()


def post(gate, length):
    connection = connect(gate)
    connection.sendall(f"POST /api/turns HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                       f"{gate.token}\r\nContent-Length: {length}\r\n\r\n".encode())
    return connection


def test_body():
    """A body has a time, even one that comes fast enough."""
    gate = limited(body_timeout="2s", body_floor=0)
    with post(gate, 1000000) as slow:
        assert trickle(slow, b"a").startswith(b"HTTP/1.1 408")
    with post(gate, 2) as fast:
        fast.sendall(b"{}")
        assert fast.recv(100).startswith(b"HTTP/1.1 400")
    gate.stop()


def test_floor():
    """A body that comes slower than the floor is refused long before its time."""
    gate = limited(body_timeout="10m", body_floor=100000)
    with post(gate, 1000000) as slow:
        assert trickle(slow, b"a" * 100).startswith(b"HTTP/1.1 408")
    gate.stop()


def test_idle():
    """A connection that is kept alive is closed when no request comes."""
    gate = limited(idle_timeout="1s")
    with connect(gate) as kept:
        kept.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert everything(kept).endswith(b"ok\n")
    gate.stop()


def test_reread():
    """SIGHUP changes the time that a connection has, also of those that are there."""
    gate = limited(idle_timeout="1h")
    with connect(gate) as kept:
        kept.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert kept.recv(1000).endswith(b"ok\n")
        config('[serve]\nidle_timeout = "1s"\n')
        gate.process.send_signal(signal.SIGHUP)
        assert everything(kept) == b""
    gate.stop()


def metric(gate, name):
    text = gate.get("/metrics").body.decode()
    return int(text.split(f"\n{name} ")[1].split("\n")[0])


def connections(gate):
    return metric(gate, "perch_connections")


def test_writer():
    """A client that does not read what it has asked for."""
    gate = limited(write_timeout="1s")
    request = (f"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {gate.token}"
               "\r\n\r\n").encode()
    with connect(gate) as deaf:
        deaf.setblocking(False)
        sent = 0
        try:
            while True:
                sent += deaf.send(request * 100)
        except BlockingIOError:
            pass
        assert sent > 100000, sent
        until(lambda: connections(gate) == 1, "it is cut off")
    gate.stop()


def test_together():
    """All connections together hold so much: who has held something for the longest time is cut."""
    gate = limited(buffers_max=1024 * 1024)
    piece = 700000
    with post(gate, 2 * piece) as first, post(gate, piece) as second:
        first.sendall(b" " * piece)
        until(lambda: metric(gate, "perch_received_bytes_total") > piece, "it is read")
        second.sendall(b" " * (piece - 2) + b"{}")
        assert everything(first) == b"", "it is cut"
        assert second.recv(100).startswith(b"HTTP/1.1 400"), "it is read"
    assert metric(gate, "perch_cut_total") == 1
    gate.stop()


def test_strange_bodies():
    """Without a token a body is as long as signing in needs, whatever is asked for."""
    gate = limited()
    for method, path in (("POST", "/api/login"), ("GET", "/healthz")):
        with connect(gate) as stranger:
            stranger.sendall(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n"
                             "Content-Length: 100000\r\n\r\n".encode() + b"a" * 5000)
            assert everything(stranger).startswith(b"HTTP/1.1 413")
    gate.stop()


def test_descriptors():
    """Connections leave the descriptors that jobs need."""
    agents()
    gate = Gateway(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200)))
    kept = gate.connect()
    assert gate.get("/api/jobs", connection=kept).status == 200
    others = [connect(gate) for _ in range(300)]
    answer = gate.post("/v1/chat/completions", connection=kept, body={
        "model": "echo", "messages": [{"role": "user", "content": "hi"}]})
    assert answer.status == 200, answer.body
    for one in others:
        one.close()
    gate.stop()
    with open(f"{WORK}/serve.log", encoding="utf-8") as log:
        assert "it takes 100 connections at most" in log.read()


def test_connections():
    """One more than may be waits until another goes."""
    gate = limited(connections=3)
    request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    held = [connect(gate) for _ in range(3)]
    for one in held:
        one.sendall(request)
        assert one.recv(1000).endswith(b"ok\n")
    with connect(gate) as fourth:
        fourth.sendall(request)
        fourth.settimeout(0.5)
        try:
            assert not fourth.recv(1000), "it was served"
        except socket.timeout:
            pass
        held.pop().close()
        fourth.settimeout(PATIENCE)
        assert fourth.recv(1000).endswith(b"ok\n")
    for one in held:
        one.close()
    gate.stop()


def own_address(address):
    """Gives it to the loopback of this network namespace, which is ours alone."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for name, request, value in ((b"lo", 0x8914, struct.pack("H", 0x49)),  # SIOCSIFFLAGS: up
                                     (b"lo:1", 0x8916, struct.pack(  # SIOCSIFADDR
                                         "HH4s8x", socket.AF_INET, 0, socket.inet_aton(address)))):
            fcntl.ioctl(control, request, struct.pack("16s24s", name, value))


def test_strangers():
    """Of one address that has shown no token, so many; of this machine, any number."""
    own_address("192.0.2.1")
    config("[serve]\nconnections_unknown = 4\nallowed_hosts = [\"192.0.2.1\"]\n")
    gate = Gateway("--listen", "0.0.0.0:0")

    def knock():
        return socket.create_connection(("192.0.2.1", gate.port), timeout=PATIENCE,
                                        source_address=("192.0.2.1", 0))

    def asks(connection, token=None):
        token = f"Authorization: Bearer {token}\r\n" if token else ""
        connection.sendall(f"GET /healthz HTTP/1.1\r\nHost: 192.0.2.1\r\n{token}\r\n".encode())
        try:
            return connection.recv(1000)
        except ConnectionResetError:
            return b""

    strangers = [knock() for _ in range(4)]
    assert all(asks(one).endswith(b"ok\n") for one in strangers)
    assert asks(knock()) == b"", "a fifth"
    assert asks(strangers[0], gate.token).endswith(b"ok\n")  # no stranger any more
    another = knock()
    assert asks(another).endswith(b"ok\n")
    assert asks(knock()) == b"", "a fifth again"
    token("guest")
    gate.stop()
    gate = Gateway("--listen", "0.0.0.0:0", "--anonymous", "guest", token_name=None)
    for address, status in (("192.0.2.1", b"401"), ("127.0.0.1", b"200")):
        with socket.create_connection((address, gate.port), timeout=PATIENCE) as one:
            one.sendall(f"GET /api/jobs HTTP/1.1\r\nHost: {address}\r\n\r\n".encode())
            assert one.recv(1000).split()[1] == status, address
    at_home = [connect(gate) for _ in range(8)]
    for one in at_home:
        one.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert one.recv(1000).endswith(b"ok\n")
    gate.stop()


run(globals())
