#!/usr/bin/env bats
# perch serve with the clients of others: OpenAI's of npm and PyPI, the AI SDK, llm, curl.

# shellcheck disable=SC2030,SC2031,SC2154 # what serve_open and run set

load serve
load ../foreign/foreign

setup() { serve_open; }
teardown() { serve_close; }

# with_gateway COMMAND…: port and token are $1 and $2 of it.
with_gateway() {
    local port token status=0
    coproc GATE { PYTHONPATH="$PERCH_SOURCE/tests/serve" "$python" "$PERCH_SOURCE/tests/serve/clients.py" serve; }
    local gate=$GATE_PID input=${GATE[1]}
    read -r port token <&"${GATE[0]}"
    "$@" "$port" "$token" || status=$?
    exec {input}>&-
    wait "$gate" || status=1
    [ "$status" = 0 ] || cat "$WORK/serve.log"
    return "$status"
}

@test "the openai package of PyPI" {
    need_foreign openai-pip
    foreign_python openai-pip "$PERCH_SOURCE/tests/serve/clients.py"
}

javascript() {
    timeout 240 "$(foreign_node)" "$PERCH_SOURCE/tests/serve/clients.mjs" "$@" "$WORK" \
        "$(foreign_path openai-npm)"
}

@test "the openai package of npm, and ai with @ai-sdk/openai-compatible" {
    need_foreign openai-npm node
    with_gateway javascript
}

llm_asks() {
    export LLM_USER_PATH="$WORK/llm"
    mkdir -p "$LLM_USER_PATH"
    printf -- '- model_id: perch\n  model_name: echo\n  api_base: http://127.0.0.1:%s/v1\n  api_key_name: perch\n' \
        "$1" >"$LLM_USER_PATH/extra-openai-models.yaml"
    run foreign_python openai-pip -m llm -m perch --key "$2" --no-log hi
    echo "$output"
    [[ $output == 'partly said hi from me in '* ]]
    run foreign_python openai-pip -m llm -m perch --key "$2" --no-log --no-stream hi
    [[ $output == 'partly said hi from me in '* ]]
}

@test "the llm command" {
    need_foreign openai-pip
    with_gateway llm_asks
}

curl_asks() {
    run curl -sS --max-time 60 "http://127.0.0.1:$1/v1/chat/completions" \
        -H "Authorization: Bearer $2" -H 'Content-Type: application/json' \
        -d '{"model":"echo","stream":true,"messages":[{"role":"user","content":"hi"}]}'
    echo "$output"
    [[ $output == *'"content":"partly "'* ]]
    [[ $output == *'data: [DONE]'* ]]
    run curl -sS --max-time 60 -o /dev/null -w '%{http_code}' "http://127.0.0.1:$1/v1/models"
    [ "$output" = 401 ]
}

@test "curl" { with_gateway curl_asks; }
