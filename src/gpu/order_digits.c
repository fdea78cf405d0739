/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searches for order statistics by the digits of keys (order.c): of a group of samples by a group
 * of work-items, and of few ranks by all of them.
 */
#include "gpu/order_run.h"
#include "gpu/views.h"

int ty_order_is_packed(const ty_device *device, const ty_order_source *source, unsigned bytes)
{
    const ty_grid *g = source->samples;
    const uintptr_t start = device->ops->extent ? 0 : (uintptr_t)g->data;
    const int64_t size = g->size;
    return !source->mask && g->column_stride == size &&
           (g->rows == 1 || g->row_stride == size * (int64_t)g->columns) &&
           ((start | (uint64_t)(g->batches > 1 ? g->batch_stride : 0) |
             (uint64_t)(g->channels > 1 ? g->channel_stride : 0)) &
            (bytes - 1)) == 0;
}

/* 1 KiB less than what OpenCL promises a work-group: NVIDIA's driver refuses a kernel that takes
 * all. */
uint32_t ty_order_local_most(const ty_device *d, uint32_t groups)
{
    const uint32_t most = d->unit_local_bytes / groups, group = d->local_bytes;
    return (most < group ? most : group) - 1024;
}

/* The first arguments of the kernels that search a group of samples by one work-group. */
static unsigned digits_args(const ty_order_run *r, uint64_t g, ty_arg *args)
{
    const ty_order_source *s = r->source;
    unsigned n = ty_order_grids(r, args, 1, 0);
    args[n++] = ty_arg_u64(s->samples->columns);
    args[n++] = ty_arg_u64(s->elements);
    args[n++] = ty_arg_u64(s->samples->channels);
    args[n++] = ty_arg_u64(r->first + g);
    args[n++] = ty_arg_memory(r->state);
    args[n++] = ty_arg_u64(r->ranks + g * r->each);
    args[n++] = ty_arg_u64(r->found + g * r->each);
    args[n++] = ty_arg_u64(r->nan + g);
    args[n++] = ty_arg_u32(r->each);
    return n;
}

tally_status ty_order_by_digits(const ty_order_run *r, uint64_t g, uint64_t count, int lost,
                                tally_error *error)
{
    const uint32_t local = (ORDER_DIGITS + 2 * (r->group_size + ORDER_PART + 4)) * 4;
    ty_arg args[28];
    unsigned n = digits_args(r, g, args);
    args[n++] = ty_arg_u32((uint32_t)lost);
    return ty_order_launch(r, "order_by_digits", count, local, args, n, error);
}

/* If two work-groups of a unit can each hold a row's keys in local memory, keys are read once only.
 */
tally_status ty_order_by_rows(const ty_order_run *r, tally_error *error)
{
    const ty_device *d = r->device;
    const uint64_t keys = (r->source->elements * r->key_words + 3) / 4 * 4;
    const uint64_t local = (ORDER_DIGITS + ORDER_ROW_FIXED(r->group_size) + keys) * 4;
    ty_arg args[28];
    if (local > ty_order_local_most(d, 2))
        return ty_order_by_digits(r, 0, r->groups, 0, error);
    unsigned n = digits_args(r, 0, args);
    args[n++] = ty_arg_u32((uint32_t)ty_order_is_packed(d, r->source, 16));
    return ty_order_launch(r, "order_rows", r->groups, (uint32_t)local, args, n, error);
}

unsigned ty_order_packed_args(const ty_order_run *r, uint64_t g, ty_arg *args)
{
    const ty_grid *s = r->source->samples;
    const uint64_t b = (r->first + g) / s->channels, channel = (r->first + g) % s->channels;
    args[0] = ty_arg_memory((ty_memory)(uintptr_t)s->data);
    args[1] =
        ty_arg_u64((uint64_t)((int64_t)b * s->batch_stride + (int64_t)channel * s->channel_stride));
    args[2] = ty_arg_u64(r->source->elements);
    return 3;
}

int ty_order_are_middle(const ty_order_run *r)
{
    const uint64_t each = r->key_words == 2 ? 16 : 4; /* twice as many digits of twice the bytes */
    return r->each <= ORDER_SLOTS && r->source->elements * each <= ty_order_sizes_used.middle &&
           ty_order_is_packed(r->device, r->source, (unsigned)r->source->samples->size);
}

tally_status ty_order_by_select(const ty_order_run *r, uint64_t g, tally_error *error)
{
    const ty_device *d = r->device;
    const uint32_t copies = d->warp == 32 ? 4 : 2, local = ORDER_DIGITS * copies * 4;
    const uint64_t bytes = r->source->elements * r->source->samples->size;
    const uint64_t groups = ty_order_fill(r, local, bytes / (r->group_size * 16) + 1);
    const uint32_t digits = r->key_words * 3;
    const uint64_t ranks = r->ranks + g * r->each;
    tally_status status =
        d->ops->clear(r->device, r->queue, r->drawn, 0, ORDER_SELECT_WORDS(digits) * 4, error);
    for (uint32_t digit = digits; digit-- && !status;) {
        ty_arg args[9];
        unsigned count = ty_order_packed_args(r, g, args);
        args[count++] = ty_arg_memory(r->state);
        args[count++] = ty_arg_memory(r->drawn);
        args[count++] = ty_arg_u64(ranks);
        args[count++] = ty_arg_u32(r->each);
        args[count++] = ty_arg_u32(digit);
        args[count++] = ty_arg_u32(copies);
        status = ty_order_launch(r, "order_select", groups, local, args, count, error);
    }
    const ty_arg end[] = {ty_arg_memory(r->state),
                          ty_arg_memory(r->drawn),
                          ty_arg_u64(ranks),
                          ty_arg_u32(r->each),
                          ty_arg_u64(r->found + g * r->each),
                          ty_arg_u64(r->nan + g)};
    const uint32_t choose = (ORDER_DIGITS + ORDER_ROW_FIXED(r->group_size)) * 4;
    return status ? status : TY_ORDER_LAUNCH(r, "order_select_end", 1, choose, end, error);
}
