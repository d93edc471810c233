#!/usr/bin/env bats
# Remote MCP servers, by perch-remote: bound, called, in both eras; those that misbehave have their verdict;
# and nobody is left.

# shellcheck disable=SC2030,SC2031,SC2154 # each test has a shell of its own; what tool_open and perch_tool set
load tools
load ../foreign/foreign

setup() {
    tool_open
    log="$WORK/log" secrets="$XDG_CONFIG_HOME/perch/secrets"
    : >"$log"
}

teardown() {
    exec 8>&-
    [ -z "${far-}" ] || wait "$far" || true
    tool_close
}

# far COMMAND…: a server over HTTP that says its port; it lives as long as descriptor 8.
far() {
    mkfifo "$WORK/hold"
    env -u TEST_MARK "$@" <"$WORK/hold" >"$WORK/port" 2>"$WORK/far.err" 3>&- &
    far=$!
    exec 8>"$WORK/hold"
    wait_until test -s "$WORK/port"
    url="http://127.0.0.1:$(cat "$WORK/port")"
}

bent() { far "$python" "$PERCH_SOURCE/tests/tool/remote_server.py" "$log" "$@"; }

# bind PATH [OPTION…]: as `srv`.
bind() { perch_tool add --mcp srv --env TEST_MARK "${@:2}" -- "$url$1"; }

# written PATH [SECONDS]: the binding as an operator writes it, with the time that a server has.
written() {
    local path=$1
    shift
    cat >"$bindings/srv.toml" <<END
name = "srv"
protocol = "mcp"
[timeouts]
invocation = ${1:-60}
handshake = ${1:-30}
[sandbox]
net = "full"
env = ["TEST_MARK"]
[mcp]
url = "$url$path"
era = "legacy"
[[tools]]
name = "say"
pin = "$pin"
END
}

# The pin of the tool, which no mode changes.
learn_pin() {
    perch_tool add --mcp other --env TEST_MARK --yes -- "$url/none/none"
    expect_status 0
    pin=$(sed -n '/name = "say"/,$s/^pin = "\(.*\)"/\1/p' "$bindings/other.toml")
}

asked() { grep -c "^$1" "$log"; }

@test "nobody is there: the host is shown, and nothing is sent to it" {
    bent
    printf 'X-Key=k3y\n' >"$WORK/keys"
    chmod 600 "$WORK/keys"
    perch_tool add "$url/none/none" --secrets "$WORK/keys"
    expect_status 64
    has "$errors" "host         127.0.0.1"
    has "$errors" "connects to  $url/none/none"
    has "$errors" "headers      X-Key"
    lacks "$errors" k3y
    has "$errors" "network      full"
    [ ! -s "$log" ]
    perch_alone tool list
    lacks "$output" 127-0-0-1
}

@test "addresses that are none, or not safe" {
    local address words
    while read -r address words; do
        perch_tool add --mcp srv --yes -- "$address"
        expect_status 64
        has "$address: $errors" "$words"
        [ ! -e "$bindings/srv.toml" ]
    done <<'END'
http://example.org/mcp write https://
http://127.evil.example/ write https://
http://10.0.0.1/ write https://
https://me:secret@example.org/mcp no name or password
https://example.org/mcp#x no '#'
https:///mcp is no host
https://example.org:99999/ is no host
https://[::1/ is no host
https://exa$mple/ is no host
END
    perch_tool add https://example.org/mcp --no-net --yes
    expect_status 64
    has "$errors" "not --no-net"
    perch_tool add --mcp srv --token x --yes -- /bin/true
    expect_status 64
    has "$errors" "--token is for remote servers"
}

