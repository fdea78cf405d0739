#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds and tests in stages, one line for each at the end; fails if any stage does.
#
#     scripts/check.sh            the stages of `make check`
#     scripts/check.sh all        every stage
#     scripts/check.sh STAGE…     these; `scripts/check.sh list` names them
#
# JOBS says how many jobs at once (default: one a processor).
set -uo pipefail
cd "$(dirname "$0")/.."

export JOBS=${JOBS:-$(nproc)}
# Kernels for PoCL take most of the time, so they are compiled without optimisation, but for some
# tests (cmake/TallyTests.cmake), and once for all stages: PoCL keeps them. Tally's own cache, for
# which PoCL compiles each again, is off where it is not what a test is about.
export POCL_CACHE_DIR=$PWD/build/pocl POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable TALLY_CACHE_DIR=/dev/null
# What was compiled for one stage is taken for others: the wheel is made of what gcc's stage compiled. Ninja
# starts six hundred small jobs in two thirds of make's time.
if command -v ccache >/dev/null; then
    export CCACHE_DIR=${CCACHE_DIR:-$PWD/build/ccache} CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
! command -v ninja >/dev/null || export CMAKE_GENERATOR=Ninja
# python comes before fuzz, whose first tables its environments write.
usual=(format layers abi tidy gcc asan tsan python fuzz valgrind)
every=(format layers abi tidy analyzer gcc nvrtc same clang bare static platforms asan tsan python wheel debian site fuzz valgrind)

# ctest on a preset; more arguments choose the tests: one more than there are processors, for some wait (mpirun).
tests() {
    local preset=$1
    shift
    ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j $((JOBS + 1)) "$@"
}

sources() {
    git ls-files -co --exclude-standard -- '*.c' '*.h' '*.hpp' '*.cpp' '*.cl' | grep -v '_table\.c$' |
        while read -r file; do [ -e "$file" ] && echo "$file"; done
}

# The layout is .clang-format's.
stage_format() {
    sources | xargs clang-format --dry-run -Werror
}

# Who includes whom, and no file too long.
stage_layers() {
    scripts/check_layers.sh
}

# linted NAME CHECKS: clang-tidy over the library, the commands, tally-bench and the extension for SQLite, with
# those of .clang-tidy's checks.
linted() {
    cmake --preset clang -DTALLY_SQLITE=ON >"build/$1.log" 2>&1 || {
        cat "build/$1.log"
        return 1
    }
    sources | grep -E '^(src|io|cli|mpi|bench/src|sql/group|sql/sqlite)/.*\.c$' | grep -v 'windows\.c$' | xargs ls -S |
        xargs -n 1 -P "$JOBS" clang-tidy -quiet --checks="$2" -p build/clang 2>"build/$1.log"
    local result=$?
    [ $result = 0 ] || grep -E 'error:' "build/$1.log"
    return $result
}

# All but the analyzer, which takes two minutes of two processors; sanitizers, valgrind and failing
# allocations meet the same defects in the usual check.
stage_tidy() {
    linted tidy '-clang-analyzer-*'
}

stage_analyzer() {
    linted analyzer '-bugprone-*,-performance-*,-portability-*'
}

# gcc, warnings as errors: all tests, those on a processor with features peeled off among them. The small
# benchmarks have to compile.
stage_gcc() {
    TARGETS="all bench" scripts/build.sh gcc && tests gcc
}

# Every kernel for every architecture, type and setting, to machine code; what is this machine's before is not compiled again.
stage_nvrtc() {
    TALLY_CACHE_DIR=$PWD/build/nvrtc TARGETS=unit_test_nvrtc scripts/build.sh gcc &&
        TALLY_CACHE_DIR=$PWD/build/nvrtc build/gcc/tests/unit/test_nvrtc all
}

