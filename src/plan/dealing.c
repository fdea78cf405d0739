/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/dealing.h"

/* The speed of all devices together, and *fastest, that of the fastest one. A device whose speed is
 * not known yet counts as the mean of the others. */
static double all_speeds(const ty_dealing *d, double *fastest)
{
    double sum = 0;
    unsigned known = 0, there = 0;
    *fastest = 0;
    for (unsigned i = 0; i < d->devices; i++) {
        const double speed = d->gone[i] ? 0 : d->speeds[i];
        there += !d->gone[i];
        known += speed > 0;
        sum += speed;
        *fastest = speed > *fastest ? speed : *fastest;
    }
    return known ? sum * there / known : 0;
}

/* Half of the device's part of all that is left, by its speed; the smallest piece if that is not
 * known. */
static uint64_t share(const ty_dealing *d, uint64_t left, double speed, double all)
{
    const double n = speed > 0 ? (double)left * (speed / all) / 2 : 0;
    return n >= (double)d->most ? d->most : n <= (double)d->least ? d->least : (uint64_t)n;
}

uint64_t ty_deal_next(ty_dealing *d, unsigned device, uint64_t *begin)
{
    const uint64_t left = d->extent - d->given;
    const double speed = d->speeds[device];
    double fastest = 0;
    const double all = all_speeds(d, &fastest);
    uint64_t n = share(d, left, speed, all);
    n = n > left ? left : n;
    if (speed > 0 &&
        (double)n / speed > (double)left / fastest) /* the fastest would do all of it sooner */
        n = 0;
    d->gone[device] = !n;
    *begin = d->given;
    d->given += n;
    return n;
}

void ty_deal_done(ty_dealing *d, unsigned device, uint64_t steps, double seconds)
{
    d->speeds[device] = (double)steps / (seconds > 1e-9 ? seconds : 1e-9);
}
