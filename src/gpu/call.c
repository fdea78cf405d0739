/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that methods write their `enqueue` with. */
#include "gpu/call.h"

#include "core/error.h"
#include "core/random.h"
#include "plan/registry.h"

tally_status ty_call_partials(ty_call *c, uint64_t bytes, ty_memory *memory, tally_error *error)
{
    tally_status status = ty_workspace_partials(c->device, c->w, bytes, error);
    *memory = c->w->partials;
    return status;
}

tally_status ty_call_scratch(ty_call *c, uint64_t bytes, ty_memory *memory, tally_error *error)
{
    tally_status status = ty_workspace_scratch(c->device, c->w, bytes, error);
    *memory = c->w->scratch;
    return status;
}

tally_status ty_call_table(ty_call *c, ty_memory *memory, tally_error *error)
{
    tally_status status = ty_workspace_table(c->plan, c->w, error);
    *memory = c->w->table;
    return status;
}

tally_status ty_call_clear(ty_call *c, ty_memory memory, uint64_t offset, uint64_t bytes,
                           tally_error *error)
{
    return c->device->ops->clear(c->device, c->queue, memory, (size_t)offset, (size_t)bytes, error);
}

tally_status ty_call_launch(ty_call *c, const char *kernel, const ty_launch *launch,
                            tally_error *error)
{
    ty_launch l = *launch;
    l.early = launch->early && !c->recording;
    return c->device->ops->launch(c->device, c->queue, c->program, kernel, &l, error);
}

uint32_t ty_call_key(const ty_call *c)
{
    const uint32_t key = (uint32_t)ty_method_parameter(c->plan, "key");
    return key ? key : ty_random_u32();
}

uint64_t ty_call_offset(const ty_call *c)
{
    const ty_strided *g = &c->samples[0];
    const uint64_t batch = c->h / c->plan->active_count;
    return g->at + (uint64_t)((int64_t)batch * g->batch) + c->begin * c->job->samples[0].size;
}

unsigned ty_call_column(const ty_call *c, ty_memory out, uint32_t pass, ty_arg *args)
{
    args[0] = ty_arg_memory(c->samples[0].memory);
    args[1] = ty_arg_u64(ty_call_offset(c));
    args[2] = ty_arg_u64(c->n);
    args[3] = ty_arg_memory(c->w->axes);
    args[4] = ty_arg_u32((uint32_t)c->plan->slots);
    args[5] = ty_arg_memory(out);
    args[6] = ty_arg_u32(pass);
    return TY_COLUMN_COUNT;
}

unsigned ty_call_store(const ty_call *c, ty_arg *args, unsigned n)
{
    const ty_store *s = &c->store;
    args[n++] = ty_arg_memory(s->counts);
    args[n++] = ty_arg_u64(s->first);
    args[n++] = ty_arg_memory(s->flows);
    args[n++] = ty_arg_u64(s->histogram);
    args[n++] = ty_arg_u32(s->bins);
    args[n++] = ty_arg_u32(s->how | (s->fresh ? 0 : TY_OUT_ADD));
    return n;
}

/* ---- merging ---- */

/* How many targets (bins and flows) a group of the merge kernel adds up, if each target is the sum
 * of `words` words. The group's 256 work-items are shared out among its targets: few words mean
 * many targets, so that no work-item is without a word. Below 16 targets only where each work-item
 * would have to add more than 16 words. */
static uint32_t merge_width(uint64_t words)
{
    uint32_t wide = 256;
    while (wide > 16 && 256 / wide < words)
        wide /= 2;
    while (wide > 1 && words > 16 * (256 / wide))
        wide /= 2;
    return wide;
}

tally_status ty_call_merge_begin(ty_call *c, void **event, tally_error *error)
{
    *event = NULL;
    return c->job->merge_seconds ? c->device->ops->event_record(c->device, c->queue, event, error)
                                 : TALLY_OK;
}

tally_status ty_call_merge_end(ty_call *c, void *event, tally_status status, tally_error *error)
{
    c->store.fresh = 0;
    if (event && !status)
        return ty_call_seconds(c, event, c->job->merge_seconds, error);
    c->device->ops->event_close(c->device, event);
    return status;
}

tally_status ty_call_merge(ty_call *c, const ty_partials *p, tally_error *error)
{
    const int raw = p->raw_shift >= 0;
    tally_status status =
        raw ? ty_workspace_raw_slots(c->plan, c->w, (unsigned)p->raw_shift, error) : TALLY_OK;
    const uint32_t targets = c->store.bins + (c->store.how & TY_OUT_FLOWS ? 4 : 0);
    const uint64_t words = (uint64_t)p->count * (raw ? c->w->raw_longest : 1);
    const uint32_t wide = p->width ? p->width : merge_width(words);
    const uint32_t blocks = targets / wide + (targets % wide != 0);
    ty_arg args[7 + TY_STORE_COUNT] = {ty_arg_memory(p->memory),
                                       ty_arg_u32(p->count),
                                       ty_arg_u32(p->words),
                                       ty_arg_u32((uint32_t)c->plan->slots),
                                       ty_arg_u32(wide),
                                       ty_arg_u32(blocks),
                                       ty_arg_memory(raw ? c->w->raw_slots : c->w->axes)};
    const unsigned n = ty_call_store(c, args, 7);
    const ty_launch merge = {blocks * (uint32_t)c->count, 256, 2048, args, n, .early = 1};
    void *event = NULL;
    if (!status)
        status = ty_call_merge_begin(c, &event, error);
    if (!status)
        status = ty_call_launch(c, "merge", &merge, error);
    return ty_call_merge_end(c, event, status, error);
}

/* ---- methods with one kernel ---- */

tally_status ty_call_count(ty_call *c, const ty_counting *how, tally_error *error)
{
    const ty_geometry *g = &c->geometry;
    ty_partials p = {.count = how->partials ? how->partials : g->groups,
                     .words = how->words ? how->words : (uint32_t)c->plan->slots,
                     .raw_shift = how->words ? how->raw_shift : -1,
                     .width = how->merge_width};
    const uint64_t bytes = (uint64_t)p.count * p.words * 4;
    tally_status status = ty_call_partials(c, bytes, &p.memory, error);
    if (!status && how->cleared)
        status = ty_call_clear(c, p.memory, 0, bytes, error);
    ty_arg args[TY_COLUMN_COUNT];
    const unsigned n = ty_call_column(c, p.memory, 0, args);
    const ty_launch count = {g->groups, g->group_size, g->local_bytes, args, n, .early = 0};
    if (!status)
        status = ty_call_launch(c, "count", &count, error);
    return status ? status : ty_call_merge(c, &p, error);
}
