# shellcheck shell=bash
# What perch's own help says of its commands and options: for the tests that hold
# it against the command, and those that hold the manual against it. To be sourced.
perch=$PERCH_BUILD/perch

# Every command and every word of those that have words, one a line.
command_lines() {
    local command word
    for command in $("$perch" __complete '' | cut -f 1); do
        echo "$command"
        "$perch" help "$command" | grep -qF "perch $command WORD --help explains" || continue
        for word in $("$perch" __complete "$command" '' | cut -f 1); do
            echo "$command $word"
        done
    done
}

# Those that do something themselves: no list of words.
leaf_lines() {
    local all
    all=$(command_lines)
    grep -vxF -e "$(grep ' ' <<<"$all" | cut -d ' ' -f 1 | sort -u)" <<<"$all"
}

# options_in: the options of a text, one a line; --no-net is not -n.
options_in() {
    grep -oE -e '(^|[^[:alnum:]_-])--?[a-z][a-z-]*' | grep -oE -e '--?[a-z][a-z-]*' | sort -u
}

# Those lines of a help that define options: its usage, and what begins with a dash.
defining_lines() {
    sed -n '/^example:/q; /^usage: \|^       perch \|^  -/p'
}

# help_options COMMAND…: the options that its help defines, or says are those of another.
help_options() {
    local text other
    text=$("$perch" help "$@")
    # shellcheck disable=SC2016 # no expansion
    other=$(sed -n 's/.*the options of `perch \([a-z ]*\)`.*/\1/p' <<<"$text")
    {
        defining_lines <<<"$text"
        # shellcheck disable=SC2086 # words of a command
        [ -z "$other" ] || "$perch" help $other | defining_lines
    } | options_in
}
