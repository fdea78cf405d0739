/* SPDX-License-Identifier: Apache-2.0 */
/* What one result is counted by, and where to. */
#include "job.h"

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

int cli_saturates(tally_counter counter)
{
    return counter == TALLY_COUNTER_U16SAT || counter == TALLY_COUNTER_U8SAT;
}

int cli_job_plan(cli_job *job)
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
    wanted.weight_dtype =
        cli_has(options, CLI_OF) ? (tally_dtype)0 : cli_source_weight_dtype(source);
    wanted.counter = cli_saturates(job->counter) ? job->counter : TALLY_COUNTER_U64;
    wanted.sum_squares = cli_has(options, CLI_SUM_SQUARES);
    wanted.weight_limit = job->axes.weight_limit;
    const char *limit = cli_text(options, CLI_WEIGHT_LIMIT, NULL);
    if (limit && (!cli_parse_real(limit, &wanted.weight_limit) || wanted.weight_limit <= 0))
        return cli_usage(options->word, "--weight-limit %s: a number above 0 is expected", limit);
    wanted.n_hint = cli_source_hint(source);
    wanted.method = cli_text(options, CLI_METHOD, NULL);
    tally_setting *settings = settings_make(options, &memory);
    int code = settings ? CLI_OK : CLI_FAILED;
    if (settings) {
        wanted.settings = settings;
        wanted.settings_count = options->values[CLI_SET].count;
        tally_status status = tally_plan_create(job->context, &wanted, &job->plan, &error);
        if (status == TALLY_ERROR_ARGUMENT && job->axes.found && !wanted.method) /* by the data */
            code = cli_fail("%s: %s", cli_shown(source->paths[0]), error.message);
        else if (status)
            code = cli_fail_status(status, &error);
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
int cli_tallied_make(cli_job *job, cli_tallied *made)
{
    tally_error error = {""};
    tally_result_info info = {.struct_size = sizeof info};
    tally_status status =
        tally_result_create(job->plan, tally_plan_channels(job->plan),
                            (const char *const *)job->source.names, &made->result, &error);
    if (!status && cli_saturates(job->counter)) {
        tally_result_info_get(made->result, &info);
        uint64_t cells = info.histograms * info.bins;
        made->narrow = calloc((size_t)cells, job->counter == TALLY_COUNTER_U16SAT ? 2 : 1);
        if (!made->narrow)
            return cli_fail("out of memory");
        made->cells = cells;
        status = tally_result_narrow(made->result, job->counter, &error);
    }
    return status ? cli_fail_status(status, &error) : CLI_OK;
}

tally_output cli_tallied_output(const cli_tallied *to)
{
    tally_output output = tally_result_output(to->result);
    if (to->narrow)
        output.counts = to->narrow;
    return output;
}

void cli_tallied_take(const cli_job *job, cli_tallied *of)
{
    uint64_t *to = tally_result_output(of->result).counts;
    for (uint64_t i = 0; i < of->cells; i++)
        to[i] = job->counter == TALLY_COUNTER_U16SAT ? ((const uint16_t *)of->narrow)[i]
                                                     : ((const uint8_t *)of->narrow)[i];
}

void cli_tallied_release(cli_tallied *of)
{
    tally_result_destroy(of->result);
    free(of->narrow);
}
