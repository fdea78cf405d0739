# SPDX-License-Identifier: Apache-2.0
"""Files' table: of the newest files-DATE.jsonl, which bench/files.sh makes."""

import os

import lines

PEERS = ("duckdb", "polars")
NAMES = {"duckdb": "DuckDB", "polars": "Polars"}
# On the page; the rest is shown by `bench/tables.py --show files-all`.
SHOWN = ("csv, a column of four", "csv, without a range", "csv, quoted", "csv, words", "csv, 100 000 words",
         "csv, a million words", "csv, all columns at a glance", "parquet, snappy", "parquet, zstd",
         "parquet, dictionary", "parquet, words", "json lines")
SETS = {"tally": "AVX-512", "tally without avx512": "AVX2", "tally without avx2": "baseline"}


def samples(rest, threads):
    """Raw and npy: reading, counting from memory, counting the file."""
    found = {}
    for line in rest:
        if line["case"].startswith("samples, ") and line["threads"] in threads:
            found.setdefault((line["case"][9:], line["threads"]), {})[line["by"]] = line
    rows = []
    for (name, count), by in found.items():
        slower = max(by["pread"]["min_s"], by["memory"]["min_s"])
        rows.append([called(name, count)] + [f"{by[what]['gbps']:.1f}" for what in ("pread", "memory", "file")] +
                    [f"{slower / by['file']['min_s']:.2f}"])
    return [lines.table(["GB/s", "reading", "memory", "file", "of the slower"], rows)] if rows else []


def peaks(rest):
    """The command's memory for a quarter of the table and for all of it."""
    most = max(line["threads"] for line in rest)
    found = [next((line["peak_mb"] for line in rest if line["case"] == case and line["by"] == "tally" and
                   line["threads"] == most and "peak_mb" in line), None)
             for case in ("csv, a quarter of the rows", "csv, a column of four", "csv, without a range")]
    return [f"Peak memory: {found[1]:.0f} MB, of a quarter of the rows {found[0]:.0f}, without a range "
            f"{found[2]:.0f}."] if all(found) else []


def called(case, threads):
    return f"{case}, {threads} thread{'s' if threads > 1 else ''}"


def table(whole=False):
    path = lines.newest(r"files-\d.*\.jsonl")
    first, *rest = lines.read(path)
    cases = {}
    for line in rest:
        if not line["case"].startswith("samples, "):
            cases.setdefault(line["case"], {}).setdefault(line["threads"], {})[line["by"]] = line
    rows = []
    most = max(line["threads"] for line in rest)
    for case, found, threads in ((c, f[t], t) for c, f in cases.items() for t in sorted(f)):
        if not whole and (case not in SHOWN or (threads < most and case != SHOWN[0])):
            continue
        ours = found["tally"]
        cells = [f"{found[by]['gbps_of_cpu']:.2f}" if by in found else "" for by in SETS]
        for peer in PEERS:
            line = found.get(peer)
            cells.append(f"{line['min_cpu_s'] / ours['min_cpu_s']:.1f}×, {line['min_s'] / ours['min_s']:.1f}×"
                         if line else "")
        rows.append([called(case, threads)] + cells)
    versions = {NAMES[line["by"]]: line["version"] for line in rest if line["by"] in NAMES}
    cpu, plain = first["cpu"], next(iter(cases.values()))
    one = next(iter(plain.values()))["tally"]
    said = (f"From `{os.path.relpath(path, lines.ROOT)}`: {cpu['Model name']} (family {cpu['CPU family']}, model "
            f"{cpu['Model']}), {first['processors']} processors, load {first['load']:.0f}, commit {first['commit']}, "
            f"{first['date'][:10]}; {', '.join(' '.join(v) for v in versions.items())}; "
            f"{lines.thousands(one['rows'])} rows, {one['bytes'] / 1e6:.0f} MB plain.")
    made = lines.table(["GB for a second of processor time"] + list(SETS.values()) + [NAMES[p] for p in PEERS], rows)
    shown = {line["threads"] for line in rest} if whole else {most}
    return "\n\n".join(samples(rest, shown) + [made] + peaks(rest) + [said])


def makers():
    return {"table:files": table, "table:files-all": lambda: table(True)}