@test "a session: bound, called, ended; a token from a file; the binding has no secret" {
    bent
    printf 's3cret\n' >"$WORK/token"
    chmod 640 "$WORK/token"
    perch_tool add "$url/open/token" --name srv --env TEST_MARK --yes --token "$WORK/token"
    [ "$status" != 0 ]
    has "$errors" "chmod 600"
    perch_tool add "$url/open/token" --name srv --env TEST_MARK --yes
    expect_status 3
    has "$errors" "HTTP 401 Unauthorized: it wants a token, which --token FILE gives it"
    chmod 600 "$WORK/token"
    : >"$log"
    perch_tool add "$url/open/token" --name srv --env TEST_MARK --yes --token "$WORK/token"
    expect_status 0
    has "$output" "bound srv: 1 tool"
    lacks "$(cat "$bindings/srv.toml")" s3cret
    grep -q "^url = \"$url/open/token\"" "$bindings/srv.toml"
    perch_tool call srv say --input '{"text":"over the wire"}'
    expect '"over the wire"'
    [ "$(asked 'POST tools/call {"Authorization": "Bearer s3cret", "MCP-Protocol-Version": "2025-11-25", "Mcp-Session-Id"')" = 1 ]
    [ "$(asked DELETE)" = 2 ]
    [ "$(asked GET)" = 2 ]
    perch_tool show srv
    has "$output" "url           $url/open/token"
    perch_tool list
    has "$output" "$url/open/token"
}

@test "another address in the binding is not what was approved" {
    bent
    bind /none/none --yes
    expect_status 0
    sed -i "s|^url = .*|url = \"$url/call/sse\"|" "$bindings/srv.toml"
    : >"$log"
    perch_tool call srv say
    [ "$status" != 0 ]
    has "$errors" "perch tool allow srv --binding"
    [ ! -s "$log" ]
}

@test "the modern era: headers of each request, a stream that is closed cancels" {
    bent
    bind /none/modern --yes
    expect_status 0
    grep -q 'era = "modern"' "$bindings/srv.toml"
    perch_tool call srv say --input '{"text":"hello"}'
    expect '"hello"'
    lacks "$(cat "$log")" Mcp-Session-Id
    lacks "$(cat "$log")" DELETE
    perch_tool call srv say --input '{"text":"wait"}' --timeout 1
    expect_status 4
    wait_until grep -q '^closed' "$log"
    [ "$(asked 'POST notifications/cancelled')" = 0 ]
}

@test "the modern era: arguments that a tool wants as headers, too; a wish against the rules" {
    bent
    bind /none/modern --yes
    expect_status 0
    has "$output" "bound srv: 2 tools"
    lacks "$(cat "$bindings/srv.toml")" unruly
    perch_tool call srv mark --input '{"text":"ä b","deep":{"n":42}}'
    expect '"\u00e4 b"'
    grep -q '"Mcp-Param-N": "42"' "$log"
    grep -q '"Mcp-Param-Text": "=?base64?' "$log"
}

@test "those that cannot be bound" {
    bent
    ulimit -S -v 400000 # what a server says must not fill perch's memory
    local mode code words
    while read -r mode code words; do
        bind "/open/$mode" --yes
        [ "$status" = "$code" ] || { echo "$mode: $status: $errors" && false; }
        has "$mode: $errors" "$words"
        [ ! -e "$bindings/srv.toml" ]
        wait_until nothing_left
    done <<'END'
wrong-type 3 it answers with 'text/html'
no-type 3 does not answer it
accepted 3 does not answer it
oauth 3 OAuth, which it may offer, is no part of perch
forbidden 3 HTTP 403 Forbidden
not-found 3 perhaps it speaks HTTP+SSE alone
busy 3 HTTP 429
broken 3 HTTP 500
error 3 not like that
redirect 3 it sends us to 'http://169.254.169.254/latest', where perch does not go
garbage 3 no answer to the request
no-message 3 no answer to the request
wrong-id 3 no answer to the request
wrong-id-sse 3 ended the stream without an answer
huge 3 more than 8388608 bytes
huge-refusal 3 HTTP 500
endless-event 3 more than 8388608 bytes
endless-data 3 more than 8388608 bytes
endless-head 3 the head of the answer has no end
no-http 3 HTTP/0.9
closes 3 Empty reply
closes-body 3 closed with
closes-stream 3 without an answer
END
}

