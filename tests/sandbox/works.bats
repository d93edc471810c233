#!/usr/bin/env bats
# What people run works in the default policy, in a room and without one.
# shellcheck disable=SC2154,SC2317 # what sandbox_open sets; functions for `twice`

load sandbox.bash

setup() { sandbox_open; }

@test "a shell with pipelines, here documents and substitutions" {
    check() {
        # shellcheck disable=SC2016 # for the inner shell
        confined bash -c '
            set -euo pipefail
            printf "%s\n" b a c | sort | tee sorted | head -n 1
            cat <<END
here
END
            cat <(echo substituted) | tr a-z A-Z >upper
            test "$(cat upper)" = SUBSTITUTED
            for i in 1 2 3; do echo "$i" & done | sort | xargs
            echo to stdout >/dev/stdout
            echo to nobody >/dev/null
            mkdir -p a/b && mv sorted a/b/ && cp -p a/b/sorted again && ln -s again link
            rm -r a link again upper
        '
    }
    twice check
}

@test "git: init, commit, branch, log, clone" {
    needs git
    check() {
        rm -rf repository clone
        confined sh -ec '
            git init -q repository && cd repository
            git config user.name n && git config user.email e@example.org
            echo one >file && git add file && git commit -qm one
            git checkout -qb branch && echo two >>file && git commit -qam two
            git log --oneline | wc -l && git gc -q && git status --short
            cd .. && git clone -q repository clone && test -f clone/file'
    }
    twice check
}

@test "git: a commit in a project whose hooks and config are protected" {
    needs git
    git init -q . && git config user.name n && git config user.email e@example.org
    check() {
        confined sh -ec 'date +%N >file && git add file && git commit -qm change && git log -1 --format=%s'
    }
    twice check
}

@test "python3 and its standard library" {
    needs python3
    cat >script.py <<'END'
import concurrent.futures, ctypes, hashlib, json, os, sqlite3, ssl, subprocess, tempfile, threading
with tempfile.TemporaryDirectory() as directory:
    with open(os.path.join(directory, "file"), "w") as file:
        file.write("text")
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"x")
database = sqlite3.connect("python.db")
database.execute("create table if not exists t (n)")
database.commit()
assert subprocess.run(["cat"], input=b"piped", capture_output=True).stdout == b"piped"
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    assert sum(pool.map(lambda n: n * n, range(10))) == 285
os.makedirs("made/deep", exist_ok=True)
os.chmod("made", 0o755)
os.utime("made")
os.replace("python.db", "made/python.db")
print(json.dumps({"sha": hashlib.sha256(b"x").hexdigest()[:4], "tls": bool(ssl.OPENSSL_VERSION)}))
END
    check() {
        [ "$(confined python3 script.py)" = '{"sha": "2d71", "tls": true}' ]
    }
    twice check
}

@test "python3: processes and locks, in a room" {
    needs python3
    has_rooms || skip "no rooms here"
    confined python3 -c '
import multiprocessing
if __name__ == "__main__":
    lock = multiprocessing.Lock()
    with lock, multiprocessing.Pool(2) as pool:
        assert pool.map(abs, [-1, 2]) == [1, 2]'
}

@test "node: files, processes, workers" {
    needs node
    cat >script.js <<'END'
const fs = require('fs'), os = require('os'), path = require('path');
const { execFileSync } = require('child_process');
const { Worker } = require('worker_threads');
fs.mkdirSync('made', { recursive: true });
fs.writeFileSync('made/file', 'text');
fs.writeFileSync(path.join(os.tmpdir(), 'file'), 'text');
fs.renameSync('made/file', 'moved');
if (execFileSync('cat', { input: 'piped' }).toString() !== 'piped') process.exit(1);
new Worker('require("worker_threads").parentPort.postMessage(42)', { eval: true })
  .on('message', (n) => console.log(n));
END
    check() {
        [ "$(confined node script.js)" = 42 ]
    }
    twice check
}

