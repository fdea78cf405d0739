#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How the command ends: full disks, closed pipes, interrupts; and what it says on the way.
. "$(dirname "$0")/lib.sh"
need truncate
seq 1 200000 >n.txt
"$TALLY" n.txt --bins 1000 -o saved.json || fail "making saved.json"

# A full disk: exit code 1 and a message, whatever is written.
if [ -w /dev/full ]; then
    full() { expect 1 "${FULL:-No space left}" -- bash -c "$1"; }
    full "'$TALLY' n.txt >/dev/full"
    full "'$TALLY' n.txt --bins 5000 --format json >/dev/full"
    full "'$TALLY' n.txt --format csv >/dev/full"
    full "'$TALLY' show saved.json >/dev/full"
    full "'$TALLY' merge saved.json --format json >/dev/full"
    full "'$TALLY' methods >/dev/full"
    full "'$TALLY' devices --format json >/dev/full"
    full "'$TALLY' --help >/dev/full"
    full "'$TALLY' --version >/dev/full"
    full "'$TALLY' --print man >/dev/full"
    full "'$TALLY' n.txt --bins 5000 -o /dev/full --format json"
    [ -c /dev/full ] || fail "/dev/full was replaced"
fi

# A file system that fills up: nothing is left behind, an older file stays.
if [ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=64k tmpfs small 2>/dev/null; then
    trap 'umount "$WORK/small"; rm -rf "$WORK"' EXIT
    expect 1 'small/x.json.*No space left' -- "$TALLY" n.txt --bins 20000 -o small/x.json
    equal "" "$(ls -A small)" "what a full disk leaves behind"
    echo old >small/x.json
    expect 1 'No space left' -- "$TALLY" n.txt --bins 20000 -o small/x.json
    equal old "$(cat small/x.json)" "the older file after a full disk"
    equal x.json "$(ls -A small)" "what a full disk leaves behind"
    expect 1 'No space left' -- "$TALLY" equalize "$SRCDIR/data/photograph.png" -o small/e.png
    equal x.json "$(ls -A small)" "what a full disk leaves behind"
    if head -c 20000000 /dev/zero | TMPDIR=$WORK/small "$TALLY" --dtype f64 - 2>.err >.out; then
        fail "a spool without room"
    fi
    grep -q 'No space left' .err || { fail "a spool without room: no message"; show; }
    equal x.json "$(ls -A small)" "what a full spool leaves behind"
else
    # Without the right to mount: a file size limit acts much like a full disk.
    expect 1 'small2.json' -- bash -c "ulimit -f 16; trap '' XFSZ; '$TALLY' n.txt --bins 20000 -o small2.json"
    equal "" "$(ls small2* 2>/dev/null)" "what a size limit leaves behind"
fi
expect 1 'nowhere/x.json.*No such file' -- "$TALLY" n.txt -o nowhere/x.json
expect 1 "cannot be written|directory" -- "$TALLY" n.txt -o .

# A reader that goes away is a quiet end.
quiet_end() {
    checks=$((checks + 1))
    bash -c "$1; exit \${PIPESTATUS[0]}" 2>.err >.out
    code=$?
    [ $code = 0 ] || fail "exit code $code after the reader went away: $1"
    [ ! -s .err ] || { fail "words after the reader went away: $1"; show; }
}
quiet_end "'$TALLY' n.txt --bins 100000 --format csv | head -1"
quiet_end "'$TALLY' n.txt --bins 100000 --format json | true"
quiet_end "'$TALLY' methods | true"
quiet_end "'$TALLY' --help | true"
quiet_end "'$TALLY' show saved.json --format csv | head -c 1"

# Interrupted: it ends by the signal, without a word and without files.
mkfifo pipe
for signal in INT TERM; do
    mkdir tmp
    # A background job of a script ignores interrupts; python3 does not hand that on.
    python3 - "$TALLY" "$signal" <<'PY' || fail "SIG$signal"
import os, signal, subprocess, sys, time
number = getattr(signal, "SIG" + sys.argv[2])
signal.signal(signal.SIGINT, signal.SIG_DFL)
env = dict(os.environ, TMPDIR=os.getcwd() + "/tmp")
child = subprocess.Popen([sys.argv[1], "--dtype", "f64", "-", "-o", "cut.json"], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
child.stdin.write(bytes(8 << 20))
child.stdin.flush()
time.sleep(0.3)
child.send_signal(number)
started = time.time()
out, err = child.communicate()
assert child.returncode == -number, f"returned {child.returncode}"
assert time.time() - started < 5, "it took too long"
assert out == b"" and err == b"", (out, err)
PY
    equal "" "$(ls tmp; ls cut.json* 2>/dev/null)" "what SIG$signal leaves behind"
    rm -rf tmp
done

# Progress: never by itself in a pipe, on a terminal by itself, never with -q.
truncate -s 512M big
expect 0 "" -- "$TALLY" --dtype u8 big
expect 0 'counting 100 %, .* GB/s' -- "$TALLY" --dtype u8 big --progress always
expect 0 'GB/s' -- bash -c "cat big | '$TALLY' --dtype u8 - --progress always"
expect 0 "" -- "$TALLY" --dtype u8 big --progress never
if command -v script >/dev/null; then
    export TERM=xterm
    # A source that pauses, so that there is something to see on the fastest machine.
    cat >slow <<'SLOW'
head -c 20M /dev/zero; sleep 1.5; head -c 20M /dev/zero
SLOW
    slow="bash slow | '$TALLY' --dtype u8 - >/dev/null"
    written() { script -qec "$slow $1" /dev/null </dev/null >"$2"; }
    written "" usual &
    written -q quiet &
    written "--progress never" never &
    wait
    equal 1 "$(grep -c GB/s usual)" "a progress line on a terminal"
    equal 0 "$(grep -c GB/s quiet)" "a progress line with -q"
    equal 0 "$(grep -c GB/s never)" "a progress line with --progress never"
    # The line is gone at the end: the last thing written is the erasing of the line.
    equal "$(printf '\r\033[K')" "$(tail -c 4 usual)" "the end of the progress line"
fi

# -v says how and how fast; -q says nothing but errors; data go to standard output alone.
expect 0 'on cpu: ' -- "$TALLY" -v --device cpu n.txt
expect 0 'elements in .* s of counting .*GB/s' -- "$TALLY" -v n.txt
expect 0 "" -- "$TALLY" -q n.txt
expect 1 'No such file' -- "$TALLY" -q missing

# -o: by its ending, and - for standard output.
for ending in json csv npy png svg txt; do
    expect 0 "" -- "$TALLY" n.txt -o made.$ending
    equal "" "$(cat .out)" "standard output with -o made.$ending"
done
magic() { head -c "$1" "$2" | od -An -c | tr -d ' \n'; }
equal '211PNG' "$(magic 4 made.png)" "made.png"
equal '<' "$(magic 1 made.svg)" "made.svg"
equal '223NUMPY' "$(magic 6 made.npy)" "made.npy"
equal '{"sche' "$(magic 6 made.json)" "made.json"
grep -q '^histogram,lo,hi,count' made.csv || fail "made.csv"
grep -q 'samples' made.txt || fail "made.txt is no table"
expect 0 "" -- "$TALLY" n.txt -o - --format csv
output '^histogram,lo,hi,count'
expect 0 "" -- "$TALLY" n.txt -o made.txt --format json
equal '{' "$(magic 1 made.txt)" "--format beats the ending"
expect 2 'pictures have 200' -- "$TALLY" n.txt -o x.png --width 100
expect 0 "" -- "$TALLY" n.txt -o made.svg --title 'A & <B>' --log-counts --width 400 --height 300
grep -q 'A &amp; &lt;B&gt;\|glyph' made.svg || fail "the title is not in made.svg"
finish
