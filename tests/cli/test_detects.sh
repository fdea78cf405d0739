#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --verify and selftest find a wrong count: a library that is made to miscount stands in.
. "$(dirname "$0")/lib.sh"
CC=${CC:-cc}
need "$CC" python3
[ -n "${TALLY_LIBRARY:-}" ] || skip "the command does not use the shared library"
[ -z "${SANITIZE:-}" ] || skip "sanitizers do not take a preloaded library"
cat >wrong.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <tally/tally.h>
typedef tally_status (*execute)(const tally_plan *, const tally_view *, const tally_execute_options *,
                                const tally_output *, tally_error *);
__attribute__((visibility("default"))) tally_status
tally_execute(const tally_plan *plan, const tally_view *views, const tally_execute_options *options,
              const tally_output *output, tally_error *error)
{
    execute real = (execute)dlsym(RTLD_NEXT, "tally_execute");
    tally_status status = real(plan, views, options, output, error);
    if (!status && views->rows && views->columns && views->batches)
        ((unsigned char *)output->counts)[getenv("HIGH") ? 7 : 0] ^= 1;
    return status;
}
C
"$CC" -shared -fPIC -I"$SRCDIR/include" wrong.c -o wrong.so -ldl 2>.err || { show; fail "compiling the wrong library"; finish; }
seq 1 100 >n.txt
expect 0 "" -- env LD_PRELOAD="$WORK/wrong.so" "$TALLY" n.txt --bins 4
expect 1 '--verify: histogram "", bin 0: 24, but the reference has 25' -- \
    env LD_PRELOAD="$WORK/wrong.so" "$TALLY" n.txt --bins 4 --verify
equal "" "$(cat .out)" "standard output after --verify failed"
expect 1 '--verify: histogram' -- env HIGH=1 LD_PRELOAD="$WORK/wrong.so" "$TALLY" n.txt --bins 4 --verify --weights n.txt -o x.json
[ ! -e x.json ] || fail "a result that is wrong was written"
expect 1 'serial: case [0-9]+ of seed 3: (counts|sums)' -- \
    env LD_PRELOAD="$WORK/wrong.so" "$TALLY" selftest --device cpu --cases 12 --seed 3 --format json
python3 -c '
import json
rows = json.load(open(".out"))
assert all(r["failed"] > 0 for r in rows if r["cases"]), rows' || fail "selftest does not report the failures"
finish
