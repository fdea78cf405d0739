/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every method of a device against the reference on random calls, with random settings of the
 * method: bit-identical counts and flows, conservation. Walks the registry, so a new method is
 * tested without an edit here.
 *
 *     test_methods [SEED [CASES [cpu|opencl|cuda [SECONDS]]]]
 *
 * SEED may be - for the clock's. Stops when the SECONDS are over (0: never), whatever the number of
 * cases; on devices inputs stay small.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../common/random_settings.h"
#include "answer.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

typedef struct {
    tally_context *context;
    unsigned flags;                /* random_case_make's */
    uint64_t comparisons, refused; /* calls that a policy of the case made fail */
    uint64_t with_settings;        /* comparisons */
} session;

/* Whether the method's answer is `want`, which is the reference's. */
static int compare(session *s, const random_case *c, const tally_plan *plan, int accumulate,
                   const answer *want)
{
    answer got = answer_make(c, tally_plan_bins(plan), accumulate);
    answer_run(&got, c, plan, accumulate, 0);
    int ok = answer_same(&got, want) && (got.status == TALLY_OK || got.status == TALLY_ERROR_DATA);
    if (!ok)
        fprintf(stderr, "execute: %s: %s; reference: %s: %s\n", tally_status_string(got.status),
                got.error.message, tally_status_string(want->status), want->error.message);
    if (ok && !got.status && !accumulate && !c->has_weights && c->plan.counter <= TALLY_COUNTER_U32)
        ok = answer_conserves(&got, c);
    s->comparisons++;
    s->refused += got.status != TALLY_OK;
    answer_free(&got);
    return ok;
}

/* The plan of the method with settings drawn from the seed, or without where it does not take those
 * together. */
static tally_status make_plan(const session *s, random_case *c, random_settings *settings,
                              const tally_method_info *method, uint64_t seed, tally_plan **plan,
                              tally_error *error)
{
    uint64_t bins = 1;
    for (uint32_t d = 0; d < c->plan.dimensions; d++)
        bins *= c->plan.axes[d].bins;
    c->plan.method = method->name;
    settings->count = 0;
    if (method->parameters)
        random_settings_draw(settings, seed, method->parameters, bins);
    c->plan.settings = settings->list;
    c->plan.settings_count = settings->count;
    tally_status status = tally_plan_create(s->context, &c->plan, plan, error);
    if (status == TALLY_ERROR_UNSUPPORTED && settings->count) {
        c->plan.settings_count = settings->count = 0;
        status = tally_plan_create(s->context, &c->plan, plan, error);
    }
    return status;
}

static int run_case(session *s, uint64_t seed)
{
    random_case c;
    answer want = {0};
    int ok = 1, accumulate = (int)(seed & 1), made = 0;
    if (random_case_make(&c, seed, s->flags, NULL))
        return 0;
    for (uint32_t m = 0; m <= tally_method_count() && ok; m++) {
        tally_method_info info = {.struct_size = sizeof info, .name = "auto"};
        tally_plan *plan = NULL;
        tally_error error = {""};
        random_settings settings;
        char said[160] = "";
        if (m < tally_method_count())
            tally_method_get(m, &info, NULL);
        if (!strcmp(info.name, "serial"))
            continue;
        tally_status status = make_plan(s, &c, &settings, &info, seed * 1000003 + m, &plan, &error);
        if (status == TALLY_ERROR_UNSUPPORTED)
            continue;
        random_settings_say(&settings, said, sizeof said);
        if (status) {
            /* An axis that float64 cannot hold is refused alike by every method. */
            ok = status == TALLY_ERROR_ARGUMENT && !strncmp(error.message, "axis", 4);
            if (!ok)
                fprintf(stderr, "plan: %s\n", error.message);
            break;
        }
        if (!made) {
            want = answer_make(&c, tally_plan_bins(plan), accumulate);
            answer_run(&want, &c, plan, accumulate, 1);
            made = 1;
        }
        ok = compare(s, &c, plan, accumulate, &want);
        if (!ok)
            fprintf(stderr, "FAILED method %s seed %llu: %s%s\n", info.name,
                    (unsigned long long)seed, c.text, said);
        s->with_settings += settings.count > 0;
        tally_plan_destroy(plan);
    }
    if (made)
        answer_free(&want);
    random_case_free(&c);
    return ok;
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 && strcmp(argv[1], "-") ? strtoull(argv[1], NULL, 10)
                                                     : (uint64_t)time(NULL) * 1000003;
    uint64_t cases = argc > 2 ? strtoull(argv[2], NULL, 10) : 2000, tried = 0, failed = 0;
    const char *device = argc > 3 ? argv[3] : "cpu";
    double seconds = argc > 4 ? strtod(argv[4], NULL) : argc > 2 ? 0 : 12, begin = now();
    tally_context_options options = TALLY_CONTEXT_OPTIONS_INIT;
    session s = {.context = NULL};
    tally_error error = {""};
    options.device = !strcmp(device, "cuda")     ? TALLY_DEVICE_CUDA
                     : !strcmp(device, "opencl") ? TALLY_DEVICE_OPENCL
                                                 : TALLY_DEVICE_CPU;
    options.threads = 3;
    s.flags = options.device == TALLY_DEVICE_CPU ? CASE_LARGE : 0;
    printf("%s, seed %llu, %llu cases\n", device, (unsigned long long)seed,
           (unsigned long long)cases);
    fflush(stdout);
    if (tally_context_create(&options, &s.context, &error)) {
        printf("skipped: %s\n", error.message);
        return 77;
    }
    while (tried < cases && failed < 10 && (seconds <= 0 || now() - begin < seconds))
        failed += !run_case(&s, seed + tried++);
    tally_context_destroy(s.context);
    printf("%llu cases, %llu comparisons (%llu with settings, %llu refused by a policy), %llu "
           "failed\n",
           (unsigned long long)tried, (unsigned long long)s.comparisons,
           (unsigned long long)s.with_settings, (unsigned long long)s.refused,
           (unsigned long long)failed);
    if (options.device != TALLY_DEVICE_CPU && tried >= 5 && !s.with_settings) {
        fprintf(stderr, "FAILED: no method had settings\n");
        failed++;
    }
    return failed || !tried || s.comparisons < tried / 2;
}
