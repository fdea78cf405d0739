#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The tables and pictures of README.md and docs/ are what their scripts make of bench/results/.
set -u
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
failed=0
for script in tables.py plots.py; do
    python3 "$SRCDIR/bench/$script" --check || { echo "FAILED: bench/$script makes something else"; failed=1; }
done
exit $failed
