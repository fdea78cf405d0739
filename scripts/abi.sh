#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares the libraries' binary interface with the one that was stored in packaging/abi. What is added to it passes and is
# listed; what programs that are built already would notice fails. Needs libabigail (abidw, abidiff).
#
#     scripts/abi.sh           compare
#     scripts/abi.sh renew     store the interface as it is now: at a release, or after a change that is meant
#
# Only the files that define public functions are compiled, plainly: the interface is theirs, and that takes seconds.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v abidw >/dev/null; then
    echo "skipped: no abidw here (Debian: abigail-tools), so nobody has compared the binary interface" >&2
    exit 0
fi
folder=build/abi
rm -rf $folder
mkdir -p $folder packaging/abi
echo '#define TY_GPU_METHODS(M)' >$folder/gpu_methods.h # the build lists src/gpu/methods there

# No optional package.
mapfile -t without < <(grep -oE 'TALLY_HAVE_[A-Z0-9]+' io/libraries.c | sort -u | sed 's/.*/-D&=0/')

# library NAME FOLDER: what of libNAME.so defines public functions.
library() {
    grep -rlE --include='*.c' '^([a-z].*\b)?tally_[a-z0-9_]+\(' "$2" | sort |
        xargs "${CC:-gcc}" "${without[@]}" -std=gnu11 -O0 -g -fPIC -fvisibility=hidden -Iinclude -I. -Isrc -I$folder -shared \
            "-Wl,-soname,lib$1.so.0,--version-script=cmake/lib$1.map" -o "$folder/lib$1.so"
}

library tally src
library tally-io io
failed=0
for name in tally tally-io; do
    stored=packaging/abi/lib$name.abi
    abidw --headers-dir include --drop-private-types --exported-interfaces-only --no-corpus-path --no-comp-dir-path --no-show-locs \
        --no-elf-needed --no-parameter-names --type-id-style hash \
        --out-file $folder/lib$name.abi $folder/lib$name.so
    if [ "${1:-}" = renew ]; then
        cp $folder/lib$name.abi $stored
        echo "abi: stored $stored"
    elif abidiff --no-show-locs --suppressions packaging/abi/suppressions $stored $folder/lib$name.abi >$folder/lib$name.diff; then
        echo "abi: lib$name: as it was stored"
    elif [ $(($? & 8)) = 0 ] && abidiff --no-show-locs --suppressions packaging/abi/suppressions --no-added-syms $stored $folder/lib$name.abi >/dev/null; then
        cat $folder/lib$name.diff
        echo "abi: lib$name: only more than was stored"
    else
        cat $folder/lib$name.diff
        echo "abi: lib$name: programs that are built already would notice. Where it is meant: say so in CHANGELOG.md, name the symbols' version" \
            "anew (cmake/lib$name.map) and run scripts/abi.sh renew"
        failed=1
    fi
done
exit $failed
