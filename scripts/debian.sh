#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Debian's packages: builds them from a clean copy, asks lintian, and in a root folder of its own, with nothing else in it,
# installs them, runs their tests (debian/tests) and removes them; then builds them again, the same bytes. Needs root (or fakechroot's rights for mmdebstrap).
#
#     scripts/debian.sh [build|test|same]     build: no root folder; test: what is built already; same: builds again
set -euo pipefail
cd "$(dirname "$0")/.."
top=$PWD/build/debian
source=$top/tally
root=$top/root
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

profiles=()
if ldconfig -p | grep -q libnvrtc.so || ls /usr/local/cuda/lib*/libnvrtc.so* >/dev/null 2>&1; then
    profiles=(-Ppkg.tally.cuda)
else
    echo "debian: no NVRTC here: tally-kernels-cuda is left out"
fi

# copied FOLDER: the source as it is here, without what git ignores.
copied() {
    mkdir -p "$1"
    git ls-files -co --exclude-standard -z | xargs -0 cp --parents -t "$1" 2>/dev/null || true # deleted ones are listed too
}

# packaged FOLDER [OPTION]: the packages of a copy of the source there, beside it. Not by ccache, which writes other paths
# into what debuggers read.
packaged() {
    copied "$1"
    (cd "$1" && CCACHE_DISABLE=1 DEB_BUILD_OPTIONS="parallel=${JOBS:-$(nproc)} ${2:-}" dpkg-buildpackage -us -uc -b "${profiles[@]}") >"$1/../build.log" 2>&1 || {
        tail -n 40 "$1/../build.log"
        return 1
    }
}

build() {
    rm -rf "$top"
    packaged "$source" || return 1
    (cd "$top" && ls -s --block-size=1K -- *.deb)
    lintian --allow-root --fail-on error "$top"/*.changes
}

# Once more, in another folder and with another umask: the same bytes.
same() {
    local deb
    (umask 077 && packaged "$top/another-folder/of-the-source" nocheck) || return 1
    for deb in "$top"/*.deb; do
        cmp "$deb" "$top/another-folder/${deb##*/}" || return 1
    done
    echo "debian: built twice, the same bytes"
}

inside() {
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}

# ours: files in the root folder that are named as ours are.
ours() {
    find "$root/usr" "$root/etc" "$root/var/lib/dpkg/info" -name '*tally*' | grep -vE '/zoneinfo/' || true
}

try() {
    local begin
    mkdir -p build
    [ -e build/debian-root.tar ] || mmdebstrap --quiet --variant=apt --format=tar bookworm build/debian-root.tar
    rm -rf "$root"
    mkdir -p "$root"
    tar -xf build/debian-root.tar -C "$root" --exclude='./dev/*'
    mknod -m 666 "$root/dev/null" c 1 3 2>/dev/null || true
    cp /etc/resolv.conf "$root/etc/"
    copied "$root/source"
    mkdir "$root/debs"
    cp "$top"/*.deb "$root/debs/"
    rm -f "$root"/debs/*-dbgsym_*
    inside apt-get update -q >"$top/apt.log" 2>&1
    begin=$SECONDS
    inside sh -c 'apt-get install -q -y --no-install-recommends /debs/*.deb' >>"$top/apt.log" 2>&1 || {
        tail -n 30 "$top/apt.log"
        return 1
    }
    echo "debian: installed in $((SECONDS - begin)) s"
    inside apt-get install -q -y --no-install-recommends gcc g++ libc6-dev make cmake pkg-config >>"$top/apt.log" 2>&1
    for test in examples programs; do
        begin=$SECONDS
        inside sh -c "cd /source && debian/tests/$test" >"$top/$test.log" 2>&1 || {
            cat "$top/$test.log"
            return 1
        }
        echo "debian: $test: $((SECONDS - begin)) s: $(tail -n 1 "$top/$test.log")"
    done
    inside sh -c 'dpkg --purge $(for deb in /debs/*.deb; do dpkg-deb -f "$deb" Package; done)' >>"$top/apt.log" 2>&1
    [ -z "$(ours)" ] || {
        echo "debian: left behind:"
        ours
        return 1
    }
    rm -rf "$root"
    echo "debian: removed, and nothing stayed"
}

case "${1:-all}" in
build) build ;;
test) try ;;
same) same ;;
all) build && try && same ;;
*)
    echo "usage: scripts/debian.sh [build|test|same]" >&2
    exit 2
    ;;
esac
