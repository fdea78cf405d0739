/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/offload.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "cpu/threads.h"
#include "plan/cost.h"

/* What starting the driver and opening a device take: measured on an H200's host. */
static const double opening_seconds = 0.25;

struct ty_offload {
    pthread_mutex_t lock;
    int tried;
    tally_context *context; /* NULL: not opened, or there is none */
    tally_error why;
};

ty_offload *ty_offload_create(void)
{
    ty_offload *offload = ty_calloc(1, sizeof *offload);
    if (offload)
        pthread_mutex_init(&offload->lock, NULL);
    return offload;
}

void ty_offload_destroy(ty_offload *offload)
{
    if (!offload)
        return;
    tally_context_destroy(offload->context);
    pthread_mutex_destroy(&offload->lock);
    ty_free(offload);
}

static double bytes_of(const tally_plan *plan)
{
    return ty_plan_samples(plan) * ty_plan_bytes(plan);
}

/* Threads that pack samples for the device: its context has as many as the processor's. */
static unsigned threads_of(const tally_plan *plan)
{
    return ty_pool_threads(plan->context->pool);
}

/* Whether moving the samples to a usual device alone takes longer than counting here. */
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
static tally_context *open_device(ty_offload *offload, const tally_plan *plan)
{
    pthread_mutex_lock(&offload->lock);
    if (!offload->tried && !is_hopeless(plan)) {
        tally_context_options o = TALLY_CONTEXT_OPTIONS_INIT;
        o.device = TALLY_DEVICE_CUDA;
        o.threads = threads_of(plan);
        offload->tried = 1;
        if (tally_context_create(&o, &offload->context, &offload->why))
            offload->context = NULL;
    }
    tally_context *context = offload->context;
    pthread_mutex_unlock(&offload->lock);
    return context;
}

/* "; REMARK" at the end of the plan's description. */
static void remark(tally_plan *plan, const char *words, double seconds)
{
    size_t at = strlen(plan->text);
    snprintf(plan->text + at, sizeof plan->text - at, "; %s %.3g s", words, seconds);
}

tally_plan *ty_offload_plan(ty_offload *offload, const tally_plan_options *options,
                            tally_plan *plan)
{
    tally_plan *offloaded = NULL;
    tally_context *device = plan->seconds > 0 ? open_device(offload, plan) : NULL;
    if (!device || ty_plan_resolve(device, options, 0, &offloaded, NULL))
        return NULL;
    double moving = ty_cost_host(device->tuning, bytes_of(plan), threads_of(plan)),
           there = offloaded->seconds > moving ? offloaded->seconds : moving;
    if (there >= plan->seconds) {
        remark(plan, "cuda would take, with the data's way there,", there);
        tally_plan_destroy(offloaded);
        return NULL;
    }
    remark(offloaded, "faster than the processor although host data take, on their way,", moving);
    if (!device->backend->prepare(offloaded, NULL))
        return offloaded;
    remark(plan, "cuda has no kernel for it; it would take", there);
    tally_plan_destroy(offloaded);
    return NULL;
}
