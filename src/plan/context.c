/* SPDX-License-Identifier: Apache-2.0 */
/* Public entry points that belong to no single part: version, status, views, contexts, devices. */
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "cpu/threads.h"
#include "gpu/kernels_file.h"
#include "plan/offload.h"
#include "plan/plan.h"
#include "plan/several.h"
#include "plan/tuning.h"

#define TEXT(x)  #x
#define VALUE(x) TEXT(x)

const ty_backend *const ty_backends[] = {&ty_cpu_backend, &ty_cuda_backend, &ty_opencl_backend,
                                         NULL};

const char *tally_version(void)
{
    return VALUE(TALLY_VERSION_MAJOR) "." VALUE(TALLY_VERSION_MINOR) "." VALUE(TALLY_VERSION_PATCH);
}

const char *tally_status_string(tally_status status)
{
    switch (status) {
    case TALLY_OK:
        return "ok";
    case TALLY_ERROR_ARGUMENT:
        return "wrong argument";
    case TALLY_ERROR_UNSUPPORTED:
        return "not supported";
    case TALLY_ERROR_MEMORY:
        return "out of memory";
    case TALLY_ERROR_IO:
        return "input or output failed";
    case TALLY_ERROR_FORMAT:
        return "damaged or unknown format";
    case TALLY_ERROR_DATA:
        return "samples break a policy";
    case TALLY_ERROR_DEVICE:
        return "device failed";
    case TALLY_ERROR_CANCELLED:
        return "cancelled";
    case TALLY_ERROR_INTERNAL:
        return "internal defect";
    }
    return "unknown status";
}

tally_view tally_view_1d(const void *data, tally_dtype dtype, uint64_t n)
{
    tally_view view = TALLY_VIEW_INIT;
    view.data = data;
    view.dtype = dtype;
    view.columns = n;
    return view;
}

static const ty_backend *find_backend(tally_device_type device)
{
    for (int i = 0; ty_backends[i]; i++) {
        if (ty_backends[i]->device == device || (!device && ty_backends[i]->count()))
            return ty_backends[i];
    }
    return NULL;
}

static tally_status check_device(const ty_backend *backend, const tally_context_options *options,
                                 tally_error *error)
{
    static const char *const names[] = {"auto", "cpu", "cuda", "", "opencl"};
    if ((unsigned)options->device > TALLY_DEVICE_OPENCL || options->device == 3)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "device type %d: 1 (cpu), 2 (cuda) and 4 (opencl) are known",
                        (int)options->device);
    if (!backend)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "this build has no %s devices",
                        names[options->device]);
    if (options->native && !backend->has_memory)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "context options: native is a CUcontext or a cl_command_queue; set device "
                        "to TALLY_DEVICE_CUDA or TALLY_DEVICE_OPENCL with it");
    if (options->index < 0 || (uint32_t)options->index >= backend->count()) {
        tally_device_info info = {.struct_size = sizeof info};
        backend->info(0, &info);
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "%s:%d: %s", backend->name, options->index,
                        info.available ? "there is no such device; `tally devices` lists them"
                                       : info.reason);
    }
    return TALLY_OK;
}

static tally_status open_several(const tally_context_options *options, tally_context **context,
                                 tally_error *error)
{
    tally_context *c = ty_calloc(1, sizeof *c);
    if (!c)
        return ty_error_memory(error, "a context", sizeof *c);
    tally_status status = ty_several_open(c, options, error);
    if (status)
        ty_free(c);
    else
        *context = c;
    return status;
}

static tally_status open_one(const tally_context_options *options, tally_context **context,
                             tally_error *error)
{
    const ty_backend *backend = find_backend(options->device);
    tally_status status = check_device(backend, options, error);
    if (status)
        return status;
    tally_context *c = ty_calloc(1, sizeof *c);
    if (!c)
        return ty_error_memory(error, "a context", sizeof *c);
    c->backend = backend;
    c->device = backend->device;
    c->index = options->index;
    c->pool = ty_pool_create(options->threads);
    if (!c->pool)
        status = ty_error_memory(error, "a thread pool", 1);
    if (!status && backend->open)
        status = backend->open(c, options, error);
    if (!status && !options->device && c->device == TALLY_DEVICE_CPU) {
        c->offload = ty_offload_create();
        if (!c->offload)
            status = ty_error_memory(error, "a context", 1);
    }
    if (!status) {
        status = ty_tuning_open(c, error);
        if (status && backend->close)
            backend->close(c);
    }
    if (status) {
        ty_offload_destroy(c->offload);
        ty_pool_destroy(c->pool);
        ty_free(c);
        return status;
    }
    *context = c;
    return TALLY_OK;
}

tally_status tally_context_create(const tally_context_options *options, tally_context **context,
                                  tally_error *error)
{
    tally_context_options standard = TALLY_CONTEXT_OPTIONS_INIT;
    if (!context)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "context is NULL");
    if (!options)
        options = &standard;
    if (options->struct_size != sizeof *options)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "context options: struct_size is %zu, expected %zu", options->struct_size,
                        sizeof *options);
    return options->devices ? open_several(options, context, error)
                            : open_one(options, context, error);
}

void tally_context_destroy(tally_context *context)
{
    if (!context)
        return;
    ty_offload_destroy(context->offload);
    if (context->backend->close)
        context->backend->close(context);
    ty_pool_destroy(context->pool);
    ty_buffer_cache_clear(&context->tables);
    ty_buffer_cache_clear(&context->totals);
    ty_free(context->tuning);
    ty_free(context);
}

uint32_t tally_device_count(void)
{
    uint32_t n = 0;
    for (int i = 0; ty_backends[i]; i++)
        n += ty_backends[i]->count() ? ty_backends[i]->count() : 1;
    return n;
}

tally_status tally_device_get(uint32_t i, tally_device_info *info, tally_error *error)
{
    if (!info || info->struct_size != sizeof *info)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "info is NULL or its struct_size is not set");
    for (int b = 0; ty_backends[b]; b++) {
        uint32_t n = ty_backends[b]->count() ? ty_backends[b]->count() : 1;
        if (i < n) {
            memset(info, 0, sizeof *info);
            info->struct_size = sizeof *info;
            info->device = ty_backends[b]->device;
            info->index = (int32_t)i;
            ty_backends[b]->info((int32_t)i, info);
            return TALLY_OK;
        }
        i -= n;
    }
    return ty_error(error, TALLY_ERROR_ARGUMENT, "there are %u devices", tally_device_count());
}

const char *tally_kernels_describe(void)
{
    return ty_kernels_describe();
}

tally_status tally_context_device(const tally_context *context, tally_device_info *info,
                                  tally_error *error)
{
    if (!context || !info || info->struct_size != sizeof *info)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "context or info is NULL or info's struct_size is not set");
    memset(info, 0, sizeof *info);
    info->struct_size = sizeof *info;
    info->device = context->device;
    info->index = context->index;
    context->backend->info(context->index, info);
    return TALLY_OK;
}
