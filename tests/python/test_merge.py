# SPDX-License-Identifier: Apache-2.0
"""Saved histograms, many of them, added up."""

import collections
import json
import pathlib
import subprocess
import sys

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


def test_other_groups_are_refused(tmp_path):
    """A file may have one group alone, and another one another, which the command keeps apart."""
    command, paths = [sys.executable, "-m", "libtally"], []
    for i, rows in enumerate(("US,1\nUS,2\n", "DE,1\n", "US,3\n", "US,1\nDE,1\n")):
        (tmp_path / "t.csv").write_text("g,x\n" + rows)
        paths.append(tmp_path / f"{i}.json")
        how = ("-c", "x", "--by", "g", "--range", "0", "4", "--bins", "2", "-o", paths[-1])
        subprocess.run([*command, tmp_path / "t.csv", *how], check=True)
    assert tally.merge([paths[0], paths[2]]).values().tolist() == [1, 2]
    with pytest.raises(ValueError, match=r"1\.json: it is of 'DE', and the first file of 'US'"):
        tally.merge(paths[:2])
    with pytest.raises(ValueError, match=r"3\.json: it holds 2 histograms, not one"):
        tally.merge([paths[0], paths[3]])


def test_many_categories_are_added():
    """In a time that is not that of their number squared."""
    one, other = (tally.Hist(tally.Category([f"{i}" for i in range(a, a + 200_000)], growth=True)) for a in (0, 100_000))
    assert len((one.fill(["7"]) + other.fill(["250000", "150000"])).axes[0]) == 300_000


def test_profiles_of_the_command(tmp_path):
    """Statistics of a column in bins of another, saved by the command, are a histogram of means."""
    command = [sys.executable, "-m", "libtally"]
    x, y, z = rng.normal(2, 1.5, 300), rng.normal(5, 2, 300), rng.normal(size=300)
    table = "x,y,z\n" + "".join(f"{a!r},{b!r},{c!r}\n" for a, b, c in zip(x.tolist(), y.tolist(), z.tolist()))
    (tmp_path / "t.csv").write_text(table)
    how = (tmp_path / "t.csv", "-c", "x", "--range", "0", "4", "--bins", "400", "-o", tmp_path / "p.json", "--of")
    subprocess.run([*command, *how, "y,z"], check=True)
    for found, values in zip(tally.Hist.load(tmp_path / "p.json"), (y, z)):
        hist = tally.Hist(tally.Regular(400, 0, 4, name="x"), storage="mean").fill(x, sample=values)
        assert found.storage == "mean" and found.axes.name == ("x",) and found.flows == hist.flows
        assert (hist.counts() == 0).any()
        np.testing.assert_array_equal(found.counts(flow=True), hist.counts(flow=True))
        np.testing.assert_allclose(found.values(flow=True), hist.values(flow=True), rtol=1e-13)
        np.testing.assert_allclose(found.variances(flow=True), hist.variances(flow=True), rtol=1e-11)
    subprocess.run([*command, *how, "y"], check=True)
    twice = tally.merge([tmp_path / "p.json"] * 2)
    assert twice.counts(flow=True).sum() == 600
    twice.save(tmp_path / "twice.json")
    assert tally.Hist.load(tmp_path / "twice.json") == twice


def test_words_of_the_command(tmp_path):
    """Each file has its words in an order of its own."""
    command = [sys.executable, "-m", "libtally"]
    words = rng.choice(["fig", "pear", "Äpfel", 'a "b"', "7th"], 600, p=[0.4, 0.3, 0.2, 0.05, 0.05]).tolist()
    words[:300] = [{"fig": "kiwi", "pear": "fig"}.get(w, w) for w in words[:300]]
    n = rng.integers(0, 4, 600).tolist()

    def counted(*how):
        paths = []
        for i, at in enumerate((0, 300, 500)):
            rows = zip(words[at : (300, 500, 600)[i]], n[at:])
            table = "w,n\n" + "".join('"{}",{}\n'.format(w.replace('"', '""'), k) for w, k in rows)
            (tmp_path / "t.csv").write_text(table, encoding="utf-8")
            paths.append(tmp_path / f"{i}.json")
            subprocess.run([*command, tmp_path / "t.csv", "-c", *how, "-o", paths[-1]], check=True)
        return paths

    total = tally.merge(counted("w"))
    assert dict(zip(total.axes[0].categories, total.values())) == collections.Counter(words)
    total.save(tmp_path / "total.json")
    assert tally.Hist.load(tmp_path / "total.json") == total
    joint = tally.merge(counted("w,n", "--integer", "--range", "0", "3"))
    pairs = {(w, k): joint.values()[i, k] for i, w in enumerate(joint.axes[0].categories) for k in range(4)}
    assert {pair: k for pair, k in pairs.items() if k} == collections.Counter(zip(words, n))
    means = tally.merge(counted("w", "--of", "n"))
    for word, mean in zip(means.axes[0].categories, means.values()):
        assert mean == pytest.approx(np.mean([k for w, k in zip(words, n) if w == word]))
    paths = counted("w", "--top", "2")
    assert tally.Hist.load(paths[0]).axes[0].categories[-1] == "3 other values"
    with pytest.raises(ValueError, match=r"1\.json: the axes differ"):
        tally.merge(paths)
