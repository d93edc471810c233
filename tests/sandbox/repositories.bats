#!/usr/bin/env bats
# What git would execute, in every repository near what may be written: protected where it is
# there, told where it is made. As whoever runs this and, run by root, as a normal user as well.

# shellcheck disable=SC2016,SC2154,SC2317 # for the sandbox's shell; what sandbox_open sets; what check_both calls
load sandbox
load ../harness/users

# check_both: calls `check` in a place of its own.
check_both() {
    has_rooms || skip "no namespaces here"
    export -f check as_somebody begin confined denied wants mentions silent
    as_both as_somebody
}

as_somebody() {
    set -euo pipefail
    echo "as user $(id -u)"
    place=$1
    export HOME="$1/home" XDG_CONFIG_HOME="$1/home/.config" XDG_STATE_HOME="$1/home/.local/state"
    export XDG_CACHE_HOME="$1/home/.cache"
    mkdir -p "$HOME/.ssh"
    git config --global user.name n
    git config --global user.email e
    git config --global protocol.file.allow always
    perch=$(command -v perch)
    check
}

# begin: a repository with a sub-directory, a linked worktree and a submodule.
begin() {
    main="$place/main"
    tree="$place/tree"
    mark="$place/mark"
    git init -q "$place/origin"
    git -C "$place/origin" commit -q --allow-empty -m origin
    git init -q "$main"
    cd "$main"
    mkdir -p sub/deep
    printf '[core]\n\tfsmonitor = touch %s\n' "$mark" >sub/evil
    git submodule --quiet add "$place/origin" module
    git commit -q --allow-empty -m first
    git worktree add -q "$tree"
}

confined() {
    "$perch" sandbox run -q -- "$@"
}

denied() {
    ! "$@" >/dev/null 2>&1 </dev/null || { echo "succeeded: $*"; return 1; }
}

# wants WORDS COMMAND…: it succeeds and says so.
wants() {
    local words=$1
    shift
    output=$("$@" 2>&1) || { echo "failed: $*: $output"; return 1; }
    mentions "$words"
}

mentions() {
    [[ "$output" == *"$1"* ]] || { echo "does not say '$1': $output"; return 1; }
}

# silent COMMAND…: it succeeds and says nothing.
silent() {
    output=$("$@" 2>&1) || { echo "failed: $*: $output"; return 1; }
    [ -z "$output" ] || { echo "said: $output"; return 1; }
}

setup() {
    sandbox_open
    users_bring
    cd "$BATS_TEST_TMPDIR" || return 1
}

@test "protected however it became writable: above, below, by a worktree, by a grant of itself" {
    check() {
        begin
        cd "$main/sub"
        for path in hooks/x config config.worktree modules/module/config modules/module/hooks/x \
            worktrees/tree/commondir; do
            case $path in *.worktree) touch "$main/.git/$path" ;; esac
            denied "$perch" sandbox run --write "$main" -- cp evil "$main/.git/$path"
            denied "$perch" sandbox run --write "$main/.git" -- cp evil "$main/.git/$path"
            denied "$perch" sandbox run --write "$(dirname "$main/.git/$path")" -- cp evil "$main/.git/$path"
            [ ! -e "$main/.git/$path" ] ||
                denied "$perch" sandbox run --write "$main/.git/$path" -- cp evil "$main/.git/$path"
            (cd "$tree" && denied confined cp "$main/sub/evil" "$main/.git/$path")
            (cd "$tree" && denied "$perch" sandbox run --write "$main/.git" -- cp "$main/sub/evil" "$main/.git/$path")
            (cd "$main/module" && denied "$perch" sandbox run --write "$main/.git" -- cp "$main/sub/evil" "$main/.git/$path")
            (cd "$HOME" && denied "$perch" sandbox run --write "$place" -- cp "$main/sub/evil" "$main/.git/$path")
            (cd "$HOME" && denied "$perch" sandbox run --policy tool --write "$place" -- cp "$main/sub/evil" "$main/.git/$path")
        done
        denied "$perch" sandbox run --write "$main" -- mv "$main/.git" "$main/gone"
        git -C "$main" status --porcelain >/dev/null
        [ ! -e "$mark" ]
    }
    check_both
}

