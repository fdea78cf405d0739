#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Gets what tally-bench compares with: Debian's OpenCV, GSL and Boost, and NumPy and fast-histogram
# from PyPI in build/peers-venv. Nothing but the benchmark needs them; what is missing is skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh peers
if [ ! -x build/peers-venv/bin/python ]; then
    mkdir -p build
    python3 -m venv build/peers-venv
fi
build/peers-venv/bin/python -m pip install --quiet numpy fast-histogram
build/peers-venv/bin/python -c '
import fast_histogram, numpy
print("numpy", numpy.__version__, "fast-histogram", fast_histogram.__version__)'
