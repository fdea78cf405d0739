/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally_bin_statistics on a device. A plan has, besides its own kernels, those of statistics for
 * each type of values and what is asked of them; a call (ty_statistics_run, at the end) launches
 * them for a column of values after the other. What they leave are whole numbers, as the
 * processor's with limits are (cpu/statistics.h), so that what follows is the same.
 */

#include "core/alloc.h"
#include "core/dtype.h"
#include "core/error.h"
#include "gpu/axes.h"
#include "gpu/statistics_run.h"
#include "gpu/views.h"
#include "kernel_texts.h"

enum { PACKED_AHEAD = 2 }; /* vectors that a work-item reads at a time */

typedef struct variant {
    ty_statistics_wish wish;
    ty_program *program;
    struct variant *next;
} variant;

struct ty_statistics_plan {
    tally_plan *plan;
    variant *variants; /* under the lock of its own spaces */
};

/* ---- kernels ---- */

/* Words of a slot (kernels/statistics.cl). */
static uint32_t words_of(const ty_statistics_wish *w)
{
    const uint32_t wide = (uint32_t)ty_is_wide(w->value);
    return 1 + (w->extremes ? 2 + 2 * wide : 0) + (w->sums ? 2 + wide : 0) +
           (w->sums > 1 ? 3 + wide : 0);
}

static uint64_t partial_bytes(const tally_plan *plan, const ty_statistics_wish *w)
{
    return (plan->slots * words_of(w) * 4 + 7) & ~UINT64_C(7);
}

static ty_any_layout layout_of(const tally_plan *plan, const ty_device *device,
                               const ty_statistics_wish *w)
{
    ty_any_layout l = ty_any_layout_make(plan, device, words_of(w), 0);
    /* Squares of 64-bit values have 128 bits, sums of floats 63 (STATISTICS_BITS). */
    l.geometry.most = UINT64_C(1) << (ty_is_wide(w->value) ? 27 : w->sums == 1 ? 28 : 30);
    return l;
}

/* Words of a plane of the table for packed float32: as many as fit, whatever the bins, so that the
 * kernel knows where each plane is. */
static uint32_t packed_plane(const ty_device *device, const ty_statistics_wish *w)
{
    const uint32_t kept = 1024, words = (device->local_bytes - kept) / 4 / words_of(w);
    return words & ~31u;
}

/* Copies of that table; 0: it does not fit, or is not for such samples. */
static uint32_t packed_copies(const tally_plan *plan, const ty_device *device,
                              const ty_statistics_wish *w)
{
    enum { most_copies = 32 };
    const uint64_t cells = plan->bins + TY_CELLS_EXTRA, plane = packed_plane(device, w);
    uint32_t copies = most_copies;
    if (plan->options.dimensions > 1 || plan->options.dtypes[0] != TALLY_F32 ||
        w->value != TALLY_F32)
        return 0;
    while (copies && (cells * copies + 31) / 32 * 32 > plane) /* cells change places in 32 words */
        copies /= 2;
    return copies;
}

static ty_geometry packed_geometry(const ty_device *device, const ty_statistics_wish *w)
{
    const uint32_t shared = 8; /* bytes for statistics_brief_most */
    uint32_t size = device->warp == 32 ? 1024 : 64;
    while (size > device->group_max)
        size /= 2;
    return (ty_geometry){.groups = device->units,
                         .group_size = size,
                         .local_bytes = packed_plane(device, w) * words_of(w) * 4 + shared,
                         .most = UINT64_C(1) << 31};
}

