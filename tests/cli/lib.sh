# SPDX-License-Identifier: Apache-2.0
# What the command's tests share. A test sources this, calls the functions below, and ends with
# `finish`. $TALLY is the command.
set -u
TALLY=${TALLY:-tally}
SRCDIR=${SRCDIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
HERE=$SRCDIR/tests/cli
export LC_ALL=C
unset NO_COLOR TALLY_DISABLE_CPU COLUMNS
failures=0
checks=0

skip() { echo "skipped: $*"; exit 77; }
command -v "$TALLY" >/dev/null 2>&1 || skip "no command at TALLY=$TALLY"
need() {
    for tool; do command -v "$tool" >/dev/null 2>&1 || skip "$tool is not installed"; done
}

WORK=$(mktemp -d) || exit 1
trap 'rm -rf "$WORK"' EXIT
cd "$WORK" || exit 1
# fontconfig and OpenCL's compiler (C++, which we are not) keep memory until the process ends.
printf 'leak:%s\n' libfontconfig libstdc++ libLLVM libpocl >"$WORK/.leaks"
export LSAN_OPTIONS="suppressions=$WORK/.leaks:print_suppressions=0"

fail() {
    failures=$((failures + 1))
    echo "FAILED: $*"
}

# run COMMAND…: sets code, and leaves the output in $WORK/.out and .err.
run() {
    "$@" >"$WORK/.out" 2>"$WORK/.err"
    code=$?
    last="$*"
}
show() { sed 's/^/    /' "$WORK/.out" "$WORK/.err" | head -20; }

# expect CODE [PATTERN] -- COMMAND…: the exit code, and an extended regular expression that standard
# error must match ("" for: nothing at all on standard error).
expect() {
    local want=$1 pattern= has=0
    shift
    if [ "$1" != -- ]; then pattern=$1 has=1; shift; fi
    shift
    checks=$((checks + 1))
    run "$@"
    if [ "$code" != "$want" ]; then
        fail "exit code $code instead of $want: $last"
        show
    elif [ $has = 1 ] && [ -z "$pattern" ] && [ -s "$WORK/.err" ]; then
        fail "words on standard error: $last"
        show
    elif [ -n "$pattern" ] && ! grep -Eq -- "$pattern" "$WORK/.err"; then
        fail "standard error does not match '$pattern': $last"
        show
    fi
}

# output PATTERN: standard output of the last command matches.
output() {
    checks=$((checks + 1))
    if ! grep -Eq -- "$1" "$WORK/.out"; then
        fail "standard output does not match '$1': $last"
        show
    fi
}

# equal WANT GOT WORDS
equal() {
    checks=$((checks + 1))
    [ "$1" = "$2" ] || fail "$3: expected '$1', got '$2'"
}

# counts ARGUMENTS…: the counts of all histograms in one line, from JSON.
counts() {
    "$TALLY" "$@" --format json | python3 -c '
import json, sys
for h in json.load(sys.stdin)["histograms"]:
    print(*h["counts"], "|", h["underflow"], h["overflow"], h["nan"], h["masked"], end="; ")'
}

finish() {
    if [ $failures -gt 0 ]; then
        echo "$failures of $checks checks failed"
        exit 1
    fi
    echo "$checks checks"
    exit 0
}
