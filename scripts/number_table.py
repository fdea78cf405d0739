#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes io/number_table.c: the powers of ten that ty_number_parse multiplies by.

    scripts/number_table.py > io/number_table.c
"""

FIRST, LAST = -342, 308


def entry(q):
    """10^q / 2^floor(log2 10^q) as a 128-bit fixed-point number in [2^127, 2^128)."""
    if q >= 0:
        power = 5**q
        size = power.bit_length()
        return power << (128 - size) if size <= 128 else power >> (size - 128)  # rounded down
    power = 5**-q
    value = -(-(1 << (power.bit_length() + 127)) // power)  # rounded up
    # number.c's bounds rest on these: normalised, and the low word is never zero when rounded up.
    assert 1 << 127 <= value < 1 << 128 and value & (2**64 - 1)
    return value


def main():
    print("/* SPDX-License-Identifier: Apache-2.0 */")
    print("/* Made by scripts/number_table.py; do not edit. */")
    print('#include "io/number.h"\n')
    print("/* clang-format off */")
    print("const uint64_t ty_number_powers[TY_NUMBER_POWER_LAST - TY_NUMBER_POWER_FIRST + 1][2] = {")
    cells = []
    for q in range(FIRST, LAST + 1):
        value = entry(q)
        cells.append("{0x%016x, 0x%016x}," % (value >> 64, value & (2**64 - 1)))
    for i in range(0, len(cells), 2):
        print("    " + " ".join(cells[i:i + 2]))
    print("};")
    print("/* clang-format on */")


main()
