# SPDX-License-Identifier: Apache-2.0
"""Saved histograms, many of them, added up."""

import json
import pathlib

import numpy as np
import pytest

import libtally as tally

rng = np.random.default_rng(4)


def test_merge(tmp_path):
    a, w = rng.normal(size=4000), 10.0 ** rng.uniform(-9, 9, 4000)
    whole, paths = tally.Hist(tally.Regular(20, -2, 2)), []
    for i, part in enumerate(np.array_split(a, 150)):
        hist = tally.Hist(tally.Regular(20, -2, 2)).fill(part)
        paths.append(tmp_path / f"{i:03}.json")
        hist.save(paths[-1])
    whole.fill(a)
    for threads in (1, 3, None):
        assert tally.merge(paths, threads) == whole
    assert tally.merge(iter(map(str, paths[:1]))).sum() == tally.Hist.load(paths[0]).sum()
    sums = [tally.Hist(tally.Regular(5, -2, 2), storage="sum").fill(p, weight=q)
            for p, q in zip(np.array_split(a, 40), np.array_split(w, 40))]  # fmt: skip
    for hist, path in zip(sums, paths):
        hist.save(path)
    one = tally.merge(paths[:40], 1)
    assert all(tally.merge(paths[:40], 4).values().tobytes() == one.values().tobytes() for _ in range(3))


def test_what_cannot_be_added_is_named(tmp_path):
    paths = [tmp_path / f"{i}.json" for i in range(30)]
    for path in paths:
        tally.Hist(tally.Regular(4, 0, 1)).fill([0.5]).save(path)
    tally.Hist(tally.Regular(5, 0, 1)).save(paths[17])
    paths[22].write_text("[")
    with pytest.raises(ValueError, match=r"17\.json: the axes differ"):
        tally.merge(paths, 4)
    paths[11].unlink()
    with pytest.raises(OSError, match=r"11\.json"):
        tally.merge(paths, 4)
    text = json.loads(pathlib.Path(paths[0]).read_text())
    paths[1].write_text(json.dumps([text, text]))
    assert tally.merge(paths[:2]).sum() == 2
    with pytest.raises(ValueError, match="no paths"):
        tally.merge([])
