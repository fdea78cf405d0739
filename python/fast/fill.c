/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hist.fill of counts and sums.
 *
 * On one axis samples are added to the bins where they are kept, and what is in no bin to the ends.
 * On several, samples are added one after the other if they are few, or many of them are in no bin.
 * Else what is in bins is counted apart, and then what is not. Arrays that are too large to add
 * one after the other are counted so too; or, where many are in no bin and the axes are short, on
 * axes whose end bins take what lies there.
 */
#include <string.h>

#include "fill.h"

int fill_stopped(void *user, uint64_t done, uint64_t total)
{
    PyThreadState **state = user;
    (void)done;
    (void)total;
    PyEval_RestoreThread(*state);
    const int stopped = PyErr_CheckSignals() != 0;
    *state = PyEval_SaveThread();
    return stopped;
}

/* Counts into `output`: 1, or 0 and nothing is changed. */
static int count(const filling *w, form form, const tally_output *output)
{
    tally_view views[TALLY_MAX_DIMENSIONS], weights = array_view(&w->weight);
    PyThreadState *state = NULL;
    const tally_execute_options options = {.struct_size = sizeof options,
                                           .weights = w->f->storage ? &weights : NULL,
                                           .progress = w->large ? fill_stopped : NULL,
                                           .user = &state};
    own_plan *own = filler_begin(w, form, views, &state);
    if (!own)
        return 0;
    const tally_status status = lib.execute(own->plan, views, &options, output, NULL);
    filler_end(own, state);
    return !status;
}

/* ---- one axis ---- */

static int add_one(filling *w)
{
    const storage kind = w->f->storage;
    const uint64_t last = w->sums.n - 1;
    double end_squares[2] = {0}, flow_sums[4] = {0};
    int64_t *counts = (int64_t *)(uintptr_t)w->sums.data;
    double *sums = (double *)(uintptr_t)w->sums.data,
           *squares = (double *)(uintptr_t)w->squares.data;
    tally_output output = {.struct_size = sizeof output,
                           .counts = sums + 1,
                           .flows = &w->flows,
                           .sum_squares = kind == SQUARES ? squares + 1 : NULL,
                           .accumulate = TALLY_ACCUMULATE_ADD,
                           .flow_sums = kind ? flow_sums : NULL};
    if (!count(w, PLAIN, &output))
        return 0;
    if (kind == COUNTS) {
        counts[0] += (int64_t)w->flows.under;
        counts[last] += (int64_t)w->flows.over;
        return 1;
    }
    sums[0] += flow_sums[0];
    sums[last] += flow_sums[1];
    if (kind == SQUARES && (w->flows.under || w->flows.over)) {
        outside_squares(w, end_squares);
        squares[0] += end_squares[0];
        squares[last] += end_squares[1];
    }
    return 1;
}

/* ---- several axes ---- */

/* Adds packed bins to those of an array with flow bins, from axis d on. Counts and sums have 8
 * bytes. */
static const void *add_bins(const filling *w, uint32_t d, void *to, const void *from, int whole)
{
    const uint64_t n = w->f->axes[PLAIN][d].bins;
    uint64_t step = 1;
    for (uint32_t e = d + 1; e < w->f->dimensions; e++)
        step *= w->f->axes[PLAIN][e].bins + 2;
    double *at = (double *)to + step;
    if (d + 1 < w->f->dimensions) {
        for (uint64_t i = 0; i < n; i++, at += step)
            from = add_bins(w, d + 1, at, from, whole);
        return from;
    }
    const double *sums = from;
    int64_t *counts = (int64_t *)(void *)at;
    for (uint64_t i = 0; i < n; i++) {
        if (whole)
            counts[i] += ((const int64_t *)from)[i];
        else
            at[i] += sums[i];
    }
    return sums + n;
}

