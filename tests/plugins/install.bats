#!/usr/bin/env bats
# Installing: from directories and repositories, consent, what is refused.

# shellcheck disable=SC2154 # what manage_open and plugins set
load manage

setup() { manage_open; }
teardown() { fledge_close; }

@test "install: a directory is linked, live" {
    source_plugin here
    plugins install ./here --yes
    expect_status 0
    expect "installed hello 1.0.0: perch run hello"
    [ "$(readlink "$cfg/plugins/hello")" = "$WORK/here" ]
    [ "$(readlink "$cfg/plugins/bin/fledge-hello")" = ../hello/bin/hello ]
    says hello hello
    SAYS=changed source_plugin here
    says changed hello
    consistent
}

@test "install --copy: a snapshot" {
    source_plugin here
    mkdir here/.git
    echo '{"of":"the author"}' >here/state.json
    ln -s bin/hello here/inner
    plugins install "$WORK/here" --copy --yes
    expect_status 0
    [ ! -L "$cfg/plugins/hello" ]
    [ ! -e "$cfg/plugins/hello/.git" ]
    [ ! -e "$cfg/plugins/hello/state.json" ]
    [ "$(readlink "$cfg/plugins/hello/inner")" = bin/hello ]
    rm -rf here
    says hello hello
    consistent
}

@test "install: nothing is granted by itself" {
    source_plugin here hello '[capabilities]
exec = true
store = true'
    refused install ./here -- "use --yes to grant all that 'hello' asks for, or --grant exec,store"
    plugins install ./here --json
    expect_status 1
    has "$(field "['failed'][0]['error']")" "--grant exec,store"
    [ ! -e "$cfg/plugins.toml" ]
    FLEDGE_NON_INTERACTIVE=1 plugins install ./here
    expect_status 1
    plugins install ./here --ni
    expect_status 1
    has "$errors" "wants    exec: have commands run in its sandbox"
    has "$errors" "commands hello"
    has "$errors" "trust    local"
    has "$errors" "source   $WORK/here"
}

@test "install --grant: exactly these, and without a question" {
    source_plugin here hello '[capabilities]
exec = true
store = true'
    plugins install ./here --grant store --json
    expect_status 0
    is "['schema_version']" 1
    is "['action']" '"install"'
    has "$output" '"installed":[{"name":"hello","source":"'"$WORK/here"'","version":"1.0.0","trust_tier":"local","commands":["hello"],"pinned_ref":null,"capabilities":{"exec":false,"store":true,"metadata":false,"network":false'
    is "['installed'][0]['capabilities'].values().__str__().count('True')" 1
    is "['failed']" '[]'
    is "['summary']" '{"total": 1, "installed": 1, "failed": 0}'
    grep -q '^store = true' "$cfg/plugins.toml"
    grep -q '^exec = false' "$cfg/plugins.toml"
    plugins install ./here --force --grant none
    expect_status 0
    absent '= true' "$cfg/plugins.toml"
    plugins install ./here --force --grant exec,stor
    expect_status 64
    has "$errors" "--grant does not know 'stor'"
    plugins install ./here --force --grant ''
    expect_status 64
}

@test "install: what was approved is recorded" {
    source_plugin here hello '[hooks]
pre_push = "true"
[capabilities]
metadata = true
network = false'
    plugins install ./here --yes
    expect_status 0
    grep -qx "manifest = \"$(sha256sum here/plugin.toml | cut -d ' ' -f 1)\"" "$grants"
    grep -qx 'protocol = "fledge-v1"' "$grants"
    grep -qx 'hooks = \["pre_push: true"\]' "$grants"
    grep -qx 'wishes = \["metadata", "no network"\]' "$grants"
    [ "$(stat -c %a "$grants")" = 600 ]
    [ "$(stat -c %a "$cfg/plugins.toml")" = 600 ]
}

