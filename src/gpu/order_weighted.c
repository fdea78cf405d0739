/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantiles of samples with weights on a device, by the digits of keys: the device adds up the
 * weights of keys that begin alike, for each value of the next digit; the host says which value a
 * quantile's key has. Many pieces of work, a batch and channel and what keys begin with, are one
 * launch.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/dtype.h"
#include "core/error.h"
#include "core/weighted.h"
#include "gpu/order_run.h"
#include "gpu/views.h"

enum {
    DIGIT = 10, /* bits; order_weighted.cl has as many values */
    VALUES = 1 << DIGIT,
    LOCAL = 16 * VALUES, /* bytes */
    JOBS = 256,          /* pieces of work of one launch */
    JOB_WORDS = 3,
    KIND_WORDS = 4,
    WANTS = 1 << 16, /* quantiles of one round of groups, about */
    ZERO_UNIT = 2048 /* what is added to a unit's exponent */
};

/* A quantile of one group. */
typedef struct want {
    uint64_t group, prefix; /* what its key begins with */
    ty_weight target;       /* among the keys that begin so */
    uint32_t index, job;
} want;

typedef struct turn {
    ty_order_run *run;
    int skip_nan;
    const double *q;
    uint32_t count;
    uint64_t *words; /* host memory: kinds of the groups, jobs, sums */
    uint64_t *kinds, *jobs, *sums;
    want *wants; /* of a group together */
    size_t wanted;
} turn;

/* ---- launches ---- */

static unsigned arguments(const ty_order_run *r, ty_arg *args)
{
    const ty_order_source *s = r->source;
    unsigned n = ty_order_grids(r, args, 1, 0);
    const ty_strided at = ty_view_strided(s->weights);
    n = ty_view_grid(args, n, &at);
    args[n++] = ty_arg_u64((uint64_t)s->weights->channel_stride);
    args[n++] = ty_arg_u32((uint32_t)s->weights->dtype);
    args[n++] = ty_arg_u64(s->samples->columns);
    args[n++] = ty_arg_u64(s->elements);
    args[n++] = ty_arg_u64(s->samples->channels);
    return n;
}

/* Groups of work-items for each of so many pieces of work. */
static uint32_t parts_of(const ty_order_run *r, uint32_t local, uint64_t pieces)
{
    const uint64_t tiles = r->source->elements / (r->group_size * 16) + 1;
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): pieces > 0 */
    return (uint32_t)((ty_order_fill(r, local, tiles) + pieces - 1) / pieces);
}

static tally_status look(const turn *o, tally_error *error)
{
    ty_order_run *r = o->run;
    const ty_device_ops *ops = r->device->ops;
    const uint32_t parts = parts_of(r, 0, r->groups);
    const size_t bytes = (size_t)r->groups * KIND_WORDS * 8;
    ty_arg args[32];
    unsigned n = arguments(r, args);
    args[n++] = ty_arg_u64(r->first);
    args[n++] = ty_arg_u32(parts);
    args[n++] = ty_arg_u32((uint32_t)o->skip_nan);
    args[n++] = ty_arg_memory(r->state);
    args[n++] = ty_arg_u64(0);
    tally_status status = ops->clear(r->device, r->queue, r->state, 0, bytes, error);
    if (!status)
        status = ty_order_launch(r, "order_heavy", parts * r->groups, 16, args, n, error);
    if (!status)
        status = ops->download(r->device, r->queue, o->kinds, r->state, 0, bytes, error);
    return status ? status : ops->wait(r->device, r->queue, error);
}