/* Samples one after the other. */
static void add_each(filling *w)
{
    int64_t cells[AT_ONCE], *counts = (int64_t *)(uintptr_t)w->sums.data;
    double memory[AT_ONCE], *sums = (double *)(uintptr_t)w->sums.data,
                            *squares = (double *)(uintptr_t)w->squares.data;
    const int one = w->weight.data == &w->scalar;
    PyThreadState *state = lock_release(w->samples[0].n);
    for (uint64_t i = 0; i < AT_ONCE && one; i++)
        memory[i] = w->scalar;
    for (uint64_t begin = 0; begin < w->samples[0].n; begin += AT_ONCE) {
        const uint64_t left = w->samples[0].n - begin, n = left < AT_ONCE ? left : AT_ONCE;
        const double *v = one ? memory : array_doubles(&w->weight, begin, n, memory);
        places_find(w, begin, n, cells);
        for (uint64_t i = 0; i < n; i++) {
            const int64_t cell = cells[i];
            if (cell < 0)
                continue;
            if (w->f->storage == COUNTS) {
                counts[cell]++;
                continue;
            }
            sums[cell] += v[i];
            if (w->f->storage == SQUARES)
                squares[cell] += v[i] * v[i];
        }
    }
    lock_acquire(state);
}

/* Into the whole array, flow bins and all, but NaN. */
static int add_ended(const filling *w)
{
    const int squared = w->f->storage == SQUARES;
    const tally_output output = {.struct_size = sizeof output,
                                 .counts = (void *)(uintptr_t)w->sums.data,
                                 .sum_squares =
                                     squared ? (double *)(uintptr_t)w->squares.data : NULL,
                                 .accumulate = TALLY_ACCUMULATE_ADD};
    return count(w, ENDED, &output);
}

/* What is in bins apart, then what is in none. */
static int add_apart(filling *w, uint64_t bins)
{
    const storage kind = w->f->storage;
    filling outside;
    double *memory = PyMem_Malloc((kind == SQUARES ? 2 : 1) * bins * sizeof *memory);
    if (!memory)
        return 0;
    const tally_output output = {.struct_size = sizeof output,
                                 .counts = memory,
                                 .flows = &w->flows,
                                 .sum_squares = kind == SQUARES ? memory + bins : NULL};
    int good = count(w, PLAIN, &output);
    if (good && (w->flows.under || w->flows.over)) {
        good = outside_take(w, &outside);
        if (good) {
            add_each(&outside);
            PyMem_Free((void *)(uintptr_t)outside.samples[0].data);
        }
    }
    if (good)
        add_bins(w, 0, (void *)(uintptr_t)w->sums.data, memory, kind == COUNTS);
    if (good && kind == SQUARES)
        add_bins(w, 0, (void *)(uintptr_t)w->squares.data, memory + bins, 0);
    PyMem_Free(memory);
    return good;
}

/* Whether the library counts packed bins faster, which then are added to those that are there. */
static int is_enough(const filling *w, uint64_t bins)
{
    enum { FEW_SAMPLES = 2048 };
    const uint64_t n = w->samples[0].n;
    return n >= FEW_SAMPLES && bins <= (w->f->storage == COUNTS ? n / 2 : n / 16);
}

static int add_several(filling *w)
{
    uint64_t bins = 1;
    for (uint32_t d = 0; d < w->f->dimensions; d++)
        bins *= w->f->axes[PLAIN][d].bins;
    const int many = outside_are_many(w);
    if (w->large && many && filler_is_short(w->f)) {
        if (!add_ended(w))
            return 0;
        outside_count(w, 0, w->samples[0].n);
        return 1;
    }
    if (w->large || (!many && is_enough(w, bins)))
        return add_apart(w, bins);
    add_each(w);
    return 1;
}

/* ---- calls ---- */

static int take(filling *w, PyObject *object, array *a)
{
    const int taken = array_take_large(object, a);
    w->large |= taken && array_is_large(a);
    return taken;
}

static int take_samples(filling *w, PyObject *samples)
{
    if (!PyTuple_CheckExact(samples) || PyTuple_Size(samples) != w->f->dimensions)
        return 0;
    for (uint32_t d = 0; d < w->f->dimensions; d++) {
        array *a = &w->samples[d];
        if (!take(w, PyTuple_GetItem(samples, d), a) || !array_same_shape(a, w->samples) ||
            ((a->dtype == TALLY_I64 || a->dtype == TALLY_U64) && !w->f->int64))
            return 0;
    }
    for (uint32_t d = 0; d < w->f->dimensions; d++) {
        if (w->f->circular[d] && !circular_turn(w, d))
            return 0;
    }
    return 1;
}

