/* SPDX-License-Identifier: Apache-2.0 */
/* The weights of samples in no bin: in an output, in results, saved, merged and shown. */
#include "execute_help.h"
#include "results.h"

enum { bins = 2, samples = 6 };
static const float values[samples] = {-1, 0, 1, 5, NAN, 6}; /* 0 … 2: one below, two above */
static const unsigned char mask[samples] = {1, 1, 1, 1, 1, 0};

typedef struct kit {
    tally_context *context;
    tally_plan *plan;
    tally_view view, weights, mask;
    tally_execute_options how;
} kit;

static kit make(tally_dtype dtype, const void *weights, tally_flow over)
{
    kit k = {.context = help_context(1),
             .view = tally_view_1d(values, TALLY_F32, samples),
             .weights = tally_view_1d(weights, dtype, samples),
             .mask = tally_view_1d(mask, TALLY_U8, samples)};
    tally_plan_options options = help_options(TALLY_F32, tally_axis_even(bins, 0, 2));
    options.axes[0].over = over;
    options.weight_dtype = dtype;
    k.plan = help_plan(k.context, &options);
    k.how = (tally_execute_options)TALLY_EXECUTE_OPTIONS_INIT;
    return k;
}

static void drop(kit *k)
{
    tally_plan_destroy(k->plan);
    tally_context_destroy(k->context);
}

static tally_status run(kit *k, int reference, const tally_output *output, tally_error *error)
{
    k->how.mask = &k->mask;
    k->how.weights = &k->weights;
    return (reference ? tally_execute_reference : tally_execute)(k->plan, &k->view, &k->how, output,
                                                                 error);
}

static void check_floats(int reference)
{
    static const double w[samples] = {0.5, 1, 2, 4, 8, 16};
    double sums[bins] = {0}, flow_sums[4] = {100, 100, 100, 100};
    tally_output output = TALLY_OUTPUT_INIT;
    tally_error error = {""};
    output.counts = sums;
    output.flow_sums = flow_sums;
    kit k = make(TALLY_F64, w, TALLY_FLOW_COUNT);
    CHECK_SAY(!run(&k, reference, &output, &error), "%s", error.message);
    CHECK_SAY(flow_sums[0] == 0.5 && flow_sums[1] == 4 && flow_sums[2] == 8 && flow_sums[3] == 16,
              "%g %g %g %g", flow_sums[0], flow_sums[1], flow_sums[2], flow_sums[3]);
    output.accumulate = 1;
    CHECK_SAY(!run(&k, reference, &output, &error), "%s", error.message);
    CHECK_SAY(flow_sums[0] == 1 && flow_sums[1] == 8 && flow_sums[2] == 16 && flow_sums[3] == 32,
              "added: %g %g %g %g", flow_sums[0], flow_sums[1], flow_sums[2], flow_sums[3]);
    drop(&k);
    output.accumulate = 0;
    k = make(TALLY_F64, w, TALLY_FLOW_CLAMP);
    CHECK_SAY(!run(&k, reference, &output, &error), "%s", error.message);
    CHECK_SAY(flow_sums[1] == 0 && sums[1] == 6, "clamped: %g outside, %g inside", flow_sums[1],
              sums[1]);
    drop(&k);
}

static void check_integers(int reference)
{
    static const int64_t w[samples] = {-7, 1, 2, INT64_MAX, 3, 4};
    int64_t sums[bins] = {0}, flow_sums[4] = {0, 1, 0, 0};
    tally_output output = TALLY_OUTPUT_INIT;
    tally_error error = {""};
    output.counts = sums;
    output.flow_sums = flow_sums;
    output.accumulate = 1;
    kit k = make(TALLY_I64, w, TALLY_FLOW_COUNT);
    CHECK_SAY(run(&k, reference, &output, &error) == TALLY_ERROR_DATA &&
                  strstr(error.message, "above the bins passes int64") && !sums[0] &&
                  flow_sums[1] == 1,
              "a sum past int64: \"%s\"", error.message);
    output.accumulate = 0;
    CHECK_SAY(!run(&k, reference, &output, &error), "%s", error.message);
    CHECK_SAY(flow_sums[0] == -7 && flow_sums[1] == INT64_MAX && flow_sums[2] == 3 &&
                  flow_sums[3] == 4,
              "%" PRId64 " %" PRId64, flow_sums[0], flow_sums[1]);
    drop(&k);
    /* Two of 2^63: nobody who does not ask is refused. */
    static const uint64_t huge[samples] = {0, 1, 2, UINT64_C(1) << 63, 0, 0};
    k = make(TALLY_U64, huge, TALLY_FLOW_COUNT);
    CHECK_SAY(run(&k, reference, &output, &error) == TALLY_ERROR_DATA, "2^63 fits int64");
    output.flow_sums = NULL;
    CHECK_SAY(!run(&k, reference, &output, &error), "%s", error.message);
    drop(&k);
}