void ty_statistics_options(const tally_plan *plan, const ty_device *device,
                           const ty_statistics_wish *w, ty_defines *o)
{
    const ty_any_layout l = layout_of(plan, device, w);
    ty_gpu_options(plan, device, o);
    ty_any_layout_define(plan, &l, o);
    ty_define(o, "TY_VALUE", w->value);
    ty_define(o, "TY_VALUE_SIZE", (uint32_t)tally_dtype_bytes(w->value));
    ty_define(o, "TY_SUMS", w->sums);
    ty_define(o, "TY_EXTREMES", w->extremes);
    ty_define(o, "TY_PACKED", l.copies ? packed_copies(plan, device, w) : 0);
    ty_define(o, "TY_PLANE", packed_plane(device, w));
    ty_define(o, "TY_PACKED_GROUP", packed_geometry(device, w).group_size);
    ty_define(o, "TY_PACKED_AHEAD", PACKED_AHEAD);
}

static void geometry(const tally_plan *plan, const ty_device *device, uint64_t n, ty_geometry *g)
{
    (void)plan;
    ty_geometry_standard(device, n, g);
}

static const ty_gpu_method kernels = {
    .texts = {ty_text_fixed_h, ty_text_statistics_state_h, ty_text_statistics,
              ty_text_statistics_fold, ty_text_statistics_packed, ty_text_statistics_brief,
              ty_text_statistics_probe, ty_text_statistics_finish},
    .reads = TY_READS_ANY,
    .maps = TY_MAPS_FLOAT32,
    .tables = TY_TABLES_GLOBAL,
    .geometry = geometry,
};

const ty_method ty_statistics_kernels = {.name = "statistics",
                                         .source = "tally",
                                         .parameters = ty_any_layout_parameters,
                                         .backend = &kernels};

/* ---- plans ---- */

static tally_status make_plan(const tally_plan *plan, tally_plan **made, tally_error *error)
{
    tally_plan_options o = plan->options;
    tally_plan *p = NULL;
    if (!ty_plan_device(plan)->has_fp64)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "the device has no float64, which statistics of bins need; the processor "
                        "finds them");
    o.method = "views"; /* which reads any layout, too */
    o.settings = NULL;
    o.settings_count = 0;
    tally_status status = ty_plan_resolve(plan->context, &o, 0, &p, error);
    if (status)
        return status;
    ty_gpu_plan *state = ty_calloc(1, sizeof *state);
    p->method = &ty_statistics_kernels;
    p->state = state;
    if (state)
        pthread_mutex_init(&state->spaces.lock, NULL);
    status = state ? ty_gpu_axes_make(p, error) : ty_error_memory(error, "a plan", sizeof *state);
    if (status)
        tally_plan_destroy(p);
    else
        *made = p;
    return status;
}

tally_status ty_statistics_plan_of(const tally_plan *plan, const tally_plan **found,
                                   tally_error *error)
{
    ty_gpu_plan *own = plan->state;
    tally_status status = TALLY_OK;
    pthread_mutex_lock(&own->spaces.lock);
    if (!own->statistics) {
        ty_statistics_plan *s = ty_calloc(1, sizeof *s);
        status = s ? make_plan(plan, &s->plan, error) : ty_error_memory(error, "a plan", sizeof *s);
        if (status)
            ty_free(s);
        else
            ((ty_gpu_plan *)s->plan->state)->statistics = own->statistics = s;
    }
    *found = status ? NULL : own->statistics->plan;
    pthread_mutex_unlock(&own->spaces.lock);
    return status;
}

void ty_statistics_close(ty_device *device, ty_statistics_plan *own)
{
    if (!own)
        return;
    ((ty_gpu_plan *)own->plan->state)->statistics = NULL;
    tally_plan_destroy(own->plan);
    for (variant *v = own->variants, *next; v; v = next) {
        next = v->next;
        ty_program_give(device, v->program);
        ty_free(v);
    }
    ty_free(own);
}

