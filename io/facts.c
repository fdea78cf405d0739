/* SPDX-License-Identifier: Apache-2.0 */
#include "io/dates.h"
#include "io/facts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Where the samples of a bin are: from lo to hi. */
typedef struct reach {
    double lo, hi;
} reach;

static reach reach_of(const tally_result *r, int discrete, uint64_t bin)
{
    const tally_axis *axis = &r->axes[0];
    reach x = {tally_axis_edge(axis, bin), tally_axis_edge(axis, bin + 1)};
    if (discrete)
        x.hi = ty_axis_last_integer(axis, r->dtype, bin + 1);
    return x;
}

static double middle(reach x)
{
    return x.lo / 2 + x.hi / 2;
}

/* The sample of the middle rank, of all that are no NaN; NaN if it is in no bin. */
static void find_median(const tally_result *r, uint64_t h, int discrete, ty_facts *facts)
{
    const uint64_t count = facts->count;
    const uint64_t *counts = (const uint64_t *)r->counts + h * r->bins;
    const tally_flows *f = &r->flows[h];
    const uint64_t all = ty_add_sticky(ty_add_sticky(count, f->under), f->over);
    uint64_t rank = all / 2 + all % 2;
    facts->median = NAN;
    if (rank <= f->under || rank > f->under + count)
        return;
    rank -= f->under;
    uint64_t bin = 0;
    for (; rank > counts[bin]; bin++)
        rank -= counts[bin];
    const reach x = reach_of(r, discrete, bin);
    const double part = ((double)rank - 0.5) / (double)counts[bin];
    facts->median = x.lo * (1 - part) + x.hi * part;
    facts->medians[0] = x.lo;
    facts->medians[1] = x.hi;
    facts->is_median_wide = x.hi > x.lo && !(x.hi - x.lo <= facts->deviation / 2);
}

static void find_moments(const tally_result *r, uint64_t h, int discrete, ty_facts *facts)
{
    const uint64_t *counts = (const uint64_t *)r->counts + h * r->bins;
    const double count = (double)facts->count;
    double squares = 0;
    for (uint64_t i = 0; i < r->bins; i++) {
        const reach x = reach_of(r, discrete, i);
        const double share = (double)counts[i] / count;
        facts->mean += share > 0 ? middle(x) * share : 0;
        facts->means[0] += share > 0 ? x.lo * share : 0;
        facts->means[1] += share > 0 ? x.hi * share : 0;
    }
    facts->blur = facts->means[1] - facts->means[0];
    for (uint64_t i = 0; i < r->bins; i++) {
        const double apart = counts[i] ? middle(reach_of(r, discrete, i)) - facts->mean : 0;
        squares += apart * apart * (double)counts[i];
    }
    facts->deviation = facts->count > 1 ? sqrt(squares / (count - 1)) : NAN;
    facts->is_mean_wide = facts->blur > 0 && !(facts->blur <= facts->deviation);
}

int ty_facts_of(const tally_result *r, uint64_t h, ty_facts *facts)
{
    const tally_axis *axis = &r->axes[0];
    memset(facts, 0, sizeof *facts);
    if (r->dimensions != 1 || r->labels[0] || r->column || axis->kind == TALLY_AXIS_CATEGORY ||
        r->kind != TALLY_RESULT_COUNTS || ty_counter_saturates(r->counter) ||
        axis->under == TALLY_FLOW_CLAMP || axis->over == TALLY_FLOW_CLAMP)
        return 0;
    /* Bins of one integer each are for integers, though text has them as float64. */
    const int discrete = (axis->kind == TALLY_AXIS_INTEGER || !r->times[0]) &&
                         ty_axis_is_discrete(axis, r->dtype, 1);
    const int integers = r->dtype >= TALLY_U8 && r->dtype <= TALLY_I64;
    const uint64_t *counts = (const uint64_t *)r->counts + h * r->bins;
    facts->is_exact = discrete && integers;
    facts->least = NAN;
    facts->time = r->times[0];
    for (uint64_t i = 0; i < r->bins; i++) {
        if (!counts[i])
            continue;
        const reach x = reach_of(r, discrete, i);
        if (!facts->count && !r->flows[h].under)
            facts->least = x.lo;
        facts->most = r->flows[h].over ? NAN : x.hi;
        facts->is_exact &= x.lo == x.hi;
        facts->count = ty_add_sticky(facts->count, counts[i]);
    }
    if (!facts->count)
        return 0;
    find_moments(r, h, discrete, facts);
    facts->is_partly = r->flows[h].under || r->flows[h].over;
    facts->is_median_exact = ty_result_median(r, h, &facts->median);
    if (!facts->is_median_exact)
        find_median(r, h, discrete, facts);
    facts->is_median_exact |= facts->is_exact;
    return 1;
}

