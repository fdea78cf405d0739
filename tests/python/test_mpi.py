# SPDX-License-Identifier: Apache-2.0
"""tally.mpi by 1, 2 and 4 ranks: what one process counts of all, to the bit."""

import os
import shutil
import subprocess
import sys

import pytest

pytest.importorskip("mpi4py")
MPIRUN = shutil.which("mpirun")
if not MPIRUN:
    pytest.skip("no mpirun here", allow_module_level=True)

PROGRAM = """
import hashlib, sys
import numpy as np
import libtally as tally, libtally.mpi
from mpi4py import MPI

comm = MPI.COMM_WORLD
rng = np.random.default_rng(20261123)
a = rng.normal(0, 50, 20_011)
w = 10.0 ** rng.uniform(-14, 4, a.size)
cuts = [0, *sorted(rng.integers(0, a.size, comm.size - 1)), a.size]
if comm.size == 4:
    cuts[2] = cuts[1]  # a rank without samples
mine = slice(cuts[comm.rank], cuts[comm.rank + 1])

for dtype in ("f8", "f4", "i4", "u1"):
    x = a.astype("i8").astype(dtype) if dtype == "u1" else a.astype(dtype)
    for bins, range_ in ((10, None), (33, (-5, 99)), ([-7, 0, 0.5, 100], None)):
        ours, edges = tally.histogram(x, bins, range_)
        counts, found = tally.mpi.histogram(x[mine], bins, range_)
        np.testing.assert_array_equal(counts, ours)
        np.testing.assert_array_equal(found, edges)
ints = rng.integers(-9, 9, a.size)
np.testing.assert_array_equal(tally.mpi.histogram(a[mine], weights=ints[mine])[0],
                              tally.histogram(a, weights=ints)[0])
np.testing.assert_array_equal(tally.mpi.histogram(a[mine], 7, density=True, comm=comm)[0],
                              tally.histogram(a, 7, density=True)[0])
bits = b""
for dtype in ("f4", "f8"):
    v = w.astype(dtype)
    sums, _ = tally.mpi.histogram(a[mine], 50, weights=v[mine])
    np.testing.assert_allclose(sums, tally.histogram(a, 50, weights=v.astype("f8"))[0], 1e-12,
                               a.size * w.max() * 2.0**-63)  # of each weight
    bits += sums.tobytes()

part = tally.Hist(tally.Regular(9, -60, 60)).fill(a[mine])
assert tally.mpi.merge(part) == tally.Hist(tally.Regular(9, -60, 60)).fill(a)

last = comm.rank == comm.size - 1
for wrong, words in (({"weights": w[mine] * (np.nan if last else 1)}, "infinite or NaN"),
                     ({"range": (3, 2) if last else (0, 1)}, "max must be larger")):
    try:
        tally.mpi.histogram(a[mine] if not last else a[-5:], **wrong | (
            {"weights": np.full(5, np.nan)} if last and "weights" in wrong else {}))
    except (ValueError if last else RuntimeError) as e:
        assert words in str(e) and (last or f"rank {comm.size - 1}: ValueError" in str(e)), e
    else:
        raise AssertionError("not refused")
if comm.rank == 0:
    print(hashlib.sha256(bits).hexdigest())
"""

BITS = set()


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_ranks(ranks):
    env = os.environ | {
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
        "OMPI_MCA_pml": "ob1",  # looks for no network
    }  # fmt: skip
    done = subprocess.run(
        [MPIRUN, "-n", str(ranks), sys.executable, "-c", PROGRAM],
        env=env, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    BITS.add(done.stdout)
    assert len(BITS) == 1, "the sums differ with the number of ranks"
