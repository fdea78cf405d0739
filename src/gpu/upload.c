/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of the host on their way to the device. They are packed, a piece at a time, into a ring
 * of pinned memory, by the context's threads; the calling thread alone speaks to the device: it
 * sends the pieces in order, and has them counted a batch at a time while the next are packed. What
 * is in pinned memory already, without gaps, is sent from where it lies.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "cpu/copy.h"
#include "cpu/threads.h"
#include "gpu/call.h"

enum {
    piece_bytes = 256 << 10, /* packed by one thread */
    ring = 128,              /* pieces: a batch; up to half of them are on their way */
    few = 8,                 /* pieces that are worth sending together, … */
    many = 32,               /* … and no more: the next are waited for meanwhile */
    aligned = 64             /* elements: where a piece begins */
};

enum { most_columns = 256 }; /* of a batch */

/*
 * Histograms whose samples are on their way together: channels of a pixel. A batch of n elements
 * has column c packed from byte at[c] of the workspace's samples on, where the kernels find it:
 * first the channels' samples of each dimension, then the mask, then the weights. Batches depend on
 * the job's elements and their bytes alone.
 */
typedef struct ty_load {
    const ty_grid *grids[most_columns];
    uint64_t channels[most_columns];
    size_t at[most_columns];
    unsigned count, histograms;
    size_t element_bytes; /* of all columns */
    uint64_t batch;
    const ty_grid *mask; /* elements that it leaves out are not sent, of a single column; or NULL */
    uint64_t masked;     /* gets their number added */
} ty_load;

/* The ring is laid out as a batch is on the device: column after column, its pieces in order. */
typedef struct sending {
    ty_call *call;
    ty_load *load;
    uint64_t each, pieces; /* elements of a piece; their number */
    uint64_t past;         /* pieces that the device has */
    void *events[ring];    /* behind what was sent together, at its last piece */
    pthread_mutex_t lock;
    pthread_cond_t opened, packed;
    /* Under the lock: the next piece to pack, below `open` its part of the ring is free; the
     * pieces, from 1, that are packed, and their elements. */
    uint64_t next, open, held[ring], kept[ring];
    int over;
    tally_status status;
    tally_error *error;
} sending;

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- packing ---- */

/* Those of n samples at `from`, which may be `to`, whose mask is not 0; returns how many. */
static uint64_t keep_block(const unsigned char *counts, uint64_t n, size_t size, unsigned char *to,
                           const unsigned char *from)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (counts[i]) {
            memmove(to + kept * size, from + i * size, size);
            kept++;
        }
    }
    return kept;
}

/* The same of all columns of n elements from `begin` on, which keep as many. */
static uint64_t keep(const ty_load *load, uint64_t begin, uint64_t n, unsigned char *const *to,
                     const unsigned char *const *from)
{
    enum { BLOCK = 4096 };
    unsigned char copy[BLOCK];
    uint64_t kept = 0, more = 0;
    for (uint64_t at = 0; at < n; at += BLOCK, kept += more) {
        const uint64_t here = least(n - at, BLOCK);
        const unsigned char *counts =
            ty_grid_block(load->mask, load->batch, 0, begin + at, here, copy);
        for (unsigned c = 0; c < load->count; c++) {
            const size_t size = load->grids[c]->size;
            more = keep_block(counts, here, size, to[c] + kept * size, from[c] + at * size);
        }
    }
    return kept;
}

static uint64_t begin_of(const sending *s, uint64_t piece)
{
    return piece * s->each;
}

static uint64_t elements_of(const sending *s, uint64_t piece)
{
    return least(s->call->job->elements - begin_of(s, piece), s->each);
}

/* Bytes from a column's begin to a piece's part of the ring. */
static size_t stage_offset(const sending *s, uint64_t piece, const ty_grid *g)
{
    return (size_t)(piece % ring * s->each) * g->size;
}

/* Columns from c on of the same views. */
static unsigned alike(const ty_load *load, unsigned c)
{
    unsigned end = c + 1;
    while (end < load->count && load->grids[end] == load->grids[c])
        end++;
    return end - c;
}

/* Returns the elements that are left. */
static uint64_t pack(const sending *s, uint64_t piece)
{
    const ty_load *load = s->load;
    const uint64_t begin = begin_of(s, piece), n = elements_of(s, piece);
    const int past = s->call->device->ops->pinned != NULL;
    const unsigned char *from[most_columns];
    unsigned char *to[most_columns];
    for (unsigned c = 0; c < load->count; c++)
        to[c] = s->call->w->stage + load->at[c] + stage_offset(s, piece, load->grids[c]);
    for (unsigned c = 0, some; c < load->count; c += some) {
        some = alike(load, c);
        ty_grid_blocks(load->grids[c], load->batch, &load->channels[c], some, begin, n, &to[c],
                       &from[c]);
    }
    if (load->mask)
        return keep(load, begin, n, to, from);
    for (unsigned c = 0; c < load->count; c++) {
        const size_t bytes = (size_t)n * load->grids[c]->size;
        if (from[c] != to[c] && past)
            ty_copy_past(to[c], from[c], bytes);
        else if (from[c] != to[c])
            memcpy(to[c], from[c], bytes);
    }
    return n;
}

