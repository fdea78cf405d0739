#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs into a fresh prefix, then is a user of it: pkg-config, find_package, the command, the man
# page, the completions. The libraries export what their headers declare and nothing else.
set -euo pipefail

# grep -q that reads to the end: what writes into a closed pipe would fail.
has() { grep "$@" | cat >/dev/null; }

if [ -n "${SANITIZE:-}" ]; then
    echo "skipped: a build with sanitizers is not installed"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
here=$SRCDIR/tests/install
cc=${CC:-cc}

fail() {
    echo "$*" >&2
    exit 1
}

cmake --install "$BUILDDIR" --prefix "$prefix" >"$work/log" 2>&1 || {
    cat "$work/log"
    exit 1
}
libdir=$(dirname "$(find "$prefix" -name 'libtally.*' | head -n 1)")
[ -d "$libdir" ] || fail "no library was installed"

# The version is said in three places.
header=$(printf '#include <tally/tally.h>\nTALLY_VERSION_MAJOR.TALLY_VERSION_MINOR.TALLY_VERSION_PATCH\n' |
    "$cc" -E -P -I"$prefix/include" - | tail -n 1 | tr -d ' ')
export PKG_CONFIG_PATH=$libdir/pkgconfig
[ "$(pkg-config --modversion tally)" = "$header" ] || fail "tally.pc and tally.h differ in version"
"$prefix/bin/tally" --version | has -F "$header" || fail "the command says another version"

# By pkg-config, also after the whole tree has moved; by C and by C++.
mv "$prefix" "$work/moved"
prefix=$work/moved
libdir=${libdir/#$work\/prefix/$prefix}
export PKG_CONFIG_PATH=$libdir/pkgconfig
static=
if [ -e "$libdir/libtally.so" ]; then
    # Nothing but our own files is needed: the .pc files of the image formats may be missing.
    export PKG_CONFIG_LIBDIR=$libdir/pkgconfig
else
    static=--static
fi
consumers=("tally consumer" "tally-io consumer_io")
for pair in "${consumers[@]}"; do
    # shellcheck disable=SC2046
    "$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror "$here/${pair#* }.c" -o "$work/by_pkg_config" \
        $(pkg-config --cflags --libs $static "${pair% *}") -Wl,-rpath,"$libdir"
    said=$("$work/by_pkg_config")
    [ "$said" = "tally $header" ] || fail "by pkg-config ${pair% *}: $said"
done
for file in "$prefix"/include/tally/*.h; do
    [ "${file##*/}" != mpi.h ] || continue # it includes MPI's
    "$cc" -x c++ -fsyntax-only -Wall -Wextra -I"$prefix/include" "$file" 2>"$work/c++" || has "cc1plus" "$work/c++" || {
        cat "$work/c++"
        fail "${file##*/} is no C++"
    }
done
# tally.hpp: both compilers and both standards; one of the programs counts.
for cxx in g++ clang++; do
    command -v "$cxx" >/dev/null || continue
    warnings="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"
    # shellcheck disable=SC2046,SC2086
    "$cxx" -std=c++17 $warnings "$here/consumer.cpp" -fsyntax-only $(pkg-config --cflags tally)
    # shellcheck disable=SC2046,SC2086
    "$cxx" -std=c++20 $warnings "$here/consumer.cpp" -o "$work/by_$cxx" \
        $(pkg-config --cflags --libs $static tally) -Wl,-rpath,"$libdir"
    said=$("$work/by_$cxx")
    [ "$said" = "tally $header" ] || fail "by $cxx: $said"
done
env -i "$prefix/bin/tally" --version >/dev/null || fail "the installed command does not start"

# By find_package.
unset PKG_CONFIG_LIBDIR
cmake -S "$here" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" \
    >"$work/log" 2>&1 && cmake --build "$work/consumer" >>"$work/log" 2>&1 || {
    cat "$work/log"
    fail "find_package(tally) does not build"
}
[ ! -e "$work/consumer/consumer_cpp" ] || consumers+=("tally consumer_cpp")
for pair in "${consumers[@]}"; do
    said=$("$work/consumer/${pair#* }")
    [ "$said" = "tally $header" ] || fail "${pair#* } by find_package: $said"
done

# declared HEADER: the functions that it and what it includes declare.
declared() {
    "$cc" -E -P -I"$prefix/include" "$prefix/include/tally/$1" | tr '\n' ' ' |
        grep -oE 'visibility\("default"\)\)\)[^;(]*\(' | grep -oE 'tally_[a-z0-9_]+ *\($' | tr -d ' (' | sort
}

# Each library exports what its header declares and nothing else, and has its soname.
if [ -e "$libdir/libtally.so" ]; then
    declared tally.h >"$work/tally"
    declared io.h | comm -23 - "$work/tally" >"$work/tally-io"
    for name in tally tally-io; do
        file=$libdir/lib$name.so
        [ "$(wc -l <"$work/$name")" -gt 15 ] || fail "lib$name: hardly a function is declared"
        node=$(tr a-z- A-Z_ <<<"lib${name}_${header%.*}")
        if readelf -V "$file" | has 'Name: LIBTALLY'; then
            [ "$(nm -D --defined-only "$file" | grep -vc "@@$node\$")" = 1 ] || # the node itself
                fail "$file: symbols without the version $node: $(nm -D --defined-only "$file" | grep -v "@@$node\$")"
        elif [ "$(uname -s)" = Linux ]; then
            fail "$file: its symbols have no versions"
        fi
        nm -D --defined-only "$file" | awk '$2 != "A" {sub(/@.*/, "", $3); print $3}' | sort | diff "$work/$name" - ||
            fail "$file: declared (<) and exported (>) differ"
        readelf -d "$file" | has "SONAME.*lib$name.so.${header%%.*}\]" ||
            fail "the soname of lib$name lacks the major version"
    done
    # libtally needs the C library's parts and the loader.
    others=$(ldd "$libdir/libtally.so" | awk '{print $1}' |
        grep -vE '^(linux-vdso|lib(c|m|pthread|dl)\.|(/.*/)?ld-)' || true)
    [ -z "$others" ] || fail "libtally needs $others"
fi

# The pages.
man=$prefix/share/man/man1
[ -s "$man/tally.1" ] || fail "no man page"
for word in $(sed -nE 's/^\.BR tally\\-([a-z]+) \(1\).*/\1/p' "$man/tally.1"); do
    [ -s "$man/tally-$word.1" ] || fail "no page tally-$word"
done
if command -v man >/dev/null; then
    LC_ALL=C.UTF-8 man --warnings -l "$man"/*.1 2>"$work/warnings" >"$work/page" </dev/null
    [ ! -s "$work/warnings" ] || fail "the man pages: $(head -n 5 "$work/warnings")"
    grep -q -- --bins "$work/page" || fail "the man page lacks --bins"
fi
bash -n "$prefix/share/bash-completion/completions/tally"
if command -v zsh >/dev/null; then
    zsh -n "$prefix/share/zsh/site-functions/_tally"
fi
if command -v fish >/dev/null; then
    fish --no-execute "$prefix/share/fish/vendor_completions.d/tally.fish"
fi
echo "installed, found twice, $header"
