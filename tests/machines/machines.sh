#!/bin/sh
# perch on other machines than this one: Debian's kernels in qemu, aarch64, musl. `./dev machines`
# calls it, with what it needs installed and build-test built.
#
#     tests/machines/machines.sh [NAME…]      as the table below has them; all without a name
#
# MACHINES_SUITES   these suites instead of those in the table
# MACHINES_ACCEL    kvm, where that works: tcg
# MACHINES_SECONDS  how long one machine may take (7200)
#
# What each said stays in build-machines/NAME.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
top=${here%/*/*}
# shellcheck source=tests/lib.sh
. "$top/tests/lib.sh"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/perch-dev/machines
out=$top/build-machines

# A name, what it is, the architecture as Debian calls it, the kernel's package or the way it is
# run, the build, the suites.
machines='
linux-6.1     kernel  amd64  linux-image-cloud-amd64       build-test     plain kernel escape/matrix
linux-6.12    kernel  amd64  linux-image-6.12-cloud-amd64  build-test     plain kernel escape/matrix
aarch64       user    arm64  qemu-aarch64                  build-aarch64  plain
aarch64-6.1   kernel  arm64  linux-image-cloud-arm64       build-aarch64  kernel escape/matrix
aarch64-6.12  kernel  arm64  linux-image-6.12-cloud-arm64  build-aarch64  kernel escape/matrix
musl          musl    amd64  musl-gcc                      build-musl     plain kernel
'

# What the guests are made of, and what perch is built from for another architecture. They are
# unpacked and not configured: that needs neither root's rights nor the other processor.
userland='base-files base-passwd bash bats bc busybox-static coreutils dash diffutils findutils gawk
git grep gzip hostname iproute2 jq libc-bin login mount ninja-build openssl passwd procps python3 sed
sqlite3 tar util-linux'
libraries='check libc6-dev libcurl4-openssl-dev libhiredis-dev libjansson-dev libpcre2-dev
libsqlite3-dev libuv1-dev libyaml-dev'

die() {
    echo "error: $1" >&2
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
    # shellcheck disable=SC2046,SC2086 # names without blanks
    packages=$(printf '%s,' $userland $libraries $(kernels_of "$1"))
    mmdebstrap --quiet --variant=extract --architectures="$1" --include="${packages%,}" \
        bookworm "$tree/root" &&
        mv "$tree/root/boot" "$tree/root/lib/modules" "$tree" &&
        furnish "$tree/root" &&
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
    printf "top='%s' build='%s' suites='%s'\n" "$top" "$top/$2" "$3" >"$stage/.settings"
    [ ! -d "$top/../shared/data" ] || cp -rL "$top/../shared/data" "$stage/.data"
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

# emulator ARCHITECTURE: the command. All is emulated, ten to twenty times slower than the processor
# itself: its help (MACHINES_ACCEL=kvm) is offered by virtual machines that cannot give it.
emulator() {
    case $1 in
    amd64) echo "qemu-system-x86_64 -M q35 -accel ${MACHINES_ACCEL:-tcg} -cpu max" ;;
    arm64) echo 'qemu-system-aarch64 -M virt -accel tcg -cpu max,pauth-impdef=on' ;;
    esac
}

# boot NAME: to its end; what the guest wrote lies in its directory.
boot() {
    place=$out/$1
    tree=$cache/$(of "$1" 3)
    version=$(version_of "$1")
    rm -rf "$place"
    mkdir -p "$place/said"
    echo "Linux $version" >"$place/what"
    root_image "$tree"
    initramfs "$place/initramfs" "$tree" "$version"
    work_image "$place/work.img" "$(of "$1" 5)" "$(suites_of "$1")"
    truncate -s 64M "$place/said.tar"
    # shellcheck disable=SC2046 # several arguments
    timeout "${MACHINES_SECONDS:-7200}" $(emulator "$(of "$1" 3)") \
        -m 3072 -smp 2 -nodefaults -display none -no-reboot -serial "file:$place/console" \
        -kernel "$tree/boot/vmlinuz-$version" -initrd "$place/initramfs" \
        -append "console=ttyS0 console=ttyAMA0 quiet panic=-1 no_timer_check" \
        -drive "if=virtio,format=raw,snapshot=on,file=$tree/root.img" \
        -drive "if=virtio,format=raw,snapshot=on,file=$place/work.img" \
        -drive "if=virtio,format=raw,file=$place/said.tar" &&
        tar -xf "$place/said.tar" -C "$place/said"
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
    [ -e "$directory/build.ninja" ] ||
        meson setup "$directory" "$top" --cross-file "$out/$name.ini" \
            -Dtests=true -Dtest_switches=true "$@" >"$out/$name.log" || die "see $out/$name.log"
    ninja -C "$directory" >"$out/$name.log" || die "see $out/$name.log"
}

build_aarch64() {
    [ -z "${aarch64_is_built:-}" ] || return 0
    unpack arm64
    mkdir -p "$out"
    cross_file "$out/aarch64.ini"
    cross_build build-aarch64 aarch64 --werror
    aarch64_is_built=yes
}

# What needs no kernel of its own: each through a script, since the runner runs programs.
machine_user() {
    build_aarch64
    place=$out/$1
    rm -rf "$place"
    mkdir -p "$place/said" "$place/programs"
    echo 'qemu-user' >"$place/what"
    for suite in $(suites_of "$1"); do
        program=$top/build-aarch64/tests/test-${suite#unit/}
        printf '#!/bin/sh\nexec qemu-aarch64 -L %s %s\n' "$cache/arm64/root" "$program" \
            >"$place/programs/${suite#unit/}"
    done
    chmod +x "$place/programs"/*
    PERCH_BUILD=$top/build-aarch64 "$top/tests/run" "$place/programs"/* >"$place/said/$(id -un)" || true
}

# --- another C library ------------------------------------------------------

# Debian has musl and no library that was built with it: those of the tests and of perch are built
# here, from Debian's source packages. libcurl, with all that it needs, is not: perch-remote is left
# out. So is the example with libuv.
musl_sources='pcre2 libyaml jansson check hiredis sqlite3'

# fetch_sources DIRECTORY: as they are, from where this machine's packages come.
fetch_sources() (
    mkdir -p "$1/lists/partial"
    cd "$1"
    sed -n 's/^Types: deb$/Types: deb-src/p; /^URIs:\|^Suites:\|^Components:\|^Signed-By:\|^$/p' \
        /etc/apt/sources.list.d/debian.sources >debian.sources
    settings="-o Dir::Etc::sourcelist=$1/debian.sources -o Dir::Etc::sourceparts=-
        -o Dir::State::lists=$1/lists -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache="
    # shellcheck disable=SC2086 # several options and names
    apt-get -qq $settings update &&
        apt-get -qq $settings source --download-only $musl_sources
    for file in *.orig.tar.*; do tar -xf "$file"; done
)

# by_cmake SOURCE: one that has a description for it; options that it does not know do no harm.
by_cmake() {
    cmake -G Ninja -S "$1" -B "$1/built" -DCMAKE_C_COMPILER="$musl/cc" -DCMAKE_INSTALL_PREFIX="$musl" \
        -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF \
        -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DPCRE2_BUILD_TESTS=OFF -DPCRE2_BUILD_PCRE2GREP=OFF \
        -DJANSSON_BUILD_SHARED_LIBS=ON -DJANSSON_WITHOUT_TESTS=ON -DJANSSON_BUILD_DOCS=OFF -DJANSSON_EXAMPLES=OFF \
        -DCHECK_ENABLE_TESTS=OFF -DCHECK_ENABLE_SUBUNIT=OFF && ninja -C "$1/built" install
}

by_hand() {
    make -C "$musl"/sources/hiredis-* CC="$musl/cc" PREFIX="$musl" OPTIMIZATION='-O2 -fPIC' static hiredis.pc &&
        mkdir -p "$musl/include/hiredis" && cp "$musl"/sources/hiredis-*/*.h "$musl/include/hiredis" &&
        cp "$musl"/sources/hiredis-*/libhiredis.a "$musl/lib" &&
        cp "$musl"/sources/hiredis-*/hiredis.pc "$musl/lib/pkgconfig" &&
        cd "$musl"/sources/sqlite3-* &&
        CC=$musl/cc ./configure --host=x86_64-linux-musl --prefix="$musl" --disable-tcl \
            --disable-readline --disable-shared --with-pic &&
        make BCC=gcc lib_install && cp sqlite3.h src/sqlite3ext.h "$musl/include" &&
        cp sqlite3.pc "$musl/lib/pkgconfig" &&
        # What Debian's packages have besides.
        ln -sf libcheck.a "$musl/lib/libcheck_pic.a" &&
        printf 'Name: yaml\nDescription: YAML\nVersion: 0.2.5\nLibs: -L%s/lib -lyaml\nCflags: -I%s/include\n' \
            "$musl" "$musl" >"$musl/lib/pkgconfig/yaml-0.1.pc"
}

