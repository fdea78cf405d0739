/* `tally run`: count files. */
#include <math.h>
#include <unistd.h>

#include "many.h"

/* A result, and where samples are counted for it: in its own 64-bit counters, or for a counter that
 * saturates in `narrow`, whose bins the result takes when all is counted. */
typedef struct tallied {
    tally_result *result;
    void *narrow;
    uint64_t cells;
} tallied;

/* One result in the making. */
typedef struct job {
    const cli_options *options;
    tally_context *context;
    cli_source source;
    cli_axes axes;
    tally_counter counter;
    tally_plan *plan;
    tallied ours, reference; /* reference: --verify */
    double seconds;
    double weight; /* --verify: Σ|w| of the finite weights */
    uint64_t elements;
} job;

/* ---- counting ---- */

static int fail(tally_status status, const tally_error *error)
{
    return cli_fail_status(status, error);
}

/* --set KEY=VALUE, cut at the sign; release with free. NULL after a message. */
static tally_setting *settings_make(const cli_options *options, char **memory)
{
    size_t count = options->values[CLI_SET].count, size = 1;
    for (size_t i = 0; i < count; i++)
        size += strlen(options->values[CLI_SET].texts[i]) + 1;
    tally_setting *settings = calloc(count + 1, sizeof *settings);
    *memory = malloc(size);
    if (!settings || !*memory) {
        cli_fail("out of memory");
        free(settings);
        return NULL;
    }
    char *at = *memory;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(options->values[CLI_SET].texts[i]);
        memcpy(at, options->values[CLI_SET].texts[i], length + 1);
        char *equal = strchr(at, '=');
        *equal = '\0';
        settings[i].key = at;
        settings[i].value = equal + 1;
        at += length + 1;
    }
    return settings;
}

static int saturates(tally_counter counter)
{
    return counter == TALLY_COUNTER_U16SAT || counter == TALLY_COUNTER_U8SAT;
}

static int plan_make(job *job)
{
    const cli_options *options = job->options;
    const cli_source *source = &job->source;
    tally_plan_options wanted;
    tally_error error = {""};
    char *memory = NULL;
    memset(&wanted, 0, sizeof wanted);
    wanted.struct_size = sizeof wanted;
    wanted.dimensions = source->dimensions;
    for (uint32_t d = 0; d < source->dimensions; d++) {
        wanted.axes[d] = job->axes.axes[d];
        wanted.dtypes[d] = source->kind.dtype;
    }
    wanted.channels = source->kind.channels;
    wanted.channel_mask = source->channel_mask;
    wanted.weight_dtype = cli_source_weight_dtype(source);
    wanted.counter = saturates(job->counter) ? job->counter : TALLY_COUNTER_U64;
    wanted.sum_squares = cli_has(options, CLI_SUM_SQUARES);
    wanted.n_hint = cli_source_hint(source);
    wanted.method = cli_text(options, CLI_METHOD, NULL);
    tally_setting *settings = settings_make(options, &memory);
    int code = settings ? CLI_OK : CLI_FAILED;
    if (settings) {
        wanted.settings = settings;
        wanted.settings_count = options->values[CLI_SET].count;
        tally_status status = tally_plan_create(job->context, &wanted, &job->plan, &error);
        if (status)
            code = fail(status, &error);
        /* The axes were checked, so what is left to be wrong is the method or its settings. */
        if (status == TALLY_ERROR_ARGUMENT && wanted.method)
            code = CLI_USAGE;
    }
    free(settings);
    free(memory);
    return code;
}

/* A saturating counter's sum over chunks is the sum's: min(a + b, limit) is that of what saturated
 * a and b leave. */
