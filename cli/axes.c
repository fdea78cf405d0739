/* SPDX-License-Identifier: Apache-2.0 */
/* From options and data to axes. */
#include <math.h>

#include "../common/axes.h"
#include "dates.h"
#include "source.h"
#include "team.h"

enum { JOINT_BINS = 64, TEAM_BINS = 256 };
static const uint64_t most_bins = UINT64_C(1) << 31; /* of a table: 16 GiB of counts */

/* ---- what the command line says ---- */

/* The text of --bins for axis `d` of `dimensions`, copied to `text`; 0 when there is none, -1 when
 * the number of values is wrong. */
static int bins_text(const cli_options *options, uint32_t d, uint32_t dimensions, char text[32])
{
    char all[512] = "";
    size_t used = 0, pieces = 1;
    for (size_t i = 0; i < options->values[CLI_BINS].count; i++) {
        int put = snprintf(all + used, sizeof all - used, "%s%s", i ? "," : "",
                           options->values[CLI_BINS].texts[i]);
        used += put > 0 ? (size_t)put : 0;
        if (used >= sizeof all)
            return -1;
    }
    if (used == 0)
        return 0;
    for (const char *c = all; *c; c++)
        pieces += *c == ',';
    if (pieces != 1 && pieces != dimensions)
        return -1;
    const char *at = all;
    for (uint32_t i = 0; i < d && pieces > 1; i++)
        at = strchr(at, ',') + 1;
    size_t length = strcspn(at, ",");
    if (length == 0 || length >= 32)
        return -1;
    memcpy(text, at, length);
    text[length] = '\0';
    return 1;
}

/* The range when --range says one for axis `d`, of times in `unit`. 0, and the end that is none in
 * `wrong`. */
static int given_range(const cli_options *options, uint32_t d, tally_time unit, double range[2],
                       const char **wrong)
{
    size_t count = options->values[CLI_RANGE].count / 2;
    int good = 1, is_date = 0;
    if (count == 0)
        return 1;
    const char **texts = options->values[CLI_RANGE].texts + 2 * (count > 1 ? d : 0);
    for (int i = 0; i < 2 && good; i++) {
        *wrong = texts[i];
        good = cli_value_parse(texts[i], unit, i, &range[i], &is_date);
    }
    return good;
}

static int check_bins(const cli_options *options, uint32_t dimensions)
{
    double total = 1;
    for (uint32_t d = 0; d < dimensions; d++) {
        char text[32];
        uint64_t bins;
        int have = bins_text(options, d, dimensions, text);
        if (have < 0)
            return cli_usage(options->word,
                             "--bins: one value for all or one for each of %u columns", dimensions);
        if (!have)
            return CLI_OK;
        if (tally_rule_parse(text) >= 0) {
            if (cli_has(options, CLI_LOG) || cli_has(options, CLI_INTEGER))
                return cli_usage(options->word,
                                 "--bins %s chooses equal bins; with --%s give a number", text,
                                 cli_has(options, CLI_LOG) ? "log" : "integer");
            continue;
        }
        if (cli_calendar_parse(text) >= 0) {
            if (cli_has(options, CLI_LOG) || cli_has(options, CLI_INTEGER))
                return cli_usage(options->word, "--bins %s and --%s contradict each other", text,
                                 cli_has(options, CLI_LOG) ? "log" : "integer");
            continue;
        }
        if (!parse_u64(text, &bins))
            return cli_usage(options->word, "--bins %s: a number or one of %s", text,
                             cli_option_row(CLI_BINS)->choices);
        if (bins < 1 || bins > most_bins)
            return cli_usage(options->word, "--bins %s: from 1 to %llu", text,
                             (unsigned long long)most_bins);
        total *= (double)bins;
    }
    if (total > (double)most_bins)
        return cli_usage(options->word, "--bins: %.0f bins in all, more than %llu", total,
                         (unsigned long long)most_bins);
    return CLI_OK;
}