@test "install: a second one is refused, --force replaces it and keeps what is stored" {
    source_plugin here
    plugins install ./here --copy --yes
    printf '{"k": "v"}' >"$cfg/plugins/hello/state.json"
    refused install ./here --yes -- "the plugin 'hello' is installed already (version 1.0.0)"
    VERSION=2.0.0 SAYS=second source_plugin here
    plugins install ./here --copy --force --yes
    expect_status 0
    says second hello
    [ "$(cat "$cfg/plugins/hello/state.json")" = '{"k": "v"}' ]
    grep -q 'version = "2.0.0"' "$cfg/plugins.toml"
    [ "$(grep -c '^name' "$cfg/plugins.toml")" = 1 ]
    consistent
}

@test "install --force: commands that are gone lose their links" {
    source_plugin here hello
    cp -r here two
    cat >>here/plugin.toml <<'END'
[[commands]]
name = "bye"
binary = "bin/hello"
END
    plugins install ./here --yes
    [ -L "$cfg/plugins/bin/fledge-bye" ]
    plugins install ./two --force --yes
    expect_status 0
    [ ! -L "$cfg/plugins/bin/fledge-bye" ]
    [ -L "$cfg/plugins/bin/fledge-hello" ]
    consistent
}

@test "install: repositories by file://, with tags, branches and commits" {
    source_plugin repo
    repository repo v1.0.0
    git -C repo switch -qc feature/two
    VERSION=2.0.0 SAYS=two source_plugin repo
    repository repo
    local commit
    commit=$(git -C repo rev-parse HEAD)
    git -C repo switch -q main
    plugins install "file://$WORK/repo" --yes --trust --json
    expect_status 0
    is "['installed'][0]['version']" '"1.0.0"'
    is "['installed'][0]['source']" "\"file://$WORK/repo\""
    is "['installed'][0]['trust_tier']" '"unverified"'
    is "['installed'][0]['pinned_ref']" null
    for ref in feature/two "$commit" "${commit:0:10}"; do
        plugins install "file://$WORK/repo@$ref" --force --yes --json
        expect_status 0
        is "['installed'][0]['version']" '"2.0.0"'
        is "['installed'][0]['pinned_ref']" "\"$ref\""
        grep -qx "commit = \"$commit\"" "$cfg/plugins.toml"
        says two hello
    done
    plugins install "file://$WORK/repo@v1.0.0" --force --yes --json
    is "['installed'][0]['version']" '"1.0.0"'
    consistent
}

@test "install: a local repository at a ref is a snapshot of it" {
    source_plugin repo
    repository repo v1
    SAYS=later source_plugin repo
    plugins install ./repo@v1 --yes --json
    expect_status 0
    is "['installed'][0]['trust_tier']" '"local"'
    [ ! -L "$cfg/plugins/hello" ]
    says hello hello
}

@test "install: a directory with an @ in its name" {
    source_plugin here@work
    plugins install ./here@work --yes
    expect_status 0
    says hello hello
}

@test "install: owner/repository below a base URL" {
    source_plugin host/ada/tool
    repository host/ada/tool
    mkdir -p "$cfg"
    printf '[plugins]\nbase_url = "file://%s/host/"\n' "$WORK" >"$cfg/config.toml"
    plugins install ada/tool --yes --json
    expect_status 0
    is "['installed'][0]['source']" "\"file://$WORK/host/ada/tool\""
    printf '[plugins]\nbase_url = "ext::sh"\n' >"$cfg/config.toml"
    refused install ada/tool --yes -- "config.toml:2:12: \`base_url\` must be an URL"
}

@test "inspect: what a source would bring, and nothing of it stays" {
    source_plugin repo hello '[capabilities]
exec = true'
    repository repo v1
    snapshot >before
    plugins inspect "file://$WORK/repo"
    expect_status 0
    has "$output" "hello 1.0.0"
    has "$output" "wants    exec"
    has "$output" "trust    unverified"
    has "$output" "  x  bin/hello"
    has "$output" 'binary = "bin/hello"'
    plugins inspect ./repo --file bin/hello
    [ "$(cat repo/bin/hello)" = "$output" ]
    plugins inspect "file://$WORK/repo@v1" --json
    is "['name']" '"hello"'
    is "['capabilities']['exec']" true
    has "$(field "['files']")" bin/hello
    has "$(field "['manifest']")" "[plugin]"
    ln -s /etc/passwd repo/way-out
    for file in ../repo/bin/hello way-out /etc/passwd none; do
        plugins inspect ./repo --file "$file"
        expect_status 1
        has "$errors" "there is no file"
    done
    snapshot | diff before -
    [ -z "$(find "$cfg" -name '*stage*' -type d -not -empty)" ]
}

