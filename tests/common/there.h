/* SPDX-License-Identifier: Apache-2.0 */
/* Views of random cases, moved to a device. */
#ifndef THERE_H
#define THERE_H

#include <stdio.h>
#include <stdlib.h>

#include "gpu/device.h"
#include "plan/plan.h"
#include "random_case.h"

/* The bytes that a view's samples span, from its data on. */
static inline void there_span(const tally_view *v, int64_t *low, int64_t *high)
{
    *low = INT64_MAX;
    *high = INT64_MIN;
    for (int corner = 0; corner < 16; corner++) {
        const unsigned char *at =
            random_case_at(v, corner & 1 ? v->batches - 1 : 0, corner & 2 ? v->rows - 1 : 0,
                           corner & 4 ? v->columns - 1 : 0, corner & 8 ? v->channels - 1 : 0);
        int64_t from = at - (const unsigned char *)v->data;
        *low = from < *low ? from : *low;
        *high = from + (int64_t)tally_dtype_bytes(v->dtype) > *high
                    ? from + (int64_t)tally_dtype_bytes(v->dtype)
                    : *high;
    }
}

/* A copy on the device; under OpenCL a memory object starts where the view does. Returns 0 when
 * that cannot be. */
static inline int there_put(tally_context *context, tally_view *v, void **memory)
{
    const ty_device *device = context->state;
    tally_error error = {""};
    int64_t low, high;
    *memory = NULL;
    v->device = device->ops->type;
    if (!v->batches || !v->rows || !v->columns)
        return 1;
    there_span(v, &low, &high);
    const unsigned char *from = (const unsigned char *)v->data + low;
    size_t skip = device->ops->extent ? 0 : (uintptr_t)from & 15;
    if (device->ops->extent && low)
        return 0;
    if (tally_memory_create(context, (uint64_t)(high - low) + skip, memory, &error) ||
        tally_memory_write(context, *memory, skip, from, (uint64_t)(high - low), &error)) {
        fprintf(stderr, "device memory: %s\n", error.message);
        exit(1);
    }
    v->data = device->ops->extent ? *memory : (unsigned char *)*memory + skip - low;
    return 1;
}

/* Reads memory of the device. */
static inline void there_get(tally_context *context, void *to, void *memory, size_t bytes)
{
    ty_device *d = context->state;
    void *queue = NULL;
    if (d->ops->queue_open(d, NULL, &queue, NULL) ||
        d->ops->download(d, queue, to, (ty_memory)(uintptr_t)memory, 0, bytes, NULL) ||
        d->ops->wait(d, queue, NULL)) {
        fprintf(stderr, "device memory is not read\n");
        exit(1);
    }
    d->ops->queue_close(d, queue);
}

#endif