static tally_status program_of(ty_call *c, const ty_statistics_wish *w, tally_error *error)
{
    ty_gpu_plan *state = c->plan->state;
    ty_statistics_plan *own = state->statistics;
    tally_status status = TALLY_OK;
    pthread_mutex_lock(&state->spaces.lock);
    variant *v = own->variants;
    while (v && (v->wish.value != w->value || v->wish.sums != w->sums ||
                 v->wish.extremes != w->extremes))
        v = v->next;
    if (!v) {
        ty_defines o;
        ty_statistics_options(c->plan, c->device, w, &o);
        v = ty_calloc(1, sizeof *v);
        status = v ? ty_program_take(c->device, &kernels, o.text, &v->program, error)
                   : ty_error_memory(error, "a kernel", sizeof *v);
        if (status) {
            ty_free(v);
        } else {
            v->wish = *w;
            v->next = own->variants;
            own->variants = v;
        }
    }
    if (!status)
        c->program = v->program->handle;
    pthread_mutex_unlock(&state->spaces.lock);
    return status;
}

/* ---- a call ---- */

/* Whether floats may need the table of rare values, in memory behind those words. */
static int has_rare(const ty_statistics_wish *w)
{
    return w->sums && ty_dtype_is_float(w->value) && !ty_is_wide(w->value);
}

/* Copies of a histogram's rare values: if they are of one slot, atomics wait for each other. */
static uint32_t rare_copies(const ty_call *c)
{
    enum { most_copies = 16, most_slots = 1 << 16 };
    const uint64_t slots = c->job->histograms * c->plan->slots;
    const int few = c->job->elements < (1 << 20);
    return few || slots > most_slots          ? 1
           : most_slots / slots < most_copies ? (uint32_t)(most_slots / slots)
                                              : most_copies;
}

/* Where they begin, in words: behind the values that are put off. */
static uint64_t rare_at(const ty_call *c)
{
    return ty_all_words(c) + STATISTICS_LATE_MOST;
}

static ty_statistics_wish wish_of(const ty_statistics *s, uint32_t number)
{
    return (ty_statistics_wish){s->values[number].dtype, s->sums, s->extremes != 0};
}

/* Finds the largest exponent of the values, or, for a guess, of one vector in `stride`. */
static tally_status look_for_exponent(ty_column *x, uint32_t stride, tally_error *error)
{
    ty_call *c = x->call;
    const ty_geometry *g = &x->layout.geometry;
    tally_status status = TALLY_OK;
    c->count = ty_view_histograms(c, 1, 16, 1);
    for (c->h = 0; c->h < c->job->histograms && !status; c->h += c->count) {
        const uint64_t left = c->job->histograms - c->h;
        c->count = left < c->count ? left : c->count;
        for (c->begin = 0; c->begin < c->job->elements && !status; c->begin += c->n) {
            const uint64_t rest = c->job->elements - c->begin;
            c->n = rest < g->most ? rest : g->most;
            const uint32_t parts = ty_view_parts(g, c->n / stride, c->count);
            ty_arg args[TY_VIEW_ARGS];
            unsigned n = ty_view_grid(args, 0, &x->values);
            args[n++] = ty_arg_u64((uint64_t)x->channel);
            n = ty_view_extents(c, parts, args, n);
            args[n++] = ty_arg_memory(x->memory);
            args[n++] = ty_arg_u64(ty_state_at(c, x->number));
            args[n++] = ty_arg_u32(stride);
            args[n++] = ty_arg_u32(stride > 1 ? STATISTICS_GUESS : STATISTICS_EXPONENT);
            const ty_launch probe = {
                (uint32_t)c->count * parts, g->group_size, 16, args, n, .early = 0};
            const int packed = x->wish.value == TALLY_F32 && c->columns >= c->begin + c->n &&
                               ty_view_is_words(c, &x->values, x->channel);
            status = ty_call_launch(c, packed ? "statistics_probe_packed" : "statistics_probe",
                                    &probe, error);
        }
    }
    return status;
}

