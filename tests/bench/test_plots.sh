#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench/plots.py: the recorded lines are drawn, every figure of them, whole or not at all; bench/add_peers.py puts other
# libraries into lines. What pictures show has to be looked at; that those of docs/ are of the recorded lines is checked
# by unit/test_tables.
. "$(dirname "$0")/../cli/lib.sh"
need python3
python=
for candidate in /usr/bin/python3 python3; do
    "$candidate" -c 'import matplotlib' 2>/dev/null && python=$candidate && break
done
results=$SRCDIR/bench/results

# ---- other libraries ----
cat >today.jsonl <<'J'
{"figure":"trish-k","series":"TRISH","x":1,"gbps":3}
{"figure":"today","series":"Tally's own","label":"auto","gbps":7,"name":"a device","driver":"d 1","date":"2026-01-02T","version":"1","commit":"c"}
{"figure":"today","series":"other libraries","label":"gone","gbps":1}
J
cat >peers.jsonl <<'J'
{"header":1,"name":"another device","read_gbps":77}
{"by":"elsewhere","call":"histogram","dtype":"u8","bins":256,"n":1073741824,"gbps":99,"same":true}
{"header":1,"name":"a device","read_gbps":55}
{"by":"somebody","call":"histogram \"8u\"","dtype":"u8","bins":256,"n":1073741824,"gbps":123.5,"same":true}
{"by":"somebody","call":"wrong","dtype":"u8","bins":256,"n":1073741824,"gbps":99,"same":false}
{"by":"somebody","call":"float","dtype":"f32","bins":256,"n":1073741824,"gbps":99,"same":true}
{"part":"sizes","by":"somebody","call":"larger","dtype":"u8","bins":256,"n":2147483648,"gbps":99,"same":true}
{"part":"all","by":"Tally","call":"routed","dtype":"i32","bins":4,"n":8,"gbps":9,"read_gbps":44}
{"by":"Tally","call":"auto","dtype":"u8","bins":256,"n":1073741824,"gbps":99,"same":true}
J
expect 0 'left out: .*another device' -- python3 "$SRCDIR/bench/add_peers.py" today.jsonl peers.jsonl
python3 - <<'PY' || fail "peers: see above"
import json
lines = [json.loads(line) for line in open("today.jsonl", encoding="utf-8")]
assert [line["figure"] for line in lines] == ["trish-k", "today", "today"], lines
assert lines[1]["read_gbps"] == 55 and "read_gbps" not in lines[0], lines
assert lines[2]["label"] == 'somebody histogram "8u"' and lines[2]["series"] == "other libraries", lines
PY
grep trish-k today.jsonl >other.jsonl
expect 1 'no line of the figure today' -- python3 "$SRCDIR/bench/add_peers.py" other.jsonl peers.jsonl

# ---- pictures ----
if [ -z "$python" ]; then
    expect 1 'needs matplotlib' -- python3 "$SRCDIR/bench/plots.py" today.jsonl -o drawn
    echo "skipped: pictures: no python3 here has matplotlib"
    finish
fi
draw() { "$python" "$SRCDIR/bench/plots.py" "$@"; }
expect 0 '' -- draw "$results/h200-figures-cuda.jsonl" -o cuda
equal 10 "$(ls cuda | grep -c '\.png$')" "pictures of CUDA"
for picture in cuda/*; do
    equal 89504e47 "$(head -c 4 "$picture" | od -An -tx1 | tr -d ' \n')" "$picture"
done
# OpenCL tells neither registers nor occupancy: panels without a point are left out.
grep -E '"(trish-table1|today)"' "$results/h200-figures-opencl.jsonl" >few.jsonl
expect 0 '' -- draw few.jsonl -o opencl --svg
equal "today.svg trish-table1.svg" "$(ls opencl | tr '\n' ' ' | sed 's/ $//')" "pictures of OpenCL"
for picture in opencl/*; do
    python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$picture" || fail "$picture is no XML"
done
grep -q '>Throughput<' opencl/trish-table1.svg || fail "trish-table1.svg: no throughput"
grep -q 'Registers a thread' opencl/trish-table1.svg && fail "trish-table1.svg: an empty panel"
# What was published is drawn in the panel's unit, measured or not.
grep -E '"trish-throughput".*"series":"POD"' "$results/h200-figures-cuda.jsonl" >pod.jsonl
expect 0 '' -- draw pod.jsonl -o pod --svg
grep -q 'TRISH, as published (published' pod/trish-throughput.svg || fail "a published curve is not drawn"
PYTHONPATH=$SRCDIR/bench python3 - <<'PY' || fail "published values: see above"
from plots import FIGURES, published_of
found = {panel.field: max((one.value for one in published_of(panel, FIGURES[name])), default=None)
         for name in ("trish-table1", "reduce-vs-atomic") for panel in FIGURES[name].panels}
assert found["occupancy"] == 100 and found["registers"] == 42 and found["median_s"] == 5, found
PY
grep -q 'lane-private' opencl/today.svg || fail "today.svg: no label"
# Drawn twice, the same.
expect 0 '' -- draw few.jsonl -o again --svg
cmp -s opencl/today.svg again/today.svg || fail "today.svg differs when drawn again"
expect 0 '' -- draw today.jsonl -o peers --svg
grep -q 'somebody histogram' peers/today.svg || fail "other libraries are not drawn"
grep -q 'reading alone: 55' peers/today.svg || fail "the speed of reading is not drawn"

# ---- bad input ----
expect 2 'go together' -- draw few.jsonl
expect 1 'No such file' -- draw missing.jsonl -o nowhere
printf '{"figure":"trish-k"\n' >bad.jsonl
expect 1 'plots.py: ' -- draw bad.jsonl -o nowhere
printf '{"figure":"other"}\n' >none.jsonl
expect 1 'no line of a figure' -- draw none.jsonl -o nowhere
[ -e nowhere ] && fail "a refused file made a folder"
printf '{"figure":"trish-k","gbps":1}\n' >bad.jsonl
expect 1 'plots.py: ' -- draw bad.jsonl -o half
ls half 2>/dev/null | grep -q . && fail "half a picture was left"
finish
