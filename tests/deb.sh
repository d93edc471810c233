#!/bin/sh
# The Debian packages: built from the tree, looked at by lintian, installed into an
# empty root, used there, and removed without a trace.
set -eu

tests=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
top=${tests%/*}
# shellcheck source=tests/lib.sh
. "$tests/lib.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
packages=$top/build-deb

# What is in the packages is looked at here, not how fast it is.
builds() {
    DEB_BUILD_OPTIONS=noopt "$top/dev" deb
}

# has_no_errors: lintian's own words about being root are none.
has_no_errors() {
    (cd "$packages" && lintian --fail-on error --suppress-tags bad-distribution-in-changes-file \
        ./*.changes)
}

# dpkg wants programs that are on root's PATH alone.
PATH="$PATH:/usr/sbin:/sbin"

# The database of an empty root; what the packages depend on is the machine's.
in_root() {
    if [ "$(id -u)" -eq 0 ]; then
        dpkg --root="$root" --force-depends "$@"
    else
        unshare --map-root-user dpkg --root="$root" --force-depends "$@"
    fi
}

installs() {
    mkdir -p "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/info"
    : >"$root/var/lib/dpkg/status"
    # shellcheck disable=SC2046 # names without blanks
    (cd "$packages" && in_root --install $(find . -name '*.deb' ! -name '*dbgsym*'))
}

# The command finds its guard and its companions where the packages put them.
runs() {
    "$root/usr/bin/perch" doctor | grep -qF "$root/usr/lib/perch/perch-guard"
    "$root/usr/bin/perch" conformance --list | grep -q '^F-1\.1 '
    [ "$("$root/usr/bin/perch" --version)" = "perch $(project_version "$top")" ]
}

# Every page of the tree is in one of the packages.
has_manual() {
    for page in "$top"/man/*.[1-9]; do
        [ -f "$root/usr/share/man/man${page##*.}/${page##*/}.gz" ] || {
            echo "${page##*/} is missing"
            return 1
        }
    done
}

# Every page of the documentation, as it is, and what shells read by themselves.
has_docs() {
    for page in "$top"/docs/*.md; do
        cmp "$page" "$root/usr/share/doc/perch/${page##*/}" || return 1
    done
}

has_completions() {
    "$root/usr/bin/perch" completions bash | cmp - "$root/usr/share/bash-completion/completions/perch.bash" &&
        "$root/usr/bin/perch" completions zsh | cmp - "$root/usr/share/zsh/vendor-completions/_perch" &&
        "$root/usr/bin/perch" completions fish | cmp - "$root/usr/share/fish/vendor_completions.d/perch.fish"
}

has_examples() {
    [ -x "$root/usr/share/perch/examples/tour/greeter/greet" ]
    "$root/usr/bin/perch" tour </dev/null
}

versions_agree() {
    [ "$(sed -n '1s/.*(\(.*\)).*/\1/p' "$top/debian/changelog")" = \
        "$(project_version "$top")" ]
}

leaves_nothing() {
    # shellcheck disable=SC2046 # names without blanks
    in_root --purge $(sed -n 's/^Package: //p' "$top/debian/control")
    left=$(find "$root" -type f ! -path '*/var/lib/dpkg/*' ! -path '*/var/log/*')
    echo "$left"
    [ -z "$left" ]
}

check "the changelog has the version of the tree" versions_agree
check "the packages are built" builds
check "lintian finds no error" has_no_errors
check "they are installed into an empty root" installs
check "perch runs from there" runs
check "the manual is there" has_manual
check "the documentation is there" has_docs
check "the completions are there" has_completions
check "the examples are there, and the tour works" has_examples
check "they are removed, and nothing is left" leaves_nothing
finish
