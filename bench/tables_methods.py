# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/METHODS.md: of h200-methods-{cuda,opencl}.jsonl, which `bench/gpu.sh time` writes."""

import lines

RUNTIMES = {"cuda": "CUDA", "opencl": "OpenCL"}
INPUTS = {"zeros": "zeros", "uniform": "uniform", "ramp": "ramp", "walk": "walk", "text": "text",
          "photograph": "photograph", "one-in-ten": "90 % one value", "equal": "equal",
          "skewed": "skewed"}


def read():
    """{(runtime, method, set, dtype, bins): {input: line}}"""
    cases = {}
    for runtime in RUNTIMES:
        for line in lines.read(f"h200-methods-{runtime}.jsonl"):
            if line["method"] != "read-only":
                key = (runtime, line["method"], line["set"], line["dtype"], line["bins"])
                cases.setdefault(key, {})[line["data"]] = line
    return cases


def speed(line):
    text = "%.0f" % line["gbps"] if line["gbps"] >= 100 else "%.1f" % line["gbps"]
    return text if line["verified"] else text + "*"


def table(cases, wanted, inputs, name=lambda key: key[1]):
    """One row a case: its speed on each input, in GB/s."""
    rows = [[name(key)] + [speed(found[i]) for i in inputs]
            for key, found in cases.items() if wanted(key) and all(i in found for i in inputs)]
    return lines.table([""] + [INPUTS[i] for i in inputs], rows)


def makers():
    cases = read()
    inputs = [i for i in INPUTS if i not in ("equal", "skewed") and any(i in found for found in cases.values())]

    def of_bytes(runtime, shown):
        return table(cases, lambda k: k[0] == runtime and k[3] == "u8" and not k[2], shown)

    made = {f"table:{r}-all": lambda r=r: of_bytes(r, inputs) for r in RUNTIMES}
    made["table:cuda"] = lambda: of_bytes("cuda", [i for i in inputs if i != "walk"])
    made["table:floats"] = lambda: table(cases, lambda k: k[0] == "cuda" and k[3:] == ("f32", 2048) and not k[2],
                                         ("uniform", "equal", "skewed"))
    made["table:trish"] = lambda: table(cases, lambda k: k[1] == "trish", inputs,
                                        lambda k: f"{RUNTIMES[k[0]]}, {k[2] or 'as it is'}")
    return made
