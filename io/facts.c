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
static double median_of(const tally_result *r, uint64_t h, int discrete, uint64_t count)
{
    const uint64_t *counts = (const uint64_t *)r->counts + h * r->bins;
    const tally_flows *f = &r->flows[h];
    const uint64_t all = ty_add_sticky(ty_add_sticky(count, f->under), f->over);
    uint64_t rank = all / 2 + all % 2;
    if (rank <= f->under || rank > f->under + count)
        return NAN;
    rank -= f->under;
    uint64_t bin = 0;
    for (; rank > counts[bin]; bin++)
        rank -= counts[bin];
    const reach x = reach_of(r, discrete, bin);
    const double part = ((double)rank - 0.5) / (double)counts[bin];
    return x.lo * (1 - part) + x.hi * part;
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
        facts->blur += share > 0 ? (x.hi - x.lo) * share : 0;
    }
    for (uint64_t i = 0; i < r->bins; i++) {
        const double apart = counts[i] ? middle(reach_of(r, discrete, i)) - facts->mean : 0;
        squares += apart * apart * (double)counts[i];
    }
    facts->deviation = facts->count > 1 ? sqrt(squares / (count - 1)) : NAN;
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
        facts->median = median_of(r, h, discrete, facts->count);
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

/* Adds "WORDS VALUE", and what is before that if there is something already. */
static void add(char text[TY_FACTS_SIZE], const char *before, const char *words, double value)
{
    char number[TY_LABEL_SIZE];
    const size_t used = strlen(text);
    if (isnan(value))
        return;
    ty_print_short(value, number);
    snprintf(text + used, TY_FACTS_SIZE - used, "%s%s%s", used ? before : "", words, number);
}

/* No more digits than are likely: a quarter of a bin, at most four. */
static double rounded(const ty_facts *facts, double value)
{
    if (facts->is_exact || value == 0 || !isfinite(value))
        return value;
    double power = floor(log10(fabs(value))) - 3;
    if (facts->blur > 0)
        power = fmax(power, floor(log10(facts->blur / 4)));
    const double unit = pow(10, power);
    return isfinite(unit) && unit > 0 ? nearbyint(value / unit) * unit : value;
}

/* Of times: a mean and a median to an eighth of a bin, lengths as lengths. */
static void print_times(const ty_facts *f, const char *const words[3], char text[TY_FACTS_SIZE])
{
    const calendar_precision finest = calendar_finest(f->time);
    const calendar_precision about = f->is_exact ? finest : calendar_as_fine(f->blur / 8, f->time);
    const struct {
        const char *words;
        double value;
        calendar_precision precision;
    } facts[] = {{words[0], f->mean, about < finest ? about : finest},
                 {words[1], f->deviation, finest},
                 {words[2], f->median, f->is_median_exact || about > finest ? finest : about},
                 {f->is_exact ? "min " : "from ", f->least, finest},
                 {f->is_exact ? "max " : "to ", f->most, finest}};
    for (int i = 0; i < 5; i++) {
        char value[TY_LABEL_SIZE];
        const size_t used = strlen(text);
        if (isnan(facts[i].value))
            continue;
        if (i == 1)
            ty_time_print_span(facts[i].value, f->time, value);
        else
            ty_time_print_full(facts[i].value, f->time, facts[i].precision, value);
        snprintf(text + used, TY_FACTS_SIZE - used, "%s%s%s",
                 !i                                                 ? ""
                 : i == 4 && !f->is_exact && !isnan(facts[3].value) ? " "
                                                                    : ", ",
                 facts[i].words, value);
    }
}

void ty_facts_print(const ty_facts *facts, int ascii, char text[TY_FACTS_SIZE])
{
    static const char *const exact[] = {"mean ", "sd ", "median "};
    static const char *const about[] = {"mean \u2248", "sd \u2248", "median \u2248"};
    static const char *const plain[] = {"mean ~", "sd ~", "median ~"};
    const char *const *guess = ascii ? plain : about;
    const char *const words[] = {(facts->is_exact ? exact : guess)[0],
                                 (facts->is_exact ? exact : guess)[1],
                                 (facts->is_median_exact ? exact : guess)[2]};
    const double values[] = {facts->mean, facts->deviation, facts->median};
    strcpy(text, facts->is_partly ? "in bins: " : "");
    if (facts->time) {
        print_times(facts, words, text);
        return;
    }
    for (int i = 0; i < 3; i++)
        add(text, i ? ", " : "", words[i],
            i == 2 && facts->is_median_exact ? values[i] : rounded(facts, values[i]));
    add(text, ", ", facts->is_exact ? "min " : "from ", facts->least);
    add(text, facts->is_exact || isnan(facts->least) ? ", " : " ", facts->is_exact ? "max " : "to ",
        facts->most);
}
