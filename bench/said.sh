# SPDX-License-Identifier: Apache-2.0
# What the scripts for a GPU machine share: their folders, OpenCL's driver made known, and steps that end in time.
out=${OUT:-build/gpu-results} build=${BUILD:-build/gpu} limit=${LIMIT:-150}
mkdir -p "$out"
export TALLY_CACHE_DIR=${TALLY_CACHE_DIR:-/tmp/tally-kernels} TALLY_KERNELS_FILE=none
if command -v nvidia-smi >/dev/null && [ ! -e /etc/OpenCL/vendors/nvidia.icd ] && [ -w /etc ]; then
    mkdir -p /etc/OpenCL/vendors
    echo libnvidia-opencl.so.1 >/etc/OpenCL/vendors/nvidia.icd
fi

# said MOST NAME COMMAND…: at most MOST seconds of what is left; its words go to NAME.log.
said() {
    local most=$1 name=$2 begin=$SECONDS left=$((limit - SECONDS))
    shift 2
    ((left > 1)) || left=1
    timeout $((most < left ? most : left)) "$@" >"$out/$name.log" 2>&1
    echo "$name: exit $?, $((SECONDS - begin)) s: $(tail -n 1 "$out/$name.log" | cut -c1-200)"
}
