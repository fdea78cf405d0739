# SPDX-License-Identifier: Apache-2.0
"""Columns of dates and times: counted by calendar units as Python's datetime has them, saved, merged, refused.

test_dates.py [seed]
"""

import collections
import csv
import datetime
import io
import json
import random
import re
import subprocess

from checks import TALLY, check, run_all

UTC = datetime.timezone.utc
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = datetime.timedelta(microseconds=1)


def run(*arguments, code=0, says="", text=None):
    done = subprocess.run((TALLY, *map(str, arguments)), capture_output=True, text=True, input=text)
    check(done.returncode == code and says in done.stderr, arguments, done.returncode, done.stderr)
    return done.stdout


def saved(*arguments, **how):
    text = run(*arguments, "-f", "json", **how)
    return json.loads(text) if text else {}


def ticks(when):
    return (when - EPOCH) // MICROSECOND


def begin(when, unit):
    """Of the unit that it is in."""
    day = when.replace(hour=0, minute=0, second=0, microsecond=0)
    return {"hour": lambda: when.replace(minute=0, second=0, microsecond=0), "day": lambda: day,
            "week": lambda: day - datetime.timedelta(days=when.weekday()), "month": lambda: day.replace(day=1),
            "year": lambda: day.replace(month=1, day=1)}[unit]()


def written(when):
    """In one of the forms that ISO 8601 has, of some zone."""
    zone = datetime.timezone(datetime.timedelta(minutes=random.choice([0, 0, 120, -330, 845])))
    try:
        there = when.astimezone(zone)
    except OverflowError:
        there, zone = when, UTC
    blank = random.choice("T ")
    text = there.replace(tzinfo=None).isoformat(sep=blank)
    if zone != UTC:
        return text + there.strftime("%z") if random.random() < 0.5 else text + there.isoformat()[-6:]
    if when == begin(when, "day") and random.random() < 0.5:
        return when.date().isoformat()
    if when.microsecond and random.random() < 0.2:
        text = text.replace(".", ",")
    return text + random.choice(["", "Z", "z", "+00", " UTC"])


def moment(first, last):
    when = first + datetime.timedelta(seconds=random.randrange(int((last - first).total_seconds())))
    kind = random.random()
    if kind < 0.2:
        when = when.replace(microsecond=random.randrange(10**6)) if 1684 < when.year < 2255 else when
    elif kind < 0.4:
        when = begin(when, random.choice(["hour", "day", "month", "year", "week"] if when.year > 1 else ["hour"]))
        when -= random.choice([datetime.timedelta(0), datetime.timedelta(seconds=1)]) if when > first else when - when
    return max(when, first)


def table(path, times, header="when"):
    with open(path, "w") as out:
        print(header, "x", sep=",", file=out)
        for i, when in enumerate(times):
            text = random.choice(["", "NaT", "NA"]) if when is None else written(when)
            print(f'"{text}"' if "," in text or random.random() < 0.1 else text, i, sep=",", file=out)


def same_counts(path, times, unit):
    """Bins from the first unit to the last, all of them."""
    there = [when for when in times if when is not None]
    want = collections.Counter(ticks(begin(when, unit)) for when in there)
    got = saved(path, "-c", "when", "-b", unit)
    axis, histogram = got["axes"][0], got["histograms"][0]
    check(axis["time"] == "us" and len(axis["dates"]) == axis["bins"] + 1, axis["kind"])
    found = {int(edge): n for edge, n in zip(axis["edges"], histogram["counts"]) if n}
    check(found == want, path, unit, "differs", sum(want.values()), sum(found.values()))
    check(histogram["nan"] == len(times) - len(there), path, unit, "missing")
    check(axis["edges"][0] == ticks(begin(min(there), unit)), unit, "begins elsewhere")
    for edge, date in list(zip(axis["edges"], axis["dates"]))[:200]:
        if edge <= ticks(datetime.datetime.max.replace(tzinfo=UTC)):
            check(ticks(datetime.datetime.fromisoformat(date.replace("Z", "+00:00"))) == edge, date, edge)


