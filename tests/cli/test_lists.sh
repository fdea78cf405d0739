#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# methods, devices and selftest: their JSON is the contract's, and selftest finds what it should.
. "$(dirname "$0")/lib.sh"
need python3

expect 0 "" -- "$TALLY" methods --format json
cp .out methods.json
python3 - <<'PY' 2>.py || fail "methods --format json: $(tail -1 .py)"
import json
dtypes = set("u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64".split())
methods = json.load(open("methods.json"))
assert methods and len({m["name"] for m in methods}) == len(methods)
for m in methods:
    for key in ("name", "source", "devices", "dtypes", "bins", "parameters"):
        assert key in m, (m["name"], key)
    assert set(m["source"].split()) <= {"000", "001", "002", "003", "004", "tally"}, m["source"]
    assert m["devices"] and set(m["devices"]) <= {"cpu", "opencl", "cuda"}
    assert m["dtypes"] and set(m["dtypes"]) <= dtypes
    low, high = m["bins"]
    assert 1 <= low <= high
    for key, p in m["parameters"].items():
        assert p["least"] <= p["default"] <= p["most"] and p["help"], (m["name"], key, p)
[copies] = [m["parameters"]["copies"] for m in methods if m["name"] == "private-global"]
assert (copies["least"], copies["default"], copies["most"]) == (1, 64, 4096), copies
assert any("cpu" in m["devices"] for m in methods)
PY
expect 0 "" -- "$TALLY" methods
output '^  --set copies=64 \(1 to 4096\): '
for name in $(python3 -c 'import json; print(*[m["name"] for m in json.load(open("methods.json"))])'); do
    grep -q "^$name\$" .out || fail "tally methods does not list $name"
    grep -Eq "^## (.*, )?$name[ ,]" "$SRCDIR/docs/METHODS.md" || fail "docs/METHODS.md has no section $name"
done

expect 0 "" -- "$TALLY" devices --format json
cp .out devices.json
python3 - <<'PY' 2>.py || fail "devices --format json: $(tail -1 .py)"
import json
devices = json.load(open("devices.json"))
for d in devices:
    assert set(d) >= {"id", "name", "memory_bytes", "local_bytes", "available", "reason"}
    assert (d["reason"] is None) == d["available"], d
    assert d["available"] or d["reason"], d
    if d["available"]:
        assert d["name"] and d["memory_bytes"] > 0, d
assert [d for d in devices if d["id"] == "cpu" and d["available"]]
PY
expect 0 "" -- "$TALLY" devices
output '^cpu '

expect 0 "" -- "$TALLY" selftest --device cpu --cases 40 --seed 5 --format json
cp .out self.json
python3 - <<'PY' 2>.py || fail "selftest --format json: $(tail -1 .py)"
import json
rows = json.load(open("self.json"))
for r in rows:
    assert set(r) >= {"device", "method", "cases", "failed", "skipped", "seed"}
    assert r["failed"] == 0 and r["seed"] == 5 and r["device"] == "cpu"
    assert (r["skipped"] is None and r["cases"] == 40) or (r["skipped"] and r["cases"] == 0), r
names = {m["name"] for m in json.load(open("methods.json")) if "cpu" in m["devices"]}
assert {r["method"] for r in rows} == names
assert any(r["cases"] for r in rows)
PY
expect 0 "" -- "$TALLY" selftest --device cpu --cases 40 --seed 5 --format json
cmp -s .out self.json || fail "the same seed gives another report"
expect 0 "" -- "$TALLY" selftest --device cpu --seconds 1
output 'cases, 0 failed, seed [0-9]+$'
expect 0 "" -- "$TALLY" selftest --device cpu --method serial --cases 15
output '^cpu +serial +15 +0$'
# All devices for a moment: what is missing is skipped with its reason.
"$TALLY" selftest --cases 1 --seed 6 --format json >all.json || fail "selftest on all devices"
python3 - <<'PY' 2>.py || fail "selftest on all devices: $(tail -1 .py)"
import json
missing = {d["id"]: d["reason"] for d in json.load(open("devices.json")) if not d["available"]}
for r in json.load(open("all.json")):
    if r["device"] in missing:
        assert r["skipped"] == missing[r["device"]] and r["cases"] == 0
PY
for feature in avx512 avx2 bmi2; do
    expect 0 "" -- env TALLY_DISABLE_CPU=$feature "$TALLY" selftest --device cpu --cases 10
done
finish
