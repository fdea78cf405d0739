/* SPDX-License-Identifier: Apache-2.0 */
#include "source.h"

#include <ctype.h>
#include <stdarg.h>
#include <sys/stat.h>

tally_status(cli_error)(tally_error *error, tally_status status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(error->message, sizeof error->message, format, list);
    va_end(list);
    return status;
}

static tally_status open_current(cli_source *source, tally_error *error);

const cli_option *cli_source_numbers(const cli_options *options, size_t samples)
{
    static const cli_id numbers[] = {CLI_BINS,    CLI_EDGES, CLI_RANGE,    CLI_LOG,
                                     CLI_INTEGER, CLI_DTYPE, CLI_ALPHABET, CLI_RANKS};
    const int alone = samples <= 1 || cli_has(options, CLI_SEPARATE);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && alone; i++)
        if (cli_has(options, numbers[i]))
            return cli_option_row(numbers[i]);
    return NULL;
}

/* Which columns may be of words: not text without a named column, unless --categories says so: it
 * may be prose. */
static tally_status offer_words(cli_source *source, tally_error *error)
{
    const cli_options *options = source->options;
    const size_t samples = source->column_count - source->beside;
    const int offered = (samples > 0 || cli_has(options, CLI_CATEGORIES)) &&
                        options->word->bit == CLI_RUN && !cli_source_numbers(options, samples);
    tally_status status = TALLY_OK;
    if (cli_has(options, CLI_BY)) /* that column alone */
        return tally_words_create(&source->words[0], error);
    for (size_t i = 0; offered && i < (samples ? samples : 1) && !status; i++)
        status = tally_words_create(&source->words[i], error);
    return status;
}

int cli_source_has_words(const cli_source *source)
{
    for (uint32_t d = 0; d < source->dimensions; d++)
        if (source->words[d])
            return 1;
    return 0;
}

/* The first file is open: all others have words where it has. Those are read twice. */
static tally_status settle_words(cli_source *source, tally_error *error)
{
    source->words_known = 1;
    if (source->kind.table)
        return TALLY_OK;
    for (uint32_t d = 0; d < TALLY_MAX_DIMENSIONS; d++) {
        if (source->kind.words >> d & 1)
            continue;
        tally_words_destroy(source->words[d]);
        source->words[d] = NULL;
    }
    if ((cli_has(source->options, CLI_BY) || cli_has(source->options, CLI_CATEGORIES)) &&
        !source->kind.words)
        return cli_error(error, TALLY_ERROR_UNSUPPORTED,
                         "%s: --by and --categories are of the values of columns, and this has "
                         "%llu channels",
                         cli_shown(source->paths[0]), (unsigned long long)source->kind.channels);
    if (!source->kind.words || source->keep || !source->sizes[0])
        return TALLY_OK;
    source->keep = 1;
    tally_input_close(source->inputs[0]);
    source->inputs[0] = NULL;
    return open_current(source, error);
}

/* The second file and those after it must be like the first. */
static tally_status check_kind(const cli_source *source, size_t i, const tally_input *input,
                               const tally_input_info *info, tally_error *error)
{
    const tally_input_info *first = &source->kind;
    for (uint32_t d = 0; !first->table && d < first->dimensions; d++) /* of a glance: any number */
        if (tally_input_time(input, d) != source->times[d])
            return cli_error(error, TALLY_ERROR_DATA,
                             "%s: dates and times of another unit than in %s, or none; only files "
                             "of one kind add up",
                             cli_shown(source->paths[i]), cli_shown(source->paths[0]));
    if (info->dtype == first->dtype && info->channels == first->channels)
        return TALLY_OK;
    if (cli_source_has_integers(source) && info->dtype == TALLY_F64 &&
        (strcmp(info->format, "text") == 0 || strcmp(info->format, "jsonl") == 0))
        return cli_error(error, TALLY_ERROR_DATA,
                         "%s: not all its values are 64-bit integers, as in %s; --each counts the "
                         "files apart, and if this is the first, all are rounded to float64",
                         cli_shown(source->paths[i]), cli_shown(source->paths[0]));
    return cli_error(error, TALLY_ERROR_DATA,
                     "%s: %llu channel(s) of %s, but %s has %llu of %s; only files of one kind add "
                     "up, --each counts them apart",
                     cli_shown(source->paths[i]), (unsigned long long)info->channels,
                     tally_dtype_name(info->dtype), cli_shown(source->paths[0]),
                     (unsigned long long)first->channels, tally_dtype_name(first->dtype));
}

