#!/usr/bin/env bash
# One command on a machine with a GPU: builds, checks every kernel method against the reference, runs
# the memory and race checkers where they are, then times everything: each method (time), and Tally
# beside the peers that are there (peers). Results go to the folder named by OUT (or
# build/gpu-results); bench/gpu_table.py makes tables of them.
#
#     bench/gpu.sh [check|sanitize|time|peers|routed|columns|images|weights|small|all]
#
# PHOTO=FILE and TEXT=FILE are inputs instead of the bundled photograph and book. Peers: CUB and NPP where nvcc is, PyTorch and CuPy where PYTHON (python3) has them.
set -u
cd "$(dirname "$0")/.."
what=${1:-all}
out=${OUT:-build/gpu-results}
build=${BUILD:-build/gpu}
mkdir -p "$out"
export TALLY_CACHE_DIR=${TALLY_CACHE_DIR:-/tmp/tally-kernels}
failed=0

# NVIDIA's OpenCL library is found through a file that names it; some images lack the file.
if command -v nvidia-smi >/dev/null && [ ! -e /etc/OpenCL/vendors/nvidia.icd ] && [ -w /etc ]; then
    mkdir -p /etc/OpenCL/vendors
    echo libnvidia-opencl.so.1 >/etc/OpenCL/vendors/nvidia.icd
fi

cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release >"$out/configure.log" 2>&1 &&
    cmake --build "$build" -j"$(nproc)" --target differential_test_methods \
        device_test_kernels device_test_weights_packed micro_methods micro_bins micro_views \
        micro_small micro_weights micro_images gpu_bench >"$out/build.log" 2>&1 ||
    { tail -n 30 "$out/configure.log" "$out/build.log"; exit 1; }
methods=$(find "$build/tests" -name '*test_methods' -type f -perm -u+x | head -n 1)
kernels=$(find "$build/tests" -name test_kernels -type f -perm -u+x | head -n 1)
micro=$(find "$build" -name micro_methods -type f -perm -u+x | head -n 1)
many=$(find "$build" -name micro_bins -type f -perm -u+x | head -n 1)

# said NAME COMMAND…: runs it, its words to NAME.log; says how it ended.
said() {
    local name=$1
    shift
    "$@" >"$out/$name.log" 2>&1
    status=$?
    [ $status -eq 0 ] || failed=1
    echo "$name: exit $status: $(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$out/$name.log" || tail -n 1 "$out/$name.log")"
}

check() {
    for device in cuda opencl; do
        said "check-$device" "$methods" "${SEED:-20261121}" "${CASES:-400}" $device
        said "tag-$device" "$kernels" $device tag "" "${TAG_RUNS:-10000}" "${SEED:-20261121}"
        said "many-$device" "$kernels" $device many
    done
}

# Small inputs, for a checked kernel runs a thousand times slower. podlozhnyuk-256-tag's races are by
# design: it is checked for the rest, and its races are listed apart.
sanitize() {
    command -v compute-sanitizer >/dev/null || { echo "skipped: no compute-sanitizer"; return; }
    for tool in memcheck synccheck initcheck; do
        said $tool compute-sanitizer --tool $tool --error-exitcode 9 "$kernels" cuda small
    done
    said racecheck compute-sanitizer --tool racecheck --error-exitcode 9 \
        "$kernels" cuda small -podlozhnyuk-256-tag
    compute-sanitizer --tool racecheck "$kernels" cuda small podlozhnyuk-256-tag >"$out/tag-races.log" 2>&1
    echo "podlozhnyuk-256-tag: $(grep -E 'RACECHECK SUMMARY' "$out/tag-races.log"); in: $(
        grep -oE '(Write|Read) Thread.* in [a-z_]+|at [a-z_]+.*tally.cu:[0-9]+' "$out/tag-races.log" |
            grep -oE 'at .*' | sort | uniq -c | tr '\n' ';')"
}

time_all() {
    for device in cuda opencl; do
        {
            "$micro" $device -s bytes -m "${MIB:-1024}" ${PHOTO:+-p "$PHOTO"} &&
                "$micro" $device -s floats -m "$((2 * ${MIB:-1024}))"
        } >"$out/methods-$device.jsonl" 2>"$out/methods-$device.txt" || failed=1
        cat "$out/methods-$device.txt"
    done
}

# CUB and NPP, compiled for the device that is here; each on its own, so that one may be missing.
build_peers() {
    mkdir -p "$build/peers"
    command -v nvcc >/dev/null || { echo "skipped: CUB and NPP: no nvcc"; return; }
    nvcc=(nvcc -O3 -std=c++17 -arch=native -shared -Xcompiler -fPIC -I bench)
    { "${nvcc[@]}" bench/peers/cub.cu -o "$build/peers/cub.so" >"$out/cub.log" 2>&1 ||
        echo "skipped: CUB: $(grep -m 1 error "$out/cub.log")"; } &
    { "${nvcc[@]}" bench/peers/npp.cu -o "$build/peers/npp.so" -lnppist -lnppc >"$out/npp.log" 2>&1 ||
        echo "skipped: NPP: $(grep -m 1 error "$out/npp.log")"; } &
    wait
}