static void check_refusal(void)
{
    uint64_t counts[bins];
    double flow_sums[4];
    tally_output output = TALLY_OUTPUT_INIT;
    tally_error error = {""};
    output.counts = counts;
    output.flow_sums = flow_sums;
    kit k = make(0, NULL, TALLY_FLOW_COUNT);
    CHECK_SAY(tally_execute(k.plan, &k.view, NULL, &output, &error) == TALLY_ERROR_ARGUMENT &&
                  strstr(error.message, "flow_sums"),
              "without weights: \"%s\"", error.message);
    drop(&k);
}

static tally_result *counted(kit *k)
{
    tally_result *result = NULL;
    tally_error error = {""};
    CHECK_SAY(!tally_result_create(k->plan, 1, NULL, &result, &error), "%s", error.message);
    tally_output output = tally_result_output(result);
    CHECK_SAY(!run(k, 0, &output, &error), "%s", error.message);
    return result;
}

/* Without the keys: as versions wrote it that did not have them. */
static tally_result *parsed(const char *text)
{
    tally_result *result = NULL;
    tally_error error = {""};
    CHECK_SAY(!tally_result_parse(text, strlen(text), "saved", 0, &result, &error), "%s",
              error.message);
    return result;
}

static void check_results(void)
{
    static const double w[samples] = {0.5, 1, 2, 4, 8, 16};
    kit k = make(TALLY_F64, w, TALLY_FLOW_COUNT);
    tally_error error = {""};
    tally_result *one = counted(&k), *two = counted(&k);
    CHECK_SAY(!tally_result_merge(one, two, &error), "%s", error.message);
    const double *sums = tally_result_flow_sums(one, 0);
    CHECK_SAY(sums && sums[0] == 1 && sums[1] == 8 && sums[2] == 16 && sums[3] == 32, "merged");
    CHECK_SAY(!tally_result_flow_sums(one, 1), "there is one histogram");
    kept csv = written(one, TALLY_FORMAT_CSV, NULL), table = written(one, TALLY_FORMAT_TABLE, NULL);
    CHECK_SAY(strstr(csv.bytes, ",-inf,0,1\n") && strstr(csv.bytes, ",2,inf,8\n") &&
                  strstr(csv.bytes, ",nan,nan,16\n") && strstr(csv.bytes, ",,,32\n"),
              "%s", csv.bytes);
    CHECK_SAY(strstr(table.bytes, "above    8   25.81%  2 samples"), "%s", table.bytes);
    kept json = written(two, TALLY_FORMAT_JSON, NULL);
    tally_result *back = parsed(json.bytes);
    CHECK_SAY(back && same_result(two, back), "saved and read");
    tally_result_destroy(back);
    char *keys = strstr(json.bytes, ",\"underflow_sum\"");
    CHECK_SAY(keys != NULL, "%s", json.bytes);
    if (keys) {
        memmove(keys, strchr(keys, '}'), strlen(strchr(keys, '}')) + 1);
        tally_result *old = parsed(json.bytes);
        CHECK_SAY(old && !tally_result_flow_sums(old, 0), "a file without them knows none");
        kept bare = written(old, TALLY_FORMAT_TABLE, NULL);
        CHECK_SAY(strstr(bare.bytes, "above    ?           1 sample"), "%s", bare.bytes);
        CHECK_SAY(!tally_result_merge(one, old, &error) && !tally_result_flow_sums(one, 0),
                  "what one part does not know, the whole does not");
        free(bare.bytes);
        tally_result_destroy(old);
    }
    free(csv.bytes);
    free(table.bytes);
    free(json.bytes);
    tally_result_destroy(one);
    tally_result_destroy(two);
    drop(&k);
}

static void check_merge_overflow(void)
{
    static const int64_t w[samples] = {0, 1, 2, INT64_MAX, 3, 4};
    kit k = make(TALLY_I64, w, TALLY_FLOW_COUNT);
    tally_result *one = counted(&k), *two = counted(&k);
    tally_error error = {""};
    CHECK_SAY(tally_result_merge(one, two, &error) && strstr(error.message, "int64"), "%s",
              error.message);
    CHECK_SAY(((const int64_t *)tally_result_counts(one, 0))[0] == 1, "nothing was added");
    tally_result_destroy(one);
    tally_result_destroy(two);
    drop(&k);
}

int main(void)
{
    for (int reference = 0; reference < 2; reference++) {
        check_floats(reference);
        check_integers(reference);
    }
    check_refusal();
    check_results();
    check_merge_overflow();
    printf("%d checks\n", checks);
    return failures != 0;
}
