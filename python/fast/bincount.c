/* SPDX-License-Identifier: Apache-2.0 */
/* bincount and digitize. */
#include <stdlib.h>
#include <string.h>

#include "fast.h"

/* `body` for every x[i] of a packed array of whole numbers. */
#define EACH(type, body)                                                                           \
    {                                                                                              \
        const type *x = a->data;                                                                   \
        for (uint64_t i = 0; i < a->n; i++)                                                        \
            body;                                                                                  \
        break;                                                                                     \
    }
#define EACH_INTEGER(dtype, body)                                                                  \
    switch (dtype) {                                                                               \
    case TALLY_U8:                                                                                 \
        EACH(uint8_t, body)                                                                        \
    case TALLY_I8:                                                                                 \
        EACH(int8_t, body)                                                                         \
    case TALLY_U16:                                                                                \
        EACH(uint16_t, body)                                                                       \
    case TALLY_I16:                                                                                \
        EACH(int16_t, body)                                                                        \
    case TALLY_U32:                                                                                \
        EACH(uint32_t, body)                                                                       \
    case TALLY_I32:                                                                                \
        EACH(int32_t, body)                                                                        \
    case TALLY_I64:                                                                                \
        EACH(int64_t, body)                                                                        \
    default:                                                                                       \
        return 0;                                                                                  \
    }

/* Weights that are added here, one after the other as NumPy adds them, with the interpreter's lock,
 * for a number that changes meanwhile would be none of the bins; more are the library's. */
enum { FEW_WEIGHTS = 1 << 18, AT_ONCE = 512 };

/* The largest of whole numbers that are none negative; 0 if the array has others. */
static int largest(const array *a, uint64_t *most)
{
    if (a->n > AT_ONCE || a->lender) {
        tally_stats stats;
        const int whole = a->dtype < TALLY_F16 && a->dtype != TALLY_U64;
        if (!whole || !ends_stats(a, &stats) || stats.min_integer < 0)
            return 0;
        *most = (uint64_t)stats.max_integer;
        return 1;
    }
    uint64_t all = 0, top = 0; /* a negative one sets the highest bit of `all` */
    EACH_INTEGER(a->dtype, {
        const uint64_t v = (uint64_t)(int64_t)x[i];
        all |= v;
        top = v > top ? v : top;
    })
    *most = top;
    return !(all >> 63);
}

static int count_few(const array *a, int64_t *counts)
{
    EACH_INTEGER(a->dtype, counts[x[i]]++)
    return 1;
}

/* Whether sums of FEW_WEIGHTS weights of 64 bits, or fewer, are float64s. */
static int are_moderate(const array *a)
{
    if (a->dtype == TALLY_U64)
        return 0;
    for (uint64_t i = 0; a->dtype == TALLY_I64 && i < a->n; i++) {
        if (llabs(((const int64_t *)a->data)[i]) > 1LL << 34)
            return 0;
    }
    return 1;
}

static int add_weights(const array *a, const double *w, double *sums)
{
    EACH_INTEGER(a->dtype, sums[x[i]] += w[i])
    return 1;
}

static int add_few(const array *a, const array *weights, double *sums)
{
    double memory[AT_ONCE];
    int good = are_moderate(weights);
    for (uint64_t at = 0; at < a->n && good; at += AT_ONCE) {
        array part = *a;
        part.data = (const char *)a->data + at * array_bytes(a->dtype);
        part.n = a->n - at < AT_ONCE ? a->n - at : AT_ONCE;
        good = add_weights(&part, array_doubles(weights, at, part.n, memory), sums);
    }
    return good;
}

/* By a plan: sums of whole weights are whole, and then rounded. */
static int add_many(const array *a, const array *weights, void *sums, Py_ssize_t bins)
{
    wish w = {.dimensions = 1, .n = a->n, .weight = weights ? weights->dtype : (tally_dtype)0};
    w.axes[0] = (wished_axis){.form = ENDS_INTEGER, .bins = (uint64_t)bins};
    w.dtypes[0] = a->dtype;
    kept_plan *plan = plan_take(&w);
    if (!plan)
        return 0;
    const int good = plan_count(plan, a, weights, sums, NULL);
    plan_return(plan);
    for (Py_ssize_t i = 0; good && weights && weights->dtype < TALLY_F16 && i < bins; i++) {
        int64_t sum;
        memcpy(&sum, (char *)sums + i * (Py_ssize_t)sizeof sum, sizeof sum);
        ((double *)sums)[i] = (double)sum;
    }
    return good;
}

