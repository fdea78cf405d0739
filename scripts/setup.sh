#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that are missing, and says which.
#
#     scripts/setup.sh build     what building needs
#     scripts/setup.sh check     and what the tests and checks need
#     scripts/setup.sh all       and what packages and other platforms need
#     scripts/setup.sh peers     and the libraries that the benchmark compares with (scripts/peers.sh: Python too)
set -euo pipefail

build=(
    gcc libc6-dev make cmake pkg-config
    libpng-dev libjpeg-dev libtiff-dev libwebp-dev zlib1g-dev libisal-dev libzstd-dev liblzma-dev libbz2-dev liblz4-dev libcairo2-dev libhdf5-dev
    fonts-dejavu-core
)
check=(
    abigail-tools g++ clang clang-format clang-tidy libclang-rt-14-dev lld valgrind binutils ccache ninja-build
    python3 python3-numpy python3-pil python3-h5py python3-matplotlib python3-dev python3-venv gzip pigz zstd xz-utils bzip2 tabix libtiff-tools man-db mandoc zsh fish
    ocl-icd-libopencl1 pocl-opencl-icd oclgrind libopenmpi-dev openmpi-bin libsqlite3-dev
)
all=(
    clang-19 debhelper default-jre-headless dh-python fakeroot gcc-aarch64-linux-gnu gcc-mingw-w64-x86-64 gcc-riscv64-linux-gnu gcc-s390x-linux-gnu libc6-dev-arm64-cross
    libc6-dev-riscv64-cross libc6-dev-s390x-cross lintian mmdebstrap musl-tools python3-yaml qemu-user-static ruby unzip wine wine64
)
peers=(g++ libdeflate-dev libgsl-dev libopencv-core-dev libopencv-imgproc-dev libboost-dev python3-venv)

case "${1:-build}" in
build) wanted=("${build[@]}") ;;
check) wanted=("${build[@]}" "${check[@]}") ;;
all) wanted=("${build[@]}" "${check[@]}" "${all[@]}") ;;
peers) wanted=("${build[@]}" "${peers[@]}") ;;
*)
    echo "usage: scripts/setup.sh build|check|all|peers" >&2
    exit 2
    ;;
esac

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    echo "setup: no apt here; make sure that you have what these Debian packages hold:" >&2
    printf '    %s\n' "${wanted[*]}" >&2
    exit 0
fi

missing=()
for package in "${wanted[@]}"; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "setup: missing, and neither root nor sudo to install them: ${missing[*]}" >&2
        exit 1
    fi
    root=(sudo)
fi
echo "setup: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${root[@]}" apt-get update -q &&
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y \
        --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "setup: apt-get could not install them" >&2
    exit 1
fi
