/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Outputs in device memory: every counter and policy against the reference, on our queue and on a
 * caller's.
 *
 *     test_output [opencl|cuda]
 */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "drivers.h"
#include "output_help.h"

static int fence; /* the last group may store, whatever the device says (kernels/finish.h) */

static void try_setup(const tally_plan *plan, const setup *s)
{
    tally_error error = {""}, wrong = {""};
    char what[160];
    tally_output out = output_of(s, 1), want = output_of(s, 0);
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    tally_view view = view_of(s), host = tally_view_1d(&data, s->dtype, s->n);
    snprintf(what, sizeof what, "%s %s %llu bins, %llu samples, counter %d, flows %d%d%d%s%s%s",
             s->method, tally_dtype_name(s->dtype), (unsigned long long)s->bins,
             (unsigned long long)s->n, (int)s->counter, (int)s->under, (int)s->over, (int)s->nan,
             s->accumulate ? ", accumulate" : "", s->flows ? ", flows" : "",
             s->on_stream ? ", stream" : "");
    fill_outputs();
    const int has = device->has_fence;
    device->has_fence |= fence;
    e.stream = s->on_stream ? stream : NULL;
    tally_status status = tally_execute(plan, &view, &e, &out, &error);
    if (s->on_stream)
        finish_stream();
    tally_status expected = tally_execute_reference(plan, &host, NULL, &want, &wrong);
    device->has_fence = has;
    CHECK_SAY(status == expected && same(), "%s: %s", what, error.message);
}

/* Eight of each plan's sixteen calls let the last group of several store: OpenCL 1.2 does not
 * promise the fence that this needs, PoCL on a processor has it. */
static void test_all(void)
{
    static const struct {
        const char *method;
        tally_dtype dtype;
        uint64_t bins;
    } plans[] = {{"private-shared", TALLY_U8, 256},  {"lane-private", TALLY_U8, 1000},
                 {"lane-private", TALLY_U8, 7},      {"podlozhnyuk-64", TALLY_U8, 55},
                 {"lane-private", TALLY_F32, 50},    {"swizzled", TALLY_F32, 700},
                 {"private-global", TALLY_F32, 333}, {"atomic-global", TALLY_F32, 1}};
    for (size_t p = 0; p < sizeof plans / sizeof *plans; p++) {
        for (unsigned counter = 0; counter < 4; counter++) {
            setup s = {plans[p].method,
                       plans[p].dtype,
                       plans[p].bins,
                       most,
                       (tally_counter)counter,
                       0,
                       0,
                       0,
                       0,
                       1,
                       0};
            for (unsigned policy = 0; policy < 3; policy++) {
                tally_error error = {""};
                s.under = (tally_flow)(policy == 2 ? 0 : policy);
                s.over = (tally_flow)(policy % 3);
                tally_plan *plan = make_plan(&s, &error);
                if (!plan && strstr(error.message, "podlozhnyuk"))
                    continue;
                CHECK_SAY(plan != NULL, "%s: %s", s.method, error.message);
                for (unsigned bits = 0; plan && bits < 16; bits++) {
                    static const uint64_t sizes[] = {most, 0, 1, 4099};
                    s.accumulate = (int)(bits & 1);
                    s.flows = (int)(bits >> 1 & 1);
                    s.on_stream = (int)(bits >> 2 & 1);
                    fence = (int)(bits >> 3);
                    s.n = sizes[(bits + counter) % 4];
                    try_setup(plan, &s);
                }
                tally_plan_destroy(plan);
            }
        }
    }
}

static int stop(void *user, uint64_t done, uint64_t total)
{
    (void)user;
    return done == 0 && total == most;
}

static void test_refusals(void)
{
    setup s = {"private-shared", TALLY_U8, 256, most, 0, 0, 0, 0, 0, 1, 0};
    tally_error error = {""};
    tally_plan *plan = make_plan(&s, &error);
    CHECK_SAY(plan != NULL, "a plan: %s", error.message);
    if (!plan)
        return;
    fill_outputs();
    tally_output out = output_of(&s, 1);
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    tally_view view = view_of(&s);
    e.progress = stop;
    CHECK_SAY(tally_execute(plan, &view, &e, &out, &error) == TALLY_ERROR_CANCELLED && same(),
              "cancelled ahead: %s", error.message);
    view = tally_view_1d(&data, s.dtype, s.n);
    e.progress = NULL;
    tally_output want = output_of(&s, 0);
    CHECK_SAY(!tally_execute(plan, &view, &e, &out, &error) &&
                  !tally_execute_reference(plan, &view, NULL, &want, &error) && same(),
              "samples of the host: %s", error.message);
    if (cuda)
        out.counts = (char *)out.counts + 4;
    else
        view.batches = 9, view.columns = 100;
    CHECK_SAY(tally_execute(plan, &view, &e, &out, &error) == TALLY_ERROR_ARGUMENT &&
                  strstr(error.message, cuda ? "aligned" : "do not fit"),
              "an output that cannot be: %s", error.message);
    tally_plan_destroy(plan);
}

int main(int argc, char **argv)
{
    if (!open_all(argc, argv))
        return 77;
    test_all();
    test_refusals();
    return close_all();
}
