#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From the start of the process to the first counts, by the command, with the kernels file and without.

    bench/cold_start.py TALLY KERNELS [PTX] [-r REPEATS] > bench/results/NAME-cold-start.jsonl

TALLY is the command, KERNELS a kernels file for the device that is there, PTX one with PTX only. One line of
JSON a case: 4 KiB of bytes and of f32, and 64 MiB of f32, all from a file that was just written. Every run's
counts are compared with the first one's, those with the processor's.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

INPUTS = [("u8", 256, 4 << 10), ("f32", 1000, 4 << 10), ("f32", 1000, 64 << 20)]
SIZES = {"u8": 1, "f32": 4}


def environment(args, folder, case):
    """What a case sees. Caches are empty but where it says so; the driver's are off."""
    cache = os.path.join(folder, "cache")
    env = dict(os.environ, TALLY_CACHE_DIR=cache, TALLY_KERNELS_FILE="none")
    if "PTX" in case:
        env["TALLY_KERNELS_FILE"] = args.ptx
    elif case.startswith("machine code"):
        env["TALLY_KERNELS_FILE"] = args.kernels
    if "no compiler" in case:
        env["TALLY_NVRTC_LIBRARY"] = "none"
    if "first use" in case:
        env["CUDA_CACHE_DISABLE"] = "1"
    if "disk" not in case and os.path.isdir(cache):
        for name in os.listdir(cache):
            os.unlink(os.path.join(cache, name))
    return env


def command(args, dtype, bins, path, device):
    span = ["0", "256"] if dtype == "u8" else ["0", "1"]
    return [args.tally, "run", path, "--dtype", dtype, "--bins", str(bins), "--range", *span,
            "--device", device, "--format", "csv"]


def measure(args, folder, case, source):
    """Seconds of each run, and what the plan says of itself."""
    dtype, bins, path, wanted = source
    taken, plan = [], []
    for _ in range(args.repeats):
        env = environment(args, folder, case)
        begin = time.monotonic()
        got = subprocess.run(command(args, dtype, bins, path, "cuda") + ["-v"], env=env, capture_output=True,
                             check=True)
        taken.append(time.monotonic() - begin)
        if got.stdout != wanted:
            sys.exit(f"{case}: other counts than the processor's")
        plan = [line for line in got.stderr.decode().splitlines() if " on cuda" in line]
    return taken, plan


def write_input(folder, dtype, count):
    """A file of `count` bytes: every byte value, or f32 in [0, 1), again and again."""
    path = os.path.join(folder, f"{dtype}-{count}")
    block = bytes(range(256)) * 16
    if dtype == "f32":
        import array
        block = array.array("f", (i * 37 % 1024 / 1024 for i in range(1024))).tobytes()
    with open(path, "wb") as file:
        file.write(block * (count // len(block)))
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("tally")
    parser.add_argument("kernels")
    parser.add_argument("ptx", nargs="?")
    parser.add_argument("-r", "--repeats", type=int, default=5)
    args = parser.parse_args()
    cases = ["machine code of the file, no compiler", "without the file, first use",
             "without the file, from the disk cache"]
    cases += ["PTX of the file, no compiler, first use"] * bool(args.ptx)
    with tempfile.TemporaryDirectory() as folder:
        for dtype, bins, count in INPUTS:
            path = write_input(folder, dtype, count)
            wanted = subprocess.run(command(args, dtype, bins, path, "cpu"), capture_output=True, check=True).stdout
            for case in cases:
                taken, plan = measure(args, folder, case, (dtype, bins, path, wanted))
                print(json.dumps({
                    "case": case, "dtype": dtype, "bins": bins, "bytes": count,
                    "median_s": statistics.median(taken), "min_s": min(taken), "max_s": max(taken),
                    "repeats": len(taken), "plan": plan}), flush=True)


if __name__ == "__main__":
    main()
