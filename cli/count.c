/* SPDX-License-Identifier: Apache-2.0 */
/* Counting the files of one result, one after the other or several at once. */
#include "job.h"
#include "many.h"

/* While a file is counted whole. */
static int show_progress(void *user, uint64_t done, uint64_t total)
{
    cli_source_progress(user, total ? (double)done / (double)total : 1);
    return 0;
}

/* All of a file by its dictionaries; 0: that is not possible, or a failure, which counting the
 * chunk will say. */
static int count_codes(cli_job *job, const cli_chunk *chunk, const tally_output *output)
{
    const cli_source *source = &job->source;
    tally_error unsaid;
    int32_t counted = 0;
    if (chunk->views[0].source && !cli_deal_cuts(source) &&
        (!chunk->has_mask || chunk->is_missing) && !chunk->has_weights && !job->reference.result &&
        !job->by_flows && !cli_has(job->options, CLI_METHOD))
        tally_input_count(source->inputs[source->current], job->plan, output, &counted, &unsaid);
    if (counted)
        cli_say(job->options, "%s: counted by dictionaries",
                cli_shown(source->paths[source->current]));
    return counted;
}

static tally_status count_chunk(cli_job *job, const cli_chunk *chunk, tally_error *error)
{
    tally_execute_options how = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output output = cli_tallied_output(&job->ours);
    how.mask = chunk->has_mask ? &chunk->mask : NULL;
    how.weights = chunk->has_weights ? &chunk->weights : NULL;
    if (chunk->views[0].source && job->source.progress->on) {
        how.progress = show_progress;
        how.user = &job->source;
    }
    double started = cli_seconds();
    tally_status status = TALLY_OK;
    if (!count_codes(job, chunk, &output))
        status = tally_execute(job->plan, chunk->views, &how, &output, error);
    job->seconds += cli_seconds() - started;
    if (!status && job->reference.result) {
        how.progress = NULL;
        if (chunk->has_weights)
            cli_verify_weights(job, &chunk->weights);
        output = cli_tallied_output(&job->reference);
        status = tally_execute_reference(job->plan, chunk->views, &how, &output, error);
    }
    if (!status && job->by_flows)
        cli_by_add(job, chunk);
    job->elements += chunk->elements;
    return status;
}

static int count_all(cli_job *job)
{
    tally_error error = {""};
    for (;;) {
        cli_chunk chunk;
        int done;
        tally_status status = cli_source_read(&job->source, &chunk, &done, &error);
        if (!status && !done)
            status = count_chunk(job, &chunk, &error);
        if (status)
            return cli_fail_status(status, &error);
        if (done)
            return CLI_OK;
    }
}

/* Whether files had better be handed out in chunks: those are added to many bins in place, where a
 * call for all has tables of its own; and --verify adds up weights. */
static int wants_chunks(const cli_job *job)
{
    enum { MOST_BINS = 4 << 20 };
    return tally_plan_bins(job->plan) * tally_plan_channels(job->plan) > MOST_BINS ||
           job->by_flows || /* its samples are looked at one by one */
           (job->reference.result && cli_source_weight_dtype(&job->source));
}

/* Threads that count a file each, 0 for one file after the other by all threads: that is as good
 * for few large ones that need little decoding. Not what hangs on the files' order, and not for
 * tables of counts that many threads have no cache for. */
static unsigned choose_beside(const cli_job *job)
{
    enum { MOST_BINS = 1 << 16 };
    const cli_source *source = &job->source;
    const unsigned threads = cli_threads(job->options);
    tally_device_info device = {.struct_size = sizeof device};
    const int plain = !job->options->team && !cli_saturates(job->counter) && !job->by_flows &&
                      !job->reference.result && !source->mask.input &&
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
static int count_beside(const cli_job *job, unsigned workers, cli_many *many)
{
    cli_job own = *job;
    tally_context_options one = TALLY_CONTEXT_OPTIONS_INIT;
    tally_error error = {""};
    int code = CLI_OK;
    one.device = TALLY_DEVICE_CPU;
    one.threads = 1;
    if (workers > 1) {
        own.context = NULL;
        own.plan = NULL;
        tally_status status = tally_context_create(&one, &own.context, &error);
        code = status ? cli_fail_status(status, &error) : cli_job_plan(&own);
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

/* Where no mask was given, one says what is missing, as NaN does. */
static void count_missing(const cli_job *job, const cli_tallied *of)
{
    tally_result_info info = {.struct_size = sizeof info};
    if (!of->result || job->source.mask.input)
        return;
    tally_flows *flows = tally_result_output(of->result).flows;
    tally_result_info_get(of->result, &info);
    for (uint64_t h = 0; h < info.histograms; h++) {
        flows[h].nan += flows[h].masked;
        flows[h].masked = 0;
    }
}

static int count_files(cli_job *job)
{
    const unsigned workers = choose_beside(job);
    job->source.chunked = wants_chunks(job);
    if (!workers)
        return count_all(job);
    cli_many many = {.source = &job->source,
                     .into = job->ours.result,
                     .by_codes = !cli_has(job->options, CLI_METHOD),
                     .keep_going = cli_has(job->options, CLI_KEEP_GOING)};
    const int code = count_beside(job, workers, &many);
    job->elements += many.elements;
    job->seconds += many.seconds;
    return code;
}

int cli_job_count(cli_job *job)
{
    const int code = count_files(job);
    count_missing(job, &job->ours);
    count_missing(job, &job->reference);
    return code;
}