/* With the lock held and a piece to pack. */
static void pack_next(sending *s)
{
    const uint64_t piece = s->next++;
    pthread_mutex_unlock(&s->lock);
    const uint64_t kept = pack(s, piece);
    pthread_mutex_lock(&s->lock);
    s->kept[piece % ring] = kept;
    s->held[piece % ring] = piece + 1;
    pthread_cond_signal(&s->packed);
}

static void help(sending *s)
{
    pthread_mutex_lock(&s->lock);
    while (!s->over && s->next < s->pieces) {
        if (s->next < s->open)
            pack_next(s);
        else
            pthread_cond_wait(&s->opened, &s->lock);
    }
    pthread_mutex_unlock(&s->lock);
}

/* ---- sending ---- */

/* The end of the pieces from `first` on that go together, once they are packed. */
static uint64_t fetch(sending *s, uint64_t first)
{
    const uint64_t end = least(s->pieces, (first / ring + 1) * ring);
    uint64_t ready = first;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (ready < least(end, first + many) && s->held[ready % ring] == ready + 1)
            ready++;
        if (ready >= least(end, first + few))
            break;
        if (s->next < s->open)
            pack_next(s);
        else
            pthread_cond_wait(&s->packed, &s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return ready;
}

static void open_pieces(sending *s, uint64_t open)
{
    pthread_mutex_lock(&s->lock);
    s->open = least(open, s->pieces);
    pthread_cond_broadcast(&s->opened);
    pthread_mutex_unlock(&s->lock);
}

/* Half a ring behind `end` pieces have arrived: their parts of the ring are free again. */
static tally_status reuse(sending *s, uint64_t end)
{
    const ty_device_ops *ops = s->call->device->ops;
    tally_status status = TALLY_OK;
    for (; s->past + ring / 2 < end && !status; s->past++) {
        void **event = &s->events[s->past % ring];
        if (!*event)
            continue;
        status = ops->event_wait(s->call->device, *event, s->error);
        ops->event_close(s->call->device, *event);
        *event = NULL;
        if (!status)
            open_pieces(s, s->past + 1 + ring);
    }
    return status;
}

/* n elements from a piece's part of the ring, behind `done` of the batch. */
static tally_status upload(sending *s, uint64_t piece, uint64_t done, uint64_t n)
{
    const ty_call *call = s->call;
    tally_status status = TALLY_OK;
    for (unsigned c = 0; c < s->load->count && !status; c++) {
        const ty_grid *g = s->load->grids[c];
        const size_t at = s->load->at[c];
        status = call->device->ops->upload(
            call->device, call->queue, call->w->samples, at + (size_t)done * g->size,
            call->w->stage + at + stage_offset(s, piece, g), (size_t)n * g->size, s->error);
    }
    return status;
}

/* The only piece: all its columns at once, with the few bytes between them. */
static tally_status send_only(sending *s)
{
    const ty_call *call = s->call;
    const unsigned last = s->load->count - 1;
    const size_t bytes = (size_t)s->kept[0] * s->load->grids[last]->size;
    return call->device->ops->upload(call->device, call->queue, call->w->samples, 0, call->w->stage,
                                     s->load->at[last] + bytes, s->error);
}

/* Pieces [first, end), at once if they lie side by side; *done is what the batch has. */
static tally_status send_pieces(sending *s, uint64_t first, uint64_t end, uint64_t *done)
{
    const ty_device_ops *ops = s->call->device->ops;
    tally_status status = TALLY_OK;
    if (s->pieces == 1 && !s->load->mask) {
        *done = s->kept[0];
        return send_only(s);
    }
    for (uint64_t p = first; p < end && !status; p++) {
        uint64_t begin = p, n = s->kept[p % ring];
        for (; !s->load->mask && p + 1 < end; p++)
            n += s->kept[(p + 1) % ring];
        status = upload(s, begin, *done, n);
        *done += n;
    }
    if (!status && s->pieces > ring)
        status = ops->event_record(s->call->device, s->call->queue, &s->events[(end - 1) % ring],
                                   s->error);
    return status ? status : reuse(s, end);
}

static ty_strided column_of(const ty_call *c, const ty_load *load, unsigned i)
{
    return (ty_strided){c->w->samples, load->at[i], 0, 0, (int64_t)load->grids[i]->size};
}

/* Counts the i-th histogram of a batch of n elements, in as many launches as it takes. */
static tally_status count_one(ty_call *c, const ty_load *load, unsigned i, uint64_t n,
                              tally_error *error)
{
    const uint32_t dimensions = c->plan->options.dimensions;
    const unsigned mask = dimensions * load->histograms;
    tally_status status = TALLY_OK;
    for (uint32_t d = 0; d < dimensions; d++)
        c->samples[d] = column_of(c, load, d * load->histograms + i);
    c->masked = c->job->mask.data && !load->mask;
    if (c->masked)
        c->mask = column_of(c, load, mask);
    if (c->job->weights.data) /* one column for all, or one for each */
        c->weights = column_of(c, load, least(mask + (unsigned)c->masked + i, load->count - 1));
    c->columns = n;
    for (c->begin = 0; c->begin < n && !status; c->begin += c->n) {
        ty_call_size(c, n);
        status = ty_gpu_method_of(c->plan)->enqueue(c, error);
    }
    return status;
}

/* Counts a batch of n elements that is on the device. */
static tally_status count_batch(ty_call *c, const ty_load *load, uint64_t n, tally_error *error)
{
    const ty_device_ops *ops = c->device->ops;
    const uint64_t h = c->h;
    ty_store all = c->store;
    void *event = NULL;
    tally_status status = TALLY_OK;
    if (c->job->device_seconds)
        status = ops->event_record(c->device, c->queue, &event, error);
    c->count = 1;
    for (unsigned i = 0; i < load->histograms && !status; i++) {
        c->h = h + i;
        ty_store_one(c, &all, i);
        status = count_one(c, load, i, n, error);
    }
    all.fresh = c->store.fresh;
    c->store = all;
    c->h = h;
    c->count = load->histograms;
    if (event && !status)
        return ty_call_seconds(c, event, c->job->device_seconds, error);
    ops->event_close(c->device, event);
    return status;
}

static tally_status count_ring(sending *s, uint64_t elements, uint64_t kept)
{
    tally_status status = kept ? count_batch(s->call, s->load, kept, s->error) : TALLY_OK;
    s->load->masked += elements - kept;
    return status ? status : ty_call_report(s->call, elements * s->load->histograms, s->error);
}

static void send_all(sending *s)
{
    uint64_t kept = 0;
    for (uint64_t first = 0, end; first < s->pieces && !s->status; first = end) {
        end = fetch(s, first);
        s->status = send_pieces(s, first, end, &kept);
        if (s->status || (end % ring && end < s->pieces))
            continue;
        const uint64_t begin = begin_of(s, (end - 1) / ring * ring);
        s->status = count_ring(s, least(s->call->job->elements, begin_of(s, end)) - begin, kept);
        kept = 0;
    }
    pthread_mutex_lock(&s->lock);
    s->over = 1;
    pthread_cond_broadcast(&s->opened);
    pthread_mutex_unlock(&s->lock);
}

/* Worker 0 is the caller. */
static void take_part(void *arg, unsigned part, unsigned worker)
{
    sending *s = arg;
    (void)part;
    if (worker)
        help(s);
    else if (!s->over)
        send_all(s);
}

static tally_status send_packed(ty_call *call, ty_load *load, uint64_t each, tally_error *error)
{
    ty_pool *pool = call->job->plan->context->pool;
    sending s = {.call = call,
                 .load = load,
                 .each = each,
                 .pieces = (call->job->elements + each - 1) / each,
                 .error = error};
    s.open = least(s.pieces, ring);
    pthread_mutex_init(&s.lock, NULL);
    pthread_cond_init(&s.opened, NULL);
    pthread_cond_init(&s.packed, NULL);
    const unsigned workers = (unsigned)least(ty_pool_threads(pool), s.pieces);
    ty_pool_run(pool, workers, workers, take_part, &s);
    pthread_cond_destroy(&s.packed);
    pthread_cond_destroy(&s.opened);
    pthread_mutex_destroy(&s.lock);
    for (unsigned i = 0; i < ring; i++)
        call->device->ops->event_close(call->device, s.events[i]);
    return s.status;
}

/* ---- pinned memory ---- */

static const unsigned char *start_of(const ty_load *load, unsigned c)
{
    return ty_grid_at(load->grids[c], load->batch, 0, load->channels[c]);
}

static int is_pinned(const ty_call *call, const ty_load *load)
{
    const ty_device_ops *ops = call->device->ops;
    const uint64_t n = call->job->elements;
    int pinned = ops->pinned && !load->mask;
    for (unsigned c = 0; c < load->count && pinned; c++) {
        const ty_grid *g = load->grids[c];
        pinned = !g->source && g->column_stride == (int64_t)g->size && n <= g->columns &&
                 ops->pinned(call->device, start_of(load, c), (size_t)n * g->size);
    }
    return pinned;
}

static tally_status send_pinned(ty_call *call, ty_load *load, uint64_t most, tally_error *error)
{
    const ty_device_ops *ops = call->device->ops;
    const uint64_t elements = call->job->elements;
    tally_status status = TALLY_OK;
    for (uint64_t begin = 0, n; begin < elements && !status; begin += n) {
        n = least(elements - begin, most);
        for (unsigned c = 0; c < load->count && !status; c++) {
            const size_t size = load->grids[c]->size;
            status = ops->upload(call->device, call->queue, call->w->samples, load->at[c],
                                 start_of(load, c) + begin * size, (size_t)n * size, error);
        }
        if (!status)
            status = count_batch(call, load, n, error);
        if (!status)
            status = ty_call_report(call, n * load->histograms, error);
    }
    return status;
}

/* ---- */

static void add_column(ty_load *load, const ty_grid *grid, uint64_t channel)
{
    load->grids[load->count] = grid;
    load->channels[load->count++] = channel;
    load->element_bytes += grid->size;
}

/* Elements of a piece: as many as there are if these are fewer. */
static uint64_t piece_elements(const ty_load *load, uint64_t elements)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): it has a column */
    const uint64_t each = least(piece_bytes / load->element_bytes, elements);
    return (each + aligned - 1) / aligned * aligned;
}