static int tallied_make(job *job, tallied *made)
{
    tally_error error = {""};
    tally_result_info info = {.struct_size = sizeof info};
    tally_status status =
        tally_result_create(job->plan, tally_plan_channels(job->plan),
                            (const char *const *)job->source.names, &made->result, &error);
    if (!status && saturates(job->counter)) {
        tally_result_info_get(made->result, &info);
        uint64_t cells = info.histograms * info.bins;
        made->narrow = calloc((size_t)cells, job->counter == TALLY_COUNTER_U16SAT ? 2 : 1);
        if (!made->narrow)
            return cli_fail("out of memory");
        made->cells = cells;
        status = tally_result_narrow(made->result, job->counter, &error);
    }
    return status ? fail(status, &error) : CLI_OK;
}

static tally_output tallied_output(const tallied *to)
{
    tally_output output = tally_result_output(to->result);
    if (to->narrow)
        output.counts = to->narrow;
    return output;
}

static void tallied_take(const job *job, tallied *of)
{
    uint64_t *to = tally_result_output(of->result).counts;
    for (uint64_t i = 0; i < of->cells; i++)
        to[i] = job->counter == TALLY_COUNTER_U16SAT ? ((const uint16_t *)of->narrow)[i]
                                                     : ((const uint8_t *)of->narrow)[i];
}

static void tallied_release(tallied *of)
{
    tally_result_destroy(of->result);
    free(of->narrow);
}

/* Adds |w| of a chunk's finite weights. */
static void add_weight(job *job, const tally_view *view)
{
    size_t size = tally_dtype_bytes(view->dtype);
    int64_t element = (int64_t)(size * view->channels);
    int64_t column = view->column_stride_bytes ? view->column_stride_bytes : element;
    int64_t row = view->row_stride_bytes ? view->row_stride_bytes : column * (int64_t)view->columns;
    for (uint64_t i = 0; i < view->rows * view->columns * view->channels; i++) {
        uint64_t pixel = i / view->channels, channel = i % view->channels;
        const unsigned char *at =
            (const unsigned char *)view->data + (int64_t)(pixel / view->columns) * row +
            (int64_t)(pixel % view->columns) * column + (int64_t)(channel * size);
        float single = 0;
        double value = 0;
        if (view->dtype == TALLY_F32) {
            memcpy(&single, at, sizeof single);
            value = single;
        } else if (view->dtype == TALLY_F64) {
            memcpy(&value, at, sizeof value);
        }
        if (isfinite(value))
            job->weight += fabs(value);
    }
}

/* While a file is counted whole. */
static int show_progress(void *user, uint64_t done, uint64_t total)
{
    cli_source_progress(user, total ? (double)done / (double)total : 1);
    return 0;
}

static tally_status count_chunk(job *job, const cli_chunk *chunk, tally_error *error)
{
    tally_execute_options how = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output output = tallied_output(&job->ours);
    how.mask = chunk->has_mask ? &chunk->mask : NULL;
    how.weights = chunk->has_weights ? &chunk->weights : NULL;
    if (chunk->views[0].source && job->source.progress->on) {
        how.progress = show_progress;
        how.user = &job->source;
    }
    double started = cli_seconds();
    tally_status status = tally_execute(job->plan, chunk->views, &how, &output, error);
    job->seconds += cli_seconds() - started;
    if (!status && job->reference.result) {
        how.progress = NULL;
        if (chunk->has_weights)
            add_weight(job, &chunk->weights);
        output = tallied_output(&job->reference);
        status = tally_execute_reference(job->plan, chunk->views, &how, &output, error);
    }
    job->elements += chunk->elements;
    return status;
}

static int count_all(job *job)
{
    tally_error error = {""};
    for (;;) {
        cli_chunk chunk;
        int done;
        tally_status status = cli_source_read(&job->source, &chunk, &done, &error);
        if (!status && !done)
            status = count_chunk(job, &chunk, &error);
        if (status)
            return fail(status, &error);
        if (done)
            return CLI_OK;
    }
}

/* ---- after counting ---- */

/* Sums of floats depend on their order, and the reference has its own. What rounding can make of
 * that is far below the weight of one sample. */
