#!/usr/bin/env bats
# How perch is called: as perch, as fledge, by agents; settings; exit codes of
# its own; what plugins see of the environment; traces.

# shellcheck disable=SC2154,SC2016 # what fledge_open and call set; `words` that are expected
load plugins

setup() {
    fledge_open
    mkdir "$WORK/names"
    ln -s "$perch" "$WORK/names/fledge"
    fledge="$WORK/names/fledge"
}
teardown() { fledge_close; }

arguments() {
    py words <<'END'
say(json.dumps(args))
say(os.environ.get("FLEDGE_NON_INTERACTIVE"))
END
}

# as_fledge ARGUMENT…
as_fledge() { keep "$fledge" "$@" </dev/null; }

@test "agents: fledge plugins run CMD --ni ARG…" {
    arguments
    as_fledge plugins run words --ni one --two --json
    expect_status 0
    expect '["one", "--two", "--json"]
1'
    as_fledge plugin run words --ni --ni one
    expect '["one"]
1'
}

@test "agents: fledge --non-interactive plugins run CMD -- ARG…" {
    arguments
    as_fledge --non-interactive plugins run words -- one --ni -- two
    expect_status 0
    expect '["one", "--ni", "--", "two"]
1'
    as_fledge plugins run words --ni -- --ni
    expect '["--ni"]
1'
}

@test "agents: FLEDGE_NON_INTERACTIVE=1 fledge CMD ARG… --json" {
    arguments
    FLEDGE_NON_INTERACTIVE=1 as_fledge words one --json -v --help --version --
    expect_status 0
    expect '["one", "--json", "-v", "--help", "--version", "--"]
1'
}

@test "agents: perch run CMD is fledge CMD" {
    arguments
    call words --json '' 'a b' --
    expect '["--json", "", "a b", "--"]
1'
    as_fledge words --json '' 'a b' --
    expect '["--json", "", "a b", "--"]
1'
}

@test "global options stand before the command or directly behind run" {
    py words <<'END'
say(" ".join(args))
END
    for words in "--json run words --json" "run --json words --json"; do
        # shellcheck disable=SC2086
        run "$perch" $words
        [ "${lines[0]}" = '{"event":"output","text":"--json\n"}' ]
    done
    run "$perch" run -v --ni -- words -v
    has "$output" "-v"
    run "$perch" run
    [ "$status" -eq 0 ]
    has "$output" "words"
    run "$perch" run --json
    [ "$status" -eq 64 ]
    run "$perch" run --no-such-option words
    [ "$status" -eq 64 ]
}

@test "fledge --version, --help and help are built in" {
    version=$("$perch" --version | cut -d ' ' -f 2)
    as_fledge --version
    expect "fledge 1.8.0 (perch $version)"
    as_fledge --help
    expect_status 0
    has "$output" "plugins"
    as_fledge help
    expect_status 0
}

@test "fledge --help names the commands of the plugins; fledge doctor is there" {
    py greeter <<'END'
say("hello")
END
    sed -i 's/^binary = .*/&\ndescription = "says hello"/' "$cfg/plugins/fledge-greeter/plugin.toml"
    as_fledge --help
    expect_status 0
    for word in 'plugins   ' 'doctor   ' 'greeter         says hello (fledge-greeter)'; do
        has "$output" "$word"
    done
    lacks "$output" 'perch run'
    rm -r "$cfg/plugins"
    rm "$cfg/plugins.toml"
    as_fledge
    has "$output" "none yet: fledge plugins install SOURCE"
    as_fledge doctor --json
    [[ "$output" == '{"schema_version":1,'* ]]
}

@test "fledge: every other word is a plugin command" {
    py doctor <<'END'
say("the plugin")
END
    as_fledge doctor
    expect "the plugin"
    run "$perch" doctor
    lacks "$output" "the plugin"
}

@test "127: no such command, with a suggestion" {
    arguments
    call wrods
    expect_status 127
    has "$errors" "error: there is no command 'wrods'; did you mean 'words'?"
    expect ""
}

