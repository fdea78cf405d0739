/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of one axis and their counts, of programs that end at any error. */
#ifndef COUNTED_H
#define COUNTED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/tally.h>

enum { most_bins = 70000 };

typedef struct answer {
    uint64_t counts[most_bins];
    tally_flows flows;
} answer;

static inline void die(const char *what, const tally_error *error)
{
    fprintf(stderr, "FAILED: %s: %s\n", what, error->message);
    exit(1);
}

/* NULL where the device has too little local memory. */
static inline tally_plan *plan_by(tally_context *context, const tally_plan_options *o)
{
    tally_plan *plan = NULL;
    tally_error error = {""};
    tally_status status = tally_plan_create(context, o, &plan, &error);
    if (status && (status != TALLY_ERROR_UNSUPPORTED || !strstr(error.message, "local memory")))
        die(o->method, &error);
    return plan;
}

static inline void count(const tally_plan *plan, int reference, const tally_view *view, answer *a)
{
    tally_output out = TALLY_OUTPUT_INIT;
    tally_error error = {""};
    memset(a, 0, sizeof *a);
    out.counts = a->counts;
    out.flows = &a->flows;
    if ((reference ? tally_execute_reference : tally_execute)(plan, view, NULL, &out, &error))
        die(tally_plan_method(plan), &error);
}

#endif