/* Whether the call's elements are for the kernel that reads 16 bytes at a time. */
static int is_packed(const ty_column *x)
{
    const ty_call *c = x->call;
    return x->layout.copies && packed_copies(c->plan, c->device, &x->wish) && !c->masked &&
           c->columns >= c->begin + c->n && ty_view_is_words(c, &c->samples[0], c->channel) &&
           ty_view_is_words(c, &x->values, x->channel);
}

/* Adds the values that were put off until their exponent was known. */
static tally_status launch_late(const ty_column *x, tally_error *error)
{
    ty_call *c = x->call;
    const ty_arg args[] = {ty_arg_memory(x->memory),
                           ty_arg_u64(ty_state_at(c, x->number)),
                           ty_arg_u32((uint32_t)c->plan->slots),
                           ty_arg_memory(x->memory),
                           ty_arg_u64(rare_at(c)),
                           ty_arg_u32(rare_copies(c))};
    const ty_launch late = {STATISTICS_LATE_GROUPS,     256,       16, args,
                            sizeof args / sizeof *args, .early = 0};
    return ty_call_launch(c, "statistics_late", &late, error);
}

/* Adds up the groups' partials in the column's cells. */
static tally_status launch_fold(const ty_column *x, uint32_t pass, ty_memory out, uint32_t partials,
                                tally_error *error)
{
    ty_call *c = x->call;
    const uint32_t slots = (uint32_t)c->plan->slots, blocks = slots / 32 + (slots % 32 != 0);
    const ty_arg args[] = {ty_arg_memory(out),
                           ty_arg_u32(partials),
                           ty_arg_u32(slots),
                           ty_arg_u32(blocks),
                           ty_arg_u32(x->given),
                           ty_arg_u32(pass),
                           ty_arg_memory(x->memory),
                           ty_arg_u64(ty_cell_at(c, x->number, c->h)),
                           ty_arg_u64(ty_state_at(c, x->number)),
                           ty_arg_memory(x->memory),
                           ty_arg_u64(rare_at(c)),
                           ty_arg_u32(rare_copies(c))};
    const ty_launch fold = {blocks * (uint32_t)c->count, 256,       7 * 256 * 8, args,
                            sizeof args / sizeof *args,  .early = 0};
    return ty_call_launch(c, "statistics_fold", &fold, error);
}

/* How many samples of a group's are worth two launches in place of one. */
static uint64_t brief_least(const ty_geometry *packed)
{
    const uint64_t rounds = 8;
    return rounds * 4 * PACKED_AHEAD * packed->group_size;
}

/* Elements [begin, begin + n) of histograms [h, h + count); `pass`: 0, or STATISTICS_GUESSED, then
 * STATISTICS_AGAIN. */
