#!/usr/bin/env bats
# Completion: what perch offers, and that real shells take it.

setup() {
    perch="$PERCH_BUILD/perch"
    export PATH="$PERCH_BUILD:$PATH"
    mkdir -p "$XDG_CONFIG_HOME/fledge" "$XDG_CONFIG_HOME/perch/tools"
    cat >"$XDG_CONFIG_HOME/fledge/plugins.toml" <<'END'
[[plugins]]
name = "ship"
version = "1.0"
commands = ["deploy", "destroy"]
END
    : >"$XDG_CONFIG_HOME/perch/tools/example.words.toml"
}

# offers WORD…: the first column of what is offered for these words.
offers() {
    "$perch" __complete "$@" | cut -f 1 | tr '\n' ' '
}

@test "commands, options and what is installed are offered" {
    [[ "$(offers '')" == *"run "* ]]
    [[ "$(offers '')" != *__* ]]
    [ "$(offers doc)" = "doctor " ]
    [ "$(offers help doc)" = "doctor " ]
    [ "$(offers run de)" = "deploy destroy " ]
    [ "$(offers --json run des)" = "destroy " ]
    [ "$(offers run deploy x)" = "" ]
    [ "$(offers run --ans)" = "--answer --answers " ]
    [ "$(offers --j)" = "--json " ]
    [ "$(offers completions z)" = "zsh " ]
}

@test "a broken registry offers nothing and says nothing" {
    echo '[[' >"$XDG_CONFIG_HOME/fledge/plugins.toml"
    run "$perch" __complete run ''
    [ "$status" -eq 0 ]
    [ -z "$output" ]
}

@test "bash completes with it" {
    run bash --norc -c 'eval "$(perch completions bash)"
        COMP_WORDS=(perch run des) COMP_CWORD=2
        _perch
        echo "${COMPREPLY[*]}"'
    [ "$status" -eq 0 ]
    [ "$output" = destroy ]
}

@test "the version of a plugin is a text of one line, whatever a registry says" {
    printf '[[plugins]]\nname = "ship"\nversion = "%s"\ncommands = []\n' \
        '1\nevil\tword\n\u001b]0;x\u0007\u202e' >"$XDG_CONFIG_HOME/fledge/plugins.toml"
    "$perch" __complete plugins remove '' >offered
    [ "$(wc -l <offered)" = 1 ]
    [ "$(cut -f 1 offered)" = ship ]
    [ -z "$(LC_ALL=C tr -d '\11\12\40-\176' <offered)" ]
}

@test "a name that a shell would execute is not offered" {
    # shellcheck disable=SC2016 # it is the name
    printf '[[plugins]]\nname = "hostile"\nversion = "1"\ncommands = ["%s", "quiet"]\n' \
        'q$(touch hacked)' >"$XDG_CONFIG_HOME/fledge/plugins.toml"
    [ "$(offers run q)" = "quiet " ]
    # shellcheck disable=SC2016
    : >"$XDG_CONFIG_HOME/perch/tools/"'e$(id).toml'
    [ "$(offers tool call e)" = "example.words " ]
}

@test "bash quotes what it is offered" {
    mkdir bin
    # shellcheck disable=SC2016 # none of it is to be expanded
    printf '#!/bin/sh\nprintf "%%s\\tplugin\\n" '"'"'q$(touch hacked)'"'"' "*" "a b"\n' >bin/perch
    chmod +x bin/perch
    run bash --norc -c 'eval "$(perch completions bash)"
        COMP_WORDS=("$PWD/bin/perch" run q) COMP_CWORD=2
        _perch
        printf "%s\n" "${COMPREPLY[@]}"
        eval "words=(${COMPREPLY[*]})"
        echo "${words[0]} ${#words[@]}"'
    [ "$status" -eq 0 ]
    # shellcheck disable=SC2016
    [ "${lines[0]}" = 'q\$\(touch\ hacked\)' ]
    [ "${lines[1]}" = '\*' ]
    # shellcheck disable=SC2016
    [ "${lines[3]}" = 'q$(touch hacked) 3' ]
    [ ! -e hacked ]
}

@test "zsh and fish accept their scripts" {
    for shell in zsh fish; do
        command -v "$shell" >/dev/null || skip "$shell is not installed"
        "$perch" completions "$shell" | "$shell" -n
    done
    run fish -c 'perch completions fish | source; complete -C "perch run des"'
    [ "${lines[0]%%$'\t'*}" = destroy ]
}

@test "a shell that perch does not know is an error that suggests one" {
    run "$perch" completions bsh
    [ "$status" -eq 64 ]
    [[ "$output" == *"did you mean: bash"* ]]
}

@test "the values of options, tools behind their binding, events, and words behind help" {
    printf 'name = "t"\ncommand = "/bin/true"\n[[tools]]\nname = "words.count"\n[[tools]]\nname = "words.sort"\n' \
        >"$XDG_CONFIG_HOME/perch/tools/t.toml"
    [ "$(offers tool call t '')" = "words.count words.sort " ]
    [ "$(offers tool call t words.s)" = "words.sort " ]
    [ "$(offers tool show t '')" = "" ]
    [ "$(offers plugins create --lang '')" = "bash python node c " ]
    [ "$(offers tool create --lang '')" = "sh python javascript c " ]
    [ "$(offers agent create -l j)" = "javascript " ]
    [ "$(offers --color '')" = "auto always never " ]
    [ "$(offers plugins allow x --preset gi)" = "git github gitlab " ]
    [[ "$(offers plugins install --grant '')" == "exec store "*"plugins none " ]]
    [ "$(offers plugins hooks '')" = "run " ]
    [ "$(offers plugins hooks run '')" = "pre_init post_work_start pre_push " ]
    [ "$(offers help plugins ins)" = "install inspect " ] || [ "$(offers help plugins ins)" = "inspect install " ]
    [ "$(offers help opt)" = "options " ]
    [ "$(offers help run '')" = "" ]
    [ "$(offers help plugins install '')" = "" ]
}