# The release, its wheel and its source distribution, built in folders whose names differ in length, at two times and with
# two umasks: the same bytes.
stage_same() {
    local work file name
    local -x CCACHE_DISABLE=1 # it would give both the same objects
    work=$(mktemp -d)
    python3 -m venv "$work/python" || return 1
    for name in one/tally another-folder/of-the-source; do
        mkdir -p "$work/$name/build/python"
        ln -s "$work/python" "$work/$name/build/python/build"
        git ls-files -co --exclude-standard -z | xargs -0 cp --parents -t "$work/$name" || return 1
        (
            [ $name = one/tally ] || umask 077
            cd "$work/$name" && scripts/build.sh release -DTALLY_TESTS=OFF -DTALLY_COMMIT=same && scripts/wheel.sh &&
                build/python/build/bin/python -m build --sdist --no-isolation --outdir build/python/sdist . >build/python/sdist.log 2>&1
        ) || return 1
    done
    for file in "$work"/one/tally/build/{release/tally,release/libtally*.so,python/wheel/*manylinux*.whl,python/sdist/*.tar.gz}; do
        cmp "$file" "$work/another-folder/of-the-source/${file#"$work"/one/tally/}" || return 1
        sha256sum "$file" | sed "s|$work/one/tally/||"
    done
    rm -rf "$work"
}

# The same by clang.
stage_clang() {
    scripts/build.sh clang && tests clang -LE 'features|install'
}

# None of the optional packages: what is left works, what is not there is refused by name.
stage_bare() {
    scripts/build.sh bare && tests bare -L 'unit|property|differential' || return 1
    local word said
    printf '1\n2\n' | gzip >build/bare/two.gz
    printf '\x89HDF\r\n\x1a\n' >build/bare/one.h5
    for word in "PNG data/photograph.png" "zlib build/bare/two.gz" "libhdf5 build/bare/one.h5" "cairo data/flights.csv -c day -o build/bare/x.svg"; do
        # shellcheck disable=SC2086
        if said=$(build/bare/tally ${word#* } 2>&1) || ! grep -qi "${word%% *}" <<<"$said"; then
            echo "without ${word%% *}: expected a refusal that names it, got: $said"
            return 1
        fi
    done
}

# A static library.
stage_static() {
    scripts/build.sh static && tests static -LE features
}

# Builds with a sanitizer, which no other stage takes anything from: ccache need not preprocess first.
sanitized() {
    CCACHE_DEPEND=1 scripts/build.sh "$@"
}

# Address and undefined-behaviour sanitizers. NVRTC compiles for minutes without a line of ours, plots and
# pages are Python's, and the sweeps of keys and of packed16's epochs count what other tests have counted; so do
# those that `make check-all` runs here besides: on OpenCL, and where numbers alone are compared.
stage_asan() {
    local logs=build/asan/Testing/Temporary left='nvrtc|keys|packed16|test_plots|test_tables|docs/test_pages'
    [ "${TALLY_CHECK:-}" = all ] ||
        left+='|differential/test_(opencl|opencl_images|opencl_views|own|many_bins|edges)$|test_(affine|float32|number_portable|integers)$'
    sanitized asan || return 1
    tests asan -LE 'features|install|fuzz' -E "$left" && return
    # The search for leaks can fall over a driver's threads that end at that moment (it found nothing
    # then, and its words are the only fault): if every failed test failed so, these run again.
    [ "$(grep -c '^Tracer caught signal' "$logs/LastTest.log")" = "$(wc -l <"$logs/LastTestsFailed.log")" ] || return 1
    echo "again: the search for leaks itself broke off in these"
    tests asan -R "^($(cut -d: -f2 "$logs/LastTestsFailed.log" | paste -sd'|'))\$"
}

# The thread sanitizer, where threads meet.
stage_tsan() {
    TARGETS="unit_test_threads differential_test_methods" sanitized tsan &&
        tests tsan -L 'unit|property|differential' -R 'thread|methods' -E opencl
}

# Every fuzz target, of what asan has compiled, for a second; FUZZ_SECONDS for longer.
stage_fuzz() {
    TARGETS=fuzzers sanitized asan "-DTALLY_FUZZ_SECONDS=${FUZZ_SECONDS:-1}" && tests asan -L fuzz
}

# The command under valgrind.
stage_valgrind() {
    scripts/build.sh gcc && scripts/valgrind.sh build/gcc/tally
}

# The wheel, in clean environments of two Pythons.
stage_python() {
    scripts/python.sh
}

# aarch64, musl, the newest compilers; a big-endian machine is refused.
stage_platforms() {
    scripts/platforms.sh
}

# The libraries' binary interface and the one that was stored.
stage_abi() {
    scripts/abi.sh
}

# The release's wheel, with CUDA kernels where NVRTC is here, and the source distribution, by pip alone in a clean root folder;
# and the wheel for aarch64.
stage_wheel() {
    if ldconfig -p | grep -q libnvrtc.so || ls /usr/local/cuda/lib*/libnvrtc.so* >/dev/null 2>&1; then
        export TALLY_PREBUILT=ptx
    fi
    scripts/wheel.sh && scripts/wheel_clean.sh && scripts/wheel_aarch64.sh
}

# The site: no warning, every link leads somewhere.
stage_site() {
    scripts/site.py
}

# Debian's packages, installed, tried and removed in a clean root folder.
stage_debian() {
    scripts/debian.sh
}

case "${1:-}" in
list)
    printf '%s\n' "${every[@]}"
    exit 0
    ;;
all)
    stages=("${every[@]}")
    export TALLY_CHECK=all # the Python tests run more of others' own
    ;;
'') stages=("${usual[@]}") ;;
*) stages=("$@") ;;
esac

mkdir -p build
report=()
failed=0
closing=
for stage in "${stages[@]}"; do
    if ! declare -F "stage_$stage" >/dev/null; then
        echo "check: no stage $stage; there are: ${every[*]}" >&2
        exit 2
    fi
    printf '\n== %s ==\n' "$stage"
    begin=$SECONDS
    log=build/check-$stage.log
    "stage_$stage" 2>&1 | tee "$log"
    if [ "${PIPESTATUS[0]}" = 0 ]; then
        verdict=ok
    else
        verdict=FAILED
        failed=1
    fi
    line=$(grep -E '^[0-9]+% tests passed' "$log" | tail -n 1)
    [ "$stage" = gcc ] || [ -z "$closing" ] && closing=$line
    report+=("$(printf '%-9s %-6s %4d s  %s' "$stage" "$verdict" $((SECONDS - begin)) "${line:-$(grep -m 1 '^skipped: ' "$log")}")")
done

printf '\n== summary, %d s ==\n' "$SECONDS"
printf '%s\n' "${report[@]}"
if [ "$failed" = 0 ]; then
    printf 'every stage passed\n%s\n' "$closing"
else
    echo 'a stage failed; build/check-STAGE.log has its output' >&2
fi
exit $failed