# Headers of the kernel, which are no part of a C library, and a compiler that finds them.
musl_libraries() (
    musl=$cache/musl
    [ ! -e "$musl/built" ] || return 0
    rm -rf "$musl"
    mkdir -p "$musl/headers" "$musl/lib/pkgconfig"
    ln -s /usr/include/linux /usr/include/asm-generic "/usr/include/$(gcc -print-multiarch)/asm" "$musl/headers"
    printf '#!/bin/sh\nexec musl-gcc "$@" -idirafter %s\n' "$musl/headers" >"$musl/cc"
    chmod +x "$musl/cc"
    fetch_sources "$musl/sources" || exit 1
    for library in pcre2 libyaml jansson check; do
        by_cmake "$musl/sources/$library"-[0-9]* || exit 1
    done
    by_hand && : >"$musl/built"
)

machine_musl() {
    place=$out/$1
    rm -rf "$place"
    mkdir -p "$place/said"
    echo "$(dpkg-query -W -f '${Package} ${Version}' musl-dev), this kernel" >"$place/what"
    musl_libraries >"$out/musl.log" 2>&1 || die "see $out/musl.log"
    cat >"$out/musl.ini" <<END
[binaries]
c = ['musl-gcc', '-idirafter', '$cache/musl/headers', '-L$cache/musl/lib']
ar = 'ar'
strip = 'strip'
pkgconfig = 'pkg-config'

[properties]
pkg_config_libdir = '$cache/musl/lib/pkgconfig'
needs_exe_wrapper = false

[host_machine]
system = 'linux'
cpu_family = 'x86_64'
cpu = 'x86_64'
endian = 'little'
END
    # Its ioctl takes an int, which gcc remarks at every call.
    cross_build build-musl musl -Dremote=disabled
    # shellcheck disable=SC2046 # several suites
    PERCH_BUILD=$top/build-musl "$top/tests/run" $(suites_of "$1") >"$place/said/$(id -un)" || true
}

