/* SPDX-License-Identifier: Apache-2.0 */
/* Plans that were used last, found by what they are for (plan_take) without an object of Python's,
 * and what is done by one: counting (plan_count), and new arrays on a device (plan_edges,
 * plan_zeros). */
#include <math.h>
#include <string.h>

#include "fast.h"

/* Edges of more bins, and what finds bins by them, are not kept; of ends that were found, few. */
enum { MOST_PLANS = 64, MOST_FOUND = 4, MOST_KEPT_BINS = 4096 };

static kept_plan *plans[MOST_PLANS]; /* free places are at the end */
static uint64_t now;                 /* uses of any so far */

PyThreadState *lock_release(uint64_t n)
{
    return n > FEW ? PyEval_SaveThread() : NULL;
}

void lock_acquire(PyThreadState *state)
{
    if (state)
        PyEval_RestoreThread(state);
}

uint64_t size_class(uint64_t n, const lender *lender)
{
    return n ? (64 - (unsigned)__builtin_clzll(n)) / (lender ? 2 : 4) : 0;
}

static uint64_t mixed(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint64_t hash_of(const wish *w)
{
    uint64_t hash = mixed(w->dimensions, (uint64_t)w->weight << 32 | size_class(w->n, w->lender));
    hash = mixed(hash, (uint64_t)(uintptr_t)w->lender + (uint64_t)w->device);
    for (uint32_t d = 0; d < w->dimensions; d++) {
        const wished_axis *a = &w->axes[d];
        hash = mixed(hash, (uint64_t)w->dtypes[d] << 40 | (uint64_t)a->found << 39 | a->form << 32 |
                               a->bins);
        hash = mixed(mixed(hash, bits_of(a->lo)), bits_of(a->hi));
        for (uint64_t i = 0; a->edges && i <= a->bins; i++)
            hash = mixed(hash, bits_of(a->edges[i]));
    }
    return hash;
}

/* To the bit: 0 and -0 are different ends. */
static int same_wish(const wish *a, const wish *b)
{
    if (a->dimensions != b->dimensions || a->weight != b->weight || a->lender != b->lender ||
        a->device != b->device || size_class(a->n, a->lender) != size_class(b->n, b->lender))
        return 0;
    for (uint32_t d = 0; d < a->dimensions; d++) {
        const wished_axis *x = &a->axes[d], *y = &b->axes[d];
        if (a->dtypes[d] != b->dtypes[d] || x->form != y->form || x->bins != y->bins ||
            x->found != y->found || bits_of(x->lo) != bits_of(y->lo) ||
            bits_of(x->hi) != bits_of(y->hi) ||
            (x->edges && memcmp(x->edges, y->edges, (x->bins + 1) * sizeof *x->edges)))
            return 0;
    }
    return 1;
}

static void destroy(kept_plan *p)
{
    if (!p)
        return;
    lib.plan_destroy(p->plan);
    for (uint32_t d = 0; d < p->wish.dimensions; d++) {
        PyMem_Free(p->edges[d]);
        Py_XDECREF(p->there[d]);
        Py_XDECREF(p->copies[d].list);
    }
    Py_XDECREF(p->zeros.list);
    PyMem_Free(p);
}

/* numpy.linspace, operation by operation. */
static void space(const wished_axis *axis, double *edges)
{
    const uint64_t bins = axis->bins;
    double lo = axis->lo, hi = axis->hi;
    if (axis->form == ENDS_FLOAT32) {
        const float first = (float)lo, step = ((float)hi - first) / (float)bins;
        for (uint64_t i = 0; i < bins; i++) {
            const float product = (float)i * step;
            edges[i] = product + first;
        }
        hi = (float)hi;
    } else {
        const double step = (hi - lo) / (double)bins;
        for (uint64_t i = 0; i < bins; i++)
            edges[i] = (double)i * step + lo;
    }
    edges[bins] = hi;
}

/* Rounded to a float16, of at most 2^15. */
static double to_half(double x)
{
    int exponent;
    frexp(x, &exponent);
    const double unit = ldexp(1, (exponent > -13 ? exponent : -13) - 11);
    return nearbyint(x / unit) * unit;
}

int edges_make(const wished_axis *axis, double *edges)
{
    const uint64_t bins = axis->bins;
    int increase = 1;
    space(axis, edges);
    for (uint64_t i = 0; i <= bins && axis->form == ENDS_ROUNDED; i++)
        edges[i] = (double)(float)edges[i];
    for (uint64_t i = 0; i <= bins && axis->form == ENDS_HALF; i++)
        edges[i] = to_half(edges[i]);
    for (uint64_t i = 0; i < bins; i++)
        increase &= edges[i] < edges[i + 1];
    return increase;
}

/* Edges that were written down or rounded may be those of an even axis. */
static int are_even(const double *edges, uint64_t bins)
{
    const double lo = edges[0], width = (edges[bins] - lo) / (double)bins;
    for (uint64_t i = 0; i < bins; i++) {
        if (edges[i] != (double)i * width + lo)
            return 0;
    }
    return isfinite(width);
}

/* The library's axis; `edges` are the wished axis' own. */
static tally_axis axis_of(const wished_axis *w, const double *edges)
{
    tally_axis axis = {.struct_size = sizeof axis, .bins = w->bins, .lo = w->lo, .hi = w->hi};
    if (w->form == ENDS_INTEGER) {
        axis.kind = TALLY_AXIS_INTEGER;
        axis.last = TALLY_LAST_OPEN;
    } else if (w->form != ENDS_FLOAT64) {
        const int even = are_even(edges, w->bins);
        axis.lo = edges[0];
        axis.hi = edges[w->bins];
        axis.kind = even ? TALLY_AXIS_EVEN : TALLY_AXIS_EDGES;
        axis.edges = even ? NULL : edges;
    }
    return axis;
}

/* The host's edges, which the wish then has instead of its caller's, and the library's axis. */
static int resolve_axis(kept_plan *p, uint32_t d, tally_axis *axis)
{
    wished_axis *a = &p->wish.axes[d];
    const size_t bytes = (a->bins + 1) * sizeof *p->edges[d];
    if (a->form != ENDS_INTEGER && !(p->edges[d] = PyMem_Malloc(bytes))) {
        PyErr_NoMemory();
        return 0;
    }
    if (a->form == ENDS_EDGES)
        a->edges = memcpy(p->edges[d], a->edges, bytes);
    else if (a->form != ENDS_INTEGER && !edges_make(a, p->edges[d]))
        return 0;
    *axis = axis_of(a, p->edges[d]);
    p->keep &= a->bins <= (p->wish.lender ? MOST_DEVICE_BINS : MOST_KEPT_BINS);
    return 1;
}

/* The edges on the device, of which callers get copies. Those of found ends are made when they are
 * asked for. */
static int give_edges(kept_plan *p)
{
    const wish *w = &p->wish;
    for (uint32_t d = 0; w->lender && d < w->dimensions; d++) {
        const wished_axis *a = &w->axes[d];
        if (p->edges[d] && !a->found &&
            !(p->there[d] = lent_given(w->lender, w->device, ends_array(a, p->edges[d]), 1)))
            return 0;
    }
    return 1;
}

static int resolve(kept_plan *p)
{
    tally_plan_options options = {.struct_size = sizeof options,
                                  .dimensions = p->wish.dimensions,
                                  .weight_dtype = p->wish.weight,
                                  .n_hint = p->wish.n};
    lender *by = p->wish.lender;
    tally_context *context = by ? lent_context(by, p->wish.device) : lib.context;
    p->keep = 1;
    for (uint32_t d = 0; d < p->wish.dimensions; d++) {
        if (!resolve_axis(p, d, &options.axes[d]))
            return 0;
        options.dtypes[d] = p->wish.dtypes[d];
    }
    if (!context)
        return 0;
    PyThreadState *state = by ? PyEval_SaveThread() : lock_release(p->wish.n);
    const tally_status status = lib.plan_create(context, &options, &p->plan, NULL);
    lock_acquire(state);
    return !status && give_edges(p);
}

static int is_found(const kept_plan *p)
{
    int found = 0;
    for (uint32_t d = 0; d < p->wish.dimensions; d++)
        found |= p->wish.axes[d].found;
    return found;
}

/* Of those that are not in use the one whose last use is longest ago, with `found` of found ends;
 * NULL: none. */
static kept_plan **longest_unused(int found)
{
    kept_plan **oldest = NULL;
    for (kept_plan **at = plans; at < plans + MOST_PLANS && *at; at++) {
        if ((*at)->users || (*at)->recorded || (found && !is_found(*at)))
            continue;
        if (!oldest || (*at)->used < (*oldest)->used)
            oldest = at;
    }
    return oldest;
}

/* In a free place, else in place of the longest unused; where there is none it is not kept. */
static void keep(kept_plan *p)
{
    int count = 0, found = 0;
    for (; count < MOST_PLANS && plans[count]; count++)
        found += is_found(plans[count]);
    const int for_found = is_found(p) && found >= MOST_FOUND;
    kept_plan **place =
        count < MOST_PLANS && !for_found ? &plans[count] : longest_unused(for_found);
    if (!place) {
        p->keep = 0;
        return;
    }
    destroy(*place);
    *place = p;
}

kept_plan *plan_take(const wish *w)
{
    const uint64_t hash = hash_of(w);
    for (int i = 0; i < MOST_PLANS && plans[i]; i++) {
        if (plans[i]->hash == hash && same_wish(&plans[i]->wish, w)) {
            plans[i]->used = ++now;
            plans[i]->users++;
            plans[i]->calls++;
            return plans[i];
        }
    }
    kept_plan *p = PyMem_Calloc(1, sizeof *p);
    if (!p) {
        PyErr_NoMemory();
        return NULL;
    }
    p->wish = *w;
    p->hash = hash;
    if (!resolve(p)) {
        destroy(p);
        return NULL;
    }
    p->used = ++now;
    if (p->keep)
        keep(p);
    p->users++;
    return p;
}

void plan_return(kept_plan *p)
{
    p->users--;
    if (!p->keep && !p->recorded)
        destroy(p);
}

/* Notes whether a graph records what is put on the current stream; 0 and an error if nobody knows.
 */
static int note_recording(kept_plan *p)
{
    const int recording = p->recorded ? 1 : lent_recording(p->wish.lender);
    p->recorded |= recording > 0;
    return recording >= 0;
}

int plan_count(kept_plan *p, const array *samples, const array *weights, void *counts, void *flows)
{
    tally_view views[TALLY_MAX_DIMENSIONS], weight_view;
    tally_execute_options options = {.struct_size = sizeof options};
    lender *by = p->wish.lender;
    tally_output output = {
        .struct_size = sizeof output, .counts = counts, .flows = flows, .on_device = by != NULL};
    for (uint32_t d = 0; d < p->wish.dimensions; d++)
        views[d] = array_view(&samples[d]);
    if (weights) {
        weight_view = array_view(weights);
        options.weights = &weight_view;
    }
    if (by && !(note_recording(p) && lent_stream(by, p->wish.device, &options.stream)))
        return 0;
    PyThreadState *state = by ? PyEval_SaveThread() : lock_release(samples->n);
    const tally_status status = lib.execute(p->plan, views, &options, &output, NULL);
    lock_acquire(state);
    return !status;
}

/* An array costs a launch, which is half of a call's time. So plans that are used again and again
 * have short ones made many at a time. Not for a graph, whose every run makes its own. */
enum { FEW_CALLS = 4, POOL = 32, MOST_POOLED = 1024 };

static int wants_pool(const kept_plan *p, uint64_t elements)
{
    return !p->recorded && p->calls >= FEW_CALLS && elements <= MOST_POOLED;
}

/* One of the pool, which is filled anew when it has none left. */
static PyObject *pool_take(pool *from, const lender *by, PyObject *model, void *stream)
{
    Py_ssize_t n = from->list ? PyList_Size(from->list) : 0;
    if (!n) {
        PyObject *made = lent_copies(by, model, POOL);
        if (!made)
            return NULL;
        Py_XDECREF(from->list);
        from->list = made;
        from->stream = stream;
        n = POOL;
    }
    PyObject *one = PyList_GetItem(from->list, n - 1);
    Py_XINCREF(one);
    if (one && PyList_SetSlice(from->list, n - 1, n, NULL))
        Py_CLEAR(one);
    return one;
}

/* Whether the pool has some, but of another stream. */
static int is_of_another(const pool *s, const void *stream)
{
    return s->list && PyList_Size(s->list) && s->stream != stream;
}

/* A found axis' edges on the current stream: the first caller's own, later ones get copies. */
static PyObject *found_edges(kept_plan *p, uint32_t d, void *stream)
{
    const wish *w = &p->wish;
    if (p->there[d] && p->stream[d] != stream) {
        Py_CLEAR(p->there[d]);
        Py_CLEAR(p->copies[d].list);
    }
    if (!p->there[d]) {
        PyObject *made = lent_given(w->lender, w->device, ends_array(&w->axes[d], p->edges[d]), 0);
        if (!made || !p->calls)
            return made;
        p->there[d] = made;
        p->stream[d] = stream;
    }
    return NULL;
}

PyObject *plan_edges(kept_plan *p, uint32_t d)
{
    const wish *w = &p->wish;
    void *stream;
    if (!lent_stream(w->lender, w->device, &stream))
        return NULL;
    if (w->axes[d].found) {
        PyObject *made = found_edges(p, d, stream);
        if (made || PyErr_Occurred())
            return made;
    }
    if (!wants_pool(p, w->axes[d].bins) || is_of_another(&p->copies[d], stream))
        return lent_copy(w->lender, p->there[d]);
    return pool_take(&p->copies[d], w->lender, p->there[d], stream);
}

PyObject *plan_zeros(kept_plan *p, const array *like, const Py_ssize_t *shape, int type)
{
    const wish *w = &p->wish;
    void *stream, *data;
    if (!note_recording(p) || !lent_stream(w->lender, w->device, &stream))
        return NULL;
    const int pooled = w->dimensions == 1 && wants_pool(p, (uint64_t)shape[0]) &&
                       !is_of_another(&p->zeros, stream);
    if (pooled && p->zeros.list && PyList_Size(p->zeros.list))
        return pool_take(&p->zeros, w->lender, NULL, stream);
    PyObject *made = lent_new(like, (int)w->dimensions, shape, type, 1, &data);
    if (!made || !pooled)
        return made;
    PyObject *one = pool_take(&p->zeros, w->lender, made, stream);
    Py_DECREF(made);
    return one;
}
