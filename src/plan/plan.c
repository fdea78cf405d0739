/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/dtype.h"
#include "core/error.h"
#include "plan/cost.h"
#include "plan/registry.h"
#include "plan/offload.h"
#include "plan/several.h"
#include "plan/wide.h"

enum { most_settings = 256 }; /* no method has nearly as many */

const char *ty_plan_setting(const tally_plan *plan, const char *key)
{
    for (size_t i = 0; i < plan->options.settings_count; i++) {
        if (!strcmp(plan->settings[2 * i], key))
            return plan->settings[2 * i + 1];
    }
    return NULL;
}

static tally_status check_options(const tally_plan_options *o, tally_error *error)
{
    if (o->struct_size != sizeof *o)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "plan options: struct_size is %zu, expected %zu", o->struct_size,
                        sizeof *o);
    if (!o->dimensions || o->dimensions > TALLY_MAX_DIMENSIONS)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%u dimensions; 1 to %d are counted",
                        o->dimensions, TALLY_MAX_DIMENSIONS);
    if ((unsigned)o->counter > TALLY_COUNTER_U8SAT)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "unknown counter %d", (int)o->counter);
    if (o->weight_dtype && !tally_dtype_bytes(o->weight_dtype))
        return ty_error(error, TALLY_ERROR_ARGUMENT, "unknown weight dtype %d",
                        (int)o->weight_dtype);
    if (o->weight_dtype == TALLY_F16 || o->weight_dtype == TALLY_BF16)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s weights: weights are f32, f64 or integers",
                        tally_dtype_name(o->weight_dtype));
    if (o->sum_squares && !o->weight_dtype)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "sum_squares without weights: give weight_dtype");
    if (o->weight_limit != 0 && o->weight_dtype != TALLY_F32 && o->weight_dtype != TALLY_F64)
        return ty_error(
            error, TALLY_ERROR_ARGUMENT,
            "weight_limit is for weights of f32 and f64; sums of integers have the same "
            "bits without one");
    if (o->weight_limit != 0 && o->sum_squares)
        return ty_error(
            error, TALLY_ERROR_UNSUPPORTED,
            "weight_limit with sum_squares: sum the squares as weights of another plan");
    if (o->weight_dtype && o->counter != TALLY_COUNTER_U64)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "weighted sums are f64 or i64; a narrower counter does not apply");
    if (o->dimensions > 1 && o->channels > 1)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%" PRIu64
                        " channels in %u dimensions: a joint table takes one view an axis",
                        o->channels, o->dimensions);
    return TALLY_OK;
}

static tally_status resolve_axes(tally_plan *plan, tally_error *error)
{
    uint64_t bins = 1;
    for (uint32_t d = 0; d < plan->options.dimensions; d++) {
        if (!tally_dtype_bytes(plan->options.dtypes[d]))
            return ty_error(error, TALLY_ERROR_ARGUMENT, "axis %u: unknown dtype %d", d,
                            (int)plan->options.dtypes[d]);
        tally_status status = ty_axis_resolve(&plan->options.axes[d], plan->options.dtypes[d], d,
                                              &plan->axes[d], error);
        if (status)
            return status;
        plan->options.axes[d] = plan->axes[d].about;
        bins *=
            plan->axes[d].bins.bins; /* each factor is at most 2^31, so no wrap before the check */
        if (bins > TY_MAX_BINS)
            return ty_error(error, TALLY_ERROR_ARGUMENT,
                            "the axes' product passes 2^31 bins; ask for fewer");
    }
    plan->bins = (uint32_t)bins;
    plan->slots = bins + TY_SLOT_EXTRA;
    return TALLY_OK;
}

static tally_status resolve_channels(tally_plan *plan, tally_error *error)
{
    tally_plan_options *o = &plan->options;
    plan->channels = o->channels ? o->channels : 1;
    if (plan->channels > 65536)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%" PRIu64 " channels; at most 65536 are counted at once", plan->channels);
    plan->active = ty_malloc((size_t)plan->channels * sizeof *plan->active);
    if (!plan->active)
        return ty_error_memory(error, "channels", plan->channels * sizeof *plan->active);
    for (uint64_t c = 0; c < plan->channels; c++) {
        if (!o->channel_mask || (c < 64 ? o->channel_mask >> c & 1 : 1))
            plan->active[plan->active_count++] = c;
    }
    if (!plan->active_count || (plan->channels < 64 && o->channel_mask >> plan->channels))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "channel_mask %#" PRIx64 " names channels past the %" PRIu64 " there are",
                        o->channel_mask, plan->channels);
    return TALLY_OK;
}

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = ty_malloc(size);
    if (copy)
        memcpy(copy, text, size);
    return copy;
}

