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
import random, struct

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

# Sums of floats: the same bits whoever has which file.
ranks 1 table.csv other.csv --column x --weights w --bins 50 -o one.json || say "weights, one rank"
ranks 4 other.csv table.csv --column x --weights w --bins 50 -o four.json || say "weights, four ranks"
diff <(counts one.json) <(counts four.json) >/dev/null || say "sums differ with the ranks"

"$TALLY" merge one.json -o merged.json && diff <(counts one.json) <(counts merged.json) >/dev/null ||
    say "a merged result of floats has other bits"

# Bins of the other kinds, in a format that is named, as `tally run` writes them.
for bins in --integer '--integer --range -50 50' '--log --range 1 400 --bins 20'; do
    # shellcheck disable=SC2086
    "$TALLY" run small.npy $bins -f csv -o want.csv || say "tally run $bins"
    # shellcheck disable=SC2086
    ranks 2 small.npy $bins -f csv --split 100 >got.csv || say "$bins"
    diff want.csv got.csv >/dev/null || say "$bins: other counts than tally run has"
done
ranks 1 small.npy --log --bins 9 2>said
[ $? = 2 ] && grep -q 'log needs --range' said || say "--log without a range: $(cat said)"

# What fails on one rank is said once, by its name, and nothing is written.
if ranks 2 small.npy missing.npy -o none.json 2>said || ! grep -q 'tally-mpi: rank 0: missing.npy' said; then
    say "a missing file: $(cat said)"
fi
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
