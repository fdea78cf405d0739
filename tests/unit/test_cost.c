/* SPDX-License-Identifier: Apache-2.0 */
/* The cost model behind `auto`: its tables are whole, its formula is the documented one, its choice
 * is the cheapest and says so. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpu/device.h"
#include "gpu/method.h"
#include "execute_help.h"
#include "input_help.h"
#include "locale_help.h"
#include "plan/cost.h"
#include "plan/registry.h"
#include "plan/plan.h"
#include "plan/tuning.h"

static ty_tuning tuning;

/* A decimal point stays one in a locale that has a comma: run last. */
static void test_locale(void)
{
    unsigned line;
    if (!comma_locale()) {
        printf("skipped: speeds under a decimal comma: no such locale, and localedef made none\n");
        return;
    }
    CHECK(ty_tuning_parse("a 4 256 1.5 100.25\n", &tuning, &line));
    CHECK(tuning.rates[0].call_us == 1.5 && tuning.rates[0].gbps == 100.25);
    setlocale(LC_ALL, "C");
}

static void test_parsing(void)
{
    static const char *const bad[] = {
        "x 4 0 1",      "x 4 0 1 0",   "x 4 0 1 -5",    "x 4 0 -1 5",  "x 4 0 1 5 6",
        "x four 0 1 5", "x 4 0 1,5 5", "x 4 0 1.5.5 5", "x 4 0 1 5 #", "good 4 0 1 5\nx 4 0"};
    unsigned line;
    CHECK(ty_tuning_parse("# words\n\na 4 256 1.5 100 # more\n  b 0 0 0 2000.25\n[next]\nc",
                          &tuning, &line) &&
          tuning.count == 2 && line == 5);
    CHECK(!strcmp(tuning.rates[0].method, "a") && tuning.rates[0].bytes == 4 &&
          tuning.rates[0].bins == 256 && tuning.rates[0].call_us == 1.5 &&
          tuning.rates[0].gbps == 100);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int ok = ty_tuning_parse(bad[i], &tuning, &line);
        CHECK_SAY(ok == (i == 8) && (ok || line == (i == 9 ? 2 : 1)), "row '%s'", bad[i]);
    }
    char *many = malloc(TY_RATES_MOST * 12 + 13), *at = many;
    for (int i = 0; i <= TY_RATES_MOST; i++)
        at += sprintf(at, "a 4 0 1 5\n");
    CHECK(!ty_tuning_parse(many, &tuning, &line) && line == TY_RATES_MOST + 1);
    many[strlen(many) - 10] = '\0';
    CHECK(ty_tuning_parse(many, &tuning, &line));
    free(many);
}

/* Every method that `auto` may take has a speed for all that it serves, on every architecture. */
static void check_block(const char *name, uint32_t device)
{
    static const tally_dtype dtypes[] = {TALLY_U8, TALLY_U16, TALLY_F32, TALLY_F64};
    for (int m = 0; ty_methods[m]; m++) {
        const ty_method *method = ty_methods[m];
        if (!method->cost || !(method->devices & device))
            continue;
        for (int d = 0; d < 4; d++) {
            uint64_t most = method->bins_max;
            if (!(method->dtypes >> dtypes[d] & 1))
                continue;
            const uint32_t bytes = (uint32_t)tally_dtype_bytes(dtypes[d]);
            uint64_t bins = method->bins_min;
            while (bins <= most && ty_rate_find(&tuning, method->name, bytes, bins))
                bins = bins * 2 + 1;
            CHECK_SAY(bins > most, "[%s] has no row for %s, %s, %llu bins", name, method->name,
                      tally_dtype_name(dtypes[d]), (unsigned long long)bins);
        }
    }
}

static void test_blocks(void)
{
    int blocks = 0;
    for (; ty_rates_blocks[blocks]; blocks++) {
        const char *at = ty_rates_blocks[blocks];
        char name[32];
        unsigned line;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 1, "]"), at + 1);
        const char *rows = strchr(at, '\n') + 1;
        CHECK_SAY(ty_tuning_parse(rows, &tuning, &line), "[%s] row %u", name, line);
        for (uint32_t i = 0; i < tuning.count; i++) {
            const char *method = tuning.rates[i].method;
            CHECK_SAY(ty_method_find(method) || !strcmp(method, TY_RATE_READ) ||
                          !strcmp(method, TY_RATE_HOST) || !strcmp(method, TY_RATE_BUS) ||
                          !strcmp(method, TY_RATE_LOCAL_EDGES) ||
                          !strcmp(method, TY_RATE_SEARCHED_EDGES) ||
                          !strcmp(method, TY_RATE_GLOBAL_LOG) ||
                          !strcmp(method, TY_RATE_LOCAL_LOG) ||
                          !strcmp(method, TY_RATE_GLOBAL_EDGES),
                      "[%s] row %u: no method %s", name, i + 1, method);
        }
        const char *other = !strncmp(name, "cpu", 3) ? TY_RATE_READ : TY_RATE_HOST;
        CHECK_SAY(ty_rate_find(&tuning, other, 0, 0) != NULL, "[%s] has no row %s", name, other);
        check_block(name, !strncmp(name, "cpu", 3)    ? TY_ON_CPU
                          : !strncmp(name, "cuda", 4) ? TY_ON_CUDA
                                                      : TY_ON_OPENCL);
    }
    CHECK(blocks >= 5);
    ty_tuning_default("cuda-sm_75", &tuning);
    CHECK(tuning.count > 0 && strstr(tuning.note, "cuda"));
    ty_tuning_default("cpu-avx2", &tuning);
    CHECK(tuning.count > 0 && strstr(tuning.note, "cpu-avx2"));
    ty_tuning_default("abacus", &tuning);
    CHECK(tuning.count == 0);
}

