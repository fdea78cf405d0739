/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings of a method: what is no whole number within the limits is refused with the limits,
 * before the method's own supports() sees it; those that tests draw are within the limits of every
 * method. And what else of a method's row is refused or told.
 *
 *     test_settings [SEED]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/random_settings.h"
#include "input_help.h"
#include "core/alloc.h"
#include "cpu/cpu.h"
#include "plan/registry.h"
#include "plan/plan.h"

static int asked; /* calls of supports() */
static int64_t seen;

static tally_status supports(const tally_plan *plan, tally_error *error)
{
    (void)error;
    asked++;
    seen = ty_method_parameter(plan, "copies");
    return TALLY_OK;
}

static const tally_parameter parameters[] = {
    {"copies", 1, 4096, 64, "copies"},
    {"shift", -8, 8, 0, "may be below zero"},
    {NULL, 0, 0, 0, NULL},
};

static const ty_method method = {
    .name = "some",
    .devices = TY_ON_CPU,
    .dtypes = UINT32_MAX,
    .bins_min = 1,
    .bins_max = UINT32_MAX,
    .parameters = parameters,
    .supports = supports,
};

/* The plan with one setting of `method`. */
static tally_status set(tally_plan *plan, const char *key, const char *value, tally_error *error)
{
    char *settings[] = {(char *)(uintptr_t)key, (char *)(uintptr_t)value};
    asked = 0;
    plan->settings = settings;
    plan->options.settings_count = 1;
    const tally_status status = ty_method_supports(&method, plan, error);
    plan->settings = NULL;
    plan->options.settings_count = 0;
    return status;
}

static void test_limits(tally_plan *plan)
{
    static const char *const bad[] = {"-1",
                                      "0",
                                      "4097",
                                      "x",
                                      "",
                                      "1.5",
                                      "1e3",
                                      "0x10",
                                      "5 ",
                                      " 5",
                                      "+5",
                                      "5,000",
                                      "--5",
                                      "-",
                                      "9223372036854775807",
                                      "9223372036854775808",
                                      "18446744073709551617",
                                      "-9223372036854775809",
                                      "99999999999999999999999999"};
    tally_error error;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char want[160];
        snprintf(want, sizeof want,
                 "method some: copies=%s: a whole number from 1 to 4096 is expected", bad[i]);
        CHECK_SAY(set(plan, "copies", bad[i], &error) == TALLY_ERROR_ARGUMENT &&
                      !strcmp(error.message, want),
                  "%s", error.message);
        CHECK_SAY(!asked, "supports() saw %s", bad[i]);
    }
    CHECK(set(plan, "shift", "-9", &error) == TALLY_ERROR_ARGUMENT &&
          strstr(error.message, "from -8 to 8"));
    CHECK(set(plan, "copy", "4", &error) == TALLY_ERROR_ARGUMENT &&
          strstr(error.message, "method some has no setting 'copy'"));
    CHECK(set(plan, "copies", "1", &error) == TALLY_OK && asked == 1 && seen == 1);
    CHECK(set(plan, "copies", "4096", &error) == TALLY_OK && seen == 4096);
    CHECK(set(plan, "copies", "0012", &error) == TALLY_OK && seen == 12);
    CHECK(set(plan, "shift", "-8", &error) == TALLY_OK && seen == 64);
}

/* The dtypes of a method are named, whichever they are. */
static void test_dtypes(tally_plan *plan)
{
    tally_error error;
    ty_method few = method;
    few.dtypes = 1u << TALLY_F32 | 1u << TALLY_U16;
    CHECK(ty_method_supports(&few, plan, &error) == TALLY_ERROR_UNSUPPORTED &&
          !strcmp(error.message, "method some counts u16 f32, not u8"));
    for (uint32_t m = 0; m < tally_method_count(); m++) {
        tally_method_info info = {.struct_size = sizeof info};
        uint32_t named = 0;
        CHECK(!tally_method_get(m, &info, NULL));
        for (int d = TALLY_U8; d <= TALLY_F64; d++) {
            char list[80], word[8];
            snprintf(list, sizeof list, " %s ", info.dtypes);
            snprintf(word, sizeof word, " %s ", tally_dtype_name((tally_dtype)d));
            named |= strstr(list, word) ? 1u << d : 0;
        }
        CHECK_SAY(named == (ty_methods[m]->dtypes & 0x1ffe), "%s: %s", info.name, info.dtypes);
    }
}

/* A method on the processor that does not say when its tables are full would never be done. */
static void test_most(const tally_plan *plan)
{
    static const ty_cpu_method endless = {.most = 0};
    tally_error error;
    ty_method forgetful = method;
    tally_plan own = *plan;
    forgetful.backend = &endless;
    own.method = &forgetful;
    CHECK(own.context->backend->prepare(&own, &error) == TALLY_ERROR_INTERNAL &&
          strstr(error.message, "method some does not say how many elements"));
    ty_free(own.state);
}

/* Within the limits, and both ends among them. */
static void test_random(const tally_method_info *info)
{
    enum { draws = 20000 };
    unsigned none = 0;
    uint64_t least = 0, most = 0, known = 0;
    while (info->parameters[known].key)
        known++;
    for (int i = 0; i < draws; i++) {
        random_settings drawn;
        random_settings_draw(&drawn, help_random(), info->parameters, 100);
        none += drawn.count == 0;
        for (size_t s = 0; s < drawn.count; s++) {
            const tally_parameter *p = info->parameters;
            while (strcmp(p->key, drawn.list[s].key) != 0)
                p++;
            const long long value = strtoll(drawn.list[s].value, NULL, 10);
            CHECK_SAY(value >= p->least && value <= p->most, "%s: %s=%lld", info->name, p->key,
                      value);
            least |= value == p->least ? UINT64_C(1) << (p - info->parameters) : 0;
            most |= value == p->most ? UINT64_C(1) << (p - info->parameters) : 0;
        }
    }
    const uint64_t all = (UINT64_C(1) << known) - 1;
    CHECK_SAY(known ? none < draws * 2 / 3 : none == draws, "%s: %u without", info->name, none);
    CHECK_SAY(least == all && most == all, "%s: ends of some are never drawn", info->name);
}

int main(int argc, char **argv)
{
    tally_context_options where = TALLY_CONTEXT_OPTIONS_INIT;
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    tally_context *context = NULL;
    tally_plan *plan = NULL;
    help_begin(argc, argv);
    where.device = TALLY_DEVICE_CPU;
    o.axes[0] = tally_axis_even(4, 0, 4);
    o.dtypes[0] = TALLY_U8;
    if (!CHECK(!tally_context_create(&where, &context, NULL)) ||
        !CHECK(!tally_plan_create(context, &o, &plan, NULL)))
        return help_end();
    test_limits(plan);
    test_dtypes(plan);
    test_most(plan);
    for (uint32_t m = 0; m < tally_method_count(); m++) {
        tally_method_info info = {.struct_size = sizeof info};
        CHECK(!tally_method_get(m, &info, NULL));
        test_random(&info);
    }
    tally_plan_destroy(plan);
    tally_context_destroy(context);
    return help_end();
}
