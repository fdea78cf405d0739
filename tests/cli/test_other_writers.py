# SPDX-License-Identifier: Apache-2.0
"""Files that other programs wrote are counted as NumPy counts what their writer, or Pillow, reads."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "fuzz"))
import make_seeds  # noqa: E402

TALLY = os.environ.get("TALLY", "tally")


def bins_for(samples):
    """Arguments, and edges for NumPy: a bin for each integer, or 50 even ones."""
    if samples.dtype.kind in "ui":
        low, high = int(samples.min()), int(samples.max()) + 1
        return ("--bins", str(high - low), "--range", str(low), str(high)), np.arange(low, high + 1)
    low, high = np.floor(samples.min()), np.ceil(samples.max()) + 1
    return ("--bins", "50", "--range", f"{low:g}", f"{high:g}"), (50, low, high)


def counted(samples, edges):
    if isinstance(edges, tuple):
        return np.histogram(samples.astype(np.float64), edges[0], edges[1:])[0]
    return np.bincount((samples.astype(np.int64) - int(edges[0])).ravel(), minlength=len(edges) - 1)


def check(path, samples, options):
    """What is wrong, or None."""
    arguments, edges = bins_for(samples)
    done = subprocess.run((TALLY, path, *options, *arguments, "--device", "cpu", "--format", "json"),
                          capture_output=True, text=True)
    if done.returncode:
        return f"exit code {done.returncode}: {done.stderr.strip()}"
    result = json.loads(done.stdout)
    planes = [samples]
    if len(result["histograms"]) > 1:
        planes = [samples[..., c] for c in range(samples.shape[-1])]
    if len(planes) != len(result["histograms"]):
        return f"{len(result['histograms'])} histograms of {len(planes)}"
    for plane, histogram in zip(planes, result["histograms"]):
        want = counted(plane, edges)
        if histogram["counts"] != want.tolist():
            return f"histogram {histogram['name']}: {histogram['counts']} instead of {want.tolist()}"
        if any(histogram[key] for key in ("underflow", "overflow", "nan", "masked")):
            return f"histogram {histogram['name']}: samples in no bin"
    return None


def main():
    with tempfile.TemporaryDirectory() as folder:
        files = make_seeds.make_all(folder)[:: 4 if os.environ.get("SANITIZE") else 1]
        failures = 0
        for path, samples, options in files:
            wrong = check(path, samples, options)
            if wrong:
                failures += 1
                print(f"{path.relative_to(folder)}: {wrong[:600]}")
    kinds = sorted({path.parent.name for path, _, _ in files})
    print(f"{len(files)} files ({', '.join(kinds)}), {failures} failed")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
