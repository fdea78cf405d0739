/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hist.fill. A filler holds the axes of a histogram and plans on them; the counts are the caller's
 * arrays, with a flow bin at both ends of every axis.
 *
 * On one axis samples are added to the bins where they are kept, and what is in no bin to the ends.
 * On several, what is in bins is counted apart and then what is not, if the bins are few and the
 * samples outside too; else all is, on axes whose end bins take what lies there, to the whole
 * array.
 */
#include <math.h>
#include <string.h>

#include "fast.h"

/* Of an axis: its bins; these and the flow bins. */
typedef enum form { PLAIN, ENDED, FORMS } form;

/* Also what the sums of a histogram are: as tally.Hist.storage. */
typedef enum storage { COUNTS, SUMS, SQUARES } storage;

enum { MOST_OWN_PLANS = 16, NAME_BYTES = 12 };
static const char capsule_name[] = "tally.filler";

typedef struct own_plan {
    tally_plan *plan;
    unsigned char key[NAME_BYTES];
    unsigned users;
} own_plan;

typedef struct filler {
    uint32_t dimensions;
    storage storage;
    int int64; /* whether 64-bit integers compare with all edges as float64s do */
    double lo[TALLY_MAX_DIMENSIONS], hi[TALLY_MAX_DIMENSIONS];
    tally_axis axes[FORMS][TALLY_MAX_DIMENSIONS]; /* with edges of their own */
    own_plan plans[MOST_OWN_PLANS];
    unsigned oldest;
} filler;

/* One call. */
typedef struct filling {
    filler *f;
    array samples[TALLY_MAX_DIMENSIONS];
    array weight; /* of storages but COUNTS: one a sample, or `scalar` for all */
    double scalar;
    array sums, squares;
    tally_flows flows;
} filling;

/* ---- plans ---- */

static void key_of(const filling *w, form form, unsigned char key[NAME_BYTES])
{
    memset(key, 0, NAME_BYTES);
    key[0] = (unsigned char)form;
    key[1] = (unsigned char)size_class(w->samples[0].n, NULL);
    key[2] = w->f->storage ? (unsigned char)w->weight.dtype : 0;
    for (uint32_t d = 0; d < w->f->dimensions; d++)
        key[3 + d] = (unsigned char)w->samples[d].dtype;
}

/* A plan that is used until own_plan's users are one less; NULL: the library makes none. */
static own_plan *take_plan(const filling *w, form form)
{
    filler *f = w->f;
    unsigned char key[NAME_BYTES];
    key_of(w, form, key);
    for (int i = 0; i < MOST_OWN_PLANS; i++) {
        if (f->plans[i].plan && !memcmp(f->plans[i].key, key, sizeof key)) {
            f->plans[i].users++;
            return &f->plans[i];
        }
    }
    own_plan *at = &f->plans[f->oldest++ % MOST_OWN_PLANS];
    if (at->users)
        return NULL;
    tally_plan_options options = {.struct_size = sizeof options,
                                  .dimensions = f->dimensions,
                                  .weight_dtype = (tally_dtype)key[2],
                                  .sum_squares = f->storage == SQUARES,
                                  .n_hint = w->samples[0].n};
    for (uint32_t d = 0; d < f->dimensions; d++) {
        options.axes[d] = f->axes[form][d];
        options.dtypes[d] = w->samples[d].dtype;
    }
    lib.plan_destroy(at->plan);
    at->plan = NULL;
    if (lib.plan_create(lib.context, &options, &at->plan, NULL))
        return NULL;
    memcpy(at->key, key, sizeof key);
    at->users = 1;
    return at;
}

/* Counts into `output`: 1, or 0 and nothing is changed. */
static int count(const filling *w, form form, const tally_output *output)
{
    tally_view views[TALLY_MAX_DIMENSIONS], weights = array_view(&w->weight);
    const tally_execute_options options = {.struct_size = sizeof options,
                                           .weights = w->f->storage ? &weights : NULL};
    own_plan *own = take_plan(w, form);
    if (!own)
        return 0;
    for (uint32_t d = 0; d < w->f->dimensions; d++)
        views[d] = array_view(&w->samples[d]);
    PyThreadState *state = lock_release(w->samples[0].n);
    const tally_status status = lib.execute(own->plan, views, &options, output, NULL);
    lock_acquire(state);
    own->users--;
    return !status;
}

