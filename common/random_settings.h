/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of a method drawn within the limits of its parameters, for the self-test and the tests.
 */
#ifndef RANDOM_SETTINGS_H
#define RANDOM_SETTINGS_H

#include <inttypes.h>
#include <stdio.h>
#include <tally/tally.h>

#include "splitmix.h"

enum { RANDOM_SETTINGS_MOST = 3 };

typedef struct random_settings {
    tally_setting list[RANDOM_SETTINGS_MOST]; /* their values point into this struct */
    char values[RANDOM_SETTINGS_MOST][24];
    size_t count;
} random_settings;

/* Either end, the standard value and its neighbours, a power of two, a multiple of 32, any value.
 * Numbers of things, which are those with limits below 65536, make at most 2^26 things of all
 * `bins`. */
static inline int64_t random_setting(uint64_t *state, const tally_parameter *p, uint64_t bins)
{
    const uint64_t bits = splitmix64(state), span = (uint64_t)(p->most - p->least) + 1;
    const int64_t things = (INT64_C(1) << 26) / (int64_t)(bins < 1 << 26 ? bins + 1 : 1 << 26);
    int64_t value = p->least + (int64_t)((bits >> 16) % span);
    switch (bits % 8) {
    case 0:
        value = p->least;
        break;
    case 1:
        value = p->most;
        break;
    case 2:
        value = p->standard + (int64_t)(bits >> 8) % 3 - 1;
        break;
    case 3:
    case 4:
        value = INT64_C(1) << (bits >> 8) % 32;
        break;
    case 5:
        value -= value % 32;
        break;
    default:
        break;
    }
    if (p->most < 65536 && value > things)
        value = things;
    return value < p->least || value > p->most ? p->standard : value;
}

/* None for every second seed, else one to three different parameters. `*to` must stay where it is
 * as long as the plan options that point at its list are used. */
static inline void random_settings_draw(random_settings *to, uint64_t seed,
                                        const tally_parameter *parameters, uint64_t bins)
{
    uint64_t state = ~seed, known = 0, wanted = 0;
    while (parameters[known].key)
        known++;
    if (splitmix64(&state) % 2)
        wanted = 1 + splitmix64(&state) % RANDOM_SETTINGS_MOST;
    to->count = 0;
    for (uint64_t i = 0; i < known && to->count < wanted; i++) {
        if (splitmix64(&state) % (known - i) >= wanted - to->count)
            continue;
        const int64_t value = random_setting(&state, &parameters[i], bins);
        snprintf(to->values[to->count], sizeof to->values[0], "%" PRId64, value);
        to->list[to->count] = (tally_setting){parameters[i].key, to->values[to->count]};
        to->count++;
    }
}

/* ", KEY=VALUE …" for messages, at the end of the text of `size` bytes. */
static inline void random_settings_say(const random_settings *settings, char *text, size_t size)
{
    size_t at = 0;
    while (at < size && text[at])
        at++;
    for (size_t i = 0; i < settings->count && at < size; i++) {
        const int n = snprintf(text + at, size - at, "%s%s=%s", i ? " " : ", ",
                               settings->list[i].key, settings->list[i].value);
        at += n > 0 ? (size_t)n : 0;
    }
}

#endif
