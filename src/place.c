#include "place.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "cpu/threads.h"
#include "methods/cost.h"

/* What starting the driver and opening a device take: measured on an H200's host. */
static const double opening_seconds = 0.25;

struct ty_beside {
    pthread_mutex_t lock;
    int tried;
    tally_context *context; /* NULL: not opened, or there is none */
    tally_error why;
};

ty_beside *ty_beside_create(void)
{
    ty_beside *b = ty_calloc(1, sizeof *b);
    if (b)
        pthread_mutex_init(&b->lock, NULL);
    return b;
}

void ty_beside_destroy(ty_beside *b)
{
    if (!b)
        return;
    tally_context_destroy(b->context);
    pthread_mutex_destroy(&b->lock);
    ty_free(b);
}

static double bytes_of(const tally_plan *plan)
{
    return ty_plan_samples(plan) * ty_plan_bytes(plan);
}

/* That pack them on their way: the device's context has as many as the processor's. */
static unsigned threads_of(const tally_plan *plan)
{
    return ty_pool_threads(plan->context->pool);
}

/* Whether even the data's way to a device as it is usually found takes longer than counting here.
 */
static int is_hopeless(const tally_plan *plan)
{
    int hopeless = 1;
    ty_tuning *usual = ty_malloc(sizeof *usual);
    if (usual) {
        ty_tuning_default("cuda", usual);
        hopeless =
            plan->seconds < opening_seconds + ty_cost_host(usual, bytes_of(plan), threads_of(plan));
    }
    ty_free(usual);
    return hopeless;
}

/* The device, opened by the first plan that has a use for it. */
static tally_context *open_device(ty_beside *b, const tally_plan *plan)
{
    pthread_mutex_lock(&b->lock);
    if (!b->tried && !is_hopeless(plan)) {
        tally_context_options o = TALLY_CONTEXT_OPTIONS_INIT;
        o.device = TALLY_DEVICE_CUDA;
        o.threads = threads_of(plan);
        b->tried = 1;
        if (tally_context_create(&o, &b->context, &b->why))
            b->context = NULL;
    }
    tally_context *context = b->context;
    pthread_mutex_unlock(&b->lock);
    return context;
}

/* "; REMARK" at the end of the plan's description. */
static void remark(tally_plan *plan, const char *words, double seconds)
{
    size_t at = strlen(plan->text);
    snprintf(plan->text + at, sizeof plan->text - at, "; %s %.3g s", words, seconds);
}

tally_plan *ty_place(ty_beside *b, const tally_plan_options *options, tally_plan *plan)
{
    tally_plan *other = NULL;
    tally_context *device = plan->seconds > 0 ? open_device(b, plan) : NULL;
    if (!device || ty_plan_resolve(device, options, 0, &other, NULL))
        return NULL;
    double way = ty_cost_host(device->tuning, bytes_of(plan), threads_of(plan)),
           there = other->seconds > way ? other->seconds : way;
    if (there >= plan->seconds) {
        remark(plan, "cuda would take, with the data's way there,", there);
        tally_plan_destroy(other);
        return NULL;
    }
    remark(other, "faster than the processor although host data take, on their way,", way);
    if (!device->backend->prepare(other, NULL))
        return other;
    remark(plan, "cuda has no kernel for it; it would take", there);
    tally_plan_destroy(other);
    return NULL;
}