static int same_sum(const job *job, double a, double b)
{
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-12 * job->weight;
}

static int same_flow_sums(const job *job, uint64_t h)
{
    tally_result_info info = {.struct_size = sizeof info};
    tally_result_info_get(job->ours.result, &info);
    const void *ours = tally_result_flow_sums(job->ours.result, h);
    const void *theirs = tally_result_flow_sums(job->reference.result, h);
    int same = 1;
    for (int f = 0; ours && f < 4; f++)
        same &= info.kind == TALLY_RESULT_SUMS_F64
                    ? same_sum(job, ((const double *)ours)[f], ((const double *)theirs)[f])
                    : ((const int64_t *)ours)[f] == ((const int64_t *)theirs)[f];
    return same;
}

static int compare(const job *job)
{
    tally_result_info info = {.struct_size = sizeof info};
    tally_result_info_get(job->ours.result, &info);
    for (uint64_t h = 0; h < info.histograms; h++) {
        const void *ours = tally_result_counts(job->ours.result, h);
        const void *theirs = tally_result_counts(job->reference.result, h);
        const char *name = tally_result_name(job->ours.result, h);
        for (uint64_t i = 0; i < info.bins; i++) {
            int same = info.kind == TALLY_RESULT_SUMS_F64
                           ? same_sum(job, ((const double *)ours)[i], ((const double *)theirs)[i])
                           : ((const uint64_t *)ours)[i] == ((const uint64_t *)theirs)[i];
            if (same)
                continue;
            if (info.kind == TALLY_RESULT_SUMS_F64)
                return cli_fail(
                    "--verify: histogram \"%s\", bin %llu: %.17g, but the reference has "
                    "%.17g; please report this",
                    name, (unsigned long long)i, ((const double *)ours)[i],
                    ((const double *)theirs)[i]);
            return cli_fail(
                "--verify: histogram \"%s\", bin %llu: %llu, but the reference has %llu; "
                "please report this",
                name, (unsigned long long)i, (unsigned long long)((const uint64_t *)ours)[i],
                (unsigned long long)((const uint64_t *)theirs)[i]);
        }
        if (memcmp(tally_result_flows(job->ours.result, h),
                   tally_result_flows(job->reference.result, h), sizeof(tally_flows)) != 0)
            return cli_fail("--verify: histogram \"%s\": the numbers of samples in no bin differ "
                            "from the reference's; please report this",
                            name);
        if (!same_flow_sums(job, h))
            return cli_fail("--verify: histogram \"%s\": the weights of samples in no bin differ "
                            "from the reference's; please report this",
                            name);
    }
    cli_say(job->options, "verified: %s to the reference",
            info.kind == TALLY_RESULT_SUMS_F64 ? "equal" : "identical");
    return CLI_OK;
}

static void warn_nothing_finite(const job *job)
{
    tally_result_info info = {.struct_size = sizeof info};
    uint64_t outside = 0, nan = 0;
    tally_result_info_get(job->ours.result, &info);
    for (uint64_t h = 0; h < info.histograms; h++) {
        const tally_flows *flows = tally_result_flows(job->ours.result, h);
        outside += flows->under + flows->over + flows->nan;
        nan += flows->nan;
    }
    const char *path = cli_shown(job->source.paths[0]);
    if (job->elements == 0)
        cli_note(job->options, "%s: no samples", path);
    else if (job->axes.found && outside == info.samples)
        cli_note(job->options,
                 "%s: no sample is finite (%llu NaN, %llu infinite), so the bins are made up", path,
                 (unsigned long long)nan, (unsigned long long)(outside - nan));
}

