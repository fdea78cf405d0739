#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The wheel, and then the source distribution, installed by pip alone in a clean Debian root folder, and three examples by each:
# the session of python/README.md, the command on a file, a histogram that is kept. For the source distribution the folder
# gets a C compiler and Python's headers; CMake and Ninja come as build requirements. Needs root; scripts/wheel.sh made the wheel.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$PWD/build/python
root=$folder/clean-root
wheel=$(ls "$folder"/wheel/*manylinux*.whl)

rm -rf "$folder/sdist"
"$folder/build/bin/python" -m build --sdist --no-isolation --outdir "$folder/sdist" . >"$folder/sdist.log" 2>&1 || {
    tail -n 20 "$folder/sdist.log"
    exit 1
}
sdist=$(ls "$folder"/sdist/*.tar.gz)
"$folder/build/bin/python" -m pip install --quiet --disable-pip-version-check twine
"$folder/build/bin/python" -m twine check --strict "$wheel" "$sdist"
echo "wheel_clean: $(basename "$wheel") $(stat -c %s "$wheel") bytes, $(basename "$sdist") $(stat -c %s "$sdist") bytes"

[ -e build/debian-root.tar ] || mmdebstrap --quiet --variant=apt --format=tar bookworm build/debian-root.tar
rm -rf "$root"
mkdir -p "$root"
tar -xf build/debian-root.tar -C "$root" --exclude='./dev/*'
mknod -m 666 "$root/dev/null" c 1 3
mknod -m 666 "$root/dev/urandom" c 1 9
cp /etc/resolv.conf "$root/etc/"
inside() {
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        PIP_NO_INDEX=1 PIP_FIND_LINKS=/wheels PIP_DISABLE_PIP_VERSION_CHECK=1 TALLY_CACHE_DIR=/dev/null "$@"
}
packages() {
    inside apt-get install -q -y --no-install-recommends "$@" >>"$folder/clean-apt.log" 2>&1 || {
        tail -n 20 "$folder/clean-apt.log"
        exit 1
    }
}
inside apt-get update -q >"$folder/clean-apt.log" 2>&1
packages python3-venv
mkdir "$root/wheels" "$root/own"
"$folder/build/bin/python" -m pip download --quiet --only-binary=:all: --python-version 3.11 --dest "$root/wheels" \
    numpy 'scikit-build-core>=0.12' 'cmake>=3.20' ninja
cp "$wheel" "$sdist" "$root/own/"
cp data/flights.csv python/README.md "$root/own/"
cat >"$root/own/examples" <<'END'
#!/bin/sh
set -eu
python=$1/bin/python
cd /own
"$python" -m doctest README.md
"$python" -m libtally flights.csv --column dep_delay --range -30 150 --bins 9 | grep -q '19,755'
"$python" -c '
import numpy, libtally as tally
h = tally.Hist(tally.Regular(4, 0, 1)).fill(numpy.arange(8) / 8)
h.save("/tmp/kept.json")
assert tally.Hist.load("/tmp/kept.json") == h and h.values().tolist() == [2, 2, 2, 2]'
"$python" -m libtally --version -v
END
tried() { # name, file
    local begin=$SECONDS
    inside python3 -m venv "/$1"
    inside "/$1/bin/pip" install --quiet "/own/$(basename "$2")" >"$folder/clean-$1.log" 2>&1 || {
        tail -n 30 "$folder/clean-$1.log"
        exit 1
    }
    # The loader asks here where the command lies; /proc itself may not be mounted everywhere.
    mkdir -p "$root/proc/self"
    ln -sfn "/$1/lib/python3.11/site-packages/libtally/bin/tally" "$root/proc/self/exe"
    echo "wheel_clean: $1: installed in $((SECONDS - begin)) s"
    inside sh /own/examples "/$1"
}
tried wheel "$wheel"
packages gcc libc6-dev python3-dev
tried sdist "$sdist"
rm -rf "$root"
