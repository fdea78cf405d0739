#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a run writes is decided by its input and options alone; how wide and in which characters tables
# are is decided by the environment as elsewhere.
. "$(dirname "$0")/lib.sh"
need python3
flights=$SRCDIR/data/flights.csv

for format in table csv npy png svg json; do
    for turn in 1 2; do
        expect 0 "" -- "$TALLY" "$flights" -c dep_delay --range -30 150 --bins 18 --format $format \
            -o $turn.$format --threads $turn
        sleep 0.01
    done
    [ $format = json ] && sed -i '/^"run":/d' 1.json 2.json
    cmp -s 1.$format 2.$format || fail "two runs write different $format files"
done
grep -q seconds 1.json && fail "seconds outside \"run\""
tail -n +2 1.table | grep -Eq ' s$|µs|ms|cpu' && fail "a table tells the time, or how it was counted"
expect 0 'elements in [0-9.]+ s' -- "$TALLY" "$flights" -c dep_delay -v
expect 0 'cpu' -- "$TALLY" "$flights" -c dep_delay --device cpu -v

# The environment: COLUMNS, the locale.
expect 0 "" -- env COLUMNS=50 "$TALLY" "$flights" -c dep_delay --bins 5
equal 50 "$(wc -L <.out)" "columns of a table with COLUMNS=50"
expect 0 "" -- env COLUMNS=nonsense "$TALLY" "$flights" -c dep_delay --bins 5
equal 80 "$(wc -L <.out)" "columns of a table with COLUMNS=nonsense"
expect 0 "" -- env COLUMNS=50 "$TALLY" "$flights" -c dep_delay --bins 5 --width 60
equal 60 "$(wc -L <.out)" "columns of a table with --width"
for one in LC_ALL=C LC_ALL=POSIX LC_CTYPE=de_DE.ISO-8859-1 LANG=en_US; do
    for columns in dep_delay dep_delay,arr_delay; do
        expect 0 "" -- env -u LC_ALL -u LC_CTYPE -u LANG "$one" "$TALLY" "$flights" -c $columns --bins 5
        LC_ALL=C grep -q '[^ -~]' .out && fail "more than ASCII with $one: $(LC_ALL=C grep -m1 '[^ -~]' .out)"
    done
done
printf 'abcdefghijklmnopqrstuvwxyz' >letters
expect 0 "" -- "$TALLY" letters --alphabet acegikmoqsuwybdfhjlnprtvxz --per-bin 26
LC_ALL=C grep -q '[^ -~]' .out && fail "more than ASCII in the name of a bin"
for one in LC_ALL=C.UTF-8 LANG=de_DE.utf8 X=; do
    expect 0 "" -- env -u LC_ALL -u LC_CTYPE -u LANG "$one" "$TALLY" "$flights" -c dep_delay --bins 5
    output '█'
done

# --no-header
expect 0 "" -- "$TALLY" "$flights" -c dep_delay --bins 5 --format csv
sed 1d .out >want
expect 0 "" -- "$TALLY" "$flights" -c dep_delay --bins 5 --format csv --no-header
cmp -s want .out || fail "--no-header leaves out more or less than a CSV's first line"
expect 0 "" -- "$TALLY" "$flights" -c dep_delay --bins 5
sed -e '1,/value/{/^dep_delay/!d}' -e '/^mean/d' .out >want
expect 0 "" -- "$TALLY" "$flights" -c dep_delay --bins 5 --no-header
cmp -s want .out || fail "--no-header of a table: $(diff want .out)"
expect 2 'no-header is for tables and csv' -- "$TALLY" "$flights" -c dep_delay --format json --no-header
finish
