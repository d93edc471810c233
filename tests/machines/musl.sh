# shellcheck shell=sh disable=SC2154 # the names of machines.sh
# Another C library. Debian has musl and no library that was built with it: those of the tests and of
# perch are built here, from Debian's source packages. libcurl, with all that it needs, is not:
# perch-remote is left out. So is the example with libuv.

musl_sources='pcre2 libyaml jansson check hiredis sqlite3'

# fetch_sources DIRECTORY: as they are, from where this machine's packages come.
fetch_sources() (
    mkdir -p "$1/lists/partial"
    cd "$1" || exit 1
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
    echo "$(dpkg-query -W -f '${Package} ${Version}' musl-dev), this kernel" >"$place/what"
    echo 'libraries for musl are built'
    musl_libraries >"$out/musl.log" 2>&1 || die "its libraries cannot be had: see $out/musl.log"
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
    # jansson has names that perch has as well: it is no part of a program. The cache is not for others.
    cp "$cache/musl/lib/libjansson.so.4" "$top/build-musl"
    # shellcheck disable=SC2046 # several suites
    LD_LIBRARY_PATH=$top/build-musl run_here "$top/build-musl" $(suites_of "$1")
}
