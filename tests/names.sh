#!/bin/sh
# A name is found by searching for it, and a file is read in one sitting: no two file-level functions
# and no two files share a name, no file has more than 400 lines and no function more than 60. A
# header is for several files: what one file alone needs of its neighbour stands in the header of
# the folder, or both files are one. Names need no legend, and nothing longer than ten lines stands
# twice.
set -eu

tests=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
# shellcheck source=tests/lib.sh
. "$tests/lib.sh"

# Public headers have the name of what they show, and so have the headers behind them; an interface
# of the kernel has the kernel's.
same_name='child.h host.h json.h loop.h sandbox.h sessions.h landlock.h'

# shared_functions TREE: static functions that several files define.
shared_functions() (
    cd "$1"
    find src sdk -name '*.c' -exec awk '
        /^(__attribute__.*)?static / {
            gsub(/__attribute__\(\(.*\)\) |PERCH_PRINTF\([^)]*\) /, "")
            if (match($0, /[a-z_0-9]+\(/) && !index(substr($0, 1, RSTART), "="))
                print substr($0, RSTART, RLENGTH - 1) " " FILENAME
        }' {} + | sort -u | awk '
        { files[$1] = files[$1] " " $2; count[$1]++ }
        END { for (name in count) if (count[name] > 1) print name ":" files[name] }' | sort
)

# shared_files TREE: files of one name.
shared_files() (
    cd "$1"
    find src sdk include -name '*.[ch]' | awk -F / -v same="$same_name" '
        BEGIN { split(same, list, " "); for (i in list) allowed[list[i]] = 1 }
        { files[$NF] = files[$NF] " " $0; count[$NF]++ }
        END { for (name in count) if (count[name] > 1 && !allowed[name]) print name ":" files[name] }' | sort
)

# long_ones TREE: files and functions that are too long. Tables of Unicode are written by a program.
long_ones() (
    cd "$1"
    find src sdk -name '*.[ch]' ! -name utf8_width.c -exec awk '
        FNR == 1 { begin = 0 }
        FNR == 401 { print FILENAME ": more than 400 lines" }
        $0 == "{" { begin = FNR }
        $0 == "}" && begin {
            if (FNR - begin - 1 > 60)
                print FILENAME ":" begin ": a function of " FNR - begin - 1 " lines"
            begin = 0
        }' {} + | sort
)

# Headers between two files that would be too long as one, and that no third file should see. The
# other file of bare.h is the C library, that of serve_page.h is written by the build.
between_two='
src/cli/agent/agent_serve_turns.h
src/cli/queue/queue_show.h
src/cli/run/run_settings.h
src/cli/tool/tool_add.h
src/guard/bare.h
src/queue/redis_library.h
src/serve/serve_page.h
src/tool/binding_keys.h
src/tool/binding_write.h
'

# lonely_headers TREE: headers that, beside their own .c file, one .c file of the same folder alone
# includes. A test, a fuzz target or another folder that includes it is a reason for a header.
lonely_headers() (
    cd "$1"
    find src sdk tests fuzz -name '*.[ch]' 2>/dev/null | sort | awk -v between="$between_two" '
        BEGIN { split(between, list, "\n"); for (i in list) allowed[list[i]] = 1 }
        { files[++total] = $0 }
        END {
            for (i = 1; i <= total; i++) {
                file = files[i]
                while ((getline line <file) > 0) {
                    if (line !~ /^#include "/)
                        continue
                    split(line, part, "\"")
                    header = "src/" part[2]
                    if (substr(file, 1, length(file) - 2) != substr(header, 1, length(header) - 2)) {
                        users[header]++
                        user[header] = file
                    }
                }
                close(file)
            }
            for (i = 1; i <= total; i++) {
                header = files[i]
                if (header !~ /^src\/.*[.]h$/ || header in allowed || users[header] != 1)
                    continue
                folder = header
                sub("[^/]*$", "", folder)
                rest = substr(user[header], length(folder) + 1)
                if (index(user[header], folder) == 1 && rest !~ /\// && rest ~ /[.]c$/)
                    print header ": for " user[header] " alone"
            }
        }'
)

# Words that once had a meaning of their own here, which a newcomer had to be told. The second list
# has plain words, which are only wrong as the first word of a name.
legend_words='likeness trail shelf kept_back den lending plant corpses give_birth_somehow bear_aside become_untouchable'
legend_names='keep kept made aside ahead stores'

# legends TREE: the words above, in names of files, types and functions, and in comments.
legends() (
    cd "$1"
    find src sdk include -name '*.[ch]' -exec awk -v words="$legend_words" -v names="$legend_names" '
        BEGIN {
            gsub(/ /, "|", words)
            gsub(/ /, "|", names)
            word = "(^|[^a-z])(" words ")([^a-z]|$)"
            file = "/(" words "|" names ")[_.][^/]*$"
            type = "(struct|enum|union) (" names ")([^a-z]|$)"
            function_ = "^[a-z].*[ *](" names ")(_[a-z0-9_]+)?\\("
        }
        FNR == 1 && FILENAME ~ file { print FILENAME ": its name" }
        $0 ~ word || $0 ~ type || $0 ~ function_ { print FILENAME ":" FNR ":" $0 }' {} + | sort
)

# copies TREE: runs of more than ten lines that stand in two places. Blank lines, comments, lines of
# punctuation alone and includes do not count, nor does white space.
copies() (
    cd "$1"
    # shellcheck disable=SC2016 # the program is awk's
    find src sdk -name '*.[ch]' | sort | xargs awk -v most=10 '
        FNR == 1 { count = 0; is_copy = 0 }
        { gsub(/[ \t]+/, "") }
        /^\/\*/ { in_comment = 1 }
        in_comment { in_comment = !/\*\/$/; next }
        !/[a-zA-Z0-9]/ || /^#include/ { next }
        {
            line[++count] = $0
            place[count] = FNR
            if (count <= most)
                next
            run = ""
            for (i = count - most; i <= count; i++)
                run = run line[i] "\n"
            here = FILENAME ":" place[count - most]
            if (!(run in first))
                first[run] = here
            else if (!is_copy)
                print here ": stands at " first[run] ", too"
            is_copy = first[run] != here
        }'
)

finds_nothing() {
    found=$("$1" "$2") || return 1
    printf '%s\n' "$found"
    [ -z "$found" ]
}

# finds WHAT TEXT: WHAT finds one thing in the planted tree, which says TEXT.
finds() {
    found=$("$1" "$tree")
    printf '%s\n' "$found"
    case $found in
    *"
"*) false ;;
    "$2"*) true ;;
    *) false ;;
    esac
}

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

