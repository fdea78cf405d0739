/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally.binned_statistic and its kin: samples are put into cells, which are the bins with a flow
 * bin at both ends of every axis, and their values are added up one after the other, as SciPy does.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "fill.h"

typedef enum statistic { COUNT, SUM, MEAN, STD, MIN, MAX, STATISTICS } statistic;

/* Of one cell: of the values, of STD less `about`, which is their first, so that nothing cancels;
 * of extremes `sum` is it. */
typedef struct total {
    double n, sum, squares, about;
} total;

typedef struct binned_axis {
    wished_axis wish;
    PyObject *object;    /* edges of the caller's that are returned, or NULL */
    double *own, *ended; /* edges; those of the cells */
    finder finder;
    int mixed;
    int counted; /* bins are a number: no sample may be NaN */
} binned_axis;

typedef struct binned {
    statistic statistic;
    uint32_t dimensions;
    int expand;
    array samples[TALLY_MAX_DIMENSIONS], values;
    binned_axis axes[TALLY_MAX_DIMENSIONS];
    uint64_t cells, bins;
    total *totals;
    int64_t *numbers; /* of samples; expanded, one axis after the other */
} binned;

enum { MOST_CELLS = 1 << 22, AHEAD = 16 };

/* ---- arguments ---- */

static int take_statistic(binned *b, PyObject *name)
{
    static const char *const names[STATISTICS] = {"count", "sum", "mean", "std", "min", "max"};
    for (int i = 0; PyUnicode_Check(name) && i < STATISTICS; i++) {
        b->statistic = (statistic)i;
        if (!PyUnicode_CompareWithASCIIString(name, names[i]))
            return 1;
    }
    return 0;
}

/* One of a sequence of so many; NULL: it is another thing. */
static PyObject *part_of(PyObject *sequence, Py_ssize_t n, Py_ssize_t i)
{
    if (PyTuple_CheckExact(sequence) && PyTuple_Size(sequence) == n)
        return PyTuple_GetItem(sequence, i);
    return PyList_CheckExact(sequence) && PyList_Size(sequence) == n ? PyList_GetItem(sequence, i)
                                                                     : NULL;
}

/* Edges are of the samples' floating type, as SciPy makes them. */
static int take_edges(binned_axis *axis, const array *samples, PyObject *bins)
{
    const int narrow = samples->dtype == TALLY_F32;
    if (!ends_edges(bins, &axis->wish, &axis->object, &axis->own))
        return 0;
    axis->wish.form = narrow ? ENDS_ROUNDED : ENDS_FLOAT64;
    for (uint64_t i = 0; narrow && i <= axis->wish.bins; i++) {
        axis->own[i] = (double)(float)axis->own[i];
        if (i && !(axis->own[i - 1] < axis->own[i]))
            return 0;
    }
    if (narrow || axis->object != bins || !array_is_float64(bins)) {
        Py_DECREF(axis->object);
        axis->object = NULL;
    }
    return 1;
}

static int make_edges(binned_axis *axis, const array *samples, uint64_t bins, PyObject *range)
{
    if ((range == Py_None && !samples->n) || !ends_even(samples, bins, range, 1, &axis->wish))
        return 0;
    axis->counted = 1;
    if (samples->dtype == TALLY_F32)
        axis->wish.form = ENDS_ROUNDED;
    axis->own = PyMem_Malloc((bins + 1) * sizeof *axis->own);
    return axis->own && edges_make(&axis->wish, axis->own);
}

static int take_axis(binned_axis *axis, const array *samples, PyObject *bins, PyObject *range)
{
    const uint64_t n = ends_bins(bins, MOST_BINS);
    if (n ? !make_edges(axis, samples, n, range) : !take_edges(axis, samples, bins))
        return 0;
    const uint64_t last = axis->wish.bins;
    axis->ended = PyMem_Malloc((last + 3) * sizeof *axis->ended);
    if (!axis->ended)
        return 0;
    axis->ended[0] = -DBL_MAX;
    memcpy(axis->ended + 1, axis->own, last * sizeof *axis->own);
    axis->ended[last + 1] = nextafter(axis->own[last], INFINITY);
    axis->ended[last + 2] = DBL_MAX;
    finder_among(&axis->finder, axis->ended, last + 2);
    return 1;
}

