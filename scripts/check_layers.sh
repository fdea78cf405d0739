#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Which folder may include which: the flow of docs/ARCHITECTURE.md, kept. Also that the environment
# is asked in one place, that messages are ASCII, that no file has outgrown 800 lines, that a release
# says the same everywhere, that C, Python and kernels keep their measures, and that nothing compiled
# is in git.
set -euo pipefail
cd "$(dirname "$0")/.."

# folder: what its files may include: files, or all of a folder. The loops over
# samples that core and gpu call, and threads, are declared in cpu/stats.h, cpu/copy.h and
# cpu/threads.h, and cpu/statistics.h has what a call of statistics is. io/ is a library of its own: of core it has what is compiled into both
# (cmake/TallyLibrary.cmake).
allowed() {
    case $1 in
    src/binning) echo "core binning" ;;
    src/core) echo "core binning plan/plan.h cpu/order.h cpu/stats.h cpu/threads.h" ;;
    src/plan) echo "core binning plan cpu gpu gpu_methods.h" ;;
    src/cpu) echo "core binning plan cpu" ;;
    src/gpu) echo "core binning plan gpu cpu/copy.h cpu/statistics.h cpu/threads.h kernel_texts.h" ;;
    src/gpu/methods*) echo "core binning plan gpu kernel_texts.h" ;;
    src/gpu/kernels*) echo "binning gpu/kernels" ;;
    io) echo "io core/alloc.h core/dtype.h core/dynlib.h core/env.h core/error.h core/memory.h core/text.h core/view.h cpu/features.h cpu/isa.h cpu/threads.h" ;;
    esac
}

failed=0
say() {
    echo "$1" >&2
    failed=1
}

included() {
    grep -rnE '^ *# *include +"' "$@" --include='*.c' --include='*.h' --include='*.cpp' --include='*.cu' || true
}

while IFS=: read -r file line include; do
    folder=$(dirname "$file")
    included=$(sed -E 's/.*"([^"]+)".*/\1/' <<<"$include")
    case $included in ../common/* | ../../common/*) continue ;; esac
    [[ $included != */* && -e $folder/$included ]] && continue # a neighbour
    good=0
    for word in $(allowed "$folder"); do
        [[ $included != "$word" && $included != "$word"/* ]] || good=1
    done
    [ "$good" = 1 ] || say "$file:$line: $folder may not include \"$included\" (docs/ARCHITECTURE.md)"
done < <(included src io)

# What counts knows nothing of results and files.
while IFS=: read -r file line _; do
    say "$file:$line: src may include <tally/tally.h>, not io.h"
done < <(grep -rnE '^ *# *include +<tally/io\.h>' src --include='*.c' --include='*.h' || true)

# The command, the binding, the databases' extensions, tally-bench and its peers see the public headers, their own files and common/ only; mpi the command's too.
for folder in cli mpi python/fast sql/group sql/duckdb sql/sqlite bench/src bench/peers; do
    [ -d "$folder" ] || continue
    while IFS=: read -r file line include; do
        included=$(sed -E 's/.*"([^"]+)".*/\1/' <<<"$include")
        case $folder/$included in
        cli/../common/* | mpi/../common/* | mpi/../cli/* | sql/*/../group/group.h | bench/*/../../common/* | bench/peers/peer.h | bench/peers/gpu_peer.h) continue ;;
        esac
        [[ $included != *..* && -e $folder/$included ]] ||
            say "$file:$line: $folder may include the public headers, its own files and common/ only"
    done < <(included "$folder")
done

# Nothing is taken from the command; the library's own tests and micro-benchmarks may reach into src/.
for folder in src common bench tests tools; do
    while IFS=: read -r file line include; do
        case $include in
        *cli/*) say "$file:$line: $folder may include nothing of cli/" ;;
        esac
    done < <(included "$folder")
done

# Who started a process with other rights decides nothing in it: the environment is asked in one
# place (src/core/env.h).
while IFS=: read -r file line _; do
    [ "$file" = src/core/env.c ] || say "$file:$line: the environment is asked by ty_env (core/env.h)"
done < <(grep -rnwE 'getenv|secure_getenv|environ' src io --include='*.c' --include='*.h' |
    grep -vE ':[0-9]+: *(/?\*|//)' || true)

# Messages and help are ASCII, whatever the locale; what a table or picture draws is written \u….
while IFS=: read -r file line _; do
    say "$file:$line: a text with more than ASCII in it"
done < <(LC_ALL=C.UTF-8 grep -rnP '^(?!\s*(/\*|\*|//)).*"[^"]*[^\x00-\x7F][^"]*"' cli io src common tools \
    --include='*.c' --include='*.h' | grep -vE '/\*.*"' || true)

while read -r lines file; do
    [ "$lines" -le 801 ] || say "$file: $((lines - 1)) lines; 800 is the most, split it"
done < <(git ls-files -co --exclude-standard -- '*.c' '*.h' '*.py' '*.sh' '*.cmake' |
    grep -vE '_table\.c$' | xargs -r wc -l | grep -v ' total$')

python3 scripts/check_kernels.py >&2 || failed=1
python3 scripts/check_lengths.py >&2 || failed=1
python3 scripts/check_compiled.py >&2 || failed=1
python3 scripts/check_release.py >&2 || failed=1

exit $failed
