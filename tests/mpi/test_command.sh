#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tally-mpi: files counted by 1, 2 and 4 ranks are the same bytes, and what `tally run` counts; a file
# that cannot be read and a rank that dies are named, and leave no result.
set -uo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
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


def save(name, numbers):
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(numbers)},), }}".ljust(117) + "\n"
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        file.write(struct.pack(f"<{len(numbers)}d", *numbers))


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
with open("raw", "wb") as file:
    file.write(b"abc" + struct.pack(">5000f", *values[:5000]))
with open("bytes", "wb") as file:
    file.write(bytes(min(255, int(abs(x))) for x in values[:9000]))
with open("bare.txt", "w") as file:
    file.writelines(f"{x!r};{'none' if x > 99 else w!r}\n" for x, w in zip(values[:900], weights))
PYTHON

ranks() { # N ARGUMENT…
    local n=$1
    shift
    timeout 60 "$MPIEXEC" -n "$n" "$TALLY_MPI" run "$@"
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
ranks 1 table.csv other.csv --column x --weights w --bins 50 -o one.json || say "weights, one rank"
ranks 2 other.csv table.csv -c x -w :w --bins 50 --split 1000 -o two.json || say "weights, two ranks"
ranks 4 other.csv table.csv --column x --weights w --bins 50 -o four.json || say "weights, four ranks"
limit=$(grep -o '"weight_limit":[^,]*' one.json)
"$TALLY" run table.csv other.csv -c x -w :w --weight-limit "${limit#*:}" --bins 50 -o alone.json || say "weights, tally run"
for other in two four alone; do
    diff <(counts one.json) <(counts $other.json) >/dev/null || say "sums differ: $other.json"
done

"$TALLY" merge one.json -o merged.json && diff <(counts one.json) <(counts merged.json) >/dev/null ||
    say "a merged result of floats has other bits"

# Inputs and bins of the other kinds, in a format that is named, as `tally run` writes them.
while read -r words; do
    # shellcheck disable=SC2086
    "$TALLY" run $words -f csv -o want.csv || say "tally run $words"
    # shellcheck disable=SC2086
    ranks 2 $words -f csv --split 100 >got.csv || say "$words"
    diff want.csv got.csv >/dev/null || say "$words: other counts than tally run has"
done <<'END'
small.npy --integer
small.npy --integer --range -50 50
small.npy --log --range 1 400 -b 20
bytes -t u8 --log --range 1 400
both.npz:b.npy -b 20
raw -t >f4 --offset 3 -b 20
raw -t float32 --endian big --offset 3 --range 0 1 -b 20 -j 1
bytes -t u8
bytes -t u8 -b 16
bare.txt --header no --delimiter ; --na none -c 2 -b 20
table.csv other.csv -c w --log -d cpu
END
ranks 1 small.npy --log --bins 9 2>said && say "--log of samples below 0"
grep -q -e '--log: the smallest sample is -' said || say "--log of samples below 0: $(cat said)"
for wrong in '-t f99' '-d cuda:1' '--endian big' '--header 1' '--delimiter ab' '-w :' '-b 0' '-j x' '--nothing 1'; do
    # shellcheck disable=SC2086
    "$TALLY_MPI" run small.npy $wrong 2>said # one rank needs no mpirun
    [ $? = 2 ] && grep -q 'see tally-mpi --help' said || say "$wrong: $(cat said)"
done

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
printf '\x93NUMPY' >broken.npy
if ranks 2 small.npy broken.npy -o none.json 2>said || ! grep -q 'tally-mpi: rank 1: .*broken.npy' said; then
    say "a broken file: $(cat said)"
fi

# A rank that is killed while it waits for its file.
mkfifo pipe.csv
# shellcheck disable=SC2016
timeout 60 "$MPIEXEC" -n 2 sh -c 'echo $$ >pid.$OMPI_COMM_WORLD_RANK; exec "$TALLY_MPI" "$@"' - \
    run small.npy pipe.csv -o none.json 2>said &
for _ in $(seq 100); do
    [ -s pid.1 ] && break
    sleep 0.05
done
sleep 0.3
kill -9 "$(cat pid.1)"
wait $! && say "a killed rank: mpirun says that all went well"
grep -q 'rank 1 with PID' said || say "a killed rank is not named: $(cat said)"
[ -e none.json ] && say "a failure left a result"
exit $failed
