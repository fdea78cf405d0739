#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every OpenCL kernel under Oclgrind at small sizes: no data race, no access outside a buffer, no use
# of memory that was never written, no wrong call of the API; counts as the reference's. In the usual check a method
# meets edges or 64-bit samples, the one or the other by chance, in `make check-all` both.
. "$(dirname "$0")/../cli/lib.sh"
need oclgrind python3
[ -z "${SANITIZE:-}" ] || skip "Oclgrind's own memory is not this test's"
shim=${BUILDDIR:-}/tests/device/lib/oclgrind_shim.so
[ -e "$shim" ] || skip "no $shim: Oclgrind was not found when this was configured"
export TALLY_OPENCL_LIBRARY=$shim TALLY_CACHE_DIR=$WORK/cache

# 300 bytes of text, skewed as texts are; as 16-bit and 64-bit numbers and as floats too.
python3 - <<'PY'
import random, struct
random.seed(5)
letters = [random.choice(b"eeeeeettttaaooinshrdlu wymfgp,.z\0\xff") for i in range(301)]
open("bytes", "wb").write(bytes(letters))
open("floats", "wb").write(struct.pack("<303f", *[random.gauss(4, 3) for i in range(300)],
                                       float("nan"), -1e30, 1e30))
open("tiles", "wb").write(struct.pack("<1300f", *[random.choice((7.5, random.random() * 44 - 2))
                                                for i in range(1300)]))
# 1501 floats and whole weights for them, as npy of either kind: more than weighted-packed adds one by one.
open("many", "wb").write(struct.pack("<1501f", *[random.gauss(4, 3) for i in range(1500)], float("nan")))
for name, code, letter in ("weights", "<f4", "f"), ("whole", "<i4", "i"):
    head = ("{'descr': '%s', 'fortran_order': False, 'shape': (1501,), }" % code).ljust(117) + "\n"
    open(name + ".npy", "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() +
                                    struct.pack("<1501" + letter, *[random.randrange(-30, 70) for i in range(1501)]))
open("wide", "wb").write(struct.pack("<200q", *[random.randrange(-4, 12) for i in range(200)]))
with open("pairs.csv", "w") as f:
    print("x,y", *["%r,%r" % (random.gauss(4, 3), random.gauss(4, 3)) for i in range(301)], sep="\n",
          file=f)
PY

# What the report of a run holds besides the races that podlozhnyuk-256-tag has by design: several
# work-items write the word of their bin, each its own tag, and one of them wins. They are allowed on
# its tables only (6 warps of 1 KB), not on the word behind them.
complaints() {
    python3 - "$1" "$2" <<'PY'
import re, sys
text, method = open(sys.argv[1]).read(), sys.argv[2]
left = []
for report in re.split(r"\n\s*\n(?=\S)", text.strip()):
    head = report.strip().split("\n")[0]
    race = re.match(r"(Write-write|Read-write) data race at local memory address 0x([0-9a-f]+)", head)
    if race and method == "podlozhnyuk-256-tag" and "podlozhnyuk_256_tag.cl" in report:
        if (int(race[2], 16) & 0xffffffff) < 6 * 1024:
            continue
    if head:
        left.append(report)
print("\n".join(left[:3]), end="")
PY
}

# grind METHOD ARGUMENTS…: one run, on a device with so much local memory if it is said; a method that refuses says so,
# which is not a run.
runs=0
turn=${TURN:-$((RANDOM % 2))}
echo "turn $turn (TURN=$turn repeats it)"
local_memory=
watch="--data-races --uninitialized"
grind() {
    local method=$1
    shift
    checks=$((checks + 1))
    rm -f log
    # shellcheck disable=SC2086
    run oclgrind $watch ${local_memory:+--local-mem-size $local_memory} --check-api --max-errors 100000 --log log \
        "$TALLY" run "$@" --device opencl --method "$method" --verify --format csv
    [ "$code" != 3 ] || return
    if [ "$code" != 0 ]; then
        fail "$method: exit code $code: $last"
        show
        return
    fi
    judge "$method"
}
judge() {
    runs=$((runs + 1))
    [ -e log ] || fail "$1: no log: $last"
    [ -s log ] || return 0
    complaints log "$1" >left
    if [ -s left ]; then
        fail "$1: $last"
        head -n 30 left
    fi
}