/* Opens file i, or rewinds it; it must be like the first and as long as it was. */
static tally_status open_file(const cli_source *source, size_t i, uint32_t threads,
                              tally_input **input, tally_input_info *info, tally_error *error)
{
    const char *path = source->paths[i];
    tally_status status = TALLY_OK;
    if (*input) {
        status = tally_input_rewind(*input, error);
    } else {
        tally_input_options wanted;
        cli_source_input_options(source, &wanted);
        wanted.threads = threads ? threads : wanted.threads;
        status = tally_input_open(path, &wanted, input, error);
    }
    if (status)
        return status;
    tally_input_info_get(*input, info);
    if (i)
        status = check_kind(source, i, *input, info, error);
    if (!status && info->size_bytes < source->sizes[i])
        status = cli_error(error, TALLY_ERROR_IO,
                           "%s: was cut while it was read: it has %llu bytes and had %llu; count "
                           "it again",
                           cli_shown(path), (unsigned long long)info->size_bytes,
                           (unsigned long long)source->sizes[i]);
    return status;
}

static tally_status open_current(cli_source *source, tally_error *error)
{
    const char *path = source->paths[source->current];
    tally_input_info info = {.struct_size = sizeof info};
    tally_status status =
        open_file(source, source->current, 0, &source->inputs[source->current], &info, error);
    if (!status && source->current == 0)
        source->kind = info;
    if (!status && source->mask.input)
        status = cli_sidecar_start(&source->mask, path, &info, error);
    if (!status && source->weights.input)
        status = cli_sidecar_start(&source->weights, path, &info, error);
    source->opened = source->fresh = !status;
    source->read = 0;
    return status;
}

tally_status cli_source_file(cli_source *source, size_t i, tally_input **input, tally_error *error)
{
    tally_input_info info = {.struct_size = sizeof info};
    *input = source->inputs[i];
    if (*input && i == source->current && source->fresh)
        return TALLY_OK;
    return open_file(source, i, 1, input, &info, error);
}

void cli_source_file_done(cli_source *source, size_t i, tally_input *input)
{
    if (tally_input_rounded(input))
        __atomic_store_n(&source->rounded, 1, __ATOMIC_RELAXED);
    if (input != source->inputs[i])
        tally_input_close(input);
}

static int same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return 0;
    return *a == *b;
}

