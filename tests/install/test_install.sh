#!/usr/bin/env bash
# Installs into a fresh prefix, then is a user of it: pkg-config, find_package, the command, the man
# page, the completions. The library exports tally_* and nothing else.
set -euo pipefail

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
"$prefix/bin/tally" --version | grep -qF "$header" || fail "the command says another version"

# By pkg-config, also after the whole tree has moved; by C and by C++.
mv "$prefix" "$work/moved"
prefix=$work/moved
libdir=${libdir/#$work\/prefix/$prefix}
export PKG_CONFIG_PATH=$libdir/pkgconfig
static=
[ -e "$libdir/libtally.so" ] || static=--static
# shellcheck disable=SC2046
"$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror "$here/consumer.c" -o "$work/by_pkg_config" \
    $(pkg-config --cflags --libs $static tally) -Wl,-rpath,"$libdir"
said=$("$work/by_pkg_config")
[ "$said" = "tally $header" ] || fail "by pkg-config: $said"
"$cc" -x c++ -fsyntax-only -Wall -Wextra -I"$prefix/include" "$prefix/include/tally/tally.h" \
    2>"$work/c++" || grep -q "cc1plus" "$work/c++" || {
    cat "$work/c++"
    fail "the header is no C++"
}

# By find_package.
cmake -S "$here" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" \
    >"$work/log" 2>&1 && cmake --build "$work/consumer" >>"$work/log" 2>&1 || {
    cat "$work/log"
    fail "find_package(tally) does not build"
}
said=$("$work/consumer/consumer")
[ "$said" = "tally $header" ] || fail "by find_package: $said"

# Exported symbols, and the soname.
if [ -e "$libdir/libtally.so" ]; then
    others=$(nm -D --defined-only "$libdir/libtally.so" | awk '{print $3}' | grep -v '^tally_' || true)
    [ -z "$others" ] || fail "exported, but not tally_*: $others"
    # Every function of the header is there.
    for name in $(sed -nE 's/^TALLY_API .*[ *](tally_[a-z0-9_]+)\(.*/\1/p' \
        "$prefix/include/tally/tally.h"); do
        nm -D --defined-only "$libdir/libtally.so" | grep -qw "$name" ||
            fail "$name is in the header, but not in the library"
    done
    readelf -d "$libdir/libtally.so" | grep -q "SONAME.*libtally.so.${header%%.*}\]" ||
        fail "the soname lacks the major version"
fi

# The pages.
[ -s "$prefix/share/man/man1/tally.1" ] || fail "no man page"
if command -v man >/dev/null; then
    LC_ALL=C.UTF-8 man --warnings -l "$prefix/share/man/man1/tally.1" 2>"$work/warnings" \
        >"$work/page" </dev/null
    [ ! -s "$work/warnings" ] || fail "the man page: $(head -n 5 "$work/warnings")"
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
