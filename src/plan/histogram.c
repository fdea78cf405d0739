/* SPDX-License-Identifier: Apache-2.0 */
/* tally_histogram: one context and the last plans, kept for the whole process. */
#include <pthread.h>
#include <string.h>

#include "core/error.h"
#include "core/system.h"
#include "plan/plan.h"

enum { most_plans = 8 };

/* Plans with a longer table of edges than this are not kept. */
static const uint64_t most_kept_bins = 65536;

typedef struct kept_plan {
    tally_plan *plan; /* NULL: none yet */
    unsigned size;    /* size_of the calls it is for */
    unsigned users;   /* calls under way */
    uint64_t used;    /* when it was last taken; the least recently used plan is replaced */
} kept_plan;

/* All of it is read and written with the lock held. It is never freed: a thread may be counting
 * while the process ends. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    tally_context *context;
    kept_plan plans[most_plans];
    uint64_t clock;
    int handles_fork;
} kept;

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

/* The child has none of the threads that the context had, and perhaps a lock that one of them held:
 * it begins anew. */
static void in_child(void)
{
    kept.context = NULL;
    memset(kept.plans, 0, sizeof kept.plans);
    pthread_mutex_unlock(&lock);
}

static tally_status open_context(tally_error *error)
{
    tally_context_options options = TALLY_CONTEXT_OPTIONS_INIT;
    options.device = TALLY_DEVICE_CPU;
    if (kept.context)
        return TALLY_OK;
    if (!kept.handles_fork && ty_system_at_fork(before_fork, after_fork, in_child))
        return ty_error_memory(error, "a handler of fork", 1);
    kept.handles_fork = 1;
    return tally_context_create(&options, &kept.context, error);
}

/* Plans are made for a number of samples; within a factor of 16 the same one will do. */
static unsigned size_of(uint64_t n)
{
    return n ? (64 - (unsigned)__builtin_clzll(n)) / 4 : 0;
}

static int is_same_axis(const tally_axis *kept_axis, const tally_axis *axis)
{
    if (axis->struct_size != sizeof *axis || axis->kind != kept_axis->kind ||
        axis->bins != kept_axis->bins || axis->under != kept_axis->under ||
        axis->over != kept_axis->over || axis->nan != kept_axis->nan)
        return 0;
    switch (axis->kind) {
    case TALLY_AXIS_EVEN:
    case TALLY_AXIS_LOG:
        return axis->last == kept_axis->last && axis->lo == kept_axis->lo &&
               axis->hi == kept_axis->hi;
    case TALLY_AXIS_EDGES:
        return axis->last == kept_axis->last && axis->edges &&
               !memcmp(axis->edges, kept_axis->edges, (axis->bins + 1) * sizeof *axis->edges);
    case TALLY_AXIS_INTEGER:
        return axis->last <= TALLY_LAST_OPEN && axis->first == kept_axis->first;
    case TALLY_AXIS_CATEGORY:
        return axis->last <= TALLY_LAST_OPEN && axis->categories &&
               !memcmp(axis->categories, kept_axis->categories, 256 * sizeof *axis->categories);
    }
    return 0;
}

static tally_plan *find_plan(const tally_axis *axis, tally_dtype dtype, unsigned size)
{
    for (int i = 0; i < most_plans; i++) {
        kept_plan *k = &kept.plans[i];
        if (!k->plan || k->size != size || k->plan->axes[0].dtype != dtype ||
            !is_same_axis(&k->plan->axes[0].about, axis))
            continue;
        k->users++;
        k->used = ++kept.clock;
        return k->plan;
    }
    return NULL;
}

/* Keeps `plan` in place of the least recently used one, which it returns; where all are in use it
 * returns `plan` itself. The caller destroys what is returned. */
static tally_plan *keep_plan(tally_plan *plan, unsigned size)
{
    kept_plan *oldest = NULL;
    for (int i = 0; i < most_plans; i++) {
        kept_plan *k = &kept.plans[i];
        if (!k->users && (!oldest || k->used < oldest->used))
            oldest = k;
    }
    if (!oldest)
        return plan;
    tally_plan *old = oldest->plan;
    *oldest = (kept_plan){plan, size, 0, ++kept.clock};
    return old;
}

/* The end of a call: its plan is given back, or if it is new kept for the next call. */
static void give_back(tally_plan *plan, unsigned size)
{
    const tally_axis *axis = &plan->axes[0].about;
    tally_plan *spare = plan;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < most_plans && spare; i++) {
        if (kept.plans[i].plan == plan) {
            kept.plans[i].users--;
            spare = NULL;
        }
    }
    if (spare && (!axis->edges || axis->bins <= most_kept_bins))
        spare = keep_plan(plan, size);
    pthread_mutex_unlock(&lock);
    tally_plan_destroy(spare);
}

static tally_status take_plan(const tally_axis *axis, tally_dtype dtype, uint64_t n,
                              tally_plan **plan, tally_error *error)
{
    pthread_mutex_lock(&lock);
    tally_status status = open_context(error);
    tally_context *context = kept.context;
    *plan = status ? NULL : find_plan(axis, dtype, size_of(n));
    pthread_mutex_unlock(&lock);
    if (status || *plan)
        return status;
    tally_plan_options options = {.struct_size = sizeof options, .dimensions = 1, .n_hint = n};
    options.axes[0] = *axis;
    options.dtypes[0] = dtype;
    return tally_plan_create(context, &options, plan, error);
}

tally_status tally_histogram(const void *samples, tally_dtype dtype, uint64_t n,
                             const tally_axis *axis, uint64_t *counts, tally_flows *flows,
                             tally_error *error)
{
    tally_plan *plan;
    if (!axis || !counts)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s is NULL", axis ? "counts" : "axis");
    if (axis->struct_size == sizeof *axis && ty_axis_has_flow_bins(axis))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "one axis needs no flow bins: `flows` has what is below and above; a plan "
                        "takes TALLY_FLOW_BIN");
    tally_status status = take_plan(axis, dtype, n, &plan, error);
    if (status)
        return status;
    const tally_view view = tally_view_1d(samples, dtype, n);
    tally_output output = TALLY_OUTPUT_INIT;
    output.counts = counts;
    output.flows = flows;
    status = tally_execute(plan, &view, NULL, &output, error);
    give_back(plan, size_of(n));
    return status;
}
