#!/usr/bin/env bats
# The perch command itself: version, help, doctor, mistakes.
# shellcheck disable=SC2030,SC2031 # each test has a shell of its own

setup() {
    perch="$PERCH_BUILD/perch"
}

@test "--version prints one line" {
    run "$perch" --version
    [ "$status" -eq 0 ]
    [[ "$output" =~ ^perch\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
}

@test "help lists every command by what it is for, and fits a screen" {
    run "$perch" help
    [ "$status" -eq 0 ]
    for title in "first steps" "run plugins" "manage plugins" "call tools" "use agents" confine "look into"; do
        [[ "$output" == *$'\n'"  $title "* ]]
    done
    # Every word that completes stands there too.
    for command in $("$perch" __complete '' | cut -f 1); do
        [[ "$output" == *" $command  "* ]]
    done
    [ "$(wc -l <<<"$output")" -le 24 ]
    [ "$(wc -L <<<"$output")" -le 80 ]
    [ "$("$perch")" = "$output" ]
    [ "$("$perch" --help)" = "$output" ]
}

@test "every command has its help, with an example" {
    for command in doctor help tour; do
        run "$perch" help "$command"
        [ "$status" -eq 0 ]
        [[ "$output" == *example:* ]]
        [ "$("$perch" "$command" --help)" = "$output" ]
    done
}

@test "an unknown command suggests the nearest and exits 64" {
    run "$perch" docter
    [ "$status" -eq 64 ]
    [ "${lines[0]}" = "error: there is no command 'docter'" ]
    [[ "${lines[1]}" == *"perch doctor"* ]]
}

@test "an unknown option suggests the nearest and exits 64" {
    run "$perch" --jsno doctor
    [ "$status" -eq 64 ]
    [[ "$output" == *"did you mean --json"* ]]
    run "$perch" doctor --jsn
    [ "$status" -eq 64 ]
    run "$perch" --color
    [ "$status" -eq 64 ]
    [[ "$output" == *"needs a value"* ]]
    run "$perch" --color=pink doctor
    [ "$status" -eq 64 ]
    run "$perch" doctor extra
    [ "$status" -eq 64 ]
    run "$perch" --json=yes doctor
    [ "$status" -eq 64 ]
}

@test "what a terminal would obey does not come back in an error" {
    while read -ra words; do
        run "$perch" "${words[@]}" $'\e[31mred\a\u009b1m\u202e' </dev/null
        echo "${words[*]}: $output"
        [ "$status" -ne 0 ]
        [[ "$output" == *red* ]]
        [[ "${output//$'\n'/}" != *[[:cntrl:]]* && "$output" != *$'\u009b'* && "$output" != *$'\u202e'* ]]
    done <<'END'

--color
help
run
agent
agent run --prompt hi
agent run --prompt hi -p
agent check
agent chat -p
agent serve
agent serve --queue
agent allow --net
tool
tool add
tool call
tool call x y --context
tool call x y --timeout
tool check
tool remove
tool serve --jobs
tool serve --binding
tool show
END
}

@test "nor do they in what a profile says of itself" {
    # shellcheck disable=SC2016 # a placeholder of the profile
    printf 'command: sh\nargs: ["-c", "\\e[31mred"]\nenv: {"A": "${B\\e[31m}"}\n' >profile.yaml
    run "$perch" agent check profile.yaml
    [[ "$output" == *"sh -c [31mred"* ]]
    [[ "${output//$'\n'/}" != *[[:cntrl:]]* ]]
}

@test "a mistake without a better hint names the help of its command" {
    run "$perch" tool serve --jobs many
    [ "${lines[1]}" = "  see: perch tool serve --help" ]
    run "$perch" doctor --everything
    [ "${lines[1]}" = "  see: perch doctor --help" ]
    run "$perch" foo
    [ "${lines[1]}" = "  perch help lists them all" ]
}

@test "what is not there is told with the command that lists what is" {
    run "$perch" tool show nothing
    [ "$output" = "error: no tool is bound as 'nothing'; perch tool list shows what is" ]
    run "$perch" plugins remove nothing
    [ "$output" = "error: no plugin 'nothing' is installed; perch plugins list shows what is" ]
    run "$perch" plugins update nothing
    [ "$output" = "error: no plugin 'nothing' is installed; perch plugins list shows what is" ]
    run "$perch" plugins test nothing
    [ "${lines[0]}" = "error: cannot use the directory nothing: No such file or directory" ]
}

# advised ADVICE WORD…: perch with these words fails, and its second line is that.
advised() {
    local advice=$1
    shift
    run "$perch" "$@"
    [ "$status" -ne 0 ]
    [ "${lines[1]}" = "  $advice" ] || {
        echo "$output"
        return 1
    }
}

@test "errors of the library come with what to do" {
    cd "$BATS_TEST_TMPDIR"
    export HOME="$BATS_TEST_TMPDIR" XDG_STATE_HOME="$BATS_TEST_TMPDIR/state"
    printf 'command: perch-no-such-agent\n' >gone.yaml
    printf 'command: sleep\nargs: ["600"]\ntimeout_secs: 0.1\n' >slow.yaml
    printf 'command: sleep\nargs: ["600"]\nidle_timeout_secs: 0.1\n' >silent.yaml
    printf '#!/no/such/interpreter\n' >script
    printf '#!/bin/sh\r\n' >dos
    chmod +x script dos
    advised 'install it, or write its path (./NAME is one of this directory)' agent run gone.yaml hi
    advised 'install it, or write its path (./NAME is one of this directory)' \
        sandbox run -- perch-no-such-command
    advised 'give it more time: --timeout SECONDS, or timeout_secs in its profile' agent run slow.yaml hi
    advised 'let it be silent for longer: idle_timeout_secs in its profile' agent run silent.yaml hi
    printf "command: '{{PROFILE_DIR}}/script'\n" >script.yaml
    advised "install that interpreter, or name another one in the file's first line (#!/bin/sh)" \
        agent run script.yaml hi
    printf "command: '{{PROFILE_DIR}}/dos'\n" >dos.yaml
    printf 'command: "\x27my agent\x27 --fast"\n' >quoted.yaml
    run "$perch" agent run quoted.yaml hi # says what is wrong with the quotes
    [[ "$output" == *"no such command on PATH: ''my'; "* && "$output" != *"install it"* ]]
    advised "sed -i 's/\r\$//' FILE does it" agent run dos.yaml hi
}

@test "errors go to stderr, stdout stays clean" {
    run bash -c "'$perch' docter 2>/dev/null"
    [ -z "$output" ]
}

@test "doctor finds this machine fit" {
    run "$perch" doctor
    [ "$status" -eq 0 ]
    [[ "$output" == *pidfd* && "$output" == *landlock* && "$output" == *git* ]]
    [[ "$output" != *$'\033'* ]]
}

@test "doctor --json is one JSON object, before and after the command" {
    "$perch" doctor --json | python3 -c '
import json, sys
report = json.load(sys.stdin)
assert report["schema_version"] == 1 and report["healthy"] is True
names = {f["name"]: f for f in report["findings"]}
for name in ("pidfd", "guard", "landlock", "seccomp", "user namespaces", "git", "shell", "config"):
    assert names[name]["status"] in ("ok", "warning", "failure"), name
assert names["pidfd"]["status"] == "ok"
assert names["guard"]["status"] == "ok"
'
    [ "$("$perch" --json doctor)" = "$("$perch" doctor --json)" ]
}

@test "doctor tells a missing guard and goes on" {
    PERCH_GUARD=/no/such/guard run "$perch" doctor
    [ "$status" -eq 0 ]
    [[ "$output" == *"warning  guard"* ]]
    [[ "$output" == *"/no/such/guard"* ]]
    [[ "$output" == *"warning  user namespaces  no room for the sandbox"* ]]
}

@test "doctor tells where rooms are not allowed" {
    if ! unshare -Ur true; then skip "there are no user namespaces to forbid some in"; fi
    run unshare -Ur sh -c "echo 0 >/proc/sys/user/max_user_namespaces; exec '$perch' doctor"
    [ "$status" -eq 0 ]
    [[ "$output" == *"warning  user namespaces  no room for the sandbox: namespaces are not allowed"* ]]
}

@test "doctor fails when a directory cannot be written" {
    echo > "$BATS_TEST_TMPDIR/file"
    XDG_CONFIG_HOME="$BATS_TEST_TMPDIR/file" run "$perch" doctor
    [ "$status" -eq 1 ]
    [[ "$output" == *failure* ]]
    # Without HOME, the home directory of the account counts.
    HOME='' XDG_CONFIG_HOME='' run "$perch" doctor
    [[ "$output" == *"$(getent passwd "$(id -u)" | cut -d : -f 6)/.config/perch, "* ]]
}

@test "doctor says what git is for, and takes none from just anywhere on PATH" {
    PERCH_GIT=/nowhere/git run "$perch" doctor
    [ "$status" -eq 0 ]
    [[ "$output" == *"install git to install plugins"* ]]
    printf '#!/bin/sh\necho planted\n' >"$BATS_TEST_TMPDIR/git"
    chmod +x "$BATS_TEST_TMPDIR/git"
    PATH="$BATS_TEST_TMPDIR:$PATH" run "$perch" doctor
    [[ "$output" == *"git version "* ]]
    [[ "$output" != *planted* ]]
}

@test "colour follows --color, NO_COLOR and CLICOLOR_FORCE" {
    run "$perch" --color always doctor
    [[ "$output" == *$'\033[32m'* ]]
    CLICOLOR_FORCE=1 run "$perch" doctor
    [[ "$output" == *$'\033[32m'* ]]
    CLICOLOR_FORCE=1 NO_COLOR=1 run "$perch" doctor
    [[ "$output" != *$'\033'* ]]
    CLICOLOR_FORCE=1 run "$perch" --color=never doctor
    [[ "$output" != *$'\033'* ]]
}

@test "a full disk is a failure, not a success" {
    run bash -c "'$perch' help > /dev/full"
    [ "$status" -eq 125 ]
    [ "$output" = "error: the output could not be written: No space left on device" ]
}

@test "a reader that goes away does not kill it" {
    run bash -c "set -o pipefail; '$perch' doctor | true"
    [ "$status" -ne 141 ]
}

# says CODE TEXT WORD…: perch with these words.
says() {
    local code=$1 text=$2
    shift 2
    run "$perch" "$@"
    [ "$status" -eq "$code" ]
    [[ "$output" == *"$text"* ]]
}

@test "words of other tools work, or are answered by what there is" {
    says 64 "perch plugins list, perch tool list" ls
    says 64 "perch plugins remove, perch tool remove" uninstall x
    says 64 "perch plugins install" install
    says 64 "perch plugins create" new
    says 0 "perch $("$perch" --version | cut -d' ' -f2)" version
    says 0 "perch $("$perch" --version | cut -d' ' -f2)" -V
    says 0 "usage: perch plugins remove" plugins rm --help
    says 0 "usage: perch tool list" help tool ls
}

@test "perch run alone lists the commands of plugins" {
    export HOME="$BATS_TEST_TMPDIR" XDG_CONFIG_HOME="$BATS_TEST_TMPDIR/config"
    says 0 "none yet: perch plugins install SOURCE" run
    "$perch" plugins install "$PERCH_SOURCE/examples/plugins/deploy-bash" --yes --trust
    says 0 "Ship the project" run
    says 64 "run what?" run --json
}

@test "a plugin that lies here is found by a user who forgets the ./" {
    export HOME="$BATS_TEST_TMPDIR" XDG_CONFIG_HOME="$BATS_TEST_TMPDIR/config"
    cd "$PERCH_SOURCE/examples/plugins"
    says 1 "there is a plugin in ./deploy-bash: write ./ before it" plugins install deploy-bash --yes
    says 1 "is not understood" plugins install nothing-here --yes
}

@test "doctor says what each frontend shows of all that there is" {
    export HOME="$BATS_TEST_TMPDIR" XDG_CONFIG_HOME="$BATS_TEST_TMPDIR/config"
    mkdir -p "$XDG_CONFIG_HOME/perch/agents"
    echo 'command: cat' >"$XDG_CONFIG_HOME/perch/agents/bot.yaml"
    echo 'command: cat' >"$XDG_CONFIG_HOME/perch/agents/other.yaml"
    exposed() { "$perch" doctor | sed -n 's/^ *ok *exposed *//p'; }
    [ "$(exposed | grep -o 'http [0-9]*')" = "http 0" ]
    all=$(exposed | sed 's/.* of //')
    printf '[expose.http]\nagents = ["bot"]\n' >"$XDG_CONFIG_HOME/perch/config.toml"
    [ "$(exposed)" = "mcp 0, http 1, acp 0, worker 0 of $all" ]
    printf '[expose.http]\nagents = "bot"\n' >"$XDG_CONFIG_HOME/perch/config.toml"
    run "$perch" doctor
    [[ "$output" == *"config.toml"* ]]
}

@test "error: is red wherever colours are wanted, and nowhere else" {
    red=$'\e[31merror'
    for words in 'foo' 'tool call nothing x' 'agent run nothing hello' 'plugins update nothing' \
        'sandbox run' 'trace show nothing'; do
        # shellcheck disable=SC2086 # words
        run "$perch" --color always $words </dev/null
        [[ "$output" == *"$red"* ]] || { echo "$words: $output" && false; }
        # shellcheck disable=SC2086
        run "$perch" $words </dev/null
        [[ "$output" == *"error: "* && "$output" != *$'\e'* ]] || { echo "$words: $output" && false; }
    done
    run "$perch" --color always help doctor
    [[ "$output" == $'\e[1musage:\e[0m perch doctor'* ]]
    [[ "$output" == *$'\e[1mexample:\e[0m'* ]]
}

@test "an error in a file shows the line, and where" {
    mkdir -p p
    printf '# first\n[plugin\nname = 1\n' >p/plugin.toml
    run "$perch" plugins install ./p
    [ "${lines[1]}" = '  | [plugin' ]
    [ "${lines[2]}" = '  |        ^' ]
    printf 'name: x\ncommand: [a\nenv: }\n' >p.yaml
    run "$perch" agent check p.yaml
    [[ "$output" == *'  | env: }'*'  |    ^'* ]]
    printf '{"größe": 1,\n "x": nope}\n' >rterm-plugin.json
    run "$perch" tool add ./rterm-plugin.json --yes
    [[ "$output" == *'  |  "x": nope}'*$'\n  |       ^'* ]]
    printf 'x = %s\n' "$(printf '%0300d' 0 | tr 0 '"')" >long.toml
    run "$perch" tool call --binding long.toml x
    [[ "$output" == *'^'* ]]
    [ "$(awk '{ print length }' <<<"$output" | sort -n | tail -1)" -lt 200 ]
}

@test "doctor ends with a sentence" {
    run "$perch" doctor
    [[ "${lines[-1]}" == "perch works here"*. || "${lines[-1]}" == "perch cannot do its work here"*. ]]
}

@test "what is missing is told with what to do" {
    run "$perch" tool add ./nothing
    [ "${lines[1]}" = "  look at the name: a relative one is taken from the current directory" ]
    run "$perch" agent run "$PWD/nothing.yaml" hi
    [ "${#lines[@]}" -eq 1 ]
    run "$perch" agent run </dev/null
    [ "${lines[1]}" = "  write its name or its file behind the command" ]
    mkdir empty
    run "$perch" plugins install ./empty
    [[ "$output" == *"perch plugins create NAME begins one"* ]]
    echo plain >plain.txt
    run "$perch" trace show plain.txt
    [[ "$output" == *"a recording is made by: perch --trace FILE run"* ]]
}
