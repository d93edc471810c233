# shellcheck shell=sh
# What ./dev and the test scripts share: results as TAP, which files and
# programs there are, how long a step took. To be sourced.

results=0
failures=0

# check NAME COMMAND…: one result; what the command said explains a failure.
check() {
    result_name=$1
    shift
    results=$((results + 1))
    if explanation=$("$@" 2>&1); then
        echo "ok $results - $result_name"
    else
        failures=$((failures + 1))
        echo "not ok $results - $result_name"
        printf '%s\n' "$explanation" | sed 's/^/# /'
    fi
}

# The last command of a TAP script: the plan, and the exit status.
finish() {
    echo "1..$results"
    [ "$failures" -eq 0 ]
}

# The C files of the tree in $1, and its shell scripts: relative to it, nothing
# from below a build directory.
c_files() (
    cd "$1" && find . -path './build*' -prune -o -path ./.git -prune -o -name '*.[ch]' -print | sort
)

scripts() (
    cd "$1" && find . -path './build*' -prune -o -path ./.git -prune -o -type f -exec awk '
        FNR == 1 && /^#!.*(\/sh| bats)$|^# shellcheck shell=sh$/ { print FILENAME }' {} + | sort
)

# programs BUILD PREFIX: the rest of the name of every program that the build
# files list below PREFIX. Asked of ninja and not of the directory, so that one
# that was not built is missed and one that is no longer listed is not run.
programs() {
    ninja -C "$1" -t targets all | sed -n "s|^$2\([^:./]*\): .*_LINKER.*|\1|p"
}

# install_tree BUILD ROOT: what the build would install, below ROOT.
install_tree() {
    meson install -C "$1" --no-rebuild --quiet --destdir "$2"
}

# project_version TREE: as its build says it.
project_version() {
    sed -n "s/^  version: '\(.*\)',$/\1/p" "$1/meson.build"
}

# exports LIBRARY: the names it offers to programs, sorted.
exports() {
    nm -D --defined-only "$1" | awk '$2 != "A" { print $3 }' | LC_ALL=C sort
}

# Hundredths of a second since the machine was started.
now() {
    read -r uptime rest </proc/uptime
    echo "${uptime%.*}${uptime#*.}"
}

# seconds_since START: "3.1 s".
seconds_since() {
    hundredths=$(($(now) - $1))
    echo "$((hundredths / 100)).$((hundredths % 100 / 10)) s"
}
