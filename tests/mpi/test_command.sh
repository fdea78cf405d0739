#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tally-mpi: files counted by 1 and by 2 or 4 ranks (TALLY_CHECK=all: each) are the same bytes, and what `tally run` counts; a file
# that cannot be read and a rank that dies are named, and leave no result.
set -uo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir folder && mkfifo pipe.csv || exit 1
failed=0
say() {
    echo "FAILED: $1" >&2
    failed=1
}

"${PYTHON:-python3}" - <<'PYTHON' || exit 1
import random, struct, zipfile

random.seed(20261123)
values = [random.gauss(0, 100) for _ in range(60001)]
weights = [10.0 ** random.uniform(-12, 3) for _ in values]  # their sums round


def save(name, numbers, kind="<f8"):
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({len(numbers)},), }}".ljust(117) + "\n"
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        file.write(struct.pack(f"<{len(numbers)}{'d' if kind == '<f8' else 'B'}", *numbers))


def table(name, begin, end):
    with open(name, "w") as file:
        file.write("x,w\n")
        file.writelines(f"{x!r},{w!r}\n" for x, w in zip(values[begin:end], weights[begin:end]))


save("large.npy", values)
save("small.npy", values[:77])
table("table.csv", 0, 20000)
table("other.csv", 20000, 21000)
with zipfile.ZipFile("both.npz", "w") as archive:
    archive.write("small.npy", "a.npy")
    archive.write("large.npy", "b.npy")
save("empty.npy", [])
save("w.npy", weights)
save("nan.npy", weights[:-1] + [float("nan")])
save("mask.npy", [float(i % 7 > 2) for i in range(len(values))])
save("mask8.npy", [i % 5 > 2 for i in range(len(values))], "|u1")
cities = ["Oslo", "Rome", "", "Bonn", "Oslo", "NA", "Lima"]


def cases(name, begin, end):
    with open(name, "w") as file:
        file.write("city,year,delay,weight,when\n")
        for i in range(begin, end):
            late = "" if i % 11 == 3 else f"{values[i]:.3f}"
            file.write(f"{cities[i * i % 97 % 7]},{2020 + i % 3},{late},{weights[i]!r},2026-0{1 + i % 3}-1{i % 9}\n")


cases("words.csv", 0, 3000)
cities = ["Rome", "Oslo", "Kyiv", "Cork", "", "Rome", "Kyiv"]
cases("more.csv", 3000, 3500)
cases("folder/a.csv", 3500, 3600)
cases("folder/b.csv", 3600, 3650)
with open("raw", "wb") as file:
    file.write(b"abc" + struct.pack(">5000f", *values[:5000]))
with open("bytes", "wb") as file:
    file.write(bytes(min(255, int(abs(x))) for x in values[:9000]))
with open("bare.txt", "w") as file:
    file.writelines(f"{x!r};{'none' if x > 99 else repr(w)}\n" for x, w in zip(values[:900], weights))
PYTHON

ranks() { # N ARGUMENT…
    local n=$1
    shift
    timeout 60 "$MPIEXEC" -n "$n" "$TALLY_MPI" run "$@" </dev/null # which mpirun would read
}
counts() { # of a saved result, all but what may differ when it is counted again
    sed -n '/"histograms"/,/^"run"/p' "$1" | grep -v '^"run"'
}

# Ranges from the data; the large file by all ranks, the small one by one of them.
"$TALLY" run large.npy small.npy --bins 100 -o want.json || say "tally run"
for n in 2 4; do
    ranks $n large.npy small.npy --bins 100 --split 10000 -o got.json || say "$n ranks"
    diff <(counts want.json) <(counts got.json) >/dev/null || say "$n ranks count something else"
done

# Sums of floats: the same bits whoever has which file, and those of `tally run` with the limit that was found.
ranks 1 table.csv other.csv --column x --weights :w --bins 50 -o one.json || say "weights, one rank"
ranks 2 other.csv table.csv -c x -w :w --bins 50 --split 1000 -o two.json || say "weights, two ranks"
ranks 4 other.csv table.csv --column x --weights :w --bins 50 -o four.json || say "weights, four ranks"
limit=$(grep -o '"weight_limit":[^,]*' one.json)
"$TALLY" run table.csv other.csv -c x -w :w --weight-limit "${limit#*:}" --bins 50 -o alone.json || say "weights, tally run"
for other in two four alone; do
    diff <(counts one.json) <(counts $other.json) >/dev/null || say "sums differ: $other.json"
done

"$TALLY" merge one.json -o merged.json && diff <(counts one.json) <(counts merged.json) >/dev/null ||
    say "a merged result of floats has other bits"

