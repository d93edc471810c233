# shellcheck shell=sh
# The inputs that a fuzz target begins with: those written by hand in fuzz/corpus, and those that
# fuzzing has found and `./dev fuzz --keep` has made small and packed into fuzz/kept. To be sourced,
# where $top is the tree.

kept=${PERCH_FUZZ_KEPT:-$top/fuzz/kept}

# kept_targets: those that have an archive.
kept_targets() {
    find "$kept" -name '*.tar.xz' | sed 's|.*/||; s|\.tar\.xz$||' | sort
}

# unpack_kept TARGET DIRECTORY: into it, which is made.
unpack_kept() {
    mkdir -p "$2"
    [ ! -f "$kept/$1.tar.xz" ] ||
        tar --extract --xz --no-same-owner --directory="$2" --file="$kept/$1.tar.xz"
}

# pack_kept TARGET DIRECTORY: the same inputs make the same archive, whoever packs them, when and where.
pack_kept() (
    mkdir -p "$kept"
    cd "$2" || exit
    find . -type f | sed 's|^\./||' | LC_ALL=C sort |
        tar --create --format=ustar --owner=0 --group=0 --numeric-owner --mode=0644 --mtime=@0 --no-recursion \
            --files-from=- | xz -9 --extreme --threads=1 >"$kept/$1.tar.xz.new"
    mv "$kept/$1.tar.xz.new" "$kept/$1.tar.xz"
)

# executions_of TARGET FILE…: what these say of it; of all without one. A line is a target and a number.
executions_of() {
    name=$1
    shift
    cat "$@" /dev/null 2>/dev/null |
        awk -v name="$name" '!/^#/ && (name == "" || $1 == name) { sum += $2 } END { printf "%.0f\n", sum }'
}

# add_executions FILE TARGET COUNT: one line for each target, replaced as a whole.
add_executions() {
    [ -e "$1" ] || : >"$1"
    awk -v name="$2" -v more="$3" '
        $1 == name { $2 = sprintf("%.0f", $2 + more); found = 1 }
        { print }
        END { if (!found) print name, more }' "$1" >"$1.new"
    mv "$1.new" "$1"
}
