/* SPDX-License-Identifier: Apache-2.0 */
/* weighted: sums of weights in fixed point, the same bits whatever the order (kernels/weighted.cl).
 */
#include "core/error.h"
#include "gpu/methods/any_layout.h"
#include "gpu/methods/launches.h"
#include "gpu/views.h"
#include "kernel_texts.h"
#include "plan/cost.h"
#include "plan/registry.h"

ty_weight_words ty_weight_words_of(const tally_plan *plan)
{
    const tally_dtype weight = plan->options.weight_dtype;
    const int wide = weight == TALLY_U64 || weight == TALLY_I64 || weight == TALLY_F64 ||
                     plan->weighted == TALLY_RESULT_SUMS_WIDE;
    return (ty_weight_words){wide ? 3 : 2, plan->options.sum_squares ? 3 : 0};
}

/* Words of one histogram's partial. */
static uint32_t partial_words(const tally_plan *plan)
{
    const ty_weight_words w = ty_weight_words_of(plan);
    return (uint32_t)plan->slots * (w.sums + w.squares) + TY_WEIGHT_FLOWS;
}

ty_any_layout ty_weighted_layout(const tally_plan *plan, const ty_device *device)
{
    const ty_weight_words w = ty_weight_words_of(plan);
    return ty_any_layout_make(plan, device, w.sums + w.squares, TY_WEIGHT_FLOWS * 4);
}

static void geometry(const tally_plan *plan, const ty_device *device, uint64_t n, ty_geometry *g)
{
    (void)n;
    *g = ty_weighted_layout(plan, device).geometry;
}

void ty_weighted_define(const tally_plan *plan, const ty_device *device, ty_defines *defines)
{
    const ty_weight_words w = ty_weight_words_of(plan);
    const ty_any_layout l = ty_weighted_layout(plan, device);
    const tally_dtype weight = plan->options.weight_dtype;
    ty_any_layout_define(plan, &l, defines);
    ty_define(defines, "TY_WEIGHT", weight);
    ty_define(defines, "TY_WEIGHT_SIZE", (uint32_t)tally_dtype_bytes(weight));
    ty_define(defines, "TY_SUM_WORDS", w.sums);
    ty_define(defines, "TY_SQUARE_WORDS", w.squares);
    ty_define(defines, "TY_MARGIN", 3);
    ty_define(defines, "TY_LIMITED", plan->weighted == TALLY_RESULT_SUMS_WIDE);
}

tally_status ty_weighted_supports(const tally_plan *plan, tally_error *error)
{
    if (!plan->weighted)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "weighted sums weights; the plan has none");
    if (plan->slots > UINT32_MAX / 8)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "weighted sums %u bins at most",
                        (unsigned)(UINT32_MAX / 8 - TY_SLOT_EXTRA));
    return ty_any_layout_supports(plan, error);
}

static double cost(const tally_plan *plan, const char **why)
{
    *why = "sums that do not depend on their order";
    return ty_cost_channels(plan, "weighted");
}

/* Partials of each histogram: one where all groups add to one table. */
static uint32_t parts_of(const ty_geometry *g, uint32_t copies, uint64_t elements, uint64_t count,
                         uint32_t *partials)
{
    const uint32_t parts = ty_view_parts(g, elements, count);
    *partials = copies ? parts : 1;
    return parts;
}

uint64_t ty_weighted_histograms(const ty_call *call, const ty_geometry *other)
{
    const ty_job *job = call->job;
    const ty_any_layout l = ty_weighted_layout(call->plan, call->device);
    uint32_t partials, parts = other ? ty_view_parts(other, job->elements, job->histograms) : 1;
    parts_of(&l.geometry, l.copies, job->elements, job->histograms, &partials);
    return ty_view_histograms(call, partials > parts ? partials : parts, partial_words(call->plan),
                              1);
}

static uint64_t histograms(const ty_call *call)
{
    return ty_weighted_histograms(call, NULL);
}

static uint32_t log2_above(uint64_t n)
{
    uint32_t k = 0;
    while (UINT64_C(1) << k < n)
        k++;
    return k;
}

/* Weights that are float64s, or whose squares are, need to know how large they get. */
static int must_probe(const tally_plan *plan)
{
    const tally_dtype w = plan->options.weight_dtype;
    if (plan->weighted == TALLY_RESULT_SUMS_WIDE)
        return 0;
    return w == TALLY_F32 || w == TALLY_F64 ||
           (plan->options.sum_squares && tally_dtype_bytes(w) == 8);
}

/* Looks at one row of a work-group's loads in `stride` for the size of the weights. */
static tally_status launch_probe(ty_call *call, const char *kernel, uint32_t groups, uint32_t size,
                                 uint32_t parts, uint32_t stride, ty_memory scratch,
                                 tally_error *error)
{
    ty_arg args[TY_VIEW_ARGS];
    unsigned n = ty_view_grid(args, 0, &call->weights);
    args[n++] = ty_arg_u64((uint64_t)call->weight_channel);
    n = ty_view_extents(call, parts, args, n);
    args[n++] = ty_arg_u32(stride);
    args[n++] = ty_arg_memory(scratch);
    const ty_launch probe = {groups, size, 4, args, n, .early = 0};
    return ty_call_launch(call, kernel, &probe, error);
}

