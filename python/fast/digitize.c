/* SPDX-License-Identifier: Apache-2.0 */
/* digitize. */
#include <string.h>

#include "fast.h"

enum { LANES = 8, AT_ONCE = 512 };

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
 * exact. 0: Ctrl-C. */
static int find_places(const array *a, const double *edges, uint64_t n, int right, int64_t *to)
{
    double memory[AT_ONCE];
    int good = 1;
    for (uint64_t some = 0; some < a->n && good; some += HEARD_AFTER) {
        const uint64_t end = a->n - some < HEARD_AFTER ? a->n : some + HEARD_AFTER;
        PyThreadState *state = lock_release(end - some);
        for (uint64_t begin = some; begin < end; begin += AT_ONCE) {
            const uint64_t count = end - begin < AT_ONCE ? end - begin : AT_ONCE;
            edges_find(array_doubles(a, begin, count, memory), count, edges, n, right, to + begin);
        }
        lock_acquire(state);
        good = a->n <= HEARD_AFTER || !PyErr_CheckSignals();
    }
    return good;
}

/* digitize(x, bins, right): numbers in edges that increase */
PyObject *fast_digitize(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    array a;
    wished_axis axis;
    PyObject *object, *answer = NULL;
    double *edges;
    if (n_args != 3 || !PyBool_Check(args[2]) || !array_take_large(args[0], &a))
        Py_RETURN_NONE;
    if (a.dimensions && ends_edges(args[1], &axis, &object, &edges)) {
        void *data;
        answer = array_new(a.dimensions, a.shape, NUMPY_INT64, &data);
        if (answer && !find_places(&a, edges, axis.bins + 1, args[2] == Py_True, data))
            Py_CLEAR(answer);
        Py_DECREF(object);
        PyMem_Free(edges);
    }
    array_release(&a);
    if (!answer && !PyErr_Occurred())
        Py_RETURN_NONE;
    return answer;
}
