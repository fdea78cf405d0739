#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench/mpi.sh [BUILD]: what adding up over the ranks of MPI takes (bench/mpi_reduce.c), by 1, 2 and 4 of
# them on this machine; JSON lines to standard output. BUILD: a folder with libtally.so (build/release).
set -euo pipefail
cd "$(dirname "$0")/.."
build=$PWD/${1:-build/release}
program=$(mktemp)
trap 'rm -f "$program"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
mpicc -std=c11 -O2 -Iinclude bench/mpi_reduce.c -o "$program" -L"$build" -ltally -lm -Wl,-rpath,"$build"
for ranks in 1 2 4; do
    mpirun -n $ranks "$program"
done