/* Lays the columns of a batch out: its elements and those of a piece, and its bytes. */
static size_t lay_out(ty_load *load, uint64_t elements, uint64_t *each, uint64_t *most)
{
    size_t at = 0;
    *each = piece_elements(load, elements);
    *most = *each * least((elements + *each - 1) / *each, ring);
    for (unsigned c = 0; c < load->count; c++) {
        load->at[c] = at;
        at += (size_t)*most * load->grids[c]->size;
    }
    return at;
}

static tally_status send(ty_call *call, ty_load *load, tally_error *error)
{
    uint64_t each, most;
    const size_t bytes = lay_out(load, call->job->elements, &each, &most);
    const int pinned = is_pinned(call, load);
    tally_status status =
        ty_workspace_stages(call->device, call->w, bytes, pinned ? 0 : bytes, error);
    if (status)
        return status;
    return pinned ? send_pinned(call, load, most, error) : send_packed(call, load, each, error);
}

uint64_t ty_upload_together(const ty_call *c)
{
    enum { most_bytes = 64 << 20 }; /* of totals, where there are several */
    const tally_plan *plan = c->plan;
    const ty_grid *g = &c->job->samples[0];
    const uint64_t left = plan->active_count - c->h % plan->active_count;
    const uint64_t columns = (most_columns - 1) / (plan->options.dimensions + 1);
    const uint64_t totals = most_bytes / (ty_totals_words(plan) * sizeof(uint64_t));
    if (llabs(g->channel_stride) >= llabs(g->column_stride)) /* nothing is read twice */
        return 1;
    return least(left, least(columns, totals ? totals : 1));
}

