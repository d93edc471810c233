#!/usr/bin/env bats
# Questions with nobody there, with answers given in advance, and the settings
# that decide which it is.

# shellcheck disable=SC2154 # what fledge_open and call set
load plugins

setup() { fledge_open; }
teardown() { fledge_close; }

questions() {
    py ask <<'END'
kind = args[0]
fields = json.loads(args[1]) if len(args) > 1 else {}
say(json.dumps(ask(kind, message="Which?", **fields)))
END
}

# answer KIND FIELDS VALUE [OPTION…]: what the plugin is told.
answer() {
    local kind=$1 fields=$2 wanted=$3
    shift 3
    call "$@" ask "$kind" "$fields"
    expect_status 0
    expect '{"type": "response", "id": "1", "value": '"$wanted"'}'
}

# refusal KIND FIELDS [OPTION…]: cancelled, the run fails and says how to do better.
refusal() {
    local kind=$1 fields=$2
    shift 2
    call "$@" ask "$kind" "$fields"
    expect_status 1
    expect '{"type": "cancel", "id": "1", "reason": "non_interactive"}'
    has "$errors" "Which?"
    has "$errors" "--answer 'Which?=VALUE'"
    has "$errors" "--answers"
}

@test "non-interactive: prompt" {
    questions
    answer prompt '{"default":"me"}' '"me"'
    answer prompt '{"default":""}' '""'
    answer prompt '{"default":"me"}' '"me"' --ni
    answer prompt '{"default":"me"}' '"me"' --non-interactive
    answer prompt '{"default":"me"}' '"me"' --ni=strict
    refusal prompt '{}'
    refusal prompt '{}' --ni
    refusal prompt '{}' --ni=strict
    refusal prompt '{"default":null}'
}

@test "non-interactive: confirm" {
    questions
    answer confirm '{"default":true}' true
    answer confirm '{"default":false}' false
    answer confirm '{}' false
    answer confirm '{"default":true}' true --ni=strict
    refusal confirm '{}' --ni=strict
}

@test "non-interactive: select" {
    questions
    answer select '{"options":["a","b"],"default":1}' '"b"'
    answer select '{"options":["a","b"]}' '"a"'
    answer select '{"options":["a","b"],"default":5}' '"a"'
    answer select '{"options":["a","b"],"default":0}' '"a"' --ni=strict
    refusal select '{"options":["a","b"]}' --ni=strict
    refusal select '{"options":["a","b"],"default":5}' --ni=strict
    call ask select '{"options":[]}'
    expect_status 0
    expect '{"type": "cancel", "id": "1", "reason": "invalid_request"}'
}

@test "non-interactive: multi_select" {
    questions
    answer multi_select '{"options":["a","b","c"],"defaults":[2,0]}' '["c", "a"]'
    answer multi_select '{"options":["a"]}' '[]'
    answer multi_select '{"options":["a"],"defaults":[]}' '[]' --ni=strict
    refusal multi_select '{"options":["a"]}' --ni=strict
}

@test "non-interactive: a plugin that fails keeps its code, one that does not gets 1" {
    py fails <<'END'
answer = ask("prompt", message="Which?")
sys.exit(int(args[0]))
END
    call fails 7
    expect_status 7
    call fails 0
    expect_status 1
}

@test "non-interactive: after the refusal the ladder begins" {
    py stubborn <<'END'
ask("prompt", id="p", message="Which?")
assert ask("confirm", id="c", message="And now?")["reason"] == "non_interactive"
ready()
time.sleep(60)
END
    call stubborn
    expect_status 143
    seen '{"type":"cancel","id":"p","reason":"non_interactive"}' \
        '{"type":"cancel","id":"c","reason":"non_interactive"}'
}