@test "a plugin's command without the run in front of it" {
    arguments
    perch_alone words
    expect_status 64
    [ "$errors" = "error: there is no command 'words'
  perch run words runs the plugin's" ]
    # A list that cannot be read is told by those who need it.
    echo '][' >"$cfg/plugins.toml"
    perch_alone words
    expect_status 64
    has "$errors" 'perch help lists them all'
}

@test "a mistyped key of plugin.toml is named, with what finds the others" {
    arguments
    sed -i 's/^binary/binay/' "$cfg/plugins/fledge-words/plugin.toml"
    call words
    expect_status 125
    has "$errors" 'unknown key `binay`: did you mean `binary`?'
    has "$errors" "perch plugins validate $cfg/plugins/fledge-words"
    sed -i '/^binay/d' "$cfg/plugins/fledge-words/plugin.toml"
    call words
    has "$errors" 'is missing here (the key `binary`)'
}

@test "126: there, but not executable" {
    arguments
    chmod -x "$cfg/plugins/fledge-words/bin/fledge-words"
    call words
    expect_status 126
    has "$errors" "it is not executable: chmod +x $cfg/plugins/bin/fledge-words"
    rm "$cfg/plugins/fledge-words/bin/fledge-words"
    call words
    expect_status 126
    plugin words <<'END'
#!/no/such/interpreter
END
    call words
    expect_status 126
    has "$errors" "/no/such/interpreter"
}

@test "125: manifest, host and settings" {
    arguments
    printf '[plugin]\nname = "fledge-words"\nversion = \n' >"$cfg/plugins/fledge-words/plugin.toml"
    call words
    expect_status 125
    has "$errors" "error: $cfg/plugins/fledge-words/plugin.toml:3:"
    printf 'hello\n' >"$cfg/plugins/fledge-words/plugin.toml"
    call words
    expect_status 125
    printf '[plugin]\nversion = "1"\n' >"$cfg/plugins/fledge-words/plugin.toml"
    call words
    expect_status 125
    has "$errors" "name"
    rm "$cfg/plugins/fledge-words/plugin.toml"
    mkdir "$cfg/plugins/fledge-words/plugin.toml"
    call words
    expect_status 125
    rmdir "$cfg/plugins/fledge-words/plugin.toml"
    manifest words fledge-v1 '' ''
    call --trace "$WORK/none/trace" words
    expect_status 125
    has "$errors" "$WORK/none/trace"
    expect ""
    [ ! -e "$SEEN" ]
}

@test "125: a runtime that is not supported" {
    py -m 'runtime = "wasm"' module <<'END'
say("no")
END
    call module
    expect_status 125
    has "$errors" "not supported by this build"
    [ ! -e "$SEEN" ]
}

@test "a registry entry without capabilities has none" {
    py -c exec,store,metadata bare <<'END'
say(json.dumps(init["capabilities"]))
END
    printf '[[plugins]]\nname = "fledge-bare"\nsource = "elsewhere"\ncommands = ["bare"]\n' \
        >"$cfg/plugins.toml"
    call bare
    expect_status 0
    expect '{"exec": false, "store": false, "metadata": false}'
}

@test "a broken registry is told with file and line" {
    arguments
    printf '[[plugins]\n' >"$cfg/plugins.toml"
    call words
    expect_status 125
    has "$errors" "plugins.toml:1:"
}

@test "a command on PATH that nobody owns is legacy" {
    mkdir "$WORK/path"
    # shellcheck disable=SC2016
    printf '#!/bin/sh\necho "loose $1 ${FLEDGE_PLUGIN_DIR-unset}"\n' >"$WORK/path/fledge-loose"
    chmod +x "$WORK/path/fledge-loose"
    PATH="$WORK/path:$PATH" FLEDGE_PLUGIN_DIR=/somewhere call loose word
    expect_status 0
    expect "loose word unset"
}

@test "settings: option, environment, config file, default" {
    py -c exec slow <<'END'
say(run("sleep 60", timeout=50)["stderr"])
END
    call --exec-timeout-max 0.1 slow
    expect "command timed out after 0.1s"
    PERCH_EXEC_TIMEOUT_MAX=0.2 call slow
    expect "command timed out after 0.2s"
    printf '[perch]\nexec_timeout_max = 0.3\n' >"$cfg/config.toml"
    call slow
    expect "command timed out after 0.3s"
    PERCH_EXEC_TIMEOUT_MAX=0.2 call slow
    expect "command timed out after 0.2s"
    PERCH_EXEC_TIMEOUT_MAX=0.2 call --exec-timeout-max 0.1 slow
    expect "command timed out after 0.1s"
    printf '[perch]\nexec_timeout_max = 1\n' >"$cfg/config.toml"
    call slow
    expect "command timed out after 1s"
}

@test "settings: the shell of exec" {
    py -c exec shell <<'END'
say(run("echo ${BASH_VERSION:+bash}")["stdout"].strip())
END
    call --shell bash shell
    expect "bash"
    PERCH_SHELL=bash call shell
    expect "bash"
    printf '[perch]\nshell = "bash"\n' >"$cfg/config.toml"
    call shell
    expect "bash"
    call --shell /no/such/shell shell
    expect ""
}

@test "settings: the limit of a line" {
    py long <<'END'
send("output", text="x" * 1500000)
END
    for limit in 1048576 2000000; do
        call --line-limit "$limit" long
        PERCH_LINE_LIMIT=$limit call long
        [ "${#output}" -eq $((limit == 2000000 ? 1500000 : 0)) ]
        printf '[perch]\nline_limit = %s\n' "$limit" >"$cfg/config.toml"
        call long
        [ "${#output}" -eq $((limit == 2000000 ? 1500000 : 0)) ]
    done
}

@test "settings: the time of a question" {
    py patient <<'END'
say(ask("confirm", message="m")["reason"])
END
    cat >"$WORK/driver" <<'END'
from user import *
run = Run("patient", options=sys.argv[1:])
run.next("confirm")
assert run.end() == 1
assert run.texts() == "timeout\n"
END
    python3 "$WORK/driver" --prompt-timeout 0.05
    PERCH_PROMPT_TIMEOUT=.05 python3 "$WORK/driver"
    printf '[perch]\nprompt_timeout = 0.05\n' >"$cfg/config.toml"
    python3 "$WORK/driver"
}

@test "settings: what is wrong is named" {
    arguments
    call --prompt-timeout soon words
    expect_status 125
    has "$errors" "--prompt-timeout must be a number, not 'soon'"
    PERCH_LINE_LIMIT=5 call words
    has "$errors" "PERCH_LINE_LIMIT must be from"
    expect_status 125
    for wrong in nan inf -1 1e99; do
        call --exec-timeout-max "$wrong" words
        expect_status 125
    done
    printf '[perch]\nprompt_timeout = "long"\n' >"$cfg/config.toml"
    call words
    expect_status 125
    has "$errors" "config.toml:2:"
    printf 'a = \n' >"$cfg/config.toml"
    call words
    expect_status 125
    has "$errors" "config.toml:1:"
}

@test "environment: what was given to git as variables does not break the git of a plugin" {
    py -c exec gitted <<'END'
result = run("git config --list")
assert result["code"] == 0 and "user.name=c" not in result["stdout"], result
say("ok")
END
    GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=c \
        call gitted
    expect_status 0
    expect ok
}

@test "environment: what looks like a secret reaches neither plugin nor commands" {
    py -c exec,metadata env <<'END'
shown = []
for line in [*("%s=%s" % pair for pair in os.environ.items()), *run("env")["stdout"].splitlines(),
             *("%s=%s" % pair for pair in value("metadata", keys=["env"])["env"].items())]:
    assert "hidden" not in line, line
    if "visible" in line:
        shown.append(line)
say(" ".join(sorted(shown)))
END
    MY_SECRET=hidden api_token=hidden PASSWORD1=hidden OLD_PASSWD=hidden SSH_KEY=hidden \
        CREDENTIALS=hidden AUTHOR=hidden PRIVATE_X=hidden SESSION_ID=hidden COOKIE=hidden \
        DYLD_X=hidden KUBECONFIG_A=hidden DATABASE_URL=hidden X_URI=hidden Y_DSN=hidden \
        MYSQL_PWD=hidden SSHPASS=hidden GPG_PASSPHRASE=hidden GITHUB_PAT=hidden \
        SLACK_WEBHOOK=hidden CREDS=hidden DSN=hidden DB_PASS=hidden \
        LINK=me:hidden@host PLAIN=visible URL_PREFIX=visible2 call env
    expect_status 0
    expect "PLAIN=visible PLAIN=visible PLAIN=visible URL_PREFIX=visible2 URL_PREFIX=visible2 URL_PREFIX=visible2"
}

@test "environment: the plugin's directory" {
    py env <<'END'
say(os.environ["FLEDGE_PLUGIN_DIR"])
say(os.getcwd())
END
    FLEDGE_PLUGIN_DIR=/elsewhere call env
    expect "$cfg/plugins/fledge-env
$WORK/project"
}

@test "trace: both directions, with times, values masked" {
    py -c store,exec,metadata traced <<'END'
send("store", key="visible-key", value="hidden-stored")
assert value("load", key="visible-key") == "hidden-stored"
assert value("metadata", keys=["env"])["env"]["MINE"] == "hidden-variable"
run("echo shown-command")
raw("stray\n")
END
    MINE=hidden-variable call --trace "$WORK/trace" traced
    expect_status 0
    python3 - "$WORK/trace" <<'END'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert len(lines) > 8, lines
text = open(sys.argv[1]).read()
assert "hidden-stored" not in text and "hidden-variable" not in text, text
for word in ["visible-key", "shown-command", "init", "stray"]:
    assert word in text, word
END
    [ "$(stat -c %a "$WORK/trace")" = 600 ]
    MINE=hidden-variable call --trace "$WORK/trace" --trace-secrets traced
    has "$(cat "$WORK/trace")" hidden-stored
    has "$(cat "$WORK/trace")" hidden-variable
}

@test "output that cannot be written is a failure" {
    py full <<'END'
say("text")
END
    status=0
    "$perch" run full >/dev/full 2>"$WORK/err" || status=$?
    errors=$(cat "$WORK/err")
    expect_status 1
    has "$errors" "No space left"
    status=0
    "$perch" run --json full >/dev/full 2>"$WORK/err" </dev/null || status=$?
    errors=$(cat "$WORK/err")
    expect_status 1
    has "$errors" "No space left"
}

@test "a reader that goes away does not kill the run" {
    py chatty <<'END'
for n in range(2000):
    say("x" * 100)
open(os.environ["WORK"] + "/finished", "w").close()
END
    "$perch" run chatty 2>/dev/null | head -1 >/dev/null
    wait_until test -e "$WORK/finished"
}

@test "closed standard descriptors" {
    py -c exec closed <<'END'
assert run("echo x")["stdout"] == "x\n"
open(os.environ["WORK"] + "/fine", "w").close()
END
    "$perch" run closed <&-
    rm "$WORK/fine"
    "$perch" run closed <&- >&- 2>&-
    [ -e "$WORK/fine" ]
}

@test "moved caches: the user's configuration of cargo and ccache counts, and no link is followed there" {
    export HOME="$WORK/home" XDG_CACHE_HOME="$BATS_TEST_TMPDIR/cache"
    unset CARGO_HOME CCACHE_DIR
    mkdir -p "$HOME/.cargo" "$WORK/elsewhere"
    echo mine >"$HOME/.cargo/config.toml"
    py -c exec builder <<'END'
say(run("cat $CARGO_HOME/config.toml $CCACHE_DIR/ccache.conf 2>/dev/null")["stdout"].strip())
END
    call builder
    expect mine
    mkdir "$WORK/moved"
    echo moved >"$WORK/moved/ccache.conf"
    CCACHE_DIR="$WORK/moved" call builder
    expect "mine
moved"
    # A plugin that leads the directory elsewhere, or has a file of its own.
    rm -r "$XDG_CACHE_HOME/perch/plugins/fledge-builder/cargo"
    ln -s "$WORK/elsewhere" "$XDG_CACHE_HOME/perch/plugins/fledge-builder/cargo"
    call builder
    [ -z "$(ls "$WORK/elsewhere")" ]
    rm "$XDG_CACHE_HOME/perch/plugins/fledge-builder/cargo"
    mkdir "$XDG_CACHE_HOME/perch/plugins/fledge-builder/cargo"
    echo own >"$XDG_CACHE_HOME/perch/plugins/fledge-builder/cargo/config.toml"
    call builder
    has "$output" own
}