static int take(binned *b, PyObject *const *args)
{
    PyObject *columns = args[1], *bins = args[3], *ranges = args[4];
    const Py_ssize_t n = PyList_CheckExact(columns) ? PyList_Size(columns) : 0;
    if (!take_statistic(b, args[0]) || n < 1 || n > TALLY_MAX_DIMENSIONS ||
        !array_take_large(args[2], &b->values) || b->values.dimensions != 1)
        return 0;
    b->dimensions = (uint32_t)n;
    b->expand = n > 1 && args[5] == Py_True;
    b->cells = b->bins = 1;
    for (Py_ssize_t d = 0; d < n; d++) {
        array *a = &b->samples[d];
        PyObject *own_bins = PyLong_CheckExact(bins) ? bins : part_of(bins, n, d);
        PyObject *range = ranges == Py_None ? ranges : part_of(ranges, n, d);
        if (!own_bins || !range || !array_take_large(PyList_GetItem(columns, d), a) ||
            !array_same_shape(a, &b->values) ||
            (a->dtype == TALLY_F32) != (b->samples[0].dtype == TALLY_F32) || /* edges of one type */
            !take_axis(&b->axes[d], a, own_bins, range) ||
            b->cells > MOST_CELLS / b->axes[d].finder.extent)
            return 0;
        b->cells *= b->axes[d].finder.extent;
        b->bins *= b->axes[d].wish.bins;
    }
    return 1;
}

static void release(binned *b)
{
    array_release(&b->values);
    for (uint32_t d = 0; d < TALLY_MAX_DIMENSIONS; d++) {
        array_release(&b->samples[d]);
        Py_XDECREF(b->axes[d].object);
        PyMem_Free(b->axes[d].own);
        PyMem_Free(b->axes[d].ended);
    }
    PyMem_Free(b->totals);
}

/* ---- cells ---- */

/* The cells of a block on one axis, NaN above all; 0: there is one and it is refused. */
static int find_axis(binned *b, uint32_t d, uint64_t begin, uint64_t n, double *cells)
{
    double memory[AT_ONCE];
    binned_axis *axis = &b->axes[d];
    const double *x = places_doubles(&b->samples[d], begin, n, memory);
    int has_nan = 0;
    if (finder_find(&axis->finder, &axis->mixed, x, places_whole(n), cells))
        return 1;
    for (uint64_t i = 0; i < n; i++) {
        has_nan |= x[i] != x[i];
        cells[i] = x[i] != x[i] ? (double)axis->finder.extent - 1 : cells[i];
    }
    return !has_nan || !axis->counted;
}

/* The cells of a block, and the numbers that are returned. */
static int find_block(binned *b, uint64_t begin, uint64_t n, int64_t *cells)
{
    double found[AT_ONCE], all[AT_ONCE];
    for (uint32_t d = 0; d < b->dimensions; d++) {
        double *to = d ? found : all;
        if (!find_axis(b, d, begin, n, to))
            return 0;
        if (b->expand) {
            cells_to_integers(to, n, cells);
            memcpy(b->numbers + d * b->values.n + begin, cells, n * sizeof *cells);
        }
        if (d)
            cells_join(all, b->axes[d].finder.extent, found, n);
    }
    cells_to_integers(all, n, cells);
    if (!b->expand)
        memcpy(b->numbers + begin, cells, n * sizeof *cells);
    return 1;
}

/* ---- totals ---- */

static void add_sums(total *totals, const int64_t *cells, const double *values, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        total *to = &totals[cells[i]];
        if (i + AHEAD < n)
            __builtin_prefetch(&totals[cells[i + AHEAD]], 1);
        to->n += 1;
        to->sum += values[i];
    }
}

/* A NaN stays. */
static void add_extremes(total *totals, const int64_t *cells, const double *values, uint64_t n,
                         double sign)
{
    for (uint64_t i = 0; i < n; i++) {
        total *to = &totals[cells[i]];
        const double v = values[i] * sign;
        to->sum = to->n == 0 || v > to->sum || v != v ? v : to->sum;
        to->n += 1;
    }
}

static void add_squares(total *totals, const int64_t *cells, const double *values, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        total *to = &totals[cells[i]];
        if (to->n == 0)
            to->about = values[i];
        const double apart = values[i] - to->about;
        to->n += 1;
        to->sum += apart;
        to->squares += apart * apart;
    }
}

