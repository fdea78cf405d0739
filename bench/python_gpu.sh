#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Python package on a GPU: builds it, runs its tests of devices where pytest is, times its calls beside CuPy's and
# torch's (of SIZES of samples, else of all to 10^9); ends by itself after LIMIT seconds (420). Results go to the folder named by OUT:
# python-cuda.jsonl, put into bench/results as python-cuda-NAME-DATE.jsonl.
set -u
cd "$(dirname "$0")/.." || exit
LIMIT=${LIMIT:-420}
. bench/said.sh

python=${PYTHON:-python3}
package=$PWD/$build/package
export build out package python PYTHONPATH=$package PYTHONDONTWRITEBYTECODE=1

# The package as pip would lay it out: its Python, its compiled part and both libraries.
lay_out() {
    rm -rf "$package" && mkdir -p "$package/libtally/lib" && cp -r python/libtally/. "$package/libtally" &&
        cp "$(find "$build" -name _fast.abi3.so | head -n 1)" "$package/libtally" &&
        cp -L "$(find "$build" -name libtally.so.0 | head -n 1)" "$(find "$build" -name libtally-io.so.0 | head -n 1)" \
            "$package/libtally/lib"
}
tests() {
    "$python" -m pytest -c pyproject.toml -q -p no:cacheprovider tests/python/test_{cuda,torch,jax,quantiles}.py "$@"
}
# A clock before the driver, for when work is on the device.
times() {
    cc -shared -fPIC -o "$build/launch_clock.so" bench/launch_clock.c -Wl,--no-as-needed -l:libcuda.so.1 &&
        export TALLY_CUDA_LIBRARY=$PWD/$build/launch_clock.so
    COMMIT=${COMMIT:-$(git rev-parse --short HEAD 2>/dev/null)} "$python" bench/python.py cuda ${SIZES:+-n "$SIZES"} \
        >"$out/python-cuda.jsonl"
}

export -f lay_out tests times

said 60 configure cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DTALLY_FAST=ON
said 120 build cmake --build "$build" -j"$(nproc)" --target tally tally_io tally_fast
said 10 package bash -c lay_out
said 20 import "$python" -c 'import libtally; print(libtally.__version__, libtally.devices())'
said 240 tests bash -c tests
said 240 times bash -c times
echo "$SECONDS s"
