/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A context of several devices counts what the reference does, to the bit, however pieces fall:
 * random calls, sources that are read, sums that need a limit, cancelling; and names who fails.
 *
 *     test_several [DEVICES [SEED [CASES]]]      else TALLY_DEVICES says which
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "check.h"
#include "drivers.h"
#include "gpu/device.h"
#include "plan/several.h"

static const char *devices = "cpu,opencl:*";
static tally_context *context;

static tally_status open_devices(const char *list, tally_error *error)
{
    tally_context_options options = TALLY_CONTEXT_OPTIONS_INIT;
    options.devices = list;
    options.threads = 2;
    context = NULL;
    return tally_context_create(&options, &context, error);
}

static uint64_t compared;

static void check_case(uint64_t seed)
{
    random_case c;
    tally_plan *plan = NULL;
    tally_error error = {""};
    if (random_case_make(&c, seed, seed % 9 ? CASE_SMALL : 0, NULL)) {
        CHECK_SAY(0, "out of memory");
        return;
    }
    c.plan.method = NULL;
    c.plan.settings_count = 0;
    if (answer_allow_splits(&c) && !tally_plan_create(context, &c.plan, &plan, &error)) {
        answer got = answer_make(&c, tally_plan_bins(plan), (int)(seed & 1));
        answer want = answer_make(&c, tally_plan_bins(plan), (int)(seed & 1));
        answer_run(&got, &c, plan, (int)(seed & 1), 0);
        answer_run(&want, &c, plan, (int)(seed & 1), 1);
        CHECK_SAY(answer_same(&got, &want), "seed %llu: %s: %s %s, reference %s %s",
                  (unsigned long long)seed, c.text, tally_status_string(got.status),
                  got.error.message, tally_status_string(want.status), want.error.message);
        compared++;
        answer_free(&got);
        answer_free(&want);
    }
    tally_plan_destroy(plan);
    random_case_free(&c);
}

enum { SAMPLES = 300000 };

/* Reads u8 samples, and fails behind an element. */
typedef struct file {
    const unsigned char *data;
    uint64_t good;
} file;

static tally_status read_file(void *user, uint64_t begin, uint64_t count, void *to,
                              tally_error *error)
{
    const file *f = user;
    if (begin + count > f->good) {
        snprintf(error->message, sizeof error->message, "the file ends at %llu",
                 (unsigned long long)f->good);
        return TALLY_ERROR_IO;
    }
    memcpy(to, f->data + begin, count);
    return TALLY_OK;
}

static int cancel(void *user, uint64_t done, uint64_t total)
{
    CHECK(done <= total);
    return ++*(int *)user >= 2;
}

static void check_sources(const unsigned char *data)
{
    file f = {data, SAMPLES};
    const tally_source source = {sizeof source, read_file, &f, NULL, NULL, 0, NULL};
    tally_view view = tally_view_1d(NULL, TALLY_U8, SAMPLES);
    tally_plan_options options = TALLY_PLAN_OPTIONS_INIT;
    tally_execute_options execute = TALLY_EXECUTE_OPTIONS_INIT;
    tally_plan *plan = NULL;
    uint64_t counts[256], want[256] = {0};
    tally_output output = TALLY_OUTPUT_INIT;
    tally_error error = {""};
    int asked = 0;
    options.axes[0] = tally_axis_integer(256, 0);
    options.dtypes[0] = TALLY_U8;
    view.source = &source;
    output.counts = counts;
    for (int i = 0; i < SAMPLES; i++)
        want[data[i]]++;
    if (!CHECK_SAY(!tally_plan_create(context, &options, &plan, &error), "%s", error.message))
        return;
    CHECK_SAY(!strncmp(tally_plan_describe(plan), devices, strcspn(devices, "*,")), "%s",
              tally_plan_describe(plan));
    CHECK_SAY(!tally_execute(plan, &view, NULL, &output, &error), "%s", error.message);
    CHECK(!memcmp(counts, want, sizeof want));
    f.good = SAMPLES / 2;
    CHECK(tally_execute(plan, &view, NULL, &output, &error) == TALLY_ERROR_IO);
    CHECK_SAY(strstr(error.message, "the file ends at 150000") != NULL, "%s", error.message);
    CHECK(!memcmp(counts, want, sizeof want)); /* as it was */
    view = tally_view_1d(data, TALLY_U8, SAMPLES);
    execute.progress = cancel;
    execute.user = &asked;
    CHECK(tally_execute(plan, &view, &execute, &output, &error) == TALLY_ERROR_CANCELLED ||
          asked < 2);
    CHECK(!memcmp(counts, want, sizeof want));
    tally_plan_destroy(plan);
}

/* A device whose calls fail from the k-th on. */
static const ty_device_ops *sound;
static long calls_left;

static tally_status use(tally_error *error)
{
    if (__atomic_sub_fetch(&calls_left, 1, __ATOMIC_RELAXED) > 0)
        return TALLY_OK;
    snprintf(error->message, sizeof error->message, "the device is lost");
    return TALLY_ERROR_DEVICE;
}

static tally_status launch(ty_device *device, void *queue, void *program, const char *kernel,
                           const ty_launch *work, tally_error *error)
{
    tally_status status = use(error);
    return status ? status : sound->launch(device, queue, program, kernel, work, error);
}

static tally_status download(ty_device *device, void *queue, void *to, ty_memory from,
                             size_t offset, size_t bytes, tally_error *error)
{
    tally_status status = use(error);
    return status ? status : sound->download(device, queue, to, from, offset, bytes, error);
}

/* Counts are added to the output once, whenever a device fails: not by the call that says so, but
 * by the next. */
