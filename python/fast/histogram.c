/* SPDX-License-Identifier: Apache-2.0 */
/* histogram, histogram_bin_edges and histogramdd. */
#include <string.h>

#include "fast.h"

/* What an axis is made of, one a dimension. */
typedef struct made_axes {
    PyObject *given[TALLY_MAX_DIMENSIONS]; /* the caller's edges (owned), or NULL */
    double *memory[TALLY_MAX_DIMENSIONS];  /* these in float64 */
} made_axes;

static void made_release(made_axes *m)
{
    for (int d = 0; d < TALLY_MAX_DIMENSIONS; d++) {
        Py_XDECREF(m->given[d]);
        PyMem_Free(m->memory[d]);
    }
}

static uint64_t most_bins(const array *a)
{
    return a->lender ? MOST_DEVICE_BINS : MOST_BINS;
}

/* Axis d of a histogram: a number of bins or edges. */
static int make_axis(const array *a, PyObject *bins, PyObject *range, int float32, int d, wish *w,
                     made_axes *made)
{
    const uint64_t n = ends_bins(bins, most_bins(a));
    w->dtypes[d] = a->dtype;
    if (n)
        return ends_even(a, n, range, float32, &w->axes[d]);
    return ends_edges(bins, &w->axes[d], &made->given[d], &made->memory[d]) &&
           (!a->lender || array_is_float64(made->given[d]));
}

/* The one axis of numpy.histogram, whose bins a rule may choose. */
static int make_only(const array *a, PyObject *bins, PyObject *range, wish *w, made_axes *made)
{
    if (!PyUnicode_CheckExact(bins))
        return make_axis(a, bins, range, 1, 0, w, made);
    const uint64_t n = a->lender ? 0 : ends_rule(a, bins, range);
    w->dtypes[0] = a->dtype;
    return n && n <= MOST_BINS && ends_even(a, n, range, 1, &w->axes[0]);
}

/* The caller's edges, or new ones. */
static PyObject *edges_of(kept_plan *plan, const made_axes *made, uint32_t d)
{
    if (plan->wish.lender)
        return plan_edges(plan, d);
    if (!made->given[d])
        return ends_array(&plan->wish.axes[d], plan->edges[d]);
    Py_INCREF(made->given[d]);
    return made->given[d];
}

/* Weights as they are summed, and the type that NumPy's answer has. */
static int take_weights(PyObject *object, const array *samples, array *weights, int *result)
{
    *result = NUMPY_INT64;
    if (object == Py_None)
        return 1;
    if (!array_take_any(object, weights) || !array_same_shape(samples, weights) ||
        weights->dtype == TALLY_F16 || weights->dtype == TALLY_BF16)
        return 0;
    if (weights->dtype == TALLY_F32)
        *result = NUMPY_FLOAT32;
    else if (weights->dtype == TALLY_F64)
        *result = NUMPY_FLOAT64;
    return 1;
}

/* From sums in float64 to an array of float32. */
static PyObject *narrowed(PyObject *sums, const double *from, Py_ssize_t n)
{
    void *data;
    PyObject *made = array_new_1d(n, NUMPY_FLOAT32, &data);
    for (Py_ssize_t i = 0; made && i < n; i++)
        ((float *)data)[i] = (float)from[i];
    Py_DECREF(sums);
    return made;
}

/* An array of counts or sums; NULL, perhaps without an error: the library does not count this. */
static PyObject *counted(kept_plan *plan, const array *samples, const array *weights, int result,
                         const Py_ssize_t *shape, void **data)
{
    const int type = result == NUMPY_FLOAT32 ? NUMPY_FLOAT64 : result,
              n = (int)plan->wish.dimensions;
    if (samples->lender && !samples->n)
        return plan_zeros(plan, samples, shape, type);
    PyObject *counts = samples->lender ? lent_new(samples, n, shape, type, 0, data)
                                       : array_new(n, shape, type, data);
    if (!counts)
        return NULL;
    if (!plan_count(plan, samples, weights->object ? weights : NULL, *data, NULL)) {
        Py_DECREF(counts);
        counts = NULL;
    }
    return counts;
}

static PyObject *pair_of(PyObject *counts, PyObject *edges)
{
    PyObject *pair = counts && edges ? PyTuple_New(2) : NULL;
    if (!pair) {
        Py_XDECREF(counts);
        Py_XDECREF(edges);
        return NULL;
    }
    PyTuple_SetItem(pair, 0, counts);
    PyTuple_SetItem(pair, 1, edges);
    return pair;
}