/* ---- samples in no bin ---- */

static int is_closed(const tally_axis *axis)
{
    return axis->kind != TALLY_AXIS_INTEGER && axis->last == TALLY_LAST_CLOSED;
}

/* The largest number in a bin of axis d. */
static double last_inside(const filler *f, uint32_t d)
{
    return is_closed(&f->axes[PLAIN][d]) ? f->hi[d] : nextafter(f->hi[d], -INFINITY);
}

/* Numbers that stay in registers, as sums in an array would not, and what comparing them gives. */
typedef double lanes __attribute__((vector_size(16)));
typedef int64_t lane_masks __attribute__((vector_size(16)));
enum { AT_ONCE = 512, LOOKED_AT = 128, LANES = sizeof(lanes) / sizeof(double) };

/* Takes those of n samples, an even number, that are under or over on one axis from the points that
 * are in bins on all axes before it: inside[i] is 1 for such a point, else 0. Adds up how many are
 * under, and says how many are left. Returns 0 if there are NaN. */
static int look_at(const double *x, uint64_t n, double lo, double last, double *inside,
                   uint64_t *under, uint64_t *left)
{
    const lanes los = {lo, lo}, lasts = {last, last};
    lanes low_sum = {0}, is_sum = {0};
    lane_masks nan = {0};
    for (uint64_t i = 0; i < n; i += LANES) {
        lanes v, is;
        memcpy(&v, x + i, sizeof v);
        memcpy(&is, inside + i, sizeof is);
        const lanes low = (lanes)((lane_masks)(v < los) & (lane_masks)is);
        const lanes high = (lanes)((lane_masks)(v > lasts) & (lane_masks)is);
        low_sum += low;
        is -= low + high;
        is_sum += is;
        nan |= v != v;
        memcpy(inside + i, &is, sizeof is);
    }
    *under += (uint64_t)(low_sum[0] + low_sum[1]);
    *left = (uint64_t)(is_sum[0] + is_sum[1]);
    return !(nan[0] | nan[1]);
}

/* The same of one point after the other, where some are NaN: NaN on any axis, else by the first
 * axis. */
static void look_closely(const filling *w, uint64_t begin, uint64_t n, tally_flows *flows)
{
    for (uint64_t i = begin; i < begin + n; i++) {
        double memory;
        int under = 0, over = 0, nan = 0;
        for (uint32_t d = 0; d < w->f->dimensions; d++) {
            const double x = *array_doubles(&w->samples[d], i, 1, &memory);
            nan |= x != x;
            under |= !over && x < w->f->lo[d];
            over |= !under && x > last_inside(w->f, d);
        }
        flows->nan += (uint64_t)nan;
        flows->under += (uint64_t)(under && !nan);
        flows->over += (uint64_t)(over && !nan);
    }
}

/* Adds up the flows. */
static void look(filling *w)
{
    double memory[AT_ONCE], inside[AT_ONCE];
    const uint64_t all = w->samples[0].n, whole = all - all % LANES;
    look_closely(w, whole, all % LANES, &w->flows);
    for (uint64_t begin = 0; begin < whole; begin += AT_ONCE) {
        const uint64_t n = whole - begin < AT_ONCE ? whole - begin : AT_ONCE;
        uint64_t under = 0, left = n;
        int numbers = 1;
        for (uint64_t i = 0; i < AT_ONCE; i++)
            inside[i] = 1;
        for (uint32_t d = 0; d < w->f->dimensions; d++) {
            const double *x = array_doubles(&w->samples[d], begin, n, memory);
            numbers &= look_at(x, n, w->f->lo[d], last_inside(w->f, d), inside, &under, &left);
        }
        if (!numbers) {
            look_closely(w, begin, n, &w->flows);
            continue;
        }
        w->flows.under += under;
        w->flows.over += n - under - left;
    }
}

