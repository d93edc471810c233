#!/bin/sh
# git.sh PLACE [CASE…]: what other people may have written around a git that perch starts for
# itself, as whoever calls it: in a room, and without one. PLACE is a directory of the
# caller with an empty `work` in it, and beside that `shared`, which somebody else has put a
# repository into; the programs are beside this script. Says what was executed, or seen.
set -eu

place=$1
shift
here=$(dirname -- "$(readlink -f -- "$0")")
export HOME="$place/work/home" TMPDIR="$place/work/tmp"
export XDG_CONFIG_HOME="$HOME/.config" XDG_STATE_HOME="$HOME/.state" XDG_CACHE_HOME="$HOME/.cache"
export PERCH_GUARD="$here/perch-guard" GIT_CONFIG_NOSYSTEM=1
unset PERCH_SANDBOX_NO_ROOM PERCH_LANDLOCK_ABI_MAX PERCH_GIT GIT_CONFIG_GLOBAL GIT_DIR
perch="$here/perch"
cfg="$XDG_CONFIG_HOME/fledge"
ran="$place/work/ran"
evil="$place/work/evil"
project="$place/work/project"
failures=0

# Every case finds the same: a home with a key, a program that tells that it ran, and a
# repository with a file whose content git has to look at.
prepare() {
    cd "$place"
    rm -rf work
    mkdir -p work/tmp "$HOME/.ssh" "$project" "$cfg/plugins/bin" "$XDG_CONFIG_HOME/perch"
    echo secret >"$HOME/.ssh/id_rsa"
    printf '#!/bin/sh\nid >>"%s"\n' "$ran" >"$evil"
    chmod 755 "$evil"
    git config --global user.name test
    git config --global user.email test@example.org
    git config --global init.defaultBranch main
    echo 'schema = 1' >"$XDG_CONFIG_HOME/perch/grants.toml"
    cd "$project"
    make_repository
}

make_repository() {
    git init -q .
    echo '* filter=bad' >.gitattributes
    echo x >file
    git add .
    git commit -qm first
    touch -d '2 days ago' file
}

# plugin NAME CAPABILITIES < SCRIPT: installed and granted; `ask KEY` prints what it is told.
plugin() {
    mkdir -p "$cfg/plugins/$1/bin"
    {
        printf '#!/bin/sh\n'
        cat "$place/words"
        cat
    } >"$cfg/plugins/$1/bin/$1"
    chmod 755 "$cfg/plugins/$1/bin/$1"
    ln -s "../$1/bin/$1" "$cfg/plugins/bin/fledge-$1"
    printf '[plugin]\nname = "%s"\nversion = "1.0.0"\nprotocol = "fledge-v1"\n[[commands]]\nname = "%s"\nbinary = "bin/%s"\n[capabilities]\n%s\n' \
        "$1" "$1" "$1" "$2" >"$cfg/plugins/$1/plugin.toml"
    printf '[[plugins]]\nname = "%s"\nsource = "test"\nversion = "1.0.0"\ninstalled = "2026-01-01"\ncommands = ["%s"]\n[plugins.capabilities]\n%s\n' \
        "$1" "$1" "$2" >>"$cfg/plugins.toml"
}