@test "those that are bound, and what their calls come to" {
    bent
    learn_pin
    local mode code words
    while read -r mode code words; do
        written "/call/$mode"
        perch_tool call srv say
        [ "$status" = "$code" ] || { echo "$mode: $status: $errors" && false; }
        has "$mode: $output$errors" "$words"
        wait_until nothing_left
    done <<'END'
sse 0 hello
pretty 0 hello
crlf 0 hello
twice 0 hello
stays 0 hello
asks 0 hello
resume 0 hello
forgets 0 hello
hang-delete 0 hello
flood 0 hello
unauthorized 1 it wants a token
wrong-type 1 text/html
forgets-always 1 has forgotten the session
resume-never 1 without an answer
END
}

@test "servers that do not answer, at each stage, and one that is not there" {
    bent
    learn_pin
    local mode
    for mode in hang-body drip; do
        written "/call/$mode" 1.5
        perch_tool call srv say
        expect_status 4
        wait_until nothing_left
    done
    for mode in hang hang-head hang-stream; do
        written "/open/$mode" 1
        perch_tool call srv say
        expect_status 4
        has "$errors" "was not ready in time"
        wait_until nothing_left
    done
    exec 8>&-
    wait "$far" || true
    far=''
    written /none/none
    perch_tool call srv say
    expect_status 3
    has "$errors" "Failed to connect to 127.0.0.1"
}

@test "its own stream tells of changes; perch that is killed leaves nobody" {
    bent
    bind /none/listen --yes
    expect_status 0
    : >"$log"
    mkfifo "$WORK/in"
    "$perch" mcp --config "$XDG_CONFIG_HOME" <"$WORK/in" >"$WORK/out" 2>"$WORK/err" 3>&- &
    host=$!
    exec 7>"$WORK/in"
    echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' >&7
    echo '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"srv_say","arguments":{}}}' >&7
    wait_until grep -q '"id":2' "$WORK/out"
    wait_until grep -q '^GET' "$log"
    kill -KILL "$host"
    wait "$host" || true
    exec 7>&-
    wait_until nothing_left
}

# certificate: of localhost, which nobody has signed.
certificate() {
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -keyout "$WORK/key.pem" -out "$WORK/cert.pem" \
        -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 2>"$WORK/openssl.err"
}

@test "certificates are checked; a private one is trusted where that is granted" {
    certificate
    bent "$WORK/cert.pem" "$WORK/key.pem"
    url="https://localhost:$(cat "$WORK/port")"
    bind /none/none --yes
    expect_status 3
    has "$errors" "SSL certificate problem"
    export SSL_CERT_FILE="$WORK/cert.pem"
    bind /none/none --yes --env SSL_CERT_FILE --read "$WORK/cert.pem"
    expect_status 0
    perch_tool call srv say
    expect '"hello"'
}

# proxy: one that passes on what it is asked for, and notes each request in $WORK/proxied; its port in $proxy.
proxy() {
    mkfifo "$WORK/proxy-hold"
    env -u TEST_MARK "$python" "$PERCH_SOURCE/tests/tool/proxy.py" "$WORK/proxied" <"$WORK/proxy-hold" >"$WORK/proxy-port" 3>&- 8>&- &
    exec 9>"$WORK/proxy-hold"
    wait_until test -s "$WORK/proxy-port"
    proxy="http://127.0.0.1:$(cat "$WORK/proxy-port")"
    : >"$WORK/proxied"
}

