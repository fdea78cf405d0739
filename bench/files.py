#!/usr/bin/env python3
"""Times the command on files beside DuckDB and Polars, as JSON lines; bench/files.sh runs it.

    bench/files.py --build FOLDER [--rows N] [--rounds N] [--threads N,…] [--only REGEX]

The files are made in a temporary folder: a table of four columns (id, price, q, name), plain and with
every field quoted, of N rows (10^7; 200 000 that are repeated), and the plain one as JSON lines, as DuckDB writes
it to Parquet and Polars to Arrow, where they are there, and packed by gzip, bgzip, zstd and pzstd, where those are. They are in the page
cache. Of the column `price` 100 bins are counted, from 0 to 1000 or from its smallest to its largest value; of
`name` each different value; or all columns are summed up (DuckDB's SUMMARIZE, Polars' describe).

All take turns, round after round. Tally is the whole command, from its start to its end; a peer is a
query in a process that is warm, so its start is not in. `cpu_s` is what all its threads took together
of processors, which other work on the machine disturbs least. Counts of given bins are compared with Tally's.
"""

import argparse
import datetime
import json
import os
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

BINS, LOW, HIGH, BLOCK = 100, 0, 1000, 200_000
NAMES = ("alpha", "beta", "gamma", "delta", "eps")
WORDS, GLANCE = "words", "at a glance"  # in place of whether there is a range


def make(path, rows, quoted):
    draw = random.Random(20261122)
    lines = []
    for i in range(min(rows, BLOCK)):
        fields = (str(10 * i), f"{draw.randrange(1000)}.{draw.randrange(100):02}", str(draw.randrange(50)),
                  draw.choice(NAMES))
        lines.append(",".join(f'"{f}"' for f in fields) if quoted else ",".join(fields))
    block = "\n".join(lines) + "\n"
    with open(path, "w", encoding="ascii") as file:
        file.write("id,price,q,name\n")
        for done in range(0, rows, BLOCK):
            file.write(block if rows - done >= BLOCK else "\n".join(lines[: rows - done]) + "\n")


def to_parquet(plain, path, codec):
    """Whether there is such a file now."""
    try:
        import duckdb
    except ImportError:
        return False
    duckdb.execute(f"COPY (FROM read_csv('{plain}')) TO '{path}' (FORMAT parquet, COMPRESSION {codec})")
    return True


def to_lines(plain, path):
    """The table as JSON lines."""
    with open(plain, encoding="ascii") as table, open(path, "w", encoding="ascii") as out:
        next(table)
        for line in table:
            number, price, q, name = line.rstrip("\n").split(",")
            out.write(f'{{"id":{number},"price":{price},"q":{q},"name":"{name}"}}\n')


def to_arrow(plain, path, codec):
    """Whether there is such a file now."""
    try:
        import polars
    except ImportError:
        return False
    polars.read_csv(plain).write_ipc(path, compression=codec)
    return True


def packed(plain, ending, *command):
    """The table packed by a program, or None where that is not installed."""
    path = plain + ending
    if not shutil.which(command[0]):
        return None
    if "-o" in command:  # it writes a file itself
        subprocess.run([*command, path, plain], check=True, stderr=subprocess.DEVNULL)
    else:
        with open(plain, "rb") as source, open(path, "wb") as out:
            subprocess.run(command, stdin=source, stdout=out, check=True)
    return path


PACKED = (("gzip", ".gz", "gzip", "-c"), ("bgzip", ".b.gz", "bgzip", "-c"), ("zstd", ".zst", "zstd", "-q", "-c"),
          ("pzstd", ".p.zst", "pzstd", "-q", "-k", "-f", "-o"))


# ---- peers: each a process, asked line by line ----