@test "npm: installs a local package into the project" {
    needs npm
    mkdir package && cd package
    echo '{"name":"local","version":"1.0.0","main":"index.js"}' >package.json
    echo 'module.exports = "installed"' >index.js
    cd ..
    check() {
        rm -rf node_modules package-lock.json
        echo '{"name":"app","version":"1.0.0"}' >package.json
        confined sh -ec 'npm pack --silent ./package && npm install --silent --offline --no-audit \
            --no-fund ./local-1.0.0.tgz'
        [ "$(confined node -e 'console.log(require("local"))')" = installed ]
    }
    twice check
}

@test "jq" {
    needs jq
    check() {
        [ "$(echo '{"a":[1,2]}' | confined jq -c '.a | map(. + 1)')" = '[2,3]' ]
    }
    twice check
}

@test "sqlite3: with a journal, with WAL" {
    needs sqlite3
    check() {
        rm -f data.db*
        [ "$(confined sqlite3 data.db 'pragma journal_mode=wal; create table t(n);
            insert into t values (1),(2); select sum(n) from t;' | tail -n 1)" = 3 ]
    }
    twice check
}

@test "make with gcc" {
    needs make
    needs gcc
    printf '#include <stdio.h>\nint main(void) { puts("compiled"); }\n' >main.c
    printf 'main: main.o\n\tgcc -o $@ $^\nmain.o: main.c\n\tgcc -c $^\n' >Makefile
    check() {
        rm -f main main.o
        confined make -s
        [ "$(confined ./main)" = compiled ]
    }
    twice check
}

@test "names and connections, with a network" {
    needs python3
    cat >server.py <<'END'
import http.server, sys
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
print(server.server_port, flush=True)
server.serve_forever()
END
    cat >client.py <<'END'
import socket, sys, urllib.request
assert socket.getaddrinfo("localhost", 80, type=socket.SOCK_STREAM)
body = urllib.request.urlopen("http://localhost:%s/server.py" % sys.argv[1], timeout=20).read()
datagram = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagram.sendto(b"x", ("127.0.0.1", int(sys.argv[1])))
print(len(body) > 10)
END
    python3 server.py >port 2>/dev/null 3>&- &
    until [ -s port ]; do sleep 0.05; done
    check() {
        [ "$(confined python3 client.py "$(cat port)")" = True ]
    }
    twice check
    kill %1
}

@test "a name server is asked over UDP" {
    needs python3
    cat >dns.py <<'END'
import socket, struct, threading
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 0))
def answer():
    question, peer = server.recvfrom(512)
    server.sendto(question[:2] + b"\x81\x80" + question[4:], peer)
threading.Thread(target=answer).start()
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
client.settimeout(20)
client.sendto(struct.pack(">HHHHHH", 7, 0x100, 1, 0, 0, 0) + b"\4test\0\0\1\0\1", server.getsockname())
print(client.recv(512)[:4].hex())
END
    check() {
        [ "$(confined python3 dns.py)" = 00078180 ]
    }
    twice check
}

@test "a tool works in its own directory, and keeps nothing" {
    check() {
        # shellcheck disable=SC2016 # for the inner shell
        run "$perch" sandbox run --policy tool -- sh -ec '
            test "$(pwd)" = "$TMPDIR" && mkdir a && echo text >a/file && mv a/file b && cat b
            ! cat "$HOME/.ssh/id" 2>/dev/null | grep .'
        [ "$status" = 0 ]
        [ "$output" = text ]
    }
    twice check
    [ -z "$(find "$BATS_TEST_TMPDIR" "$TMPDIR" -name b)" ]
}

@test "python3, node, jq and sqlite3 as tools" {
    needs python3
    needs node
    check() {
        for program in 'jq -n 1' 'sqlite3 :memory: select+1' 'node -p 1'; do
            # shellcheck disable=SC2086 # words
            [ "$("$perch" sandbox run --policy tool -- $program)" = 1 ]
        done
    }
    twice check
}