static tally_plan *make(tally_context *context, uint64_t n, const char *method)
{
    tally_plan_options o = help_options(TALLY_F32, tally_axis_even(100, 0, 1));
    tally_plan *plan = NULL;
    o.n_hint = n;
    o.method = method;
    CHECK(tally_plan_create(context, &o, &plan, NULL) == TALLY_OK);
    return plan;
}

static void test_choice(tally_context *context)
{
    ty_tuning *own = context->tuning, mine;
    unsigned line;
    CHECK(ty_tuning_parse("read 0 0 0 30\ncpu-overlap 4 50 0 1000\ncpu-overlap 4 0 100 4\n"
                          "cpu-tables 0 0 1 1\n",
                          &mine, &line));
    mine.threads = 1;
    snprintf(mine.note, sizeof mine.note, "rates of this test");
    context->tuning = &mine;
    tally_plan *few = make(context, 1000, NULL), *many = make(context, 1000000, NULL);
    CHECK(!strcmp(tally_plan_method(few), "cpu-tables"));
    CHECK(!strcmp(tally_plan_method(many), "cpu-overlap"));
    CHECK(few->seconds == 1e-6 + 4000 / 1.0 * 1e-9);
    CHECK_SAY(strstr(tally_plan_describe(many), "1.1 ms expected for 1e+06 samples, cpu-tables "
                                                "next with 4 ms (rates of this test)") != NULL,
              "%s", tally_plan_describe(many));
    /* Threads as far as the samples go round, up to the speed of reading. */
    double one = ty_cost(many, "cpu-overlap");
    mine.threads = 3;
    CHECK(one == 100e-6 + 4e6 / 4 * 1e-9 &&
          ty_cost(many, "cpu-overlap") == 100e-6 + 4e6 / 12 * 1e-9 + 2 * 100 * 1e-9);
    mine.threads = 64;
    const double more = 4e6 / (524288 + 16 * 100); /* each with a table to add up */
    CHECK(fabs(ty_cost(many, "cpu-overlap") - (100e-6 + 4e6 / 30 * 1e-9 + more * 100 * 1e-9)) <
          1e-12);
    CHECK(ty_cost(many, "no-such-row") > 1e8);
    CHECK(ty_cost_host(&mine, 1, 1) > 1e8);
    /* Host data: by the threads that pack them, up to the bus; without its row, as by one. */
    ty_tuning way;
    CHECK(ty_tuning_parse("host 0 0 10 4\nbus 0 0 0 14\n", &way, &line));
    CHECK(ty_cost_host(&way, 8e6, 1) == 10e-6 + 8e6 / 4 * 1e-9);
    CHECK(ty_cost_host(&way, 8e6, 2) == 10e-6 + 8e6 / 8 * 1e-9);
    CHECK(ty_cost_host(&way, 8e6, 16) == 10e-6 + 8e6 / 14 * 1e-9);
    way.count = 1;
    CHECK(ty_cost_host(&way, 8e6, 16) == 10e-6 + 8e6 / 4 * 1e-9);
    tally_plan *named = make(context, 0, "cpu-tables");
    CHECK(named->seconds == 0 && strstr(tally_plan_describe(named), "asked for by name"));
    tally_plan_destroy(few);
    tally_plan_destroy(many);
    tally_plan_destroy(named);
    context->tuning = own;
}

/* What `auto` takes on an H200, as far as a plan tells; how samples lie is tested on a device
 * (device/test_layouts). */
typedef struct wish {
    tally_dtype dtypes[3], weight;
    uint64_t bins, channels; /* bins: of each axis */
    const char *method;
} wish;

