# SPDX-License-Identifier: Apache-2.0
"""docs/SCALE.md: its Python."""

import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import libtally as tally

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "SCALE.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
rng = np.random.default_rng(3)


def block(module):
    (found,) = (b for b in BLOCKS if f"import {module}" in b or f"tally.{module}(" in b)
    return found


def test_mpi():
    """By one rank, which needs no mpirun but a library of MPI, in a process of its own."""
    pytest.importorskip("mpi4py")
    code = f"""
import numpy as np, libtally as tally
mine = np.random.default_rng(3).normal(size=1000)
try:
    from mpi4py import MPI
except RuntimeError as e:
    raise SystemExit(f"skipped: {{e}}")
{block("libtally.mpi")}
np.testing.assert_array_equal(counts, tally.histogram(mine, 100)[0])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    if done.stderr.startswith("skipped"):
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr


def test_dask(capsys):
    da = pytest.importorskip("dask.array")
    exec(block("libtally.dask"), {"x": da.from_array(rng.random(5000), chunks=700)})
    assert capsys.readouterr().out == "5000\n"


def test_spark():
    pa = pytest.importorskip("pyarrow")
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    from test_spark import frame

    a = rng.random(800)
    names = {"df": frame(pa.array(a))}
    exec(block("libtally.spark"), names)
    np.testing.assert_array_equal(names["counts"], tally.histogram(a, 100, (0, 1))[0])


def test_merge(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parts").mkdir()
    for i in range(3):
        tally.Hist(tally.Regular(4, 0, 1)).fill(rng.random(10)).save(f"parts/{i}.json")
    names = {}
    exec(block("merge"), names)
    assert names["total"].sum() == 30
