#!/bin/bash
# The rest of a guest's life: the suites as root, then as a normal user; what they said goes to
# the third disk. Called by guest_init with where the tree is.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8
mount -t tmpfs -o mode=1777 tmp /tmp
mount -t tmpfs -o mode=755 run /run
mkdir -p /dev/pts /dev/shm
mount -t devpts -o ptmxmode=666 pts /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t cgroup2 cgroup /sys/fs/cgroup
ln -sf /proc/self/fd /dev/fd
ip link set lo up
ldconfig

top=$1 build='' suites=''
# shellcheck disable=SC1091 # written for each machine
. "$top/.settings"
[ ! -d "$top/.data" ] || export PERCH_TEST_DATA="$top/.data"
# A processor that is emulated is slow: nobody is to be called hung for that.
export PERCH_BUILD=$build PERCH_TEST_LANES=2 PERCH_TEST_TIMEOUT=1800 CK_TIMEOUT_MULTIPLIER=20
export PERCH_TEST_AGAIN=10
said=/tmp/said
mkdir "$said"
chmod 777 "$said"

# as_tester COMMAND…: as the normal user, in whose hands the logs of the build are for once.
as_tester() {
    chown -R tester "$build"
    setpriv --reuid 1000 --regid 1000 --init-groups env HOME=/home/tester "$@"
}

{
    uname -a
    cat /sys/kernel/security/lsm 2>/dev/null
    cd "$top" || exit 1
    "$build/perch" sandbox check
    # shellcheck disable=SC2086 # several suites
    tests/run $suites 2>&1 | tee "$said/root"
    as_tester "$build/perch" sandbox check
    # shellcheck disable=SC2086
    as_tester tests/run $suites 2>&1 | tee "$said/tester"
} 2>&1 | tee "$said/console" >/dev/console
tar -cf /dev/vdc -C "$said" .
sync
busybox poweroff -f
