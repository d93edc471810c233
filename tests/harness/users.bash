# shellcheck shell=bash
# Tests as root and as a normal user. Root's build may lie where a normal user may not go, and its
# /tmp is everybody's: what a test needs is put on file systems that nobody else sees. To be loaded
# by bats files.

# users_bring FILE…: what lies beside perch and perch-guard, and first in PATH.
users_bring() {
    printf -v USERS_FILES '%s\n' "$PERCH_BUILD/perch" "$PERCH_BUILD/perch-guard" "$@"
    export USERS_FILES
}

# as_user root|normal COMMAND [ARGUMENT…]: runs COMMAND PLACE ARGUMENT…, which is a file that was
# brought or an exported function; PLACE is an empty directory of that user's. `users_prepare USER
# PLACE ARGUMENT…`, where the test has one, is called by root before.
as_user() {
    local user=$1
    if [ "$(id -u)" != 0 ]; then
        [ "$user" = normal ] || skip "needs root"
        mkdir "$BATS_TEST_TMPDIR/bin" "$BATS_TEST_TMPDIR/p"
        users_copy "$BATS_TEST_TMPDIR/bin"
        PATH="$BATS_TEST_TMPDIR/bin:$PATH" bash -c '"$@"' bash "$2" "$BATS_TEST_TMPDIR/p" "${@:3}"
        return
    fi
    declare -F users_prepare >/dev/null || users_prepare() { :; }
    export -f users_copy users_enter users_prepare
    unshare --mount --propagation private bash -euc 'users_enter "$@"' bash "$@"
}

# as_both COMMAND [ARGUMENT…]: one after the other; a normal user by himself.
as_both() {
    [ "$(id -u)" != 0 ] || as_user root "$@"
    as_user normal "$@"
}

users_copy() {
    local file
    while read -r file; do
        cp -r "$file" "$1"
    done <<<"${USERS_FILES%$'\n'}"
    chmod -R go+rX "$1"
}

# Root's, in mounts of its own.
users_enter() {
    local user=$1 command=$2 drop=()
    shift 2
    mount -t tmpfs -o mode=755 none /mnt
    mkdir /mnt/bin
    users_copy /mnt/bin
    cd /mnt
    mount -t tmpfs -o mode=1777 none /tmp
    mkdir -m 700 /mnt/place
    users_prepare "$user" /mnt/place "$@"
    if [ "$user" = normal ]; then
        chown 54321:54321 /mnt/place
        drop=(setpriv --reuid 54321 --regid 54321 --clear-groups)
    fi
    PATH="/mnt/bin:$PATH" exec "${drop[@]}" bash -c '"$@"' bash "$command" /mnt/place "$@"
}