static int check_range(const cli_options *options, uint32_t dimensions)
{
    size_t count = options->values[CLI_RANGE].count / 2;
    if (count > 1 && count != dimensions)
        return cli_usage(options->word, "--range is given %zu times for %u column(s)", count,
                         dimensions);
    for (uint32_t d = 0; d < (count > 1 ? count : count ? 1 : 0); d++) {
        double range[2];
        const char *wrong = "";
        if (!given_range(options, d, TALLY_TIME_NONE, range, &wrong))
            return cli_usage(options->word, "--range: %s is finer than a microsecond", wrong);
        const char **texts = options->values[CLI_RANGE].texts + 2 * d;
        if (!(range[0] < range[1]) && !(cli_has(options, CLI_INTEGER) && range[0] == range[1]))
            return cli_usage(options->word, "--range %s %s: the first must be less than the second",
                             texts[0], texts[1]);
        if (!isfinite(range[1] - range[0]))
            return cli_usage(options->word, "--range %s %s: wider than a double can say", texts[0],
                             texts[1]);
        if (cli_has(options, CLI_LOG) && !(range[0] > 0))
            return cli_usage(options->word, "--range %s %s: --log needs numbers above zero",
                             texts[0], texts[1]);
        if (cli_has(options, CLI_INTEGER) &&
            (range[0] != floor(range[0]) || range[1] != floor(range[1]) || range[0] < -0x1p53 ||
             range[1] >= 0x1p53))
            return cli_usage(options->word,
                             "--range %s %s: --integer needs integers from -2^53 to below 2^53",
                             texts[0], texts[1]);
    }
    return CLI_OK;
}

/* Parses --edges text number `i`: CLI_USAGE after a message, CLI_FAILED for want of memory. */
static int parse_edges(const cli_options *options, size_t i, tally_time unit, double **edges,
                       uint64_t *bins)
{
    int is_date;
    const char *text = options->values[CLI_EDGES].texts[i];
    size_t count;
    char **pieces = cli_split(text, &count);
    double *made = pieces ? calloc(count, sizeof *made) : NULL;
    int code = made ? CLI_OK : CLI_FAILED;
    if (!code && strpbrk(text, " ;") && !cli_has_dates(options, (uint32_t)i))
        code = cli_usage(options->word, "--edges %s: commas go between edges, as in --edges 0,5,10",
                         text);
    if (!code && count < 2)
        code = cli_usage(options->word, "--edges %s: at least two edges make a bin", text);
    for (size_t e = 0; e < count && !code; e++) {
        if (!cli_value_parse(pieces[e], unit, 0, &made[e], &is_date))
            code = cli_usage(options->word,
                             "--edges: edge %zu is \"%s\", neither a finite number nor a date",
                             e + 1, pieces[e]);
        else if (e > 0 && !(made[e - 1] < made[e]))
            code = cli_usage(options->word,
                             "--edges: edge %zu, %s, is not more than the one before, %s", e + 1,
                             pieces[e], pieces[e - 1]);
    }
    cli_split_free(pieces, count);
    if (code) {
        free(made);
        return code;
    }
    *edges = made;
    *bins = count - 1;
    return CLI_OK;
}

static int check_edges(const cli_options *options, uint32_t dimensions)
{
    size_t count = options->values[CLI_EDGES].count;
    if (count > 1 && count != dimensions)
        return cli_usage(options->word, "--edges is given %zu times for %u column(s)", count,
                         dimensions);
    for (size_t i = 0; i < count; i++) {
        uint64_t bins;
        double *edges = NULL;
        int code = parse_edges(options, i, TALLY_TIME_NONE, &edges, &bins);
        if (code)
            return code == CLI_FAILED ? cli_fail("out of memory") : code;
        free(edges);
    }
    return CLI_OK;
}

static int parse_letters(const cli_options *options, uint16_t categories[256], uint64_t *bins)
{
    char letters[256];
    size_t count;
    const char *why, *text = cli_text(options, CLI_ALPHABET, "");
    if (!cli_parse_alphabet(text, letters, &count, &why))
        return cli_usage(options->word, "--alphabet %s: %s", text, why);
    *bins = tally_categories_letters(letters, count, cli_uint(options, CLI_PER_BIN, 1), categories);
    return CLI_OK;
}

