#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One command on a machine with a GPU: builds, checks every kernel method against the reference, runs
# the memory and race checkers where they are, then times everything: each method (time), and Tally
# in turn with the peers that are there (peers). Results go to the folder named by OUT (or
# build/gpu-results); bench/tables.py and bench/plots.py show what is put into
# bench/results as NAME-gpu-DATE.jsonl.
#
#     bench/gpu.sh [build|check|sanitize|time|peers|partitioned|columns|images|weights|small|runtimes|host|all]
#
# LIMIT=SECONDS ends it: what did not fit is named, and the exit status is 3. BUILT=1: all is built already.
# PHOTO, CAMERA and TEXT are files of inputs instead of the bundled photographs and book. Peers: CUB and NPP where nvcc is, PyTorch and CuPy where PYTHON (python3) has them.
set -u
cd "$(dirname "$0")/.." || exit
what=${1:-all}
out=${OUT:-build/gpu-results}
build=${BUILD:-build/gpu}
seed=${SEED:-20261121}
mkdir -p "$out"
rm -f "$out/failed" "$out/cut"
export TALLY_CACHE_DIR=${TALLY_CACHE_DIR:-/tmp/tally-kernels}

# NVIDIA's OpenCL library is found through a file that names it; some images lack the file.
if command -v nvidia-smi >/dev/null && [ ! -e /etc/OpenCL/vendors/nvidia.icd ] && [ -w /etc ]; then
    mkdir -p /etc/OpenCL/vendors
    echo libnvidia-opencl.so.1 >/etc/OpenCL/vendors/nvidia.icd
fi

methods=$build/tests/differential/test_methods kernels=$build/tests/device/test_kernels
micro=$build/bench/micro_methods many=$build/bench/micro_bins
build_all() {
    cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release >"$out/configure.log" 2>&1 &&
        cmake --build "$build" -j"$(nproc)" --target tally_command prebuild differential_test_{methods,own,edges,many_bins} \
            differential_test_opencl_{keys,views,images} device_test_{host,kernels,layouts,listings,output,quantiles,streams,weights,weights_packed} \
            micro_methods micro_own micro_host micro_bins micro_views micro_small micro_weights micro_images gpu_bench >"$out/build.log" 2>&1 ||
        { tail -n 30 "$out/configure.log" "$out/build.log"; exit 1; }
}

# left [MOST]: seconds until LIMIT, at least one, no more than MOST.
left() {
    local most=${1:-86400} seconds=$((${LIMIT:-86400} - SECONDS))
    ((seconds < most)) || seconds=$most
    echo $((seconds > 0 ? seconds : 1))
}

# said NAME COMMAND…: runs it, its words to NAME.log; says how it ended. What LIMIT cuts off is named at the end.
said() {
    local name=$1 begin=$SECONDS
    shift
    if ((begin >= ${LIMIT:-86400})); then
        echo "$name" >>"$out/cut"
        return
    fi
    timeout "$(left)" "$@" >"$out/$name.log" 2>&1
    local status=$?
    case $status in
    0 | 77) ;;
    124) echo "$name" >>"$out/cut" ;;
    *) echo "$name" >>"$out/failed" ;;
    esac
    echo "$name: exit $status, $((SECONDS - begin)) s: $(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$out/$name.log" || tail -n 1 "$out/$name.log")"
}

# The same in the background, JOBS at once; `wait` waits for all.
start() {
    while (($(jobs -rp | wc -l) >= ${JOBS:-$(nproc)})); do wait -n; done
    said "$@" &
}

