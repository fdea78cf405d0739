# SPDX-License-Identifier: Apache-2.0
"""The stubs: what type checkers make of them, and that they say what there is."""

import os
import pathlib
import runpy
import subprocess
import sys

import pytest

import libtally as tally

HERE = pathlib.Path(__file__).parent
SAMPLES = HERE / "typed_samples.py"
CONFIGURED = HERE.parents[1] / "pyproject.toml"
LONG = pytest.mark.skipif(os.environ.get("TALLY_CHECK") != "all", reason="long: by make check-all")


def checked(*words, **variables):
    env = {**os.environ, **variables}
    folder = str(pathlib.Path(tally.__file__).parents[1])
    if not folder.endswith("-packages"):  # a checkout's
        env.update(PYTHONPATH=folder, MYPYPATH=folder)
    done = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, cwd=HERE, env=env)
    assert not done.returncode, done.stdout + done.stderr


def test_samples_run():
    pytest.importorskip("typing_extensions")
    if sys.version_info < (3, 10):
        pytest.skip("written for CPython 3.10 and later")
    runpy.run_path(str(SAMPLES))


def test_mypy(tmp_path):
    pytest.importorskip("mypy")
    checked("mypy", "--strict", "--config-file", str(CONFIGURED), "--cache-dir", str(tmp_path), str(SAMPLES))


@LONG
def test_pyright():
    pytest.importorskip("pyright")
    checked("pyright", "--pythonpath", sys.executable, str(SAMPLES))


@LONG
def test_stubs_say_what_there_is(tmp_path):
    pytest.importorskip("mypy")
    unstubbed = "axes|functions|hist|info|jax|merge|mpi|quantiles|spark|torch"
    ours = "grown_to|is_plain|part|chosen|placed_in|reaching|take|theirs|to_boost|union"  # of axes, for the package itself
    allowed = ["_.*", "(jax|mpi|spark|torch)", rf"({unstubbed})\..*", rf"(Category|Integer|Log|Regular|Variable)\.({ours})", r".*\.__replace__"]
    (tmp_path / "allowed").write_text("".join(rf"libtally\.{name}" + "\n" for name in allowed))
    checked("mypy.stubtest", "libtally", "--mypy-config-file", str(CONFIGURED), "--ignore-unused-allowlist",
            "--allowlist", str(tmp_path / "allowed"), MYPY_CACHE_DIR=str(tmp_path))  # fmt: skip
