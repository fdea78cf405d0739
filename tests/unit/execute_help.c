/* SPDX-License-Identifier: Apache-2.0 */
#include "execute_help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input_help.h"
#include "plan/plan.h"

enum { PATTERN = 0xa5 };

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

int help_is_slow(void)
{
#ifdef SANITIZED
    return 1;
#else
    const char *preload = getenv("LD_PRELOAD"); /* valgrind's own library is in it */
    return getenv("TALLY_EMULATED") || (preload && strstr(preload, "vgpreload"));
#endif
}

tally_context *help_context(uint32_t threads)
{
    tally_context_options options = TALLY_CONTEXT_OPTIONS_INIT;
    tally_context *context = NULL;
    tally_error error = {""};
    options.device = TALLY_DEVICE_CPU;
    options.threads = threads;
    if (tally_context_create(&options, &context, &error)) {
        printf("no context: %s\n", error.message);
        exit(1);
    }
    return context;
}

tally_plan_options help_options(tally_dtype dtype, tally_axis axis)
{
    tally_plan_options options;
    memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    options.dimensions = 1;
    options.axes[0] = axis;
    options.dtypes[0] = dtype;
    return options;
}

tally_plan *help_plan(tally_context *context, const tally_plan_options *options)
{
    tally_plan *plan = NULL;
    tally_error error = {""};
    if (tally_plan_create(context, options, &plan, &error)) {
        printf("no plan: %s\n", error.message);
        exit(1);
    }
    return plan;
}

tally_output help_sheet(sheet *s, int squares)
{
    tally_output output = TALLY_OUTPUT_INIT;
    memset(s, PATTERN, sizeof *s);
    output.counts = &s->counts;
    output.flows = s->flows;
    output.sum_squares = squares ? s->squares : NULL;
    return output;
}

int help_untouched(const sheet *s)
{
    const unsigned char *p = (const unsigned char *)s;
    for (size_t i = 0; i < sizeof *s; i++) {
        if (p[i] != PATTERN)
            return 0;
    }
    return 1;
}

void help_expect_no_plan(tally_context *context, const tally_plan_options *options,
                         tally_status status, const char *words, const char *file, int line)
{
    tally_plan *const none = (tally_plan *)&status;
    tally_plan *plan = none;
    tally_error error = {""};
    tally_status got = tally_plan_create(context, options, &plan, &error);
    check_that(got == status, "the plan's status", file, line, "%s, expected %s; %s",
               tally_status_string(got), tally_status_string(status), error.message);
    check_that(plan == none, "no plan", file, line, " ");
    check_that(strstr(error.message, words) != NULL, words, file, line, "in: %s", error.message);
    got = tally_plan_create(context, options, &plan, NULL);
    check_that(got == status && plan == none, "the same without an error", file, line, " ");
}

void help_expect_no_run(const tally_plan *plan, const tally_view *views,
                        const tally_execute_options *options, void (*change)(tally_output *),
                        tally_status status, const char *words, const char *file, int line)
{
    for (int reference = 0; reference < 2; reference++) {
        sheet s;
        tally_error error = {""};
        tally_output output = help_sheet(&s, plan && tally_plan_options_get(plan)->sum_squares);
        if (change)
            change(&output);
        tally_status got = reference
                               ? tally_execute_reference(plan, views, options, &output, &error)
                               : tally_execute(plan, views, options, &output, &error);
        check_that(got == status, "the call's status", file, line, "%s, expected %s; %s",
                   tally_status_string(got), tally_status_string(status), error.message);
        check_that(help_untouched(&s), "outputs untouched", file, line, " ");
        check_that(strstr(error.message, words) != NULL, words, file, line, "in: %s",
                   error.message);
        got = tally_execute(plan, views, options, &output, NULL);
        check_that(got == status, "the same without an error", file, line, " ");
    }
}