@test "install: a tag that is not there, and the nearest" {
    source_plugin repo
    repository repo v1.0.0 v1.2.0 v1.10.0 nightly
    refused install "file://$WORK/repo@v1.2.1" --yes -- \
        "there is no tag or branch 'v1.2.1' in it; the nearest: v1.2.0, v1.0.0, v1.10.0"
    refused install "file://$WORK/repo@mian" --yes -- "the nearest: main"
}

@test "install: of what git says, the line that tells" {
    export GIT_SSH_COMMAND="sh -c 'echo fake: no such machine >&2; exit 255'"
    refused install git@nowhere.invalid:a/b --yes -- "git: fake: no such machine"
    [[ "$errors" != *"Could not read"* ]]
    export GIT_SSH_COMMAND="sh -c 'echo ssh: Could not resolve hostname nowhere.invalid >&2; exit 255'"
    refused install git@nowhere.invalid:a/b --yes -- \
        "  look at the host's name, and whether this machine is online"
}

@test "install: an unverified source that wants exec, network or everything needs --trust" {
    source_plugin repo hello '[capabilities]
exec = true'
    repository repo
    refused install "file://$WORK/repo" --yes -- "the source is unverified, and it wants to run commands"
    has "$errors" "perch plugins inspect SOURCE"
    [[ "$errors" != *"[trust]"* ]] # no entry could trust it
    source_plugin repo hello '[capabilities]
network = true'
    repository repo
    refused install "file://$WORK/repo" --yes -- "it wants to use the network"
    PROTOCOL='' source_plugin repo
    repository repo
    refused install "file://$WORK/repo" --yes -- "it speaks no protocol and runs with all your rights"
    plugins install "file://$WORK/repo" --yes --trust
    expect_status 0
    has "$errors" "with all your rights"
    source_plugin other other '[capabilities]
store = true'
    repository other
    plugins install "file://$WORK/other" --yes
    expect_status 0
}

@test "install: bad sources" {
    source_plugin repo
    repository repo
    local source
    for source in 'ada/../tool' 'https://host/a/../b' 'https://host/%2e%2e/b' 'ssh://host/%2E%2E/x' \
        'git@host:../x' 'file:///tmp/../etc'; do
        refused install "$source" --yes --trust -- "must not contain .. or its encoding"
    done
    for source in "file://$WORK/repo@-x" 'ada/tool@--upload-pack=x' 'git@host:a/b@-'; do
        refused install "$source" --yes --trust -- "must not begin with -"
    done
    refused install "file://$WORK/repo@a..b" --yes -- "must not contain .."
    refused install "file://$WORK/repo@" --yes -- "the ref '' is empty"
    refused install "file://$WORK/repo@a b" --yes -- "has a character in it that no source has"
    refused install "file://$WORK/repo@a^b" --yes -- "has a character that no tag"
    refused install "ext::sh -c x" --yes --trust -- "has a character in it that no source has"
    refused install "ext::sh" --yes --trust -- "must begin with https://"
    refused install "http://host/a" --yes --trust -- "must begin with https://"
    refused install "ssh://-oProxyCommand=x/a" --yes --trust -- "has no proper host"
    refused install "https://user:secret@host/a/b" --yes --trust -- "leave that to a git credential helper"
    refused install "https://host" --yes --trust -- "has no path to a repository"
    refused install plainword --yes -- "is not understood: write ./PATH"
    refused install ./missing --yes -- "cannot use the directory ./missing: No such file"
    refused install ./repo/plugin.toml --yes -- "is not a directory"
    refused install "file://$WORK/repo@nothing" --yes -- "there is no tag or branch 'nothing'"
    refused install "file://$WORK/nowhere" --yes -- "git: "
    has "$errors" "  look at the address: git ls-remote with it must work"
    plugins install
    expect_status 64
    plugins install --bogus
    expect_status 64
}

