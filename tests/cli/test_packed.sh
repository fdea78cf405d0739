#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A table packed by the programs that people have: the same counts by one thread and by several, from
# files and pipes; cut and damaged files are refused.
. "$(dirname "$0")/lib.sh"
need awk gzip

awk 'BEGIN { print "id,price"; for (i = 0; i < 200000; i++) print i "," (i * 7919 % 100003) / 100 }' >table.csv
"$TALLY" table.csv --column price --bins 50 --format csv >wanted || fail "the table as it is"

# packed NAME COMMAND…: what it writes is counted as the table is.
packed() {
    local name=$1 threads
    shift
    if ! command -v "$1" >/dev/null; then
        echo "part skipped: $1 is not installed"
        return
    fi
    "$@" <table.csv >"$name" 2>/dev/null || { fail "$*"; return; }
    for threads in 1 3; do
        expect 0 "" -- "$TALLY" "$name" --column price --bins 50 --format csv -j $threads
        cmp -s .out wanted || fail "$name on $threads threads: other counts"
    done
    expect 0 -- "$TALLY" - --column price --bins 50 --format csv -j 3 <"$name"
    cmp -s .out wanted || fail "$name by standard input: other counts"
    expect 0 -- bash -c 'cat "$1" | "$2" - --column price --bins 50 --format csv -j 3' bash "$name" "$TALLY"
    cmp -s .out wanted || fail "$name by a pipe: other counts"
    head -c $(($(stat -c %s "$name") * 2 / 3)) "$name" >"cut-$name"
    for threads in 1 3; do
        expect 1 "cut-$name: .* stored byte [0-9]" -- "$TALLY" "cut-$name" --column price --bins 50 -o none.json -j $threads
        [ ! -e none.json ] || fail "cut-$name: something was written"
    done
}
packed gzip.gz gzip
packed bgzip.gz bgzip
packed bgzip-4.gz bgzip -@ 4
packed pigz.gz pigz -b 128
packed zstd.zst zstd
packed zstd-T.zst zstd -T3 -B256K
# pzstd reads files only
if command -v pzstd >/dev/null; then
    for level in 1 3; do
        pzstd -q -p 3 -$level -k table.csv -o p.zst 2>/dev/null
        packed pzstd-$level.zst cat p.zst
        rm -f p.zst
    done
fi
finish
