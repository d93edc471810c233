#!/usr/bin/env bats
# perch plugins test: cases, what is said, what is wrong with it. What counts as
# wrong is in tests/unit/lint.c and tests/unit/cases.c.

# shellcheck disable=SC2154,SC2016 # what the helpers set; `words` in what is expected
load author

setup() { author_open; }
teardown() { author_close; }

# One case that expects nothing but success.
plain_case() {
    printf '[[case]]\nname = "plain"\n' | cases
}

@test "test: questions of every kind are answered in order" {
    subject <<'END'
say(value("prompt", message="Name:"))
say(value("confirm", message="Sure?"))
say(value("select", message="Colour:", options=["red", "blue"]))
say(value("multi_select", message="Sizes:", options=["s", "m", "l"]))
END
    cases <<'END'
[[case]]
name = "in order"
answers = ["Ada", true, "blue", ["l", "s"]]
[case.expect]
output = ["Ada\nTrue\nblue\n", "['s', 'l']"]

[[case]]
name = "by question"
[case.answers]
"Sizes:" = []
"Colour:" = "red"
"Sure?" = false
"Name:" = "Grace"
[case.expect]
output = "Grace\nFalse\nred\n[]\n"
END
    plugins test -v --all subject
    expect_status 0
    has "$output" "ok      in order"
    has "$output" "2 passed, 0 failed"
    has "$output" 'host  {"type":"response","id":"1","value":"Ada"}'
    has "$output" 'plugin  {"type": "prompt", "id": "1", "message": "Name:"}'
}

@test "test: answers that do not fit, are missing, or not asked for" {
    subject <<'END'
value("prompt", message="How many?", validate="integer")
END
    cases <<'END'
[[case]]
name = "not a number"
answers = ["many"]
[[case]]
name = "wrong type"
answers = [true]
[[case]]
name = "missing"
[[case]]
name = "too many"
answers = ["1", "2"]
[[case]]
name = "never asked"
answers = { "How many?" = "1", "How few?" = "2" }
[[case]]
name = "cancelled"
answers = [{ cancel = true }]
[case.expect]
exit = 130
END
    plugins test --all subject
    expect_status 1
    has "$output" "error: the answer in line 3 of perch-test.toml does not fit 'How many?': please enter a whole number"
    has "$output" "does not fit 'How many?': it takes a string"
    has "$output" "error: the plugin asks 'How many?', but the case has no answer to that"
    has "$output" "error: the answer in line 11 of perch-test.toml was not asked for"
    has "$output" "error: the answer in line 14 of perch-test.toml was not asked for"
    has "$output" "ok      cancelled"
    has "$output" "1 passed, 5 failed"
}

@test "test: what is expected and does not come" {
    subject store <<'END'
send("store", key="k", value="v")
say("one")
say("two")
sys.exit(3)
END
    cases <<'END'
[[case]]
name = "right"
[case.expect]
exit = 3
output = ["one", "two"]
output_regex = ["^two$", "o.e"]
state = { k = "v" }
[[case]]
name = "wrong"
[case.expect]
exit = 4
output = ["one", "three"]
output_regex = "^one two$"
state = { k = "w", other = "x" }
[[case]]
name = "success is expected unless said otherwise"
END
    plugins test -v --all subject
    expect_status 1
    has "$output" "ok      right"
    has "$output" "error: expected exit code 4, but it was 3"
    has "$output" "error: expected an output with 'three', but it was 'one"
    has "$output" "error: expected an output that matches '^one two\$'"
    has "$output" "error: expected \`k\` to be stored as 'w', but it is 'v'"
    has "$output" "error: expected \`other\` to be stored as 'x', but it is not"
    has "$output" "error: expected exit code 0, but it was 3"
    has "$output" "1 passed, 2 failed"
}