static void check_wish(tally_context *context, const wish *w, uint64_t n)
{
    tally_plan_options o = {.struct_size = sizeof o, .channels = w->channels, .n_hint = n};
    tally_plan *plan = NULL;
    for (; o.dimensions < 3 && w->dtypes[o.dimensions]; o.dimensions++) {
        o.dtypes[o.dimensions] = w->dtypes[o.dimensions];
        o.axes[o.dimensions] = tally_axis_even(w->bins, 0, (double)w->bins);
    }
    o.weight_dtype = w->weight;
    const tally_status status = ty_plan_resolve(context, &o, 0, &plan, NULL);
    CHECK_SAY(!status && !strcmp(tally_plan_method(plan), w->method), "%s: not %s, %llu samples",
              status ? "no plan" : tally_plan_describe(plan), w->method, (unsigned long long)n);
    if (!status) { /* its launches too: only there some tables of sizes are read */
        ty_geometry g;
        ty_gpu_method_of(plan)->geometry(plan, context->state, n, &g);
        CHECK(g.group_size);
    }
    tally_plan_destroy(plan);
}

static void test_device_choice(void)
{
    static const wish wishes[] = {
        {{TALLY_U8}, 0, 256, 1, "lane-private"},
        {{TALLY_U8}, 0, 256, 3, "lane-private-pixels"},
        {{TALLY_I8}, 0, 100, 4, "lane-private-pixels"},
        {{TALLY_U8}, 0, 256, 5, "views"},
        {{TALLY_U16}, 0, 256, 3, "views"},
        {{TALLY_F32}, 0, 1024, 1, "lane-private"},
        {{TALLY_F32}, 0, 16384, 1, "swizzled"},
        {{TALLY_F32}, 0, 100, 2, "views"},
        {{TALLY_F32, TALLY_F32}, 0, 100, 1, "swizzled-columns"},
        {{TALLY_F64, TALLY_F64}, 0, 100, 1, "swizzled-columns"},
        {{TALLY_U8, TALLY_U8}, 0, 200, 1, "swizzled-columns"},
        {{TALLY_F32, TALLY_U16, TALLY_F64}, 0, 25, 1, "swizzled-columns"},
        {{TALLY_F32, TALLY_F32}, 0, 5000, 1, "views"},
        {{TALLY_F32}, TALLY_F32, 4096, 1, "weighted-packed"},
        {{TALLY_F32}, TALLY_F32, 65536, 1, "weighted"},
        {{TALLY_F32}, TALLY_F64, 4096, 1, "weighted"},
        {{TALLY_U16}, TALLY_F32, 4096, 1, "weighted"},
        {{TALLY_F32, TALLY_F32}, TALLY_F32, 20, 1, "weighted"},
    };
    ty_device device = ty_device_virtual(90);
    tally_context context = {.backend = &ty_cuda_backend,
                             .device = TALLY_DEVICE_CUDA,
                             .state = &device,
                             .tuning = &tuning};
    ty_tuning_default("cuda-sm_90", &tuning);
    /* `views` clears and writes a table of many cells a little sooner. */
    static const wish large[] = {
        {{TALLY_F32, TALLY_F32}, 0, 237, 1, "swizzled-columns"},
        {{TALLY_F32, TALLY_F32}, 0, 300, 1, "partitioned-columns"},
        {{TALLY_F64, TALLY_U16}, 0, 3000, 1, "partitioned-columns"},
        {{TALLY_F32, TALLY_F32, TALLY_F32}, 0, 100, 1, "partitioned-columns"},
    };
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        wish few = large[i];
        few.method = "views";
        check_wish(&context, &few, 100);
        check_wish(&context, &large[i], 1 << 20);
    }
    /* Where every group's many counters go to one table it is slow however short the input. */
    static const wish many = {{TALLY_F32}, 0, 56000, 1, "swizzled"};
    check_wish(&context, &many, 0);
    check_wish(&context, &many, 1 << 14);
    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++) {
        check_wish(&context, &wishes[i], 100);
        check_wish(&context, &wishes[i], 1 << 28);
    }
}

/* ---- what is kept on disk ---- */

static char folder[] = "/tmp/tally-speeds-XXXXXX";

static tally_context *open_cpu(void)
{
    tally_context_options o = TALLY_CONTEXT_OPTIONS_INIT;
    tally_context *context = NULL;
    o.device = TALLY_DEVICE_CPU;
    CHECK(tally_context_create(&o, &context, NULL) == TALLY_OK);
    return context;
}

/* Whether a context opened now has the measured rows; `why` is in its note. */
static void check_opened(int measured, const char *why)
{
    tally_context *context = open_cpu();
    const ty_tuning *t = context->tuning;
    CHECK_SAY(t->measured == measured && strstr(t->note, why) != NULL, "'%s' in '%s'", why,
              t->note);
    CHECK(t->count > 0 && (!measured || (t->count == 2 && t->rates[1].gbps == 12.5)));
    tally_context_destroy(context);
}