static void check_faults(const unsigned char *data)
{
    const unsigned last = context->several ? ty_several_count(context->several) - 1 : 0;
    tally_context_options where = TALLY_CONTEXT_OPTIONS_INIT;
    tally_context *two = NULL;
    char list[80];
    tally_plan_options options = TALLY_PLAN_OPTIONS_INIT;
    const tally_view view = tally_view_1d(data, TALLY_U8, SAMPLES);
    tally_plan *plan = NULL;
    uint64_t counts[256] = {0}, want[256] = {0};
    tally_output output = TALLY_OUTPUT_INIT;
    tally_error error = {""};
    int failed = 0;
    if (last < 2 || !strcmp(ty_several_id(context->several, last), "cpu"))
        return; /* no two devices beside the processor, which would count all before they begin */
    const char *id = ty_several_id(context->several, last);
    snprintf(list, sizeof list, "%s,%s", ty_several_id(context->several, last - 1), id);
    where.devices = list;
    if (!CHECK_SAY(!tally_context_create(&where, &two, &error), "%s", error.message))
        return;
    ty_device *device = ty_several_context(two->several, 1)->state;
    sound = device->ops;
    ty_device_ops broken = *sound;
    broken.launch = launch;
    broken.download = download;
    options.axes[0] = tally_axis_integer(256, 0);
    options.dtypes[0] = TALLY_U8;
    output.counts = counts;
    output.accumulate = TALLY_ACCUMULATE_ADD;
    CHECK_SAY(!tally_plan_create(two, &options, &plan, &error), "%s", error.message);
    for (long k = 1; k <= 9; k++) {
        calls_left = k;
        device->ops = &broken;
        const tally_status status = tally_execute(plan, &view, NULL, &output, &error);
        device->ops = sound;
        CHECK_SAY(!status || strstr(error.message, id), "%s", error.message);
        failed += status != TALLY_OK;
        for (int i = 0; !status && i < SAMPLES; i++)
            want[data[i]]++;
        CHECK(!memcmp(counts, want, sizeof want));
    }
    CHECK_SAY(failed > 0, "no call met the lost device");
    CHECK_SAY(!tally_execute(plan, &view, NULL, &output, &error), "%s", error.message);
    for (int i = 0; i < SAMPLES; i++)
        want[data[i]]++;
    CHECK(!memcmp(counts, want, sizeof want));
    tally_plan_destroy(plan);
    tally_context_destroy(two);
}

static void check_refusals(void)
{
    const struct {
        const char *list, *words;
    } bad[] = {{"", "write cpu"},          {"cpu,", "write cpu"},  {"gpu", "write cpu"},
               {"cpu,cpu", "named twice"}, {"1", "write cpu"},     {"cpu:x", "write cpu"},
               {"opencl:99", "opencl:99"}, {"cpu:*:", "write cpu"}};
    tally_plan_options options = TALLY_PLAN_OPTIONS_INIT;
    tally_plan *plan = NULL;
    tally_error error = {""};
    char path[1024];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_SAY(open_devices(bad[i].list, &error), "%s", bad[i].list);
        CHECK_SAY(strstr(error.message, bad[i].words) != NULL, "%s: %s", bad[i].list,
                  error.message);
    }
    CHECK(!open_devices("cpu", &error));
    options.axes[0] = tally_axis_even(4, 0, 1);
    options.dtypes[0] = TALLY_F32;
    options.weight_dtype = TALLY_F32;
    CHECK(tally_plan_create(context, &options, &plan, &error) == TALLY_ERROR_UNSUPPORTED);
    CHECK_SAY(strstr(error.message, "weight_limit") != NULL, "%s", error.message);
    options.weight_dtype = 0;
    options.method = "private-global";
    CHECK(tally_plan_create(context, &options, &plan, &error) == TALLY_ERROR_UNSUPPORTED);
    CHECK_SAY(!strncmp(error.message, "cpu: ", 5) || strstr(error.message, "cpu"), "%s",
              error.message);
    CHECK(tally_tune(context, NULL, NULL, path, &error) == TALLY_ERROR_UNSUPPORTED);
    tally_context_destroy(context);
}

int main(int argc, char **argv)
{
    static unsigned char data[SAMPLES];
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 20261123;
    const uint64_t cases = argc > 3 ? strtoull(argv[3], NULL, 0) : 12;
    setenv("POCL_DEVICES", "pthread pthread pthread pthread pthread pthread pthread pthread",
           0); /* as if it were eight */
    tally_error error = {""};
    rng r = {.state = seed};
    const char *named = argc > 1 ? argv[1] : getenv("TALLY_DEVICES");
    devices = named ? named : devices;
    printf("test_several: %s, seed %llu\n", devices, (unsigned long long)seed);
    check_refusals();
    tally_status status = open_devices(devices, &error);
    if (status == TALLY_ERROR_UNSUPPORTED && !named) {
        printf("opencl: %s; the processor alone\n", error.message);
        status = open_devices("cpu", &error);
    }
    if (!CHECK_SAY(!status, "%s", error.message))
        return 1;
    for (int i = 0; i < SAMPLES; i++)
        data[i] = (unsigned char)rng_next(&r);
    ty_several_least = 1000;
    check_sources(data);
    check_faults(data);
    for (uint64_t i = 0; i < cases; i++) {
        ty_several_least = i % 3 ? 1 + rng_below(&r, 5000) : 1 << 20;
        check_case(seed + i);
    }
    CHECK_SAY(compared * 2 > cases, "%llu cases compared", (unsigned long long)compared);
    tally_context_destroy(context);
    printf("%llu cases, %d checks, %d failed\n", (unsigned long long)compared, checks, failures);
    return failures != 0;
}
