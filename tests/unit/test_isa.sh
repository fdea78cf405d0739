#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Objects that are compiled for newer instructions (cmake/TallyIsa.cmake) define only functions and
# tables whose names say so. Any other name could be the linker's choice for the whole library.
set -u
command -v nm >/dev/null || { echo "skipped: nm is not installed"; exit 77; }
[ "$(uname -m)" = x86_64 ] || { echo "skipped: this processor has one set of loops"; exit 77; }
failed=0
for isa in avx2 avx512; do
    objects=
    for library in tally tally_io; do
        found=$(find "$BUILDDIR" -path "*/${library}_$isa.dir/*.o")
        [ -n "$found" ] || { echo "FAILED: no objects of ${library}_$isa in $BUILDDIR"; failed=1; }
        objects+=" $found"
    done
    for object in $objects; do
        names=$(nm --defined-only --extern-only --format=just-symbols "$object") || failed=1
        [ -n "$names" ] || { echo "FAILED: $object defines nothing"; failed=1; }
        others=$(grep -v "_$isa" <<<"$names") && { echo "FAILED: $object also defines" $others; failed=1; }
    done
done
exit $failed