static int finish(job *job)
{
    tally_error error = {""};
    const cli_source *source = &job->source;
    tally_device_info device = {.struct_size = sizeof device};
    tally_status status = TALLY_OK;
    for (size_t i = 0; i < source->count && !status; i++)
        status = source->skipped[i]
                     ? TALLY_OK
                     : tally_result_note(job->ours.result, cli_shown(source->paths[i]), NULL, NULL,
                                         0, 0, &error);
    if (!status)
        status = tally_plan_device(job->plan, &device, &error);
    if (!status)
        status = tally_result_note(job->ours.result, NULL, device.id, tally_plan_method(job->plan),
                                   job->seconds, job->elements * source->channels, &error);
    if (!status)
        status = tally_result_narrow(job->ours.result, job->counter, &error);
    if (status)
        return fail(status, &error);
    warn_nothing_finite(job);
    double bytes = (double)job->elements * (double)source->kind.channels *
                   (double)tally_dtype_bytes(source->kind.dtype) * source->dimensions;
    cli_say(job->options, "%llu elements in %.6f s of counting (%.2f GB/s)",
            (unsigned long long)job->elements, job->seconds,
            job->seconds > 0 ? bytes / job->seconds * 1e-9 : 0);
    return CLI_OK;
}

static void describe_source(const job *job)
{
    const cli_source *source = &job->source;
    cli_say(job->options, "%s: %s%s%s, %s, %llu channel(s)", cli_shown(source->paths[0]),
            source->kind.format, *source->kind.compression ? " in " : "", source->kind.compression,
            tally_dtype_name(source->kind.dtype), (unsigned long long)source->kind.channels);
}

static void describe_plan(const job *job)
{
    const uint64_t n = cli_source_hint(&job->source);
    uint64_t host, device;
    cli_say(job->options, "%s", tally_plan_describe(job->plan));
    if (n && !tally_plan_memory(job->plan, n, &host, &device, NULL))
        cli_say(job->options,
                "to count %llu elements at once takes %llu bytes, and %llu of the device",
                (unsigned long long)n, (unsigned long long)host, (unsigned long long)device);
}

/* Whether files had better be handed out in chunks: those are added to many bins in place, where a
 * call for all has tables of its own; a device has each channel sent on its own; and --verify adds
 * up weights. */
static int wants_chunks(const job *job)
{
    enum { MOST_BINS = 4 << 20 };
    tally_device_info device = {.struct_size = sizeof device};
    if (tally_plan_bins(job->plan) * tally_plan_channels(job->plan) > MOST_BINS)
        return 1;
    if (job->reference.result && cli_source_weight_dtype(&job->source))
        return 1;
    return job->source.channels > 1 && !tally_plan_device(job->plan, &device, NULL) &&
           device.device != TALLY_DEVICE_CPU;
}

/* Threads that count a file each, 0 for one file after the other by all threads: that is as good
 * for few large ones that need little decoding. Not what hangs on the files' order, and not for
 * tables of counts that many threads have no cache for. */
static unsigned choose_beside(const job *job)
{
    enum { MOST_BINS = 1 << 16 };
    const cli_source *source = &job->source;
    const unsigned threads = cli_threads(job->options);
    tally_device_info device = {.struct_size = sizeof device};
    const int plain = !saturates(job->counter) && !job->reference.result && !source->mask.input &&
                      !cli_source_weight_dtype(source);
    int files = 1;
    for (size_t i = 0; i < source->count; i++)
        files = files && source->sizes[i];
    const int parallel = files && threads > 1 && source->count > 1 &&
                         !tally_plan_device(job->plan, &device, NULL) &&
                         device.device == TALLY_DEVICE_CPU &&
                         tally_plan_bins(job->plan) * tally_plan_channels(job->plan) <= MOST_BINS &&
                         (source->count >= 2 * (size_t)threads || source->kind.is_image);
    if (!plain || (!parallel && !cli_has(job->options, CLI_KEEP_GOING)))
        return 0;
    return !parallel ? 1 : threads < source->count ? threads : (unsigned)source->count;
}

