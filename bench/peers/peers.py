# SPDX-License-Identifier: Apache-2.0
"""The benchmark's Python peers: NumPy and fast-histogram.

tally-bench starts this with the descriptor of a shared file and its size, and talks in lines:

    peers                           peer NAME CALL VERSION | skipped NAME REASON …, then: end
    problem KIND DTYPE N BINS LO HI X Y W EDGES    (offsets in the file, - for none)       ok
    start I N                       ok | no REASON    (its first N samples)
    time I CALLS wall|cpu           seconds of so many calls
    counts I OFFSET                 ok CELLS, and float64 counts at OFFSET of the file

A problem's data are copied out of the file once, so that they lie in the kind of memory that NumPy
takes for itself.
"""

import copy
import mmap
import sys
import time

file = mmap.mmap(int(sys.argv[1]), int(sys.argv[2]))
peers = []  # (name, call, version, function making a counting function or raising Refused)
skipped = []


class Refused(Exception):
    pass


class Problem:
    def __init__(self, words):
        self.kind, dtype = words[0], words[1]
        n, self.bins = int(words[2]), int(words[3])
        self.range = (float(words[4]), float(words[5]))
        self.x = copied(words[6], dtype, n)
        self.y = copied(words[7], dtype, n)
        self.weights = copied(words[8], "f64", n)
        self.edges = copied(words[9], "f64", self.bins + 1)

    def first(self, n):
        """The problem of the first n samples."""
        part = copy.copy(self)
        part.x = self.x[:n]
        part.y = None if self.y is None else self.y[:n]
        part.weights = None if self.weights is None else self.weights[:n]
        return part


def copied(offset, dtype, n):
    if offset == "-":
        return None
    kinds = {"u8": numpy.uint8, "f32": numpy.float32, "f64": numpy.float64}
    return numpy.frombuffer(file, kinds[dtype], n, int(offset)).copy()


def numpy_bincount(p):
    if p.x.dtype != numpy.uint8 or p.kind != "even":
        raise Refused("counts integers only")
    return lambda: numpy.bincount(p.x, minlength=256)


def numpy_histogram(p):
    if p.kind == "2d":
        return lambda: numpy.histogram2d(p.x, p.y, p.bins, (p.range, p.range))[0]
    if p.kind == "edges":
        return lambda: numpy.histogram(p.x, p.edges)[0]
    if p.kind == "weights":
        return lambda: numpy.histogram(p.x, p.bins, p.range, weights=p.weights)[0]
    return lambda: numpy.histogram(p.x, p.bins, p.range)[0]


def fast(p):
    if p.kind == "edges":
        raise Refused("takes even bins only")
    if p.kind == "2d":
        return lambda: fast_histogram.histogram2d(p.x, p.y, p.bins, (p.range, p.range))
    if p.kind == "weights":
        return lambda: fast_histogram.histogram1d(p.x, p.bins, p.range, weights=p.weights)
    return lambda: fast_histogram.histogram1d(p.x, p.bins, p.range)


try:
    import numpy

    peers.append(("numpy", "bincount", numpy.__version__, numpy_bincount))
    peers.append(("numpy", "histogram", numpy.__version__, numpy_histogram))
    try:
        import fast_histogram

        peers.append(("fast-histogram", "histogram", fast_histogram.__version__, fast))
    except ImportError as error:
        skipped.append(("fast-histogram", error))
except ImportError as error:
    skipped.append(("numpy", error))
    skipped.append(("fast-histogram", "it needs NumPy"))


def clock(count, calls, now):
    begin = now()
    for _ in range(calls):
        count()
    return now() - begin


def main():
    problem, counting = None, {}
    for line in sys.stdin:
        verb, *words = line.split()
        if verb == "peers":
            for name, call, version, _ in peers:
                print("peer", name, call, version)
            for name, reason in skipped:
                print("skipped", name, " ".join(str(reason).split()))
            print("end")
        elif verb == "problem":
            counting = {}
            problem = None
            problem = Problem(words)
            print("ok")
        elif verb == "start":
            try:
                counting[words[0]] = peers[int(words[0])][3](problem.first(int(words[1])))
                print("ok")
            except Refused as why:
                print("no", why)
        elif verb == "time":
            now = time.process_time if words[2] == "cpu" else time.perf_counter
            print(repr(clock(counting[words[0]], int(words[1]), now)))
        elif verb == "counts":
            counts = numpy.asarray(counting[words[0]](), numpy.float64).ravel()
            numpy.frombuffer(file, numpy.float64, counts.size, int(words[1]))[:] = counts
            print("ok", counts.size)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
