#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Counts the bundled photograph and the bundled table, and draws both.
set -euo pipefail
cd "$(dirname "$0")/.."

tally=${TALLY:-build/release/tally}
mkdir -p demo

show() {
    printf '\n$ tally'
    printf ' %q' "$@"
    printf '\n'
    "$tally" "$@"
}

show data/photograph.png --bins 16
show data/photograph.png -o demo/photograph.png
show data/flights.csv --column dep_delay --range -30 150 --bins 18
show data/flights.csv --column dep_delay --range -30 150 --bins 180 -o demo/flights.png

printf '\nPictures: demo/photograph.png, demo/flights.png. Count a file of yours: %s FILE\n' "$tally"