@test "the project is the work tree: a commit in a sub-directory, a worktree, a submodule" {
    check() {
        begin
        for directory in "$main" "$main/sub/deep" "$tree" "$main/module"; do
            cd "$directory"
            silent confined sh -ec 'echo x >made; git add made; git commit -q -m made
                git tag new; git tag -d new >made; git pack-refs --all; git gc -q; git stash -q || true'
            [ "$(git log -1 --format=%s)" = made ]
            root=$(git rev-parse --show-toplevel)
            confined touch "$root/top"
            denied confined touch "$place/outside"
            git reset -q --hard
        done
    }
    check_both
}

@test "the project is not a home directory, nor what belongs to others or does not know of it" {
    check() {
        begin
        git init -q "$HOME"
        mkdir -p "$HOME/work"
        cd "$HOME/work"
        confined touch here
        denied confined touch "$HOME/there"
        denied confined touch "$HOME/.git/there"
        mkdir "$place/thief" "$place/bare"
        cd "$place/thief"
        echo "gitdir: $main/.git" >.git
        denied confined touch "$main/.git/x"
        echo "gitdir: $main/.git/worktrees/tree" >.git
        denied confined touch "$main/.git/x"
        denied confined touch "$main/.git/worktrees/tree/x"
    }
    check_both
}

@test "a repository that a run has made, with something to execute, is told; --strict removes it" {
    check() {
        begin
        cd "$main"
        make='git init -q sub/nest; cp sub/evil sub/nest/.git/config; git init -q fine; git clone -q origin cloned 2>/dev/null || true'
        wants "$main/sub/nest/.git was made in the sandbox" confined sh -ec "$make"
        mentions "rm -rf $main/sub/nest/.git"
        [[ "$output" != *fine* ]]
        eval "${output##*to remove it: }"
        [ ! -e sub/nest/.git ]
        silent confined true
        rm -rf sub/nest fine
        wants "it was removed" "$perch" sandbox run -q --strict -- sh -ec "$make"
        [ ! -e sub/nest/.git ]
        [ -e fine/.git ]
        # As hooks, as a bare one, by a file that leads elsewhere.
        for make in 'git init -q n; echo x >n/.git/hooks/pre-commit' \
            'git init -q --bare n; cat sub/evil >>n/config' \
            'git init -q --separate-git-dir elsewhere n; cp sub/evil elsewhere/config' \
            'git init -q n; echo x >n/.git/config.worktree' \
            "git init -q n; git -C n config core.worktree '$HOME'" \
            'git init -q n; echo x >n/.git/hooks/x; chmod 300 n/.git/hooks' \
            'git init -q n; echo x >n/.git/hooks/x; chmod 300 n/.git' \
            'git init -q n; mkdir n/other; echo ../other >n/.git/commondir'; do
            rm -rf n elsewhere
            wants "was made in the sandbox" confined sh -ec "$make"
            chmod -R u+rwx n
            rm -rf n elsewhere
            wants "it was removed" "$perch" sandbox run -q --strict -- sh -ec "$make"
            [ ! -e n/.git ] && [ ! -e n/config ] && [ ! -e elsewhere ] || { ls -d n/.git n/config elsewhere; false; }
        done
        [ ! -e "$mark" ]
        # Nothing that git itself would not have made.
        rm -rf n elsewhere
        silent confined git worktree add -q fresh
        (cd "$tree" && silent confined git worktree add -q fresher)
    }
    check_both
}

