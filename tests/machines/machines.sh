#!/bin/sh
# perch on other machines than this one: Debian's kernels in qemu, aarch64, musl. `./dev machines`
# calls it, with what it needs installed and build-test built.
#
#     tests/machines/machines.sh [NAME…]      as the table below has them; all without a name
#
# MACHINES_SUITES   these suites instead of those in the table
# MACHINES_USERS    root, tester (a normal user), or both
# MACHINES_ACCEL    kvm or tcg, instead of what works
# MACHINES_PROCESSORS  how many a guest has (2): with fewer than that free, one is faster
# MACHINES_UNDER    a command that emulators and tests are run by, such as `nice`
# MACHINES_SECONDS  how long one machine may take (14400)
#
# Each suite is told when it has ended. What a machine said stays in build-machines/NAME: `console` is
# all of it, `results` has a line for each suite.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
top=${here%/*/*}
# shellcheck source=tests/lib.sh
. "$top/tests/lib.sh"
# shellcheck source=tests/machines/musl.sh
. "$here/musl.sh"
# shellcheck source=tests/machines/table.sh
. "$here/table.sh"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/perch-dev/machines
out=$top/build-machines

# A name, what it is, the architecture as Debian calls it, the kernel's package or the way it is
# run, the build, the suites.
machines='
linux-6.1     kernel  amd64  linux-image-cloud-amd64       build-test     kernel escape/matrix plain
linux-6.12    kernel  amd64  linux-image-6.12-cloud-amd64  build-test     kernel escape/matrix plain
aarch64       user    arm64  qemu-aarch64                  build-aarch64  plain
aarch64-6.1   kernel  arm64  linux-image-cloud-arm64       build-aarch64  kernel escape/matrix
aarch64-6.12  kernel  arm64  linux-image-6.12-cloud-arm64  build-aarch64  kernel escape/matrix
musl          musl    amd64  musl-gcc                      build-musl     kernel plain
'

# What the guests are made of, and what perch is built from for another architecture. They are
# unpacked and not configured: that needs neither root's rights nor the other processor.
userland='base-files base-passwd bash bats bc busybox-static coreutils dash diffutils findutils gawk
git grep gzip hostname iproute2 jq libc-bin login mount ninja-build openssl passwd procps python3 sed
sqlite3 tar util-linux'
libraries='check libc6-dev libcurl4-openssl-dev libhiredis-dev libjansson-dev libpcre2-dev
libsqlite3-dev libuv1-dev libyaml-dev'

# Ends the machine, which is a process of its own, and not the others.
die() {
    echo "$1" >"$place/why"
    exit 1
}

# of NAME COLUMN: what the table says; the last column has several words.
of() {
    printf '%s' "$machines" | awk -v name="$1" -v column="$2" '
        $1 != name { next }
        column < 6 { print $column }
        column == 6 { for (i = 6; i <= NF; i++) print $i }'
}

# kernels_of ARCHITECTURE: the packages of all that the table has.
kernels_of() {
    printf '%s' "$machines" | awk -v architecture="$1" '$2 == "kernel" && $3 == architecture { print $4 }'
}

# --- guests -----------------------------------------------------------------

# What the scripts of the packages would have done, as far as a test needs it.
furnish() (
    cd "$1"
    ln -sf dash bin/sh
    ln -sf gawk usr/bin/awk
    cp usr/share/base-passwd/passwd.master etc/passwd
    cp usr/share/base-passwd/group.master etc/group
    echo 'tester:x:1000:1000::/home/tester:/bin/bash' >>etc/passwd
    echo 'tester:x:1000:' >>etc/group
    echo '127.0.0.1 localhost' >etc/hosts
    mkdir -p home/tester proc sys dev run tmp mnt root
    chown 1000:1000 home/tester
)

# unpack ARCHITECTURE: leaves a tree of the packages in the cache, kernels beside it.
unpack() {
    tree=$cache/$1
    [ ! -e "$tree/unpacked" ] || return 0
    [ "$(id -u)" -eq 0 ] || die "files that belong to root are unpacked by root: run this as root"
    rm -rf "$tree"
    mkdir -p "$tree"
    echo "Debian's packages for $1 are unpacked"
    # shellcheck disable=SC2046,SC2086 # names without blanks
    packages=$(printf '%s,' $userland $libraries $(kernels_of "$1"))
    mmdebstrap --quiet --variant=extract --architectures="$1" --include="${packages%,}" \
        bookworm "$tree/root" >"$out/unpack.log" 2>&1 || die "Debian's packages cannot be had: see $out/unpack.log"
    if ! mv "$tree/root/boot" "$tree/root/lib/modules" "$tree" || ! furnish "$tree/root"; then
        die "Debian's packages are not as expected: see $tree"
    fi
    : >"$tree/unpacked"
}

# version_of NAME: of its kernel, as the files of it have it; the name of the machine ends with the series.
version_of() {
    set -- "$cache/$(of "$1" 3)/boot/vmlinuz-${1##*-}."*
    [ -e "$1" ] || die "there is no such kernel: $1"
    echo "${1##*/vmlinuz-}"
}

