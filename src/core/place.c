/* SPDX-License-Identifier: Apache-2.0 */
#include "core/quantile.h"

#include <stdlib.h>
#include <string.h>

#include "core/order.h"

static const char *const method_names[] = {
    "linear",
    "lower",
    "higher",
    "nearest",
    "midpoint",
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "median_unbiased",
    "normal_unbiased",
};
enum { method_count = sizeof method_names / sizeof *method_names };

const char *tally_quantile_method_name(tally_quantile_method method)
{
    return (unsigned)method < method_count ? method_names[method] : NULL;
}

int tally_quantile_method_parse(const char *name)
{
    for (int i = 0; name && i < method_count; i++)
        if (!strcmp(name, method_names[i]))
            return i;
    return -1;
}

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

unsigned ty_ranks_distinct(uint64_t *ranks, unsigned count)
{
    unsigned kept = 0;
    qsort(ranks, count, sizeof *ranks, ascending);
    for (unsigned i = 0; i < count; i++)
        if (!kept || ranks[i] != ranks[kept - 1])
            ranks[kept++] = ranks[i];
    return kept;
}

int64_t ty_ranks_key(const uint64_t *ranks, const int64_t *keys, unsigned count, uint64_t rank)
{
    const uint64_t *at = bsearch(&rank, ranks, count, sizeof *ranks, ascending);
    return keys[at - ranks];
}

_Static_assert(TY_PLACE_NORMAL_UNBIASED == (int)TALLY_QUANTILE_NORMAL_UNBIASED &&
                   TY_PLACE_NEAREST == (int)TALLY_QUANTILE_NEAREST &&
                   TY_PLACE_CLOSEST == (int)TALLY_QUANTILE_CLOSEST_OBSERVATION,
               "place.h has tally_quantile_method's numbers");

unsigned ty_quantile_ranks(tally_quantile_method method, const double *q, uint32_t count,
                           uint64_t n, ty_place *places, uint64_t *ranks)
{
    for (uint32_t i = 0; i < count; i++) {
        places[i] = ty_place_find((uint32_t)method, q[i], n);
        ranks[2 * i] = places[i].low;
        ranks[2 * i + 1] = places[i].high;
    }
    return ty_ranks_distinct(ranks, 2 * count);
}

void ty_quantile_write(tally_dtype dtype, const ty_place *places, uint32_t count,
                       const uint64_t *ranks, unsigned found, const int64_t *keys, double *out)
{
    for (uint32_t i = 0; i < count; i++) {
        const ty_place *at = &places[i];
        const double low = ty_order_value(dtype, ty_ranks_key(ranks, keys, found, at->low));
        const double high = ty_order_value(dtype, ty_ranks_key(ranks, keys, found, at->high));
        out[i] = ty_place_mix(low, high, at->part);
    }
}