@test "install: git's hooks and templates do not run, nobody is asked" {
    source_plugin repo
    repository repo
    mkdir -p "$WORK/template/hooks" "$WORK/hooks"
    printf '#!/bin/sh\ntouch "%s/ran"\n' "$WORK" | tee "$WORK/template/hooks/post-checkout" >"$WORK/hooks/post-checkout"
    chmod +x "$WORK/template/hooks/post-checkout" "$WORK/hooks/post-checkout"
    git config --global init.templateDir "$WORK/template"
    git config --global core.hooksPath "$WORK/hooks"
    plugins install "file://$WORK/repo" --yes
    expect_status 0
    [ ! -e "$WORK/ran" ]
    # What git is told of its surroundings, by one that stands where it may be seen.
    cat >"$WORK/repo/fake-git" <<'END'
#!/bin/sh
for name in GIT_TERMINAL_PROMPT GIT_ALLOW_PROTOCOL GIT_SSH_COMMAND GIT_DIR; do
    eval "said=\"\$said $name=\$$name\""
done
echo "fatal:$said in $PWD" >&2
exit 1
END
    chmod +x "$WORK/repo/fake-git"
    PERCH_GIT="$WORK/repo/fake-git" plugins install "file://$WORK/repo" --yes --trust
    expect_status 1
    has "$errors" "GIT_TERMINAL_PROMPT=0 GIT_ALLOW_PROTOCOL=https:ssh:git:file"
    has "$errors" "BatchMode=yes GIT_DIR=/dev/null in /"
    lacks "$errors" "in $PWD"
}

@test "install: only what the source needs is in git's sandbox" {
    mkdir -p "$HOME/.ssh" repo
    echo secret | tee "$HOME/.ssh/id_rsa" >"$HOME/.git-credentials"
    cat >repo/fake-git <<'END'
#!/bin/sh
said=$(cat "$HOME/.ssh/id_rsa" "$HOME/.git-credentials"; touch "$HOME/made" 2>&1 && echo made)
echo "fatal: seen: ${said:-nothing}" >&2
exit 1
END
    chmod +x repo/fake-git
    PERCH_GIT="$WORK/repo/fake-git" plugins install "file://$WORK/repo" --yes --trust
    has "$errors" "seen: touch: cannot touch"
    lacks "$errors" secret
    [ ! -e "$HOME/made" ]
}

@test "install: a link that climbs out, although it leads nowhere today" {
    source_plugin here
    mkdir here/sub
    for climbing in ../../home /nowhere/at/all sub/../../gone missing/../../away missing/../inside; do
        ln -sfn "$climbing" here/data
        refused install ./here --copy --yes -- "the link data leads out of the plugin"
    done
    repository here
    refused install "file://$WORK/here" --yes -- "the link data leads out of the plugin"
    ln -sfn ../data/later here/sub/link
    ln -sfn sub/../later here/data
    plugins install ./here --copy --yes
    expect_status 0
    # Whoever links a directory of their own may link from it.
    ln -sfn ../../home here/data
    plugins install ./here --force --yes
    expect_status 0
}

@test "install: a manifest without commands says so" {
    source_plugin here
    sed -i '/^\[\[commands/,$d' here/plugin.toml
    plugins install ./here --yes
    expect_status 0
    has "$errors" "none: its plugin.toml has no [[commands]]"
    expect "installed hello 1.0.0: it has no commands, so nothing of it can be run"
}

@test "install: links that leave the plugin, and programs outside of it" {
    source_plugin here
    ln -s /etc/passwd here/leak
    refused install ./here --copy --yes -- "the link leak leads out of the plugin"
    repository here
    refused install "file://$WORK/here" --yes -- "the link leak leads out of the plugin"
    rm here/leak
    rm here/bin/hello
    ln -s /bin/sh here/bin/hello
    refused install ./here --yes -- "the program bin/hello of the command 'hello' leads out of the plugin"
    rm here/bin/hello
    refused install ./here --yes -- "is not there"
    echo x >here/bin/hello
    refused install ./here --yes -- "is not executable: chmod +x $PWD/here/bin/hello"
    refused install ./here --yes --copy -- "is not executable: chmod +x $PWD/here/bin/hello"
    chmod +x here/bin/hello
    refused install ./here --yes -- "the program bin/hello of the command 'hello' is a text that does not begin with #!"
    mkfifo here/pipe
    refused install ./here --copy --yes -- "it is neither a file, a directory nor a link"
}

