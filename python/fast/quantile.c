/* SPDX-License-Identifier: Apache-2.0 */
/* quantile, percentile, median and those without NaN: NumPy's "linear" between samples that the
 * library finds. */
#include <math.h>
#include <string.h>

#include "fast.h"

enum { MOST_QUANTILES = 64, MOST_GROUPS_APART = 256 };

/* The samples: outer × n × inner of them in C order, each outer and inner index a group of n. */
typedef struct groups {
    array a;
    uint64_t outer, n, inner;
    int dimensions; /* of the answers, less the quantiles' */
    Py_ssize_t shape[TALLY_MAX_DIMENSIONS];
} groups;

/* What is asked for. */
typedef struct question {
    int median, skip;   /* skip: leaves NaN out */
    int listed, narrow; /* an answer for each of several; in float32 */
    uint32_t count;
    double q[MOST_QUANTILES];
} question;

/* Answer i is between the samples of ranks[2i] and ranks[2i+1]. */
typedef struct places {
    uint64_t ranks[2 * MOST_QUANTILES];
    double parts[MOST_QUANTILES];
} places;

/* ---- what is asked for ---- */

static int take_groups(PyObject *x, PyObject *axis, groups *g)
{
    array *a = &g->a;
    if (!array_take(x, a) || !a->n)
        return 0;
    *g = (groups){.a = *a, .outer = 1, .n = a->n, .inner = 1};
    if (axis == Py_None)
        return 1;
    if (!PyLong_CheckExact(axis) || a->dimensions > TALLY_MAX_DIMENSIONS)
        return 0;
    const Py_ssize_t given = PyLong_AsSsize_t(axis), at = given < 0 ? given + a->dimensions : given;
    PyErr_Clear();
    if (at < 0 || at >= a->dimensions)
        return 0;
    g->n = (uint64_t)a->shape[at];
    for (int d = 0; d < a->dimensions; d++) {
        if (d == at)
            continue;
        *(d < at ? &g->outer : &g->inner) *= (uint64_t)a->shape[d];
        g->shape[g->dimensions++] = a->shape[d];
    }
    return 1;
}

/* Quantiles as float64: a number, or an array, list or tuple of one dimension at most. A Python
 * number, not NumPy's, does not widen float32 samples, and one that is whole (of no percentage)
 * picks integers themselves, which is the long way's. */
static int take_quantiles(PyObject *x, double scale, tally_dtype dtype, question *q)
{
    array given;
    int good = 1;
    q->count = 1;
    if (ends_number(x, 0, q->q)) {
        if (dtype < TALLY_F16 && PyLong_Check(x) && scale == 1)
            return 0;
        q->narrow = dtype == TALLY_F32 && (PyFloat_CheckExact(x) || PyLong_CheckExact(x));
    } else {
        if (!array_take(x, &given))
            return 0;
        const int whole = given.dtype == TALLY_I64 && scale != 1;
        good = (given.dtype == TALLY_F64 || whole) && given.dimensions <= 1 && given.n &&
               given.n <= MOST_QUANTILES;
        q->listed = given.dimensions;
        q->count = (uint32_t)given.n;
        if (good && array_doubles(&given, 0, given.n, q->q) != q->q)
            memcpy(q->q, given.data, given.n * sizeof *q->q);
        array_release(&given);
    }
    for (uint32_t i = 0; good && i < q->count; i++) {
        q->q[i] /= scale;
        good = q->q[i] >= 0 && q->q[i] <= 1;
    }
    return good;
}

static void find_places(const question *q, uint64_t n, places *p)
{
    for (uint32_t i = 0; i < q->count; i++) {
        const double at = (double)(n - 1) * q->q[i];
        uint64_t low = q->median ? (n - 1) / 2 : (uint64_t)at, high = q->median ? n / 2 : low + 1;
        p->ranks[2 * i] = low < n ? low : n - 1;
        p->ranks[2 * i + 1] = high < n ? high : n - 1;
        p->parts[i] = at - floor(at);
    }
}

/* ---- samples of these ranks ---- */

static tally_view view_of(const groups *g)
{
    tally_view view = array_view(&g->a);
    view.batches = g->outer;
    view.columns = g->n;
    view.channels = g->inner;
    return view;
}

/* The view of one group alone. */
static tally_view view_of_one(const groups *g, uint64_t group)
{
    const uint64_t bytes = array_bytes(g->a.dtype),
                   first = group / g->inner * g->n * g->inner + group % g->inner;
    tally_view view = array_view(&g->a);
    view.data = (const char *)g->a.data + first * bytes;
    view.columns = g->n;
    if (!view.column_stride_bytes)
        view.column_stride_bytes = (int64_t)(g->inner * bytes);
    return view;
}

static int find(const tally_view *view, const question *q, const places *p, void *found,
                uint64_t *nan)
{
    return !lib.order_statistics(lib.context, view, p->ranks, 2 * q->count, NULL, found, nan, NULL);
}

/* ---- answers ---- */

/* b - a in the samples' type, but integers' in 64 bits without a sign, for b is no less. */
static double gap_of(tally_dtype dtype, const void *pair, const double *x)
{
    uint64_t bits[2];
    if (dtype == TALLY_F32)
        return (double)((float)x[1] - (float)x[0]);
    if (dtype != TALLY_I64 && dtype != TALLY_U64)
        return x[1] - x[0];
    memcpy(bits, pair, sizeof bits);
    return (double)(bits[1] - bits[0]);
}

