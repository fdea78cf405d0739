/* SPDX-License-Identifier: Apache-2.0 */
/* NumPy's `bins` and `range`: numbers, edges, rules. */
#include <math.h>
#include <string.h>

#include "fast.h"

int ends_number(PyObject *x, int exact, double *value)
{
    const int whole = PyLong_CheckExact(x);
    if (!whole && !(exact ? PyFloat_CheckExact(x) : PyFloat_Check(x)))
        return 0;
    *value = PyFloat_AsDouble(x);
    if (PyErr_Occurred()) {
        PyErr_Clear();
        return 0;
    }
    return fabs(*value) <= (whole ? 0x1p53 : 0x1p1000);
}

int ends_stats(const array *a, tally_stats *stats)
{
    if (a->lender)
        return lent_stats(a, stats);
    const tally_view view = array_view(a);
    *stats = (tally_stats)TALLY_STATS_INIT;
    PyThreadState *state = lock_release(a->n);
    const tally_status status = lib.stats_add(lib.context, &view, NULL, 0, 0, stats, NULL);
    lock_acquire(state);
    return !status;
}

/* Two numbers. */
static int ends_range(PyObject *range, int exact, double *lo, double *hi)
{
    PyObject *first, *last;
    if (PyTuple_CheckExact(range) && PyTuple_Size(range) == 2) {
        first = PyTuple_GetItem(range, 0);
        last = PyTuple_GetItem(range, 1);
    } else if (PyList_CheckExact(range) && PyList_Size(range) == 2) {
        first = PyList_GetItem(range, 0);
        last = PyList_GetItem(range, 1);
    } else {
        return 0;
    }
    return ends_number(first, exact, lo) && ends_number(last, exact, hi);
}

int ends_even(const array *a, uint64_t bins, PyObject *range, int float32, wished_axis *axis)
{
    double lo = 0, hi = 1;
    const int half = a->dtype == TALLY_F16;
    const int narrow = a->dtype == TALLY_F32 || a->dtype == TALLY_BF16 || half;
    *axis = (wished_axis){.form = !narrow || !float32 ? ENDS_FLOAT64
                                  : half              ? ENDS_HALF
                                                      : ENDS_ROUNDED,
                          .bins = bins};
    if (range != Py_None) {
        if (!ends_range(range, narrow, &lo, &hi))
            return 0;
    } else if (a->n) {
        tally_stats stats;
        if (half || !ends_stats(a, &stats) || stats.finite != stats.samples)
            return 0;
        lo = stats.min;
        hi = stats.max;
        axis->found = 1;
        if (narrow && !arrays_numpy_2 && lo == hi)
            return 0;
        if (narrow && arrays_numpy_2)
            axis->form = ENDS_FLOAT32;
    }
    if (lo == hi) {
        lo -= 0.5;
        hi += 0.5;
    }
    axis->lo = lo;
    axis->hi = hi;
    /* Integers that may have been rounded (2^53 may stand for 2^53 + 1), spans that overflow or
     * vanish: the long way. */
    const double most = half                    ? 0x1p15
                        : narrow                ? 0x1p120
                        : a->dtype == TALLY_F64 ? 0x1p1000
                                                : 0x1p53 - 1;
    return lo < hi && fabs(lo) <= most && fabs(hi) <= most && hi - lo > 0x1p-100;
}

/* Copies edges of a type as float64; 0 if there is another, or one is not exact. */
static int as_float64(const array *a, double *edges)
{
    for (uint64_t i = 0; i < a->n; i++) {
        const char *at = (const char *)a->data + (a->stride ? (int64_t)i * a->stride : 0);
        if (a->dtype == TALLY_F64)
            edges[i] = ((const double *)(const void *)at)[a->stride ? 0 : i];
        else if (a->dtype == TALLY_F32)
            edges[i] = (double)((const float *)(const void *)at)[a->stride ? 0 : i];
        else if (a->dtype == TALLY_I64)
            edges[i] = (double)((const int64_t *)(const void *)at)[a->stride ? 0 : i];
        else
            return 0;
        const double most = a->dtype == TALLY_I64 ? 0x1p53 - 1 : 0x1p1000;
        if (!(fabs(edges[i]) <= most) || (i && !(edges[i - 1] < edges[i])))
            return 0;
    }
    return 1;
}

