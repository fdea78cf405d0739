#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a new user may type: the message says what would be right.
. "$(dirname "$0")/lib.sh"
seq 100 >n.txt
printf 'x,w\n1,2\n3,4\n' >t.csv
"$TALLY" n.txt -o r.json
printf '[' | cat - r.json >list.json && printf ']' >>list.json

# mistake CODE PATTERN ARGUMENTS…
mistake() { expect "$1" "$2" -- "$TALLY" "${@:3}"; }

# Words that others have.
expect 0 "" -- "$TALLY" version
output '^tally [0-9]+\.'
expect 0 "" -- "$TALLY" help
cp .out help
"$TALLY" --help | cmp -s - help || fail "tally help is not tally --help"
expect 0 "" -- "$TALLY" help merge
cp .out help
"$TALLY" merge --help | cmp -s - help || fail "tally help merge is not tally merge --help"
mistake 2 'no word nonsense; .tally help' help nonsense
mistake 1 'do you mean `tally merge`' mege r.json

# Two numbers, edges, weights.
mistake 2 '--range needs LO HI: two numbers, as in --range 0 1 or --range=0,1' n.txt --range 0
mistake 2 '--range=0,1,2: needs 2 values' --range 0,1,2 n.txt
mistake 2 '--range: 0:1 is not' --range 0:1 n.txt
mistake 2 'needs 2 values' --range=0..1 n.txt
mistake 1 '^tally: 2 is taken for a file' n.txt --range 0 1 2
mistake 2 '--edges 0,5,10' n.txt --edges '0 10'
mistake 2 '--edges 0,5,10' n.txt --edges '0; 10; 20'
mistake 2 'edge 3, 3, is not more' n.txt --edges 0,5,3
mistake 1 '--weights :w would be the column w' t.csv -c x -w w
mistake 1 "no column 'z'; there are: x, w" t.csv -c x -w :z

# Options and values of other programs.
mistake 2 'no option -r; do you mean --range, --rows' n.txt -r 0 1
mistake 2 'no option -x \(' n.txt -x
mistake 2 'do you mean --column' t.csv --columns x
mistake 2 'f4: is called f32 here; one of u8 .* f64, or NumPy.s name, such as float32, int16, <f4 and >u2' --dtype f4 n.txt
mistake 2 'f80: one of u8 ' --dtype f80 n.txt
mistake 2 '>f3: one of u8 ' --dtype '>f3' n.txt
mistake 2 'contradict' --dtype '>f4' --endian little n.txt
mistake 2 '--dtype text: one of u8' --dtype text n.txt
mistake 2 '--bins ten: a number or one of' n.txt --bins ten
mistake 2 'out.xlsx: spreadsheets read .csv' n.txt -o out.xlsx
mistake 2 'pictures are .png or .svg' n.txt -o out.pdf

# Files of another kind.
mistake 1 'r.json is a saved result: `tally show`' r.json
mistake 1 'r.json is a saved result' r.json -c x
mistake 3 'list.json is a saved result' list.json
mistake 1 'n.txt: not a saved result' show n.txt
mistake 1 'n.txt: not a saved result' merge r.json n.txt
mistake 1 "2 columns \(x, w\): choose one with --column" t.csv --bins 5
printf 'price\nabc\n1\n' >late.csv
mistake 1 "late.csv:2:1: expected a number, found 'abc'" late.csv -c price
printf 'n,price\na,"1,234"\n' >thousands.csv
mistake 1 "thousands.csv:2:3: .*'1,234': a comma between thousands" thousands.csv -c price
finish