static PyObject *bincount_of(const array *a, const array *weights, Py_ssize_t least)
{
    uint64_t most = 0;
    void *data;
    if (a->stride || (weights && weights->stride) || !largest(a, &most) || most >= MOST_BINS)
        return NULL;
    const Py_ssize_t end = a->n ? (Py_ssize_t)most + 1 : 0, bins = least > end ? least : end;
    weights = a->n ? weights : NULL; /* NumPy looks at none */
    PyObject *sums = array_new_1d(bins, weights ? NUMPY_FLOAT64 : NUMPY_INT64, &data);
    if (!sums)
        return NULL;
    int good;
    if (a->n > (weights ? FEW_WEIGHTS : FEW)) {
        good = add_many(a, weights, data, bins);
    } else {
        memset(data, 0, (size_t)bins * sizeof(double));
        good = weights ? add_few(a, weights, data) : count_few(a, data);
    }
    if (good)
        return sums;
    Py_DECREF(sums);
    return NULL;
}

/* ---- bincount on a device ---- */

/* Counts or sums of `bins` numbers; `flows`, if not NULL, is for those of other samples. */
static PyObject *sums_there(const array *a, const array *weights, Py_ssize_t bins, void *flows)
{
    wish w = {.dimensions = 1,
              .n = a->n,
              .weight = weights ? weights->dtype : (tally_dtype)0,
              .lender = a->lender,
              .device = a->device};
    w.axes[0] = (wished_axis){.form = ENDS_INTEGER, .bins = (uint64_t)bins};
    w.dtypes[0] = a->dtype;
    kept_plan *plan = plan_take(&w);
    if (!plan)
        return NULL;
    void *data;
    const int whole = !weights || weights->dtype < TALLY_F16;
    PyObject *sums = lent_new(a, 1, &bins, whole ? NUMPY_INT64 : NUMPY_FLOAT64, 0, &data);
    if (sums && !plan_count(plan, a, weights, data, flows)) {
        Py_DECREF(sums);
        sums = NULL;
    }
    plan_return(plan);
    return sums && weights && whole ? lent_cast(a, sums, NUMPY_FLOAT64) : sums;
}

/* Counts that are the answer if no sample is above `least`, which their flows say: in one pass
 * instead of two. NULL, perhaps without an error, if it is not; *negative: if there are negative
 * samples. */
static PyObject *sums_guessed(const array *a, const array *weights, Py_ssize_t least, int *negative)
{
    const Py_ssize_t four = 4;
    void *at;
    PyObject *flows = lent_new(a, 1, &four, NUMPY_INT64, 0, &at);
    PyObject *sums = flows ? sums_there(a, weights, least, at) : NULL;
    PyObject *numbers = sums ? PyObject_CallMethod(flows, "tolist", NULL) : NULL;
    PyObject *under = numbers ? PyList_GetItem(numbers, 0) : NULL; /* borrowed */
    PyObject *over = under ? PyList_GetItem(numbers, 1) : NULL;
    *negative = under && PyObject_IsTrue(under) > 0;
    if (!over || *negative || PyObject_IsTrue(over)) {
        Py_XDECREF(sums);
        sums = NULL;
    }
    Py_XDECREF(numbers);
    Py_XDECREF(flows);
    return sums;
}

static PyObject *bincount_there(const array *a, const array *weights, Py_ssize_t least)
{
    uint64_t most;
    void *data;
    int negative = 0;
    if (a->stride || a->dtype >= TALLY_F16 || a->dtype == TALLY_U64 ||
        (weights &&
         (weights->stride || weights->dtype == TALLY_F16 || weights->dtype == TALLY_BF16)))
        return NULL;
    if (!a->n)
        return lent_new(a, 1, &least, NUMPY_INT64, 1, &data);
    if (a->dtype == TALLY_U8 && least >= 256)
        return sums_there(a, weights, least, NULL);
    PyObject *sums = least ? sums_guessed(a, weights, least, &negative) : NULL;
    if (sums || negative || PyErr_Occurred() || !largest(a, &most) || most >= MOST_DEVICE_BINS)
        return sums;
    return sums_there(a, weights, (Py_ssize_t)most < least ? least : (Py_ssize_t)most + 1, NULL);
}