@test "a proxy: a tunnel where it is granted, not for hosts of no_proxy, and never for this machine without TLS" {
    certificate
    bent "$WORK/cert.pem" "$WORK/key.pem"
    url="https://localhost:$(cat "$WORK/port")"
    proxy
    export SSL_CERT_FILE="$WORK/cert.pem" https_proxy="$proxy" http_proxy="$proxy" all_proxy="$proxy" ALL_PROXY="$proxy"
    local trusts=(--yes --replace --env SSL_CERT_FILE --read "$WORK/cert.pem")
    bind /none/none "${trusts[@]}"
    expect_status 0
    [ ! -s "$WORK/proxied" ] # it was not granted
    bind /none/none "${trusts[@]}" --env https_proxy
    expect_status 0
    grep -q "^CONNECT localhost:" "$WORK/proxied"
    lacks "$(cat "$WORK/proxied")" POST
    : >"$WORK/proxied"
    no_proxy=localhost bind /none/none "${trusts[@]}" --env https_proxy --env no_proxy
    expect_status 0
    [ ! -s "$WORK/proxied" ]
    exec 8>&-
    wait "$far" || true
    rm "$WORK/hold" "$WORK/port"
    bent
    PERCH_HEADER_Authorization='Bearer s3cret' perch_alone mcp list -- "$url/none/none"
    expect_status 0
    [ ! -s "$WORK/proxied" ]
    exec 9>&-
}

