/*
 * Every method of a device against the reference on random calls: bit-identical counts and
 * flows, conservation. Walks the registry, so a new method is tested without an edit here.
 *
 *     test_methods [SEED [CASES [cpu|opencl|cuda]]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "random_case.h"

typedef struct result {
    unsigned char *counts;
    tally_flows *flows;
    double *squares;
    size_t bytes;
} result;

static size_t cell_bytes(const tally_plan_options *o)
{
    static const size_t sizes[] = {8, 4, 2, 1};
    return o->weight_dtype ? 8 : sizes[o->counter];
}

static result result_make(const random_case *c, const tally_plan *plan, int filled)
{
    uint64_t cells = c->histograms * tally_plan_bins(plan);
    result r = {NULL, NULL, NULL, cells * cell_bytes(&c->plan)};
    r.counts = malloc(r.bytes + 1);
    r.flows = calloc(c->histograms + 1, sizeof *r.flows);
    r.squares = calloc(cells + 1, sizeof *r.squares);
    /* Some content, the same for both sides, to be overwritten or added to. */
    memset(r.counts, 0, r.bytes + 1);
    for (size_t i = 0; filled && i < r.bytes; i += cell_bytes(&c->plan))
        r.counts[i] = (unsigned char)(c->plan.weight_dtype ? 0 : i);
    return r;
}

static void result_free(result *r)
{
    free(r->counts);
    free(r->flows);
    free(r->squares);
}

static int conserved(const random_case *c, const tally_plan *plan, const result *r)
{
    uint64_t bins = tally_plan_bins(plan), n = c->views[0].rows * c->views[0].columns;
    for (uint64_t h = 0; h < c->histograms; h++) {
        uint64_t sum = r->flows[h].under + r->flows[h].over + r->flows[h].nan + r->flows[h].masked;
        for (uint64_t i = 0; i < bins; i++)
            sum += c->plan.counter == TALLY_COUNTER_U32 ? ((uint32_t *)r->counts)[h * bins + i]
                                                        : ((uint64_t *)r->counts)[h * bins + i];
        if (sum != n)
            return 0;
    }
    return 1;
}

static int compare(const random_case *c, const tally_plan *plan, int accumulate)
{
    tally_execute_options options = TALLY_EXECUTE_OPTIONS_INIT;
    tally_error error = {""};
    result got = result_make(c, plan, accumulate), want = result_make(c, plan, accumulate);
    tally_output out = TALLY_OUTPUT_INIT;
    options.mask = c->has_mask ? &c->mask : NULL;
    options.weights = c->has_weights ? &c->weights : NULL;
    out.accumulate = accumulate;
    out.counts = got.counts;
    out.flows = got.flows;
    out.sum_squares = c->plan.sum_squares ? got.squares : NULL;
    tally_status a = tally_execute(plan, c->views, &options, &out, &error);
    out.counts = want.counts;
    out.flows = want.flows;
    out.sum_squares = c->plan.sum_squares ? want.squares : NULL;
    tally_status b = tally_execute_reference(plan, c->views, &options, &out, NULL);
    int ok = a == b && a == TALLY_OK && !memcmp(got.counts, want.counts, got.bytes) &&
             !memcmp(got.flows, want.flows, c->histograms * sizeof *got.flows) &&
             !memcmp(got.squares, want.squares,
                     c->histograms * tally_plan_bins(plan) * sizeof *got.squares);
    if (a)
        fprintf(stderr, "execute: %s: %s\n", tally_status_string(a), error.message);
    if (ok && !accumulate && !c->has_weights && c->plan.counter <= TALLY_COUNTER_U32)
        ok = conserved(c, plan, &got);
    result_free(&got);
    result_free(&want);
    return ok;
}

static int run_case(tally_context *context, uint64_t seed, uint64_t *done)
{
    random_case c;
    int ok = 1;
    random_case_make(&c, seed, 0);
    for (uint32_t m = 0; m < tally_method_count() && ok; m++) {
        tally_method_info info = {.struct_size = sizeof info};
        tally_plan *plan = NULL;
        tally_error error = {""};
        tally_method_get(m, &info, NULL);
        if (!strcmp(info.name, "serial"))
            continue;
        c.plan.method = info.name;
        tally_status status = tally_plan_create(context, &c.plan, &plan, &error);
        if (status == TALLY_ERROR_UNSUPPORTED)
            continue;
        if (status) {
            /* An axis that float64 cannot hold is refused alike by every method. */
            ok = status == TALLY_ERROR_ARGUMENT && !strncmp(error.message, "axis", 4);
            if (!ok)
                fprintf(stderr, "plan: %s\n", error.message);
            break;
        }
        ok = compare(&c, plan, (int)(seed & 1));
        if (!ok)
            fprintf(stderr, "FAILED method %s seed %llu: %s\n", info.name, (unsigned long long)seed,
                    c.text);
        ++*done;
        tally_plan_destroy(plan);
    }
    random_case_free(&c);
    return ok;
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : (uint64_t)time(NULL) * 1000003;
    uint64_t cases = argc > 2 ? strtoull(argv[2], NULL, 10) : 3000, done = 0, failed = 0;
    tally_context_options options = TALLY_CONTEXT_OPTIONS_INIT;
    tally_context *context = NULL;
    tally_error error = {""};
    const char *device = argc > 3 ? argv[3] : "cpu";
    options.device = !strcmp(device, "cuda")     ? TALLY_DEVICE_CUDA
                     : !strcmp(device, "opencl") ? TALLY_DEVICE_OPENCL
                                                 : TALLY_DEVICE_CPU;
    options.threads = 3;
    printf("%s, seed %llu, %llu cases\n", device, (unsigned long long)seed,
           (unsigned long long)cases);
    if (tally_context_create(&options, &context, &error)) {
        printf("skipped: %s\n", error.message);
        return 77;
    }
    for (uint64_t i = 0; i < cases && failed < 10; i++)
        failed += !run_case(context, seed + i, &done);
    tally_context_destroy(context);
    printf("%llu comparisons, %llu failed\n", (unsigned long long)done, (unsigned long long)failed);
    return failed || done < cases / 2;
}