# Compiling takes most of this time: the random calls (CASES of them) go over several processes (SHARES). MANY is the
# one method that counts more than 2^32 samples, if not all do.
check() {
    local device one share shares=${SHARES:-8} cases=${CASES:-400} d=$build/tests/differential v=$build/tests/device
    local each=$(((cases + shares - 1) / shares))
    for device in ${DEVICES:-cuda opencl}; do
        for ((share = 0; share < shares; share++)); do
            start "methods-$device-$share" "$methods" $((seed + share * each)) $each $device
        done
        for one in $seed 5 9; do
            start "own-$device-$one" "$d/test_own" "$one" $device
        done
        start "edges-$device" "$d/test_edges" "$seed" $device
        start "keys-$device" "$d/test_opencl_keys" $device
        start "views-$device" "$d/test_opencl_views" "$seed" 100000 $device 8
        start "images-$device" "$d/test_opencl_images" "$seed" 8 $device views
        start "layouts-$device" "$v/test_layouts" $device "$seed"
        start "listings-$device" "$v/test_listings" $device "$seed"
        start "output-$device" "$v/test_output" $device
        start "streams-$device" "$v/test_streams" $device
        start "host-$device" "$v/test_host" $device "$seed"
        start "weights-$device" "$v/test_weights" $device
        start "weights-packed-$device" "$v/test_weights_packed" $device "$seed" 5
        start "tag-$device" "$kernels" $device tag "" "${TAG_RUNS:-10000}" "$seed"
    done
    start many-bins "$d/test_many_bins" "$seed"
    wait
    for device in ${DEVICES:-cuda opencl}; do
        said "many-$device" "$kernels" $device many "${MANY:-}"
    done
}

# One program under a checker: checked TOOL NAME COMMAND…; of PROGRAMS, if these are named.
checked() {
    [[ " ${PROGRAMS:-$2} " == *" $2 "* ]] || return 0
    start "$1-$2" compute-sanitizer --tool "$1" --error-exitcode 9 "${@:3}"
}

# Small inputs, for a checked kernel runs a thousand times slower. podlozhnyuk-256-tag's races are by
# design: it is checked for the rest, and its races are listed apart.
sanitize() {
    local d=$build/tests/differential v=$build/tests/device tool one
    command -v compute-sanitizer >/dev/null || { echo "skipped: no compute-sanitizer"; return; }
    for tool in ${TOOLS:-memcheck racecheck synccheck initcheck}; do
        checked $tool quantiles "$v/test_quantiles" cuda "$seed" 4
        checked $tool kernels "$kernels" cuda small "$([ $tool = racecheck ] && echo -podlozhnyuk-256-tag)"
        for one in $seed 5 9; do
            checked $tool own-$one "$d/test_own" "$one" cuda 4000
        done
        checked $tool edges "$d/test_edges" "$seed" cuda 600
        checked $tool images "$d/test_opencl_images" "$seed" 4 cuda views
        checked $tool layouts "$v/test_layouts" cuda "$seed"
        checked $tool weights-packed "$v/test_weights_packed" cuda "$seed" 1
        TALLY_OPENCL_LIBRARY=none checked $tool many-bins "$d/test_many_bins" "$seed" 1000
        [ $tool != memcheck ] || checked $tool output "$v/test_output" cuda   # no other kernels
        [ $tool != memcheck ] || checked $tool streams "$v/test_streams" cuda # nor here
    done
    wait
    [ -z "${TOOLS:-}" ] || return
    timeout "$(left 60)" compute-sanitizer --tool racecheck "$kernels" cuda small podlozhnyuk-256-tag >"$out/tag-races.log" 2>&1
    echo "podlozhnyuk-256-tag: $(grep -E 'RACECHECK SUMMARY' "$out/tag-races.log"); in: $(
        grep -oE '(Write|Read) Thread.* in [a-z_]+|at [a-z_]+.*tally.cu:[0-9]+' "$out/tag-races.log" |
            grep -oE 'at .*' | sort | uniq -c | tr '\n' ';')"
}