static tally_status add_elements(const ty_column *x, uint32_t pass, tally_error *error)
{
    ty_call *c = x->call;
    const ty_statistics *s = c->job->statistics;
    const int counts_flows = !x->number && ty_plan_may_fail(c->plan),
              packed = !counts_flows && is_packed(x);
    const ty_geometry g = packed ? packed_geometry(c->device, &x->wish) : x->layout.geometry;
    const uint32_t parts = ty_view_parts(&g, c->n, c->count),
                   partials = x->layout.copies ? parts : 1;
    const uint64_t groups = c->count * parts, stop = 8, /* a group's (STATISTICS_STOP) */
        bytes = c->count * partials * partial_bytes(c->plan, &x->wish) + groups * stop;
    ty_memory out;
    tally_status status = ty_call_partials(c, bytes, &out, error);
    if (!status && !x->layout.copies)
        status = ty_call_clear(c, out, 0, bytes, error);
    if (!status && has_rare(&x->wish) && pass != STATISTICS_AGAIN)
        status = ty_call_clear(
            c, x->memory, rare_at(c) * 8,
            c->count * rare_copies(c) * c->plan->slots * STATISTICS_RARE_WORDS * 8, error);
    if (status)
        return status;
    ty_arg args[TY_VIEW_ARGS];
    unsigned n = ty_view_grid(args, ty_view_grids(c, args), &x->values);
    args[n++] = ty_arg_u64((uint64_t)x->channel);
    n = ty_view_extents(c, parts, args, n);
    args[n++] = ty_arg_u32((uint32_t)c->plan->slots);
    args[n++] = ty_arg_u32(x->layout.copies);
    args[n++] = ty_arg_u32(x->given);
    const uint32_t flags = (s->limited ? STATISTICS_LIMITED : 0u) |
                           (s->skip_nan ? STATISTICS_SKIP : 0u) |
                           (counts_flows ? STATISTICS_ABOUT : 0u) | pass;
    ty_arg *const how = &args[n];
    args[n++] = ty_arg_u32(flags);
    args[n++] = ty_arg_memory(x->memory);
    args[n++] = ty_arg_u64(ty_cell_at(c, x->number, c->h));
    args[n++] = ty_arg_u64(ty_flows_at(c, c->h));
    args[n++] = ty_arg_u64(ty_state_at(c, x->number));
    args[n++] = ty_arg_memory(x->memory);
    args[n++] = ty_arg_u64(rare_at(c));
    args[n++] = ty_arg_u32(rare_copies(c));
    args[n++] = ty_arg_memory(out);
    const ty_launch count = {
        (uint32_t)groups, g.group_size, g.local_bytes ? g.local_bytes : 16, args, n, .early = 0};
    if (packed && x->wish.sums > 1 && c->n / parts >= brief_least(&g)) {
        status = ty_call_launch(c, "statistics_count_brief", &count, error);
        *how = ty_arg_u32(flags | STATISTICS_REST);
    }
    if (!status)
        status = ty_call_launch(c, packed ? "statistics_count_packed" : "statistics_count", &count,
                                error);
    if (!status && pass == STATISTICS_GUESSED)
        status = launch_late(x, error);
    return status ? status : launch_fold(x, pass, out, partials, error);
}

/* Histograms that one launch takes. */
static uint64_t together(const ty_column *x)
{
    const ty_call *c = x->call;
    const ty_geometry packed = packed_geometry(c->device, &x->wish);
    const ty_geometry *g = &x->layout.geometry;
    const uint32_t parts = ty_view_parts(g, c->job->elements, c->job->histograms),
                   others = ty_view_parts(&packed, c->job->elements, c->job->histograms);
    return ty_view_histograms(c,
                              !x->layout.copies ? 1
                              : parts > others  ? parts
                                                : others,
                              c->plan->slots * words_of(&x->wish), 1);
}

/* Makes the call's range all elements of all histograms. */
static void take_all(ty_call *c)
{
    c->h = c->begin = 0;
    c->n = c->job->elements;
    c->count = c->job->histograms;
}

/* Of which values a guess of their largest exponent is made, one vector in as many; 1: of all, for
 * they are few, or have to be added by more than one launch. */
static uint32_t guess_stride(ty_column *x)
{
    enum { drawn = 1 << 16, per_vector = 4, worth = 16 };
    ty_call *c = x->call;
    const ty_job *job = c->job;
    const uint64_t vectors = job->elements / per_vector * job->histograms;
    take_all(c);
    if (x->given || vectors < drawn * worth || job->elements > x->layout.geometry.most ||
        job->histograms > together(x) || !is_packed(x))
        return 1;
    return (uint32_t)(vectors / drawn) | 1; /* odd: rows are seldom so long */
}

/* Adds all values by a guess of their exponent; and once more, by a launch that ends at once if the
 * guess held. */
static tally_status add_guessed(ty_column *x, uint32_t stride, tally_error *error)
{
    ty_call *c = x->call;
    tally_status status = look_for_exponent(x, stride, error);
    take_all(c);
    if (!status)
        status = add_elements(x, STATISTICS_GUESSED, error);
    return status ? status : add_elements(x, STATISTICS_AGAIN, error);
}