@test "a connection that does not come about has its time" {
    local remote="$PERCH_BUILD/perch-remote"
    [ -x "$remote" ] || remote=$(find "$PERCH_BUILD" -name perch-remote -type f | head -n 1)
    for word in 0 -1 x 4000 ''; do
        keep "$remote" --connect-timeout "$word" http://127.0.0.1:1/ </dev/null
        expect_status 64
    done
    # A socket whose queue is full takes no connection, and refuses none.
    keep "$python" - "$remote" <<'END'
import socket, subprocess, sys
door = socket.create_server(("127.0.0.1", 0), backlog=0)
inside = []
for _ in range(4):
    guest = socket.socket()
    guest.setblocking(False)
    guest.connect_ex(door.getsockname())
    inside.append(guest)
run = subprocess.Popen([sys.argv[1], "--connect-timeout", "1", f"http://127.0.0.1:{door.getsockname()[1]}/"],
                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
run.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n')
run.stdin.flush()
print(run.stdout.readline().decode())
run.stdin.close()
run.wait()
END
    expect_status 0
    has "$output" '"id":1,"error"'
    has "$output" "Timeout was reached"
}

@test "perch mcp tries a remote server, too" {
    bent
    perch_alone mcp list -- "$url/none/none"
    expect_status 0
    has "$output" "say"
    PERCH_HEADER_Authorization='Bearer s3cret' perch_alone mcp call say text=hi -- "$url/open/token"
    expect hi
    perch_alone mcp call say -- "$url/open/token"
    expect_status 125
    has "$errors" "HTTP 401"
    perch_alone mcp list -- http://example.org/
    expect_status 64
    has "$errors" "write https://"
}

@test "pins: a remote server that has changed is refused, and reviewed" {
    bent
    bind /none/none --yes
    expect_status 0
    sed -i 's/^pin = "56/pin = "65/' "$bindings/srv.toml"
    sed -i 's/says it/said otherwise/' "$bindings/srv.toml"
    perch_tool allow srv --binding
    expect_status 0
    perch_tool call srv say
    expect_status 10
    has "$errors" "perch tool review srv"
    perch_tool review srv --yes
    expect_status 0
    has "$output$errors" "says it"
    perch_tool call srv say
    expect_status 0
}

@test "import: addresses and headers of clients; their values in a file of mode 600" {
    bent
    export FAR_TOKEN=s3cret
    cat >"$WORK/mcp.json" <<END
{"mcpServers": {
  "cursor": {"url": "$url/open/token", "headers": {"Authorization": "Bearer s3cret", "X-More": "m0re"}},
  "code": {"type": "http", "url": "$url/open/token", "headers": {"Authorization": "Bearer \${FAR_TOKEN}"}},
  "old": {"type": "sse", "url": "$url/sse"},
  "asks": {"type": "http", "url": "$url/open/token", "headers": {"Authorization": "Bearer \${input:far}"}}}}
END
    cp "$WORK/mcp.json" "$WORK/before"
    perch_tool import "$WORK/mcp.json" --yes
    [ "$status" != 0 ]
    cmp "$WORK/mcp.json" "$WORK/before"
    has "$errors" "old: not imported: it speaks HTTP+SSE"
    has "$errors" "asks: not imported: the value of Authorization is a placeholder"
    [ "$(stat -c %a "$secrets/cursor")" = 600 ]
    lacks "$(cat "$bindings/cursor.toml" "$bindings/code.toml")" s3cret
    : >"$log"
    perch_tool call cursor say
    expect '"hello"'
    has "$(cat "$log")" '"Authorization": "Bearer s3cret"'
    has "$(cat "$log")" '"X-More": "m0re"'
    perch_tool call code say
    expect '"hello"'
    printf '{"servers": {"vs": {"type": "http", "url": "%s/open/token", "headers": {"Authorization": "Bearer ${env:FAR_TOKEN}"}}}}' "$url" >"$WORK/vs.json"
    perch_tool import "$WORK/vs.json" --yes
    expect_status 0
    perch_tool call vs say
    expect '"hello"'
    printf '[mcp_servers.codex]\nurl = "%s/open/token"\nbearer_token_env_var = "FAR_TOKEN"\n[mcp_servers.codex.env_http_headers]\nX-Who = "USER_OF_FAR"\n' "$url" >"$WORK/codex.toml"
    USER_OF_FAR=me perch_tool import "$WORK/codex.toml" --yes
    expect_status 0
    perch_tool call codex say
    expect '"hello"'
    has "$(cat "$log")" '"X-Who": "me"'
}

@test "perch serve of another user, in both eras, by a token" {
    tool echo '[[tools]]' 'name = "t.x"' <<'END'
request = greet()
respond(request, {"said": request["input"]})
END
    perch_alone token create far
    expect_status 0
    (umask 077 && echo "$output" >"$WORK/token")
    env --default-signal=INT,QUIT "$perch" serve --listen 127.0.0.1:0 >"$WORK/serve.out" 2>"$WORK/serve.log" 3>&- &
    host=$!
    wait_until grep -q 'serves at' "$WORK/serve.log"
    url=$(sed -n 's|.*serves at \(http://[^ "]*\).*|\1|p' "$WORK/serve.log")
    export XDG_CONFIG_HOME="$WORK/here"
    bindings="$XDG_CONFIG_HOME/perch/tools"
    local era
    bind /mcp --yes --token "$WORK/token"
    expect_status 0
    grep -q 'era = "both"' "$bindings/srv.toml"
    for era in modern legacy; do
        sed -i "s/^era = .*/era = \"$era\"/" "$bindings/srv.toml"
        perch_tool call srv t_echo_t_x --input '{"a":1}'
        expect_status 0
        has "$output" '"a": 1'
    done
    kill -TERM "$host"
    wait "$host"
}

@test "the official TypeScript servers, 1.x and 2.x" {
    need_foreign mcp-npm node
    far env MODULES="$(foreign_path mcp-npm)" "$(foreign_node)" "$PERCH_SOURCE/tests/tool/remote_sdk.mjs" "$log"
    bind /one --yes
    expect_status 0
    grep -q 'era = "legacy"' "$bindings/srv.toml"
    perch_tool call srv say --input '{"text":"one"}'
    expect '"one"'
    perch_tool call srv poll
    expect '"late"'
    grep -q '^GET resumes' "$log"
    [ "$(asked DELETE)" = 3 ]
    bind /two --yes --replace
    expect_status 0
    grep -q 'era = "modern"' "$bindings/srv.toml"
    perch_tool call srv say --input '{"text":"two ä"}'
    expect '"two ä"'
}
