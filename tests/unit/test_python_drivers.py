# SPDX-License-Identifier: Apache-2.0
"""Counting arrays of the host loads no driver: here each ends the process that loads it."""

import os
import pathlib
import sys

broken = pathlib.Path(os.environ["BUILDDIR"]) / "tests/device/lib/libbroken.so"
if "TALLY_LIBRARY" not in os.environ or os.environ.get("SANITIZE") or not broken.exists():
    print("skipped: no shared library without sanitizers here, or no stand-in for a driver")
    sys.exit(77)
os.environ["TALLY_OPENCL_LIBRARY"] = os.environ["TALLY_CUDA_LIBRARY"] = str(broken)
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "python"))

import numpy as np
import libtally as tally

x = np.random.default_rng(1).normal(size=100_000)
for values in (x, x.astype(np.float32), (x * 20).astype(np.int16), np.ones((20, 30, 3), np.uint8)):
    for bins in (10, "auto", [-1.0, 0.0, 2.0]):
        counts, edges = tally.histogram(values, bins)
        assert (counts == np.histogram(values, edges)[0]).all()
tally.histogram(x, 10, weights=x)
tally.histogram2d(x, x, 10)
tally.bincount(np.arange(10))
tally.methods()
print("no driver was loaded")