@test "a submodule that a run has planted, with its entry in the index, is told; --strict removes it" {
    check() {
        begin
        cd "$main"
        commit=$(git rev-parse HEAD)
        plant="mkdir planted; git init -q .git/modules/planted.tmp; mv .git/modules/planted.tmp/.git .git/modules/planted
            rmdir .git/modules/planted.tmp; cat sub/evil >>.git/modules/planted/config
            echo 'gitdir: ../.git/modules/planted' >planted/.git
            git update-index --add --cacheinfo 160000,$commit,planted"
        wants "$main/.git/modules/planted was made in the sandbox" confined sh -ec "$plant"
        mentions "rm -rf $main/.git/modules/planted"
        rm -rf planted .git/modules/planted
        git reset -q
        wants "it was removed" "$perch" sandbox run -q --strict -- sh -ec "$plant"
        [ ! -e .git/modules/planted ]
        [ ! -e planted/.git ]
        git status --porcelain >/dev/null
        [ ! -e "$mark" ]
        [ -e .git/modules/module/config ]
    }
    check_both
}

@test "--strict removes nothing that was there before" {
    check() {
        begin
        cd "$main"
        git init -q mine
        cat sub/evil >>mine/.git/config
        mkdir wide
        (cd wide && mkdir $(seq 1100) && mkdir -p 7/8 && git init -q 7/8/mine && cat ../sub/evil >>7/8/mine/.git/config)
        "$perch" sandbox run -q --strict -- sh -c 'echo x >wide/7/8/mine/.git/hooks/post-merge' >said 2>&1
        [ -e mine/.git/config ]
        [ -e wide/7/8/mine/.git/config ]
        grep -q "wide/7/8/mine/.git was made" said
    }
    check_both
}

# Each path is as long as what holds it: what was compared with all others took most of a minute.
@test "a chain of repositories in a thousand directories costs a second, not a minute" {
    check() {
        mkdir "$place/chain"
        cd "$place/chain"
        python3 - <<'END'
import os
for i in range(1000):
    os.mkdir("ddd")
    os.chdir("ddd")
    if i >= 744:
        for name in "objects", "refs", "hooks":
            os.makedirs(".git/" + name)
        for name in "HEAD", "config":
            open(".git/" + name, "w").close()
END
        (ulimit -t 5 && "$perch" sandbox run -q -- true)
    }
    check_both
}

@test "links and crowds in .git/modules: neither hang it nor go unsaid" {
    check() {
        begin
        cd "$main/.git/modules"
        for i in 1 2 3 4 5 6 7; do mkdir "d$i"; done
        for i in 1 2 3 4 5 6; do for j in 1 2 3 4 5 6 7 8 9 10 11 12; do ln -s "../d$((i + 1))" "d$i/l$j"; done; done
        cd "$main"
        silent timeout 20 "$perch" sandbox run -- true
        mkdir -p .git/modules/crowd
        (cd .git/modules/crowd && mkdir $(seq 700))
        wants "too much in $main/.git/modules" timeout 20 "$perch" sandbox run -- true
        denied confined touch .git/modules/crowd/x
    }
    check_both
}

@test "without namespaces nothing is protected: what has changed is told" {
    cd "$project"
    git init -q
    git init -q nest
    echo x >.git/hooks/pre-push
    # Until the next tick of the clock that file systems go by: within it, before and after are one.
    python3 -c '
import time
COARSE, now = 5, time.time_ns()
while time.clock_gettime_ns(COARSE) <= now:
    pass'
    export PERCH_SANDBOX_NO_ROOM=1
    output=$(confined true 2>&1)
    [ -z "$output" ]
    output=$(confined sh -c 'echo "[core]" >>nest/.git/config; echo y >.git/hooks/pre-push' 2>&1)
    mentions "$project/nest/.git/config was changed during the run"
    mentions "$project/.git/hooks was changed during the run"
}

@test "what cannot be looked through is said: too much, too deep, not to be listed" {
    check() {
        begin
        cd "$main"
        wants "not all of $main could be looked through" confined sh -c 'mkdir wide && cd wide && seq 33000 | xargs mkdir'
        rm -rf wide
        wants "not all of $main could be looked through" confined python3 -c '
import os
for _ in range(20):
    os.mkdir("d" * 250)
    os.chdir("d" * 250)'
        rm -rf dddd*
        wants "was made in the sandbox" confined sh -c 'mkdir dark && git init -q dark/n && cat sub/evil >>dark/n/.git/config && chmod 300 dark && echo was made in the sandbox, for root'
        [ "$(id -u)" = 0 ] || mentions "not all of $main could be looked through"
        chmod 700 dark
        rm -rf dark
        silent confined true
    }
    check_both
}