static tally_status copy_settings(tally_plan *plan, const tally_plan_options *from,
                                  tally_error *error)
{
    plan->options.settings = NULL;
    plan->options.settings_count = 0;
    if (!from->settings_count)
        return TALLY_OK;
    if (!from->settings)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "settings is NULL, settings_count is %zu",
                        from->settings_count);
    if (from->settings_count > most_settings)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%zu settings; at most %d are taken",
                        from->settings_count, most_settings);
    plan->settings = ty_calloc(2 * from->settings_count, sizeof *plan->settings);
    if (!plan->settings)
        return ty_error_memory(error, "settings", 2 * from->settings_count * sizeof(char *));
    plan->options.settings_count = from->settings_count;
    for (size_t i = 0; i < from->settings_count; i++) {
        if (!from->settings[i].key || !from->settings[i].value)
            return ty_error(error, TALLY_ERROR_ARGUMENT, "setting %zu: key or value is NULL", i);
        plan->settings[2 * i] = copy_text(from->settings[i].key);
        plan->settings[2 * i + 1] = copy_text(from->settings[i].value);
        if (!plan->settings[2 * i] || !plan->settings[2 * i + 1])
            return ty_error_memory(error, "settings", 2);
    }
    return TALLY_OK;
}

/* Adds to the plan's description. */
__attribute__((format(printf, 2, 3))) static void say(tally_plan *plan, const char *format, ...)
{
    size_t at = strlen(plan->text);
    va_list words;
    va_start(words, format);
    vsnprintf(plan->text + at, sizeof plan->text - at, format, words);
    va_end(words);
}

/* Seconds in a unit that fits. */
static const char *shown_seconds(double seconds, char text[24])
{
    snprintf(text, 24,
             seconds < 1e-3 ? "%.3g us"
             : seconds < 1  ? "%.3g ms"
                            : "%.3g s",
             seconds * (seconds < 1e-3 ? 1e6
                        : seconds < 1  ? 1e3
                                       : 1));
    return text;
}

/* `auto`: the cheapest method that serves the plan, and which would be next. */
static tally_status choose_method(tally_plan *plan, uint64_t without, tally_error *error)
{
    const ty_method *best = NULL, *next = NULL;
    const char *why = "";
    double least = 0, second = 0;
    char text[24];
    for (int i = 0; ty_methods[i]; i++) {
        const ty_method *m = ty_methods[i];
        const char *reason = "";
        if (!m->cost || without >> i & 1 || ty_method_supports(m, plan, NULL))
            continue;
        double cost = ty_method_cost(m, plan, &reason);
        if (!best || cost < least) {
            next = best;
            second = least;
            best = m;
            least = cost;
            why = reason;
        } else if (!next || cost < second) {
            next = m;
            second = cost;
        }
    }
    if (!best && plan->options.settings_count)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "no method that serves the plan takes the setting %s=%s: `tally methods` "
                        "lists what each takes",
                        plan->settings[0], plan->settings[1]);
    if (!best)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "no method of this device serves the plan");
    plan->method = best;
    plan->seconds = least;
    say(plan, "%s on %s: %s; %s expected for %.4g samples", best->name,
        plan->context->backend->name, why, shown_seconds(least, text), ty_plan_samples(plan));
    if (next)
        say(plan, ", %s next with %s", next->name, shown_seconds(second, text));
    say(plan, " (%s)", plan->context->tuning->note);
    return TALLY_OK;
}

static tally_status pick_method(tally_plan *plan, const char *name, uint64_t without,
                                tally_error *error)
{
    tally_status status;
    if (!name || !strcmp(name, "auto")) {
        status = choose_method(plan, without, error);
    } else {
        const ty_method *m = ty_method_find(name);
        if (!m)
            return ty_error(error, TALLY_ERROR_ARGUMENT,
                            "no method is named '%s'; `tally methods` lists them", name);
        status = ty_method_supports(m, plan, error);
        plan->method = m;
        say(plan, "%s on %s: asked for by name", m->name, plan->context->backend->name);
    }
    if (status)
        return status;
    plan->options.method = plan->method->name;
    for (size_t i = 0; i < plan->options.settings_count; i++)
        say(plan, "; %s=%s", plan->settings[2 * i], plan->settings[2 * i + 1]);
    return TALLY_OK;
}