time_all() {
    for device in cuda opencl; do
        {
            "$micro" $device -s bytes -m "${MIB:-1024}" ${PHOTO:+-p "$PHOTO"} &&
                "$micro" $device -s floats -m "$((2 * ${MIB:-1024}))"
        } >"$out/methods-$device.jsonl" 2>"$out/methods-$device.txt" || echo "$what" >>"$out/failed"
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

# A process for sizes and one for each type, so that a peer that ends one does not end all.
peers() {
    local dtype commit parts=${PARTS:-abcd}
    [ -e "$build/peers/cub.so" ] || build_peers
    gunzip -c data/book.txt.gz >"$build/book.txt"
    commit=$(git rev-parse HEAD 2>/dev/null)
    export COMMIT=${COMMIT:-$commit}
    : >"$out/gpu.jsonl"
    for dtype in sizes ${DTYPES:-u8 u16 i32 f32 f64}; do
        set -- -d $dtype -o "${parts//c/}"
        [ $dtype != sizes ] || set -- -o c
        case $dtype$parts in sizes*c* | [!s]*[abd]*) ;; *) continue ;; esac
        if ((SECONDS >= ${LIMIT:-86400})); then
            echo "peers-$dtype" >>"$out/cut"
            continue
        fi
        "$build/bench/gpu_bench" "$@" ${LIMIT:+-l "$(left)"} -p "$build/peers" -y "${PYTHON:-python3} bench/peers/gpu_peers.py" \
            -i "${PHOTO:-data/photograph.png}" -c "${CAMERA:-data/camera.png}" -t "${TEXT:-$build/book.txt}" \
            -m "${MIB:-2048}" >>"$out/gpu.jsonl" 2>"$out/gpu-$dtype.txt"
        case $? in
        0 | 77) ;;
        3) sed -n 's/^no time was left for //p' "$out/gpu-$dtype.txt" >>"$out/cut" ;;
        *) echo "peers-$dtype" >>"$out/failed" ;;
        esac
        echo "$dtype, $SECONDS s: $(tail -n 3 "$out/gpu-$dtype.txt" | tr '\n' ';')"
    done
}

# partitioned by other settings than the standard ones, on every input: under a minute, counts compared. Then the
# steps one by one, where ncu may count.
partitioned() {
    local m=${MIB:-2048}
    "$many" cuda -m "$m" -r 5 -b 1048576 partitioned partitioned:threads=512 partitioned:partition=14,threads=512 >"$out/partitioned.jsonl" \
        2>"$out/partitioned.txt" || echo "$what" >>"$out/failed"
    "$many" cuda -m "$m" -r 3 -b 131072,262144,4194304,16777216 -i uniform,equal,ramp-32,power-8 partitioned \
        >>"$out/partitioned.jsonl" 2>>"$out/partitioned.txt" || echo "$what" >>"$out/failed"
    "$many" cuda -m $((2 * m)) -r 3 -j 2 -b 512,1024 -i uniform,equal,ramp-32,power-8 partitioned-columns \
        >>"$out/partitioned.jsonl" 2>>"$out/partitioned.txt" || echo "$what" >>"$out/failed"
    cat "$out/partitioned.txt"
    ! grep -q '"verified":false' "$out/partitioned.jsonl" || { echo "wrong counts"; echo "$what" >>"$out/failed"; }
    command -v ncu >/dev/null || { echo "skipped: the steps one by one: no ncu"; return; }
    local metrics=gpu__time_duration.sum,smsp__inst_executed.sum,sm__cycles_active.avg
    metrics+=,l1tex__data_pipe_lsu_wavefronts_mem_shared.sum,dram__bytes.sum
    metrics+=,smsp__issue_active.avg.pct_of_peak_sustained_active
    ncu --clock-control none -k 'regex:^(split|count)$' -s 1 -c 4 --metrics $metrics \
        "$many" cuda -m "$m" -r 1 -b 1048576 -i uniform partitioned >"$out/ncu.txt" 2>&1 # the first is atomic-global's
    grep -E '^ +[a-z]+ \(|__' "$out/ncu.txt" | tee -a "$out/ncu-partitioned.txt"
}

