/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What jax.jit calls: handlers of XLA's foreign function interface, version 0. Its structs are
 * declared here as far as they are read; they say their own sizes, and grow at their ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fast.h"

typedef struct extension {
    size_t size;
    int type; /* METADATA */
    struct extension *next;
} extension;

typedef struct version {
    size_t size;
    extension *extensions;
    int major, minor;
} version;

typedef struct metadata {
    size_t size;
    version version;
    uint32_t traits;
} metadata;

typedef struct metadata_extension {
    extension base;
    metadata *metadata;
} metadata_extension;

typedef struct buffer {
    size_t size;
    extension *extensions;
    int dtype;
    void *data;
    int64_t rank, *dims;
} buffer;

typedef struct buffers {
    size_t size;
    extension *extensions;
    int64_t count;
    int *types; /* BUFFER */
    buffer **at;
} buffers;

typedef struct span {
    const char *at;
    size_t length;
} span;

typedef struct attributes {
    size_t size;
    extension *extensions;
    int64_t count;
    int *types; /* STRING */
    span **names;
    void **at;
} attributes;

typedef struct failing {
    size_t size;
    extension *extensions;
    const char *message;
    int code; /* INTERNAL */
} failing;

/* What is asked of a call's context. */
typedef struct asking {
    size_t size;
    extension *extensions;
    void *context;
    union {
        void *stream;
        int32_t ordinal;
    } answer;
} asking;

typedef struct api {
    size_t size;
    extension *extensions;
    version version;
    const void *internal;
    void *(*fail)(failing *);
    void *unused[3];
    void *(*stream)(asking *);
    void *unused_too[12];
    void *(*ordinal)(asking *);
} api;

typedef struct frame {
    size_t size;
    extension *extensions;
    const api *api;
    void *context;
    int stage; /* EXECUTE */
    buffers args, results;
    attributes attributes;
} frame;

enum { METADATA = 1, BUFFER = 1, STRING = 4, INTERNAL = 13, EXECUTE = 3, MOST_ARGS = 9 };

static int minor; /* of the version that jaxlib has */

static void *failed(const frame *f, const char *message)
{
    failing args = {.size = sizeof args, .message = message, .code = INTERNAL};
    return f->api->fail(&args);
}

static tally_dtype dtype_of(int number)
{
    static const unsigned char dtypes[17] = {
        [2] = TALLY_I8,   [3] = TALLY_I16,  [4] = TALLY_I32,  [5] = TALLY_I64,
        [6] = TALLY_U8,   [7] = TALLY_U16,  [8] = TALLY_U32,  [9] = TALLY_U64,
        [10] = TALLY_F16, [11] = TALLY_F32, [12] = TALLY_F64, [16] = TALLY_BF16};
    return number > 0 && number < 17 ? (tally_dtype)dtypes[number] : (tally_dtype)0;
}

static int view_of(const buffer *b, tally_device_type device, tally_view *view)
{
    *view = (tally_view){.struct_size = sizeof *view,
                         .data = b->data,
                         .dtype = dtype_of(b->dtype),
                         .device = device,
                         .batches = 1,
                         .rows = 1,
                         .columns = 1,
                         .channels = 1};
    for (int64_t d = 0; d < b->rank; d++)
        view->columns *= (uint64_t)b->dims[d];
    return view->dtype != 0;
}

/* The one attribute: "WEIGHTED PLAN PLAN …", 0 or 1 and addresses in hexadecimal, the processor's
 * plan and those of CUDA's devices. */
static const tally_plan *plan_of(const frame *f, long at, int *weighted)
{
    const attributes *a = &f->attributes;
    char text[512];
    if (a->count != 1 || a->types[0] != STRING)
        return NULL;
    const span *given = a->at[0];
    if (given->length >= sizeof text)
        return NULL;
    memcpy(text, given->at, given->length);
    text[given->length] = '\0';
    char *next = text;
    *weighted = (int)strtol(text, &next, 10);
    uintptr_t address = 0;
    for (long i = 0; i <= at; i++)
        address = (uintptr_t)strtoull(next, &next, 16);
    return (const tally_plan *)address;
}

/* Counts every argument but the weights, which are the last, into the only result. */
static void *count(frame *f, tally_device_type device)
{
    tally_view views[MOST_ARGS];
    tally_execute_options options = {.struct_size = sizeof options};
    tally_output output = {.struct_size = sizeof output};
    asking about = {.size = sizeof about, .context = f->context};
    tally_error error;
    int weighted = 0;
    long at = 0;
    if (f->stage != EXECUTE || f->args.count > MOST_ARGS || f->results.count != 1)
        return failed(f, "tally: a call that is not known");
    if (device == TALLY_DEVICE_CUDA) {
        void *wrong = f->api->size >= sizeof(api) ? f->api->ordinal(&about) : NULL;
        if (wrong)
            return wrong;
        at = 1 + about.answer.ordinal;
        if ((wrong = f->api->stream(&about)))
            return wrong;
        options.stream = about.answer.stream ? about.answer.stream : (void *)1;
        output.on_device = 1;
    }
    for (int64_t i = 0; i < f->args.count; i++) {
        if (f->args.types[i] != BUFFER || !view_of(f->args.at[i], device, &views[i]))
            return failed(f, "tally: a type that is not counted");
    }
    const tally_plan *plan = plan_of(f, at, &weighted);
    if (!plan)
        return failed(f, "tally: the call was traced without this device");
    if (weighted)
        options.weights = &views[f->args.count - 1];
    output.counts = f->results.at[0]->data;
    return lib.execute(plan, views, &options, &output, &error) ? failed(f, error.message) : NULL;
}

/* Whether a call only asks what the handler is; answers it. */
static int asks(const frame *f)
{
    if (!f->extensions || f->extensions->type != METADATA)
        return 0;
    metadata *m = ((metadata_extension *)f->extensions)->metadata;
    m->version.major = 0;
    m->version.minor = minor;
    m->traits = 0;
    return 1;
}

static void *count_host(frame *f)
{
    return asks(f) ? NULL : count(f, TALLY_DEVICE_CPU);
}

static void *count_cuda(frame *f)
{
    return asks(f) ? NULL : count(f, TALLY_DEVICE_CUDA);
}

static PyObject *address_of(void *(*handler)(frame *))
{
    void *address;
    memcpy(&address, &handler, sizeof address);
    return PyLong_FromVoidPtr(address);
}

/* handlers(minor): addresses of those for the processor and for CUDA, for a jaxlib whose interface
 * has version 0.minor */
PyObject *fast_handlers(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    const long given = n_args == 1 ? PyLong_AsLong(args[0]) : -1;
    if (PyErr_Occurred())
        return NULL;
    minor = (int)given;
    return Py_BuildValue("NN", address_of(count_host), address_of(count_cuda));
}