/* Each file by itself, `workers` at once: by a plan for one thread if there are several. */
static int count_beside(const job *job, unsigned workers, cli_many *many)
{
    struct job own = *job;
    tally_context_options one = TALLY_CONTEXT_OPTIONS_INIT;
    tally_error error = {""};
    int code = CLI_OK;
    one.device = TALLY_DEVICE_CPU;
    one.threads = 1;
    if (workers > 1) {
        own.context = NULL;
        own.plan = NULL;
        tally_status status = tally_context_create(&one, &own.context, &error);
        code = status ? fail(status, &error) : plan_make(&own);
    }
    many->plan = own.plan;
    many->workers = workers;
    if (!code)
        code = cli_many_count(many);
    if (workers > 1) {
        tally_plan_destroy(own.plan);
        tally_context_destroy(own.context);
    }
    return code;
}

static int count_source(job *job)
{
    const unsigned workers = choose_beside(job);
    job->source.chunked = wants_chunks(job);
    if (!workers)
        return count_all(job);
    cli_many many = {.source = &job->source,
                     .into = job->ours.result,
                     .keep_going = cli_has(job->options, CLI_KEEP_GOING)};
    const int code = count_beside(job, workers, &many);
    job->elements += many.elements;
    job->seconds += many.seconds;
    return code;
}

/* Whether files that failed were left out of others that were counted. */
static int some_counted(const job *job)
{
    size_t skipped = 0;
    for (size_t i = 0; i < job->source.count; i++)
        skipped += job->source.skipped[i];
    return cli_has(job->options, CLI_KEEP_GOING) && skipped && skipped < job->source.count;
}

/* One histogram of the files; *result is the caller's, and there for CLI_OK, and for CLI_FAILED if
 * files were left out. *failed: the file that kept it from being counted at all, or `count`. */
static int count_files(const cli_options *options, tally_context *context, const char *const *paths,
                       size_t count, tally_result **result, size_t *failed)
{
    job job = {.options = options, .context = context};
    tally_error error = {""};
    cli_progress progress;
    int need = cli_axes_need_data(options);
    cli_counter_get(options, &job.counter);
    double started = cli_seconds();
    *failed = count;
    cli_progress_start(&progress, options, need ? "reading" : "counting");
    tally_status status =
        cli_source_open(&job.source, options, paths, count, need, &progress, &error);
    if (status) {
        *failed = 0;
        return cli_progress_end(&progress), fail(status, &error);
    }
    describe_source(&job);
    int code = cli_axes_make(options, &job.source, context, &job.axes);
    if (code && job.source.failed)
        *failed = job.source.current;
    if (!code)
        code = plan_make(&job);
    if (!code)
        code = tallied_make(&job, &job.ours);
    if (!code && cli_has(options, CLI_VERIFY))
        code = tallied_make(&job, &job.reference);
    int left_out = CLI_OK;
    if (!code) {
        describe_plan(&job);
        progress.what = "counting";
        code = count_source(&job);
        if (code == CLI_FAILED && some_counted(&job))
            left_out = code, code = CLI_OK;
    }
    cli_progress_end(&progress);
    tallied_take(&job, &job.ours);
    tallied_take(&job, &job.reference);
    if (!code && job.reference.result)
        code = compare(&job);
    if (!code)
        code = finish(&job);
    if (!code)
        cli_say(options, "%.3f s in all", cli_seconds() - started);
    cli_source_close(&job.source);
    cli_axes_release(&job.axes);
    tally_plan_destroy(job.plan);
    if (!code) {
        *result = job.ours.result;
        job.ours.result = NULL;
    }
    tallied_release(&job.ours);
    tallied_release(&job.reference);
    return code ? code : left_out;
}

/* The same without the files that fail before anything is counted, if that is asked for: the others
 * are begun anew. */