# image FILE DIRECTORY MEBIBYTES: a file system with what the directory holds.
image() {
    rm -f "$1"
    mke2fs -q -t ext4 -O ^has_journal -d "$2" "$1" "$3M" >/dev/null
}

root_image() {
    [ -n "$(find "$1/root.img" -newer "$1/unpacked" 2>/dev/null)" ] || image "$1/root.img" "$1/root" 900
}

# work_image FILE BUILD SUITES: the tree and what was built of it, as the tests want to find them.
work_image() (
    stage=$(mktemp -d)
    trap 'rm -rf "$stage"' EXIT
    cd "$top"
    {
        git ls-files --cached --others --exclude-standard
        find "$2" \( -name '*.p' -o -name '*.a' -o -name meson-\* -o -name test-logs \) -prune -o -type f -print
    } | tar --create --no-recursion --ignore-failed-read --files-from=- 2>/dev/null |
        tar --extract --directory="$stage"
    printf "top='%s' build='%s' suites='%s' users='%s'\n" "$top" "$top/$2" "$3" \
        "${MACHINES_USERS:-root tester}" >"$stage/.settings"
    data=${PERCH_TEST_DATA:-$top/../shared/data}
    [ ! -d "$data" ] || cp -rL "$data" "$stage/.data"
    chown -R 0:0 "$stage"
    chmod -R go+rX "$stage"
    image "$1" "$stage" "$(($(du -sm "$stage" | cut -f 1) * 3 / 2 + 64))"
)

# initramfs FILE TREE VERSION: a shell, and the modules without which the disks are not seen.
initramfs() (
    stage=$(mktemp -d)
    trap 'rm -rf "$stage"' EXIT
    mkdir -p "$stage/bin" "$stage/modules" "$stage/base/lib"
    ln -s "$2/modules" "$stage/base/lib/modules"
    cp "$2/root/bin/busybox" "$stage/bin/busybox"
    cp "$here/guest_init" "$stage/init"
    [ -e "$2/modules/$3/modules.dep" ] || depmod -b "$stage/base" "$3"
    modprobe -d "$stage/base" -S "$3" --show-depends -a virtio_pci virtio_mmio virtio_blk |
        sed -n 's/^insmod //p' | awk '!seen[$1]++ { print $1 }' >"$stage/list"
    number=100
    while read -r module; do
        number=$((number + 1))
        name=$stage/modules/$number-$(basename "$module" .xz)
        case $module in *.xz) xz -dc "$module" >"$name" ;; *) cp "$module" "$name" ;; esac
    done <"$stage/list"
    rm -r "$stage/base" "$stage/list"
    cd "$stage" && find . | cpio --quiet -o -H newc | gzip -1 >"$1"
)

