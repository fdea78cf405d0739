/*
 * Launches of kernels/view_bytes.cl: bytes of all channels in one read, histograms delivered by the
 * group that counted them where one is enough for an image.
 */
#include "device/run.h"

enum {
    worth_bytes = 32 << 10,  /* of an image to each of its groups */
    alone_bytes = 192 << 10, /* one group is done with sooner than others' partials are added up */
    many_copies_bytes = 16 << 10, /* of a channel, worth clearing and adding up 32 copies … */
    some_copies_bytes = 2 << 10,
    some_copies = 8,
    dustbin_bytes = 128,
    worth_rounds = 4 /* images of a team that goes from one to the next */
};

/* A batch's bytes: rows without a gap between them are one. */
typedef struct extents {
    uint64_t rows, length;
} extents;

static extents extents_of(const ty_grid *g)
{
    const uint64_t length = g->columns * g->channels, most = UINT64_C(1) << 31;
    if (g->row_stride == (int64_t)length && length * g->rows + 16 < most)
        return (extents){1, length * g->rows};
    return (extents){g->rows, length};
}

int ty_bytes_serves(const ty_run *run, const ty_shape *shape)
{
    const ty_job *job = run->job;
    const ty_grid *g = &job->samples[0];
    const uint64_t most = UINT64_C(1) << 31;
    return shape->byte_copies && !job->mask.data && job->view_device != TALLY_DEVICE_CPU &&
           g->column_stride == (int64_t)g->channels &&
           (g->channels == 1 || g->channel_stride == 1) && job->elements <= shape->slab &&
           g->rows < most && g->columns * g->channels + 16 < most;
}

uint32_t ty_bytes_parts(const ty_run *run, const ty_shape *shape, uint64_t batches)
{
    const uint64_t bytes = run->job->elements * run->job->plan->channels;
    const uint64_t most = bytes > alone_bytes ? bytes / worth_bytes : 1;
    const uint64_t parts = shape->byte_groups > batches ? shape->byte_groups / batches : 1;
    return (uint32_t)(parts < most ? parts : most);
}

/* Copies of a counter: the larger an image is, the more are worth clearing and adding up. */
static uint32_t copies_of(const ty_run *run, const ty_shape *shape)
{
    const uint64_t bytes = run->job->elements;
    const uint32_t copies = bytes >= many_copies_bytes   ? 32
                            : bytes >= some_copies_bytes ? some_copies
                                                         : 1;
    return copies < shape->byte_copies ? copies : shape->byte_copies;
}

static uint32_t log2_of(uint32_t power)
{
    uint32_t k = 0;
    while (power > UINT32_C(1) << k)
        k++;
    return k;
}

/* Teams that go from image to image, each of them through as many (kernels/view_images.cl). */
static tally_status launch_images(ty_run *run, const ty_shape *shape, uint64_t h, uint32_t lines,
                                  uint32_t length, tally_error *error)
{
    const tally_plan *plan = run->job->plan;
    const ty_grid *g = &run->job->samples[0];
    const uint32_t teams = shape->image_teams, at_once = shape->image_groups * teams;
    const uint32_t rounds = (lines + at_once - 1) / at_once, used = (lines + rounds - 1) / rounds;
    ty_arg args[18] = {ty_arg_memory((ty_memory)(uintptr_t)g->data),
                       ty_arg_u64(0),
                       ty_arg_u64((uint64_t)g->batch_stride),
                       ty_arg_u64((uint64_t)g->row_stride),
                       ty_arg_u64((uint64_t)g->column_stride),
                       ty_arg_memory(run->w->axis),
                       ty_arg_memory(run->w->runs),
                       ty_arg_u32(length),
                       ty_arg_u64(h / plan->active_count),
                       ty_arg_u32(lines),
                       ty_arg_u32((uint32_t)plan->active_count),
                       ty_arg_u32((uint32_t)plan->slots)};
    const unsigned n = ty_deliver_place(run, args, 12);
    run->fresh = 0;
    ty_launch launch = {(used + teams - 1) / teams, shape->image_size, shape->image_bytes, args, n};
    return run->device->ops->launch(run->device, run->queue, run->program, "count_images", &launch,
                                    error);
}

tally_status ty_bytes_launch(ty_run *run, const ty_shape *shape, uint64_t h, uint64_t count,
                             uint32_t parts, tally_error *error)
{
    const tally_plan *plan = run->job->plan;
    const ty_grid *g = &run->job->samples[0];
    const extents e = extents_of(g);
    const uint32_t lines = (uint32_t)(count / plan->active_count);
    uint32_t copies = parts > 1 ? shape->byte_copies : copies_of(run, shape), teams = 1;
    while (parts == 1 && teams * copies * 2 <= shape->byte_copies &&
           shape->byte_size / (teams * 2) >= 32 && teams < lines)
        teams *= 2;
    if (parts == 1 && shape->image_groups && e.rows == 1 &&
        run->job->elements >= many_copies_bytes &&
        lines >= worth_rounds * shape->image_groups * shape->image_teams)
        return launch_images(run, shape, h, lines, (uint32_t)e.length, error);
    ty_arg args[24] = {ty_arg_memory((ty_memory)(uintptr_t)g->data),
                       ty_arg_u64(0),
                       ty_arg_u64((uint64_t)g->batch_stride),
                       ty_arg_u64((uint64_t)g->row_stride),
                       ty_arg_u64((uint64_t)g->column_stride),
                       ty_arg_memory(run->w->axis),
                       ty_arg_memory(run->w->runs),
                       ty_arg_u32((uint32_t)e.rows),
                       ty_arg_u32((uint32_t)e.length),
                       ty_arg_u32((uint32_t)(e.length + 15) / 16 + 1),
                       ty_arg_u64(h / plan->active_count),
                       ty_arg_u32(lines),
                       ty_arg_u32((uint32_t)plan->active_count),
                       ty_arg_u32(parts),
                       ty_arg_u32(log2_of(shape->byte_size / teams)),
                       ty_arg_u32(log2_of(copies) + 2),
                       ty_arg_u32((uint32_t)plan->slots),
                       ty_arg_memory(parts > 1 ? run->w->out : run->w->axis)};
    const unsigned n = ty_deliver_place(run, args, 18);
    run->fresh &= parts > 1; /* the merge kernel delivers partials */
    ty_launch launch = {(lines + teams - 1) / teams * parts, shape->byte_size,
                        teams * copies * (uint32_t)plan->channels * 1024 + dustbin_bytes, args, n};
    return run->device->ops->launch(run->device, run->queue, run->program, "count_bytes", &launch,
                                    error);
}