static int count_group(const cli_options *options, tally_context *context, const char *const *paths,
                       size_t count, tally_result **result)
{
    size_t failed = count, left = count;
    const char **kept = calloc(count, sizeof *kept);
    if (!kept)
        return cli_fail("out of memory");
    memcpy(kept, paths, count * sizeof *kept);
    int code = CLI_OK;
    do {
        const int now = count_files(options, context, kept, left, result, &failed);
        code = code ? code : now;
        if (failed < left)
            memmove(kept + failed, kept + failed + 1, (--left - failed) * sizeof *kept);
        else
            left = 0;
    } while (left && cli_has(options, CLI_KEEP_GOING));
    free(kept);
    return code;
}

static int count_groups(const cli_options *options, tally_context *context, cli_target *target)
{
    static const char *const standard_input[] = {"-"};
    const char *const *paths = options->operand_count ? options->operands : standard_input;
    size_t count = options->operand_count ? options->operand_count : 1;
    size_t groups = cli_has(options, CLI_EACH) ? count : 1;
    tally_result **results = calloc(groups, sizeof(tally_result *));
    int code = results ? CLI_OK : cli_fail("out of memory");
    size_t done = 0;
    const int going = cli_has(options, CLI_KEEP_GOING);
    for (size_t g = 0; g < groups && (!code || (going && results)); g++) {
        const int now =
            count_group(options, context, paths + g, groups > 1 ? 1 : count, &results[done]);
        code = code ? code : now;
        done += results[done] != NULL;
    }
    target->write.array = cli_has(options, CLI_EACH);
    if (results && done && (!code || going)) {
        const int written = cli_results_write(target, results, done);
        code = code ? code : written;
    }
    for (size_t g = 0; results && g < groups; g++)
        tally_result_destroy(results[g]);
    free(results);
    return code;
}

/* A word with a typo looks like a file that is not there. */
static void hint_word(const cli_options *options, const char *first)
{
    if (strpbrk(first, "./"))
        return;
    for (size_t i = 0; i < cli_word_count; i++)
        if (cli_distance(first, cli_word_table[i].name, 2) <= 2)
            cli_note(options, "do you mean `tally %s`?", cli_word_table[i].name);
}

static int is_saved(const char *path)
{
    static const char begins[] = "{\"schema\":\"tally/";
    char head[sizeof begins + 1] = "";
    FILE *file = strcmp(path, "-") != 0 ? fopen(path, "rb") : NULL;
    if (!file)
        return 0;
    const size_t size = fread(head, 1, sizeof head - 1, file);
    fclose(file);
    const char *text = head + (*head == '[');
    return size == sizeof head - 1 && strncmp(text, begins, sizeof begins - 1) == 0;
}

/* After a failure: what may have been meant. */
static void hint(const cli_options *options)
{
    const char *weights = cli_text(options, CLI_WEIGHTS, ":");
    double number;
    for (size_t i = 0; i < options->operand_count; i++) {
        const char *path = options->operands[i];
        if (is_saved(path))
            cli_note(options, "%s is a saved result: `tally show` shows it", path);
        if (strcmp(path, "-") == 0 || access(path, F_OK) == 0)
            continue;
        if (i == 0)
            hint_word(options, path);
        if (cli_parse_real(path, &number))
            cli_note(options, "%s is taken for a file; an option's values follow it at once", path);
    }
    if (weights[0] != ':' && strcmp(weights, "-") != 0 && access(weights, F_OK) != 0)
        cli_note(options, "--weights :%s would be the column %s of the table", weights, weights);
}

int cli_run(const cli_options *options)
{
    cli_target target = {.format = TALLY_FORMAT_TABLE};
    tally_context *context = NULL;
    int code = cli_run_check(options, &target);
    if (code)
        return code;
    code = cli_context_open(options, &context);
    if (code)
        return code;
    code = count_groups(options, context, &target);
    tally_context_destroy(context);
    if (code == CLI_FAILED)
        hint(options);
    return code;
}
