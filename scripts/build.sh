#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Configures a preset of CMakePresets.json (once) and builds it, quietly: build/PRESET.
#
#     [TARGETS="TARGET…"] scripts/build.sh PRESET [CMAKE ARGUMENT…]
set -euo pipefail
cd "$(dirname "$0")/.."

preset=$1
shift
folder=build/$preset
jobs=${JOBS:-$(nproc)}
mkdir -p "$folder"
log=$folder/build.log

if [ ! -e "$folder/CMakeCache.txt" ] || [ $# -gt 0 ]; then
    if ! cmake --preset "$preset" "$@" >"$log" 2>&1; then
        cat "$log" >&2
        exit 1
    fi
    sed -n '/^-- Tally/,/^-- Conf/{/^-- Conf/d;s/^-- //p}' "$log"
fi
echo "building $folder with $jobs jobs"
# shellcheck disable=SC2086
if ! cmake --build "$folder" -j "$jobs" ${TARGETS:+--target $TARGETS} >"$log" 2>&1; then
    grep -vE '^(\[ *[0-9]+(%|/[0-9]+)\]|g?make|ninja:)' "$log" >&2 || true
    echo "the build of $folder failed; all of its output: $log" >&2
    exit 1
fi
grep -E 'warning:' "$log" || true
