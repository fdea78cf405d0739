#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests a wheel where nothing else is: in a root folder of its own that holds a Python, what Python itself
# needs, NumPy, and the wheel. Everything that the wheel needs besides must be in it.
#
#     scripts/wheel_bare.sh WHEEL PYTHON     PYTHON has NumPy and pip; the root is made in build/bare-root
set -euo pipefail
cd "$(dirname "$0")/.."
wheel=$1
python=$2

if [ "$(id -u)" = 0 ]; then
    enter=("$(command -v chroot)")
elif unshare --map-root-user true 2>/dev/null; then
    enter=("$(command -v unshare)" --map-root-user chroot)
else
    echo "skipped: neither root nor user namespaces, so no root folder of its own for the wheel"
    exit 0
fi

root=build/bare-root
rm -rf $root
mkdir -p $root/tmp $root/dev $root/site $root/lib64

mapfile -t where < <("$python" -c "import os, sys, sysconfig, numpy
print(os.path.realpath(sys.executable)); print(sysconfig.get_path('stdlib'))
print(os.path.dirname(os.path.dirname(numpy.__file__)))")
interpreter=${where[0]}
stdlib=${where[1]}
site=${where[2]}

# The interpreter, its modules (none of which draws or encrypts), NumPy, and the libraries that they need.
mkdir -p "$root$(dirname "$interpreter")" "$root$stdlib"
cp "$interpreter" "$root$interpreter"
tar -C "$stdlib" --exclude=site-packages --exclude=dist-packages --exclude=test --exclude=__pycache__ \
    --exclude=idlelib --exclude='config-*' --exclude='lib-dynload' -cf - . | tar -C "$root$stdlib" -xf -
mkdir -p "$root$stdlib/lib-dynload"
find "$stdlib/lib-dynload" -name '*.so' | grep -vE '/_(tkinter|ssl|hashlib|sqlite3|curses.*|dbm|gdbm|lzma|bz2|uuid|crypt|test.*)\.|readline|nis\.' |
    xargs cp -t "$root$stdlib/lib-dynload"
cp -r "$site"/numpy "$site"/numpy.libs $root/site/
{ find "$root$interpreter" "$root$stdlib/lib-dynload" $root/site \( -name '*.so*' -o -perm -1 -name 'python*' \) \
    -type f -print0 | xargs -0 ldd 2>/dev/null || true; } |
    sed -nE 's/^\s+(.* => )?(\/[^ ]+) \(.*/\2/p' | grep -v "^$PWD" | sort -u |
    while read -r library; do
        install -D "$library" "$root$library"
    done
"$python" -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --no-index \
    --target $root/site "$wheel"
# The loader asks here where the command lies; /proc itself may not be mounted everywhere.
mkdir -p $root/proc/self
ln -s /site/libtally/bin/tally $root/proc/self/exe
cp data/photograph.png $root/tmp/
printf 'x\n1\n2\n2\n' | gzip >$root/tmp/two.csv.gz

cat >$root/tmp/check.py <<'END'
import subprocess, sys
import numpy as np
import libtally as tally

a = np.random.default_rng(1).random(100_000).astype(np.float32)
assert (tally.histogram(a, 50)[0] == np.histogram(a, 50)[0]).all()
assert tally._library.PATH.startswith("/site/"), tally._library.PATH
assert tally._compiled.fast, "the compiled part does not load"
h = tally.Hist(tally.Regular(10, 0, 1)).fill(a)
assert h._repr_html_().count("<svg") == 1
h.save("/tmp/h.json")
assert tally.Hist.load("/tmp/h.json") == h

def command(*words):
    done = subprocess.run([sys.executable, "-m", "libtally", *words], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr

for words in (["show", "/tmp/h.json"], ["/tmp/photograph.png"], ["/tmp/two.csv.gz"], ["--version"]):
    code, said = command(*words)
    assert code == 0, (words, said)
code, said = command("/tmp/two.csv.gz", "-o", "/tmp/x.svg")
assert code and "cairo" in said.lower(), said
END
env -i PYTHONPATH=/site PYTHONDONTWRITEBYTECODE=1 "${enter[@]}" $root "$interpreter" /tmp/check.py
rm -rf $root
echo "python: the wheel counts, draws and reads where there is nothing but Python and NumPy"