tally_status ty_plan_resolve(tally_context *context, const tally_plan_options *options,
                             uint64_t without, tally_plan **plan, tally_error *error)
{
    tally_status status = check_options(options, error);
    if (status)
        return status;
    tally_plan *p = ty_calloc(1, sizeof *p);
    if (!p)
        return ty_error_memory(error, "a plan", sizeof *p);
    p->context = context;
    p->options = *options;
    if (options->weight_dtype)
        p->weighted = ty_dtype_is_float(options->weight_dtype) ? TALLY_RESULT_SUMS_F64
                                                               : TALLY_RESULT_SUMS_I64;
    if (options->weight_limit != 0) {
        p->weighted = TALLY_RESULT_SUMS_WIDE;
        status = ty_wide_exponent(options->weight_limit, &p->weight_exponent, error);
    }
    if (!status)
        status = copy_settings(p, options, error);
    if (!status)
        status = resolve_axes(p, error);
    if (!status)
        status = resolve_channels(p, error);
    if (!status)
        status = pick_method(p, options->method, without, error);
    if (status) {
        tally_plan_destroy(p);
        return status;
    }
    *plan = p;
    return TALLY_OK;
}

static uint64_t bit_of(const ty_method *method)
{
    int i = 0;
    while (ty_methods[i] != method)
        i++;
    return UINT64_C(1) << i;
}

/* The backend prepares *plan: on a device it compiles or loads kernels. If that is impossible, as
 * where no compiler is installed and the wheel lacks the kernel, `auto` takes the next best method;
 * a method that was asked for by name fails, and *plan is destroyed. */
static tally_status prepare(tally_context *context, const tally_plan_options *options,
                            tally_plan **plan, tally_error *error)
{
    uint64_t without = 0;
    tally_plan *p = *plan;
    tally_status status =
        context->backend->prepare ? context->backend->prepare(p, error) : TALLY_OK;
    while (status == TALLY_ERROR_UNSUPPORTED && p->seconds > 0) {
        without |= bit_of(p->method);
        tally_plan_destroy(p);
        p = NULL;
        if (ty_plan_resolve(context, options, without, &p, NULL))
            break;
        status = context->backend->prepare(p, NULL);
    }
    if (status)
        tally_plan_destroy(p);
    *plan = status ? NULL : p;
    return status;
}

tally_status tally_plan_create(tally_context *context, const tally_plan_options *options,
                               tally_plan **plan, tally_error *error)
{
    if (!context || !options || !plan)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s is NULL",
                        !context   ? "context"
                        : !options ? "options"
                                   : "plan");
    if (context->several)
        return ty_several_plan(context, options, plan, error);
    tally_plan *made = NULL;
    tally_status status = ty_plan_resolve(context, options, 0, &made, error);
    if (status)
        return status;
    tally_plan *other = context->offload ? ty_offload_plan(context->offload, options, made) : NULL;
    if (other) {
        tally_plan_destroy(made);
        made = other;
    } else {
        status = prepare(context, options, &made, error);
    }
    if (!status)
        *plan = made;
    return status;
}

void tally_plan_destroy(tally_plan *plan)
{
    if (!plan)
        return;
    if (plan->context->backend->finish)
        plan->context->backend->finish(plan);
    for (uint32_t d = 0; d < plan->options.dimensions; d++)
        ty_axis_clear(&plan->axes[d]);
    for (size_t i = 0; plan->settings && i < 2 * plan->options.settings_count; i++)
        ty_free(plan->settings[i]);
    ty_free(plan->settings);
    ty_free(plan->active);
    ty_free(plan);
}

const char *tally_plan_method(const tally_plan *plan)
{
    return plan ? plan->method->name : NULL;
}

tally_status tally_plan_device(const tally_plan *plan, tally_device_info *info, tally_error *error)
{
    if (!plan)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "plan is NULL");
    return tally_context_device(plan->context, info, error);
}

const tally_plan_options *tally_plan_options_get(const tally_plan *plan)
{
    return plan ? &plan->options : NULL;
}

uint64_t tally_plan_bins(const tally_plan *plan)
{
    return plan ? plan->bins : 0;
}

uint64_t tally_plan_channels(const tally_plan *plan)
{
    return plan ? plan->active_count : 0;
}

const char *tally_plan_describe(const tally_plan *plan)
{
    return plan ? plan->text : NULL;
}