/* The sums of `count` pieces of work. */
static tally_status weigh(const turn *o, uint32_t count, uint32_t shift, uint32_t bits,
                          tally_error *error)
{
    ty_order_run *r = o->run;
    const ty_device_ops *ops = r->device->ops;
    const uint32_t parts = parts_of(r, LOCAL, count);
    const size_t jobs = (size_t)r->groups * KIND_WORDS, bytes = (size_t)count * VALUES * 16;
    ty_arg args[32];
    unsigned n = arguments(r, args);
    args[n++] = ty_arg_u32(parts);
    args[n++] = ty_arg_memory(r->state);
    args[n++] = ty_arg_u64(jobs);
    args[n++] = ty_arg_u32(shift);
    args[n++] = ty_arg_u32(bits);
    args[n++] = ty_arg_memory(r->w->scratch);
    tally_status status = ops->upload(r->device, r->queue, r->state, jobs * 8, o->jobs,
                                      (size_t)count * JOB_WORDS * 8, error);
    if (!status)
        status = ops->clear(r->device, r->queue, r->w->scratch, 0, bytes, error);
    if (!status)
        status = ty_order_launch(r, "order_weigh", (uint64_t)parts * count, LOCAL, args, n, error);
    if (!status)
        status = ops->download(r->device, r->queue, o->sums, r->w->scratch, 0, bytes, error);
    return status ? status : ops->wait(r->device, r->queue, error);
}

/* ---- what the host says ---- */

static ty_weight sum_of(const turn *o, uint32_t job, uint32_t value)
{
    const uint64_t *sum = o->sums + 2 * ((size_t)job * VALUES + value);
    return ((ty_weight)sum[1] << 32) + sum[0];
}

static int by_target(const void *a, const void *b)
{
    const want *x = a, *y = b;
    return (x->target > y->target) - (x->target < y->target);
}

/* The first digit's sums are all of the group's. */
static void set_targets(const turn *o, want *wants, uint32_t count)
{
    ty_weight total = 0;
    for (uint32_t v = 0; v < VALUES; v++)
        total += sum_of(o, wants->job, v);
    for (uint32_t i = 0; i < count; i++)
        wants[i].target = ty_weighted_target(o->q[wants[i].index], total);
    qsort(wants, count, sizeof *wants, by_target);
}

static int settle(const turn *o, want *w, uint32_t bits)
{
    for (uint32_t v = 0; v < 1U << bits; v++) {
        const ty_weight sum = sum_of(o, w->job, v);
        if (w->target <= sum) {
            w->prefix = w->prefix << bits | v;
            return 1;
        }
        w->target -= sum;
    }
    return 0;
}

/* One digit of wants[from …]: as many as one launch does. Returns where the next begins. */
static tally_status some(const turn *o, size_t from, size_t *to, uint32_t shift, uint32_t bits,
                         int first, tally_error *error)
{
    uint32_t count = 0;
    size_t i = from;
    for (; i < o->wanted; i++) {
        want *w = &o->wants[i];
        if (i == from || w->group != w[-1].group || w->prefix != w[-1].prefix) {
            if (count == JOBS)
                break;
            const uint64_t code = o->kinds[w->group * KIND_WORDS + 2];
            uint64_t *job = o->jobs + (size_t)count++ * JOB_WORDS;
            job[0] = o->run->first + w->group;
            job[1] = w->prefix;
            job[2] = code > 1 ? code - ZERO_UNIT : 0;
        }
        w->job = count - 1;
    }
    *to = i;
    tally_status status = weigh(o, count, shift, bits, error);
    for (i = from; i < *to && first && !status; i += o->count)
        set_targets(o, &o->wants[i], o->count);
    for (i = from; i < *to && !status; i++)
        if (!settle(o, &o->wants[i], bits))
            status = ty_error(error, TALLY_ERROR_DATA, "the samples changed between two readings");
    return status;
}