/* From the nearer of a and b. */
static double between(double a, double b, double gap, double part, int narrow)
{
    if (!narrow)
        return part >= 0.5 ? b - gap * (1 - part) : a + gap * part;
    const float narrow_gap = (float)gap,
                step = part >= 0.5 ? narrow_gap * (float)(1 - part) : narrow_gap * (float)part;
    return (double)(part >= 0.5 ? (float)b - step : (float)a + step);
}

static double answer_of(const question *q, tally_dtype dtype, const void *pair, double part)
{
    double x[2];
    const array found = {.data = pair, .dtype = dtype, .n = 2};
    const double *from = array_doubles(&found, 0, 2, x);
    memcpy(x, from, from == x ? 0 : sizeof x);
    const double gap = gap_of(dtype, pair, x);
    if ((part == 0 && !q->median) || (dtype >= TALLY_F16 ? x[0] == x[1] : gap == 0))
        return x[0]; /* infinite ones, too */
    if (q->median)
        return q->narrow ? (double)(((float)x[0] + (float)x[1]) / 2) : (x[0] + x[1]) / 2;
    return between(x[0], x[1], gap, part, q->narrow);
}

/* Answer i of a group is answers[i × groups + group]; `found` are its samples, `nan` says that it
 * has NaN only. */
static void write_answers(const question *q, const groups *g, const places *p, const char *found,
                          int nan, uint64_t group, void *answers)
{
    const size_t bytes = array_bytes(g->a.dtype);
    for (uint32_t i = 0; i < q->count; i++) {
        const double value =
            nan ? NAN : answer_of(q, g->a.dtype, found + 2 * i * bytes, p->parts[i]);
        const uint64_t at = i * g->outer * g->inner + group;
        if (q->narrow)
            ((float *)answers)[at] = (float)value;
        else
            ((double *)answers)[at] = value;
    }
}

/* Finds all; 0 if the library or this does not. `memory` holds the samples that are found, then the
 * numbers of NaN. */
static int answer_all(const question *q, const groups *g, char *memory, uint64_t *nan,
                      void *answers)
{
    const uint64_t all = g->outer * g->inner;
    const size_t bytes = 2 * q->count * array_bytes(g->a.dtype);
    const tally_view view = view_of(g);
    places whole, less;
    find_places(q, g->n, &whole);
    int good = find(&view, q, &whole, memory, nan);
    for (uint64_t i = 0; i < all && good; i++) {
        const places *p = &whole;
        if (nan[i] && q->skip) {
            const tally_view one = view_of_one(g, i);
            good = nan[i] < g->n && all <= MOST_GROUPS_APART; /* NumPy warns of a group of NaN */
            if (good)
                find_places(q, g->n - nan[i], &less);
            good = good && find(&one, q, &less, memory + i * bytes, NULL);
            p = &less;
        }
        if (good)
            write_answers(q, g, p, memory + i * bytes, nan[i] && !q->skip, i, answers);
    }
    return good;
}

static PyObject *answered(const question *q, const groups *g)
{
    Py_ssize_t shape[TALLY_MAX_DIMENSIONS + 1] = {q->count};
    const uint64_t all = g->outer * g->inner, bytes = 2 * q->count * 8 + sizeof(uint64_t);
    void *answers;
    if (all > MOST_BYTES / bytes)
        return NULL;
    memcpy(shape + q->listed, g->shape, sizeof g->shape);
    PyObject *made = array_new(g->dimensions + q->listed, shape,
                               q->narrow ? NUMPY_FLOAT32 : NUMPY_FLOAT64, &answers);
    uint64_t *memory = made ? PyMem_Malloc(all * bytes) : NULL;
    int good = 0;
    if (memory) {
        PyThreadState *state = lock_release(g->a.n);
        good = answer_all(q, g, (char *)(memory + all), memory, answers);
        lock_acquire(state);
    }
    PyMem_Free(memory);
    if (!good) {
        Py_XDECREF(made);
        return NULL;
    }
    if (g->dimensions || q->listed)
        return made;
    PyObject *none = PyTuple_New(0), *scalar = none ? PyObject_GetItem(made, none) : NULL;
    Py_XDECREF(none);
    Py_DECREF(made);
    return scalar;
}

/* quantile(a, q, scale, skip, axis): by NumPy's "linear"; the median where q is None; q is divided
 * by `scale` */
PyObject *fast_quantile(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    groups g = {.a = {.object = NULL}};
    question q = {.count = 1};
    PyObject *answer = NULL;
    if (n_args != 5 || !PyLong_CheckExact(args[2]))
        Py_RETURN_NONE;
    const double scale = PyLong_AsDouble(args[2]);
    q.median = args[1] == Py_None;
    q.skip = args[3] == Py_True;
    if (take_groups(args[0], args[4], &g) && g.n &&
        (q.median || take_quantiles(args[1], scale, g.a.dtype, &q))) {
        q.narrow = q.median ? g.a.dtype == TALLY_F32 : q.narrow;
        answer = answered(&q, &g);
    }
    array_release(&g.a);
    if (!answer && !PyErr_Occurred())
        Py_RETURN_NONE;
    return answer;
}
