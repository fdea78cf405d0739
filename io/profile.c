/* SPDX-License-Identifier: Apache-2.0 */
#include "io/profile.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/text.h"
#include "io/dates.h"

const char *const ty_profile_fields[TY_PROFILE_FIELDS] = {"sum", "mean", "m2", "min", "max"};

static const char *const names[TY_STATISTICS] = {"count", "sum",      "mean", "error",
                                                 "sd",    "variance", "min",  "max"};

const char *ty_statistic_name(int i)
{
    return names[i];
}

int tally_statistic_parse(const char *name)
{
    for (int i = 0; name && i < TY_STATISTICS; i++)
        if (strcmp(name, names[i]) == 0)
            return 1 << i;
    return 0;
}

int ty_statistic_is_length(int i)
{
    return 1 << i == TALLY_STATISTIC_ERROR || 1 << i == TALLY_STATISTIC_SD;
}

/* ---- Cells ---- */

double *ty_profile_field(const tally_result *r, int f, uint64_t h, int flows)
{
    const uint64_t each = flows ? 4 : r->bins;
    return (flows ? r->flow_statistics : r->statistics) + ((uint64_t)f * r->histograms + h) * each;
}

/* Of all histograms from h on, from cell `first` of it. */
static tally_statistics arrays(const tally_result *r, uint64_t h, uint64_t first, int flows)
{
    tally_statistics s = TALLY_STATISTICS_INIT;
    double **const fields[TY_PROFILE_FIELDS] = {&s.sum, &s.mean, &s.m2, &s.min, &s.max};
    if (!r || !r->column || h >= r->histograms)
        return s;
    s.count = flows ? (uint64_t *)&r->flows[h] : (uint64_t *)r->counts + h * r->bins;
    s.count += first;
    for (int f = 0; f < TY_PROFILE_FIELDS; f++)
        *fields[f] = ty_profile_field(r, f, h, flows) + first;
    return s;
}

tally_statistics tally_profile_bins(const tally_result *profile, uint64_t h)
{
    return arrays(profile, h, 0, 0);
}

tally_statistics tally_profile_flows(const tally_result *profile, uint64_t h)
{
    return arrays(profile, h, 0, 1);
}

static ty_moments together(const tally_statistics *s, uint64_t n)
{
    ty_moments m = {0, 0, NAN, NAN, NAN, NAN};
    const tally_statistics into = {sizeof into, &m.count, NULL,   NULL,  &m.sum,
                                   &m.mean,     &m.m2,    &m.min, &m.max};
    for (uint64_t i = 0; i < n; i++) {
        const tally_statistics one = {sizeof one,  s->count + i, NULL,       NULL,      s->sum + i,
                                      s->mean + i, s->m2 + i,    s->min + i, s->max + i};
        const uint64_t count = ty_add_sticky(m.count, s->count[i]);
        tally_statistics_merge(&into, &one, 1, NULL);
        m.count = count;
    }
    return m;
}

ty_moments ty_profile_moments(const tally_result *r, uint64_t h, uint64_t first, uint64_t end)
{
    const tally_statistics s = arrays(r, h, first, 0);
    return together(&s, end - first);
}

ty_moments ty_profile_flow(const tally_result *r, uint64_t h, int flow)
{
    const tally_statistics s = arrays(r, h, (uint64_t)flow, 1);
    return together(&s, 1);
}

double ty_statistic_of(const ty_moments *m, int i, tally_time times)
{
    const double n = (double)m->count, variance = m->count > 1 ? m->m2 / (n - 1) : NAN;
    switch ((tally_statistic)(1 << i)) {
    case TALLY_STATISTIC_COUNT:
        return n;
    case TALLY_STATISTIC_SUM:
        return times ? NAN : m->sum;
    case TALLY_STATISTIC_MEAN:
        return m->mean;
    case TALLY_STATISTIC_ERROR:
        return sqrt(variance / n);
    case TALLY_STATISTIC_SD:
        return sqrt(variance);
    case TALLY_STATISTIC_VARIANCE:
        return times ? NAN : variance;
    case TALLY_STATISTIC_MIN:
        return m->min;
    case TALLY_STATISTIC_MAX:
        break;
    }
    return m->max;
}

/* ---- Making and adding ---- */

tally_status ty_profile_own(const ty_result_shape *shape, tally_result *r, tally_error *error)
{
    const uint64_t cells = r->histograms * r->bins;
    if (r->dimensions != 1 || r->kind != TALLY_RESULT_COUNTS || r->histograms > TALLY_MAX_VALUES)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "a profile has one axis and 1 to %d columns of values, not %u and %" PRIu64,
                        TALLY_MAX_VALUES, r->dimensions, r->histograms);
    r->statistics = ty_result_zeroes(cells, TY_PROFILE_FIELDS * sizeof(double));
    r->flow_statistics = ty_result_zeroes(r->histograms * 4, TY_PROFILE_FIELDS * sizeof(double));
    r->column = ty_text_copy(shape->column, strlen(shape->column));
    if (!r->statistics || !r->flow_statistics || !r->column)
        return ty_error_memory(error, "statistics of values",
                               cells * TY_PROFILE_FIELDS * sizeof(double));
    memcpy(r->value_times, shape->value_times, sizeof r->value_times);
    for (uint64_t i = cells; i < TY_PROFILE_FIELDS * cells; i++)
        r->statistics[i] = NAN;
    for (uint64_t i = 4 * r->histograms; i < TY_PROFILE_FIELDS * 4 * r->histograms; i++)
        r->flow_statistics[i] = NAN;
    return TALLY_OK;
}

