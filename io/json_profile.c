/* SPDX-License-Identifier: Apache-2.0 */
/* The statistics of a profile's histogram in the saved form. */
#include "io/json_axes.h"

#include <inttypes.h>
#include <math.h>

#include "io/profile.h"

/* As many of each as there are cells. */
static tally_status check_cells(const ty_json *json, size_t at, const char *what, uint64_t cells)
{
    size_t found[TY_PROFILE_FIELDS];
    tally_status status = ty_json_need_members(json, at, what, ty_profile_fields, TY_PROFILE_FIELDS,
                                               TY_PROFILE_FIELDS, found);
    for (int f = 0; f < TY_PROFILE_FIELDS && !status; f++) {
        status = ty_json_need_array(json, found[f], ty_profile_fields[f]);
        const uint64_t count = status ? cells : ty_json_count(json, found[f]);
        if (count != cells)
            status = ty_json_error(json, found[f],
                                   "%s of %s has %" PRIu64 " numbers; %" PRIu64 " are needed",
                                   ty_profile_fields[f], what, count, cells);
    }
    return status;
}

tally_status ty_json_profile_check(const ty_json *json, size_t histogram, const size_t *found,
                                   uint64_t bins, tally_time *time)
{
    static const char *const units[] = {"day", "s", "ms", "us", "ns"};
    unsigned unit = 0;
    if (found[TY_JSON_STATISTICS] == TY_JSON_NONE || found[TY_JSON_FLOW_STATISTICS] == TY_JSON_NONE)
        return ty_json_error(json, histogram,
                             "a profile's histogram has statistics and flow_statistics");
    tally_status status = check_cells(json, found[TY_JSON_STATISTICS], "statistics", bins);
    if (!status)
        status = check_cells(json, found[TY_JSON_FLOW_STATISTICS], "flow_statistics", 4);
    if (status || !time || found[TY_JSON_TIME] == TY_JSON_NONE)
        return status;
    status = ty_json_need_choice(json, found[TY_JSON_TIME], "time", units, 5, &unit);
    *time = (tally_time)(TALLY_TIME_DAY + unit);
    return status;
}

static tally_status read_value(const ty_json *json, size_t at, const char *what, double *value)
{
    if (ty_json_kind_at(json, at) == TY_JSON_NULL)
        *value = NAN;
    else if (ty_json_is(json, at, "inf"))
        *value = INFINITY;
    else if (ty_json_is(json, at, "-inf"))
        *value = -INFINITY;
    else if (!ty_json_double(json, at, value))
        return ty_json_error(
            json, at, "%s must be numbers that float64 holds, \"inf\", \"-inf\" or null", what);
    return TALLY_OK;
}

/* Where there is no value there is no mean: merging takes it for granted. */
static tally_status check_value(const ty_json *json, size_t at, int f, uint64_t count, double value)
{
    const int is_none = f == 0 ? value == 0 : isnan(value);
    if (!count && !is_none)
        return ty_json_error(json, at, "%s of no value must be %s", ty_profile_fields[f],
                             f == 0 ? "0" : "null");
    if (f == 2 && value < 0)
        return ty_json_error(json, at, "m2 is a sum of squares, which is not below 0");
    return TALLY_OK;
}

tally_status ty_json_profile_read(const ty_json *json, const size_t *found, tally_result *result,
                                  uint64_t h)
{
    for (int flows = 0; flows < 2; flows++) {
        size_t fields[TY_PROFILE_FIELDS];
        const uint64_t *counts =
            (flows ? tally_profile_flows : tally_profile_bins)(result, h).count;
        tally_status status =
            ty_json_members(json, found[flows], ty_profile_fields, TY_PROFILE_FIELDS, fields);
        for (int f = 0; f < TY_PROFILE_FIELDS && !status; f++) {
            double *to = ty_profile_field(result, f, h, flows);
            uint64_t i = 0;
            for (size_t at = ty_json_first(json, fields[f]); at != TY_JSON_NONE && !status;
                 at = ty_json_next(json, at), i++) {
                status = read_value(json, at, ty_profile_fields[f], &to[i]);
                if (!status)
                    status = check_value(json, at, f, counts[i], to[i]);
            }
        }
        if (status)
            return status;
    }
    return TALLY_OK;
}