def test_units():
    year = datetime.datetime
    for first, last, units in (
            (year(1, 1, 1, tzinfo=UTC), year(9999, 12, 31, tzinfo=UTC), ["year"]),
            (year(1890, 1, 1, tzinfo=UTC), year(2110, 1, 1, tzinfo=UTC), ["month", "year"]),
            (year(1969, 11, 1, tzinfo=UTC), year(1970, 3, 1, tzinfo=UTC), ["hour", "day", "week", "month", "year"]),
            (year(2023, 12, 20, tzinfo=UTC), year(2024, 3, 10, tzinfo=UTC), ["hour", "day", "week", "month"])):
        times = [None if random.random() < 0.05 else moment(first, last) for _ in range(3000)]
        table("t.csv", times)
        for unit in units:
            same_counts("t.csv", times, unit)


def lines(path, times):
    with open(path, "w") as out:
        for when in times:
            print(json.dumps({"a": {"when": written(when) if when else None}, "n": 1}), file=out)


def test_everywhere():
    """The same bins from text, by 1 or 3 threads and from a pipe, and from JSON lines."""
    first, last = (datetime.datetime(y, 2, 1, tzinfo=UTC) for y in (2019, 2021))
    times = [moment(first, last) for _ in range(20000)] + [None] * 50
    random.shuffle(times)
    table("t.csv", times)
    lines("t.jsonl", times)
    want = saved("t.csv", "-c", "when", "-b", "month", "-j", 1)
    for arguments in (("t.csv", "-c", "when", "-j", 3), ("-", "-c", "when"), ("t.jsonl", "-c", "a.when")):
        text = open("t.csv").read() if arguments[0] == "-" else None
        got = saved(*arguments, "-b", "month", text=text)
        check(got["axes"] == want["axes"] and got["histograms"][0]["counts"] == want["histograms"][0]["counts"],
              arguments, "differs")
    ends = sorted(when for when in times if when)
    got = saved("t.csv", "-c", "when", "-b", 7)
    check(got["axes"][0]["lo"] == ticks(ends[0]) and got["axes"][0]["hi"] == ticks(ends[-1]), "ends of N bins")
    # the last day is in the range, what is behind it is not
    inside = [w for w in ends if w.year == 2020]
    for how in (("--range", "2020-01-01,2020-12-31"), ("--range=2020-01-01,2020-12-31",),
                ("--range", "2020-01-01", "2020-12-31")):
        for bins in ("month", "3"):
            got = saved("t.csv", "-c", "when", "-b", bins, *how)
            check(sum(got["histograms"][0]["counts"]) == len(inside), how, bins)
            check(got["histograms"][0]["overflow"] == sum(w.year > 2020 for w in ends), how, bins)
    edges = saved("t.csv", "-c", "when", "--edges", "2019-06-01,2020-01-01T12:00:00Z,2020-07-01")
    cuts = [datetime.datetime(2019, 6, 1, tzinfo=UTC), datetime.datetime(2020, 1, 1, 12, tzinfo=UTC),
            datetime.datetime(2020, 7, 1, tzinfo=UTC)]
    check(edges["histograms"][0]["counts"] == [
        sum(a <= w < b or w == b == cuts[-1] for w in ends) for a, b in zip(cuts, cuts[1:])], "edges")
    joint = saved("t.csv", "-c", "when,x", "-b", "year,2")
    check([axis.get("time") for axis in joint["axes"]] == ["us", None], "joint")
    check(sum(joint["histograms"][0]["counts"]) == len(ends), "joint counts")


