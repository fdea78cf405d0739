#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares the libraries' binary interface with the one that was stored in packaging/abi. What is added to it passes and is
# listed; what programs that are built already would notice fails. Needs libabigail (abidw, abidiff).
#
#     scripts/abi.sh           compare
#     scripts/abi.sh renew     store the interface as it is now: at a release, or after a change that is meant
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v abidw >/dev/null; then
    echo "skipped: no abidw here (Debian: abigail-tools)"
    exit 0
fi
folder=build/abi
mkdir -p $folder packaging/abi
cmake -S . -B $folder -DCMAKE_BUILD_TYPE=Debug -DTALLY_TESTS=OFF -DTALLY_BENCH=OFF -DTALLY_CLI=OFF -DTALLY_WITH_MPI=OFF >$folder/log 2>&1 &&
    cmake --build $folder -j "${JOBS:-$(nproc)}" --target tally tally_io >>$folder/log 2>&1 || {
    tail -n 20 $folder/log
    exit 1
}
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
