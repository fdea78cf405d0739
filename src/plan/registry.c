/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/registry.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "gpu_methods.h"
#include "plan/plan.h"

/* Every method, in the order of `tally methods`; M(name) stands for the row ty_name. Those on
 * graphics processors are found by the build: the files of src/gpu/methods. */
#define METHODS(M)                                                                                 \
    M(cpu_tables)                                                                                  \
    M(cpu_bytes)                                                                                   \
    M(cpu_words)                                                                                   \
    M(cpu_overlap)                                                                                 \
    M(cpu_in_place)                                                                                \
    M(cpu_weights)                                                                                 \
    M(serial)                                                                                      \
    M(saturating_serial)                                                                           \
    TY_GPU_METHODS(M)

#define DECLARE(name) extern const ty_method ty_##name;
METHODS(DECLARE)

#define ENTRY(name) &ty_##name,
const ty_method *const ty_methods[] = {METHODS(ENTRY) NULL};

enum { method_count = sizeof ty_methods / sizeof *ty_methods - 1 };

/* The names of a set of dtypes; text[64]. */
static const char *dtypes_text(uint32_t dtypes, char *text)
{
    size_t at = 0;
    for (int d = TALLY_U8; d <= TALLY_F64; d++) {
        if (dtypes >> d & 1)
            at += (size_t)snprintf(text + at, 64 - at, "%s%s", at ? " " : "",
                                   tally_dtype_name((tally_dtype)d));
    }
    return text;
}

/* Those of every method, for tally_method_info points to them. */
static char all_dtypes[method_count][64];

static void write_dtypes(void)
{
    for (int i = 0; i < method_count; i++)
        dtypes_text(ty_methods[i]->dtypes, all_dtypes[i]);
}

static const char *devices_text(uint32_t devices)
{
    static const char *const text[] = {"",     "cpu",      "opencl",      "cpu opencl",
                                       "cuda", "cpu cuda", "opencl cuda", "cpu opencl cuda"};
    return text[devices & 7];
}

const ty_method *ty_method_find(const char *name)
{
    for (int i = 0; ty_methods[i]; i++) {
        if (!strcmp(ty_methods[i]->name, name))
            return ty_methods[i];
    }
    return NULL;
}

static tally_status check_settings(const ty_method *m, const tally_plan *plan, tally_error *error)
{
    for (size_t i = 0; i < plan->options.settings_count; i++) {
        const char *key = plan->settings[2 * i], *value = plan->settings[2 * i + 1];
        const tally_parameter *p = m->parameters;
        while (p && p->key && strcmp(p->key, key))
            p++;
        if (!p || !p->key)
            return ty_error(error, TALLY_ERROR_ARGUMENT, "method %s has no setting '%s'", m->name,
                            key);
        char *end;
        const int64_t v = strtoll(value, &end, 10);
        const int begins = *value == '-' || (*value >= '0' && *value <= '9');
        if (!begins || *end || v < p->least || v > p->most)
            return ty_error(error, TALLY_ERROR_ARGUMENT,
                            "method %s: %s=%s: a whole number from %" PRId64 " to %" PRId64
                            " is expected",
                            m->name, key, value, p->least, p->most);
    }
    return TALLY_OK;
}

tally_status ty_method_supports(const ty_method *m, tally_plan *plan, tally_error *error)
{
    static const struct {
        tally_device_type device;
        uint32_t bit;
    } bits[] = {{TALLY_DEVICE_CPU, TY_ON_CPU},
                {TALLY_DEVICE_OPENCL, TY_ON_OPENCL},
                {TALLY_DEVICE_CUDA, TY_ON_CUDA}};
    char text[64];
    uint32_t bit = 0;
    for (int i = 0; i < 3; i++)
        bit |= bits[i].device == plan->context->device ? bits[i].bit : 0;
    if (!(m->devices & bit))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "method %s runs on %s, not on this device",
                        m->name, devices_text(m->devices));
    for (uint32_t d = 0; d < plan->options.dimensions; d++) {
        if (!(m->dtypes >> plan->options.dtypes[d] & 1))
            return ty_error(error, TALLY_ERROR_UNSUPPORTED, "method %s counts %s, not %s", m->name,
                            dtypes_text(m->dtypes, text),
                            tally_dtype_name(plan->options.dtypes[d]));
    }
    if (plan->bins < m->bins_min || plan->bins > m->bins_max)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "method %s counts %" PRIu64 " to %" PRIu64 " bins, not %" PRIu32, m->name,
                        m->bins_min, m->bins_max, plan->bins);
    tally_status status = check_settings(m, plan, error);
    const ty_method *own = plan->method;
    plan->method = m;
    if (!status && m->supports)
        status = m->supports(plan, error);
    plan->method = own;
    return status;
}

double ty_method_cost(const ty_method *m, tally_plan *plan, const char **why)
{
    const ty_method *own = plan->method;
    plan->method = m;
    const double cost = m->cost(plan, why);
    plan->method = own;
    return cost;
}

int64_t ty_method_parameter(const tally_plan *plan, const char *key)
{
    const char *value = ty_plan_setting(plan, key);
    const tally_parameter *p = plan->method->parameters;
    while (strcmp(p->key, key))
        p++;
    return value ? strtoll(value, NULL, 10) : p->standard;
}

uint32_t tally_method_count(void)
{
    return method_count;
}

tally_status tally_method_get(uint32_t i, tally_method_info *info, tally_error *error)
{
    if (!info || info->struct_size != sizeof *info)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "info is NULL or its struct_size is not set");
    if (i >= method_count)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "method %u: there are %d", i, method_count);
    static const tally_parameter none = {NULL, 0, 0, 0, NULL};
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, write_dtypes);
    const ty_method *m = ty_methods[i];
    *info = (tally_method_info){sizeof *info,
                                m->name,
                                m->source,
                                m->summary,
                                devices_text(m->devices),
                                all_dtypes[i],
                                m->bins_min,
                                m->bins_max,
                                m->parameters ? m->parameters : &none};
    return TALLY_OK;
}