/* The groups that have quantiles to look for; the others' are NaN. */
static tally_status choose(turn *o, int64_t *keys, tally_error *error)
{
    const ty_order_run *r = o->run;
    const uint64_t channels = r->source->samples->channels;
    o->wanted = 0;
    for (uint64_t g = 0; g < r->groups; g++) {
        const uint64_t *kinds = o->kinds + g * KIND_WORDS, at = r->first + g;
        const uint64_t n = kinds[0] - (o->skip_nan ? kinds[1] : 0);
        if (kinds[3])
            return ty_error(error, TALLY_ERROR_DATA, TY_WEIGHTS_BAD);
        if (!n && !ty_dtype_is_float(r->source->samples->dtype))
            return ty_error(error, TALLY_ERROR_DATA, TY_WEIGHTS_NONE, at / channels, at % channels);
        if (n && !kinds[2])
            return ty_error(error, TALLY_ERROR_DATA, TY_WEIGHTS_ZERO, at / channels, at % channels);
        for (uint32_t i = 0; i < o->count; i++) {
            keys[at * o->count + i] = r->key_words == 2 ? INT64_MAX : INT32_MAX;
            if (n && (o->skip_nan || !kinds[1]))
                o->wants[o->wanted++] = (want){g, 0, 0, i, 0};
        }
    }
    return TALLY_OK;
}

static tally_status do_round(turn *o, int64_t *keys, tally_error *error)
{
    const ty_order_run *r = o->run;
    tally_status status = look(o, error);
    if (!status)
        status = choose(o, keys, error);
    for (uint32_t left = r->key_words * 32; left && !status;) {
        const uint32_t bits = left < DIGIT ? left : DIGIT, top = r->key_words * 32;
        left -= bits;
        for (size_t at = 0; at < o->wanted && !status;)
            status = some(o, at, &at, left, bits, left + bits == top, error);
    }
    for (size_t i = 0; i < o->wanted && !status; i++) {
        const want *w = &o->wants[i];
        keys[(r->first + w->group) * o->count + w->index] = ty_order_key(r, w->prefix);
    }
    return status;
}

static tally_status make(turn *o, uint64_t groups, tally_error *error)
{
    const ty_order_run *r = o->run;
    const size_t state = (size_t)groups * KIND_WORDS + (size_t)JOBS * JOB_WORDS,
                 sums = (size_t)JOBS * VALUES * 2, wants = (size_t)groups * o->count;
    o->words = ty_malloc((state + sums) * 8);
    o->wants = ty_malloc(wants * sizeof *o->wants);
    if (!o->words || !o->wants)
        return ty_error_memory(error, "quantiles", (state + sums) * 8 + wants * sizeof *o->wants);
    o->kinds = o->words;
    o->jobs = o->kinds + groups * KIND_WORDS;
    o->sums = o->words + state;
    tally_status status = ty_workspace_stages(r->device, r->w, state * 8, 0, error);
    return status ? status : ty_workspace_scratch(r->device, r->w, sums * 8, error);
}

tally_status ty_order_weighted(tally_context *context, const ty_order_source *source, int skip_nan,
                               const double *q, uint32_t count, int64_t *keys, tally_error *error)
{
    ty_order_run r;
    turn o = {.run = &r, .skip_nan = skip_nan, .q = q, .count = count};
    const uint64_t most = WANTS / count ? WANTS / count : 1,
                   groups = source->groups < most ? source->groups : most;
    if (source->elements >> 32)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "view: %" PRIu64 " samples with weights in a batch; a device takes 2^32",
                        source->elements);
    tally_status status = ty_order_begin(&r, context, source, TY_ORDER_WEIGHTED, error);
    if (!status)
        status = ty_order_refuse_recording(&r, error);
    if (!status)
        status = make(&o, groups, error);
    if (!status)
        r.state = r.w->samples;
    for (; r.first < source->groups && !status; r.first += r.groups) {
        r.groups = source->groups - r.first < groups ? source->groups - r.first : groups;
        status = do_round(&o, keys, error);
    }
    status =
        ty_order_end(&r, status, 0, error); /* before the memory that copies are on their way to */
    ty_free(o.words);
    ty_free(o.wants);
    return status;
}
