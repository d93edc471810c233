# shellcheck shell=sh disable=SC2154 # the names of machines.sh
# What is told of the machines: each suite as it ends, and a table at the end.

# progress NAME: each suite as it ends, and what failed in it.
progress() {
    tee "$place/console" | sed -un "/ are unpacked$\| is built$\| are built$/s/^/$1: /p
        /^[a-z]*: \(ok   \|FAILED\|  not ok\|layers\|nothing enforces\)/s/^/$1: /p"
}

# results: of a console: who, what came of it and the suite, or the layers.
results() {
    sed -n 's/^\([a-z]*\): \(ok   \|FAILED\|layers\|nothing enforces\|no namespaces\|once more\|[0-9]* passed, [0-9]* failed\)/\1 \2/p'
}

# Of the results of a machine, for each who ran it: the sum of the run, or of what came before it ended.
# shellcheck disable=SC2016 # awk's own
sums='
    !($1 in seen) { seen[$1] = 1; order[++count] = $1 }
    $2 == "layers" { layers[$1] = $0; sub(/^[^ ]* layers /, "", layers[$1]) }
    $2 == "ok" || $2 == "FAILED" { for (i = 4; i < NF; i++) count_in($1, $i, $(i + 1)) }
    $3 ~ /^passed/ { whole[$1] = 1; sum[$1, "passed"] = $2; sum[$1, "failed"] = $4; sum[$1, "skipped"] = NF > 5 ? $6 : 0 }
    function count_in(who, number, word) { gsub(/,/, "", word); if (!whole[who] && number ~ /^[0-9]+$/) sum[who, word] += number }
    END {
        for (i = 1; i <= count; i++) {
            who = order[i]
            printf "%-13s %-8s %6d %6d %7d  %s%s\n", name, who, sum[who, "passed"], sum[who, "failed"],
                sum[who, "skipped"], layers[who], whole[who] ? "" : " (it came to no end)"
        }
    }'

# tell NAME: a line for each user that ran it, and what failed below.
tell() {
    if [ -s "$out/$1/results" ]; then
        awk -v name="$1" "$sums" "$out/$1/results"
        sed -n 's/^\([a-z]*\) FAILED */    failed as \1: /p' "$out/$1/results"
    else
        why=$(cat "$out/$1/why" 2>/dev/null || echo "it said nothing, see $out/$1/console")
        printf '%-13s cannot be had: %s\n' "$1" "$why"
    fi
}

# all_told NAME…: the table; true if all went well.
all_told() {
    printf '%-13s %-8s %6s %6s %7s  %s\n' machine who passed failed skipped layers
    for name; do tell "$name"; done | tee "$out/table"
    awk '$3 ~ /^[0-9]+$/ && $4 ~ /^[0-9]+$/ { passed += $3; failed += $4 }
        /cannot be had: |it came to no end/ { failed++ }
        END { printf "%d passed, %d failed\n", passed, failed; exit failed > 0 }' "$out/table"
}
