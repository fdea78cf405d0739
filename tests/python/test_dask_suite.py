# SPDX-License-Identifier: Apache-2.0
"""Dask's own tests of histograms, from the Dask that is installed, run against ours."""

import os
import subprocess
import sys

import pytest

NOT_RUN = {
    "normed=, which NumPy has no more": "normed or dd_density or dd_weighted_density",
    "without a range the extremes are computed, not asked for": "10-None",
    "edges that Dask computes come back as NumPy's": "delayed_bins",
    "a number of bins that Dask computes goes with density": "delayed_n_bins_raises",
    "chunks that differ are made alike, not refused": "incompat_sample or incompat_multiarg or incompat_weight",
    "one array of one dimension is a column; errors in other words": "incompat_shape or incompat_bins",
}
LONG = pytest.mark.skipif(os.environ.get("TALLY_CHECK") != "all", reason="long: by make check-all")


def run_suite():
    """In a process of its own, where Dask's functions are ours."""
    import dask.array

    import libtally as tally, libtally.dask

    dask.array.histogram, dask.array.histogramdd = tally.dask.histogram, tally.dask.histogramdd
    chosen = f"histogram and not ({' or '.join(NOT_RUN.values())})"
    options = ["-c", "/dev/null", "-q", "-p", "no:cacheprovider", "-rf", "--tb=short", "-k", chosen, "--pyargs"]
    return pytest.main([*options, "dask.array.tests.test_routines"])


@LONG
def test_dasks_own_tests():
    pytest.importorskip("dask.array.tests.test_routines")
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True)
    summary = done.stdout.strip().splitlines()[-1]
    assert not done.returncode and int(summary.split(" passed")[0].split()[-1]) > 40, done.stdout + done.stderr


if __name__ == "__main__":
    sys.exit(run_suite())