# emulator ARCHITECTURE KVM|TCG: the command. What is emulated is ten to twenty times slower.
emulator() {
    case $1-$2 in
    amd64-kvm) echo 'qemu-system-x86_64 -M q35 -accel kvm -cpu host' ;;
    amd64-tcg) echo 'qemu-system-x86_64 -M q35 -accel tcg,thread=multi -cpu max,la57=off' ;;
    arm64-*) echo 'qemu-system-aarch64 -M virt -accel tcg,thread=multi -cpu max,pauth-impdef=on' ;;
    esac
}

# What the kernel does against other guests of a real processor, and how it measures the clock, only
# takes time here.
kernel_words='console=ttyS0 console=ttyAMA0 quiet panic=-1 no_timer_check mitigations=off '\
'tsc=reliable rcupdate.rcu_cpu_stall_suppress=1 nowatchdog'

# start PLACE TREE VERSION EMULATOR OPTION…: its console goes to stdout.
start() {
    place=$1 tree=$2 version=$3 emulator=$4
    shift 4
    # shellcheck disable=SC2086 # several arguments
    exec $emulator -m 3072 -smp "${MACHINES_PROCESSORS:-2}" -nodefaults -display none -no-reboot -serial stdio \
        -kernel "$tree/boot/vmlinuz-$version" -initrd "$place/initramfs" \
        -append "$kernel_words${guest_words:-}" "$@" </dev/null
}

# accelerator PLACE TREE VERSION: kvm where a guest gets as far as its first program with it.
# /dev/kvm alone does not say that: some virtual machines offer it and cannot give it.
accelerator() {
    # shellcheck disable=SC2086 # several words
    if [ -n "${MACHINES_ACCEL:-}" ]; then
        echo "$MACHINES_ACCEL"
    elif [ "$(uname -m)" = x86_64 ] && [ "${2##*/}" = amd64 ] && [ -w /dev/kvm ] &&
        guest_words=' perch.probe' && export guest_words &&
        { timeout 30 ${MACHINES_UNDER:-} "$0" --start "$1" "$2" "$3" "$(emulator amd64 kvm)" |
            grep -q 'perch is here'; } 2>/dev/null; then
        echo kvm
    else
        echo tcg
    fi
}