def duckdb_peer(threads):
    import duckdb

    base = duckdb.connect(config={"threads": threads})

    def count(path, ranged):
        read = {"parquet": "read_parquet", "jsonl": "read_json"}.get(path.rsplit(".", 1)[1], "read_csv")
        if ranged == GLANCE:
            rows = base.execute(f"SUMMARIZE FROM {read}('{path}')").fetchall()
            return {i: row[10] for i, row in enumerate(rows)}
        if ranged == WORDS:
            rows = dict(base.execute(f"SELECT name, count(*) FROM {read}('{path}') GROUP BY name").fetchall())
            return {NAMES.index(name): n for name, n in rows.items()}
        if ranged:
            source = f"{read}('{path}')"
            low, high = LOW, HIGH
        else:
            base.execute(f"CREATE OR REPLACE TEMP TABLE t AS SELECT price FROM {read}('{path}')")
            source = "t"
            low, high = base.execute("SELECT min(price), max(price) FROM t").fetchone()
        rows = base.execute(
            f"SELECT least(floor((price - {low}) * {BINS} / ({high} - {low})), {BINS - 1})::INT b, count(*) FROM {source} "
            f"WHERE price BETWEEN {low} AND {high} GROUP BY b").fetchall()
        return dict(rows)

    return duckdb.__version__, count


def polars_peer(threads):
    os.environ["POLARS_MAX_THREADS"] = str(threads)
    import polars as pl

    def count(path, ranged):
        scans = {"parquet": pl.scan_parquet, "jsonl": pl.scan_ndjson, "arrow": pl.scan_ipc}
        scan = scans.get(path.rsplit(".", 1)[1], pl.scan_csv)
        if ranged == GLANCE:
            return {i: int(n) for i, n in enumerate(scan(path).collect().describe().row(0)[1:])}
        if ranged == WORDS:
            table = scan(path).group_by("name").len().collect()
            return {NAMES.index(name): n for name, n in zip(table["name"].to_list(), table["len"].to_list())}
        data = scan(path).select(pl.col("price"))
        low, high = LOW, HIGH
        if not ranged:
            column = data.collect()["price"]
            low, high = column.min(), column.max()
            data = column.to_frame().lazy()
        kept = data.filter(pl.col("price").is_between(low, high))
        bins = ((pl.col("price") - low) * BINS / (high - low)).floor().clip(0, BINS - 1).cast(pl.Int32)
        table = kept.group_by(bins.alias("b")).len().collect()
        return dict(zip(table["b"].to_list(), table["len"].to_list()))

    return pl.__version__, count


PEERS = {"duckdb": duckdb_peer, "polars": polars_peer}


