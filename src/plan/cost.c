/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/cost.h"

#include <stdio.h>
#include <string.h>

#include "binning/float32.h"
#include "binning/lookup.h"
#include "cpu/cpu.h"
#include "gpu/method.h"
#include "plan/registry.h"
#include "plan/plan.h"

/* What a flush of one more worker takes, as measured: workers take turns. */
static const double merge_seconds_a_bin = 1e-9;

const double ty_unknown_seconds = 1e9;

/* Blanks, then a number with a point or without one, read without the locale. Returns where it
 * ends, or NULL if there is none. */
static const char *read_decimal(const char *at, double *value)
{
    double unit = 0;
    int digits = 0;
    at += strspn(at, " \t");
    for (*value = 0; (*at >= '0' && *at <= '9') || (*at == '.' && !unit); at++) {
        if (*at == '.') {
            unit = 1;
            continue;
        }
        *value = *value * 10 + (*at - '0');
        unit *= 10;
        digits++;
    }
    if (unit)
        *value /= unit;
    return digits && digits <= 15 ? at : NULL;
}

static int parse_row(const char *line, ty_rate *rate)
{
    unsigned long long bins;
    int used = 0;
    if (sscanf(line, "%31s %u %llu%n", rate->method, &rate->bytes, &bins, &used) != 3)
        return 0;
    rate->bins = bins;
    const char *at = read_decimal(line + used, &rate->call_us);
    at = at ? read_decimal(at, &rate->gbps) : NULL;
    return at && !at[strspn(at, " \t\r")] && rate->call_us < 1e9 && rate->gbps > 0 &&
           rate->gbps < 1e9;
}

int ty_tuning_parse(const char *text, ty_tuning *tuning, unsigned *line)
{
    tuning->count = 0;
    for (*line = 1; *text && *text != '['; ++*line) {
        char row[128];
        size_t length = strcspn(text, "\n");
        size_t kept = length < sizeof row - 1 ? length : sizeof row - 1;
        memcpy(row, text, kept);
        row[kept] = '\0';
        row[strcspn(row, "#")] = '\0';
        if (row[strspn(row, " \t\r")]) {
            if (kept != length || tuning->count == TY_RATES_MOST ||
                !parse_row(row, &tuning->rates[tuning->count]))
                return 0;
            tuning->count++;
        }
        text += length + (text[length] == '\n');
    }
    return 1;
}

/* The rows behind "[name]\n", or NULL. */
static const char *find_block(const char *name, size_t length)
{
    for (const char *const *block = ty_rates_blocks; *block; block++) {
        if (!strncmp(*block + 1, name, length) && (*block)[length + 1] == ']')
            return *block + length + 3;
    }
    return NULL;
}

void ty_tuning_default(const char *arch, ty_tuning *tuning)
{
    unsigned line;
    size_t length = strlen(arch);
    const char *block = find_block(arch, length);
    if (!block)
        block = find_block(arch, length = strcspn(arch, "-"));
    memset(tuning, 0, sizeof *tuning);
    tuning->threads = 1;
    if (block)
        (void)ty_tuning_parse(block, tuning, &line); /* test_cost: every block is whole */
    snprintf(tuning->note, sizeof tuning->note, "default speeds of %.*s", (int)length, arch);
}

const ty_rate *ty_rate_find(const ty_tuning *tuning, const char *method, uint32_t bytes,
                            uint64_t bins)
{
    for (uint32_t i = 0; i < tuning->count; i++) {
        const ty_rate *r = &tuning->rates[i];
        if ((!r->bytes || r->bytes == bytes) && (!r->bins || bins <= r->bins) &&
            !strcmp(r->method, method))
            return r;
    }
    return NULL;
}

double ty_plan_samples(const tally_plan *plan)
{
    return plan->options.n_hint ? (double)plan->options.n_hint : 1e6;
}

uint32_t ty_plan_bytes(const tally_plan *plan)
{
    size_t bytes = plan->weighted ? tally_dtype_bytes(plan->options.weight_dtype) : 0;
    for (uint32_t d = 0; d < plan->options.dimensions; d++)
        bytes += tally_dtype_bytes(plan->options.dtypes[d]);
    return (uint32_t)bytes;
}

/* One column of edges rounded to float32 is found as even ones are, on a device. */
static int is_uneven(const tally_plan *plan)
{
    if (plan->context->device != TALLY_DEVICE_CPU && plan->options.dimensions == 1 &&
        !plan->weighted && ty_float32_may_be_rounded(&plan->axes[0]))
        return 0;
    for (uint32_t d = 0; d < plan->options.dimensions; d++) {
        if (ty_lookup_serves(&plan->axes[d]))
            return 1;
    }
    return 0;
}

/* A table measured by `tune` may lack the row `edges`: a search, or a lookup in global memory, is
 * then taken to be ten times as slow as even edges. */
static double edges_speed(const ty_rate *most, const char *edges, double speed)
{
    const int slow = !strcmp(edges, TY_RATE_SEARCHED_EDGES) || !strcmp(edges, TY_RATE_GLOBAL_EDGES);
    if (!most)
        return slow ? speed / 10 : speed;
    return speed < most->gbps ? speed : most->gbps;
}