/* Weights, one a sample, or one for all, which is 1 where none is given: sums have floats, means
 * what is not negative. */
static int take_weight(filling *w, PyObject *weight)
{
    const int weighted = w->f->storage != COUNTS && w->f->storage != MEANS;
    w->scalar = 1;
    const int number = weighted && ends_number(weight, 0, &w->scalar);
    if (weight != Py_None && !number)
        return weighted && take(w, weight, &w->weight) && w->weight.dtype >= TALLY_F32 &&
               array_same_shape(&w->weight, w->samples);
    w->weight.data = &w->scalar;
    w->weight.dtype = TALLY_F64;
    w->weight.n = 1;
    return 1;
}

/* What means are of: none of other storages. */
static int take_values(filling *w, PyObject *values)
{
    if (w->f->storage < MEANS)
        return values == Py_None;
    return take(w, values, &w->values) && w->values.dtype != TALLY_I64 &&
           w->values.dtype != TALLY_U64 && array_same_shape(&w->values, w->samples);
}

/* An array of the bins with their flow bins: packed, or of means also spread. */
static int take_cells(const filler *f, PyObject *object, array *a)
{
    if (!array_take_cells(object, a) || (a->stride && f->storage < MEANS) ||
        a->dimensions != (int)f->dimensions || array_bytes(a->dtype) != sizeof(double))
        return 0;
    for (uint32_t d = 0; d < f->dimensions; d++) {
        if ((uint64_t)a->shape[d] != f->axes[PLAIN][d].bins + 2)
            return 0;
    }
    return 1;
}

static int take_all_cells(filling *w, PyObject *cells)
{
    const storage kind = w->f->storage;
    const int squared = kind == SQUARES || kind == WEIGHTED_MEANS, means = kind >= MEANS;
    return PyTuple_Check(cells) && PyTuple_Size(cells) == 4 &&
           take_cells(w->f, PyTuple_GetItem(cells, 0), &w->sums) &&
           (!squared || take_cells(w->f, PyTuple_GetItem(cells, 1), &w->squares)) &&
           (!means || (take_cells(w->f, PyTuple_GetItem(cells, 2), &w->means) &&
                       take_cells(w->f, PyTuple_GetItem(cells, 3), &w->deltas) &&
                       w->means.stride == w->sums.stride && w->deltas.stride == w->sums.stride &&
                       (!squared || w->squares.stride == w->sums.stride)));
}

static int add(filling *w)
{
    if (w->f->storage >= MEANS)
        return means_add(w);
    return w->f->dimensions == 1 ? add_one(w) : add_several(w);
}

static PyObject *fill(filling *w, PyObject *const *args)
{
    if (!take_samples(w, args[2]) || !take_weight(w, args[3]) || !take_values(w, args[4]) ||
        !take_all_cells(w, args[1]) || (w->samples[0].n && !add(w)))
        return NULL;
    if (!w->flows.under && !w->flows.over && !w->flows.nan) {
        Py_INCREF(Py_False);
        return Py_False;
    }
    return Py_BuildValue("KKK", (unsigned long long)w->flows.under,
                         (unsigned long long)w->flows.over, (unsigned long long)w->flows.nan);
}

/* fill(filler, (sums, squares, means, deltas), samples, weight, sample): False, or what was under,
 * over and NaN */
PyObject *fast_fill(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    filling w;
    memset(&w, 0, sizeof w);
    w.f = n_args == 5 ? filler_of(args[0]) : NULL;
    if (!w.f)
        return NULL;
    PyObject *answer = fill(&w, args);
    for (uint32_t d = 0; d < w.f->dimensions; d++) {
        array_release(&w.samples[d]);
        PyMem_Free(w.turned[d]);
    }
    array *const others[] = {&w.weight, &w.values, &w.sums, &w.squares, &w.means, &w.deltas};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        array_release(others[i]);
    if (!answer && !PyErr_Occurred())
        Py_RETURN_NONE;
    return answer;
}