@test "test: an expression that would take all memory, or all time, does not" {
    subject <<'END'
say("a" * 100000)
END
    large='((((((((((a{1,255}){1,255}){1,255}){1,255}){1,255}){1,255}){1,255}){1,255}){1,255}){1,255})'
    printf '[[case]]\nname = "one"\n[case.expect]\noutput_regex = "%s"\n' "$large" | cases
    # As much as it takes without it, and a tenth of what it took with it.
    ulimit -v 2000000
    plugins test -v --all subject
    expect_status 1
    has "$output" "too large once it is compiled"
    printf '[[case]]\nname = "one"\n[case.expect]\noutput_regex = "(a+)+[bd]"\n' | cases
    plugins test -v --all subject
    expect_status 1
    has "$output" "error: whether the output matches '(a+)+[bd]' takes too long to find out"
}

@test "test: what is wrong stands below the line it is about" {
    subject <<'END'
raw("hello\n")
send("outptu", text="x")
send("output", text="fine\n")
END
    plain_case
    plugins test -v --all subject
    expect_status 1
    has "$output" "  plugin  hello
          error: this is not JSON"
    has "$output" '  plugin  {"type": "outptu", "text": "x"}
          error: there is no message of type `outptu`: did you mean `output`?
  plugin  {"type": "output", "text": "fine\n"}
0 passed, 1 failed'
}

@test "test: warnings do not fail a case" {
    subject <<'END'
send("log", level="loud", message="x")
END
    plain_case
    plugins test --all subject
    expect_status 0
    has "$output" "warning: the level 'loud'"
}

@test "test: a plugin must wait for its answers" {
    subject exec <<'END'
send("exec", id="1", command="sleep 60")
END
    plain_case
    plugins test --all subject
    expect_status 1
    has "$output" '`exec` was not answered yet'
}

@test "test: stderr is part of what was said" {
    subject <<'END'
print("debugging", file=sys.stderr, flush=True)
raise SystemError
END
    plain_case
    plugins test -v --all subject
    expect_status 1
    has "$output" "  stderr  debugging"
    has "$output" "  stderr  SystemError"
    [ -z "$errors" ]
}

@test "test: the plugin's directory is not changed, nor is the user's" {
    subject store exec <<'END'
send("store", key="k", value="v")
open(init["plugin"]["dir"] + "/made", "w").close()
open("made", "w").close()
assert os.environ["FLEDGE_PLUGIN_DIR"] == init["plugin"]["dir"]
assert os.path.exists(init["plugin"]["dir"] + "/bin/subject")
assert os.getcwd() == init["project"]["root"]
assert sys.argv[0] == os.path.dirname(init["plugin"]["dir"]) + "/bin/fledge-subject", sys.argv
say(run("pwd")["stdout"] == os.getcwd() + "\n")
say(value("load", key="k"))
END
    cases <<'END'
[[case]]
name = "first"
[case.expect]
output = "True\nv\n"
state = { k = "v" }
[[case]]
name = "second"
[case.expect]
output = "v"
END
    echo '{"k":"precious"}' >subject/state.json
    before=$(find . -type f -exec sha256sum {} + | sort; find . | sort)
    plugins test -v --all subject
    expect_status 0
    [ "$before" = "$(find . -type f -exec sha256sum {} + | sort; find . | sort)" ]
    [ -z "$(find "$XDG_CONFIG_HOME" -newer subject/perch-test.toml -type f)" ]
}

@test "test: files of the project, values stored before" {
    subject store metadata <<'END'
say(open("src/deep/a.txt").read())
say(init["project"]["language"])
say(value("load", key="last"))
say(value("metadata", keys=["fledge_config"])["fledge_config"]["a"])
END
    cases <<'END'
[[case]]
name = "a project"
state = { last = "Ada" }
[case.files]
"src/deep/a.txt" = "content"
"Cargo.toml" = ""
"fledge.toml" = "a = 7"
[case.expect]
output = "content\nrust\nAda\n7\n"
END
    plugins test -v --all subject
    expect_status 0
}

@test "test: what is granted" {
    subject exec store <<'END'
say(json.dumps(init["capabilities"]))
END
    cases <<'END'
[[case]]
name = "all that it wishes for"
[case.expect]
output = '{"exec": true, "store": true, "metadata": false}'
[[case]]
name = "some"
grant = ["store"]
[case.expect]
output = '{"exec": false, "store": true, "metadata": false}'
[[case]]
name = "nothing"
grant = []
[case.expect]
output = '{"exec": false, "store": false, "metadata": false}'
END
    plugins test -v --all subject
    expect_status 0
}