check "no two file-level functions have one name" finds_nothing shared_functions "${tests%/*}"
check "no two files have one name" finds_nothing shared_files "${tests%/*}"
check "no file and no function is too long" finds_nothing long_ones "${tests%/*}"
check "no header is for one neighbour alone" finds_nothing lonely_headers "${tests%/*}"
check "no name needs a legend" finds_nothing legends "${tests%/*}"
check "nothing longer than ten lines stands twice" finds_nothing copies "${tests%/*}"

mkdir -p "$tree/src/base" "$tree/src/data" "$tree/sdk" "$tree/include"
printf 'static int fail(int a)\n{\n}\nstatic int table[] = { f(1) };\n' >"$tree/src/base/one.c"
printf 'static const char *fail(\n\tint a)\n{\n}\nstatic int table[] = { f(1) };\n' >"$tree/src/data/two.c"
check "found: a function that two files define" finds shared_functions "fail: src/base/one.c src/data/two.c"
: >"$tree/src/data/one.c"
check "found: a file of the same name" finds shared_files "one.c: src/"
seq 401 >"$tree/src/base/long.c"
check "found: a long file" finds long_ones "src/base/long.c: more"
{ printf 'int f(void)\n{\n' && seq 61 && printf '}\n'; } >"$tree/src/base/long.c"
check "found: a long function" finds long_ones "src/base/long.c:2: a function of 61 lines"
{ printf 'int f(void)\n{\n' && seq 60 && printf '}\n'; } >"$tree/src/base/long.c"
check "allowed: a function of sixty lines" finds_nothing long_ones "$tree"
rm "$tree"/src/*/*
printf '#include "base/one.h"\n' | tee "$tree/src/base/one.c" >"$tree/src/base/two.c"
: >"$tree/src/base/one.h"
check "found: a header for one neighbour" finds lonely_headers "src/base/one.h: for src/base/two.c alone"
cp "$tree/src/base/two.c" "$tree/src/base/three.c"
check "allowed: a header for two files" finds_nothing lonely_headers "$tree"
mv "$tree/src/base/three.c" "$tree/src/data/three.c"
rm "$tree/src/base/two.c"
check "allowed: a header for another folder" finds_nothing lonely_headers "$tree"
rm "$tree"/src/*/*
echo >"$tree/src/base/kept_paths.c"
check "found: a file whose name needs a legend" finds legends "src/base/kept_paths.c: its name"
rm "$tree/src/base/kept_paths.c"
printf '/* On the shelf. */\n' >"$tree/src/base/one.c"
check "found: a word that needs a legend" finds legends "src/base/one.c:1:"
printf 'static int made_join(void)\n{\n}\n' >"$tree/src/base/one.c"
check "found: a function whose name needs a legend" finds legends "src/base/one.c:1:static int made_join"
printf '/* What was made is kept. */\n\tstruct file *kept = make();\n' >"$tree/src/base/one.c"
check "allowed: the same words as plain ones" finds_nothing legends "$tree"
{ printf 'int one(void)\n{\n' && seq 11 | sed 's/.*/	step(&);/' && printf '}\n'; } >"$tree/src/base/one.c"
{ printf 'int two(void)\n{\n' && seq 11 | sed 's/.*/  step( & );\n/' && printf '}\n'; } >"$tree/src/base/two.c"
check "found: eleven lines that stand twice" finds copies "src/base/two.c:3: stands at src/base/one.c:3, too"
sed -i '/step( 6 )/d' "$tree/src/base/two.c"
check "allowed: ten of them" finds_nothing copies "$tree"
finish
