# shellcheck shell=sh
# What perch's own help says of its commands and options: for the tests that hold
# it against the command, and those that hold the manual against it. To be sourced.
perch=$PERCH_BUILD/perch

# Every command and every word of those that have words, one a line.
command_lines() {
    for command in $("$perch" __complete '' | cut -f 1); do
        echo "$command"
        "$perch" help "$command" | grep -qF "perch $command WORD --help explains" || continue
        "$perch" __complete "$command" '' | cut -f 1 | sed "s/^/$command /"
    done
}

# Those that do something themselves: no list of words.
leaf_lines() {
    command_lines | awk '{ lines[NR] = $0; if (NF > 1) has_words[$1] = 1 }
        END { for (i = 1; i <= NR; i++) if (!(lines[i] in has_words)) print lines[i] }'
}

# options_in: the options of a text, one a line; --no-net is not -n.
options_in() {
    grep -oE -e '(^|[^[:alnum:]_-])--?[a-zA-Z][a-z-]*' | grep -oE -e '--?[a-zA-Z][a-z-]*' | sort -u
}

# Those lines of a help that define options: its usage, and what begins with a dash.
defining_lines() {
    sed -n '/^example:/q; /^usage: \|^       perch \|^  -/p'
}

# help_options COMMAND…: the options that its help defines.
help_options() {
    "$perch" help "$@" | defining_lines | options_in
}

# borrowed_options COMMAND…: those that its help says are those of another command.
borrowed_options() {
    # shellcheck disable=SC2016 # no expansion
    other=$("$perch" help "$@" | sed -n 's/.*the options of `perch \([a-z ]*\)`.*/\1/p')
    # shellcheck disable=SC2086 # words of a command
    [ -z "$other" ] || help_options $other
}

# accepts OPTION COMMAND…: whether it takes this option. One that cannot be stands
# behind it, so that nothing is ever done. 2: it cannot be told.
accepts() {
    option=$1
    shift
    case $option in
    --*) said=$("$perch" "$@" "$option=x" --zzz 2>&1 </dev/null) && return 2 ;;
    *) said=$("$perch" "$@" "$option" --zzz --zzz 2>&1 </dev/null) && return 2 ;;
    esac
    case $said in
    *"there is no option '--zzz'"* | *"takes no value"* | *"is full or none"*) return 0 ;;
    *"there is no option '$option"* | *"comes too late"*) return 1 ;;
    esac
    echo "$* $option is neither taken nor refused: $said" >&2
    return 2
}

# accepted_options COMMAND…: of the options on stdin, those that it takes.
accepted_options() {
    while read -r candidate; do
        answer=0
        accepts "$candidate" "$@" || answer=$?
        [ $answer -ne 0 ] || printf "%s\n" "$candidate"
        [ $answer -ne 2 ] || return 1
    done
}