# Methods for packed columns beside `views`, counts compared: under a minute.
columns() {
    "$build/bench/micro_views" "${DEVICE:-cuda}" -b 1 -m "${MIB:-1024}" -r 9 >"$out/columns.jsonl" || echo "$what" >>"$out/failed"
    ! grep -q '"verified":false' "$out/columns.jsonl" || echo "$what" >>"$out/failed"
}

# What `auto` takes under CUDA and under OpenCL, on one device.
runtimes() {
    local device
    for device in cuda opencl; do
        timeout "$(left)" "$build/bench/micro_own" $device -m "${MIB:-2048}" -d 64 -r 9 -o auto -b 256,2048,8192 \
            -t u8,u16,i32,f32,f64 -i uniform,equal,skewed || echo "$what" >>"$out/failed"
    done >"$out/runtimes.jsonl" 2>"$out/runtimes.txt"
    cat "$out/runtimes.txt"
}

# Samples in the host's memory, and files, which are streamed: by the processor, by the device, and as `auto` decides.
host() {
    local file=/dev/shm/tally-host-file device words
    timeout "$(left)" "$build/bench/micro_host" -m "${MIB:-128}" >"$out/host.jsonl" || echo "$what" >>"$out/failed"
    head -c $((1 << 30)) </dev/zero | tr '\0' '\101' >$file
    for device in cpu cuda auto; do
        words=$("$build/tally" run $file --dtype f32 --bins 2048 --range 0 100 -d $device -v -f csv 2>&1 >/dev/null)
        echo "{\"file\":\"f32\",\"bins\":2048,\"on\":\"$device\",\"bytes\":$((1 << 30)),$(
            sed -nE 's/^tally: [0-9]+ elements in ([0-9.]+) s of counting.*/"seconds":\1,/p; s/^tally: ([0-9.]+) s in all/"in_all":\1/p' <<<"$words" | tr -d '\n')}"
    done >>"$out/host.jsonl"
    rm -f $file
    cat "$out/host.jsonl"
}

# Batches of images, counts compared.
images() {
    "$build/bench/micro_images" "${DEVICE:-cuda}" -r 9 >"$out/images.jsonl" || echo "$what" >>"$out/failed"
    ! grep -q '"verified":false' "$out/images.jsonl" || echo "$what" >>"$out/failed"
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
    } >"$out/weights.jsonl" 2>"$out/weights.txt" || echo "$what" >>"$out/failed"
    cat "$out/weights.txt"
    ! grep -q '"verified":false' "$out/weights.jsonl" || echo "$what" >>"$out/failed"
}

# Small calls one behind the other, beside CUB in turn: a few seconds.
small() {
    [ -e "$build/peers/cub.so" ] || build_peers
    local cub=()
    [ ! -e "$build/peers/cub.so" ] || cub=(-p "$build/peers/cub.so")
    "$build/bench/micro_small" "${DEVICE:-cuda}" "${cub[@]}" -k u8:256,f32:1024,f32:2048,f32:16384,f32:56000 auto \
        >"$out/small.jsonl" 2>"$out/small.txt" || echo "$what" >>"$out/failed"
    cat "$out/small.txt"
}

[ -n "${BUILT:-}" ] || build_all
case $what in
small) small ;;
columns) columns ;;
images) images ;;
runtimes) runtimes ;;
host) host ;;
weights) weights ;;
build) build_peers ;;
peers) peers ;;
check) check ;;
sanitize) sanitize ;;
time) time_all ;;
partitioned) partitioned ;;
all) check; sanitize; time_all; peers ;;
*) echo "usage: bench/gpu.sh [build|check|sanitize|time|peers|partitioned|columns|images|weights|small|runtimes|host|all]" >&2; exit 2 ;;
esac
! [ -e "$out/cut" ] || echo "no time was left for: $(tr '\n' ' ' <"$out/cut")"
! [ -e "$out/failed" ] || { echo "failed: $(tr '\n' ' ' <"$out/failed")"; exit 1; }
! [ -e "$out/cut" ] || exit 3