peers() {
    [ -e "$build/peers/cub.so" ] || build_peers
    gunzip -c data/book.txt.gz >"$build/book.txt"
    commit=$(git rev-parse HEAD 2>/dev/null)
    COMMIT=${COMMIT:-$commit} "$build/bench/gpu_bench" -p "$build/peers" \
        -y "${PYTHON:-python3} bench/peers/gpu_peers.py" -i "${PHOTO:-data/photograph.png}" \
        -c data/camera.png -t "${TEXT:-$build/book.txt}" -m "${MIB:-2048}" -o "${PARTS:-abcd}" >"$out/gpu.jsonl" \
        2>"$out/gpu.txt" || failed=1
    tail -n 3 "$out/gpu.txt"
}

# routed by other settings than the standard ones, on every input: under a minute, counts compared. Then the
# steps one by one, where ncu may count.
routed() {
    local m=${MIB:-2048}
    "$many" cuda -m "$m" -r 5 -b 1048576 routed routed:threads=512 routed:slice=14,threads=512 >"$out/routed.jsonl" \
        2>"$out/routed.txt" || failed=1
    "$many" cuda -m "$m" -r 3 -b 131072,262144,4194304,16777216 -i uniform,equal,ramp-32,power-8 routed \
        >>"$out/routed.jsonl" 2>>"$out/routed.txt" || failed=1
    "$many" cuda -m $((2 * m)) -r 3 -j 2 -b 512,1024 -i uniform,equal,ramp-32,power-8 routed-columns \
        >>"$out/routed.jsonl" 2>>"$out/routed.txt" || failed=1
    cat "$out/routed.txt"
    ! grep -q '"verified":false' "$out/routed.jsonl" || { echo "wrong counts"; failed=1; }
    command -v ncu >/dev/null || { echo "skipped: the steps one by one: no ncu"; return; }
    local metrics=gpu__time_duration.sum,smsp__inst_executed.sum,sm__cycles_active.avg
    metrics+=,l1tex__data_pipe_lsu_wavefronts_mem_shared.sum,dram__bytes.sum
    metrics+=,smsp__issue_active.avg.pct_of_peak_sustained_active
    ncu --clock-control none -k 'regex:^(split|count)$' -s 1 -c 4 --metrics $metrics \
        "$many" cuda -m "$m" -r 1 -b 1048576 -i uniform routed >"$out/ncu.txt" 2>&1 # the first is atomic-global's
    grep -E '^ +[a-z]+ \(|__' "$out/ncu.txt" | tee -a "$out/ncu-routed.txt"
}

# Methods for packed columns beside `views`, counts compared: under a minute.
columns() {
    "$build/bench/micro_views" "${DEVICE:-cuda}" -b 1 -m "${MIB:-1024}" -r 9 >"$out/columns.jsonl" || failed=1
    ! grep -q '"verified":false' "$out/columns.jsonl" || failed=1
}

# Batches of images, counts compared.
images() {
    "$build/bench/micro_images" "${DEVICE:-cuda}" -r 9 >"$out/images.jsonl" || failed=1
    ! grep -q '"verified":false' "$out/images.jsonl" || failed=1
}

# weighted-packed beside weighted and a pass that reads as much, after its test on the device; then by other settings,
# for weights of both signs too. All ways must give the same bits.
weights() {
    local test device=${DEVICE:-cuda} p=weighted-packed
    test=$(find "$build/tests" -name test_weights_packed -type f -perm -u+x | head -n 1)
    said "weights-$device" "$test" "$device" "${SEED:-20261121}" 5
    {
        "$build/bench/micro_weights" "$device" -m "${MIB:-1024}" weighted $p &&
            "$build/bench/micro_weights" "$device" -m "${MIB:-1024}" -b 4096 -i uniform,equal,ninety -w signed $p \
                $p:ahead=2 $p:ahead=3 $p:threads=512,ahead=6
    } >"$out/weights.jsonl" 2>"$out/weights.txt" || failed=1
    cat "$out/weights.txt"
    ! grep -q '"verified":false' "$out/weights.jsonl" || failed=1
}

# Small calls one behind the other, beside CUB in turn: a few seconds.
small() {
    [ -e "$build/peers/cub.so" ] || build_peers
    local cub=()
    [ ! -e "$build/peers/cub.so" ] || cub=(-p "$build/peers/cub.so")
    "$build/bench/micro_small" "${DEVICE:-cuda}" "${cub[@]}" -k u8:256,f32:1024,f32:2048,f32:16384,f32:56000 auto \
        >"$out/small.jsonl" 2>"$out/small.txt" || failed=1
    cat "$out/small.txt"
}

case $what in
small) small ;;
columns) columns ;;
images) images ;;
weights) weights ;;
build) build_peers ;;
peers) peers ;;
check) check ;;
sanitize) sanitize ;;
time) time_all ;;
routed) routed ;;
all) check; sanitize; time_all; peers ;;
*) echo "usage: bench/gpu.sh [build|check|sanitize|time|peers|routed|columns|images|weights|small|all]" >&2; exit 2 ;;
esac
exit $failed