@test "test: a plugin that never ends" {
    subject <<'END'
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen(["sleep", "1000"])
time.sleep(1000)
END
    cases <<'END'
[[case]]
name = "endless"
timeout = 1.5
END
    plugins test -v --all subject
    expect_status 1
    has "$output" "error: the plugin did not end within 1.5 seconds"
}

@test "test: a Python plugin that keeps back what it prints is told so" {
    unset PYTHONUNBUFFERED
    subject <<'END'
print(json.dumps({"type": "confirm", "id": "1", "message": "sure?"}))
time.sleep(1000)
END
    cases <<'END'
[[case]]
name = "silent"
timeout = 1.5
END
    plugins test -v --all subject
    expect_status 1
    has "$output" "within 1.5 seconds, and has sent nothing: a Python program must flush stdout"
    # Not of another language.
    printf '#!/bin/sh\nsleep 1000\n' >subject/bin/subject
    plugins test -v --all subject
    expect_status 1
    has "$output" "within 1.5 seconds"
    lacks "$output" "flush"
}

@test "test: Ctrl+C ends it and leaves nothing" {
    subject <<'END'
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open("ready", "w").close()
time.sleep(1000)
END
    plain_case
    start plugins test -v --all subject
    wait_until compgen -G "$TMPDIR/perch-case-*/project/ready"
    kill -INT "$host"
    finish
    expect_status 130
}

@test "test: short unless -v is given; what was said, where something is wrong" {
    subject <<'END'
say("x")
if init["args"]:
    raw("{oops\\n")
END
    cases <<'END'
[[case]]
name = "fine"
[[case]]
name = "bad"
args = ["bad"]
[[case]]
name = "behind it"
END
    plugins test subject
    expect_status 1
    has "$output" "ok      fine"
    has "$output" "FAILED  bad"
    [ "$(grep -c '"type":"init"' <<<"$output")" = 1 ]
    lacks "$output" "behind it"
    has "$output" "1 passed, 1 failed
1 not run behind the one that failed: --all runs them"
    plugins test subject --all -q
    expect_status 1
    has "$output" "2 passed, 1 failed"
    lacks "$output" "fine"
    plugins test subject --case fine -v
    [ "$(grep -c '"type":"init"' <<<"$output")" = 1 ]
    plugins test subject --json
    has "$output" "behind it"
}