int ends_edges(PyObject *bins, wished_axis *axis, PyObject **object, double **memory)
{
    array a;
    *object = NULL;
    *memory = NULL;
    if (!array_take(bins, &a))
        return 0;
    if (a.dimensions == 1 && a.n >= 2 && a.n <= MOST_BINS + 1)
        *memory = PyMem_Malloc(a.n * sizeof **memory);
    if (!*memory || !as_float64(&a, *memory)) {
        PyMem_Free(*memory);
        *memory = NULL;
        array_release(&a);
        return 0;
    }
    *axis = (wished_axis){.form = ENDS_EDGES, .bins = a.n - 1, .edges = *memory};
    *object = a.object;
    return 1;
}

/* The samples, once a pass. */
typedef struct one_chunk {
    tally_view view;
    int read;
} one_chunk;

static int read_chunk(void *user, tally_view *view, tally_error *error)
{
    one_chunk *c = user;
    (void)error;
    *view = c->view;
    return !c->read++;
}

static int rewind_chunk(void *user, tally_error *error)
{
    (void)error;
    ((one_chunk *)user)->read = 0;
    return 0;
}

/* More samples may be stopped by Ctrl-C. */
enum { MOST_OF_RULES = 1 << 20 };

uint64_t ends_rule(const array *a, PyObject *name, PyObject *range)
{
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    const int rule = text ? lib.rule_parse(text) : -1;
    double ends[2];
    PyErr_Clear();
    if (rule < 0 || a->n > MOST_OF_RULES)
        return 0;
    if (range != Py_None && !(ends_range(range, 0, &ends[0], &ends[1]) && ends[0] <= ends[1]))
        return 0;
    if (!a->n)
        return 1;
    one_chunk chunk = {array_view(a), 0};
    const tally_chunks chunks = {read_chunk, rewind_chunk, &chunk};
    const tally_rule_options options = {.struct_size = sizeof options,
                                        .rule = (tally_rule)rule,
                                        .range = range != Py_None ? ends : NULL};
    tally_axis axis = TALLY_AXIS_INIT;
    PyThreadState *state = lock_release(a->n);
    const tally_status status = lib.rule_bins(lib.context, chunks, a->dtype, &options, &axis, NULL);
    lock_acquire(state);
    return status ? 0 : axis.bins;
}

uint64_t ends_bins(PyObject *bins, uint64_t most)
{
    if (!PyLong_CheckExact(bins))
        return 0;
    const Py_ssize_t n = PyLong_AsSsize_t(bins);
    PyErr_Clear();
    return n >= 1 && (uint64_t)n <= most ? (uint64_t)n : 0;
}

/* The bits of a float16, of a number that is one. */
static uint16_t half_bits(double x)
{
    int exponent;
    const double size = fabs(x), mantissa = frexp(size, &exponent); /* at least 0.5 */
    const int normal = exponent > -14;
    const double bits = normal ? (exponent + 13) * 1024 + mantissa * 2048 : size * 0x1p24;
    return (uint16_t)((signbit(x) ? 0x8000 : 0) | (size > 0 ? (int)bits : 0));
}

PyObject *ends_array(const wished_axis *axis, const double *edges)
{
    void *data;
    const int f32 = axis->form == ENDS_ROUNDED || axis->form == ENDS_FLOAT32;
    const int half = axis->form == ENDS_HALF;
    PyObject *made = array_new_1d((Py_ssize_t)axis->bins + 1,
                                  half  ? NUMPY_FLOAT16
                                  : f32 ? NUMPY_FLOAT32
                                        : NUMPY_FLOAT64,
                                  &data);
    if (made && half) {
        for (uint64_t i = 0; i <= axis->bins; i++)
            ((uint16_t *)data)[i] = half_bits(edges[i]);
    } else if (made && f32) {
        for (uint64_t i = 0; i <= axis->bins; i++)
            ((float *)data)[i] = (float)edges[i];
    } else if (made) {
        memcpy(data, edges, (axis->bins + 1) * sizeof *edges);
    }
    return made;
}