@test "FLEDGE_NON_INTERACTIVE: its words, and what the plugin sees" {
    py env <<'END'
say(os.environ.get("FLEDGE_NON_INTERACTIVE"))
say(json.dumps(ask("confirm", message="Which?", default=True)))
END
    cat >"$WORK/driver" <<'END'
from user import *
run = Run("env")
event = run.next("confirm", "end")
print(event["event"])
if event["event"] == "confirm":
    run.answer(event, False)
    run.end()
else:
    run.process.wait()
print("<%s>" % run.texts().splitlines()[0])
END
    for word in 1 true yes y on TRUE Yes Y ON; do
        run env FLEDGE_NON_INTERACTIVE="$word" python3 "$WORK/driver"
        [ "$output" = "end
<1>" ]
    done
    for word in 0 false no n off '' 2 enabled; do
        run env FLEDGE_NON_INTERACTIVE="$word" python3 "$WORK/driver"
        [ "$output" = "confirm
<$word>" ]
    done
    run python3 "$WORK/driver"
    [ "$output" = "confirm
<None>" ]
}

@test "FLEDGE_NON_INTERACTIVE=1 is set for the plugin whatever the reason" {
    py env <<'END'
say(os.environ.get("FLEDGE_NON_INTERACTIVE"))
END
    call env
    expect "1"
    call --ni env
    expect "1"
    call --ni=strict env
    expect "1"
    FLEDGE_NON_INTERACTIVE=0 call env
    expect "1"
    run script -qec "'$perch' --ni run env" /dev/null
    [ "${output%$'\r'}" = "1" ]
    run script -qec "'$perch' run env" /dev/null
    [ "${output%$'\r'}" = "None" ]
}

@test "stdin is a terminal, stderr is not: nobody is asked" {
    questions
    run script -qec "'$perch' run ask prompt '{\"default\":\"d\"}' 2>/dev/null" /dev/null
    has "$output" '"value": "d"'
}

@test "--answer: each kind of question" {
    questions
    answer prompt '{}' '"x=y"' --answer 'Which?=x=y'
    answer prompt '{"default":"d"}' '""' --answer 'Which?='
    answer prompt '{}' '"\u00e4"' --answer ' Which? =ä'
    answer confirm '{}' true --answer 'Which?=yes'
    answer confirm '{"default":true}' false --answer 'Which?=N'
    answer select '{"options":["a","b c"]}' '"b c"' --answer 'Which?=b c'
    answer multi_select '{"options":["a","b","c"]}' '["c", "a"]' --answer 'Which?=c, a'
    answer multi_select '{"options":["a"],"defaults":[0]}' '[]' --answer 'Which?='
    answer prompt '{}' '"first"' --answer 'Other?=no' --answer 'Which?=first' --answer 'Which?=second'
    answer prompt '{"validate":"integer"}' '"12"' --ni=strict --answer 'Which?=12'
}

@test "--answer: one that does not fit is told and not used" {
    questions
    answer select '{"options":["a","b"]}' '"a"' --answer 'Which?=z'
    has "$errors" "the answer given for 'Which?' does not fit: 'z'"
    answer confirm '{"default":true}' true --answer 'Which?=maybe'
    refusal prompt '{"validate":"integer"}' --answer 'Which?=many'
    refusal prompt '{"validate":"url"}' --answer 'Which?=ftp://x'
    refusal prompt '{"validate":"path_exists"}' --answer 'Which?=/no/such'
    refusal prompt '{"validate":"non_empty"}' --answer 'Which?=  '
    answer prompt '{"validate":"integer"}' '"7"' --answer 'Which?=x' --answer 'Which?=7'
}

@test "--answer: an unknown validator takes anything, and is told once" {
    py zip <<'END'
say(value("prompt", message="Which?", validate="zip_code"))
say(value("prompt", message="Which?", validate="zip_code"))
END
    call --answer 'Which?=x' zip
    expect "x
x"
    [ "$(grep -c "unknown validator 'zip_code'" "$WORK/err")" -eq 1 ]
}

@test "--answer: on a terminal too" {
    questions
    run script -qec "'$perch' run --answer 'Which?=me' ask prompt" /dev/null
    [ "${output%$'\r'}" = '{"type": "response", "id": "1", "value": "me"}' ]
}

@test "--answers: a file" {
    questions
    printf '# a comment\n\nOther?=no\r\nWhich?=from the file\r\n' >"$WORK/answers"
    answer prompt '{}' '"from the file"' --answers "$WORK/answers"
    answer prompt '{}' '"option"' --answers "$WORK/answers" --answer 'Which?=option'
    printf 'Which?' >"$WORK/answers"
    call --answers "$WORK/answers" ask prompt
    expect_status 125
    has "$errors" "without '='"
    call --answers "$WORK/none" ask prompt
    expect_status 125
    has "$errors" "$WORK/none"
    call --answer 'no equals sign' ask prompt
    expect_status 64
}

@test "the words of --ni" {
    questions
    call --ni=sometimes ask prompt
    expect_status 64
    has "$errors" "strict"
}