int cli_axes_check(const cli_options *options, uint32_t dimensions)
{
    static const cli_id makers[][2] = {
        {CLI_EDGES, CLI_BINS},       {CLI_EDGES, CLI_RANGE},     {CLI_EDGES, CLI_LOG},
        {CLI_EDGES, CLI_INTEGER},    {CLI_EDGES, CLI_ALPHABET},  {CLI_LOG, CLI_INTEGER},
        {CLI_ALPHABET, CLI_BINS},    {CLI_ALPHABET, CLI_RANGE},  {CLI_ALPHABET, CLI_LOG},
        {CLI_ALPHABET, CLI_INTEGER}, {CLI_ALPHABET, CLI_COLUMN}, {CLI_ALPHABET, CLI_DTYPE}};
    uint16_t categories[256];
    uint64_t bins;
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        if (cli_has(options, makers[i][0]) && cli_has(options, makers[i][1]))
            return cli_usage(options->word, "--%s and --%s contradict each other; give one",
                             cli_option_row(makers[i][0])->name,
                             cli_option_row(makers[i][1])->name);
    if (cli_has(options, CLI_PER_BIN) && !cli_has(options, CLI_ALPHABET))
        return cli_usage(options->word, "--per-bin belongs to --alphabet");
    int code = check_bins(options, dimensions);
    if (!code)
        code = check_range(options, dimensions);
    if (!code)
        code = check_edges(options, dimensions);
    if (!code && cli_has(options, CLI_ALPHABET))
        code = parse_letters(options, categories, &bins);
    if (!code && cli_has(options, CLI_INTEGER) && cli_has(options, CLI_BINS) &&
        cli_has(options, CLI_RANGE))
        code = cli_usage(
            options->word,
            "--integer: --range LO HI and --bins N both say where the bins end; give one");
    return code;
}

int cli_axes_need_data(const cli_options *options)
{
    if (cli_has(options, CLI_EDGES) || cli_has(options, CLI_ALPHABET))
        return 0;
    const char *bins = cli_text(options, CLI_BINS, "1");
    int order;
    const tally_dtype dtype = parse_dtype(cli_text(options, CLI_DTYPE, ""), &order);
    int rule = cli_calendar_parse(bins) < 0 && strpbrk(bins, "abcdefghijklmnopqrstuvwxyz") != NULL;
    int equal = !cli_has(options, CLI_LOG) && !cli_has(options, CLI_INTEGER);
    if (equal && !rule && (dtype == TALLY_U8 || dtype == TALLY_I8))
        return 0;
    if (!cli_has(options, CLI_RANGE))
        return 1;
    return rule || (equal && !cli_has(options, CLI_BINS));
}

/* ---- what the data say ---- */

typedef struct job {
    const cli_options *options;
    cli_source *source;
    tally_context *context;
    cli_axes *axes;
    tally_stats stats[TALLY_MAX_DIMENSIONS];
    tally_stats weights; /* with a team */
    int have_stats, passes;
} job;

static tally_status add_weights(job *job, const cli_chunk *chunk, tally_error *error)
{
    const tally_view *mask = chunk->has_mask ? &chunk->mask : NULL;
    tally_status status = TALLY_OK;
    for (uint64_t c = 0; c < chunk->weights.channels && !status; c++)
        status = tally_stats_add(job->context, &chunk->weights, mask, c, 0, &job->weights, error);
    return status;
}

static tally_status find_stats(job *job, tally_error *error)
{
    cli_source *source = job->source;
    tally_status status = TALLY_OK;
    /* Each would be read from the file again. */
    const int several = !cli_source_has_all_channels(source) && source->channels > 1;
    job->passes++;
    for (uint32_t d = 0; d < source->dimensions; d++)
        job->stats[d] = (tally_stats)TALLY_STATS_INIT;
    job->weights = (tally_stats)TALLY_STATS_INIT;
    source->chunked += several;
    for (;;) {
        cli_chunk chunk;
        int done;
        status = cli_source_read(source, &chunk, &done, error);
        if (status || done)
            break;
        if (source->options->team && chunk.has_weights)
            status = add_weights(job, &chunk, error);
        if (!status)
            status = cli_chunk_stats(source, &chunk, job->context, job->stats, error);
        if (status)
            break;
    }
    job->have_stats = 1;
    source->chunked -= several;
    status = cli_team_stats(job->options, status, job->stats, source->dimensions,
                            source->kind.dtype, error);
    return status ? status : cli_source_rewind(source, error);
}