/* Adds v² to *under where x < lo, to *over where x > last. */
__attribute__((always_inline)) static inline void
square_pair(const double *x, const double *v, lanes lo, lanes last, lanes *under, lanes *over)
{
    lanes at, square;
    memcpy(&at, x, sizeof at);
    memcpy(&square, v, sizeof square);
    square *= square;
    *under += (lanes)((lane_masks)(at < lo) & (lane_masks)square);
    *over += (lanes)((lane_masks)(at > last) & (lane_masks)square);
}

/* Of one axis: the squared weights of the samples under and over. */
static void square_ends(const filling *w, double *squares)
{
    double x_memory[AT_ONCE], v_memory[AT_ONCE];
    const uint64_t all = w->samples[0].n;
    const double lo = w->f->lo[0], last = last_inside(w->f, 0);
    const lanes los = {lo, lo}, lasts = {last, last};
    lanes under[2] = {{0}}, over[2] = {{0}};
    if (w->weight.data == &w->scalar) {
        squares[0] = (double)w->flows.under * (w->scalar * w->scalar);
        squares[1] = (double)w->flows.over * (w->scalar * w->scalar);
        return;
    }
    for (uint64_t begin = 0; begin < all; begin += AT_ONCE) {
        const uint64_t n = all - begin < AT_ONCE ? all - begin : AT_ONCE;
        const double *x = array_doubles(&w->samples[0], begin, n, x_memory);
        const double *v = array_doubles(&w->weight, begin, n, v_memory);
        uint64_t i = 0;
        for (; i + 2 * LANES <= n; i += 2 * LANES) {
            square_pair(x + i, v + i, los, lasts, &under[0], &over[0]);
            square_pair(x + i + LANES, v + i + LANES, los, lasts, &under[1], &over[1]);
        }
        for (; i < n; i++) {
            under[0][0] += x[i] < lo ? v[i] * v[i] : 0.0;
            over[0][0] += x[i] > last ? v[i] * v[i] : 0.0;
        }
    }
    under[0] += under[1];
    over[0] += over[1];
    squares[0] = under[0][0] + under[0][1];
    squares[1] = over[0][0] + over[0][1];
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
        square_ends(w, end_squares);
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

/* The numbers of samples begin … begin+n-1 that are under or over, to `list`; how many. (By numbers
 * as wide as the samples, of which the compiler makes vectors: 1, or 0 of what is outside.) */
static uint64_t list_outside(const filling *w, uint64_t begin, uint64_t n, uint32_t *list)
{
    double memory[AT_ONCE], inside[AT_ONCE];
    uint64_t m = 0;
    for (uint64_t i = 0; i < n; i++)
        inside[i] = 1;
    for (uint32_t d = 0; d < w->f->dimensions; d++) {
        const double *x = array_doubles(&w->samples[d], begin, n, memory);
        const double lo = w->f->lo[d], last = last_inside(w->f, d);
        for (uint64_t i = 0; i < n; i++) {
            const double low = x[i] < lo ? 0.0 : inside[i];
            inside[i] = x[i] > last ? 0.0 : low;
        }
    }
    for (uint64_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &inside[i], sizeof bits);
        list[m] = (uint32_t)i;
        m += !bits;
    }
    return m;
}

/* The listed samples of an array behind the n that `to` has. */
static void append(array *to, uint64_t n, const array *from, uint64_t begin, uint64_t count,
                   const uint32_t *list, uint64_t m)
{
    double memory[AT_ONCE];
    const double *x = array_doubles(from, begin, count, memory);
    double *at = (double *)(uintptr_t)to->data + n;
    for (uint64_t i = 0; i < m; i++)
        at[i] = x[list[i]];
}

