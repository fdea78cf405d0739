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

/* Under, over and NaN are intervals of their own. */
static tally_status enqueue(ty_call *call, tally_error *error)
{
    const ty_counting intervals = {.cleared = 1, .passes = call->plan->bins + 3};
    return ty_call_count(call, &intervals, error);
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
