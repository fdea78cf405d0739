# SPDX-License-Identifier: Apache-2.0
"""hist's own tests of histograms, from the sources of the hist that is installed, run against ours."""

import os
import pathlib
import subprocess
import sys
import tarfile
import types

import pytest

# Of test_general.py, and why not:
NOT_RUN = {
    "hist.new and other ways to make a histogram": "StorageProxy or quick_construct or proxy or transform or from_array"
    " or from_columns or expand_cats or sorted or sum_empty or axestuple or copy_keeps",
    "True for a bin": "fill_bool or index_access",
    "wildcards among categories, and integrate": "wildcard",
    "no axis left, flow= of project": "general_project",
    "categories without an overflow bin": "int_cat or str_cat or general_access",
}  # fmt: skip
LONG = pytest.mark.skipif(os.environ.get("TALLY_CHECK") != "all", reason="of the network: by make check-all")


def run_suite(path):
    """In a process of its own, where hist's Hist and axes are ours."""
    import libtally as tally

    def open_(kind):
        def made(*words, underflow=True, overflow=True, **named):  # ours have both
            return kind(*words, closed=False, **named)

        return made

    axis = types.SimpleNamespace(
        Regular=open_(tally.Regular), Variable=open_(lambda edges, **named: tally.Variable(list(edges), **named)),
        Integer=tally.Integer, Boolean=lambda **named: tally.Integer(0, 2, **named),
        IntCategory=tally.Category, StrCategory=tally.Category,
    )  # fmt: skip

    class Put:
        def pytest_collection_modifyitems(self, items):
            for module in {item.module for item in items}:
                module.Hist, module.axis = tally.Hist, axis

        @pytest.fixture(params=[tally.Hist])
        def unnamed_hist(self, request):
            return request.param

        named_hist = unnamed_hist

    chosen = f"not ({' or '.join(NOT_RUN.values())})"
    options = ["-c", "/dev/null", "-q", "-p", "no:cacheprovider", "--noconftest", "-rf", "-k", chosen]
    return pytest.main([*options, path], [Put()])


@LONG
def test_hists_own_tests(tmp_path):
    hist = pytest.importorskip("hist")
    words = ["-m", "pip", "download", "--no-deps", "--no-binary", "hist", "-d", str(tmp_path), f"hist=={hist.__version__}"]
    got = subprocess.run([sys.executable, *words], capture_output=True, text=True)
    assert not got.returncode, got.stderr
    with tarfile.open(next(tmp_path.glob("hist-*.tar.gz"))) as sources:
        sources.extractall(tmp_path)
    suite = next(tmp_path.glob("hist-*/tests/test_general.py"))
    done = subprocess.run([sys.executable, str(pathlib.Path(__file__)), str(suite)], capture_output=True, text=True)
    summary = done.stdout.strip().splitlines()[-1]
    assert not done.returncode and int(summary.split(" passed")[0].split()[-1]) > 15, done.stdout + done.stderr


if __name__ == "__main__":
    sys.exit(run_suite(sys.argv[1]))