def test_glance():
    days = [datetime.datetime(2024, 1, 1, tzinfo=UTC) + datetime.timedelta(days=i % 1000) for i in range(5000)]
    table("g.csv", days + [None] * 3)
    lines("g.jsonl", days + [None] * 3)
    for path, name in (("g.csv", "when"), ("g.jsonl", "a.when")):
        column = next(c for c in saved(path)["columns"] if c["name"] == name)
        ordered = sorted(days)
        want = [ordered[0], *(ordered[-(-len(days) * q // 4) - 1] for q in (1, 2, 3)), ordered[-1]]
        got = [datetime.datetime.fromisoformat(column[key].replace("Z", "+00:00"))
               for key in ("min", "q1", "median", "q3", "max")]
        check(column["type"] == "time" and column["missing"] == 3 and column["not_numbers"] == 0, column)
        check(got[0] == want[0] and got[-1] == want[-1], path, column)
        check(all(abs(a - b) <= datetime.timedelta(days=1) for a, b in zip(got, want)), path, column, want)
        mean = datetime.datetime.fromisoformat(column["mean"].replace("Z", "+00:00"))
        check(abs(ticks(mean) - sum(map(ticks, days)) / len(days)) < 2, path, "mean", mean)
    check("2024-01-01" in run("g.csv") and "2026-09-26" in run("g.csv"), run("g.csv"))
    for when, shown in (("2024-01-02T08:30:00Z", "2024-01-02 08:30"), ("2024-01-01", "2024-01-01")):  # all the same
        line = next(line for line in run("-", text=f"when,x\n{when},1\n{when},2\n").splitlines() if line.startswith("when"))
        check(line.split("0", 1)[1].strip().split("  ") == [shown] * 5, line)


def test_saved():
    for year in (2020, 2021):
        times = [moment(datetime.datetime(year, 1, 1, tzinfo=UTC), datetime.datetime(year + 1, 1, 1, tzinfo=UTC))
                 for _ in range(500)]
        table(f"{year}.csv", times)
        run(f"{year}.csv", "-c", "when", "-b", "month", "--range", "2020-01-01,2021-12-31", "-o", f"{year}.json")
    run("2020.csv", "2021.csv", "-c", "when", "-b", "month", "--range", "2020-01-01,2021-12-31", "-o", "both.json")
    merged, both = saved("merge", "2020.json", "2021.json"), json.load(open("both.json"))
    check(merged["axes"] == both["axes"] and merged["histograms"][0]["counts"] == both["histograms"][0]["counts"],
          "merged results differ from one of both files")
    rows = list(csv.DictReader(io.StringIO(run("show", "both.json", "-f", "csv"))))
    check(rows[0]["lo"] == "2020-01-01T00:00:00Z" and rows[-1]["hi"] == "2022-01-01T00:00:00Z", rows[0], rows[-1])
    check("[2020-01, 2020-02)" in run("show", "both.json"), "labels of months")
    check("[2020-02-03, 2020-02-10)" in run("2020.csv", "-c", "when", "-b", "week", "--max-rows", 99), "weeks")
    svg = run("plot", "both.json", "-f", "svg") if "pictures" in run("version") else "2021"
    check("<svg" in svg or svg == "2021", "no picture")
    plain = json.load(open("both.json"))
    del plain["axes"][0]["time"]
    json.dump(plain, open("plain.json", "w"))
    run("merge", "both.json", "plain.json", code=1, says="axis 0: the unit of time is us in the first and none")
    plain["axes"][0]["time"] = "hours"
    json.dump(plain, open("plain.json", "w"))
    run("show", "plain.json", code=1, says='time must be one of "day", "s", "ms", "us", "ns"')


def test_refusals():
    def text(rows):
        open("r.csv", "w").write("when,x\n" + "".join(f"{row},1\n" for row in rows))

    fine = ["2026-01-01T00:00:00.5Z"] * 200
    text(fine + ["2026-01-01T00:00:00.1234567Z"])
    run("r.csv", "-c", "when", code=1, says="r.csv:202:1: expected a time in whole microseconds")
    text(fine + ["3000-01-01T00:00:00.000001Z"])
    run("r.csv", "-c", "when", code=1, says="microseconds hold exactly")
    text(fine + ["soon"])
    run("r.csv", "-c", "when", code=1, says="r.csv:202:1: expected a date or a time")
    run("r.csv", "-c", "when", "--categories")
    text(["7"] * 200 + fine)
    run("r.csv", "-c", "when", code=1, says="r.csv:202:1: expected a number, found '2026-01-01T00:00:00.5Z'")
    run("r.csv", "-c", "x", "-b", "month", code=1, says="the column has no dates")
    run("r.csv", "-c", "x", "-b", 3, "--range", "2026-01-01,2026-02-01", code=1, says="--range has dates")
    text(fine)
    run("r.csv", "-c", "when", "-b", "hour", "--range", "0001-01-01,9999-12-31", code=1, says="more than 16777216 bins")
    run("r.csv", "-c", "when", "-b", "hours", code=2, says="--bins hours: a number or one of")
    run("r.csv", "-c", "when", "-b", "day", "--log", code=2, says="contradict")
    for bins in ([], ["-b", 3], ["--range", "2026-01-01", "2027-01-01"]):
        run("r.csv", "-c", "when", "--log", *bins, code=1, says="the column has dates")
    run("r.csv", "-c", "when", "--range", "2026-02-01,2026-01-01", code=2, says="must be less")
    run("r.csv", "-c", "when", "--range", "2026-02-30,2026-03-01", code=2, says="nor a date")
    # a file without a date is one of dates, too, if the first is; one with numbers is not
    open("none.csv", "w").write("when,x\n,1\n")
    open("few.csv", "w").write("when,x\n5,1\n")
    got = saved("r.csv", "none.csv", "-c", "when", "-b", "day")
    check(got["histograms"][0]["nan"] == 1, "a file without a date")
    run("r.csv", "few.csv", "-c", "when", "-b", "day", code=1, says="few.csv:2:1: expected a date")
    # one column of times with a blank in them is no table of two columns
    open("log.txt", "w").write("2026-11-23 02:49:22\n2026-11-23 02:49:23\n2026-11-24 00:00:00\n")
    check(saved("log.txt", "-b", "day")["histograms"][0]["counts"] == [2, 1], "a log")


def test_pictures():
    """Months are drawn as bins of one width: equal counts are equally high, though February is shorter."""
    with open("months.csv", "w") as out:
        out.write("when\n" + "".join(f"2026-{month:02}-{day:02}\n" for month in range(1, 7) for day in (1, 9)))
    run("months.csv", "-c", "when", "-b", "month", "-o", "months.svg")
    picture = open("months.svg").read()
    if "<svg" not in picture:
        return
    filled = [path for path in re.findall(r"<path[^>]*>", picture) if re.search(r"fill-opacity[:=]\"?0?\.5", path)]
    heights = {y for path in filled for y in re.findall(r"[ML] [-\d.]+ ([-\d.]+)", path)}
    check(len(filled) == 1 and len(heights) == 2, "months in a picture", filled)


def test_parquet():
    try:
        import pyarrow as pa
        import pyarrow.feather
        import pyarrow.parquet
    except ImportError:
        return
    times = [moment(datetime.datetime(1960, 1, 1, tzinfo=UTC), datetime.datetime(2030, 1, 1, tzinfo=UTC))
             .replace(microsecond=0) for _ in range(2000)]
    columns = {unit: pa.array([ticks(t) // 10**6 * scale for t in times], pa.int64()).cast(pa.timestamp(unit))
               for unit, scale in (("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9))}
    columns["day"] = pa.array([t.date() for t in times], pa.date32())
    columns["date64"] = pa.array([t.date() for t in times], pa.date64())
    columns["holes"] = pa.array([None, *times[1:]], pa.timestamp("us"))
    whole = pa.table(columns)
    pa.parquet.write_table(whole, "t.parquet")
    pa.feather.write_feather(whole, "t.arrow", compression="uncompressed")
    table("t.csv", times)
    for unit in ("month", "year"):
        want = saved("t.csv", "-c", "when", "-b", unit)
        for path in ("t.parquet", "t.arrow"):
            for name in columns:
                got = saved(path, "-c", name, "-b", unit)
                check(got["axes"][0]["dates"][0][:10] == want["axes"][0]["dates"][0][:10], path, name)
                check(sum(got["histograms"][0]["counts"]) + (name == "holes") == len(times), path, name)
                check(name == "holes" or got["histograms"][0]["counts"] == want["histograms"][0]["counts"], path, name, unit)
    got = {c["name"]: c for c in saved("t.parquet")["columns"]}
    for name in columns:
        check(name == "holes" or got[name]["min"][:10] == min(times).date().isoformat(), name, got[name])
    run("t.parquet", "-c", "day", "-b", "hour", code=1, says="finer than the column's unit")


if __name__ == "__main__":
    run_all(test_units, test_everywhere, test_glance, test_saved, test_refusals, test_pictures, test_parquet)
