#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The man page and the shells' completions, made from the option table.
. "$(dirname "$0")/lib.sh"

expect 0 "" -- "$TALLY" --print man
cp .out tally.1
# plain FILE WHAT: nothing but ASCII.
plain() {
    checks=$((checks + 1))
    LC_ALL=C grep -q '[^ -~]' "$1" && fail "$2 is not plain ASCII: $(LC_ALL=C grep -n '[^ -~]' "$1" | head -1)"
}
plain tally.1 'the man page'
for word in '' run quantiles merge show plot equalize methods devices selftest tune help version; do
    expect 0 "" -- "$TALLY" $word --help
    plain .out "the help of $word"
    [ -n "$word" ] || continue
    expect 0 "" -- "$TALLY" --print man $word
    cp .out tally-$word.1
    plain tally-$word.1 "the page of $word"
done
"$TALLY" merge --help | grep -Eo -- ' --[a-z-]+' | tr -d ' ' | sort -u >options
sed 's/\\-/-/g; s/\\f[A-Z]//g' tally-merge.1 | grep -Eo -- '^(-., )?--[a-z-]+' | sed 's/.* //' | sort -u | diff options - ||
    fail "the options of merge (<) and those of its page (>) differ"
expect 2 'only `man` has a page' -- "$TALLY" --print bash merge
expect 2 'only `man` has a page' -- "$TALLY" --print man nothing
if command -v groff >/dev/null && groff -man -Tutf8 /dev/null >/dev/null 2>&1; then
    groff -man -Tutf8 -ww -rLL=100n tally.1 >page 2>warnings
    [ ! -s warnings ] || fail "groff warns: $(head -1 warnings)"
    sed 's/\x1b\[[0-9;]*m//g; s/.\x08//g' page >text
    for title in NAME SYNOPSIS DESCRIPTION WORDS OPTIONS EXAMPLES 'EXIT STATUS' ENVIRONMENT; do
        grep -q "^$title" text || fail "no section $title in the man page"
    done
    for word in run quantiles merge show plot equalize methods devices selftest tune help version; do
        grep -q "tally $word" text || fail "the man page does not name $word"
    done
    "$TALLY" --help >help
    for option in $(grep -Eo -- '--[a-z-]+' help | sort -u); do
        grep -q -- "$option" text || fail "the man page does not name $option"
    done
else
    echo "part skipped: groff is not installed"
fi
if command -v mandoc >/dev/null; then
    # The pages have no date, so that two builds are the same bytes.
    ! mandoc -T lint -W warning tally.1 tally-*.1 | grep -v 'missing date' || fail "mandoc warns"
fi

expect 0 "" -- "$TALLY" --print bash
cp .out tally.bash
bash -n tally.bash || fail "bash does not read its completions"
# complete WORDS…: what bash offers for the last word.
offered() {
    PATH=$(dirname "$TALLY"):$PATH bash -c '
        . ./tally.bash
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
        _tally
        printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}
has() { checks=$((checks + 1)); offered "${@:2}" | grep -qx -- "$1" || fail "bash does not offer $1 for: ${*:2}"; }
hasnt() { checks=$((checks + 1)); offered "${@:2}" | grep -qx -- "$1" && fail "bash offers $1 for: ${*:2}"; }
touch file.csv
has merge tally ''
has file.csv tally ''
has equalize tally eq
has --bins tally --b
has --bins tally file.csv --b
has --verify tally run --ver
has json tally --format ''
has json tally methods --format ''
hasnt csv tally methods --format ''
has --seed tally selftest --se
hasnt --seed tally run --se
has sturges tally --bins s
has f64 tally --dtype f
has serial tally --method s
has file.csv tally --mask ''
has _ tally --thousands ''
has "'" tally --thousands ''
hasnt --print tally --p

expect 0 "" -- "$TALLY" --print zsh
cp .out _tally
head -1 _tally | grep -q '^#compdef tally' || fail "zsh's first line"
if command -v zsh >/dev/null; then
    zsh -n _tally || fail "zsh does not read its completions"
    # What _arguments is given and how it takes a list of choices apart.
    zsh -fc '_arguments() { local spec choices
        for spec; do [[ $spec == --thousands=* ]] || continue
            eval "choices=( ${${spec##*\(}%\)} )"; print -l -- $choices; done }
        words=(tally x --thousands); CURRENT=3; . ./_tally' >thousands 2>&1
    grep -qx -- "'" thousands || fail "zsh does not offer an apostrophe: $(cat thousands)"
else
    echo "part skipped: zsh is not installed"
fi
expect 0 "" -- "$TALLY" --print fish
cp .out tally.fish
if command -v fish >/dev/null; then
    fish -n tally.fish || fail "fish does not read its completions"
    fishes() {
        checks=$((checks + 1))
        fish -c "source tally.fish; complete -C '$2'" | grep -q "^$1" || fail "fish does not offer $1 for: $2"
    }
    fishes --bins 'tally --b'
    fishes json 'tally methods --format '
    fishes --seed 'tally selftest --se'
    fishes selftest 'tally selft'
    fishes _ 'tally --thousands '
    fishes \' 'tally --thousands '
else
    echo "part skipped: fish is not installed"
fi
for option in bins range column mask verify format; do
    grep -q -- "--$option\b" _tally || fail "zsh does not know --$option"
    grep -q -- "-l $option\b" tally.fish || fail "fish does not know --$option"
done
expect 2 'one of man bash zsh fish' -- "$TALLY" --print html
finish
