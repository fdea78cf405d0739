# SPDX-License-Identifier: Apache-2.0
"""PyTorch and CuPy for the GPU benchmark: a process that reads problems on standard input, a JSON line
each, and answers with a line an available call. The samples come in a file, the reference's counts in
another; times are the device's, by events."""

import json
import statistics
import sys

import numpy

peers, skipped = [], {}


class TorchClock:
    def __init__(self):
        self.events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]

    def __call__(self, call):
        self.events[0].record()
        result = call()
        self.events[1].record()
        self.events[1].synchronize()
        return result, self.events[0].elapsed_time(self.events[1]) * 1e-3


class CupyClock:
    def __init__(self):
        self.events = [cupy.cuda.Event() for _ in range(2)]

    def __call__(self, call):
        self.events[0].record()
        result = call()
        self.events[1].record()
        self.events[1].synchronize()
        return result, cupy.cuda.get_elapsed_time(*self.events) * 1e-3


def torch_histc(x, p):
    if p["dtype"] not in ("f32", "f64"):
        return None
    return lambda: torch.histc(x, p["bins"], p["lo"], p["hi"])


def whole_bins(p):
    """A value is its bin."""
    return p["dtype"] in ("u8", "u16") and p["bins"] == p["hi"]


def torch_bincount(x, p):
    if not whole_bins(p) or p["dtype"] == "u16":
        return None
    return lambda: torch.bincount(x, minlength=p["bins"])


def cupy_histogram(x, p):
    return lambda: cupy.histogram(x, p["bins"], (p["lo"], p["hi"]))[0]


def cupy_bincount(x, p):
    return (lambda: cupy.bincount(x, minlength=p["bins"])) if whole_bins(p) else None


try:
    import torch

    if not torch.cuda.is_available():
        raise ImportError("it finds no device")
    peers += [("PyTorch", "histc", torch.__version__, torch_histc),
              ("PyTorch", "bincount", torch.__version__, torch_bincount)]
except (ImportError, OSError) as error:
    skipped["PyTorch"] = str(error)
try:
    import cupy

    cupy.cuda.runtime.getDeviceCount()
    peers += [("CuPy", "histogram", cupy.__version__, cupy_histogram),
              ("CuPy", "bincount", cupy.__version__, cupy_bincount)]
except Exception as error:  # CuPy's own kinds of errors cannot be named without it
    skipped["CuPy"] = str(error)


def measure(call, clock, wanted):
    """Counts compared, then seconds: the second call and on; slow ones fewer times."""
    result, first = clock(call)
    counts = result.cpu().numpy() if hasattr(result, "cpu") else result.get()
    differing = int((numpy.rint(counts).astype(numpy.uint64) != wanted).sum())
    seconds = [clock(call)[1] for _ in range(7 if first < 0.02 else 3 if first < 0.2 else 1)]
    return {"median_s": statistics.median(seconds), "min_s": min(seconds), "max_s": max(seconds),
            "repeats": len(seconds), "same": differing == 0, "bins_differing": differing}


def main():
    print(json.dumps({"skipped": skipped}), flush=True)
    types = {"u8": numpy.uint8, "u16": numpy.uint16, "i32": numpy.int32, "f32": numpy.float32,
             "f64": numpy.float64}
    clocks = {"PyTorch": TorchClock, "CuPy": CupyClock}
    for line in sys.stdin:
        p = json.loads(line)
        host = numpy.fromfile(p["samples"], types[p["dtype"]], p["n"])
        wanted = numpy.fromfile(p["counts"], numpy.uint64, p["bins"])
        for by, call, version, make in peers:
            answer = {"by": by, "call": call, "version": version}
            try:
                if by == "PyTorch" and p["dtype"] == "u16":
                    continue
                x = torch.from_numpy(host).cuda() if by == "PyTorch" else cupy.asarray(host)
                count = make(x, p)
                if count is None:
                    continue
                answer.update(measure(count, clocks[by](), wanted))
            except Exception as error:  # one call's failure is that call's
                answer["why"] = " ".join(str(error).split())[:200]
            print(json.dumps(answer))
            x = count = None
        print("end", flush=True)


if __name__ == "__main__":
    main()
