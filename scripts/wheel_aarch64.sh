#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The wheel for aarch64, cross-compiled on x86-64 into build/python/wheel-aarch64, and tried by Debian's Python under qemu: the
# session of python/README.md, and the command on a file. With TALLY_PREBUILT it holds the CUDA kernels that scripts/wheel.sh has
# compiled just before: they are the same for every processor.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$PWD/build/python
root=$PWD/build/aarch64-root # unpacked, not configured: nothing in it is run to make it

# CMake wants the CPython that builds to be of the headers' version.
for needed in aarch64-linux-gnu-gcc qemu-aarch64-static mmdebstrap python3.11; do
    command -v $needed >/dev/null || {
        echo "wheel_aarch64: no $needed here: the wheel for aarch64 is left out"
        exit 0
    }
done
[ -e "$root" ] || mmdebstrap --quiet --variant=extract --architectures=arm64 \
    --include=libpython3-dev,libstdc++6,python3,libjpeg-dev,liblz4-dev,libpng-dev,libzstd-dev,zlib1g-dev bookworm "$root"

rm -rf build/wheel-aarch64
if [ -n "${TALLY_PREBUILT:-}" ]; then
    install -Dt build/wheel-aarch64 build/wheel/libtally-*.kernels
fi
TALLY_CROSS=aarch64 CMAKE_TOOLCHAIN_FILE=$PWD/cmake/aarch64.cmake PKG_CONFIG_SYSROOT_DIR=$root \
    PKG_CONFIG_LIBDIR=$root/usr/lib/aarch64-linux-gnu/pkgconfig AUDITWHEEL_LD_LIBRARY_PATH=$root/usr/lib/aarch64-linux-gnu scripts/wheel.sh python3.11

site=$folder/aarch64-site
rm -rf "$site"
"$folder/build-aarch64/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile --only-binary=:all: --python-version 3.11 \
    --platform manylinux_2_34_aarch64 --platform manylinux_2_28_aarch64 --platform manylinux2014_aarch64 \
    --target "$site" "$folder"/wheel-aarch64/*manylinux*.whl
emulated() {
    qemu-aarch64-static -L "$root" -E PYTHONHOME="$root/usr" -E PYTHONPATH="$site" -E PYTHONDONTWRITEBYTECODE=1 \
        -E LD_LIBRARY_PATH="$root/usr/lib/aarch64-linux-gnu" "$@"
}
emulated "$root/usr/bin/python3" -m doctest python/README.md
emulated "$root/usr/bin/python3" -c '
import platform, numpy, libtally as tally
samples = numpy.random.default_rng(1).random(100_000, dtype=numpy.float32)
assert (tally.histogram(samples, 50)[0] == numpy.histogram(samples, 50)[0]).all()
assert tally._compiled.fast, "the compiled part does not load"
print("wheel_aarch64: counts as NumPy", numpy.__version__, "does, on", platform.machine())'
emulated "$site/libtally/bin/tally" data/flights.csv --column dep_delay --range -30 150 --bins 9 | grep '19,755'
emulated "$site/libtally/bin/tally" --version -v
