#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The man page and the shells' completions, made from the option table.
. "$(dirname "$0")/lib.sh"

expect 0 "" -- "$TALLY" --print man
cp .out tally.1
words='run quantiles merge show plot equalize methods devices selftest tune help version'
# plain FILE WHAT: nothing but ASCII.
plain() {
    checks=$((checks + 1))
    LC_ALL=C grep -q '[^ -~]' "$1" && fail "$2 is not plain ASCII: $(LC_ALL=C grep -n '[^ -~]' "$1" | head -1)"
}
plain tally.1 'the man page'
for word in '' $words; do
    expect 0 "" -- "$TALLY" $word --help
    plain .out "the help of $word"
    [ -n "$word" ] || continue
    expect 0 "" -- "$TALLY" --print man $word
    cp .out tally-$word.1
    plain tally-$word.1 "the page of $word"
done
expect 2 'only `man` has a page' -- "$TALLY" --print bash merge
expect 2 'only `man` has a page' -- "$TALLY" --print man nothing
if command -v groff >/dev/null && groff -man -Tutf8 /dev/null >/dev/null 2>&1; then
    groff -man -Tutf8 -ww -rLL=100n tally.1 >page 2>warnings
    [ ! -s warnings ] || fail "groff warns: $(head -1 warnings)"
    sed 's/\x1b\[[0-9;]*m//g; s/.\x08//g' page >text
    for title in NAME SYNOPSIS DESCRIPTION WORDS OPTIONS EXAMPLES 'EXIT STATUS' ENVIRONMENT; do
        grep -q "^$title" text || fail "no section $title in the man page"
    done
    for word in $words; do
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

# Each word's options, of one letter too, are the same in its help, its page and every shell's completions.
# helped WORD, paged WORD, and so on: a word's options.
helped() { "$TALLY" "$1" --help | sed -nE 's/^ {2,6}(-., )?(--[a-z-]+)( .*)?$/\1\n\2/p' | tr -d ', '; }
paged() { sed 's/\\-/-/g; s/\\f[A-Z]//g' "tally-$1.1" | sed -nE 's/^(-., )?(--[a-z-]+)( .*)?$/\1\n\2/p' | tr -d ', '; }
bashed() { offered tally "$1" --; }
zshed() {
    zsh -fc '_arguments() { local spec; for spec; do [[ $spec != (\*|)-*\[* ]] || print -r -- ${${${spec#\*}%%\[*}%=}; done }
        words=(tally $1 ""); CURRENT=3; . ./_tally' zsh "$1"
}
fished() { fish -c "source tally.fish; complete -C 'tally $1 -'; complete -C 'tally $1 --'" | sed -E 's/[\t=].*//'; }
# same WHERE FUNCTION [PATTERN]: of the options that match.
same() {
    for word in $words; do
        checks=$((checks + 1))
        helped "$word" | grep -E -- "${3:-^-}" | sort -u >help-options
        [ "$(wc -l <help-options)" -ge 2 ] || fail "the help of $word names hardly an option"
        "$2" "$word" | grep -E -- "${3:-^-}" | sort -u | diff help-options - || fail "the options of $word: help (<) and $1 (>) differ"
    done
}
same 'its page' paged
same bash bashed ^--
! command -v zsh >/dev/null || same zsh zshed
! command -v fish >/dev/null || same fish fished
expect 2 'one of man bash zsh fish' -- "$TALLY" --print html
finish
