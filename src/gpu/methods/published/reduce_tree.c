/* Source 000: one pass an interval; its flags are summed by a tree. */
#include "gpu/call.h"
#include "gpu/methods/launches.h"
#include "kernel_texts.h"
#include "plan/registry.h"

static const tally_parameter parameters[] = {{"group", 1, 1024, 256, "work-items of a group"},
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
    return status ? status : ty_call_merge(call, &p, error);
}

static const ty_gpu_method kernels = {.texts = {ty_text_reduce_tree},
                                      .reads = TY_READS_COLUMN,
                                      .kernel = "count",
                                      .geometry = geometry,
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
    .supports = ty_supports_group,
    .backend = &kernels,
};
