# Worlds in which every order of events is tried: those of the tree, and those with a bug.

found() {
    run "$PERCH_BUILD/tests/model/bug-$1"
    printf '%s\n' "$output" >&2
    [ "$status" -eq 1 ]
    [[ "$output" == *"$2"* ]]
}

right() {
    run "$PERCH_BUILD/tests/model/model-$1"
    printf '%s\n' "$output" >&2
    [ "$status" -eq 0 ]
}
