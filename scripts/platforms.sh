#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Other machines, C libraries and compilers than the usual check has; each that is not installed is named and left out. The
# libraries and the command are built, every method on the processor is compared with the reference, and a table counted.
#
#     scripts/platforms.sh [aarch64|riscv64|bigendian|musl|windows|newest]…
#
#     aarch64, riscv64  cross-compiled, run by qemu
#     bigendian   refused when configured
#     musl        musl's C library, and C11 without GNU's extensions
#     windows     libtally.dll by MinGW-w64, run by wine
#     newest      the newest gcc and clang here, if they are newer than the usual ones
set -euo pipefail
cd "$(dirname "$0")/.."

# configured FOLDER ARGUMENT…: no optional packages, warnings are errors.
configured() {
    local folder=build/$1
    shift
    mkdir -p "$folder"
    cmake --preset bare -B "$folder" -DTALLY_TESTS=OFF -DTALLY_BENCH=OFF "$@" >"$folder/configure.log" 2>&1 || {
        cat "$folder/configure.log"
        return 1
    }
}

# tried FOLDER [EMULATOR…]
tried() {
    local folder=build/$1 run=("${@:2}")
    cmake --build "$folder" -j "${JOBS:-$(nproc)}" --target tally tally_io tally_command >"$folder/build.log" 2>&1 || {
        grep -E 'error|warning|undefined' "$folder/build.log" || tail -n 20 "$folder/build.log"
        return 1
    }
    run+=("$folder/tally")
    "${run[@]}" selftest --device cpu --seconds 5 || return 1
    # The README's histogram.
    "${run[@]}" data/flights.csv -c dep_delay --range -30 150 --bins 9 --format csv --no-header >"$folder/counts"
    cut -d, -f4 "$folder/counts" | paste -sd' ' | grep -q '^532 19755 2703 1199 708 469 328 213 138 353' || {
        cat "$folder/counts"
        return 1
    }
}

missing() {
    command -v "$1" >/dev/null && return 1
    echo "platforms: no $1 here: $2 is left out"
}

# unit_tests FOLDER EMULATOR…: all but those of a driver's compiler; the longest takes about a minute of processor time.
unit_tests() {
    local folder=build/$1 name names=() failed=0
    for name in tests/unit/test_*.c; do
        name=$(basename "$name" .c)
        [ "$name" = test_nvrtc ] || names+=("$name")
    done
    cmake -DTALLY_TESTS=ON "$folder" >"$folder/configure.log" 2>&1 &&
        cmake --build "$folder" -j "${JOBS:-$(nproc)}" --target "${names[@]/#/unit_}" >"$folder/build.log" 2>&1 || {
        grep -E 'error|warning|undefined' "$folder/build.log" || tail -n 20 "$folder/configure.log"
        return 1
    }
    printf '%s\n' "${names[@]}" | SRCDIR=$PWD BUILDDIR=$PWD/$folder TALLY_EMULATED=1 TALLY_KERNELS_FILE=none TALLY_CACHE_DIR=/dev/null \
        xargs -P "${JOBS:-$(nproc)}" -I{} bash -c 'log=$1/{}.log; shift
            timeout 900 "$@" "$BUILDDIR/tests/unit/{}" >"$log" 2>&1 && exit
            rc=$?; [ $rc = 77 ] && exit; echo "{} failed with $rc:"; tail -n 20 "$log"; exit 1' - "$folder" "${@:2}" || failed=1
    [ $failed = 0 ] && echo "${#names[@]} programs of unit tests passed"
    return $failed
}

# instructions HOW TYPE EMULATOR…: tenths of what a sample takes, from calls of two sizes.
instructions() {
    local n counts=()
    for n in 131072 147456; do # both make the samples of the larger
        counts+=("$("${@:3}" -singlestep -d exec,nochain -D /dev/stdout build/aarch64/count "$1" "$2" $n | grep -c '^Trace')")
    done
    echo $(((counts[1] - counts[0]) * 10 / 16384))
}

# vectors EMULATOR…: NEON's loops take no more instructions than a plain loop.
vectors() {
    local type ours plain
    aarch64-linux-gnu-gcc -std=c11 -O2 tests/platforms/count.c -Iinclude -Lbuild/aarch64 -ltally "-Wl,-rpath,$PWD/build/aarch64" -o build/aarch64/count || return 1
    for type in u8 u16 f32 f64; do
        ours=$(instructions tally $type "$@")
        plain=$(instructions plain $type "$@")
        echo "aarch64, $type in 256 bins: $((ours / 10)).$((ours % 10)) instructions a sample, a plain loop $((plain / 10)).$((plain % 10))"
        [ "$ours" -gt 0 ] && [ "$ours" -le "$plain" ] || return 1
    done
}