/* The partials' terms of up to 2^bits samples, added up and stored; `bits` of a plan with a limit
 * is its exponent. */
static tally_status launch_weigh(ty_call *call, ty_memory out, ty_memory scratch, uint32_t partials,
                                 uint32_t bits, tally_error *error)
{
    const ty_store *t = &call->store;
    const uint32_t blocks = t->bins / 16 + (t->bins % 16 != 0);
    const ty_arg args[] = {ty_arg_memory(out),
                           ty_arg_u32(partials),
                           ty_arg_u32((uint32_t)call->plan->slots),
                           ty_arg_u32(blocks),
                           ty_arg_u32(bits),
                           ty_arg_u32((uint32_t)call->count),
                           ty_arg_memory(scratch),
                           ty_arg_memory(t->counts),
                           ty_arg_u64(t->first),
                           ty_arg_u64(t->high_first),
                           ty_arg_memory(t->squares ? t->squares : t->counts),
                           ty_arg_u64(t->square_first),
                           ty_arg_memory(t->flows),
                           ty_arg_u64(t->flow_first),
                           ty_arg_u32(t->flow_count),
                           ty_arg_u32(t->bins),
                           ty_arg_u32(t->how | (t->fresh ? 0 : TY_OUT_ADD))};
    const ty_launch weigh = {blocks * (uint32_t)call->count, 256,       4096, args,
                             sizeof args / sizeof *args,     .early = 0};
    call->store.fresh = 0;
    return ty_call_launch(call, "weigh", &weigh, error);
}

tally_status ty_weighted_sum(ty_call *call, const char *probe, const char *count,
                             const ty_geometry *g, uint32_t probe_size, uint32_t copies,
                             tally_error *error)
{
    enum { probe_stride = 32 };
    const tally_plan *plan = call->plan;
    const uint64_t tables = call->count * (4 + plan->slots) * 4;
    uint32_t partials, parts = parts_of(g, copies, call->n, call->count, &partials);
    const uint64_t bytes = call->count * partials * partial_words(plan) * 4;
    const uint32_t groups = (uint32_t)call->count * parts;
    const uint32_t bits = plan->weighted == TALLY_RESULT_SUMS_WIDE ? (uint32_t)plan->weight_exponent
                                                                   : log2_above(call->n);
    const uint32_t stride = !copies || call->n < 1 << 20 ? 1 : probe_stride;
    const uint32_t rounds = must_probe(plan) && stride > 1 ? 2 : 1;
    ty_memory out, scratch;
    tally_status status = ty_call_partials(call, bytes, &out, error);
    if (!status)
        status = ty_call_scratch(call, tables, &scratch, error);
    if (!status && !copies)
        status = ty_call_clear(call, out, 0, bytes, error);
    if (!status)
        status = ty_call_clear(call, scratch, 0, tables, error);
    if (!status && must_probe(plan))
        status = launch_probe(call, probe, groups, probe_size, parts, stride, scratch, error);
    for (uint32_t round = 0; round < rounds && !status; round++) {
        ty_arg args[TY_VIEW_ARGS];
        unsigned n = ty_view_extents(call, parts, args, ty_view_grids(call, args));
        args[n++] = ty_arg_u32((uint32_t)plan->slots);
        args[n++] = ty_arg_u32(copies ? copies : 1);
        args[n++] = ty_arg_u32(bits);
        args[n++] = ty_arg_u32(round);
        args[n++] = ty_arg_u32((uint32_t)call->count);
        args[n++] = ty_arg_memory(scratch);
        args[n++] = ty_arg_memory(out);
        const ty_launch launch = {groups, g->group_size, g->local_bytes, args, n, .early = 0};
        status = ty_call_launch(call, count, &launch, error);
    }
    return status ? status : launch_weigh(call, out, scratch, partials, bits, error);
}

static tally_status enqueue(ty_call *call, tally_error *error)
{
    const ty_any_layout l = ty_weighted_layout(call->plan, call->device);
    return ty_weighted_sum(call, "probe", "count", &l.geometry, l.geometry.group_size, l.copies,
                           error);
}

static const ty_gpu_method kernels = {.texts = {ty_text_fixed_h, ty_text_weighted},
                                      .reads = TY_READS_ANY,
                                      .maps = TY_MAPS_FLOAT32,
                                      .tables = TY_TABLES_GLOBAL,
                                      .kernel = "count",
                                      .geometry = geometry,
                                      .define = ty_weighted_define,
                                      .histograms = histograms,
                                      .enqueue = enqueue};

const ty_method ty_weighted = {
    .name = "weighted",
    .source = "tally",
    .summary = "sums of weights in fixed point: the same bits on every run",
    .devices = TY_ON_GPU,
    .dtypes = UINT32_MAX,
    .bins_min = 1,
    .bins_max = TY_MAX_BINS,
    .parameters = ty_any_layout_parameters,
    .supports = ty_weighted_supports,
    .cost = cost,
    .backend = &kernels,
};
