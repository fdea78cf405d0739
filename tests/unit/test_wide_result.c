/* SPDX-License-Identifier: Apache-2.0 */
/* Results of float weights with a limit: parts that are saved, read and merged in any order have
 * the bits of the whole; what does not fit together, or is damaged, is refused. */
#include "execute_help.h"
#include "results.h"

enum { bins = 7, n = 4000, parts = 5 };

static float samples[n];
static double weights[n];

static tally_plan *plan_of(tally_context *context, double limit)
{
    tally_plan_options o = help_options(TALLY_F32, tally_axis_even(bins, 0, 10));
    o.weight_dtype = TALLY_F64;
    o.weight_limit = limit;
    return help_plan(context, &o);
}

static tally_result *count(const tally_plan *plan, int begin, int end)
{
    const tally_view view = tally_view_1d(samples + begin, TALLY_F32, (uint64_t)(end - begin)),
                     w = tally_view_1d(weights + begin, TALLY_F64, (uint64_t)(end - begin));
    tally_execute_options how = TALLY_EXECUTE_OPTIONS_INIT;
    tally_result *result = NULL;
    tally_error error = {""};
    how.weights = &w;
    CHECK_SAY(!tally_result_create(plan, 1, NULL, &result, &error), "%s", error.message);
    const tally_output output = tally_result_output(result);
    CHECK_SAY(!tally_execute(plan, &view, &how, &output, &error), "%s", error.message);
    return result;
}

static kept text_of(const tally_result *result)
{
    kept text = {0};
    tally_error error = {""};
    CHECK_SAY(!tally_result_write(&result, 1, TALLY_FORMAT_JSON, NULL, keep, &text, &error), "%s",
              error.message);
    return text;
}

/* Saved and read again. */
static tally_result *through(tally_result *result)
{
    tally_result *back = NULL;
    tally_error error = {""};
    kept text = text_of(result);
    CHECK_SAY(!tally_result_parse(text.bytes, text.size, "x", 0, &back, &error), "%s",
              error.message);
    free(text.bytes);
    tally_result_destroy(result);
    return back;
}

/* All that is summed. */
static int same(const tally_result *a, const tally_result *b)
{
    return !memcmp(a->wide, b->wide, bins * sizeof *a->wide) &&
           !memcmp(a->wide_flows, b->wide_flows, 4 * sizeof *a->wide_flows) &&
           !memcmp(tally_result_counts(a, 0), tally_result_counts(b, 0), bins * sizeof(double)) &&
           !memcmp(tally_result_flow_sums(a, 0), tally_result_flow_sums(b, 0), 4 * sizeof(double));
}

static void check_merging(const tally_plan *plan)
{
    tally_result *whole = count(plan, 0, n), *sum = NULL;
    tally_error error = {""};
    for (int i = 0; i < parts; i++) {
        const int p = i * 3 % parts;
        tally_result *part = through(count(plan, n / parts * p, n / parts * (p + 1)));
        if (sum)
            CHECK_SAY(!tally_result_merge(sum, part, &error), "%s", error.message);
        if (sum)
            tally_result_destroy(part);
        else
            sum = part;
        sum = through(sum);
    }
    CHECK(same(whole, sum));
    tally_result *joined = NULL;
    CHECK_SAY(!tally_result_rebin(sum, 0, bins, &joined, &error), "%s", error.message);
    tally_wide total = sum->wide[0];
    double rounded;
    for (int b = 1; b < bins; b++)
        tally_wide_add(&total, &sum->wide[b], 1);
    tally_wide_round(&total, 1, sum->weight_limit, &rounded, NULL);
    CHECK(*(const double *)tally_result_counts(joined, 0) == rounded);
    CHECK(joined->wide && !memcmp(joined->wide, &total, sizeof total) &&
          !memcmp(joined->wide_flows, sum->wide_flows, 4 * sizeof total));
    tally_result_destroy(joined);
    tally_result_destroy(whole);
    tally_result_destroy(sum);
}

static void check_refusals(tally_context *context, const tally_plan *plan)
{
    static const double limits[] = {0, 8.5, 15.9, 16};
    tally_result *one = count(plan, 0, n);
    for (int i = 0; i < 4; i++) {
        tally_plan *other_plan = plan_of(context, limits[i]);
        tally_result *other = count(other_plan, 0, n);
        tally_error error = {""};
        const tally_status status = tally_result_merge(one, other, &error);
        CHECK_SAY((i == 1 || i == 2) ? !status
                                     : status == TALLY_ERROR_ARGUMENT &&
                                           strstr(error.message, "only sums of one limit"),
                  "%g: %s", limits[i], error.message);
        tally_result_destroy(other);
        tally_plan_destroy(other_plan);
    }
    tally_result_destroy(one);
}

static void damage(const kept *text, const char *from, const char *to, const char *says)
{
    tally_result *back = NULL;
    tally_error error = {""};
    const char *at = strstr(text->bytes, from);
    if (!CHECK_SAY(at != NULL, "no %s", from))
        return;
    const size_t before = (size_t)(at - text->bytes), after = text->size - before - strlen(from);
    char *changed = malloc(text->size + strlen(to));
    if (!changed)
        abort();
    memcpy(changed, text->bytes, before);
    memcpy(changed + before, to, strlen(to));
    memcpy(changed + before + strlen(to), at + strlen(from), after);
    const tally_status status =
        tally_result_parse(changed, before + strlen(to) + after, "x", 0, &back, &error);
    CHECK_SAY(status == TALLY_ERROR_FORMAT && strstr(error.message, says), "%s: %s", to,
              error.message);
    tally_result_destroy(back);
    free(changed);
}

static void check_damage(const tally_plan *plan)
{
    tally_result *one = count(plan, 0, n);
    kept text = text_of(one);
    damage(&text, "\"units\":[\"", "\"units\":[\"g", "32 hexadecimal digits");
    damage(&text, "\"units\":[\"", "\"units\":[1,\"", "the axes have 7 bins");
    damage(&text, "\"units\":[\"0", "\"units\":[\"1", "but the sum is");
    damage(&text, "\"flow_units\":[", "\"flow_units\":[\"\",", "must have 4 sums");
    damage(&text, "\"units\":", "\"other\":", "a histogram has units");
    damage(&text, "\"weight_limit\":", "\"other\":", "only then, a histogram has units");
    damage(&text, "\"weight_limit\":", "\"weight_limit\":-", "weight_limit must be a number");
    damage(&text, "\"weights\":\"f64\"", "\"weights\":\"i64\"", "beside \"weights\":\"f64\"");
    free(text.bytes);
    tally_result_destroy(one);
}

int main(void)
{
    tally_context *context = help_context(1);
    tally_plan *plan = plan_of(context, 9);
    for (int i = 0; i < n; i++) {
        samples[i] = (float)(unit() * 12 - 1);
        weights[i] = ldexp(unit(), 3 - (int)below(70));
    }
    check_merging(plan);
    check_refusals(context, plan);
    check_damage(plan);
    tally_plan_destroy(plan);
    tally_context_destroy(context);
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
