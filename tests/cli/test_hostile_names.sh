#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Names from files and the command line cannot drive a terminal, forge a line or become a formula.
. "$(dirname "$0")/lib.sh"
need python3

# hostile CODE PATTERN ARGUMENTS…: the command ends with CODE, PATTERN is in what it writes, which is
# kept for `harmless`.
hostile() {
    local want=$1 pattern=$2
    shift 2
    run "$TALLY" "$@"
    equal "$want" "$code" "exit code: $last"
    cat .out .err | grep -Eq -- "$pattern" || { fail "'$pattern' is not in what it writes: $last"; show; }
    cat .out .err >>.all
}
# harmless: what all of them wrote is UTF-8 whose only control character is the line's end, without
# characters that turn text round.
harmless() {
    checks=$((checks + 1))
    python3 - <<'PY' || fail "characters that drive a terminal"
import re, sys
text = open(".all", "rb").read().decode()
bad = re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]", text)
if bad:
    sys.exit(repr(text[max(bad.start() - 200, 0):bad.end() + 30]))
PY
}

evil=$(printf 'a\033[2J\033]0;x\a\302\233b\342\200\256c\377d')
line=$(printf 'x\ntally: verified: identical to the reference')
heading=$(printf 'h\033[31m\302\233\342\200\256i')
# A file that begins with control characters is no text, so they come late.
late() { yes '# a remark' | head -n 500; cat; }
printf '%s,w,k\n1,2,3\n2,3,4\n99,5,6\n,7,8\n' "$heading" | late >"$evil.csv"
cp "$evil.csv" "$line.csv"

# Tables, with -v, in every format that is text.
hostile 0 'a\\x1b\[2J.*\\u009bb\\u202ec.*d\.csv' "$evil.csv" -c 1 --range 0 4
hostile 0 'h\\x1b\[31m\\u009b\\u202ei' "$evil.csv" -c 1 --range 0 4
hostile 0 'csv: text' "$evil.csv" -c 1 -v
hostile 0 '^x\\ntally: verified' "$line.csv" -c 1
hostile 0 '\\\\?x1b|h\\x1b' "$evil.csv" -c 1 --format csv
hostile 0 'u001b.*u009b.*u202e' "$evil.csv" -c 1 --format json
hostile 0 'h\\x1b.*,w' "$evil.csv" -c 1,2 --width 60
hostile 0 'h\\x1b.*,w,k' "$evil.csv" -c 1,2,3
hostile 0 'DOCTYPE|<svg' "$evil.csv" -c 1 --format svg
# What it cannot read.
hostile 1 'no-\\x1b.*such' "$(printf 'no-\033-such')"
hostile 1 'no column' "$evil.csv" -c "$(printf 'q\033\nr')"
printf 'x\n1\n\033]0;evil\a\n' | late >value.csv
hostile 1 'value.csv:503:1: .*\\x1b\]0;evil\\x07' value.csv
hostile 1 'a\\x1b' "$evil.csv" -c 1 --weights "$evil.csv.w"
hostile 2 'no option --\\x1b' "--$(printf '\033[2J')"
hostile 2 'bins .*\\u202e' "$evil.csv" --bins "$(printf '\342\200\2565')"
hostile 2 'set' "$evil.csv" --method auto --set "$(printf '\033')"
hostile 2 'output|format|-o' plot "$evil.csv" -o "$(printf 'x\033.gif')"
hostile 1 'a\\x1b' equalize "$evil.csv" -o x.png
long=$(printf 'd\033%.0s' {1..100})
hostile 1 'd\\x1bd.*: ' "$long/$long/$long/$long/nothing"

# Saved results: their words come from whoever wrote them.
"$TALLY" "$evil.csv" -c 1 --range 0 4 -o good.json
python3 - <<'PY'
import json
result = json.load(open("good.json"))
evil = "\x1b[2J\x9b31m\u202e\n\x07"
for name, change in {"device": {"run": {"device": evil, "method": evil}}, "source": {"source": [evil, evil]}}.items():
    json.dump({**result, **change}, open(name + ".json", "w"))
result["histograms"][0]["name"] = evil
json.dump(result, open("name.json", "w"), ensure_ascii=False)
json.dump({**result, "schema": evil}, open("schema.json", "w"), ensure_ascii=False)
PY
for format in table csv json; do
    for file in device source name; do
        hostile 0 '(x|u00)1b\[2J|lo,hi' show $file.json --format $format -v
    done
done
"$TALLY" show name.json --format json >again.json
python3 -c '
import json
a, b = (json.load(open(f))["histograms"][0]["name"] for f in ("name.json", "again.json"))
assert a == b, (a, b)' || fail "a name is not what it was after it was saved again"
hostile 1 'name.json: cannot be added to good.json.*\\x1b\[2J' merge good.json name.json
hostile 1 'schema' show schema.json
hostile 0 '<svg' plot good.json --format svg
harmless

# CSV: a name is no formula, and a row is one line; numbers stay numbers.
for sign in = + - @ "'"; do
    printf '%s1+2,w\n1,2\n-2,3\n' "$sign" >formula.csv
    expect 0 "" -- "$TALLY" formula.csv -c 1 --range -3 3 --bins 2 --format csv
    equal "'${sign}1+2,-3,0,1" "$(sed -n 2p .out)" "a name that begins with $sign"
done
printf '"a,""b""\nc",w\n1,2\n' >quoted.csv
expect 0 "" -- "$TALLY" quoted.csv -c 1 --range 0 2 --bins 1 --format csv
equal '"a,""b""\nc",0,2,1' "$(sed -n 2p .out)" "a name with a comma, quotes and a line end"
equal 2 "$(wc -l <.out)" "lines of it"
printf 'a\n-1\n+2\n-2.5e3\n-1+1\n' >signs.csv
expect 0 "" -- "$TALLY" signs.csv -c a --categories --format csv
equal "'+2,'-1+1,-1,-2.5e3" "$(sed 1d .out | cut -d, -f2 | LC_ALL=C sort | paste -sd,)" "words that are numbers"
# What was written is a table that reads back.
"$TALLY" formula.csv -c 1 --range -3 3 --bins 2 --format csv >back.csv
expect 0 "" -- "$TALLY" back.csv -c lo -w :count --edges=-3,0,3 --format csv
equal "lo,-3,0,1 lo,0,3,1" "$(sed 1d .out | tr '\n' ' ' | sed 's/ $//')" "our own CSV, counted"
finish