@test "test: --list, and a part of a name" {
    subject <<<'say("x")'
    printf '[[case]]\nname = "%s"\n' "asks a name" "asks nothing" name | cases
    plugins test subject --list
    expect_status 0
    [ "$output" = "asks a name
asks nothing
name" ]
    plugins test subject --list --case ASKS
    [ "$output" = "asks a name
asks nothing" ]
    plugins test subject --case name # a whole name is that case alone
    has "$output" "1 passed"
    plugins test subject --case zzzzzzzzzzz
    has "$errors" "perch plugins test --list"
}

@test "test: --case" {
    subject <<<'say("x")'
    printf '[[case]]\nname = "%s"\n' one two three | cases
    plugins test subject --case two --case three
    expect_status 0
    has "$output" "2 passed"
    lacks "$output" "one"
    plugins test subject --case tow
    expect_status 1
    has "$errors" "there is no case 'tow'"
    has "$errors" "did you mean 'two'?"
}

@test "test: mistakes of perch-test.toml have a place, and nothing runs" {
    subject <<<'say("x")'
    printf '[[case]]\nname = "x"\nansers = []\n' | cases
    plugins test -v --all subject
    expect_status 1
    expect 'error: perch-test.toml:3:1: there is no key `ansers` here: did you mean `answers`?
  | ansers = []
  | ^'
    plugins test subject --json
    expect_status 1
    answer_has 'assert d["errors"][0].startswith("perch-test.toml:3:1: ") and d["cases"] == []'
    : | cases
    plugins test -v --all subject
    expect_status 1
    has "$output" "there is no [[case]]"
    rm subject/perch-test.toml
    plugins test -v --all subject
    expect_status 1
    has "$output" "perch-test.toml: it is not there: write one that begins with [[case]]"
}

@test "test: for programs" {
    subject <<'END'
say("one")
raw("hello\n")
END
    printf '[[case]]\nname = "%s"\n' a b | cases
    plugins test subject --json
    expect_status 1
    answer_has 'assert list(d) == ["schema_version", "path", "plugin_name", "errors", "cases", "summary"]
assert d["summary"] == {"total": 2, "passed": 0, "failed": 2} and d["plugin_name"] == "subject"
case = d["cases"][0]
assert case["name"] == "a" and case["command"] == "subject" and case["passed"] is False
assert case["exit_code"] == 0 and case["signal"] is None and case["duration_ms"] >= 0
assert case["problems"][0]["line"] == 2 and case["problems"][0]["level"] == "error"
assert [line["dir"] for line in case["transcript"]] == ["in", "out", "out", "host"]'
}

@test "test: what cannot be tested" {
    subject <<<'say("x")'
    plain_case
    rm subject/bin/subject
    plugins test -v --all subject
    expect_status 1
    has "$output" "the program bin/subject is not there: make it, or name another one (binary in plugin.toml)"
    printf '[hooks]\nbuild = "make it"\n' >>subject/plugin.toml
    plugins test -v --all subject
    has "$output" "is not there: build it first: make it"
    printf '#!/no/such/interpreter\n' >subject/bin/subject
    chmod +x subject/bin/subject
    plugins test -v --all subject
    expect_status 1
    has "$output" "cannot be started"
    sed -i '/^protocol/d' subject/plugin.toml
    plugins test -v --all subject
    expect_status 1
    has "$errors" "subject is a legacy plugin"
    echo x >subject/plugin.toml
    plugins test -v --all subject
    expect_status 1
    has "$errors" "plugin.toml:1:"
    plugins test nowhere
    expect_status 1
    plugins test subject subject
    expect_status 64
}

@test "test: a flood is not kept, but judged" {
    subject <<'END'
line = json.dumps({"type": "output", "text": "x" * 1000 + "\n"}) + "\n"
for _ in range(12):
    raw(line * 1000)
raw("hello\n")
END
    plain_case
    plugins test -v --all subject
    expect_status 1
    has "$output" "more than 10 MiB of output"
    has "$output" "more lines)"
    has "$output" "this is not JSON"
    [ "$(stat -c %s "$WORK/out")" -lt 6000000 ]
}

@test "test: what a plugin says cannot reach the terminal" {
    subject <<'END'
raw("\033[2Jhello\n")
print("\033]0;title\007", file=sys.stderr)
END
    plain_case
    plugins test -v --all subject
    lacks "$output" $'\033'
    lacks "$output" $'\007'
}

@test "test: a secret of the user does not reach the plugin" {
    subject <<<'say(os.environ.get("GH_TOKEN"))'
    printf '[[case]]\nname = "x"\n[case.expect]\noutput = "None"\n' | cases
    GH_TOKEN=secret plugins test -v --all subject
    expect_status 0
}

@test "test: directories that a plugin locks are removed too" {
    subject <<'END'
os.makedirs("a/b/c")
os.chmod("a/b", 0)
os.symlink("/", "root")
END
    plain_case
    plugins test -v --all subject
    expect_status 0
}

# Every message that fledge-v1(7) shows, sent as it stands there.
@test "test: the messages of the manual are the protocol's" {
    subject exec store metadata <<'END'
for line in open(sys.path[0] + "/messages"):
    print(line, end="", flush=True)
    if '"id"' in line:
        sys.stdin.readline()
END
    sed -n 's/\\e/\\/g; /^{"type":/p' "$PERCH_SOURCE/man/fledge-v1.7" |
        grep -vE '"type":"(init|response|cancel)"' >subject/lib/messages
    [ "$(wc -l <subject/lib/messages)" -ge 12 ]
    cases <<'END'
[[case]]
name = "the manual"
answers = ["here", true, "live", ["b"]]
files = { "docs/page" = "" }
END
    plugins test -v --all subject
    expect_status 0
    has "$output" "1 passed, 0 failed"
    lacks "$output" " warning: "
}
