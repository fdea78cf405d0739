/* SPDX-License-Identifier: Apache-2.0 */
/* Source 000: one pass an interval; its flags are summed by a tree. */
#include "core/alloc.h"
#include "core/error.h"
#include "gpu/call.h"
#include "gpu/methods/launches.h"
#include "kernel_texts.h"
#include "plan/registry.h"

static const tally_parameter parameters[] = {
    {"group", 1, 1024, 256, "work-items of a group"},
    {"compares", 0, 1, 0, "1: compares with an interval's ends, as published; 0: finds slots"},
    {"host", 0, 1, 0, "1: the host adds the groups' sums up, as published"},
    {NULL, 0, 0, 0, NULL}};

/* Groups whose partials, a word for each interval, take 256 MiB at most. */
static uint64_t most_groups(const tally_plan *plan)
{
    const uint64_t most = (UINT64_C(64) << 20) / plan->slots;
    return most ? most : 1;
}

static void geometry(const tally_plan *plan, const ty_device *device, uint64_t n, ty_geometry *g)
{
    const uint64_t most = most_groups(plan);
    ty_geometry_by_samples(plan, device, n, 1, g);
    if (g->most > most * g->group_size)
        g->most = most * g->group_size;
    if (g->groups > most)
        g->groups = (uint32_t)most;
    g->local_bytes = g->group_size * 4;
}

static void define(const tally_plan *plan, const ty_device *device, ty_defines *defines)
{
    (void)device;
    ty_define(defines, "TY_COMPARES", (uint32_t)ty_method_parameter(plan, "compares"));
}

static tally_status supports(const tally_plan *plan, tally_error *error)
{
    if (ty_method_parameter(plan, "compares") && tally_dtype_bytes(plan->options.dtypes[0]) == 1)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "compares=1: the slots of bytes are in a table, which has no ends of "
                        "intervals");
    return ty_supports_group(plan, error);
}

/* Makes of the partials one, on the host: fetched a few at a time, added up, brought back. Sums of
 * a launch fit 32 bits. */
static tally_status add_on_host(ty_call *call, ty_partials *p, tally_error *error)
{
    enum { fetched_bytes = 1 << 20 };
    const ty_device_ops *ops = call->device->ops;
    const size_t row = (size_t)p->words * 4, rows = row < fetched_bytes ? fetched_bytes / row : 1;
    if (call->recording)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "host=1: the call waits for the device; a graph cannot record it");
    uint32_t *sums = ty_calloc(rows + 1, row), *fetched = sums ? sums + p->words : NULL;
    if (!sums)
        return ty_error_memory(error, "the groups' sums", (rows + 1) * row);
    tally_status status = TALLY_OK;
    for (size_t at = 0; at < p->count && !status; at += rows) {
        const size_t now = p->count - at < rows ? p->count - at : rows;
        status = ops->download(call->device, call->queue, fetched, p->memory, at * row, now * row,
                               error);
        status = status ? status : ops->wait(call->device, call->queue, error);
        for (size_t r = 0; r < now && !status; r++)
            for (size_t w = 0; w < p->words; w++)
                sums[w] += fetched[r * p->words + w];
    }
    p->count = 1;
    if (!status)
        status = ops->upload(call->device, call->queue, p->memory, 0, sums, row, error);
    if (!status)
        status = ops->wait(call->device, call->queue, error);
    ty_free(sums);
    return status;
}

/* A launch for each interval; under, over and NaN are intervals of their own. */
static tally_status enqueue(ty_call *call, tally_error *error)
{
    const ty_geometry *g = &call->geometry;
    ty_partials p = {.count = g->groups, .words = (uint32_t)call->plan->slots, .raw_shift = -1};
    const uint64_t bytes = (uint64_t)p.count * p.words * 4;
    tally_status status = ty_call_partials(call, bytes, &p.memory, error);
    if (!status)
        status = ty_call_clear(call, p.memory, 0, bytes, error);
    for (uint32_t pass = 0; pass < call->plan->bins + 3 && !status; pass++) {
        ty_arg args[TY_COLUMN_COUNT];
        const unsigned n = ty_call_column(call, p.memory, pass, args);
        const ty_launch count = {g->groups, g->group_size, g->local_bytes, args, n, .early = 0};
        status = ty_call_launch(call, "count", &count, error);
    }
    if (!status && ty_method_parameter(call->plan, "host"))
        status = add_on_host(call, &p, error);
    return status ? status : ty_call_merge(call, &p, error);
}

static const ty_gpu_method kernels = {.texts = {ty_text_reduce_tree},
                                      .reads = TY_READS_COLUMN,
                                      .kernel = "count",
                                      .geometry = geometry,
                                      .define = define,
                                      .enqueue = enqueue};

const ty_method ty_reduce_tree = {
    .name = "reduce-tree",
    .source = "000",
    .summary = "one pass an interval: flags in local memory, summed by a tree",
    .devices = TY_ON_GPU,
    .dtypes = UINT32_MAX,
    .bins_min = 1,
    .bins_max = 65536,
    .parameters = parameters,
    .supports = supports,
    .backend = &kernels,
};