/* bincount(x, weights, minlength, …): what follows is None, or it is not plain */
PyObject *fast_bincount(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    array a, weights = {.object = NULL};
    PyObject *answer = NULL;
    for (Py_ssize_t i = 3; i < n_args; i++) {
        if (args[i] != Py_None)
            Py_RETURN_NONE;
    }
    if (n_args < 3 || !PyLong_CheckExact(args[2]) || !array_take_any(args[0], &a))
        Py_RETURN_NONE;
    const Py_ssize_t least = PyLong_AsSsize_t(args[2]);
    PyErr_Clear();
    if (a.dimensions == 1 && least >= 0 && least <= (a.lender ? MOST_DEVICE_BINS : MOST_BINS) &&
        (args[1] == Py_None ||
         (array_take_any(args[1], &weights) && array_same_shape(&a, &weights))))
        answer =
            (a.lender ? bincount_there : bincount_of)(&a, weights.object ? &weights : NULL, least);
    array_release(&weights);
    array_release(&a);
    if (!answer && !PyErr_Occurred())
        Py_RETURN_NONE;
    return answer;
}

/* ---- digitize ---- */

enum { LANES = 8 };

/* How many of `n` increasing edges are at most each x (`right`: below x); NaN is above all. Some at
 * a time, for each waits for what it reads. */
__attribute__((always_inline)) static inline void find_few(const double *x, const double *edges,
                                                           uint64_t n, int right, int64_t *to)
{
    uint64_t at[LANES] = {0};
    for (uint64_t length = n; length; length = length >> 1) {
        const uint64_t half = (length + 1) >> 1;
        for (int i = 0; i < LANES; i++) {
            const double edge = edges[at[i] + half - 1];
            const int above = right ? !(edge >= x[i]) : !(edge > x[i]);
            at[i] += above ? half : 0;
        }
    }
    memcpy(to, at, sizeof at);
}

void edges_find(const double *x, uint64_t count, const double *edges, uint64_t n, int right,
                int64_t *to)
{
    double few[LANES] = {0};
    int64_t found[LANES];
    uint64_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        if (right)
            find_few(x + i, edges, n, 1, to + i);
        else
            find_few(x + i, edges, n, 0, to + i);
    }
    if (i < count) {
        memcpy(few, x + i, (count - i) * sizeof *few);
        find_few(few, edges, n, right, found);
        memcpy(to + i, found, (count - i) * sizeof *to);
    }
}

/* Samples as float64, as NumPy compares them with such edges; integers near to whole edges are
 * exact. */
static void find_places(const array *a, const double *edges, uint64_t n, int right, int64_t *to)
{
    double memory[AT_ONCE];
    for (uint64_t begin = 0; begin < a->n; begin += AT_ONCE) {
        const uint64_t count = a->n - begin < AT_ONCE ? a->n - begin : AT_ONCE;
        edges_find(array_doubles(a, begin, count, memory), count, edges, n, right, to + begin);
    }
}

/* digitize(x, bins, right): numbers in edges that increase */
PyObject *fast_digitize(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    array a;
    wished_axis axis;
    PyObject *object, *answer = NULL;
    double *edges;
    if (n_args != 3 || !PyBool_Check(args[2]) || !array_take(args[0], &a))
        Py_RETURN_NONE;
    if (a.dimensions && ends_edges(args[1], &axis, &object, &edges)) {
        void *data;
        answer = array_new(a.dimensions, a.shape, NUMPY_INT64, &data);
        PyThreadState *state = lock_release(a.n);
        if (answer)
            find_places(&a, edges, axis.bins + 1, args[2] == Py_True, data);
        lock_acquire(state);
        Py_DECREF(object);
        PyMem_Free(edges);
    }
    array_release(&a);
    if (!answer && !PyErr_Occurred())
        Py_RETURN_NONE;
    return answer;
}
