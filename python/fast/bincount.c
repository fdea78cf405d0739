/* SPDX-License-Identifier: Apache-2.0 */
/* bincount. */
#define _GNU_SOURCE /* CPU_COUNT */
#include <sched.h>
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
 * for a number that changes meanwhile would be none of the bins; more are the library's, which
 * takes the processors of a process with more than FEW_PROCESSORS. */
enum { FEW_WEIGHTS = 1 << 18, FEW_PROCESSORS = 2, AT_ONCE = 512 };

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

/* The part from `at` on, AT_ONCE long at most. */
static array part_of(const array *a, uint64_t at)
{
    array part = *a;
    part.data = (const char *)a->data + at * array_bytes(a->dtype);
    part.n = a->n - at < AT_ONCE ? a->n - at : AT_ONCE;
    return part;
}

static int add_few(const array *a, const array *weights, double *sums)
{
    double memory[AT_ONCE];
    int good = are_moderate(weights);
    for (uint64_t at = 0; at < a->n && good; at += AT_ONCE) {
        const array part = part_of(a, at);
        good = add_weights(&part, array_doubles(weights, at, part.n, memory), sums);
    }
    return good;
}

/* ---- many weights of a process with few processors ---- */

static int are_few_processors(void)
{
    cpu_set_t set;
    return !sched_getaffinity(0, sizeof set, &set) && CPU_COUNT(&set) <= FEW_PROCESSORS;
}

/* Adds to MOST_BINS sums, wherever numbers that are none of them go. *top: the largest, which a
 * negative one is too. */
static int add_anyway(const array *a, const double *w, double *sums, uint64_t *top)
{
    EACH_INTEGER(a->dtype, {
        const uint64_t v = (uint64_t)(int64_t)x[i];
        *top = v > *top ? v : *top;
        sums[v % MOST_BINS] += w[i];
    })
    return 1;
}

/* Reads all once; 0, perhaps with an error, if they are not plain, or Ctrl-C has stopped it. */
static int add_once(const array *a, const array *weights, double *sums, uint64_t *top)
{
    double memory[AT_ONCE];
    int good = 1;
    for (uint64_t some = 0; some < a->n && good; some += HEARD_AFTER) {
        PyThreadState *state = lock_release(a->n);
        for (uint64_t at = some; at < a->n && at < some + HEARD_AFTER && good; at += AT_ONCE) {
            const array part = part_of(a, at);
            good = add_anyway(&part, array_doubles(weights, at, part.n, memory), sums, top);
        }
        lock_acquire(state);
        good = good && *top < MOST_BINS && !PyErr_CheckSignals();
    }
    return good;
}

static PyObject *sums_at_once(const array *a, const array *weights, uint64_t least)
{
    double *sums = PyMem_Calloc(MOST_BINS, sizeof *sums);
    PyObject *made = NULL;
    uint64_t top = 0;
    void *data;
    if (sums && add_once(a, weights, sums, &top)) {
        const uint64_t bins = least > top ? least : top + 1;
        made = array_new_1d((Py_ssize_t)bins, NUMPY_FLOAT64, &data);
        if (made)
            memcpy(data, sums, bins * sizeof *sums);
    }
    PyMem_Free(sums);
    return made;
}

/* ---- bincount ---- */

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
    if (a->stride || (weights && weights->stride))
        return NULL;
    if (weights && a->n > FEW_WEIGHTS && weights->dtype >= TALLY_F16 && are_few_processors())
        return sums_at_once(a, weights, (uint64_t)least);
    if (array_is_large(a) || !largest(a, &most) || most >= MOST_BINS)
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
    const int type = whole ? NUMPY_INT64 : NUMPY_FLOAT64;
    PyObject *sums =
        a->n ? lent_new(a, 1, &bins, type, 0, &data) : plan_zeros(plan, a, &bins, type);
    if (sums && a->n && !plan_count(plan, a, weights, data, flows)) {
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
    if (!a->n) /* NumPy's are whole with weights, too */
        return least ? sums_there(a, NULL, least, NULL)
                     : lent_new(a, 1, &least, NUMPY_INT64, 1, &data);
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
    if (n_args < 3 || !PyLong_CheckExact(args[2]) ||
        !(array_take_large(args[0], &a) || lent_take(args[0], &a)))
        Py_RETURN_NONE;
    const Py_ssize_t least = PyLong_AsSsize_t(args[2]);
    PyErr_Clear();
    if (a.dimensions == 1 && least >= 0 && least <= (a.lender ? MOST_DEVICE_BINS : MOST_BINS) &&
        (args[1] == Py_None ||
         ((array_take_large(args[1], &weights) || lent_take(args[1], &weights)) &&
          array_same_shape(&a, &weights))))
        answer =
            (a.lender ? bincount_there : bincount_of)(&a, weights.object ? &weights : NULL, least);
    array_release(&weights);
    array_release(&a);
    if (!answer && !PyErr_Occurred())
        Py_RETURN_NONE;
    return answer;
}
