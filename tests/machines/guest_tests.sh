#!/bin/bash
# The rest of a guest's life: the suites as root, then as a normal user. What they say goes to the
# console. Called by guest_init with where the tree is.
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

top=$1 build='' suites='' users=''
# shellcheck disable=SC1091 # written for each machine
. "$top/.settings"
[ ! -d "$top/.data" ] || export PERCH_TEST_DATA="$top/.data"
# A processor that is emulated is slow: nobody is to be called hung for that.
export PERCH_TEST_LANES=2 PERCH_TEST_TIMEOUT=3600 CK_TIMEOUT_MULTIPLIER=40
export PERCH_TEST_AGAIN=10

cd "$top" || exit 1
for who in $users; do
    # shellcheck disable=SC2086 # several suites
    tests/machines/suites.sh "$who" "$build" $suites >/dev/console
done
sync
busybox poweroff -f
