#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the build leaves in its files for an attacker: no address that is written after the start, no
# executable stack, no unchecked array on the stack, and no folder of the machine that built them.
set -euo pipefail

if [ -n "${SANITIZE:-}" ] || grep -q '^CMAKE_BUILD_TYPE:[A-Z]*=Debug' "$BUILDDIR/CMakeCache.txt"; then
    echo "skipped: a build to debug with is not hardened"
    exit 77
fi
if ! command -v readelf >/dev/null || ! readelf -h "$TALLY" >/dev/null 2>&1; then
    echo "skipped: no readelf, or no ELF files"
    exit 77
fi
failed=0
fail() {
    echo "$*" >&2
    failed=1
}

for file in "$TALLY" "$BUILDDIR"/libtally*.so; do
    [ -e "$file" ] || continue # a static library is in the command
    segments=$(readelf -lW "$file")
    dynamic=$(readelf -dW "$file")
    symbols=$(readelf --dyn-syms -W "$file")
    grep -q GNU_RELRO <<<"$segments" || fail "$file: no part of it becomes read-only (relro)"
    grep -qE 'GNU_STACK.* RW +0x' <<<"$segments" || fail "$file: its stack is executable"
    grep -qE 'FLAGS.*NOW' <<<"$dynamic" || fail "$file: functions are bound when first called"
    grep -q __stack_chk_fail <<<"$symbols" || fail "$file: no stack protector"
    if grep -q '@GLIBC_' <<<"$symbols"; then
        grep -qE '__snprintf_chk' <<<"$symbols" || fail "$file: no checked calls (_FORTIFY_SOURCE)"
    fi
    if grep -qE 'TALLY_HAVE_fcf_protection:INTERNAL=1' "$BUILDDIR/CMakeCache.txt" &&
        command -v objdump >/dev/null; then
        [ "$(objdump -d --section=.text "$file" | grep -c endbr)" -gt 40 ] || fail "$file: jumps may lead anywhere (cf-protection)"
    fi
    while read -r entry; do
        [ "${entry#\$ORIGIN}" != "$entry" ] || fail "$file: libraries are looked for in '$entry'"
    done < <(sed -nE 's/.*(RUNPATH|RPATH).*\[(.*)\]/\2/p' <<<"$dynamic" | tr ':' '\n')
    for folder in "$SRCDIR" "$BUILDDIR"; do
        ! grep -qaF "$folder" "$file" || fail "$file: names the folder $folder"
    done
done
readelf -hW "$TALLY" | grep -E 'Type: +DYN' | cat >/dev/null || fail "$TALLY: not position-independent"
exit $failed
