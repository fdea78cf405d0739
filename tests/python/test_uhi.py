# SPDX-License-Identifier: Apache-2.0
"""The tests of indexing that the makers of UHI publish."""

import numpy as np
import pytest

import libtally as tally

indexing = pytest.importorskip("uhi.testing.indexing")


def made(described):
    """The histogram of the suite, with its flow bins."""
    axes = [tally.Regular(a["bins"], a["lower"], a["upper"], closed=False) for a in described["axes"]]
    h = tally.Hist(*axes, storage="sum")
    h[...] = np.asarray(described["storage"]["values"])
    return h


class TestOne(indexing.Indexing1D):
    @classmethod
    def make_histogram(cls):
        return made(cls.get_uhi())


class TestTwo(indexing.Indexing2D):
    @classmethod
    def make_histogram(cls):
        return made(cls.get_uhi())


class TestThree(indexing.Indexing3D):
    @classmethod
    def make_histogram(cls):
        return made(cls.get_uhi())