tally_status tally_profile_create(const tally_plan *plan, const char *column, uint32_t values,
                                  const char *const *value_names, tally_result **profile,
                                  tally_error *error)
{
    if (!plan || !column || !profile)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s is NULL",
                        !plan     ? "plan"
                        : !column ? "column"
                                  : "profile");
    const tally_plan_options *options = tally_plan_options_get(plan);
    if (options->dimensions != 1 || options->weight_dtype || options->counter ||
        tally_plan_channels(plan) != 1)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "a profile is of a plan with one axis and channel, u64 counters and no "
                        "weights");
    const ty_result_shape shape = {.dimensions = 1,
                                   .axes = options->axes,
                                   .dtype = options->dtypes[0],
                                   .histograms = values,
                                   .names = value_names,
                                   .column = column};
    return ty_result_create(&shape, profile, error);
}

/* Whether counts of both fit into 64 bits. */
static int counts_fit(const uint64_t *a, const uint64_t *b, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (a[i] > UINT64_MAX - b[i])
            return 0;
    return 1;
}

tally_status tally_profile_add(tally_result *profile, const tally_statistics *bins,
                               const tally_statistics *flows, tally_error *error)
{
    if (!profile || !profile->column || !bins || !flows)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s",
                        !profile           ? "profile is NULL"
                        : !profile->column ? "the result is no profile"
                                           : "bins or flows is NULL");
    const tally_statistics own_bins = arrays(profile, 0, 0, 0),
                           own_flows = arrays(profile, 0, 0, 1);
    /* Of no cell: whether there are the same arrays. */
    tally_status status = tally_statistics_merge(&own_bins, bins, 0, error);
    if (!status)
        status = tally_statistics_merge(&own_flows, flows, 0, error);
    if (status)
        return status;
    const uint64_t cells = profile->histograms * profile->bins, outside = 4 * profile->histograms;
    if (!counts_fit(own_bins.count, bins->count, cells) ||
        !counts_fit(own_flows.count, flows->count, outside))
        return ty_error(error, TALLY_ERROR_DATA, "a number of values would pass 2^64-1");
    status = tally_statistics_merge(&own_bins, bins, cells, error);
    return status ? status : tally_statistics_merge(&own_flows, flows, outside, error);
}

const char *tally_profile_column(const tally_result *profile)
{
    return profile ? profile->column : NULL;
}

tally_time tally_profile_time(const tally_result *profile, uint64_t h)
{
    return profile && profile->column && h < profile->histograms ? profile->value_times[h]
                                                                 : TALLY_TIME_NONE;
}

tally_status tally_profile_time_set(tally_result *profile, uint64_t h, tally_time time,
                                    tally_error *error)
{
    if (!profile || !profile->column || h >= profile->histograms ||
        (unsigned)time > TALLY_TIME_NANOSECOND)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "histogram %" PRIu64 " of %s cannot have the unit of time %d; 0 to %d are "
                        "known",
                        h, profile && profile->column ? "the profile" : "what is no profile",
                        (int)time, TALLY_TIME_NANOSECOND);
    profile->value_times[h] = time;
    return TALLY_OK;
}

/* ---- Merging ---- */

tally_status ty_profile_check_same(const tally_result *into, const tally_result *from,
                                   tally_error *error)
{
    if (!into->column && !from->column)
        return TALLY_OK;
    if (!into->column || !from->column)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "the %s is a profile, statistics of values, and the other a histogram",
                        into->column ? "first" : "second");
    if (strcmp(into->column, from->column) != 0)
        return ty_error(
            error, TALLY_ERROR_ARGUMENT,
            "the first is in bins of \"%.*s\" and the second of \"%.*s\"; only profiles "
            "of the same columns add up",
            ty_text_fit(into->column, 64), into->column, ty_text_fit(from->column, 64),
            from->column);
    for (uint64_t h = 0; h < into->histograms && into->histograms == from->histograms; h++)
        if (into->value_times[h] != from->value_times[h])
            return ty_error(error, TALLY_ERROR_ARGUMENT,
                            "the values of histogram %" PRIu64
                            " are times in %s in the first and %s in the second",
                            h, into->value_times[h] ? ty_time_name(into->value_times[h]) : "none",
                            from->value_times[h] ? ty_time_name(from->value_times[h]) : "none");
    return TALLY_OK;
}

void ty_profile_merge(tally_result *into, const tally_result *from)
{
    const tally_statistics a = arrays(into, 0, 0, 0), b = arrays(from, 0, 0, 0);
    const tally_statistics a_flows = arrays(into, 0, 0, 1), b_flows = arrays(from, 0, 0, 1);
    tally_statistics_merge(&a, &b, into->histograms * into->bins, NULL);
    tally_statistics_merge(&a_flows, &b_flows, 4 * into->histograms, NULL);
}

void ty_profile_add_cell(tally_result *into, uint64_t to, const tally_result *from, uint64_t cell)
{
    const tally_statistics a = arrays(into, 0, to, 0), b = arrays(from, 0, cell, 0);
    tally_statistics_merge(&a, &b, 1, NULL);
}