@test "what is made where nothing had changed for long is told: deep, in a known directory, moved" {
    check() {
        begin
        cd "$main"
        mkdir -p a/b/c old/one
        # Until each time of change tells whether something is made (base/stamp.h).
        until [ -z "$(find . -newerct '3 seconds ago' -print -quit)" ]; do sleep 0.1; done
        silent confined true
        wants "$main/a/b/c/n/.git was made in the sandbox" confined sh -c 'git init -q a/b/c/n && cat sub/evil >>a/b/c/n/.git/config'
        rm -rf a/b/c/n
        wants "$main/a/b/.git was made in the sandbox" confined sh -c 'git init -q a/b && cat sub/evil >>a/b/.git/config && touch -d 2001-01-01 a/b'
        rm -rf a/b/.git
        wants "$main/a/b/c was made in the sandbox" confined sh -c 'cd a/b/c && touch HEAD && mkdir objects refs && cp ../../../sub/evil config && touch -d 2001-01-01 .'
        rm -rf a/b/c
        wants "$main/a/new/one/.git was made in the sandbox" confined sh -c 'mv old a/new && git init -q a/new/one && cat sub/evil >>a/new/one/.git/config'
    }
    check_both
}

@test "a .git file and a commondir are read as git reads them: line ends, blanks, zeros" {
    check() {
        begin
        cd "$main"
        plant() { # NAME: a repository where nobody looks for one, which executes something
            git init -q --bare ".git/$1"
            git --git-dir=".git/$1" config core.bare false
            git --git-dir=".git/$1" config core.fsmonitor "touch $mark"
            mkdir s
        }
        ends() { plant far && { echo "gitdir: ../.git/far" && head -c 5000 /dev/zero | tr '\0' '\n'; } >s/.git; }
        zero() { plant far && printf 'gitdir: ../.git/far\0x\n' >s/.git; }
        blank() { plant "far " && git init -q --bare .git/far && rm -rf .git/far/hooks && echo "gitdir: ../.git/far " >s/.git; }
        common() {
            plant "worktrees/.. "
            mkdir .git/worktrees/far
            echo "../.. " >.git/worktrees/far/commondir
            echo "ref: refs/heads/x" >.git/worktrees/far/HEAD
            echo "$PWD/s/.git" >.git/worktrees/far/gitdir
            echo "gitdir: ../.git/worktrees/far" >s/.git
        }
        export -f plant ends zero blank common
        export mark
        for kind in ends zero blank common; do
            wants "$main/s/.git was made in the sandbox" confined bash -ec "$kind"
            git -C s status >/dev/null 2>&1 || true
            [ -e "$mark" ] || { echo "$kind would not have been executed"; false; }
            rm -rf "$mark" s .git/far* .git/worktrees/far ".git/worktrees/.. "
            wants "it was removed" "$perch" sandbox run -q --strict -- bash -ec "$kind"
            git -C s status >/dev/null 2>&1 || true
            [ ! -e "$mark" ] || { echo "$kind was executed"; false; }
            rm -rf s .git/far* .git/worktrees/far ".git/worktrees/.. "
        done
        # One that was there before, and leads nowhere, is nothing to tell of.
        mkdir gone
        echo "gitdir: /nowhere" >gone/.git
        silent confined true
    }
    check_both
}

@test "many that lead to one crowd of submodules do not make it looked through again and again" {
    check() {
        begin
        cd "$main"
        wants "not all of $main/big/modules could be looked through" confined bash -ec '
            mkdir -p big/{objects,refs,modules}
            echo "ref: refs/heads/x" >big/HEAD
            (cd big/modules && seq 1000 | xargs mkdir)
            for i in $(seq 40); do mkdir "d$i" && echo "gitdir: ../big" >"d$i/.git"; done'
    }
    check_both
}