# crossed MACHINE: compiled for it, run by qemu.
crossed() {
    missing "$1-linux-gnu-gcc" "$1" && return
    missing "qemu-$1-static" "$1" && return
    local emulator=("qemu-$1-static" -L "/usr/$1-linux-gnu")
    configured "$1" -DCMAKE_SYSTEM_NAME=Linux "-DCMAKE_SYSTEM_PROCESSOR=$1" "-DCMAKE_C_COMPILER=$1-linux-gnu-gcc" &&
        tried "$1" "${emulator[@]}" || return 1
    [ "$1" != aarch64 ] || vectors "${emulator[@]}" || return 1
    unit_tests "$1" "${emulator[@]}"
}

try_aarch64() { crossed aarch64; }
try_riscv64() { crossed riscv64; }

try_bigendian() {
    missing s390x-linux-gnu-gcc bigendian && return
    rm -rf build/bigendian
    if configured bigendian -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=s390x -DCMAKE_C_COMPILER=s390x-linux-gnu-gcc >/dev/null; then
        echo "platforms: a big-endian machine was not refused"
        return 1
    fi
    grep 'this one is big-endian' build/bigendian/configure.log || {
        cat build/bigendian/configure.log
        return 1
    }
}

try_musl() {
    missing musl-gcc musl && return
    configured musl -DCMAKE_C_COMPILER=musl-gcc -DCMAKE_C_EXTENSIONS=OFF "-DCMAKE_C_FLAGS=-D_GNU_SOURCE= -pedantic-errors" && tried musl
}

# Programs of tests that need libtally alone. Not those of what is proved for devices (affine32, float32, lookup), of which there
# are none: MinGW's fma rounds wrongly.
windows_tests=(unit/{affine,bound,copy,dealing,pack,quantile,quantile_pieces,rules,slots,statistics,statistics_loops,stats,weighted,wide}
    differential/{large,methods,sources,sums})

# The library that counts, on the processor; the tests take it as a static one, which hides nothing.
try_windows() {
    missing x86_64-w64-mingw32-gcc windows && return
    missing wine windows && return
    local name shared helpers compiler=(x86_64-w64-mingw32-gcc -std=gnu11 -O1 -D__USE_MINGW_ANSI_STDIO=1 -Iinclude -static)
    local -x WINEPREFIX=$PWD/build/wine WINEDEBUG=-all
    wine wineboot >build/wine.log 2>&1 || return 1
    for shared in ON OFF; do
        configured windows-$shared -DCMAKE_SYSTEM_NAME=Windows -DCMAKE_SYSTEM_PROCESSOR=x86_64 -DCMAKE_C_COMPILER="${compiler[0]}" \
            -DTALLY_CLI=OFF -DBUILD_SHARED_LIBS=$shared || return 1
        cmake --build build/windows-$shared -j "${JOBS:-$(nproc)}" --target tally >build/windows-$shared/build.log 2>&1 || {
            grep -E 'error|warning|undefined' build/windows-$shared/build.log
            return 1
        }
    done
    "${compiler[@]}" tests/install/consumer.c build/windows-ON/libtally.dll -o build/windows-ON/consumer.exe &&
        wine build/windows-ON/consumer.exe || return 1
    helpers=(tests/unit/execute_help.c tests/common/answer.c common/random_case.c)
    for name in "${windows_tests[@]}"; do
        "${compiler[@]}" -Wno-format -I. -Isrc -Itests/common -Icommon "tests/${name%/*}/test_${name#*/}.c" "${helpers[@]}" \
            build/windows-OFF/libtally.a -lpthread -lssp -o build/windows-OFF/test.exe || return 1
        wine build/windows-OFF/test.exe >build/windows-OFF/test.log 2>&1 || {
            echo "$name failed:"
            tail -n 20 build/windows-OFF/test.log
            return 1
        }
    done
    echo "${#windows_tests[@]} programs of tests passed"
}

try_newest() {
    local name compiler
    for name in gcc clang; do
        compiler=$(compgen -c "$name-" | grep -E "^$name-[0-9]+\$" | sort -t- -k2 -n | tail -n 1)
        if [ -z "$compiler" ] || [ "$("$compiler" -dumpversion)" = "$("$name" -dumpversion)" ]; then
            echo "platforms: $name $($name -dumpversion), the usual one, is the newest here"
            continue
        fi
        configured "$compiler" "-DCMAKE_C_COMPILER=$compiler" && tried "$compiler" || return 1
    done
}

what=("$@")
[ $# -gt 0 ] || what=(bigendian aarch64 riscv64 musl windows newest)
failed=0
for one in "${what[@]}"; do
    printf -- '-- %s\n' "$one"
    (try_"$one") || {
        echo "platforms: $one failed"
        failed=1
    }
done
exit $failed