/* None in place of an answer that there is not, unless an error says why. */
static PyObject *or_none(PyObject *answer)
{
    if (answer || PyErr_Occurred())
        return answer;
    Py_RETURN_NONE;
}

static PyObject *histogram_of(const array *a, PyObject *bins, PyObject *range, PyObject *object)
{
    array weights = {.object = NULL};
    made_axes made = {{NULL}, {NULL}};
    wish w = {.dimensions = 1, .n = a->n, .lender = a->lender, .device = a->device};
    int result;
    PyObject *answer = NULL;
    const int rule = PyUnicode_CheckExact(bins); /* refused with weights */
    if (take_weights(object, a, &weights, &result) && !(rule && weights.object) &&
        make_only(a, bins, range, &w, &made)) {
        w.weight = weights.object ? weights.dtype : (tally_dtype)0;
        kept_plan *plan = plan_take(&w);
        if (plan) {
            void *data;
            const Py_ssize_t n = (Py_ssize_t)w.axes[0].bins;
            PyObject *counts = counted(plan, a, &weights, result, &n, &data);
            if (counts && result == NUMPY_FLOAT32)
                counts = a->lender ? lent_cast(a, counts, result) : narrowed(counts, data, n);
            if (counts)
                answer = pair_of(counts, edges_of(plan, &made, 0));
            plan_return(plan);
        }
    }
    array_release(&weights);
    made_release(&made);
    return answer;
}

/* histogram(a, bins, range, weights) */
PyObject *fast_histogram(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    array a;
    if (n_args != 4 || !array_take_any(args[0], &a))
        Py_RETURN_NONE;
    PyObject *answer = histogram_of(&a, args[1], args[2], args[3]);
    array_release(&a);
    return or_none(answer);
}

/* histogram_bin_edges(a, bins, range): of a number of bins or a rule */
PyObject *fast_bin_edges(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    array a;
    wish w = {.dimensions = 1};
    made_axes made = {{NULL}, {NULL}};
    PyObject *answer = NULL;
    if (n_args != 3 || !array_take(args[0], &a))
        Py_RETURN_NONE;
    if (make_only(&a, args[1], args[2], &w, &made) && !made.given[0]) {
        double *edges = PyMem_Malloc((w.axes[0].bins + 1) * sizeof *edges);
        if (!edges)
            PyErr_NoMemory();
        else if (edges_make(&w.axes[0], edges))
            answer = ends_array(&w.axes[0], edges);
        PyMem_Free(edges);
    }
    made_release(&made);
    array_release(&a);
    return or_none(answer);
}

/* ---- several dimensions ---- */

/* The coordinates, one array a dimension; their number, 0 if they are not plain. */
static int take_columns(PyObject *sample, array *columns)
{
    if (!PyTuple_CheckExact(sample) && !PyList_CheckExact(sample)) {
        array whole;
        int n = 0;
        if (!array_take_any(sample, &whole))
            return 0;
        const Py_ssize_t *shape = whole.shape ? whole.shape : whole.extents;
        if (whole.dimensions == 2 && shape[1] <= TALLY_MAX_DIMENSIONS) {
            for (n = 0; n < shape[1]; n++)
                array_column(&whole, n, &columns[n]);
        }
        array_release(&whole);
        return n;
    }
    const Py_ssize_t n = PySequence_Size(sample);
    if (n > TALLY_MAX_DIMENSIONS)
        return 0;
    for (int d = 0; d < n; d++) {
        PyObject *x = PySequence_GetItem(sample, d); /* `sample` has it */
        const int listed = x && (PyList_CheckExact(x) || PyTuple_CheckExact(x));
        const int plain = x && !listed && array_take_any(x, &columns[d]); /* lists get one type */
        Py_XDECREF(x);
        if (!plain || columns[d].dimensions != 1 || !array_same_shape(&columns[d], columns))
            return 0;
    }
    return (int)n;
}

/* Entry d of `bins` or `range`: its own where it is a list or a tuple, else the one of all.
 * Borrowed from what the caller holds; NULL if there are too few or too many. */
static PyObject *entry(PyObject *of, int d, int n)
{
    if (PyTuple_CheckExact(of))
        return PyTuple_Size(of) == n ? PyTuple_GetItem(of, d) : NULL;
    if (PyList_CheckExact(of))
        return PyList_Size(of) == n ? PyList_GetItem(of, d) : NULL;
    return of;
}