@test "a path that cannot be shown as it is gets no command that removes another" {
    check() {
        begin
        cd "$main"
        git init -q important
        for name in $'impo\u202ertant' $'impo\u009brtant' $'impo\xffrtant' "$(printf '%0240d/%0240d/%0240d' 0 0 0)"; do
            wants "was made in the sandbox" confined bash -ec 'git init -q "$0"; cat sub/evil >>"$0/.git/config"' "$name"
            [[ "$output" != *"rm -rf"* ]]
            [[ "$output" != *"/important/"* ]]
            rm -rf "${name%%/*}"
        done
        # Nor does what was there before: a directory with files of the user's.
        mkdir src
        python3 -c 'import time; time.sleep(0.05)'
        wants "$main/src was made in the sandbox, or changed there" confined sh -ec 'cd src; touch HEAD; mkdir objects refs; cp ../sub/evil config'
        [[ "$output" != *"rm -rf"* ]]
    }
    check_both
}

@test "--strict removes nothing by a link that is put on the way meanwhile" {
    check() {
        begin
        cd "$main"
        # The first takes its time to be removed; meanwhile the second becomes a way to another
        # repository, which is as young.
        "$perch" sandbox run -q --strict -- bash -ec '
            mkdir -p a/b
            for one in first a/b/second; do git init -q $one; cat sub/evil >>$one/.git/config; done
            mkdir first/.git/many
            (cd first/.git/many && seq 20000 | xargs touch)
            touch ready
            until [ -e go ]; do sleep 0.05; done' >said 2>&1 &
        until [ -e ready ]; do sleep 0.05; done
        git init -q "$place/victim"
        ln -s "$place/victim" a/b/link
        python3 -c '
import os
open("go", "w").close()
while len(os.listdir("first/.git/many")) == 20000:
    pass
os.rename("a/b/second", "a/b/away")
os.rename("a/b/link", "a/b/second")'
        wait $!
        cat said
        [ ! -e first/.git ]
        [ -e "$place/victim/.git/HEAD" ]
        grep -q "a/b/second/.git was made in the sandbox, or changed there" said
    }
    check_both
}

@test "too far away to be protected: a hook that is written in its place, and submodules, are told" {
    check() {
        begin
        cd "$main"
        mkdir -p wide
        (cd wide && mkdir $(seq 1100) && mkdir -p 7/8 && git init -q 7/8/mine && git init -q --bare 7/8/mine/.git/modules/m)
        echo x >wide/7/8/mine/.git/hooks/pre-commit
        python3 -c 'import time; time.sleep(0.05)'
        silent confined true
        wants "$main/wide/7/8/mine/.git was made in the sandbox, or changed there" confined sh -c 'echo y >>wide/7/8/mine/.git/hooks/pre-commit'
        [[ "$output" != *"rm -rf"* ]]
        rm wide/7/8/mine/.git/hooks/pre-commit
        python3 -c 'import time; time.sleep(0.05)'
        wants "$main/wide/7/8/mine/.git/modules/m was made in the sandbox, or changed there" confined sh -c 'cat sub/evil >>wide/7/8/mine/.git/modules/m/config'
    }
    check_both
}

@test "a configuration with a second name: told when it is made, and when it was written by that" {
    check() {
        begin
        cd "$main"
        wants "$main/twice/.git was made in the sandbox" confined sh -ec 'git init -q twice; ln twice/.git/config keep'
        python3 -c 'import time; time.sleep(0.05)'
        silent confined true
        wants "$main/twice/.git/config was changed during the run" confined sh -ec 'cat sub/evil >>keep'
        rm -rf twice keep
        wants "it was removed" "$perch" sandbox run -q --strict -- sh -ec 'git init -q twice; ln twice/.git/config keep'
        [ ! -e twice/.git ]
    }
    check_both
}
