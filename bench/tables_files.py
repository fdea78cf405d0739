"""Files' table: of the newest files-DATE.jsonl, which bench/files.sh makes."""

import os

import lines

PEERS = ("duckdb", "polars")
NAMES = {"duckdb": "DuckDB", "polars": "Polars"}
SETS = {"tally": "AVX-512", "tally without avx512": "AVX2", "tally without avx2": "baseline"}


def table():
    path = lines.newest(r"files-\d.*\.jsonl")
    first, *rest = lines.read(path)
    cases = {}
    for line in rest:
        cases.setdefault((line["case"], line["threads"]), {})[line["by"]] = line
    rows = []
    for (case, threads), found in cases.items():
        ours = found["tally"]
        cells = [f"{found[by]['gbps_of_cpu']:.2f}" for by in SETS]
        for peer in PEERS:
            line = found.get(peer)
            cells.append(f"{line['min_cpu_s'] / ours['min_cpu_s']:.1f}×, {line['min_s'] / ours['min_s']:.1f}×"
                         if line else "")
        rows.append([f"{case}, {threads} thread{'s' if threads > 1 else ''}"] + cells)
    versions = {NAMES[line["by"]]: line["version"] for line in rest if line["by"] in NAMES}
    cpu = first["cpu"]
    said = (f"From `{os.path.relpath(path, lines.ROOT)}`: {cpu['Model name']} (family {cpu['CPU family']}, model "
            f"{cpu['Model']}), {first['processors']} processors, load {first['load']:.0f}, commit {first['commit']}, "
            f"{first['date'][:10]}; {', '.join(' '.join(v) for v in versions.items())}; "
            f"{lines.thousands(rest[0]['rows'])} rows, {rest[0]['bytes'] / 1e6:.0f} MB plain.")
    return lines.table(["GB for a second of processor time"] + list(SETS.values()) + [NAMES[p] for p in PEERS],
                       rows) + "\n\n" + said


def makers():
    return {"table:files": table}