cat >"$place/words" <<'END'
read -r init
say() { printf '{"type":"output","text":"%s"}\n' "$(printf '%s' "$1" | tr -d '"\\')"; }
ask() {
    printf '{"type":"metadata","id":"1","keys":["%s"]}\n' "$1"
    read -r answer
    say "$answer"
}
END

honest() {
    plugin honest 'metadata = true' <<'END'
say "$init"
ask git_status
ask git_log
ask git_tags
END
}

run() {
    "$perch" run "$@" </dev/null >"$place/work/said" 2>&1 || true
}

fail() {
    echo "$case$mode: $1"
    sed 's/^/    /' "$place/work/said" 2>/dev/null || true
    failures=$((failures + 1))
}

nothing_ran() {
    [ ! -e "$ran" ] || fail "somebody else's program ran"
}

says() {
    grep -q "$1" "$place/work/said" || fail "does not say '$1'"
}

# ---- what a plugin does during its run ----------------------------------------

case_commondir() {
    plugin sly 'metadata = true' <<'END'
cp -r .git copy
printf '[filter "bad"]\n\tclean = %s\n' "$EVIL" >>copy/config
echo ../copy >.git/commondir
touch file
ask git_status
rm .git/commondir
END
    EVIL=$evil run sly
    says git_status
    nothing_ran
}

case_new_repository() {
    mkdir below
    cp -r .git .gitattributes file below/
    mv below/.git below/waiting
    printf '[filter "bad"]\n\tclean = %s\n' "$evil" >>below/waiting/config
    cd below
    plugin sly 'metadata = true' <<'END'
mv waiting .git || cp -r waiting .git
touch file
ask git_status
END
    run sly
    says git_status
    nothing_ran
}

# ---- what a repository brings along --------------------------------------------

case_filters() {
    honest
    printf '[filter "bad"]\n\tclean = %s\n\trequired\n' "$evil" >>.git/config
    run honest
    says 'git_log.*first'
    nothing_ran
}

case_worktree_config() {
    honest
    printf '[extensions]\n\tworktreeConfig = true\n[include]\n\tpath = more\n' >>.git/config
    printf '[extensions]\n\tworktreeConfig = false\n' >.git/more
    printf '[filter "bad"]\n\tclean = %s\n' "$evil" >.git/config.worktree
    run honest
    says git_status
    nothing_ran
}

# include_as BLANK: another for git 2.39, itself for later ones.
include_as() {
    honest
    itself=$(printf 'a%bb' "$1")
    printf '[include]\n\tpath = %s\n' "$itself" >>.git/config
    printf '[filter "bad"]\n\tclean = %s\n' "$evil" >".git/a b"
    : >".git/$itself"
    run honest
    says git_status
    mv ".git/a b" ".git/$itself"
    run honest
    says git_status
    nothing_ran
}

case_include_tab() { include_as '\t'; }
case_include_return() { include_as '\r'; }

case_everything_else() {
    honest
    cp "$evil" .git/hooks/post-index-change
    git config core.fsmonitor "$evil"
    git config diff.external "$evil"
    git config core.sshCommand "$evil"
    git config gpg.program "$evil"
    git config log.showSignature true
    git config core.pager "$evil"
    git config filter.a=b.clean "$evil"
    echo '* filter=a=b diff=bad' >.gitattributes
    git config diff.bad.textconv "$evil"
    rm -f "$ran"
    run honest
    nothing_ran
}

# What git lists is what the plugin is told.
case_work_tree_of_secrets() {
    honest
    git config core.worktree "$HOME/.ssh"
    run honest
    ! grep -q id_rsa "$place/work/said" || fail "a secret is named"
}

# Where a variable has moved them, too.
case_work_tree_of_moved_secrets() {
    honest
    mkdir "$place/work/keys"
    echo secret >"$place/work/keys/id_rsa"
    git config core.worktree "$place/work/keys"
    GNUPGHOME="$place/work/keys" run honest
    ! grep -q id_rsa "$place/work/said" || fail "a secret is named"
}

# ---- where one stands while plugins are managed --------------------------------

published() {
    mkdir -p "$place/work/published/bin"
    (
        cd "$place/work/published"
        printf '[plugin]\nname = "hello"\nversion = "1.0.0"\nprotocol = "fledge-v1"\n[[commands]]\nname = "hello"\nbinary = "bin/hello"\n' >plugin.toml
        printf '#!/bin/sh\n' >bin/hello
        chmod 755 bin/hello
        git init -q .
        git add .
        git commit -qm one
        git tag v1.0.0
        git tag v1.1.0
    )
    url="file://$place/work/published"
    (cd / && "$perch" plugins install "$url@v1.0.0" --yes --trust) </dev/null >"$place/work/said" 2>&1 ||
        fail "cannot be installed"
}

manage() {
    "$perch" plugins update "$@" </dev/null >"$place/work/said" 2>&1 || fail "plugins update fails"
}

case_update_uploadpack() {
    published
    git config "remote.$url.url" "$url"
    git config "remote.$url.uploadpack" "$evil; git-upload-pack"
    manage hello
    says 'v1.1.0 is newer'
    manage hello --latest --yes
    nothing_ran
}

case_update_instead_of() {
    published
    git config "url.ssh://host/x.insteadOf" "file://"
    git config core.sshCommand "$evil"
    manage hello
    says 'v1.1.0 is newer'
    nothing_ran
}

# The clone's own attributes and the source's hooks and config.
case_source_with_code() {
    published
    git -C "$place/work/published" config uploadpack.packObjectsHook "$evil"
    cp "$evil" "$place/work/published/.git/hooks/post-checkout"
    manage hello --latest --yes
    nothing_ran
}

# By ssh git sees the keys and no other credentials; what it sees it tells where hosts are
# remembered, for nothing else can be written. (A home in /tmp is not seen at all.)
case_ssh() {
    [ "${place#/tmp/}" = "$place" ] || return 0
    echo password >"$HOME/.git-credentials"
    : >"$HOME/.ssh/known_hosts"
    cat >"$HOME/my-ssh" <<'END'
#!/bin/sh
touch "$HOME/.ssh/made"
cat "$HOME/.ssh/id_rsa" "$HOME/.git-credentials" >>"$HOME/.ssh/known_hosts"
exit 1
END
    chmod 755 "$HOME/my-ssh"
    git config --global core.sshCommand "$HOME/my-ssh"
    git config core.sshCommand "$evil"
    "$perch" plugins install ssh://host.invalid/a/b --yes --trust </dev/null >"$place/work/said" 2>&1 || true
    says 'error: git: '
    [ "$(sort -u "$HOME/.ssh/known_hosts")" = secret ] ||
        fail "ssh has seen '$(cat "$HOME/.ssh/known_hosts")'"
    [ ! -e "$HOME/.ssh/made" ] || fail "ssh has written to ~/.ssh"
    nothing_ran
}

# ---- what stands first on PATH --------------------------------------------------

case_planted_programs() {
    published
    mkdir -p .venv/bin
    for name in git sh ssh git-upload-pack git-remote-https; do
        cp "$evil" ".venv/bin/$name"
    done
    honest
    plugin executes 'exec = true' <<'END'
printf '{"type":"exec","id":"1","command":"echo done"}\n'
read -r answer
say "$answer"
END
    PATH="$project/.venv/bin:$PATH"
    run honest
    says 'git_log.*first'
    run executes
    says 'done'
    manage hello
    manage hello --latest --yes
    "$perch" doctor </dev/null >"$place/work/said" 2>&1 || true
    PATH=${PATH#*:}
    nothing_ran
}

# ---- whose a repository is -------------------------------------------------------

case_repository_of_another() {
    [ -d "$place/shared" ] || return 0
    cd "$place/shared/mine"
    honest
    run honest
    says 'project.*git:null'
    mkdir -p "$place/work/published/bin"
    plugin hooked 'exec = true' </dev/null
    # shellcheck disable=SC2016 # for the hook's shell
    printf '[hooks]\npre_push = "echo root=$FLEDGE_REPO_ROOT"\n' >>"$cfg/plugins/hooked/plugin.toml"
    "$perch" plugins hooks run pre_push -v </dev/null >"$place/work/said" 2>&1 || true
    says "root=$place/shared/mine\$"
    git config --global safe.directory "$place/shared"
    run honest
    says 'project.*branch:theirs'
}

[ $# -gt 0 ] || set -- commondir new_repository filters worktree_config include_tab \
    include_return everything_else work_tree_of_secrets work_tree_of_moved_secrets \
    update_uploadpack update_instead_of source_with_code ssh planted_programs repository_of_another
for mode in '' ', without a room'; do
    if [ -n "$mode" ]; then export PERCH_SANDBOX_NO_ROOM=1; fi
    for case; do
        prepare
        "case_$case"
    done
done
[ "$failures" = 0 ]