/* lo == hi widens as NumPy does; where 0.5 is less than a step, by a step. */
static void widen(double *lo, double *hi)
{
    if (*lo != *hi)
        return;
    double low = *lo - 0.5, high = *hi + 0.5;
    *lo = low < *lo ? low : nextafter(*lo, -INFINITY);
    *hi = high > *hi ? high : nextafter(*hi, INFINITY);
}

static tally_status need_stats(job *job, tally_error *error)
{
    job->axes->found = 1;
    return job->have_stats ? TALLY_OK : find_stats(job, error);
}

static tally_status make_integer(job *job, uint32_t d, const double *range, uint64_t bins,
                                 tally_error *error)
{
    const tally_stats *stats = &job->stats[d];
    tally_dtype dtype = job->source->kind.dtype;
    double lo = range[0], hi = range[1];
    char why[AXES_WHY];
    if (!cli_has(job->options, CLI_RANGE)) {
        tally_status status = need_stats(job, error);
        if (status)
            return status;
        if (!stats->finite)
            lo = hi = 0;
        else if (dtype == TALLY_U64)
            lo = (double)(uint64_t)stats->min_integer, hi = (double)(uint64_t)stats->max_integer;
        else
            lo = floor(stats->min), hi = floor(stats->max);
    }
    return axes_integers(lo, hi, bins, &job->axes->axes[d], why)
               ? TALLY_OK
               : cli_error(error, TALLY_ERROR_DATA, "%s: %s", cli_shown(job->source->paths[0]),
                           why);
}

/* All processes' words; the files are opened again with them. */
static tally_status share_words(job *job, uint32_t d, tally_status mine, tally_error *error)
{
    cli_source *source = job->source;
    for (size_t i = 0; i < source->count; i++) {
        tally_input_close(source->inputs[i]);
        source->inputs[i] = NULL;
    }
    tally_status status = cli_team_words(job->options, mine, &source->words[d], error);
    return status ? status : cli_source_rewind(source, error);
}

/* A bin for each different value, all of which one pass finds. */
static tally_status make_words(job *job, uint32_t d, tally_error *error)
{
    tally_status status = TALLY_OK;
    int done = job->passes++ > 0;
    const int any = done;
    while (!status && !done) {
        cli_chunk chunk;
        status = cli_source_read(job->source, &chunk, &done, error);
    }
    if (job->options->team)
        status = share_words(job, d, status, error);
    else if (!status && !any)
        status = cli_source_rewind(job->source, error);
    const uint64_t count = tally_words_count(job->source->words[d]);
    job->axes->axes[d] = tally_axis_integer(count ? count : 1, 0);
    return status;
}

static tally_status make_log(job *job, uint32_t d, const double *range, uint64_t bins,
                             tally_error *error)
{
    double lo = range[0], hi = range[1];
    char why[AXES_WHY];
    if (!cli_has(job->options, CLI_RANGE)) {
        const tally_stats *stats = &job->stats[d];
        tally_status status = need_stats(job, error);
        if (status)
            return status;
        axes_found(stats, job->source->kind.dtype, &lo, &hi);
        if (!stats->finite)
            lo = INFINITY, hi = -INFINITY;
    }
    return axes_ratios(lo, hi, bins, &job->axes->axes[d], why)
               ? TALLY_OK
               : cli_error(error, TALLY_ERROR_DATA, "%s: %s", cli_shown(job->source->paths[0]),
                           why);
}

static tally_status make_by_rule(job *job, uint32_t d, int rule, const double *range,
                                 tally_error *error)
{
    cli_axis_reader reader;
    tally_rule_options options = TALLY_RULE_OPTIONS_INIT;
    options.rule = (tally_rule)rule;
    options.range = range;
    options.skip_nonfinite = 1;
    tally_chunks chunks = cli_axis_reader_chunks(&reader, job->source, d);
    job->passes++;
    job->axes->found |= range == NULL;
    tally_axis axis;
    tally_status status =
        tally_rule_bins(job->context, chunks, job->source->kind.dtype, &options, &axis, error);
    cli_axis_reader_release(&reader);
    if (!status)
        status = cli_source_rewind(job->source, error);
    if (!status) {
        axes_widen_bins(&axis);
        job->axes->axes[d] = axis;
    }
    return status;
}