"$TALLY" methods --format json >methods.json
for method in $(python3 -c '
import json
print(*[m["name"] for m in json.load(open("methods.json")) if "opencl" in m["devices"]])'); do
    before=$runs
    case $method in
    weighted-packed)
        grind "$method" many --dtype f32 --range 0 8 --bins 64 --weights weights.npy
        grind "$method" many --dtype f32 --range 0 1 --bins 364 --weights weights.npy # by float64
        grind "$method" many --dtype f32 --edges 0,1,2.5,3,8 --weights weights.npy
        [ $runs -eq $((before + 3)) ] || fail "$method ran $((runs - before)) times"
        continue
        ;;
    weighted)
        grind weighted many --dtype f32 --range 0 8 --bins 64 --weights weights.npy --sum-squares
        grind weighted many --dtype f32 --edges 0,1,2.5,3,8 --weights whole.npy --sum-squares
        local_memory=5000 # so that 200 bins are in device memory; in the usual one it would be 1700
        grind weighted many --dtype f32 --range 0 8 --bins 200 --weights weights.npy --sum-squares
        local_memory=
        [ $runs -eq $((before + 3)) ] || fail "$method ran $((runs - before)) times"
        continue
        ;;
    saturating-*) # plans with narrow counters: the self-test makes them
        # One a process: a buffer of an earlier one that has grown since is to Oclgrind as it was.
        for seed in 3 5 9; do
            checks=$((checks + 1))
            rm -f log
            run oclgrind --data-races --uninitialized --check-api --max-errors 100000 --log log \
                "$TALLY" selftest --device opencl --method "$method" --cases 1 --seed $seed --format json
            [ "$code" = 0 ] || fail "$method: exit code $code: $last"
            grep -q '"cases":1' .out || fail "$method never ran: $(cat .out)"
            judge "$method"
        done
        continue
        ;;
    esac
    bins=256
    case $method in
    podlozhnyuk-64) bins=64 ;;
    private-register | reduce-tree) bins=8 ;;
    esac
    bytes=(bytes --dtype u8 --range 0 256 --bins $bins)
    grind "$method" "${bytes[@]}"
    grind "$method" "${bytes[@]}" --offset 3
    case $method in
    podlozhnyuk-* | nugteren | trish) ;;
    *)
        grind "$method" floats --dtype f32 --range 0 8 --bins $bins
        turn=$((1 - turn))
        [ "${TALLY_CHECK:-}" != all ] && [ $turn = 1 ] ||
            grind "$method" floats --dtype f32 --edges 0,1,2.5,3,8
        [ "${TALLY_CHECK:-}" != all ] && [ $turn = 0 ] ||
            grind "$method" wide --dtype i64 --range 0 8 --bins $bins
        ;;
    esac
    case $method in
    trish)
        grind trish "${bytes[@]}" --set k=1
        grind trish "${bytes[@]}" --set threads=128 --set batch=4
        ;;
    podlozhnyuk-64) grind "$method" "${bytes[@]}" --set banks=32 --set group=128 --set merge=1 ;;
    podlozhnyuk-256*)
        [ "$method" = podlozhnyuk-256 ] || grep -q 'data race' log ||
            fail "Oclgrind does not see the tag's races, so it would see no other"
        grind "$method" "${bytes[@]}" --set warps=1
        ;;
    reduce-tree) grind "$method" floats --dtype f32 --range 0 8 --bins 8 --set group=37 --set compares=1 --set host=1 ;;
    aggregated) grind "$method" "${bytes[@]}" --set contiguous=1 --set commit=1 ;;
    private-global) grind "$method" "${bytes[@]}" --set copies=3 ;;
    partitioned) # five tiles. Oclgrind does not see what fills part of a buffer.
        watch=--data-races
        tiles=(tiles --dtype f32 --range 0 40 --bins 40 --set partition=3 --set threads=32 --set per-thread=8)
        grind partitioned "${tiles[@]}"
        watch="--data-races --uninitialized"
        ;;
    swizzled-columns | swizzled-rows) grind "$method" pairs.csv --column x,y --range 0 8 --bins 8 ;;
    partitioned-columns)
        watch=--data-races
        grind "$method" pairs.csv --column x,y --range 0 8 --bins 8 --set partition=4 --set threads=32 \
            --set per-thread=8
        watch="--data-races --uninitialized"
        ;;
    esac
    [ $runs -gt "$before" ] || fail "$method never ran"
done
echo "$runs runs"
finish
