/* SPDX-License-Identifier: Apache-2.0 */
#include "core/random.h"

#include <stdio.h>
#include <time.h>

#include "core/system.h"

/* Without getrandom (Linux before 3.17) or before the system has gathered noise: the device file,
 * which never waits; without that the clock, for a guessable key costs speed and not counts. */
static uint32_t fallback(void)
{
    uint32_t value;
    FILE *file = fopen("/dev/urandom", "rb");
    size_t got = file ? fread(&value, sizeof value, 1, file) : 0;
    if (file)
        fclose(file);
    if (!got) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        value = (uint32_t)now.tv_nsec * 0x9e3779b9U;
    }
    return value;
}

/* The kernel is asked for so many words at a time: asked at every small call of a device, it takes
 * a tenth of the call. */
enum { pool_words = 64 };

uint32_t ty_random_u32(void)
{
    static _Thread_local uint32_t pool[pool_words];
    static _Thread_local unsigned left;
    if (!left) {
        if (!ty_system_random(pool, sizeof pool))
            return fallback();
        left = pool_words;
    }
    return pool[--left];
}