/* A bin for each hour, day and so on. */
static tally_status make_calendar(job *job, uint32_t d, cli_calendar calendar, const double *range,
                                  tally_error *error)
{
    const tally_time unit = job->source->times[d];
    const char *path = cli_shown(job->source->paths[0]), *name = cli_option_row(CLI_BINS)->name;
    double lo = range[0], hi = range[1];
    const int found = !cli_has(job->options, CLI_RANGE);
    if (!unit)
        return cli_error(error, TALLY_ERROR_DATA,
                         "%s: --%s of a calendar unit: the column has no dates and times, in text "
                         "ISO 8601's such as 2026-11-23 10:00",
                         path, name);
    if (found) {
        tally_status status = need_stats(job, error);
        if (status)
            return status;
        lo = hi = 0;
        if (job->stats[d].finite)
            axes_found(&job->stats[d], job->source->kind.dtype, &lo, &hi);
    }
    uint64_t bins;
    double *edges = cli_calendar_edges(calendar, unit, lo, hi, found, AXES_MOST_INTEGERS, &bins);
    if (!edges)
        return cli_error(error, TALLY_ERROR_DATA,
                         "%s: --%s of a calendar unit: more than %llu bins, or finer than the "
                         "column's unit; give --range or a longer unit",
                         path, name, (unsigned long long)AXES_MOST_INTEGERS);
    job->axes->edges[d] = edges;
    job->axes->axes[d] = tally_axis_edges(bins, edges);
    job->axes->axes[d].last = TALLY_LAST_OPEN;
    return TALLY_OK;
}

static tally_status make_even(job *job, uint32_t d, const char *text, const double *range,
                              tally_error *error)
{
    double natural[2] = {0, 0};
    const tally_input_info *kind = &job->source->kind;
    const int is_boolean = kind->booleans >> d & 1;
    int standard = (int)axes_natural(kind->dtype, kind->is_image, natural);
    if (is_boolean) { /* in bytes; no other values */
        standard = 2;
        natural[0] = 0, natural[1] = 1;
    }
    int rule = text ? tally_rule_parse(text) : -1;
    uint64_t bins = 0;
    int given = cli_has(job->options, CLI_RANGE);
    if (text && rule < 0)
        parse_u64(text, &bins);
    if (is_boolean && !given && (!text || bins == 2)) {
        job->axes->axes[d] = tally_axis_integer(2, 0);
        return TALLY_OK;
    }
    if (!text && job->source->dimensions > 1 && !cli_has(job->options, CLI_BY))
        bins = JOINT_BINS;
    else if (!text && standard)
        bins = (uint64_t)standard;
    if (!bins && job->options->team)
        bins = TEAM_BINS;
    if (rule >= 0 || !bins)
        return make_by_rule(job, d, rule >= 0 ? rule : TALLY_RULE_AUTO, given ? range : NULL,
                            error);
    double lo = range[0], hi = range[1];
    if (!given && standard) {
        lo = natural[0], hi = natural[1];
    } else if (!given) {
        tally_status status = need_stats(job, error);
        if (status)
            return status;
        lo = 0, hi = 1;
        if (job->stats[d].finite)
            axes_found(&job->stats[d], job->source->kind.dtype, &lo, &hi);
        widen(&lo, &hi);
    }
    job->axes->axes[d] = tally_axis_even(bins, lo, hi);
    if (!text)
        axes_widen_bins(&job->axes->axes[d]);
    if (given && cli_has_dates(job->options, d - (uint32_t)cli_has(job->options, CLI_BY)))
        job->axes->axes[d].last = TALLY_LAST_OPEN; /* the end of a day is the next one's */
    return TALLY_OK;
}