# boot NAME: to its end. The guest's own disks stay as they are.
boot() {
    case $top in /tmp/* | /run/*) die "a guest has its own /tmp and /run, and would not see $top" ;; esac
    tree=$cache/$(of "$1" 3)
    version=$(version_of "$1") || exit 1
    if ! root_image "$tree" || ! initramfs "$place/initramfs" "$tree" "$version" ||
        ! work_image "$place/work.img" "$(of "$1" 5)" "$(suites_of "$1")"; then
        die "no disks can be made for it"
    fi
    accelerator=$(accelerator "$place" "$tree" "$version")
    echo "Linux $version, $accelerator" >"$place/what"
    # shellcheck disable=SC2086 # several words
    timeout "${MACHINES_SECONDS:-14400}" ${MACHINES_UNDER:-} "$0" --start "$place" "$tree" "$version" \
        "$(emulator "$(of "$1" 3)" "$accelerator")" \
        -drive "if=virtio,format=raw,snapshot=on,file=$tree/root.img" \
        -drive "if=virtio,format=raw,snapshot=on,file=$place/work.img" 2>&1 | sed -u 's|\r||'
    rm -f "$place/work.img" "$place/initramfs"
}

machine_kernel() {
    unpack "$(of "$1" 3)"
    [ "$(of "$1" 5)" != build-aarch64 ] || build_aarch64
    boot "$1"
}

# --- another processor ------------------------------------------------------

# cross_file FILE: where the compiler and meson find what Debian has for it.
cross_file() {
    root=$cache/arm64/root
    cat >"$1" <<END
[binaries]
c = ['aarch64-linux-gnu-gcc', '--sysroot=$root']
ar = 'aarch64-linux-gnu-ar'
nm = 'aarch64-linux-gnu-nm'
objcopy = 'aarch64-linux-gnu-objcopy'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['qemu-aarch64', '-L', '$root']

[properties]
sys_root = '$root'
pkg_config_libdir = '$root/usr/lib/aarch64-linux-gnu/pkgconfig'

[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
END
}

# cross_build BUILD FILE OPTION…: by the cross file of this name.
cross_build() {
    directory=$top/$1
    name=$2
    shift 2
    echo "$directory is built"
    [ -e "$directory/build.ninja" ] ||
        meson setup "$directory" "$top" --cross-file "$out/$name.ini" \
            -Dtests=true -Dtest_switches=true "$@" >"$out/$name.log" || die "it cannot be built: see $out/$name.log"
    ninja -k 0 -C "$directory" >"$out/$name.log" || die "it cannot be built: see $out/$name.log"
}

build_aarch64() {
    unpack arm64
    cross_file "$out/aarch64.ini"
    cross_build build-aarch64 aarch64 --werror
}

# What needs no kernel of its own: each through a script, since the runner runs programs.
machine_user() {
    build_aarch64
    mkdir -p "$place/programs"
    echo 'qemu-user' >"$place/what"
    for suite in $(suites_of "$1"); do
        program=$top/build-aarch64/tests/test-${suite#unit/}
        printf '#!/bin/sh\nexec qemu-aarch64 -L %s %s\n' "$cache/arm64/root" "$program" \
            >"$place/programs/${suite#unit/}"
    done
    chmod +x "$place/programs"/*
    MACHINES_USERS=$(id -un) # the cache is not for others
    run_here "$top/build-aarch64" "$place/programs"/*
}

# run_here BUILD SUITE…: on this machine, as who calls; root can be a normal user as well.
run_here() {
    users=$(id -un)
    [ "$users" != root ] || users=${MACHINES_USERS:-root tester}
    for who in $users; do
        ${MACHINES_UNDER:-} "$here/suites.sh" "$who" "$@"
    done
}

# --- what is run ------------------------------------------------------------

# Those that ask something of the kernel: births and deaths, guard, sandbox.
kernel_pattern='(birth|cgroup|guard|life|process|room|sandbox|spawn|stress|tree)(-.*)?|corners|'\
'denials|embed(-plain)?|faults|hidden-paths|policy(-.*)?|timers|tool-(exchange|launch|pool|early)|widening'

# Those of base, data and the engines: strings go in and strings come out.
plain_pattern='(base|json|toml|wire|term|conformance|trace|events)-.*|.*-engine(-.*)?|agent-acp|call-request|'\
'capabilities|cases|job-request|lines|lint|regex|remote|schema-words|server-pin|sha256|shell-word|'\
'sources|toml|tool-(bundle|handshake|response|schema)|trace|turn-request|validate|yaml'

# suites_of NAME: what it runs. `kernel` and `plain` stand for the units above.
suites_of() {
    for suite in ${MACHINES_SUITES:-$(of "$1" 6)}; do
        case $suite in
        kernel) units_like "$kernel_pattern" ;;
        plain) units_like "$plain_pattern" ;;
        *) printf '%s ' "$suite" ;;
        esac
    done
}

# units_like PATTERN: those that the build for tests has.
units_like() {
    programs "$top/build-test" tests/test- | grep -xE "$1" | sort -u | sed 's|^|unit/|' | tr '\n' ' '
}

# run_machine NAME: in a directory of its own, which says at the end what came of it.
run_machine() {
    place=$out/$1
    rm -rf "$place"
    mkdir -p "$place"
    ("machine_$(of "$1" 2)" "$1") | progress "$1" || true
    results <"$place/console" >"$place/results"
}

# --- all of it --------------------------------------------------------------

if [ "${1:-}" = --start ]; then
    shift
    start "$@"
    exit
fi
if [ $# -eq 0 ]; then
    # shellcheck disable=SC2046 # names without blanks
    set -- $(printf '%s' "$machines" | awk '{ print $1 }')
fi
for name; do
    [ -n "$(of "$name" 1)" ] || {
        echo "error: there is no machine $name: $(printf '%s' "$machines" | awk 'NF { printf "%s ", $1 }')" >&2
        exit 1
    }
done
for name; do run_machine "$name"; done
all_told "$@"
