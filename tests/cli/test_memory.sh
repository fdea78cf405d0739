#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Out of memory: every allocation that the command makes fails in turn (unit/test_alloc does so to
# the library's). Each time it says so, ends with exit code 1, has given back what it took and leaves
# no file behind.
. "$(dirname "$0")/lib.sh"
CC=${CC:-cc}
need "$CC" gzip
[ -n "${TALLY_LIBRARY:-}" ] || skip "the library's allocations are the command's own in a static build"
[ -z "${SANITIZE:-}" ] || skip "sanitizers do not take a preloaded library"
cat >scarce.c <<'C'
/* malloc, calloc and realloc fail once: at the FAIL-th call (from 0) that the program itself makes.
 * At the end REPORT gets the number of such calls and how many blocks were not freed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

enum { most = 4096 };
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void __libc_free(void *);
static void *kept[most];
static long calls, limit = -1;
static size_t low, high;

static int first(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
            low = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            high = low + info->dlpi_phdr[i].p_memsz;
        }
    return 1;
}

__attribute__((constructor)) static void start(void)
{
    dl_iterate_phdr(first, NULL);
    limit = getenv("FAIL") ? atol(getenv("FAIL")) : -1;
}

__attribute__((destructor)) static void stop(void)
{
    long left = 0;
    for (int i = 0; i < most; i++)
        left += kept[i] != NULL;
    FILE *f = getenv("REPORT") ? fopen(getenv("REPORT"), "w") : NULL;
    if (f) {
        fprintf(f, "%ld %ld\n", calls, left);
        fclose(f);
    }
}

static int own(void *caller)
{
    return (size_t)caller - low < high - low;
}

static int fails(void)
{
    if (__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED) != limit)
        return 0;
    errno = ENOMEM;
    return 1;
}

static void forget(void *p)
{
    for (int i = 0; p && i < most; i++)
        if (kept[i] == p)
            kept[i] = NULL;
}

static void *keep(void *p)
{
    for (int i = 0; p && i < most; i++)
        if (!kept[i]) {
            kept[i] = p;
            break;
        }
    return p;
}

void *malloc(size_t n)
{
    if (!own(__builtin_return_address(0)))
        return __libc_malloc(n);
    return fails() ? NULL : keep(__libc_malloc(n));
}

void *calloc(size_t n, size_t size)
{
    if (!own(__builtin_return_address(0)))
        return __libc_calloc(n, size);
    return fails() ? NULL : keep(__libc_calloc(n, size));
}

void *realloc(void *p, size_t n)
{
    if (!own(__builtin_return_address(0)))
        return __libc_realloc(p, n);
    if (fails())
        return NULL;
    forget(p);
    return keep(__libc_realloc(p, n));
}

void free(void *p)
{
    if (own(__builtin_return_address(0)))
        forget(p);
    __libc_free(p);
}
C
"$CC" -O1 -shared -fPIC -Wl,-z,defs scarce.c -o scarce.so -ldl 2>.err || { show; skip "no C library that this test can stand before"; }

seq 1 300 >n.txt
printf 'x,y,w\n1,2,3\n4,5,6\n' >t.csv
{ printf 'P6 4 3 255\n'; printf 'abcdefghijklmnopqrstuvwxyzabcdefghij'; } >image.ppm
{ printf 'P5 4 3 255\n'; printf 'abcabcabcabc'; } >mask.pgm
"$TALLY" n.txt --bins 5 -o one.json && gzip -k one.json || fail "making one.json"
"$TALLY" --each n.txt n.txt --bins 5 -o two.json || fail "making two.json"

starved=0
# starve WORDS…: the command, whose -o files are made.*, with one allocation less each time.
starve() {
    REPORT=count run env LD_PRELOAD="$WORK/scarce.so" "$TALLY" "$@"
    rm -rf made.*
    local calls left k
    read -r calls left <count
    checks=$((checks + 1))
    if [ "$code" != 0 ] || [ "$calls" = 0 ] || [ "$left" != 0 ]; then
        fail "with all memory: exit code $code, $calls allocations, $left not given back: $*"
        show
        return
    fi
    for ((k = 0; k < calls; k++)); do
        FAIL=$k REPORT=count expect 1 'memory' -- env LD_PRELOAD="$WORK/scarce.so" "$TALLY" "$@"
        read -r _ left <count
        equal 0 "$left" "blocks not given back, allocation $k of $calls: $*"
        compgen -G 'made.*' >/dev/null && { fail "a file was left, allocation $k of $calls: $*"; rm -rf made.*; }
        starved=$((starved + 1))
    done
}
starve n.txt --bins 4 --format json
starve -b 4 --range=0,9 n.txt n.txt -o made.csv
starve n.txt --edges 1,50,300 --verify
starve n.txt --bins fd --device cpu --method serial
starve n.txt --log --counter u16sat
starve n.txt --counter u16sat --device cpu --method saturating-serial --range 0 256 --bins 256 --dtype u8
starve n.txt --alphabet 0-9 --per-bin 2
starve --each n.txt n.txt --bins 4 -o made.json
starve --column x,y --bins 3,4 t.csv -o made.svg
starve --column x --weights :w --sum-squares t.csv
starve n.txt --weights n.txt --bins 4
starve image.ppm --channel R --channel B --rows 1:3 --mask mask.pgm
starve equalize image.ppm -o made.png
starve merge one.json one.json.gz two.json -o made.json
starve show two.json --index 2 --format csv
starve plot one.json -o made.png
starve selftest --device cpu --method serial --cases 3 --seed 7
echo "$starved allocations failed"

# A machine that says how little memory it has: what does not fit is refused before it is asked for.
cat >poor.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

FILE *fopen(const char *path, const char *mode)
{
    FILE *(*real)(const char *, const char *) = dlsym(RTLD_NEXT, "fopen");
    return real(strcmp(path, "/proc/meminfo") ? path : "meminfo", mode);
}
C
"$CC" -O1 -shared -fPIC poor.c -o poor.so -ldl 2>.err || { show; fail "poor.c"; }
echo 'MemAvailable: 100000 kB' >meminfo
poor() { expect 1 "out of memory: [0-9]+ bytes for $1, and 102400000 are available; ask for $2" -- env LD_PRELOAD="$WORK/poor.so" "$TALLY" "${@:3}"; }
poor 'a result' 'fewer bins' n.txt -b 20000000
poor counts 'fewer bins' n.txt --weights n.txt -b 12000000 --range 0 1 --method cpu-weights
poor 'bin edges' 'fewer bins' n.txt -b 13000000 --log
# Where pictures can be drawn.
if "$TALLY" n.txt -b 5 -o small.svg 2>/dev/null; then
    poor 'a picture' 'a smaller one, or for fewer bins' n.txt -b 5 -o made.png --width 16384 --height 16384
    seq 0.5 1 350 | awk 'BEGIN { print "x,y" } { for (y = 0.5; y < 350; y++) print $1 "," y }' >grid.csv
    edges=0,$(seq -s, 2 350)
    poor 'a picture' 'a smaller one, or for fewer bins' grid.csv -c x,y --edges "$edges" --edges "$edges" -o made.svg
    expect 0 -- env LD_PRELOAD="$WORK/poor.so" "$TALLY" grid.csv -c x,y --edges "$edges" --edges "$edges" -o grid.png
fi
compgen -G 'made.*' >/dev/null && fail "a file was left"
finish