static tally_status find_channel(const cli_source *source, const char *text, uint64_t *channel,
                                 tally_error *error)
{
    const tally_input *input = source->inputs[0];
    uint64_t number, count = source->kind.channels;
    char known[256] = "";
    size_t used = 0;
    for (uint64_t c = 0; c < count; c++) {
        const char *name = tally_input_channel_name(input, c);
        if (name && same_name(name, text)) {
            *channel = c;
            return TALLY_OK;
        }
        if (name && used + strlen(name) + 3 < sizeof known)
            used +=
                (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", name);
    }
    if (parse_u64(text, &number) && number >= 1 && number <= count) {
        *channel = number - 1;
        return TALLY_OK;
    }
    return cli_error(error, TALLY_ERROR_DATA, "%s: no channel %s; it has %llu%s%s%s",
                     cli_shown(source->paths[0]), text, (unsigned long long)count, used ? " (" : "",
                     known, used ? ")" : "");
}

static tally_status choose_channels(cli_source *source, tally_error *error)
{
    const cli_options *options = source->options;
    tally_status status = TALLY_OK;
    for (size_t i = 0; i < options->values[CLI_CHANNEL].count && !status; i++) {
        size_t count;
        char **names = cli_split(options->values[CLI_CHANNEL].texts[i], &count);
        if (!names)
            return cli_error(error, TALLY_ERROR_MEMORY, "out of memory");
        for (size_t n = 0; n < count && !status; n++) {
            uint64_t channel = 0;
            status = find_channel(source, names[n], &channel, error);
            if (!status && channel >= 64)
                status = cli_error(error, TALLY_ERROR_UNSUPPORTED,
                                   "--channel %s: only the first 64 can be chosen", names[n]);
            if (!status)
                source->channel_mask |= UINT64_C(1) << channel;
        }
        cli_split_free(names, count);
    }
    source->channels = source->kind.channels;
    if (source->channel_mask) {
        source->channels = 0;
        for (uint64_t bits = source->channel_mask; bits; bits &= bits - 1)
            source->channels++;
    }
    return status;
}

int cli_source_has_all_channels(const cli_source *source)
{
    return source->channels == source->kind.channels;
}

uint64_t cli_source_channel(const cli_source *source, uint64_t c)
{
    uint64_t bits = source->channel_mask;
    if (!bits)
        return c;
    for (uint64_t number = 0; number < 64; number++)
        if (bits >> number & 1 && c-- == 0)
            return number;
    return 0;
}

/* "x" for one channel or column, "x,y" for a joint histogram. */
static tally_status name_histograms(cli_source *source, tally_error *error)
{
    const tally_input *input = source->inputs[0];
    source->names = calloc((size_t)source->channels, sizeof *source->names);
    if (!source->names)
        return cli_error(error, TALLY_ERROR_MEMORY, "out of memory");
    for (uint64_t c = 0; c < source->channels; c++) {
        char text[512] = "";
        size_t used = 0;
        uint32_t parts = source->dimensions > 1 ? source->dimensions : 1;
        for (uint32_t d = 0; d < parts; d++) {
            const char *name = tally_input_channel_name(
                input, source->dimensions > 1 ? d : cli_source_channel(source, c));
            if (!name && parts > 1) /* by number: columns of an array */
                name = source->columns[d];
            int put =
                snprintf(text + used, sizeof text - used, "%s%s", d ? "," : "", name ? name : "");
            used += put > 0 ? (size_t)put : 0;
            if (used >= sizeof text)
                used = sizeof text - 1;
        }
        if (!text[0])
            continue;
        source->names[c] = malloc(used + 1);
        if (!source->names[c])
            return cli_error(error, TALLY_ERROR_MEMORY, "out of memory");
        memcpy(source->names[c], text, used + 1);
    }
    return TALLY_OK;
}

/* What the columns of a profile are called, though a number asked for them. */
static tally_status name_columns(cli_source *source, tally_error *error)
{
    for (size_t d = 0; source->beside && d < source->column_count; d++) {
        const char *name = tally_input_channel_name(source->inputs[0], d);
        source->headings[d] = strdup(name && *name ? name : source->columns[d]);
        if (!source->headings[d])
            return cli_error(error, TALLY_ERROR_MEMORY, "out of memory");
    }
    return TALLY_OK;
}

static void find_sizes(cli_source *source)
{
    int known = 1;
    for (size_t i = 0; i < source->count; i++) {
        struct stat file;
        int pipe = strcmp(source->paths[i], "-") == 0;
        if (!pipe && stat(source->paths[i], &file) == 0 && S_ISREG(file.st_mode))
            source->sizes[i] = (uint64_t)file.st_size;
        else
            known = 0;
        source->total_bytes += source->sizes[i];
    }
    if (!known)
        source->total_bytes = 0;
}

static tally_status open_sidecars(cli_source *source, tally_error *error)
{
    const char *weights = cli_text(source->options, CLI_WEIGHTS, NULL);
    tally_status status = TALLY_OK;
    source->mask.path = cli_text(source->options, CLI_MASK, NULL);
    source->mask.what = "mask";
    source->weights.path = source->beside ? NULL : weights;
    source->weights.what = "weights";
    if (source->mask.path)
        status = cli_sidecar_open(&source->mask, source, error);
    if (!status && source->weights.path)
        status = cli_sidecar_open(&source->weights, source, error);
    if (!status && source->mask.input)
        status = cli_sidecar_start(&source->mask, source->paths[0], &source->kind, error);
    if (!status && source->weights.input)
        status = cli_sidecar_start(&source->weights, source->paths[0], &source->kind, error);
    return status;
}

tally_status cli_source_open(cli_source *source, const cli_options *options,
                             const char *const *paths, size_t count, int keep,
                             cli_progress *progress, tally_error *error)
{
    memset(source, 0, sizeof *source);
    source->options = options;
    source->paths = paths;
    source->count = count;
    source->keep = keep;
    source->progress = progress;
    source->inputs = calloc(count, sizeof(tally_input *));
    source->sizes = calloc(count, sizeof *source->sizes);
    source->skipped = calloc(count, 1);
    tally_status status = TALLY_OK;
    if (!source->inputs || !source->sizes || !source->skipped ||
        cli_columns_parse(options, &source->columns, &source->column_count, &source->beside))
        status = cli_error(error, TALLY_ERROR_MEMORY, "out of memory");
    if (!status) {
        find_sizes(source);
        status = offer_words(source, error);
        if (!status)
            status = cli_deal_start(source, error);
        if (source->words[1] ||
            cli_has(options, CLI_BY)) /* which of several is known when a pipe has been opened */
            source->keep |= !source->sizes[0];
    }
    if (!status) {
        status = open_current(source, error);
        if (!status)
            status = settle_words(source, error);
        source->failed = status != TALLY_OK;
    }
    if (!status && source->kind.table)
        return TALLY_OK;
    if (!status) {
        source->dimensions = source->kind.dimensions - (uint32_t)source->beside;
        for (uint32_t d = 0; d < source->kind.dimensions; d++)
            source->times[d] = tally_input_time(source->inputs[0], d);
        status = choose_channels(source, error);
    }
    if (!status)
        status = name_histograms(source, error);
    if (!status)
        status = name_columns(source, error);
    if (!status)
        status = open_sidecars(source, error);
    if (status)
        cli_source_close(source);
    return status;
}

void cli_source_close(cli_source *source)
{
    if (source->lender) {
        cli_source_return(source);
        return;
    }
    for (size_t i = 0; source->inputs && i < source->count; i++)
        tally_input_close(source->inputs[i]);
    for (uint64_t c = 0; source->names && c < source->channels; c++)
        free(source->names[c]);
    for (uint32_t d = 0; d < TALLY_MAX_DIMENSIONS; d++) {
        tally_words_destroy(source->words[d]);
        free(source->headings[d]);
    }
    cli_split_free(source->columns, source->column_count);
    cli_sidecar_close(&source->mask);
    cli_sidecar_close(&source->weights);
    free(source->names);
    free(source->inputs);
    free(source->sizes);
    free(source->skipped);
    free(source->deals);
    free(source->load);
    memset(source, 0, sizeof *source);
}

/* A file can be opened again, so that any number of them can be read. The only one stays open: if
 * it grows, every pass reads what the first one read. */
static void leave_current(cli_source *source)
{
    if (source->sizes[source->current] && source->count > 1) {
        tally_input_close(source->inputs[source->current]);
        source->inputs[source->current] = NULL;
    }
    source->opened = 0;
    source->current++;
}

/* The current file is read to its end. */
static tally_status finish_current(cli_source *source, tally_error *error)
{
    const char *path = source->paths[source->current];
    tally_status status = TALLY_OK;
    if (source->mask.input && !source->read)
        status = cli_sidecar_end(&source->mask, path, error);
    if (!status && source->weights.input && !source->read)
        status = cli_sidecar_end(&source->weights, path, error);
    if (tally_input_rounded(source->inputs[source->current]))
        source->rounded = 1;
    source->done_bytes += source->sizes[source->current];
    leave_current(source);
    return status;
}

/* The mask of what is missing, where that is no NaN. */
static void take_missing(const cli_source *source, cli_chunk *chunk)
{
    chunk->is_missing = !tally_input_mask(source->inputs[source->current], &chunk->mask, NULL) &&
                        (chunk->mask.data || chunk->mask.source);
    chunk->has_mask = chunk->is_missing;
}

static tally_status fill(cli_source *source, cli_chunk *chunk, tally_error *error)
{
    const char *path = source->paths[source->current];
    tally_status status = TALLY_OK;
    chunk->views[0] = chunk->views[source->pick];
    chunk->elements = chunk->views[0].rows * chunk->views[0].columns;
    chunk->has_mask = source->mask.input != NULL;
    chunk->is_missing = 0;
    chunk->has_weights = source->beside || source->weights.input;
    if (chunk->has_mask)
        status = cli_sidecar_take(&source->mask, path, &chunk->views[0], 1, &chunk->mask, error);
    else
        take_missing(source, chunk);
    if (source->beside)
        chunk->weights = chunk->views[source->dimensions];
    else if (!status && source->weights.input)
        status =
            cli_sidecar_take(&source->weights, path, &chunk->views[0], 0, &chunk->weights, error);
    return status;
}

/* All of the current file, not yet begun, with mask and weights. 0 if chunks must be read. */
static int take_whole(cli_source *source, cli_chunk *chunk)
{
    tally_error error;
    if ((source->chunked && !cli_deal_cuts(source)) ||
        tally_input_view(source->inputs[source->current], chunk->views, &error) ||
        !chunk->views[0].source)
        return 0;
    chunk->has_mask = source->mask.input != NULL;
    chunk->is_missing = 0;
    chunk->has_weights = source->beside || source->weights.input;
    if (source->beside)
        chunk->weights = chunk->views[source->dimensions];
    if ((chunk->has_mask && (!cli_sidecar_whole(&source->mask, &chunk->views[0], &chunk->mask) ||
                             chunk->mask.dtype != TALLY_U8)) ||
        (source->weights.input &&
         !cli_sidecar_whole(&source->weights, &chunk->views[0], &chunk->weights)))
        return 0;
    if (!chunk->has_mask)
        take_missing(source, chunk);
    chunk->elements = chunk->views[0].rows * chunk->views[0].columns;
    return 1;
}

void cli_source_progress(const cli_source *source, double share)
{
    const double bytes = share * (double)source->sizes[source->current];
    cli_progress_show(source->progress, source->done_bytes + (uint64_t)bytes, source->total_bytes);
}

tally_status cli_source_read(cli_source *source, cli_chunk *chunk, int *done, tally_error *error)
{
    *done = 0;
    while (source->current < source->count) {
        if (cli_deal_skips(source)) {
            leave_current(source);
            continue;
        }
        tally_status status = source->opened ? TALLY_OK : open_current(source, error);
        int end = source->read;
        if (!status && !end && source->fresh && take_whole(source, chunk)) {
            source->read = 1;
            if (cli_deal_cuts(source))
                cli_deal_cut(source, chunk);
            return TALLY_OK;
        }
        if (!status && !end && source->deals && !cli_deal_keeps(source))
            continue;
        source->fresh = 0;
        if (end)
            cli_source_progress(source, 1);
        else if (!status)
            status = tally_input_read(source->inputs[source->current], chunk->views, &end, error);
        if (!status && !end) {
            uint64_t at = tally_input_position(source->inputs[source->current]);
            cli_progress_show(source->progress, source->done_bytes + at, source->total_bytes);
            status = fill(source, chunk, error);
            source->failed = status != TALLY_OK;
            return status;
        }
        if (!status)
            status = finish_current(source, error);
        source->failed = status != TALLY_OK;
        if (status)
            return status;
    }
    *done = 1;
    return TALLY_OK;
}

tally_status cli_source_rewind(cli_source *source, tally_error *error)
{
    /* A file that is open in the middle would be rewound by open_current as well. */
    source->current = 0;
    source->done_bytes = 0;
    source->opened = 0;
    return open_current(source, error);
}

int cli_source_spooled(const cli_source *source)
{
    for (size_t i = 0; i < source->count; i++) {
        tally_input_info info = {.struct_size = sizeof info};
        if (source->inputs[i] && tally_input_info_get(source->inputs[i], &info) == TALLY_OK &&
            info.is_spooled)
            return 1;
    }
    return 0;
}

uint64_t cli_source_hint(const cli_source *source)
{
    return source->count == 1 ? source->kind.rows * source->kind.columns : 0;
}

tally_dtype cli_source_weight_dtype(const cli_source *source)
{
    if (source->beside)
        return source->kind.dtype;
    return source->weights.input ? source->weights.info.dtype : (tally_dtype)0;
}
