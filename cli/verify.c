/* SPDX-License-Identifier: Apache-2.0 */
/* --verify: the counts beside those of the slow reference. */
#include <math.h>

#include "job.h"

/* Adds |w| of a chunk's finite weights. */
void cli_verify_weights(cli_job *job, const tally_view *view)
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

/* Sums of floats depend on their order, and the reference has its own. What rounding can make of
 * that is far below the weight of one sample. */
static int same_sum(const cli_job *job, double a, double b)
{
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-12 * job->weight;
}

static int same_flow_sums(const cli_job *job, uint64_t h)
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

int cli_verify(const cli_job *job)
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