/* Asks the caller's progress, of which each column is its share. */
static tally_status report(ty_call *c, tally_error *error)
{
    const ty_job *job = c->job;
    if (!job->progress || job->output->on_device)
        return TALLY_OK;
    const uint64_t n = c->count * job->elements, columns = job->statistics->count;
    const tally_status status = c->device->ops->wait(c->device, c->queue, error);
    return status ? status : ty_call_report(c, n / columns, error);
}

static tally_status add_column(ty_column *x, tally_error *error)
{
    ty_call *c = x->call;
    const ty_job *job = c->job;
    const uint64_t each = together(x);
    const uint32_t stride = guess_stride(x);
    tally_status status = program_of(c, &x->wish, error);
    if (!status && stride > 1) {
        status = add_guessed(x, stride, error);
        return status ? status : report(c, error);
    }
    if (!status && !x->given)
        status = look_for_exponent(x, 1, error);
    for (c->h = 0; c->h < job->histograms && !status; c->h += c->count) {
        c->count = job->histograms - c->h < each ? job->histograms - c->h : each;
        for (c->begin = 0; c->begin < job->elements && !status; c->begin += c->n) {
            const uint64_t rest = job->elements - c->begin, most = x->layout.geometry.most;
            c->n = rest < most ? rest : most;
            status = add_elements(x, 0, error);
        }
        if (!status)
            status = report(c, error);
    }
    return status;
}

/* Bytes behind the words for rare values, of the column that needs most. */
static uint64_t rare_bytes(ty_call *c)
{
    const ty_statistics *s = c->job->statistics;
    uint64_t most = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const ty_statistics_wish w = wish_of(s, i);
        const ty_column x = {.call = c, .wish = w, .layout = layout_of(c->plan, c->device, &w)};
        const uint64_t each = together(&x);
        const uint64_t count = each < c->job->histograms ? each : c->job->histograms;
        const uint64_t bytes = (STATISTICS_LATE_MOST +
                                count * rare_copies(c) * c->plan->slots * STATISTICS_RARE_WORDS) *
                               8;
        if (has_rare(&w) && bytes > most)
            most = bytes;
    }
    return most;
}

static tally_status check_values(ty_call *c, tally_error *error)
{
    const ty_statistics *s = c->job->statistics;
    tally_status status = TALLY_OK;
    for (uint32_t i = 0; i < s->count && c->job->elements && !status; i++) {
        if (s->extremes && ty_is_wide(s->values[i].dtype) && !c->device->has_wide_atomics)
            status = ty_error(error, TALLY_ERROR_UNSUPPORTED,
                              "the device has no 64-bit atomics, which min and max of %s need; the "
                              "processor finds them",
                              tally_dtype_name(s->values[i].dtype));
        else
            status = ty_view_check(c->device, &s->values[i], "values", error);
    }
    return status;
}

tally_status ty_statistics_run(ty_call *c, tally_error *error)
{
    const ty_statistics *s = c->job->statistics;
    ty_memory memory;
    tally_status status = check_values(c, error);
    if (!status)
        status = ty_statistics_check_output(c, error);
    if (!status)
        status = ty_call_scratch(c, ty_all_words(c) * 8 + rare_bytes(c), &memory, error);
    if (!status)
        status = ty_call_clear(c, memory, 0, ty_all_words(c) * 8, error);
    for (uint32_t i = 0; i < s->count && !status; i++) {
        ty_column x = {.call = c,
                       .number = i,
                       .wish = wish_of(s, i),
                       .values = ty_view_strided(&s->values[i]),
                       .channel = s->values[i].channel_stride,
                       .given = ty_given_exponent(s, i),
                       .memory = memory};
        x.layout = layout_of(c->plan, c->device, &x.wish);
        status = add_column(&x, error);
        if (!status && c->job->output->on_device)
            status = ty_statistics_finish(&x, error);
    }
    return status || c->job->output->on_device ? status : ty_statistics_fetch(c, memory, error);
}
