/* SPDX-License-Identifier: Apache-2.0 */
/* What histograms are filled by: made once from their axes, with the plans that were used last. */
#include <string.h>

#include "fill.h"

static const char capsule_name[] = "tally.filler";

filler *filler_of(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, capsule_name);
}

int filler_is_short(const filler *f)
{
    enum { SHORT = 24 };
    int all = 1;
    for (uint32_t d = 0; d < f->dimensions; d++)
        all &= f->axes[PLAIN][d].bins <= SHORT;
    return all;
}

/* ---- plans ---- */

/* Statistics have their weights apart. */
static int sums_weights(const filler *f)
{
    return f->storage == SUMS || f->storage == SQUARES;
}

static void key_of(const filling *w, form form, unsigned char key[NAME_BYTES])
{
    memset(key, 0, NAME_BYTES);
    key[0] = (unsigned char)form;
    key[1] = (unsigned char)size_class(w->samples[0].n, NULL);
    key[2] = sums_weights(w->f) ? (unsigned char)w->weight.dtype : 0;
    for (uint32_t d = 0; d < w->f->dimensions; d++)
        key[3 + d] = (unsigned char)w->samples[d].dtype;
}

/* Its users are one more; NULL: the library makes none. */
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

/* filler(storage, int64, ((lo, hi, circular), …), axes of each form) */
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
        good = PyArg_ParseTuple(PyTuple_GetItem(ends, d), "ddp", &f->lo[d], &f->hi[d],
                                &f->circular[d]);
    for (int form = 0; good && form < FORMS; form++) {
        PyObject *axes = PyTuple_GetItem(forms, form);
        good = PyTuple_Check(axes) && PyTuple_Size(axes) == f->dimensions;
        for (uint32_t d = 0; good && d < f->dimensions; d++)
            good = copy_axis(PyTuple_GetItem(axes, d), &f->axes[form][d]);
    }
    for (uint32_t d = 0; good && d < f->dimensions; d++)
        finder_make(&f->finders[d], f, d);
    PyObject *capsule = good ? PyCapsule_New(f, capsule_name, release_capsule) : NULL;
    if (!capsule) {
        free_filler(f);
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "filler: axes of two forms are expected");
    }
    return capsule;
}

own_plan *filler_begin(const filling *w, form form, tally_view *views, PyThreadState **state)
{
    own_plan *own = take_plan(w, form);
    for (uint32_t d = 0; own && d < w->f->dimensions; d++)
        views[d] = array_view(&w->samples[d]);
    *state = own ? lock_release(w->samples[0].n) : NULL;
    return own;
}

void filler_end(own_plan *own, PyThreadState *state)
{
    lock_acquire(state);
    own->users--;
}