@test "install --copy: what cannot all be looked at is refused" {
    source_plugin here
    local deep=here
    for _ in {1..70}; do
        deep+=/d
    done
    mkdir -p "$deep"
    ln -s /etc/passwd "$deep/leak"
    refused install ./here --copy --yes -- "not every file of the plugin could be looked at"
    rm -r here/d
    mkdir here/many
    (cd here/many && seq 20001 | xargs touch)
    refused install ./here --copy --yes -- "not every file of the plugin could be looked at"
    repository here
    refused install "file://$WORK/here" --yes -- "not every file of the plugin could be looked at"
}

@test "install: bad manifests" {
    source_plugin here
    local good
    good=$(cat here/plugin.toml)
    # bad SED-EXPRESSION WORDS
    bad() {
        sed "$1" <<<"$good" >here/plugin.toml
        refused install ./here --yes -- "$2"
    }
    bad 's/^name = "hello"/name = /' "$WORK/here/plugin.toml:2:"
    bad 's/^name = "hello"/name = "q$(id)"/' "must be of letters, digits"
    bad '1,3s/"hello"/"bin"/' "is taken"
    bad '1,3s/"hello"/"..\/x"/' "must not contain a slash"
    bad '1,3s/"hello"/".hidden"/' "must not begin with - or ."
    bad 's|"bin/hello"|"../hello"|' "must stay inside the plugin"
    bad 's|"bin/hello"|"/bin/sh"|' "must be relative to the plugin"
    bad 's/fledge-v1/fledge-v9/' "supports only fledge-v1"
    bad '$a [capabilities]\nexec = "yes"' "\`exec\` must be true or false"
    bad '$a [capabilities]\nfilesystem = "all"' 'must be "none", "project" or "plugin"'
    bad '$a [hooks]\nbuild = 3' "\`build\` must be a string"
    bad '/version/d' "plugin.version is missing"
    rm here/plugin.toml
    refused install ./here --yes -- "./here is no plugin: there is no plugin.toml in it"
    mkfifo here/plugin.toml
    refused install ./here --yes -- "it is not a regular file"
}

@test "install: a command that another plugin has is refused, naming the owner" {
    source_plugin one
    source_plugin two other
    sed -i 's/^name = "other"$/name = "hello"/; 2s/hello/other/' two/plugin.toml
    plugins install ./one --yes
    refused install ./two --yes --force -- "the command 'hello' belongs to the plugin 'hello' already"
    # A link that nobody registered.
    ln -s /bin/true "$cfg/plugins/bin/fledge-free"
    source_plugin three free
    refused install ./three --yes -- "belongs to no plugin: remove it, or use --force"
    plugins install ./three --yes --force
    expect_status 0
    says free free
}

@test "install: a directory that belongs to no plugin is not taken over" {
    mkdir -p "$cfg/plugins/hello"
    echo precious >"$cfg/plugins/hello/file"
    source_plugin here
    refused install ./here --yes -- "belongs to no plugin: look at it, then use --force"
}

@test "install: several sources, one of them wrong" {
    source_plugin one one
    source_plugin two two
    plugins install ./one ./nothing ./two --yes --json
    expect_status 1
    is "['summary']" '{"total": 3, "installed": 2, "failed": 1}'
    is "['failed'][0]['source']" '"./nothing"'
    says two two
}