def serve(name, threads):
    version, count = PEERS[name](threads)
    print(json.dumps({"version": version}), flush=True)
    for line in sys.stdin:
        wish = json.loads(line)
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            found = count(wish["path"], wish["ranged"])
        except Exception as error:  # a kind of file that it does not read
            print(json.dumps({"failed": str(error)[:80]}), flush=True)
            continue
        answer = {"s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}
        answer["counts"] = [found.get(b, 0) for b in range(BINS)]
        print(json.dumps(answer), flush=True)


class Peer:
    def __init__(self, name, threads):
        self.name = name
        self.process = subprocess.Popen([sys.executable, __file__, "--serve", name, str(threads)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        first = self.process.stdout.readline()
        if not first:
            raise OSError(f"{name} cannot be run")
        self.version = json.loads(first)["version"]

    def count(self, path, ranged):
        self.process.stdin.write(json.dumps({"path": path, "ranged": ranged}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Tally:
    """The command, with or without what the newest processors can."""

    def __init__(self, command, threads, disabled=""):
        self.command, self.threads = command, threads
        self.name = "tally" + (f" without {disabled}" if disabled else "")
        self.environment = dict(os.environ, TALLY_DISABLE_CPU=disabled)
        self.version = subprocess.run([command, "--version"], capture_output=True, text=True,
                                      check=True).stdout.split()[1]

    def count(self, path, ranged):
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        words = ["--column", "price", "--bins", str(BINS)] + (["--range", str(LOW), str(HIGH)] if ranged else [])
        if ranged == WORDS:
            words = ["--column", "name"]
        elif ranged == GLANCE:
            words = []
        said = subprocess.run(
            [self.command, path, *words, "-j", str(self.threads), "-q", "--device", "cpu", "--format", "json"],
            env=self.environment, capture_output=True, check=True).stdout
        seconds, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        result = json.loads(said)
        if ranged == GLANCE:
            counts = [result["rows"]] * len(result["columns"])
            return {"s": seconds, "cpu_s": cpu, "counts": counts + [0] * (BINS - len(counts))}
        counts = result["histograms"][0]["counts"]
        if ranged == WORDS:
            found = dict(zip(result["axes"][0]["labels"], counts))
            counts = [found.get(name, 0) for name in NAMES] + [0] * (BINS - len(NAMES))
        return {"s": seconds, "cpu_s": cpu, "counts": counts}

    def end(self):
        pass


# ---- measuring ----


def contenders(options, path, threads):
    found = [Tally(options.command, threads)] + [Tally(options.command, threads, d) for d in ("avx512", "avx2")]
    for name in PEERS:
        if name == "duckdb" and path.endswith(".arrow"):
            continue  # it reads none by itself
        try:
            found.append(Peer(name, threads))
        except OSError as error:
            print(f"files.py: {error}", file=sys.stderr)
    return found


def measure(case, path, ranged, rows, options, threads):
    calls = contenders(options, path, threads)
    seen = {call: [] for call in calls}
    for _ in range(options.rounds + 1):  # the first warms up
        for call in list(calls):
            seen[call].append(call.count(path, ranged))
            if "failed" in seen[call][-1]:
                print(f"files.py: {case}: without {call.name}", file=sys.stderr)
                calls.remove(call)
                call.end()
    expected = seen[calls[0]][0]["counts"]
    size = os.path.getsize(path)
    for call in calls:
        taken = seen[call][1:]
        fastest, cpu = min(t["s"] for t in taken), min(t["cpu_s"] for t in taken)
        same = taken[0]["counts"] == expected if ranged else sum(taken[0]["counts"]) == sum(expected)
        print(json.dumps({
            "case": case, "by": call.name, "version": call.version, "threads": threads, "bytes": size,
            "rows": rows, "calls": len(taken), "min_s": fastest,
            "median_s": statistics.median(t["s"] for t in taken), "min_cpu_s": cpu,
            "gbps": size / fastest * 1e-9, "gbps_of_cpu": size / cpu * 1e-9, "equal": same}), flush=True)
        call.end()


def header(options):
    def said(*command):
        try:
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            return ""

    cpu = dict(line.split(":", 1) for line in said("lscpu").splitlines()
               if line.startswith(("Model name", "CPU family", "Model:", "Stepping", "L1d", "L2", "L3")))
    return {
        "header": "tally-files/1",
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "cpu": {key.strip(" :"): value.strip() for key, value in cpu.items()},
        "processors": len(os.sched_getaffinity(0)),
        "load": os.getloadavg()[0],
        "commit": said("git", "describe", "--always", "--dirty", "--abbrev=12"),
    }


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    words.add_argument("--build", default="build/release")
    words.add_argument("--rows", type=int, default=10_000_000)
    words.add_argument("--rounds", type=int, default=9)
    words.add_argument("--threads", default=",".join(str(n) for n in sorted({1, len(os.sched_getaffinity(0))})))
    words.add_argument("--only", default="")
    options = words.parse_args()
    options.command = os.path.join(options.build, "tally")
    print(json.dumps(header(options)), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        plain, quoted = os.path.join(folder, "plain.csv"), os.path.join(folder, "quoted.csv")
        make(plain, options.rows, False)
        make(quoted, options.rows, True)
        cases = [("csv, a column of four", plain, True), ("csv, without a range", plain, False),
                 ("csv, quoted", quoted, True), ("csv, words", plain, WORDS),
                 ("csv, all columns at a glance", plain, GLANCE)]
        for codec in ("snappy", "zstd"):
            path = os.path.join(folder, codec + ".parquet")
            if to_parquet(plain, path, codec):
                cases.append((f"parquet, {codec}", path, True))
        if re.search(options.only, "json lines"):
            cases.append(("json lines", os.path.join(folder, "plain.jsonl"), True))
            to_lines(plain, cases[-1][1])
        for codec in ("uncompressed", "lz4"):
            path = os.path.join(folder, codec + ".arrow")
            if re.search(options.only, f"arrow, {codec}") and to_arrow(plain, path, codec):
                cases.append((f"arrow, {codec}", path, True))
        for name, ending, *command in PACKED:
            if re.search(options.only, f"csv, {name}"):
                path = packed(plain, ending, *command)
                if path:
                    cases.append((f"csv, {name}", path, True))
        for case, path, ranged in cases:
            for threads in (int(n) for n in options.threads.split(",")):
                if re.search(options.only, case):
                    measure(case, path, ranged, options.rows, options, threads)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2], int(sys.argv[3]))
    else:
        main()