static double answer_of(statistic what, const total *t)
{
    const double squares = t->squares - t->sum * (t->sum / t->n);
    switch (what) {
    case COUNT:
        return t->n;
    case SUM:
        return t->sum;
    case MEAN: /* nothing by nothing is NaN */
        return t->sum / t->n;
    case STD:
        return sqrt((squares < 0 ? 0 : squares) / t->n);
    default:
        return t->n == 0 ? NAN : what == MIN ? 0 - t->sum : t->sum + 0;
    }
}

/* The answers of the bins from axis d and `cell` on. */
static double *write_bins(const binned *b, uint32_t d, uint64_t cell, double *to)
{
    uint64_t step = 1;
    for (uint32_t e = d + 1; e < b->dimensions; e++)
        step *= b->axes[e].finder.extent;
    cell += step;
    for (uint64_t i = 0; i < b->axes[d].wish.bins; i++, cell += step) {
        if (d + 1 < b->dimensions)
            to = write_bins(b, d + 1, cell, to);
        else
            *to++ = answer_of(b->statistic, &b->totals[cell]);
    }
    return to;
}

/* ---- a call ---- */

static int add_block(binned *b, uint64_t begin, uint64_t n)
{
    int64_t cells[AT_ONCE];
    double memory[AT_ONCE];
    if (!find_block(b, begin, n, cells))
        return 0;
    const double *values = array_doubles(&b->values, begin, n, memory);
    if (b->statistic == STD)
        add_squares(b->totals, cells, values, n);
    else if (b->statistic == MIN || b->statistic == MAX)
        add_extremes(b->totals, cells, values, n, b->statistic == MIN ? -1 : 1);
    else
        add_sums(b->totals, cells, values, n);
    return 1;
}

/* All samples; 0, perhaps with an error, if they are not plain, or Ctrl-C has stopped it. */
static int add_all(binned *b)
{
    const uint64_t all = b->values.n;
    int good = 1;
    for (uint64_t some = 0; good && some < all; some += HEARD_AFTER) {
        const uint64_t end = all - some < HEARD_AFTER ? all : some + HEARD_AFTER;
        PyThreadState *state = lock_release(all);
        for (uint64_t begin = some; good && begin < end; begin += AT_ONCE)
            good = add_block(b, begin, end - begin < AT_ONCE ? end - begin : AT_ONCE);
        lock_acquire(state);
        good = good && (all <= HEARD_AFTER || !PyErr_CheckSignals());
    }
    return good;
}

/* (statistic, [edges, …], numbers); NULL, perhaps without an error. */
static PyObject *find(binned *b)
{
    Py_ssize_t shape[TALLY_MAX_DIMENSIONS],
        expanded[2] = {(Py_ssize_t)b->dimensions, b->values.shape[0]};
    void *to, *numbers;
    PyObject *edges = PyList_New((Py_ssize_t)b->dimensions);
    for (uint32_t d = 0; edges && d < b->dimensions; d++) {
        binned_axis *axis = &b->axes[d];
        PyObject *one = axis->object ? axis->object : ends_array(&axis->wish, axis->own);
        axis->object = NULL;
        shape[d] = (Py_ssize_t)axis->wish.bins;
        if (!one || PyList_SetItem(edges, (Py_ssize_t)d, one))
            Py_CLEAR(edges);
    }
    PyObject *found = array_new((int)b->dimensions, shape, NUMPY_FLOAT64, &to);
    PyObject *at =
        array_new(b->expand ? 2 : 1, b->expand ? expanded : expanded + 1, NUMPY_INT64, &numbers);
    PyObject *answer = NULL;
    b->totals = PyMem_Calloc(b->cells, sizeof *b->totals);
    b->numbers = at ? numbers : NULL;
    if (edges && found && at && b->totals && add_all(b)) {
        write_bins(b, 0, 0, to);
        answer = PyTuple_Pack(3, found, edges, at);
    }
    Py_XDECREF(found);
    Py_XDECREF(edges);
    Py_XDECREF(at);
    return answer;
}

/* binned(statistic, [samples, …], values, bins, range, expand): (statistic, [edges, …], numbers) */
PyObject *fast_binned(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    binned b;
    memset(&b, 0, sizeof b);
    PyObject *answer = n_args == 6 && take(&b, args) ? find(&b) : NULL;
    release(&b);
    if (!answer && !PyErr_Occurred())
        Py_RETURN_NONE;
    return answer;
}