/* The samples that are in no bin, and their weights, alone: 0 without memory for them. */
static int take_outside(const filling *w, filling *outside)
{
    const uint32_t dimensions = w->f->dimensions;
    const int weighted = w->f->storage && w->weight.data != &w->scalar;
    const uint64_t n = w->flows.under + w->flows.over + w->flows.nan, all = w->samples[0].n;
    double *memory = PyMem_Malloc((dimensions + (uint64_t)weighted) * n * sizeof *memory);
    uint32_t list[AT_ONCE];
    uint64_t found = 0;
    if (!memory)
        return 0;
    *outside = *w;
    for (uint32_t d = 0; d < dimensions; d++)
        outside->samples[d] = (array){.data = memory + d * n, .dtype = TALLY_F64, .n = n};
    if (weighted)
        outside->weight = (array){.data = memory + dimensions * n, .dtype = TALLY_F64, .n = n};
    for (uint64_t begin = 0; begin < all; begin += AT_ONCE) {
        const uint64_t count = all - begin < AT_ONCE ? all - begin : AT_ONCE;
        const uint64_t m = list_outside(w, begin, count, list);
        if (found + m > n) /* they change meanwhile */
            break;
        for (uint32_t d = 0; d < dimensions; d++)
            append(&outside->samples[d], found, &w->samples[d], begin, count, list, m);
        if (weighted)
            append(&outside->weight, found, &w->weight, begin, count, list, m);
        found += m;
    }
    for (uint32_t d = 0; d < dimensions; d++)
        outside->samples[d].n = found;
    outside->weight.n = weighted ? found : 1;
    return 1;
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
        good = take_outside(w, &outside);
        if (good) {
            good = add_ended(&outside);
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

/* Whether more than an eighth of the first samples are in no bin: it costs less then to count all
 * into the whole array. */
static int are_many_outside(const filling *w)
{
    uint32_t list[LOOKED_AT];
    const uint64_t n = w->samples[0].n < LOOKED_AT ? w->samples[0].n : LOOKED_AT;
    return list_outside(w, 0, n, list) > n / 8;
}

static int add_several(filling *w)
{
    uint64_t bins = 1;
    for (uint32_t d = 0; d < w->f->dimensions; d++)
        bins *= w->f->axes[PLAIN][d].bins;
    if (bins <= 1024 + w->samples[0].n / 2 && !are_many_outside(w))
        return add_apart(w, bins);
    if (!add_ended(w))
        return 0;
    look(w);
    return 1;
}

/* ---- calls ---- */

static int take_samples(filling *w, PyObject *samples)
{
    if (!PyTuple_CheckExact(samples) || PyTuple_Size(samples) != w->f->dimensions)
        return 0;
    for (uint32_t d = 0; d < w->f->dimensions; d++) {
        array *a = &w->samples[d];
        if (!array_take(PyTuple_GetItem(samples, d), a) || !array_same_shape(a, w->samples) ||
            ((a->dtype == TALLY_I64 || a->dtype == TALLY_U64) && !w->f->int64))
            return 0;
    }
    return 1;
}

/* Float weights, one a sample, or one for all, which is 1 where none is given. */
static int take_weight(filling *w, PyObject *weight)
{
    w->scalar = 1;
    const int number = w->f->storage && ends_number(weight, 0, &w->scalar);
    if (weight != Py_None && !number)
        return w->f->storage && array_take(weight, &w->weight) && w->weight.dtype >= TALLY_F32 &&
               array_same_shape(&w->weight, w->samples);
    w->weight.data = &w->scalar;
    w->weight.dtype = TALLY_F64;
    w->weight.n = 1;
    return 1;
}

/* A packed array of the bins with their flow bins. */
static int take_cells(const filler *f, PyObject *object, array *a)
{
    if (!array_take(object, a) || a->stride || a->dimensions != (int)f->dimensions ||
        array_bytes(a->dtype) != sizeof(double))
        return 0;
    for (uint32_t d = 0; d < f->dimensions; d++) {
        if ((uint64_t)a->shape[d] != f->axes[PLAIN][d].bins + 2)
            return 0;
    }
    return 1;
}

static PyObject *fill(filling *w, PyObject *const *args)
{
    if (!take_samples(w, args[3]) || !take_weight(w, args[4]) ||
        !take_cells(w->f, args[1], &w->sums) ||
        (w->f->storage == SQUARES && !take_cells(w->f, args[2], &w->squares)))
        return NULL;
    if (w->samples[0].n && !(w->f->dimensions == 1 ? add_one(w) : add_several(w)))
        return NULL;
    if (!w->flows.under && !w->flows.over && !w->flows.nan) {
        Py_INCREF(Py_False);
        return Py_False;
    }
    return Py_BuildValue("KKK", (unsigned long long)w->flows.under,
                         (unsigned long long)w->flows.over, (unsigned long long)w->flows.nan);
}

/* fill(filler, sums, squares, samples, weight): False, or what was under, over and NaN */
PyObject *fast_fill(PyObject *self, PyObject *const *args, Py_ssize_t n_args)
{
    (void)self;
    filling w;
    memset(&w, 0, sizeof w);
    w.f = n_args == 5 ? PyCapsule_GetPointer(args[0], capsule_name) : NULL;
    if (!w.f)
        return NULL;
    PyObject *answer = fill(&w, args);
    for (uint32_t d = 0; d < w.f->dimensions; d++)
        array_release(&w.samples[d]);
    array_release(&w.weight);
    array_release(&w.sums);
    array_release(&w.squares);
    if (!answer && !PyErr_Occurred())
        Py_RETURN_NONE;
    return answer;
}

/* ---- fillers ---- */

static void free_filler(filler *f)
{
    for (int i = 0; i < MOST_OWN_PLANS; i++)
        lib.plan_destroy(f->plans[i].plan);
    for (int form = 0; form < FORMS; form++) {
        for (int d = 0; d < TALLY_MAX_DIMENSIONS; d++)
            PyMem_Free((void *)(uintptr_t)f->axes[form][d].edges);
    }
    PyMem_Free(f);
}

static void release_capsule(PyObject *capsule)
{
    free_filler(PyCapsule_GetPointer(capsule, capsule_name));
}

/* An axis from the bytes of a tally_axis and of its edges or None; 0 with an error. (Without the
 * format "y#", whose lengths have another type in a CPython older than the headers.) */
static int copy_axis(PyObject *pair, tally_axis *axis)
{
    PyObject *about, *given;
    char *bytes, *table = NULL;
    Py_ssize_t n, table_n = 0;
    if (!PyArg_ParseTuple(pair, "SO", &about, &given) ||
        PyBytes_AsStringAndSize(about, &bytes, &n) ||
        (given != Py_None && PyBytes_AsStringAndSize(given, &table, &table_n)))
        return 0;
    double *edges = table ? PyMem_Malloc((size_t)table_n) : NULL;
    if (n != sizeof *axis || (table && !edges)) {
        PyMem_Free(edges);
        PyErr_SetString(PyExc_ValueError, "filler: an axis of another library");
        return 0;
    }
    memcpy(axis, bytes, sizeof *axis);
    axis->edges = edges;
    if (edges)
        memcpy(edges, table, (size_t)table_n);
    return 1;
}

/* filler(storage, int64, ((lo, hi), …), axes of each form) */
PyObject *fast_filler(PyObject *self, PyObject *args)
{
    (void)self;
    int kind, int64;
    PyObject *ends, *forms;
    if (!PyArg_ParseTuple(args, "ipO!O!", &kind, &int64, &PyTuple_Type, &ends, &PyTuple_Type,
                          &forms))
        return NULL;
    filler *f = PyMem_Calloc(1, sizeof *f);
    if (!f)
        return PyErr_NoMemory();
    f->storage = (storage)kind;
    f->int64 = int64;
    f->dimensions = (uint32_t)PyTuple_Size(ends);
    int good = f->dimensions <= TALLY_MAX_DIMENSIONS && PyTuple_Size(forms) == FORMS;
    for (uint32_t d = 0; good && d < f->dimensions; d++)
        good = PyArg_ParseTuple(PyTuple_GetItem(ends, d), "dd", &f->lo[d], &f->hi[d]);
    for (int form = 0; good && form < FORMS; form++) {
        PyObject *axes = PyTuple_GetItem(forms, form);
        good = PyTuple_Check(axes) && PyTuple_Size(axes) == f->dimensions;
        for (uint32_t d = 0; good && d < f->dimensions; d++)
            good = copy_axis(PyTuple_GetItem(axes, d), &f->axes[form][d]);
    }
    PyObject *capsule = good ? PyCapsule_New(f, capsule_name, release_capsule) : NULL;
    if (!capsule) {
        free_filler(f);
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "filler: axes of two forms are expected");
    }
    return capsule;
}