# --- what is run ------------------------------------------------------------

# Those that ask something of the kernel: births and deaths, guard, sandbox.
kernel_units='birth-faults cgroup corners denials embed embed-plain faults guard hidden-paths life life-end
life-end-plain life-plain policy policy-missed process-tree room room-end room-faults room-life room-memory sandbox
sandbox-dir-cache sandbox-filter sandbox-fingerprint sandbox-path-record sandbox-paths sandbox-public
sandbox-reuse-pool sandbox-view spawn spawn-given spawn-given-plain spawn-plain stress stress-plain
timers tool-exchange tool-launch tool-pool tree widening'

# Those of base, data and the engines: strings go in and strings come out.
plain_pattern='(base|json|toml|wire|term|conformance|trace|events)-.*|.*-engine(-.*)?|agent-acp|call-request|'\
'capabilities|cases|job-request|lines|lint|regex|remote|schema-words|server-pin|sha256|shell-word|'\
'sources|toml|tool-(bundle|handshake|response|schema)|trace|turn-request|validate|yaml'

# suites_of NAME: what it runs. `kernel` and `plain` stand for the units above.
suites_of() {
    for suite in ${MACHINES_SUITES:-$(of "$1" 6)}; do
        case $suite in
        kernel) for unit in $kernel_units; do printf "unit/%s " "$unit"; done ;;
        plain) plain_units | sed 's|^|unit/|' | tr '\n' ' ' ;;
        *) printf '%s ' "$suite" ;;
        esac
    done
}

plain_units() {
    programs "$top/build-test" tests/test- | grep -xE "$plain_pattern" | sort -u
}

# --- the table --------------------------------------------------------------

# tell NAME: a line for each user that ran it, and what failed below.
tell() {
    place=$out/$1
    what=$(cat "$place/what" 2>/dev/null || true)
    for user in root tester; do
        file=$place/said/$user
        [ -s "$file" ] || continue
        printf '%-14s %-34s %-8s %s\n' "$1" "$what" "$user" "$(tail -n 1 "$file")"
        grep '^FAILED' "$file" | sed 's/^/    /' || true
    done
    [ -n "$(ls "$place/said" 2>/dev/null)" ] || printf '%-14s %-34s nothing came back: %s\n' "$1" "$what" "$place"
}

if [ $# -eq 0 ]; then
    # shellcheck disable=SC2046 # names without blanks
    set -- $(printf '%s' "$machines" | awk '{ print $1 }')
fi
for name; do
    [ -n "$(of "$name" 1)" ] || die "there is no machine $name: $(printf '%s' "$machines" | awk 'NF { printf "%s ", $1 }')"
done
for name; do
    "machine_$(of "$name" 2)" "$name" || true
    tell "$name"
done
