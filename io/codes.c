/* SPDX-License-Identifier: Apache-2.0 */
#include "io/codes.h"

#include "core/alloc.h"

/* Up to so many values are counted in tables by turns: equal neighbours do not wait for each other.
 */
enum { TURNS = 4, TURNS_MOST = 4096, ROWS_LEAST = 8 };

/* From one table to the next: places of the same number do not have the same last bits, by which a
 * processor tells loads from stores. */
static size_t turn_of(const ty_codes *codes)
{
    return codes->room + 64 / sizeof *codes->counts;
}

int ty_codes_begin(ty_codes *codes, size_t count, uint64_t rows)
{
    codes->count = count;
    codes->turns = count <= TURNS_MOST ? TURNS : 1;
    for (codes->room = 1; codes->turns == TURNS && codes->room < count;)
        codes->room *= 2;
    if (codes->room < count)
        codes->room = count;
    if (count > rows / ROWS_LEAST)
        return 0;
    codes->counts = ty_calloc(codes->turns * turn_of(codes), sizeof *codes->counts);
    return codes->counts != NULL;
}

void ty_codes_add(ty_codes *codes, const uint32_t *numbers, size_t n)
{
    uint64_t *counts = codes->counts;
    const size_t turn = turn_of(codes);
    size_t i = 0;
    for (; codes->turns == TURNS && i + TURNS <= n; i += TURNS) {
        counts[numbers[i]]++;
        counts[numbers[i + 1] + turn]++;
        counts[numbers[i + 2] + 2 * turn]++;
        counts[numbers[i + 3] + 3 * turn]++;
    }
    for (; i < n; i++)
        counts[numbers[i]]++;
}

int ty_codes_end(ty_codes *codes)
{
    uint64_t strange = 0;
    for (size_t i = 0; i < codes->room; i++) {
        for (size_t t = 1; t < codes->turns; t++)
            codes->counts[i] += codes->counts[t * turn_of(codes) + i];
        strange |= i < codes->count ? 0 : codes->counts[i];
    }
    return !strange;
}
