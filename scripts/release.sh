#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a release publishes, tested, in build/tally-VERSION: the source, both wheels, the source distribution and Debian's packages
# of the commit that is checked out, and SHA256SUMS of them. Two runs with the same compilers and packages write the same sums.
# CONTRIBUTING.md says who signs them. Needs what scripts/setup.sh all installs, NVRTC and root.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -z "$(git status --porcelain)" ] || {
    echo "release: there are changes that are not committed" >&2
    exit 1
}
export CCACHE_DISABLE=1
version=$(sed -n 's/^version: //p' CITATION.cff)
folder=build/tally-$version
scripts/check.sh wheel debian
rm -rf "$folder"
mkdir -p "$folder"
git archive --prefix="tally-$version/" HEAD | gzip -n >"$folder/tally-$version.tar.gz"
cp build/python/wheel/*manylinux*.whl build/python/wheel-aarch64/*manylinux*.whl build/python/sdist/*.tar.gz build/debian/*.deb "$folder"
cd "$folder"
sha256sum -- * >SHA256SUMS
cat SHA256SUMS
