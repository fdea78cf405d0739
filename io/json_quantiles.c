/* SPDX-License-Identifier: Apache-2.0 */
/* The quantiles in a histogram's "summary", which do not follow from its counts. */
#include "io/json_axes.h"

#include <math.h>

#include "core/alloc.h"
#include "core/error.h"

static tally_status read_one(const ty_json *json, size_t at, double *q, double *value)
{
    static const char *const keys[] = {"q", "value"};
    size_t found[2];
    tally_status status = ty_json_need_members(json, at, "a quantile", keys, 2, 2, found);
    if (!status)
        status = ty_json_need_double(json, found[0], "q", q);
    if (status)
        return status;
    if (ty_json_kind_at(json, found[1]) == TY_JSON_NULL)
        *value = NAN;
    else if (ty_json_is(json, found[1], "inf"))
        *value = INFINITY;
    else if (ty_json_is(json, found[1], "-inf"))
        *value = -INFINITY;
    else if (!ty_json_double(json, found[1], value))
        return ty_json_error(
            json, found[1], "value must be a number that float64 holds, \"inf\", \"-inf\" or null");
    return TALLY_OK;
}

/* The first histogram's: all others have the same. */
static tally_status begin(const ty_json *json, size_t list, uint64_t count, tally_result *result)
{
    const uint64_t cells = count * (result->histograms + 1);
    double *q = count && count <= UINT32_MAX ? ty_calloc((size_t)cells, sizeof *q) : NULL;
    if (!q)
        return ty_error_memory(json->error, "quantiles", cells * sizeof *q);
    double *values = q + count;
    size_t at = ty_json_first(json, list);
    tally_status status = TALLY_OK;
    for (uint64_t i = 0; i < count && !status; i++, at = ty_json_next(json, at))
        status = read_one(json, at, &q[i], &values[i]);
    tally_error why = {""};
    if (!status)
        status = tally_result_quantiles_set(result, (uint32_t)count, q, values, &why);
    if (status == TALLY_ERROR_MEMORY)
        ty_error(json->error, status, "%s", why.message);
    else if (status == TALLY_ERROR_ARGUMENT)
        status = ty_json_error(json, list, "%.200s", why.message);
    ty_free(q);
    return status;
}

tally_status ty_json_quantiles_read(const ty_json *json, size_t summary, tally_result *result,
                                    uint64_t h)
{
    static const char *const keys[] = {"quantiles"};
    size_t list = TY_JSON_NONE;
    tally_status status = TALLY_OK;
    if (summary != TY_JSON_NONE)
        status = ty_json_need_members(json, summary, "summary", keys, 1, 0, &list);
    if (!status && list != TY_JSON_NONE)
        status = ty_json_need_array(json, list, "quantiles");
    if (status)
        return status;
    const uint64_t count = list != TY_JSON_NONE ? ty_json_count(json, list) : 0;
    if (h == 0)
        return count ? begin(json, list, count, result) : TALLY_OK;
    size_t at = count ? ty_json_first(json, list) : TY_JSON_NONE;
    double *values = result->q ? result->q + (h + 1) * result->quantiles : NULL;
    int same = count == result->quantiles;
    for (uint64_t i = 0; i < count && same && !status; i++, at = ty_json_next(json, at)) {
        double q = 0;
        status = read_one(json, at, &q, &values[i]);
        same = status || q == result->q[i];
    }
    if (!status && !same)
        status = ty_json_error(json, summary != TY_JSON_NONE ? summary : json->root,
                               "all histograms have the same quantiles, or none has any");
    return status;
}
