# SPDX-License-Identifier: Apache-2.0
"""Saved histograms added up."""

import collections
import concurrent.futures
import os

from .hist import Hist


def merge(paths, threads=None):
    """Adds saved histograms, any number of files: `Hist.save`'s, or those of the command.

    Parameters
    ----------
    paths : iterable of path
        Files of one histogram each, with the same name and axes.
    threads : int, optional
        That read files ahead; else one a processor. Two files for each are in memory at once.

    Returns
    -------
    Hist
        Added in the order of the paths, so that sums of floats have the same bits for any number
        of threads.

    Raises
    ------
    ValueError, OSError
        For the first file, in that order, that cannot be read or added, and for no paths at all.
    """
    threads = threads or os.cpu_count() or 1
    total, ahead, left = None, collections.deque(), iter(paths)
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        while True:
            for path in left:
                ahead.append((path, pool.submit(Hist.load, path)))
                if len(ahead) == 2 * threads:
                    break
            if not ahead:
                break
            path, loading = ahead.popleft()
            try:
                part = loading.result()
                if isinstance(part, list):
                    raise ValueError(f"{os.fspath(path)}: it holds {len(part)} histograms, not one")
                if total is None:
                    total = part
                else:
                    try:
                        if part.name != total.name:
                            raise ValueError(f"it is of {part.name!r}, and the first file of {total.name!r}")
                        total += part
                    except ValueError as e:
                        raise ValueError(f"{os.fspath(path)}: {e}") from None
            except BaseException:
                for _, other in ahead:
                    other.cancel()
                raise
    if total is None:
        raise ValueError("merge: no paths")
    return total