void ty_print_short(double value, char text[TY_LABEL_SIZE])
{
    char number[TY_NUMBER_SIZE];
    if (isnan(value)) {
        strcpy(text, "");
    } else if (fabs(value) < 1e7 && value == nearbyint(value)) {
        ty_print_grouped((uint64_t)fabs(value), number);
        snprintf(text, TY_LABEL_SIZE, "%s%.40s", value < 0 ? "-" : "", number);
    } else if (!isfinite(value)) {
        snprintf(text, TY_LABEL_SIZE, "%s", value < 0 ? "-inf" : "inf");
    } else {
        ty_edge_print(value, (ty_edge_style){.digits = 5}, text);
    }
}

void ty_print_exact(double value, tally_time time, char text[TY_LABEL_SIZE])
{
    if (isnan(value))
        strcpy(text, "");
    else if (!isfinite(value))
        ty_print_short(value, text);
    else if (time)
        ty_time_print_full(value, time, calendar_finest(time), text);
    else
        ty_edge_print(value,
                      value == nearbyint(value) && fabs(value) < 1e15
                          ? (ty_edge_style){.is_fixed = 1}
                          : (ty_edge_style){.digits = 12},
                      text);
}

/* No more digits than are likely: a quarter of a bin, at most four. */
static double rounded(const ty_facts *facts, double value)
{
    if (facts->is_exact || facts->time || value == 0 || !isfinite(value))
        return value;
    double power = floor(log10(fabs(value))) - 3;
    if (facts->blur > 0)
        power = fmax(power, floor(log10(facts->blur / 4)));
    const double unit = pow(10, power);
    return isfinite(unit) && unit > 0 ? nearbyint(value / unit) * unit : value;
}

/* Away from the middle, to a fortieth of a bin or finer. */
static double widened(const ty_facts *facts, double value, double (*away)(double))
{
    const double unit = pow(10, floor(log10(facts->blur / 40)));
    return facts->time || !isfinite(unit) || !(unit > 0) ? value : away(value / unit) * unit;
}

/* How a fact is said: its name, what is between that and the value, and the value; or the two
 * `ends` between which it is. */
typedef struct saying {
    const char *name, *about;
    double value;
    const double *ends; /* NULL: the value */
    calendar_precision precision;
    int is_length; /* of times: how long */
} saying;

static void print_value(const ty_facts *f, const saying *s, double value, char text[TY_LABEL_SIZE])
{
    if (!f->time)
        ty_print_short(value, text);
    else if (s->is_length)
        ty_time_print_span(value, f->time, text);
    else
        ty_time_print_full(value, f->time, s->precision, text);
}

/* Adds a fact, unless it is not known, or no more of it than of all samples. */
static void add(const ty_facts *f, const saying *s, const char *before, char text[TY_FACTS_SIZE])
{
    char value[TY_LABEL_SIZE], end[TY_LABEL_SIZE];
    const size_t used = strlen(text);
    if (isnan(s->value) || (s->ends && s->ends[0] <= f->least && s->ends[1] >= f->most))
        return;
    print_value(f, s, s->ends ? s->ends[0] : s->value, value);
    print_value(f, s, s->ends ? s->ends[1] : s->value, end);
    snprintf(text + used, TY_FACTS_SIZE - used, "%s%s %s%s%s%s",
             used && text[used - 1] != ' ' ? before : "", s->name, s->ends ? "" : s->about, value,
             s->ends ? " to " : "", s->ends ? end : "");
}

void ty_facts_print(const ty_facts *f, int ascii, char text[TY_FACTS_SIZE])
{
    /* Of times a mean and a median are to an eighth of a bin. */
    const calendar_precision finest = calendar_finest(f->time);
    const calendar_precision fine = f->is_exact ? finest : calendar_as_fine(f->blur / 8, f->time);
    const calendar_precision precision = fine < finest ? fine : finest;
    const char *const about = ascii ? "~" : "\u2248", *const mark = f->is_exact ? "" : about;
    const double means[2] = {widened(f, f->means[0], floor), widened(f, f->means[1], ceil)};
    const saying mean = {"mean",    mark, rounded(f, f->mean), f->is_mean_wide ? means : NULL,
                         precision, 0};
    const saying deviation = {"sd", mark,   f->is_mean_wide ? NAN : rounded(f, f->deviation),
                              NULL, finest, 1};
    saying median = {"median",  about, rounded(f, f->median), f->is_median_wide ? f->medians : NULL,
                     precision, 0};
    if (f->is_median_exact)
        median = (saying){"median", "", f->median, NULL, finest, 0};
    const saying least = {f->is_exact ? "min" : "from", "", f->least, NULL, finest, 0};
    const saying most = {f->is_exact ? "max" : "to", "", f->most, NULL, finest, 0};
    strcpy(text, f->is_partly ? "in bins: " : "");
    add(f, &mean, ", ", text);
    add(f, &deviation, ", ", text);
    add(f, &median, ", ", text);
    add(f, &least, ", ", text);
    add(f, &most, f->is_exact || isnan(f->least) ? ", " : " ", text);
}
