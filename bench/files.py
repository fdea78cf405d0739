#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the command on files beside DuckDB and Polars, as JSON lines; bench/files.sh runs it.

    bench/files.py --build FOLDER [--rows N] [--rounds N] [--seconds S] [--threads N,…] [--only REGEX]

The files are made in a temporary folder: a table of four columns (id, price, q, name), plain and with
every field quoted, of N rows (10^7; 200 000 that are repeated), and the plain one as JSON lines, as DuckDB writes
it to Parquet and Polars to Arrow, where they are there, and packed by gzip, bgzip, zstd and pzstd, where those are; two
of 100 000 and a million different words; float32 samples, raw and npy. They are in the page cache. Of the column `price` 100 bins are
counted, from 0 to 1000 or from its smallest to its largest value, of `q`, which has a dictionary in Parquet, 50; of
`name` each different value; or all columns are summed up (DuckDB's SUMMARIZE, Polars' describe).

All take turns, round after round, until there are as many as asked for, or two and the seconds for a case are over. Tally is the whole command, from its start to its end; a peer is a query in a process that is warm, so its start
is not in. `cpu_s` is what all its threads took together of processors, which other work on the machine disturbs least;
`peak_mb` the command's memory. Counts of given bins are compared with Tally's.

Samples are counted by the build's bench/micro_files, in its memory and from the file, beside reading the file and
nothing else.
"""

import argparse
import array
import datetime
import json
import multiprocessing
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import traceback

BLOCK = 200_000
NAMES = ("alpha", "beta", "gamma", "delta", "eps")
SHOWN = 100  # counts that are compared
# What is asked of a file.
PRICE = {"column": "price", "bins": 100, "range": [0, 1000]}
UNKNOWN = {"column": "price", "bins": 100, "range": None}
SMALL = {"column": "q", "bins": 50, "range": [0, 50]}
NAME = {"column": "name"}
GLANCE = {}


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


def make_words(path, rows, words):
    """Four rows for each word, again and again."""
    draw = random.Random(20261123)
    names = [f"w{draw.randrange(1 << 32):x}" for _ in range(words)]
    block = "\n".join(f"{i},{draw.choice(names)},{i % 50}" for i in range(4 * words)) + "\n"
    with open(path, "w", encoding="ascii") as file:
        file.write("id,name,q\n")
        for _ in range(0, rows, 4 * words):
            file.write(block)


def make_samples(folder, mib):
    """float32 from 0 to 1, raw and npy: the paths. As NumPy writes them, the samples all at once: of an npy written
    in pieces, none of which begins with a page, the page cache is of single pages, and who maps it takes a third
    longer."""
    draw = random.Random(20261123)
    samples = array.array("f", (draw.random() for _ in range(1 << 20))).tobytes() * (mib // 4)
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({mib << 18},), }}".ljust(117) + "\n"
    paths = []
    for name, start in (("f32.raw", b""), ("f32.npy", b"\x93NUMPY\1\0\x76\0" + head.encode())):
        paths.append(os.path.join(folder, name))
        with open(paths[-1], "wb") as file:
            file.write(start)
            file.flush()
            file.write(samples)
    return paths


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

    def count(path, wish):
        read = {"parquet": "read_parquet", "jsonl": "read_json"}.get(path.rsplit(".", 1)[1], "read_csv")
        source, column = f"{read}('{path}')", wish.get("column")
        if not column:
            return [row[10] for row in base.execute(f"SUMMARIZE FROM {source}").fetchall()]
        if "bins" not in wish:
            rows = base.execute(f"SELECT {column}, count(*) c FROM {source} GROUP BY {column} ORDER BY c DESC").fetchall()
            return [n for _, n in rows]
        bins = wish["bins"]
        if wish["range"]:
            low, high = wish["range"]
        else:
            base.execute(f"CREATE OR REPLACE TEMP TABLE t AS SELECT {column} FROM {source}")
            source = "t"
            low, high = base.execute(f"SELECT min({column}), max({column}) FROM t").fetchone()
        rows = dict(base.execute(
            f"SELECT least(floor(({column} - {low}) * {bins} / ({high} - {low})), {bins - 1})::INT b, count(*) "
            f"FROM {source} WHERE {column} BETWEEN {low} AND {high} GROUP BY b").fetchall())
        return [rows.get(b, 0) for b in range(bins)]

    return duckdb.__version__, count


def polars_peer(threads):
    os.environ["POLARS_MAX_THREADS"] = str(threads)
    import polars as pl

    def count(path, wish):
        scans = {"parquet": pl.scan_parquet, "jsonl": pl.scan_ndjson, "arrow": pl.scan_ipc}
        scan, column = scans.get(path.rsplit(".", 1)[1], pl.scan_csv)(path), wish.get("column")
        if not column:
            return [int(n) for n in scan.collect().describe().row(0)[1:]]
        if "bins" not in wish:
            return scan.group_by(column).len().sort("len", descending=True).collect()["len"].to_list()
        bins, data = wish["bins"], scan.select(pl.col(column))
        if wish["range"]:
            low, high = wish["range"]
        else:
            kept = data.collect()[column]
            low, high = kept.min(), kept.max()
            data = kept.to_frame().lazy()
        kept = data.filter(pl.col(column).is_between(low, high))
        where = ((pl.col(column) - low) * bins / (high - low)).floor().clip(0, bins - 1).cast(pl.Int32)
        table = kept.group_by(where.alias("b")).len().collect()
        rows = dict(zip(table["b"].to_list(), table["len"].to_list()))
        return [rows.get(b, 0) for b in range(bins)]

    return pl.__version__, count


PEERS = {"duckdb": duckdb_peer, "polars": polars_peer}


def serve(name, threads):
    version, count = PEERS[name](threads)
    print(json.dumps({"version": version}), flush=True)
    for line in sys.stdin:
        wish = json.loads(line)
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            found = count(wish["path"], wish["of"])
        except Exception as error:  # a kind of file that it does not read
            print(json.dumps({"failed": str(error)[:80]}), flush=True)
            continue
        answer = {"s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}
        answer["counts"] = found[:SHOWN]
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

    def count(self, path, wish):
        self.process.stdin.write(json.dumps({"path": path, "of": wish}) + "\n")
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

    def count(self, path, wish):
        words = ["--column", wish["column"]] if wish else []
        if "bins" in wish:
            words += ["--bins", str(wish["bins"])]
        if wish.get("range"):
            words += ["--range", *map(str, wish["range"])]
        command = [self.command, path, *words, "-j", str(self.threads), "-q", "--device", "cpu", "--format", "json"]
        begin = time.perf_counter()
        with subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE) as process:
            said = process.stdout.read()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - begin
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)
        result = json.loads(said)
        counts = result["histograms"][0]["counts"] if wish else [result["rows"]] * len(result["columns"])
        return {"s": seconds, "cpu_s": used.ru_utime + used.ru_stime, "counts": counts[:SHOWN],
                "peak_mb": used.ru_maxrss / 1024}

    def end(self):
        pass


# ---- measuring ----


def start_peers(threads):
    found = []
    for name in PEERS:
        try:
            found.append(Peer(name, threads))
        except OSError as error:
            print(f"files.py: {error}", file=sys.stderr)
    return found


def measure(case, path, wish, options, peers, threads):
    calls = [Tally(options.command, threads)]
    if case.startswith("csv, ") and wish.get("column") == "price":
        calls += [Tally(options.command, threads, d) for d in ("avx512", "avx2")]
    calls += [p for p in peers if not (p.name == "duckdb" and path.endswith(".arrow"))]  # it reads none by itself
    seen, begin = {call: [] for call in calls}, time.monotonic()
    for i in range(options.rounds + 1):  # the first warms up
        if i > 2 and time.monotonic() - begin > options.seconds:
            break
        for call in list(calls):
            seen[call].append(call.count(path, wish))
            if "failed" in seen[call][-1]:
                print(f"files.py: {case}: without {call.name}", file=sys.stderr)
                calls.remove(call)
    expected = seen[calls[0]][0]["counts"]
    size = os.path.getsize(path)
    exact = wish.get("range", 1)  # without one, edges are not the same
    for call in calls:
        taken = seen[call][1:]
        fastest, cpu = min(t["s"] for t in taken), min(t["cpu_s"] for t in taken)
        counts = taken[0]["counts"]
        line = {"case": case, "by": call.name, "version": call.version, "threads": threads, "bytes": size,
                "rows": options.rows, "calls": len(taken), "min_s": fastest,
                "median_s": statistics.median(t["s"] for t in taken), "min_cpu_s": cpu, "gbps": size / fastest * 1e-9,
                "gbps_of_cpu": size / cpu * 1e-9, "equal": counts == expected if exact else sum(counts) == sum(expected)}
        if "peak_mb" in taken[0]:
            line["peak_mb"] = max(t["peak_mb"] for t in taken)
        print(json.dumps(line), flush=True)


def measure_samples(paths, options, threads):
    program = os.path.join(options.build, "bench", "micro_files")
    said = subprocess.run([program, "f32", "1000", "0", "1", str(threads), str(options.rounds), "cpu", *paths],
                          capture_output=True, text=True, check=True).stdout
    for line in map(json.loads, said.splitlines()):
        print(json.dumps({"case": "samples, " + line["file"], "by": line["what"], "threads": threads,
                          "bytes": line["bytes"], "min_s": line["seconds"], "min_cpu_s": line["processor_seconds"],
                          "gbps": line["GB_s"], "gbps_of_cpu": line["bytes"] / line["processor_seconds"] * 1e-9}),
              flush=True)


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


def make_cases(folder, options):
    """(what it is called, file, what is asked of it) for every case that is wanted, with their files."""

    def wanted(*names):
        return any(re.search(options.only, name) for name in names)

    def place(name):
        return os.path.join(folder, name)

    plain = place("plain.csv")
    make(plain, options.rows, False)
    cases = [("csv, a column of four", plain, PRICE), ("csv, without a range", plain, UNKNOWN)]
    if wanted("csv, a quarter of the rows"):
        cases.append(("csv, a quarter of the rows", place("quarter.csv"), PRICE))
        make(cases[-1][1], options.rows // 4, False)
    if wanted("csv, quoted"):
        cases.append(("csv, quoted", place("quoted.csv"), PRICE))
        make(cases[-1][1], options.rows, True)
    cases.append(("csv, words", plain, NAME))
    if wanted("csv, 100 000 words"):
        cases.append(("csv, 100 000 words", place("words.csv"), NAME))
        make_words(cases[-1][1], options.rows * 2 // 5, 100_000)
    if wanted("csv, a million words"):
        cases.append(("csv, a million words", place("million.csv"), NAME))
        make_words(cases[-1][1], options.rows * 2 // 5, 1_000_000)
    cases.append(("csv, all columns at a glance", plain, GLANCE))
    for codec in ("snappy", "zstd"):
        path = place(codec + ".parquet")
        found = [(f"parquet, {codec}", path, PRICE)]
        if codec == "snappy":
            found += [("parquet, dictionary", path, SMALL), ("parquet, words", path, NAME)]
        if wanted(*(case for case, *_ in found)) and to_parquet(plain, path, codec):
            cases += found
    if wanted("json lines"):
        cases.append(("json lines", place("plain.jsonl"), PRICE))
        to_lines(plain, cases[-1][1])
    for codec in ("uncompressed", "lz4"):
        path = place(codec + ".arrow")
        if wanted(f"arrow, {codec}") and to_arrow(plain, path, codec):
            cases.append((f"arrow, {codec}", path, PRICE))
    for name, ending, *command in PACKED:
        if wanted(f"csv, {name}") and (path := packed(plain, ending, *command)):
            cases.append((f"csv, {name}", path, PRICE))
    return cases


def apart(do, *arguments):
    """Does it in a process of its own: a command's peak of memory begins with that of who starts it."""
    process = os.fork()
    if not process:
        failed = 1
        try:
            do(*arguments)
            failed = 0
        except Exception:
            traceback.print_exc()
        sys.stdout.flush()
        os._exit(failed)
    if os.waitpid(process, 0)[1]:
        sys.exit("files.py: a case failed")


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    words.add_argument("--build", default="build/release")
    words.add_argument("--rows", type=int, default=10_000_000)
    words.add_argument("--rounds", type=int, default=9)
    words.add_argument("--seconds", type=float, default=3.5, help="for a case, after which two rounds are enough")
    words.add_argument("--threads", default=",".join(str(n) for n in sorted({1, len(os.sched_getaffinity(0))})))
    words.add_argument("--only", default="")
    options = words.parse_args()
    options.command = os.path.join(options.build, "tally")
    print(json.dumps(header(options)), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        with multiprocessing.get_context("fork").Pool(1) as pool:  # whose memory a child's peak would begin with
            cases = pool.apply(make_cases, (folder, options))
            samples = pool.apply(make_samples, (folder, 512)) if re.search(options.only, "samples") else []
        for threads in (int(n) for n in options.threads.split(",")):
            if samples:
                measure_samples(samples, options, threads)
            peers = start_peers(threads)
            for case, path, wish in cases:
                if re.search(options.only, case):
                    apart(measure, case, path, wish, options, peers, threads)
            for peer in peers:
                peer.end()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2], int(sys.argv[3]))
    else:
        main()
