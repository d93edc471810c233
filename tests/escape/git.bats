#!/usr/bin/env bats
# The git that perch starts for itself, in repositories that others have written: git.sh,
# as root and as a normal user.

load ../harness/users

setup() { users_bring "$PERCH_SOURCE/tests/escape/git.sh"; }

# Who else is on the machine has left a repository in a directory that everybody may write to.
users_prepare() {
    mkdir -m 1777 "$2/shared"
    cd "$2/shared" || return
    git -c init.defaultBranch=theirs init -q .
    git -c user.name=x -c user.email=x commit -q --allow-empty -m theirs
    chown -R 54322:54322 .
    mkdir mine
    [ "$1" != normal ] || chown 54321:54321 mine
}

@test "root: no git of ours runs what others have written" { as_user root git.sh; }
@test "normal user: no git of ours runs what others have written" { as_user normal git.sh; }