/* Kernels that look at a mask have it sent like samples. Nothing is written but the columns that
 * there are, for a small call would feel the rest. */
static void load_make(ty_load *load, const ty_call *c)
{
    const ty_job *job = c->job;
    const tally_plan *plan = c->plan;
    const uint64_t *channels = plan->active + c->h % plan->active_count;
    const int looks = ty_gpu_method_of(plan)->reads != TY_READS_COLUMN;
    const unsigned histograms = (unsigned)c->count,
                   weights = job->weights.channel_stride ? histograms : 1;
    load->count = 0;
    load->histograms = histograms;
    load->element_bytes = 0;
    load->batch = c->h / plan->active_count;
    load->mask = job->mask.data && !looks ? &job->mask : NULL;
    load->masked = 0;
    for (uint32_t d = 0; d < plan->options.dimensions; d++)
        for (unsigned i = 0; i < histograms; i++)
            add_column(load, &job->samples[d], channels[i]);
    if (job->mask.data && looks)
        add_column(load, &job->mask, 0);
    for (unsigned i = 0; i < weights && job->weights.data; i++)
        add_column(load, &job->weights, channels[i]);
}

tally_status ty_upload_reserve(ty_call *c, uint64_t *n, tally_error *error)
{
    ty_load load;
    load_make(&load, c);
    uint64_t each, most;
    const size_t bytes = lay_out(&load, c->job->elements, &each, &most);
    *n = least(c->job->elements, most);
    return ty_workspace_stages(c->device, c->w, bytes, bytes, error);
}

tally_status ty_upload(ty_call *c, tally_error *error)
{
    ty_load load;
    load_make(&load, c);
    tally_status status = send(c, &load, error);
    for (uint64_t i = 0; i < c->count; i++)
        ty_job_flows(c->job, c->h + i)[TY_SLOT_MASKED] += load.masked;
    return status;
}