@test "build: hook, and what the files suggest; shown, streamed, kept when it fails" {
    source_plugin here hello '[hooks]
build = "cp made bin/hello && pwd && echo dir=$FLEDGE_PLUGIN_DIR"'
    mv here/bin/hello here/made
    plugins install ./here --yes --copy
    expect_status 0
    has "$errors" 'build    cp made bin/hello && pwd'
    has "$errors" "$cfg/plugins/.staging-"
    says hello hello
    sed -i 's/^build = .*/build = "echo trouble; exit 3"/' here/plugin.toml
    refused install ./here --yes --copy --force -- 'the build failed with status 3'
    has "$errors" "$XDG_STATE_HOME/perch/logs/build-hello.log"
    grep -qx trouble "$XDG_STATE_HOME/perch/logs/build-hello.log"
    sed -i 's/^build = .*/build = "cargo-of-nobody --now"/' here/plugin.toml
    refused install ./here --yes --copy --force -- "failed with status 127 (cargo-of-nobody --now):\
 the program 'cargo-of-nobody' was not found: install it; see "
    sed -i 's/^build = .*/build = "PATH=\/nothing; make"/' here/plugin.toml
    refused install ./here --yes --copy --force -- \
        "the program 'make' was not found: install it (Debian: apt install make); see "
    plugins install ./here --yes --copy --force --no-build
    expect_status 1
    sed -i '/^build/d; /^.hooks/d' here/plugin.toml
    printf 'all:\n\tcp made bin/hello\n' >here/Makefile
    plugins install ./here --yes --copy --force
    expect_status 0
    has "$errors" "build    make (Makefile)"
    says hello hello
}

@test "post_install: runs in the plugin's directory; a failure rolls back" {
    source_plugin here hello '[hooks]
post_install = "pwd >where; echo $FLEDGE_REPO_ROOT >>where"'
    plugins install ./here --yes --copy
    expect_status 0
    [ "$(head -1 "$cfg/plugins/hello/where")" = "$cfg/plugins/hello" ]
    [ "$(tail -1 "$cfg/plugins/hello/where")" = "$WORK" ]
    SAYS=second source_plugin here hello '[hooks]
post_install = "exit 4"'
    refused install ./here --yes --copy --force -- "the post_install hook failed with status 4"
    says hello hello
    plugins remove hello --yes
    refused install ./here --yes -- "the post_install hook failed with status 4"
    [ ! -e "$cfg/plugins/hello" ]
    [ ! -L "$cfg/plugins/bin/fledge-hello" ]
}

@test "post_install: a file of the plugin is executed itself" {
    source_plugin here hello '[hooks]
post_install = "setup it"'
    printf '#!/bin/sh\necho "$0" >it-ran\n' >"here/setup it"
    chmod +x "here/setup it"
    plugins install ./here --yes --copy
    expect_status 0
    [ "$(cat "$cfg/plugins/hello/it-ran")" = "$cfg/plugins/hello/setup it" ]
}

@test "install: help, and words that are nearly right" {
    plugins install --help
    expect_status 0
    has "$output" "usage: perch plugins install SOURCE"
    plugins instal ./x
    expect_status 64
    has "$errors" "did you mean: perch plugins install"
    run "$perch" help plugins install
    has "$output" "usage: perch plugins install SOURCE"
}

@test "install: what is stored in your own directory is not written over" {
    source_plugin here
    plugins install ./here --yes --copy
    echo '{"from":"copy"}' >"$cfg/plugins/hello/state.json"
    plugins install ./here --yes --force
    [ "$(cat here/state.json)" = '{"from":"copy"}' ]
    echo '{"from":"here"}' >here/state.json
    plugins install ./here --yes --copy --force
    [ "$(cat "$cfg/plugins/hello/state.json")" = '{"from":"here"}' ]
    echo '{"from":"second"}' >"$cfg/plugins/hello/state.json"
    plugins install ./here --yes --force
    [ "$(cat here/state.json)" = '{"from":"here"}' ]
}

@test "install: a repository that becomes too large is given up, and nothing of it stays" {
    source_plugin repo hello
    head -c 8000000 /dev/zero | tr '\0' x >repo/much # a few kilobytes in the repository
    repository repo
    refused install "file://$WORK/repo" --yes --clone-max 4M -- "the repository takes more than 4 MiB"
    refused install "file://$WORK/repo" --yes --clone-max much -- "--clone-max: 'much' is no amount"
    plugins install "file://$WORK/repo" --yes --clone-max 32M
    expect_status 0
}