/* Where the extremes are asked for, NumPy has them in the type that all coordinates go into. */
static int common_type(const array *columns, int n)
{
    for (int d = 1; d < n; d++) {
        if ((columns[d].dtype == TALLY_F32) != (columns[0].dtype == TALLY_F32))
            return 0;
    }
    return 1;
}

static int make_axes(const array *columns, int n, PyObject *bins, PyObject *range, wish *w,
                     made_axes *made)
{
    for (int d = 0; d < n; d++) {
        PyObject *own_bins = entry(bins, d, n);
        PyObject *own_range = range == Py_None ? range : entry(range, d, n);
        if (!own_bins || !own_range || (range != Py_None && own_range == range) ||
            (own_range == Py_None && !common_type(columns, n)) ||
            (own_bins == bins && !ends_bins(bins, most_bins(columns))) ||
            !make_axis(&columns[d], own_bins, own_range, 0, d, w, made))
            return 0;
    }
    return 1;
}

/* Integers as float64, in place. `counts`: from 0 to 2^52, for which the compiler has vectors. */
static void to_doubles(void *from, Py_ssize_t n, int counts)
{
    const int64_t exponent = INT64_C(0x433) << 52; /* of 2^52 */
    char *at = from;
    for (Py_ssize_t i = 0; i < n; i++, at += sizeof(int64_t)) {
        int64_t whole;
        double x;
        memcpy(&whole, at, sizeof whole);
        if (counts) {
            whole |= exponent;
            memcpy(&x, &whole, sizeof x);
            x -= 0x1p52;
        } else {
            x = (double)whole;
        }
        memcpy(at, &x, sizeof x);
    }
}

static PyObject *joint(kept_plan *plan, const array *columns, const array *weights,
                       const made_axes *made)
{
    Py_ssize_t shape[TALLY_MAX_DIMENSIONS], cells = 1;
    const uint32_t n = plan->wish.dimensions;
    void *data;
    for (uint32_t d = 0; d < n; d++) {
        shape[d] = (Py_ssize_t)plan->wish.axes[d].bins;
        cells *= shape[d];
    }
    const int whole = !weights->object || weights->dtype < TALLY_F16;
    const int there = columns->lender != NULL;
    PyObject *counts =
        counted(plan, columns, weights, there && whole ? NUMPY_INT64 : NUMPY_FLOAT64, shape, &data);
    if (counts && whole && there)
        counts = lent_cast(columns, counts, NUMPY_FLOAT64);
    if (counts && whole && !there)
        to_doubles(data, cells, !weights->object);
    PyObject *edges = counts ? PyList_New(n) : NULL;
    for (uint32_t d = 0; edges && d < n; d++) {
        PyObject *own = edges_of(plan, made, d);
        if (own)
            PyList_SetItem(edges, d, own);
        else
            Py_CLEAR(edges);
    }
    return counts ? pair_of(counts, edges) : NULL;
}

static PyObject *histogramdd_of(array *columns, int n, PyObject *const *args)
{
    array weights = {.object = NULL};
    made_axes made = {{NULL}, {NULL}};
    wish w = {.dimensions = (uint32_t)n,
              .n = columns[0].n,
              .lender = columns[0].lender,
              .device = columns[0].device};
    PyObject *answer = NULL;
    int result;
    uint64_t cells = 1;
    if (take_weights(args[3], &columns[0], &weights, &result) &&
        make_axes(columns, n, args[1], args[2], &w, &made)) {
        for (int d = 0; d < n && cells <= MOST_JOINT_BINS; d++)
            cells *= w.axes[d].bins;
        w.weight = weights.object ? weights.dtype : (tally_dtype)0;
        kept_plan *plan = cells <= MOST_JOINT_BINS ? plan_take(&w) : NULL;
        if (plan) {
            answer = joint(plan, columns, &weights, &made);
            plan_return(plan);
        }
    }
    array_release(&weights);
    made_release(&made);
    return answer;
}

/* histogramdd(sample, bins, range, weights) */
PyObject *fast_histogramdd(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    array columns[TALLY_MAX_DIMENSIONS] = {{.object = NULL}};
    const int n = n_args == 4 ? take_columns(args[0], columns) : 0;
    PyObject *answer = n ? histogramdd_of(columns, n, args) : NULL;
    for (int d = 0; d < TALLY_MAX_DIMENSIONS; d++)
        array_release(&columns[d]);
    return or_none(answer);
}
