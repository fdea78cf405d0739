/*
 * A method that runs as a kernel. Its file in src/kernels defines
 *
 *     TY_KERNEL(TY_GROUP_MAX) count(TY_COUNT_ARGS TY_LOCAL_ARG)
 *
 * (sample.h): count samples [0, n) of `data` into `out`. What a launch leaves there is `partials`
 * histograms of `cells` 32-bit words; a merge kernel adds them up in 64 bits after every launch.
 * A method of several kernels launches them itself (enqueue).
 */
#ifndef TY_KERNEL_H
#define TY_KERNEL_H

#include "device/device.h"
#include "plan.h"

/* How a plan's method is launched for n samples on a device. */
typedef struct ty_shape {
    uint32_t groups, group_size;
    uint32_t local_bytes;
    uint32_t partials;    /* histograms that a launch leaves */
    uint32_t cells;       /* words of each: the plan's slots, or raw values (see raw_shift) */
    int cleared;          /* `out` must be zero before a launch (global atomics) */
    uint32_t copies;      /* views: of each counter in local memory */
    uint32_t byte_copies; /* … at most, by the kernel for bytes of all channels (view_bytes.cl),
                             or 0; and how that is launched */
    uint32_t byte_groups, byte_size;
    uint32_t image_groups, image_size, image_bytes; /* … by that for many images (view_images.cl),
                                                       0 groups if its tables do not fit, */
    uint32_t image_teams;                           /* each an image at a time */
    uint32_t packed_copies; /* … by the kernel for packed samples and weights
                               (weighted_packed.cl), or 0; and how that is launched */
    uint32_t packed_groups, packed_size, packed_bytes;
    uint32_t passes; /* launches over the same samples; the kernel's `pass` argument */
    uint64_t slab;   /* most samples of one launch; at most 2^32-1 */
    int delivers;    /* a launch delivers its counts itself (finish.h) and leaves no partials */
    int halves;      /* partials are of 16-bit counts (finish.h), `cells` words of them */
    int raw_shift; /* < 0: cells are slots; else cell c counts the bytes v with v >> raw_shift == c
                    */
    size_t scratch_bytes; /* device memory that enqueue() uses besides; its content means nothing */
    char defines[320];    /* "-DK=31 …"; must not depend on n */
} ty_shape;

enum { TY_FINISH_COUNT = 8 }; /* TY_FINISH_ARGS (finish.h) */

/* A slab of samples on its way: what enqueue() launches kernels with. */
typedef struct ty_slab {
    const tally_plan *plan;
    const ty_shape *shape;
    ty_device *device;
    void *queue, *program;
    ty_memory data; /* n samples from byte `offset` */
    uint64_t offset, n;
    ty_memory axis, out, scratch;
    int recording;                  /* into a graph: nothing is launched early */
    uint32_t key;                   /* of a keyed method */
    int early;                      /* `count` may start while what is before it ends */
    ty_arg finish[TY_FINISH_COUNT]; /* of methods that deliver: the last arguments */
    /* Of a method for views, in place of `data`: the arguments of its samples and mask (view.h),
     * and n elements of a batch from element `offset` on. */
    const ty_arg *grids;
    unsigned grid_count;
    uint64_t batch;
} ty_slab;

/* Words behind a weighted partial's sums: numbers of samples in the flows (weighted.cl). */
#define TY_WEIGHTED_FLOWS 8

typedef struct ty_kernel_method {
    const char *text; /* the kernel file, embedded */
    const char *more; /* one behind it, or NULL */
    int fast; /* it counts cells (fast.h): the plan tries its axis for float32; 2: first whether its
                 edges are multiples of a power of two (core/line.h) */
    int finishes; /* `count` takes TY_FINISH_ARGS last (finish.h) and has TY_AWAIT */
    uint32_t (*splits)(const tally_plan *plan); /* … or NULL: for how many more cells (core/line.h)
                                                   it has room */
    int guided; /* it finds cells of uneven edges by a guide (guide.h) behind its local memory; 2:
                   its updates never meet in a bank */
    int far;    /* … by one in device memory, where that has no room for one */
    int keyed;  /* `count` takes a ty_u32 key behind `pass`: the setting "key", or if that is 0
                   one that cannot be known before the launch */
    void (*shape)(const tally_plan *plan, const ty_device *device, uint64_t n, ty_shape *shape);
    /* For methods of several kernels: launches them in order, so that `out` holds the partials.
     * NULL: `passes` launches of `count`. */
    tally_status (*enqueue)(const ty_slab *slab, tally_error *error);
    int views;  /* the kernel takes any layout (view.h) and is launched by views.c */
    int packed; /* … but samples and mask without gaps only */
    int rows;   /* … or with gaps between long rows */
    int pixels; /* … and of samples on the device all active channels of a batch at once */
} ty_kernel_method;

/* Launches one of the method's kernels; `kernel` is a string that lives as long as the program. */
static inline tally_status ty_slab_launch(const ty_slab *slab, const char *kernel,
                                          const ty_launch *launch, tally_error *error)
{
    return slab->device->ops->launch(slab->device, slab->queue, slab->program, kernel, launch,
                                     error);
}

/* The same for a kernel that has TY_AWAIT. */
static inline tally_status ty_slab_launch_early(const ty_slab *slab, const char *kernel,
                                                const ty_launch *launch, tally_error *error)
{
    return (slab->recording ? slab->device->ops->launch : slab->device->ops->launch_early)(
        slab->device, slab->queue, slab->program, kernel, launch, error);
}

/* For shape(): one partial of the plan's slots a group, 256 work-items, as many groups as fit the
 * device, no passes; a method changes what is different. */
void ty_shape_standard(const tally_plan *plan, const ty_device *device, uint64_t n,
                       ty_shape *shape);

/* A keyed method's key of one launch. */
uint32_t ty_kernel_key(const tally_plan *plan);

/* For supports(): one dimension, no weights; `bytes_only`: u8 or i8. */
tally_status ty_kernel_supports(const tally_plan *plan, tally_error *error);

/* For supports(): a setting that was given explicitly must not pass `most`, the device's limit;
 * only a standard value is lowered to it. */
tally_status ty_kernel_setting_fits(const tally_plan *plan, const char *key, uint32_t most,
                                    tally_error *error);

/* The whole source of a method (ty_free; NULL when memory is out), and its compiler options. */
char *ty_kernel_text(const ty_kernel_method *kernel);
#define TY_OPTIONS_MOST 768
void ty_kernel_options(const tally_plan *plan, const ty_device *device, const ty_shape *shape,
                       char *options, size_t size);

/* The device of a plan whose context is not the processor's. */
static inline const ty_device *ty_plan_device(const tally_plan *plan)
{
    return plan->context->state;
}

#endif