# What the command has, as the command writes it: bins, words, joint columns, masks, weights, choices of input.
same() { # RANKS, the command's arguments in words[]
    if [ "$1" = 1 ]; then # needs no mpirun
        "$TALLY_MPI" run "${words[@]}" --split 100 >"got$1.csv" || say "${words[*]}"
    else
        ranks "$1" "${words[@]}" --split 100 >"got$1.csv" || say "${words[*]}"
    fi
    diff <(grep -v '^"run"' want.csv) <(grep -v '^"run"' "got$1.csv") >/dev/null || say "${words[*]}: $1 ranks have other counts than tally run"
    return $failed
}
several=4
while IFS= read -r line; do
    eval "words=($line)"
    [[ " $line" == *' -f '* ]] || words+=(-f csv)
    words+=(-q)
    "$TALLY" run "${words[@]}" >want.csv || say "tally run $line"
    [ "$(wc -l <want.csv)" -gt 2 ] || say "tally run $line: nothing to compare"
    beside=() # mpirun waits more than it works
    several=$((6 - several)) # 2 or 4 in turn
    numbers=(1 $several)
    [ "${TALLY_CHECK:-}" != all ] || numbers=(1 2 4)
    for n in "${numbers[@]}"; do
        same "$n" &
        beside+=($!)
    done
    for job in "${beside[@]}"; do
        wait "$job" || failed=1
    done
done <<'END'
small.npy --integer
small.npy --integer --range -50 50
small.npy --log --range 1 400 -b 20
bytes -t u8 --log --range 1 400
both.npz:b.npy -b 20
raw -t '>f4' --offset 3 -b 20
raw -t float32 --endian big --offset 3 --range 0 1 -b 20 -j 1
bytes -t u8
bytes -t u8 -b 16
bare.txt --header no --delimiter ';' --na none -c 2 -b 20
table.csv other.csv -c w --log -d cpu
table.csv other.csv -c x,w -b 8,5
table.csv other.csv -c x --edges -100,-1,0,0.5,99
table.csv other.csv -c x,w --edges -100,0,99 --edges 0,1e-9,1,1000
table.csv other.csv -c x -b 20 -w :w --weight-limit 2000
table.csv other.csv -c x,w -b 8 -w :w --weight-limit 2000
table.csv other.csv -c w -c x --separate -b 20 --range -9 9 -f json
table.csv other.csv -c all -b 20 --range -9 9 -f json
table.csv other.csv -c x -b 20 --each -f json
table.csv other.csv -c x -b 20 --range 0 9 --counter u8sat
table.csv other.csv -c x -b 20 --range 0 9 --verify
large.npy -b 20 --mask mask.npy
large.npy -b 20 --mask mask.npy -w w.npy --weight-limit 2000 --verify
large.npy -b 20 --mask mask8.npy
large.npy -b 20 --mask mask8.npy -w w.npy --weight-limit 2000
large.npy -b 20 --mask mask8.npy -w w.npy --weight-limit 2000 --verify
large.npy large.npy -b 20 -w w.npy --weight-limit 2000
large.npy -b 20 --range -1 1 --rows 100:50000
words.csv more.csv -c city
words.csv more.csv -c city --top 2
words.csv more.csv -c year --categories
words.csv more.csv -c city,year --categories
words.csv more.csv -c city,delay -b 5
words.csv more.csv -c delay -w :weight --weight-limit 2000 -b 5
words.csv more.csv -c city -w :weight --weight-limit 2000
words.csv more.csv -c delay --by city -b 5
words.csv more.csv -c delay --by city -b 5 --range 0 20 --top 2
words.csv more.csv -c delay --by year --edges -10,0,10
words.csv more.csv -c when -b month
words.csv more.csv -c when --by city -b week
words.csv more.csv -c when -b 7 --range 2026-01-05,2026-03-01
more.csv words.csv -c city,delay,when -b 5
bytes --alphabet '\x00-\xff' --per-bin 16
bytes -t u8 --shape 30,100,3 --channel 1,3 --rows 5:25 --cols 3:90
folder -c city
END

# The terminal that mpirun gives to rank 0 is none.
TERM=xterm ranks 2 small.npy --bins 9 | cat -v >got.txt
grep -q '\^\[' got.txt && say "colours where nobody has a terminal: $(cat got.txt)"

ranks 1 small.npy --log --bins 9 2>said && say "--log of samples below 0"
grep -q -e '--log: the smallest sample is -' said || say "--log of samples below 0: $(cat said)"

