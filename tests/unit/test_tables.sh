#!/usr/bin/env bash
# The tables and pictures of README.md and docs/ are what their scripts make of bench/results/.
set -u
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
failed=0
for script in "table.py" "gpu_table.py" "figures_table.py" "methods_table.py" "python.py table"; do
    # shellcheck disable=SC2086
    python3 "$SRCDIR/bench/"$script --check || { echo "FAILED: bench/$script makes another table"; failed=1; }
done
exit $failed