static tally_status make_axis(job *job, uint32_t d, tally_error *error)
{
    const cli_options *options = job->options;
    const uint32_t by = (uint32_t)cli_has(options, CLI_BY); /* its axis has no options */
    uint32_t dimensions = job->source->dimensions - by;
    double range[2] = {0, 0};
    char text[32];
    uint64_t bins = 0;
    if (job->source->words[d])
        return make_words(job, d, error);
    if (cli_has(options, CLI_ALPHABET)) {
        tally_axis *axis = &job->axes->axes[d];
        *axis = (tally_axis)TALLY_AXIS_INIT;
        axis->kind = TALLY_AXIS_CATEGORY;
        axis->categories = job->axes->categories;
        parse_letters(options, job->axes->categories, &axis->bins);
        return TALLY_OK;
    }
    const tally_time unit = job->source->times[d];
    const char *wrong = "";
    if (!unit && cli_has_dates(options, d - by))
        return cli_error(error, TALLY_ERROR_DATA,
                         "%s: --%s has dates, and the column has none; its first values say what a "
                         "column holds",
                         cli_shown(job->source->paths[0]),
                         cli_has(options, CLI_EDGES) ? "edges" : "range");
    if (unit && cli_has(options, CLI_LOG))
        return cli_error(error, TALLY_ERROR_DATA,
                         "%s: --log is for numbers, and the column has dates; --bins month gives a "
                         "bin for each month",
                         cli_shown(job->source->paths[0]));
    if (!given_range(options, d - by, unit, range, &wrong))
        return cli_error(error, TALLY_ERROR_DATA, "%s: --range: %s is finer than the column's unit",
                         cli_shown(job->source->paths[0]), wrong);
    if (cli_has(options, CLI_EDGES)) {
        size_t count = options->values[CLI_EDGES].count;
        if (parse_edges(options, count > 1 ? d - by : 0, unit, &job->axes->edges[d], &bins))
            return cli_error(error, TALLY_ERROR_MEMORY, "out of memory");
        job->axes->axes[d] = tally_axis_edges(bins, job->axes->edges[d]);
        return TALLY_OK;
    }
    int have = bins_text(options, d - by, dimensions, text) > 0;
    if (have)
        parse_u64(text, &bins);
    if (cli_has(options, CLI_INTEGER))
        return make_integer(job, d, range, bins, error);
    if (cli_has(options, CLI_LOG))
        return make_log(job, d, range, bins, error);
    if (have && cli_calendar_parse(text) >= 0)
        return make_calendar(job, d, (cli_calendar)cli_calendar_parse(text), range, error);
    return make_even(job, d, have ? text : NULL, range, error);
}

/* Sums of floats have the same bits for any number of processes by a limit of the weights. */
static int needs_limit(const cli_options *options, const cli_source *source)
{
    return options->team && cli_source_weight_dtype(source) >= TALLY_F16 &&
           !cli_has(options, CLI_WEIGHT_LIMIT);
}

static tally_status find_limit(job *job, tally_error *error)
{
    cli_team *team = job->options->team;
    tally_status status = find_stats(job, error);
    return team->limit(team, status, &job->weights, &job->axes->weight_limit, error);
}

int cli_axes_make(const cli_options *options, cli_source *source, tally_context *context,
                  cli_axes *axes)
{
    job job = {.options = options, .source = source, .context = context, .axes = axes};
    tally_error error = {""};
    double total = 1;
    memset(axes, 0, sizeof *axes);
    if (needs_limit(options, source)) {
        tally_status status = find_limit(&job, &error);
        if (status)
            return cli_fail_status(status, &error);
    }
    for (uint32_t d = 0; d < source->dimensions; d++) {
        tally_status status = make_axis(&job, d, &error);
        if (status)
            return cli_fail_status(status, &error);
        total *= (double)axes->axes[d].bins;
    }
    if (total > (double)most_bins)
        return cli_fail("%.0f bins in all, more than %llu; give fewer with --bins N,M", total,
                        (unsigned long long)most_bins);
    if (job.passes && cli_source_spooled(source))
        cli_note(options,
                 "%s: a pipe can be read once, and the range was unknown: it was copied to "
                 "a temporary file and read again (--range avoids that)",
                 cli_shown(source->paths[0]));
    return CLI_OK;
}

void cli_axes_release(cli_axes *axes)
{
    for (int d = 0; d < TALLY_MAX_DIMENSIONS; d++)
        free(axes->edges[d]);
    memset(axes, 0, sizeof *axes);
}