/* The file with its text from `from` on replaced. */
static void rewrite(const char *path, const char *text, const char *from, const char *to)
{
    FILE *f = fopen(path, "w");
    const char *at = strstr(text, from);
    CHECK(f && at);
    if (f && at)
        fprintf(f, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    if (f)
        fclose(f);
}

static void test_file(void)
{
    char path[1024] = "", text[1024] = "";
    unsigned line;
    tally_error error = {""};
    tally_context *context = open_cpu();
    CHECK(ty_tuning_parse("read 0 0 0 30\ncpu-tables 0 0 0.5 12.5\n", &tuning, &line));
    check_opened(0, "default speeds of cpu");
    CHECK_SAY(!ty_tuning_path(context, path, sizeof path, &error) &&
                  !ty_tuning_save(context, &tuning, path, &error),
              "%s", error.message);
    CHECK(strstr(path, folder) && strstr(path, "/speeds-cpu"));
    check_opened(1, "speeds measured here");
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    CHECK(n > 60 && n < sizeof text - 1);
    if (f)
        fclose(f);
    rewrite(path, text, "methods ", "methods f");
    check_opened(0, "was measured with other methods or on another device");
    rewrite(path, text, "device cpu", "device gpu");
    check_opened(0, "was measured with other methods or on another device");
    rewrite(path, text, "speeds 1", "speeds 2");
    check_opened(0, "by no version of Tally that this one knows");
    rewrite(path, text, "12.5000", "fast");
    check_opened(0, "line 5: no row");
    rewrite(path, text, text, "");
    check_opened(0, "by no version");
    rewrite(path, text, "12.5", "12.5");
    check_opened(1, "speeds measured here");
    unlink(path);
    check_opened(0, "default speeds of cpu");
    tally_context_destroy(context);
}

/* What may not be somebody else's word is not taken, nor waited for, and the reason is said. */
static void test_foreign_file(void)
{
    char path[1024] = "", moved[1040];
    tally_context *context = open_cpu();
    CHECK(ty_tuning_parse("read 0 0 0 30\ncpu-tables 0 0 0.5 12.5\n", &tuning, &(unsigned){0}));
    CHECK(!ty_tuning_path(context, path, sizeof path, NULL) &&
          !ty_tuning_save(context, &tuning, path, NULL));
    CHECK(!chmod(path, 0646));
    check_opened(0, "others may write to it");
    CHECK(!chmod(path, 0664));
    check_opened(0, "others may write to it");
    CHECK(!chmod(path, 0644));
    check_opened(1, "speeds measured here");
    CHECK(!chmod(folder, 0777));
    check_opened(0, "its folder is not yours");
    CHECK(!chmod(folder, 0700));
    if (!chown(path, 65534, 65534)) {
        check_opened(0, "it is not yours");
        CHECK(!chown(path, geteuid(), getegid()));
    } else {
        printf("skipped: a table of another owner: only root can make one\n");
    }
    snprintf(moved, sizeof moved, "%s.moved", path);
    CHECK(!rename(path, moved) && !symlink(moved, path));
    check_opened(0, "it is a symbolic link");
    CHECK(!unlink(path) && !mkfifo(path, 0600));
    alarm(60); /* a read of the pipe would wait for ever */
    check_opened(0, "it is no regular file");
    alarm(0);
    CHECK(!unlink(path) && !mkdir(path, 0700));
    check_opened(0, "it is no regular file");
    CHECK(!rmdir(path) && !rename(moved, path));
    check_opened(1, "speeds measured here");
    unlink(path);
    tally_context_destroy(context);
}

static int stop(void *user, uint64_t done, uint64_t total)
{
    (void)done;
    (void)total;
    return ++*(int *)user;
}

/* A tuning that is cancelled leaves no file; the whole takes a minute and is not done here. */
static void test_tune(void)
{
    char path[1024];
    int calls = 0;
    tally_error error = {""};
    tally_context *context = open_cpu();
    CHECK(tally_tune(context, stop, &calls, path, &error) == TALLY_ERROR_CANCELLED && calls == 1);
    check_opened(0, "default speeds of cpu");
    CHECK(tally_tune(NULL, NULL, NULL, path, &error) == TALLY_ERROR_ARGUMENT);
    tally_context_destroy(context);
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    setenv("TALLY_CACHE_DIR", folder, 1);
    tally_context *context = open_cpu();
    test_parsing();
    test_blocks();
    test_choice(context);
    test_device_choice();
    CHECK(ty_methods_signature() == ty_methods_signature() && ty_methods_signature() != 0);
    tally_context_destroy(context);
    test_file();
    test_foreign_file();
    test_tune();
    rmdir(folder);
    test_locale();
    return help_end();
}
