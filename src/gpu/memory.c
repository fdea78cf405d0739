/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory that callers keep: tally_memory_*. */
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "gpu/device.h"
#include "plan/plan.h"

tally_status tally_memory_create(tally_context *context, uint64_t bytes, void **memory,
                                 tally_error *error)
{
    if (!context || !memory || !bytes || bytes > SIZE_MAX)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        !context  ? "context is NULL"
                        : !memory ? "memory is NULL"
                                  : "bytes is 0 or more than this machine addresses");
    if (context->device == TALLY_DEVICE_CPU) {
        void *block = ty_malloc((size_t)bytes);
        if (!block)
            return ty_error_memory(error, "samples", bytes);
        *memory = block;
        return TALLY_OK;
    }
    ty_device *device = context->state;
    ty_memory made = 0;
    tally_status status = device->ops->alloc(device, (size_t)bytes, &made, error);
    if (!status)
        *memory = (void *)(uintptr_t)made;
    return status;
}

void tally_memory_destroy(tally_context *context, void *memory)
{
    if (!context || !memory)
        return;
    ty_device *device = context->state;
    if (context->device == TALLY_DEVICE_CPU)
        ty_free(memory);
    else
        device->ops->release(device, (ty_memory)(uintptr_t)memory);
}

tally_status tally_memory_write(tally_context *context, void *memory, uint64_t offset,
                                const void *from, uint64_t bytes, tally_error *error)
{
    if (!context || !memory || (!from && bytes))
        return ty_error(error, TALLY_ERROR_ARGUMENT, "context, memory or from is NULL");
    if (!bytes)
        return TALLY_OK;
    if (context->device == TALLY_DEVICE_CPU) {
        memcpy((char *)memory + offset, from, (size_t)bytes);
        return TALLY_OK;
    }
    ty_device *device = context->state;
    void *queue = NULL;
    tally_status status = device->ops->queue_open(device, NULL, &queue, error);
    if (status)
        return status;
    status = device->ops->upload(device, queue, (ty_memory)(uintptr_t)memory, (size_t)offset, from,
                                 (size_t)bytes, error);
    tally_status waited = device->ops->wait(device, queue, status ? NULL : error);
    device->ops->queue_close(device, queue);
    return status ? status : waited;
}