# What several processes do not count is refused, in words that say what does.
refused() { # CODE WORDS ARGUMENT…
    "$TALLY_MPI" run "${@:3}" 2>said </dev/null # one rank needs no mpirun
    [ $? = "$1" ] && grep -q -e "$2" said && [ "$(wc -l <said)" -le 2 ] || say "${*:3}: $(cat said)"
}
for wrong in '-t f99' '--endian big' '--header 1' '-w :' '-b 0' '-j x' '--nothing 1'; do
    # shellcheck disable=SC2086
    refused 2 '(tally run --help)' small.npy $wrong
done
refused 2 'number on its machine; give' small.npy -d cuda:1
refused 2 '`tally quantiles`' small.npy -b 9 --quantiles 0.5
refused 2 '`tally merge` adds' table.csv -c x --of w
refused 2 '`tally run` adds up squares' large.npy -w w.npy --sum-squares
refused 2 'one that fails ends all' small.npy -k
refused 2 'show its own' small.npy --progress always
refused 2 'give a number' small.npy -b fd
refused 2 'not standard input' -b 9
refused 2 'not standard input' small.npy --mask -
refused 1 'columns that --column names' table.csv
refused 1 ':w would be the column' table.csv -c x -w w
refused 1 'no pipes' pipe.csv
refused 2 'a number of bytes' small.npy --split=x
refused 1 'a weight is infinite or NaN' large.npy -w nan.npy

# What fails on one rank is said once, by its name, and nothing is written.
if ranks 2 small.npy missing.npy -o none.json 2>said || ! grep -q 'tally-mpi: rank 0: missing.npy' said; then
    say "a missing file: $(cat said)"
fi
mkdir node0 node1
cp small.npy node0
# shellcheck disable=SC2016
timeout 60 "$MPIEXEC" -n 2 sh -c 'cd node$OMPI_COMM_WORLD_RANK && exec "$TALLY_MPI" "$@"' - \
    run small.npy small.npy -o ../none.json 2>said
[ $? = 1 ] && grep -q 'tally-mpi: rank 1: small.npy: .*No such file' said || say "a file missing on rank 1: $(cat said)"
for node in 0 1; do # of another size, and of the same size another shape
    head -c $((200 + 8 * node)) small.npy >node$node/small.npy
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '<f8', 'fortran_order': False, 'shape': ($((50 - node)),), }" >node$node/shape.npy
    head -c 400 large.npy >>node$node/shape.npy
done
for file in '-t f64 small' shape; do
    # shellcheck disable=SC2016,SC2086
    timeout 60 "$MPIEXEC" -n 2 sh -c 'cd node$OMPI_COMM_WORLD_RANK && exec "$TALLY_MPI" "$@"' - \
        run $file.npy --split 1 --range 0 1 -o ../none.json 2>said
    [ $? = 1 ] && grep -q 'tally-mpi: .*sees other files than rank 0' said || say "ranks with other files: $(cat said)"
done
printf '\x93NUMPY' >broken.npy
if ranks 2 small.npy broken.npy -o none.json 2>said || ! grep -q 'tally-mpi: rank 1: .*broken.npy' said; then
    say "a broken file: $(cat said)"
fi

# Each rank has a device of its own: the second one's fails in the middle of counting.
if [ -e "$FAKES/libcuda.so.1" ]; then
    TALLY_CUDA_LIBRARY=$FAKES/libcuda.so.1 TALLY_NVRTC_LIBRARY=$FAKES/libnvrtc.so.13 FAKE_CUDA_DEVICES=2 \
        FAKE_CUDA_OF=1 FAKE_CUDA_FAIL=10 FAKE_CUDA_LOST=1 ranks 2 empty.npy small.npy -d cuda --range 0 1 -o none.json 2>said
    [ $? = 1 ] && grep -q "tally-mpi: rank 1: .*the fake driver's words" said || say "a device that fails: $(cat said)"
fi

# A rank that is killed while it counts what takes long.
truncate -s 1G zeros
# shellcheck disable=SC2016
timeout 60 "$MPIEXEC" -n 2 sh -c 'echo $$ >pid.$OMPI_COMM_WORLD_RANK; exec "$TALLY_MPI" "$@"' - \
    run -t u8 bytes zeros --split 1000000000000 --verify -o none.json 2>said &
for _ in $(seq 100); do
    [ -s pid.1 ] && break
    sleep 0.05
done
sleep 1
kill -9 "$(cat pid.1)"
wait $! && say "a killed rank: mpirun says that all went well"
grep -q 'rank 1 with PID' said || say "a killed rank is not named: $(cat said)"
[ -e none.json ] && say "a failure left a result"
exit $failed
