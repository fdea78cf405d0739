#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Files counted by the command, beside DuckDB and Polars, in about five minutes: JSON lines, after a first one that says
# of what machine and commit they are, in bench/results/ (or OUT).
#
#     bench/files.sh [NAME [ARGUMENT OF files.py…]]      NAME: files-DATE unless given
#
# Then `bench/tables.py` puts the newest into docs/PERFORMANCE.md. The peers are installed into
# build/files-venv from PyPI; one that cannot be is named, and the rest goes on. BUILD names a folder
# with a build (and its target micro_files) to use as it is.
set -euo pipefail
cd "$(dirname "$0")/.."

name=${1:-files-$(date -u +%F)}
[ $# -eq 0 ] || shift
folder=${OUT:-bench/results}
build=${BUILD:-build/release}
if [ -z "${BUILD:-}" ]; then
    scripts/build.sh release -DTALLY_TESTS=OFF
    TARGETS=micro_files scripts/build.sh release
fi
mkdir -p "$folder" build
[ -x build/files-venv/bin/python ] || python3 -m venv build/files-venv
for peer in duckdb polars; do
    build/files-venv/bin/python -c "import $peer" 2>/dev/null ||
        build/files-venv/bin/python -m pip install --quiet "$peer" || echo "files.sh: without $peer" >&2
done
part=$folder/.$name.part
trap 'rm -f "$part"' EXIT
build/files-venv/bin/python bench/files.py --build "$build" "$@" >"$part"
mv "$part" "$folder/$name.jsonl"
echo "$folder/$name.jsonl: $(($(wc -l <"$folder/$name.jsonl") - 1)) measurements"