/* How a method of a device finds uneven edges without a lookup table in local memory. */
static const char *edges_row(const tally_plan *plan, const char *method)
{
    const ty_method *m = ty_method_find(method);
    int other = 0;
    if (!m || !(((const ty_gpu_method *)m->backend)->tables))
        return TY_RATE_SEARCHED_EDGES;
    for (uint32_t d = 0; d < plan->options.dimensions; d++)
        other |= ty_lookup_serves(&plan->axes[d]) && plan->axes[d].about.kind != TALLY_AXIS_LOG;
    return other ? TY_RATE_GLOBAL_EDGES : TY_RATE_GLOBAL_LOG;
}

/* Beyond so many uneven edges, and for 64-bit integers always, the processor searches among them:
 * so many samples a ns and thread, as measured on a Zen 4. With fewer edges the time depends on
 * their spacing, and the model takes it to be that of even ones. */
enum { searched_bins = 65536 };
static const double searched_rate = 0.03;

/* The threads that a call on the processor wakes. */
static double threads_of(const tally_plan *plan, double bytes)
{
    const double all = plan->context->tuning->threads,
                 most = 1 + bytes / (double)ty_cpu_thread_bytes(plan->bins * UINT64_C(4));
    return most < all ? most : all;
}

/* `edges`: the row that bounds uneven axes, or NULL. */
static double cost_by(const tally_plan *plan, const char *method, const char *edges)
{
    const ty_tuning *tuning = plan->context->tuning;
    const ty_rate *rate = ty_rate_find(
        tuning, method, (uint32_t)tally_dtype_bytes(plan->options.dtypes[0]), plan->bins);
    if (!rate)
        return ty_unknown_seconds;
    const double bytes = ty_plan_samples(plan) * ty_plan_bytes(plan);
    const double threads = threads_of(plan, bytes);
    double speed = rate->gbps;
    const int on_cpu = plan->context->device == TALLY_DEVICE_CPU, uneven = is_uneven(plan);
    const tally_dtype dtype = plan->options.dtypes[0];
    const int searched = plan->bins > searched_bins || dtype == TALLY_I64 || dtype == TALLY_U64;
    if (on_cpu && uneven && searched && speed > searched_rate * rate->bytes)
        speed = searched_rate * rate->bytes;
    speed *= threads;
    const ty_rate *read = ty_rate_find(tuning, TY_RATE_READ, 0, 0);
    if (threads > 1 && read && speed > read->gbps)
        speed = read->gbps;
    if (!on_cpu && uneven && edges)
        speed = edges_speed(ty_rate_find(tuning, edges, rate->bytes, plan->bins), edges, speed);
    return rate->call_us * 1e-6 + bytes / speed * 1e-9 +
           (threads - 1) * (double)plan->bins * merge_seconds_a_bin;
}

double ty_cost_channels(const tally_plan *plan, const char *method)
{
    const int uneven = plan->context->device != TALLY_DEVICE_CPU && is_uneven(plan);
    return cost_by(plan, method, uneven ? edges_row(plan, method) : TY_RATE_SEARCHED_EDGES);
}

double ty_cost(const tally_plan *plan, const char *method)
{
    const int separate = plan->channels == 1 || plan->context->device == TALLY_DEVICE_CPU;
    return separate ? ty_cost_channels(plan, method) : ty_unknown_seconds;
}

double ty_cost_lookup(const tally_plan *plan, const char *method, uint64_t spare)
{
    const int fits =
        plan->options.dimensions == 1 && ty_lookup_usual_bytes(&plan->axes[0]) <= spare;
    if (fits && plan->channels == 1)
        return cost_by(plan, method,
                       plan->axes[0].about.kind == TALLY_AXIS_LOG ? TY_RATE_LOCAL_LOG
                                                                  : TY_RATE_LOCAL_EDGES);
    /* The true lookup table may be smaller and fit, so this goes before a method that can only
     * search. */
    return ty_cost(plan, method) * (is_uneven(plan) ? 0.99 : 1);
}

double ty_cost_whatever_edges(const tally_plan *plan, const char *method)
{
    return plan->channels == 1 ? cost_by(plan, method, NULL) : ty_unknown_seconds;
}

double ty_cost_host(const ty_tuning *tuning, double bytes, unsigned threads)
{
    const ty_rate *host = ty_rate_find(tuning, TY_RATE_HOST, 0, 0),
                  *bus = ty_rate_find(tuning, TY_RATE_BUS, 0, 0);
    if (!host)
        return ty_unknown_seconds;
    const double packed = host->gbps * threads, most = bus ? bus->gbps : host->gbps;
    return host->call_us * 1e-6 + bytes / (packed < most ? packed : most) * 1e-9;
}

/* FNV-1a. */
static uint64_t fold(uint64_t hash, const void *bytes, size_t size)
{
    for (const unsigned char *at = bytes; size--; at++)
        hash = (hash ^ *at) * UINT64_C(0x100000001b3);
    return hash;
}

uint64_t ty_methods_signature(void)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    hash = fold(hash, tally_version(), strlen(tally_version()) + 1);
    for (int i = 0; ty_methods[i]; i++) {
        const ty_method *m = ty_methods[i];
        hash = fold(hash, m->name, strlen(m->name) + 1);
        hash = fold(hash, &m->devices, sizeof m->devices);
        hash = fold(hash, &m->dtypes, sizeof m->dtypes);
        for (const tally_parameter *p = m->parameters; p && p->key; p++) {
            hash = fold(hash, p->key, strlen(p->key) + 1);
            hash = fold(hash, &p->standard, sizeof p->standard);
        }
    }
    return hash;
}
