#!/usr/bin/env python3
"""An HTTP proxy for tests, until its stdin ends: proxy.py LOG. It prints its port; LOG gets the first line of each
request. CONNECT is passed on to where it is for; anything else is refused, because it could be read here."""
import os
import socket
import sys
import threading


def copy(source, sink):
    try:
        while piece := source.recv(65536):
            sink.sendall(piece)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def serve(client):
    head = b""
    while b"\r\n\r\n" not in head:
        piece = client.recv(65536)
        if not piece:
            return
        head += piece
    line = head.split(b"\r\n")[0].decode()
    with open(sys.argv[1], "a", encoding="utf-8") as log:
        log.write(line + "\n")
    method, target, _ = line.split()
    if method != "CONNECT":
        client.sendall(b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n")
        return
    host, port = target.rsplit(":", 1)
    server = socket.create_connection((host, int(port)))
    client.sendall(b"HTTP/1.1 200 Yes\r\n\r\n")
    threading.Thread(target=copy, args=(server, client), daemon=True).start()
    copy(client, server)


def listen(door):
    while True:
        client, _ = door.accept()
        threading.Thread(target=serve, args=(client,), daemon=True).start()


entrance = socket.create_server(("127.0.0.1", 0))
print(entrance.getsockname()[1], flush=True)
threading.Thread(target=listen, args=(entrance,), daemon=True).start()
sys.stdin.read()
os._exit(0)
