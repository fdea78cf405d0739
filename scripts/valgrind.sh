#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the command under valgrind: every word, good and bad input. Any error or leak fails.
#
#     scripts/valgrind.sh TALLY
#
# JOBS says how many at once (default: one a processor).
set -euo pipefail
tally=$(realpath "$1")
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Vendors' OpenCL drivers are not what is checked here.
export OCL_ICD_VENDORS=$work/no-vendors
mkdir "$work/no-vendors"

# The exit code that the command must give, as run number `runs`.
run() {
    local expected=$1 code=0
    shift
    valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,indirect,possible \
        --errors-for-leak-kinds=definite,indirect,possible \
        --suppressions=scripts/valgrind.supp --child-silent-after-fork=yes \
        "$tally" "$@" >"$work/out.$runs" 2>"$work/err.$runs" </dev/null || code=$?
    if [ "$code" != "$expected" ]; then
        touch "$work/failed.$runs"
        echo "tally $*: exit $code, expected $expected" >&2
        head -n 40 "$work/err.$runs" >&2
    fi
}
runs=0
check() { # EXIT ARGUMENT…
    runs=$((runs + 1))
    while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-$(nproc)}" ]; do wait -n || true; done
    run "$@" &
}

printf '1\n2.5\nnan\n-3e2\n' >"$work/numbers.txt"
printf '1\ntwo\n3\n' >"$work/words.txt"
head -c 4000 data/photograph.png >"$work/cut.png"
head -c 65536 /dev/zero >"$work/zeros"
head -n 2000 data/flights.csv >"$work/flights.csv"
gzip -k "$work/flights.csv"

check 0 --version
check 0 --help
check 0 --print man
check 0 methods --format json
check 0 devices
check 0 data/photograph.png --bins 16
check 0 data/photograph.png -o "$work/picture.png"
check 0 data/photograph.png --format json -o "$work/a.json"
wait # for a.json
check 0 merge "$work/a.json" "$work/a.json" --format csv
check 0 show "$work/a.json"
check 0 plot "$work/a.json" -o "$work/a.svg"
check 0 equalize data/photograph.png -o "$work/equal.png"
check 0 "$work/flights.csv" --column dep_delay --bins auto
check 0 "$work/flights.csv.gz" --column distance --log --range 50 5000 --bins 10 --verify
check 0 "$work/numbers.txt" --edges 0,1,2,3
check 0 "$work/zeros" --dtype u16 --integer --threads 2
check 1 "$work/words.txt"
check 1 "$work/cut.png"
check 1 "$work/none"
check 2 --no-such-option
check 2 "$work/zeros" --dtype u7
wait
failed=$(find "$work" -name 'failed.*' | wc -l)
echo "$runs runs under valgrind, $failed failed"
[ "$failed" = 0 ]
