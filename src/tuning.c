#include "tuning.h"

#include "core/alloc.h"
#include "core/error.h"
#include "cpu/threads.h"
#include "methods/cost.h"

tally_status ty_tuning_open(tally_context *context, tally_error *error)
{
    char arch[32];
    ty_tuning *t = ty_malloc(sizeof *t);
    if (!t)
        return ty_error_memory(error, "a table of speeds", sizeof *t);
    context->backend->arch(context, arch, sizeof arch);
    ty_tuning_default(arch, t);
    t->threads = context->device == TALLY_DEVICE_CPU ? ty_pool_threads(context->pool) : 1;
    context->tuning = t;
    return TALLY_OK;
}
